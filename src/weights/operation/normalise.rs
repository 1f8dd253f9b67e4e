//! Normalises weights.

use super::each_point::each_point;
use super::settle::{Rules, Sum};
use super::{OperationError, Outcome, Subject};
use crate::task::Task;

/// Scales the joints in scope to a sum of 1 and, if that is not enough, the other unlocked ones.
pub(super) fn run(subject: &Subject<'_>, task: &Task) -> Result<Outcome, OperationError> {
    let rules = Rules::new(subject);
    let tally = each_point(&rules, task, "Normalising", |_, before, pen| {
        pen.row.clear();
        pen.row.extend(before.iter());
        rules.settle(before, &mut pen.row, Sum::One, |joint| {
            u8::from(!subject.acts_on(joint))
        })
    })?;
    Ok(tally.outcome(Vec::new()))
}
