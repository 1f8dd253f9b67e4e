//! The Individual panel: rows are added and edited, the body is fitted and shown, and every step is undone.

use crate::window::Window;
use egui::{Modifiers, PointerButton, Role};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use sinew::deform::diagnostics::Metric;
use sinew::deform::{BodyChoice, StackChoice};
use sinew::document::{Individual, Person, Variation};
use sinew::math::Worse;
use sinew::twin::Kind;
use sinew::view::Shading;
use sinew::view::commands::Command;
use sinew::view::frame::PanelKind;
use std::fmt::Write as _;

/// The largest distance of a point on screen from the origin.
fn reach(window: &Window) -> f32 {
    window
        .positions()
        .iter()
        .map(|p| p.length())
        .fold(0.0, f32::worse)
}

fn individual(window: &Window) -> Option<Individual> {
    let document = window.app().editor().document();
    document
        .individual()
        .map(|individual| Individual::clone(individual))
}

/// Clicks a button, scrolled into sight.
#[track_caller]
fn press(window: &mut Window, label: &str) {
    let button = window.harness.get_by_role_and_label(Role::Button, label);
    button.scroll_to_me();
    window.harness.step();
    window.settle();
    window.click(Role::Button, label);
    window.settle();
}

/// Chooses an entry of a drop-down, scrolled into sight.
#[track_caller]
fn press_combo(window: &mut Window, label: &str, entry: &str) {
    let combo = window.harness.get_by_role_and_label(Role::ComboBox, label);
    combo.scroll_to_me();
    window.harness.step();
    window.settle();
    window.click(Role::ComboBox, label);
    window.settle();
    let entries = window.harness.query_all_by_label(entry);
    let roles = [Role::Button, Role::ListBoxOption, Role::RadioButton];
    let mut entries = entries.filter(|node| roles.contains(&node.accesskit_node().role()));
    // The list is drawn last.
    let entry = entries.next_back().expect("the entry");
    entry.click();
    drop(entries);
    window.harness.step();
    window.settle();
}

#[test]
fn a_template_is_opened_and_unsaved_work_asked_about() {
    let mut window = Window::sized("arm.glb", [1500.0, 900.0], 1.0);
    window.find_and_run(Command::TogglePanel(PanelKind::Individual));
    window.settle();
    for sample in ["mannequin", "arm", "hand", "leg"] {
        let name = format!("Open the template {sample}");
        let buttons = window
            .harness
            .query_all_by_role_and_label(Role::Button, &name);
        assert_eq!(buttons.count(), 1, "{name}");
    }
    window.picture("templates");
    press(&mut window, "Open the template leg");
    assert_eq!(window.editor().model_name(), "sample leg");
    window.click(Role::Button, "Add girth");
    window.settle();
    let rows = individual(&window).expect("a row").rows;
    assert_eq!((rows.len(), rows[0].bone.as_str()), (1, "thigh.L"));
    // With a row there is a body of work to lose.
    let offered = window.harness.query_all_by_label("Open the template leg");
    assert_eq!(offered.count(), 0);
    press(&mut window, "Remove measurement 1");
    press(&mut window, "Open the template hand");
    assert!(window.says("Save your changes?"));
}

#[test]
fn a_tape_is_dragged_along_its_bone() {
    let mut window = Window::sized("arm.glb", [1500.0, 900.0], 1.0);
    window.find_and_run(Command::TogglePanel(PanelKind::Individual));
    window.settle();
    window.click(Role::Button, "Add girth");
    window.settle();
    window.click(Role::Button, "Individual");
    window.settle();
    let row = individual(&window).expect("a row").rows[0].clone();
    let n_steps = window.editor().history().n_undo();
    let tape = |window: &Window| {
        let tapes = window.harness.query_all_by_role(Role::Button);
        let labels = tapes.filter_map(|node| node.accesskit_node().label());
        labels
            .into_iter()
            .find(|label| label.starts_with("Tape of "))
    };
    let label = tape(&window).expect("a tape");
    assert!(label.ends_with(" at 50 % of the bone"), "{label}");
    let at = window.harness.get_by_role_and_label(Role::Button, &label);
    let at = at.rect().center();
    let joint = window.editor().individual_shape().expect("a body").tapes[0]
        .1
        .joint;
    let bones = window.editor().bones();
    let bone = bones.iter().find(|bone| bone.joint == joint);
    let bone = bone.expect("its bone");
    let along = window.place(bone.tail) - window.place(bone.head);
    window.picture("tape");
    window.drag(PointerButton::Primary, Modifiers::NONE, at, 0.2 * along);
    window.settle();
    let moved = individual(&window).expect("a row").rows[0].clone();
    assert!(moved.at > row.at + 0.05, "{} {}", row.at, moved.at);
    assert_eq!(moved.value, row.value);
    assert_eq!(window.editor().history().n_undo(), n_steps + 1);
    assert_eq!(window.editor().history().undo_label(), Some("Move tape"));
    window.picture("tape-dragged");
    window.find_and_run(Command::Undo);
    window.settle();
    assert_eq!(individual(&window).expect("a row").rows[0], row);
    // Without the panel there are no tapes.
    window.find_and_run(Command::TogglePanel(PanelKind::Individual));
    window.settle();
    assert_eq!(tape(&window), None);
}

