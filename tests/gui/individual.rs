//! The Individual panel: rows are added and edited, the body is fitted and shown, and every step is undone.

use crate::window::Window;
use egui::Role;
use egui_kittest::kittest::Queryable as _;
use sinew::document::Individual;
use sinew::twin::Kind;
use sinew::view::commands::Command;
use sinew::view::frame::PanelKind;

/// The largest distance of a point on screen from the origin.
fn reach(window: &Window) -> f32 {
    window
        .positions()
        .iter()
        .map(|p| p.length())
        .fold(0.0, f32::max)
}

fn individual(window: &Window) -> Option<Individual> {
    let document = window.app().editor().document();
    document
        .individual()
        .map(|individual| Individual::clone(individual))
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
