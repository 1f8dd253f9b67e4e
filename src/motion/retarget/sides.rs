//! Whether the left and the right limbs of a body are swapped.

use super::Mapping;
use crate::motion::roles::{Part, Role, RolesFault, SIDES, Side};
use glam::DVec3;

/// Level feet shorter than this share of the whole do not tell where a body faces.
const FLAT: f64 = 0.2;
/// Limbs are swapped if the cosine between the way from the right to the left one and the body's left is below this: hips and
/// shoulders turn against the feet.
const SWAPPED: f64 = -0.5;

/// An error if legs or arms are swapped in a pose with +Y up: their left ones are at the right of where the toes point. `which`: 0
/// for the source's joints, 1 for the target's.
pub(super) fn check_sides(
    mapping: &Mapping,
    which: usize,
    places: &[DVec3],
) -> Result<(), RolesFault> {
    let joint = |part, side| {
        let pair = mapping.roles.get(&Role::of(part, side))?;
        Some(places[pair[which]])
    };
    let mut front = DVec3::ZERO;
    for side in SIDES {
        let (Some(foot), Some(toe)) = (joint(Part::Foot, side), joint(Part::Toe, side)) else {
            return Ok(());
        };
        let along = toe - foot;
        let level = along.with_y(0.0);
        if level.length() <= FLAT * along.length() {
            return Ok(());
        }
        front += level;
    }
    let left = DVec3::Y.cross(front);
    let is_swapped = |part| {
        let [l, r] = SIDES.map(|side: Side| joint(part, side));
        l.zip(r).is_some_and(|(l, r)| {
            let way = l - r;
            way.dot(left) < SWAPPED * way.length() * left.length()
        })
    };
    let (legs, arms) = (is_swapped(Part::Thigh), is_swapped(Part::Upperarm));
    if legs || arms {
        return Err(RolesFault::Swapped { legs, arms });
    }
    Ok(())
}
