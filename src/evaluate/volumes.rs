//! Volume and bulge over a clip.

use super::{Comparison, Gauge};
use crate::deform::diagnostics::{
    Enclosure, JointVolume, Metric, Summary, Volume, VolumeReport, measure_into,
};
use crate::document::{ClipId, Document, InstanceId, MeshId};
use crate::skeleton::{JointId, Moment, Pose};
use crate::task::{Cancelled, Task};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The largest number of frames that are measured; a longer clip is sampled at this many.
const MAX_FRAMES: usize = 600;

/// Whether a surface encloses a volume.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Closure {
    /// No part is closed: it has no volume.
    #[default]
    Open,
    /// Some parts are closed: only those have a volume.
    Partly,
    /// All of it is closed.
    Closed,
}

/// Volume over the frames of a study; 0 and NaN without a volume.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VolumeTrack {
    /// At rest, cubic metres.
    pub rest: f64,
    /// One a frame: the relative change; NaN without a volume, infinite where a position is not finite.
    pub changes: Vec<f32>,
}

impl VolumeTrack {
    /// The frame and the value of the largest change.
    pub fn worst(&self) -> Option<(usize, f32)> {
        let known = self.changes.iter().enumerate().filter(|(_, v)| !v.is_nan());
        let worst = known.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))?;
        Some((worst.0, *worst.1))
    }
}

/// One instance of a study.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InstanceVolumes {
    /// Whether it is closed.
    pub closure: Closure,
    /// Of all closed parts.
    pub whole: VolumeTrack,
    /// Approximate shares of its joints, by the skeleton's index.
    pub joints: BTreeMap<JointId, VolumeTrack>,
    /// One a frame: the largest bulge, relative to the rest distance; NaN without bones.
    pub bulges: Vec<f32>,
}

/// Volume and bulge of all instances over the frames of a clip, or in one pose.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VolumeStudy {
    /// The clip; `None`: the pose on screen, a single frame.
    pub clip: Option<ClipId>,
    /// The times of the frames, seconds, ascending.
    pub times_secs: Vec<f64>,
    /// By instance.
    pub instances: BTreeMap<InstanceId, InstanceVolumes>,
    /// All closed parts together.
    pub whole: VolumeTrack,
    /// One a frame: the largest bulge of all instances.
    pub bulges: Vec<f32>,
}

impl VolumeStudy {
    /// The frame nearest to a time.
    pub fn moment(&self, time_secs: f64) -> usize {
        let gap = |i: &usize| (self.times_secs[*i] - time_secs).abs();
        (0..self.times_secs.len())
            .min_by(|a, b| gap(a).total_cmp(&gap(b)))
            .unwrap_or(0)
    }
}

