//! A frame as plain shapes: everything that is drawn, where the stacks put it.

use crate::bake::problem::sampler::Sampler;
use crate::deform::{CookedMesh, InstancePlan};
use crate::document::{ClipId, CookedInstance, Document, InstanceId, PosedDocument};
use crate::skeleton::Pose;
use crate::task::{Cancelled, Task};
use glam::{DAffine3, Vec3};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Which frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Still {
    /// A clip; `None`: the pose on screen.
    pub clip: Option<ClipId>,
    /// Seconds into the clip.
    pub time: f64,
}

impl Still {
    /// The pose of that frame; `None` where the document has no such clip.
    pub fn pose(&self, document: &Document) -> Option<Arc<Pose>> {
        let Some(clip) = self.clip else {
            return Some(document.shown_pose());
        };
        let clip = document.clips().get(&clip)?;
        Some(Arc::new(document.pose_of_clip(clip, self.time)))
    }
}

/// An instance at rest for ever.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StillShape {
    /// n_points, world, metres.
    pub positions: Vec<Vec3>,
    /// n_normals, world, unit.
    pub normals: Vec<Vec3>,
    /// The node that moves it mirrors, so that triangles turn the other way round: a skin's joints do not count.
    pub mirrored: bool,
    /// Where a player that knows no rules of joints has the node.
    pub node: DAffine3,
    /// The node does it all: the mesh as the source has it, at `node`, is this shape.
    pub as_in_source: bool,
}

/// The shape of each instance of `document` in `pose`, deformed by the stacks. Finds centres of rotation where a stack
/// asks for them.
pub fn still_shapes(
    document: &Document,
    pose: &Pose,
    task: &Task,
) -> Result<BTreeMap<InstanceId, StillShape>, Cancelled> {
    task.step("Deforming", 0.0)?;
    let sampler = Sampler::new(document, task)?;
    let played = pose.world_matrices(&sampler.player_skeleton);
    let world = pose.world_matrices(document.skeleton());
    let poses = [pose.clone()];
    let skinned = sampler.sample_poses(&poses, task, |_, plans| {
        let shape = |plan: &InstancePlan| (plan.positions().to_vec(), plan.normals().to_vec());
        plans.iter().map(shape).collect::<Vec<_>>()
    })?;
    let mut shapes = BTreeMap::new();
    for (drawn, (positions, normals)) in sampler.instances.iter().zip(skinned.into_iter().flatten())
    {
        let shape = StillShape {
            positions,
            normals,
            mirrored: false,
            node: played[drawn.node.get()],
            as_in_source: false,
        };
        shapes.insert(drawn.id, shape);
    }
    // Each in its own space: carried normals are those of the unscaled shape there.
    let unmoved = PosedDocument {
        document,
        pose,
        rest_world: &sampler.rest_world,
        world: &vec![DAffine3::IDENTITY; world.len()],
    };
    for (&id, instance) in document.instances() {
        task.check()?;
        if shapes.contains_key(&id) {
            continue;
        }
        let cooked = CookedInstance {
            stack: None,
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
        let shape = StillShape {
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

/// The smallest stretch of a node, as a fraction of its largest, that its children's shapes survive.
const FLAT: f64 = 1e-6;

/// World -> the space of a node at `node`; `None` where that has no volume or mirrors: there no skinned shape can be
/// put.
pub fn into_node(node: DAffine3) -> Option<DAffine3> {
    let columns = [
        node.matrix3.x_axis,
        node.matrix3.y_axis,
        node.matrix3.z_axis,
    ];
    let largest = columns.iter().map(|c| c.length()).fold(0.0, f64::max);
    let volume = node.matrix3.determinant();
    let is_usable = node.is_finite() && volume > FLAT * largest.powi(3);
    is_usable.then(|| node.inverse())
}
