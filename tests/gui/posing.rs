//! Posing in the window: rings dragged by pixels, keys and typed numbers, chains pulled, and how the gizmo looks.

use crate::window::{CTRL, CTRL_SHIFT, Window};
use egui::{Key, Modifiers, PointerButton, Pos2, Role, Vec2};
use egui_kittest::kittest::Queryable as _;
use glam::{DQuat, DVec3};
use sinew::document::session::{PoseSpace, TransformKind};
use sinew::editor::Editor;
use sinew::math::Camera;
use sinew::math::camera::View;
use sinew::skeleton::{JointId, Pose};
use sinew::tools::{Axis, Constraint, Gizmo, Handle, Screen};
use sinew::view::mode::Mode;
use sinew::view::theme::ThemeChoice;

const NONE: Modifiers = Modifiers::NONE;
const SHIFT: Modifiers = Modifiers {
    shift: true,
    ..Modifiers::NONE
};

/// The window on a model in Pose mode, one bone selected, seen from `view`.
fn posing(name: &str, bone: &str, view: View) -> (Window, JointId) {
    let mut window = Window::on(name);
    let joints = window.document().skeleton().joints();
    let found = joints.iter().position(|j| j.name == bone);
    let names: Vec<_> = joints.iter().map(|j| j.name.clone()).collect();
    let joint = JointId(found.unwrap_or_else(|| panic!("no {bone} in {names:?}")) as u32);
    let editor = window.harness.state_mut().editor_mut();
    editor.show_clip(None);
    editor.select_joint(Some(joint));
    let looking = Camera::looking(view);
    let camera = editor.camera_mut();
    (camera.yaw, camera.pitch) = (looking.yaw, looking.pitch);
    editor.set_pose_space(PoseSpace::World);
    // A key of posing chooses the mode, Esc leaves no trace.
    window.key(NONE, Key::R);
    window.key(NONE, Key::Escape);
    assert_eq!(window.app().viewport().mode, Mode::Pose);
    window.harness.state_mut().editor_mut().frame_all();
    window.settle();
    (window, joint)
}

fn editor(window: &mut Window) -> &mut Editor {
    window.harness.state_mut().editor_mut()
}

fn gizmo(window: &Window) -> Gizmo {
    let rect = window.viewport();
    let camera = window.document().session().camera;
    let screen = Screen::new(camera, glam::Vec2::new(rect.width(), rect.height()));
    let (centre, axes) = window.editor().gizmo_frame().expect("a gizmo");
    let kind = window.editor().pose_options().gizmo;
    Gizmo::new(kind, centre, axes, &screen).expect("in front of the eye")
}

fn at(window: &Window, px: glam::Vec2) -> Pos2 {
    window.viewport().min + Vec2::new(px.x, px.y)
}

fn same_bits(a: &Pose, b: &Pose) -> bool {
    let bits = |pose: &Pose| -> Vec<u64> {
        let of = |l: &sinew::math::Transform| {
            let (t, q) = (l.translation, l.rotation);
            let s = l.stretch.to_cols_array();
            [t.x, t.y, t.z, q.x, q.y, q.z, q.w]
                .into_iter()
                .chain(s)
                .map(f64::to_bits)
        };
        pose.locals.iter().flat_map(of).collect()
    };
    bits(a) == bits(b)
}

/// Presses at the first place, goes along the others and lets go at the last.
fn drag_along(window: &mut Window, places: &[Pos2]) {
    window.press(places[0]);
    for &place in &places[1..] {
        window.move_to(place);
    }
    window.release(places[places.len() - 1]);
    window.settle();
}

/// How a bone has turned in its parent since `before`.
fn turn(window: &Window, before: &Pose, joint: JointId) -> DVec3 {
    let now = window.document().pose().locals[joint.get()].rotation;
    (now * before.locals[joint.get()].rotation.inverse()).to_scaled_axis()
}

/// The mannequin's bones by what they are.
fn bone_like(window: &Window, part: &str) -> String {
    let joints = window.document().skeleton().joints();
    let found = joints.iter().find(|j| j.name.to_lowercase().contains(part));
    found.map_or_else(
        || {
            panic!(
                "no {part}: {:?}",
                joints.iter().map(|j| &j.name).collect::<Vec<_>>()
            )
        },
        |j| j.name.clone(),
    )
}

