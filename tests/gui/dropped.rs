//! Files dropped beside an open character: recordings without control clusters, and models that may be motions.

use crate::clusters::undo_label;
use crate::window::{Window, asset};
use egui::{Key, Modifiers, Role};
use sinew::view::commands::Command;

#[test]
fn json_lines_are_added_looked_at_and_written_beside_a_plain_character() {
    let mut window = Window::on("mannequin.glb");
    let lines = window.folder.path().join("take.jsonl");
    let text = "{\"t\":0,\"scalar\":{\"emg\":1}}\n{\"t\":0.5,\"scalar\":{\"emg\":3}}\n{\"t\":1,\"scalar\":{\"emg\":5}}\n";
    std::fs::write(&lines, text).expect("a file");
    window.drop_file(&lines);
    assert_eq!(undo_label(&window), "Add recording · take");
    assert!(window.says("take, 2 Hz, 1 s"), "the Motion panel is open");
    assert!(Command::ExportTable.is_enabled(window.editor()));
    window.picture("recording-of-a-plain-character");
    // From the list of the same panel, by its path.
    let table = window.folder.path().join("load.csv");
    std::fs::write(&table, "t,load\n0,1\n1,2\n").expect("a file");
    assert!(Command::AddRecording.is_enabled(window.editor()));
    window.press_widget(Role::Button, "Add recording\u{2026}");
    assert!(window.says("JSON lines (.jsonl)"));
    window.write(&table.display().to_string());
    window.key(Modifiers::NONE, Key::Enter);
    window.settle();
    assert_eq!(undo_label(&window), "Add recording · load");
}

#[test]
fn a_dropped_model_with_clips_is_opened_or_added_as_a_motion() {
    let mut window = Window::on("mannequin.glb");
    let other = window.folder.path().join("other.glb");
    std::fs::copy(asset("mannequin.glb"), &other).expect("a copy");
    window.drop_unanswered(&other);
    assert!(window.says("Open this model?") && window.says("other.glb has clips."));
    window.picture("dropped-model");
    window.key(Modifiers::NONE, Key::Escape);
    assert!(!window.says("Open this model?"));
    assert_eq!(window.editor().model_name(), "mannequin.glb");

    window.drop_unanswered(&other);
    window.click(Role::Button, "Add as motion");
    assert_eq!(window.editor().model_name(), "mannequin.glb");
    assert!(window.editor().adding_motion().is_some());
    assert!(undo_label(&window).starts_with("Add motion · "));
    window.click(Role::Button, "Apply");

    // Opening it asks about the motion, which is not saved.
    window.drop_unanswered(&other);
    window.key(Modifiers::NONE, Key::Enter);
    assert!(window.says("Save your changes?"));
    window.click(Role::Button, "Discard changes");
    assert_eq!(window.editor().model_name(), "other.glb");
    window.drop_unanswered(&other);
    window.key(Modifiers::NONE, Key::M);
    assert!(window.editor().adding_motion().is_some());
}
