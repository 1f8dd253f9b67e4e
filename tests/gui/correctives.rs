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
    window.click(Role::ComboBox, "Type of forearm");
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
    // Tune: each change computes them again.
    window.click(Role::Button, "Tune all");
    assert!(window.says("Stiffness"));
    window.picture("correctives-tuned");
    let on_top = (Role::CheckBox, "On top of samples");
    let node = window.harness.get_by_role_and_label(on_top.0, on_top.1);
    node.scroll_to_me();
    window.harness.step();
    window.settle();
    window.click(on_top.0, on_top.1);
    window.wait("suggestions", |app| app.editor().suggesting().is_none());
    window.settle();
    assert!(window.editor().suggest_settings().on_samples);
    assert_eq!(proposals(&window), found);
    window.click(Role::Button, "Tune all");
    // Tune one: the others stay.
    let tuned = format!("Tune {}", found[0]);
    window.click(Role::Button, &tuned);
    window.picture("correctives-tuned-one");
    let node = window.harness.get_by_role_and_label(on_top.0, on_top.1);
    node.scroll_to_me();
    window.harness.step();
    window.settle();
    window.click(on_top.0, on_top.1);
    window.wait("a tuned suggestion", |app| {
        app.editor().suggesting().is_none()
    });
    window.settle();
    let on_samples = |window: &Window| -> Vec<bool> {
        let found = window.editor().suggestions().iter();
        let found = found.flat_map(|s| &s.proposals);
        found.map(|p| p.settings.on_samples).collect()
    };
    let settings = on_samples(&window);
    assert!(!settings[0] && settings[1..].iter().all(|on| *on));
    let node = window.harness.get_by_role_and_label(Role::Button, &tuned);
    node.scroll_to_me();
    window.harness.step();
    window.settle();
    window.click(Role::Button, &tuned);
    window.click(Role::Button, &format!("Drop {}", found[0]));
    assert_eq!(proposals(&window), found[1..]);
    window.click(Role::Button, &format!("Accept {}", found[1]));
    assert_eq!(names(&window), [found[1].clone()]);
    // It stays in the list, and can be accepted again once that is undone.
    assert_eq!(proposals(&window), found[1..]);
    let button = |window: &Window, what: &str| {
        let label = format!("{what} {}", found[1]);
        let mut nodes = window
            .harness
            .query_all_by_role_and_label(Role::Button, &label);
        nodes.next().is_some()
    };
    assert!(button(&window, "Accepted") && !button(&window, "Accept"));
    window.key(CTRL, Key::Z);
    assert!(button(&window, "Accept") && !button(&window, "Accepted"));
    window.click(Role::Button, &format!("Accept {}", found[1]));
    window.click(Role::Button, "Accept ticked");
    assert!(names(&window).len() > 1);
    assert_eq!(undo_label(&window), "Accept corrective samples");
    window.settle();
    window.picture("correctives-accepted");
    let is_open = |p: usize| !window.editor().is_proposal_accepted(0, p);
    let any_open = (0..proposals(&window).len()).any(is_open);
    window.click(Role::Button, if any_open { "Drop all" } else { "Close" });
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

#[test]
fn a_hinge_is_posed_in_its_curves() {
    let (mut window, forearm) = correcting();
    rotate(&mut window, &[Key::Num9, Key::Num0]);
    window.key(CTRL, Key::K);
    window.click(Role::ComboBox, "Type of forearm");
    window.click(Role::Button, "Hinge");
    window.settle();
    let angle = |window: &Window| {
        let space = window.editor().pose_space(0, 0).expect("a driver");
        let rotation = window.editor().driver_rotation(0, 0).expect("a driver");
        space.place(rotation).x.to_degrees()
    };
    let before = angle(&window);
    assert!((before.abs() - 90.0).abs() < 1.0, "{before}");
    let label = format!("Pose space of forearm: angle {before:.0}°");
    let curves = window.harness.get_by_role_and_label(Role::Canvas, &label);
    let room = curves.rect();
    // A quarter of the plot is about 90 degrees; its axis takes some of it.
    let from = room.center();
    let by = Vec2::new(room.width() * 0.125 * -before.signum() as f32, 0.0);
    let n_steps = window.editor().history().n_undo();
    window.drag(PointerButton::Primary, Modifiers::NONE, from, by);
    window.settle();
    let after = angle(&window);
    assert!(after * before < 0.0, "{before} {after}");
    assert!((15.0..90.0).contains(&after.abs()), "{after}");
    assert_eq!(window.editor().history().n_undo(), n_steps + 1);
    let active = window.document().session().active_joint;
    assert_eq!(active, Some(forearm));
    // The opposite bend has nearly none of the correction; Enter goes back to all of it.
    let weight = window.editor().sample_weights()[0];
    assert!(weight < 0.3, "{weight}");
    window.click(
        Role::ListBoxOption,
        &format!("forearm 90°, weight {weight:.2}"),
    );
    window.key(Modifiers::NONE, Key::Enter);
    window.settle();
    assert!((window.editor().sample_weights()[0] - 1.0).abs() < 1e-9);
}

