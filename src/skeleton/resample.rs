//! Keyframes for a motion that is given as a function of time.
//!
//! Source: the times at which anything that the motion depends on has a keyframe, then bisection of each interval until
//! linear interpolation is within a tolerance.

use super::slerp::slerp_shortest;
use super::{Channel, Clip, Interpolation, JointId, Property};
use crate::math::Transform;
use glam::{DMat3, DQuat, DVec3};

/// The largest number of bisections of an interval.
const MAX_LEVELS: u32 = 7;
/// The shortest interval that bisection makes, and the time before a step at which its old value gets a keyframe,
/// seconds.
pub const SHORTEST_SECS: f64 = 0.002;
/// Where an interval is compared with linear interpolation.
const PROBES: [f64; 3] = [0.25, 0.5, 0.75];

/// The largest error of linear interpolation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resampling {
    /// Of a position, in the units of the joint's parent.
    pub length: f64,
    /// The distance from the joint to the points that it moves, in the same units: it converts angles to lengths.
    pub reach: f64,
}

impl Resampling {
    /// The same for a motion whose rotations are stored elsewhere: only the position counts.
    #[must_use]
    pub fn of_place(self) -> Self {
        Self { reach: 0.0, ..self }
    }
}

/// The times at which the channels of some joints have keyframes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KeyTimes {
    /// Ascending, seconds.
    times: Vec<f32>,
    /// The times at which some channel steps.
    steps: Vec<f32>,
    /// Whether all channels step.
    all_step: bool,
}

impl KeyTimes {
    /// The times of the channels of `clip` that `wants` accepts, without morph weights.
    pub fn of(clip: &Clip, wants: impl Fn(JointId) -> bool) -> Self {
        let mut found = Self {
            all_step: true,
            ..Self::default()
        };
        let channels = clip.channels.iter();
        for channel in channels.filter(|c| c.property != Property::MorphWeights && wants(c.joint)) {
            found.times.extend_from_slice(&channel.times);
            if channel.interpolation == Interpolation::Step {
                found.steps.extend_from_slice(&channel.times);
            } else {
                found.all_step = false;
            }
        }
        for times in [&mut found.times, &mut found.steps] {
            times.sort_by(f32::total_cmp);
            times.dedup();
        }
        found
    }

    /// The union of both.
    #[must_use]
    pub fn and(mut self, other: &Self) -> Self {
        for (own, others) in [
            (&mut self.times, &other.times),
            (&mut self.steps, &other.steps),
        ] {
            own.extend_from_slice(others);
            own.sort_by(f32::total_cmp);
            own.dedup();
        }
        self.all_step &= other.all_step;
        self
    }

    /// Those between two times, with these and `more` besides, for a motion that does not only step.
    #[must_use]
    pub fn within(mut self, [from, to]: [f32; 2], more: &[f32]) -> Self {
        self.times.extend_from_slice(more);
        self.times.retain(|time| from < *time && *time < to);
        // A step at an end, too: the time before it is inside.
        self.steps.retain(|time| from <= *time && *time <= to);
        self.times.extend([from, to]);
        self.times.sort_by(f32::total_cmp);
        self.times.dedup();
        self.all_step = false;
        self
    }

    /// Whether all channels step.
    pub fn all_step(&self) -> bool {
        self.all_step
    }

    /// The times; where only some channels step with one before each step, where there is room for it.
    pub fn both_sides_of_steps(&self) -> Vec<f32> {
        let mut times: Vec<f32> = Vec::with_capacity(self.times.len());
        for &time in &self.times {
            let before = (f64::from(time) - SHORTEST_SECS) as f32;
            let steps =
                !self.all_step && self.steps.binary_search_by(|t| t.total_cmp(&time)).is_ok();
            if steps && times.last().is_some_and(|&last| last < before) {
                times.push(before);
            }
            times.push(time);
        }
        times
    }

    /// Whether there is no keyframe.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }
}

