//! Saving exported files to disk.

use super::error::ExportError;
use super::options::{ExportOptions, Exported};
use super::pipeline::{Made, make};
use super::read_back::ReadBack;
use crate::document::Document;
use crate::io::atomic::WriteError;
use crate::io::gltf_export::{GltfFormat, files_of_model, is_beside_source};
use crate::io::{Output, Outputs};
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
    let read = ReadBack::of(&exported, read, task)?;
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
    let mut made = NewPaths::default();
    let written = publish_all(to_write, &mut made, task);
    if written.is_err() {
        made.remove();
    }
    written
}

/// Writes all files to disk, then gives them their names, the model last: until then the old one is complete.
fn publish_all(
    files: Vec<(Output, &Bytes)>,
    made: &mut NewPaths,
    task: &Task,
) -> Result<(), ExportError> {
    let mut staged = Vec::new();
    for (output, bytes) in files.into_iter().rev() {
        if let Some(folder) = output.path().parent() {
            made.create_folder(folder)?;
        }
        staged.push(output.stage(bytes, task)?);
    }
    for output in staged {
        let path = output.path().to_owned();
        let is_new = !path.exists();
        output.publish()?;
        if is_new {
            made.files.push(path);
        }
    }
    Ok(())
}

/// The files and folders that an export made, which one that fails removes.
#[derive(Default)]
struct NewPaths {
    files: Vec<PathBuf>,
    /// From the outermost on.
    folders: Vec<PathBuf>,
}

impl NewPaths {
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

    /// Removes them; folders that hold something else stay.
    fn remove(self) {
        for file in self.files {
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
        && std::fs::read(path).is_ok_and(|there| there == bytes)
}
