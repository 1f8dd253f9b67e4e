//! The colours of heat maps: metric values on a surface.
//!
//! Invariant: the colour stops are defined once; the shader gets them as a uniform.

use super::heat::{DIVERGING, Ramp, Stops, hex};
use crate::deform::diagnostics::{Metric, Range, Summary};

/// The GPU value that means "no value".
pub(crate) const NO_VALUE: f32 = 1e30;

/// A light neutral through amber to red: lightness falls evenly.
const SEQUENTIAL: Stops = [
    hex(0xDEDDDA),
    hex(0xE9D6AE),
    hex(0xEEC883),
    hex(0xECB65C),
    hex(0xE8A33D),
    hex(0xDB7C34),
    hex(0xC8542F),
    hex(0xAB2E2C),
    hex(0x861A2A),
];

/// Background and stripes of the "no value" hatch.
const HATCH: [[f32; 3]; 2] = [hex(0x75787A), hex(0x5C5E61)];

/// The colour scale of a metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeatScale {
    /// The metric.
    pub metric: Metric,
    /// The range of values that the colours span.
    pub range: Range,
}

impl Default for HeatScale {
    fn default() -> Self {
        Self::new(Metric::Bulge, 1.0)
    }
}

impl HeatScale {
    /// The default range of a metric. `diagonal`: of the bounding box at rest, metres.
    pub fn new(metric: Metric, diagonal: f32) -> Self {
        let mut range = metric.range(diagonal);
        // A model without extent: any difference is outside the range.
        range.high = range.high.max(range.neutral + 1e-9);
        Self { metric, range }
    }

    /// The colours from the lower end to the upper one, evenly spaced, sRGB 0 to 1.
    pub fn stops(&self) -> &'static Stops {
        if self.range.is_diverging() {
            &DIVERGING
        } else {
            &SEQUENTIAL
        }
    }

    /// Background and stripes of the "no value" hatch, sRGB 0 to 1.
    pub fn hatch(&self) -> [[f32; 3]; 2] {
        HATCH
    }

    /// The position of a value on the ramp: 0 at the lower end, 1 at the upper, outside beyond them; `None` without a
    /// value.
    pub fn place(&self, value: f32) -> Option<f32> {
        if value.is_nan() {
            return None;
        }
        let Range { low, neutral, high } = self.range;
        let from = value - neutral;
        Some(match (self.range.is_diverging(), from < 0.0) {
            (true, true) => 0.5 + 0.5 * from / (neutral - low),
            (true, false) => 0.5 + 0.5 * from / (high - neutral),
            (false, _) => from / (high - neutral),
        })
    }

    /// The colour of a value, sRGB 0 to 1; `None` without a value, drawn as a hatch. Values outside the range get the
    /// colour of the nearest end, with stripes.
    pub fn color(&self, value: f32) -> Option<[f32; 3]> {
        let place = self.place(value)?.clamp(0.0, 1.0);
        let stops = self.stops();
        let x = place * 8.0;
        let i = (x as usize).min(7);
        let t = x - i as f32;
        Some(std::array::from_fn(|c| {
            stops[i][c] + (stops[i + 1][c] - stops[i][c]) * t
        }))
    }

    /// The distance of the isolines: a round number in the metric's unit; 0 for no lines.
    pub fn step(&self) -> f32 {
        if self.metric == Metric::FoldOver {
            return 0.0;
        }
        let (factor, ..) = self.metric.shown();
        let span = (self.range.high - self.range.neutral) * factor;
        round_step(span / 4.0) / factor
    }

    /// The title of the legend: metric and unit.
    pub fn title(&self) -> String {
        let (_, _, unit) = self.metric.shown();
        if unit.is_empty() {
            self.metric.label().to_owned()
        } else {
            format!("{}, {unit}", self.metric.label())
        }
    }

    /// The meaning of the colours in a sentence, for pictures without a legend.
    pub fn caption(&self) -> String {
        let Range { low, neutral, high } = self.range;
        let text = |value: f32| self.metric.format(value);
        let name = self.metric.label();
        if self.metric == Metric::FoldOver {
            format!("{name}: light none, red folded")
        } else if self.range.is_diverging() {
            format!(
                "{name}: blue {}, light {}, red {}",
                text(low),
                text(neutral),
                text(high)
            )
        } else {
            let middle = neutral + 0.5 * (high - neutral);
            format!(
                "{name}: light {}, amber {}, red {}",
                text(neutral),
                text(middle),
                text(high)
            )
        }
    }

    /// The ticks of the legend from the lower end: position on the ramp, 0 to 1, and label.
    pub fn ticks(&self) -> Vec<(f32, String)> {
        if self.metric == Metric::FoldOver {
            return vec![(0.0, "none".into()), (1.0, "folded".into())];
        }
        let Range { low, neutral, high } = self.range;
        let step = self.step();
        if step <= 0.0 || !step.is_finite() {
            return Vec::new();
        }
        let slack = 1.0 + 1e-4;
        let below = ((neutral - low) / step * slack).floor() as i32;
        let above = ((high - neutral) / step * slack).floor() as i32;
        let (factor, ..) = self.metric.shown();
        let decimals = decimals(step * factor);
        (-below.clamp(0, 16)..=above.clamp(0, 16))
            .filter_map(|i| {
                let value = neutral + i as f32 * step;
                let shown = value * factor;
                let text = match (self.range.is_diverging(), i) {
                    (_, 0) => "0".to_owned(),
                    (true, _) => format!("{shown:+.decimals$}"),
                    (false, _) => format!("{shown:.decimals$}"),
                };
                Some((self.place(value)?.clamp(0.0, 1.0), text))
            })
            .collect()
    }
}

