//! Selection commands: all, none, inverse, linked, more, less, moved by the active bone.

use super::{Editor, SelectKind, Selection};
use crate::document::session::PointsOfMeshes;
use crate::document::{MeshId, MeshItem};
use crate::mesh::{PointSet, Topology, islands};
use crate::skeleton::JointIndex;
use crate::skinning::influences::CHUNK;
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::sync::Arc;

impl Editor {
    /// Selects every bone, or every point, that is not hidden.
    pub fn select_all(&mut self) {
        self.select_by(|editor, selection| match editor.select_kind() {
            SelectKind::Bones => selection.joints = editor.visible_joints(),
            SelectKind::Points => {
                let all = editor
                    .visible_points()
                    .map(|(id, points)| (id, points.into()));
                selection.points = all.collect();
            }
        });
    }

    /// Selects nothing.
    pub fn select_none(&mut self) {
        self.select_by(|editor, selection| match editor.select_kind() {
            SelectKind::Bones => selection.joints.clear(),
            SelectKind::Points => selection.points.clear(),
        });
    }

    /// Selects what is not selected, and nothing else.
    pub fn select_inverse(&mut self) {
        self.select_by(|editor, selection| match editor.select_kind() {
            SelectKind::Bones => {
                let selected = std::mem::replace(&mut selection.joints, editor.visible_joints());
                selection.joints.retain(|j| !selected.contains(j));
            }
            SelectKind::Points => {
                let selected = std::mem::take(&mut selection.points);
                let inverse = editor.visible_points().map(|(id, mut points)| {
                    if let Some(selected) = selected.get(&id) {
                        points.subtract(selected);
                    }
                    (id, Arc::new(points))
                });
                selection.points = inverse.collect();
            }
        });
    }

    /// Selects the rest of each island of points that has a selected one; of bones the whole chains below.
    pub fn select_linked(&mut self) {
        self.select_by(|editor, selection| match editor.select_kind() {
            SelectKind::Bones => {
                let visible = editor.visible_joints();
                let skeleton = editor.document.skeleton();
                let below = visible.into_iter().filter(|&joint| {
                    skeleton
                        .ancestors(joint)
                        .any(|a| selection.joints.contains(&a))
                });
                selection.joints.extend(below.collect::<Vec<_>>());
            }
            SelectKind::Points => editor
                .change_points(&mut selection.points, |topology, set, n| {
                    islands::linked(topology, set, n)
                }),
        });
    }

    /// Selects the neighbours too: of points along edges and across seams, of bones parents and children.
    pub fn select_more(&mut self) {
        self.select_by(|editor, selection| match editor.select_kind() {
            SelectKind::Bones => {
                let more = editor.bone_neighbours(&selection.joints);
                selection.joints.extend(more);
            }
            SelectKind::Points => editor
                .change_points(&mut selection.points, |topology, set, n| {
                    islands::grow(topology, set, n)
                }),
        });
    }

    /// Takes out of the selection what has a neighbour that is not selected.
    pub fn select_less(&mut self) {
        self.select_by(|editor, selection| match editor.select_kind() {
            SelectKind::Bones => {
                let mut others = editor.visible_joints();
                others.retain(|j| !selection.joints.contains(j));
                let border = editor.bone_neighbours(&others);
                selection.joints.retain(|j| !border.contains(j));
            }
            SelectKind::Points => {
                let hidden = editor.document.session().hidden_points.clone();
                editor.change_points_of(&mut selection.points, |id, topology, set, n| {
                    let mut others = set.clone();
                    others.invert(n);
                    // What is hidden is no border.
                    if let Some(hidden) = hidden.get(&id) {
                        others.subtract(hidden);
                    }
                    islands::shrink(topology, set, &others, n)
                });
            }
        });
    }

