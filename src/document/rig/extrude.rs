//! Extruding a joint: adding a child.

use super::{RigEdit, RigError, add_to_skins, check_live, joints_of, next_name, set_joints};
use crate::document::Document;
use crate::math::Transform;
use crate::skeleton::{Joint, JointId};
use glam::DVec3;
use std::sync::Arc;

/// A joint to add.
#[derive(Clone, Debug, PartialEq)]
pub struct Extrude {
    /// The parent; `None`: the new joint is a root.
    pub parent: Option<JointId>,
    /// Its position in the parent's space.
    pub at: DVec3,
    /// Its name; empty: the parent's name with the next number.
    pub name: String,
}

/// The edit that adds a joint, and its id. The joint is added to every skin that lists its parent, with the parent's
/// skin matrix and without weights.
///
/// Fails for a removed parent, a position that is not finite, and a skin without a free slot.
pub fn extrude(document: &Document, request: &Extrude) -> Result<(RigEdit, JointId), RigError> {
    if !request.at.is_finite() {
        return Err(RigError::Value("The bone's position is not finite.".into()));
    }
    let mut changed = document.clone();
    let parent = request.parent;
    let mut name = request.name.clone();
    if let Some(parent) = parent {
        check_live(document, parent)?;
        if name.is_empty() {
            name = next_name(&document.skeleton, &document.skeleton.joint(parent).name);
        }
    }
    let rest = Transform {
        translation: request.at,
        ..Transform::IDENTITY
    };
    let mut joints = joints_of(document);
    joints.push(Joint::new(name, parent, rest));
    set_joints(&mut changed, joints)?;
    let joint = JointId(document.skeleton.len() as u32);
    let mut inherits = Vec::new();
    if let Some(parent) = parent {
        // K' = W_p L IBM' = K_p.
        add_to_skins(&mut changed, joint, parent, rest.to_affine().inverse())?;
        if changed.locked.contains(&parent) {
            Arc::make_mut(&mut changed.locked).insert(joint);
        }
        inherits.push((joint, parent));
    }
    let mut edit = RigEdit::between(document, &changed);
    edit.inherits = inherits;
    Ok((edit, joint))
}
