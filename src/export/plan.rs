//! The plan of an export: its clips and its correction.

use super::clip_keys::{WrittenClips, has_keys};
use super::error::ExportError;
use super::options::ExportOptions;
use crate::bake::{BakeMode, BakeOptions};
use crate::document::{ClipId, Document, Instance};
use crate::task::Task;

/// The message when a file of morph frames is not possible.
pub(super) const NO_CLIP: &str =
    "There is no clip to make frames of. To export the pose, export the current frame as a mesh.";
pub(super) const NO_SKIN: &str = "The model has no skinned mesh, so it needs no frames.";

/// The content of an export with some options.
pub(super) struct Plan<'a> {
    pub(super) options: &'a ExportOptions,
    /// The clips of the file, before baking.
    pub(super) clips: WrittenClips,
    /// Number of clips of the document not chosen for a file of morph frames.
    pub(super) n_not_chosen: usize,
    /// Number of chosen clips without keyframes, which a file of morph frames leaves out.
    pub(super) n_without_keys: usize,
}

impl<'a> Plan<'a> {
    /// The plan, or an error for impossible options.
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
                "Corrections require the file's own rest pose. They cannot be combined with writing the pose as the rest pose.",
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
        let is_still = |i: &Instance| i.skin.is_none() && !document.is_driven(i);
        if document.instances().values().all(|i| is_still(i)) {
            return refuse(NO_SKIN);
        }
        Ok(plan)
    }

    /// Whether the file gets what was repaired on reading: its errors are measured, and players do not repair anything.
    pub(super) fn repairs(&self, document: &Document) -> bool {
        let source = document.source().filter(|_| self.options.correct.is_some());
        source.is_some_and(|source| !source.repairs.is_empty())
    }

    /// Whether a file without correction would differ from the source in anything but its format. Painted maps, stacks
    /// and joint rules have no glTF representation.
    pub(super) fn changes(&self, document: &Document) -> bool {
        let joints = document.skeleton().joints().iter();
        let mut joints = joints.zip(document.source_skeleton().joints());
        joints.any(|(now, before)| now.name != before.name)
            || document.is_rig_edited()
            || !document.reshaped().is_empty()
            || self.clips.differ
            || self.repairs(document)
            || self.clips.clips.len() != document.source_clips().len()
            || document.constraints() != document.source_constraints()
            || (self.options.node_constraints && !document.constraints().is_empty())
            || document
                .meshes()
                .values()
                .any(|m| !m.edited_chunks().is_empty())
            || (self.options.write_pose_as_rest && document.posed() != *document.rest_pose())
            || (self.options.fix_weights && document.has_invalid_weights())
    }
}

/// Whether the options include a clip.
pub(super) fn is_chosen(correct: &BakeOptions, id: ClipId) -> bool {
    correct.clips.is_empty() || correct.clips.contains(&id)
}
