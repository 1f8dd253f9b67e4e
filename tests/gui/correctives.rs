//! Corrective samples in the window: added, posed in the plot, muted, tuned, suggested and taken back.

use crate::window::{CTRL, Window};
use egui::{Key, Modifiers, PointerButton, Role, Vec2};
use egui_kittest::kittest::Queryable as _;
use sinew::document::MeshItem;
use sinew::document::session::{SculptKind, TransformKind};
use sinew::psd::{DriverMode, Kernel};
use sinew::skeleton::JointId;
use sinew::view::commands::Command;
use sinew::view::frame::{PanelKind, Workspace};
use sinew::view::mode::Mode;

/// The Correctives workspace on the sample arm with its forearm selected.
fn correcting() -> (Window, JointId) {
    let mut window = Window::on("arm.glb");
    window.click(Role::Tab, Workspace::Correctives.label());
    assert!(window.app().dock().is_open(PanelKind::Correctives));
    let joints = window.document().skeleton().joints();
    let forearm = joints.iter().position(|joint| joint.name == "forearm");
    let forearm = JointId(forearm.expect("a forearm") as u32);
    window.select(forearm);
    (window, forearm)
}

fn item(window: &Window) -> &MeshItem {
    window.document().meshes().values().next().expect("a mesh")
}

fn names(window: &Window) -> Vec<String> {
    let samples = item(window).correctives.samples().iter();
    samples.map(|sample| sample.name.clone()).collect()
}

fn undo_label(window: &Window) -> String {
    let label = window.editor().history().undo_label();
    label.unwrap_or_default().to_owned()
}

fn rotate(window: &mut Window, keys: &[Key]) {
    window.find_and_run(Command::SetMode(Mode::Pose));
    let over = window.viewport().center();
    window.move_to(over);
    for key in [Key::R, Key::Z].iter().chain(keys).chain(&[Key::Enter]) {
        window.key(Modifiers::NONE, *key);
    }
    window.settle();
}

#[test]
fn a_sample_is_added_at_a_pose_and_posed_in_the_plot() {
    let (mut window, forearm) = correcting();
    assert!(window.says("No corrective samples."));
    window.picture("correctives-none");
    // At rest there is nothing to correct.
    window.key(CTRL, Key::K);
    assert!(names(&window).is_empty());
    assert!(window.says("Pose the bones that drive the correction"));

    rotate(&mut window, &[Key::Num9, Key::Num0]);
    window.key(CTRL, Key::K);
    assert_eq!(names(&window), ["forearm 90°"]);
    assert_eq!(undo_label(&window), "Add sample");
    assert!(window.says("forearm 90°, weight 1.00"));
    let added = window.document().clone();
    window.picture("correctives-added");

    // Halfway in the plot: the direction from the centre stays.
    let swing = |window: &Window| {
        let space = window.editor().pose_space(0, 0).expect("a driver");
        space.place(window.editor().driver_rotation(0, 0).expect("a driver"))
    };
    let at = swing(&window);
    assert!((at.length().to_degrees() - 90.0).abs() < 1e-3, "{at}");
    let disc = window
        .harness
        .get_by_role_and_label(Role::Canvas, "Pose space of forearm: swing 90°");
    let disc = disc.rect();
    let radius = f64::from(disc.size().min_elem() * 0.5 - 6.0) / std::f64::consts::PI;
    let to = |place: glam::DVec2| {
        disc.center() + Vec2::new((place.x * radius) as f32, (-place.y * radius) as f32)
    };
    let n_steps = window.editor().history().n_undo();
    let (from, half) = (to(at), to(at * 0.5));
    window.drag(PointerButton::Primary, Modifiers::NONE, from, half - from);
    window.settle();
    let posed = swing(&window);
    assert!((posed - at * 0.5).length() < 0.03, "{posed} {at}");
    assert_eq!(window.editor().history().n_undo(), n_steps + 1);
    let weight = window.editor().sample_weights()[0];
    assert!((0.2..0.8).contains(&weight), "{weight}");
    window.picture("correctives-between");

    // Back to the sample by its row, and Enter.
    window.click(
        Role::ListBoxOption,
        &format!("forearm 90°, weight {weight:.2}"),
    );
    window.key(Modifiers::NONE, Key::Enter);
    window.settle();
    assert!((swing(&window) - at).length() < 1e-6);
    let pose = |document: &sinew::document::Document| document.shown_pose().locals[forearm.get()];
    let apart = pose(window.document()).rotation.dot(pose(&added).rotation);
    assert!((apart.abs() - 1.0).abs() < 1e-9);
}

