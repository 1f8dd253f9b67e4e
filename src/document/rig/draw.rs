//! Drawing a joint: a child at a place of the world, on both sides where the rig is symmetric, with the bone above it along y.

use super::bind_skin::joints_to_bind;
use super::{
    Axis, Extrude, NewBone, Orient, RigEdit, RigError, SecondAxis, add_skeleton, check_live,
    extrude, orient, stem_and_side,
};
use crate::document::{Document, Edit};
use crate::skeleton::mirror::Mirror;
use crate::skeleton::{JointId, Skeleton};
use glam::{DQuat, DVec3};

/// The name of the first joint.
const FIRST: &str = "Bone";
/// Bones nearer to the forward axis than this cosine point their z axis upwards, as those of the templates.
const FORWARD: f64 = 0.9;

/// The plane between the two sides of a model, across the world's x.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sides {
    /// Where it is along x, metres.
    pub middle: f64,
    /// Joints that are nearer to it lie in it, metres.
    pub snap: f64,
}

impl Sides {
    /// The place of a joint drawn at `at`, and that of its counterpart if it is not in the middle.
    pub fn places(self, at: DVec3) -> (DVec3, Option<DVec3>) {
        if (at.x - self.middle).abs() <= self.snap {
            return (DVec3::new(self.middle, at.y, at.z), None);
        }
        (at, Some(self.flipped(at)))
    }

    fn flipped(self, at: DVec3) -> DVec3 {
        DVec3::new(2.0 * self.middle - at.x, at.y, at.z)
    }
}

/// A joint to draw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Draw {
    /// Its parent; `None`: it is the first of a new skeleton, or another root in one that binds no mesh yet.
    pub parent: Option<JointId>,
    /// Its place in the world, metres.
    pub at: DVec3,
    /// Where the other side lies; `None`: only this joint is made.
    pub sides: Option<Sides>,
}

/// The edit that adds a joint, its counterpart behind it where it has one, and their ids.
///
/// The first joint of a model gets a node "Armature" above it. A parent that has no weights and no other child yet gets its y
/// axis along the new bone and z forwards (upwards, along a bone that points forwards), as the bones of the templates. The
/// counterpart's parent is that of the parent, in the middle the parent itself; the two are named ".L" and ".R" there.
///
/// Fails for a removed parent, a place that is not finite, and without a parent in a model with skins.
pub fn draw(document: &Document, request: &Draw) -> Result<(RigEdit, Vec<JointId>), RigError> {
    if !request.at.is_finite() {
        return Err(RigError::Value("The bone's position is not finite.".into()));
    }
    let (at, other) = match request.sides {
        Some(sides) => sides.places(request.at),
        None => (request.at, None),
    };
    let parent = match request.parent {
        Some(parent) => {
            check_live(document, parent)?;
            Some(parent)
        }
        None if !document.skins.is_empty() => {
            return Err(RigError::Value(
                "Select the parent of the new bone first: click a joint.".into(),
            ));
        }
        // Beside the other roots, below the armature.
        None => joints_to_bind(document).first().map(|&joint| {
            let above = document.skeleton.ancestors(joint).last();
            above.unwrap_or(joint)
        }),
    };
    let Some(parent) = parent else {
        let bone = NewBone {
            name: FIRST.into(),
            parent: None,
            head: at,
            axes: DQuat::IDENTITY,
        };
        let (edit, made) = add_skeleton(document, &[bone])?;
        return Ok((edit, made.into_iter().skip(1).collect()));
    };
    let parent_is_bone = document.bone_mask()[parent.get()];
    let places: Vec<(JointId, DVec3)> = match (other, request.sides) {
        (Some(other), Some(sides)) => {
            vec![(parent, at), (counterpart(document, parent, sides), other)]
        }
        _ => vec![(parent, at)],
    };
    let names = names(document, parent, &places, request.sides);
    let mut changed = document.clone();
    let (mut steps, mut made) = (Vec::new(), Vec::new());
    for (&(parent, at), name) in places.iter().zip(names) {
        let world = changed.rest_pose.world_matrices(&changed.skeleton);
        let at = world[parent.get()].inverse().transform_point3(at);
        if !at.is_finite() {
            return Err(RigError::Singular {
                joint: changed.skeleton.label(parent),
                place: "in the rest pose".into(),
            });
        }
        let request = Extrude {
            parent: Some(parent),
            at,
            name,
        };
        let (edit, joint) = extrude(&changed, &request)?;
        changed.apply(&mut Edit::Rig(Box::new(edit.clone())))?;
        steps.push(edit);
        made.push(joint);
    }
    for (&(parent, _), &joint) in places.iter().zip(&made) {
        if !parent_is_bone || !is_free(&changed, parent, joint) {
            continue;
        }
        if let Some(edit) = along_bone(&changed, parent, joint)? {
            changed.apply(&mut Edit::Rig(Box::new(edit.clone())))?;
            steps.push(edit);
        }
    }
    let edit = RigEdit::of_steps(document, &changed, &steps);
    Ok((edit, made))
}