#[test]
fn a_ring_dragged_along_its_line_turns_by_that_angle_in_one_step() {
    let (mut window, joint) = posing("arm.glb", &root_of("arm.glb"), View::ThreeQuarter);
    let before = window.document().pose().clone();
    let n_before = window.editor().history().n_undo();
    for axis in Axis::ALL {
        let gizmo = gizmo(&window);
        let shape = &gizmo.shapes()[axis.index()];
        let line = shape.lines.iter().filter(|line| line.front);
        let line = line
            .max_by_key(|line| line.points.len())
            .expect("a near half");
        // The ring has 96 corners: 16 of them are 60 degrees.
        let middle = line.points.len() / 2;
        let places: Vec<Pos2> = (0..=16)
            .map(|i| at(&window, line.points[middle - 8 + i]))
            .collect();
        let label = window.document().skeleton().label(joint);
        drag_along(&mut window, &places);
        let turned = turn(&window, &before, joint);
        let expected = axis.unit() * 60f64.to_radians();
        assert!(
            turned.abs_diff_eq(expected, 2e-3),
            "{axis:?}: {turned} {expected}"
        );
        let history = window.editor().history();
        assert_eq!(history.n_undo(), n_before + 1);
        assert_eq!(
            history.undo_label(),
            Some(format!("Rotate {label}").as_str())
        );
        window.key(CTRL, Key::Z);
        assert!(same_bits(window.document().pose(), &before));
    }
}

/// The name of the bone of a sample without a parent among bones.
fn root_of(name: &str) -> String {
    let window = Window::on(name);
    let bones = window.bones();
    window.document().skeleton().joint(bones[0]).name.clone()
}

#[test]
fn keys_and_typed_numbers_pose_and_esc_takes_all_back() {
    let (mut window, joint) = posing("arm.glb", &root_of("arm.glb"), View::ThreeQuarter);
    let before = window.document().pose().clone();
    let n_before = window.editor().history().n_undo();
    let middle = window.viewport().center();
    window.move_to(middle);
    window.key(NONE, Key::R);
    window.key(NONE, Key::X);
    for key in [Key::Minus, Key::Num4, Key::Num5, Key::Num5, Key::Backspace] {
        window.key(NONE, key);
    }
    let readout = window.editor().transform_readout();
    assert_eq!(readout.as_deref(), Some("Rotate X (global) -45°"));
    // The pointer has no say while a number stands.
    window.move_to(middle + Vec2::new(80.0, 30.0));
    window.key(NONE, Key::Enter);
    let expected = DQuat::from_axis_angle(DVec3::X, -45f64.to_radians());
    let now = window.document().pose().locals[joint.get()].rotation;
    let was = before.locals[joint.get()].rotation;
    assert!(now.abs_diff_eq(expected * was, 1e-12));
    assert_eq!(window.editor().history().n_undo(), n_before + 1);

    // X again: the bone's own axis, exactly.
    window.key(CTRL, Key::Z);
    for key in [Key::R, Key::X, Key::X, Key::Num9, Key::Num0, Key::Enter] {
        window.key(NONE, key);
    }
    let now = window.document().pose().locals[joint.get()].rotation;
    assert_eq!(
        now,
        was * DQuat::from_axis_angle(DVec3::X, 90f64.to_radians())
    );
    window.key(CTRL, Key::Z);

    for key in [Key::G, Key::R, Key::S] {
        window.key(NONE, key);
        window.move_to(middle + Vec2::new(120.0, -70.0));
        assert!(!same_bits(window.document().pose(), &before), "{key:?}");
        window.key(NONE, Key::Escape);
        assert!(same_bits(window.document().pose(), &before), "{key:?}");
        window.move_to(middle + Vec2::new(10.0, 10.0));
        // The right button takes back too, and brings up no menu.
        window.key(NONE, key);
        window.move_to(middle + Vec2::new(90.0, 50.0));
        let here = middle + Vec2::new(90.0, 50.0);
        window.button(here, PointerButton::Secondary, true, NONE);
        window.button(here, PointerButton::Secondary, false, NONE);
        window.settle();
        assert!(same_bits(window.document().pose(), &before), "{key:?}");
        assert!(!window.says("Paste pose"));
        window.move_to(middle);
    }
    assert_eq!(window.editor().history().n_undo(), n_before);

    // Without a number a click keeps it, and picks nothing.
    window.key(NONE, Key::G);
    window.key(SHIFT, Key::Y);
    let there = middle + Vec2::new(40.0, 25.0);
    window.move_to(there);
    window.press(there);
    window.release(there);
    window.settle();
    let way = window.document().pose().locals[joint.get()].translation
        - before.locals[joint.get()].translation;
    assert!(way.length() > 1e-3);
    assert_eq!(window.document().session().active_joint, Some(joint));
    assert_eq!(window.editor().history().n_undo(), n_before + 1);
    window.key(Modifiers::ALT, Key::G);
    assert_eq!(window.document().pose().locals, before.locals);
}

