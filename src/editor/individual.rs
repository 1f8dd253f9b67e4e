//! The body of a person: its measurements, the fit in the background, and which body is shown.
//!
//! Data flow: [`Editor::measure`] (an undo step) -> the fit on the lane -> an [`IndividualShape`], put on every snapshot while the
//! individual is shown. Edits go to the document, which is the template.
//!
//! Invariant: what poses, sculpts or marks begins on the template, whose places its numbers are.

use super::Editor;
use super::files::file_name;
use super::jobs::EditorJob;
use crate::document::{Document, Edit, Individual, IndividualEdit, IndividualShape};
use crate::evaluate::{JobError, JobHandle};
use crate::io::measurements_file::read_measurements;
use crate::task::Task;
use crate::twin::suggest::next_row;
use crate::twin::{FitOptions, Kind, Measurement, TwinError};
use std::path::Path;
use std::sync::Arc;

/// The message after a cancelled fit.
const CANCELLED: &str = "Cancelled. The template is shown.";
/// The message when a tool begins.
const ON_TEMPLATE: &str =
    "The template is shown: poses and sculpts are made on it, and the individual takes them.";

/// The fit of the individual.
#[derive(Default)]
pub(super) struct Individuals {
    shape: Option<Arc<IndividualShape>>,
    /// Increases with each shape.
    serial: u64,
    job: Option<JobHandle<Result<IndividualShape, TwinError>>>,
    failure: Option<String>,
    /// The revision of the history that the shape, the job or the failure is of.
    revision: Option<u64>,
    reading: Option<JobHandle<Result<Vec<Measurement>, String>>>,
    adding: Option<JobHandle<Result<Option<Measurement>, TwinError>>>,
}

impl Individuals {
    /// Drops what belongs to the previous model.
    pub(super) fn forget_model(&mut self) {
        self.stop();
        if let Some(reading) = self.reading.take() {
            reading.task().cancel();
        }
        if let Some(adding) = self.adding.take() {
            adding.task().cancel();
        }
        self.shape = None;
        self.failure = None;
        self.revision = None;
    }

    fn stop(&mut self) {
        if let Some(job) = self.job.take() {
            job.task().cancel();
        }
    }
}

impl Editor {
    /// The individual as it was fitted last; `None` before.
    pub fn individual_shape(&self) -> Option<&IndividualShape> {
        self.individuals.shape.as_deref()
    }

    /// The progress of the fit.
    pub fn fitting_individual(&self) -> Option<&Task> {
        self.individuals.job.as_ref().map(JobHandle::task)
    }

    /// Why there is no individual: a sentence.
    pub fn individual_failure(&self) -> Option<&str> {
        self.individuals.failure.as_deref()
    }

    /// Gives the document other measurements, or none; one undo step.
    pub fn measure(&mut self, rows: Vec<Measurement>, options: FitOptions, label: &str) {
        let individual = (!rows.is_empty()).then(|| Individual {
            template: self.document.template_fingerprint(),
            rows,
            options,
        });
        if self.document.individual().map(|known| &**known) == individual.as_ref() {
            return;
        }
        let edit = Edit::Individual(IndividualEdit::new(individual));
        if let Err(error) = self.apply(edit, label) {
            self.notify_error(error.to_string());
        }
    }

    /// Reads a table of measurements in the background, in place of the present ones.
    pub fn import_measurements(&mut self, path: &Path) {
        let theirs = path.to_owned();
        let work = move |_: &Task| read_measurements(&theirs).map_err(|why| why.to_string());
        let label = format!("Reading {}", file_name(path));
        let job = self.lane.submit(EditorJob::ReadMeasurements, &label, work);
        self.individuals.reading = Some(job);
    }

    /// Takes a table that was read.
    pub(super) fn take_measurements(&mut self) {
        let reading = &mut self.individuals.reading;
        let Some(job) = reading.take_if(|job| job.has_ended()) else {
            return;
        };
        match job.into_result() {
            Ok(Ok(rows)) => {
                let known = self.document.individual();
                let options = known.map_or_else(FitOptions::default, |known| known.options);
                self.measure(rows, options, "Import measurements");
            }
            Ok(Err(why)) => self.notify_error(why),
            Err(JobError::Cancelled) => self.notify("Reading the measurements was cancelled."),
            Err(error @ JobError::Failed) => self.notify_error(error.to_string()),
        }
    }

    /// Adds a row of a kind for what is not measured yet, with the template's value; it is measured in the background.
    pub fn add_measurement(&mut self, kind: Kind) {
        let document = self.document.clone();
        let work = move |_: &Task| {
            let rows = document.individual().map_or(&[][..], |known| &known.rows);
            Ok(next_row(&document.body()?, rows, kind))
        };
        let label = "Measuring the template";
        let job = self.lane.submit(EditorJob::AddMeasurement, label, work);
        self.individuals.adding = Some(job);
    }

