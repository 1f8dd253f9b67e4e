//! The fields of one row, as words.

use crate::motion::table::{Cell, read_cell};
use crate::twin::{Kind, MeasuredSide, Measurement, Unit};

/// The names of the fields.
pub(super) const FIELDS: [&str; 8] = ["id", "kind", "bone", "to", "at", "side", "value", "unit"];

/// Puts the words of a field into a row; an error is the end of a sentence. An empty one leaves the default.
pub(super) fn set(
    row: &mut Measurement,
    field: &str,
    text: &str,
    decimal_comma: bool,
) -> Result<(), String> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(());
    }
    let number = || match read_cell(text, decimal_comma) {
        Cell::Number(number) => Ok(number),
        _ => Err(format!("\"{text}\" is not a number")),
    };
    let word = text.to_lowercase();
    match field {
        "id" => text.clone_into(&mut row.id),
        "bone" => text.clone_into(&mut row.bone),
        "to" => text.clone_into(&mut row.to),
        "kind" => {
            let kind = Kind::ALL.into_iter().find(|kind| kind.label() == word);
            row.kind = kind.ok_or_else(|| unknown("kind", text, Kind::ALL.map(Kind::label)))?;
        }
        "at" => {
            row.at = number()?;
        }
        "side" => {
            let side = match word.as_str() {
                "left" => Some(MeasuredSide::Left),
                "right" => Some(MeasuredSide::Right),
                _ => MeasuredSide::ALL.into_iter().find(|s| s.label() == word),
            };
            let labels = MeasuredSide::ALL.map(MeasuredSide::label);
            row.side = Some(side.ok_or_else(|| unknown("side", text, labels))?);
        }
        "value" => row.value = number()?,
        "unit" => {
            let unit = Unit::ALL.into_iter().find(|unit| unit.label() == word);
            let all = Unit::ALL.map(Unit::label);
            row.unit = unit.ok_or_else(|| unknown("unit", text, all))?;
        }
        _ => {}
    }
    Ok(())
}

fn unknown<const N: usize>(what: &str, text: &str, known: [&str; N]) -> String {
    format!("unknown {what} \"{text}\": use {}", known.join(", "))
}

/// A row before any field was read.
pub(super) fn blank() -> Measurement {
    Measurement {
        at: 0.5,
        value: f64::NAN,
        ..Measurement::default()
    }
}

/// Checks a row that is read: the end of a sentence.
pub(super) fn finish(mut row: Measurement, has_kind: bool) -> Result<Measurement, String> {
    if !has_kind {
        return Err("the kind is missing: height, length or girth".into());
    }
    if row.value.is_nan() {
        return Err("the value is missing".into());
    }
    if row.kind != Kind::Girth {
        row.at = 0.0;
    }
    row.check()?;
    Ok(row)
}
