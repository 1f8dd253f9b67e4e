//! Export: the one road from a document to files that other programs show.
//!
//! The data flow ([`export`](fn@export)): `plan` (the clips of the file, whether anything changed) -> [`crate::bake`]
//! (helper joints, weights and morph targets, or frames) -> [`crate::io::gltf_export`] (bytes) -> `read_back` (once) ->
//! `verify` (the file as players show it against what the stacks show; `driving` plays helper joints as an engine does) ->
//! `report`. `still` exports one moment as a mesh; `preflight` says beforehand what a file will and will not hold; `save`
//! writes files to the disk.
//!
//! Invariant: nothing edited and the same format: the source's bytes, verbatim.
//! Invariant: a written file is parsed at most once, and every error in a report is measured on what was read back.
//! Invariant: preview clips stay out of files.

mod clip_keys;
mod driving;
mod error;
#[expect(clippy::module_inception, reason = "the road itself")]
mod export;
mod frames;
mod options;
mod plan;
mod preflight;
mod read_back;
mod report;
mod save;
mod still;
mod verify;

pub use crate::io::gltf_export::{ExportReport, GltfFormat};
pub use error::ExportError;
pub use export::export;
pub use frames::FEW_TARGETS;
pub use options::{ExportOptions, Exported};
pub use preflight::{estimate, preflight};
pub use read_back::{ReadBack, read_back};
pub use report::{CorrectedMesh, CorrectionReport, MeasuredErrors, NormalAngles, WorstPlace};
pub use save::{export_and_read_back, export_to_file, write_files};
pub use still::{export_obj, export_still, export_still_to_file, is_obj};
