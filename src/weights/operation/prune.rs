//! Removes small weights.

use super::each_point::each_point;
use super::settle::{RowResult, Rules, Sum};
use super::{OperationError, Outcome, Subject, share};
use crate::task::Task;

/// Drops weights below a threshold of the joints in scope; the largest weight of a point stays.
pub(super) fn run(
    below: f32,
    subject: &Subject<'_>,
    task: &Task,
) -> Result<Outcome, OperationError> {
    share(below, "The threshold")?;
    let rules = Rules::new(subject);
    let tally = each_point(&rules, task, "Pruning", |_, before, pen| {
        let largest = (0..before.len()).rev().max_by(|&a, &b| {
            let [a, b] = [a, b].map(|i| before.weights[i]);
            a.total_cmp(&b)
        });
        let row = &mut pen.row;
        row.clear();
        let kept = before.iter().enumerate().filter(|&(i, (joint, weight))| {
            weight >= below || Some(i) == largest || !subject.acts_on(joint)
        });
        row.extend(kept.map(|(_, entry)| entry));
        if row.len() == before.len() {
            return RowResult::Same;
        }
        rules.settle(before, row, Sum::Kept, |joint| rules.tier(joint))
    })?;
    Ok(tally.outcome(Vec::new()))
}
