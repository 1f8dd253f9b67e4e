//! Optimised centres of rotation: binned against every triangle, the kernel against f64.

use crate::editing::EditorHarness;
use crate::reference::centres::{Patch, centre, dense, patches, skin as skin_about};
use crate::reference::cylinder::{Cylinder, pose, row_at};
use crate::reference::fixture::Fixture;
use crate::reference::larger;
use crate::reference::{Rigid, Row, dqs_rotation, metrics};
use crate::skinning::Random;
use crate::skins::{assert_close, bind_all, cook, influences, palette_of, skeleton, to_f32};
use glam::{DAffine3, DMat3, DQuat, DVec3, Vec3};
use sinew::deform::{DeformStack, SkinningMethod};
use sinew::document::{BuiltMesh, Edit, MeshSource, PrimitiveSource};
use sinew::evaluate::ViewId;
use sinew::math::Transform;
use sinew::mesh::Mesh;
use sinew::skeleton::{JointId, Pose};
use sinew::skinning::{
    Backend, CHUNK, Centres, CookedChunk, Influences, Rows, SkinInput, SkinPalette, Stretch,
    centres_of_rotation, centres_of_rotation_with_normals,
};
use sinew::task::{Cancelled, Task};
use std::sync::Arc;

const BACKENDS: [Backend; 2] = [Backend::Avx2, Backend::Portable];

/// A mesh and its influences, and the point of each position.
fn built(
    positions: &[DVec3],
    triangles: &[[usize; 3]],
    rows: &[Row],
) -> (Arc<Mesh>, Influences, Vec<usize>) {
    let rows: Rows = rows
        .iter()
        .map(|row| {
            let pairs = row.iter().map(|&(j, w)| (j as u16, w as f32));
            pairs.filter(|e| e.1 > 0.0).collect()
        })
        .collect();
    let source = MeshSource {
        name: String::new(),
        primitives: vec![PrimitiveSource {
            positions: to_f32(positions),
            triangles: triangles.iter().map(|t| t.map(|v| v as u32)).collect(),
            influences: rows,
            ..PrimitiveSource::default()
        }],
        morph_names: Vec::new(),
    };
    let BuiltMesh {
        mesh, influences, ..
    } = source.build();
    let point_of = mesh.point_of_vertex.iter().map(|&p| p as usize).collect();
    (Arc::new(mesh), influences, point_of)
}

fn centres_of(mesh: &Arc<Mesh>, influences: &Influences) -> Centres {
    Centres::compute(mesh, influences, &Task::new()).unwrap()
}

/// Every point of a mesh through the kernel.
fn skinned(
    mesh: &Mesh,
    chunks: &[CookedChunk],
    centres: &Centres,
    palette: &SkinPalette,
    backend: Backend,
) -> Vec<Vec3> {
    let mut out = vec![Vec3::ZERO; mesh.n_points()];
    for (c, out) in out.chunks_mut(CHUNK).enumerate() {
        let range = c * CHUNK..c * CHUNK + out.len();
        let input = SkinInput::new(&mesh.positions[range], &chunks[c], palette).unwrap();
        centres_of_rotation(&input.on(backend), centres.chunk(c).unwrap(), out);
    }
    out
}

