//! Cleaning of recorded clips: smooth keyframes, fill a gap, trim to a range, blend the end into the start.
//!
//! Every function returns another clip; channels that it does not change keep their keyframes bit for bit.

use super::clip::unit;
use super::slerp::slerp_shortest;
use super::{Channel, Clip, Interpolation, JointId, Property};
use crate::math::smootherstep;
use glam::DQuat;

/// A range of time, seconds.
pub type Range = [f32; 2];

/// A keyframe within this of the end of a range is at the end, seconds.
const SAME_SECS: f32 = 1e-4;

impl Channel {
    /// The value at a time.
    fn value_at(&self, time_secs: f32) -> Vec<f64> {
        let mut value = vec![0.0; self.width()];
        self.sample(f64::from(time_secs), &mut value);
        value
    }

    /// The same curve with a keyframe at `time_secs`, unless it holds one value there.
    fn divided(&self, time_secs: f32) -> Self {
        let is_inside = self.times.first().is_some_and(|&first| first < time_secs)
            && self.times.last().is_some_and(|&last| last > time_secs);
        if is_inside && self.key_near(time_secs, SAME_SECS).is_none() {
            self.with_key(time_secs, &self.value_at(time_secs), SAME_SECS)
        } else {
            self.clone()
        }
    }

    fn is_spline(&self) -> bool {
        self.interpolation == Interpolation::CubicSpline
    }

    /// Replaces the values of keyframes (tangents too: `part` 0 is the in-tangent, 1 the value, 2 the out-tangent).
    fn with_values(&self, mut change: impl FnMut(usize, usize, &mut [f32])) -> Self {
        let width = self.width();
        let parts = if self.is_spline() { 3 } else { 1 };
        let mut values = self.values.to_vec();
        for (i, value) in values.chunks_exact_mut(width.max(1)).enumerate() {
            let part = if parts == 1 { 1 } else { i % 3 };
            change(i / parts, part, value);
        }
        Self {
            values: values.into(),
            ..self.clone()
        }
    }

    /// Each keyframe inside the range, halfway to where its neighbours would have it: the filter 1/4, 1/2, 1/4 for evenly spaced
    /// keyframes.
    fn smoothed(&self, [from, to]: Range) -> Self {
        if self.interpolation == Interpolation::Step || self.times.len() < 3 {
            return self.clone();
        }
        let width = self.width();
        let parts = if self.is_spline() { 3 } else { 1 };
        let of = |k: usize, part: usize| {
            let at = if parts == 1 { k } else { 3 * k + part };
            &self.values[at * width..][..width]
        };
        self.with_values(|k, part, value| {
            let is_inner = k > 0 && k + 1 < self.times.len();
            if !is_inner || self.times[k] < from || self.times[k] > to {
                return;
            }
            let [before, now, after] = [k - 1, k, k + 1].map(|k| f64::from(self.times[k]));
            let span = after - before;
            let share = if span > 0.0 {
                (now - before) / span
            } else {
                0.5
            };
            let (a, b) = (of(k - 1, part), of(k + 1, part));
            // What is constant stays so to the bit: normalising a rotation would round it.
            if a == b && *value == *a {
                return;
            }
            if self.property == Property::Rotation && !self.is_spline() {
                let between = slerp_shortest(quaternion(a), quaternion(b), share);
                let own = quaternion(value);
                let mixed = slerp_shortest(own, between, 0.5);
                // On the side of the sphere where it was: the next keyframes are interpolated as before.
                let mixed = if mixed.dot(own) < 0.0 { -mixed } else { mixed };
                write(value, mixed);
                return;
            }
            for ((v, a), b) in value.iter_mut().zip(a).zip(b) {
                let between = f64::from(*a) + (f64::from(*b) - f64::from(*a)) * share;
                *v = (0.5 * (f64::from(*v) + between)) as f32;
            }
        })
    }

    /// Without the keyframes inside the range: the curve leads from its value at the start to that at the end.
    fn bridged(&self, [from, to]: Range) -> Self {
        let divided = self.divided(from).divided(to);
        let is_inside =
            |k: usize| divided.times[k] > from + SAME_SECS && divided.times[k] < to - SAME_SECS;
        divided.without_keys(is_inside).unwrap_or(divided)
    }

