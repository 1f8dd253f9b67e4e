//! Free vertices in f64: for tests, measurements and fits.

use super::frame::CornerFrame;
use super::interpolation::{Interpolation, PatchOptions};
use super::layout::{Free, Layout};
use super::net::ControlNet;
use super::strands::Strands;
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
    options: PatchOptions,
    /// Vertices on strands; empty for other kinds.
    strands: Strands,
    /// One a free vertex: from the patch to the vertex at bind, metres.
    offsets: Vec<DVec3>,
}

impl<'a> ExactPatches<'a> {
    /// The patches at bind.
    pub fn new(
        surface: &ClusterSurface,
        layout: &'a Layout,
        net: &'a ControlNet,
        options: PatchOptions,
    ) -> Self {
        let mut patches = Self {
            net,
            free: &layout.free,
            options,
            strands: if options.interpolation == Interpolation::Strands {
                Strands::automatic(surface, layout)
            } else {
                Strands::default()
            },
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
        let mut places = vec![DVec3::ZERO; self.free.len()];
        places
            .par_chunks_mut(PER_TASK)
            .zip(self.free.par_chunks(PER_TASK))
            .zip(self.offsets.par_chunks(PER_TASK))
            .for_each(|((places, free), offsets)| self.run(frames, free, offsets, places));
        places
    }

    fn run(&self, frames: &[CornerFrame], free: &[Free], offsets: &[DVec3], out: &mut [DVec3]) {
        let kind = self.options.interpolation;
        let mut current = None;
        for ((free, &offset), out) in free.iter().zip(offsets).zip(out) {
            let (triangle, u) = (free.triangle, free.barycentric);
            let (place, rotation) = match self.strands.of_vertex(free.vertex) {
                Some(point) => point.at(frames, self.options.tension),
                None => {
                    let patch = match current {
                        Some((of, patch)) if of == triangle => patch,
                        _ => self.net.patch(triangle, frames, kind),
                    };
                    current = Some((triangle, patch));
                    (patch.at(u), self.net.rotation(triangle, frames, u))
                }
            };
            *out = place + rotation * offset;
        }
    }
}
