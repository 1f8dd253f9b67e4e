//! Helper joints that any clip can move: what they follow, and what an engine needs to follow it.
//!
//! A helper does what dual quaternion skinning does to a point of some weights, in closed form, so it holds in clips
//! that nobody has made yet. What comes after the skinning (bulges, smoothing) has no such form: it is left out here, and
//! the report of an export says by how much.

use super::practice::mark_bound;
use super::rows::Row;
use super::solve::Job;
use super::stage::Stacks;
use super::{BakeMode, BakeOptions};
use crate::deform::ScaleMode;
use crate::document::{Document, Edit};
use crate::skeleton::JointId;
use crate::skinning::SkinBind;
use glam::DAffine3;
use std::collections::BTreeSet;

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
        let stack = Stacks::Uncorrected.of(&item.stack);
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

/// The joints and weights that a helper of weights `omega` over a unit's joints follows, largest first; none where
/// helpers follow their tracks.
pub(super) fn driver(job: &Job<'_>, unit: usize, omega: &Row) -> Vec<(JointId, f64)> {
    if job.options.mode != BakeMode::Retarget {
        return Vec::new();
    }
    let joints = &job.stage.units[unit].joints;
    let mut driver: Vec<(JointId, f64)> = omega
        .iter()
        .map(|&(slot, weight)| (joints[usize::from(slot)], weight))
        .collect();
    // Stable: of equal weights the blend takes the sign of the first.
    driver.sort_by(|a, b| b.1.total_cmp(&a.1));
    driver
}

/// What drivers of a unit's helpers need; `None` where helpers follow their tracks.
pub(super) fn frames(job: &Job<'_>, unit: usize, omegas: &[Row]) -> Option<SkinFrames> {
    if job.options.mode != BakeMode::Retarget {
        return None;
    }
    let stage = job.stage;
    let of_unit = &stage.units[unit];
    let mut bound = vec![false; of_unit.joints.len()];
    let mut stretches = false;
    for drawn in stage.drawn.iter().filter(|d| d.unit == unit) {
        let Some(item) = stage.item(drawn.mesh) else {
            continue;
        };
        let stack = item.stack.as_applied();
        stretches |= stack.scale != ScaleMode::Drop;
        mark_bound(&item.influences, &mut bound);
    }
    let skeleton = stage.document.skeleton();
    let bind = SkinBind::new(
        skeleton,
        &of_unit.joints,
        &of_unit.inverse_bind,
        &bound,
        &stage.rest_world,
    );
    let all: Vec<_> = bind.frames().collect();
    let followed = omegas.iter().flatten();
    let mut needed: BTreeSet<JointId> = followed
        .map(|&(slot, _)| of_unit.joints[usize::from(slot)])
        .collect();
    // Children first, so that what a joint needs is known before it is asked for.
    for (joint, above, _) in all.iter().rev() {
        if needed.contains(joint) {
            needed.extend(above);
        }
    }
    let is_bound = |joint: JointId| {
        let mut slots = of_unit.joints.iter().zip(&bound);
        slots.any(|(j, bound)| *j == joint && *bound)
    };
    let mut frames = SkinFrames {
        unit: bind.unit_scale(),
        stretches,
        above: Vec::new(),
        follows: Vec::new(),
    };
    for (joint, above, inverse_bind) in all.into_iter().filter(|f| needed.contains(&f.0)) {
        if !is_bound(joint) {
            frames.above.push((joint, inverse_bind));
        }
        match above {
            Some(above) if skeleton.joint(joint).parent != Some(above) => {
                frames.follows.push((joint, above));
            }
            _ => {}
        }
    }
    Some(frames)
}
