//! The pose library: what is created is applied again, by any amount and on the other side; edits of the rig, undo and
//! projects keep it.

use crate::posing::{arm, open, same_bits, select, settle};
use crate::rig_operations::{END, MIDDLE, ROOT, apply, moving_tube};
use crate::shared::shared_dir;
use glam::{DQuat, DVec3};
use sinew::document::rig::{self, Extrude, Keep, Move, Reparent, RigEdit, WeightRecipient};
use sinew::document::{Document, Edit, EditError, History, PoseId};
use sinew::editor::{Editor, OpenRequest, PoseAmount, ResetPart};
use sinew::io::project::{apply_project, parse, to_project, to_text};
use sinew::math::Transform;
use sinew::skeleton::{Channel, Clip, Frame, Interpolation, JointId, Pose, Property};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The rotation of a bone, set as the Properties panel sets it.
fn turn(editor: &mut Editor, joint: JointId, rotation: DQuat) {
    let rest = editor.document().rest_pose().locals[joint.get()];
    editor.begin_pose_field(joint, "Rotate");
    let local = Transform {
        rotation: rest.rotation * rotation,
        ..rest
    };
    editor.set_pose_field(joint, local);
    editor.confirm_transform();
}

fn turn_of(editor: &Editor, joint: JointId) -> DQuat {
    let rest = editor.document().rest_pose().locals[joint.get()].rotation;
    rest.conjugate() * editor.document().pose().locals[joint.get()].rotation
}

fn about_z(degrees: f64) -> DQuat {
    DQuat::from_rotation_z(degrees.to_radians())
}

/// As close as 32-bit numbers are.
#[track_caller]
fn assert_turn(found: DQuat, expected: DQuat) {
    let apart = (found - expected).length().min((found + expected).length());
    assert!(apart < 3e-7, "{found} instead of {expected}");
}

fn undo_label(editor: &Editor) -> &str {
    editor.history().undo_label().unwrap_or_default()
}

fn bones(editor: &Editor) -> [JointId; 2] {
    let order = editor.document().skeleton().order();
    [JointId(order[1]), JointId(order[2])]
}

#[test]
fn a_pose_is_applied_by_amounts_with_its_own_undo_step() {
    let mut editor = arm();
    let [upper, lower] = bones(&editor);
    turn(&mut editor, upper, about_z(60.0));
    select(&mut editor, &[upper]);
    let n_before = editor.history().n_undo();
    let id = editor.create_pose().unwrap();
    assert_eq!(editor.history().n_undo(), n_before + 1);
    assert_eq!(undo_label(&editor), "Create pose \"Pose 1\"");
    let held = editor.document().poses()[&id].clone();
    assert_eq!(held.posed_joints(), [upper].into());
    select(&mut editor, &[]);
    editor.reset_pose(ResetPart::All);
    turn(&mut editor, lower, about_z(10.0));
    turn(&mut editor, upper, about_z(20.0));
    let before = editor.document().pose().clone();

    // 20 degrees towards 60 and beyond.
    for (amount, degrees, label) in [
        (0.5, 40.0, "Apply 50 % of pose \"Pose 1\""),
        (1.0, 60.0, "Apply pose \"Pose 1\""),
        (1.5, 80.0, "Apply 150 % of pose \"Pose 1\""),
        (7.0, 80.0, "Apply 150 % of pose \"Pose 1\""),
    ] {
        let how = PoseAmount {
            amount,
            ..PoseAmount::WHOLE
        };
        assert!(editor.apply_library_pose(id, how));
        assert_turn(turn_of(&editor, upper), about_z(degrees));
        assert_turn(turn_of(&editor, lower), about_z(10.0));
        assert_eq!(undo_label(&editor), label);
        editor.undo();
        assert!(same_bits(editor.document().pose(), &before));
    }

    // What is added to the pose on screen is the difference from rest.
    let added = PoseAmount {
        amount: 0.5,
        added: true,
        flipped: false,
    };
    assert!(editor.apply_library_pose(id, added));
    assert_turn(turn_of(&editor, upper), about_z(50.0));
    assert_eq!(undo_label(&editor), "Add 50 % of pose \"Pose 1\"");
    editor.undo();

    // A drag shows every amount relative to its start, and Esc restores it.
    let n_before = editor.history().n_undo();
    assert!(editor.begin_library_pose(id));
    for amount in [0.2, 1.4, f64::NAN, 0.25] {
        editor.set_library_pose(PoseAmount {
            amount,
            ..PoseAmount::WHOLE
        });
    }
    assert_turn(turn_of(&editor, upper), about_z(30.0));
    assert_eq!(
        editor.applied_pose().map(|(of, how)| (of, how.amount)),
        Some((id, 0.25))
    );
    editor.cancel_transform();
    assert!(same_bits(editor.document().pose(), &before));
    assert_eq!(editor.history().n_undo(), n_before);

    // Only selected bones get it, and a pose that is there already is no step.
    select(&mut editor, &[lower]);
    assert!(!editor.apply_library_pose(id, PoseAmount::WHOLE));
    select(&mut editor, &[]);
    assert!(editor.apply_library_pose(id, PoseAmount::WHOLE));
    let n_before = editor.history().n_undo();
    assert!(!editor.apply_library_pose(id, PoseAmount::WHOLE));
    assert_eq!(editor.history().n_undo(), n_before);
}