#[test]
fn snapping_is_by_five_degrees_and_shift_is_a_tenth() {
    let (mut window, joint) = posing("arm.glb", &root_of("arm.glb"), View::Front);
    let before = window.document().pose().clone();
    let gizmo = gizmo(&window);
    let ring = |degrees: f32| {
        let angle = degrees.to_radians();
        gizmo.centre_px() + glam::Vec2::new(angle.cos(), -angle.sin()) * 90.0
    };
    // Away from where the other rings cross.
    let places: Vec<Pos2> = (0..=32)
        .map(|i| at(&window, ring(20.0 + i as f32)))
        .collect();
    for (modifiers, expected) in [(CTRL, 30.0), (SHIFT, 3.2)] {
        window
            .harness
            .event(egui::Event::ModifiersChanged(modifiers));
        window.move_to(places[0]);
        window.button(places[0], PointerButton::Primary, true, modifiers);
        for &place in &places[1..] {
            window.move_to(place);
        }
        window.button(places[32], PointerButton::Primary, false, modifiers);
        window.harness.event(egui::Event::ModifiersChanged(NONE));
        window.settle();
        let turned = turn(&window, &before, joint).length().to_degrees();
        assert!((turned - expected).abs() < 0.1, "{turned} {expected}");
        window.key(CTRL, Key::Z);
    }
}

#[test]
fn a_pinned_end_bends_its_chain_and_a_plain_bone_turns_alone() {
    let mut window = Window::on("mannequin.glb");
    let hand = bone_like(&window, "hand");
    drop(window);
    for pinned in [true, false] {
        let (w, joint) = posing("mannequin.glb", &hand, View::Front);
        window = w;
        if pinned {
            window.key(SHIFT, Key::I);
            assert!(window.editor().is_pinned(joint));
        } else {
            // The gizmo would lie over it.
            editor(&mut window).select_joint(None);
            window.settle();
        }
        let before = window.document().pose().clone();
        let chain = window.editor().chain_of(joint).expect("an arm");
        let head = |window: &Window, joint: JointId| {
            let world = window.editor().world()[joint.get()];
            window.place(world.translation.as_vec3())
        };
        let start = head(&window, joint);
        let to = start + (head(&window, chain.root) - start) * 0.3 + Vec2::new(0.0, -20.0);
        // Along the bone a little, where it is picked.
        let grab = if pinned { start } else { window.on_bone(joint) };
        window.drag(PointerButton::Primary, NONE, grab, to - start);
        assert_eq!(window.editor().history().n_undo(), 1);
        let changed: Vec<usize> = (0..before.locals.len())
            .filter(|&j| window.document().pose().locals[j] != before.locals[j])
            .collect();
        let label = window.editor().history().undo_label().unwrap_or_default();
        if pinned {
            assert!(head(&window, joint).distance(to) < 1.0, "{to:?}");
            assert!(changed.contains(&chain.root.get()) && changed.contains(&chain.mid.get()));
            assert!(label.starts_with("Bend chain to"), "{label}");
        } else {
            assert_eq!(changed, [joint.get()]);
            assert_eq!(window.document().session().active_joint, Some(joint));
        }
        let own = |pose: &Pose| pose.locals[joint.get()].translation;
        assert_eq!(own(window.document().pose()), own(&before));
        window.picture(if pinned { "pose-pinned" } else { "pose-alone" });
        window.key(CTRL, Key::Z);
        assert!(same_bits(window.document().pose(), &before));
    }
}

