//! Edit bones mode in the window: entered from the pie, bones moved, subdivided, mirrored and taken back.

use crate::window::{CTRL, Window};
use egui::{Key, Modifiers, Pos2, Role};
use egui_kittest::kittest::Queryable as _;
use glam::DQuat;
use sinew::document::rig::Intent;
use sinew::document::{Document, Edit};
use sinew::editor::{PinSettings, RigKind, RigTool};
use sinew::skeleton::{JointId, Pose};
use sinew::tools::Screen;
use sinew::view::commands::Command;
use sinew::view::mode::Mode;

const NONE: Modifiers = Modifiers::NONE;
const ALT: Modifiers = Modifiers {
    alt: true,
    ..Modifiers::NONE
};
const SHIFT: Modifiers = Modifiers {
    shift: true,
    ..Modifiers::NONE
};

/// The mannequin in Edit bones mode with a bone selected that has a parent bone and a child.
fn editing() -> (Window, JointId) {
    let mut window = Window::on("mannequin.glb");
    let document = window.document();
    let skeleton = document.skeleton().clone();
    let is_bone = document.skin_joint_mask();
    let has_both = |&j: &JointId| {
        let parent = skeleton.joint(j).parent;
        is_bone[j.get()]
            && parent.is_some_and(|p| is_bone[p.get()])
            && skeleton.children(j).iter().any(|c| is_bone[c.get()])
    };
    let sided = |j: &JointId| {
        let name = skeleton.joint(*j).name.to_lowercase();
        let is_left = |end: &str| name.strip_suffix(end).is_some();
        name.contains("left") || is_left(".l") || is_left("_l")
    };
    let mut joints = skeleton.live_joints().filter(has_both).filter(sided);
    let joint = joints.next().expect("a bone of the left side");
    window.select(joint);
    // The sixth of the pie.
    window.key(CTRL, Key::Tab);
    window.key(NONE, Key::Num6);
    assert_eq!(window.app().viewport().mode, Mode::Rig);
    (window, joint)
}

fn place(document: &Document, joint: JointId) -> glam::DVec3 {
    document.rest_pose().world_matrices(document.skeleton())[joint.get()].translation
}

fn on_screen(window: &Window, at: glam::DVec3) -> Pos2 {
    let rect = window.viewport();
    let size = glam::Vec2::new(rect.width(), rect.height());
    let screen = Screen::new(window.document().session().camera, size);
    let px = screen.project(at.as_vec3()).expect("in front of the eye");
    rect.min + egui::vec2(px.x, px.y)
}

fn n_bones(window: &Window) -> usize {
    window.document().skeleton().live_joints().count()
}

#[test]
fn the_mode_shows_the_rest_pose_and_leaves_the_clip_alone() {
    let mut window = Window::on("mannequin.glb");
    let clip = *window.document().clips().keys().next().unwrap();
    let editor = window.harness.state_mut().editor_mut();
    editor.show_clip(Some(clip));
    editor.set_time(0.4);
    window.settle();
    let posed = window.document().shown_pose();
    window.find_and_run(Command::SetMode(Mode::Rig));
    window.settle();
    assert_eq!(
        *window.document().shown_pose(),
        **window.document().rest_pose()
    );
    assert!(window.says("Edit bones"));
    assert!(!Command::PlayPause.is_enabled(window.editor()));
    window.key(NONE, Key::Tab);
    assert_eq!(window.app().viewport().mode, Mode::Select);
    assert_eq!(*window.document().shown_pose(), *posed);
}

#[test]
fn a_bone_is_moved_by_key_and_adjusted() {
    let (mut window, joint) = editing();
    let before = window.document().clone();
    assert!(window.says("Along bone"), "the rest pose in Properties");
    window.key(NONE, Key::G);
    assert!(window.editor().is_moving_joints());
    for key in [Key::X, Key::X, Key::Num0, Key::Period, Key::Num0, Key::Num5] {
        window.key(NONE, key);
    }
    window.picture("edit-bones-drag");
    assert!(window.document().same_content(&before), "shown, not done");
    window.key(NONE, Key::Enter);
    let moved = place(window.document(), joint).distance(place(&before, joint));
    assert!((moved - 0.05).abs() < 1e-6, "{moved}");
    assert_eq!(window.editor().history().n_undo(), 1);
    assert!(window.says("Move bone: "), "a report");
    assert!(window.says("the mesh at rest does not move"));
    window.picture("edit-bones-moved");

    window
        .harness
        .state_mut()
        .editor_mut()
        .set_move_intent(Intent::KeepMotion);
    window.settle();
    assert_eq!(window.editor().history().n_undo(), 1);
    window.key(CTRL, Key::Z);
    assert!(window.document().same_content(&before), "bit for bit");
    assert!(window.editor().rig_adjusting().is_none());
    // Esc leaves no trace, and the mode stays.
    window.key(NONE, Key::G);
    window.key(NONE, Key::Escape);
    assert!(window.document().same_content(&before));
    assert_eq!(window.app().viewport().mode, Mode::Rig);
}

