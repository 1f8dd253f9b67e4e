//! Axes of recorded data in the axes of the scene.

use glam::DVec3;
use serde::{Deserialize, Serialize};

/// An axis of the data with a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SignedAxis {
    /// x.
    PlusX,
    /// -x.
    MinusX,
    /// y.
    PlusY,
    /// -y.
    MinusY,
    /// z.
    PlusZ,
    /// -z.
    MinusZ,
}

/// What of the data becomes x, y and z of the scene: a permutation with signs, which may mirror.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AxisMap(pub [SignedAxis; 3]);

impl SignedAxis {
    /// All of them, in the order of lists.
    pub const ALL: [Self; 6] = [
        Self::PlusX,
        Self::MinusX,
        Self::PlusY,
        Self::MinusY,
        Self::PlusZ,
        Self::MinusZ,
    ];

    /// Its name in lists.
    pub fn label(self) -> &'static str {
        match self {
            Self::PlusX => "X",
            Self::MinusX => "-X",
            Self::PlusY => "Y",
            Self::MinusY => "-Y",
            Self::PlusZ => "Z",
            Self::MinusZ => "-Z",
        }
    }

    fn index(self) -> usize {
        match self {
            Self::PlusX | Self::MinusX => 0,
            Self::PlusY | Self::MinusY => 1,
            Self::PlusZ | Self::MinusZ => 2,
        }
    }

    fn sign(self) -> f64 {
        match self {
            Self::PlusX | Self::PlusY | Self::PlusZ => 1.0,
            Self::MinusX | Self::MinusY | Self::MinusZ => -1.0,
        }
    }
}

impl AxisMap {
    /// The axes as they are.
    pub const SAME: Self = Self([SignedAxis::PlusX, SignedAxis::PlusY, SignedAxis::PlusZ]);
    /// Data with Z up in a scene with Y up.
    pub const Z_UP: Self = Self([SignedAxis::PlusX, SignedAxis::PlusZ, SignedAxis::MinusY]);

    /// An error that names an axis that is used twice.
    pub fn check(&self) -> Result<(), String> {
        let [a, b, c] = self.0.map(SignedAxis::index);
        let twice = if a == b || a == c {
            a
        } else if b == c {
            b
        } else {
            return Ok(());
        };
        let letter = ["X", "Y", "Z"][twice];
        Err(format!(
            "the axis map ({}) uses {letter} twice",
            self.label()
        ))
    }

    /// With another axis for x (0), y (1) or z of the scene. Where another one uses it, that gets the one it replaces.
    #[must_use]
    pub fn with(&self, place: usize, axis: SignedAxis) -> Self {
        let mut axes = self.0;
        if let Some(other) = axes.iter().position(|known| known.index() == axis.index()) {
            axes[other] = axes[place];
        }
        axes[place] = axis;
        Self(axes)
    }

    /// Its axes, as in "X, Z, -Y".
    pub fn label(&self) -> String {
        self.0.map(SignedAxis::label).join(", ")
    }

    /// A position or displacement of the data in the axes of the scene.
    pub fn apply(&self, data: DVec3) -> DVec3 {
        let [x, y, z] = self.0.map(|axis| axis.sign() * data[axis.index()]);
        DVec3::new(x, y, z)
    }

    /// Whether it mirrors: left-handed data in a right-handed scene.
    pub fn mirrors(&self) -> bool {
        let [x, y, z] = [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| self.apply(axis));
        x.dot(y.cross(z)) < 0.0
    }
}

impl Default for AxisMap {
    fn default() -> Self {
        Self::SAME
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_are_permuted_with_signs() {
        let data = DVec3::new(1.0, 2.0, 3.0);
        assert_eq!(AxisMap::SAME.apply(data), data);
        assert_eq!(AxisMap::Z_UP.apply(data), DVec3::new(1.0, 3.0, -2.0));
        assert!(!AxisMap::Z_UP.mirrors());
        let up = AxisMap::SAME.with(1, SignedAxis::PlusZ);
        assert_eq!(up.label(), "X, Z, Y");
        assert_eq!(up.with(2, SignedAxis::MinusY), AxisMap::Z_UP);
        assert_eq!(up.with(0, SignedAxis::MinusX).label(), "-X, Z, Y");
        let mirror = AxisMap([SignedAxis::MinusX, SignedAxis::PlusY, SignedAxis::PlusZ]);
        assert!(mirror.mirrors());
        assert_eq!(mirror.check(), Ok(()));
        let twice = AxisMap([SignedAxis::PlusX, SignedAxis::PlusY, SignedAxis::MinusY]);
        assert_eq!(
            twice.check().unwrap_err(),
            "the axis map (X, Y, -Y) uses Y twice"
        );
    }
}
