//! Text <-> [`Project`], whatever version of Sinew wrote it.
//!
//! The version is read first, alone. Versions 2 and 3 only have more words than the one before, each of which means nothing
//! where it is not said, so all are read alike. Version 3 knows layers of weights: with them the rows in `weights` are
//! those of the base and not what is shown. The brush's falloff and normalising got values that version 2 cannot read. So
//! a project that has any of these says that it is of version 3, which an older Sinew refuses in a sentence, and one
//! without says what it always said, version 2 ([`Project::settle_version`]). Whoever gives a word that older versions
//! know a meaning or a value that they do not know adds it there.
//!
//! To make a version that says a thing otherwise: copy the words of the one before into a `format_v2`, raise [`VERSION`], and let an arm of its own in [`parse`] turn a `format_v2::Project` into the next
//! version's words. Each arm takes one step and hands on to the following one, so a step is written once and never touched
//! again.

use super::{Project, ProjectError};
use crate::document::session::{Normalising, PaintTarget};
use crate::weights::falloff::Falloff;
use ron::extensions::Extensions;
use ron::ser::PrettyConfig;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// The newest version of the format that this Sinew reads and writes.
pub const VERSION: u32 = 3;
/// The version that a project says which has nothing that came later.
const WITHOUT_LAYERS: u32 = 2;

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
        1..=VERSION => Ok(Project {
            version: VERSION,
            ..from_ron(text)?
        }
        .settle_version()),
        found if found > VERSION => Err(ProjectError::Newer { found }),
        found => Err(ProjectError::Damaged {
            place: "version".into(),
            why: format!("there never was a format {found}"),
        }),
    }
}

impl Project {
    /// The same, saying the oldest version whose readers understand all of it.
    #[must_use]
    pub(super) fn settle_version(mut self) -> Self {
        // New values of words that version 2 knows: its readers refuse the whole file for them.
        let is_news = self.session.as_ref().is_some_and(|session| {
            let brush = &session.brush;
            brush.target == PaintTarget::LayerMask
                || brush.falloff == Falloff::Custom
                || brush.normalise == Normalising::OnRelease
        });
        self.version = if self.layers.is_empty() && !is_news {
            WITHOUT_LAYERS
        } else {
            VERSION
        };
        self
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
