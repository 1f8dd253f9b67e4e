//! What else has to know corrective samples: several instances of a mesh, autosave and recovery, heat maps, a
//! generated range of motion.

use crate::bake_sources::{document, draw, skin, tube as chain};
use crate::editing::EditorHarness;
use glam::{DQuat, DVec3, Vec3};
use serde_json::json;
use sinew::bake::{BakeMode, BakeOptions};
use sinew::deform::correctives::{
    CapturedOver, Correctives, Driver, Sample, SampleSet, WeightsWork,
};
use sinew::deform::diagnostics::{Metric, Summary, measure};
use sinew::deform::{DeformStack, SkinningMethod, StackChoice, StackPreset, blended_rotations};
use sinew::document::{CorrectivesEdit, Document, Edit, InstanceId, MeshId};
use sinew::evaluate::gauge::with_stacks;
use sinew::evaluate::{Comparison, Difference, Evaluator, Gauge, ViewId};
use sinew::export::{ExportOptions, preflight};
use sinew::math::Worse;
use sinew::psd::Displacements;
use sinew::skeleton::{JointId, Pose, RangeOfMotion};
use std::sync::Arc;

const MESH: MeshId = MeshId(0);

/// A set with one sample of `joint`, rotated by `rotation` from its rest pose.
fn set(document: &Document, joint: JointId, rotation: DQuat, moved: Vec<(u32, Vec3)>) -> SampleSet {
    let (skeleton, rest) = (document.skeleton(), &document.rest_pose().locals);
    let driver = Driver::of_joint(joint, skeleton, rest);
    let mut set = SampleSet::new("Elbow".into(), vec![driver]);
    set.samples.push(Arc::new(Sample {
        name: "Bent".into(),
        rotations: vec![driver.bind * rotation],
        beside: Vec::new(),
        displacements: Displacements::new(moved),
        captured_on: document.meshes()[&MESH].stack.clone(),
        captured_over: CapturedOver::default(),
        strength: 1.0,
        muted: false,
    }));
    set
}

fn edit(document: &Document, set: SampleSet) -> Edit {
    let made = Arc::new(Correctives::new(vec![Arc::new(set)]).unwrap());
    Edit::Correctives(CorrectivesEdit::new(document, MESH, made))
}

/// One mesh under two skins, the nodes 1 and 2, and 3 and 4.
fn twins() -> Document {
    let mut gltf = chain(2);
    let nodes = gltf.json["nodes"].as_array_mut().unwrap();
    nodes.push(json!({"name": "Other 0", "children": [4], "translation": [1.5, 0, 0]}));
    nodes.push(json!({"name": "Other 1", "translation": [0, 1, 0]}));
    let roots = gltf.json["scenes"][0]["nodes"].as_array_mut().unwrap();
    roots.push(json!(3));
    let other = skin(&mut gltf, 3, 2, 1.0);
    let other = gltf.push("skins", other);
    draw(&mut gltf, 0, other);
    document(gltf)
}

