//! Recordings of the document: read in the background, read again, found again, removed. Each change is one undo step.

use super::Editor;
use crate::cluster::channel::{RecordingId, RecordingItem};
use crate::document::{Document, Edit, EditError};
use crate::editor::correctives::free_name;
use crate::editor::files::file_name;
use crate::editor::jobs::EditorJob;
use crate::evaluate::{JobError, JobHandle};
use crate::finding::{counted, trimmed};
use crate::io::motion_item::read_item;
use crate::motion::Timing;
use crate::task::Cancelled;
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

/// The chosen recording, those being read, and the one whose file is asked for.
#[derive(Default)]
pub(in crate::editor) struct RecordingFiles {
    active: Option<RecordingId>,
    relink: Option<RecordingId>,
    reading: VecDeque<Reading>,
}

struct Reading {
    /// The recording that it replaces; `None` adds one.
    of: Option<RecordingId>,
    /// What it was made of, where that is what the document has.
    changes: Option<Arc<RecordingItem>>,
    verb: &'static str,
    job: JobHandle<Result<RecordingItem, Cancelled>>,
    /// The bones that were renamed meanwhile: the names before and after.
    renamed: Vec<[String; 2]>,
}

/// The message where an undo ended a change of sample times.
pub(in crate::editor) const NOT_TIMED: &str =
    "The times of the samples were not changed, because you undid an earlier step meanwhile.";

impl RecordingFiles {
    /// Drops everything, for another model.
    pub(in crate::editor) fn forget_model(&mut self) {
        for reading in &self.reading {
            reading.job.task().cancel();
        }
        *self = Self::default();
    }
}

impl Editor {
    /// The recording that the Clusters panel shows: the chosen one, else the first.
    pub fn active_recording(&self) -> Option<RecordingId> {
        let recordings = self.document.recordings();
        let chosen = self.recording_files.active;
        chosen
            .filter(|id| recordings.contains_key(id))
            .or_else(|| recordings.keys().next().copied())
    }

    /// Shows a recording in the Clusters panel.
    pub fn choose_recording(&mut self, recording: RecordingId) {
        self.recording_files.active = Some(recording);
    }

    /// Reads a file of recorded channels (CSV, TRC or JSON lines) and adds it, in the background. One that the document has is read again.
    pub fn add_recording(&mut self, path: &Path) {
        if self.document.skeleton().is_empty() && self.document.meshes().is_empty() {
            self.notify(
                "Open a model first: a recording moves its joints or its control clusters.",
            );
            return;
        }
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let mut known = self.document.recordings().iter();
        if let Some((&id, _)) =
            known.find(|(_, item)| item.path == absolute && item.motion.is_none())
        {
            self.reload_recording(id);
            return;
        }
        let stem = path.file_stem().unwrap_or(path.as_os_str());
        let stem = stem.to_string_lossy().into_owned();
        self.read_recording(None, stem, path, "Add recording");
    }

    /// Reads the file of a recording again.
    pub fn reload_recording(&mut self, recording: RecordingId) {
        let item = self.document.recordings().get(&recording).cloned();
        if let Some(item) = item.filter(|item| !item.is_kept()) {
            let (name, path) = (item.name.clone(), item.path.clone());
            self.read_recording(Some(recording), name, &path, "Reload recording");
        }
    }

    /// Reads a recording from another file. Its layers stay: they find their channels by name.
    pub fn relink_recording(&mut self, recording: RecordingId, path: &Path) {
        if let Some(item) = self.document.recordings().get(&recording) {
            let name = item.name.clone();
            self.read_recording(Some(recording), name, path, "Relink recording");
        }
    }

    /// Removes a recording. One that a layer reads stays, and the reason is said.
    pub fn remove_recording(&mut self, recording: RecordingId) {
        let Some(item) = self.document.recordings().get(&recording) else {
            return;
        };
        let label = format!("Remove recording · {}", item.name);
        self.finish_tool();
        let edit = Edit::Recording {
            id: recording,
            recording: None,
        };
        if let Err(error) = self.apply(edit, &label) {
            self.notify_error(super::sentence(&error));
        }
    }

