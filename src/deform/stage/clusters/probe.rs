//! Four probes a corner, a step along each tangent in both directions, deformed by stages 2 to 5. Their differences give the
//! Jacobian of the skin, whatever it consists of (mode A).

use super::corners::Corners;
use crate::cluster::{CornerLanes, CornerRow, Stencil};
use crate::deform::correctives::BlendedRotation;
use crate::deform::stage::changed::Changed;
use crate::deform::stage::gathered::{Gather, Gathered, Points, centre_of};
use crate::deform::stage::run::Run;
use crate::deform::{DeformInput, DeformStack, MaskKind, SkinningMethod};
use crate::skinning::kernels::blended_rotations_from;
use crate::skinning::{CHUNK, Centres, RowRef, Rows};
use glam::{DMat3, DQuat, DVec2, DVec3, Quat, Vec3};
use std::collections::BTreeSet;
use std::ops::Range;

/// Probes of a corner.
const PROBES: usize = 4;

/// Corners whose probes fill a chunk: first all those along the first tangent, then all against it, and so on.
pub(super) const CORNERS_PER_CHUNK: usize = CHUNK / PROBES;

/// The probes of the corners that one stack moves.
#[derive(Default)]
pub(super) struct SkinProbe {
    /// The corners, ascending.
    corners: Vec<u32>,
    /// The points of the mesh at them.
    points: Vec<u32>,
    /// One a corner each: the first tangent in the two steps along which the probes lie on both sides, then the second; zero
    /// where the mesh around a corner spans no plane.
    tangents: [Vec<f32>; PROBES],
    /// [`PROBES`] a corner.
    sides: Gathered,
    /// The corners themselves.
    centres: Gathered,
    /// Whether the corners were deformed in the latest run.
    has_places: bool,
}

impl SkinProbe {
    /// Probes of these corners, ascending.
    pub(super) fn new(which: Vec<u32>, corners: &Corners, influences_of: &DeformInput<'_>) -> Self {
        let mut tangents = [const { Vec::new() }; PROBES];
        let mesh_space = |at: DVec3| (at / corners.unit).as_vec3();
        let bind = in_planes(which.len(), |i| {
            let corner = which[i];
            let at = corners.position(corner);
            let stencil = &corners.stencils[corner as usize];
            let probes = stencil
                .virtual_points()
                .map(|offset| mesh_space(at + offset));
            for (all, own) in tangents
                .iter_mut()
                .zip(tangents_in(probes, stencil, corners.unit))
            {
                all.push(own as f32);
            }
            probes
        });
        let around = Around {
            which: &which,
            corners,
        };
        let points = which
            .iter()
            .map(|&corner| corners.points[corner as usize].0);
        let points: Vec<u32> = points.collect();
        let centres = which
            .iter()
            .map(|&corner| mesh_space(corners.position(corner)));
        Self {
            sides: Gathered::new(bind, &around, influences_of),
            centres: Gathered::new(centres.collect(), &Points(&points), influences_of),
            tangents,
            points,
            corners: which,
            has_places: false,
        }
    }

    /// The corners, ascending.
    pub(super) fn corners(&self) -> &[u32] {
        &self.corners
    }

    /// Deforms the probes by stages 2 to 5 of `stack`, and the corners themselves where they are asked for. Returns which of
    /// [`SkinProbe::corners`] may have moved, by index.
    pub(super) fn run(
        &mut self,
        run: &Run<'_>,
        stack: &DeformStack,
        corners: &Corners,
        is_new: bool,
        with_places: bool,
    ) -> Changed {
        let around = Around {
            which: &self.corners,
            corners,
        };
        let sides = match self.sides.run(run, stack, &around, is_new) {
            Changed::Points(mut probes) => {
                for probe in &mut probes {
                    *probe = corner_of(*probe as usize, self.corners.len()) as u32;
                }
                probes.sort_unstable();
                probes.dedup();
                Changed::Points(probes)
            }
            all_or_nothing => all_or_nothing,
        };
        let points = Points(&self.points);
        if !with_places {
            self.centres.follow(run, &points);
            self.has_places = false;
            return sides;
        }
        let is_new = is_new || !self.has_places;
        self.has_places = true;
        match (sides, self.centres.run(run, stack, &points, is_new)) {
            (Changed::All, _) | (_, Changed::All) => Changed::All,
            (Changed::Nothing, one) | (one, Changed::Nothing) => one,
            (Changed::Points(mut a), Changed::Points(b)) => {
                a.extend(b);
                a.sort_unstable();
                a.dedup();
                Changed::Points(a)
            }
        }
    }

