//! Inserting, changing, deleting and moving keyframes of a clip. Nothing here changes a clip: each function returns a
//! new one that shares the keyframes of unchanged channels with the old one.
//!
//! Invariant: times stay ascending; only the source has two keyframes closer than [`SAME_KEY_SECS`].
//! Invariant: a keyframe inserted into a spline splits it by exact subdivision: with the curve's own value the curve
//! stays the same.

use super::{Channel, Clip, Interpolation, JointId, Property};
use crate::math::transform::normalize_or_identity;
use glam::DQuat;
use std::collections::BTreeSet;

/// Keyframes closer than this are one keyframe, seconds.
pub const SAME_KEY_SECS: f32 = 1e-4;

/// Below this length of an interpolated quaternion, its derivative does not define an angular velocity.
const LEAST_QUATERNION: f64 = 1e-2;

/// A keyframe of a clip: the channel's index in [`Clip::channels`], and the keyframe's index in the channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyIndex {
    /// Index of the channel.
    pub channel: usize,
    /// Index of the keyframe.
    pub key: usize,
}

impl Channel {
    /// A channel with one keyframe: a constant value.
    pub fn of_key(joint: JointId, property: Property, time_secs: f32, value: &[f64]) -> Self {
        let mut values = rounded(value);
        if property == Property::Rotation {
            values = rounded(&unit(value).to_array());
        }
        Self {
            joint,
            property,
            interpolation: Interpolation::Linear,
            times: [time_secs].into(),
            values: values.into(),
        }
    }

    /// The keyframe nearest to `time_secs`, if it is within `reach_secs`; of keyframes at one time the last, or the
    /// first if they are later than `time_secs`.
    pub fn key_near(&self, time_secs: f32, reach_secs: f32) -> Option<usize> {
        let after = self.times.partition_point(|&t| t <= time_secs);
        let distance = |k: usize| (self.times[k] - time_secs).abs();
        let before = after.checked_sub(1);
        let after = Some(after).filter(|&k| k < self.times.len());
        before
            .into_iter()
            .chain(after)
            .min_by(|&a, &b| distance(a).total_cmp(&distance(b)))
            .filter(|&k| distance(k) <= reach_secs)
    }

    /// This channel with a keyframe of `value` at `time_secs`. A keyframe within `reach_secs` is replaced: it moves to
    /// this time and keeps its tangents. A new one in a spline gets the curve's tangents.
    #[must_use]
    pub fn with_key(&self, time_secs: f32, value: &[f64], reach_secs: f32) -> Self {
        let width = self.width();
        let mut keys = Keys::of(self);
        let k = match self.key_near(time_secs, reach_secs) {
            Some(k) => {
                keys.times[k] = time_secs;
                k
            }
            None => keys.insert(self, time_secs),
        };
        let value = &value[..width.min(value.len())];
        if self.property != Property::Rotation {
            let slot = keys.value_mut(k);
            for (to, &from) in slot.iter_mut().zip(value) {
                *to = from as f32;
            }
        } else if self.interpolation == Interpolation::CubicSpline {
            keys.rotate_key(k, unit(value));
        } else {
            let neighbour = if k > 0 { k - 1 } else { k + 1 };
            let mut value = unit(value);
            if neighbour < keys.times.len() {
                value = in_hemisphere(value, quaternion(keys.value(neighbour)));
            }
            keys.value_mut(k)
                .copy_from_slice(&rounded(&value.to_array()));
        }
        keys.into_channel(self)
    }

    /// This channel without some of its keyframes; `None` where none is left.
    pub fn without_keys(&self, is_removed: impl Fn(usize) -> bool) -> Option<Self> {
        let mut keys = Keys::of(self);
        keys.retain(|k| !is_removed(k));
        (!keys.times.is_empty()).then(|| keys.into_channel(self))
    }

