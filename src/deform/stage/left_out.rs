//! Whether the stages before control clusters leave out the points that follow patches.

use super::run::Run;
use crate::cluster::Interpolation;
use crate::deform::DeformInput;

/// Where fewer than this share of the vertices are free, gathering the others costs more than it saves.
const WORTHWHILE: f64 = 0.25;

/// Whether control clusters are part of the stack.
pub(super) fn clusters_act(input: &DeformInput<'_>) -> bool {
    input.clusters.is_some_and(|clusters| {
        clusters.map.acts()
            && clusters.layout.fits(input.geometry)
            // What follows a node moves as one piece; muscles lie on the bones of a skin.
            && (input.skin.is_some() || clusters.map.moves_without_skin())
    })
}

/// Whether free points are left out: where the plan allows it and no later stage reads them.
pub(super) fn leaves_out(run: &Run<'_>) -> bool {
    let input = run.input;
    let Some(clusters) = input.clusters.filter(|_| run.skips_free) else {
        return false;
    };
    let layout = clusters.layout;
    let (n_free, n) = (layout.layout().free.len(), layout.surface().n_vertices());
    let is_skinned = clusters.map.settings().interpolation == Interpolation::SkinnedFree;
    clusters_act(input)
        && input.skin.is_some()
        // It reads the neighbours of each point.
        && !input.stack.smooth.acts()
        && !is_skinned
        && n_free as f64 >= WORTHWHILE * n as f64
}
