//! The menus of the right mouse button with the settings of a brush: their drop-downs open, choose and close.

use crate::window::Window;
use egui::{Key, Modifiers, Pos2, Rect, Role, vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use sinew::document::session::{BrushKind, BrushOptions, FalloffShape};
use sinew::math::Axis;
use sinew::view::commands::Command;
use sinew::view::mode::Mode;
use sinew::weights::falloff::Falloff;

/// The arm in `mode` with the menu of the right button open.
fn opened(mode: Mode) -> (Window, Rect) {
    let mut window = Window::on("arm.glb");
    let bone = window.bones()[0];
    window.select(bone);
    window.find_and_run(Command::SetMode(mode));
    window.settle();
    let view = window.viewport();
    window.right_click(view.left_top() + vec2(150.0, 40.0));
    (window, view)
}

/// The drop-downs of the menu by name, with their places: those over the viewport.
fn drop_downs(window: &Window, view: Rect) -> Vec<(String, Pos2)> {
    let nodes = window.harness.query_all_by_role(Role::ComboBox);
    let over = nodes.filter(|node| view.contains(node.rect().center()));
    over.map(|node| {
        let label = node.accesskit_node().labelled_by().next();
        let name = label.map(|label| label.value().or(label.label()).unwrap_or_default());
        (name.unwrap_or_default(), node.rect().center())
    })
    .filter(|(name, _)| !name.is_empty())
    .collect()
}

fn click(window: &mut Window, at: Pos2) {
    window.press(at);
    window.release(at);
    window.settle();
}

/// Opens the drop-down `name` of the menu and chooses `item`.
#[track_caller]
fn choose(window: &mut Window, view: Rect, name: &str, item: &str) {
    let found = drop_downs(window, view);
    let found = found.iter().find(|(label, _)| label == name);
    let at = found.unwrap_or_else(|| panic!("no {name}")).1;
    click(window, at);
    let n = drop_downs(window, view).len();
    assert!(n > 0, "{name} closed the menu that it is in");
    let mut items = window.harness.get_all_by_label(item);
    // The items of a drop-down are drawn last, below or above its button.
    let item_at = items
        .rfind(|node| view.contains(node.rect().center()))
        .unwrap_or_else(|| panic!("{name} does not offer {item}"))
        .rect()
        .center();
    drop(items);
    click(window, item_at);
    assert_eq!(
        drop_downs(window, view).len(),
        n,
        "{item} closes its list only"
    );
}

fn brush(window: &Window) -> &BrushOptions {
    &window.document().session().brush
}

#[test]
fn drop_downs_of_the_paint_menu_choose_without_closing_it() {
    let (mut window, view) = opened(Mode::Paint);
    let before = window.document().clone();
    window.picture("popover-paint");
    choose(&mut window, view, "Brush", "Smooth");
    assert_eq!(brush(&window).kind(), BrushKind::Smooth);
    choose(&mut window, view, "Falloff", Falloff::Linear.label());
    assert_eq!(brush(&window).falloff, Falloff::Linear);
    choose(
        &mut window,
        view,
        "Falloff shape",
        FalloffShape::Screen.label(),
    );
    assert_eq!(brush(&window).falloff_shape, FalloffShape::Screen);
    choose(&mut window, view, "Symmetry", "X");
    assert_eq!(brush(&window).symmetry, Some(Axis::X));
    // Esc closes an open list first, then the menu.
    let falloff = drop_downs(&window, view);
    let falloff = falloff.iter().find(|(label, _)| label == "Falloff");
    click(&mut window, falloff.expect("a falloff").1);
    window.key(Modifiers::NONE, Key::Escape);
    assert!(!drop_downs(&window, view).is_empty());
    window.key(Modifiers::NONE, Key::Escape);
    assert!(drop_downs(&window, view).is_empty());
    assert!(
        window.document().same_content(&before),
        "nothing is painted"
    );
}

#[test]
fn drop_downs_of_the_sculpt_and_cluster_menus_choose_without_closing_them() {
    for mode in [Mode::Sculpt, Mode::Cluster] {
        let (mut window, view) = opened(mode);
        choose(
            &mut window,
            view,
            "Falloff shape",
            FalloffShape::Screen.label(),
        );
        assert_eq!(
            brush(&window).falloff_shape,
            FalloffShape::Screen,
            "{mode:?}"
        );
        choose(&mut window, view, "Radius unit", "Metres");
        choose(&mut window, view, "Symmetry", "Z");
        assert_eq!(brush(&window).symmetry, Some(Axis::Z), "{mode:?}");
    }
}

#[test]
fn a_click_beside_the_menu_and_a_command_in_it_close_it() {
    let (mut window, view) = opened(Mode::Paint);
    let beside = view.right_bottom() - vec2(60.0, 60.0);
    click(&mut window, beside);
    assert!(drop_downs(&window, view).is_empty());
    window.right_click(view.left_top() + vec2(150.0, 40.0));
    assert!(!drop_downs(&window, view).is_empty());
    // Elsewhere it opens there.
    window.right_click(view.left_top() + vec2(30.0, 20.0));
    let first = drop_downs(&window, view)[0].1;
    assert!(first.x < view.left() + 250.0, "{first:?}");
    let lock = Command::LockActive.full_label(window.editor());
    let mut items = window
        .harness
        .get_all_by_role_and_label(Role::MenuItem, &lock);
    let at = items.next().expect("the command").rect().center();
    drop(items);
    click(&mut window, at);
    assert!(drop_downs(&window, view).is_empty());
    assert_eq!(window.document().locked().len(), 1);
}
