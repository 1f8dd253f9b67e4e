//! The body of a person: its measurements, the fit in the background, and which body is shown.
//!
//! Data flow: [`Editor::measure`] (an undo step) -> the fit on the lane -> an [`IndividualShape`], put on every snapshot while the
//! individual is shown. Edits go to the document, which is the template.
//!
//! A what-if is a second table, fitted beside the individual. Panes show it ([`BodyChoice`]); it is never exported.
//!
//! Invariant: what poses, sculpts or marks begins on the template, whose places its numbers are.

use super::Editor;
use super::files::file_name;
use super::jobs::EditorJob;
use crate::deform::{BodyChoice, StackChoice};
use crate::document::{
    Document, Edit, Individual, IndividualEdit, IndividualShape, MeshId, MeshItem, Person,
    Variation,
};
use crate::evaluate::{BodyMap, JobError, JobHandle, ShownBody, SlowCooks, ViewId, ViewRequest};
use crate::io::measurements_file::read_measurements;
use crate::task::Task;
use crate::twin::suggest::next_row;
use crate::twin::{FitOptions, Kind, Measurement, TwinError};
use std::path::Path;
use std::sync::Arc;

/// The message after a cancelled fit.
const CANCELLED: &str = "Cancelled. The body was not fitted.";
/// The message when a tool begins.
const ON_TEMPLATE: &str =
    "The template is shown: poses and sculpts are made on it, and the individual takes them.";

/// The fit of the body of one of the two tables.
#[derive(Default)]
pub(super) struct PersonFit {
    pub(super) shape: Option<Arc<IndividualShape>>,
    /// Increases with each shape.
    pub(super) serial: u64,
    job: Option<JobHandle<Result<IndividualShape, TwinError>>>,
    failure: Option<String>,
    /// The limits and gains that were shown last.
    variations: Vec<Variation>,
    /// The revision of the history that the shape, the job or the failure is of.
    revision: Option<u64>,
}

impl PersonFit {
    fn stop(&mut self) {
        if let Some(job) = self.job.take() {
            job.task().cancel();
        }
    }

    fn forget(&mut self) {
        self.stop();
        self.shape = None;
        self.failure = None;
        self.revision = None;
    }
}

/// A job that makes rows.
type RowsJob<T, E> = JobHandle<Result<T, E>>;

/// The fits of the individual and of its what-if.
#[derive(Default)]
pub(super) struct Individuals {
    own: PersonFit,
    what_if: PersonFit,
    /// The table that is edited.
    edited: Person,
    /// The frame of the window in which tapes were asked for last.
    pub(super) tapes_asked: Option<u64>,
    /// Rows for the table of this person, which are dropped if another one is edited when they arrive.
    reading: Option<(Person, RowsJob<Vec<Measurement>, String>)>,
    adding: Option<(Person, RowsJob<Option<Measurement>, TwinError>)>,
}

impl Individuals {
    pub(super) fn of(&self, person: Person) -> &PersonFit {
        match person {
            Person::Individual => &self.own,
            Person::WhatIf => &self.what_if,
        }
    }

    fn of_mut(&mut self, person: Person) -> &mut PersonFit {
        match person {
            Person::Individual => &mut self.own,
            Person::WhatIf => &mut self.what_if,
        }
    }

    /// Drops what belongs to the previous model.
    pub(super) fn forget_model(&mut self) {
        self.own.forget();
        self.what_if.forget();
        self.edited = Person::Individual;
        self.cancel_rows();
    }

    /// Drops rows that are being read or measured.
    fn cancel_rows(&mut self) {
        if let Some((_, reading)) = self.reading.take() {
            reading.task().cancel();
        }
        if let Some((_, adding)) = self.adding.take() {
            adding.task().cancel();
        }
    }
}

/// Whose measurements a body has; `None`: those of the template.
fn person_of(body: BodyChoice) -> Option<Person> {
    match body {
        BodyChoice::Template => None,
        BodyChoice::Individual => Some(Person::Individual),
        BodyChoice::WhatIf => Some(Person::WhatIf),
    }
}

impl Editor {
    /// The individual as it was fitted last; `None` before.
    pub fn individual_shape(&self) -> Option<&IndividualShape> {
        self.shape_of(Person::Individual)
    }

    /// The body of one of the two tables as it was fitted last; `None` before.
    pub fn shape_of(&self, person: Person) -> Option<&IndividualShape> {
        self.individuals.of(person).shape.as_deref()
    }