#[test]
fn a_click_in_the_skin_picks_the_bone_that_moves_it() {
    let (mut window, _) = posing("mannequin.glb", &root_of("mannequin.glb"), View::Front);
    let place = window.on_model();
    // The point there, and the bone with its largest weight.
    let toward_eye = window.document().session().camera.backward();
    let (mesh, skin) = {
        let instance = window.document().instances().values().next();
        let instance = instance.expect("an instance");
        (instance.mesh, instance.skin.expect("it has a skin"))
    };
    let shown = window.editor().displayed().values().next();
    let positions = &shown.expect("it is on screen").positions;
    let nearest = (0..positions.len()).max_by(|&a, &b| {
        let depth = |p: usize| positions[p].dot(toward_eye);
        depth(a).total_cmp(&depth(b))
    });
    let row = window.document().meshes()[&mesh]
        .influences
        .row(nearest.expect("a point") as u32);
    let strongest = row.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    let slot = strongest.expect("it has weights").0;
    let mover = window.document().skins()[&skin].joints[usize::from(slot)];
    editor(&mut window).select_joint(None);
    window.settle();
    window.press(place);
    window.release(place);
    window.settle();
    assert_eq!(window.document().session().active_joint, Some(mover));
}

#[test]
fn copy_and_paste_flipped_by_keys() {
    let window = Window::on("mannequin.glb");
    let hand = bone_like(&window, "hand");
    drop(window);
    let (mut window, joint) = posing("mannequin.glb", &hand, View::Front);
    let partner = window.editor().mirror().partner(joint).expect("two hands");
    for key in [Key::R, Key::Z, Key::Num3, Key::Num0, Key::Enter] {
        window.key(NONE, key);
    }
    window.harness.event(egui::Event::Copy);
    window.settle();
    assert!(window.editor().has_copied_pose());
    let rest = window.document().rest_pose().clone();
    window.key(CTRL_SHIFT, Key::V);
    let turned = turn(&window, &rest, partner);
    assert!(
        (turned.length().to_degrees() - 30.0).abs() < 1e-6,
        "{turned}"
    );
    assert_eq!(
        window.editor().history().undo_label(),
        Some("Paste pose flipped")
    );
}

#[test]
fn in_the_maya_preset_the_keys_choose_the_gizmo() {
    use sinew::view::keymap::{self, KeyMap, Preset};
    let (mut window, _) = posing("arm.glb", &root_of("arm.glb"), View::ThreeQuarter);
    keymap::set(&window.harness.ctx, KeyMap::preset(Preset::Maya));
    for (key, kind) in [
        (Key::W, TransformKind::Move),
        (Key::E, TransformKind::Rotate),
        (Key::R, TransformKind::Scale),
    ] {
        window.key(NONE, key);
        assert_eq!(window.editor().pose_options().gizmo, kind);
        assert!(!window.editor().is_posing());
    }
}

#[test]
fn handles_have_names_and_are_pressed_by_them() {
    let (mut window, joint) = posing("arm.glb", &root_of("arm.glb"), View::ThreeQuarter);
    for (kind, names) in [
        (TransformKind::Rotate, ["Rotate X", "Rotate Y", "Rotate Z"]),
        (
            TransformKind::Move,
            ["Move X", "Move YZ", "Move in the view"],
        ),
        (
            TransformKind::Scale,
            ["Scale X", "Scale Z", "Scale all axes"],
        ),
    ] {
        editor(&mut window).set_gizmo(kind);
        window.settle();
        for name in names {
            window.harness.get_by_role_and_label(Role::Button, name);
        }
    }
    editor(&mut window).set_gizmo(TransformKind::Rotate);
    window.settle();
    window
        .harness
        .get_by_role_and_label(Role::Button, "Rotate Y")
        .click_accesskit();
    window.harness.step();
    let tool = window.editor().transforming().expect("it runs");
    assert_eq!(tool.constraint(), Constraint::Axis(Axis::Y));
    for key in [Key::Num1, Key::Num0, Key::Enter] {
        window.key(NONE, key);
    }
    let rest = window.document().rest_pose().clone();
    assert!((turn(&window, &rest, joint).length().to_degrees() - 10.0).abs() < 1e-9);
}

