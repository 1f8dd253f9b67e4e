//! The kernels against the f64 reference, and the promises of `skinning`: same bits, no panics, finite palettes.

use crate::npy::read_npy;
use crate::reference::cylinder::{Cylinder, pose};
use crate::reference::{self, Rigid, Row};
use crate::shared::shared_dir;
use crate::skins::{assert_close, cook, influences, palette_of, skeleton, skin, to_f32};
use glam::{DAffine3, DMat3, DQuat, DVec3, Mat3, Quat, Vec3};
use rayon::prelude::*;
use sinew::math::Transform;
use sinew::skeleton::{JointId, Pose};
use sinew::skinning::{
    Backend, CHUNK, Motion, SkinBind, SkinError, SkinInput, SkinPalette, Stretch, add_rotated,
    blended_linear, blended_rotations, dqs, dqs_with_normals, inflate, inflate_with_normals, lbs,
    lbs_with_normals, rotation_of_linear,
};

const BACKENDS: [Backend; 2] = [Backend::Avx2, Backend::Portable];

fn rigid(skin_matrices: &[DAffine3]) -> Vec<Rigid> {
    skin_matrices.iter().map(Rigid::from_matrix).collect()
}

#[test]
fn both_backends_agree_with_the_reference_on_the_cylinder() {
    let shape = Cylinder::new();
    let chunks = cook(&influences(&shape.rows));
    let positions = to_f32(&shape.positions);
    let normals: Vec<DVec3> = shape
        .positions
        .iter()
        .map(|p| DVec3::new(0.0, p.y, p.z).normalize_or(DVec3::X))
        .collect();
    let normals_f32 = to_f32(&normals);
    for (bend, twist) in [(90.0, 0.0), (60.0, 45.0), (0.0, 170.0), (-150.0, 30.0)] {
        let matrices = pose(bend, twist);
        let palette = palette_of(&matrices);
        assert!(!palette.inflates());
        let motions = rigid(&matrices);
        let each = |f: &dyn Fn(DVec3, &Row) -> DVec3, from: &[DVec3]| -> Vec<DVec3> {
            from.iter()
                .zip(&shape.rows)
                .map(|(&p, r)| f(p, r))
                .collect()
        };
        let expected_lbs = each(&|p, r| reference::lbs(p, r, &matrices), &shape.positions);
        let expected_dqs = each(&|p, r| reference::dqs(p, r, &motions), &shape.positions);
        let lbs_normals = each(&|n, r| reference::lbs_normal(n, r, &matrices), &normals);
        let dqs_normals = each(&|n, r| reference::dqs_rotation(r, &motions) * n, &normals);
        for backend in BACKENDS {
            let what = |kind: &str| format!("{kind} {backend:?} bend {bend} twist {twist}");
            let run = |kernel: &dyn Fn(&SkinInput<'_>, &mut [Vec3])| {
                skin(&positions, &chunks, &palette, |i, out| {
                    kernel(&i.on(backend), out);
                })
            };
            assert_close(&what("lbs"), &run(&lbs), &expected_lbs);
            assert_close(&what("dqs"), &run(&dqs), &expected_dqs);

            let mut out = vec![Vec3::ZERO; positions.len()];
            let mut out_normals = out.clone();
            let mut rotations = vec![Quat::IDENTITY; positions.len()];
            for kind in ["lbs", "dqs"] {
                for (c, chunk) in chunks.iter().enumerate() {
                    let range = c * CHUNK..c * CHUNK + chunk.n_points();
                    let input = SkinInput::new(&positions[range.clone()], chunk, &palette).unwrap();
                    let input = input.on(backend);
                    let (out, out_n) = (&mut out[range.clone()], &mut out_normals[range.clone()]);
                    if kind == "lbs" {
                        lbs_with_normals(&input, &normals_f32[range.clone()], out, out_n);
                    } else {
                        dqs_with_normals(&input, &normals_f32[range.clone()], out, out_n);
                        blended_rotations(&input, &mut rotations[range]);
                    }
                }
                let (p, n) = match kind {
                    "lbs" => (&expected_lbs, &lbs_normals),
                    _ => (&expected_dqs, &dqs_normals),
                };
                assert_close(&what(kind), &out, p);
                assert_close(&what("normals"), &out_normals, n);
            }
            for (q, row) in rotations.iter().zip(&shape.rows) {
                let expected = reference::dqs_rotation(row, &motions);
                assert!(q.as_dquat().dot(expected).abs() > 1.0 - 1e-6);
                assert!((q.length() - 1.0).abs() < 1e-6);
            }
            displaced_points_follow_their_rotations(
                &positions,
                &shape.rows,
                &palette,
                &motions,
                backend,
            );
        }
    }
}

