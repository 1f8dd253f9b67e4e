//! Constraints of joints: the rules, and the list of each joint.

use super::limit::Cone;
use crate::skeleton::JointId;
use glam::DVec3;
use std::collections::BTreeMap;

/// The space in which a joint is copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Space {
    /// What the source's local transform differs from its rest transform.
    #[default]
    Local,
    /// The world.
    World,
}

/// How a joint follows others.
#[derive(Clone, Debug, PartialEq)]
pub enum Rule {
    /// The source's rotation. With an influence of 1/2: a half rotation.
    CopyRotation {
        /// The joint that is copied.
        source: JointId,
        /// Where.
        space: Space,
        /// In world space, whether the offset between the two rest rotations is kept.
        keeps_offset: bool,
    },
    /// The source's place in the world.
    CopyLocation {
        /// The joint that is copied.
        source: JointId,
        /// Whether the difference of both rest places is kept.
        keeps_offset: bool,
    },
    /// How the source's scale differs from its rest scale.
    CopyScale {
        /// The joint that is copied.
        source: JointId,
    },
    /// An axis points at another joint.
    Aim {
        /// The joint that it points at.
        target: JointId,
        /// The axis, unit, in the joint's own space.
        axis: DVec3,
        /// An axis across and where it points, in the world.
        up: Option<super::aim::Up>,
    },
    /// A share of the source's twist.
    TwistShare {
        /// The joint whose twist from rest is shared: the parent, or a sibling.
        source: JointId,
        /// The axis of the twist, unit, in the joint's own space.
        axis: DVec3,
        /// The share, -1 - 1.
        share: f64,
        /// The angle about which the twist is read without a jump, radians: it jumps half a turn away from here.
        centre: f64,
    },
    /// A range for each angle from rest, x first.
    LimitAngles([[f64; 2]; 3]),
    /// A cone from rest, with a range of twist.
    LimitCone(Cone),
    /// The joint reaches for another one; it and the two joints above it bend.
    ReachTwoBones {
        /// The joint whose place it reaches for.
        target: JointId,
        /// The joint that the elbow points at.
        pole: Option<JointId>,
        /// Part of the length before which the reach becomes soft, 0 - 0.2.
        softness: f64,
    },
    /// Inverse kinematics (FABRIK): the joint reaches for another one; the joints of `n_bones` bones above it rotate.
    ReachChain {
        /// The joint whose place it reaches for.
        target: JointId,
        /// Bones, 3 - 32.
        n_bones: usize,
    },
}

impl Rule {
    /// Its name in messages.
    pub fn label(&self) -> &'static str {
        match self {
            Self::CopyRotation { .. } => "Copy rotation",
            Self::CopyLocation { .. } => "Copy location",
            Self::CopyScale { .. } => "Copy scale",
            Self::Aim { .. } => "Aim",
            Self::TwistShare { .. } => "Twist share",
            Self::LimitAngles(_) => "Limit angles",
            Self::LimitCone(_) => "Limit cone",
            Self::ReachTwoBones { .. } | Self::ReachChain { .. } => "IK",
        }
    }

    /// How many joints above its own it bends.
    pub(super) fn n_bones(&self) -> usize {
        match self {
            Self::ReachTwoBones { .. } => 2,
            Self::ReachChain { n_bones, .. } => *n_bones,
            _ => 0,
        }
    }
}

/// A rule with its settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Constraint {
    /// The rule.
    pub rule: Rule,
    /// From 0, nothing, to 1, all of it.
    pub influence: f64,
    /// Whether it is switched off.
    pub is_muted: bool,
}

impl Constraint {
    /// A rule in full.
    pub fn new(rule: Rule) -> Self {
        Self {
            rule,
            influence: 1.0,
            is_muted: false,
        }
    }
}

/// The constraints of all joints; those of one joint act one after another.
pub type Constraints = BTreeMap<JointId, Vec<Constraint>>;
