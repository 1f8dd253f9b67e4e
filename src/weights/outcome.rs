//! The result of an operation: new rows, a report of what could not change, or why it could not run.

use crate::mesh::PointSet;
use crate::skinning::{RowRef, Rows};
use crate::task::Cancelled;

/// The new rows of an operation, and its report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Points whose row changes, ascending.
    pub points: Vec<u32>,
    /// Their rows; joints index the skin's list.
    pub rows: Rows,
    /// The report.
    pub report: Report,
}

/// What an operation changed, for the window, the command line and tests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Number of points in scope.
    pub considered: usize,
    /// Number of points whose row changed.
    pub changed: usize,
    /// The reasons for points that could not change, with these points.
    pub left_out: Vec<LeftOut>,
    /// Other notes, in sentences: fallbacks and where they were used, pairs that were not found ...
    pub notes: Vec<String>,
}

/// Points that an operation could not change.
#[derive(Clone, Debug, PartialEq)]
pub struct LeftOut {
    /// The reason, as text after a number of vertices: "without a counterpart on the other side".
    pub why: String,
    /// Which points.
    pub points: PointSet,
}

/// Why an operation could not run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OperationError {
    /// It was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// A message that names the fault.
    #[error("{0}")]
    Refused(String),
}

/// Collects the rows of an outcome; unchanged rows are left out.
#[derive(Debug, Default)]
pub struct Gathering {
    points: Vec<u32>,
    rows: Rows,
}

impl Gathering {
    /// Adds the new row of `point` unless it equals `before` bit for bit. Points come in ascending order.
    pub fn add(&mut self, point: u32, before: RowRef<'_>, row: &[(u16, f32)]) {
        let same = row.len() == before.len()
            && row
                .iter()
                .zip(before.iter())
                .all(|(a, b)| a.0 == b.0 && a.1.to_bits() == b.1.to_bits());
        if !same {
            self.points.push(point);
            self.rows.push_pairs(row.iter().copied());
        }
    }

    /// The outcome, over `considered` points.
    pub fn finish(self, considered: usize, left_out: Vec<LeftOut>, notes: Vec<String>) -> Outcome {
        Outcome {
            report: Report {
                considered,
                changed: self.points.len(),
                left_out: left_out
                    .into_iter()
                    .filter(|l| !l.points.is_empty())
                    .collect(),
                notes,
            },
            points: self.points,
            rows: self.rows,
        }
    }
}
