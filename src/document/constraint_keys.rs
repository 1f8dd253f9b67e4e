//! The constraints of a document as keyframes.

use super::Document;
use super::rig::{KEY_TOLERANCE, measure};
use crate::skeleton::constraint::{BakeTolerance, BakedKeys, Evaluator, bake};
use crate::skeleton::{Channel, Clip, JointId, Pose};
use crate::task::{Cancelled, Task};
use glam::DVec3;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The largest error of a rotation, degrees.
pub const LARGEST_DEGREES: f64 = 0.1;

/// Makes keyframes of what the constraints of a document do to its clips.
pub struct ConstraintKeys {
    evaluator: Arc<Evaluator>,
    rest: Arc<Pose>,
    tolerances: BTreeMap<JointId, BakeTolerance>,
}

impl ConstraintKeys {
    /// For keyframes within [`LARGEST_DEGREES`], and within [`KEY_TOLERANCE`] of the model's diagonal at the points that a
    /// joint moves. `None` where no constraint acts.
    pub fn of(document: &Document) -> Option<Self> {
        Self::within(document, LARGEST_DEGREES, KEY_TOLERANCE)
    }

    /// As [`ConstraintKeys::of`], for other tolerances: degrees, and a fraction of the diagonal.
    pub fn within(document: &Document, degrees: f64, tolerance: f64) -> Option<Self> {
        let evaluator = document.evaluator()?.clone();
        let skeleton = &document.skeleton;
        let length = tolerance * measure::diagonal(document);
        let world = document.rest_pose.world_matrices(skeleton);
        let of_joint = |joint: JointId| {
            let share = length / measure::reach(document, joint);
            let share = if share > 0.0 { share } else { f64::INFINITY };
            let unit = skeleton.joint(joint).parent.map_or(1.0, |parent| {
                let linear = world[parent.get()].matrix3;
                let sizes = [linear.x_axis, linear.y_axis, linear.z_axis].map(DVec3::length);
                sizes.into_iter().fold(0.0, f64::max)
            });
            let unit = if unit > 0.0 { unit } else { 1.0 };
            let within = BakeTolerance {
                radians: share.min(degrees.to_radians()),
                length: length / unit,
                scale: share.min(tolerance),
            };
            (joint, within)
        };
        let driven = evaluator.driven();
        Some(Self {
            tolerances: driven
                .into_iter()
                .map(|(joint, _)| of_joint(joint))
                .collect(),
            rest: document.rest_pose.clone(),
            evaluator,
        })
    }

    /// Number of joints that get keyframes.
    pub fn n_joints(&self) -> usize {
        self.tolerances.len()
    }

    /// The channels that the constraints give `clip`, apart from those that it has.
    pub fn channels(&self, clip: &Clip, task: &Task) -> Result<Vec<Channel>, Cancelled> {
        Ok(self.baked(clip, task)?.channels)
    }

    /// As [`ConstraintKeys::channels`], with the largest error.
    pub fn baked(&self, clip: &Clip, task: &Task) -> Result<BakedKeys, Cancelled> {
        let exact = BakeTolerance {
            radians: 0.0,
            length: 0.0,
            scale: 0.0,
        };
        let tolerance = |joint: JointId| self.tolerances.get(&joint).copied().unwrap_or(exact);
        bake(&self.evaluator, &self.rest, clip, tolerance, task)
    }
}
