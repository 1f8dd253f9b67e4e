//! A sculpted shape <-> the displacements of a sample.

use super::correctives::BlendedRotation;
use super::{DeformStack, InstancePlan, MaskKind, Masks};
use crate::psd::Displacements;
use crate::skinning::CHUNK;
use glam::{DQuat, Vec3};

/// The result of [`capture`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Captured {
    /// What the sample moves.
    pub displacements: Displacements,
    /// Points whose blended matrix is nearly singular in this pose, so that they follow their heaviest joint.
    pub n_singular: usize,
}

/// The rotation R of stage 7 at a point: from bind to the pose of the latest run of `plan`. `stack`, `masks`: those of that
/// run. The heaviest joint's where the blended matrix is nearly singular; `None` for a point without a skin.
pub fn point_rotation(
    plan: &InstancePlan,
    stack: &DeformStack,
    masks: &Masks,
    point: u32,
) -> Option<DQuat> {
    let (_, rotation) = frame(plan, stack, masks, point)?;
    Some(rotation.unwrap_or_else(|heaviest| heaviest))
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
    let mut n_singular = 0;
    let mut moved = Vec::with_capacity(sculpted.len());
    for &(point, place) in sculpted {
        let Some((from, rotation)) = frame(plan, stack, masks, point) else {
            continue;
        };
        let rotation = rotation.unwrap_or_else(|heaviest| {
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

/// The points that displacements move, with their sculpted positions `s = F + R d`, world, metres: the inverse of
/// [`capture`], in the pose of the latest run of `plan`.
pub fn sculpted(
    plan: &InstancePlan,
    stack: &DeformStack,
    masks: &Masks,
    displacements: &Displacements,
) -> Vec<(u32, Vec3)> {
    let places = displacements.iter().filter_map(|(point, d)| {
        let (from, rotation) = frame(plan, stack, masks, point)?;
        let rotation = rotation.unwrap_or_else(|heaviest| heaviest);
        let place = from.as_dvec3() + rotation * d.as_dvec3();
        Some((point, place.as_vec3()))
    });
    places.collect()
}

/// The position of a point before stage 7 and its blended rotation ([`BlendedRotation::at`]); `None` without a skin.
fn frame(
    plan: &InstancePlan,
    stack: &DeformStack,
    masks: &Masks,
    point: u32,
) -> Option<(Vec3, Result<DQuat, DQuat>)> {
    let (c, i) = (point as usize / CHUNK, point as usize % CHUNK);
    let from = plan.base_positions().get(point as usize)?;
    let rotation = BlendedRotation {
        method: stack.method,
        blend: stack.blend,
        mask: masks.chunk(MaskKind::Blend, c),
        chunk: plan.chunks().get(c)?,
        palette: plan.palette(),
    };
    Some((*from, rotation.at(i)))
}

/// The blended rotation R of some points, world from mesh space at bind, in the pose of the latest run of `plan`: what
/// carries displacements. `stack`, `masks`: those of that run; the identity for a mesh without a skin.
pub fn blended_rotations(
    plan: &InstancePlan,
    stack: &DeformStack,
    masks: &Masks,
    points: &[u32],
) -> Vec<DQuat> {
    let of_point = |&point: &u32| {
        let rotation = frame(plan, stack, masks, point).map(|(_, rotation)| rotation);
        rotation.map_or(DQuat::IDENTITY, |q| q.unwrap_or_else(|heaviest| heaviest))
    };
    points.iter().map(of_point).collect()
}
