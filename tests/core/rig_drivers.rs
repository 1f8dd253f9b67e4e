//! Drivers of helper joints in files whose joints were edited.

use crate::export_models::reopen;
use crate::retarget::{
    Engine, bent_and_twisted, diagonal, retarget, sample, whole, with_clips, worst,
};
use crate::rig_files::{
    MIDDLE, SIDE, TIP, chain, draw, edit, matrices, mesh, open, rows, turned, written,
};
use glam::{DQuat, DVec3};
use serde_json::json;
use sinew::deform::DeformStack;
use sinew::document::rig::{self, Insert, RigError, WeightRecipient};
use sinew::document::{ClipId, Document, Edit};
use sinew::export::{ExportOptions, GltfFormat, export};
use sinew::skeleton::{Clip, Frame, JointId, Property};
use sinew::task::Task;
use std::sync::Arc;

/// A driver block that names the middle and the tip.
fn with_drivers(version: u64) -> Document {
    let mut gltf = chain();
    gltf.json["extras"] = json!({"sinew_skin": {
        "version": version,
        "skins": [{"skin": 0, "unit": 1, "stretch": "drop"}],
        "helpers": [{
            "node": 3, "parent": 1, "skins": [0],
            "dlb": {"joints": [1, 2], "weights": [0.5, 0.5]}, "pivot": [0, 2, 0]
        }]
    }});
    let matrices = matrices(&mut gltf, &[0.0, 1.0, 2.0, 2.0]);
    gltf.push(
        "skins",
        json!({"joints": [0, 1, 2, 3], "inverseBindMatrices": matrices}),
    );
    let (joints, weights) = rows([0, 1, 2]);
    let mesh = mesh(&mut gltf, &joints, &weights);
    draw(&mut gltf, mesh, 0);
    open(gltf)
}

#[test]
fn joints_that_drive_helpers_are_not_removed_and_parents_of_helpers_follow() {
    let mut document = with_drivers(1);
    for joint in [MIDDLE, TIP, SIDE] {
        let error = rig::remove(&document, joint, WeightRecipient::IntoParent).unwrap_err();
        let expected = RigError::Drives {
            joint: document.skeleton().label(joint),
            helper: "Side".into(),
        };
        assert_eq!(error, expected);
    }
    let wanted = Insert {
        joint: MIDDLE,
        child: SIDE,
        n: 1,
        half_width: None,
    };
    let (wanted, made) = rig::insert(&document, &wanted).unwrap();
    edit(&mut document, wanted);
    let (json, read) = written(&document);
    let helper = &json["extras"]["sinew_skin"]["helpers"][0];
    let parent = read.skeleton().joint(SIDE).parent;
    assert_eq!(parent.map(|parent| parent.0), Some(5));
    assert_eq!(helper["parent"], 5);
    assert_eq!(document.skeleton().joint(SIDE).parent, Some(made[0]));
}

#[test]
fn drivers_of_an_unknown_version_are_said_to_be_stale() {
    let mut document = with_drivers(7);
    turned(&mut document, MIDDLE);
    let exported = export(&document, &ExportOptions::default(), &Task::new()).unwrap();
    let findings = &exported.report.findings;
    let stale = |f: &sinew::finding::Finding| f.message.contains("unknown version");
    assert!(findings.iter().any(stale), "{findings:?}");
}

#[test]
fn drivers_follow_joints_whose_axes_and_parents_changed() {
    let (exported, _) = retarget(&with_clips(sample("arm", &DeformStack::dqs()), 0));
    let mut read = reopen(&exported);
    // A pose that the change of the rig maps, as the end of a clip.
    let (_, _, bent) = bent_and_twisted(&read, 4).pop().unwrap();
    let mut clip = Clip::named("Bent");
    let turn = bent.locals[1].rotation.to_array();
    for time in [0.0, 1.0] {
        clip.set_key(JointId(1), Property::Rotation, time, &turn, 0.0);
    }
    let id = ClipId(0);
    let clip = Some(Arc::new(clip));
    read.apply(&mut Edit::Clip { id, clip }).unwrap();
    let before = Engine::new(&exported.files[0].1);
    let helper = JointId(whole(&before.block["helpers"][0]["node"]) as u32);
    let parent = read.skeleton().joint(helper).parent.unwrap();
    let turn = DQuat::from_axis_angle(DVec3::new(0.6, 0.0, 0.8), 1.1);
    let frames = [JointId(0), JointId(1), helper].map(|j| (j, Frame::from_rotation(turn)));
    let mut edited = read.clone();
    let edit = rig::change_frames(&edited, &frames.into(), 1e-4).unwrap();
    edited.apply(&mut Edit::Rig(Box::new(edit))).unwrap();
    let wanted = Insert {
        joint: parent,
        child: helper,
        n: 1,
        half_width: None,
    };
    let (edit, _) = rig::insert(&edited, &wanted).unwrap();
    edited.apply(&mut Edit::Rig(Box::new(edit))).unwrap();
    let options = ExportOptions {
        format: GltfFormat::Glb,
        ..ExportOptions::default()
    };
    let file = export(&edited, &options, &Task::new()).unwrap();
    let after = Engine::new(&file.files[0].1);
    let places = |engine: &Engine, document: &Document| {
        let pose = document.pose_of_clip(&document.clips()[&id], 0.5);
        let mut locals = engine.locals(&pose);
        let undriven = engine.skinned(&locals);
        engine.drive(&mut locals);
        (engine.skinned(&locals), undriven)
    };
    let (driven, undriven) = places(&before, &read);
    let off = worst(&driven, &places(&after, &edited).0) / diagonal(&driven);
    assert!(off < 1e-5, "{off:e}");
    assert!(worst(&driven, &undriven) > 1e-3 * diagonal(&driven));
}
