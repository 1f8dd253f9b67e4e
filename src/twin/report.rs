//! What a fit reached.

use super::measurement::Kind;
use serde::Serialize;

/// One measurement on the fitted body.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FittedRow {
    /// The row of the table, from 0.
    #[serde(skip)]
    pub row: usize,
    /// Its label.
    pub id: String,
    /// "height", "length" or "girth".
    pub kind: &'static str,
    /// The bone, or the first of a chain; empty for the height.
    pub bone: String,
    /// Where on the bone a girth is, 0 - 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<f64>,
    /// Whether the value is the other side's.
    pub mirrored: bool,
    /// Of the template, metres.
    pub template: f64,
    /// The measurement, metres.
    pub target: f64,
    /// Target / template.
    pub factor: f64,
    /// On the fitted body, metres.
    pub measured: f64,
    /// Measured / target - 1.
    pub error: f64,
}

/// What a fit reached.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FitReport {
    /// The uniform scale: measured height / template's.
    pub scale: f64,
    /// Of the template and of the fitted body, metres.
    pub height: [f64; 2],
    /// The factor of hips, spine and neck along their bones that gives the height; `None` where none was needed.
    pub trunk: Option<f64>,
    /// Steps of the secant method for it.
    pub trunk_steps: usize,
    /// The largest error of a girth before each round and after the last, fractions.
    pub girth_errors: Vec<f64>,
    /// How far the body was lifted onto the floor, metres.
    pub lift: f64,
    /// Triangles that flipped, of all.
    pub flipped: usize,
    /// Vertices that corrective smoothing moved, to turn flipped triangles back.
    pub smoothed: usize,
    /// Triangles of all meshes.
    pub triangles: usize,
    /// What should be looked at.
    pub warnings: Vec<String>,
    /// One a measurement and side.
    pub rows: Vec<FittedRow>,
}

impl FittedRow {
    /// Whether it is of this kind.
    pub fn is(&self, kind: Kind) -> bool {
        self.kind == kind.label()
    }
}

impl FitReport {
    /// The largest error of any measurement, as a fraction.
    pub fn worst(&self) -> f64 {
        let errors = self.rows.iter().map(|row| row.error.abs());
        errors.fold(0.0, crate::math::Worse::worse)
    }
}
