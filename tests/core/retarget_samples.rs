//! Corrective samples in files for any clip: morph targets that an engine drives by the rotations of joints.

use crate::bake::corrected;
use crate::export_models::reopen;
use crate::reference::larger;
use crate::retarget::{
    bent_and_twisted, clip_in_three_js, diagonal, json_of, played_by_three_js, retarget, sample,
    wanted, with_clips, worst,
};
use glam::{DQuat, DVec3, Vec3};
use serde_json::Value;
use sinew::bake::BakeOptions;
use sinew::deform::correctives::{CapturedOver, Driver, Sample, SampleSet};
use sinew::deform::{Correctives, DeformStack, capture};
use sinew::document::rig::{self, WeightRecipient};
use sinew::document::{CorrectivesEdit, Document, Edit, InstanceId, MeshId};
use sinew::evaluate::Evaluator;
use sinew::export::{ExportOptions, Exported, export};
use sinew::io::gltf_export::GltfFormat;
use sinew::io::open_sample;
use sinew::math::transform::normalize_or_identity;
use sinew::psd::DriverMode;
use sinew::skeleton::Frame;
use sinew::skeleton::{JointId, Pose};
use sinew::task::Task;
use std::sync::Arc;

const FOREARM: JointId = JointId(1);
const HAND: JointId = JointId(2);

fn bend(degrees: f64) -> DQuat {
    DQuat::from_rotation_z(degrees.to_radians())
}

fn posed(document: &Document, rotations: &[(JointId, DQuat)]) -> Pose {
    let mut pose = Pose::clone(document.rest_pose());
    for &(joint, rotation) in rotations {
        let local = &mut pose.locals[joint.get()];
        local.rotation = normalize_or_identity(local.rotation * rotation);
    }
    pose
}

fn instance(document: &Document) -> (InstanceId, MeshId) {
    let mut instances = document.instances().iter();
    let skinned = instances.find(|(_, instance)| instance.skin.is_some());
    skinned.map(|(&id, instance)| (id, instance.mesh)).unwrap()
}

/// Adds a sample to the set of a joint: the skin near it, moved outwards.
fn add(document: &mut Document, joint: JointId, mode: DriverMode, pose: &Pose, size: f32) {
    let (id, mesh) = instance(document);
    let item = document.meshes()[&mesh].clone();
    let skeleton = document.skeleton();
    let mut evaluator = Evaluator::default();
    evaluator.evaluate(document, pose);
    let plan = evaluator.plan(id).unwrap();
    let world = document.rest_pose().world_matrices(skeleton);
    let place = world[joint.get()].translation;
    let points = (0..).zip(item.geometry.positions.iter().zip(plan.positions()));
    let sculpted: Vec<(u32, Vec3)> = points
        .filter_map(|(point, (bind, now))| {
            let from = bind.as_dvec3() - place;
            let falloff = 1.0 - (from.length() / 0.25) as f32;
            let out = DVec3::new(from.x, 0.2 * from.y, from.z).as_vec3();
            (falloff > 0.0).then(|| (point, *now + out * size * falloff))
        })
        .collect();
    assert!(sculpted.len() > 20, "{}", sculpted.len());
    let captured = capture(plan, &item.stack, &item.masks, &sculpted);
    let mut sets = item.correctives.sets().to_vec();
    let of_joint = |set: &Arc<SampleSet>| set.drivers[0].joint == joint;
    let at = sets.iter().position(of_joint).unwrap_or_else(|| {
        let driver = Driver::of_joint(joint, skeleton, &document.rest_pose().locals);
        let driver = Driver { mode, ..driver };
        sets.push(Arc::new(SampleSet::new(format!("{joint:?}"), vec![driver])));
        sets.len() - 1
    });
    let rotation = |driver: &Driver| driver.rotation(skeleton, &pose.locals);
    let others = sets.iter().filter(|set| !of_joint(set));
    let beside = others.flat_map(|set| &set.drivers);
    let sample = Sample {
        name: format!("Sample {}", item.correctives.samples().len() + 1),
        rotations: sets[at].drivers.iter().map(rotation).collect(),
        beside: beside.map(|d| (d.joint, rotation(d))).collect(),
        displacements: captured.displacements,
        captured_on: item.stack.clone(),
        captured_over: CapturedOver::default(),
        strength: 1.0,
        muted: false,
    };
    Arc::make_mut(&mut sets[at]).samples.push(Arc::new(sample));
    let made = Arc::new(Correctives::new(sets).unwrap());
    let edit = CorrectivesEdit::new(document, mesh, made);
    document.apply(&mut Edit::Correctives(edit)).unwrap();
}

