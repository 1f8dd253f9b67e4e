//! Which bone of a motion moves which bone of the character, as a table that can be changed by hand.

use super::{AddingMotion, Editor};
use crate::motion::Rig;
use crate::motion::roles::{Finger, Part, Role, Roles, SIDES, Side};

/// What a pair of bones is in a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairOf {
    /// A part.
    Part(Role),
    /// A bone of a finger.
    Finger(Finger),
}

/// A part of the body, the bones that both skeletons have there, and how they were found.
#[derive(Clone, Debug, PartialEq)]
pub struct BonePair {
    /// The part.
    pub of: PairOf,
    /// The names of the motion's bone and of the character's.
    pub bones: [Option<String>; 2],
    /// How they were found.
    pub found: FoundHow,
}

/// How a pair of bones was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundHow {
    /// At least one of them was not.
    Missing,
    /// By the shape of a skeleton.
    Structure,
    /// By both names.
    Names,
    /// Chosen by hand.
    Hand,
}

impl PairOf {
    /// Its name in maps, as in `l.thigh`.
    pub fn label(self) -> String {
        match self {
            Self::Part(role) => role.label(),
            Self::Finger(finger) => finger.label(),
        }
    }

    fn joint(self, roles: &Roles) -> Option<usize> {
        match self {
            Self::Part(role) => roles.joints.get(&role).copied(),
            Self::Finger(finger) => roles.fingers.get(&finger).copied(),
        }
    }
}

impl AddingMotion {
    /// The parts of the body in order, from the hips outward, without fingers; empty before the first run.
    pub fn pairs(&self) -> Vec<BonePair> {
        self.pairs_of(all_roles().map(PairOf::Part))
    }

    /// The bones of fingers, the left hand first; empty before the first run.
    pub fn finger_pairs(&self) -> Vec<BonePair> {
        self.pairs_of(Finger::all().map(PairOf::Finger))
    }

    fn pairs_of(&self, all: impl Iterator<Item = PairOf>) -> Vec<BonePair> {
        let Some(found) = &self.found else {
            return Vec::new();
        };
        let names = [&found.names, &self.character.rig.names];
        let pair = |of: PairOf| {
            let bone = |side: usize| {
                let joint = of.joint(&found.roles[side])?;
                names[side].get(joint).cloned()
            };
            let bones = [bone(0), bone(1)];
            let how = if self.settings.by_hand.roles.contains_key(&of.label()) {
                FoundHow::Hand
            } else if bones.iter().any(Option::is_none) {
                FoundHow::Missing
            } else if found.is_by_structure {
                FoundHow::Structure
            } else {
                FoundHow::Names
            };
            BonePair {
                of,
                bones,
                found: how,
            }
        };
        all.map(pair).collect()
    }

    /// The spines, from above the hips to below the neck: the motion's and the character's.
    pub fn spines(&self) -> [Vec<String>; 2] {
        let Some(found) = &self.found else {
            return Default::default();
        };
        let names = [&found.names, &self.character.rig.names];
        [0, 1].map(|side| {
            let joints = found.roles[side].spine.iter();
            joints
                .filter_map(|joint| names[side].get(*joint).cloned())
                .collect()
        })
    }

    /// The names of the bones of the motion and of the character, each once, in the order of the skeletons.
    pub fn bone_names(&self) -> [Vec<String>; 2] {
        let unique = |names: &mut dyn Iterator<Item = &String>| {
            let mut listed: Vec<String> = Vec::new();
            for name in names.filter(|name| !name.is_empty()) {
                if !listed.contains(name) {
                    listed.push(name.clone());
                }
            }
            listed
        };
        let found = self.found.as_ref();
        let rig: &Rig = &self.character.rig;
        let own = rig.names.iter().zip(&rig.is_bone);
        let mut own = own.filter(|(_, is_bone)| **is_bone).map(|(name, _)| name);
        [
            unique(&mut found.iter().flat_map(|found| &found.names)),
            unique(&mut own),
        ]
    }
}

fn other_side(side: Side) -> Side {
    match side {
        Side::Left => Side::Right,
        Side::Right => Side::Left,
        Side::Middle => Side::Middle,
    }
}

/// The roles of a body in the order in which they are listed.
fn all_roles() -> impl Iterator<Item = Role> {
    let middle = [Part::Hips, Part::Neck, Part::Head].map(Role::middle);
    let sided = SIDES.into_iter().flat_map(|side| {
        let parts = Part::ALL.into_iter().filter(|part| part.has_side());
        parts.map(move |part| Role::of(part, side))
    });
    middle.into_iter().chain(sided)
}

impl Editor {
    /// Gives a part of the body to bones by name, the motion's and the character's; an empty name leaves it out.
    pub fn pair_bones(&mut self, of: PairOf, bones: [String; 2]) {
        let Some(mut settings) = self.adding_motion().map(|a| a.settings().clone()) else {
            return;
        };
        let [ours, theirs] = bones;
        settings.by_hand.roles.insert(of.label(), (ours, theirs));
        self.set_motion_settings(settings);
    }

    /// Swaps the left and the right bones of the limbs that are swapped, in the skeleton where they are.
    pub fn swap_sides(&mut self) {
        let Some(adding) = self.adding_motion() else {
            return;
        };
        let Some(swapped) = adding.found.as_ref().and_then(|found| found.swapped) else {
            return;
        };
        let is_swapped = |part: Part| {
            let is_leg = matches!(part, Part::Thigh | Part::Shin | Part::Foot | Part::Toe);
            part.has_side() && if is_leg { swapped.legs } else { swapped.arms }
        };
        let pairs = adding.pairs().into_iter().chain(adding.finger_pairs());
        let pairs: Vec<BonePair> = pairs.collect();
        let bone = |of: PairOf, which: usize| {
            let pair = pairs.iter().find(|pair| pair.of == of);
            pair.and_then(|pair| pair.bones[which].clone())
                .unwrap_or_default()
        };
        let mut settings = adding.settings().clone();
        for pair in &pairs {
            let other = match pair.of {
                PairOf::Part(role) if is_swapped(role.part) => {
                    PairOf::Part(Role::of(role.part, other_side(role.side)))
                }
                PairOf::Finger(finger) if swapped.arms => {
                    PairOf::Finger(finger.on(other_side(finger.side)))
                }
                _ => continue,
            };
            let mut bones = [0, 1].map(|which| bone(pair.of, which));
            bones[swapped.which] = bone(other, swapped.which);
            if bones.iter().any(|bone| !bone.is_empty()) {
                let [ours, theirs] = bones;
                let roles = &mut settings.by_hand.roles;
                roles.insert(pair.of.label(), (ours, theirs));
            }
        }
        self.set_motion_settings(settings);
    }

    /// Forgets the pairs by hand; chains and twists stay.
    pub fn reset_pairs(&mut self) {
        if let Some(mut settings) = self.adding_motion().map(|a| a.settings().clone()) {
            settings.by_hand.roles.clear();
            settings.by_hand.spine = None;
            self.set_motion_settings(settings);
        }
    }
}
