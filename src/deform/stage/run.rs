//! What a stage is, and what it may read.

use super::changed::Changed;
use super::morph_targets::MorphTargets;
use super::posed_skin::{Changes, PosedSkin};
use crate::cluster::{CornerFrame, Patches};
use crate::deform::DeformInput;
use crate::skinning::CookedChunk;
use glam::Vec3;
use std::borrow::Cow;
use std::sync::Arc;

/// What every stage of a run may read.
#[derive(Clone, Copy)]
pub(in crate::deform) struct Run<'a> {
    pub(in crate::deform) input: &'a DeformInput<'a>,
    /// The bind shape with morph targets.
    pub(in crate::deform) bind: &'a MorphTargets,
    /// The skin in the pose.
    pub(in crate::deform) skin: &'a PosedSkin,
    /// Other points than those of the mesh, which the skin moves in their place.
    pub(in crate::deform) probe: Option<ProbeSkin<'a>>,
    /// Whether stages before control clusters may leave out points that follow patches.
    pub(in crate::deform) skips_free: bool,
}

/// Points beside those of the mesh.
#[derive(Clone, Copy)]
pub(in crate::deform) struct ProbeSkin<'a> {
    /// Their influences in the order of the kernels.
    pub(in crate::deform) chunks: &'a [Arc<CookedChunk>],
    /// What changed since the latest run.
    pub(in crate::deform) changes: &'a Changes,
}

impl<'a> Run<'a> {
    /// The influences of the points in the order of the kernels; none without a skin.
    pub(super) fn chunks(&self) -> &'a [Arc<CookedChunk>] {
        match self.probe {
            Some(probe) => probe.chunks,
            None => self.skin.chunks(),
        }
    }

    /// What changed in the skin since the latest run.
    pub(super) fn changes(&self) -> &'a Changes {
        match self.probe {
            Some(probe) => probe.changes,
            None => self.skin.changes(),
        }
    }
}

/// A stage that makes a shape of the one before it.
pub(super) trait Stage: Send + Sync {
    /// Whether it is part of the stack. A stage that is not passes the shape before it on.
    fn acts(run: &Run<'_>) -> bool
    where
        Self: Sized;

    /// Brings its shape up to date. `before`: the shape of the stage before, n_points; `changed`: what changed in it
    /// since the latest run, all of it where that was the shape of another stage. Returns what changed in its own
    /// shape.
    fn run(&mut self, run: &Run<'_>, before: &[Vec3], changed: Changed) -> Changed;

    /// Its shape after the latest run, n_points.
    fn shape(&self) -> &[Vec3];

    /// As [`Stage::shape`], without the displacements of corrective samples where the stage adds those itself.
    fn base_shape(&self) -> Cow<'_, [Vec3]> {
        Cow::Borrowed(self.shape())
    }

    /// A point of [`Stage::base_shape`]; `None` beyond the last one.
    fn base_position(&self, point: usize) -> Option<Vec3> {
        self.shape().get(point).copied()
    }

    /// The values that those known at some clusters (points) make on the patches between them, n_points; NaN elsewhere.
    fn scalars(&self, known: &[(u32, f64)]) -> Option<Vec<f32>> {
        let _ = known;
        None
    }

    /// The patches between control clusters, and the frames of their corners in the latest run.
    fn patches(&self) -> Option<(&Patches, Cow<'_, [CornerFrame]>)> {
        None
    }
}
