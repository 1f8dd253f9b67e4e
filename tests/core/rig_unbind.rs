//! Meshes taken from their skins and bound again with the weights that they had: in place, undone, saved, exported.

use crate::cli::asset;
use crate::editing::EditorHarness;
use crate::export_models::reopen;
use crate::retarget::json_of;
use crate::rig_draw::assert_comes_back;
use crate::rig_tools::{done, refused};
use crate::shared::shared_dir;
use glam::DVec3;
use sinew::document::rig::measure::{diagonal, rest_points};
use sinew::document::{Document, InstanceId};
use sinew::editor::{OpenRequest, RigKind};
use sinew::export::{ExportOptions, GltfFormat, export};
use sinew::math::Worse;
use sinew::rig::Operation;
use sinew::task::Task;
use std::collections::BTreeMap;
use std::path::Path;

fn open(path: &Path) -> Document {
    sinew::io::open_any(path, &Task::new()).unwrap().document
}

/// The largest distance of points at rest, by the diagonal.
fn moved(before: &BTreeMap<InstanceId, Vec<DVec3>>, after: &Document) -> f64 {
    let now = rest_points(after);
    let pairs = before
        .iter()
        .flat_map(|(id, points)| points.iter().zip(&now[id]));
    let apart = pairs.map(|(a, b)| a.distance(*b));
    apart.fold(0.0, f64::worse) / diagonal(after)
}

fn is_bound(document: &Document) -> bool {
    document.instances().values().any(|i| i.skin.is_some())
}

fn weights(document: &Document) -> Vec<Vec<(u16, f32)>> {
    let items = document.meshes().values();
    let rows = items.flat_map(|item| item.influences.iter());
    rows.map(|row| row.iter().collect()).collect()
}

#[test]
fn shared_models_are_unbound_in_place_and_bound_again_to_the_same_bits() {
    let Some(shared) = shared_dir("shared_models_are_unbound_in_place_and_bound_again") else {
        return;
    };
    for name in [
        "cesium_man",
        "fox_quantized",
        "mannequiny",
        "kaykit_knight",
        "simple_skin",
    ] {
        let path = shared.join(format!("models/{name}/{name}.glb"));
        let path = if path.is_file() {
            path
        } else {
            path.with_extension("gltf")
        };
        let before = open(&path);
        let mut document = before.clone();
        let points = rest_points(&before);
        let (did, report) = done(&mut document, &Operation::Unbind);
        assert!(!is_bound(&document), "{name}: {:?}", did.notes);
        let off = moved(&points, &document);
        println!(
            "{name}: unbound, {off:.1e} of the diagonal at rest; {}",
            report.at_rest()
        );
        assert!(off < 1e-6, "{name}: {off}");
        assert!(weights(&document).iter().all(Vec::is_empty));
        let mut again = document.clone();
        done(&mut again, &Operation::BindKept);
        assert!(is_bound(&again), "{name}");
        assert!(moved(&points, &again) < 1e-6, "{name}");
        assert_eq!(weights(&again), weights(&before), "{name}");
        assert!(again.kept_weights().is_empty());
        // Where the mesh kept its vertices it is the skin of the file.
        for (id, instance) in again.instances() {
            if document.reshaped().contains(&instance.mesh) {
                continue;
            }
            assert_eq!(instance.skin, before.instances()[id].skin, "{name}");
        }
        let why = refused(&before, &Operation::BindKept);
        assert_eq!(why, "No mesh was unbound, so there are no kept weights.");
        let why = refused(&document, &Operation::Unbind);
        assert_eq!(why, "No mesh is bound.");
    }
}

