//! The points that a stroke has moved, and their displacements.

use super::shape::Shape;
use super::target::Target;
use crate::deform::PointRotations;
use crate::document::{CorrectivesEdit, Document, Edit};
use crate::psd::Displacements;
use glam::{DQuat, Vec3};
use std::collections::HashMap;
use std::sync::Arc;

/// A point that the stroke has moved.
#[derive(Clone, Copy, Debug)]
struct Slot {
    point: u32,
    rotation: DQuat,
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
    factor: f64,
    slots: Vec<Slot>,
    slot_of: HashMap<u32, u32>,
    dirty: Vec<u32>,
}

impl Moved {
    /// None so far. `factor`: that of the sample's displacements in the pose.
    pub(super) fn new(rotations: PointRotations, factor: f64) -> Self {
        Self {
            rotations,
            factor,
            slots: Vec::new(),
            slot_of: HashMap::new(),
            dirty: Vec::new(),
        }
    }

    /// Whether no point was moved.
    pub(super) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The blended rotation of a point.
    pub(super) fn rotation(&mut self, point: u32) -> DQuat {
        match self.slot_of.get(&point) {
            Some(&slot) => self.slots[slot as usize].rotation,
            None => self.rotations.at(point),
        }
    }

    /// Metres of the world in one unit of the mesh at rest.
    pub(super) fn unit_scale(&self) -> f64 {
        self.rotations.unit_scale()
    }

    /// The displacement whose effect on screen is the offset `world`: `R^T o / factor`.
    pub(super) fn displacement(&mut self, point: u32, world: Vec3) -> Vec3 {
        let rotation = self.rotation(point);
        (rotation.conjugate() * (world.as_dvec3() / self.factor)).as_vec3()
    }

    /// The displacement of a point in the sample as it is now.
    pub(super) fn current(&mut self, point: u32, sample: &Displacements) -> Vec3 {
        let slot = self.slot(point, sample);
        slot.base + slot.added
    }

    /// Adds a displacement to that of a point, or with `instead` replaces what the stroke has added.
    pub(super) fn add(
        &mut self,
        point: u32,
        displacement: Vec3,
        instead: bool,
        sample: &Displacements,
        shape: &mut Shape,
    ) {
        if !displacement.is_finite() {
            return;
        }
        let factor = self.factor;
        let slot = self.slot(point, sample);
        slot.added = if instead {
            displacement
        } else {
            slot.added + displacement
        };
        let offset = slot.rotation * slot.added.as_dvec3() * factor;
        let place = shape.start[point as usize].as_dvec3() + offset;
        shape.now[point as usize] = place.as_vec3();
        if !std::mem::replace(&mut slot.is_dirty, true) {
            let slot = self.slot_of[&point];
            self.dirty.push(slot);
        }
    }

    fn slot(&mut self, point: u32, sample: &Displacements) -> &mut Slot {
        let index = match self.slot_of.get(&point) {
            Some(&index) => index,
            None => {
                let index = self.slots.len() as u32;
                self.slots.push(Slot {
                    point,
                    rotation: self.rotations.at(point),
                    base: sample.get(point).unwrap_or_default(),
                    added: Vec3::ZERO,
                    is_dirty: false,
                });
                self.slot_of.insert(point, index);
                index
            }
        };
        &mut self.slots[index as usize]
    }

    /// The changes since the last call.
    pub(super) fn take_edit(
        &mut self,
        document: &Document,
        target: &Target,
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
