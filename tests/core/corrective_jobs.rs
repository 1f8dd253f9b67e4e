//! Samples from other shapes, mirrored and captured again in the headless editor: one job and one undo step each.

use crate::cli;
use glam::{DQuat, Vec3};
use sinew::deform::DeformStack;
use sinew::document::Edit;
use sinew::editor::{Editor, OpenRequest, SampleTask, Stale};
use sinew::io::project;
use sinew::math::Worse;
use sinew::skeleton::JointId;
use sinew::task::Task;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn settle(editor: &mut Editor) {
    let deadline = Instant::now() + Duration::from_mins(2);
    while editor.poll(0.0) || !editor.is_idle() {
        assert!(Instant::now() < deadline, "the editor does not rest");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn run(editor: &mut Editor, task: SampleTask) -> String {
    while editor.take_notice().is_some() {}
    editor.change_samples(task);
    settle(editor);
    editor.take_notice().map_or_else(String::new, |n| n.text)
}

fn n_sets(editor: &Editor) -> usize {
    let meshes = editor.document().meshes().values();
    meshes.map(|item| item.correctives.sets().len()).sum()
}

#[test]
fn samples_are_made_mirrored_and_retargeted_each_in_one_undo_step() {
    let mut editor = Editor::new(None, || {}).unwrap();
    editor.open(OpenRequest::Sample("mannequin".into()));
    settle(&mut editor);
    let said = run(&mut editor, SampleTask::Mirror);
    assert_eq!(said, "There are no corrective samples to mirror.");
    let said = run(&mut editor, SampleTask::FromStack(DeformStack::lbs()));
    assert!(said.contains("does not differ"), "{said}");
    let skeleton = editor.document().skeleton().clone();
    let mut joints = skeleton.live_joints();
    let elbow: JointId = joints.find(|&j| skeleton.label(j) == "forearm.L").unwrap();
    let mut local = editor.document().pose().locals[elbow.get()];
    local.rotation *= DQuat::from_rotation_y(1.2);
    let pose = Edit::Pose {
        joints: vec![elbow],
        locals: vec![local],
    };
    editor.apply(pose, "Pose").unwrap();
    settle(&mut editor);
    let posed = editor.document().clone();
    let said = run(&mut editor, SampleTask::FromStack(DeformStack::lbs()));
    assert!(
        said.starts_with("Sample \"Sample 1\" of \"forearm.L\""),
        "{said}"
    );
    assert!(editor.has_samples() && !editor.has_stale_samples());
    assert_eq!(run(&mut editor, SampleTask::Mirror), "1 sample mirrored.");
    assert_eq!(n_sets(&editor), 2);
    // What is alike already leaves no undo step.
    let (mirrored, n_undo) = (editor.document().clone(), editor.history().n_undo());
    for _ in 0..2 {
        let said = run(&mut editor, SampleTask::Mirror);
        assert_eq!(
            said,
            "The samples of both sides are images of each other. Nothing changed."
        );
        assert_eq!(editor.history().n_undo(), n_undo);
        assert!(editor.document().same_content(&mirrored));
    }
    let said = run(&mut editor, SampleTask::Retarget(Stale::All));
    assert_eq!(
        said,
        "Every sample fits the current deformer stack and weights."
    );
    let meshes: Vec<_> = editor.document().meshes().keys().copied().collect();
    for mesh in meshes {
        let stack = Arc::new(DeformStack::dqs());
        editor.apply(Edit::Stack { mesh, stack }, "Stack").unwrap();
    }
    settle(&mut editor);
    assert!(editor.has_stale_samples());
    let stale = editor.document().clone();
    for task in [
        SampleTask::Keep(Stale::All),
        SampleTask::Retarget(Stale::All),
    ] {
        let said = run(&mut editor, task);
        assert!(said.starts_with("2 samples "), "{said}");
        assert!(!editor.has_stale_samples());
        editor.undo();
        settle(&mut editor);
        assert!(editor.document().same_content(&stale));
    }
    for _ in 0..3 {
        editor.undo();
    }
    settle(&mut editor);
    assert!(editor.document().same_content(&posed));
}

/// Sharp weights fold triangles over that do not face each other: contacts alone leave them.
#[test]
fn an_elbow_with_sharp_weights_unfolds_where_it_is_pushed_out() {
    let mut editor = Editor::new(None, || {}).unwrap();
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("projects/mannequin.ron");
    editor.open(OpenRequest::Path(path));
    settle(&mut editor);
    let skeleton = editor.document().skeleton().clone();
    let mut joints = skeleton.live_joints();
    let elbow = joints.find(|&j| skeleton.label(j) == "forearm.L").unwrap();
    editor.select_joint(Some(elbow));
    assert!(editor.add_sample());
    settle(&mut editor);
    let said = run(&mut editor, SampleTask::PushOut);
    assert_eq!(said, "Pushed apart: 23 crossing triangles to 0.");
    let samples = editor.document().meshes().values().next().unwrap();
    let sample = &samples.correctives.samples()[0];
    let longest = sample.displacements.iter().map(|(_, d)| d.length());
    assert!(longest.fold(0.0, f32::worse) < 0.02, "half a radius");
}

#[test]
fn a_folded_elbow_is_pushed_out_of_itself() {
    for degrees in [90.0f64, 120.0] {
        let mut editor = Editor::new(None, || {}).unwrap();
        editor.open(OpenRequest::Sample("arm".into()));
        settle(&mut editor);
        editor.show_clip(None);
        let skeleton = editor.document().skeleton().clone();
        let mut joints = skeleton.live_joints();
        let elbow: JointId = joints.find(|&j| skeleton.label(j) == "forearm").unwrap();
        let mut local = editor.document().pose().locals[elbow.get()];
        local.rotation *= DQuat::from_rotation_x(degrees.to_radians());
        let pose = Edit::Pose {
            joints: vec![elbow],
            locals: vec![local],
        };
        editor.apply(pose, "Pose").unwrap();
        editor.select_joint(Some(elbow));
        settle(&mut editor);
        let said = run(&mut editor, SampleTask::PushOut);
        assert_eq!(said, "Add a sample at this pose first, or select one.");
        assert!(editor.add_sample());
        settle(&mut editor);
        let positions = |editor: &Editor| -> Vec<glam::Vec3> {
            let shown = editor.displayed().values().next().unwrap();
            shown.positions.as_ref().clone()
        };
        let before = positions(&editor);
        let n_undo = editor.history().n_undo();
        let said = run(&mut editor, SampleTask::PushOut);
        let words = said
            .strip_prefix("Pushed apart: ")
            .unwrap_or_else(|| panic!("{said}"));
        let n_before: usize = words.split(' ').next().unwrap().parse().unwrap();
        assert!(n_before > 40, "{said}");
        assert!(said.ends_with("crossing triangles to 0."), "{said}");
        assert_eq!(editor.history().n_undo(), n_undo + 1);
        // Skin away from the fold stays.
        let after = positions(&editor);
        let n_moved = before
            .iter()
            .zip(&after)
            .filter(|(a, b)| a.distance(**b) > 1e-5);
        let n_moved = n_moved.count();
        assert!(n_moved * 2 < before.len(), "{n_moved} of {}", before.len());
        // The fold is apart now: nothing is left to do.
        let said = run(&mut editor, SampleTask::PushOut);
        assert!(said.contains("does not touch itself"), "{said}");
        editor.undo();
        settle(&mut editor);
        assert_eq!(positions(&editor), before);
    }
}

/// A sculpted mesh file and a morph target of the model become samples whose shape is on screen.
#[test]
fn sculpts_and_morph_targets_become_samples() {
    let folder = tempfile::tempdir().unwrap();
    let mut editor = Editor::new(None, || {}).unwrap();
    editor.open(OpenRequest::Sample("arm".into()));
    settle(&mut editor);
    editor.show_clip(None);
    let bend = |editor: &mut Editor| {
        let skeleton = editor.document().skeleton().clone();
        let mut joints = skeleton.live_joints();
        let elbow: JointId = joints.find(|&j| skeleton.label(j) == "forearm").unwrap();
        let mut local = editor.document().pose().locals[elbow.get()];
        local.rotation *= DQuat::from_rotation_x(1.2);
        let pose = Edit::Pose {
            joints: vec![elbow],
            locals: vec![local],
        };
        editor.apply(pose, "Pose").unwrap();
        settle(editor);
    };
    let shown = |editor: &Editor| -> Vec<Vec3> {
        let shown = editor.displayed().values().next().unwrap();
        shown.positions.as_ref().clone()
    };
    bend(&mut editor);
    let before = shown(&editor);
    let item = editor.document().meshes().values().next().unwrap();
    let of_vertex = item.geometry.point_of_vertex.clone();
    let centre = before.iter().sum::<Vec3>() / before.len() as f32;
    let bump = |p: &Vec3| *p + Vec3::Y * (0.03 * (1.0 - p.distance(centre) / 0.15)).max(0.0);
    let sculpted: Vec<Vec3> = before.iter().map(bump).collect();
    let lines = of_vertex.iter().map(|&p| {
        let [x, y, z] = sculpted[p as usize].to_array();
        format!("v {x} {y} {z}\n")
    });
    let path = folder.path().join("sculpt.obj");
    std::fs::write(&path, lines.collect::<String>()).unwrap();
    let n_undo = editor.history().n_undo();
    let said = run(&mut editor, SampleTask::ImportSculpt(path.clone()));
    assert!(
        said.starts_with("Sample \"Sample 1\" of \"forearm\""),
        "{said}"
    );
    assert_eq!(editor.history().n_undo(), n_undo + 1);
    assert_eq!(editor.history().undo_label(), Some("Import sculpt"));
    let apart = |a: &[Vec3], b: &[Vec3]| {
        let pairs = a.iter().zip(b);
        pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f32::worse)
    };
    assert!(apart(&shown(&editor), &sculpted) < 1e-5);
    editor.undo();
    settle(&mut editor);
    assert_eq!(shown(&editor), before);
    std::fs::write(&path, "v 0 0 0\n").unwrap();
    let said = run(&mut editor, SampleTask::ImportSculpt(path));
    assert!(said.contains("has no mesh with the vertices"), "{said}");
    assert_eq!(shown(&editor), before);

    // The sample goes out as a morph target, and comes back from it.
    editor.redo();
    settle(&mut editor);
    let project = folder.path().join("q.ron");
    project::save(editor.document(), &project, &Task::new()).unwrap();
    let file = folder.path().join("targets.glb");
    let (from, to) = (project.to_str().unwrap(), file.to_str().unwrap());
    cli::done(&["export", from, "--out", to, "--sample-targets"]);
    let mut editor = Editor::new(None, || {}).unwrap();
    editor.open(OpenRequest::Path(file));
    settle(&mut editor);
    editor.show_clip(None);
    bend(&mut editor);
    let before = shown(&editor);
    let said = run(&mut editor, SampleTask::FromMorph("Sample 1".into()));
    assert!(
        said.starts_with("Sample \"Sample 1\" of \"forearm\""),
        "{said}"
    );
    let moved = apart(&shown(&editor), &before);
    assert!(moved > 0.01, "{moved}");
    let said = run(&mut editor, SampleTask::FromMorph("Smile".into()));
    assert!(said.contains("\"Smile\" is on no skinned mesh"), "{said}");
}
