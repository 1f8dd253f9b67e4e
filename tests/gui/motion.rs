//! The way between keys, preview clips, ranges of motion and blended poses, by pressing and dragging.

use crate::window::Window;
use egui::{Key, Modifiers, PointerButton, Pos2, Role, Vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use glam::DQuat;
use sinew::document::session::BlendTarget;
use sinew::editor::Editor;
use sinew::skeleton::{JointId, Pose, RigidInterpolation};
use sinew::view::commands::Command;
use sinew::view::mode::Mode;

fn editor(window: &mut Window) -> &mut Editor {
    window.harness.state_mut().editor_mut()
}

fn undo_label(window: &Window) -> String {
    let label = window.editor().history().undo_label();
    label.unwrap_or_default().to_owned()
}

/// The clip on screen: its way, and whether it is a preview.
fn clip(window: &Window) -> (RigidInterpolation, bool) {
    let (_, clip) = window.editor().shown_clip().expect("a clip");
    (clip.rigid_interpolation, clip.preview)
}

fn show_first_clip(window: &mut Window) -> String {
    let id = *window.document().clips().keys().next().expect("a clip");
    editor(window).show_clip(Some(id));
    window.settle();
    window.document().clips()[&id].name.clone()
}

#[test]
fn the_way_between_keys_is_chosen_beside_the_clip() {
    let mut window = Window::on("arm.glb");
    let combo = |window: &Window| {
        let node = window
            .harness
            .get_by_role_and_label(Role::ComboBox, "Interpolation");
        node.accesskit_node().is_disabled()
    };
    editor(&mut window).show_clip(None);
    window.settle();
    assert!(combo(&window), "there is nothing to choose without a clip");
    let name = show_first_clip(&mut window);
    assert!(!combo(&window));
    window.click(Role::ComboBox, "Interpolation");
    window.picture("in-betweens");
    window.click(Role::Button, "Screw");
    assert_eq!(clip(&window).0, RigidInterpolation::Screw);
    assert_eq!(
        undo_label(&window),
        format!("Interpolation of \"{name}\": Screw")
    );
    // The same by its command.
    window.find_and_run(Command::UseRigidInterpolation(RigidInterpolation::ScrewDlb));
    window.settle();
    assert_eq!(clip(&window).0, RigidInterpolation::ScrewDlb);
    let is_on = |way| window.app().is_on(Command::UseRigidInterpolation(way));
    assert_eq!(is_on(RigidInterpolation::ScrewDlb), Some(true));
    assert_eq!(is_on(RigidInterpolation::Screw), Some(false));
}

#[test]
fn a_preview_clip_says_so_and_can_be_exported_after_all() {
    let mut window = Window::on("arm.glb");
    let name = show_first_clip(&mut window);
    window.click(Role::Button, "Clip menu");
    let item = |window: &Window| {
        let mut items = window.harness.query_all_by_label("Export this clip");
        items.next().is_some()
    };
    assert!(item(&window));
    window.picture("clip-menu");
    window.click(Role::MenuItemCheckBox, "Export this clip");
    assert!(clip(&window).1);
    assert_eq!(
        undo_label(&window),
        format!("Do not export clip \"{name}\"")
    );
    window.click(Role::ComboBox, "Clip");
    window.picture("preview-badge");
    window.click(Role::Button, &format!("{name}, preview"));
    window.choose("Animation", "Export this clip");
    assert!(!clip(&window).1);
}

#[test]
fn a_range_of_motion_is_made_and_made_again() {
    let mut window = Window::on("arm.glb");
    let bone = window.bones()[1];
    window.select(bone);
    let n = window.document().clips().len();
    window.find_and_run(Command::RangeOfMotion);
    window.settle();
    window.picture("range-of-motion");
    assert!(window.says("3 moves, 3.0 s"));
    // An axis is left out by its angle.
    window.click(Role::SpinButton, "Angle X");
    for _ in 0..4 {
        window.key(Modifiers::NONE, Key::Backspace);
    }
    window.write("0");
    window.key(Modifiers::NONE, Key::Tab);
    assert!(window.says("2 moves, 2.0 s"));
    window.click(Role::CheckBox, "Bend");
    window.click(Role::CheckBox, "Twist");
    assert!(window.says("Nothing moves"));
    let make = window.harness.get_by_role_and_label(Role::Button, "Make");
    assert!(make.accesskit_node().is_disabled());
    window.click(Role::CheckBox, "Bend");
    window.click(Role::CheckBox, "Twist");
    window.click(Role::Button, "Make");
    let (id, made) = window.editor().shown_clip().expect("a clip");
    let (id, made) = (id, made.clone());
    assert!(made.preview && made.name == "Range of motion");
    assert_eq!(made.channels.len(), 1);
    assert!((made.end_secs() - 2.0).abs() < 1e-6);
    assert_eq!(undo_label(&window), "Make \"Range of motion\"");
    // What was chosen is there again, and the clip gives way.
    window.choose("Animation", "Range of motion…");
    assert!(window.says("2 moves, 2.0 s"));
    window.picture("range-of-motion-again");
    window.click(Role::SpinButton, "Angle X");
    window.write("30");
    window.key(Modifiers::NONE, Key::Tab);
    window.click(Role::Button, "Replace");
    let (again, wider) = window.editor().shown_clip().expect("a clip");
    assert_eq!(again, id);
    assert!(wider.end_secs() > made.end_secs());
    assert_eq!(window.document().clips().len(), n + 1);
    // Esc leaves everything as it was.
    let before = window.document().clone();
    window.find_and_run(Command::RangeOfMotion);
    window.settle();
    assert!(window.says("Angle"));
    window.key(Modifiers::NONE, Key::Escape);
    assert!(!window.says("Angle"));
    assert!(window.document().same_content(&before));
}

/// The arm in Pose mode with a turned bone, and that bone.
fn posed() -> (Window, JointId) {
    // High enough for all of the properties.
    let mut window = Window::sized("arm.glb", [1366.0, 1100.0], 1.0);
    let bone = window.bones()[1];
    editor(&mut window).show_clip(None);
    window.find_and_run(Command::SetMode(Mode::Pose));
    window.select(bone);
    turn(&mut window, bone, 1.2);
    (window, bone)
}

/// Turns a bone as its field does.
fn turn(window: &mut Window, bone: JointId, radians: f64) {
    let local = window.document().shown_pose().locals[bone.get()];
    let mut turned = local;
    turned.rotation *= DQuat::from_rotation_x(radians);
    let editor = editor(window);
    editor.begin_pose_field(bone, "Rotate");
    editor.set_pose_field(bone, turned);
    editor.confirm_transform();
    window.settle();
}

/// The rail of the slider, which the number is beside.
fn blend(window: &Window) -> egui::Rect {
    let of = |role| window.harness.get_by_role_and_label(role, "Blend").rect();
    let (rail, number) = (of(Role::Slider), of(Role::SpinButton));
    rail.with_max_x(rail.right().min(number.left() - 8.0))
}

/// Degrees that a bone is turned from rest.
fn degrees(window: &Window, bone: JointId) -> f64 {
    let rest = window.document().rest_pose().locals[bone.get()].rotation;
    let now = window.document().shown_pose().locals[bone.get()].rotation;
    let turn = rest.conjugate() * now;
    (2.0 * turn.xyz().length().atan2(turn.w.abs())).to_degrees()
}

fn n_undo(window: &Window) -> usize {
    window.editor().history().n_undo()
}

#[test]
fn a_pose_is_blended_towards_rest_with_one_drag() {
    let (mut window, bone) = posed();
    let (whole, steps) = (degrees(&window, bone), n_undo(&window));
    let before = Pose::clone(&window.document().shown_pose());
    let rail = blend(&window);
    let at = |part: f32| Pos2::new(rail.left() + part * rail.width(), rail.center().y);
    window.press(at(0.05));
    let mut seen = Vec::new();
    for part in [0.2, 0.4, 0.5] {
        window.move_to(at(part));
        window.settle();
        seen.push(degrees(&window, bone));
    }
    window.picture("pose-blend");
    assert!(seen.is_sorted_by(|a, b| a > b), "{seen:?}");
    assert!((seen[2] / whole - 0.5).abs() < 0.06, "{seen:?} of {whole}");
    assert_eq!(n_undo(&window), steps, "not before it ends");
    window.release(at(0.5));
    window.settle();
    assert_eq!(n_undo(&window), steps + 1);
    let name = window.document().skeleton().label(bone);
    assert_eq!(
        undo_label(&window),
        format!("Blend {name} towards the rest pose")
    );
    assert!(!window.editor().is_blending());
    editor(&mut window).undo();
    window.settle();
    assert_eq!(*window.document().shown_pose(), before);
    // Esc takes a drag back, and the pointer that is still down means nothing more.
    window.press(at(0.05));
    window.move_to(at(0.8));
    assert!(degrees(&window, bone) < 0.5 * whole);
    window.key(Modifiers::NONE, Key::Escape);
    assert_eq!(*window.document().shown_pose(), before);
    window.move_to(at(0.6));
    window.release(at(0.6));
    window.settle();
    assert_eq!(*window.document().shown_pose(), before);
    assert_eq!(n_undo(&window), steps);
}

#[test]
fn a_blend_is_typed_too_and_takes_all_bones_where_none_is_selected() {
    let (mut window, bone) = posed();
    let other = window.bones()[0];
    turn(&mut window, other, 0.7);
    editor(&mut window).select_none();
    window.settle();
    let whole = [degrees(&window, bone), degrees(&window, other)];
    let steps = n_undo(&window);
    window.click(Role::SpinButton, "Blend");
    window.write("100");
    window.key(Modifiers::NONE, Key::Enter);
    assert!(degrees(&window, bone) < 1e-6 && degrees(&window, other) < 1e-6);
    assert_eq!(n_undo(&window), steps + 1);
    assert_eq!(undo_label(&window), "Blend all bones towards the rest pose");
    editor(&mut window).undo();
    window.settle();
    assert!((degrees(&window, bone) - whole[0]).abs() < 1e-9);
    // Given up while it is typed.
    window.click(Role::SpinButton, "Blend");
    window.write("70");
    window.key(Modifiers::NONE, Key::Escape);
    assert!((degrees(&window, other) - whole[1]).abs() < 1e-9);
    assert_eq!(n_undo(&window), steps);
}

#[test]
fn what_is_not_there_says_why_and_is_not_offered() {
    let (mut window, bone) = posed();
    window.click(Role::ComboBox, "Blend towards");
    window.picture("blend-towards");
    let row = |window: &Window, label: &str| {
        let node = window.harness.get_by_role_and_label(Role::Button, label);
        node.accesskit_node().is_disabled()
    };
    assert!(row(
        &window,
        "Copied pose \u{2014} no pose is copied. Copy one with Ctrl+C"
    ));
    assert!(row(
        &window,
        "Previous keyframe \u{2014} no clip is on screen"
    ));
    assert!(!row(&window, "Rest pose"));
    window.key(Modifiers::NONE, Key::Escape);
    editor(&mut window).copy_pose();
    window.settle();
    window.click(Role::ComboBox, "Blend towards");
    window.click(Role::Button, "Copied pose");
    assert_eq!(
        window.editor().pose_options().blend_target,
        BlendTarget::Copied
    );
    let copied = degrees(&window, bone);
    turn(&mut window, bone, -1.0);
    window.click(Role::SpinButton, "Blend");
    window.write("100");
    window.key(Modifiers::NONE, Key::Enter);
    assert!((degrees(&window, bone) - copied).abs() < 1e-6);
    // Over a clip the keys around the present time are there.
    show_first_clip(&mut window);
    let (start, end) = window.editor().clip_range().expect("a clip");
    editor(&mut window).set_time(0.5 * (start + end) + 0.01);
    window.settle();
    window.click(Role::ComboBox, "Blend towards");
    let before = window.editor().blend_key_secs(BlendTarget::KeyBefore);
    let label = format!("Previous keyframe ({:.2} s)", before.expect("a key"));
    window.click(Role::Button, &label);
    window.click(Role::RadioButton, "Interpolation: Components");
    window.drag(
        PointerButton::Primary,
        Modifiers::NONE,
        blend(&window).left_center() + Vec2::new(3.0, 0.0),
        Vec2::new(400.0, 0.0),
    );
    let (_, clip) = window.editor().shown_clip().expect("a clip");
    let wanted = window
        .document()
        .pose_of_clip(clip, f64::from(before.expect("a key")));
    assert!(window.editor().playback().unkeyed);
    assert_eq!(window.document().shown_pose().locals, wanted.locals);
    assert_eq!(
        window.editor().pose_options().blend_interpolation,
        RigidInterpolation::Components
    );
}