/// The sample arm with two samples at the elbow and one at the wrist, taken with the elbow bent.
fn corrected_arm(stack: &DeformStack, mode: DriverMode) -> Document {
    let mut document = with_clips(sample("arm", stack), 1);
    let pose = posed(&document, &[(FOREARM, bend(60.0))]);
    add(&mut document, FOREARM, mode, &pose, 0.4);
    let pose = posed(&document, &[(FOREARM, bend(115.0))]);
    add(&mut document, FOREARM, mode, &pose, -0.5);
    let pose = posed(&document, &[(FOREARM, bend(40.0)), (HAND, bend(50.0))]);
    add(&mut document, HAND, DriverMode::Ball, &pose, 0.6);
    document
}

#[test]
fn samples_are_morph_targets_with_drivers() {
    for (stack, mode, limit) in [
        (DeformStack::dqs(), DriverMode::Ball, 0.1),
        (DeformStack::lbs(), DriverMode::Hinge(DVec3::Z), 0.1),
    ] {
        let document = corrected_arm(&stack, mode);
        let (exported, report) = retarget(&document);
        assert_eq!(report.morph_targets, 3, "{report:?}");
        assert!(report.whole_stack.is_none());
        let driven = report.driven.unwrap();
        println!(
            "{:?}: clips {:.4} %, driven {:.4} % ({:.2} % before)",
            stack.method,
            report.max_percent,
            driven.max_percent,
            driven.before_max_percent.unwrap()
        );
        assert!(report.max_percent <= limit, "{report:?}");
        assert!(driven.max_percent <= 1.0 && driven.before_max_percent.unwrap() > 1.0);
        let json = json_of(&exported.files[0].1);
        let entry = &json["extras"]["sinew_skin"]["psd"][0];
        let samples = entry["sets"][0]["samples"].as_array().unwrap();
        assert_eq!(samples.len(), 2);
        assert_eq!(samples[1]["target"], 1);
        assert_eq!(entry["sets"][1]["samples"][0]["target"], 2);
        assert!(entry["joint"].is_array());
        let names = &json["meshes"][0]["extras"]["targetNames"];
        assert_eq!(
            *names,
            serde_json::json!(["Sample 1", "Sample 2", "Sample 3"])
        );
    }
}

#[test]
fn a_bulge_correction_below_samples_is_reported() {
    let document = corrected_arm(&DeformStack::default(), DriverMode::Ball);
    let (_, report) = retarget(&document);
    assert!(report.whole_stack.unwrap().max_percent > report.max_percent);
}

/// The largest distance between two documents in a pose, percent of the diagonal.
fn apart(a: &Document, b: &Document, pose: &Pose) -> f64 {
    let size = diagonal(&wanted(a, a.rest_pose()));
    100.0 * worst(&wanted(a, pose), &wanted(b, pose)) / size
}

