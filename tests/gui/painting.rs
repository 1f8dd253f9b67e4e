//! Strokes of the brush, and the camera under the other buttons.

use crate::window::{CTRL, Window};
use egui::{
    Event, Key, Modifiers, MouseWheelUnit, PointerButton, Pos2, Role, TouchPhase, Vec2, vec2,
};
use egui_kittest::kittest::Queryable as _;
use sinew::deform::MaskKind;
use sinew::document::Document;
use sinew::document::session::{BrushKind, PaintTarget};
use sinew::skeleton::JointId;
use sinew::view::Shading;
use sinew::view::commands::Command;
use sinew::view::mode::Mode;
use sinew::weights::curve::Curve;
use sinew::weights::falloff::Falloff;

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

#[test]
fn brushes_are_chosen_by_key_by_button_and_in_the_list() {
    let mut window = painter();
    let kind = |w: &Window| w.document().session().brush.kind();
    let keys = [
        Key::Num1,
        Key::Num2,
        Key::Num3,
        Key::Num4,
        Key::Num5,
        Key::Num6,
        Key::Num7,
        Key::Num8,
    ];
    for (key, expected) in keys.into_iter().zip(BrushKind::ALL) {
        window.key(Modifiers::ALT, key);
        assert_eq!(kind(&window), expected);
        assert_eq!(window.app().viewport().mode, Mode::Paint);
    }
    window.click(Role::Button, "Smooth brush");
    assert_eq!(kind(&window), BrushKind::Smooth);
    assert!(window.says("paint: smooth"), "the status bar follows");
    window.click(Role::ComboBox, "Brush");
    window.click(Role::Button, "Replace");
    assert_eq!(kind(&window), BrushKind::Replace);
    // A map has a brush of its own.
    let map = PaintTarget::Mask(MaskKind::Smooth);
    window.find_and_run(Command::Paint(map));
    window.settle();
    window.find_and_run(Command::UseBrush(BrushKind::Scale));
    window.settle();
    assert_eq!(kind(&window), BrushKind::Scale);
    window.find_and_run(Command::Paint(PaintTarget::Weights));
    window.settle();
    assert_eq!(kind(&window), BrushKind::Replace);
    window.picture("brushes");
}

#[test]
fn shift_smooths_and_the_brush_stays_what_it_was() {
    let mut window = painter();
    // A hard dot.
    let brush = window.harness.state_mut().editor_mut().brush_mut();
    (brush.falloff, brush.radius_px, brush.strength) = (Falloff::Constant, 12.0, 1.0);
    let joint = window.bones()[1];
    window.select(joint);
    let at = window.on_bone(window.bones()[0]);
    window.drag(PointerButton::Primary, Modifiers::NONE, at, vec2(8.0, 0.0));
    let dotted = window.document().clone();
    let roughness = |document: &Document| -> f32 {
        let item = document.meshes().values().next().expect("a mesh");
        let topology = item.geometry.topology();
        let weight = |p: u32| item.influences.row(p).weight_of(1);
        let edges = (0..item.influences.len() as u32)
            .flat_map(|p| topology.neighbours(p).iter().map(move |&q| (p, q)));
        edges.map(|(p, q)| (weight(p) - weight(q)).powi(2)).sum()
    };
    let brush = window.harness.state_mut().editor_mut().brush_mut();
    brush.radius_px = 40.0;
    window
        .harness
        .event(Event::ModifiersChanged(Modifiers::SHIFT));
    window.move_to(at);
    assert!(window.says("Shift+drag smooth"));
    window.picture("brush-shift");
    window.drag(PointerButton::Primary, Modifiers::SHIFT, at, vec2(8.0, 0.0));
    assert!(roughness(window.document()) < roughness(&dotted) * 0.9);
    assert_eq!(window.editor().history().n_undo(), 2);
    assert_eq!(window.document().session().brush.kind(), BrushKind::Add);
    window.key(CTRL, Key::Z);
    assert!(window.document().same_content(&dotted));
}