    /// This channel with the keyframes `moved` shifted by `by_secs`. They replace other keyframes at their new times.
    fn with_moved(&self, moved: &BTreeSet<usize>, by_secs: f32) -> Self {
        let mut keys = Keys::of(self);
        for &k in moved {
            keys.times[k] += by_secs;
        }
        let arrived: Vec<f32> = moved.iter().map(|&k| keys.times[k]).collect();
        let is_taken = |time: f32| {
            let after = arrived.partition_point(|&t| t <= time);
            let near = |k: usize| (arrived[k] - time).abs() < SAME_KEY_SECS;
            (after > 0 && near(after - 1)) || (after < arrived.len() && near(after))
        };
        let times = keys.times.clone();
        let mut order: Vec<usize> = (0..times.len())
            .filter(|k| moved.contains(k) || !is_taken(times[*k]))
            .collect();
        // A stable sort keeps the order of keyframes at one time.
        order.sort_by(|&a, &b| times[a].total_cmp(&times[b]));
        keys.reorder(&order);
        keys.into_channel(self)
    }
}

impl Clip {
    /// The index of the channel of a joint's property; of duplicates the last, which wins.
    pub fn channel_of(&self, joint: JointId, property: Property) -> Option<usize> {
        self.channels
            .iter()
            .rposition(|c| c.joint == joint && c.property == property)
    }

    /// Inserts a keyframe of `value` at `time_secs` into the channel of a joint's property, which is created where
    /// there is none. A keyframe within `reach_secs` is replaced (see [`Channel::with_key`]).
    pub fn set_key(
        &mut self,
        joint: JointId,
        property: Property,
        time_secs: f32,
        value: &[f64],
        reach_secs: f32,
    ) {
        match self.channel_of(joint, property) {
            Some(c) => self.channels[c] = self.channels[c].with_key(time_secs, value, reach_secs),
            None => self
                .channels
                .push(Channel::of_key(joint, property, time_secs, value)),
        }
    }

    /// This clip without some of its keyframes; channels without keyframes are removed.
    #[must_use]
    pub fn without_keys(&self, removed: &BTreeSet<KeyIndex>) -> Self {
        let channels = self.channels.iter().enumerate();
        let left = channels.filter_map(|(c, channel)| {
            let removed = keys_of(removed, c);
            if removed.is_empty() {
                Some(channel.clone())
            } else {
                channel.without_keys(|key| removed.contains(&key))
            }
        });
        Self {
            channels: left.collect(),
            ..self.clone()
        }
    }

    /// This clip with some keyframes shifted by `by_secs`, limited so that none gets a time below 0. They replace other
    /// keyframes of their channel at their new times.
    #[must_use]
    pub fn with_moved_keys(&self, moved: &BTreeSet<KeyIndex>, by_secs: f32) -> Self {
        let times = moved
            .iter()
            .filter_map(|i| self.channels.get(i.channel)?.times.get(i.key).copied());
        let first = times.fold(f32::INFINITY, f32::min);
        let by_secs = if first.is_finite() {
            by_secs.max(-first.max(0.0))
        } else {
            by_secs
        };
        let mut clip = self.clone();
        if by_secs == 0.0 || !by_secs.is_finite() {
            return clip;
        }
        for (c, channel) in clip.channels.iter_mut().enumerate() {
            let keys: BTreeSet<usize> = keys_of(moved, c)
                .into_iter()
                .filter(|&k| k < channel.times.len())
                .collect();
            if !keys.is_empty() {
                *channel = channel.with_moved(&keys, by_secs);
            }
        }
        clip
    }
}

/// The keyframes of channel `c` among `keys`.
fn keys_of(keys: &BTreeSet<KeyIndex>, c: usize) -> BTreeSet<usize> {
    let first = KeyIndex { channel: c, key: 0 };
    let last = KeyIndex {
        channel: c,
        key: usize::MAX,
    };
    keys.range(first..=last).map(|i| i.key).collect()
}

/// The keyframes of a channel while they are edited.
struct Keys {
    times: Vec<f32>,
    values: Vec<f32>,
    width: usize,
    is_spline: bool,
}

impl Keys {
    fn of(channel: &Channel) -> Self {
        Self {
            times: channel.times.to_vec(),
            values: channel.values.to_vec(),
            width: channel.width(),
            is_spline: channel.interpolation == Interpolation::CubicSpline,
        }
    }

    fn into_channel(self, like: &Channel) -> Channel {
        Channel {
            times: self.times.into(),
            values: self.values.into(),
            ..*like
        }
    }

    /// Numbers per keyframe, with tangents.
    fn stride(&self) -> usize {
        self.width * if self.is_spline { 3 } else { 1 }
    }

