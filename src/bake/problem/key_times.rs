//! Times of the keyframes of baked tracks.

use crate::math::Worse;
use crate::skeleton::{Channel, Clip, Interpolation, Pose, Property};
use glam::DQuat;
use std::collections::{BTreeSet, VecDeque};

/// The shortest interval between keyframes but for those of a jump, seconds: shorter than any displayed frame.
pub(crate) const MIN_KEY_INTERVAL: f64 = 0.002;
/// The interval between the keyframes on both sides of a jump, seconds: within the first four minutes of a clip, f32 times are
/// closer than a tenth of it.
pub(crate) const JUMP_SECS: f64 = 2.5e-4;

/// Whether the interval between two keyframes is so short that it counts as a jump; sources also store jumps so.
pub(crate) fn is_jump(from: f64, to: f64) -> bool {
    to - from < 1.3 * MIN_KEY_INTERVAL
}

/// Whether the keyframe `at` is one side of a jump of baked tracks.
pub(crate) fn is_side(before: f64, at: f64, after: f64) -> bool {
    let is_short = |from: f64, to: f64| to - from < 1.3 * JUMP_SECS;
    is_short(before, at) != is_short(at, after)
}

/// The largest rotation of a joint between two initial keyframes, degrees: the chord of a 12 degree arc lies 0.55 % of
/// the radius off it. Playback subdivides where that is not enough.
const MAX_KEY_ROTATION: f64 = 12.0;

/// How far the weight of a morph target may be off its spline between keyframes.
const MAX_WEIGHT_OFF: f64 = 5e-4;
/// The largest number of lines for one segment of a spline.
const MOST_PARTS: f64 = 64.0;
/// The number of intervals at whose ends a segment of a spline is compared with a line.
const SPLINE_SAMPLES: u32 = 8;

/// The keyframe times of all channels of `chosen` joints in `clip`, with more in between where a joint rotates far.
/// Ascending, f32 values, at least [`MIN_KEY_INTERVAL`] apart; empty for a clip without such channels.
///
/// `rest`: the pose of joints without channels.
pub(crate) fn key_times(clip: &Clip, rest: &Pose, chosen: &BTreeSet<u32>) -> Vec<f32> {
    let mut times: Vec<f32> = Vec::new();
    for channel in &clip.channels {
        if !chosen.contains(&channel.joint.0) {
            continue;
        }
        times.extend_from_slice(&channel.times);
        match channel.property {
            Property::MorphWeights => times.extend(within_splines(channel)),
            Property::Rotation => times.extend(fast_in_splines(channel)),
            _ => {}
        }
        if channel.interpolation == Interpolation::Step {
            // The last frame before each step.
            let before = channel.times.iter().skip(1);
            times.extend(before.map(|t| t - MIN_KEY_INTERVAL as f32));
        }
    }
    let Some((start, end)) = ends(&times) else {
        return Vec::new();
    };
    // Players start at the first keyframe that is not negative.
    times.retain(|t| t.is_finite() && *t >= start);
    times.sort_by(f32::total_cmp);
    let times = apart(&times, end);
    let mut dense = Vec::with_capacity(times.len());
    let mut pose = rest.clone();
    for pair in times.windows(2) {
        let (from, to) = (f64::from(pair[0]), f64::from(pair[1]));
        let most = (to - from) / MIN_KEY_INTERVAL;
        let rotation = max_rotation(clip, &mut pose, chosen, from, to);
        let parts = (rotation / MAX_KEY_ROTATION.to_radians())
            .ceil()
            .clamp(1.0, most.max(1.0));
        dense.extend((0..parts as usize).map(|i| (from + (to - from) * i as f64 / parts) as f32));
    }
    dense.extend(times.last());
    apart(&dense, end)
}

