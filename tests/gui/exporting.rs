//! The Export page: options, computing, the report, the file beside the model, saving.

use crate::window::{CTRL, Window};
use egui::accesskit::Toggled;
use egui::{Key, Modifiers, Role};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use sinew::deform::diagnostics::Metric;
use sinew::deform::{StackChoice, StackPreset};
use sinew::document::PaneLayout;
use sinew::editor::exporting::{Correction, Standing};
use sinew::view::scene::Shading;

/// The page on the arm, for a coarse correction of one clip without helper joints, which is quick.
fn page() -> Window {
    let mut window = Window::on("arm.glb");
    coarse(&mut window);
    window.key(CTRL, Key::E);
    window
}

fn coarse(window: &mut Window) {
    let first = *window.document().clips().keys().next().expect("a clip");
    let editor = window.harness.state_mut().editor_mut();
    let bake = &mut editor.export_settings_mut().bake;
    bake.tolerance = 0.02;
    bake.max_joints = 1;
    bake.clips = vec![first];
}

fn is_on(window: &Window, role: Role, label: &str) -> bool {
    let node = window.harness.get_by_role_and_label(role, label);
    node.accesskit_node().toggled() == Some(Toggled::True)
}

/// Clicks a widget wherever the page is scrolled to.
fn press(window: &mut Window, role: Role, label: &str) {
    let node = window.harness.get_by_role_and_label(role, label);
    node.click_accesskit();
    window.harness.step();
    window.settle();
}

fn is_open(window: &Window) -> bool {
    window.harness.query_by_label("Leave the page").is_some()
}

#[test]
fn a_corrected_file_is_computed_looked_at_and_saved() {
    let mut window = page();
    assert!(is_open(&window));
    assert!(is_on(&window, Role::RadioButton, "For these clips"));
    assert!(window.says("Corrected: 1 of "));
    // Keys of the commands are letters of the path.
    let path = window.folder.path().join("arm-out.glb");
    window.write(&path.display().to_string());
    assert!(is_on(&window, Role::RadioButton, "Binary (.glb)"));
    let mm = window.editor().rest_diagonal().expect("it is measured") * 20.0;
    assert!(window.says(&format!("= {mm:.1} mm")), "2 % of the diagonal");

    // What it will come to is told while options are chosen.
    window.wait_until("an estimate", |w| w.says("Expected: "));
    assert!(window.says("without the correction"));
    assert!(window.says("Before you export: "));
    window.picture("export-options");

    // Enter computes; nothing is written.
    window.key(Modifiers::NONE, Key::Enter);
    assert_eq!(window.editor().export_standing(&path), Standing::Current);
    assert!(!path.exists());
    assert!(window.says("Within the tolerance: nowhere more than"));
    window.picture("export-computed");

    // The worst place: clip, time, point, with the file beside the model.
    press(&mut window, Role::Button, "Show");
    assert_eq!(window.editor().exporting().beside(), Some(PaneLayout::Two));
    let result = window.editor().exporting().result().expect("a result");
    let worst = result.correction().and_then(|c| c.worst.clone());
    let worst = worst.expect("a worst place");
    let (clip, _) = window.editor().shown_clip().expect("a clip");
    assert_eq!(Some(clip), worst.clip_id);
    let time = window.editor().playback().time_secs;
    assert!((time - worst.time).abs() < 1e-6);
    assert!(window.says("Viewport 1: This project") && window.says("Viewport 2: As exported"));
    let view = window.editor().view_of(&StackChoice::Exported);
    assert!(
        window
            .editor()
            .is_view_shown(view.expect("it is asked for"))
    );
    window.picture("export-beside");

    let before = window.app().viewport().options;
    press(&mut window, Role::CheckBox, "Colour the difference");
    let options = window.app().viewport().options;
    assert_eq!(
        (options.shading, options.metric),
        (Shading::HeatMap, Metric::Difference)
    );
    let figures = window.editor().heat_figures(view.expect("a view"));
    let largest = f64::from(figures.expect("it is measured").summary.max);
    let report = window.editor().exporting().result();
    let report = report.and_then(|r| r.correction()).expect("a report");
    let said = report.max_percent / 100.0 * report.diagonal;
    // The metric is in millimetres or metres; both tell the same.
    let same = |scale: f64| (largest - said * scale).abs() < 1e-3 * said * scale + 1e-6;
    assert!(same(1.0) || same(1e3), "{largest} {said}");
    window.picture("export-difference");
    press(&mut window, Role::RadioButton, "Wipe");
    assert_eq!(window.editor().exporting().beside(), Some(PaneLayout::Wipe));
    window.picture("export-wipe");

    // It plays.
    window.harness.key_press(Key::Space);
    let serial = window.editor().picture_serial();
    window.wait("it plays", move |app| {
        app.editor().picture_serial() > serial + 3
    });
    window.harness.key_press(Key::Space);
    window.settle();

    window.click(Role::Button, "Save");
    assert!(window.says("Exported arm-out.glb."));
    let result = window.editor().exporting().result().expect("a result");
    let computed = result.exported().files[0].1.clone();
    assert_eq!(std::fs::read(&path).expect("it is written"), computed);

    // It is asked before it is written over.
    window.click(Role::Button, "Save");
    assert!(window.says("arm-out.glb exists. Replace it?"));
    window.click(Role::Button, "Replace");
    assert!(!window.says("exists. Replace it?"));

    // An edit makes it stale.
    let editor = window.harness.state_mut().editor_mut();
    editor.use_preset(StackPreset::Dqs);
    window.settle();
    assert!(window.says("The model changed; compute again."));

    // Without the file beside it, nothing is coloured by the difference to it.
    press(&mut window, Role::RadioButton, "Off");
    let options = window.app().viewport().options;
    assert_eq!(
        (options.shading, options.metric),
        (before.shading, before.metric)
    );

    // Esc leaves the page, and all is as it was.
    window.key(Modifiers::NONE, Key::Escape);
    assert!(!is_open(&window));
    assert_eq!(window.editor().exporting().beside(), None);
    assert_ne!(window.app().viewport().options.shading, Shading::HeatMap);
    assert!(!window.says("As exported"));
}