/// A motion as keyframes: the times, and the local transform at each.
#[derive(Clone, Debug, PartialEq)]
pub struct Resampled {
    interpolation: Interpolation,
    times: Vec<f32>,
    locals: Vec<Transform>,
}

impl Resampled {
    /// Keyframes for `local`, a function of seconds, at `times` and at as many more times as `tolerance` requires.
    pub fn new(
        times: &KeyTimes,
        tolerance: Resampling,
        mut local: impl FnMut(f64) -> Transform,
    ) -> Self {
        let mut at = |time: f32| local(f64::from(time));
        let mut keys: Vec<(f32, Transform)> = Vec::new();
        for time in times.both_sides_of_steps() {
            keys.push((time, at(time)));
        }
        if !times.all_step {
            let coarse = std::mem::take(&mut keys);
            for pair in coarse.windows(2) {
                keys.push(pair[0]);
                bisect(pair[0], pair[1], tolerance, MAX_LEVELS, &mut at, &mut keys);
            }
            keys.extend(coarse.last());
        }
        let mut previous: Option<DQuat> = None;
        for (_, local) in &mut keys {
            if previous.is_some_and(|q| q.dot(local.rotation) < 0.0) {
                local.rotation = -local.rotation;
            }
            previous = Some(local.rotation);
        }
        let (times_kept, locals) = keys.into_iter().unzip();
        Self {
            interpolation: if times.all_step {
                Interpolation::Step
            } else {
                Interpolation::Linear
            },
            times: times_kept,
            locals,
        }
    }

    /// The local transforms at the keyframes.
    pub fn locals(&self) -> &[Transform] {
        &self.locals
    }

    /// The times of the keyframes, seconds.
    pub fn times(&self) -> &[f32] {
        &self.times
    }

    /// Whether values hold until the next keyframe.
    pub fn steps(&self) -> bool {
        self.interpolation == Interpolation::Step
    }

    /// Only the keyframes of these indices, ascending.
    #[must_use]
    pub fn with_keys(&self, keys: &[usize]) -> Self {
        Self {
            interpolation: self.interpolation,
            times: keys.iter().map(|&k| self.times[k]).collect(),
            locals: keys.iter().map(|&k| self.locals[k]).collect(),
        }
    }

    /// The keyframes of a property as a channel of `joint`.
    pub fn channel(&self, joint: JointId, property: Property) -> Channel {
        let value = |local: &Transform| -> Vec<f64> {
            match property {
                Property::Rotation => local.rotation.to_array().into(),
                Property::Scale => local.scale().to_array().into(),
                Property::Translation | Property::MorphWeights | Property::Influence(_) => {
                    local.translation.to_array().into()
                }
            }
        };
        let values = self.locals.iter().flat_map(value).map(|v| v as f32);
        Channel {
            joint,
            property,
            interpolation: self.interpolation,
            times: self.times.as_slice().into(),
            values: values.collect(),
        }
    }
}

fn bisect(
    from: (f32, Transform),
    to: (f32, Transform),
    tolerance: Resampling,
    levels: u32,
    at: &mut impl FnMut(f32) -> Transform,
    keys: &mut Vec<(f32, Transform)>,
) {
    let span = f64::from(to.0) - f64::from(from.0);
    if levels == 0 || span < 2.0 * SHORTEST_SECS {
        return;
    }
    let time = |x: f64| (f64::from(from.0) + span * x) as f32;
    let probes = PROBES.map(|x| (x, at(time(x))));
    let is_near = |(x, wanted): &(f64, Transform)| {
        deviation(&interpolated(&from.1, &to.1, *x), wanted, tolerance.reach) <= tolerance.length
    };
    if probes.iter().all(is_near) {
        return;
    }
    let middle = (time(0.5), probes[1].1);
    if middle.0 <= from.0 || middle.0 >= to.0 {
        return;
    }
    bisect(from, middle, tolerance, levels - 1, at, keys);
    keys.push(middle);
    bisect(middle, to, tolerance, levels - 1, at, keys);
}

