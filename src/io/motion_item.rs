//! Reads a recording of any kind as an item of a document: channels, or an animated skeleton.

use super::channels::{self, is_packet_log};
use super::gltf::{ImportError, import_file};
use super::motion_file::{MotionFileError, read_bvh, read_vmc};
use super::read::{MAX_MODEL_BYTES, read_file};
use crate::cluster::channel::RecordingItem;
use crate::document::Document;
use crate::motion::retarget::BodyMotion;
use crate::motion::vmc::{length_fault, take_of_body};
use crate::motion::{MotionSource, Note, Recording, Take};
use crate::rig::skinned_joints;
use crate::skeleton::Clip;
use crate::task::{Cancelled, Task};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// An error of reading an animated skeleton from a file.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    /// It is a motion file that cannot be read.
    #[error(transparent)]
    File(#[from] MotionFileError),
    /// It is a model that cannot be read.
    #[error(transparent)]
    Model(#[from] ImportError),
    /// It is a model whose parts do not fit together.
    #[error("{} cannot be used: {why}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// No bone moves.
    #[error("{}: no packet moves a bone.", .0.display())]
    NoBones(PathBuf),
    /// The model has no clip.
    #[error("{} has no clip.", .0.display())]
    NoClips(PathBuf),
    /// The model has no clip of this name.
    #[error("{} has no clip \"{name}\".", path.display())]
    NoClip {
        /// The file.
        path: PathBuf,
        /// The name.
        name: String,
    },
}

/// Whether the file has the extension of a motion of a skeleton: .bvh or .vmclog.
pub fn is_motion(path: &Path) -> bool {
    has_extension(path, &["bvh", "vmclog"])
}

pub(super) fn has_extension(path: &Path, known: &[&str]) -> bool {
    let found = path.extension();
    found.is_some_and(|e| known.iter().any(|known| e.eq_ignore_ascii_case(known)))
}

/// Whether the file holds a skeleton in motion and nothing else: .bvh, .glb or .gltf.
pub fn is_skeleton(path: &Path) -> bool {
    is_model(path) || (is_motion(path) && !is_packet_log(path))
}

fn is_model(path: &Path) -> bool {
    has_extension(path, &["glb", "gltf"])
}

/// The motion of a clip of a document.
pub fn motion_of_clip(document: &Document, clip: &Clip) -> MotionSource {
    let bones = skinned_joints(document);
    let take = Take::of_clip(document.skeleton(), clip, |joint| bones.contains(&joint));
    let length = f64::from(clip.end_secs()) - f64::from(clip.start_secs());
    let read = take.times.last().copied().unwrap_or(0.0);
    let mut notes = Vec::new();
    if length - read > 1.0 {
        let text = format!("The clip lasts {length:.0} s; its first {read:.0} s are read.");
        notes.push(Note::new(0, text));
    }
    MotionSource::of_take(clip.name.clone(), take, notes)
}

/// Reads the animated skeleton of a file: .bvh, .vmclog, or the clip `take` of a .glb or .gltf file (the first for an empty
/// name).
pub fn read_body(path: &Path, take: &str, task: &Task) -> Result<MotionSource, BodyError> {
    let stem = path.file_stem().unwrap_or_default();
    let name = stem.to_string_lossy().into_owned();
    if is_packet_log(path) {
        let recording = read_vmc(path, task)?.recording();
        if let Some(why) = length_fault(&recording) {
            return Err(BodyError::Invalid {
                path: path.to_owned(),
                why,
            });
        }
        let take = take_of_body(&recording);
        let take = take.ok_or_else(|| BodyError::NoBones(path.to_owned()))?;
        return Ok(MotionSource::of_take(name, take, recording.notes));
    }
    if !is_model(path) {
        return Ok(MotionSource::of_bvh(name, read_bvh(path, task)?));
    }
    let document = Document::new(import_file(path, task)?.parts);
    let document = document.map_err(|why| BodyError::Invalid {
        path: path.to_owned(),
        why: why.to_string(),
    })?;
    let mut clips = document.clips().values();
    let clip = clips.find(|clip| take.is_empty() || clip.name == take);
    match clip {
        Some(clip) => Ok(motion_of_clip(&document, clip)),
        None if take.is_empty() => Err(BodyError::NoClips(path.to_owned())),
        None => Err(BodyError::NoClip {
            path: path.to_owned(),
            name: take.to_owned(),
        }),
    }
}

/// The recording at `path` as an item of a document with a name. `motion` says how the skeleton in it is used. Where it cannot
/// be read, the item holds the reason and the fingerprint `known`.
pub fn read_item(
    name: String,
    path: &Path,
    motion: Option<&BodyMotion>,
    known: u64,
    task: &Task,
) -> Result<RecordingItem, Cancelled> {
    let moves = is_skeleton(path);
    if !moves && !is_packet_log(path) {
        let mut item = channels::read_item(name, path, known, task)?;
        item.motion = motion.map(|motion| {
            let recording = item.recording();
            let take = recording.and_then(take_of_body);
            let source = take.map(|take| MotionSource::of_take(&*item.name, take, Vec::new()));
            with_source(motion, source)
        });
        return Ok(item);
    }
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let take = motion.map_or("", |motion| motion.take.as_str());
    let read = read_body(&path, take, task);
    task.check()?;
    let fingerprint = content_hash(&path).unwrap_or(known);
    // What a sender says besides bones is worth keeping.
    let of_packets = || read_vmc(&path, task).map(|source| source.recording());
    let (content, source) = match read {
        Ok(source) if moves => (Ok(Arc::new(source.recording())), Some(source)),
        Ok(source) => match of_packets() {
            Ok(recording) => (Ok(Arc::new(recording)), Some(source)),
            Err(why) => (Err(why.to_string()), None),
        },
        Err(BodyError::NoBones(_)) => (
            of_packets().map(Arc::new).map_err(|why| why.to_string()),
            None,
        ),
        Err(why) => (Err(why.to_string()), None),
    };
    let content = content.map_err(|why| why.trim_end_matches('.').to_owned());
    let mut item = RecordingItem::new(name, path, fingerprint, content);
    let motion = motion
        .cloned()
        .or_else(|| source.is_some().then(BodyMotion::default));
    item.motion = motion.map(|motion| with_source(&motion, source));
    Ok(item)
}

/// The animated skeleton of the file at `path` as an item of a document. `take`: the clip of a model's file. `content`: what the
/// file says besides the joints; `None` where those are all.
pub fn item_of_body(
    name: &str,
    path: &Path,
    take: &str,
    source: Arc<MotionSource>,
    content: Option<Recording>,
) -> RecordingItem {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let content = content.unwrap_or_else(|| source.recording());
    let fingerprint = content_hash(&path).unwrap_or(0);
    let mut item = RecordingItem::new(name, path, fingerprint, Ok(Arc::new(content)));
    item.motion = Some(Arc::new(BodyMotion {
        source: Some(source),
        take: take.to_owned(),
        ..BodyMotion::default()
    }));
    item
}

fn with_source(motion: &BodyMotion, source: Option<MotionSource>) -> Arc<BodyMotion> {
    Arc::new(BodyMotion {
        source: source.map(Arc::new),
        ..motion.clone()
    })
}

/// The hash of the content of the file at `path`, which [`read_item`] has as its fingerprint; `None` where it cannot be read.
pub fn content_hash(path: &Path) -> Option<u64> {
    if is_model(path) || is_motion(path) {
        return Some(xxh3_64(&read_file(path, MAX_MODEL_BYTES).ok()?));
    }
    channels::content_hash(path)
}
