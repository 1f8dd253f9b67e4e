//! Opens any supported file: a model, a project, a sample, an autosave.

use super::gltf::{ImportError, import_bytes, import_file};
use super::gltf_build;
use super::project::{self, ModelSource, ProjectError};
use crate::document::{Document, InvalidParts};
use crate::finding::Finding;
use crate::sample::{SampleKind, sample};
use crate::task::{Cancelled, Task};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The sample projects: name and text, over a generated sample.
const SAMPLE_PROJECTS: [(&str, &str); 1] = [(
    "elbow-correctives",
    include_str!("../../projects/elbow-correctives.ron"),
)];

/// An opened document.
#[derive(Debug)]
pub struct OpenedModel {
    /// The model with the project's edits.
    pub document: Document,
    /// The findings of the importer and the project.
    pub findings: Vec<Finding>,
    /// The project file that a save replaces; `None` for a model or a sample.
    pub project: Option<PathBuf>,
    /// Whether a project was opened, which restores its own view.
    pub is_project: bool,
    /// Whether the project's model changed since the project was saved.
    pub source_changed: bool,
}

/// The reason that nothing was opened, one sentence.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The work was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// The model cannot be read.
    #[error(transparent)]
    Import(ImportError),
    /// The model's parts are inconsistent.
    #[error("The model cannot be used: {0}")]
    Invalid(#[from] InvalidParts),
    /// The project cannot be read.
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// No sample has this name.
    #[error(
        "There is no sample called \"{0}\". The samples are arm, hand, mannequin, cylinder and elbow-correctives."
    )]
    NoSample(String),
}

impl From<ImportError> for OpenError {
    fn from(error: ImportError) -> Self {
        match error {
            ImportError::Cancelled => Self::Cancelled(Cancelled),
            error => Self::Import(error),
        }
    }
}

/// Whether `path` has the extension of a project.
pub fn is_project(path: &Path) -> bool {
    path.extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("ron"))
}

/// Whether `path` has the extension of a model.
pub fn is_model(path: &Path) -> bool {
    path.extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("glb") || e.eq_ignore_ascii_case("gltf"))
}

/// The path of a project that the artist entered as `path`: with the extension `.ron`, added if missing.
pub fn project_path(path: &Path) -> PathBuf {
    if is_project(path) {
        path.to_owned()
    } else {
        path.with_added_extension("ron")
    }
}

/// Opens a model, or a project by its extension `.ron`.
pub fn open_any(path: &Path, task: &Task) -> Result<OpenedModel, OpenError> {
    if !is_project(path) {
        let (document, findings) = open_model(path, task)?;
        return Ok(OpenedModel {
            document,
            findings,
            project: None,
            is_project: false,
            source_changed: false,
        });
    }
    let opened = project::open(path, task, import_for_project)?;
    Ok(OpenedModel {
        document: opened.document,
        findings: opened.findings,
        project: Some(path.to_owned()),
        is_project: true,
        source_changed: opened.source_changed,
    })
}

/// Opens the project at `path` with another model. An autosave is never saved to; saving goes to its project.
pub fn open_relinked(
    path: &Path,
    model: &Path,
    is_autosave: bool,
    task: &Task,
) -> Result<OpenedModel, OpenError> {
    let opened = project::open_with_source(path, model, task, import_for_project)?;
    Ok(OpenedModel {
        document: opened.document,
        findings: opened.findings,
        project: if is_autosave {
            opened.recovers
        } else {
            Some(path.to_owned())
        },
        is_project: true,
        source_changed: opened.source_changed,
    })
}

/// Opens an autosave; saving goes to its project.
pub fn open_autosave(path: &Path, task: &Task) -> Result<OpenedModel, OpenError> {
    let opened = project::open(path, task, import_for_project)?;
    Ok(OpenedModel {
        document: opened.document,
        findings: opened.findings,
        project: opened.recovers,
        is_project: true,
        source_changed: opened.source_changed,
    })
}

/// Opens a built-in sample by name.
pub fn open_sample(name: &str, task: &Task) -> Result<OpenedModel, OpenError> {
    if let Some((_, text)) = SAMPLE_PROJECTS.iter().find(|(known, _)| *known == name) {
        let opened = project::open_text(text, task, import_for_project)?;
        return Ok(OpenedModel {
            document: opened.document,
            findings: opened.findings,
            project: None,
            is_project: true,
            source_changed: opened.source_changed,
        });
    }
    let kind = SampleKind::ALL
        .into_iter()
        .find(|k| k.name() == name)
        .ok_or_else(|| OpenError::NoSample(name.to_owned()))?;
    task.step("Creating the sample", 0.1)?;
    let glb = gltf_build::to_glb(&sample(kind, kind.default_points()));
    let imported = import_bytes(glb.into(), None, None, task)?;
    let mut parts = imported.parts;
    if let Some(source) = &mut parts.source {
        Arc::make_mut(source).sample = Some(name.to_owned());
    }
    let document = Document::new(parts)?;
    Ok(OpenedModel {
        document,
        findings: imported.findings,
        project: None,
        is_project: false,
        source_changed: false,
    })
}

fn open_model(path: &Path, task: &Task) -> Result<(Document, Vec<Finding>), OpenError> {
    let imported = import_file(path, task)?;
    Ok((Document::new(imported.parts)?, imported.findings))
}

/// The importer for [`project::open`].
pub fn import_for_project(
    source: ModelSource<'_>,
    task: &Task,
) -> Result<(Document, Vec<Finding>), ProjectError> {
    let opened = match source {
        ModelSource::File(path) => open_model(path, task),
        ModelSource::Sample(name) => open_sample(name, task).map(|o| (o.document, o.findings)),
    };
    opened.map_err(|error| match error {
        OpenError::Cancelled(cancelled) => cancelled.into(),
        error => ProjectError::Model {
            model: match source {
                ModelSource::File(path) => path.display().to_string(),
                ModelSource::Sample(name) => name.to_owned(),
            },
            why: error.to_string(),
        },
    })
}
