//! A motion of one skeleton on another.
//!
//! Data flow: a [`Take`](super::Take) and the roles of both skeletons ([`super::roles`]) -> [`Mapping`] -> [`Retarget`]: up axis, reference
//! pose and heading (`reference`), the spine by its length (`spine`), hips and scale (`travel`) -> the local pose of the
//! target at each frame -> resting feet held (`lock`) -> a clip with few keys (`bake`).
//!
//! With the world rotation G_s(t) of a source joint, G_s^k at the reference pose, and G_t^0 of the target at rest:
//! `Delta(t) = G_s(t) (G_s^k)^-1` and `G_t(t) = Delta(t) S G_t^0`, where S takes the direction of the target's bone at rest to
//! that of the source's at the reference: every mapped bone of a limb then points as the source's, whatever the reference,
//! which decides only the roll.
//!
//! Chains (`chain`) take the place of a body, or move what it has besides.
//!
//! Invariant: a bone keeps its length unless stretch is kept (`stretch`); only the hips move, or the skeleton's root (`root`).

mod arc;
mod bake;
mod chain;
mod drive;
mod drives;
mod ghost;
mod hand;
mod leg;
mod lock;
mod mapping;
mod moved;
mod reference;
mod report;
mod root;
mod settings;
mod sides;
mod spine;
mod stretch;
mod target;
mod travel;

pub use bake::{BakeOptions, Baked, KeyReport};
pub use ghost::Ghost;
pub use lock::FootLock;
pub use mapping::Mapping;
pub use moved::RootMotion;
pub use reference::{Reference, ReferencePose};
pub use report::RetargetReport;
pub use settings::{BodyMotion, MotionSettings, RoleSearch};
pub use target::{Retarget, RetargetPose};
pub use travel::{Scale, Travel};

use super::roles::RolesFault;

/// How a motion is put on another skeleton.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RetargetOptions {
    /// The pose of the source that the target's rest pose corresponds to.
    pub reference: Reference,
    /// Whether the motion keeps its recorded heading; else it begins as the target faces.
    pub keeps_heading: bool,
    /// The size of the target's steps.
    pub scale: Scale,
    /// How much of the root motion to keep.
    pub travel: Travel,
    /// Which joint travels.
    pub root: RootMotion,
    /// Whether joints that change their distance from their parents do so on the target.
    pub keeps_stretch: bool,
}

/// Why a motion cannot be put on a skeleton.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RetargetError {
    /// The roles of the source make no body.
    #[error("the motion: {0}")]
    Source(RolesFault),
    /// The roles of the target make no body.
    #[error("the character: {0}")]
    Target(RolesFault),
    /// There are no frames.
    #[error("the motion has no frames, only a rest pose")]
    NoFrames,
    /// A frame is out of range.
    #[error("the reference is frame {frame}, the motion has {n_frames} frames, counted from 0")]
    NoFrame {
        /// The frame.
        frame: usize,
        /// The number of frames.
        n_frames: usize,
    },
    /// The legs of one of them have no length.
    #[error("the legs of {0} have no length, so that no scale can be found: give one")]
    NoLegs(&'static str),
    /// Chains have no length.
    #[error("the chains are points, so that no scale can be found: give one")]
    NoChains,
    /// Chains of flat skeletons hang on each other.
    #[error(
        "the chains of the character hang on each other in a circle: give the bones from the root outward"
    )]
    Circle,
    /// The scale is not above 0.
    #[error("the scale {0} is not above 0")]
    Scale(f64),
}
