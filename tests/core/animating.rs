//! Poses keyed into clips, clips as such, and time, as the window asks for them.

use glam::{DQuat, DVec3, Vec2};
use sinew::document::{ClipId, Document, Edit, invariants};
use sinew::editor::clip_cleaning::ClipCleaning;
use sinew::editor::exporting::Correction;
use sinew::editor::{Editor, OpenRequest};
use sinew::finding::Severity;
use sinew::skeleton::{Interpolation, JointId, Property};
use sinew::tools::{PointerEvent, PointerKind};
use std::path::Path;
use std::time::{Duration, Instant};

fn editor(sample: &str) -> Editor {
    on(OpenRequest::Sample(sample.into()))
}

fn on(request: OpenRequest) -> Editor {
    let mut editor = Editor::new(None, || {}).unwrap();
    editor.open(request);
    settle(&mut editor);
    editor
}

fn settle(editor: &mut Editor) {
    let deadline = Instant::now() + Duration::from_mins(2);
    loop {
        editor.poll(0.0);
        if editor.is_idle() {
            break;
        }
        assert!(
            Instant::now() < deadline,
            "the editor does not come to rest"
        );
        std::thread::sleep(Duration::from_millis(1));
    }
    check(editor.document());
}

fn check(document: &Document) {
    let broken: Vec<_> = invariants::check(document)
        .into_iter()
        .filter(|f| f.severity == Severity::Error)
        .collect();
    assert!(broken.is_empty(), "{broken:?}");
}

fn last_notice(editor: &mut Editor) -> String {
    let mut last = String::new();
    while let Some(notice) = editor.take_notice() {
        last = notice.text;
    }
    last
}

/// Bones that a skin has, by index.
fn bones(editor: &Editor) -> Vec<JointId> {
    let mask = editor.document().skin_joint_mask();
    let shown = mask.iter().enumerate().filter(|(_, shown)| **shown);
    shown.map(|(j, _)| JointId(j as u32)).collect()
}

/// Turns a bone of the pose on screen, as a gizmo does.
fn turn(editor: &mut Editor, joint: JointId, by: DQuat) {
    let shown = editor.document().shown_pose();
    let mut pose = (*shown).clone();
    pose.locals[joint.get()].rotation *= by;
    if let Some(edit) = Edit::pose_change(editor.document().pose(), &pose) {
        editor.apply(edit, "Rotate bone").unwrap();
    }
    editor.show_unkeyed_pose();
}

fn n_undo(editor: &Editor) -> usize {
    editor.history().n_undo()
}

#[test]
fn keying_a_pose_is_one_step_that_undo_takes_back_bit_for_bit() {
    let mut e = editor("arm");
    let clip = *e.document().clips().keys().next().unwrap();
    let bone = bones(&e)[1];
    e.show_clip(Some(clip));
    e.set_time(0.5);
    e.select_joint(Some(bone));
    let source = e.document().clips()[&clip].clone();
    turn(&mut e, bone, DQuat::from_rotation_y(0.4));
    assert!(e.playback().unkeyed);
    let wanted = e.document().shown_pose();
    let (before, steps) = (e.document().clone(), n_undo(&e));

    e.key_pose();
    assert_eq!(n_undo(&e), steps + 1);
    assert_eq!(
        e.history().undo_label(),
        Some("Insert keyframes for 1 bone at 0.50 s")
    );
    assert!(!e.playback().unkeyed);
    let shown = e.document().shown_pose();
    let (a, b) = (&shown.locals[bone.get()], &wanted.locals[bone.get()]);
    assert!(
        (a.rotation - b.rotation)
            .length()
            .min((a.rotation + b.rotation).length())
            < 1e-6
    );
    settle(&mut e);
    let keyed = e.document().clone();

    e.undo();
    assert!(e.document().same_content(&before));
    // The pose is there again, and again not keyed.
    assert!(e.playback().unkeyed && e.document().shown_pose() == wanted);
    assert!(std::sync::Arc::ptr_eq(
        &e.document().clips()[&clip],
        &source
    ));
    e.redo();
    assert!(e.document().same_content(&keyed));
    settle(&mut e);
}

