//! The bones of fingers: thumb, index, middle, ring and little, three each from the wrist on.

use super::human_bone::Place;
use super::{Part, Roles, SIDES, Side};
use crate::motion::known_bones::HumanBone;
use crate::motion::rig::Rig;
use std::collections::BTreeMap;

/// Words of the fingers in names, in lower case.
const WORDS: [&[&str]; 5] = [
    &["thumb"],
    &["index"],
    &["middle"],
    &["ring"],
    &["little", "pinky"],
];
/// The bones of a finger.
const N_SEGMENTS: usize = 3;

/// A bone of a finger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Finger {
    /// The hand.
    pub side: Side,
    /// 0 - 4, from the thumb.
    digit: u8,
    /// 0 - 2, from the wrist.
    segment: u8,
}

impl Finger {
    /// All of them, the left hand first.
    pub fn all() -> impl Iterator<Item = Self> {
        let fingers =
            || (0..WORDS.len() as u8).flat_map(|f| (0..N_SEGMENTS as u8).map(move |s| (f, s)));
        SIDES.into_iter().flat_map(move |side| {
            fingers().map(move |(digit, segment)| Self {
                side,
                digit,
                segment,
            })
        })
    }

    /// The finger, 0 - 4 from the thumb.
    pub fn finger(self) -> usize {
        usize::from(self.digit)
    }

    /// The bone, 0 - 2 from the wrist.
    pub fn segment(self) -> usize {
        usize::from(self.segment)
    }

    /// The same bone of a hand.
    #[must_use]
    pub fn on(self, side: Side) -> Self {
        Self { side, ..self }
    }

    /// Another bone of the same finger.
    pub fn at(self, segment: usize) -> Option<Self> {
        (segment < N_SEGMENTS).then_some(Self {
            segment: segment as u8,
            ..self
        })
    }

    /// The first bone of a finger, 0 - 4 from the thumb.
    pub fn first(side: Side, finger: usize) -> Option<Self> {
        Self::all().find(|of| of.side == side && of.finger() == finger && of.segment == 0)
    }

    /// Its name, as in `l.thumb1`.
    pub fn label(self) -> String {
        let side = if self.side == Side::Left { "l" } else { "r" };
        let name = WORDS[self.finger()][0];
        format!("{side}.{name}{}", self.segment + 1)
    }

    /// The bone of this name.
    pub fn of_label(label: &str) -> Option<Self> {
        Self::all().find(|finger| finger.label() == label)
    }

    /// Its name for artists, as in "Thumb 1 L".
    pub fn title(self) -> String {
        let name = WORDS[self.finger()][0];
        let (first, rest) = name.split_at(1);
        let side = if self.side == Side::Left { "L" } else { "R" };
        format!("{}{rest} {} {side}", first.to_uppercase(), self.segment + 1)
    }
}

/// Adds the fingers of a body to its roles: those that are known, else those that the names below the hands say.
pub(super) fn add_fingers(rig: &Rig, roles: &mut Roles) {
    let known = &rig.known;
    let mut found = BTreeMap::new();
    let is_by_file = known.of_file(rig).is_some();
    for side in SIDES {
        let hand = roles.get(Part::Hand, side).filter(|_| !is_by_file);
        let Some(hand) = hand else {
            continue;
        };
        for finger in 0..WORDS.len() {
            let first = Finger::first(side, finger);
            for (segment, joint) in finger_of(rig, hand, finger).into_iter().enumerate() {
                let bone = first.and_then(|first| first.at(segment));
                if let Some(bone) = bone.filter(|_| !roles.has(joint)) {
                    found.insert(bone, joint);
                }
            }
        }
    }
    let of_human = |bone: &HumanBone| match bone.place() {
        Place::Finger(side, finger, segment) => Finger::first(side, finger)?.at(segment),
        _ => None,
    };
    if is_by_file {
        let of_file = known.file.iter().filter(|(_, joint)| **joint < rig.len());
        let of_file = of_file.filter_map(|(bone, &joint)| Some((of_human(bone)?, joint)));
        found.extend(of_file.filter(|(_, joint)| !roles.has(*joint)));
    }
    let by_hand = known.by_hand.iter();
    for (bone, joint) in by_hand.filter(|(_, joint)| joint.is_none_or(|j| j < rig.len())) {
        if let Some(joint) = joint {
            found.retain(|_, other| other != joint);
        }
        match (of_human(bone), joint) {
            (Some(finger), Some(joint)) => {
                found.insert(finger, *joint);
            }
            (Some(finger), None) => {
                found.remove(&finger);
            }
            (None, _) => {}
        }
    }
    roles.fingers = found;
}

/// The joints of a finger below a hand by their names, from the wrist on: at most three.
pub(super) fn finger_of(rig: &Rig, hand: usize, finger: usize) -> Vec<usize> {
    let is_of_finger = |joint: &usize| {
        let name = rig.names[*joint].to_lowercase();
        // The other bones of a palm are no part of their fingers.
        let is_palm = finger != 0 && name.contains("metacarp");
        let is_end = ["end", "tip", "nub"].iter().any(|end| name.ends_with(end));
        let is_named = WORDS[finger].iter().any(|word| name.contains(word));
        is_named && !is_palm && !is_end && rig.is_bone[*joint] && rig.is_below(*joint, hand)
    };
    let mut joints: Vec<usize> = (0..rig.len()).filter(is_of_finger).collect();
    joints.sort_by_key(|&joint| (rig.depth(joint), joint));
    // One chain: what is not below the first is another part.
    let mut chain: Vec<usize> = Vec::new();
    for joint in joints {
        if chain.last().is_none_or(|&above| rig.is_below(joint, above)) {
            chain.push(joint);
        }
    }
    chain.truncate(N_SEGMENTS);
    chain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingers_have_names() {
        assert_eq!(Finger::all().count(), 30);
        for finger in Finger::all() {
            assert_eq!(Finger::of_label(&finger.label()), Some(finger));
        }
        let first = Finger::all().next().unwrap();
        assert_eq!(
            (first.label(), first.title()),
            ("l.thumb1".into(), "Thumb 1 L".into())
        );
        assert_eq!(first.at(2).unwrap().label(), "l.thumb3");
        assert!(first.at(3).is_none() && Finger::of_label("l.thumb4").is_none());
        assert!(Finger::first(Side::Middle, 0).is_none());
    }
}
