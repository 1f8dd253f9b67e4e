//! The morph targets of a character, and which channels drive them.

use super::vmc::of_vrm1;
use crate::skeleton::JointId;

/// What the names of blend shapes begin with in the channels of a sender.
const BLEND: &str = "blend:";

/// A joint that draws a mesh with morph targets.
#[derive(Clone, Debug, PartialEq)]
pub struct MorphedJoint {
    /// The joint.
    pub joint: JointId,
    /// n_targets, possibly empty.
    pub names: Vec<String>,
    /// n_targets: the weights at rest.
    pub rest: Vec<f32>,
}

impl MorphedJoint {
    /// The targets that a channel drives.
    pub fn driven_by<'a>(&'a self, channel: &'a str) -> impl Iterator<Item = usize> + 'a {
        let names = self.names.iter().take(self.rest.len()).enumerate();
        names
            .filter(move |(_, target)| drives(channel, target))
            .map(|(i, _)| i)
    }
}

/// Whether a channel drives a morph target: it has its name, alone or after `blend:`; there the names of VRM 0 and VRM 1 are the
/// same.
fn drives(channel: &str, target: &str) -> bool {
    if target.is_empty() {
        return false;
    }
    match channel.strip_prefix(BLEND) {
        Some(name) => of_vrm1(name) == of_vrm1(target),
        None => channel == target,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_drive_the_targets_of_their_names() {
        assert!(drives("blend:Smile", "Smile") && drives("Smile", "Smile"));
        assert!(drives("blend:happy", "Joy") && drives("blend:Joy", "happy"));
        assert!(
            !drives("Joy", "happy"),
            "a value of a device is no blend shape"
        );
        assert!(!drives("blend:", "") && !drives("", "") && !drives("blend:smile", "Smile"));
        let face = MorphedJoint {
            joint: JointId(2),
            names: ["aa", "", "Blink_L", "aa"].map(str::to_owned).to_vec(),
            rest: vec![0.0; 4],
        };
        assert_eq!(face.driven_by("blend:A").collect::<Vec<_>>(), [0, 3]);
        assert_eq!(face.driven_by("blend:blinkLeft").collect::<Vec<_>>(), [2]);
    }
}
