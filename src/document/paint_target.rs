//! What the brush paints, and its values.

use crate::deform::MaskKind;

/// What the brush paints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PaintTarget {
    /// The weights of the active bone.
    #[default]
    Weights,
    /// A painted map of the stack.
    Mask(MaskKind),
    /// The mask of the active layer.
    LayerMask,
}

impl PaintTarget {
    /// All of them, as lists show them.
    pub const ALL: [Self; 6] = [
        Self::Weights,
        Self::LayerMask,
        Self::Mask(MaskKind::Blend),
        Self::Mask(MaskKind::Compensation),
        Self::Mask(MaskKind::Projection),
        Self::Mask(MaskKind::Smooth),
    ];

    /// The map of the stack, where it is one.
    pub fn mask(self) -> Option<MaskKind> {
        match self {
            Self::Weights | Self::LayerMask => None,
            Self::Mask(kind) => Some(kind),
        }
    }

    /// Whether it is a map, and not weights.
    pub fn is_map(self) -> bool {
        self != Self::Weights
    }

    /// The largest value that can be painted; the smallest is 0.
    pub fn limit(self) -> f32 {
        self.mask().map_or(1.0, MaskKind::limit)
    }
}

/// What the brush makes of each painted map. 0 at first: maps that were never painted are 1 everywhere, so a first stroke
/// shows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MaskValues {
    pub(crate) blend: f32,
    pub(crate) compensation: f32,
    pub(crate) projection: f32,
    pub(crate) smooth: f32,
    pub(crate) layer: f32,
}

impl MaskValues {
    /// The value for a map, 0 - [`MaskKind::limit`].
    pub fn get(&self, kind: MaskKind) -> f32 {
        let value = match kind {
            MaskKind::Blend => self.blend,
            MaskKind::Compensation => self.compensation,
            MaskKind::Projection => self.projection,
            MaskKind::Smooth => self.smooth,
        };
        value.clamp(0.0, kind.limit())
    }

    /// The value for a map, to change.
    pub fn get_mut(&mut self, kind: MaskKind) -> &mut f32 {
        match kind {
            MaskKind::Blend => &mut self.blend,
            MaskKind::Compensation => &mut self.compensation,
            MaskKind::Projection => &mut self.projection,
            MaskKind::Smooth => &mut self.smooth,
        }
    }

    /// The value for masks of layers, 0 - 1.
    pub fn layer(&self) -> f32 {
        self.layer.clamp(0.0, 1.0)
    }

    /// The same, to change.
    pub fn layer_mut(&mut self) -> &mut f32 {
        &mut self.layer
    }
}
