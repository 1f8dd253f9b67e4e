//! Keys put into clips, moved and taken out: what must stay as it was does.

use crate::reference::larger;
use glam::DQuat;
use proptest::prelude::*;
use sinew::document::validity::check_clip;
use sinew::math::Transform;
use sinew::skeleton::clip_edit::SAME_KEY_SECS;
use sinew::skeleton::clip_keys::keys_near;
use sinew::skeleton::{Channel, Clip, Interpolation, JointId, KeyIndex, Pose, Property};
use std::collections::BTreeSet;
use std::sync::Arc;

const N_TARGETS: usize = 2;

fn rest() -> Pose {
    Pose {
        locals: vec![Transform::IDENTITY; 2],
        morph_weights: vec![vec![0.0; N_TARGETS]; 2],
        influences: Vec::new(),
    }
}

/// A value of `property`; rotations stay within a radian of none, so that no spline runs through zero.
fn value(property: Property) -> BoxedStrategy<Vec<f64>> {
    let number = -2.0..2.0f64;
    if property == Property::Rotation {
        ([-0.5..0.5f64, -0.5..0.5, -0.5..0.5], any::<bool>())
            .prop_map(|(v, flip)| {
                let q = DQuat::from_scaled_axis(v.into());
                if flip { -q } else { q }.to_array().to_vec()
            })
            .boxed()
    } else {
        prop::collection::vec(number, property.width(N_TARGETS)).boxed()
    }
}

fn property() -> impl Strategy<Value = Property> {
    prop::sample::select(vec![
        Property::Translation,
        Property::Rotation,
        Property::Scale,
        Property::MorphWeights,
    ])
}

fn interpolation() -> impl Strategy<Value = Interpolation> {
    prop::sample::select(vec![
        Interpolation::Step,
        Interpolation::Linear,
        Interpolation::CubicSpline,
    ])
}

/// A channel of joint 0 with keys at least 0.05 s apart from 0.5 s on.
fn channel() -> impl Strategy<Value = Channel> {
    let key = |property: Property| {
        let tangent = || prop::collection::vec(-1.0..1.0f64, property.width(N_TARGETS));
        (0.05..1.0f32, tangent(), value(property), tangent())
    };
    (property(), interpolation())
        .prop_flat_map(move |(property, interpolation)| {
            let keys = prop::collection::vec(key(property), 1..6);
            (Just(property), Just(interpolation), keys)
        })
        .prop_map(|(property, interpolation, keys)| {
            let mut time = 0.45;
            let (mut times, mut values) = (Vec::new(), Vec::new());
            for (gap, enter, value, leave) in keys {
                time += gap;
                times.push(time);
                let is_spline = interpolation == Interpolation::CubicSpline;
                // One hemisphere, as files have splines.
                let sign = if property == Property::Rotation && is_spline && value[3] < 0.0 {
                    -1.0
                } else {
                    1.0
                };
                let parts = if is_spline {
                    vec![enter, value.iter().map(|x| x * sign).collect(), leave]
                } else {
                    vec![value]
                };
                values.extend(parts.concat().into_iter().map(|x| x as f32));
            }
            Channel {
                joint: JointId(0),
                property,
                interpolation,
                times: times.into(),
                values: values.into(),
            }
        })
}

fn sampled(channel: &Channel, time_secs: f64) -> Vec<f64> {
    let mut out = vec![0.0; channel.width()];
    channel.sample(time_secs, &mut out);
    out
}

/// Largest difference of what is shown; `q` and `-q` are one rotation.
fn difference(property: Property, a: &[f64], b: &[f64]) -> f64 {
    let largest = |sign: f64| {
        let pairs = a.iter().zip(b);
        pairs.map(|(a, b)| (a - sign * b).abs()).fold(0.0, larger)
    };
    if property == Property::Rotation {
        largest(1.0).min(largest(-1.0))
    } else {
        largest(1.0)
    }
}

