//! The whole way of an artist, through the window: open, paint, undo, save, export.

use crate::window::{CTRL, CTRL_SHIFT, Window, asset};
use egui::{Key, Modifiers, Role};
use egui_kittest::kittest::Queryable as _;
use sinew::document::Document;
use sinew::io::{import_file, is_project};
use sinew::task::Task;
use sinew::view::mode::Mode;

/// Selects a bone, goes to Paint and makes a stroke.
fn paint(window: &mut Window) {
    let bone = window.bones()[0];
    window.select(bone);
    if window.app().viewport().mode == Mode::Select {
        window.key(Modifiers::NONE, Key::Tab);
    }
    window.stroke();
    let label = window.editor().history().undo_label().unwrap_or_default();
    assert!(
        label.starts_with("Add · ") && label.ends_with(" vertices"),
        "{label}"
    );
}

/// Whether both documents have the same weights at every point.
fn same_weights(a: &Document, b: &Document) -> bool {
    let mut pairs = a.meshes().values().zip(b.meshes().values());
    a.meshes().len() == b.meshes().len() && pairs.all(|(a, b)| a.influences == b.influences)
}

#[test]
fn open_paint_undo_redo_save_reopen_and_export() {
    let mut window = Window::on("arm.glb");
    window.drop_file(asset("mannequin.glb"));
    assert_eq!(window.editor().model_name(), "mannequin.glb");
    assert!(window.says("mannequin.glb"));
    let bones = window.bones();
    assert!(bones.len() > 15);
    let first = window.document().skeleton().label(bones[0]);
    assert!(
        window
            .harness
            .query_by_role_and_label(Role::TreeItem, &first)
            .is_some()
    );

    let before = window.document().clone();
    paint(&mut window);
    assert!(!window.document().same_content(&before));
    let painted = window.document().clone();
    let heat = window.heat();
    window.key(CTRL, Key::Z);
    assert!(window.document().same_content(&before), "bit for bit");
    assert!(window.heat() != heat, "so are the colours");
    window.key(CTRL_SHIFT, Key::Z);
    assert!(window.document().same_content(&painted), "bit for bit");
    assert!(window.heat() == heat);
    assert!(window.says("mannequin.glb (not saved)"));
    assert_eq!(window.app().title(), "mannequin.glb* - Sinew");

    window.key(CTRL, Key::S);
    let project = window.folder.path().join("painted.ron");
    window.write(&project.display().to_string());
    window.click(Role::Button, "Save");
    assert!(project.is_file() && is_project(&project));
    assert!(window.says("Saved painted.ron."));
    assert!(!window.editor().history().is_modified());
    assert!(!window.says("(not saved)"));

    window.drop_file(asset("arm.glb"));
    assert_eq!(window.editor().model_name(), "arm.glb");
    window.drop_file(&project);
    assert_eq!(window.editor().model_name(), "painted.ron");
    assert_eq!(window.app().title(), "painted.ron - Sinew");
    assert!(same_weights(window.document(), &painted), "bit for bit");

    window.key(CTRL, Key::E);
    let exported = window.folder.path().join("exported.glb");
    window.write(&exported.display().to_string());
    window.click(Role::RadioButton, "None");
    window.click(Role::Button, "Save");
    assert!(window.says("Exported exported.glb."));
    let imported = import_file(&exported, &Task::new()).expect("what is exported can be opened");
    let again = Document::new(imported.parts).expect("it is consistent");
    assert!(
        same_weights(&again, &painted),
        "what was painted is in the file"
    );
}

#[test]
fn a_broken_file_says_so_and_leaves_the_model() {
    let mut window = Window::on("arm.glb");
    let before = window.document().clone();
    let broken = window.folder.path().join("broken.glb");
    std::fs::write(&broken, b"glTF, but not for long").expect("a file");
    window.drop_file(&broken);
    assert!(window.says("broken.glb"), "a sentence names the file");
    assert!(window.document().same_content(&before));
    assert_eq!(window.editor().model_name(), "arm.glb");
    assert!(!window.positions().is_empty());
    window.drop_file(window.folder.path().join("nowhere.glb"));
    assert!(window.says("nowhere.glb"));
    assert!(window.document().same_content(&before));
}

