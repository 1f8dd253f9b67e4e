//! Files in and out: models, projects, exports.
//!
//! The data flow: the bytes of a .gltf or .glb file (and its folder) -> [`gltf::import_file`] -> `Parts` for a
//! document, and findings for the Problems panel. A project ([`project`]) holds only what the artist made and is laid
//! over its freshly imported model. [`gltf_export`] patches the source's own JSON with what changed and appends what is new;
//! [`obj`] writes shapes as Wavefront OBJ.
//! [`open_any`] opens whatever is dropped on the window.
//!
//! Invariant: no file, however broken, makes the program panic, hang or take more than 64 MiB + 20 x its size.
//! Invariant: a source keeps the bytes of its file verbatim.
//! Invariant: no output replaces a file that the same work reads or another output of it ([`Outputs`]).
//! Invariant: a file is replaced in one step: at any moment its path holds the whole old or the whole new content.

pub mod atomic;
pub mod gltf;
pub mod gltf_build;
pub mod gltf_export;
mod gltf_json;
pub mod obj;
mod open;
mod outputs;
pub mod project;
pub mod weights_file;

pub use gltf::{Fault, ImportError, Imported, import_bytes, import_file};
pub use open::{
    OpenError, OpenedModel, import_for_project, is_model, is_project, open_any, open_autosave,
    open_relinked, open_sample, project_path,
};
pub use outputs::{Output, Outputs};
