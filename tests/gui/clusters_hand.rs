//! Clusters that are moved by hand in the window: selected with the mouse, moved with the gizmo and the keys, keyed, and shown
//! in the timeline.

use crate::clusters::undo_label;
use crate::window::Window;
use egui::{Key, Modifiers, PointerButton, Pos2, Role, Vec2};
use sinew::cluster::{Base, ControlMotion};
use sinew::view::commands::Command;
use sinew::view::frame::{PanelKind, Workspace};

/// The Clusters workspace on the sample arm with a stroke of clusters that a base moves, and the timeline.
pub(crate) fn with_base(base: Base, stroke: Vec2) -> Window {
    let mut window = Window::on("arm.glb");
    window.click(Role::Tab, Workspace::Clusters.label());
    if !window.app().dock().is_open(PanelKind::Timeline) {
        window.find_and_run(Command::TogglePanel(PanelKind::Timeline));
        window.settle();
    }
    let editor = window.harness.state_mut().editor_mut();
    let clip = editor.document().clips().keys().next().copied();
    editor.show_clip(clip);
    window.settle();
    let at = window.on_model();
    window.drag(PointerButton::Primary, Modifiers::NONE, at, stroke);
    window.settle();
    window.click(Role::ComboBox, "Driven by");
    window.click(Role::Button, base.label());
    window.settle();
    assert_eq!(window.editor().cluster_groups()[0].base, base);
    window.wait("patches", |app| app.editor().current_layout().is_some());
    window.settle();
    window
}

fn by_hand() -> Window {
    with_base(Base::Hand, Vec2::new(20.0, 12.0))
}

fn hand(window: &Window) -> ControlMotion {
    window.editor().cluster_groups()[0].hand.clone()
}

/// The cluster nearest to where the stroke began, and its place on the screen.
fn a_cluster(window: &Window) -> (u32, Pos2) {
    let at = window.on_model();
    let positions = window.positions();
    let clusters = window
        .editor()
        .clusters()
        .expect("an object")
        .clusters()
        .to_vec();
    let places = clusters
        .iter()
        .map(|c| (c.0, window.place(positions[c.0 as usize])));
    places
        .min_by(|a, b| a.1.distance(at).total_cmp(&b.1.distance(at)))
        .expect("clusters")
}

#[test]
fn clusters_are_selected_moved_with_the_gizmo_and_keyed() {
    let mut window = by_hand();
    // The toolbar shows the gizmo, and lets the mouse select.
    window.click(Role::Button, "Move");
    assert!(window.editor().moves_clusters());
    let (point, at) = a_cluster(&window);
    window.move_to(at);
    window.press(at);
    window.release(at);
    window.settle();
    assert_eq!(window.editor().clusters_by_hand(), [point]);
    window.picture("hand-selected");

    // A handle drags it: one step.
    assert!(window.says("Move X"));
    let (pivot, axes) = window.editor().cluster_gizmo_frame().expect("a selection");
    let ahead = window.place(pivot + axes[0] * 0.1);
    let from = window.place(pivot);
    let along = (ahead - from).normalized();
    let before = window.positions()[point as usize];
    let n = window.editor().history().n_undo();
    window.drag(
        PointerButton::Primary,
        Modifiers::NONE,
        from + along * 60.0,
        along * 40.0,
    );
    window.settle();
    assert_eq!(undo_label(&window), "Move 1 cluster");
    assert_eq!(window.editor().history().n_undo(), n + 1);
    let moved = window.positions()[point as usize];
    assert!(moved.distance(before) > 1e-3, "{before} {moved}");
    assert_eq!(hand(&window).still().len(), 1);

    // I inserts a keyframe with it at the time of the clip; later G moves it and sets another.
    let over = window.viewport().center();
    window.move_to(over);
    window.key(Modifiers::NONE, Key::I);
    window.settle();
    let name = window.editor().cluster_groups()[0].name.clone();
    assert!(undo_label(&window).starts_with(&format!("Insert keyframe for {name} at ")));
    assert!(window.says(&format!("Clusters · {name}: 1 keyframe")));
    assert!(window.says("1 cluster displaced, 1 keyframe in this clip"));
    let clip = window.editor().shown_clip().expect("a clip").0;
    window.harness.state_mut().editor_mut().set_time(0.5);
    window.settle();
    window.move_to(over);
    window.key(Modifiers::NONE, Key::G);
    window.move_to(over + Vec2::new(0.0, -40.0));
    window.key(Modifiers::NONE, Key::Enter);
    window.settle();
    assert_eq!(undo_label(&window), "Move 1 cluster · keyframe at 0.50 s");
    assert_eq!(hand(&window).keys(clip).len(), 2);
    assert!(window.says(&format!("Clusters · {name}: 2 keyframes")));
    window.picture("hand-keyed");

    // Alt+I deletes the keyframe of this time, Alt+G sets the cluster back.
    window.move_to(over);
    window.key(Modifiers::ALT, Key::I);
    window.settle();
    assert_eq!(
        undo_label(&window),
        format!("Delete keyframe of {name} at 0.50 s")
    );
    assert_eq!(hand(&window).keys(clip).len(), 1);
    window.key(Modifiers::ALT, Key::G);
    window.settle();
    assert_eq!(undo_label(&window), "Reset 1 cluster");
    // The brush marks again.
    window.click(Role::Button, "Mark brush");
    assert!(!window.editor().moves_clusters());
}

#[test]
fn a_box_selects_clusters_alone_and_the_panel_keys_them() {
    let mut window = by_hand();
    window.click(Role::Button, "Move clusters");
    assert!(window.editor().moves_clusters());
    let (_, at) = a_cluster(&window);
    let from = at - Vec2::new(90.0, 90.0);
    window.drag(
        PointerButton::Primary,
        Modifiers::NONE,
        from,
        Vec2::new(180.0, 180.0),
    );
    window.settle();
    let n = window.editor().n_selected();
    let n_clusters = window.editor().clusters().expect("an object").n_clusters();
    assert!(n > 1 && n <= n_clusters, "{n} of {n_clusters}");
    let clip = window.editor().shown_clip().expect("a clip").0;
    window.click(Role::Button, "Insert keyframe for the group");
    window.settle();
    assert_eq!(hand(&window).keys(clip).len(), 1);
    window.click(Role::Button, "Delete keyframe of the group");
    window.settle();
    assert!(hand(&window).keys(clip).is_empty());
    window.picture("hand-panel");
}
