//! Export: a document as files for other programs.
//!
//! The data flow ([`export`](fn@export)): `plan` (the clips of the file, whether anything changed) -> [`crate::bake`]
//! (helper joints, weights and morph targets, or frames) -> [`crate::io::gltf_export`] (bytes) -> `read_back` (once) ->
//! `verify` (compares the file as players show it with the result of the stacks; `driving` drives helper joints as an
//! engine does) -> `report`. `static_mesh` exports one frame; `preflight` lists beforehand what a file can and cannot
//! represent; `save` writes files to disk.
//!
//! Invariant: without edits and in the same format, the export is the source's bytes, verbatim.
//! Invariant: a written file is parsed at most once, and every error in a report is measured on the file as read back.
//! Invariant: files never contain preview clips.

mod clip_keys;
mod driving;
mod driving_samples;
mod error;
mod frames;
mod improvement;
mod invalid_weights;
mod left_out;
mod normals_report;
mod options;
mod pipeline;
mod plan;
mod preflight;
mod preset;
mod read_back;
mod refusals;
mod report;
mod save;
mod static_mesh;
mod suited;
mod verify;

pub use crate::io::gltf_export::{ExportReport, GltfFormat};
pub use error::ExportError;
pub use frames::FEW_TARGETS;
pub use options::{ExportOptions, Exported};
pub use pipeline::export;
pub use preflight::{estimate, preflight};
pub use preset::{ExportPreset, PresetValues};
pub use read_back::{ReadBack, read_back};
pub use report::{CorrectedMesh, CorrectionReport, MeasuredErrors, NormalAngles, WorstPlace};
pub use save::{export_and_read_back, export_to_file, write_files};
pub use static_mesh::{export_obj, export_static_mesh, export_static_mesh_to_file};
pub use suited::requires_quantization;