    /// Reads the times of the samples of a recording as stamped, or at a regular rate, in the background. Where a clip was retargeted
    /// from it, that is retargeted again. One undo step; a rate that is not regular is refused.
    pub fn set_recording_timing(&mut self, recording: RecordingId, timing: Timing) {
        self.finish_tool();
        let Some(item) = self.document.recordings().get(&recording).cloned() else {
            return;
        };
        if item.timing == timing {
            return;
        }
        let clip = item.motion.as_ref().and_then(|motion| motion.clip);
        if clip.is_some_and(|clip| self.document.clips().contains_key(&clip)) {
            self.retarget_with_timing(recording, timing);
            return;
        }
        let label = format!("Changing the times of {}", item.name);
        let before = item.clone();
        let job = self
            .lane
            .submit(EditorJob::ReadRecording, &label, move |_| {
                Ok(item.timed(timing).unwrap_or_else(|why| {
                    let content = Err(format!("{} stays as it is: {why}", item.name));
                    RecordingItem {
                        content,
                        ..RecordingItem::clone(&item)
                    }
                }))
            });
        self.recording_files.reading.push_back(Reading {
            of: Some(recording),
            changes: Some(before),
            verb: "Change times",
            job,
            renamed: Vec::new(),
        });
    }

    /// Asks for another file of a recording.
    pub fn ask_for_recording_file(&mut self, recording: RecordingId) {
        self.recording_files.relink = Some(recording);
    }

    /// The recording whose file is asked for.
    pub fn recording_to_relink(&self) -> Option<RecordingId> {
        let wanted = self.recording_files.relink?;
        let recordings = self.document.recordings();
        recordings.contains_key(&wanted).then_some(wanted)
    }

    /// Asks no longer for the file of a recording.
    pub fn give_up_relinking_recording(&mut self) {
        self.recording_files.relink = None;
    }

    fn read_recording(
        &mut self,
        of: Option<RecordingId>,
        name: String,
        path: &Path,
        verb: &'static str,
    ) {
        let theirs = path.to_owned();
        let known = of
            .and_then(|id| self.document.recordings().get(&id))
            .cloned();
        let label = format!("Reading {}", file_name(path));
        let job = self
            .lane
            .submit(EditorJob::ReadRecording, &label, move |task| {
                let hash = known.as_ref().map_or(0, |known| known.fingerprint);
                let motion = known.as_ref().and_then(|known| known.motion.as_deref());
                let mut item = read_item(name, &theirs, motion, hash, task)?;
                match known {
                    Some(known) => {
                        // A file that has no regular rate is as good as one that cannot be read.
                        item = match item.with_timing(known.timing) {
                            Ok(item) => item,
                            Err(why) => {
                                let why = format!("{} is not read again: {why}", item.name);
                                item.content = Err(why);
                                item
                            }
                        };
                        item.clock = known.clock;
                        item.stamps.clone_from(&known.stamps);
                    }
                    None => item.clock = item.first_clock(),
                }
                Ok(item)
            });
        self.recording_files.reading.push_back(Reading {
            of,
            changes: None,
            verb,
            job,
            renamed: Vec::new(),
        });
    }

    /// Adds the result of `work`, in the background.
    pub(in crate::editor) fn take_recorded(
        &mut self,
        verb: &'static str,
        work: impl FnOnce() -> RecordingItem + Send + 'static,
    ) {
        let job = self
            .lane
            .submit(EditorJob::ReadRecording, verb, move |_| Ok(work()));
        self.recording_files.reading.push_back(Reading {
            of: None,
            changes: None,
            verb,
            job,
            renamed: Vec::new(),
        });
    }

    /// Lets the recordings that are being read follow a renamed bone.
    pub(in crate::editor) fn rename_bone_in_pending_recordings(&mut self, from: &str, to: &str) {
        for reading in &mut self.recording_files.reading {
            reading.renamed.push([from.to_owned(), to.to_owned()]);
        }
    }

