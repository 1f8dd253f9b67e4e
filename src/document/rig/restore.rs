//! The edited rig in the form in which a project stores it.

use super::{RigEdit, set_joints};
use crate::document::{Dirty, Document, EditError, InstanceId, Skin, SkinId};
use crate::skeleton::{Joint, JointId, Skeleton};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The data that restores an edited rig, given the source. Clips, rows, layers, poses and locks are restored
/// afterwards, by their own edits.
#[derive(Clone, Debug, PartialEq)]
pub struct RestoredRig {
    /// All slots of the arena: those of the source first, then the new ones.
    pub joints: Vec<Joint>,
    /// Skins whose joint list or matrices differ from the source's, including slots of removed joints.
    pub skins: BTreeMap<SkinId, Skin>,
    /// Instances whose joint differs from the source's.
    pub instances: BTreeMap<InstanceId, JointId>,
}

impl Document {
    /// Whether joints, their hierarchy or their binding differ from the source's, except for names and rules.
    pub fn is_rig_edited(&self) -> bool {
        let (now, before) = (self.skeleton.joints(), self.source_skeleton.joints());
        let same = |(a, b): (&Joint, &Joint)| {
            a.parent == b.parent && a.rest == b.rest && a.removed == b.removed
        };
        now.len() != before.len()
            || !now.iter().zip(before).all(same)
            || *self.source_skins != self.skins
    }

    /// The edited rig for a project; `None` where the rig is the source's.
    pub fn edited_rig(&self) -> Option<RestoredRig> {
        if !self.is_rig_edited() {
            return None;
        }
        let skins = self.skins.iter();
        let skins = skins.filter(|(id, skin)| self.source_skins.get(id) != Some(skin));
        let instances = self.instances.iter().filter(|(_, instance)| {
            let joint = self.skeleton.joint(instance.joint);
            joint.content_of.is_some()
        });
        Some(RestoredRig {
            joints: self.skeleton.joints().to_vec(),
            skins: skins.map(|(&id, skin)| (id, Skin::clone(skin))).collect(),
            instances: instances.map(|(&id, i)| (id, i.joint)).collect(),
        })
    }

    /// Restores the rig of a project in a document as imported: in its rest pose, without channels of removed joints.
    /// Restore the weights of removed joints right afterwards. On `Err` nothing changed.
    pub fn restore_rig(&mut self, rig: RestoredRig) -> Result<Dirty, EditError> {
        let n_before = self.skeleton.len();
        let refused = |why: String| Err(EditError::Rig(why));
        if rig.joints.len() < n_before {
            return refused("joints of the source are missing".into());
        }
        if let Err(error) = Skeleton::new(rig.joints.clone()) {
            return refused(error.to_string());
        }
        let mut changed = self.clone();
        set_joints(&mut changed, rig.joints);
        changed.pose = changed.rest_pose.clone();
        for (id, skin) in rig.skins {
            changed.skins.insert(id, Arc::new(skin));
        }
        for (id, joint) in rig.instances {
            if joint.get() >= changed.skeleton.len() {
                return refused(format!("object {} hangs from bone {}", id.0, joint.0));
            }
            let Some(instance) = changed.instances.get_mut(&id) else {
                continue;
            };
            let was = instance.joint;
            Arc::make_mut(instance).joint = joint;
            // The morph weights belong to the joint that draws the mesh.
            for pose in [&mut changed.pose, &mut changed.rest_pose] {
                let weights = &mut Arc::make_mut(pose).morph_weights;
                if !weights[was.get()].is_empty() {
                    weights[joint.get()] = std::mem::take(&mut weights[was.get()]);
                }
            }
        }
        let skeleton = changed.skeleton.clone();
        for clip in changed.clips.values_mut() {
            if clip.channels.iter().any(|c| !skeleton.is_live(c.joint)) {
                let clip = Arc::make_mut(clip);
                clip.channels.retain(|c| skeleton.is_live(c.joint));
            }
        }
        let mut edit = RigEdit::between(self, &changed).moving_rest();
        edit.restores = true;
        edit.check(self)?;
        let mut dirty = Dirty::default();
        edit.swap(self, &mut dirty);
        Ok(dirty)
    }
}
