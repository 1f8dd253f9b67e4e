//! Documents evaluated in place: what the worker, the command line and tests share.

use crate::deform::cook::joint_order;
use crate::deform::{CookedMesh, DeformInput, InstancePlan, Moved, SkinSource};
use crate::document::{Document, Instance, InstanceId, MeshId, SkinId};
use crate::mesh::Mesh;
use crate::skeleton::{Pose, Skeleton};
use crate::skinning::Influences;
use glam::DAffine3;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Cooked meshes and the latest result of every instance; evaluating again redoes only what changed.
#[derive(Default)]
pub struct Evaluator {
    cooked: HashMap<(MeshId, Vec<u32>), CookedMesh>,
    plans: BTreeMap<InstanceId, InstancePlan>,
    rest: Option<Rest>,
    world: Vec<DAffine3>,
}

/// World transforms of the file's rest pose.
struct Rest {
    skeleton: Arc<Skeleton>,
    pose: Arc<Pose>,
    world: Arc<Vec<DAffine3>>,
}

impl Evaluator {
    /// Deforms all instances of `document` in `pose`; for each what moved, in order of id.
    pub fn evaluate(&mut self, document: &Document, pose: &Pose) -> Vec<(InstanceId, Moved)> {
        self.world = pose.world_matrices(document.skeleton());
        let rest_world = self.rest_world(document);
        self.plans
            .retain(|id, _| document.instances().contains_key(id));
        self.cook(document);
        let mut moved = Vec::with_capacity(document.instances().len());
        for (&id, instance) in document.instances() {
            let Some(item) = document.meshes().get(&instance.mesh) else {
                continue;
            };
            let skin = instance.skin.and_then(|s| document.skins().get(&s));
            let order = order_of(document, instance);
            let Some(cooked) = self.cooked.get(&(instance.mesh, order)) else {
                continue;
            };
            let skin_meshes = instance
                .skin
                .map_or_else(Vec::new, |skin| meshes_of_skin(document, skin));
            let input = DeformInput {
                geometry: &item.geometry,
                cooked,
                stack: &item.stack,
                masks: &item.masks,
                skeleton: document.skeleton(),
                node: instance.joint,
                skin: skin.map(|s| SkinSource {
                    joints: &s.joints,
                    inverse_bind: &s.inverse_bind,
                    meshes: &skin_meshes,
                }),
                rest_world: &rest_world,
                world: &self.world,
                morph_weights: pose
                    .morph_weights
                    .get(instance.joint.get())
                    .map_or(&[], Vec::as_slice),
            };
            moved.push((id, self.plans.entry(id).or_default().run(&input)));
        }
        moved
    }

    /// The state of one instance after the latest evaluation.
    pub fn plan(&self, instance: InstanceId) -> Option<&InstancePlan> {
        self.plans.get(&instance)
    }

    /// World transforms of all joints in the latest evaluation.
    pub fn world(&self) -> &[DAffine3] {
        &self.world
    }

    fn rest_world(&mut self, document: &Document) -> Arc<Vec<DAffine3>> {
        let known = self.rest.as_ref().filter(|r| {
            Arc::ptr_eq(&r.skeleton, document.skeleton())
                && Arc::ptr_eq(&r.pose, document.rest_pose())
        });
        match known {
            Some(rest) => rest.world.clone(),
            None => {
                let world = Arc::new(document.rest_pose().world_matrices(document.skeleton()));
                self.rest = Some(Rest {
                    skeleton: document.skeleton().clone(),
                    pose: document.rest_pose().clone(),
                    world: world.clone(),
                });
                world
            }
        }
    }

    /// One cooked mesh for each mesh and order of joints in use.
    fn cook(&mut self, document: &Document) {
        let mut used = std::collections::HashSet::new();
        for instance in document.instances().values() {
            let Some(item) = document.meshes().get(&instance.mesh) else {
                continue;
            };
            let key = (instance.mesh, order_of(document, instance));
            if used.contains(&key) {
                continue;
            }
            let cooked = self.cooked.entry(key.clone()).or_default();
            cooked.update(&item.influences, &key.1);
            used.insert(key);
        }
        self.cooked.retain(|key, _| used.contains(key));
    }
}

/// The meshes that a skin moves, each once, with their influences as imported.
fn meshes_of_skin(document: &Document, skin: SkinId) -> Vec<(&Arc<Mesh>, &Influences)> {
    let instances = document.instances().values();
    let ids: BTreeSet<MeshId> = instances
        .filter(|i| i.skin == Some(skin))
        .map(|i| i.mesh)
        .collect();
    ids.iter()
        .filter_map(|id| document.meshes().get(id))
        .map(|item| (&item.geometry, &item.source_influences))
        .collect()
}

/// The order of the joints of the instance's skin; empty without one.
fn order_of(document: &Document, instance: &Instance) -> Vec<u32> {
    let skeleton = document.skeleton();
    instance
        .skin
        .and_then(|s| document.skins().get(&s))
        .map_or_else(Vec::new, |skin| {
            joint_order(skin.joints.iter().map(|&j| skeleton.rank(j)))
        })
}
