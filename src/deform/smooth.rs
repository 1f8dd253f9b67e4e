//! Stage 6, corrective smooth: a smoothed pose with the bind shape's detail put back (delta mush).
//!
//! Source: Mancewicz et al. 2014, "Delta Mush: smoothing deformations while preserving detail". The pose and the bind
//! shape are smoothed alike, by the umbrella Laplacian; what the bind shape lost thereby, in the tangent frame of each
//! point, is added to the smoothed pose in the same frame. Seams move as one place, open edges are smoothed along
//! themselves ([`Rings`]).

use super::chunks::for_chunks;
use super::{CorrectiveSmooth, MaskKind, Masks};
use crate::mesh::{Mesh, Rings};
use crate::skinning::influences::CHUNK;
use glam::{Vec3, Vec3A};

/// With more than this share of the points to do again, all are done: the rings need not be followed.
const MOST: f32 = 0.4;

/// How a surface is turned at a point: tangent, bitangent, normal; a rotation.
type Frame = [Vec3A; 3];

/// The detail of a bind shape and the buffers of the passes; nothing is allocated from the second run on.
#[derive(Default)]
pub struct Smoother {
    /// n_points: what smoothing took from the bind shape, in its frame there; not finite where there is no frame.
    details: Vec<Vec3>,
    /// n_points: the smoothed pose of the latest run.
    smoothed: Vec<Vec3A>,
    /// n_points: the passes' other side.
    other: Vec<Vec3A>,
    around: Around,
}

/// The points around those that changed.
#[derive(Default)]
struct Around {
    /// n_points: the run in which a point was last reached.
    reached: Vec<u32>,
    run: u32,
    /// Ring after ring.
    points: Vec<u32>,
    /// End of each ring in `points`.
    ends: Vec<usize>,
    /// New values of a prefix of `points`.
    values: Vec<Vec3A>,
    /// What is to be written, ascending.
    outputs: Vec<u32>,
}

impl Smoother {
    /// Takes the detail of a bind shape.
    ///
    /// `rest`: n_points, morphed and inflated: what the stack would give if no joint turned. To be called when it, the
    /// mesh, the factor or the number of iterations changed.
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

    /// Whether [`Smoother::set_rest`] was called for a shape of this many points.
    pub fn is_ready(&self, n_points: usize) -> bool {
        self.details.len() == n_points
    }

    /// Smooths every point. A point whose strength times its painted value is 0 is copied.
    ///
    /// `input`, `out`: n_points, world; `input` is the result of the stages before.
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

    /// Does again what depends on some points; every bit is that of [`Smoother::run`] with the same input.
    ///
    /// `changed`: points whose `input` changed since the latest run; `repainted`: points whose painted value did.
    /// Returns the points of `out` that moved, ascending; `None` where so many may have that all were done.
    #[allow(clippy::too_many_arguments)] // what changed and where it goes: a struct would name each of them once more
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
        let most = (MOST * input.len() as f32) as usize;
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
        // The frame of a point reads its neighbours.
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
            before.to_array().map(f32::to_bits) != out.to_array().map(f32::to_bits)
        });
        self.around.values = values;
        Some(&self.around.outputs)
    }

    /// The smoothed `shape`, all of it, into `smoothed`.
    fn smooth(&mut self, rings: &Rings, settings: &CorrectiveSmooth, shape: &[Vec3]) {
        let n_points = shape.len();
        let (mut from, mut to) = (&mut self.other, &mut self.smoothed);
        // The last pass must end in `smoothed`.
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

    /// The smoothed `shape` around what changed, into `smoothed`.
    ///
    /// Each pass reads one ring more than it writes, so the passes begin `iterations` rings further out than the last
    /// one ends, with as little as they need.
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

    /// A point with the bind shape's detail on the smoothed pose, as far as `strength` says; where the surface has
    /// collapsed there is no frame to put detail in, and the point stays `from`.
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
        // The sides of a seam then agree in every bit.
        if strength >= 1.0 {
            return corrected;
        }
        from + (corrected - from) * strength
    }
}

impl Around {
    /// Collects `changed` and `n_rings` rings around them, seams as one place; gives up beyond `most` points.
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

/// A point after one pass of the umbrella Laplacian.
#[inline]
fn step(rings: &Rings, shape: &[Vec3A], factor: f32, point: u32) -> Vec3A {
    let here = shape[point as usize];
    let neighbours = rings.averaged(point);
    if neighbours.is_empty() {
        return here;
    }
    let mut sum = Vec3A::ZERO;
    for &q in neighbours {
        sum += shape[q as usize];
    }
    here + (sum / neighbours.len() as f32 - here) * factor
}

/// The frame of `shape` at a point, `None` where the edges around it lie on a line.
///
/// The two weighted sums of edges are images of the bind frame's axes under the map of the tangent plane that the
/// edges tell of: their cross product is the normal, and the tangent is turned by the rotation next to that map (its
/// polar decomposition in the plane), so no single edge decides it.
#[inline]
fn frame(rings: &Rings, shape: &[Vec3A], point: u32) -> Option<Frame> {
    let here = shape[point as usize];
    let (mut x, mut y) = (Vec3A::ZERO, Vec3A::ZERO);
    for (q, cos, sin) in rings.directions(point) {
        let edge = shape[q as usize] - here;
        x += edge * cos;
        y += edge * sin;
    }
    let (x, y) = (x / Rings::UNIT, y / Rings::UNIT);
    let normal = x.cross(y);
    let area = normal.length();
    if area <= 1e-6 * (x.length_squared() + y.length_squared()) || area < f32::MIN_POSITIVE {
        return None;
    }
    let normal = normal / area;
    let tangent = (x - normal.cross(y)).try_normalize()?;
    Some([tangent, normal.cross(tangent), normal])
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
