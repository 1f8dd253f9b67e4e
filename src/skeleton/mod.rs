//! Joints, poses and clips.
//!
//! Data flow: [`Skeleton`] (rest) + [`Clip`] at a time, or the artist's [`Pose`] -> forward
//! kinematics ([`Pose::world_matrices`]) -> the skin palettes of [`crate::skinning`].
//!
//! Invariant: a joint's parent may have a higher index; code that needs parents first walks [`Skeleton::order`].
//! Invariant: names are labels; an index is the identity.

pub mod bone_picking;
pub mod bone_segments;
pub mod bone_shape;
pub mod clip;
pub mod clip_builder;
pub mod clip_clean;
pub mod clip_edit;
pub mod clip_keys;
mod clip_pose;
pub mod constraint;
pub mod ik;
pub mod ik_limits;
pub mod joint;
pub mod joint_limits;
pub mod library_pose;
pub mod mirror;
pub mod moment;
pub mod orientation;
pub mod pose;
pub mod range_of_motion;
pub mod reframe;
pub mod resample;
pub mod rigid_interpolation;
pub mod screw;
mod slerp;
pub mod world_rotation;

pub use bone_segments::Bone;
pub use clip::{Channel, Clip, Interpolation, Property};
pub use clip_edit::KeyIndex;
pub use clip_keys::KeyMark;
pub use joint::{Joint, JointId, JointRule, Skeleton, SkeletonError};
pub use moment::{ClipId, Moment, PoseAt};
pub use pose::{KeyedInfluence, Pose};
pub use range_of_motion::RangeOfMotion;
pub use reframe::{Frame, Reframe, Stretch};
pub use rigid_interpolation::RigidInterpolation;
