//! The brush: what a stroke does, which points it reaches and how its effect fades. Saved with the session.
//!
//! Invariant: every number of a loaded brush lies in its range ([`BrushOptions::clamped`]).

use super::paint_target::{MaskValues, PaintTarget};
use crate::math::Axis;
use crate::weights::curve::Curve;
use crate::weights::falloff::Falloff;

/// What a stroke does to the points it reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BrushKind {
    /// Adds the brush's value; Ctrl subtracts it.
    #[default]
    Add,
    /// Moves the value towards the brush's value; with Ctrl towards 0, or towards the maximum where the brush's value
    /// is 0.
    Replace,
    /// Multiplies by the brush's value; Ctrl divides by it.
    Scale,
    /// Moves the value towards the mean of the neighbours; with Ctrl away from it.
    Smooth,
    /// Moves the value away from the mean of the neighbours; with Ctrl towards it.
    Sharpen,
    /// Linear gradient towards the brush's value: full effect before the start of the drag, none beyond its end.
    Gradient,
    /// Radial gradient: full effect at the start of the drag, none beyond the circle through its end.
    Radial,
    /// Samples the value under the pointer into the brush; Ctrl makes the bone under the pointer active.
    Sample,
}

impl BrushKind {
    /// All kinds, in the order of lists.
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

    /// The label in lists.
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

    /// Whether it reads the values of a point's neighbours.
    pub fn averages(self) -> bool {
        matches!(self, Self::Smooth | Self::Sharpen)
    }

    /// Whether a drag draws one line or circle instead of a series of dabs.
    pub fn is_gradient(self) -> bool {
        matches!(self, Self::Gradient | Self::Radial)
    }

    /// Whether it uses the brush's value.
    pub fn has_value(self) -> bool {
        !self.averages() && self != Self::Sample
    }
}

/// How distance from the pointer is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FalloffShape {
    /// Distance along the surface from the position under the pointer: never reaches across to the next finger.
    #[default]
    Surface,
    /// A sphere around the position under the pointer.
    Volume,
    /// A circle on the screen.
    Screen,
}

impl FalloffShape {
    /// All shapes, in the order of lists.
    pub const ALL: [Self; 3] = [Self::Surface, Self::Volume, Self::Screen];

    /// The label in lists.
    pub fn label(self) -> &'static str {
        match self {
            Self::Surface => "Surface",
            Self::Volume => "Sphere",
            Self::Screen => "Screen",
        }
    }
}

/// When a point's weights are normalised to a sum of 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Normalising {
    /// After each dab.
    #[default]
    Live,
    /// When the button is released, in the same undo step.
    OnRelease,
    /// Never.
    Off,
}

impl Normalising {
    /// All choices, in the order of lists.
    pub const ALL: [Self; 3] = [Self::Live, Self::OnRelease, Self::Off];

    /// The label in lists.
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
    /// All choices, in the order of lists.
    pub const ALL: [Self; 3] = [Self::Off, Self::Points, Self::Faces];

    /// The label in lists.
    pub fn label(self) -> &'static str {
        match self {
            Self::Off => "Off",
            Self::Points => "Selected vertices",
            Self::Faces => "Selected faces",
        }
    }
}

/// The unit of the radius.
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
    /// All choices, in the order of lists.
    pub const ALL: [Self; 4] = [Self::Off, Self::Strength, Self::Size, Self::Both];

    /// The label in lists.
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
    /// The active one and the other selected ones.
    #[default]
    Selected,
    /// Only the active one.
    Active,
}

/// Which bones Smooth and Sharpen change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SmoothedBones {
    /// The painted one; the others divide the remaining weight.
    #[default]
    Painted,
    /// All that are not locked: smoothing may add them to points from their neighbours.
    All,
}

