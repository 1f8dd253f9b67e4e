//! Moves, merges and swaps the weights of joints.

use super::each_point::each_point;
use super::settle::{RowResult, Rules, Sum};
use super::{OperationError, Outcome, Subject, share};
use crate::skeleton::JointId;
use crate::task::Task;

/// Moves a fraction of the weight of some joints to another.
pub(super) fn give(
    from: &[JointId],
    to: JointId,
    part: f32,
    subject: &Subject<'_>,
    task: &Task,
) -> Result<Outcome, OperationError> {
    share(part, "The share")?;
    if from.is_empty() {
        return Err(OperationError::Refused(
            "Choose a bone to move weights from.".into(),
        ));
    }
    if from.contains(&to) {
        return Err(OperationError::Refused(format!(
            "\"{}\" is both the source and the target. Choose another bone.",
            subject.skeleton.label(to)
        )));
    }
    let to = subject.unlocked_index_of(to)?;
    let mut givers = Vec::with_capacity(from.len());
    for &joint in from {
        let index = subject.unlocked_index_of(joint)?;
        if !givers.contains(&index) {
            givers.push(index);
        }
    }
    let rules = Rules::new(subject);
    let tally = each_point(&rules, task, "Moving weights", |_, before, pen| {
        let row = &mut pen.row;
        row.clear();
        row.extend(before.iter());
        let mut given = 0.0;
        for (_, weight) in row.iter_mut().filter(|(joint, _)| givers.contains(joint)) {
            // The rest is computed by subtraction, so that both parts add up exactly.
            let goes = *weight * part;
            given += f64::from(goes);
            *weight -= goes;
        }
        if given <= 0.0 {
            return RowResult::Same;
        }
        let sum = f64::from(before.weight_of(to)) + given;
        super::set(row, to, sum as f32);
        rules.settle(before, row, Sum::Kept, |joint| {
            if joint == to || givers.contains(&joint) {
                2
            } else {
                0
            }
        })
    })?;
    Ok(tally.outcome(Vec::new()))
}

/// Exchanges the weights of two joints.
pub(super) fn swap(
    a: JointId,
    b: JointId,
    subject: &Subject<'_>,
    task: &Task,
) -> Result<Outcome, OperationError> {
    if a == b {
        return Err(OperationError::Refused(format!(
            "\"{}\" cannot be swapped with itself.",
            subject.skeleton.label(a)
        )));
    }
    let (a, b) = (subject.unlocked_index_of(a)?, subject.unlocked_index_of(b)?);
    let rules = Rules::new(subject);
    let tally = each_point(&rules, task, "Swapping weights", |_, before, pen| {
        let swapped = |joint: u16| match joint {
            _ if joint == a => b,
            _ if joint == b => a,
            _ => joint,
        };
        pen.row.clear();
        pen.row.extend(before.iter().map(|(j, w)| (swapped(j), w)));
        rules.settle(before, &mut pen.row, Sum::Kept, |joint| {
            u8::from(joint == a || joint == b) * 2
        })
    })?;
    Ok(tally.outcome(Vec::new()))
}
