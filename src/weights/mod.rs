//! Operations on the influences of points.
//!
//! Invariant: the weight of a locked joint comes out with the same bits it went in with.
//! Invariant: normalising gives no weight to a joint, other than the one being painted, that had none.

pub mod automatic;
pub mod curve;
pub mod falloff;
pub mod file;
pub mod mend;
pub mod operation;
mod outcome;
pub mod paint;
mod pairs;
mod subject;
pub mod transfer;

pub use operation::{JointPairs, Operation, OperationError, Outcome, Report, Subject};
pub use paint::{PaintRules, blend_row, set_weight, set_weights, settle_row};
