//! Five probes a corner: itself and a step along each tangent in both directions, deformed by stages 2 to 5. Their
//! differences give the Jacobian of the skin, whatever it consists of (mode A).

use super::corners::Corners;
use crate::cluster::Stencil;
use crate::deform::stage::changed::Changed;
use crate::deform::stage::posed_skin::Changes;
use crate::deform::stage::run::{ProbeSkin, Run, Stage};
use crate::deform::stage::skinning_pass::SkinningPass;
use crate::deform::{DeformInput, DeformStack, MaskKind, Masks, SkinningMethod};
use crate::skinning::{CHUNK, Centres, CookedChunk, RowRef, Rows};
use glam::{DMat3, DVec2, DVec3, Vec3};
use std::collections::BTreeSet;
use std::sync::{Arc, Weak};

/// Probes of a corner.
const PROBES: usize = 5;

/// Maps that stages 3 to 5 read.
const MASKS: [MaskKind; 3] = [
    MaskKind::Blend,
    MaskKind::Compensation,
    MaskKind::Projection,
];

/// The probes of the corners that one stack moves.
#[derive(Default)]
pub(super) struct SkinProbe {
    /// The corners, ascending.
    corners: Vec<u32>,
    /// [`PROBES`] a corner: bind positions, mesh space.
    bind: Vec<Vec3>,
    /// One a corner: its two tangents in its two steps, along which the probes lie on both sides; zero where the mesh around
    /// it spans no plane.
    tangents: Vec<[DVec2; 2]>,
    rows: Vec<Arc<Rows>>,
    /// One a chunk of probes: the chunks of the mesh whose influences it reads, ascending.
    reads: Vec<Vec<usize>>,
    chunks: Vec<Arc<CookedChunk>>,
    changes: Changes,
    /// The painted maps of the mesh, and the same of the probes.
    masks: [Masks; 2],
    /// The centres of rotation of the mesh, and the same of the probes.
    centres: Option<(Weak<Centres>, Arc<Centres>)>,
    pass: SkinningPass,
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
        let mut probe = Self {
            bind: Vec::with_capacity(which.len() * PROBES),
            corners: which,
            ..Self::default()
        };
        for &corner in &probe.corners {
            let at = corners.position(corner);
            let probes = offsets(&corners.stencils[corner as usize]);
            let probes = probes.map(|offset| ((at + offset) / corners.unit).as_vec3());
            let first = probe.bind.len();
            probe.bind.extend(probes);
            let stencil = &corners.stencils[corner as usize];
            let tangents = tangents(&probe.bind[first..], stencil, corners.unit);
            probe.tangents.push(tangents);
        }
        let n_chunks = probe.bind.len().div_ceil(CHUNK);
        probe.reads = (0..n_chunks)
            .map(|chunk| probe.points_read(chunk, corners))
            .collect();
        probe.rows = (0..n_chunks)
            .map(|chunk| Arc::new(probe.chunk_rows(chunk, corners, influences_of)))
            .collect();
        let order = influences_of.cooked.order();
        let cooked = probe.rows.iter();
        probe.chunks = cooked
            .map(|rows| Arc::new(CookedChunk::cook(rows, order)))
            .collect();
        probe
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
        let of_mesh = run.skin.changes();
        self.changes.chunks.clear();
        if !of_mesh.chunks.is_empty() && !is_new {
            self.recook(&of_mesh.chunks, corners, run.input);
        }
        self.changes.palette = of_mesh.palette;
        self.changes.inflated_bones = of_mesh.inflated_bones;
        self.take_masks(run.input.masks, corners);
        self.take_centres(run.input, stack, corners);
        let input = DeformInput {
            stack,
            masks: &self.masks[1],
            centres: self.centres.as_ref().map(|(_, own)| own),
            ..*run.input
        };
        let inner = Run {
            input: &input,
            bind: run.bind,
            skin: run.skin,
            probe: Some(ProbeSkin {
                chunks: &self.chunks,
                changes: &self.changes,
            }),
        };
        let changed = if is_new {
            Changed::All
        } else {
            Changed::Nothing
        };
        match self.pass.run(&inner, &self.bind, changed) {
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
        let shape = &self.pass.shape()[i * PROBES..(i + 1) * PROBES];
        let [a, b] = [0, 1].map(|k| difference(shape, k));
        Probed {
            position: shape[0].as_dvec3(),
            columns: self.tangents[i].map(|t| a * t.x + b * t.y),
        }
    }

