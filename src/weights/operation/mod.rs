//! Operations on many points at once: one closed set for the window, the command line and tests.
//!
//! Data flow: an [`Operation`] and a [`Subject`] (one mesh with its rows, locks and scope) -> [`Operation::run`]
//! -> an [`Outcome`]: new rows for the points that change, and a [`Report`] of the points that could not change, with
//! reasons.
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
mod paste;
mod plane;
mod prune;
mod quantise;
mod settle;
mod smooth;
mod surroundings;

pub use super::outcome::{Gathering, LeftOut, OperationError, Outcome, Report};
pub use super::pairs::{JointPairs, PairRow, PairedBy};
pub use super::subject::Subject;
pub use import::Import;
pub use mirror::joints_in_mirror;

use super::automatic::Automatic;
use super::transfer::Transfer;
use crate::math::Axis;
use crate::skeleton::JointId;
use crate::skinning::Rows;
use crate::task::Task;
use std::sync::Arc;

/// An operation on the weights of many points.
///
/// Joints are those of the skeleton; an operation with a joint that is not in the skin fails with a message. Locked
/// joints keep every bit.
#[derive(Clone, Debug, PartialEq)]
pub enum Operation {
    /// Scales the unlocked weights of each point to a sum of 1.
    Normalise,
    /// Drops the smallest influences beyond a number, the sum kept.
    Limit {
        /// Maximum number of influences of a point, at least 1.
        most: usize,
    },
    /// Drops weights below a value, the sum kept; the largest stays.
    Prune {
        /// The threshold, 0 - 1.
        below: f32,
    },
    /// Averages each point with its neighbours, weighted by inverse distance.
    Smooth {
        /// Number of iterations, 1 - 500.
        iterations: u32,
        /// Fraction of the distance to the average in each iteration, 0 - 1.
        strength: f32,
    },
    /// Replaces outliers by the average of their surroundings (Maya's Hammer Weights).
    Hammer,
    /// Sets, adds to or scales the weights of one joint.
    Flood {
        /// The joint.
        joint: JointId,
        /// The value, 0 - 1 (scale: 0 - 10).
        value: f32,
        /// How the value is applied.
        how: Flood,
    },
    /// Replaces the weights w of one joint with 1 - w.
    Invert {
        /// The joint.
        joint: JointId,
    },
    /// Levels of the weights of one joint, or of all, like the levels of an image.
    Levels(Levels),
    /// Rounds weights to steps, the sum kept.
    Quantise {
        /// Steps from 0 to 1, 2 - 65535.
        steps: u32,
    },
    /// Moves a fraction of one joint's weight to another.
    Move {
        /// The source joint.
        from: JointId,
        /// The target joint.
        to: JointId,
        /// The fraction, 0 - 1.
        share: f32,
    },
    /// Moves all weight of some joints to another.
    Merge {
        /// The source joints.
        from: Vec<JointId>,
        /// The target joint.
        to: JointId,
    },
    /// Exchanges the weights of two joints.
    Swap {
        /// The first joint.
        a: JointId,
        /// The second joint.
        b: JointId,
    },
    /// Copies one side to the other, left joints to right ones.
    Mirror(Mirroring),
    /// Exchanges the two sides.
    Flip(Mirroring),
    /// Pastes copied rows.
    Paste {
        /// The copied rows.
        copied: Arc<Copied>,
        /// Which copied row a point gets.
        by: PasteBy,
    },
    /// Copies weights from another model.
    Transfer(Transfer),
    /// Reads weights from a weights file.
    Import(Import),
    /// Computes weights from the bones and the surface.
    Automatic(Automatic),
}

/// How [`Operation::Flood`] applies its value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flood {
    /// The value is the weight.
    #[default]
    Replace,
    /// The value is added.
    Add,
    /// The value is subtracted.
    Subtract,
    /// The weight is multiplied by the value.
    Scale,
}