#[test]
fn unsaved_changes_are_asked_about_and_every_answer_does_what_it_says() {
    let mut window = Window::on("arm.glb");
    paint(&mut window);
    let painted = window.document().clone();
    for answer in ["Cancel", "Esc"] {
        window.drop_file(asset("cylinder.glb"));
        assert!(window.says("Save your changes?") && window.says("arm.glb has unsaved changes"));
        if answer == "Esc" {
            window.key(Modifiers::NONE, Key::Escape);
        } else {
            window.click(Role::Button, answer);
        }
        assert!(!window.says("Save your changes?"), "{answer}");
        assert!(window.document().same_content(&painted), "{answer}");
        assert_eq!(window.editor().model_name(), "arm.glb");
    }

    // Save: the project has no place yet, so its path is asked for; then the other model opens.
    window.drop_file(asset("cylinder.glb"));
    window.click(Role::Button, "Save");
    assert!(window.says("Save project"));
    let project = window.folder.path().join("arm.ron");
    window.write(&project.display().to_string());
    window.click(Role::Button, "Save");
    assert!(project.is_file());
    assert_eq!(window.editor().model_name(), "cylinder.glb");

    paint(&mut window);
    window.drop_file(&project);
    window.click(Role::Button, "Discard changes");
    assert_eq!(window.editor().model_name(), "arm.ron");
    assert!(same_weights(window.document(), &painted));
    assert!(!window.editor().history().is_modified());
}

#[test]
fn a_cancelled_path_changes_nothing() {
    let mut window = Window::on("arm.glb");
    for (key, title, leave) in [
        (Key::O, "Open", "Cancel"),
        (Key::S, "Save project", "Cancel"),
        (Key::E, "Export glTF", "Close"),
    ] {
        window.key(CTRL, key);
        assert!(
            window
                .harness
                .query_by_role_and_label(Role::TextInput, "Path")
                .is_some(),
            "{title}"
        );
        assert!(window.harness.query_all_by_label(title).next().is_some());
        // Keys of the commands are letters of a path now.
        window.write("/nowhere/1");
        assert!(window.app().viewport().mode == Mode::Select);
        window.click(Role::Button, leave);
        assert!(window.harness.query_by_label("Path").is_none(), "{title}");
        assert_eq!(window.editor().model_name(), "arm.glb");
    }
}

#[test]
fn work_that_was_not_saved_is_offered_again() {
    let mut window = Window::on("arm.glb");
    paint(&mut window);
    let painted = window.document().clone();
    window.harness.state_mut().editor_mut().autosave_now();
    window.wait("an autosave", |app| {
        app.editor().latest_autosave().is_some()
    });
    // A second window leaves the work of a living one alone.
    let mut second = Window::beside(&window, "arm.glb");
    for _ in 0..100 {
        second.harness.step();
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    assert!(!second.says("Recovered work"));
    // As after a crash.
    drop(window);
    let mut again = Window::beside(&second, "arm.glb");
    let start = std::time::Instant::now();
    while !again.says("Recovered work") {
        assert!(start.elapsed().as_secs() < 30, "nothing is offered");
        again.harness.step();
    }
    assert!(again.says("arm"));
    again.click(Role::Button, "Restore");
    assert!(same_weights(again.document(), &painted));
    assert!(
        again.editor().history().is_modified(),
        "it is not in the artist's files"
    );
}

#[test]
fn a_project_that_another_program_saved_is_asked_about() {
    let mut window = Window::on("arm.glb");
    paint(&mut window);
    let project = window.folder.path().join("arm.ron");
    window.harness.state_mut().editor_mut().save_as(&project);
    window.settle();
    assert!(!window.editor().history().is_modified());
    let theirs = std::fs::read_to_string(&project).unwrap() + "\n";
    std::fs::write(&project, &theirs).unwrap();
    let is_theirs = || std::fs::read_to_string(&project).unwrap() == theirs;
    paint(&mut window);
    for (answer, then_theirs) in [("Cancel", true), ("Overwrite", false)] {
        window.key(CTRL, Key::S);
        window.wait("the question", |app| app.editor().save_conflict().is_some());
        window.harness.step();
        assert!(window.says("Changed on disk") && is_theirs());
        window.picture("changed on disk");
        window.click(Role::Button, answer);
        window.settle();
        assert!(!window.says("Changed on disk"));
        assert_eq!(is_theirs(), then_theirs);
        assert_eq!(window.editor().history().is_modified(), then_theirs);
    }
    // Reload shows what is on disk.
    std::fs::write(&project, &theirs).unwrap();
    paint(&mut window);
    window.key(CTRL, Key::S);
    window.wait("the question", |app| app.editor().save_conflict().is_some());
    window.harness.step();
    window.click(Role::Button, "Reload");
    window.settle();
    assert!(is_theirs() && !window.editor().history().is_modified());
    // Saving a copy leaves the project file unchanged.
    std::fs::write(&project, theirs.clone() + "\n").unwrap();
    paint(&mut window);
    let painted = window.document().clone();
    window.key(CTRL, Key::S);
    window.wait("the question", |app| app.editor().save_conflict().is_some());
    window.harness.step();
    window.click(Role::Button, "Save a copy…");
    let copy = window.folder.path().join("copy.ron");
    window.write(&copy.display().to_string());
    window.click(Role::Button, "Save");
    assert!(window.says("Saved copy.ron.") && !window.editor().history().is_modified());
    assert_eq!(window.editor().project_path(), Some(&copy));
    let original = std::fs::read_to_string(&project).unwrap();
    assert!(original == theirs.clone() + "\n");
    window.drop_file(&project);
    assert!(!same_weights(window.document(), &painted));
    window.drop_file(&copy);
    assert!(same_weights(window.document(), &painted), "bit for bit");
}

#[test]
fn closing_asks_about_unsaved_changes() {
    let mut window = Window::on("arm.glb");
    assert!(window.close(), "nothing would be lost");
    paint(&mut window);
    assert!(!window.close());
    assert!(window.says("Save your changes?"));
    window.click(Role::Button, "Cancel");
    assert!(!window.says("Save your changes?"));
    assert!(!window.close());
    window
        .harness
        .get_by_role_and_label(Role::Button, "Discard changes")
        .click();
    assert!(window.asks_to_close(), "the app closes its window");
    assert!(window.close(), "and is not asked again");
}

#[test]
fn a_save_that_fails_loses_nothing() {
    let mut window = Window::on("arm.glb");
    paint(&mut window);
    let painted = window.document().clone();
    window.drop_file(asset("cylinder.glb"));
    window.click(Role::Button, "Save");
    let nowhere = window.folder.path().join("no folder").join("arm.ron");
    window.write(&nowhere.display().to_string());
    window.click(Role::Button, "Save");
    assert!(window.says("The folder"), "the dialog says why and stays");
    window.click(Role::Button, "Cancel");
    assert!(window.document().same_content(&painted));
    assert!(window.editor().history().is_modified());
    assert_eq!(
        window.editor().model_name(),
        "arm.glb",
        "nothing else was opened"
    );
}

#[test]
fn another_file_is_only_replaced_after_a_second_yes() {
    let mut window = Window::on("arm.glb");
    paint(&mut window);
    let path = window.folder.path().join("old.ron");
    std::fs::write(&path, "another project").unwrap();
    window.key(Modifiers::COMMAND, Key::S);
    window.write(&path.with_extension("").display().to_string());
    window.key(Modifiers::NONE, Key::Enter);
    assert!(window.says("old.ron already exists. Replace it?"));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "another project");
    window.click(Role::Button, "Replace");
    assert_ne!(std::fs::read_to_string(&path).unwrap(), "another project");
    assert!(!window.editor().history().is_modified());
    // Its own file is saved to without a question.
    window.stroke();
    window.key(Modifiers::COMMAND, Key::S);
    assert!(!window.editor().history().is_modified());
}

