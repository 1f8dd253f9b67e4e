//! Instead of stages 2 to 6: an instance without a skin follows its node as one piece.

use super::changed::Changed;
use super::key::{LastKey, refill};
use super::run::{Run, Stage};
use crate::deform::chunks::for_chunks;
use glam::{DAffine3, Vec3};

/// The shape of an instance without a skin, world space.
#[derive(Default)]
pub(super) struct NodeStage {
    /// Bits of the world transform.
    key: LastKey<Vec<u64>>,
    shape: Vec<Vec3>,
}

impl Stage for NodeStage {
    fn acts(run: &Run<'_>) -> bool {
        run.input.skin.is_none()
    }

    fn run(&mut self, run: &Run<'_>, before: &[Vec3], changed: Changed) -> Changed {
        let world = run.input.world.get(run.input.node.get());
        let world: DAffine3 = world.copied().unwrap_or_default();
        let moved = self
            .key
            .replace(|old| refill(old, world.to_cols_array().map(f64::to_bits)));
        if !moved && changed == Changed::Nothing {
            return Changed::Nothing;
        }
        self.shape.resize(before.len(), Vec3::ZERO);
        for_chunks(&mut self.shape, |first, out| {
            for (out, p) in out.iter_mut().zip(&before[first..]) {
                *out = world.transform_point3(p.as_dvec3()).as_vec3();
            }
        });
        Changed::All
    }

    fn shape(&self) -> &[Vec3] {
        &self.shape
    }
}
