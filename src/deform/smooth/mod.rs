//! The corrective smooth (delta mush): smooths the pose and adds the detail of the bind shape again.
//!
//! Source: Mancewicz et al. 2014, "Delta Mush: smoothing deformations while preserving detail". The pose and the bind
//! shape are smoothed alike, by the umbrella Laplacian. The difference between the bind shape and the smoothed one, in
//! the tangent frame of each point, is added to the smoothed pose in its frame. The points of a seam move as one; open
//! edges are smoothed along themselves ([`Rings`]).

// The bodies must end up inside of what is compiled for AVX2, whatever the optimiser thinks of their size.
#![allow(clippy::inline_always)]

mod frames;
mod iterations;

use self::frames::{Frames, LANES, block_of, dot, lanes};
use self::iterations::{AHEAD, Iterations, seam_mean, step};
use super::chunks::for_chunks;
use super::mask::MaskChunk;
use super::{CorrectiveSmooth, MaskKind, Masks};
use crate::math::same_bits;
use crate::mesh::{Mesh, Rings};
use crate::skinning::influences::CHUNK;
use crate::skinning::{Backend, Kernel, Simd, dispatch};
use glam::{Vec3, Vec3A};

/// Above this share of points to recompute, all are: collecting their rings then costs more than it saves.
const MAX_SHARE: f32 = 0.4;

/// The detail of a bind shape and the buffers of the iterations. Allocates nothing from the second run on.
#[derive(Default)]
pub struct Smoother {
    /// n_points: bind shape minus smoothed bind shape, in the tangent frame; not finite where there is no frame.
    details: Vec<Vec3>,
    /// n_points: the smoothed pose of the latest run.
    smoothed: Vec<Vec3A>,
    iterations: Iterations,
    around: Around,
}

/// The rings around changed points.
#[derive(Default)]
struct Around {
    /// n_points: the latest run that reached the point.
    reached: Vec<u32>,
    run: u32,
    /// Ring after ring.
    points: Vec<u32>,
    /// End of each ring in `points`.
    ends: Vec<usize>,
    /// New values of a prefix of `points`.
    values: Vec<Vec3A>,
    /// The points to write, ascending.
    outputs: Vec<u32>,
    /// The new values of these.
    moved: Vec<Vec3>,
}

impl Smoother {
    /// Computes the detail of a bind shape. To be called when the shape, the mesh, the factor or the number of
    /// iterations changed.
    ///
    /// `rest`: n_points, the morphed, inflated bind shape: the result of the stack if no joint rotated.
    pub fn set_rest(&mut self, mesh: &Mesh, settings: &CorrectiveSmooth, rest: &[Vec3]) {
        let rings = mesh.rings();
        self.iterations
            .smooth(rings, settings, rest, &mut self.smoothed);
        let smoothed = &self.smoothed;
        self.details.resize(rest.len(), Vec3::ZERO);
        for_chunks(&mut self.details, |first, out| {
            for (block, out) in out.chunks_mut(LANES).enumerate() {
                let start = first + block * LANES;
                let points = block_of(start);
                let frames = Frames::new(rings, smoothed, &points[..out.len()]);
                let lost = |i: usize| Vec3A::from(rest[start + i]) - smoothed[start + i];
                let lost = lanes(out.len(), lost);
                let detail = [frames.tangent, frames.bitangent, frames.normal];
                let detail = detail.map(|axis| dot(axis, lost).to_array());
                for (i, out) in out.iter_mut().enumerate() {
                    *out = if frames.exists[i] {
                        Vec3::from_array(detail.map(|d| d[i]))
                    } else {
                        Vec3::NAN
                    };
                }
            }
        });
    }

    /// Smooths every point. A point whose strength times its painted value is 0 is copied.
    ///
    /// `input`, `out`: n_points, world space; `input` is the result of the stages before.
    pub fn run(
        &mut self,
        mesh: &Mesh,
        settings: &CorrectiveSmooth,
        masks: &Masks,
        input: &[Vec3],
        out: &mut [Vec3],
    ) {
        let rings = mesh.rings();
        self.iterations
            .smooth(rings, settings, input, &mut self.smoothed);
        let this = &*self;
        let backend = Backend::detect();
        for_chunks(out, |first, out| {
            let mask = masks.chunk(MaskKind::Smooth, first / CHUNK);
            let strength = settings.strength;
            let mixed = Mixed {
                smoother: this,
                rings,
                mask,
                strength,
                input,
                first,
                out,
            };
            dispatch(backend, mixed);
        });
    }

