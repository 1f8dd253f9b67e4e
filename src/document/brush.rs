//! The brush: what it does, where it reaches and how it fades. Saved with the session.
//!
//! Invariant: every number of a loaded brush lies in its range ([`BrushOptions::clamped`]).

use super::session::{MaskValues, PaintTarget};
use crate::math::Axis;
use crate::weights::curve::Curve;
use crate::weights::falloff::Falloff;

/// What a stroke does to the points it reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
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

/// Which points a stroke may change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RadiusUnit {
    /// Pixels of the screen.
    #[default]
    Pixels,
    /// Metres of the model.
    World,
}

/// What the pressure of a pen does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PaintedBones {
    /// The active one, together with the others that are selected.
    #[default]
    Selected,
    /// The active one alone.
    Active,
}

/// Which bones Smooth and Sharpen are about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SmoothedBones {
    /// The painted one; the others share what is left.
    #[default]
    Painted,
    /// All that are not locked: smoothing may bring them to points from their neighbours.
    All,
}

/// The brush, for weights and for painted maps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BrushOptions {
    /// What is painted. The editor's own way to choose it also brings its colours on screen.
    pub target: PaintTarget,
    /// What a stroke at full strength makes of a painted map.
    pub mask_values: MaskValues,
    /// What a stroke does to weights.
    pub weights_kind: BrushKind,
    /// What a stroke does to painted maps.
    pub map_kind: BrushKind,
    /// What a stroke at full strength adds to weights, 0 - 1.
    pub weight: f32,
    /// How much of the way one stroke goes, 0 - 1.
    pub strength: f32,
    /// Radius on the screen, logical pixels, 1 - 500.
    pub radius_px: f32,
    /// Radius in the world, metres, above 0.
    pub radius_world: f32,
    /// Which of the two counts.
    pub radius_unit: RadiusUnit,
    /// How the effect fades.
    pub falloff: Falloff,
    /// The artist's own falloff.
    pub curve: Curve,
    /// Distance between dabs as a fraction of the radius, 0.01 - 2.
    pub spacing: f32,
    /// How distance is measured.
    pub projection: Projection,
    /// Leave points alone that face away from the eye.
    pub front_faces_only: bool,
    /// Reach points that something hides.
    pub xray: bool,
    /// Each touch goes on from what the last one made, instead of all of a stroke going no further than its strength.
    pub accumulate: bool,
    /// No stroke takes a weight below this, 0 - 1; of a map, this part of its largest value.
    pub floor: f32,
    /// No stroke takes a weight above this, 0 - 1; of a map, this part of its largest value.
    pub ceiling: f32,
    /// When each point's sum is brought to 1.
    pub normalise: Normalising,
    /// Most influences a point may keep when edited, 1 - 8.
    pub max_influences: usize,
    /// Paint the other side too, across the plane between left and right of the bind pose that this axis crosses.
    pub symmetry: Option<Axis>,
    /// Which points may change.
    pub mask: PaintMask,
    /// Which bones are painted.
    pub bones: PaintedBones,
    /// Which bones are smoothed.
    pub smoothed: SmoothedBones,
    /// What a pen's pressure does.
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
}
