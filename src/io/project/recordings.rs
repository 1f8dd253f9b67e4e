//! Recordings <-> the project format: their paths and fingerprints, as of the model.

use super::ProjectError;
use super::paths;
use super::recording_entries::RecordingEntry;
use crate::cluster::channel::RecordingId;
use crate::document::{Document, Edit};
use crate::finding::{Finding, Place};
use crate::io::channels::{built_in_item, read_item};
use crate::sample::recording;
use crate::task::Task;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The recordings of a document whose project is saved at `project_path`; with `None` their paths stay absolute.
pub(super) fn collect(document: &Document, project_path: Option<&Path>) -> Vec<RecordingEntry> {
    let entries = document.recordings().iter();
    let entries = entries.map(|(id, item)| RecordingEntry {
        recording: id.0,
        title: item.name.clone(),
        path: match project_path {
            _ if item.path.to_str().is_some_and(is_built_in) => paths::text(&item.path),
            Some(project) => paths::relative(&paths::folder_of(project), &item.path),
            None => paths::text(&paths::real(&item.path)),
        },
        fingerprint: format!("{:016x}", item.fingerprint),
    });
    entries.collect()
}

/// What the path of a recording begins with that ships with a sample, in a project without a folder: Sinew has its content.
const BUILT_IN: &str = "sample:";

fn is_built_in(path: &str) -> bool {
    path.strip_prefix(BUILT_IN).and_then(recording).is_some()
}

/// Takes recordings that ship with a sample from Sinew itself: for the text of a sample project, which has no folder.
pub(super) fn take_built_in(entries: &mut [RecordingEntry]) {
    for entry in entries {
        if recording(&entry.path).is_some() {
            entry.path = format!("{BUILT_IN}{}", entry.path);
        }
    }
}

/// Makes the paths of a project in `folder` absolute.
pub(super) fn resolve(entries: &mut [RecordingEntry], folder: &Path) {
    for entry in entries.iter_mut().filter(|entry| !is_built_in(&entry.path)) {
        entry.path = paths::text(&paths::resolve(folder, &entry.path));
    }
}

/// Adds the recordings to the document. A file that is gone or cannot be read is kept as an item without content, a changed
/// one is read; both are findings.
pub(super) fn restore(
    entries: Vec<RecordingEntry>,
    document: &mut Document,
    findings: &mut Vec<Finding>,
    task: &Task,
) -> Result<(), ProjectError> {
    for entry in entries {
        task.check()?;
        let place = format!("recording \"{}\"", entry.title);
        let id = RecordingId(entry.recording);
        if document.recordings().contains_key(&id) {
            let why = "Its number is listed twice; the second entry is skipped.";
            findings.push(Finding::warning(place, why));
            continue;
        }
        let known = u64::from_str_radix(&entry.fingerprint, 16).unwrap_or(0);
        let built_in = entry.path.strip_prefix(BUILT_IN).and_then(recording);
        let path = PathBuf::from(entry.path);
        let item = match built_in {
            Some(text) => built_in_item(entry.title, path, &text, task)?,
            None => read_item(entry.title, &path, known, task)?,
        };
        if item.content.is_ok() && item.fingerprint != known {
            let why =
                "The file has changed since the project was saved; what it holds now is used.";
            findings.push(Finding::warning(&place, why).at(Place::Recording(id.0)));
        }
        let recording = Some(Arc::new(item));
        if let Err(why) = document.apply(&mut Edit::Recording { id, recording }) {
            findings.push(Finding::warning(place, format!("It is skipped: {why}.")));
        }
    }
    Ok(())
}
