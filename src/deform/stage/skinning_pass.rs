//! Stages 2 to 5 in one pass: each chunk of points is inflated, skinned and corrected while it is in the cache; and displaced
//! by corrective samples (stage 7) where no stage lies between.

use super::bulge_corrections::{BulgeCorrections, ChunkState};
use super::changed::Changed;
use super::left_out::leaves_out;
use super::pose_space::PoseSpace;
use super::pose_space_stage::runs_in_skinning_pass;
use super::run::{Run, Stage};
use super::skinning::Skinning;
use crate::deform::chunks::{FEW_CHUNKS, for_chunks_with};
use crate::math::same_bits;
use crate::skinning::{
    self, BonePose, CHUNK, CookedChunk, CorrectionPose, SkinBones, SkinInput, SkinPalette,
};
use glam::Vec3;
use rayon::prelude::*;
use std::borrow::Cow;
use std::sync::Arc;

/// The skinned and corrected shape of an instance with a skin, world space.
#[derive(Default)]
pub(super) struct SkinningPass {
    skinning: Skinning,
    bulges: BulgeCorrections,
    /// Stage 7, where it runs in this pass.
    samples: Option<Box<PoseSpace>>,
    /// One a chunk.
    bases: Vec<Base>,
    /// One a chunk.
    stale: Vec<Stale>,
    shape: Vec<Vec3>,
}

/// The points of a chunk before stage 7; `None` where no sample displaces any.
type Base = Option<Box<[Vec3; CHUNK]>>;

/// The first stage of the pass that has to run again for a chunk.
#[derive(Clone, Copy, PartialEq)]
enum Stale {
    No,
    Samples,
    Skinning,
}

impl Stage for SkinningPass {
    fn acts(run: &Run<'_>) -> bool {
        run.input.skin.is_some() && !leaves_out(run)
    }

    fn run(&mut self, run: &Run<'_>, before: &[Vec3], changed: Changed) -> Changed {
        let new_bind = changed != Changed::Nothing;
        let changes = run.changes();
        // Of each stage whether it moves points of every chunk otherwise: 1 and 2, 3, 4 and 5, 7.
        let mut all = new_bind || changes.palette;
        all |= self.skinning.update(run.input);
        all |= self.bulges.update(run, new_bind);
        let displaces = runs_in_skinning_pass(run);
        if displaces != self.samples.is_some() {
            self.samples = displaces.then(Box::default);
            self.bases.clear();
            all = true;
        }
        let samples = self.samples.as_deref_mut();
        let displaced = samples.is_some_and(|samples| samples.update(run, before.len()));
        let n_chunks = before.len().div_ceil(CHUNK);
        self.bases.resize_with(n_chunks, || None);

        // And whether it does of some.
        let mut recooked = changes.chunks.iter().peekable();
        self.stale.clear();
        for (c, state) in self.bulges.chunks().iter().enumerate() {
            let recooked = recooked.next_if_eq(&&c).is_some();
            let repainted = self.skinning.take_mask(run.input, c);
            let samples = self.samples.as_deref();
            self.stale
                .push(if all || recooked || repainted || state.is_stale() {
                    Stale::Skinning
                } else if samples.is_some_and(|s| s.is_stale(c) || displaced && s.displaces(c)) {
                    Stale::Samples
                } else {
                    Stale::No
                });
        }
        // Chunks that samples displaced before.
        if displaced {
            for (stale, base) in self.stale.iter_mut().zip(&self.bases) {
                if *stale == Stale::No && base.is_some() {
                    *stale = Stale::Samples;
                }
            }
        }
        if all || displaced {
            self.run_all(run, before);
            Changed::All
        } else {
            Changed::points(self.run_stale(run, before))
        }
    }

    fn base_shape(&self) -> Cow<'_, [Vec3]> {
        if self.bases.iter().all(Option::is_none) {
            return Cow::Borrowed(&self.shape);
        }
        let mut shape = self.shape.clone();
        for (chunk, base) in shape.chunks_mut(CHUNK).zip(&self.bases) {
            if let Some(base) = base {
                chunk.copy_from_slice(&base[..chunk.len()]);
            }
        }
        Cow::Owned(shape)
    }

    fn base_position(&self, point: usize) -> Option<Vec3> {
        let displaced = self.shape.get(point)?;
        let base = self.bases.get(point / CHUNK).and_then(Option::as_ref);
        Some(base.map_or(*displaced, |base| base[point % CHUNK]))
    }

    fn shape(&self) -> &[Vec3] {
        &self.shape
    }
}

impl SkinningPass {
    /// The stale chunks, many of them.
    fn run_all(&mut self, run: &Run<'_>, bind: &[Vec3]) {
        self.shape.resize(bind.len(), Vec3::ZERO);
        let stale = std::mem::take(&mut self.stale);
        if let Some((pass, chunks)) = self.parts(run, bind) {
            if pass.chunks.len() * CHUNK < chunks.shape.len() {
                // The document's invariants rule points without rows out.
                chunks.shape.copy_from_slice(bind);
            }
            let states = (chunks.states, chunks.bases);
            for_chunks_with(chunks.shape, states, |c, out, (state, base)| {
                pass.run(c, stale[c], out, state, base);
            });
        }
        self.stale = stale;
    }

