//! Text <-> [`Project`], whatever version of Sinew wrote it.
//!
//! The version is read first, alone. Version 2 only has more words than version 1, each of which means nothing where it is
//! not said, so both are read alike. To make a version that says a thing otherwise: copy the words of the one before into
//! a `format_v2`, raise [`VERSION`], and let an arm of its own in [`parse`] turn a `format_v2::Project` into the next
//! version's words. Each arm takes one step and hands on to the following one, so a step is written once and never touched
//! again.

use super::{Project, ProjectError};
use ron::extensions::Extensions;
use ron::ser::PrettyConfig;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// The version of the format that this Sinew writes.
pub const VERSION: u32 = 2;

/// The project that `text` holds, upgraded to [`VERSION`].
///
/// Fails for text that is not RON or not a project, and for a newer version.
pub fn parse(text: &str) -> Result<Project, ProjectError> {
    /// All that is known before the version is.
    #[derive(Deserialize)]
    struct Probe {
        version: u32,
    }
    let probe: Probe = from_ron(text)?;
    match probe.version {
        1 | 2 => Ok(Project {
            version: VERSION,
            ..from_ron(text)?
        }),
        found if found > VERSION => Err(ProjectError::Newer { found }),
        found => Err(ProjectError::Damaged {
            place: "version".into(),
            why: format!("there never was a format {found}"),
        }),
    }
}

/// The text of a project: RON with one row of weights, channel or joint a line.
pub fn to_text(project: &Project) -> Result<String, ProjectError> {
    let layout = PrettyConfig::new()
        .depth_limit(LINE_DEPTH)
        .new_line("\n")
        .escape_strings(false);
    let mut text = options()
        .to_string_pretty(project, layout)
        .map_err(|error| ProjectError::Damaged {
            place: "project".into(),
            why: error.to_string(),
        })?;
    text.push('\n');
    Ok(text)
}

/// How deep things get lines of their own: project, list, entry, list; what is deeper stands on one line.
const LINE_DEPTH: usize = 4;

/// The words `T` in `text`; reads only what `T` names and skips the rest where `T` allows it.
pub(super) fn from_ron<T: DeserializeOwned>(text: &str) -> Result<T, ProjectError> {
    options()
        .from_str(text)
        .map_err(|error| ProjectError::Parse {
            line: error.span.start.line,
            column: error.span.start.col,
            message: error.code.to_string(),
        })
}

fn options() -> ron::Options {
    ron::Options::default().with_default_extension(Extensions::IMPLICIT_SOME)
}
