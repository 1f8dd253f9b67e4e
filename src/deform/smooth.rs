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

/// Above this share of points to recompute, all are: collecting their rings then costs more than it saves.
const MAX_SHARE: f32 = 0.4;

/// The tangent frame of a surface at a point: tangent, bitangent, normal; orthonormal.
type Frame = [Vec3A; 3];

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
            for (i, (out, &p)) in out.iter_mut().zip(&rest[first..]).enumerate() {
                let point = (first + i) as u32;
                *out = match frame(rings, smoothed, point) {
                    Some(frame) => {
                        let lost = Vec3A::from(p) - smoothed[first + i];
                        Vec3::from_array(frame.map(|axis| axis.dot(lost)))
                    }
                    None => Vec3::NAN,
                };
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
            for (i, (out, &from)) in out.iter_mut().zip(&input[first..]).enumerate() {
                let painted = mask.map_or(MaskKind::UNPAINTED, |m| m[i]);
                let strength = settings.strength * painted;
                *out = this.mixed(rings, (first + i) as u32, strength, from);
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
            values,
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
        let mut values = std::mem::take(values);
        let this = &*self;
        fill(&mut values, &this.around.outputs, |point| {
            let strength = settings.strength * masks.value(MaskKind::Smooth, point);
            let mixed = this.mixed(rings, point, strength, input[point as usize]);
            Vec3A::from(mixed)
        });
        let mut next = values.iter();
        self.around.outputs.retain(|&point| {
            let Some(&value) = next.next() else {
                return false;
            };
            let out = &mut out[point as usize];
            let before = std::mem::replace(out, value.into());
            !same_bits(before, *out)
        });
        self.around.values = values;
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
        for _ in 0..settings.iterations {
            let shape = from.as_slice();
            for_chunks(to, |first, out| {
                for (i, out) in out.iter_mut().enumerate() {
                    *out = step(rings, shape, settings.factor, (first + i) as u32);
                }
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
                    |point| step(rings, shape, settings.factor, point),
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

    /// A point of the smoothed pose with the detail of the bind shape, interpolated from `from` by `strength`. Where
    /// the surface has collapsed there is no tangent frame, and the point stays `from`.
    #[inline]
    fn mixed(&self, rings: &Rings, point: u32, strength: f32, from: Vec3) -> Vec3 {
        if strength <= 0.0 {
            return from;
        }
        let detail = self.details[point as usize];
        let Some([t, b, n]) = frame(rings, &self.smoothed, point).filter(|_| detail.is_finite())
        else {
            return from;
        };
        let corrected = self.smoothed[point as usize] + t * detail.x + b * detail.y + n * detail.z;
        let corrected = Vec3::from(corrected);
        // So both sides of a seam have the same bits.
        if strength >= 1.0 {
            return corrected;
        }
        from + (corrected - from) * strength
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

/// A point after one iteration of the umbrella Laplacian.
#[inline]
fn step(rings: &Rings, shape: &[Vec3A], factor: f32, point: u32) -> Vec3A {
    let here = shape[point as usize];
    let neighbours = rings.averaged(point);
    if neighbours.is_empty() {
        return here;
    }
    let at = |q: u32| shape[q as usize];
    let sum = match *neighbours {
        // Most points have six; three independent sums are quicker than a chain.
        [a, b, c, d, e, f] => (at(a) + at(b)) + (at(c) + at(d)) + (at(e) + at(f)),
        _ => neighbours.iter().map(|&q| at(q)).sum(),
    };
    here + (sum / neighbours.len() as f32 - here) * factor
}

/// The tangent frame of `shape` at a point; `None` where the edges around it are collinear.
///
/// The two weighted sums of edges are the images of the axes of the bind frame under the linear map that the edges
/// give. Their cross product is the normal; the tangent follows from the rotation of the polar decomposition of that
/// map in the plane, so that no single edge decides it.
#[inline]
fn frame(rings: &Rings, shape: &[Vec3A], point: u32) -> Option<Frame> {
    let here = shape[point as usize];
    let (mut x, mut y) = (Vec3A::ZERO, Vec3A::ZERO);
    for (q, cos, sin) in rings.directions(point) {
        let edge = shape[q as usize] - here;
        x += edge * cos;
        y += edge * sin;
    }
    // The frame does not depend on the lengths of x and y, so the unit of directions needs no division.
    let normal = x.cross(y);
    let area = normal.length();
    if area <= 1e-6 * (x.length_squared() + y.length_squared()) || area < f32::MIN_POSITIVE {
        return None;
    }
    let normal = normal * (1.0 / area);
    let tangent = x - normal.cross(y);
    let length = tangent.length();
    // NaN counts as no frame.
    (length >= f32::MIN_POSITIVE && length.is_finite()).then(|| {
        let tangent = tangent * (1.0 / length);
        [tangent, normal.cross(tangent), normal]
    })
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