    /// The stale chunks; the points that moved, ascending.
    fn run_stale(&mut self, run: &Run<'_>, bind: &[Vec3]) -> Vec<u32> {
        let stale = std::mem::take(&mut self.stale);
        let n_stale = stale.iter().filter(|s| **s != Stale::No).count();
        let mut moved = Vec::new();
        if n_stale > 0
            && let Some((pass, chunks)) = self.parts(run, bind)
        {
            type Chunk<'a> = (usize, (&'a mut [Vec3], (&'a mut ChunkState, &'a mut Base)));
            let is_stale = |(c, _): &Chunk<'_>| stale.get(*c).is_some_and(|s| *s != Stale::No);
            let work =
                |(c, (out, (state, base))): Chunk<'_>| pass.rerun(c, stale[c], out, state, base);
            if n_stale > FEW_CHUNKS {
                let states = chunks.states.par_iter_mut().zip(chunks.bases);
                let chunks = chunks.shape.par_chunks_mut(CHUNK).zip(states).enumerate();
                let parts: Vec<Vec<u32>> = chunks.filter(is_stale).map(work).collect();
                moved = parts.concat();
            } else {
                let states = chunks.states.iter_mut().zip(chunks.bases);
                let chunks = chunks.shape.chunks_mut(CHUNK).zip(states).enumerate();
                moved.extend(chunks.filter(is_stale).flat_map(work));
            }
        }
        self.stale = stale;
        moved
    }

    /// What moves chunks, and the chunks; `None` without a skin.
    fn parts<'a>(
        &'a mut self,
        run: &'a Run<'a>,
        bind: &'a [Vec3],
    ) -> Option<(ChunkPass<'a>, Chunks<'a>)> {
        let (bones, bone_pose) = run.skin.bones()?;
        let (states, corrections) = self.bulges.parts(run.input.stack, bone_pose);
        let pass = ChunkPass {
            run,
            bind,
            chunks: run.chunks(),
            palette: run.skin.palette(),
            bones,
            bone_pose,
            skinning: &self.skinning,
            corrections,
            samples: self.samples.as_deref(),
            is_rigid: run.input.stack.method.is_rigid(),
        };
        let chunks = Chunks {
            shape: &mut self.shape,
            states,
            bases: &mut self.bases,
        };
        Some((pass, chunks))
    }
}

/// What a pass writes: the points, and one of each of the others a chunk.
struct Chunks<'a> {
    shape: &'a mut [Vec3],
    states: &'a mut [ChunkState],
    bases: &'a mut [Base],
}

/// The stages of the pass for the chunks of a shape in one pose.
struct ChunkPass<'a> {
    run: &'a Run<'a>,
    bind: &'a [Vec3],
    chunks: &'a [Arc<CookedChunk>],
    palette: &'a SkinPalette,
    bones: &'a SkinBones,
    bone_pose: &'a BonePose,
    skinning: &'a Skinning,
    corrections: CorrectionPose<'a>,
    samples: Option<&'a PoseSpace>,
    /// Stage 3 moves points by rigid motions, and so needs stage 2.
    is_rigid: bool,
}

impl ChunkPass<'_> {
    /// As [`ChunkPass::run`]; returns the points that moved, ascending.
    fn rerun(
        &self,
        index: usize,
        stale: Stale,
        out: &mut [Vec3],
        state: &mut ChunkState,
        base: &mut Base,
    ) -> Vec<u32> {
        let mut before = [Vec3::ZERO; CHUNK];
        let before = &mut before[..out.len()];
        before.copy_from_slice(out);
        self.run(index, stale, out, state, base);
        let points = before.iter().zip(out).enumerate();
        points
            .filter(|(_, (a, b))| !same_bits(**a, **b))
            .map(|(i, _)| (index * CHUNK + i) as u32)
            .collect()
    }

    /// Moves the points of a chunk by the stages that are stale, and keeps their positions before stage 7 in `base`. Allocates
    /// nothing but that; a point depends on no other.
    fn run(
        &self,
        index: usize,
        stale: Stale,
        out: &mut [Vec3],
        state: &mut ChunkState,
        base: &mut Base,
    ) {
        match (stale, &base) {
            (Stale::No, _) => return,
            (Stale::Samples, Some(base)) => out.copy_from_slice(&base[..out.len()]),
            (Stale::Samples, None) => {}
            (Stale::Skinning, _) => self.skin(index, out, state),
        }
        let Some(samples) = self.samples.filter(|s| s.displaces(index)) else {
            *base = None;
            return;
        };
        let base = base.get_or_insert_with(|| Box::new([Vec3::ZERO; CHUNK]));
        base[..out.len()].copy_from_slice(out);
        samples.displace(self.run, index, out);
    }

    /// Stages 2 to 5: moves the bind points of a chunk to the pose. Allocates nothing.
    fn skin(&self, index: usize, out: &mut [Vec3], state: &mut ChunkState) {
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
