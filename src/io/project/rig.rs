//! Joints that were added, removed or changed, with the skins that list them <-> the project format.

use super::joints::{self, JointKey, JointRef, Joints};
use super::names::Names;
use super::transforms;
use super::v11::{InstanceEntry, JointEntry, Parent, SkinEntry, SkinSlot, TransformEntry};
use crate::document::rig::RestoredRig;
use crate::document::{Document, InstanceId, Skin, SkinId};
use crate::finding::Finding;
use crate::math::Transform;
use crate::skeleton::{Joint, JointId};
use glam::{DAffine3, DMat3, DVec3};
use std::collections::{BTreeMap, BTreeSet};

/// The lists of a project that describe the joints.
#[derive(Clone, Debug, Default)]
pub(super) struct Entries {
    pub(super) joints: Vec<JointEntry>,
    pub(super) skins: Vec<SkinEntry>,
    pub(super) instances: Vec<InstanceEntry>,
}

/// The differences from the source; empty where the joints are the source's.
pub(super) fn collect(document: &Document) -> Entries {
    let Some(rig) = document.edited_rig() else {
        return Entries::default();
    };
    let source = document.source_skeleton();
    let joints = (0..).map(JointId).zip(&rig.joints);
    let joints = joints.filter_map(|(id, joint)| {
        let before = source.joints().get(id.get());
        let entry = joint_entry(document, id, joint, before);
        // A node is listed where it differs; a new joint always.
        let plain = !entry.removed
            && entry.parent.is_none()
            && entry.rest == TransformEntry::default()
            && entry.content_of.is_none();
        (before.is_none() || !plain).then_some(entry)
    });
    let skins = rig.skins.iter();
    let instances = document.instances().iter().filter_map(|(id, instance)| {
        let skin = rig.bound.get(id).map(|skin| skin.0);
        let unbound = rig.unbound.contains(id);
        let is_listed = skin.is_some() || unbound || rig.instances.contains_key(id);
        is_listed.then(|| InstanceEntry {
            instance: id.0,
            joint: joints::reference(document, instance.joint),
            skin,
            unbound,
        })
    });
    Entries {
        joints: joints.collect(),
        skins: skins
            .map(|(&id, skin)| skin_entry(document, id, skin))
            .collect(),
        instances: instances.collect(),
    }
}

fn joint_entry(
    document: &Document,
    id: JointId,
    joint: &Joint,
    before: Option<&Joint>,
) -> JointEntry {
    let same_parent = joint.parent == before.and_then(|before| before.parent);
    let base = before.map_or(Transform::IDENTITY, |before| before.rest);
    let node = |node| {
        let joint = document.source_skeleton().joint_of_node(node)?;
        Some(joints::reference(document, joint))
    };
    JointEntry {
        joint: joints::key(document, id),
        name: joints::name(document, id),
        removed: joint.removed,
        // A removed joint has no parent.
        parent: (!same_parent && !joint.removed).then(|| match joint.parent {
            None => Parent::Root,
            Some(parent) => Parent::Under(
                joints::key(document, parent),
                joints::name(document, parent),
            ),
        }),
        rest: transforms::difference(&joint.rest, &base),
        content_of: joint.content_of.and_then(node),
    }
}

fn skin_entry(document: &Document, id: SkinId, skin: &Skin) -> SkinEntry {
    let before = document.source_skins().get(&id);
    let was = |slot: usize| {
        let before = before?;
        Some((*before.joints.get(slot)?, *before.inverse_bind.get(slot)?))
    };
    let slots = skin.joints.iter().zip(&skin.inverse_bind).enumerate();
    let changed = slots.filter(|&(slot, (&joint, &matrix))| was(slot) != Some((joint, matrix)));
    SkinEntry {
        skin: id.0,
        name: skin.name.clone(),
        new: before.is_none(),
        slots: changed
            .map(|(slot, (&joint, matrix))| SkinSlot {
                slot: slot as u16,
                joint: joints::key(document, joint),
                name: joints::name(document, joint),
                inverse_bind: columns(matrix),
            })
            .collect(),
    }
}

fn columns(matrix: &DAffine3) -> [(f64, f64, f64); 4] {
    let linear = matrix.matrix3;
    [
        linear.x_axis,
        linear.y_axis,
        linear.z_axis,
        matrix.translation,
    ]
    .map(Into::into)
}

fn affine(columns: [(f64, f64, f64); 4]) -> DAffine3 {
    let [x, y, z, translation] = columns.map(DVec3::from);
    DAffine3 {
        matrix3: DMat3::from_cols(x, y, z),
        translation,
    }
}

