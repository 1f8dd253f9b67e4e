//! Chains of joints, of which both skeletons may have different numbers: for quadrupeds, tails, and flat rigs whose joints are not
//! below each other.
//!
//! Chains with the same number of joints correspond one to one, others by their shares of the length. A target's bone points as the source's
//! line from the one share to the other.

use super::Mapping;
use super::arc::minimal_rotation;
use super::drive::Drive;
use super::spine::{between, shares};
use crate::motion::rig::Rig;
use glam::{DQuat, DVec3};

/// A joint of the target that is not below the one before it in its chain, and moves as if it were.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Carried {
    pub(super) joint: usize,
    pub(super) by: usize,
}

/// Adds the drives of the joints of chains. places: of the source at the reference; rigs: source and target at rest.
pub(super) fn add_chains(
    places: &[DVec3],
    [source, target]: [&Rig; 2],
    mapping: &Mapping,
    front: DVec3,
    drives: &mut [Option<Drive>],
) {
    let is_root = |joint: usize| mapping.root.is_some_and(|[_, root]| root == joint);
    for [ours, theirs] in &mapping.chains {
        let (at, wanted) = (shares(source, ours), shares(target, theirs));
        let is_one_to_one = ours.len() == theirs.len();
        let line = line(places, ours, &at, theirs.len(), &wanted);
        let mut before = DQuat::IDENTITY;
        for (k, &joint) in theirs.iter().enumerate() {
            let own = match (theirs.get(k + 1), is_one_to_one) {
                (Some(&next), _) => Some((
                    target.places[next] - target.places[joint],
                    line[k + 1] - line[k],
                )),
                // The last bone ends at the only joint below it, if both have one; the root is no bone.
                (None, true) if !is_root(joint) => only_child(target, joint)
                    .zip(only_child(source, ours[k]))
                    .map(|(t, s)| {
                        (
                            target.places[t] - target.places[joint],
                            places[s] - places[ours[k]],
                        )
                    }),
                (None, _) => None,
            };
            let align = own.map_or(before, |(from, to)| minimal_rotation(from, to, front).0);
            before = align;
            drives[joint] = Some(if is_one_to_one {
                Drive::Joint(ours[k], align)
            } else {
                Drive::Between(between(ours, &at, joint, wanted[k]), align)
            });
        }
    }
}

/// The places on a chain of the source that joints of the target's correspond to. at: the shares of its own joints; wanted: those of
/// the n_joints of the target's.
fn line(
    places: &[DVec3],
    chain: &[usize],
    at: &[f64],
    n_joints: usize,
    wanted: &[f64],
) -> Vec<DVec3> {
    if chain.len() == n_joints {
        return chain.iter().map(|joint| places[*joint]).collect();
    }
    let place = |share: &f64| {
        let found = between(chain, at, 0, *share);
        let [low, high] = found.between.map(|joint| places[joint]);
        low.lerp(high, found.share)
    };
    wanted.iter().map(place).collect()
}

fn only_child(rig: &Rig, joint: usize) -> Option<usize> {
    let mut children = (0..rig.len()).filter(|child| rig.parents[*child] == Some(joint));
    let only = children.next()?;
    let is_apart = rig.places[only].distance(rig.places[joint]) > 0.0;
    (children.next().is_none() && is_apart).then_some(only)
}

/// The joints of flat chains, and what each of them hangs on: the joint before it, or of the first one the root.
pub(super) fn carried(target: &Rig, mapping: &Mapping) -> Vec<Carried> {
    let root = mapping.carrier().map(|[_, root]| root);
    let mut found = Vec::new();
    for [_, theirs] in &mapping.chains {
        let before = std::iter::once(root).chain(theirs.iter().copied().map(Some));
        for (&joint, by) in theirs.iter().zip(before) {
            let Some(by) = by.filter(|by| *by != joint) else {
                continue;
            };
            if !target.is_below(joint, by) && !target.is_below(by, joint) {
                found.push(Carried { joint, by });
            }
        }
    }
    found
}

