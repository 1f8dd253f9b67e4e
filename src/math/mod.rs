//! Transforms, dual quaternions, the polar decomposition, the camera: what every layer above computes with.
//!
//! Invariant: right-handed, column vectors, quaternions (x, y, z, w); rotations are unit or guarded.

pub mod camera;
pub mod polar;
pub mod transform;

pub use camera::{Camera, Ray};
pub use polar::polar;
pub use transform::Transform;
