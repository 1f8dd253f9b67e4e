//! What a stage is, and what it may read.

use super::changed::Changed;
use super::morph_targets::MorphTargets;
use super::posed_skin::PosedSkin;
use crate::deform::DeformInput;
use glam::Vec3;

/// What every stage of a run may read.
#[derive(Clone, Copy)]
pub(in crate::deform) struct Run<'a> {
    pub(in crate::deform) input: &'a DeformInput<'a>,
    /// The bind shape with morph targets.
    pub(in crate::deform) bind: &'a MorphTargets,
    /// The skin in the pose.
    pub(in crate::deform) skin: &'a PosedSkin,
}

/// A stage that makes a shape of the one before it.
pub(super) trait Stage: Send + Sync {
    /// Whether it is part of the stack. A stage that is not passes the shape before it on.
    fn acts(input: &DeformInput<'_>) -> bool
    where
        Self: Sized;

    /// Brings its shape up to date. `before`: the shape of the stage before, n_points; `changed`: what changed in it
    /// since the latest run, all of it where that was the shape of another stage. Returns what changed in its own
    /// shape.
    fn run(&mut self, run: &Run<'_>, before: &[Vec3], changed: Changed) -> Changed;

    /// Its shape after the latest run, n_points.
    fn shape(&self) -> &[Vec3];
}
