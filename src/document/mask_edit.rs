//! Values of a painted map for some points, as an edit.

use super::dirty::Dirty;
use super::edit_error::{EditError, length};
use super::influence_edit::{layer_index, show};
use super::mask_of::MaskOf;
use super::{Document, MeshId};
use crate::mesh::PointSet;
use crate::skinning::influences::CHUNK;
use std::sync::Arc;

/// Values for some points of a painted map.
#[derive(Clone, Debug)]
pub struct MaskEdit {
    /// The mesh.
    pub mesh: MeshId,
    /// Which of its maps.
    pub mask: MaskOf,
    /// Distinct points, in any order.
    pub points: Vec<u32>,
    /// One value per point: 0 - [`MaskOf::limit`].
    pub values: Vec<f32>,
    /// The points as a set, while a drag is open and edits are folded into this one.
    pub(super) touched: Option<PointSet>,
}

impl MaskEdit {
    /// An edit that gives each of `points` its value.
    pub fn new(mesh: MeshId, mask: impl Into<MaskOf>, points: Vec<u32>, values: Vec<f32>) -> Self {
        Self {
            mesh,
            mask: mask.into(),
            points,
            values,
            touched: None,
        }
    }
}

impl MaskEdit {
    pub(super) fn check(&self, document: &Document) -> Result<(), EditError> {
        let item = document
            .meshes
            .get(&self.mesh)
            .ok_or(EditError::NoMesh(self.mesh))?;
        if let MaskOf::Layer(layer) = self.mask {
            // The base has no mask.
            if layer_index(item, Some(layer))? == 0 {
                return Err(EditError::NoLayer(layer));
            }
        }
        let n_points = item.influences.len();
        length("values", self.values.len(), self.points.len())?;
        let mut seen = PointSet::default();
        for (&point, &value) in self.points.iter().zip(&self.values) {
            if point as usize >= n_points || !seen.insert(point) {
                return Err(EditError::Point { point, n_points });
            }
            if !(0.0..=self.mask.limit()).contains(&value) {
                return Err(EditError::MaskValue {
                    mask: self.mask,
                    value,
                });
            }
        }
        Ok(())
    }

    pub(super) fn swap(&mut self, document: &mut Document, dirty: &mut Dirty) {
        let Some(item) = document.meshes.get_mut(&self.mesh) else {
            return;
        };
        let item = Arc::make_mut(item);
        match self.mask {
            MaskOf::Stack(kind) => item.masks.swap(kind, &self.points, &mut self.values),
            MaskOf::Layer(layer) => {
                let Ok(index) = layer_index(item, Some(layer)) else {
                    return;
                };
                dirty.layers.insert(self.mesh);
                let before = &item.influences;
                let chunks = item
                    .layers
                    .swap_mask(index, &self.points, &mut self.values, before);
                let chunks = show(item, chunks);
                if !chunks.is_empty() {
                    dirty.influences.insert(self.mesh, chunks);
                }
            }
        }
        let chunks = self.points.iter().map(|&p| p / CHUNK as u32).collect();
        dirty.masks.insert((self.mesh, self.mask), chunks);
    }

    pub(super) fn absorb(&mut self, later: &Self) {
        let touched = self
            .touched
            .get_or_insert_with(|| self.points.iter().copied().collect());
        for (&point, &value) in later.points.iter().zip(&later.values) {
            if touched.insert(point) {
                self.points.push(point);
                self.values.push(value);
            }
        }
    }
}
