//! Motions to put on a character: BVH files, logged VMC packets, and clips of other models.

use super::channels::is_packet_log;
use super::motion_file::read_vmc;
use super::motion_item::{BodyError, item_of_body, motion_of_clip, read_body};
use super::open::{is_model, is_project, open_any};
use crate::cluster::channel::RecordingItem;
use crate::motion::{MotionSource, Recording};
use crate::task::Task;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why a file has no motion for a character.
#[derive(Debug, thiserror::Error)]
pub enum MotionSourceError {
    /// It is a motion file that cannot be used.
    #[error(transparent)]
    Body(#[from] BodyError),
    /// It is a model that cannot be read.
    #[error(transparent)]
    Model(#[from] super::open::OpenError),
    /// The model has no clip.
    #[error("{} has no clip.", .0.display())]
    NoClips(PathBuf),
}

/// Reads the motion of a file: .bvh, .vmclog.
pub fn read_motion_source(path: &Path, task: &Task) -> Result<MotionSource, MotionSourceError> {
    Ok(read_body(path, "", task)?)
}

/// A motion of a file, and what the document keeps of it.
#[derive(Clone, Debug)]
pub struct ReadMotion {
    /// The animated skeleton.
    pub source: Arc<MotionSource>,
    /// The file as a recording of a document; `None` for the clips of a project, which is no file of motion.
    pub item: Option<RecordingItem>,
    /// What is recorded beside the skeleton, or alone, where the skeleton is empty.
    pub channels: Option<Arc<Recording>>,
}

/// Reads the motions of a file: .bvh, .vmclog, or all clips of a model or project. There is at least one.
pub fn read_motions(path: &Path, task: &Task) -> Result<Vec<ReadMotion>, MotionSourceError> {
    if !is_model(path) && !is_project(path) {
        let source = Arc::new(read_body(path, "", task)?);
        let content = is_packet_log(path).then(|| read_vmc(path, task));
        let content = content.transpose().map_err(BodyError::from)?;
        let content = content.map(|packets| packets.recording());
        let is_recorded = content.is_some();
        let item = item_of_body(&source.name, path, "", source.clone(), content);
        let channels = item.content.as_ref().ok().filter(|_| is_recorded).cloned();
        return Ok(vec![ReadMotion {
            source,
            channels,
            item: Some(item),
        }]);
    }
    let document = open_any(path, task)?.document;
    let clips = document.clips().values().filter(|clip| !clip.preview);
    let motions = clips.map(|clip| {
        let source = Arc::new(motion_of_clip(&document, clip));
        let name = &source.name;
        let item = is_model(path).then(|| item_of_body(name, path, name, source.clone(), None));
        ReadMotion {
            source,
            item,
            channels: None,
        }
    });
    let motions: Vec<ReadMotion> = motions.collect();
    if motions.is_empty() {
        return Err(MotionSourceError::NoClips(path.to_owned()));
    }
    Ok(motions)
}
