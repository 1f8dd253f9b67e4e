//! Times in clips, and poses at them: what a model is evaluated at.

use super::Pose;
use std::sync::Arc;

/// A clip; the glTF animation index for imported ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClipId(pub u32);

/// A time in a clip: what follows time besides the joints is evaluated at it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moment {
    /// The clip; `None`: a pose of no clip.
    pub clip: Option<ClipId>,
    /// Seconds in the clip; 0 without one.
    pub secs: f64,
}

impl Moment {
    /// A time in a clip, seconds.
    pub fn of(clip: ClipId, secs: f64) -> Self {
        Self {
            clip: Some(clip),
            secs,
        }
    }
}

/// A pose and its moment.
#[derive(Clone, Copy, Debug)]
pub struct PoseAt<'a> {
    /// The pose.
    pub pose: &'a Pose,
    /// Its time.
    pub moment: Moment,
}

impl Pose {
    /// This pose at a moment.
    pub fn at(&self, moment: Moment) -> PoseAt<'_> {
        PoseAt { pose: self, moment }
    }
}

impl<'a> From<&'a Pose> for PoseAt<'a> {
    /// The pose outside all clips.
    fn from(pose: &'a Pose) -> Self {
        pose.at(Moment::default())
    }
}

impl<'a> From<&'a Arc<Pose>> for PoseAt<'a> {
    fn from(pose: &'a Arc<Pose>) -> Self {
        pose.at(Moment::default())
    }
}
