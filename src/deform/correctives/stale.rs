//! Whether a sample still gives its sculpt.

use super::{CapturedOver, Sample, SkinBase, Staleness};
use crate::deform::DeformStack;
use std::sync::Arc;

impl Sample {
    /// Whether the weights and painted maps of its points are others than when it was captured. `now`: the present ones.
    pub fn has_other_base(&self, now: &SkinBase) -> bool {
        let (stack, displacements) = (&self.captured_on, &self.displacements);
        match &self.captured_over {
            CapturedOver::Unknown => false,
            CapturedOver::Known(base) | CapturedOver::Assumed(base) => {
                !base.agrees(now, stack, displacements)
            }
            CapturedOver::Checksum(sum) => now.checksum(stack, displacements) != *sum,
        }
    }

    /// Whether the stack below it is another than the one it was captured on.
    pub fn is_on_other_stack(&self, stack: &DeformStack) -> bool {
        self.captured_on.as_applied() != stack.as_applied()
    }

    /// Why it no longer gives its sculpt on a mesh with this stack and these weights and maps; `None`: it does.
    pub fn staleness(&self, stack: &DeformStack, now: &SkinBase) -> Option<Staleness> {
        if self.has_other_base(now) {
            let base = self.captured_over.base();
            return Some(if base.is_some_and(|base| base.has_joints_of(now)) {
                Staleness::Weights
            } else {
                Staleness::WeightsLost
            });
        }
        self.is_on_other_stack(stack).then_some(Staleness::Stack)
    }

    /// The checksum of what it was captured over; `None` where that is unknown or assumed.
    pub fn base_checksum(&self) -> Option<u64> {
        match &self.captured_over {
            CapturedOver::Unknown | CapturedOver::Assumed(_) => None,
            CapturedOver::Known(base) => {
                Some(base.checksum(&self.captured_on, &self.displacements))
            }
            CapturedOver::Checksum(sum) => Some(*sum),
        }
    }

    /// Whether it was captured over the same as another sample of the same points, on the same stack.
    fn same_base(&self, other: &Self) -> bool {
        match (&self.captured_over, &other.captured_over) {
            (CapturedOver::Known(a), CapturedOver::Known(b)) => {
                Arc::ptr_eq(a, b) || a.agrees(b, &self.captured_on, &self.displacements)
            }
            _ => self.base_checksum() == other.base_checksum(),
        }
    }
}

/// Of what they were captured over, only what concerns their points counts.
impl PartialEq for Sample {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
            && self.rotations == other.rotations
            && self.beside == other.beside
            && self.displacements == other.displacements
            && self.captured_on == other.captured_on
            && self.strength.to_bits() == other.strength.to_bits()
            && self.muted == other.muted
            && self.same_base(other)
    }
}