#[test]
fn limits_hold_beyond_the_pose() {
    let mut editor = arm();
    let [upper, _] = bones(&editor);
    turn(&mut editor, upper, about_z(60.0));
    select(&mut editor, &[upper]);
    let id = editor.create_pose().unwrap();
    editor.reset_pose(ResetPart::All);
    let free = [-180f64, 180.0].map(f64::to_radians);
    let narrow = [-70f64, 70.0].map(f64::to_radians);
    let mut rule = editor.document().skeleton().joint(upper).rule;
    rule.limits = Some(sinew::skeleton::joint_limits::JointLimits([
        free, free, narrow,
    ]));
    editor
        .apply(Edit::JointRule { joint: upper, rule }, "Limits")
        .unwrap();
    let how = PoseAmount {
        amount: 1.5,
        ..PoseAmount::WHOLE
    };
    assert!(editor.apply_library_pose(id, how));
    assert_turn(turn_of(&editor, upper), about_z(70.0));
}

#[test]
fn poses_are_updated_renamed_selected_and_removed_with_undo() {
    let mut editor = arm();
    let [upper, lower] = bones(&editor);
    select(&mut editor, &[upper]);
    let first = editor.create_pose().unwrap();
    let second = editor.create_pose().unwrap();
    let names = |editor: &Editor| -> Vec<String> {
        editor
            .document()
            .poses()
            .values()
            .map(|p| p.name.clone())
            .collect()
    };
    assert_eq!(names(&editor), ["Pose 1", "Pose 2"]);
    editor.rename_pose(second, " Fist ");
    assert_eq!(undo_label(&editor), "Rename pose to \"Fist\"");
    editor.rename_pose(first, "Fist");
    assert_eq!(names(&editor), ["Fist 2", "Fist"]);
    editor.rename_pose(first, "");
    editor.undo();

    // An update takes the selected bones in; without a selection it keeps its own.
    turn(&mut editor, upper, about_z(30.0));
    turn(&mut editor, lower, about_z(15.0));
    let before = editor.document().clone();
    select(&mut editor, &[lower]);
    editor.update_pose(second);
    assert_eq!(undo_label(&editor), "Update pose \"Fist\"");
    let of = |editor: &Editor| editor.document().poses()[&second].posed_joints();
    assert_eq!(of(&editor), [upper, lower].into());
    editor.undo();
    assert!(editor.document().same_content(&before));
    select(&mut editor, &[]);
    editor.update_pose(second);
    assert_eq!(of(&editor), [upper].into());
    editor.reset_pose(ResetPart::All);
    assert!(editor.apply_library_pose(second, PoseAmount::WHOLE));
    assert_turn(turn_of(&editor, upper), about_z(30.0));
    assert_turn(turn_of(&editor, lower), DQuat::IDENTITY);

    editor.select_pose_bones(second);
    assert_eq!(editor.document().session().selected_joints, [upper].into());
    let before = editor.document().clone();
    editor.set_active_pose(Some(first));
    editor.remove_pose(first);
    assert_eq!(editor.active_pose(), Some(second));
    assert_eq!(undo_label(&editor), "Remove pose \"Pose 1\"");
    editor.undo();
    assert!(editor.document().same_content(&before));
    editor.redo();
    assert_eq!(names(&editor), ["Fist"]);

    // Without a selection all bones are in.
    select(&mut editor, &[]);
    let whole = editor.create_pose().unwrap();
    let n_live = editor.document().skeleton().n_live();
    assert_eq!(
        editor.document().poses()[&whole].posed_joints().len(),
        n_live
    );
}

