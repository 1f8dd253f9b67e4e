//! The two sides of a model: how its axes are mirrored, and where they differ.

use super::measure;
use super::rotation::{angle_of, proper};
use crate::document::Document;
use crate::skeleton::mirror::{Mirror, flipped_name};
use crate::skeleton::orientation::orientation;
use crate::skeleton::{JointId, Skeleton};
use crate::weights::JointPairs;
use glam::{DAffine3, DMat3, DVec3};

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
    /// n_joints: the counterpart.
    partners: Vec<Option<JointId>>,
    pairs: Vec<(JointId, JointId)>,
}

impl Sides {
    /// The way that most of the model's pairs follow; Blender's where none is better.
    pub(super) fn of(document: &Document, world: &[DAffine3]) -> Self {
        let skeleton = &document.skeleton;
        let partners = partners(document);
        let mirror = Mirror::new(skeleton);
        let n = mirror.normal();
        let both = skeleton
            .live_joints()
            .filter_map(|j| Some((j, partners[j.get()].filter(|p| *p > j)?)));
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
            partners,
            pairs: both,
        }
    }

    /// The counterpart on the other side.
    pub(super) fn partner(&self, joint: JointId) -> Option<JointId> {
        *self.partners.get(joint.get())?
    }

    /// M, of world directions.
    pub(super) fn directions(&self) -> DMat3 {
        self.reflection.matrix3
    }

    /// F, of the axes of joints.
    pub(super) fn axes(&self) -> DMat3 {
        self.axes
    }

    /// The mirrored world transform.
    pub(super) fn mirrored(&self, world: DAffine3) -> DAffine3 {
        let mut made = self.reflection * world;
        made.matrix3 *= self.axes;
        made
    }
}

/// n_joints: the counterpart of each joint on the other side. A bone is paired with a bone: the nodes of removed joints stay
/// in files under their old names.
pub(in crate::document) fn partners(document: &Document) -> Vec<Option<JointId>> {
    let skeleton = &document.skeleton;
    let own = &document.session().joint_pairs;
    let pairs = JointPairs::new(skeleton, own);
    let is_bone = document.bone_mask();
    let fits = |a: JointId, b: JointId| is_bone[a.get()] == is_bone[b.get()];
    let all = (0..skeleton.len() as u32).map(JointId);
    let found = all.map(|joint| {
        let partner = pairs.partner(joint)?;
        let is_chosen = own.get(&joint) == Some(&partner) || own.get(&partner) == Some(&joint);
        let partner = if is_chosen || fits(joint, partner) {
            partner
        } else {
            only_twin(skeleton, joint, |other| fits(joint, other))?
        };
        (partner != joint && skeleton.is_live(joint)).then_some(partner)
    });
    let mut partners: Vec<Option<JointId>> = found.collect();
    // Two joints can find the same one; a pair is a pair in both directions.
    for j in 0..partners.len() {
        let back = partners[j].and_then(|other| partners[other.get()]);
        if partners[j].is_some() && back != Some(JointId(j as u32)) {
            partners[j] = None;
        }
    }
    partners
}

/// The only fitting joint that has the name of the other side.
fn only_twin(
    skeleton: &Skeleton,
    joint: JointId,
    fits: impl Fn(JointId) -> bool,
) -> Option<JointId> {
    let name = flipped_name(&skeleton.joint(joint).name)?;
    let named = |j: &JointId| skeleton.joint(*j).name == name && fits(*j);
    let mut twins = skeleton.live_joints().filter(named);
    let twin = twins.next()?;
    twins.next().is_none().then_some(twin)
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