/// Times between the keyframes of a spline of morph weights at which lines through its values follow it: baked tracks hold
/// the source's weights, too, and are linear.
fn within_splines(channel: &Channel) -> Vec<f32> {
    let mut times = Vec::new();
    if channel.interpolation != Interpolation::CubicSpline {
        return times;
    }
    let width = channel.width();
    let at = |secs: f64| {
        let mut weights = vec![0.0; width];
        channel.sample(secs, &mut weights);
        weights
    };
    for pair in channel.times.windows(2) {
        let (from, to) = (f64::from(pair[0]), f64::from(pair[1]));
        let (first, last) = (at(from), at(to));
        let mut off = 0.0f64;
        for share in (1..SPLINE_SAMPLES).map(|i| f64::from(i) / f64::from(SPLINE_SAMPLES)) {
            let spline = at(from + share * (to - from));
            let lines = first.iter().zip(&last).map(|(a, b)| a + (b - a) * share);
            let apart = spline.iter().zip(lines).map(|(a, b)| (a - b).abs());
            off = apart.fold(off, f64::worse);
        }
        // Half as long lines are a quarter as far off.
        let parts = (off / MAX_WEIGHT_OFF).sqrt().ceil().clamp(1.0, MOST_PARTS);
        let inner = 1..parts as u32;
        times.extend(inner.map(|i| (from + (to - from) * f64::from(i) / parts) as f32));
    }
    times
}

/// Times within the segments of a spline of quaternions between which it rotates by no more than [`MAX_KEY_ROTATION`]. A
/// spline that passes close to 0, as from a quaternion to its negative, makes most of its rotation within milliseconds.
fn fast_in_splines(channel: &Channel) -> Vec<f32> {
    let mut times = Vec::new();
    if channel.interpolation != Interpolation::CubicSpline {
        return times;
    }
    let at = |secs: f64| {
        let mut values = [0.0; 4];
        channel.sample(secs, &mut values);
        DQuat::from_array(values)
    };
    let slowest = (0.5 * MAX_KEY_ROTATION.to_radians()).cos();
    let is_slow = |from: DQuat, to: DQuat| from.dot(to).abs() >= slowest;
    for pair in channel.times.windows(2) {
        let (start, end) = (f64::from(pair[0]), f64::from(pair[1]));
        let even = |i: u32| start + (end - start) * f64::from(i) / f64::from(SPLINE_SAMPLES);
        let mut open: VecDeque<(f64, f64)> = (0..SPLINE_SAMPLES)
            .map(|i| (even(i), even(i + 1)))
            .collect();
        let mut room = MOST_PARTS as usize;
        while let Some((from, to)) = open.pop_front().filter(|_| room > 0) {
            let middle = 0.5 * (from + to);
            let [first, half, last] = [from, middle, to].map(at);
            // Frames that are as close as those of a jump are not searched for one.
            let is_wide = !is_jump(from, middle);
            if is_wide && !(is_slow(first, half) && is_slow(half, last)) {
                times.push(middle as f32);
                open.extend([(from, middle), (middle, to)]);
                room -= 1;
            }
        }
    }
    times
}

/// Ascending keyframe times with more of them, seconds, at least [`MIN_KEY_INTERVAL`] apart.
pub(crate) fn with_times(mut times: Vec<f32>, more: &[f32]) -> Vec<f32> {
    if more.is_empty() {
        return times;
    }
    times.extend(more.iter().filter(|t| t.is_finite()));
    times.sort_by(f32::total_cmp);
    let end = times.last().copied().unwrap_or(0.0);
    apart(&times, end)
}

/// The times before and after each step of the `chosen` joints that changes a value.
pub(crate) fn step_jumps(clip: &Clip, chosen: &BTreeSet<u32>) -> Vec<[f32; 2]> {
    let channels = clip.channels.iter().filter(|channel| {
        channel.interpolation == Interpolation::Step && chosen.contains(&channel.joint.0)
    });
    let steps = channels.flat_map(|channel| {
        let width = channel.width().max(1);
        let values = channel
            .values
            .chunks(width)
            .zip(channel.values.chunks(width).skip(1));
        let steps = channel.times.iter().skip(1).zip(values);
        steps
            .filter(|(step, (from, to))| step.is_finite() && from != to)
            .map(|(step, _)| *step)
    });
    let before = |step: f32| ((f64::from(step) - JUMP_SECS) as f32).min(step.next_down());
    steps.map(|step| [before(step), step]).collect()
}

