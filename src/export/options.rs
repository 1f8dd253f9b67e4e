//! What to export, and what comes of it.

use super::report::CorrectionReport;
use crate::bake::BakeOptions;
use crate::io::gltf_export::{ExportReport, GltfFormat, Written};
use bytes::Bytes;

/// How to export.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportOptions {
    /// The format of the model.
    pub format: GltfFormat,
    /// The files' name without its ending; empty: the source's.
    pub name: String,
    /// Most influences of a point in primitives that are written anew, 1 - 8; more than 4 take a second set of
    /// attributes, which not every player reads.
    pub influences: usize,
    /// Make the artist's pose the rest pose of the file.
    pub write_pose_as_rest: bool,
    /// Bake what the stacks do beyond linear skinning into the file.
    pub correct: Option<BakeOptions>,
}

impl Default for ExportOptions {
    fn default() -> Self {
        Self {
            format: GltfFormat::Glb,
            name: String::new(),
            influences: 4,
            write_pose_as_rest: false,
            correct: None,
        }
    }
}

/// An exported model.
#[derive(Clone, Debug, PartialEq)]
pub struct Exported {
    /// Names, relative to the model's folder with `/` between folders, and contents; the model itself comes first.
    pub files: Vec<(String, Bytes)>,
    /// What the export did.
    pub report: ExportReport,
    /// How close a corrected file comes to the stacks, where correction was asked for.
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
}
