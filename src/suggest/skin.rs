//! The skin around a joint, at rest and in poses.

use crate::deform::{DeformStack, StackChoice, blended_rotations};
use crate::document::{Document, InstanceId, MeshId, MeshItem};
use crate::evaluate::{Evaluator, ViewId, ViewRequest};
use crate::relax::{Bending, BoneAxes, Neighbourhood, NeighbourhoodError, Posed};
use crate::skeleton::{JointId, Pose, Skeleton};
use crate::task::Task;
use glam::{DAffine3, DQuat, DVec3, IVec3, Vec3};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

/// Points with equal influences are one if they are no farther apart at rest than this fraction of the diagonal.
const WELD: f32 = 1e-5;

/// The view that gives the outline.
const OUTLINE: ViewId = ViewId(1);

/// The shape whose outline stretched skin keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutlineOf {
    /// The mesh under its own stack.
    #[default]
    ThisStack,
    /// The mesh under the default stack.
    DefaultStack,
}

/// A joint, a mesh that it bends, and the welded surface around it.
#[derive(Clone, Debug)]
pub struct JointSkin {
    /// The instance whose skin the joint belongs to.
    pub instance: InstanceId,
    /// Its mesh.
    pub mesh: MeshId,
    /// The joint.
    pub joint: JointId,
    /// The surface around it at rest, as it is drawn.
    pub around: Neighbourhood,
    /// One for each point of the neighbourhood: the points of the mesh there, ascending.
    pub points: Vec<Vec<u32>>,
    /// The blended rotations at rest.
    rest_rotations: Vec<DQuat>,
    /// World transforms of all joints at rest.
    rest_world: Vec<DAffine3>,
}

/// Puts a skin in poses.
pub struct Poser<'a> {
    document: &'a Document,
    outline: OutlineOf,
    on_samples: bool,
    evaluator: Evaluator,
}

impl JointSkin {
    /// The instances whose skins have the joint, one for each mesh, in order of id.
    pub fn instances(document: &Document, joint: JointId) -> Vec<InstanceId> {
        let mut meshes = Vec::new();
        let instances = document.instances().iter();
        let own = instances.filter(|(_, instance)| {
            let skin = instance.skin.and_then(|skin| document.skins().get(&skin));
            let is_new = !meshes.contains(&instance.mesh);
            let has = is_new && skin.is_some_and(|skin| skin.joints.contains(&joint));
            if has {
                meshes.push(instance.mesh);
            }
            has
        });
        own.map(|(id, _)| *id).collect()
    }

    /// The skin of an instance around a joint. Fails where the instance has no skin or no weight blends across the joint.
    pub fn new(
        document: &Document,
        instance: InstanceId,
        joint: JointId,
        task: &Task,
    ) -> Result<Self, NeighbourhoodError> {
        let found = document.instances().get(&instance).and_then(|found| {
            let skin = document.skins().get(&found.skin?)?;
            Some((found.mesh, document.meshes().get(&found.mesh)?, skin))
        });
        let (mesh, item, skin) = found.ok_or(NeighbourhoodError::NothingBlends)?;
        let skeleton = document.skeleton();
        let below = |&j: &JointId| j == joint || skeleton.ancestors(j).any(|a| a == joint);
        let is_below: Vec<bool> = skin.joints.iter().map(below).collect();
        let mut poser = Poser::new(document, OutlineOf::ThisStack);
        poser.evaluate(document.rest_pose());
        let plan = poser.evaluator.plan(instance);
        let rest = plan.map_or_else(Default::default, |plan| plan.base_positions());
        task.check()?;

        let (weld, first) = weld(&rest, item);
        let of_row = |&point: &u32| {
            let row = item.influences.row(point).iter();
            let (own, all) = row.fold((0.0, 0.0), |(own, all), (slot, weight)| {
                let weight = f64::from(weight);
                let counts = is_below.get(usize::from(slot)).is_some_and(|b| *b);
                (own + if counts { weight } else { 0.0 }, all + weight)
            });
            if all > 0.0 { own / all } else { 0.0 }
        };
        let bind: Vec<DVec3> = first.iter().map(|&p| rest[p as usize].as_dvec3()).collect();
        let triangles = item.geometry.topology().triangles.iter();
        let triangles: Vec<[u32; 3]> = triangles.map(|t| t.map(|p| weld[p as usize])).collect();
        let weights: Vec<f64> = first.iter().map(of_row).collect();
        let rest_world = document.rest_pose().world_matrices(skeleton);
        let bending = Bending {
            bind: &bind,
            triangles: &triangles,
            subtree_weights: &weights,
            joint: rest_world[joint.get()].translation,
        };
        let around = Neighbourhood::new(&bending, task)?;
        let mut local = vec![u32::MAX; bind.len()];
        for (i, &p) in (0..).zip(&around.points) {
            local[p as usize] = i;
        }
        let mut points = vec![Vec::new(); around.n_points()];
        for (point, &welded) in (0..).zip(&weld) {
            if let Some(own) = points.get_mut(local[welded as usize] as usize) {
                own.push(point);
            }
        }
        let mut made = Self {
            instance,
            mesh,
            joint,
            around,
            points,
            rest_rotations: Vec::new(),
            rest_world,
        };
        made.rest_rotations = made.rotations(&poser, &item.stack, item);
        Ok(made)
    }

