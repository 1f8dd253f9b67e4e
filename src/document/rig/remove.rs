//! Removing a joint.

use super::clusters::check_muscles;
use super::constraints;
use super::content::{has_content, split};
use super::correctives::check_samples;
use super::drivers::check_drivers;
use super::local::SHORTEST_BONE;
use super::measure::{Compared, Distances};
use super::reparent::{Keep, Reparent, set_parent};
use super::rows::{along, change_rows, distance, redistributed, smoothstep};
use super::{
    KEY_TOLERANCE, RigEdit, RigError, check_live, drop_invalid_parents, joints_of, set_joints,
};
use crate::document::{Document, MeshId, Skin, SkinId};
use crate::math::Transform;
use crate::skeleton::JointId;
use crate::skinning::Influences;
use glam::{DAffine3, DVec3};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The largest number of clips in which the costs of a removal are measured.
pub const MEASURED_CLIPS: usize = 12;

/// Which joints receive the weights of a removed joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WeightRecipient {
    /// The parent near the bone's head, the child near its tail, a blend of both in between.
    AlongBone,
    /// The nearest ancestor that the skin lists, else a child.
    IntoParent,
    /// A chosen joint.
    Into(JointId),
}

/// How far the posed points move when a joint is removed, over the first clips.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RemovalCosts {
    /// With [`WeightRecipient::AlongBone`].
    pub along_bone: Distances,
    /// With [`WeightRecipient::IntoParent`].
    pub into_parent: Distances,
}

impl RemovalCosts {
    /// The choice that changes the clips less, by the mean square; the parent where both are equal.
    pub fn preselected(&self) -> WeightRecipient {
        if self.along_bone.rms() < self.into_parent.rms() {
            WeightRecipient::AlongBone
        } else {
            WeightRecipient::IntoParent
        }
    }
}

/// Removes a joint with each choice of recipients and measures both over the first clips, since which one is better depends
/// on the rig. The edit is that of [`RemovalCosts::preselected`].
///
/// Fails as [`remove`] does.
pub fn remove_measured(
    document: &Document,
    joint: JointId,
) -> Result<(RigEdit, RemovalCosts), RigError> {
    let weightless = without(document, joint)?;
    let with = |recipient: WeightRecipient| -> Result<(Document, Distances), RigError> {
        let mut changed = weightless.clone();
        redistribute(document, &mut changed, joint, recipient)?;
        let compared = Compared::new(document, &changed);
        let mut all = Distances::default();
        for &id in document.clips.keys().take(MEASURED_CLIPS) {
            all.merge(compared.in_clip(id));
        }
        Ok((changed, all))
    };
    let (along, along_bone) = with(WeightRecipient::AlongBone)?;
    let (into, into_parent) = with(WeightRecipient::IntoParent)?;
    let costs = RemovalCosts {
        along_bone,
        into_parent,
    };
    let chosen = match costs.preselected() {
        WeightRecipient::AlongBone => along,
        WeightRecipient::IntoParent | WeightRecipient::Into(_) => into,
    };
    Ok((RigEdit::between(document, &chosen), costs))
}

/// The edit that removes a joint: its children become children of its parent and keep their motions, what it draws
/// rigidly moves to a node of its own, and its weights are redistributed.
///
/// Fails for a joint that something else needs: drivers, muscles, locked weights, a skin with no other joint for them.
pub fn remove(
    document: &Document,
    joint: JointId,
    recipient: WeightRecipient,
) -> Result<RigEdit, RigError> {
    let mut changed = without(document, joint)?;
    redistribute(document, &mut changed, joint, recipient)?;
    Ok(RigEdit::between(document, &changed))
}

/// The document without a joint, whose weights are not redistributed yet.
fn without(before: &Document, joint: JointId) -> Result<Document, RigError> {
    let mut document = before.clone();
    check_live(&document, joint)?;
    check_drivers(&document, joint)?;
    check_samples(&document, joint)?;
    check_muscles(&document, joint)?;
    constraints::check_followed(&document, joint)?;
    if has_content(&document, joint) {
        split(&mut document, joint, Transform::IDENTITY)?;
    }
    let skeleton = document.skeleton.clone();
    for &child in skeleton.children(joint) {
        let request = Reparent {
            joint: child,
            parent: skeleton.joint(joint).parent,
            keep: Keep::Motion,
            nearest: false,
            tolerance: KEY_TOLERANCE,
        };
        set_parent(&mut document, &request)?;
    }
    // The children's motion came from them.
    constraints::forget(&mut document, joint);
    for skin in document.skins.values_mut() {
        if !skin.joints.contains(&joint) {
            continue;
        }
        if !skin
            .joints
            .iter()
            .any(|&j| j != joint && skeleton.is_live(j))
        {
            return Err(RigError::NoRecipient {
                joint: skeleton.label(joint),
                skin: skin.name.clone(),
            });
        }
        let skin = Arc::make_mut(skin);
        for (j, matrix) in skin.joints.iter().zip(&mut skin.inverse_bind) {
            if *j == joint {
                *matrix = DAffine3::IDENTITY;
            }
        }
    }
    for clip in document.motions_mut() {
        if clip.channels.iter().any(|c| c.joint == joint) {
            Arc::make_mut(clip).channels.retain(|c| c.joint != joint);
        }
    }
    if document.locked.contains(&joint) {
        Arc::make_mut(&mut document.locked).remove(&joint);
    }
    let mut joints = joints_of(&document);
    let above = joints[joint.get()].rule.logical_parent;
    joints[joint.get()].removed = true;
    Arc::make_mut(&mut document.pose).locals[joint.get()] = joints[joint.get()].rest;
    for entry in &mut joints {
        if entry.rule.inflation_parent == Some(joint) {
            entry.rule.inflation_parent = None;
        }
        if entry.rule.logical_parent == Some(joint) {
            entry.rule.logical_parent = above;
        }
    }
    set_joints(&mut document, joints)?;
    drop_invalid_parents(&mut document)?;
    Ok(document)
}

