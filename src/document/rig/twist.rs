//! Twist chains: helper joints along a bone that share a twist, so that its skin keeps its radius.

use super::add_constraint::constrain;
use super::insert::{keep_rest, split_weights};
use super::local::SHORTEST_BONE;
use super::{RigEdit, RigError, add_to_skins, check_live, helper_name, joints_of, set_joints};
use crate::document::Document;
use crate::math::Transform;
use crate::skeleton::constraint::{Constraint, Rule};
use crate::skeleton::{Joint, JointId, Skeleton};
use glam::DAffine3;
use std::sync::Arc;

/// The twist that the joints of a chain share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TwistOf {
    /// That of the child against the bone: forearms and calves, whose far end follows the hand or foot.
    Child,
    /// The bone's own against its parent: upper arms and thighs, whose near end stays with the shoulder or hip.
    Own,
}

/// A twist chain on the bone from a joint to its child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Twist {
    /// The joint at the bone's head.
    pub joint: JointId,
    /// The child joint at the bone's tail.
    pub child: JointId,
    /// Segments of the bone, 1 - 6: as many joints.
    pub n: usize,
    /// The twist that is shared.
    pub of: TwistOf,
}

/// The edit that adds a twist chain, and its joints. They are children of the bone at k / n of its length, and share its
/// weights by hat functions; nothing moves at rest. Twist Share constraints give them their shares of the twist.
///
/// Fails for other numbers than 1 - 6 and for a bone without length. Source: twist bones of production rigs; no paper.
pub fn twist(document: &Document, request: &Twist) -> Result<(RigEdit, Vec<JointId>), RigError> {
    let (joint, child, n) = (request.joint, request.child, request.n);
    check_live(document, joint)?;
    check_live(document, child)?;
    let skeleton = document.skeleton.clone();
    let is_child = skeleton.joint(child).parent == Some(joint);
    if !is_child && skeleton.logical_parent(child) == Some(joint) {
        return Err(RigError::Value(format!(
            "“{child}” follows “{joint}” along the limb but is not its child. Reparent “{child}” to “{joint}” first.",
            child = skeleton.label(child),
            joint = skeleton.label(joint)
        )));
    }
    if !is_child {
        return Err(RigError::NoBone {
            joint: skeleton.label(joint),
            child: skeleton.label(child),
        });
    }
    if !(1..=6).contains(&n) {
        return Err(RigError::Value(
            "The number of twist bones must be 1 - 6.".into(),
        ));
    }
    let tail = skeleton.joint(child).rest.translation;
    let Some(axis) = tail
        .try_normalize()
        .filter(|_| tail.length() > SHORTEST_BONE)
    else {
        return Err(RigError::NoLength {
            joint: skeleton.label(joint),
            child: skeleton.label(child),
        });
    };
    let mut changed = document.clone();
    let mut joints = joints_of(document);
    let mut made = Vec::new();
    for knot in knots(request) {
        let names = Skeleton::new(joints.clone())?;
        let word = format!("twist_{:02}", made.len() + 1);
        let name = helper_name(&names, &skeleton.joint(joint).name, &word);
        let rest = Transform {
            translation: tail * knot,
            ..Transform::IDENTITY
        };
        joints.push(Joint::new(name, Some(joint), rest));
        made.push(JointId(joints.len() as u32 - 1));
    }
    set_joints(&mut changed, joints)?;
    for (&new, knot) in made.iter().zip(knots(request)) {
        add_to_skins(
            &mut changed,
            new,
            joint,
            DAffine3::from_translation(-tail * knot),
        )?;
    }
    if document.locked.contains(&joint) {
        Arc::make_mut(&mut changed.locked).extend(made.iter().copied());
    } else {
        split_weights(
            document,
            &mut changed,
            (joint, child),
            &made,
            |along, beta| fractions(along, beta, n, request.of),
        )?;
    }
    let source = match request.of {
        TwistOf::Child => child,
        TwistOf::Own => joint,
    };
    for (&new, knot) in made.iter().zip(knots(request)) {
        let rule = Rule::TwistShare {
            source,
            axis,
            share: share_at(knot, request.of),
            centre: 0.0,
        };
        constrain(&mut changed, new, Constraint::new(rule))?;
    }
    let mut edit = RigEdit::between(document, &changed);
    edit.inherits = made.iter().map(|&new| (new, joint)).collect();
    Ok((edit, made))
}

