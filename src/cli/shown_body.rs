//! The flag that chooses the body of a project with measurements.

use super::Failure;
use crate::document::{Document, Person};
use crate::task::Task;
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
    /// The model without measurements.
    Template,
    /// With the measurements of the person.
    Individual,
    /// With the changed measurements.
    WhatIf,
}

impl ShownBodyArgs {
    /// Gives a document the chosen body, and says whose measurements it then has.
    pub(crate) fn apply(self, document: &mut Document) -> Result<Option<Person>, Failure> {
        let shown = || {
            let shows = document.session().shows_individual && document.individual().is_some();
            if shows {
                BodyArg::Individual
            } else {
                BodyArg::Template
            }
        };
        let (person, name) = match self.body.unwrap_or_else(shown) {
            BodyArg::Template => return Ok(None),
            BodyArg::Individual => (Person::Individual, "individual"),
            BodyArg::WhatIf => (Person::WhatIf, "what-if"),
        };
        let Some(table) = document.person(person).cloned() else {
            let what = format!("--body {name}: the project has no measurements for it.");
            return Err(Failure::Input(what));
        };
        let made = document.individualised(&table.rows, &table.options, &Task::new());
        let why =
            |why| Failure::Input(format!("the {name}: {why} (--body template leaves it out)"));
        *document = made.map_err(why)?.document;
        Ok(Some(person))
    }
}
