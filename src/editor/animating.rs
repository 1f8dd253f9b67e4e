//! Keyframes of bones, and commands on whole clips. Each command is one undo step.

use super::Editor;
use crate::document::{ClipId, Edit};
use crate::finding::counted;
use crate::math::Transform;
use crate::skeleton::clip_edit::SAME_KEY_SECS;
use crate::skeleton::clip_keys::{key_marks, keys_near};
use crate::skeleton::{Channel, Clip, JointId, KeyIndex, Pose, Property, RigidInterpolation};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Relative difference below which two values are equal: the precision of the 32-bit floats in a file.
const SAME_VALUE: f64 = 2e-6;
/// Distance below which two positions are equal, metres.
const MIN_LENGTH: f64 = 1e-9;

/// The keyframes being dragged along the timeline.
#[derive(Clone, Debug)]
pub(super) struct KeyDrag {
    clip: ClipId,
    before: Arc<Clip>,
    keys: BTreeSet<KeyIndex>,
}

/// A clip with new keyframes, not on screen yet.
struct Keyed {
    id: ClipId,
    clip: Clip,
    time_secs: f32,
    pose: Arc<Pose>,
}

impl Editor {
    /// Inserts keyframes for the pose on screen at the current time: for the selected bones and those that inverse
    /// kinematics moved with them, or without a selection for all bones that differ from the clip. Creates a clip if
    /// none is on screen.
    pub fn key_pose(&mut self) {
        self.finish_tool();
        self.end_key_drag();
        let pose = self.document.free_pose();
        let joints = self.joints_to_key(&pose);
        if joints.is_empty() {
            self.notify("Nothing to key: the pose matches the clip. Select or pose bones first.");
            return;
        }
        let keyed = self.keyed_clip(&joints, pose);
        let bones = counted(joints.len(), "bone");
        let label = format!("Insert keyframes for {bones} at {:.2} s", keyed.time_secs);
        // The unkeyed flag belongs to the step, so that undo restores it.
        self.history.begin(&self.document, &label);
        let Some(left) = self.show_keyed(keyed, &label) else {
            self.history.cancel(&mut self.document);
            return;
        };
        self.history.commit(&self.document);
        if left > 0 {
            let (other, are) = if left == 1 {
                ("1 other bone".to_owned(), "is")
            } else {
                (format!("{left} other bones"), "are")
            };
            self.notify(format!(
                "Inserted keyframes for {bones}. {other} {are} posed but not selected, and not keyed."
            ));
        }
    }

    /// Sets whether a changed pose is keyed at once.
    pub fn set_auto_key(&mut self, auto_key: bool) {
        self.playback_mut().auto_key = auto_key;
    }

    /// Inside the open step that changed the pose of `joints`: inserts their keyframes if auto keying is on.
    pub(super) fn auto_key(&mut self, joints: &BTreeSet<JointId>) {
        if self.playback().auto_key && !joints.is_empty() {
            let pose = self.document.free_pose();
            let keyed = self.keyed_clip(joints, pose);
            self.show_keyed(keyed, "Auto keying");
        }
    }

    /// The bones whose pose `I` keys.
    fn joints_to_key(&self, pose: &Pose) -> BTreeSet<JointId> {
        let session = self.document.session();
        let clip = self.shown_clip();
        let base = match clip {
            Some((_, clip)) => self.document.keyed_pose(clip, self.playback().time_secs),
            None => self.document.keyed_pose(&Clip::default(), 0.0),
        };
        let skeleton = self.document.skeleton();
        if session.selected_joints.is_empty() {
            let all = skeleton.live_joints();
            return all.filter(|&j| differs(pose, &base, j)).collect();
        }
        let mut joints = session.selected_joints.clone();
        // A selected end of a chain, and every pinned one, moves the bones of its chain.
        for &end in session.pins.union(&session.selected_joints) {
            let Some(chain) = self.chain_of(end) else {
                continue;
            };
            let mut above = skeleton.ancestors(end).collect::<Vec<_>>();
            let root = above.iter().position(|&j| j == chain.root);
            above.truncate(root.map_or(0, |root| root + 1));
            let chain = above.into_iter().chain([end]);
            joints.extend(chain.filter(|&j| differs(pose, &base, j)));
        }
        joints
    }

