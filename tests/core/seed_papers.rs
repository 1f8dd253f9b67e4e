//! The formulas of the papers and their golden numbers: each test names the paper and the equation.
//!
//! Numbers come from an independent f64 prototype. f64 paths hold them to 1e-9, f32 kernels to 4e-7 (1 + |coordinate|),
//! metrics to 1e-6 (f64) and 1e-4 (f32).

use crate::reference::cylinder::{Cylinder, pose, row_at};
use crate::reference::larger;
use crate::reference::metrics::{COLUMNS, measure};
use crate::reference::{self, Rigid, Row};
use crate::skinning::Random;
use crate::skins::{assert_close, cook, influences, palette_of, skin, to_f32};
use glam::{DAffine3, DQuat, DVec3, Vec3};
use sinew::math::DualQuat;
use sinew::math::dual_quaternion::quat_from_rotation;
use sinew::skinning::{SkinPalette, dqs, lbs};
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_2, PI};

fn motion(rotation: DQuat, t: [f64; 3]) -> DualQuat {
    DualQuat::from_rotation_translation(rotation, DVec3::from_array(t))
}

/// (w, x, y, z | w, x, y, z), as the papers print dual quaternions.
fn assert_dual_quat(actual: DualQuat, expected: [f64; 8], tolerance: f64) {
    let (r, d) = (actual.real, actual.dual);
    for (a, e) in [r.w, r.x, r.y, r.z, d.w, d.x, d.y, d.z]
        .iter()
        .zip(expected)
    {
        assert!((a - e).abs() < tolerance, "{actual:?}\n{expected:?}");
    }
}

fn random_motion(random: &mut Random) -> DualQuat {
    motion(random.rotation(), random.vector(3.0).to_array())
}

/// A point through the f64 motions of a palette: what the kernels compute, without their rounding.
pub(crate) fn skin_f64(p: DVec3, row: &Row, palette: &SkinPalette) -> (DVec3, DVec3) {
    let joints = row.iter().map(|&(j, w)| (&palette.motions()[j], w));
    let scaled = p * palette.unit_scale();
    let inflated = joints
        .clone()
        .map(|(m, w)| m.inflation().transform_point3(scaled) * w)
        .sum();
    let (motions, weights): (Vec<DualQuat>, Vec<f64>) = joints
        .map(|(m, w)| {
            (
                DualQuat::from_rotation_translation(m.rotation, m.translation),
                w,
            )
        })
        .unzip();
    let pivot = (0..weights.len()).fold(0, |p, i| if weights[i] > weights[p] { i } else { p });
    let posed = DualQuat::blend(&weights, &motions, pivot).transform_point3(inflated);
    (inflated, posed)
}

// Seed 002 (Bukatov, Gridchina, Zastavnoy 2014), eq. 3; Shepperd 1978.

#[test]
fn seed_002_eq_3_translation_with_its_signs_corrected_survives_the_round_trip() {
    let mut random = Random::new(10);
    for _ in 0..1000 {
        let (q, t) = (random.rotation(), random.vector(1.0));
        let matrix = DAffine3::from_rotation_translation(q, t);
        let back = DualQuat::from_rigid(matrix).to_affine();
        assert!(back.abs_diff_eq(matrix, 4e-15));
        assert!(quat_from_rotation(matrix.matrix3).dot(q).abs() > 1.0 - 1e-14);
    }
}

// Kavan et al. 2008, dual quaternion linear blending with a pivot.

