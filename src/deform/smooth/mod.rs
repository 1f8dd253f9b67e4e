//! The corrective smooth (delta mush): smooths the pose and adds the detail of the bind shape again.
//!
//! Source: Mancewicz et al. 2014, "Delta Mush: smoothing deformations while preserving detail". The pose and the bind
//! shape are smoothed alike, by the umbrella Laplacian. The difference between the bind shape and the smoothed one, in
//! the tangent frame of each point, is added to the smoothed pose in its frame. The points of a seam move as one; open
//! edges are smoothed along themselves ([`Rings`]).

mod detail;
mod frames;
mod iterations;
mod tiles;

use self::detail::{Added, AddedToChunk, AddedToPoints, DetailOfChunk};
use self::iterations::{Iterations, seam_mean, step};
use super::chunks::for_chunks;
use super::{CorrectiveSmooth, MaskKind, Masks};
use crate::math::same_bits;
use crate::mesh::{Mesh, Rings};
use crate::skinning::influences::CHUNK;
use crate::skinning::{Backend, dispatch};
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
    /// Plans the iterations. To be called before all else, and when the mesh or the number of iterations changed.
    pub fn set_mesh(&mut self, mesh: &Mesh, settings: &CorrectiveSmooth) {
        self.iterations.set_mesh(mesh.rings(), settings.iterations);
    }

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
        let backend = Backend::detect();
        for_chunks(&mut self.details, |first, out| {
            let detail = DetailOfChunk {
                rings,
                rest,
                smoothed,
                first,
                out,
            };
            dispatch(backend, detail);
        });
    }

    /// What the result is made of.
    fn added<'a>(&'a self, rings: &'a Rings, input: &'a [Vec3]) -> Added<'a> {
        Added {
            rings,
            smoothed: &self.smoothed,
            details: &self.details,
            input,
        }
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
            let added = this.added(rings, input);
            let chunk = AddedToChunk {
                added,
                mask,
                strength,
                first,
                out,
            };
            dispatch(backend, chunk);
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
            let listed = AddedToPoints {
                added: this.added(rings, input),
                masks,
                strength: settings.strength,
                points: &outputs[first..],
                out: values,
            };
            dispatch(backend, listed);
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
