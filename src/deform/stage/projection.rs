//! Stage 5: bulge projection, as far as its settings and its painted map go. [`super::bulge_corrections`] runs it.

use crate::deform::{BulgeProjection, DeformStack, MaskKind, Variant};

/// The settings that decide which bones pull a point, and by which share; the others count in the pose only.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CookedSettings {
    power: f32,
    sibling_fade: bool,
    variant: Variant,
}

/// The settings; `None` where the stage is off.
pub(super) fn settings(stack: &DeformStack) -> Option<&BulgeProjection> {
    Some(&stack.projection).filter(|p| p.enabled)
}

/// The settings that chunks are cooked with; `None` where the stage is off.
pub(super) fn cooked_settings(stack: &DeformStack) -> Option<CookedSettings> {
    let applied = settings(stack)?.as_applied();
    Some(CookedSettings {
        power: applied.power,
        sibling_fade: applied.sibling_fade,
        variant: applied.variant,
    })
}

/// The painted map.
pub(super) const MASK: MaskKind = MaskKind::Projection;