#[test]
fn kavan_2008_dlb_pivot_is_the_largest_weight_not_the_first_joint() {
    let turns =
        [0.0, 170.0, 260.0].map(|d: f64| motion(DQuat::from_rotation_z(d.to_radians()), [0.0; 3]));
    let angle = |q: DualQuat| {
        let p = q.transform_point3(DVec3::X);
        p.y.atan2(p.x).to_degrees().rem_euclid(360.0)
    };
    let weights = [0.0, 0.5, 0.5];
    assert!((angle(DualQuat::blend(&weights, &turns, 1)) - 215.0).abs() < 1e-9);
    assert!((angle(DualQuat::blend(&weights, &turns, 0)) - 35.0).abs() < 1e-9);
    // The kernels take the pivot from the weights.
    let palette = palette_of(&turns.map(DualQuat::to_affine));
    let chunks = cook(&influences(&[vec![(0, 0.0), (1, 0.5), (2, 0.5)]]));
    let out = skin(&[Vec3::X], &chunks, &palette, dqs);
    let expected = DQuat::from_rotation_z(215f64.to_radians()) * DVec3::X;
    assert_close("215 degrees", &out, &[expected]);
}

// Seed 003 (Feng & Wan 2013), eqs. 9 - 11.

#[test]
fn seed_003_eqs_9_to_11_blending_is_invariant_to_both_frames() {
    let mut random = Random::new(11);
    for trial in 0..500 {
        let n = 2 + trial % 4;
        let motions: Vec<DualQuat> = (0..n)
            .map(|_| {
                let m = random_motion(&mut random);
                if random.next() < 0.5 { -m } else { m }
            })
            .collect();
        let mut weights: Vec<f64> = (0..n).map(|_| random.next() + 0.05).collect();
        let sum: f64 = weights.iter().sum();
        for w in &mut weights {
            *w /= sum;
        }
        let pivot = (0..n).fold(0, |p, i| if weights[i] > weights[p] { i } else { p });
        let blend = |m: &[DualQuat]| DualQuat::blend(&weights, m, pivot).normalized();
        let (left, right) = (random_motion(&mut random), random_motion(&mut random));
        let moved =
            |f: &dyn Fn(DualQuat) -> DualQuat| motions.iter().map(|&m| f(m)).collect::<Vec<_>>();
        let plain = blend(&motions);
        let p = random.vector(1.0);
        for (a, b) in [
            (blend(&moved(&|m| left * m)), left * plain),
            (blend(&moved(&|m| m * right)), plain * right),
            (
                blend(&moved(&|m| left * m * left.conjugate())),
                left * plain * left.conjugate(),
            ),
        ] {
            // Small blends lose digits in proportion.
            let tolerance = 1e-12 / weights[pivot];
            assert!(
                a.transform_point3(p)
                    .abs_diff_eq(b.transform_point3(p), tolerance)
            );
        }
    }
}

// Seed 003, eqs. 16 - 20; Kavan et al. 2008, ScLERP.

#[test]
fn seed_003_sclerp_and_dlb_golden_numbers() {
    let a = motion(DQuat::from_rotation_z(30f64.to_radians()), [1.0, 2.0, 3.0]);
    let axis = DVec3::new(1.0, 1.0, 0.0).normalize_or_zero();
    let b = motion(
        DQuat::from_axis_angle(axis, 100f64.to_radians()),
        [-2.0, 0.5, 4.0],
    );
    let dlb = |t: f64| DualQuat::blend(&[1.0 - t, t], &[a, b], 0).normalized();
    let sclerp_quarter = [
        0.953796243561,
        0.154322039929,
        0.154322039929,
        0.206499737902,
        -0.437855853647,
        0.03203734997,
        0.953820572086,
        1.285646488057,
    ];
    let dlb_quarter = [
        0.955677776769,
        0.146210267975,
        0.146210267975,
        0.20958316265,
        -0.446038833586,
        0.097827262264,
        0.976259552586,
        1.284582580024,
    ];
    let half = [
        0.893485623847,
        0.300848498816,
        0.300848498816,
        0.143749092166,
        -0.308400650664,
        -0.653929180303,
        1.048339019893,
        1.091442994388,
    ];
    assert_dual_quat(a.sclerp(b, 0.25), sclerp_quarter, 1e-9);
    assert_dual_quat(dlb(0.25), dlb_quarter, 1e-9);
    assert_dual_quat(a.sclerp(b, 0.5), half, 1e-9);
    assert_dual_quat(dlb(0.5), half, 1e-9);
    // The ends, and another copy of the same pose.
    let p = DVec3::new(0.3, -2.0, 1.0);
    for (from, to, t, at) in [
        (a, b, 0.0, a),
        (a, b, 1.0, b),
        (a, -a, 0.3, a),
        (a, a, 0.7, a),
        (a, -b, 1.0, b),
    ] {
        let actual = from.sclerp(to, t).transform_point3(p);
        assert!(actual.abs_diff_eq(at.transform_point3(p), 1e-14));
    }
}

