//! The invariants of every document, before and after every edit.

use super::model::InvalidParts;
use super::validity::{check_pose, check_row, check_skin};
use super::{Document, LayerStack, LayersEdit, Parts};
use crate::finding::{Finding, Severity, counted};
use crate::skeleton::JointId;

impl Document {
    /// A document in its rest pose. Fails with the first broken invariant of severity error.
    pub fn new(parts: Parts) -> Result<Self, InvalidParts> {
        let document = Self::assemble(parts);
        match check(&document)
            .into_iter()
            .find(|f| f.severity == Severity::Error)
        {
            Some(finding) => Err(InvalidParts(finding)),
            None => Ok(document),
        }
    }
}

/// Every broken invariant of severity error, and other findings for the artist: points without weight, sums that are
/// not 1, joints with equal names.
pub fn check(document: &Document) -> Vec<Finding> {
    let mut findings = Vec::new();
    check_references(document, &mut findings);
    check_influences(document, &mut findings);
    check_masks(document, &mut findings);
    check_layers(document, &mut findings);
    check_clusters(document, &mut findings);
    check_rules(document, &mut findings);
    check_constraints(document, &mut findings);
    for (id, clip) in &document.clips {
        if let Err(why) = document.check_clip(clip) {
            findings.push(Finding::error(
                format!("clip {} \"{}\"", id.0, clip.name),
                format!("{why}."),
            ));
        }
    }
    for (id, pose) in document.poses.iter() {
        if let Err(why) = document.check_pose_clip(pose) {
            findings.push(Finding::error(
                format!("pose {} \"{}\"", id.0, pose.name),
                format!("{why}."),
            ));
        }
    }
    for (which, pose) in [("pose", &document.pose), ("rest pose", &document.rest_pose)] {
        if let Err(why) = check_pose(pose, &document.skeleton) {
            findings.push(Finding::error(which, format!("It is not valid: {why}.")));
        }
    }
    findings
}

fn check_references(document: &Document, findings: &mut Vec<Finding>) {
    let is_live = |joint: JointId| document.skeleton.is_live(joint);
    for (id, skin) in &document.skins {
        let place = format!("skin {} \"{}\"", id.0, skin.name);
        if let Err(why) = check_skin(skin, &document.skeleton) {
            findings.push(Finding::error(
                &place,
                format!("The skin is not valid: {why}."),
            ));
        }
    }
    for (id, instance) in &document.instances {
        let place = format!("node {}", id.0);
        if !is_live(instance.joint) {
            findings.push(Finding::error(
                &place,
                "It draws a mesh but does not exist.",
            ));
        }
        if !document.meshes.contains_key(&instance.mesh) {
            findings.push(Finding::error(
                &place,
                format!("It draws mesh {}, which does not exist.", instance.mesh.0),
            ));
        }
        if let Some(skin) = instance.skin
            && !document.skins.contains_key(&skin)
        {
            findings.push(Finding::error(
                &place,
                format!("It uses skin {}, which does not exist.", skin.0),
            ));
        }
    }
    for j in document.locked.iter().filter(|&&j| !is_live(j)) {
        findings.push(Finding::error(
            "locks",
            format!("Bone {} is locked but does not exist.", j.0),
        ));
    }
}

fn check_influences(document: &Document, findings: &mut Vec<Finding>) {
    for (id, item) in &document.meshes {
        let place = format!("mesh {} \"{}\"", id.0, item.geometry.name);
        if item.influences.len() != item.geometry.n_points() {
            findings.push(Finding::error(
                &place,
                format!(
                    "{} vertices have {} rows of weights.",
                    item.geometry.n_points(),
                    item.influences.len()
                ),
            ));
            continue;
        }
        if document.n_skin_joints(*id).is_none() {
            continue;
        }
        let live = document.live_slots(*id);
        let (mut unweighted, mut off_sum) = (0, 0);
        for (point, row) in item.influences.iter().enumerate() {
            if let Err(why) = check_row(row, &live) {
                findings.push(Finding::error(
                    &place,
                    format!("The weights of vertex {point} are not valid: {why}."),
                ));
                break;
            }
            let sum: f32 = row.weights.iter().sum();
            if row.is_empty() || sum <= 0.0 {
                unweighted += 1;
            } else if (sum - 1.0).abs() > 1e-3 {
                off_sum += 1;
            }
        }
        if unweighted > 0 {
            findings.push(Finding::warning(
                &place,
                format!(
                    "{} without weight: the pose has no effect there.",
                    counted(unweighted, "vertex")
                ),
            ));
        }
        if off_sum > 0 {
            findings.push(Finding::warning(
                &place,
                format!(
                    "{} with weights that do not sum to 1.",
                    counted(off_sum, "vertex")
                ),
            ));
        }
    }
}

