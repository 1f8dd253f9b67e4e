//! Makes a valid row from the weights an operation requests: respects locks, the limit of influences and the sum.

use super::Subject;
use crate::skinning::RowRef;

/// The largest error of a sum that is left as it is, so that rows keep their bits.
const SUM_TOLERANCE: f64 = 1e-6;

/// Locked weights leave no remainder.
pub(super) const FULL: &str = "whose locked weights leave nothing to share";
/// No other joint can take the rest.
pub(super) const NO_TAKER: &str = "where no other unlocked bone can take the rest";
/// There is nothing to scale.
pub(super) const BARE: &str = "without any weight";

/// The target of the sum of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Sum {
    /// 1.
    One,
    /// The old sum; 1 if the subject normalises.
    Kept,
    /// The sum of the requested weights; 1 if the subject normalises.
    Free,
}

/// The result for a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowResult {
    /// Unchanged to the bit.
    Same,
    /// Changed.
    New {
        /// Whether influences were dropped because of the limit.
        lost: bool,
    },
    /// Not possible, with the reason.
    Left(&'static str),
}

/// The rules that a row must respect.
#[derive(Clone, Copy)]
pub(super) struct Rules<'a> {
    pub(super) subject: &'a Subject<'a>,
    /// Most influences of a changed row.
    pub(super) most: usize,
}

impl<'a> Rules<'a> {
    pub(super) fn new(subject: &'a Subject<'a>) -> Self {
        let most = subject.max_influences.max(1);
        Self { subject, most }
    }

    /// The tier of a joint of an operation on the joints in scope. Where the scope is not all joints, the others are
    /// scaled first to keep the sum, so that what the operation gave stays.
    pub(super) fn tier(&self, joint: u16) -> u8 {
        let is_given = self.subject.acts_on.is_some() && self.subject.acts_on(joint);
        u8::from(is_given) * 2
    }

    /// Makes a valid row from `row`; locked joints keep their weights of `before`.
    ///
    /// `tier`: unlocked joints of tier 0 are scaled first to reach the sum, then those of tier 1, then those of tier
    /// 2. If there are too many influences the smallest are dropped, those of tier 2 last.
    pub(super) fn settle(
        &self,
        before: RowRef<'_>,
        row: &mut Vec<(u16, f32)>,
        sum: Sum,
        tier: impl Fn(u16) -> u8,
    ) -> RowResult {
        if sum != Sum::One && is_same(before, row) {
            return RowResult::Same;
        }
        let is_locked = |joint: u16| self.subject.is_locked(joint);
        row.retain(|&(joint, weight)| weight > 0.0 || is_locked(joint));
        let given = total(row);
        let lost = self.limit(row, &tier);
        let target = match sum {
            Sum::One => Some(1.0),
            _ if self.subject.keep_sum => Some(1.0),
            Sum::Kept => Some(before.weights.iter().map(|&w| f64::from(w)).sum()),
            Sum::Free => lost.then_some(given),
        };
        if let Some(target) = target
            && let Err(why) = self.fit(row, target, &tier)
        {
            return RowResult::Left(why);
        }
        row.retain(|&(joint, weight)| weight > 0.0 || is_locked(joint));
        if !is_same(before, row) {
            RowResult::New { lost }
        } else if sum == Sum::One {
            RowResult::Same
        } else {
            RowResult::Left(NO_TAKER)
        }
    }

    /// Drops the smallest unlocked influences beyond the limit; whether there were any.
    fn limit(&self, row: &mut Vec<(u16, f32)>, tier: &impl Fn(u16) -> u8) -> bool {
        let mut lost = false;
        while row.len() > self.most {
            let unlocked = row.iter().enumerate();
            let smallest = unlocked
                .filter(|(_, (joint, _))| !self.subject.is_locked(*joint))
                .min_by(|(_, a), (_, b)| {
                    let held = |e: &(u16, f32)| tier(e.0) >= 2;
                    held(a).cmp(&held(b)).then(a.1.total_cmp(&b.1))
                })
                .map(|(i, _)| i);
            match smallest {
                Some(i) => row.remove(i),
                None => break,
            };
            lost = true;
        }
        lost
    }

    /// Scales unlocked weights, tier after tier, until the sum is `target`.
    pub(super) fn fit(
        &self,
        row: &mut [(u16, f32)],
        target: f64,
        tier: &impl Fn(u16) -> u8,
    ) -> Result<(), &'static str> {
        let mut locked = 0.0;
        let mut sums = [0.0; 3];
        for &(joint, weight) in row.iter() {
            if self.subject.is_locked(joint) {
                locked += f64::from(weight);
            } else {
                sums[usize::from(tier(joint).min(2))] += f64::from(weight);
            }
        }
        if (locked + sums.iter().sum::<f64>() - target).abs() <= SUM_TOLERANCE {
            return Ok(());
        }
        let unlocked = sums.iter().sum::<f64>();
        for level in 0..3u8 {
            let own = sums[usize::from(level)];
            if own <= 0.0 {
                continue;
            }
            let others = sums.iter().sum::<f64>() - own;
            let need = (target - locked - others).max(0.0);
            let scale = need / own;
            for (joint, weight) in row.iter_mut() {
                if tier(*joint).min(2) == level && !self.subject.is_locked(*joint) {
                    *weight = (f64::from(*weight) * scale) as f32;
                }
            }
            sums[usize::from(level)] = need;
            if need > 0.0 || (locked + others - target).abs() <= SUM_TOLERANCE {
                return Ok(());
            }
        }
        Err(if locked >= target && locked > 0.0 {
            FULL
        } else if unlocked <= 0.0 && locked <= 0.0 {
            BARE
        } else {
            NO_TAKER
        })
    }
    /// Gives a point the weights of another: `wanted` (distinct joints) for the joints in scope, beside the locked weights.
    /// Joints out of scope are scaled to keep the sum.
    pub(super) fn adopt(
        &self,
        before: RowRef<'_>,
        wanted: &[(u16, f32)],
        asked: impl Fn(u16) -> bool,
        row: &mut Vec<(u16, f32)>,
    ) -> RowResult {
        row.clear();
        row.extend(before.iter().filter(|&(joint, _)| !asked(joint)));
        row.extend(wanted.iter().filter(|(joint, _)| asked(*joint)));
        self.settle(before, row, Sum::Free, |joint| u8::from(asked(joint)) * 2)
    }
}

/// Drops the smallest weights of joints that `may_go` until `most` are left or no such joint remains.
pub(super) fn drop_smallest(row: &mut Vec<(u16, f32)>, most: usize, may_go: impl Fn(u16) -> bool) {
    while row.len() > most {
        let going = row.iter().enumerate().filter(|(_, e)| may_go(e.0));
        let smallest = going.min_by(|(_, a), (_, b)| a.1.total_cmp(&b.1));
        let Some((i, _)) = smallest else {
            return;
        };
        row.remove(i);
    }
}

/// The sum of a row.
pub(super) fn total(row: &[(u16, f32)]) -> f64 {
    row.iter().map(|&(_, w)| f64::from(w)).sum()
}

/// Whether both give each joint the same weight, bit for bit.
pub(super) fn is_same(before: RowRef<'_>, row: &[(u16, f32)]) -> bool {
    before.len() == row.len()
        && row.iter().all(|&(joint, weight)| {
            let at = before.joints.iter().position(|&j| j == joint);
            at.is_some_and(|i| before.weights[i].to_bits() == weight.to_bits())
        })
}
