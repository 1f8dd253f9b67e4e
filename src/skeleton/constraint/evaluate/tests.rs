use super::*;
use crate::math::Transform;
use crate::skeleton::Joint;
use crate::skeleton::constraint::{Constraint, CopiedAxes, EulerOrder, Rule, Space};
use crate::skeleton::joint_limits::JointLimits;
use crate::skeleton::orientation::world_of;
use glam::{DMat3, DQuat, DVec3};
use std::f64::consts::TAU;

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

fn place_on(skeleton: &Skeleton, pose: &Pose, joint: u32) -> DVec3 {
    world_of(skeleton, pose, JointId(joint)).translation
}

fn applied(constraints: &[(u32, Rule, f64)], pose: &Pose) -> Pose {
    applied_on(arm(), constraints, pose)
}

fn applied_on(skeleton: Skeleton, constraints: &[(u32, Rule, f64)], pose: &Pose) -> Pose {
    let skeleton = Arc::new(skeleton);
    let mut all = Constraints::new();
    for (joint, rule, influence) in constraints {
        all.entry(JointId(*joint)).or_default().push(Constraint {
            influence: *influence,
            ..Constraint::new(rule.clone())
        });
    }
    let evaluator = Evaluator::new(&skeleton, &all).unwrap();
    let (mut made, mut again) = (pose.clone(), pose.clone());
    evaluator.apply(&mut made);
    evaluator.apply(&mut again);
    assert_eq!(again, made);
    made
}

/// What copies the rotation of a bone that a reach bends copies the bent one, wherever the target stands in the list.
#[test]
fn a_copy_reads_its_source_after_the_reach_that_bends_it() {
    let joints = arm().joints().to_vec();
    let order = [0, 1, 2, 4, 3].map(|j: usize| joints[j].clone());
    let skeleton = Arc::new(Skeleton::new(order.to_vec()).unwrap());
    let reach = Constraint::new(Rule::ReachTwoBones {
        target: JointId(4),
        pole: None,
        softness: 0.0,
    });
    let copy = Constraint::new(Rule::CopyRotation {
        source: JointId(1),
        space: Space::Local,
        keeps_offset: true,
        axes: CopiedAxes::ALL,
    });
    let all = [(JointId(2), vec![reach]), (JointId(3), vec![copy])];
    let evaluator = Evaluator::new(&skeleton, &all.into_iter().collect()).unwrap();
    let mut pose = Pose::rest(&skeleton);
    evaluator.apply(&mut pose);
    let [elbow, helper] = [1, 3].map(|j: usize| pose.locals[j].rotation);
    assert!(elbow.angle_between(DQuat::IDENTITY) > 0.3);
    assert!(elbow.angle_between(helper) < 1e-9, "{elbow} {helper}");
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
        axes: CopiedAxes::ALL,
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
fn a_reach_stays_within_the_rotation_limits() {
    let limited = |most: f64| {
        let mut joints = arm().joints().to_vec();
        joints[1].rule.limits = Some(JointLimits([[0.0; 2], [0.0; 2], [-most, most]]));
        Skeleton::new(joints).unwrap()
    };
    let mut pose = Pose::rest(&arm());
    pose.locals[1].rotation = DQuat::from_rotation_z(0.2);
    let bones = Rule::ReachTwoBones {
        target: JointId(3),
        pole: None,
        softness: 0.0,
    };
    let chain = Rule::ReachChain {
        target: JointId(3),
        n_bones: 2,
    };
    let gap = |pose: &Pose| place(pose, 2).distance(place(pose, 3));
    for rule in [bones, chain] {
        // The elbow has to bend by 1.18.
        let room = applied_on(limited(1.5), &[(2, rule.clone(), 1.0)], &pose);
        assert!(gap(&room) < 1e-3, "{rule:?}: {}", gap(&room));
        let skeleton = limited(0.5);
        let held = applied_on(skeleton.clone(), &[(2, rule.clone(), 1.0)], &pose);
        let joint = skeleton.joint(JointId(1));
        let limits = joint.rule.limits.unwrap();
        assert_eq!(limits.excess(held.locals[1].rotation, &joint.rest), 0.0);
        // As near as a bend by 0.5 comes: along the line to the target.
        let length = (1.0f64 + 0.64 + 1.6 * 0.5f64.cos()).sqrt();
        let best = length - 1.5;
        assert!(
            (gap(&held) - best).abs() < 2e-2,
            "{rule:?}: {} {best}",
            gap(&held)
        );
    }
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
        axes: [true; 3],
        space: Space::World,
    };
    let made = applied(&[(4, location, 1.0)], &pose);
    assert!(place(&made, 4).distance(place(&made, 3)) < 1e-12);
    let scale = Rule::CopyScale {
        source: JointId(3),
        axes: [true; 3],
    };
    let made = applied(&[(4, scale, 0.5)], &pose);
    assert!((made.locals[4].scale().x - 2.0).abs() < 1e-12);
    for keeps_offset in [false, true] {
        let rotation = Rule::CopyRotation {
            source: JointId(3),
            space: Space::World,
            keeps_offset,
            axes: CopiedAxes::ALL,
        };
        let made = applied(&[(4, rotation, 1.0)], &pose);
        let world = world_of(&arm(), &made, JointId(4)).matrix3;
        let expected = DMat3::from_rotation_z(0.7);
        assert!(world.abs_diff_eq(expected, 1e-12));
    }
}