/// The left arm of a character with pairs, on the right.
#[test]
fn a_flipped_pose_is_the_mirror_image_on_the_other_side() {
    let Some(shared) = shared_dir("pose_library") else {
        return;
    };
    let path = shared.join("models/mannequiny/mannequiny.glb");
    let mut editor = open(OpenRequest::Path(path));
    let skeleton = editor.document().skeleton().clone();
    let mirror = editor.mirror();
    let left = skeleton
        .live_joints()
        .find(|&j| skeleton.joint(j).name == "upperarm.l")
        .unwrap();
    let right = mirror.partner(left).unwrap();
    turn(
        &mut editor,
        left,
        DQuat::from_rotation_x(0.7) * about_z(25.0),
    );
    select(&mut editor, &[left]);
    let id = editor.create_pose().unwrap();
    editor.copy_pose();
    select(&mut editor, &[]);
    editor.reset_pose(ResetPart::All);
    assert!(editor.apply_library_pose(id, PoseAmount::FLIPPED));
    assert_eq!(undo_label(&editor), "Apply pose \"Pose 1\" flipped");
    let flipped = editor.document().pose().locals[right.get()];
    let rest = editor.document().rest_pose().clone();
    let stays = editor.document().pose().locals[left.get()];
    assert_eq!(stays, rest.locals[left.get()]);
    // As the pasted pose is, which other tests measure in the world.
    editor.undo();
    editor.paste_pose(true);
    let pasted = editor.document().pose().locals[right.get()];
    assert_turn(flipped.rotation, pasted.rotation);
    assert!(flipped.translation.distance(pasted.translation) < 1e-6);
    // Flipped twice it is the pose.
    let pose = &editor.document().poses()[&id];
    let there = pose.flipped(&rest, &mirror).pose;
    assert_eq!(there.posed_joints(), [right].into());
    let back = there.flipped(&rest, &mirror).pose;
    for (a, b) in back.channels.iter().zip(&pose.channels) {
        assert_eq!((a.joint, a.property), (b.joint, b.property));
        for (x, y) in a.values.iter().zip(b.values.iter()) {
            assert!((x - y).abs() < 1e-5, "{:?}", a.property);
        }
    }
    settle(&mut editor);
}

/// The tube of the tests of the rig with a pose of its joints, as a clip too: both must stay the same.
fn posed_tube() -> (Document, PoseId) {
    let mut document = moving_tube();
    let clip = document.clips().values().next().unwrap();
    let at = document.keyed_pose(clip, 0.7);
    let id = document.free_pose_id();
    let pose = Clip::of_pose("Bent", &at, [ROOT, MIDDLE, END]);
    let pose = Some(Arc::new(pose));
    document.apply(&mut Edit::LibraryPose { id, pose }).unwrap();
    (document, id)
}

/// World places of the ends of the bones in the pose.
fn places(document: &Document, id: PoseId, joints: &[JointId]) -> Vec<DVec3> {
    let rest = document.rest_pose();
    let pose = document.poses()[&id].posed_over(rest, |_| true);
    let world = pose.world_matrices(document.skeleton());
    joints.iter().map(|j| world[j.get()].translation).collect()
}