/// Two instances of one mesh under skins of their own: each carries the sample by the rotations of its own points, and
/// its own bone at the place of the driver says how much of it.
#[test]
fn every_instance_of_a_mesh_carries_its_samples_in_its_own_pose() {
    let plain = twins();
    let skinned: Vec<InstanceId> = plain.instances().keys().copied().collect();
    assert_eq!(skinned.len(), 2);
    let n = plain.meshes()[&MESH].geometry.n_points() as u32;
    let bump = |p: u32| Vec3::new(0.02, 0.01, -0.03) * (1.0 + p as f32 / n as f32);
    let moved: Vec<(u32, Vec3)> = (n / 3..2 * n / 3).map(|p| (p, bump(p))).collect();
    let (bent, turned) = (DQuat::from_rotation_z(1.4), DQuat::from_rotation_x(0.8));
    let mut corrected = plain.clone();
    let driver = JointId(2);
    let mut edit = edit(&plain, set(&plain, driver, bent, moved.clone()));
    corrected.apply(&mut edit).unwrap();
    for method in SkinningMethod::ALL {
        let stack = DeformStack::bare(method);
        let [plain, corrected] = [&plain, &corrected].map(|d| with_stacks(d, |_| stack.clone()));
        let mut pose = Pose::clone(plain.rest_pose());
        pose.locals[driver.get()].rotation *= bent;
        pose.locals[4].rotation *= turned;
        // The other one has the weight that the first has where its bone is rotated likewise.
        let mut likewise = pose.clone();
        likewise.locals[driver.get()].rotation = pose.locals[4].rotation;
        let correctives = &corrected.meshes()[&MESH].correctives;
        let weights = [&pose, &likewise].map(|pose| {
            let mut work = WeightsWork::default();
            correctives.weights(corrected.skeleton(), &pose.locals, &mut work)[0]
        });
        assert!(weights[0] > 0.999 && weights[1] < 0.9, "{weights:?}");
        let shapes = |document: &Document| {
            let mut evaluator = Evaluator::default();
            evaluator.evaluate(document, &pose);
            let of = |id: &InstanceId| evaluator.plan(*id).unwrap().positions().to_vec();
            skinned.iter().map(of).collect::<Vec<_>>()
        };
        let (before, after) = (shapes(&plain), shapes(&corrected));
        let mut evaluator = Evaluator::default();
        evaluator.evaluate(&plain, &pose);
        let item = &plain.meshes()[&MESH];
        let points: Vec<u32> = (0..n).collect();
        for (k, id) in skinned.iter().enumerate() {
            let plan = evaluator.plan(*id).unwrap();
            let turns = blended_rotations(plan, &item.stack, &item.masks, &points);
            for p in 0..n as usize {
                let (a, b) = (before[k][p], after[k][p]);
                let known = moved.iter().find(|(point, _)| *point as usize == p);
                let expected =
                    known.map_or(DVec3::ZERO, |(_, d)| turns[p] * d.as_dvec3() * weights[k]);
                let off = (b - a).as_dvec3().distance(expected);
                assert!(off < 1e-6, "{method:?}: point {p} of instance {k}: {off:e}");
                assert!(known.is_some() || a == b, "{method:?}: {p} of {k}");
            }
        }
        assert_ne!(after[0], after[1], "{method:?}");
    }
    let correct = BakeOptions {
        mode: BakeMode::Retarget,
        ..BakeOptions::default()
    };
    let options = ExportOptions {
        correct: Some(correct),
        ..ExportOptions::default()
    };
    let said = |document: &Document| {
        let findings = preflight(document, &options);
        findings
            .iter()
            .any(|f| f.message.starts_with("Several skins draw it"))
    };
    assert!(said(&corrected) && !said(&plain));
}

/// Bones of two skins in the same pose correct their points alike, by the distances of each vertex, too.
#[test]
fn twins_in_one_pose_have_one_correction() {
    let plain = twins();
    let skinned: Vec<InstanceId> = plain.instances().keys().copied().collect();
    let n = plain.meshes()[&MESH].geometry.n_points() as u32;
    let moved: Vec<(u32, Vec3)> = (0..n).map(|p| (p, Vec3::new(0.02, 0.01, -0.03))).collect();
    let bent = DQuat::from_rotation_z(1.4);
    for weighted in [false, true] {
        let mut document = plain.clone();
        let mut made = set(&plain, JointId(2), bent, moved.clone());
        let rest = &plain.rest_pose().locals;
        let upper = Driver::of_joint(JointId(1), plain.skeleton(), rest);
        made.drivers.push(upper);
        Arc::make_mut(&mut made.samples[0])
            .rotations
            .push(upper.bind * bent);
        made.weighted = weighted;
        document.apply(&mut edit(&plain, made)).unwrap();
        let mut pose = Pose::clone(plain.rest_pose());
        for (joint, angle) in [(1, 0.3), (2, 0.9), (3, 0.3), (4, 0.9)] {
            pose.locals[joint].rotation *= DQuat::from_rotation_z(angle);
        }
        let shapes = |document: &Document| {
            let mut evaluator = Evaluator::default();
            evaluator.evaluate(document, &pose);
            let of = |id: &InstanceId| evaluator.plan(*id).unwrap().positions().to_vec();
            skinned.iter().map(of).collect::<Vec<_>>()
        };
        let (before, after) = (shapes(&plain), shapes(&document));
        let mut most = 0.0_f32;
        for p in 0..n as usize {
            let [a, b] = [0, 1].map(|k| after[k][p] - before[k][p]);
            assert!(a.distance(b) < 1e-5, "{weighted} {p}: {a} {b}");
            most = most.max(a.length());
        }
        assert!(most > 5e-3, "{most}");
    }
}

