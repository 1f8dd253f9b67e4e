//! Text <-> [`Project`], of whatever version the file is.
//!
//! The version is read first, on its own. Each version has a module with its own types; the conversion to the next
//! version is in the module of the older one. A file is converted step by step from its version to the newest, so that
//! each step is written once and never changed. Sinew always writes the newest version.
//!
//! To add a version: move the types that change from the newest module into a module of their own, with the conversion
//! to the new types, and read that version in [`parse`]. Types that do not change are used from the newer module.
//! Freeze a test file of the version that is replaced.

use super::v11::{Project, VERSION};
use super::{ProjectError, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10};
use ron::extensions::Extensions;
use ron::ser::PrettyConfig;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// The project in `text`, converted to the newest version.
///
/// Fails for text that is not RON or not a project, for a field or a value that its version does not have, and for a newer
/// version.
pub fn parse(text: &str) -> Result<Project, ProjectError> {
    Ok(match version(text)? {
        1 => from_1(from_ron(text)?),
        2 => from_2(from_ron(text)?),
        3 => from_3(from_ron(text)?),
        4 => from_4(from_ron(text)?),
        5 => from_5(from_ron(text)?),
        6 => from_6(from_ron(text)?),
        7 => from_7(from_ron(text)?),
        8 => from_8(from_ron(text)?),
        9 => from_9(from_ron(text)?),
        10 => from_10(from_ron(text)?),
        VERSION => from_ron(text)?,
        found if found > VERSION => return Err(ProjectError::Newer { found }),
        found => {
            return Err(ProjectError::Damaged {
                place: "version".into(),
                why: format!("version {found} of the format does not exist"),
            });
        }
    })
}

/// The version of a project.
fn version(text: &str) -> Result<u32, ProjectError> {
    /// The field that every version has.
    #[derive(Deserialize)]
    struct Probe {
        version: u32,
    }
    // Sinew writes it first: a large file is read once.
    let first = text.trim_start().strip_prefix('(').map(str::trim_start);
    let value = first.and_then(|rest| rest.strip_prefix("version:"));
    let number = value.and_then(|rest| rest.trim_start().split_once(','));
    if let Some(version) = number.and_then(|(number, _)| number.parse().ok())
        && (1..=VERSION).contains(&version)
    {
        return Ok(version);
    }
    Ok(from_ron::<Probe>(text)?.version)
}

fn from_1(project: v1::Project) -> Project {
    from_2(project.into())
}

fn from_2(project: v2::Project) -> Project {
    from_3(project.into())
}

fn from_3(project: v3::Project) -> Project {
    from_4(project.into())
}

fn from_4(project: v4::Project) -> Project {
    from_5(project.into())
}

fn from_5(project: v5::Project) -> Project {
    from_6(project.into())
}

fn from_6(project: v6::Project) -> Project {
    from_7(project.into())
}

fn from_7(project: v7::Project) -> Project {
    from_8(project.into())
}

fn from_8(project: v8::Project) -> Project {
    from_9(project.into())
}

fn from_9(project: v9::Project) -> Project {
    from_10(project.into())
}

fn from_10(project: v10::Project) -> Project {
    project.into()
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

/// The nesting depth down to which values get lines of their own: project, list, entry, list; deeper values are on one
/// line.
const LINE_DEPTH: usize = 4;

/// A `T`, read from `text`.
pub(super) fn from_ron<T: DeserializeOwned>(text: &str) -> Result<T, ProjectError> {
    options().from_str(text).map_err(|error| {
        let (line, column) = (error.span.start.line, error.span.start.col);
        let unknown = |what, found, inside: Option<String>| ProjectError::Unknown {
            what,
            found,
            inside: inside.map(|name| in_words(&name)),
            line,
            column,
        };
        match error.code {
            ron::Error::NoSuchEnumVariant { found, outer, .. } => {
                let what = outer.map_or_else(|| "value".to_owned(), |name| in_words(&name));
                unknown(what, found, None)
            }
            ron::Error::NoSuchStructField { found, outer, .. } => {
                unknown("field".to_owned(), found, outer)
            }
            code => ProjectError::Parse {
                line,
                column,
                message: code.to_string(),
            },
        }
    })
}

/// `SkinningMethod` -> `skinning method`.
fn in_words(name: &str) -> String {
    let mut words = String::new();
    for (i, letter) in name.chars().enumerate() {
        if i > 0 && letter.is_uppercase() {
            words.push(' ');
        }
        words.extend(letter.to_lowercase());
    }
    words
}

fn options() -> ron::Options {
    ron::Options::default().with_default_extension(Extensions::IMPLICIT_SOME)
}