#[test]
fn seed_003_sclerp_of_a_half_turn_and_of_almost_nothing() {
    let half_turn = motion(DQuat::from_xyzw(0.0, 0.0, 1.0, 0.0), [2.0, 0.0, 4.0]);
    let middle = motion(DQuat::from_rotation_z(FRAC_PI_2), [1.0, -1.0, 2.0]);
    let blend = DualQuat::blend(&[0.5, 0.5], &[DualQuat::IDENTITY, half_turn], 0);
    for q in [DualQuat::IDENTITY.sclerp(half_turn, 0.5), blend] {
        assert!(q.to_affine().abs_diff_eq(middle.to_affine(), 1e-15));
    }
    let axis = DVec3::new(2.0, -1.0, 0.5).normalize_or_zero();
    for exponent in 1..=12 {
        let q = motion(
            DQuat::from_axis_angle(axis, 10f64.powi(-exponent)),
            [3.0, -5.0, 1.0],
        );
        // Below 1e-10 the rotation is left out.
        let tolerance = if exponent < 10 { 1e-14 } else { 1e-9 };
        let third = DualQuat::IDENTITY.sclerp(q, 1.0 / 3.0);
        let back = third * third * third;
        assert!(
            back.to_affine().abs_diff_eq(q.to_affine(), tolerance),
            "1e-{exponent}"
        );
    }
}

#[test]
fn seed_003_eqs_16_and_17_dlb_follows_the_same_screw_at_another_speed() {
    for (degrees, angle_deviation, fraction_deviation) in [
        (90.0, 0.919, 0.0313),
        (120.0, 2.234, 0.0581),
        (150.0, 4.514, 0.0964),
        (180.0, 8.149, 0.1501),
    ] {
        let angle = f64::to_radians(degrees);
        // A screw about z with pitch: the translation along z shows its fraction.
        let b = motion(DQuat::from_rotation_z(angle), [0.0, 0.0, 1.0]);
        let (mut worst_angle, mut worst_fraction) = (0f64, 0f64);
        for i in 0..=10_000 {
            let t = f64::from(i) / 10_000.0;
            let q = DualQuat::blend(&[1.0 - t, t], &[DualQuat::IDENTITY, b], 0).normalized();
            let x = q.rotation() * DVec3::X;
            worst_angle = larger(worst_angle, (x.y.atan2(x.x) - t * angle).abs().to_degrees());
            worst_fraction = larger(worst_fraction, (q.translation().z - t).abs());
            let half = 0.5 * angle;
            let closed = 2.0 * (t * half.sin()).atan2(1.0 - t + t * half.cos());
            assert!((x.y.atan2(x.x).rem_euclid(2.0 * PI) - closed).abs() < 1e-12);
        }
        assert!(
            (worst_angle - angle_deviation).abs() < 5.1e-4,
            "{worst_angle}"
        );
        assert!(
            (worst_fraction - fraction_deviation).abs() < 5.1e-5,
            "{worst_fraction}"
        );
    }
}

// Kavan et al. 2008 and linear blend skinning on cylinder C: the baselines of all later corrections.

#[test]
fn cylinder_c_weights_are_the_golden_ones() {
    for (x, w) in [
        (-1.0, 0.0562221779605446),
        (-0.5, 0.2136993768107953),
        (-0.25, 0.3457481105879375),
    ] {
        assert!((row_at(x)[1].1 - w).abs() < 1e-15);
        assert!((row_at(-x)[0].1 - w).abs() < 1e-15);
    }
    let shape = Cylinder::new();
    assert_eq!(
        (shape.positions.len(), shape.triangles.len()),
        (12_866, 25_728)
    );
    let volume = reference::metrics::volume(&shape.positions, &shape.triangles);
    assert!((volume - 31.365484905459).abs() < 1e-10, "{volume}");
}

