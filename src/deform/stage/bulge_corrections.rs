//! Stages 4 and 5 together: the bones and pairs of joints that correct each chunk of points, cooked, and one kernel for
//! both ([`crate::skinning::correct`]), because both read the same bones and a point is then loaded and stored once.

use super::compensation::{self, PosedPairs};
use super::key::{Identity, LastKey};
use super::projection;
use super::run::Run;
use crate::deform::chunks::FEW_CHUNKS;
use crate::deform::mask::MaskChunk;
use crate::deform::{BulgeProjection, Compensation, DeformStack};
use crate::skinning::{
    self, Backend, BonePose, CHUNK, ChunkCorrections, CookedChunk, CorrectionPose,
    CorrectionSettings, SkinBones,
};
use glam::Vec3;
use rayon::prelude::*;
use std::sync::Arc;

/// The cooked corrections of one instance.
#[derive(Default)]
pub(super) struct BulgeCorrections {
    posed_by: LastKey<PoseKey>,
    cooked_by: LastKey<CookKey>,
    pairs: PosedPairs,
    chunks: Vec<ChunkState>,
}

/// What the corrections of a pose depend on, besides chunks, bones and palette.
#[derive(Default, PartialEq)]
struct PoseKey {
    compensation: Option<Compensation>,
    projection: Option<BulgeProjection>,
}

/// What cooked chunks depend on, besides their own influences and painted maps.
#[derive(Default, PartialEq)]
struct CookKey {
    compensation: Option<compensation::CookedSettings>,
    projection: Option<projection::CookedSettings>,
    bones: Identity<SkinBones>,
}

/// The corrections of one chunk of points.
#[derive(Default)]
pub(super) struct ChunkState {
    source: Identity<CookedChunk>,
    /// The painted maps of compensation and projection, where those act.
    masks: [Identity<[f32; CHUNK]>; 2],
    cooked: ChunkCorrections,
    /// Rest distances are those of a bind shape without inflation, which every pose has.
    measured: bool,
    /// Cooked again since it last moved points.
    stale: bool,
}

impl ChunkState {
    /// Whether it was cooked again since it last moved points.
    pub(super) fn is_stale(&self) -> bool {
        self.stale
    }

    /// From now on it has moved points.
    pub(super) fn set_used(&mut self) {
        self.stale = false;
    }

    /// Whether it never moves a point.
    pub(super) fn is_empty(&self) -> bool {
        self.cooked.is_empty()
    }

    /// Whether its rest distances are known for a pose in which the chunk does not inflate.
    pub(super) fn is_measured(&self) -> bool {
        self.measured
    }

    /// Takes rest distances in an inflated bind shape; `for_all_poses`: no joint of the chunk inflated it.
    pub(super) fn measure(
        &mut self,
        inflated: &[Vec3],
        bones: &SkinBones,
        pose: &BonePose,
        for_all_poses: bool,
    ) {
        self.cooked
            .measure(inflated, bones, pose, Backend::detect());
        self.measured = for_all_poses;
    }

    /// Corrects skinned points in place.
    pub(super) fn correct(&self, pose: &CorrectionPose<'_>, points: &mut [Vec3]) {
        skinning::correct(&self.cooked, pose, Backend::detect(), points);
    }
}