    /// The progress of the fit of the table that is edited.
    pub fn fitting_individual(&self) -> Option<&Task> {
        let fit = self.individuals.of(self.edited_person());
        fit.job.as_ref().map(JobHandle::task)
    }

    /// Why there is no individual, or no what-if where that is edited: a sentence.
    pub fn individual_failure(&self) -> Option<&str> {
        let fit = self.individuals.of(self.edited_person());
        fit.failure.as_deref()
    }

    /// Whose table is edited: the individual's, unless there is a what-if and it was chosen.
    pub fn edited_person(&self) -> Person {
        match self.individuals.edited {
            Person::WhatIf if self.document.person(Person::WhatIf).is_some() => Person::WhatIf,
            _ => Person::Individual,
        }
    }

    /// Chooses whose table is edited.
    pub fn edit_person(&mut self, person: Person) {
        if self.individuals.edited != person {
            // What is being read or measured is for the other one.
            self.individuals.cancel_rows();
            self.individuals.edited = person;
        }
    }

    /// The table that is edited, if there is one.
    pub fn measurements(&self) -> Option<&Arc<Individual>> {
        self.document.person(self.edited_person())
    }

    /// Gives the table that is edited other measurements, or none; one undo step.
    pub fn measure(&mut self, rows: Vec<Measurement>, options: FitOptions, label: &str) {
        let variations = self.variations().to_vec();
        let has_any = !rows.is_empty() || !variations.is_empty();
        let individual = has_any.then(|| Individual {
            template: self.document.template_fingerprint(),
            rows,
            options,
            variations,
        });
        self.set_person(self.edited_person(), individual, label);
    }

    /// Copies the table of the individual to a what-if, which is edited from then on; one undo step.
    pub fn duplicate_individual(&mut self) {
        let Some(individual) = self.document.individual() else {
            self.notify("There are no measurements to duplicate: add some first.");
            return;
        };
        let copy = Individual::clone(individual);
        self.set_person(Person::WhatIf, Some(copy), "Duplicate as what-if");
        self.individuals.edited = Person::WhatIf;
    }

    /// Removes the measurements of the person; one undo step. A what-if stays.
    pub fn remove_measurements(&mut self) {
        self.set_person(Person::Individual, None, "Remove measurements");
    }

    /// Removes the what-if; one undo step.
    pub fn remove_what_if(&mut self) {
        self.set_person(Person::WhatIf, None, "Remove what-if");
    }

    pub(super) fn set_person(
        &mut self,
        person: Person,
        individual: Option<Individual>,
        label: &str,
    ) {
        if self.document.person(person).map(|known| &**known) == individual.as_ref() {
            return;
        }
        let edit = Edit::Individual(IndividualEdit::of(person, individual));
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
        self.individuals.reading = Some((self.edited_person(), job));
    }

