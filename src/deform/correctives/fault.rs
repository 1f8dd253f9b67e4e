//! Why a sample set is off.

use crate::psd::PsdError;
use std::sync::Arc;

/// Why a set is off. It keeps its samples, is saved with them, and is solved again as soon as that is possible.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Fault {
    /// Its samples cannot be interpolated.
    #[error("{0}")]
    Unsolved(PsdError),
    /// The model has no longer one of its driver bones. The set has neither drivers nor samples then.
    #[error("the driver bone \"{bone}\" is missing in the model")]
    NoBone {
        /// The bone's name in the project.
        bone: String,
        /// The number of its samples.
        n_samples: usize,
        /// The set as the project has it, which is saved again.
        entry: Arc<str>,
    },
}
