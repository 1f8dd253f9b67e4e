//! Rows for some points of a mesh, as an edit.

use super::dirty::Dirty;
use super::edit_error::{EditError, length};
use super::layers::LayerStack;
use super::validity::check_row;
use super::{Document, LayerId, MeshId, MeshItem};
use crate::mesh::PointSet;
use crate::skinning::Rows;
use crate::skinning::influences::CHUNK;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Rows for some points of a mesh.
#[derive(Clone, Debug)]
pub struct InfluenceEdit {
    /// The mesh.
    pub mesh: MeshId,
    /// The layer that has the rows; `None`: the base, the only rows of a mesh without layers.
    pub layer: Option<LayerId>,
    /// Distinct points, in any order.
    pub points: Vec<u32>,
    /// One row a point.
    pub rows: Rows,
    /// Points of the request that stay unchanged because of locked bones; cleared when the step is committed.
    pub left_alone: Vec<u32>,
    /// The points as a set, while a drag is open and edits are folded into this one.
    pub(super) touched: Option<PointSet>,
}

impl InfluenceEdit {
    /// An edit that gives each of `points` its row, in the base.
    pub fn new(mesh: MeshId, points: Vec<u32>, rows: Rows) -> Self {
        Self {
            mesh,
            layer: None,
            points,
            rows,
            left_alone: Vec::new(),
            touched: None,
        }
    }

    /// This edit, in a layer.
    #[must_use]
    pub fn in_layer(mut self, layer: LayerId) -> Self {
        self.layer = (layer != LayerStack::BASE).then_some(layer);
        self
    }
}

impl InfluenceEdit {
    pub(super) fn check(&self, document: &Document) -> Result<(), EditError> {
        let item = document
            .meshes
            .get(&self.mesh)
            .ok_or(EditError::NoMesh(self.mesh))?;
        layer_index(item, self.layer)?;
        let n_points = item.influences.len();
        length("rows", self.rows.len(), self.points.len())?;
        let live = document.live_slots(self.mesh);
        let mut seen = PointSet::default();
        for (&point, row) in self.points.iter().zip(self.rows.iter()) {
            if point as usize >= n_points || !seen.insert(point) {
                return Err(EditError::Point { point, n_points });
            }
            check_row(row, &live).map_err(|why| EditError::Row { point, why })?;
        }
        Ok(())
    }

    pub(super) fn swap(&mut self, document: &mut Document, dirty: &mut Dirty) {
        let Some(item) = document.meshes.get_mut(&self.mesh) else {
            return;
        };
        let item = Arc::make_mut(item);
        let chunks = if item.layers.is_plain() {
            item.influences.swap_rows(&self.points, &mut self.rows);
            self.points.iter().map(|&p| p / CHUNK as u32).collect()
        } else {
            let Ok(index) = layer_index(item, self.layer) else {
                return;
            };
            dirty.layers.insert(self.mesh);
            let before = &item.influences;
            let chunks = item
                .layers
                .swap_rows(index, &self.points, &mut self.rows, before);
            show(item, chunks)
        };
        dirty.influences.insert(self.mesh, chunks);
    }

    pub(super) fn absorb(&mut self, later: &Self) {
        let touched = self
            .touched
            .get_or_insert_with(|| self.points.iter().copied().collect());
        for (&point, row) in later.points.iter().zip(later.rows.iter()) {
            if touched.insert(point) {
                self.points.push(point);
                self.rows.push(row);
            }
        }
    }
}

/// The index of `layer`, or of the base, in the layer stack of `item`; 0 without layers.
pub(super) fn layer_index(item: &MeshItem, layer: Option<LayerId>) -> Result<usize, EditError> {
    match layer {
        None => Ok(0),
        Some(layer) => item.layers.position(layer).ok_or(EditError::NoLayer(layer)),
    }
}

/// Writes the composite of the layers to the influences of `item`, for chunks that may have changed. Returns those that
/// did.
pub(super) fn show(item: &mut MeshItem, chunks: BTreeSet<usize>) -> BTreeSet<u32> {
    let Some(result) = item.layers.result() else {
        return BTreeSet::new();
    };
    let mut changed = BTreeSet::new();
    for chunk in chunks {
        let rows = &result.chunks()[chunk];
        if !Arc::ptr_eq(rows, &item.influences.chunks()[chunk]) {
            item.influences.set_chunk(chunk, rows.clone());
            changed.insert(chunk as u32);
        }
    }
    changed
}