fn check_masks(document: &Document, findings: &mut Vec<Finding>) {
    for (id, item) in &document.meshes {
        let n_points = item.geometry.n_points();
        for (kind, mask) in item.masks.iter() {
            let range = 0.0..=kind.limit();
            let is_broken = |&(point, value): &(u32, f32)| {
                point as usize >= n_points || !range.contains(&value)
            };
            if let Some((point, value)) = mask.painted().find(is_broken) {
                let map = kind.label().to_lowercase();
                findings.push(Finding::error(
                    format!("{map} of mesh {} \"{}\"", id.0, item.geometry.name),
                    format!("Vertex {point} of {n_points} has the value {value}."),
                ));
            }
        }
    }
}

fn check_layers(document: &Document, findings: &mut Vec<Finding>) {
    for (id, item) in &document.meshes {
        let layers = item.layers.layers();
        if layers.is_empty() {
            continue;
        }
        let place = format!("layers of mesh {} \"{}\"", id.0, item.geometry.name);
        if item.influences.len() != item.geometry.n_points() {
            continue;
        }
        let edit = LayersEdit::layered(*id, layers.to_vec(), item.layers.solo());
        let refused = edit.check(document).err().map(|why| format!("{why}."));
        let wrong = refused.or_else(|| {
            let live = document.live_slots(*id);
            let mut rows = layers.iter().flat_map(|layer| layer.rows.iter());
            rows.find_map(|row| check_row(row, &live).err())
        });
        if let Some(why) = wrong {
            findings.push(Finding::error(place, why));
            continue;
        }
        let mut stack = LayerStack::new(layers.to_vec(), item.layers.solo());
        stack.compose(&LayerStack::default(), &item.influences);
        let shown = stack.result().map_or(&[][..], |shown| shown.chunks());
        let pairs = shown.iter().zip(item.influences.chunks());
        if !pairs.into_iter().all(|(a, b)| a.same_bits(b)) {
            findings.push(Finding::error(
                place,
                "The weights are not the composite of the layers.",
            ));
        }
    }
}

fn check_clusters(document: &Document, findings: &mut Vec<Finding>) {
    for (id, item) in &document.meshes {
        if let Err(why) = document.check_clusters(*id, &item.clusters) {
            let place = format!("clusters of mesh {} \"{}\"", id.0, item.geometry.name);
            findings.push(Finding::error(place, format!("They are not valid: {why}.")));
        }
    }
}

fn check_constraints(document: &Document, findings: &mut Vec<Finding>) {
    for (&joint, list) in document.constraints.iter() {
        let place = format!("constraints of bone {}", joint.0);
        if !document.skeleton.is_live(joint) {
            findings.push(Finding::error(place, "The bone was removed."));
            continue;
        }
        for constraint in list {
            if let Err(why) = constraint.check(joint, &document.skeleton) {
                let message = format!("{} is not valid: {why}.", constraint.rule.label());
                findings.push(Finding::error(&place, message));
            }
        }
    }
}

fn check_rules(document: &Document, findings: &mut Vec<Finding>) {
    for joint in document.skeleton.live_joints() {
        let rule = document.skeleton.joint(joint).rule;
        if let Err(why) = rule.check(joint, &document.skeleton) {
            let place = format!("bone \"{}\"", document.skeleton.label(joint));
            findings.push(Finding::error(
                place,
                format!("Its rule is not valid: {why}."),
            ));
        }
    }
}
