//! Autosaves: projects that Sinew saves in a folder of its own, for recovery after a crash.
//!
//! A window locks a file beside each autosave that it wrote or restored. The system releases the lock when the program
//! ends in any way, so that other windows offer what a crash left, and leave alone what a living window still writes.

use super::v11::{ModelRef, Project, VERSION};
use super::{ProjectError, collect, file, migrate, paths, to_project};
use crate::document::Document;
use crate::io::lock::{FileLock, is_held_elsewhere};
use crate::task::Task;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;
use xxhash_rust::xxh3::xxh3_64;

/// The folder of autosaves. Clones are the same window.
#[derive(Clone, Debug)]
pub struct Autosaves {
    folder: PathBuf,
    /// Differs for each running program, so that two windows on one model write different files.
    session: u32,
    /// The locks of the autosaves of this window.
    locks: Arc<Mutex<BTreeMap<PathBuf, FileLock>>>,
}

/// An autosave that is newer than the project that the user saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recoverable {
    /// The path of the autosave, which opens like a project.
    pub path: PathBuf,
    /// The model's name.
    pub model_name: String,
    /// When it was saved.
    pub modified: SystemTime,
    /// The user's project; `None` for a model that was never saved as one.
    pub project: Option<PathBuf>,
    /// Steps since the user last saved, where known.
    pub unsaved_steps: Option<u64>,
}

impl Autosaves {
    /// The autosaves of the user: in `SINEW_STATE_DIR` if it is set, else in the system's folder for application state.
    pub fn of_user() -> Result<Self, ProjectError> {
        let state = match std::env::var_os("SINEW_STATE_DIR") {
            Some(folder) if !folder.is_empty() => PathBuf::from(folder),
            _ => {
                let folders = directories::ProjectDirs::from("", "", "sinew")
                    .ok_or(ProjectError::NoStateFolder)?;
                let state = folders.state_dir().unwrap_or(folders.data_local_dir());
                state.to_owned()
            }
        };
        Ok(Self::in_folder(state.join("autosave")))
    }

