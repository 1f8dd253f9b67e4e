//! Subdividing a bone.

use super::frames::set_channel;
use super::local::SHORTEST_BONE;
use super::rows::{along, change_rows, distance, redistributed, shared, smoothstep};
use super::{
    RigEdit, RigError, add_to_skins, check_live, drop_invalid_parents, joints_of, next_name,
    set_joints,
};
use crate::document::Document;
use crate::math::Transform;
use crate::skeleton::bone_segments::tail_at;
use crate::skeleton::{Joint, JointId, Property, Skeleton};
use glam::{DAffine3, DVec3};
use std::sync::Arc;

/// The joints to insert into a bone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Insert {
    /// The joint at the bone's head.
    pub joint: JointId,
    /// The child joint at the bone's tail, a logical one.
    pub child: JointId,
    /// How many joints, at equal distances; 1 - 16.
    pub n: usize,
    /// Half the width over which weights blend at a single new joint, as a fraction of the bone; `None`: half of the
    /// distance to the nearer end.
    pub half_width: Option<f64>,
}

/// The edit that inserts joints between a joint and its child, and their ids. No pose changes, whatever the weights:
/// every new joint has the parent's skin matrix. No clip gets a keyframe. A locked joint keeps its weights. A child that only
/// follows the joint along the limb, in a flat rig, keeps its parent, and follows the last of the new ones.
///
/// Fails where the child is not one of the joint or does not inherit its scale, for a joint of scale 0 in a flat rig, and for
/// other numbers than 1 - 16.
pub fn insert(document: &Document, request: &Insert) -> Result<(RigEdit, Vec<JointId>), RigError> {
    let (joint, child, n) = (request.joint, request.child, request.n);
    check_live(document, joint)?;
    check_live(document, child)?;
    let skeleton = document.skeleton.clone();
    if skeleton.logical_parent(child) != Some(joint) {
        return Err(RigError::NoBone {
            joint: skeleton.label(joint),
            child: skeleton.label(child),
        });
    }
    if !(1..=16).contains(&n) {
        return Err(RigError::Value(
            "The number of new bones must be 1 - 16.".into(),
        ));
    }
    let is_child = skeleton.joint(child).parent == Some(joint);
    if is_child && skeleton.joint(child).rule.compensates_scale {
        return Err(RigError::CompensatesScale(skeleton.label(child)));
    }
    let mut changed = document.clone();
    let tail = tail_at(&skeleton, joint, child);
    if !tail.is_finite() {
        return Err(RigError::Singular {
            joint: skeleton.label(joint),
            place: "in the rest pose".into(),
        });
    }
    let step = tail / (n as f64 + 1.0);
    let mut joints = joints_of(document);
    let mut made = Vec::new();
    let mut above = joint;
    for _ in 0..n {
        let names = Skeleton::new(joints.clone())?;
        let name = next_name(&names, &joints[above.get()].name);
        let rest = Transform {
            translation: step,
            ..Transform::IDENTITY
        };
        joints.push(Joint::new(name, Some(above), rest));
        above = JointId(joints.len() as u32 - 1);
        made.push(above);
    }
    let offset = -step * n as f64;
    let entry = &mut joints[child.get()];
    if is_child {
        entry.parent = Some(above);
        entry.rest.translation += offset;
    }
    let named = &mut entry.rule.logical_parent;
    if named.is_some() {
        *named = Some(above);
    }
    set_joints(&mut changed, joints)?;
    if is_child {
        Arc::make_mut(&mut changed.pose).locals[child.get()].translation += offset;
        for clip in changed.motions_mut() {
            if let Some(c) = clip.channel_of(child, Property::Translation) {
                let shifted = clip.channels[c].shifted(offset);
                set_channel(Arc::make_mut(clip), shifted);
            }
        }
    }
    for (k, &new) in made.iter().enumerate() {
        let back = DAffine3::from_translation(-step * (k as f64 + 1.0));
        add_to_skins(&mut changed, new, joint, back)?;
    }
    if document.locked.contains(&joint) {
        Arc::make_mut(&mut changed.locked).extend(made.iter().copied());
    } else {
        let half_width = request.half_width;
        split_weights(
            document,
            &mut changed,
            (joint, child),
            &made,
            |along, beta| fractions(along, beta, n, half_width),
        )?;
    }
    drop_invalid_parents(&mut changed)?;
    changed.keep_samples_fitting(document);
    let mut edit = RigEdit::between(document, &changed);
    edit.inherits = made.iter().map(|&new| (new, joint)).collect();
    Ok((edit, made))
}