/// The brush, for weights and for painted maps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BrushOptions {
    /// What is painted. Set it through the editor, which also shows the matching colours.
    pub target: PaintTarget,
    /// The value that a stroke at full strength gives to a painted map.
    pub mask_values: MaskValues,
    /// What a stroke does to weights.
    pub weights_kind: BrushKind,
    /// What a stroke does to painted maps.
    pub map_kind: BrushKind,
    /// The value of weights that a stroke at full strength adds, 0 - 1.
    pub weight: f32,
    /// The fraction of the brush's effect that one stroke applies, 0 - 1.
    pub strength: f32,
    /// Radius on the screen, logical pixels, 1 - 500.
    pub radius_px: f32,
    /// Radius in the world, metres, above 0.
    pub radius_world: f32,
    /// Which of the two radii is used.
    pub radius_unit: RadiusUnit,
    /// How the effect fades with distance.
    pub falloff: Falloff,
    /// The user's own falloff curve.
    pub curve: Curve,
    /// Distance between dabs as a fraction of the radius, 0.01 - 2.
    pub spacing: f32,
    /// How distance from the pointer is measured.
    pub falloff_shape: FalloffShape,
    /// Skip points that face away from the camera.
    pub front_faces_only: bool,
    /// Reach occluded points.
    pub xray: bool,
    /// Each dab continues from the result of the last one; otherwise a whole stroke is limited to its strength.
    pub accumulate: bool,
    /// The lowest weight that a stroke may give, 0 - 1; of a map, this fraction of its largest value.
    pub floor: f32,
    /// The highest weight that a stroke may give, 0 - 1; of a map, this fraction of its largest value.
    pub ceiling: f32,
    /// When each point's weights are normalised.
    pub normalise: Normalising,
    /// Most influences a point may keep when edited, 1 - 8.
    pub max_influences: usize,
    /// Paint the other side too, mirrored across the bind pose's symmetry plane, whose normal is this axis.
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
            map_kind: DEFAULT_MAP_KIND,
            weight: 1.0,
            strength: 0.5,
            radius_px: 50.0,
            radius_world: DEFAULT_RADIUS,
            radius_unit: RadiusUnit::Pixels,
            falloff: Falloff::Smooth,
            curve: Curve::default(),
            spacing: 0.1,
            falloff_shape: FalloffShape::Surface,
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
const DEFAULT_MAP_KIND: BrushKind = BrushKind::Replace;

/// A hand's breadth.
const DEFAULT_RADIUS: f32 = 0.05;

impl BrushOptions {
    /// Radius on the screen, logical pixels.
    pub const RADIUS_PX: std::ops::RangeInclusive<f32> = 1.0..=500.0;
    /// Radius in the world, metres.
    pub const RADIUS_WORLD: std::ops::RangeInclusive<f32> = 1e-5..=1e4;
    /// Distance between dabs as a fraction of the radius.
    pub const SPACING: std::ops::RangeInclusive<f32> = 0.01..=2.0;
    /// Influences of a point.
    pub const INFLUENCES: std::ops::RangeInclusive<usize> = 1..=8;

    /// The painted value: of weights or of the map.
    pub fn value(&self) -> f32 {
        match self.target {
            PaintTarget::Weights => self.weight,
            PaintTarget::Mask(kind) => self.mask_values.get(kind),
            PaintTarget::LayerMask => self.mask_values.layer(),
        }
    }

    /// Mutable access to [`BrushOptions::value`]: 0 - [`PaintTarget::limit`].
    pub fn value_mut(&mut self) -> &mut f32 {
        match self.target {
            PaintTarget::Weights => &mut self.weight,
            PaintTarget::Mask(kind) => self.mask_values.get_mut(kind),
            PaintTarget::LayerMask => self.mask_values.layer_mut(),
        }
    }

    /// What a stroke does to the current target.
    pub fn kind(&self) -> BrushKind {
        match self.target {
            PaintTarget::Weights => self.weights_kind,
            PaintTarget::Mask(_) | PaintTarget::LayerMask => self.map_kind,
        }
    }

    /// Mutable access to [`BrushOptions::kind`].
    pub fn kind_mut(&mut self) -> &mut BrushKind {
        match self.target {
            PaintTarget::Weights => &mut self.weights_kind,
            PaintTarget::Mask(_) | PaintTarget::LayerMask => &mut self.map_kind,
        }
    }

    /// The effect at a distance, as a fraction of the radius.
    pub fn fades_to(&self, distance: f32) -> f32 {
        self.falloff.at(distance, |x| self.curve.at(x))
    }

    /// The lowest and the highest fraction of its range that a stroke may give to a value.
    pub fn bounds(&self) -> (f32, f32) {
        (self.floor.min(self.ceiling), self.ceiling.max(self.floor))
    }

    /// Radius on the screen, logical pixels, where a pixel is `metres_per_px`.
    pub fn radius_on_screen(&self, metres_per_px: f32) -> f32 {
        match self.radius_unit {
            RadiusUnit::Pixels => self.radius_px,
            RadiusUnit::World => self.radius_world / metres_per_px.max(f32::MIN_POSITIVE),
        }
    }

    /// Radius in the world, metres, where a pixel is `metres_per_px`.
    pub fn radius_in_world(&self, metres_per_px: f32) -> f32 {
        match self.radius_unit {
            RadiusUnit::Pixels => self.radius_px * metres_per_px,
            RadiusUnit::World => self.radius_world,
        }
    }

    /// Scales the radius by a factor, within its range.
    pub fn scale_radius(&mut self, factor: f32) {
        let (radius, range) = match self.radius_unit {
            RadiusUnit::Pixels => (&mut self.radius_px, Self::RADIUS_PX),
            RadiusUnit::World => (&mut self.radius_world, Self::RADIUS_WORLD),
        };
        *radius = (*radius * factor).clamp(*range.start(), *range.end());
    }

    /// These options with every number clamped to its range.
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
