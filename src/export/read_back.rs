//! Reading exported files back from memory.

use super::error::ExportError;
use super::options::Exported;
use crate::document::{ClipId, Document, InstanceId, Parts};
use crate::io::{ImportError, import_bytes};
use crate::task::{Cancelled, Task};
use bytes::Bytes;
use std::collections::BTreeMap;

/// An exported model, read back from its own bytes.
pub struct ReadBack {
    /// The model in the files.
    pub document: Document,
    /// The clip in the files for each exported clip of the document. Empty if the number of clips differs, so that they
    /// cannot be matched.
    pub clips: BTreeMap<ClipId, ClipId>,
    /// The instance in the files for each instance of the exported document; `None` if the ids are equal.
    pub instances: Option<BTreeMap<InstanceId, InstanceId>>,
}

/// Reads an export back from its bytes.
pub fn read_back(exported: &Exported, task: &Task) -> Result<ReadBack, ExportError> {
    ReadBack::of(exported, None, task)
}

impl ReadBack {
    /// Reads an export back; `read`: the parts, if already read for verification.
    pub(super) fn of(
        exported: &Exported,
        read: Option<Document>,
        task: &Task,
    ) -> Result<Self, ExportError> {
        let read = match read {
            Some(read) => read,
            None => {
                task.step("Reading the file back", 0.95)?;
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

/// The parsed model, which is the first of `files`, before it becomes a document.
pub(super) fn read_parts(files: &[(String, Bytes)], task: &Task) -> Result<Parts, ExportError> {
    let unreadable = |why: String| ExportError::Unreadable { why };
    let folder = tempfile::tempdir().map_err(|error| unreadable(error.to_string()))?;
    // A model of several files is read from a folder, as players do.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::{ExportOptions, export_and_read_back};
    use crate::io::open_sample;
    use std::path::Path;

    #[test]
    fn reading_back_can_be_cancelled() {
        let document = open_sample("arm", &Task::new()).unwrap().document;
        let (path, options) = (Path::new("arm.glb"), ExportOptions::default());
        let exported = export_and_read_back(&document, path, &options, &Task::new());
        let files = exported.unwrap().0.files;
        assert!(read_parts(&files, &Task::new()).is_ok());
        let task = Task::new();
        task.cancel();
        let cancelled = read_parts(&files, &task);
        assert!(matches!(cancelled, Err(ExportError::Cancelled(_))));
    }
}
