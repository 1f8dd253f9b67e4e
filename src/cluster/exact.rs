//! Free vertices in f64: for tests, measurements and fits.

use super::frame::CornerFrame;
use super::interpolation::Interpolation;
use super::layout::{Free, Layout};
use super::net::ControlNet;
use super::surface::ClusterSurface;
use glam::DVec3;
use rayon::prelude::*;

/// Free vertices handed to a thread at a time.
const PER_TASK: usize = 1024;

/// The patches of a layout with the offsets of its free vertices, f64. [`super::Patches`] is the fast f32 evaluation.
#[derive(Clone, Debug)]
pub struct ExactPatches<'a> {
    net: &'a ControlNet,
    free: &'a [Free],
    interpolation: Interpolation,
    /// One a free vertex: from the patch to the vertex at bind, metres.
    offsets: Vec<DVec3>,
}

impl<'a> ExactPatches<'a> {
    /// The patches at bind.
    pub fn new(
        surface: &ClusterSurface,
        layout: &'a Layout,
        net: &'a ControlNet,
        interpolation: Interpolation,
    ) -> Self {
        let mut patches = Self {
            net,
            free: &layout.free,
            interpolation,
            offsets: vec![DVec3::ZERO; layout.free.len()],
        };
        let on_patch = patches.evaluate(&net.bind_frames());
        patches.offsets = layout
            .free
            .iter()
            .zip(on_patch)
            .map(|(free, s)| surface.positions[free.vertex as usize] - s)
            .collect();
        patches
    }

    /// The positions of the free vertices, in the order of [`Layout::free`]: `S(u) + q(u) e`.
    pub fn evaluate(&self, frames: &[CornerFrame]) -> Vec<DVec3> {
        let parts: Vec<Vec<DVec3>> = (0..self.free.len().div_ceil(PER_TASK))
            .into_par_iter()
            .map(|run| {
                let rows = run * PER_TASK..((run + 1) * PER_TASK).min(self.free.len());
                self.run(rows, frames)
            })
            .collect();
        parts.concat()
    }

    fn run(&self, rows: std::ops::Range<usize>, frames: &[CornerFrame]) -> Vec<DVec3> {
        let mut patch = None;
        rows.map(|i| {
            let Free {
                triangle,
                barycentric: u,
                ..
            } = self.free[i];
            let (of, bezier) = *patch.get_or_insert_with(|| {
                (
                    triangle,
                    self.net.bezier(triangle, frames, self.interpolation),
                )
            });
            let bezier = if of == triangle {
                bezier
            } else {
                let next = self.net.bezier(triangle, frames, self.interpolation);
                patch = Some((triangle, next));
                next
            };
            bezier.at(u) + self.net.rotation(triangle, frames, u) * self.offsets[i]
        })
        .collect()
    }
}
