//! Export options and results.

use super::report::{CorrectionReport, left_out_finding};
use crate::bake::BakeOptions;
use crate::io::gltf_export::{ExportReport, GltfFormat, Written};
use bytes::Bytes;

/// The options of an export.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::struct_excessive_bools)] // options, each on its own
pub struct ExportOptions {
    /// The glTF format.
    pub format: GltfFormat,
    /// The base name of the files, without extension; if empty, that of the source.
    pub name: String,
    /// The maximum number of influences per point in rewritten primitives, 1 - 8; more than 4 require a second set of
    /// attributes, which not every player reads.
    pub influences: usize,
    /// Writes the current pose as the rest pose of the file.
    pub write_pose_as_rest: bool,
    /// Writes valid weights in place of the source's invalid ones even where nothing else changes.
    pub fix_weights: bool,
    /// Includes files that the model references outside of its folder.
    pub include_outside: bool,
    /// Compresses the data of the file without loss, which requires `EXT_meshopt_compression` of players.
    pub meshopt: bool,
    /// Adds the corrective samples as morph targets with their names, which nothing drives; not with a correction.
    pub sample_targets: bool,
    /// Writes constraints as `VRMC_node_constraint` beside their keyframes; VRM models get them in any case.
    pub node_constraints: bool,
    /// Bakes the difference between the stacks and linear blend skinning into the file.
    pub correct: Option<BakeOptions>,
}

impl Default for ExportOptions {
    fn default() -> Self {
        Self {
            format: GltfFormat::Glb,
            name: String::new(),
            influences: 4,
            write_pose_as_rest: false,
            fix_weights: false,
            include_outside: false,
            meshopt: false,
            sample_targets: false,
            node_constraints: false,
            correct: None,
        }
    }
}

/// The result of an export: files in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Exported {
    /// Names, relative to the model's folder with `/` between folders, and contents; the model itself comes first.
    pub files: Vec<(String, Bytes)>,
    /// The report of the export.
    pub report: ExportReport,
    /// The error of a corrected file relative to the stacks; `None` without correction.
    pub correction: Option<CorrectionReport>,
}

impl Exported {
    pub(super) fn uncorrected(written: Written) -> Self {
        Self {
            files: written.files,
            report: written.report,
            correction: None,
        }
    }

    /// Reports the clips without a correction in a corrected file.
    pub(super) fn leave_out(&mut self, clips: Vec<String>) {
        let findings = &mut self.report.findings;
        findings.splice(0..0, left_out_finding(&clips));
        if let Some(correction) = &mut self.correction {
            correction.left_out = clips;
        }
    }
}
