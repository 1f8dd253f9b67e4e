//! A body at rest: the skinned meshes of a skeleton, in world space.

use super::bones::{BoneLine, bone_lines};
use super::error::TwinError;
use crate::mesh::Mesh;
use crate::motion::Rig;
use crate::motion::roles::{Part, Role, Roles, Side, find_roles};
use crate::skeleton::mirror::Mirror;
use crate::skeleton::{JointId, Skeleton};
use crate::skinning::Influences;
use glam::{DAffine3, DVec3};
use rayon::prelude::*;
use std::sync::Arc;

/// A mesh and the skin that moves it.
#[derive(Clone, Copy, Debug)]
pub struct SkinnedShape<'a> {
    /// The mesh.
    pub geometry: &'a Mesh,
    /// One row a point.
    pub influences: &'a Influences,
    /// The joints that rows index.
    pub joints: &'a [JointId],
    /// One a joint.
    pub inverse_bind: &'a [DAffine3],
}

/// The points of a mesh at rest.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    /// n_points, world space, metres.
    pub(super) points: Vec<DVec3>,
    /// n_points + 1: the first influence of each point.
    starts: Vec<u32>,
    /// Joints (slots of the skeleton) and weights of sum 1.
    influences: Vec<(u32, f64)>,
    /// n_points: the joint of the largest weight; `u32::MAX` without weights.
    pub(super) dominant: Vec<u32>,
    /// n_points: the lowest point at the same place.
    pub(super) welded: Vec<u32>,
    /// Triangles of points.
    pub(super) triangles: Vec<[u32; 3]>,
}

impl Shape {
    /// The influences of a point; none: it follows nothing.
    pub(super) fn row(&self, point: usize) -> &[(u32, f64)] {
        &self.influences[self.starts[point] as usize..self.starts[point + 1] as usize]
    }
}

/// A body at rest.
#[derive(Clone, Debug)]
pub struct Body {
    pub(super) skeleton: Arc<Skeleton>,
    /// n_joints: world transforms at rest.
    pub(super) world: Vec<DAffine3>,
    /// n_joints: whether a skin has the joint.
    pub(super) is_bone: Vec<bool>,
    /// n_joints.
    pub(super) lines: Vec<BoneLine>,
    pub(super) roles: Roles,
    mirror: Mirror,
    /// One a mesh, in the order given.
    pub(super) shapes: Vec<Shape>,
}

impl Body {
    /// The skinned meshes of a skeleton whose rest transforms are `world`.
    ///
    /// Fails where there is no skin or no weight.
    pub fn new(
        skeleton: &Arc<Skeleton>,
        world: Vec<DAffine3>,
        shapes: &[SkinnedShape<'_>],
    ) -> Result<Self, TwinError> {
        if shapes.is_empty() {
            return Err(TwinError::Model(
                "the model has no skin: bind it to bones first".into(),
            ));
        }
        let mut is_bone = vec![false; skeleton.len()];
        for joint in shapes.iter().flat_map(|shape| shape.joints) {
            is_bone[joint.get()] = skeleton.is_live(*joint);
        }
        let made: Vec<Shape> = shapes
            .iter()
            .map(|shape| read_shape(shape, &world))
            .collect();
        let is_weighted = |shape: &Shape| !shape.influences.is_empty();
        if let Some(i) = made.iter().position(|shape| !is_weighted(shape)) {
            return Err(TwinError::Model(format!(
                "the skin of \"{}\" has no weights: paint or compute them first",
                shapes[i].geometry.name
            )));
        }
        let rig = Rig::of_skeleton(skeleton, |joint| is_bone[joint]);
        Ok(Self {
            lines: bone_lines(skeleton, &world, &is_bone),
            roles: find_roles(&rig),
            mirror: Mirror::new(skeleton),
            skeleton: skeleton.clone(),
            shapes: made,
            is_bone,
            world,
        })
    }

    /// The number of points of all meshes.
    pub fn n_points(&self) -> usize {
        self.shapes.iter().map(|shape| shape.points.len()).sum()
    }

    /// The bones, by joint.
    pub fn bones(&self) -> impl Iterator<Item = JointId> + '_ {
        let live = self.skeleton.live_joints();
        live.filter(|joint| self.is_bone[joint.get()])
    }

    /// The bone of a joint at rest.
    pub fn line(&self, joint: JointId) -> BoneLine {
        self.lines[joint.get()]
    }

    /// The skeleton.
    pub fn skeleton(&self) -> &Arc<Skeleton> {
        &self.skeleton
    }

    /// The roles of its joints.
    pub fn roles(&self) -> &Roles {
        &self.roles
    }

