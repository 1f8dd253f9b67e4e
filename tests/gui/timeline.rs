//! Clips, time and keys, by pressing and dragging.

use crate::shared::shared_dir;
use crate::window::{CTRL, Window};
use egui::{Key, Modifiers, PointerButton, Pos2, Rect, Role, Vec2, pos2, vec2};
use egui_kittest::kittest::Queryable as _;
use glam::DQuat;
use sinew::document::Edit;
use sinew::document::session::Playback;
use sinew::editor::Editor;
use sinew::skeleton::JointId;

fn playback(window: &Window) -> Playback {
    *window.editor().playback()
}

fn time(window: &Window) -> f64 {
    playback(window).time_secs
}

/// The first clip on screen, by the picker.
fn show_first_clip(window: &mut Window) {
    let name = window
        .document()
        .clips()
        .values()
        .next()
        .expect("a clip")
        .name
        .clone();
    window.click(Role::ComboBox, "Clip");
    window.click(Role::Button, &name);
    assert!(window.editor().shown_clip().is_some());
}

fn ruler(window: &Window) -> Rect {
    window.harness.get_by_label("Time").rect()
}

/// Where a time is on the ruler, by two places that are known.
fn x_of(window: &mut Window, wanted: f64) -> f32 {
    let rect = ruler(window);
    let (left, right) = (
        rect.left() + 0.3 * rect.width(),
        rect.left() + 0.9 * rect.width(),
    );
    let mut times = [0.0; 2];
    for (time_at, x) in times.iter_mut().zip([left, right]) {
        let at = pos2(x, rect.bottom() - 5.0);
        window.press(at);
        window.release(at);
        window.settle();
        *time_at = time(window);
    }
    let per_point = (times[1] - times[0]) / f64::from(right - left);
    left + ((wanted - times[0]) / per_point) as f32
}

fn turn(editor: &mut Editor, joint: JointId, angle: f64) {
    let mut pose = (*editor.document().shown_pose()).clone();
    pose.locals[joint.get()].rotation *= DQuat::from_rotation_z(angle);
    if let Some(edit) = Edit::pose_change(editor.document().pose(), &pose) {
        editor.apply(edit, "Rotate bone").expect("a valid pose");
    }
    editor.show_unkeyed_pose();
}

/// Times of the keys of the clip on screen, of the bone's first channel.
fn times(window: &Window, joint: JointId) -> Vec<f32> {
    let (_, clip) = window.editor().shown_clip().expect("a clip");
    let channel = clip.channels.iter().find(|c| c.joint == joint);
    channel.map_or_else(Vec::new, |c| c.times.to_vec())
}

fn press_label(window: &mut Window, label: &str) {
    window.click(Role::Button, label);
}

#[test]
fn buttons_play_pause_step_and_jump() {
    let mut window = Window::on("arm.glb");
    show_first_clip(&mut window);
    let (start, end) = window.editor().clip_range().expect("a clip");
    press_label(&mut window, "Jump to end");
    assert_eq!(time(&window), end);
    press_label(&mut window, "Jump to start");
    assert_eq!(time(&window), start);
    press_label(&mut window, "Next frame");
    press_label(&mut window, "Next frame");
    assert!((time(&window) * 30.0 - 2.0).abs() < 1e-9);
    press_label(&mut window, "Previous frame");
    assert!((time(&window) * 30.0 - 1.0).abs() < 1e-9);
    window.key(Modifiers::NONE, Key::ArrowRight);
    assert!((time(&window) * 30.0 - 2.0).abs() < 1e-9);
    press_label(&mut window, "Jump to start");
    press_label(&mut window, "Next keyframe");
    let key = time(&window);
    assert!(key > start);
    press_label(&mut window, "Next keyframe");
    press_label(&mut window, "Previous keyframe");
    assert_eq!(time(&window), key);
    let playing = |app: &sinew::app::SinewApp| app.editor().is_playing();
    window
        .harness
        .get_by_role_and_label(Role::Button, "Play / pause")
        .click();
    window.wait("it plays", playing);
    let before = time(&window);
    window.wait("time runs", |app| {
        app.editor().playback().time_secs != before
    });
    window
        .harness
        .get_by_role_and_label(Role::Button, "Play / pause")
        .click();
    window.wait("it stops", |app| !playing(app));
    window.settle();
    assert!(playback(&window).looping);
    press_label(&mut window, "Loop");
    assert!(!playback(&window).looping);
    window.picture("timeline-arm");
}

