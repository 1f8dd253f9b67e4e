//! The ranges of morph weights: a file stores a weight as its fraction of the range of its displacement, in 8 or 16 bits.

use crate::bake::problem::Problem;
use crate::math::Worse;

/// The bytes of a weight in the file: a normalised integer of 16 bits or 8.
pub(super) const BYTES_OF_U16: f64 = 2.0;
pub(super) const BYTES_OF_U8: f64 = 1.0;
/// The steps of a normalised 8-bit integer.
const BYTE_STEPS: f64 = 255.0;
/// A fraction within this many steps of a normalised integer counts as equal to it.
const SAME_STEP: f64 = 1e-3;
/// Half the quantisation step of a normalised 16-bit integer.
const HALF_STEP: f64 = 0.5 / 32767.0;
/// The rounding error of a displacement in 16 bits may reach this fraction of the tolerance.
const ROUNDING_SHARE: f64 = 0.03;

/// The lowest weight of a displacement, and the range above it. A target is the displacement times the range; its weight in
/// the file is the fraction of the range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct WeightRange {
    /// 0 where fractions have signs.
    pub(crate) lowest: f64,
    pub(crate) range: f64,
    /// Whether fractions are within -1 - 1, or else within 0 - 1.
    is_signed: bool,
}

/// The ranges of the displacements of a mesh.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TargetRanges {
    /// By displacement: its range times the scale.
    pub(crate) by_displacement: Vec<WeightRange>,
    /// The factor of the targets, by which their weights are divided.
    pub(crate) scale: f64,
}

impl Default for TargetRanges {
    fn default() -> Self {
        Self {
            by_displacement: Vec::new(),
            scale: 1.0,
        }
    }
}

impl Problem<'_> {
    /// The ranges with a scale above 1 where displacements in 16 bits would not be precise enough without it. `largest`: by
    /// displacement, its largest absolute component; `unit_scale`: the scale from bind space to the world.
    pub(crate) fn target_ranges(
        &self,
        ranges: Vec<WeightRange>,
        largest: &[f64],
        unit_scale: f64,
    ) -> TargetRanges {
        if !self.options.quantize {
            return TargetRanges {
                by_displacement: ranges,
                scale: 1.0,
            };
        }
        let products = ranges
            .iter()
            .zip(largest)
            .map(|(r, largest)| r.range * largest);
        let most = products.fold(0.0, f64::worse).recip();
        let scale = scale_for(ROUNDING_SHARE * self.tolerance / unit_scale, most);
        let scaled = ranges.into_iter().map(|range| WeightRange {
            range: range.range * scale,
            ..range
        });
        TargetRanges {
            by_displacement: scaled.collect(),
            scale,
        }
    }
}

/// The smallest scale of at least 1 at which displacements are rounded by at most `rounding`, but at most `most` (and 255); its
/// inverse is a normalised 8-bit integer.
fn scale_for(rounding: f64, most: f64) -> f64 {
    let needed = (BYTE_STEPS * rounding / HALF_STEP).floor();
    let allowed = (BYTE_STEPS / most).ceil();
    BYTE_STEPS / needed.max(allowed).clamp(1.0, BYTE_STEPS)
}

impl WeightRange {
    /// The range of some weights and 0.
    pub(crate) fn of(weights: impl Iterator<Item = f64> + Clone, is_signed: bool) -> Self {
        let low = weights.clone().fold(0.0, f64::min);
        let high = weights.fold(0.0, f64::max);
        let (lowest, range) = if is_signed {
            (0.0, high.max(-low))
        } else {
            (low, high - low)
        };
        Self {
            lowest,
            // A displacement of constant weight 0: any range will do.
            range: if range > 0.0 { range } else { 1.0 },
            is_signed,
        }
    }

    /// The fraction of a weight.
    pub(crate) fn fraction(self, weight: f64) -> f64 {
        (weight - self.lowest) / self.range
    }