    /// The clip on screen, or a new one, with keyframes of `joints` at the current time as in `pose`.
    fn keyed_clip(&self, joints: &BTreeSet<JointId>, pose: Arc<Pose>) -> Keyed {
        let shown = self.document.session().playback.clip;
        let shown = shown.filter(|id| self.document.clips().contains_key(id));
        let before = match shown.and_then(|id| self.document.clips().get(&id)) {
            Some(clip) => clip.clone(),
            None => Arc::new(Clip::named(self.free_name("Clip 1"))),
        };
        let reach = self.reach_secs();
        let time_secs = self.key_time(&before, joints, reach);
        // At the time of the keyframe, which may differ from the current time by less than a frame.
        let base = self.document.keyed_pose(&before, f64::from(time_secs));
        let is_clips_own = shown.is_some() && !self.playback().unkeyed && !self.shows_live();
        let pose = if is_clips_own {
            Arc::new(base.clone())
        } else {
            pose
        };
        let mut clip = Clip::clone(&before);
        for &joint in joints {
            for (property, value) in values_to_key(&before, &pose, &base, joint) {
                clip.set_key(joint, property, time_secs, &value, reach);
            }
        }
        Keyed {
            id: shown.unwrap_or_else(|| self.free_id()),
            clip,
            time_secs,
            pose,
        }
    }

    /// Inside the open step: shows a keyed clip. Returns the number of posed bones that are left without a keyframe;
    /// `None` if the clip is refused.
    fn show_keyed(&mut self, keyed: Keyed, label: &str) -> Option<usize> {
        let time_secs = f64::from(keyed.time_secs);
        if !self.set_clip(keyed.id, Some(keyed.clip), label) {
            return None;
        }
        let left = self.left_unkeyed(keyed.id, time_secs, &keyed.pose);
        let is_live = self.shows_live();
        let playback = self.playback_mut();
        playback.clip = Some(keyed.id);
        playback.time_secs = time_secs;
        // Other posed bones stay on screen until they are keyed or the time changes; live motion goes on.
        playback.unkeyed = left > 0 && !is_live;
        playback.playing &= left == 0;
        self.evaluation.stale = true;
        Some(left)
    }

    /// Deletes the keyframes of the selected bones at the current time.
    pub fn delete_keys(&mut self) {
        self.finish_tool();
        self.end_key_drag();
        let Some((_, clip)) = self.shown_clip() else {
            self.notify("No clip is on screen.");
            return;
        };
        let selected = self.document.session().selected_joints.clone();
        if selected.is_empty() {
            self.notify("Select the bones whose keyframes to delete.");
            return;
        }
        let time_secs = self.key_time(clip, &selected, self.half_frame_secs());
        let wants = |c: &Channel| selected.contains(&c.joint);
        if !self.delete_wanted_keys(time_secs, wants) {
            self.notify("The selected bones have no keyframe at this time.");
        }
    }

    /// Deletes the keyframes at a time: those of `joint`, or of all bones whose keyframes are shown.
    pub fn delete_keys_at(&mut self, time_secs: f32, joint: Option<JointId>) {
        self.finish_tool();
        self.end_key_drag();
        let selected = self.document.session().selected_joints.clone();
        self.delete_wanted_keys(time_secs, |c| match joint {
            Some(joint) => c.joint == joint,
            None => selected.is_empty() || selected.contains(&c.joint),
        });
    }

    /// Deletes the keyframes at a time of the channels that `wants` accepts; returns whether there are any.
    fn delete_wanted_keys(&mut self, time_secs: f32, wants: impl Fn(&Channel) -> bool) -> bool {
        let Some((id, clip)) = self.shown_clip() else {
            return false;
        };
        let keys = keys_near(clip, time_secs, SAME_KEY_SECS, wants);
        if keys.is_empty() {
            return false;
        }
        let bones: BTreeSet<JointId> = keys
            .iter()
            .map(|k| clip.channels[k.channel].joint)
            .collect();
        let left = clip.without_keys(&keys);
        let label = format!(
            "Delete keyframes of {} at {time_secs:.2} s",
            counted(bones.len(), "bone")
        );
        self.set_clip(id, Some(left), &label);
        true
    }

    /// Shows a new clip without keyframes.
    pub fn new_clip(&mut self) {
        self.finish_tool();
        let id = self.free_id();
        let clip = Clip::named(self.free_name("Clip 1"));
        if self.set_clip(id, Some(clip), "New clip") {
            self.show_clip(Some(id));
        }
    }

