//! The body of a document and of its individual.

use super::shape::IndividualShape;
use super::subject;
use super::table::{Individual, Person};
use crate::document::{Document, MeshId};
use crate::task::Task;
use crate::twin::template::{TemplateMeasures, template_measures};
use crate::twin::{Body, FitOptions, FitReport, Measurement, Tape, TwinError};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A document with the body of a person.
#[derive(Clone, Debug)]
pub struct Individualised {
    /// The document; the session is the template's.
    pub document: Document,
    /// What was reached.
    pub report: FitReport,
    /// The girths that the table measures, each with its mesh.
    pub tapes: Vec<(MeshId, Tape)>,
}

impl Document {
    /// The body of the document at rest. Fails where there is no skin, no weight, or a mesh with two skins.
    pub fn body(&self) -> Result<Body, TwinError> {
        subject::body_of(self).map(|(body, _)| body)
    }

    /// The lengths and girths of the body, and its height.
    pub fn template_measures(&self) -> Result<TemplateMeasures, TwinError> {
        Ok(template_measures(&self.body()?))
    }

    /// The measurements of a person, if there are any.
    pub fn individual(&self) -> Option<&Arc<Individual>> {
        self.individual.as_ref()
    }

    /// The measurements of one of the two, if there are any.
    pub fn person(&self, person: Person) -> Option<&Arc<Individual>> {
        match person {
            Person::Individual => self.individual.as_ref(),
            Person::WhatIf => self.what_if.as_ref(),
        }
    }

    /// The fingerprint of the file that the template came from; 0 without a file.
    pub fn template_fingerprint(&self) -> u64 {
        self.source.as_ref().map_or(0, |source| source.fingerprint)
    }

    /// The document on the body that a table describes. Fails, in a sentence, where a row does not fit it.
    pub fn individualised(
        &self,
        rows: &[Measurement],
        options: &FitOptions,
        task: &Task,
    ) -> Result<Individualised, TwinError> {
        let shape = IndividualShape::new(self, rows, options, task)?;
        Ok(Individualised {
            document: shape.of(self),
            report: shape.report,
            tapes: shape.tapes,
        })
    }

    /// The document on the body of a table, with its limits and gains. Fails as [`Document::individualised`] does.
    pub fn individualised_by(
        &self,
        table: &Individual,
        task: &Task,
    ) -> Result<Individualised, TwinError> {
        let shape = IndividualShape::new(self, &table.rows, &table.options, task)?;
        Ok(Individualised {
            document: shape.of_table(self, table),
            report: shape.report,
            tapes: shape.tapes,
        })
    }

    /// The meshes whose points are not the source's.
    pub fn reshaped(&self) -> &BTreeSet<MeshId> {
        &self.reshaped
    }
}
