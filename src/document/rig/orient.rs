//! Rotating the axes of joints without moving anything.

use super::frames::change_frames;
use super::local::SHORTEST_BONE;
use super::rotation::proper;
use super::{RigEdit, RigError, check_live};
use crate::document::Document;
use crate::skeleton::orientation::orientation;
use crate::skeleton::{Frame, JointId};
use crate::skinning::RowRef;
use glam::{DAffine3, DMat3, DQuat, DVec3};
use std::cell::LazyCell;
use std::collections::BTreeMap;

/// The smallest sine of a bend that defines a plane.
const FLAT: f64 = 5e-3;
/// The smallest sine between the two axes that defines a plane.
const PARALLEL: f64 = 1e-6;

/// One of a joint's own axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// +X.
    X,
    /// -X.
    NegX,
    /// +Y.
    Y,
    /// -Y.
    NegY,
    /// +Z.
    Z,
    /// -Z.
    NegZ,
}

impl Axis {
    /// The unit vector of the axis.
    pub fn unit(self) -> DVec3 {
        match self {
            Self::X => DVec3::X,
            Self::NegX => DVec3::NEG_X,
            Self::Y => DVec3::Y,
            Self::NegY => DVec3::NEG_Y,
            Self::Z => DVec3::Z,
            Self::NegZ => DVec3::NEG_Z,
        }
    }
}

/// The direction of the second axis.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum SecondAxis {
    /// The normal of the bend at the joint, so that the hinge rotates about one axis; up where the joint is straight.
    #[default]
    BendNormal,
    /// A direction in the world: an axis, or the view direction.
    World(DVec3),
    /// Towards a position in the world: a pole, or another joint.
    Towards(DVec3),
    /// The one of four sides that rotates the axes least.
    LeastRotation,
}

/// How to orient joints.
#[derive(Clone, Debug, PartialEq)]
pub struct Orient {
    /// The joints.
    pub joints: Vec<JointId>,
    /// The axis along the bone.
    pub aim: Axis,
    /// The axis that points sideways.
    pub second: Axis,
    /// The direction of the second axis.
    pub towards: SecondAxis,
    /// An additional rotation about the bone, radians.
    pub roll: f64,
    /// Whether a joint without children keeps its axes; otherwise it gets its parent's.
    pub leaves_stay: bool,
}

/// The edit that rotates the axes of joints and keeps every motion exactly. Bones lead to logical children.
///
/// Fails for two equal axes, a removed joint, and a joint whose own scale differs along its axes.
pub fn orient(document: &Document, request: &Orient) -> Result<RigEdit, RigError> {
    if request.aim.unit().dot(request.second.unit()) != 0.0 {
        return Err(RigError::Value(
            "The secondary axis must differ from the axis along the bone.".into(),
        ));
    }
    let skeleton = &document.skeleton;
    let world = document.rest_pose.world_matrices(skeleton);
    let mut frames: BTreeMap<JointId, Frame> = BTreeMap::new();
    let mut joints = request.joints.clone();
    for &joint in &joints {
        check_live(document, joint)?;
    }
    let weights = LazyCell::new(|| weight_of_joints(document));
    // Joints without children get the new axes of their parents.
    joints.sort_by_key(|&joint| skeleton.logical_rank(joint));
    for joint in joints {
        let rotation = match aimed_child(document, joint, || &weights) {
            Some(child) => aimed(document, &world, joint, child, request),
            None if request.leaves_stay => continue,
            None => skeleton.logical_parent(joint).map(|parent| {
                let own = orientation(world[joint.get()].matrix3);
                let above = orientation(world[parent.get()].matrix3);
                let turned = frames.get(&parent).copied().unwrap_or(Frame::IDENTITY);
                let all = own.transpose() * above * DMat3::from_quat(turned.rotation);
                proper(all)
            }),
        };
        if let Some(rotation) = rotation {
            frames.insert(joint, Frame::from_rotation(rotation));
        }
    }
    change_frames(document, &frames, super::KEY_TOLERANCE)
}

/// The rotation C of a joint whose bone ends at `child`.
fn aimed(
    document: &Document,
    world: &[DAffine3],
    joint: JointId,
    child: JointId,
    request: &Orient,
) -> Option<DQuat> {
    let position = |j: JointId| world[j.get()].translation;
    let into_joint = world[joint.get()].matrix3.inverse();
    let bone = position(child) - position(joint);
    let along = (into_joint * bone).try_normalize()?;
    let parent = document.skeleton.logical_parent(joint);
    let bend = parent.and_then(|parent| {
        let above = position(joint) - position(parent);
        let normal = above.cross(bone);
        (normal.length() >= FLAT * above.length() * bone.length()).then_some(normal)
    });
    let first = match request.towards {
        SecondAxis::BendNormal => bend,
        SecondAxis::World(direction) => Some(direction),
        SecondAxis::Towards(there) => Some(there - position(joint)),
        SecondAxis::LeastRotation => Some(into_joint.inverse() * request.second.unit()),
    };
    let sides = [first, bend, Some(DVec3::Y), Some(DVec3::Z), Some(DVec3::X)];
    let side = sides.into_iter().flatten().find_map(|side| {
        let side = into_joint * side;
        (side.cross(along).length() >= PARALLEL * side.length() && side.length() > 0.0)
            .then_some(side)
    })?;
    let rotation = rotation_of_axes(along, side, request.aim, request.second);
    let rotation = if request.towards == SecondAxis::LeastRotation {
        let quarter = |n: u32| {
            let about = DQuat::from_axis_angle(along, f64::from(n) * std::f64::consts::FRAC_PI_2);
            about * rotation
        };
        let rotations = (0..4).map(quarter);
        rotations.reduce(|a, b| if b.w.abs() > a.w.abs() { b } else { a })?
    } else {
        rotation
    };
    Some(DQuat::from_axis_angle(along, request.roll) * rotation)
}

