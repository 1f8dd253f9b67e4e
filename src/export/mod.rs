//! Export: from a document to files that other programs show.
//!
//! The data flow ([`export`](fn@export)): `plan` (the clips of the file, whether anything changed) -> [`crate::bake`]
//! (helper joints, weights and morph targets, or frames) -> [`crate::io::gltf_export`] (bytes) -> `read_back` (once) ->
//! `verify` (the file as players show it against what the stacks show; `driving` plays helper joints as an engine does) ->
//! `report`. `static_mesh` exports one moment; `preflight` says beforehand what a file will and will not hold; `save`
//! writes files to the disk.
//!
//! Invariant: nothing edited and the same format: the source's bytes, verbatim.
//! Invariant: a written file is parsed at most once, and every error in a report is measured on what was read back.
//! Invariant: preview clips stay out of files.

mod clip_keys;
mod driving;
mod error;
mod frames;
mod options;
mod pipeline;
mod plan;
mod preflight;
mod read_back;
mod report;
mod save;
mod static_mesh;
mod verify;

pub use crate::io::gltf_export::{ExportReport, GltfFormat};
pub use error::ExportError;
pub use frames::FEW_TARGETS;
pub use options::{ExportOptions, Exported};
pub use pipeline::export;
pub use preflight::{estimate, preflight};
pub use read_back::{ReadBack, read_back};
pub use report::{CorrectedMesh, CorrectionReport, MeasuredErrors, NormalAngles, WorstPlace};
pub use save::{export_and_read_back, export_to_file, write_files};
pub use static_mesh::{export_obj, export_still, export_still_to_file, is_obj};
