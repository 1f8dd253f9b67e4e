//! Painting a map of the stack: takes points towards the brush's value, or towards 0.

use crate::deform::MaskKind;
use crate::document::session::BrushOptions;
use crate::document::{Document, Edit, InstanceId, MeshId, MeshItem};
use std::collections::{BTreeMap, HashMap};

/// Nearer than this to the brush's value, a point has it: halving the way for ever would never arrive, and a point that is
/// as unpainted again takes no place in a file.
const ARRIVED: f32 = 1e-3;

/// A stroke on a painted map.
#[derive(Debug)]
pub(super) struct MaskPaint {
    kind: MaskKind,
    /// What each touched point had before the stroke.
    before: HashMap<u32, f32>,
    /// New values by point, of this event.
    values: BTreeMap<u32, f32>,
    /// Whether some point changed.
    changed: bool,
}

impl MaskPaint {
    /// A stroke on `instance`, or why there can be none.
    pub(super) fn begin(
        document: &Document,
        instance: InstanceId,
        kind: MaskKind,
    ) -> Result<(MeshId, Self), String> {
        let Some(drawn) = document.instances().get(&instance) else {
            return Err("The mesh is gone.".into());
        };
        if drawn.skin.is_none() {
            let item = document.meshes().get(&drawn.mesh);
            let name = item.map_or("", |m| m.geometry.name.as_str());
            return Err(format!(
                "\"{name}\" is not skinned: it follows one bone, so there is nothing that the map could change."
            ));
        }
        let paint = Self {
            kind,
            before: HashMap::new(),
            values: BTreeMap::new(),
            changed: false,
        };
        Ok((drawn.mesh, paint))
    }

    pub(super) fn label(&self) -> &'static str {
        match self.kind {
            MaskKind::Blend => "Paint dual quaternion share",
            MaskKind::Compensation => "Paint compensation strength",
            MaskKind::Projection => "Paint projection strength",
            MaskKind::Smooth => "Paint smoothing strength",
        }
    }

    pub(super) fn touch(
        &mut self,
        item: &MeshItem,
        point: u32,
        effect: f32,
        brush: &BrushOptions,
        invert: bool,
    ) {
        let now = || item.masks.value(self.kind, point);
        let before = *self.before.entry(point).or_insert_with(now);
        let value = toward(before, goal(self.kind, brush, invert), effect);
        if value.to_bits() != before.to_bits() {
            self.values.insert(point, value);
            self.changed = true;
        }
    }

    pub(super) fn take_edit(&mut self, mesh: MeshId) -> Option<Edit> {
        let (points, values): (Vec<u32>, Vec<f32>) =
            std::mem::take(&mut self.values).into_iter().unzip();
        (!points.is_empty()).then(|| Edit::mask(mesh, self.kind, points, values))
    }

    pub(super) fn say(&self, brush: &BrushOptions, invert: bool) -> Option<String> {
        let goal = goal(self.kind, brush, invert);
        (!self.changed).then(|| {
            format!(
                "All points under the brush are at {goal:.2} already; X paints with 1 or 0, Ctrl the other way."
            )
        })
    }
}

/// What points go towards: the brush's value, and with Ctrl 0, or 1 where the brush already paints 0.
fn goal(kind: MaskKind, brush: &BrushOptions, invert: bool) -> f32 {
    match brush.mask_values.get(kind) {
        value if !invert => value,
        value if value > 0.0 => 0.0,
        _ => MaskKind::UNPAINTED,
    }
}

/// `effect` of the way from `before` to `goal`; never beyond either.
fn toward(before: f32, goal: f32, effect: f32) -> f32 {
    let value = before + (goal - before) * effect;
    if effect >= 1.0 || (goal - value).abs() < ARRIVED {
        goal
    } else {
        value.clamp(before.min(goal), before.max(goal))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_arrives_and_never_passes() {
        for (before, goal) in [(1.0, 0.0), (0.3, 1.0), (0.1, 2.0), (1.7, 0.4)] {
            assert_eq!(toward(before, goal, 1.0), goal);
            assert_eq!(toward(before, goal, 0.0), before);
            let mut value = before;
            for _ in 0..20 {
                value = toward(value, goal, 0.5);
                assert!((before.min(goal)..=before.max(goal)).contains(&value));
            }
            assert_eq!(value, goal, "half of the way again and again");
        }
    }

    #[test]
    fn ctrl_goes_to_0_and_from_0_back_to_1() {
        let mut brush = BrushOptions::default();
        let kind = MaskKind::Compensation;
        assert_eq!(goal(kind, &brush, false), 0.0);
        assert_eq!(goal(kind, &brush, true), 1.0);
        *brush.mask_values.get_mut(kind) = 1.5;
        assert_eq!(goal(kind, &brush, false), 1.5);
        assert_eq!(goal(kind, &brush, true), 0.0);
    }
}
