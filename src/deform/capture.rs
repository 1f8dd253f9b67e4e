//! A sculpted shape -> the displacements of a sample.

use super::correctives::BlendedRotation;
use super::{DeformStack, InstancePlan, MaskKind, Masks};
use crate::psd::Displacements;
use crate::skinning::CHUNK;
use glam::Vec3;

/// The result of [`capture`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Captured {
    /// What the sample moves.
    pub displacements: Displacements,
    /// Points whose blended matrix is nearly singular in this pose, so that they follow their heaviest joint.
    pub n_singular: usize,
}

/// The displacements `d = R^T (s - F)` that move the shape before stage 7 to a sculpted one, in the pose of the latest
/// run of `plan`.
///
/// `stack`, `masks`: those of that run; `sculpted`: points with their sculpted positions s, world, metres. Points of a
/// mesh without a skin, and positions that are not finite, are left out.
pub fn capture(
    plan: &InstancePlan,
    stack: &DeformStack,
    masks: &Masks,
    sculpted: &[(u32, Vec3)],
) -> Captured {
    let base = plan.base_positions();
    let mut n_singular = 0;
    let mut moved = Vec::with_capacity(sculpted.len());
    for &(point, place) in sculpted {
        let (c, i) = (point as usize / CHUNK, point as usize % CHUNK);
        let (Some(from), Some(chunk)) = (base.get(point as usize), plan.chunks().get(c)) else {
            continue;
        };
        let rotation = BlendedRotation {
            method: stack.method,
            blend: stack.blend,
            mask: masks.chunk(MaskKind::Blend, c),
            chunk,
            palette: plan.palette(),
        };
        let rotation = rotation.at(i).unwrap_or_else(|heaviest| {
            n_singular += 1;
            heaviest
        });
        let offset = place.as_dvec3() - from.as_dvec3();
        let displacement = (rotation.conjugate() * offset).as_vec3();
        if displacement.is_finite() {
            moved.push((point, displacement));
        }
    }
    Captured {
        displacements: Displacements::new(moved),
        n_singular,
    }
}
