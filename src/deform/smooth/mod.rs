//! The corrective smooth (delta mush): smooths the pose and adds the detail of the bind shape again.
//!
//! Source: Mancewicz et al. 2014, "Delta Mush: smoothing deformations while preserving detail". The pose and the bind
//! shape are smoothed alike, by the umbrella Laplacian. The difference between the bind shape and the smoothed one, in
//! the tangent frame of each point, is added to the smoothed pose in its frame. The points of a seam move as one; open
//! edges are smoothed along themselves ([`Rings`]).

use super::chunks::for_chunks;
use super::{CorrectiveSmooth, MaskKind, Masks};
use crate::math::same_bits;
use crate::mesh::{Mesh, Rings};
use crate::skinning::influences::CHUNK;
use glam::{Vec3, Vec3A};
use wide::f32x8;

/// Above this share of points to recompute, all are: collecting their rings then costs more than it saves.
const MAX_SHARE: f32 = 0.4;

/// Points whose tangent frames are computed at once.
const LANES: usize = 8;

/// Eight vectors.
type Lanes = [f32x8; 3];

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
        self.smooth(rings, settings, input);
        let this = &*self;
        for_chunks(out, |first, out| {
            let mask = masks.chunk(MaskKind::Smooth, first / CHUNK);
            for (block, out) in out.chunks_mut(LANES).enumerate() {
                let start = block * LANES;
                let points = block_of(first + start);
                let painted = |i: usize| mask.map_or(MaskKind::UNPAINTED, |m| m[start + i]);
                let strength = |i: usize| settings.strength * painted(i);
                this.mix(rings, &points[..out.len()], strength, input, out);
            }
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
        let mut n_left = settings.iterations;
        if n_left > 0 && rings.seams().next().is_none() {
            // Without seams the first iteration reads the shape itself: memory is what an iteration waits for.
            iterate(rings, |q| shape[q as usize].into(), settings.factor, to);
            std::mem::swap(&mut from, &mut to);
            n_left -= 1;
        } else {
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
        }
        for _ in 0..n_left {
            let shape = from.as_slice();
            iterate(rings, |q| shape[q as usize], settings.factor, to);
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
    #[inline]
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

/// One iteration of the umbrella Laplacian over all points; `at`: a point before it.
fn iterate(rings: &Rings, at: impl Fn(u32) -> Vec3A + Sync, factor: f32, to: &mut [Vec3A]) {
    for_chunks(to, |first, out| {
        for (i, out) in out.iter_mut().enumerate() {
            *out = step(rings, &at, factor, (first + i) as u32);
        }
    });
}

/// A point after one iteration of the umbrella Laplacian; `at`: a point before it.
#[inline]
fn step(rings: &Rings, at: impl Fn(u32) -> Vec3A, factor: f32, point: u32) -> Vec3A {
    let here = at(point);
    let neighbours = rings.averaged(point);
    if neighbours.is_empty() {
        return here;
    }
    let sum = match *neighbours {
        // Most points have six; three independent sums are quicker than a chain.
        [a, b, c, d, e, f] => (at(a) + at(b)) + (at(c) + at(d)) + (at(e) + at(f)),
        _ => neighbours.iter().map(|&q| at(q)).sum(),
    };
    here + (sum / neighbours.len() as f32 - here) * factor
}

/// The tangent frames of a surface at eight points, orthonormal.
struct Frames {
    tangent: Lanes,
    bitangent: Lanes,
    normal: Lanes,
    /// Whether there is one: not where the edges around the point are collinear.
    exists: [bool; LANES],
}

impl Frames {
    /// The frames of `shape` at `points`, at most eight.
    ///
    /// The two weighted sums of edges are the images of the axes of the bind frame under the linear map that the edges
    /// give. Their cross product is the normal; the tangent follows from the rotation of the polar decomposition of that
    /// map in the plane, so that no single edge decides it. The frame does not depend on the length of the sums, so the
    /// unit of directions needs no division.
    #[inline]
    fn new(rings: &Rings, shape: &[Vec3A], points: &[u32]) -> Self {
        let mut sums = [[Vec3A::ZERO; LANES]; 2];
        for (i, &point) in points.iter().enumerate() {
            let here = shape[point as usize];
            let (mut x, mut y) = (Vec3A::ZERO, Vec3A::ZERO);
            for (q, cos, sin) in rings.directions(point) {
                let edge = shape[q as usize] - here;
                x += edge * cos;
                y += edge * sin;
            }
            (sums[0][i], sums[1][i]) = (x, y);
        }
        let [x, y] = sums.map(|sum| lanes(LANES, |i| sum[i]));
        let normal = cross(x, y);
        let area = dot(normal, normal).sqrt();
        let normal = scaled(normal, f32x8::ONE / area);
        let turned = cross(normal, y);
        let tangent: Lanes = std::array::from_fn(|k| x[k] - turned[k]);
        let length = dot(tangent, tangent).sqrt();
        let tangent = scaled(tangent, f32x8::ONE / length);
        let stretch = (dot(x, x) + dot(y, y)).to_array();
        let (area, length) = (area.to_array(), length.to_array());
        Self {
            tangent,
            bitangent: cross(normal, tangent),
            normal,
            // NaN counts as no frame.
            exists: std::array::from_fn(|i| {
                area[i] > 1e-6 * stretch[i]
                    && area[i] >= f32::MIN_POSITIVE
                    && area[i].is_finite()
                    && length[i] >= f32::MIN_POSITIVE
                    && length[i].is_finite()
            }),
        }
    }
}

/// Eight points from `start`.
fn block_of(start: usize) -> [u32; LANES] {
    std::array::from_fn(|i| (start + i) as u32)
}

/// `n` vectors side by side; the others are 0.
#[inline]
fn lanes(n: usize, vector: impl Fn(usize) -> Vec3A) -> Lanes {
    let mut all = [Vec3A::ZERO; LANES];
    for (i, own) in all.iter_mut().take(n).enumerate() {
        *own = vector(i);
    }
    let axis = |k: usize| f32x8::from(all.map(|v| v[k]));
    [axis(0), axis(1), axis(2)]
}

#[inline]
fn dot(a: Lanes, b: Lanes) -> f32x8 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline]
fn cross(a: Lanes, b: Lanes) -> Lanes {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

#[inline]
fn scaled(a: Lanes, by: f32x8) -> Lanes {
    a.map(|a| a * by)
}

fn seam_mean(seam: &[u32], shape: &[Vec3]) -> Vec3A {
    let sum: Vec3A = seam.iter().map(|&p| Vec3A::from(shape[p as usize])).sum();
    sum / seam.len() as f32
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
