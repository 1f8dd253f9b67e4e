//! Samples whose vertices have other weights or painted maps than when they were captured: told, settled, and saved.

use crate::bake_sources::{document as document_of, tube};
use glam::{DQuat, Vec3};
use serde_json::json;
use sinew::correctives::{self, NewSample};
use sinew::deform::correctives::{CapturedOver, Driver, Sample, SampleSet, Staleness};
use sinew::deform::{Correctives, DeformStack, MaskKind, SkinningMethod, capture};
use sinew::document::{Document, Edit, History, MeshId, checks};
use sinew::evaluate::Evaluator;
use sinew::finding::{Fix, SampleFix};
use sinew::io::project::{apply_project, parse, to_project, to_text};
use sinew::io::{gltf_build, open_any};
use sinew::math::Worse;
use sinew::psd::Displacements;
use sinew::sample::{SampleKind, sample};
use sinew::skeleton::{JointId, Pose};
use sinew::skinning::Rows;
use sinew::task::Task;
use std::collections::BTreeSet;
use std::sync::Arc;

const MESH: MeshId = MeshId(0);

fn elbow(document: &Document) -> JointId {
    let skeleton = document.skeleton();
    let mut joints = skeleton.live_joints();
    joints.find(|&j| skeleton.label(j) == "forearm").unwrap()
}

/// An arm that is read from a file, as a project needs it.
fn arm() -> Document {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("arm.glb");
    std::fs::write(&path, gltf_build::to_glb(&sample(SampleKind::Arm, 500))).unwrap();
    open_any(&path, &Task::new()).unwrap().document
}

fn bent(document: &Document) -> Pose {
    let mut pose = Pose::clone(document.rest_pose());
    pose.locals[elbow(document).get()].rotation *= DQuat::from_rotation_z(1.2);
    pose
}

fn shape(document: &Document) -> Vec<Vec3> {
    let mut evaluator = Evaluator::default();
    evaluator.evaluate(document, &bent(document));
    let instance = correctives::skinned_instance(document, MESH).unwrap();
    evaluator.plan(instance).unwrap().positions().to_vec()
}

/// The arm with a sample at the bent elbow, which moves every third vertex that its bone bends, and what it moves.
fn sculpted(stack: DeformStack) -> (Document, Vec<(u32, Vec3)>) {
    let mut document = arm();
    let mut edit = Edit::Stack {
        mesh: MESH,
        stack: Arc::new(stack),
    };
    document.apply(&mut edit).unwrap();
    let slot = document.skin_joint(MESH, elbow(&document)).unwrap();
    let item = document.meshes()[&MESH].clone();
    let places = (0..).zip(shape(&document)).filter(|(p, _)| {
        let weight = item.influences.row(*p).weight_of(slot);
        p % 3 == 0 && weight > 0.02 && weight < 0.98
    });
    let places: Vec<(u32, Vec3)> = places.map(|(p, v)| (p, v + Vec3::splat(0.02))).collect();
    assert!(places.len() > 10);
    let mut evaluator = Evaluator::default();
    evaluator.evaluate(&document, &bent(&document));
    let instance = correctives::skinned_instance(&document, MESH).unwrap();
    let plan = evaluator.plan(instance).unwrap();
    let captured = capture(plan, &item.stack, &item.masks, &places);
    let new = NewSample {
        drivers: BTreeSet::from([elbow(&document)]),
        ..NewSample::default()
    };
    let added = correctives::add_sample(&document, MESH, &captured, &bent(&document), &new);
    document.apply(&mut added.unwrap().edit).unwrap();
    (document, places)
}

/// Gives a vertex to the elbow alone.
fn painted(point: u32, document: &Document) -> Edit {
    let slot = document.skin_joint(MESH, elbow(document)).unwrap();
    let rows: Rows = [vec![(slot, 1.0)]].into_iter().collect();
    Edit::influences(MESH, vec![point], rows)
}

fn reasons(document: &Document) -> Vec<Staleness> {
    document.stale_samples(MESH).into_values().collect()
}

fn worst(document: &Document, sculpt: &[(u32, Vec3)]) -> f32 {
    let shape = shape(document);
    let apart = sculpt.iter().map(|(p, v)| shape[*p as usize].distance(*v));
    apart.fold(0.0, f32::worse)
}

fn reopened(document: &Document) -> Document {
    let text = to_text(&to_project(document, None).unwrap()).unwrap();
    let (opened, findings) = apply_project(arm(), parse(&text).unwrap()).unwrap();
    assert_eq!(findings, []);
    let again = to_text(&to_project(&opened, None).unwrap()).unwrap();
    let samples = |text: &str| text[text.find("correctives: [").unwrap()..].to_owned();
    assert_eq!(samples(&again), samples(&text), "saved as it was");
    opened
}