    /// The chunks of the mesh whose influences a chunk of probes reads.
    fn points_read(&self, chunk: usize, corners: &Corners) -> Vec<usize> {
        let mut chunks = BTreeSet::new();
        let probes = chunk * CHUNK..self.bind.len().min((chunk + 1) * CHUNK);
        for corner in probes.start / PROBES..probes.end.div_ceil(PROBES) {
            let corner = self.corners[corner] as usize;
            chunks.insert(corners.points[corner].0 as usize / CHUNK);
            for &(vertex, _) in &corners.stencils[corner].ring {
                let point = corners.surface.points_of_vertex(vertex)[0];
                chunks.insert(point as usize / CHUNK);
            }
        }
        chunks.into_iter().collect()
    }

    /// Influences of a chunk of probes: those of the corner along their gradients, not below 0, with the same sum.
    fn chunk_rows(&self, chunk: usize, corners: &Corners, input: &DeformInput<'_>) -> Rows {
        let probes = chunk * CHUNK..self.bind.len().min((chunk + 1) * CHUNK);
        let mut rows = Rows::with_capacity(probes.len());
        let mut varying = Varying::default();
        let mut known = usize::MAX;
        for probe in probes {
            let corner = self.corners[probe / PROBES] as usize;
            if known != corner {
                known = corner;
                varying.take(corner, corners, input);
            }
            let offset = offsets(&corners.stencils[corner])[probe % PROBES];
            varying.push_row(offset, &mut rows);
        }
        rows
    }

    /// Cooks the chunks of probes again that read changed chunks of the mesh and have other influences now.
    fn recook(&mut self, changed: &[usize], corners: &Corners, input: &DeformInput<'_>) {
        for chunk in 0..self.rows.len() {
            let reads = &self.reads[chunk];
            if !changed.iter().any(|c| reads.binary_search(c).is_ok()) {
                continue;
            }
            let rows = self.chunk_rows(chunk, corners, input);
            if !rows.same_bits(&self.rows[chunk]) {
                self.chunks[chunk] = Arc::new(CookedChunk::cook(&rows, input.cooked.order()));
                self.rows[chunk] = Arc::new(rows);
                self.changes.chunks.push(chunk);
            }
        }
    }

    /// Gives the probes of a corner its values of the painted maps.
    fn take_masks(&mut self, masks: &Masks, corners: &Corners) {
        let [known, own] = &mut self.masks;
        if known == masks {
            return;
        }
        known.clone_from(masks);
        *own = Masks::default();
        for kind in MASKS {
            let (mut probes, mut values) = (Vec::new(), Vec::new());
            for (i, &corner) in self.corners.iter().enumerate() {
                let value = masks.value(kind, corners.points[corner as usize].0);
                if value.to_bits() != MaskKind::UNPAINTED.to_bits() {
                    let first = i * PROBES;
                    probes.extend((first..first + PROBES).map(|probe| probe as u32));
                    values.extend([value; PROBES]);
                }
            }
            if !probes.is_empty() {
                own.swap(kind, &probes, &mut values);
            }
        }
    }

    /// Gives the probes centres of rotation along the gradient of the corner's.
    fn take_centres(&mut self, input: &DeformInput<'_>, stack: &DeformStack, corners: &Corners) {
        let reads = stack.method == SkinningMethod::CentresOfRotation;
        let centres = input.centres.filter(|c| reads && c.fit(input.geometry));
        let Some(centres) = centres else {
            self.centres = None;
            return;
        };
        let is_known = |(known, _): &(Weak<Centres>, Arc<Centres>)| {
            std::ptr::eq(known.as_ptr(), Arc::as_ptr(centres))
        };
        if self.centres.as_ref().is_some_and(is_known) {
            return;
        }
        let centre = |point: u32| {
            let chunk = centres.chunk(point as usize / CHUNK);
            let centre = chunk.and_then(|chunk| chunk.get(point as usize % CHUNK));
            centre.map_or(DVec3::ZERO, |centre| centre.as_dvec3())
        };
        let mut own = Vec::with_capacity(self.bind.len());
        for &corner in &self.corners {
            let stencil = &corners.stencils[corner as usize];
            let at = centre(corners.points[corner as usize].0);
            let mut gradient = DMat3::ZERO;
            for &(vertex, coefficient) in &stencil.ring {
                let apart = centre(corners.surface.points_of_vertex(vertex)[0]) - at;
                gradient += outer(apart, coefficient);
            }
            own.extend(offsets(stencil).map(|offset| (at + gradient * offset).as_vec3()));
        }
        let own = Arc::new(Centres::given(input.geometry, &own));
        self.centres = Some((Arc::downgrade(centres), own));
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
