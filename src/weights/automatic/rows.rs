//! The largest weights of each position, and the rows made from them.

use super::welded_surface::WeldedSurface;
use crate::mesh::PointSet;
use crate::skinning::RowRef;
use crate::task::{Cancelled, Task};
use crate::weights::outcome::{Gathering, LeftOut, Outcome};
use crate::weights::subject::Subject;
use rayon::prelude::*;

/// Weights below this are dropped.
const SMALLEST: f32 = 2e-3;

/// Positions per task.
const POSITIONS_PER_TASK: usize = 4096;

/// The joints of the largest weights of each position: a fixed number, however many joints there are.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TopRows {
    width: usize,
    /// n_positions x width, the largest first; weight 0: empty.
    entries: Vec<(u16, f32)>,
}

impl TopRows {
    /// No weights; with capacity for the influences of a row and a few more, which smoothing needs.
    pub(crate) fn new(n_positions: usize, max_influences: usize) -> Self {
        let width = max_influences.clamp(1, 32) + 2;
        Self {
            width,
            entries: vec![(0, 0.0); n_positions * width],
        }
    }

    /// The entries of a position, the largest first.
    pub(crate) fn row(&self, position: u32) -> &[(u16, f32)] {
        let start = position as usize * self.width;
        let row = &self.entries[start..start + self.width];
        let end = row.iter().position(|e| e.1 <= 0.0).unwrap_or(row.len());
        &row[..end]
    }
    /// Adds a joint that the position does not have yet; if there are too many the smallest is dropped. The result does not
    /// depend on the order of the calls: of equal weights the lower joint comes first.
    pub(crate) fn offer(&mut self, position: u32, joint: u16, weight: f32) {
        let start = position as usize * self.width;
        insert(&mut self.entries[start..start + self.width], joint, weight);
    }

    /// Averages each position with its neighbours, by `strength` towards their mean, the given number of iterations.
    pub(crate) fn smooth(
        &mut self,
        surface: &WeldedSurface,
        iterations: usize,
        strength: f32,
        task: &Task,
    ) -> Result<(), Cancelled> {
        let width = self.width;
        for _ in 0..iterations {
            task.check()?;
            let mut next = vec![(0, 0.0); self.entries.len()];
            let before = &*self;
            next.par_chunks_mut(POSITIONS_PER_TASK * width)
                .enumerate()
                .for_each(|(run, chunk)| {
                    if task.is_cancelled() {
                        return;
                    }
                    let mut sums: Vec<(u16, f32)> = Vec::new();
                    for (i, row) in chunk.chunks_mut(width).enumerate() {
                        let position = (run * POSITIONS_PER_TASK + i) as u32;
                        let neighbours = surface.neighbours(position);
                        let share = strength / neighbours.len().max(1) as f32;
                        let own = if neighbours.is_empty() {
                            1.0
                        } else {
                            1.0 - strength
                        };
                        sums.clear();
                        let mut add = |row: &[(u16, f32)], factor: f32| {
                            let total: f32 = row.iter().map(|e| e.1).sum();
                            for &(joint, weight) in row {
                                let weight = weight * factor / total;
                                match sums.iter_mut().find(|s| s.0 == joint) {
                                    Some(sum) => sum.1 += weight,
                                    None => sums.push((joint, weight)),
                                }
                            }
                        };
                        add(before.row(position), own);
                        for &q in neighbours {
                            add(before.row(q), share);
                        }
                        for &(joint, weight) in &sums {
                            insert(row, joint, weight);
                        }
                    }
                });
            self.entries = next;
        }
        task.check()
    }
}

fn insert(row: &mut [(u16, f32)], joint: u16, weight: f32) {
    if weight <= 0.0 || !weight.is_finite() {
        return;
    }
    let precedes = |e: &(u16, f32)| e.1 > weight || (e.1 == weight && e.1 > 0.0 && e.0 < joint);
    let at = row.iter().position(|e| !precedes(e)).unwrap_or(row.len());
    if at < row.len() {
        row[at..].rotate_right(1);
        row[at] = (joint, weight);
    }
}

