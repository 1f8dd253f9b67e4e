//! The flag that chooses the body of a file with measurements.

use super::Failure;
use crate::document::{Document, MeshId, Person};
use crate::finding::{Finding, Severity};
use crate::task::Task;
use crate::twin::Tape;
use clap::{Args, ValueEnum};

/// The body.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct ShownBodyArgs {
    /// The body of a project with measurements; default: the one that the window shows, template or individual.
    #[arg(long, value_enum, value_name = "BODY")]
    pub body: Option<BodyArg>,
}

/// `--body`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BodyArg {
    /// Without measurements.
    Template,
    /// With the measurements of the person.
    Individual,
    /// With those of the what-if.
    WhatIf,
}

/// The body that a document was given.
#[derive(Default)]
pub(crate) struct ShownBody {
    /// `None`: the template.
    pub(crate) name: Option<&'static str>,
    /// The warnings of the fit.
    pub(crate) warnings: Vec<Finding>,
    /// The measured girths of the person, each with its mesh.
    pub(crate) tapes: Vec<(MeshId, Tape)>,
}

impl ShownBodyArgs {
    /// Gives a document the chosen body.
    pub(crate) fn apply(self, document: &mut Document) -> Result<ShownBody, Failure> {
        let shows = document.session().shows_individual && document.individual().is_some();
        let shown = if shows {
            BodyArg::Individual
        } else {
            BodyArg::Template
        };
        let (person, name) = match self.body.unwrap_or(shown) {
            BodyArg::Template => return Ok(ShownBody::default()),
            BodyArg::Individual => (Person::Individual, "individual"),
            BodyArg::WhatIf => (Person::WhatIf, "what-if"),
        };
        let Some(table) = document.person(person).cloned() else {
            let what = format!("--body {name}: the file has no measurements for it.");
            return Err(Failure::Input(what));
        };
        let made = document.individualised_by(&table, &Task::new());
        let made = made.map_err(|why| {
            let what = format!("The {name} cannot be made. {why} Use --body template to leave out the measurements.");
            Failure::Input(what)
        })?;
        *document = made.document;
        let warnings = made.report.warnings.into_iter();
        Ok(ShownBody {
            name: Some(name),
            warnings: warnings
                .map(|w| Finding::new(Severity::Warning, name, w))
                .collect(),
            tapes: made.tapes,
        })
    }
}