    /// The part in the range, which then starts at 0. Outside of its keyframes a curve holds its first or last value.
    fn trimmed(&self, [from, to]: Range) -> Self {
        let divided = self.divided(from).divided(to);
        let is_outside =
            |k: usize| divided.times[k] < from - SAME_SECS || divided.times[k] > to + SAME_SECS;
        let Some(kept) = divided.without_keys(is_outside) else {
            return Self::of_key(self.joint, self.property, 0.0, &self.value_at(from));
        };
        let times = kept.times.iter().map(|t| (t - from).max(0.0));
        Self {
            times: times.collect(),
            ..kept
        }
    }

    /// The last `secs` approach the value of the start, so that the end meets it.
    fn blended_end(&self, [from, to]: Range, secs: f32) -> Self {
        let starts = (to - secs).max(from);
        let divided = self.divided(starts);
        let (first, last) = (self.value_at(from), self.value_at(to));
        let share = |k: usize| {
            let into = (divided.times[k] - starts) / (to - starts).max(SAME_SECS);
            if divided.times[k] > to + SAME_SECS {
                0.0
            } else {
                smootherstep(f64::from(into).clamp(0.0, 1.0))
            }
        };
        if self.property == Property::Rotation {
            let by = unit(load(&first)) * unit(load(&last)).conjugate();
            return divided.with_values(|k, _, value| {
                let by = slerp_shortest(DQuat::IDENTITY, by, share(k));
                let q = DQuat::from_array([0, 1, 2, 3].map(|i| f64::from(value[i])));
                // Tangents turn with their keyframe.
                write(value, by * q);
            });
        }
        divided.with_values(|k, part, value| {
            let share = share(k);
            if part == 1 {
                for ((v, first), last) in value.iter_mut().zip(&first).zip(&last) {
                    *v = (f64::from(*v) + (first - last) * share) as f32;
                }
            }
        })
    }
}

impl Clip {
    /// Smooths the keyframes of joints within a range, `times` times. Ends of channels, and constant (STEP) channels, stay.
    #[must_use]
    pub fn smoothed(&self, wants: impl Fn(JointId) -> bool, range: Range, times: usize) -> Self {
        self.with_channels(|channel| {
            wants(channel.joint)
                .then(|| (0..times).fold(channel.clone(), |channel, _| channel.smoothed(range)))
        })
    }

    /// Fills a gap: interpolates joints across a range, from their values at its start to those at its end.
    #[must_use]
    pub fn bridged(&self, wants: impl Fn(JointId) -> bool, range: Range) -> Self {
        self.with_channels(|channel| wants(channel.joint).then(|| channel.bridged(range)))
    }

    /// The part of the clip in a range; it starts at 0.
    #[must_use]
    pub fn trimmed(&self, range: Range) -> Self {
        let [from, to] = range;
        let mut clip = self.with_channels(|channel| Some(channel.trimmed(range)));
        clip.pose_names
            .retain(|(time, _)| (from - SAME_SECS..=to + SAME_SECS).contains(time));
        for (time, _) in &mut clip.pose_names {
            *time = (*time - from).max(0.0);
        }
        clip
    }

    /// Blends the last `secs` of a range into its start, so that it repeats without a jump. Locations stay: a walk travels.
    #[must_use]
    pub fn with_blended_end(
        &self,
        wants: impl Fn(JointId) -> bool,
        range: Range,
        secs: f32,
    ) -> Self {
        self.with_channels(|channel| {
            let is_blended = wants(channel.joint)
                && channel.property != Property::Translation
                && channel.interpolation != Interpolation::Step;
            is_blended.then(|| channel.blended_end(range, secs))
        })
    }

    /// This clip with the channels for which `change` gives another one.
    fn with_channels(&self, change: impl Fn(&Channel) -> Option<Channel>) -> Self {
        let channels = self.channels.iter();
        Self {
            channels: channels
                .map(|channel| change(channel).unwrap_or_else(|| channel.clone()))
                .collect(),
            ..self.clone()
        }
    }
}

