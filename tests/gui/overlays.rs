//! Commands by name, help, preferences, pies, menus under the right button.

use crate::window::{CTRL, Window};
use egui::{Key, Modifiers, Role};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use sinew::deform::diagnostics::Metric;
use sinew::document::session::{PaintTarget, SelectKind};
use sinew::editor::RigKind;
use sinew::editor::live::LiveSettings;
use sinew::view::chord::Chord;
use sinew::view::commands::Command;
use sinew::view::keymap;
use sinew::view::mode::Mode;
use std::collections::BTreeSet;

fn keys_of(window: &Window, command: Command) -> Vec<Chord> {
    keymap::of(&window.harness.ctx).chords(command).to_vec()
}

#[test]
fn every_command_is_found_by_its_label() {
    let mut window = Window::on("arm.glb");
    for command in Command::all() {
        window.key(Modifiers::NONE, Key::F3);
        let label = command.full_label(window.editor());
        window.write(&label);
        let rows = window
            .harness
            .get_all_by_role(Role::ListBoxOption)
            .filter_map(|n| n.accesskit_node().label())
            .collect::<Vec<_>>();
        assert!(rows.contains(&label), "{label}: {rows:?}");
        window.key(Modifiers::NONE, Key::Escape);
        assert!(
            window.harness.query_by_role(Role::SearchInput).is_none(),
            "{label}"
        );
    }
}

#[test]
fn commands_are_found_in_either_spelling_and_the_best_match_comes_first() {
    let mut window = Window::on("arm.glb");
    let rows = |window: &mut Window, text: &str| {
        window.key(Modifiers::NONE, Key::F3);
        window.write(text);
        let rows = window.harness.get_all_by_role(Role::ListBoxOption);
        let rows: Vec<String> = rows.filter_map(|n| n.accesskit_node().label()).collect();
        window.key(Modifiers::NONE, Key::Escape);
        rows
    };
    let american = rows(&mut window, "normalize");
    assert_eq!(american, rows(&mut window, "normalise"));
    assert!(american[0].starts_with("Normalise"), "{american:?}");
    // Redo cannot be used now, and is what was asked for.
    assert_eq!(rows(&mut window, "redo")[0], "Redo");
}

#[test]
fn enter_runs_the_command_that_the_arrows_chose() {
    let mut window = Window::on("arm.glb");
    window.key(Modifiers::NONE, Key::F3);
    window.write("mode");
    let rows: Vec<String> = window
        .harness
        .get_all_by_role(Role::ListBoxOption)
        .filter_map(|n| n.accesskit_node().label())
        .collect();
    let paint = rows.iter().position(|row| row == "Paint mode");
    for _ in 0..paint.expect("the paint mode is offered") {
        window.key(Modifiers::NONE, Key::ArrowDown);
    }
    window.picture("find-command");
    window.key(Modifiers::NONE, Key::Enter);
    assert_eq!(window.app().viewport().mode, Mode::Paint);
    assert_eq!(
        window
            .harness
            .query_all_by_role(Role::ListBoxOption)
            .count(),
        0
    );
}

#[test]
fn f1_names_the_mouse_and_the_keys_of_the_mode() {
    let mut window = Window::on("arm.glb");
    window.key(Modifiers::NONE, Key::F1);
    assert!(window.says("Keys and mouse in Select mode"));
    assert!(window.says("Shift+middle"));
    assert!(window.says("Box select"));
    assert!(!window.says("Brush strength"));
    window.picture("help");
    window.key(Modifiers::NONE, Key::Escape);
    assert!(!window.says("Keys and mouse in"));
}