#[test]
fn files_are_chosen_from_a_list_and_opened_again_from_the_menu() {
    let mut window = Window::on("arm.glb");
    let model = window.folder.path().join("robot arm.glb");
    std::fs::copy(asset("arm.glb"), &model).expect("a copy");
    window.drop_file(&model);
    std::fs::copy(asset("cylinder.glb"), window.folder.path().join("tin.glb")).expect("a copy");
    std::fs::write(window.folder.path().join("notes.txt"), "").expect("a file");
    std::fs::create_dir(window.folder.path().join("parts")).expect("a folder");
    window.key(CTRL, Key::O);
    // The folder of the model, read on a thread.
    window.wait_until("the list", |w| {
        let row = w.harness.query_by_role_and_label(Role::ListItem, "tin.glb");
        row.is_some()
    });
    assert!(!window.says("notes.txt"), "no model");
    window.picture("open");
    window.click(Role::ListItem, "parts");
    window.wait_until("the folder", |w| w.says("No folders and no files"));
    window.click(Role::Button, "Parent folder");
    window.wait_until("the list", |w| {
        let row = w.harness.query_by_role_and_label(Role::ListItem, "tin.glb");
        row.is_some()
    });
    window.click(Role::ListItem, "tin.glb");
    window.click(Role::Button, "Open");
    assert_eq!(window.editor().model_name(), "tin.glb");
    // File › Open Recent.
    window.click(Role::Button, "File");
    window.open_submenu("Open Recent");
    window.picture("open recent");
    window.click(Role::MenuItem, "robot arm.glb");
    assert_eq!(window.editor().model_name(), "robot arm.glb");
}

#[test]
fn enter_in_the_path_opens_it() {
    let mut window = Window::on("arm.glb");
    window.key(CTRL, Key::O);
    window.write(&asset("cylinder.glb").display().to_string());
    window.key(Modifiers::NONE, Key::Enter);
    assert_eq!(window.editor().model_name(), "cylinder.glb");
    assert!(window.harness.query_by_label("Path").is_none());
}
