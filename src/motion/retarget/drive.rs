//! Where the rotation of a character's joint comes from.

use super::spine::SpineJoint;
use glam::{DQuat, DVec3};

/// Where a joint's rotation comes from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Drive {
    /// A joint of the source, and what takes the target's rest to the reference.
    Joint(usize, DQuat),
    /// Two joints of the source's spine or of a chain, and the same.
    Between(SpineJoint, DQuat),
    /// A share of the twist of a hand against its forearm.
    Twist(TwistJoint),
}

/// A joint of the target that takes a share of a twist.
#[derive(Clone, Copy, Debug)]
pub(super) struct TwistJoint {
    pub(super) forearm: usize,
    pub(super) hand: usize,
    /// Along the forearm at rest, world, of unit length.
    pub(super) axis: DVec3,
    /// 0 at the elbow, 1 at the wrist.
    pub(super) share: f64,
}

impl TwistJoint {
    /// The turn against the forearm. `between`: from the forearm to the hand, both from their rest poses, world axes at rest.
    pub(super) fn turn(&self, between: DQuat) -> DQuat {
        let between = if between.w < 0.0 { -between } else { between };
        let along = between.xyz().dot(self.axis);
        let angle = 2.0 * along.atan2(between.w);
        DQuat::from_axis_angle(self.axis, self.share * angle)
    }
}
