//! The deformer stack: bind shape + pose -> the shape on screen.
//!
//! Data flow: influences -> [`CookedMesh`] (rows in the order of the kernels, shared by all instances of a mesh);
//! [`DeformInput`] (mesh, cooked influences, skin, pose and the settings of a [`DeformStack`]) -> [`InstancePlan`] (the
//! keys and caches of all stages, one file each in `stage`) -> [`Moved`].
//!
//! Invariant: a stage recomputes only what its key says has changed, by identity or by value.
//! Invariant: an incremental run gives the same bits as a full one, for any number of threads.

mod capture;
pub mod choice;
mod chunks;
pub mod cook;
pub mod correctives;
pub mod diagnostics;
mod driver_reader;
pub mod input;
pub mod mask;
mod normal_transport;
pub mod plan;
mod point_rotations;
pub mod preset;
pub mod smooth;
pub mod stack;
mod stage;

pub use crate::skinning::{BulgeProjection, Compensation, Polynomial, TwistDamping, Variant};
pub use capture::{Captured, blended_rotations, capture, carried, sculpted};
pub use choice::{BodyChoice, StackChoice};
pub use cook::CookedMesh;
pub use correctives::Correctives;
pub use driver_reader::{DriverReader, PoseInputs};
pub use input::{ClusterInput, DeformInput, HomeSkin, SkinSource};
pub use mask::{MaskKind, Masks, PointMask};
pub use normal_transport::transport_normals;
pub use plan::{InstancePlan, Moved};
pub use point_rotations::PointRotations;
pub use preset::StackPreset;
pub use smooth::Smoother;
pub use stack::{CorrectiveSmooth, DeformStack, ScaleMode, SkinningMethod};
pub use stage::falloff_of_pairs;
