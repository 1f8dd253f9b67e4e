//! The files of the recordings on disk: one that another program writes while it is open is a problem, with *Reload*.
//!
//! A thread looks at them: a file may lie on a slow disk.

use super::Editor;
use crate::cluster::channel::{RecordingId, RecordingItem, Recordings};
use crate::editor::files::file_name;
use crate::finding::{Finding, Fix, Place};
use crate::io::motion_item::content_hash;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// How often the files are looked at.
const PERIOD: Duration = Duration::from_secs(1);

/// The files that are watched, and which of them changed.
pub(in crate::editor) struct RecordingWatch {
    watched: Vec<Watched>,
    thread: Option<Link>,
    wake: Arc<dyn Fn() + Send + Sync>,
}

/// The ends of the channels of the thread, which ends when they are dropped.
struct Link {
    files: Sender<Vec<Watched>>,
    changed: Receiver<BTreeSet<RecordingId>>,
}

/// A file with the hash of its content when it was read.
#[derive(Clone, PartialEq)]
struct Watched {
    id: RecordingId,
    path: PathBuf,
    hash: u64,
}

impl RecordingWatch {
    /// Watches nothing yet. `wake` is called when a file changed.
    pub(in crate::editor) fn new(wake: Arc<dyn Fn() + Send + Sync>) -> Self {
        Self {
            watched: Vec::new(),
            thread: None,
            wake,
        }
    }

    /// Whether these are the files that are watched.
    fn is_of(&self, recordings: &Recordings) -> bool {
        let same = |(watched, (id, item)): (&Watched, (&RecordingId, &Arc<RecordingItem>))| {
            watched.id == *id && watched.hash == item.fingerprint && watched.path == item.path
        };
        let n = recordings.values().filter(|item| !item.is_kept()).count();
        self.watched.len() == n && self.watched.iter().zip(with_files(recordings)).all(same)
    }

    fn watch(&mut self, recordings: &Recordings) {
        let watched = with_files(recordings).map(|(&id, item)| Watched {
            id,
            path: item.path.clone(),
            hash: item.fingerprint,
        });
        self.watched = watched.collect();
        if self.thread.is_none() {
            let (files, theirs) = unbounded();
            let (found, changed) = unbounded();
            let wake = self.wake.clone();
            let look = move || look(&theirs, &found, &*wake);
            let thread = std::thread::Builder::new().name("recordings".into());
            // Without a thread no change is noticed; everything else works.
            if thread.spawn(look).is_ok() {
                self.thread = Some(Link { files, changed });
            }
        }
        if let Some(link) = &self.thread {
            let _ = link.files.send(self.watched.clone());
        }
    }
}

impl Editor {
    /// Watches the files of the document's recordings, and reports those that changed. Returns whether there was one.
    pub(in crate::editor) fn watch_recordings(&mut self) -> bool {
        let recordings = self.document.recordings();
        let watch = &mut self.recording_watch;
        if !watch.is_of(recordings) {
            watch.watch(recordings);
        }
        let told = watch.thread.as_ref().map(|link| link.changed.try_iter());
        let Some(changed) = told.and_then(Iterator::last) else {
            return false;
        };
        let items = recordings.iter().filter(|(id, _)| changed.contains(id));
        let findings = items.map(|(id, item)| {
            let why = format!(
                "{} changed on disk. The layers that read it still use its old values.",
                file_name(&item.path)
            );
            Finding::warning(format!("recording \"{}\"", item.name), why)
                .at(Place::Recording(id.0))
                .fixed_by(Some(Fix::Reload))
        });
        let findings = findings.collect();
        self.problems.set_of_files(findings);
        true
    }
}

/// The recordings whose content is not kept by the project.
fn with_files(
    recordings: &Recordings,
) -> impl Iterator<Item = (&RecordingId, &Arc<RecordingItem>)> {
    recordings.iter().filter(|(_, item)| !item.is_kept())
}

/// A file that the thread looks at.
struct File {
    watched: Watched,
    /// Its size and time when its content was looked at last.
    seen: Option<(u64, Option<SystemTime>)>,
    has_changed: bool,
}

impl File {
    fn new(watched: Watched) -> Self {
        Self {
            watched,
            seen: None,
            has_changed: false,
        }
    }

    fn look(&mut self) {
        let now = size_and_time(&self.watched.path);
        if now != self.seen {
            self.seen = now;
            // A file that is gone is a problem when the project is opened again.
            let hash = content_hash(&self.watched.path);
            self.has_changed = hash.is_some_and(|hash| hash != self.watched.hash);
        }
    }
}

fn size_and_time(path: &Path) -> Option<(u64, Option<SystemTime>)> {
    let found = std::fs::metadata(path).ok()?;
    Some((found.len(), found.modified().ok()))
}

/// Looks at the newest list of files in each period, until the other ends of the channels are dropped.
fn look(
    lists: &Receiver<Vec<Watched>>,
    found: &Sender<BTreeSet<RecordingId>>,
    wake: &(dyn Fn() + Send + Sync),
) {
    let mut files: Vec<File> = Vec::new();
    let mut told = BTreeSet::new();
    loop {
        match lists.recv_timeout(PERIOD) {
            Ok(list) => {
                let list = lists.try_iter().last().unwrap_or(list);
                // Files that were looked at before are not read again.
                let mut known = std::mem::take(&mut files);
                let files_of = list.into_iter().map(|watched| {
                    let at = known.iter().position(|file| file.watched == watched);
                    at.map_or_else(|| File::new(watched), |at| known.swap_remove(at))
                });
                files = files_of.collect();
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        files.iter_mut().for_each(File::look);
        let changed = files.iter().filter(|file| file.has_changed);
        let changed: BTreeSet<RecordingId> = changed.map(|file| file.watched.id).collect();
        if changed != told {
            told.clone_from(&changed);
            if found.send(changed).is_err() {
                return;
            }
            wake();
        }
    }
}
