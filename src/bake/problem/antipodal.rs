//! Jumps: discontinuities of dual quaternion skinning in a continuous motion. A smooth track cannot reproduce one; the file gets
//! a keyframe on both sides.
//!
//! - A blend takes every quaternion on the hemisphere of the heaviest joint's. When the relative rotation of two joints
//!   passes 180 degrees, one of them changes hemisphere and the blend takes the longer arc (Kavan et al. 2008, section
//!   4.1).
//! - A joint whose scale passes through 0 is flat for a moment and mirrored afterwards. The polar decomposition keeps the
//!   reflection along x ([`crate::math::polar()`]), so the rotation of a joint that is flat along v turns by the product
//!   of the reflections along v and x: by twice the angle between them.

use super::group::Group;
use super::key_times::{JUMP_SECS, is_jump};
use super::sampler::{Clips, Frame, FrameTime, SampleRequest, Sampler};
use crate::math::polar::handedness;
use crate::skeleton::JointId;
use crate::task::{Cancelled, Task};
use glam::DQuat;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// Pairs whose lighter joint weighs less than this (of 1) are ignored: there the blended rotation jumps by less than four
/// times this, radians, which at a quarter of the diagonal from its axis is the default tolerance.
const MIN_PAIR_WEIGHT: f64 = 1e-3;
/// The least jump of a relative rotation, radians, for the same reason.
const MIN_JUMP: f64 = 4.0 * MIN_PAIR_WEIGHT;
/// A flip is bisected to within this, seconds: a twentieth of the distance of its keyframes, so that both lie on the right
/// side.
const BISECTION_SECS: f64 = JUMP_SECS / 20.0;
/// The same for a flat joint: a rotation by more than [`MIN_JUMP`] within this time is a jump.
const FLAT_BISECTION_SECS: f64 = 1e-6;
/// Quaternions with a smaller dot product are 180 degrees apart up to the rounding of f64: they are in no hemisphere.
const NO_SIDE: f64 = 1e-9;
/// The cosine of half the rotation of a joint between two frames, 90 degrees, above which they are searched for a jump:
/// where a joint is flat in two directions at once, it does not mirror afterwards.
const FAR_TURN: f64 = std::f64::consts::FRAC_1_SQRT_2;

/// A jump of the skin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Flip {
    pub(crate) clip: usize,
    /// Seconds; the middle between its keyframes.
    pub(crate) time: f64,
    /// The two joints whose relative rotation jumps; a flat one comes first.
    pub(crate) joints: (JointId, JointId),
    pub(crate) cause: JumpCause,
}

/// Why the skin jumps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum JumpCause {
    /// The scale of a joint passes through 0, where its rotation jumps.
    Flat,
    /// The relative rotation of two joints passes 180 degrees.
    Antipodal,
}

/// Two joints of a joint set that influence the same points.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Pair {
    joint_set: usize,
    slots: (u16, u16),
}

/// The motions of both joints of a pair at one frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PairMotion {
    rotations: (DQuat, DQuat),
    /// Whether their stretches, and their matrices in a player, mirror.
    signs: [[Ordering; 2]; 2],
}

/// Those of each pair.
pub(crate) type PairMotions = Vec<PairMotion>;

/// The pairs of joints of a group whose relative rotation can jump.
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

/// The motions of the pairs at a frame.
pub(crate) fn pair_motions(pairs: &[Pair], frame: &Frame) -> PairMotions {
    let pairs = pairs.iter().map(|pair| {
        let joint_set = &frame.joint_sets[pair.joint_set];
        let rotation = |slot: u16| {
            let motion = joint_set.motions.get(usize::from(slot));
            motion.map_or(DQuat::IDENTITY, |motion| motion.rotation)
        };
        let signs = |slot: u16| {
            let slot = usize::from(slot);
            let stretch = joint_set.motions.get(slot).map(|motion| motion.stretch);
            let matrix = joint_set.matrices.get(slot).map(|matrix| matrix.matrix3);
            // A stack that drops the stretch of joints has their rotations all the same.
            [stretch, matrix].map(|m| m.map_or(Ordering::Equal, handedness))
        };
        PairMotion {
            rotations: (rotation(pair.slots.0), rotation(pair.slots.1)),
            signs: [signs(pair.slots.0), signs(pair.slots.1)],
        }
    });
    pairs.collect()
}

