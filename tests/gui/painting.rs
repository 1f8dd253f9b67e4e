//! Strokes of the brush, and the camera under the other buttons.

use crate::window::{CTRL, Window};
use egui::{
    Event, Key, Modifiers, MouseWheelUnit, PointerButton, Pos2, Role, TouchPhase, Vec2, vec2,
};
use egui_kittest::kittest::Queryable as _;
use sinew::view::Shading;

/// The arm in Paint mode, with its first bone active.
fn painter() -> Window {
    let mut window = Window::on("arm.glb");
    let bone = window.bones()[0];
    window.select(bone);
    window.key(Modifiers::NONE, Key::Tab);
    assert_eq!(window.app().viewport().options.shading, Shading::Weights);
    window
}

#[test]
fn escape_takes_the_stroke_back() {
    let mut window = painter();
    let before = window.document().clone();
    let at = window.on_model();
    window.press(at);
    window.move_to(at + vec2(20.0, 10.0));
    assert!(window.editor().is_painting());
    assert!(!window.document().same_content(&before));
    window.harness.key_press(Key::Escape);
    window.harness.step();
    assert!(!window.editor().is_painting());
    assert!(window.document().same_content(&before), "bit for bit");
    // The button is still down: nothing more is painted.
    window.move_to(at);
    window.release(at);
    window.settle();
    assert!(window.document().same_content(&before));
    assert_eq!(window.editor().history().undo_label(), None);
}

#[test]
fn a_release_outside_of_the_view_ends_the_stroke_as_one_step() {
    let mut window = painter();
    let before = window.document().clone();
    let at = window.on_model();
    let menu = window
        .harness
        .get_by_role_and_label(Role::Button, "Edit")
        .rect()
        .center();
    window.press(at);
    window.move_to(at + vec2(10.0, 10.0));
    window.move_to(menu);
    window.release(menu);
    window.settle();
    assert!(!window.editor().is_painting());
    let menu = window.harness.query_all_by_role(Role::MenuItem).next();
    assert!(menu.is_none(), "the menu under it stays closed");
    assert_eq!(window.editor().history().n_undo(), 1);
    let painted = window.document().clone();
    window.move_to(at);
    assert!(window.document().same_content(&painted));
    window.key(CTRL, Key::Z);
    assert!(window.document().same_content(&before));
}

#[test]
fn a_pointer_that_leaves_the_window_paints_no_line_to_its_corner() {
    let mut window = painter();
    let at = window.on_model();
    window.press(at);
    let painted = window.document().clone();
    window.harness.remove_cursor();
    window.harness.step();
    window.harness.step();
    assert!(window.editor().is_painting(), "the button is still down");
    assert!(window.document().same_content(&painted));
    window.move_to(at + vec2(3.0, 0.0));
    window.release(at);
    assert_eq!(window.editor().history().n_undo(), 1);
}

#[test]
fn another_mode_ends_the_stroke_and_keeps_it() {
    let mut window = painter();
    let at = window.on_model();
    window.press(at);
    let painted = window.document().clone();
    window.harness.key_press(Key::Tab);
    window.harness.step();
    window.move_to(at + vec2(30.0, 0.0));
    assert!(!window.editor().is_painting());
    window.release(at);
    window.settle();
    assert!(window.document().same_content(&painted));
    assert_eq!(window.editor().history().n_undo(), 1);
}

#[test]
fn weight_0_takes_away() {
    let mut window = painter();
    let sum = |w: &Window| w.heat().iter().map(|h| h.max(0.0)).sum::<f32>();
    window.stroke();
    let painted = sum(&window);
    window.key(Modifiers::NONE, Key::X);
    window.stroke();
    assert!(sum(&window) < painted, "{} {painted}", sum(&window));
}

#[test]
fn ctrl_subtracts() {
    let mut window = painter();
    window.stroke();
    let sum = |w: &Window| {
        let weights = w.heat().into_iter();
        weights.map(|v| f64::from(v.max(0.0))).sum::<f64>()
    };
    let added = sum(&window);
    let at = window.on_model();
    window.drag(PointerButton::Primary, CTRL, at, vec2(24.0, 16.0));
    assert!(sum(&window) < added);
    assert_eq!(window.editor().history().n_undo(), 2);
}

