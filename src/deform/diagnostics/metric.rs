//! The metrics and their units.

use serde::{Deserialize, Serialize};

/// A quality of a deformation that has a value at each point of the surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// The increase of the distance from the bones, relative to the rest distance.
    Bulge,
    /// The relative change of length of an edge at the point.
    EdgeStrain,
    /// The change of area of the faces around the point, base-2 logarithm.
    AreaChange,
    /// The change of the correction along an edge, relative to its length.
    Discontinuity,
    /// The change of the deformation gradient between neighbouring faces.
    Crease,
    /// Whether a face at the point is inverted.
    FoldOver,
    /// The angle between the shaded normal and the normal of the surface.
    NormalError,
    /// The distance to the result of another stack.
    Difference,
    /// The signed distance to a scan of the person, which is measured once, not with every deformation.
    ScanDistance,
}

/// The range of a legend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The lower end; smaller values have its colour.
    pub low: f32,
    /// The ideal value: the middle of a diverging ramp (`low < neutral`), else equal to `low`.
    pub neutral: f32,
    /// The upper end; larger values have its colour.
    pub high: f32,
}

impl Range {
    /// Whether values lie on both sides of the ideal.
    pub fn is_diverging(self) -> bool {
        self.low < self.neutral
    }

    /// The place of `value` on the ramp: -1 at the lower end, 0 at the ideal, 1 at the upper end; NaN stays NaN.
    pub fn place(self, value: f32) -> f32 {
        let from_neutral = value - self.neutral;
        let span = if from_neutral < 0.0 {
            self.neutral - self.low
        } else {
            self.high - self.neutral
        };
        if value.is_nan() {
            return f32::NAN;
        }
        if span > 0.0 {
            (from_neutral / span).clamp(-1.0, 1.0)
        } else {
            // A range without extent has only its ideal and values beyond.
            f32::from(from_neutral > 0.0) - f32::from(from_neutral < 0.0)
        }
    }
}

impl Metric {
    /// Those that a deformation has by itself, in the order of lists: all but [`Metric::ScanDistance`].
    pub const ALL: [Self; 8] = [
        Self::Bulge,
        Self::EdgeStrain,
        Self::AreaChange,
        Self::Discontinuity,
        Self::Crease,
        Self::FoldOver,
        Self::NormalError,
        Self::Difference,
    ];

