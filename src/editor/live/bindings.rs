//! Bindings by hand of live channels: what they move in place of what has their names.
//!
//! They change no document, and are kept until another model is opened. A recording of live motion has the same bindings.

use super::LiveMotion;
use crate::editor::Editor;
use crate::motion::bindings::{Binding, BoundTo};
use crate::motion::live::LiveBindings;
use crate::rig::Character;
use crate::sentence::sentence;

impl Editor {
    /// What a live channel is bound to by hand; `None`: it moves what has its name.
    pub fn live_binding_of(&self, channel: &str) -> Option<&BoundTo> {
        let mut bindings = self.live.bindings.iter();
        let found = bindings.find(|binding| binding.channel == channel);
        found.map(|binding| &binding.to)
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
                Some(joint) => {
                    let now = &skeleton.joint(joint).name;
                    // Not to a name that means another bone.
                    if skeleton.joint_named(now) == Some(joint) && !now.is_empty() {
                        to.rename_joint(&name, now);
                    }
                }
                None => {
                    joints.remove(channel);
                    if let Some(joint) = skeleton.joint_named(&name) {
                        joints.insert(channel.clone(), joint);
                    }
                }
            }
        }
    }
}

impl LiveMotion {
    /// What is wrong with these bindings on the channels that have arrived, and not with the present ones; the end of a sentence.
    fn binding_fault(&self, bindings: &[Binding], character: &Character) -> Option<String> {
        let faults = |mut tried: LiveBindings| {
            let target = character.bind_target();
            tried.newest(self.samples(), f64::INFINITY, &target).faults
        };
        let known = faults(self.bindings.clone());
        let mut tried = self.bindings.clone();
        tried.set(bindings);
        // What did not fit before is no fault of the new one.
        let mut faults = faults(tried).into_iter();
        faults.find(|why| !known.contains(why))
    }

    /// Whether a channel is one of the body that is retargeted, or of what carries it.
    pub fn is_of_body(&self, channel: &str) -> bool {
        self.has_body() && self.samples().is_of_body(channel)
    }

    /// The names of the channels that have arrived, each with its kind: "marker", "rotation", "scalar" or "text".
    pub fn channels(&self) -> Vec<(&str, &'static str)> {
        self.samples().channels()
    }
}