    /// Writes the rows of the corners of a chunk as the skin moves them. `before`: the shape of the stages before, n_points,
    /// in which the corners lie where they were not asked for in the latest run. Returns whether the images of some corner's
    /// tangents span no plane ([`CornerRow::is_flat`]).
    pub(super) fn rows(
        &self,
        run: &Run<'_>,
        method: SkinningMethod,
        before: &[Vec3],
        chunk: usize,
        rows: &mut [CornerRow],
    ) -> bool {
        let corners = chunk * CORNERS_PER_CHUNK..chunk * CORNERS_PER_CHUNK + rows.len();
        let n = rows.len();
        let sides = &self.sides.shape()[chunk * CHUNK..chunk * CHUNK + PROBES * n];
        let mut places = [Vec3::ZERO; CORNERS_PER_CHUNK];
        let places = &mut places[..n];
        if self.has_places {
            places.copy_from_slice(&self.centres.shape()[corners.clone()]);
        } else {
            for (place, &point) in places.iter_mut().zip(&self.points[corners.clone()]) {
                *place = before[point as usize];
            }
        }
        let mut rotations = [Quat::IDENTITY; CORNERS_PER_CHUNK];
        let rotations = &mut rotations[..n];
        self.rotations(run, method, &corners, rotations);
        let lanes = CornerLanes {
            sides: [0, 1, 2, 3].map(|k| &sides[k * n..(k + 1) * n]),
            tangents: self.tangents.each_ref().map(|t| &t[corners.clone()]),
            places,
            rotations,
        };
        lanes.write(rows)
    }

    /// The rotations of some corners of a chunk under a skinning method.
    fn rotations(
        &self,
        run: &Run<'_>,
        method: SkinningMethod,
        corners: &Range<usize>,
        out: &mut [Quat],
    ) {
        let is_dual = matches!(
            method,
            SkinningMethod::Dqs | SkinningMethod::CentresOfRotation
        );
        let input = || self.centres.skin_input(run, corners.start / CHUNK);
        if let Some(input) = is_dual.then(input).flatten() {
            // Four chunks of probes have their corners in one.
            return blended_rotations_from(&input, corners.start % CHUNK, out);
        }
        for (out, &point) in out.iter_mut().zip(&self.points[corners.clone()]) {
            *out = rotation(run, method, point).as_quat();
        }
    }
}

/// The blended rotation of a point of the mesh under a skinning method.
pub(super) fn rotation(run: &Run<'_>, method: SkinningMethod, point: u32) -> DQuat {
    let (c, i) = (point as usize / CHUNK, point as usize % CHUNK);
    let Some(chunk) = run.skin.chunks().get(c) else {
        return DQuat::IDENTITY;
    };
    let blended = BlendedRotation {
        method,
        blend: run.input.stack.blend,
        mask: run.input.masks.chunk(MaskKind::Blend, c),
        chunk,
        palette: run.skin.palette(),
    };
    blended.any_at(i)
}

/// One entry of each probe of `n` corners, in the order of the chunks.
fn in_planes<T: Copy>(n: usize, mut of_corner: impl FnMut(usize) -> [T; PROBES]) -> Vec<T> {
    let mut all = Vec::with_capacity(n * PROBES);
    for start in (0..n).step_by(CORNERS_PER_CHUNK) {
        let corners = start..n.min(start + CORNERS_PER_CHUNK);
        let of_chunk: Vec<[T; PROBES]> = corners.map(&mut of_corner).collect();
        for k in 0..PROBES {
            all.extend(of_chunk.iter().map(|own| own[k]));
        }
    }
    all
}

/// The corners whose probes are some of a chunk.
fn corners_of(probes: &Range<usize>, n_corners: usize) -> Range<usize> {
    let chunks = probes.start / CHUNK..probes.end.div_ceil(CHUNK);
    chunks.start * CORNERS_PER_CHUNK..n_corners.min(chunks.end * CORNERS_PER_CHUNK)
}

