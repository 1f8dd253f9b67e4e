//! The rows that painting and operations start from, the edits that store their results, and why painting is not
//! possible.

use super::layers::Layer;
use super::session::PaintTarget;
use super::{Document, Edit, InfluenceEdit, LayerId, LayerStack, MaskOf, MeshId, MeshItem};
use crate::skinning::{Influences, PaintRows, RowRef, Rows};
use rayon::prelude::*;
use std::sync::Arc;

impl Document {
    /// The layer of a mesh that is painted: the session's choice, else the top layer. `None`: the mesh has no layers.
    pub fn active_layer(&self, mesh: MeshId) -> Option<LayerId> {
        let stack = &self.meshes.get(&mesh)?.layers;
        let chosen = self.session().active_layers.get(&mesh).copied();
        let chosen = chosen.filter(|&id| stack.position(id).is_some());
        chosen.or_else(|| stack.layers().last().map(|layer| layer.id))
    }

    /// The rows that edits of a mesh start from: those of its active layer, and where that has none the composite of
    /// the layers below.
    pub fn paint_rows(&self, mesh: MeshId) -> Option<PaintRows<'_>> {
        let item = self.meshes.get(&mesh)?;
        let index = self
            .active_layer(mesh)
            .and_then(|id| item.layers.position(id));
        let Some((index, layer)) = index.and_then(|i| Some((i, item.layers.layers().get(i)?)))
        else {
            return Some(PaintRows::plain(&item.influences));
        };
        let below = if index == 0 {
            &layer.rows
        } else {
            item.layers.below(index)?
        };
        let layer = &layer.rows;
        Some(PaintRows { layer, below })
    }

    /// The edit that gives points of the active layer of a mesh their rows.
    ///
    /// Where the layer mirrors one side to the other, points whose mirror image would change the weight of a locked
    /// bone are left out: [`InfluenceEdit::left_alone`]. Above the base an empty row becomes a weight of 0, since an
    /// empty row would show the layers below.
    pub fn paint_edit(&self, mesh: MeshId, points: Vec<u32>, rows: Rows) -> Edit {
        let rows = self.zero_for_empty(mesh, &points, rows);
        self.layer_edit(mesh, points, rows)
    }

    /// As [`Document::paint_edit`], but empty rows stay empty: above the base they show the layers below.
    pub fn layer_edit(&self, mesh: MeshId, points: Vec<u32>, rows: Rows) -> Edit {
        let edit = InfluenceEdit::new(mesh, points, rows);
        let Some(id) = self.active_layer(mesh) else {
            return Edit::Influences(edit);
        };
        let edit = Edit::Influences(edit.in_layer(id));
        match self.layer(mesh, id) {
            Some(layer) if layer.mirror.is_some() => self.without_locked_changes(edit).0,
            _ => edit,
        }
    }

    /// The number of locked bones whose weights differ between `before` and the mesh's present influences, and the
    /// number of points where they do.
    pub fn n_locked_changes(&self, mesh: MeshId, before: &Influences) -> (usize, usize) {
        let locked = self.skin_locks(mesh);
        let Some(item) = self
            .meshes
            .get(&mesh)
            .filter(|item| locked.contains(&true) && item.influences.len() == before.len())
        else {
            return (0, 0);
        };
        let locked = (0u16..).zip(locked).filter(|(_, locked)| *locked);
        let locked: Vec<u16> = locked.map(|(index, _)| index).collect();
        let chunks = before.chunks().par_iter().zip(item.influences.chunks());
        let changed: Vec<(Vec<bool>, usize)> = chunks
            .filter(|(before, now)| !Arc::ptr_eq(before, now))
            .map(|(before, now)| {
                let (mut joints, mut n_points) = (vec![false; locked.len()], 0);
                for (before, now) in before.iter().zip(now.iter()) {
                    let mut any = false;
                    for (slot, &joint) in joints.iter_mut().zip(&locked) {
                        let differs =
                            before.weight_of(joint).to_bits() != now.weight_of(joint).to_bits();
                        *slot |= differs;
                        any |= differs;
                    }
                    n_points += usize::from(any);
                }
                (joints, n_points)
            })
            .collect();
        let has_changed = |i: &usize| changed.iter().any(|(joints, _)| joints[*i]);
        let n_joints = (0..locked.len()).filter(has_changed).count();
        (n_joints, changed.iter().map(|(_, n)| n).sum())
    }

    /// Whether the active layer of a mesh is above the base.
    pub fn paints_over(&self, mesh: MeshId) -> bool {
        self.active_layer(mesh)
            .is_some_and(|id| id != LayerStack::BASE)
    }

    /// `rows` for `points` of the active layer, with a weight of 0 where a row is empty and the layers below have
    /// weights.
    fn zero_for_empty(&self, mesh: MeshId, points: &[u32], rows: Rows) -> Rows {
        if !self.paints_over(mesh) || rows.iter().all(|row| !row.is_empty()) {
            return rows;
        }
        let Some(shown) = self.paint_rows(mesh) else {
            return rows;
        };
        let mut filled = Rows::with_capacity(points.len());
        for (&point, row) in points.iter().zip(rows.iter()) {
            let is_known = row.is_empty() && (point as usize) < shown.len();
            let before = is_known.then(|| shown.row(point));
            match before.and_then(|before| before.joints.first().copied()) {
                Some(joint) => filled.push_pairs([(joint, 0.0)]),
                None => filled.push(row),
            }
        }
        filled
    }

    /// Why the active layer of a mesh cannot be painted; `None`: it can.
    pub fn why_not_paintable(&self, mesh: MeshId) -> Option<String> {
        let stack = &self.meshes.get(&mesh)?.layers;
        let index = stack.position(self.active_layer(mesh)?)?;
        let layer = &stack.layers()[index];
        if stack.is_visible(index) {
            return None;
        }
        let name = &layer.name;
        let solo = stack.solo().and_then(|solo| stack.get(solo));
        Some(match solo.filter(|solo| solo.id != layer.id) {
            Some(solo) => format!(
                "The layer \"{name}\" is not shown while \"{}\" is solo. Show all layers, or choose that one.",
                solo.name
            ),
            None if layer.muted && solo.is_none() => {
                format!("The layer \"{name}\" is muted. Show it, or choose another one to paint.")
            }
            None => format!("The layer \"{name}\" has an opacity of 0. Raise it to paint."),
        })
    }

    /// The map that the brush paints on a mesh, or why it cannot; `None`: it paints weights.
    pub fn painted_map(&self, mesh: MeshId) -> Option<Result<MaskOf, String>> {
        match self.session().brush.target {
            PaintTarget::Weights => None,
            PaintTarget::Mask(kind) => Some(Ok(kind.into())),
            PaintTarget::LayerMask => Some(match self.active_layer(mesh) {
                Some(LayerStack::BASE) => Err(
                    "The base layer has no mask. Choose a layer above it to paint a mask.".into(),
                ),
                Some(id) => self.why_not_paintable(mesh).map_or(Ok(id.into()), Err),
                None => Err("The object has no layers. Add one to paint its mask.".into()),
            }),
        }
    }

    /// The map of a mesh that is shown as colours while the brush paints maps; `None` where it paints weights or the
    /// mesh has no such map.
    pub fn visible_map(&self, mesh: MeshId) -> Option<MaskOf> {
        match self.session().brush.target {
            PaintTarget::Weights => None,
            PaintTarget::Mask(kind) => Some(kind.into()),
            PaintTarget::LayerMask => {
                let active = self.active_layer(mesh);
                active
                    .filter(|id| *id != LayerStack::BASE)
                    .map(MaskOf::from)
            }
        }
    }

    /// A layer of a mesh.
    pub fn layer(&self, mesh: MeshId, id: LayerId) -> Option<&Arc<Layer>> {
        self.meshes.get(&mesh)?.layers.get(id)
    }

    /// How many points of an edit of rows show the other side's rows instead: what is painted there is hidden.
    pub fn n_covered(&self, edit: &Edit) -> usize {
        let Edit::Influences(edit) = edit else {
            return 0;
        };
        let layer = edit.layer.and_then(|id| self.layer(edit.mesh, id));
        let Some(mirror) = layer.and_then(|layer| layer.mirror.as_ref()) else {
            return 0;
        };
        let is_covered = |point: &&u32| mirror.source(**point) != **point;
        edit.points.iter().filter(is_covered).count()
    }

    /// An edit of a layer's rows or mask without the points at which it would change the weight of a locked bone in the
    /// composite, and how many points were removed.
    pub fn without_locked_changes(&self, edit: Edit) -> (Edit, usize) {
        match edit {
            Edit::Influences(edit) => {
                let mesh = edit.mesh;
                let Some(layer) = edit.layer.and_then(|id| self.layer(mesh, id)) else {
                    return (Edit::Influences(edit), 0);
                };
                let Some(guard) = LockGuard::new(self, mesh, layer) else {
                    return (Edit::Influences(edit), 0);
                };
                let (mut points, mut rows) = (Vec::new(), Rows::with_capacity(edit.points.len()));
                let mut left_alone = Vec::new();
                for (&point, row) in edit.points.iter().zip(edit.rows.iter()) {
                    if guard.changes_locked(point, row, layer.mask.get(point)) {
                        left_alone.push(point);
                    } else {
                        points.push(point);
                        rows.push(row);
                    }
                }
                let n_skipped = left_alone.len();
                let mut edit = InfluenceEdit::new(mesh, points, rows).in_layer(layer.id);
                edit.left_alone = left_alone;
                (Edit::Influences(edit), n_skipped)
            }
            Edit::Mask(edit) => {
                let mesh = edit.mesh;
                let layer = match edit.mask {
                    MaskOf::Layer(id) => self.layer(mesh, id),
                    MaskOf::Stack(_) => None,
                };
                let guard =
                    layer.and_then(|layer| Some((LockGuard::new(self, mesh, layer)?, layer)));
                let Some((guard, layer)) = guard else {
                    return (Edit::Mask(edit), 0);
                };
                let n_points = edit.points.len();
                let pairs = edit.points.iter().copied().zip(edit.values.iter().copied());
                let (points, values): (Vec<u32>, Vec<f32>) = pairs
                    .filter(|&(point, value)| {
                        !guard.changes_locked(point, layer.rows.row(point), value)
                    })
                    .unzip();
                let n_skipped = n_points - points.len();
                (Edit::mask(mesh, edit.mask, points, values), n_skipped)
            }
            other => (other, 0),
        }
    }
}

