//! The colours of weights.
//!
//! Invariant: the colour stops are defined once; the shader gets them as a uniform.

use glam::Vec3;
use serde::{Deserialize, Serialize};

/// The stops of a ramp, evenly spaced from weight 0 to 1, sRGB 0 to 1; colours between them are mixed linearly in
/// sRGB, exactly as in `shaders/mesh.frag`.
pub type Stops = [[f32; 3]; 9];

/// A colour ramp for weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Ramp {
    /// Viridis (van der Walt and Smith 2015): dark purple, blue, teal, green, yellow. Lightness rises evenly, so that
    /// equal steps of weight look equal, also in print and to colour-blind viewers.
    #[default]
    Perceptual,
    /// Blender's ramp: blue, cyan, green, yellow, red.
    Rainbow,
    /// Black to white.
    Grey,
}

impl Ramp {
    /// All ramps, the default first.
    pub const ALL: [Self; 3] = [Self::Perceptual, Self::Rainbow, Self::Grey];

    /// The name of the ramp.
    pub fn label(self) -> &'static str {
        match self {
            Self::Perceptual => "Perceptual",
            Self::Rainbow => "Rainbow",
            Self::Grey => "Greyscale",
        }
    }

    /// The colour stops.
    pub fn stops(self) -> &'static Stops {
        match self {
            Self::Perceptual => &PERCEPTUAL,
            Self::Rainbow => &RAINBOW,
            Self::Grey => &GREY,
        }
    }

    /// The colour of a weight, sRGB 0 to 1; `None` without influence (zero, negative or NaN), drawn as a hatch.
    pub fn color(self, weight: f32) -> Option<[f32; 3]> {
        let weight = as_uploaded(weight);
        if weight == 0.0 {
            return None;
        }
        Some(mixed(self.stops(), weight))
    }

    /// Background and stripes of the "no weight" hatch, sRGB 0 to 1: a grey that is not on the ramp, and a blue beside
    /// a grey ramp.
    pub fn hatch(self) -> [[f32; 3]; 2] {
        match self {
            Self::Perceptual | Self::Rainbow => [hex(0x75787A), hex(0x5C5E61)],
            Self::Grey => [hex(0x51688F), hex(0x394B6B)],
        }
    }
}

/// Blue through a light neutral to red (after ColorBrewer's RdBu, Brewer 2003): lightness falls evenly to both sides;
/// blue and orange-red stay distinct for colour-blind viewers.
pub(super) const DIVERGING: Stops = [
    hex(0x1F5FA8),
    hex(0x3F8BC4),
    hex(0x83B9DB),
    hex(0xBDD5E4),
    hex(0xDEDDDA),
    hex(0xF3C6A5),
    hex(0xEC9467),
    hex(0xD25A3C),
    hex(0xA81E2C),
];

const PERCEPTUAL: Stops = [
    hex(0x440154),
    hex(0x472D7B),
    hex(0x3B528B),
    hex(0x2C728E),
    hex(0x21908C),
    hex(0x27AD81),
    hex(0x5DC863),
    hex(0xAADC32),
    hex(0xFDE725),
];

/// Blender's weight colours at eighths: hue from blue to red, value from one half to one.
const RAINBOW: Stops = [
    hex(0x000080),
    hex(0x00488F),
    hex(0x009F9F),
    hex(0x00AF57),
    hex(0x00BF00),
    hex(0x68CF00),
    hex(0xDFDF00),
    hex(0xEF7800),
    hex(0xFF0000),
];

const GREY: Stops = [
    hex(0x0A0A0A),
    hex(0x292929),
    hex(0x474747),
    hex(0x656565),
    hex(0x838383),
    hex(0xA0A0A0),
    hex(0xBEBEBE),
    hex(0xDCDCDC),
    hex(0xFAFAFA),
];

/// The scale of weight sums: sums within the first number of 1 are normalised; beyond the second number the colour is
/// that of the end.
pub(crate) const SUM_SCALE: [f32; 2] = [crate::weights::repair::SUM_TOLERANCE, 0.5];

/// Minimum blend towards the end colour for a sum that is not normalised, so that small errors are visible.
const LEAST_OFF: f32 = 0.35;

/// The colours of sums, from too low through normalised to too high.
pub(crate) fn sum_stops() -> &'static Stops {
    &DIVERGING
}

/// The colour of a weight sum, sRGB 0 to 1; exactly as in `shaders/mesh.frag`.
pub fn sum_color(sum: f32) -> [f32; 3] {
    let off = sum - 1.0;
    let [tolerance, end] = SUM_SCALE;
    let part = if off.abs() <= tolerance {
        0.0
    } else {
        LEAST_OFF + (1.0 - LEAST_OFF) * (off.abs() / end).min(1.0)
    };
    mixed(sum_stops(), 0.5 + 0.5 * part * off.signum())
}