/// A triangle, in as many as it takes that no weights differ by more than .1 along an edge (METHODS 5).
fn small_triangles(positions: &[DVec3], triangle: [usize; 3], weights: &[Vec<f64>]) -> Vec<Patch> {
    let apart = |i: usize, j: usize| -> f64 {
        let [a, b] = [i, j].map(|c| &weights[triangle[c]]);
        let squares = a.iter().zip(b).map(|(a, b)| (a - b).powi(2));
        squares.sum::<f64>().sqrt()
    };
    let n = (apart(0, 1).max(apart(1, 2)).max(apart(2, 0)) / 0.1).ceil() as usize;
    let n = n.max(1);
    let at = |i: usize, j: usize| {
        let (u, v) = (i as f64 / n as f64, j as f64 / n as f64);
        let share = [1.0 - u - v, u, v];
        let p: DVec3 = (0..3).map(|k| positions[triangle[k]] * share[k]).sum();
        let w = (0..weights[0].len()).map(|j| {
            let corners = (0..3).map(|k| weights[triangle[k]][j] * share[k]);
            corners.sum::<f64>()
        });
        (p, w.collect::<Vec<f64>>())
    };
    let mut small = Vec::new();
    for i in 0..n {
        for j in 0..n - i {
            let mut corners = vec![[at(i, j), at(i + 1, j), at(i, j + 1)]];
            if i + j + 1 < n {
                corners.push([at(i + 1, j + 1), at(i, j + 1), at(i + 1, j)]);
            }
            for corners in corners {
                let (p, w): (Vec<DVec3>, Vec<Vec<f64>>) = corners.into_iter().unzip();
                small.extend(patches(&p, &[[0, 1, 2]], &w));
            }
        }
    }
    small
}

/// The largest difference of binned centres from those of every triangle, and of points skinned about them, over
/// every `step`th position.
fn errors(
    positions: &[DVec3],
    triangles: &[[usize; 3]],
    rows: &[Row],
    motions: &[Rigid],
    step: usize,
) -> (f64, f64) {
    let (mesh, influences, point_of) = built(positions, triangles, rows);
    let centres = centres_of(&mesh, &influences);
    let weights: Vec<Vec<f64>> = rows.iter().map(|r| dense(r, motions.len())).collect();
    let all: Vec<Patch> = triangles
        .iter()
        .flat_map(|&t| small_triangles(positions, t, &weights))
        .collect();
    let (mut apart, mut skinned_apart) = (0.0f64, 0.0f64);
    for v in (0..positions.len()).step_by(step) {
        let exact = centre(&weights[v], &all);
        let found = centres
            .centre(point_of[v] as u32)
            .map(|c: Vec3| c.as_dvec3());
        // Points that all but follow one bone move the same about any centre.
        let second = rows[v]
            .iter()
            .map(|r| r.1)
            .fold(1.0, |min, w| if w > 0.0 { f64::min(min, w) } else { min });
        let posed = |c| skin_about(positions[v], &rows[v], c, motions);
        skinned_apart = larger(skinned_apart, posed(exact).distance(posed(found)));
        if let (Some(exact), Some(found)) = (exact, found)
            && second > 1e-4
        {
            apart = larger(apart, exact.distance(found));
        }
    }
    (apart, skinned_apart)
}

/// METHODS 5: binning moves a centre by less than .0063 and a skinned point by less than 9e-5.
#[test]
fn binned_centres_are_near_those_of_every_triangle() {
    let shape = Cylinder::new();
    let motions = pose(90.0, 0.0).map(|m| Rigid::from_matrix(&m));
    // One point in 64: the points of a ring have one centre.
    let (apart, skinned) = errors(
        &shape.positions,
        &shape.triangles,
        &shape.rows,
        &motions,
        64,
    );
    println!("cylinder: centres within {apart:.4}, skinned points within {skinned:.1e}");
    assert!(apart < 0.0063 && skinned < 9e-5, "{apart} {skinned}");
    for name in ["junction_h20", "junction_h10"] {
        let Some(fixture) = Fixture::read(name) else {
            return;
        };
        let (apart, skinned) = errors(
            &fixture.positions,
            &fixture.triangles,
            &fixture.rows,
            &fixture.motions,
            29,
        );
        println!("{name}: centres within {apart:.4}, skinned points within {skinned:.1e}");
        assert!(apart < 0.0063 && skinned < 9e-5, "{name} {apart} {skinned}");
    }
}

