//! Operations on weights in the window: begun from the menu, adjusted, reported, taken back, kept.

use crate::window::{CTRL, Window};
use egui::Key;
use egui_kittest::kittest::Queryable as _;
use sinew::editor::OperationKind;
use sinew::view::commands::Command;
use sinew::weights::operation::Operation;

fn begin(window: &mut Window, kind: OperationKind) {
    window.find_and_run(Command::Operate(kind));
    window.settle();
}

#[test]
fn an_operation_shows_its_settings_and_follows_them() {
    let mut window = Window::on("mannequin.glb");
    let before = window.document().clone();
    begin(&mut window, OperationKind::Smooth);
    assert!(!window.document().same_content(&before), "at once");
    assert_eq!(window.editor().history().n_undo(), 1);
    let after_five = window.document().clone();
    window.picture("operation-smooth");

    let operation = Operation::Smooth {
        iterations: 20,
        strength: 0.5,
    };
    window
        .harness
        .state_mut()
        .editor_mut()
        .set_operation(operation);
    window.settle();
    assert!(!window.document().same_content(&after_five));
    assert_eq!(window.editor().history().n_undo(), 1, "still one step");
    let report = &window.editor().adjusting().unwrap().reports()[0].1;
    let changed = report.changed;
    assert!(changed > 0);
    let text = format!(
        "{} of {} vertices changed",
        sinew::finding::thousands(changed),
        sinew::finding::thousands(report.considered)
    );
    assert!(window.says(&text), "{text}");

    window.key(CTRL, Key::Z);
    window.settle();
    assert!(window.document().same_content(&before), "bit for bit");
    assert!(window.editor().adjusting().is_none());
}

#[test]
fn every_operation_can_be_begun_and_closed() {
    let mut window = Window::on("mannequin.glb");
    let joint = window.document().skins().values().next().unwrap().joints[3];
    window
        .harness
        .state_mut()
        .editor_mut()
        .select_joint(Some(joint));
    window.settle();
    for command in Command::all() {
        let Command::Operate(kind) = command else {
            continue;
        };
        if !command.is_enabled(window.editor()) || kind == OperationKind::Merge {
            continue;
        }
        begin(&mut window, kind);
        let adjusting = window.editor().adjusting();
        let adjusting = adjusting.unwrap_or_else(|| panic!("{kind:?} does not begin"));
        let label = adjusting.operation().label();
        assert!(
            adjusting.failure().is_none(),
            "{label}: {:?}",
            adjusting.failure()
        );
        assert!(window.says(label), "{label}");
        window.harness.state_mut().editor_mut().end_operation();
        window.settle();
        assert!(window.editor().adjusting().is_none());
    }
}

#[test]
fn the_pairs_of_bones_can_be_read() {
    let mut window = Window::on("mannequin.glb");
    begin(&mut window, OperationKind::Mirror);
    window.harness.get_by_label("Symmetry pairs").click();
    window.settle();
    assert!(window.says("Pairs are found by name. Set a pair where names do not match."));
    window.picture("operation-pairs");
}