    /// Selects the points that the active bone moves, and makes points what is picked.
    pub fn select_moved_points(&mut self) {
        let Some(joint) = self.document.session().active_joint else {
            self.say("No bone is active. Click one, then its points can be selected.");
            return;
        };
        let mut points = PointsOfMeshes::new();
        for (&id, item) in self.document.meshes() {
            if let Some(index) = self.document.skin_joint(id, joint) {
                points.insert(id, moved_by(item, index).into());
            }
        }
        self.set_select_kind(SelectKind::Points);
        self.select_by(|_, selection| selection.points = points);
        if self.n_selected() == 0 {
            let label = self.document.skeleton().label(joint);
            self.say(format!("\"{label}\" moves no point that can be seen."));
        }
    }

    /// Changes the selection; a drag under way is taken back first.
    fn select_by(&mut self, change: impl FnOnce(&Self, &mut Selection)) {
        self.take_back_select();
        let mut selection = self.selection();
        change(self, &mut selection);
        self.set_selection(selection);
    }

    /// The bones that are not hidden.
    pub(super) fn visible_joints(&self) -> BTreeSet<JointIndex> {
        let mask = self.document.skin_joint_mask();
        let hidden = &self.document.session().hidden_joints;
        (0..mask.len() as u32)
            .map(JointIndex)
            .filter(|j| mask[j.get()] && !hidden.contains(j))
            .collect()
    }

    /// For each mesh of which an object is shown, the points that are not hidden.
    pub(super) fn visible_points(&self) -> impl Iterator<Item = (MeshId, PointSet)> + '_ {
        let session = self.document.session();
        let shown: BTreeSet<MeshId> = self
            .document
            .instances()
            .iter()
            .filter(|(id, _)| !session.hidden_instances.contains(id))
            .map(|(_, instance)| instance.mesh)
            .collect();
        shown.into_iter().filter_map(|id| {
            let mut points = PointSet::full(self.document.meshes().get(&id)?.geometry.n_points());
            if let Some(hidden) = session.hidden_points.get(&id) {
                points.subtract(hidden);
            }
            Some((id, points))
        })
    }

    /// Parents and children, among the bones that are not hidden, of `joints`.
    fn bone_neighbours(&self, joints: &BTreeSet<JointIndex>) -> BTreeSet<JointIndex> {
        let visible = self.visible_joints();
        let skeleton = self.document.skeleton();
        let mut near = BTreeSet::new();
        for &joint in &visible {
            // The next bone above, past nodes that are none.
            let Some(parent) = skeleton.ancestors(joint).find(|a| visible.contains(a)) else {
                continue;
            };
            if joints.contains(&parent) {
                near.insert(joint);
            }
            if joints.contains(&joint) {
                near.insert(parent);
            }
        }
        near
    }

    fn change_points(
        &self,
        points: &mut PointsOfMeshes,
        change: impl Fn(&Topology, &PointSet, usize) -> PointSet,
    ) {
        self.change_points_of(points, |_, topology, set, n| change(topology, set, n));
    }

    fn change_points_of(
        &self,
        points: &mut PointsOfMeshes,
        change: impl Fn(MeshId, &Topology, &PointSet, usize) -> PointSet,
    ) {
        for (&id, set) in points {
            if let Some(item) = self.document.meshes().get(&id) {
                let mesh = &item.geometry;
                *set = change(id, mesh.topology(), set, mesh.n_points()).into();
            }
        }
    }
}

/// The points of `item` in which skin joint `joint` has influence.
fn moved_by(item: &MeshItem, joint: u16) -> PointSet {
    let chunks = item.influences.chunks().par_iter();
    let words = chunks.flat_map_iter(|rows| {
        (0..rows.len().div_ceil(64)).map(move |word| {
            let rows_of_word = word * 64..(word * 64 + 64).min(rows.len());
            rows_of_word.fold(0, |bits, i| {
                bits | u64::from(rows.row(i).weight_of(joint) > 0.0) << (i % 64)
            })
        })
    });
    // Chunks are whole words, so their words follow each other.
    const { assert!(CHUNK.is_multiple_of(64)) };
    PointSet::from_words(words.collect())
}
