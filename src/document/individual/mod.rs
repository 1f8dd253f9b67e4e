//! The individual: the body of a document with the measurements of a person.
//!
//! The document holds the template and, as [`Individual`], the table. What is derived of both is an [`IndividualShape`]:
//! points, joints, inverse bind matrices. [`IndividualShape::of`] makes another document of it, which shares the weights, the
//! stack, the samples, clips and poses of the first one as far as they are equal. It is shown and exported, and never edited,
//! so that the template cannot change by it: edits go to the document, and are of both bodies. A what-if ([`Person::WhatIf`]) is
//! a second table for the same template, to compare with, and may have limits and gains of its own ([`Variation`]); the window never
//! exports it.
//!
//! Invariant: the same template and table give the same bits; without rows the template itself.

mod body;
mod edit;
pub(in crate::document) mod samples;
mod shape;
mod subject;
mod table;
mod variation;
mod varied;

pub use body::Individualised;
pub use edit::IndividualEdit;
pub use shape::IndividualShape;
pub use table::{Individual, Person};
pub use variation::{MAX_GAIN_FACTOR, MAX_VARIATIONS, Variation};
