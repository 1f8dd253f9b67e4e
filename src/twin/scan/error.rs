//! Why a body cannot be compared with a scan.

use crate::sentence::sentence;
use crate::task::Cancelled;
use glam::DVec3;

/// Why a body cannot be compared with a scan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScanError {
    /// It was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// The scan or the body is not usable.
    #[error("{}", sentence(.0))]
    Unusable(String),
}

impl ScanError {
    pub(super) fn of(what: impl Into<String>) -> Self {
        Self::Unusable(what.into())
    }
}

/// Fails where a point of `what` is not finite.
pub(super) fn check_finite(points: &[DVec3], what: &str) -> Result<(), ScanError> {
    match points.iter().position(|p| !p.is_finite()) {
        Some(i) => Err(ScanError::of(format!(
            "point {i} of {what} has a position that is not finite"
        ))),
        None => Ok(()),
    }
}
