//! Writing glTF: the source model with what the artist changed, and nothing else.
//!
//! The data flow: [`crate::document::Document`], the clips of the file and what was baked -> `package` (the source's JSON
//! and buffers in the wanted format) -> `patch` (what changed, in place, beside or in a `pool`: edited `joints`, `weights` and their `rows`,
//! `clips` and their `keys`, `nodes`, what was baked: `helper_joints` and `targets`, and what moves these joints in other
//! clips: `drivers`) -> `text` (JSON that keeps the source's own text where nothing changed) -> files in memory
//! ([`Written`]). [`write_model`], [`write_frames`] and [`write_shapes`] write the three kinds of files.
//!
//! Nothing here evaluates, solves or reads back: that is the work of [`crate::export`].
//!
//! Invariant: data of the source that anything refers to is never overwritten: views may overlap (`ranges`), and
//! extensions that Sinew does not know may point anywhere. Where nothing was baked, none of it is. An accessor that
//! anybody else reads is never changed.
//! Invariant: the pose on screen stays out of the file unless asked for.

mod allocator;
mod clips;
mod destination;
mod drivers;
mod error;
mod external;
mod format;
mod frames;
mod glb;
mod helper_joints;
mod joints;
mod json;
mod keys;
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
mod rows;
mod shapes;
mod slots;
mod targets;
mod text;
mod uncompress;
mod uses;
mod weights;
mod write;

pub use destination::{Destination, Written};
pub use drivers::{DRIVERS, DRIVERS_VERSION, source_drivers};
pub use error::GltfWriteError;
pub use format::GltfFormat;
pub use frames::{Framed, WrittenFrames, write_frames};
pub use joints::for_file;
pub(super) use pictures::picture_of;
pub use referenced::{files_of_model, is_beside_source, size_of_source};
pub use report::ExportReport;
pub use shapes::{WITHOUT_TANGENTS, write_shapes};
pub use write::{Changes, copy_source, write_model};
