//! The corrective smooth (delta mush): smooths the pose and adds the detail of the bind shape again.
//!
//! Source: Mancewicz et al. 2014, "Delta Mush: smoothing deformations while preserving detail". The pose and the bind
//! shape are smoothed alike, by the umbrella Laplacian. The difference between the bind shape and the smoothed one, in
//! the tangent frame of each point, is added to the smoothed pose in its frame. The points of a seam move as one; open
//! edges are smoothed along themselves ([`Rings`]).

// The kernels' bodies must end up inside of `with_avx2` (`skinning::simd`), whatever the optimiser thinks of their size.
#![allow(clippy::inline_always)]

use super::chunks::for_chunks;
use super::tangent_frames::{Frames, LANES, dot, lanes};
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
    /// n_points: the second buffer of the iterations.
    other: Vec<Vec3A>,
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
        self.smooth(rings, settings, rest);
        let smoothed = &self.smoothed;
        self.details.resize(rest.len(), Vec3::ZERO);
        let backend = Backend::detect();
        for_chunks(&mut self.details, |first, out| {
            let kernel = Lost {
                rings,
                rest,
                smoothed,
                first,
                out,
            };
            dispatch(backend, kernel);
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
        self.smooth(rings, settings, input);
        let this = &*self;
        let backend = Backend::detect();
        for_chunks(out, |first, out| {
            let mask = masks.chunk(MaskKind::Smooth, first / CHUNK);
            let kernel = Mix {
                smoother: this,
                rings,
                point: |i| (first + i) as u32,
                strength: |i: usize| {
                    settings.strength * mask.map_or(MaskKind::UNPAINTED, |mask| mask[i])
                },
                input,
                out,
            };
            dispatch(backend, kernel);
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
        let backend = Backend::detect();
        for_chunks(&mut values, |first, values| {
            let points = &outputs[first..];
            let kernel = Mix {
                smoother: this,
                rings,
                point: |i| points[i],
                strength: |i| settings.strength * masks.value(MaskKind::Smooth, points[i]),
                input,
                out: values,
            };
            dispatch(backend, kernel);
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

    /// Writes the smoothed `shape` to `smoothed`.
    fn smooth(&mut self, rings: &Rings, settings: &CorrectiveSmooth, shape: &[Vec3]) {
        let n_points = shape.len();
        let (mut from, mut to) = (&mut self.other, &mut self.smoothed);
        // The last iteration must write to `smoothed`.
        if settings.iterations.is_multiple_of(2) {
            std::mem::swap(&mut from, &mut to);
        }
        from.resize(n_points, Vec3A::ZERO);
        to.resize(n_points, Vec3A::ZERO);
        for_chunks(from, |first, out| {
            for (out, &p) in out.iter_mut().zip(&shape[first..]) {
                *out = p.into();
            }
        });
        for seam in rings.seams() {
            let mean = seam_mean(seam, shape);
            for &point in seam {
                from[point as usize] = mean;
            }
        }
        let backend = Backend::detect();
        for _ in 0..settings.iterations {
            let shape = from.as_slice();
            for_chunks(to, |first, out| {
                let kernel = Iteration {
                    rings,
                    shape,
                    factor: settings.factor,
                    point: |i| (first + i) as u32,
                    out,
                };
                dispatch(backend, kernel);
            });
            std::mem::swap(&mut from, &mut to);
        }
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
        let buffer = &mut self.other;
        values.resize(all, Vec3A::ZERO);
        for_chunks(values, |first, out| {
            for (out, &point) in out.iter_mut().zip(&points[first..]) {
                *out = match rings.seam(point) {
                    Some(seam) => seam_mean(seam, shape),
                    None => shape[point as usize].into(),
                };
            }
        });
        let backend = Backend::detect();
        for pass in 0..=n_iterations {
            if pass > 0 {
                let shape = buffer.as_slice();
                values.truncate(end_of(2 * n_iterations - pass));
                for_chunks(values, |first, out| {
                    let points = &points[first..];
                    let kernel = Iteration {
                        rings,
                        shape,
                        factor: settings.factor,
                        point: |i| points[i],
                        out,
                    };
                    dispatch(backend, kernel);
                });
            }
            for (&point, &value) in points.iter().zip(values.iter()) {
                buffer[point as usize] = value;
            }
        }
        for &point in &points[..end_of(n_iterations)] {
            self.smoothed[point as usize] = buffer[point as usize];
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

/// One iteration of the umbrella Laplacian.
struct Iteration<'a, P> {
    rings: &'a Rings,
    /// n_points.
    shape: &'a [Vec3A],
    factor: f32,
    /// The point of each entry of `out`.
    point: P,
    out: &'a mut [Vec3A],
}

impl<P: Fn(usize) -> u32> Kernel for Iteration<'_, P> {
    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        for (i, out) in self.out.iter_mut().enumerate() {
            let point = (self.point)(i);
            let here = self.shape[point as usize];
            let neighbours = self.rings.averaged(point);
            *out = if neighbours.is_empty() {
                here
            } else {
                let at = |q: u32| self.shape[q as usize];
                let sum = match *neighbours {
                    // Most points have six; three independent sums are quicker than a chain.
                    [a, b, c, d, e, f] => (at(a) + at(b)) + (at(c) + at(d)) + (at(e) + at(f)),
                    _ => neighbours.iter().map(|&q| at(q)).sum(),
                };
                here + (sum / neighbours.len() as f32 - here) * self.factor
            };
        }
    }
}

/// The detail that smoothing takes off a shape, in its tangent frames.
struct Lost<'a> {
    rings: &'a Rings,
    /// n_points.
    rest: &'a [Vec3],
    /// n_points.
    smoothed: &'a [Vec3A],
    /// The point of the first entry of `out`.
    first: usize,
    out: &'a mut [Vec3],
}

impl Kernel for Lost<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        for (block, out) in self.out.chunks_mut(LANES).enumerate() {
            let start = self.first + block * LANES;
            let point = |i: usize| (start + i) as u32;
            let frames = Frames::new(simd, self.rings, self.smoothed, out.len(), point);
            let lost = |i: usize| Vec3A::from(self.rest[start + i]) - self.smoothed[start + i];
            let lost = lanes(simd, out.len(), lost);
            let along = |axis| simd.to_array(dot(simd, axis, lost));
            let detail = [
                along(frames.tangent),
                along(frames.bitangent),
                along(frames.normal),
            ];
            for (i, out) in out.iter_mut().enumerate() {
                *out = if frames.exists[i] {
                    Vec3::from_array(detail.map(|d| d[i]))
                } else {
                    Vec3::NAN
                };
            }
        }
    }
}

/// The smoothed pose with the detail of the bind shape, interpolated from `input` by the points' strengths. Where the
/// surface has collapsed there is no tangent frame, and a point stays as in `input`.
struct Mix<'a, P, W> {
    smoother: &'a Smoother,
    rings: &'a Rings,
    /// The point of each entry of `out`.
    point: P,
    /// The strength of each entry of `out`.
    strength: W,
    /// n_points.
    input: &'a [Vec3],
    out: &'a mut [Vec3],
}

impl<P: Fn(usize) -> u32, W: Fn(usize) -> f32> Kernel for Mix<'_, P, W> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Smoother {
            details, smoothed, ..
        } = self.smoother;
        for (block, out) in self.out.chunks_mut(LANES).enumerate() {
            let strength = |i: usize| (self.strength)(block * LANES + i);
            let point = |i: usize| (self.point)(block * LANES + i);
            let at = |i: usize| point(i) as usize;
            if (0..out.len()).all(|i| strength(i) <= 0.0) {
                for (i, out) in out.iter_mut().enumerate() {
                    *out = self.input[at(i)];
                }
                continue;
            }
            let frames = Frames::new(simd, self.rings, smoothed, out.len(), point);
            let detail = lanes(simd, out.len(), |i| details[at(i)].into());
            let smoothed = lanes(simd, out.len(), |i| smoothed[at(i)]);
            let (t, b, n) = (frames.tangent, frames.bitangent, frames.normal);
            let corrected = |k: usize| {
                let along = simd.mul_add(t[k], detail[0], smoothed[k]);
                let across = simd.mul_add(b[k], detail[1], along);
                simd.to_array(simd.mul_add(n[k], detail[2], across))
            };
            let corrected = [corrected(0), corrected(1), corrected(2)];
            for (i, out) in out.iter_mut().enumerate() {
                let (from, strength) = (self.input[at(i)], strength(i));
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
}

fn seam_mean(seam: &[u32], shape: &[Vec3]) -> Vec3A {
    let sum: Vec3A = seam.iter().map(|&p| Vec3A::from(shape[p as usize])).sum();
    sum / seam.len() as f32
}