#[test]
fn a_bone_is_dragged_by_its_head_and_tail() {
    let (mut window, joint) = editing();
    let before = window.document().clone();
    let child = window.document().skeleton().children(joint)[0];
    let (head, tail) = (place(&before, joint), place(&before, child));
    let drag = |window: &mut Window, part: f64| {
        let from = on_screen(window, head.lerp(tail, part));
        window.press(from);
        for i in 1..=6 {
            window.move_to(from + egui::vec2(3.0, 2.0) * i as f32);
        }
        window.release(from + egui::vec2(18.0, 12.0));
        window.settle();
    };
    // Away from the gizmo, which lies at the head.
    window.key(ALT, Key::A);
    drag(&mut window, 0.5);
    let document = window.document();
    assert!(place(document, joint).distance(head) > 1e-3, "the head");
    assert!(
        place(document, child).distance(tail) < 1e-6,
        "the child stays"
    );
    assert_eq!(window.editor().history().n_undo(), 1);
    window.key(CTRL, Key::Z);
    window.key(ALT, Key::A);
    drag(&mut window, 0.85);
    let document = window.document();
    assert!(place(document, joint).distance(head) < 1e-6);
    assert!(place(document, child).distance(tail) > 1e-3, "the tail");
}

#[test]
fn operations_run_from_keys_menus_and_the_palette() {
    let (mut window, joint) = editing();
    let before = window.document().clone();
    let n = n_bones(&window);
    window.find_and_run(Command::EditRig(RigKind::Subdivide));
    window.settle();
    assert_eq!(n_bones(&window), n + 1);
    assert!(window.says("New bones"), "its setting");
    assert!(window.says("No clip changes by more than"));
    window.picture("edit-bones-subdivide");
    window
        .harness
        .state_mut()
        .editor_mut()
        .set_rig_tool(RigTool::Subdivide { n: 2 });
    window.settle();
    assert_eq!(n_bones(&window), n + 2);
    window.click(Role::Button, "Apply");
    assert!(window.editor().rig_adjusting().is_none());
    assert!(
        window.says("Last operation"),
        "the report stays in Properties"
    );
    window.key(CTRL, Key::X);
    let label = window.editor().history().undo_label();
    assert_eq!(label, Some("Dissolve bone · 2 bones"));
    assert_eq!(n_bones(&window), n);
    assert_eq!(window.editor().history().n_undo(), 2);
    window.key(CTRL, Key::Z);
    window.key(CTRL, Key::Z);
    assert!(window.document().same_content(&before));

    // The other side of a symmetric model lacks only what is new.
    window.select(joint);
    window.find_and_run(Command::EditRig(RigKind::Subdivide));
    window.settle();
    let divided = window.document().clone();
    window.select(joint);
    window.key(CTRL, Key::M);
    let label = window
        .editor()
        .history()
        .undo_label()
        .unwrap_or_default()
        .to_owned();
    assert!(label.starts_with("Symmetrize bones · "), "{label}");
    assert!(window.says("The axes are mirrored with"));
    window.picture("edit-bones-symmetrize");
    window.click(Role::Button, "Cancel");
    assert!(window.document().same_content(&divided));
    window.key(CTRL, Key::Z);
    assert!(window.document().same_content(&before));

    // The pie of orientations.
    window.key(SHIFT, Key::N);
    window.key(NONE, Key::Num2);
    let tool = window.editor().rig_adjusting().unwrap().tool().clone();
    assert!(matches!(tool, RigTool::Orient { .. }), "{tool:?}");
    window.key(CTRL, Key::Z);

    // Extruded from the tail.
    window.select(joint);
    window.key(NONE, Key::E);
    window.key(NONE, Key::Enter);
    assert_eq!(n_bones(&window), n + 1);
    window.key(NONE, Key::X);
    assert_eq!(n_bones(&window), n);
}

