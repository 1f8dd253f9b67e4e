//! Writes JSON so that unchanged parts keep the source's text.

use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::HashMap;

/// Serialises `json`; every part equal to its counterpart in `source_text` is copied from there.
///
/// Numbers keep their digits (`1.50`, `1e-7`, integers beyond 64 bits), strings their escapes, and a line diff shows
/// only the changes. Without a readable `source_text`, everything is serialised anew.
pub(super) fn write_json(json: &Value, source_text: &str) -> String {
    let mut out = String::with_capacity(source_text.len() + 4096);
    let source = serde_json::from_str::<Value>(source_text).ok();
    let raw = serde_json::from_str::<&RawValue>(source_text).ok();
    match (source, raw) {
        (Some(source), Some(raw)) => {
            let indent = indent_of(raw.get());
            emit(&mut out, json, &source, raw, indent, 0);
        }
        _ => out.push_str(&json.to_string()),
    }
    out
}

/// The white space of one indentation level of the source; `None` if it is a single line.
fn indent_of(text: &str) -> Option<&str> {
    let rest = text.strip_prefix(['{', '['])?;
    let rest = rest.strip_prefix("\r\n").or(rest.strip_prefix('\n'))?;
    let width = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    Some(&rest[..width])
}

fn emit(
    out: &mut String,
    new: &Value,
    old: &Value,
    raw: &RawValue,
    indent: Option<&str>,
    depth: usize,
) {
    if new == old {
        out.push_str(raw.get());
        return;
    }
    let line = |out: &mut String, depth: usize| {
        if let Some(indent) = indent {
            out.push('\n');
            for _ in 0..depth {
                out.push_str(indent);
            }
        }
    };
    match (new, old) {
        (Value::Object(new), Value::Object(old)) if !new.is_empty() => {
            let Ok(parts) = serde_json::from_str::<HashMap<String, &RawValue>>(raw.get()) else {
                out.push_str(&Value::Object(new.clone()).to_string());
                return;
            };
            out.push('{');
            for (i, (key, value)) in new.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                line(out, depth + 1);
                out.push_str(&Value::from(key.as_str()).to_string());
                out.push(':');
                if indent.is_some() {
                    out.push(' ');
                }
                match (old.get(key), parts.get(key)) {
                    (Some(old), Some(raw)) => emit(out, value, old, raw, indent, depth + 1),
                    _ => out.push_str(&value.to_string()),
                }
            }
            line(out, depth);
            out.push('}');
        }
        (Value::Array(new), Value::Array(old)) if new.iter().any(Value::is_object) => {
            let parts = serde_json::from_str::<Vec<&RawValue>>(raw.get()).unwrap_or_default();
            // Removed entries shift the later ones: match the source's entries in order.
            let mut from = 0;
            out.push('[');
            for (i, value) in new.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                line(out, depth + 1);
                if new.len() < old.len()
                    && let Some(skip) = old[from.min(old.len())..].iter().position(|o| o == value)
                {
                    from += skip;
                }
                match (old.get(from), parts.get(from)) {
                    (Some(old), Some(raw)) => emit(out, value, old, raw, indent, depth + 1),
                    _ => out.push_str(&value.to_string()),
                }
                from += 1;
            }
            line(out, depth);
            out.push(']');
        }
        _ => out.push_str(&new.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = r#"{"asset":{"version":"2.0","extras":[1.50,1e-7,-0.0,9007199254740993,
        123456789012345678901234567890,"\u00e9\/"]},"nodes":[{"name":"a","x":0.10},{"name":"b","x":1.0E+2},{"x":2.50}]}"#;

    fn edited(edit: impl FnOnce(&mut Value)) -> String {
        let mut json: Value = serde_json::from_str(SOURCE).unwrap();
        edit(&mut json);
        write_json(&json, SOURCE)
    }

    #[test]
    fn unchanged_parts_keep_their_text() {
        let text = edited(|json| json["nodes"][1]["name"] = "c".into());
        assert_eq!(text, SOURCE.replace("\"b\"", "\"c\""));
    }

    #[test]
    fn entries_may_be_added_and_removed() {
        let text = edited(|json| {
            let nodes = json["nodes"].as_array_mut().unwrap();
            nodes.push(serde_json::json!({"y": 3}));
        });
        assert!(text.ends_with(r#"{"x":2.50},{"y":3}]}"#), "{text}");
        let text = edited(|json| {
            json["nodes"].as_array_mut().unwrap().remove(0);
        });
        assert!(
            text.contains(r#""nodes":[{"name":"b","x":1.0E+2},{"x":2.50}]"#),
            "{text}"
        );
    }

    #[test]
    fn indented_sources_stay_indented() {
        let source = "{\n  \"a\": [\n    {\n      \"x\": 1.0\n    }\n  ],\n  \"b\": 1.50\n}";
        let mut json: Value = serde_json::from_str(source).unwrap();
        json["a"][0]["x"] = 2.into();
        assert_eq!(
            write_json(&json, source),
            source.replace("\"x\": 1.0", "\"x\": 2")
        );
    }

    #[test]
    fn without_a_source_text_all_is_written() {
        assert_eq!(write_json(&serde_json::json!({"a": 1}), ""), r#"{"a":1}"#);
    }
}