/// Inserts a keyframe on both sides of each jump. Other keyframes closer than [`MIN_KEY_INTERVAL`] to them are removed, except
/// the first and the last. Jumps that overlap are joined.
pub(crate) fn key_jumps(keys: &mut Vec<f32>, mut jumps: Vec<[f32; 2]>) {
    let (Some(&start), Some(&end)) = (keys.first(), keys.last()) else {
        return;
    };
    for jump in &mut jumps {
        *jump = [jump[0].max(start), jump[1].min(end)];
    }
    jumps.retain(|jump| jump[0] < jump[1]);
    jumps.sort_by(|a, b| a[0].total_cmp(&b[0]));
    let mut sides: Vec<f32> = Vec::with_capacity(2 * jumps.len());
    for jump in jumps {
        match sides.last_mut() {
            Some(last) if jump[0] <= *last => *last = last.max(jump[1]),
            _ => sides.extend(jump),
        }
    }
    let has_room = |t: f32| {
        let at = sides.partition_point(|&side| side < t);
        let around = [at.checked_sub(1), Some(at)].map(|i| sides.get(i?));
        let mut gaps = around.into_iter().flatten().map(|side| (t - side).abs());
        gaps.all(|gap| f64::from(gap) >= 0.95 * MIN_KEY_INTERVAL)
    };
    keys.retain(|&t| t == start || t == end || has_room(t));
    keys.extend(sides);
    keys.sort_by(f32::total_cmp);
    keys.dedup();
}

/// The times at which a clip jumps from value to value, where every channel that moves a `chosen` joint is STEP:
/// ascending, with the first and the last keyframe. Tracks with these keyframes play it exactly, if they are STEP, too.
/// `None` for a clip that moves in between, or not at all.
pub(crate) fn step_times(clip: &Clip, chosen: &BTreeSet<u32>) -> Option<Vec<f32>> {
    let channels = || clip.channels.iter().filter(|c| chosen.contains(&c.joint.0));
    let mut moving = channels()
        .filter(|channel| !is_constant(channel))
        .peekable();
    moving.peek()?;
    if !moving.all(|channel| channel.interpolation == Interpolation::Step) {
        return None;
    }
    let times = channels().flat_map(|channel| channel.times.iter().copied());
    let mut times: Vec<f32> = times.filter(|t| t.is_finite()).collect();
    times.sort_by(f32::total_cmp);
    times.dedup();
    Some(times)
}

/// Whether a channel has one value at all times.
fn is_constant(channel: &Channel) -> bool {
    let mut values = channel.values.chunks(channel.width().max(1));
    let first = values.next().unwrap_or_default();
    channel.times.len() <= 1
        || channel.interpolation != Interpolation::CubicSpline && values.all(|value| value == first)
}

/// The first and the last finite time.
fn ends(times: &[f32]) -> Option<(f32, f32)> {
    let finite = || times.iter().copied().filter(|t| t.is_finite());
    Some((finite().reduce(f32::min)?, finite().reduce(f32::max)?))
}

/// Removes ascending times closer than [`MIN_KEY_INTERVAL`] (5 % of rounding allowed); the first and the last stay.
fn apart(times: &[f32], end: f32) -> Vec<f32> {
    let mut kept: Vec<f32> = Vec::with_capacity(times.len());
    for &time in times {
        let far = |last: &f32| f64::from(time) - f64::from(*last) >= 0.95 * MIN_KEY_INTERVAL;
        if kept.last().is_none_or(far) {
            kept.push(time);
        }
    }
    if let Some(last) = kept.last_mut()
        && *last < end
    {
        if kept.len() > 1 {
            kept.pop();
        }
        kept.push(end);
    }
    kept
}