/// Redistributes the weights of a removed joint. `before`: the document with the joint and its children, of which the
/// bone's tail is one.
fn redistribute(
    before: &Document,
    changed: &mut Document,
    joint: JointId,
    recipient: WeightRecipient,
) -> Result<(), RigError> {
    let meshes: Vec<MeshId> = changed.meshes.keys().copied().collect();
    meshes
        .into_iter()
        .try_for_each(|mesh| redistribute_weights(before, changed, mesh, joint, recipient))
}

/// The slots that receive the weights of a removed joint in a mesh.
struct Recipients {
    from: u16,
    target: u16,
    /// The children that the skin lists, each with the tail of the bone to it.
    children: Vec<(u16, DVec3)>,
    into_joint: DAffine3,
}

fn redistribute_weights(
    tree: &Document,
    document: &mut Document,
    mesh: MeshId,
    joint: JointId,
    recipient: WeightRecipient,
) -> Result<(), RigError> {
    let instances = tree.instances.values().filter(|i| i.mesh == mesh);
    let skins: BTreeSet<SkinId> = instances.filter_map(|i| i.skin).collect();
    let skins: Vec<&Arc<Skin>> = skins.iter().filter_map(|id| tree.skins.get(id)).collect();
    let slot = |skin: &Skin, j: JointId| {
        let slot = skin.joints.iter().position(|&other| other == j);
        slot.map(|slot| slot as u16)
    };
    // In the same slot of every skin that draws the mesh.
    let shared = |j: JointId| {
        let first = slot(skins.first()?, j)?;
        let is_same = |skin: &&Arc<Skin>| slot(skin, j) == Some(first);
        skins.iter().all(is_same).then_some(first)
    };
    let Some(skin) = skins.iter().find(|skin| slot(skin, joint).is_some()) else {
        return Ok(());
    };
    let skeleton = &tree.skeleton;
    let is_weighted = |slot: u16| {
        let item = tree.meshes.get(&mesh);
        let rows = item.into_iter().flat_map(|item| {
            let layers = item.layers.layers().iter().map(|layer| &layer.rows);
            layers.chain([&item.influences])
        });
        let mut rows = rows.flat_map(Influences::iter);
        rows.any(|row| row.joints.contains(&slot))
    };
    let Some(from) = slot(skin, joint).filter(|&from| is_weighted(from)) else {
        return Ok(());
    };
    let no_heir = || RigError::NoRecipient {
        joint: skeleton.label(joint),
        skin: skin.name.clone(),
    };
    let mut others = skins.iter();
    if let Some(other) = others.find(|skin| slot(skin, joint) != Some(from)) {
        return Err(RigError::OtherSlot {
            joint: skeleton.label(joint),
            skin: other.name.clone(),
        });
    }
    let above = || {
        skeleton
            .logical_ancestors(joint)
            .find(|&j| shared(j).is_some())
    };
    let child = || {
        let mut children = skeleton.children(joint).iter().copied();
        children.find(|&j| shared(j).is_some())
    };
    let target = match recipient {
        WeightRecipient::Into(other) => {
            let is_possible = other != joint && skeleton.is_live(other) && shared(other).is_some();
            if !is_possible {
                return Err(RigError::NotInSkin {
                    joint: skeleton.label(joint),
                    recipient: skeleton.label(other),
                    skin: skin.name.clone(),
                });
            }
            other
        }
        WeightRecipient::AlongBone | WeightRecipient::IntoParent => {
            above().or_else(child).ok_or_else(no_heir)?
        }
    };
    let mut takers = vec![target];
    let mut children = Vec::new();
    if recipient == WeightRecipient::AlongBone {
        for &child in skeleton.children(joint) {
            let tail = skeleton.joint(child).rest.translation;
            if let Some(slot) = shared(child).filter(|_| tail.length() > SHORTEST_BONE) {
                children.push((slot, tail));
                takers.push(child);
            }
        }
    }
    for taker in takers.into_iter().chain([joint]) {
        if tree.locked.contains(&taker) {
            return Err(RigError::Locked(skeleton.label(taker)));
        }
    }
    let recipients = Recipients {
        from,
        target: shared(target).ok_or_else(no_heir)?,
        children,
        into_joint: skin.inverse_bind[usize::from(from)],
    };
    let limit = tree.session().brush.max_influences;
    change_rows(document, mesh, |point, row| {
        redistributed(row, from, &recipients.at(point), limit)
    })
}

impl Recipients {
    /// The slots and their fractions of the weight at a point in the bind pose.
    fn at(&self, point: DVec3) -> Vec<(u16, f64)> {
        let position = self.into_joint.transform_point3(point);
        let near = |a: &&(u16, DVec3), b: &&(u16, DVec3)| {
            distance(position, a.1).total_cmp(&distance(position, b.1))
        };
        let nearest = self.children.iter().min_by(near);
        let along = nearest.and_then(|(slot, tail)| Some((*slot, along(position, *tail)?)));
        match along {
            Some((child, s)) if child != self.target => {
                let e = smoothstep(s);
                vec![(self.target, 1.0 - e), (child, e)]
            }
            _ => vec![(self.target, 1.0)],
        }
        .into_iter()
        .filter(|(slot, _)| *slot != self.from)
        .collect()
    }
}
