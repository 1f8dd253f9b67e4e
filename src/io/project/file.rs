//! Saving and opening project files.

use super::apply::apply_within;
use super::v11::{ModelRef, Project};
use super::{ProjectError, collect, migrate, paths, recordings, to_project};
use crate::document::Document;
use crate::finding::Finding;
use crate::io::read::read_file;
use crate::io::{FileStamp, Outputs, atomic};
use crate::task::Task;
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
    /// The content of the project on disk; `None` where it is not a file.
    pub stamp: Option<FileStamp>,
}

/// Saves the project of `document` at `path`; replaces the file atomically.
pub fn save(document: &Document, path: &Path, task: &Task) -> Result<(), ProjectError> {
    task.step("Saving", 0.0)?;
    save_stamped(document, path, task).map(|_| ())
}

/// [`save`], with the stamp of what was written.
fn save_stamped(
    document: &Document,
    path: &Path,
    task: &Task,
) -> Result<Option<FileStamp>, ProjectError> {
    // The project may overwrite itself, but none of its inputs.
    Outputs::of(document).check(path)?;
    let project = to_project(document, Some(path))?;
    write(&project, path, task)
}

/// The content of the files of an open project, as far as they are known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stamps {
    /// The project, when it was last read or written.
    pub project: Option<FileStamp>,
    /// The model, when it was read.
    pub model: Option<FileStamp>,
}

/// Saves as [`save`] does, unless the project at `path` or the model of `document` changed on disk since `opened`.
/// Returns the stamp of the project that was written.
pub fn save_unless_changed(
    document: &Document,
    path: &Path,
    opened: &Stamps,
    task: &Task,
) -> Result<Option<FileStamp>, ProjectError> {
    let model = document.source().and_then(|source| source.path.as_deref());
    let changed = |path: &Path, stamp: &Option<FileStamp>, is_model| match stamp {
        Some(stamp) if stamp.has_changed(path) => Err(ProjectError::ChangedOnDisk {
            path: path.to_owned(),
            is_model,
        }),
        _ => Ok(()),
    };
    task.step("Saving", 0.0)?;
    changed(path, &opened.project, false)?;
    if let Some(model) = model {
        changed(model, &opened.model, true)?;
    }
    save_stamped(document, path, task)
}

/// Writes `project` to `path`; replaces the file atomically. Returns the stamp of what was written.
pub(super) fn write(
    project: &Project,
    path: &Path,
    task: &Task,
) -> Result<Option<FileStamp>, ProjectError> {
    task.step("Saving", 0.4)?;
    let text = migrate::to_text(project)?;
    task.step("Saving", 0.6)?;
    atomic::replace(path, text.as_bytes(), &mut atomic::Disk, task)?;
    // The file is already replaced: it is too late to cancel.
    let _ = task.step("Saving", 1.0);
    Ok(FileStamp::of_content(path, text.as_bytes()))
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
    let (project, stamp) = read(path, task)?;
    let opened = match project.model.clone() {
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
    };
    opened.map(|opened| Opened { stamp, ..opened })
}

/// Opens the project that is `text`, whose model is a built-in sample.
pub fn open_text(
    text: &str,
    task: &Task,
    import: impl FnOnce(ModelSource<'_>, &Task) -> Result<(Document, Vec<Finding>), ProjectError>,
) -> Result<Opened, ProjectError> {
    let mut project = migrate::parse(text)?;
    recordings::take_built_in(&mut project.recordings);
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
    let (project, stamp) = read(path, task)?;
    let opened = finish(project, ModelSource::File(model), task, import)?;
    Ok(Opened { stamp, ..opened })
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
        stamp: None,
    })
}

fn read(path: &Path, task: &Task) -> Result<(Project, Option<FileStamp>), ProjectError> {
    task.step("Reading the project", 0.0)?;
    let stamp = FileStamp::before_reading(path);
    let text = read_text(path)?;
    let (project, stamp) = rayon::join(|| migrate::parse(&text), || stamp(text.as_bytes()));
    let mut project = project?;
    recordings::resolve(&mut project.recordings, &paths::folder_of(path));
    task.check()?;
    Ok((project, stamp))
}

/// The text of a file of at most [`MAX_FILE_BYTES`].
pub(super) fn read_text(path: &Path) -> Result<String, ProjectError> {
    let bytes =
        read_file(path, MAX_FILE_BYTES).map_err(|error| ProjectError::read(path, &error))?;
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
