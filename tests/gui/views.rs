//! Views, the axis gizmo, navigation of both presets and what is written over the picture.

use crate::window::{CTRL, Window};
use egui::{
    Event, Key, Modifiers, MouseWheelSource, MouseWheelUnit, PointerButton, Role, TouchPhase, Vec2,
    vec2,
};
use egui_kittest::kittest::Queryable as _;
use sinew::math::Camera;
use sinew::math::camera::View;
use sinew::view::Shading;
use sinew::view::commands::Command;
use sinew::view::keymap::{self, KeyMap, Preset};

fn camera(window: &Window) -> Camera {
    window.document().session().camera
}

const ALT: Modifiers = Modifiers::ALT;

#[test]
fn the_numpad_looks_along_the_axes_and_turns_in_steps() {
    let mut window = Window::on("arm.glb");
    for (modifiers, key, view) in [
        (Modifiers::NONE, Key::Num1, View::Front),
        (Modifiers::NONE, Key::Num9, View::Back),
        (Modifiers::NONE, Key::Num3, View::Right),
        (CTRL, Key::Num3, View::Left),
        (CTRL, Key::Num1, View::Back),
        (CTRL, Key::Num7, View::Bottom),
        (Modifiers::NONE, Key::Num9, View::Top),
    ] {
        window.key(modifiers, key);
        assert_eq!(camera(&window).axis_view(), Some(view), "{key:?}");
        assert!(window.says(&format!("Orthographic · {}", view.label())));
    }
    window.key(Modifiers::NONE, Key::Num5);
    assert!(!camera(&window).orthographic && window.says("Perspective · Top"));
    window.key(Modifiers::NONE, Key::Num1);
    let front = camera(&window);
    for (key, yaw, pitch) in [
        (Key::Num6, 15.0, 0.0),
        (Key::Num8, 15.0, 15.0),
        (Key::Num4, 0.0, 15.0),
        (Key::Num2, 0.0, 0.0),
    ] {
        window.key(Modifiers::NONE, key);
        let now = camera(&window);
        let turned = [now.yaw - front.yaw, now.pitch - front.pitch].map(f32::to_degrees);
        assert!(
            (turned[0] - yaw).abs() < 1e-3 && (turned[1] - pitch).abs() < 1e-3,
            "{turned:?}"
        );
        assert_eq!(now.target, front.target);
    }
    // Seen along an axis it is orthographic, turned it is a perspective again; what the artist chooses stays.
    assert!(window.says("Perspective · Front"));
    window.key(Modifiers::NONE, Key::Num5);
    window.key(Modifiers::NONE, Key::Num3);
    window.key(Modifiers::NONE, Key::Num6);
    assert!(camera(&window).orthographic && window.says("Orthographic"));
}

#[test]
fn a_change_of_view_glides_ends_exactly_and_then_costs_nothing() {
    let mut window = Window::on("arm.glb");
    window.picture("start");
    let from = camera(&window);
    window.harness.key_press(Key::Num3);
    window.harness.run_steps(4);
    let between = camera(&window);
    assert!(
        between.yaw > from.yaw && between.yaw < from.turned_to(View::Right).yaw,
        "{between:?}"
    );
    window.settle();
    let along = |view| Camera {
        orthographic: true,
        ..from.turned_to(view)
    };
    assert_eq!(camera(&window), along(View::Right));
    window.picture("there");
    let drawn = window.app().n_pictures();
    for _ in 0..5 {
        window.harness.step();
        window.picture("idle");
    }
    assert_eq!(
        window.app().n_pictures(),
        drawn,
        "an idle window draws no 3D"
    );

    window
        .harness
        .state_mut()
        .viewport_mut()
        .options
        .ease_camera = false;
    window.harness.key_press(Key::Num1);
    window.harness.run_steps(2);
    assert_eq!(camera(&window), along(View::Front), "without motion");
}

#[test]
fn two_turns_in_quick_succession_add_up() {
    let mut window = Window::on("arm.glb");
    let from = camera(&window);
    window.harness.key_press(Key::Num6);
    window.harness.run_steps(2);
    window.harness.key_press(Key::Num6);
    window.settle();
    let turned = (camera(&window).yaw - from.yaw).to_degrees();
    assert!((turned - 30.0).abs() < 1e-3, "{turned}");
}

#[test]
fn the_axis_gizmo_looks_along_an_axis_and_a_drag_orbits() {
    let mut window = Window::on("arm.glb");
    window.key(Modifiers::NONE, Key::Num1);
    window.picture("gizmo");
    window.click(Role::Button, "View from +X");
    assert_eq!(camera(&window).axis_view(), Some(View::Right));
    window.key(Modifiers::NONE, Key::Num1);
    let x = window.harness.get_by_label("View from +X").rect().center();
    let z = window.harness.get_by_label("View from +Z").rect().center();
    assert!(x.x > z.x + 20.0 && (x.y - z.y).abs() < 2.0, "{x:?} {z:?}");
    let picture = window.picture("gizmo-front");
    let at = x + vec2(0.0, -7.0);
    let [r, g, b, _] = picture.get_pixel(at.x as u32, at.y as u32).0;
    assert!(r > g + 50 && r > b + 50, "X is red: {r} {g} {b}");
    window.click(Role::Button, "View from +Z");
    assert_eq!(
        camera(&window).axis_view(),
        Some(View::Back),
        "once more: the other side"
    );

    let before = camera(&window);
    let field = window.harness.get_by_label("Orbit the view").rect();
    let from = field.center() + vec2(12.0, 14.0);
    window.drag(
        PointerButton::Primary,
        Modifiers::NONE,
        from,
        vec2(40.0, 10.0),
    );
    let after = camera(&window);
    assert!(
        after.yaw != before.yaw && after.pitch > before.pitch,
        "{after:?}"
    );
    assert_eq!(after.distance, before.distance);
}