    fn value_at(&self, k: usize) -> usize {
        k * self.stride() + if self.is_spline { self.width } else { 0 }
    }

    fn value(&self, k: usize) -> &[f32] {
        &self.values[self.value_at(k)..][..self.width]
    }

    fn value_mut(&mut self, k: usize) -> &mut [f32] {
        let at = self.value_at(k);
        &mut self.values[at..][..self.width]
    }

    /// Inserts a keyframe at a time where there is none and returns its index. In a spline it subdivides the curve;
    /// otherwise the caller sets the value.
    fn insert(&mut self, channel: &Channel, time_secs: f32) -> usize {
        let k = self.times.partition_point(|&t| t <= time_secs);
        let n = self.times.len();
        let at = k * self.stride();
        let mut key = Vec::with_capacity(self.stride());
        if self.is_spline && k > 0 && k < n {
            let (value, tangent) = spline_at(channel, k, f64::from(time_secs));
            for part in [&tangent, &value, &tangent] {
                key.extend(part.iter().map(|&x| x as f32));
            }
        } else {
            let held = channel.key(if k == 0 { 0 } else { k - 1 });
            if self.is_spline {
                key.resize(self.width, 0.0);
                key.extend(held);
                key.resize(3 * self.width, 0.0);
                // The value stays constant before the first and after the last keyframe: the tangent there was never
                // used.
                let unused = if k == 0 { 0 } else { (3 * n - 1) * self.width };
                self.values[unused..][..self.width].fill(0.0);
            } else {
                key.extend(held);
            }
        }
        self.times.insert(k, time_secs);
        self.values.splice(at..at, key);
        k
    }

    /// Rotates keyframe `k` of a rotation spline to `to`. Its tangents rotate with it and its length stays, so that a
    /// rotation by 0 changes nothing.
    fn rotate_key(&mut self, k: usize, to: DQuat) {
        let at = k * self.stride();
        let from = quaternion(self.value(k));
        let length = from.length();
        if length < LEAST_QUATERNION {
            self.values[at..][..12].fill(0.0);
            self.value_mut(k).copy_from_slice(&rounded(&to.to_array()));
            return;
        }
        let from_unit = from * (1.0 / length);
        let to = in_hemisphere(to, from_unit);
        if to == from_unit {
            return;
        }
        let turn = from_unit.conjugate() * to;
        for tangent in [at, at + 8] {
            let turned = quaternion(&self.values[tangent..][..4]) * turn;
            self.values[tangent..][..4].copy_from_slice(&rounded(&turned.to_array()));
        }
        let value = rounded(&(to * length).to_array());
        self.value_mut(k).copy_from_slice(&value);
    }

    fn retain(&mut self, keep: impl Fn(usize) -> bool) {
        let order: Vec<usize> = (0..self.times.len()).filter(|&k| keep(k)).collect();
        self.reorder(&order);
    }

    /// Reorders the keyframes to those that `order` lists.
    fn reorder(&mut self, order: &[usize]) {
        let stride = self.stride();
        self.times = order.iter().map(|&k| self.times[k]).collect();
        self.values = order
            .iter()
            .flat_map(|&k| self.values[k * stride..][..stride].iter().copied())
            .collect();
    }
}

/// Value and derivative of a spline at a time between keyframes `k - 1` and `k`.
fn spline_at(channel: &Channel, k: usize, time_secs: f64) -> (Vec<f64>, Vec<f64>) {
    let width = channel.width();
    let (t0, t1) = (f64::from(channel.times[k - 1]), f64::from(channel.times[k]));
    let span = t1 - t0;
    let u = (time_secs - t0) / span;
    let (u2, u3) = (u * u, u * u * u);
    let (h00, h10) = (2.0 * u3 - 3.0 * u2 + 1.0, u3 - 2.0 * u2 + u);
    let (h01, h11) = (-2.0 * u3 + 3.0 * u2, u3 - u2);
    let (d00, d10) = (6.0 * u2 - 6.0 * u, 3.0 * u2 - 4.0 * u + 1.0);
    let (d01, d11) = (-6.0 * u2 + 6.0 * u, 3.0 * u2 - 2.0 * u);
    let out_tangent = &channel.values[(3 * (k - 1) + 2) * width..][..width];
    let in_tangent = &channel.values[3 * k * width..][..width];
    let (v0, v1) = (channel.key(k - 1), channel.key(k));
    let mut value = Vec::with_capacity(width);
    let mut tangent = Vec::with_capacity(width);
    for i in 0..width {
        let (p0, p1) = (f64::from(v0[i]), f64::from(v1[i]));
        let (m0, m1) = (f64::from(out_tangent[i]), f64::from(in_tangent[i]));
        value.push(h00 * p0 + h10 * span * m0 + h01 * p1 + h11 * span * m1);
        tangent.push((d00 * p0 + d01 * p1) / span + d10 * m0 + d11 * m1);
    }
    (value, tangent)
}

