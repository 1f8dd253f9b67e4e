//! Seed 004, Lee et al. 2013, "Enhanced dual quaternion skinning for production use": the checks and golden numbers of
//! two-phase skinning.

use crate::reference::two_phase::{Local, Tree};
use crate::reference::{self, Rigid, Row};
use crate::seed_papers::skin_f64;
use crate::skinning::Random;
use crate::skins::{assert_close, bind_all, cook, influences, skeleton, skin};
use glam::{DAffine3, DMat3, DQuat, DVec3};
use sinew::math::{Transform, polar};
use sinew::skeleton::{JointId, Pose, Skeleton};
use sinew::skinning::{SkinBind, SkinPalette, Stretch, dqs, inflate, lbs};
use std::f64::consts::{FRAC_PI_2, PI};

/// A tree bound where it rests, and the palette of its pose.
fn two_phase_palette(tree: &Tree) -> (Skeleton, SkinPalette) {
    let (skeleton, bind) = bind_tree(tree, &vec![true; tree.parents.len()]);
    let mut palette = SkinPalette::default();
    bind.pose(
        &world(&skeleton, &tree.pose),
        Stretch::Inflate,
        &mut palette,
    );
    (skeleton, palette)
}

fn bind_tree(tree: &Tree, bound: &[bool]) -> (Skeleton, SkinBind) {
    let parents: Vec<Option<u32>> = tree.parents.iter().map(|p| p.map(|p| p as u32)).collect();
    let rest: Vec<Transform> = tree.bind.iter().map(transform).collect();
    let skeleton = skeleton(&parents, &rest);
    let world = Pose::rest(&skeleton).world_matrices(&skeleton);
    // What exporters leave on joints without weights must not matter.
    let inverse_bind: Vec<DAffine3> = world
        .iter()
        .zip(bound)
        .map(|(w, bound)| {
            if *bound {
                w.inverse()
            } else {
                DAffine3::from_mat3(DMat3::ZERO)
            }
        })
        .collect();
    let joints: Vec<JointId> = (0..skeleton.len() as u32).map(JointId).collect();
    let bind = SkinBind::new(&skeleton, &joints, &inverse_bind, bound, &world);
    (skeleton, bind)
}

fn transform(Local(t, q, s): &Local) -> Transform {
    Transform::from_trs(*t, *q, *s)
}

fn world(skeleton: &Skeleton, locals: &[Local]) -> Vec<DAffine3> {
    let mut pose = Pose::rest(skeleton);
    pose.locals = locals.iter().map(transform).collect();
    pose.world_matrices(skeleton)
}

fn chain_of_three(middle_scale: DVec3) -> Tree {
    let straight = |x: f64| Local(DVec3::new(x, 0.0, 0.0), DQuat::IDENTITY, DVec3::ONE);
    let bind = vec![straight(0.0), straight(4.0), straight(4.0)];
    let mut pose = bind.clone();
    pose[1].2 = middle_scale;
    Tree {
        parents: vec![None, Some(0), Some(1)],
        bind,
        pose,
    }
}

/// Checks (point, weights, inflated, posed) against reference, f64 motions and kernels.
fn check_two_phase(
    tree: &Tree,
    p: [f64; 3],
    weights: [f64; 3],
    inflated: Option<[f64; 3]>,
    posed: [f64; 3],
) {
    let (p, posed) = (DVec3::from_array(p), DVec3::from_array(posed));
    let row: Row = weights.into_iter().enumerate().collect();
    assert!(
        tree.two_phase().skin(p, &row).abs_diff_eq(posed, 1e-9),
        "reference at {p}"
    );
    let (_, palette) = two_phase_palette(tree);
    let (inflated_f64, posed_f64) = skin_f64(p, &row, &palette);
    assert!(
        posed_f64.abs_diff_eq(posed, 1e-9),
        "{posed_f64} not {posed}"
    );
    let chunks = cook(&influences(&[row]));
    assert_close(
        "two phases",
        &skin(&[p.as_vec3()], &chunks, &palette, dqs),
        &[posed],
    );
    if let Some(inflated) = inflated.map(DVec3::from_array) {
        assert!(
            inflated_f64.abs_diff_eq(inflated, 1e-9),
            "{inflated_f64} not {inflated}"
        );
        assert_close(
            "inflated",
            &skin(&[p.as_vec3()], &chunks, &palette, inflate),
            &[inflated],
        );
    }
}