/// The joints of the target in an order in which each comes after its parent and what carries it; `None` where there is no such order.
pub(super) fn order(target: &Rig, carried: &[Carried]) -> Option<Vec<u32>> {
    let n = target.len();
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); n];
    let mut n_before = vec![0_usize; n];
    let parents = target.parents.iter().enumerate();
    let parents = parents.filter_map(|(joint, parent)| Some(((*parent)?, joint)));
    let edges = parents.chain(carried.iter().map(|c| (c.by, c.joint)));
    for (first, then) in edges {
        after[first].push(then);
        n_before[then] += 1;
    }
    let mut order: Vec<u32> = Vec::with_capacity(n);
    let mut ready: Vec<usize> = (0..n).rev().filter(|j| n_before[*j] == 0).collect();
    while let Some(joint) = ready.pop() {
        order.push(joint as u32);
        for &then in after[joint].iter().rev() {
            n_before[then] -= 1;
            if n_before[then] == 0 {
                ready.push(then);
            }
        }
    }
    (order.len() == n).then_some(order)
}

/// The places of the ends of all chains, of the source (0) or the target (1).
fn ends(places: &[DVec3], mapping: &Mapping, of: usize) -> Vec<DVec3> {
    let chains = mapping.chains.iter().map(|chain| &chain[of]);
    let ends = chains.flat_map(|joints| [joints.first(), joints.last()]);
    ends.flatten().map(|joint| places[*joint]).collect()
}

/// The rotation about Y that takes the chains of the source in a pose nearest to those of the target at rest.
pub(super) fn yaw(places: &[DVec3], target: &Rig, mapping: &Mapping) -> DQuat {
    let [ours, theirs] = [ends(places, mapping, 0), ends(&target.places, mapping, 1)];
    let middle = |points: &[DVec3]| points.iter().sum::<DVec3>() / points.len().max(1) as f64;
    let (from, to) = (middle(&ours), middle(&theirs));
    let (mut across, mut along) = (0.0, 0.0);
    for (a, b) in ours.iter().zip(&theirs) {
        let (a, b) = ((*a - from).with_y(0.0), (*b - to).with_y(0.0));
        across += a.cross(b).y;
        along += a.dot(b);
    }
    if f64::hypot(across, along) > 0.0 {
        DQuat::from_rotation_y(across.atan2(along))
    } else {
        DQuat::IDENTITY
    }
}

/// The angles between the bones of chains in a pose of the source, turned by `yaw`, and those of the target at rest, degrees.
pub(super) fn angles(
    places: &[DVec3],
    yaw: DQuat,
    source: &Rig,
    target: &Rig,
    mapping: &Mapping,
) -> Vec<f64> {
    let mut found = Vec::new();
    for [ours, theirs] in &mapping.chains {
        let (at, wanted) = (shares(source, ours), shares(target, theirs));
        let line = line(places, ours, &at, theirs.len(), &wanted);
        for (pair, bone) in line.windows(2).zip(theirs.windows(2)) {
            let ours = yaw * (pair[1] - pair[0]);
            let theirs = target.places[bone[1]] - target.places[bone[0]];
            found.push(ours.angle_between(theirs).to_degrees());
        }
    }
    found
}

/// The size of the chains of a skeleton at rest: their lengths together, or where they have none how far they are apart.
pub(super) fn size(rig: &Rig, mapping: &Mapping, of: usize) -> f64 {
    let chains = mapping.chains.iter().map(|chain| &chain[of]);
    let bones = chains.flat_map(|joints| joints.windows(2));
    let length: f64 = bones
        .map(|bone| rig.places[bone[0]].distance(rig.places[bone[1]]))
        .sum();
    if length > 0.0 {
        return length;
    }
    let ends = ends(&rig.places, mapping, of);
    let low = ends.iter().copied().reduce(DVec3::min);
    let high = ends.iter().copied().reduce(DVec3::max);
    low.zip(high).map_or(0.0, |(low, high)| low.distance(high))
}

/// The height of the root over the lowest joint of the chains in a pose.
pub(super) fn height(places: &[DVec3], mapping: &Mapping, of: usize) -> f64 {
    let chains = mapping.chains.iter().flat_map(|chain| &chain[of]);
    let low = chains.map(|j| places[*j].y).fold(f64::INFINITY, f64::min);
    mapping.root.map_or(0.0, |root| places[root[of]].y - low)
}