#[test]
fn the_first_key_makes_a_clip() {
    let mut e = editor("arm");
    let names = |e: &Editor| {
        e.document()
            .clips()
            .values()
            .map(|c| c.name.clone())
            .collect::<Vec<_>>()
    };
    let (n, bone) = (names(&e).len(), bones(&e)[1]);
    e.key_pose();
    assert!(last_notice(&mut e).starts_with("Nothing to key"));
    turn(&mut e, bone, DQuat::from_rotation_z(0.3));
    // Nothing is selected: what differs from rest is keyed.
    e.key_pose();
    let (id, clip) = e.shown_clip().expect("a clip");
    assert_eq!(clip.name, "Clip 1");
    assert_eq!(clip.channels.len(), 1);
    let channel = &clip.channels[0];
    assert_eq!(
        (channel.joint, channel.property, channel.interpolation),
        (bone, Property::Rotation, Interpolation::Linear)
    );
    assert_eq!(names(&e).len(), n + 1);
    // A second key, a second later; the clip can be played then.
    e.set_time(1.0);
    turn(&mut e, bone, DQuat::from_rotation_z(0.5));
    e.key_pose();
    assert_eq!(e.clip_range(), Some((0.0, 1.0)));
    assert_eq!(e.shown_clip().unwrap().1.channels[0].times[..], [0.0, 1.0]);
    while e.history().n_undo() > 0 {
        e.undo();
    }
    // The clip on screen is gone, and the artist's pose is shown.
    assert!(e.shown_clip().is_none() && !e.document().clips().contains_key(&id));
    settle(&mut e);
    e.toggle_play();
    assert!(e.is_playing());
}

#[test]
fn what_a_bone_has_and_what_differs_is_keyed() {
    let mut e = editor("arm");
    e.new_clip();
    let bone = bones(&e)[2];
    let mut pose = (**e.document().pose()).clone();
    pose.locals[bone.get()].translation += DVec3::new(0.0, 0.1, 0.0);
    let edit = Edit::pose_change(e.document().pose(), &pose).unwrap();
    e.apply(edit, "Move bone").unwrap();
    e.show_unkeyed_pose();
    e.select_joint(Some(bone));
    e.key_pose();
    let properties = |e: &Editor| {
        let clip = e.shown_clip().unwrap().1;
        clip.channels
            .iter()
            .map(|c| (c.joint, c.property))
            .collect::<Vec<_>>()
    };
    let both = [(bone, Property::Translation), (bone, Property::Rotation)];
    assert_eq!(properties(&e), both);
    // The clip has the place now: it gets a key although it does not differ.
    e.set_time(0.5);
    turn(&mut e, bone, DQuat::from_rotation_x(0.2));
    e.key_pose();
    assert_eq!(properties(&e), both);
    for channel in &e.shown_clip().unwrap().1.channels {
        assert_eq!(channel.times[..], [0.0, 0.5]);
    }
}

#[test]
fn posed_bones_that_are_not_selected_stay_as_they_are_on_screen() {
    let mut e = editor("arm");
    e.new_clip();
    let (one, other) = (bones(&e)[1], bones(&e)[2]);
    turn(&mut e, one, DQuat::from_rotation_z(0.3));
    turn(&mut e, other, DQuat::from_rotation_z(0.4));
    let posed = e.document().shown_pose();
    e.select_joint(Some(one));
    e.key_pose();
    assert!(e.playback().unkeyed);
    assert_eq!(
        last_notice(&mut e),
        "Inserted keyframes for 1 bone. 1 other bone is posed but not selected, and not keyed."
    );
    assert_eq!(e.document().shown_pose(), posed);
    e.select_joint(None);
    e.key_pose();
    assert!(!e.playback().unkeyed);
    assert_eq!(e.shown_clip().unwrap().1.channels.len(), 2);
}