#[test]
fn seed_004_scaled_chain_golden_numbers() {
    let mut tree = chain_of_three(DVec3::new(2.0, 1.5, 1.0));
    tree.pose[2].1 = DQuat::from_rotation_z(FRAC_PI_2);
    let (_, palette) = two_phase_palette(&tree);
    let h: Vec<f64> = palette
        .motions()
        .iter()
        .map(|m| m.inflated_origin.x)
        .collect();
    assert!(
        h.iter()
            .zip([0.0, 4.0, 12.0])
            .all(|(a, b)| (a - b).abs() < 1e-12),
        "{h:?}"
    );
    let last = palette.motions()[2];
    let expected = DMat3::from_diagonal(DVec3::new(1.5, 2.0, 1.0));
    assert!(last.stretch.abs_diff_eq(expected, 1e-12));
    assert!(
        last.translation
            .abs_diff_eq(DVec3::new(12.0, -12.0, 0.0), 1e-12)
    );
    let third = 0.3166915015;
    check_two_phase(
        &tree,
        [10.0, 0.5, 0.25],
        [0.0, 0.0, 1.0],
        None,
        [11.0, 3.0, 0.25],
    );
    check_two_phase(
        &tree,
        [7.7, -1.0, 0.0],
        [0.0, 1.0 - third, third],
        None,
        [12.2826053053, -1.7249628993, 0.0],
    );
    check_two_phase(
        &tree,
        [8.0, -1.0, 0.0],
        [0.0, 0.5, 0.5],
        None,
        [13.2374368671, -1.2374368671, 0.0],
    );
}

#[test]
fn seed_004_sheared_chain_golden_numbers() {
    let local =
        |x: f64, q: DQuat, s: [f64; 3]| Local(DVec3::new(x, 0.0, 0.0), q, DVec3::from_array(s));
    let one = [1.0; 3];
    let diagonal = DVec3::new(0.0, 1.0, 1.0).normalize_or_zero();
    let tree = Tree {
        parents: vec![None, Some(0), Some(1)],
        bind: vec![
            local(0.0, DQuat::IDENTITY, one),
            local(4.0, DQuat::from_rotation_z(0.3), one),
            local(3.0, DQuat::from_rotation_x(0.5), one),
        ],
        pose: vec![
            local(0.0, DQuat::from_rotation_y(0.4), [1.2, 1.0, 0.9]),
            local(4.0, DQuat::from_rotation_z(0.9), [1.5, 0.8, 1.1]),
            local(3.0, DQuat::from_axis_angle(diagonal, 0.7), [1.0, 1.3, 1.0]),
        ],
    };
    let (_, palette) = two_phase_palette(&tree);
    for (m, h) in
        palette
            .motions()
            .iter()
            .zip([[0.0; 3], [4.8, 0.0, 0.0], [9.5315151759, 1.1426192755, 0.0]])
    {
        assert!(m.inflated_origin.abs_diff_eq(DVec3::from_array(h), 1e-9));
        assert!(m.stretch.abs_diff_eq(m.stretch.transpose(), 1e-14));
    }
    for (p, weights, inflated, posed) in [
        (
            [5.0, 0.5, -0.25],
            [0.0, 1.0, 0.0],
            [6.473768481, 0.5705063922, -0.2475],
            [5.3353719795, 1.386707896, -2.5244709384],
        ),
        (
            [5.0, 0.5, -0.25],
            [0.25, 0.5, 0.25],
            [6.4590125878, 0.7571800141, -0.2362558567],
            [5.8398248916, 0.9970060639, -2.4545394478],
        ),
        (
            [7.5, 1.0, 0.5],
            [0.0, 0.4, 0.6],
            [10.4830229598, 1.1609709556, 0.4979391225],
            [8.0569803024, 4.4464421711, -3.0846072641],
        ),
    ] {
        check_two_phase(&tree, p, weights, Some(inflated), posed);
    }
}

