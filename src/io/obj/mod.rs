//! Wavefront OBJ: read as a model without bones or as a sculpt of a known mesh, written as the mesh of one frame.

mod materials;
mod model;
mod text;
mod write;

pub(super) use model::import_obj;
pub use text::read_obj_positions;
pub use write::{files_of_obj, write_obj};
