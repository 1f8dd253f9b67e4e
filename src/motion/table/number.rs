//! Numbers in cells.

/// What a cell holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cell<'a> {
    /// Nothing, or a word for nothing.
    Missing,
    /// A finite number.
    Number(f64),
    /// Anything else.
    Word(&'a str),
}

/// Words that devices write for a missing value, in lower case.
const NOTHING: [&str; 9] = ["", "nan", "na", "n/a", "null", "none", "-", "--", "inf"];

/// The largest time, seconds: stamps of devices may count from 1970.
pub(in crate::motion) const MAX_TIME: f64 = 1e10;

/// The largest coordinate of a place, metres.
pub(in crate::motion) const MAX_PLACE: f64 = 1e4;

/// An error for a time, in seconds, that no clock has: one in another unit.
pub(in crate::motion) fn check_time(time: f64) -> Result<(), String> {
    // NaN is no time either.
    if time.abs() <= MAX_TIME {
        return Ok(());
    }
    Err(format!(
        "the time {time} s is more than 300 years: it may be in another unit"
    ))
}

/// Reads a cell; with `decimal_comma` its comma may stand for the point.
pub(crate) fn read_cell(text: &str, decimal_comma: bool) -> Cell<'_> {
    let text = text.trim();
    if text.is_empty() {
        return Cell::Missing;
    }
    let number = match text.parse::<f64>() {
        Ok(number) => Some(number),
        Err(_) if decimal_comma && text.matches(',').count() == 1 && !text.contains('.') => {
            text.replace(',', ".").parse().ok()
        }
        Err(_) => None,
    };
    match number {
        Some(number) if number.is_finite() => Cell::Number(number),
        Some(_) => Cell::Missing,
        // What the Microsoft runtime prints: -1.#IND, 1.#QNAN, 1.#INF.
        None if text.contains(".#") || NOTHING.contains(&text.to_lowercase().as_str()) => {
            Cell::Missing
        }
        None => Cell::Word(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_numbers_words_or_nothing() {
        for (text, expected) in [
            ("1", Cell::Number(1.0)),
            (" +.5 ", Cell::Number(0.5)),
            ("5.", Cell::Number(5.0)),
            ("-1e-3", Cell::Number(-0.001)),
            ("", Cell::Missing),
            ("NaN", Cell::Missing),
            ("-inf", Cell::Missing),
            ("-1.#IND", Cell::Missing),
            ("N/A", Cell::Missing),
            ("1e999", Cell::Missing),
            ("up", Cell::Word("up")),
            ("1,5", Cell::Word("1,5")),
            ("1_0", Cell::Word("1_0")),
        ] {
            assert_eq!(read_cell(text, false), expected, "{text:?}");
        }
        assert_eq!(read_cell("-1,5e2", true), Cell::Number(-150.0));
        assert_eq!(read_cell("1,234,5", true), Cell::Word("1,234,5"));
        assert_eq!(read_cell("1.234,5", true), Cell::Word("1.234,5"));
        assert_eq!(read_cell("1.5", true), Cell::Number(1.5));
    }
}