    /// The autosaves in `folder`, which need not exist yet.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        let started = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .map_or(0, |t| t.as_nanos());
        let session = xxh3_64(format!("{} {started}", std::process::id()).as_bytes()) as u32;
        Self {
            folder: folder.into(),
            session,
            locks: Arc::default(),
        }
    }

    /// The path of the autosave of `document`: one file for each project, or for each model without one, and running
    /// program.
    pub fn path_of(&self, document: &Document, project: Option<&Path>) -> PathBuf {
        let name = |path: &Path| {
            path.file_stem()
                .map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
        };
        let (name, key) = match (project, document.source()) {
            (Some(project), _) => (name(project), paths::text(&paths::real(project))),
            (None, Some(source)) => {
                let name = collect::model_name(source);
                let key = match &source.path {
                    Some(path) => paths::text(&paths::real(path)),
                    None => format!("sample:{name}"),
                };
                (name, format!("model:{key}"))
            }
            (None, None) => ("unnamed".into(), String::new()),
        };
        // The hash distinguishes equal names in different folders.
        self.folder.join(format!(
            "{name}-{:016x}-{:08x}.ron",
            xxh3_64(key.as_bytes()),
            self.session
        ))
    }

    /// Saves `document` and returns the path; `project` is the user's own file, if there is one.
    pub fn save(
        &self,
        document: &Document,
        project: Option<&Path>,
        task: &Task,
    ) -> Result<PathBuf, ProjectError> {
        self.save_with_steps(document, project, None, task)
    }

    /// As [`Autosaves::save`], with the number of steps since the user last saved.
    pub fn save_with_steps(
        &self,
        document: &Document,
        project: Option<&Path>,
        unsaved_steps: Option<u64>,
        task: &Task,
    ) -> Result<PathBuf, ProjectError> {
        task.step("Saving", 0.0)?;
        fs::create_dir_all(&self.folder)
            .map_err(|error| ProjectError::write(&self.folder, &error))?;
        let path = self.path_of(document, project);
        self.claim(&path);
        let saved = Project {
            recovers: project.map(|project| paths::text(&paths::real(project))),
            unsaved_steps,
            ..to_project(document, None)?
        };
        file::write(&saved, &path, task)?;
        Ok(path)
    }

    /// Locks the autosave at `path` for this window, which keeps others from offering and deleting it. Returns whether it
    /// is this window's now; false if another window has it. Where the file system has no locks, nobody is kept away.
    pub fn claim(&self, path: &Path) -> bool {
        let mut locks = self.locks();
        if locks.contains_key(path) {
            return true;
        }
        match FileLock::acquire(&lock_path(path)) {
            Ok(Some(lock)) => {
                locks.insert(path.to_owned(), lock);
                true
            }
            Ok(None) => false,
            Err(_) => true,
        }
    }

    /// Gives the autosave at `path` back to all windows.
    pub fn release(&self, path: &Path) {
        if self.locks().remove(path).is_some() {
            // Without its autosave the lock file is of no use.
            if !path.exists() {
                let _ = fs::remove_file(lock_path(path));
            }
        }
    }

    /// Whether another window wrote or restored the autosave at `path` and still runs.
    pub fn is_of_another_window(&self, path: &Path) -> bool {
        !self.locks().contains_key(path) && is_held_elsewhere(&lock_path(path))
    }

    fn locks(&self) -> MutexGuard<'_, BTreeMap<PathBuf, FileLock>> {
        self.locks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The autosaves to offer, newest first: readable, newer than the project that they belong to, and of no other window
    /// that still runs.
    pub fn recoverable(&self) -> Vec<Recoverable> {
        let mut found: Vec<Recoverable> = fs::read_dir(&self.folder)
            .into_iter()
            .flatten()
            .filter_map(|entry| recoverable(&entry.ok()?.path()))
            .filter(|found| !self.is_of_another_window(&found.path))
            .collect();
        found.sort_by(|a, b| b.modified.cmp(&a.modified).then(a.path.cmp(&b.path)));
        found
    }

    /// Removes the autosave at `path`, if it exists: the user has saved, or discards it. Fails for one of another window
    /// that still runs.
    pub fn discard(&self, path: &Path) -> Result<(), ProjectError> {
        if !self.claim(path) {
            return Err(ProjectError::Io {
                path: path.to_owned(),
                what: "is the unsaved work of another window, so it was not deleted".into(),
            });
        }
        let removed = remove(path);
        self.release(path);
        removed
    }
}

/// The path of the lock of the autosave at `path`: beside it.
fn lock_path(path: &Path) -> PathBuf {
    path.with_extension("lock")
}

/// Removes an autosave and its preview, if there is one.
fn remove(path: &Path) -> Result<(), ProjectError> {
    let _ = fs::remove_file(path.with_extension("png"));
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(ProjectError::Io {
            path: path.to_owned(),
            what: format!("cannot be removed: {error}"),
        }),
        _ => Ok(()),
    }
}

fn recoverable(path: &Path) -> Option<Recoverable> {
    /// The fields that identify an autosave.
    #[derive(Deserialize)]
    struct Head {
        version: u32,
        model: ModelRef,
        #[serde(default)]
        recovers: Option<String>,
        #[serde(default)]
        unsaved_steps: Option<u64>,
    }
    if path.extension()? != "ron" {
        return None;
    }
    let modified = fs::metadata(path).ok()?.modified().ok()?;
    let head: Head = migrate::from_ron(&file::read_text(path).ok()?).ok()?;
    let project = head.recovers.map(PathBuf::from);
    let saved = project
        .as_ref()
        .and_then(|project| fs::metadata(project).ok()?.modified().ok());
    (head.version <= VERSION && saved.is_none_or(|saved| saved <= modified)).then(|| Recoverable {
        path: path.to_owned(),
        model_name: head.model.name().to_owned(),
        modified,
        project,
        unsaved_steps: head.unsaved_steps,
    })
}
