//! The accuracy of a posed body against a scan of the person.
//!
//! Data flow: a [`Scan`] (points, perhaps with faces) and the [`SignedSurface`] of the body -> `align`, a rigid
//! motion of the scan -> [`Accuracy`]: signed distances from each point of the scan to the body and back, and their
//! [`Distances`].
//!
//! Invariant: the scan is never scaled; its unit is the user's.
//! Invariant: a distance that is no number is counted as a failure.

mod accuracy;
mod align;
mod distances;
mod error;
mod pairs;
mod points;
mod rigid;
mod start;
mod step;
mod surface;
mod trim;

pub use accuracy::{Accuracy, MAX_SCALE};
pub use align::{Align, Alignment};
pub use distances::{Distances, NEAR_METRES};
pub use error::ScanError;
pub use points::{MAX_POINTS, MAX_TRIANGLES, Scan};
pub use rigid::Rigid;
pub use start::Start;
pub use surface::{Foot, SignedSurface};
pub use trim::Trimmed;
