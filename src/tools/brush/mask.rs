//! Painting a map of the deformer stack, or the mask of a layer.

use super::action::Action;
use super::ring;
use super::touched::Touched;
use crate::deform::MaskKind;
use crate::document::{Document, Edit, InstanceId, MaskOf, MeshId, MeshItem};
use crate::tools::Stamped;

/// A stroke on a painted map.
#[derive(Debug)]
pub(super) struct MaskPaint {
    mask: MaskOf,
    action: Action,
    /// Whether each dab starts from the result of the last one.
    accumulate: bool,
    /// The value of each slot before the stroke.
    before: Vec<f32>,
    /// Its present value.
    now: Vec<f32>,
    /// Slots that changed since the last edit.
    changed: Vec<u32>,
    any: bool,
}

impl MaskPaint {
    /// A stroke on `instance`, or the reason why it cannot start.
    pub(super) fn begin(
        document: &Document,
        instance: InstanceId,
        action: Action,
    ) -> Result<(MeshId, Self), String> {
        let Some(drawn) = document.instances().get(&instance) else {
            return Err("The mesh does not exist any more.".into());
        };
        if drawn.skin.is_none() {
            let item = document.meshes().get(&drawn.mesh);
            let name = item.map_or("", |m| m.geometry.name.as_str());
            return Err(format!(
                "\"{name}\" is not skinned: it follows one bone, so the map has no effect."
            ));
        }
        let Some(mask) = document.painted_map(drawn.mesh) else {
            return Err("Choose a map to paint first.".into());
        };
        let paint = Self {
            mask: mask?,
            action,
            accumulate: document.session().brush.accumulate,
            before: Vec::new(),
            now: Vec::new(),
            changed: Vec::new(),
            any: false,
        };
        Ok((drawn.mesh, paint))
    }

    pub(super) fn label(&self) -> &'static str {
        match self.mask {
            MaskOf::Stack(MaskKind::Blend) => "Paint dual quaternion factor",
            MaskOf::Stack(MaskKind::Compensation) => "Paint compensation strength",
            MaskOf::Stack(MaskKind::Projection) => "Paint projection strength",
            MaskOf::Stack(MaskKind::Smooth) => "Paint smoothing strength",
            MaskOf::Layer(_) => "Paint layer mask",
        }
    }

    /// Stores the value of a point before the stroke.
    pub(super) fn add_slot(&mut self, item: &MeshItem, point: u32) {
        let value = self.mask.value(item, point);
        self.before.push(value);
        self.now.push(value);
    }

    /// Computes the new values of the slots.
    pub(super) fn update(
        &mut self,
        item: &MeshItem,
        touched: &Touched,
        slots: &Stamped<u32>,
        dirty: &[u32],
    ) {
        let base = if self.accumulate {
            &self.now
        } else {
            &self.before
        };
        let mut near = Vec::new();
        let new: Vec<f32> = dirty
            .iter()
            .map(|&slot| {
                let point = touched.points[slot as usize];
                let before = base[slot as usize];
                let mean = if self.action.kind.averages() {
                    ring(item, point, &mut near);
                    let value = |&q: &u32| {
                        let slot = slots.get(q);
                        slot.map_or_else(|| self.mask.value(item, q), |s| base[s as usize])
                    };
                    let sum: f32 = near.iter().map(value).sum();
                    if near.is_empty() {
                        before
                    } else {
                        sum / near.len() as f32
                    }
                } else {
                    before
                };
                let [direct, mirrored] = touched.effects[slot as usize];
                match direct.max(mirrored) {
                    effect if effect > 0.0 => self.action.of(before, mean, effect),
                    _ => before,
                }
            })
            .collect();
        for (&slot, value) in dirty.iter().zip(new) {
            let now = &mut self.now[slot as usize];
            if now.to_bits() != value.to_bits() {
                *now = value;
                self.changed.push(slot);
                self.any = true;
            }
        }
    }

    pub(super) fn take_edit(&mut self, mesh: MeshId, touched: &Touched) -> Option<Edit> {
        let mut changed = std::mem::take(&mut self.changed);
        changed.sort_unstable();
        changed.dedup();
        let of = |slot: &u32| {
            let slot = *slot as usize;
            (touched.points[slot], self.now[slot])
        };
        let (points, values): (Vec<u32>, Vec<f32>) = changed.iter().map(of).unzip();
        (!points.is_empty()).then(|| Edit::mask(mesh, self.mask, points, values))
    }

    pub(super) fn take_note(&self) -> Option<String> {
        if self.any {
            return None;
        }
        if let Some(why) = self.action.no_effect_reason() {
            return Some(why.to_owned());
        }
        if self.action.kind.averages() {
            return Some("All vertices under the brush already equal their neighbours.".to_owned());
        }
        let goal = self.action.goal();
        Some(format!(
            "All vertices under the brush are already at {goal:.2}. Press X to swap 1 and 0, or hold Ctrl to invert."
        ))
    }
}
