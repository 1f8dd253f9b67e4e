//! Data of skins that do not change from frame to frame: the order of their joints, and the meshes that they move.

use crate::document::{Document, Instance, MeshId, Skin, SkinId, SkinnedMesh};
use crate::skeleton::Skeleton;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The order of the joints of each skin, cached by the identity of skin and skeleton.
#[derive(Default)]
pub(super) struct SkinOrders {
    orders: BTreeMap<SkinId, SkinOrder>,
    /// For instances without a skin.
    none: Arc<[u32]>,
}

struct SkinOrder {
    skeleton: Arc<Skeleton>,
    skin: Arc<Skin>,
    order: Arc<[u32]>,
}

impl SkinOrders {
    /// Brings the orders of all skins up to date. Allocates only where one changed.
    pub(super) fn update(&mut self, document: &Document) {
        self.orders
            .retain(|id, _| document.skins().contains_key(id));
        let skeleton = document.skeleton();
        for (&id, skin) in document.skins() {
            let known = self.orders.get(&id).is_some_and(|known| {
                Arc::ptr_eq(&known.skeleton, skeleton) && Arc::ptr_eq(&known.skin, skin)
            });
            if !known {
                let order = SkinOrder {
                    skeleton: skeleton.clone(),
                    skin: skin.clone(),
                    order: document.joint_order(skin).into(),
                };
                self.orders.insert(id, order);
            }
        }
    }

    /// The order of the joints of the instance's skin; empty without one.
    pub(super) fn of(&self, instance: &Instance) -> &Arc<[u32]> {
        let known = instance.skin.and_then(|skin| self.orders.get(&skin));
        known.map_or(&self.none, |known| &known.order)
    }
}

/// The meshes that skins move, in buffers that are used again.
#[derive(Default)]
pub(super) struct SkinMeshes {
    ids: Vec<MeshId>,
    spare: Vec<SkinnedMesh<'static>>,
}

impl SkinMeshes {
    /// The meshes that a skin moves, each once, in order of id, in a buffer to be given back.
    pub(super) fn take<'a>(
        &mut self,
        document: &'a Document,
        skin: Option<SkinId>,
    ) -> Vec<SkinnedMesh<'a>> {
        let mut meshes = recycled(std::mem::take(&mut self.spare));
        if let Some(skin) = skin {
            document.meshes_of_skin_into(skin, &mut self.ids, &mut meshes);
        }
        meshes
    }

    /// Keeps the buffer for the next call.
    pub(super) fn give_back(&mut self, meshes: Vec<SkinnedMesh<'_>>) {
        self.spare = recycled(meshes);
    }
}

/// The emptied vector, for references of another lifetime: collecting nothing from a vector keeps its memory.
fn recycled<'a>(mut meshes: Vec<SkinnedMesh<'_>>) -> Vec<SkinnedMesh<'a>> {
    meshes.clear();
    let nothing = meshes.into_iter().map(|_| unreachable!("it is empty"));
    nothing.collect()
}
