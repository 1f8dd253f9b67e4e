//! Evaluates constraints over a pose.

use super::aim::aim;
use super::kind::{Constraint, Constraints, Rule, Space};
use super::limit::limit_euler;
use super::order::{Cycle, Order, Step, chain};
use super::reach::{MOST_ROUNDS, REACHED, reach_chain, soft_distance};
use super::swing_twist::twist_angle;
use crate::math::transform::normalize_or_identity;
use crate::skeleton::ik::{TwoBone, rotate_in_world};
use crate::skeleton::orientation::{orientation, parent_world_of, world_of};
use crate::skeleton::slerp::slerp_shortest;
use crate::skeleton::{JointId, Pose, Skeleton};
use glam::{DAffine3, DMat3, DQuat, DVec3};
use std::f64::consts::TAU;

/// A scale of 0 counts as this.
const LEAST_SCALE: f64 = 1e-9;

/// Constraints of a skeleton in their order.
///
/// A pure function of the pose: the same pose gives the same bits, whether a clip is scrubbed, played or baked.
#[derive(Clone, Debug)]
pub struct Evaluator<'a> {
    skeleton: &'a Skeleton,
    constraints: &'a Constraints,
    rest: Pose,
    rest_world: Vec<DAffine3>,
    order: Order,
}

impl<'a> Evaluator<'a> {
    /// The constraints of a skeleton; fails where they form a cycle.
    pub fn new(skeleton: &'a Skeleton, constraints: &'a Constraints) -> Result<Self, Cycle> {
        let rest = Pose::rest(skeleton);
        Ok(Self {
            order: Order::new(skeleton, constraints)?,
            rest_world: rest.world_matrices(skeleton),
            rest,
            skeleton,
            constraints,
        })
    }

    /// Applies all constraints to a pose, each after all that it depends on; those of one joint in the order of its list,
    /// reaches last.
    pub fn apply(&self, pose: &mut Pose) {
        for &step in &self.order.steps {
            match step {
                Step::World(_) => {}
                Step::Local(joint) => {
                    let list = self.constraints.get(&joint).into_iter().flatten();
                    for constraint in list.filter(|c| !c.is_muted) {
                        self.apply_to_joint(pose, joint, constraint);
                    }
                }
                Step::Reach(joint, i) => {
                    if let Some(constraint) = self.constraints.get(&joint).and_then(|l| l.get(i)) {
                        self.reach(pose, joint, constraint);
                    }
                }
            }
        }
    }