/// Linear interpolation between two local transforms.
fn interpolated(from: &Transform, to: &Transform, x: f64) -> Transform {
    Transform {
        translation: from.translation.lerp(to.translation, x),
        rotation: slerp_shortest(from.rotation, to.rotation, x),
        stretch: from.stretch * (1.0 - x) + to.stretch * x,
    }
}

/// The largest displacement between two local transforms of a point within `reach`.
fn deviation(a: &Transform, b: &Transform, reach: f64) -> f64 {
    let apart = DMat3::from_quat(a.rotation) * a.stretch - DMat3::from_quat(b.rotation) * b.stretch;
    let size = |axis: DVec3| axis.length_squared();
    let apart = (size(apart.x_axis) + size(apart.y_axis) + size(apart.z_axis)).sqrt();
    a.translation.distance(b.translation) + apart * reach
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn stepping(interpolation: Interpolation) -> Clip {
        Clip {
            channels: vec![Channel {
                joint: JointId(0),
                property: Property::Translation,
                interpolation,
                times: Arc::from([0.0, 1.0]),
                values: Arc::from([0.0; 6]),
            }],
            ..Clip::default()
        }
    }

    /// A quarter of a circle of radius 1 per second.
    fn circle(time: f64) -> Transform {
        let (sin, cos) = (time * std::f64::consts::FRAC_PI_2).sin_cos();
        Transform {
            translation: DVec3::new(cos, sin, 0.0),
            ..Transform::IDENTITY
        }
    }

    #[test]
    fn arcs_get_keys_until_chords_follow() {
        let times = KeyTimes::of(&stepping(Interpolation::Linear), |_| true);
        let of = |length: f64| {
            let tolerance = Resampling { length, reach: 0.0 };
            Resampled::new(&times, tolerance, circle)
        };
        assert_eq!(of(1.0).times, [0.0, 1.0]);
        // The sag of a chord over an angle a is 1 - cos(a / 2): 90 degrees in 8 parts give .0048, in 16 .0012.
        assert_eq!(of(2e-3).times.len(), 17);
        let channel = of(2e-3).channel(JointId(3), Property::Translation);
        assert_eq!((channel.joint, channel.width()), (JointId(3), 3));
    }

    #[test]
    fn a_step_at_the_end_of_a_range_has_a_time_on_both_sides() {
        let mut clip = stepping(Interpolation::Step);
        clip.channels[0].times = Arc::from([0.0, 0.5, 1.0]);
        clip.channels[0].values = Arc::from([0.0; 9]);
        let all = KeyTimes::of(&clip, |_| true);
        let times = all.clone().within([0.2, 0.5], &[]).both_sides_of_steps();
        assert_eq!(times, [0.2, 0.498, 0.5]);
        let times = all.within([0.5, 0.7], &[]).both_sides_of_steps();
        assert_eq!(times, [0.5, 0.7]);
    }

    #[test]
    fn steps_stay_steps_or_get_a_key_on_both_sides() {
        let tolerance = Resampling {
            length: 1e-3,
            reach: 0.0,
        };
        let times = KeyTimes::of(&stepping(Interpolation::Step), |_| true);
        let stepped = Resampled::new(&times, tolerance, circle);
        assert_eq!(
            (stepped.interpolation, stepped.times.len()),
            (Interpolation::Step, 2)
        );

        let mut clip = stepping(Interpolation::Step);
        clip.channels
            .extend(stepping(Interpolation::Linear).channels);
        let times = KeyTimes::of(&clip, |_| true);
        let mixed = Resampled::new(&times, tolerance, |t| circle(t.floor()));
        assert_eq!(mixed.times.first(), Some(&0.0));
        assert!(mixed.times.contains(&0.998), "{:?}", mixed.times);
    }
}