/// METHODS 5: the point (-.5, -1, 0) at 90 degrees, about its exact centre and about the binned one.
#[test]
fn the_golden_point_is_met() {
    let golden = DVec3::new(-0.0775923, -1.0553779, 0.0);
    let (p, row) = (DVec3::new(-0.5, -1.0, 0.0), row_at(-0.5));
    let palette = palette_of(&pose(90.0, 0.0));
    let chunks = cook(&influences(&[row]));
    let p = [p.as_vec3()];
    for backend in BACKENDS {
        let input = SkinInput::new(&p, &chunks[0], &palette)
            .unwrap()
            .on(backend);
        let mut out = [Vec3::ZERO];
        centres_of_rotation(&input, &[Vec3::new(-0.508_142_2, 0.0, 0.0)], &mut out);
        assert_close("about the exact centre", &out, &[golden]);
    }
    let shape = Cylinder::new();
    let (mesh, influences, point_of) = built(&shape.positions, &shape.triangles, &shape.rows);
    let centres = centres_of(&mesh, &influences);
    let out = skinned(&mesh, &cook(&influences), &centres, &palette, Backend::Avx2);
    // Ring 90, side 32.
    let out = out[point_of[90 * 64 + 32]].as_dvec3();
    assert!(out.distance(golden) < 9e-5, "{out}");
}

/// The rows "Centres of rotation" of METHODS 6, with f32 kernels and binned centres.
#[test]
fn the_tables_of_centres_are_reproduced() {
    const TABLE: [(f64, [f64; 10]); 4] = [
        (
            30.0,
            [
                0.047622, 0.061966, 0.020148, 0.023838, 0.047622, 0.0, 0.000627, 0.999964,
                0.066530, 0.111529,
            ],
        ),
        (
            60.0,
            [
                0.073205, 0.140722, 0.038444, 0.035882, 0.073205, 0.0, 0.001876, 0.999526,
                0.134165, 0.226208,
            ],
        ),
        (
            90.0,
            [
                0.073792, 0.330372, 0.068086, 0.035370, 0.073792, 0.0, 0.002490, 0.997796,
                0.183383, 0.311543,
            ],
        ),
        (
            120.0,
            [
                0.054233, 0.778043, 0.177093, 0.025551, 0.054233, -0.011070, 0.001853, 0.993602,
                0.205111, 0.349036,
            ],
        ),
    ];
    let shape = Cylinder::new();
    let (mesh, influences, point_of) = built(&shape.positions, &shape.triangles, &shape.rows);
    let centres = centres_of(&mesh, &influences);
    let chunks = cook(&influences);
    let mut worst = 0.0f64;
    for (bend, expected) in TABLE {
        let matrices = pose(bend, 0.0);
        let palette = palette_of(&matrices);
        let out = skinned(&mesh, &chunks, &centres, &palette, Backend::Avx2);
        let posed: Vec<DVec3> = point_of.iter().map(|&p| out[p].as_dvec3()).collect();
        let metrics::Metrics(found) = metrics::measure(&shape, &posed, &matrices);
        for ((name, found), expected) in metrics::COLUMNS.iter().zip(found).zip(expected) {
            worst = larger(worst, (found - expected).abs());
            assert!(
                (found - expected).abs() < 2e-4,
                "{bend} {name}: {found} {expected}"
            );
        }
    }
    println!("centres of rotation: largest difference from the table {worst:.1e}");
}

