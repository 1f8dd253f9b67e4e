//! Applies a constraint to the local transform of its joint.

use super::act::Act;
use super::aim::aim;
use super::kind::{Rule, Space};
use super::limit::limit_euler;
use super::swing_twist::twist_angle;
use crate::math::transform::normalize_or_identity;
use crate::skeleton::orientation::{orientation, parent_world_of, world_of};
use crate::skeleton::slerp::slerp_shortest;
use crate::skeleton::{JointId, Pose, Skeleton};
use glam::{BVec3, DAffine3, DMat3, DQuat, DVec3};
use std::f64::consts::TAU;

/// A scale of 0 counts as this.
const LEAST_SCALE: f64 = 1e-9;

/// Applies a constraint of one joint, which is no reach, with an influence that begins at the rest rotation or at the
/// present one. `rest_world`: the world transforms of all joints in the rest pose.
pub(super) fn apply(
    skeleton: &Skeleton,
    rest_world: &[DAffine3],
    pose: &mut Pose,
    act: &Act,
    (influence, from_rest): (f64, bool),
) {
    let joint = act.joint;
    let rule = &act.constraint.rule;
    let rest_of = |joint: JointId| skeleton.joint(joint).rest;
    let rest = rest_of(joint);
    let now = pose.locals[joint.get()];
    let parent = || parent_world_of(skeleton, pose, joint);
    let local = |joint: JointId| (rest_of(joint), &pose.locals[joint.get()]);
    // Where an influence below 1 begins, for the first constraint that gives a rotation.
    let mut at_rest = rest.rotation;
    let rotation = match *rule {
        Rule::CopyRotation {
            source,
            space: Space::Local,
            axes,
            ..
        } => {
            let (was, is) = local(source);
            let own = rest.rotation.conjugate() * now.rotation;
            let turn = was.rotation.conjugate() * is.rotation;
            if !axes.is_all() {
                at_rest = rest.rotation * axes.rotation(own, DQuat::IDENTITY);
            }
            rest.rotation * axes.rotation(own, turn)
        }
        Rule::CopyRotation {
            source,
            keeps_offset,
            axes,
            ..
        } => {
            let is = orientation(world_of(skeleton, pose, source).matrix3);
            let above = orientation(parent().matrix3);
            let into = above.transpose();
            // What is turned in the world: the joint at rest, or its axes as they are.
            let (turn, base) = if keeps_offset {
                let was = orientation(rest_world[source.get()].matrix3);
                let own = orientation(rest_world[joint.get()].matrix3);
                (is * was.transpose(), own)
            } else {
                (is, DMat3::IDENTITY)
            };
            if axes.is_all() {
                proper(into * turn * base)
            } else {
                let own = |local: DQuat| proper(above * DMat3::from_quat(local) * base.transpose());
                let turned = |other: DQuat| {
                    let turned = axes.rotation(own(now.rotation), other);
                    proper(into * DMat3::from_quat(turned) * base)
                };
                at_rest = turned(own(rest.rotation));
                turned(proper(turn))
            }
        }
        Rule::TwistShare {
            source,
            axis,
            share,
            centre,
        } => {
            let (was, is) = local(source);
            // In the parent's space: a parent's own axes, or the space that siblings share.
            let turn = if skeleton.joint(joint).parent == Some(source) {
                was.rotation.conjugate() * is.rotation
            } else {
                is.rotation * was.rotation.conjugate()
            };
            let turn = rest.rotation.conjugate() * turn * rest.rotation;
            let angle = twist_angle(turn, axis);
            let angle = angle - TAU * ((angle - centre) / TAU).round();
            rest.rotation * DQuat::from_axis_angle(axis, angle * share)
        }
        Rule::Aim { target, axis, up } => {
            let above = orientation(parent().matrix3);
            let at = world_of(skeleton, pose, joint).translation;
            let there = world_of(skeleton, pose, target).translation;
            let into = above.transpose();
            // In the parent's space, so that mirrored parents need no other rule.
            let up = up.map(|up| super::aim::Up {
                direction: into * up.direction,
                ..up
            });
            aim(rest.rotation, axis, into * (there - at), up)
        }
        Rule::LimitAngles { ranges, order } => {
            let turn = rest.rotation.conjugate() * now.rotation;
            rest.rotation * limit_euler(turn, ranges, order)
        }
        Rule::LimitCone(cone) => {
            let turn = rest.rotation.conjugate() * now.rotation;
            rest.rotation * cone.limit(turn)
        }
        Rule::CopyLocation {
            source,
            keeps_offset,
            axes,
            space,
        } => {
            let place = |j: JointId| rest_world[j.get()].translation;
            let offset = if keeps_offset {
                place(joint) - place(source)
            } else {
                DVec3::ZERO
            };
            let rest_above = skeleton
                .joint(joint)
                .parent
                .map(|parent| rest_world[parent.get()]);
            let above = skeleton.joint(joint).parent;
            let above = above.map_or(DAffine3::IDENTITY, |parent| {
                world_of(skeleton, pose, parent)
            });
            let copied = world_of(skeleton, pose, source).translation;
            let pick = |there, here| DVec3::select(BVec3::from_array(axes), there, here);
            let into = above.inverse();
            let wanted = match space {
                Space::World => {
                    let here = above.transform_point3(now.translation);
                    into.transform_point3(pick(copied + offset, here))
                }
                Space::Local => {
                    let back = rest.rotation.conjugate();
                    // The offset turns with the axes.
                    let offset = rest_above
                        .map_or(offset, |above| above.inverse().transform_vector3(offset));
                    let there = back * (into.transform_point3(copied) + offset);
                    rest.rotation * pick(there, back * now.translation)
                }
            };
            if wanted.is_finite() {
                pose.locals[joint.get()].translation = now.translation.lerp(wanted, influence);
            }
            return;
        }
        Rule::CopyScale { source, axes } => {
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
            let factor = ratio.map(|r| r.abs().powf(influence).copysign(r));
            let factor = DVec3::select(BVec3::from_array(axes), factor, DVec3::ONE);
            pose.locals[joint.get()].stretch = now.stretch * DMat3::from_diagonal(factor);
            return;
        }
        Rule::ReachTwoBones { .. } | Rule::ReachChain { .. } => return,
    };
    let from = if from_rest { at_rest } else { now.rotation };
    pose.locals[joint.get()].rotation = slerp_shortest(from, rotation, influence);
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