#[test]
fn the_ruler_is_dragged_with_and_without_frames_and_zoomed() {
    let mut window = Window::on("arm.glb");
    show_first_clip(&mut window);
    let rect = ruler(&window);
    let at = |part: f32| pos2(rect.left() + part * rect.width(), rect.bottom() - 5.0);
    let (start, end) = window.editor().clip_range().expect("a clip");
    window.press(at(0.3));
    let mut last = -1.0;
    for i in 0..10 {
        window.move_to(at(0.3 + 0.02 * i as f32));
        // In this very frame, not when the button is let go.
        assert!(time(&window) > last);
        last = time(&window);
    }
    let frame = last * 30.0;
    assert!((frame - frame.round()).abs() < 1e-6, "{frame}");
    // Outside of the ruler it goes on, and never to before the start.
    window.move_to(rect.left_top() - vec2(400.0, 100.0));
    assert_eq!(time(&window), 0.0);
    window.move_to(at(0.5));
    window.release(at(0.5));
    window.settle();
    assert!((time(&window) - start.midpoint(end)).abs() < 0.02 * (end - start));
    window.drag(
        PointerButton::Primary,
        Modifiers::NONE,
        at(0.4),
        vec2(37.0, 0.0),
    );
    let frame = time(&window) * 30.0;
    assert!((frame - frame.round()).abs() < 1e-6, "{frame}");
    // The wheel shows less around the pointer: the same way on the screen is less time.
    let way = |window: &mut Window| {
        let before = time(window);
        window.drag(PointerButton::Primary, CTRL, at(0.5), vec2(100.0, 0.0));
        let end = time(window);
        assert_ne!(before, end);
        window.drag(PointerButton::Primary, CTRL, at(0.5), vec2(50.0, 0.0));
        end - time(window)
    };
    let far = way(&mut window);
    window.move_to(at(0.5));
    window.harness.event(egui::Event::MouseWheel {
        unit: egui::MouseWheelUnit::Point,
        delta: vec2(0.0, 200.0),
        phase: egui::TouchPhase::Move,
        source: egui::MouseWheelSource::Wheel,
        modifiers: Modifiers::NONE,
    });
    for _ in 0..20 {
        window.harness.step();
    }
    let near = way(&mut window);
    assert!(near < 0.7 * far && near > 0.0, "{near} {far}");
    // Home over the timeline shows all of the clip again, and leaves the view alone.
    let camera = window.document().session().camera;
    window.move_to(at(0.5));
    window.key(Modifiers::NONE, Key::Home);
    assert!((way(&mut window) - far).abs() < 0.02 * far);
    assert_eq!(window.document().session().camera, camera);
    // The middle button moves what is shown.
    window.press(at(0.5));
    window.release(at(0.5));
    let before = time(&window);
    window.drag(
        PointerButton::Middle,
        Modifiers::NONE,
        at(0.5),
        vec2(120.0, 0.0),
    );
    assert_eq!(time(&window), before);
    window.press(at(0.5));
    window.release(at(0.5));
    assert!(time(&window) < before);
}

#[test]
fn the_loop_has_ends_that_are_dragged() {
    let mut window = Window::on("arm.glb");
    show_first_clip(&mut window);
    let (start, end) = window.editor().clip_range().expect("a clip");
    assert_eq!(playback(&window).range, None);
    let center = |window: &Window, label: &str| window.harness.get_by_label(label).rect().center();
    let width = ruler(&window).width();
    let grip = center(&window, "Loop start");
    window.drag(
        PointerButton::Primary,
        Modifiers::NONE,
        grip,
        vec2(width * 0.3, 0.0),
    );
    let range = playback(&window).range.expect("a range");
    assert!(range.0 > start && range.1 == end, "{range:?}");
    assert!((range.0 * 30.0 - (range.0 * 30.0).round()).abs() < 1e-6);
    let grip = center(&window, "Loop end");
    window.drag(
        PointerButton::Primary,
        Modifiers::NONE,
        grip,
        vec2(-width * 0.9, 0.0),
    );
    let range = playback(&window).range.expect("a range");
    assert!((range.1 - range.0 - 1.0 / 30.0).abs() < 1e-9, "{range:?}");
    window.picture("timeline-loop");
    window.choose("Animation", "Clear loop range");
    assert_eq!(playback(&window).range, None);
    window.press(ruler(&window).center());
    window.release(ruler(&window).center());
    let now = time(&window);
    window.choose("Animation", "Set loop start");
    assert_eq!(playback(&window).range, Some((now, end)));
    window.choose("Animation", "Set loop end");
    let range = playback(&window).range.expect("a range");
    assert!(range.1 == now && range.0 < now);
}

