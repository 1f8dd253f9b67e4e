//! The colours of weights.
//!
//! Invariant: the stops are written down once; the shader gets them as a uniform.

/// Nine evenly spaced stops of viridis (van der Walt and Smith 2015), sRGB 0 - 1: dark purple, blue, teal, green, yellow.
///
/// Lightness rises evenly, so that equal steps of weight look equal, also in print and to colour-blind eyes.
pub const STOPS: [[f32; 3]; 9] = [
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

/// The colour of a weight, sRGB 0 - 1; `None` where there is no influence (zero, negative or NaN), which is hatched.
///
/// The stops are mixed linearly in sRGB, exactly as `shaders/mesh.frag` does.
pub fn ramp(weight: f32) -> Option<[f32; 3]> {
    let weight = as_uploaded(weight);
    if weight == 0.0 {
        return None;
    }
    let x = weight * 8.0;
    let i = (x as usize).min(7);
    let t = x - i as f32;
    Some(std::array::from_fn(|c| {
        STOPS[i][c] + (STOPS[i + 1][c] - STOPS[i][c]) * t
    }))
}

/// The weight as the GPU gets it: within 0..=1, 0 where there is no influence.
pub(crate) fn as_uploaded(weight: f32) -> f32 {
    // Also false for a NaN.
    if weight > 0.0 { weight.min(1.0) } else { 0.0 }
}

/// 0xRRGGBB as sRGB 0 - 1.
pub(crate) const fn hex(rgb: u32) -> [f32; 3] {
    [
        ((rgb >> 16) & 0xFF) as f32 / 255.0,
        ((rgb >> 8) & 0xFF) as f32 / 255.0,
        (rgb & 0xFF) as f32 / 255.0,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_and_middle_are_the_stops() {
        assert_eq!(ramp(1.0), Some(STOPS[8]));
        assert_eq!(ramp(0.5), Some(STOPS[4]));
        assert_eq!(ramp(7.0), Some(STOPS[8]));
    }

    #[test]
    fn no_influence_has_no_colour() {
        for weight in [0.0, -0.0, -1.0, f32::NAN] {
            assert_eq!(ramp(weight), None);
        }
    }

    #[test]
    fn lightness_rises_with_the_weight() {
        let luminance = |c: [f32; 3]| 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2];
        let steps: Vec<f32> = (1..=100)
            .filter_map(|i| ramp(i as f32 / 100.0))
            .map(luminance)
            .collect();
        assert!(steps.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
