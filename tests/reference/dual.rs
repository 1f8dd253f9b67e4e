//! Unit dual quaternions as eight numbers, and the two ways between them.

use super::Rigid;
use glam::{DQuat, DVec3};

/// w, x, y, z of the real and of the dual part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Dual {
    pub(crate) real: [f64; 4],
    pub(crate) dual: [f64; 4],
}

fn product(a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
    [
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    ]
}

fn add(a: [f64; 4], b: [f64; 4], scale: f64) -> [f64; 4] {
    std::array::from_fn(|i| a[i] + b[i] * scale)
}

fn dot(a: [f64; 4], b: [f64; 4]) -> f64 {
    (0..4).map(|i| a[i] * b[i]).sum()
}

impl Dual {
    pub(crate) fn new(rotation: DQuat, t: DVec3) -> Self {
        let real = [rotation.w, rotation.x, rotation.y, rotation.z];
        let dual = product([0.0, t.x, t.y, t.z], real).map(|v| 0.5 * v);
        Self { real, dual }
    }

    pub(crate) fn times(self, other: Self) -> Self {
        Self {
            real: product(self.real, other.real),
            dual: add(
                product(self.real, other.dual),
                product(self.dual, other.real),
                1.0,
            ),
        }
    }

    pub(crate) fn conjugate(self) -> Self {
        let turn = |[w, x, y, z]: [f64; 4]| [w, -x, -y, -z];
        Self {
            real: turn(self.real),
            dual: turn(self.dual),
        }
    }

    pub(crate) fn scaled(self, s: f64) -> Self {
        Self {
            real: self.real.map(|v| v * s),
            dual: self.dual.map(|v| v * s),
        }
    }

    /// Unit, with the dual part made perpendicular to the real one.
    pub(crate) fn unit(self) -> Self {
        let s = self.scaled(1.0 / dot(self.real, self.real).sqrt());
        Self {
            real: s.real,
            dual: add(s.dual, s.real, -dot(s.real, s.dual)),
        }
    }

    pub(crate) fn rigid(self) -> Rigid {
        let u = self.unit();
        let [_, x, y, z] = product(u.dual, u.conjugate().real).map(|v| 2.0 * v);
        Rigid {
            rotation: DQuat::from_xyzw(u.real[1], u.real[2], u.real[3], u.real[0]),
            translation: DVec3::new(x, y, z),
        }
    }

    /// `sum w sigma q`, the signs by `pivot`, made unit.
    pub(crate) fn blend(weights: &[f64], motions: &[Self], pivot: usize) -> Self {
        let mut sum = Self {
            real: [0.0; 4],
            dual: [0.0; 4],
        };
        for (w, q) in weights.iter().zip(motions) {
            let w = if dot(motions[pivot].real, q.real) < 0.0 {
                -w
            } else {
                *w
            };
            sum.real = add(sum.real, q.real, w);
            sum.dual = add(sum.dual, q.dual, w);
        }
        sum.unit()
    }

    /// The screw of the motion on the shorter way: angle, shift along the axis, axis, moment of the axis. `None` for
    /// a pure translation.
    pub(crate) fn screw(self) -> Option<(f64, f64, DVec3, DVec3)> {
        let q = if self.real[0] < 0.0 {
            self.scaled(-1.0)
        } else {
            self
        };
        let v = DVec3::new(q.real[1], q.real[2], q.real[3]);
        let s = v.length();
        if s < 1e-10 {
            return None;
        }
        let axis = v / s;
        let shift = -2.0 * q.dual[0] / s;
        let ve = DVec3::new(q.dual[1], q.dual[2], q.dual[3]);
        let moment = (ve - axis * (0.5 * shift * q.real[0])) / s;
        Some((2.0 * s.atan2(q.real[0]), shift, axis, moment))
    }

    /// A screw motion put together from its parts.
    pub(crate) fn of_screw((angle, shift, axis, moment): (f64, f64, DVec3, DVec3)) -> Self {
        let (sin, cos) = (0.5 * angle).sin_cos();
        let real = axis * sin;
        let dual = moment * sin + axis * (0.5 * shift * cos);
        Self {
            real: [cos, real.x, real.y, real.z],
            dual: [-0.5 * shift * sin, dual.x, dual.y, dual.z],
        }
    }

    /// `a (a^-1 b)^t`.
    pub(crate) fn sclerp(self, to: Self, t: f64) -> Self {
        let step = self.conjugate().times(to);
        let part = match step.screw() {
            Some((angle, shift, axis, moment)) => {
                Self::of_screw((angle * t, shift * t, axis, moment))
            }
            None => Self::new(DQuat::IDENTITY, step.rigid().translation * t),
        };
        self.times(part)
    }
}