#[test]
fn speed_and_frame_rate_stay_within_their_bounds() {
    let mut window = Window::on("arm.glb");
    show_first_clip(&mut window);
    for (typed, expected) in [("99", 4.0), ("0.001", 0.1), ("2", 2.0)] {
        let at = window.harness.get_by_label("Speed").rect().center();
        for _ in 0..2 {
            window.press(at);
            window.release(at);
        }
        window.key(CTRL, Key::A);
        window.write(typed);
        window.key(Modifiers::NONE, Key::Enter);
        assert_eq!(playback(&window).speed, expected, "{typed}");
    }
    window.click(Role::ComboBox, "Frames per second");
    window.click(Role::Button, "24 fps");
    assert_eq!(playback(&window).fps, 24);
    press_label(&mut window, "Jump to start");
    press_label(&mut window, "Next frame");
    assert!((time(&window) * 24.0 - 1.0).abs() < 1e-9);
}

#[test]
fn a_pose_is_keyed_by_key_and_by_badge_and_undone_bit_for_bit() {
    let mut window = Window::on("arm.glb");
    show_first_clip(&mut window);
    let bone = window.bones()[1];
    window.select(bone);
    window.press(ruler(&window).center());
    window.release(ruler(&window).center());
    window.settle();
    let badge = "Not keyed (I)";
    assert!(!window.says(badge));
    turn(window.harness.state_mut().editor_mut(), bone, 0.4);
    window.settle();
    assert!(window.says(badge));
    window.picture("timeline-badge");
    let (before, posed) = (window.document().clone(), window.positions());
    window.key(Modifiers::NONE, Key::I);
    assert!(!window.says(badge));
    let label = window
        .editor()
        .history()
        .undo_label()
        .expect("a step")
        .to_owned();
    assert!(
        label.starts_with("Insert keyframes for 1 bone at "),
        "{label}"
    );
    // The same picture but for the rounding of a key.
    for (a, b) in window.positions().iter().zip(&posed) {
        assert!(a.abs_diff_eq(*b, 1e-4));
    }
    let keyed = window.document().clone();
    window.key(CTRL, Key::Z);
    assert!(window.document().same_content(&before));
    // The pose is there again, and again not keyed.
    press_label(&mut window, badge);
    assert!(!playback(&window).unkeyed);
    assert_eq!(window.document().clips(), keyed.clips());
    // Alt+I takes the key away again.
    window.key(Modifiers::ALT, Key::I);
    let label = window
        .editor()
        .history()
        .undo_label()
        .expect("a step")
        .to_owned();
    assert!(
        label.starts_with("Delete keyframes of 1 bone at "),
        "{label}"
    );
}

#[test]
fn the_first_key_starts_a_clip_and_clips_are_named() {
    let mut window = Window::on("arm.glb");
    let bone = window.bones()[1];
    window.select(bone);
    turn(window.harness.state_mut().editor_mut(), bone, 0.4);
    window.settle();
    press_label(&mut window, "Insert keyframe");
    let name = |window: &Window| window.editor().shown_clip().map(|(_, c)| c.name.clone());
    assert_eq!(name(&window).as_deref(), Some("Clip 1"));
    press_label(&mut window, "Rename clip");
    window.key(CTRL, Key::A);
    window.write("Bend");
    window.key(Modifiers::NONE, Key::Enter);
    assert_eq!(name(&window).as_deref(), Some("Bend"));
    press_label(&mut window, "Rename clip");
    window.write("Nothing");
    window.key(Modifiers::NONE, Key::Escape);
    assert_eq!(name(&window).as_deref(), Some("Bend"));
    press_label(&mut window, "Duplicate clip");
    assert_eq!(name(&window).as_deref(), Some("Bend copy"));
    press_label(&mut window, "Delete clip");
    assert_eq!(name(&window), None);
    assert!(window.says("Your own pose is on screen"));
    press_label(&mut window, "New clip");
    assert_eq!(name(&window).as_deref(), Some("Clip 1"));
    window.click(Role::ComboBox, "Clip");
    window.click(Role::Button, "Free pose");
    assert_eq!(name(&window), None);
}

