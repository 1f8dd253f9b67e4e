//! The effect of a dab on a value: one formula for each brush, for weights and for painted maps.

use crate::document::session::{BrushKind, BrushOptions};

/// Snapping distance to the brush's value: repeated blending would never reach it, and a point with its default value
/// needs no space in a file.
const SNAP_DISTANCE: f32 = 1e-3;

/// 1 over the largest factor of Ctrl+Scale.
const MIN_FACTOR: f32 = 1e-3;

/// The action of a stroke, decided when it starts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Action {
    /// The kind: Ctrl with Smooth sharpens, and vice versa.
    pub(super) kind: BrushKind,
    invert: bool,
    /// The brush's value.
    value: f32,
    /// The largest value; the smallest is 0.
    limit: f32,
    /// The limits of the stroke.
    floor: f32,
    ceiling: f32,
}

impl Action {
    /// The action of `brush` with Shift (`smooth`) and Ctrl (`invert`).
    pub(super) fn new(brush: &BrushOptions, smooth: bool, invert: bool) -> Self {
        let kind = match (
            if smooth {
                BrushKind::Smooth
            } else {
                brush.kind()
            },
            invert,
        ) {
            (BrushKind::Smooth, true) => BrushKind::Sharpen,
            (BrushKind::Sharpen, true) => BrushKind::Smooth,
            (kind, _) => kind,
        };
        let limit = brush.target.limit();
        let (floor, ceiling) = brush.bounds();
        Self {
            kind,
            invert: invert && !kind.averages(),
            value: brush.value(),
            limit,
            floor: floor * limit,
            ceiling: ceiling * limit,
        }
    }

    /// The new value for `before` at an effect of 0 - 1. `mean` is that of the neighbours.
    ///
    /// Never beyond floor and ceiling; a value already beyond them moves no further away.
    pub(super) fn of(&self, before: f32, mean: f32, effect: f32) -> f32 {
        let value = match self.kind {
            BrushKind::Add | BrushKind::Sample => {
                // Adding 0 would have no effect: a value of 0 subtracts.
                let (adds, amount) = if self.value > 0.0 {
                    (!self.invert, self.value)
                } else {
                    (self.invert, self.limit)
                };
                before + if adds { effect } else { -effect } * amount
            }
            BrushKind::Replace | BrushKind::Gradient | BrushKind::Radial => {
                toward(before, self.goal(), effect)
            }
            BrushKind::Scale => {
                let factor = 1.0 + (self.value - 1.0) * effect;
                if self.invert {
                    before / factor.max(MIN_FACTOR)
                } else {
                    before * factor
                }
            }
            BrushKind::Smooth => before + (mean - before) * effect,
            BrushKind::Sharpen => before + (before - mean) * effect,
        };
        let low = self.floor.min(before);
        let high = self.ceiling.max(before);
        value.clamp(low, high.max(low)).clamp(0.0, self.limit)
    }

    /// The target value: the brush's value, and with Ctrl 0, or 1 if the brush paints 0.
    pub(super) fn goal(&self) -> f32 {
        match self.value {
            value if !self.invert => value,
            value if value > 0.0 => 0.0,
            _ => 1.0,
        }
    }

    /// The reason why nothing changed, if the brush itself is the reason.
    pub(super) fn no_effect_reason(&self) -> Option<&'static str> {
        let scales_by_1 = self.kind == BrushKind::Scale && self.value == 1.0;
        scales_by_1.then_some("Scaling by 1 changes nothing. Set another value for the brush.")
    }
}

/// Linear interpolation from `before` to `goal` by `effect`; never beyond either.
fn toward(before: f32, goal: f32, effect: f32) -> f32 {
    let value = before + (goal - before) * effect;
    if effect >= 1.0 || (goal - value).abs() < SNAP_DISTANCE {
        goal
    } else {
        value.clamp(before.min(goal), before.max(goal))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deform::MaskKind;
    use crate::document::session::PaintTarget;

    fn brush(kind: BrushKind, weight: f32) -> BrushOptions {
        BrushOptions {
            weights_kind: kind,
            weight,
            ..BrushOptions::default()
        }
    }

    fn of(kind: BrushKind, weight: f32, invert: bool, before: f32, effect: f32) -> f32 {
        Action::new(&brush(kind, weight), false, invert).of(before, 0.75, effect)
    }

    #[test]
    fn each_brush_does_what_its_name_says_and_ctrl_the_opposite() {
        use BrushKind::{Add, Replace, Scale, Sharpen, Smooth};
        let half = |kind, weight, invert| of(kind, weight, invert, 0.5, 0.5);
        assert_eq!((half(Add, 0.5, false), half(Add, 0.5, true)), (0.75, 0.25));
        assert_eq!((half(Add, 0.0, false), half(Add, 0.0, true)), (0.0, 1.0));
        assert_eq!(
            (half(Replace, 1.0, false), half(Replace, 1.0, true)),
            (0.75, 0.25)
        );
        assert_eq!(
            (half(Replace, 0.0, false), half(Replace, 0.0, true)),
            (0.25, 0.75)
        );
        assert_eq!(
            (half(Scale, 0.0, false), half(Scale, 0.0, true)),
            (0.25, 1.0)
        );
        assert_eq!(
            (half(Scale, 1.0, false), half(Scale, 1.0, true)),
            (0.5, 0.5)
        );
        assert_eq!(
            (half(Smooth, 1.0, false), half(Smooth, 1.0, true)),
            (0.625, 0.375)
        );
        assert_eq!(
            (half(Sharpen, 1.0, false), half(Sharpen, 1.0, true)),
            (0.375, 0.625)
        );
    }

    #[test]
    fn shift_smooths_whatever_the_brush() {
        for kind in BrushKind::ALL {
            let action = Action::new(&brush(kind, 1.0), true, false);
            assert_eq!(action.of(0.5, 0.75, 1.0), 0.75, "{kind:?}");
        }
    }

    #[test]
    fn floor_and_ceiling_stop_a_stroke_and_push_nothing() {
        let bounded = BrushOptions {
            floor: 0.25,
            ceiling: 0.75,
            ..brush(BrushKind::Add, 1.0)
        };
        let add = Action::new(&bounded, false, false);
        let less = Action::new(&bounded, false, true);
        assert_eq!(
            (add.of(0.5, 0.0, 1.0), less.of(0.5, 0.0, 1.0)),
            (0.75, 0.25)
        );
        // Already beyond the limit: no further, but back.
        assert_eq!(
            (add.of(0.875, 0.0, 0.5), less.of(0.875, 0.0, 0.5)),
            (0.875, 0.375)
        );
        assert_eq!(
            (add.of(0.125, 0.0, 0.5), less.of(0.125, 0.0, 0.5)),
            (0.625, 0.125)
        );
    }

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
    fn on_maps_ctrl_goes_to_0_and_from_0_back_to_1() {
        let kind = MaskKind::Compensation;
        let mut brush = BrushOptions {
            target: PaintTarget::Mask(kind),
            ..BrushOptions::default()
        };
        let goal = |brush: &BrushOptions, invert| Action::new(brush, false, invert).goal();
        assert_eq!((goal(&brush, false), goal(&brush, true)), (0.0, 1.0));
        *brush.mask_values.get_mut(kind) = 1.5;
        assert_eq!((goal(&brush, false), goal(&brush, true)), (1.5, 0.0));
        let action = Action::new(&brush, false, false);
        assert_eq!(
            action.of(0.5, 0.0, 1.0),
            1.5,
            "beyond 1, as far as the map goes"
        );
    }
}