#[test]
fn a_key_beside_the_present_time_is_the_one_that_is_keyed_and_deleted() {
    let mut e = editor("arm");
    e.new_clip();
    let bone = bones(&e)[1];
    e.select_joint(Some(bone));
    e.set_time(1.0);
    e.key_pose();
    // As good as the same time.
    e.set_time(1.0004);
    turn(&mut e, bone, DQuat::from_rotation_z(0.3));
    e.key_pose();
    assert_eq!(e.shown_clip().unwrap().1.channels[0].times[..], [1.0]);
    // A key off the frames does not pull time to itself.
    e.set_time(1.01);
    turn(&mut e, bone, DQuat::from_rotation_z(0.4));
    e.key_pose();
    assert_eq!(e.shown_clip().unwrap().1.channels[0].times[..], [1.0, 1.01]);
    assert_eq!(e.playback().time_secs, f64::from(1.01_f32));
    assert!(!e.playback().unkeyed);
    e.undo();
    e.set_time(2.0);
    e.key_pose();
    e.set_time(1.5);
    e.delete_keys();
    assert_eq!(
        last_notice(&mut e),
        "The selected bones have no keyframe at this time."
    );
    e.set_time(1.99);
    let steps = n_undo(&e);
    e.delete_keys();
    assert_eq!(
        e.history().undo_label(),
        Some("Delete keyframes of 1 bone at 2.00 s")
    );
    assert_eq!((n_undo(&e), e.clip_range()), (steps + 1, Some((1.0, 1.0))));
    e.set_time(1.0);
    e.delete_keys();
    assert!(e.shown_clip().unwrap().1.channels.is_empty());
    settle(&mut e);
}

#[test]
fn clips_are_made_copied_renamed_and_deleted() {
    let mut e = editor("arm");
    let first = *e.document().clips().keys().next().unwrap();
    let before = e.document().clone();
    e.show_clip(Some(first));
    e.set_time(0.25);
    e.duplicate_clip();
    let (copy, clip) = e.shown_clip().unwrap();
    assert!(copy != first && e.playback().time_secs == 0.25);
    let source = &before.clips()[&first];
    assert_eq!(clip.name, format!("{} copy", source.name));
    for (a, b) in clip.channels.iter().zip(&source.channels) {
        assert!(std::sync::Arc::ptr_eq(&a.values, &b.values));
    }
    e.rename_clip("  Wave slowly ");
    assert_eq!(e.shown_clip().unwrap().1.name, "Wave slowly");
    assert_eq!(
        e.history().undo_label(),
        Some("Rename clip to \"Wave slowly\"")
    );
    let steps = n_undo(&e);
    e.rename_clip("Wave slowly");
    assert_eq!(n_undo(&e), steps);
    e.show_clip(Some(first));
    e.delete_clip();
    assert!(e.shown_clip().is_none() && !e.document().clips().contains_key(&first));
    e.undo();
    assert_eq!(e.shown_clip().map(|(id, _)| id), Some(first));
    e.redo();
    e.new_clip();
    // The id of a deleted clip of the file still names that clip.
    assert!(e.shown_clip().unwrap().0 > first);
    e.new_clip();
    assert_eq!(e.shown_clip().unwrap().1.name, "Clip 2");
    while n_undo(&e) > 0 {
        e.undo();
    }
    assert!(e.document().same_content(&before));
}

#[test]
fn keys_are_moved_in_one_step() {
    let mut e = editor("arm");
    e.new_clip();
    let bone = bones(&e)[1];
    e.select_joint(Some(bone));
    for time in [0.0, 0.5, 1.0] {
        e.set_time(time);
        turn(&mut e, bone, DQuat::from_rotation_z(0.2));
        e.key_pose();
    }
    let (before, steps) = (e.document().clone(), n_undo(&e));
    let times = |e: &Editor| e.shown_clip().unwrap().1.channels[0].times.to_vec();
    e.begin_key_drag(0.5, None);
    for by in [0.05, 0.2, 0.7, 0.25] {
        e.drag_keys_by(by);
        check(e.document());
    }
    e.end_key_drag();
    assert_eq!(times(&e), [0.0, 0.75, 1.0]);
    assert_eq!(
        (n_undo(&e), e.history().undo_label()),
        (steps + 1, Some("Move 1 keyframe of 0.50 s"))
    );
    e.undo();
    assert!(e.document().same_content(&before));
    // There and back again is no step, and neither is one that was given up.
    e.begin_key_drag(0.5, Some(bone));
    e.drag_keys_by(0.3);
    e.drag_keys_by(0.0);
    e.end_key_drag();
    e.begin_key_drag(0.5, Some(bone));
    e.drag_keys_by(0.3);
    e.undo();
    assert!(!e.is_dragging_keys() && n_undo(&e) == steps);
    assert!(e.document().same_content(&before));
    e.begin_key_drag(0.33, None);
    assert!(!e.is_dragging_keys());
}

