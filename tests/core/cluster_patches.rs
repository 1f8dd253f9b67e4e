//! Free vertices on patches: exact at bind and at clusters, equivariant, continuous, local.

use crate::cluster_limb::{Clustered, Limb, Mode, Skin, bend, twist};
use crate::cluster_shapes::{Arm, marked, numbers, sheet, sphere};
use glam::{DMat3, DQuat, DVec3, Vec3};
use sinew::cluster::{
    ClusterSurface, CornerFrame, Interpolation, Layout, PatchOptions, PatchWork, Patches, Strands,
};
use sinew::math::Worse;
use sinew::task::Task;
use std::collections::BTreeSet;

/// Every kind of patch.
fn kinds() -> impl Iterator<Item = PatchOptions> {
    Interpolation::ALL.into_iter().map(PatchOptions::new)
}

/// A cylinder with a tenth of its vertices marked.
fn limb() -> (Limb, Vec<bool>) {
    let limb = Limb::cylinder();
    let n = limb.surface.n_vertices();
    let clusters = marked(n, numbers(21, n).take(n / 10));
    (limb, clusters)
}

fn f32s(x: &[DVec3]) -> Vec<Vec3> {
    x.iter().map(|p| p.as_vec3()).collect()
}

/// The largest distance.
fn worst(a: impl IntoIterator<Item = DVec3>, b: impl IntoIterator<Item = DVec3>) -> f64 {
    let distances: Vec<f64> = a.into_iter().zip(b).map(|(a, b)| a.distance(b)).collect();
    assert!(distances.iter().all(|d| d.is_finite()));
    distances.into_iter().fold(0.0, f64::max)
}

/// The free vertices of the fast evaluation, all others NaN.
fn fast(limb: &Limb, layout: &Layout, options: PatchOptions, frames: &[CornerFrame]) -> Vec<Vec3> {
    let patches = Patches::new(&limb.surface, layout, options);
    let mut out = vec![Vec3::NAN; limb.surface.n_points()];
    patches.evaluate(frames, &mut PatchWork::default(), &mut out);
    for (point, place) in (0u32..).zip(&out) {
        assert_eq!(place.is_finite(), patches.is_free(point), "point {point}");
    }
    out
}

#[test]
fn the_bind_shape_is_reproduced() {
    let (limb, clusters) = limb();
    let clustered = Clustered::new(&limb, &clusters);
    let size = limb.surface.diagonal();
    let frames = clustered.net.bind_frames();
    let positions = &limb.surface.positions;
    let free: Vec<DVec3> = clustered
        .layout
        .free
        .iter()
        .map(|f| positions[f.vertex as usize])
        .collect();
    for options in kinds() {
        let exact = clustered.exact(options).evaluate(&frames);
        let error = worst(exact, free.iter().copied()) / size;
        assert!(error <= 1e-12, "{options:?}: {error:e}");
        let fast = fast(&limb, &clustered.layout, options, &frames);
        let error = worst(
            clustered
                .layout
                .free
                .iter()
                .map(|f| fast[f.vertex as usize].as_dvec3()),
            free.iter().copied(),
        ) / size;
        println!("{options:?}: f32 at bind {error:e} of the size");
        assert!(error <= 1e-6, "{options:?}: {error:e}");
    }
    // Mode B at bind: the identity.
    for frame in clustered.net.frames_of_positions(&clustered.net.positions) {
        assert!(frame.jacobian.abs_diff_eq(DMat3::IDENTITY, 1e-12));
        assert!(frame.rotation.w > 1.0 - 1e-12);
    }
}

#[test]
fn rigid_motions_move_everything_rigidly() {
    let (limb, clusters) = limb();
    let clustered = Clustered::new(&limb, &clusters);
    let size = limb.surface.diagonal();
    let turn = DQuat::from_euler(glam::EulerRot::XYZ, 0.7, -1.1, 0.4);
    let shift = DVec3::new(2.0, -3.0, 5.0);
    for (mode, tolerance) in [(Mode::A, 1e-12), (Mode::B, 1e-12)] {
        let bent = limb.corner_frames(&clustered.net, bend(70.0), Skin::DualQuaternion, mode);
        let moved: Vec<CornerFrame> = match mode {
            Mode::A | Mode::Rotated => bent
                .iter()
                .map(|f| CornerFrame {
                    position: turn * f.position + shift,
                    jacobian: DMat3::from_quat(turn) * f.jacobian,
                    rotation: turn * f.rotation,
                    ..*f
                })
                .collect(),
            Mode::B => {
                let x: Vec<DVec3> = bent.iter().map(|f| turn * f.position + shift).collect();
                clustered.net.frames_of_positions(&x)
            }
        };
        for options in kinds() {
            let exact = clustered.exact(options);
            let expected = exact.evaluate(&bent).into_iter().map(|p| turn * p + shift);
            let expected: Vec<DVec3> = expected.collect();
            let error = worst(exact.evaluate(&moved), expected.iter().copied()) / size;
            assert!(error <= tolerance, "{mode:?} {options:?}: {error:e}");
            let out = fast(&limb, &clustered.layout, options, &moved);
            let error = worst(
                clustered
                    .layout
                    .free
                    .iter()
                    .map(|f| out[f.vertex as usize].as_dvec3()),
                expected,
            ) / size;
            assert!(error <= 1e-5, "{mode:?} {options:?} f32: {error:e}");
        }
    }
}