#[test]
fn sets_and_samples_are_tuned_with_one_step_each() {
    let (mut window, _) = correcting();
    rotate(&mut window, &[Key::Num9, Key::Num0]);
    window.key(CTRL, Key::K);
    rotate(&mut window, &[Key::Num4, Key::Num5]);
    window.key(CTRL, Key::K);
    assert_eq!(names(&window), ["forearm 90°", "forearm 135°"]);

    window.click(Role::CheckBox, "Show forearm 90°");
    assert!(item(&window).correctives.samples()[0].muted);
    assert_eq!(undo_label(&window), "Mute sample");
    window.key(CTRL, Key::Z);
    assert!(!item(&window).correctives.samples()[0].muted);
    window.click(Role::CheckBox, "Solo forearm 90°");
    assert!(item(&window).correctives.samples()[1].muted);
    window.click(Role::CheckBox, "Solo forearm 90°");
    assert!(!item(&window).correctives.samples()[1].muted);

    // A drag of the strength is one step.
    let n_steps = window.editor().history().n_undo();
    let field = window
        .harness
        .get_by_role_and_label(Role::SpinButton, "Strength of forearm 135°");
    let at = field.rect().center();
    let left = Vec2::new(-40.0, 0.0);
    window.drag(PointerButton::Primary, Modifiers::NONE, at, left);
    let strength = item(&window).correctives.samples()[1].strength;
    assert!(strength < 0.95, "{strength}");
    assert_eq!(window.editor().history().n_undo(), n_steps + 1);
    assert_eq!(undo_label(&window), "Sample strength");
    assert!(!window.editor().history().is_open());

    // The kernel and the mode of the driver.
    window.click(Role::ComboBox, "Kernel");
    window.click(Role::Button, "Gaussian");
    assert_eq!(item(&window).correctives.sets()[0].kernel, Kernel::Gaussian);
    window.click(Role::ComboBox, "Mode of forearm");
    window.click(Role::Button, "Hinge");
    let mode = item(&window).correctives.sets()[0].drivers[0].mode;
    assert!(matches!(mode, DriverMode::Hinge(_)), "{mode:?}");
    window.settle();
    window.picture("correctives-hinge");

    // Samples are deleted, and restored by undo.
    window.click(Role::Button, "Delete sample");
    assert_eq!(names(&window), ["forearm 90°"]);
    window.key(CTRL, Key::Z);
    assert_eq!(names(&window).len(), 2);
}

#[test]
fn suggestions_are_listed_accepted_and_dropped() {
    let (mut window, _) = correcting();
    window.click(Role::Button, "Suggest correctives");
    window.wait("suggestions", |app| app.editor().suggesting().is_none());
    let proposals = |window: &Window| -> Vec<String> {
        let found = window.editor().suggestions().iter();
        let found = found.flat_map(|s| &s.proposals);
        found.map(|proposal| proposal.name.clone()).collect()
    };
    let found = proposals(&window);
    assert!(found.len() > 2, "{found:?}");
    window.settle();
    window.picture("correctives-suggested");
    window.click(Role::Button, &format!("Drop {}", found[0]));
    assert_eq!(proposals(&window), found[1..]);
    window.click(Role::Button, &format!("Accept {}", found[1]));
    assert_eq!(names(&window), [found[1].clone()]);
    window.click(Role::Button, "Accept ticked");
    assert!(names(&window).len() > 1);
    assert_eq!(undo_label(&window), "Accept corrective samples");
    window.settle();
    window.picture("correctives-accepted");
    if !proposals(&window).is_empty() {
        window.click(Role::Button, "Drop all");
    }
    assert!(proposals(&window).is_empty());
}