#[test]
fn keys_are_stepped_through() {
    let mut e = editor("arm");
    e.new_clip();
    let (one, other) = (bones(&e)[1], bones(&e)[2]);
    for (bone, time) in [(one, 0.2), (other, 0.4), (one, 0.6)] {
        e.select_joint(Some(bone));
        e.set_time(time);
        e.key_pose();
    }
    let seen = |e: &Editor| (e.playback().time_secs * 10.0).round() / 10.0;
    e.select_joint(Some(one));
    e.set_time(0.0);
    e.next_key();
    assert_eq!(seen(&e), 0.2);
    e.next_key();
    assert_eq!(seen(&e), 0.6);
    e.next_key();
    assert_eq!(
        (seen(&e), last_notice(&mut e)),
        (0.6, "No more keyframes in this direction.".into())
    );
    e.select_joint(None);
    e.previous_key();
    assert_eq!(seen(&e), 0.4);
}

#[test]
fn time_is_stepped_snapped_and_bounded() {
    let mut e = editor("arm");
    let clip = *e.document().clips().keys().next().unwrap();
    e.show_clip(Some(clip));
    e.set_time(0.5);
    e.step_frames(1);
    assert!((e.frame() - 16.0).abs() < 1e-9);
    e.set_time(0.51);
    e.step_frames(1);
    assert!((e.frame() - 16.0).abs() < 1e-9);
    e.set_time(0.51);
    e.step_frames(-1);
    assert!((e.frame() - 15.0).abs() < 1e-9);
    e.set_time(0.0);
    e.step_frames(-1);
    assert_eq!(e.playback().time_secs, 0.0);
    e.set_fps(24);
    e.set_fps(13);
    assert_eq!(e.playback().fps, 24);
    assert!((e.at_frame(0.51) - 0.5).abs() < 1e-12);
    e.set_speed(99.0);
    assert_eq!(e.playback().speed, 4.0);
    e.set_speed(0.0);
    assert_eq!(e.playback().speed, 0.1);
    e.set_speed(f64::NAN);
    assert_eq!(e.playback().speed, 0.1);
    e.set_time(f64::NAN);
    assert_eq!(e.playback().time_secs, 0.0);
    e.jump_to_end();
    assert_eq!(Some(e.playback().time_secs), e.clip_range().map(|r| r.1));
    e.jump_to_start();
    assert_eq!(Some(e.playback().time_secs), e.clip_range().map(|r| r.0));
}

#[test]
fn a_range_is_played_in_a_loop_or_once() {
    let mut e = editor("arm");
    let clip = *e.document().clips().keys().next().unwrap();
    e.show_clip(Some(clip));
    e.set_play_range(Some((0.3, 0.1)));
    let (start, end) = e.play_range().unwrap();
    assert!(start == 0.3 && (end - start - 1.0 / 30.0).abs() < 1e-9);
    e.set_play_range(Some((0.3, 0.6)));
    e.toggle_play();
    assert_eq!(e.playback().time_secs, 0.3);
    e.poll(0.2);
    assert!((e.playback().time_secs - 0.5).abs() < 1e-9);
    e.poll(0.2);
    assert!((e.playback().time_secs - 0.4).abs() < 1e-9);
    e.set_speed(0.5);
    e.poll(0.1);
    assert!((e.playback().time_secs - 0.45).abs() < 1e-9);
    e.set_looping(false);
    e.set_speed(4.0);
    e.poll(0.2);
    assert!(!e.is_playing() && e.playback().time_secs == 0.6);
    // At the end: again from the start.
    e.toggle_play();
    assert!(e.is_playing() && e.playback().time_secs == 0.3);
    // Another clip has its own range.
    e.show_clip(Some(clip));
    assert_eq!(e.playback().range, None);
}

