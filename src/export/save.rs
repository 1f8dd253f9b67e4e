//! Saving exported files to disk.

use super::error::ExportError;
use super::options::{ExportOptions, Exported};
use super::pipeline::{Made, make};
use super::read_back::ReadBack;
use crate::document::Document;
use crate::io::atomic::{WriteError, write_atomically};
use crate::io::gltf_export::{GltfFormat, files_of_model, is_beside_source};
use crate::io::read::{MAX_MODEL_BYTES, read_file};
use crate::io::{Output, Outputs, StagedOutput};
use crate::task::Task;
use bytes::Bytes;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Exports the document's model to `path`, whose extension determines the format, with the files it needs beside it.
///
/// Each file is written to a temporary file and renamed, the model last. Existing source files with the same content
/// are left alone; if one has different content, nothing is written.
pub fn export_to_file(
    document: &Document,
    path: &Path,
    options: &ExportOptions,
    outputs: &mut Outputs,
    task: &Task,
) -> Result<Exported, ExportError> {
    // Checked before the export, which may take minutes.
    outputs.check(path)?;
    let exported = make_for(document, path, options, task)?.exported;
    write_files(document, path, &exported, outputs, task)?;
    Ok(exported)
}

/// Exports to memory as [`export_to_file`] does to disk, and reads the model back. Files beside the model get names
/// that are free at `path`.
pub fn export_and_read_back(
    document: &Document,
    path: &Path,
    options: &ExportOptions,
    task: &Task,
) -> Result<(Exported, ReadBack), ExportError> {
    let Made { exported, read } = make_for(document, path, options, task)?;
    let read = ReadBack::of(document, &exported, read, task)?;
    Ok((exported, read))
}

fn make_for(
    document: &Document,
    path: &Path,
    options: &ExportOptions,
    task: &Task,
) -> Result<Made, ExportError> {
    let unknown = || ExportError::Extension { path: path.into() };
    let name = path.file_stem().ok_or_else(unknown)?;
    let options = ExportOptions {
        format: GltfFormat::of_path(path).ok_or_else(unknown)?,
        name: name.to_string_lossy().into_owned(),
        ..options.clone()
    };
    let owned = files_of_model(path);
    make(document, &options, &is_free_beside(path, &owned), task)
}

/// Whether a name beside a model at `path` is free: no such file exists, or it is one of the `owned` files.
pub(super) fn is_free_beside<'a>(
    path: &'a Path,
    owned: &'a BTreeSet<String>,
) -> impl Fn(&str) -> bool + 'a {
    let folder = path.parent().unwrap_or(Path::new(""));
    move |name| owned.contains(name) || !folder.join(name).exists()
}

/// Writes an export made for `path`; a model of a single file can be written to any path.
pub fn write_files(
    document: &Document,
    path: &Path,
    exported: &Exported,
    outputs: &mut Outputs,
    task: &Task,
) -> Result<(), ExportError> {
    let owned = files_of_model(path);
    save_files(document, path, exported, &owned, outputs, task)
}

/// [`write_files`] in which files beside the model may replace different content only if they are `owned`.
pub(super) fn save_files(
    document: &Document,
    path: &Path,
    exported: &Exported,
    owned: &BTreeSet<String>,
    outputs: &mut Outputs,
    task: &Task,
) -> Result<(), ExportError> {
    let files = &exported.files;
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut to_write = Vec::new();
    for (i, (name, bytes)) in files.iter().enumerate() {
        let target = if i == 0 {
            path.to_owned()
        } else {
            folder.join(name)
        };
        if i > 0 && holds(&target, bytes) {
            outputs.keep(&target)?;
            continue;
        }
        if i > 0
            && target.exists()
            && (!owned.contains(name) || is_beside_source(document, &target))
        {
            return Err(ExportError::Occupied { path: target });
        }
        to_write.push((outputs.claim(&target)?, bytes));
    }
    task.check()?;
    let mut changes = Changes::default();
    let written = stage_all(to_write, &mut changes, task)
        .and_then(|staged| publish_all(staged, &mut changes));
    if written.is_err() {
        changes.take_back();
    }
    written
}