#[test]
fn keys_are_clicked_and_dragged() {
    let mut window = Window::on("arm.glb");
    press_label(&mut window, "New clip");
    let bone = window.bones()[1];
    window.select(bone);
    for at in [0.0, 0.5, 1.0] {
        let editor = window.harness.state_mut().editor_mut();
        editor.set_time(at);
        turn(editor, bone, 0.2);
        editor.key_pose();
    }
    window.settle();
    let steps = window.editor().history().n_undo();
    let y = ruler(&window).bottom() + 9.0;
    let place = |window: &mut Window, time: f64| pos2(x_of(window, time), y);
    let half = place(&mut window, 0.5);
    let three_quarters = place(&mut window, 0.75);
    window.press(half + vec2(3.0, 0.0));
    window.release(half + vec2(3.0, 0.0));
    window.settle();
    assert_eq!(time(&window), 0.5);
    window.picture("timeline-keys");
    window.drag(
        PointerButton::Primary,
        Modifiers::NONE,
        half,
        three_quarters - half,
    );
    let moved = times(&window, bone);
    assert_eq!(moved.len(), 3);
    assert!(
        (moved[1] * 30.0 - (moved[1] * 30.0).round()).abs() < 1e-4,
        "{moved:?}"
    );
    assert!((moved[1] - 0.75).abs() < 0.02, "{moved:?}");
    assert_eq!(window.editor().history().n_undo(), steps + 1);
    window.key(CTRL, Key::Z);
    assert_eq!(times(&window, bone), [0.0, 0.5, 1.0]);
    // Escape while the button is down puts it back.
    window.press(half);
    window.move_to(half + vec2(20.0, 0.0));
    window.move_to(half + vec2(60.0, 0.0));
    assert_ne!(times(&window, bone), [0.0, 0.5, 1.0]);
    window.key(Modifiers::NONE, Key::Escape);
    window.move_to(half + vec2(80.0, 0.0));
    window.release(half + vec2(80.0, 0.0));
    window.settle();
    assert_eq!(times(&window, bone), [0.0, 0.5, 1.0]);
    assert_eq!(window.editor().history().n_undo(), steps);
    // The row of the bone says what it holds; the row above folds it away.
    let row = format!("{}: 3 keyframes", window.document().skeleton().label(bone));
    assert!(window.says(&row));
    press_label(&mut window, "1 bone: 3 keyframes");
    assert!(!window.says(&row));
}

#[test]
fn keys_are_deleted_under_the_pointer_and_by_their_menu() {
    let mut window = Window::on("arm.glb");
    press_label(&mut window, "New clip");
    let bones = window.bones();
    for (bone, at) in [
        (bones[1], 0.0),
        (bones[1], 0.5),
        (bones[2], 0.5),
        (bones[1], 1.0),
    ] {
        window.select(bone);
        let editor = window.harness.state_mut().editor_mut();
        editor.set_time(at);
        turn(editor, bone, 0.2);
        editor.key_pose();
    }
    window.select(bones[1]);
    window.settle();
    let y = ruler(&window).bottom() + 9.0;
    let place = |window: &mut Window, time: f64| pos2(x_of(window, time), y);
    // Under the pointer, at another time than the current one; only of the selected bone.
    let half = place(&mut window, 0.5);
    window.move_to(half);
    window.settle();
    window.key(Modifiers::NONE, Key::X);
    assert_eq!(times(&window, bones[1]), [0.0, 1.0]);
    assert_eq!(times(&window, bones[2]), [0.5]);
    window.key(CTRL, Key::Z);
    assert_eq!(times(&window, bones[1]), [0.0, 0.5, 1.0]);
    window.key(Modifiers::NONE, Key::Delete);
    assert_eq!(times(&window, bones[1]), [0.0, 1.0]);
    window.key(CTRL, Key::Z);
    // Beside the keyframes: those at the current time.
    let beside = place(&mut window, 0.75);
    window.harness.state_mut().editor_mut().set_time(1.0);
    window.move_to(beside);
    window.settle();
    window.key(Modifiers::NONE, Key::Delete);
    assert_eq!(times(&window, bones[1]), [0.0, 0.5]);
    window.key(CTRL, Key::Z);
    // A transform does not start from here.
    window.key(Modifiers::NONE, Key::G);
    assert!(window.editor().transforming().is_none());
    assert!(window.says("Drag keyframes to move them."));
    // The menu of a keyframe.
    window.right_click(half);
    window.settle();
    window.click(Role::Button, "Delete keyframes");
    window.settle();
    assert_eq!(times(&window, bones[1]), [0.0, 1.0]);
    assert_eq!(times(&window, bones[2]), [0.5]);
}

