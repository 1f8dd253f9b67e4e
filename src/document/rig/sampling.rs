//! The motions of a document's clips as functions of time, before its rig changes.

use super::measure;
use crate::document::Document;
use crate::skeleton::constraint::Evaluator;
use crate::skeleton::orientation::world_of;
use crate::skeleton::resample::{KeyTimes, Resampling};
use crate::skeleton::{Clip, JointId, Pose, Property, Skeleton};
use glam::{DAffine3, DVec3};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A clip restricted to what moves some joints, with their constraints.
pub(super) struct Motion {
    skeleton: Arc<Skeleton>,
    clip: Clip,
    rest: Arc<Pose>,
    pose: Pose,
    /// The constraints that move the joints; `None` where there are none.
    evaluator: Option<Evaluator>,
}

impl Motion {
    /// The motion of `joints` in `clip`, over the rest pose.
    pub(super) fn new(document: &Document, clip: &Clip, joints: &BTreeSet<JointId>) -> Self {
        let joints = with_inputs(document, joints);
        let channels = clip.channels.iter();
        let wanted = channels
            .filter(|c| joints.contains(&c.joint) && c.property != Property::MorphWeights)
            .cloned();
        let evaluator = document.evaluator().map(|all| all.only(&joints));
        Self {
            skeleton: document.skeleton.clone(),
            clip: Clip {
                channels: wanted.collect(),
                ..clip.clone()
            },
            rest: document.rest_pose.clone(),
            pose: Pose::clone(&document.rest_pose),
            evaluator: evaluator.filter(|evaluator| !evaluator.is_idle()),
        }
    }

    /// The keyframe times of all channels.
    pub(super) fn times(&self) -> KeyTimes {
        KeyTimes::of(&self.clip, |_| true)
    }

    /// The pose of the selected joints at a time.
    pub(super) fn at(&mut self, time_secs: f64) -> &Pose {
        self.apply_keys(time_secs);
        self.constrain();
        &self.pose
    }

    /// The world transform of a joint at a time, by its own keyframes under the constrained motion of its parent; all its
    /// ancestors must be among the joints.
    pub(super) fn world(&mut self, joint: JointId, time_secs: f64) -> DAffine3 {
        self.apply_keys(time_secs);
        let own = self.pose.locals[joint.get()];
        self.constrain();
        self.pose.locals[joint.get()] = own;
        world_of(&self.skeleton, &self.pose, joint)
    }

    fn apply_keys(&mut self, time_secs: f64) {
        if self.evaluator.is_some() {
            self.pose.locals.clone_from(&self.rest.locals);
        }
        self.clip.apply(time_secs, &mut self.pose);
    }

    fn constrain(&mut self) {
        if let Some(evaluator) = &self.evaluator {
            evaluator.apply(&mut self.pose);
        }
    }
}

/// `joints`, and what their constraints compute them from.
pub(super) fn with_inputs(document: &Document, joints: &BTreeSet<JointId>) -> BTreeSet<JointId> {
    let mut all = joints.clone();
    let driven = document.evaluator().map(|evaluator| evaluator.driven());
    for (joint, inputs) in driven.into_iter().flatten() {
        if joints.contains(&joint) {
            all.extend(inputs);
        }
    }
    all
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
    let diagonal = measure::diagonal(document);
    resampling_of(document, diagonal, parent, joint, tolerance)
}

/// As [`resampling`], of a model with this `diagonal`.
pub(super) fn resampling_of(
    document: &Document,
    diagonal: f64,
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
        length: tolerance * diagonal / unit,
        reach: measure::reach(document, joint) / unit,
    }
}
