//! What goes into a file: its clips, and how it is corrected.

use super::clip_keys::{WrittenClips, has_keys};
use super::error::ExportError;
use super::options::ExportOptions;
use crate::bake::{BakeMode, BakeOptions};
use crate::document::{ClipId, Document};
use crate::task::Task;

/// Why a file of frames makes no sense.
pub(super) const NO_CLIP: &str = "There is no clip to make frames of; a still holds the pose.";
pub(super) const NO_SKIN: &str = "The model has no skinned mesh, so that nothing needs frames.";

/// What an export with some options writes.
pub(super) struct Plan<'a> {
    pub(super) options: &'a ExportOptions,
    /// The clips of the file, but for what is baked into them.
    pub(super) clips: WrittenClips,
    /// Clips of the document that were not chosen for a file of frames.
    pub(super) n_not_chosen: usize,
    /// Chosen clips without keys, which a file of frames leaves out.
    pub(super) n_without_keys: usize,
}

impl<'a> Plan<'a> {
    /// The plan; refuses what makes no sense.
    pub(super) fn new(
        document: &Document,
        options: &'a ExportOptions,
        task: &Task,
    ) -> Result<Self, ExportError> {
        let mut plan = Self {
            options,
            clips: WrittenClips::of(document, task)?,
            n_not_chosen: 0,
            n_without_keys: 0,
        };
        let Some(correct) = &options.correct else {
            return Ok(plan);
        };
        correct
            .check()
            .map_err(|why| ExportError::Correction { why })?;
        let refuse = |why: &str| Err(ExportError::Correction { why: why.into() });
        if options.write_pose_as_rest {
            return refuse(
                "Corrections are made for the file's own rest pose; the pose cannot be written as rest with them.",
            );
        }
        if correct.mode != BakeMode::Frames {
            return Ok(plan);
        }
        let clips = &mut plan.clips.clips;
        let n = clips.len();
        clips.retain(|id, _| is_chosen(correct, *id));
        plan.n_not_chosen = n - clips.len();
        let n = clips.len();
        clips.retain(|_, clip| has_keys(clip));
        plan.n_without_keys = n - clips.len();
        if clips.is_empty() {
            return refuse(NO_CLIP);
        }
        if document.instances().values().all(|i| i.skin.is_none()) {
            return refuse(NO_SKIN);
        }
        Ok(plan)
    }

    /// Whether a file without correction would differ from the source in anything but its format. Painted maps, stacks
    /// and rules of joints have no place in a glTF file.
    pub(super) fn changes(&self, document: &Document) -> bool {
        let joints = document.skeleton().joints().iter();
        let mut joints = joints.zip(document.source_skeleton().joints());
        joints.any(|(now, before)| now.name != before.name)
            || document.is_rig_edited()
            || self.clips.clips != *document.source_clips()
            || document
                .meshes()
                .values()
                .any(|m| !m.edited_chunks().is_empty())
            || (self.options.write_pose_as_rest && document.pose() != document.rest_pose())
    }
}

/// Whether a clip is one of those that are asked for.
pub(super) fn is_chosen(correct: &BakeOptions, id: ClipId) -> bool {
    correct.clips.is_empty() || correct.clips.contains(&id)
}