/// METHODS-rigging 4, *Twist share*: the turn is read in the owner's axes, also that of its parent. A share of -1 takes
/// the parent's twist away.
#[test]
fn a_parents_twist_is_read_in_the_axes_of_the_child() {
    let mut joints = arm().joints().to_vec();
    // The child's y is its parent's -x, along the arm.
    joints[4].rest.rotation = DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2);
    let skeleton = Arc::new(Skeleton::new(joints).unwrap());
    let mut pose = Pose::rest(&skeleton);
    let before = world_of(&skeleton, &pose, JointId(4)).matrix3;
    pose.locals[1].rotation = DQuat::from_rotation_x(0.8);
    for share in [-1.0, 0.25] {
        let twist = Constraint::new(Rule::TwistShare {
            source: JointId(1),
            axis: DVec3::Y,
            share,
            centre: 0.0,
        });
        let constraints = Constraints::from([(JointId(4), vec![twist])]);
        let mut pose = pose.clone();
        let evaluator = Evaluator::new(&skeleton, &constraints).unwrap();
        evaluator.apply(&mut pose);
        let expected = DMat3::from_rotation_x(0.8 * (1.0 + share)) * before;
        let now = world_of(&skeleton, &pose, JointId(4)).matrix3;
        assert!(now.abs_diff_eq(expected, 1e-12), "{share}: {now}");
    }
}

/// A constraint of the place or the scale changes nothing for a rotation below it.
#[test]
fn a_rotation_is_blended_with_rest_below_a_copied_place() {
    let mut pose = Pose::rest(&arm());
    pose.locals[2].rotation = DQuat::from_rotation_x(1.0);
    pose.locals[4].rotation = DQuat::from_rotation_y(0.8);
    let copy = Rule::CopyRotation {
        source: JointId(2),
        space: Space::Local,
        keeps_offset: true,
        axes: CopiedAxes::ALL,
    };
    let place = Rule::CopyLocation {
        source: JointId(3),
        keeps_offset: true,
        axes: [true; 3],
        space: Space::World,
    };
    let alone = applied(&[(4, copy.clone(), 0.5)], &pose);
    let scale = Rule::CopyScale {
        source: JointId(3),
        axes: [true; 3],
    };
    let below = applied(&[(4, place, 1.0), (4, scale, 1.0), (4, copy, 0.5)], &pose);
    assert_eq!(alone.locals[4].rotation, below.locals[4].rotation);
    let half = DQuat::from_rotation_x(0.5);
    assert!(alone.locals[4].rotation.abs_diff_eq(half, 1e-12));
}

/// METHODS-rigging 4, *Straight chains*: the bend side of the rest pose, else elbows back and knees forward, whatever the
/// direction of the target.
#[test]
fn straight_limbs_bend_to_their_side_wherever_the_target_is() {
    let bones = Rule::ReachTwoBones {
        target: JointId(3),
        pole: None,
        softness: 0.0,
    };
    let chain = Rule::ReachChain {
        target: JointId(3),
        n_bones: 2,
    };
    for rule in [bones, chain] {
        for step in 0..24 {
            let mut pose = Pose::rest(&arm());
            let turn = DQuat::from_rotation_z(f64::from(step) * TAU / 24.0);
            pose.locals[3].translation = turn * DVec3::new(1.2, 0.0, 0.0);
            pose.locals[0].rotation = turn;
            let reached = applied(&[(2, rule.clone(), 1.0)], &pose);
            let gap = place(&reached, 2).distance(place(&pose, 3));
            assert!(gap < 2e-4 * 1.8, "{rule:?}, {step}: {gap}");
            // An arm along x: the elbow goes back.
            assert!(place(&reached, 1).z < -0.3, "{rule:?}, {step}");
        }
    }
    // Nor does it jump where the clip passes the straight pose, bent a little to its side.
    let chain = Rule::ReachChain {
        target: JointId(3),
        n_bones: 2,
    };
    let mut last: Option<DVec3> = None;
    for step in 0..=40 {
        let mut pose = Pose::rest(&arm());
        pose.locals[3].translation = DVec3::new(1.2, 0.0, 0.0);
        pose.locals[1].rotation = DQuat::from_rotation_y(0.02 * f64::from(step) / 40.0);
        let elbow = place(&applied(&[(2, chain.clone(), 1.0)], &pose), 1);
        if let Some(last) = last {
            assert!(elbow.distance(last) < 0.05, "{step}: {elbow} {last}");
        }
        last = Some(elbow);
    }
}

