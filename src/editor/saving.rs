//! Saving the project, and the question when it or its model changed on disk since it was opened.

use super::Editor;
use super::files::{FileJob, Saved, file_name};
use super::jobs::EditorJob;
use crate::evaluate::JobError;
use crate::io::project::{self, ProjectError, Stamps};
use std::path::{Path, PathBuf};

/// A save that would have replaced what another program wrote; nothing was saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SaveConflict {
    /// Where the project was to be saved.
    pub project: PathBuf,
    /// The file that changed on disk: the project or the model.
    pub changed: PathBuf,
    /// Whether that is the model.
    pub is_model: bool,
}

impl Editor {
    /// Saves the project to `path`, which becomes the project's path. If the open project or its model changed on disk,
    /// nothing is saved and [`Editor::save_conflict`] says so.
    pub fn save_as(&mut self, path: &Path) {
        let path = crate::io::project_path(path);
        let is_same = self.project_path.as_deref() == Some(&*path);
        let known = Stamps {
            // Any other file was chosen, and confirmed, by its name.
            project: self.stamps.project.clone().filter(|_| is_same),
            model: self.stamps.model.clone(),
        };
        self.start_save(path, known);
    }

    fn start_save(&mut self, path: PathBuf, known: Stamps) {
        if !self.can_start_file_job() {
            return;
        }
        self.finish_tool();
        self.conflict = None;
        let (document, target) = (self.document.clone(), path.clone());
        let label = format!("Saving {}", file_name(&path));
        let job = self.lane.submit(EditorJob::Save, &label, move |task| {
            project::save_unless_changed(&document, &target, &known, task)
        });
        self.job = Some(FileJob::Save {
            path,
            revision: self.history.revision(),
            job,
        });
    }

    /// The save that was refused, until it is answered.
    pub fn save_conflict(&self) -> Option<&SaveConflict> {
        self.conflict.as_ref()
    }

    /// Saves in spite of the changes on disk: over the project, or beside the changed model.
    pub fn save_over_conflict(&mut self) {
        if let Some(conflict) = self.accept_conflict() {
            self.start_save(conflict.project, Stamps::default());
        }
    }

    /// Drops the refused save because it goes to another file.
    pub fn give_up_conflict_for_copy(&mut self) {
        self.accept_conflict();
    }

    /// Drops the refused save; the next one asks again.
    pub fn give_up_conflict(&mut self) {
        self.conflict = None;
    }

    /// Takes the conflict. A changed model is asked about once; the project keeps the fingerprint of the model that was
    /// edited, so that the change is reported when it is opened.
    fn accept_conflict(&mut self) -> Option<SaveConflict> {
        let conflict = self.conflict.take()?;
        if conflict.is_model {
            self.stamps.model = None;
        }
        Some(conflict)
    }

    pub(super) fn finish_saving(
        &mut self,
        path: PathBuf,
        revision: u64,
        result: Result<Saved, JobError>,
    ) {
        match result {
            Err(error @ JobError::Failed) => self.notify_error(error.to_string()),
            Ok(Ok(stamp)) => {
                // Edits made in the meantime are not in the file.
                if revision == self.history.revision() {
                    self.history.mark_saved();
                    self.discard_autosave();
                }
                self.saved_at = Some(std::time::Instant::now());
                self.notify(format!("Saved {}.", file_name(&path)));
                self.stamps.project = stamp;
                self.project_path = Some(path);
            }
            Err(JobError::Cancelled) | Ok(Err(ProjectError::Cancelled(_))) => {
                self.notify("Saving was cancelled. The file is unchanged.");
            }
            Ok(Err(ProjectError::ChangedOnDisk {
                path: changed,
                is_model,
            })) => {
                self.conflict = Some(SaveConflict {
                    project: path,
                    changed,
                    is_model,
                });
            }
            Ok(Err(error)) => self.notify_error(error.to_string()),
        }
    }
}