/// The joint of the other side: by name, else the one at the mirrored place, else the joint itself.
fn counterpart(document: &Document, joint: JointId, sides: Sides) -> JointId {
    let skeleton = &document.skeleton;
    let world = document.rest_pose.world_matrices(skeleton);
    let place = world[joint.get()].translation;
    if (place.x - sides.middle).abs() <= sides.snap {
        return joint;
    }
    let named = Mirror::new(skeleton).partner(joint);
    if let Some(named) = named.filter(|&named| named != joint) {
        return named;
    }
    let there = sides.flipped(place);
    let is_bone = document.bone_mask();
    let bones = skeleton.live_joints().filter(|j| is_bone[j.get()]);
    let away = |j: JointId| world[j.get()].translation.distance(there);
    let near = bones.filter(|&j| away(j) <= sides.snap);
    let near = near.min_by(|&a, &b| away(a).total_cmp(&away(b)));
    near.unwrap_or(joint)
}

/// A free name for each of `places`.
fn names(
    document: &Document,
    parent: JointId,
    places: &[(JointId, DVec3)],
    sides: Option<Sides>,
) -> Vec<String> {
    let skeleton = &document.skeleton;
    let own = &skeleton.joint(parent).name;
    let is_root = !document.bone_mask()[parent.get()];
    let own = if is_root { FIRST } else { own };
    let &[(_, at), (other, _)] = places else {
        return vec![super::next_name(skeleton, own)];
    };
    if other != parent {
        // Each continues its own side.
        let mirrored = super::next_name(skeleton, &skeleton.joint(other).name);
        return vec![super::next_name(skeleton, own), mirrored];
    }
    let is_left = sides.is_none_or(|sides| at.x > sides.middle);
    let suffixes = if is_left { [".L", ".R"] } else { [".R", ".L"] };
    let stem = free_stem(skeleton, own);
    suffixes.map(|suffix| format!("{stem}{suffix}")).into()
}

/// A stem that continues that of `name` and that no joint has, with or without a side.
fn free_stem(skeleton: &Skeleton, name: &str) -> String {
    let mut stem = stem_and_side(name).0.to_owned();
    for _ in 0..=skeleton.len() {
        stem = super::next_name(skeleton, &stem);
        let is_same = |j: JointId| stem_and_side(&skeleton.joint(j).name).0 == stem;
        if !skeleton.live_joints().any(is_same) {
            break;
        }
    }
    stem
}

/// Whether turning the axes of a parent changes nothing but them: nothing follows it, and `child` is its only child.
fn is_free(document: &Document, parent: JointId, child: JointId) -> bool {
    let skeleton = &document.skeleton;
    let is_new = skeleton.joint(parent).source_node.is_none();
    let mut skins = document.skins.values();
    let is_bound = skins.any(|skin| skin.joints.contains(&parent));
    let mut channels = document.motions().flat_map(|clip| &clip.channels);
    let is_animated = channels.any(|channel| channel.joint == parent);
    let children = skeleton.children(parent);
    is_new && !is_bound && !is_animated && children == [child]
}

/// The edit that puts the y axis of `parent` along the bone to `child`, which gets the same axes.
fn along_bone(
    document: &Document,
    parent: JointId,
    child: JointId,
) -> Result<Option<RigEdit>, RigError> {
    let world = document.rest_pose.world_matrices(&document.skeleton);
    let place = |j: JointId| world[j.get()].translation;
    let Some(along) = (place(child) - place(parent)).try_normalize() else {
        return Ok(None);
    };
    let towards = if along.z.abs() > FORWARD {
        DVec3::Y
    } else {
        DVec3::Z
    };
    let request = Orient {
        joints: vec![parent, child],
        aim: Axis::Y,
        second: Axis::Z,
        towards: SecondAxis::World(towards),
        roll: 0.0,
        leaves_stay: false,
    };
    orient(document, &request).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_joint_near_the_plane_lies_in_it() {
        let sides = Sides {
            middle: 0.5,
            snap: 0.02,
        };
        let near = DVec3::new(0.511, 1.0, 2.0);
        assert_eq!(sides.places(near), (DVec3::new(0.5, 1.0, 2.0), None));
        let far = DVec3::new(0.7, 1.0, 2.0);
        let (at, other) = sides.places(far);
        assert_eq!(at, far);
        assert!(other.unwrap().distance(DVec3::new(0.3, 1.0, 2.0)) < 1e-15);
        // What is not a number is no place in the plane.
        assert!(sides.places(DVec3::NAN).1.is_some());
    }
}