#[test]
fn a_reach_arrives_under_scale_that_is_not_uniform_and_near_its_full_length() {
    let mut joints = arm().joints().to_vec();
    let rest = &mut joints[0].rest;
    rest.stretch = DMat3::from_diagonal(DVec3::new(1.0, 2.0, 1.0));
    joints[1].rest.rotation = DQuat::from_rotation_z(-0.3);
    let skeleton = Arc::new(Skeleton::new(joints).unwrap());
    let bones = Rule::ReachTwoBones {
        target: JointId(3),
        pole: None,
        softness: 0.0,
    };
    let chain = Rule::ReachChain {
        target: JointId(3),
        n_bones: 2,
    };
    for (rule, tolerance) in [(bones, 1e-6), (chain, 1e-3)] {
        for at in [DVec3::new(0.9, 0.9, 0.2), DVec3::new(1.3, -0.4, 0.0)] {
            let list = vec![Constraint::new(rule.clone())];
            let constraints = Constraints::from([(JointId(2), list)]);
            let evaluator = Evaluator::new(&skeleton, &constraints).unwrap();
            let mut pose = Pose::rest(&skeleton);
            pose.locals[3].translation = at;
            evaluator.apply(&mut pose);
            let gap = world_of(&skeleton, &pose, JointId(2))
                .translation
                .distance(at);
            assert!(gap < tolerance, "{rule:?} to {at}: {gap}");
        }
    }
}

/// METHODS-rigging 4, *… axes*, *Copy location / scale*: what is not copied stays the joint's own, also with half of the
/// influence.
#[test]
fn some_axes_are_copied_and_the_others_are_the_joints() {
    let mut pose = Pose::rest(&arm());
    pose.locals[2].rotation = DQuat::from_rotation_x(1.0);
    pose.locals[4].rotation = DQuat::from_rotation_z(0.5);
    let x = CopiedAxes {
        copied: [true, false, false],
        ..CopiedAxes::ALL
    };
    for (influence, angle) in [(1.0, 1.0), (0.5, 0.5)] {
        for (space, keeps_offset) in [(Space::Local, true), (Space::World, true)] {
            let copy = Rule::CopyRotation {
                source: JointId(2),
                space,
                keeps_offset,
                axes: x,
            };
            let made = applied(&[(4, copy, influence)], &pose);
            let expected = DQuat::from_rotation_z(0.5) * DQuat::from_rotation_x(angle);
            let turned = made.locals[4].rotation;
            assert!(turned.abs_diff_eq(expected, 1e-12), "{space:?}: {turned}");
        }
    }
    let location = Rule::CopyLocation {
        source: JointId(3),
        keeps_offset: false,
        axes: [false, true, false],
        space: Space::World,
    };
    let before = place(&pose, 4);
    let made = applied(&[(4, location, 1.0)], &pose);
    let expected = DVec3::new(before.x, place(&pose, 3).y, before.z);
    assert!(place(&made, 4).distance(expected) < 1e-12);
    pose.locals[3].stretch = DMat3::from_diagonal(DVec3::splat(3.0));
    let scale = Rule::CopyScale {
        source: JointId(3),
        axes: [true, false, true],
    };
    let made = applied(&[(4, scale, 1.0)], &pose);
    let expected = DVec3::new(3.0, 1.0, 3.0);
    assert!(made.locals[4].scale().abs_diff_eq(expected, 1e-12));
}