#[test]
fn the_manual_opens_from_the_menu_and_leads_from_page_to_page() {
    let mut window = Window::on("arm.glb");
    window.choose("Help", "Manual");
    assert!(window.says("What Sinew does"));
    window.picture("manual");
    // The table of contents has every page, and the sections of the open one.
    for (page, section) in [
        ("Window and keys", "Paint mode"),
        ("Command line", "Stack flags"),
        ("Formats and export", "Current frame as mesh"),
        ("Driving helper joints", "Evaluation"),
        ("Figures", "Corrected exports"),
        ("How Sinew is built", "Invariants"),
    ] {
        assert!(
            !window.says(&format!("    {section}")),
            "{page} is not open"
        );
        let entry = window.harness.get_by_role_and_label(Role::Button, page);
        entry.scroll_to_me();
        window.harness.step();
        window.settle();
        window.click(Role::Button, page);
        assert!(window.says(&format!("    {section}")), "{page}");
        window.click(Role::Button, &format!("    {section}"));
        window.picture(&format!("manual-{page}"));
    }
    // A link of the text leads to its page.
    window.click(Role::Button, "Manual");
    window.click(Role::Link, "Formats and export");
    assert!(window.says("    Weights files"));
    window.key(Modifiers::NONE, Key::Escape);
    assert!(!window.says("    Weights files"));
}

#[test]
fn keys_are_learnt_and_clashes_are_asked_about() {
    let mut window = Window::on("arm.glb");
    window.key(CTRL, Key::Comma);
    window.click(Role::Button, "Keys of Save project");
    window.picture("preferences-learning");
    // On a keyboard the modifier comes first; it is none of the keys.
    let before = keys_of(&window, Command::Save);
    window.key(CTRL, Key::ControlLeft);
    assert_eq!(keys_of(&window, Command::Save), before);
    window.key(CTRL, Key::F12);
    window.picture("preferences-learnt");
    assert_eq!(
        keys_of(&window, Command::Save),
        [Chord::key(Key::F12).ctrl()]
    );
    window.click(Role::Button, "Keys of Save project");
    window.key(CTRL, Key::O);
    assert!(window.says("Ctrl+O is already used by"));
    assert_eq!(
        keys_of(&window, Command::Save),
        [Chord::key(Key::F12).ctrl()]
    );
    window.picture("preferences-clash");
    window.click(Role::Button, "Assign to “Save project”");
    assert_eq!(keys_of(&window, Command::Save), [Chord::key(Key::O).ctrl()]);
    assert!(keys_of(&window, Command::Open).is_empty());
    window.click(Role::Button, "Reset all keys");
    assert_eq!(keys_of(&window, Command::Open), [Chord::key(Key::O).ctrl()]);
    window.click(Role::RadioButton, "Maya");
    assert_eq!(
        keys_of(&window, Command::FrameSelected),
        [Chord::key(Key::F)]
    );
    // Esc ends the learning, then the dialog.
    window.click(Role::Button, "Keys of Save project");
    window.picture("preferences-maya");
    window.key(Modifiers::NONE, Key::Escape);
    assert!(window.says("Filter key map"));
    window.key(Modifiers::NONE, Key::Escape);
    assert!(!window.says("Filter key map"));
}

#[test]
fn pies_choose_by_direction_and_by_number() {
    let mut window = Window::on("arm.glb");
    window.key(CTRL, Key::Tab);
    window.picture("pie");
    window.key(Modifiers::NONE, Key::Num3);
    assert_eq!(window.app().viewport().mode, Mode::Paint);
    window.key(CTRL, Key::Tab);
    window.key(Modifiers::NONE, Key::Escape);
    assert_eq!(window.app().viewport().mode, Mode::Paint);
    // Four on the ring: the first above, the second to the right.
    let bone = window.bones()[0];
    window.select(bone);
    let centre = window.viewport().center();
    window.move_to(centre);
    window.key(Modifiers::NONE, Key::K);
    window.move_to(centre + egui::vec2(60.0, 0.0));
    window.press(centre + egui::vec2(60.0, 0.0));
    window.release(centre + egui::vec2(60.0, 0.0));
    let locked = window.document().locked();
    assert!(!locked.is_empty() && !locked.contains(&bone));
}

