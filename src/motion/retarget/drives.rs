//! The drives of all joints of a character: limbs, hands, feet, spine, fingers, chains and twist joints.

use super::Mapping;
use super::arc::minimal_rotation;
use super::chain::add_chains;
use super::drive::{Drive, TwistJoint};
use super::hand::hands;
use super::reference::{left_of, thighs, yaw_between};
use super::spine::spine;
use crate::motion::rig::Rig;
use crate::motion::roles::{Part, Role, SIDES, Side};
use glam::{DQuat, DVec3};
use std::collections::BTreeMap;

/// Flat directions shorter than this share of the whole give a foot no heading.
const FLAT: f64 = 0.2;

/// Where the rotation of each joint of the target comes from. places: of the source at the reference.
pub(super) fn drives(
    places: &[DVec3],
    target: &Rig,
    mapping: &Mapping,
    source: &Rig,
    twists: &BTreeMap<Role, f64>,
    warnings: &mut Vec<String>,
) -> Vec<Option<Drive>> {
    let mut drives = vec![None; target.len()];
    let mut aligned: BTreeMap<Role, DQuat> = BTreeMap::new();
    let front = target_front(&target.places, mapping);
    for role in mapping.roles.keys().filter(|role| role.part.is_limb()) {
        if let Some([[s, t], [s_end, t_end]]) = mapping.bone(*role) {
            let from = target.places[t_end] - target.places[t];
            let to = places[s_end] - places[s];
            let (turn, is_opposite) = minimal_rotation(from, to, front);
            if is_opposite {
                let name = &target.names[t];
                warnings.push(format!(
                    "\"{name}\" points the opposite way at rest: its roll was guessed."
                ));
            }
            aligned.insert(*role, turn);
        }
    }
    let forearm = |side| aligned.get(&Role::of(Part::Forearm, side)).copied();
    let hands = hands(places, target, mapping, front, |side| {
        forearm(side).unwrap_or(DQuat::IDENTITY)
    });
    for (role, [s, t]) in &mapping.roles {
        let align = match role.part {
            Part::Hand => hands.hands.get(&role.side).copied().or(forearm(role.side)),
            Part::Foot | Part::Toe => foot_yaw(places, target, mapping, *role),
            _ => aligned.get(role).copied(),
        };
        let align = align.unwrap_or(DQuat::IDENTITY);
        let own = twist(target, mapping, *role, twists).map_or(align, |twist| align * twist);
        drives[*t] = Some(Drive::Joint(*s, own));
    }
    for role in twists
        .keys()
        .filter(|role| !mapping.roles.contains_key(role))
    {
        warnings.push(format!(
            "The twist of {} has no effect: no bones are matched for it.",
            role.label()
        ));
    }
    for joint in spine(source, target, mapping) {
        drives[joint.target] = Some(Drive::Between(joint, DQuat::IDENTITY));
    }
    for (finger, [s, t]) in &mapping.fingers {
        let align = hands.fingers.get(finger).copied();
        drives[*t] = Some(Drive::Joint(*s, align.unwrap_or(DQuat::IDENTITY)));
    }
    for [s, t] in &mapping.named {
        drives[*t] = Some(Drive::Joint(*s, DQuat::IDENTITY));
    }
    add_chains(places, [source, target], mapping, front, &mut drives);
    for side in SIDES {
        add_twist_joints(target, mapping, side, &mut drives);
    }
    drives
}

/// A turn of a bone of the target at rest about itself: towards its end, or of one without an end along the bone before it.
fn twist(
    target: &Rig,
    mapping: &Mapping,
    role: Role,
    twists: &BTreeMap<Role, f64>,
) -> Option<DQuat> {
    let degrees = *twists.get(&role)?;
    let of = |from: usize, to: usize| target.places[to] - target.places[from];
    let own = mapping.bone(role).map(|[[_, t], [_, end]]| of(t, end));
    let before = || {
        let all = mapping.roles.iter();
        let mut before = all
            .filter(|(other, _)| other.side == role.side && other.part.next() == Some(role.part));
        let (_, [_, before]) = before.next()?;
        Some(of(*before, mapping.roles.get(&role)?[1]))
    };
    let along = own.or_else(before)?.try_normalize()?;
    Some(DQuat::from_axis_angle(along, degrees.to_radians()))
}

/// Twist joints of a forearm take a share of the hand's twist, as far along the bone as they are.
fn add_twist_joints(target: &Rig, mapping: &Mapping, side: Side, drives: &mut [Option<Drive>]) {
    let Some([[_, forearm], [_, hand]]) = mapping.bone(Role::of(Part::Forearm, side)) else {
        return;
    };
    let along = target.places[hand] - target.places[forearm];
    let Some(axis) = along.try_normalize() else {
        return;
    };
    for (joint, drive) in drives.iter_mut().enumerate() {
        let is_twist = is_twist_name(&target.names[joint]);
        let is_on_bone = target.is_below(joint, forearm)
            && joint != hand
            && !target.is_below(joint, hand)
            && !target.is_below(hand, joint);
        if !is_twist || !is_on_bone || !target.is_bone[joint] || drive.is_some() {
            continue;
        }
        let share = (target.places[joint] - target.places[forearm]).dot(axis) / along.length();
        *drive = Some(Drive::Twist(TwistJoint {
            forearm,
            hand,
            axis,
            share: share.clamp(0.0, 1.0),
        }));
    }
}

/// Whether a joint is called twist or roll, the latter as a word of its own: not a controller.
fn is_twist_name(name: &str) -> bool {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for letter in name.chars() {
        let begins = !letter.is_alphabetic() || (was_lower && letter.is_uppercase());
        if begins {
            words.push(String::new());
        }
        if letter.is_alphabetic()
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_lowercase());
        }
        was_lower = letter.is_lowercase();
    }
    name.to_lowercase().contains("twist") || words.iter().any(|word| word == "roll")
}

/// The direction that the target faces: from its left, level.
pub(super) fn target_front(places: &[DVec3], mapping: &Mapping) -> DVec3 {
    let left = thighs(mapping, 1).and_then(|thighs| left_of(places, thighs));
    left.map_or(DVec3::Z, |left| left.cross(DVec3::Y))
}

/// The heading of a foot: the rotation about Y from its level direction at rest to the source's at the reference.
fn foot_yaw(places: &[DVec3], target: &Rig, mapping: &Mapping, role: Role) -> Option<DQuat> {
    let [[s, t], [s_end, t_end]] = mapping.bone(Role::of(Part::Foot, role.side))?;
    let flat = |along: DVec3| {
        let level = DVec3::new(along.x, 0.0, along.z);
        (level.length() > FLAT * along.length()).then(|| level.try_normalize())?
    };
    let from = flat(target.places[t_end] - target.places[t])?;
    let to = flat(places[s_end] - places[s])?;
    Some(yaw_between(Some(from), Some(to)))
}

#[cfg(test)]
mod tests {
    use super::is_twist_name;

    #[test]
    fn twist_joints_are_known_by_their_names() {
        for name in [
            "lowerarm_twist_01_l",
            "LeftForeArmRoll",
            "roll.L",
            "L_ForearmTwist01",
        ] {
            assert!(is_twist_name(name), "{name}");
        }
        for name in ["forearm_controller", "scroll_l", "trolley", "hand.L"] {
            assert!(!is_twist_name(name), "{name}");
        }
    }
}
