//! A model or project by its path.

use super::Failure;
use super::args::PoseArgs;
use crate::document::Document;
use crate::finding::Finding;
use crate::io::{Output, Outputs};
use crate::task::Task;
use std::path::Path;

/// A document and the findings of its import.
pub(crate) struct Loaded {
    pub(crate) document: Document,
    pub(crate) findings: Vec<Finding>,
    /// Whether it is a project: then its own stack and pose are the defaults.
    pub(crate) is_project: bool,
    /// Keeps what was read, `path` and all that it refers to, from being written over.
    pub(crate) outputs: Outputs,
}

impl Loaded {
    /// The output `path` of a call that also reads the pose file of `pose`.
    pub(crate) fn claim(&mut self, path: &Path, pose: &PoseArgs) -> Result<Output, Failure> {
        if let Some(pose) = &pose.pose {
            self.outputs.protect(pose, "the pose file");
        }
        self.outputs.claim(path).map_err(Failure::input)
    }
}

/// Loads `path` by its extension: `.ron` is a project, everything else a model.
pub(crate) fn load(path: &Path) -> Result<Loaded, Failure> {
    let is_project = crate::io::is_project(path);
    let opened = crate::io::open_any(path, &Task::new()).map_err(Failure::input)?;
    let mut outputs = Outputs::of(&opened.document);
    if is_project {
        outputs.protect_project(path);
    }
    Ok(Loaded {
        outputs,
        document: opened.document,
        findings: opened.findings,
        is_project,
    })
}
