//! The points that a stroke has moved, and their displacements.

use super::shape::Shape;
use crate::deform::PointRotations;
use crate::deform::correctives::CapturedOver;
use crate::document::{CorrectivesEdit, Document, Edit, SculptFactors, SculptTarget};
use crate::math::same_bits;
use crate::psd::Displacements;
use glam::{DMat3, DQuat, DVec3, Vec3};
use rayon::prelude::*;
use std::sync::Arc;

/// A point that the stroke reaches. What the pose and the mesh say of it is computed once: a stroke passes most points
/// many times.
#[derive(Debug)]
struct Slot {
    point: u32,
    rotation: DQuat,
    /// The stretch and its inverse, where the set scales with the limb.
    stretch: Option<Box<[DMat3; 2]>>,
    /// The weight of the sample times its strength.
    factor: f64,
    /// The displacement at the press.
    base: Vec3,
    /// What the stroke has added to it.
    added: Vec3,
    is_dirty: bool,
    /// The normal at the press.
    normal: Vec3,
    /// Where its neighbours are in [`Moved::rings`]: the first and their number.
    ring: (u32, u32),
    /// From the mean of its neighbours to where their edges are as at bind, once Relax has reached it.
    bind_offset: Option<Vec3>,
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
    /// The neighbours of the points, see [`Shape::ring`].
    rings: Vec<u32>,
}