impl Flip {
    /// The times of its keyframes. Far from 0, f32 times are so coarse that the nearest ones on both sides are farther apart.
    pub(crate) fn sides(&self) -> [f32; 2] {
        let half = 0.5 * JUMP_SECS;
        let [mut before, mut after] = [self.time - half, self.time + half].map(|t| t as f32);
        if f64::from(before) >= self.time {
            before = before.next_down();
        }
        if f64::from(after) <= self.time {
            after = after.next_up();
        }
        [before, after]
    }
}

impl PairMotion {
    /// The same rotations, each quaternion on the hemisphere of that in `other`.
    fn along(self, other: &Self) -> Self {
        let way = |a: DQuat, b: DQuat| if a.dot(b) < 0.0 { -b } else { b };
        let (first, second) = (other.rotations, self.rotations);
        Self {
            rotations: (way(first.0, second.0), way(first.1, second.1)),
            ..self
        }
    }

    /// Whether the quaternions of both joints are in one hemisphere; `None`: they are 180 degrees apart.
    fn side(&self) -> Option<bool> {
        let dot = self.rotations.0.dot(self.rotations.1);
        (dot.abs() > NO_SIDE).then_some(dot > 0.0)
    }

    /// Whether the pair changes hemisphere up to `to`, each joint taking the shorter rotation.
    fn flips(&self, to: &Self) -> bool {
        let (before, after) = (self.side(), to.along(self).side());
        before.is_some() && after.is_some() && before != after
    }

    /// The cosine of half the rotation up to `to`, of both joints.
    fn turns(&self, to: &Self) -> [f64; 2] {
        let (a, b) = (self.rotations, to.rotations);
        [a.0.dot(b.0).abs(), a.1.dot(b.1).abs()]
    }

    /// Whether a joint may pass through a flat state up to `to`.
    fn is_flat_before(&self, to: &Self) -> bool {
        self.signs != to.signs || self.turns(to).iter().any(|turn| *turn < FAR_TURN)
    }

    /// The angle between the relative rotations of the joints here and at `to`, radians.
    fn relative_turn(&self, to: &Self) -> f64 {
        let relative = |of: &Self| of.rotations.0.conjugate() * of.rotations.1;
        let cos = relative(self).dot(relative(to)).abs();
        2.0 * cos.min(1.0).acos()
    }

    /// Whether the relative rotation jumps up to `to`, a moment later.
    fn jumps(&self, to: &Self) -> bool {
        self.relative_turn(to) > MIN_JUMP
    }

    /// The joint that is flat before `to`: 0 or 1.
    fn flat_one(&self, to: &Self) -> usize {
        let changes = |i: usize| self.signs[i] != to.signs[i];
        let turns = self.turns(to);
        usize::from(!changes(0) && (changes(1) || turns[1] < turns[0]))
    }
}

/// The jumps between consecutive frames of one clip, bisected; `seen`: the motions at `times`.
pub(crate) fn find(
    sampler: &Sampler<'_>,
    clips: &Clips<'_>,
    chosen: &[usize],
    pairs: &[Pair],
    times: &[FrameTime],
    seen: &[PairMotions],
    task: &Task,
) -> Result<Vec<Flip>, Cancelled> {
    let mut open: Vec<Open> = Vec::new();
    for i in 0..pairs.len() {
        let of_pair = times.iter().zip(seen).map(|(&time, seen)| (time, seen[i]));
        open.extend(brackets(i, of_pair));
    }
    while open.iter().any(Open::is_wide) {
        // Several pairs mostly jump at the same times.
        let middles: BTreeMap<(usize, u64), FrameTime> = open.iter().map(Open::middle).collect();
        let moments: Vec<FrameTime> = middles.values().copied().collect();
        let look = |_: usize, frame: Frame| pair_motions(pairs, &frame);
        let found = sampler.sample(clips, &moments, SampleRequest::own(chosen), task, look)?;
        let found: BTreeMap<(usize, u64), PairMotions> = middles.into_keys().zip(found).collect();
        for open in &mut open {
            let (place, middle) = open.middle();
            open.narrow(middle.secs, found[&place][open.pair]);
        }
    }
    open.retain(|open| open.cause == JumpCause::Antipodal || open.from.jumps(&open.to));
    let found = open.iter().map(|open| {
        let pair = pairs[open.pair];
        let joint = |slot: u16| sampler.joint_sets[pair.joint_set].joints[usize::from(slot)];
        let joints = (joint(pair.slots.0), joint(pair.slots.1));
        let is_second = open.cause == JumpCause::Flat && open.from.flat_one(&open.to) == 1;
        Flip {
            clip: open.clip,
            time: 0.5 * (open.start + open.end),
            joints: if is_second {
                (joints.1, joints.0)
            } else {
                joints
            },
            cause: open.cause,
        }
    });
    Ok(distinct(found.collect()))
}

