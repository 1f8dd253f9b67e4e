//! What names a bone, when that gets another name: bindings of channels, pairs of bones of motions that were chosen by hand, and
//! measurements.

use super::{Document, Edit, IndividualEdit, Person};
use crate::skeleton::JointId;
use std::sync::Arc;

impl Document {
    /// Whether what names a bone can follow it to the name `to`: not where a name means another bone, now or then.
    pub fn can_follow_renamed_bone(&self, joint: JointId, to: &str) -> bool {
        let skeleton = &self.skeleton;
        let is_meant = skeleton.joint_named(&skeleton.joint(joint).name) == Some(joint);
        let will_be = |other: JointId| other.get() >= joint.get();
        !to.is_empty() && is_meant && skeleton.joint_named(to).is_none_or(will_be)
    }

    /// The edits of what names a bone which gets the name `to`. Empty where its name means another bone, or would.
    pub fn follow_renamed_bone(&self, joint: JointId, to: &str) -> Vec<Edit> {
        if !self.can_follow_renamed_bone(joint, to) {
            return Vec::new();
        }
        let from = &self.skeleton.joint(joint).name;
        let recordings = self.recordings.iter().filter_map(|(id, item)| {
            let motion = item.motion.as_deref()?;
            let mut settings = motion.settings.clone();
            for binding in &mut settings.bindings {
                binding.to.rename_joint(from, to);
            }
            settings.by_hand.rename_target(from, to);
            if settings == motion.settings {
                return None;
            }
            let mut motion = motion.clone();
            motion.settings = settings;
            let mut item = item.as_ref().clone();
            item.motion = Some(Arc::new(motion));
            Some(Edit::Recording {
                id: *id,
                recording: Some(Arc::new(item)),
            })
        });
        let persons = Person::ALL.into_iter().filter_map(|person| {
            let known = self.person(person)?;
            let mut next = known.as_ref().clone();
            let names = next
                .rows
                .iter_mut()
                .flat_map(|row| [&mut row.bone, &mut row.to]);
            for name in names.filter(|name| name.trim() == from) {
                to.clone_into(name);
            }
            (next != **known).then(|| Edit::Individual(IndividualEdit::of(person, Some(next))))
        });
        recordings.chain(persons).collect()
    }
}
