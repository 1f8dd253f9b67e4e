//! Every shared model under every method in several poses: all finite; bulge and discontinuity before and after.

use crate::export_models::open;
use crate::shared::shared_dir;
use crate::skinning::Random;
use glam::{DMat3, DQuat, DVec3};
use sinew::deform::diagnostics::{Metric, measure};
use sinew::deform::{DeformStack, StackPreset, Variant};
use sinew::document::Document;
use sinew::evaluate::{Comparison, Evaluator, Gauge, gauge::with_stacks};
use sinew::skeleton::Pose;

/// Every preset, both corrections as published, and all stages at once.
fn stacks() -> Vec<(String, DeformStack)> {
    let mut stacks: Vec<(String, DeformStack)> = StackPreset::ALL
        .into_iter()
        .map(|p| (p.label().to_owned(), p.stack()))
        .collect();
    let mut published = DeformStack::default();
    published.compensation.variant = Variant::Published;
    published.projection.variant = Variant::Published;
    stacks.push(("as published".into(), published));
    let mut all = DeformStack::default();
    all.compensation.auto_strength = true;
    all.projection.sibling_fade = true;
    all.smooth.enabled = true;
    stacks.push(("all stages".into(), all));
    stacks
}

/// Poses that artists make, and some that they make by mistake.
fn poses(document: &Document) -> Vec<(String, Pose)> {
    let rest = document.rest_pose().as_ref().clone();
    let mut poses = vec![("rest".to_owned(), rest.clone())];
    for clip in document.clips().values().take(3) {
        let (start, end) = (f64::from(clip.start_secs()), f64::from(clip.end_secs()));
        let time = start + 0.4 * (end - start);
        poses.push((clip.name.clone(), document.pose_of_clip(clip, time)));
    }
    let mut random = Random::new(60);
    for degrees in [40f64, 150.0] {
        let mut pose = rest.clone();
        for local in &mut pose.locals {
            let axis = random.vector(1.0).normalize_or(DVec3::X);
            let turn = DQuat::from_axis_angle(axis, random.next() * degrees.to_radians());
            local.rotation *= turn;
        }
        poses.push((format!("turned by up to {degrees}"), pose));
    }
    let mut broken = rest;
    for (j, local) in broken.locals.iter_mut().enumerate() {
        local.stretch *= DMat3::from_diagonal(match j % 7 {
            3 => DVec3::new(-1.0, 1.0, 1.0),
            5 => DVec3::new(1.0, 0.0, 1.0),
            6 => DVec3::splat(0.0),
            _ => DVec3::new(1.0, 1.3, 0.8),
        });
    }
    poses.push(("mirrored and flattened".into(), broken));
    poses
}

#[test]
fn every_model_stays_finite_under_every_method_in_any_pose() {
    let Some(shared) = shared_dir("models under every method") else {
        return;
    };
    let mut files: Vec<_> = std::fs::read_dir(shared.join("models"))
        .unwrap()
        .filter_map(|folder| std::fs::read_dir(folder.unwrap().path()).ok())
        .flatten()
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "glb" || e == "gltf"))
        .collect();
    files.sort();
    assert!(files.len() >= 12);
    for path in files {
        let document = open(&path);
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let poses = poses(&document);
        for (stack_name, stack) in stacks() {
            let document = with_stacks(&document, |_| stack.clone());
            let mut evaluator = Evaluator::default();
            for (pose_name, pose) in &poses {
                evaluator.evaluate(&document, pose);
                for id in document.instances().keys() {
                    let plan = evaluator.plan(*id).unwrap();
                    let both = plan.positions().iter().chain(plan.normals());
                    let broken = both.filter(|v| !v.is_finite()).count();
                    assert_eq!(broken, 0, "{name}, {stack_name}, {pose_name}: not finite");
                }
            }
        }
        report(&name, &document, &poses);
    }
}

/// Prints the worst bulge of DQS and of the default stack, and the worst discontinuity of the default one.
fn report(name: &str, document: &Document, poses: &[(String, Pose)]) {
    let plain = with_stacks(document, |_| DeformStack::dqs());
    let corrected = with_stacks(document, |_| DeformStack::default());
    let worst = |document: &Document, pose: &Pose, metric: Metric| -> (f32, f32) {
        let mut gauge = Gauge::default();
        let comparison = Comparison {
            plain: true,
            ..Comparison::default()
        };
        gauge.evaluate(document, pose, &comparison);
        let (mut max, mut p99) = (0.0f32, 0.0f32);
        for (&id, instance) in document.instances() {
            if instance.skin.is_none() {
                continue;
            }
            let Some(shape) = gauge.shape(document, id) else {
                continue;
            };
            let mut values: Vec<f32> = measure(metric, &shape)
                .values
                .into_iter()
                .filter(|v| !v.is_nan())
                .collect();
            values.sort_by(f32::total_cmp);
            max = max.max(values.last().copied().unwrap_or(0.0));
            p99 = p99.max(values.get(values.len() * 99 / 100).copied().unwrap_or(0.0));
        }
        (max, p99)
    };
    for (pose_name, pose) in &poses[..poses.len() - 1] {
        let before = worst(&plain, pose, Metric::Bulge);
        let after = worst(&corrected, pose, Metric::Bulge);
        let jump = worst(&corrected, pose, Metric::Discontinuity);
        println!(
            "{name:24} {pose_name:22} bulge max/p99 {:.3}/{:.3} -> {:.3}/{:.3}, discontinuity {:.2}/{:.2}",
            before.0, before.1, after.0, after.1, jump.0, jump.1
        );
    }
}
