//! The pose of a clip at a time.

use super::Pose;
use super::clip::{Clip, Property};
use super::screw::ScrewTrack;
use glam::{DMat3, DQuat, DVec3};

impl Clip {
    /// Overwrites the properties of `pose` that this clip animates with its values at `time_secs`.
    pub fn apply(&self, time_secs: f64, pose: &mut Pose) {
        let mut value = Vec::new();
        for channel in &self.channels {
            value.clear();
            value.resize(channel.width(), 0.0);
            channel.sample(time_secs, &mut value);
            if let Property::Influence(number) = channel.property {
                pose.set_influence(channel.joint, number, value[0]);
                continue;
            }
            let local = &mut pose.locals[channel.joint.get()];
            match channel.property {
                Property::Translation => local.translation = DVec3::from_slice(&value),
                Property::Rotation => local.rotation = DQuat::from_slice(&value),
                Property::Scale => local.stretch = DMat3::from_diagonal(DVec3::from_slice(&value)),
                Property::MorphWeights => {
                    let weights = &mut pose.morph_weights[channel.joint.get()];
                    for (w, v) in weights.iter_mut().zip(&value) {
                        *w = *v as f32;
                    }
                }
                Property::Influence(_) => {}
            }
        }
        for track in ScrewTrack::all(self) {
            track.apply(time_secs, &mut pose.locals[track.joint.get()]);
        }
    }

    /// Overwrites the influences of constraints in `pose` that this clip animates.
    pub fn apply_influences(&self, time_secs: f64, pose: &mut Pose) {
        for channel in &self.channels {
            if let Property::Influence(number) = channel.property {
                let mut value = [0.0];
                channel.sample(time_secs, &mut value);
                pose.set_influence(channel.joint, number, value[0]);
            }
        }
    }
}
