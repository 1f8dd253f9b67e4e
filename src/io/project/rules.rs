//! What the artist overrides of joints <-> the project's words.

use super::format::{Named, RuleEntry};
use super::names::Names;
use crate::document::Document;
use crate::finding::Finding;
use crate::skeleton::{JointId, JointRule};

/// The joints whose rule is not the source's.
pub(super) fn collect(document: &Document) -> Vec<RuleEntry> {
    let before = document.source_skeleton().joints();
    let name = |joint: u32| {
        let joint = before.get(joint as usize);
        joint.map_or_else(String::new, |joint| joint.name.clone())
    };
    let joints = (0..).zip(document.skeleton().joints());
    joints
        .zip(before)
        .filter(|((_, now), before)| now.rule != before.rule)
        .map(|((index, now), _)| RuleEntry {
            joint: index,
            name: name(index),
            tail: now.rule.tail.map(Into::into),
            compensates_scale: now.rule.compensates_scale,
            inflation_parent: now
                .rule
                .inflation_parent
                .map(|parent| Named(parent.0, name(parent.0))),
        })
        .collect()
}

/// The rule of `entry` in this model; a joint to follow that the model does not have is left out.
pub(super) fn restore(
    entry: &RuleEntry,
    joints: &mut Names,
    findings: &mut Vec<Finding>,
) -> JointRule {
    let parent = entry.inflation_parent.as_ref();
    JointRule {
        tail: entry.tail.map(Into::into),
        compensates_scale: entry.compensates_scale,
        inflation_parent: parent
            .and_then(|Named(joint, name)| joints.find(*joint, name, findings))
            .map(JointId),
    }
}
