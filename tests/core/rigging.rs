//! Operations on bones in the headless editor: one undo step, adjusted until the next edit; bones moved by hand at rest.

use crate::cli::asset;
use crate::editing::EditorHarness;
use crate::rig_bind::stripped;
use crate::rig_operations::apart;
use glam::{DVec3, Vec2};
use sinew::document::Document;
use sinew::document::rig::{Axis, Intent};
use sinew::editor::{OpenRequest, RigKind, RigTool};
use sinew::rig::Template;
use sinew::skeleton::JointId;
use sinew::tools::{Axis as ToolAxis, PointerPrecision};

const SIZE: Vec2 = Vec2::new(1000.0, 800.0);

fn on(sample: &str) -> EditorHarness {
    let mut harness = EditorHarness::on(OpenRequest::Sample(sample.into()));
    harness.editor.show_rest(true);
    harness.settle();
    harness
}

fn place(document: &Document, joint: JointId) -> DVec3 {
    document.rest_pose().world_matrices(document.skeleton())[joint.get()].translation
}

/// A bone of the sample that has a parent bone and a child.
fn middle(document: &Document) -> JointId {
    let skeleton = document.skeleton();
    let is_bone = document.skin_joint_mask();
    let has_both = |&j: &JointId| {
        let parent = skeleton.joint(j).parent;
        is_bone[j.get()]
            && parent.is_some_and(|p| is_bone[p.get()])
            && skeleton.children(j).iter().any(|c| is_bone[c.get()])
    };
    skeleton.live_joints().find(has_both).unwrap()
}

fn n_bones(document: &Document) -> usize {
    document.skeleton().live_joints().count()
}

#[test]
fn an_operation_is_one_step_that_selects_the_new_bones_and_can_be_adjusted() {
    let mut h = on("hand");
    let before = h.editor.document().clone();
    let bone = middle(&before);
    let label = before.skeleton().label(bone);
    h.editor.select_joint(Some(bone));
    h.editor.begin_rig(RigKind::Subdivide);
    h.settle();
    assert_eq!(n_bones(h.editor.document()), n_bones(&before) + 1);
    let history = h.editor.history();
    assert_eq!(history.n_undo(), 1);
    let step = format!("Subdivide bone · {label}");
    assert_eq!(history.undo_label(), Some(step.as_str()));
    let session = h.editor.document().session();
    assert_eq!(session.selected_joints.len(), 1);
    assert!(session.active_joint.unwrap().get() >= before.skeleton().len());
    let report = &h.editor.rig_reports()[0];
    assert_eq!((report.label, report.made.len()), ("Subdivide bone", 1));
    assert!(
        h.notices
            .iter()
            .any(|n| n.text.starts_with("Subdivide bone: "))
    );

    // Another number replaces the step.
    h.editor.set_rig_tool(RigTool::Subdivide { n: 3 });
    h.settle();
    assert_eq!(n_bones(h.editor.document()), n_bones(&before) + 3);
    assert_eq!(h.editor.history().n_undo(), 1);
    assert_eq!(h.editor.rig_reports()[0].made.len(), 3);
    assert!(apart(&before, h.editor.document()) < 1e-6);
    // It is used again the next time.
    h.editor.undo();
    h.settle();
    assert!(h.editor.document().same_content(&before), "bit for bit");
    assert!(h.editor.rig_adjusting().is_none() && h.editor.rig_reports().is_empty());
    assert_eq!(h.editor.document().session().active_joint, Some(bone));
    h.editor.begin_rig(RigKind::Subdivide);
    h.settle();
    assert_eq!(n_bones(h.editor.document()), n_bones(&before) + 3);
    h.editor.take_back_rig_operation();
    h.settle();
    assert!(h.editor.document().same_content(&before));
}

