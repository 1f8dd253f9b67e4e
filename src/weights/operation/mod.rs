//! Operations on many points at once: one closed set for the window, the command line and tests.
//!
//! The way of the data: an [`Operation`] and a [`Subject`] (one mesh with its rows, locks and scope) -> [`Operation::run`]
//! -> an [`Outcome`]: new rows for the points that change, and a [`Report`] of what could not be done and why.
//!
//! Invariant: an operation never changes the document; undo, preview and adjusting are the editor's.
//! Invariant: a point that keeps its row bit for bit is not in the outcome.

mod each_point;
mod exchange;
mod flood;
mod foreign;
mod hammer;
mod import;
mod levels;
mod limit;
mod mirror;
mod normalise;
mod pairs;
mod paste;
mod plane;
mod prune;
mod quantise;
mod settle;
mod smooth;
mod subject;
mod surroundings;

pub use import::Import;
pub use mirror::joints_in_mirror;
pub use pairs::{JointPairs, PairRow, PairedBy};
pub use subject::Subject;

use super::automatic::Automatic;
use super::transfer::Transfer;
use crate::math::Axis;
use crate::mesh::PointSet;
use crate::skeleton::JointId;
use crate::skinning::{RowRef, Rows};
use crate::task::{Cancelled, Task};
use std::sync::Arc;

/// What can be done to the weights of many points.
///
/// Joints are the skeleton's; an operation that names one the skin lacks fails with a sentence. Joints that are locked
/// keep every bit whatever is asked.
#[derive(Clone, Debug, PartialEq)]
pub enum Operation {
    /// Scales the unlocked weights of each point so that the sum is 1.
    Normalise,
    /// Drops the smallest influences beyond a number, the sum kept.
    Limit {
        /// Most influences a point keeps, at least 1.
        most: usize,
    },
    /// Drops weights below a value, the sum kept; the largest stays.
    Prune {
        /// Weights below this go, 0 - 1.
        below: f32,
    },
    /// Averages each point with its neighbours, nearer ones more.
    Smooth {
        /// How often, 1 - 500.
        iterations: u32,
        /// How far towards the average each time, 0 - 1.
        strength: f32,
    },
    /// Takes what stands out: replaces each point's row by that of its surroundings (Maya's hammer).
    Hammer,
    /// Sets, adds to or scales the weights of one joint.
    Flood {
        /// Which joint.
        joint: JointId,
        /// The value, 0 - 1 (scale: 0 - 10).
        value: f32,
        /// What is done with it.
        how: Flood,
    },
    /// Makes 1 - w of the weights of one joint.
    Invert {
        /// Which joint.
        joint: JointId,
    },
    /// Stretches and bends the weights of one joint, or of all: as a picture's levels.
    Levels(Levels),
    /// Rounds weights to steps, the sum kept.
    Quantise {
        /// Steps from 0 to 1, 2 - 65535.
        steps: u32,
    },
    /// Gives a share of one joint's weight to another.
    Move {
        /// From which.
        from: JointId,
        /// To which.
        to: JointId,
        /// How much of it, 0 - 1.
        share: f32,
    },
    /// Gives all weight of some joints to another.
    Merge {
        /// From which.
        from: Vec<JointId>,
        /// To which.
        to: JointId,
    },
    /// Exchanges the weights of two joints.
    Swap {
        /// One.
        a: JointId,
        /// The other.
        b: JointId,
    },
    /// Copies one side to the other, left joints to right ones.
    Mirror(Mirroring),
    /// Exchanges the two sides.
    Flip(Mirroring),
    /// Puts copied rows in.
    Paste {
        /// What was copied.
        copied: Arc<Copied>,
        /// Which copied row a point takes.
        by: PasteBy,
    },
    /// Takes weights from another model.
    Transfer(Transfer),
    /// Takes weights from a weights file.
    Import(Import),
    /// Computes weights from the bones and the surface.
    Automatic(Automatic),
}

/// What [`Operation::Flood`] does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flood {
    /// The value is the weight.
    #[default]
    Replace,
    /// The value is added.
    Add,
    /// The value is taken away.
    Subtract,
    /// The weight is multiplied.
    Scale,
}

/// Levels of weights: `low..high` becomes 0..1, bent by gamma, then `out_low..out_high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Levels {
    /// Which joint; `None`: each unlocked joint.
    pub joint: Option<JointId>,
    /// Weights up to this become 0, 0 - 1.
    pub low: f32,
    /// Weights from this become 1, 0 - 1, above `low`.
    pub high: f32,
    /// Exponent 1 / gamma, 0.1 - 10: above 1 lifts the middle.
    pub gamma: f32,
    /// What 0 becomes, 0 - 1.
    pub out_low: f32,
    /// What 1 becomes, 0 - 1.
    pub out_high: f32,
}

impl Default for Levels {
    fn default() -> Self {
        Self {
            joint: None,
            low: 0.0,
            high: 1.0,
            gamma: 1.0,
            out_low: 0.0,
            out_high: 1.0,
        }
    }
}

/// From which side to which.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mirroring {
    /// Across the plane where this coordinate of the bind pose is 0.
    pub axis: Axis,
    /// From the positive side to the negative one. [`Operation::Flip`] goes both ways.
    pub from_positive: bool,
    /// How far a partner may be from the mirrored place when it is found by neither position nor topology, as a fraction
    /// of the diagonal of the bounds.
    pub tolerance: f32,
}

impl Default for Mirroring {
    fn default() -> Self {
        Self {
            axis: Axis::X,
            from_positive: true,
            tolerance: 0.01,
        }
    }
}

