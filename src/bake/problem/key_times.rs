//! When to key what is baked.

use crate::skeleton::{Clip, Interpolation, Pose, Property};
use std::collections::BTreeSet;

/// Keys are never closer than this: players and f32 tell them apart, and a jump takes no longer.
pub(crate) const SHORTEST: f64 = 0.002;

/// A joint turns at most this much from key to key at first; where that is not enough the check of the played result
/// adds more.
const DEGREES: f64 = 12.0;

/// Times at which whatever moves `chosen` joints of `clip` is keyed, and between them where they turn far. Ascending,
/// f32 values, at least [`SHORTEST`] apart; empty for a clip without such channels.
///
/// `rest`: what the clip leaves alone.
pub(crate) fn key_times(clip: &Clip, rest: &Pose, chosen: &BTreeSet<u32>) -> Vec<f32> {
    let mut times: Vec<f32> = Vec::new();
    for channel in &clip.channels {
        if !chosen.contains(&channel.joint.0) {
            continue;
        }
        times.extend_from_slice(&channel.times);
        if channel.interpolation == Interpolation::Step {
            // The last frame before each jump.
            let before = channel.times.iter().skip(1);
            times.extend(before.map(|t| t - SHORTEST as f32));
        }
    }
    let Some((start, end)) = ends(&times) else {
        return times;
    };
    // What a player cannot reach is not keyed.
    times.retain(|t| t.is_finite() && *t >= start);
    times.sort_by(f32::total_cmp);
    let times = apart(&times, end);
    let mut dense = Vec::with_capacity(times.len());
    let mut pose = rest.clone();
    for pair in times.windows(2) {
        let (from, to) = (f64::from(pair[0]), f64::from(pair[1]));
        let most = (to - from) / SHORTEST;
        let turned = turn(clip, &mut pose, chosen, from, to);
        let parts = (turned / DEGREES.to_radians())
            .ceil()
            .clamp(1.0, most.max(1.0));
        dense.extend((0..parts as usize).map(|i| (from + (to - from) * i as f64 / parts) as f32));
    }
    dense.extend(times.last());
    apart(&dense, end)
}

/// The first and the last of `times` that are numbers.
fn ends(times: &[f32]) -> Option<(f32, f32)> {
    let finite = || times.iter().copied().filter(|t| t.is_finite());
    Some((finite().reduce(f32::min)?, finite().reduce(f32::max)?))
}

/// Those of ascending times that are [`SHORTEST`] apart; the first and the last stay.
fn apart(times: &[f32], end: f32) -> Vec<f32> {
    let mut kept: Vec<f32> = Vec::with_capacity(times.len());
    for &time in times {
        let far = |last: &f32| f64::from(time) - f64::from(*last) >= 0.95 * SHORTEST;
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

/// The largest angle that a joint turns between two times, radians.
fn turn(clip: &Clip, pose: &mut Pose, chosen: &BTreeSet<u32>, from: f64, to: f64) -> f64 {
    let turns = clip
        .channels
        .iter()
        .any(|c| c.property == Property::Rotation);
    if !turns {
        return 0.0;
    }
    let mut angles = vec![0.0f64; pose.locals.len()];
    let mut before: Vec<glam::DQuat> = Vec::new();
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
    use crate::skeleton::{Channel, JointId};

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
        };
        key_times(&clip, &rest, &BTreeSet::from([0]))
    }

    #[test]
    fn far_turns_take_keys_between() {
        let times = turning(Interpolation::Linear, &[0.0, 1.0, 2.0], &[0.0, 5.0, 60.0]);
        assert_eq!(times, [0.0, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0]);
    }

    #[test]
    fn a_jump_is_keyed_on_both_sides() {
        let times = turning(Interpolation::Step, &[0.0, 1.0], &[0.0, 0.0]);
        assert_eq!(times, [0.0, 0.998, 1.0]);
        let times = turning(Interpolation::Linear, &[0.0, 1.0, 1.0, 2.0], &[0.0; 4]);
        assert_eq!(times, [0.0, 1.0, 2.0]);
    }
}