/// The buttons of the samples and of their sets, each one step.
#[test]
fn samples_are_renamed_updated_and_mirrored() {
    let mut window = Window::on("mannequin.glb");
    window.click(Role::Tab, Workspace::Correctives.label());
    let joints = window.document().skeleton().joints();
    let forearm = joints.iter().position(|joint| joint.name == "forearm.L");
    window.select(JointId(forearm.expect("a forearm") as u32));
    rotate(&mut window, &[Key::Num6, Key::Num0]);
    window.key(CTRL, Key::K);
    let at = window.on_bone(JointId(forearm.expect("a forearm") as u32));
    window.drag(
        PointerButton::Primary,
        Modifiers::NONE,
        at,
        Vec2::new(12.0, 8.0),
    );
    window.settle();
    let steps = |window: &Window| window.editor().history().n_undo();
    let n = steps(&window);

    // Renamed in its row.
    let row = "forearm.L 60°, weight 1.00";
    let place = window
        .harness
        .get_by_role_and_label(Role::ListBoxOption, row);
    let place = place.rect().center();
    for _ in 0..2 {
        window.press(place);
        window.release(place);
    }
    window.settle();
    window.key(CTRL, Key::A);
    window.write("forearm.L bent");
    window.key(Modifiers::NONE, Key::Enter);
    assert_eq!(names(&window), ["forearm.L bent"]);
    assert_eq!(
        (steps(&window), undo_label(&window).as_str()),
        (n + 1, "Rename sample")
    );

    // Moved to the pose on screen.
    rotate(&mut window, &[Key::Num2, Key::Num0]);
    let weight = window.editor().sample_weights()[0];
    assert!((weight - 1.0).abs() > 1e-3, "{weight}");
    let n = steps(&window);
    window.find_and_run(Command::UpdateSample);
    assert_eq!(
        (steps(&window), undo_label(&window).as_str()),
        (n + 1, "Update sample")
    );
    assert!((window.editor().sample_weights()[0] - 1.0).abs() < 1e-9);

    // A picture in its row.
    assert!(
        window
            .harness
            .state_mut()
            .editor_mut()
            .sample_picture(0, 0)
            .is_some()
    );
    window.picture("correctives-mannequin");

    // To the other side, and back.
    window.click(Role::Button, "Mirror samples");
    window.wait_until("the mirrored set", |w| {
        item(w).correctives.sets().len() == 2
    });
    window.settle();
    assert_eq!(undo_label(&window), "Mirror samples");
    let sets = item(&window).correctives.sets().iter();
    let sets: Vec<&str> = sets.map(|set| set.name.as_str()).collect();
    assert_eq!(sets, ["forearm.L", "forearm.R"]);
    assert_eq!(names(&window), ["forearm.L bent", "forearm.R bent"]);
    let moved = |window: &Window| -> Vec<usize> {
        let samples = item(window).correctives.samples().iter();
        samples.map(|s| s.displacements.n_points()).collect()
    };
    let both = moved(&window);
    assert!(both[0] > 10 && both[0] == both[1], "{both:?}");
    window.picture("correctives-mirrored");
    window.key(CTRL, Key::Z);
    assert_eq!(item(&window).correctives.sets().len(), 1);
}

#[test]
fn the_welcome_offers_the_corrected_elbow() {
    let mut window = Window::on("cylinder.glb");
    window.choose("Help", "Welcome");
    window.click(Role::Button, "Corrected elbow");
    window.wait_until("the sample", |w| {
        let mut meshes = w.document().meshes().values();
        meshes.any(|item| item.correctives.samples().len() == 4)
    });
    window.settle();
    window.click(Role::Tab, Workspace::Correctives.label());
    assert!(window.says("forearm, 4 samples"));
    window.picture("correctives-elbow");
}
