//! Bindings by hand of live channels: what they move in place of what has their names.
//!
//! They change no document, and are kept until another model is opened. A recording of live motion has the same bindings.

use super::LiveMotion;
use crate::editor::Editor;
use crate::motion::bindings::{Binding, BoundTo};
use crate::rig::Character;
use crate::sentence::sentence;

impl Editor {
    /// What a live channel is bound to by hand; `None`: it moves what has its name.
    pub fn live_binding_of(&self, channel: &str) -> Option<&BoundTo> {
        let mut bindings = self.live.bindings.iter();
        let found = bindings.find(|binding| binding.channel == channel);
        found.map(|binding| &binding.to)
    }

    /// Whether a live channel belongs to a body that is retargeted.
    pub fn live_moves_the_body(&self, channel: &str) -> bool {
        self.live().is_some_and(|live| live.is_of_body(channel))
    }

    /// Binds a live channel; `None`: it moves what has its name again. A binding that cannot be carried out is refused with a
    /// notice. No edit of the document.
    pub fn bind_live_channel(&mut self, channel: &str, to: Option<BoundTo>) {
        let mut bindings = self.live.bindings.clone();
        let place = bindings.iter().position(|of| of.channel == channel);
        bindings.retain(|of| of.channel != channel);
        if let Some(to) = to {
            let channel = channel.to_owned();
            let at = place.unwrap_or(bindings.len());
            bindings.insert(at, Binding { channel, to });
        }
        if bindings == self.live.bindings {
            return;
        }
        let character = Character::of(&self.document);
        let live = self.live.motion.as_ref();
        if let Some(why) = live.and_then(|live| live.binding_fault(&bindings, &character)) {
            return self.notify_error(sentence(&why));
        }
        // It has what was added since, as a corrective sample.
        self.live.character = None;
        self.live.bindings = bindings;
        self.live.bound_joints.remove(channel);
        self.follow_bound_bones();
    }
}

impl Editor {
    /// Gives bound bones the names that they have now, where they were renamed, and finds those of new bindings.
    pub(super) fn follow_bound_bones(&mut self) {
        let skeleton = self.document.skeleton();
        let joints = &mut self.live.bound_joints;
        let bindings = &mut self.live.bindings;
        joints.retain(|channel, _| bindings.iter().any(|of| of.channel == *channel));
        for Binding { channel, to } in bindings {
            let Some(name) = to.joint().map(str::to_owned) else {
                joints.remove(channel);
                continue;
            };
            let known = joints.get(channel).copied();
            match known.filter(|known| skeleton.is_live(*known)) {
                Some(joint) if !skeleton.joint(joint).name.is_empty() => {
                    to.rename_joint(&name, &skeleton.joint(joint).name);
                }
                _ => {
                    let mut all = skeleton.live_joints();
                    if let Some(joint) = all.find(|of| skeleton.joint(*of).name == name) {
                        joints.insert(channel.clone(), joint);
                    }
                }
            }
        }
    }
}

impl LiveMotion {
    /// Why bindings cannot be carried out on the channels that have arrived; the end of a sentence.
    fn binding_fault(&self, bindings: &[Binding], character: &Character) -> Option<String> {
        let mut tried = self.bindings.clone();
        tried.set(bindings);
        let found = tried.newest(self.samples(), f64::INFINITY, &character.bind_target());
        found.why
    }

    /// Whether a channel is one of a body, or of what carries it.
    fn is_of_body(&self, channel: &str) -> bool {
        let samples = self.samples();
        samples.has_body() && samples.is_of_body(channel)
    }

    /// The names of the channels that have arrived, each with its kind: "marker", "rotation", "scalar" or "text".
    pub fn channels(&self) -> Vec<(&str, &'static str)> {
        self.samples().channels()
    }
}
