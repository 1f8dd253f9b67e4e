//! Animation clips in the form of glTF, and their sampling.

use super::slerp::slerp_shortest;
use super::{JointId, RigidInterpolation};
use glam::DQuat;
use std::sync::Arc;
use xxhash_rust::xxh3::Xxh3;

/// The deviation of a squared length from 1 that is rounding, as of quaternions in 16 bits or of few digits.
const UNIT_TOLERANCE: f64 = 2e-3;

/// The property that a channel animates (glTF `path`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Property {
    /// 3 values per keyframe.
    Translation,
    /// 4 values per keyframe: x, y, z, w.
    Rotation,
    /// 3 values per keyframe.
    Scale,
    /// The morph weights of the joint's mesh: one value per target and keyframe.
    MorphWeights,
    /// The influence of a constraint of the joint, by its number: one value per keyframe, 0 - 1. glTF has none: an export
    /// makes keyframes of what the constraint does.
    Influence(u16),
}

/// Interpolation between keyframes (glTF 2.0, appendix C).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Interpolation {
    /// The previous keyframe's value.
    Step,
    /// Linear; rotations by slerp along the shorter arc.
    Linear,
    /// Cubic Hermite spline; each keyframe has in-tangent, value, out-tangent.
    CubicSpline,
}

/// The keyframes of one property of one joint.
#[derive(Clone, Debug, PartialEq)]
pub struct Channel {
    /// The animated joint.
    pub joint: JointId,
    /// The animated property.
    pub property: Property,
    /// Interpolation between keyframes.
    pub interpolation: Interpolation,
    /// n_keys times in seconds, ascending; at least one.
    pub times: Arc<[f32]>,
    /// n_keys x width values, x 3 for [`Interpolation::CubicSpline`]; rotations need not be unit.
    pub values: Arc<[f32]>,
}

/// A named animation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Clip {
    /// A label; may be empty.
    pub name: String,
    /// At most one channel for each joint and property; of duplicates the last wins.
    pub channels: Vec<Channel>,
    /// How the transforms of joints are interpolated between keyframes of linear channels (see [`super::screw`]). glTF
    /// has only [`RigidInterpolation::Components`]: an export adds keyframes for the others.
    pub rigid_interpolation: RigidInterpolation,
    /// Whether the clip is only for previewing the model; it is not exported.
    pub preview: bool,
    /// The names of the poses in a clip of poses, by their times in seconds, ascending. In a file: `extras.poses`.
    pub pose_names: Vec<(f32, String)>,
}

impl Interpolation {
    /// Values per keyframe as a multiple of the width: 3 for splines, with in-tangent and out-tangent.
    pub fn values_per_key(self) -> usize {
        match self {
            Self::CubicSpline => 3,
            Self::Step | Self::Linear => 1,
        }
    }
}

impl Property {
    /// Values per keyframe without tangents, for `n_targets` morph targets.
    pub fn width(self, n_targets: usize) -> usize {
        match self {
            Self::Translation | Self::Scale => 3,
            Self::Rotation => 4,
            Self::MorphWeights => n_targets,
            Self::Influence(_) => 1,
        }
    }

    /// Whether it is a part of the joint's local transform.
    pub fn moves_joint(self) -> bool {
        match self {
            Self::Translation | Self::Rotation | Self::Scale => true,
            Self::MorphWeights | Self::Influence(_) => false,
        }
    }

    /// Whether glTF has it.
    pub fn is_of_gltf(self) -> bool {
        !matches!(self, Self::Influence(_))
    }

    /// The value of glTF's `path`; that of an influence is none of glTF's.
    pub fn gltf_path(self) -> &'static str {
        match self {
            Self::Translation => "translation",
            Self::Rotation => "rotation",
            Self::Scale => "scale",
            Self::MorphWeights => "weights",
            Self::Influence(_) => "influence",
        }
    }
}

