//! Which bone of a motion moves which bone of the character, as a table that can be changed by hand.

use super::{AddingMotion, Editor};
use crate::motion::Rig;
use crate::motion::roles::{Part, Role, RoleMap, SIDES};

/// A part of the body, the bones that both skeletons have there, and how they were found.
#[derive(Clone, Debug, PartialEq)]
pub struct BonePair {
    /// The part.
    pub role: Role,
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

impl AddingMotion {
    /// The parts of the body in order, from the hips outward; empty before the first run.
    pub fn pairs(&self) -> Vec<BonePair> {
        let Some(found) = &self.found else {
            return Vec::new();
        };
        let names = [&found.names, &self.character.rig.names];
        let pair = |role: Role| {
            let bone = |side: usize| {
                let joint = found.roles[side].joints.get(&role)?;
                names[side].get(*joint).cloned()
            };
            let bones = [bone(0), bone(1)];
            let how = if self.settings.by_hand.roles.contains_key(&role.label()) {
                FoundHow::Hand
            } else if bones.iter().any(Option::is_none) {
                FoundHow::Missing
            } else if found.is_by_structure {
                FoundHow::Structure
            } else {
                FoundHow::Names
            };
            BonePair {
                role,
                bones,
                found: how,
            }
        };
        all_roles().map(pair).collect()
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
    pub fn pair_bones(&mut self, role: Role, bones: [String; 2]) {
        let Some(mut settings) = self.adding_motion().map(|a| a.settings().clone()) else {
            return;
        };
        let [ours, theirs] = bones;
        settings.by_hand.roles.insert(role.label(), (ours, theirs));
        self.set_motion_settings(settings);
    }

    /// Forgets the pairs by hand.
    pub fn reset_pairs(&mut self) {
        if let Some(mut settings) = self.adding_motion().map(|a| a.settings().clone()) {
            settings.by_hand = RoleMap::default();
            self.set_motion_settings(settings);
        }
    }
}
