//! The pose library of a document: named poses of some joints, each a clip of one keyframe
//! ([`Clip::of_pose`]), which changes of the rig treat as they treat clips.

use super::{ClipId, Document, EditError, PoseId};
use crate::skeleton::library_pose::PoseLibrary;
use crate::skeleton::{Clip, Property};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A clip, or a pose of the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MotionId {
    Clip(ClipId),
    Pose(PoseId),
}

impl Document {
    /// The poses of the library.
    pub fn poses(&self) -> &Arc<PoseLibrary> {
        &self.poses
    }

    /// An id after those of all poses of the library.
    pub fn free_pose_id(&self) -> PoseId {
        let last = self.poses.keys().next_back();
        PoseId(last.map_or(0, |id| id.0.saturating_add(1)))
    }

    /// The pose of the library with this name.
    pub fn pose_named(&self, name: &str) -> Option<PoseId> {
        let mut poses = self.poses.iter();
        Some(*poses.find(|(_, pose)| pose.name == name)?.0)
    }

    /// Whether a pose of the library may be added, replaced or removed.
    pub(super) fn check_library_pose(
        &self,
        id: PoseId,
        pose: Option<&Clip>,
    ) -> Result<(), EditError> {
        match pose {
            Some(pose) => self
                .check_pose_clip(pose)
                .map_err(|why| EditError::LibraryPose {
                    name: pose.name.clone(),
                    why,
                }),
            None if self.poses.contains_key(&id) => Ok(()),
            None => Err(EditError::NoPose(id)),
        }
    }

    /// Whether a clip is a pose of this model: one keyframe of each channel, without influences of constraints.
    pub(super) fn check_pose_clip(&self, pose: &Clip) -> Result<(), String> {
        self.check_clip(pose)?;
        for channel in &pose.channels {
            if channel.times.len() != 1 || matches!(channel.property, Property::Influence(_)) {
                let bone = self.skeleton.label(channel.joint);
                return Err(format!("“{bone}” has other values than one transform"));
            }
        }
        Ok(())
    }

    /// The clips and the poses of the library.
    pub(super) fn motions(&self) -> impl Iterator<Item = &Arc<Clip>> {
        self.clips.values().chain(self.poses.values())
    }

    /// [`Self::motions`], to change.
    pub(super) fn motions_mut(&mut self) -> impl Iterator<Item = &mut Arc<Clip>> {
        // Without poses the library stays the same one.
        let poses = (!self.poses.is_empty()).then(|| Arc::make_mut(&mut self.poses));
        let poses = poses.into_iter().flat_map(BTreeMap::values_mut);
        self.clips.values_mut().chain(poses)
    }

    pub(super) fn motion_ids(&self) -> Vec<MotionId> {
        let clips = self.clips.keys().map(|&id| MotionId::Clip(id));
        let poses = self.poses.keys().map(|&id| MotionId::Pose(id));
        clips.chain(poses).collect()
    }

    pub(super) fn motion(&self, id: MotionId) -> Option<&Arc<Clip>> {
        match id {
            MotionId::Clip(id) => self.clips.get(&id),
            MotionId::Pose(id) => self.poses.get(&id),
        }
    }

    pub(super) fn set_motion(&mut self, id: MotionId, motion: Arc<Clip>) {
        match id {
            MotionId::Clip(id) => self.clips.insert(id, motion),
            MotionId::Pose(id) => Arc::make_mut(&mut self.poses).insert(id, motion),
        };
    }
}