/// Adds displacements to some points of a shape: those move by R d, the others keep their bits.
fn displaced_points_follow_their_rotations(
    positions: &[Vec3],
    rows: &[Row],
    palette: &SkinPalette,
    motions: &[Rigid],
    backend: Backend,
) {
    let is_moved = |p: usize| p % 40 < 21 && p % 3 != 1;
    let moved = |p: usize| Vec3::new(0.03, -0.02, 0.01) * (1.0 + p as f32 * 1e-3);
    // One point has no influences, among others that have.
    let free = 42;
    let mut bare = rows.to_vec();
    bare[free].clear();
    for (c, chunk) in cook(&influences(&bare)).iter().enumerate() {
        let first = c * CHUNK;
        let range = first..first + chunk.n_points();
        let displacements = range
            .clone()
            .map(|p| if is_moved(p) { moved(p) } else { Vec3::ZERO });
        let displacements: Vec<Vec3> = displacements.collect();
        let mut shape = positions[range.clone()].to_vec();
        let input = SkinInput::new(&positions[range.clone()], chunk, palette).unwrap();
        add_rotated(&input.on(backend), &displacements, &mut shape);
        for (p, v) in range.zip(shape) {
            let rotation = if bare[p].is_empty() {
                DQuat::IDENTITY
            } else {
                reference::dqs_rotation(&bare[p], motions)
            };
            let expected = positions[p].as_dvec3() + rotation * moved(p).as_dvec3();
            if is_moved(p) {
                assert!(v.as_dvec3().distance(expected) < 1e-6, "{p}, {backend:?}");
            } else {
                assert_eq!(v, positions[p], "{p}, {backend:?}");
            }
        }
    }
}

/// Deterministic numbers in 0..1.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(crate) fn vector(&mut self, size: f64) -> DVec3 {
        DVec3::from_array([0; 3].map(|_| (2.0 * self.next() - 1.0) * size))
    }

    pub(crate) fn rotation(&mut self) -> DQuat {
        let q = [0; 4].map(|_| self.next() - 0.5);
        sinew::math::transform::normalize_or_identity(DQuat::from_array(q))
    }
}

/// 3000 points with 0 to 11 influences of 40 joints.
fn random_mesh(random: &mut Random) -> (Vec<Vec3>, Vec<Row>) {
    let positions = (0..3000).map(|_| random.vector(1.0).as_vec3()).collect();
    let rows = (0..3000)
        .map(|p| {
            let mut row: Row = (0..p % 12)
                .map(|k| ((p / 7 + 5 * k) % 40, random.next() + 0.01))
                .collect();
            let sum: f64 = row.iter().map(|r| r.1).sum();
            for r in &mut row {
                r.1 /= sum;
            }
            row
        })
        .collect();
    (positions, rows)
}

fn random_motions(random: &mut Random) -> Vec<DAffine3> {
    (0..40)
        .map(|_| DAffine3::from_rotation_translation(random.rotation(), random.vector(1.0)))
        .collect()
}

#[test]
fn random_rotations_take_the_testing_kernel_and_equal_the_pivot_rule() {
    let mut random = Random::new(1);
    let (positions, rows) = random_mesh(&mut random);
    let chunks = cook(&influences(&rows));
    for _ in 0..5 {
        let matrices = random_motions(&mut random);
        let palette = palette_of(&matrices);
        let motions = rigid(&matrices);
        let expected: Vec<(DVec3, DVec3)> = positions
            .iter()
            .zip(&rows)
            .map(|(p, row)| match row.len() {
                0 => (p.as_dvec3(), p.as_dvec3()),
                _ => (
                    reference::lbs(p.as_dvec3(), row, &matrices),
                    reference::dqs(p.as_dvec3(), row, &motions),
                ),
            })
            .collect();
        let (expected_lbs, expected_dqs): (Vec<_>, Vec<_>) = expected.into_iter().unzip();
        for backend in BACKENDS {
            let posed = skin(&positions, &chunks, &palette, |i, out| {
                lbs(&i.on(backend), out);
            });
            assert_close("lbs", &posed, &expected_lbs);
            // Blends of nearly opposed rotations lose a digit: |b0| is as small as the largest weight.
            let posed = skin(&positions, &chunks, &palette, |i, out| {
                dqs(&i.on(backend), out);
            });
            for ((a, e), row) in posed.iter().zip(&expected_dqs).zip(&rows) {
                let pivot = row.iter().fold(1e-3, |m, r| f64::max(m, r.1));
                let error = (a.as_dvec3() - *e).abs().max_element();
                assert!(error < 2e-6 / pivot.min(1.0), "{error:e} {row:?}");
            }
        }
    }
}

