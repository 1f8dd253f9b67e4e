//! Keyframes of groups of clusters that control points move, by hand or in a lattice or a cage, in the clip on screen. Each command is one undo step.

use super::Editor;
use super::controls::ControlPoints;
use crate::cluster::{Base, ClusterGroup, ClusterMap, ControlMotion, MotionError};
use crate::document::{ClipId, ClustersEdit, Edit, MeshId};
use crate::finding::counted;
use crate::skeleton::clip_edit::SAME_KEY_SECS;
use crate::skeleton::{Clip, Moment};
use glam::Vec3;
use std::sync::Arc;

/// The keyframe of a group being dragged along the timeline.
pub(in crate::editor) struct GroupKeyDrag {
    clip: ClipId,
    mesh: MeshId,
    group: u16,
    from_secs: f32,
    before: Arc<ClusterMap>,
}

/// The keyframes of a group in the clip on screen.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupKeys {
    /// The mesh.
    pub mesh: MeshId,
    /// The index of the group.
    pub group: u16,
    /// Its name.
    pub name: String,
    /// Seconds, ascending.
    pub times: Vec<f32>,
}

impl Editor {
    /// Whether control points move the active group, which is so keyed in Cluster mode.
    pub fn keys_clusters(&self) -> bool {
        self.keyed_group().is_some()
    }

    /// The groups with keyframes in the clip on screen, and the active one if it has control points; in the order of
    /// meshes and lists.
    pub fn group_keys(&self) -> Vec<GroupKeys> {
        let Some((clip, _)) = self.shown_clip() else {
            return Vec::new();
        };
        let active = self.keyed_group();
        let active = active.map(|(mesh, index, ..)| (mesh, index));
        let meshes = self.document.meshes().iter();
        let groups = meshes.flat_map(|(&mesh, item)| {
            let groups = (0u16..).zip(item.clusters.groups());
            groups.map(move |(index, group)| (mesh, index, group))
        });
        let keyed = groups.filter_map(|(mesh, index, group)| {
            let keys = group.motion()?.keys(clip);
            let is_shown = !keys.is_empty() || active == Some((mesh, index));
            is_shown.then(|| GroupKeys {
                mesh,
                group: index,
                name: group.name.clone(),
                times: keys.iter().map(|key| key.secs).collect(),
            })
        });
        keyed.collect()
    }

    /// Inserts a keyframe for the active group, which has control points, at the current time of the clip on screen; creates a
    /// clip if none is.
    pub fn key_clusters(&mut self) {
        self.finish_tool();
        let Some((mesh, index, group, motion)) = self.keyed_group() else {
            self.notify(
                "The active group is not moved by hand. Choose \"By hand\", \"Lattice\" or \"Cage\" as Driven by for it first.",
            );
            return;
        };
        let moment = self.document.shown_moment();
        let offsets = motion.offsets_at(moment);
        let now = self.playback().time_secs.max(0.0) as f32;
        let shown = self.shown_clip().map(|(clip, _)| clip);
        let clip = shown.unwrap_or_else(|| self.free_id());
        let reach = self.reach_secs();
        let near = motion.key_near(clip, now, reach);
        let secs = near.map_or(now, |near| motion.keys(clip)[near].secs);
        let motion = match motion.with_key(clip, secs, offsets) {
            Ok(motion) => motion,
            Err(why) => {
                self.notify_error(super::sentence(&why));
                return;
            }
        };
        let label = format!("Insert keyframe for {} at {secs:.2} s", group.name);
        self.history.begin(&self.document, &label);
        if shown.is_none() {
            let made = Clip::named(self.free_name("Clip 1"));
            if !self.set_clip(clip, Some(made), &label) {
                self.history.cancel(&mut self.document);
                return;
            }
        }
        self.set_motion((mesh, index, group.base), motion, &label);
        let playback = self.playback_mut();
        playback.clip = Some(clip);
        // The pose stays on screen, and is not keyed.
        playback.unkeyed |= shown.is_none();
        playback.time_secs = f64::from(secs);
        self.history.commit(&self.document);
        self.evaluation.stale = true;
    }

    /// Deletes the keyframe of the active group at the current time.
    pub fn delete_cluster_key(&mut self) {
        self.finish_tool();
        let Some((mesh, index, group, motion)) = self.keyed_group() else {
            self.notify("The active group is not moved by hand.");
            return;
        };
        let Some((clip, _)) = self.shown_clip() else {
            self.notify("No clip is on screen.");
            return;
        };
        let now = self.playback().time_secs.max(0.0) as f32;
        let Some(near) = motion.key_near(clip, now, self.half_frame_secs()) else {
            let text = format!("{} has no keyframe at this time.", group.name);
            self.notify(text);
            return;
        };
        let secs = motion.keys(clip)[near].secs;
        let label = format!("Delete keyframe of {} at {secs:.2} s", group.name);
        let motion = motion.without_key(clip, secs);
        self.set_motion((mesh, index, group.base), motion, &label);
    }

