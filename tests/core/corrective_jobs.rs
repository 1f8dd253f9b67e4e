//! Samples from other shapes, mirrored and captured again in the headless editor: one job and one undo step each.

use glam::DQuat;
use sinew::deform::DeformStack;
use sinew::document::Edit;
use sinew::editor::{Editor, OpenRequest, SampleTask};
use sinew::skeleton::JointId;
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
    let said = run(&mut editor, SampleTask::Retarget);
    assert_eq!(said, "Every sample fits the present deformer stack.");
    let meshes: Vec<_> = editor.document().meshes().keys().copied().collect();
    for mesh in meshes {
        let stack = Arc::new(DeformStack::dqs());
        editor.apply(Edit::Stack { mesh, stack }, "Stack").unwrap();
    }
    settle(&mut editor);
    assert!(editor.has_stale_samples());
    let stale = editor.document().clone();
    for task in [SampleTask::Keep, SampleTask::Retarget] {
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
