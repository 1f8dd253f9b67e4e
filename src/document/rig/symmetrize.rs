//! Symmetrizing: the joints of one side get the other side's places and axes, mirrored.

use super::frames::{Keys, apply_frames};
use super::limits::mirror_limits;
use super::local::{Splitter, inverse, signs};
use super::reparent::{Keep, Reparent, set_parent};
use super::rotation::{angle_of, proper};
use super::sides::Sides;
use super::{
    KEY_TOLERANCE, RigEdit, RigError, check_live, joints_of, measure, mirror_constraints,
    set_joints,
};
use crate::document::Document;
use crate::finding::counted;
use crate::skeleton::mirror::{are_opposite, flipped_name};
use crate::skeleton::orientation::world_of;
use crate::skeleton::{Frame, Joint, JointId, Skeleton};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Turns below this, and moves below this fraction of the diagonal, are rounding.
const SAME: f64 = 1e-9;

/// What symmetrizing did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Symmetrized {
    /// Joints that were missing, each with the one that it mirrors.
    pub created: Vec<(JointId, JointId)>,
    /// Joints that were turned or moved.
    pub matched: Vec<JointId>,
    /// Joints that have another parent now: the counterpart of the parent of the one that they mirror.
    pub reparented: Vec<JointId>,
    /// Joints below the first that have no side in their name and no counterpart: they are left out.
    pub left_out: Vec<JointId>,
    /// Joints whose axes are of the other handedness: they are moved and not turned.
    pub not_turned: Vec<JointId>,
    /// Joints that have the mirrored constraints of their counterpart now.
    pub constrained: Vec<JointId>,
    /// Joints with constraints that cannot be mirrored: what they follow has no counterpart, or would follow them itself.
    pub not_constrained: Vec<JointId>,
    /// Joints that have the mirrored rotation limits of their counterpart now.
    pub limited: Vec<JointId>,
    /// How many pairs of the model follow the way of mirroring that was used, of how many.
    pub pairs: (usize, usize),
    /// Whether the axes of both sides are negatives of each other (Maya's *Behavior*); otherwise only x is (Blender's).
    pub is_behavior: bool,
}

/// The edit that gives the counterparts of `joint` and of everything below it their mirrored places, axes and parents, and
/// creates those that are missing, without weights. W' = M W F with the reflection M in the model's plane, and
/// F = diag(-1, 1, 1) or -I, whichever the model's pairs follow.
///
/// Mirrored constraints and rotation limits replace those of the counterparts. New axes and parents keep every motion; moves are new pivots, which
/// change the clips.
///
/// Fails for a joint of the middle, where nothing would change, and where a counterpart would need shear. Source: Blender's
/// *Symmetrize* and Maya's *Mirror Joints*.
pub fn symmetrize(document: &Document, joint: JointId) -> Result<(RigEdit, Symmetrized), RigError> {
    check_live(document, joint)?;
    let skeleton = document.skeleton.clone();
    let world = document.rest_pose.world_matrices(&skeleton);
    let way = Sides::of(document, &world);
    if way.partner(joint).is_none() && flipped_name(&skeleton.joint(joint).name).is_none() {
        return Err(RigError::NoSide(skeleton.label(joint)));
    }
    let mut done = Symmetrized {
        pairs: way.follow,
        is_behavior: way.is_behavior,
        ..Symmetrized::default()
    };
    // A joint of the other side that is a descendant is a counterpart, not a source.
    let is_source = |&j: &JointId| {
        let mut above = skeleton.ancestors(j).chain(skeleton.logical_ancestors(j));
        let is_below = j == joint || above.any(|a| a == joint);
        is_below && !are_opposite(&skeleton.joint(j).name, &skeleton.joint(joint).name)
    };
    let mut sources: Vec<JointId> = skeleton.live_joints().filter(is_source).collect();
    sources.sort_by_key(|&j| skeleton.rank(j));
    let mut changed = document.clone();
    let existing: Vec<(JointId, JointId)> = sources
        .iter()
        .filter_map(|&source| Some((source, way.partner(source)?)))
        .collect();
    let replaced = mirror_constraints::take_replaced(&mut changed, &existing);
    mirror_hierarchy(&mut changed, &skeleton, &sources, &way, &mut done)?;
    match_existing(&mut changed, &existing, &way, &mut done)?;
    let made = done.created.iter().map(|&(made, source)| (source, made));
    let pairs: Vec<(JointId, JointId)> = existing.iter().copied().chain(made).collect();
    mirror_logical_parents(&mut changed, &pairs, &way)?;
    done.limited = mirror_limits(&mut changed, &pairs, &way, &done.not_turned)?;
    let not_turned = &done.not_turned;
    let mirrored = mirror_constraints::mirror(&mut changed, &pairs, &replaced, &way, not_turned);
    done.constrained = mirrored.constrained;
    done.not_constrained = mirrored.left_out;
    let is_symmetric =
        done.created.is_empty() && done.matched.is_empty() && done.reparented.is_empty();
    if is_symmetric && done.constrained.is_empty() && done.limited.is_empty() {
        let n = done.left_out.len() + done.not_turned.len();
        if n > 0 {
            return Err(RigError::Value(format!(
                "{} of “{}” cannot be mirrored: no side in the name, or a negative scale on one side only.",
                counted(n, "bone"),
                skeleton.label(joint)
            )));
        }
        return Err(RigError::Unchanged(format!(
            "the other side of “{}” is already symmetric",
            skeleton.label(joint)
        )));
    }
    let mut edit = RigEdit::between(document, &changed);
    edit.inherits.clone_from(&done.created);
    Ok((edit, done))
}

