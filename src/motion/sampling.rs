//! How a channel is read between, before and after its samples.

use crate::math::check::within;
use serde::{Deserialize, Serialize};

/// How a channel is sampled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    /// Between samples.
    pub interpolation: Interpolation,
    /// Before the first and after the last sample.
    pub ends: Ends,
    /// The longest gap that is interpolated, seconds; `None` is 4 median steps, and at least 0.1 s.
    pub max_gap: Option<f64>,
}

/// The value between two samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Interpolation {
    /// On the straight line between them; a rotation on the shorter arc.
    #[default]
    Linear,
    /// The earlier one.
    Hold,
    /// Monotone cubic pieces (PCHIP, Fritsch & Butland 1984); a rotation as [`Interpolation::Linear`].
    Pchip,
    /// A position along the screw motion of the rigid body that the recording's rotation of the same name makes of it (ScLERP, Kavan
    /// et al. 2008); without one, and for all else, as [`Interpolation::Linear`].
    Sclerp,
}

/// The value beyond the samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Ends {
    /// That of the nearest sample.
    #[default]
    Hold,
    /// The samples again and again: the first follows on the last.
    Loop,
    /// None.
    Invalid,
}

impl Ends {
    /// All of them, in the order of lists.
    pub const ALL: [Self; 3] = [Self::Hold, Self::Loop, Self::Invalid];

    /// Its name in lists.
    pub fn label(self) -> &'static str {
        match self {
            Self::Hold => "Hold",
            Self::Loop => "Repeat",
            Self::Invalid => "None",
        }
    }

    /// A sentence about it, for tooltips.
    pub fn about(self) -> &'static str {
        match self {
            Self::Hold => "Before the first and after the last sample the nearest one is used.",
            Self::Loop => "The recording repeats: its first sample follows its last.",
            Self::Invalid => {
                "Outside the recording there is no value, and its displacements fade out."
            }
        }
    }
}

impl Interpolation {
    /// All of them, in the order of lists.
    pub const ALL: [Self; 4] = [Self::Linear, Self::Hold, Self::Pchip, Self::Sclerp];

    /// Its name in lists.
    pub fn label(self) -> &'static str {
        match self {
            Self::Linear => "Linear",
            Self::Hold => "Constant",
            Self::Pchip => "Monotone cubic",
            Self::Sclerp => "Screw (ScLERP)",
        }
    }
}

impl Sampling {
    /// An error that names a value out of its range.
    pub fn check(&self) -> Result<(), String> {
        match self.max_gap {
            Some(gap) => within("the longest gap that is interpolated", gap, 0.0, 1e6),
            None => Ok(()),
        }
    }
}