/// The corner of a probe.
fn corner_of(probe: usize, n_corners: usize) -> usize {
    let start = probe / CHUNK * CORNERS_PER_CHUNK;
    let n = (n_corners - start).min(CORNERS_PER_CHUNK);
    start + probe % CHUNK % n
}

/// The mesh around the corners of a probe.
struct Around<'a> {
    which: &'a [u32],
    corners: &'a Corners,
}

impl Gather for Around<'_> {
    fn point(&self, probe: usize) -> u32 {
        let corner = self.which[corner_of(probe, self.which.len())];
        self.corners.points[corner as usize].0
    }

    fn chunks_read(&self, probes: Range<usize>) -> Vec<usize> {
        let corners = self.corners;
        let mut chunks = BTreeSet::new();
        for &corner in &self.which[corners_of(&probes, self.which.len())] {
            let corner = corner as usize;
            chunks.insert(corners.points[corner].0 as usize / CHUNK);
            for &(vertex, _) in &corners.stencils[corner].ring {
                let point = corners.surface.points_of_vertex(vertex)[0];
                chunks.insert(point as usize / CHUNK);
            }
        }
        chunks.into_iter().collect()
    }

    /// Whole chunks: the probes of a corner lie apart.
    fn rows(&self, probes: Range<usize>, input: &DeformInput<'_>) -> Rows {
        let which = &self.which[corners_of(&probes, self.which.len())];
        let mut sides = [(); PROBES].map(|()| Rows::with_capacity(which.len()));
        let mut varying = Varying::default();
        for &corner in which {
            let corner = corner as usize;
            varying.take(corner, self.corners, input);
            let offsets = self.corners.stencils[corner].virtual_points();
            for (offset, rows) in offsets.into_iter().zip(&mut sides) {
                varying.push_row(offset, rows);
            }
        }
        let mut all = Rows::with_capacity(probes.len());
        for rows in &sides {
            rows.iter().for_each(|row| all.push(row));
        }
        all
    }

    /// Those of the corner along their gradient.
    fn centres(&self, centres: &Centres) -> Vec<Vec3> {
        let corners = self.corners;
        let centre = |point: u32| centre_of(centres, point).as_dvec3();
        in_planes(self.which.len(), |i| {
            let corner = self.which[i] as usize;
            let stencil = &corners.stencils[corner];
            let at = centre(corners.points[corner].0);
            let mut gradient = DMat3::ZERO;
            for &(vertex, coefficient) in &stencil.ring {
                let apart = centre(corners.surface.points_of_vertex(vertex)[0]) - at;
                gradient += outer(apart, coefficient);
            }
            let offsets = stencil.virtual_points();
            offsets.map(|offset| (at + gradient * offset).as_vec3())
        })
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

    /// Adds the row of a probe a step away from the corner: the influences of the corner along their gradients, not below 0,
    /// with the same sum.
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

/// The tangents of a corner in its steps, as f32 has these: first tangent in the first and the second step, then the second
/// tangent. `probes`: its bind positions, mesh space.
fn tangents_in(probes: [Vec3; PROBES], stencil: &Stencil, unit: f64) -> [f64; PROBES] {
    if stencil.step <= 0.0 {
        return [0.0; PROBES];
    }
    let [a, against_a, b, against_b] = probes.map(|probe| probe.as_dvec3() * unit);
    let steps = DMat3::from_cols(a - against_a, b - against_b, stencil.plane.normal).inverse();
    let [first, second] = stencil
        .plane
        .tangents
        .map(|t| -> DVec2 { (steps * t).truncate() });
    [first.x, first.y, second.x, second.y]
}

/// `a b^T`.
fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_lie_in_planes_of_their_chunk() {
        let n = CORNERS_PER_CHUNK + 3;
        let probes = in_planes(n, |i| [0, 1, 2, 3].map(|k| (i, k)));
        assert_eq!(probes.len(), PROBES * n);
        for (probe, &(corner, _)) in probes.iter().enumerate() {
            assert_eq!(corner_of(probe, n), corner, "probe {probe}");
        }
        assert_eq!(probes[CORNERS_PER_CHUNK], (0, 1));
        assert_eq!(probes[CHUNK + 3], (CORNERS_PER_CHUNK, 1));
        assert_eq!(corners_of(&(CHUNK..CHUNK + 12), n), CORNERS_PER_CHUNK..n);
    }
}
