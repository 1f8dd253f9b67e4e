//! Normals carried to the deformed surface.

use crate::models::{tube, tube_with_sides};
use crate::reference::larger;
use glam::{DQuat, Vec3};
use sinew::document::InstanceId;
use sinew::evaluate::Evaluator;

/// METHODS 1.5: transported normals agree with the geometric normals of the deformed surface.
#[test]
fn transported_normals_stand_on_the_bent_surface() {
    let document = tube_with_sides(200, 128);
    let mut pose = (**document.pose()).clone();
    pose.locals[1].rotation = DQuat::from_rotation_z(1.0);
    let mut evaluator = Evaluator::default();
    evaluator.evaluate(&document, &pose);
    let plan = evaluator.plan(InstanceId(3)).unwrap();
    let mesh = &document.meshes().values().next().unwrap().geometry;
    let topology = mesh.topology();
    let (mut worst, mut n_compared) = (0.0f32, 0);
    for n in 0..mesh.normals.len() as u32 {
        let point = mesh.point_of_normal[n as usize];
        // The open ends have faces on one side only, where a mean over faces is no normal of the surface.
        if mesh.positions[point as usize].x.abs() > 1.9 {
            continue;
        }
        let geometric = |positions: &[Vec3]| {
            let sum: Vec3 = topology
                .faces(point)
                .iter()
                .map(|&f| {
                    let [a, b, c] = topology.triangles[f as usize].map(|p| positions[p as usize]);
                    (b - a).cross(c - a)
                })
                .sum();
            sum.normalize_or(Vec3::ZERO)
        };
        let bind_error = geometric(&mesh.positions).angle_between(mesh.normals[n as usize]);
        let error = geometric(plan.positions()).angle_between(plan.normals()[n as usize]);
        worst = larger(worst, (error - bind_error).abs());
        n_compared += 1;
    }
    assert!(n_compared > mesh.normals.len() / 2, "{n_compared}");
    assert!(worst.to_degrees() < 0.1, "{} degrees", worst.to_degrees());
}

/// At rest nothing changes, and a rigid motion turns authored normals by exactly its rotation.
#[test]
fn a_rigid_motion_turns_normals_rigidly() {
    let document = tube(40);
    let mut pose = (**document.pose()).clone();
    let turn = DQuat::from_rotation_y(0.7) * DQuat::from_rotation_z(-0.4);
    pose.locals[0].rotation = turn;
    let mut evaluator = Evaluator::default();
    evaluator.evaluate(&document, &pose);
    let plan = evaluator.plan(InstanceId(3)).unwrap();
    let mesh = &document.meshes().values().next().unwrap().geometry;
    assert_eq!(mesh.normals.len(), plan.normals().len());
    for (bind, posed) in mesh.normals.iter().zip(plan.normals()) {
        assert!(
            (turn.as_quat() * *bind).abs_diff_eq(*posed, 2e-5),
            "{bind} {posed}"
        );
    }
}