/// METHODS-rigging 4, *Copy location*: the axes are those of the owner's space, which turns with the bones above.
#[test]
fn a_location_is_copied_along_the_axes_of_the_joint_at_rest() {
    let mut joints = arm().joints().to_vec();
    let own = DQuat::from_rotation_z(0.3);
    joints[4].rest.rotation = own;
    let skeleton = Skeleton::new(joints).unwrap();
    let mut pose = Pose::rest(&skeleton);
    let above = DQuat::from_rotation_z(0.9);
    pose.locals[1].rotation = above;
    let location = |space| Rule::CopyLocation {
        source: JointId(3),
        keeps_offset: false,
        axes: [true, false, false],
        space,
    };
    let [from, to] = [4, 3].map(|j| place_on(&skeleton, &pose, j));
    let along = above * own * DVec3::X;
    let expected = from + along * along.dot(to - from);
    for influence in [1.0, 0.25] {
        let rules = [(4, location(Space::Local), influence)];
        let made = applied_on(skeleton.clone(), &rules, &pose);
        let at = place_on(&skeleton, &made, 4);
        assert!(at.distance(from.lerp(expected, influence)) < 1e-12, "{at}");
    }
    let made = applied_on(skeleton.clone(), &[(4, location(Space::World), 1.0)], &pose);
    let at = place_on(&skeleton, &made, 4);
    assert!(
        at.distance(DVec3::new(to.x, from.y, from.z)) < 1e-12,
        "{at}"
    );
}

/// The whole character turns: a bone with an offset along the axes of the bone turns with it, as one without constraints does.
#[test]
fn an_offset_along_the_axes_of_the_joint_turns_with_them() {
    let mut joints = arm().joints().to_vec();
    joints.push(Joint::new(
        "all",
        None,
        Transform {
            translation: DVec3::new(0.5, 0.0, 0.2),
            rotation: DQuat::from_rotation_y(0.4),
            ..Transform::IDENTITY
        },
    ));
    let all = JointId(joints.len() as u32 - 1);
    for joint in &mut joints[..all.get()] {
        joint.parent = joint.parent.or(Some(all));
    }
    let skeleton = Skeleton::new(joints).unwrap();
    let rest = Pose::rest(&skeleton);
    let location = |space| Rule::CopyLocation {
        source: JointId(3),
        keeps_offset: true,
        axes: [true; 3],
        space,
    };
    let mut pose = rest.clone();
    pose.locals[all.get()].rotation *= DQuat::from_rotation_z(1.5);
    let still = place_on(&skeleton, &pose, 4);
    let made = |space| {
        let made = applied_on(skeleton.clone(), &[(4, location(space), 1.0)], &pose);
        place_on(&skeleton, &made, 4)
    };
    assert!(made(Space::Local).distance(still) < 1e-12);
    assert!(made(Space::World).distance(still) > 0.1);
}

/// An influence that the pose has from its clip is blended with the joint's own rotation.
#[test]
fn an_influence_of_the_pose_replaces_that_of_the_constraint() {
    let skeleton = Arc::new(arm());
    let copy = Constraint {
        influence: 0.0,
        keyed_as: Some(3),
        ..Constraint::new(Rule::CopyRotation {
            source: JointId(2),
            space: Space::Local,
            keeps_offset: true,
            axes: CopiedAxes::ALL,
        })
    };
    let all = Constraints::from([(JointId(4), vec![copy])]);
    let evaluator = Evaluator::new(&skeleton, &all).unwrap();
    let mut pose = Pose::rest(&skeleton);
    pose.locals[2].rotation = DQuat::from_rotation_x(1.0);
    pose.locals[4].rotation = DQuat::from_rotation_x(0.4);
    for (keyed, angle) in [
        (None, 0.4),
        (Some(0.0), 0.4),
        (Some(0.5), 0.7),
        (Some(1.0), 1.0),
    ] {
        let mut pose = pose.clone();
        // That of another constraint.
        pose.set_influence(JointId(4), 2, 1.0);
        if let Some(value) = keyed {
            pose.set_influence(JointId(4), 3, value);
        }
        evaluator.apply(&mut pose);
        let expected = DQuat::from_rotation_x(angle);
        let turned = pose.locals[4].rotation;
        assert!(turned.abs_diff_eq(expected, 1e-12), "{keyed:?}: {turned}");
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
        axes: CopiedAxes::ALL,
    };
    let limit = Rule::LimitAngles {
        ranges: [[-0.2, 0.2], [0.0, 0.0], [0.0, 0.0]],
        order: EulerOrder::Xyz,
    };
    let made = applied(&[(4, copy.clone(), 1.0), (4, limit.clone(), 1.0)], &pose);
    let expected = DQuat::from_rotation_x(0.2);
    assert!(made.locals[4].rotation.abs_diff_eq(expected, 1e-12));
    let made = applied(&[(4, limit, 1.0), (4, copy, 1.0)], &pose);
    let expected = DQuat::from_rotation_x(1.0);
    assert!(made.locals[4].rotation.abs_diff_eq(expected, 1e-12));
}
