//! A motion dropped on the window: its settings, its bones, its skeleton beside the character, kept and taken back.

use crate::clusters::undo_label;
use crate::window::Window;
use egui::{Key, Modifiers, PointerButton, Role, Vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use sinew::motion::retarget::Travel;
use sinew::view::commands::Command;
use sinew::view::frame::Workspace;

#[test]
fn a_dropped_motion_is_adjusted_and_kept() {
    let mut window = Window::on("mannequin.glb");
    let walker = std::path::absolute("tests/data/walker.bvh").expect("a path");
    window.drop_file(&walker);
    assert_eq!(undo_label(&window), "Add motion · walker");
    assert!(window.says("22 bones moved, +Y up"));
    assert!(window.editor().motion_ghost().is_some());
    window.picture("motion-added");

    window.pick("Root motion", "In place");
    let motion = window.editor().adding_motion().expect("adjusted");
    assert_eq!(motion.settings().retarget.travel, Travel::InPlace);
    window.harness.get_by_label("Bones (19 matched)").click();
    window.harness.step();
    window.settle();
    assert!(window.says("Spine: Spine, Chest to "));
    window.picture("motion-bones");
    window.harness.get_by_label("Bones (19 matched)").click();
    window.harness.step();
    window.settle();
    window.click(Role::CheckBox, "Show source skeleton");
    assert!(window.editor().motion_ghost().is_none());
    window.find_and_run(Command::AdjustLast);
    assert!(!window.says("22 bones moved, +Y up"), "hidden");
    window.find_and_run(Command::AdjustLast);
    window.click(Role::Button, "Apply");
    assert!(window.editor().adding_motion().is_none());
    assert_eq!(undo_label(&window), "Add motion · walker");

    // Its settings open again after other edits.
    window.find_and_run(Command::ToggleExported);
    assert_ne!(undo_label(&window), "Add motion · walker");
    window.click(Role::Button, "Clip menu");
    window.click(Role::MenuItem, "Adjust motion");
    let motion = window.editor().adding_motion().expect("adjusted");
    assert_eq!(motion.settings().retarget.travel, Travel::InPlace);
    window.pick("Root motion", "Full");
    assert_eq!(undo_label(&window), "Adjust motion · walker");
    window.click(Role::Button, "Apply");
    window.find_and_run(Command::Undo);
    window.find_and_run(Command::Undo);
    assert_eq!(undo_label(&window), "Add motion · walker");

    window.drop_file(&walker);
    assert_eq!(undo_label(&window), "Add motion · walker 2");
    window.click(Role::Button, "Cancel");
    assert_eq!(undo_label(&window), "Add motion · walker");
}

/// Clicks a button, scrolled into sight.
#[track_caller]
fn press(window: &mut Window, label: &str) {
    let button = window.harness.get_by_role_and_label(Role::Button, label);
    button.scroll_to_me();
    window.harness.step();
    window.settle();
    window.click(Role::Button, label);
}

#[test]
fn lanes_and_contacts_are_dragged_and_typed() {
    let mut window = Window::sized("mannequin.glb", [1600.0, 1100.0], 1.0);
    window.find_and_run(Command::UseWorkspace(Workspace::Animate));
    window.settle();
    let walker = std::path::absolute("tests/data/walker.bvh").expect("a path");
    window.drop_file(&walker);
    window.click(Role::Button, "Apply");
    let id = *window.document().recordings().keys().next().expect("one");
    let editor = window.harness.state_mut().editor_mut();
    editor.set_contacts(id, Some([vec![[0.2, 0.8]], Vec::new()]));
    window.settle();
    assert_eq!(undo_label(&window), "Change foot contacts · walker");
    // The end of the bar is dragged to the right.
    let ends = window
        .harness
        .query_all_by_label_contains("End: Contact of the left");
    let end = ends.into_iter().next().expect("an end").rect().center();
    window.picture("foot-contacts");
    window.drag(
        PointerButton::Primary,
        Modifiers::NONE,
        end,
        Vec2::new(40.0, 0.0),
    );
    window.settle();
    let feet = window.editor().contacts_of(id).expect("contacts");
    assert!(feet[0][0][1] > 0.82, "{feet:?}");
    window.find_and_run(Command::Undo);
    window.settle();
    let feet = window.editor().contacts_of(id).expect("contacts");
    assert!((feet[0][0][1] - 0.8).abs() < 0.05, "{feet:?}");
    // The lane is dragged sideways.
    let lanes = window
        .harness
        .query_all_by_label_contains("Recording walker from ");
    let lane = lanes.into_iter().next().expect("a lane").rect().center();
    window.drag(
        PointerButton::Primary,
        Modifiers::NONE,
        lane,
        Vec2::new(30.0, 0.0),
    );
    window.settle();
    assert_eq!(undo_label(&window), "Move recording · walker");
    let offset = window.document().recordings()[&id].clock.b;
    assert!(offset > 0.01, "{offset}");
    window.find_and_run(Command::Undo);
    window.settle();
    assert_eq!(window.document().recordings()[&id].clock.b, 0.0);
    // By the flag of a stamp with Alt: it stays at the playhead.
    let editor = window.harness.state_mut().editor_mut();
    assert!(editor.add_stamp_at(id, 0.4, "hit") && editor.add_stamp_at(id, 0.6, "goal"));
    editor.set_time(0.6);
    window.settle();
    let flag = |window: &Window, label: &str| {
        let flags = window.harness.query_all_by_label(label);
        flags.into_iter().next().expect("a flag").rect().center()
    };
    let (hit, goal) = (
        flag(&window, "hit at 0.40 s"),
        flag(&window, "goal at 0.60 s"),
    );
    let by = Vec2::new(goal.x - hit.x + 4.0, 0.0);
    window.drag(PointerButton::Primary, Modifiers::ALT, hit, by);
    window.settle();
    assert_eq!(undo_label(&window), "Move recording · walker");
    let offset = window.document().recordings()[&id].clock.b;
    assert!((offset - 0.2).abs() < 1e-9, "{offset}");
    for _ in ["the move", "goal", "hit"] {
        window.find_and_run(Command::Undo);
        window.settle();
    }
    // With the arrow keys, as a slider.
    let lanes = window
        .harness
        .query_all_by_label_contains("Recording walker from ");
    lanes.into_iter().next().expect("a lane").focus();
    window.harness.step();
    window
        .harness
        .key_press_modifiers(Modifiers::SHIFT, Key::ArrowRight);
    window.harness.step();
    window.settle();
    let offset = window.document().recordings()[&id].clock.b;
    assert!((offset - 0.1).abs() < 1e-9, "{offset}");
    window.find_and_run(Command::Undo);
    window.settle();
    // A lane that goes away while it is dragged stays where it was.
    window.move_to(lane);
    window.button(lane, PointerButton::Primary, true, Modifiers::NONE);
    window.move_to(lane + Vec2::new(15.0, 0.0));
    window.move_to(lane + Vec2::new(30.0, 0.0));
    let mut n_undone = 0;
    while !window.document().recordings().is_empty() {
        window.harness.state_mut().editor_mut().undo();
        n_undone += 1;
    }
    window.harness.step();
    window.button(lane, PointerButton::Primary, false, Modifiers::NONE);
    for _ in 0..n_undone {
        window.harness.state_mut().editor_mut().redo();
    }
    window.harness.step();
    window.settle();
    assert_eq!(window.document().recordings()[&id].clock.b, 0.0);
    // In the list of recordings.
    window.click(Role::Tab, "Motion");
    press(&mut window, "Add right contact");
    window.settle();
    let feet = window.editor().contacts_of(id).expect("contacts");
    assert_eq!(feet[1].len(), 1, "{feet:?}");
    press(&mut window, "Add typed stamp");
    assert_eq!(window.document().recordings()[&id].stamps.len(), 1);
    press(&mut window, "Delete stamp 1");
    assert!(window.document().recordings()[&id].stamps.is_empty());
    window.picture("recording-moments");
}

/// Clicks the head of a recording, scrolled into sight.
#[track_caller]
fn fold(window: &mut Window, label: &str) {
    let head = window.harness.get_by_role_and_label(Role::TreeItem, label);
    head.scroll_to_me();
    window.harness.step();
    window.settle();
    window.click(Role::TreeItem, label);
}

/// A load and the angle of a knee at 50 Hz, the one `late` seconds after the other's clock.
pub(crate) fn devices(folder: &std::path::Path) -> [std::path::PathBuf; 2] {
    [("imu", "knee", 0.0), ("plate", "load", -0.4)].map(|(name, channel, late)| {
        let rows = (0..600).map(|i| {
            let t = f64::from(i) * 0.02;
            let value = (1.1 * t).sin() + (2.9 * t * (1.0 + 0.05 * t)).sin();
            format!("{},{value}\n", t + late)
        });
        let text = format!("time,{channel}\n{}", rows.collect::<String>());
        let path = folder.join(name).with_extension("csv");
        std::fs::write(&path, text).expect("written");
        path
    })
}

#[test]
fn the_channels_of_all_recordings_are_listed_and_folded() {
    let mut window = Window::sized("mannequin.glb", [1600.0, 1100.0], 1.0);
    window.find_and_run(Command::UseWorkspace(Workspace::Animate));
    let folder = tempfile::tempdir().expect("a folder");
    for path in devices(folder.path()) {
        let editor = window.harness.state_mut().editor_mut();
        editor.add_recording(&path);
        window.settle();
    }
    let editor = window.harness.state_mut().editor_mut();
    editor.set_time(0.5);
    window.click(Role::Tab, "Motion");
    // The channels of both, at the playhead; one of them is folded away.
    assert!(window.says("knee: ") && window.says("load: "));
    assert!(!window.says("no value"));
    fold(&mut window, "Channels of imu");
    assert!(!window.says("knee: ") && window.says("load: "));
    fold(&mut window, "Channels of imu");
    // The statistics of a channel are read in the background.
    let mut rows = window.harness.query_all_by_label_contains("knee: ");
    let row = rows.next().expect("a channel in sight");
    let label = row.accesskit_node().label().expect("a name");
    drop(rows);
    window.click(Role::ListBoxOption, &label);
    window.settle();
    window.picture("recordings-listed");
    assert!(window.says("Max 1.9"));
    press(&mut window, "Suggest offset");
    window.settle();
    assert!(window.says("Offset +0.400 s, correlation 1.00"));
    press(&mut window, "Apply suggested offset");
    window.settle();
    assert_eq!(undo_label(&window), "Apply suggested offset \u{b7} plate");
    let recordings = window.editor().document().recordings();
    let clock = recordings.values().next_back().expect("two").clock;
    assert!((clock.b - 0.4).abs() < 0.01, "{clock:?}");
    window.picture("recordings-aligned");
    window.find_and_run(Command::Undo);
    window.settle();
    // What cannot be done says why.
    let editor = window.editor();
    let why = Command::AlignByStamps
        .why_disabled(editor)
        .unwrap_or_default();
    assert!(
        why.starts_with("No stamp or event has the same name"),
        "{why}"
    );
    assert!(!Command::AlignByStamps.is_enabled(editor));
}

#[test]
fn a_frame_rate_as_frame_time_has_a_fix_and_samples_a_regular_rate() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = std::fs::read_to_string("tests/data/walker.bvh").expect("the walk");
    let at = text.find("Frame Time:").expect("a frame time");
    let end = at + text[at..].find('\n').expect("a line");
    let path = folder.path().join("walker.bvh");
    let text = format!("{}Frame Time: 30{}", &text[..at], &text[end..]);
    std::fs::write(&path, text).expect("a file");
    let mut window = Window::sized("mannequin.glb", [1600.0, 1100.0], 1.0);
    window.drop_file(&path);
    assert!(window.says("The frame time is 30 s, more than a second: frames per second meant?"));
    press(&mut window, "Fix");
    let id = *window.document().recordings().keys().next().expect("one");
    let step = |window: &Window| {
        let item = &window.document().recordings()[&id];
        item.recording().expect("samples").times[1]
    };
    assert!((step(&window) - 1.0 / 30.0).abs() < 1e-9);
    window.click(Role::Button, "Apply");
    assert_eq!(undo_label(&window), "Add motion · walker");
    window.click(Role::Tab, "Animate");
    window.click(Role::Tab, "Motion");
    window.settle();
    assert!(window.says("Median step 33.33 ms, 95 % of the steps within 0 ms of it, no gaps."));
    window.picture("recording-times");
    press(&mut window, "Use seconds");
    assert_eq!(undo_label(&window), "Change times · walker");
    assert!((step(&window) - 30.0).abs() < 1e-9);
    window.pick("Sample times", "Regular Rate");
    window.settle();
    let timing = window.document().recordings()[&id].timing;
    assert_eq!(timing, sinew::motion::Timing::Regular);
    window.find_and_run(Command::Undo);
    window.find_and_run(Command::Undo);
    assert!((step(&window) - 1.0 / 30.0).abs() < 1e-9);
}
