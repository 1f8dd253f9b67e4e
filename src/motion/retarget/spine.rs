//! Spines of different numbers of bones.

use super::Mapping;
use crate::motion::rig::Rig;
use crate::motion::roles::Part;
use glam::DQuat;

/// For a joint of the target's spine: the two joints of the source's between which it lies, and how far from the first to the
/// second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SpineJoint {
    pub(super) target: usize,
    pub(super) between: [usize; 2],
    pub(super) share: f64,
}

/// The target's spine along the source's, by the share of the length from the hips (0) to the last joint (1).
pub(super) fn spine(source: &Rig, target: &Rig, mapping: &Mapping) -> Vec<SpineJoint> {
    let Some(hips) = mapping.middle(Part::Hips) else {
        return Vec::new();
    };
    let chain = |of: usize| -> Vec<usize> {
        std::iter::once(hips[of])
            .chain(mapping.spine[of].iter().copied())
            .collect()
    };
    let (ours, theirs) = (chain(0), chain(1));
    let (at, wanted) = (shares(source, &ours), shares(target, &theirs));
    if ours.len() < 2 {
        return Vec::new();
    }
    let joints = theirs.iter().zip(wanted).skip(1);
    joints
        .map(|(&target, u)| between(&ours, &at, target, u))
        .collect()
}

/// Where a joint at share `u` of its chain lies on another chain. at: the shares of that one's joints, of which there is at least
/// one.
pub(super) fn between(ours: &[usize], at: &[f64], target: usize, u: f64) -> SpineJoint {
    let last = ours.len() - 1;
    let after = at
        .partition_point(|share| *share < u)
        .clamp(last.min(1), last);
    let before = after.saturating_sub(1);
    let (low, high) = (at[before], at[after]);
    let share = if high > low {
        (u - low) / (high - low)
    } else {
        1.0
    };
    SpineJoint {
        target,
        between: [ours[before], ours[after]],
        share: share.clamp(0.0, 1.0),
    }
}

/// How far along a chain each joint is, 0 - 1; evenly spaced where it has no length.
pub(super) fn shares(rig: &Rig, chain: &[usize]) -> Vec<f64> {
    let mut sums = vec![0.0];
    for pair in chain.windows(2) {
        let length = rig.places[pair[0]].distance(rig.places[pair[1]]);
        sums.push(sums[sums.len() - 1] + length);
    }
    let total = sums[sums.len() - 1];
    let last = (chain.len().max(2) - 1) as f64;
    let even = |i: usize| i as f64 / last;
    let mut shares: Vec<f64> = if total > 0.0 {
        sums.iter().map(|sum| sum / total).collect()
    } else {
        (0..chain.len()).map(even).collect()
    };
    if let Some(last) = shares.last_mut().filter(|_| chain.len() > 1) {
        *last = 1.0;
    }
    shares
}

/// The rotation at `share` on the shorter arc from one to another.
pub(super) fn blend(from: DQuat, to: DQuat, share: f64) -> DQuat {
    use crate::motion::signal::Signal;
    DQuat::mix(from, to, share)
}