    fn apply_to_joint(&self, pose: &mut Pose, joint: JointId, constraint: &Constraint) {
        let Constraint {
            rule, influence, ..
        } = constraint;
        let rest = &self.rest.locals[joint.get()];
        let now = pose.locals[joint.get()];
        let parent = || parent_world_of(self.skeleton, pose, joint);
        let local = |joint: JointId| (&self.rest.locals[joint.get()], &pose.locals[joint.get()]);
        let rotation = match *rule {
            Rule::CopyRotation {
                source,
                space: Space::Local,
                ..
            } => {
                let (was, is) = local(source);
                rest.rotation * (was.rotation.conjugate() * is.rotation)
            }
            Rule::CopyRotation {
                source,
                keeps_offset,
                ..
            } => {
                let is = orientation(world_of(self.skeleton, pose, source).matrix3);
                let above = orientation(parent().matrix3).transpose();
                let turned = if keeps_offset {
                    let was = orientation(self.rest_world[source.get()].matrix3);
                    let own = orientation(self.rest_world[joint.get()].matrix3);
                    above * is * was.transpose() * own
                } else {
                    above * is
                };
                proper(turned)
            }
            Rule::TwistShare {
                source,
                axis,
                share,
                centre,
            } => {
                let (was, is) = local(source);
                let turn = if self.skeleton.joint(joint).parent == Some(source) {
                    was.rotation.conjugate() * is.rotation
                } else {
                    let own = rest.rotation;
                    own.conjugate() * (is.rotation * was.rotation.conjugate()) * own
                };
                let angle = twist_angle(turn, axis);
                let angle = angle - TAU * ((angle - centre) / TAU).round();
                rest.rotation * DQuat::from_axis_angle(axis, angle * share)
            }
            Rule::Aim { target, axis, up } => {
                let above = orientation(parent().matrix3);
                let at = world_of(self.skeleton, pose, joint).translation;
                let there = world_of(self.skeleton, pose, target).translation;
                let into = above.transpose();
                // In the parent's space, so that mirrored parents need no other rule.
                let up = up.map(|up| super::aim::Up {
                    direction: into * up.direction,
                    ..up
                });
                aim(rest.rotation, axis, into * (there - at), up)
            }
            Rule::LimitAngles(ranges) => {
                let turn = rest.rotation.conjugate() * now.rotation;
                rest.rotation * limit_euler(turn, ranges)
            }
            Rule::LimitCone(cone) => {
                let turn = rest.rotation.conjugate() * now.rotation;
                rest.rotation * cone.limit(turn)
            }
            Rule::CopyLocation {
                source,
                keeps_offset,
            } => {
                let place = |j: JointId| self.rest_world[j.get()].translation;
                let offset = if keeps_offset {
                    place(joint) - place(source)
                } else {
                    DVec3::ZERO
                };
                let above = self.skeleton.joint(joint).parent;
                let above = above.map_or(DAffine3::IDENTITY, |parent| {
                    world_of(self.skeleton, pose, parent)
                });
                let there = world_of(self.skeleton, pose, source).translation + offset;
                let wanted = above.inverse().transform_point3(there);
                if wanted.is_finite() {
                    pose.locals[joint.get()].translation = now.translation.lerp(wanted, *influence);
                }
                return;
            }
            Rule::CopyScale { source } => {
                let (was, is) = local(source);
                let floor = |s: DVec3| {
                    s.map(|s| {
                        if s.abs() < LEAST_SCALE {
                            LEAST_SCALE
                        } else {
                            s
                        }
                    })
                };
                let ratio = floor(is.scale()) / floor(was.scale());
                let factor = ratio.map(|r| r.abs().powf(*influence).copysign(r));
                pose.locals[joint.get()].stretch = now.stretch * DMat3::from_diagonal(factor);
                return;
            }
            Rule::ReachTwoBones { .. } | Rule::ReachChain { .. } => return,
        };
        pose.locals[joint.get()].rotation = slerp_shortest(now.rotation, rotation, *influence);
    }

    fn reach(&self, pose: &mut Pose, end: JointId, constraint: &Constraint) {
        let n_bones = constraint.rule.n_bones();
        let mut joints = chain(self.skeleton, end, n_bones);
        if joints.len() <= n_bones {
            return;
        }
        joints.reverse();
        let place = |pose: &Pose, joint: JointId| world_of(self.skeleton, pose, joint).translation;
        let mut places: Vec<DVec3> = joints.iter().map(|&j| place(pose, j)).collect();
        let before: Vec<_> = joints.iter().map(|j| pose.locals[j.get()]).collect();
        match constraint.rule {
            Rule::ReachTwoBones {
                target,
                pole,
                softness,
            } => {
                let positions = TwoBone {
                    root: places[0],
                    mid: places[1],
                    end: places[2],
                };
                let length = places[0].distance(places[1]) + places[1].distance(places[2]);
                let pull = place(pose, target) - places[0];
                let soft = soft_distance(pull.length(), length, softness * length);
                let target = places[0] + pull.normalize_or_zero() * soft;
                let reached = positions.reach(target, pole.map(|pole| place(pose, pole)));
                rotate_in_world(self.skeleton, pose, joints[0], reached.root_rotation);
                let bend = reached.mid_rotation * reached.root_rotation.inverse();
                rotate_in_world(self.skeleton, pose, joints[1], bend);
            }
            Rule::ReachChain { target, .. } => {
                let target = place(pose, target);
                reach_chain(&mut places, target, REACHED, MOST_ROUNDS);
                for i in 0..joints.len() - 1 {
                    // The shortest arc keeps the roll.
                    let from = place(pose, joints[i + 1]) - place(pose, joints[i]);
                    let to = places[i + 1] - places[i];
                    if let (Some(from), Some(to)) = (from.try_normalize(), to.try_normalize()) {
                        let arc = DQuat::from_rotation_arc(from, to);
                        rotate_in_world(self.skeleton, pose, joints[i], arc);
                    }
                }
            }
            _ => return,
        }
        for (joint, before) in joints.iter().zip(before) {
            let local = &mut pose.locals[joint.get()];
            local.rotation = slerp_shortest(before.rotation, local.rotation, constraint.influence);
        }
    }
}

