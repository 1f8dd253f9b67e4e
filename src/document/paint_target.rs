//! What the brush paints, and the values it paints.

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
    /// All targets, in the order of lists.
    pub const ALL: [Self; 6] = [
        Self::Weights,
        Self::LayerMask,
        Self::Mask(MaskKind::Blend),
        Self::Mask(MaskKind::Compensation),
        Self::Mask(MaskKind::Projection),
        Self::Mask(MaskKind::Smooth),
    ];

    /// The map of the stack, if the target is one.
    pub fn mask(self) -> Option<MaskKind> {
        match self {
            Self::Weights | Self::LayerMask => None,
            Self::Mask(kind) => Some(kind),
        }
    }

    /// Whether the target is a map, not weights.
    pub fn is_map(self) -> bool {
        self != Self::Weights
    }

    /// The largest value that can be painted; the smallest is 0.
    pub fn limit(self) -> f32 {
        self.mask().map_or(1.0, MaskKind::limit)
    }
}

/// The brush's value for each painted map. 0 by default: unpainted maps are 1 everywhere, so a first stroke is visible.
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

    /// Mutable access to [`MaskValues::get`].
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

    /// Mutable access to [`MaskValues::layer`].
    pub fn layer_mut(&mut self) -> &mut f32 {
        &mut self.layer
    }
}
