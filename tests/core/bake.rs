//! Corrected exports: what any player shows is what the stack shows, and the rest of the file stays as it was.

use crate::export_models::{open, reopen};
use crate::shared::shared_dir;
use glam::{DQuat, Vec3};
use sinew::bake::BakeOptions;
use sinew::deform::DeformStack;
use sinew::document::{ClipId, Document, Edit};
use sinew::export::{CorrectionReport, ExportOptions, Exported, GltfFormat, export};
use sinew::io::{gltf_build, import_bytes};
use sinew::mesh::Morph;
use sinew::sample::{SampleKind, sample};
use sinew::skeleton::{Channel, Clip, Interpolation, JointId, Property};
use sinew::task::Task;
use std::path::Path;
use std::sync::Arc;

fn asset(name: &str) -> Document {
    let path = format!("{}/assets/{name}.glb", env!("CARGO_MANIFEST_DIR"));
    open(Path::new(&path))
}

pub(crate) fn with_stack(mut document: Document, stack: &DeformStack) -> Document {
    let meshes: Vec<_> = document.meshes().keys().copied().collect();
    for mesh in meshes {
        let stack = Arc::new(stack.clone());
        document.apply(&mut Edit::Stack { mesh, stack }).unwrap();
    }
    document
}

fn clip_named(document: &Document, name: &str) -> ClipId {
    let found = document.clips().iter().find(|(_, c)| c.name == name);
    let names: Vec<_> = document.clips().values().map(|c| &c.name).collect();
    *found.unwrap_or_else(|| panic!("no {name} in {names:?}")).0
}

pub(crate) fn corrected(document: &Document, correct: BakeOptions) -> (Exported, CorrectionReport) {
    let options = ExportOptions {
        correct: Some(correct),
        ..ExportOptions::default()
    };
    let exported = export(document, &options, &Task::new()).unwrap();
    let report = exported.correction.clone().unwrap();
    (exported, report)
}

/// The file must be within the tolerance, say so, and be a model that opens.
fn meets(document: &Document, clips: Vec<ClipId>) -> (Exported, CorrectionReport) {
    let (exported, report) = corrected(
        document,
        BakeOptions {
            clips,
            ..BakeOptions::default()
        },
    );
    println!("{}", report.summary());
    assert!(report.met && report.max_percent <= 0.1, "{report:?}");
    assert!(report.p999_percent <= report.max_percent && report.rms_percent <= report.p999_percent);
    assert!(report.before_max_percent > 0.1);
    // Notes about players that show few targets and about normals are no complaints.
    let is_note = |message: &str| {
        message.contains("some players show only 8")
            || message.starts_with("Normals at joints differ")
    };
    let findings = &exported.report.findings;
    let complaints = findings.iter().filter(|f| !is_note(&f.message)).count();
    assert_eq!(complaints, 0, "{findings:?}");
    let read = reopen(&exported);
    assert_eq!(read.clips().len(), document.clips().len());
    for (id, item) in read.meshes() {
        assert!(item.influences.iter().all(|row| row.len() <= 4));
        assert_eq!(
            item.geometry.n_vertices(),
            document.meshes()[id].geometry.n_vertices()
        );
        let n_source = document.meshes()[id].geometry.morphs.len();
        assert!(item.geometry.morphs.len() <= n_source + report.morph_targets);
    }
    // Without a clip the new targets have no weight.
    assert!(
        read.rest_pose()
            .morph_weights
            .iter()
            .flatten()
            .all(|w| *w == 0.0)
    );
    (exported, report)
}

#[test]
fn an_arm_plays_dual_quaternion_skinning_in_any_player() {
    let document = with_stack(asset("arm"), &DeformStack::dqs());
    let (exported, report) = meets(&document, Vec::new());
    assert!(report.helper_joints + report.morph_targets > 0);
    let read = reopen(&exported);
    // Channels of the source stay as they are.
    for (id, clip) in document.clips() {
        for channel in &clip.channels {
            assert!(read.clips()[id].channels.contains(channel));
        }
    }
    let weights = read.clips().values().flat_map(|c| &c.channels);
    let mut weights = weights.filter(|c| c.property == Property::MorphWeights);
    assert!(weights.all(|c| c.values.iter().all(|w| (0.0..=1.0).contains(w))));
}

#[test]
fn a_stack_that_players_have_anyway_is_the_sources_bytes() {
    let document = with_stack(asset("arm"), &DeformStack::lbs());
    let (exported, report) = corrected(&document, BakeOptions::default());
    assert!(exported.report.verbatim && report.nothing_to_do && report.met);
    assert_eq!(exported.files[0].1, document.source().unwrap().bytes);
}

#[test]
fn regions_of_a_body_have_targets_of_their_own() {
    let document = with_stack(asset("mannequin"), &DeformStack::default());
    let without_helpers = |max_morphs| BakeOptions {
        max_morphs,
        max_joints: 1,
        ..BakeOptions::default()
    };
    let (exported, report) = corrected(&document, without_helpers(128));
    assert!(report.met && report.helper_joints == 0, "{report:?}");
    assert!(report.morph_targets > 8);
    let told = |exported: &Exported| {
        let findings = exported.report.findings.iter();
        findings
            .filter(|f| f.message.contains("show only 8"))
            .count()
    };
    assert_eq!(told(&exported), 1);
    let read = reopen(&exported);
    let mesh = &read.meshes().values().next().unwrap().geometry;
    let n_moved = |morph: &Morph| morph.deltas.iter().filter(|d| **d != Vec3::ZERO).count();
    let moved: Vec<usize> = mesh.morphs.iter().map(n_moved).collect();
    // The last one adds all displacements at their lowest weights.
    let regional = &moved[..moved.len() - 1];
    assert!(
        regional.iter().all(|&n| 2 * n < mesh.n_points()),
        "{moved:?} of {}",
        mesh.n_points()
    );
    let (exported, few) = corrected(&document, without_helpers(8));
    assert!(few.morph_targets <= 8 && told(&exported) == 0);
    assert!(few.max_percent > report.max_percent);
}

