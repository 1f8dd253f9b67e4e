//! Changes of joints that are refused, by name, and the invariants that they keep.

use crate::models::tube;
use crate::rig_operations::{END, MIDDLE, ROOT, apart, apply, bone, moving_tube};
use glam::{DQuat, DVec3};
use sinew::document::rig::{
    self, Children, Intent, Keep, Move, Reparent, RigEdit, RigError, WeightRecipient,
};
use sinew::document::{ClipId, Document, Edit, Parts};
use sinew::math::Transform;
use sinew::skeleton::{
    Channel, Clip, Frame, Interpolation, Joint, JointId, JointRule, Property, Skeleton,
};
use std::collections::{BTreeMap, BTreeSet};
use std::f64::consts::FRAC_PI_2;
use std::sync::Arc;

/// A joint that draws the tube rigidly, a child of the middle.
const PROP: JointId = JointId(4);

#[test]
fn refusals_name_joint_ratio_and_clip() {
    let mut document = moving_tube();
    let mut clip = Clip::clone(&document.clips()[&ClipId(7)]);
    clip.set_key(MIDDLE, Property::Scale, 0.5, &[1.0, 1.32, 1.0], 0.0);
    let edit = Some(Arc::new(clip));
    let id = ClipId(7);
    document.apply(&mut Edit::Clip { id, clip: edit }).unwrap();
    let turn = |turn: DQuat| {
        let frames = BTreeMap::from([(MIDDLE, Frame::from_rotation(turn))]);
        rig::change_frames(&document, &frames, 1e-4)
    };
    let error = turn(DQuat::from_rotation_x(0.4)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "“middle” has a non-uniform scale of up to 1.32 : 1 in “moving”; its axes can only rotate by quarter turns."
    );
    let quarter = turn(DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2)).unwrap();
    let mut turned = document.clone();
    apply(&mut turned, quarter);
    assert!(
        apart(&document, &turned) < 1e-6,
        "{}",
        apart(&document, &turned)
    );

    let reparent = Reparent {
        joint: END,
        parent: Some(ROOT),
        keep: Keep::Motion,
        nearest: false,
        tolerance: 1e-4,
    };
    let error = rig::reparent(&document, &reparent).unwrap_err();
    assert!(
        matches!(error, RigError::Shear { shear, .. } if shear > 1e-2),
        "{error}"
    );
    let nearest = Reparent {
        nearest: true,
        ..reparent
    };
    assert!(rig::reparent(&document, &nearest).is_ok());

    let locks = Arc::new(BTreeSet::from([MIDDLE]));
    document.apply(&mut Edit::Locks(locks)).unwrap();
    let error = rig::remove(
        &moving_tube_locked(MIDDLE),
        END,
        WeightRecipient::IntoParent,
    )
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "“middle” is locked: unlock it to change its weights."
    );
    // A locked joint is divided, but its weights stay.
    let locked = moving_tube_locked(MIDDLE);
    let (edit, made) = rig::insert(&locked, &bone(MIDDLE, END, 1)).unwrap();
    assert_eq!(edit.n_points(), 0);
    let mut divided = locked.clone();
    apply(&mut divided, edit);
    assert!(divided.locked().contains(&made[0]));
    let error = rig::insert(&locked, &bone(ROOT, END, 1)).unwrap_err();
    assert!(matches!(error, RigError::NoBone { .. }));
    let gone = rig::remove(&locked, JointId(99), WeightRecipient::IntoParent).unwrap_err();
    assert_eq!(gone.to_string(), "There is no bone 99.");
}

fn moving_tube_locked(joint: JointId) -> Document {
    let mut document = moving_tube();
    let locks = Arc::new(BTreeSet::from([joint]));
    document.apply(&mut Edit::Locks(locks)).unwrap();
    document
}

#[test]
fn an_edit_that_breaks_an_invariant_changes_nothing() {
    let before = moving_tube();
    // An edit made for another state of the joints.
    let (first, _) = rig::insert(&before, &bone(MIDDLE, END, 1)).unwrap();
    let moved = Move {
        joint: ROOT,
        by: DVec3::X,
        intent: Intent::NewPivot,
        children: Children::Stay,
        tolerance: 1e-4,
    };
    let mut document = before.clone();
    apply(&mut document, rig::move_joint(&before, &moved).unwrap());
    let removed = rig::remove(&before, END, WeightRecipient::IntoParent).unwrap();
    apply(&mut document, first.clone());
    let after_insert = document.clone();
    let mut edit = Edit::Rig(Box::new(removed));
    let refused = document.apply(&mut edit);
    assert!(
        refused.is_err(),
        "the skin would lose a slot that points follow"
    );
    assert!(document.same_content(&after_insert));
}

