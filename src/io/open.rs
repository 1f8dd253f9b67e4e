//! Opens any supported file: a model, a project, a sample, an autosave.

use super::gltf::{ImportError, import_bytes, import_file};
use super::gltf_build;
use super::obj::import_obj;
use super::project::{self, ModelSource, ProjectError, Stamps};
use super::stamp::FileStamp;
use crate::document::{Document, InvalidParts};
use crate::finding::Finding;
use crate::sample::reservoir::reservoir;
use crate::sample::{SampleKind, sample};
use crate::task::{Cancelled, Task};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The extensions of models.
pub const MODELS: [&str; 3] = ["glb", "gltf", "obj"];

/// The sample projects: name and text, over a generated sample.
const SAMPLE_PROJECTS: [(&str, &str); 3] = [
    (
        "control-clusters-arm",
        include_str!("../../projects/control-clusters-arm.ron"),
    ),
    (
        "elbow-correctives",
        include_str!("../../projects/elbow-correctives.ron"),
    ),
    (
        "water-surface",
        include_str!("../../projects/water-surface.ron"),
    ),
];

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
    /// The content of the project and of the model on disk.
    pub stamps: Stamps,
}

impl OpenedModel {
    /// A model or a sample without a project.
    fn of_model(document: Document, findings: Vec<Finding>) -> Self {
        Self {
            stamps: stamps(&document, None),
            document,
            findings,
            project: None,
            is_project: false,
            source_changed: false,
        }
    }

    /// An opened project that is saved at `project`.
    fn of_project(opened: project::Opened, project: Option<PathBuf>) -> Self {
        Self {
            stamps: stamps(&opened.document, opened.stamp),
            document: opened.document,
            findings: opened.findings,
            project,
            is_project: true,
            source_changed: opened.source_changed,
        }
    }
}

/// The stamps of a project and of the model of `document`.
fn stamps(document: &Document, project: Option<FileStamp>) -> Stamps {
    let model = document.source().and_then(|source| {
        let path = source.path.as_deref()?;
        FileStamp::of_content(path, source.file_bytes())
    });
    Stamps { project, model }
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
        "There is no sample called \"{0}\". The samples are arm, hand, leg, mannequin, cylinder, coarse-arm, reservoir, elbow-correctives, control-clusters-arm and water-surface."
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
        .is_some_and(|e| MODELS.iter().any(|known| e.eq_ignore_ascii_case(known)))
}

/// Whether `path` has the extension of a Wavefront OBJ file.
pub fn is_obj(path: &Path) -> bool {
    path.extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("obj"))
}

/// Whether `path` has the extension of a file of recorded channels.
pub fn is_recording(path: &Path) -> bool {
    path.extension().is_some_and(|e| {
        ["csv", "tsv", "trc", "jsonl", "ndjson"]
            .iter()
            .any(|known| e.eq_ignore_ascii_case(known))
    })
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
        return Ok(OpenedModel::of_model(document, findings));
    }
    let opened = project::open(path, task, import_for_project)?;
    Ok(OpenedModel::of_project(opened, Some(path.to_owned())))
}

/// Opens the project at `path` with another model. An autosave is never saved to; saving goes to its project.
pub fn open_relinked(
    path: &Path,
    model: &Path,
    is_autosave: bool,
    task: &Task,
) -> Result<OpenedModel, OpenError> {
    let opened = project::open_with_source(path, model, task, import_for_project)?;
    Ok(if is_autosave {
        of_autosave(opened)
    } else {
        OpenedModel::of_project(opened, Some(path.to_owned()))
    })
}

/// Opens an autosave; saving goes to its project.
pub fn open_autosave(path: &Path, task: &Task) -> Result<OpenedModel, OpenError> {
    project::open(path, task, import_for_project)
        .map(of_autosave)
        .map_err(OpenError::from)
}

fn of_autosave(mut opened: project::Opened) -> OpenedModel {
    let project = opened.recovers.clone();
    opened.stamp = project.as_deref().and_then(FileStamp::of_file);
    OpenedModel::of_project(opened, project)
}

/// Opens a built-in sample by name.
pub fn open_sample(name: &str, task: &Task) -> Result<OpenedModel, OpenError> {
    if let Some((_, text)) = SAMPLE_PROJECTS.iter().find(|(known, _)| *known == name) {
        let opened = project::open_text(text, task, import_for_project)?;
        return Ok(OpenedModel::of_project(opened, None));
    }
    let kind = SampleKind::ALL.into_iter().find(|k| k.name() == name);
    let is_reservoir = name == "reservoir";
    if kind.is_none() && !is_reservoir {
        return Err(OpenError::NoSample(name.to_owned()));
    }
    task.step("Creating the sample", 0.1)?;
    let glb = match kind {
        Some(kind) => gltf_build::to_glb(&sample(kind, kind.default_points())),
        None => gltf_build::scene_to_glb(&reservoir()),
    };
    let imported = import_bytes(glb.into(), None, None, task)?;
    let mut parts = imported.parts;
    if let Some(source) = &mut parts.source {
        Arc::make_mut(source).sample = Some(name.to_owned());
    }
    let document = Document::new(parts)?;
    Ok(OpenedModel::of_model(document, imported.findings))
}

fn open_model(path: &Path, task: &Task) -> Result<(Document, Vec<Finding>), OpenError> {
    let imported = if is_obj(path) {
        import_obj(path, task)?
    } else {
        import_file(path, task)?
    };
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
