//! The humanoid map of a document: the bones that the artist set, those of the file's own map, and those that are found.

use super::{Document, HumanMap};
use crate::motion::Rig;
use crate::motion::roles::{HumanBone, Humanoid, KnownBones, Roles, find_roles};
use crate::skeleton::JointId;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

impl Document {
    /// The bones of the humanoid map that are set by hand.
    pub fn human_map(&self) -> &Arc<HumanMap> {
        &self.human_map
    }

    /// The bones of the file's own humanoid map: VRM 1.0 (`VRMC_vrm`) or VRM 0 (`VRM`).
    pub fn human_bones_of_file(&self) -> BTreeMap<HumanBone, JointId> {
        let Some(source) = &self.source else {
            return BTreeMap::new();
        };
        let at = |path: &str| source.json.pointer(path);
        let mut nodes: Vec<(HumanBone, u64)> = Vec::new();
        let node = |entry: &Value| entry.get("node").and_then(Value::as_u64);
        if let Some(bones) =
            at("/extensions/VRMC_vrm/humanoid/humanBones").and_then(Value::as_object)
        {
            let found = bones
                .iter()
                .filter_map(|(name, entry)| Some((HumanBone::of_name(name)?, node(entry)?)));
            nodes.extend(found);
        } else if let Some(bones) =
            at("/extensions/VRM/humanoid/humanBones").and_then(Value::as_array)
        {
            let found = bones.iter().filter_map(|entry| {
                let name = entry.get("bone")?.as_str()?;
                Some((HumanBone::of_old_name(name)?, node(entry)?))
            });
            nodes.extend(found);
        }
        let mut of_node: BTreeMap<u64, JointId> = BTreeMap::new();
        for joint in self.skeleton.live_joints() {
            if let Some(node) = self.skeleton.joint(joint).source_node {
                of_node.insert(u64::from(node), joint);
            }
        }
        let bones = nodes.into_iter();
        bones
            .filter_map(|(bone, node)| Some((bone, *of_node.get(&node)?)))
            .collect()
    }

    /// The skeleton at rest, with the bones of its humanoid map that the file or the artist gives. `is_bone` says which slots move a skin.
    pub fn body_rig(&self, is_bone: impl Fn(usize) -> bool) -> Rig {
        let of_file = self.human_bones_of_file().into_iter();
        // Bones that were removed since are found as if they had not been set.
        let by_hand = self.human_map.iter();
        let by_hand = by_hand.filter(|(_, joint)| joint.is_none_or(|j| self.skeleton.is_live(j)));
        Rig {
            known: KnownBones {
                file: of_file.map(|(bone, joint)| (bone, joint.get())).collect(),
                by_hand: by_hand
                    .map(|(&bone, joint)| (bone, joint.map(JointId::get)))
                    .collect(),
            },
            ..Rig::of_skeleton(&self.skeleton, is_bone)
        }
    }

    /// The humanoid map of the bones.
    pub fn humanoid(&self) -> Humanoid {
        let is_bone = self.bone_mask();
        Humanoid::of(&self.body_rig(|joint| is_bone[joint]))
    }

    /// The roles of the bones in a body.
    pub fn roles(&self) -> Roles {
        let is_bone = self.bone_mask();
        find_roles(&self.body_rig(|joint| is_bone[joint]))
    }
}
