//! Edits of the layer stack: adding, removing, renaming, reordering, muting and flattening layers, and their opacity.

use super::{Layer, LayerStack};
use crate::document::validity::check_row;
use crate::document::{Document, EditError, LayerId, MeshId, MeshItem};
use crate::skinning::Influences;
use crate::skinning::influences::CHUNK;
use std::collections::BTreeSet;
use std::sync::Arc;

/// New layers for a mesh.
#[derive(Clone, Debug)]
pub struct LayersEdit {
    /// The mesh.
    pub mesh: MeshId,
    /// The layers; empty for none.
    pub(in crate::document) stack: LayerStack,
    /// The rows of the mesh where the stack is empty.
    pub(in crate::document) plain: Option<Influences>,
    /// Bytes of the payload that the document does not share.
    bytes: usize,
}

impl LayersEdit {
    /// The edit that gives a mesh these layers, from the bottom to the top: a base and at least one more.
    pub fn layered(mesh: MeshId, layers: Vec<Arc<Layer>>, solo: Option<LayerId>) -> Self {
        Self {
            mesh,
            stack: LayerStack::new(layers, solo),
            plain: None,
            bytes: 0,
        }
    }

    /// The edit that removes all layers of a mesh and gives it these rows.
    pub fn plain(mesh: MeshId, rows: Influences) -> Self {
        Self {
            mesh,
            stack: LayerStack::default(),
            plain: Some(rows),
            bytes: 0,
        }
    }

    pub(in crate::document) fn check(&self, document: &Document) -> Result<(), EditError> {
        let item = document
            .meshes
            .get(&self.mesh)
            .ok_or(EditError::NoMesh(self.mesh))?;
        let live = document.live_slots(self.mesh);
        let layers = self.stack.layers();
        let refused = |why: String| Err(EditError::Layers(why));
        if layers.is_empty() {
            let Some(rows) = &self.plain else {
                return refused("there are neither layers nor rows".into());
            };
            return check_rows(rows, item, &live);
        }
        if layers.len() < 2 || layers[0].id != LayerStack::BASE {
            return refused("there is no layer above the base".into());
        }
        let mut seen = BTreeSet::new();
        for layer in layers {
            if !seen.insert(layer.id) {
                return refused(format!("layer {} is listed twice", layer.id.0));
            }
            check_layer(layer, item, &live)?;
        }
        match self.stack.solo() {
            Some(solo) if !seen.contains(&solo) => {
                refused(format!("the solo layer {} does not exist", solo.0))
            }
            _ => Ok(()),
        }
    }

    /// Exchanges the layers with those of `item`. Returns the chunks of its influences that changed.
    pub(in crate::document) fn swap(&mut self, item: &mut MeshItem) -> BTreeSet<u32> {
        let mut old = std::mem::take(&mut item.layers);
        let mut new = std::mem::take(&mut self.stack);
        let before = if new.is_plain() {
            let rows = self.plain.take();
            let rows = rows.unwrap_or_else(|| item.influences.clone());
            std::mem::replace(&mut item.influences, rows)
        } else {
            new.compose(&old, &item.influences);
            let result = new.result().unwrap_or(&item.influences).clone();
            std::mem::replace(&mut item.influences, result)
        };
        let chunks = before.chunks().iter().zip(item.influences.chunks());
        let changed = (0..).zip(chunks).filter(|(_, (a, b))| !Arc::ptr_eq(a, b));
        let changed = changed.map(|(chunk, _)| chunk).collect();
        let kept = |layer: &Arc<Layer>| {
            let now = new
                .get(layer.id)
                .map_or(&item.influences, |layer| &layer.rows);
            layer.rows.bytes_beside(Some(now)) + layer.name.len() + size_of::<Layer>()
        };
        self.bytes = old.layers().iter().map(kept).sum();
        if old.is_plain() {
            let now = new.base().map_or(&item.influences, |base| &base.rows);
            self.bytes += before.bytes_beside(Some(now));
            self.plain = Some(before);
        }
        // The composite is derived from the layers: the history need not keep it.
        old.shown = Vec::new();
        self.stack = old;
        item.layers = new;
        changed
    }

    /// Bytes that the payload keeps alive.
    pub(in crate::document) fn heap_bytes(&self) -> usize {
        self.bytes
    }
}

/// Checks that a layer fits the mesh and that its numbers are in their ranges.
pub(in crate::document) fn check_layer(
    layer: &Layer,
    item: &MeshItem,
    live: &[bool],
) -> Result<(), EditError> {
    if item
        .layers
        .get(layer.id)
        .is_some_and(|known| Arc::as_ptr(known) == std::ptr::from_ref(layer))
    {
        return Ok(());
    }
    let refused = |why: &str| Err(EditError::Layers(format!("\"{}\" {why}", layer.name)));
    if !(0.0..=1.0).contains(&layer.opacity) {
        return refused("has an opacity that is not 0 - 1");
    }
    let n_points = item.influences.len();
    let is_wrong =
        |&(point, value): &(u32, f32)| point as usize >= n_points || !(0.0..=1.0).contains(&value);
    if layer.mask.painted().any(|painted| is_wrong(&painted)) {
        return refused("has a mask that is not 0 - 1");
    }
    if let Some(mirror) = &layer.mirror {
        let mut recipients = mirror.joints().recipients.iter();
        if mirror.n_points() != n_points || recipients.any(|&j| usize::from(j) >= live.len()) {
            return refused("has a mirror effect of another mesh");
        }
    }
    check_rows(&layer.rows, item, live)
}

/// Checks that `rows` are valid rows of the mesh. Chunks that the mesh already has are not read again.
fn check_rows(rows: &Influences, item: &MeshItem, live: &[bool]) -> Result<(), EditError> {
    let n_points = item.influences.len();
    if rows.len() != n_points {
        return Err(EditError::Length {
            what: "rows of a layer",
            found: rows.len(),
            expected: n_points,
        });
    }
    let layers = item.layers.layers().iter().map(|layer| &layer.rows);
    // The source's rows can have weights of joints that were removed.
    let source = (!live.contains(&false)).then_some(&item.source_influences);
    let known: Vec<&Influences> = [&item.influences]
        .into_iter()
        .chain(source)
        .chain(layers)
        .collect();
    for (c, chunk) in rows.chunks().iter().enumerate() {
        let is_known = |other: &&Influences| Arc::ptr_eq(&other.chunks()[c], chunk);
        if chunk.is_silent() || known.iter().any(is_known) {
            continue;
        }
        for (i, row) in chunk.iter().enumerate() {
            let point = (c * CHUNK + i) as u32;
            check_row(row, live).map_err(|why| EditError::Row { point, why })?;
        }
    }
    Ok(())
}