#[test]
fn the_sign_free_kernel_has_the_bits_of_the_testing_one() {
    let mut random = Random::new(2);
    let (positions, rows) = random_mesh(&mut random);
    let influences = influences(&rows);
    let chunks = cook(&influences);
    // Every rotation within 80 degrees of the first: no pair is opposed, and no sign is ever needed.
    let mut matrices: Vec<DAffine3> = (0..40)
        .map(|_| {
            let axis = random.vector(1.0).normalize_or(DVec3::X);
            let q = DQuat::from_axis_angle(axis, random.next() * 1.39);
            DAffine3::from_rotation_translation(q, random.vector(1.0))
        })
        .collect();
    let calm = palette_of(&matrices);
    let posed = skin(&positions, &chunks, &calm, dqs);
    // Down a chain of 0, 170 and 340 degrees each joint is on its parent's hemisphere, but not on its grandparent's:
    // the last point of each chunk follows both ends and makes its chunk test.
    for degrees in [0.0, 170.0, 340.0] {
        matrices.push(DAffine3::from_quat(DQuat::from_rotation_x(
            f64::to_radians(degrees),
        )));
    }
    let mut tested_rows = rows;
    for chunk in 0..3 {
        let last = (chunk * CHUNK + CHUNK - 1).min(tested_rows.len() - 1);
        tested_rows[last] = vec![(40, 0.4), (42, 0.6)];
    }
    let tested = palette_of(&matrices);
    let tested_chunks = cook(&super::skins::influences(&tested_rows));
    let posed_tested = skin(&positions, &tested_chunks, &tested, dqs);
    let motions = rigid(&matrices);
    for (i, (a, b)) in posed.iter().zip(&posed_tested).enumerate() {
        if tested_rows[i].first() == Some(&(40, 0.4)) {
            let expected = reference::dqs(positions[i].as_dvec3(), &tested_rows[i], &motions);
            assert!(b.as_dvec3().abs_diff_eq(expected, 1e-6));
        } else {
            assert_eq!(a, b, "point {i}");
        }
    }
}

#[test]
fn any_number_of_threads_and_any_single_chunk_gives_the_same_bits() {
    let mut random = Random::new(3);
    let (positions, rows) = random_mesh(&mut random);
    let chunks = cook(&influences(&rows));
    let mut matrices = random_motions(&mut random);
    matrices[7] *= DAffine3::from_scale(DVec3::new(2.0, 1.0, 0.5));
    let palette = palette_of(&matrices);
    assert!(palette.inflates());
    for kernel in [lbs, dqs, inflate] {
        let serial = skin(&positions, &chunks, &palette, kernel);
        for n_threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(n_threads)
                .build()
                .unwrap();
            let mut parallel = vec![Vec3::ZERO; positions.len()];
            pool.install(|| {
                (
                    parallel.par_chunks_mut(CHUNK),
                    positions.par_chunks(CHUNK),
                    &chunks,
                )
                    .into_par_iter()
                    .for_each(|(out, positions, chunk)| {
                        kernel(&SkinInput::new(positions, chunk, &palette).unwrap(), out);
                    });
            });
            assert_eq!(parallel, serial, "{n_threads} threads");
        }
        let mut alone = vec![Vec3::ZERO; CHUNK];
        let input = SkinInput::new(&positions[CHUNK..2 * CHUNK], &chunks[1], &palette).unwrap();
        kernel(&input, &mut alone);
        assert_eq!(alone, serial[CHUNK..2 * CHUNK]);
    }
}

