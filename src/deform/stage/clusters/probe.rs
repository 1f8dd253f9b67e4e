//! Five probes a corner: itself and a step along each tangent in both directions, deformed by stages 2 to 5. Their
//! differences give the Jacobian of the skin, whatever it consists of (mode A).

use super::corners::Corners;
use crate::cluster::Stencil;
use crate::deform::stage::changed::Changed;
use crate::deform::stage::gathered::{Gather, Gathered, centre_of};
use crate::deform::stage::run::Run;
use crate::deform::{DeformInput, DeformStack};
use crate::skinning::{CHUNK, Centres, RowRef, Rows};
use glam::{DMat3, DVec2, DVec3, Vec3};
use std::collections::BTreeSet;
use std::ops::Range;

/// Probes of a corner.
const PROBES: usize = 5;

/// The probes of the corners that one stack moves.
#[derive(Default)]
pub(super) struct SkinProbe {
    /// The corners, ascending.
    corners: Vec<u32>,
    /// One a corner: its two tangents in its two steps, along which the probes lie on both sides; zero where the mesh around
    /// it spans no plane.
    tangents: Vec<[DVec2; 2]>,
    /// [`PROBES`] a corner.
    probes: Gathered,
}

/// A corner as the skin moves it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Probed {
    /// World, metres.
    pub(super) position: DVec3,
    /// The images of its two tangents; zero where the mesh around it spans no plane.
    pub(super) columns: [DVec3; 2],
}

impl SkinProbe {
    /// Probes of these corners, ascending.
    pub(super) fn new(which: Vec<u32>, corners: &Corners, influences_of: &DeformInput<'_>) -> Self {
        let mut bind = Vec::with_capacity(which.len() * PROBES);
        let mut all_tangents = Vec::with_capacity(which.len());
        for &corner in &which {
            let at = corners.position(corner);
            let stencil = &corners.stencils[corner as usize];
            let probes = offsets(stencil).map(|offset| ((at + offset) / corners.unit).as_vec3());
            all_tangents.push(tangents(&probes, stencil, corners.unit));
            bind.extend(probes);
        }
        let around = Around {
            which: &which,
            corners,
        };
        Self {
            probes: Gathered::new(bind, &around, influences_of),
            tangents: all_tangents,
            corners: which,
        }
    }

    /// The corners, ascending.
    pub(super) fn corners(&self) -> &[u32] {
        &self.corners
    }

    /// Deforms the probes by stages 2 to 5 of `stack`. Returns which of [`SkinProbe::corners`] may have moved, by index.
    pub(super) fn run(
        &mut self,
        run: &Run<'_>,
        stack: &DeformStack,
        corners: &Corners,
        is_new: bool,
    ) -> Changed {
        let around = Around {
            which: &self.corners,
            corners,
        };
        match self.probes.run(run, stack, &around, is_new) {
            Changed::Points(mut probes) => {
                for probe in &mut probes {
                    *probe /= PROBES as u32;
                }
                probes.dedup();
                Changed::Points(probes)
            }
            all_or_nothing => all_or_nothing,
        }
    }

    /// The `i`-th of [`SkinProbe::corners`] after the latest run.
    pub(super) fn probed(&self, i: usize) -> Probed {
        let shape = &self.probes.shape()[i * PROBES..(i + 1) * PROBES];
        let [a, b] = [0, 1].map(|k| difference(shape, k));
        Probed {
            position: shape[0].as_dvec3(),
            columns: self.tangents[i].map(|t| a * t.x + b * t.y),
        }
    }
}

/// The mesh around the corners of a probe.
struct Around<'a> {
    which: &'a [u32],
    corners: &'a Corners,
}

impl Around<'_> {
    fn corner(&self, probe: usize) -> usize {
        self.which[probe / PROBES] as usize
    }
}