/// Gives the counterparts the mirrored logical parents of their sources, where they are valid.
fn mirror_logical_parents(
    changed: &mut Document,
    pairs: &[(JointId, JointId)],
    way: &Sides,
) -> Result<(), RigError> {
    for &(source, target) in pairs {
        let Some(above) = changed.skeleton.joint(source).rule.logical_parent else {
            continue;
        };
        let made = pairs.iter().find(|pair| pair.0 == above).map(|pair| pair.1);
        // One of the middle is above both sides.
        let there = made.or_else(|| way.partner(above)).unwrap_or(above);
        let mut joints = joints_of(changed);
        let rule = &mut joints[target.get()].rule;
        rule.logical_parent = Some(there);
        if rule.check(target, &changed.skeleton).is_ok() {
            set_joints(changed, joints)?;
        }
    }
    Ok(())
}

/// Turns and moves the counterparts that exist.
fn match_existing(
    changed: &mut Document,
    existing: &[(JointId, JointId)],
    way: &Sides,
    done: &mut Symmetrized,
) -> Result<(), RigError> {
    let diagonal = measure::diagonal(changed);
    let world = changed.rest_pose.world_matrices(&changed.skeleton);
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
            joint: changed.skeleton.label(target),
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

/// Hangs each counterpart below the counterpart of its source's parent, and creates those that are missing there. `before`:
/// the joints as they were; `sources`: parents first.
fn mirror_hierarchy(
    changed: &mut Document,
    before: &Skeleton,
    sources: &[JointId],
    way: &Sides,
    done: &mut Symmetrized,
) -> Result<(), RigError> {
    // The counterpart of each source; `None` where it is left out.
    let mut target: BTreeMap<JointId, Option<JointId>> = BTreeMap::new();
    for &source in sources {
        let parent = match before.joint(source).parent {
            None => Some(None),
            Some(above) => match target.get(&above) {
                Some(made) => made.map(Some),
                // A parent in the middle is the parent of both sides. One of this side without a counterpart has none on
                // the other.
                None => {
                    let is_middle = flipped_name(&before.joint(above).name).is_none();
                    let middle = is_middle.then_some(above);
                    way.partner(above).or(middle).map(Some)
                }
            },
        };
        if let Some(there) = way.partner(source) {
            target.insert(source, Some(there));
            let Some(parent) = parent.filter(|parent| *parent != before.joint(there).parent) else {
                continue;
            };
            let request = Reparent {
                joint: there,
                parent,
                keep: Keep::Motion,
                nearest: false,
                tolerance: KEY_TOLERANCE,
            };
            set_parent(changed, &request)?;
            done.reparented.push(there);
            continue;
        }
        let name = flipped_name(&before.joint(source).name);
        let (Some(name), Some(parent)) = (name, parent) else {
            done.left_out.push(source);
            target.insert(source, None);
            continue;
        };
        let made = create(changed, source, name, parent, way)?;
        target.insert(source, Some(made));
        done.created.push((made, source));
    }
    Ok(())
}

/// Creates the counterpart of `source` below `parent`.
fn create(
    changed: &mut Document,
    source: JointId,
    name: String,
    parent: Option<JointId>,
    way: &Sides,
) -> Result<JointId, RigError> {
    let now = world_of(&changed.skeleton, &changed.rest_pose, source);
    let mut wanted = way.mirrored(now);
    if let Some(parent) = parent {
        let under = world_of(&changed.skeleton, &changed.rest_pose, parent);
        let into = inverse(under).ok_or_else(|| RigError::Singular {
            joint: changed.skeleton.label(parent),
            place: "in the rest pose".into(),
        })?;
        wanted = into * wanted;
    }
    let splitter = Splitter {
        label: name.clone(),
        signs: signs(changed.skeleton.joint(source).rest.scale()),
        nearest: false,
    };
    let rest = splitter.split(wanted)?;
    let mut joints = joints_of(changed);
    joints.push(Joint::new(name, parent, rest));
    let made = JointId(joints.len() as u32 - 1);
    set_joints(changed, joints)?;
    list_beside(changed, made, source)?;
    Ok(made)
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