#[test]
fn inflating_first_and_then_moving_rigidly_is_what_dqs_does_in_one_call() {
    let mut random = Random::new(4);
    let (positions, rows) = random_mesh(&mut random);
    let chunks = cook(&influences(&rows));
    let matrices: Vec<DAffine3> = random_motions(&mut random)
        .into_iter()
        .map(|m| m * DAffine3::from_scale(DVec3::splat(0.5) + random.vector(0.3)))
        .collect();
    let palette = palette_of(&matrices);
    let whole = skin(&positions, &chunks, &palette, dqs);
    let inflated = skin(&positions, &chunks, &palette, inflate);
    for (c, chunk) in chunks.iter().enumerate() {
        let range = c * CHUNK..c * CHUNK + chunk.n_points();
        let input = SkinInput::new(&positions[range.clone()], chunk, &palette).unwrap();
        let input = input.with_inflated(&inflated[range.clone()]).unwrap();
        let mut out = vec![Vec3::ZERO; chunk.n_points()];
        dqs(&input, &mut out);
        assert_eq!(out, whole[range]);
    }
}

#[test]
fn points_without_influences_stay_where_they_are_under_any_unit() {
    let rest = Transform::from_trs(DVec3::X, DQuat::from_rotation_y(1.0), DVec3::splat(100.0));
    let skeleton = skeleton(&[None], &[rest]);
    let world = Pose::rest(&skeleton).world_matrices(&skeleton);
    // The mesh is in a unit of its own: bound at the identity, drawn a hundred times as large.
    let bind = SkinBind::new(
        &skeleton,
        &[JointId(0)],
        &[DAffine3::IDENTITY],
        &[true],
        &world,
    );
    assert!((bind.unit_scale() - 100.0).abs() < 1e-9);
    let mut palette = SkinPalette::default();
    bind.pose(&world, Stretch::Inflate, &mut palette);
    assert!(!palette.inflates());
    let positions = [Vec3::new(0.01, 0.02, 0.03); 2];
    let chunks = cook(&influences(&[vec![], vec![(0, 1.0)]]));
    for kernel in [lbs, dqs] {
        let out = skin(&positions, &chunks, &palette, kernel);
        assert_eq!(out[0], positions[0]);
        let expected = world[0].transform_point3(positions[1].as_dvec3());
        assert_close("unit", &out[1..], &[expected]);
    }
}

#[test]
fn inputs_that_do_not_fit_are_named() {
    let palette = palette_of(&[DAffine3::IDENTITY; 2]);
    let chunks = cook(&influences(&[vec![(2, 1.0)]]));
    assert_eq!(
        SkinInput::new(&[Vec3::ZERO], &chunks[0], &palette).err(),
        Some(SkinError::JointOutOfRange {
            joint: 2,
            n_joints: 2
        })
    );
    assert_eq!(
        SkinInput::new(&[], &chunks[0], &palette).err(),
        Some(SkinError::LengthMismatch {
            n_positions: 0,
            n_rows: 1
        })
    );
    // No joint at all: nothing moves, nothing fails.
    let chunks = cook(&influences(&[vec![]]));
    let palette = SkinPalette::default();
    let input = SkinInput::new(&[Vec3::ONE], &chunks[0], &palette).unwrap();
    let mut out = [Vec3::ZERO];
    dqs(&input, &mut out);
    assert_eq!(out, [Vec3::ONE]);
}

#[test]
fn absurd_matrices_leave_the_palette_finite() {
    let rest = [
        Transform::from_trs(DVec3::X, DQuat::IDENTITY, DVec3::ONE),
        Transform::from_trs(
            DVec3::Y,
            DQuat::from_rotation_z(0.3),
            DVec3::new(0.0, 1.0, 1.0),
        ),
        Transform::from_trs(DVec3::Z, DQuat::IDENTITY, DVec3::new(-1.0, 1.0, 1.0)),
        Transform::from_trs(DVec3::ONE, DQuat::IDENTITY, DVec3::ONE),
    ];
    let skeleton = skeleton(&[None, Some(0), Some(1), Some(2)], &rest);
    let world = Pose::rest(&skeleton).world_matrices(&skeleton);
    let joints = [0, 1, 2, 3, 3].map(JointId);
    let absurd = [
        DAffine3::from_mat3(DMat3::ZERO),
        DAffine3::from_scale(DVec3::splat(1e300)),
        DAffine3::from_scale(DVec3::splat(1e-300)),
        DAffine3::from_mat3_translation(
            DMat3::from_cols(DVec3::ONE, DVec3::ONE, DVec3::X),
            DVec3::splat(1e308),
        ),
        DAffine3::from_translation(DVec3::splat(f64::NAN)),
        DAffine3::from_mat3(DMat3::from_diagonal(DVec3::new(1.0, 1e-38, 1e38))),
        DAffine3::from_mat3_translation(
            DMat3::from_diagonal(DVec3::new(1.0, 1.0, 1e-40)),
            DVec3::ONE,
        ),
    ];
    for rotation in 0..absurd.len() {
        let inverse_bind: Vec<DAffine3> = (0..5)
            .map(|k| absurd[(k + rotation) % absurd.len()])
            .collect();
        for bound in [[true; 5], [false; 5], [false, true, false, false, true]] {
            let bind = SkinBind::new(&skeleton, &joints, &inverse_bind, &bound, &world);
            assert!(bind.unit_scale().is_finite() && bind.unit_scale() > 0.0);
            for stretch in [Stretch::Inflate, Stretch::Drop] {
                let mut palette = SkinPalette::default();
                bind.pose(&world, stretch, &mut palette);
                let chunks = cook(&influences(&[(0..5).map(|j| (j, 0.2)).collect()]));
                for kernel in [lbs, dqs] {
                    let out = skin(&[Vec3::ONE], &chunks, &palette, kernel);
                    assert!(out[0].is_finite(), "{inverse_bind:?} {bound:?}: {}", out[0]);
                }
            }
        }
    }
}

