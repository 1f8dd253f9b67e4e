//! The edits of layers that the user requests: each makes a new stack from the present one.

use super::composite::{Scratch, row_of};
use super::{Layer, LayerStack, LayersEdit, MirrorEffect, MirrorJoints};
use crate::document::subject::SubjectScope;
use crate::document::{Document, Edit, InfluenceEdit, LayerId, MeshId};
use crate::math::Axis;
use crate::mesh::{PointSet, Symmetry};
use crate::skinning::influences::CHUNK;
use crate::skinning::{Influences, RowRef, Rows};
use crate::weights::operation::joints_in_mirror;
use rayon::prelude::*;
use std::sync::Arc;

impl Document {
    /// The edit that changes the layers of a mesh, from the bottom to the top, and which of them is solo. A mesh
    /// without layers gets its rows as the base, and a base without layers above it is flattened. `None`: there is no
    /// such mesh, or nothing changes.
    pub fn change_layers(
        &self,
        mesh: MeshId,
        change: impl FnOnce(&mut Vec<Arc<Layer>>, &mut Option<LayerId>),
    ) -> Option<Edit> {
        let item = self.meshes.get(&mesh)?;
        let mut layers = item.layers.layers().to_vec();
        if layers.is_empty() {
            layers.push(Arc::new(Layer::base(item.influences.clone())));
        }
        let mut solo = item.layers.solo();
        change(&mut layers, &mut solo);
        solo = solo.filter(|id| layers.iter().any(|layer| layer.id == *id));
        let edit = match layers.as_slice() {
            [] => return None,
            [base] if item.layers.is_plain() || base.id != LayerStack::BASE => return None,
            [base] => LayersEdit::plain(mesh, base.rows.clone()),
            _ => LayersEdit::layered(mesh, layers, solo),
        };
        let is_same = !item.layers.is_plain() && edit.stack == item.layers;
        (!is_same).then_some(Edit::Layers(edit))
    }

    /// The edit that changes one layer; `None`: there is no such layer, or nothing changes.
    pub fn change_layer(
        &self,
        mesh: MeshId,
        id: LayerId,
        change: impl FnOnce(&mut Layer),
    ) -> Option<Edit> {
        let index = self.meshes.get(&mesh)?.layers.position(id)?;
        self.change_layers(mesh, |layers, _| {
            let mut layer = Layer::clone(&layers[index]);
            change(&mut layer);
            if layer != *layers[index] {
                layers[index] = Arc::new(layer);
            }
        })
    }

    /// The edit that adds a layer above `above`, or on top, and the layer's id.
    pub fn add_layer(
        &self,
        mesh: MeshId,
        above: Option<LayerId>,
        name: &str,
    ) -> Option<(Edit, LayerId)> {
        let item = self.meshes.get(&mesh)?;
        let id = item.layers.free_id();
        let layer = Layer::new(id, name, item.influences.len());
        Some((self.insert_layer(mesh, above, layer)?, id))
    }

    /// The edit that adds a layer with `rows` at `points` on top.
    pub fn add_filled_layer(
        &self,
        mesh: MeshId,
        name: &str,
        points: &[u32],
        mut rows: Rows,
    ) -> Option<Edit> {
        let item = self.meshes.get(&mesh)?;
        let mut layer = Layer::new(item.layers.free_id(), name, item.influences.len());
        layer.rows.swap_few_rows(points, &mut rows);
        self.insert_layer(mesh, None, layer)
    }

    /// The edit that adds a copy of a layer above it, and the copy's id.
    pub fn duplicate_layer(&self, mesh: MeshId, id: LayerId) -> Option<(Edit, LayerId)> {
        let item = self.meshes.get(&mesh)?;
        let mut layer = Layer::clone(item.layers.get(id)?);
        layer.id = item.layers.free_id();
        layer.name = format!("{} copy", layer.name);
        let new = layer.id;
        Some((self.insert_layer(mesh, Some(id), layer)?, new))
    }

    fn insert_layer(&self, mesh: MeshId, above: Option<LayerId>, layer: Layer) -> Option<Edit> {
        self.change_layers(mesh, |layers, _| {
            let below = layers.iter().position(|layer| Some(layer.id) == above);
            layers.insert(below.map_or(layers.len(), |i| i + 1), Arc::new(layer));
        })
    }

    /// The edit that flattens the layers of a mesh to their composite; `None`: it has none.
    pub fn flatten_layers(&self, mesh: MeshId) -> Option<Edit> {
        let item = self.meshes.get(&mesh)?;
        let rows = item.influences.clone();
        (!item.layers.is_plain()).then(|| Edit::Layers(LayersEdit::plain(mesh, rows)))
    }

