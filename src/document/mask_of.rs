//! Painted maps of a mesh.

use super::{LayerId, MeshItem};
use crate::deform::MaskKind;
use crate::skinning::influences::CHUNK;
use std::sync::Arc;

/// A painted map of a mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MaskOf {
    /// A map of the deformer stack: how strongly a part of the stack affects each point.
    Stack(MaskKind),
    /// The mask of a layer of weights: how strongly the layer affects each point.
    Layer(LayerId),
}

impl From<MaskKind> for MaskOf {
    fn from(kind: MaskKind) -> Self {
        Self::Stack(kind)
    }
}

impl From<LayerId> for MaskOf {
    fn from(layer: LayerId) -> Self {
        Self::Layer(layer)
    }
}

impl MaskOf {
    /// The largest value of the map; the smallest is 0.
    pub fn limit(self) -> f32 {
        match self {
            Self::Stack(kind) => kind.limit(),
            Self::Layer(_) => 1.0,
        }
    }

    /// The label in lists.
    pub fn label(self) -> &'static str {
        match self {
            Self::Stack(kind) => kind.label(),
            Self::Layer(_) => "Layer mask",
        }
    }

    /// The value at a point of `item`.
    pub fn value(self, item: &MeshItem, point: u32) -> f32 {
        match self {
            Self::Stack(kind) => item.masks.value(kind, point),
            Self::Layer(id) => {
                let layer = item.layers.get(id);
                layer.map_or(MaskKind::UNPAINTED, |layer| layer.mask.get(point))
            }
        }
    }

    /// The values of a chunk of points of `item`; `None` where none was painted.
    pub fn chunk(self, item: &MeshItem, chunk: usize) -> Option<&Arc<[f32; CHUNK]>> {
        match self {
            Self::Stack(kind) => item.masks.chunk(kind, chunk),
            Self::Layer(id) => item.layers.get(id)?.mask.chunk(chunk),
        }
    }
}
