//! The types of the project format for constraints of joints.

use super::joints::{JointKey, JointRef};
use super::types::{EulerOrder, is_default};
use serde::{Deserialize, Serialize};

/// The constraints of one joint, in the order in which they act.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ConstraintsEntry {
    pub(super) joint: JointKey,
    pub(super) name: String,
    /// Empty where the source has some and the user removed them.
    pub(super) list: Vec<ConstraintEntry>,
}

/// A constraint of a list that its joint cannot have in the present model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct KeptConstraint {
    pub(super) joint: JointKey,
    pub(super) name: String,
    /// Its index in the list.
    pub(super) position: usize,
    pub(super) constraint: ConstraintEntry,
}

/// A constraint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ConstraintEntry {
    pub(super) rule: RuleOfConstraint,
    /// 0 - 1; omitted where it is 1.
    #[serde(default = "all", skip_serializing_if = "is_all")]
    pub(super) influence: f64,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) muted: bool,
    /// The number by which channels of clips animate its influence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) keyed_as: Option<u16>,
}

/// How a joint follows others. Angles are radians; axes are in the joint's own space.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename = "Constraint")]
pub(super) enum RuleOfConstraint {
    CopyRotation {
        source: JointRef,
        /// In the world instead of the joints' own spaces.
        #[serde(default, skip_serializing_if = "is_default")]
        world: bool,
        keep_offset: bool,
        /// Whether it is copied about x, y and z.
        #[serde(default = "all_axes", skip_serializing_if = "is_all_axes")]
        axes: (bool, bool, bool),
        /// About which of them it is reversed.
        #[serde(default, skip_serializing_if = "is_default")]
        inverted: (bool, bool, bool),
        /// The order of the angles.
        #[serde(default, skip_serializing_if = "is_default")]
        order: EulerOrder,
    },
    CopyLocation {
        source: JointRef,
        keep_offset: bool,
        /// Whether it is copied along x, y and z.
        #[serde(default = "all_axes", skip_serializing_if = "is_all_axes")]
        axes: (bool, bool, bool),
        /// Whether these are the axes of the joint at rest instead of the world's.
        #[serde(default, skip_serializing_if = "is_default")]
        local: bool,
    },
    CopyScale {
        source: JointRef,
        /// Whether it is copied along x, y and z.
        #[serde(default = "all_axes", skip_serializing_if = "is_all_axes")]
        axes: (bool, bool, bool),
    },
    Aim {
        target: JointRef,
        axis: (f64, f64, f64),
        #[serde(default, skip_serializing_if = "Option::is_none")]
        up: Option<UpEntry>,
    },
    TwistShare {
        source: JointRef,
        axis: (f64, f64, f64),
        share: f64,
        #[serde(default, skip_serializing_if = "is_default")]
        centre: f64,
    },
    LimitRotation {
        x: (f64, f64),
        y: (f64, f64),
        z: (f64, f64),
        /// The order of the angles.
        #[serde(default, skip_serializing_if = "is_default")]
        order: EulerOrder,
    },
    LimitSwingAndTwist {
        axis: (f64, f64, f64),
        side: (f64, f64, f64),
        half_angles: (f64, f64),
        twist: (f64, f64),
    },
    TwoBoneIk {
        target: JointRef,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pole: Option<JointRef>,
        #[serde(default, skip_serializing_if = "is_default")]
        softness: f64,
    },
    ChainIk {
        target: JointRef,
        bones: u32,
    },
}

impl RuleOfConstraint {
    /// The name of the rule, as of [`crate::skeleton::constraint::Rule`].
    pub(super) fn label(&self) -> &'static str {
        match self {
            Self::CopyRotation { .. } => "Copy Rotation",
            Self::CopyLocation { .. } => "Copy Location",
            Self::CopyScale { .. } => "Copy Scale",
            Self::Aim { up: None, .. } => "Damped Track",
            Self::Aim { up: Some(_), .. } => "Track To",
            Self::TwistShare { .. } => "Twist Share",
            Self::LimitRotation { .. } => "Limit Rotation",
            Self::LimitSwingAndTwist { .. } => "Limit Swing and Twist",
            Self::TwoBoneIk { .. } => "Two-Bone IK",
            Self::ChainIk { .. } => "Inverse Kinematics",
        }
    }
}

/// An axis of a joint that aims, and where it points in the world.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UpEntry {
    pub(super) axis: (f64, f64, f64),
    pub(super) direction: (f64, f64, f64),
}

/// The influence that is omitted.
pub(super) fn all() -> f64 {
    1.0
}

fn all_axes() -> (bool, bool, bool) {
    (true, true, true)
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature that serde expects"
)]
fn is_all_axes(axes: &(bool, bool, bool)) -> bool {
    *axes == all_axes()
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature that serde expects"
)]
fn is_all(influence: &f64) -> bool {
    influence.to_bits() == 1f64.to_bits()
}