/// Moments all along the channel, keys and the places just beside them included.
fn moments(channel: &Channel) -> Vec<f64> {
    let keys = channel.times.iter().map(|&t| f64::from(t));
    let beside = keys.flat_map(|t| [t - 1e-6, t, t + 1e-6]);
    beside
        .chain((0..120).map(|i| f64::from(i) * 0.06))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_key_of_the_curves_own_value_changes_nothing(channel in channel(), time in 0.0..6.0f32) {
        prop_assume!(channel.key_near(time, 0.01).is_none());
        // Held before the first key in the value of the first: a step there would hold the same.
        let own = sampled(&channel, f64::from(time));
        let new = channel.with_key(time, &own, SAME_KEY_SECS);
        prop_assert_eq!(new.times.len(), channel.times.len() + 1);
        for t in moments(&new) {
            let d = difference(channel.property, &sampled(&channel, t), &sampled(&new, t));
            prop_assert!(d < 2e-5, "{d} at {t}");
        }
    }

    #[test]
    fn another_value_moves_the_curve_only_as_far_as_the_next_keys(
        (channel, value) in channel().prop_flat_map(|c| { let v = value(c.property); (Just(c), v) }),
        time in 0.0..6.0f32,
    ) {
        let new = channel.with_key(time, &value, SAME_KEY_SECS);
        let clip = Clip { channels: vec![new.clone()], ..Clip::default() };
        prop_assert_eq!(check_clip(&clip, &rest()), Ok(()));
        // What was asked for is shown.
        let k = new.key_near(time, 0.0).expect("the key");
        let shown = sampled(&new, f64::from(new.times[k]));
        prop_assert!(difference(channel.property, &shown, &value) < 1e-6);
        let low = if k > 0 { f64::from(new.times[k - 1]) } else { f64::MIN };
        let high = new.times.get(k + 1).map_or(f64::MAX, |&t| f64::from(t));
        for t in moments(&new).into_iter().filter(|&t| t <= low || t >= high) {
            let d = difference(channel.property, &sampled(&channel, t), &sampled(&new, t));
            prop_assert!(d < 1e-12, "{d} at {t}");
        }
        // Neighbours are on one side, where a file's keys are.
        if channel.property == Property::Rotation && channel.interpolation != Interpolation::CubicSpline {
            let near = if k > 0 { k - 1 } else { k + 1 };
            if near < new.times.len() {
                let dot: f32 = new.key(k).iter().zip(new.key(near)).map(|(a, b)| a * b).sum();
                prop_assert!(dot >= 0.0);
            }
        }
    }

    #[test]
    fn clips_stay_valid_and_share_what_is_not_touched(
        first in channel(), second in channel(), steps in prop::collection::vec((0.0..6.0f32, -3.0..3.0f32, 0..4u8), 1..8),
    ) {
        let other = Channel { joint: JointId(1), ..second };
        let mut clip = Clip { channels: vec![first.clone(), other.clone()], ..Clip::named("Walk") };
        let is_first = |c: &Channel| c.joint == JointId(0);
        for (time, by, what) in steps {
            match what {
                0 => clip.set_key(JointId(0), Property::Rotation, time, &[0.0, 0.0, 0.6, 0.8], SAME_KEY_SECS),
                1 => clip.set_key(JointId(0), Property::Scale, time, &[1.0, 2.0, 3.0], 0.02),
                2 => clip = clip.with_moved_keys(&keys_near(&clip, time, 0.7, is_first), by),
                _ => clip = clip.without_keys(&keys_near(&clip, time, 0.2, is_first)),
            }
            prop_assert_eq!(check_clip(&clip, &rest()), Ok(()));
            for channel in &clip.channels {
                let strictly = channel.times.is_sorted_by(|a, b| a < b);
                prop_assert!(strictly && channel.times[0] >= 0.0, "{:?}", channel.times);
            }
            let kept = clip.channels.iter().find(|c| c.joint == JointId(1)).expect("untouched");
            prop_assert!(Arc::ptr_eq(&kept.times, &other.times) && Arc::ptr_eq(&kept.values, &other.values));
        }
    }

    #[test]
    fn moving_keys_there_and_back_restores_them(channel in channel(), by in 0.0..9.0f32) {
        let clip = Clip { channels: vec![channel.clone()], ..Clip::default() };
        let all = (0..channel.times.len()).map(|key| KeyIndex { channel: 0, key }).collect::<BTreeSet<_>>();
        let moved = clip.with_moved_keys(&all, by);
        prop_assert_eq!(&moved.channels[0].values, &channel.values);
        let back = moved.with_moved_keys(&all, -by);
        for (a, b) in back.channels[0].times.iter().zip(channel.times.iter()) {
            prop_assert!((a - b).abs() < 1e-5);
        }
    }
}

#[test]
fn a_missing_channel_is_made() {
    let mut clip = Clip::named("Clip 1");
    clip.set_key(
        JointId(1),
        Property::Translation,
        0.5,
        &[1.0, 2.0, 3.0],
        SAME_KEY_SECS,
    );
    clip.set_key(
        JointId(1),
        Property::Translation,
        1.0,
        &[2.0, 2.0, 3.0],
        SAME_KEY_SECS,
    );
    assert_eq!(clip.channels.len(), 1);
    let channel = &clip.channels[0];
    assert_eq!(channel.interpolation, Interpolation::Linear);
    assert_eq!(channel.times[..], [0.5, 1.0]);
    assert_eq!(channel.values[..], [1., 2., 3., 2., 2., 3.]);
}
