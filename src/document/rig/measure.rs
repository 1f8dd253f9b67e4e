//! The effect of a change of the rig on the posed model, by linear blend skinning in f64.

use super::RigEdit;
use super::larger::larger;
use crate::document::{ClipId, Document, Instance, InstanceId, MeshItem};
use crate::skeleton::{Channel, Clip, JointId};
use glam::{DAffine3, DVec3};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Frames of a clip that are compared.
const N_FRAMES: usize = 24;

/// What an edit of the rig changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RigReport {
    /// Joints that are added, removed, renamed, moved, rotated or reparented.
    pub n_joints: usize,
    /// Points whose influences change.
    pub n_points: usize,
    /// Keyframes that the clips gain; negative where channels are removed.
    pub keys_added: i64,
    /// Keyframes of the channels that are new or have other times or values.
    pub keys_changed: usize,
    /// The largest change of the rest pose, as a fraction of the model's diagonal.
    pub at_rest: f64,
    /// The largest change in each clip, as a fraction of the diagonal.
    pub in_clips: BTreeMap<ClipId, f64>,
    /// Joints that no longer follow another joint's inflation, because that one is not before them any more.
    pub released: Vec<JointId>,
}

impl RigReport {
    /// The largest change of the rest pose and of all clips.
    pub fn worst(&self) -> f64 {
        self.in_clips.values().copied().fold(self.at_rest, larger)
    }
}

/// Measures the effect of `edit` on `document`.
pub fn report(document: &Document, edit: &RigEdit) -> RigReport {
    let mut after = document.clone();
    let mut applied = edit.clone();
    applied.swap(&mut after, &mut crate::document::Dirty::default());
    let before = document.skeleton.joints();
    let now = after.skeleton.joints();
    let pairs = now.iter().zip(before);
    let pairs = (0..).map(JointId).zip(pairs);
    let differs = pairs.filter(|(joint, (a, b))| {
        (a.parent, a.rest, a.removed, &a.name) != (b.parent, b.rest, b.removed, &b.name)
            || a.rule != b.rule
            || after.constraints_of(*joint) != document.constraints_of(*joint)
    });
    let off = Compared::new(document, &after);
    RigReport {
        n_joints: differs.count() + now.len().saturating_sub(before.len()),
        n_points: edit.n_points(),
        keys_added: n_keys(&after) as i64 - n_keys(document) as i64,
        keys_changed: n_changed_keys(document, &after),
        at_rest: off.at_rest().max / off.diagonal,
        in_clips: after
            .clips
            .keys()
            .map(|&id| (id, off.in_clip(id).max / off.diagonal))
            .collect(),
        released: after
            .skeleton
            .live_joints()
            .filter(|j| {
                let old = before.get(j.get());
                let now = now[j.get()].rule;
                let lost = |a: Option<JointId>, b: Option<JointId>| a.is_some() && b.is_none();
                old.is_some_and(|old| {
                    lost(old.rule.inflation_parent, now.inflation_parent)
                        || lost(old.rule.logical_parent, now.logical_parent)
                        || (old.rule.limits.is_some() && now.limits.is_none())
                })
            })
            .collect(),
    }
}

/// The number of keyframes of all channels of all clips.
pub fn n_keys(document: &Document) -> usize {
    let channels = document.clips.values().flat_map(|clip| &clip.channels);
    channels.map(|channel| channel.times.len()).sum()
}

/// The keyframes of channels of `after` that `before` does not have like this.
fn n_changed_keys(before: &Document, after: &Document) -> usize {
    let of_clip = |(id, clip): (&ClipId, &Arc<Clip>)| -> usize {
        let old = before.clips.get(id);
        if old.is_some_and(|old| Arc::ptr_eq(old, clip)) {
            return 0;
        }
        let is_old = |channel: &&Channel| {
            let index = old.and_then(|old| old.channel_of(channel.joint, channel.property));
            old.zip(index)
                .is_some_and(|(old, index)| old.channels[index] == **channel)
        };
        let new = clip.channels.iter().filter(|channel| !is_old(channel));
        new.map(|channel| channel.times.len()).sum()
    };
    after.clips.iter().map(of_clip).sum()
}