#[test]
fn a_girth_of_both_sides_has_two_tapes() {
    let mut window = Window::sized("mannequin.glb", [1500.0, 900.0], 1.0);
    window.find_and_run(Command::TogglePanel(PanelKind::Individual));
    window.settle();
    window.click(Role::Button, "Add girth");
    window.settle();
    // Widgets of one id would be one node.
    let tapes = window.harness.query_all_by_label_contains("Tape of ");
    assert_eq!(tapes.count(), 2);
    window.picture("tapes-of-both-sides");
}

#[test]
fn measurements_are_added_fitted_shown_and_undone() {
    let mut window = Window::sized("arm.glb", [1500.0, 900.0], 1.0);
    window.find_and_run(Command::TogglePanel(PanelKind::Individual));
    window.settle();
    assert!(window.says("stays as it"));
    let before = reach(&window);
    window.click(Role::Button, "Add length");
    window.settle();
    let known = individual(&window).expect("a row");
    assert_eq!((known.rows.len(), known.rows[0].kind), (1, Kind::Length));
    // With the template's value the body is the template.
    let editor = window.app().editor();
    let shape = editor.individual_shape().expect("a fitted body");
    assert!((shape.report.rows[0].factor - 1.0).abs() < 1e-3);
    assert!(editor.individual_failure().is_none() && !editor.shows_individual());
    window.click(Role::Button, "Add girth");
    window.settle();
    let mut rows = individual(&window).expect("rows").rows;
    assert_eq!((rows.len(), rows[1].kind), (2, Kind::Girth));

    rows[0].value *= 1.5;
    rows[1].value *= 1.2;
    let options = individual(&window).expect("rows").options;
    window
        .harness
        .state_mut()
        .editor_mut()
        .measure(rows, options, "Change measurements");
    window.settle();
    window.click(Role::Button, "Individual");
    window.settle();
    assert!(window.app().editor().shows_individual());
    let after = reach(&window);
    assert!(after > before * 1.05, "{before} {after}");
    assert_eq!(window.app().is_on(Command::ToggleIndividual), Some(true));
    for name in [
        "Value of measurement 1",
        "Bone of measurement 2",
        "Place of measurement 2",
    ] {
        let fields = window.harness.query_all_by_label(name);
        assert_eq!(fields.count(), 1, "{name}");
    }
    assert!(window.says("not a diagnosis"));
    // The template is one click away, and nothing of it changed.
    window.click(Role::Button, "Template");
    window.settle();
    assert!((reach(&window) - before).abs() < 1e-6);
    window.click(Role::Button, "Individual");
    window.settle();
    // A row is removed, and undo brings it back.
    window.click(Role::Button, "Remove measurement 1");
    window.settle();
    assert_eq!(individual(&window).expect("a row").rows.len(), 1);
    window.find_and_run(Command::Undo);
    window.settle();
    assert_eq!(individual(&window).expect("rows").rows.len(), 2);
    assert!((reach(&window) - after).abs() < 1e-6);
    window.find_and_run(Command::RemoveMeasurements);
    window.settle();
    assert!(individual(&window).is_none());
    assert!((reach(&window) - before).abs() < 1e-6);
    for _ in 0..4 {
        window.find_and_run(Command::Undo);
        window.settle();
    }
    assert!(individual(&window).is_none());
    assert!(!window.app().editor().history().is_modified());
}

