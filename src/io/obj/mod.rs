//! Wavefront OBJ: read as a model without bones, as a sculpt of a known mesh or as a scan, written as the mesh of one frame.

mod materials;
mod model;
mod scan;
mod text;
mod write;

pub(super) use model::import_obj;
pub(super) use scan::obj_points;
pub use text::read_obj_positions;
pub use write::{files_of_obj, write_obj};
