//! Influences, palettes and the skinning kernels.
//!
//! Data flow: [`SkinBind`] (one skin as one mesh uses it) + the world transforms of a pose ->
//! [`SkinPalette`]; [`Influences`] chunk by chunk -> [`CookedChunk`]; bind positions + both -> [`SkinInput`] -> a
//! kernel.
//!
//! Invariant: kernels never allocate and never branch on the number of threads; the same input gives the same bits.
//! Invariant: a chunk skinned alone has the same bits as in a full pass.
//! Invariant: a palette is finite for any file.

pub mod bind;
pub mod bone_pose;
mod centre_kernel;
pub mod centres;
pub mod chunk_corrections;
pub mod compensation;
pub mod cooked;
mod displacement_kernel;
pub mod influences;
pub mod input;
pub mod kernels;
pub mod leaf_points;
pub mod palette;
mod point_rotation;
pub mod polynomial_fit;
pub mod projection;
mod simd;
pub mod skin_bones;

pub use bind::SkinBind;
pub use bone_pose::BonePose;
pub use centre_kernel::{centres_of_rotation, centres_of_rotation_with_normals};
pub use centres::Centres;
pub use chunk_corrections::{ChunkCorrections, CorrectionPose, CorrectionSettings, correct};
pub use compensation::{Compensation, JointPairs, Polynomial, TwistDamping, Variant};
pub use cooked::CookedChunk;
pub(crate) use displacement_kernel::add_displacements;
pub use displacement_kernel::add_rotated;
pub use influences::{CHUNK, Influences, PaintRows, RowRef, Rows};
pub use input::{SkinError, SkinInput};
pub use kernels::{
    blended_linear, blended_rotations, dqs, dqs_with_normals, inflate, inflate_with_normals, lbs,
    lbs_with_normals, rotation_of_linear,
};
pub use leaf_points::LeafPoints;
pub use palette::{Motion, SkinPalette, Stretch};
pub use point_rotation::{blended_stretch, dual_quaternion_rotation, linear_rotation};
pub use polynomial_fit::{PolynomialFit, fit_polynomial};
pub use projection::BulgeProjection;
pub use simd::Backend;
pub(crate) use simd::{Kernel, Simd, dispatch};
pub use skin_bones::SkinBones;