#[test]
fn another_edit_keeps_the_operation_and_ends_its_adjustment() {
    let mut h = on("hand");
    let bone = middle(h.editor.document());
    h.editor.select_joint(Some(bone));
    h.editor.begin_rig(RigKind::Twist);
    h.settle();
    let n = n_bones(h.editor.document());
    assert!(h.editor.rig_adjusting().unwrap().is_applied());
    h.editor.toggle_lock(bone);
    h.settle();
    assert!(h.editor.rig_adjusting().is_none());
    assert_eq!(h.editor.history().n_undo(), 2);
    assert_eq!(n_bones(h.editor.document()), n);
    // An operation on weights ends it too, and the other way round.
    h.editor.toggle_lock(bone);
    h.editor.begin_rig(RigKind::Orient(Axis::X));
    h.settle();
    h.editor
        .begin_operation(sinew::editor::OperationKind::Normalise);
    h.settle();
    assert!(h.editor.rig_adjusting().is_none() && h.editor.adjusting().is_some());
    h.editor.begin_rig(RigKind::Orient(Axis::Y));
    h.settle();
    assert!(h.editor.rig_adjusting().is_some() && h.editor.adjusting().is_none());
}

#[test]
fn several_bones_are_one_step_and_what_is_refused_is_said() {
    let mut h = on("hand");
    let before = h.editor.document().clone();
    let skeleton = before.skeleton().clone();
    let bone = middle(&before);
    let child = skeleton.children(bone)[0];
    let leaf = skeleton
        .live_joints()
        .find(|&j| skeleton.children(j).is_empty() && before.skin_joint_mask()[j.get()])
        .unwrap();
    h.editor.select_joints([bone, child, leaf], Some(bone));
    h.editor.begin_rig(RigKind::Subdivide);
    h.settle();
    assert_eq!(h.editor.history().n_undo(), 1);
    let divided = if skeleton.children(child).is_empty() {
        1
    } else {
        2
    };
    assert_eq!(n_bones(h.editor.document()), n_bones(&before) + divided);
    let why = format!("“{}” has no child", skeleton.label(leaf));
    assert!(
        h.notices.iter().any(|n| n.text.contains(&why)),
        "{:?}",
        h.notices
    );
    h.editor.undo();
    h.settle();
    assert!(h.editor.document().same_content(&before));

    // Nothing to do at all: one sentence, no step and no window.
    h.editor.select_joint(Some(leaf));
    h.editor.begin_rig(RigKind::Half);
    h.settle();
    h.editor.undo();
    h.editor.select_joint(Some(leaf));
    h.editor.begin_rig(RigKind::ClearParent);
    h.settle();
    let n = h.editor.history().n_undo();
    h.editor.select_joint(None);
    assert_eq!(
        h.editor.why_not_rig(RigKind::Remove),
        Some("Select a bone first.")
    );
    h.editor.begin_rig(RigKind::Remove);
    h.settle();
    assert_eq!(h.editor.history().n_undo(), n);
    assert_eq!(h.notices.last().unwrap().text, "Select a bone first.");
}

#[test]
fn a_chain_that_is_dissolved_leaves_its_weights_to_the_bone_above() {
    let mut h = on("hand");
    let before = h.editor.document().clone();
    let skeleton = before.skeleton().clone();
    let bone = middle(&before);
    let (above, child) = (
        skeleton.joint(bone).parent.unwrap(),
        skeleton.children(bone)[0],
    );
    h.editor.select_joints([bone, child], Some(bone));
    h.editor.begin_rig(RigKind::Dissolve);
    h.settle();
    let document = h.editor.document();
    assert!(!document.skeleton().is_live(bone) && !document.skeleton().is_live(child));
    assert_eq!(document.session().active_joint, Some(above));
    let sum = |document: &Document, joints: &[JointId]| -> f64 {
        let mesh = *document.meshes().keys().next().unwrap();
        let slots: Vec<u16> = joints
            .iter()
            .filter_map(|&j| document.skin_joint(mesh, j))
            .collect();
        let rows = document.meshes()[&mesh].influences.iter();
        let weights = rows.flat_map(|row| slots.iter().map(move |&s| f64::from(row.weight_of(s))));
        weights.sum()
    };
    let (was, is) = (sum(&before, &[above, bone, child]), sum(document, &[above]));
    assert!((was - is).abs() < 1e-3 * was, "{was} {is}");
    h.editor.undo();
    h.settle();
    assert!(h.editor.document().same_content(&before));
}