/// A random tree of six joints, its pose with local scales in 1 +- `scales`.
fn random_tree(random: &mut Random, scales: f64, move_joints: bool) -> Tree {
    let mut tree = Tree {
        parents: (0..6)
            .map(|j: usize| {
                j.checked_sub(1)
                    .map(|top| (random.next() * top as f64).round() as usize)
            })
            .collect(),
        bind: Vec::new(),
        pose: Vec::new(),
    };
    for _ in 0..6 {
        let t = random.vector(2.0);
        tree.bind.push(Local(t, random.rotation(), DVec3::ONE));
        let t = if move_joints {
            t + random.vector(0.5)
        } else {
            t
        };
        tree.pose.push(Local(
            t,
            random.rotation(),
            DVec3::ONE + random.vector(scales),
        ));
    }
    tree
}

fn random_row(random: &mut Random) -> Row {
    let weights: Vec<f64> = (0..4).map(|_| random.next() + 0.01).collect();
    let sum: f64 = weights.iter().sum();
    let first = (random.next() * 3.0) as usize;
    weights
        .into_iter()
        .enumerate()
        .map(|(i, w)| (first + i, w / sum))
        .collect()
}

#[test]
fn seed_004_check_i_uniform_root_scale_is_a_scaling_of_plain_dqs() {
    let mut random = Random::new(20);
    for _ in 0..50 {
        let mut tree = random_tree(&mut random, 0.0, true);
        let (_, plain) = two_phase_palette(&tree);
        tree.pose[0].2 = DVec3::splat(2.5);
        let (_, scaled) = two_phase_palette(&tree);
        let root = tree.pose[0].0;
        let (p, row) = (random.vector(3.0), random_row(&mut random));
        let expected = root + 2.5 * (skin_f64(p, &row, &plain).1 - root);
        assert!(skin_f64(p, &row, &scaled).1.abs_diff_eq(expected, 1e-11));
    }
}

#[test]
fn seed_004_check_iii_without_scale_nothing_inflates_and_plain_dqs_remains() {
    let mut random = Random::new(21);
    for _ in 0..50 {
        let tree = random_tree(&mut random, 0.0, true);
        let (_, palette) = two_phase_palette(&tree);
        assert!(!palette.inflates());
        let motions: Vec<Rigid> = tree
            .two_phase()
            .skin_matrices
            .iter()
            .map(Rigid::from_matrix)
            .collect();
        let (p, row) = (random.vector(3.0), random_row(&mut random));
        assert!(
            skin_f64(p, &row, &palette)
                .1
                .abs_diff_eq(reference::dqs(p, &row, &motions), 1e-11)
        );
    }
}

#[test]
fn seed_004_check_iv_points_of_one_bone_move_with_the_node_matrix() {
    let mut random = Random::new(22);
    for _ in 0..50 {
        let tree = random_tree(&mut random, 0.6, true);
        let (_, palette) = two_phase_palette(&tree);
        assert!(palette.inflates());
        let skin_matrices = tree.two_phase().skin_matrices;
        for (j, skin_matrix) in skin_matrices.iter().enumerate() {
            let p = random.vector(3.0);
            let expected = skin_matrix.transform_point3(p);
            assert!(
                skin_f64(p, &vec![(j, 1.0)], &palette)
                    .1
                    .abs_diff_eq(expected, 1e-11)
            );
            let m = &palette.motions()[j];
            assert!(m.stretch.abs_diff_eq(m.stretch.transpose(), 1e-13));
            assert!((m.rigid() * m.inflation()).abs_diff_eq(*skin_matrix, 1e-11));
        }
        let row = random_row(&mut random);
        let p = random.vector(3.0);
        let expected = tree.two_phase().skin(p, &row);
        assert!(skin_f64(p, &row, &palette).1.abs_diff_eq(expected, 1e-10));
    }
}

#[test]
fn seed_004_an_unbound_joint_between_two_bound_ones_still_inflates_its_child() {
    for (scale, end) in [([1.0; 3], 8.0), ([2.0, 1.0, 1.0], 12.0), ([1.5; 3], 10.0)] {
        let tree = chain_of_three(DVec3::from_array(scale));
        let (skeleton, bind) = bind_tree(&tree, &[true, false, true]);
        let mut palette = SkinPalette::default();
        bind.pose(
            &world(&skeleton, &tree.pose),
            Stretch::Inflate,
            &mut palette,
        );
        assert!((palette.motions()[2].inflated_origin.x - end).abs() < 1e-12);
        let (_, all_bound) = two_phase_palette(&tree);
        for (a, b) in palette.motions().iter().zip(all_bound.motions()) {
            assert!(a.stretch.abs_diff_eq(b.stretch, 1e-12));
            assert!(a.inflated_origin.abs_diff_eq(b.inflated_origin, 1e-12));
        }
    }
}

