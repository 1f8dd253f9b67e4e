//! Exported files on the disk.

use super::error::ExportError;
use super::options::{ExportOptions, Exported};
use super::pipeline::{Made, make};
use super::read_back::ReadBack;
use crate::document::Document;
use crate::io::Outputs;
use crate::io::atomic::WriteError;
use crate::io::gltf_export::{GltfFormat, files_of_model, is_beside_source};
use crate::task::Task;
use std::collections::BTreeSet;
use std::path::Path;

/// Writes the document's model to `path`, whose ending names the container, and beside it the files it needs.
///
/// Each file is written beside its place and takes its name in one step, the model last. Files of the source that are
/// already there with the same content are left alone; with another content nothing is written at all.
pub fn export_to_file(
    document: &Document,
    path: &Path,
    options: &ExportOptions,
    outputs: &mut Outputs,
    task: &Task,
) -> Result<Exported, ExportError> {
    // Before the work, which may take minutes.
    outputs.check(path)?;
    let exported = make_for(document, path, options, task)?.exported;
    write_files(document, path, &exported, outputs, task)?;
    Ok(exported)
}

/// What [`export_to_file`] writes, in memory, and the model read back from these bytes. Files beside the model take names
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

/// Which names files beside a model at `path` may take: those of nothing, and those of its `owned` files.
pub(super) fn is_free_beside<'a>(
    path: &'a Path,
    owned: &'a BTreeSet<String>,
) -> impl Fn(&str) -> bool + 'a {
    let folder = path.parent().unwrap_or(Path::new(""));
    move |name| owned.contains(name) || !folder.join(name).exists()
}

/// Writes what was exported for `path` there, or a model that is one file to any path.
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

/// [`write_files`]; those beside the first may replace only files of another content that are `owned`.
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
    // The model last: until then the old one is there with all it needs.
    for (output, bytes) in to_write.into_iter().rev() {
        if let Some(folder) = output
            .path()
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
        {
            std::fs::create_dir_all(folder).map_err(|error| WriteError::of(folder, &error))?;
        }
        output.write(bytes)?;
    }
    Ok(())
}

/// Whether a plain file at `path` holds `bytes` already.
fn holds(path: &Path, bytes: &[u8]) -> bool {
    let found = std::fs::metadata(path);
    found.is_ok_and(|found| found.is_file() && found.len() == bytes.len() as u64)
        && std::fs::read(path).is_ok_and(|there| there == bytes)
}