    /// Deletes the keyframe of a group at a time.
    pub fn delete_group_key_at(&mut self, mesh: MeshId, index: u16, time_secs: f32) {
        self.finish_tool();
        let item = self.document.meshes().get(&mesh);
        let group = item.and_then(|item| item.clusters.groups().get(usize::from(index)));
        let motion = group.and_then(|group| group.motion());
        let (Some(group), Some(motion), Some((clip, _))) = (group, motion, self.shown_clip())
        else {
            return;
        };
        if motion.key_near(clip, time_secs, SAME_KEY_SECS).is_none() {
            return;
        }
        let label = format!("Delete keyframe of {} at {time_secs:.2} s", group.name);
        let (motion, base) = (motion.without_key(clip, time_secs), group.base);
        self.set_motion((mesh, index, base), motion, &label);
    }

    /// Sets the selected clusters of groups that are moved by hand back to where the deformer stack has them; where the active
    /// group has a lattice or a cage, its selected control points, or all if none are.
    pub fn reset_clusters(&mut self) {
        self.finish_tool();
        if let Some(shown) = self.control_points() {
            self.reset_controls(&shown);
            return;
        }
        let points = self.clusters_by_hand();
        if points.is_empty() {
            self.notify("Select clusters of a group that is moved by hand first.");
            return;
        }
        let n = self.n_places_of(&points);
        let label = format!("Reset {}", counted(n, "cluster"));
        let groups = (0u16..).zip(self.cluster_groups());
        let by_hand = groups.filter(|(_, group)| group.base == Base::Hand);
        let by_hand: Vec<u16> = by_hand.map(|(index, _)| index).collect();
        if !self.reset_offsets(&by_hand, &label, |p| points.binary_search(&p).is_ok()) {
            self.notify("The clusters are already where the deformer stack has them.");
        }
    }

    fn reset_controls(&mut self, shown: &ControlPoints) {
        let (n, all) = (shown.selected.len(), shown.places.len());
        let label = if n > 0 {
            format!("Reset {}", counted(n, "control point"))
        } else {
            format!("Reset all {}", counted(all, "control point"))
        };
        let is_reset = |control: u32| n == 0 || shown.selected.contains(&control);
        if !self.reset_offsets(&[shown.group], &label, is_reset) {
            self.notify("The control points are already at rest.");
        }
    }

    /// Removes the displacements of some control points of groups at the current time. Returns whether one had any.
    fn reset_offsets(&mut self, of: &[u16], label: &str, is_reset: impl Fn(u32) -> bool) -> bool {
        let moment = self.document.shown_moment();
        self.change_clusters(label, |map| {
            let mut changed = map.clone();
            for &index in of {
                let group = &map.groups()[usize::from(index)];
                let Some(motion) = group.motion() else {
                    continue;
                };
                let mut offsets = motion.offsets_at(moment);
                let n_before = offsets.len();
                offsets.retain(|offset| !is_reset(offset.0));
                if offsets.len() == n_before {
                    continue;
                }
                let motion = motion_at(motion, moment, offsets)?;
                changed = changed.with_group(Some(index), group.with_motion(group.base, motion))?;
            }
            Ok(changed)
        })
    }

    /// Starts dragging the keyframe of a group at a time; it follows [`Editor::drag_keys_by`] until
    /// [`Editor::end_key_drag`].
    pub fn begin_group_key_drag(&mut self, mesh: MeshId, group: u16, time_secs: f32) {
        self.finish_tool();
        let Some((clip, _)) = self.shown_clip() else {
            return;
        };
        let Some(item) = self.document.meshes().get(&mesh) else {
            return;
        };
        let before = item.clusters.clone();
        let Some(known) = before.groups().get(usize::from(group)) else {
            return;
        };
        let has_key = |m: &ControlMotion| m.key_near(clip, time_secs, SAME_KEY_SECS).is_some();
        if !known.motion().is_some_and(has_key) {
            return;
        }
        let label = format!("Move keyframe of {} at {time_secs:.2} s", known.name);
        self.history.begin(&self.document, &label);
        self.clustering.key_drag = Some(GroupKeyDrag {
            clip,
            mesh,
            group,
            from_secs: time_secs,
            before,
        });
    }

    /// Whether the keyframe of a group is being dragged.
    pub(in crate::editor) fn is_dragging_group_key(&self) -> bool {
        self.clustering.key_drag.is_some()
    }