#[test]
fn the_fast_evaluation_agrees_with_the_exact_one() {
    let (limb, clusters) = limb();
    let clustered = Clustered::new(&limb, &clusters);
    // 170 degrees: some patches have rotations in both hemispheres once signs are mixed.
    for (turn, flip) in [
        (bend(90.0), false),
        (twist(170.0), false),
        (twist(170.0), true),
    ] {
        let mut frames = limb.corner_frames(&clustered.net, turn, Skin::DualQuaternion, Mode::A);
        for (i, frame) in frames.iter_mut().enumerate().filter(|_| flip) {
            frame.rotation *= [1.0, -1.0][i % 2];
        }
        for options in kinds() {
            let exact = clustered.exact(options).evaluate(&frames);
            let out = fast(&limb, &clustered.layout, options, &frames);
            let free = clustered.layout.free.iter();
            let error = worst(free.map(|f| out[f.vertex as usize].as_dvec3()), exact);
            assert!(error < 5e-6, "{options:?}: {error:e}");
        }
    }
}

#[test]
fn rotations_without_a_common_hemisphere_are_blended_about_the_nearest_corner() {
    // One triangle whose corners turn about z by 0, 120 and 240 degrees: no signs make all products positive.
    let at = |x: f64, y: f64| DVec3::new(x, y, 0.2 * x * y);
    let n = 6;
    let grid = (0..=n).flat_map(|i| (0..=n - i).map(move |j| (i, j)));
    let positions = grid.clone().map(|(i, j)| at(f64::from(i), f64::from(j)));
    let number = |i: i32, j: i32| (grid.clone().position(|g| g == (i, j)).unwrap()) as u32;
    let mut triangles = Vec::new();
    for (i, j) in grid.clone().filter(|(i, j)| i + j < n) {
        triangles.push([number(i, j), number(i + 1, j), number(i, j + 1)]);
        if i + j + 1 < n {
            triangles.push([number(i + 1, j), number(i + 1, j + 1), number(i, j + 1)]);
        }
    }
    let surface = ClusterSurface::from_triangles(positions.collect(), &triangles);
    let corners = [number(0, 0), number(n, 0), number(0, n)];
    let clusters = marked(surface.n_vertices(), corners.map(|c| c as usize));
    let limb = Limb {
        lower: vec![0.0; surface.n_vertices()],
        surface,
    };
    let clustered = Clustered::new(&limb, &clusters);
    assert_eq!(clustered.layout.triangles.len(), 1);
    let mut frames = clustered.net.bind_frames();
    for (i, frame) in (0u32..).zip(&mut frames) {
        frame.rotation = DQuat::from_rotation_z((120.0 * f64::from(i)).to_radians());
    }
    let options = PatchOptions::default();
    let exact = clustered.exact(options).evaluate(&frames);
    let out = fast(&limb, &clustered.layout, options, &frames);
    let free = clustered.layout.free.iter();
    let error = worst(free.map(|f| out[f.vertex as usize].as_dvec3()), exact);
    assert!(error < 1e-6, "{error:e}");
}

#[test]
fn patches_meet_without_a_gap() {
    let (limb, clusters) = limb();
    let clustered = Clustered::new(&limb, &clusters);
    let frames = limb.corner_frames(&clustered.net, twist(120.0), Skin::DualQuaternion, Mode::A);
    let net = &clustered.net;
    let offset = DVec3::new(0.1, -0.2, 0.05);
    for options in kinds() {
        // The place at a fraction of each directed edge, offset included.
        let mut of_edge = std::collections::BTreeMap::new();
        let mut n_shared = 0;
        let mut gap: f64 = 0.0;
        for (patch, t) in (0u32..).zip(&net.triangles) {
            let shape = net.patch(patch, &frames, options.interpolation);
            for i in 0..3 {
                let (a, b) = (t[i], t[(i + 1) % 3]);
                for step in 0..=4 {
                    let s = f64::from(step) / 4.0;
                    let mut u = [0.0; 3];
                    (u[i], u[(i + 1) % 3]) = (1.0 - s, s);
                    let place = shape.at(u) + net.rotation(patch, &frames, u) * offset;
                    let key = if a < b {
                        (a, b, step)
                    } else {
                        (b, a, 4 - step)
                    };
                    if let Some(other) = of_edge.insert(key, place) {
                        gap = gap.worse(place.distance(other));
                        n_shared += 1;
                    }
                }
            }
        }
        assert!(n_shared > 1000);
        assert!(gap <= 1e-12, "{options:?}: a gap of {gap:e}");
    }
}

