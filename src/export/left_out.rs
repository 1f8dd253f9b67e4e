//! Findings about nodes that exceed the memory budget, and the corrections that they allow.

use super::options::ExportOptions;
use crate::bake::{BakeMode, BakeOptions};
use crate::document::{Document, Instance};
use crate::finding::{Finding, counted};
use std::borrow::Cow;

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

/// The findings of an export with a correction or with morph targets of corrective samples.
pub(super) fn of_correction(document: &Document, options: &ExportOptions) -> Vec<Finding> {
    if options.correct.is_none() && !options.sample_targets {
        return Vec::new();
    }
    let without = options.correct.as_ref();
    let without = without.and_then(|correct| without_helper_joints(document, correct));
    let omitted = of_left_out(document, Omission::Corrected);
    omitted.into_iter().chain(without).collect()
}

/// The finding of a correction that [`suited`] leaves without helper joints.
fn without_helper_joints(document: &Document, correct: &BakeOptions) -> Option<Finding> {
    let is_suited = matches!(suited(document, correct), Cow::Borrowed(_));
    (!is_suited).then(|| {
        Finding::warning(
            "nodes",
            "A node that Sinew shows as a bounding box has a skin that no instance of its mesh uses. That skin would lack \
             the helper joints, so only morph targets are used.",
        )
    })
}

/// The options, without helper joints if a node draws a mesh with a skin that no instance of the mesh uses: JOINTS_n of the
/// corrected mesh would exceed the joints of that skin.
pub(super) fn suited<'a>(document: &Document, correct: &'a BakeOptions) -> Cow<'a, BakeOptions> {
    let is_alone = |node: &Instance| {
        let mut instances = document.instances().values();
        node.skin.is_some() && !instances.any(|i| i.mesh == node.mesh && i.skin == node.skin)
    };
    // Files of frames have no skins.
    let has_joints = correct.mode != BakeMode::Frames && correct.max_joints > 0;
    if has_joints && document.left_out().nodes.iter().any(is_alone) {
        return Cow::Owned(BakeOptions {
            max_joints: 0,
            ..correct.clone()
        });
    }
    Cow::Borrowed(correct)
}
