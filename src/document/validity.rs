//! Whether rows and clips are valid for a document.

use super::{Document, MeshId, Skin};
use crate::skeleton::{Clip, Interpolation, JointId, Pose, Property, Skeleton};
use crate::skinning::RowRef;
use glam::DAffine3;

impl Document {
    /// n_skin_joints: whether the joint of each slot was not removed, in every skin that draws `mesh`. Empty without a
    /// skin.
    pub fn live_slots(&self, mesh: MeshId) -> Vec<bool> {
        let mut live = vec![true; self.n_skin_joints(mesh).unwrap_or(0)];
        let instances = self.instances.values().filter(|i| i.mesh == mesh);
        for skin in instances.filter_map(|i| self.skins.get(&i.skin?)) {
            for (live, &joint) in live.iter_mut().zip(&skin.joints) {
                *live &= self.skeleton.is_live(joint);
            }
        }
        live
    }

    /// Whether `clip` fits the document ([`check_clip`]) and animates no removed joint.
    pub(super) fn check_clip(&self, clip: &Clip) -> Result<(), String> {
        check_clip(clip, &self.rest_pose)?;
        let mut channels = clip.channels.iter().enumerate();
        match channels.find(|(_, c)| !self.skeleton.is_live(c.joint)) {
            Some((c, channel)) => Err(format!(
                "channel {c} moves bone {}, which was removed",
                channel.joint.0
            )),
            None => Ok(()),
        }
    }
}

/// Whether a skin has one inverse bind matrix for each joint of `skeleton` that it lists, the identity for removed ones.
pub(super) fn check_skin(skin: &Skin, skeleton: &Skeleton) -> Result<(), String> {
    if skin.joints.len() != skin.inverse_bind.len() {
        return Err("it does not have one inverse bind matrix for each bone".into());
    }
    for (&joint, matrix) in skin.joints.iter().zip(&skin.inverse_bind) {
        if joint.get() >= skeleton.len() {
            return Err(format!("it names bone {}, which does not exist", joint.0));
        }
        if !skeleton.is_live(joint) && *matrix != DAffine3::IDENTITY {
            return Err(format!(
                "it still binds bone {}, which was removed",
                joint.0
            ));
        }
    }
    Ok(())
}

/// Whether a pose has one finite transform for each joint of `skeleton`, the rest transform for removed ones; else what
/// is wrong.
pub(super) fn check_pose(pose: &Pose, skeleton: &Skeleton) -> Result<(), String> {
    if pose.locals.len() != skeleton.len() || pose.morph_weights.len() != skeleton.len() {
        return Err("it does not have one transform for each bone".into());
    }
    for (joint, local) in (0..).map(JointId).zip(&pose.locals) {
        let label = || skeleton.label(joint);
        if !local.is_finite() {
            return Err(format!("the transform of \"{}\" is not finite", label()));
        }
        let entry = skeleton.joint(joint);
        if entry.removed && *local != entry.rest {
            return Err(format!("it poses \"{}\", which was removed", label()));
        }
    }
    Ok(())
}

/// Whether `row` lists distinct slots of `live` with finite weights >= 0, and 0 where the slot's joint was removed
/// ([`Document::live_slots`]); else what is wrong.
pub fn check_row(row: RowRef<'_>, live: &[bool]) -> Result<(), String> {
    let n_joints = live.len();
    for (i, (joint, weight)) in row.iter().enumerate() {
        if usize::from(joint) >= n_joints {
            return Err(format!("bone {joint} of a skin with {n_joints} bones"));
        }
        if row.joints[..i].contains(&joint) {
            return Err(format!("bone {joint} is listed twice"));
        }
        if !(weight.is_finite() && weight >= 0.0) {
            return Err(format!("the weight {weight} of bone {joint}"));
        }
        if weight > 0.0 && !live[usize::from(joint)] {
            return Err(format!(
                "the weight {weight} of bone {joint}, which was removed"
            ));
        }
    }
    Ok(())
}

/// Checks that the channels of `clip` fit the model: existing joints, ascending finite times, values of the right
/// count; the error names the problem.
pub fn check_clip(clip: &Clip, rest: &Pose) -> Result<(), String> {
    for (c, channel) in clip.channels.iter().enumerate() {
        let joint = channel.joint.get();
        let Some(targets) = rest.morph_weights.get(joint) else {
            return Err(format!(
                "channel {c} moves bone {joint}, which does not exist"
            ));
        };
        let per_key = if channel.interpolation == Interpolation::CubicSpline {
            3
        } else {
            1
        };
        let expected = channel.times.len() * per_key * channel.property.width(targets.len());
        if channel.times.is_empty() || (expected == 0 && channel.property != Property::MorphWeights)
        {
            return Err(format!("channel {c} has no keyframes"));
        }
        if channel.values.len() != expected {
            return Err(format!(
                "channel {c} has {} values, {expected} needed",
                channel.values.len()
            ));
        }
        if !channel.times.iter().all(|t| t.is_finite())
            || !channel.values.iter().all(|v| v.is_finite())
        {
            return Err(format!(
                "channel {c} has a time or value that is not finite"
            ));
        }
        if !channel.times.is_sorted() {
            return Err(format!("the times of channel {c} do not ascend"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Transform;
    use crate::skeleton::Joint;
    use glam::DVec3;

    /// A live joint and a removed one.
    fn skeleton() -> Skeleton {
        let joint = |removed| Joint {
            removed,
            ..Joint::new("bone", None, Transform::IDENTITY)
        };
        Skeleton::new(vec![joint(false), joint(true)]).unwrap()
    }

    #[test]
    fn a_pose_has_a_finite_transform_for_each_joint_and_none_for_removed_ones() {
        let skeleton = skeleton();
        let rest = Pose::rest(&skeleton);
        let with = |joint: usize, translation: DVec3| {
            let mut pose = rest.clone();
            pose.locals[joint].translation = translation;
            check_pose(&pose, &skeleton)
        };
        assert_eq!(with(0, DVec3::X), Ok(()));
        assert!(with(1, DVec3::X).unwrap_err().contains("was removed"));
        assert!(with(0, DVec3::NAN).unwrap_err().contains("not finite"));
        let mut short = rest.clone();
        short.locals.pop();
        assert!(check_pose(&short, &skeleton).is_err());
    }

    #[test]
    fn a_skin_does_not_bind_removed_joints() {
        let skin = |matrix: DAffine3| Skin {
            name: String::new(),
            joints: vec![JointId(0), JointId(1)],
            inverse_bind: vec![DAffine3::from_translation(DVec3::X), matrix],
        };
        let skeleton = skeleton();
        assert_eq!(check_skin(&skin(DAffine3::IDENTITY), &skeleton), Ok(()));
        let bound = skin(DAffine3::from_translation(DVec3::Y));
        let why = check_skin(&bound, &skeleton).unwrap_err();
        assert_eq!(why, "it still binds bone 1, which was removed");
    }

    #[test]
    fn a_row_gives_removed_joints_no_weight() {
        let check = |weight: f32| {
            let (joints, weights) = ([0, 1], [1.0, weight]);
            let row = RowRef {
                joints: &joints,
                weights: &weights,
            };
            check_row(row, &[true, false])
        };
        assert_eq!(check(0.0), Ok(()));
        assert!(check(0.25).unwrap_err().contains("was removed"));
    }
}
