//! Symmetrizing bones carries their constraints: the mirrored pose gets the mirror of what the pose gets.

use crate::rig_operations::assert_sound;
use crate::skinning::Random;
use glam::{DMat3, DQuat, DVec3};
use sinew::document::{ConstraintsEdit, Document, Edit, Parts, rig};
use sinew::math::Transform;
use sinew::math::transform::normalize_or_identity;
use sinew::skeleton::constraint::aim::Up;
use sinew::skeleton::constraint::limit::Cone;
use sinew::skeleton::constraint::{Constraint, CopiedAxes, EulerOrder, Rule, Space};
use sinew::skeleton::mirror::{Mirror, PosedJoint};
use sinew::skeleton::orientation::world_of;
use sinew::skeleton::{Joint, JointId, Pose, Skeleton};
use std::sync::Arc;

const HELPERS: usize = 14;

fn random(random: &mut Random, size: f64) -> DVec3 {
    DVec3::from([(); 3].map(|()| size * (2.0 * random.next() - 1.0)))
}

fn joint_of(document: &Document, name: &str) -> JointId {
    let skeleton = document.skeleton();
    let mut joints = skeleton.live_joints();
    let found = joints.find(|j| skeleton.joint(*j).name == name);
    found.unwrap_or_else(|| panic!("{name}"))
}

/// A left arm on a spine, with a target, a pole, a bone to copy and helpers; two markers of both sides, whose axes say how the
/// model is mirrored.
fn left_arm(is_behavior: bool) -> Document {
    let mut numbers = Random::new(7);
    let mut joints = vec![Joint::new("spine", None, Transform::IDENTITY)];
    let mut add = |name: &str, parent: u32, at: DVec3| {
        let rest = Transform {
            translation: at,
            rotation: DQuat::from_scaled_axis(random(&mut numbers, 1.0)),
            ..Transform::IDENTITY
        };
        joints.push(Joint::new(name, Some(JointId(parent)), rest));
        joints.len() as u32 - 1
    };
    let shoulder = add("shoulder.l", 0, DVec3::new(0.2, 1.4, 0.0));
    let arm = add("arm.l", shoulder, DVec3::new(0.2, 0.1, 0.0));
    let fore = add("fore.l", arm, DVec3::new(0.3, 0.1, 0.05));
    add("hand.l", fore, DVec3::new(0.3, -0.1, 0.02));
    add("twist.l", fore, DVec3::new(0.15, 0.0, 0.0));
    add("target.l", shoulder, DVec3::new(0.5, 0.2, 0.3));
    add("pole.l", shoulder, DVec3::new(0.1, 0.9, 0.2));
    add("source.l", shoulder, DVec3::new(0.4, -0.2, 0.1));
    for i in 0..HELPERS {
        let at = DVec3::new(0.1 * i as f64, 0.3, -0.2);
        add(&format!("helper{i}.l"), shoulder, at);
    }
    let left = add("marker.l", 0, DVec3::new(0.8, 1.5, 0.1));
    let rest = joints[left as usize].rest;
    let axes = if is_behavior {
        DMat3::from_diagonal(DVec3::NEG_ONE)
    } else {
        DMat3::from_diagonal(DVec3::new(-1.0, 1.0, 1.0))
    };
    let mirror = DMat3::from_diagonal(DVec3::new(-1.0, 1.0, 1.0));
    let there = mirror * DMat3::from_quat(rest.rotation) * axes;
    let rest = Transform {
        translation: mirror * rest.translation,
        rotation: normalize_or_identity(DQuat::from_mat3(&there)),
        ..Transform::IDENTITY
    };
    joints.push(Joint::new("marker.r", Some(JointId(0)), rest));
    let parts = Parts {
        skeleton: Arc::new(Skeleton::new(joints).unwrap()),
        ..Parts::default()
    };
    Document::new(parts).unwrap()
}

/// A constraint of every kind.
fn constrain(document: &mut Document) {
    let joint = |name: &str| joint_of(document, name);
    let (source, target, spine) = (joint("source.l"), joint("target.l"), joint("spine"));
    let slanted = DVec3::new(0.6, 0.0, 0.8);
    let copy = |source, space, keeps_offset, axes| Rule::CopyRotation {
        source,
        space,
        keeps_offset,
        axes,
    };
    let all = CopiedAxes::ALL;
    let axes = |copied, inverted| CopiedAxes {
        copied,
        inverted,
        ..all
    };
    let (x, xz) = ([true, false, false], [true, false, true]);
    let z = [false, false, true];
    let reach = Rule::ReachTwoBones {
        target,
        pole: Some(joint("pole.l")),
        softness: 0.1,
    };
    let share = Rule::TwistShare {
        source: joint("hand.l"),
        axis: slanted,
        share: 0.4,
        centre: 0.7,
    };
    let aim = |up| Rule::Aim {
        target,
        axis: DVec3::Y,
        up,
    };
    let up = Up {
        axis: DVec3::X,
        direction: DVec3::new(0.3, 0.9, -0.2),
    };
    let cone = Cone {
        axis: DVec3::X,
        side: DVec3::Y,
        half_angles: [0.3, 0.5],
        twist: [-0.1, 0.4],
    };
    let helpers: [Rule; HELPERS] = [
        copy(source, Space::Local, true, all),
        copy(source, Space::World, false, all),
        copy(spine, Space::World, true, all),
        copy(source, Space::Local, true, axes(x, x)),
        copy(source, Space::Local, true, axes(xz, z)),
        copy(source, Space::World, true, axes(xz, [false; 3])),
        copy(
            source,
            Space::Local,
            true,
            CopiedAxes {
                order: EulerOrder::Zxy,
                ..axes(xz, z)
            },
        ),
        Rule::CopyLocation {
            source,
            keeps_offset: true,
            axes: xz,
            space: Space::Local,
        },
        Rule::CopyLocation {
            source,
            keeps_offset: true,
            axes: xz,
            space: Space::World,
        },
        Rule::CopyScale { source, axes: xz },
        aim(None),
        aim(Some(up)),
        Rule::LimitAngles {
            ranges: [[-0.1, 0.3], [-0.4, 0.2], [0.0, 0.25]],
            order: EulerOrder::Yxz,
        },
        Rule::LimitCone(cone),
    ];
    let mut lists = vec![(joint("hand.l"), reach), (joint("twist.l"), share)];
    for (i, rule) in helpers.into_iter().enumerate() {
        lists.push((joint(&format!("helper{i}.l")), rule));
    }
    for (joint, rule) in lists {
        let list = vec![Constraint {
            influence: 0.8,
            ..Constraint::new(rule)
        }];
        let edit = ConstraintsEdit { joint, list };
        document.apply(&mut Edit::Constraints(edit)).unwrap();
    }
}

