//! The `psd` list of the driver block: corrective samples as morph targets whose weights follow driver joints.
//!
//! The manual documents the format ("Driving helper joints").

use super::json::{list_mut, number};
use super::nodes::node_of;
use crate::deform::correctives::{Driver, SampleSet};
use crate::document::{Document, MeshId};
use crate::math::transform::normalize_or_identity;
use crate::psd::PoseInterpolation;
use glam::{DQuat, DVec3};
use serde_json::{Map, Value, json};

/// The entry of a mesh. `driven`: the sample of each target after the source's, as indices into the mesh's samples.
pub(super) fn entry(document: &Document, mesh: MeshId, driven: &[usize]) -> Option<Value> {
    let item = document.meshes().get(&mesh)?;
    let correctives = &item.correctives;
    let n_own = item.geometry.morphs.len();
    let target_of = |sample: usize| {
        let at = driven.iter().position(|&s| s == sample)?;
        Some(n_own + at)
    };
    let mut first = 0;
    let sets = correctives.sets().iter().zip(correctives.interpolations());
    let sets: Value = sets
        .map(|(set, solved)| {
            let own = first..first + set.samples.len();
            first = own.end;
            set_of(
                document,
                set,
                solved,
                &own.map(target_of).collect::<Vec<_>>(),
            )
        })
        .collect();
    let mut entry = Map::new();
    entry.insert("mesh".into(), mesh.0.into());
    entry.insert("sets".into(), sets);
    if let Some(matrix) = correctives.joint_solve().matrix() {
        entry.insert("joint".into(), rows(matrix, first));
    }
    Some(Value::Object(entry))
}

/// Changes an entry as the axes of its driver joints rotated, `W' = W C`: `q' = C_b^-1 q C_a` for a driver a relative to b.
/// `change`: C of a node, unit.
pub(super) fn follow_axes(entry: &mut Value, change: impl Fn(Option<&Value>) -> DQuat) {
    for set in list_mut(entry, "sets") {
        let mut maps = Vec::new();
        for driver in list_mut(set, "drivers") {
            let own = change(driver.get("node"));
            let other = change(driver.get("relativeTo"));
            if let Some(axis) = driver.get_mut("axis") {
                let before: Option<[f64; 3]> = serde_json::from_value(axis.clone()).ok();
                if let Some(before) = before.map(DVec3::from) {
                    *axis = numbers(&(own.conjugate() * before).to_array());
                }
            }
            if let Some(bind) = driver.get_mut("bind") {
                map_rotation(bind, other, own);
            }
            maps.push((other, own));
        }
        for sample in list_mut(set, "samples") {
            let rotations = sample.get_mut("rotations").and_then(Value::as_array_mut);
            for (rotation, &(other, own)) in rotations.into_iter().flatten().zip(&maps) {
                map_rotation(rotation, other, own);
            }
        }
    }
}

fn map_rotation(value: &mut Value, other: DQuat, own: DQuat) {
    let before: Option<[f64; 4]> = serde_json::from_value(value.clone()).ok();
    if let Some(before) = before.map(DQuat::from_array) {
        *value = quaternion(normalize_or_identity(other.conjugate() * before * own));
    }
}

fn rows(matrix: &[f64], width: usize) -> Value {
    let rows = matrix.chunks_exact(width.max(1));
    rows.map(numbers).collect()
}

fn numbers(values: &[f64]) -> Value {
    values.iter().map(|&x| number(x)).collect()
}

fn quaternion(q: DQuat) -> Value {
    numbers(&q.to_array())
}

fn set_of(
    document: &Document,
    set: &SampleSet,
    solved: &PoseInterpolation,
    targets: &[Option<usize>],
) -> Value {
    let drivers = set.drivers.iter().map(|driver| driver_of(document, driver));
    let samples = set.samples.iter().zip(targets).map(|(sample, target)| {
        let rotations = sample.rotations.iter().map(|&q| quaternion(q));
        let mut entry = Map::new();
        entry.insert("name".into(), sample.name.clone().into());
        if let Some(target) = target {
            entry.insert("target".into(), (*target).into());
        }
        entry.insert("rotations".into(), rotations.collect());
        Value::Object(entry)
    });
    let kernel = solved.kernel();
    let mut entry = Map::new();
    entry.insert("name".into(), set.name.clone().into());
    entry.insert("drivers".into(), drivers.collect());
    entry.insert("kernel".into(), kernel.name().into());
    entry.insert("c".into(), number(solved.shape()));
    entry.insert("tail".into(), kernel.tail().name().into());
    entry.insert("clamp".into(), numbers(&set.clamp));
    if set.fade {
        entry.insert("fade".into(), number(solved.nearest()));
    }
    entry.insert("samples".into(), samples.collect());
    entry.insert(
        "coefficients".into(),
        solved.coefficients().map(numbers).collect(),
    );
    Value::Object(entry)
}

fn driver_of(document: &Document, driver: &Driver) -> Value {
    let mut entry = Map::new();
    entry.insert("node".into(), node_of(document, driver.joint).into());
    if let Some(other) = driver.relative_to {
        entry.insert("relativeTo".into(), node_of(document, other).into());
    }
    entry.insert("mode".into(), driver.mode.name().into());
    if let Some(axis) = driver.mode.axis() {
        entry.insert("axis".into(), numbers(&axis.to_array()));
    }
    entry.insert("lambda".into(), number(driver.lambda));
    entry.insert("bind".into(), quaternion(driver.bind));
    json!(entry)
}
