//! Stage 6: the corrective smooth ([`Smoother`]) as a stage.

use super::changed::Changed;
use super::inflation::{self, InflationKey, inflate_shape};
use super::key::{Identity, LastKey};
use super::run::{Run, Stage};
use crate::deform::mask::MaskChunk;
use crate::deform::{MaskKind, Masks, Smoother};
use crate::mesh::Mesh;
use crate::skinning::CHUNK;
use glam::Vec3;

/// The smoothed shape of an instance with a skin, world space.
#[derive(Default)]
pub(super) struct SmoothStage {
    detail_by: LastKey<DetailKey>,
    /// The mesh and the number of iterations.
    tiles_by: LastKey<(Identity<Mesh>, u32)>,
    /// Bits of the strength.
    strength: LastKey<u32>,
    smoother: Smoother,
    /// One a chunk: the painted map.
    masks: Vec<Identity<[f32; CHUNK]>>,
    /// Points whose painted value changed, ascending.
    repainted: Vec<u32>,
    shape: Vec<Vec3>,
}

/// What the detail of the bind shape depends on, besides morph targets and influences.
#[derive(Default, PartialEq)]
struct DetailKey {
    geometry: Identity<Mesh>,
    /// Bits of the factor.
    factor: u32,
    iterations: u32,
    inflation: InflationKey,
}

impl Stage for SmoothStage {
    fn acts(run: &Run<'_>) -> bool {
        let input = run.input;
        // What follows a node moves as one piece.
        input.skin.is_some() && input.stack.smooth.acts()
    }

    fn run(&mut self, run: &Run<'_>, before: &[Vec3], changed: Changed) -> Changed {
        let (mesh, settings, masks) =
            (run.input.geometry, &run.input.stack.smooth, run.input.masks);
        let new_key = self.detail_by.replace(|old| DetailKey {
            geometry: Identity::of(Some(mesh)),
            factor: settings.factor.to_bits(),
            iterations: settings.iterations,
            inflation: old.inflation.refilled(run.skin.palette()),
        });
        let new_detail = new_key
            || run.bind.changed() != Changed::Nothing
            || inflation::follows_influences(run.skin);
        let new_strength = self.strength.replace(|_| settings.strength.to_bits());
        self.repaint(masks, before.len());

        if new_detail {
            let tiles = (Identity::of(Some(mesh)), settings.iterations);
            if self.tiles_by.replace(|_| tiles) {
                self.smoother.set_mesh(mesh, settings);
            }
            self.shape.resize(before.len(), Vec3::ZERO);
            let (chunks, palette) = (run.skin.chunks(), run.skin.palette());
            inflate_shape(run.bind.shape(), chunks, palette, &mut self.shape);
            self.smoother.set_rest(mesh, settings, &self.shape);
        }
        let moved = match &changed {
            Changed::Points(moved) => &moved[..],
            _ => &[],
        };
        if new_detail || new_strength || changed == Changed::All {
            self.smoother
                .run(mesh, settings, masks, before, &mut self.shape);
            return Changed::All;
        }
        if moved.is_empty() && self.repainted.is_empty() {
            return Changed::Nothing;
        }
        let (repainted, shape) = (&self.repainted, &mut self.shape);
        let smoothed =
            (self.smoother).run_around(mesh, settings, masks, moved, repainted, before, shape);
        smoothed.map_or(Changed::All, |points| Changed::points(points.to_vec()))
    }

    fn shape(&self) -> &[Vec3] {
        &self.shape
    }
}

impl SmoothStage {
    /// Takes the painted map over, and finds the points whose value is another than before.
    fn repaint(&mut self, masks: &Masks, n_points: usize) {
        self.repainted.clear();
        self.masks
            .resize_with(n_points.div_ceil(CHUNK), Identity::default);
        for (c, known) in self.masks.iter_mut().enumerate() {
            let mask = masks.chunk(MaskKind::Smooth, c);
            if known.is(mask) {
                continue;
            }
            let value = |mask: Option<&MaskChunk>, i: usize| {
                mask.map_or(MaskKind::UNPAINTED, |m| m[i]).to_bits()
            };
            let n = CHUNK.min(n_points - c * CHUNK);
            let other = (0..n).filter(|&i| value(known.value(), i) != value(mask, i));
            self.repainted.extend(other.map(|i| (c * CHUNK + i) as u32));
            *known = Identity::of(mask);
        }
    }
}
