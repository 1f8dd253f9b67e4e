//! Muscles as layers of a group of clusters: on which bones they lie, and the bend of those in a pose.

use super::main_child::main_child;
use super::procedural::{MuscleSettings, angle_from_bind, bone_angle};
use crate::skeleton::{JointId, Skeleton};
use glam::{DAffine3, DVec3};

/// The sine of the angle to the bone below which a direction has no side.
const ALONG: f64 = 1e-3;

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
///
/// Its sign follows from a side of the limb alone, never from the axis that a file gives the joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flexion {
    joints: [JointId; 2],
    /// The direction of the second bone in the space of its joint.
    along: DVec3,
    /// Both bones in the rest pose, in the space of the first joint.
    rest: [DVec3; 2],
    /// The axis about which a flexion is positive, in the space of the first joint, unit.
    hinge: Option<DVec3>,
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
            rest: [DVec3::ZERO; 2],
            hinge: None,
            at_rest: f64::NAN,
        };
        flexion.rest = flexion.bones(rest_world).unwrap_or_default();
        // As a pose is measured: exactly 0 in the rest pose.
        flexion.at_rest = flexion.angle(rest_world);
        flexion
    }

    /// The flexion whose bends to a side count as positive, those away from it as negative. `side`: in the space of the first
    /// joint, of any length. Where it points along the bone every bend counts as positive.
    #[must_use]
    pub fn toward_side(self, side: DVec3) -> Self {
        let [first, second] = self.rest;
        let axis = first.normalize_or_zero().cross(side);
        let is_across = axis.length() > ALONG * side.length();
        match axis.try_normalize().filter(|_| is_across) {
            Some(axis) => Self {
                hinge: Some(axis),
                at_rest: bone_angle(first, second, Some(axis)),
                ..self
            },
            None => self,
        }
    }

    /// The bend from the rest pose, radians; with a side, below 0 away from it. `world`: n_joints world transforms of a pose.
    /// NaN where a bone has no length.
    pub fn bend(&self, world: &[DAffine3]) -> f64 {
        angle_from_bind(self.angle(world), self.at_rest)
    }

    /// The direction of the second bone in the space of the first joint, unit; `None` where a bone has no length.
    pub fn toward(&self, world: &[DAffine3]) -> Option<DVec3> {
        self.bones(world)?[1].try_normalize()
    }

    /// Both bones in the space of the first joint.
    fn bones(&self, world: &[DAffine3]) -> Option<[DVec3; 2]> {
        let [upper, lower] = self.joints.map(|joint| world.get(joint.get()));
        let (upper, lower) = (upper?, lower?);
        let to_joint = upper.matrix3.inverse();
        let first = lower.translation - upper.translation;
        Some([first, lower.matrix3 * self.along].map(|bone| to_joint * bone))
    }

    fn angle(&self, world: &[DAffine3]) -> f64 {
        if self.hinge.is_some() {
            let bones = self.bones(world);
            return bones.map_or(f64::NAN, |[a, b]| bone_angle(a, b, self.hinge));
        }
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

    /// A straight elbow along x whose lower joint has its own frame, as files have it, bent by `turn` in the space of the upper
    /// joint.
    fn elbow(frame: DQuat, turn: DQuat, side: Option<DVec3>) -> f64 {
        let joint = |parent: Option<u32>, rotation: DQuat, place: DVec3| {
            let rest = Transform::from_rotation_translation(rotation, place);
            Joint::new(String::new(), parent.map(JointId), rest)
        };
        let skeleton = Skeleton::new(vec![
            joint(None, DQuat::IDENTITY, DVec3::ZERO),
            joint(Some(0), frame, DVec3::X),
            joint(Some(1), DQuat::IDENTITY, frame.inverse() * DVec3::X),
        ])
        .unwrap();
        let rest = Pose::rest(&skeleton).world_matrices(&skeleton);
        let mut flexion = Flexion::new([JointId(0), JointId(1)], &skeleton, &rest);
        if let Some(side) = side {
            flexion = flexion.toward_side(side);
        }
        assert_eq!(flexion.bend(&rest), 0.0);
        let mut pose = Pose::rest(&skeleton);
        pose.locals[1].rotation = turn * frame;
        flexion.bend(&pose.world_matrices(&skeleton)).to_degrees()
    }

    #[test]
    fn the_sign_is_that_of_the_side_whatever_axes_the_file_has() {
        let frames = [
            DQuat::IDENTITY,
            DQuat::from_rotation_x(std::f64::consts::PI),
            DQuat::from_rotation_z(std::f64::consts::PI),
            DQuat::from_rotation_y(1.0) * DQuat::from_rotation_x(2.0),
        ];
        for frame in frames {
            for degrees in [-100.0, -30.0, 20.0, 140.0] {
                let turn = DQuat::from_rotation_z(f64::to_radians(degrees));
                // Towards y, not unit, and not quite across the bone.
                let up = elbow(frame, turn, Some(DVec3::new(0.4, 3.0, 0.0)));
                assert!((up - degrees).abs() < 1e-9, "{up} {degrees}");
                let down = elbow(frame, turn, Some(DVec3::NEG_Y));
                assert!((down + degrees).abs() < 1e-9, "{down} {degrees}");
                let any = elbow(frame, turn, None);
                assert!((any - degrees.abs()).abs() < 1e-9, "{any} {degrees}");
                let along = elbow(frame, turn, Some(DVec3::X));
                assert!((along - any).abs() < 1e-12);
            }
        }
    }
}