fn fixed(document: &Document, fix: SampleFix) -> Document {
    let made = correctives::fix(document, MESH, &[0], fix, &Task::new()).unwrap();
    let mut document = document.clone();
    document.apply(&mut made.edit.unwrap()).unwrap();
    document
}

#[test]
fn painted_weights_make_samples_of_their_vertices_stale_until_they_are_undone() {
    let (mut document, sculpt) = sculpted(DeformStack::dqs());
    let mut history = History::default();
    let fresh = document.clone();
    assert_eq!(reasons(&document), []);
    assert_eq!(checks::of_correctives(&document), []);
    let paint = |document: &mut Document, history: &mut History, point| {
        history.begin(document, "Paint");
        let edit = painted(point, document);
        history.apply(document, edit, "Paint").unwrap();
        history.commit(document);
    };
    // A vertex that the sample does not move.
    paint(&mut document, &mut history, sculpt[0].0 + 1);
    assert_eq!(reasons(&document), []);
    paint(&mut document, &mut history, sculpt[3].0);
    assert_eq!(reasons(&document), [Staleness::Weights]);
    let findings = checks::of_correctives(&document);
    assert_eq!(findings.len(), 1);
    let said = findings[0].to_string();
    assert!(
        said.contains("captured before the skin weights or painted maps changed"),
        "{said}"
    );
    assert_eq!(findings[0].fix, Some(Fix::Samples(SampleFix::Retarget)));
    assert!(worst(&document, &sculpt) > 1e-3);

    // The old weights are known: the sculpt comes back.
    let retargeted = fixed(&document, SampleFix::Retarget);
    assert_eq!(reasons(&retargeted), []);
    let error = worst(&retargeted, &sculpt);
    assert!(error < 1e-5, "{error}");
    let kept = fixed(&document, SampleFix::Keep);
    assert_eq!(reasons(&kept), []);
    assert_eq!(shape(&kept), shape(&document));
    // On another stack as well: both are taken into account.
    let mut both = document.clone();
    let mut edit = Edit::Stack {
        mesh: MESH,
        stack: Arc::new(DeformStack::lbs()),
    };
    both.apply(&mut edit).unwrap();
    let error = worst(&fixed(&both, SampleFix::Retarget), &sculpt);
    assert!(error < 1e-5, "{error}");

    history.undo(&mut document).unwrap();
    history.undo(&mut document).unwrap();
    assert_eq!(reasons(&document), []);
    assert!(document.same_content(&fresh));
    history.redo(&mut document).unwrap();
    history.redo(&mut document).unwrap();
    assert_eq!(reasons(&document), [Staleness::Weights]);
}

#[test]
fn a_painted_map_counts_where_the_stack_reads_it() {
    for (method, expected) in [
        (SkinningMethod::Blend, vec![Staleness::Weights]),
        (SkinningMethod::Dqs, vec![]),
    ] {
        let (mut document, sculpt) = sculpted(DeformStack::bare(method));
        let mut edit = Edit::mask(MESH, MaskKind::Blend, vec![sculpt[0].0], vec![0.25]);
        document.apply(&mut edit).unwrap();
        assert_eq!(reasons(&document), expected);
        let error = worst(&fixed(&document, SampleFix::Retarget), &sculpt);
        assert!(error < 1e-5, "{error} {method:?}");
    }
}

#[test]
fn a_sample_that_is_sculpted_again_fits_the_weights_of_that_moment() {
    let (mut document, sculpt) = sculpted(DeformStack::dqs());
    let next = sculpt[0].0 + 1;
    document.apply(&mut painted(next, &document)).unwrap();
    assert_eq!(reasons(&document), []);
    let moved = |document: &mut Document, point: u32| {
        let known = &document.meshes()[&MESH].correctives;
        let displacements = known.samples()[0]
            .displacements
            .with(vec![(point, Vec3::X)]);
        let made = known.with_displacements(0, 0, displacements);
        let mut edit = correctives::edit_of(document, MESH, made);
        document.apply(&mut edit).unwrap();
    };
    moved(&mut document, next);
    assert_eq!(reasons(&document), []);
    // One that is stale stays so.
    document
        .apply(&mut painted(sculpt[1].0, &document))
        .unwrap();
    moved(&mut document, next + 1);
    assert_eq!(reasons(&document), [Staleness::Weights]);
}

