//! Control clusters in the window: marked with the mouse, grouped with keys, listed, and taken back.

use crate::window::{CTRL, Window};
use egui::{Key, Modifiers, PointerButton, Role, Vec2};
use egui_kittest::kittest::Queryable as _;
use sinew::cluster::{Base, ClusterMap, Interpolation};
use sinew::view::commands::Command;
use sinew::view::frame::{PanelKind, Workspace};
use sinew::view::mode::Mode;

/// The Clusters workspace on the sample arm.
fn clustering() -> Window {
    let mut window = Window::on("arm.glb");
    window.click(Role::Tab, Workspace::Clusters.label());
    assert!(window.app().dock().is_open(PanelKind::Clusters));
    assert_eq!(window.app().viewport().mode, Mode::Cluster);
    window
}

fn map(window: &Window) -> ClusterMap {
    ClusterMap::clone(window.editor().clusters().expect("an object"))
}

fn undo_label(window: &Window) -> String {
    let label = window.editor().history().undo_label();
    label.unwrap_or_default().to_owned()
}

fn stroke(window: &mut Window, modifiers: Modifiers) {
    let at = window.on_model();
    let by = Vec2::new(20.0, 12.0);
    window.drag(PointerButton::Primary, modifiers, at, by);
    window.settle();
}

/// The number of pixels of about this colour in the viewport.
fn n_of_colour(window: &mut Window, name: &str, [r, g, b]: [u8; 3]) -> usize {
    let rect = window.viewport();
    let picture = window.picture(name);
    let pixels = picture.enumerate_pixels().filter(|(x, y, p)| {
        let is_near = |a: u8, b: u8| a.abs_diff(b) < 24;
        rect.contains(egui::pos2(*x as f32, *y as f32))
            && is_near(p[0], r)
            && is_near(p[1], g)
            && is_near(p[2], b)
    });
    pixels.count()
}

#[test]
fn clusters_are_marked_with_the_mouse_in_the_same_frame_and_undone() {
    let mut window = clustering();
    assert!(window.says("No clusters."));
    assert!(window.says("Mark a few vertices; the rest follow Bezier patches."));
    window.picture("clusters-none");
    let at = window.on_model();
    window.press(at);
    // No frame has passed since the press: the clusters are there before any deformation is computed.
    let n = map(&window).n_clusters();
    assert!(n > 3, "{n}");
    window.release(at);
    window.settle();
    assert_eq!(undo_label(&window), format!("Mark {n} clusters · Skin"));
    assert!(window.says(&format!("Skin, {n} clusters")));
    let steps = window.editor().history().n_undo();
    stroke(&mut window, Modifiers::SHIFT);
    assert!(map(&window).n_clusters() > n);
    stroke(&mut window, CTRL);
    assert!(undo_label(&window).starts_with("Unmark "));
    assert_eq!(window.editor().history().n_undo(), steps + 2);
    for _ in 0..3 {
        window.key(CTRL, Key::Z);
    }
    assert!(map(&window).is_empty());
    assert!(window.says("No clusters."));
}

