//! The humanoid map in the window: what is found, and the bones set by hand, one undo step each.

use super::Editor;
use crate::document::{Edit, HumanMap};
use crate::motion::roles::{HumanBone, Humanoid};
use crate::skeleton::JointId;
use std::cell::RefCell;
use std::sync::Arc;

/// The map of the latest document: finding it takes too long for every frame.
#[derive(Default)]
pub(super) struct HumanoidCache(RefCell<Option<Known>>);

/// A map, and the model and the revision of the document that it is of.
struct Known {
    of: (u64, u64),
    map: Arc<Humanoid>,
}

impl Editor {
    /// The humanoid map of the bones.
    pub fn humanoid(&self) -> Arc<Humanoid> {
        let key = (self.model_serial(), self.history.revision());
        let mut known = self.humanoid.0.borrow_mut();
        match &*known {
            Some(Known { of, map }) if *of == key => map.clone(),
            _ => {
                let map = Arc::new(self.document.humanoid());
                *known = Some(Known {
                    of: key,
                    map: map.clone(),
                });
                map
            }
        }
    }

    /// Sets a bone of the humanoid map; `None`: the body has no such bone. A joint is one bone at most.
    pub fn set_human_bone(&mut self, bone: HumanBone, joint: Option<JointId>) {
        let label = match joint {
            Some(joint) => format!(
                "Set {} of humanoid to {}",
                bone.label().to_lowercase(),
                self.document.skeleton().label(joint)
            ),
            None => format!("Leave out {} of humanoid", bone.label().to_lowercase()),
        };
        let mut map = self.live_human_map();
        if joint.is_some() {
            map.retain(|_, other| *other != joint);
        }
        map.insert(bone, joint);
        self.change_human_map(map, &label);
    }

    /// Finds a bone of the humanoid map again that was set by hand.
    pub fn find_human_bone(&mut self, bone: HumanBone) {
        let mut map = self.live_human_map();
        map.remove(&bone);
        let label = format!("Find {} of humanoid", bone.label().to_lowercase());
        self.change_human_map(map, &label);
    }

    /// Finds all bones of the humanoid map again.
    pub fn find_human_bones(&mut self) {
        self.change_human_map(HumanMap::default(), "Find bones of humanoid");
    }

    /// The bones set by hand, without removed ones.
    fn live_human_map(&self) -> HumanMap {
        let mut map = HumanMap::clone(self.document.human_map());
        let skeleton = self.document.skeleton();
        map.retain(|_, joint| joint.is_none_or(|joint| skeleton.is_live(joint)));
        map
    }

    fn change_human_map(&mut self, map: HumanMap, label: &str) {
        self.finish_tool();
        if map == **self.document.human_map() {
            return;
        }
        if let Err(error) = self.apply(Edit::Humanoid(Arc::new(map)), label) {
            self.notify_error(error.to_string());
        }
    }
}