    /// Copies the clip on screen and shows the copy at the same time.
    pub fn duplicate_clip(&mut self) {
        self.finish_tool();
        let Some((_, clip)) = self.shown_clip() else {
            return;
        };
        let label = format!("Duplicate clip \"{}\"", clip.name);
        let copy = Clip {
            name: self.free_name(&format!("{} copy", clip.name)),
            ..clip.clone()
        };
        let (id, from) = (self.free_id(), self.playback().clip);
        self.history.begin(&self.document, &label);
        if self.set_clip(id, Some(copy), &label) {
            if let Some(from) = from {
                self.carry_group_keys(from, Some(id), &label);
            }
            self.playback_mut().clip = Some(id);
            self.evaluation.stale = true;
        }
        self.history.commit(&self.document);
    }

    /// Renames the clip on screen.
    pub fn rename_clip(&mut self, name: &str) {
        let name = name.trim();
        let Some((id, clip)) = self.shown_clip() else {
            return;
        };
        if clip.name == name {
            return;
        }
        let renamed = Clip {
            name: name.to_owned(),
            ..clip.clone()
        };
        self.set_clip(id, Some(renamed), &format!("Rename clip to \"{name}\""));
    }

    /// Sets the interpolation of the clip on screen.
    pub fn set_rigid_interpolation(&mut self, rigid_interpolation: RigidInterpolation) {
        self.end_key_drag();
        let Some((id, clip)) = self.shown_clip() else {
            return;
        };
        if clip.rigid_interpolation == rigid_interpolation {
            return;
        }
        let label = format!(
            "Interpolation of \"{}\": {}",
            clip.name,
            rigid_interpolation.label()
        );
        let changed = Clip {
            rigid_interpolation,
            ..clip.clone()
        };
        self.set_clip(id, Some(changed), &label);
    }

    /// Includes the clip on screen in exports, or makes it a preview clip that exports leave out.
    pub fn set_exported(&mut self, exported: bool) {
        self.end_key_drag();
        let Some((id, clip)) = self.shown_clip() else {
            return;
        };
        if clip.preview != exported {
            return;
        }
        let verb = if exported { "Export" } else { "Do not export" };
        let label = format!("{verb} clip \"{}\"", clip.name);
        let changed = Clip {
            preview: !exported,
            ..clip.clone()
        };
        self.set_clip(id, Some(changed), &label);
    }

    /// Deletes the clip on screen and shows the document's pose; undo shows the clip again.
    pub fn delete_clip(&mut self) {
        self.finish_tool();
        let Some((id, clip)) = self.shown_clip() else {
            return;
        };
        let label = format!("Delete clip \"{}\"", clip.name);
        self.history.begin(&self.document, &label);
        // Another clip may get its number.
        self.carry_group_keys(id, None, &label);
        if self.set_clip(id, None, &label) {
            let playback = self.playback_mut();
            playback.playing = false;
            playback.unkeyed = false;
            playback.range = None;
            self.evaluation.stale = true;
        }
        self.history.commit(&self.document);
    }

    /// Jumps to the next keyframe of the selected bones, or without a selection of all bones.
    pub fn next_key(&mut self) {
        let now = self.playback().time_secs as f32;
        let times = self.key_times();
        let next = times.into_iter().find(|&t| t > now + SAME_KEY_SECS);
        self.go_to_key(next);
    }

    /// Jumps to the previous keyframe of the selected bones, or without a selection of all bones.
    pub fn previous_key(&mut self) {
        let now = self.playback().time_secs as f32;
        let times = self.key_times();
        let previous = times.into_iter().rfind(|&t| t < now - SAME_KEY_SECS);
        self.go_to_key(previous);
    }

    /// Whether the keyframes of the channel's bone are shown and jumped to: a selected bone, or any bone without a
    /// selection.
    pub fn shows_keys_of(&self, channel: &Channel) -> bool {
        let selected = &self.document.session().selected_joints;
        selected.is_empty() || selected.contains(&channel.joint)
    }