#[test]
fn affine_maps_are_nearly_reproduced() {
    // A stretch of 20 %: a documented limit.
    let (limb, clusters) = limb();
    let clustered = Clustered::new(&limb, &clusters);
    let stretch = DMat3::from_diagonal(DVec3::new(1.0, 1.0, 1.2));
    let frames: Vec<CornerFrame> = (0u32..)
        .zip(&clustered.net.positions)
        .map(|(c, &p)| {
            let plane = clustered.net.planes[c as usize];
            let columns = plane.tangents.map(|t| stretch * t);
            CornerFrame::with_columns(stretch * p, &plane, columns, DQuat::IDENTITY)
        })
        .collect();
    let out = clustered.exact(PatchOptions::default()).evaluate(&frames);
    let free = clustered.layout.free.iter();
    let distances = free
        .zip(out)
        .map(|(f, x)| x.distance(stretch * limb.surface.positions[f.vertex as usize]));
    let (rms, _) = crate::cluster_limb::error(distances);
    println!("a stretch of 20 %: {rms:.2} % of the radius");
    assert!(rms < 0.6, "{rms}");
}

/// Vertices that differ by more than 1e-12, and the corners whose patches they lie on.
fn moved_on(clustered: &Clustered<'_>, a: &[DVec3], b: &[DVec3]) -> BTreeSet<u32> {
    let free = clustered.layout.free.iter().zip(a).zip(b);
    let moved = free.filter(|((_, a), b)| a.distance(**b) > 1e-12);
    moved.map(|((free, _), _)| free.triangle).collect()
}

#[test]
fn a_displaced_cluster_moves_only_patches_near_it() {
    let (limb, clusters) = limb();
    let clustered = Clustered::new(&limb, &clusters);
    let net = &clustered.net;
    let patches = Patches::new(&limb.surface, &clustered.layout, PatchOptions::default());
    let bent = limb.corner_frames(net, bend(60.0), Skin::DualQuaternion, Mode::A);
    let exact = clustered.exact(PatchOptions::default());
    let before = exact.evaluate(&bent);
    for corner in numbers(5, net.corners.len()).take(20).map(|c| c as u32) {
        let mut d = vec![DVec3::ZERO; net.corners.len()];
        d[corner as usize] = DVec3::new(0.02, 0.05, -0.01);
        let incident: BTreeSet<u32> = patches.patches_of_corner(corner).iter().copied().collect();
        let ring = net.rings.neighbours(corner).iter();
        let two_ring: BTreeSet<u32> = ring
            .flat_map(|&c| patches.patches_of_corner(c).iter().copied())
            .chain(incident.iter().copied())
            .collect();
        for (couple, allowed) in [(false, &incident), (true, &two_ring)] {
            let mut frames = bent.clone();
            net.displace(&mut frames, &d, couple);
            let moved = moved_on(&clustered, &before, &exact.evaluate(&frames));
            assert!(!moved.is_empty());
            assert!(
                moved.is_subset(allowed),
                "corner {corner}, coupled: {couple}"
            );
            if couple {
                assert!(!moved.is_subset(&incident), "the neighbours tilt");
            }
            // Nothing is displaced at any corner but its own.
            for (c, (frame, old)) in (0u32..).zip(frames.iter().zip(&bent)) {
                let expected = old.position + d[c as usize];
                assert_eq!(
                    frame.position, expected,
                    "clusters are interpolated exactly"
                );
            }
        }
    }
}

