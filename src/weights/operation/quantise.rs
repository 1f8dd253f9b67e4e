//! Rounds weights to steps.

use super::each_point::each_point;
use super::settle::{RowResult, Rules, Sum, drop_smallest, total};
use super::{OperationError, Outcome, Subject};
use crate::task::Task;

/// The weight that locks leave is not a multiple of the step.
const NO_WHOLE: &str = "whose locked weights leave no multiple of the step";

/// Rounds the weights of the joints in scope to steps; those with the largest remainders are rounded up, so that the
/// sum is kept.
pub(super) fn run(
    steps: u32,
    subject: &Subject<'_>,
    task: &Task,
) -> Result<Outcome, OperationError> {
    if !(2..=65535).contains(&steps) {
        return Err(OperationError::Refused(format!(
            "The number of steps must be 2 - 65535, not {steps}."
        )));
    }
    let n = f64::from(steps);
    let rules = Rules::new(subject);
    let tally = each_point(&rules, task, "Quantising", |_, before, pen| {
        let row = &mut pen.row;
        row.clear();
        row.extend(before.iter());
        // A row that is too long is shortened first: afterwards it would lose steps.
        drop_smallest(row, rules.most, |joint| subject.acts_on(joint));
        let target = if subject.keep_sum {
            1.0
        } else {
            before.weights.iter().map(|&w| f64::from(w)).sum()
        };
        let asked = total_of(row, |joint| subject.acts_on(joint));
        let kept = total(row) - asked;
        let room = target - kept;
        if asked <= 0.0 || room <= 0.0 {
            return RowResult::Same;
        }
        // Where other bones can take the rest, the nearest step; otherwise the sum must be kept.
        let takers = if subject.acts_on.is_some() {
            total_of(row, |joint| {
                !subject.is_locked(joint) && !subject.acts_on(joint)
            })
        } else {
            0.0
        };
        let (whole, rest) = if takers > 0.0 {
            let most = ((room + takers) * n + 1e-4).floor();
            ((asked * n).round().min(most), 0.0)
        } else {
            let whole = (room * n + 1e-4).floor();
            (whole, room - whole / n)
        };
        let mut left = whole as u32;
        // (remainder, index in the row)
        let mut remainders: Vec<(f64, usize)> = Vec::new();
        for (i, (joint, weight)) in row.iter_mut().enumerate() {
            if !subject.acts_on(*joint) {
                continue;
            }
            let exact = f64::from(*weight) / asked * whole;
            let down = (exact + 1e-6).floor();
            remainders.push((exact - down, i));
            *weight = down as f32;
            left = left.saturating_sub(down as u32);
        }
        remainders.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        for &(_, i) in remainders.iter().take(left as usize) {
            row[i].1 += 1.0;
        }
        for (joint, weight) in row.iter_mut() {
            if subject.acts_on(*joint) {
                *weight = (f64::from(*weight) / n) as f32;
            }
        }
        if rest > 1e-6 && subject.keep_sum {
            pen.remarks.push(NO_WHOLE);
            let largest = row
                .iter_mut()
                .filter(|(joint, _)| subject.acts_on(*joint))
                .max_by(|a, b| a.1.total_cmp(&b.1));
            if let Some((_, weight)) = largest {
                *weight = (f64::from(*weight) + rest) as f32;
            }
        }
        let row_before = before.len() > row.len();
        let verdict = rules.settle(before, row, Sum::Free, |joint| rules.tier(joint));
        match verdict {
            RowResult::New { .. } => RowResult::New {
                lost: row_before && before.len() > rules.most,
            },
            other => other,
        }
    })?;
    Ok(tally.outcome(Vec::new()))
}

fn total_of(row: &[(u16, f32)], is_in: impl Fn(u16) -> bool) -> f64 {
    let weights = row.iter().filter(|(joint, _)| is_in(*joint));
    weights.map(|&(_, w)| f64::from(w)).sum()
}
