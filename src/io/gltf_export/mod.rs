//! Export: the source model with what the artist changed, and nothing else.
//!
//! The way of the data: [`Document`] -> `package` (the source's JSON and buffers in the wanted container) -> `patch`
//! (what changed, in place, beside or in a `pool`: `weights` and their `rows`, `clips` (with `in_betweens`) and their `keys`, `nodes`, what was baked:
//! `corrections` and `targets`, and what moves its helper joints in other clips: `drivers`) -> `text` (JSON that keeps
//! the source's own text where nothing changed) -> files in memory ([`export`]) or on the disk ([`export_to_file`]).
//!
//! A corrected file is read again and compared with what the stacks show (`verify`).
//!
//! Invariant: nothing edited and the same container: the source's bytes, verbatim.
//! Invariant: data of the source that anything refers to is never overwritten: views may overlap (`ranges`), and
//! extensions that Sinew does not know may point anywhere. Where nothing was baked, none of it is. An accessor that
//! anybody else reads is never changed.
//! Invariant: the pose on screen stays out of the file unless asked for, and so do preview clips.

mod clips;
mod compact;
mod corrections;
mod drivers;
mod error;
mod external;
mod frames;
mod glb;
mod in_betweens;
mod joints;
mod keys;
mod nodes;
mod package;
mod patch;
mod pictures;
mod pool;
mod preflight;
mod ranges;
mod read_back;
mod report;
mod rows;
mod space;
mod still;
mod targets;
mod text;
mod uncompress;
mod uses;
mod verify;
mod weights;

pub use error::ExportError;
pub use frames::FEW_TARGETS;
pub(super) use pictures::picture_of;
pub use preflight::{estimate, preflight};
pub use read_back::{ReadBack, read_back};
pub use report::ExportReport;
pub use still::export_still;
pub(super) use still::export_still_beside;
pub use verify::{CorrectedMesh, CorrectionReport, MeasuredErrors, NormalAngles, WorstPlace};

use super::Outputs;
use super::atomic::WriteError;
use crate::bake::{BakeMode, BakeOptions, Baked, bake, skinning_only};
use crate::document::{ClipId, Document, Source, SourceKind};
use crate::finding::Finding;
use crate::skeleton::Clip;
use crate::task::Task;
use bytes::Bytes;
use in_betweens::WrittenClips;
use nodes::AddedNodes;
use package::Package;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// The two forms of a glTF model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Container {
    /// One binary file.
    #[default]
    Glb,
    /// JSON text, with data in files beside it.
    Gltf,
}

/// How to export.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportOptions {
    /// The form of the model.
    pub container: Container,
    /// The files' name without its ending; empty: the source's.
    pub name: String,
    /// Most influences of a point in primitives that are written anew, 1 - 8; more than 4 take a second set of
    /// attributes, which not every player reads.
    pub influences: usize,
    /// Make the artist's pose the rest pose of the file.
    pub write_pose_as_rest: bool,
    /// Bake what the stacks do beyond linear skinning into the file.
    pub correct: Option<BakeOptions>,
}

impl Default for ExportOptions {
    fn default() -> Self {
        Self {
            container: Container::Glb,
            name: String::new(),
            influences: 4,
            write_pose_as_rest: false,
            correct: None,
        }
    }
}

/// An exported model.
#[derive(Clone, Debug, PartialEq)]
pub struct Exported {
    /// Names, relative to the model's folder with `/` between folders, and contents; the model itself comes first.
    pub files: Vec<(String, Bytes)>,
    /// What the export did.
    pub report: ExportReport,
}

impl Container {
    /// The container that a file's ending names.
    pub fn of_path(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        match ending.as_str() {
            "glb" => Some(Self::Glb),
            "gltf" => Some(Self::Gltf),
            _ => None,
        }
    }

    fn file_name(self, stem: &str) -> String {
        match self {
            Self::Glb => format!("{stem}.glb"),
            Self::Gltf => format!("{stem}.gltf"),
        }
    }

    fn is_of(self, kind: SourceKind) -> bool {
        matches!(
            (self, kind),
            (Self::Glb, SourceKind::Glb) | (Self::Gltf, SourceKind::Gltf)
        )
    }
}

/// Writes the document's model into memory: the model and every file it needs beside it.
pub fn export(
    document: &Document,
    options: &ExportOptions,
    task: &Task,
) -> Result<Exported, ExportError> {
    export_beside(document, options, &|_| true, task)
}

/// Whether a plain file at `path` holds `bytes` already.
fn holds(path: &Path, bytes: &[u8]) -> bool {
    let found = std::fs::metadata(path);
    found.is_ok_and(|found| found.is_file() && found.len() == bytes.len() as u64)
        && std::fs::read(path).is_ok_and(|there| there == bytes)
}

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
) -> Result<ExportReport, ExportError> {
    // Before the work, which may take minutes.
    outputs.check(path)?;
    let exported = export_for(document, path, options, task)?;
    write_files(document, path, &exported, outputs, task)?;
    Ok(exported.report)
}

