//! Aiming an axis of a joint in a direction.

use crate::math::transform::normalize_or_identity;
use glam::{DMat3, DQuat, DVec3};

/// A direction shorter than this has no direction.
const NOTHING: f64 = 1e-12;
/// The smallest sine between the two axes that defines a plane.
const PARALLEL: f64 = 1e-6;

/// The side of a joint that aims.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Up {
    /// An axis of the joint, unit, across the one that aims.
    pub axis: DVec3,
    /// Where it points as far as it can, in the world.
    pub direction: DVec3,
}

/// The world rotation of a joint whose `axis` (its own, unit) points along `direction` (world).
///
/// Without `up` it is turned from `rest`, its world rotation by its rest transform, by the shortest arc. A direction of no
/// length leaves it there. An opposite one turns it about the up axis, or the world axis that lies least along.
pub fn aim(rest: DQuat, axis: DVec3, direction: DVec3, up: Option<Up>) -> DQuat {
    let Some(along) = direction
        .try_normalize()
        .filter(|_| direction.length() > NOTHING)
    else {
        return rest;
    };
    if let Some(q) = up.and_then(|up| with_side(axis, along, up)) {
        return q;
    }
    let from = rest * axis;
    let turn = if from.dot(along) < -1.0 + 1e-12 {
        let size = from.abs();
        let least = if size.x <= size.y && size.x <= size.z {
            DVec3::X
        } else if size.y <= size.z {
            DVec3::Y
        } else {
            DVec3::Z
        };
        let across = |about: DVec3| about.reject_from_normalized(from);
        let side = up.map(|up| across(rest * up.axis));
        let side = side.filter(|side| side.length() > PARALLEL);
        let about = side.unwrap_or_else(|| across(least)).try_normalize();
        let about = about.unwrap_or_else(|| from.any_orthonormal_vector());
        DQuat::from_axis_angle(about, std::f64::consts::PI)
    } else {
        DQuat::from_rotation_arc(from, along)
    };
    turn * rest
}

/// The rotation of both axes; `None` where the side lies along the direction.
fn with_side(axis: DVec3, along: DVec3, up: Up) -> Option<DQuat> {
    let side = up.direction.reject_from_normalized(along);
    if side.length() <= PARALLEL * up.direction.length() {
        return None;
    }
    let side = side.try_normalize()?;
    let own = up.axis.reject_from_normalized(axis).try_normalize()?;
    let there = DMat3::from_cols(along, side, along.cross(side));
    let here = DMat3::from_cols(axis, own, axis.cross(own));
    let q = normalize_or_identity(DQuat::from_mat3(&(there * here.transpose())));
    Some(if q.w < 0.0 { -q } else { q })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_aims_by_the_shortest_arc_or_about_its_side() {
        let q = aim(DQuat::IDENTITY, DVec3::Y, DVec3::new(1.0, 1.0, 0.0), None);
        let expected = DQuat::from_xyzw(0.0, 0.0, -0.3826834324, 0.9238795325);
        assert!(q.abs_diff_eq(expected, 1e-9), "{q}");
        let up = Up {
            axis: DVec3::Z,
            direction: DVec3::Z,
        };
        let q = aim(DQuat::IDENTITY, DVec3::Y, DVec3::NEG_Y, Some(up));
        assert!((q * DVec3::Y).distance(DVec3::NEG_Y) < 1e-12);
        assert!(
            q.abs_diff_eq(DQuat::from_xyzw(0.0, 0.0, 1.0, 0.0), 1e-9)
                || q.abs_diff_eq(DQuat::from_xyzw(0.0, 0.0, -1.0, 0.0), 1e-9),
            "{q}"
        );
    }

    #[test]
    fn directions_that_define_nothing_leave_a_rotation() {
        let rest = DQuat::from_rotation_x(0.3);
        assert_eq!(aim(rest, DVec3::Y, DVec3::ZERO, None), rest);
        let up = Up {
            axis: DVec3::Z,
            direction: DVec3::X,
        };
        // The side lies along: as without one.
        let q = aim(rest, DVec3::Y, DVec3::X, Some(up));
        assert_eq!(q, aim(rest, DVec3::Y, DVec3::X, None));
        // A side along the axis is none.
        let up = Up {
            axis: DVec3::Y,
            direction: DVec3::X,
        };
        let q = aim(DQuat::IDENTITY, DVec3::Y, DVec3::NEG_Y, Some(up));
        assert!((q * DVec3::Y).distance(DVec3::NEG_Y) < 1e-12 && q.is_normalized());
        for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
            let q = aim(DQuat::IDENTITY, axis, -axis, None);
            assert!((q * axis).distance(-axis) < 1e-12);
        }
    }
}
