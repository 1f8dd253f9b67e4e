//! Documents evaluated in place: what the worker, the command line and tests share.

use super::exported::{ExportedModel, ExportedView};
use super::skin_orders::{SkinMeshes, SkinOrders};
use super::{CentreMap, ViewId, ViewRequest, centres};
use crate::deform::{CookedMesh, InstancePlan, Moved, StackChoice};
use crate::document::{CookedInstance, Document, InstanceId, MeshId, PosedDocument};
use crate::skeleton::{Pose, Skeleton};
use glam::{DAffine3, Vec3};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Cooked meshes, shared by all views, and the latest result of every instance in each of them; evaluating again redoes
/// only what changed.
#[derive(Default)]
pub struct Evaluator {
    cooked: HashMap<(MeshId, Arc<[u32]>), Cooked>,
    orders: SkinOrders,
    skin_meshes: SkinMeshes,
    /// Counts evaluations.
    now: u64,
    plans: BTreeMap<(ViewId, InstanceId), InstancePlan>,
    rest: Option<Rest>,
    world: Vec<DAffine3>,
    centres: CentreMap,
    /// The centres were given: none are sought here.
    centres_given: bool,
    /// What [`StackChoice::Exported`] shows.
    exported: Option<Box<ExportedView>>,
}

/// The cooked influences of a mesh, and the evaluation that used them last.
#[derive(Default)]
struct Cooked {
    mesh: CookedMesh,
    used: u64,
}

/// World transforms of the file's rest pose.
struct Rest {
    skeleton: Arc<Skeleton>,
    pose: Arc<Pose>,
    world: Arc<Vec<DAffine3>>,
}

impl Evaluator {
    /// Moves points about these centres of rotation from now on and seeks none itself; where there are none for a mesh,
    /// it moves as by dual quaternion skinning. An evaluator that was never given any finds them when a stack asks.
    pub fn set_centres(&mut self, centres: CentreMap) {
        self.centres = centres;
        self.centres_given = true;
    }

    /// Shows this exported file where a view asks for it, from now on.
    pub fn set_exported(&mut self, model: Option<&Arc<ExportedModel>>) {
        let known = self.exported.as_ref().map(|view| view.model());
        let is_same = match (known, model) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (a, b) => a.is_none() && b.is_none(),
        };
        if !is_same {
            self.exported = model.map(|model| Box::new(ExportedView::new(model.clone())));
        }
    }

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
        pose.world_matrices_into(document.skeleton(), &mut self.world);
        let rest_world = self.rest_world(document);
        self.plans.retain(|(view, id), _| {
            document.instances().contains_key(id) && views.iter().any(|v| v.view == *view)
        });
        self.cook(document);
        if !self.centres_given {
            centres::find(document, views, &mut self.centres);
        }
        let posed = PosedDocument {
            document,
            pose,
            rest_world: &rest_world,
            world: &self.world,
        };
        let mut moved = Vec::with_capacity(document.instances().len() * views.len());
        for view in views {
            if view.stack == StackChoice::Exported {
                // Before anything was exported there is nothing to show.
                if let Some(exported) = &mut self.exported {
                    exported.evaluate(view.view, document, pose, &mut moved);
                }
                continue;
            }
            let instead = view.stack.instead();
            for (&id, instance) in document.instances() {
                let Some(item) = document.meshes().get(&instance.mesh) else {
                    continue;
                };
                let key = (instance.mesh, self.orders.of(instance).clone());
                let Some(Cooked { mesh: cooked, .. }) = self.cooked.get(&key) else {
                    continue;
                };
                let skin_meshes = self.skin_meshes.take(document, instance.skin);
                let stack = instead.as_ref().unwrap_or(&item.stack);
                let plain = view.plain.then(|| Arc::new(stack.plain()));
                let cooked = CookedInstance {
                    stack: Some(plain.as_ref().unwrap_or(stack)),
                    influences: cooked,
                    centres: self.centres.get(&instance.mesh),
                    skin_meshes: &skin_meshes,
                };
                let Some(input) = posed.deform_input(instance, cooked) else {
                    continue;
                };
                let plan = self.plans.entry((view.view, id)).or_default();
                moved.push((view.view, id, plan.run(&input)));
                self.skin_meshes.give_back(skin_meshes);
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

    /// World positions of the points and world normals of one instance in a view after the latest evaluation.
    pub fn posed_in(&self, view: ViewId, instance: InstanceId) -> Option<(&[Vec3], &[Vec3])> {
        match self.plan_in(view, instance) {
            Some(plan) => Some((plan.positions(), plan.normals())),
            None => self.exported.as_ref()?.posed_in(view, instance),
        }
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
        self.orders.update(document);
        self.now += 1;
        for instance in document.instances().values() {
            let Some(item) = document.meshes().get(&instance.mesh) else {
                continue;
            };
            let order = self.orders.of(instance);
            let cooked = self
                .cooked
                .entry((instance.mesh, order.clone()))
                .or_default();
            if cooked.used != self.now {
                cooked.used = self.now;
                cooked.mesh.update(&item.influences, order);
            }
        }
        self.cooked.retain(|_, cooked| cooked.used == self.now);
    }
}