    /// Its name in lists.
    pub fn label(self) -> &'static str {
        match self {
            Self::Bulge => "Bulge",
            Self::EdgeStrain => "Edge strain",
            Self::AreaChange => "Area change",
            Self::Discontinuity => "Discontinuity",
            Self::Crease => "Crease",
            Self::FoldOver => "Fold-over",
            Self::NormalError => "Normal error",
            Self::Difference => "Difference",
            Self::ScanDistance => "Distance to scan",
        }
    }

    /// Its name on the command line and in files.
    pub fn key(self) -> &'static str {
        match self {
            Self::Bulge => "bulge",
            Self::EdgeStrain => "strain",
            Self::AreaChange => "area",
            Self::Discontinuity => "discontinuity",
            Self::Crease => "crease",
            Self::FoldOver => "fold",
            Self::NormalError => "normals",
            Self::Difference => "difference",
            Self::ScanDistance => "scan",
        }
    }

    /// The metric of a [`Metric::key`].
    pub fn of_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|m| m.key() == key)
    }

    /// A sentence about it, for tooltips.
    pub fn description(self) -> &'static str {
        match self {
            Self::Bulge => {
                "Change of a vertex's distance from its bones, compared to the rest pose. Positive: the skin bulges. \
                 Negative: it is pinched."
            }
            Self::EdgeStrain => {
                "Change of edge length from the rest pose. A vertex shows its worst edge."
            }
            Self::AreaChange => {
                "Change of the area around a vertex from the rest pose: +1 is twice the area, -1 is half."
            }
            Self::Discontinuity => {
                "Change of the corrections along an edge, divided by the edge length. Smooth corrections stay below 1.5. \
                 Above 2 the surface begins to tear."
            }
            Self::Crease => {
                "Change of stretch and rotation from one face to the next. High values are creases that the rest pose does \
                 not have."
            }
            Self::FoldOver => "Faces that are inside out, as on the inner side of a sharp bend.",
            Self::NormalError => {
                "Angle between the shading normals and the normals of the deformed surface."
            }
            Self::Difference => {
                "Distance of each vertex from its position under the other deformer stack."
            }
            Self::ScanDistance => {
                "Distance from each vertex to the scan of the person. Positive: the scan lies outside of the body there. \
                 Negative: inside."
            }
        }
    }

    /// The default range of its legend. `diagonal`: of the bounding box of the model at rest, metres.
    pub fn range(self, diagonal: f32) -> Range {
        let range = |low, neutral, high| Range { low, neutral, high };
        match self {
            Self::Bulge => range(-0.2, 0.0, 0.2),
            Self::EdgeStrain => range(-0.5, 0.0, 1.0),
            Self::AreaChange => range(-1.0, 0.0, 1.0),
            Self::Discontinuity => range(0.0, 0.0, 4.0),
            Self::Crease => range(0.0, 0.0, 2.0),
            Self::FoldOver => range(0.0, 0.0, 1.0),
            Self::NormalError => range(0.0, 0.0, 30.0),
            Self::Difference => range(0.0, 0.0, 0.02 * diagonal.max(0.0)),
            // Its lines are 5 mm apart.
            Self::ScanDistance => range(-0.02, 0.0, 0.02),
        }
    }

    /// Thresholds of a table's row, amber and red; `None` where a number alone is no fault.
    pub fn thresholds(self) -> Option<[f32; 2]> {
        match self {
            Self::Discontinuity => Some([2.0, 4.0]),
            _ => None,
        }
    }

    /// The unit of the values themselves; empty for a plain ratio.
    pub fn unit(self) -> &'static str {
        match self {
            Self::AreaChange => "log2",
            Self::NormalError => "degrees",
            Self::Difference | Self::ScanDistance => "metres",
            _ => "",
        }
    }

    /// How values are shown: the factor, the number of decimals, the unit. Ratios are shown in per cent, lengths in
    /// millimetres.
    pub fn shown(self) -> (f32, usize, &'static str) {
        match self {
            Self::Bulge | Self::EdgeStrain => (100.0, 1, "%"),
            Self::AreaChange => (1.0, 2, "doublings"),
            Self::Discontinuity | Self::Crease => (1.0, 2, ""),
            Self::FoldOver => (1.0, 0, ""),
            Self::NormalError => (1.0, 1, "°"),
            Self::Difference => (1000.0, 2, "mm"),
            Self::ScanDistance => (1000.0, 1, "mm"),
        }
    }

    /// A value as text, with its unit and, where values have two signs, its sign: "+12.3 %".
    pub fn format(self, value: f32) -> String {
        let number = self.number(value);
        match self.shown().2 {
            _ if !value.is_finite() => number,
            "" => number,
            "°" => format!("{number}°"),
            unit => format!("{number} {unit}"),
        }
    }

    /// A value without its unit, such as "+12.3"; "-" for NaN, which is undefined, and "not finite" for infinity.
    pub fn number(self, value: f32) -> String {
        if value.is_nan() {
            return "-".into();
        }
        if value.is_infinite() {
            return "not finite".into();
        }
        let (factor, decimals, _) = self.shown();
        let value = value * factor;
        // A value that rounds to 0 has no sign.
        let is_zero = value.abs() < 0.5 * 10f32.powi(-(decimals as i32));
        let value = if is_zero { 0.0 } else { value };
        if self.range(1.0).is_diverging() && !is_zero {
            format!("{value:+.decimals$}")
        } else {
            format!("{value:.decimals$}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_placed_between_the_ends() {
        let strain = Metric::EdgeStrain.range(1.0);
        assert!(strain.is_diverging());
        for (value, place) in [
            (-0.25, -0.5),
            (0.0, 0.0),
            (0.5, 0.5),
            (7.0, 1.0),
            (-9.0, -1.0),
        ] {
            assert_eq!(strain.place(value), place);
        }
        assert!(strain.place(f32::NAN).is_nan());
        assert!(!Metric::Difference.range(2.0).is_diverging());
        assert_eq!(Metric::Difference.range(0.0).place(0.1), 1.0);
    }

    #[test]
    fn values_are_shown_with_sign_and_unit() {
        assert_eq!(Metric::Bulge.format(0.1234), "+12.3 %");
        assert_eq!(Metric::NormalError.format(3.04), "3.0°");
        assert_eq!(Metric::Difference.format(0.0015), "1.50 mm");
        assert_eq!(Metric::Bulge.format(f32::NAN), "-");
        assert_eq!(Metric::Bulge.format(f32::INFINITY), "not finite");
        assert_eq!(Metric::Bulge.format(-0.0003), "0.0 %");
        assert_eq!(Metric::FoldOver.format(1.0), "1");
        assert_eq!(Metric::ScanDistance.format(-0.0031), "-3.1 mm");
        for metric in Metric::ALL {
            assert_eq!(Metric::of_key(metric.key()), Some(metric));
        }
    }
}