/// Statistics of distances between the points of two documents, metres. A point without a finite position in both counts
/// as infinitely far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Distances {
    /// The largest.
    pub max: f64,
    /// The sum of squares.
    pub squares: f64,
    /// The number of distances.
    pub n: usize,
}

impl Distances {
    /// Those of points that only one of the two has.
    pub const UNKNOWN: Self = Self {
        max: f64::INFINITY,
        squares: f64::INFINITY,
        n: 1,
    };

    /// Adds the distances of `other`.
    pub fn merge(&mut self, other: Self) {
        self.max = larger(self.max, other.max);
        self.squares += other.squares;
        self.n += other.n;
    }

    /// The root mean square.
    pub fn rms(&self) -> f64 {
        (self.squares / self.n.max(1) as f64).sqrt()
    }
}

/// Two states of a document whose posed points are compared.
pub struct Compared<'a> {
    before: &'a Document,
    after: &'a Document,
    /// Diagonal of the bounding box of all points in the rest pose, metres; 1 where there are none.
    pub diagonal: f64,
    /// The instances of both; `None` where only one of the two has an instance, a mesh or a point.
    pairs: Option<Vec<Pair<'a>>>,
}

impl<'a> Compared<'a> {
    /// Two states of a document, or a document ([`Document::with_nodes`]) and its file as read back.
    pub fn new(before: &'a Document, after: &'a Document) -> Self {
        Self {
            before,
            after,
            diagonal: diagonal(before),
            pairs: pairs(before, after),
        }
    }

    /// Distances in the rest pose.
    pub fn at_rest(&self) -> Distances {
        let world = [self.before, self.after].map(|d| d.rest_pose.world_matrices(&d.skeleton));
        self.apart(&world)
    }

    /// Distances in a clip that both have, at equally spaced frames between its first and last keyframe.
    pub fn in_clip(&self, id: ClipId) -> Distances {
        let (Some(before), Some(after)) = (self.before.clips.get(&id), self.after.clips.get(&id))
        else {
            return Distances::UNKNOWN;
        };
        self.in_clips(before, after)
    }

    /// Distances in two corresponding clips.
    pub fn in_clips(&self, before: &Clip, after: &Clip) -> Distances {
        let (start, end) = (
            f64::from(before.start_secs().min(after.start_secs())),
            f64::from(before.end_secs().max(after.end_secs())),
        );
        let moments: Vec<Distances> = (0..N_FRAMES)
            .into_par_iter()
            .map(|i| {
                let time = start + (end - start) * (i as f64 + 0.37) / N_FRAMES as f64;
                let world = [
                    world_at(self.before, before, time),
                    world_at(self.after, after, time),
                ];
                self.apart(&world)
            })
            .collect();
        let mut all = Distances::default();
        for moment in moments {
            all.merge(moment);
        }
        all
    }

    fn apart(&self, world: &[Vec<DAffine3>; 2]) -> Distances {
        let Some(pairs) = &self.pairs else {
            return Distances::UNKNOWN;
        };
        let mut all = Distances::default();
        for pair in pairs {
            let posed = [
                Posed::new(self.before, pair.instances[0], &world[0]),
                Posed::new(self.after, pair.instances[1], &world[1]),
            ];
            let [Some(a), Some(b)] = &posed else {
                return Distances::UNKNOWN;
            };
            all.merge(pair.apart(a, b));
        }
        all
    }
}

/// An instance of both documents, and what of it is the same in every pose.
struct Pair<'a> {
    instances: [&'a Instance; 2],
    /// n_points: whether its position or its influences differ, or are not finite.
    differs: Vec<bool>,
    /// For each slot of the skin, the points that it influences.
    influenced: Vec<Vec<u32>>,
}

