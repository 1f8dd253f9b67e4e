//! The shapes of everything at one frame, for a static mesh.

use crate::bake::problem::sampler::Sampler;
use crate::deform::{CookedMesh, InstancePlan};
use crate::document::{ClipId, CookedInstance, Document, InstanceId, PosedDocument};
use crate::skeleton::{Moment, Pose, PoseAt};
use crate::task::{Cancelled, Task};
use glam::{DAffine3, Vec3};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The pose of a static mesh.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StaticPose {
    /// A clip; `None`: the pose on screen.
    pub clip: Option<ClipId>,
    /// The time in the clip, seconds.
    pub time: f64,
}

impl StaticPose {
    /// The pose at that time; `None` if the document has no such clip.
    pub fn pose(&self, document: &Document) -> Option<Arc<Pose>> {
        let Some(clip) = self.clip else {
            return Some(document.shown_pose());
        };
        let clip = document.clips().get(&clip)?;
        Some(Arc::new(document.pose_of_clip(clip, self.time)))
    }

    /// The moment of [`StaticPose::pose`].
    pub fn moment(&self, document: &Document) -> Moment {
        match self.clip {
            Some(clip) => Moment::of(clip, self.time),
            None => document.shown_moment(),
        }
    }
}

/// An instance as a static mesh.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StaticShape {
    /// n_points, world, metres.
    pub positions: Vec<Vec3>,
    /// n_normals, world, normalised.
    pub normals: Vec<Vec3>,
    /// Whether its node mirrors, which flips the triangles; joints of a skin do not count.
    pub mirrored: bool,
    /// The node's transform in a player without constraints.
    pub node: DAffine3,
    /// Whether the source's mesh at `node` is already this shape.
    pub as_in_source: bool,
}

/// The shape of each instance of `document` in a pose at its moment, deformed by the stacks. Computes the centres of
/// rotation of stacks that need them.
pub fn static_shapes<'p>(
    document: &Document,
    at: impl Into<PoseAt<'p>>,
    task: &Task,
) -> Result<BTreeMap<InstanceId, StaticShape>, Cancelled> {
    let at = at.into();
    let PoseAt { pose, moment } = at;
    task.step("Deforming", 0.0)?;
    let sampler = Sampler::with_driven(document, task)?;
    let played = pose.world_matrices(&sampler.player_skeleton);
    let world = pose.world_matrices(document.skeleton());
    let skinned = sampler.sample_poses(&[at], task, |_, plans| {
        let shape = |plan: &InstancePlan| (plan.positions().to_vec(), plan.normals().to_vec());
        plans.iter().map(shape).collect::<Vec<_>>()
    })?;
    let mut shapes = BTreeMap::new();
    for (drawn, (positions, normals)) in sampler.instances.iter().zip(skinned.into_iter().flatten())
    {
        let shape = StaticShape {
            positions,
            normals,
            mirrored: drawn.skin.is_none() && world[drawn.node.get()].matrix3.determinant() < 0.0,
            node: played[drawn.node.get()],
            as_in_source: false,
        };
        shapes.insert(drawn.id, shape);
    }
    let unmoved = PosedDocument {
        document,
        pose,
        moment,
        rest_world: &sampler.rest_world,
        world: &vec![DAffine3::IDENTITY; world.len()],
    };
    for (&id, instance) in document.instances() {
        task.check()?;
        if shapes.contains_key(&id) {
            continue;
        }
        // In the space of the node, where normals belong to the unscaled shape.
        let cooked = CookedInstance {
            stack: None,
            correctives: true,
            layout: None,
            influences: &CookedMesh::default(),
            centres: None,
            skin_meshes: &[],
        };
        let Some(input) = unmoved.deform_input(instance, cooked) else {
            continue;
        };
        let mut plan = InstancePlan::default();
        plan.run(&input);
        let node = instance.joint;
        let place = world[node.get()];
        let back = place.matrix3.inverse().transpose();
        let positions = plan.positions().iter();
        let normals = plan.normals().iter();
        let shape = StaticShape {
            positions: positions
                .map(|p| place.transform_point3(p.as_dvec3()).as_vec3())
                .collect(),
            normals: normals
                .map(|n| {
                    let turned = (back * n.as_dvec3()).try_normalize();
                    turned.map_or(*n, glam::DVec3::as_vec3)
                })
                .collect(),
            mirrored: place.matrix3.determinant() < 0.0,
            node: played[node.get()],
            as_in_source: played[node.get()] == world[node.get()]
                && input.morph_weights.iter().all(|w| *w == 0.0),
        };
        shapes.insert(id, shape);
    }
    Ok(shapes)
}

/// The smallest volume of a node's transform, relative to the cube of its largest scale, that f32 positions below it
/// survive.
const MIN_VOLUME: f64 = 1e-6;

/// World -> the space of a node at `node`; `None` where that is flat or mirrors, so that no skinned shape can be
/// placed in it.
pub fn into_node(node: DAffine3) -> Option<DAffine3> {
    let columns = [
        node.matrix3.x_axis,
        node.matrix3.y_axis,
        node.matrix3.z_axis,
    ];
    let largest = columns.iter().map(|c| c.length()).fold(0.0, f64::max);
    let volume = node.matrix3.determinant();
    let is_usable = node.is_finite() && volume > MIN_VOLUME * largest.powi(3);
    is_usable.then(|| node.inverse())
}
