//! What a fitted body changes in a model: rest transforms, inverse bind matrices, points, displacements, keyframes
//! (METHODS-twin 5.3).

use super::body::Body;
use super::factor::BoneFactor;
use super::fit::Fitted;
use crate::math::Transform;
use crate::motion::roles::Part;
use crate::skeleton::{Channel, JointId, Property};
use glam::{DAffine3, DMat3, DVec3, Vec3};
use rayon::prelude::*;

/// A fitted body and the template it was fitted to.
#[derive(Clone, Copy, Debug)]
pub struct Bind<'a> {
    /// The template at rest.
    pub body: &'a Body,
    /// What was fitted to it.
    pub fitted: &'a Fitted,
}

impl Bind<'_> {
    /// The rest transform of a joint: rotation and scale are the template's.
    pub fn rest(&self, joint: JointId) -> Transform {
        let rest = self.body.skeleton.joint(joint).rest;
        Transform {
            translation: self.translation(joint),
            ..rest
        }
    }

    fn translation(&self, joint: JointId) -> DVec3 {
        let (skeleton, fitted) = (&self.body.skeleton, self.fitted);
        let entry = skeleton.joint(joint);
        if entry.removed || !fitted.moves[joint.get()] || fitted.is_identity() {
            return entry.rest.translation;
        }
        let Some(parent) = entry.parent else {
            return fitted.places[joint.get()];
        };
        // Where the parent is the one along the limb, no place is subtracted from another: a factor of 1 keeps the bits.
        if skeleton.logical_parent(joint) == Some(parent) {
            return self.in_parent(joint, entry.rest.translation);
        }
        let way = fitted.places[joint.get()] - fitted.places[parent.get()];
        finite(
            self.body.world[parent.get()].matrix3.inverse() * way,
            entry.rest.translation,
        )
    }

    /// A way from the parent of a joint, in the parent's axes, scaled as the parent's bone.
    fn in_parent(&self, joint: JointId, way: DVec3) -> DVec3 {
        let Some(parent) = self.body.skeleton.joint(joint).parent else {
            return way * self.fitted.scale;
        };
        let factor = &self.fitted.factors[parent.get()];
        if factor.is_identity() {
            return way;
        }
        let axes = self.body.world[parent.get()].matrix3;
        let rest = self.body.lines[joint.get()].head - self.body.lines[parent.get()].head;
        finite(axes.inverse() * factor.apply_vector(rest, axes * way), way)
    }

    /// The factor of a bone; the tail of its rule follows it.
    pub fn tail(&self, joint: JointId, tail: DVec3) -> DVec3 {
        let factor = &self.fitted.factors[joint.get()];
        if factor.is_identity() {
            return tail;
        }
        let axes = self.body.world[joint.get()].matrix3;
        let way = axes * tail;
        finite(axes.inverse() * factor.apply(way), tail)
    }

    /// World transforms of the fitted body at rest.
    pub fn world(&self, joint: JointId) -> DAffine3 {
        let world = self.body.world[joint.get()];
        DAffine3 {
            translation: self.fitted.places[joint.get()],
            ..world
        }
    }

    /// The translation of a joint in a pose of the template, on the fitted body: `rest' + S (t - rest)` in the parent's
    /// axes; the hips and what is above them travel with the length of the legs.
    pub fn posed(&self, joint: JointId, translation: DVec3) -> DVec3 {
        let rest = self.body.skeleton.joint(joint).rest.translation;
        if translation == rest {
            return self.translation(joint);
        }
        self.translation(joint) + self.way(joint, translation - rest)
    }

    /// The difference of two translations of a joint, on the fitted body.
    fn way(&self, joint: JointId, way: DVec3) -> DVec3 {
        if !self.fitted.moves[joint.get()] {
            way
        } else if self.travels(joint) {
            way * self.fitted.leg_ratio
        } else {
            self.in_parent(joint, way)
        }
    }

    /// Whether a joint carries the whole body.
    fn travels(&self, joint: JointId) -> bool {
        let Some(hips) = self.body.roles.middle(Part::Hips) else {
            return false;
        };
        let hips = JointId(hips as u32);
        joint == hips
            || self
                .body
                .skeleton
                .ancestors(hips)
                .any(|above| above == joint)
    }

    /// A channel of the template on the fitted body; `None` where it stays. Rotations and scales do.
    pub fn channel(&self, channel: &Channel) -> Option<Channel> {
        let joint = channel.joint;
        if channel.property != Property::Translation
            || self.fitted.is_identity()
            || !self
                .fitted
                .moves
                .get(joint.get())
                .is_some_and(|moves| *moves)
        {
            return None;
        }
        let (rest, place) = (
            self.body.skeleton.joint(joint).rest.translation,
            self.translation(joint),
        );
        let is_still = rest == place && self.way(joint, DVec3::ONE) == DVec3::ONE;
        (!is_still).then(|| {
            channel.mapped(|v, is_value| {
                let v = DVec3::from_slice(v);
                let moved = if is_value {
                    place + self.way(joint, v - rest)
                } else {
                    self.way(joint, v)
                };
                moved.to_array().into()
            })
        })
    }

    /// The mesh space of a skin: `world_from_mesh` of its first joint at rest. Any other would do as well; this one is that of
    /// the file where its rest pose is its bind pose.
    pub fn world_from_mesh(&self, joints: &[JointId], inverse_bind: &[DAffine3]) -> DAffine3 {
        let live = joints.iter().zip(inverse_bind);
        let mut live = live.filter(|(joint, _)| self.body.skeleton.is_live(**joint));
        let found = live
            .next()
            .map(|(joint, bind)| self.body.world[joint.get()] * *bind);
        let is_usable = |m: &DAffine3| m.is_finite() && m.matrix3.determinant().abs() > 1e-18;
        found.filter(is_usable).unwrap_or(DAffine3::IDENTITY)
    }

    /// The inverse bind matrix of a joint: the inverse of its bind world.
    pub fn inverse_bind(&self, joint: JointId, world_from_mesh: DAffine3) -> DAffine3 {
        self.world(joint).inverse() * world_from_mesh
    }

    /// The positions of a mesh of the body, in its mesh space.
    pub fn positions(&self, shape: usize, world_from_mesh: DAffine3) -> Vec<Vec3> {
        let into = world_from_mesh.inverse();
        let points = self.fitted.points(self.body);
        let points = points.get(shape).map_or(&[][..], Vec::as_slice);
        points
            .iter()
            .map(|p| into.transform_point3(*p).as_vec3())
            .collect()
    }

    /// n_points: how displacements of each point change, in mesh space: `sum_b w_b S_b`.
    pub fn displacement_maps(&self, shape: usize, world_from_mesh: DAffine3) -> Vec<DMat3> {
        let axes = world_from_mesh.matrix3;
        let back = axes.inverse();
        let shape = &self.body.shapes[shape];
        let map = |point: usize| {
            let row = shape.row(point);
            if row.is_empty() {
                return DMat3::from_diagonal(DVec3::splat(self.fitted.scale));
            }
            let parts = row.iter().map(|&(b, w)| {
                let b = b as usize;
                let way = shape.points[point] - self.body.lines[b].head;
                self.fitted.factors[b].matrix(way) * w
            });
            back * parts.fold(DMat3::ZERO, |sum, part| sum + part) * axes
        };
        (0..shape.points.len()).into_par_iter().map(map).collect()
    }

    /// The positions of a mesh that `joint` draws rigidly, in the joint's space: it scales with the bone that carries it.
    /// `None` where no bone does.
    pub fn rigid_positions(&self, joint: JointId, positions: &[Vec3]) -> Option<Vec<Vec3>> {
        let skeleton = &self.body.skeleton;
        let is_bone = |j: &JointId| self.body.is_bone[j.get()];
        let mut carriers = std::iter::once(joint).chain(skeleton.logical_ancestors(joint));
        let bone = carriers.find(is_bone)?;
        let factor: &BoneFactor = &self.fitted.factors[bone.get()];
        if factor.is_identity() {
            return None;
        }
        let head = self.body.lines[bone.get()].head;
        let (world, into) = (self.body.world[joint.get()], self.world(joint).inverse());
        let place = |p: &Vec3| {
            let v = world.transform_point3(p.as_dvec3()) - head;
            into.transform_point3(factor.apply(v) + self.fitted.places[bone.get()])
                .as_vec3()
        };
        Some(positions.iter().map(place).collect())
    }
}

/// `value`, or `other` where it is no number: a joint of no size.
fn finite(value: DVec3, other: DVec3) -> DVec3 {
    if value.is_finite() { value } else { other }
}
