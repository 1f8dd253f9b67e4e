//! The motions of a document's clips as functions of time, before its rig changes.

use super::measure;
use crate::document::Document;
use crate::skeleton::orientation::world_of;
use crate::skeleton::resample::{KeyTimes, Resampling};
use crate::skeleton::{Clip, JointId, Pose, Property, Skeleton};
use glam::{DAffine3, DVec3};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A clip restricted to the channels of some joints.
pub(super) struct Motion {
    skeleton: Arc<Skeleton>,
    clip: Clip,
    pose: Pose,
}

impl Motion {
    /// The motion of `joints` in `clip`, over the rest pose.
    pub(super) fn new(document: &Document, clip: &Clip, joints: &BTreeSet<JointId>) -> Self {
        let channels = clip.channels.iter();
        let wanted = channels
            .filter(|c| joints.contains(&c.joint) && c.property != Property::MorphWeights)
            .cloned();
        Self {
            skeleton: document.skeleton.clone(),
            clip: Clip {
                channels: wanted.collect(),
                ..clip.clone()
            },
            pose: Pose::clone(&document.rest_pose),
        }
    }

    /// The keyframe times of all channels.
    pub(super) fn times(&self) -> KeyTimes {
        KeyTimes::of(&self.clip, |_| true)
    }

    /// The pose of the selected joints at a time.
    pub(super) fn at(&mut self, time_secs: f64) -> &Pose {
        self.clip.apply(time_secs, &mut self.pose);
        &self.pose
    }

    /// The world transform of a joint at a time; all its ancestors must be among the joints.
    pub(super) fn world(&mut self, joint: JointId, time_secs: f64) -> DAffine3 {
        self.clip.apply(time_secs, &mut self.pose);
        world_of(&self.skeleton, &self.pose, joint)
    }
}

/// `joint` and its ancestors.
pub(super) fn chain(skeleton: &Skeleton, joint: Option<JointId>) -> BTreeSet<JointId> {
    let above = joint.into_iter().flat_map(|j| skeleton.ancestors(j));
    above.chain(joint).collect()
}

/// The error limits of keyframes under `parent`: `tolerance` is a fraction of the model's diagonal, `reach` the extent
/// of `joint` and its descendants.
pub(super) fn resampling(
    document: &Document,
    parent: Option<JointId>,
    joint: JointId,
    tolerance: f64,
) -> Resampling {
    let rest = &document.rest_pose;
    let unit = parent.map_or(1.0, |parent| {
        let linear = world_of(&document.skeleton, rest, parent).matrix3;
        let sizes = [linear.x_axis, linear.y_axis, linear.z_axis].map(DVec3::length);
        sizes.into_iter().fold(0.0, f64::max)
    });
    let unit = if unit > 0.0 { unit } else { 1.0 };
    Resampling {
        length: tolerance * measure::diagonal(document) / unit,
        reach: measure::reach(document, joint) / unit,
    }
}
