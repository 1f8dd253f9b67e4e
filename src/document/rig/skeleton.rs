//! Adding a skeleton to a model without one.

use super::bind_skin::ARMATURE;
use super::{RigEdit, RigError, joints_of, next_name, set_joints};
use crate::document::Document;
use crate::math::Transform;
use crate::math::transform::normalize_or_identity;
use crate::skeleton::{Joint, JointId};
use glam::{DAffine3, DMat3, DQuat, DVec3};

/// A bone of a new skeleton.
#[derive(Clone, Debug, PartialEq)]
pub struct NewBone {
    /// Its name.
    pub name: String,
    /// The index of its parent, lower than its own; `None`: it is a child of the armature.
    pub parent: Option<usize>,
    /// Its head in the world, metres.
    pub head: DVec3,
    /// The rotation of its axes in the world, a unit quaternion.
    pub axes: DQuat,
}

/// The edit that adds a node "Armature" at the origin of the scene with `bones` below it, and the ids of all of them, the
/// armature first. No mesh is bound to them.
///
/// Fails for positions that are not finite and for a parent that does not come before its child.
pub fn add_skeleton(
    document: &Document,
    bones: &[NewBone],
) -> Result<(RigEdit, Vec<JointId>), RigError> {
    let mut joints = joints_of(document);
    let first = joints.len() as u32;
    let is_taken = |name: &str| joints.iter().any(|j| !j.removed && j.name == name);
    let name = if is_taken(ARMATURE) {
        next_name(&document.skeleton, ARMATURE)
    } else {
        ARMATURE.to_owned()
    };
    joints.push(Joint::new(name, None, Transform::IDENTITY));
    for (b, bone) in bones.iter().enumerate() {
        if !bone.head.is_finite() || !bone.axes.is_finite() {
            return Err(RigError::Value(format!(
                "The position of “{}” is not finite.",
                bone.name
            )));
        }
        let above = match bone.parent {
            Some(parent) if parent < b => Some(&bones[parent]),
            Some(_) => {
                return Err(RigError::Value(format!(
                    "The parent of “{}” must come before it.",
                    bone.name
                )));
            }
            None => None,
        };
        let place = |bone: &NewBone| DAffine3::from_rotation_translation(bone.axes, bone.head);
        let rest = above.map_or(DAffine3::IDENTITY, place).inverse() * place(bone);
        let rest = Transform {
            translation: rest.translation,
            rotation: normalize_or_identity(DQuat::from_mat3(&rest.matrix3)),
            stretch: DMat3::IDENTITY,
        };
        let parent = JointId(first + bone.parent.map_or(0, |parent| parent as u32 + 1));
        joints.push(Joint::new(bone.name.clone(), Some(parent), rest));
    }
    let made = (first..joints.len() as u32).map(JointId).collect();
    let mut changed = document.clone();
    set_joints(&mut changed, joints)?;
    Ok((RigEdit::between(document, &changed), made))
}
