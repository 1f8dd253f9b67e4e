//! How far a body that begins to move is from a T- or an A-pose.

use super::calibration::Calibration;
use glam::{DQuat, DVec3};

/// Bones of limbs with their directions in a T-pose: x to the left, y up, z to the front.
const LIMBS: [(&str, DVec3); 8] = [
    ("LeftUpperArm", DVec3::X),
    ("LeftLowerArm", DVec3::X),
    ("RightUpperArm", DVec3::NEG_X),
    ("RightLowerArm", DVec3::NEG_X),
    ("LeftUpperLeg", DVec3::NEG_Y),
    ("LeftLowerLeg", DVec3::NEG_Y),
    ("RightUpperLeg", DVec3::NEG_Y),
    ("RightLowerLeg", DVec3::NEG_Y),
];
/// The fewest of them that tell a pose.
const FEWEST: usize = 4;
/// How far arms hang in an A-pose, radians.
const A_POSE: f64 = std::f64::consts::FRAC_PI_4;
/// A body that is farther from both, rms degrees, is better calibrated: its sender may use axes of its own.
pub const FAR_DEGREES: f64 = 35.0;

impl Calibration {
    /// How far the limbs are from those of a T- or an A-pose, whichever is nearer, whatever way the body faces: the rms of their
    /// angles, degrees. The rotations are taken as those of a sender over a T-pose without rotations. `None`: too few limbs.
    pub fn degrees_off(&self) -> Option<f64> {
        let limbs = LIMBS.iter().filter_map(|(name, direction)| {
            let world = self.world(name)?;
            Some((*direction, world * *direction))
        });
        let limbs: Vec<(DVec3, DVec3)> = limbs.collect();
        if limbs.len() < FEWEST {
            return None;
        }
        let hanging = |direction: DVec3| {
            if direction.x == 0.0 {
                return direction;
            }
            let (sin, cos) = A_POSE.sin_cos();
            DVec3::new(direction.x * cos, -sin, 0.0)
        };
        let to_t = rms_degrees(limbs.iter().copied());
        let to_a = rms_degrees(limbs.iter().map(|(t, now)| (hanging(*t), *now)));
        Some(to_t.min(to_a))
    }
}

/// The rms of the angles between pairs of unit directions, degrees, after the turn about Y that suits them best.
fn rms_degrees(pairs: impl Iterator<Item = (DVec3, DVec3)> + Clone) -> f64 {
    // The turn of the wanted directions that makes the sum of the products largest.
    let (mut along, mut across) = (0.0, 0.0);
    for (wanted, now) in pairs.clone() {
        along += wanted.x * now.x + wanted.z * now.z;
        across += wanted.z * now.x - wanted.x * now.z;
    }
    let turn = DQuat::from_rotation_y(f64::atan2(across, along));
    let (mut sum, mut n) = (0.0, 0.0);
    for (wanted, now) in pairs {
        let angle = (turn * wanted).dot(now).clamp(-1.0, 1.0).acos();
        sum += angle * angle;
        n += 1.0;
    }
    (sum / f64::max(n, 1.0)).sqrt().to_degrees()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::motion::live::LiveSamples;
    use crate::motion::vmc::BONES;

    /// A body whose bones have these rotations in their parents, for a second.
    fn body(local: impl Fn(&str) -> DQuat) -> Calibration {
        let mut samples = LiveSamples::default();
        for bone in &BONES[..21] {
            for i in 0..30 {
                let time = f64::from(i) / 30.0;
                samples.push_rotation(bone.name, time, local(bone.name));
            }
        }
        Calibration::of(&samples, 0.0).unwrap()
    }

    #[test]
    fn a_t_pose_and_an_a_pose_are_near_whatever_way_they_face() {
        let t_pose = body(|name| match name {
            "Hips" => DQuat::from_rotation_y(2.0),
            _ => DQuat::IDENTITY,
        });
        assert!(t_pose.degrees_off().unwrap() < 1e-4);
        let a_pose = body(|name| match name {
            "Hips" => DQuat::from_rotation_y(-0.7),
            "LeftUpperArm" => DQuat::from_rotation_z(-A_POSE),
            "RightUpperArm" => DQuat::from_rotation_z(A_POSE),
            _ => DQuat::IDENTITY,
        });
        assert!(a_pose.degrees_off().unwrap() < 1e-4);
    }

    #[test]
    fn a_sender_with_axes_of_its_own_is_far() {
        let turned = DQuat::from_rotation_x(1.6);
        let own_axes = body(|name| match name {
            "Hips" => turned,
            _ => DQuat::IDENTITY,
        });
        assert!(own_axes.degrees_off().unwrap() > FAR_DEGREES);
        // A limb without samples is in no pose.
        let mut arms = LiveSamples::default();
        for bone in &BONES[..21] {
            let n = if bone.name.contains("Leg") { 1 } else { 30 };
            for i in 0..n {
                arms.push_rotation(bone.name, f64::from(i) / 30.0, DQuat::IDENTITY);
            }
        }
        let arms = Calibration::of(&arms, 0.0).unwrap();
        assert!(arms.world("LeftUpperLeg").is_none() && arms.world("LeftLowerArm").is_some());
        // Too few limbs tell nothing.
        let mut samples = LiveSamples::default();
        for i in 0..30 {
            samples.push_rotation("Hips", f64::from(i), DQuat::IDENTITY);
            samples.push_rotation("LeftUpperArm", f64::from(i), DQuat::IDENTITY);
        }
        let few = Calibration::of(&samples, 0.0);
        assert!(few.is_none_or(|few| few.degrees_off().is_none()));
    }
}