/// The suggested samples of the sample arm's elbow in its clip, between the moments at which the export was fitted too.
#[test]
fn three_js_plays_the_corrected_elbow() {
    let sample = open_sample("elbow-correctives", &Task::new()).unwrap();
    let document = sample.document;
    let bend = document.clips().iter().find(|(_, c)| c.name == "Bend");
    let (&bend, clip) = bend.unwrap();
    let correct = BakeOptions {
        clips: vec![bend],
        ..BakeOptions::default()
    };
    let (exported, report) = corrected(&document, correct);
    assert!(report.met, "{report:?}");
    let names = json_of(&exported.files[0].1)["animations"].clone();
    let names = names.as_array().unwrap().iter();
    let index = names.map(|clip| &clip["name"]).position(|n| n == "Bend");
    let end = f64::from(clip.end_secs());
    let moments: Vec<f64> = (0..=60).map(|k| end * f64::from(k) / 60.0).collect();
    let name = "three_js_plays_the_corrected_elbow";
    let Some(played) = clip_in_three_js(&exported, index.unwrap(), &moments, name) else {
        return;
    };
    let size = diagonal(&wanted(&document, document.rest_pose()));
    let plain = document.clone().without_correctives();
    let (mut off, mut without) = (0.0f64, 0.0f64);
    for (played, &time) in played.iter().zip(&moments) {
        let pose = document.pose_of_clip(clip, time);
        off = larger(off, 100.0 * worst(played, &wanted(&document, &pose)) / size);
        without = larger(without, apart(&document, &plain, &pose));
    }
    println!("{off:.4} %, the samples move by {without:.3} %");
    assert!(off <= 0.1 && without > 1.0, "{off} {without}");
}

/// The manual's driver in three.js against the stack, on a clip that the file does not have.
#[test]
fn three_js_drives_samples_through_a_clip_that_the_file_never_saw() {
    // Linear skinning collapses under the twist, and the target with it.
    for (stack, mode, limit) in [
        (DeformStack::dqs(), DriverMode::Ball, 0.15),
        (DeformStack::lbs(), DriverMode::Hinge(DVec3::Z), 1.2),
    ] {
        let document = corrected_arm(&stack, mode);
        let (exported, _) = retarget(&document);
        let keys = bent_and_twisted(&document, 24);
        let name = "three_js_drives_samples_through_a_clip_that_the_file_never_saw";
        let Some(off) = played_by_three_js(&document, &exported, &keys, name) else {
            return;
        };
        let plain = document.clone().without_correctives();
        let without = keys
            .iter()
            .map(|(_, _, pose)| apart(&document, &plain, pose));
        let without = without.fold(0.0, larger);
        println!(
            "{:?}: {off:.4} %, without samples {without:.3} %",
            stack.method
        );
        assert!(off <= limit && without > 2.0 * off, "{off} {without}");
    }
}

#[test]
fn drivers_of_samples_follow_the_axes_of_their_joints() {
    let document = corrected_arm(&DeformStack::dqs(), DriverMode::Hinge(DVec3::Z));
    let (exported, _) = retarget(&document);
    let read = reopen(&exported);
    let turn = DQuat::from_axis_angle(DVec3::new(0.6, 0.0, 0.8), 1.1);
    let frames = [JointId(0), FOREARM].map(|j| (j, Frame::from_rotation(turn)));
    let mut edited = read.clone();
    let edit = rig::change_frames(&edited, &frames.into(), 1e-4).unwrap();
    edited.apply(&mut Edit::Rig(Box::new(edit))).unwrap();
    let error = rig::remove(&edited, HAND, WeightRecipient::IntoParent).unwrap_err();
    assert!(error.to_string().contains("drives"), "{error}");
    let options = ExportOptions {
        format: GltfFormat::Glb,
        ..ExportOptions::default()
    };
    let written = export(&edited, &options, &Task::new()).unwrap();
    let drivers = |exported: &Exported| {
        let json = json_of(&exported.files[0].1);
        json["extras"]["sinew_skin"]["psd"][0]["sets"][0]["drivers"][0].clone()
    };
    let (before, after) = (drivers(&exported), drivers(&written));
    let numbers = |value: &Value| -> Vec<f64> { serde_json::from_value(value.clone()).unwrap() };
    let axis = |driver: &Value| DVec3::from_slice(&numbers(&driver["axis"]));
    let bind = |driver: &Value| DQuat::from_slice(&numbers(&driver["bind"]));
    let expected = turn.conjugate() * axis(&before);
    assert!(
        axis(&after).abs_diff_eq(expected, 1e-7),
        "{}",
        after["axis"]
    );
    let expected = turn.conjugate() * bind(&before) * turn;
    assert!(
        bind(&after).dot(expected).abs() > 1.0 - 1e-9,
        "{}",
        after["bind"]
    );
}
