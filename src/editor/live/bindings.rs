//! Bindings by hand of live channels: what they move in place of what has their names.
//!
//! They change no document, and are kept until another model is opened. A recording of live motion has the same bindings.

use super::LiveMotion;
use crate::editor::Editor;
use crate::motion::ChannelKind;
use crate::motion::bindings::{Binding, BoundTo, binding_of, set_binding};
use crate::motion::live::LiveBindings;
use crate::rig::Character;
use crate::sentence::sentence;
use std::collections::BTreeSet;

impl Editor {
    /// What a live channel is bound to by hand; `None`: it moves what has its name.
    pub fn live_binding_of(&self, channel: (&str, ChannelKind)) -> Option<&BoundTo> {
        binding_of(&self.live.bindings, channel)
    }

    /// Binds a live channel; `None`: it moves what has its name again. A binding that cannot be carried out is refused with a
    /// notice. No edit of the document.
    pub fn bind_live_channel(&mut self, channel: (&str, ChannelKind), to: Option<BoundTo>) {
        let mut bindings = self.live.bindings.clone();
        set_binding(&mut bindings, channel, to);
        if bindings == self.live.bindings {
            return;
        }
        self.follow_live_character();
        let live = self.live.motion.as_ref().zip(self.live.character.as_ref());
        if let Some(why) = live.and_then(|(live, of)| live.binding_fault(&bindings, &of.character))
        {
            return self.notify_error(sentence(&why));
        }
        self.live.bindings = bindings;
        let (name, kind) = channel;
        let known = &mut self.live.bound_joints;
        known.retain(|(of, of_kind), _| of != name || of_kind.is_some_and(|of| of != kind));
        self.follow_bound_bones();
        // A location counts from where it is now.
        self.follow_live_pose();
    }
}

impl Editor {
    /// Gives bound bones the names that they have now, where they were renamed, and finds those of new bindings.
    pub(super) fn follow_bound_bones(&mut self) {
        let skeleton = self.document.skeleton();
        let joints = &mut self.live.bound_joints;
        let bindings = &mut self.live.bindings;
        let key = |of: &Binding| (of.channel.clone(), of.kind());
        let bound: BTreeSet<_> = bindings.iter().map(key).collect();
        joints.retain(|known, _| bound.contains(known));
        for binding in bindings {
            let key = key(binding);
            let Some(name) = binding.to.joint().map(str::to_owned) else {
                joints.remove(&key);
                continue;
            };
            let known = joints.get(&key).copied();
            match known.filter(|known| skeleton.is_live(*known)) {
                Some(joint) => {
                    let now = &skeleton.joint(joint).name;
                    // Not to a name that means another bone.
                    if skeleton.joint_named(now) == Some(joint) && !now.is_empty() {
                        binding.to.rename_joint(&name, now);
                    }
                }
                None => {
                    joints.remove(&key);
                    if let Some(joint) = skeleton.joint_named(&name) {
                        joints.insert(key, joint);
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
            let found = tried.newest(self.samples(), f64::INFINITY, &target, None);
            found.faults
        };
        let known = faults(self.bindings.clone());
        let mut tried = self.bindings.clone();
        tried.set(bindings);
        // What did not fit before is no fault of the new one.
        let mut faults = faults(tried).into_iter();
        let is_new = |why: &String| known.iter().all(|(_, known)| known != why);
        faults.find_map(|(_, why)| is_new(&why).then_some(why))
    }

    /// Whether a channel is one of the body that is retargeted, or of what carries it.
    pub fn is_of_body(&self, channel: (&str, ChannelKind)) -> bool {
        self.has_body() && self.samples().is_of_body(channel)
    }

    /// The names of the channels that have arrived, each with its kind.
    pub fn channels(&self) -> Vec<(&str, ChannelKind)> {
        self.samples().channels()
    }
}