#[test]
fn number_keys_choose_groups_and_assign_the_selection() {
    let mut window = clustering();
    for preset in ["Add skin group", "Add PSD group"] {
        window.choose_add(preset);
    }
    let yellow = [240, 228, 66];
    assert_eq!(map(&window).groups()[1].colour, yellow);
    window.picture("clusters-groups");
    let over = window.viewport().center();
    window.move_to(over);
    window.key(Modifiers::NONE, Key::Num1);
    assert_eq!(window.editor().active_group(), Some(0));
    let camera = window.document().session().camera;
    window.key(Modifiers::NONE, Key::Num2);
    assert_eq!(window.editor().active_group(), Some(1));
    assert_eq!(
        window.document().session().camera,
        camera,
        "no view of the numpad"
    );
    let without = n_of_colour(&mut window, "clusters-before", yellow);
    stroke(&mut window, Modifiers::NONE);
    // Near enough for the glyphs to have room.
    window.key(Modifiers::NONE, Key::L);
    window.key(Modifiers::NONE, Key::Period);
    window.key(Modifiers::ALT, Key::A);
    window.settle();
    let marked = n_of_colour(&mut window, "clusters-psd", yellow);
    assert!(marked > without + 1000, "{without} {marked}");

    // The selected group goes to another by its number, and is deselected.
    window.key(Modifiers::NONE, Key::L);
    let n = window.editor().n_selected();
    assert!(n > 3);
    window.picture("clusters-selected");
    window.key(Modifiers::NONE, Key::Num1);
    assert_eq!(undo_label(&window), format!("Mark {n} clusters · Skin"));
    assert_eq!(window.editor().cluster_counts(), [n, 0]);
    assert_eq!(window.editor().n_selected(), 0);

    // Grow and shrink by keys.
    window.key(Modifiers::NONE, Key::G);
    assert!(window.editor().cluster_counts()[0] > n);
    window.key(Modifiers::SHIFT, Key::G);
    assert_eq!(window.editor().cluster_counts()[0], n);
    // Isolate hides the marks of the other groups.
    window.click(Role::Button, "Isolate PSD");
    assert_eq!(window.editor().isolated_group(), Some(1));
    window.click(Role::Button, "Isolate PSD");
    assert_eq!(window.editor().isolated_group(), None);
    window.click(Role::Button, "Delete PSD");
    assert_eq!(map(&window).groups().len(), 1);
    window.find_and_run(Command::UnmarkAll);
    window.settle();
    assert_eq!(window.editor().cluster_counts(), [0]);
}

#[test]
fn a_box_selects_vertices_to_mark() {
    let mut window = clustering();
    let over = window.viewport().center();
    window.move_to(over);
    window.key(Modifiers::NONE, Key::B);
    window.drag(
        PointerButton::Primary,
        Modifiers::NONE,
        over - Vec2::new(40.0, 40.0),
        Vec2::new(80.0, 80.0),
    );
    let n = window.editor().n_selected();
    assert!(n > 10, "{n}");
    window.key(Modifiers::NONE, Key::M);
    assert!(
        undo_label(&window).ends_with(" clusters · Skin"),
        "{}",
        undo_label(&window)
    );
    assert_eq!(window.editor().cluster_counts(), [n]);
    window.settle();
    window.picture("clusters-box");
}

#[test]
fn groups_and_patches_are_set_in_the_panel() {
    let mut window = clustering();
    let editor = window.harness.state_mut().editor_mut();
    editor.brush_mut().radius_px = 1.0;
    let at = window.on_model();
    window.press(at);
    window.release(at);
    window.settle();
    assert_eq!(
        map(&window).n_clusters(),
        1,
        "the vertex nearest to the click"
    );
    window.wait("patches", |app| app.editor().current_layout().is_some());
    window.settle();
    assert!(
        window.editor().n_anchors() > 0,
        "one cluster makes no patch"
    );
    assert!(window.says("Promote"));
    window.picture("clusters-anchors");
    let n = window.editor().n_anchors();
    window.click(Role::Button, "Promote");
    assert!(undo_label(&window).starts_with(&format!("Promote {n} ")));
    window.settle();
    window.click(Role::ComboBox, "Base");
    window.click(Role::Button, "Linear");
    assert_eq!(map(&window).groups()[0].base, Base::Lbs);
    window.click(Role::ComboBox, "Patch surface");
    window.click(Role::Button, "PN triangles");
    let interpolation = window.editor().patch_settings().interpolation;
    assert_eq!(interpolation, Interpolation::PointNormal);
    assert_eq!(undo_label(&window), "Patch surface");
    window.click(Role::CheckBox, "Couple normals");
    assert!(!window.editor().patch_settings().couples_normals);
    window.find_and_run(Command::RenameGroup);
    window.settle();
    window.write("Elbow");
    window.key(Modifiers::NONE, Key::Enter);
    assert_eq!(map(&window).groups()[0].name, "Elbow");
    window.picture("clusters-panel");
}

impl Window {
    /// Adds a group by the menu of the panel, or by the button of its empty state.
    fn choose_add(&mut self, item: &str) {
        let mut menus = self
            .harness
            .query_all_by_role_and_label(Role::Button, "Add a group");
        if let Some(menu) = menus.next() {
            menu.click();
            drop(menus);
            self.harness.step();
            self.settle();
        } else {
            drop(menus);
        }
        self.click(Role::Button, item);
    }
}