#[test]
fn a_sample_is_sculpted_with_the_mouse() {
    let (mut window, _) = correcting();
    // Sculpt mode says how to begin.
    window.find_and_run(Command::SetMode(Mode::Sculpt));
    assert!(window.says("No sample to sculpt."));
    window.picture("sculpt-none");
    rotate(&mut window, &[Key::Num9, Key::Num0]);
    window.key(CTRL, Key::K);
    assert_eq!(window.app().viewport().mode, Mode::Sculpt);
    assert!(window.says("Weight in this pose: 1.00"));

    let before = window.positions();
    let n_steps = window.editor().history().n_undo();
    let at = window.on_model();
    window.drag(
        PointerButton::Primary,
        Modifiers::NONE,
        at,
        Vec2::new(30.0, 20.0),
    );
    window.settle();
    assert_eq!(undo_label(&window), "Sculpt");
    assert_eq!(window.editor().history().n_undo(), n_steps + 1);
    let n_moved = item(&window).correctives.samples()[0]
        .displacements
        .n_points();
    assert!(n_moved > 10, "{n_moved}");
    assert_ne!(window.positions(), before);
    window.picture("sculpt-grabbed");

    // Brushes by key and by button; Shift smooths.
    window.key(Modifiers::ALT, Key::Num2);
    assert_eq!(window.editor().sculpt_kind(), SculptKind::Inflate);
    window.drag(
        PointerButton::Primary,
        Modifiers::NONE,
        at,
        Vec2::new(10.0, 0.0),
    );
    window.drag(
        PointerButton::Primary,
        Modifiers::SHIFT,
        at,
        Vec2::new(10.0, 0.0),
    );
    window.click(Role::Button, "Erase correction brush");
    assert_eq!(window.editor().sculpt_kind(), SculptKind::Erase);
    window.settle();
    assert_eq!(window.editor().history().n_undo(), n_steps + 3);
    for _ in 0..3 {
        window.key(CTRL, Key::Z);
    }
    window.settle();
    assert_eq!(window.positions(), before);
    // Away from the sample's pose a stroke says where to go.
    rotate(&mut window, &[Key::Minus, Key::Num8, Key::Num5]);
    window.find_and_run(Command::SetMode(Mode::Sculpt));
    let at = window.on_model();
    window.drag(
        PointerButton::Primary,
        Modifiers::NONE,
        at,
        Vec2::new(30.0, 0.0),
    );
    window.settle();
    assert!(window.says("Go to \"forearm 90°\" first"));
}

#[test]
fn selected_vertices_are_moved_by_the_gizmo_and_by_keys() {
    let (mut window, _) = correcting();
    rotate(&mut window, &[Key::Num9, Key::Num0]);
    window.key(CTRL, Key::K);
    let before = window.positions();
    let n_steps = window.editor().history().n_undo();
    window.key(Modifiers::ALT, Key::Num9);
    assert_eq!(window.editor().sculpt_kind(), SculptKind::Vertices);
    let at = window.on_model();
    window.move_to(at);
    window.press(at);
    window.release(at);
    window.settle();
    let n_selected: usize = window
        .document()
        .session()
        .selected_points
        .values()
        .map(|points| points.count())
        .sum();
    assert_eq!(n_selected, 1);
    // G moves the selected vertex alone, O takes its neighbours along, Esc takes all back.
    for key in [Key::G, Key::X, Key::Period, Key::Num0, Key::Num2] {
        window.key(Modifiers::NONE, key);
    }
    window.settle();
    let n_moved = |window: &Window| {
        let pairs = window.positions().into_iter().zip(&before);
        pairs.filter(|(a, b)| a.distance(**b) > 1e-5).count()
    };
    assert_eq!(n_moved(&window), 1);
    window.key(Modifiers::NONE, Key::O);
    window.settle();
    assert!(n_moved(&window) > 5, "{}", n_moved(&window));
    window.picture("sculpt-vertices");
    window.key(Modifiers::NONE, Key::Escape);
    window.settle();
    assert_eq!(window.positions(), before);
    // A drag of the gizmo.
    window.click(Role::Button, "Move");
    assert_eq!(window.document().session().pose.gizmo, TransformKind::Move);
    let (pivot, axes) = window.editor().vertex_gizmo_frame().expect("a selection");
    let ahead = window.place(pivot + axes[0] * 0.1);
    let from = window.place(pivot);
    let along = (ahead - from).normalized();
    window.drag(
        PointerButton::Primary,
        Modifiers::NONE,
        from + along * 60.0,
        along * 40.0,
    );
    window.settle();
    assert_eq!(undo_label(&window), "Move 1 vertex");
    assert_eq!(window.editor().history().n_undo(), n_steps + 1);
    assert!(n_moved(&window) > 5);
    window.key(CTRL, Key::Z);
    window.settle();
    assert_eq!(window.positions(), before);
}
