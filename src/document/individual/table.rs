//! The table of an individual.

use crate::twin::{FitOptions, Measurement};

/// The measurements of a person, for the body of a document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Individual {
    /// The fingerprint of the file that the template came from ([`crate::document::Source::fingerprint`]); 0 without a file.
    pub template: u64,
    /// The table.
    pub rows: Vec<Measurement>,
    /// How it is fitted.
    pub options: FitOptions,
}
