//! Motions to put on a character: BVH files, logged VMC packets, and clips of other models.

use super::motion_file::{MotionFileError, read_bvh, read_vmc};
use super::open::{is_model, is_project, open_any};
use crate::document::Document;
use crate::motion::bvh::{Bvh, Positions};
use crate::motion::{Note, Take};
use crate::rig::skinned_joints;
use crate::skeleton::Clip;
use crate::task::Task;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// A motion of another skeleton.
#[derive(Clone, Debug)]
pub struct MotionSource {
    /// The name of the file without its ending, or of the clip.
    pub name: String,
    /// What was repaired or left out while reading.
    pub notes: Vec<Note>,
    content: Content,
}

#[derive(Clone, Debug)]
enum Content {
    Bvh(Box<Bvh>),
    Take(Box<Take>),
}

/// Why a file has no motion for a character.
#[derive(Debug, thiserror::Error)]
pub enum MotionSourceError {
    /// It is a motion file that cannot be read.
    #[error(transparent)]
    File(#[from] MotionFileError),
    /// It is a model that cannot be read.
    #[error(transparent)]
    Model(#[from] super::open::OpenError),
    /// No bone moves.
    #[error("{}: no packet moves a bone.", .0.display())]
    NoBones(PathBuf),
    /// The model has no clip.
    #[error("{} has no clip.", .0.display())]
    NoClips(PathBuf),
}

/// Whether the file has the extension of a motion of a skeleton: .bvh or .vmclog.
pub fn is_motion(path: &Path) -> bool {
    path.extension().is_some_and(|e| {
        ["bvh", "vmclog"]
            .iter()
            .any(|known| e.eq_ignore_ascii_case(known))
    })
}

impl MotionSource {
    /// A clip of a document.
    pub fn of_clip(document: &Document, clip: &Clip) -> Self {
        let bones = skinned_joints(document);
        let take = Take::of_clip(document.skeleton(), clip, |joint| bones.contains(&joint));
        Self {
            name: clip.name.clone(),
            notes: Vec::new(),
            content: Content::Take(Box::new(take)),
        }
    }

    /// The motion. `positions` says what the position channels of a BVH file are.
    pub fn take(&self, positions: Positions) -> Cow<'_, Take> {
        match &self.content {
            Content::Bvh(bvh) => Cow::Owned(Take::of_bvh(bvh, positions)),
            Content::Take(take) => Cow::Borrowed(take),
        }
    }

    /// Whether it is a BVH file, whose position channels have to be interpreted.
    pub fn is_bvh(&self) -> bool {
        matches!(self.content, Content::Bvh(_))
    }
}

/// Reads the motion of a file: .bvh, .vmclog.
pub fn read_motion_source(path: &Path, task: &Task) -> Result<MotionSource, MotionSourceError> {
    let is_log = path
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("vmclog"));
    let (content, notes) = if is_log {
        let packets = read_vmc(path, task)?;
        let take = packets.take_of_body();
        let take = take.ok_or_else(|| MotionSourceError::NoBones(path.to_owned()))?;
        (Content::Take(Box::new(take)), packets.recording().notes)
    } else {
        let mut bvh = read_bvh(path, task)?;
        let notes = std::mem::take(&mut bvh.notes);
        (Content::Bvh(Box::new(bvh)), notes)
    };
    let stem = path.file_stem().unwrap_or_default();
    Ok(MotionSource {
        name: stem.to_string_lossy().into_owned(),
        notes,
        content,
    })
}

/// Reads the motions of a file: as [`read_motion_source`], or all clips of a model or project. There is at least one.
pub fn read_motion_sources(
    path: &Path,
    task: &Task,
) -> Result<Vec<MotionSource>, MotionSourceError> {
    if !is_model(path) && !is_project(path) {
        return Ok(vec![read_motion_source(path, task)?]);
    }
    let document = open_any(path, task)?.document;
    let clips = document.clips().values().filter(|clip| !clip.preview);
    let sources: Vec<MotionSource> = clips
        .map(|clip| MotionSource::of_clip(&document, clip))
        .collect();
    if sources.is_empty() {
        return Err(MotionSourceError::NoClips(path.to_owned()));
    }
    Ok(sources)
}