    /// The first mesh point of each point of the neighbourhood.
    fn first_points(&self) -> Vec<u32> {
        self.points.iter().map(|own| own[0]).collect()
    }

    fn rotations(&self, poser: &Poser<'_>, stack: &DeformStack, item: &MeshItem) -> Vec<DQuat> {
        let points = self.first_points();
        match poser.evaluator.plan(self.instance) {
            Some(plan) => blended_rotations(plan, stack, &item.masks, &points),
            None => vec![DQuat::IDENTITY; points.len()],
        }
    }

    /// The directions of the bones at the joint, at rest and in a pose.
    pub fn bone_axes(&self, skeleton: &Skeleton, pose: &Pose) -> BoneAxes {
        let world = pose.world_matrices(skeleton);
        let j = self.joint.get();
        let rest = &self.rest_world;
        let here = rest[j].translation;
        let parent = skeleton.joint(self.joint).parent;
        let to_parent = parent.map(|p| (rest[p.get()].translation - here).normalize_or_zero());
        let children = skeleton.children(self.joint).iter();
        let to_children: DVec3 = children.map(|c| rest[c.get()].translation - here).sum();
        let tail = skeleton.joint(self.joint).rule.tail;
        let tail = tail.map(|tail| rest[j].matrix3 * tail);
        let to_child = tail.unwrap_or(to_children).normalize_or_zero();
        // A leaf goes on like its parent's bone, and a root like its child's.
        let to_parent = to_parent.filter(|d| *d != DVec3::ZERO).unwrap_or(-to_child);
        let to_child = if to_child == DVec3::ZERO {
            -to_parent
        } else {
            to_child
        };
        let moved = |joint: usize, d: DVec3| {
            (world[joint].matrix3 * rest[joint].matrix3.inverse() * d).normalize_or_zero()
        };
        BoneAxes {
            bind: [to_parent, to_child],
            posed: [
                moved(parent.map_or(j, JointId::get), to_parent),
                moved(j, to_child),
            ],
            joint: world[j].translation,
        }
    }
}

impl<'a> Poser<'a> {
    /// Puts the skins of `document` in poses.
    pub fn new(document: &'a Document, outline: OutlineOf) -> Self {
        Self {
            document,
            outline,
            on_samples: false,
            evaluator: Evaluator::default(),
        }
    }

    /// The same, with or without what the corrective samples of the document do to the skin.
    #[must_use]
    pub fn on_samples(self, on_samples: bool) -> Self {
        Self { on_samples, ..self }
    }

    /// The evaluation of the latest pose.
    pub fn evaluator(&self) -> &Evaluator {
        &self.evaluator
    }

