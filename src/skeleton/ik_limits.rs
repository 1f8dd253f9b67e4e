//! Rotation limits in two-bone inverse kinematics.

use super::ik::Chain;
use super::joint_limits::ChainLimits;
use super::{Pose, Skeleton};
use glam::DVec3;

/// Maximum iterations of a chain whose rotation limits keep it from its target.
const LIMITED_ROUNDS: usize = 16;

impl Chain {
    /// The rotation limits of its root and mid joint.
    pub fn limits(&self, skeleton: &Skeleton) -> ChainLimits {
        [self.root, self.mid].map(|joint| skeleton.joint(joint).rule.limits)
    }

    /// `limits` of its root and mid joint, as wide as `pose` needs: both are within them there.
    pub fn limits_with(
        &self,
        skeleton: &Skeleton,
        limits: ChainLimits,
        pose: &Pose,
    ) -> ChainLimits {
        let [root, mid] = limits;
        [(self.root, root), (self.mid, mid)].map(|(joint, limits)| {
            let rotation = pose.locals[joint.get()].rotation;
            Some(limits?.with(rotation, &skeleton.joint(joint).rest))
        })
    }

    /// Clamps root and mid joint to `limits`. Where that changed them, the root aims the end at `target`, and both
    /// bend again, as long as this brings the end closer. `gap`: the distance before; returns the distance after.
    pub(super) fn hold_limits(
        &self,
        skeleton: &Skeleton,
        pose: &mut Pose,
        target: DVec3,
        gap: f64,
        limits: ChainLimits,
    ) -> f64 {
        let joints = [self.root, self.mid];
        let clamp = |pose: &mut Pose| {
            [0, 1].map(|i| pose.clamp_rotation_to(skeleton, joints[i], limits[i]))
        };
        let gap_of = |pose: &Pose| self.positions(skeleton, pose).end.distance(target);
        if clamp(pose) == [false; 2] {
            return gap;
        }
        let mut held = gap_of(pose);
        for round in 0..LIMITED_ROUNDS {
            let before = joints.map(|j| pose.locals[j.get()].rotation);
            if round > 0 {
                self.bend(skeleton, pose, target, |_, _| None);
                clamp(pose);
            }
            self.aim(skeleton, pose, target);
            clamp(pose);
            let gap = gap_of(pose);
            // A step that does not bring the end closer is rejected.
            if gap >= held || gap.is_nan() {
                for (joint, rotation) in joints.iter().zip(before) {
                    pose.locals[joint.get()].rotation = rotation;
                }
                if round > 0 {
                    break;
                }
            } else {
                held = gap;
            }
        }
        held
    }
}