/// Restores the joints of `entries` in `document`, as imported; adds the new ones to `joints`.
///
/// What does not fit becomes a finding.
pub(super) fn restore(
    entries: Entries,
    document: &mut Document,
    joints: &mut Joints,
    findings: &mut Vec<Finding>,
) {
    if entries.joints.is_empty() && entries.skins.is_empty() && entries.instances.is_empty() {
        return;
    }
    let mut reader = Reader { joints, findings };
    let list = reader.joints(document, &entries.joints);
    let (skins, new_skins) = reader.skins(document, entries.skins);
    let is_unbound = |entry: &&InstanceEntry| entry.unbound;
    let unbound = entries.instances.iter().filter(is_unbound);
    let unbound = unbound.map(|entry| InstanceId(entry.instance));
    let unbound: BTreeSet<InstanceId> = unbound
        .filter(|id| document.instances().contains_key(id))
        .collect();
    let (instances, bound) = reader.instances(document, entries.instances, &new_skins);
    let rig = RestoredRig {
        joints: list,
        skins,
        instances,
        bound,
        unbound,
    };
    let before = document.constraints().clone();
    if let Err(why) = document.restore_rig(rig) {
        findings.push(Finding::warning(
            "bones",
            format!("The changes of the bones are skipped: {why}."),
        ));
        *joints = joints::of(document);
    }
    for (&joint, list) in before.iter() {
        let is_less = document.constraints_of(joint).len() < list.len();
        if is_less && document.skeleton().is_live(joint) {
            findings.push(Finding::warning(
                format!("constraints of bone \"{}\"", joints::name(document, joint)),
                "The model's constraint is skipped: the project removed a bone that it needs.",
            ));
        }
    }
}

struct Reader<'a> {
    joints: &'a mut Joints,
    findings: &'a mut Vec<Finding>,
}

