//! Reading exported files back from their bytes.

use super::error::ExportError;
use super::options::Exported;
use crate::document::{ClipId, Document, InstanceId, Parts};
use crate::io::{ImportError, import_bytes};
use crate::task::{Cancelled, Task};
use bytes::Bytes;
use std::collections::BTreeMap;

/// An exported model, opened again from its own bytes.
pub struct ReadBack {
    /// What is in the files.
    pub document: Document,
    /// For each clip of the document that was exported, the one that the files hold. Empty where they hold another
    /// number of clips: then they cannot be matched.
    pub clips: BTreeMap<ClipId, ClipId>,
    /// What draws each instance of the exported document there; `None`: the one of the same id.
    pub instances: Option<BTreeMap<InstanceId, InstanceId>>,
}

/// Reads what was exported from its bytes.
pub fn read_back(exported: &Exported, task: &Task) -> Result<ReadBack, ExportError> {
    ReadBack::of(exported, None, task)
}

impl ReadBack {
    /// What was exported; `read`: as it was read already for a check.
    pub(super) fn of(
        exported: &Exported,
        read: Option<Document>,
        task: &Task,
    ) -> Result<Self, ExportError> {
        let read = match read {
            Some(read) => read,
            None => {
                task.step("Reading the written file again", 0.95)?;
                document_of(read_parts(&exported.files, task)?)?
            }
        };
        let own = &exported.report.clips;
        let clips = if own.len() == read.clips().len() {
            let pairs = own.iter().zip(read.clips().keys());
            pairs.map(|(own, read)| (*own, *read)).collect()
        } else {
            BTreeMap::new()
        };
        Ok(ReadBack {
            document: read,
            clips,
            instances: exported.report.instances.clone(),
        })
    }
}

/// The model that comes first of `files`, read from its bytes with those of the others, before it is a document.
pub(super) fn read_parts(files: &[(String, Bytes)], task: &Task) -> Result<Parts, ExportError> {
    let unreadable = |why: String| ExportError::Unreadable { why };
    let folder = tempfile::tempdir().map_err(|error| unreadable(error.to_string()))?;
    // A model of several files is read from a folder, as a player does.
    for (name, bytes) in files.iter().skip(1) {
        let path = folder.path().join(name);
        let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
        made.and_then(|()| std::fs::write(&path, bytes))
            .map_err(|error| unreadable(error.to_string()))?;
    }
    let Some((_, model)) = files.first() else {
        return Err(unreadable("nothing was written".into()));
    };
    match import_bytes(model.clone(), Some(folder.path()), None, task) {
        Ok(imported) => Ok(imported.parts),
        Err(ImportError::Cancelled) => Err(Cancelled.into()),
        Err(error) => Err(unreadable(error.to_string())),
    }
}

pub(super) fn document_of(parts: Parts) -> Result<Document, ExportError> {
    Document::new(parts).map_err(|error| ExportError::Unreadable {
        why: error.to_string(),
    })
}
