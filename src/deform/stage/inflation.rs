//! Stage 2: scale and shear of the joints, applied to the bind shape before the rigid motions (Lee et al. 2013).

use super::key::refill;
use super::posed_skin::PosedSkin;
use crate::deform::chunks::for_chunks;
use crate::skinning::{self, CHUNK, CookedChunk, SkinInput, SkinPalette};
use glam::Vec3;
use std::sync::Arc;

/// What the inflated bind shape depends on, besides the bind shape and the influences.
#[derive(Default, PartialEq)]
pub(super) struct InflationKey {
    unit_scale: u64,
    /// Bits of the inflation of each joint; empty where none inflates.
    inflations: Vec<u32>,
}

impl InflationKey {
    /// The key of a palette, in the memory of this one.
    pub(super) fn refilled(self, palette: &SkinPalette) -> Self {
        Self {
            unit_scale: palette.unit_scale().to_bits(),
            inflations: refill(self.inflations, palette.inflation_bits()),
        }
    }
}

/// Whether the influences of the latest run inflate the bind shape otherwise than those before.
pub(super) fn follows_influences(skin: &PosedSkin) -> bool {
    let changes = skin.changes();
    // Without inflation only points that no joint moves differ: they keep the unit of the file.
    changes.unmoved_points || skin.palette().inflates() && !changes.chunks.is_empty()
}

/// The inflated bind shape: radii, rest distances and detail are measured in it.
///
/// `bind`, `out`: n_points, mesh space and [`SkinPalette::unit_scale`] times mesh space. Points without influences, and
/// all without a skin, stay where they are.
pub(in crate::deform) fn inflate_shape(
    bind: &[Vec3],
    chunks: &[Arc<CookedChunk>],
    palette: &SkinPalette,
    out: &mut [Vec3],
) {
    for_chunks(out, |first, out| {
        let bind = &bind[first..first + out.len()];
        match chunks
            .get(first / CHUNK)
            .map(|c| SkinInput::new(bind, c, palette))
        {
            Some(Ok(input)) => skinning::inflate(&input, out),
            _ => out.copy_from_slice(bind),
        }
    });
}
