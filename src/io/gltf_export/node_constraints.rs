//! Writes constraints as `VRMC_node_constraint` 1.0, beside the keyframes that they became.
//!
//! Viewers that evaluate it overwrite the keyframes with the same values; others play the keyframes. Source: the VRM
//! Consortium's specification.

use super::json::{entry_mut, number};
use super::nodes::node_of;
use super::patch::Patch;
use super::report::ExportReport;
use crate::document::Document;
use crate::finding::{Finding, counted};
use crate::io::node_constraint::{AIM_AXES, NAME, VERSION, VRM};
use crate::skeleton::JointId;
use crate::skeleton::constraint::{Constraint, Rule, Space};
use glam::DVec3;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// The largest difference of an axis from one of the node's.
const AXIS_TOLERANCE: f64 = 1e-6;

/// Whether a file of the document has constraints of nodes: a VRM model, or one that has some already.
fn has_them(json: &Value) -> bool {
    let has = |name: &str| {
        json.get("extensions")
            .is_some_and(|e| e.get(name).is_some())
    };
    let mut nodes = super::json::each(json, "nodes");
    has(VRM)
        || nodes.any(|node| {
            node.get("extensions")
                .is_some_and(|e| e.get(NAME).is_some())
        })
}

/// Writes the constraints that changed; with `all`, those of any file.
pub(super) fn patch_constraints(
    document: &Document,
    all: bool,
    patch: &mut Patch,
    report: &mut ExportReport,
) {
    let (now, before) = (document.constraints(), document.source_constraints());
    let writes = all || has_them(&patch.json);
    let bent = bent_joints(document);
    let joints: BTreeSet<JointId> = now.keys().chain(before.keys()).copied().collect();
    let (mut n_written, mut n_keys_only, mut n_replaced) = (0, 0, 0);
    for joint in joints {
        let (list, source) = (document.constraints_of(joint), before.get(&joint));
        // Viewers would evaluate it from rest, over keyframes in which IK of another bone bends this one.
        let is_bent = bent.contains(&joint);
        if source.map_or(&[][..], Vec::as_slice) == list && !is_bent {
            continue;
        }
        let node = node_of(document, joint);
        let Some(entry) = entry_mut(&mut patch.json, "nodes", node) else {
            continue;
        };
        let acts = list.iter().any(Constraint::acts);
        // One that cannot be read would overwrite the keyframes of what the artist made.
        let is_unread = source.is_none()
            && entry
                .get("extensions")
                .is_some_and(|e| e.get(NAME).is_some());
        if source.is_some() || (is_unread && acts) {
            take(entry);
            patch.dropped_extensions.insert(NAME);
            n_replaced += usize::from(is_unread);
        }
        let made = expressed(document, joint, list);
        match made.filter(|_| writes && !is_bent) {
            Some(made) => {
                let extensions = entry.entry("extensions").or_insert_with(|| json!({}));
                if let Some(extensions) = extensions.as_object_mut() {
                    extensions.insert(NAME.into(), made);
                    n_written += 1;
                }
            }
            None => n_keys_only += usize::from(writes && acts),
        }
    }
    if n_written > 0 {
        use_extension(&mut patch.json);
        report.findings.extend(late_sources(document, &patch.json));
    }
    let mut say = |message| report.findings.push(Finding::info("constraints", message));
    if n_keys_only > 0 {
        say(format!(
            "{NAME} cannot express the constraints of {}; they are keyframes only.",
            counted(n_keys_only, "bone")
        ));
    }
    if n_replaced > 0 {
        say(format!(
            "Constraints that Sinew cannot read were replaced by those of the project on {}.",
            counted(n_replaced, "bone")
        ));
    }
}

/// The joints that IK constraints of others bend.
fn bent_joints(document: &Document) -> BTreeSet<JointId> {
    let skeleton = document.skeleton();
    let reaches = document.constraints().iter().flat_map(|(&joint, list)| {
        let acting = list.iter().filter(|c| c.acts());
        acting.flat_map(move |c| skeleton.ancestors(joint).take(c.rule.n_bones()))
    });
    reaches.collect()
}