/// Levels of weights: `low..high` is mapped to 0..1, raised to 1 / gamma, then mapped to `out_low..out_high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Levels {
    /// The joint; `None`: each unlocked joint.
    pub joint: Option<JointId>,
    /// Weights up to this become 0, 0 - 1.
    pub low: f32,
    /// Weights from this become 1, 0 - 1, above `low`.
    pub high: f32,
    /// Exponent 1 / gamma, 0.1 - 10: above 1 raises the middle.
    pub gamma: f32,
    /// Output for 0, 0 - 1.
    pub out_low: f32,
    /// Output for 1, 0 - 1.
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

/// The direction of a mirror operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mirroring {
    /// Across the plane where this coordinate of the bind pose is 0.
    pub axis: Axis,
    /// From the positive side to the negative one. [`Operation::Flip`] ignores it.
    pub from_positive: bool,
    /// Maximum distance of a counterpart from the mirrored position if neither position nor topology finds one, as a
    /// fraction of the bounding-box diagonal.
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
    /// The name of their mesh.
    pub mesh_name: String,
    /// Its number of points: if it is equal, rows can be pasted by point index.
    pub n_points: usize,
    /// The points, ascending.
    pub points: Vec<u32>,
    /// One row per point; joints index `joints`.
    pub rows: Rows,
    /// Names of the joints.
    pub joints: Vec<String>,
    /// n_points bind positions of the whole mesh, mesh space, metres; and its triangles of points.
    pub surface: Arc<(Vec<glam::Vec3>, Vec<[u32; 3]>)>,
}

/// Its numbers are finite. `Eq` lets an `Arc` compare by pointer first.
impl Eq for Copied {}

/// Which copied row a point gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PasteBy {
    /// That of the point of the same index. A single copied row goes to every point.
    #[default]
    Point,
    /// The row at the closest position of the copied surface, both in bind pose.
    Surface,
}

impl Operation {
    /// Its name in menus and undo steps.
    pub fn label(&self) -> &'static str {
        match self {
            Self::Normalise => "Normalise weights",
            Self::Limit { .. } => "Limit influences",
            Self::Prune { .. } => "Prune small weights",
            Self::Smooth { .. } => "Smooth weights",
            Self::Hammer => "Hammer weights",
            Self::Flood { .. } => "Flood weights",
            Self::Invert { .. } => "Invert weights",
            Self::Levels(_) => "Weight levels",
            Self::Quantise { .. } => "Quantise weights",
            Self::Move { .. } => "Move weights to bone",
            Self::Merge { .. } => "Merge weights into bone",
            Self::Swap { .. } => "Swap weights of bones",
            Self::Mirror(_) => "Mirror weights",
            Self::Flip(_) => "Flip weights",
            Self::Paste { .. } => "Paste weights",
            Self::Transfer(_) => "Transfer weights",
            Self::Import(_) => "Import weights",
            Self::Automatic(_) => "Automatic weights",
        }
    }

    /// Whether it is so slow that it runs on request instead of updating with its settings.
    pub fn is_slow(&self) -> bool {
        matches!(self, Self::Transfer(_) | Self::Automatic(_))
    }
}

impl Operation {
    /// The new rows of `subject`. The same bits for any number of threads.
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

/// Refuses a number that is not from 0 to 1.
fn share(value: f32, name: &str) -> Result<(), OperationError> {
    if (0.0..=1.0).contains(&value) {
        Ok(())
    } else {
        Err(OperationError::Refused(format!(
            "{name} must be 0 - 1, not {value}."
        )))
    }
}

/// Sets the weight of `joint`, at its index in the row or at the end.
fn set(row: &mut Vec<(u16, f32)>, joint: u16, weight: f32) {
    match row.iter_mut().find(|(j, _)| *j == joint) {
        Some(entry) => entry.1 = weight,
        None if weight > 0.0 => row.push((joint, weight)),
        None => {}
    }
}
