//! The rotation R of a point, which carries the displacements of samples from bind to the pose, and the stretch A that
//! those of a set with [`super::SampleSet::scale_with_limb`] take first.

use crate::deform::SkinningMethod;
use crate::deform::mask::MaskChunk;
use crate::math::squared_singular_values;
use crate::skinning::{
    CookedChunk, SkinInput, SkinPalette, add_rotated, blended_stretch, dual_quaternion_rotation,
    linear_rotation,
};
use glam::{DMat3, DQuat, Vec3};

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

    /// The blended scale and shear A of the joints at a point; `None` where no joint has any.
    pub(in crate::deform) fn stretch_at(&self, point: usize) -> Option<DMat3> {
        let stretches = self.palette.inflates();
        stretches.then(|| blended_stretch(self.chunk, point, self.palette))
    }

    /// Moves the points of `shape` that have a displacement: `shape += R d`. `displacements`, `shape`: one for each point
    /// of the chunk. By the kernel, in single precision, where the rotation is that of dual quaternions alone.
    pub(in crate::deform) fn add_to(&self, shape: &mut [Vec3], displacements: &[Vec3]) {
        let is_dual = matches!(
            self.method,
            SkinningMethod::Dqs | SkinningMethod::CentresOfRotation
        );
        let input = SkinInput::new(displacements, self.chunk, self.palette).ok();
        if let Some(input) = input.filter(|_| is_dual) {
            add_rotated(&input, displacements, shape);
            return;
        }
        for (i, (v, d)) in shape.iter_mut().zip(displacements).enumerate() {
            if *d != Vec3::ZERO {
                *v += (self.any_at(i) * d.as_dvec3()).as_vec3();
            }
        }
    }

    /// As [`BlendedRotation::at`], nearly singular or not.
    pub(in crate::deform) fn any_at(&self, point: usize) -> DQuat {
        self.at(point).unwrap_or_else(|heaviest| heaviest)
    }
}

/// The largest singular value of an inverse stretch: a scale below 1/1000 would make a huge displacement of a small
/// offset.
const MAX_INVERSE: f64 = 1e3;

/// The inverse of a stretch; `None` where it scales to nearly nothing in some direction.
pub(in crate::deform) fn inverse_stretch(stretch: DMat3) -> Option<DMat3> {
    let inverse = stretch.inverse();
    // NaN is refused, too.
    let [largest, _] = squared_singular_values(inverse);
    (largest <= MAX_INVERSE * MAX_INVERSE * (1.0 + 1e-9)).then_some(inverse)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;

    #[test]
    fn a_limb_scaled_to_nothing_has_no_inverse() {
        let of = |z: f64| inverse_stretch(DMat3::from_diagonal(DVec3::new(1.0, 2.0, z)));
        assert_eq!(
            of(0.5),
            Some(DMat3::from_diagonal(DVec3::new(1.0, 0.5, 2.0)))
        );
        assert!(of(2e-3).is_some());
        // A limb scaled alike in all directions is as good as one that is flat.
        let uniform = |s: f64| inverse_stretch(DMat3::from_diagonal(DVec3::splat(s)));
        assert!(uniform(1e-3).is_some() && uniform(1.1e-3).is_some());
        assert!(uniform(9.9e-4).is_none());
        assert!([9e-4, 0.0, f64::NAN].map(of).iter().all(Option::is_none));
    }
}