    /// Moves the dragged keyframe of a group by `by_secs` from its initial time. Returns whether there is one.
    pub(in crate::editor) fn drag_group_key_by(&mut self, by_secs: f32) -> bool {
        let Some(drag) = &self.clustering.key_drag else {
            return false;
        };
        let Some(group) = drag.before.groups().get(usize::from(drag.group)) else {
            return true;
        };
        let to = drag.from_secs + by_secs;
        let Some(motion) = group.motion() else {
            return true;
        };
        let motion = motion.with_moved_key(drag.clip, drag.from_secs, to);
        let of = (drag.mesh, drag.group, group.base);
        self.set_motion(of, motion, "Move keyframe");
        true
    }

    /// Ends the drag of a group's keyframe. Returns whether there was one.
    pub(in crate::editor) fn end_group_key_drag(&mut self) -> bool {
        let Some(drag) = self.clustering.key_drag.take() else {
            return false;
        };
        let now = self.document.meshes().get(&drag.mesh);
        if now.is_some_and(|item| item.clusters == drag.before) {
            // Back at the initial time: nothing to undo.
            let dirty = self.history.cancel(&mut self.document);
            self.refresh(&dirty);
        } else {
            self.history.commit(&self.document);
        }
        true
    }

    /// Cancels the drag of a group's keyframe. Returns whether there was one.
    pub(in crate::editor) fn cancel_group_key_drag(&mut self) -> bool {
        let was = self.clustering.key_drag.take().is_some();
        if was {
            let dirty = self.history.cancel(&mut self.document);
            self.refresh(&dirty);
        }
        was
    }

    /// In the open step: deletes the keyframes of all groups in a clip, or gives them also to another clip.
    pub(in crate::editor) fn carry_group_keys(
        &mut self,
        clip: ClipId,
        to: Option<ClipId>,
        label: &str,
    ) {
        let mut changes = Vec::new();
        for (&mesh, item) in self.document.meshes() {
            for (index, group) in (0u16..).zip(item.clusters.groups()) {
                for base in Base::ALL {
                    let motion = group.motion_of(base);
                    let Some(motion) = motion.filter(|m| !m.keys(clip).is_empty()) else {
                        continue;
                    };
                    let changed = match to {
                        Some(to) => motion.with_keys(to, motion.keys(clip).to_vec()),
                        None => motion.with_keys(clip, Vec::new()),
                    };
                    changes.push(((mesh, index, base), changed));
                }
            }
        }
        for (of, motion) in changes {
            self.set_motion(of, motion, label);
        }
    }

    /// The active group with its mesh and index, and the displacements of its control points, if it has some.
    fn keyed_group(&self) -> Option<(MeshId, u16, Arc<ClusterGroup>, ControlMotion)> {
        let (mesh, item) = self.clustered_item()?;
        let index = self.active_group()?;
        let group = item.clusters.groups().get(usize::from(index))?;
        Some((mesh, index, group.clone(), group.motion()?.clone()))
    }

    /// Sets the displacements of the control points that a base of a group has.
    fn set_motion(
        &mut self,
        (mesh, index, base): (MeshId, u16, Base),
        motion: ControlMotion,
        label: &str,
    ) {
        let Some(item) = self.document.meshes().get(&mesh) else {
            return;
        };
        let Some(known) = item.clusters.groups().get(usize::from(index)) else {
            return;
        };
        if known.motion_of(base).is_none_or(|known| *known == motion) {
            return;
        }
        let group = known.with_motion(base, motion);
        let map = match item.clusters.with_group(Some(index), group) {
            Ok(map) => map,
            Err(why) => {
                self.notify_error(super::sentence(&why));
                return;
            }
        };
        let edit = ClustersEdit::new(&self.document, mesh, Arc::new(map));
        if let Err(error) = self.apply(Edit::Clusters(edit), label) {
            self.notify_error(super::sentence(&error));
        }
    }
}

/// With displacements at a moment: in a keyframe of its clip if that has keyframes, else outside of clips, as automatic
/// keyframes do in Maya.
pub(super) fn motion_at(
    motion: &ControlMotion,
    moment: Moment,
    offsets: Vec<(u32, Vec3)>,
) -> Result<ControlMotion, MotionError> {
    match key_clip(motion, moment) {
        Some(clip) => motion.with_key(clip, moment.secs as f32, offsets),
        None => motion.with_still(offsets),
    }
}

/// The clip into which a change goes as a keyframe: that of the moment, if it has keyframes.
pub(super) fn key_clip(motion: &ControlMotion, moment: Moment) -> Option<ClipId> {
    let clip = moment.clip?;
    (!motion.keys(clip).is_empty()).then_some(clip)
}