#[test]
fn edits_of_the_rig_keep_the_poses_and_undo_restores_their_bits() {
    let (before, id) = posed_tube();
    let turn = DQuat::from_axis_angle(DVec3::new(1.0, 2.0, 3.0).normalize_or_zero(), 1.1);
    let frames = BTreeMap::from([(MIDDLE, Frame::from_rotation(turn))]);
    let moved = Move {
        joint: MIDDLE,
        by: DVec3::new(0.1, 0.2, 0.0),
        intent: rig::Intent::KeepMotion,
        children: rig::Children::Stay,
        tolerance: rig::KEY_TOLERANCE,
    };
    let reparented = Reparent {
        joint: END,
        parent: Some(ROOT),
        keep: Keep::Motion,
        nearest: false,
        tolerance: rig::KEY_TOLERANCE,
    };
    let insert = rig::Insert {
        joint: MIDDLE,
        child: END,
        n: 2,
        half_width: None,
    };
    let edits: Vec<(&str, RigEdit)> = vec![
        (
            "turned",
            rig::change_frames(&before, &frames, 1e-4).unwrap(),
        ),
        ("moved", rig::move_joint(&before, &moved).unwrap()),
        ("reparented", rig::reparent(&before, &reparented).unwrap()),
        ("inserted", rig::insert(&before, &insert).unwrap().0),
        ("renamed", rig::rename(&before, MIDDLE, "elbow").unwrap()),
        (
            "removed",
            rig::remove(&before, MIDDLE, WeightRecipient::IntoParent).unwrap(),
        ),
    ];
    let at = places(&before, id, &[END]);
    for (what, change) in edits {
        let mut document = before.clone();
        let mut history = History::default();
        history
            .apply(&mut document, Edit::Rig(Box::new(change)), what)
            .unwrap();
        crate::rig_operations::assert_sound(&document);
        let apart = places(&document, id, &[END])[0].distance(at[0]);
        assert!(apart < 1e-5, "{what}: {apart}");
        let held = document.poses()[&id].posed_joints();
        assert!(
            held.iter().all(|&j| document.skeleton().is_live(j)),
            "{what}"
        );
        history.undo(&mut document).unwrap();
        assert!(document.same_content(&before), "{what}");
    }
}

/// A half joint follows its source by a constraint: poses hold no rotation of it.
#[test]
fn half_joints_are_posed_where_their_source_is() {
    let (mut document, id) = posed_tube();
    let other = document.free_pose_id();
    let pose = Some(Arc::new(Clip::of_pose(
        "Root",
        document.rest_pose(),
        [ROOT],
    )));
    document
        .apply(&mut Edit::LibraryPose { id: other, pose })
        .unwrap();
    let (change, made) = rig::half(&document, MIDDLE).unwrap();
    apply(&mut document, change);
    let holds = |id: PoseId| document.poses()[&id].channel_of(made, Property::Rotation);
    assert!(holds(id).is_none() && holds(other).is_none());
    let mut pose = document.poses()[&id].posed_over(document.rest_pose(), |_| true);
    document.constrain(&mut pose);
    let [half, whole] = [made, MIDDLE].map(|j| pose.locals[j.get()].rotation);
    let rest = document.rest_pose().locals[MIDDLE.get()].rotation;
    let angles = [half, whole].map(|q| (rest.conjugate() * q).w.abs().acos());
    assert!((angles[0] * 2.0 - angles[1]).abs() < 1e-5, "{angles:?}");
}

#[test]
fn what_is_no_pose_is_refused_and_changes_nothing() {
    let (mut document, id) = posed_tube();
    let before = document.clone();
    let two_keys = Channel {
        joint: MIDDLE,
        property: Property::Scale,
        interpolation: Interpolation::Linear,
        times: [0.0, 1.0].into(),
        values: [1.0; 6].into(),
    };
    let missing = Channel::of_key(JointId(99), Property::Scale, 0.0, &[1.0; 3]);
    let not_finite = Channel::of_key(MIDDLE, Property::Scale, 0.0, &[f64::NAN, 1.0, 1.0]);
    for channel in [two_keys, missing, not_finite] {
        let pose = Clip {
            channels: vec![channel],
            ..Clip::named("wrong")
        };
        let pose = Some(Arc::new(pose));
        let refused = document.apply(&mut Edit::LibraryPose { id, pose });
        assert!(
            matches!(refused, Err(EditError::LibraryPose { .. })),
            "{refused:?}"
        );
    }
    let gone = PoseId(99);
    let refused = document.apply(&mut Edit::LibraryPose {
        id: gone,
        pose: None,
    });
    assert_eq!(refused, Err(EditError::NoPose(gone)));
    assert!(document.same_content(&before));
}

