//! What names a bone, when that gets another name: bindings of channels, and pairs of bones of motions that were chosen by hand.

use super::{Document, Edit};
use crate::skeleton::JointId;
use std::sync::Arc;

impl Document {
    /// The edits of the recordings that name a bone which gets the name `to`. Empty where its name means another bone, or would.
    pub fn renamed_in_recordings(&self, joint: JointId, to: &str) -> Vec<Edit> {
        // Of bones of one name the first is meant.
        let first_of = |name: &str| {
            let mut joints = self.skeleton.live_joints();
            joints.find(|of| self.skeleton.joint(*of).name == name)
        };
        let is_meant = first_of(&self.skeleton.joint(joint).name) == Some(joint);
        let will_be = first_of(to).is_none_or(|other| other.get() >= joint.get());
        if to.is_empty() || !(is_meant && will_be) {
            return Vec::new();
        }
        let from = &self.skeleton.joint(joint).name;
        let edits = self.recordings.iter().filter_map(|(id, item)| {
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
        edits.collect()
    }
}