impl BulgeCorrections {
    /// Brings the chunks up to date with stack, bones, influences and painted maps, and the pairs with the pose.
    /// `new_bind`: the bind shape changed. Returns whether points of every chunk may be corrected otherwise than
    /// before; else only those of stale chunks are.
    pub(super) fn update(&mut self, run: &Run<'_>, new_bind: bool) -> bool {
        let stack = run.input.stack;
        let n_chunks = run.chunks().len();
        let mut everywhere = self.posed_by.replace(|_| PoseKey {
            compensation: compensation::settings(stack).cloned(),
            projection: projection::settings(stack).cloned(),
        });
        let bones = run.skin.bones().filter(|_| stack.corrects_bulges());
        let Some((bones, _)) = bones else {
            if everywhere {
                self.cooked_by = LastKey::default();
                self.pairs = PosedPairs::default();
                self.chunks.clear();
            }
            self.chunks.resize_with(n_chunks, ChunkState::default);
            return everywhere;
        };
        let recook = self.cooked_by.replace(|_| CookKey {
            compensation: compensation::cooked_settings(stack),
            projection: projection::cooked_settings(stack),
            bones: Identity::of(Some(bones)),
        });
        if recook {
            everywhere = true;
            self.pairs = PosedPairs::default();
            self.chunks.clear();
        }
        self.chunks.resize_with(n_chunks, ChunkState::default);
        if new_bind || run.changes().inflated_bones {
            everywhere = true;
            for state in &mut self.chunks {
                state.measured = false;
            }
        }
        let n_cooked = self.cook(run, bones);
        if n_cooked > 0 {
            for state in self.chunks.iter_mut().filter(|s| s.stale) {
                self.pairs.find(&mut state.cooked);
            }
        }
        // Automatic strengths are measured on the mesh, for other points too.
        let new_chunks = n_cooked > 0 || !run.skin.changes().chunks.is_empty();
        everywhere |= self.pairs.update(run, bones, new_chunks);
        everywhere
    }

    /// Cooks the chunks whose influences or painted maps are not the ones cooked before; returns how many.
    fn cook(&mut self, run: &Run<'_>, bones: &SkinBones) -> usize {
        let (stack, masks, cooked) = (run.input.stack, run.input.masks, run.chunks());
        let (compensation, projection) =
            (compensation::settings(stack), projection::settings(stack));
        let masks_of = |c| -> [Option<&MaskChunk>; 2] {
            [
                compensation.and_then(|_| masks.chunk(compensation::MASK, c)),
                projection.and_then(|_| masks.chunk(projection::MASK, c)),
            ]
        };
        let is_known = |c: usize, state: &ChunkState, chunk: &Arc<CookedChunk>| {
            let [a, b] = masks_of(c);
            state.source.is(Some(chunk)) && state.masks[0].is(a) && state.masks[1].is(b)
        };
        let cook = |(c, (state, chunk)): (usize, (&mut ChunkState, &Arc<CookedChunk>))| {
            if is_known(c, state, chunk) {
                return;
            }
            let of_chunk = masks_of(c);
            let n = chunk.n_points();
            let settings = CorrectionSettings {
                compensation,
                projection,
                compensation_mask: of_chunk[0].map(|m| &m[..n]),
                projection_mask: of_chunk[1].map(|m| &m[..n]),
            };
            let masks = of_chunk.map(Identity::of);
            let before = state.source.value().filter(|_| state.masks == masks);
            let before = before.map(|chunk| (&**chunk, &state.cooked));
            let corrections = ChunkCorrections::cook_after(before, chunk, bones, &settings);
            *state = ChunkState {
                source: Identity::of(Some(chunk)),
                masks,
                cooked: corrections,
                measured: false,
                stale: true,
            };
        };
        let states = self.chunks.iter().zip(cooked).enumerate();
        let n_changed = states
            .filter(|(c, (state, chunk))| !is_known(*c, state, chunk))
            .count();
        if n_changed > FEW_CHUNKS {
            let states = self.chunks.par_iter_mut().zip(cooked).enumerate();
            states.for_each(cook);
        } else if n_changed > 0 {
            let states = self.chunks.iter_mut().zip(cooked).enumerate();
            states.for_each(cook);
        }
        n_changed
    }

    /// One a chunk, and what the kernel needs of the pose.
    pub(super) fn parts<'a>(
        &'a mut self,
        stack: &'a DeformStack,
        bones: &'a BonePose,
    ) -> (&'a mut [ChunkState], CorrectionPose<'a>) {
        let pose = CorrectionPose {
            pairs: self.pairs.posed(),
            bones,
            projection: projection::settings(stack),
        };
        (&mut self.chunks, pose)
    }

    /// One a chunk.
    pub(super) fn chunks(&self) -> &[ChunkState] {
        &self.chunks
    }
}
