use super::*;
use crate::math::Camera;
use crate::math::camera::View;
use crate::skeleton::Joint;
use glam::DQuat;
use glam::DVec3;

const SIZE: Vec2 = Vec2::new(800.0, 600.0);

/// Three joints in a row along y, the second rotated by a third of a turn about an oblique axis, the last scaled.
fn chain() -> (Skeleton, Pose) {
    let joint = |parent: Option<u32>, translation, rotation, scale| Joint {
        name: format!("Bone{}", parent.map_or(0, |p| p + 1)),
        parent: parent.map(JointId),
        rest: Transform::from_trs(translation, rotation, scale),
        source_node: None,
        content_of: None,
        removed: false,
        rule: crate::skeleton::JointRule::default(),
    };
    let odd = DQuat::from_xyzw(0.5, 0.5, 0.5, 0.5);
    let skeleton = Skeleton::new(vec![
        joint(None, DVec3::ZERO, DQuat::IDENTITY, DVec3::ONE),
        joint(Some(0), DVec3::Y, odd, DVec3::ONE),
        joint(Some(1), DVec3::X, DQuat::IDENTITY, DVec3::splat(2.0)),
    ])
    .unwrap();
    let pose = Pose::rest(&skeleton);
    (skeleton, pose)
}

fn begin(kind: TransformKind, space: PoseSpace, joints: &[u32], at: Vec2) -> Transforming {
    let (skeleton, pose) = chain();
    let world = pose.world_matrices(&skeleton);
    let screen = Screen::new(Camera::looking(View::Front), SIZE);
    let selected = joints.iter().map(|&j| JointId(j)).collect();
    Transforming::begin(
        &skeleton,
        &pose,
        &world,
        &selected,
        None,
        (kind, space),
        (screen, at),
    )
    .unwrap()
}

fn applied(tool: &Transforming) -> Pose {
    let (_, mut pose) = chain();
    tool.apply(&mut pose);
    pose
}

fn typed(tool: &mut Transforming, text: &str) {
    for c in text.chars() {
        assert!(tool.type_char(c));
    }
}

#[test]
fn a_typed_rotation_is_exact_in_each_space() {
    let (_, rest) = chain();
    let before = rest.locals[1].rotation;
    let quarter = DQuat::from_axis_angle(DVec3::X, 90f64.to_radians());
    for (space, expected) in [
        (PoseSpace::Local, before * quarter),
        (PoseSpace::Parent, quarter * before),
        // The parent is not rotated.
        (PoseSpace::World, quarter * before),
    ] {
        let mut tool = begin(TransformKind::Rotate, space, &[1], Vec2::ZERO);
        tool.press_axis(Axis::X, false);
        typed(&mut tool, "90");
        assert_eq!(applied(&tool).locals[1].rotation, expected, "{space:?}");
        assert_eq!(tool.readout(), format!("Rotate X ({}) 90°", space.word()));
    }
}

#[test]
fn axis_keys_go_round_between_the_set_space_the_other_and_none() {
    let mut tool = begin(TransformKind::Rotate, PoseSpace::Local, &[1], Vec2::ZERO);
    let mut pressed = |axis| {
        tool.press_axis(axis, false);
        (tool.constraint(), tool.space())
    };
    let x = Constraint::Axis(Axis::X);
    assert_eq!(pressed(Axis::X), (x, PoseSpace::Local));
    assert_eq!(pressed(Axis::X), (x, PoseSpace::World));
    assert_eq!(pressed(Axis::X), (Constraint::Free, PoseSpace::Local));
    let y = Constraint::Axis(Axis::Y);
    assert_eq!(pressed(Axis::Y), (y, PoseSpace::Local));
    assert_eq!(pressed(Axis::X), (x, PoseSpace::Local));
}

#[test]
fn children_of_selected_joints_only_follow() {
    let mut tool = begin(TransformKind::Rotate, PoseSpace::Local, &[0, 2], Vec2::ZERO);
    tool.press_axis(Axis::Z, false);
    typed(&mut tool, "10");
    let (skeleton, rest) = chain();
    let pose = applied(&tool);
    assert_ne!(pose.locals[0], rest.locals[0]);
    assert_eq!(pose.locals[2], rest.locals[2]);
    assert_eq!(tool.label(&skeleton), "Rotate 2 bones");
}

#[test]
fn a_typed_move_is_in_metres_of_the_world_under_any_parent() {
    let (skeleton, _) = chain();
    let place = |pose: &Pose| pose.world_matrices(&skeleton)[2].translation;
    let (_, rest) = chain();
    for (space, axis, expected) in [
        (PoseSpace::World, Axis::Y, DVec3::Y),
        // The second joint's rotation takes x to y, y to z and z to x.
        (PoseSpace::Local, Axis::X, DVec3::Y),
        (PoseSpace::Parent, Axis::Z, DVec3::X),
    ] {
        let mut tool = begin(TransformKind::Move, space, &[2], Vec2::ZERO);
        tool.press_axis(axis, false);
        typed(&mut tool, "-.25");
        let offset = place(&applied(&tool)) - place(&rest);
        assert!(
            offset.abs_diff_eq(expected * -0.25, 1e-12),
            "{space:?}: {offset}"
        );
    }
}