#[test]
fn parents_change_and_no_clip_moves() {
    let mut h = on("hand");
    let before = h.editor.document().clone();
    let skeleton = before.skeleton().clone();
    let bone = middle(&before);
    let child = skeleton.children(bone)[0];
    let above = skeleton.joint(bone).parent.unwrap();
    assert!(h.editor.why_not_rig(RigKind::SetParent).is_some());
    h.editor.select_joints([child, above], Some(above));
    h.editor.begin_rig(RigKind::SetParent);
    h.settle();
    let document = h.editor.document();
    assert_eq!(document.skeleton().joint(child).parent, Some(above));
    assert!(apart(&before, document) < 2e-4);
    let label = h.editor.history().undo_label().unwrap().to_owned();
    assert!(label.starts_with("Set parent"), "{label}");
}

#[test]
fn a_bone_moved_by_hand_is_shown_at_once_and_is_one_step_on_release() {
    let mut h = on("hand");
    h.editor
        .set_pose_space(sinew::document::session::PoseSpace::World);
    let before = h.editor.document().clone();
    // One that the clips rotate.
    let skeleton = before.skeleton();
    let mut joints = skeleton.live_joints();
    let bone = joints
        .find(|&j| skeleton.joint(j).name == "index.02.L")
        .unwrap();
    drop(joints);
    let child = before.skeleton().children(bone)[0];
    h.editor.select_joint(Some(bone));
    let at = Vec2::new(500.0, 400.0);
    assert!(h.editor.begin_joint_move(None, at, SIZE));
    h.editor.press_axis(ToolAxis::X, false);
    for c in "0.05".chars() {
        assert!(h.editor.type_transform(c));
    }
    let head = |h: &EditorHarness, joint: JointId| {
        let bones = h.editor.bones();
        bones.iter().find(|b| b.joint == joint).unwrap().head
    };
    let rest = place(&before, bone);
    let shown = head(&h, bone).as_dvec3();
    assert!(
        shown.distance(rest + DVec3::X * 0.05) < 1e-5,
        "{shown} {rest}"
    );
    assert!(
        h.editor.document().same_content(&before),
        "no edit while dragging"
    );
    assert_eq!(
        h.editor.transform_readout().as_deref(),
        Some("Move X (global) 0.05 m")
    );
    h.editor.confirm_transform();
    h.settle();
    let document = h.editor.document();
    assert!(place(document, bone).distance(rest + DVec3::X * 0.05) < 1e-6);
    assert!(place(document, child).distance(place(&before, child)) < 1e-6);
    assert_eq!(h.editor.history().n_undo(), 1);
    let by = DVec3::X * 0.05;
    let off_pivot = apart(&before, document);
    assert!(off_pivot > 1e-4, "it turns about the new place");

    // Another intent replaces the step, and is remembered.
    h.editor.set_move_intent(Intent::KeepMotion);
    h.settle();
    assert!(apart(&before, h.editor.document()) < 3e-4);
    assert_eq!(h.editor.history().n_undo(), 1);
    assert_eq!(h.editor.move_intent(), Intent::KeepMotion);
    let tool = h.editor.rig_adjusting().unwrap().tool().clone();
    let RigTool::Move { by: moved, intent } = tool else {
        panic!("{tool:?}")
    };
    assert!(moved.distance(by) < 1e-6 && intent == Intent::KeepMotion);

    h.editor.undo();
    h.settle();
    assert!(h.editor.document().same_content(&before));
    // Esc leaves no trace.
    h.editor.begin_joint_move(None, at, SIZE);
    h.editor
        .update_transform(at + 50.0, PointerPrecision::default());
    assert!(head(&h, bone).as_dvec3().distance(rest) > 1e-3);
    h.editor.cancel_transform();
    h.settle();
    assert!(head(&h, bone).as_dvec3().distance(rest) < 1e-5);
    assert!(h.editor.document().same_content(&before));
    assert_eq!(h.editor.history().n_undo(), 0);
}

