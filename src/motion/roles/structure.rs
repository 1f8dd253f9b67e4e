//! Roles by the shape of a skeleton at rest, Y up.

use super::{FoundBy, Part, Role, Roles, Side};
use crate::motion::rig::Rig;
use glam::DVec3;

/// Leaves of a pair differ in height by at most this share of the size, and are at least as far apart.
const PAIR: f64 = 0.05;
/// Feet are in this lowest share of the size.
const LOWEST: f64 = 0.1;
/// Hands are this much of the size above the feet.
const HIGHER: f64 = 0.3;

/// Two leaves, one on each side.
#[derive(Clone, Copy)]
struct Pair {
    leaves: [usize; 2],
    height: f64,
    width: f64,
}

/// The roles that the shape of a skeleton suggests: of pairs of leaves the lowest are feet, the widest of those well above
/// them hands; `None` where it has no such pairs.
pub fn by_structure(rig: &Rig) -> Option<Roles> {
    let bones: Vec<usize> = (0..rig.len()).filter(|j| rig.is_bone[*j]).collect();
    let (low, high) = bones.iter().fold((f64::MAX, f64::MIN), |(low, high), &j| {
        (low.min(rig.places[j].y), high.max(rig.places[j].y))
    });
    let size = high - low;
    if size.is_nan() || size <= 0.0 {
        return None;
    }
    let mut has_child = vec![false; rig.len()];
    for &j in &bones {
        if let Some(parent) = rig.parents[j] {
            has_child[parent] = true;
        }
    }
    let leaves: Vec<usize> = bones.into_iter().filter(|j| !has_child[*j]).collect();
    let pairs = pairs(rig, &leaves, size);
    let legs = pairs
        .iter()
        .filter(|pair| pair.height - low <= LOWEST * size)
        .min_by(|a, b| a.height.total_cmp(&b.height))?;
    let arms = pairs
        .iter()
        .filter(|pair| pair.height - legs.height > HIGHER * size)
        .max_by(|a, b| a.width.total_cmp(&b.width))?;
    let hips = last_common(rig, legs.leaves)?;
    let chest = last_common(rig, arms.leaves)?;
    if chest != hips && !rig.is_below(chest, hips) {
        return None;
    }
    let mut spine: Vec<usize> = std::iter::once(chest).chain(rig.ancestors(chest)).collect();
    let until = spine.iter().position(|j| *j == hips)?;
    spine.truncate(until);
    spine.reverse();
    let mut roles = Roles {
        spine,
        found_by: FoundBy::Structure,
        ..Roles::default()
    };
    roles.joints.insert(Role::middle(Part::Hips), hips);
    let leg_chains = legs.leaves.map(|leaf| chain(rig, hips, leaf));
    let arm_chains = arms.leaves.map(|leaf| chain(rig, chest, leaf));
    let left_first = left_of(rig, &leg_chains)?;
    for (chains, parts, before) in [
        (
            leg_chains,
            [Part::Thigh, Part::Shin, Part::Foot, Part::Toe],
            None,
        ),
        (
            arm_chains,
            [Part::Upperarm, Part::Forearm, Part::Hand, Part::Hand],
            Some(Part::Clavicle),
        ),
    ] {
        for chain in chains {
            let first = *chain.first()?;
            let side = if side_of(rig, first, *chain.last()?, left_first) {
                Side::Left
            } else {
                Side::Right
            };
            let start = limb(rig, &chain)?;
            for (part, joint) in parts.into_iter().zip(&chain[start..]) {
                roles.joints.entry(Role::of(part, side)).or_insert(*joint);
            }
            if let (Some(part), Some(before)) = (before, start.checked_sub(1)) {
                roles.joints.insert(Role::of(part, side), chain[before]);
            }
        }
    }
    let used = |leaf: &usize| legs.leaves.contains(leaf) || arms.leaves.contains(leaf);
    let mut left: Vec<usize> = leaves.iter().copied().filter(|leaf| !used(leaf)).collect();
    left.retain(|leaf| *leaf == chest || rig.is_below(*leaf, chest));
    let head = left
        .into_iter()
        .max_by(|a, b| rig.places[*a].y.total_cmp(&rig.places[*b].y));
    if let Some(head) = head.filter(|head| *head != chest) {
        roles.joints.insert(Role::middle(Part::Head), head);
        let neck = rig.ancestors(head).take_while(|j| *j != chest).last();
        if let Some(neck) = neck {
            roles.joints.insert(Role::middle(Part::Neck), neck);
        }
    }
    Some(roles)
}

