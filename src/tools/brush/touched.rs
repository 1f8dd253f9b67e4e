//! The points that a stroke has reached.

use crate::tools::Stamped;

/// The two halves of a stroke: under the pointer, and its mirror image.
pub(super) const SIDES: usize = 2;

/// The points that a stroke has reached, each with a number, its slot, in the order in which they were reached.
#[derive(Debug, Default)]
pub(super) struct Touched {
    /// The point of each slot.
    pub(super) points: Vec<u32>,
    /// The effect on each slot, 0 - 1: the maximum of the stroke or, if it accumulates, of the dab.
    pub(super) effects: Vec<[f32; SIDES]>,
    dirty: Vec<u32>,
    is_dirty: Vec<bool>,
}

impl Touched {
    /// The slot of a point, and whether it is new.
    pub(super) fn slot(&mut self, slots: &mut Stamped<u32>, point: u32) -> (u32, bool) {
        if let Some(slot) = slots.get(point) {
            return (slot, false);
        }
        let slot = self.points.len() as u32;
        slots.set(point, slot);
        self.points.push(point);
        self.effects.push([0.0; SIDES]);
        self.is_dirty.push(false);
        (slot, true)
    }

    /// Raises the effect to `effect`.
    pub(super) fn raise(&mut self, slot: u32, side: usize, effect: f32) {
        if effect > self.effects[slot as usize][side] {
            self.set(slot, side, effect);
        }
    }

    /// Sets the effect.
    pub(super) fn set(&mut self, slot: u32, side: usize, effect: f32) {
        let known = &mut self.effects[slot as usize][side];
        if *known != effect {
            *known = effect;
            if !std::mem::replace(&mut self.is_dirty[slot as usize], true) {
                self.dirty.push(slot);
            }
        }
    }

    /// The slots whose effect changed since the last call.
    pub(super) fn take_dirty(&mut self) -> Vec<u32> {
        let dirty = std::mem::take(&mut self.dirty);
        for &slot in &dirty {
            self.is_dirty[slot as usize] = false;
        }
        dirty
    }

    /// Resets the effects on some slots for the next dab.
    pub(super) fn forget(&mut self, slots: &[u32]) {
        for &slot in slots {
            self.effects[slot as usize] = [0.0; SIDES];
        }
    }

    /// Whether no point was reached.
    pub(super) fn is_empty(&self) -> bool {
        self.points.is_empty()
    }
}
