//! Constraints of joints: the rules, and the list of each joint.

use super::axes::CopiedAxes;
use super::euler::EulerOrder;
use super::limit::Cone;
use super::reach::MOST_BONES;
use crate::skeleton::{JointId, Skeleton};
use glam::{DQuat, DVec3};
use std::collections::{BTreeMap, BTreeSet};
use std::f64::consts::{PI, TAU};

/// The largest difference of the length of an axis from 1, and of the cosine of two that are across from 0.
const AXIS_TOLERANCE: f64 = 1e-6;
/// The largest softness of a reach.
pub const MOST_SOFTNESS: f64 = 0.2;

/// The space in which a joint is copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Space {
    /// That of the joint at rest. Of a rotation: how the source's local one differs from its rest rotation.
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
        /// About which axes: of the joint at rest, or of the world.
        axes: CopiedAxes,
    },
    /// The source's place in the world.
    CopyLocation {
        /// The joint that is copied.
        source: JointId,
        /// Whether the difference of both rest places is kept.
        keeps_offset: bool,
        /// Whether it is copied along x, y and z.
        axes: [bool; 3],
        /// Of which space these are: of the joint at rest, or of the world.
        space: Space,
    },
    /// How the source's scale differs from its rest scale.
    CopyScale {
        /// The joint that is copied.
        source: JointId,
        /// Whether it is copied along x, y and z of the joints.
        axes: [bool; 3],
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
    /// A range for each Euler angle from rest.
    LimitAngles {
        /// The smallest and largest angle about x, y and z, radians.
        ranges: [[f64; 2]; 3],
        /// The order of the angles.
        order: EulerOrder,
    },
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
    /// Its name in the window and in messages.
    pub fn label(&self) -> &'static str {
        match self {
            Self::CopyRotation { .. } => "Copy Rotation",
            Self::CopyLocation { .. } => "Copy Location",
            Self::CopyScale { .. } => "Copy Scale",
            Self::Aim { up: None, .. } => "Damped Track",
            Self::Aim { up: Some(_), .. } => "Track To",
            Self::TwistShare { .. } => "Twist Share",
            Self::LimitAngles { .. } => "Limit Rotation",
            Self::LimitCone(_) => "Limit Swing and Twist",
            Self::ReachTwoBones { .. } => "Two-Bone IK",
            Self::ReachChain { .. } => "Inverse Kinematics",
        }
    }

    /// The joints that it follows: the source or target, then the pole.
    pub fn sources(&self) -> impl Iterator<Item = JointId> + use<> {
        let (first, second) = match *self {
            Self::CopyRotation { source, .. }
            | Self::CopyLocation { source, .. }
            | Self::CopyScale { source, .. }
            | Self::TwistShare { source, .. } => (Some(source), None),
            Self::Aim { target, .. } | Self::ReachChain { target, .. } => (Some(target), None),
            Self::ReachTwoBones { target, pole, .. } => (Some(target), pole),
            Self::LimitAngles { .. } | Self::LimitCone(_) => (None, None),
        };
        first.into_iter().chain(second)
    }

    /// The same rule following `joint`; the pole stays.
    #[must_use]
    pub fn following(mut self, joint: JointId) -> Self {
        match &mut self {
            Self::CopyRotation { source: of, .. }
            | Self::CopyLocation { source: of, .. }
            | Self::CopyScale { source: of, .. }
            | Self::TwistShare { source: of, .. }
            | Self::Aim { target: of, .. }
            | Self::ReachChain { target: of, .. }
            | Self::ReachTwoBones { target: of, .. } => *of = joint,
            Self::LimitAngles { .. } | Self::LimitCone(_) => {}
        }
        self
    }

    /// Whether it gives a rotation of its own, so that with an influence below 1 it is blended with the rest rotation, or
    /// with the result of earlier constraints.
    pub fn gives_rotation(&self) -> bool {
        matches!(
            self,
            Self::CopyRotation { .. } | Self::Aim { .. } | Self::TwistShare { .. }
        )
    }

    /// Whether it gives the joint's axes what the source's axes of the same names do, so that both must keep their
    /// directions relative to each other.
    pub fn copies_axes(&self) -> bool {
        match self {
            Self::CopyRotation {
                space,
                keeps_offset,
                ..
            } => *space == Space::Local || !keeps_offset,
            Self::CopyScale { .. } => true,
            _ => false,
        }
    }

    /// Whether it copies about or along some axes of the joint's own alone, which must stay where they are.
    pub fn copies_some_axes(&self) -> bool {
        match self {
            Self::CopyRotation { axes, .. } => self.copies_axes() && !axes.is_all(),
            Self::CopyLocation {
                axes,
                space: Space::Local,
                ..
            }
            | Self::CopyScale { axes, .. } => *axes != [true; 3],
            _ => false,
        }
    }

    /// Whether it gives the same motion about another rest pose, in full and where that rest pose has it already.
    pub fn repeats_itself(&self) -> bool {
        match self {
            Self::CopyRotation { axes, .. } => axes.is_all(),
            Self::CopyLocation { .. } => !self.copies_some_axes(),
            Self::Aim { up: Some(_), .. }
            | Self::ReachTwoBones { .. }
            | Self::ReachChain { .. } => true,
            Self::CopyScale { .. }
            | Self::Aim { up: None, .. }
            | Self::TwistShare { .. }
            | Self::LimitAngles { .. }
            | Self::LimitCone(_) => false,
        }
    }

    /// The joints whose rest transforms a constraint of `joint` reads.
    pub fn reads_rest_of(&self, joint: JointId, skeleton: &Skeleton) -> BTreeSet<JointId> {
        let bent = skeleton.ancestors(joint).take(self.n_bones());
        let own = std::iter::once(joint).chain(bent);
        let above = |j: JointId| std::iter::once(j).chain(skeleton.ancestors(j));
        match *self {
            Self::CopyRotation {
                source,
                space: Space::World,
                keeps_offset: true,
                ..
            }
            | Self::CopyLocation {
                source,
                keeps_offset: true,
                ..
            } => above(joint).chain(above(source)).collect(),
            Self::CopyRotation {
                source,
                space: Space::Local,
                ..
            }
            | Self::CopyScale { source, .. }
            | Self::TwistShare { source, .. } => [joint, source].into(),
            _ => own.collect(),
        }
    }

    /// How many joints above its own it bends.
    pub fn n_bones(&self) -> usize {
        match self {
            Self::ReachTwoBones { .. } => 2,
            Self::ReachChain { n_bones, .. } => *n_bones,
            _ => 0,
        }
    }

    /// The rule with the axes that it has in the joint's own space rotated by `by`, as when that space turns.
    #[must_use]
    pub fn with_axes_rotated(mut self, by: DQuat) -> Self {
        match &mut self {
            Self::Aim { axis, up, .. } => {
                *axis = by * *axis;
                if let Some(up) = up {
                    up.axis = by * up.axis;
                }
            }
            Self::TwistShare { axis, .. } => *axis = by * *axis,
            Self::LimitCone(cone) => {
                cone.axis = by * cone.axis;
                cone.side = by * cone.side;
            }
            _ => {}
        }
        self
    }

    /// Checks that `joint` can have the rule; the error is the end of a sentence.
    fn check(&self, joint: JointId, skeleton: &Skeleton) -> Result<(), String> {
        for source in self.sources() {
            if !skeleton.is_live(source) {
                return Err("the bone that it follows is not in the model".into());
            }
            if source == joint {
                return Err("a bone cannot follow itself".into());
            }
        }
        let is_unit = |axis: DVec3| (axis.length() - 1.0).abs() < AXIS_TOLERANCE;
        let is_range = |[low, high]: [f64; 2]| {
            low <= high && low.is_finite() && high.is_finite() && low >= -TAU && high <= TAU
        };
        let good = match self {
            Self::CopyRotation { .. } | Self::CopyLocation { .. } | Self::CopyScale { .. } => true,
            Self::Aim { axis, up, .. } => {
                let is_across = |up: super::aim::Up| axis.dot(up.axis).abs() < AXIS_TOLERANCE;
                let is_side = |up: super::aim::Up| is_unit(up.axis) && up.direction.is_finite();
                is_unit(*axis) && up.is_none_or(|up| is_side(up) && is_across(up))
            }
            Self::TwistShare {
                axis,
                share,
                centre,
                ..
            } => is_unit(*axis) && share.abs() <= 1.0 && centre.abs() <= TAU,
            Self::LimitAngles { ranges, .. } => ranges.iter().all(|range| is_range(*range)),
            Self::LimitCone(cone) => {
                let is_angle = |angle: f64| angle > 0.0 && angle <= PI;
                is_unit(cone.axis)
                    && is_unit(cone.side)
                    && cone.axis.dot(cone.side).abs() < AXIS_TOLERANCE
                    && cone.half_angles.into_iter().all(is_angle)
                    && is_range(cone.twist)
            }
            Self::ReachTwoBones { softness, .. } => (0.0..=MOST_SOFTNESS).contains(softness),
            Self::ReachChain { n_bones, .. } => (2..=MOST_BONES).contains(n_bones),
        };
        if !good {
            return Err("one of its numbers is out of its range".into());
        }
        let n_above = skeleton.ancestors(joint).take(self.n_bones()).count();
        if n_above < self.n_bones() {
            return Err(format!(
                "it bends {} bones, but only {n_above} are above",
                self.n_bones()
            ));
        }
        Ok(())
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
    /// The number by which channels of clips animate its influence ([`crate::skeleton::Property::Influence`]); `None` until
    /// one does.
    pub keyed_as: Option<u16>,
}

impl Constraint {
    /// A rule in full.
    pub fn new(rule: Rule) -> Self {
        Self {
            rule,
            influence: 1.0,
            is_muted: false,
            keyed_as: None,
        }
    }

    /// Whether it changes poses: it is not muted, and its influence is above 0 or can be animated.
    pub fn acts(&self) -> bool {
        !self.is_muted && (self.influence > 0.0 || self.keyed_as.is_some())
    }

    /// Checks that `joint` of `skeleton` can have it; the error is the end of a sentence.
    pub fn check(&self, joint: JointId, skeleton: &Skeleton) -> Result<(), String> {
        if !(0.0..=1.0).contains(&self.influence) {
            return Err("its influence is not 0 - 1".into());
        }
        self.rule.check(joint, skeleton)
    }
}

/// The constraints of all joints; those of one joint act one after another, reaches last.
pub type Constraints = BTreeMap<JointId, Vec<Constraint>>;
