//! The brush: what it does, where it reaches and how it fades. Saved with the session.
//!
//! Invariant: whatever a file says, every number lies in its range once it is loaded.

use super::session::{MaskValues, PaintTarget};
use crate::math::Axis;
use crate::weights::curve::Curve;
use crate::weights::falloff::Falloff;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What a stroke does to the points it reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BrushKind {
    /// Adds the brush's value; Ctrl takes it away.
    #[default]
    Add,
    /// Goes towards the brush's value; Ctrl towards 0, or towards the most where the value is 0.
    Replace,
    /// Multiplies by the brush's value; Ctrl divides by it.
    Scale,
    /// Goes towards the mean of the neighbours; Ctrl away from it.
    Smooth,
    /// Goes away from the mean of the neighbours; Ctrl towards it.
    Sharpen,
    /// Goes towards the brush's value, all of the way before the start of the drag, nothing beyond its end.
    Gradient,
    /// The same around the start of the drag: the end is the rim.
    Radial,
    /// Takes what is under the pointer for the brush; Ctrl makes the bone under the pointer active.
    Sample,
}

impl BrushKind {
    /// All of them, as lists show them.
    pub const ALL: [Self; 8] = [
        Self::Add,
        Self::Replace,
        Self::Scale,
        Self::Smooth,
        Self::Sharpen,
        Self::Gradient,
        Self::Radial,
        Self::Sample,
    ];

    /// The word lists show.
    pub fn label(self) -> &'static str {
        match self {
            Self::Add => "Add",
            Self::Replace => "Replace",
            Self::Scale => "Scale",
            Self::Smooth => "Smooth",
            Self::Sharpen => "Sharpen",
            Self::Gradient => "Gradient",
            Self::Radial => "Radial gradient",
            Self::Sample => "Sample",
        }
    }

    /// Whether it looks at a point's neighbours.
    pub fn averages(self) -> bool {
        matches!(self, Self::Smooth | Self::Sharpen)
    }

    /// Whether a drag draws one line or circle instead of touching again and again.
    pub fn is_gradient(self) -> bool {
        matches!(self, Self::Gradient | Self::Radial)
    }

    /// Whether the brush's value says how far it goes.
    pub fn has_value(self) -> bool {
        !self.averages() && self != Self::Sample
    }
}

/// How distance from the pointer is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Projection {
    /// Along the surface from the place under the pointer: never over to the next finger.
    #[default]
    Surface,
    /// A ball around the place under the pointer.
    Volume,
    /// A circle on the screen.
    Screen,
}

impl Projection {
    /// All of them, as lists show them.
    pub const ALL: [Self; 3] = [Self::Surface, Self::Volume, Self::Screen];

    /// The word lists show.
    pub fn label(self) -> &'static str {
        match self {
            Self::Surface => "Surface",
            Self::Volume => "Sphere",
            Self::Screen => "Screen",
        }
    }
}

/// When a point's weights are brought to a sum of 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Normalising {
    /// With each touch.
    #[default]
    Live,
    /// When the button comes up, in the same undo step.
    OnRelease,
    /// Never.
    Off,
}

impl Normalising {
    /// All of them, as lists show them.
    pub const ALL: [Self; 3] = [Self::Live, Self::OnRelease, Self::Off];

    /// The word lists show.
    pub fn label(self) -> &'static str {
        match self {
            Self::Live => "Live",
            Self::OnRelease => "On release",
            Self::Off => "Off",
        }
    }
}

const ON_RELEASE: &str = "on release";

/// Live and Off are the words that files had when there were no others.
impl Serialize for Normalising {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Live => serializer.serialize_bool(true),
            Self::Off => serializer.serialize_bool(false),
            Self::OnRelease => serializer.serialize_str(ON_RELEASE),
        }
    }
}