#[test]
fn seed_004_scale_dropped_keeps_rotations_and_the_joints_positions() {
    let mut random = Random::new(23);
    let tree = random_tree(&mut random, 0.6, true);
    let (skeleton, bind) = bind_tree(&tree, &[true; 6]);
    let posed = world(&skeleton, &tree.pose);
    let mut palette = SkinPalette::default();
    bind.pose(&posed, Stretch::Drop, &mut palette);
    assert!(!palette.inflates());
    let reference = tree.two_phase();
    for (j, m) in palette.motions().iter().enumerate() {
        assert!(
            m.rigid()
                .transform_point3(m.origin)
                .abs_diff_eq(posed[j].translation, 1e-12)
        );
        assert!(m.rotation.dot(reference.motions[j].rotation).abs() > 1.0 - 1e-12);
    }
}

#[test]
fn seed_004_the_unit_of_a_file_does_not_show() {
    // The same character in metres, and in centimetres under an armature scaled by 0.01.
    let mut random = Random::new(24);
    let tree = random_tree(&mut random, 0.3, false);
    let (skeleton, palette) = two_phase_palette(&tree);
    let rest = Pose::rest(&skeleton).world_matrices(&skeleton);
    let unit = DAffine3::from_scale(DVec3::splat(0.01));
    let inverse_bind: Vec<DAffine3> = rest.iter().map(|w| w.inverse() * unit).collect();
    let joints: Vec<JointId> = (0..6).map(JointId).collect();
    let bind = SkinBind::new(&skeleton, &joints, &inverse_bind, &[true; 6], &rest);
    assert!((bind.unit_scale() - 0.01).abs() < 1e-14);
    let mut in_centimetres = SkinPalette::default();
    bind.pose(&rest, Stretch::Inflate, &mut in_centimetres);
    assert!(!in_centimetres.inflates());
    bind.pose(
        &world(&skeleton, &tree.pose),
        Stretch::Inflate,
        &mut in_centimetres,
    );
    let (p, row) = (random.vector(2.0), random_row(&mut random));
    let expected = skin_f64(p, &row, &palette).1;
    assert!(
        skin_f64(p * 100.0, &row, &in_centimetres)
            .1
            .abs_diff_eq(expected, 1e-11)
    );
    let chunks = cook(&influences(std::slice::from_ref(&row)));
    let out = skin(&[(p * 100.0).as_vec3()], &chunks, &in_centimetres, dqs);
    assert_close("centimetres", &out, &[expected]);
    let linear = tree.two_phase().skin_matrices;
    let out = skin(&[(p * 100.0).as_vec3()], &chunks, &in_centimetres, lbs);
    assert_close("centimetres", &out, &[reference::lbs(p, &row, &linear)]);
}

#[test]
fn seed_004_a_scale_vector_could_not_hold_the_stretch() {
    // S = (2, 1, 1) above a rotation of 45 degrees.
    let a = DMat3::from_diagonal(DVec3::new(2.0, 1.0, 1.0)) * DMat3::from_rotation_z(-PI / 4.0);
    let (_, p) = polar(a);
    assert!((p.x_axis.x - 1.5).abs() < 1e-14 && (p.x_axis.y.abs() - 0.5).abs() < 1e-14);
}

#[test]
fn all_joints_of_a_skeleton_bind_where_they_rest() {
    let mut random = Random::new(25);
    let tree = random_tree(&mut random, 0.0, false);
    let (skeleton, bind) = bind_tree(&tree, &[true; 6]);
    assert_eq!(bind_all(&skeleton), bind);
    let rest = Pose::rest(&skeleton).world_matrices(&skeleton);
    for (j, world) in rest.iter().enumerate() {
        assert!(bind.origin(j).abs_diff_eq(world.translation, 1e-12));
    }
}