/// The colour scale of recorded data on a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DataScale {
    range: [f32; 2],
}

impl DataScale {
    /// The scale of a range that ascends; one that does not has the colour of its lower end everywhere.
    pub fn new([low, high]: [f32; 2]) -> Self {
        Self {
            range: [low, high.max(low + 1e-9 * low.abs().max(1e-9))],
        }
    }

    /// The values at both ends.
    pub fn range(&self) -> [f32; 2] {
        self.range
    }

    /// The colours from the lower end to the upper one, evenly spaced, sRGB 0 to 1: lightness rises evenly.
    pub fn stops(&self) -> &'static Stops {
        Ramp::Perceptual.stops()
    }

    /// Background and stripes of the "no value" hatch, sRGB 0 to 1.
    pub fn hatch(&self) -> [[f32; 3]; 2] {
        HATCH
    }

    /// The distance of the isolines: a round number.
    pub fn step(&self) -> f32 {
        let [low, high] = self.range;
        round_step((high - low) / 4.0)
    }

    /// The ticks of the legend from the lower end: position on the ramp, 0 to 1, and label.
    pub fn ticks(&self) -> Vec<(f32, String)> {
        let [low, high] = self.range;
        let step = self.step();
        if step <= 0.0 || !step.is_finite() {
            return Vec::new();
        }
        let decimals = decimals(step);
        let first = (low / step - 1e-3).ceil();
        let values = (0..32).map(|i| (first + i as f32) * step);
        let values = values.take_while(|value| *value <= high + 1e-3 * step);
        let ticks = values.map(|value| {
            let place = ((value - low) / (high - low)).clamp(0.0, 1.0);
            // No tick says "-0".
            (place, format!("{:.decimals$}", value + 0.0))
        });
        ticks.collect()
    }
}

/// The text of the worst value.
pub fn worst_text(metric: Metric, value: f32) -> String {
    match metric {
        Metric::FoldOver if value.is_infinite() => metric.format(value),
        Metric::FoldOver if value > 0.0 => "folded".to_owned(),
        Metric::FoldOver => "no folds".to_owned(),
        _ => metric.format(value),
    }
}

/// The verdict on a value beyond a threshold, and whether it is the worse one.
pub fn verdict(metric: Metric, value: f32) -> Option<(&'static str, bool)> {
    let [amber, red] = metric.thresholds()?;
    if value >= red {
        Some(("tears", true))
    } else if value >= amber {
        Some(("nearly tears", false))
    } else {
        None
    }
}

/// The statistics beside a heat map, with their names: the 99th percentile first, which one odd vertex does not change.
pub fn figures_of(metric: Metric, summary: &Summary) -> Vec<(&'static str, String)> {
    if summary.n == 0 {
        return vec![("no value", String::new())];
    }
    let format = |value: f32| metric.format(value);
    // RMS has no sign.
    let rms = if summary.rms.is_infinite() {
        format(summary.rms)
    } else {
        let (factor, decimals, unit) = metric.shown();
        let gap = if unit.is_empty() || unit == "°" {
            ""
        } else {
            " "
        };
        format!("{:.decimals$}{gap}{unit}", summary.rms * factor)
    };
    if metric == Metric::FoldOver {
        // Values are 0 and 1: their mean square is the fraction of ones.
        let share = summary.rms * summary.rms * 100.0;
        let share = if share.is_infinite() {
            rms
        } else {
            format!("{share:.2} %")
        };
        return vec![("vertices", share)];
    }
    if metric.range(1.0).is_diverging() {
        vec![
            ("p99", format(summary.p99)),
            ("max", format(summary.max)),
            ("min", format(summary.min)),
            ("rms", rms),
        ]
    } else {
        vec![
            ("p99", format(summary.p99)),
            ("max", format(summary.max)),
            ("rms", rms),
        ]
    }
}

