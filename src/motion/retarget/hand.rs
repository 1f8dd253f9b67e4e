//! How hands and fingers at rest are turned to those of a motion's reference pose.

use super::Mapping;
use super::arc::minimal_rotation;
use crate::motion::rig::Rig;
use crate::motion::roles::{Finger, Part, Role, SIDES, Side};
use glam::{DMat3, DQuat, DVec3};
use std::collections::BTreeMap;

/// Hands and fingers at rest are turned by these rotations.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Hands {
    /// By side, where enough fingers are mapped to see how the hand lies.
    pub(super) hands: BTreeMap<Side, DQuat>,
    /// Of each finger bone.
    pub(super) fingers: BTreeMap<Finger, DQuat>,
}

/// places: of the source at the reference. `forearm`: how the forearm of a side is turned.
pub(super) fn hands(
    places: &[DVec3],
    target: &Rig,
    mapping: &Mapping,
    front: DVec3,
    forearm: impl Fn(Side) -> DQuat,
) -> Hands {
    let mut found = Hands::default();
    for side in SIDES {
        let of_hand = frame_of(mapping, side, 0, places)
            .zip(frame_of(mapping, side, 1, &target.places))
            .map(|(ours, theirs)| DQuat::from_mat3(&(ours * theirs.transpose())));
        if let Some(turn) = of_hand {
            found.hands.insert(side, turn);
        }
        let hand = of_hand.unwrap_or_else(|| forearm(side));
        for (&finger, &[s, t]) in mapping.fingers.iter().filter(|(f, _)| f.side == side) {
            let before = finger.segment().checked_sub(1);
            let before = before.and_then(|segment| found.fingers.get(&finger.at(segment)?));
            let above = before.copied().unwrap_or(hand);
            let end = finger.at(finger.segment() + 1);
            let turn = match end.and_then(|end| mapping.fingers.get(&end)) {
                Some(&[s_end, t_end]) => {
                    // It points as the source's; its roll is that of the hand.
                    let from = hand * (target.places[t_end] - target.places[t]);
                    minimal_rotation(from, places[s_end] - places[s], front).0 * hand
                }
                // The last bone has no end of its own.
                None => above,
            };
            found.fingers.insert(finger, turn);
        }
    }
    found
}

/// The axes of a hand, orthonormal: along it to its fingers, and across it from the first to the last; `None` without two fingers
/// beside the thumb. `which`: 0 for the source's joints, 1 for the target's.
fn frame_of(mapping: &Mapping, side: Side, which: usize, places: &[DVec3]) -> Option<DMat3> {
    let hand = *mapping.roles.get(&Role::of(Part::Hand, side))?;
    let bases = (1..5).filter_map(|finger| {
        let pair = mapping.fingers.get(&Finger::first(side, finger)?)?;
        Some(places[pair[which]])
    });
    let bases: Vec<DVec3> = bases.collect();
    let (first, last) = (bases.first()?, bases.last()?);
    let middle = bases.iter().sum::<DVec3>() / bases.len() as f64;
    let along = (middle - places[hand[which]]).try_normalize()?;
    let across = (*last - *first).reject_from_normalized(along);
    // Fingers in one line with the hand do not tell how it lies.
    let is_flat = across.length() > 0.1 * (*last - *first).length();
    let across = across.try_normalize().filter(|_| is_flat)?;
    Some(DMat3::from_cols(along, across, along.cross(across)))
}
