//! The two sides of a model: how its axes are mirrored, and where they differ.

use super::measure;
use crate::document::Document;
use crate::math::polar;
use crate::math::transform::normalize_or_identity;
use crate::skeleton::JointId;
use crate::skeleton::mirror::Mirror;
use crate::skeleton::orientation::orientation;
use crate::weights::JointPairs;
use glam::{DAffine3, DMat3, DQuat, DVec3};

/// Pairs whose axes are off by less than this follow a way of mirroring, degrees.
const FOLLOWS: f64 = 5.0;
/// Two sides whose places differ by more than this fraction of the diagonal are not symmetric.
const APART: f64 = 5e-3;

/// A left and a right joint that are not symmetric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Asymmetry {
    /// A joint.
    pub joint: JointId,
    /// Its counterpart.
    pub partner: JointId,
    /// How far the counterpart is from the joint's mirrored place, as a fraction of the model's diagonal.
    pub distance: f64,
    /// The angle between the counterpart's axes and the joint's mirrored ones, degrees; 0 where most pairs of the model follow
    /// no way of mirroring.
    pub degrees: f64,
}

/// The pairs whose places differ by more than 0.5 % of the diagonal, or whose axes do by more than 5 degrees.
pub fn asymmetries(document: &Document) -> Vec<Asymmetry> {
    let skeleton = &document.skeleton;
    let world = document.rest_pose.world_matrices(skeleton);
    let sides = Sides::of(document, &world);
    let diagonal = measure::diagonal(document);
    let (n_follow, n_pairs) = sides.follow;
    let is_known = 2 * n_follow > n_pairs;
    let found = sides.pairs.iter().map(|&(joint, partner)| {
        let wanted = sides.mirrored(world[joint.get()]);
        let there = world[partner.get()];
        let distance = wanted.translation.distance(there.translation) / diagonal;
        let turn = orientation(there.matrix3).transpose() * orientation(wanted.matrix3);
        let degrees = if is_known && turn.determinant() > 0.0 {
            angle_of(proper(turn)).to_degrees()
        } else {
            0.0
        };
        Asymmetry {
            joint,
            partner,
            distance,
            degrees,
        }
    });
    found
        .filter(|a| a.distance > APART || a.degrees > FOLLOWS)
        .collect()
}

/// The pairs of a model and its way of mirroring: `W' = M W F`.
pub(super) struct Sides {
    reflection: DAffine3,
    axes: DMat3,
    /// Whether F is -I (Maya's *Behavior*), else diag(-1, 1, 1) (what Blender writes).
    pub(super) is_behavior: bool,
    /// How many pairs follow it, of how many.
    pub(super) follow: (usize, usize),
    joints: JointPairs,
    pairs: Vec<(JointId, JointId)>,
}

impl Sides {
    /// The way that most of the model's pairs follow; Blender's where none is better.
    pub(super) fn of(document: &Document, world: &[DAffine3]) -> Self {
        let skeleton = &document.skeleton;
        let joints = JointPairs::new(skeleton, &document.session().joint_pairs);
        let mirror = Mirror::new(skeleton);
        let n = mirror.normal();
        let both = skeleton
            .live_joints()
            .filter_map(|j| Some((j, joints.partner(j).filter(|p| *p > j)?)));
        let both: Vec<_> = both.collect();
        // The middle of most pairs, so that a pair which is off does not shift the plane.
        let middles = both.iter().map(|(a, b)| {
            let sum = world[a.get()].translation + world[b.get()].translation;
            0.5 * sum.dot(n)
        });
        let offset = median(middles.collect()).unwrap_or(mirror.offset());
        let reflection = DAffine3 {
            matrix3: mirror.reflection(),
            translation: n * (2.0 * offset),
        };
        let follow = |axes: DMat3| {
            let is_near = |(a, b): &&(JointId, JointId)| {
                let wanted = reflection.matrix3 * orientation(world[a.get()].matrix3) * axes;
                let turn = orientation(world[b.get()].matrix3).transpose() * wanted;
                turn.determinant() > 0.0 && angle_of(proper(turn)).to_degrees() < FOLLOWS
            };
            both.iter().filter(is_near).count()
        };
        let blender = DMat3::from_diagonal(DVec3::new(-1.0, 1.0, 1.0));
        let behavior = DMat3::from_diagonal(DVec3::NEG_ONE);
        let (n_blender, n_behavior) = (follow(blender), follow(behavior));
        let is_behavior = n_behavior > n_blender;
        Self {
            reflection,
            axes: if is_behavior { behavior } else { blender },
            is_behavior,
            follow: (n_blender.max(n_behavior), both.len()),
            joints,
            pairs: both,
        }
    }

    /// The counterpart on the other side.
    pub(super) fn partner(&self, joint: JointId) -> Option<JointId> {
        self.joints.partner(joint).filter(|&p| p != joint)
    }

    /// The mirrored world transform.
    pub(super) fn mirrored(&self, world: DAffine3) -> DAffine3 {
        let mut made = self.reflection * world;
        made.matrix3 *= self.axes;
        made
    }
}

/// The rotation nearest to a matrix that does not mirror.
pub(super) fn proper(matrix: DMat3) -> DQuat {
    let (rotation, _) = polar(matrix);
    normalize_or_identity(DQuat::from_mat3(&rotation))
}

/// The angle of a rotation, radians, 0 - pi.
pub(super) fn angle_of(q: DQuat) -> f64 {
    2.0 * DVec3::new(q.x, q.y, q.z).length().atan2(q.w.abs())
}

/// The middle number; `None` of none.
fn median(mut numbers: Vec<f64>) -> Option<f64> {
    numbers.sort_by(f64::total_cmp);
    let half = numbers.len() / 2;
    let upper = *numbers.get(half)?;
    if numbers.len() % 2 == 1 {
        return Some(upper);
    }
    Some(0.5 * (numbers[half - 1] + upper))
}