#[test]
fn a_project_knows_whether_the_weights_changed_since_but_not_how() {
    let (fresh, sculpt) = sculpted(DeformStack::dqs());
    let mut opened = reopened(&fresh);
    assert_eq!(reasons(&opened), []);
    opened.apply(&mut painted(sculpt[2].0, &opened)).unwrap();
    assert_eq!(reasons(&opened), [Staleness::Weights]);
    let error = worst(&fixed(&opened, SampleFix::Retarget), &sculpt);
    assert!(error < 1e-5, "{error}");

    let stale = reopened(&opened);
    assert_eq!(reasons(&stale), [Staleness::WeightsLost]);
    let findings = checks::of_correctives(&stale);
    assert_eq!(findings[0].fix, Some(Fix::Samples(SampleFix::Keep)));
    let said = findings[0].to_string();
    assert!(said.contains("The old weights are not known"), "{said}");
    let tried = correctives::fix(&stale, MESH, &[0], SampleFix::Retarget, &Task::new()).unwrap();
    assert!(tried.edit.is_none());
    assert!(
        tried.message.starts_with("No sample was re-targeted.")
            && tried.message.contains("not known"),
        "{}",
        tried.message
    );
    let kept = fixed(&stale, SampleFix::Keep);
    assert_eq!(reasons(&kept), []);
    assert_eq!(reasons(&reopened(&kept)), []);

    // A project that does not say: its samples count as fitting.
    let text = to_text(&to_project(&opened, None).unwrap()).unwrap();
    let start = text.find("captured_over: ").unwrap();
    let end = start + text[start..].find(", ").unwrap() + 2;
    let silent = [&text[..start], &text[end..]].concat();
    let (silent, _) = apply_project(arm(), parse(&silent).unwrap()).unwrap();
    assert_eq!(reasons(&silent), []);
    let over = &silent.meshes()[&MESH].correctives.samples()[0].captured_over;
    assert!(matches!(over, CapturedOver::Assumed(_)));
    let mut silent = silent;
    silent.apply(&mut painted(sculpt[4].0, &silent)).unwrap();
    assert!(!reasons(&silent).is_empty(), "painted after it was opened");
    let broken = text.replacen("captured_over: \"", "captured_over: \"x", 1);
    let why = apply_project(arm(), parse(&broken).unwrap()).unwrap_err();
    assert!(why.to_string().contains("checksum"), "{why}");
}

/// Where a bone is scaled to nothing, no displacement reaches the sculpt: the old one stays, and that is said.
#[test]
fn vertices_that_cannot_be_captured_keep_their_displacement() {
    let mut gltf = tube(2);
    gltf.json["nodes"][2]["scale"] = json!([1.0, 1.0, 1e-6]);
    let mut document = document_of(gltf);
    let rest = &document.rest_pose().locals;
    let driver = Driver::of_joint(JointId(2), document.skeleton(), rest);
    let mut set = SampleSet::new("Elbow".into(), vec![driver]);
    set.scale_with_limb = true;
    let n = document.meshes()[&MESH].geometry.n_points() as u32;
    let moved = Displacements::new((0..n).map(|p| (p, Vec3::new(0.01, 0.0, 0.02))).collect());
    set.samples.push(Arc::new(Sample {
        name: "Bent".into(),
        rotations: vec![driver.bind * DQuat::from_rotation_z(1.0)],
        beside: Vec::new(),
        displacements: moved.clone(),
        captured_on: Arc::new(DeformStack::lbs()),
        captured_over: document.captured_now(MESH),
        strength: 1.0,
        muted: false,
    }));
    let made = Correctives::new(vec![Arc::new(set)]).unwrap();
    let mut edit = correctives::edit_of(&document, MESH, made);
    document.apply(&mut edit).unwrap();
    let which = correctives::stale(&document, MESH);
    assert_eq!(which.len(), 1);
    let made = correctives::retarget(&document, MESH, &which, &Task::new());
    let made = made.unwrap().unwrap();
    assert!(
        made.n_flat > 0 && made.n_flat < n as usize,
        "{}",
        made.n_flat
    );
    let said = made.summary();
    assert!(
        said.starts_with("1 sample re-targeted.") && said.contains("kept the old displacement"),
        "{said}"
    );
    document.apply(&mut made.edit.unwrap()).unwrap();
    let now = &document.meshes()[&MESH].correctives.samples()[0].displacements;
    let n_kept = now
        .iter()
        .filter(|(p, d)| moved.get(*p) == Some(*d))
        .count();
    assert_eq!(now.n_points(), n as usize);
    assert!(n_kept >= made.n_flat, "{n_kept}");
}
