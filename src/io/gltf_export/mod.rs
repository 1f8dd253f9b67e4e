//! Writes glTF: the source model with the user's changes, and nothing else.
//!
//! Data flow: [`crate::document::Document`], the clips of the file and the baked data -> `package` (the source's JSON and
//! buffers in the requested format) -> `patch` (writes changes in place, into free ranges, or appended, possibly through a
//! `pool`: edited `joints`, `weights` and their `rows`, `clips` and their `keys`, `nodes`, baked `helper_joints` and
//! `targets` (meshes that joints draw move to nodes of their own, `joint_meshes`; `widen` extends weights to new targets),
//! and the `drivers` of these joints in other clips) -> `text` (JSON that keeps the source's text where nothing changed) ->
//! files in memory ([`Written`]). [`write_model`], [`write_frames`] and [`write_shapes`] write the three kinds of files.
//!
//! Nothing here evaluates, solves or reads back: that is the task of [`crate::export`].
//!
//! Invariant: referenced data of the source is never lost: buffer views may overlap (`ranges`), and extensions that Sinew
//! does not know may reference anything. Without baked data, no data of the source is overwritten. An accessor with other
//! references is never changed, except for its `byteOffset` where `interleaved` attributes are packed.
//! Invariant: the current pose is not in the file unless requested.

mod allocator;
mod clips;
mod compress;
mod destination;
mod drivers;
mod encoding;
mod error;
mod external;
mod format;
mod frames;
mod glb;
mod helper_joints;
mod interleaved;
mod joint_meshes;
mod joints;
mod json;
mod keys;
mod mesh_copies;
mod node_constraints;
mod nodes;
mod package;
mod patch;
mod pictures;
mod pool;
mod primitives;
mod prune;
mod ranges;
mod referenced;
mod report;
mod reshaped;
mod rows;
mod sample_drivers;
mod shapes;
mod shared_meshes;
mod slots;
mod smaller_weights;
mod targets;
mod text;
mod uncompress;
mod uses;
mod weights;
mod widen;
mod write;
mod written_mesh;

pub use destination::{Destination, Written};
pub use drivers::{DRIVERS, DRIVERS_VERSION, source_drivers};
pub use error::GltfWriteError;
pub(in crate::io) use external::uri_of;
pub use format::GltfFormat;
pub use frames::{Framed, WrittenFrames, write_frames};
pub use joints::for_file;
pub(super) use pictures::picture_of;
pub use referenced::{files_of_model, is_beside, is_beside_source, size_of_source};
pub use report::ExportReport;
pub use shapes::{WITHOUT_TANGENTS, write_shapes};
pub use targets::QUANTIZATION;
pub use write::{BakedUse, Changes, copy_source, write_model};
