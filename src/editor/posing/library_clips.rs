//! Poses of the library as clips and as text, and back.

use super::Editor;
use crate::document::PoseId;
use crate::finding::counted;
use crate::io::pose_file::{parse_library_pose, pose_text};
use crate::skeleton::clip_edit::SAME_KEY_SECS;
use crate::skeleton::clip_keys::key_marks;
use crate::skeleton::library_pose::clip_of_poses;
use crate::skeleton::{Clip, Property};
use std::collections::BTreeSet;

/// The most keyframe times of a clip that is turned into poses.
const MOST_POSES: usize = 100;

impl Editor {
    /// Shows a new clip of the poses of the library: the rest pose at 0 seconds, then each pose a second after the one before it,
    /// with keyframes of the bones that one of them moves. One undo step.
    pub fn poses_to_clip(&mut self) {
        self.finish_tool();
        let poses: Vec<&Clip> = self.document.poses().values().map(|p| &**p).collect();
        let Some(made) = clip_of_poses(&poses, self.document.rest_pose()) else {
            let none = if poses.is_empty() {
                "There are no poses in the library."
            } else {
                "All poses of the library equal the rest pose."
            };
            self.notify(none);
            return;
        };
        let n = made.pose_names.len();
        let clip = Clip {
            name: self.free_name("Poses"),
            ..made
        };
        let id = self.free_id();
        let name = clip.name.clone();
        self.history.begin(&self.document, "Poses to clip");
        if self.set_clip(id, Some(clip), "Poses to clip") {
            let playback = self.playback_mut();
            playback.clip = Some(id);
            playback.time_secs = 1.0;
            playback.unkeyed = false;
            playback.playing = false;
            playback.range = None;
            self.evaluation.stale = true;
            self.notify(format!(
                "Clip “{name}”: the rest pose, then {}, one each second.",
                counted(n, "pose")
            ));
        }
        self.history.commit(&self.document);
    }

    /// Adds the poses at the keyframes of the clip on screen to the library, with the bones that it animates: of the selected
    /// bones, or of all, in the loop range if there is one. A clip of poses has their names. One undo step. Returns the number
    /// of poses.
    pub fn clip_to_poses(&mut self) -> usize {
        self.finish_tool();
        self.end_key_drag();
        let range = self.playback().range;
        let Some((_, clip)) = self.shown_clip() else {
            self.notify("No clip is on screen.");
            return 0;
        };
        let clip = clip.clone();
        let is_held = |property: Property| property.is_of_gltf();
        let marks = key_marks(&clip, |c| is_held(c.property) && self.shows_keys_of(c));
        let name_at = |time: f32| {
            let mut names = clip.pose_names.iter();
            let found = names.find(|(at, _)| (at - time).abs() < SAME_KEY_SECS);
            found.map(|(_, name)| name.clone())
        };
        let times: Vec<f32> = marks
            .iter()
            .map(|mark| mark.time_secs)
            .filter(|&time| range.is_none_or(|(a, b)| (a..=b).contains(&f64::from(time))))
            // The rest pose that begins a clip of poses is none of them.
            .filter(|&time| clip.pose_names.is_empty() || name_at(time).is_some())
            .collect();
        if times.is_empty() {
            self.notify("The clip has no keyframes of the selected bones here.");
            return 0;
        }
        if times.len() > MOST_POSES {
            self.notify(format!(
                "The clip has keyframes at {} times, and at most {MOST_POSES} poses are made at once: set a loop range around those \
                 that you need, or select fewer bones.",
                times.len()
            ));
            return 0;
        }
        let joints: BTreeSet<_> = clip
            .channels
            .iter()
            .filter(|c| is_held(c.property) && self.shows_keys_of(c))
            .map(|c| c.joint)
            .collect();
        let label = format!("Clip \"{}\" to {}", clip.name, counted(times.len(), "pose"));
        self.history.begin(&self.document, &label);
        let mut n_made = 0;
        for &time in &times {
            let posed = self.document.keyed_pose(&clip, f64::from(time));
            let wanted = name_at(time).unwrap_or_else(|| {
                let of = if clip.name.is_empty() {
                    "Clip"
                } else {
                    &clip.name
                };
                format!("{of} {time:.2} s")
            });
            let name = self.free_pose_name(&wanted);
            let pose = Clip::of_pose(&name, &posed, joints.iter().copied());
            let id = self.document.free_pose_id();
            if !self.set_library_pose_clip(id, Some(pose), &label) {
                break;
            }
            self.posing.active_pose = Some(id);
            n_made += 1;
        }
        self.history.commit(&self.document);
        self.notify(format!("Created {}.", counted(n_made, "pose")));
        n_made
    }

    /// A pose of the library as text: that of a pose file.
    pub fn pose_as_text(&self, id: PoseId) -> Option<String> {
        let pose = self.document.poses().get(&id)?;
        Some(pose_text(&self.document, pose))
    }

    /// Adds the pose in a text to the library and makes it active; nodes that the model does not have are left out. Returns its
    /// id; `None`, with a notice, where the text is no pose of this model.
    pub fn paste_pose_text(&mut self, text: &str) -> Option<PoseId> {
        self.finish_tool();
        let read = match parse_library_pose(&self.document, text) {
            Ok(read) => read,
            Err(why) => {
                self.notify_error(format!("The clipboard has no pose of this model: {why}."));
                return None;
            }
        };
        let n_missing = read.missing.len();
        if read.pose.channels.is_empty() {
            self.notify_error(if n_missing > 0 {
                "The model has none of the bones of the pose in the clipboard."
            } else {
                "The pose in the clipboard has no bones."
            });
            return None;
        }
        let wanted = read.pose.name.trim();
        let wanted = if wanted.is_empty() || wanted.chars().any(char::is_control) {
            "Pose 1"
        } else {
            wanted
        };
        let name = self.free_pose_name(wanted);
        let pose = Clip {
            name: name.clone(),
            ..read.pose
        };
        let n = pose.posed_joints().len();
        let id = self.document.free_pose_id();
        let label = format!("Paste pose \"{name}\" from text");
        if !self.set_library_pose_clip(id, Some(pose), &label) {
            return None;
        }
        self.posing.active_pose = Some(id);
        let missing = match n_missing {
            0 => String::new(),
            1 => "; 1 has no counterpart here".into(),
            n => format!("; {n} have no counterpart here"),
        };
        self.notify(format!(
            "Pasted “{name}” of {}{missing}.",
            counted(n, "bone")
        ));
        Some(id)
    }
}