impl<'de> Deserialize<'de> for Normalising {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Normalising;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "true, false or \"{ON_RELEASE}\"")
            }

            fn visit_bool<E>(self, live: bool) -> Result<Normalising, E> {
                Ok(if live {
                    Normalising::Live
                } else {
                    Normalising::Off
                })
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Normalising, E> {
                let is_known = text == ON_RELEASE;
                let unknown = || E::invalid_value(serde::de::Unexpected::Str(text), &self);
                is_known
                    .then_some(Normalising::OnRelease)
                    .ok_or_else(unknown)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

/// Which points a stroke may change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PaintMask {
    /// All of them.
    #[default]
    Off,
    /// The selected points.
    Points,
    /// The corners of faces all of whose points are selected.
    Faces,
}

impl PaintMask {
    /// All of them, as lists show them.
    pub const ALL: [Self; 3] = [Self::Off, Self::Points, Self::Faces];

    /// The word lists show.
    pub fn label(self) -> &'static str {
        match self {
            Self::Off => "Off",
            Self::Points => "Selected vertices",
            Self::Faces => "Selected faces",
        }
    }
}

/// In what the radius is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RadiusUnit {
    /// Pixels of the screen.
    #[default]
    Pixels,
    /// Metres of the model.
    World,
}

/// What the pressure of a pen does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Pressure {
    /// Nothing.
    #[default]
    Off,
    /// It scales the strength.
    Strength,
    /// It scales the radius.
    Size,
    /// It scales both.
    Both,
}

impl Pressure {
    /// All of them, as lists show them.
    pub const ALL: [Self; 4] = [Self::Off, Self::Strength, Self::Size, Self::Both];

    /// The word lists show.
    pub fn label(self) -> &'static str {
        match self {
            Self::Off => "Off",
            Self::Strength => "Strength",
            Self::Size => "Size",
            Self::Both => "Both",
        }
    }
}

/// Which bones a stroke paints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PaintedBones {
    /// The active one, together with the others that are selected.
    #[default]
    Selected,
    /// The active one alone.
    Active,
}

/// Which bones Smooth and Sharpen are about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SmoothedBones {
    /// The painted one; the others share what is left.
    #[default]
    Painted,
    /// All that are not locked: they may come to points from their neighbours.
    All,
}

/// The brush, for weights and for painted maps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BrushOptions {
    /// What is painted. The editor's own way to choose it also brings its colours on screen.
    #[serde(skip_serializing_if = "is_default")]
    pub target: PaintTarget,
    /// What a stroke at full strength makes of a painted map.
    #[serde(skip_serializing_if = "is_default")]
    pub mask_values: MaskValues,
    /// What a stroke does to weights.
    #[serde(skip_serializing_if = "is_default")]
    pub weights_kind: BrushKind,
    /// What a stroke does to painted maps.
    #[serde(skip_serializing_if = "is_usual_for_maps")]
    pub map_kind: BrushKind,
    /// What a stroke at full strength adds to weights, 0 - 1.
    pub weight: f32,
    /// How much of the way one stroke goes, 0 - 1.
    pub strength: f32,
    /// Radius on the screen, logical pixels, 1 - 500.
    pub radius_px: f32,
    /// Radius in the world, metres, above 0.
    #[serde(skip_serializing_if = "is_usual_radius")]
    pub radius_world: f32,
    /// Which of the two counts.
    #[serde(skip_serializing_if = "is_default")]
    pub radius_unit: RadiusUnit,
    /// How the effect fades.
    pub falloff: Falloff,
    /// The artist's own falloff.
    #[serde(skip_serializing_if = "is_default")]
    pub curve: Curve,
    /// Distance between dabs as a fraction of the radius, 0.01 - 2.
    pub spacing: f32,
    /// How distance is measured.
    #[serde(skip_serializing_if = "is_default")]
    pub projection: Projection,
    /// Leave points alone that face away from the eye.
    pub front_faces_only: bool,
    /// Reach points that something hides.
    #[serde(skip_serializing_if = "is_default")]
    pub xray: bool,
    /// Each touch goes on from what the last one made, instead of all of a stroke going no further than its strength.
    #[serde(skip_serializing_if = "is_default")]
    pub accumulate: bool,
    /// No stroke takes a weight below this, 0 - 1; of a map, this part of its largest value.
    #[serde(skip_serializing_if = "is_default")]
    pub floor: f32,
    /// No stroke takes a weight above this, 0 - 1; of a map, this part of its largest value.
    #[serde(skip_serializing_if = "is_one")]
    pub ceiling: f32,
    /// When each point's sum is brought to 1.
    pub normalise: Normalising,
    /// Most influences a point may keep when edited, 1 - 8.
    pub max_influences: usize,
    /// Paint the other side too, across the plane between left and right of the bind pose that this axis crosses.
    #[serde(skip_serializing_if = "is_default")]
    pub symmetry: Option<Axis>,
    /// Which points may change.
    #[serde(skip_serializing_if = "is_default")]
    pub mask: PaintMask,
    /// Which bones are painted.
    #[serde(skip_serializing_if = "is_default")]
    pub bones: PaintedBones,
    /// Which bones are smoothed.
    #[serde(skip_serializing_if = "is_default")]
    pub smoothed: SmoothedBones,
    /// What a pen's pressure does.
    #[serde(skip_serializing_if = "is_default")]
    pub pressure: Pressure,
}