#[test]
fn a_pose_made_while_playing_stops_it_and_stays() {
    let mut e = editor("arm");
    e.toggle_play();
    e.poll(0.1);
    let bone = bones(&e)[1];
    turn(&mut e, bone, DQuat::from_rotation_z(0.3));
    let pose = e.document().shown_pose();
    e.poll(0.1);
    assert!(!e.is_playing() && e.playback().unkeyed);
    assert_eq!(e.document().shown_pose(), pose);
    e.set_time(0.3);
    assert!(!e.playback().unkeyed);
    assert_ne!(e.document().shown_pose(), pose);
}

#[test]
fn painting_goes_on_while_time_runs() {
    let mut e = editor("arm");
    let bone = bones(&e)[1];
    e.select_joint(Some(bone));
    e.toggle_play();
    let event = |kind, x: f32| PointerEvent {
        kind,
        ndc: Vec2::new(x, 0.0),
        size_px: Vec2::new(1000.0, 800.0),
        invert: false,
        smooth: false,
        pressure: None,
    };
    for (kind, x) in [
        (PointerKind::Press, -0.3),
        (PointerKind::Drag, -0.1),
        (PointerKind::Drag, 0.1),
        (PointerKind::Release, 0.3),
    ] {
        let before = e.playback().time_secs;
        e.pointer(&event(kind, x));
        e.poll(0.03);
        assert!(e.playback().time_secs != before);
    }
    let label = e.history().undo_label().unwrap_or_default();
    assert!(
        label.starts_with("Add · ") && label.ends_with(" vertices"),
        "{label}"
    );
    assert!(e.is_playing());
    e.pause();
    settle(&mut e);
}

/// Keys some bones at three times into the first clip and into a new one.
fn animate(e: &mut Editor) {
    let shown = bones(e);
    let first = e.document().clips().keys().next().copied();
    for clip in [first, None] {
        match clip {
            Some(clip) => e.show_clip(Some(clip)),
            None => e.new_clip(),
        }
        for (i, time) in [0.1, 0.37, 0.9].into_iter().enumerate() {
            e.set_time(time);
            for (j, &bone) in shown.iter().take(5).enumerate() {
                turn(e, bone, DQuat::from_rotation_y(0.1 * (i + j) as f64));
            }
            e.key_pose();
        }
    }
    e.rename_clip("Sinew's own");
}

