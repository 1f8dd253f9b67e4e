//! Levels of weights, like the levels of an image.

use super::each_point::each_point;
use super::settle::{Rules, Sum};
use super::{Levels, OperationError, Outcome, Subject, share};
use crate::task::Task;

impl Levels {
    /// The new value of a weight.
    pub fn of(&self, weight: f32) -> f32 {
        let t = ((weight - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        let bent = if self.gamma == 1.0 {
            t
        } else {
            t.powf(1.0 / self.gamma)
        };
        (self.out_low + bent * (self.out_high - self.out_low)).clamp(0.0, 1.0)
    }

    fn check(&self) -> Result<(), OperationError> {
        for (value, name) in [
            (self.low, "The lower level"),
            (self.high, "The upper level"),
            (self.out_low, "The lower output level"),
            (self.out_high, "The upper output level"),
        ] {
            share(value, name)?;
        }
        if self.low >= self.high {
            return Err(OperationError::Refused(format!(
                "The upper level, {}, must be above the lower one, {}.",
                self.high, self.low
            )));
        }
        if !(0.1..=10.0).contains(&self.gamma) {
            return Err(OperationError::Refused(format!(
                "Gamma must be 0.1 - 10, not {}.",
                self.gamma
            )));
        }
        Ok(())
    }
}

/// Levels of one joint, or of each that has weight.
pub(super) fn run(
    levels: &Levels,
    subject: &Subject<'_>,
    task: &Task,
) -> Result<Outcome, OperationError> {
    levels.check()?;
    let one = match levels.joint {
        Some(joint) => Some(subject.unlocked_index_of(joint)?),
        None => None,
    };
    // Identity levels must not change rows by rounding.
    let is_plain = *levels
        == Levels {
            joint: levels.joint,
            ..Levels::default()
        };
    let rules = Rules::new(subject);
    let tally = each_point(&rules, task, "Adjusting levels", |_, before, pen| {
        let row = &mut pen.row;
        row.clear();
        row.extend(before.iter());
        match one {
            _ if is_plain => {}
            Some(index) => super::set(row, index, levels.of(before.weight_of(index))),
            None => {
                for (joint, weight) in row.iter_mut().filter(|(_, w)| *w > 0.0) {
                    if subject.acts_on(*joint) {
                        *weight = levels.of(*weight);
                    }
                }
            }
        }
        rules.settle(before, row, Sum::Free, |joint| {
            match one {
                // All joints in scope are adjusted: the others share the rest.
                None => rules.tier(joint),
                Some(one) if one == joint => 2,
                Some(_) => u8::from(!subject.acts_on(joint)),
            }
        })
    })?;
    Ok(tally.outcome(Vec::new()))
}