#[test]
fn painting_goes_on_while_the_clip_plays() {
    let mut window = Window::on("arm.glb");
    show_first_clip(&mut window);
    let bone = window.bones()[1];
    window.select(bone);
    window.key(Modifiers::NONE, Key::Num3);
    window.harness.key_press(Key::Space);
    window.wait("it plays", |app| app.editor().is_playing());
    window.wait("time runs", |app| app.editor().playback().time_secs > 0.1);
    let at = window.on_model();
    window.press(at);
    for i in 0..6 {
        window.move_to(at + vec2(4.0, 2.0) * i as f32);
    }
    window.release(at + vec2(20.0, 10.0));
    assert!(window.editor().is_playing());
    window.harness.key_press(Key::Space);
    window.settle();
}

#[test]
fn one_of_many_clips_is_found() {
    let Some(shared) = shared_dir("one_of_many_clips_is_found") else {
        return;
    };
    let knight = shared.join("models/kaykit_knight/kaykit_knight.glb");
    let mut window = Window::on("arm.glb");
    window.drop_file(knight);
    window.click(Role::ComboBox, "Clip");
    window.picture("timeline-clips");
    window.write("walking_b");
    window.settle();
    let label = |window: &Window| {
        let found: Vec<String> = window
            .document()
            .clips()
            .values()
            .map(|c| c.name.clone())
            .filter(|name| name.to_lowercase().contains("walking_b"))
            .collect();
        found
    };
    let found = label(&window);
    assert!(!found.is_empty());
    window.picture("timeline-filter");
    assert!(
        window
            .harness
            .query_by_role_and_label(Role::Button, "Free pose")
            .is_none()
    );
    window.key(Modifiers::NONE, Key::Enter);
    let shown = window.editor().shown_clip().map(|(_, c)| c.name.clone());
    assert_eq!(shown, Some(found[0].clone()));
    let bones = window.bones();
    for bone in bones.iter().take(2) {
        window
            .harness
            .state_mut()
            .editor_mut()
            .select_joint(Some(*bone));
    }
    window.settle();
    window.press(ruler(&window).center());
    window.release(ruler(&window).center());
    window.settle();
    window.picture("timeline-knight");
}

#[test]
fn without_clips_the_timeline_teaches() {
    let mut window = Window::on("mannequin.glb");
    while let Some(id) = window.document().clips().keys().next().copied() {
        let editor = window.harness.state_mut().editor_mut();
        editor.show_clip(Some(id));
        editor.delete_clip();
    }
    window.settle();
    assert!(window.says("This file has no clips. Pose a bone and press I to create one."));
    window.picture("timeline-empty");
}

/// Everything in the timeline is inside of the window at every size, and no button lies over another.
#[test]
fn nothing_is_cut_off_at_any_size() {
    for (size, scale) in [
        ([1366.0, 768.0], 1.0),
        ([1920.0, 1080.0], 1.5),
        ([1366.0, 768.0], 1.5),
        ([2560.0, 1440.0], 2.0),
    ] {
        let mut window = Window::sized("arm.glb", size, scale);
        show_first_clip(&mut window);
        let bone = window.bones()[1];
        window.select(bone);
        turn(window.harness.state_mut().editor_mut(), bone, 0.4);
        window.settle();
        let screen = Rect::from_min_size(Pos2::ZERO, Vec2::from(size) / scale);
        let mut rects: Vec<(String, Rect)> = Vec::new();
        for label in [
            "Jump to start",
            "Previous keyframe",
            "Previous frame",
            "Play / pause",
            "Next frame",
            "Next keyframe",
            "Jump to end",
            "Loop",
            "New clip",
            "Duplicate clip",
            "Rename clip",
            "Delete clip",
            "Clip menu",
            "Insert keyframe",
            "Not keyed (I)",
        ] {
            let rect = window
                .harness
                .get_by_role_and_label(Role::Button, label)
                .rect();
            rects.push((label.into(), rect));
        }
        for (role, label) in [
            (Role::SpinButton, "Speed"),
            (Role::SpinButton, "Seconds"),
            (Role::SpinButton, "Frame"),
            (Role::Slider, "Time"),
            (Role::ComboBox, "Clip"),
            (Role::ComboBox, "Interpolation"),
            (Role::ComboBox, "Frames per second"),
        ] {
            let node = window.harness.get_by_role_and_label(role, label);
            rects.push((label.into(), node.rect()));
        }
        for (i, (label, rect)) in rects.iter().enumerate() {
            assert!(
                screen.contains_rect(*rect),
                "{label} {rect} at {size:?} x {scale}"
            );
            for (other, over) in &rects[..i] {
                assert!(
                    !rect.shrink(1.0).intersects(over.shrink(1.0)),
                    "{label} and {other}"
                );
            }
        }
        window.picture(&format!("timeline-{}x{}", size[0], scale));
    }
}
