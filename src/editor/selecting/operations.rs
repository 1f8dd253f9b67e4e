//! Selection commands: all, none, invert, linked, more, less, by weights, mirror.

use super::{Editor, SelectKind, Selection};
use crate::document::session::PointsOfMeshes;
use crate::document::{Document, MeshId, MeshItem};
use crate::editor::jobs::EditorJob;
use crate::editor::symmetries::Symmetries;
use crate::finding::counted;
use crate::mesh::{PointSet, Topology, islands};
use crate::skeleton::JointId;
use crate::skeleton::mirror::Mirror;
use crate::skinning::RowRef;
use crate::skinning::influences::CHUNK;
use crate::task::{Cancelled, Task};
use crate::tools::SelectOp;
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::sync::Arc;

impl Editor {
    /// Selects every visible bone or point.
    pub fn select_all(&mut self) {
        if let Some(all) = self.all_controls() {
            self.select_controls(all, SelectOp::Replace);
            return;
        }
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

    /// Deselects everything.
    pub fn select_none(&mut self) {
        if self.selects_controls() {
            self.select_controls([], SelectOp::Replace);
            return;
        }
        self.select_by(|editor, selection| match editor.select_kind() {
            SelectKind::Bones => selection.joints.clear(),
            SelectKind::Points => selection.points.clear(),
        });
    }

    /// Inverts the selection.
    pub fn select_inverse(&mut self) {
        if let Some(mut all) = self.all_controls() {
            let shown = self.control_points();
            all.retain(|c| !shown.as_ref().is_some_and(|s| s.selected.contains(c)));
            self.select_controls(all, SelectOp::Replace);
            return;
        }
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

    /// All control points of the active group, where the commands select these.
    fn all_controls(&self) -> Option<Vec<u32>> {
        let shown = self.control_points().filter(|_| self.selects_controls())?;
        Some((0..shown.places.len() as u32).collect())
    }

    /// Extends the selection to whole islands of points, or to all descendants of bones.
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

    /// Extends the selection by its neighbours: along edges and across seams for points, parents and children for
    /// bones.
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

    /// Removes items with an unselected neighbour from the selection.
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
                    // Hidden points are not a border.
                    if let Some(hidden) = hidden.get(&id) {
                        others.subtract(hidden);
                    }
                    islands::shrink(topology, set, &others, n)
                });
            }
        });
    }

    /// Selects the points that the selected bones, or the active one, influence, and switches to picking points.
    pub fn select_moved_points(&mut self) {
        let session = self.document.session();
        let mut joints: Vec<JointId> = session.selected_joints.iter().copied().collect();
        if joints.is_empty() {
            joints.extend(session.active_joint);
        }
        if joints.is_empty() {
            self.notify("No bone is active. Click a bone first.");
            return;
        }
        let mut points = Vec::new();
        for (&id, item) in self.document.meshes() {
            let indices = joints
                .iter()
                .filter_map(|&joint| self.document.skin_joint(id, joint));
            let indices: BTreeSet<u16> = indices.collect();
            if !indices.is_empty() {
                let moves = |row: RowRef<'_>| {
                    let mut weights = row.iter();
                    weights.any(|(joint, weight)| weight > 0.0 && indices.contains(&joint))
                };
                points.push((id, points_where(item, moves)));
            }
        }
        self.select_points_of(points);
        if self.n_selected() == 0 {
            let what = match joints[..] {
                [joint] => format!("\"{}\" influences", self.document.skeleton().label(joint)),
                _ => "The selected bones influence".to_owned(),
            };
            self.notify(format!("{what} no visible vertices."));
        }
    }

    /// Selects the points where the active bone's weight is between `low` and `high`; with `low` = 0, also those that
    /// it does not influence.
    pub fn select_by_weight(&mut self, low: f32, high: f32) {
        let Some(joint) = self.document.session().active_joint else {
            self.notify("No bone is active. Click a bone first.");
            return;
        };
        let mut points = Vec::new();
        for (&id, item) in self.document.meshes() {
            if let Some(index) = self.document.skin_joint(id, joint) {
                let range = low..=high;
                let is_in = |row: RowRef<'_>| range.contains(&row.weight_of(index));
                points.push((id, points_where(item, is_in)));
            }
        }
        self.select_points_of(points);
    }

    /// Selects the points of skinned meshes that have no influence.
    pub fn select_unweighted(&mut self) {
        self.select_where(|row| row.weights.iter().all(|w| *w <= 0.0));
        if self.n_selected() == 0 {
            self.notify("Every vertex has an influence.");
        }
    }

    /// Selects the points with more influences than the brush allows.
    pub fn select_over_influenced(&mut self) {
        let most = self.document.session().brush.max_influences;
        self.select_where(|row| row.weights.iter().filter(|w| **w > 0.0).count() > most);
        if self.n_selected() == 0 {
            self.notify(format!("No vertex has more than {most} influences."));
        }
    }

    /// Selects the points of skinned meshes whose rows satisfy `is_meant`, and switches to picking points.
    fn select_where(&mut self, is_meant: impl Fn(RowRef<'_>) -> bool + Sync) {
        let mut points = Vec::new();
        for (&id, item) in self.document.meshes() {
            if self.document.skin_of_mesh(id).is_some() {
                points.push((id, points_where(item, &is_meant)));
            }
        }
        self.select_points_of(points);
    }

    /// Selects exactly the visible ones of `points`, and switches to picking points.
    pub fn select_points_of(&mut self, points: impl IntoIterator<Item = (MeshId, PointSet)>) {
        let points = points.into_iter().map(|(id, set)| (id, Arc::new(set)));
        let points: PointsOfMeshes = points.collect();
        self.set_select_kind(SelectKind::Points);
        self.select_by(|_, selection| selection.points = points);
    }

    /// Selects the mirror image of the selection across the symmetry plane of the bind pose: of points by each mesh's
    /// symmetry, of bones by names and positions.
    pub fn select_mirrored(&mut self) {
        if self.select_kind() == SelectKind::Bones {
            let mirror = Mirror::new(self.document.skeleton());
            let visible = self.visible_joints();
            self.select_by(|_, selection| {
                let others = selection.joints.iter().map(|&joint| {
                    let partner = mirror.partner(joint).filter(|p| visible.contains(p));
                    partner.unwrap_or(joint)
                });
                selection.joints = others.collect();
                let active = selection
                    .active_joint
                    .and_then(|joint| mirror.partner(joint));
                selection.active_joint = active.or(selection.active_joint);
            });
            return;
        }
        let selected = self.document.session().selected_points.clone();
        self.cancel_mirrored();
        let (document, symmetries) = (self.document.clone(), self.symmetries.clone());
        let work = move |task: &Task| mirrored(&selected, &document, &symmetries, task);
        let job = self
            .lane
            .submit(EditorJob::MirrorSelection, "Mirror selection", work);
        self.selecting.mirroring = Some((self.selecting.serial, job));
    }

    /// Cancels the search for the mirror image.
    pub(in crate::editor) fn cancel_mirrored(&mut self) {
        if let Some((_, job)) = self.selecting.mirroring.take() {
            job.task().cancel();
        }
    }

    /// Selects the mirror image once it is computed.
    pub(in crate::editor) fn take_mirrored_selection(&mut self) {
        let mirroring = &mut self.selecting.mirroring;
        let Some((serial, job)) = mirroring.take_if(|(_, job)| job.has_ended()) else {
            return;
        };
        // A selection made in the meantime stays, and so does that of another model.
        let is_current = serial == self.selecting.serial;
        let found = job.into_result().ok().and_then(Result::ok);
        let Some(found) = found.filter(|_| is_current) else {
            return;
        };
        self.select_by(|_, selection| selection.points = found.points);
        if found.n_unmatched > 0 {
            let has = if found.n_unmatched == 1 {
                "has"
            } else {
                "have"
            };
            let points = counted(found.n_unmatched, "selected vertex");
            self.notify(format!("{points} {has} no counterpart on the other side."));
        }
    }

    /// Changes the selection; cancels a running drag first.
    pub(super) fn select_by(&mut self, change: impl FnOnce(&Self, &mut Selection)) {
        self.take_back_select();
        let mut selection = self.selection();
        change(self, &mut selection);
        self.set_selection(selection);
    }

    /// The visible bones.
    pub(super) fn visible_joints(&self) -> BTreeSet<JointId> {
        let mask = self.document.bone_mask();
        let hidden = &self.document.session().hidden_joints;
        (0..mask.len() as u32)
            .map(JointId)
            .filter(|j| mask[j.get()] && !hidden.contains(j))
            .collect()
    }

    /// The visible points of each mesh with a visible object.
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

    /// The visible parents and children of `joints`.
    fn bone_neighbours(&self, joints: &BTreeSet<JointId>) -> BTreeSet<JointId> {
        let visible = self.visible_joints();
        let skeleton = self.document.skeleton();
        let mut near = BTreeSet::new();
        for &joint in &visible {
            // The nearest ancestor that is a visible bone.
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

/// The points of `item` whose rows satisfy `is_meant`.
fn points_where(item: &MeshItem, is_meant: impl Fn(RowRef<'_>) -> bool + Sync) -> PointSet {
    let is_meant = &is_meant;
    let chunks = item.influences.chunks().par_iter();
    let words = chunks.flat_map_iter(|rows| {
        (0..rows.len().div_ceil(64)).map(move |word| {
            let rows_of_word = word * 64..(word * 64 + 64).min(rows.len());
            rows_of_word.fold(0, |bits, i| {
                bits | u64::from(is_meant(rows.row(i))) << (i % 64)
            })
        })
    });
    // Chunks are whole words, so their words follow each other.
    const { assert!(CHUNK.is_multiple_of(64)) };
    PointSet::from_words(words.collect())
}

/// The mirror image of a selection.
#[derive(Debug)]
pub(super) struct Mirrored {
    points: PointsOfMeshes,
    n_unmatched: usize,
}

fn mirrored(
    selected: &PointsOfMeshes,
    document: &Document,
    symmetries: &Symmetries,
    task: &Task,
) -> Result<Mirrored, Cancelled> {
    let mut points = PointsOfMeshes::new();
    let mut n_unmatched = 0;
    let there = selected.iter();
    for (id, set) in there.filter(|(id, _)| document.meshes().contains_key(id)) {
        let axis = document.side_axis(*id).unwrap_or_default();
        let table = symmetries.of(document, *id, axis, task)?;
        let mut others = PointSet::default();
        for point in set.iter() {
            match table.partner(point) {
                Some(partner) => {
                    others.insert(partner);
                }
                None => n_unmatched += 1,
            }
        }
        points.insert(*id, Arc::new(others));
    }
    Ok(Mirrored {
        points,
        n_unmatched,
    })
}