    /// Adds or replaces a recording, as part of the open step or as one called `label`. Where its samples get other times, the reference
    /// times of data follow.
    pub(in crate::editor) fn replace_recording(
        &mut self,
        id: RecordingId,
        item: RecordingItem,
        label: &str,
    ) -> Result<(), EditError> {
        let following = self.document.follow_timed_recording(id, &item);
        let is_own = !(following.is_empty() || self.history.is_open());
        if is_own {
            self.history.begin(&self.document, label);
        }
        let recording = Some(Arc::new(item));
        let edits = std::iter::once(Edit::Recording { id, recording }).chain(following);
        for edit in edits {
            if let Err(error) = self.apply(edit, label) {
                if is_own {
                    self.cancel_step();
                }
                return Err(error);
            }
        }
        if is_own {
            self.history.commit(&self.document);
        }
        Ok(())
    }

    /// Takes a recording that was read.
    pub(in crate::editor) fn take_recording(&mut self) {
        let reading = &mut self.recording_files.reading;
        let ended = reading.iter().position(|reading| reading.job.has_ended());
        let Some(Reading {
            of,
            changes,
            verb,
            job,
            renamed,
        }) = ended.and_then(|at| reading.remove(at))
        else {
            return;
        };
        let mut item = match job.into_result() {
            Ok(Ok(item)) => item,
            Ok(Err(Cancelled)) | Err(JobError::Cancelled) => {
                self.notify("Reading the recording was cancelled.");
                return;
            }
            Err(error @ JobError::Failed) => {
                self.notify_error(error.to_string());
                return;
            }
        };
        if let Err(why) = &item.content {
            let why = format!("{why}.");
            self.notify_error(why);
            return;
        }
        if let Some(motion) = item.motion.as_mut().filter(|_| !renamed.is_empty()) {
            for [from, to] in &renamed {
                for binding in &mut Arc::make_mut(motion).settings.bindings {
                    binding.to.rename_joint(from, to);
                }
            }
        }
        let id = match of {
            Some(id) if self.document.recordings().contains_key(&id) => id,
            // It was removed while its file was read.
            Some(_) => return,
            None => {
                item.name = free_recording_name(&self.document, &item.name);
                self.document.free_recording()
            }
        };
        let known = self.document.recordings().get(&id);
        if let (Some(known), Some(before)) = (known, &changes)
            && !Arc::ptr_eq(known, before)
        {
            // It was edited meanwhile: what was made of it before is not what is there now.
            if self.history.redo_label().is_some() {
                return self.notify(NOT_TIMED);
            }
            return self.set_recording_timing(id, item.timing);
        }
        if known.map(|known| &**known) == Some(&item) {
            self.notify(format!("{} has not changed.", item.name));
            return;
        }
        let label = format!("{verb} · {}", item.name);
        let said = summary(&item);
        match self.replace_recording(id, item, &label) {
            Ok(()) => {
                self.recording_files.active = Some(id);
                self.notify(said);
            }
            Err(error) => self.notify_error(super::sentence(&error)),
        }
    }
}

/// A name that no recording of the document has.
pub(in crate::editor) fn free_recording_name(document: &Document, wanted: &str) -> String {
    let names = document.recordings().values();
    free_name(wanted, &names.map(|item| item.name.as_str()))
}

/// What was read, in one sentence.
fn summary(item: &RecordingItem) -> String {
    let Some(of) = item.recording() else {
        return String::new();
    };
    let rate = of.sample_rate();
    let rate = rate.map_or_else(String::new, |rate| {
        format!(" at {} Hz", trimmed((rate * 10.0).round() / 10.0))
    });
    let notes = match of.notes.len() {
        0 => String::new(),
        n => format!(" {} about its lines: see Problems.", counted(n, "note")),
    };
    format!(
        "{}: {}, {}{rate}.{notes}",
        item.name,
        counted(of.n_channels(), "channel"),
        counted(of.times.len(), "sample"),
    )
}