    /// Takes a table that was read.
    pub(super) fn take_measurements(&mut self) {
        let reading = &mut self.individuals.reading;
        let Some((person, job)) = reading.take_if(|(_, job)| job.has_ended()) else {
            return;
        };
        if person != self.edited_person() {
            return self.notify("The measurements were not imported: another table is edited now.");
        }
        match job.into_result() {
            Ok(Ok(rows)) => {
                let known = self.measurements();
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
        let person = self.edited_person();
        let work = move |_: &Task| {
            let rows = document.person(person).map_or(&[][..], |known| &known.rows);
            Ok(next_row(&document.body()?, rows, kind))
        };
        let label = "Measuring the template";
        let job = self.lane.submit(EditorJob::AddMeasurement, label, work);
        self.individuals.adding = Some((person, job));
    }

    /// Takes a row that was measured on the template.
    pub(super) fn take_measurement(&mut self) {
        let adding = &mut self.individuals.adding;
        let Some((person, job)) = adding.take_if(|(_, job)| job.has_ended()) else {
            return;
        };
        if person != self.edited_person() {
            return self.notify("The measurement was not added: another table is edited now.");
        }
        match job.into_result() {
            Ok(Ok(Some(row))) => {
                let known = self.measurements().cloned();
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
        let person = self.edited_person();
        let fit = self.individuals.of_mut(person);
        fit.stop();
        fit.revision = None;
    }

    /// Cancels the fit; the template is shown.
    pub fn cancel_individual(&mut self) {
        if let Some(task) = self.fitting_individual() {
            task.cancel();
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
        self.usable_shape(Person::Individual).filter(|_| shows)
    }

    /// The body of one of the two tables, where it can be put on the document.
    fn usable_shape(&self, person: Person) -> Option<&Arc<IndividualShape>> {
        Some(self.usable(person)?.0)
    }

    /// The same with its table.
    fn usable(&self, person: Person) -> Option<(&Arc<IndividualShape>, &Individual)> {
        let table = self.document.person(person)?;
        let shape = self.individuals.of(person).shape.as_ref()?;
        shape.can_show(&self.document).then_some((shape, table))
    }

    /// The document with a body that a view asks for; `None`: there is none.
    fn body(&self, body: BodyChoice) -> Option<Document> {
        let Some(person) = person_of(body) else {
            return Some(self.document.clone());
        };
        // Edit bones mode shows the template.
        let usable = self.usable(person);
        let (shape, table) = usable.filter(|_| !self.document.session().shows_rest)?;
        Some(shape.of_table(&self.document, table))
    }

    /// The bodies that views ask for.
    pub(super) fn bodies_in_views(&self) -> BodyMap {
        let mut found = BodyMap::new();
        for body in self.views_to_know().iter().filter_map(ViewRequest::body) {
            if found.contains_key(&body) {
                continue;
            }
            if let Some(document) = self.body(body) {
                let cooks = Some(self.cooks_of(body));
                found.insert(body, ShownBody { document, cooks });
            }
        }
        found
    }

    /// Whether a body can be shown: the template always, the others once they are fitted.
    pub fn has_body(&self, body: BodyChoice) -> bool {
        let Some(person) = person_of(body) else {
            return true;
        };
        !self.document.session().shows_rest && self.usable_shape(person).is_some()
    }

    /// The body that is evaluated and exported.
    pub fn shown_choice(&self) -> BodyChoice {
        match self.shown_shape() {
            Some(_) => BodyChoice::Individual,
            None => BodyChoice::Template,
        }
    }

    /// The body on which a view is evaluated.
    pub(super) fn body_of_view(&self, view: &ViewRequest) -> BodyChoice {
        let asked = view.body().filter(|body| self.has_body(*body));
        asked.unwrap_or_else(|| self.shown_choice())
    }

    /// A mesh with a body; `None`: there is no such mesh or body.
    pub(super) fn item_of_body(&self, body: BodyChoice, mesh: MeshId) -> Option<Arc<MeshItem>> {
        let Some(person) = person_of(body) else {
            return self.document.meshes().get(&mesh).cloned();
        };
        let (shape, table) = self.usable(person)?;
        shape.item(&self.document, mesh, &table.variations)
    }

    /// The centres of rotation and patch layouts of a body that are known.
    pub(super) fn cooks_of(&self, body: BodyChoice) -> SlowCooks {
        SlowCooks {
            centres: self.centres.known(body),
            layouts: self.layouts.known(body),
        }
    }

    /// The bodies whose centres of rotation and patch layouts are needed, with the views that show each. The template's are
    /// needed wherever any are: drivers and checks read it.
    pub(super) fn views_of_bodies(&self) -> Vec<(BodyChoice, Vec<ViewRequest>)> {
        let views = self.views_to_know();
        let mut found: Vec<(BodyChoice, Vec<ViewRequest>)> = Vec::new();
        for view in &views {
            let body = self.body_of_view(view);
            if body == BodyChoice::Template {
                continue;
            }
            match found.iter_mut().find(|(known, _)| *known == body) {
                Some((_, of_body)) => of_body.push(view.clone()),
                None => found.push((body, vec![view.clone()])),
            }
        }
        found.push((BodyChoice::Template, views));
        found
    }

    /// What a view says that asks for a body that there is not, or is compared with one.
    pub fn body_badge(&self, view: ViewId) -> Option<&'static str> {
        let shown = self.views.requests();
        let is_shown = |r: &ViewRequest| shown.iter().any(|s| s.view == r.view);
        let views = self.views_to_know();
        // The reference of a heat map matters in every view.
        let mut asked = views.iter().filter(|r| r.view == view || !is_shown(r));
        asked.find_map(|r| self.missing_body(r.body()?))
    }

    fn missing_body(&self, body: BodyChoice) -> Option<&'static str> {
        let person = person_of(body)?;
        if self.document.session().shows_rest {
            return Some("Edit bones mode shows the template.");
        }
        let fit = self.individuals.of(person);
        if self.usable_shape(person).is_some() {
            return None;
        }
        Some(match (fit.job.is_some(), fit.failure.is_some(), person) {
            (true, ..) => "Fitting the body.",
            (false, true, Person::Individual) => {
                "The individual could not be fitted. The Individual panel says why."
            }
            (false, true, Person::WhatIf) => {
                "The what-if could not be fitted. The Individual panel says why."
            }
            (false, false, Person::Individual) => "There is no individual.",
            (false, false, Person::WhatIf) => "There is no what-if.",
        })
    }

    /// Lets the first panes show the individual and its what-if, or the template and the individual, for comparison.
    pub fn compare_bodies(&mut self) {
        use BodyChoice::{Individual, Template, WhatIf};
        let bodies = match self.document.person(Person::WhatIf) {
            Some(_) => [Individual, WhatIf, Template],
            None => [Template, Individual, WhatIf],
        };
        let choices = bodies.map(StackChoice::Body);
        for (slot, choice) in self.compare_mut().choices.iter_mut().zip(choices) {
            *slot = choice;
        }
    }

    /// The document with the body on screen: what is evaluated and exported.
    pub(super) fn shown_body(&self) -> Document {
        let shown = self.body(self.shown_choice());
        shown.unwrap_or_else(|| self.document.clone())
    }

    /// Distinguishes the bodies on screen; 0: the template.
    pub(super) fn body_key(&self) -> u64 {
        let shown = self.shown_shape();
        shown.map_or(0, |_| self.key_of_body(BodyChoice::Individual))
    }

    /// Distinguishes bodies, whatever is on screen; 0: the template.
    pub(super) fn key_of_body(&self, body: BodyChoice) -> u64 {
        person_of(body).map_or(0, |person| (self.individuals.of(person).serial + 1) << 40)
    }

    /// Starts the fits where the measurements or the template changed.
    pub(super) fn follow_individual(&mut self) -> bool {
        let mut followed = false;
        for person in Person::ALL {
            followed |= self.follow_person(person);
        }
        followed
    }

    fn follow_person(&mut self, person: Person) -> bool {
        let revision = self.history.revision();
        let is_known = self.individuals.of(person).revision == Some(revision);
        if is_known || self.is_in_step() {
            return false;
        }
        let fit = self.individuals.of_mut(person);
        fit.revision = Some(revision);
        let Some(individual) = self.document.person(person).cloned() else {
            let had = fit.shape.is_some() || fit.job.is_some();
            fit.stop();
            fit.shape = None;
            fit.failure = None;
            self.evaluation.stale |= had;
            return true;
        };
        let is_current = fit.shape.as_ref().is_some_and(|shape| {
            shape.rows == individual.rows
                && shape.options == individual.options
                && shape.is_current(&self.document)
        });
        fit.stop();
        // Limits and gains need no fit: the body is the same, what it shows is not.
        if fit.variations != individual.variations {
            fit.variations.clone_from(&individual.variations);
            fit.serial += 1;
            self.evaluation.stale = true;
        }
        let fit = self.individuals.of_mut(person);
        if is_current {
            fit.failure = None;
            return true;
        }
        let document = self.document.clone();
        let work = move |task: &Task| {
            IndividualShape::new(&document, &individual.rows, &individual.options, task)
        };
        let (kind, label) = match person {
            Person::Individual => (EditorJob::FitIndividual, "Fitting the individual"),
            Person::WhatIf => (EditorJob::FitWhatIf, "Fitting the what-if"),
        };
        fit.job = Some(self.lane.submit(kind, label, work));
        true
    }

    /// Takes a body that was fitted.
    pub(super) fn take_individual(&mut self, person: Person) {
        let fit = self.individuals.of_mut(person);
        let Some(job) = fit.job.take_if(|job| job.has_ended()) else {
            return;
        };
        self.evaluation.stale = true;
        let failure = match job.into_result() {
            Ok(Ok(shape)) => {
                fit.shape = Some(Arc::new(shape));
                fit.serial += 1;
                fit.failure = None;
                return;
            }
            Ok(Err(TwinError::Cancelled(_))) | Err(JobError::Cancelled) => CANCELLED.to_owned(),
            Ok(Err(why)) => why.to_string(),
            Err(error @ JobError::Failed) => error.to_string(),
        };
        fit.shape = None;
        fit.failure = Some(failure);
    }
}
