//! The poses of a joint that are looked at: rays of rotations from rest to the ends of its range.

use super::skin::JointSkin;
use crate::document::Document;
use crate::math::transform::normalize_or_identity;
use crate::psd::DriverMode;
use crate::skeleton::{JointId, Pose};
use glam::{DMat3, DQuat, DVec3};

/// The angle between poses of a ray.
const STEP: f64 = 10.0;

/// The range of a joint that no clip moves, of a finger's, and the widest range, degrees.
const UNKNOWN: f64 = 120.0;
const FINGER: f64 = 100.0;
const WIDEST: f64 = 150.0;

/// A joint whose rotations stay below this in all clips is not known from them, degrees; rays shorter than it are left out.
const STILL: f64 = 25.0;

/// A joint is a hinge if one axis holds this share of the second moment of its rotations, and the rest stays below this
/// angle, degrees.
const HINGE: (f64, f64) = (0.95, 10.0);

/// The percentile of the rotations in clips that counts as the end of the range, and the factor that widens it.
const PERCENTILE: f64 = 0.99;
const WIDER: f64 = 1.1;

/// The swing directions of a ball joint, a quarter of a turn apart.
const DIRECTIONS: usize = 4;

/// Clips are read this often a second, at most at this many times each.
const RATE: f64 = 30.0;
const MOST_TIMES: usize = 300;

/// A joint at rest is bent where its bones make this angle, degrees.
const BENT: f64 = 5.0;

/// Rotations of a joint about one axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Ray {
    /// Unit, in the joint's own space at rest.
    pub axis: DVec3,
    /// The angles of its poses, radians, ascending; the last is the end of the range.
    pub angles: Vec<f64>,
}

/// The poses of a joint that are looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// What drives the samples: a hinge or a ball.
    pub mode: DriverMode,
    /// The rays, none shorter than 25 degrees.
    pub rays: Vec<Ray>,
    /// Whether clips gave the range.
    pub is_from_clips: bool,
}

impl Ray {
    /// Every ten degrees up to `end`, radians.
    pub fn new(axis: DVec3, end: f64) -> Self {
        let step = STEP.to_radians();
        let n = (end / step - 1e-9).floor().max(0.0) as usize;
        let angles = (1..=n).map(|k| step * k as f64).chain([end]);
        Self {
            axis,
            angles: angles.collect(),
        }
    }

    /// The rotation from rest at an angle, in the joint's own space.
    pub fn rotation(&self, angle: f64) -> DQuat {
        DQuat::from_axis_angle(self.axis, angle)
    }

    /// The document's rest pose with the joint rotated.
    pub fn pose(&self, document: &Document, joint: JointId, angle: f64) -> Pose {
        let mut pose = Pose::clone(document.rest_pose());
        let local = &mut pose.locals[joint.get()];
        local.rotation = normalize_or_identity(local.rotation * self.rotation(angle));
        document.constrain(&mut pose);
        pose
    }
}

impl Range {
    /// The range of a joint: that of the clips where they move it, else 120 degrees (a finger 100), about the axis in
    /// which it is bent at rest, or in four directions across its bone.
    pub fn of(document: &Document, skin: &JointSkin) -> Self {
        let joint = skin.joint;
        let rotations = rotations_in_clips(document, joint);
        let sizes = rotations.iter().map(|w| w.length()).collect();
        let is_known = percentile(sizes, PERCENTILE) > STILL.to_radians();
        if is_known && let Some(axis) = hinge_axis(&rotations) {
            let along: Vec<f64> = rotations.iter().map(|w| w.dot(axis)).collect();
            let back: Vec<f64> = along.iter().map(|a| -a).collect();
            let ends = [(axis, along), (-axis, back)];
            let ends = ends.map(|(axis, along)| (axis, WIDER * percentile(along, PERCENTILE)));
            return Self {
                mode: DriverMode::Hinge(axis),
                rays: rays(ends),
                is_from_clips: true,
            };
        }
        let skeleton = document.skeleton();
        let axes = skin.bone_axes(skeleton, document.rest_pose()).bind;
        let world = document.rest_pose().world_matrices(skeleton)[joint.get()];
        // A rotation acts before the joint's own scale; through a mirrored one it turns the other way about.
        let stretch = document.rest_pose().locals[joint.get()].stretch;
        let unscaled = world.matrix3 * stretch.inverse();
        let unscaled = if unscaled.is_finite() {
            unscaled
        } else {
            world.matrix3
        };
        let to_own = |d: DVec3| {
            (unscaled.inverse() * d).normalize_or_zero() * unscaled.determinant().signum()
        };
        let (from, along) = (-axes[0], axes[1]);
        if !is_known {
            let unknown = if is_finger(skeleton.label(joint).as_str()) {
                FINGER
            } else {
                UNKNOWN
            };
            let unknown = unknown.to_radians();
            let bend = from.cross(along);
            let axis = to_own(bend.normalize_or_zero());
            if bend.length() > BENT.to_radians().sin() && axis != DVec3::ZERO {
                return Self {
                    mode: DriverMode::Hinge(axis),
                    rays: rays([(axis, unknown)]),
                    is_from_clips: false,
                };
            }
            let ends = swings(to_own(along)).map(|axis| (axis, unknown));
            return Self {
                mode: DriverMode::Ball,
                rays: rays(ends),
                is_from_clips: false,
            };
        }
        let ends = swings(to_own(along)).map(|axis| {
            let reached = rotations.iter().map(|w| w.dot(axis)).collect();
            (axis, WIDER * percentile(reached, PERCENTILE))
        });
        Self {
            mode: DriverMode::Ball,
            rays: rays(ends),
            is_from_clips: true,
        }
    }
}