/// The colour of a number of influences from 1; above 8 that of 8.
pub fn count_color(ramp: Ramp, count: u8) -> [f32; 3] {
    mixed(ramp.stops(), (f32::from(count.clamp(1, 8)) - 1.0) / 7.0)
}

/// The colour at position 0 to 1 of a ramp.
fn mixed(stops: &Stops, place: f32) -> [f32; 3] {
    let x = place * 8.0;
    let i = (x as usize).min(7);
    let t = x - i as f32;
    std::array::from_fn(|c| stops[i][c] + (stops[i + 1][c] - stops[i][c]) * t)
}

/// The weight as uploaded: within 0..=1, 0 without influence.
pub(crate) fn as_uploaded(weight: f32) -> f32 {
    // Also false for NaN.
    if weight > 0.0 { weight.min(1.0) } else { 0.0 }
}

/// 0xRRGGBB as sRGB 0 to 1.
pub(crate) const fn hex(rgb: u32) -> [f32; 3] {
    [
        ((rgb >> 16) & 0xFF) as f32 / 255.0,
        ((rgb >> 8) & 0xFF) as f32 / 255.0,
        (rgb & 0xFF) as f32 / 255.0,
    ]
}

/// Converts an sRGB colour to linear values.
pub(crate) fn linear(srgb: [f32; 3]) -> Vec3 {
    Vec3::from(srgb.map(|c| {
        if c <= 0.04045 {
            c / 12.92
        } else {
            ((c + 0.055) / 1.055).powf(2.4)
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_and_middle_are_the_stops() {
        for ramp in Ramp::ALL {
            assert_eq!(ramp.color(1.0), Some(ramp.stops()[8]));
            assert_eq!(ramp.color(0.5), Some(ramp.stops()[4]));
            assert_eq!(ramp.color(7.0), Some(ramp.stops()[8]));
        }
    }

    #[test]
    fn a_small_fault_of_a_sum_is_seen_and_a_rounded_one_is_not() {
        let gap = |a: [f32; 3], b: [f32; 3]| (0..3).map(|c| (a[c] - b[c]).abs()).sum::<f32>();
        let fine = sum_color(1.0);
        assert_eq!(sum_color(1.0 + 1e-5), fine);
        for sum in [0.99, 1.01] {
            assert!(gap(sum_color(sum), fine) > 0.15, "{sum}");
        }
        assert!(sum_color(0.2)[2] > sum_color(0.2)[0], "too little is blue");
        assert!(sum_color(1.8)[0] > sum_color(1.8)[2], "too much is red");
        assert_eq!(
            count_color(Ramp::Perceptual, 9),
            Ramp::Perceptual.stops()[8]
        );
    }

    #[test]
    fn no_influence_has_no_colour() {
        for weight in [0.0, -0.0, -1.0, f32::NAN] {
            assert_eq!(Ramp::Perceptual.color(weight), None);
        }
    }

    #[test]
    fn lightness_rises_with_the_weight() {
        let luminance = |c: [f32; 3]| 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2];
        for ramp in [Ramp::Perceptual, Ramp::Grey] {
            let steps: Vec<f32> = (1..=100)
                .filter_map(|i| ramp.color(i as f32 / 100.0))
                .map(luminance)
                .collect();
            assert!(steps.windows(2).all(|pair| pair[0] < pair[1]), "{ramp:?}");
        }
    }

    #[test]
    fn the_rainbow_goes_from_blue_over_green_to_red() {
        let color = |w| Ramp::Rainbow.color(w).unwrap();
        assert!(color(0.01)[2] > 0.4 && color(0.5)[1] > 0.7 && color(1.0)[0] == 1.0);
    }

    #[test]
    fn the_hatch_is_no_colour_of_its_ramp() {
        for ramp in Ramp::ALL {
            for weight in (1..=200).map(|i| i as f32 / 200.0) {
                let color = ramp.color(weight).unwrap();
                for tone in ramp.hatch() {
                    let gap: f32 = (0..3).map(|c| (color[c] - tone[c]).abs()).sum();
                    assert!(gap > 0.12, "{ramp:?} {weight} {color:?} {tone:?}");
                }
            }
        }
    }

    #[test]
    fn linear_values_of_grey() {
        assert!(linear([0.0, 0.5, 1.0]).abs_diff_eq(Vec3::new(0.0, 0.21404, 1.0), 1e-5));
    }
}
