//! Clusters that a lattice or a cage moves, in the window: control points selected with the mouse, moved with the gizmo and the
//! keys, keyed, and shown in the timeline.

use crate::clusters::undo_label;
use crate::clusters_hand::with_base;
use crate::window::Window;
use egui::{Key, Modifiers, PointerButton, Pos2, Role, Vec2};
use egui_kittest::kittest::Queryable as _;
use sinew::app::Folders;
use sinew::cluster::{Base, ControlMotion};
use sinew::document::session::SelectKind;
use sinew::editor::clusters::ControlPoints;
use sinew::io::gltf_build;
use sinew::mesh::PointSet;
use sinew::sample::{SampleKind, sample};
use sinew::view::frame::Workspace;
use std::sync::Arc;

fn points(window: &Window) -> ControlPoints {
    window.editor().control_points().expect("control points")
}

fn motion(window: &Window) -> ControlMotion {
    let group = &window.editor().cluster_groups()[0];
    group.motion().expect("control points").clone()
}

fn click_at(window: &mut Window, at: Pos2) {
    window.move_to(at);
    window.press(at);
    window.release(at);
    window.settle();
}

#[test]
fn control_points_of_a_lattice_are_selected_moved_with_the_gizmo_and_keyed() {
    let mut window = with_base(Base::Lattice, Vec2::new(40.0, 24.0));
    assert_eq!(points(&window).places.len(), 8);
    window.picture("lattice-marking");
    // The toolbar shows the gizmo, and lets the mouse select.
    window.click(Role::Button, "Move");
    assert!(window.editor().moves_clusters());
    let places = points(&window).places;
    // The control point that lies most freely: the others may be beside it on the screen.
    let screen: Vec<Pos2> = places.iter().map(|p| window.place(*p)).collect();
    let apart = |i: usize| {
        let others = (0..8).filter(|j| *j != i);
        let gaps = others.map(|j| screen[i].distance(screen[j]));
        gaps.fold(f32::INFINITY, f32::min)
    };
    let free = (0..8)
        .max_by(|a, b| apart(*a).total_cmp(&apart(*b)))
        .unwrap();
    click_at(&mut window, screen[free]);
    let selected: Vec<u32> = points(&window).selected.into_iter().collect();
    assert_eq!(selected, [free as u32]);
    assert!(window.says("1 control point selected"));
    window.picture("lattice-selected");

    // A handle drags it: one step.
    assert!(window.says("Move X"));
    let (pivot, axes) = window.editor().cluster_gizmo_frame().expect("a selection");
    let ahead = window.place(pivot + axes[0] * 0.1);
    let from = window.place(pivot);
    let along = (ahead - from).normalized();
    let n = window.editor().history().n_undo();
    let before = window.positions();
    window.drag(
        PointerButton::Primary,
        Modifiers::NONE,
        from + along * 60.0,
        along * 60.0,
    );
    window.settle();
    assert_eq!(undo_label(&window), "Move 1 control point");
    assert_eq!(window.editor().history().n_undo(), n + 1);
    assert_eq!(motion(&window).still().len(), 1);
    let after = window.positions();
    let pairs = before.iter().zip(after.iter());
    let moved = pairs.filter(|(a, b)| a.distance(**b) > 1e-4).count();
    assert!(moved > 0);
    window.picture("lattice-moved");

    // I inserts a keyframe; later all are selected and moved, which sets another.
    let over = window.viewport().center();
    window.move_to(over);
    window.key(Modifiers::NONE, Key::I);
    window.settle();
    let name = window.editor().cluster_groups()[0].name.clone();
    assert!(undo_label(&window).starts_with(&format!("Insert keyframe for {name} at ")));
    assert!(window.says(&format!("Clusters · {name}: 1 keyframe")));
    assert!(window.says("1 control point displaced, 1 keyframe in this clip"));
    window.harness.state_mut().editor_mut().set_time(0.5);
    window.settle();
    window.move_to(over);
    window.key(Modifiers::NONE, Key::A);
    window.settle();
    assert_eq!(points(&window).selected.len(), 8);
    window.key(Modifiers::ALT, Key::A);
    window.settle();
    assert_eq!(points(&window).selected.len(), 0, "Select none");
    window.key(Modifiers::NONE, Key::A);
    window.settle();
    window.key(Modifiers::NONE, Key::G);
    window.move_to(over + Vec2::new(0.0, -40.0));
    window.key(Modifiers::NONE, Key::Enter);
    window.settle();
    assert_eq!(
        undo_label(&window),
        "Move 8 control points · keyframe at 0.50 s"
    );
    assert!(window.says(&format!("Clusters · {name}: 2 keyframes")));
    window.picture("lattice-keyed");
    window.click(Role::Button, "Reset points");
    window.settle();
    assert_eq!(undo_label(&window), "Reset 8 control points");
    window.click(Role::Button, "Fit to clusters");
    window.settle();
    // The brush marks again.
    window.click(Role::Button, "Mark brush");
    assert!(!window.editor().moves_clusters());
}

