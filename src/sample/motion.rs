//! Clips from formulas.

pub(super) use crate::skeleton::clip_builder::ClipBuilder;
use crate::skeleton::{Clip, Joint, JointId, clip_builder};
use glam::{DQuat, DVec3};

/// The rotation by `degrees` about the unit vector `axis`; the same bits on every machine.
pub(super) fn turn(axis: DVec3, degrees: f64) -> DQuat {
    clip_builder::axis_angle(axis, degrees.to_radians())
}

/// The joint of a bone.
pub(super) fn index(joint: u16) -> JointId {
    JointId(u32::from(joint))
}

/// A smooth rise from 0 to 1 and back for `x` in 0..1.
pub(super) fn wave(x: f64) -> f64 {
    0.5 * (1.0 - libm::cos(x * std::f64::consts::TAU))
}

/// `n + 1` times from `start` to `end`.
pub(super) fn steps(start: f64, end: f64, n: usize) -> Vec<f64> {
    (0..=n)
        .map(|k| start + (end - start) * k as f64 / n as f64)
        .collect()
}

/// Clips of a two-bone model: bend, twist and both. `joint` rotates about `hinge` by 120 degrees and about `axis` by
/// 150.
pub(super) fn bend_and_twist(joints: &[Joint], joint: u16, hinge: DVec3, axis: DVec3) -> Vec<Clip> {
    let times = steps(0.0, 2.4, 24);
    let clip = |name: &str, bend: f64, twist: f64| {
        let mut clip = ClipBuilder::new(name, joints);
        clip.rotate(index(joint), &times, |k| {
            let x = wave(times[k] / 2.4);
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
