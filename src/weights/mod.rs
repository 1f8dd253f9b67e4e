//! Operations on the influences of points.
//!
//! Invariant: the weight of a locked joint keeps every bit.
//! Invariant: normalising gives no weight to a joint that had none, except for the painted one.

pub mod automatic;
pub mod curve;
pub mod falloff;
pub mod file;
pub mod operation;
pub mod paint;
pub mod repair;
pub mod transfer;

pub use operation::{JointPairs, Operation, OperationError, Outcome, Report, Subject};
pub use paint::{PaintRules, blend_row, set_weight, set_weights, settle_row};
