//! Suggested clusters, and correctives taken to clusters.

use crate::cluster_limb::{Clustered, Limb, Skin, bend};
use crate::cluster_shapes::{Arm, RADIUS, marked, numbers};
use glam::{DQuat, DVec3};
use sinew::cluster::{
    ClusterErrors, ControlNet, CornerFrame, Corrective, ExactPatches, Interpolation, Layout,
    PatchOptions, SuggestRound, SuggestSettings, Suggestion, extract, suggest,
};
use sinew::math::Worse;
use sinew::task::{Cancelled, Task};

/// A pose that clusters are chosen for: the skinned surface, and the frame of each vertex if it is a corner.
struct TrainingPose {
    skinned: Vec<DVec3>,
    frames: Vec<CornerFrame>,
}

fn training(limb: &Limb) -> [TrainingPose; 3] {
    let all: Vec<u32> = (0..limb.surface.n_vertices() as u32).collect();
    [45.0, 90.0, 120.0].map(|degrees| TrainingPose {
        skinned: limb.skinned(bend(degrees), Skin::DualQuaternion),
        frames: limb.frames(&all, bend(degrees), Skin::DualQuaternion),
    })
}

/// The errors of the patches between clusters in f64, metres; the mean is over the free vertices.
fn errors(
    limb: &Limb,
    poses: &[TrainingPose],
    clusters: &[bool],
) -> Result<ClusterErrors, Cancelled> {
    let layout = Layout::new(&limb.surface, clusters, &Task::new())?;
    let net = ControlNet::new(&limb.surface, &layout);
    let patches = ExactPatches::new(&limb.surface, &layout, &net, PatchOptions::default());
    let mut of_vertices = vec![0.0f64; clusters.len()];
    let mut sum = 0.0;
    for pose in poses {
        let frames = layout.corners.iter().map(|&v| pose.frames[v as usize]);
        let places = patches.evaluate(&frames.collect::<Vec<_>>());
        for (free, place) in layout.free.iter().zip(places) {
            let v = free.vertex as usize;
            let distance = place.distance(pose.skinned[v]);
            of_vertices[v] = of_vertices[v].worse(distance);
            sum += distance * distance;
        }
    }
    let n = (layout.free.len() * poses.len()).max(1);
    Ok(ClusterErrors {
        of_vertices,
        rms: (sum / n as f64).sqrt(),
    })
}

/// Suggested clusters up to a largest error in percent of the radius.
fn run(limb: &Limb, given: &[bool], percent: f64, most: usize) -> Suggestion {
    let settings = SuggestSettings {
        error: percent / 100.0 * RADIUS,
        most,
    };
    let poses = training(limb);
    let measure = |clusters: &[bool]| errors(limb, &poses, clusters);
    suggest(&limb.surface, given, settings, measure, &Task::new()).unwrap()
}

#[test]
fn suggested_clusters_halve_the_error_of_uniform_ones() {
    let Some(arm) = Arm::load("suggested_clusters_halve_the_error_of_uniform_ones") else {
        return;
    };
    let limb = Limb::arm(&arm);
    let n = limb.surface.n_vertices();
    let found = run(&limb, &arm.marked([]), 0.1, n / 12);
    for round in &found.rounds {
        println!(
            "{:.1} %: {:.3} / {:.2} % of the radius",
            100.0 * round.n_clusters as f64 / n as f64,
            100.0 * round.rms / RADIUS,
            100.0 * round.largest / RADIUS
        );
    }
    // Uniform clusters at the same poses.
    let uniform = Clustered::new(&limb, &arm.clusters("05"));
    let errors = [45.0, 90.0, 120.0].map(|degrees| {
        let options = PatchOptions::default();
        let mode = crate::cluster_limb::Mode::A;
        let posed = uniform.posed(bend(degrees), Skin::DualQuaternion, mode, options);
        uniform.error(bend(degrees), &posed).0
    });
    let uniform = (errors.iter().map(|e| e * e).sum::<f64>() / 3.0).sqrt();
    println!("uniform, 5 %: {uniform:.3} %");
    let at = |percent: f64| {
        let is_within = |r: &&SuggestRound| r.n_clusters as f64 <= percent / 100.0 * n as f64;
        let last = found.rounds.iter().rfind(is_within).unwrap();
        100.0 * last.rms / RADIUS
    };
    assert!(at(5.5) < uniform, "{} beside {uniform}", at(5.5));
    assert!(at(7.0) < 0.6 * uniform, "{} beside {uniform}", at(7.0));
    let last = found.rounds.last().unwrap();
    assert_eq!(
        last.n_clusters,
        found.clusters.iter().filter(|c| **c).count()
    );
    assert!(last.largest <= 0.001 * RADIUS || last.n_clusters == n / 12);
    let n_added: usize = found.added.iter().map(Vec::len).sum();
    assert_eq!(
        (n_added, found.added.len()),
        (last.n_clusters, found.rounds.len())
    );
}