/// The arm with a sample of the forearm, bent into it.
fn bend_corrected(h: &mut EditorHarness) {
    let forearm = JointId(h.joint("forearm"));
    let bent = DQuat::from_rotation_z(1.5);
    let n = h.editor.document().meshes()[&MESH].geometry.n_points() as u32;
    let moved = (n / 2..n / 2 + 900).map(|p| (p, Vec3::new(0.01, 0.02, p as f32 * 1e-6)));
    let set = set(h.editor.document(), forearm, bent, moved.collect());
    let edit = edit(h.editor.document(), set);
    h.editor.apply(edit, "Add sample").unwrap();
    let mut pose = Pose::clone(h.editor.document().pose());
    pose.locals[forearm.get()].rotation =
        h.editor.document().rest_pose().locals[forearm.get()].rotation * bent;
    let edit = Edit::pose_change(h.editor.document().pose(), &pose).unwrap();
    h.editor.apply(edit, "Bend").unwrap();
    h.settle();
}

#[test]
fn samples_come_back_after_a_crash_and_play_as_before() {
    let folder = tempfile::tempdir().unwrap();
    let mut h = EditorHarness::with_autosaves(folder.path());
    bend_corrected(&mut h);
    let restored = h.after_a_crash();
    let samples = |h: &EditorHarness| h.editor.document().meshes()[&MESH].correctives.clone();
    assert_eq!(samples(&restored), samples(&h));
    assert_eq!(
        samples(&restored).samples()[0].displacements.n_points(),
        900
    );
    let shown = |h: &EditorHarness| {
        let displayed = h.editor.displayed().values();
        displayed.map(|d| d.positions.clone()).collect::<Vec<_>>()
    };
    assert!(shown(&restored) == shown(&h), "the same shape, bit for bit");
    let is_modified = restored.editor.history().is_modified();
    assert!(is_modified, "what was recovered is not saved yet");
}

#[test]
fn heat_maps_measure_the_corrected_surface() {
    let mut h = EditorHarness::new();
    bend_corrected(&mut h);
    let id = *h.editor.displayed().keys().next().unwrap();
    let comparison = Comparison {
        plain: true,
        other: None,
    };
    let measured = |document: &Document, metric| {
        let mut gauge = Gauge::default();
        gauge.evaluate(document, &document.shown_pose(), &comparison);
        measure(metric, &gauge.shape(document, id).unwrap()).values
    };
    let bits = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    let without = h.editor.document().clone().without_correctives();
    // The difference is that to a preset, which shows its stages alone.
    let own = |metric: &Metric| *metric != Metric::Difference;
    for metric in Metric::ALL.into_iter().filter(own) {
        h.editor.show_heat_map(Some(metric));
        h.settle();
        let map = h.editor.heat_map_in(ViewId::OWN, id).unwrap().clone();
        let expected = measured(h.editor.document(), metric);
        assert_eq!(bits(&map.values), bits(&expected), "{metric:?}");
        // No face may be inverted in either.
        if metric != Metric::FoldOver {
            let plain = bits(&measured(&without, metric));
            assert_ne!(bits(&map.values), plain, "{metric:?}");
        }
        let figures = h.editor.heat_figures(ViewId::OWN).unwrap();
        assert_eq!(figures.summary, Summary::of(&expected), "{metric:?}");
    }
}

