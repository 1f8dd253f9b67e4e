//! What is odd about bones.

use crate::document::Document;
use crate::finding::{Finding, Place, counted};
use crate::math::Transform;
use crate::skeleton::JointIndex;
use glam::DMat3;
use std::collections::BTreeSet;

/// What is odd about a bone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Badges {
    /// It is a bone of a skin but moves no point.
    pub unweighted: bool,
    /// Its name has a side, but no bone has the name of the other side.
    pub unpaired: bool,
    /// Its scale is not 1, at rest or in the artist's pose.
    pub scaled: bool,
}

/// How far a scale may be from 1.
const SCALE_TOLERANCE: f64 = 1e-4;
/// Bones named in one finding.
const MOST_NAMES: usize = 4;

/// n_joints: the badges of each. `n_moved`: n_joints.
pub(super) fn badges(document: &Document, n_moved: &[u32]) -> Vec<Badges> {
    let skeleton = document.skeleton();
    let in_skin = document.skin_joint_mask();
    let names: BTreeSet<String> = skeleton
        .joints()
        .iter()
        .map(|j| without_number(&j.name).to_lowercase())
        .collect();
    let is_scaled = |t: &Transform| !t.stretch.abs_diff_eq(DMat3::IDENTITY, SCALE_TOLERANCE);
    (0..skeleton.len())
        .map(|j| {
            let joint = &skeleton.joints()[j];
            let partner = other_side(&joint.name);
            Badges {
                unweighted: in_skin[j] && n_moved.get(j) == Some(&0),
                unpaired: in_skin[j]
                    && partner
                        .is_some_and(|name| !names.contains(&without_number(&name).to_lowercase())),
                scaled: is_scaled(&joint.rest)
                    || document.pose().locals.get(j).is_some_and(is_scaled),
            }
        })
        .collect()
}

/// What the bones of the skins give to say.
pub(super) fn findings(document: &Document, badges: &[Badges]) -> Vec<Finding> {
    let in_skin = document.skin_joint_mask();
    let bones = |which: &dyn Fn(usize) -> bool| -> Vec<u32> {
        (0..in_skin.len())
            .filter(|&j| in_skin[j] && which(j))
            .map(|j| j as u32)
            .collect()
    };
    let lengthless = lengthless(document, &in_skin);
    let groups = [
        (
            bones(&|j| badges[j].scaled),
            [
                "is scaled, at rest or in the pose",
                "are scaled, at rest or in the pose",
            ],
            "two-phase skinning keeps it, plain dual quaternions would drop it",
        ),
        (
            bones(&|j| lengthless[j]),
            ["has no length", "have no length"],
            "a child stands on the same place",
        ),
        (
            bones(&|j| badges[j].unpaired),
            [
                "has a side in its name but no partner",
                "have a side in their names but no partner",
            ],
            "mirroring by name leaves it out",
        ),
        (
            bones(&|j| badges[j].unweighted),
            ["moves no points", "move no points"],
            "such bones often only carry others",
        ),
    ];
    groups
        .into_iter()
        .filter(|(joints, ..)| !joints.is_empty())
        .map(|(joints, [one, many], why)| {
            let (place, message) = if let [joint] = joints[..] {
                let label = document.skeleton().label(JointIndex(joint));
                (format!("bone \"{label}\""), format!("It {one}; {why}."))
            } else {
                let names: Vec<String> = joints
                    .iter()
                    .take(MOST_NAMES)
                    .map(|&j| document.skeleton().label(JointIndex(j)))
                    .collect();
                let more = if joints.len() > MOST_NAMES {
                    " …"
                } else {
                    ""
                };
                (
                    counted(joints.len(), "bone"),
                    format!("{}{more} {many}; {why}.", names.join(", ")),
                )
            };
            Finding::info(place, message).at(Place::Joints(joints.into()))
        })
        .collect()
}