    /// Recomputes the points around changed ones, with the bits of [`Smoother::run`] on the same input. Returns the
    /// points of `out` that moved, ascending; `None` where so many may have that all were recomputed.
    ///
    /// `changed`: points whose `input` changed since the latest run; `repainted`: points whose painted value did.
    #[allow(clippy::too_many_arguments)] // a struct would only name each of them once more
    pub fn run_around(
        &mut self,
        mesh: &Mesh,
        settings: &CorrectiveSmooth,
        masks: &Masks,
        changed: &[u32],
        repainted: &[u32],
        input: &[Vec3],
        out: &mut [Vec3],
    ) -> Option<&[u32]> {
        let rings = mesh.rings();
        let n_iterations = settings.iterations as usize;
        let most = (MAX_SHARE * input.len() as f32) as usize;
        if !self.around.collect(rings, changed, 2 * n_iterations, most) {
            self.run(mesh, settings, masks, input, out);
            return None;
        }
        self.smooth_around(rings, settings, input);

        let Around {
            points,
            ends,
            moved,
            outputs,
            ..
        } = &mut self.around;
        // The tangent frame of a point reads its neighbours.
        outputs.clear();
        let end = ends.get(n_iterations + 1).or(ends.last()).copied();
        outputs.extend_from_slice(&points[..end.unwrap_or(0)]);
        outputs.extend_from_slice(repainted);
        outputs.sort_unstable();
        outputs.dedup();
        let mut values = std::mem::take(moved);
        let this = &*self;
        let outputs = &this.around.outputs;
        values.resize(outputs.len(), Vec3::ZERO);
        for_chunks(&mut values, |first, values| {
            let points = outputs[first..].chunks(LANES);
            for (values, points) in values.chunks_mut(LANES).zip(points) {
                let points = &points[..values.len()];
                let painted = |i: usize| masks.value(MaskKind::Smooth, points[i]);
                let strength = |i: usize| settings.strength * painted(i);
                this.mix(rings, points, strength, input, values);
            }
        });
        let mut next = values.iter();
        self.around.outputs.retain(|&point| {
            let Some(&value) = next.next() else {
                return false;
            };
            let out = &mut out[point as usize];
            let before = std::mem::replace(out, value);
            !same_bits(before, *out)
        });
        self.around.moved = values;
        Some(&self.around.outputs)
    }

    /// Writes the smoothed `shape` around changed points to `smoothed`.
    ///
    /// Each iteration reads one ring more than it writes: the first one reads `iterations` rings beyond those that the
    /// last one writes.
    fn smooth_around(&mut self, rings: &Rings, settings: &CorrectiveSmooth, shape: &[Vec3]) {
        let n_iterations = settings.iterations as usize;
        let Around {
            points,
            ends,
            values,
            ..
        } = &mut self.around;
        let Some(&all) = ends.last() else { return };
        let end_of = |ring: usize| ends.get(ring).copied().unwrap_or(all);
        let buffer = self.iterations.buffer(shape.len());
        fill(values, &points[..all], |point| match rings.seam(point) {
            Some(seam) => seam_mean(seam, shape),
            None => shape[point as usize].into(),
        });
        for pass in 0..=n_iterations {
            if pass > 0 {
                let shape = buffer.as_slice();
                fill(
                    values,
                    &points[..end_of(2 * n_iterations - pass)],
                    |point| step(rings, |q| shape[q as usize], settings.factor, point),
                );
            }
            for (&point, &value) in points.iter().zip(values.iter()) {
                buffer[point as usize] = value;
            }
        }
        for &point in &points[..end_of(n_iterations)] {
            self.smoothed[point as usize] = buffer[point as usize];
        }
    }

