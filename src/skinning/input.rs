//! The checked input of a kernel: a chunk of points, its influences and a palette.

use super::cooked::CookedChunk;
use super::palette::SkinPalette;
use super::simd::{Backend, opposed};
use glam::Vec3;

/// Why a chunk cannot be skinned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SkinError {
    /// A position without a row of influences, or the reverse.
    #[error("{n_positions} positions, but influences for {n_rows} points")]
    LengthMismatch {
        /// Positions given.
        n_positions: usize,
        /// Points of the chunk.
        n_rows: usize,
    },
    /// An influence of a joint that the skin does not list.
    #[error("a point follows joint {joint} of a skin of {n_joints} joints")]
    JointOutOfRange {
        /// Index in the skin's joint list.
        joint: u16,
        /// Length of that list.
        n_joints: usize,
    },
}

/// A chunk of points, its influences and a palette that fit each other.
#[derive(Clone, Copy)]
pub struct SkinInput<'a> {
    pub(super) positions: &'a [Vec3],
    pub(super) chunk: &'a CookedChunk,
    pub(super) palette: &'a SkinPalette,
    /// Whether `positions` are inflated already.
    pub(super) inflated: bool,
    /// Whether a joint of the chunk inflates.
    pub(super) needs_inflation: bool,
    /// Whether some (pivot, joint) pair lies on opposite hemispheres in this pose.
    pub(super) needs_sign_test: bool,
    pub(super) backend: Backend,
}

impl<'a> SkinInput<'a> {
    /// A checked view for the kernels.
    ///
    /// `positions`: the chunk's points, bind space (morphs applied), metres. Fails if their number differs from the
    /// chunk's or an influence names a joint beyond the palette. Costs a few nanoseconds a distinct pair of joints.
    pub fn new(
        positions: &'a [Vec3],
        chunk: &'a CookedChunk,
        palette: &'a SkinPalette,
    ) -> Result<Self, SkinError> {
        if positions.len() != chunk.n_points() {
            return Err(SkinError::LengthMismatch {
                n_positions: positions.len(),
                n_rows: chunk.n_points(),
            });
        }
        if let Some(&joint) = chunk.joints().last()
            && joint as usize >= palette.n_joints()
        {
            return Err(SkinError::JointOutOfRange {
                joint,
                n_joints: palette.n_joints(),
            });
        }
        let row = |joint: u16| &palette.rigid[joint as usize];
        Ok(Self {
            positions,
            chunk,
            palette,
            inflated: false,
            needs_inflation: palette.inflates()
                && chunk.joints().iter().any(|&j| palette.joint_inflates(j)),
            needs_sign_test: chunk.pairs().iter().any(|&[p, j]| opposed(row(p), row(j))),
            backend: Backend::detect(),
        })
    }

    /// The same chunk with positions that [`super::inflate`] has written (and kernels take inflated normals):
    /// [`super::dqs`] then runs its second phase only. Not for [`super::lbs`], which starts from the bind shape.
    pub fn with_inflated(self, inflated: &'a [Vec3]) -> Result<Self, SkinError> {
        if inflated.len() != self.chunk.n_points() {
            return Err(SkinError::LengthMismatch {
                n_positions: inflated.len(),
                n_rows: self.chunk.n_points(),
            });
        }
        Ok(Self {
            positions: inflated,
            inflated: true,
            ..self
        })
    }

    /// The same input on another backend, for tests and measurements.
    #[must_use]
    pub fn on(self, backend: Backend) -> Self {
        Self { backend, ..self }
    }

    /// The number of its points.
    pub fn n_points(&self) -> usize {
        self.positions.len()
    }

    /// Whether [`super::inflate`] does more than multiply by the unit.
    pub fn needs_inflation(&self) -> bool {
        self.needs_inflation
    }

    /// The factor of positions when they are loaded for the rigid phase.
    pub(super) fn scale(&self) -> f32 {
        if self.inflated {
            1.0
        } else {
            self.scale_of_bind()
        }
    }

    /// The factor of bind positions for the rigid phase, where no joint inflates.
    pub(super) fn scale_of_bind(&self) -> f32 {
        self.palette.unit_scale() as f32
    }

    /// Panics if the output of a kernel has another length.
    pub(super) fn check(&self, n_out: usize) {
        assert_eq!(n_out, self.positions.len(), "one output a point");
    }
}