/// Tests whether a change of a layer changes the composite weights of locked bones.
struct LockGuard<'a> {
    item: &'a MeshItem,
    index: usize,
    /// Locked joints, by their indices in the influences.
    locked: Vec<u16>,
}

impl<'a> LockGuard<'a> {
    /// `None` where it cannot: no bone of the mesh is locked, or the layer is not visible.
    fn new(document: &'a Document, mesh: MeshId, layer: &Layer) -> Option<Self> {
        let item = document.meshes.get(&mesh)?;
        let index = item.layers.position(layer.id)?;
        let locked = document.skin_locks(mesh);
        let locked = (0..).zip(locked).filter(|(_, locked)| *locked);
        let locked: Vec<u16> = locked.map(|(index, _)| index).collect();
        let can = index > 0 && item.layers.is_visible(index) && !locked.is_empty();
        can.then_some(Self {
            item,
            index,
            locked,
        })
    }

    /// Whether `row`, at `point` of the layer with its mask at `mask`, changes the weight of a locked joint there or at
    /// its mirror images.
    fn changes_locked(&self, point: u32, row: RowRef<'_>, mask: f32) -> bool {
        let shown = self.item.layers.shown_with(self.index, point, row, mask);
        shown.into_iter().any(|(point, row)| {
            let before = self.item.influences.row(point);
            let weight = |joint: u16| {
                let found = row.iter().find(|(j, _)| *j == joint);
                found.map_or(0.0, |(_, weight)| *weight)
            };
            let differs =
                |&&joint: &&u16| weight(joint).to_bits() != before.weight_of(joint).to_bits();
            self.locked.iter().any(|joint| differs(&joint))
        })
    }
}