#[test]
fn the_brush_is_sized_by_moving_the_pointer() {
    let mut window = Window::on("arm.glb");
    window.key(Modifiers::NONE, Key::Tab);
    let centre = window.viewport().center();
    window.move_to(centre);
    let brush = |w: &Window| w.document().session().brush;
    let before = brush(&window);
    window.key(Modifiers::NONE, Key::F);
    window.move_to(centre + egui::vec2(30.0, 0.0));
    assert_eq!(brush(&window).radius_px, before.radius_px + 30.0);
    window.key(Modifiers::NONE, Key::Escape);
    assert_eq!(brush(&window), before);
    window.move_to(centre);
    window.key(Modifiers::SHIFT, Key::F);
    window.move_to(centre - egui::vec2(40.0, 0.0));
    window.picture("brush-strength");
    window.key(Modifiers::NONE, Key::Enter);
    assert_eq!(brush(&window).strength, 0.3);
    window.key(Modifiers::NONE, Key::X);
    assert_eq!(brush(&window).weight, 0.0);
    window.key(Modifiers::NONE, Key::X);
    assert_eq!(brush(&window).weight, 1.0);
    assert_eq!(window.editor().history().undo_label(), None);
}

#[test]
fn the_right_button_brings_the_menu_of_the_mode() {
    let mut window = Window::on("arm.glb");
    let centre = window.viewport().center();
    window.right_click(centre);
    assert!(window.says("Invert selection"));
    window.picture("menu-select");
    window.key(Modifiers::NONE, Key::Escape);
    window.key(Modifiers::NONE, Key::Tab);
    window.right_click(centre);
    assert!(
        window
            .harness
            .query_all_by_label_contains("Front faces only")
            .count()
            > 1
    );
    window.picture("menu-brush");
}