#[test]
fn the_right_button_brings_the_brush_and_what_concerns_the_bone() {
    let mut window = painter();
    let other = window.bones()[1];
    let at = window.on_bone(other);
    window.right_click(at);
    let kinds = window
        .harness
        .query_all_by_role_and_label(Role::ComboBox, "Brush");
    assert_eq!(kinds.count(), 2, "in the properties and under the pointer");
    for (role, label) in [
        (Role::ComboBox, "Falloff shape"),
        (Role::ComboBox, "Symmetry"),
        (Role::CheckBox, "Paint hidden vertices"),
    ] {
        let fields = window.harness.query_all_by_role_and_label(role, label);
        assert_eq!(fields.count(), 2, "{label}");
    }
    window.picture("brush-popover");
    let label = window.document().skeleton().label(other);
    window.click(Role::Button, &format!("Paint {label}"));
    assert_eq!(window.document().session().active_joint, Some(other));
    window.right_click(at);
    window.click(Role::MenuItem, "Lock others");
    let locked = window.document().locked();
    assert!(!locked.is_empty() && !locked.contains(&other));
    // It was no stroke.
    assert_eq!(
        window.editor().history().undo_label().map(str::to_owned),
        Some("Lock other bones".to_owned())
    );
}

#[test]
fn the_falloff_is_drawn_by_hand() {
    let mut window = Window::sized("arm.glb", [1366.0, 1600.0], 1.0);
    let bone = window.bones()[0];
    window.select(bone);
    window.key(Modifiers::NONE, Key::Tab);
    window.click(Role::ComboBox, "Falloff");
    window.click(Role::Button, "Custom");
    let curve = |w: &Window| w.document().session().brush.curve;
    assert_eq!(curve(&window), Curve::like(Falloff::Smooth));
    let point = |w: &Window, i: usize| {
        let label = format!("Curve point {i} of");
        w.harness.get_by_label_contains(&label).rect().center()
    };
    let at = point(&window, 3);
    window.drag(
        PointerButton::Primary,
        Modifiers::NONE,
        at,
        vec2(0.0, -30.0),
    );
    let dragged = curve(&window);
    assert!(dragged.points()[2].y > 0.7, "{dragged:?}");
    assert!((dragged.points()[2].x - 0.5).abs() < 0.02);
    window.picture("brush-curve");
    // Arrow keys move the focused point, Delete takes it away.
    window.key(Modifiers::NONE, Key::ArrowDown);
    assert!(curve(&window).points()[2].y < dragged.points()[2].y);
    window.key(Modifiers::NONE, Key::Delete);
    assert_eq!(curve(&window).points().len(), 4);
    // A double click adds one.
    let between = point(&window, 2).lerp(point(&window, 3), 0.5) + vec2(0.0, 20.0);
    for _ in 0..2 {
        window.press(between);
        window.release(between);
    }
    window.settle();
    assert_eq!(curve(&window).points().len(), 5);
    window.click(Role::Button, "Start the curve from Linear");
    assert_eq!(curve(&window), Curve::like(Falloff::Linear));

    // What a stroke adds to each point; it is taken back.
    let at = window.on_bone(window.bones()[1]);
    let gains = |window: &mut Window| -> Vec<f32> {
        let before = window.heat();
        window.drag(PointerButton::Primary, Modifiers::NONE, at, vec2(8.0, 0.0));
        assert_eq!(window.editor().history().n_undo(), 1);
        let after = window.heat();
        window.key(CTRL, Key::Z);
        assert_eq!(window.heat(), before);
        after.iter().zip(before).map(|(a, b)| a - b).collect()
    };
    let by_hand = gains(&mut window);
    let n_painted = by_hand.iter().filter(|g| **g > 0.05).count();
    assert!(n_painted > 20, "{n_painted}");
    let mut with = |falloff: Falloff, curve: Option<Curve>| {
        let brush = window.harness.state_mut().editor_mut().brush_mut();
        brush.falloff = falloff;
        brush.curve = curve.unwrap_or(brush.curve);
        gains(&mut window)
    };
    let largest_gap = |a: &[f32], b: &[f32]| {
        let gaps = a.iter().zip(b).map(|(a, b)| (a - b).abs());
        gaps.max_by(f32::total_cmp).unwrap_or(f32::NAN)
    };
    // The straight line is the linear falloff, and no other.
    let linear = with(Falloff::Linear, None);
    assert!(largest_gap(&by_hand, &linear) < 1e-4);
    assert!(largest_gap(&by_hand, &with(Falloff::Sharp, None)) > 0.05);
    // The curve whose middle was pulled up adds more, and nowhere much less: the slope at its neighbours changes too.
    let fuller = with(Falloff::Custom, Some(dragged));
    let smooth = with(Falloff::Custom, Some(Curve::like(Falloff::Smooth)));
    assert!(largest_gap(&fuller, &smooth) > 0.03);
    assert!(fuller.iter().sum::<f32>() > smooth.iter().sum::<f32>());
    let lost = smooth
        .iter()
        .zip(&fuller)
        .map(|(smooth, fuller)| smooth - fuller);
    assert!(lost.max_by(f32::total_cmp).is_some_and(|lost| lost < 0.02));
}