/// The tube with these scale keyframes of a joint in its clip.
fn scaled(joint: JointId, keys: [[f64; 3]; 3]) -> Document {
    let mut document = moving_tube();
    let mut clip = Clip::clone(&document.clips()[&ClipId(7)]);
    for (time, key) in [0.0, 0.4, 1.0].into_iter().zip(keys) {
        clip.set_key(joint, Property::Scale, time, &key, 0.0);
    }
    with_clip(&mut document, clip);
    document
}

fn with_clip(document: &mut Document, clip: Clip) {
    let clip = Some(Arc::new(clip));
    let id = ClipId(7);
    document.apply(&mut Edit::Clip { id, clip }).unwrap();
}

fn turn(document: &Document, joint: JointId, turn: DQuat) -> Result<RigEdit, RigError> {
    let frames = BTreeMap::from([(joint, Frame::from_rotation(turn))]);
    rig::change_frames(document, &frames, 1e-4)
}

fn pose(document: &mut Document, joint: JointId, scale: DVec3) {
    let rest = document.skeleton().joint(joint).rest;
    let local = Transform::from_trs(rest.translation, rest.rotation, scale);
    let (joints, locals) = (vec![joint], vec![local]);
    document.apply(&mut Edit::Pose { joints, locals }).unwrap();
}

fn set_rule(document: &mut Document, joint: JointId, rule: JointRule) {
    document
        .apply(&mut Edit::JointRule { joint, rule })
        .unwrap();
}

fn compensating() -> JointRule {
    JointRule {
        compensates_scale: true,
        ..JointRule::default()
    }
}

fn keeping_motion(joint: JointId, parent: JointId) -> Reparent {
    Reparent {
        joint,
        parent: Some(parent),
        keep: Keep::Motion,
        nearest: false,
        tolerance: 1e-4,
    }
}

#[test]
fn axes_that_only_some_keyframes_mirror_take_quarter_turns() {
    // A uniform size, but with other signs.
    let document = scaled(MIDDLE, [[1.0; 3], [-1.0, 1.0, 1.0], [1.0, 1.0, -1.0]]);
    let error = turn(&document, MIDDLE, DQuat::from_rotation_x(0.4)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "“middle” is mirrored at only some keyframes of “moving”; its axes can only rotate by quarter turns."
    );
    for quarter in [
        DQuat::from_rotation_z(FRAC_PI_2),
        DQuat::from_rotation_x(FRAC_PI_2) * DQuat::from_rotation_y(FRAC_PI_2),
    ] {
        let mut turned = document.clone();
        apply(&mut turned, turn(&document, MIDDLE, quarter).unwrap());
        let off = apart(&document, &turned);
        assert!(off < 1e-6, "{off:e}");
    }
    // The same in the artist's pose.
    let mut document = moving_tube();
    pose(&mut document, MIDDLE, DVec3::new(1.0, -1.0, 1.0));
    let error = turn(&document, MIDDLE, DQuat::from_rotation_x(0.4)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "“middle” is mirrored only in the pose or only in the rest pose; its axes can only rotate by quarter turns."
    );
    let quarter = DQuat::from_rotation_z(FRAC_PI_2);
    let mut turned = document.clone();
    apply(&mut turned, turn(&document, MIDDLE, quarter).unwrap());
    let world = |document: &Document| {
        let world = document.pose().world_matrices(document.skeleton());
        [MIDDLE, END].map(|joint| world[joint.get()])
    };
    let [middle, end] = world(&document);
    let expected = [middle * Frame::from_rotation(quarter).to_affine(), end];
    for (a, b) in world(&turned).iter().zip(expected) {
        assert!(a.abs_diff_eq(b, 1e-12));
    }
}

#[test]
fn splines_that_stretch_between_their_keyframes_are_refused() {
    let mut document = moving_tube();
    let mut clip = Clip::clone(&document.clips()[&ClipId(7)]);
    let (zero, one) = ([0.0; 3], [1.0; 3]);
    let keys = [zero, one, [0.0, 4.0, 0.0], [0.0, -4.0, 0.0], one, zero];
    clip.channels.push(Channel {
        joint: MIDDLE,
        property: Property::Scale,
        interpolation: Interpolation::CubicSpline,
        times: [0.0, 1.0].into(),
        values: keys.as_flattened().into(),
    });
    with_clip(&mut document, clip);
    let error = turn(&document, MIDDLE, DQuat::from_rotation_x(0.4)).unwrap_err();
    assert!(matches!(error, RigError::StretchedInClip { ratio, .. } if ratio > 1.9));
}

