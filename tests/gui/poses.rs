//! The Poses panel: poses are created and named, applied by a click, a drag and the slider, flipped, and taken back.

use crate::window::{CTRL, Window};
use egui::{Key, Modifiers, PointerButton, Pos2, Role};
use egui_kittest::kittest::Queryable as _;
use glam::DQuat;
use sinew::document::PoseId;
use sinew::editor::ResetPart;
use sinew::math::Transform;
use sinew::skeleton::JointId;
use sinew::view::commands::Command;
use sinew::view::frame::{PanelKind, Workspace};
use sinew::view::mode::Mode;

/// The Animate workspace on the sample arm, in its own pose, with the Poses panel in front and the forearm selected.
fn posing() -> (Window, JointId) {
    let mut window = Window::on("arm.glb");
    window.click(Role::Tab, Workspace::Animate.label());
    window.harness.state_mut().editor_mut().show_clip(None);
    let joints = window.document().skeleton().joints();
    let forearm = joints.iter().position(|joint| joint.name == "forearm");
    let forearm = JointId(forearm.expect("a forearm") as u32);
    window.select(forearm);
    window.click(Role::Tab, PanelKind::Poses.label());
    (window, forearm)
}

fn turn(window: &mut Window, joint: JointId, degrees: f64) {
    let editor = window.harness.state_mut().editor_mut();
    let rest = editor.document().rest_pose().locals[joint.get()];
    editor.begin_pose_field(joint, "Rotate");
    let local = Transform {
        rotation: rest.rotation * DQuat::from_rotation_z(degrees.to_radians()),
        ..rest
    };
    editor.set_pose_field(joint, local);
    editor.confirm_transform();
    window.settle();
}

/// How far the bone is turned from rest, degrees.
fn angle(window: &Window, joint: JointId) -> f64 {
    let [rest, now] = [window.document().rest_pose(), window.document().pose()]
        .map(|pose| pose.locals[joint.get()].rotation);
    2.0 * (rest.conjugate() * now).w.abs().acos().to_degrees()
}

fn undo_label(window: &Window) -> String {
    let label = window.editor().history().undo_label();
    label.unwrap_or_default().to_owned()
}

fn names(window: &Window) -> Vec<String> {
    let poses = window.document().poses().values();
    poses.map(|pose| pose.name.clone()).collect()
}

/// Creates a pose and types its name.
fn create(window: &mut Window, name: &str) -> PoseId {
    window.find_and_run(Command::CreatePose);
    window.settle();
    window.key(CTRL, Key::A);
    window.write(name);
    window.key(Modifiers::NONE, Key::Enter);
    window.settle();
    window.editor().active_pose().expect("a pose")
}

fn row(window: &Window, label: &str) -> egui::Rect {
    window
        .harness
        .get_by_role_and_label(Role::ListBoxOption, label)
        .rect()
}

#[test]
fn a_pose_is_created_applied_and_taken_back() {
    let (mut window, forearm) = posing();
    assert!(window.says("No poses in the library."));
    window.picture("poses-none");
    turn(&mut window, forearm, 60.0);
    let id = create(&mut window, "Bent");
    assert_eq!(names(&window), ["Bent"]);
    assert_eq!(undo_label(&window), "Rename pose to \"Bent\"");
    let held = window.document().poses()[&id].posed_joints();
    assert_eq!(held, [forearm].into());

    // A click applies it, and undo takes it back.
    window
        .harness
        .state_mut()
        .editor_mut()
        .reset_pose(ResetPart::All);
    window.settle();
    window.click(Role::ListBoxOption, "Bent, 1 bone");
    assert!((angle(&window, forearm) - 60.0).abs() < 1e-3);
    assert_eq!(undo_label(&window), "Apply pose \"Bent\"");
    window.key(CTRL, Key::Z);
    assert!(angle(&window, forearm) < 1e-3);

    // The picture of the row is drawn on the lane.
    window.wait_until("the picture", |window| {
        window.editor().is_idle() || window.editor().running().is_none()
    });
    window.picture("poses");

    // Enter applies the active pose, Shift+Enter its mirror image.
    window.click(Role::ListBoxOption, "Bent, 1 bone");
    window.key(CTRL, Key::Z);
    window.key(Modifiers::NONE, Key::Enter);
    assert!((angle(&window, forearm) - 60.0).abs() < 1e-3);
    window.key(CTRL, Key::Z);

    // Removed and restored.
    window.find_and_run(Command::RemovePose);
    window.settle();
    assert!(names(&window).is_empty() && window.says("No poses in the library."));
    window.key(CTRL, Key::Z);
    assert_eq!(names(&window), ["Bent"]);
}