impl Default for BrushOptions {
    fn default() -> Self {
        Self {
            target: PaintTarget::Weights,
            mask_values: MaskValues::default(),
            weights_kind: BrushKind::Add,
            map_kind: USUAL_FOR_MAPS,
            weight: 1.0,
            strength: 0.5,
            radius_px: 50.0,
            radius_world: USUAL_RADIUS,
            radius_unit: RadiusUnit::Pixels,
            falloff: Falloff::Smooth,
            curve: Curve::default(),
            spacing: 0.1,
            projection: Projection::Surface,
            front_faces_only: true,
            xray: false,
            accumulate: false,
            floor: 0.0,
            ceiling: 1.0,
            normalise: Normalising::Live,
            max_influences: 4,
            symmetry: None,
            mask: PaintMask::Off,
            bones: PaintedBones::Selected,
            smoothed: SmoothedBones::Painted,
            pressure: Pressure::Off,
        }
    }
}

/// A map that was never painted is 1 everywhere: nothing can be added to most of them.
const USUAL_FOR_MAPS: BrushKind = BrushKind::Replace;

/// A hand's breadth.
const USUAL_RADIUS: f32 = 0.05;

impl BrushOptions {
    /// Radius on the screen, logical pixels.
    pub const RADIUS_PX: std::ops::RangeInclusive<f32> = 1.0..=500.0;
    /// Radius in the world, metres.
    pub const RADIUS_WORLD: std::ops::RangeInclusive<f32> = 1e-5..=1e4;
    /// Distance between dabs as a fraction of the radius.
    pub const SPACING: std::ops::RangeInclusive<f32> = 0.01..=2.0;
    /// Influences of a point.
    pub const INFLUENCES: std::ops::RangeInclusive<usize> = 1..=8;

    /// The weight or the value of the map that is painted.
    pub fn value(&self) -> f32 {
        match self.target {
            PaintTarget::Weights => self.weight,
            PaintTarget::Mask(kind) => self.mask_values.get(kind),
            PaintTarget::LayerMask => self.mask_values.layer(),
        }
    }

    /// The same, to change: 0 - [`PaintTarget::limit`].
    pub fn value_mut(&mut self) -> &mut f32 {
        match self.target {
            PaintTarget::Weights => &mut self.weight,
            PaintTarget::Mask(kind) => self.mask_values.get_mut(kind),
            PaintTarget::LayerMask => self.mask_values.layer_mut(),
        }
    }

    /// What a stroke does to what is painted.
    pub fn kind(&self) -> BrushKind {
        match self.target {
            PaintTarget::Weights => self.weights_kind,
            PaintTarget::Mask(_) | PaintTarget::LayerMask => self.map_kind,
        }
    }

    /// The same, to change.
    pub fn kind_mut(&mut self) -> &mut BrushKind {
        match self.target {
            PaintTarget::Weights => &mut self.weights_kind,
            PaintTarget::Mask(_) | PaintTarget::LayerMask => &mut self.map_kind,
        }
    }

    /// The effect at a distance, as a fraction of the radius.
    pub fn fades_to(&self, distance: f32) -> f32 {
        self.falloff.at(distance, &self.curve)
    }

    /// The lowest and the highest part of its range that a stroke may take a value to.
    pub fn bounds(&self) -> (f32, f32) {
        (self.floor.min(self.ceiling), self.ceiling.max(self.floor))
    }

