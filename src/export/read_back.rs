//! Reading exported files back from memory.

use super::error::ExportError;
use super::options::Exported;
use crate::document::{ClipId, Document, InstanceId, Parts};
use crate::io::gltf_export::{ExportReport, for_file};
use crate::io::{ImportError, import_written};
use crate::task::{Cancelled, Task};
use bytes::Bytes;
use std::collections::{BTreeMap, BTreeSet};

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

/// Reads the export of a document back from its bytes.
pub fn read_back(
    document: &Document,
    exported: &Exported,
    task: &Task,
) -> Result<ReadBack, ExportError> {
    ReadBack::of(document, exported, None, task)
}

impl ReadBack {
    /// Reads an export back; `read`: the parts, if already read for verification.
    pub(super) fn of(
        document: &Document,
        exported: &Exported,
        read: Option<Document>,
        task: &Task,
    ) -> Result<Self, ExportError> {
        let read = match read {
            Some(read) => read,
            None => {
                task.step("Reading the file back", 0.95)?;
                let drawn = drawn_in(&for_file(document), &exported.report);
                document_of(read_parts(&exported.files, &drawn, task)?)?
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

/// The nodes of an exported file that instantiate what the document does; `document` is the result of [`for_file`].
pub(super) fn drawn_in(document: &Document, report: &ExportReport) -> BTreeSet<InstanceId> {
    if let Some(instances) = &report.instances {
        return instances.values().copied().collect();
    }
    let instances = document.instances().iter();
    let in_file = instances.map(|(&id, drawn)| document.instance_in_file(id, drawn.joint));
    in_file.collect()
}

/// The parsed model, which is the first of `files`, before it becomes a document. Nodes other than `drawn` draw nothing.
pub(super) fn read_parts(
    files: &[(String, Bytes)],
    drawn: &BTreeSet<InstanceId>,
    task: &Task,
) -> Result<Parts, ExportError> {
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
    match import_written(model.clone(), folder.path(), drawn, task) {
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
    use crate::io::{gltf_build, import_bytes, open_sample};
    use crate::sample::{SampleKind, sample};
    use serde_json::Value;
    use std::path::Path;

    /// A file of its own size could draw the mesh less often.
    #[test]
    fn a_file_is_read_back_with_all_instances_of_the_document() {
        let arm = gltf_build::to_glb(&sample(SampleKind::Arm, 120));
        let end = 20 + u32::from_le_bytes(arm[12..16].try_into().unwrap()) as usize;
        let mut json: Value = serde_json::from_slice(&arm[20..end]).unwrap();
        let nodes = json["nodes"].as_array_mut().unwrap();
        let drawn = nodes.iter().find(|node| node.get("mesh").is_some());
        let drawn = drawn.unwrap().clone();
        let first = nodes.len();
        nodes.resize(first + 9000, drawn);
        let roots = json["scenes"][0]["nodes"].as_array_mut().unwrap();
        roots.extend((first..first + 9000).map(Value::from));
        let mut text = serde_json::to_vec(&json).unwrap();
        text.resize(text.len().next_multiple_of(4), b' ');
        let mut glb = arm[..20].to_vec();
        glb[12..16].copy_from_slice(&(text.len() as u32).to_le_bytes());
        glb.extend(text);
        glb.extend(&arm[end..]);
        let length = (glb.len() as u32).to_le_bytes();
        glb[8..12].copy_from_slice(&length);
        let files = [("arm.glb".to_owned(), Bytes::from(glb))];
        let within = import_bytes(files[0].1.clone(), None, None, &Task::new()).unwrap();
        assert!(within.parts.instances.len() < 9001);
        let all = within.parts.instances.keys().copied();
        let left_out = &within.parts.left_out.nodes;
        let all: BTreeSet<InstanceId> = all
            .chain(left_out.iter().map(|drawn| InstanceId(drawn.joint.0)))
            .collect();
        let read = |drawn: &BTreeSet<InstanceId>| {
            let parts = read_parts(&files, drawn, &Task::new()).unwrap();
            parts.instances.keys().copied().collect::<BTreeSet<_>>()
        };
        assert_eq!((all.len(), read(&all)), (9001, all.clone()));
        let some = all.into_iter().skip(7).step_by(100).collect();
        assert_eq!(read(&some), some);
    }

    #[test]
    fn reading_back_can_be_cancelled() {
        let document = open_sample("arm", &Task::new()).unwrap().document;
        let (path, options) = (Path::new("arm.glb"), ExportOptions::default());
        let exported = export_and_read_back(&document, path, &options, &Task::new());
        let exported = exported.unwrap().0;
        let (files, drawn) = (&exported.files, drawn_in(&document, &exported.report));
        let read = read_parts(files, &drawn, &Task::new()).unwrap();
        assert_eq!(read.instances.len(), document.instances().len());
        let task = Task::new();
        task.cancel();
        let cancelled = read_parts(files, &drawn, &task);
        assert!(matches!(cancelled, Err(ExportError::Cancelled(_))));
    }
}
