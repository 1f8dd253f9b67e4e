//! Runs a function on many points, on all threads, and collects the results.

use super::settle::{RowResult, Rules};
use super::{LeftOut, Outcome, Report};
use crate::finding::counted;
use crate::mesh::PointSet;
use crate::skinning::{CHUNK, RowRef, Rows};
use crate::task::{Cancelled, Task};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The output of an operation at one point.
#[derive(Default)]
pub(super) struct Pen {
    /// The new row.
    pub(super) row: Vec<(u16, f32)>,
    /// More buffers, so that nothing is allocated for each point.
    pub(super) other: Vec<(u16, f32)>,
    /// The reason why the point could not change as requested; its row may be new.
    pub(super) remarks: Vec<&'static str>,
}

/// The results of one chunk of points.
#[derive(Default)]
struct Part {
    considered: usize,
    points: Vec<u32>,
    rows: Rows,
    left: Vec<(&'static str, u32)>,
    n_lost: usize,
}

/// The results of all points.
pub(super) struct Tally {
    considered: usize,
    points: Vec<u32>,
    rows: Rows,
    left: BTreeMap<&'static str, PointSet>,
    n_lost: usize,
    most: usize,
}

/// Runs `change` on each point in scope.
pub(super) fn each_point(
    rules: &Rules<'_>,
    task: &Task,
    label: &str,
    change: impl Fn(u32, RowRef<'_>, &mut Pen) -> RowResult + Sync,
) -> Result<Tally, Cancelled> {
    let subject = rules.subject;
    each_of(rules, task, label, |point| subject.includes(point), change)
}

/// Runs `change` on each point that is `included`.
pub(super) fn each_of(
    rules: &Rules<'_>,
    task: &Task,
    label: &str,
    included: impl Fn(u32) -> bool + Sync,
    change: impl Fn(u32, RowRef<'_>, &mut Pen) -> RowResult + Sync,
) -> Result<Tally, Cancelled> {
    let n_points = rules.subject.n_points();
    let n_chunks = n_points.div_ceil(CHUNK);
    task.step(label, 0.0)?;
    let done = AtomicUsize::new(0);
    let of_chunk = |chunk: usize| -> Result<Part, Cancelled> {
        task.check()?;
        let mut part = Part::default();
        let mut pen = Pen::default();
        let last = ((chunk + 1) * CHUNK).min(n_points);
        for point in (chunk * CHUNK..last).map(|p| p as u32) {
            if !included(point) {
                continue;
            }
            part.considered += 1;
            pen.remarks.clear();
            match change(point, rules.subject.row(point), &mut pen) {
                RowResult::Same => {}
                RowResult::New { lost } => {
                    part.points.push(point);
                    part.rows.push_pairs(pen.row.iter().copied());
                    part.n_lost += usize::from(lost);
                }
                RowResult::Left(why) => part.left.push((why, point)),
            }
            part.left
                .extend(pen.remarks.drain(..).map(|why| (why, point)));
        }
        let n_done = done.fetch_add(1, Ordering::Relaxed) + 1;
        if n_done.is_multiple_of(16) {
            task.step(label, n_done as f32 / n_chunks as f32)?;
        }
        Ok(part)
    };
    let parts: Vec<Part> = (0..n_chunks)
        .into_par_iter()
        .map(of_chunk)
        .collect::<Result<_, Cancelled>>()?;
    let mut tally = Tally {
        considered: 0,
        points: Vec::new(),
        rows: Rows::with_capacity(parts.iter().map(|p| p.points.len()).sum()),
        left: BTreeMap::new(),
        n_lost: 0,
        most: rules.most,
    };
    for part in parts {
        tally.considered += part.considered;
        tally.n_lost += part.n_lost;
        tally.points.extend(part.points);
        part.rows.iter().for_each(|row| tally.rows.push(row));
        for (why, point) in part.left {
            tally.left.entry(why).or_default().insert(point);
        }
    }
    Ok(tally)
}

impl Tally {
    /// The outcome, with `notes` before the notes of every operation.
    pub(super) fn outcome(self, mut notes: Vec<String>) -> Outcome {
        if self.n_lost > 0 {
            notes.push(format!(
                "{} lost their smallest influences: the limit is {}.",
                counted(self.n_lost, "vertex"),
                self.most
            ));
        }
        let left_out = self.left.into_iter().map(|(why, points)| LeftOut {
            why: why.to_owned(),
            points,
        });
        Outcome {
            report: Report {
                considered: self.considered,
                changed: self.points.len(),
                left_out: left_out.collect(),
                notes,
            },
            points: self.points,
            rows: self.rows,
        }
    }
}
