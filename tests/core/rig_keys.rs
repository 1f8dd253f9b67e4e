//! Bones that are rolled, and bones that take their children along.

use crate::editing::EditorHarness;
use crate::models::tube;
use crate::rig_operations::{END, MIDDLE, ROOT, apart, moving_tube};
use crate::rig_tools::{done, place, refused, unchanged};
use glam::{DQuat, DVec3, Vec2};
use sinew::document::rig::Intent;
use sinew::editor::{OpenRequest, RigTool};
use sinew::rig::Operation;
use sinew::skeleton::JointId;
use sinew::tools::PointerPrecision;
use std::f64::consts::FRAC_PI_3;

const SIZE: Vec2 = Vec2::new(1000.0, 800.0);

#[test]
fn a_rolled_bone_turns_about_itself_and_every_motion_stays() {
    let mut document = moving_tube();
    let before = document.clone();
    let angle = FRAC_PI_3;
    done(
        &mut document,
        &Operation::Roll {
            joint: MIDDLE,
            angle,
        },
    );
    // As near as keyframes of 32 bits can be.
    assert!(apart(&before, &document) < 1e-6);
    let world = |document: &sinew::document::Document| {
        document.rest_pose().world_matrices(document.skeleton())[MIDDLE.get()].matrix3
    };
    let along = (place(&before, END) - place(&before, MIDDLE)).normalize_or_zero();
    let expected = glam::DMat3::from_quat(DQuat::from_axis_angle(along, angle)) * world(&before);
    let off = world(&document) - expected;
    assert!(off.to_cols_array().iter().all(|d| d.abs() < 1e-12));
    // A leaf rolls about its parent's direction; back and forth is nothing.
    let half = Operation::Roll {
        joint: END,
        angle: 0.5,
    };
    done(&mut document, &half);
    done(
        &mut document,
        &Operation::Roll {
            joint: END,
            angle: -0.5,
        },
    );
    done(
        &mut document,
        &Operation::Roll {
            joint: MIDDLE,
            angle: -angle,
        },
    );
    assert!(apart(&before, &document) < 1e-6);
    let nothing = Operation::Roll {
        joint: MIDDLE,
        angle: 0.0,
    };
    assert_eq!(
        unchanged(&before, &nothing),
        "Nothing changes: “middle” already has these axes."
    );
    let wrong = Operation::Roll {
        joint: MIDDLE,
        angle: f64::NAN,
    };
    assert_eq!(refused(&before, &wrong), "The angle is not finite.");
    let gone = Operation::Roll {
        joint: JointId(99),
        angle,
    };
    assert_eq!(refused(&before, &gone), "There is no bone 99.");
}

#[test]
fn children_follow_a_moved_bone() {
    let mut document = tube(17);
    let before = document.clone();
    let by = DVec3::new(0.1, 0.2, 0.0);
    done(&mut document, &Operation::MoveTree { joint: MIDDLE, by });
    for joint in [MIDDLE, END] {
        assert!(place(&document, joint).distance(place(&before, joint) + by) < 1e-12);
    }
    assert_eq!(place(&document, ROOT), place(&before, ROOT));
}

#[test]
fn the_editor_rolls_and_takes_children_along() {
    let mut h = EditorHarness::on(OpenRequest::Sample("arm".into()));
    h.editor.show_rest(true);
    h.settle();
    let before = h.editor.document().clone();
    let skeleton = before.skeleton().clone();
    let named = |name: &str| {
        let mut joints = skeleton.live_joints();
        joints.find(|&j| skeleton.joint(j).name == name).unwrap()
    };
    let (fore, wrist) = (named("forearm"), named("wrist"));
    h.editor.select_joint(Some(fore));
    // Typed: 30 degrees.
    assert!(h.editor.begin_roll(SIZE * 0.5, SIZE));
    assert!(h.editor.is_rolling_joints());
    for c in "30".chars() {
        h.editor.type_transform(c);
    }
    assert_eq!(h.editor.transform_readout().as_deref(), Some("Roll 30°"));
    // An axis key means nothing here.
    h.editor.press_axis(sinew::tools::Axis::X, false);
    assert!(h.editor.document().same_content(&before));
    h.editor.confirm_transform();
    h.settle();
    let tool = h.editor.rig_adjusting().unwrap().tool().clone();
    let RigTool::Roll { angle } = tool else {
        panic!("{tool:?}")
    };
    assert!((angle.abs() - 30f64.to_radians()).abs() < 1e-9, "{angle}");
    let local = |h: &EditorHarness| h.editor.document().skeleton().joint(fore).rest.rotation;
    let turned = local(&h).angle_between(skeleton.joint(fore).rest.rotation);
    assert!((turned - 30f64.to_radians()).abs() < 1e-6, "{turned}");
    assert_eq!(h.editor.history().n_undo(), 1);
    h.editor.undo();
    h.settle();
    assert!(h.editor.document().same_content(&before));
    // Nothing typed, nothing moved: no step.
    h.editor.begin_roll(SIZE * 0.5, SIZE);
    h.editor.confirm_transform();
    assert_eq!(h.editor.history().n_undo(), 0);

    // Children follow, in the preview and in the result; taken back by the same switch.
    h.editor.set_children_follow(true);
    h.editor.begin_joint_move(None, SIZE * 0.5, SIZE);
    h.editor
        .update_transform(SIZE * 0.5 + 40.0, PointerPrecision::default());
    let moved = |h: &EditorHarness, joint: JointId| {
        place(h.editor.document(), joint).distance(place(&before, joint))
    };
    let bones = h.editor.bones();
    let shown = bones.iter().find(|bone| bone.joint == wrist).unwrap().head;
    assert!(
        shown.as_dvec3().distance(place(&before, wrist)) > 1e-3,
        "in the preview"
    );
    h.editor.confirm_transform();
    h.settle();
    assert!(moved(&h, fore) > 1e-3 && moved(&h, wrist) > 1e-3);
    h.editor.set_children_follow(false);
    h.settle();
    assert!(moved(&h, fore) > 1e-3 && moved(&h, wrist) < 1e-6);
    assert_eq!(h.editor.history().n_undo(), 1);
    assert_eq!(h.editor.move_intent(), Intent::NewPivot);
    h.editor.take_back_rig_operation();
    assert!(h.editor.document().same_content(&before));
}