#[test]
fn what_cannot_run_says_why() {
    let (mut window, _) = editing();
    window.key(ALT, Key::A);
    let commands = [
        (Command::EditRig(RigKind::Subdivide), "Select a bone first."),
        (Command::Extrude, "Select a bone first."),
        (
            Command::EditRig(RigKind::PoseAsRest),
            "The current pose is already the rest pose: pose a bone first.",
        ),
    ];
    window.harness.state_mut().editor_mut().select_joint(None);
    window.harness.state_mut().editor_mut().show_clip(None);
    window.settle();
    for (command, why) in commands {
        assert!(!command.is_enabled(window.editor()), "{command:?}");
        assert_eq!(command.why_disabled(window.editor()), Some(why));
    }
    let n = window.editor().history().n_undo();
    assert!(!window.says("Select a bone first."));
    window.key(NONE, Key::X);
    assert!(window.says("Select a bone first."), "a notice");
    window.key(NONE, Key::E);
    assert_eq!(window.editor().history().n_undo(), n);
    assert!(!window.editor().is_moving_joints());
}

#[test]
fn the_menu_of_a_bone_and_binding() {
    let (mut window, joint) = editing();
    let head = on_screen(&window, place(window.document(), joint));
    window.right_click(head + egui::vec2(1.0, 1.0));
    assert!(window.says("Subdivide bones") && window.says("Bind…"));
    window.picture("edit-bones-menu");
    window.key(NONE, Key::Escape);
    window.find_and_run(Command::EditRig(RigKind::Bind));
    window.settle();
    assert!(window.says("Diffuses heat from each bone"), "its method");
    assert_eq!(window.editor().history().n_undo(), 0);
    window.click(Role::Button, "Compute");
    assert_eq!(window.editor().history().undo_label(), Some("Bind"));
    window.click(Role::Button, "Apply");
    assert!(window.editor().rig_adjusting().is_none());
}

#[test]
fn a_model_without_bones_offers_skeletons() {
    let mut window = Window::on("arm.glb");
    window.find_and_run(Command::Sample("water-surface"));
    window.settle();
    assert!(window.says("This model has no bones."));
    assert!(!Command::EditRig(RigKind::Bind).is_enabled(window.editor()));
    window.click(Role::Button, "Chain");
    window.settle();
    assert_eq!(window.app().viewport().mode, Mode::Rig);
    let n_bones = |window: &Window| {
        let mask = window.document().bone_mask();
        mask.iter().filter(|is_bone| **is_bone).count()
    };
    assert_eq!(n_bones(&window), 5);
    assert!(!window.says("This model has no bones."));
    assert!(Command::EditRig(RigKind::Bind).is_enabled(window.editor()));
    window.picture("edit-bones-from-nothing");
    window.key(CTRL, Key::Z);
    window.settle();
    assert_eq!(n_bones(&window), 0);
}

#[test]
fn joints_are_drawn_on_a_model_without_bones() {
    let mut window = Window::on("arm.glb");
    window.find_and_run(Command::Sample("water-surface"));
    window.settle();
    assert!(window.says("Draw joints, or add a skeleton"));
    let before = window.document().clone();
    window.click(Role::Button, "Draw joints");
    assert_eq!(window.app().viewport().mode, Mode::Rig);
    assert!(window.editor().drawing().is_some());
    assert!(window.says("Begin with the hips"));
    window.click(Role::CheckBox, "Symmetric");
    assert!(!window.editor().draws_both_sides());
    let on_model = window.viewport().center();
    window.press(on_model);
    window.release(on_model);
    window.settle();
    assert_eq!(window.editor().n_drawn(), 1, "a joint");
    assert!(window.says("The next joint is a child of “Bone”."));
    let beside = on_model + egui::vec2(90.0, -40.0);
    window.press(beside);
    window.release(beside);
    window.settle();
    assert_eq!(window.editor().n_drawn(), 2);
    window.move_to(beside + egui::vec2(60.0, 50.0));
    window.settle();
    window.picture("draw-joints");
    assert!(
        window.says("Backspace takes the last one back"),
        "the status bar"
    );
    window.key(NONE, Key::Backspace);
    assert_eq!(window.editor().n_drawn(), 1);
    window.key(CTRL, Key::Z);
    assert_eq!(window.editor().n_drawn(), 0);
    assert!(window.document().same_content(&before), "bit for bit");
    window.key(NONE, Key::Escape);
    assert!(window.editor().drawing().is_none());
    assert_eq!(window.app().viewport().mode, Mode::Rig);
    // Another mode ends it too.
    window.find_and_run(Command::DrawJoints);
    window.settle();
    assert!(window.editor().drawing().is_some());
    window.key(NONE, Key::Tab);
    assert!(window.editor().drawing().is_none());
}

