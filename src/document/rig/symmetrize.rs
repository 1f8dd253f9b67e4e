//! Symmetrizing: the joints of one side get the other side's places and axes, mirrored.

use super::frames::{Keys, apply_frames};
use super::local::{Splitter, inverse, signs};
use super::{KEY_TOLERANCE, RigEdit, RigError, check_live, joints_of, measure, set_joints};
use crate::document::Document;
use crate::math::polar;
use crate::math::transform::normalize_or_identity;
use crate::skeleton::mirror::{Mirror, flipped_name};
use crate::skeleton::orientation::{orientation, world_of};
use crate::skeleton::{Frame, Joint, JointId};
use crate::weights::JointPairs;
use glam::{DAffine3, DMat3, DQuat, DVec3};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Pairs whose axes are off by less than this follow a way of mirroring, degrees.
const FOLLOWS: f64 = 5.0;
/// Turns below this, and moves below this fraction of the diagonal, are rounding.
const SAME: f64 = 1e-9;

/// What symmetrizing did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Symmetrized {
    /// Joints that were missing, each with the one that it mirrors.
    pub created: Vec<(JointId, JointId)>,
    /// Joints that were turned or moved.
    pub matched: Vec<JointId>,
    /// Joints below the first that have no side in their name and no counterpart: they are left out.
    pub left_out: Vec<JointId>,
    /// Joints whose axes are of the other handedness: they are moved and not turned.
    pub not_turned: Vec<JointId>,
    /// How many pairs of the model follow the way of mirroring that was used, of how many.
    pub pairs: (usize, usize),
    /// Whether the axes of both sides are negatives of each other (Maya's *Behavior*); otherwise only x is (Blender's).
    pub is_behavior: bool,
}

/// The edit that gives the counterparts of `joint` and of everything below it their mirrored places and axes, and creates
/// those that are missing, without weights. W' = M W F with the reflection M in the model's plane, and F = diag(-1, 1, 1) or
/// -I, whichever the model's pairs follow.
///
/// Turns keep every motion; moves are new pivots, which change the clips.
pub fn symmetrize(document: &Document, joint: JointId) -> Result<(RigEdit, Symmetrized), RigError> {
    check_live(document, joint)?;
    let skeleton = document.skeleton.clone();
    let pairs = JointPairs::new(&skeleton, &document.session().joint_pairs);
    let mirror = Mirror::new(&skeleton);
    let other = |j: JointId| pairs.partner(j).filter(|&p| p != j);
    if other(joint).is_none() && flipped_name(&skeleton.joint(joint).name).is_none() {
        return Err(RigError::NoSide(skeleton.label(joint)));
    }
    let world = document.rest_pose.world_matrices(&skeleton);
    let way = Way::of(document, &pairs, &mirror, &world);
    let mut done = Symmetrized {
        pairs: way.pairs,
        is_behavior: way.is_behavior,
        ..Symmetrized::default()
    };
    let mut sources: Vec<JointId> = skeleton
        .live_joints()
        .filter(|&j| j == joint || skeleton.ancestors(j).any(|a| a == joint))
        .collect();
    sources.sort_by_key(|&j| skeleton.rank(j));
    let mut changed = document.clone();
    let existing: Vec<(JointId, JointId)> = sources
        .iter()
        .filter_map(|&source| Some((source, other(source)?)))
        .collect();
    match_existing(document, &mut changed, &existing, &world, &way, &mut done)?;
    create_missing(document, &mut changed, &sources, &other, &way, &mut done)?;
    if done.created.is_empty() && done.matched.is_empty() {
        return Err(RigError::Value(format!(
            "The other side of “{}” is symmetric already.",
            skeleton.label(joint)
        )));
    }
    let mut edit = RigEdit::between(document, &changed);
    edit.inherits.clone_from(&done.created);
    Ok((edit, done))
}

/// A way of mirroring: `W' = M W F`.
struct Way {
    reflection: DAffine3,
    axes: DMat3,
    is_behavior: bool,
    pairs: (usize, usize),
}

impl Way {
    /// The way that most of the model's pairs follow; Blender's where none is better.
    fn of(document: &Document, pairs: &JointPairs, mirror: &Mirror, world: &[DAffine3]) -> Self {
        let n = mirror.normal();
        let reflection = DAffine3 {
            matrix3: mirror.reflection(),
            translation: n * (2.0 * mirror.offset()),
        };
        let skeleton = &document.skeleton;
        let both = skeleton
            .live_joints()
            .filter_map(|j| Some((j, pairs.partner(j).filter(|p| *p > j)?)));
        let both: Vec<_> = both.collect();
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
            pairs: (n_blender.max(n_behavior), both.len()),
        }
    }

    fn mirrored(&self, world: DAffine3) -> DAffine3 {
        let mut made = self.reflection * world;
        made.matrix3 *= self.axes;
        made
    }
}

