//! The humanoid map: which joint is which bone of a human body, and how that is known.
//!
//! Known bones - those of the file's own map, then those set by hand - come before what names and structure say.

use super::fingers::finger_of;
use super::human_bone::Place;
use super::{FoundBy, Part, Role, Roles, check_roles};
use crate::motion::known_bones::{HumanBone, KnownBones};
use crate::motion::rig::Rig;
use std::collections::BTreeMap;

/// How a bone of the map was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HumanFound {
    /// It is not.
    Empty,
    /// By the name of the joint.
    Name,
    /// By the shape of the skeleton.
    Structure,
    /// By the map of the file.
    File,
    /// By hand.
    Hand,
}

impl HumanFound {
    /// Its name in reports.
    pub fn label(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Name => "name",
            Self::Structure => "structure",
            Self::File => "file",
            Self::Hand => "by hand",
        }
    }
}

/// The humanoid map of a skeleton.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Humanoid {
    bones: BTreeMap<HumanBone, (Option<usize>, HumanFound)>,
}

impl KnownBones {
    /// Roles found by names or structure, with those that are known in their places. A joint has at most one role.
    pub fn applied(&self, rig: &Rig, found: Roles) -> Roles {
        let mut roles = self.of_file(rig).unwrap_or(found);
        self.put_by_hand(rig, &mut roles);
        roles
    }

    /// The roles of the file's map, if they make a body.
    pub(super) fn of_file(&self, rig: &Rig) -> Option<Roles> {
        let mut roles = Roles {
            found_by: FoundBy::Hand,
            ..Roles::default()
        };
        for (bone, &joint) in self.file.iter().filter(|(_, joint)| **joint < rig.len()) {
            match bone.place() {
                Place::Part(role) => {
                    roles.joints.insert(role, joint);
                }
                Place::Spine(_) => roles.spine.push(joint),
                Place::Finger(..) => {}
            }
        }
        check_roles(rig, &roles).is_ok().then_some(roles)
    }

    /// Puts the bones set by hand into roles.
    pub fn put_by_hand(&self, rig: &Rig, roles: &mut Roles) {
        let known = self.by_hand.iter();
        let known = known.filter(|(_, joint)| joint.is_none_or(|joint| joint < rig.len()));
        let mut spine = three_of(&roles.spine);
        let mut sets_spine = false;
        for (bone, &joint) in known {
            // What was found for this joint gives way to what is said.
            if let Some(joint) = joint {
                roles.joints.retain(|_, other| *other != joint);
                if spine.contains(&Some(joint)) {
                    spine = spine.map(|other| other.filter(|other| *other != joint));
                }
                roles.spine.retain(|other| *other != joint);
            }
            match (bone.place(), joint) {
                (Place::Part(role), Some(joint)) => {
                    roles.joints.insert(role, joint);
                }
                (Place::Part(role), None) => {
                    roles.joints.remove(&role);
                }
                (Place::Spine(i), joint) => {
                    spine[i] = joint;
                    sets_spine = true;
                }
                (Place::Finger(..), _) => {}
            }
        }
        if sets_spine {
            roles.spine = spine.into_iter().flatten().collect();
        }
    }
}

/// The bones of a spine as three: in order, of more than three the first, the middle and the last.
fn three_of(spine: &[usize]) -> [Option<usize>; 3] {
    match *spine {
        [] => [None; 3],
        [a] => [Some(a), None, None],
        [a, b] => [Some(a), Some(b), None],
        [first, .., last] => [Some(first), Some(spine[spine.len() / 2]), Some(last)],
    }
}

