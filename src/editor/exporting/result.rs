//! A computed export, and whether it is current.

use crate::document::Document;
use crate::evaluate::ExportedModel;
use crate::export::{
    CorrectionReport, ExportError, ExportOptions, ExportReport, Exported, export_and_read_back,
};
use crate::task::Task;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A computed export.
#[derive(Clone, Debug)]
pub struct ExportResult {
    pub(super) path: PathBuf,
    pub(super) revision: u64,
    pub(super) options: ExportOptions,
    pub(super) exported: Arc<Exported>,
    pub(super) model: Arc<ExportedModel>,
}

/// Whether a computed export is current.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nothing was computed.
    None,
    /// It is what a save would write.
    Current,
    /// The model was edited since.
    ModelChanged,
    /// The options were changed since.
    OptionsChanged,
    /// The path changed, which names the accompanying files.
    PlaceChanged,
}

impl ExportResult {
    /// Names and bytes of the files; the model comes first.
    pub fn exported(&self) -> &Exported {
        &self.exported
    }

    /// The report of the export.
    pub fn report(&self) -> &ExportReport {
        &self.exported.report
    }

    /// The report of the correction, if one was chosen.
    pub fn correction(&self) -> Option<&CorrectionReport> {
        self.exported.correction.as_ref()
    }

    /// The model read back from the files.
    pub fn model(&self) -> &ExportedModel {
        &self.model
    }

    /// The total size of all files, bytes.
    pub fn n_bytes(&self) -> usize {
        self.exported.files.iter().map(|(_, b)| b.len()).sum()
    }
}

impl Standing {
    /// The message about an outdated result; `None` if it is current.
    pub fn sentence(self) -> Option<&'static str> {
        match self {
            Self::None | Self::Current => None,
            Self::ModelChanged => Some("The model changed. Compute again."),
            Self::OptionsChanged => Some("The options changed. Compute again."),
            Self::PlaceChanged => {
                Some("The path changed, and with it the names of the file's parts. Compute again.")
            }
        }
    }
}

/// Computes an export in memory and reads it back from its bytes.
pub(super) fn compute(
    document: &Document,
    path: &Path,
    revision: u64,
    options: ExportOptions,
    task: &Task,
) -> Result<ExportResult, ExportError> {
    let (exported, read) = export_and_read_back(document, path, &options, task)?;
    Ok(ExportResult {
        path: path.to_owned(),
        revision,
        options,
        exported: Arc::new(exported),
        model: Arc::new(ExportedModel::new(
            read.document,
            read.clips,
            read.instances,
        )),
    })
}