#[test]
fn symmetry_is_switched_on_in_the_properties_and_paints_both_sides() {
    let mut window = Window::sized("mannequin.glb", [1366.0, 1400.0], 1.0);
    let joint = |name: &str| {
        let mut joints = window.document().skeleton().joints().iter();
        let place = joints.position(|j| j.name == name);
        JointId(place.expect("the mannequin has arms") as u32)
    };
    let (left, right) = (joint("upper_arm.L"), joint("upper_arm.R"));
    window.select(left);
    window.key(Modifiers::NONE, Key::Tab);
    window.click(Role::ComboBox, "Symmetry");
    window.click(Role::Button, "X");
    assert_eq!(
        window.document().session().brush.symmetry,
        Some(sinew::math::Axis::X)
    );
    let before = window.document().clone();
    let at = window.on_bone(left);
    window.move_to(at);
    window.picture("brush-symmetry");
    let brush = window.harness.state_mut().editor_mut().brush_mut();
    brush.strength = 1.0;
    *brush.value_mut() = 0.0;
    window.drag(PointerButton::Primary, Modifiers::NONE, at, vec2(20.0, 0.0));
    let mesh = *before.meshes().keys().next().expect("a mesh");
    let lost = |joint: JointId| {
        let index = before.skin_joint(mesh, joint).expect("in the skin");
        let total = |d: &Document| -> f64 {
            let rows = d.meshes()[&mesh].influences.iter();
            rows.map(|row| f64::from(row.weight_of(index))).sum()
        };
        total(&before) - total(window.document())
    };
    let (l, r) = (lost(left), lost(right));
    assert!(l > 0.1 && (l - r).abs() < l * 0.05, "{l} {r}");
    assert_eq!(window.editor().history().n_undo(), 1);
}

#[test]
fn a_gradient_is_drawn_with_a_line_and_is_one_step() {
    let mut window = painter();
    for kind in [BrushKind::Gradient, BrushKind::Radial] {
        window.find_and_run(Command::UseBrush(kind));
        window.settle();
        let before = window.document().clone();
        let n_undo = window.editor().history().n_undo();
        let at = window.on_bone(window.bones()[1]);
        window.press(at);
        window.move_to(at + vec2(50.0, 6.0));
        assert!(window.editor().is_painting());
        assert!(
            !window.document().same_content(&before),
            "seen while it is drawn"
        );
        window.picture(&format!("brush-{kind:?}").to_lowercase());
        // Back to where it began it is no gradient at all.
        window.move_to(at);
        window.move_to(at + vec2(40.0, 6.0));
        window.release(at + vec2(40.0, 6.0));
        window.settle();
        assert_eq!(window.editor().history().n_undo(), n_undo + 1);
        window.key(CTRL, Key::Z);
        assert!(window.document().same_content(&before), "bit for bit");
    }
}

/// A Blender user moves the pointer after the key; a Maya user presses the key, then drags.
#[test]
fn in_the_maya_preset_a_drag_sets_the_radius() {
    use sinew::view::keymap::{self, KeyMap, Preset};
    let mut window = painter();
    let at = window.viewport().center();
    let radius = |w: &Window| w.document().session().brush.radius_px;
    let before = radius(&window);
    for (preset, key, follows) in [
        (Preset::Blender, Key::F, true),
        (Preset::Maya, Key::B, false),
    ] {
        keymap::set(&window.harness.ctx, KeyMap::preset(preset));
        window.move_to(at);
        window.key(Modifiers::NONE, key);
        window.move_to(at + vec2(20.0, 0.0));
        assert_eq!(radius(&window) == before + 20.0, follows, "{preset:?}");
        window.press(at + vec2(20.0, 0.0));
        window.move_to(at + vec2(35.0, 0.0));
        let expected = if follows { 35.0 } else { 15.0 };
        assert_eq!(radius(&window), before + expected, "{preset:?}");
        window.key(Modifiers::NONE, Key::Escape);
        window.release(at + vec2(35.0, 0.0));
        assert_eq!(radius(&window), before, "{preset:?}");
    }
    assert_eq!(window.editor().history().n_undo(), 0);
}