/// The intervals of one pair in which it may jump, from its motions at ascending times of one clip after another.
fn brackets(pair: usize, motions: impl Iterator<Item = (FrameTime, PairMotion)>) -> Vec<Open> {
    let mut open = Vec::new();
    let mut before: Option<(FrameTime, PairMotion)> = None;
    // The last frame at which the pair was on a side: at exactly 180 degrees it is on none.
    let mut sided: Option<(FrameTime, PairMotion)> = None;
    for (time, motion) in motions {
        let same = |other: &(FrameTime, PairMotion)| other.0.clip == time.clip;
        (before, sided) = (before.filter(same), sided.filter(same));
        let Some(clip) = time.clip else {
            continue;
        };
        let mut bracket = |cause, (from, motion): (FrameTime, PairMotion), to| {
            // Keyframes this close are a jump of the clip itself, as at a step.
            if !is_jump(from.secs, time.secs) {
                open.push(Open {
                    clip,
                    pair,
                    cause,
                    start: from.secs,
                    end: time.secs,
                    from: motion,
                    to,
                });
            }
        };
        let motion = before.map_or(motion, |(_, before)| motion.along(&before));
        if let Some(before) = before
            && before.1.is_flat_before(&motion)
        {
            bracket(JumpCause::Flat, before, motion);
        }
        if let Some(sided) = sided
            && sided
                .1
                .side()
                .zip(motion.side())
                .is_some_and(|(a, b)| a != b)
        {
            bracket(JumpCause::Antipodal, sided, motion);
        }
        before = Some((time, motion));
        sided = motion.side().map_or(sided, |_| before);
    }
    open
}

/// Jumps in order, one of those that share their keyframes: a flat joint also changes sides.
fn distinct(mut found: Vec<Flip>) -> Vec<Flip> {
    let ascending = |a: &Flip, b: &Flip| a.clip.cmp(&b.clip).then(a.time.total_cmp(&b.time));
    found.sort_by(ascending);
    let mut distinct: Vec<Flip> = Vec::new();
    for flip in found {
        match distinct.last_mut() {
            Some(last) if last.clip == flip.clip && flip.time - last.time < JUMP_SECS => {
                if flip.cause < last.cause {
                    *last = flip;
                }
            }
            _ => distinct.push(flip),
        }
    }
    distinct
}

impl Open {
    /// Whether it is to be bisected further, and f64 has a time in between.
    fn is_wide(&self) -> bool {
        let least = match self.cause {
            JumpCause::Flat => FLAT_BISECTION_SECS,
            JumpCause::Antipodal => BISECTION_SECS,
        };
        let middle = 0.5 * (self.start + self.end);
        self.end - self.start > least && middle > self.start && middle < self.end
    }

    /// Its middle, and the place of that among the middles of others.
    fn middle(&self) -> ((usize, u64), FrameTime) {
        let secs = 0.5 * (self.start + self.end);
        let clip = Some(self.clip);
        ((self.clip, secs.to_bits()), FrameTime { clip, secs })
    }

    /// Keeps the half that jumps; `at`: the motions in the middle.
    fn narrow(&mut self, middle: f64, at: PairMotion) {
        let is_first_half = match self.cause {
            JumpCause::Antipodal => self.from.flips(&at),
            JumpCause::Flat => {
                let (from, to) = (&self.from, &self.to);
                // Exactly flat, it still has the rotation of one side, or that of neither.
                let is_known = from.signs != to.signs && [from.signs, to.signs].contains(&at.signs);
                if is_known {
                    at.signs == to.signs
                } else {
                    from.relative_turn(&at) > at.relative_turn(to)
                }
            }
        };
        if is_first_half {
            (self.end, self.to) = (middle, at);
        } else {
            (self.start, self.from) = (middle, at);
        }
    }
}

/// A bracketed jump.
struct Open {
    clip: usize,
    pair: usize,
    cause: JumpCause,
    start: f64,
    end: f64,
    /// The motions at `start` and at `end`.
    from: PairMotion,
    to: PairMotion,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turned(degrees: f64) -> PairMotion {
        PairMotion {
            rotations: (
                DQuat::IDENTITY,
                DQuat::from_rotation_z(degrees.to_radians()),
            ),
            signs: [[Ordering::Greater; 2]; 2],
        }
    }