#[test]
fn a_first_run_is_not_interrupted() {
    let mut h = on("hand");
    let before = h.editor.document().clone();
    let bone = middle(&before);
    let at = Vec2::new(500.0, 400.0);
    h.editor.select_joint(Some(bone));
    assert!(h.editor.begin_joint_move(None, at, SIZE));
    h.editor
        .update_transform(at + 50.0, PointerPrecision::default());
    h.editor.confirm_transform();
    // Neither by another drag nor by another operation.
    let why = "Move bone is still running: wait for it or cancel it first.";
    assert!(!h.editor.begin_joint_move(None, at, SIZE));
    assert!(!h.editor.begin_extrude(at, SIZE));
    h.editor.begin_rig(RigKind::Subdivide);
    h.editor
        .begin_operation(sinew::editor::OperationKind::Normalise);
    assert!(h.editor.adjusting().is_none());
    h.settle();
    assert!(h.notices.iter().any(|n| n.text == why), "{:?}", h.notices);
    assert_eq!(h.editor.history().n_undo(), 1);
    assert_eq!(n_bones(h.editor.document()), n_bones(&before));
    let moved = place(h.editor.document(), bone).distance(place(&before, bone));
    assert!(moved > 1e-3, "{moved}");
    h.editor.undo();
    h.settle();

    // A drag that another operation finds running becomes a step of its own.
    assert!(h.editor.begin_joint_move(None, at, SIZE));
    h.editor
        .update_transform(at + 50.0, PointerPrecision::default());
    h.editor.begin_rig(RigKind::Subdivide);
    h.settle();
    assert_eq!(h.editor.history().n_undo(), 1);
    assert_eq!(n_bones(h.editor.document()), n_bones(&before));
    h.editor.undo();
    h.settle();

    // Cancelled, the bones are shown where they are.
    let head = |h: &EditorHarness| {
        let bones = h.editor.bones();
        bones.iter().find(|b| b.joint == bone).unwrap().head
    };
    let shown = head(&h);
    assert!(h.editor.begin_joint_move(None, at, SIZE));
    h.editor
        .update_transform(at + 50.0, PointerPrecision::default());
    h.editor.confirm_transform();
    assert!(head(&h).distance(shown) > 1e-3);
    h.editor.cancel_rig_operation();
    assert!(head(&h).distance(shown) < 1e-6);
    h.settle();
    assert!(h.editor.document().same_content(&before));
}

#[test]
fn an_operation_that_changes_nothing_is_no_step() {
    let mut h = on("hand");
    let before = h.editor.document().clone();
    let bone = middle(&before);
    let above = before.skeleton().joint(bone).parent.unwrap();
    h.editor.select_joints([bone, above], Some(above));
    h.editor.begin_rig(RigKind::SetParent);
    h.settle();
    assert_eq!(h.editor.history().n_undo(), 0);
    assert!(h.editor.document().same_content(&before));
    let adjusting = h.editor.rig_adjusting().unwrap();
    let why = adjusting.failure().unwrap();
    assert!(why.starts_with("Nothing changes"), "{why}");
    assert!(!adjusting.is_applied());
    assert_eq!(h.notices.last().unwrap().text, why);
}

#[test]
fn a_bone_is_extruded_from_its_tail() {
    let mut h = on("hand");
    let before = h.editor.document().clone();
    let skeleton = before.skeleton().clone();
    let is_bone = before.skin_joint_mask();
    let leaf = skeleton
        .live_joints()
        .find(|&j| skeleton.children(j).is_empty() && is_bone[j.get()])
        .unwrap();
    h.editor.select_joint(Some(leaf));
    let n_shown = h.editor.bones().len();
    let tail = h
        .editor
        .bones()
        .iter()
        .find(|b| b.joint == leaf)
        .unwrap()
        .tail;
    assert!(h.editor.begin_extrude(Vec2::new(500.0, 400.0), SIZE));
    assert_eq!(
        h.editor.bones().len(),
        n_shown + 1,
        "shown while it is dragged"
    );
    h.editor.confirm_transform();
    h.settle();
    let document = h.editor.document();
    let made = document.session().active_joint.unwrap();
    assert_eq!(document.skeleton().joint(made).parent, Some(leaf));
    assert!(place(document, made).distance(tail.as_dvec3()) < 1e-5);
    assert!(apart(&before, document) < 1e-9);
    assert!(
        document
            .skins()
            .values()
            .any(|skin| skin.joints.contains(&made))
    );
    assert!(
        h.editor.rig_reports()[0]
            .lines()
            .iter()
            .any(|l| l.contains("no weights"))
    );
    h.editor.undo();
    h.settle();
    assert!(h.editor.document().same_content(&before));
}

