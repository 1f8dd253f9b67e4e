//! Keyframes of a motion: as few as keep to a tolerance.

use super::act::ChangedPart;
use crate::math::{Transform, Worse};
use crate::skeleton::resample::{KeyTimes, SHORTEST_SECS};
use crate::skeleton::slerp::slerp_shortest;
use crate::skeleton::{Channel, Interpolation, JointId, Property};
use glam::{DMat3, DQuat};

/// Where an interval is compared with linear interpolation.
const PROBES: [f64; 3] = [0.25, 0.5, 0.75];
/// A jump is bracketed to within this, seconds, so that both keyframes lie on the right side.
const JUMP_SECS: f64 = 1e-4;
/// A change within [`JUMP_SECS`] by more than this many tolerances is a jump.
const JUMP: f64 = 4.0;

/// The largest errors of a joint's keyframes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BakeTolerance {
    /// Of its rotation, radians.
    pub radians: f64,
    /// Of its place, in the units of its parent.
    pub length: f64,
    /// Of its scale along an axis, as a factor's difference from 1.
    pub scale: f64,
}

impl ChangedPart {
    pub(super) fn property(self) -> Property {
        match self {
            Self::Translation => Property::Translation,
            Self::Rotation => Property::Rotation,
            Self::Scale => Property::Scale,
        }
    }

    pub(super) fn tolerance(self, of: BakeTolerance) -> f64 {
        match self {
            Self::Translation => of.length,
            Self::Rotation => of.radians,
            Self::Scale => of.scale,
        }
    }

    /// How far this part of two transforms is apart.
    pub(super) fn apart(self, a: &Transform, b: &Transform) -> f64 {
        match self {
            Self::Translation => a.translation.distance(b.translation),
            Self::Rotation => angle_between(a.rotation, b.rotation),
            Self::Scale => (a.scale() - b.scale()).abs().max_element(),
        }
    }
}

/// Keyframes of one part of a joint's transform.
pub(super) struct Keys {
    /// Whether each value holds until the next one.
    pub(super) steps: bool,
    /// Seconds.
    pub(super) times: Vec<f32>,
    /// The local transforms.
    pub(super) values: Vec<Transform>,
}

impl Keys {
    /// Of a motion `at` times between those of its inputs. `worst`: the largest error so far, in tolerances.
    pub(super) fn new(
        times: &KeyTimes,
        (part, tolerance): (ChangedPart, f64),
        worst: &mut f64,
        mut at: impl FnMut(f32) -> Transform,
    ) -> Self {
        if times.all_step() {
            let times = times.both_sides_of_steps();
            let values: Vec<Transform> = times.iter().map(|&time| at(time)).collect();
            for value in &values {
                *worst = worst.worse(part.apart(value, value));
            }
            return Self {
                steps: true,
                times,
                values,
            };
        }
        let mut refining = Refining {
            part,
            tolerance,
            at: &mut at,
            keys: Vec::new(),
            worst,
        };
        for time in times.both_sides_of_steps() {
            let now = (time, (refining.at)(time));
            // 0, unless it is not a number.
            *refining.worst = refining.worst.worse(part.apart(&now.1, &now.1));
            if let Some(&before) = refining.keys.last() {
                refining.refine(before, now);
            }
            refining.keys.push(now);
        }
        let keys = refining.keys;
        thinned(&keys, part, tolerance, at)
    }

    /// The channel of a joint that they make.
    pub(super) fn channel(mut self, joint: JointId, part: ChangedPart) -> Channel {
        let mut previous: Option<DQuat> = None;
        for local in &mut self.values {
            if previous.is_some_and(|q| q.dot(local.rotation) < 0.0) {
                local.rotation = -local.rotation;
            }
            previous = Some(local.rotation);
        }
        let value = |local: &Transform| -> Vec<f64> {
            match part {
                ChangedPart::Translation => local.translation.to_array().into(),
                ChangedPart::Rotation => local.rotation.to_array().into(),
                ChangedPart::Scale => local.scale().to_array().into(),
            }
        };
        Channel {
            joint,
            property: part.property(),
            interpolation: if self.steps {
                Interpolation::Step
            } else {
                Interpolation::Linear
            },
            times: self.times.into(),
            values: (self.values.iter().flat_map(value))
                .map(|v| v as f32)
                .collect(),
        }
    }
}

/// Keyframes in the making.
struct Refining<'a, A> {
    part: ChangedPart,
    tolerance: f64,
    at: &'a mut A,
    keys: Vec<(f32, Transform)>,
    worst: &'a mut f64,
}