/// Rows that were copied.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Copied {
    /// The mesh they came from.
    pub mesh_name: String,
    /// Its number of points: rows may be put back point by point where it is the same.
    pub n_points: usize,
    /// The points, ascending.
    pub points: Vec<u32>,
    /// One row a point; joints index `joints`.
    pub rows: Rows,
    /// Names of the joints.
    pub joints: Vec<String>,
    /// n_points bind positions of the whole mesh, mesh space, metres; and its triangles of points.
    pub surface: Arc<(Vec<glam::Vec3>, Vec<[u32; 3]>)>,
}

/// Its places are finite; so that an `Arc` of one equals itself without being read.
impl Eq for Copied {}

/// Which copied row a point takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PasteBy {
    /// That of the point of the same number. A single copied row goes to every point.
    #[default]
    Point,
    /// The one at the closest place of the copied surface, both in bind pose.
    Surface,
}

/// Rows that an operation makes, and what it could not do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Points whose row changes, ascending.
    pub points: Vec<u32>,
    /// Their rows; joints index the skin's list.
    pub rows: Rows,
    /// What to tell.
    pub report: Report,
}

/// What an operation did, for people, the command line and tests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Points in its scope.
    pub considered: usize,
    /// Points whose row changed.
    pub changed: usize,
    /// What could not be done, each with the points it concerns.
    pub left_out: Vec<LeftOut>,
    /// What else happened, in sentences: the fallback that was taken and for what, pairs that were not found ...
    pub notes: Vec<String>,
}

/// Points that an operation could not do.
#[derive(Clone, Debug, PartialEq)]
pub struct LeftOut {
    /// Why, for a number of points before it: "without a partner on the other side".
    pub why: String,
    /// Which points.
    pub points: PointSet,
}

/// Why an operation could not run at all.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OperationError {
    /// It was stopped.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// A sentence that names the fault.
    #[error("{0}")]
    Refused(String),
}

impl Operation {
    /// What menus and undo steps call it.
    pub fn label(&self) -> &'static str {
        match self {
            Self::Normalise => "Normalise weights",
            Self::Limit { .. } => "Limit influences",
            Self::Prune { .. } => "Prune small weights",
            Self::Smooth { .. } => "Smooth weights",
            Self::Hammer => "Hammer weights",
            Self::Flood { .. } => "Flood weights",
            Self::Invert { .. } => "Invert weights",
            Self::Levels(_) => "Adjust levels",
            Self::Quantise { .. } => "Quantise weights",
            Self::Move { .. } => "Move weights to another bone",
            Self::Merge { .. } => "Merge bones' weights",
            Self::Swap { .. } => "Swap weights of two bones",
            Self::Mirror(_) => "Mirror weights",
            Self::Flip(_) => "Flip weights",
            Self::Paste { .. } => "Paste weights",
            Self::Transfer(_) => "Transfer weights",
            Self::Import(_) => "Import weights",
            Self::Automatic(_) => "Automatic weights",
        }
    }

    /// Whether it may take so long that it waits to be asked for, instead of following its settings.
    pub fn is_slow(&self) -> bool {
        matches!(self, Self::Transfer(_) | Self::Automatic(_))
    }
}

/// Collects the rows of an outcome; a row that does not differ is left out.
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

impl Operation {
    /// The rows it makes of `subject`. The same bits for any number of threads.
    pub fn run(&self, subject: &Subject<'_>, task: &Task) -> Result<Outcome, OperationError> {
        subject.check()?;
        match self {
            Self::Normalise => normalise::run(subject, task),
            Self::Limit { most } => limit::run(*most, subject, task),
            Self::Prune { below } => prune::run(*below, subject, task),
            Self::Smooth {
                iterations,
                strength,
            } => smooth::run(*iterations, *strength, subject, task),
            Self::Hammer => hammer::run(subject, task),
            Self::Flood { joint, value, how } => flood::run(*joint, *value, *how, subject, task),
            Self::Invert { joint } => flood::invert(*joint, subject, task),
            Self::Levels(levels) => levels::run(levels, subject, task),
            Self::Quantise { steps } => quantise::run(*steps, subject, task),
            Self::Move { from, to, share } => exchange::give(&[*from], *to, *share, subject, task),
            Self::Merge { from, to } => exchange::give(from, *to, 1.0, subject, task),
            Self::Swap { a, b } => exchange::swap(*a, *b, subject, task),
            Self::Mirror(mirroring) => mirror::mirror(*mirroring, subject, task),
            Self::Flip(mirroring) => mirror::flip(*mirroring, subject, task),
            Self::Paste { copied, by } => paste::run(copied, *by, subject, task),
            Self::Transfer(transfer) => transfer.run(subject, task),
            Self::Import(import) => import.run(subject, task),
            Self::Automatic(automatic) => automatic.run(subject, task),
        }
    }
}

/// Refuses what is no number from 0 to 1.
fn share(value: f32, name: &str) -> Result<(), OperationError> {
    if (0.0..=1.0).contains(&value) {
        Ok(())
    } else {
        Err(OperationError::Refused(format!(
            "{name} must be 0 - 1, not {value}."
        )))
    }
}

/// Gives `joint` its weight, in its place in the row or at the end.
fn set(row: &mut Vec<(u16, f32)>, joint: u16, weight: f32) {
    match row.iter_mut().find(|(j, _)| *j == joint) {
        Some(entry) => entry.1 = weight,
        None if weight > 0.0 => row.push((joint, weight)),
        None => {}
    }
}