/// The f64 formula on random skins, rigid and stretched, all backends, positions and normals.
#[test]
fn the_kernel_agrees_with_f64() {
    let mut random = Random::new(11);
    let parents: Vec<Option<u32>> = (0..12u32).map(|j| j.checked_sub(1)).collect();
    let rest: Vec<Transform> = (0..12)
        .map(|_| Transform::from_rotation_translation(random.rotation(), random.vector(1.0)))
        .collect();
    let skeleton = skeleton(&parents, &rest);
    let bind = bind_all(&skeleton);
    for stretched in [false, true] {
        let mut moving = Pose::rest(&skeleton);
        for local in &mut moving.locals {
            local.rotation = random.rotation();
            if stretched {
                local.stretch = DMat3::from_diagonal(DVec3::splat(1.0) + random.vector(0.2));
            }
        }
        let mut palette = SkinPalette::default();
        bind.pose(
            &moving.world_matrices(&skeleton),
            Stretch::Inflate,
            &mut palette,
        );
        assert_eq!(palette.inflates(), stretched);
        let n = 1000;
        let positions: Vec<DVec3> = (0..n).map(|_| random.vector(1.0)).collect();
        let centres: Vec<DVec3> = (0..n).map(|_| random.vector(1.0)).collect();
        let normals: Vec<DVec3> = (0..n)
            .map(|_| random.vector(1.0).normalize_or_zero())
            .collect();
        let rows: Vec<Row> = (0..n)
            .map(|i| {
                let weights: Vec<f64> = (0..i % 6).map(|_| random.next() + 0.01).collect();
                let sum: f64 = weights.iter().sum();
                let first = (random.next() * 6.0) as usize;
                let row = weights.iter().enumerate();
                row.map(|(k, w)| (first + k, f64::from((w / sum) as f32)))
                    .collect()
            })
            .collect();
        let motions: Vec<Rigid> = palette
            .motions()
            .iter()
            .map(|m| Rigid {
                rotation: m.rotation,
                translation: m.translation,
            })
            .collect();
        let blend = |row: &Row, m: &dyn Fn(usize) -> DAffine3, p: DVec3| -> DVec3 {
            row.iter().map(|&(j, w)| m(j).transform_point3(p) * w).sum()
        };
        let inflated = |row: &Row, p: DVec3| {
            let p = p * palette.unit_scale();
            blend(row, &|j| palette.motions()[j].inflation(), p)
        };
        let mut expected = Vec::new();
        let mut expected_normals = Vec::new();
        for i in 0..n {
            let row = &rows[i];
            if row.is_empty() {
                expected.push(positions[i]);
                expected_normals.push(normals[i]);
                continue;
            }
            let (v, c) = (inflated(row, positions[i]), inflated(row, centres[i]));
            expected.push(skin_about(v, row, Some(c), &motions));
            let mut m = DMat3::ZERO;
            for &(j, w) in row {
                m += palette.motions()[j].stretch * w;
            }
            let [a, b, z] = [m.x_axis, m.y_axis, m.z_axis];
            let cofactor = DMat3::from_cols(b.cross(z), z.cross(a), a.cross(b));
            let normal: DQuat = dqs_rotation(row, &motions);
            expected_normals.push(normal * (cofactor * normals[i]).normalize_or_zero());
        }
        let chunk = &cook(&influences(&rows))[0];
        let (p, c, n) = (to_f32(&positions), to_f32(&centres), to_f32(&normals));
        for backend in BACKENDS {
            let input = SkinInput::new(&p, chunk, &palette).unwrap().on(backend);
            let mut out = vec![Vec3::ZERO; p.len()];
            let mut turned = out.clone();
            centres_of_rotation_with_normals(&input, &c, &n, &mut out, &mut turned);
            let what = format!("{backend:?}, stretched {stretched}");
            assert_close(&what, &out, &expected);
            assert_close(&format!("normals {what}"), &turned, &expected_normals);
            let mut positions_only = vec![Vec3::ZERO; p.len()];
            centres_of_rotation(&input, &c, &mut positions_only);
            assert_eq!(out, positions_only);
            // A shape that was inflated before.
            let mut inflated = vec![Vec3::ZERO; p.len()];
            sinew::skinning::inflate(&input, &mut inflated);
            let phase_2 = input.with_inflated(&inflated).unwrap();
            centres_of_rotation(&phase_2, &c, &mut positions_only);
            for (i, (a, b)) in out.iter().zip(&positions_only).enumerate() {
                assert!(rows[i].is_empty() || a == b, "{i} {a} {b}");
            }
        }
    }
}

