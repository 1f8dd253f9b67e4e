//! The envelope of a bulge: how much of it there is at an angle of the joint.

use super::response_curve::{CurveSettings, ResponseCurve};
use crate::cluster::check::within;
use crate::math::smootherstep;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// How a bulge grows with the angle of its joint. Angles are from bind, radians.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EnvelopeSettings {
    /// The angle at which the bulge begins, 0 or more, so that there is none at bind.
    pub start: f64,
    /// The angle at which it is complete.
    pub end: f64,
    /// Its course.
    pub shape: EnvelopeShape,
}

/// The course of an envelope.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum EnvelopeShape {
    /// [`smootherstep()`] from start to end.
    #[default]
    Smootherstep,
    /// A curve over the fraction 0 - 1 of the way from start to end.
    Curve(CurveSettings),
    /// The radial strain of a spindle of constant volume ([`spindle_strain`]); start and end do not matter, and the
    /// amplitude is the radius of the muscle.
    Spindle {
        /// The distance of the muscle's origin from the joint.
        origin: f64,
        /// The distance of its insertion, in the same unit.
        insertion: f64,
    },
}

impl Default for EnvelopeSettings {
    fn default() -> Self {
        Self {
            start: 0.0,
            end: 120f64.to_radians(),
            shape: EnvelopeShape::Smootherstep,
        }
    }
}

impl EnvelopeSettings {
    /// An error that names a value out of its range.
    pub fn check(&self) -> Result<(), String> {
        let (start, end) = (self.start.to_degrees(), self.end.to_degrees());
        within("the start of the envelope, in degrees,", start, 0.0, 180.0)?;
        within("the end of the envelope, in degrees,", end, 0.0, 180.0)?;
        if end - start < 0.1 {
            return Err(format!(
                "the end of the envelope, in degrees, is {end}, which is not more than its start, {start}"
            ));
        }
        match &self.shape {
            EnvelopeShape::Smootherstep => Ok(()),
            EnvelopeShape::Curve(curve) => curve.check(),
            EnvelopeShape::Spindle { origin, insertion } => {
                within("the distance of the muscle's origin", *origin, 1e-6, 1e6)?;
                let what = "the distance of the muscle's insertion";
                within(what, *insertion, 1e-6, 1e6)?;
                // Equal distances would let the muscle shrink to nothing at 180 degrees.
                if (origin - insertion).abs() < 0.01 * (origin + insertion) {
                    return Err(format!(
                        "{what} is {insertion}, which is too close to that of its origin, {origin}"
                    ));
                }
                Ok(())
            }
        }
    }
}

/// An envelope, ready to be evaluated.
#[derive(Clone, Debug, PartialEq)]
pub struct Envelope {
    start: f64,
    end: f64,
    course: Course,
}

#[derive(Clone, Debug, PartialEq)]
enum Course {
    Smootherstep,
    Curve(ResponseCurve),
    Spindle([f64; 2]),
}

impl Envelope {
    /// Of settings that pass their check.
    pub fn new(settings: &EnvelopeSettings) -> Result<Self, String> {
        settings.check()?;
        let course = match &settings.shape {
            EnvelopeShape::Smootherstep => Course::Smootherstep,
            EnvelopeShape::Curve(curve) => Course::Curve(ResponseCurve::new(curve)?),
            EnvelopeShape::Spindle { origin, insertion } => Course::Spindle([*origin, *insertion]),
        };
        Ok(Self {
            start: settings.start,
            end: settings.end,
            course,
        })
    }

    /// The fraction of the amplitude at `angle` from bind, radians. A bend the other way counts as none. NaN gives NaN.
    pub fn at(&self, angle: f64) -> f64 {
        let x = (angle - self.start) / (self.end - self.start);
        match &self.course {
            Course::Smootherstep => smootherstep(x),
            Course::Curve(curve) => curve.at(x.clamp(0.0, 1.0)),
            Course::Spindle([origin, insertion]) => {
                spindle_strain(*origin, *insertion, angle.clamp(0.0, PI))
            }
        }
    }
}

/// The radial strain of a spindle of constant volume between a joint's two bones: `sqrt(l(0) / l(angle)) - 1` with
/// `l^2 = o^2 + i^2 + 2 o i cos(angle)`, the distances o of its origin and i of its insertion from the joint; angle 0 is
/// straight. Exactly 0 there.
pub fn spindle_strain(origin: f64, insertion: f64, angle: f64) -> f64 {
    let length = |cosine: f64| {
        let squared = origin * origin + insertion * insertion + 2.0 * origin * insertion * cosine;
        squared.sqrt()
    };
    (length(1.0) / length(angle.cos())).sqrt() - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_named() {
        let check = |settings: EnvelopeSettings| settings.check().unwrap_err();
        let late = EnvelopeSettings {
            start: -0.5,
            ..Default::default()
        };
        let said = check(late);
        assert!(said.starts_with("the start of the envelope, in degrees, is -28.6"));
        assert!(said.ends_with("which is not 0 - 180"), "{said}");
        let reversed = EnvelopeSettings {
            start: PI / 2.0,
            end: PI / 4.0,
            ..Default::default()
        };
        assert_eq!(
            check(reversed),
            "the end of the envelope, in degrees, is 45, which is not more than its start, 90"
        );
        let spindle = |origin, insertion| EnvelopeSettings {
            shape: EnvelopeShape::Spindle { origin, insertion },
            ..Default::default()
        };
        assert!(check(spindle(0.9, 0.9)).contains("too close to that of its origin, 0.9"));
        assert!(check(spindle(f64::NAN, 0.9)).contains("is NaN, which is not"));
        assert_eq!(spindle(0.9, 0.15).check(), Ok(()));
    }

    #[test]
    fn a_curve_runs_from_start_to_end() {
        let settings = EnvelopeSettings {
            start: 0.5,
            end: 1.5,
            shape: EnvelopeShape::Curve(CurveSettings {
                keys: vec![[0.0, 0.0], [1.0, 0.8]],
                rest_offset: false,
            }),
        };
        let envelope = Envelope::new(&settings).unwrap();
        assert_eq!([envelope.at(0.0), envelope.at(0.5)], [0.0, 0.0]);
        assert!((envelope.at(1.0) - 0.4).abs() < 1e-15);
        assert_eq!([envelope.at(1.5), envelope.at(3.0)], [0.8, 0.8]);
        assert!(envelope.at(f64::NAN).is_nan());
    }
}
