//! Writes names, and the pose as a new rest pose.

use super::json::{entry_mut, number};
use super::report::ExportReport;
use crate::document::Document;
use crate::finding::Finding;
use crate::math::Transform;
use crate::math::polar::largest_entry;
use crate::skeleton::{JointId, Pose};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Off-diagonal entries below this fraction of the stretch are rounding errors of the decomposition.
const SHEAR_TOLERANCE: f64 = 1e-6;

/// The result of [`node_of`] for a joint without a node: no list has such an index.
const NO_NODE: usize = usize::MAX;

/// The nodes that an export adds.
#[derive(Default)]
pub(super) struct AddedNodes {
    /// By the joint handles that represent them in its clips.
    pub(super) joints: BTreeMap<JointId, usize>,
    /// Nodes that draw the mesh of a joint and get its weights tracks, by the joint.
    pub(super) meshes: BTreeMap<JointId, usize>,
}

/// The glTF node of a joint of the document.
pub(super) fn node_of(document: &Document, joint: JointId) -> usize {
    let joints = document.skeleton().joints();
    let source = joints.get(joint.get()).and_then(|j| j.source_node);
    source.map_or(NO_NODE, |node| node as usize)
}

/// Writes changed names.
pub(super) fn patch_names(document: &Document, json: &mut Value) {
    let joints = document.skeleton().joints();
    let before = document.source_skeleton().joints();
    for (j, (now, before)) in joints.iter().zip(before).enumerate() {
        if now.name == before.name {
            continue;
        }
        let node = node_of(document, JointId(j as u32));
        if let Some(entry) = entry_mut(json, "nodes", node) {
            if now.name.is_empty() {
                entry.shift_remove("name");
            } else {
                entry.insert("name".into(), now.name.as_str().into());
            }
        }
    }
}

/// Writes the rotations at rest of `joints`, which were not of unit length in the source.
pub(super) fn patch_rotations(document: &Document, joints: &BTreeSet<JointId>, json: &mut Value) {
    for &joint in joints {
        let rest = document.rest_pose().locals.get(joint.get());
        let entry = entry_mut(json, "nodes", node_of(document, joint));
        if let (Some(rest), Some(entry)) = (rest, entry)
            && !entry.contains_key("matrix")
        {
            let rotation = rest.rotation.to_array().map(|x| x.clamp(-1.0, 1.0));
            entry.insert(
                "rotation".into(),
                rotation.into_iter().map(number).collect(),
            );
        }
    }
}

/// Writes the transforms of `pose` that differ from the rest pose.
pub(super) fn patch_transforms(
    document: &Document,
    pose: &Pose,
    json: &mut Value,
    report: &mut ExportReport,
) {
    let rest = document.rest_pose();
    for (j, (now, before)) in pose.locals.iter().zip(&rest.locals).enumerate() {
        let joint = JointId(j as u32);
        let node = node_of(document, joint);
        if now != before
            && let Some(entry) = entry_mut(json, "nodes", node)
            && !write_transform(entry, now, before)
        {
            report.findings.push(Finding::warning(
                format!("bone \"{}\"", document.skeleton().label(joint)),
                "Its pose has shear, which a node without a matrix cannot store; the shear is not in the file.",
            ));
        }
    }
}

/// Writes the transforms and morph weights of the document's pose that differ from the rest pose.
pub(super) fn patch_rest(document: &Document, json: &mut Value, report: &mut ExportReport) {
    let (pose, rest) = (document.posed(), document.rest_pose());
    patch_transforms(document, &pose, json, report);
    for (j, (now, before)) in pose
        .morph_weights
        .iter()
        .zip(&rest.morph_weights)
        .enumerate()
    {
        let node = node_of(document, JointId(j as u32));
        if now != before
            && let Some(entry) = entry_mut(json, "nodes", node)
        {
            let weights = now.iter().map(|&w| number(f64::from(w))).collect();
            entry.insert("weights".into(), weights);
        }
    }
}