#[test]
fn projects_keep_the_library_with_new_and_removed_bones() {
    let source = crate::project::strip(
        60,
        &["Hips", "Arm", "Hand"],
        std::path::Path::new("/models/strip.gltf"),
    );
    let mut document = source.clone();
    let wanted = Extrude {
        parent: Some(JointId(1)),
        at: DVec3::new(0.25, 0.5, 0.0),
        name: "Thumb".into(),
    };
    let (change, thumb) = rig::extrude(&document, &wanted).unwrap();
    document.apply(&mut Edit::Rig(Box::new(change))).unwrap();
    let mut shown = Pose::clone(document.rest_pose());
    for joint in [JointId(1), JointId(2), thumb] {
        shown.locals[joint.get()].rotation = about_z(33.0);
        shown.locals[joint.get()].translation.x += 0.1;
    }
    let all: Vec<JointId> = document.skeleton().live_joints().collect();
    for (k, joints) in [all, vec![thumb]].into_iter().enumerate() {
        let pose = Clip::of_pose(&format!("“Fist” {k}"), &shown, joints);
        let id = PoseId(3 + k as u32);
        let pose = Some(Arc::new(pose));
        document.apply(&mut Edit::LibraryPose { id, pose }).unwrap();
    }
    let change = rig::remove(&document, JointId(2), WeightRecipient::IntoParent).unwrap();
    document.apply(&mut Edit::Rig(Box::new(change))).unwrap();
    let project = std::path::Path::new("/models/strip.ron");
    let text_of =
        |document: &Document| to_text(&to_project(document, Some(project)).unwrap()).unwrap();
    let text = text_of(&document);
    assert!(text.contains("version: 11") && text.contains("poses: ["));
    let (opened, findings) = apply_project(source.clone(), parse(&text).unwrap()).unwrap();
    assert_eq!(findings, []);
    assert_eq!(opened.poses(), document.poses());
    assert!(opened.same_content(&document));
    assert_eq!(text_of(&opened), text);

    // A pose that is wrong is skipped with its place; the others are there.
    let wrong = text.replacen("times: [0.0]", "times: [0.0, 1.0]", 1);
    assert_ne!(wrong, text);
    let (opened, findings) = apply_project(source, parse(&wrong).unwrap()).unwrap();
    assert_eq!(opened.poses().len(), 1);
    assert!(findings[0].place.contains("pose 3"), "{findings:?}");
}