    /// The role of a joint.
    pub fn role(&self, joint: JointId) -> Option<Role> {
        let mut roles = self.roles.joints.iter();
        let found = roles.find(|(_, j)| **j == joint.get());
        found.map(|(role, _)| *role)
    }

    /// The joint of the same bone on the other side.
    pub fn partner(&self, joint: JointId) -> Option<JointId> {
        let by_role = self.role(joint).and_then(|role| {
            let other = match role.side {
                Side::Left => Side::Right,
                Side::Right => Side::Left,
                Side::Middle => return None,
            };
            self.roles.get(role.part, other)
        });
        let by_role = by_role.map(|joint| JointId(joint as u32));
        let by_name = || self.mirror.partner(joint).filter(|other| *other != joint);
        by_role.or_else(by_name)
    }

    /// From the hips to the neck, with the joint after the last: the bones that fit the height.
    pub(super) fn trunk(&self) -> Option<(Vec<usize>, usize)> {
        let (hips, head) = (
            self.roles.middle(Part::Hips)?,
            self.roles.middle(Part::Head)?,
        );
        let mut joints = vec![hips];
        joints.extend(&self.roles.spine);
        joints.extend(self.roles.middle(Part::Neck));
        joints.dedup();
        Some((joints, head))
    }

    /// The points of each mesh at rest.
    pub(super) fn points(&self) -> Vec<&[DVec3]> {
        self.shapes.iter().map(|shape| &shape.points[..]).collect()
    }

    /// The height of the lowest and of the highest point, metres.
    pub(super) fn extent(&self) -> [f64; 2] {
        extent(self.points().into_iter())
    }

    /// The height at rest: of the box of all points along Y, metres.
    pub fn height(&self) -> f64 {
        let [low, high] = self.extent();
        high - low
    }
}

/// The lowest and the highest Y of some points.
pub(super) fn extent<'a>(meshes: impl Iterator<Item = &'a [DVec3]>) -> [f64; 2] {
    meshes
        .flatten()
        .fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], p| {
            [low.min(p.y), high.max(p.y)]
        })
}

fn read_shape(shape: &SkinnedShape<'_>, world: &[DAffine3]) -> Shape {
    let joints = shape.joints.iter().zip(shape.inverse_bind);
    let palette: Vec<DAffine3> = joints.map(|(j, bind)| world[j.get()] * *bind).collect();
    let n = shape.geometry.n_points();
    let mut made = Shape {
        points: Vec::new(),
        starts: Vec::with_capacity(n + 1),
        influences: Vec::with_capacity(2 * n),
        dominant: Vec::with_capacity(n),
        welded: welded(shape.geometry),
        triangles: shape.geometry.topology().triangles.clone(),
    };
    made.starts.push(0);
    let mut local: Vec<(u16, f64)> = Vec::with_capacity(made.influences.capacity());
    for point in 0..n as u32 {
        let row = if (point as usize) < shape.influences.len() {
            Some(shape.influences.row(point))
        } else {
            None
        };
        let sum: f64 = row
            .iter()
            .flat_map(|r| r.iter())
            .map(|(_, w)| f64::from(w))
            .sum();
        let mut most = (u32::MAX, 0.0);
        for (slot, weight) in row.iter().flat_map(|row| row.iter()) {
            let Some(joint) = shape.joints.get(usize::from(slot)) else {
                continue;
            };
            let weight = f64::from(weight) / sum;
            let is_valid = weight > 0.0 && weight.is_finite();
            if !is_valid {
                continue;
            }
            if weight > most.1 {
                most = (joint.0, weight);
            }
            made.influences.push((joint.0, weight));
            local.push((slot, weight));
        }
        made.dominant.push(most.0);
        made.starts.push(made.influences.len() as u32);
    }
    let (starts, positions) = (&made.starts, &shape.geometry.positions);
    let place = |point: usize| {
        let own = positions[point].as_dvec3();
        let row = &local[starts[point] as usize..starts[point + 1] as usize];
        if row.is_empty() {
            return own;
        }
        let parts = row
            .iter()
            .map(|(slot, w)| palette[usize::from(*slot)].transform_point3(own) * *w);
        parts.sum()
    };
    made.points = (0..n).into_par_iter().map(place).collect();
    made
}

/// n_points: the lowest point at the same place.
fn welded(mesh: &Mesh) -> Vec<u32> {
    let topology = mesh.topology();
    let lowest = |point: u32| topology.twins(point).fold(point, u32::min);
    (0..mesh.n_points() as u32).map(lowest).collect()
}