#[test]
fn ctrl_click_places_a_child_and_shift_click_deselects() {
    let (mut window, joint) = editing();
    let n = n_bones(&window);
    let at = window.on_model();
    window.drag(egui::PointerButton::Primary, CTRL, at, egui::Vec2::ZERO);
    assert_eq!(n_bones(&window), n + 1);
    let made = window.document().session().active_joint.unwrap();
    assert_eq!(window.document().skeleton().joint(made).parent, Some(joint));
    assert!(
        window
            .editor()
            .history()
            .undo_label()
            .unwrap()
            .starts_with("Draw joint")
    );
}

/// Clicks a widget, scrolled into sight.
fn press_in_sight(window: &mut Window, role: Role, label: &str) {
    window
        .harness
        .get_by_role_and_label(role, label)
        .scroll_to_me();
    window.harness.step();
    window.settle();
    window.click(role, label);
    window.settle();
}

#[test]
fn the_humanoid_map_is_shown_and_changed() {
    let mut window = Window::sized("mannequin.glb", [1366.0, 1600.0], 1.0);
    let before = window.document().clone();
    window.find_and_run(Command::ShowHumanoid);
    window.settle();
    assert_eq!(window.app().viewport().mode, Mode::Rig);
    assert!(window.says("Human: 15 of 15 required bones."));
    assert!(window.says("Left hand. Found by its name."));
    window.picture("humanoid-map");
    press_in_sight(&mut window, Role::ComboBox, "Neck");
    window.click(Role::Button, "None");
    assert!(window.says("Neck. Chosen by hand."));
    assert_eq!(
        window.editor().history().undo_label(),
        Some("Leave out neck of humanoid")
    );
    let head = window.editor().humanoid();
    let joint = |name: &str| {
        let bone = sinew::motion::roles::HumanBone::of_name(name).unwrap();
        head.joint(bone).map(|joint| JointId(joint as u32)).unwrap()
    };
    let hand = joint("leftHand");
    window
        .harness
        .state_mut()
        .editor_mut()
        .select_joint(Some(hand));
    window.settle();
    press_in_sight(
        &mut window,
        Role::Button,
        "Use the active bone as left lower arm",
    );
    assert!(window.says("Partly human: 14 of 15 required bones."));
    assert!(window.says("Missing: left hand."));
    assert!(window.says("Left hand. Not found, but a human body needs it"));
    window.picture("humanoid-map-by-hand");
    press_in_sight(&mut window, Role::Button, "Find all again");
    assert!(window.says("Human: 15 of 15 required bones."));
    for _ in 0..3 {
        window.key(CTRL, Key::Z);
    }
    assert!(window.document().same_content(&before));
}