    /// The edit that merges a layer with the one below it and keeps the composite, or why there is none.
    pub fn merge_layer_down(&self, mesh: MeshId, id: LayerId) -> Result<Edit, String> {
        let item = self
            .meshes
            .get(&mesh)
            .ok_or("The object does not exist any more.")?;
        let stack = &item.layers;
        let index = stack
            .position(id)
            .ok_or("The layer does not exist any more.")?;
        if index == 0 {
            return Err("There is no layer below the base to merge with.".into());
        }
        if stack.solo().is_some() {
            return Err("Only one layer is shown. Show all of them, then merge.".into());
        }
        for layer in [index - 1, index] {
            if !stack.is_visible(layer) {
                let name = &stack.layers()[layer].name;
                return Err(format!(
                    "The layer \"{name}\" is not shown. Show it, then merge."
                ));
            }
        }
        let Some(shown) = stack.shown.get(index - 1) else {
            return Err("The layer does not exist any more.".into());
        };
        let mut merged = Layer::clone(&stack.layers()[index - 1]);
        merged.rows = if index == 1 {
            shown.clone()
        } else {
            rows_where_painted(&stack.layers()[index - 1..=index], shown)
        };
        // The merged rows already contain the opacity of both.
        merged.opacity = 1.0;
        merged.mask = crate::deform::PointMask::default();
        merged.mirror = None;
        let edit = self.change_layers(mesh, |layers, _| {
            layers.remove(index);
            layers[index - 1] = Arc::new(merged);
        });
        edit.ok_or_else(|| "Nothing changes.".into())
    }

    /// The edit that erases a layer's rows at `points`, and the number of points that were skipped because erasing
    /// would change locked bones; `None`: the layer has no row there.
    pub fn erase_from_layer(
        &self,
        mesh: MeshId,
        id: LayerId,
        points: &PointSet,
    ) -> Option<(Edit, usize)> {
        let layer = self.layer(mesh, id).filter(|_| id != LayerStack::BASE)?;
        let n_points = layer.rows.len() as u32;
        let has_row = |&point: &u32| point < n_points && !layer.rows.row(point).is_empty();
        let points: Vec<u32> = points.iter().filter(has_row).collect();
        if points.is_empty() {
            return None;
        }
        let rows = Rows::silent(points.len());
        let edit = InfluenceEdit::new(mesh, points, rows).in_layer(id);
        Some(self.without_locked_changes(Edit::Influences(edit)))
    }

    /// The mirror effect for layers of a mesh: as *Mirror weights* does it, with the user's bone pairs.
    ///
    /// `symmetry`: the mirror images across [`Document::mirror_centre`], found with `tolerance`
    /// ([`MirrorEffect::metres`]). Fails with a message for a mesh without a skin.
    pub fn mirror_effect(
        &self,
        mesh: MeshId,
        symmetry: &Symmetry,
        from_positive: bool,
        tolerance: f32,
    ) -> Result<MirrorEffect, String> {
        let parts = self.subject_to_read(mesh, SubjectScope::default())?;
        let subject = parts.view();
        let (recipients, unpaired) = joints_in_mirror(&subject, symmetry.axis());
        let joints = MirrorJoints {
            recipients,
            unpaired,
        };
        let geometry = subject.mesh;
        Ok(MirrorEffect::new(
            geometry,
            symmetry,
            from_positive,
            tolerance,
            joints,
        ))
    }
}

/// The rows of `shown` at points where one of `layers` has a row; empty rows elsewhere.
fn rows_where_painted(layers: &[Arc<Layer>], shown: &Influences) -> Influences {
    let mut rows = Influences::silent(shown.len());
    let chunk_of = |(chunk, shown): (usize, &Arc<Rows>)| {
        let first = (chunk * CHUNK) as u32;
        let mut scratch = Scratch::default();
        let mut rows = Rows::with_capacity(shown.len());
        for (point, row) in (first..).zip(shown.iter()) {
            let has_row = |layer: &Arc<Layer>| row_of(layer, point, &mut scratch).is_some();
            let nothing = RowRef {
                joints: &[],
                weights: &[],
            };
            rows.push(if layers.iter().any(has_row) {
                row
            } else {
                nothing
            });
        }
        (!rows.is_silent()).then(|| Arc::new(rows))
    };
    let chunks: Vec<_> = shown
        .chunks()
        .par_iter()
        .enumerate()
        .map(chunk_of)
        .collect();
    for (chunk, painted) in chunks.into_iter().enumerate() {
        if let Some(painted) = painted {
            rows.set_chunk(chunk, painted);
        }
    }
    rows
}

/// The label of a mirror effect: "+X to -X".
pub fn mirror_label(axis: Axis, from_positive: bool) -> String {
    let letter = axis.letter();
    if from_positive {
        format!("+{letter} to -{letter}")
    } else {
        format!("-{letter} to +{letter}")
    }
}