    /// The shape of an instance in the latest pose; empty where it was not deformed.
    pub fn shape(&self, instance: InstanceId) -> Cow<'_, [Vec3]> {
        self.shape_in(ViewId::OWN, instance)
    }

    fn shape_in(&self, view: ViewId, instance: InstanceId) -> Cow<'_, [Vec3]> {
        let plan = self.evaluator.plan_in(view, instance);
        let on_samples = self.on_samples && view == ViewId::OWN;
        plan.map_or_else(Default::default, |plan| {
            if on_samples {
                Cow::Borrowed(plan.positions())
            } else {
                plan.base_positions()
            }
        })
    }

    /// The skin in a pose, before its corrective samples unless [`Poser::on_samples`] says otherwise.
    pub fn pose(&mut self, skin: &JointSkin, pose: &Pose) -> Posed {
        self.evaluate(pose);
        let Some(item) = self.document.meshes().get(&skin.mesh) else {
            return Posed::default();
        };
        let first = skin.first_points();
        let places = |view: ViewId| -> Vec<DVec3> {
            let shape = self.shape_in(view, skin.instance);
            first
                .iter()
                .map(|&p| shape[p as usize].as_dvec3())
                .collect()
        };
        let skinned = places(ViewId::OWN);
        let outline = match self.outline {
            OutlineOf::ThisStack => skinned.clone(),
            OutlineOf::DefaultStack => places(OUTLINE),
        };
        let rotations = skin.rotations(self, &item.stack, item).into_iter();
        let rotations = rotations
            .zip(&skin.rest_rotations)
            .map(|(q, rest)| q * rest.conjugate());
        Posed {
            skinned,
            outline,
            rotations: rotations.collect(),
        }
    }

    fn evaluate(&mut self, pose: &Pose) {
        let mut views = vec![ViewRequest::own()];
        if self.outline == OutlineOf::DefaultStack {
            views.push(ViewRequest {
                view: OUTLINE,
                stack: StackChoice::Custom(Arc::new(DeformStack::default())),
                plain: false,
            });
        }
        self.evaluator.evaluate_views(self.document, pose, &views);
    }
}

/// n_points: the welded point of each, and the first point of each welded one. Points with equal influences at one place
/// are one.
fn weld(rest: &[Vec3], item: &MeshItem) -> (Vec<u32>, Vec<u32>) {
    let (low, high) = rest
        .iter()
        .fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), p| {
            (low.min(*p), high.max(*p))
        });
    let tolerance = WELD * (high - low).max(Vec3::ZERO).length();
    // Cells are wider than the tolerance, so that most points look at one.
    let cell = |p: Vec3| ((p - low) / (4.0 * tolerance)).floor().as_ivec3();
    let same_row = |a: u32, b: u32| {
        let (a, b) = (item.influences.row(a), item.influences.row(b));
        let within = |a: crate::skinning::RowRef<'_>, b: crate::skinning::RowRef<'_>| {
            a.iter()
                .all(|(joint, weight)| (b.weight_of(joint) - weight).abs() < 1e-6)
        };
        within(a, b) && within(b, a)
    };
    let mut cells: HashMap<IVec3, Vec<u32>> = HashMap::new();
    let (mut welded, mut first) = (Vec::with_capacity(rest.len()), Vec::new());
    for (point, &place) in (0..).zip(rest) {
        let (from, to) = (cell(place - tolerance), cell(place + tolerance));
        let mut known = None;
        for x in from.x..=to.x {
            for y in from.y..=to.y {
                for z in from.z..=to.z {
                    let own = cells.get(&IVec3::new(x, y, z)).into_iter().flatten();
                    let mut like = own.filter(|&&w: &&u32| {
                        let other: u32 = first[w as usize];
                        rest[other as usize].distance(place) <= tolerance && same_row(point, other)
                    });
                    known = known.or(like.next().copied());
                }
            }
        }
        let number = known.unwrap_or_else(|| {
            let number = first.len() as u32;
            first.push(point);
            cells.entry(cell(place)).or_default().push(number);
            number
        });
        welded.push(number);
    }
    (welded, first)
}
