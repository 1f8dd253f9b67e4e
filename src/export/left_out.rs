//! What an export says and does about nodes that draw a mesh more often than their file may cost.

use crate::bake::{BakeMode, BakeOptions};
use crate::document::{Document, Instance};
use crate::finding::Finding;
use std::borrow::Cow;

/// What an export does not do for these nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Omission {
    /// A correction.
    Corrected,
    /// A file of one frame.
    Posed,
    /// An OBJ file.
    Written,
}

/// The finding about the nodes that an export leaves as they are or out; `None` without such nodes.
pub(super) fn of_left_out(document: &Document, omission: Omission) -> Option<Finding> {
    let n = document.left_out().n_nodes;
    let (who, shown, them) = match n {
        0 => return None,
        1 => (
            "1 node instantiates a mesh again and".to_owned(),
            "it as a bounding box",
            "it",
        ),
        n => (
            format!("{n} nodes instantiate a mesh again and"),
            "them as bounding boxes",
            "them",
        ),
    };
    let what = match omission {
        Omission::Corrected => format!("neither corrects nor checks {them}"),
        Omission::Posed => format!("does not pose {them}"),
        Omission::Written => format!("leaves {them} out"),
    };
    let message = format!(
        "{who} would need more memory than a file of this size may use. Sinew shows {shown}; the export {what}."
    );
    Some(Finding::warning("nodes", message))
}

/// The finding of a correction that [`suited`] leaves without helper joints.
pub(super) fn without_helper_joints(document: &Document, correct: &BakeOptions) -> Option<Finding> {
    let is_suited = matches!(suited(document, correct), Cow::Borrowed(_));
    (!is_suited).then(|| {
        Finding::warning(
            "nodes",
            "A node that Sinew shows as a bounding box has a skin that no instance of its mesh has. That skin would lack \
             the helper joints, so only morph targets are used.",
        )
    })
}

/// The options without helper joints, if a node draws a mesh with a skin that no instance of it has: JOINTS_n of the
/// corrected mesh would be beyond the joints of that skin.
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
