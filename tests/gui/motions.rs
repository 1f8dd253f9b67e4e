//! A motion dropped on the window: its settings, its bones, its skeleton beside the character, kept and taken back.

use crate::clusters::undo_label;
use crate::window::Window;
use egui::Role;
use egui_kittest::kittest::Queryable as _;
use sinew::motion::retarget::Travel;
use sinew::view::commands::Command;

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
