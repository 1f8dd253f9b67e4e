//! Antipodal flips: times at which a dual quaternion blend changes sides, so that the skin jumps.
//!
//! A blend takes every quaternion on the hemisphere of the heaviest joint's. When the relative rotation of two joints
//! passes 180 degrees, one of them changes hemisphere and the blend takes the longer arc (Kavan et al. 2008,
//! section 4.1). No smooth bake follows that; the file gets a keyframe on both sides.

use super::group::Group;
use super::key_times::MIN_KEY_INTERVAL;
use super::sampler::{Clips, Frame, FrameTime, SampleRequest, Sampler};
use crate::skeleton::JointId;
use crate::task::{Cancelled, Task};
use glam::DQuat;
use std::collections::BTreeSet;

/// Pairs whose lighter joint weighs less than this (of 1) are ignored: there the blended rotation jumps by less than four
/// times this, radians, which at a quarter of the diagonal from its axis is the default tolerance.
const MIN_PAIR_WEIGHT: f64 = 1e-3;
/// A flip is bisected to within this, seconds: a twentieth of the shortest distance of keyframes, so that both
/// keyframes lie on the right side.
const BISECTION_SECS: f64 = 1e-4;

/// An antipodal flip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Flip {
    pub(crate) clip: usize,
    /// Seconds; the middle of the two milliseconds between its keyframes.
    pub(crate) time: f64,
    pub(crate) joints: (JointId, JointId),
}

/// Two joints of a joint set that influence the same points.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Pair {
    joint_set: usize,
    slots: (u16, u16),
}

/// The rotations of both joints of each pair at one frame.
pub(crate) type PairRotations = Vec<(DQuat, DQuat)>;

/// The pairs of joints of a group that can flip.
pub(crate) fn pairs(sampler: &Sampler<'_>, group: &Group) -> Vec<Pair> {
    let mut found = BTreeSet::new();
    for part in &group.meshes {
        let joint_sets: BTreeSet<usize> = part
            .instances
            .iter()
            .map(|&d| sampler.instances[d].joint_set)
            .collect();
        for row in &part.weights {
            let heaviest = row.iter().reduce(|a, b| if b.1 > a.1 { b } else { a });
            let Some(&(first, _)) = heaviest else {
                continue;
            };
            let others = row
                .iter()
                .filter(|r| r.0 != first && r.1 >= MIN_PAIR_WEIGHT);
            for &(other, _) in others {
                let slots = (first.min(other), first.max(other));
                found.extend(
                    joint_sets
                        .iter()
                        .map(|&joint_set| Pair { joint_set, slots }),
                );
            }
        }
    }
    found.into_iter().collect()
}

/// The rotations of the pairs at a frame.
pub(crate) fn pair_rotations(pairs: &[Pair], frame: &Frame) -> PairRotations {
    let pairs = pairs.iter().map(|pair| {
        let motions = &frame.joint_sets[pair.joint_set].motions;
        let of = |slot: u16| {
            let motion = motions.get(usize::from(slot));
            motion.map_or(DQuat::IDENTITY, |motion| motion.rotation)
        };
        (of(pair.slots.0), of(pair.slots.1))
    });
    pairs.collect()
}

/// Whether a pair changes hemisphere between two frames, each joint taking the shorter rotation.
fn flips(from: (DQuat, DQuat), to: (DQuat, DQuat)) -> bool {
    let way = |a: DQuat, b: DQuat| if a.dot(b) < 0.0 { -b } else { b };
    let (first, second) = (way(from.0, to.0), way(from.1, to.1));
    from.0.dot(from.1) * first.dot(second) < 0.0
}

