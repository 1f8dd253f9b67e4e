//! A rotation split into a swing and the twist about an axis.

use glam::{DQuat, DVec3};

/// Below this length of the twist's part the swing is a half turn, and no twist is defined.
const NO_TWIST: f64 = 1e-9;

/// The twist of `q` about the unit `axis`, with w >= 0: `q = swing * twist`. The identity where the swing is a half turn.
///
/// With d = v . a and n = hypot(d, w): twist = (a d, w) / n (Dobrowolski 2015, "Swing-twist decomposition in Clifford
/// algebra").
pub fn twist(q: DQuat, axis: DVec3) -> DQuat {
    let (d, w) = part(q, axis);
    let n = d.hypot(w);
    if n < NO_TWIST {
        return DQuat::IDENTITY;
    }
    let v = axis * (d / n);
    DQuat::from_xyzw(v.x, v.y, v.z, w / n)
}

/// The angle of the twist of `q` about the unit `axis`, radians, in (-pi, pi].
pub fn twist_angle(q: DQuat, axis: DVec3) -> f64 {
    let (d, w) = part(q, axis);
    if d.hypot(w) < NO_TWIST {
        return 0.0;
    }
    2.0 * d.atan2(w)
}

/// The swing of `q`, whose axis is across the unit `axis`: `q = swing * twist`.
pub fn swing(q: DQuat, axis: DVec3) -> DQuat {
    q * twist(q, axis).conjugate()
}

/// The parts of the twist, with w >= 0.
fn part(q: DQuat, axis: DVec3) -> (f64, f64) {
    let d = DVec3::new(q.x, q.y, q.z).dot(axis);
    if q.w < 0.0 || (q.w == 0.0 && d < 0.0) {
        (-d, -q.w)
    } else {
        (d, q.w)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(q: DQuat, expected: [f64; 4]) {
        assert!(q.abs_diff_eq(DQuat::from_array(expected), 1e-9), "{q}");
    }

    #[test]
    fn a_rotation_has_the_published_twist_and_share() {
        let (x, z) = (
            DQuat::from_rotation_x(70f64.to_radians()),
            DQuat::from_rotation_z(50f64.to_radians()),
        );
        let q = z * x;
        close(q, [0.5198367907, 0.2424038765, 0.3461886131, 0.7424038765]);
        assert!((twist_angle(q, DVec3::X).to_degrees() - 70.0).abs() < 1e-9);
        assert!((twist_angle(x * z, DVec3::X).to_degrees() - 70.0).abs() < 1e-9);
        close(
            DQuat::from_axis_angle(DVec3::X, 0.5 * twist_angle(q, DVec3::X)),
            [0.3007057995, 0.0, 0.0, 0.9537169507],
        );
        let again = swing(q, DVec3::X) * twist(q, DVec3::X);
        assert!(again.abs_diff_eq(q, 1e-15));
    }

    #[test]
    fn half_of_a_twist_jumps_at_a_half_turn() {
        for (angle, half) in [
            (170.0, 85.0),
            (179.9, 89.95),
            (180.0, 90.0),
            (180.1, -89.95),
            (190.0, -85.0),
            (350.0, -5.0),
        ] {
            let q = DQuat::from_rotation_x(f64::to_radians(angle));
            // The quaternion of 180 degrees has a w of 6e-17.
            let found = 0.5 * twist_angle(q, DVec3::X).to_degrees();
            assert!((found - half).abs() < 1e-9, "{angle}: {found}");
            let same = 0.5 * twist_angle(-q, DVec3::X).to_degrees();
            assert!((same.abs() - half.abs()).abs() < 1e-9);
        }
        // Near a half turn of swing the twist still reads.
        let swung = DQuat::from_rotation_z(179.9f64.to_radians());
        let q = swung * DQuat::from_rotation_x(30f64.to_radians());
        assert!((twist_angle(q, DVec3::X).to_degrees() - 30.0).abs() < 1e-6);
        let q = DQuat::from_rotation_z(std::f64::consts::PI);
        assert_eq!(
            twist(DQuat::from_xyzw(0.0, 0.0, 1.0, 0.0), DVec3::X),
            DQuat::IDENTITY
        );
        assert!(twist_angle(q, DVec3::X).abs() < 1e-9);
    }
}
