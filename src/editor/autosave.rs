//! Autosave: writes unsaved work once a minute to a file of its own, from which it is restored after a crash.

use super::Editor;
use super::jobs::EditorJob;
use crate::evaluate::{JobError, JobHandle};
use crate::io::project::{Autosaves, ProjectError, Recoverable};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Interval between autosaves of a modified document.
const EVERY: Duration = Duration::from_mins(1);

/// The autosave state of the open document.
pub(super) struct Autosave {
    place: Option<Autosaves>,
    running: Option<Running>,
    /// The document's recovery file: its latest autosave, or the one it was restored from.
    file: Option<PathBuf>,
    /// The history revision stored in `file`.
    revision: Option<u64>,
    latest: Instant,
    /// The number of autosaves written.
    n_kept: u64,
    has_failed: bool,
}

struct Running {
    job: JobHandle<Result<PathBuf, ProjectError>>,
    /// The saved model.
    model_serial: u64,
    /// The file is to be deleted.
    discards: bool,
}

impl Autosave {
    pub(super) fn new(place: Option<Autosaves>) -> Self {
        Self {
            place,
            running: None,
            file: None,
            revision: None,
            latest: Instant::now(),
            n_kept: 0,
            has_failed: false,
        }
    }

    /// Resets the state for another document; `restored` is the autosave it was opened from. Files of the previous
    /// document stay: whoever closed it has already decided about them.
    pub(super) fn start_document(&mut self, restored: Option<PathBuf>) {
        self.file = restored;
        self.revision = None;
        self.latest = Instant::now();
    }
}

impl Editor {
    /// Autosaves that were never saved as projects.
    pub fn recoverable(&self) -> Vec<Recoverable> {
        self.autosave
            .place
            .as_ref()
            .map(Autosaves::recoverable)
            .unwrap_or_default()
    }

    /// The recovery file of the unsaved document, and the number of autosaves so far.
    pub fn latest_autosave(&self) -> Option<(&Path, u64)> {
        let file = self.autosave.file.as_deref()?;
        Some((file, self.autosave.n_kept))
    }

    /// Deletes an autosave.
    pub fn discard_recoverable(&mut self, path: &Path) {
        let result = self
            .autosave
            .place
            .as_ref()
            .map(|place| place.discard(path));
        if let Some(Err(error)) = result {
            self.notify_error(error.to_string());
        }
    }

    /// Keeps an autosave for this window; false if another one has it.
    pub(super) fn claim_autosave(&self, path: &Path) -> bool {
        let place = self.autosave.place.as_ref();
        place.is_none_or(|place| place.claim(path))
    }

    /// Lets other windows offer an autosave again.
    pub(super) fn release_autosave(&self, path: &Path) {
        let is_shown = self.autosave.file.as_deref() == Some(path);
        if let Some(place) = self.autosave.place.as_ref().filter(|_| !is_shown) {
            place.release(path);
        }
    }

    /// Deletes the document's recovery file, because the document was saved or is closed without saving.
    pub fn discard_autosave(&mut self) {
        let autosave = &mut self.autosave;
        let running = autosave.running.as_mut();
        if let Some(running) = running.filter(|r| r.model_serial == self.model_serial) {
            running.job.task().cancel();
            running.discards = true;
        }
        // If the document stays open after all, the next autosave writes it again.
        autosave.revision = None;
        if let Some(file) = autosave.file.take() {
            self.discard_recoverable(&file);
        }
    }

    /// Starts an autosave of the current state.
    pub fn autosave_now(&mut self) {
        let Some(place) = self.autosave.place.clone() else {
            return;
        };
        self.autosave.latest = Instant::now();
        self.autosave.revision = Some(self.history.revision());
        let (document, project) = (self.document.clone(), self.project_path.clone());
        let n_steps = self.history.n_unsaved_steps();
        let job = self
            .lane
            .submit(EditorJob::Autosave, "Autosave", move |task| {
                place.save_with_steps(&document, project.as_deref(), n_steps, task)
            });
        self.autosave.running = Some(Running {
            job,
            model_serial: self.model_serial,
            discards: false,
        });
    }

    /// Takes the result of an autosave that has ended.
    pub(super) fn take_autosave(&mut self) {
        let running = &mut self.autosave.running;
        let Some(running) = running.take_if(|running| running.job.has_ended()) else {
            return;
        };
        let is_of_model = running.model_serial == self.model_serial;
        match running.job.into_result() {
            Ok(Ok(path)) if running.discards => self.discard_recoverable(&path),
            Ok(Ok(path)) if is_of_model => self.keep_autosave(path),
            // Of a model that was replaced: its file stays, and so does that of the current model.
            Ok(Ok(_)) => {}
            Ok(Err(ProjectError::Cancelled(_))) | Err(JobError::Cancelled | JobError::Failed) => {
                if is_of_model {
                    self.autosave.revision = None;
                }
            }
            Ok(Err(error)) => {
                // Reported once: it would repeat every minute.
                if !std::mem::replace(&mut self.autosave.has_failed, true) {
                    self.notify_error(format!("Autosave failed: {error}"));
                }
            }
        }
    }

    /// Starts the next autosave if the document changed and the interval has passed. Returns whether it did something.
    pub(super) fn start_autosave(&mut self) -> bool {
        if self.autosave.running.is_some() {
            return false;
        }
        if !self.history.is_modified() {
            // Everything was undone, so the file holds nothing that would be lost.
            let has_file = self.autosave.file.is_some();
            if has_file {
                self.discard_autosave();
            }
            return has_file;
        }
        let is_new = self.autosave.revision != Some(self.history.revision());
        let starts = is_new
            && self.autosave.place.is_some()
            && self.autosave.latest.elapsed() >= EVERY
            && !self.is_painting()
            && !self.is_saving();
        if starts {
            self.autosave_now();
        }
        starts
    }

    fn keep_autosave(&mut self, path: PathBuf) {
        self.autosave.n_kept += 1;
        let older = self.autosave.file.replace(path);
        if let Some(older) = older.filter(|older| Some(older) != self.autosave.file.as_ref()) {
            self.discard_recoverable(&older);
        }
    }
}
