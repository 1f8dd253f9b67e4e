//! Helper joints that work with any clip.
//!
//! A helper is the dual quaternion blend of some joints in closed form, so an engine can evaluate it in clips made
//! later. Corrective samples are morph targets whose weights depend on the rotations of a few joints. The corrections in
//! between (bulges, smoothing) have no such form: they are left out, and the export reports their error.

use super::{BakeMode, BakeOptions};
use crate::bake::problem::sampler::StackChoice;
use crate::document::{Document, Edit};
use crate::skeleton::JointId;
use glam::DAffine3;

/// What drivers of a skin's helpers need besides its joints and inverse bind matrices.
#[derive(Clone, Debug, PartialEq)]
pub struct SkinFrames {
    /// Scale from mesh space in the bind pose to the world in the rest pose.
    pub unit: f64,
    /// Whether scale and shear of the joints contribute, or only rotations and positions.
    pub stretches: bool,
    /// Ancestors of the followed joints that influence no point themselves, parents first, with their inverse bind
    /// matrices, which the file does not hold otherwise.
    pub above: Vec<(JointId, DAffine3)>,
    /// Joints whose position follows the stretch of another joint than their parent.
    pub follows: Vec<(JointId, JointId)>,
}

/// What a file for any clip plays: the document without bulge corrections and smoothing; `None` where there are none.
pub fn driven_part(document: &Document) -> Option<Document> {
    let mut bare = None;
    for (&mesh, item) in document.meshes() {
        let stack = StackChoice::Uncorrected.of(&item.stack);
        if stack.as_applied() != item.stack.as_applied() {
            let bare = bare.get_or_insert_with(|| document.clone());
            // A valid stack cannot be refused.
            let _ = bare.apply(&mut Edit::Stack { mesh, stack });
        }
    }
    bare
}

/// What helper joints are fitted to: the document without any correction after its skinning; `None` where there are none.
pub(super) fn skinning_only(document: &Document) -> Option<Document> {
    let driven = driven_part(document);
    let mut meshes = document.meshes().values();
    if meshes.any(|item| item.correctives.acts() || item.clusters.acts()) {
        let driven = driven.unwrap_or_else(|| document.clone());
        return Some(driven.without_correctives().without_clusters());
    }
    driven
}

/// The options for the mode: fitted morph targets belong to clips.
pub(super) fn options_for(options: &BakeOptions) -> BakeOptions {
    let mut options = options.clone();
    if options.mode == BakeMode::Retarget {
        options.max_morphs = 0;
    }
    options
}

/// The number of helper joints to place, where a bake for clips places `max`: twice as many, since no morph targets
/// correct the rest and the training poses need more.
pub(super) fn most_helpers(mode: BakeMode, most: usize) -> usize {
    if mode == BakeMode::Retarget {
        2 * most
    } else {
        most
    }
}