/// Distributes the weights of the joint at the head of `bone` over it and the new ones. `fractions` gives those of the joint
/// and of each new one at a parameter along the bone, 0 - 1, where this bone has the fraction beta of the weight.
pub(super) fn split_weights(
    before: &Document,
    changed: &mut Document,
    bone: (JointId, JointId),
    made: &[JointId],
    fractions: impl Fn(f64, f64) -> Vec<f64>,
) -> Result<(), RigError> {
    let (joint, child) = bone;
    let tail = tail_at(&before.skeleton, joint, child);
    let others: Vec<DVec3> = before
        .skeleton
        .logical_children(joint)
        .iter()
        .filter(|&&c| c != child)
        .map(|&c| tail_at(&before.skeleton, joint, c))
        .filter(|t| t.length() > SHORTEST_BONE && t.is_finite())
        .collect();
    let listed: Vec<JointId> = [joint].iter().chain(made).copied().collect();
    let limit = before.session().brush.max_influences;
    for mesh in shared(changed, &listed) {
        let slots = &mesh.slots;
        change_rows(changed, mesh.mesh, |point, row| {
            let position = mesh.into_joint.transform_point3(point);
            let along = along(position, tail)?;
            let beta = fraction_of_bone(position, tail, &others);
            let fractions = fractions(along, beta);
            let fractions: Vec<(u16, f64)> = slots.iter().copied().zip(fractions).collect();
            if fractions[1..].iter().all(|(_, fraction)| *fraction == 0.0) {
                return None;
            }
            redistributed(row, slots[0], &fractions, limit)
        })?;
    }
    Ok(())
}

/// The fraction of a point's weight that belongs to this bone rather than to the bones to the joint's other children:
/// by distance^-4.
fn fraction_of_bone(position: DVec3, tail: DVec3, others: &[DVec3]) -> f64 {
    if others.is_empty() {
        return 1.0;
    }
    let weight = |tail: DVec3| distance(position, tail).max(1e-12).powi(-4);
    let own = weight(tail);
    own / (own + others.iter().map(|&t| weight(t)).sum::<f64>())
}

/// The fractions for the joint and the `n` new ones at the parameter `along` of the bone, 0 - 1.
fn fractions(along: f64, beta: f64, n: usize, half_width: Option<f64>) -> Vec<f64> {
    let mut fractions = vec![0.0; n + 1];
    if n == 1 {
        let u = 0.5;
        let h = half_width.unwrap_or(u / 2.0).clamp(0.0, u);
        let e = if h > 0.0 {
            smoothstep((along - u + h) / (2.0 * h))
        } else {
            f64::from(u8::from(along >= u))
        };
        fractions[1] = e * beta;
    } else {
        // Hat functions over the knots 0, u_1 .. u_n; the last one is constant up to the tail.
        let at = (along * (n as f64 + 1.0)).min(n as f64);
        let low = (at.floor() as usize).min(n - 1);
        let e = at - low as f64;
        fractions[low] = (1.0 - e) * beta;
        fractions[low + 1] = e * beta;
    }
    keep_rest(&mut fractions);
    fractions
}

/// Gives the first of `fractions` what the others leave of 1.
pub(super) fn keep_rest(fractions: &mut [f64]) {
    let rest = 1.0 - fractions[1..].iter().sum::<f64>();
    fractions[0] = if rest < 1e-12 { 0.0 } else { rest };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_go_over_smoothly_at_one_joint_and_by_hats_at_several() {
        assert_eq!(fractions(0.2, 1.0, 1, None), [1.0, 0.0]);
        assert_eq!(fractions(0.5, 1.0, 1, None), [0.5, 0.5]);
        assert_eq!(fractions(0.9, 1.0, 1, None), [0.0, 1.0]);
        assert_eq!(fractions(0.5, 0.5, 1, Some(0.1)), [0.75, 0.25]);
        assert_eq!(fractions(0.5, 1.0, 3, None), [0.0, 0.0, 1.0, 0.0]);
        assert_eq!(fractions(0.125, 1.0, 3, None), [0.5, 0.5, 0.0, 0.0]);
        assert_eq!(fractions(1.0, 1.0, 3, None), [0.0, 0.0, 0.0, 1.0]);
    }
}