#[test]
fn a_scan_is_compared_and_its_distances_are_shown() {
    let mut window = Window::sized("arm.glb", [1500.0, 900.0], 1.0);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("scan.ply");
    let points = window.positions();
    let mut text = format!(
        "ply\nformat ascii 1.0\nelement vertex {}\nproperty float x\nproperty float y\nproperty float z\nend_header\n",
        points.len()
    );
    for p in &points {
        writeln!(text, "{} {} {}", p.x, p.y, p.z + 0.002).expect("a line");
    }
    std::fs::write(&path, text).expect("a file");
    window.find_and_run(Command::TogglePanel(PanelKind::Individual));
    window.settle();
    let scan_map = Command::UseMetric(Metric::ScanDistance);
    assert!(!scan_map.is_enabled(window.app().editor()));
    assert!(!window.says("Within 5 mm"));
    let editor = window.harness.state_mut().editor_mut();
    editor.compare_with_scan(&path);
    window.settle();
    assert!(window.says("scan.ply against the template: ") && window.says("Within 5 mm"));
    // The distances are on the model by themselves, with legend and numbers.
    let options = &window.app().viewport().options;
    assert_eq!(options.metric, Metric::ScanDistance);
    assert_eq!(options.shading, Shading::HeatMap);
    assert!(window.says("Colours of Distance to scan, mm: -20, "));
    assert!(window.says("Distance to scan: p99 "));
    window.picture("heat-scan");
    window.click(Role::Button, "Maximise Individual");
    window.picture("scan-figures");
    press(&mut window, "Go to the largest distance, body to scan");
    assert_eq!(window.app().editor().n_selected(), 1);
    press(&mut window, "Clear comparison");
    assert!(!window.says("Within 5 mm"));
    window.click(Role::Button, "Restore Individual");
    assert_ne!(window.app().viewport().options.metric, Metric::ScanDistance);
}

#[test]
fn a_what_if_is_changed_and_compared_in_panes() {
    let mut window = Window::sized("arm.glb", [1500.0, 900.0], 1.0);
    window.find_and_run(Command::TogglePanel(PanelKind::Individual));
    window.settle();
    assert!(!window.says("Duplicate as what-if"));
    window.click(Role::Button, "Add length");
    window.settle();
    press(&mut window, "Duplicate as what-if");
    let editor = window.app().editor();
    assert_eq!(editor.edited_person(), Person::WhatIf);
    let mut rows = editor.measurements().expect("rows").rows.clone();
    rows[0].value *= 1.4;
    let options = editor.measurements().expect("rows").options;
    let editor = window.harness.state_mut().editor_mut();
    editor.measure(rows, options, "Change measurements");
    window.settle();
    press(&mut window, "Compare bodies in panes");
    window.settle();
    assert!(window.says("Viewport 1: Individual") && window.says("Viewport 2: What-if"));
    let editor = window.app().editor();
    let reach = |body: BodyChoice| {
        let view = editor.view_of(&StackChoice::Body(body)).expect("a view");
        let shown = editor.displayed_in(view).values();
        let points = shown.flat_map(|d| d.positions.iter());
        points.map(|p| p.length()).fold(0.0, f32::max)
    };
    assert!(reach(BodyChoice::WhatIf) > reach(BodyChoice::Individual) * 1.05);
    window.picture("what-if-panes");
    // It has a limit of its own.
    press_combo(&mut window, "Add limit", "forearm");
    let varied = window.editor().variations().to_vec();
    assert!(
        matches!(varied[..], [Variation::Limits { .. }]),
        "{varied:?}"
    );
    let fields = window.harness.query_all_by_label("Max X of limit 1");
    assert_eq!(fields.count(), 0, "it is free at first");
    let axis = "Limit X of limit 1";
    let axis = window.harness.get_by_role_and_label(Role::CheckBox, axis);
    axis.scroll_to_me();
    window.harness.step();
    window.settle();
    window.click(Role::CheckBox, "Limit X of limit 1");
    let right = std::f64::consts::FRAC_PI_2;
    let found = window.editor().variations();
    assert!(
        matches!(found, [Variation::Limits { limits, .. }] if limits.0[0] == [-right, right]),
        "{found:?}"
    );
    let fields = window.harness.query_all_by_label("Max X of limit 1");
    assert_eq!(fields.count(), 1);
    window.picture("what-if-limit");
    window.find_and_run(Command::Undo);
    window.settle();
    press(&mut window, "Remove limit or gain 1");
    assert_eq!(window.editor().variations(), []);
    assert_eq!(
        window.editor().history().undo_label(),
        Some("Change limits and gains")
    );
    // The table of either is edited.
    press(&mut window, "Table of the individual");
    let editor = window.app().editor();
    assert_eq!(editor.edited_person(), Person::Individual);
    press(&mut window, "Remove what-if");
    assert!(window.says("There is no what-if."));
}