/// Pairs of leaves of one depth and height that are apart, each leaf with its best partner.
fn pairs(rig: &Rig, leaves: &[usize], size: f64) -> Vec<Pair> {
    let mut found: Vec<(f64, Pair)> = Vec::new();
    for (i, &a) in leaves.iter().enumerate() {
        for &b in &leaves[i + 1..] {
            let (p, q) = (rig.places[a], rig.places[b]);
            let off = (p.y - q.y).abs();
            let width = p.distance(q);
            if rig.depth(a) != rig.depth(b) || off > PAIR * size || width <= PAIR * size {
                continue;
            }
            let Some(common) = last_common(rig, [a, b]) else {
                continue;
            };
            // Mirror images are equally far from the joint between them.
            let middle = rig.places[common];
            let off = off + (p.distance(middle) - q.distance(middle)).abs();
            let pair = Pair {
                leaves: [a, b],
                height: (p.y + q.y) * 0.5,
                width,
            };
            found.push((off, pair));
        }
    }
    // Of equally good partners the farther one: a finger's partner is on the other hand.
    found.sort_by(|a, b| {
        let close = (a.0 - b.0).abs() <= 1e-3 * size;
        if close {
            b.1.width.total_cmp(&a.1.width)
        } else {
            a.0.total_cmp(&b.0)
        }
    });
    let mut taken = vec![false; rig.len()];
    let mut pairs = Vec::new();
    for (_, pair) in found {
        if pair.leaves.iter().all(|leaf| !taken[*leaf]) {
            pair.leaves.iter().for_each(|leaf| taken[*leaf] = true);
            pairs.push(pair);
        }
    }
    pairs
}

/// The lowest joint above both.
fn last_common(rig: &Rig, [a, b]: [usize; 2]) -> Option<usize> {
    rig.ancestors(a).find(|joint| rig.is_below(b, *joint))
}

/// The joints from below `top` to `leaf`.
fn chain(rig: &Rig, top: usize, leaf: usize) -> Vec<usize> {
    let above = rig.ancestors(leaf).take_while(|j| *j != top);
    let mut chain: Vec<usize> = std::iter::once(leaf).chain(above).collect();
    chain.reverse();
    chain
}

/// Where in a chain its limb begins: the two consecutive bones of the largest summed length.
fn limb(rig: &Rig, chain: &[usize]) -> Option<usize> {
    let length = |i: usize| rig.places[chain[i]].distance(rig.places[chain[i + 1]]);
    let n = chain.len().checked_sub(2)?;
    let mut best = (0, -1.0);
    for i in 0..n {
        let sum = length(i) + length(i + 1);
        if sum > best.1 {
            best = (i, sum);
        }
    }
    (n > 0).then_some(best.0)
}

/// The direction to the left: up x front, front = from ankles to toes.
fn left_of(rig: &Rig, chains: &[Vec<usize>; 2]) -> Option<DVec3> {
    let mut front = DVec3::ZERO;
    for chain in chains {
        let start = limb(rig, chain)?;
        let foot = *chain.get(start + 2)?;
        let toe = chain.get(start + 3).or(chain.last())?;
        front += rig.places[*toe] - rig.places[foot];
    }
    let left = DVec3::Y.cross(front).try_normalize();
    left.or(Some(DVec3::X))
}

/// Whether a chain is on the left of the middle.
fn side_of(rig: &Rig, first: usize, last: usize, left: DVec3) -> bool {
    let middle = rig.parents[first].map_or(DVec3::ZERO, |parent| rig.places[parent]);
    let off = |joint: usize| (rig.places[joint] - middle).dot(left);
    off(first) + off(last) > 0.0
}
