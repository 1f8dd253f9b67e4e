//! Wavefront OBJ: opened as a model without bones, read as a sculpt, written as a mesh of one frame.

mod materials;
mod model;
mod positions;
mod text;
mod write;

pub(super) use model::import_obj;
pub use positions::{ObjError, read_obj_positions};
pub use write::{files_of_obj, write_obj};
