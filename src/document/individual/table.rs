//! The table of an individual.

use super::variation::Variation;
use crate::twin::{FitOptions, Measurement};

/// Whose measurements a document has besides its template.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Person {
    /// Those of the person.
    #[default]
    Individual,
    /// A changed copy of them, to compare with.
    WhatIf,
}

impl Person {
    /// Both, in the order of lists.
    pub const ALL: [Self; 2] = [Self::Individual, Self::WhatIf];
}

/// The measurements of a person, for the body of a document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Individual {
    /// The fingerprint of the file that the template came from ([`crate::document::Source::fingerprint`]); 0 without a file.
    pub template: u64,
    /// The table.
    pub rows: Vec<Measurement>,
    /// How it is fitted.
    pub options: FitOptions,
    /// Limits and gains that differ from the document's: of a what-if.
    pub variations: Vec<Variation>,
}