#[test]
fn kavan_2008_cylinder_c_golden_vertices_of_lbs_and_dqs() {
    #[rustfmt::skip]
    let golden = [
        (90.0, 0.0, [-0.5, -1.0, 0.0], [-0.1794509348, -0.8931503116, 0.0], [-0.1604429079, -1.1064619620, 0.0]),
        (90.0, 0.0, [-0.5, 1.0, 0.0], [-0.6068496884, 0.6794509348, 0.0], [-0.7889038248, 0.7922315035, 0.0]),
        (90.0, 0.0, [-0.5, 0.0, 1.0], [-0.3931503116, -0.1068496884, 1.0], [-0.4746733664, -0.1571152292, 1.0]),
        (90.0, 0.0, [0.5, -1.0, 0.0], [0.8931503116, 0.1794509348, 0.0], [1.1064619620, 0.1604429079, 0.0]),
        (90.0, 0.0, [0.25, -0.6, 0.8], [0.4789881613, -0.0438858940, 0.8], [0.6439617150, -0.0883929273, 0.8]),
        (60.0, 0.0, [-0.5, -1.0, 0.0], [-0.2615060667, -0.9856848561, 0.0], [-0.2706769970, -1.0847736922, 0.0]),
        (90.0, 45.0, [-0.5, -1.0, 0.0], [-0.2420420331, -0.8931503116, -0.1511082785], [-0.1891048434, -1.0984045029, -0.0880165106]),
        (90.0, 0.0, [0.0, -1.0, 0.0], [0.5, -0.5, 0.0], [FRAC_1_SQRT_2, -FRAC_1_SQRT_2, 0.0]),
    ];
    for (bend, twist, p, lbs_golden, dqs_golden) in golden {
        let [p, lbs_golden, dqs_golden] = [p, lbs_golden, dqs_golden].map(DVec3::from_array);
        let matrices = pose(bend, twist);
        let row = row_at(p.x);
        let motions = matrices.map(|m| Rigid::from_matrix(&m));
        assert!(reference::lbs(p, &row, &matrices).abs_diff_eq(lbs_golden, 1e-9));
        assert!(reference::dqs(p, &row, &motions).abs_diff_eq(dqs_golden, 1e-9));
        let palette = palette_of(&matrices);
        assert!(skin_f64(p, &row, &palette).1.abs_diff_eq(dqs_golden, 1e-9));
        let chunks = cook(&influences(&[row]));
        let positions = [p.as_vec3()];
        assert_close(
            "lbs",
            &skin(&positions, &chunks, &palette, lbs),
            &[lbs_golden],
        );
        assert_close(
            "dqs",
            &skin(&positions, &chunks, &palette, dqs),
            &[dqs_golden],
        );
    }
}

#[test]
fn kavan_2008_three_bone_golden_vertices() {
    let joint_1 = DAffine3::from_quat(DQuat::from_rotation_z(70f64.to_radians()));
    let at = DAffine3::from_translation(DVec3::new(3.0, 0.0, 0.0));
    let bend_2 =
        at * DAffine3::from_quat(DQuat::from_rotation_y(50f64.to_radians())) * at.inverse();
    let palette = palette_of(&[DAffine3::IDENTITY, joint_1, joint_1 * bend_2]);
    for (p, weights, golden) in [
        (
            [-0.2, -0.8, 0.4],
            [0.5, 0.3, 0.2],
            [0.3506351757, -0.6657550963, 0.9832149058],
        ),
        (
            [2.0, 0.5, -0.9],
            [0.1, 0.6, 0.3],
            [0.3726077403, 1.8278335341, -0.6163747591],
        ),
        (
            [1.0, -1.0, 0.0],
            [0.34, 0.33, 0.33],
            [1.4413682585, 0.1141702263, 0.636288504],
        ),
        (
            [-0.2, -0.8, 0.4],
            [0.7, 0.3, 0.0],
            [0.0945998571, -0.8191769449, 0.4],
        ),
    ] {
        let (p, golden) = (DVec3::from_array(p), DVec3::from_array(golden));
        let row: Row = weights.into_iter().enumerate().collect();
        assert!(skin_f64(p, &row, &palette).1.abs_diff_eq(golden, 1e-9));
        let chunks = cook(&influences(&[row]));
        assert_close(
            "three bones",
            &skin(&[p.as_vec3()], &chunks, &palette, dqs),
            &[golden],
        );
    }
}

