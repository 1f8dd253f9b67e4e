//! Operations on the influences of points.
//!
//! Invariant: the weight of a locked joint comes out with the same bits it went in with.
//! Invariant: normalising gives no weight to a joint, other than the one being painted, that had none.

pub mod falloff;
pub mod mend;
pub mod paint;

pub use paint::{PaintRules, set_weight};