fn pairs<'a>(before: &'a Document, after: &'a Document) -> Option<Vec<Pair<'a>>> {
    if after.instances.len() != before.instances.len() {
        return None;
    }
    let in_file = |document: &Document, (&id, instance): (&InstanceId, &Arc<Instance>)| {
        document.instance_in_file(id, instance.joint)
    };
    let theirs = after.instances.iter();
    let theirs: BTreeMap<InstanceId, &Arc<Instance>> = theirs
        .map(|entry| (in_file(after, entry), entry.1))
        .collect();
    let mut pairs = Vec::new();
    for (id, instance) in &before.instances {
        let other = *theirs.get(&in_file(before, (id, instance)))?;
        let items = [
            before.meshes.get(&instance.mesh),
            after.meshes.get(&other.mesh),
        ];
        match items {
            [Some(a), Some(b)] if a.geometry.n_points() == b.geometry.n_points() => {
                pairs.push(Pair::new([instance, other], [a, b]));
            }
            [None, None] => {}
            _ => return None,
        }
    }
    Some(pairs)
}

impl<'a> Pair<'a> {
    fn new(instances: [&'a Instance; 2], [a, b]: [&MeshItem; 2]) -> Self {
        let mut influenced: Vec<Vec<u32>> = Vec::new();
        let differs = (0..a.geometry.n_points() as u32).map(|point| {
            let rows = [a, b].map(|item| item.influences.row(point));
            let mut is_finite = a.geometry.positions[point as usize].is_finite();
            for (slot, weight) in rows[0].iter() {
                let slot = usize::from(slot);
                if influenced.len() <= slot {
                    influenced.resize(slot + 1, Vec::new());
                }
                influenced[slot].push(point);
                is_finite &= weight.is_finite();
            }
            let positions = [a, b].map(|item| item.geometry.positions[point as usize]);
            !is_finite || positions[0] != positions[1] || !rows[0].iter().eq(rows[1].iter())
        });
        Self {
            differs: differs.collect(),
            influenced,
            instances,
        }
    }

    /// The distances of the points in a pose of both.
    fn apart(&self, a: &Posed<'_>, b: &Posed<'_>) -> Distances {
        let mut all = Distances {
            n: self.differs.len(),
            ..Distances::default()
        };
        // Most edits change the matrices of few joints: the others' points need not be posed.
        let moved = self.moved(a, b);
        for (point, _) in moved.iter().enumerate().filter(|(_, moved)| **moved) {
            let apart = a.point(point).distance_squared(b.point(point));
            let apart = larger(0.0, apart);
            all.max = all.max.max(apart);
            all.squares += apart;
        }
        all.max = all.max.sqrt();
        all
    }

    /// n_points: whether it may be elsewhere.
    fn moved(&self, a: &Posed<'_>, b: &Posed<'_>) -> Vec<bool> {
        let is_same = |a: &DAffine3, b: &DAffine3| a == b && a.is_finite();
        let (a, b) = match (&a.follows, &b.follows) {
            (Follows::Node(a), Follows::Node(b)) if is_same(a, b) => return self.differs.clone(),
            (Follows::Joints(a), Follows::Joints(b)) => (a, b),
            _ => return vec![true; self.differs.len()],
        };
        let mut moved = self.differs.clone();
        for (slot, points) in self.influenced.iter().enumerate() {
            let matrices = a.get(slot).zip(b.get(slot));
            if !matrices.is_some_and(|(a, b)| is_same(a, b)) {
                for &point in points {
                    moved[point as usize] = true;
                }
            }
        }
        moved
    }
}

fn world_at(document: &Document, clip: &Clip, time: f64) -> Vec<DAffine3> {
    document
        .pose_of_clip(clip, time)
        .world_matrices(&document.skeleton)
}

/// An instance in a pose, by linear blend skinning of the mesh without morph targets.
struct Posed<'a> {
    item: &'a MeshItem,
    follows: Follows,
}

/// What the points of an instance follow.
enum Follows {
    /// The transform of its node.
    Node(DAffine3),
    /// Joints of its skin: one matrix for each, from the mesh to the world.
    Joints(Vec<DAffine3>),
}

impl<'a> Posed<'a> {
    /// `None` where there is no such mesh. `world`: a transform for each joint of the skeleton.
    fn new(document: &'a Document, instance: &Instance, world: &[DAffine3]) -> Option<Self> {
        let item = document.meshes.get(&instance.mesh)?;
        let follows = match instance.skin.and_then(|skin| document.skins.get(&skin)) {
            None => Follows::Node(world[instance.joint.get()]),
            Some(skin) => {
                let joints = skin.joints.iter().zip(&skin.inverse_bind);
                Follows::Joints(joints.map(|(j, ibm)| world[j.get()] * *ibm).collect())
            }
        };
        Some(Self { item, follows })
    }