/// The mirror image of a pose.
fn mirrored(skeleton: &Skeleton, mirror: &Mirror, pose: &Pose) -> Pose {
    let mut made = Pose::rest(skeleton);
    for joint in skeleton.live_joints() {
        let Some(partner) = mirror.partner(joint) else {
            continue;
        };
        let posed = PosedJoint {
            local: pose.locals[joint.get()],
            rest: skeleton.joint(joint).rest,
            spaces: mirror.rest_spaces(joint),
        };
        let rest = skeleton.joint(partner).rest;
        let spaces = mirror.rest_spaces(partner);
        made.locals[partner.get()] = posed.carried_to(&rest, spaces, mirror.reflection());
    }
    made
}

/// METHODS-rigging 1.4 and 4, *Symmetrize* with constraints.
#[test]
fn the_mirrored_pose_gets_the_mirror_of_what_the_pose_gets() {
    for is_behavior in [false, true] {
        let mut document = left_arm(is_behavior);
        constrain(&mut document);
        let before = document.clone();
        let shoulder = joint_of(&document, "shoulder.l");
        let (edit, done) = rig::symmetrize(&document, shoulder).unwrap();
        assert_eq!(done.is_behavior, is_behavior);
        assert_eq!(done.constrained.len(), HELPERS + 2);
        assert_eq!(done.not_constrained, []);
        let mut edit = Edit::Rig(Box::new(edit));
        document.apply(&mut edit).unwrap();
        assert_sound(&document);
        let skeleton = document.skeleton().clone();
        let mirror = Mirror::new(&skeleton);
        let mut numbers = Random::new(11);
        for _ in 0..20 {
            let mut pose = Pose::rest(&skeleton);
            for local in &mut pose.locals {
                local.rotation *= DQuat::from_scaled_axis(random(&mut numbers, 0.9));
            }
            let source = &mut pose.locals[joint_of(&document, "source.l").get()];
            source.translation += random(&mut numbers, 0.2);
            source.stretch = DMat3::from_diagonal(DVec3::ONE + random(&mut numbers, 0.3));
            let mut other = mirrored(&skeleton, &mirror, &pose);
            document.constrain(&mut pose);
            document.constrain(&mut other);
            let wanted = mirrored(&skeleton, &mirror, &pose);
            for joint in skeleton.live_joints() {
                let [is, want] = [&other, &wanted].map(|pose| world_of(&skeleton, pose, joint));
                assert!(
                    is.abs_diff_eq(want, 1e-8),
                    "{}, {is_behavior}: {is} {want}",
                    skeleton.label(joint)
                );
            }
        }
        document.apply(&mut edit).unwrap();
        assert!(document.same_content(&before));
    }
}

/// What follows the other side is not mirrored: it would follow itself.
#[test]
fn a_bone_that_follows_its_counterpart_keeps_its_side() {
    let mut document = left_arm(false);
    let shoulder = joint_of(&document, "shoulder.l");
    let (edit, _) = rig::symmetrize(&document, shoulder).unwrap();
    document.apply(&mut Edit::Rig(Box::new(edit))).unwrap();
    let [left, right] = ["source.l", "source.r"].map(|name| joint_of(&document, name));
    let rule = Rule::CopyRotation {
        source: right,
        space: Space::Local,
        keeps_offset: true,
        axes: CopiedAxes::ALL,
    };
    let edit = ConstraintsEdit {
        joint: left,
        list: vec![Constraint::new(rule)],
    };
    document.apply(&mut Edit::Constraints(edit)).unwrap();
    // Everything else is symmetric.
    let why = rig::symmetrize(&document, shoulder)
        .unwrap_err()
        .to_string();
    assert!(why.contains("already symmetric"), "{why}");
    // A constraint alone makes a difference.
    let limit = Constraint::new(Rule::LimitAngles {
        ranges: [[-0.5, 0.25]; 3],
        order: EulerOrder::Xyz,
    });
    let edit = ConstraintsEdit {
        joint: joint_of(&document, "arm.l"),
        list: vec![limit],
    };
    document.apply(&mut Edit::Constraints(edit)).unwrap();
    let (edit, done) = rig::symmetrize(&document, shoulder).unwrap();
    let arm = joint_of(&document, "arm.r");
    assert_eq!(
        (done.constrained, done.not_constrained),
        (vec![arm], vec![left])
    );
    document.apply(&mut Edit::Rig(Box::new(edit))).unwrap();
    assert!(document.constraints_of(right).is_empty());
    let limit = [[-0.5, 0.25], [-0.25, 0.5], [-0.25, 0.5]];
    assert_eq!(
        document.constraints_of(arm)[0].rule,
        Rule::LimitAngles {
            ranges: limit,
            order: EulerOrder::Xyz
        }
    );
}