/// The rotation of an orthonormal matrix; of one that mirrors, with x negated.
fn proper(matrix: DMat3) -> DQuat {
    let matrix = if matrix.determinant() < 0.0 {
        matrix * DMat3::from_diagonal(DVec3::new(-1.0, 1.0, 1.0))
    } else {
        matrix
    };
    normalize_or_identity(DQuat::from_mat3(&matrix))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Transform;
    use crate::skeleton::Joint;

    /// An arm along x with a hand, and a target: root 0, elbow 1, hand 2, target 3, helper 4 (child of the elbow).
    fn arm() -> Skeleton {
        let at = |x: f64, y: f64| Transform {
            translation: DVec3::new(x, y, 0.0),
            ..Transform::IDENTITY
        };
        let joint = |name: &str, parent: Option<u32>, rest: Transform| {
            Joint::new(name, parent.map(JointId), rest)
        };
        Skeleton::new(vec![
            joint("arm", None, at(0.0, 0.0)),
            joint("elbow", Some(0), at(1.0, 0.0)),
            joint("hand", Some(1), at(0.8, 0.0)),
            joint("target", None, at(1.2, 0.9)),
            joint("helper", Some(1), at(0.4, 0.0)),
        ])
        .unwrap()
    }

    fn applied(constraints: &[(u32, Rule, f64)], pose: &Pose) -> Pose {
        let skeleton = arm();
        let mut all = Constraints::new();
        for (joint, rule, influence) in constraints {
            all.entry(JointId(*joint)).or_default().push(Constraint {
                influence: *influence,
                ..Constraint::new(rule.clone())
            });
        }
        let mut pose = pose.clone();
        let evaluator = Evaluator::new(&skeleton, &all).unwrap();
        evaluator.apply(&mut pose);
        let mut again = pose.clone();
        again.locals.clone_from(&pose.locals);
        assert_eq!(again, pose);
        pose
    }

    fn place(pose: &Pose, joint: u32) -> DVec3 {
        world_of(&arm(), pose, JointId(joint)).translation
    }

    #[test]
    fn helpers_share_what_the_hand_turns() {
        let mut pose = Pose::rest(&arm());
        pose.locals[2].rotation = DQuat::from_rotation_x(1.0);
        let twist = Rule::TwistShare {
            source: JointId(2),
            axis: DVec3::X,
            share: 0.5,
            centre: 0.0,
        };
        let turned = applied(&[(4, twist.clone(), 1.0)], &pose);
        let half = DQuat::from_rotation_x(0.5);
        assert!(turned.locals[4].rotation.abs_diff_eq(half, 1e-12));
        // The same by half of a copied rotation.
        let copy = Rule::CopyRotation {
            source: JointId(2),
            space: Space::Local,
            keeps_offset: true,
        };
        let turned = applied(&[(4, copy, 0.5)], &pose);
        assert!(turned.locals[4].rotation.abs_diff_eq(half, 1e-12));
        // About a centre it reads past the half turn.
        pose.locals[2].rotation = DQuat::from_rotation_x(190f64.to_radians());
        let centred = Rule::TwistShare {
            source: JointId(2),
            axis: DVec3::X,
            share: 0.5,
            centre: 1.0,
        };
        let turned = applied(&[(4, centred, 1.0)], &pose);
        let expected = DQuat::from_rotation_x(95f64.to_radians());
        assert!(turned.locals[4].rotation.abs_diff_eq(expected, 1e-9));
    }

    #[test]
    fn an_arm_reaches_with_both_kinds_of_reach() {
        let pose = Pose::rest(&arm());
        let bones = Rule::ReachTwoBones {
            target: JointId(3),
            pole: None,
            softness: 0.0,
        };
        let reached = applied(&[(2, bones.clone(), 1.0)], &pose);
        assert!(place(&reached, 2).distance(DVec3::new(1.2, 0.9, 0.0)) < 1e-9);
        let chain = Rule::ReachChain {
            target: JointId(3),
            n_bones: 2,
        };
        let mut bent = pose.clone();
        bent.locals[1].rotation = DQuat::from_rotation_z(0.4);
        let reached = applied(&[(2, chain, 1.0)], &bent);
        let gap = place(&reached, 2).distance(DVec3::new(1.2, 0.9, 0.0));
        assert!(gap < 2.0 * 1.8e-4, "{gap}");
        // A helper sees the elbow that the reach bent.
        let aim_at = Rule::Aim {
            target: JointId(3),
            axis: DVec3::X,
            up: None,
        };
        let reached = applied(&[(2, bones.clone(), 1.0), (4, aim_at, 1.0)], &pose);
        let helper = world_of(&arm(), &reached, JointId(4));
        let to = (place(&reached, 3) - helper.translation).normalize_or_zero();
        assert!(helper.matrix3.x_axis.distance(to) < 1e-9);
        assert_eq!(applied(&[(2, bones, 0.0)], &pose), pose);
    }

    #[test]
    fn places_scales_and_world_rotations_are_copied() {
        let mut pose = Pose::rest(&arm());
        pose.locals[3].rotation = DQuat::from_rotation_z(0.7);
        pose.locals[3].stretch = DMat3::from_diagonal(DVec3::new(4.0, 1.0, 1.0));
        pose.locals[0].rotation = DQuat::from_rotation_y(0.3);
        let location = Rule::CopyLocation {
            source: JointId(3),
            keeps_offset: false,
        };
        let made = applied(&[(4, location, 1.0)], &pose);
        assert!(place(&made, 4).distance(place(&made, 3)) < 1e-12);
        let scale = Rule::CopyScale { source: JointId(3) };
        let made = applied(&[(4, scale, 0.5)], &pose);
        assert!((made.locals[4].scale().x - 2.0).abs() < 1e-12);
        for keeps_offset in [false, true] {
            let rotation = Rule::CopyRotation {
                source: JointId(3),
                space: Space::World,
                keeps_offset,
            };
            let made = applied(&[(4, rotation, 1.0)], &pose);
            let world = world_of(&arm(), &made, JointId(4)).matrix3;
            let expected = DMat3::from_rotation_z(0.7);
            assert!(world.abs_diff_eq(expected, 1e-12));
        }
    }

    #[test]
    fn limits_act_after_what_stands_before_them() {
        let mut pose = Pose::rest(&arm());
        pose.locals[2].rotation = DQuat::from_rotation_x(1.0);
        let copy = Rule::CopyRotation {
            source: JointId(2),
            space: Space::Local,
            keeps_offset: true,
        };
        let limit = Rule::LimitAngles([[-0.2, 0.2], [0.0, 0.0], [0.0, 0.0]]);
        let made = applied(&[(4, copy.clone(), 1.0), (4, limit.clone(), 1.0)], &pose);
        let expected = DQuat::from_rotation_x(0.2);
        assert!(made.locals[4].rotation.abs_diff_eq(expected, 1e-12));
        let made = applied(&[(4, limit, 1.0), (4, copy, 1.0)], &pose);
        let expected = DQuat::from_rotation_x(1.0);
        assert!(made.locals[4].rotation.abs_diff_eq(expected, 1e-12));
    }
}