impl Humanoid {
    /// The map of a rig: its known bones, else those that names say, else structure.
    pub fn of(rig: &Rig) -> Self {
        let known = &rig.known;
        let is_by_file = known.of_file(rig).is_some();
        let roles = super::find_roles(rig);
        let how = match roles.found_by {
            _ if is_by_file => HumanFound::File,
            FoundBy::Names => HumanFound::Name,
            FoundBy::Structure => HumanFound::Structure,
            FoundBy::Hand => HumanFound::Hand,
        };
        let spine = three_of(&roles.spine);
        let mut taken: Vec<usize> = roles.joints.values().copied().collect();
        taken.extend(&roles.spine);
        taken.extend(known.by_hand.values().flatten());
        let mut bones = BTreeMap::new();
        for bone in HumanBone::all() {
            if let Some(&joint) = known.by_hand.get(&bone) {
                let joint = joint.filter(|&joint| joint < rig.len());
                bones.insert(bone, (joint, HumanFound::Hand));
                continue;
            }
            let found = match bone.place() {
                Place::Part(role) => roles.joints.get(&role).map(|&joint| (joint, how)),
                Place::Spine(i) => spine[i].map(|joint| (joint, how)),
                Place::Finger(side, finger, segment) => {
                    let named = if is_by_file {
                        let joint = known.file.get(&bone).copied();
                        joint.map(|joint| (joint, HumanFound::File))
                    } else {
                        let hand = roles.joints.get(&Role::of(Part::Hand, side));
                        let joints = hand.map(|&hand| finger_of(rig, hand, finger));
                        let joint = joints.and_then(|joints| joints.get(segment).copied());
                        joint.map(|joint| (joint, HumanFound::Name))
                    };
                    named.filter(|(joint, _)| !taken.contains(joint))
                }
            };
            if let Some((joint, how)) = found {
                bones.insert(bone, (Some(joint), how));
            }
        }
        Self { bones }
    }

    /// The joint of a bone.
    pub fn joint(&self, bone: HumanBone) -> Option<usize> {
        self.bones.get(&bone).and_then(|(joint, _)| *joint)
    }

    /// How a bone is known. One that was left out by hand is known by hand.
    pub fn found(&self, bone: HumanBone) -> HumanFound {
        self.bones
            .get(&bone)
            .map_or(HumanFound::Empty, |(_, found)| *found)
    }

    /// How many of the bones that a human needs are known.
    pub fn n_required(&self) -> usize {
        let required = HumanBone::all().filter(|bone| bone.is_required());
        required.filter(|&bone| self.joint(bone).is_some()).count()
    }

    /// What the skeleton is, in one line: "Human: 15 of 15 required bones".
    pub fn summary(&self) -> String {
        let n = self.n_required();
        let what = match n {
            0 => return "Not a human: no bone is recognised".to_owned(),
            HumanBone::N_REQUIRED => "Human",
            _ => "Partly human",
        };
        format!("{what}: {n} of {} required bones", HumanBone::N_REQUIRED)
    }