#[test]
fn what_is_chosen_stays_and_a_plain_export_is_saved_at_once() {
    let mut window = page();
    window.click(Role::RadioButton, "None");
    assert_eq!(window.editor().correction(), Correction::None);
    assert!(window.says("elbows collapse"));
    window.click(Role::RadioButton, "8 influences");
    window.click(Role::RadioButton, "Text (.gltf)");
    window.click(Role::Button, "Close");
    assert!(!is_open(&window));
    window.key(CTRL, Key::E);
    assert!(is_on(&window, Role::RadioButton, "None"));
    assert!(is_on(&window, Role::RadioButton, "8 influences"));
    assert!(is_on(&window, Role::RadioButton, "Text (.gltf)"));
    let path = window.folder.path().join("plain.gltf");
    window.write(&path.display().to_string());
    window.key(Modifiers::NONE, Key::Enter);
    assert!(window.says("Exported plain.gltf."));
    assert!(path.is_file());
    // The page says what the file came to.
    assert!(window.says("Computed"));
    let result = window.editor().exporting().result().expect("a result");
    assert!(result.correction().is_none());

    // Another workspace leaves the page; its panels are all there.
    window.click(Role::Tab, "Weights");
    assert!(!is_open(&window));
    assert!(
        window
            .harness
            .query_by_role_and_label(Role::Tree, "Bones")
            .is_some()
    );
}

#[test]
fn esc_ends_a_typed_number_before_it_leaves_the_page() {
    let mut window = page();
    press(&mut window, Role::RadioButton, "For these clips");
    window.click(Role::SpinButton, "Most morph targets");
    window.write("3");
    window.key(Modifiers::NONE, Key::Escape);
    assert!(is_open(&window));
    window.key(Modifiers::NONE, Key::Escape);
    assert!(!is_open(&window));
}

#[test]
fn a_missed_tolerance_is_said_in_words_and_computing_is_stopped() {
    let mut window = page();
    let editor = window.harness.state_mut().editor_mut();
    let bake = &mut editor.export_settings_mut().bake;
    bake.tolerance = 1e-4;
    bake.max_morphs = 0;
    let path = window.folder.path().join("arm.glb");
    window.write(&path.display().to_string());
    window.click(Role::Button, "Compute");
    assert!(window.says("The tolerance is missed: up to"));
    assert!(window.says("where 0.01 % was asked for"));
    window.picture("export-missed");

    let editor = window.harness.state_mut().editor_mut();
    editor.export_settings_mut().bake.max_morphs = 5;
    window.harness.step();
    assert!(window.says("The options changed; compute again."));
    window
        .harness
        .get_by_role_and_label(Role::Button, "Compute")
        .click();
    window.wait("it computes", |app| {
        app.editor().computing_export().is_some()
    });
    window.harness.step();
    window
        .harness
        .get_by_role_and_label(Role::Button, "Stop")
        .click();
    window.harness.step();
    window.settle();
    assert!(window.says("The export was cancelled; nothing was written."));
    assert!(!path.exists());
}
