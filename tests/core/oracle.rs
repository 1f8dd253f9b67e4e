//! Every shared model, clip time and pose against independent software.

use crate::npy::read_npy;
use crate::reference::larger;
use crate::shared::shared_dir;
use glam::{DQuat, DVec3};
use sinew::deform::DeformStack;
use sinew::document::{Document, Edit};
use sinew::evaluate::Evaluator;
use sinew::io::import_file;
use sinew::math::transform::normalize_or_identity;
use sinew::skeleton::Pose;
use sinew::task::Task;
use std::path::Path;
use std::sync::Arc;

/// Largest difference to the reference, in bounding-box diagonals, that each method may have.
const TOLERANCE: f64 = 1e-5;

#[test]
fn shared_models_deform_as_independent_software_says() {
    let Some(shared) = shared_dir("the oracle table") else {
        return;
    };
    let mut folders: Vec<_> = std::fs::read_dir(shared.join("models"))
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    folders.retain(|f| f.join("oracle/index.json").is_file());
    folders.sort();
    assert!(folders.len() >= 12, "{} models", folders.len());
    let mut faults = Vec::new();
    println!(
        "{:22} {:5} {:4} {:>9} {:>9}",
        "model", "pose", "", "max", "rms"
    );
    for folder in folders {
        check_model(&folder, &mut faults);
    }
    assert!(
        faults.is_empty(),
        "beyond {TOLERANCE}:\n{}",
        faults.join("\n")
    );
}

fn check_model(folder: &Path, faults: &mut Vec<String>) {
    let oracle = folder.join("oracle");
    let index: serde_json::Value =
        serde_json::from_slice(&std::fs::read(oracle.join("index.json")).unwrap()).unwrap();
    let name = index["model"].as_str().unwrap();
    let file = ["glb", "gltf"]
        .map(|e| folder.join(format!("{name}.{e}")))
        .into_iter()
        .find(|p| p.is_file());
    let imported =
        import_file(&file.unwrap(), &Task::new()).unwrap_or_else(|e| panic!("{name}: {e}"));
    let document = Document::new(imported.parts).unwrap_or_else(|e| panic!("{name}: {e}"));
    for evaluation in index["evaluations"].as_array().unwrap() {
        let id = evaluation["id"].as_str().unwrap();
        let pose = pose_of(&document, &oracle, evaluation);
        let diagonal = evaluation["bboxDiag"].as_f64().unwrap();
        let has = |file: &str| evaluation["files"].get(file).is_some();
        let mask = has("dqs_mask").then(|| read_npy(&oracle.join(format!("dqs_mask_{id}.npy"))).1);
        let lbs = if has("lbs_spec") {
            "lbs_spec"
        } else {
            "lbs_three"
        };
        for (stack, reference, mask) in [
            (DeformStack::lbs(), lbs, None),
            (DeformStack::dqs(), "dqs_spec", mask),
        ] {
            let ours = vertices(&document, &pose, stack);
            let (shape, theirs) = read_npy(&oracle.join(format!("{reference}_{id}.npy")));
            assert_eq!(shape, [ours.len(), 3], "{name} {id}");
            let (mut worst, mut sum, mut n) = (0.0f64, 0.0, 0);
            for (v, ours) in ours.iter().enumerate() {
                if mask.as_ref().is_some_and(|m| m[v] == 0.0) {
                    continue;
                }
                let error = ours.distance(DVec3::from_slice(&theirs[3 * v..])) / diagonal;
                assert!(error.is_finite(), "{name} {id}: vertex {v} is at {ours}");
                worst = larger(worst, error);
                sum += error * error;
                n += 1;
            }
            assert!(n > 0, "{name} {id}: nothing is compared");
            let rms = (sum / f64::from(n)).sqrt();
            let method = &reference[..3];
            println!("{name:22} {id:5} {method:4} {worst:9.2e} {rms:9.2e}");
            if worst > TOLERANCE {
                faults.push(format!("{name} {id} {method}: {worst:.2e}"));
            }
        }
    }
}

fn pose_of(document: &Document, oracle: &Path, evaluation: &serde_json::Value) -> Pose {
    if let Some(clip) = evaluation["clip"].as_u64() {
        let clip = document.clips().values().nth(clip as usize).unwrap();
        return document.pose_of_clip(clip, evaluation["time"].as_f64().unwrap());
    }
    let mut pose = Pose::clone(document.rest_pose());
    if let Some(file) = evaluation["pose"].as_str() {
        let json: serde_json::Value =
            serde_json::from_slice(&std::fs::read(oracle.join(file)).unwrap()).unwrap();
        for entry in json["nodes"].as_array().unwrap() {
            let node = entry["node"].as_u64().unwrap() as usize;
            let q: Vec<f64> = entry["rotation"]
                .as_array()
                .unwrap()
                .iter()
                .map(|v| v.as_f64().unwrap())
                .collect();
            pose.locals[node].rotation = normalize_or_identity(DQuat::from_slice(&q));
        }
    }
    pose
}

/// Deformed vertices of all instances, in the order of the oracle.
fn vertices(document: &Document, pose: &Pose, stack: DeformStack) -> Vec<DVec3> {
    let mut document = document.clone();
    let stack = Arc::new(stack);
    let meshes: Vec<_> = document.meshes().keys().copied().collect();
    for mesh in meshes {
        document
            .apply(&mut Edit::Stack {
                mesh,
                stack: stack.clone(),
            })
            .unwrap();
    }
    let mut evaluator = Evaluator::default();
    evaluator.evaluate(&document, pose);
    let mut vertices = Vec::new();
    for (&id, instance) in document.instances() {
        let positions = evaluator.plan(id).unwrap().positions();
        let geometry = &document.meshes()[&instance.mesh].geometry;
        vertices.extend(
            geometry
                .point_of_vertex
                .iter()
                .map(|&p| positions[p as usize].as_dvec3()),
        );
    }
    vertices
}
