//! The bones of a human body by the names of VRM 1.0 (`VRMC_vrm`, humanoid).

use super::{Part, Role, SIDES, Side};
use crate::motion::known_bones::HumanBone;

/// Where a bone is in a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Of three bones between hips and neck, the lowest first.
    Spine(usize),
    /// A part of the body.
    Part(Role),
    /// A bone of a finger of a hand, both counted from the thumb and the wrist.
    Finger(Side, usize, usize),
}

/// The three bones of the spine: names, labels.
const SPINE: [[&str; 2]; 3] = [
    ["spine", "Spine"],
    ["chest", "Chest"],
    ["upperChest", "Upper chest"],
];
/// The parts in the middle.
const MIDDLE: [(Part, &str, &str); 3] = [
    (Part::Hips, "hips", "Hips"),
    (Part::Neck, "neck", "Neck"),
    (Part::Head, "head", "Head"),
];
/// The parts of a side, with names and labels.
const SIDED: [(Part, &str, &str); 8] = [
    (Part::Clavicle, "Shoulder", "shoulder"),
    (Part::Upperarm, "UpperArm", "upper arm"),
    (Part::Forearm, "LowerArm", "lower arm"),
    (Part::Hand, "Hand", "hand"),
    (Part::Thigh, "UpperLeg", "upper leg"),
    (Part::Shin, "LowerLeg", "lower leg"),
    (Part::Foot, "Foot", "foot"),
    (Part::Toe, "Toes", "toes"),
];
/// The fingers.
const FINGERS: [&str; 5] = ["Thumb", "Index", "Middle", "Ring", "Little"];
/// Their bones from the wrist on; those of the thumb begin with its metacarpal.
const SEGMENTS: [&str; 3] = ["Proximal", "Intermediate", "Distal"];
const THUMB: [&str; 3] = ["Metacarpal", "Proximal", "Distal"];

const N_MIDDLE: usize = 6;
const N_SIDED: usize = SIDED.len();
const N_BODY: usize = N_MIDDLE + 2 * N_SIDED;
const N_FINGERS: usize = FINGERS.len() * SEGMENTS.len();
const N: usize = N_BODY + 2 * N_FINGERS;

impl HumanBone {
    /// How many of them a human needs.
    pub const N_REQUIRED: usize = 15;

    /// All of them: the middle from the hips up, the left side, the right side, then the fingers.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..N as u8).map(Self)
    }

    pub(super) fn place(self) -> Place {
        let part = |part: usize| Place::Part(Role::middle(MIDDLE[part].0));
        match usize::from(self.0) {
            0 => part(0),
            i @ 1..=3 => Place::Spine(i - 1),
            4 => part(1),
            5 => part(2),
            i if i < N_BODY => {
                let i = i - N_MIDDLE;
                Place::Part(Role::of(SIDED[i % N_SIDED].0, SIDES[i / N_SIDED]))
            }
            i => {
                let i = i - N_BODY;
                let (side, i) = (SIDES[(i / N_FINGERS).min(1)], i % N_FINGERS);
                Place::Finger(side, i / SEGMENTS.len(), i % SEGMENTS.len())
            }
        }
    }

    /// Its name in VRM 1.0, as in `leftUpperArm`.
    pub fn name(self) -> String {
        match self.place() {
            Place::Spine(i) => SPINE[i][0].to_owned(),
            Place::Part(role) if role.side == Side::Middle => {
                let found = MIDDLE.iter().find(|(part, ..)| *part == role.part);
                found.map_or_else(String::new, |(_, name, _)| (*name).to_owned())
            }
            Place::Part(role) => {
                let found = SIDED.iter().find(|(part, ..)| *part == role.part);
                found.map_or_else(String::new, |(_, name, _)| {
                    format!("{}{name}", role.side.label())
                })
            }
            Place::Finger(side, finger, segment) => {
                let segments = if finger == 0 { THUMB } else { SEGMENTS };
                format!("{}{}{}", side.label(), FINGERS[finger], segments[segment])
            }
        }
    }

    /// The bone of a name in VRM 1.0.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::all().find(|bone| bone.name() == name)
    }

    /// The bone of a name in VRM 0, which calls the thumb's bones as those of other fingers.
    pub fn of_old_name(name: &str) -> Option<Self> {
        let thumb = name.strip_suffix("ThumbProximal").map(|side| (side, 0));
        let thumb = thumb.or(name.strip_suffix("ThumbIntermediate").map(|side| (side, 1)));
        match thumb {
            Some((side, segment)) => Self::of_name(&format!("{side}Thumb{}", THUMB[segment])),
            None => Self::of_name(name),
        }
    }

    /// Its name for artists, as in "Left upper arm".
    pub fn label(self) -> String {
        let of_side = |side: Side, label: &str| match side {
            Side::Middle => label.to_owned(),
            Side::Left => format!("Left {label}"),
            Side::Right => format!("Right {label}"),
        };
        match self.place() {
            Place::Spine(i) => SPINE[i][1].to_owned(),
            Place::Part(role) => {
                let middle = MIDDLE.iter().find(|(part, ..)| *part == role.part);
                let found = middle.or_else(|| SIDED.iter().find(|(part, ..)| *part == role.part));
                found.map_or_else(String::new, |(_, _, label)| of_side(role.side, label))
            }
            Place::Finger(side, finger, segment) => {
                let finger = FINGERS[finger].to_lowercase();
                of_side(side, &format!("{finger} {}", segment + 1))
            }
        }
    }

    /// Whether it is a bone of a finger.
    pub fn is_finger(self) -> bool {
        usize::from(self.0) >= N_BODY
    }

    /// Whether a human needs it: one of the 15 that VRM requires.
    pub fn is_required(self) -> bool {
        match self.place() {
            Place::Spine(i) => i == 0,
            Place::Part(role) => !matches!(role.part, Part::Neck | Part::Clavicle | Part::Toe),
            Place::Finger(..) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bones_have_the_names_of_vrm() {
        let names: Vec<String> = HumanBone::all().map(HumanBone::name).collect();
        assert_eq!(
            names[..6],
            ["hips", "spine", "chest", "upperChest", "neck", "head"]
        );
        assert_eq!(names[7], "leftUpperArm");
        assert_eq!(names[21], "rightToes");
        assert_eq!(names[22], "leftThumbMetacarpal");
        assert_eq!(names[51], "rightLittleDistal");
        assert_eq!(names.len(), 52);
        for bone in HumanBone::all() {
            assert_eq!(HumanBone::of_name(&bone.name()), Some(bone));
            let same = HumanBone::all().filter(|other| other.place() == bone.place());
            assert_eq!(same.count(), 1);
            assert!(!bone.label().is_empty());
        }
        let n = HumanBone::all().filter(|bone| bone.is_required()).count();
        assert_eq!(n, HumanBone::N_REQUIRED);
        let old = HumanBone::of_old_name("leftThumbIntermediate").unwrap();
        assert_eq!(old.name(), "leftThumbProximal");
        assert_eq!(HumanBone::of_name("tail"), None);
    }
}