/// n_joints: whether a bone ends where it begins, compared with the size of the skeleton at rest.
fn lengthless(document: &Document, in_skin: &[bool]) -> Vec<bool> {
    let skeleton = document.skeleton();
    let world = document.rest_pose().world_matrices(skeleton);
    let place = |j: usize| world[j].translation;
    let shown: Vec<usize> = (0..skeleton.len()).filter(|&j| in_skin[j]).collect();
    let size = shown
        .iter()
        .map(|&j| place(j).distance(place(shown[0])))
        .fold(0.0, f64::max);
    (0..skeleton.len())
        .map(|j| {
            in_skin[j]
                && skeleton.children(JointIndex(j as u32)).iter().any(|child| {
                    in_skin[child.get()] && place(j).distance(place(child.get())) < size * 1e-5
                })
        })
        .collect()
}

/// The name of the bone on the other side: "Arm.L" gives "Arm.R"; `None` for a name without a side.
///
/// A side is the word left or right at the border of a word, or a lone L or R between separators.
pub fn other_side(name: &str) -> Option<String> {
    const WORDS: [(&str, &str); 6] = [
        ("left", "right"),
        ("Left", "Right"),
        ("LEFT", "RIGHT"),
        ("right", "left"),
        ("Right", "Left"),
        ("RIGHT", "LEFT"),
    ];
    for (word, other) in WORDS {
        for (at, _) in name.match_indices(word) {
            let before = name[..at].chars().next_back();
            let after = name[at + word.len()..].chars().next();
            let starts_low = word.starts_with(char::is_lowercase);
            let begins =
                before.is_none_or(|c| !c.is_alphabetic() || (!starts_low && c.is_lowercase()));
            let ends = after.is_none_or(|c| !c.is_lowercase());
            if begins && ends {
                return Some(format!(
                    "{}{other}{}",
                    &name[..at],
                    &name[at + word.len()..]
                ));
            }
        }
    }
    let is_border =
        |c: Option<char>| c.is_none_or(|c| matches!(c, '.' | '_' | '-' | ' ' | ':' | '|'));
    for (at, letter) in name.char_indices() {
        let other = match letter {
            'L' => 'R',
            'R' => 'L',
            'l' => 'r',
            'r' => 'l',
            _ => continue,
        };
        let before = name[..at].chars().next_back();
        let after = name[at + 1..].chars().next();
        // A name that is nothing but the letter has no side.
        if is_border(before) && is_border(after) && name.len() > 1 {
            return Some(format!("{}{other}{}", &name[..at], &name[at + 1..]));
        }
    }
    None
}

/// The name without the number that exporters append: "Leg_012" gives "Leg".
fn without_number(name: &str) -> &str {
    let text = name.trim_end_matches(|c: char| c.is_ascii_digit());
    match text.strip_suffix(['_', '.']) {
        Some(bare) if text.len() < name.len() && !bare.is_empty() => bare,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_words_or_lone_letters() {
        let side = |name| other_side(name);
        assert_eq!(side("Arm.L").as_deref(), Some("Arm.R"));
        assert_eq!(side("hand_r_01").as_deref(), Some("hand_l_01"));
        assert_eq!(
            side("mixamorig:LeftHand").as_deref(),
            Some("mixamorig:RightHand")
        );
        assert_eq!(side("b_RightLeg01_019").as_deref(), Some("b_LeftLeg01_019"));
        assert_eq!(side("upper left arm").as_deref(), Some("upper right arm"));
        for none in ["Bright", "Spine", "leftover", "L", "Roll", "Neck.001"] {
            assert_eq!(side(none), None, "{none}");
        }
    }

    #[test]
    fn an_exporters_number_is_no_part_of_a_name() {
        assert_eq!(without_number("b_LeftLeg01_015"), "b_LeftLeg01");
        assert_eq!(without_number("Spine2"), "Spine2");
        assert_eq!(without_number("_01"), "_01");
    }
}
