//! Saving and opening project files.

use super::apply::apply_within;
use super::v7::{ModelRef, Project};
use super::{ProjectError, collect, migrate, paths, to_project};
use crate::document::Document;
use crate::finding::Finding;
use crate::io::{Outputs, atomic};
use crate::task::Task;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A larger file is not a project: a fully painted model takes 10 to 20 bytes per point.
const MAX_FILE_BYTES: u64 = 1 << 29;

/// The model that a project refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelSource<'a> {
    /// A file.
    File(&'a Path),
    /// A built-in sample, by name.
    Sample(&'a str),
}

/// The result of [`open`].
#[derive(Clone, Debug)]
pub struct Opened {
    /// The model with the project's edits and session.
    pub document: Document,
    /// The importer's findings, then those about parts of the project that did not fit.
    pub findings: Vec<Finding>,
    /// Whether the model differs from the one that the project was saved with: the user may want to relink it.
    pub source_changed: bool,
    /// For an autosave: the user's own project file, to save to.
    pub recovers: Option<PathBuf>,
}

/// Saves the project of `document` at `path`; replaces the file atomically.
pub fn save(document: &Document, path: &Path, task: &Task) -> Result<(), ProjectError> {
    task.step("Saving", 0.0)?;
    // The project may overwrite itself, but none of its inputs.
    Outputs::of(document).check(path)?;
    let project = to_project(document, Some(path))?;
    write(&project, path, task)
}

/// Writes `project` to `path`; replaces the file atomically.
pub(super) fn write(project: &Project, path: &Path, task: &Task) -> Result<(), ProjectError> {
    task.step("Saving", 0.4)?;
    let text = migrate::to_text(project)?;
    task.step("Saving", 0.6)?;
    atomic::replace(path, text.as_bytes(), &mut atomic::Disk, task)?;
    // The file is already replaced: it is too late to cancel.
    let _ = task.step("Saving", 1.0);
    Ok(())
}

/// Opens the project at `path` and, through `import`, its model.
///
/// Fails with [`ProjectError::SourceMissing`] where the model does not exist: [`open_with_source`] opens another one. A
/// changed model is opened with the edits that fit it.
pub fn open(
    path: &Path,
    task: &Task,
    import: impl FnOnce(ModelSource<'_>, &Task) -> Result<(Document, Vec<Finding>), ProjectError>,
) -> Result<Opened, ProjectError> {
    let project = read(path, task)?;
    match project.model.clone() {
        ModelRef::Sample { name, .. } => finish(project, ModelSource::Sample(&name), task, import),
        ModelRef::File {
            path: model,
            fingerprint,
            name,
        } => {
            let model = paths::resolve(&paths::folder_of(path), &model);
            if !model.is_file() {
                return Err(ProjectError::SourceMissing {
                    path: model,
                    name,
                    fingerprint,
                });
            }
            finish(project, ModelSource::File(&model), task, import)
        }
    }
}

/// Opens the project that is `text`, whose model is a built-in sample.
pub fn open_text(
    text: &str,
    task: &Task,
    import: impl FnOnce(ModelSource<'_>, &Task) -> Result<(Document, Vec<Finding>), ProjectError>,
) -> Result<Opened, ProjectError> {
    let project = migrate::parse(text)?;
    match project.model.clone() {
        ModelRef::Sample { name, .. } => finish(project, ModelSource::Sample(&name), task, import),
        ModelRef::File {
            path,
            name,
            fingerprint,
        } => Err(ProjectError::SourceMissing {
            path: path.into(),
            name,
            fingerprint,
        }),
    }
}

/// Opens the project at `path` with the model at `model` instead of the stored one: relinks it.
pub fn open_with_source(
    path: &Path,
    model: &Path,
    task: &Task,
    import: impl FnOnce(ModelSource<'_>, &Task) -> Result<(Document, Vec<Finding>), ProjectError>,
) -> Result<Opened, ProjectError> {
    let project = read(path, task)?;
    finish(project, ModelSource::File(model), task, import)
}

fn finish(
    project: Project,
    source: ModelSource<'_>,
    task: &Task,
    import: impl FnOnce(ModelSource<'_>, &Task) -> Result<(Document, Vec<Finding>), ProjectError>,
) -> Result<Opened, ProjectError> {
    let (document, mut findings) = import(source, task)?;
    task.step("Opening the project", 0.9)?;
    let (ModelRef::File { fingerprint, .. } | ModelRef::Sample { fingerprint, .. }) =
        &project.model;
    let is_same =
        |found: u64| fingerprint.is_empty() || collect::fingerprint_text(found) == *fingerprint;
    let source_changed = document.source().is_none_or(|s| !is_same(s.fingerprint));
    if source_changed {
        findings.push(Finding::warning(
            "model",
            "The model has changed since the project was saved; the edits that fit it are kept.",
        ));
    }
    let recovers = project.recovers.as_ref().map(PathBuf::from);
    let (document, unfit) = apply_within(document, project, task)?;
    findings.extend(unfit);
    task.step("Opening the project", 1.0)?;
    Ok(Opened {
        document,
        findings,
        source_changed,
        recovers,
    })
}

fn read(path: &Path, task: &Task) -> Result<Project, ProjectError> {
    task.step("Reading the project", 0.0)?;
    let project = migrate::parse(&read_text(path)?)?;
    task.check()?;
    Ok(project)
}

/// The text of a file of at most [`MAX_FILE_BYTES`].
pub(super) fn read_text(path: &Path) -> Result<String, ProjectError> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|error| ProjectError::read(path, &error))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(ProjectError::Io {
            path: path.to_owned(),
            what: "is too large for a project".into(),
        });
    }
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let lines = String::from_utf8_lossy(good);
        let last = lines.rsplit('\n').next().unwrap_or_default();
        ProjectError::Parse {
            line: lines.split('\n').count(),
            column: 1 + last.chars().count(),
            message: "it is not text".into(),
        }
    })
}
