//! Stage 7 as a stage of its own, where another one lies between stage 5 and the samples.

use super::changed::Changed;
use super::left_out::leaves_out;
use super::pose_space::PoseSpace;
use super::run::{Run, Stage};
use crate::deform::chunks::{FEW_CHUNKS, for_uneven_chunks};
use crate::math::same_bits;
use crate::skinning::CHUNK;
use glam::Vec3;
use rayon::prelude::*;

/// The corrected shape of an instance with a skin, world space.
#[derive(Default)]
pub(super) struct PoseSpaceStage {
    samples: PoseSpace,
    /// One a chunk: whether it has to be displaced again.
    stale: Vec<bool>,
    shape: Vec<Vec3>,
}

/// Whether stage 7 follows stage 5 at once, and so runs in its pass ([`super::skinning_pass`]). It moves no points beside
/// those of the mesh.
pub(super) fn runs_in_skinning_pass(run: &Run<'_>) -> bool {
    let smooths = run.input.stack.smooth.acts();
    PoseSpace::acts(run) && run.probe.is_none() && !smooths && !leaves_out(run)
}

impl Stage for PoseSpaceStage {
    fn acts(run: &Run<'_>) -> bool {
        PoseSpace::acts(run) && !runs_in_skinning_pass(run)
    }

    fn run(&mut self, run: &Run<'_>, before: &[Vec3], changed: Changed) -> Changed {
        let all = self.samples.update(run, before.len());
        let changes = run.skin.changes();
        if all || changes.palette || changed == Changed::All {
            self.run_all(run, before);
            return Changed::All;
        }
        let n_chunks = before.len().div_ceil(CHUNK);
        self.stale.clear();
        self.stale
            .extend((0..n_chunks).map(|c| self.samples.is_stale(c)));
        let recooked = changes.chunks.iter().copied();
        let moved = match &changed {
            Changed::Points(points) => &points[..],
            _ => &[],
        };
        let moved = moved.iter().map(|&point| point as usize / CHUNK);
        for c in recooked.chain(moved) {
            if let Some(stale) = self.stale.get_mut(c) {
                *stale = true;
            }
        }
        Changed::points(self.run_stale(run, before))
    }

    fn shape(&self) -> &[Vec3] {
        &self.shape
    }
}

impl PoseSpaceStage {
    fn run_all(&mut self, run: &Run<'_>, before: &[Vec3]) {
        self.shape.resize(before.len(), Vec3::ZERO);
        let samples = &self.samples;
        for_uneven_chunks(&mut self.shape, |first, out| {
            out.copy_from_slice(&before[first..first + out.len()]);
            samples.displace(run, first / CHUNK, out);
        });
    }

    /// The stale chunks; the points that moved, ascending.
    fn run_stale(&mut self, run: &Run<'_>, before: &[Vec3]) -> Vec<u32> {
        let (stale, samples) = (&self.stale, &self.samples);
        let work = |(c, out): (usize, &mut [Vec3])| {
            let mut old = [Vec3::ZERO; CHUNK];
            let old = &mut old[..out.len()];
            old.copy_from_slice(out);
            out.copy_from_slice(&before[c * CHUNK..c * CHUNK + out.len()]);
            samples.displace(run, c, out);
            let points = old.iter().zip(&*out).enumerate();
            let moved = points.filter(|(_, (a, b))| !same_bits(**a, **b));
            moved
                .map(|(i, _)| (c * CHUNK + i) as u32)
                .collect::<Vec<u32>>()
        };
        let is_stale = |(c, _): &(usize, &mut [Vec3])| stale[*c];
        if stale.iter().filter(|stale| **stale).count() > FEW_CHUNKS {
            let chunks = self.shape.par_chunks_mut(CHUNK).enumerate();
            let parts: Vec<Vec<u32>> = chunks.filter(is_stale).map(work).collect();
            parts.concat()
        } else {
            let chunks = self.shape.chunks_mut(CHUNK).enumerate();
            chunks.filter(is_stale).flat_map(work).collect()
        }
    }
}