/// The flips between consecutive frames of one clip, bisected; `observed`: the rotations at `times`.
pub(crate) fn find(
    sampler: &Sampler<'_>,
    clips: &Clips<'_>,
    chosen: &[usize],
    pairs: &[Pair],
    times: &[FrameTime],
    seen: &[PairRotations],
    task: &Task,
) -> Result<Vec<Flip>, Cancelled> {
    let mut open: Vec<Open> = Vec::new();
    for ((a, b), pair) in seen.iter().zip(seen.iter().skip(1)).zip(times.windows(2)) {
        let (Some(clip), true) = (pair[0].clip, pair[0].clip == pair[1].clip) else {
            continue;
        };
        for (i, (&from, &to)) in a.iter().zip(b).enumerate() {
            if flips(from, to) {
                open.push(Open {
                    clip,
                    pair: i,
                    start: pair[0].secs,
                    end: pair[1].secs,
                    from,
                });
            }
        }
    }
    while open.iter().any(Open::is_wide) {
        let middles = open.iter().map(|open| FrameTime {
            clip: Some(open.clip),
            secs: 0.5 * (open.start + open.end),
        });
        let middles: Vec<FrameTime> = middles.collect();
        let look = |_: usize, frame: Frame| pair_rotations(pairs, &frame);
        let found = sampler.sample(clips, &middles, SampleRequest::own(chosen), task, look)?;
        for ((open, middle), found) in open.iter_mut().zip(&middles).zip(found) {
            let at = found[open.pair];
            if flips(open.from, at) {
                open.end = middle.secs;
            } else {
                (open.start, open.from) = (middle.secs, at);
            }
        }
    }
    let found = open.iter().map(|open| {
        let pair = pairs[open.pair];
        let joint = |slot: u16| sampler.joint_sets[pair.joint_set].joints[usize::from(slot)];
        Flip {
            clip: open.clip,
            time: 0.5 * (open.start + open.end),
            joints: (joint(pair.slots.0), joint(pair.slots.1)),
        }
    });
    let mut found: Vec<Flip> = found.collect();
    found.sort_by(|a, b| {
        (a.clip, a.time)
            .partial_cmp(&(b.clip, b.time))
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    found.dedup_by(|a, b| a.clip == b.clip && (a.time - b.time).abs() < MIN_KEY_INTERVAL);
    Ok(found)
}

impl Open {
    /// Whether it is to be bisected further, and f64 has a time in between.
    fn is_wide(&self) -> bool {
        let middle = 0.5 * (self.start + self.end);
        self.end - self.start > BISECTION_SECS && middle > self.start && middle < self.end
    }
}

/// A bracketed flip.
struct Open {
    clip: usize,
    pair: usize,
    start: f64,
    end: f64,
    /// The rotations at `start`.
    from: (DQuat, DQuat),
}

/// Inserts a keyframe on both sides of a flip; other keyframes closer than [`MIN_KEY_INTERVAL`] are removed, except
/// the first and the last.
pub(crate) fn key_both_sides(keys: &mut Vec<f32>, time: f64) {
    let (Some(&start), Some(&end)) = (keys.first(), keys.last()) else {
        return;
    };
    let half = 0.5 * MIN_KEY_INTERVAL;
    let sides = [(time - half) as f32, (time + half) as f32];
    let room = |t: f32, other: f32| f64::from((t - other).abs()) >= 0.95 * MIN_KEY_INTERVAL;
    if sides[0] <= start || sides[1] >= end {
        return;
    }
    keys.retain(|&t| t == start || t == end || sides.iter().all(|&side| room(t, side)));
    for side in sides {
        let at = keys.partition_point(|&t| t < side);
        let free = |i: Option<usize>| {
            let other = i.and_then(|i| keys.get(i));
            other.is_none_or(|&other| sides.contains(&other) || room(side, other))
        };
        if free(at.checked_sub(1)) && free(Some(at)) {
            keys.insert(at, side);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turning_past_the_far_side_flips() {
        let at = |degrees: f64| {
            (
                DQuat::IDENTITY,
                DQuat::from_rotation_z(degrees.to_radians()),
            )
        };
        assert!(!flips(at(160.0), at(175.0)));
        assert!(flips(at(175.0), at(185.0)));
        // A quaternion and its negative are the same rotation.
        let (a, b) = at(185.0);
        assert!(flips(at(175.0), (-a, b)) && flips(at(175.0), (a, -b)));
        assert!(!flips(at(185.0), (a, -b)));
    }

    #[test]
    fn keys_make_room_for_a_jump() {
        let mut keys = vec![0.0, 0.4995, 1.0];
        key_both_sides(&mut keys, 0.5);
        assert_eq!(keys.len(), 4, "{keys:?}");
        assert!((keys[1] - 0.499).abs() < 1e-6 && (keys[2] - 0.501).abs() < 1e-6);
        key_both_sides(&mut keys, 0.0005);
        assert_eq!(keys.len(), 4);
    }
}