#[test]
fn painting_that_cannot_be_says_why() {
    let mut window = Window::on("arm.glb");
    let bone = window.bones()[0];
    window.key(Modifiers::NONE, Key::Tab);
    let before = window.document().clone();
    // A press on a bone would make it active: without bones in the view there is only skin.
    window.choose("View", "Show bones");
    window.stroke();
    assert!(window.says("No bone is active."));
    assert!(window.document().same_content(&before));
    window.choose("View", "Show bones");
    window.select(bone);
    let label = window.document().skeleton().label(bone);
    window.click(Role::CheckBox, &format!("Lock {label}"));
    let locked = window.document().clone();
    window.stroke();
    assert!(window.says("is locked. Unlock it to paint."));
    assert!(window.document().same_content(&locked));
    // Beside the model nothing happens either.
    window.click(Role::CheckBox, &format!("Lock {label}"));
    let corner = window.viewport().left_top() + vec2(12.0, 12.0);
    window.drag(
        PointerButton::Primary,
        Modifiers::NONE,
        corner,
        vec2(6.0, 6.0),
    );
    assert!(window.document().same_content(&before));
}

#[test]
fn in_paint_mode_the_first_press_on_a_bone_makes_it_active() {
    let mut window = Window::on("arm.glb");
    window.key(Modifiers::NONE, Key::Tab);
    let bone = window.editor().bones()[1];
    let at = window.place(bone.head.midpoint(bone.tail));
    window.press(at);
    window.release(at);
    window.settle();
    assert_eq!(window.document().session().active_joint, Some(bone.joint));
    assert_eq!(window.editor().history().n_undo(), 0);
}

#[test]
fn a_click_on_a_bone_in_the_view_selects_it() {
    let mut window = Window::on("arm.glb");
    let bone = window.editor().bones()[1];
    let at = window.place(bone.head.midpoint(bone.tail));
    window.press(at);
    window.release(at);
    window.settle();
    assert_eq!(window.document().session().active_joint, Some(bone.joint));
    let corner = window.viewport().left_top() + vec2(12.0, 12.0);
    window.press(corner);
    window.release(corner);
    window.settle();
    assert_eq!(window.document().session().active_joint, None);
}

fn wheel(window: &mut Window, at: Pos2, lines: f32) {
    window.move_to(at);
    window.harness.event(Event::MouseWheel {
        unit: MouseWheelUnit::Line,
        delta: Vec2::new(0.0, lines),
        phase: TouchPhase::Move,
        source: egui::MouseWheelSource::Wheel,
        modifiers: Modifiers::NONE,
    });
    // The wheel is smoothed over some frames.
    window.harness.run_steps(30);
    window.settle();
}

#[test]
fn the_middle_button_orbits_and_pans_and_the_wheel_zooms_to_the_pointer() {
    let mut window = painter();
    let before = window.document().clone();
    let camera = |w: &Window| w.document().session().camera;
    let at = window.on_model();

    let start = camera(&window);
    window.drag(PointerButton::Middle, Modifiers::NONE, at, vec2(80.0, 40.0));
    let orbited = camera(&window);
    assert!(
        orbited.yaw < start.yaw - 0.3 && orbited.pitch > start.pitch + 0.1,
        "{orbited:?}"
    );
    assert!((orbited.distance - start.distance).abs() < 1e-5);

    let at = window.on_model();
    let under = window
        .editor()
        .displayed()
        .values()
        .next()
        .map(|d| d.positions[0])
        .expect("a point");
    let place = window.place(under);
    window.drag(
        PointerButton::Middle,
        Modifiers::SHIFT,
        at,
        vec2(60.0, -30.0),
    );
    let panned = camera(&window);
    assert_eq!((panned.yaw, panned.pitch), (orbited.yaw, orbited.pitch));
    let moved = window.place(under) - place;
    assert!(
        (moved - vec2(60.0, -30.0)).length() < 20.0,
        "the model follows the pointer: {moved:?}"
    );

    let at = window.on_model();
    let rect = window.viewport();
    let ndc = |at: Pos2| {
        let unit = (at - rect.min) / rect.size();
        glam::Vec2::new(unit.x * 2.0 - 1.0, 1.0 - unit.y * 2.0)
    };
    let size = glam::Vec2::new(rect.width(), rect.height());
    let surface = window
        .harness
        .state_mut()
        .editor_mut()
        .surface_at(ndc(at), size);
    let surface = surface.unwrap_or(camera(&window).target);
    wheel(&mut window, at, 3.0);
    let near = camera(&window);
    assert!(near.distance < panned.distance * 0.95, "{near:?}");
    assert!(
        (window.place(surface) - at).length() < 1.0,
        "what is under the pointer stays there"
    );
    wheel(&mut window, at, -3.0);
    assert!((camera(&window).distance - panned.distance).abs() < 1e-3 * panned.distance);
    assert!(
        window.document().same_content(&before),
        "looking changes nothing"
    );
    assert_eq!(window.editor().history().undo_label(), None);
}
