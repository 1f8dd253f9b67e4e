//! Documents evaluated in place: what the worker, the command line and tests share.

use super::{ViewId, ViewRequest};
use crate::deform::cook::joint_order;
use crate::deform::{CookedMesh, DeformInput, InstancePlan, Moved, SkinSource};
use crate::document::{Document, Instance, InstanceId, MeshId, MeshItem, Skin, SkinId};
use crate::mesh::Mesh;
use crate::skeleton::{Pose, Skeleton};
use crate::skinning::Influences;
use glam::DAffine3;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Cooked meshes, shared by all views, and the latest result of every instance in each of them; evaluating again redoes
/// only what changed.
#[derive(Default)]
pub struct Evaluator {
    cooked: HashMap<(MeshId, Vec<u32>), CookedMesh>,
    plans: BTreeMap<(ViewId, InstanceId), InstancePlan>,
    rest: Option<Rest>,
    world: Vec<DAffine3>,
}

/// World transforms of the file's rest pose.
struct Rest {
    skeleton: Arc<Skeleton>,
    pose: Arc<Pose>,
    world: Arc<Vec<DAffine3>>,
}

/// What all views of an instance share.
struct Drawn<'a> {
    id: InstanceId,
    instance: &'a Instance,
    item: &'a MeshItem,
    cooked: &'a CookedMesh,
    skin: Option<&'a Arc<Skin>>,
    /// The meshes that the skin moves, with their influences as imported.
    skin_meshes: Vec<(&'a Arc<Mesh>, &'a Influences)>,
}

impl Evaluator {
    /// Deforms all instances of `document` in `pose`, each mesh by its own stack; for each what moved, in order of id.
    pub fn evaluate(&mut self, document: &Document, pose: &Pose) -> Vec<(InstanceId, Moved)> {
        let moved = self.evaluate_views(document, pose, &[ViewRequest::own()]);
        moved
            .into_iter()
            .map(|(_, instance, moved)| (instance, moved))
            .collect()
    }

    /// Deforms all instances of `document` in `pose` once for each view; what moved, by view in the order of `views`,
    /// then by id. What is known of other views is freed.
    pub fn evaluate_views(
        &mut self,
        document: &Document,
        pose: &Pose,
        views: &[ViewRequest],
    ) -> Vec<(ViewId, InstanceId, Moved)> {
        self.world = pose.world_matrices(document.skeleton());
        let rest_world = self.rest_world(document);
        self.plans.retain(|(view, id), _| {
            document.instances().contains_key(id) && views.iter().any(|v| v.view == *view)
        });
        self.cook(document);
        let drawn: Vec<Drawn<'_>> = document
            .instances()
            .iter()
            .filter_map(|(&id, instance)| drawn(&self.cooked, document, id, instance))
            .collect();
        let mut moved = Vec::with_capacity(drawn.len() * views.len());
        for view in views {
            let instead = view.stack.instead();
            for drawn in &drawn {
                let node = drawn.instance.joint;
                let stack = instead.as_ref().unwrap_or(&drawn.item.stack);
                let plain = view.plain.then(|| Arc::new(stack.plain()));
                let input = DeformInput {
                    geometry: &drawn.item.geometry,
                    cooked: drawn.cooked,
                    stack: plain.as_ref().unwrap_or(stack),
                    masks: &drawn.item.masks,
                    skeleton: document.skeleton(),
                    node,
                    skin: drawn.skin.map(|s| SkinSource {
                        joints: &s.joints,
                        inverse_bind: &s.inverse_bind,
                        meshes: &drawn.skin_meshes,
                    }),
                    rest_world: &rest_world,
                    world: &self.world,
                    morph_weights: pose
                        .morph_weights
                        .get(node.get())
                        .map_or(&[], Vec::as_slice),
                };
                let plan = self.plans.entry((view.view, drawn.id)).or_default();
                moved.push((view.view, drawn.id, plan.run(&input)));
            }
        }
        moved
    }

    /// The state of one instance, deformed by its own stack, after the latest evaluation.
    pub fn plan(&self, instance: InstanceId) -> Option<&InstancePlan> {
        self.plan_in(ViewId::OWN, instance)
    }

    /// The state of one instance in a view after the latest evaluation.
    pub fn plan_in(&self, view: ViewId, instance: InstanceId) -> Option<&InstancePlan> {
        self.plans.get(&(view, instance))
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

fn drawn<'a>(
    all_cooked: &'a HashMap<(MeshId, Vec<u32>), CookedMesh>,
    document: &'a Document,
    id: InstanceId,
    instance: &'a Instance,
) -> Option<Drawn<'a>> {
    let item = document.meshes().get(&instance.mesh)?;
    let order = order_of(document, instance);
    Some(Drawn {
        id,
        instance,
        item,
        cooked: all_cooked.get(&(instance.mesh, order))?,
        skin: instance.skin.and_then(|s| document.skins().get(&s)),
        skin_meshes: instance
            .skin
            .map_or_else(Vec::new, |skin| meshes_of_skin(document, skin)),
    })
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
