//! What the reader repaired in a source besides weights. A player reads the source as it is, so a file that is measured
//! must have the repaired values.

use super::ids::{ClipId, SkinId};
use crate::skeleton::{JointId, Property};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The deviation from unit length beyond which a rotation is repaired. Players do not normalise rotations, so the
/// deviation scales what turns by twice as much: this is a fifth of the default tolerance at most. Quaternions in 16 bits
/// deviate by a third of it.
const UNIT_TOLERANCE: f32 = 1e-4;

/// What was repaired in the keyframes of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepairedKeys {
    /// The length of rotations.
    Lengths,
    /// The number or the order of the keyframes.
    Keys,
    /// Nothing but that other channels of the clip have the same target, which players blend or choose from.
    Duplicates,
}

/// What was repaired in a source.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Repairs {
    /// Channels of clips.
    pub channels: BTreeMap<ClipId, HashMap<(JointId, Property), RepairedKeys>>,
    /// Skins with inverse bind matrices that are missing, not finite or not affine.
    pub skins: BTreeSet<SkinId>,
    /// Joints whose rotation at rest is not of unit length.
    pub rotations: BTreeSet<JointId>,
}

impl Repairs {
    /// Whether nothing was repaired.
    pub fn is_empty(&self) -> bool {
        self.channels.is_empty() && self.skins.is_empty() && self.rotations.is_empty()
    }

    /// What was repaired in a channel of a clip.
    pub fn of_channel(
        &self,
        clip: ClipId,
        joint: JointId,
        property: Property,
    ) -> Option<RepairedKeys> {
        self.channels.get(&clip)?.get(&(joint, property)).copied()
    }
}

/// Whether a quaternion is of unit length, but for rounding.
pub fn is_unit(q: &[f32]) -> bool {
    let length = q.iter().map(|x| x * x).sum::<f32>().sqrt();
    (length - 1.0).abs() <= UNIT_TOLERANCE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_is_no_other_length() {
        let short = |x: f32| (x * 32767.0).round() / 32767.0;
        let q = [0.18257418, 0.36514837, 0.5477226, 0.73029673];
        assert!(is_unit(&q) && is_unit(&q.map(short)));
        assert!(!is_unit(&q.map(|x| x * 1.001)));
        assert!(!is_unit(&[0.0; 4]) && !is_unit(&[f32::NAN; 4]));
    }
}