fn same_keys(a: &Document, b: &Document) {
    let names = |d: &Document| {
        d.clips()
            .values()
            .map(|c| c.name.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(a), names(b));
    for (one, other) in a.clips().values().zip(b.clips().values()) {
        assert_eq!(one.channels.len(), other.channels.len(), "{}", one.name);
        for channel in &one.channels {
            let c = other.channel_of(channel.joint, channel.property);
            assert_eq!(Some(channel), c.map(|c| &other.channels[c]), "{}", one.name);
        }
    }
}

fn survives(e: &mut Editor) {
    animate(e);
    check(e.document());
    let folder = tempfile::tempdir().unwrap();
    let glb = folder.path().join("keyed.glb");
    e.export_settings_mut().correction = Some(Correction::None);
    e.save_export(&glb);
    settle(e);
    let again = on(OpenRequest::Path(glb));
    same_keys(e.document(), again.document());
    let project = folder.path().join("keyed.ron");
    e.set_fps(24);
    e.set_play_range(Some((0.25, 0.5)));
    e.save_as(&project);
    settle(e);
    let again = on(OpenRequest::Path(project));
    same_keys(e.document(), again.document());
    let (now, then) = (again.playback(), e.playback());
    assert_eq!(
        (now.clip, now.fps, now.range, now.time_secs),
        (then.clip, 24, Some((0.25, 0.5)), then.time_secs)
    );
}

#[test]
fn keyed_clips_survive_export_and_save() {
    survives(&mut editor("arm"));
    survives(&mut editor("mannequin"));
}

#[test]
fn keyed_clips_of_real_files_survive_export_and_save() {
    let Some(shared) = super::shared::shared_dir("keyed clips of real files") else {
        return;
    };
    for name in ["fox", "greenman_cubic_8inf"] {
        let file = model(&shared.join("models").join(name));
        survives(&mut on(OpenRequest::Path(file)));
    }
}

/// The model file in a folder.
fn model(folder: &Path) -> std::path::PathBuf {
    let files = std::fs::read_dir(folder).unwrap();
    let files = files.map(|f| f.unwrap().path());
    let model = files
        .filter(|p| p.extension().is_some_and(|e| e == "glb" || e == "gltf"))
        .min();
    model.unwrap_or_else(|| panic!("no model in {}", folder.display()))
}

#[test]
fn a_stale_clip_of_an_undone_step_is_no_clip() {
    let mut e = editor("arm");
    e.new_clip();
    let id = e.shown_clip().unwrap().0;
    e.undo();
    assert_eq!(e.playback().clip, Some(id));
    assert!(e.shown_clip().is_none() && e.clip_range().is_none());
    e.rename_clip("Nothing");
    e.duplicate_clip();
    e.delete_clip();
    e.delete_keys();
    e.jump_to_end();
    e.next_key();
    assert_eq!(n_undo(&e), 0);
    e.redo();
    assert_eq!(e.shown_clip().map(|(id, _)| id), Some(id));
    assert_eq!(e.document().clips()[&ClipId(id.0)].channels, []);
}

#[test]
fn a_recorded_clip_is_smoothed_filled_trimmed_and_looped() {
    let mut editor = editor("mannequin");
    let id = *editor.document().clips().keys().next().unwrap();
    editor.show_clip(Some(id));
    settle(&mut editor);
    let source = editor.document().clips()[&id].clone();
    let end = f64::from(source.end_secs());
    // What needs a range says so.
    for cleaning in [ClipCleaning::FillGap, ClipCleaning::Trim] {
        editor.clean_clip(cleaning);
        assert!(last_notice(&mut editor).contains("loop range"));
    }
    let labels: Vec<String> = [
        ClipCleaning::Smooth,
        ClipCleaning::FillGap,
        ClipCleaning::BlendEnd,
        ClipCleaning::Trim,
    ]
    .into_iter()
    .map(|cleaning| {
        editor.set_play_range(Some((0.25 * end, 0.75 * end)));
        editor.set_time(0.5 * end);
        let n_steps = editor.history().n_undo();
        editor.clean_clip(cleaning);
        settle(&mut editor);
        assert_eq!(editor.history().n_undo(), n_steps + 1, "{cleaning:?}");
        let cleaned = editor.document().clips()[&id].clone();
        assert_ne!(cleaned, source);
        let label = editor.history().undo_label().unwrap().to_owned();
        if cleaning == ClipCleaning::Trim {
            assert!((f64::from(cleaned.end_secs()) - 0.5 * end).abs() < 1e-3);
            assert!((editor.playback().time_secs - 0.25 * end).abs() < 1e-3);
            assert_eq!(editor.playback().range, None);
        }
        editor.undo();
        settle(&mut editor);
        assert_eq!(editor.document().clips()[&id], source);
        label
    })
    .collect();
    assert!(labels[0].starts_with("Smooth keyframes of ") && labels[0].ends_with(" bones"));
    assert!(labels[1].starts_with("Fill gap of ") && labels[2].starts_with("Blend end into start"));
    assert!(labels[3].starts_with("Trim clip to "), "{labels:?}");
    // The selected bone alone.
    let joint = source.channels[0].joint;
    editor.select_joints([joint], Some(joint));
    editor.clean_clip(ClipCleaning::Smooth);
    settle(&mut editor);
    assert_eq!(
        editor.history().undo_label(),
        Some("Smooth keyframes of 1 bone")
    );
    let cleaned = &editor.document().clips()[&id];
    let pairs = source.channels.iter().zip(&cleaned.channels);
    let mut changed = pairs.filter(|(before, after)| before != after);
    assert!(changed.all(|(before, _)| before.joint == joint));
}