#[test]
fn every_command_runs_by_its_label_and_leaves_a_working_window() {
    let mut window = Window::on("mannequin.glb");
    // Skeletons are for models without bones, logical parents for flat rigs, pins for limbs, and a motion
    // or a scan is read from a file first: `rigging`, `motions` and `individual` run them.
    let needs_other_model = |command: &Command| {
        matches!(
            command,
            Command::EditRig(RigKind::Template(_) | RigKind::InferParents | RigKind::Pin)
                | Command::AdjustMotion
                | Command::UseMetric(Metric::ScanDistance)
        )
    };
    let commands = Command::all().filter(|command| !needs_other_model(command));
    // Whatever else listens on this machine.
    let editor = window.harness.state_mut().editor_mut();
    editor.set_live_settings(LiveSettings {
        ports: [0, 0],
        ..LiveSettings::default()
    });
    for command in commands.filter(|&command| command != Command::Quit) {
        if window.bones().len() < 2 && window.editor().history().undo_label().is_some() {
            // A command has removed one.
            window.harness.state_mut().editor_mut().undo();
            window.settle();
        }
        if window.bones().len() < 2 {
            // A sample without bones was opened.
            window.find_and_run(Command::Sample("mannequin"));
            window.settle();
        }
        let bone = window.bones()[1];
        let editor = window.harness.state_mut().editor_mut();
        editor.set_select_kind(SelectKind::Bones);
        editor.select_joint(Some(bone));
        if !command.is_enabled(window.editor()) {
            // Without a clip, or nothing to undo: what it needs is made first.
            let editor = window.harness.state_mut().editor_mut();
            // What a command before has hidden cannot be selected.
            editor.show_all();
            editor.select_joint(Some(bone));
            editor.toggle_lock(bone);
            editor.toggle_lock(bone);
            editor.undo();
            let clip = window.document().clips().keys().next().copied();
            window.harness.state_mut().editor_mut().show_clip(clip);
            match command {
                Command::EditRig(RigKind::SetParent) => {
                    let bones = [window.bones()[0], bone];
                    let editor = window.harness.state_mut().editor_mut();
                    editor.select_joints(bones, Some(bones[0]));
                }
                Command::RemoveMeasurements | Command::ToggleIndividual => {
                    let editor = window.harness.state_mut().editor_mut();
                    editor.add_measurement(sinew::twin::Kind::Length);
                }
                Command::DuplicateIndividual | Command::CompareBodies | Command::RemoveWhatIf => {
                    let editor = window.harness.state_mut().editor_mut();
                    editor.add_measurement(sinew::twin::Kind::Length);
                    window.settle();
                    if command == Command::RemoveWhatIf {
                        let editor = window.harness.state_mut().editor_mut();
                        editor.duplicate_individual();
                    }
                }
                Command::ExportTable => {
                    let levels = std::path::absolute("tests/data/levels.csv").unwrap();
                    let editor = window.harness.state_mut().editor_mut();
                    editor.add_recording(&levels);
                }
                Command::FindClaps
                | Command::AlignByStamps
                | Command::SuggestOffset
                | Command::ApplyOffset => {
                    let folder = tempfile::tempdir().unwrap();
                    for path in crate::motions::devices(folder.path()) {
                        let editor = window.harness.state_mut().editor_mut();
                        editor.add_recording(&path);
                        window.settle();
                    }
                    let editor = window.harness.state_mut().editor_mut();
                    let both: Vec<_> = editor.document().recordings().keys().copied().collect();
                    for &id in &both {
                        editor.add_stamp_at(id, 1.0, "clap");
                    }
                    let [reference, active] = both[both.len() - 2..] else {
                        unreachable!("two were added");
                    };
                    editor.choose_recording(active);
                    editor.set_alignment_reference(reference);
                    if command == Command::ApplyOffset {
                        editor.suggest_offset();
                    }
                }
                Command::EditRig(RigKind::PoseAsRest) => {
                    window.harness.state_mut().editor_mut().set_time(0.4);
                }
                _ => {}
            }
            if command.row().submenu == "Pose library" {
                window.harness.state_mut().editor_mut().create_pose();
            }
            let layers = command.row().submenu == "Layers";
            if layers || command == Command::Paint(PaintTarget::LayerMask) {
                let editor = window.harness.state_mut().editor_mut();
                editor.add_layer();
                editor.add_layer();
                if !command.is_enabled(editor) {
                    // The one that can go up is the lower one.
                    let below = editor.layers().map(|stack| stack.layers()[1].id);
                    editor.set_active_layer(below.unwrap());
                }
            }
            window.settle();
        }
        let before = window.app().is_on(command);
        assert!(command.is_enabled(window.editor()), "{command:?}");
        window.find_and_run(command);
        if let Some(before) = before {
            let chooses = before && window.app().is_on(command) == Some(true);
            assert!(
                chooses || window.app().is_on(command) == Some(!before),
                "{command:?} switches nothing"
            );
        }
        // Out of whatever it opened.
        for _ in 0..3 {
            window.harness.key_press(Key::Escape);
            window.harness.step();
        }
        if window.editor().is_playing() {
            window.harness.state_mut().editor_mut().toggle_play();
        }
        window.settle();
        assert!(!window.editor().displayed().is_empty(), "{command:?}");
    }
}

#[test]
fn the_menu_is_about_the_bone_it_is_opened_on() {
    let mut window = Window::on("arm.glb");
    let mut opened_on = BTreeSet::new();
    for bone in window.bones() {
        let place = window.on_bone(bone);
        window.press(place);
        window.release(place);
        window.settle();
        let clicked = window.document().session().active_joint;
        window.harness.state_mut().editor_mut().select_joint(None);
        window.settle();
        window.right_click(place);
        let active = window.document().session().active_joint;
        let label = window.document().skeleton().label(bone);
        assert!(active.is_some(), "the menu is opened on {label}");
        assert_eq!(active, clicked, "the menu is opened on {label}");
        opened_on.extend(active);
        assert!(window.says("Rename bone"), "{label}");
        window.key(Modifiers::NONE, Key::Escape);
    }
    assert!(opened_on.len() > 1, "{opened_on:?}");
}