/// Turns and moves the counterparts that exist.
fn match_existing(
    document: &Document,
    changed: &mut Document,
    existing: &[(JointId, JointId)],
    world: &[DAffine3],
    way: &Way,
    done: &mut Symmetrized,
) -> Result<(), RigError> {
    let diagonal = measure::diagonal(document);
    let mut turns = BTreeMap::new();
    for &(source, target) in existing {
        let wanted = way.mirrored(world[source.get()]).matrix3;
        // W' = W C.
        let turn = world[target.get()].matrix3.inverse() * wanted;
        if turn.determinant() <= 0.0 {
            done.not_turned.push(target);
            continue;
        }
        let turn = proper(turn);
        if angle_of(turn) > SAME {
            turns.insert(target, Frame::from_rotation(turn));
            done.matched.push(target);
        }
    }
    apply_frames(changed, &turns, Keys::KeepMotion(KEY_TOLERANCE))?;
    for &(source, target) in existing {
        let wanted = way.mirrored(world[source.get()]).translation;
        let now = world_of(&changed.skeleton, &changed.rest_pose, target);
        if now.translation.distance(wanted) <= SAME * diagonal {
            continue;
        }
        let into = inverse(now).ok_or_else(|| RigError::Singular {
            joint: document.skeleton.label(target),
            place: "in the rest pose".into(),
        })?;
        let by = Frame::from_translation(into.transform_point3(wanted));
        apply_frames(changed, &BTreeMap::from([(target, by)]), Keys::NewPivot)?;
        if !done.matched.contains(&target) {
            done.matched.push(target);
        }
    }
    Ok(())
}

/// Creates the counterparts that are missing.
fn create_missing(
    document: &Document,
    changed: &mut Document,
    sources: &[JointId],
    other: &impl Fn(JointId) -> Option<JointId>,
    way: &Way,
    done: &mut Symmetrized,
) -> Result<(), RigError> {
    let skeleton = document.skeleton.clone();
    let mut target: BTreeMap<JointId, Option<JointId>> = BTreeMap::new();
    for &source in sources {
        if let Some(there) = other(source) {
            target.insert(source, Some(there));
            continue;
        }
        let name = flipped_name(&skeleton.joint(source).name);
        let above = skeleton.joint(source).parent;
        let parent = above.map(|above| match target.get(&above) {
            Some(made) => *made,
            None => Some(other(above).unwrap_or(above)),
        });
        let (Some(name), Some(parent)) = (name, parent.flatten()) else {
            done.left_out.push(source);
            target.insert(source, None);
            continue;
        };
        let now = world_of(&changed.skeleton, &changed.rest_pose, source);
        let wanted = way.mirrored(now);
        let under = world_of(&changed.skeleton, &changed.rest_pose, parent);
        let into = inverse(under).ok_or_else(|| RigError::Singular {
            joint: changed.skeleton.label(parent),
            place: "in the rest pose".into(),
        })?;
        let splitter = Splitter {
            label: name.clone(),
            signs: signs(skeleton.joint(source).rest.scale()),
            nearest: false,
        };
        let rest = splitter.split(into * wanted)?;
        let mut joints = joints_of(changed);
        joints.push(Joint::new(name, Some(parent), rest));
        let made = JointId(joints.len() as u32 - 1);
        set_joints(changed, joints)?;
        list_beside(changed, made, source)?;
        target.insert(source, Some(made));
        done.created.push((made, source));
    }
    Ok(())
}

/// Adds a new joint to the skins that list the one that it mirrors, with the same skin matrix at rest.
fn list_beside(document: &mut Document, made: JointId, source: JointId) -> Result<(), RigError> {
    let world = document.rest_pose.world_matrices(&document.skeleton);
    let into = inverse(world[made.get()]).ok_or_else(|| RigError::Singular {
        joint: document.skeleton.label(made),
        place: "in the rest pose".into(),
    })?;
    for skin in document.skins.values_mut() {
        let Some(slot) = skin.joints.iter().position(|&j| j == source) else {
            continue;
        };
        if skin.joints.len() > usize::from(u16::MAX) {
            return Err(RigError::SkinFull(skin.name.clone()));
        }
        let skin = Arc::make_mut(skin);
        skin.joints.push(made);
        let moved = world[source.get()] * skin.inverse_bind[slot];
        skin.inverse_bind.push(into * moved);
    }
    Ok(())
}

/// The rotation nearest to a matrix that does not mirror.
fn proper(matrix: DMat3) -> DQuat {
    let (rotation, _) = polar(matrix);
    normalize_or_identity(DQuat::from_mat3(&rotation))
}

/// The angle of a rotation, radians, 0 - pi.
fn angle_of(q: DQuat) -> f64 {
    2.0 * DVec3::new(q.x, q.y, q.z).length().atan2(q.w.abs())
}