    /// Writes at most eight points of the smoothed pose with the detail of the bind shape, interpolated from `input` by
    /// their strengths. Where the surface has collapsed there is no tangent frame, and a point stays as in `input`.
    #[inline(always)]
    fn mix(
        &self,
        rings: &Rings,
        points: &[u32],
        strength: impl Fn(usize) -> f32,
        input: &[Vec3],
        out: &mut [Vec3],
    ) {
        let at = |i: usize| points[i] as usize;
        if (0..points.len()).all(|i| strength(i) <= 0.0) {
            for (i, out) in out.iter_mut().enumerate() {
                *out = input[at(i)];
            }
            return;
        }
        let frames = Frames::new(rings, &self.smoothed, points);
        let detail = lanes(points.len(), |i| self.details[at(i)].into());
        let smoothed = lanes(points.len(), |i| self.smoothed[at(i)]);
        let (t, b, n) = (frames.tangent, frames.bitangent, frames.normal);
        let corrected: [[f32; LANES]; 3] = std::array::from_fn(|k| {
            let there = smoothed[k] + t[k] * detail[0] + b[k] * detail[1] + n[k] * detail[2];
            there.to_array()
        });
        for (i, out) in out.iter_mut().enumerate() {
            let (from, strength) = (input[at(i)], strength(i));
            let corrected = Vec3::from_array(corrected.map(|c| c[i]));
            let acts = strength > 0.0 && frames.exists[i] && corrected.is_finite();
            *out = if !acts {
                from
            } else if strength >= 1.0 {
                // So both sides of a seam have the same bits.
                corrected
            } else {
                from + (corrected - from) * strength
            };
        }
    }
}

/// A chunk of the result.
struct Mixed<'a> {
    smoother: &'a Smoother,
    rings: &'a Rings,
    mask: Option<&'a MaskChunk>,
    strength: f32,
    input: &'a [Vec3],
    first: usize,
    out: &'a mut [Vec3],
}

impl Kernel for Mixed<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { rings, input, .. } = self;
        for (block, out) in self.out.chunks_mut(LANES).enumerate() {
            let start = block * LANES;
            let points = block_of(self.first + start);
            for &point in &points[..out.len()] {
                let (neighbours, start) = rings.row_start(point);
                simd.prefetch(neighbours, start + AHEAD);
                simd.prefetch(rings.all_directions(), start + AHEAD);
            }
            let painted = |i: usize| self.mask.map_or(MaskKind::UNPAINTED, |m| m[start + i]);
            let strength = |i: usize| self.strength * painted(i);
            (self.smoother).mix(rings, &points[..out.len()], strength, input, out);
        }
    }
}

impl Around {
    /// Collects `changed` and `n_rings` rings around them, seams as one point. Returns whether they are at most `most`.
    fn collect(&mut self, rings: &Rings, changed: &[u32], n_rings: usize, most: usize) -> bool {
        self.points.clear();
        self.ends.clear();
        self.reached.resize(rings.n_points(), 0);
        self.run = match self.run.checked_add(1) {
            Some(run) => run,
            None => {
                self.reached.fill(0);
                1
            }
        };
        for &point in changed {
            self.reach(rings, point);
        }
        self.ends.push(self.points.len());
        let mut first = 0;
        for _ in 0..n_rings {
            let last = self.points.len();
            for i in first..last {
                for &neighbour in rings.neighbours(self.points[i]) {
                    self.reach(rings, neighbour);
                }
            }
            first = last;
            self.ends.push(self.points.len());
            if self.points.len() > most {
                return false;
            }
            if first == self.points.len() {
                break;
            }
        }
        true
    }

    fn reach(&mut self, rings: &Rings, point: u32) {
        let own = [point];
        for &p in rings.seam(point).unwrap_or(&own) {
            if self.reached[p as usize] != self.run {
                self.reached[p as usize] = self.run;
                self.points.push(p);
            }
        }
    }
}

/// Fills `values` with `value` of each of `points`, on several threads when there are many.
fn fill(values: &mut Vec<Vec3A>, points: &[u32], value: impl Fn(u32) -> Vec3A + Sync) {
    values.resize(points.len(), Vec3A::ZERO);
    for_chunks(values, |first, out| {
        for (out, &point) in out.iter_mut().zip(&points[first..]) {
            *out = value(point);
        }
    });
}
