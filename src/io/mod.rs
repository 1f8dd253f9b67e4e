//! File input and output: models, projects, exports.
//!
//! Data flow: the bytes of a .gltf or .glb file and its folder -> [`gltf::import_file`] -> `Parts` of a document, and
//! findings for the Problems panel; an OBJ is converted first ([`obj`]). A project ([`project`]) contains only the user's
//! changes, which are applied to its freshly imported model. [`gltf_export`] patches the source's own JSON and appends new
//! data; [`obj`] also writes Wavefront OBJ. [`open_any`] opens any supported file. [`channels`] reads recordings of markers
//! and devices, [`motion_file`] also BVH, [`motion_source`] motions of other skeletons, [`scan_file`]
//! scans of a person (OBJ, PLY); [`live`] receives motion over the network.
//!
//! Invariant: no file, however broken, makes the program panic, hang or use more memory than 64 MiB + 20 x its size.
//! Invariant: only regular files are read, and no more of them than their kind can need (`read`).
//! Invariant: a source keeps the bytes of its file verbatim.
//! Invariant: no output replaces an input, or another output, of the same work ([`Outputs`]).
//! Invariant: a file is replaced in one step: its path always has either the complete old or the complete new content.

pub mod atomic;
pub mod channels;
mod clip_peek;
pub mod gltf;
pub mod gltf_build;
pub mod gltf_export;
mod gltf_json;
mod leftovers;
pub mod live;
mod lock;
pub mod mapping_file;
pub mod measurements_file;
pub mod motion_file;
pub mod motion_item;
pub mod motion_source;
mod node_constraint;
pub mod obj;

mod open;
mod outputs;
mod ply;
mod polygon;
pub mod pose_file;
pub mod project;
pub(crate) mod read;
pub mod scan_file;
mod stamp;
pub mod weights_file;

pub use clip_peek::may_have_clips;
pub(crate) use gltf::import_written;
pub use gltf::{Fault, ImportError, Imported, import_bytes, import_file};
pub use motion_item::is_motion;
pub use obj::read_obj_positions;
pub use open::{
    MODELS, OpenError, OpenedModel, import_for_project, is_model, is_obj, is_project, is_recording,
    open_any, open_autosave, open_relinked, open_sample, project_path,
};
pub use outputs::{Output, Outputs, StagedOutput};
pub use ply::PlyFault;
pub(crate) use read::read_small_text;
pub use stamp::FileStamp;
