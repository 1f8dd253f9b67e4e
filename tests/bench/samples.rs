//! What corrective samples cost: their weights in a pose, the stage that adds them, opening a project with many.
//!
//! `cargo bench --no-default-features --bench samples`; compare rows of one run only.

use glam::{DQuat, DVec3, Vec3};
use sinew::deform::correctives::{
    CapturedOver, Correctives, Driver, Sample, SampleSet, WeightsWork, sum_of_samples,
};
use sinew::document::{CorrectivesEdit, Document, Edit};
use sinew::evaluate::Evaluator;
use sinew::io::{gltf_build, open_any, project};
use sinew::psd::Displacements;
use sinew::sample::{SampleKind, sample};
use sinew::skeleton::{JointId, Pose};
use sinew::task::Task;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn main() {
    weights();
    stage();
    adding();
    opening();
}

/// The model with a number of points, as a file in `folder`.
fn model(folder: &Path, kind: SampleKind, n_points: usize) -> Document {
    let path = folder.join("model.glb");
    std::fs::write(&path, gltf_build::to_glb(&sample(kind, n_points))).unwrap();
    open_any(&path, &Task::new()).unwrap().document
}

/// A rotation of up to about 100 degrees, another one for each number.
fn rotation(k: usize) -> DQuat {
    let part = |i: f64| ((k as f64 + 1.0) * i).fract() - 0.5;
    let axis = DVec3::new(part(0.618_034), part(0.414_214), part(0.732_051));
    DQuat::from_scaled_axis(axis * 2.4)
}

/// A set of samples at scattered poses of `joints`; each moves `points` points in a run of its own.
fn set(
    document: &Document,
    joints: &[JointId],
    n_samples: usize,
    points: impl Fn(usize) -> std::ops::Range<u32>,
) -> Correctives {
    let (skeleton, rest) = (document.skeleton(), &document.rest_pose().locals);
    let drivers: Vec<Driver> = joints
        .iter()
        .map(|&joint| Driver::of_joint(joint, skeleton, rest))
        .collect();
    let item = document.meshes().values().next().unwrap();
    let mut set = SampleSet::new("set".into(), drivers.clone());
    for k in 0..n_samples {
        let rotations = drivers.iter().enumerate();
        let rotations = rotations.map(|(j, driver)| driver.bind * rotation(k * 5 + j));
        let moved = points(k).map(|p| {
            let share = f64::from(p) * 0.618_034;
            let offset = DVec3::new(share.sin(), share.cos(), (share * 0.7).sin()) * 0.01;
            (p, offset.as_vec3())
        });
        set.samples.push(Arc::new(Sample {
            name: format!("sample {k}"),
            rotations: rotations.collect(),
            beside: Vec::new(),
            displacements: Displacements::new(moved.collect::<Vec<(u32, Vec3)>>()),
            captured_on: item.stack.clone(),
            captured_over: CapturedOver::default(),
            strength: 1.0,
            muted: false,
        }));
    }
    Correctives::new(vec![Arc::new(set)]).unwrap()
}