/// Two poses of different bones, as a clip: rest, then one a second; and back with their names.
#[test]
fn poses_become_a_clip_with_their_names_and_come_back() {
    let mut editor = arm();
    editor.show_clip(None);
    let [upper, lower] = bones(&editor);
    for (joint, degrees, name) in [(upper, 60.0, "Up"), (lower, -200.0, "Fist")] {
        editor.reset_pose(ResetPart::All);
        turn(&mut editor, joint, about_z(degrees));
        select(&mut editor, &[joint]);
        let id = editor.create_pose().unwrap();
        editor.rename_pose(id, name);
        select(&mut editor, &[]);
    }
    editor.reset_pose(ResetPart::All);
    let before = editor.document().clone();
    let n_before = editor.history().n_undo();
    editor.poses_to_clip();
    assert_eq!(editor.history().n_undo(), n_before + 1);
    assert_eq!(undo_label(&editor), "Poses to clip");
    let clip = editor.shown_clip().unwrap().1.clone();
    assert_eq!(clip.name, "Poses");
    assert_eq!(
        clip.pose_names,
        [(1.0, "Up".to_owned()), (2.0, "Fist".to_owned())]
    );
    // A key for each pose of the two rotations that change, held until the next.
    assert_eq!(clip.channels.len(), 2);
    for channel in &clip.channels {
        assert_eq!(
            (channel.property, channel.interpolation),
            (Property::Rotation, Interpolation::Step)
        );
        assert_eq!(channel.times[..], [0.0, 1.0, 2.0]);
    }
    let rest = editor.document().rest_pose().clone();
    for (time, of_upper, of_lower) in [(0.5, 0.0, 0.0), (1.9, 60.0, 0.0), (2.0, 0.0, -200.0)] {
        let posed = editor.document().keyed_pose(&clip, time);
        for (joint, degrees) in [(upper, of_upper), (lower, of_lower)] {
            let [was, now] = [&rest, &posed].map(|pose| pose.locals[joint.get()].rotation);
            assert_turn(was.conjugate() * now, about_z(degrees));
        }
    }

    let n_before = editor.history().n_undo();
    assert_eq!(editor.clip_to_poses(), 2);
    assert_eq!(editor.history().n_undo(), n_before + 1);
    assert_eq!(undo_label(&editor), "Clip \"Poses\" to 2 poses");
    let names: Vec<&str> = editor
        .document()
        .poses()
        .values()
        .map(|p| &*p.name)
        .collect();
    assert_eq!(names, ["Up", "Fist", "Up 2", "Fist 2"]);
    let last = editor.document().poses().values().next_back().unwrap();
    assert_eq!(last.posed_joints(), [upper, lower].into());
    let posed = last.posed_over(&rest, |_| true);
    assert_turn(
        rest.locals[lower.get()].rotation.conjugate() * posed.locals[lower.get()].rotation,
        about_z(-200.0),
    );
    editor.undo();
    editor.undo();
    assert!(editor.document().same_content(&before));
    editor.redo();

    // The names are in the project and in an exported file.
    let project = to_project(editor.document(), None).unwrap();
    assert!(to_text(&project).unwrap().contains("pose_names: ["));
    let (json, read) = crate::rig_files::written(editor.document());
    let animations = json["animations"].as_array().unwrap();
    let made = animations.iter().find(|a| a["name"] == "Poses").unwrap();
    assert_eq!(made["extras"]["poses"][1]["name"], "Fist");
    let again = read
        .clips()
        .values()
        .find(|clip| clip.name == "Poses")
        .unwrap();
    assert_eq!(again.pose_names, clip.pose_names);
}

/// Every keyframe of the selected bones in the loop range; too many at once are refused.
#[test]
fn keyframes_in_the_loop_range_become_poses() {
    let mut editor = arm();
    let clip = *editor.document().clips().keys().next().unwrap();
    editor.show_clip(Some(clip));
    let content = editor.document().clips()[&clip].clone();
    let marks = sinew::skeleton::clip_keys::key_marks(&content, |_| true);
    assert!(marks.len() > 2);
    let to = f64::from(marks[1].time_secs);
    editor.set_play_range(Some((0.0, to)));
    assert_eq!(editor.clip_to_poses(), 2);
    let held = editor.document().poses().values().next().unwrap();
    let animated: std::collections::BTreeSet<JointId> =
        content.channels.iter().map(|c| c.joint).collect();
    assert_eq!(held.posed_joints(), animated);
    assert!(held.name.starts_with(&content.name), "{}", held.name);
}

#[test]
fn a_pose_is_pasted_from_its_text() {
    let mut editor = arm();
    let [upper, lower] = bones(&editor);
    turn(&mut editor, upper, about_z(60.0));
    select(&mut editor, &[upper, lower]);
    let id = editor.create_pose().unwrap();
    let text = editor.pose_as_text(id).unwrap();
    assert!(text.contains("\"name\": \"Pose 1\""), "{text}");
    let pasted = editor.paste_pose_text(&text).unwrap();
    assert_eq!(undo_label(&editor), "Paste pose \"Pose 2\" from text");
    let poses = editor.document().poses();
    assert_eq!(poses[&pasted].channels, poses[&id].channels);
    assert_eq!(editor.active_pose(), Some(pasted));
    let n_before = editor.history().n_undo();
    for text in [
        "",
        "Pose of 2 bones",
        "{\"nodes\": []}",
        "{\"nodes\": [{\"name\": \"tail\"}]}",
    ] {
        assert_eq!(editor.paste_pose_text(text), None);
        let notices = std::iter::from_fn(|| editor.take_notice());
        let last = notices.last().unwrap();
        assert!(last.is_error && last.text.contains("clipboard"), "{last:?}");
    }
    assert_eq!(editor.history().n_undo(), n_before);
}
