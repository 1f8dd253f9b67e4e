//! Slots of the document's skins -> slots of the file's skins.
//!
//! A skin of the document keeps the slot of a removed joint, with an identity inverse bind matrix and no weight. A file
//! leaves the slot out where every skin that shares rows of influences with it has a removed joint there.
//!
//! Where another of these skins has a live joint in the slot, the removed joint stays in the list of its skin in the
//! file: JOINTS_n of a shared mesh are indices into each of the lists, so all of them leave out the same slots, and the
//! other skin must not lose a joint. Nothing has weight for such a slot. Its node becomes a child of the first joint of
//! the skin that was not removed, since the joints of a skin need a common root (glTF 2.0, 3.7.3.2).

use crate::document::{Document, MeshId, SkinId};
use crate::skeleton::JointId;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The slots of all skins in the file.
pub(super) struct FileSlots {
    of_skin: BTreeMap<SkinId, SlotMap>,
}

/// The slots of one skin in the file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SlotMap {
    /// The slot in the file of each slot of the document; `None` where it is left out.
    slots: Vec<Option<u16>>,
    n_kept: usize,
}

impl SlotMap {
    /// The slot in the file; slots from the number of the skin's joints on are those of helper joints, which follow the
    /// skin's own.
    pub(super) fn get(&self, slot: u16) -> Option<u16> {
        let index = usize::from(slot);
        match self.slots.get(index) {
            Some(&kept) => kept,
            None => u16::try_from(self.n_kept + index - self.slots.len()).ok(),
        }
    }

    /// Of `all`, with one entry a slot of the document, those of the slots of the file.
    pub(super) fn kept<'a, T>(&'a self, all: &'a [T]) -> impl Iterator<Item = &'a T> + Clone {
        let pairs = all.iter().zip(&self.slots);
        pairs.filter_map(|(item, slot)| slot.map(|_| item))
    }

    /// Whether no slot is left out.
    pub(super) fn keeps_all(&self) -> bool {
        self.n_kept == self.slots.len()
    }

    /// Whether slots below `n` keep their numbers.
    fn is_identity_below(&self, n: usize) -> bool {
        let mut slots = self.slots.iter().take(n).enumerate();
        slots.all(|(i, slot)| slot.is_some_and(|slot| usize::from(slot) == i))
    }
}

impl FileSlots {
    /// The slots of all skins of the document.
    pub(super) fn new(document: &Document) -> Self {
        let skins = document.skins();
        // Skins that draw the same mesh share its rows.
        let mut group_of: BTreeMap<SkinId, SkinId> = skins.keys().map(|&id| (id, id)).collect();
        let mut first_of: BTreeMap<MeshId, SkinId> = BTreeMap::new();
        let instances = document.instances().values().map(Arc::as_ref);
        for instance in instances.chain(&document.left_out().nodes) {
            let Some(skin) = instance.skin.filter(|skin| skins.contains_key(skin)) else {
                continue;
            };
            let first = *first_of.entry(instance.mesh).or_insert(skin);
            let (a, b) = (group_of[&first], group_of[&skin]);
            let groups = group_of.values_mut().filter(|group| **group == b);
            groups.for_each(|group| *group = a);
        }
        let mut used: BTreeMap<SkinId, Vec<bool>> = BTreeMap::new();
        for (id, skin) in skins {
            let used = used.entry(group_of[id]).or_default();
            used.resize(used.len().max(skin.joints.len()), false);
            for (used, &joint) in used.iter_mut().zip(&skin.joints) {
                *used |= document.skeleton().is_live(joint);
            }
        }
        let of_skin = skins.iter().map(|(&id, skin)| {
            let mut next = 0..;
            let used = used[&group_of[&id]].iter().take(skin.joints.len());
            let slots: Vec<Option<u16>> = used.map(|&used| used.then(|| next.next())?).collect();
            let n_kept = slots.iter().flatten().count();
            (id, SlotMap { slots, n_kept })
        });
        Self {
            of_skin: of_skin.collect(),
        }
    }

    /// The slots of a skin.
    pub(super) fn of_skin(&self, skin: SkinId) -> Option<&SlotMap> {
        self.of_skin.get(&skin)
    }

    /// The slots of the influences of a mesh; `None` where all keep their numbers, those that the source stores and those
    /// of helper joints included.
    pub(super) fn of_mesh(&self, document: &Document, mesh: MeshId) -> Option<&SlotMap> {
        let map = self.of_skin(document.skin_of_mesh(mesh)?.0)?;
        (!map.keeps_all()).then_some(map)
    }

    /// Whether indices that the source stores for a mesh name other joints in the file, or none.
    pub(super) fn renumber_source(&self, document: &Document, mesh: MeshId) -> bool {
        let Some((id, _)) = document.skin_of_mesh(mesh) else {
            return false;
        };
        let before = document.source_skins().get(&id);
        let n = before.map_or(usize::MAX, |before| before.joints.len());
        self.of_skin(id)
            .is_some_and(|map| !map.is_identity_below(n))
    }

    /// Removed joints whose slots stay, each with the first joint of the skin that was not removed.
    pub(super) fn kept_removed(&self, document: &Document) -> BTreeMap<JointId, JointId> {
        let mut found = BTreeMap::new();
        let is_live = |joint: &&JointId| document.skeleton().is_live(**joint);
        for (id, skin) in document.skins() {
            let Some((map, &first)) = self.of_skin(*id).zip(skin.joints.iter().find(is_live))
            else {
                continue;
            };
            for joint in map.kept(&skin.joints).filter(|joint| !is_live(joint)) {
                found.entry(*joint).or_insert(first);
            }
        }
        found
    }
}
