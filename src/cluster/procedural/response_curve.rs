//! The artist's curve from an input to a response.

use crate::math::monotone_cubic::{fritsch_carlson, hermite};
use serde::{Deserialize, Serialize};

/// The keys of a curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurveSettings {
    /// (x, y), strictly ascending in x.
    pub keys: Vec<[f64; 2]>,
    /// Whether the first key may differ from (0, 0), so that the response at bind is not 0.
    pub rest_offset: bool,
}

impl Default for CurveSettings {
    fn default() -> Self {
        Self {
            keys: vec![[0.0, 0.0], [1.0, 1.0]],
            rest_offset: false,
        }
    }
}

impl CurveSettings {
    /// The largest number of keys.
    pub const MAX_KEYS: usize = 64;

    /// An error that names what is out of its range.
    pub fn check(&self) -> Result<(), String> {
        let n = self.keys.len();
        if !(2..=Self::MAX_KEYS).contains(&n) {
            return Err(format!(
                "the curve has {n} keys, which is not 2 - {}",
                Self::MAX_KEYS
            ));
        }
        for (i, [x, y]) in self.keys.iter().enumerate() {
            for (axis, value) in [("x", *x), ("y", *y)] {
                let what = format!("{axis} of key {} of the curve", i + 1);
                crate::cluster::check::within(&what, value, -1e3, 1e3)?;
            }
        }
        if let Some(i) = (1..n).find(|&i| self.keys[i][0] - self.keys[i - 1][0] < 1e-6) {
            return Err(format!(
                "key {} of the curve is at {}, which is not after key {i} at {}",
                i + 1,
                self.keys[i][0],
                self.keys[i - 1][0]
            ));
        }
        let [x, y] = self.keys[0];
        if !self.rest_offset && [x, y] != [0.0, 0.0] {
            return Err(format!(
                "the first key of the curve is ({x}, {y}), which is not (0, 0); only a rest offset allows that"
            ));
        }
        Ok(())
    }
}

/// A curve through its keys by monotone cubic pieces (Fritsch & Carlson 1980): it never overshoots.
#[derive(Clone, Debug, PartialEq)]
pub struct ResponseCurve {
    x: Vec<f64>,
    y: Vec<f64>,
    slopes: Vec<f64>,
}

impl ResponseCurve {
    /// Of keys that pass their check.
    pub fn new(settings: &CurveSettings) -> Result<Self, String> {
        settings.check()?;
        let [x, y] = [0, 1].map(|axis| settings.keys.iter().map(|k| k[axis]).collect::<Vec<_>>());
        let slopes = fritsch_carlson(&x, &y);
        Ok(Self { x, y, slopes })
    }

    /// Its value at `x`; beyond the keys that of the nearest one. NaN gives NaN.
    pub fn at(&self, x: f64) -> f64 {
        self.inside(x.clamp(self.x[0], self.x[self.x.len() - 1]))
    }

    /// As [`ResponseCurve::at`], but straight on beyond the keys, with the slope at the first or the last.
    pub fn extended(&self, x: f64) -> f64 {
        let inside = x.clamp(self.x[0], self.x[self.x.len() - 1]);
        let slope = if x < inside {
            self.slopes[0]
        } else {
            self.slopes[self.slopes.len() - 1]
        };
        self.inside(inside) + slope * (x - inside)
    }

    fn inside(&self, x: f64) -> f64 {
        let n = self.x.len();
        let i = self.x[1..n - 1].partition_point(|key| *key <= x);
        let width = self.x[i + 1] - self.x[i];
        let ends = |of: &[f64]| [of[i], of[i + 1]];
        let t = (x - self.x[i]) / width;
        hermite(t, width, ends(&self.y), ends(&self.slopes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(keys: &[[f64; 2]]) -> CurveSettings {
        CurveSettings {
            keys: keys.to_vec(),
            rest_offset: false,
        }
    }

    #[test]
    fn it_goes_through_its_keys_and_straight_on_where_asked() {
        let keys = [[0.0, 0.0], [0.5, 0.5], [1.0, 0.8]];
        let made = ResponseCurve::new(&curve(&keys)).unwrap();
        for [x, y] in keys {
            assert_eq!(made.at(x), y);
        }
        assert_eq!((made.at(-3.0), made.at(7.0)), (0.0, 0.8));
        // The slopes at the ends are the secants, 1 and 0.6.
        assert!((made.extended(2.0) - 1.4).abs() < 1e-14);
        assert!((made.extended(-1.0) + 1.0).abs() < 1e-14);
        assert!(made.at(f64::NAN).is_nan() && made.extended(f64::NAN).is_nan());
    }

    #[test]
    fn faults_are_named() {
        let why = |keys: &[[f64; 2]]| curve(keys).check().unwrap_err();
        assert_eq!(
            why(&[[0.0, 0.0]]),
            "the curve has 1 keys, which is not 2 - 64"
        );
        assert_eq!(
            why(&[[0.0, 0.0], [f64::NAN, 0.0]]),
            "x of key 2 of the curve is NaN, which is not -1000 - 1000"
        );
        assert_eq!(
            why(&[[0.0, 0.0], [0.5, 0.0], [0.5, 1.0]]),
            "key 3 of the curve is at 0.5, which is not after key 2 at 0.5"
        );
        let lifted = curve(&[[0.0, 0.2], [1.0, 1.0]]);
        assert!(
            lifted
                .check()
                .unwrap_err()
                .contains("(0, 0.2), which is not (0, 0)")
        );
        let allowed = CurveSettings {
            rest_offset: true,
            ..lifted
        };
        assert_eq!(allowed.check(), Ok(()));
    }
}