impl Gather for Around<'_> {
    fn point(&self, probe: usize) -> u32 {
        self.corners.points[self.corner(probe)].0
    }

    fn chunks_read(&self, probes: Range<usize>) -> Vec<usize> {
        let corners = self.corners;
        let mut chunks = BTreeSet::new();
        for &corner in &self.which[probes.start / PROBES..probes.end.div_ceil(PROBES)] {
            let corner = corner as usize;
            chunks.insert(corners.points[corner].0 as usize / CHUNK);
            for &(vertex, _) in &corners.stencils[corner].ring {
                let point = corners.surface.points_of_vertex(vertex)[0];
                chunks.insert(point as usize / CHUNK);
            }
        }
        chunks.into_iter().collect()
    }

    /// Those of the corner along their gradients, not below 0, with the same sum.
    fn rows(&self, probes: Range<usize>, input: &DeformInput<'_>) -> Rows {
        let mut rows = Rows::with_capacity(probes.len());
        let mut varying = Varying::default();
        let mut known = usize::MAX;
        for probe in probes {
            let corner = self.corner(probe);
            if known != corner {
                known = corner;
                varying.take(corner, self.corners, input);
            }
            let offset = offsets(&self.corners.stencils[corner])[probe % PROBES];
            varying.push_row(offset, &mut rows);
        }
        rows
    }

    /// Those of the corner along their gradient.
    fn centres(&self, centres: &Centres) -> Vec<Vec3> {
        let corners = self.corners;
        let centre = |point: u32| centre_of(centres, point).as_dvec3();
        let mut own = Vec::with_capacity(self.which.len() * PROBES);
        for &corner in self.which {
            let stencil = &corners.stencils[corner as usize];
            let at = centre(corners.points[corner as usize].0);
            let mut gradient = DMat3::ZERO;
            for &(vertex, coefficient) in &stencil.ring {
                let apart = centre(corners.surface.points_of_vertex(vertex)[0]) - at;
                gradient += outer(apart, coefficient);
            }
            own.extend(offsets(stencil).map(|offset| (at + gradient * offset).as_vec3()));
        }
        own
    }
}

/// The influences around a corner: each joint with its weight there and the gradient of the weight.
#[derive(Default)]
struct Varying {
    joints: Vec<(u16, f64, DVec3)>,
    sum: f64,
    /// The corner's own row.
    own: Vec<(u16, f32)>,
}

impl Varying {
    fn take(&mut self, corner: usize, corners: &Corners, input: &DeformInput<'_>) {
        self.joints.clear();
        self.own.clear();
        let row = |point: u32| {
            let rows = input.cooked.rows(point as usize / CHUNK)?;
            Some(rows.row(point as usize % CHUNK))
        };
        let Some(own) = row(corners.points[corner].0) else {
            return;
        };
        self.own.extend(own.iter());
        let stencil = &corners.stencils[corner];
        let mut all = DVec3::ZERO;
        let mut add = |joint: u16, weight: f64, gradient: DVec3| match self
            .joints
            .iter_mut()
            .find(|known| known.0 == joint)
        {
            Some(known) => {
                known.1 += weight;
                known.2 += gradient;
            }
            None => self.joints.push((joint, weight, gradient)),
        };
        for &(vertex, coefficient) in &stencil.ring {
            all += coefficient;
            let other = row(corners.surface.points_of_vertex(vertex)[0]);
            for (joint, weight) in other.into_iter().flat_map(RowRef::iter) {
                add(joint, 0.0, coefficient * f64::from(weight));
            }
        }
        for &(joint, weight) in &self.own {
            let weight = f64::from(weight);
            add(joint, weight, -all * weight);
        }
        self.sum = self.own.iter().map(|(_, w)| f64::from(*w)).sum();
    }

    /// Adds the row of a probe a step away from the corner.
    fn push_row(&self, step: DVec3, rows: &mut Rows) {
        if step == DVec3::ZERO || self.sum <= 0.0 {
            rows.push_pairs(self.own.iter().copied());
            return;
        }
        let weight =
            |(_, weight, gradient): &(u16, f64, DVec3)| (weight + gradient.dot(step)).max(0.0);
        let sum: f64 = self.joints.iter().map(weight).sum();
        let scale = if sum > 0.0 { self.sum / sum } else { 0.0 };
        rows.push_pairs(self.joints.iter().filter_map(|entry| {
            let scaled = (weight(entry) * scale) as f32;
            (scaled > 0.0).then_some((entry.0, scaled))
        }));
    }
}

/// From the second of the two probes along a tangent to the first.
fn difference(probes: &[Vec3], tangent: usize) -> DVec3 {
    probes[1 + 2 * tangent].as_dvec3() - probes[2 + 2 * tangent].as_dvec3()
}

/// The tangents of a corner in its steps, as f32 has these. `probes`: its bind positions, mesh space.
fn tangents(probes: &[Vec3], stencil: &Stencil, unit: f64) -> [DVec2; 2] {
    if stencil.step <= 0.0 {
        return [DVec2::ZERO; 2];
    }
    let [a, b] = [0, 1].map(|k| difference(probes, k) * unit);
    let steps = DMat3::from_cols(a, b, stencil.plane.normal).inverse();
    stencil.plane.tangents.map(|t| (steps * t).truncate())
}

/// From a corner to its probes, metres of the world.
fn offsets(stencil: &Stencil) -> [DVec3; PROBES] {
    let [a, b, c, d] = stencil.virtual_points();
    [DVec3::ZERO, a, b, c, d]
}

/// `a b^T`.
fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}
