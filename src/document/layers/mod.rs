//! Layers of weights: changes that can be faded, muted and deleted.
//!
//! Data flow: the rows of each [`Layer`] over what lies below it (`composite`), in the order of the [`LayerStack`] ->
//! the influences of the mesh. All other code reads only these.
//!
//! Invariant: a mesh without layers has an empty stack, which takes no memory; a stack that is not empty has a base and
//! at least one layer above it.
//! Invariant: the composite is a pure function of the layers: undoing an edit restores every bit of it.
//! Locks protect the composite: painting, operations, masks and erasing skip points at which they would change the
//! weight of a locked bone, also through a mirror effect ([`super::Document::without_locked_changes`]). Changes of the
//! stack itself - adding, muting, solo, opacity, reordering, deleting, merging and mirroring - apply to whole layers
//! and ignore locks; the editor reports the points of locked bones that they changed
//! ([`super::Document::n_locked_changes`]).
//!
//! Invariant: a layer with full effect at a point shows its row bit for bit; one without effect shows the layers below
//! bit for bit; a weight that is equal in both stays the same.

pub mod change;
mod composite;
mod edit;
mod mirror;

pub use edit::LayersEdit;
pub use mirror::{MirrorEffect, MirrorJoints};

use super::LayerId;
use crate::deform::PointMask;
use crate::skinning::influences::CHUNK;
use crate::skinning::{Influences, Rows};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Weights of some points, above the layers below.
#[derive(Clone, Debug)]
pub struct Layer {
    /// Distinct within the stack.
    pub id: LayerId,
    /// The name in the list.
    pub name: String,
    /// One row per point; an empty row leaves the layers below unchanged. The base has a row for every point.
    pub rows: Influences,
    /// Opacity, 0 - 1. The base is always shown.
    pub opacity: f32,
    /// Whether it is muted.
    pub muted: bool,
    /// The mask: its effect at each point, 0 - 1.
    pub mask: PointMask,
    /// The mirror effect, if any: it shows the rows of one side on the other side too.
    pub mirror: Option<Arc<MirrorEffect>>,
}

/// Shared data is equal without being read: dragging an opacity compares layers many times a second.
impl PartialEq for Layer {
    fn eq(&self, other: &Self) -> bool {
        let Self {
            id,
            name,
            rows,
            opacity,
            muted,
            mask,
            mirror,
        } = self;
        let same_mirror = match (mirror, &other.mirror) {
            (None, None) => true,
            (Some(a), Some(b)) => Arc::ptr_eq(a, b) || a == b,
            _ => false,
        };
        *id == other.id
            && *opacity == other.opacity
            && *muted == other.muted
            && *name == other.name
            && same_mirror
            && *mask == other.mask
            && *rows == other.rows
    }
}

impl Layer {
    /// A layer without rows.
    pub fn new(id: LayerId, name: impl Into<String>, n_points: usize) -> Self {
        Self {
            id,
            name: name.into(),
            rows: Influences::silent(n_points),
            opacity: 1.0,
            muted: false,
            mask: PointMask::default(),
            mirror: None,
        }
    }

    /// The base of a stack: the rows of the mesh before it got layers.
    pub fn base(rows: Influences) -> Self {
        Self {
            rows,
            ..Self::new(LayerStack::BASE, "Base", 0)
        }
    }

    /// Whether its mask is unpainted.
    pub fn takes_all(&self) -> bool {
        self.mask.is_unpainted()
    }

    /// The number of points with a row.
    pub fn n_rows(&self) -> usize {
        let chunks = self.rows.chunks().iter();
        let chunks = chunks.filter(|chunk| !chunk.is_silent());
        chunks
            .map(|chunk| chunk.iter().filter(|row| !row.is_empty()).count())
            .sum()
    }
}

/// The layers of a mesh, from the bottom to the top; empty where the mesh has none.
#[derive(Clone, Debug, Default)]
pub struct LayerStack {
    layers: Vec<Arc<Layer>>,
    solo: Option<LayerId>,
    /// The composites of all layers up to the second one, the third one and so on: derived from `layers`.
    shown: Vec<Influences>,
}

impl PartialEq for LayerStack {
    fn eq(&self, other: &Self) -> bool {
        let same = |(a, b): (&Arc<Layer>, &Arc<Layer>)| Arc::ptr_eq(a, b) || a == b;
        self.solo == other.solo
            && self.layers.len() == other.layers.len()
            && self.layers.iter().zip(&other.layers).all(same)
    }
}

impl LayerStack {
    /// The id of the bottom layer.
    pub const BASE: LayerId = LayerId(0);

    /// A stack whose composites are still to be computed, as in an edit.
    pub fn new(layers: Vec<Arc<Layer>>, solo: Option<LayerId>) -> Self {
        Self {
            layers,
            solo,
            shown: Vec::new(),
        }
    }

    /// Whether there are no layers: the influences are painted directly.
    pub fn is_plain(&self) -> bool {
        self.layers.is_empty()
    }

    /// The layers, from the bottom to the top.
    pub fn layers(&self) -> &[Arc<Layer>] {
        &self.layers
    }

    /// The solo layer: the only one that is shown above the base.
    pub fn solo(&self) -> Option<LayerId> {
        self.solo
    }

    /// The index of a layer, from the bottom.
    pub fn position(&self, id: LayerId) -> Option<usize> {
        self.layers.iter().position(|layer| layer.id == id)
    }

    /// A layer.
    pub fn get(&self, id: LayerId) -> Option<&Arc<Layer>> {
        self.layers.get(self.position(id)?)
    }

    /// The base; `None` without layers.
    pub fn base(&self) -> Option<&Arc<Layer>> {
        self.layers.first()
    }