/// Points of one bone, and points that nothing of the surface is like, have no centre and move linearly.
#[test]
fn points_without_a_centre_move_linearly() {
    let shape = Cylinder::new();
    let mut positions = shape.positions.clone();
    let mut rows = shape.rows.clone();
    // A lone point of a pair of bones that moves no face.
    positions.push(DVec3::new(0.0, 3.0, 0.0));
    rows.push(vec![(0, 0.5), (2, 0.5)]);
    rows[0] = vec![(0, 1.0)];
    let (mesh, influences, point_of) = built(&positions, &shape.triangles, &rows);
    let centres = centres_of(&mesh, &influences);
    let [bend, turn] = pose(90.0, 20.0);
    let palette = palette_of(&[bend, turn, turn * turn]);
    let matrices: Vec<DAffine3> = palette.skin_matrices().to_vec();
    let chunks = cook(&influences);
    let out = skinned(&mesh, &chunks, &centres, &palette, Backend::Avx2);
    for v in [0, positions.len() - 1] {
        let point = point_of[v];
        assert_eq!(centres.centre(point as u32), None);
        let expected = crate::reference::lbs(positions[v], &rows[v], &matrices);
        assert!(out[point].as_dvec3().distance(expected) < 2e-6);
    }
    assert!(centres.centre(point_of[100 * 64] as u32).is_some());
}

#[test]
fn every_number_of_threads_finds_the_same_centres() {
    let shape = Cylinder::new();
    let (mesh, influences, _) = built(&shape.positions, &shape.triangles, &shape.rows);
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let centres = pool.install(|| centres_of(&mesh, &influences));
        let bits = (0..influences.chunks().len()).flat_map(|c| centres.chunk(c).unwrap().to_vec());
        bits.map(|p| p.to_array().map(f32::to_bits))
            .collect::<Vec<_>>()
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(3));
}

/// Coarse triangles are sampled inside, where their corners' weights differ much.
#[test]
fn a_coarse_mesh_has_the_centres_of_a_fine_one() {
    // A square tube of few long faces against one of many.
    let tube = |n: usize| {
        let mut positions = Vec::new();
        let mut triangles = Vec::new();
        for i in 0..=n {
            let x = -2.0 + 4.0 * i as f64 / n as f64;
            for (y, z) in [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)] {
                positions.push(DVec3::new(x, y, z));
            }
        }
        for i in 0..n {
            for k in 0..4 {
                let (a, b) = (4 * i + k, 4 * i + (k + 1) % 4);
                triangles.push([a, b, a + 4]);
                triangles.push([b, b + 4, a + 4]);
            }
        }
        // Weights that are linear along the tube, so that both meshes carry the same.
        let rows: Vec<Row> = positions
            .iter()
            .map(|p| {
                let w = 0.5 + 0.225 * p.x;
                vec![(0, 1.0 - w), (1, w)]
            })
            .collect();
        (positions, triangles, rows)
    };
    let (positions, triangles, rows) = tube(4);
    let (coarse, coarse_rows, coarse_points) = built(&positions, &triangles, &rows);
    let coarse_centres = centres_of(&coarse, &coarse_rows);
    let (fine_positions, triangles, rows) = tube(400);
    let (fine, fine_rows, fine_points) = built(&fine_positions, &triangles, &rows);
    let fine_centres = centres_of(&fine, &fine_rows);
    for i in 0..=4 {
        let a = coarse_centres.centre(coarse_points[4 * i] as u32).unwrap();
        let b = fine_centres.centre(fine_points[400 * i] as u32).unwrap();
        assert!(a.distance(b) < 0.02, "{i}: {a} {b}");
    }
}