#[test]
fn a_flattened_bind_matrix_still_moves_its_points_as_gltf_does() {
    let rest = Transform::from_trs(DVec3::X, DQuat::from_rotation_z(0.4), DVec3::ONE);
    let skeleton = skeleton(&[None, Some(0)], &[rest, rest]);
    let world = Pose::rest(&skeleton).world_matrices(&skeleton);
    let flat = DAffine3::from_mat3_translation(
        DMat3::from_diagonal(DVec3::new(1.0, 1.0, 0.0)),
        DVec3::new(0.1, 0.2, 0.3),
    );
    let joints = [JointId(0), JointId(1)];
    let inverse_bind = [world[0].inverse(), flat];
    let bind = SkinBind::new(&skeleton, &joints, &inverse_bind, &[true; 2], &world);
    let mut palette = SkinPalette::default();
    bind.pose(&world, Stretch::Inflate, &mut palette);
    let p = DVec3::new(0.5, -0.25, 2.0);
    let chunks = cook(&influences(&[vec![(1, 1.0)]]));
    for kernel in [lbs, dqs] {
        let out = skin(&[p.as_vec3()], &chunks, &palette, kernel);
        let expected = (world[1] * flat).transform_point3(p);
        assert_close("flat", &out, &[expected]);
    }
}

#[test]
fn normals_of_the_inflated_shape_turn_with_the_blended_rotation() {
    let mut random = Random::new(5);
    let (positions, rows) = random_mesh(&mut random);
    let chunks = cook(&influences(&rows));
    let normals: Vec<Vec3> = positions.iter().map(|p| p.normalize_or(Vec3::X)).collect();
    let matrices: Vec<DAffine3> = random_motions(&mut random)
        .into_iter()
        .map(|m| m * DAffine3::from_scale(DVec3::ONE + random.vector(0.3)))
        .collect();
    let palette = palette_of(&matrices);
    let stretches: Vec<DAffine3> = palette.motions().iter().map(Motion::inflation).collect();
    let motions: Vec<Rigid> = palette
        .motions()
        .iter()
        .map(|m| Rigid {
            rotation: m.rotation,
            translation: m.translation,
        })
        .collect();
    for (c, chunk) in chunks.iter().enumerate() {
        let range = c * CHUNK..c * CHUNK + chunk.n_points();
        let input = SkinInput::new(&positions[range.clone()], chunk, &palette).unwrap();
        let mut out = vec![Vec3::ZERO; chunk.n_points()];
        let (mut out_normals, mut inflated) = (out.clone(), out.clone());
        let mut linear = vec![Mat3::IDENTITY; chunk.n_points()];
        dqs_with_normals(&input, &normals[range.clone()], &mut out, &mut out_normals);
        inflate_with_normals(&input, &normals[range.clone()], &mut out, &mut inflated);
        blended_linear(&input, &mut linear);
        for (i, point) in range.enumerate() {
            let (n, row) = (normals[point].as_dvec3(), &rows[point]);
            if row.is_empty() {
                assert_eq!(
                    (out_normals[i], linear[i]),
                    (normals[point], Mat3::IDENTITY)
                );
                continue;
            }
            let n = reference::lbs_normal(n, row, &stretches);
            assert!(inflated[i].as_dvec3().abs_diff_eq(n, 2e-6));
            // Blends of nearly opposed rotations lose digits.
            let expected = reference::dqs_rotation(row, &motions) * n;
            assert!(out_normals[i].as_dvec3().abs_diff_eq(expected, 3e-5));
            let mut blended = DMat3::ZERO;
            for &(j, w) in row {
                blended += matrices[j].matrix3 * w;
            }
            assert!(linear[i].as_dmat3().abs_diff_eq(blended, 1e-6));
        }
    }
    let q = random.rotation();
    let back = rotation_of_linear(DMat3::from_quat(q).as_mat3() * 3.0);
    assert!(back.as_dquat().dot(q).abs() > 1.0 - 1e-6);
}

