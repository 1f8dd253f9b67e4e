//! Constraints as the artist adds and changes them.

use crate::editing::EditorHarness;
use sinew::editor::constraints::ConstraintKind;
use sinew::skeleton::JointId;
use sinew::skeleton::constraint::Rule;

/// The arm in a bent pose, with its forearm active, and another bone.
fn bent() -> (EditorHarness, JointId, JointId) {
    let mut h = EditorHarness::new();
    let [forearm, upper] = ["forearm", "upper_arm"].map(|name| JointId(h.joint(name)));
    let mut local = h.editor.document().rest_pose().locals[forearm.get()];
    local.rotation *= glam::DQuat::from_rotation_z(0.7) * glam::DQuat::from_rotation_x(0.4);
    let pose = sinew::document::Edit::Pose {
        joints: vec![forearm],
        locals: vec![local],
    };
    h.editor.apply(pose, "Bend").unwrap();
    h.editor.select_joint(Some(forearm));
    h.settle();
    (h, forearm, upper)
}

/// A change in the editor.
type Change<'a> = &'a dyn Fn(&mut EditorHarness);

/// Nothing moves when a constraint is added without a target, nor when it limits.
#[test]
fn a_new_constraint_without_a_target_moves_nothing() {
    let (mut h, forearm, _) = bent();
    let before = h.editor.document().shown_pose();
    for kind in ConstraintKind::ALL {
        let was = h.editor.document().clone();
        h.editor.add_constraint(forearm, kind);
        let list = h.editor.document().constraints_of(forearm);
        if list.is_empty() {
            // The forearm has one bone above it: too few to bend.
            assert!(matches!(
                kind,
                ConstraintKind::TwoBoneIk | ConstraintKind::ChainIk
            ));
            continue;
        }
        assert_eq!(list[0].is_muted, kind.follows(), "{kind:?}");
        let label = format!("Add {} to forearm", kind.label());
        assert_eq!(h.editor.history().undo_label(), Some(&*label));
        let now = h.editor.document().shown_pose();
        for (a, b) in before.locals.iter().zip(&now.locals) {
            let is_same = a.to_matrix().abs_diff_eq(b.to_matrix(), 1e-12);
            assert!(is_same, "{kind:?}");
        }
        h.editor.undo();
        assert!(h.editor.document().same_content(&was), "{kind:?}");
    }
}

/// A second selected bone is the target, and undo steps name the constraint and the bone.
#[test]
fn a_second_selected_bone_is_the_target() {
    let (mut h, forearm, upper) = bent();
    h.editor.select_joints([forearm, upper], Some(forearm));
    for _ in 0..2 {
        h.editor
            .add_constraint(forearm, ConstraintKind::CopyRotation);
    }
    let list = h.editor.document().constraints_of(forearm);
    for constraint in list {
        assert!(!constraint.is_muted);
        assert!(matches!(constraint.rule, Rule::CopyRotation { source, .. } if source == upper));
    }
    // The viewport draws a line to it, once.
    assert_eq!(h.editor.followed_by_selected(), [[forearm, upper]]);
    let steps: [(&str, Change); 4] = [
        ("Mute Copy Rotation 2 of forearm", &|h| {
            h.editor.mute_constraint(forearm, 1, true);
        }),
        ("Move Copy Rotation 2 of forearm up", &|h| {
            h.editor.move_constraint(forearm, 1, true);
        }),
        ("Unmute Copy Rotation of forearm", &|h| {
            h.editor.mute_constraint(forearm, 0, false);
        }),
        ("Remove Copy Rotation 2 of forearm", &|h| {
            h.editor.remove_constraint(forearm, 1);
        }),
    ];
    for (label, step) in steps {
        step(&mut h);
        assert_eq!(h.editor.history().undo_label(), Some(label));
    }
    assert_eq!(h.editor.document().constraints_of(forearm).len(), 1);
    // What would form a cycle is refused by name.
    h.editor.select_joints([upper, forearm], Some(upper));
    h.notices.clear();
    h.editor.add_constraint(upper, ConstraintKind::CopyRotation);
    h.settle();
    let said: Vec<&str> = h.notices.iter().map(|n| n.text.as_str()).collect();
    assert!(
        said.iter().any(|m| m.contains("dependency cycle")),
        "{said:?}"
    );
    assert!(h.editor.document().constraints_of(upper).is_empty());
}

/// Baked, the constraints are muted and every clip plays as before; one undo step takes that back.
#[test]
fn constraints_become_keyframes_in_one_step() {
    let (mut h, forearm, _) = bent();
    let wrist = JointId(h.joint("wrist"));
    h.editor.select_joints([wrist, forearm], Some(wrist));
    h.editor.add_constraint(wrist, ConstraintKind::CopyRotation);
    h.editor.change_constraint(wrist, 0, "Half", |constraint| {
        constraint.influence = 0.5;
    });
    let before = h.editor.document().clone();
    let n = h.editor.history().n_undo();
    assert!(h.editor.can_bake_constraints());
    h.editor.bake_constraints();
    h.settle();
    assert_eq!(h.editor.history().n_undo(), n + 1, "{:?}", h.notices);
    assert_eq!(
        h.editor.history().undo_label(),
        Some("Bake constraints to keyframes")
    );
    let after = h.editor.document();
    assert!(after.constraints_of(wrist)[0].is_muted && after.evaluator().is_none());
    assert_eq!(*after.shown_pose(), *before.shown_pose());
    let mut most = 0.0f64;
    for (id, clip) in before.clips() {
        let end = f64::from(clip.end_secs());
        for step in 0..=60 {
            let time = end * f64::from(step) / 60.0;
            let was = before.pose_of_clip(clip, time).locals[wrist.get()].rotation;
            let is = after.pose_of_clip(&after.clips()[id], time);
            let off = was.angle_between(is.locals[wrist.get()].rotation);
            assert!(off.to_degrees() < 0.11, "{off} at {time}");
            let rest = before.rest_pose().locals[wrist.get()].rotation;
            most = most.max(was.angle_between(rest));
        }
    }
    assert!(most > 0.2, "{most}");
    h.editor.undo();
    assert!(h.editor.document().same_content(&before));
}