/// The share of the twist at `knot`: a bone's own twist is taken back at its head.
fn share_at(knot: f64, of: TwistOf) -> f64 {
    match of {
        TwistOf::Child => knot,
        TwistOf::Own => knot - 1.0,
    }
}

/// Where the joints lie on the bone, as fractions of its length.
fn knots(request: &Twist) -> impl Iterator<Item = f64> {
    let first = match request.of {
        TwistOf::Child => 1,
        TwistOf::Own => 0,
    };
    let n = request.n;
    (first..first + n).map(move |k| k as f64 / n as f64)
}

/// The fractions of the bone itself and of each joint at the parameter `along`: hat functions over the knots k / n, of
/// which the bone has the first ([`TwistOf::Child`]) or the last. beta: the bone's part of the weight.
fn fractions(along: f64, beta: f64, n: usize, of: TwistOf) -> Vec<f64> {
    let at = (along * n as f64).clamp(0.0, n as f64);
    let low = (at.floor() as usize).min(n - 1);
    let e = at - low as f64;
    let mut by_knot = vec![0.0; n + 1];
    by_knot[low] = 1.0 - e;
    by_knot[low + 1] = e;
    if of == TwistOf::Own {
        by_knot.rotate_right(1);
    }
    for fraction in &mut by_knot[1..] {
        *fraction *= beta;
    }
    keep_rest(&mut by_knot);
    by_knot
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{DQuat, DVec3};
    use std::f64::consts::FRAC_1_SQRT_2;

    #[test]
    fn weights_are_hats_over_the_knots() {
        let child = |along| fractions(along, 1.0, 2, TwistOf::Child);
        assert_eq!(child(0.0), [1.0, 0.0, 0.0]);
        assert_eq!(child(0.25), [0.5, 0.5, 0.0]);
        assert_eq!(child(1.0), [0.0, 0.0, 1.0]);
        let own = |along| fractions(along, 1.0, 2, TwistOf::Own);
        assert_eq!(own(0.0), [0.0, 1.0, 0.0]);
        assert_eq!(own(0.5), [0.0, 0.0, 1.0]);
        assert_eq!(own(1.0), [1.0, 0.0, 0.0]);
        assert_eq!(fractions(0.5, 0.5, 1, TwistOf::Child), [0.75, 0.25]);
    }

    #[test]
    fn the_near_end_of_an_upper_arm_does_not_rotate_and_the_far_end_of_a_forearm_follows() {
        assert_eq!(share_at(0.0, TwistOf::Own), -1.0);
        assert_eq!(share_at(1.0, TwistOf::Own), 0.0);
        assert_eq!(share_at(1.0, TwistOf::Child), 1.0);
    }

    /// The radius left between two neighbours is cos(phi / 2n).
    #[test]
    fn segments_keep_the_radius() {
        for (phi, n, expected) in [
            (90.0, 1, FRAC_1_SQRT_2),
            (90.0, 2, 0.923_880),
            (150.0, 3, 0.906_308),
            (180.0, 2, FRAC_1_SQRT_2),
            (180.0, 5, 0.951_057),
        ] {
            let phi: f64 = f64::to_radians(phi);
            let at = |k: usize| {
                let share = share_at(k as f64 / n as f64, TwistOf::Child);
                DQuat::from_rotation_x(phi * share) * DVec3::Y
            };
            for k in 0..n {
                let radius = ((at(k) + at(k + 1)) * 0.5).length();
                assert!((radius - expected).abs() < 1e-6, "{phi} {n}: {radius}");
            }
        }
    }
}
