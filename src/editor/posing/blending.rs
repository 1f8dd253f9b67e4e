//! Going a part of the way from the pose on screen to another one.

use super::Editor;
use crate::document::session::BlendTarget;
use crate::finding::counted;
use crate::skeleton::clip_edit::SAME_KEY_SECS;
use crate::skeleton::clip_keys::key_marks;
use crate::skeleton::{InBetweens, JointId, Pose};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Where the pose under way goes, and which bones.
pub(super) struct Blend {
    target: Arc<Pose>,
    /// Empty: all.
    joints: BTreeSet<JointId>,
}

impl Blend {
    /// The pose a part of the way from `start`.
    fn pose(&self, start: &Pose, fraction: f64, way: InBetweens) -> Pose {
        let is_chosen = |joint| self.joints.is_empty() || self.joints.contains(&joint);
        start.blended(&self.target, fraction, way, is_chosen)
    }
}

impl Editor {
    /// Chooses what poses are blended towards.
    pub fn set_blend_target(&mut self, target: BlendTarget) {
        self.document.session_mut().pose.blend_target = target;
    }

    /// Chooses the way that blended bones go.
    pub fn set_blend_way(&mut self, way: InBetweens) {
        self.document.session_mut().pose.blend_way = way;
    }

    /// When the key before or after the present time is that poses are blended towards: of the selected bones, or of all.
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

    /// Why poses cannot be blended towards something now: a sentence.
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

    /// Starts to blend the selected bones, or all, towards what was chosen; one undo step until
    /// [`Editor::confirm_transform`]. Whether there is something to blend towards.
    pub fn begin_blend(&mut self) -> bool {
        self.finish_tool();
        let chosen = self.pose_options().blend_target;
        let start = self.document.shown_pose();
        let target = match chosen {
            BlendTarget::Rest => Some(self.document.rest_pose().clone()),
            BlendTarget::Copied => self
                .pasted(&start, false)
                .map(|pasted| Arc::new(pasted.pose)),
            BlendTarget::KeyBefore | BlendTarget::KeyAfter => {
                let time = self.blend_key_secs(chosen);
                let clip = self.shown_clip();
                clip.zip(time).map(|((_, clip), time)| {
                    Arc::new(self.document.pose_of_clip(clip, f64::from(time)))
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

    /// Brings the blend under way to a part of the way, 0 - 1, from where it began.
    pub fn set_blend(&mut self, fraction: f64) {
        let way = self.pose_options().blend_way;
        let Some(running) = &mut self.posing.running else {
            return;
        };
        let Some(blend) = running.blend.as_ref().filter(|_| fraction.is_finite()) else {
            return;
        };
        running.next = blend.pose(&running.start, fraction, way);
        self.show_next();
    }
}