/// A finding where nodes follow one that has a constraint and comes after them: UniVRM evaluates constraints in the order of
/// the nodes, others in an order in which each comes after all that it needs.
fn late_sources(document: &Document, json: &Value) -> Option<Finding> {
    let nodes: Vec<&Value> = super::json::each(json, "nodes").collect();
    let is_written = |joint: JointId| {
        let node = nodes.get(node_of(document, joint));
        let extensions = node.and_then(|node| node.get("extensions"));
        extensions.is_some_and(|e| e.get(NAME).is_some())
    };
    let skeleton = document.skeleton();
    let acting = |joint: JointId| {
        let mut list = document.constraints_of(joint).iter();
        list.find(|c| c.acts())
    };
    let late = document.constraints().keys().filter_map(|&joint| {
        let rule = &acting(joint).filter(|_| is_written(joint))?.rule;
        let source = rule.sources().next()?;
        let is_late = |j: &JointId| {
            node_of(document, *j) > node_of(document, joint)
                && is_written(*j)
                && acting(*j).is_some()
        };
        // Aiming sees where the source is, and so all that is above it.
        let above = skeleton.ancestors(source);
        let above = above.filter(|_| matches!(rule, Rule::Aim { .. }));
        let late = std::iter::once(source).chain(above).find(is_late)?;
        Some((joint, late))
    });
    let late: Vec<(JointId, JointId)> = late.collect();
    let &(joint, source) = late.first()?;
    let others = match late.len() - 1 {
        0 => String::new(),
        n => format!(" So do {}.", counted(n, "other bone")),
    };
    let message = format!(
        "“{}” follows “{}”, whose constraint comes later in the file: viewers that evaluate {NAME} in the order of the nodes \
         show it a frame late.{others}",
        skeleton.label(joint),
        skeleton.label(source)
    );
    Some(Finding::warning("constraints", message))
}

/// Removes the constraint of a node.
fn take(entry: &mut Map<String, Value>) {
    let Some(extensions) = entry.get_mut("extensions").and_then(Value::as_object_mut) else {
        return;
    };
    extensions.shift_remove(NAME);
    if extensions.is_empty() {
        entry.shift_remove("extensions");
    }
}

fn use_extension(json: &mut Value) {
    let Some(root) = json.as_object_mut() else {
        return;
    };
    let names = root.entry("extensionsUsed").or_insert_with(|| json!([]));
    if let Some(names) = names.as_array_mut()
        && names.iter().all(|known| known != NAME)
    {
        names.push(NAME.into());
    }
}

/// The constraint of a node; `None` where the extension cannot express the list: several that act, an influence with keyframes, some axes of a rotation, a
/// negative share or
/// another axis than the node's, limits, IK, places and scales.
fn expressed(document: &Document, joint: JointId, list: &[Constraint]) -> Option<Value> {
    let mut acting = list.iter().filter(|c| c.acts());
    let constraint = acting.next()?;
    if acting.next().is_some() {
        return None;
    }
    if document.keys_influence(joint, constraint) {
        return None;
    }
    let source = constraint.rule.sources().next()?;
    let node = node_of(document, source);
    // The joint of a node that the file lacks.
    u32::try_from(node).ok()?;
    let weight = constraint.influence;
    let made = match constraint.rule {
        Rule::CopyRotation {
            space: Space::Local,
            axes,
            ..
        } if axes.is_all() => json!({"rotation": {"source": node, "weight": number(weight)}}),
        Rule::Aim { axis, up: None, .. } => {
            let name = axis_name(axis)?;
            json!({"aim": {"source": node, "aimAxis": name, "weight": number(weight)}})
        }
        Rule::TwistShare {
            axis,
            share,
            centre,
            ..
        } => {
            let is_roll = centre == 0.0
                && (0.0..=1.0).contains(&share)
                && document.skeleton().joint(joint).parent != Some(source);
            // A twist about an axis is the same about its opposite.
            let name = axis_name(axis).filter(|_| is_roll)?;
            let letter = &name[name.len() - 1..];
            // slerp(q0, q0 t^f, w) = q0 t^(f w).
            json!({"roll": {"source": node, "rollAxis": letter, "weight": number(share * weight)}})
        }
        _ => return None,
    };
    Some(json!({"specVersion": VERSION, "constraint": made}))
}

fn axis_name(axis: DVec3) -> Option<&'static str> {
    let mut axes = AIM_AXES.into_iter();
    let found = axes.find(|(_, known)| known.distance(axis) < AXIS_TOLERANCE);
    found.map(|(name, _)| name)
}