    fn n_points(&self) -> usize {
        self.item.geometry.positions.len()
    }

    /// A point in world space.
    fn point(&self, point: usize) -> DVec3 {
        let p = self.item.geometry.positions[point].as_dvec3();
        let palette = match &self.follows {
            Follows::Node(node) => return node.transform_point3(p),
            Follows::Joints(palette) => palette,
        };
        let (mut position, mut sum) = (DVec3::ZERO, 0.0);
        for (joint, weight) in self.item.influences.row(point as u32).iter() {
            let weight = f64::from(weight);
            position += palette[usize::from(joint)].transform_point3(p) * weight;
            sum += weight;
        }
        if sum > 0.0 { position / sum } else { p }
    }
}

/// The points of an instance in world space: linear blend skinning of the mesh without morph targets, or its node's
/// transform.
pub fn posed_points(document: &Document, instance: &Instance, world: &[DAffine3]) -> Vec<DVec3> {
    let posed = Posed::new(document, instance, world);
    posed.map_or_else(Vec::new, |posed| {
        (0..posed.n_points()).map(|p| posed.point(p)).collect()
    })
}

/// The points of every instance in the rest pose.
pub fn rest_points(document: &Document) -> BTreeMap<InstanceId, Vec<DVec3>> {
    let world = document.rest_pose.world_matrices(&document.skeleton);
    let instances = document.instances.iter();
    instances
        .map(|(&id, instance)| (id, posed_points(document, instance, &world)))
        .collect()
}

/// The diagonal of the bounding box of all points in the rest pose, metres; 1 where there are none.
pub fn diagonal(document: &Document) -> f64 {
    let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    for p in rest_points(document).values().flatten() {
        if p.is_finite() {
            low = low.min(*p);
            high = high.max(*p);
        }
    }
    let size = (high - low).length();
    if size.is_finite() && size > 0.0 {
        size
    } else {
        1.0
    }
}

/// The largest distance in the rest pose between `joint` and a point that it or a descendant moves, metres.
pub(in crate::document) fn reach(document: &Document, joint: JointId) -> f64 {
    let skeleton = &document.skeleton;
    let world = document.rest_pose.world_matrices(skeleton);
    let at = world[joint.get()].translation;
    let is_below = |j: JointId| j == joint || skeleton.ancestors(j).any(|a| a == joint);
    let mut reach = skeleton
        .live_joints()
        .filter(|&j| is_below(j))
        .map(|j| world[j.get()].translation.distance(at))
        .fold(0.0, f64::max);
    for instance in document.instances.values() {
        let Some(item) = document.meshes.get(&instance.mesh) else {
            continue;
        };
        let skin = instance.skin.and_then(|skin| document.skins.get(&skin));
        let follows: Option<Vec<bool>> =
            skin.map(|skin| skin.joints.iter().map(|&j| is_below(j)).collect());
        if follows.is_none() && !is_below(instance.joint) {
            continue;
        }
        let positions = posed_points(document, instance, &world);
        for (position, row) in positions.iter().zip(item.influences.iter()) {
            let is_moved = follows
                .as_ref()
                .is_none_or(|follows| row.iter().any(|(j, w)| w > 0.0 && follows[usize::from(j)]));
            if is_moved && position.is_finite() {
                reach = reach.max(position.distance(at));
            }
        }
    }
    reach
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_or_no_number_is_infinitely_far() {
        let document = Document::default();
        let compared = Compared::new(&document, &document);
        assert_eq!(compared.at_rest(), Distances::default());
        assert_eq!(compared.in_clip(ClipId(9)), Distances::UNKNOWN);
        let mut all = Distances::default();
        all.merge(Distances::UNKNOWN);
        assert_eq!((all.max, all.rms()), (f64::INFINITY, f64::INFINITY));
        let report = RigReport {
            in_clips: [(ClipId(0), f64::NAN)].into(),
            ..RigReport::default()
        };
        assert_eq!(report.worst(), f64::INFINITY);
    }
}
