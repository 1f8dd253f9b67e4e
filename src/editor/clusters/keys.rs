//! Keyframes of groups of clusters that are moved by hand, in the clip on screen. Each command is one undo step.

use super::Editor;
use crate::cluster::{Base, ClusterGroup, ClusterMap, ControlMotion};
use crate::document::{ClipId, ClustersEdit, Edit, MeshId};
use crate::finding::counted;
use crate::skeleton::Clip;
use crate::skeleton::clip_edit::SAME_KEY_SECS;
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
    /// Whether the active group is moved by hand, and so keyed in Cluster mode.
    pub fn keys_clusters(&self) -> bool {
        self.group_by_hand().is_some()
    }

    /// The groups with keyframes in the clip on screen, and the active one if it is moved by hand; in the order of meshes
    /// and lists.
    pub fn group_keys(&self) -> Vec<GroupKeys> {
        let Some((clip, _)) = self.shown_clip() else {
            return Vec::new();
        };
        let active = self.group_by_hand().map(|(mesh, group, _)| (mesh, group));
        let meshes = self.document.meshes().iter();
        let groups = meshes.flat_map(|(&mesh, item)| {
            let groups = (0u16..).zip(item.clusters.groups());
            groups.map(move |(index, group)| (mesh, index, group))
        });
        let keyed = groups.filter(|(mesh, index, group)| {
            let is_keyed = !group.hand.keys(clip).is_empty();
            group.base == Base::Hand && (is_keyed || active == Some((*mesh, *index)))
        });
        let keyed = keyed.map(|(mesh, group, known)| GroupKeys {
            mesh,
            group,
            name: known.name.clone(),
            times: known.hand.keys(clip).iter().map(|key| key.secs).collect(),
        });
        keyed.collect()
    }

    /// Inserts a keyframe for the active group, which is moved by hand, at the current time of the clip on screen; creates a
    /// clip if none is.
    pub fn key_clusters(&mut self) {
        self.finish_tool();
        let Some((mesh, index, group)) = self.group_by_hand() else {
            self.notify(
                "The active group is not moved by hand. Choose the base \"By hand\" for it first.",
            );
            return;
        };
        let moment = self.document.shown_moment();
        let offsets = group.hand.offsets_at(moment);
        let now = self.playback().time_secs.max(0.0) as f32;
        let shown = self.shown_clip().map(|(clip, _)| clip);
        let clip = shown.unwrap_or_else(|| self.free_id());
        let reach = self.reach_secs();
        let near = group.hand.key_near(clip, now, reach);
        let secs = near.map_or(now, |near| group.hand.keys(clip)[near].secs);
        let hand = match group.hand.with_key(clip, secs, offsets) {
            Ok(hand) => hand,
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
        self.set_hand(mesh, index, hand, &label);
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
        let Some((mesh, index, group)) = self.group_by_hand() else {
            self.notify("The active group is not moved by hand.");
            return;
        };
        let Some((clip, _)) = self.shown_clip() else {
            self.notify("No clip is on screen.");
            return;
        };
        let now = self.playback().time_secs.max(0.0) as f32;
        let Some(near) = group.hand.key_near(clip, now, self.half_frame_secs()) else {
            let text = format!("{} has no keyframe at this time.", group.name);
            self.notify(text);
            return;
        };
        let secs = group.hand.keys(clip)[near].secs;
        let label = format!("Delete keyframe of {} at {secs:.2} s", group.name);
        let hand = group.hand.without_key(clip, secs);
        self.set_hand(mesh, index, hand, &label);
    }

    /// Sets the selected clusters of groups that are moved by hand back to where the deformer stack has them.
    pub fn reset_clusters(&mut self) {
        self.finish_tool();
        let points = self.clusters_by_hand();
        if points.is_empty() {
            self.notify("Select clusters of a group that is moved by hand first.");
            return;
        }
        let moment = self.document.shown_moment();
        let n = self.n_places_of(&points);
        let label = format!("Reset {}", counted(n, "cluster"));
        let is_kept = |point: u32| points.binary_search(&point).is_err();
        let changed = self.change_clusters(&label, |map| {
            let mut changed = map.clone();
            for (index, group) in (0u16..).zip(map.groups()) {
                let mut offsets = group.hand.offsets_at(moment);
                let n_before = offsets.len();
                offsets.retain(|offset| is_kept(offset.0));
                if group.base != Base::Hand || offsets.len() == n_before {
                    continue;
                }
                let clip = moment
                    .clip
                    .filter(|&clip| !group.hand.keys(clip).is_empty());
                let hand = match clip {
                    Some(clip) => group.hand.with_key(clip, moment.secs as f32, offsets)?,
                    None => group.hand.with_still(offsets)?,
                };
                let group = ClusterGroup {
                    hand,
                    ..ClusterGroup::clone(group)
                };
                changed = changed.with_group(Some(index), group)?;
            }
            Ok(changed)
        });
        if !changed {
            self.notify("The clusters are already where the deformer stack has them.");
        }
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
        if known
            .hand
            .key_near(clip, time_secs, SAME_KEY_SECS)
            .is_none()
        {
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
        let hand = group.hand.with_moved_key(drag.clip, drag.from_secs, to);
        let (mesh, group) = (drag.mesh, drag.group);
        self.set_hand(mesh, group, hand, "Move keyframe");
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
                let keys = group.hand.keys(clip);
                if !keys.is_empty() {
                    let hand = match to {
                        Some(to) => group.hand.with_keys(to, keys.to_vec()),
                        None => group.hand.with_keys(clip, Vec::new()),
                    };
                    changes.push((mesh, index, hand));
                }
            }
        }
        for (mesh, index, hand) in changes {
            self.set_hand(mesh, index, hand, label);
        }
    }

    /// The active group with its mesh and index, if it is moved by hand.
    fn group_by_hand(&self) -> Option<(MeshId, u16, Arc<ClusterGroup>)> {
        let (mesh, item) = self.clustered_item()?;
        let index = self.active_group()?;
        let group = item.clusters.groups().get(usize::from(index))?;
        (group.base == Base::Hand).then(|| (mesh, index, group.clone()))
    }

    fn set_hand(&mut self, mesh: MeshId, index: u16, hand: ControlMotion, label: &str) {
        let Some(item) = self.document.meshes().get(&mesh) else {
            return;
        };
        let Some(known) = item.clusters.groups().get(usize::from(index)) else {
            return;
        };
        if known.hand == hand {
            return;
        }
        let group = ClusterGroup {
            hand,
            ..ClusterGroup::clone(known)
        };
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
