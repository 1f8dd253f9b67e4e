//! Pose space deformation (Lewis et al. 2000): weights of sample poses in any pose, and sparse displacements.
//!
//! Data flow: the rotation of each driver from bind -> its [`driver::Feature`] -> distances to the sample poses ->
//! [`Kernel`] -> [`PoseInterpolation`], a weight for each sample -> [`JointSolve`], which reconciles sets whose samples
//! were taken while another set was off bind. [`Displacements`] hold what a sample moves. The deformer stack adds the
//! weighted displacements to the shape.
//!
//! Invariant: weights are a pure function of rotations: q and -q give the same, and no order of samples or threads
//! matters.
//! Invariant: at the bind pose every weight is 0; at a sample's pose its own is 1 and the others are 0, to 1e-12, unless
//! smoothing was asked for.
//! Invariant: computing weights allocates nothing.

mod displacements;
pub mod driver;
mod error;
mod interpolation;
mod joint_solve;
mod kernel;

pub use displacements::{DisplacementChunk, Displacements};
pub use driver::DriverMode;
pub use error::{PsdError, PsdWarning};
pub use interpolation::{NamedPose, PoseInterpolation, PoseSet, Work};
pub use joint_solve::JointSolve;
pub use kernel::{Kernel, Tail};