#[test]
fn the_rest_pose_is_shown_and_the_pose_comes_back() {
    let mut h = EditorHarness::on(OpenRequest::Sample("hand".into()));
    let clip = *h.editor.document().clips().keys().next().unwrap();
    h.editor.show_clip(Some(clip));
    h.editor.set_time(0.4);
    h.settle();
    let posed = h.editor.document().shown_pose();
    assert_ne!(posed.locals, h.editor.document().rest_pose().locals);
    h.editor.toggle_play();
    h.editor.show_rest(true);
    h.settle();
    assert!(!h.editor.is_playing());
    assert_eq!(
        h.editor.document().shown_pose().locals,
        h.editor.document().rest_pose().locals
    );
    h.editor.toggle_play();
    assert!(!h.editor.is_playing());
    // The frame becomes the rest pose, and no clip changes.
    let before = h.editor.document().clone();
    h.editor.begin_rig(RigKind::PoseAsRest);
    h.settle();
    assert_eq!(h.editor.document().rest_pose().locals, posed.locals);
    let compared = sinew::document::rig::measure::Compared::new(&before, h.editor.document());
    for id in before.clips().keys() {
        assert!(compared.in_clip(*id).max / compared.diagonal < 1e-6);
    }
    h.editor.undo();
    h.editor.show_rest(false);
    h.settle();
    assert_eq!(h.editor.document().shown_pose().locals, posed.locals);
}

#[test]
fn binding_waits_for_its_settings_and_a_cancelled_run_changes_nothing() {
    let mut h = on("arm");
    let before = h.editor.document().clone();
    h.editor.begin_rig(RigKind::Bind);
    h.settle();
    assert!(h.editor.rig_adjusting().unwrap().is_stale());
    assert_eq!(h.editor.history().n_undo(), 0);
    h.editor.run_rig_operation();
    h.editor.cancel_rig_operation();
    h.settle();
    assert!(h.editor.document().same_content(&before));
    assert!(h.editor.rig_adjusting().unwrap().failure().is_some());
    h.editor.run_rig_operation();
    h.settle();
    assert_eq!(h.editor.history().undo_label(), Some("Bind"));
    assert!(!h.editor.document().same_content(&before));
    assert!(h.editor.rig_reports()[0].counts.n_points > 0);
}

#[test]
fn a_model_without_bones_gets_a_skeleton_and_is_bound_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bare.glb");
    let glb = std::fs::read(asset("mannequin")).unwrap();
    std::fs::write(&path, stripped(&glb, false)).unwrap();
    let mut h = EditorHarness::on(OpenRequest::Path(path));
    let n_shown = |h: &EditorHarness| {
        let mask = h.editor.document().bone_mask();
        mask.iter().filter(|is_bone| **is_bone).count()
    };
    assert_eq!(n_shown(&h), 0);
    let why = h.editor.why_not_rig(RigKind::Bind);
    assert_eq!(why, Some("The model has no bones: add a skeleton first."));

    let humanoid = RigKind::Template(Template::Humanoid);
    h.editor.begin_rig(humanoid);
    h.settle();
    let n = n_shown(&h);
    assert!(n > 15, "{n}");
    assert_eq!(h.editor.history().n_undo(), 1);
    assert!(h.editor.document().skins().is_empty());
    let why = h.editor.why_not_rig(humanoid);
    assert_eq!(why, Some("The model already has bones."));
    let arm = |name: &str| {
        let skeleton = h.editor.document().skeleton();
        let is_named = |&j: &JointId| skeleton.label(j) == name;
        skeleton.live_joints().find(is_named).unwrap()
    };
    let forearm = arm("forearm.L");
    h.editor.select_joint(Some(forearm));
    h.editor.begin_rig(RigKind::Centre);
    h.settle();

    h.editor.begin_rig(RigKind::Bind);
    h.editor.run_rig_operation();
    h.settle();
    let document = h.editor.document();
    assert_eq!((document.skins().len(), n_shown(&h)), (1, n));
    let n_weighted = document.weighted_joints().iter().filter(|w| **w).count();
    assert!(n_weighted > 10, "{n_weighted}");
    while h.editor.history().n_undo() > 0 {
        h.editor.undo();
        h.settle();
    }
    assert_eq!(n_shown(&h), 0);
}
