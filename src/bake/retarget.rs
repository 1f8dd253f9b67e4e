//! Helper joints that any clip can move: what they follow, and what an engine needs to follow it.
//!
//! A helper does what dual quaternion skinning does to a point of some weights, in closed form, so it holds in clips
//! that nobody has made yet. What comes after the skinning (bulges, smoothing) has no such form: it is left out here, and
//! the report of an export says by how much.

use super::{BakeMode, BakeOptions};
use crate::bake::problem::sampler::StackChoice;
use crate::document::{Document, Edit};
use crate::skeleton::JointId;
use glam::DAffine3;

/// What drivers of a skin's helpers need besides its joints and inverse bind matrices.
#[derive(Clone, Debug, PartialEq)]
pub struct SkinFrames {
    /// Bind-pose mesh space in this unit has the size of the world at rest.
    pub unit: f64,
    /// Whether scale and shear of the joints count; else only how they turn and where they are.
    pub stretches: bool,
    /// Joints above those that helpers follow which move no point themselves, parents first: their inverse bind
    /// matrices, which no file needs otherwise.
    pub above: Vec<(JointId, DAffine3)>,
    /// Joints whose place follows the stretch of another joint than the next one above.
    pub follows: Vec<(JointId, JointId)>,
}

/// The document with nothing after its skinning; `None` where there is nothing.
pub fn skinning_only(document: &Document) -> Option<Document> {
    let mut bare = None;
    for (&mesh, item) in document.meshes() {
        let stack = StackChoice::Uncorrected.of(&item.stack);
        if stack.as_applied() != item.stack.as_applied() {
            let bare = bare.get_or_insert_with(|| document.clone());
            // A stack without numbers out of range cannot be refused.
            let _ = bare.apply(&mut Edit::Stack { mesh, stack });
        }
    }
    bare
}

/// The options as the mode has them: morph targets are of clips.
pub(super) fn options_for(options: &BakeOptions) -> BakeOptions {
    let mut options = options.clone();
    if options.mode == BakeMode::Retarget {
        options.max_morphs = 0;
    }
    options
}

/// How many helper joints are looked for, where a bake for clips looks for `most`: without morph targets to make up for
/// what helpers leave over, and with more poses to hold in, more of them.
pub(super) fn most_helpers(mode: BakeMode, most: usize) -> usize {
    if mode == BakeMode::Retarget {
        2 * most
    } else {
        most
    }
}
