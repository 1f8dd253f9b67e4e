//! The values of joints that the user overrides <-> the project format.

use super::joints::{self, JointRef, Joints};
use super::v11::RuleEntry;
use crate::document::Document;
use crate::finding::Finding;
use crate::skeleton::joint_limits::JointLimits;
use crate::skeleton::{JointId, JointRule};

/// The joints whose rule is not the source's.
pub(super) fn collect(document: &Document) -> Vec<RuleEntry> {
    let source = document.source_skeleton().joints();
    let joints = (0..).map(JointId).zip(document.skeleton().joints());
    joints
        .filter(|(joint, now)| {
            let before = source.get(joint.get()).map(|before| before.rule);
            !now.removed && now.rule != before.unwrap_or_default()
        })
        .map(|(joint, now)| RuleEntry {
            joint: joints::key(document, joint),
            name: joints::name(document, joint),
            tail: now.rule.tail.map(Into::into),
            compensates_scale: now.rule.compensates_scale,
            inflation_parent: now
                .rule
                .inflation_parent
                .map(|parent| joints::reference(document, parent)),
            logical_parent: now
                .rule
                .logical_parent
                .map(|parent| joints::reference(document, parent)),
            limits: (now.rule.limits).map(|limits| limits.0.map(|[low, high]| (low, high))),
        })
        .collect()
}

/// The rule of `entry` in this model; a reference to a joint that the model does not have is skipped.
pub(super) fn restore(
    entry: &RuleEntry,
    joints: &mut Joints,
    findings: &mut Vec<Finding>,
) -> JointRule {
    let mut find = |parent: &Option<JointRef>| {
        let parent = parent.as_ref();
        parent.and_then(|parent| joints.find_joint(parent, findings))
    };
    JointRule {
        tail: entry.tail.map(Into::into),
        compensates_scale: entry.compensates_scale,
        inflation_parent: find(&entry.inflation_parent),
        logical_parent: find(&entry.logical_parent),
        limits: entry
            .limits
            .map(|ranges| JointLimits(ranges.map(|(low, high)| [low, high]))),
    }
}