fn rounded(values: &[f64]) -> Vec<f32> {
    values.iter().map(|&x| x as f32).collect()
}

fn quaternion(q: &[f32]) -> DQuat {
    DQuat::from_xyzw(
        f64::from(q[0]),
        f64::from(q[1]),
        f64::from(q[2]),
        f64::from(q[3]),
    )
}

fn unit(value: &[f64]) -> DQuat {
    match value {
        &[x, y, z, w] => normalize_or_identity(DQuat::from_xyzw(x, y, z, w)),
        _ => DQuat::IDENTITY,
    }
}

/// `q` or its negative, which is the same rotation: the one in the hemisphere of `near`.
fn in_hemisphere(q: DQuat, near: DQuat) -> DQuat {
    if q.dot(near) < 0.0 { -q } else { q }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channel(
        property: Property,
        interpolation: Interpolation,
        times: &[f32],
        values: &[f32],
    ) -> Channel {
        Channel {
            joint: JointId(0),
            property,
            interpolation,
            times: times.into(),
            values: values.into(),
        }
    }

    #[test]
    fn a_spline_is_cut_at_its_own_slope() {
        // 2 u^2 (3 - 2 u) / 2 over 2 s: at the middle the value is 1 and the slope 1.5.
        let ease = [0., 0., 0., 0., 2., 0.];
        let c = channel(
            Property::MorphWeights,
            Interpolation::CubicSpline,
            &[0.0, 2.0],
            &ease,
        );
        let cut = c.with_key(1.0, &[1.0], 0.0);
        assert_eq!(cut.times[..], [0.0, 1.0, 2.0]);
        assert_eq!(cut.values[..], [0., 0., 0., 1.5, 1., 1.5, 0., 2., 0.]);
        // Another value keeps the slope: the old curve plus a smooth bump.
        let hump = c.with_key(1.0, &[3.0], 0.0);
        assert_eq!(hump.values[3..6], [1.5, 3.0, 1.5]);
    }

    #[test]
    fn a_spline_stays_constant_outside_of_its_keyframes() {
        let c = channel(
            Property::MorphWeights,
            Interpolation::CubicSpline,
            &[1.0, 2.0],
            &[7., 0., 1., 1., 2., 7.],
        );
        let longer = c.with_key(3.0, &[2.0], 0.0).with_key(0.5, &[0.0], 0.0);
        assert_eq!(longer.times[..], [0.5, 1.0, 2.0, 3.0]);
        assert_eq!(
            longer.values[..],
            [0., 0., 0., 0., 0., 1., 1., 2., 0., 0., 2., 0.]
        );
    }

    #[test]
    fn a_near_key_is_replaced_and_moves_to_the_time() {
        let c = channel(
            Property::Translation,
            Interpolation::Linear,
            &[0.0, 0.5, 1.0],
            &[0., 0., 0., 1., 1., 1., 2., 2., 2.],
        );
        let new = c.with_key(0.51, &[5.0, 6.0, 7.0], 0.02);
        assert_eq!(new.times[..], [0.0, 0.51, 1.0]);
        assert_eq!(new.values[3..6], [5., 6., 7.]);
        assert_eq!(c.with_key(0.53, &[0.0; 3], 0.02).times.len(), 4);
    }

    #[test]
    fn at_a_jump_the_visible_key_is_replaced() {
        let c = channel(
            Property::MorphWeights,
            Interpolation::Linear,
            &[0.0, 1.0, 1.0, 2.0],
            &[0., 1., 5., 6.],
        );
        let new = c.with_key(1.0, &[9.0], SAME_KEY_SECS);
        assert_eq!(new.values[..], [0., 1., 9., 6.]);
        assert_eq!(c.key_near(0.9999, 0.01), Some(1));
    }

    #[test]
    fn rotations_keep_the_hemisphere_of_their_neighbour() {
        let half = std::f32::consts::FRAC_1_SQRT_2;
        let c = channel(
            Property::Rotation,
            Interpolation::Linear,
            &[0.0, 2.0],
            &[0., 0., 0., -1., 0., 0., -half, -half],
        );
        let q = DQuat::from_rotation_z(0.7);
        let new = c.with_key(1.0, &q.to_array(), 0.0);
        assert_eq!(new.key(1), rounded(&(-q).to_array()));
        // Before the first keyframe the neighbour is the first one.
        let new = c.with_key(-1.0, &q.to_array(), 0.0);
        assert_eq!(new.key(0), rounded(&(-q).to_array()));
        // A single keyframe is the given rotation, normalised.
        let alone = Channel::of_key(JointId(0), Property::Rotation, 0.0, &[0., 0., 0., -2.]);
        assert_eq!(alone.values[..], [0., 0., 0., -1.]);
    }

    #[test]
    fn tangents_rotate_with_their_key() {
        // Rotations about z at one radian per second; the middle keyframe is then rotated about x.
        let key = |angle: f64| {
            let q = DQuat::from_rotation_z(angle);
            let tangent = q * DQuat::from_xyzw(0.0, 0.0, 0.5, 0.0);
            [tangent, q, tangent].map(|q| q.to_array()).concat()
        };
        let values = rounded(&[key(0.0), key(1.0), key(2.0)].concat());
        let c = channel(
            Property::Rotation,
            Interpolation::CubicSpline,
            &[0., 1., 2.],
            &values,
        );
        let same = c.with_key(1.0, &DQuat::from_rotation_z(1.0).to_array(), 0.0);
        for (a, b) in same.values.iter().zip(c.values.iter()) {
            assert!((a - b).abs() < 1e-6, "{a} {b}");
        }
        let turn = DQuat::from_rotation_x(0.5);
        let tilted = DQuat::from_rotation_z(1.0) * turn;
        let new = c.with_key(1.0, &(-tilted).to_array(), 0.0);
        let tangent = quaternion(&new.values[12..16]);
        let value = quaternion(new.key(1));
        assert!(value.abs_diff_eq(tilted, 1e-6));
        // Still a tangent of unit quaternions, of the same length.
        assert!(value.dot(tangent).abs() < 1e-6 && (tangent.length() - 0.5).abs() < 1e-6);
        assert_eq!(new.values[..12], c.values[..12]);
    }

    #[test]
    fn a_moved_key_replaces_another() {
        let c = channel(
            Property::MorphWeights,
            Interpolation::Step,
            &[0.0, 1.0, 2.0, 3.0],
            &[0., 1., 2., 3.],
        );
        let clip = Clip {
            channels: vec![c],
            ..Clip::named("Walk")
        };
        let keys = |keys: &[usize]| {
            let index = |&key| KeyIndex { channel: 0, key };
            keys.iter().map(index).collect::<BTreeSet<_>>()
        };
        let past = clip.with_moved_keys(&keys(&[0]), 1.5);
        assert_eq!(past.channels[0].times[..], [1.0, 1.5, 2.0, 3.0]);
        assert_eq!(past.channels[0].values[..], [1., 0., 2., 3.]);
        let onto = clip.with_moved_keys(&keys(&[0, 1]), 1.0);
        assert_eq!(onto.channels[0].times[..], [1.0, 2.0, 3.0]);
        assert_eq!(onto.channels[0].values[..], [0., 1., 3.]);
        // Never before the start, and a group keeps its spacing.
        let back = clip.with_moved_keys(&keys(&[1, 2]), -5.0);
        assert_eq!(back.channels[0].times[..], [0.0, 1.0, 3.0]);
        assert_eq!(back.channels[0].values[..], [1., 2., 3.]);
        let all = keys(&[0, 1, 2, 3]);
        assert!(clip.without_keys(&all).channels.is_empty());
        let left = clip.without_keys(&keys(&[1]));
        assert_eq!(left.channels[0].values[..], [0., 2., 3.]);
    }
}