#[test]
fn a_suggestion_keeps_given_clusters_and_can_be_cancelled() {
    let limb = Limb::cylinder();
    let n = limb.surface.n_vertices();
    let given = marked(n, numbers(3, n).take(50));
    let found = run(&limb, &given, 4.0, n);
    assert!((0..n).all(|v| found.clusters[v] || !given[v]));
    assert!(found.rounds.last().unwrap().largest <= 0.04 * RADIUS);
    assert!(found.added[0].is_empty() && found.rounds.len() > 1);
    assert_eq!(found, run(&limb, &given, 4.0, n), "the same every time");
    // No more than asked for, even where the error is not reached.
    let few = run(&limb, &marked(n, []), 0.0, 40);
    assert_eq!(few.clusters.iter().filter(|c| **c).count(), 40);
    let task = Task::new();
    task.cancel();
    let settings = SuggestSettings {
        error: 0.0,
        most: 10,
    };
    let measure = |_: &[bool]| -> Result<ClusterErrors, Cancelled> { panic!("not measured") };
    let cancelled = suggest(&limb.surface, &given, settings, measure, &task);
    assert_eq!(cancelled, Err(Cancelled));
}

#[test]
fn clusters_keep_the_larger_part_of_a_corrective() {
    let Some(arm) = Arm::load("clusters_keep_the_larger_part_of_a_corrective") else {
        return;
    };
    let limb = Limb::arm(&arm);
    let n = limb.surface.n_vertices();
    let turn = bend(90.0);
    let skinned = limb.skinned(turn, Skin::DualQuaternion);
    let vertices = limb.surface.positions.iter().zip(&limb.lower);
    let rotations: Vec<DQuat> = vertices
        .map(|(&p, &w)| Limb::skin(p, w, turn, Skin::DualQuaternion).1)
        .collect();
    // A smooth bulge along the normals within 0.8 of the elbow.
    let smooth: Vec<DVec3> = (0..n)
        .map(|v| {
            let p = limb.surface.positions[v];
            let x = (p.z.abs() / 0.8).min(1.0) * std::f64::consts::FRAC_PI_2;
            limb.surface.normals[v] * (0.1 * RADIUS * x.cos().powi(2)).max(0.0)
        })
        .map(|d| if d.length() < 1e-9 { DVec3::ZERO } else { d })
        .collect();
    let corrective = Corrective {
        skinned: &skinned,
        rotations: &rotations,
        displacements: &smooth,
    };
    let residual = |percent: &str, kind: Interpolation, corrective: &Corrective<'_>| {
        let clustered = Clustered::new(&limb, &arm.clusters(percent));
        let frames = limb.frames(&clustered.net.corners, turn, Skin::DualQuaternion);
        let options = PatchOptions::new(kind);
        let (surface, layout, net) = (&limb.surface, &clustered.layout, &clustered.net);
        let found = extract(surface, layout, net, (options, true), &frames, corrective);
        println!(
            "{percent} %, {kind:?}: {} samples for {} vertices leave {:.1} %",
            found.samples.len(),
            found.n_displaced,
            100.0 * found.residual
        );
        found.residual
    };
    // METHODS 2.5: 21, 10.7 and 5.3 % of a smooth corrective; the rule for artists.
    for (percent, most) in [("05", 0.30), ("10", 0.16), ("20", 0.08)] {
        let transported = residual(percent, Interpolation::TransportedBezier, &corrective);
        let skinned = residual(percent, Interpolation::SkinnedFree, &corrective);
        assert!(
            transported < most && skinned < most,
            "{transported} {skinned}"
        );
        let point_normal = residual(percent, Interpolation::PointNormal, &corrective);
        assert!(point_normal > transported);
    }
    let nothing = vec![DVec3::ZERO; n];
    let none = Corrective {
        displacements: &nothing,
        ..corrective
    };
    assert_eq!(residual("10", Interpolation::SkinnedFree, &none), 0.0);
    // With all vertices clusters nothing is left.
    let clustered = Clustered::new(&limb, &marked(n, 0..n));
    let frames = limb.frames(&clustered.net.corners, turn, Skin::DualQuaternion);
    let options = PatchOptions::default();
    let all = extract(
        &limb.surface,
        &clustered.layout,
        &clustered.net,
        (options, true),
        &frames,
        &corrective,
    );
    assert_eq!((all.residual, all.samples.len()), (0.0, all.n_displaced));
}