    /// Takes a row that was measured on the template.
    pub(super) fn take_measurement(&mut self) {
        let adding = &mut self.individuals.adding;
        let Some(job) = adding.take_if(|job| job.has_ended()) else {
            return;
        };
        match job.into_result() {
            Ok(Ok(Some(row))) => {
                let known = self.document.individual().cloned();
                let known = known.as_deref().cloned().unwrap_or_default();
                let mut rows = known.rows;
                rows.push(row);
                self.measure(rows, known.options, "Add measurement");
            }
            Ok(Ok(None)) => self.notify("Every bone has such a measurement already."),
            Ok(Err(why)) => self.notify_error(why.to_string()),
            Err(JobError::Cancelled) => {}
            Err(error @ JobError::Failed) => self.notify_error(error.to_string()),
        }
    }

    /// Fits again after a fit was cancelled.
    pub fn fit_individual(&mut self) {
        self.individuals.stop();
        self.individuals.revision = None;
    }

    /// Cancels the fit; the template is shown.
    pub fn cancel_individual(&mut self) {
        if let Some(job) = &self.individuals.job {
            job.task().cancel();
        }
    }

    /// Whether the individual is on screen instead of the template.
    pub fn shows_individual(&self) -> bool {
        self.shown_shape().is_some()
    }

    /// Shows the individual or the template.
    pub fn show_individual(&mut self, shows: bool) {
        if self.document.session().shows_individual == shows {
            return;
        }
        self.finish_tool();
        if shows && self.document.session().shows_rest {
            self.notify("Edit bones mode shows the template. Leave it to see the individual.");
            return;
        }
        self.document.session_mut().shows_individual = shows;
        self.evaluation.stale = true;
    }

    /// Shows the template, on which a tool begins.
    pub(super) fn edit_template(&mut self) {
        if self.shows_individual() {
            self.document.session_mut().shows_individual = false;
            self.evaluation.stale = true;
            self.notify(ON_TEMPLATE);
        }
    }

    fn shown_shape(&self) -> Option<&Arc<IndividualShape>> {
        let session = self.document.session();
        let shows = session.shows_individual && !session.shows_rest;
        self.document.individual().filter(|_| shows)?;
        let shape = self.individuals.shape.as_ref()?;
        shape.can_show(&self.document).then_some(shape)
    }

    /// The document with the body on screen: what is evaluated and exported.
    pub(super) fn shown_body(&self) -> Document {
        match self.shown_shape() {
            Some(shape) => shape.of(&self.document),
            None => self.document.clone(),
        }
    }

    /// Distinguishes the bodies on screen; 0: the template.
    pub(super) fn body_key(&self) -> u64 {
        self.shown_shape()
            .map_or(0, |_| (self.individuals.serial + 1) << 40)
    }

    /// Starts the fit where the measurements or the template changed.
    pub(super) fn follow_individual(&mut self) -> bool {
        let revision = self.history.revision();
        if self.individuals.revision == Some(revision) || self.is_in_step() {
            return false;
        }
        let Some(individual) = self.document.individual().cloned() else {
            let had = self.individuals.shape.is_some() || self.individuals.job.is_some();
            self.individuals.stop();
            self.individuals.shape = None;
            self.individuals.failure = None;
            self.individuals.revision = Some(revision);
            self.evaluation.stale |= had;
            return true;
        };
        self.individuals.revision = Some(revision);
        let shape = self.individuals.shape.as_ref();
        let is_current = shape.is_some_and(|shape| {
            shape.rows == individual.rows
                && shape.options == individual.options
                && shape.is_current(&self.document)
        });
        if is_current {
            self.individuals.stop();
            self.individuals.failure = None;
            return true;
        }
        self.individuals.stop();
        let document = self.document.clone();
        let work = move |task: &Task| {
            IndividualShape::new(&document, &individual.rows, &individual.options, task)
        };
        let label = "Fitting the individual";
        let job = self.lane.submit(EditorJob::FitIndividual, label, work);
        self.individuals.job = Some(job);
        true
    }

    /// Takes a body that was fitted.
    pub(super) fn take_individual(&mut self) {
        let Some(job) = self.individuals.job.take_if(|job| job.has_ended()) else {
            return;
        };
        let failure = match job.into_result() {
            Ok(Ok(shape)) => {
                self.individuals.shape = Some(Arc::new(shape));
                self.individuals.serial += 1;
                self.individuals.failure = None;
                self.evaluation.stale = true;
                return;
            }
            Ok(Err(TwinError::Cancelled(_))) | Err(JobError::Cancelled) => CANCELLED.to_owned(),
            Ok(Err(why)) => why.to_string(),
            Err(error @ JobError::Failed) => error.to_string(),
        };
        self.individuals.shape = None;
        self.individuals.failure = Some(failure);
        self.evaluation.stale = true;
    }
}
