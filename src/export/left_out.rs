//! Findings about nodes that exceed the memory budget.

use super::options::ExportOptions;
use crate::document::Document;
use crate::finding::{Finding, counted};

/// What an export omits for these nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Omission {
    /// It does not correct them.
    Corrected,
    /// It does not pose them in a file of one frame.
    Posed,
    /// It does not write them to an OBJ file.
    Written,
}

/// The finding that an export does not correct, pose or write these nodes; `None` if there are none.
pub(super) fn of_left_out(document: &Document, omission: Omission) -> Option<Finding> {
    let n = document.left_out().nodes.len();
    let (instantiate, shown, them) = match n {
        0 => return None,
        1 => ("instantiates", "it as a bounding box", "it"),
        _ => ("instantiate", "them as bounding boxes", "them"),
    };
    let what = match omission {
        Omission::Corrected => format!("neither corrects nor checks {them}"),
        Omission::Posed => format!("does not pose {them}"),
        Omission::Written => format!("leaves {them} out"),
    };
    let message = format!(
        "{} {instantiate} a mesh again and would need more memory than a file of this size may use. Sinew shows {shown}; the export {what}.",
        counted(n, "node")
    );
    Some(Finding::warning("nodes", message))
}

/// The finding of an export with a correction or with morph targets of corrective samples.
pub(super) fn of_correction(document: &Document, options: &ExportOptions) -> Option<Finding> {
    let corrects = options.correct.is_some() || options.sample_targets;
    corrects
        .then(|| of_left_out(document, Omission::Corrected))
        .flatten()
}
