//! The corrective samples of a document and their weights in a pose, as text or JSON.

use super::Failure;
use crate::deform::correctives::{Staleness, WeightsWork};
use crate::document::Document;
use crate::finding::counted;
use crate::skeleton::{JointId, Pose};
use glam::DQuat;
use serde_json::{Map, Value, json};
use std::io::Write;

/// Prints all sample sets of a document with their weights in `pose`.
pub(super) fn print(
    document: &Document,
    pose: &Pose,
    is_json: bool,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let sets = sets(document, pose);
    if is_json {
        writeln!(out, "{:#}", json!({ "sets": sets }))?;
        return Ok(());
    }
    if sets.is_empty() {
        writeln!(out, "There are no corrective samples.")?;
    }
    for set in &sets {
        let text = |key: &str| set[key].as_str().unwrap_or_default().to_owned();
        if let Some(fault) = set["off"].as_str() {
            let n = set["n_samples"].as_u64().unwrap_or_default() as usize;
            let n = counted(n, "sample");
            writeln!(out, "{} is off with its {n}: {fault}.", text("name"))?;
            continue;
        }
        let held = match (set["vertices"].as_str(), set["group"].as_str()) {
            (_, Some(group)) => format!(", control clusters of \"{group}\""),
            (Some("clusters"), None) => ", control clusters".to_owned(),
            _ => String::new(),
        };
        writeln!(out, "{} ({}{held})", text("name"), text("kernel"))?;
        for sample in set["samples"].as_array().into_iter().flatten() {
            // Without the sign of what rounds to zero.
            let weight = sample["weight"].as_f64().unwrap_or_default();
            let weight = (weight * 1e4).round() / 1e4 + 0.0;
            writeln!(
                out,
                "  {:24} weight {weight:8.4}   {}",
                sample["name"].as_str().unwrap_or_default(),
                counted(
                    sample["points"].as_u64().unwrap_or_default() as usize,
                    "vertex"
                )
            )?;
        }
    }
    Ok(())
}

fn sets(document: &Document, pose: &Pose) -> Vec<Value> {
    let skeleton = document.skeleton();
    let node = |joint: JointId| skeleton.joint(joint).source_node;
    let mut work = WeightsWork::default();
    let mut sets = Vec::new();
    for (id, item) in document.meshes() {
        let correctives = &item.correctives;
        let weights = correctives.weights(skeleton, &pose.locals, &mut work);
        let mut weights = weights.iter();
        let base = document.skin_base(*id);
        for (set, solved) in correctives.sets().iter().zip(correctives.interpolations()) {
            let drivers = set.drivers.iter().map(|driver| {
                let mut entry = Map::new();
                entry.insert("node".into(), json!(node(driver.joint)));
                entry.insert("mode".into(), json!(driver.mode.name()));
                entry.insert("lambda".into(), json!(driver.lambda));
                if let Some(axis) = driver.mode.axis() {
                    entry.insert("axis".into(), json!(axis.to_array()));
                }
                let parent = skeleton.joint(driver.joint).parent;
                if driver.relative_to != parent {
                    let other = driver.relative_to.and_then(node);
                    entry.insert("relative_to".into(), json!(other));
                }
                Value::Object(entry)
            });
            let samples = set.samples.iter().zip(weights.by_ref());
            let samples = samples.map(|(sample, weight)| {
                let rotations = sample.rotations.iter().map(DQuat::to_array);
                let base = base.as_ref();
                let why = base.and_then(|base| sample.staleness(&item.stack, base));
                json!({
                    "name": sample.name,
                    "rotations": rotations.collect::<Vec<_>>(),
                    "points": sample.displacements.n_points(),
                    "weight": weight,
                    "stale": why.is_some(),
                    "stale_because": why.map(Staleness::reason),
                })
            });
            let samples: Vec<Value> = samples.collect();
            let bind = set.drivers.iter().map(|driver| driver.bind.to_array());
            sets.push(json!({
                "mesh": id.0,
                "name": set.name,
                "drivers": drivers.collect::<Vec<_>>(),
                "kernel": solved.kernel().name(),
                "c": solved.shape(),
                "smoothing": set.smoothing,
                "clamp": set.clamp,
                "fade": set.fade,
                "weighted": set.weighted,
                "scale_with_limb": set.scale_with_limb,
                "vertices": set.vertices.key(),
                "group": set.vertices.group(),
                "condition": solved.condition(),
                "cardinality": solved.cardinality(),
                "bind": bind.collect::<Vec<_>>(),
                "samples": samples,
            }));
        }
        sets.extend(correctives.off().map(|(set, fault)| {
            json!({
                "mesh": id.0,
                "name": set.name,
                "off": fault.to_string(),
                "n_samples": set.n_samples(),
            })
        }));
    }
    sets
}