    /// The weight within the range that is nearest to `weight`.
    pub(crate) fn clamped(self, weight: f64) -> f64 {
        let below = if self.is_signed { self.range } else { 0.0 };
        weight.clamp(self.lowest - below, self.lowest + self.range)
    }

    /// The nearest weight whose fraction is a normalised 8-bit integer.
    pub(crate) fn in_bytes(self, weight: f64) -> f64 {
        self.lowest + self.range * nearest_byte(self.fraction(weight))
    }
}

/// The nearest normalised 8-bit integer.
pub(crate) fn nearest_byte(fraction: f64) -> f64 {
    (fraction * BYTE_STEPS).round().clamp(0.0, BYTE_STEPS) / BYTE_STEPS
}

/// Whether a fraction is a normalised 8-bit integer.
pub(crate) fn is_byte(fraction: f64) -> bool {
    (fraction - nearest_byte(fraction)).abs() * BYTE_STEPS < SAME_STEP
}

/// The bytes of each weight of a track with these rows of weights.
pub(super) fn bytes_of_weight<'a>(
    mut rows: impl Iterator<Item = &'a [f64]>,
    ranges: &[WeightRange],
) -> f64 {
    let are_bytes = |row: &[f64]| {
        let mut pairs = row.iter().zip(ranges);
        pairs.all(|(&w, range)| is_byte(range.fraction(w)))
    };
    if rows.all(are_bytes) {
        BYTES_OF_U8
    } else {
        BYTES_OF_U16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_holds_its_weights_and_0() {
        let of = |weights: &[f64], is_signed| {
            let range = WeightRange::of(weights.iter().copied(), is_signed);
            (range.lowest, range.range)
        };
        assert_eq!(of(&[0.5, 2.0], false), (0.0, 2.0));
        assert_eq!(of(&[-1.0, 2.0], false), (-1.0, 3.0));
        assert_eq!(of(&[-3.0, 2.0], true), (0.0, 3.0));
        assert_eq!(of(&[0.0], false), (0.0, 1.0));
    }

    #[test]
    fn weights_stay_within_their_range() {
        let clamped = |is_signed: bool| {
            let range = WeightRange::of([-2.0, 1.0].into_iter(), is_signed);
            [-7.0, -2.0, 0.5, 7.0].map(|w| range.clamped(w))
        };
        assert_eq!(clamped(false), [-2.0, -2.0, 0.5, 1.0]);
        assert_eq!(clamped(true), [-2.0, -2.0, 0.5, 2.0]);
    }

    #[test]
    fn weights_are_rounded_to_bytes_of_their_range() {
        let range = WeightRange::of([-1.0, 1.0].into_iter(), false);
        for (weight, byte) in [(-1.0, 0.0), (0.0, 128.0), (0.99, 254.0), (7.0, 255.0)] {
            let rounded = range.in_bytes(weight);
            assert!((range.fraction(rounded) - byte / 255.0).abs() < 1e-12);
            assert!(is_byte(range.fraction(rounded)));
        }
        for other in [0.5, 1.1, -0.1, f64::NAN] {
            assert!(!is_byte(other), "{other}");
        }
    }

    #[test]
    fn targets_are_scaled_as_far_as_16_bits_need_and_allow() {
        let free = f64::INFINITY;
        assert_eq!(scale_for(1.0, free), 1.0);
        assert_eq!(scale_for(HALF_STEP, free), 1.0);
        // Half of the rounding takes twice the scale; its inverse is 127 of 255.
        let scale = scale_for(0.5 * HALF_STEP, free);
        assert_eq!(scale, 255.0 / 127.0);
        assert!(is_byte(1.0 / scale));
        assert_eq!(scale_for(0.0, free), 255.0);
        // Components stay within 1 where they can.
        assert_eq!(scale_for(0.0, 1.5), 255.0 / 170.0);
        assert_eq!(scale_for(0.0, 0.5), 1.0);
    }
}