fn apply(document: &mut Document, correctives: Correctives) {
    let mesh = *document.meshes().keys().next().unwrap();
    let edit = CorrectivesEdit::new(document, mesh, Arc::new(correctives));
    document.apply(&mut Edit::Correctives(edit)).unwrap();
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// The weights of 64 samples on 4 joints.
fn weights() {
    let folder = tempfile::tempdir().unwrap();
    let document = model(folder.path(), SampleKind::Hand, 5000);
    let joints: Vec<JointId> = (2..6).map(JointId).collect();
    let correctives = set(&document, &joints, 64, |_| 0..1);
    let mut work = WeightsWork::default();
    let mut pose = Pose::clone(document.rest_pose());
    let mut times = Vec::new();
    for i in 0..2000 {
        for (k, joint) in joints.iter().enumerate() {
            pose.locals[joint.get()].rotation = rotation(i * 7 + k);
        }
        let start = Instant::now();
        let weights = correctives.weights(document.skeleton(), &pose.locals, &mut work);
        times.push(start.elapsed());
        assert!(weights.iter().all(|w| w.is_finite()));
    }
    println!(
        "weights of 64 samples on 4 joints: {:.1?}",
        median(&mut times)
    );
}

/// What a new sample starts with: the sum of 16 samples of 100 thousand points each, in a pose, with the same weights for all
/// points and with those of each. Beside it the sum taken point by point.
fn adding() {
    let folder = tempfile::tempdir().unwrap();
    let plain = model(folder.path(), SampleKind::Mannequin, 100_000);
    let n_points = plain.meshes().values().next().unwrap().geometry.n_points() as u32;
    let joints = [JointId(9), JointId(10)];
    for weighted in [false, true] {
        let mut document = plain.clone();
        let mut made = SampleSet::clone(&set(&plain, &joints, 16, |_| 0..n_points).sets()[0]);
        made.weighted = weighted;
        apply(
            &mut document,
            Correctives::new(vec![Arc::new(made)]).unwrap(),
        );
        let mut pose = Pose::clone(document.rest_pose());
        for (k, joint) in joints.iter().enumerate() {
            pose.locals[joint.get()].rotation *= rotation(3 + k);
        }
        document.session_mut().playback.clip = None;
        let posed = Edit::pose_change(document.pose(), &pose);
        document.apply(&mut posed.unwrap()).unwrap();
        let instance = *document.instances().keys().next().unwrap();
        let item = document.meshes().values().next().unwrap();
        let parts = || {
            let weights = document.point_weights(instance).unwrap();
            (weights, document.point_rotations(instance).unwrap())
        };
        let (mut by_arrays, mut by_points) = (Vec::new(), Vec::new());
        for _ in 0..5 {
            let start = Instant::now();
            let (mut weights, rotations) = parts();
            let shown = sum_of_samples(&item.correctives, &mut weights, &rotations, false);
            by_arrays.push(start.elapsed());
            let start = Instant::now();
            let (mut weights, _) = parts();
            let mut sums: BTreeMap<u32, Vec3> = BTreeMap::new();
            for (s, sample) in item.correctives.samples().iter().enumerate() {
                for (point, displacement) in sample.displacements.iter() {
                    let weight = weights.at(point)[s];
                    *sums.entry(point).or_default() += displacement * weight as f32;
                }
            }
            let sums = Displacements::new(sums.into_iter().collect());
            by_points.push(start.elapsed());
            assert_eq!(shown.n_points(), sums.n_points());
        }
        let weights = if weighted {
            "of each point"
        } else {
            "for all points"
        };
        println!(
            "adding a sample to 16 of {n_points} points, weights {weights}: {:.1?}, point by point {:.1?}",
            median(&mut by_arrays),
            median(&mut by_points)
        );
    }
}

/// The default stack with and without 16 samples that each move a tenth of 100 thousand points, in turn; and what single
/// samples take of that.
fn stage() {
    let folder = tempfile::tempdir().unwrap();
    let plain = model(folder.path(), SampleKind::Mannequin, 100_000);
    let n_points = plain.meshes().values().next().unwrap().geometry.n_points() as u32;
    let joint = JointId(9);
    let first = n_points / 3;
    let with = |n_samples: usize, n_moved: u32| {
        let mut corrected = plain.clone();
        let correctives = set(&plain, &[joint], n_samples, |_| first..first + n_moved);
        apply(&mut corrected, correctives);
        corrected
    };
    let rows = [
        (
            "with 16 samples on a tenth of them",
            with(16, n_points / 10),
        ),
        ("with one on a tenth of them", with(1, n_points / 10)),
        ("with one on one of them", with(1, 1)),
    ];
    let mut evaluators: Vec<Evaluator> = (0..=rows.len()).map(|_| Evaluator::default()).collect();
    let mut times = vec![Vec::new(); 1 + rows.len()];
    let mut pose = Pose::clone(plain.rest_pose());
    for i in 0..=200 {
        pose.locals[joint.get()].rotation = rotation(i);
        let documents = [&plain].into_iter().chain(rows.iter().map(|row| &row.1));
        for (k, document) in documents.enumerate() {
            let start = Instant::now();
            evaluators[k].evaluate(document, &pose);
            // The first run cooks.
            if i > 0 {
                times[k].push(start.elapsed());
            }
        }
    }
    println!(
        "{n_points} points, default stack: {:.2?}",
        median(&mut times[0].clone())
    );
    for (k, (what, _)) in rows.iter().enumerate() {
        let pairs = times[0].iter().zip(&times[k + 1]);
        let mut ratios: Vec<f64> = pairs
            .map(|(a, b)| b.as_secs_f64() / a.as_secs_f64())
            .collect();
        ratios.sort_by(f64::total_cmp);
        println!(
            "  {what}: {:.2?}, median ratio {:.3}",
            median(&mut times[k + 1].clone()),
            ratios[ratios.len() / 2]
        );
    }
}

/// Opening a project with 200 samples of 2,000 points, against the same model without.
fn opening() {
    let folder = tempfile::tempdir().unwrap();
    let plain = model(folder.path(), SampleKind::Mannequin, 20_000);
    let mut corrected = plain.clone();
    let joints: Vec<JointId> = (8..12).map(JointId).collect();
    let points = |k: usize| {
        let first = (k as u32 * 83) % 17_000;
        first..first + 2000
    };
    apply(&mut corrected, set(&plain, &joints, 200, points));
    let paths = [&plain, &corrected].map(|document| {
        let n = document.meshes().values().next().unwrap();
        let path = folder
            .path()
            .join(format!("{}.ron", n.correctives.samples().len()));
        project::save(document, &path, &Task::new()).unwrap();
        path
    });
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..15 {
        for (times, path) in times.iter_mut().zip(&paths) {
            let start = Instant::now();
            let opened = open_any(path, &Task::new()).unwrap();
            times.push(start.elapsed());
            assert!(opened.findings.iter().all(|f| f.place != "correctives"));
        }
    }
    let bytes = std::fs::metadata(&paths[1]).unwrap().len();
    let [without, with] = times.map(|mut times| median(&mut times));
    let item = corrected.meshes().values().next().unwrap();
    let sets = item.correctives.sets().to_vec();
    let mut solving: Vec<Duration> = (0..9)
        .map(|_| {
            let start = Instant::now();
            assert!(Correctives::new(sets.clone()).is_ok());
            start.elapsed()
        })
        .collect();
    println!(
        "solving 200 samples on 4 joints: {:.1?}",
        median(&mut solving)
    );
    println!(
        "opening 200 samples of 2,000 points: {:.1?} ({with:.1?} with, {without:.1?} without), {:.1} MB",
        with.saturating_sub(without),
        bytes as f64 / 1e6
    );
}
