//! JSON: a list of objects, one for each measurement.

use super::MAX_ROWS;
use super::fields::{FIELDS, blank, finish, set};
use crate::motion::fault::Fault;
use crate::twin::Measurement;
use serde_json::{Map, Value};

pub(super) fn parse(text: &str) -> Result<Vec<Measurement>, Fault> {
    let value: Value = serde_json::from_str(text).map_err(|error| {
        let what = error.to_string();
        let what = what.split(" at line ").next().unwrap_or_default();
        Fault::cell(error.line(), error.column().saturating_sub(1), what)
    })?;
    let list = match &value {
        Value::Array(list) => list,
        Value::Object(members) => match members.get("measurements") {
            Some(Value::Array(list)) => list,
            _ => return Err(Fault::whole("no list \"measurements\"")),
        },
        _ => return Err(Fault::whole("a list of measurements is expected")),
    };
    if list.len() > MAX_ROWS {
        return Err(Fault::whole(format!("more than {MAX_ROWS} rows")));
    }
    let rows = list.iter().enumerate().map(|(row, entry)| {
        let fault = |what: String| Fault::whole(format!("row {}: {what}", row + 1));
        let Value::Object(members) = entry else {
            return Err(fault("it is not an object".into()));
        };
        read(members).map_err(fault)
    });
    rows.collect()
}

fn read(members: &Map<String, Value>) -> Result<Measurement, String> {
    let (mut row, mut has_kind) = (blank(), false);
    for (field, value) in members {
        if !FIELDS.contains(&field.as_str()) {
            return Err(format!(
                "unknown member \"{field}\": use {}",
                FIELDS.join(", ")
            ));
        }
        let is_number = matches!(field.as_str(), "at" | "value");
        match value {
            Value::Null => {}
            Value::Number(number) if is_number => set(&mut row, field, &number.to_string(), false)?,
            Value::String(text) if !is_number => {
                has_kind |= field == "kind" && !text.trim().is_empty();
                set(&mut row, field, text, false)?;
            }
            _ if is_number => return Err(format!("\"{field}\" is not a number")),
            _ => return Err(format!("\"{field}\" is not text")),
        }
    }
    finish(row, has_kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::twin::{Kind, Unit};

    #[test]
    fn lists_are_read_and_faults_name_their_row() {
        let text = r#"{"measurements": [{"kind": "girth", "bone": "thigh", "at": 0.25, "side": "l", "value": 21.5, "unit": "in"}]}"#;
        let rows = parse(text).unwrap();
        assert_eq!(
            (rows[0].kind, rows[0].unit, rows[0].at),
            (Kind::Girth, Unit::Inch, 0.25)
        );
        for (text, said) in [
            ("{", "line 1, column 1: EOF while parsing an object"),
            ("{}", "no list \"measurements\""),
            ("[1]", "row 1: it is not an object"),
            (
                r#"[{"kind": "height", "value": 1.7}, {"kind": "height", "value": "1.7"}]"#,
                "row 2: \"value\" is not a number",
            ),
            (
                r#"[{"kind": "height", "value": 1.7, "size": 1}]"#,
                "row 1: unknown member \"size\": use id, kind, bone, to, at, side, value, unit",
            ),
            (
                r#"[{"kind": 1, "value": 1.7}]"#,
                "row 1: \"kind\" is not text",
            ),
            (r#"[{"kind": "height"}]"#, "row 1: the value is missing"),
        ] {
            assert_eq!(parse(text).unwrap_err().to_string(), said, "{text}");
        }
    }
}
