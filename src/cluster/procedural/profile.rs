//! The profile of a bulge along its bone.

use crate::cluster::check::within;
use serde::{Deserialize, Serialize};
use std::f64::consts::FRAC_PI_2;

/// How much of a bulge there is at a distance from its centre, in lengths of the bone: 1 in the centre.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Profile {
    /// `cos^2(pi/2 |s - s0| / h)` within h, exactly 0 beyond.
    Cosine {
        /// h.
        half_width: f64,
    },
    /// `exp(-(s - s0)^2 / 2 sigma^2)`.
    Gaussian {
        /// sigma.
        sigma: f64,
    },
}

impl Default for Profile {
    fn default() -> Self {
        Self::Cosine { half_width: 0.38 }
    }
}

impl Profile {
    /// An error that names a value out of its range.
    pub fn check(&self) -> Result<(), String> {
        match *self {
            Self::Cosine { half_width } => {
                within("the half width of the profile", half_width, 0.01, 10.0)
            }
            Self::Gaussian { sigma } => within("the sigma of the profile", sigma, 0.01, 10.0),
        }
    }

    /// h or sigma: how far it reaches from the centre, in lengths of the bone.
    pub fn reach(&self) -> f64 {
        match *self {
            Self::Cosine { half_width } => half_width,
            Self::Gaussian { sigma } => sigma,
        }
    }

    /// The same kind with another reach.
    #[must_use]
    pub fn with_reach(&self, reach: f64) -> Self {
        match self {
            Self::Cosine { .. } => Self::Cosine { half_width: reach },
            Self::Gaussian { .. } => Self::Gaussian { sigma: reach },
        }
    }

    /// Its value, 0 - 1, at `distance` from the centre.
    pub fn at(&self, distance: f64) -> f64 {
        match *self {
            Self::Cosine { half_width } if distance.abs() < half_width => {
                (FRAC_PI_2 * distance.abs() / half_width).cos().powi(2)
            }
            Self::Cosine { .. } => 0.0,
            Self::Gaussian { sigma } => (-distance * distance / (2.0 * sigma * sigma)).exp(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_have_their_values() {
        let cosine = Profile::default();
        assert_eq!(
            (cosine.at(0.0), cosine.at(0.38), cosine.at(-5.0)),
            (1.0, 0.0, 0.0)
        );
        assert!((cosine.at(0.19) - 0.5).abs() < 1e-15);
        let gaussian = Profile::Gaussian { sigma: 0.2 };
        assert!((gaussian.at(-0.2) - (-0.5f64).exp()).abs() < 1e-15);
        assert_eq!(
            (cosine.reach(), gaussian.with_reach(0.4).reach()),
            (0.38, 0.4)
        );
        let wrong = Profile::Cosine { half_width: 0.0 };
        assert_eq!(
            wrong.check().unwrap_err(),
            "the half width of the profile is 0, which is not 0.01 - 10"
        );
    }
}