/// Converts the matrix of an animated node to translation, rotation and scale, which animation requires; `false` if it
/// has shear.
pub(super) fn make_animatable(json: &mut Value, node: usize, rest: &Transform) -> bool {
    let Some(entry) = entry_mut(json, "nodes", node) else {
        return true;
    };
    if !entry.contains_key("matrix") {
        return true;
    }
    if shears(rest) {
        return false;
    }
    write_transform(entry, rest, rest)
}

/// Writes the components of `now` that differ from `before`; `false` if shear was lost.
pub(super) fn write_transform(
    entry: &mut Map<String, Value>,
    now: &Transform,
    before: &Transform,
) -> bool {
    let had_matrix = entry.contains_key("matrix");
    if had_matrix && shears(now) {
        let columns = now.to_matrix().to_cols_array();
        entry.insert(
            "matrix".into(),
            columns.iter().map(|&x| number(x)).collect(),
        );
        return true;
    }
    entry.shift_remove("matrix");
    let mut write = |key: &str, values: &[f64], changed: bool, identity: &[f64]| {
        if (had_matrix && values != identity) || (!had_matrix && changed) {
            entry.insert(key.into(), values.iter().map(|&x| number(x)).collect());
        }
    };
    let (t, r, s) = (
        now.translation.to_array(),
        // Components slightly beyond 1 by rounding are not valid.
        now.rotation.to_array().map(|x| x.clamp(-1.0, 1.0)),
        now.scale().to_array(),
    );
    write(
        "translation",
        &t,
        now.translation != before.translation,
        &[0.0; 3],
    );
    write(
        "rotation",
        &r,
        now.rotation != before.rotation,
        &[0.0, 0.0, 0.0, 1.0],
    );
    write("scale", &s, now.stretch != before.stretch, &[1.0; 3]);
    !shears(now)
}

/// Whether the stretch has off-diagonal entries beyond rounding.
fn shears(transform: &Transform) -> bool {
    let off = transform.stretch - glam::DMat3::from_diagonal(transform.scale());
    largest_entry(off) > SHEAR_TOLERANCE * largest_entry(transform.stretch)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{DMat3, DQuat, DVec3};
    use serde_json::json;

    fn written(entry: Value, now: Transform, before: Transform) -> (Value, bool) {
        let Value::Object(mut map) = entry else {
            panic!("an object")
        };
        let complete = write_transform(&mut map, &now, &before);
        (Value::Object(map), complete)
    }

    #[test]
    fn only_what_changed_is_written() {
        let turned = Transform {
            rotation: DQuat::from_xyzw(1.0, 0.0, 0.0, 0.0),
            ..Transform::IDENTITY
        };
        let entry = json!({"translation": [0.10, 2, 3], "extras": 1});
        let (entry, _) = written(entry, turned, Transform::IDENTITY);
        assert_eq!(
            entry,
            json!({"translation": [0.10, 2, 3], "extras": 1, "rotation": [1, 0, 0, 0]})
        );
    }

    #[test]
    fn components_beyond_one_by_rounding_are_written_as_one() {
        let turned = Transform {
            rotation: DQuat::from_xyzw(0.0, -1.000_000_1, 0.0, 0.0),
            ..Transform::IDENTITY
        };
        let (entry, _) = written(json!({}), turned, Transform::IDENTITY);
        assert_eq!(entry, json!({"rotation": [0, -1, 0, 0]}));
    }

    #[test]
    fn a_matrix_stays_one_only_where_it_shears() {
        let moved = Transform::from_trs(DVec3::X, DQuat::IDENTITY, DVec3::new(1.0, 2.0, 1.0));
        let (entry, complete) = written(json!({"matrix": []}), moved, Transform::IDENTITY);
        assert_eq!(
            (entry, complete),
            (json!({"translation": [1, 0, 0], "scale": [1, 2, 1]}), true)
        );
        let sheared = Transform {
            stretch: DMat3::from_cols(DVec3::X, DVec3::new(0.5, 1.0, 0.0), DVec3::Z),
            ..Transform::IDENTITY
        };
        let (entry, complete) = written(json!({"matrix": []}), sheared, Transform::IDENTITY);
        assert_eq!(
            (entry, complete),
            (
                json!({"matrix": [1, 0, 0, 0, 0.5, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]}),
                true
            )
        );
        assert!(!written(json!({}), sheared, Transform::IDENTITY).1);
    }
}