#[test]
fn a_partial_evaluation_has_the_bits_of_a_full_one() {
    let (limb, clusters) = limb();
    let clustered = Clustered::new(&limb, &clusters);
    let net = &clustered.net;
    for options in kinds() {
        let patches = Patches::new(&limb.surface, &clustered.layout, options);
        let mut frames = limb.corner_frames(net, bend(80.0), Skin::DualQuaternion, Mode::A);
        let mut work = PatchWork::default();
        let mut out = f32s(&limb.surface.positions);
        patches.evaluate(&frames, &mut work, &mut out);
        for round in 0..6 {
            let before = out.clone();
            let draw = numbers(round, frames.len()).take(3).map(|c| c as u32);
            let changed: BTreeSet<u32> = draw.collect();
            let changed: Vec<u32> = changed.into_iter().collect();
            for &c in &changed {
                frames[c as usize].position += DVec3::new(0.1, 0.0, 0.02);
                frames[c as usize].rotation *= DQuat::from_rotation_y(0.1);
            }
            let moved = patches
                .evaluate_some(&frames, &changed, &mut work, &mut out)
                .to_vec();
            assert!(moved.windows(2).all(|w| w[0] < w[1]));
            let mut full = f32s(&limb.surface.positions);
            patches.evaluate(&frames, &mut PatchWork::default(), &mut full);
            assert_eq!(out, full, "{options:?}");
            for (p, (old, new)) in (0u32..).zip(before.iter().zip(&out)) {
                assert!(old == new || moved.binary_search(&p).is_ok());
            }
            assert!(moved.len() < patches.free_points().count() / 4);
        }
        // Without an evaluation before it, all is computed, and the points of the changed patches are written.
        let mut fresh = out.clone();
        patches.evaluate_some(&frames, &[0], &mut PatchWork::default(), &mut fresh);
        assert_eq!(fresh, out);
    }
}

#[test]
fn the_result_does_not_depend_on_threads() {
    let (limb, clusters) = limb();
    let clustered = Clustered::new(&limb, &clusters);
    let frames = limb.corner_frames(&clustered.net, bend(100.0), Skin::DualQuaternion, Mode::A);
    for options in kinds() {
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| {
                let patches = Patches::new(&limb.surface, &clustered.layout, options);
                let mut out = f32s(&limb.surface.positions);
                patches.evaluate(&frames, &mut PatchWork::default(), &mut out);
                (out, clustered.exact(options).evaluate(&frames))
            })
        };
        assert_eq!(run(1), run(3));
    }
}

#[test]
fn with_every_vertex_a_cluster_the_skin_is_untouched() {
    let limb = Limb::cylinder();
    let n = limb.surface.n_vertices();
    let truth = limb.skinned(bend(90.0), Skin::DualQuaternion);
    let all = Clustered::new(&limb, &marked(n, 0..n));
    let options = PatchOptions::default();
    let posed = all.posed(bend(90.0), Skin::DualQuaternion, Mode::A, options);
    assert_eq!(posed, truth);
    // Without one of them, only that one moves.
    let without = Clustered::new(&limb, &marked(n, (0..n).filter(|&v| v != 1600)));
    let posed = without.posed(bend(90.0), Skin::DualQuaternion, Mode::A, options);
    for (v, (a, b)) in posed.iter().zip(&truth).enumerate() {
        assert!(v == 1600 || a == b, "vertex {v}");
    }
    assert!(posed[1600].distance(truth[1600]) < 0.01 * 0.5);
}

#[test]
fn displacements_are_blended_as_bezier_triangles() {
    let (limb, clusters) = limb();
    let clustered = Clustered::new(&limb, &clusters);
    let n_corners = clustered.net.corners.len();
    let options = PatchOptions::new(Interpolation::SkinnedFree);
    let patches = Patches::new(&limb.surface, &clustered.layout, options);
    let mut work = PatchWork::default();
    // A constant field is reproduced, and a zero one.
    for constant in [DVec3::ZERO, DVec3::new(0.1, 0.2, -0.3)] {
        let mut out = vec![Vec3::NAN; limb.surface.n_points()];
        patches.displacements(&vec![constant; n_corners], true, &mut work, &mut out);
        for (p, d) in (0u32..).zip(&out).filter(|(p, _)| patches.is_free(*p)) {
            assert!((*d - constant.as_vec3()).length() < 1e-6, "point {p}: {d}");
        }
    }
    // On a flat sheet, where the parameters are those of the plane, a linear field is reproduced with its gradients.
    let (n, flat) = (13, sheet(13));
    let inside = numbers(8, n * n).take(30);
    let clusters = marked(n * n, inside.chain([0, n - 1, n * (n - 1), n * n - 1]));
    let layout = Layout::new(&flat, &clusters, &Task::new()).unwrap();
    let patches = Patches::new(
        &flat,
        &layout,
        PatchOptions::new(Interpolation::SkinnedFree),
    );
    let field = |p: DVec3| DVec3::new(p.x, p.x - 2.0 * p.y, 3.0 * p.y) * 0.1;
    let d: Vec<DVec3> = patches.net().positions.iter().map(|&p| field(p)).collect();
    let mut error = |couple: bool| {
        let mut out = vec![Vec3::NAN; n * n];
        patches.displacements(&d, couple, &mut work, &mut out);
        let free = layout.free.iter().map(|f| f.vertex as usize);
        worst(
            free.clone().map(|v| out[v].as_dvec3()),
            free.map(|v| field(flat.positions[v])),
        )
    };
    let (with, without) = (error(true), error(false));
    println!("a linear field: {with:e} with gradients, {without:e} without");
    assert!(with < 1e-7 && without > 1e-3, "{with:e} {without:e}");
}