fn load(value: &[f64]) -> DQuat {
    DQuat::from_array([0, 1, 2, 3].map(|i| value.get(i).copied().unwrap_or(0.0)))
}

fn quaternion(value: &[f32]) -> DQuat {
    unit(DQuat::from_array([0, 1, 2, 3].map(|i| f64::from(value[i]))))
}

fn write(value: &mut [f32], q: DQuat) {
    for (v, q) in value.iter_mut().zip(q.to_array()) {
        *v = q as f32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channel(interpolation: Interpolation, times: &[f32], values: &[f32]) -> Channel {
        Channel {
            joint: JointId(0),
            property: Property::Translation,
            interpolation,
            times: times.into(),
            values: values.into(),
        }
    }

    fn clip(channels: Vec<Channel>) -> Clip {
        Clip {
            channels,
            ..Clip::default()
        }
    }

    /// Scalars as the x of locations.
    fn line(interpolation: Interpolation, keys: &[(f32, f32)]) -> Clip {
        let times: Vec<f32> = keys.iter().map(|k| k.0).collect();
        let values: Vec<f32> = keys.iter().flat_map(|k| [k.1, 0.0, 0.0]).collect();
        clip(vec![channel(interpolation, &times, &values)])
    }

    fn x(clip: &Clip, time: f64) -> f64 {
        let mut value = [0.0; 3];
        clip.channels[0].sample(time, &mut value);
        value[0]
    }

    fn turns(angles: &[(f32, f64)]) -> Clip {
        let times: Vec<f32> = angles.iter().map(|a| a.0).collect();
        let values = angles.iter().flat_map(|a| {
            let q = DQuat::from_rotation_x(a.1);
            q.to_array().map(|v| v as f32)
        });
        let mut channel = channel(Interpolation::Linear, &times, &values.collect::<Vec<f32>>());
        channel.property = Property::Rotation;
        clip(vec![channel])
    }

    fn angle(clip: &Clip, time: f64) -> f64 {
        let mut value = [0.0; 4];
        clip.channels[0].sample(time, &mut value);
        2.0 * f64::atan2(value[0], value[3])
    }

    const ALL: fn(JointId) -> bool = |_| true;

    #[test]
    fn smoothing_keeps_lines_and_halves_a_spike() {
        let straight = line(Interpolation::Linear, &[(0.0, 0.0), (1.0, 2.0), (4.0, 8.0)]);
        assert_eq!(straight.smoothed(ALL, [0.0, 4.0], 3), straight);
        let spike = line(Interpolation::Linear, &[(0.0, 0.0), (1.0, 1.0), (2.0, 0.0)]);
        assert_eq!(x(&spike.smoothed(ALL, [0.0, 2.0], 1), 1.0), 0.5);
        assert_eq!(x(&spike.smoothed(ALL, [0.0, 2.0], 2), 1.0), 0.25);
        let still = turns(&[(0.0, 0.7), (1.0, 0.7), (2.5, 0.7)]);
        assert_eq!(still.smoothed(ALL, [0.0, 2.5], 2), still);
        // Outside of the range, on other joints, and constant channels: as they are.
        assert_eq!(spike.smoothed(ALL, [1.5, 2.0], 1), spike);
        assert_eq!(
            spike.smoothed(|joint| joint != JointId(0), [0.0, 2.0], 1),
            spike
        );
        let step = line(Interpolation::Step, &[(0.0, 0.0), (1.0, 1.0), (2.0, 0.0)]);
        assert_eq!(step.smoothed(ALL, [0.0, 2.0], 1), step);
        // Rotations along arcs, whatever the signs of their quaternions.
        let mut bent = turns(&[(0.0, 0.0), (1.0, 1.0), (2.0, 0.0)]);
        assert!((angle(&bent.smoothed(ALL, [0.0, 2.0], 1), 1.0) - 0.5).abs() < 1e-6);
        let mut values = bent.channels[0].values.to_vec();
        values[4..8].iter_mut().for_each(|v| *v = -*v);
        bent.channels[0].values = values.into();
        let smoothed = bent.smoothed(ALL, [0.0, 2.0], 1);
        let off = (angle(&smoothed, 1.0).rem_euclid(std::f64::consts::TAU) - 0.5).abs();
        assert!(off < 1e-6, "{off}");
    }

    #[test]
    fn a_gap_is_filled_between_the_values_at_its_ends() {
        let keys = [
            (0.0, 0.0),
            (1.0, 1.0),
            (1.2, 9.0),
            (1.4, -9.0),
            (2.0, 2.0),
            (3.0, 3.0),
        ];
        let filled = line(Interpolation::Linear, &keys).bridged(ALL, [1.0, 2.0]);
        assert_eq!(&*filled.channels[0].times, &[0.0, 1.0, 2.0, 3.0]);
        assert!((x(&filled, 1.3) - 1.3).abs() < 1e-6);
        // Ends between keyframes keep the curve outside of the gap.
        let source = line(Interpolation::Linear, &keys);
        let filled = source.bridged(ALL, [0.5, 2.5]);
        assert!((x(&filled, 0.25) - 0.25).abs() < 1e-6 && (x(&filled, 2.75) - 2.75).abs() < 1e-6);
        assert!((x(&filled, 1.5) - 1.5).abs() < 1e-6);
        // Nothing lies in the range of this one.
        let constant = line(Interpolation::Linear, &[(1.5, 4.0)]);
        assert_eq!(constant.bridged(ALL, [1.0, 2.0]), constant);
    }

    #[test]
    fn a_trimmed_clip_plays_what_the_range_played() {
        // Of the spline, value and tangents: t^3 has exact pieces.
        let cube = |t: f32| {
            [
                3.0 * t * t,
                0.0,
                0.0,
                t * t * t,
                0.0,
                0.0,
                3.0 * t * t,
                0.0,
                0.0,
            ]
        };
        let times = [0.0, 1.0, 3.0];
        let values: Vec<f32> = times.iter().flat_map(|t| cube(*t)).collect();
        let mut source = clip(vec![channel(Interpolation::CubicSpline, &times, &values)]);
        source.pose_names = vec![(0.0, "a".into()), (1.0, "b".into()), (3.0, "c".into())];
        let trimmed = source.trimmed([0.5, 2.5]);
        assert_eq!(&*trimmed.channels[0].times, &[0.0, 0.5, 2.0]);
        for i in 0..=20 {
            let t = 0.1 * f64::from(i);
            let off = (x(&trimmed, t) - (t + 0.5).powi(3)).abs();
            assert!(off < 1e-5, "{t}: {off}");
        }
        assert_eq!(trimmed.pose_names, [(0.5, "b".to_owned())]);
        // A channel that ends before the range holds its last value.
        let early = line(Interpolation::Linear, &[(0.0, 1.0), (0.2, 7.0)]).trimmed([0.5, 2.5]);
        assert_eq!(
            (&*early.channels[0].times, x(&early, 1.0)),
            (&[0.0][..], 7.0)
        );
        let whole = turns(&[(0.0, 0.1), (1.0, 0.7)]);
        assert_eq!(whole.trimmed([0.0, 1.0]), whole);
    }

    #[test]
    fn the_end_of_a_loop_meets_its_start() {
        let source = turns(&[(0.0, 0.2), (1.0, 0.9), (1.5, 0.6), (2.0, 1.2)]);
        let looped = source.with_blended_end(ALL, [0.0, 2.0], 1.0);
        assert!((angle(&looped, 2.0) - 0.2).abs() < 1e-6);
        assert!((angle(&looped, 0.5) - angle(&source, 0.5)).abs() < 1e-6);
        assert!((angle(&looped, 1.0) - 0.9).abs() < 1e-6, "where it starts");
        // Half of the way, half of the difference.
        assert!((angle(&looped, 1.5) - (0.6 - 0.5)).abs() < 1e-6);
        let travel = line(Interpolation::Linear, &[(0.0, 0.0), (2.0, 3.0)]);
        assert_eq!(travel.with_blended_end(ALL, [0.0, 2.0], 1.0), travel);
    }
}
