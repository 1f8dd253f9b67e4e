//! Values that vary over time: numbers, positions and rotations.

use crate::math::DualQuat;
use crate::math::monotone_cubic::pchip;
use crate::math::transform::normalize_or_identity;
use glam::{DQuat, DVec3};

/// A value that can be sampled, interpolated and faded to rest.
pub trait Signal: Copy + PartialEq + std::fmt::Debug {
    /// What it is where nothing is known: 0, or no rotation.
    const REST: Self;

    /// Whether it is a value at all: every number finite, a rotation not of length 0.
    fn is_valid(&self) -> bool;

    /// From `a` (t = 0) to `b` (t = 1), exact at both: on a straight line, a rotation along the shorter arc.
    #[must_use]
    fn mix(a: Self, b: Self, t: f64) -> Self;

    /// From `values[0]` (t = 0) to `values[1]` (t = 1), exact at both: a position along the screw motion of a rigid body that is
    /// there and has these rotations (ScLERP, Kavan et al. 2008); all else as [`Signal::mix`].
    #[must_use]
    fn along_screw(values: [Self; 2], _rotations: [DQuat; 2], t: f64) -> Self {
        Self::mix(values[0], values[1], t)
    }

    /// The slopes of [`pchip`] by component; empty for rotations, which are always interpolated along arcs.
    fn slopes(times: &[f64], values: &[Self]) -> Vec<Self>;

    /// The cubic Hermite piece between two values with their slopes, at `t`, over `width` seconds.
    #[must_use]
    fn hermite(t: f64, width: f64, values: [Self; 2], slopes: [Self; 2]) -> Self;
}

impl Signal for f64 {
    const REST: Self = 0.0;

    fn is_valid(&self) -> bool {
        self.is_finite()
    }

    fn mix(a: Self, b: Self, t: f64) -> Self {
        if t == 1.0 { b } else { a + (b - a) * t }
    }

    fn slopes(times: &[f64], values: &[Self]) -> Vec<Self> {
        pchip(times, values)
    }

    fn hermite(t: f64, width: f64, values: [Self; 2], slopes: [Self; 2]) -> Self {
        crate::math::monotone_cubic::hermite(t, width, values, slopes)
    }
}

impl Signal for DVec3 {
    const REST: Self = Self::ZERO;

    fn is_valid(&self) -> bool {
        self.is_finite()
    }

    fn mix(a: Self, b: Self, t: f64) -> Self {
        if t == 1.0 { b } else { a + (b - a) * t }
    }

    fn along_screw(values: [Self; 2], rotations: [DQuat; 2], t: f64) -> Self {
        if t == 0.0 || t == 1.0 || !rotations.iter().all(Signal::is_valid) {
            return Self::mix(values[0], values[1], t);
        }
        // From the first value, so that no digits are lost far from the origin.
        let at = |i: usize| {
            let rotation = normalize_or_identity(rotations[i]);
            DualQuat::from_rotation_translation(rotation, values[i] - values[0])
        };
        values[0] + at(0).sclerp(at(1), t).translation()
    }

    fn slopes(times: &[f64], values: &[Self]) -> Vec<Self> {
        let mut slopes = vec![Self::ZERO; values.len()];
        for axis in 0..3 {
            let component: Vec<f64> = values.iter().map(|v| v[axis]).collect();
            for (slope, found) in slopes.iter_mut().zip(pchip(times, &component)) {
                slope[axis] = found;
            }
        }
        slopes
    }

    fn hermite(t: f64, width: f64, values: [Self; 2], slopes: [Self; 2]) -> Self {
        let component =
            |axis: usize| f64::hermite(t, width, values.map(|v| v[axis]), slopes.map(|m| m[axis]));
        Self::new(component(0), component(1), component(2))
    }
}

impl Signal for DQuat {
    const REST: Self = Self::IDENTITY;

    fn is_valid(&self) -> bool {
        self.is_finite() && self.length() > 1e-9
    }

    fn mix(a: Self, b: Self, t: f64) -> Self {
        if t == 0.0 || t == 1.0 {
            return if t == 0.0 { a } else { b };
        }
        let dot = a.dot(b);
        let b = if dot < 0.0 { -b } else { b };
        // The sine of the small angle keeps its digits where the cosine has none.
        let angle = 2.0 * (a - b).length().atan2((a + b).length());
        let sine = angle.sin();
        if sine < 1e-9 {
            return normalize_or_identity(a * (1.0 - t) + b * t);
        }
        let (from, to) = (((1.0 - t) * angle).sin(), (t * angle).sin());
        normalize_or_identity((a * from + b * to) * (1.0 / sine))
    }

    fn slopes(_: &[f64], _: &[Self]) -> Vec<Self> {
        Vec::new()
    }

    fn hermite(t: f64, _: f64, values: [Self; 2], _: [Self; 2]) -> Self {
        Self::mix(values[0], values[1], t)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotations_take_the_shorter_arc_whatever_their_signs() {
        let (a, b) = (DQuat::from_rotation_x(0.4), DQuat::from_rotation_x(1.6));
        let middle = DQuat::from_rotation_x(0.7);
        for b in [b, -b] {
            let found = DQuat::mix(a, b, 0.25);
            assert!((found.dot(middle).abs() - 1.0).abs() < 1e-15, "{found}");
        }
        assert!(DQuat::mix(a, a, 0.3).abs_diff_eq(a, 1e-15));
        assert!(!DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0).is_valid());
    }
}
