//! Clips from formulas.

use crate::skeleton::{Channel, Clip, Interpolation, Joint, JointIndex, Property};
use glam::{DQuat, DVec3};
use std::sync::Arc;

/// The rotation by `degrees` about the unit vector `axis`, the same bits on every machine.
pub(super) fn turn(axis: DVec3, degrees: f64) -> DQuat {
    let (sin, cos) = libm::sincos(degrees.to_radians() * 0.5);
    DQuat::from_xyzw(axis.x * sin, axis.y * sin, axis.z * sin, cos)
}

/// A rise from 0 to 1 and back for `x` in 0..1, at rest at both ends.
pub(super) fn wave(x: f64) -> f64 {
    0.5 * (1.0 - libm::cos(x * std::f64::consts::TAU))
}

/// Keys of a clip under construction.
pub(super) struct ClipBuilder<'a> {
    joints: &'a [Joint],
    clip: Clip,
}

impl<'a> ClipBuilder<'a> {
    pub(super) fn new(name: &str, joints: &'a [Joint]) -> Self {
        Self {
            joints,
            clip: Clip {
                name: name.to_owned(),
                channels: Vec::new(),
            },
        }
    }

    /// Keys `joint` at `times` (seconds) with its rest rotation, then `rotation(time)` in the joint's own frame.
    pub(super) fn rotate(
        &mut self,
        joint: u16,
        times: &[f64],
        rotation: impl Fn(f64) -> DQuat,
    ) -> &mut Self {
        let rest = self.joints[joint as usize].rest.rotation;
        let mut previous = rest;
        let mut values = Vec::with_capacity(4 * times.len());
        for &time in times {
            let mut q = rest * rotation(time);
            // One sign along the clip, so that any reader interpolates the short way.
            if q.dot(previous) < 0.0 {
                q = -q;
            }
            previous = q;
            values.extend(q.to_array().map(|x| x as f32));
        }
        self.push(joint, Property::Rotation, times, values)
    }

    /// Keys `joint` at `times` with its rest translation plus `offset(time)`, in its parent's space.
    pub(super) fn translate(
        &mut self,
        joint: u16,
        times: &[f64],
        offset: impl Fn(usize) -> DVec3,
    ) -> &mut Self {
        let rest = self.joints[joint as usize].rest.translation;
        let values = (0..times.len())
            .flat_map(|k| (rest + offset(k)).to_array().map(|x| x as f32))
            .collect();
        self.push(joint, Property::Translation, times, values)
    }

    pub(super) fn finish(self) -> Clip {
        self.clip
    }

    fn push(
        &mut self,
        joint: u16,
        property: Property,
        times: &[f64],
        values: Vec<f32>,
    ) -> &mut Self {
        self.clip.channels.push(Channel {
            joint: JointIndex(u32::from(joint)),
            property,
            interpolation: Interpolation::Linear,
            times: times.iter().map(|&t| t as f32).collect(),
            values: Arc::from(values),
        });
        self
    }
}

/// `n + 1` times from `start` to `end`.
pub(super) fn steps(start: f64, end: f64, n: usize) -> Vec<f64> {
    (0..=n)
        .map(|k| start + (end - start) * k as f64 / n as f64)
        .collect()
}

/// Bend, twist and both at once of a two-bone model: `joint` turns about `hinge` by 120 degrees and about `axis` by 150.
pub(super) fn bend_and_twist(joints: &[Joint], joint: u16, hinge: DVec3, axis: DVec3) -> Vec<Clip> {
    let times = steps(0.0, 2.4, 24);
    let clip = |name: &str, bend: f64, twist: f64| {
        let mut clip = ClipBuilder::new(name, joints);
        clip.rotate(joint, &times, |t| {
            let x = wave(t / 2.4);
            turn(hinge, bend * x) * turn(axis, twist * x)
        });
        clip.finish()
    };
    vec![
        clip("Bend", 120.0, 0.0),
        clip("Twist", 0.0, 150.0),
        clip("Bend and twist", 120.0, 150.0),
    ]
}
