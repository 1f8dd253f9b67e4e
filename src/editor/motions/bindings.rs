//! Bindings of a recording's channels by hand: what they move in place of what has their names.
//!
//! Data flow: a binding -> the motion is read again and put on the character in the background -> one undo step with the clip and
//! the bindings. Where nothing is moved, the bindings alone are the step.

use super::{Editor, ThenDo};
use crate::cluster::channel::{RecordingId, RecordingItem};
use crate::document::Edit;
use crate::motion::ChannelKind;
use crate::motion::bindings::{
    Binding, BoundTo, SamplePose, binding_of, names_of_samples, set_binding,
};
use crate::motion::retarget::BodyMotion;
use crate::motion::vmc::is_of_body;
use crate::rig::Character;
use std::sync::Arc;

impl Editor {
    /// The bindings of a recording: those that are being carried out, otherwise those that it has.
    fn bindings_of(&self, recording: RecordingId) -> &[Binding] {
        if let Some(reading) = &self.motions.reading
            && reading.of == Some(recording)
            && let ThenDo::Bind(bindings) = &reading.then
        {
            return bindings;
        }
        let adding = self.motions.adding.as_ref();
        let pending = adding.filter(|a| a.recording == Some(recording));
        let pending = pending.filter(|a| a.job.is_some() || !a.is_hidden);
        if let Some(adding) = pending {
            return &adding.settings.bindings;
        }
        let item = self.document.recordings().get(&recording);
        let motion = item.and_then(|item| item.motion.as_ref());
        motion.map_or(&[], |motion| &motion.settings.bindings)
    }

    /// What a channel of a recording is bound to by hand; `None`: it moves what has its name.
    pub fn binding_of(
        &self,
        recording: RecordingId,
        channel: (&str, ChannelKind),
    ) -> Option<&BoundTo> {
        binding_of(self.bindings_of(recording), channel)
    }

    /// Whether a channel belongs to a body that is retargeted: its bones are paired by *Adjust motion*.
    pub fn moves_the_body(&self, recording: RecordingId, channel: (&str, ChannelKind)) -> bool {
        let item = self.document.recordings().get(&recording);
        let of_body = |item: &RecordingItem| {
            let is_bone = item.recording().is_some_and(|of| is_of_body(of, channel));
            is_bone && item.motion.as_ref().is_some_and(|motion| motion.has_body())
        };
        item.is_some_and(|item| of_body(item))
    }

    /// Binds a channel of a recording; `None`: it moves what has its name again. In the background; one undo step with the clip, or
    /// a setting of the motion where that is being adjusted.
    pub fn bind_channel(
        &mut self,
        recording: RecordingId,
        channel: (&str, ChannelKind),
        to: Option<BoundTo>,
    ) {
        let Some(item) = self.document.recordings().get(&recording).cloned() else {
            return;
        };
        if self.binding_of(recording, channel) == to.as_ref() {
            return;
        }
        self.finish_tool();
        let mut bindings = self.bindings_of(recording).to_vec();
        set_binding(&mut bindings, channel, to);
        let adding = self.motions.adding.as_ref();
        let adjusted = adding.filter(|a| a.recording == Some(recording) && !a.is_hidden);
        if let Some(adding) = adjusted {
            let mut settings = adding.settings.clone();
            settings.bindings = bindings;
            self.set_motion_settings(settings);
            return;
        }
        // What was set before stays, as a step of its own.
        self.motions.end();
        if self.moves_something(&item, &bindings) {
            self.read_recorded_motion(recording, ThenDo::Bind(bindings));
        } else {
            self.keep_bindings(recording, &item, bindings);
        }
    }

    /// Whether a recording with these bindings moves a body, a joint or a morph target.
    fn moves_something(&self, item: &RecordingItem, bindings: &[Binding]) -> bool {
        let Some(of) = item.recording() else {
            return false;
        };
        let has_body = item.motion.as_ref().is_some_and(|m| m.source.is_some());
        let mut rotations = of.rotations.iter();
        has_body
            || rotations.any(|track| is_of_body(of, (&track.name, ChannelKind::Rotation)))
            || Character::of(&self.document).follows(of, bindings)
    }

    /// Lets bindings follow corrective samples that were renamed, as a part of the open step. `before`: as they were.
    pub(in crate::editor) fn follow_renamed_samples(&mut self, before: &[SamplePose]) {
        let after = crate::rig::samples(&self.document);
        if before == after {
            return;
        }
        let rename = |to: &mut BoundTo| to.rename_sample(before, &after);
        for (id, item) in self.document.recordings().as_ref().clone() {
            let Some(motion) = &item.motion else {
                continue;
            };
            let mut changed = BodyMotion::clone(motion);
            for binding in &mut changed.settings.bindings {
                rename(&mut binding.to);
            }
            if changed == *motion.as_ref() {
                continue;
            }
            let mut item = RecordingItem::clone(&item);
            item.motion = Some(Arc::new(changed));
            let recording = Some(Arc::new(item));
            if let Err(error) = self.apply(Edit::Recording { id, recording }, "Rename sample") {
                self.notify_error(error.to_string());
            }
        }
        self.live.change_bindings(rename);
        self.change_pending_bindings(rename);
    }

    /// Changes what bindings move that are being carried out.
    pub(in crate::editor) fn change_pending_bindings(&mut self, change: impl Fn(&mut BoundTo)) {
        let reading = self.motions.reading.as_mut().map(|of| &mut of.then);
        let adding = self.motions.adding.as_mut().map(|of| &mut of.then);
        for then in reading.into_iter().chain(adding) {
            if let ThenDo::Bind(bindings) = then {
                for binding in bindings {
                    change(&mut binding.to);
                }
            }
        }
    }

    /// Keeps bindings that move nothing; a clip that was made stays as it is.
    fn keep_bindings(&mut self, id: RecordingId, item: &RecordingItem, bindings: Vec<Binding>) {
        let mut next = RecordingItem::clone(item);
        let mut motion = item.motion.as_deref().cloned().unwrap_or_default();
        motion.settings.bindings = bindings;
        next.motion = (motion != BodyMotion::default()).then(|| Arc::new(motion));
        let recording = Some(Arc::new(next));
        let label = format!("Bind channels · {}", item.name);
        if let Err(error) = self.apply(Edit::Recording { id, recording }, &label) {
            return self.notify_error(error.to_string());
        }
        let clip = item.motion.as_ref().and_then(|motion| motion.clip);
        let clip = clip.and_then(|clip| self.document.clips().get(&clip));
        if let Some(clip) = clip {
            let text = format!(
                "No channel of {} moves anything now. The clip \"{}\" keeps its keyframes; delete it if you do not need it.",
                item.name, clip.name
            );
            self.notify(text);
        }
    }

    /// The morph targets that a channel can be bound to, each name once.
    pub fn bindable_morphs(&self) -> Vec<String> {
        let meshes = self.document.meshes().values();
        let names = meshes.flat_map(|mesh| mesh.geometry.morphs.iter().map(|morph| &morph.name));
        let mut found: Vec<String> = Vec::new();
        for name in names.filter(|name| !name.is_empty()) {
            if !found.contains(name) {
                found.push(name.clone());
            }
        }
        found
    }

    /// The corrective samples that a channel can be bound to: by their names, those of equal names with that of their set.
    pub fn bindable_samples(&self) -> Vec<String> {
        let samples = crate::rig::samples(&self.document);
        let names = names_of_samples(&samples).into_iter();
        names.map(str::to_owned).collect()
    }
}
