//! The edited rig in the form in which a project stores it.

use super::bind_skin::complete_weights;
use super::rows::change_rows;
use super::unbind::no_rows;
use super::{AtRest, RigEdit, RigError, set_joints};
use crate::document::{Dirty, Document, EditError, InstanceId, KeptOfMeshes, MeshId, Skin, SkinId};
use crate::mesh::Mesh;
use crate::skeleton::constraint::Constraints;
use crate::skeleton::{Joint, JointId};
use crate::skinning::RowRef;
use std::collections::{BTreeMap, BTreeSet};
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
    /// Instances of meshes without a skin in the source, and the new skins that move them.
    pub bound: BTreeMap<InstanceId, SkinId>,
    /// Instances that were taken from their skins.
    pub unbound: BTreeSet<InstanceId>,
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
            || !self.kept_weights.is_empty()
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
        let bound = self.instances.iter().filter_map(|(&id, instance)| {
            let skin = instance.skin?;
            (!self.source_skins.contains_key(&skin)).then_some((id, skin))
        });
        Some(RestoredRig {
            joints: self.skeleton.joints().to_vec(),
            skins: skins.map(|(&id, skin)| (id, Skin::clone(skin))).collect(),
            instances: instances.map(|(&id, i)| (id, i.joint)).collect(),
            bound: bound.collect(),
            unbound: self.unbound_instances(),
        })
    }

    /// The instances that a skin of the source moves in the source, and none here.
    pub fn unbound_instances(&self) -> BTreeSet<InstanceId> {
        let nodes = self.source.as_ref().and_then(|s| s.json.get("nodes"));
        let had_skin = |id: &InstanceId| {
            let node = nodes.and_then(|nodes| nodes.get(id.0 as usize));
            node.is_some_and(|node| node.get("skin").is_some())
        };
        let instances = self.instances.iter();
        let unbound = instances.filter(|(id, instance)| {
            let is_kept = self.kept_weights.contains_key(&instance.mesh);
            is_kept && instance.skin.is_none() && had_skin(id)
        });
        unbound.map(|(&id, _)| id).collect()
    }

    /// Gives unbound meshes back the weights that a project keeps for them.
    pub fn restore_kept_weights(&mut self, kept: KeptOfMeshes) {
        self.kept_weights = Arc::new(kept);
    }

    /// Gives a mesh the shape that a project keeps for it.
    pub fn restore_shape(&mut self, mesh: MeshId, shape: Arc<Mesh>) {
        if let Some(item) = self.meshes.get_mut(&mesh) {
            Arc::make_mut(item).geometry = shape;
            Arc::make_mut(&mut self.reshaped).insert(mesh);
        }
    }

    /// Restores the rig of a project in a document as imported: in its rest pose, without channels of removed joints
    /// and without constraints that need one. Restore the weights of removed joints right afterwards. On `Err` nothing changed.
    pub fn restore_rig(&mut self, rig: RestoredRig) -> Result<Dirty, EditError> {
        let n_before = self.skeleton.len();
        let refused = |why: String| Err(EditError::Rig(why));
        if rig.joints.len() < n_before {
            return refused("joints of the source are missing".into());
        }
        let mut changed = self.clone();
        if let Err(error) = set_joints(&mut changed, rig.joints) {
            return refused(error.to_string());
        }
        changed.pose = changed.rest_pose.clone();
        for (id, skin) in rig.skins {
            changed.skins.insert(id, Arc::new(skin));
        }
        for (id, joint) in rig.instances {
            if joint.get() >= changed.skeleton.len() {
                return refused(format!("object {} refers to bone {}", id.0, joint.0));
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
        for (id, skin) in rig.bound {
            if !changed.skins.contains_key(&skin) {
                return refused(format!("object {} refers to skin {}", id.0, skin.0));
            }
            let Some(instance) = changed.instances.get_mut(&id) else {
                continue;
            };
            let mesh = instance.mesh;
            Arc::make_mut(instance).skin = Some(skin);
            complete_weights(&mut changed, mesh);
        }
        for id in rig.unbound {
            let Some(instance) = changed.instances.get_mut(&id) else {
                continue;
            };
            let mesh = instance.mesh;
            Arc::make_mut(instance).skin = None;
            if let Some(item) = changed.meshes.get_mut(&mesh) {
                let n = item.influences.len();
                Arc::make_mut(item).influences = no_rows(n);
            }
        }
        let skeleton = changed.skeleton.clone();
        for clip in changed.motions_mut() {
            if clip.channels.iter().any(|c| !skeleton.is_live(c.joint)) {
                let clip = Arc::make_mut(clip);
                clip.channels.retain(|c| skeleton.is_live(c.joint));
            }
        }
        let mut constraints = Constraints::clone(&changed.constraints);
        constraints.retain(|&joint, list| {
            list.retain(|c| skeleton.is_live(joint) && c.check(joint, &skeleton).is_ok());
            !list.is_empty()
        });
        changed.set_constraints(Arc::new(constraints));
        let mut edit = RigEdit::between(self, &changed).moving_at_rest(AtRest::All);
        edit.restores = true;
        edit.check(self)?;
        let mut dirty = Dirty::default();
        edit.swap(self, &mut dirty);
        Ok(dirty)
    }

    /// Passes weights of removed joints on, as a source that changed can have them: to the nearest joint above in the
    /// source that every skin of the mesh lists in one slot, else to a child, else to the skin's first joint. Returns each
    /// mesh with the number of its points.
    pub fn pass_on_removed(&mut self) -> Result<Vec<(MeshId, usize)>, RigError> {
        let mut passed = Vec::new();
        let meshes: Vec<MeshId> = self.meshes.keys().copied().collect();
        for mesh in meshes {
            let live = self.live_slots(mesh);
            let has_weight = |row: &RowRef<'_>| {
                let mut pairs = row.iter();
                pairs.any(|(slot, w)| w > 0.0 && live.get(usize::from(slot)) == Some(&false))
            };
            let mut points = BTreeSet::new();
            if let Some(item) = self.meshes.get(&mesh).filter(|_| live.contains(&false)) {
                let layers = item.layers.layers().iter().map(|layer| &layer.rows);
                for rows in layers.chain([&item.influences]) {
                    let off = (0u32..).zip(rows.iter()).filter(|(_, row)| has_weight(row));
                    points.extend(off.map(|(point, _)| point));
                }
            }
            if points.is_empty() {
                continue;
            }
            let mut recipients: BTreeMap<u16, u16> = BTreeMap::new();
            for slot in (0..live.len()).filter(|&slot| !live[slot]) {
                recipients.insert(slot as u16, self.recipient(mesh, slot, &live)?);
            }
            change_rows(self, mesh, |_, row| {
                if !has_weight(&row) {
                    return None;
                }
                let mut made: Vec<(u16, f32)> = Vec::new();
                for (slot, weight) in row.iter() {
                    let slot = recipients.get(&slot).copied().unwrap_or(slot);
                    match made.iter_mut().find(|(joint, _)| *joint == slot) {
                        Some((_, sum)) => *sum += weight,
                        None => made.push((slot, weight)),
                    }
                }
                Some(made)
            })?;
            passed.push((mesh, points.len()));
        }
        Ok(passed)
    }

    /// The slot that gets the weights of the removed joint in `slot`.
    fn recipient(&self, mesh: MeshId, slot: usize, live: &[bool]) -> Result<u16, RigError> {
        let instances = self.instances.values().filter(|i| i.mesh == mesh);
        let skins = instances.filter_map(|i| self.skins.get(&i.skin?));
        let skins: Vec<&Arc<Skin>> = skins.collect();
        let slot_of = |joint: JointId| {
            let first = skins.first()?.joints.iter().position(|&j| j == joint)?;
            let is_same = |skin: &&Arc<Skin>| skin.joints.get(first) == Some(&joint);
            (live.get(first) == Some(&true) && skins.iter().all(is_same)).then_some(first)
        };
        let listed = skins.iter().map(|skin| skin.joints[slot]);
        let removed = listed.clone().find(|&joint| !self.skeleton.is_live(joint));
        let source = &self.source_skeleton;
        let known = removed.filter(|joint| joint.get() < source.len());
        let mut near = known.into_iter().flat_map(|joint| {
            source
                .ancestors(joint)
                .chain(source.children(joint).iter().copied())
        });
        let found = near.find_map(slot_of);
        let found = found.or_else(|| live.iter().position(|&live| live));
        found
            .map(|slot| slot as u16)
            .ok_or_else(|| RigError::NoRecipient {
                joint: removed.map_or_else(String::new, |joint| self.skeleton.label(joint)),
                skin: skins
                    .first()
                    .map_or_else(String::new, |skin| skin.name.clone()),
            })
    }
}