#[test]
fn a_box_selects_the_points_of_a_cage_alone() {
    let mut window = with_base(Base::Cage, Vec2::new(40.0, 24.0));
    assert_eq!(points(&window).places.len(), 26);
    window.click(Role::Button, "Move control points");
    let screen: Vec<Pos2> = points(&window)
        .places
        .iter()
        .map(|p| window.place(*p))
        .collect();
    let around = egui::Rect::from_points(&screen).expand(12.0);
    let vertices = window.editor().n_selected();
    window.drag(
        PointerButton::Primary,
        Modifiers::NONE,
        around.min,
        around.size(),
    );
    window.settle();
    assert_eq!(points(&window).selected.len(), 26);
    assert_eq!(window.editor().n_selected(), vertices);
    window.picture("cage-selected");
    let over = window.viewport().center();
    window.move_to(over);
    window.key(Modifiers::NONE, Key::S);
    window.key(Modifiers::NONE, Key::Num2);
    window.key(Modifiers::NONE, Key::Enter);
    window.settle();
    assert_eq!(undo_label(&window), "Scale 26 control points");
    window.picture("cage-scaled");
}

/// A fine cage around many clusters takes seconds to bind: the status bar shows how far it is, and its Cancel ends it.
#[test]
fn cancel_ends_the_binding_of_a_fine_cage() {
    let folder = tempfile::tempdir().expect("a folder for files");
    let path = folder.path().join("cylinder.glb");
    let model = sample(SampleKind::Cylinder, 40_000);
    std::fs::write(&path, gltf_build::to_glb(&model)).expect("a file");
    let mut window = Window::with_folders(Some(&path), Folders::default());
    window.click(Role::Tab, Workspace::Clusters.label());
    let editor = window.harness.state_mut().editor_mut();
    let mesh = editor.clustered_mesh().expect("an object");
    let n_points = editor.document().meshes()[&mesh].geometry.n_points();
    editor.set_select_kind(SelectKind::Points);
    editor.select_points_of([(mesh, PointSet::full(n_points))]);
    editor.mark_selected();
    editor.set_group_base(0, Base::Cage);
    window.settle();
    let coarse = window.editor().patch_layout(mesh).cloned();

    let editor = window.harness.state_mut().editor_mut();
    editor.set_cage_segments(0, 8);
    window.wait_until("the cage is being bound", |window| {
        window.says("Binding to the cage")
    });
    let cancel = window.harness.get_by_role_and_label(Role::Button, "Cancel");
    cancel.click();
    window.wait("the end of the job", |app| app.editor().running().is_none());
    window.settle();
    assert!(window.says("cancelled; change a cluster or its cage to restart."));
    let after = window.editor().patch_layout(mesh).cloned();
    assert!(after.is_some(), "the previous patches are shown");
    assert!(coarse.zip(after).is_some_and(|(a, b)| Arc::ptr_eq(&a, &b)));
    // A coarse cage is bound again.
    let editor = window.harness.state_mut().editor_mut();
    editor.set_cage_segments(0, 1);
    window.settle();
    let bound = window.editor().current_layout().expect("patches");
    assert_eq!(bound.cages().len(), 1);
}