/// The distance of the corrected surface from another stack's, and from its own without the samples; none from itself.
#[test]
fn difference_maps_measure_from_the_corrected_surface() {
    let mut h = EditorHarness::new();
    bend_corrected(&mut h);
    let id = *h.editor.displayed().keys().next().unwrap();
    let document = h.editor.document().clone();
    let pose = document.shown_pose();
    let shape = |document: &Document| {
        let mut evaluator = Evaluator::default();
        evaluator.evaluate(document, &pose);
        evaluator.plan(id).unwrap().positions().to_vec()
    };
    let corrected = shape(&document);
    let plain = document.clone().without_correctives();
    let lbs = shape(&with_stacks(&plain, |_| DeformStack::lbs()));
    let base = shape(&plain);
    let of = |choice: &StackChoice| match choice {
        StackChoice::Project => &corrected,
        StackChoice::Preset(StackPreset::Lbs) => &lbs,
        _ => &base,
    };
    let (project, linear) = (StackChoice::Project, StackChoice::Preset(StackPreset::Lbs));
    let own = StackChoice::Preset(StackPreset::Default);
    assert_eq!(
        StackPreset::Default.stack(),
        *document.meshes()[&MESH].stack
    );
    h.editor.show_heat_map(Some(Metric::Difference));
    for (first, to, differs) in [
        (None, linear.clone(), true),
        (None, own.clone(), true),
        (None, project.clone(), false),
        (Some(own), project, true),
        (Some(linear.clone()), linear, false),
    ] {
        h.editor.set_difference(Difference {
            of: first.clone(),
            to: to.clone(),
        });
        h.settle();
        let map = h.editor.heat_map_in(ViewId::OWN, id).unwrap().clone();
        let (a, b) = (first.as_ref().map_or(&corrected, of), of(&to));
        for (p, value) in map.values.iter().enumerate() {
            let expected = a[p].as_dvec3().distance(b[p].as_dvec3()) as f32;
            assert_eq!(*value, expected, "{first:?} {to:?}: {p}");
        }
        let n_apart = map.values.iter().filter(|v| **v > 1e-3).count();
        assert_eq!(n_apart > 800, differs, "{first:?} {to:?}: {n_apart}");
        let figures = h.editor.heat_figures(ViewId::OWN).unwrap();
        assert_eq!(figures.summary, Summary::of(&map.values));
    }
}

/// A generated range of motion that bends the driver plays its samples; one of another bone does not.
#[test]
fn a_range_of_motion_plays_the_samples() {
    let mut h = EditorHarness::new();
    bend_corrected(&mut h);
    let forearm = JointId(h.joint("forearm"));
    let settings = RangeOfMotion {
        angles: [1.5; 3],
        ..RangeOfMotion::default()
    };
    let mut largest = |bone: JointId| {
        h.editor.select_joint(Some(bone));
        assert!(h.editor.make_range_of_motion(&settings, "Range"));
        let end = f64::from(h.editor.shown_clip().unwrap().1.end_secs());
        let plain = h.editor.document().clone().without_correctives();
        let (mut weight, mut moved) = (0.0f64, 0.0f32);
        for k in 0..=60 {
            h.editor.set_time(end * f64::from(k) / 60.0);
            h.settle();
            let mut evaluator = Evaluator::default();
            evaluator.evaluate(&plain, &h.editor.document().shown_pose());
            for (id, shown) in h.editor.displayed() {
                let base = evaluator.plan(*id).unwrap().positions();
                let pairs = shown.positions.iter().zip(base);
                moved = pairs.map(|(a, b)| a.distance(*b)).fold(moved, f32::worse);
            }
            let weights = h.editor.sample_weights();
            weight = weights.iter().copied().fold(weight, f64::worse);
        }
        (weight, moved)
    };
    let (weight, moved) = largest(forearm);
    assert!(weight > 0.95 && moved > 0.02, "{weight} {moved}");
    let (weight, moved) = largest(JointId(forearm.0 - 1));
    assert!(weight.abs() < 1e-9 && moved == 0.0, "{weight} {moved}");
}