#[test]
fn bones_roll_by_key_and_take_their_children_along() {
    let (mut window, joint) = editing();
    let before = window.document().clone();
    let child = before.skeleton().children(joint)[0];
    window.key(CTRL, Key::R);
    assert!(window.editor().is_rolling_joints());
    for key in [Key::Num4, Key::Num5] {
        window.key(NONE, key);
    }
    assert!(window.says("Roll 45°"));
    window.picture("edit-bones-roll");
    window.key(NONE, Key::Enter);
    assert_eq!(window.editor().history().n_undo(), 1);
    let rest = |w: &Window| w.document().skeleton().joint(joint).rest.rotation;
    let turned = rest(&window).angle_between(before.skeleton().joint(joint).rest.rotation);
    assert!((turned.to_degrees() - 45.0).abs() < 1e-4, "{turned}");
    assert!(window.says("Roll bone: "), "a report");
    window.key(CTRL, Key::Z);
    assert!(window.document().same_content(&before));

    window.key(NONE, Key::O);
    assert!(window.editor().children_follow());
    window.key(NONE, Key::G);
    for key in [Key::X, Key::X, Key::Num0, Key::Period, Key::Num0, Key::Num5] {
        window.key(NONE, key);
    }
    window.key(NONE, Key::Enter);
    let moved = |w: &Window, j: JointId| place(w.document(), j).distance(place(&before, j));
    assert!((moved(&window, joint) - 0.05).abs() < 1e-6);
    assert!((moved(&window, child) - 0.05).abs() < 1e-6);
    // The same switch in the window of the operation.
    window.key(NONE, Key::O);
    assert!(!window.editor().children_follow());
    assert!(moved(&window, child) < 1e-6, "it stays");
    window.key(CTRL, Key::Z);
    assert!(window.document().same_content(&before));
}

#[test]
fn a_logical_parent_is_chosen_and_taken_back() {
    let mut window = Window::sized("arm.glb", [1366.0, 1400.0], 1.0);
    let skeleton = window.document().skeleton().clone();
    let named = |name: &str| {
        let mut joints = skeleton.live_joints();
        joints.find(|&j| skeleton.joint(j).name == name).unwrap()
    };
    let (upper, hand) = (named("upper_arm"), named("wrist"));
    window.select(hand);
    window.click(Role::DisclosureTriangle, "Deform rules");
    window.click(Role::ComboBox, "Logical parent");
    window.click(Role::Button, "upper_arm");
    let rule = |w: &Window| w.document().skeleton().joint(hand).rule.logical_parent;
    assert_eq!(rule(&window), Some(upper));
    let label = window.editor().history().undo_label();
    assert_eq!(label, Some("Set logical parent to upper_arm"));
    window.find_and_run(Command::Undo);
    assert_eq!(rule(&window), None);
    // The arm's bones follow one another: there is nothing to infer.
    assert!(!Command::EditRig(RigKind::InferParents).is_enabled(window.editor()));
}

#[test]
fn limits_of_a_bone_hold_the_gizmo() {
    let mut window = Window::sized("arm.glb", [1366.0, 1400.0], 1.0);
    let skeleton = window.document().skeleton().clone();
    let mut joints = skeleton.live_joints();
    let fore = joints
        .find(|&j| skeleton.joint(j).name == "forearm")
        .unwrap();
    window.select(fore);
    window.click(Role::DisclosureTriangle, "Rotation limits");
    for axis in ["Limit X", "Limit Y", "Limit Z"] {
        window.click(Role::CheckBox, axis);
    }
    let rule = window.document().skeleton().joint(fore).rule;
    let limits = rule.limits.expect("limits");
    assert_eq!(
        window.editor().history().undo_label(),
        Some("Set rotation limits")
    );
    window.find_and_run(Command::SetMode(Mode::Pose));
    // R 150 Enter.
    let rect = window.viewport();
    window
        .harness
        .event(egui::Event::PointerMoved(rect.center()));
    for key in [Key::R, Key::Num1, Key::Num5, Key::Num0, Key::Enter] {
        window.key(NONE, key);
    }
    let rest = skeleton.joint(fore).rest;
    let local = window.document().pose().locals[fore.get()];
    assert!(
        local.rotation.angle_between(rest.rotation) > 0.5,
        "it turned"
    );
    assert_eq!(limits.excess(local.rotation, &rest), 0.0);
}

