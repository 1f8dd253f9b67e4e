//! Stages 2 to 5 in one pass: each chunk of points is inflated, skinned and corrected while it is in the cache.

use super::bulge_corrections::{BulgeCorrections, ChunkState};
use super::changed::Changed;
use super::left_out::leaves_out;
use super::run::{Run, Stage};
use super::skinning::Skinning;
use crate::deform::chunks::{FEW_CHUNKS, for_chunks_with};
use crate::math::same_bits;
use crate::skinning::{
    self, BonePose, CHUNK, CookedChunk, CorrectionPose, SkinBones, SkinInput, SkinPalette,
};
use glam::Vec3;
use rayon::prelude::*;
use std::sync::Arc;

/// The skinned and corrected shape of an instance with a skin, world space.
#[derive(Default)]
pub(super) struct SkinningPass {
    skinning: Skinning,
    bulges: BulgeCorrections,
    /// One a chunk: whether it has to be skinned again.
    stale: Vec<bool>,
    shape: Vec<Vec3>,
}

impl Stage for SkinningPass {
    fn acts(run: &Run<'_>) -> bool {
        run.input.skin.is_some() && !leaves_out(run)
    }

    fn run(&mut self, run: &Run<'_>, before: &[Vec3], changed: Changed) -> Changed {
        let new_bind = changed != Changed::Nothing;
        let changes = run.changes();
        // Of each stage whether it moves points of every chunk otherwise: 1 and 2, 3, 4 and 5.
        let mut all = new_bind || changes.palette;
        all |= self.skinning.update(run.input);
        all |= self.bulges.update(run, new_bind);

        // And whether it does of some.
        let mut recooked = changes.chunks.iter().peekable();
        self.stale.clear();
        for (c, state) in self.bulges.chunks().iter().enumerate() {
            let recooked = recooked.next_if_eq(&&c).is_some();
            let repainted = self.skinning.take_mask(run.input, c);
            self.stale.push(recooked || repainted || state.is_stale());
        }
        if all {
            self.run_all(run, before);
            Changed::All
        } else {
            Changed::points(self.run_stale(run, before))
        }
    }

    fn shape(&self) -> &[Vec3] {
        &self.shape
    }
}

impl SkinningPass {
    /// Every chunk.
    fn run_all(&mut self, run: &Run<'_>, bind: &[Vec3]) {
        self.shape.resize(bind.len(), Vec3::ZERO);
        let Some((pass, shape, states)) = self.parts(run, bind) else {
            return;
        };
        if pass.chunks.len() * CHUNK < shape.len() {
            // The document's invariants rule points without rows out.
            shape.copy_from_slice(bind);
        }
        for_chunks_with(shape, states, |c, out, state| pass.run(c, out, state));
    }

    /// The stale chunks; the points that moved, ascending.
    fn run_stale(&mut self, run: &Run<'_>, bind: &[Vec3]) -> Vec<u32> {
        let stale = std::mem::take(&mut self.stale);
        let n_stale = stale.iter().filter(|s| **s).count();
        let mut moved = Vec::new();
        if n_stale > 0
            && let Some((pass, shape, states)) = self.parts(run, bind)
        {
            type Chunk<'a> = (usize, (&'a mut [Vec3], &'a mut ChunkState));
            let is_stale = |(c, _): &Chunk<'_>| stale.get(*c) == Some(&true);
            let work = |(c, (out, state)): Chunk<'_>| pass.rerun(c, out, state);
            if n_stale > FEW_CHUNKS {
                let chunks = shape.par_chunks_mut(CHUNK).zip(states).enumerate();
                let parts: Vec<Vec<u32>> = chunks.filter(is_stale).map(work).collect();
                moved = parts.concat();
            } else {
                let chunks = shape.chunks_mut(CHUNK).zip(states).enumerate();
                moved.extend(chunks.filter(is_stale).flat_map(work));
            }
        }
        self.stale = stale;
        moved
    }

    /// What moves chunks, and the chunks; `None` without a skin.
    fn parts<'a>(
        &'a mut self,
        run: &Run<'a>,
        bind: &'a [Vec3],
    ) -> Option<(ChunkPass<'a>, &'a mut [Vec3], &'a mut [ChunkState])> {
        let (bones, bone_pose) = run.skin.bones()?;
        let (states, corrections) = self.bulges.parts(run.input.stack, bone_pose);
        let pass = ChunkPass {
            bind,
            chunks: run.chunks(),
            palette: run.skin.palette(),
            bones,
            bone_pose,
            skinning: &self.skinning,
            corrections,
            is_rigid: run.input.stack.method.is_rigid(),
        };
        Some((pass, &mut self.shape, states))
    }
}

/// Stages 2 to 5 of the chunks of a shape in one pose.
struct ChunkPass<'a> {
    bind: &'a [Vec3],
    chunks: &'a [Arc<CookedChunk>],
    palette: &'a SkinPalette,
    bones: &'a SkinBones,
    bone_pose: &'a BonePose,
    skinning: &'a Skinning,
    corrections: CorrectionPose<'a>,
    /// Stage 3 moves points by rigid motions, and so needs stage 2.
    is_rigid: bool,
}

impl ChunkPass<'_> {
    /// As [`ChunkPass::run`]; returns the points that moved, ascending.
    fn rerun(&self, index: usize, out: &mut [Vec3], state: &mut ChunkState) -> Vec<u32> {
        let mut before = [Vec3::ZERO; CHUNK];
        let before = &mut before[..out.len()];
        before.copy_from_slice(out);
        self.run(index, out, state);
        let points = before.iter().zip(out).enumerate();
        points
            .filter(|(_, (a, b))| !same_bits(**a, **b))
            .map(|(i, _)| (index * CHUNK + i) as u32)
            .collect()
    }

    /// Moves the bind points of chunk `index` to the pose. Allocates nothing; a point depends on no other.
    fn run(&self, index: usize, out: &mut [Vec3], state: &mut ChunkState) {
        state.set_used();
        let bind = &self.bind[index * CHUNK..index * CHUNK + out.len()];
        let chunk = self.chunks.get(index);
        let Some(Ok(input)) = chunk.map(|chunk| SkinInput::new(bind, chunk, self.palette)) else {
            // The document's invariants rule this out; the bind shape is the picture that loses least.
            out.copy_from_slice(bind);
            return;
        };
        let corrects = !state.is_empty();
        let inflates = input.needs_inflation();
        let mut inflated = [Vec3::ZERO; CHUNK];
        let inflated = &mut inflated[..out.len()];
        // Distances in a shape that inflates are those of this pose only.
        if inflates && (corrects || self.is_rigid) || corrects && !state.is_measured() {
            skinning::inflate(&input, inflated);
            if corrects {
                state.measure(inflated, self.bones, self.bone_pose, !inflates);
            }
        }
        let phase_2 = if inflates {
            input.with_inflated(inflated).unwrap_or(input)
        } else {
            input
        };
        self.skinning.run(index, &input, &phase_2, out);
        if corrects {
            state.correct(&self.corrections, out);
        }
    }
}
