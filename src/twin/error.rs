//! Why a body cannot take the measurements.

use crate::sentence::sentence;
use crate::task::Cancelled;

/// Why a body cannot take the measurements; nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TwinError {
    /// It was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// A row does not fit the body.
    #[error("{}", sentence(&format!("{place}: {what}")))]
    Row {
        /// Its number, from 0.
        row: usize,
        /// "row 3 ("thigh")".
        place: String,
        /// The end of a sentence.
        what: String,
    },
    /// The model has no body to measure.
    #[error("{}", sentence(.0))]
    Model(String),
}
