//! Muscles as layers of a group of clusters: on which bones they lie, and the bend of those in a pose.

use super::main_child::main_child;
use super::procedural::{MuscleSettings, angle_from_bind, bone_angle};
use crate::skeleton::{JointId, Skeleton};
use glam::{DAffine3, DVec3};

/// A muscle beside the bone from one joint to another, which bulges as the second one bends.
#[derive(Clone, Debug, PartialEq)]
pub struct MuscleLayer {
    /// A label.
    pub name: String,
    /// The joint at the head of the muscle's bone.
    pub upper: JointId,
    /// The joint at its tail, whose bend counts.
    pub lower: JointId,
    /// The bulge; metres of the bind shape at the size of the world.
    pub settings: MuscleSettings,
    /// Whether it is left out.
    pub muted: bool,
}

impl MuscleLayer {
    /// Its bend.
    pub fn flexion(&self, skeleton: &Skeleton, rest_world: &[DAffine3]) -> Flexion {
        Flexion::new([self.upper, self.lower], skeleton, rest_world)
    }
}

/// The angle between two bones: from the first joint to the second, and from the second to the child that continues it, or
/// where it has none straight on in the rest pose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flexion {
    joints: [JointId; 2],
    /// The direction of the second bone in the space of its joint.
    along: DVec3,
    /// In the rest pose, radians.
    at_rest: f64,
}

impl Flexion {
    /// Of two joints. `rest_world`: n_joints world transforms of the rest pose.
    pub fn new(joints: [JointId; 2], skeleton: &Skeleton, rest_world: &[DAffine3]) -> Self {
        let place = |joint: JointId| {
            rest_world
                .get(joint.get())
                .map_or(DVec3::ZERO, |m| m.translation)
        };
        let [upper, lower] = joints;
        let child = main_child(skeleton, rest_world, lower);
        let straight = place(lower) - place(upper);
        let out = child.map_or(straight, |child| place(child) - place(lower));
        let rest = rest_world
            .get(lower.get())
            .copied()
            .unwrap_or(DAffine3::IDENTITY);
        let along = rest.matrix3.inverse() * if out == DVec3::ZERO { straight } else { out };
        let mut flexion = Self {
            joints,
            along,
            at_rest: 0.0,
        };
        flexion.at_rest = flexion.angle(rest_world);
        flexion
    }

    /// The bend from the rest pose, radians. `world`: n_joints world transforms of a pose. NaN where a bone has no length.
    pub fn bend(&self, world: &[DAffine3]) -> f64 {
        angle_from_bind(self.angle(world), self.at_rest)
    }

    /// The direction of the second bone in the space of the first joint, unit; `None` where a bone has no length.
    pub fn toward(&self, world: &[DAffine3]) -> Option<DVec3> {
        let [upper, lower] = self.joints.map(|joint| world.get(joint.get()));
        let along = lower?.matrix3 * self.along;
        (upper?.matrix3.inverse() * along).try_normalize()
    }

    fn angle(&self, world: &[DAffine3]) -> f64 {
        let [upper, lower] = self.joints.map(|joint| world.get(joint.get()));
        let (Some(upper), Some(lower)) = (upper, lower) else {
            return f64::NAN;
        };
        let first = lower.translation - upper.translation;
        bone_angle(first, lower.matrix3 * self.along, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Transform;
    use crate::skeleton::{Joint, Pose};
    use glam::DQuat;

    #[test]
    fn the_bend_is_that_of_the_second_joint_from_rest() {
        let joint = |parent: Option<u32>, x: f64, y: f64| {
            let rest = Transform::from_rotation_translation(DQuat::IDENTITY, DVec3::new(x, y, 0.0));
            Joint::new(String::new(), parent.map(JointId), rest)
        };
        // Bent by 45 degrees at rest; the last joint has no child.
        let joints = vec![
            joint(None, 1.0, 0.0),
            joint(Some(0), 2.0, 0.0),
            joint(Some(1), 1.0, 1.0),
        ];
        let skeleton = Skeleton::new(joints).unwrap();
        let rest = Pose::rest(&skeleton).world_matrices(&skeleton);
        let elbow = Flexion::new([JointId(0), JointId(1)], &skeleton, &rest);
        let wrist = Flexion::new([JointId(1), JointId(2)], &skeleton, &rest);
        assert_eq!((elbow.bend(&rest), wrist.bend(&rest)), (0.0, 0.0));
        for degrees in [10.0, 60.0, 90.0] {
            let mut pose = Pose::rest(&skeleton);
            let turn = DQuat::from_rotation_z(f64::to_radians(degrees));
            pose.locals[1].rotation = turn;
            let bend = elbow.bend(&pose.world_matrices(&skeleton)).to_degrees();
            assert!((bend - degrees).abs() < 1e-12, "{bend}");
            pose.locals[2].rotation = turn;
            let bend = wrist.bend(&pose.world_matrices(&skeleton)).to_degrees();
            assert!((bend - degrees).abs() < 1e-12, "{bend}");
            let toward = elbow.toward(&pose.world_matrices(&skeleton)).unwrap();
            let angle = f64::to_radians(degrees + 45.0);
            assert!(toward.abs_diff_eq(DVec3::new(angle.cos(), angle.sin(), 0.0), 1e-12));
        }
    }
}
