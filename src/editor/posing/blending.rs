//! Blending the pose on screen towards another pose.

use super::Editor;
use crate::document::session::BlendTarget;
use crate::finding::counted;
use crate::skeleton::clip_edit::SAME_KEY_SECS;
use crate::skeleton::clip_keys::key_marks;
use crate::skeleton::{JointId, Pose, RigidInterpolation};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The target pose of a blend, and the bones it applies to.
pub(super) struct Blend {
    target: Arc<Pose>,
    /// Empty for all.
    joints: BTreeSet<JointId>,
}

impl Blend {
    /// The pose at `fraction` between `start` and the target.
    fn pose(&self, start: &Pose, fraction: f64, interpolation: RigidInterpolation) -> Pose {
        let is_chosen = |joint| self.joints.is_empty() || self.joints.contains(&joint);
        start.blended(&self.target, fraction, interpolation, is_chosen)
    }
}

impl Editor {
    /// Sets the target of blends.
    pub fn set_blend_target(&mut self, target: BlendTarget) {
        self.document.session_mut().pose.blend_target = target;
    }

    /// Sets the interpolation of blends.
    pub fn set_blend_interpolation(&mut self, interpolation: RigidInterpolation) {
        self.document.session_mut().pose.blend_interpolation = interpolation;
    }

    /// The time of the keyframe that is the target of blends, before or after the current time: of the selected bones,
    /// or of all.
    pub fn blend_key_secs(&self, target: BlendTarget) -> Option<f32> {
        let (_, clip) = self.shown_clip()?;
        let now = self.playback().time_secs as f32;
        let marks = key_marks(clip, |c| self.shows_keys_of(c));
        let mut times = marks.iter().map(|mark| mark.time_secs);
        match target {
            BlendTarget::KeyBefore => times.rfind(|&t| t < now - SAME_KEY_SECS),
            BlendTarget::KeyAfter => times.find(|&t| t > now + SAME_KEY_SECS),
            BlendTarget::Copied | BlendTarget::Rest => None,
        }
    }

    /// The reason that a blend is not possible now, in one sentence.
    pub fn blend_fault(&self, target: BlendTarget) -> Option<&'static str> {
        let has_clip = self.shown_clip().is_some();
        match target {
            BlendTarget::Rest => None,
            BlendTarget::Copied => {
                (!self.has_copied_pose()).then_some("No pose is copied. Copy one with Ctrl+C.")
            }
            BlendTarget::KeyBefore | BlendTarget::KeyAfter if !has_clip => {
                Some("No clip is on screen.")
            }
            BlendTarget::KeyBefore => self
                .blend_key_secs(target)
                .is_none()
                .then_some("No keyframe before this time."),
            BlendTarget::KeyAfter => self
                .blend_key_secs(target)
                .is_none()
                .then_some("No keyframe after this time."),
        }
    }

    /// Begins to blend the selected bones, or all, towards the target: one undo step until
    /// [`Editor::confirm_transform`]. Returns whether there is a target.
    pub fn begin_blend(&mut self) -> bool {
        self.finish_tool();
        let chosen = self.pose_options().blend_target;
        let start = self.document.free_pose();
        let target = match chosen {
            BlendTarget::Rest => Some(self.document.rest_pose().clone()),
            BlendTarget::Copied => self
                .pasted(&start, false)
                .map(|pasted| Arc::new(pasted.pose)),
            BlendTarget::KeyBefore | BlendTarget::KeyAfter => {
                let time = self.blend_key_secs(chosen);
                let clip = self.shown_clip();
                clip.zip(time).map(|((_, clip), time)| {
                    Arc::new(self.document.keyed_pose(clip, f64::from(time)))
                })
            }
        };
        let Some(target) = target else {
            if let Some(fault) = self.blend_fault(chosen) {
                self.notify(fault);
            }
            return false;
        };
        let joints = self.document.session().selected_joints.clone();
        let skeleton = self.document.skeleton();
        let what = match (joints.first(), joints.len()) {
            (None, _) => "all bones".to_owned(),
            (Some(&joint), 1) => skeleton.label(joint),
            (_, n) => counted(n, "bone"),
        };
        let label = format!("Blend {what} towards {}", chosen.noun());
        self.open_step(label, start, None, Vec::new(), Vec::new());
        if let Some(running) = &mut self.posing.running {
            running.blend = Some(Blend { target, joints });
        }
        true
    }

    /// Whether a blend is under way.
    pub fn is_blending(&self) -> bool {
        let running = self.posing.running.as_ref();
        running.is_some_and(|running| running.blend.is_some())
    }

    /// Sets the fraction of the current blend, 0 - 1, relative to its start.
    pub fn set_blend(&mut self, fraction: f64) {
        let interpolation = self.pose_options().blend_interpolation;
        let Some(running) = &mut self.posing.running else {
            return;
        };
        let Some(blend) = running.blend.as_ref().filter(|_| fraction.is_finite()) else {
            return;
        };
        running.next = blend.pose(&running.start, fraction, interpolation);
        self.show_next();
    }
}