#[test]
fn parents_of_no_size_are_refused_by_name() {
    let document = scaled(PROP, [[1.0; 3], [0.0; 3], [1.0; 3]]);
    let error = rig::reparent(&document, &keeping_motion(END, PROP)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "The scale of “prop” is 0 in “moving”: neither a child nor the mesh can keep its position."
    );
    let mut document = moving_tube();
    pose(&mut document, PROP, DVec3::ZERO);
    let error = rig::reparent(&document, &keeping_motion(END, PROP)).unwrap_err();
    assert!(
        matches!(&error, RigError::Singular { place, .. } if place == "in the pose"),
        "{error}"
    );
}

#[test]
fn a_rigid_mesh_moves_only_with_children_that_follow() {
    let before = moving_tube();
    let follow = Move {
        joint: MIDDLE,
        by: DVec3::new(0.1, 0.05, -0.02),
        intent: Intent::NewPivot,
        children: Children::Follow,
        tolerance: 1e-4,
    };
    let mut moved = before.clone();
    apply(&mut moved, rig::move_joint(&before, &follow).unwrap());
    // The same change, not marked as one that moves anything.
    let unmarked = RigEdit::between(&before, &moved);
    let mut document = before.clone();
    let error = document.apply(&mut Edit::Rig(Box::new(unmarked)));
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("\"prop\" would move the rest-pose mesh"),
        "{error}"
    );
    assert!(document.same_content(&before));
}

#[test]
fn no_joint_is_inserted_above_one_that_compensates_for_scale() {
    let mut document = moving_tube();
    set_rule(&mut document, END, compensating());
    let error = rig::insert(&document, &bone(MIDDLE, END, 1)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "“end” does not inherit the scale of its parent: no bone can be inserted between the two."
    );
}

#[test]
fn a_joint_that_compensates_for_scale_keeps_its_motion_under_another_parent() {
    let sizes = [[1.0; 3], [1.5; 3], [0.75; 3]];
    let mut document = scaled(MIDDLE, sizes);
    set_rule(&mut document, END, compensating());
    let mut away = document.clone();
    apply(
        &mut away,
        rig::reparent(&document, &keeping_motion(END, ROOT)).unwrap(),
    );
    let off = apart(&document, &away);
    assert!(off < 2e-4, "{off:e}");
    let mut back = away.clone();
    apply(
        &mut back,
        rig::reparent(&away, &keeping_motion(END, MIDDLE)).unwrap(),
    );
    let off = apart(&away, &back);
    assert!(off < 2e-4, "{off:e}");
}

#[test]
fn every_joint_that_can_no_longer_follow_another_ones_inflation_is_released() {
    let mut document = tube(24);
    let follows_end = JointRule {
        inflation_parent: Some(END),
        ..JointRule::default()
    };
    let mesh = JointId(3);
    for joint in [mesh, PROP] {
        set_rule(&mut document, joint, follows_end);
    }
    // The end comes after both now, since its parent is new.
    let (edit, _) = rig::insert(&document, &bone(MIDDLE, END, 1)).unwrap();
    assert_eq!(rig::report(&document, &edit).released, [mesh, PROP]);
    apply(&mut document, edit);
    for joint in [mesh, PROP] {
        let rule = document.skeleton().joint(joint).rule;
        assert_eq!(rule.inflation_parent, None);
    }
}

#[test]
fn no_document_begins_with_remains_of_a_removed_joint() {
    let joint = |name: &str, removed: bool| Joint {
        removed,
        ..Joint::new(name, None, Transform::IDENTITY)
    };
    let joints = vec![joint("kept", false), joint("gone", true)];
    let parts = |moved: u32| Parts {
        skeleton: Arc::new(Skeleton::new(joints.clone()).unwrap()),
        clips: BTreeMap::from([(
            ClipId(0),
            Arc::new(Clip {
                channels: vec![Channel {
                    joint: JointId(moved),
                    property: Property::Translation,
                    interpolation: Interpolation::Step,
                    times: [0.0].into(),
                    values: [1.0, 2.0, 3.0].into(),
                }],
                ..Clip::named("clip")
            }),
        )]),
        ..Parts::default()
    };
    assert!(Document::new(parts(0)).is_ok());
    let why = Document::new(parts(1)).unwrap_err().to_string();
    assert!(why.contains("moves bone 1, which was removed"), "{why}");
}