/// Writes all files to disk under temporary names, the model last.
fn stage_all(
    files: Vec<(Output, &Bytes)>,
    changes: &mut Changes,
    task: &Task,
) -> Result<Vec<StagedOutput>, ExportError> {
    let mut staged = Vec::new();
    for (output, bytes) in files.into_iter().rev() {
        if let Some(folder) = output.path().parent() {
            changes.create_folder(folder)?;
        }
        staged.push(output.stage(bytes, task)?);
    }
    Ok(staged)
}

/// Gives all files their names, the model last: until then the old one is complete.
fn publish_all(staged: Vec<StagedOutput>, changes: &mut Changes) -> Result<(), ExportError> {
    let is_alone = staged.len() == 1;
    for output in staged {
        // A file by itself is replaced in one step: there is nothing to take back.
        if !is_alone {
            changes.note(output.file());
        }
        output.publish()?;
    }
    Ok(())
}

/// What an export changes on disk, which one that fails takes back.
#[derive(Default)]
struct Changes {
    new_files: Vec<PathBuf>,
    /// With their old content.
    replaced: Vec<(PathBuf, Vec<u8>)>,
    /// Those that it makes, from the outermost on.
    folders: Vec<PathBuf>,
}

impl Changes {
    fn create_folder(&mut self, folder: &Path) -> Result<(), WriteError> {
        let missing = folder
            .ancestors()
            .take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
        let missing: Vec<PathBuf> = missing.map(Path::to_owned).collect();
        self.folders.extend(missing.into_iter().rev());
        if folder.as_os_str().is_empty() {
            return Ok(());
        }
        std::fs::create_dir_all(folder).map_err(|error| WriteError::of(folder, &error))
    }

    /// Keeps what is at `file` now, before it is written.
    fn note(&mut self, file: &Path) {
        if !file.exists() {
            self.new_files.push(file.to_owned());
        } else if let Ok(bytes) = read_file(file, MAX_MODEL_BYTES) {
            self.replaced.push((file.to_owned(), bytes));
        }
    }

    /// Gives replaced files their old content and removes the new ones; folders that hold something else stay.
    fn take_back(self) {
        for (file, bytes) in self.replaced {
            if !holds(&file, &bytes) {
                let _ = write_atomically(&file, &bytes);
            }
        }
        for file in self.new_files {
            let _ = std::fs::remove_file(file);
        }
        for folder in self.folders.into_iter().rev() {
            let _ = std::fs::remove_dir(folder);
        }
    }
}

/// Whether `path` is a plain file with the content `bytes`.
fn holds(path: &Path, bytes: &[u8]) -> bool {
    let found = std::fs::metadata(path);
    found.is_ok_and(|found| found.is_file() && found.len() == bytes.len() as u64)
        && read_file(path, bytes.len() as u64).is_ok_and(|there| there == bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The model's place becomes a folder after all files are written under temporary names.
    #[test]
    fn side_files_get_their_old_content_back_if_the_model_cannot_be_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("out.gltf"), "old model").unwrap();
        std::fs::write(at("out.bin"), "old data").unwrap();
        let files = ["out.gltf", "out.bin", "new/deep/a.png"];
        let bytes = Bytes::from_static(b"new");
        let mut outputs = Outputs::default();
        let to_write = files.map(|name| (outputs.claim(&at(name)).unwrap(), &bytes));
        let mut changes = Changes::default();
        let staged = stage_all(to_write.into(), &mut changes, &Task::new()).unwrap();
        std::fs::remove_file(at("out.gltf")).unwrap();
        std::fs::create_dir(at("out.gltf")).unwrap();
        std::fs::write(at("out.gltf/mine.txt"), "mine").unwrap();
        let why = publish_all(staged, &mut changes).unwrap_err().to_string();
        assert!(why.contains("out.gltf"), "{why}");
        assert_eq!(std::fs::read(at("out.bin")).unwrap(), b"new");
        assert!(at("new/deep/a.png").exists());
        changes.take_back();
        assert_eq!(std::fs::read(at("out.bin")).unwrap(), b"old data");
        assert_eq!(std::fs::read(at("out.gltf/mine.txt")).unwrap(), b"mine");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
