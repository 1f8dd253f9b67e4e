//! Generated preview clips that exercise the model's range of motion.

use super::Editor;
use crate::finding::counted;
use crate::skeleton::{JointId, RangeOfMotion};
use std::collections::BTreeSet;

impl Editor {
    /// The bones of a range of motion: the selected ones, or without a selection all that influence points.
    pub fn range_of_motion_joints(&self) -> BTreeSet<JointId> {
        let selected = &self.document.session().selected_joints;
        if !selected.is_empty() {
            return selected.clone();
        }
        let all = self.document.skeleton().live_joints();
        let is_bone = self.document.bone_mask();
        all.filter(|&j| is_bone[j.get()] && self.is_weighted(j))
            .collect()
    }

    /// `wanted`, or with the first number that avoids the names of clips other than previews.
    pub fn free_preview_name(&self, wanted: &str) -> String {
        self.free_name_among(wanted, |clip| !clip.preview)
    }

    /// Whether a clip of this name exists.
    pub fn has_clip_named(&self, name: &str) -> bool {
        let mut clips = self.document.clips().values();
        clips.any(|clip| clip.name == name)
    }

    /// Makes a preview clip called `name` that moves the bones of [`Editor::range_of_motion_joints`] according to
    /// `settings`, replaces the first preview of that name, and shows it. One undo step. Returns whether any bone
    /// moves.
    pub fn make_range_of_motion(&mut self, settings: &RangeOfMotion, name: &str) -> bool {
        self.finish_tool();
        self.end_key_drag();
        let joints = self.range_of_motion_joints();
        let clip = settings.clip(name, self.document.skeleton(), &joints);
        if clip.channels.is_empty() {
            self.notify("No bone would move. Set an angle, and enable bend or twist.");
            return false;
        }
        let n_moves = settings.moves(self.document.skeleton(), &joints).len();
        let length = clip.end_secs();
        let mut clips = self.document.clips().iter();
        let same_name = clips.find(|(_, clip)| clip.name == name);
        let same_name = same_name.map(|(&id, _)| id);
        let verb = if same_name.is_some() {
            "Replace"
        } else {
            "Make"
        };
        let id = same_name.unwrap_or_else(|| self.free_id());
        if !self.set_clip(id, Some(clip), &format!("{verb} \"{name}\"")) {
            return false;
        }
        self.show_clip(Some(id));
        let bones = counted(joints.len(), "bone");
        let moves = counted(n_moves, "move");
        self.notify(format!(
            "\"{name}\" moves {bones} through {moves} in {length:.1} s. It is a preview clip: exports leave it out."
        ));
        true
    }
}