    /// Starts dragging the keyframes at a time: those of `joint`, or of all bones whose keyframes are shown. They
    /// follow [`Editor::drag_keys_by`] until [`Editor::end_key_drag`]; the whole drag is one undo step.
    pub fn begin_key_drag(&mut self, time_secs: f32, joint: Option<JointId>) {
        self.finish_tool();
        self.end_key_drag();
        let Some((id, clip)) = self.shown_clip() else {
            return;
        };
        let wants = |c: &Channel| joint.map_or_else(|| self.shows_keys_of(c), |j| c.joint == j);
        let keys = keys_near(clip, time_secs, SAME_KEY_SECS, wants);
        if keys.is_empty() {
            return;
        }
        let drag = KeyDrag {
            clip: id,
            before: self.document.clips()[&id].clone(),
            keys,
        };
        let n = drag.keys.len();
        let label = format!("Move {} of {time_secs:.2} s", counted(n, "keyframe"));
        self.history.begin(&self.document, &label);
        self.key_drag = Some(drag);
    }

    /// Whether keyframes are being dragged.
    pub fn is_dragging_keys(&self) -> bool {
        self.key_drag.is_some() || self.is_dragging_group_key()
    }

    /// Moves the dragged keyframes by `by_secs` from their initial time.
    pub fn drag_keys_by(&mut self, by_secs: f32) {
        if self.drag_group_key_by(by_secs) {
            return;
        }
        let Some(drag) = &self.key_drag else { return };
        let moved = drag.before.with_moved_keys(&drag.keys, by_secs);
        if self
            .document
            .clips()
            .get(&drag.clip)
            .is_some_and(|now| **now == moved)
        {
            return;
        }
        self.set_clip(drag.clip, Some(moved), "Move keyframes");
    }

    /// Ends the drag of keyframes.
    pub fn end_key_drag(&mut self) {
        if self.end_group_key_drag() {
            return;
        }
        let Some(drag) = self.key_drag.take() else {
            return;
        };
        let now = self.document.clips().get(&drag.clip);
        if now.is_some_and(|now| **now == *drag.before) {
            // Back at the initial time: nothing to undo.
            let dirty = self.history.cancel(&mut self.document);
            self.refresh(&dirty);
        } else {
            self.history.commit(&self.document);
        }
    }

    /// Cancels the drag of keyframes and restores their times.
    pub fn cancel_key_drag(&mut self) {
        if self.cancel_group_key_drag() {
            return;
        }
        if self.key_drag.take().is_some() {
            let dirty = self.history.cancel(&mut self.document);
            self.refresh(&dirty);
        }
    }

    /// Tolerance for replacing a keyframe near the current time, seconds: far less than a frame, so that the time does
    /// not change.
    pub(super) fn reach_secs(&self) -> f32 {
        0.03 / self.playback().fps.max(1) as f32
    }

    /// Tolerance for finding the keyframes of the current frame, seconds.
    pub(super) fn half_frame_secs(&self) -> f32 {
        0.5 / self.playback().fps.max(1) as f32
    }

    /// The time of the keyframe of one of `joints` at the current time, otherwise the current time.
    fn key_time(&self, clip: &Clip, joints: &BTreeSet<JointId>, reach: f32) -> f32 {
        let now = self.playback().time_secs.max(0.0) as f32;
        let channels = clip.channels.iter().filter(|c| joints.contains(&c.joint));
        channels
            .filter_map(|c| Some(c.times[c.key_near(now, reach)?]))
            .min_by(|a, b| (a - now).abs().total_cmp(&(b - now).abs()))
            .unwrap_or(now)
    }

    /// The number of bones of `pose` that differ from the clip.
    fn left_unkeyed(&self, id: ClipId, time_secs: f64, pose: &Pose) -> usize {
        let Some(clip) = self.document.clips().get(&id) else {
            return 0;
        };
        let keyed = self.document.keyed_pose(clip, time_secs);
        let joints = (0..pose.locals.len() as u32).map(JointId);
        joints.filter(|&j| differs(pose, &keyed, j)).count()
    }

    /// The times of the keyframes of the shown bones and of groups of clusters, ascending.
    fn key_times(&self) -> Vec<f32> {
        let Some((_, clip)) = self.shown_clip() else {
            return Vec::new();
        };
        let marks = key_marks(clip, |c| self.shows_keys_of(c));
        let mut times: Vec<f32> = marks.into_iter().map(|m| m.time_secs).collect();
        times.extend(self.group_keys().into_iter().flat_map(|keys| keys.times));
        times.sort_by(f32::total_cmp);
        times
    }