impl Channel {
    /// Values per keyframe without tangents: 3, 4, or the number of morph targets.
    pub fn width(&self) -> usize {
        let per_key = if self.interpolation == Interpolation::CubicSpline {
            3
        } else {
            1
        };
        self.values.len() / (self.times.len() * per_key).max(1)
    }

    /// The value of keyframe `k`, without tangents.
    pub fn key(&self, k: usize) -> &[f32] {
        let width = self.width();
        let start = if self.interpolation == Interpolation::CubicSpline {
            (3 * k + 1) * width
        } else {
            k * width
        };
        &self.values[start..start + width]
    }

    /// Writes the value at `time_secs` into `out` (`width()` numbers); constant before the first and after the last
    /// keyframe.
    ///
    /// Rotations are normalised; `LINEAR` ones take the shorter arc (glTF 2.0, appendix C).
    pub fn sample(&self, time_secs: f64, out: &mut [f64]) {
        let n_keys = self.times.len();
        let after = self.times.partition_point(|&t| f64::from(t) <= time_secs);
        let rotation = self.property == Property::Rotation;
        if after == 0 || after == n_keys || self.interpolation == Interpolation::Step {
            // A sampling time on a keyframe ends here or in a zero-length step of the branch below: both give the
            // keyframe itself.
            let k = if after == 0 { 0 } else { after - 1 };
            for (o, &v) in out.iter_mut().zip(self.key(k)) {
                *o = f64::from(v);
            }
            if rotation {
                normalize4(out);
            }
            return;
        }
        let (k0, k1) = (after - 1, after);
        let (t0, t1) = (f64::from(self.times[k0]), f64::from(self.times[k1]));
        let span = t1 - t0;
        let u = if span > 0.0 {
            ((time_secs - t0) / span).clamp(0.0, 1.0)
        } else {
            0.0
        };
        match self.interpolation {
            Interpolation::CubicSpline => {
                let width = self.width();
                let (u2, u3) = (u * u, u * u * u);
                let (h00, h10) = (2.0 * u3 - 3.0 * u2 + 1.0, u3 - 2.0 * u2 + u);
                let (h01, h11) = (-2.0 * u3 + 3.0 * u2, u3 - u2);
                let out_tangent = &self.values[(3 * k0 + 2) * width..][..width];
                let in_tangent = &self.values[3 * k1 * width..][..width];
                let (v0, v1) = (self.key(k0), self.key(k1));
                for i in 0..width.min(out.len()) {
                    out[i] = h00 * f64::from(v0[i])
                        + h10 * span * f64::from(out_tangent[i])
                        + h01 * f64::from(v1[i])
                        + h11 * span * f64::from(in_tangent[i]);
                }
                if rotation {
                    normalize4(out);
                }
            }
            _ if rotation => {
                let load = |k: usize| {
                    let v = self.key(k);
                    unit(DQuat::from_xyzw(
                        f64::from(v[0]),
                        f64::from(v[1]),
                        f64::from(v[2]),
                        f64::from(v[3]),
                    ))
                };
                slerp_shortest(load(k0), load(k1), u).write_to_slice(out);
            }
            _ => {
                for ((o, &a), &b) in out.iter_mut().zip(self.key(k0)).zip(self.key(k1)) {
                    *o = f64::from(a) + (f64::from(b) - f64::from(a)) * u;
                }
            }
        }
    }
}

impl Clip {
    /// A hash of the keyframes (xxh3-64), for finding out whether they were edited. Names and the order and joints of channels are
    /// left out, since opening a project may change them.
    pub fn fingerprint(&self) -> u64 {
        let of_channel = |channel: &Channel| {
            let mut hash = Xxh3::new();
            hash.update(&[channel.interpolation as u8]);
            hash.update(bytemuck::cast_slice(&channel.times));
            hash.update(bytemuck::cast_slice(&channel.values));
            hash.digest()
        };
        let channels = self.channels.iter().map(of_channel);
        channels.fold(0, u64::wrapping_add)
    }

