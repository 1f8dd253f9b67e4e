//! The brush in the project format.
//!
//! A file omits values equal to the defaults. These defaults are part of the format: they stay when the defaults of new
//! sessions change.

use super::types::{Axis, PaintedMap, enums, is_default, structs};
use crate::document::session as live;
use crate::math;
use crate::weights::curve::Curve;
use crate::weights::falloff;
use glam::Vec2;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

enums! {
    /// What a stroke does.
    #[derive(Default)]
    BrushKind = live::BrushKind { #[default] Add, Replace, Scale, Smooth, Sharpen, Gradient, Radial, Sample }

    /// How distance from the pointer is measured.
    #[derive(Default)]
    FalloffShape = live::FalloffShape { #[default] Surface, Volume, Screen }

    /// The points that a stroke may change.
    #[derive(Default)]
    PaintMask = live::PaintMask { #[default] Off, Points, Faces }

    /// The unit of the radius.
    #[derive(Default)]
    RadiusUnit = live::RadiusUnit { #[default] Pixels, World }

    /// What the pressure of a pen scales.
    #[derive(Default)]
    Pressure = live::Pressure { #[default] Off, Strength, Size, Both }

    /// The bones that a stroke paints.
    #[derive(Default)]
    PaintedBones = live::PaintedBones { #[default] Selected, Active }

    /// The bones that smoothing changes.
    #[derive(Default)]
    SmoothedBones = live::SmoothedBones { #[default] Painted, All }

    /// How the effect falls off towards the rim.
    #[derive(Default)]
    Falloff = falloff::Falloff { #[default] Smooth, Linear, Sharp, Root, Constant, Custom }
}

structs! {
    /// The value of the brush for each painted map.
    #[derive(Default)]
    #[serde(default)]
    MaskValues = live::MaskValues {
        blend: f32,
        compensation: f32,
        projection: f32,
        smooth: f32,
        #[serde(skip_serializing_if = "is_default")]
        layer: f32,
    }
}

/// What the brush paints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum PaintTarget {
    #[default]
    Weights,
    Mask(PaintedMap),
    LayerMask,
}

impl From<live::PaintTarget> for PaintTarget {
    fn from(target: live::PaintTarget) -> Self {
        match target {
            live::PaintTarget::Weights => Self::Weights,
            live::PaintTarget::Mask(map) => Self::Mask(map.into()),
            live::PaintTarget::LayerMask => Self::LayerMask,
        }
    }
}

impl From<PaintTarget> for live::PaintTarget {
    fn from(target: PaintTarget) -> Self {
        match target {
            PaintTarget::Weights => Self::Weights,
            PaintTarget::Mask(map) => Self::Mask(map.into()),
            PaintTarget::LayerMask => Self::LayerMask,
        }
    }
}

/// (distance, effect) of each point of the user's own falloff; empty: that of a smooth falloff.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct FalloffCurve(Vec<(f32, f32)>);

impl From<Curve> for FalloffCurve {
    fn from(curve: Curve) -> Self {
        if curve == Curve::default() {
            return Self::default();
        }
        Self(curve.points().iter().map(|&point| point.into()).collect())
    }
}

impl From<FalloffCurve> for Curve {
    fn from(FalloffCurve(points): FalloffCurve) -> Self {
        if points.is_empty() {
            return Self::default();
        }
        let points: Vec<Vec2> = points.into_iter().map(Into::into).collect();
        Self::new(&points)
    }
}

/// The axis across which strokes are mirrored, if any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Symmetry(Option<Axis>);

impl From<Option<math::Axis>> for Symmetry {
    fn from(axis: Option<math::Axis>) -> Self {
        Self(axis.map(Into::into))
    }
}

impl From<Symmetry> for Option<math::Axis> {
    fn from(Symmetry(axis): Symmetry) -> Self {
        axis.map(Into::into)
    }
}

/// When the weights of a point are normalised. In a file: true for each dab, "on release", or false for never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Normalising(live::Normalising);

const ON_RELEASE: &str = "on release";

impl From<live::Normalising> for Normalising {
    fn from(normalising: live::Normalising) -> Self {
        Self(normalising)
    }
}

impl From<Normalising> for live::Normalising {
    fn from(Normalising(normalising): Normalising) -> Self {
        normalising
    }
}

impl Serialize for Normalising {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            live::Normalising::Live => serializer.serialize_bool(true),
            live::Normalising::Off => serializer.serialize_bool(false),
            live::Normalising::OnRelease => serializer.serialize_str(ON_RELEASE),
        }
    }
}

impl<'de> Deserialize<'de> for Normalising {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = live::Normalising;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "true, false or \"{ON_RELEASE}\"")
            }

            fn visit_bool<E>(self, with_each_touch: bool) -> Result<Self::Value, E> {
                Ok(if with_each_touch {
                    live::Normalising::Live
                } else {
                    live::Normalising::Off
                })
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
                match text {
                    ON_RELEASE => Ok(live::Normalising::OnRelease),
                    _ => Err(E::unknown_variant(text, &["true", "false", ON_RELEASE])),
                }
            }
        }
        deserializer.deserialize_any(Visitor).map(Self)
    }
}

structs! {
    /// The brush. After reading, any number may be out of its range.
    #[serde(default)]
    Brush = live::BrushOptions {
        #[serde(skip_serializing_if = "is_default")]
        target: PaintTarget,
        #[serde(skip_serializing_if = "is_default")]
        mask_values: MaskValues,
        #[serde(skip_serializing_if = "is_default")]
        weights_kind: BrushKind,
        #[serde(skip_serializing_if = "is_replace")]
        map_kind: BrushKind,
        weight: f32,
        strength: f32,
        radius_px: f32,
        #[serde(skip_serializing_if = "is_default_radius")]
        radius_world: f32,
        #[serde(skip_serializing_if = "is_default")]
        radius_unit: RadiusUnit,
        falloff: Falloff,
        #[serde(skip_serializing_if = "is_default")]
        curve: FalloffCurve,
        spacing: f32,
        #[serde(rename = "projection", skip_serializing_if = "is_default")]
        falloff_shape: FalloffShape,
        front_faces_only: bool,
        #[serde(skip_serializing_if = "is_default")]
        xray: bool,
        #[serde(skip_serializing_if = "is_default")]
        accumulate: bool,
        #[serde(skip_serializing_if = "is_default")]
        floor: f32,
        #[serde(skip_serializing_if = "is_one")]
        ceiling: f32,
        normalise: Normalising,
        max_influences: usize,
        #[serde(skip_serializing_if = "is_default")]
        symmetry: Symmetry,
        #[serde(skip_serializing_if = "is_default")]
        mask: PaintMask,
        #[serde(skip_serializing_if = "is_default")]
        bones: PaintedBones,
        #[serde(skip_serializing_if = "is_default")]
        smoothed: SmoothedBones,
        #[serde(skip_serializing_if = "is_default")]
        pressure: Pressure,
    }
}

const DEFAULT_RADIUS: f32 = 0.05;

impl Default for Brush {
    fn default() -> Self {
        Self {
            target: PaintTarget::Weights,
            mask_values: MaskValues::default(),
            weights_kind: BrushKind::Add,
            map_kind: BrushKind::Replace,
            weight: 1.0,
            strength: 0.5,
            radius_px: 50.0,
            radius_world: DEFAULT_RADIUS,
            radius_unit: RadiusUnit::Pixels,
            falloff: Falloff::Smooth,
            curve: FalloffCurve::default(),
            spacing: 0.1,
            falloff_shape: FalloffShape::Surface,
            front_faces_only: true,
            xray: false,
            accumulate: false,
            floor: 0.0,
            ceiling: 1.0,
            normalise: Normalising(live::Normalising::Live),
            max_influences: 4,
            symmetry: Symmetry::default(),
            mask: PaintMask::Off,
            bones: PaintedBones::Selected,
            smoothed: SmoothedBones::Painted,
            pressure: Pressure::Off,
        }
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature that serde expects"
)]
fn is_one(value: &f32) -> bool {
    *value == 1.0
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature that serde expects"
)]
fn is_replace(kind: &BrushKind) -> bool {
    *kind == BrushKind::Replace
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature that serde expects"
)]
fn is_default_radius(radius: &f32) -> bool {
    *radius == DEFAULT_RADIUS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::session::{
        BrushKind, BrushOptions, FalloffShape, Normalising, PaintMask, PaintedBones, Pressure,
        RadiusUnit, SmoothedBones,
    };
    use crate::math::Axis;
    use crate::weights::falloff::Falloff;

    fn read(text: &str) -> BrushOptions {
        ron::from_str::<Brush>(&format!("({text})")).unwrap().into()
    }

    #[test]
    fn files_from_before_there_were_other_words_still_load() {
        assert_eq!(read("normalise: true").normalise, Normalising::Live);
        assert_eq!(read("normalise: false").normalise, Normalising::Off);
        assert_eq!(
            read("normalise: \"on release\"").normalise,
            Normalising::OnRelease
        );
        assert!(ron::from_str::<Brush>("(normalise: \"tomorrow\")").is_err());
        assert_eq!(read(""), BrushOptions::default());
    }

    #[test]
    fn numbers_out_of_range_are_brought_back() {
        let brush = read(
            "weight: 7.0, strength: -1.0, radius_px: 1e9, radius_world: -4.0, spacing: 0.0, \
             floor: NaN, ceiling: inf, max_influences: 900",
        )
        .clamped();
        assert_eq!((brush.weight, brush.strength), (1.0, 0.0));
        assert_eq!((brush.radius_px, brush.radius_world), (500.0, 1e-5));
        assert_eq!((brush.spacing, brush.max_influences), (0.01, 8));
        assert_eq!((brush.floor, brush.ceiling), (0.0, 1.0));
    }

    #[test]
    fn every_choice_comes_back() {
        let brush = BrushOptions {
            weights_kind: BrushKind::Radial,
            map_kind: BrushKind::Smooth,
            radius_unit: RadiusUnit::World,
            radius_world: 0.25,
            falloff: Falloff::Custom,
            curve: Curve::like(Falloff::Root),
            falloff_shape: FalloffShape::Screen,
            xray: true,
            accumulate: true,
            floor: 0.25,
            ceiling: 0.75,
            normalise: Normalising::OnRelease,
            symmetry: Some(Axis::Z),
            mask: PaintMask::Faces,
            bones: PaintedBones::Active,
            smoothed: SmoothedBones::All,
            pressure: Pressure::Both,
            ..BrushOptions::default()
        };
        let text = ron::to_string(&Brush::from(brush)).unwrap();
        assert_eq!(
            BrushOptions::from(ron::from_str::<Brush>(&text).unwrap()),
            brush
        );
    }
}