/// Measures `document` at every frame of the clip on screen, `fps` a second, or in the pose on screen where there is
/// none.
pub fn study(document: &Document, fps: u32, task: &Task) -> Result<VolumeStudy, Cancelled> {
    let session = document.session();
    let clip = session
        .playback
        .clip
        .and_then(|id| Some((id, document.clips().get(&id)?)));
    let (times, poses): (Vec<f64>, Vec<Arc<Pose>>) = match clip {
        None => (vec![0.0], vec![document.shown_pose()]),
        Some((id, _)) => {
            let (start, end) = document.clip_span(id).unwrap_or((0.0, 0.0));
            // The ends of a clip are rounded, which must not add a frame.
            let frames = ((end - start).max(0.0) * f64::from(fps.max(1)) - 1e-3).ceil();
            let n = (frames as usize).clamp(1, MAX_FRAMES - 1);
            let time = |i: usize| start + (end - start) * i as f64 / n as f64;
            let times: Vec<f64> = (0..=n).map(time).collect();
            (times, Vec::new())
        }
    };
    let mut study = VolumeStudy {
        clip: clip.map(|(id, _)| id),
        ..VolumeStudy::default()
    };
    let meshes = document.meshes().iter();
    let enclosures: BTreeMap<MeshId, Enclosure> = meshes
        .map(|(&id, item)| task.check().map(|()| (id, Enclosure::of(&item.geometry))))
        .collect::<Result<_, _>>()?;
    let mut gauge = Gauge::default();
    let mut values = Vec::new();
    let mut known = Vec::new();
    for (i, &time) in times.iter().enumerate() {
        task.step("Measuring", i as f32 / times.len() as f32)?;
        let (pose, moment) = match (clip, poses.first()) {
            (Some((id, clip)), _) => {
                let pose = Arc::new(document.pose_of_clip(clip, time));
                (pose, Moment::of(id, time))
            }
            (None, Some(pose)) => (pose.clone(), Moment::default()),
            (None, None) => (document.shown_pose(), Moment::default()),
        };
        gauge.evaluate(document, pose.at(moment), &Comparison::default());
        let mut whole = [0.0; 2];
        let mut bulge = f32::NAN;
        for (&id, instance) in document.instances() {
            task.check()?;
            let (Some(shape), Some(enclosure)) =
                (gauge.shape(document, id), enclosures.get(&instance.mesh))
            else {
                continue;
            };
            let of = study.instances.entry(id).or_default();
            let report = VolumeReport::of(&shape, enclosure);
            of.closure = match report.closed_parts {
                Volume::Open => Closure::Open,
                Volume::Closed { .. } if report.is_closed => Closure::Closed,
                Volume::Closed { .. } => Closure::Partly,
            };
            if let Volume::Closed { rest, posed } = report.closed_parts {
                of.whole.rest = rest;
                whole[0] += rest;
                whole[1] += posed;
            }
            let change = report.closed_parts.change();
            of.whole.changes.push(change.map_or(f32::NAN, |c| c as f32));
            let skin = instance.skin.and_then(|skin| document.skins().get(&skin));
            let joints = skin.map_or(&[][..], |skin| &skin.joints);
            for share in &report.joints {
                push_joint(of, joints, share, i);
            }
            measure_into(Metric::Bulge, &shape, &mut values);
            let summary = Summary::of_in(&values, &mut known);
            let largest = if summary.n > 0 { summary.max } else { f32::NAN };
            of.bulges.push(largest);
            bulge = bulge.max(largest);
        }
        study.whole.rest = whole[0];
        let change = (whole[0] > 0.0).then(|| whole[1] / whole[0] - 1.0);
        let change = change.map_or(f32::NAN, |c| c as f32);
        study.whole.changes.push(change);
        study.bulges.push(bulge);
        study.times_secs.push(time);
    }
    Ok(study)
}

/// Adds the share of a joint at a frame; earlier frames without one are NaN.
fn push_joint(of: &mut InstanceVolumes, joints: &[JointId], share: &JointVolume, moment: usize) {
    let Some(&joint) = joints.get(usize::from(share.joint)) else {
        return;
    };
    let track = of.joints.entry(joint).or_default();
    track.rest = share.rest;
    track.changes.resize(moment, f32::NAN);
    track
        .changes
        .push(share.change.map_or(f32::NAN, |c| c as f32));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_moment_is_the_one_of_the_largest_magnitude() {
        let track = VolumeTrack {
            rest: 1.0,
            changes: vec![0.0, f32::NAN, 0.02, -0.05, 0.04],
        };
        assert_eq!(track.worst(), Some((3, -0.05)));
        assert_eq!(VolumeTrack::default().worst(), None);
        let study = VolumeStudy {
            times_secs: vec![0.0, 0.5, 1.0],
            ..VolumeStudy::default()
        };
        assert_eq!([-9.0, 0.2, 0.3, 9.0].map(|t| study.moment(t)), [0, 0, 1, 2]);
        assert_eq!(VolumeStudy::default().moment(1.0), 0);
    }

    #[test]
    fn an_empty_document_is_measured_and_a_cancelled_study_ends() {
        let task = Task::new();
        let found = study(&Document::default(), 30, &task).unwrap();
        assert_eq!(found.times_secs, [0.0]);
        assert!(found.whole.changes[0].is_nan());
        task.cancel();
        assert_eq!(study(&Document::default(), 30, &task), Err(Cancelled));
    }
}