/// The largest rotation of a joint between two times, radians, summed over four steps. One that is not a number counts as
/// none: no keyframe mends it, and the comparison of the played clip fails.
fn max_rotation(clip: &Clip, pose: &mut Pose, chosen: &BTreeSet<u32>, from: f64, to: f64) -> f64 {
    let rotates = clip
        .channels
        .iter()
        .any(|c| c.property == Property::Rotation);
    if !rotates {
        return 0.0;
    }
    let mut angles = vec![0.0f64; pose.locals.len()];
    let mut before: Vec<DQuat> = Vec::new();
    for step in 0..=4 {
        clip.apply(from + (to - from) * f64::from(step) / 4.0, pose);
        if !before.is_empty() {
            for (&j, angle) in chosen.iter().zip(&mut angles) {
                let dot = before[j as usize].dot(pose.locals[j as usize].rotation);
                *angle += 2.0 * dot.abs().min(1.0).acos();
            }
        }
        before = pose.locals.iter().map(|local| local.rotation).collect();
    }
    angles.into_iter().fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Transform;
    use crate::skeleton::JointId;

    #[test]
    fn a_spline_through_zero_has_keyframes_where_it_rotates() {
        let near = [0.02f32, 0.0, 0.0, 1.0];
        let values = [
            [0.0; 4],
            near,
            [0.0; 4],
            [0.0; 4],
            [0.0, 0.02, 0.0, -1.0],
            [0.0; 4],
        ];
        let channel = Channel {
            joint: JointId(0),
            property: Property::Rotation,
            interpolation: Interpolation::CubicSpline,
            times: [0.0, 2.0].into(),
            values: values.as_flattened().into(),
        };
        let mut times = fast_in_splines(&channel);
        times.sort_by(f32::total_cmp);
        let fast = times.iter().filter(|t| (*t - 1.0).abs() < 0.02).count();
        assert!((4..=64).contains(&times.len()) && fast >= 4, "{times:?}");
        let slow = Channel {
            interpolation: Interpolation::Linear,
            ..channel
        };
        assert!(fast_in_splines(&slow).is_empty());
    }

    #[test]
    fn a_spline_of_morph_weights_that_are_no_numbers_counts_as_far_off_its_line() {
        let spline = |weight: f32| Channel {
            joint: JointId(0),
            property: Property::MorphWeights,
            interpolation: Interpolation::CubicSpline,
            times: [0.0, 2.0].into(),
            values: [0.0, 0.5, 0.0, 0.0, weight, 0.0].into(),
        };
        assert!(within_splines(&spline(0.5)).is_empty());
        assert_eq!(within_splines(&spline(f32::NAN)).len(), 63);
    }

    fn turning(interpolation: Interpolation, times: &[f32], degrees: &[f32]) -> Vec<f32> {
        let values = degrees.iter().flat_map(|d| {
            let (s, c) = (0.5 * d.to_radians()).sin_cos();
            [0.0, 0.0, s, c]
        });
        let clip = Clip {
            channels: vec![Channel {
                joint: JointId(0),
                property: Property::Rotation,
                interpolation,
                times: times.into(),
                values: values.collect(),
            }],
            ..Clip::default()
        };
        let rest = Pose {
            locals: vec![Transform::IDENTITY],
            morph_weights: vec![Vec::new()],
            influences: Vec::new(),
        };
        key_times(&clip, &rest, &BTreeSet::from([0]))
    }

    #[test]
    fn far_turns_take_keys_between() {
        let times = turning(Interpolation::Linear, &[0.0, 1.0, 2.0], &[0.0, 5.0, 60.0]);
        assert_eq!(times, [0.0, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0]);
    }

    #[test]
    fn clips_that_only_jump_are_keyed_at_their_jumps() {
        let channel = |interpolation, times: &[f32], x: &[f32]| Channel {
            joint: JointId(0),
            property: Property::Translation,
            interpolation,
            times: times.into(),
            values: x.iter().flat_map(|x| [*x, 0.0, 0.0]).collect(),
        };
        let chosen = BTreeSet::from([0]);
        let times = |channels: &[Channel]| {
            let clip = Clip {
                channels: channels.to_vec(),
                ..Clip::default()
            };
            step_times(&clip, &chosen)
        };
        let step = channel(Interpolation::Step, &[0.0, 1.0, 1.001], &[0.0, 1.0, 2.0]);
        let constant = channel(Interpolation::Linear, &[0.0, 2.0], &[1.0, 1.0]);
        let moving = channel(Interpolation::Linear, &[0.0, 2.0], &[1.0, 1.5]);
        let all = times(&[step.clone(), constant.clone()]);
        assert_eq!(all, Some(vec![0.0, 1.0, 1.001, 2.0]));
        assert_eq!(times(&[step, moving]), None);
        assert_eq!(times(&[constant]), None);
    }

    #[test]
    fn keys_make_room_for_jumps() {
        let with = |jumps: &[[f32; 2]]| {
            let mut keys = vec![0.0, 0.499, 0.7, 1.0];
            key_jumps(&mut keys, jumps.to_vec());
            keys
        };
        assert_eq!(with(&[]), [0.0, 0.499, 0.7, 1.0]);
        let one = [0.5, 0.50025];
        assert_eq!(with(&[one]), [0.0, 0.5, 0.50025, 0.7, 1.0]);
        // The second is 1 ms later; the third overlaps it.
        let found = with(&[[0.5012, 0.5014], [0.501, 0.50125], one]);
        assert_eq!(found, [0.0, 0.5, 0.50025, 0.501, 0.5014, 0.7, 1.0]);
        // The start and the end may be sides; what lies outside is no jump.
        let found = with(&[[0.9999, 1.0001], [-0.0001, 0.00015], [1.0, 1.00025]]);
        assert_eq!(found, [0.0, 0.00015, 0.499, 0.7, 0.9999, 1.0]);
    }

    #[test]
    fn each_step_that_changes_something_is_a_jump() {
        let channel = |joint: u32, values: &[f32], last: f32| Channel {
            joint: JointId(joint),
            property: Property::MorphWeights,
            interpolation: Interpolation::Step,
            times: [0.0, last].into(),
            values: values.into(),
        };
        let clip = Clip {
            channels: vec![
                channel(0, &[0.0, 1.0], 2.0),
                channel(1, &[0.0, 0.0], 3.0),
                channel(2, &[0.0, 1.0], 4.0),
                channel(0, &[0.0, 1.0], 6000.0),
                channel(0, &[0.0, 1.0], f32::NAN),
                Channel {
                    times: [0.0, 1.0, 4.0].into(),
                    ..channel(1, &[0.0, 0.0, 1.0], 4.0)
                },
            ],
            ..Clip::default()
        };
        let jumps = step_jumps(&clip, &BTreeSet::from([0, 1]));
        // In the second hour, f32 times are farther apart.
        let expected = [
            [1.99975, 2.0],
            [6000f32.next_down(), 6000.0],
            [3.99975, 4.0],
        ];
        assert_eq!(jumps, expected);
    }

    #[test]
    fn a_jump_is_keyed_on_both_sides() {
        let times = turning(Interpolation::Step, &[0.0, 1.0], &[0.0, 0.0]);
        assert_eq!(times, [0.0, 0.998, 1.0]);
        let times = turning(Interpolation::Linear, &[f32::NAN, f32::INFINITY], &[0.0; 2]);
        assert!(times.is_empty());
        let times = turning(Interpolation::Linear, &[0.0, 1.0, 1.0, 2.0], &[0.0; 4]);
        assert_eq!(times, [0.0, 1.0, 2.0]);
    }
}
