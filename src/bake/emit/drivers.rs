//! What an engine needs to drive the helper joints of a retargetable export.

use crate::bake::problem::Problem;
use crate::bake::problem::rows::WeightRow;
use crate::bake::problem::training_poses::mark_bound;
use crate::bake::{BakeMode, SkinFrames};
use crate::deform::ScaleMode;
use crate::skeleton::JointId;
use crate::skinning::SkinBind;
use std::collections::BTreeSet;

/// The joints and weights whose blend a helper of weights `blend_weights` follows, largest first; empty unless the
/// export is retargetable.
pub(super) fn driver(
    problem: &Problem<'_>,
    joint_set: usize,
    blend_weights: &WeightRow,
) -> Vec<(JointId, f64)> {
    if problem.options.mode != BakeMode::Retarget {
        return Vec::new();
    }
    let joints = &problem.sampler.joint_sets[joint_set].joints;
    let mut driver: Vec<(JointId, f64)> = blend_weights
        .iter()
        .map(|&(slot, weight)| (joints[usize::from(slot)], weight))
        .collect();
    // Stable: of equal weights the blend takes the hemisphere of the first.
    driver.sort_by(|a, b| b.1.total_cmp(&a.1));
    driver
}

/// What drivers of a joint set's helpers need besides; `None` unless the export is retargetable.
pub(super) fn frames(
    problem: &Problem<'_>,
    joint_set: usize,
    codebook: &[WeightRow],
) -> Option<SkinFrames> {
    if problem.options.mode != BakeMode::Retarget {
        return None;
    }
    let sampler = problem.sampler;
    let set = &sampler.joint_sets[joint_set];
    let mut bound = vec![false; set.joints.len()];
    let mut stretches = false;
    for drawn in sampler
        .instances
        .iter()
        .filter(|d| d.joint_set == joint_set)
    {
        let Some(item) = sampler.item(drawn.mesh) else {
            continue;
        };
        let stack = item.stack.as_applied();
        stretches |= stack.scale != ScaleMode::Drop;
        mark_bound(&item.influences, &mut bound);
    }
    let skeleton = sampler.document.skeleton();
    let bind = SkinBind::new(
        skeleton,
        &set.joints,
        &set.inverse_bind,
        &bound,
        &sampler.rest_world,
    );
    let all: Vec<_> = bind.frames().collect();
    let followed = codebook.iter().flatten();
    let mut needed: BTreeSet<JointId> = followed
        .map(|&(slot, _)| set.joints[usize::from(slot)])
        .collect();
    // Children first, so that an ancestor is needed by the time it is visited.
    for (joint, above, _) in all.iter().rev() {
        if needed.contains(joint) {
            needed.extend(above);
        }
    }
    let is_bound = |joint: JointId| {
        let mut slots = set.joints.iter().zip(&bound);
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
