//! Clips from formulas: keyframes relative to the rest pose.

use super::{Channel, Clip, Interpolation, Joint, JointId, Property};
use glam::{DQuat, DVec3};
use std::sync::Arc;

/// The rotation by `radians` about the unit vector `axis`; the same bits on every machine.
pub fn axis_angle(axis: DVec3, radians: f64) -> DQuat {
    let (sin, cos) = libm::sincos(radians * 0.5);
    DQuat::from_xyzw(axis.x * sin, axis.y * sin, axis.z * sin, cos)
}

/// A clip under construction. All its channels are linear.
pub struct ClipBuilder<'a> {
    joints: &'a [Joint],
    clip: Clip,
}

impl<'a> ClipBuilder<'a> {
    /// A clip without keyframes for these joints.
    pub fn new(name: &str, joints: &'a [Joint]) -> Self {
        Self {
            joints,
            clip: Clip::named(name),
        }
    }

    /// Inserts rotation keyframes for `joint` at `times` (seconds): its rest rotation, then `rotation(key)` in the
    /// joint's own frame.
    pub fn rotate(
        &mut self,
        joint: JointId,
        times: &[f64],
        rotation: impl Fn(usize) -> DQuat,
    ) -> &mut Self {
        let rest = self.joints[joint.get()].rest.rotation;
        let mut previous = rest;
        let mut values = Vec::with_capacity(4 * times.len());
        for k in 0..times.len() {
            let mut q = rest * rotation(k);
            // Consistent signs along the clip, so that every player interpolates along the shorter arc.
            if q.dot(previous) < 0.0 {
                q = -q;
            }
            previous = q;
            values.extend(q.to_array().map(|x| x as f32));
        }
        self.push(joint, Property::Rotation, times, values)
    }

    /// Inserts translation keyframes for `joint` at `times`: its rest translation plus `offset(key)`, in its parent's
    /// space.
    pub fn translate(
        &mut self,
        joint: JointId,
        times: &[f64],
        offset: impl Fn(usize) -> DVec3,
    ) -> &mut Self {
        let rest = self.joints[joint.get()].rest.translation;
        let values = (0..times.len())
            .flat_map(|k| (rest + offset(k)).to_array().map(|x| x as f32))
            .collect();
        self.push(joint, Property::Translation, times, values)
    }

    /// The finished clip.
    pub fn finish(self) -> Clip {
        self.clip
    }

    fn push(
        &mut self,
        joint: JointId,
        property: Property,
        times: &[f64],
        values: Vec<f32>,
    ) -> &mut Self {
        self.clip.channels.push(Channel {
            joint,
            property,
            interpolation: Interpolation::Linear,
            times: times.iter().map(|&t| t as f32).collect(),
            values: Arc::from(values),
        });
        self
    }
}
