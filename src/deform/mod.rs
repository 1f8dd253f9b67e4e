//! The deformer stack: bind shape + pose -> the shape on screen.
//!
//! The way of the data: [`DeformStack`] (what the artist composes) + influences + skin -> [`CookedMesh`] (rows in the
//! kernels' order, shared by all instances of a mesh) and [`InstancePlan`] (palette, last result) -> [`Moved`].
//!
//! Invariant: a part is cooked again only when its source changed identity or value.
//! Invariant: an incremental run gives the same bits as a full one, for any number of threads.

pub mod choice;
mod chunks;
pub mod cook;
pub mod diagnostics;
pub mod input;
pub mod mask;
pub mod plan;
pub mod preset;
pub mod smooth;
pub mod stack;
mod stage;

pub use crate::skinning::{Compensation, Polynomial, Projection, TwistDamping, Variant};
pub use choice::StackChoice;
pub use cook::CookedMesh;
pub use input::{DeformInput, SkinSource};
pub use mask::{MaskKind, Masks, PointMask};
pub use plan::{InstancePlan, Moved};
pub use preset::StackPreset;
pub use smooth::Smoother;
pub use stack::{CorrectiveSmooth, DeformStack, ScaleMode, SkinningMethod};