impl<A: FnMut(f32) -> Transform> Refining<'_, A> {
    /// Adds the keyframes that an interval needs between its ends.
    fn refine(&mut self, from: (f32, Transform), to: (f32, Transform)) {
        let span = f64::from(to.0) - f64::from(from.0);
        let time = |x: f64| (f64::from(from.0) + span * x) as f32;
        let is_near = |x: f64| self.off(from, to, time(x)) <= 1.0;
        if PROBES.into_iter().all(is_near) {
            return;
        }
        let middle = time(0.5);
        if span >= 2.0 * SHORTEST_SECS && middle > from.0 && middle < to.0 {
            let middle = (middle, (self.at)(middle));
            self.refine(from, middle);
            self.keys.push(middle);
            self.refine(middle, to);
            return;
        }
        let mut ends = vec![from];
        if let Some(jump) = jump_between(from, to, self.part, self.tolerance, self.at) {
            for side in [-0.5, 0.5] {
                let time = (jump + side * SHORTEST_SECS) as f32;
                let last = ends[ends.len() - 1].0;
                if time > last && time < to.0 {
                    let key = (time, (self.at)(time));
                    self.keys.push(key);
                    ends.push(key);
                }
            }
        }
        ends.push(to);
        for pair in ends.windows(2) {
            for time in probes(pair[0].0, pair[1].0) {
                let off = self.off(pair[0], pair[1], time);
                *self.worst = self.worst.worse(off);
            }
        }
    }

    /// The error of linear interpolation at a time, in tolerances.
    fn off(&mut self, from: (f32, Transform), to: (f32, Transform), time: f32) -> f64 {
        let x = (f64::from(time) - f64::from(from.0)) / (f64::from(to.0) - f64::from(from.0));
        let apart = self
            .part
            .apart(&interpolated(&from.1, &to.1, x), &(self.at)(time));
        // What is exact is within a tolerance of 0, too.
        if apart == 0.0 {
            return 0.0;
        }
        apart / self.tolerance
    }
}

/// The time of a jump in an interval, seconds; `None` where there is none.
fn jump_between(
    from: (f32, Transform),
    to: (f32, Transform),
    part: ChangedPart,
    tolerance: f64,
    at: &mut impl FnMut(f32) -> Transform,
) -> Option<f64> {
    let (mut low, mut high) = (f64::from(from.0), f64::from(to.0));
    let (mut below, mut above) = (from.1, to.1);
    while high - low > JUMP_SECS {
        let middle = 0.5 * (low + high);
        let now = at(middle as f32);
        if part.apart(&now, &below) < part.apart(&now, &above) {
            (low, below) = (middle, now);
        } else {
            (high, above) = (middle, now);
        }
        // Times of a file are f32.
        if (low as f32) >= (high as f32) {
            break;
        }
    }
    let jumps = part.apart(&below, &above) > JUMP * tolerance;
    jumps.then_some(0.5 * (low + high))
}

/// As few of the keyframes as stay within the tolerance of the motion at all of them and between them: from each the
/// farthest that does.
fn thinned(
    keys: &[(f32, Transform)],
    part: ChangedPart,
    tolerance: f64,
    mut at: impl FnMut(f32) -> Transform,
) -> Keys {
    let mut between: Vec<Vec<(f32, Transform)>> = Vec::with_capacity(keys.len());
    for pair in keys.windows(2) {
        let probes = probes(pair[0].0, pair[1].0);
        between.push(probes.map(|time| (time, at(time))).collect());
    }
    let fits = |first: usize, last: usize| {
        let (from, to) = (&keys[first], &keys[last]);
        let span = f64::from(to.0) - f64::from(from.0);
        let is_near = |(time, value): &(f32, Transform)| {
            let x = (f64::from(*time) - f64::from(from.0)) / span;
            part.apart(&interpolated(&from.1, &to.1, x), value) <= tolerance
        };
        keys[first + 1..last].iter().all(is_near)
            && between[first..last].iter().flatten().all(is_near)
    };
    let mut kept = vec![0];
    let mut values = keys.iter().chain(between.iter().flatten());
    let constant = values.all(|(_, value)| part.apart(&keys[0].1, value) <= tolerance);
    while !constant
        && let Some(&first) = kept.last()
        && first + 1 < keys.len()
    {
        // In longer and longer steps, then by halves.
        let (mut good, mut step) = (first + 1, 1);
        while good + step < keys.len() && fits(first, good + step) {
            good += step;
            step *= 2;
        }
        while step > 0 {
            if good + step < keys.len() && fits(first, good + step) {
                good += step;
            }
            step /= 2;
        }
        kept.push(good);
    }
    Keys {
        steps: false,
        times: kept.iter().map(|&k| keys[k].0).collect(),
        values: kept.iter().map(|&k| keys[k].1).collect(),
    }
}

/// The times at which an interval is compared; none in the two milliseconds of a jump.
pub(super) fn probes(from: f32, to: f32) -> impl Iterator<Item = f32> {
    let span = f64::from(to) - f64::from(from);
    let compares = span > 1.1 * SHORTEST_SECS;
    let times = PROBES.into_iter().filter(move |_| compares);
    times.map(move |x| (f64::from(from) + span * x) as f32)
}

/// Linear interpolation between two local transforms, as players do it.
fn interpolated(from: &Transform, to: &Transform, x: f64) -> Transform {
    Transform {
        translation: from.translation.lerp(to.translation, x),
        rotation: slerp_shortest(from.rotation, to.rotation, x),
        stretch: DMat3::from_diagonal(from.scale().lerp(to.scale(), x)),
    }
}

/// The angle between two rotations, radians; whatever their signs.
pub(super) fn angle_between(a: DQuat, b: DQuat) -> f64 {
    let b = if a.dot(b) < 0.0 { -b } else { b };
    4.0 * (a - b).length().atan2((a + b).length())
}
