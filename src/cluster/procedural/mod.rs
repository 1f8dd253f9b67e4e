//! Clusters that move by a rule: muscles that bulge as a joint bends, and drivers that turn any input into a displacement.
//!
//! Data flow: bone segments and angles -> [`Envelope`] -> [`Muscle`]; an input of the pose ([`DriverInput`]) -> [`Driver`]
//! (normalise, curve, gain) -> [`super::fade::Guard`] -> [`Sink`], a direction and a mask for each cluster. Displacements
//! are in bind space; they turn with the skin (R_v d) and add up.
//!
//! Invariant: the displacements of a muscle are exactly 0 at bind, unless its curve has a rest offset.
//! Invariant: evaluation allocates nothing.

mod angles;
mod bind_point;
mod driver;
mod envelope;
mod input;
mod muscle;
mod profile;
mod response_curve;
mod sink;

pub use angles::{angle_from_bind, bone_angle};
pub use bind_point::{BindPoint, Bone, BoneError, limb_radius};
pub use driver::{Driver, DriverSettings, Normalisation};
pub use envelope::{Envelope, EnvelopeSettings, EnvelopeShape, spindle_strain};
pub use input::{DriverInput, DriverPoint, InputSource};
pub use muscle::{Muscle, MuscleDirection, MuscleError, MuscleSettings};
pub use profile::Profile;
pub use response_curve::{CurveSettings, ResponseCurve};
pub use sink::{Sink, SinkDirection, SinkMask, SinkSettings};
