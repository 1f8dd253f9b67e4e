//! The bones of the humanoid map that are set by hand <-> the project format.

use super::joints;
use super::v11::HumanBoneEntry;
use crate::document::{Document, Edit, HumanMap};
use crate::motion::roles::HumanBone;
use std::sync::Arc;

/// The bones that are set by hand. Those of removed joints are left out.
pub(super) fn collect(document: &Document) -> Vec<HumanBoneEntry> {
    let skeleton = document.skeleton();
    let map = document.human_map().iter();
    map.filter(|(_, joint)| joint.is_none_or(|joint| skeleton.is_live(joint)))
        .map(|(bone, joint)| {
            let joint = joint.map(|joint| joints::reference(document, joint));
            HumanBoneEntry(bone.name(), joint)
        })
        .collect()
}

impl super::apply::Opening {
    /// Sets the bones of the humanoid map; a joint that the model does not have is skipped.
    pub(super) fn humanoid(&mut self, entries: &[HumanBoneEntry]) {
        let mut map = HumanMap::new();
        for HumanBoneEntry(name, joint) in entries {
            let Some(bone) = HumanBone::of_name(name) else {
                let place = "humanoid".to_owned();
                self.warn(
                    place,
                    format!("There is no bone \"{name}\" in VRM's humanoid."),
                );
                continue;
            };
            let found = match joint {
                None => None,
                Some(joint) => {
                    let found = self.joints.find_joint(joint, &mut self.findings);
                    if found.is_none() {
                        continue;
                    }
                    found
                }
            };
            map.insert(bone, found);
        }
        if !map.is_empty() {
            self.apply("humanoid", Edit::Humanoid(Arc::new(map)));
        }
    }
}
