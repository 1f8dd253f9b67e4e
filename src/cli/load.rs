//! A model or project by its path.

use super::Failure;
use crate::document::Document;
use crate::finding::Finding;
use crate::task::Task;
use std::path::Path;

/// A document and the findings of its import.
pub(crate) struct Loaded {
    pub(crate) document: Document,
    pub(crate) findings: Vec<Finding>,
    /// Whether it is a project: then its own stack and pose are the defaults.
    pub(crate) is_project: bool,
}

/// Loads `path` by its extension: `.ron` is a project, everything else a model.
pub(crate) fn load(path: &Path) -> Result<Loaded, Failure> {
    let is_project = crate::io::is_project(path);
    let opened = crate::io::open_any(path, &Task::new()).map_err(Failure::input)?;
    Ok(Loaded {
        document: opened.document,
        findings: opened.findings,
        is_project,
    })
}