    /// Time of the first keyframe of any channel, seconds; 0 without channels.
    pub fn start_secs(&self) -> f32 {
        let first = self
            .channels
            .iter()
            .filter_map(|c| c.times.first())
            .copied();
        first.reduce(f32::min).unwrap_or(0.0)
    }

    /// Time of the last keyframe of any channel, seconds; 0 without channels.
    pub fn end_secs(&self) -> f32 {
        self.channels
            .iter()
            .filter_map(|c| c.times.last())
            .copied()
            .fold(0.0, f32::max)
    }

    /// Whether it has keyframes for the influence of a constraint.
    pub fn keys_influences(&self) -> bool {
        self.channels.iter().any(|c| !c.property.is_of_gltf())
    }

    /// Removes the keyframes of influences.
    pub fn remove_influences(&mut self) {
        self.channels.retain(|c| c.property.is_of_gltf());
    }

    /// A clip without keyframes.
    pub fn named(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }
}

/// A rotation of unit length. The arc between two of different lengths would pass its middle too early or too late, but
/// rounding is left alone.
pub(super) fn unit(q: DQuat) -> DQuat {
    if (q.length_squared() - 1.0).abs() > UNIT_TOLERANCE {
        crate::math::transform::normalize_or_identity(q)
    } else {
        q
    }
}

fn normalize4(v: &mut [f64]) {
    crate::math::transform::normalize_or_identity(DQuat::from_slice(v)).write_to_slice(v);
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

    fn sampled(channel: &Channel, time: f64) -> Vec<f64> {
        let mut out = vec![0.0; channel.width()];
        channel.sample(time, &mut out);
        out
    }

    #[test]
    fn values_are_held_outside_of_the_keys() {
        let c = channel(
            Property::Translation,
            Interpolation::Linear,
            &[1.0, 2.0],
            &[0., 0., 0., 4., 0., 0.],
        );
        assert_eq!(sampled(&c, 0.0)[0], 0.0);
        assert_eq!(sampled(&c, 1.25)[0], 1.0);
        assert_eq!(sampled(&c, 9.0)[0], 4.0);
    }

    #[test]
    fn step_changes_exactly_at_the_key() {
        let c = channel(
            Property::Scale,
            Interpolation::Step,
            &[0.0, 1.0],
            &[1., 1., 1., 2., 2., 2.],
        );
        assert_eq!(sampled(&c, 0.999)[0], 1.0);
        assert_eq!(sampled(&c, 1.0)[0], 2.0);
    }

    #[test]
    fn linear_rotation_takes_the_short_way() {
        let half = std::f32::consts::FRAC_1_SQRT_2;
        // The second keyframe is Rz(90) negated.
        let c = channel(
            Property::Rotation,
            Interpolation::Linear,
            &[0.0, 1.0],
            &[0., 0., 0., 1., 0., 0., -half, -half],
        );
        let q = DQuat::from_slice(&sampled(&c, 0.5));
        assert!(
            q.abs_diff_eq(DQuat::from_rotation_z(std::f64::consts::FRAC_PI_4), 1e-7),
            "{q}"
        );
    }

    #[test]
    fn cubic_spline_uses_out_then_in_tangents_scaled_by_the_span() {
        // Keyframes (in, value, out): v0 = 0 with out-tangent 1, v1 = 2 with in-tangent 0, span 2 s.
        let c = channel(
            Property::MorphWeights,
            Interpolation::CubicSpline,
            &[0.0, 2.0],
            &[0.0, 0.0, 1.0, 0.0, 2.0, 0.0],
        );
        // h10 = 0.125, h01 = 0.5 at u = 1/2.
        assert_eq!(sampled(&c, 1.0), [0.125 * 2.0 + 0.5 * 2.0]);
    }

    #[test]
    fn a_clip_of_zero_length_has_one_value() {
        let c = channel(
            Property::Translation,
            Interpolation::Linear,
            &[0.5],
            &[1., 2., 3.],
        );
        for time in [0.0, 0.5, 1.0] {
            assert_eq!(sampled(&c, time), [1.0, 2.0, 3.0]);
        }
    }
}
