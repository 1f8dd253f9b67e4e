//! Tables of measurements as text: CSV (also with semicolons or tabs) and JSON.
//!
//! | column | holds |
//! |---|---|
//! | `id` | a label |
//! | `kind` | `height`, `length` or `girth` |
//! | `bone` | the name of a bone, or a role: `upperarm`, `l.thigh`, `hips` ... |
//! | `to` | the last bone of a chain that begins with `bone` |
//! | `at` | where on the bone a girth is, 0 - 1; 0.5 where it is empty |
//! | `side` | `l`, `r` or `both` |
//! | `value` | a number above 0 |
//! | `unit` | `m`, `cm`, `mm` or `in`; metres where it is empty |
//!
//! Only `kind` and `value` are needed in every row. JSON is a list of objects with these members, or an object whose member
//! `measurements` is that list.
//!
//! Invariant: every fault is a sentence with its line (CSV) or its row (JSON).

mod csv;
mod fields;
mod json;

use super::Measurement;
use crate::motion::fault::Fault;

/// The largest number of rows.
pub const MAX_ROWS: usize = 10_000;

/// Reads the text of a table; JSON begins with a bracket.
pub fn parse_measurements(text: &str) -> Result<Vec<Measurement>, Fault> {
    let text = text.trim_start_matches('\u{feff}');
    let rows = if text.trim_start().starts_with(['[', '{']) {
        json::parse(text)?
    } else {
        csv::parse(text)?
    };
    if rows.is_empty() {
        return Err(Fault::whole("there are no measurements"));
    }
    Ok(rows)
}

/// The text of a table as CSV, which reads back to the same rows.
pub fn to_csv(rows: &[Measurement]) -> String {
    csv::write(rows)
}
