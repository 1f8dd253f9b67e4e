//! Limits and gains that the body of a what-if has, to compare with those of the document.

use crate::cluster::map::gains::Gain;
use crate::skeleton::JointId;
use crate::skeleton::joint_limits::JointLimits;

/// The largest number of variations of a table.
pub const MAX_VARIATIONS: usize = 1000;
/// The largest factor of a gain.
pub const MAX_GAIN_FACTOR: f64 = 100.0;

/// A limit or a gain that differs from the document's.
#[derive(Clone, Debug, PartialEq)]
pub enum Variation {
    /// The rotation of a joint stays within limits, also where a clip exceeds them: they act as a Limit Rotation constraint after
    /// the joint's own constraints.
    Limits {
        /// The joint.
        joint: JointId,
        /// Its limits.
        limits: JointLimits,
    },
    /// A gain is multiplied.
    Gain {
        /// Of which layers, in all meshes.
        gain: Gain,
        /// The factor, 0 - [`MAX_GAIN_FACTOR`].
        factor: f64,
    },
}

impl Variation {
    /// What is wrong with it: the end of a sentence.
    pub fn check(&self) -> Result<(), String> {
        match self {
            Self::Limits { limits, .. } if !limits.is_valid() => {
                Err("a limit is no range of angles".into())
            }
            Self::Gain { gain, factor } if !(0.0..=MAX_GAIN_FACTOR).contains(factor) => {
                Err(format!(
                    "the gain of \"{}\" is multiplied by {factor}, which is not 0 - {MAX_GAIN_FACTOR}",
                    gain.layer
                ))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn gain(&self) -> Option<(&Gain, f64)> {
        match self {
            Self::Gain { gain, factor } => Some((gain, *factor)),
            Self::Limits { .. } => None,
        }
    }
}