/// Points for one task of a thread: each costs some hundred nanoseconds.
const POINTS_PER_TASK: usize = 256;

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
            rings: Vec::new(),
        }
    }

    /// Whether no point was reached.
    pub(super) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Makes the points known to the methods below, with their neighbours if `needs_rings`.
    pub(super) fn reach(
        &mut self,
        points: impl Iterator<Item = u32>,
        shape: &Shape,
        needs_rings: bool,
    ) {
        let mut unknown: Vec<u32> = points
            .filter(|&point| self.slot_of[point as usize] == 0)
            .collect();
        unknown.sort_unstable();
        unknown.dedup();
        let runs = unknown.par_chunks(POINTS_PER_TASK);
        let made: Vec<(Vec<Slot>, Vec<u32>)> = runs
            .map(|run| self.slots_of(run, shape, needs_rings))
            .collect();
        for (slots, rings) in made {
            let first = self.rings.len() as u32;
            self.rings.extend(rings);
            for mut slot in slots {
                slot.ring.0 += first;
                slot.factor = self.factors.at(slot.point);
                let point = slot.point as usize;
                self.slots.push(slot);
                self.slot_of[point] = self.slots.len() as u32;
            }
        }
    }

    /// As [`Moved::reach`], with what [`Moved::bind_offset`] needs.
    pub(super) fn reach_neighbours(&mut self, points: &[(u32, f32)], shape: &Shape) {
        self.reach(points.iter().map(|reached| reached.0), shape, true);
        let is_new = |slot: &&Slot| slot.bind_offset.is_none();
        let slots = points.iter().filter_map(|reached| self.slot(reached.0));
        let new: Vec<u32> = slots.filter(is_new).map(|slot| slot.point).collect();
        let neighbours = new.iter().flat_map(|&point| self.ring(point));
        let neighbours: Vec<u32> = neighbours.copied().collect();
        self.reach(neighbours.into_iter(), shape, true);
        let of_point = |&point: &u32| self.edges_at_bind(point, shape);
        let points = new.par_iter().with_min_len(POINTS_PER_TASK);
        let found: Vec<Vec3> = points.map(of_point).collect();
        for (point, bind_offset) in new.into_iter().zip(found) {
            let index = self.slot_of[point as usize] as usize - 1;
            self.slots[index].bind_offset = Some(bind_offset);
        }
    }

    /// The mean over the neighbours j of a point of `(R_i + R_j) / 2 (b_i - b_j)`.
    fn edges_at_bind(&self, point: u32, shape: &Shape) -> Vec3 {
        let ring = self.ring(point);
        let (own, scale) = (self.rotation(point), self.unit_scale());
        let edges = ring.iter().map(|&next| {
            let edge = shape.bind_edge(next, point).as_dvec3() * scale;
            (own * edge + self.rotation(next) * edge) * 0.5
        });
        (edges.sum::<DVec3>() / ring.len().max(1) as f64).as_vec3()
    }

    /// From the mean of the neighbours of a point to where its edges are closest to their shape at bind; it stays the
    /// same as they move. Zero for a point that Relax has not reached.
    pub(super) fn bind_offset(&self, point: u32) -> Vec3 {
        let slot = self.slot(point);
        slot.and_then(|slot| slot.bind_offset).unwrap_or_default()
    }

    fn slots_of(&self, points: &[u32], shape: &Shape, needs_rings: bool) -> (Vec<Slot>, Vec<u32>) {
        let (mut rings, mut ring) = (Vec::new(), Vec::new());
        let slots = points.iter().map(|&point| {
            let first = rings.len();
            if needs_rings {
                shape.ring(point, &mut ring);
                rings.extend_from_slice(&ring);
            }
            let stretch = self
                .factors
                .scales
                .then(|| self.rotations.stretch_at(point));
            Slot {
                point,
                rotation: self.rotations.at(point),
                stretch: stretch.flatten().map(Box::new),
                factor: 1.0,
                base: self.sample.get(point).unwrap_or_default(),
                added: Vec3::ZERO,
                is_dirty: false,
                normal: shape.start_normal(point),
                ring: (first as u32, (rings.len() - first) as u32),
                bind_offset: None,
            }
        });
        (slots.collect(), rings)
    }

    /// The blended rotation of a point that was reached.
    fn rotation(&self, point: u32) -> DQuat {
        self.slot(point)
            .map_or(DQuat::IDENTITY, |slot| slot.rotation)
    }

    /// The neighbours of a point that was reached with them.
    pub(super) fn ring(&self, point: u32) -> &[u32] {
        let (first, n) = self.slot(point).map_or((0, 0), |slot| slot.ring);
        &self.rings[first as usize..(first + n) as usize]
    }

    /// The normal of a point at the press, if it was reached.
    pub(super) fn start_normal(&self, point: u32) -> Option<Vec3> {
        self.slot(point).map(|slot| slot.normal)
    }

    /// Metres of the world in one unit of the mesh at rest.
    fn unit_scale(&self) -> f64 {
        self.rotations.unit_scale()
    }

    /// The displacement of a point that was reached whose effect on screen is the offset `world`: `R^T o / factor`, or
    /// `A^-1 R^T o / factor` in a set that scales with the limb; zero for a point that is scaled to nearly nothing there.
    pub(super) fn displacement(&self, point: u32, world: Vec3) -> Vec3 {
        let Some(slot) = self.slot(point) else {
            return Vec3::ZERO;
        };
        let offset = slot.rotation.conjugate() * (world.as_dvec3() / slot.factor);
        let offset = slot
            .stretch
            .as_ref()
            .map_or(offset, |both| both[1] * offset);
        offset.as_vec3()
    }

    /// The displacement of a point in the sample as it is now.
    pub(super) fn current(&self, point: u32) -> Vec3 {
        let slot = self.slot(point);
        slot.map_or(Vec3::ZERO, |slot| slot.base + slot.added)
    }

    /// Adds a displacement to that of a point that was reached, or with `instead` replaces what the stroke has added. Returns the offset
    /// of the point since the press, world.
    pub(super) fn add(&mut self, point: u32, displacement: Vec3, instead: bool) -> Option<DVec3> {
        if !displacement.is_finite() {
            return None;
        }
        let index = self.slot_of[point as usize].checked_sub(1)?;
        let slot = &mut self.slots[index as usize];
        let added = if instead {
            displacement
        } else {
            slot.added + displacement
        };
        // A pointer that rests leaves no edit.
        let changes = !same_bits(added, slot.added);
        slot.added = added;
        if changes && !std::mem::replace(&mut slot.is_dirty, true) {
            self.dirty.push(index);
        }
        let added = added.as_dvec3();
        let stretched = slot.stretch.as_ref().map_or(added, |both| both[0] * added);
        Some(slot.rotation * stretched * slot.factor)
    }

    fn slot(&self, point: u32) -> Option<&Slot> {
        let index = self.slot_of[point as usize].checked_sub(1)?;
        self.slots.get(index as usize)
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
        let mut correctives = known.with_displacements(target.set, target.sample, displacements);
        // What is on screen is what is sculpted, also over weights that changed since the sample was captured.
        let item = document.meshes().get(&target.mesh)?;
        let is_present = matches!(
            &sample.captured_over,
            CapturedOver::Known(base) if base.shares(&item.influences, &item.masks)
        );
        if !is_present {
            let over = document.captured_now(target.mesh);
            correctives = correctives.captured_over(target.set, target.sample, over);
        }
        let edit = CorrectivesEdit::new(document, target.mesh, Arc::new(correctives));
        Some(Edit::Correctives(edit))
    }
}
