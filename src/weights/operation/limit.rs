//! Limits the number of influences.

use super::each_point::each_point;
use super::settle::{RowResult, Rules, Sum, drop_smallest};
use super::{OperationError, Outcome, Subject};
use crate::task::Task;

/// Too many influences must stay.
const KEPT: &str = "with more locked bones, or bones out of scope, than that";

/// Drops the smallest influences of the joints in scope until `most` are left.
pub(super) fn run(
    most: usize,
    subject: &Subject<'_>,
    task: &Task,
) -> Result<Outcome, OperationError> {
    if most == 0 {
        return Err(OperationError::Refused(
            "A vertex keeps at least 1 influence.".into(),
        ));
    }
    // The operation's own limit replaces that of the subject.
    let rules = Rules {
        subject,
        most: usize::MAX,
    };
    let tally = each_point(&rules, task, "Limiting influences", |_, before, pen| {
        let row = &mut pen.row;
        row.clear();
        row.extend(before.iter());
        drop_smallest(row, most, |joint| subject.acts_on(joint));
        if row.len() > most {
            pen.remarks.push(KEPT);
        }
        if row.len() == before.len() {
            return RowResult::Same;
        }
        rules.settle(before, row, Sum::Kept, |joint| rules.tier(joint))
    })?;
    Ok(tally.outcome(Vec::new()))
}