#[test]
fn a_tolerance_out_of_reach_is_said_to_be_missed() {
    let document = with_stack(asset("arm"), &DeformStack::dqs());
    let options = BakeOptions {
        tolerance: 1e-4,
        max_morphs: 0,
        max_joints: 3,
        ..BakeOptions::default()
    };
    let (exported, report) = corrected(&document, options);
    assert!(!report.met && report.max_percent > 0.01);
    let worst = report.worst.unwrap();
    assert!(document.clips().values().any(|c| c.name == worst.clip));
    let first = &exported.report.findings[0];
    assert!(first.message.contains("is missed"), "{first}");
}

#[test]
fn any_number_of_threads_writes_the_same_bytes() {
    // Few points, but every kind of correction.
    let glb = gltf_build::to_glb(&sample(SampleKind::Arm, 800));
    let imported = import_bytes(glb.into(), None, None, &Task::new()).unwrap();
    let document = Document::new(imported.parts).unwrap();
    let document = with_stack(document, &DeformStack::default());
    let run = |n| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(n)
            .build()
            .unwrap();
        pool.install(|| corrected(&document, BakeOptions::default()).0.files)
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn text_models_are_corrected_too() {
    let document = with_stack(asset("arm"), &DeformStack::dqs());
    let options = ExportOptions {
        format: GltfFormat::Gltf,
        correct: Some(BakeOptions::default()),
        ..ExportOptions::default()
    };
    let exported = export(&document, &options, &Task::new()).unwrap();
    assert!(exported.correction.unwrap().met);
    assert!(exported.files.len() > 1);
}

#[test]
fn options_out_of_range_and_cancelled_work_are_sentences() {
    let document = asset("arm");
    let export = |correct: BakeOptions, write_pose_as_rest: bool, task: &Task| {
        let options = ExportOptions {
            correct: Some(correct),
            write_pose_as_rest,
            ..ExportOptions::default()
        };
        export(&document, &options, task).unwrap_err().to_string()
    };
    let wild = BakeOptions {
        tolerance: f64::NAN,
        ..BakeOptions::default()
    };
    assert!(export(wild, false, &Task::new()).contains("tolerance"));
    let default = BakeOptions::default;
    assert!(export(default(), true, &Task::new()).contains("rest"));
    let task = Task::new();
    task.cancel();
    assert_eq!(export(default(), false, &task), "The export was cancelled.");
}

#[test]
fn the_fox_runs_as_its_stack_says() {
    let Some(shared) = shared_dir("the_fox_runs_as_its_stack_says") else {
        return;
    };
    let fox = open(&shared.join("models/fox/fox.glb"));
    let walk = clip_named(&fox, "Walk");
    let (_, report) = meets(&with_stack(fox, &DeformStack::dqs()), vec![walk]);
    assert!(report.size_ratio < 1.8, "{report:?}");
}

#[test]
fn a_turn_past_the_far_side_jumps_where_the_skin_jumps() {
    let mut document = with_stack(asset("arm"), &DeformStack::dqs());
    let ids: Vec<ClipId> = document.clips().keys().copied().collect();
    let forearm = document
        .skeleton()
        .joints()
        .iter()
        .position(|j| j.name == "forearm");
    let forearm = forearm.unwrap();
    let rest = document.rest_pose().locals[forearm].rotation;
    let turns = (0..=4).flat_map(|i| {
        let turn = DQuat::from_rotation_x(f64::from(i) * 65f64.to_radians());
        (rest * turn).as_quat().to_array()
    });
    let clip = Clip {
        name: "Twist".into(),
        channels: vec![Channel {
            joint: JointId(forearm as u32),
            property: Property::Rotation,
            interpolation: Interpolation::Linear,
            times: [0.0, 0.25, 0.5, 0.75, 1.0].into(),
            values: turns.collect(),
        }],
        ..Clip::default()
    };
    for &id in &ids[1..] {
        document.apply(&mut Edit::Clip { id, clip: None }).unwrap();
    }
    let (id, clip) = (ids[0], Some(Arc::new(clip)));
    document.apply(&mut Edit::Clip { id, clip }).unwrap();
    let (exported, report) = corrected(&document, BakeOptions::default());
    let said = exported.report.findings.iter().map(|f| &f.message);
    let jumps: Vec<_> = said
        .filter(|m| m.starts_with("The skin jumps at 0.692 s"))
        .collect();
    assert_eq!(jumps.len(), 1, "{:?}", exported.report.findings);
    println!("{}", report.summary());
    // Both sides of the jump are keyed a quarter of a millisecond apart, and the file is near the skin on both of them.
    let read = reopen(&exported);
    let keyed = read
        .clips()
        .values()
        .flat_map(|c| &c.channels)
        .any(|channel| {
            channel
                .times
                .windows(2)
                .any(|t| t[0] < 0.6923 && t[1] > 0.6923 && t[1] - t[0] < 0.0003)
        });
    assert!(keyed && report.max_percent <= 0.2, "{report:?}");
}
