//! New measurements of a person, as an edit.

use super::table::{Individual, Person};
use super::variation::{MAX_VARIATIONS, Variation};
use crate::document::{Dirty, Document, EditError};
use crate::twin::table::MAX_ROWS;
use std::sync::Arc;

/// The table of the individual, exchanged with the document's: added, replaced or removed (`None`).
#[derive(Clone, Debug, PartialEq)]
pub struct IndividualEdit {
    /// Which table it is.
    pub person: Person,
    /// The new content.
    pub individual: Option<Arc<Individual>>,
}

impl IndividualEdit {
    /// An edit to these measurements of the person.
    pub fn new(individual: Option<Individual>) -> Self {
        Self::of(Person::Individual, individual)
    }

    /// An edit to these measurements of one of the two.
    pub fn of(person: Person, individual: Option<Individual>) -> Self {
        Self {
            person,
            individual: individual.map(Arc::new),
        }
    }

    pub(in crate::document) fn check(&self) -> Result<(), EditError> {
        let Some(individual) = &self.individual else {
            return Ok(());
        };
        if individual.rows.len() > MAX_ROWS {
            return Err(EditError::Individual(format!(
                "there are more than {MAX_ROWS} measurements"
            )));
        }
        for (row, measurement) in individual.rows.iter().enumerate() {
            let place = measurement.place(row);
            let fault = |why| EditError::Individual(format!("{place}: {why}"));
            measurement.check().map_err(fault)?;
        }
        if individual.variations.len() > MAX_VARIATIONS {
            return Err(EditError::Individual(format!(
                "there are more than {MAX_VARIATIONS} limits and gains"
            )));
        }
        for variation in &individual.variations {
            variation.check().map_err(EditError::Individual)?;
        }
        Ok(())
    }

    pub(in crate::document) fn swap(&mut self, document: &mut Document, dirty: &mut Dirty) {
        let table = match self.person {
            Person::Individual => &mut document.individual,
            Person::WhatIf => &mut document.what_if,
        };
        std::mem::swap(table, &mut self.individual);
        dirty.individual = true;
    }

    /// Bytes that the payload keeps alive.
    pub(in crate::document) fn heap_bytes(&self) -> usize {
        let rows = self.individual.iter().flat_map(|i| &i.rows);
        let texts = rows.map(|r| r.id.len() + r.bone.len() + r.to.len() + size_of_val(r));
        let variations = self.individual.iter().flat_map(|i| &i.variations);
        texts.sum::<usize>() + variations.map(size_of_val::<Variation>).sum::<usize>()
    }
}