#[test]
fn a_cancelled_search_ends_and_results_know_what_they_are_of() {
    let shape = Cylinder::new();
    let (mesh, mut influences, _) = built(&shape.positions, &shape.triangles, &shape.rows);
    let task = Task::new();
    task.cancel();
    let cancelled = Centres::compute(&mesh, &influences, &task);
    assert_eq!(cancelled.err(), Some(Cancelled));
    let task = Task::new();
    let centres = Centres::compute(&mesh, &influences, &task).unwrap();
    assert_eq!(
        (task.fraction(), task.label().as_str()),
        (1.0, "finding centres")
    );
    assert!(centres.are_of(&mesh, &influences));
    influences.swap_rows(&[17], &mut [vec![(0, 1.0)]].into_iter().collect());
    assert!(!centres.are_of(&mesh, &influences) && centres.fit(&mesh));
    // Nothing to find is found at once.
    let empty = Arc::new(Mesh::default());
    let none = Centres::compute(&empty, &Influences::default(), &Task::new()).unwrap();
    assert_eq!((none.centre(0), none.chunk(0)), (None, None));
}

/// The editor seeks centres on its lane, says so, shows the mesh without them until then and with the previous ones
/// after a stroke, and stops when asked to. Whenever it rests, its picture is that of an evaluation that found them
/// itself (the harness compares every bit).
#[test]
fn the_editor_seeks_centres_while_the_picture_goes_on() {
    let mut h = EditorHarness::new();
    let mesh = *h.editor.document().meshes().keys().next().unwrap();
    let name = h.editor.document().meshes()[&mesh].geometry.name.clone();
    assert_eq!(h.editor.centres_badge(ViewId::OWN), None);
    let forearm = JointId(h.joint("forearm"));
    let mut local = h.editor.document().pose().locals[forearm.get()];
    local.rotation = DQuat::from_rotation_z(1.2);
    let (joints, locals) = (vec![forearm], vec![local]);
    h.editor
        .apply(Edit::Pose { joints, locals }, "Bend")
        .unwrap();
    h.settle();
    let before = h
        .editor
        .displayed()
        .values()
        .next()
        .unwrap()
        .positions
        .clone();

    let stack = Arc::new(DeformStack::bare(SkinningMethod::CentresOfRotation));
    h.editor
        .apply(Edit::Stack { mesh, stack }, "Centres of rotation")
        .unwrap();
    assert_eq!(
        h.editor.centres_badge(ViewId::OWN),
        Some("Waiting to compute centres of rotation. Dual quaternion skinning is shown.")
    );
    h.editor.poll(0.0);
    let badge = h.editor.centres_badge(ViewId::OWN).unwrap();
    assert!(
        badge.ends_with("Dual quaternion skinning is shown."),
        "{badge}"
    );
    // It may have ended already.
    let label = h.editor.running().map(|(label, _)| label);
    let expected = format!("Centres of rotation of {name}");
    assert!(label.is_none_or(|label| label == expected));
    assert!(!h.editor.is_idle());
    h.settle();
    assert_eq!(h.editor.centres_badge(ViewId::OWN), None);
    let after = h
        .editor
        .displayed()
        .values()
        .next()
        .unwrap()
        .positions
        .clone();
    assert_ne!(before, after);

    h.editor.select_joint(Some(forearm));
    let (elbow, shoulder) = (h.place_of(forearm.0), h.place_of(h.joint("upper_arm")));
    h.start_drag(elbow, elbow.lerp(shoulder, 0.5), false);
    h.editor.poll(0.0);
    let badge = h.editor.centres_badge(ViewId::OWN).unwrap();
    assert_eq!(
        badge,
        "Waiting to compute centres of rotation. The previous ones are shown."
    );
    assert!(h.editor.running().is_none(), "not during the stroke");
    h.pointer(sinew::tools::PointerKind::Release, elbow, false);
    h.settle();
    assert_eq!(h.editor.centres_badge(ViewId::OWN), None);

    h.editor.undo();
    h.editor.poll(0.0);
    h.editor.cancel_running();
    while !h.editor.is_idle() {
        h.editor.poll(0.0);
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    // The search may have ended before it was told to.
    if let Some(badge) = h.editor.centres_badge(ViewId::OWN) {
        assert!(
            badge.starts_with("Centres of rotation were not computed"),
            "{badge}"
        );
        h.editor.redo();
        h.settle();
        assert_eq!(h.editor.centres_badge(ViewId::OWN), None);
    }
}
