//! The edits that the artist asks for: each a stack made of the one that is there.

use super::composite::{Scratch, said};
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
    /// The edit that changes the layers of a mesh, from the bottom to the top, and which of them is shown alone. A mesh
    /// without layers comes with its rows as the base, and a base that is left alone goes. `None`: there is no such mesh,
    /// or nothing changes.
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

    /// The edit that adds a layer over `above`, or on top, and its number.
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

    /// The edit that adds a layer on top which has `rows` at `points`.
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

    /// The edit that adds a copy of a layer over it, and its number.
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

    /// The edit that leaves a mesh without layers, with what they show; `None`: it has none.
    pub fn flatten_layers(&self, mesh: MeshId) -> Option<Edit> {
        let item = self.meshes.get(&mesh)?;
        let rows = item.influences.clone();
        (!item.layers.is_plain()).then(|| Edit::Layers(LayersEdit::plain(mesh, rows)))
    }

    /// The edit that makes a layer and the one below it one, with the look of both, or why there is none.
    pub fn merge_layer_down(&self, mesh: MeshId, id: LayerId) -> Result<Edit, String> {
        let item = self.meshes.get(&mesh).ok_or("The object is gone.")?;
        let stack = &item.layers;
        let index = stack.position(id).ok_or("The layer is gone.")?;
        if index == 0 {
            return Err("The base has nothing below it to merge with.".into());
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
            return Err("The layer is gone.".into());
        };
        let mut merged = Layer::clone(&stack.layers()[index - 1]);
        merged.rows = if index == 1 {
            shown.clone()
        } else {
            said_by(&stack.layers()[index - 1..=index], shown)
        };
        // What both show is all of the merged rows.
        merged.opacity = 1.0;
        merged.mask = crate::deform::PointMask::default();
        merged.mirror = None;
        let edit = self.change_layers(mesh, |layers, _| {
            layers.remove(index);
            layers[index - 1] = Arc::new(merged);
        });
        edit.ok_or_else(|| "Nothing changes.".into())
    }

    /// The edit that takes what a layer says at `points` away, and how many points were left alone because that would
    /// change locked bones; `None`: the layer has no row there.
    pub fn erase_from_layer(
        &self,
        mesh: MeshId,
        id: LayerId,
        points: &PointSet,
    ) -> Option<(Edit, usize)> {
        let layer = self.layer(mesh, id).filter(|_| id != LayerStack::BASE)?;
        let n_points = layer.rows.len() as u32;
        let says = |&point: &u32| point < n_points && !layer.rows.row(point).is_empty();
        let points: Vec<u32> = points.iter().filter(says).collect();
        if points.is_empty() {
            return None;
        }
        let rows = Rows::silent(points.len());
        let edit = InfluenceEdit::new(mesh, points, rows).in_layer(id);
        Some(self.spare_locked(Edit::Influences(edit)))
    }

    /// The mirror effect for layers of a mesh: as *Mirror weights* would do it, with the artist's own pairs of bones.
    ///
    /// `symmetry`: its mirror images across [`Document::mirror_centre`], found with `tolerance`
    /// ([`MirrorEffect::metres`]). Fails with a sentence for a mesh without a skin.
    pub fn mirror_effect(
        &self,
        mesh: MeshId,
        symmetry: &Symmetry,
        from_positive: bool,
        tolerance: f32,
    ) -> Result<MirrorEffect, String> {
        let parts = self.subject_to_read(mesh, SubjectScope::default())?;
        let subject = parts.view();
        let (heirs, unpaired) = joints_in_mirror(&subject);
        let joints = MirrorJoints { heirs, unpaired };
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

/// The rows that are `shown` where one of `layers` says something, and nothing elsewhere.
fn said_by(layers: &[Arc<Layer>], shown: &Influences) -> Influences {
    let mut rows = Influences::silent(shown.len());
    let chunk_of = |(chunk, shown): (usize, &Arc<Rows>)| {
        let first = (chunk * CHUNK) as u32;
        let mut scratch = Scratch::default();
        let mut rows = Rows::with_capacity(shown.len());
        for (point, row) in (first..).zip(shown.iter()) {
            let says = |layer: &Arc<Layer>| said(layer, point, &mut scratch).is_some();
            let nothing = RowRef {
                joints: &[],
                weights: &[],
            };
            rows.push(if layers.iter().any(says) {
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
    for (chunk, said) in chunks.into_iter().enumerate() {
        if let Some(said) = said {
            rows.set_chunk(chunk, said);
        }
    }
    rows
}

/// What the panel says of a mirror effect: "+X to −X".
pub fn mirror_label(axis: Axis, from_positive: bool) -> String {
    let letter = axis.letter();
    if from_positive {
        format!("+{letter} to -{letter}")
    } else {
        format!("-{letter} to +{letter}")
    }
}