/// The value as uploaded.
pub(crate) fn as_uploaded(value: f32) -> f32 {
    if value.is_nan() {
        NO_VALUE
    } else {
        value.clamp(-1e20, 1e20)
    }
}

/// The smallest of 1, 2, 2.5, 5 times a power of ten that is at least `least`.
fn round_step(least: f32) -> f32 {
    if !(least.is_finite() && least > 0.0) {
        return 0.0;
    }
    let power = 10f32.powf(least.log10().floor());
    [1.0, 2.0, 2.5, 5.0, 10.0]
        .into_iter()
        .map(|nice| nice * power)
        .find(|step| *step >= least * 0.999)
        .unwrap_or(10.0 * power)
}

/// The number of decimals that multiples of `step` need.
fn decimals(step: f32) -> usize {
    (0..6)
        .find(|&n| {
            let scaled = step * 10f32.powi(n);
            (scaled - scaled.round()).abs() < 1e-3 * scaled.abs().max(1.0)
        })
        .map_or(6, |n| n as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linear(c: [f32; 3]) -> [f32; 3] {
        c.map(|c| {
            if c <= 0.04045 {
                c / 12.92
            } else {
                ((c + 0.055) / 1.055).powf(2.4)
            }
        })
    }

    /// CIE L*.
    fn lightness(c: [f32; 3]) -> f32 {
        let [r, g, b] = linear(c);
        let y = 0.2126 * r + 0.7152 * g + 0.0722 * b;
        116.0 * y.cbrt() - 16.0
    }

    /// How a deuteranope and a protanope see a linear colour (Viénot, Brettel, Mollon 1999).
    fn without_red_green(c: [f32; 3]) -> [[f32; 3]; 2] {
        let [r, g, b] = linear(c);
        let deutan = 0.292_75 * r + 0.707_25 * g;
        let protan = 0.112_38 * r + 0.887_62 * g;
        [
            [deutan, deutan, -0.022_34 * r + 0.022_34 * g + b],
            [protan, protan, 0.004_01 * r - 0.004_01 * g + b],
        ]
    }

    #[test]
    fn lightness_falls_evenly_from_what_is_in_order() {
        for metric in Metric::ALL {
            let scale = HeatScale::new(metric, 2.0);
            let Range { low, neutral, high } = scale.range;
            for end in [low, high].into_iter().filter(|end| *end != neutral) {
                let steps: Vec<f32> = (0..=32)
                    .map(|i| neutral + (end - neutral) * i as f32 / 32.0)
                    .filter_map(|v| scale.color(v))
                    .map(lightness)
                    .collect();
                let falls: Vec<f32> = steps.windows(2).map(|w| w[0] - w[1]).collect();
                let mean = (steps[0] - steps[32]) / 32.0;
                assert!(mean > 1.2, "{metric:?}: {steps:?}");
                let even = falls.iter().all(|f| *f > 0.2 * mean && *f < 2.5 * mean);
                assert!(even, "{metric:?} to {end}: {falls:?}");
            }
        }
    }

    #[test]
    fn both_signs_look_different_to_colour_blind_eyes() {
        let scale = HeatScale::new(Metric::Bulge, 1.0);
        for value in [0.05, 0.1, 0.2] {
            let plus = without_red_green(scale.color(value).unwrap());
            let minus = without_red_green(scale.color(-value).unwrap());
            for (plus, minus) in plus.into_iter().zip(minus) {
                // Towards blue against towards yellow.
                let hue = |c: [f32; 3]| (c[2] - c[0]) / (c[0] + c[1] + c[2]);
                let gap = hue(minus) - hue(plus);
                assert!(gap > 0.15, "{value}: {gap}");
            }
        }
    }

    #[test]
    fn ends_thresholds_and_middle_have_their_colours() {
        // As displayed: constants and arithmetic may differ in their last bit.
        let shown = |c: Option<[f32; 3]>| c.map(|c| c.map(|v| (v * 255.0).round()));
        let bulge = HeatScale::new(Metric::Bulge, 1.0);
        assert_eq!(shown(bulge.color(0.0)), shown(Some(DIVERGING[4])));
        assert_eq!(shown(bulge.color(-0.2)), shown(Some(DIVERGING[0])));
        assert_eq!(shown(bulge.color(9.0)), shown(Some(DIVERGING[8])));
        assert_eq!(bulge.color(f32::NAN), None);
        assert_eq!(bulge.place(0.4), Some(1.5), "beyond the range");
        let jump = HeatScale::new(Metric::Discontinuity, 1.0);
        let [amber, red] = Metric::Discontinuity.thresholds().unwrap();
        assert_eq!(shown(jump.color(amber)), shown(Some(hex(0xE8A33D))));
        assert_eq!(shown(jump.color(red)), shown(Some(SEQUENTIAL[8])));
        assert_eq!(as_uploaded(f32::NAN), NO_VALUE);
    }

    #[test]
    fn marks_are_round_numbers_in_the_unit_that_the_title_names() {
        let texts = |metric, diagonal| {
            let ticks = HeatScale::new(metric, diagonal).ticks();
            assert!(ticks.windows(2).all(|w| w[0].0 < w[1].0));
            let texts: Vec<String> = ticks.into_iter().map(|t| t.1).collect();
            texts.join(" ")
        };
        assert_eq!(texts(Metric::Bulge, 1.0), "-20 -15 -10 -5 0 +5 +10 +15 +20");
        assert_eq!(texts(Metric::EdgeStrain, 1.0), "-50 -25 0 +25 +50 +75 +100");
        assert_eq!(
            texts(Metric::AreaChange, 1.0),
            "-1.00 -0.75 -0.50 -0.25 0 +0.25 +0.50 +0.75 +1.00"
        );
        assert_eq!(texts(Metric::Discontinuity, 1.0), "0 1 2 3 4");
        assert_eq!(texts(Metric::Crease, 1.0), "0 0.5 1.0 1.5 2.0");
        assert_eq!(texts(Metric::FoldOver, 1.0), "none folded");
        assert_eq!(texts(Metric::NormalError, 1.0), "0 10 20 30");
        assert_eq!(texts(Metric::Difference, 1.83), "0 10 20 30");
        assert_eq!(texts(Metric::Difference, 0.0031), "0 0.02 0.04 0.06");
        assert_eq!(HeatScale::new(Metric::Bulge, 1.0).title(), "Bulge, %");
        assert_eq!(HeatScale::new(Metric::Crease, 1.0).title(), "Crease");
        // A model without extent still has a legend.
        assert!(HeatScale::new(Metric::Difference, 0.0).ticks().len() < 20);
    }

    #[test]
    fn recorded_data_has_round_ticks_within_its_range() {
        let texts = |range| {
            let ticks = DataScale::new(range).ticks().into_iter();
            ticks.map(|tick| tick.1).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(texts([0.0, 30.0]), "0 10 20 30");
        assert_eq!(texts([-0.5, 0.5]), "-0.50 -0.25 0.00 0.25 0.50");
        assert_eq!(texts([2.0, 2.0]).split(' ').count(), 1);
    }

    #[test]
    fn numbers_have_units_and_signs() {
        let summary = Summary {
            n: 100,
            max: 0.123,
            min: -0.31,
            p99: 0.08,
            rms: 0.0312,
            ..Summary::default()
        };
        let text = |metric| {
            let rows = figures_of(metric, &summary);
            let rows = rows.iter().map(|(name, value)| format!("{name} {value}"));
            rows.collect::<Vec<_>>().join(", ")
        };
        assert_eq!(
            text(Metric::Bulge),
            "p99 +8.0 %, max +12.3 %, min -31.0 %, rms 3.1 %"
        );
        assert_eq!(text(Metric::NormalError), "p99 0.1°, max 0.1°, rms 0.0°");
        assert_eq!(text(Metric::Crease), "p99 0.08, max 0.12, rms 0.03");
        assert_eq!(text(Metric::FoldOver), "vertices 0.10 %");
        assert_eq!(figures_of(Metric::Bulge, &Summary::default()).len(), 1);
        let broken = Summary::of(&[0.0, f32::INFINITY]);
        for metric in Metric::ALL {
            let rows = figures_of(metric, &broken);
            let said = rows.iter().filter(|(_, value)| value == "not finite");
            assert!(said.count() > 0, "{metric:?}: {rows:?}");
            assert_eq!(worst_text(metric, f32::INFINITY), "not finite");
            assert_eq!(
                HeatScale::new(metric, 1.0).place(f32::INFINITY),
                Some(f32::INFINITY)
            );
        }
    }

    #[test]
    fn beyond_a_threshold_there_are_words() {
        assert_eq!(verdict(Metric::Discontinuity, 1.5), None);
        assert_eq!(
            verdict(Metric::Discontinuity, 2.0),
            Some(("nearly tears", false))
        );
        assert_eq!(verdict(Metric::Discontinuity, 9.0), Some(("tears", true)));
        assert_eq!(verdict(Metric::Bulge, 9.0), None);
        assert_eq!(worst_text(Metric::FoldOver, 0.0), "no folds");
    }
}
