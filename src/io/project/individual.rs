//! The measurements of a person <-> the project format. What follows from them is computed again.

use super::apply::Opening;
use super::individual_entry::{IndividualEntry, Row};
use crate::document::{Document, Edit, Individual, IndividualEdit, Person};
use crate::twin::{FitOptions, Measurement};

/// The individual of a document, or its what-if.
pub(super) fn collect(document: &Document, person: Person) -> Option<IndividualEntry> {
    let individual = document.person(person)?;
    let options = individual.options;
    let row = |row: &Measurement| Row {
        id: row.id.clone(),
        kind: row.kind.into(),
        bone: row.bone.clone(),
        to: row.to.clone(),
        at: row.at,
        side: row.side.map(Into::into),
        value: row.value,
        unit: row.unit.into(),
    };
    Some(IndividualEntry {
        template: format!("{:016x}", individual.template),
        fit_height: options.fit_height,
        sides: options.sides.into(),
        neighbours: options.neighbours,
        taper: options.taper,
        rows: individual.rows.iter().map(row).collect(),
    })
}

impl Opening {
    /// Gives the document its individual, or its what-if; a template that changed is a finding.
    pub(super) fn individual(&mut self, person: Person, entry: Option<IndividualEntry>) {
        let Some(entry) = entry else {
            return;
        };
        let place = match person {
            Person::Individual => "measurements",
            Person::WhatIf => "measurements of the what-if",
        };
        let template = self.document.template_fingerprint();
        if entry.template != format!("{template:016x}") {
            let why = "The template has changed since it was measured; its measurements are fitted again.";
            self.warn(place, why);
        }
        let rows = entry.rows.into_iter().map(|row| Measurement {
            id: row.id,
            kind: row.kind.into(),
            bone: row.bone,
            to: row.to,
            at: row.at,
            side: row.side.map(Into::into),
            value: row.value,
            unit: row.unit.into(),
        });
        let individual = Individual {
            template,
            rows: rows.collect(),
            options: FitOptions {
                fit_height: entry.fit_height,
                sides: entry.sides.into(),
                neighbours: entry.neighbours,
                taper: entry.taper,
            },
        };
        let edit = IndividualEdit::of(person, Some(individual));
        self.apply(place, Edit::Individual(edit));
    }
}