#[test]
fn fixtures_of_junction_and_fork_come_out_as_expected() {
    let Some(shared) = shared_dir("junction and fork") else {
        return;
    };
    for name in ["junction_h20", "junction_h10", "fork_h150", "fork_h075"] {
        let folder = shared.join("fixtures").join(name);
        let (positions, rows) = read_mesh(&folder);
        let (shape, values) = read_npy(&folder.join("skin_matrices.npy"));
        let matrices: Vec<DAffine3> = (0..shape[0])
            .map(|j| {
                let m: [f64; 16] = values[16 * j..16 * j + 16].try_into().unwrap();
                DAffine3::from_mat4(glam::DMat4::from_cols_array(&m).transpose())
            })
            .collect();
        let expected = |kind: &str| read_points(&folder.join(format!("expected_{kind}.npy")));
        check_fixture(
            name,
            &positions,
            &rows,
            &matrices,
            Some(&expected("lbs")),
            &expected("dqs"),
        );
    }
}

#[test]
fn the_bumpy_arm_comes_out_as_expected() {
    let Some(shared) = shared_dir("bumpy arm") else {
        return;
    };
    let folder = shared.join("fixtures/bumpy_arm");
    let (positions, rows) = read_mesh(&folder);
    let text = std::fs::read_to_string(folder.join("fixture.json")).unwrap();
    let fixture: serde_json::Value = serde_json::from_str(&text).unwrap();
    for pose in ["bend60", "bend90", "twist150"] {
        let number = |kind: &str, j: usize, k: usize| fixture[kind][pose][j][k].as_f64().unwrap();
        let matrices = [0, 1].map(|j| {
            let [w, x, y, z] = [0, 1, 2, 3].map(|k| number("rotations", j, k));
            let t = DVec3::from_array([0, 1, 2].map(|k| number("translations", j, k)));
            DAffine3::from_rotation_translation(DQuat::from_xyzw(x, y, z, w), t)
        });
        let expected = read_points(&folder.join(format!("expected_dqs_{pose}.npy")));
        check_fixture(pose, &positions, &rows, &matrices, None, &expected);
    }
}

fn read_points(path: &std::path::Path) -> Vec<DVec3> {
    let (_, values) = read_npy(path);
    values.chunks(3).map(DVec3::from_slice).collect()
}

fn read_mesh(folder: &std::path::Path) -> (Vec<DVec3>, Vec<Row>) {
    let (shape, weights) = read_npy(&folder.join("weights.npy"));
    let rows = weights
        .chunks(shape[1])
        .map(|w| {
            w.iter()
                .copied()
                .enumerate()
                .filter(|r| r.1 > 0.0)
                .collect()
        })
        .collect();
    (read_points(&folder.join("positions.npy")), rows)
}

fn check_fixture(
    name: &str,
    positions: &[DVec3],
    rows: &[Row],
    matrices: &[DAffine3],
    expected_lbs: Option<&[DVec3]>,
    expected_dqs: &[DVec3],
) {
    let motions = rigid(matrices);
    assert!(!positions.is_empty(), "{name}");
    assert_eq!([rows.len(), expected_dqs.len()], [positions.len(); 2]);
    for ((p, row), e) in positions.iter().zip(rows).zip(expected_dqs) {
        assert!(
            reference::dqs(*p, row, &motions).abs_diff_eq(*e, 1e-9),
            "{name}"
        );
    }
    let chunks = cook(&influences(rows));
    let palette = palette_of(matrices);
    let positions = to_f32(positions);
    for backend in BACKENDS {
        let run = |kernel: fn(&SkinInput<'_>, &mut [Vec3])| {
            skin(&positions, &chunks, &palette, |i, out| {
                kernel(&i.on(backend), out);
            })
        };
        assert_close(name, &run(dqs), expected_dqs);
        if let Some(expected) = expected_lbs {
            assert_close(name, &run(lbs), expected);
        }
    }
}
