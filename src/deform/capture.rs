//! A sculpted shape <-> the displacements of a sample.

use super::correctives::{BlendedRotation, SampleSet, inverse_stretch};
use super::{DeformStack, InstancePlan, MaskKind, Masks};
use crate::psd::Displacements;
use crate::skinning::CHUNK;
use glam::{DMat3, DQuat, DVec3, Vec3};

/// The result of [`capture`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Captured {
    /// What the sample moves, `R^T (s - F)`.
    pub displacements: Displacements,
    /// What it moves in a set that scales with the limb, `A^-1 R^T (s - F)`; `None` where no joint has scale or shear, so
    /// that both are the same.
    pub stretched: Option<Displacements>,
    /// Points that are not in `stretched`, because they are scaled to nearly nothing in this pose.
    pub flat: Vec<u32>,
    /// Points whose blended matrix is nearly singular in this pose, so that they follow their heaviest joint.
    pub n_singular: usize,
}

impl Captured {
    /// What a sample of a set moves.
    pub fn for_set(&self, set: &SampleSet) -> &Displacements {
        let stretched = self.stretched.as_ref();
        let stretched = stretched.filter(|_| set.scale_with_limb);
        stretched.unwrap_or(&self.displacements)
    }
}

/// What stage 7 adds to a point for a displacement d, world, metres: `R d`, or `R A d` in a set that scales with the limb,
/// in the pose of the latest run of `plan`. `stack`, `masks`: those of that run. R is the rotation of the heaviest joint
/// where the blended matrix is nearly singular; `None` for a point without a skin.
pub fn carried(
    plan: &InstancePlan,
    stack: &DeformStack,
    masks: &Masks,
    set: &SampleSet,
    (point, displacement): (u32, Vec3),
) -> Option<DVec3> {
    Some(frame(plan, stack, masks, point)?.carry(set, displacement))
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
    let mut captured = Captured::default();
    let (mut moved, mut stretched) = (Vec::with_capacity(sculpted.len()), Vec::new());
    for &(point, place) in sculpted {
        let Some(frame) = frame(plan, stack, masks, point) else {
            continue;
        };
        let rotation = frame.rotation.unwrap_or_else(|heaviest| {
            captured.n_singular += 1;
            heaviest
        });
        let offset = rotation.conjugate() * (place.as_dvec3() - frame.from.as_dvec3());
        if !offset.as_vec3().is_finite() {
            continue;
        }
        moved.push((point, offset.as_vec3()));
        let Some(stretch) = frame.stretch else {
            continue;
        };
        match inverse_stretch(stretch).map(|inverse| (inverse * offset).as_vec3()) {
            Some(displacement) if displacement.is_finite() => stretched.push((point, displacement)),
            _ => captured.flat.push(point),
        }
    }
    captured.displacements = Displacements::new(moved);
    let stretches = plan.palette().inflates();
    captured.stretched = stretches.then(|| Displacements::new(stretched));
    captured
}

/// The points that displacements of a set move, with their sculpted positions `s = F + R d`, or `F + R A d` where the set
/// scales with the limb, world, metres: the inverse of [`capture`], in the pose of the latest run of `plan`.
pub fn sculpted(
    plan: &InstancePlan,
    stack: &DeformStack,
    masks: &Masks,
    set: &SampleSet,
    displacements: &Displacements,
) -> Vec<(u32, Vec3)> {
    let places = displacements.iter().filter_map(|(point, d)| {
        let frame = frame(plan, stack, masks, point)?;
        let place = frame.from.as_dvec3() + frame.carry(set, d);
        Some((point, place.as_vec3()))
    });
    places.collect()
}

/// Where and how stage 7 adds the displacement of a point.
struct PointFrame {
    /// The position before stage 7.
    from: Vec3,
    /// [`BlendedRotation::at`]
    rotation: Result<DQuat, DQuat>,
    /// [`BlendedRotation::stretch_at`]
    stretch: Option<DMat3>,
}

impl PointFrame {
    /// `R d`, or `R A d` in a set that scales with the limb.
    fn carry(&self, set: &SampleSet, displacement: Vec3) -> DVec3 {
        let d = displacement.as_dvec3();
        let stretch = self.stretch.filter(|_| set.scale_with_limb);
        let (Ok(rotation) | Err(rotation)) = self.rotation;
        rotation * stretch.map_or(d, |stretch| stretch * d)
    }
}

/// The frame of a point; `None` without a skin.
fn frame(
    plan: &InstancePlan,
    stack: &DeformStack,
    masks: &Masks,
    point: u32,
) -> Option<PointFrame> {
    let (c, i) = (point as usize / CHUNK, point as usize % CHUNK);
    let from = plan.base_position(point)?;
    let rotation = BlendedRotation {
        method: stack.method,
        blend: stack.blend,
        mask: masks.chunk(MaskKind::Blend, c),
        chunk: plan.chunks().get(c)?,
        palette: plan.palette(),
    };
    Some(PointFrame {
        from,
        rotation: rotation.at(i),
        stretch: rotation.stretch_at(i),
    })
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
        let rotation = frame(plan, stack, masks, point).map(|frame| frame.rotation);
        rotation.map_or(DQuat::IDENTITY, |q| q.unwrap_or_else(|heaviest| heaviest))
    };
    points.iter().map(of_point).collect()
}
