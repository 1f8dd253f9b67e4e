//! The plans of all instances of a document in each view, and what they share.

use super::skin_orders::{SkinMeshes, SkinOrders};
use super::{CentreMap, LayoutMap, ViewId, ViewRequest, centres, layouts};
use crate::deform::{CookedMesh, InstancePlan, Moved};
use crate::document::{CookedInstance, Document, InstanceId, MeshId, PosedDocument};
use crate::skeleton::{Pose, PoseAt, Skeleton};
use glam::DAffine3;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Cooked meshes, shared by all views, and the plan of every instance in each view.
#[derive(Default)]
pub(super) struct Plans {
    cooked: HashMap<(MeshId, Arc<[u32]>), Cooked>,
    orders: SkinOrders,
    skin_meshes: SkinMeshes,
    /// The number of evaluations.
    now: u64,
    by_view: BTreeMap<(ViewId, InstanceId), InstancePlan>,
    rest: Option<Rest>,
    world: Vec<DAffine3>,
    centres: CentreMap,
    /// The centres were given: none are computed here.
    centres_given: bool,
    layouts: LayoutMap,
    /// The layouts were given: none are computed here.
    layouts_given: bool,
    kept: Kept,
}

/// What plans compute.
#[derive(Clone, Copy, Default)]
enum Kept {
    /// All of it.
    #[default]
    Everything,
    /// Not what only their base shape would show.
    Shapes,
    /// Nor normals.
    Positions,
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

impl Plans {
    /// Plans that leave out what only their base shape would show ([`InstancePlan::for_shapes`]).
    pub(super) fn for_shapes() -> Self {
        Self {
            kept: Kept::Shapes,
            ..Self::default()
        }
    }

    /// As [`Plans::for_shapes`], without normals.
    pub(super) fn for_positions() -> Self {
        Self {
            kept: Kept::Positions,
            ..Self::default()
        }
    }

    /// Plans for another document with the same meshes, which compute as much as these.
    pub(super) fn for_another(&self) -> Self {
        Self {
            kept: self.kept,
            ..Self::default()
        }
    }

    /// Uses these centres of rotation from now on and computes none: a mesh without falls back to dual quaternion
    /// skinning.
    pub(super) fn set_centres(&mut self, centres: CentreMap) {
        self.centres = centres;
        self.centres_given = true;
    }

    /// Uses these patch layouts from now on and computes none: clusters of a mesh without do not act.
    pub(super) fn set_layouts(&mut self, layouts: LayoutMap) {
        self.layouts = layouts;
        self.layouts_given = true;
    }

    /// Begins an evaluation of `document` in `pose`: what all views share. Plans of other views than `views` are freed.
    pub(super) fn begin(&mut self, document: &Document, pose: &Pose, views: &[ViewRequest]) {
        pose.world_matrices_into(document.skeleton(), &mut self.world);
        self.by_view.retain(|(view, id), _| {
            document.instances().contains_key(id) && views.iter().any(|v| v.view == *view)
        });
        self.cook(document);
        if !self.centres_given {
            centres::find(document, views, &mut self.centres);
        }
        if !self.layouts_given {
            layouts::find(document, views, &mut self.layouts);
        }
    }

    /// Deforms all instances for one of the views that the evaluation began with; adds the changes to `moved`, by id.
    pub(super) fn evaluate_view(
        &mut self,
        document: &Document,
        at: PoseAt<'_>,
        view: &ViewRequest,
        moved: &mut Vec<(ViewId, InstanceId, Moved)>,
    ) {
        let rest_world = self.rest_world(document);
        let posed = PosedDocument {
            document,
            pose: at.pose,
            moment: at.moment,
            rest_world: &rest_world,
            world: &self.world,
        };
        let instead = view.stack.instead();
        let (correctives, clusters) = (view.shows_correctives(), view.shows_clusters());
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
                correctives,
                layout: self.layouts.get(&instance.mesh).filter(|_| clusters),
                influences: cooked,
                centres: self.centres.get(&instance.mesh),
                skin_meshes: &skin_meshes,
            };
            if let Some(input) = posed.deform_input(instance, cooked) {
                let kept = self.kept;
                let new = || match kept {
                    Kept::Everything => InstancePlan::default(),
                    Kept::Shapes => InstancePlan::default().for_shapes(),
                    Kept::Positions => InstancePlan::without_normals().for_shapes(),
                };
                let plan = self.by_view.entry((view.view, id)).or_insert_with(new);
                moved.push((view.view, id, plan.run(&input)));
            }
            self.skin_meshes.give_back(skin_meshes);
        }
    }

    /// The plan of one instance in a view after the latest evaluation.
    pub(super) fn plan(&self, view: ViewId, instance: InstanceId) -> Option<&InstancePlan> {
        self.by_view.get(&(view, instance))
    }

    /// World transforms of all joints in the latest evaluation.
    pub(super) fn world(&self) -> &[DAffine3] {
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
                let world = document.rest_pose().world_matrices(document.skeleton());
                // Plans compare by identity: equal transforms, as after a joint was renamed, stay the same ones.
                let known = self.rest.take().map(|rest| rest.world);
                let world = match known {
                    Some(known) if *known == world => known,
                    _ => Arc::new(world),
                };
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