/// The rays that are long enough.
fn rays(ends: impl IntoIterator<Item = (DVec3, f64)>) -> Vec<Ray> {
    let ends = ends
        .into_iter()
        .filter(|(_, end)| *end > STILL.to_radians());
    ends.map(|(axis, end)| Ray::new(axis, end.min(WIDEST.to_radians())))
        .collect()
}

/// Axes across a bone.
fn swings(along: DVec3) -> [DVec3; DIRECTIONS] {
    let along = along.normalize_or(DVec3::Y);
    // The joint's own axes, where they lie across the bone.
    let least = DVec3::AXES.into_iter().min_by(|a, b| {
        let along = |axis: &DVec3| along.dot(*axis).abs();
        along(a).total_cmp(&along(b))
    });
    let first = least
        .unwrap_or(DVec3::X)
        .reject_from(along)
        .normalize_or(DVec3::X);
    let second = along.cross(first);
    [first, second, -first, -second]
}

/// The axis that holds nearly all rotations; `None`: the joint is a ball.
fn hinge_axis(rotations: &[DVec3]) -> Option<DVec3> {
    let mut moment = DMat3::ZERO;
    for w in rotations {
        moment += DMat3::from_cols(*w * w.x, *w * w.y, *w * w.z);
    }
    let trace = moment.x_axis.x + moment.y_axis.y + moment.z_axis.z;
    if trace.is_nan() || trace <= 0.0 {
        return None;
    }
    // The power iteration, by squaring.
    let mut power = moment * (1.0 / trace);
    for _ in 0..10 {
        power *= power;
        let size = power.x_axis.x + power.y_axis.y + power.z_axis.z;
        power *= 1.0 / size;
    }
    let columns = [power.x_axis, power.y_axis, power.z_axis];
    let axis = columns
        .into_iter()
        .max_by(|a, b| a.length().total_cmp(&b.length()))?;
    let axis = axis.try_normalize()?;
    // The axis about which most rotations are positive.
    let axis = if rotations.iter().map(|w| w.dot(axis)).sum::<f64>() < 0.0 {
        -axis
    } else {
        axis
    };
    let (share, most) = HINGE;
    let beside = rotations
        .iter()
        .map(|w| w.reject_from(axis).length())
        .collect();
    let is_hinge = axis.dot(moment * axis) >= share * trace
        && percentile(beside, PERCENTILE) < most.to_radians();
    is_hinge.then_some(axis)
}

/// The rotations of a joint from rest in the clips, as axis times angle, in its own space.
fn rotations_in_clips(document: &Document, joint: JointId) -> Vec<DVec3> {
    let rest = document.rest_pose().locals[joint.get()].rotation;
    let mut found = Vec::new();
    for clip in document.clips().values().filter(|clip| !clip.preview) {
        let (start, end) = (f64::from(clip.start_secs()), f64::from(clip.end_secs()));
        let n = ((end - start) * RATE).ceil().clamp(1.0, MOST_TIMES as f64);
        for k in 0..=n as usize {
            let pose = document.pose_of_clip(clip, start + (end - start) * k as f64 / n);
            let rotation =
                normalize_or_identity(rest.conjugate() * pose.locals[joint.get()].rotation);
            let rotation = if rotation.w < 0.0 {
                -rotation
            } else {
                rotation
            };
            let rotation = rotation.to_scaled_axis();
            if rotation.is_finite() {
                found.push(rotation);
            }
        }
    }
    found
}

fn is_finger(label: &str) -> bool {
    let label = label.to_lowercase();
    [
        "finger", "thumb", "index", "middle", "ring", "pinky", "little",
    ]
    .into_iter()
    .any(|name| label.contains(name))
}

/// The value below which this share of the values lies; 0 of none.
fn percentile(mut values: Vec<f64>, share: f64) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let at = (values.len().saturating_sub(1) as f64 * share).round() as usize;
    values.get(at).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ray_ends_at_the_end_of_its_range() {
        let degrees = |end: f64| {
            let ray = Ray::new(DVec3::X, end.to_radians());
            ray.angles
                .iter()
                .map(|a| a.to_degrees().round())
                .collect::<Vec<_>>()
        };
        assert_eq!(degrees(30.0), [10.0, 20.0, 30.0]);
        assert_eq!(degrees(34.0), [10.0, 20.0, 30.0, 34.0]);
    }

    #[test]
    fn a_hinge_has_one_axis() {
        let axis = DVec3::new(0.6, 0.0, -0.8);
        let swings = |beside: f64| -> Vec<DVec3> {
            (0..50)
                .map(|k| axis * (f64::from(k) * 0.04) + DVec3::Y * beside * f64::from(k % 2))
                .collect()
        };
        let found = hinge_axis(&swings(0.01)).unwrap();
        assert!(found.dot(axis) > 0.9999, "{found}");
        assert_eq!(hinge_axis(&swings(0.3)), None);
        assert_eq!(hinge_axis(&[]), None);
        for axis in swings_of_y() {
            assert!(axis.dot(DVec3::Y).abs() < 1e-12 && (axis.length() - 1.0).abs() < 1e-12);
        }
    }

    fn swings_of_y() -> [DVec3; DIRECTIONS] {
        swings(DVec3::Y)
    }
}