    /// An id that no layer has.
    pub fn free_id(&self) -> LayerId {
        let largest = self.layers.iter().map(|layer| layer.id.0).max();
        LayerId(largest.map_or(Self::BASE.0 + 1, |id| id.saturating_add(1)))
    }

    /// Whether the layer at `index` is part of the composite.
    pub fn is_visible(&self, index: usize) -> bool {
        let Some(layer) = self.layers.get(index) else {
            return false;
        };
        index == 0
            || (layer.opacity > 0.0
                && match self.solo {
                    Some(solo) => solo == layer.id,
                    None => !layer.muted,
                })
    }

    /// The composite of the layers below the one at `index`, at least 1.
    pub fn below(&self, index: usize) -> Option<&Influences> {
        match index.checked_sub(2) {
            Some(upper) => self.shown.get(upper),
            None => self.base().map(|base| &base.rows),
        }
    }

    /// The composite of all layers; `None` without layers.
    pub fn result(&self) -> Option<&Influences> {
        self.shown.last()
    }

    /// Bytes that the layers keep, without those of `result`.
    pub fn heap_bytes(&self, result: &Influences) -> usize {
        let rows = self.layers.iter().map(|layer| &layer.rows);
        let rows = rows.chain(&self.shown);
        rows.map(|rows| rows.bytes_beside(Some(result))).sum()
    }

    /// Computes the composites. Chunks that are equal to those of `earlier`, or of `before`, the composite until now,
    /// are shared with them.
    pub(super) fn compose(&mut self, earlier: &Self, before: &Influences) {
        self.shown.clear();
        let Some(base) = self.base() else { return };
        let n_chunks = base.rows.chunks().len();
        let same_base = earlier.base().is_some_and(|other| Arc::ptr_eq(base, other));
        let is_same = |&i: &usize| {
            let both = self.layers.get(i).zip(earlier.layers.get(i));
            same_base
                && earlier.shown.len() >= i
                && both.is_some_and(|(a, b)| Arc::ptr_eq(a, b))
                && self.is_visible(i) == earlier.is_visible(i)
        };
        let n_same = (1..self.layers.len()).take_while(is_same).count();
        let mut shown = earlier.shown[..n_same].to_vec();
        let below = shown.last().unwrap_or(&base.rows).clone();
        shown.resize(self.layers.len() - 1, below);
        self.shown = shown;
        self.compose_chunks(n_same + 1, (0..n_chunks).collect(), before);
    }

    /// Exchanges rows of the layer at `index` as [`Influences::swap_rows`] does. Returns the chunks of the result that
    /// may have changed.
    pub(super) fn swap_rows(
        &mut self,
        index: usize,
        points: &[u32],
        rows: &mut Rows,
        before: &Influences,
    ) -> BTreeSet<usize> {
        let layer = Arc::make_mut(&mut self.layers[index]);
        if index == 0 {
            layer.rows.swap_rows(points, rows);
        } else {
            layer.rows.swap_few_rows(points, rows);
        }
        self.recompose(index, points, before)
    }

    /// Exchanges values of the mask of the layer at `index` as [`PointMask::swap`] does. Returns the chunks of the result
    /// that may have changed.
    pub(super) fn swap_mask(
        &mut self,
        index: usize,
        points: &[u32],
        values: &mut [f32],
        before: &Influences,
    ) -> BTreeSet<usize> {
        Arc::make_mut(&mut self.layers[index])
            .mask
            .swap(points, values);
        self.recompose(index, points, before)
    }

    /// Updates the composites after a change of the layer at `index` at `points`.
    fn recompose(&mut self, index: usize, points: &[u32], before: &Influences) -> BTreeSet<usize> {
        if !self.is_visible(index) {
            return BTreeSet::new();
        }
        let mut chunks = BTreeSet::new();
        let mut add = |point: u32| {
            chunks.insert(point as usize / CHUNK);
        };
        let mirror = self.layers[index].mirror.as_deref();
        for &point in points {
            add(point);
            let images = mirror.map_or(&[][..], |mirror| mirror.images(point));
            for &(_, image) in images {
                add(image);
            }
        }
        self.compose_chunks(index.max(1), chunks.iter().copied().collect(), before);
        chunks
    }

    /// Computes some chunks of the composites from the layer at `first`, at least 1, upwards. A chunk of the result
    /// that is equal to that of `before` is shared with it, so that its identity shows that nothing changed.
    fn compose_chunks(&mut self, first: usize, chunks: Vec<usize>, before: &Influences) {
        let visible: Vec<bool> = (0..self.layers.len()).map(|i| self.is_visible(i)).collect();
        let compose = |&chunk: &usize| {
            let Some(below) = self.below(first) else {
                return Vec::new();
            };
            let mut below = below.chunks()[chunk].clone();
            let mut composed = Vec::with_capacity(self.layers.len() - first);
            for (index, layer) in self.layers.iter().enumerate().skip(first) {
                if visible[index] {
                    below = composite::over(&below, layer, chunk);
                }
                composed.push(below.clone());
            }
            if let Some(result) = composed.last_mut() {
                let old = &before.chunks()[chunk];
                if !Arc::ptr_eq(old, result) && old.same_bits(result) {
                    *result = old.clone();
                }
            }
            composed
        };
        let composed: Vec<Vec<Arc<Rows>>> = chunks.par_iter().map(compose).collect();
        for (chunk, composed) in chunks.into_iter().zip(composed) {
            for (shown, rows) in self.shown[first - 1..].iter_mut().zip(composed) {
                shown.set_chunk(chunk, rows);
            }
        }
    }
}