/// A pose that is not keyed is what is held: the bone stays where the artist sees it.
#[test]
fn a_pin_holds_the_pose_on_screen() {
    let mut window = Window::on("mannequin.glb");
    let clip = window.document().clips().keys().next().copied();
    window.harness.state_mut().editor_mut().show_clip(clip);
    let ends = |j: &JointId| window.editor().chain_of(*j).is_some();
    let end = window.bones().into_iter().rfind(ends).expect("a limb");
    let chain = window.editor().chain_of(end).expect("a limb");
    window.select(end);
    window.settle();
    let editor = window.harness.state_mut().editor_mut();
    editor.set_time(0.3);
    let mut pose = (*editor.document().shown_pose()).clone();
    pose.locals[chain.mid.get()].rotation *= DQuat::from_rotation_x(0.2);
    if let Some(edit) = Edit::pose_change(editor.document().pose(), &pose) {
        editor.apply(edit, "Rotate bone").expect("a valid pose");
    }
    editor.show_unkeyed_pose();
    // So short that the limb reaches its place all the time.
    editor.set_play_range(Some((0.29, 0.31)));
    window.settle();
    let place = |document: &Document, pose: &Pose| {
        pose.world_matrices(document.skeleton())[end.get()].translation
    };
    let in_clip = |document: &Document, time: f64| {
        let clip = &document.clips()[&clip.unwrap()];
        place(document, &document.pose_of_clip(clip, time))
    };
    let seen = place(window.document(), &window.document().current_pose());
    let was = in_clip(window.document(), 0.3);
    assert!(seen.distance(was) > 0.02, "{seen} {was}");
    window.find_and_run(Command::EditRig(RigKind::Pin));
    window.settle();
    for time in [0.29, 0.3, 0.31] {
        let off = in_clip(window.document(), time).distance(seen);
        assert!(off < 2e-3, "{time}: {off}");
    }
    // At another time it is the clip's place.
    let RigTool::Pin(settings) = window.editor().rig_adjusting().unwrap().tool().clone() else {
        panic!("another operation")
    };
    let at = 0.3 + 1e-4;
    let editor = window.harness.state_mut().editor_mut();
    editor.set_rig_tool(RigTool::Pin(PinSettings { at, ..settings }));
    window.settle();
    let off = in_clip(window.document(), 0.3).distance(was);
    assert!(off < 2e-3, "{off}");
}

/// The end of a limb stays in place over the loop range, as keyframes, and its settings replace the step.
#[test]
fn a_bone_is_pinned_over_the_loop_range() {
    let mut window = Window::on("mannequin.glb");
    let clip = window.document().clips().keys().next().copied();
    let editor = window.harness.state_mut().editor_mut();
    editor.show_clip(clip);
    let pin = Command::EditRig(RigKind::Pin);
    let root = window.bones()[0];
    window.select(root);
    assert!(!pin.is_enabled(window.editor()));
    let label = |j: &JointId| window.document().skeleton().label(*j).to_lowercase();
    let ends = |j: &JointId| label(j).contains("foot") && window.editor().chain_of(*j).is_some();
    let end = window.bones().into_iter().find(ends).expect("a foot");
    window.select(end);
    window.settle();
    let before = window.document().clone();
    let mode = window.app().viewport().mode;
    let editor = window.harness.state_mut().editor_mut();
    editor.set_time(0.3);
    editor.set_play_range(Some((0.2, 0.5)));
    window.find_and_run(pin);
    window.settle();
    assert_eq!(
        window.app().viewport().mode,
        mode,
        "the clip stays in sight"
    );
    let RigTool::Pin(settings) = window.editor().rig_adjusting().unwrap().tool().clone() else {
        panic!("another operation")
    };
    assert_eq!((settings.range, settings.at), ([0.2, 0.5], 0.3));
    let failure = window.editor().rig_adjusting().unwrap().failure();
    assert_eq!(failure, None);
    let notes = &window.editor().rig_reports()[0].notes;
    let said = "stays in place from 0.20 s to 0.50 s";
    assert!(notes.iter().any(|note| note.contains(said)), "{notes:?}");
    assert!(window.says("Reference time") && window.says(said));
    window.picture("pin-over-range");
    let place = |document: &Document, time: f64| {
        let clip = &document.clips()[&clip.unwrap()];
        let pose = document.pose_of_clip(clip, time);
        pose.world_matrices(document.skeleton())[end.get()].translation
    };
    let wanted = place(&before, 0.3);
    for time in [0.2, 0.35, 0.5] {
        let off = place(window.document(), time).distance(wanted);
        assert!(off < 2e-3, "{time}: {off}");
    }
    let range = [0.25, 0.5];
    let editor = window.harness.state_mut().editor_mut();
    editor.set_rig_tool(RigTool::Pin(PinSettings { range, ..settings }));
    window.settle();
    assert_eq!(window.editor().history().n_undo(), 1);
    assert!(window.says("stays in place from 0.25 s"));
    window.click(Role::Button, "Apply");
    window.key(CTRL, Key::Z);
    assert!(window.document().same_content(&before));
}
