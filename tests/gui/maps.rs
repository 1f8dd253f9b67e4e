//! Painted maps and rules of bones in the window: chosen, painted, read and taken back.

use crate::window::{CTRL, Window};
use egui::{Key, Modifiers, Role};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use sinew::deform::MaskKind;
use sinew::document::session::PaintTarget;
use sinew::skeleton::JointId;
use sinew::view::Shading;
use sinew::view::commands::Command;
use sinew::view::mode::Mode;

const COMPENSATION: PaintTarget = PaintTarget::Mask(MaskKind::Compensation);

/// So high that no part of Properties is scrolled out of sight.
fn high_window() -> Window {
    Window::sized("arm.glb", [1366.0, 1400.0], 1.0)
}

fn n_painted(window: &Window, kind: MaskKind) -> usize {
    let meshes = window.document().meshes().values();
    let maps = meshes.filter_map(|item| item.masks.get(kind));
    maps.map(|map| map.painted().count()).sum()
}

#[test]
fn a_map_is_chosen_painted_seen_and_taken_back() {
    let mut window = Window::on("arm.glb");
    let before = window.document().clone();
    window.find_and_run(Command::Paint(COMPENSATION));
    window.settle();
    assert_eq!(window.app().viewport().mode, Mode::Paint);
    assert_eq!(window.app().viewport().options.shading, Shading::Weights);
    assert!(window.says("Compensation strength: Perceptual colours from 0 to 2"));
    assert!(window.heat().iter().all(|&h| h == 0.5), "never painted");
    let plain = window.picture("map-unpainted");

    // No bone is active: a map needs none.
    assert_eq!(window.document().session().active_joint, None);
    window.stroke();
    assert!(n_painted(&window, MaskKind::Compensation) > 20);
    assert!(window.heat().iter().any(|&h| h < 0.3));
    assert_eq!(window.editor().history().n_undo(), 1);
    let painted = window.picture("map-painted");
    assert!(painted != plain, "the colours show it");

    // The value under the pointer stands in the status bar.
    let at = window.on_model() + egui::vec2(12.0, 8.0);
    window.move_to(at);
    window.settle();
    let value = window.app().viewport().value_under_pointer();
    let value = value.expect("the pointer is on the model");
    assert!(value < 1.0, "{value}");
    assert!(window.says(&format!("Compensation strength {value:.2}")));

    window.key(CTRL, Key::Z);
    assert!(window.document().same_content(&before), "bit for bit");
    assert!(window.heat().iter().all(|&h| h == 0.5));
}

#[test]
fn the_brush_section_says_what_is_painted_and_turns_the_part_on() {
    let mut window = high_window();
    let bone = window.bones()[0];
    window.select(bone);
    window.key(Modifiers::NONE, Key::Tab);
    let label = window.document().skeleton().label(bone);
    let combo = window
        .harness
        .get_by_role_and_label(Role::ComboBox, "Paint");
    assert_eq!(
        combo.accesskit_node().value().as_deref(),
        Some(format!("Weights of {label}").as_str())
    );
    combo.click();
    window.settle();
    window.click(Role::Button, "Smoothing strength");
    let target = PaintTarget::Mask(MaskKind::Smooth);
    assert_eq!(window.editor().paint_target(), target);
    assert!(window.says("Multiplies the strength of corrective smooth"));
    assert!(window.says("Corrective smooth is off:"));
    window.picture("map-smoothing-off");
    window.click(Role::Button, "Turn on");
    assert!(window.editor().reads_mask(MaskKind::Smooth));
    assert!(!window.says("Corrective smooth is off:"));
    assert_eq!(
        window.editor().history().undo_label(),
        Some("Turn corrective smooth on")
    );
    // X swaps the value of the map, not the weight.
    window.key(Modifiers::NONE, Key::X);
    let brush = window.document().session().brush;
    assert_eq!((brush.value(), brush.weight), (1.0, 1.0));
    window.key(Modifiers::NONE, Key::X);
    assert_eq!(window.document().session().brush.value(), 0.0);
    window.click(Role::Button, "Fill map");
    let n_points: usize = window.positions().len();
    window.picture("map-filled");
    assert_eq!(n_painted(&window, MaskKind::Smooth), n_points);
    assert!(window.says("vertices of the active object changed"));
    window.choose("Weights", "Invert map");
    assert_eq!(n_painted(&window, MaskKind::Smooth), 0);
    window.key(CTRL, Key::Z);
    window.click(Role::Button, "Clear map");
    assert_eq!(n_painted(&window, MaskKind::Smooth), 0);
    // The header has the same choice.
    window.click(Role::Button, "Painted: Smoothing strength");
    let item = window.harness.get_all_by_label("Paint bone weights");
    let item = item
        .into_iter()
        .find(|n| crate::window::is_menu_item(n.accesskit_node().role()));
    item.expect("in the menu").click();
    window.settle();
    assert_eq!(window.editor().paint_target(), PaintTarget::Weights);
    assert!(window.says(&format!(
        "Weights of {label}: Perceptual colours from 0 to 1"
    )));
}

#[test]
fn a_brush_slider_under_the_pointer_leaves_what_is_painted_alone() {
    let mut window = Window::on("arm.glb");
    window.find_and_run(Command::Paint(COMPENSATION));
    window.settle();
    let at = window.on_model();
    window.move_to(at);
    window.key(CTRL, Key::F);
    window.move_to(at + egui::vec2(100.0, 0.0));
    window.settle();
    let value = window.document().session().brush.value();
    assert!((value - 1.0).abs() < 0.03, "half of the way to 2: {value}");
    window.find_and_run(Command::Paint(PaintTarget::Weights));
    window.settle();
    window.harness.key_press(Key::Escape);
    window.settle();
    assert_eq!(window.editor().paint_target(), PaintTarget::Weights);
}

#[test]
fn rules_of_a_bone_are_set_and_undone() {
    let mut window = high_window();
    let forearm = window.document().skeleton().joints();
    let forearm = forearm.iter().position(|j| j.name == "forearm").unwrap();
    let forearm = JointId(forearm as u32);
    window.select(forearm);
    let before = window.document().clone();
    window.click(Role::DisclosureTriangle, "Deform rules");
    let rule = |w: &Window| w.document().skeleton().joint(forearm).rule;
    window.click(Role::CheckBox, "Segment scale compensate");
    assert!(rule(&window).compensates_scale);
    assert_eq!(
        window.editor().history().undo_label(),
        Some("Turn segment scale compensate on")
    );

    // One drag is one step.
    let field = window
        .harness
        .get_by_role_and_label(Role::SpinButton, "Tail Z")
        .rect()
        .center();
    window.drag(
        egui::PointerButton::Primary,
        Modifiers::NONE,
        field,
        egui::vec2(40.0, 0.0),
    );
    let tail = rule(&window).tail.expect("the end was set");
    assert!(tail.z > 0.0, "{tail}");
    assert_eq!(window.editor().history().n_undo(), 2);
    let bones = window.editor().bones();
    let drawn = bones.iter().find(|b| b.joint == forearm).unwrap();
    let end = window.editor().world()[forearm.get()].transform_point3(tail);
    assert!(drawn.tail.distance(end.as_vec3()) < 1e-5);
    window.picture("bone-rules");
    window.click(Role::Button, "Automatic tail");
    assert_eq!(rule(&window).tail, None);
    for _ in 0..3 {
        window.key(CTRL, Key::Z);
    }
    assert!(window.document().same_content(&before));
}