#[test]
fn the_gizmo_is_seen_in_its_colours_with_letters_and_a_faint_far_half() {
    for theme in ThemeChoice::ALL {
        let palette = theme.palette();
        let (mut window, _) = posing("arm.glb", &root_of("arm.glb"), View::ThreeQuarter);
        sinew::view::theme::set(&window.harness.ctx, theme);
        for kind in [
            TransformKind::Move,
            TransformKind::Rotate,
            TransformKind::Scale,
        ] {
            editor(&mut window).set_gizmo(kind);
            window.move_to(Pos2::new(2.0, 2.0));
            window.settle();
            let without = {
                let kept = window.document().session().selected_joints.clone();
                let active = window.document().session().active_joint;
                editor(&mut window).select_joint(None);
                window.settle();
                let picture = window.picture("pose-none");
                assert!(!kept.is_empty());
                editor(&mut window).select_joint(active);
                window.settle();
                picture
            };
            let picture = window.picture(&format!("pose-{kind:?}-{theme:?}"));
            let gizmo = gizmo(&window);
            let pixel = |picture: &image::RgbaImage, px: glam::Vec2| {
                let place = at(&window, px);
                let [r, g, b, _] = picture.get_pixel(place.x as u32, place.y as u32).0;
                glam::Vec3::new(f32::from(r), f32::from(g), f32::from(b))
            };
            for (axis, colour) in Axis::ALL.into_iter().zip([palette.x, palette.y, palette.z]) {
                let handle = Handle {
                    kind,
                    constraint: Constraint::Axis(axis),
                };
                let shape = gizmo.shapes().iter().find(|s| s.handle == handle);
                let shape = shape.unwrap_or_else(|| panic!("{handle:?}"));
                let wanted = glam::Vec3::new(
                    f32::from(colour.r()),
                    f32::from(colour.g()),
                    f32::from(colour.b()),
                );
                let gaps = |front: bool| -> Vec<f32> {
                    let lines = shape.lines.iter().filter(|l| l.front == front);
                    let ends = lines.flat_map(|l| l.points.windows(2));
                    let middles = ends.map(|e| e[0].midpoint(e[1]));
                    middles
                        .map(|p| pixel(&picture, p).distance(wanted))
                        .collect()
                };
                // Where other handles cross it, it is covered.
                let near = gaps(true);
                let seen = near.iter().filter(|gap| **gap < 40.0).count();
                assert!(
                    seen * 10 >= near.len() * 5,
                    "{theme:?} {handle:?}: {near:?}"
                );
                let far = gaps(false);
                let strong = far.iter().filter(|gap| **gap < 12.0).count();
                assert!(
                    strong * 10 <= far.len() * 3,
                    "{theme:?} {handle:?}: {far:?}"
                );
                let changed = (-4..=4).any(|dx| {
                    let p = shape.tip + glam::Vec2::new(dx as f32, 0.0);
                    pixel(&picture, p).distance(pixel(&without, p)) > 20.0
                });
                assert!(changed, "{theme:?} {handle:?} has a letter");
            }
        }
    }
}

#[test]
fn a_running_transform_shows_its_axis_and_number() {
    let (mut window, _) = posing(
        "mannequin.glb",
        &root_of("mannequin.glb"),
        View::ThreeQuarter,
    );
    let middle = window.viewport().center();
    window.move_to(middle + Vec2::new(60.0, 0.0));
    window.key(NONE, Key::R);
    window.key(NONE, Key::Y);
    window.move_to(middle + Vec2::new(40.0, 70.0));
    window.settle();
    window.picture("pose-running-rotate");
    window.key(NONE, Key::G);
    window.key(SHIFT, Key::Y);
    window.move_to(middle + Vec2::new(90.0, 40.0));
    window.settle();
    window.picture("pose-running-move");
    assert!(
        window
            .editor()
            .transform_readout()
            .is_some_and(|t| t.starts_with("Move XZ (global)"))
    );
    window.key(NONE, Key::Escape);
}

#[test]
fn a_transform_from_a_menu_begins_where_the_pointer_is() {
    let mut window = Window::on("arm.glb");
    let bone = window.bones()[1];
    window.select(bone);
    let before = window.document().pose().clone();
    window.choose("Pose", "Move");
    assert!(window.editor().transforming().is_some());
    assert!(same_bits(window.document().pose(), &before));
    window.key(NONE, Key::Escape);
    assert!(window.editor().transforming().is_none());
}

#[test]
fn what_was_begun_in_another_mode_does_not_linger() {
    let mut window = Window::on("arm.glb");
    let bone = window.bones()[1];
    window.select(bone);
    window.key(NONE, Key::C);
    assert!(window.editor().select_tool().armed().is_some());
    window.choose("Window", "Paint mode");
    assert!(window.editor().select_tool().armed().is_none());
    let brush = window.document().session().brush;
    window.key(NONE, Key::F);
    window.choose("Window", "Select mode");
    let centre = window.viewport().center();
    window.move_to(centre);
    window.choose("Window", "Paint mode");
    window.move_to(centre + Vec2::new(40.0, 0.0));
    assert_eq!(window.document().session().brush, brush);
}