/// What [`export_to_file`] writes, in memory: files beside the model take names that are free at `path`.
pub fn export_for(
    document: &Document,
    path: &Path,
    options: &ExportOptions,
    task: &Task,
) -> Result<Exported, ExportError> {
    let unknown = || ExportError::Extension { path: path.into() };
    let options = ExportOptions {
        container: Container::of_path(path).ok_or_else(unknown)?,
        name: path
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned())
            .ok_or_else(unknown)?,
        ..options.clone()
    };
    let folder = path.parent().unwrap_or(Path::new(""));
    let owned = files_of_model(path);
    let is_free = |name: &str| owned.contains(name) || !folder.join(name).exists();
    export_beside(document, &options, &is_free, task)
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
    write_over(document, path, exported, &owned, outputs, task)
}

/// [`write_files`]; those beside the first may replace only files of another content that are `owned`.
pub(super) fn write_over(
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

fn export_beside(
    document: &Document,
    options: &ExportOptions,
    is_free: &dyn Fn(&str) -> bool,
    task: &Task,
) -> Result<Exported, ExportError> {
    task.step("Preparing the export", 0.0)?;
    let document = &*joints::for_file(document);
    let mut written = WrittenClips::of(document, task)?;
    let Some(correct) = &options.correct else {
        return write(document, written, None, options, is_free, task);
    };
    correct
        .check()
        .map_err(|why| ExportError::Correction { why })?;
    if options.write_pose_as_rest {
        let why = "Corrections are made for the file's own rest pose; the pose cannot be written as rest with them.";
        return Err(ExportError::Correction { why: why.into() });
    }
    if correct.mode == BakeMode::Frames {
        return frames::export_frames(document, written, correct, options, is_free, task);
    }
    let start = Instant::now();
    let baked = bake(document, &written.clips, correct, task)?;
    let bake_seconds = start.elapsed().as_secs_f64();
    let source_clips = written.clips.clone();
    if let Some(baked) = &baked {
        written.clips = baked.clips.clone();
    }
    let mut exported = write(document, written, baked.as_ref(), options, is_free, task)?;
    let start = Instant::now();
    let retarget = correct.mode == BakeMode::Retarget;
    // Helpers that any clip can move do what the skinning does, and nothing that comes after it.
    let skinning = retarget.then(|| skinning_only(document)).flatten();
    let wanted = skinning.as_ref().unwrap_or(document);
    let after = verify::check_files(wanted, &exported, &source_clips, correct, task)?;
    let before = match &baked {
        Some(_) => crate::bake::compare::uncorrected(wanted, &source_clips, &correct.clips, task)?,
        None => after.clone(),
    };
    let mut report = CorrectionReport::new(document, correct, baked.as_ref(), &before, &after);
    if retarget && baked.is_some() {
        report.tell_driven(verify::check_driving(wanted, &exported.files, task)?);
    }
    if skinning.is_some() {
        let whole = verify::check_files(document, &exported, &source_clips, correct, task)?;
        report.whole_stack = Some(verify::MeasuredErrors::new(&whole, None));
    }
    report.check_seconds = start.elapsed().as_secs_f64();
    report.bake_seconds = bake_seconds;
    report.bytes = exported.files.iter().map(|(_, bytes)| bytes.len()).sum();
    report.source_bytes = document.source().map_or(0, |source| size_of_source(source));
    report.size_ratio = report.bytes as f64 / report.source_bytes.max(1) as f64;
    let jumps = baked.as_ref().map_or(&[][..], |baked| &baked.jumps);
    exported.report.tell_jumps(document, jumps);
    exported.report.tell_correction(report);
    Ok(exported)
}

/// Bytes of the source and of what it refers to.
fn size_of_source(source: &Source) -> usize {
    let mut files = vec![(String::new(), source.bytes.clone())];
    let json = &source.json;
    add_referenced(source, json, &mut files, &mut ExportReport::default());
    files.iter().map(|(_, bytes)| bytes.len()).sum()
}

fn write(
    document: &Document,
    written: WrittenClips,
    baked: Option<&Baked>,
    options: &ExportOptions,
    is_free: &dyn Fn(&str) -> bool,
    task: &Task,
) -> Result<Exported, ExportError> {
    let source = document.source().ok_or(ExportError::NoSource)?;
    let name = name_of(source, options);
    let mut report = ExportReport::default();
    let is_changed = baked.is_some() || is_changed(document, &written.clips, options);
    if !is_changed && options.container.is_of(source.kind) {
        report.verbatim = true;
        report.clips = written.clips.keys().copied().collect();
        written.report(&mut report);
        let mut files = vec![(options.container.file_name(&name), source.bytes.clone())];
        add_referenced(source, &source.json, &mut files, &mut report);
        return Ok(Exported { files, report });
    }
    let mut package = Package::new(
        source,
        options.container,
        &name,
        is_free,
        &mut report.findings,
    );
    // With an edit alone all of the source's bytes stay, so that files are easily compared.
    let mut patch = match baked {
        Some(_) => package.patch_over(),
        None => package.patch(),
    };
    let limit = options.influences.clamp(1, 8);
    joints::patch_joints(document, &mut patch, &mut report);
    weights::patch_weights(document, baked, limit, &mut patch, &mut report, task)?;
    let mut added = AddedNodes::new();
    if let Some(baked) = baked {
        let sparse = options
            .correct
            .as_ref()
            .is_none_or(|correct| correct.sparse);
        added =
            corrections::patch_corrections(document, baked, sparse, &mut patch, &mut report, task)?;
        if let Some(correct) = &options.correct
            && correct.mode == BakeMode::Retarget
        {
            drivers::patch_drivers(document, baked, &added, correct, &mut patch, &mut report);
        }
    }
    clips::patch_clips(
        document,
        baked,
        &added,
        &written.clips,
        &mut patch,
        &mut report,
        task,
    )?;
    written.report(&mut report);
    nodes::patch_names(document, &mut patch.json);
    if options.write_pose_as_rest {
        nodes::patch_rest(document, &mut patch.json, &mut report);
    }
    patch.finish();
    task.step("Writing the model", 0.9)?;
    report.n_bytes_added = patch.n_bytes_appended();
    let json = patch.json.clone();
    let mut files = package.finish(patch)?;
    add_referenced(source, &json, &mut files, &mut report);
    Ok(Exported { files, report })
}

/// Whether the file would differ from the source in anything but its container. Painted maps, stacks and rules of joints
/// have no place in a glTF file.
fn is_changed(
    document: &Document,
    clips: &BTreeMap<ClipId, Arc<Clip>>,
    options: &ExportOptions,
) -> bool {
    let joints = document.skeleton().joints().iter();
    let mut joints = joints.zip(document.source_skeleton().joints());
    joints.any(|(now, before)| now.name != before.name)
        || document.is_rig_edited()
        || clips != document.source_clips()
        || document
            .meshes()
            .values()
            .any(|m| !m.edited_chunks().is_empty())
        || (options.write_pose_as_rest && document.pose() != document.rest_pose())
}

fn name_of(source: &Source, options: &ExportOptions) -> String {
    let stem = source.path.as_deref().and_then(Path::file_stem);
    let candidates = [
        Some(options.name.clone()),
        stem.map(|stem| stem.to_string_lossy().into_owned()),
        source.sample.clone(),
    ];
    let named = candidates
        .into_iter()
        .flatten()
        .find(|name| !name.is_empty());
    named.unwrap_or_else(|| "model".to_owned())
}

/// Adds the source's own files that the exported model still refers to.
fn add_referenced(
    source: &Source,
    json: &serde_json::Value,
    files: &mut Vec<(String, Bytes)>,
    report: &mut ExportReport,
) {
    for uri in external::uris(json) {
        let buffer = uses::each(json, "buffers")
            .position(|b| b.get("uri").and_then(serde_json::Value::as_str) == Some(uri));
        let name = external::relative(uri);
        if name
            .as_ref()
            .is_some_and(|name| files.iter().any(|(n, _)| n == name))
        {
            continue;
        }
        // Import read the buffers; pictures and the like are read now.
        let same = |&i: &usize| {
            uses::each(&source.json, "buffers")
                .nth(i)
                .and_then(|b| b.get("uri"))
                .and_then(serde_json::Value::as_str)
                == Some(uri)
        };
        let kept = buffer.filter(same).and_then(|i| source.buffers.get(i));
        let kept = kept.filter(|bytes| !bytes.is_empty());
        let bytes = name.as_ref().and_then(|name| {
            let there = external::read(package::folder_of(source), name);
            match (there, kept) {
                // What was imported is what the model means, even if the file changed since; import leaves out what
                // lies beyond the buffer's length.
                (Some(there), Some(kept)) if !there.starts_with(kept) => Some(kept.clone()),
                (there, kept) => there.or_else(|| kept.cloned()),
            }
        });
        match (name, bytes) {
            (Some(name), Some(bytes)) => files.push((name, bytes)),
            _ => report.findings.push(Finding::warning(
                format!("\"{uri}\""),
                "The model refers to this file, which could not be copied beside it.",
            )),
        }
    }
}

/// Whether `target` lies in the folder of the source or below, where its own files are.
fn is_beside_source(document: &Document, target: &Path) -> bool {
    let folder = document
        .source()
        .and_then(|source| package::folder_of(source));
    // The folder of a bare name is empty, which the system does not resolve.
    let folder = folder.map(|folder| {
        if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        }
    });
    match (folder.map(Path::canonicalize), target.canonicalize()) {
        (Some(Ok(folder)), Ok(target)) => target.starts_with(folder),
        _ => false,
    }
}

/// The files that the text model at `path`, if there is one, refers to: they are replaced with it.
pub(super) fn files_of_model(path: &Path) -> BTreeSet<String> {
    let json = (Container::of_path(path) == Some(Container::Gltf))
        .then(|| std::fs::read(path).ok())
        .flatten()
        .and_then(|bytes| serde_json::from_slice::<serde_json::Value>(&bytes).ok())
        .unwrap_or_default();
    external::uris(&json)
        .into_iter()
        .filter_map(external::relative)
        .collect()
}