#[test]
fn maya_tumbles_tracks_and_dollies_with_alt_and_ctrl_alt() {
    let mut window = Window::on("arm.glb");
    keymap::set(&window.harness.ctx, KeyMap::preset(Preset::Maya));
    let at = window.viewport().center();
    for modifiers in [ALT, ALT.plus(CTRL)] {
        let start = camera(&window);
        window.drag(PointerButton::Primary, modifiers, at, vec2(60.0, 0.0));
        let tumbled = camera(&window);
        assert!(tumbled.yaw < start.yaw - 0.2, "{modifiers:?}");
        window.drag(PointerButton::Middle, modifiers, at, vec2(60.0, 0.0));
        let tracked = camera(&window);
        assert_eq!(tracked.yaw, tumbled.yaw);
        assert!(tracked.target != tumbled.target && tracked.distance == tumbled.distance);
        window.drag(PointerButton::Secondary, modifiers, at, vec2(60.0, 0.0));
        assert!(
            camera(&window).distance < tracked.distance * 0.9,
            "to the right is closer"
        );
        assert_eq!(camera(&window).yaw, tracked.yaw);
    }
}

#[test]
fn blender_zooms_with_ctrl_and_the_middle_button() {
    let mut window = Window::on("arm.glb");
    let at = window.viewport().center();
    let start = camera(&window);
    window.drag(PointerButton::Middle, CTRL, at, vec2(0.0, 50.0));
    let zoomed = camera(&window);
    assert!(zoomed.distance > start.distance * 1.1);
    assert_eq!((zoomed.yaw, zoomed.pitch), (start.yaw, start.pitch));
}

#[test]
fn two_fingers_orbit_and_with_shift_pan() {
    let mut window = Window::on("arm.glb");
    let at = window.viewport().center();
    let scroll = |window: &mut Window, modifiers: Modifiers, delta: Vec2| {
        window.move_to(at);
        window.harness.event(Event::MouseWheel {
            unit: MouseWheelUnit::Point,
            delta,
            phase: TouchPhase::Move,
            source: MouseWheelSource::Trackpad,
            modifiers,
        });
        window.harness.run_steps(20);
        window.settle();
    };
    let start = camera(&window);
    scroll(&mut window, Modifiers::NONE, vec2(30.0, 20.0));
    let orbited = camera(&window);
    assert!(
        orbited.yaw < start.yaw - 0.1 && orbited.pitch > start.pitch + 0.05,
        "{orbited:?}"
    );
    assert!((orbited.distance - start.distance).abs() < 1e-5);
    scroll(&mut window, Modifiers::SHIFT, vec2(30.0, 20.0));
    let panned = camera(&window);
    assert_eq!((panned.yaw, panned.pitch), (orbited.yaw, orbited.pitch));
    assert!(panned.target != orbited.target);
    window.harness.event(Event::Zoom(1.25));
    window.harness.run_steps(10);
    assert!((camera(&window).distance - panned.distance / 1.25).abs() < 0.02 * panned.distance);
}

#[test]
fn beside_the_model_the_camera_turns_about_the_selection() {
    let mut window = Window::on("arm.glb");
    let bone = window.bones()[1];
    window.select(bone);
    let head = window.editor().world()[bone.get()].translation.as_vec3();
    let before = window.place(head);
    let corner = window.viewport().left_bottom() + vec2(60.0, -60.0);
    window.drag(
        PointerButton::Middle,
        Modifiers::NONE,
        corner,
        vec2(70.0, 20.0),
    );
    assert!((window.place(head) - before).length() < 1.0);
}

#[test]
fn names_stand_beside_the_bones_and_the_legend_names_the_bone() {
    let mut window = Window::on("mannequin.glb");
    let bone = window.bones()[3];
    window.select(bone);
    let without = window.picture("names-off");
    window.choose("View", "Bone names");
    let with = window.picture("names-on");
    let rect = window.viewport();
    let changed = with.enumerate_pixels().filter(|(x, y, p)| {
        rect.contains(egui::pos2(*x as f32, *y as f32)) && without.get_pixel(*x, *y) != *p
    });
    assert!(changed.count() > 1000, "names are drawn");
    window.choose("View", Command::Show(Shading::Weights).label());
    assert_eq!(window.app().viewport().options.shading, Shading::Weights);
    let name = window.document().skeleton().label(bone);
    assert!(window.says(&format!("Weights of {name}")));
    for ramp in ["Rainbow weight colours", "Grey weight colours"] {
        window.choose("View", ramp);
        window.picture(ramp);
    }
    assert!(window.says("Greyscale colours from 0 to 1"));
}
