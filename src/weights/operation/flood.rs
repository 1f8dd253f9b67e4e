//! Sets or inverts the weights of one joint everywhere.

use super::each_point::each_point;
use super::settle::{Rules, Sum};
use super::{Flood, OperationError, Outcome, Subject, share};
use crate::skeleton::JointId;
use crate::task::Task;

/// Sets, adds to or scales the weights of one joint.
pub(super) fn run(
    joint: JointId,
    value: f32,
    how: Flood,
    subject: &Subject<'_>,
    task: &Task,
) -> Result<Outcome, OperationError> {
    if how == Flood::Scale {
        if !(0.0..=10.0).contains(&value) {
            return Err(OperationError::Refused(format!(
                "The factor must be 0 - 10, not {value}."
            )));
        }
    } else {
        share(value, "The weight")?;
    }
    each_weight(joint, subject, task, "Flooding", |weight| match how {
        Flood::Replace => value,
        Flood::Add => weight + value,
        Flood::Subtract => weight - value,
        Flood::Scale => weight * value,
    })
}

/// Replaces the weights w of one joint with 1 - w.
pub(super) fn invert(
    joint: JointId,
    subject: &Subject<'_>,
    task: &Task,
) -> Result<Outcome, OperationError> {
    each_weight(joint, subject, task, "Inverting", |weight| 1.0 - weight)
}

/// Applies `change` to the weight of one joint at each point; the other joints scale to keep the sum.
fn each_weight(
    joint: JointId,
    subject: &Subject<'_>,
    task: &Task,
    label: &str,
    change: impl Fn(f32) -> f32 + Sync,
) -> Result<Outcome, OperationError> {
    let index = subject.unlocked_index_of(joint)?;
    let rules = Rules::new(subject);
    let tally = each_point(&rules, task, label, |_, before, pen| {
        let row = &mut pen.row;
        row.clear();
        row.extend(before.iter());
        super::set(row, index, change(before.weight_of(index)).clamp(0.0, 1.0));
        rules.settle(before, row, Sum::Free, |joint| {
            if joint == index {
                2
            } else {
                u8::from(!subject.acts_on(joint))
            }
        })
    })?;
    Ok(tally.outcome(Vec::new()))
}