#[test]
fn a_mesh_that_its_bones_pose_at_rest_keeps_that_shape() {
    // A rest pose that is not the bind pose.
    let mut document = open(asset("arm").as_ref());
    let skin = document.skins().values().next().unwrap().clone();
    let mut pose = sinew::skeleton::Pose::clone(document.rest_pose());
    let joint = *skin.joints.last().unwrap();
    let joint = document.skeleton().joint(joint).parent.unwrap();
    pose.locals[joint.get()].rotation = glam::DQuat::from_rotation_z(0.8);
    let rest = Operation::PoseAsRest(std::sync::Arc::new(pose));
    done(&mut document, &rest);
    let points = rest_points(&document);
    let before = document.clone();
    done(&mut document, &Operation::Unbind);
    assert!(!is_bound(&document));
    assert!(moved(&points, &document) < 1e-6);
    assert_eq!(document.reshaped().len(), 1);
    done(&mut document, &Operation::BindKept);
    assert!(moved(&points, &document) < 1e-6);
    assert_eq!(weights(&document), weights(&before));
}

#[test]
fn an_unbound_mesh_is_saved_exported_and_bound_after_edits() {
    let folder = tempfile::tempdir().unwrap();
    let mut h = EditorHarness::on(OpenRequest::Sample("mannequin".into()));
    let before = h.editor.document().clone();
    let points = rest_points(&before);
    h.editor.begin_rig(RigKind::Unbind);
    h.settle();
    assert!(!is_bound(h.editor.document()));
    assert_eq!(h.editor.history().undo_label(), Some("Unbind"));
    let unbound = h.editor.document().clone();
    let file = folder.path().join("unbound.ron");
    h.editor.save_as(&file);
    h.settle();
    let mut again = EditorHarness::on(OpenRequest::Path(file));
    assert!(again.notices.iter().all(|n| !n.is_error));
    let opened = again.editor.document().clone();
    assert_comes_back(&opened, &unbound);
    assert_eq!(opened.kept_weights(), unbound.kept_weights());
    again.editor.begin_rig(RigKind::BindKept);
    again.settle();
    // The node of the mesh stays at the place of the mesh.
    let bound = again.editor.document();
    assert_eq!(bound.skins(), before.skins());
    assert_eq!(weights(bound), weights(&before));
    assert!(moved(&points, bound) < 1e-6);
    again.editor.undo();
    again.settle();
    assert!(again.editor.document().same_content(&opened));
    h.editor.undo();
    h.settle();
    assert!(h.editor.document().same_content(&before));

    // The file has no weights and no node with a skin.
    let options = ExportOptions {
        format: GltfFormat::Glb,
        ..ExportOptions::default()
    };
    let written = export(&unbound, &options, &Task::new()).unwrap();
    let json = json_of(&written.files[0].1);
    for node in json["nodes"].as_array().unwrap() {
        assert!(node.get("skin").is_none());
    }
    for mesh in json["meshes"].as_array().unwrap() {
        for primitive in mesh["primitives"].as_array().unwrap() {
            assert!(primitive["attributes"].get("JOINTS_0").is_none());
            assert!(primitive["attributes"].get("WEIGHTS_0").is_none());
        }
    }
    let read = reopen(&written);
    assert!(!is_bound(&read));
    let now: Vec<DVec3> = rest_points(&read).into_values().flatten().collect();
    let was: Vec<DVec3> = points.values().flatten().copied().collect();
    let apart = now.iter().zip(&was).map(|(a, b)| a.distance(*b));
    assert_eq!(now.len(), was.len());
    assert!(apart.fold(0.0, f64::worse) < 1e-6 * diagonal(&read));

    // Bones that moved since are bound where they are: the mesh at rest stays.
    let mut document = unbound;
    let joint = *before
        .skins()
        .values()
        .next()
        .unwrap()
        .joints
        .last()
        .unwrap();
    let by = DVec3::new(0.0, 0.03, 0.0);
    let intent = sinew::document::rig::Intent::NewPivot;
    done(&mut document, &Operation::Move { joint, by, intent });
    done(&mut document, &Operation::BindKept);
    assert!(moved(&points, &document) < 1e-6);
    assert_eq!(weights(&document), weights(&before));
}