    /// The bones that a human needs and that are not known.
    pub fn missing(&self) -> impl Iterator<Item = HumanBone> + '_ {
        let required = HumanBone::all().filter(|bone| bone.is_required());
        required.filter(|&bone| self.joint(bone).is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Side;
    use super::*;

    /// A body of Mixamo's names.
    fn mixamo() -> Rig {
        let mut rig = Rig::default();
        let mut add = |name: &str, parent: Option<&str>| {
            let parent = parent.map(|p| {
                rig.names
                    .iter()
                    .position(|n| *n == format!("mixamorig:{p}"))
                    .unwrap()
            });
            rig.names.push(format!("mixamorig:{name}"));
            rig.parents.push(parent);
            rig.is_bone.push(true);
            rig.places.push(glam::DVec3::ZERO);
            rig.rotations.push(glam::DQuat::IDENTITY);
        };
        add("Hips", None);
        for (name, above) in [
            ("Spine", "Hips"),
            ("Spine1", "Spine"),
            ("Spine2", "Spine1"),
            ("Neck", "Spine2"),
            ("Head", "Neck"),
        ] {
            add(name, Some(above));
        }
        for side in ["Left", "Right"] {
            for (name, above) in [
                ("Shoulder", "Spine2"),
                ("Arm", "Shoulder"),
                ("ForeArm", "Arm"),
                ("Hand", "ForeArm"),
                ("HandIndex1", "Hand"),
                ("HandIndex2", "HandIndex1"),
                ("HandIndex3", "HandIndex2"),
                ("HandIndex4", "HandIndex3"),
                ("HandThumb1", "Hand"),
                ("UpLeg", "Hips"),
                ("Leg", "UpLeg"),
                ("Foot", "Leg"),
                ("ToeBase", "Foot"),
            ] {
                let above = if ["Spine2", "Hips"].contains(&above) {
                    above.to_owned()
                } else {
                    format!("{side}{above}")
                };
                add(&format!("{side}{name}"), Some(&above));
            }
        }
        rig
    }

    fn bone(name: &str) -> HumanBone {
        HumanBone::of_name(name).unwrap()
    }

    fn named(rig: &Rig, map: &Humanoid, name: &str) -> Option<String> {
        map.joint(bone(name))
            .map(|joint| rig.names[joint].replace("mixamorig:", ""))
    }

    #[test]
    fn a_body_is_found_by_its_names_with_fingers() {
        let rig = mixamo();
        let map = Humanoid::of(&rig);
        assert_eq!(map.summary(), "Human: 15 of 15 required bones");
        let is = |name: &str, joint: &str| {
            assert_eq!(named(&rig, &map, name).as_deref(), Some(joint), "{name}");
            assert_eq!(map.found(bone(name)), HumanFound::Name);
        };
        is("chest", "Spine1");
        is("upperChest", "Spine2");
        is("leftUpperArm", "LeftArm");
        is("rightToes", "RightToeBase");
        is("leftIndexDistal", "LeftHandIndex3");
        is("leftThumbMetacarpal", "LeftHandThumb1");
        assert_eq!(map.joint(bone("leftThumbProximal")), None);
        assert_eq!(map.found(bone("leftLittleDistal")), HumanFound::Empty);
    }

    #[test]
    fn what_is_set_by_hand_comes_first_and_a_joint_is_one_bone() {
        let mut rig = mixamo();
        let joint =
            |rig: &Rig, name: &str| rig.names.iter().position(|n| n.ends_with(name)).unwrap();
        let (hand, toes) = (joint(&rig, "LeftHand"), bone("leftToes"));
        rig.known.by_hand.insert(bone("leftLowerArm"), Some(hand));
        rig.known.by_hand.insert(toes, None);
        rig.known
            .by_hand
            .insert(bone("chest"), Some(joint(&rig, "Spine2")));
        let map = Humanoid::of(&rig);
        assert_eq!(
            named(&rig, &map, "leftLowerArm").as_deref(),
            Some("LeftHand")
        );
        assert_eq!(map.found(bone("leftLowerArm")), HumanFound::Hand);
        assert_eq!(map.joint(bone("leftHand")), None, "it is the lower arm now");
        assert_eq!((map.joint(toes), map.found(toes)), (None, HumanFound::Hand));
        assert_eq!(named(&rig, &map, "chest").as_deref(), Some("Spine2"));
        assert_eq!(map.joint(bone("upperChest")), None);
        assert_eq!(map.summary(), "Partly human: 14 of 15 required bones");
        assert_eq!(map.missing().collect::<Vec<_>>(), [bone("leftHand")]);
        let roles = super::super::find_roles(&rig);
        assert_eq!(roles.get(Part::Forearm, Side::Left), Some(hand));
        assert_eq!(roles.get(Part::Toe, Side::Left), None);
        assert_eq!(roles.spine, [joint(&rig, "Spine"), joint(&rig, "Spine2")]);
        // A joint that is not there is none.
        rig.known.by_hand.insert(bone("head"), Some(999));
        assert!(Humanoid::of(&rig).summary().starts_with("Partly human"));
    }

    #[test]
    fn the_map_of_the_file_is_the_map_if_it_makes_a_body() {
        let mut rig = mixamo();
        let plain = Humanoid::of(&rig);
        // A body whose arms are swapped on purpose: the file says so.
        for bone in HumanBone::all().filter(|b| !b.is_finger()) {
            let other = match bone.name() {
                name if name.starts_with("left") => name.replace("left", "right"),
                name => name.replace("right", "left"),
            };
            if let Some(joint) = HumanBone::of_name(&other).and_then(|b| plain.joint(b)) {
                rig.known.file.insert(bone, joint);
            }
        }
        let map = Humanoid::of(&rig);
        assert_eq!(named(&rig, &map, "leftHand").as_deref(), Some("RightHand"));
        assert_eq!(map.found(bone("leftHand")), HumanFound::File);
        assert_eq!(map.found(bone("leftIndexDistal")), HumanFound::Empty);
        // Without legs it is no body, and names decide.
        rig.known
            .file
            .retain(|bone, _| !bone.name().contains("Leg"));
        assert_eq!(Humanoid::of(&rig), plain);
    }
}
