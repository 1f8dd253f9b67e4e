//! Drivers: from an input to a signed amount, by normalisation, a curve and a gain.

use super::input::DriverInput;
use super::response_curve::{CurveSettings, ResponseCurve};
use super::sink::SinkSettings;
use crate::cluster::check::within;
use crate::cluster::fade::Fade;
use serde::{Deserialize, Serialize};

/// A driver: `gain * curve((x - from) / (to - from))` of its input x, in metres along the directions of its sink.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DriverSettings {
    /// What it reads.
    pub input: DriverInput,
    /// The input that counts as 0, in the input's unit.
    pub from: f64,
    /// The input that counts as 1; it may be below `from`.
    pub to: f64,
    /// What happens beyond 0 - 1.
    pub mode: Normalisation,
    /// The curve over the normalised input; `None` is a straight line.
    pub curve: Option<CurveSettings>,
    /// The amount at 1, metres.
    pub gain: f64,
    /// What happens while the input has no value.
    pub fade: Fade,
    /// What moves, and where to.
    pub sink: SinkSettings,
}

/// What happens to an input beyond its range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Normalisation {
    /// It stays at the end of the range.
    #[default]
    Clamp,
    /// It goes straight on.
    Extend,
    /// It starts again.
    Cycle,
}

impl Normalisation {
    /// All of them, in the order of lists.
    pub const ALL: [Self; 3] = [Self::Clamp, Self::Extend, Self::Cycle];

    /// Its name in lists.
    pub fn label(self) -> &'static str {
        match self {
            Self::Clamp => "Constant",
            Self::Extend => "Linear",
            Self::Cycle => "Cyclic",
        }
    }

    /// A sentence about it, for tooltips.
    pub fn about(self) -> &'static str {
        match self {
            Self::Clamp => "Beyond its range the input stays at the end of the range.",
            Self::Extend => "Beyond its range the response continues with the same slope.",
            Self::Cycle => "Beyond its range the response repeats.",
        }
    }

    /// Its name on the command line.
    pub fn key(self) -> &'static str {
        match self {
            Self::Clamp => "clamp",
            Self::Extend => "extend",
            Self::Cycle => "cycle",
        }
    }

    /// The normalised input `x`: within 0 - 1, unless extended.
    pub fn apply(self, x: f64) -> f64 {
        match self {
            Self::Clamp => x.clamp(0.0, 1.0),
            Self::Extend => x,
            // The remainder of a tiny negative number rounds to 1.
            Self::Cycle => match x.rem_euclid(1.0) {
                x if x < 1.0 => x,
                x if x.is_nan() => x,
                _ => 0.0,
            },
        }
    }
}

impl DriverSettings {
    /// An error that names a value out of its range.
    pub fn check(&self) -> Result<(), String> {
        self.input.check()?;
        within("the start of the driver's range", self.from, -1e9, 1e9)?;
        within("the end of the driver's range", self.to, -1e9, 1e9)?;
        if (self.to - self.from).abs() < 1e-9 {
            return Err(format!(
                "the end of the driver's range is {}, which is its start",
                self.to
            ));
        }
        if let Some(curve) = &self.curve {
            curve.check()?;
        }
        within("the gain of the driver", self.gain, -1e6, 1e6)?;
        self.fade.check()?;
        self.sink.check()
    }
}

/// A driver, ready to be evaluated.
#[derive(Clone, Debug, PartialEq)]
pub struct Driver {
    from: f64,
    range: f64,
    mode: Normalisation,
    curve: Option<ResponseCurve>,
    gain: f64,
}

impl Driver {
    /// Of settings that pass their check.
    pub fn new(settings: &DriverSettings) -> Result<Self, String> {
        settings.check()?;
        Ok(Self {
            from: settings.from,
            range: settings.to - settings.from,
            mode: settings.mode,
            curve: settings
                .curve
                .as_ref()
                .map(ResponseCurve::new)
                .transpose()?,
            gain: settings.gain,
        })
    }

    /// The amount for an input, metres; `None` where the input has no value or is absurdly large. A
    /// [`crate::cluster::fade::Guard`] turns that into what is shown.
    pub fn amount(&self, input: Option<f64>) -> Option<f64> {
        let x = self.mode.apply((input? - self.from) / self.range);
        let y = match (&self.curve, self.mode) {
            (None, _) => x,
            (Some(curve), Normalisation::Extend) => curve.extended(x),
            (Some(curve), _) => curve.at(x),
        };
        Some(self.gain * y).filter(|amount| amount.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::procedural::{SinkDirection, SinkMask};

    fn settings(mode: Normalisation) -> DriverSettings {
        DriverSettings {
            input: DriverInput::Time,
            from: 1.0,
            to: 3.0,
            mode,
            curve: None,
            gain: 10.0,
            fade: Fade::default(),
            sink: SinkSettings {
                direction: SinkDirection::Normal,
                mask: SinkMask::Painted,
            },
        }
    }

    #[test]
    fn inputs_are_clamped_extended_or_cycled() {
        let amounts = |mode| {
            let driver = Driver::new(&settings(mode)).unwrap();
            [0.0, 1.0, 2.0, 3.0, 3.5].map(|x| driver.amount(Some(x)).unwrap())
        };
        assert_eq!(amounts(Normalisation::Clamp), [0.0, 0.0, 5.0, 10.0, 10.0]);
        assert_eq!(amounts(Normalisation::Extend), [-5.0, 0.0, 5.0, 10.0, 12.5]);
        assert_eq!(amounts(Normalisation::Cycle), [5.0, 0.0, 5.0, 0.0, 2.5]);
        assert_eq!(Normalisation::Cycle.apply(-1e-20), 0.0);
    }

    #[test]
    fn the_curve_comes_after_and_goes_on_only_where_the_input_does() {
        let curve = Some(CurveSettings {
            keys: vec![[0.0, 0.0], [1.0, 0.5]],
            rest_offset: false,
        });
        let amount = |mode| {
            let settings = DriverSettings {
                curve: curve.clone(),
                ..settings(mode)
            };
            Driver::new(&settings).unwrap().amount(Some(5.0)).unwrap()
        };
        assert_eq!(amount(Normalisation::Clamp), 5.0);
        assert_eq!(amount(Normalisation::Extend), 10.0);
    }

    #[test]
    fn a_reversed_range_counts_down_and_no_range_is_refused() {
        let reversed = DriverSettings {
            from: 3.0,
            to: 1.0,
            ..settings(Normalisation::Clamp)
        };
        let driver = Driver::new(&reversed).unwrap();
        assert_eq!(driver.amount(Some(1.5)), Some(7.5));
        assert_eq!(driver.amount(None), None);
        assert_eq!(driver.amount(Some(f64::NAN)), None);
        let empty = DriverSettings {
            to: 3.0,
            ..reversed
        };
        assert_eq!(
            empty.check().unwrap_err(),
            "the end of the driver's range is 3, which is its start"
        );
        let loud = DriverSettings {
            gain: f64::INFINITY,
            ..settings(Normalisation::Clamp)
        };
        assert_eq!(
            loud.check().unwrap_err(),
            "the gain of the driver is inf, which is not -1000000 - 1000000"
        );
    }
}
