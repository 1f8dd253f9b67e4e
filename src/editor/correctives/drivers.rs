//! Driver joints found from the selection, and what of their rotation counts.

use crate::deform::correctives::Driver;
use crate::document::Document;
use crate::math::Transform;
use crate::math::transform::normalize_or_identity;
use crate::psd::DriverMode;
use crate::skeleton::{JointId, Property, Skeleton};
use glam::{DMat3, DQuat, DVec3};

/// A joint whose rotation is closer to bind drives nothing: 2 degrees.
const UNPOSED: f64 = 2.0 * std::f64::consts::PI / 180.0;
/// The share of the second moment of a hinge's rotation vectors that its axis holds.
const HINGE_SHARE: f64 = 0.95;
/// The largest rotation of a hinge beside its axis, 10 degrees.
const HINGE_REST: f64 = 10.0 * std::f64::consts::PI / 180.0;

/// The driver of a joint relative to its parent, with the mode that suits its clips.
pub(super) fn found(document: &Document, joint: JointId) -> Driver {
    let (skeleton, rest) = (document.skeleton(), document.rest_pose());
    let mut driver = Driver::of_joint(joint, skeleton, &rest.locals);
    if let Some(axis) = hinge_axis(&clip_rotations(document, &driver)) {
        driver.mode = DriverMode::Hinge(axis);
    }
    driver
}

/// As [`found`], for a sample in a pose: a hinge that does not see all of the rotation there becomes a ball.
pub(super) fn found_at(document: &Document, joint: JointId, locals: &[Transform]) -> Driver {
    let mut driver = found(document, joint);
    if let DriverMode::Hinge(axis) = driver.mode {
        let rotation = driver.rotation(document.skeleton(), locals);
        let vector = rotation_vector(driver.from_bind(rotation));
        if beside(vector, axis) > HINGE_REST {
            driver.mode = DriverMode::Ball;
        }
    }
    driver
}

/// The length of a rotation vector beside an axis, radians.
fn beside(vector: DVec3, axis: DVec3) -> f64 {
    (vector - axis * vector.dot(axis)).length()
}

/// Whether the rotation of a driver differs from bind.
pub(super) fn is_posed(driver: &Driver, skeleton: &Skeleton, locals: &[Transform]) -> bool {
    let from_bind = driver.from_bind(driver.rotation(skeleton, locals));
    rotation_vector(from_bind).length() > UNPOSED
}

/// Rotates the joints of drivers so that each has the rotation that [`Driver::rotation`] is to give.
pub(super) fn pose_drivers(
    skeleton: &Skeleton,
    wanted: &[(Driver, DQuat)],
    locals: &mut [Transform],
) {
    let mut wanted: Vec<_> = wanted.iter().collect();
    // A rotation relative to a distant joint depends on those in between.
    wanted.sort_by_key(|(driver, _)| skeleton.rank(driver.joint));
    for (driver, rotation) in wanted {
        let now = driver.rotation(skeleton, locals);
        if let Some(local) = locals.get_mut(driver.joint.get()) {
            local.rotation = normalize_or_identity(local.rotation * now.conjugate() * *rotation);
        }
    }
}

/// The rotations from bind at the keyframes of the clips that are exported.
fn clip_rotations(document: &Document, driver: &Driver) -> Vec<DQuat> {
    let clips = document.clips().values().filter(|clip| !clip.preview);
    let channels = clips.flat_map(|clip| &clip.channels);
    let own = channels
        .filter(|channel| channel.joint == driver.joint && channel.property == Property::Rotation);
    let keys = own.flat_map(|channel| (0..channel.times.len()).map(|k| channel.key(k)));
    let rotations = keys.map(|key| {
        let [x, y, z, w] = [0, 1, 2, 3].map(|i| key.get(i).map_or(0.0, |&v| f64::from(v)));
        driver.from_bind(normalize_or_identity(DQuat::from_xyzw(x, y, z, w)))
    });
    rotations.filter(|q| q.is_finite()).collect()
}

/// The axis about which a joint rotates alone: it holds 95 % of the second moment of the rotation vectors, and the rest
/// of each stays under 10 degrees. `None` where there is no such axis, or hardly any rotation.
fn hinge_axis(rotations: &[DQuat]) -> Option<DVec3> {
    let vectors: Vec<DVec3> = rotations.iter().map(|q| rotation_vector(*q)).collect();
    let largest = vectors
        .iter()
        .copied()
        .max_by(|a, b| a.length_squared().total_cmp(&b.length_squared()))?;
    if largest.length() < UNPOSED {
        return None;
    }
    let outer = |v: &DVec3| DMat3::from_cols(*v * v.x, *v * v.y, *v * v.z);
    let moment = vectors.iter().map(outer).fold(DMat3::ZERO, |a, b| a + b);
    // Power iteration: only a strongly dominant axis passes below, and that converges in few steps.
    let mut axis = largest.normalize_or(DVec3::X);
    for _ in 0..32 {
        axis = (moment * axis).normalize_or(axis);
    }
    let total = moment.x_axis.x + moment.y_axis.y + moment.z_axis.z;
    let is_hinge = axis.dot(moment * axis) >= HINGE_SHARE * total
        && vectors.iter().all(|v| beside(*v, axis) < HINGE_REST);
    // The largest rotation counts as positive.
    is_hinge.then_some(axis * axis.dot(largest).signum())
}

/// The axis of a rotation times its angle, 0 - pi.
pub(super) fn rotation_vector(rotation: DQuat) -> DVec3 {
    let rotation = if rotation.w < 0.0 {
        -rotation
    } else {
        rotation
    };
    rotation.to_scaled_axis()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hinge_is_found_where_one_axis_holds_the_rotations() {
        let axis = DVec3::new(0.6, 0.0, 0.8);
        let bent = |degrees: f64| DQuat::from_axis_angle(axis, degrees.to_radians());
        let off = DQuat::from_rotation_y(0.1);
        let found = hinge_axis(&[bent(0.0), bent(-120.0), bent(60.0) * off]).unwrap();
        assert!(found.dot(-axis) > 0.999, "{found}");
        assert_eq!(hinge_axis(&[bent(1.0)]), None);
        assert_eq!(hinge_axis(&[]), None);
        let far = DQuat::from_rotation_y(0.3);
        assert_eq!(hinge_axis(&[bent(90.0), far]), None);
        assert!(rotation_vector(-bent(30.0)).abs_diff_eq(axis * 30f64.to_radians(), 1e-12));
    }
}