    /// Radius on the screen where a pixel is `metres_per_px`.
    pub fn radius_on_screen(&self, metres_per_px: f32) -> f32 {
        match self.radius_unit {
            RadiusUnit::Pixels => self.radius_px,
            RadiusUnit::World => self.radius_world / metres_per_px.max(f32::MIN_POSITIVE),
        }
    }

    /// Radius in the world where a pixel is `metres_per_px`.
    pub fn radius_in_world(&self, metres_per_px: f32) -> f32 {
        match self.radius_unit {
            RadiusUnit::Pixels => self.radius_px * metres_per_px,
            RadiusUnit::World => self.radius_world,
        }
    }

    /// Larger or smaller by a factor, within its range.
    pub fn scale_radius(&mut self, factor: f32) {
        let (radius, range) = match self.radius_unit {
            RadiusUnit::Pixels => (&mut self.radius_px, Self::RADIUS_PX),
            RadiusUnit::World => (&mut self.radius_world, Self::RADIUS_WORLD),
        };
        *radius = (*radius * factor).clamp(*range.start(), *range.end());
    }

    /// With every number in its range.
    #[must_use]
    pub fn clamped(mut self) -> Self {
        let plain = Self::default();
        let into = |value: &mut f32, range: std::ops::RangeInclusive<f32>, plain: f32| {
            *value = if value.is_finite() {
                value.clamp(*range.start(), *range.end())
            } else {
                plain
            };
        };
        into(&mut self.weight, 0.0..=1.0, plain.weight);
        into(&mut self.strength, 0.0..=1.0, plain.strength);
        into(&mut self.radius_px, Self::RADIUS_PX, plain.radius_px);
        into(
            &mut self.radius_world,
            Self::RADIUS_WORLD,
            plain.radius_world,
        );
        into(&mut self.spacing, Self::SPACING, plain.spacing);
        into(&mut self.floor, 0.0..=1.0, plain.floor);
        into(&mut self.ceiling, 0.0..=1.0, plain.ceiling);
        for kind in crate::deform::MaskKind::ALL {
            into(self.mask_values.get_mut(kind), 0.0..=kind.limit(), 0.0);
        }
        let range = Self::INFLUENCES;
        self.max_influences = self.max_influences.clamp(*range.start(), *range.end());
        self
    }

    /// Reads a brush and clamps it.
    pub(super) fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::deserialize(deserializer).map(Self::clamped)
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature serde asks for"
)]
fn is_one(value: &f32) -> bool {
    *value == 1.0
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature serde asks for"
)]
fn is_usual_for_maps(kind: &BrushKind) -> bool {
    *kind == USUAL_FOR_MAPS
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature serde asks for"
)]
fn is_usual_radius(radius: &f32) -> bool {
    *radius == USUAL_RADIUS
}

#[cfg(test)]
mod tests {
    use super::super::session::Session;
    use super::*;

    fn read(text: &str) -> BrushOptions {
        let session: Session = ron::from_str(&format!("(brush: ({text}))")).unwrap();
        session.brush
    }

    #[test]
    fn files_from_before_there_were_other_words_still_load() {
        assert_eq!(read("normalise: true").normalise, Normalising::Live);
        assert_eq!(read("normalise: false").normalise, Normalising::Off);
        assert_eq!(
            read("normalise: \"on release\"").normalise,
            Normalising::OnRelease
        );
        assert_eq!(read(""), BrushOptions::default());
    }

    #[test]
    fn numbers_out_of_range_are_brought_back() {
        let brush = read(
            "weight: 7.0, strength: -1.0, radius_px: 1e9, radius_world: -4.0, spacing: 0.0, \
             floor: NaN, ceiling: inf, max_influences: 900",
        );
        assert_eq!((brush.weight, brush.strength), (1.0, 0.0));
        assert_eq!((brush.radius_px, brush.radius_world), (500.0, 1e-5));
        assert_eq!((brush.spacing, brush.max_influences), (0.01, 8));
        assert_eq!((brush.floor, brush.ceiling), (0.0, 1.0));
        assert_eq!(brush.clamped(), brush);
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
            projection: Projection::Screen,
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
        let session = Session {
            brush,
            ..Session::default()
        };
        let text = ron::to_string(&session).unwrap();
        assert_eq!(ron::from_str::<Session>(&text).unwrap().brush, brush);
    }
}