#[test]
fn a_seam_moves_as_one_vertex() {
    // The sphere with the points of a meridian there twice.
    let ball = sphere(16, 15);
    let n = ball.n_vertices();
    let seam: Vec<u32> = (0..15).map(|row| row * 16).collect();
    let mut positions = f32s(&ball.positions);
    positions.extend(
        seam.iter()
            .map(|&v| positions[v as usize])
            .collect::<Vec<_>>(),
    );
    let twin = |v: u32| n as u32 + seam.iter().position(|&s| s == v).unwrap() as u32;
    // Triangles on the left of the meridian use the twins.
    let triangles: Vec<[u32; 3]> = ball
        .triangles
        .iter()
        .map(|t| {
            let is_left = t.iter().any(|&v| v % 16 == 15 && (v as usize) < 240);
            t.map(|v| {
                if is_left && seam.contains(&v) {
                    twin(v)
                } else {
                    v
                }
            })
        })
        .collect();
    let n_points = positions.len() as u32;
    let mut mesh = sinew::mesh::Mesh::default();
    mesh.positions = positions;
    mesh.triangles = triangles;
    mesh.point_of_vertex = (0..n_points).collect();
    mesh.normal_of_vertex = (0..n_points).collect();
    mesh.normals = vec![Vec3::Z; n_points as usize];
    mesh.point_of_normal = (0..n_points).collect();
    let surface = ClusterSurface::new(&mesh);
    assert_eq!(surface.n_vertices(), n);
    let clusters = surface.marked((0..n_points).step_by(9));
    let layout = Layout::new(&surface, &clusters, &Task::new()).unwrap();
    let patches = Patches::new(&surface, &layout, PatchOptions::default());
    let mut frames = patches.net().bind_frames();
    for frame in &mut frames {
        frame.position.x *= 1.5;
    }
    let mut out = mesh.positions.clone();
    patches.evaluate(&frames, &mut PatchWork::default(), &mut out);
    let free: Vec<u32> = seam
        .iter()
        .copied()
        .filter(|&v| patches.is_free(v))
        .collect();
    assert!(free.len() > 5);
    for v in free {
        assert_eq!(out[v as usize], out[twin(v) as usize]);
        assert_ne!(out[v as usize], mesh.positions[v as usize]);
    }
}

#[test]
fn strands_follow_paths_and_lines() {
    let limb = Limb::cylinder();
    let columns = 40;
    // Every second ring is marked: each vertex between two rings lies on a line along the limb.
    let n = limb.surface.n_vertices();
    let rings = (0..n).filter(|v| (v / columns) % 2 == 0);
    let clustered = Clustered::new(&limb, &marked(n, rings));
    let strands = Strands::automatic(&limb.surface, &clustered.layout);
    assert_eq!(strands.points.len(), clustered.layout.free.len());
    // The same from paths along the limb.
    let paths: Vec<Vec<u32>> = (0..columns as u32)
        .map(|c| (0..81).map(|row| row * columns as u32 + c).collect())
        .collect();
    let along = Strands::along(&limb.surface, &clustered.layout, &paths);
    assert_eq!(along.points.len(), strands.points.len());
    let frames = limb.corner_frames(&clustered.net, bend(90.0), Skin::DualQuaternion, Mode::A);
    for (a, b) in along.points.iter().zip(&strands.points) {
        assert_eq!(a.vertex, b.vertex);
        assert!(a.at(&frames, 0.0).0.distance(b.at(&frames, 0.0).0) < 1e-12);
    }
    // Without lines, patches.
    let Some(arm) = Arm::load("strands_follow_paths_and_lines") else {
        return;
    };
    let arm_limb = Limb::arm(&arm);
    let clustered = Clustered::new(&arm_limb, &arm.clusters("10"));
    let strands = Strands::automatic(&arm_limb.surface, &clustered.layout);
    println!(
        "arm: {} of {} on strands",
        strands.points.len(),
        clustered.layout.free.len()
    );
    assert!(strands.points.len() < clustered.layout.free.len());
}
