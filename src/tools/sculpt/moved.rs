//! The points that a stroke has moved, and their displacements.

use crate::deform::PointRotations;
use crate::document::{CorrectivesEdit, Document, Edit, SculptFactors, SculptTarget};
use crate::math::same_bits;
use crate::psd::Displacements;
use glam::{DMat3, DQuat, DVec3, Vec3};
use std::sync::Arc;

/// A point that the stroke has moved.
#[derive(Clone, Copy, Debug)]
struct Slot {
    point: u32,
    rotation: DQuat,
    /// The stretch and its inverse, where the set scales with the limb.
    stretch: Option<[DMat3; 2]>,
    /// The weight of the sample times its strength.
    factor: f64,
    /// The displacement at the press.
    base: Vec3,
    /// What the stroke has added to it.
    added: Vec3,
    is_dirty: bool,
}

/// The points that a stroke has moved.
#[derive(Debug)]
pub(super) struct Moved {
    rotations: PointRotations,
    factors: SculptFactors,
    /// The displacements of the sample at the press.
    sample: Displacements,
    slots: Vec<Slot>,
    /// n_points: 1 + the index of the slot; 0: none. Memory that was never touched costs nothing.
    slot_of: Vec<u32>,
    dirty: Vec<u32>,
}

impl Moved {
    /// None of `n_points` so far. `sample`: the displacements at the press; `factors`: theirs in the pose.
    pub(super) fn new(
        rotations: PointRotations,
        sample: Displacements,
        factors: SculptFactors,
        n_points: usize,
    ) -> Self {
        Self {
            rotations,
            factors,
            sample,
            slots: Vec::new(),
            slot_of: vec![0; n_points],
            dirty: Vec::new(),
        }
    }

    /// Whether no point was reached.
    pub(super) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The blended rotation of a point.
    pub(super) fn rotation(&mut self, point: u32) -> DQuat {
        match self.slot_of[point as usize] {
            0 => self.rotations.at(point),
            slot => self.slots[slot as usize - 1].rotation,
        }
    }

    /// Metres of the world in one unit of the mesh at rest.
    pub(super) fn unit_scale(&self) -> f64 {
        self.rotations.unit_scale()
    }

    /// The displacement whose effect on screen is the offset `world`: `R^T o / factor`, or `A^-1 R^T o / factor` in a set
    /// that scales with the limb; zero for a point that is scaled to nearly nothing there.
    pub(super) fn displacement(&mut self, point: u32, world: Vec3) -> Vec3 {
        let slot = self.slot(point);
        let offset = slot.rotation.conjugate() * (world.as_dvec3() / slot.factor);
        let offset = slot.stretch.map_or(offset, |[_, inverse]| inverse * offset);
        offset.as_vec3()
    }

    /// The displacement of a point in the sample as it is now.
    pub(super) fn current(&mut self, point: u32) -> Vec3 {
        let slot = self.slot(point);
        slot.base + slot.added
    }

    /// Adds a displacement to that of a point, or with `instead` replaces what the stroke has added. Returns the offset
    /// of the point since the press, world.
    pub(super) fn add(&mut self, point: u32, displacement: Vec3, instead: bool) -> Option<DVec3> {
        if !displacement.is_finite() {
            return None;
        }
        let slot = self.slot(point);
        let added = if instead {
            displacement
        } else {
            slot.added + displacement
        };
        // A pointer that rests leaves no edit.
        let changes = !same_bits(added, slot.added);
        slot.added = added;
        let added = slot.added.as_dvec3();
        let stretched = slot.stretch.map_or(added, |[stretch, _]| stretch * added);
        let offset = slot.rotation * stretched * slot.factor;
        if changes && !std::mem::replace(&mut slot.is_dirty, true) {
            let slot = self.slot_of[point as usize] - 1;
            self.dirty.push(slot);
        }
        Some(offset)
    }

    fn slot(&mut self, point: u32) -> &mut Slot {
        if self.slot_of[point as usize] == 0 {
            self.slots.push(Slot {
                point,
                rotation: self.rotations.at(point),
                stretch: self
                    .factors
                    .scales
                    .then(|| self.rotations.stretch_at(point))
                    .flatten(),
                factor: self.factors.at(point),
                base: self.sample.get(point).unwrap_or_default(),
                added: Vec3::ZERO,
                is_dirty: false,
            });
            self.slot_of[point as usize] = self.slots.len() as u32;
        }
        let slot = self.slot_of[point as usize] as usize - 1;
        &mut self.slots[slot]
    }

    /// The changes since the last call.
    pub(super) fn take_edit(
        &mut self,
        document: &Document,
        target: &SculptTarget,
        negligible: f32,
    ) -> Option<Edit> {
        if self.dirty.is_empty() {
            return None;
        }
        let changed = std::mem::take(&mut self.dirty).into_iter().map(|index| {
            let slot = &mut self.slots[index as usize];
            slot.is_dirty = false;
            let d = slot.base + slot.added;
            let is_none = d.length() <= negligible;
            (slot.point, if is_none { Vec3::ZERO } else { d })
        });
        let changed: Vec<(u32, Vec3)> = changed.collect();
        let known = &document.meshes().get(&target.mesh)?.correctives;
        let sample = known.sets().get(target.set)?.samples.get(target.sample)?;
        let displacements = sample.displacements.with(changed);
        let correctives = known.with_displacements(target.set, target.sample, displacements);
        let edit = CorrectivesEdit::new(document, target.mesh, Arc::new(correctives));
        Some(Edit::Correctives(edit))
    }
}
