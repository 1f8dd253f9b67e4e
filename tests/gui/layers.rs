//! Layers of weights in the window: added, painted, faded, muted, masked, mirrored, merged and taken back.

use crate::window::{CTRL, Window};
use egui::{Key, Modifiers, PointerButton, Role, Vec2};
use egui_kittest::kittest::Queryable as _;
use sinew::document::session::PaintTarget;
use sinew::document::{LayerStack, MeshItem};
use sinew::view::frame::{PanelKind, Workspace};

/// The Weights workspace with a bone that can be painted.
fn painting() -> Window {
    let mut window = Window::on("arm.glb");
    window.click(Role::Tab, Workspace::Weights.label());
    let bone = window.bones()[0];
    window.select(bone);
    window
}

fn item(window: &Window) -> &MeshItem {
    window.document().meshes().values().next().expect("a mesh")
}

fn names(window: &Window) -> Vec<String> {
    let layers = item(window).layers.layers().iter();
    layers.map(|layer| layer.name.clone()).collect()
}

fn undo_label(window: &Window) -> String {
    let label = window.editor().history().undo_label();
    label.unwrap_or_default().to_owned()
}

#[test]
fn a_layer_is_added_painted_faded_muted_and_thrown_away() {
    let mut window = painting();
    assert!(window.app().dock().is_open(PanelKind::Layers));
    assert!(window.says("No layers. You paint the weights directly."));
    window.picture("layers-none");
    let before = window.document().clone();
    window.click(Role::Button, "Add layer");
    assert_eq!(names(&window), ["Base", "Layer 1"]);
    assert!(item(&window).influences == before.meshes().values().next().unwrap().influences);
    window.stroke();
    let painted = window.document().clone();
    let layer = item(&window).layers.layers()[1].clone();
    assert!(layer.n_rows() > 20, "{}", layer.n_rows());
    let base = item(&window).base_rows();
    assert_eq!(*base, before.meshes().values().next().unwrap().influences);
    let label = undo_label(&window);
    assert!(
        label.starts_with("Add · ") && label.ends_with(" vertices"),
        "{label}"
    );
    window.picture("layers-painted");

    // Faded by a drag: one step.
    let n_steps = window.editor().history().n_undo();
    let field = window
        .harness
        .get_by_role_and_label(Role::SpinButton, "Opacity of Layer 1");
    let at = field.rect().center();
    let left = Vec2::new(-40.0, 0.0);
    window.drag(PointerButton::Primary, Modifiers::NONE, at, left);
    let opacity = item(&window).layers.layers()[1].opacity;
    assert!((0.3..0.9).contains(&opacity), "{opacity}");
    assert_eq!(window.editor().history().n_undo(), n_steps + 1);
    assert_eq!(undo_label(&window), "Layer opacity");
    window.key(CTRL, Key::Z);
    assert!(window.document().same_content(&painted), "bit for bit");

    // Muted: the base is seen, and painting says why it does nothing.
    window.click(Role::CheckBox, "Show Layer 1");
    assert_eq!(undo_label(&window), "Mute layer");
    assert_eq!(item(&window).influences, *item(&window).base_rows());
    window.stroke();
    assert!(window.says("The layer \"Layer 1\" is muted."));
    window.click(Role::CheckBox, "Show Layer 1");
    assert!(window.document().same_content(&painted));

    window.click(Role::CheckBox, "Solo Base");
    assert_eq!(item(&window).layers.solo(), Some(LayerStack::BASE));
    assert_eq!(item(&window).influences, *item(&window).base_rows());
    window.click(Role::CheckBox, "Solo Base");

    window.click(Role::Button, "Delete layer");
    assert!(item(&window).layers.is_plain());
    assert!(window.document().same_content(&before));
    window.key(CTRL, Key::Z);
    assert_eq!(names(&window), ["Base", "Layer 1"]);
    window.click(Role::Button, "Flatten layers");
    assert!(window.says("No layers. You paint the weights directly."));
    let flat = item(&window).influences.clone();
    assert!(flat == painted.meshes().values().next().unwrap().influences);
}

#[test]
fn layers_are_named_ordered_merged_and_walked_through() {
    let mut window = painting();
    for _ in 0..2 {
        window.find_and_run(sinew::view::commands::Command::AddLayer);
        window.settle();
    }
    assert_eq!(names(&window), ["Base", "Layer 1", "Layer 2"]);
    window.stroke();
    window.click(Role::Button, "Move layer down");
    assert_eq!(names(&window), ["Base", "Layer 2", "Layer 1"]);
    window.key(CTRL, Key::Z);

    // A double click, or Enter, lets another name be typed.
    window.click(Role::ListBoxOption, "Layer 1");
    window.key(Modifiers::NONE, Key::Enter);
    window.write("Elbow");
    window.key(Modifiers::NONE, Key::Enter);
    assert_eq!(names(&window), ["Base", "Elbow", "Layer 2"]);
    assert_eq!(undo_label(&window), "Rename layer");
    let active = |window: &Window| {
        let id = window.editor().active_layer().expect("layers");
        item(window).layers.get(id).expect("known").name.clone()
    };
    assert_eq!(active(&window), "Elbow");
    window.click(Role::ListBoxOption, "Elbow");
    window.key(Modifiers::NONE, Key::ArrowDown);
    assert_eq!(active(&window), "Base");
    window.key(Modifiers::NONE, Key::Home);
    assert_eq!(active(&window), "Layer 2");
    let shown = item(&window).influences.clone();
    window.click(Role::Button, "Merge layer down");
    assert_eq!(names(&window), ["Base", "Elbow"]);
    assert!(item(&window).influences == shown);
    window.click(Role::Button, "Duplicate layer");
    assert_eq!(names(&window), ["Base", "Elbow", "Elbow copy"]);
    window.picture("layers-several");
}

#[test]
fn a_mask_is_painted_and_a_mirror_is_an_effect() {
    let mut window = painting();
    window.click(Role::Button, "Add layer");
    window.stroke();
    let shown = item(&window).influences.clone();
    window.click(Role::Button, "Paint mask of Layer 1");
    assert_eq!(window.editor().paint_target(), PaintTarget::LayerMask);
    assert!(window.says("Paint where layer \"Layer 1\" applies."));
    assert!(window.heat().iter().all(|&h| h == 1.0), "never painted");
    window.stroke();
    assert_eq!(undo_label(&window), "Paint layer mask");
    assert!(window.heat().iter().any(|&h| h < 0.6));
    assert!(
        item(&window).influences != shown,
        "less of the layer is shown"
    );
    assert!(window.says("Paint mask of Layer 1, painted"));
    window.picture("layers-mask");
    window.choose("Weights", "Clear map");
    assert!(item(&window).influences == shown);

    window.click(Role::Button, "Menu of Layer 1");
    window.click(Role::MenuItem, "Mirror +X to -X");
    window.settle();
    assert_eq!(undo_label(&window), "Mirror layer");
    let mirror = item(&window).layers.layers()[1].mirror.clone();
    assert!(mirror.expect("an effect").from_positive());
    assert!(window.says("The layer is mirrored +X to -X."));
    assert!(window.says("Layer 1 mirrored +X to -X"));
    window.picture("layers-mirror");
    window.click(Role::Button, "Menu of Layer 1");
    window.click(Role::MenuItem, "No mirror");
    assert!(item(&window).influences == shown);
}
