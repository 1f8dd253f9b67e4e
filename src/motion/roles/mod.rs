//! Roles: what the joints of a skeleton are in a body.
//!
//! Data flow: a [`Rig`] -> [`by_names`] or [`by_structure`] -> [`Roles`], by name first; what is known of the rig comes before both
//! ([`KnownBones`], [`find_roles`]) -> the [`Humanoid`] map, with the fingers.
//!
//! Invariant: a joint has at most one role.

mod check;
mod fingers;
mod human_bone;
mod humanoid;
mod map_file;
mod names;
mod structure;
mod words;

pub use super::known_bones::{HumanBone, KnownBones};
pub use check::{RolesFault, check_roles};
pub use fingers::Finger;
pub use humanoid::{HumanFound, Humanoid};
pub use map_file::{ChainNames, RoleMap};
pub use names::by_names;
pub use structure::by_structure;

use super::rig::Rig;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A part of a body that has one joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Part {
    /// The joint that carries the body.
    Hips,
    /// The first joint above the spine.
    Neck,
    /// The head.
    Head,
    /// From the chest to the shoulder.
    Clavicle,
    /// From the shoulder to the elbow.
    Upperarm,
    /// From the elbow to the wrist.
    Forearm,
    /// The wrist.
    Hand,
    /// From the hip to the knee.
    Thigh,
    /// From the knee to the ankle.
    Shin,
    /// The ankle.
    Foot,
    /// The ball of the foot.
    Toe,
}

/// A side of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Side {
    /// Neither.
    Middle,
    /// The body's left.
    Left,
    /// The body's right.
    Right,
}

/// A part on a side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Role {
    /// The part.
    pub part: Part,
    /// Its side; the middle for hips, neck and head.
    pub side: Side,
}

/// How roles were found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FoundBy {
    /// By the names of the joints.
    #[default]
    Names,
    /// By the shape of the skeleton at rest.
    Structure,
    /// By hand.
    Hand,
}

/// The joints of a skeleton that have roles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Roles {
    /// The joint of each part that was found.
    pub joints: BTreeMap<Role, usize>,
    /// From above the hips to below the neck.
    pub spine: Vec<usize>,
    /// The joints of the bones of fingers that were found.
    pub fingers: BTreeMap<Finger, usize>,
    /// Chains of joints beside a body or without one, each from its base outward; those of two skeletons correspond by their places.
    pub chains: Vec<Vec<usize>>,
    /// The chain whose first joint carries the others; `None`: the first that is below no other.
    pub root_chain: Option<usize>,
    /// How far bones are turned about themselves, degrees.
    pub twists: BTreeMap<Role, f64>,
    /// How they were found.
    pub found_by: FoundBy,
}

/// Both sides.
pub const SIDES: [Side; 2] = [Side::Left, Side::Right];

impl Part {
    /// All of them, from the hips outward.
    pub const ALL: [Self; 11] = [
        Self::Hips,
        Self::Neck,
        Self::Head,
        Self::Clavicle,
        Self::Upperarm,
        Self::Forearm,
        Self::Hand,
        Self::Thigh,
        Self::Shin,
        Self::Foot,
        Self::Toe,
    ];

    /// Its name.
    pub fn label(self) -> &'static str {
        match self {
            Self::Hips => "hips",
            Self::Neck => "neck",
            Self::Head => "head",
            Self::Clavicle => "clavicle",
            Self::Upperarm => "upperarm",
            Self::Forearm => "forearm",
            Self::Hand => "hand",
            Self::Thigh => "thigh",
            Self::Shin => "shin",
            Self::Foot => "foot",
            Self::Toe => "toe",
        }
    }

    /// Whether it is one of a pair.
    pub fn has_side(self) -> bool {
        !matches!(self, Self::Hips | Self::Neck | Self::Head)
    }

    /// The part at the end of its bone.
    pub fn next(self) -> Option<Self> {
        match self {
            Self::Clavicle => Some(Self::Upperarm),
            Self::Upperarm => Some(Self::Forearm),
            Self::Forearm => Some(Self::Hand),
            Self::Thigh => Some(Self::Shin),
            Self::Shin => Some(Self::Foot),
            Self::Foot => Some(Self::Toe),
            Self::Neck => Some(Self::Head),
            _ => None,
        }
    }

    /// Whether its bone takes the direction of the source's.
    pub fn is_limb(self) -> bool {
        matches!(
            self,
            Self::Clavicle | Self::Upperarm | Self::Forearm | Self::Thigh | Self::Shin
        )
    }
}

impl Role {
    /// A part in the middle.
    pub fn middle(part: Part) -> Self {
        let side = Side::Middle;
        Self { part, side }
    }

    /// A part on a side.
    pub fn of(part: Part, side: Side) -> Self {
        Self { part, side }
    }

    /// Its name, as in `l.thigh`.
    pub fn label(self) -> String {
        match self.side {
            Side::Middle => self.part.label().to_owned(),
            Side::Left => format!("l.{}", self.part.label()),
            Side::Right => format!("r.{}", self.part.label()),
        }
    }

    /// The role of this name.
    pub fn of_label(label: &str) -> Option<Self> {
        let (side, name) = match label.split_once('.') {
            Some(("l", name)) => (Side::Left, name),
            Some(("r", name)) => (Side::Right, name),
            _ => (Side::Middle, label),
        };
        let part = Part::ALL.into_iter().find(|part| part.label() == name)?;
        (part.has_side() == (side != Side::Middle)).then_some(Self { part, side })
    }
}

impl Side {
    /// Its name in sentences.
    pub fn label(self) -> &'static str {
        match self {
            Self::Middle => "middle",
            Self::Left => "left",
            Self::Right => "right",
        }
    }
}

impl Roles {
    /// The joint of a part in the middle.
    pub fn middle(&self, part: Part) -> Option<usize> {
        self.joints.get(&Role::middle(part)).copied()
    }

    /// The joint of a part on a side.
    pub fn get(&self, part: Part, side: Side) -> Option<usize> {
        self.joints.get(&Role::of(part, side)).copied()
    }

    /// Finds the fingers below the hands: those that are known, else those that names say.
    pub fn find_fingers(&mut self, rig: &Rig) {
        fingers::add_fingers(rig, self);
    }

    /// The number of joints that have a role, without fingers.
    pub fn len(&self) -> usize {
        self.joints.len() + self.spine.len()
    }

    /// Whether no joint has one.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether a joint has a role or is in a chain, without fingers.
    pub fn has(&self, joint: usize) -> bool {
        self.spine.contains(&joint)
            || self.joints.values().any(|j| *j == joint)
            || self.chains.iter().any(|chain| chain.contains(&joint))
    }

    /// The chains alone.
    pub(super) fn only_chains(&self) -> Self {
        Self {
            chains: self.chains.clone(),
            root_chain: self.root_chain,
            found_by: self.found_by,
            ..Self::default()
        }
    }
}

/// The roles of a skeleton: those that are known, else by its names, or where those make no body by its structure.
pub fn find_roles(rig: &Rig) -> Roles {
    let mut roles = rig.known.applied(rig, guessed(rig));
    roles.find_fingers(rig);
    roles
}

fn guessed(rig: &Rig) -> Roles {
    let named = by_names(rig);
    if check_roles(rig, &named).is_ok() {
        return named;
    }
    match by_structure(rig) {
        Some(found) if check_roles(rig, &found).is_ok() || found.len() > named.len() => found,
        _ => named,
    }
}