#[test]
fn kavan_2008_cylinder_c_tables_of_lbs_and_dqs() {
    #[rustfmt::skip]
    let tables: [(f64, [f64; 10], [f64; 10]); 4] = [
        (30.0,
         [0.028863, 0.090011, 0.023585, 0.016112, 0.028863, -0.034074, 0.000628, 0.995231, 0.064897, 0.108446],
         [0.049736, 0.064008, 0.020878, 0.024875, 0.049736, 0.000000, 0.000678, 0.999992, 0.066115, 0.110695]),
        (60.0,
         [0.025092, 0.256311, 0.058579, 0.043030, 0.021394, -0.133975, 0.001881, 0.982200, 0.121584, 0.201734],
         [0.088772, 0.151379, 0.043576, 0.043358, 0.088772, 0.000000, 0.002583, 0.999969, 0.131505, 0.220520]),
        (90.0,
         [0.017211, 0.506753, 0.106838, 0.104988, 0.005905, -0.292893, 0.002506, 0.964400, 0.155715, 0.251262],
         [0.118846, 0.293735, 0.068681, 0.057050, 0.118846, 0.000000, 0.005359, 0.999928, 0.192518, 0.323468]),
        (120.0,
         [0.008985, 0.850682, 0.208275, 0.189040, 0.000186, -0.500000, 0.001881, 0.946600, 0.167327, 0.251478],
         [0.141112, 0.618010, 0.152885, 0.066784, 0.141112, 0.000000, 0.008489, 0.999868, 0.236824, 0.396201]),
    ];
    let shape = Cylinder::new();
    let chunks = cook(&influences(&shape.rows));
    let positions = to_f32(&shape.positions);
    for (bend, lbs_row, dqs_row) in tables {
        let matrices = pose(bend, 0.0);
        let motions = matrices.map(|m| Rigid::from_matrix(&m));
        let points = || shape.positions.iter().zip(&shape.rows);
        let check = |what: &str, posed: &[DVec3], expected: [f64; 10], tolerance: f64| {
            let actual = measure(&shape, posed, &matrices);
            for ((column, a), e) in COLUMNS.iter().zip(actual.0).zip(expected) {
                assert!(
                    (a - e).abs() < tolerance,
                    "{what} {bend} {column}: {a} not {e}"
                );
            }
        };
        let f64_lbs: Vec<DVec3> = points()
            .map(|(&p, r)| reference::lbs(p, r, &matrices))
            .collect();
        let f64_dqs: Vec<DVec3> = points()
            .map(|(&p, r)| reference::dqs(p, r, &motions))
            .collect();
        check("lbs f64", &f64_lbs, lbs_row, 1e-6);
        check("dqs f64", &f64_dqs, dqs_row, 1e-6);
        let palette = palette_of(&matrices);
        let to_f64 = |posed: Vec<Vec3>| posed.iter().map(|p| p.as_dvec3()).collect::<Vec<_>>();
        check(
            "lbs f32",
            &to_f64(skin(&positions, &chunks, &palette, lbs)),
            lbs_row,
            1e-4,
        );
        check(
            "dqs f32",
            &to_f64(skin(&positions, &chunks, &palette, dqs)),
            dqs_row,
            1e-4,
        );
    }
}