/// The outcome of the weights computed for each position.
///
/// Locked weights keep every bit, the computed ones get the rest. If the scope has only some joints, those get the
/// computed weights and the others the rest in their old proportion.
pub(crate) fn finish(
    subject: &Subject<'_>,
    surface: &WeldedSurface,
    computed: &TopRows,
    notes: Vec<String>,
) -> Outcome {
    let mut gathering = Gathering::default();
    let mut considered = 0;
    let (mut full, mut bare) = (PointSet::default(), PointSet::default());
    let mut row = Vec::new();
    for point in 0..subject.n_points() as u32 {
        if !subject.includes(point) {
            continue;
        }
        considered += 1;
        let before = subject.row(point);
        let position = surface.of_point[point as usize];
        match compose(subject, before, computed.row(position), &mut row) {
            Composed::Done => gathering.add(point, before, &row),
            Composed::Full => drop(full.insert(point)),
            Composed::Bare => drop(bare.insert(point)),
        }
    }
    let left_out = vec![
        LeftOut {
            why: "whose locked weights leave nothing to share".into(),
            points: full,
        },
        LeftOut {
            why: "that no bone reaches".into(),
            points: bare,
        },
    ];
    gathering.finish(considered, left_out, notes)
}

/// The result for a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Composed {
    /// Changed.
    Done,
    /// Locked weights leave no remainder.
    Full,
    /// No weight was computed.
    Bare,
}

/// Writes to `row` the locked weights of `before` as they are and `computed` (unlocked joints, the largest first)
/// scaled to what they leave, at most as many as a row may hold, the largest first.
pub(crate) fn compose(
    subject: &Subject<'_>,
    before: RowRef<'_>,
    computed: &[(u16, f32)],
    row: &mut Vec<(u16, f32)>,
) -> Composed {
    row.clear();
    row.extend(before.iter().filter(|e| subject.is_locked(e.0)));
    let n_locked = row.len();
    let room = subject.max_influences.max(1).saturating_sub(n_locked);
    let rest = 1.0 - row.iter().map(|e| e.1).sum::<f32>();
    if room == 0 || rest <= 0.0 {
        return Composed::Full;
    }
    let fresh = computed
        .iter()
        .filter(|e| !subject.is_locked(e.0) && e.1 > 0.0);
    let total: f32 = fresh.clone().map(|e| e.1).sum();
    if total <= 0.0 {
        return Composed::Bare;
    }
    let mut shares: Vec<(u16, f32)> = fresh.map(|&(j, w)| (j, w / total)).collect();
    if subject.acts_on.is_some() {
        let is_other = |e: &(u16, f32)| !subject.is_locked(e.0) && !subject.acts_on(e.0);
        let others = || before.iter().filter(is_other);
        let had: f32 = others().map(|e| e.1).sum();
        // If the others have no weight now, they get the rest as computed.
        if had > 0.0 {
            shares.retain(|e| subject.acts_on(e.0));
            let taken: f32 = shares.iter().map(|e| e.1).sum();
            shares.extend(others().map(|(j, w)| (j, w / had * (1.0 - taken))));
        }
        shares.retain(|e| e.1 > 0.0);
        if shares.is_empty() {
            return Composed::Bare;
        }
        shares.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    }
    let largest = shares[0].1;
    shares.truncate(room);
    shares.retain(|e| e.1 >= SMALLEST.min(largest));
    let total: f32 = shares.iter().map(|e| e.1).sum();
    let mut left = rest;
    for share in &mut shares[1..] {
        share.1 *= rest / total;
        left -= share.1;
    }
    shares[0].1 = left;
    row.extend(shares);
    Composed::Done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_stay_whatever_the_order_they_come_in() {
        let offers = [(3, 0.2), (1, 0.5), (7, 0.2), (2, 0.9), (5, 0.01), (6, 0.3)];
        let mut forward = TopRows::new(1, 2);
        let mut backward = TopRows::new(1, 2);
        for (joint, weight) in offers {
            forward.offer(0, joint, weight);
        }
        for (joint, weight) in offers.into_iter().rev() {
            backward.offer(0, joint, weight);
        }
        assert_eq!(forward.row(0), [(2, 0.9), (1, 0.5), (6, 0.3), (3, 0.2)]);
        assert_eq!(forward, backward);
        assert_eq!(TopRows::new(1, 4).row(0), []);
    }
}
