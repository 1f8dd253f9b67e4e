//! Transforms, dual quaternions, the polar decomposition, singular values, eigenvectors, swing and twist, monotone curves, sparse and dense systems, the
//! camera: used by every layer above.
//!
//! Invariant: right-handed, column vectors, quaternions (x, y, z, w); rotations are unit or guarded.

pub mod axis;
pub(crate) mod bits;
pub mod bounding_box;
pub mod camera;
pub(crate) mod check;
pub(crate) mod coprime;
pub mod dense;
pub(crate) mod disjoint_sets;
pub mod dual_quaternion;
pub mod laplace;
pub mod monotone_cubic;
pub mod polar;
pub mod segment;
pub mod singular_values;
pub mod smootherstep;
pub mod sparse;
pub mod swing_twist;
pub(crate) mod symmetric_eigen;
pub mod transform;
pub mod worse;

pub use axis::Axis;
pub(crate) use bits::same_bits;
pub use camera::{Camera, Ray, View};
pub(crate) use coprime::coprime_stride;
pub(crate) use disjoint_sets::DisjointSets;
pub use dual_quaternion::DualQuat;
pub use laplace::SurfaceLaplacian;
pub use polar::polar;
pub use singular_values::squared_singular_values;
pub use smootherstep::smootherstep;
pub use sparse::{Factor, FactorError, Symmetric};
pub(crate) use symmetric_eigen::symmetric_eigen;
pub use transform::Transform;
pub use worse::Worse;