    fn go_to_key(&mut self, time_secs: Option<f32>) {
        match time_secs {
            Some(time_secs) => {
                self.pause();
                self.set_time(f64::from(time_secs));
            }
            None => self.notify("No more keyframes in this direction."),
        }
    }

    pub(super) fn set_clip(&mut self, id: ClipId, clip: Option<Clip>, label: &str) -> bool {
        let clip = clip.map(Arc::new);
        match self.apply(Edit::Clip { id, clip }, label) {
            Ok(()) => true,
            Err(error) => {
                self.notify_error(error.to_string());
                false
            }
        }
    }

    /// An id that is in neither the document nor its source: the id of a deleted clip still denotes that clip.
    pub(super) fn free_id(&self) -> ClipId {
        let ids = [self.document.clips(), self.document.source_clips()];
        let last = ids
            .iter()
            .filter_map(|clips| clips.keys().next_back())
            .max();
        ClipId(last.map_or(0, |id| id.0.saturating_add(1)))
    }

    /// `wanted`, or with the first number that makes it unique.
    pub(super) fn free_name(&self, wanted: &str) -> String {
        self.free_name_among(wanted, |_| true)
    }

    /// `wanted`, or with the first number that makes it unique among the clips for which `counts` is true.
    pub(super) fn free_name_among(&self, wanted: &str, counts: impl Fn(&Clip) -> bool) -> String {
        let clips = self.document.clips().values().filter(|clip| counts(clip));
        numbered(wanted, &clips.map(|c| &*c.name).collect())
    }
}

/// `wanted`, or with the first number that makes it none of those that are `taken`.
pub(super) fn numbered(wanted: &str, taken: &BTreeSet<&str>) -> String {
    if !taken.contains(wanted) {
        return wanted.to_owned();
    }
    let stem = wanted
        .trim_end_matches(|c: char| c.is_ascii_digit())
        .trim_end();
    (2..=taken.len() + 2)
        .map(|n| format!("{stem} {n}"))
        .find(|name| !taken.contains(name.as_str()))
        .unwrap_or_default()
}

/// The components of a joint that get a keyframe: those that the clip animates, the rotation, and those that differ
/// from the clip.
fn values_to_key(
    clip: &Clip,
    pose: &Pose,
    base: &Pose,
    joint: JointId,
) -> Vec<(Property, Vec<f64>)> {
    let (local, was) = (&pose.locals[joint.get()], &base.locals[joint.get()]);
    let mut values = Vec::new();
    let mut add = |property, wanted: bool, value: Vec<f64>| {
        if wanted || clip.channel_of(joint, property).is_some() {
            values.push((property, value));
        }
    };
    let moved = moved(local, was);
    add(
        Property::Translation,
        moved,
        local.translation.to_array().to_vec(),
    );
    add(Property::Rotation, true, local.rotation.to_array().to_vec());
    // A clip cannot store shear: such a bone keeps its channels.
    if !local.has_shear() {
        let scaled = scaled(local, was);
        add(Property::Scale, scaled, local.scale().to_array().to_vec());
    }
    let weights = &pose.morph_weights[joint.get()];
    let morphed = *weights != base.morph_weights[joint.get()];
    if !weights.is_empty() {
        let weights = weights.iter().map(|&w| f64::from(w)).collect();
        add(Property::MorphWeights, morphed, weights);
    }
    values
}

/// Whether a joint's local transform differs from `base`.
fn differs(pose: &Pose, base: &Pose, joint: JointId) -> bool {
    let j = joint.get();
    let (local, was) = (&pose.locals[j], &base.locals[j]);
    moved(local, was)
        || turned(local, was)
        || (!local.has_shear() && scaled(local, was))
        || pose.morph_weights[j] != base.morph_weights[j]
}

fn moved(a: &Transform, b: &Transform) -> bool {
    let size = a.translation.length().max(b.translation.length());
    (a.translation - b.translation).length() > SAME_VALUE * size + MIN_LENGTH
}

fn turned(a: &Transform, b: &Transform) -> bool {
    let (a, b) = (a.rotation, b.rotation);
    (a - b).length().min((a + b).length()) > SAME_VALUE
}

fn scaled(a: &Transform, b: &Transform) -> bool {
    let size = a.scale().length().max(b.scale().length());
    (a.scale() - b.scale()).length() > SAME_VALUE * size
}