#[test]
fn a_drag_along_the_row_sets_the_amount() {
    let (mut window, forearm) = posing();
    turn(&mut window, forearm, 60.0);
    create(&mut window, "Bent");
    window
        .harness
        .state_mut()
        .editor_mut()
        .reset_pose(ResetPart::All);
    window.settle();
    let n_before = window.editor().history().n_undo();
    let rect = row(&window, "Bent, 1 bone");
    // A quarter of the row is a quarter of 150 %.
    let from = rect.center() - egui::vec2(rect.width() * 0.25, 0.0);
    let at = |share: f32| Pos2::new(from.x + share * rect.width(), from.y);
    window.press(from);
    for share in [0.1, 0.4, 0.25] {
        window.move_to(at(share));
    }
    let amount = window.editor().applied_pose().expect("a drag").1;
    assert!(
        (amount.amount - 0.375).abs() < 0.006 && !amount.flipped,
        "{amount:?}"
    );
    let label = format!("{:.0} %", amount.amount * 100.0);
    assert!((angle(&window, forearm) - 60.0 * amount.amount).abs() < 0.01);
    window.picture("poses-dragged");
    window.release(at(0.25));
    window.settle();
    assert_eq!(
        undo_label(&window),
        format!("Apply {label} of pose \"Bent\"")
    );
    assert_eq!(window.editor().history().n_undo(), n_before + 1);
    window.key(CTRL, Key::Z);
    assert!(angle(&window, forearm) < 1e-3);

    // To the left it is flipped: the forearm is in the middle of its model.
    window.press(at(0.5));
    window.move_to(at(0.4));
    window.move_to(at(0.2));
    let amount = window.editor().applied_pose().expect("a drag").1;
    assert!(
        amount.flipped && (amount.amount - 0.45).abs() < 0.006,
        "{amount:?}"
    );
    // Esc gives up, and the rest of the drag does nothing.
    window.key(Modifiers::NONE, Key::Escape);
    assert!(window.editor().applied_pose().is_none());
    window.move_to(at(0.3));
    window.release(at(0.3));
    window.settle();
    assert!(angle(&window, forearm) < 1e-3);
    assert_eq!(window.editor().history().n_undo(), n_before);
}

#[test]
fn the_slider_takes_the_active_pose_to_150_percent() {
    let (mut window, forearm) = posing();
    turn(&mut window, forearm, 60.0);
    create(&mut window, "Bent");
    window
        .harness
        .state_mut()
        .editor_mut()
        .reset_pose(ResetPart::All);
    window.settle();
    let slider = window
        .harness
        .get_by_role_and_label(Role::Slider, "Amount of Bent");
    let rect = slider.rect();
    let from = Pos2::new(rect.left() + 6.0, rect.center().y);
    let to = Pos2::new(rect.right() + 400.0, rect.center().y);
    window.drag(PointerButton::Primary, Modifiers::NONE, from, to - from);
    window.settle();
    assert!(
        (angle(&window, forearm) - 90.0).abs() < 1e-3,
        "{}",
        angle(&window, forearm)
    );
    assert_eq!(undo_label(&window), "Apply 150 % of pose \"Bent\"");
    window.key(CTRL, Key::Z);
    assert!(angle(&window, forearm) < 1e-3);
}

#[test]
fn the_menu_updates_selects_and_removes() {
    let (mut window, forearm) = posing();
    turn(&mut window, forearm, 60.0);
    let id = create(&mut window, "Bent");
    turn(&mut window, forearm, 20.0);
    window.click(Role::Button, "Menu of Bent");
    window.click(Role::MenuItem, Command::UpdatePose.label());
    window.settle();
    assert_eq!(undo_label(&window), "Update pose \"Bent\"");
    window.find_and_run(Command::SelectNone);
    let rect = row(&window, "Bent, 1 bone");
    window.right_click(rect.center());
    window.click(Role::MenuItem, Command::SelectPoseBones.label());
    window.settle();
    let session = window.document().session();
    assert_eq!(session.selected_joints, [forearm].into());
    // In Edit bones mode there is no pose on screen.
    window.find_and_run(Command::SetMode(Mode::Rig));
    window.settle();
    assert!(!Command::ApplyPose.is_enabled(window.editor()));
    window.find_and_run(Command::SetMode(Mode::Pose));
    window.settle();
    window.click(Role::Button, Command::RemovePose.label());
    window.settle();
    assert!(!window.document().poses().contains_key(&id));
}

/// The clipboard is the window's: what is copied as text is pasted when it comes back.
#[test]
fn a_pose_goes_through_the_clipboard_and_poses_through_a_clip() {
    let (mut window, forearm) = posing();
    turn(&mut window, forearm, 60.0);
    let id = create(&mut window, "Bent");
    let text = window.editor().pose_as_text(id).expect("a pose");
    window.click(Role::Button, "Menu of the pose library");
    window.click(Role::MenuItem, Command::PastePoseText.label());
    window.harness.event(egui::Event::Paste(text));
    window.settle();
    assert_eq!(names(&window), ["Bent", "Bent 2"]);
    assert_eq!(undo_label(&window), "Paste pose \"Bent 2\" from text");
    // Without a text it says so, and other pastes are not held up.
    window.find_and_run(Command::PastePoseText);
    window.harness.run_steps(40);
    assert!(window.says("The clipboard has no text."));

    window.find_and_run(Command::PosesToClip);
    window.settle();
    assert_eq!(undo_label(&window), "Poses to clip");
    let (_, clip) = window.editor().shown_clip().expect("a clip");
    assert_eq!(clip.pose_names.len(), 2);
    window.find_and_run(Command::ClipToPoses);
    window.settle();
    assert_eq!(names(&window), ["Bent", "Bent 2", "Bent 3", "Bent 4"]);
    window.picture("poses-four");
    window.key(CTRL, Key::Z);
    window.key(CTRL, Key::Z);
    assert!(window.editor().shown_clip().is_none());
    assert_eq!(names(&window), ["Bent", "Bent 2"]);
}
