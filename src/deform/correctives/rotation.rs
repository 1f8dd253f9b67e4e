//! The rotation R of a point, which carries the displacements of samples from bind to the pose.

use crate::deform::SkinningMethod;
use crate::deform::mask::MaskChunk;
use crate::skinning::{CookedChunk, SkinPalette, dual_quaternion_rotation, linear_rotation};
use glam::DQuat;

/// The blended rotations of the points of a chunk under a skinning method.
#[derive(Clone, Copy)]
pub(in crate::deform) struct BlendedRotation<'a> {
    pub(in crate::deform) method: SkinningMethod,
    /// The share of dual quaternion skinning in [`SkinningMethod::Blend`].
    pub(in crate::deform) blend: f32,
    /// Its painted map.
    pub(in crate::deform) mask: Option<&'a MaskChunk>,
    pub(in crate::deform) chunk: &'a CookedChunk,
    pub(in crate::deform) palette: &'a SkinPalette,
}

impl BlendedRotation<'_> {
    /// The rotation of a point (counted in the chunk), unit: that of the blended dual quaternion, the polar rotation of
    /// the blended matrix under linear skinning, or the normalised interpolation of both. `Err`: the blended matrix is
    /// nearly singular, and its part is the rotation of the heaviest joint.
    pub(in crate::deform) fn at(&self, point: usize) -> Result<DQuat, DQuat> {
        let dual = || dual_quaternion_rotation(self.chunk, point, self.palette);
        match self.method {
            SkinningMethod::Dqs | SkinningMethod::CentresOfRotation => Ok(dual()),
            SkinningMethod::Lbs => linear_rotation(self.chunk, point, self.palette),
            SkinningMethod::Blend => {
                let painted = self.mask.map_or(1.0, |mask| mask[point]);
                let share = f64::from(self.blend * painted);
                let linear = linear_rotation(self.chunk, point, self.palette);
                // It takes the shorter way.
                let blended = |q: DQuat| q.lerp(dual(), share);
                linear.map(blended).map_err(blended)
            }
        }
    }

    /// As [`BlendedRotation::at`], nearly singular or not.
    pub(in crate::deform) fn any_at(&self, point: usize) -> DQuat {
        self.at(point).unwrap_or_else(|heaviest| heaviest)
    }
}
