//! The measurements of a person as the project format has them.

use super::joints::JointRef;
use super::types::{enums, is_default};
use crate::cluster::map::gains;
use crate::twin;
use serde::{Deserialize, Serialize};

enums! {
    /// What is measured.
    Kind = twin::Kind { Height, Length, Girth }

    /// The side of a row.
    MeasuredSide = twin::MeasuredSide { Left, Right, Both }

    /// The unit of a value.
    #[derive(Default)]
    Unit = twin::Unit { #[default] Metre, Centimetre, Millimetre, Inch }

    /// What becomes of flipped faces.
    #[derive(Default)]
    FlippedFaces = twin::FlippedFaces { #[default] Keep, Smooth }

    /// The kind of a layer with a gain.
    GainKind = gains::GainKind { Driver, Muscle, Data }

    /// What the side without a measurement gets.
    #[derive(Default)]
    Sides = twin::Sides { #[default] Both, Own }
}

/// The table and how it is fitted. What is omitted is as it is by default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct IndividualEntry {
    /// xxh3-64 of the file of the template, 16 hex digits.
    pub(super) template: String,
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub(super) fit_height: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) sides: Sides,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) neighbours: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) taper: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) flipped: FlippedFaces,
    pub(super) rows: Vec<Row>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) variations: Vec<VariationEntry>,
}

/// A limit or a gain that differs from the document's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) enum VariationEntry {
    /// Radians.
    Limits {
        joint: JointRef,
        ranges: [(f64, f64); 3],
    },
    Gain {
        kind: GainKind,
        group: String,
        layer: String,
        factor: f64,
    },
}

/// A measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) id: String,
    pub(super) kind: Kind,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) bone: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) to: String,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) at: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) side: Option<MeasuredSide>,
    pub(super) value: f64,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) unit: Unit,
}

fn yes() -> bool {
    true
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature that serde expects"
)]
fn is_yes(value: &bool) -> bool {
    *value
}
