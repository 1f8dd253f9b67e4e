//! Keyframes of the influence of constraints, in the clip on screen. Each command is one undo step.

use super::Editor;
use crate::document::ClipId;
use crate::skeleton::constraint::Constraint;
use crate::skeleton::{Clip, JointId, Property};

/// What the clip on screen has of an influence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InfluenceKeys {
    /// No keyframes: the influence is the same at all times.
    None,
    /// Keyframes at other times.
    Elsewhere,
    /// A keyframe at the current time.
    Here,
}

impl Editor {
    /// The influence of a constraint at the time on screen.
    pub fn shown_influence(&self, joint: JointId, index: usize) -> f64 {
        let Some(constraint) = self.document.constraints_of(joint).get(index) else {
            return 0.0;
        };
        match self.influence_channel(joint, constraint) {
            None => constraint.influence,
            Some((_, clip, channel)) => {
                let mut value = [0.0];
                clip.channels[channel].sample(self.playback().time_secs, &mut value);
                value[0].clamp(0.0, 1.0)
            }
        }
    }

    /// What the clip on screen has of the influence of a constraint.
    pub fn influence_keys(&self, joint: JointId, index: usize) -> InfluenceKeys {
        let constraint = self.document.constraints_of(joint).get(index);
        let found = constraint.and_then(|c| self.influence_channel(joint, c));
        let now = self.playback().time_secs as f32;
        match found {
            None => InfluenceKeys::None,
            Some((_, clip, channel)) => {
                let near = clip.channels[channel].key_near(now, self.half_frame_secs());
                near.map_or(InfluenceKeys::Elsewhere, |_| InfluenceKeys::Here)
            }
        }
    }

    /// Sets the influence of a constraint: where the clip on screen has keyframes of it, in a keyframe at the current time.
    /// One undo step, or part of the open one.
    pub fn set_influence(&mut self, joint: JointId, index: usize, influence: f64, label: &str) {
        let influence = influence.clamp(0.0, 1.0);
        let list = self.document.constraints_of(joint);
        let Some(constraint) = list.get(index) else {
            return;
        };
        let Some((id, clip, channel)) = self.influence_channel(joint, constraint) else {
            self.change_constraint(joint, index, label, |constraint| {
                constraint.influence = influence;
            });
            return;
        };
        let property = clip.channels[channel].property;
        let now = self.playback().time_secs.max(0.0) as f32;
        let mut keyed = clip.clone();
        keyed.set_key(joint, property, now, &[influence], self.half_frame_secs());
        if !self.history.is_open() {
            self.finish_tool();
        }
        self.set_clip(id, Some(keyed), label);
    }

    /// Inserts a keyframe of the influence of a constraint at the current time of the clip on screen; creates a clip if none
    /// is.
    pub fn key_influence(&mut self, joint: JointId, index: usize) {
        self.finish_tool();
        self.end_key_drag();
        let list = self.document.constraints_of(joint).to_vec();
        let Some(constraint) = list.get(index) else {
            return;
        };
        let value = self.shown_influence(joint, index);
        let known = constraint.keyed_as;
        let Some(number) = known.or_else(|| self.document.free_influence_number(joint)) else {
            return self.notify("This bone has had too many constraints with keyframes.");
        };
        let now = self.playback().time_secs.max(0.0) as f32;
        let name = self.constraint_name(joint, index);
        let label = format!("Insert keyframe for influence of {name}");
        let shown = self.shown_clip().map(|(id, clip)| (id, clip.clone()));
        let is_new = shown.is_none();
        let (id, mut clip) =
            shown.unwrap_or_else(|| (self.free_id(), Clip::named(self.free_name("Clip 1"))));
        let property = Property::Influence(number);
        clip.set_key(joint, property, now, &[value], self.half_frame_secs());
        self.history.begin(&self.document, &label);
        if known.is_none() {
            self.change_constraint(joint, index, &label, |constraint| {
                constraint.keyed_as = Some(number);
            });
        }
        let is_named = self.document.constraints_of(joint)[index].keyed_as == Some(number);
        if !is_named || !self.set_clip(id, Some(clip), &label) {
            let dirty = self.history.cancel(&mut self.document);
            self.refresh(&dirty);
            return;
        }
        let playback = self.playback_mut();
        playback.clip = Some(id);
        // The pose stays on screen, and is not keyed.
        playback.unkeyed |= is_new;
        self.history.commit(&self.document);
        self.evaluation.stale = true;
    }

    /// Deletes the keyframe of the influence of a constraint at the current time. After the last one the influence is the
    /// constraint's own again.
    pub fn delete_influence_key(&mut self, joint: JointId, index: usize) {
        self.finish_tool();
        self.end_key_drag();
        let list = self.document.constraints_of(joint);
        let Some(constraint) = list.get(index) else {
            return;
        };
        let now = self.playback().time_secs as f32;
        let found = self
            .influence_channel(joint, constraint)
            .and_then(|(id, clip, channel)| {
                let near = clip.channels[channel].key_near(now, self.half_frame_secs())?;
                Some((id, clip.clone(), channel, near))
            });
        let Some((id, mut clip, channel, near)) = found else {
            return self.notify("The influence has no keyframe at this time.");
        };
        match clip.channels[channel].without_keys(|key| key == near) {
            Some(left) => clip.channels[channel] = left,
            None => {
                clip.channels.remove(channel);
            }
        }
        let name = self.constraint_name(joint, index);
        let label = format!("Delete keyframe for influence of {name}");
        self.set_clip(id, Some(clip), &label);
    }

    /// In the open step: deletes the keyframes of an influence in all clips.
    pub(super) fn delete_influence(&mut self, joint: JointId, number: u16, label: &str) {
        let property = Property::Influence(number);
        let clips = self.document.clips().iter();
        let keyed = clips.filter(|(_, clip)| clip.channel_of(joint, property).is_some());
        let keyed: Vec<(ClipId, Clip)> = keyed.map(|(&id, c)| (id, Clip::clone(c))).collect();
        for (id, mut clip) in keyed {
            clip.channels
                .retain(|c| (c.joint, c.property) != (joint, property));
            self.set_clip(id, Some(clip), label);
        }
    }

    /// The clip on screen, and its channel of the influence of a constraint.
    fn influence_channel(
        &self,
        joint: JointId,
        constraint: &Constraint,
    ) -> Option<(ClipId, &Clip, usize)> {
        let property = Property::Influence(constraint.keyed_as?);
        let (id, clip) = self.shown_clip()?;
        Some((id, clip, clip.channel_of(joint, property)?))
    }
}