impl Reader<'_> {
    fn warn(&mut self, place: impl Into<String>, message: impl Into<String>) {
        self.findings.push(Finding::warning(place, message));
    }

    fn find(&mut self, joint: JointKey, name: &str) -> Option<JointId> {
        self.joints.find(joint, Some(name), self.findings)
    }

    /// All slots of the arena: those of the source, then one per new joint, in the order of their keys.
    fn joints(&mut self, document: &Document, entries: &[JointEntry]) -> Vec<Joint> {
        let mut list = document.skeleton().joints().to_vec();
        let mut new: BTreeMap<JointKey, &JointEntry> = BTreeMap::new();
        for entry in entries
            .iter()
            .filter(|e| matches!(e.joint, JointKey::New(_)))
        {
            if new.insert(entry.joint, entry).is_some() {
                self.warn(place(entry), "It is listed twice; only one entry is used.");
            }
        }
        for (key, entry) in new {
            let id = JointId(list.len() as u32);
            self.joints.add(key, entry.name.clone(), id);
            list.push(Joint::new(entry.name.clone(), None, Transform::IDENTITY));
        }
        let mut seen = BTreeSet::new();
        for entry in entries {
            let Some(id) = self.find(entry.joint, &entry.name) else {
                continue;
            };
            if !seen.insert(id) {
                if matches!(entry.joint, JointKey::Node(_)) {
                    self.warn(
                        place(entry),
                        "It is listed twice; the second entry is skipped.",
                    );
                }
                continue;
            }
            let parent = match &entry.parent {
                None => list[id.get()].parent,
                Some(Parent::Root) => None,
                Some(Parent::Under(key, name)) => self.find(*key, name).or(list[id.get()].parent),
            };
            let content_of = entry.content_of.as_ref();
            let content_of =
                content_of.and_then(|node| self.joints.find_joint(node, self.findings));
            let content_of = content_of.and_then(|node| list[node.get()].source_node);
            let joint = &mut list[id.get()];
            match transforms::restore(&joint.rest, &entry.rest) {
                Ok(rest) => joint.rest = rest,
                Err(why) => self.warn(place(entry), format!("{why} and is skipped.")),
            }
            let joint = &mut list[id.get()];
            joint.parent = parent;
            joint.removed = entry.removed;
            joint.content_of = content_of;
        }
        self.adopt_orphans(&mut list);
        list
    }

    /// Children of a removed joint that the project does not know, since the model has changed, become children of its
    /// parent.
    fn adopt_orphans(&mut self, list: &mut [Joint]) {
        for j in 0..list.len() {
            let mut above = list[j].parent;
            let mut steps = 0;
            while let Some(parent) = above
                && list[parent.get()].removed
                && steps <= list.len()
            {
                above = list[parent.get()].parent;
                steps += 1;
            }
            if !list[j].removed && above != list[j].parent {
                list[j].parent = above;
                let name = list[j].name.clone();
                self.warn(
                    format!("bone \"{name}\""),
                    "The project removed its parent, which had no such child; its new parent is the nearest remaining ancestor.",
                );
            }
        }
    }

    /// The changed and the new skins, and the ids of the new ones by their numbers in the project.
    fn skins(
        &mut self,
        document: &Document,
        entries: Vec<SkinEntry>,
    ) -> (BTreeMap<SkinId, Skin>, BTreeMap<u32, SkinId>) {
        let skins = document.skins().iter();
        let mut names = Names::new(
            "skin",
            skins.map(|(&id, skin)| (id.0, skin.name.clone(), id)),
        );
        let (mut restored, mut new) = (BTreeMap::new(), BTreeMap::new());
        let mut next = document.next_skin();
        for entry in entries {
            if entry.new {
                let mut skin = Skin {
                    name: entry.name,
                    joints: Vec::new(),
                    inverse_bind: Vec::new(),
                };
                for slot in entry.slots {
                    self.slot(&mut skin, &slot, entry.skin);
                }
                if skin.joints.is_empty() || new.contains_key(&entry.skin) {
                    self.warn(
                        format!("skin {}", entry.skin),
                        "It has no bone or is listed twice; it is skipped.",
                    );
                    continue;
                }
                new.insert(entry.skin, next);
                restored.insert(next, skin);
                next = SkinId(next.0 + 1);
                continue;
            }
            let Some(id) = names.find(entry.skin, Some(&entry.name), self.findings) else {
                continue;
            };
            let Some(before) = document.skins().get(&id) else {
                continue;
            };
            let mut skin = Skin::clone(before);
            for slot in entry.slots {
                self.slot(&mut skin, &slot, entry.skin);
            }
            restored.insert(id, skin);
        }
        (restored, new)
    }

    /// A joint that the skin lists gets its matrix, at the project's index where that matches; another one is appended.
    fn slot(&mut self, skin: &mut Skin, slot: &SkinSlot, number: u32) {
        let Some(joint) = self.find(slot.joint, &slot.name) else {
            return;
        };
        let place = || format!("bone {} \"{}\" of skin {number}", slot.joint, slot.name);
        let matrix = affine(slot.inverse_bind);
        if !matrix.is_finite() {
            self.warn(
                place(),
                "Its inverse bind matrix has a value that is not a finite number and is skipped.",
            );
            return;
        }
        let index = usize::from(slot.slot);
        let index = if skin.joints.get(index) == Some(&joint) {
            Some(index)
        } else {
            skin.joints.iter().position(|&there| there == joint)
        };
        match index {
            Some(index) => skin.inverse_bind[index] = matrix,
            None if skin.joints.len() > usize::from(u16::MAX) => {
                self.warn(
                    place(),
                    "The skin has the largest possible number of bones; it is skipped.",
                );
            }
            None => {
                skin.joints.push(joint);
                skin.inverse_bind.push(matrix);
            }
        }
    }

    /// The joints of the changed instances, and the new skins of the bound ones.
    fn instances(
        &mut self,
        document: &Document,
        entries: Vec<InstanceEntry>,
        new_skins: &BTreeMap<u32, SkinId>,
    ) -> (BTreeMap<InstanceId, JointId>, BTreeMap<InstanceId, SkinId>) {
        let (mut instances, mut bound) = (BTreeMap::new(), BTreeMap::new());
        for entry in entries {
            let id = InstanceId(entry.instance);
            let place = format!("object {}", entry.instance);
            let Some(known) = document.instances().get(&id) else {
                self.warn(
                    place,
                    "The model no longer has it; the project's edits of it are skipped.",
                );
                continue;
            };
            if let Some(joint) = self.find_joint(&entry.joint) {
                instances.insert(id, joint);
            }
            let Some(number) = entry.skin else {
                continue;
            };
            match new_skins.get(&number) {
                Some(&skin) if known.skin.is_none() => {
                    bound.insert(id, skin);
                }
                Some(_) => self.warn(
                    place,
                    "The model file now has a skin for this mesh; the project's skin is ignored.",
                ),
                None => self.warn(
                    place,
                    "Its skin is missing from the project, so the mesh is not bound.",
                ),
            }
        }
        (instances, bound)
    }

    fn find_joint(&mut self, joint: &JointRef) -> Option<JointId> {
        self.joints.find_joint(joint, self.findings)
    }
}

fn place(entry: &JointEntry) -> String {
    format!("bone {} \"{}\"", entry.joint, entry.name)
}