/// The rotation that aligns `aim` with `along` and `second` with `side` as closely as that allows, all in one space.
pub fn rotation_of_axes(along: DVec3, side: DVec3, aim: Axis, second: Axis) -> DQuat {
    let along = along.normalize_or_zero();
    let side = (side - along * side.dot(along)).normalize_or_zero();
    let there = DMat3::from_cols(along, side, along.cross(side));
    let (aim, second) = (aim.unit(), second.unit());
    let here = DMat3::from_cols(aim, second, aim.cross(second));
    proper(there * here.transpose())
}

/// The child at the tail of a joint's bone: the only logical child, else the one whose subtree has most weight; `None` for
/// a joint without children.
pub fn main_child(document: &Document, joint: JointId) -> Option<JointId> {
    let weights = LazyCell::new(|| weight_of_joints(document));
    aimed_child(document, joint, || &weights)
}

/// As [`main_child`], but prefers children in the hierarchy that are not at the joint's own place: a joint that only follows
/// along the limb has no motion relative to this one.
pub fn main_child_in_hierarchy(document: &Document, joint: JointId) -> Option<JointId> {
    let skeleton = &document.skeleton;
    let children = skeleton.logical_children(joint).iter().copied();
    let real: Vec<JointId> = children
        .filter(|&child| {
            let child = skeleton.joint(child);
            child.parent == Some(joint) && child.rest.translation.length() > SHORTEST_BONE
        })
        .collect();
    if real.is_empty() {
        return main_child(document, joint);
    }
    let weights = LazyCell::new(|| weight_of_joints(document));
    heaviest(document, &real, || &weights)
}

/// The child at the tail of a joint's bone: the only logical child, else the one whose subtree has most weight.
/// `weights`: [`weight_of_joints`], read only where there are several.
fn aimed_child<'a>(
    document: &Document,
    joint: JointId,
    weights: impl FnOnce() -> &'a [f64],
) -> Option<JointId> {
    heaviest(document, document.skeleton.logical_children(joint), weights)
}

/// The only one of `children`, else the one whose subtree has most weight.
fn heaviest<'a>(
    document: &Document,
    children: &[JointId],
    weights: impl FnOnce() -> &'a [f64],
) -> Option<JointId> {
    if children.len() < 2 {
        return children.first().copied();
    }
    let weights = weights();
    let below = |child: JointId| -> f64 {
        let mut open = vec![child];
        let mut sum = 0.0;
        while let Some(joint) = open.pop() {
            sum += weights[joint.get()];
            open.extend(document.skeleton.logical_children(joint));
        }
        sum
    };
    let sums = children.iter().map(|&child| (child, below(child)));
    // The first of equal ones.
    sums.reduce(|a, b| if b.1 > a.1 { b } else { a })
        .map(|(child, _)| child)
}

/// n_joints: the sum of the weights of all points for each joint.
fn weight_of_joints(document: &Document) -> Vec<f64> {
    let mut sums = vec![0.0; document.skeleton.len()];
    for (&mesh, item) in &document.meshes {
        let Some((_, skin)) = document.skin_of_mesh(mesh) else {
            continue;
        };
        for (slot, weight) in item.influences.iter().flat_map(RowRef::iter) {
            if let Some(joint) = skin.joints.get(usize::from(slot)) {
                sums[joint.get()] += f64::from(weight);
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(q: DQuat, expected: [f64; 4]) {
        assert!(q.abs_diff_eq(DQuat::from_array(expected), 1e-9), "{q}");
    }

    #[test]
    fn axes_align_with_the_bone_and_its_side() {
        let along = DVec3::new(1.0, 2.0, 2.0);
        let bend = DVec3::X.cross(along);
        close(
            rotation_of_axes(along, bend, Axis::Y, Axis::Z),
            [0.3771722397, 0.0647125256, -0.1562298571, 0.9105743365],
        );
        close(
            rotation_of_axes(along, DVec3::Y, Axis::X, Axis::Y),
            [-0.1875924741, -0.4911234732, 0.3035309991, 0.7946544723],
        );
    }
}