    fn found(motions: &[PairMotion]) -> Vec<(JumpCause, f64, f64)> {
        let at = |(i, motion): (usize, &PairMotion)| {
            let time = FrameTime {
                clip: Some(0),
                secs: i as f64,
            };
            (time, *motion)
        };
        let open = brackets(0, motions.iter().enumerate().map(at));
        open.iter().map(|o| (o.cause, o.start, o.end)).collect()
    }

    #[test]
    fn turning_past_the_far_side_flips() {
        assert!(!turned(160.0).flips(&turned(175.0)));
        assert!(turned(175.0).flips(&turned(185.0)));
        // A quaternion and its negative are the same rotation.
        let minus = |degrees: f64| {
            let (a, b) = turned(degrees).rotations;
            PairMotion {
                rotations: (-a, b),
                ..turned(degrees)
            }
        };
        assert!(turned(175.0).flips(&minus(185.0)));
        assert!(!turned(185.0).flips(&minus(185.0)));
    }

    #[test]
    fn a_keyframe_at_the_far_side_hides_no_flip() {
        let past = [turned(170.0), turned(180.0), turned(190.0)];
        assert_eq!(found(&past), [(JumpCause::Antipodal, 0.0, 2.0)]);
        // It turns back.
        assert!(found(&[turned(170.0), turned(180.0), turned(170.0)]).is_empty());
    }

    #[test]
    fn a_joint_is_flat_where_it_starts_to_mirror() {
        let mirrored = PairMotion {
            signs: [[Ordering::Greater; 2], [Ordering::Less; 2]],
            ..turned(180.0)
        };
        let motions = [turned(0.0), mirrored, mirrored, turned(1.0)];
        let flat = |from, to| (JumpCause::Flat, from, to);
        assert_eq!(found(&motions), [flat(0.0, 1.0), flat(2.0, 3.0)]);
        assert_eq!(motions[0].flat_one(&mirrored), 1);
        // Flat in two directions at once: it turns, but does not mirror.
        assert_eq!(found(&[turned(0.0), turned(180.0)]), [flat(0.0, 1.0)]);
        // Two poses in the time of a jump are no motion.
        let at = |secs: f64| FrameTime {
            clip: Some(0),
            secs,
        };
        let apart = [(at(1.0), turned(0.0)), (at(1.002), turned(180.0))];
        assert!(brackets(0, apart.into_iter()).is_empty());
        // A joint that mirrors along x does not jump.
        let along_x = PairMotion {
            rotations: turned(0.0).rotations,
            ..mirrored
        };
        assert!(!turned(0.0).jumps(&along_x) && turned(0.0).jumps(&mirrored));
    }

    #[test]
    fn the_side_on_which_a_flat_joint_jumps_is_found() {
        let signs = |second| [[Ordering::Greater; 2], [second; 2]];
        let flat = PairMotion {
            signs: signs(Ordering::Equal),
            ..turned(1.0)
        };
        let mirrored = PairMotion {
            signs: signs(Ordering::Less),
            ..turned(181.0)
        };
        let mut open = Open {
            clip: 0,
            pair: 0,
            cause: JumpCause::Flat,
            start: 0.0,
            end: 1.0,
            from: turned(0.0),
            to: mirrored,
        };
        open.narrow(0.5, flat);
        open.narrow(0.75, mirrored);
        open.narrow(0.625, flat);
        assert_eq!((open.start, open.end), (0.625, 0.75));
        assert!(open.from.jumps(&open.to));
    }

    #[test]
    fn keyframes_are_on_both_sides_of_a_late_jump() {
        for time in [0.5, 3000.0001, 5000.0, 5000.0001, 20_000.001] {
            let flip = Flip {
                clip: 0,
                time,
                joints: (JointId(0), JointId(1)),
                cause: JumpCause::Antipodal,
            };
            let [before, after] = flip.sides().map(f64::from);
            assert!(before < time && after > time && after - before < 0.004);
        }
    }

    #[test]
    fn jumps_that_share_keyframes_are_one() {
        let flip = |time: f64, cause: JumpCause| Flip {
            clip: 0,
            time,
            joints: (JointId(0), JointId(1)),
            cause,
        };
        let flat = flip(0.5, JumpCause::Flat);
        let later = flip(0.7, JumpCause::Antipodal);
        let all = vec![later, flip(0.4999, JumpCause::Antipodal), flat];
        assert_eq!(distinct(all), [flat, later]);
    }
}