#[test]
fn scale_keeps_clear_of_shear_and_of_nothing() {
    let mut tool = begin(TransformKind::Scale, PoseSpace::World, &[1], Vec2::ZERO);
    tool.press_axis(Axis::Y, false);
    typed(&mut tool, "3");
    // The world's y is the joint's x.
    let scale = applied(&tool).locals[1].scale();
    assert!(
        scale.abs_diff_eq(DVec3::new(3.0, 1.0, 1.0), 1e-12),
        "{scale}"
    );
    tool.backspace();
    typed(&mut tool, "0");
    assert!(applied(&tool).locals[1].stretch.determinant() > 0.0);
    let mut tool = begin(TransformKind::Scale, PoseSpace::Local, &[1], Vec2::ZERO);
    tool.press_axis(Axis::Z, true);
    typed(&mut tool, "2");
    assert_eq!(applied(&tool).locals[1].scale(), DVec3::new(2.0, 2.0, 1.0));
}

#[test]
fn the_pointer_rotates_about_the_view_axis_and_in_steps_or_tenths() {
    // The first joint is in the middle of the view.
    let middle = SIZE * 0.5;
    let turn = |precision: PointerPrecision, axis: Option<Axis>| {
        let at = middle + Vec2::new(100.0, 0.0);
        let mut tool = begin(TransformKind::Rotate, PoseSpace::World, &[0], at);
        if let Some(axis) = axis {
            tool.press_axis(axis, false);
        }
        for degrees in 1..=33 {
            let angle = (degrees as f32).to_radians();
            // Counter-clockwise on the screen.
            let at = Vec2::new(angle.cos(), -angle.sin()) * 100.0;
            tool.pointer(middle + at, precision);
        }
        let (axis, angle) = applied(&tool).locals[0].rotation.to_axis_angle();
        (axis * angle.to_degrees(), tool.readout())
    };
    let plain = PointerPrecision::default();
    let snap = PointerPrecision {
        snap: true,
        ..plain
    };
    let precise = PointerPrecision {
        precise: true,
        ..plain
    };
    let (free, text) = turn(plain, None);
    assert!(free.abs_diff_eq(DVec3::Z * 33.0, 1e-3), "{free}");
    assert_eq!(text, "Rotate 33.0°");
    let (snapped, _) = turn(snap, Some(Axis::Z));
    assert!(snapped.abs_diff_eq(DVec3::Z * 35.0, 1e-9), "{snapped}");
    let (tenth, text) = turn(precise, Some(Axis::Z));
    assert!(tenth.abs_diff_eq(DVec3::Z * 3.3, 1e-3), "{tenth}");
    assert_eq!(text, "Rotate Z (global) 3.3°");
}

#[test]
fn an_edge_on_ring_follows_its_tangent() {
    // Seen from the front, the near side of the ring about y moves right for a positive rotation.
    let middle = SIZE * 0.5;
    let mut tool = begin(TransformKind::Rotate, PoseSpace::World, &[0], middle);
    tool.grab(Handle {
        kind: TransformKind::Rotate,
        constraint: Constraint::Axis(Axis::Y),
    });
    tool.pointer(middle + Vec2::new(45.0, 0.0), PointerPrecision::default());
    let turn = applied(&tool).locals[0].rotation.to_scaled_axis();
    // 45 pixels of the gizmo's radius in a pane of 600: 600 / 3 / 2 / 1.2.
    assert!(turn.abs_diff_eq(DVec3::Y * 0.54, 1e-5), "{turn}");
}

#[test]
fn what_is_moved_freely_stays_under_the_pointer() {
    let (skeleton, rest) = chain();
    let world = rest.world_matrices(&skeleton);
    let screen = Screen::new(Camera::looking(View::ThreeQuarter), SIZE);
    let selected = BTreeSet::from([JointId(2)]);
    let start = screen.project(world[2].translation.as_vec3()).unwrap();
    let kind = (TransformKind::Move, PoseSpace::Local);
    let mut tool = Transforming::begin(
        &skeleton,
        &rest,
        &world,
        &selected,
        None,
        kind,
        (screen, start),
    )
    .unwrap();
    let to = start + Vec2::new(37.0, -21.0);
    tool.pointer(to, PointerPrecision::default());
    let mut pose = rest.clone();
    tool.apply(&mut pose);
    let at = pose.world_matrices(&skeleton)[2].translation.as_vec3();
    let seen = screen.project(at).unwrap();
    assert!(seen.distance(to) < 0.1, "{seen} {to}");
    // Along an axis it stays on the axis.
    tool.press_axis(Axis::X, false);
    tool.press_axis(Axis::X, false);
    tool.apply(&mut pose);
    let offset = pose.world_matrices(&skeleton)[2].translation - world[2].translation;
    assert!(
        offset.x.abs() > 0.01 && offset.y.abs().max(offset.z.abs()) < 1e-12,
        "{offset}"
    );
}
