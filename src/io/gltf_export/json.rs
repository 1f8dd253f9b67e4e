//! Access to the source's JSON: list entries, numbers, and names of extensions.
//!
//! The source's JSON is patched in place, as parsed: unknown members, the order and the numbers are kept.

use serde_json::{Map, Value};

/// The extensions that compress a buffer view.
pub(super) const MESHOPT: [&str; 2] = ["EXT_meshopt_compression", "KHR_meshopt_compression"];
/// The extension that compresses a primitive.
pub(super) const DRACO: &str = "KHR_draco_mesh_compression";
/// The extension that instances a mesh.
pub(super) const INSTANCING: &str = "EXT_mesh_gpu_instancing";

/// The entries of the array `key`; none if it is missing or not an array.
pub(super) fn each<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    value
        .get(key)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

/// A JSON number as an index.
pub(super) fn index(value: Option<&Value>) -> Option<usize> {
    let value = value?;
    let whole = value.as_u64().or_else(|| {
        value
            .as_f64()
            .filter(|n| *n >= 0.0 && n.fract() == 0.0)
            .map(|n| n as u64)
    });
    whole.and_then(|n| usize::try_from(n).ok())
}

/// The shortest JSON number that round-trips to the same f32 (bounds are rounded to it before use: glTF 2.0, 3.6.2.5).
pub(super) fn short(value: f32) -> Value {
    let exact = f64::from(value);
    let decimal = value.to_string().parse().unwrap_or(exact);
    number(if decimal as f32 == value {
        decimal
    } else {
        exact
    })
}

/// The JSON number nearest to `value`; integers without a decimal point.
pub(super) fn number(value: f64) -> Value {
    if value == value.trunc() && value.abs() < 1e15 && !(value == 0.0 && value.is_sign_negative()) {
        Value::from(value as i64)
    } else {
        Value::from(value)
    }
}

/// The object `list[i]` of the file.
pub(super) fn entry_mut<'a>(
    json: &'a mut Value,
    list: &str,
    i: usize,
) -> Option<&'a mut Map<String, Value>> {
    json.get_mut(list)?.get_mut(i)?.as_object_mut()
}

/// Stores `entry` at its index, or at the end of the list.
pub(super) fn place(
    json: &mut Value,
    list: &str,
    at: Option<usize>,
    entry: Map<String, Value>,
) -> usize {
    let Some(root) = json.as_object_mut() else {
        return 0;
    };
    let items = root.entry(list).or_insert_with(|| Value::Array(Vec::new()));
    if !items.is_array() {
        *items = Value::Array(Vec::new());
    }
    let Some(items) = items.as_array_mut() else {
        return 0;
    };
    if let Some((i, item)) = at.and_then(|i| Some((i, items.get_mut(i)?))) {
        *item = Value::Object(entry);
        return i;
    }
    items.push(Value::Object(entry));
    items.len() - 1
}

/// Whether any `extensions` object has an entry of this name.
pub(super) fn is_used(value: &Value, name: &str) -> bool {
    match value {
        Value::Array(items) => items.iter().any(|item| is_used(item, name)),
        Value::Object(map) => {
            map.get("extensions").is_some_and(|e| e.get(name).is_some())
                || map.values().any(|item| is_used(item, name))
        }
        _ => false,
    }
}

/// The objects of a list of an object; none where there is no list.
pub(super) fn list_mut<'a>(value: &'a mut Value, key: &str) -> impl Iterator<Item = &'a mut Value> {
    let list = value.get_mut(key).and_then(Value::as_array_mut);
    list.into_iter().flatten().filter(|entry| entry.is_object())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_written_with_the_digits_that_they_need() {
        assert_eq!(short(0.1).to_string(), "0.1");
        assert_eq!(short(2.0).to_string(), "2");
        for bits in (0..u32::MAX).step_by(9_999_991) {
            let value = f32::from_bits(bits);
            if value.is_finite() {
                let read: f64 = short(value).to_string().parse().unwrap();
                assert_eq!((read as f32).to_bits(), bits);
            }
        }
    }

    #[test]
    fn numbers_are_written_as_short_as_they_are() {
        assert_eq!(number(2.0).to_string(), "2");
        assert_eq!(number(-0.0).to_string(), "-0.0");
        assert_eq!(number(f64::from(0.1f32)).to_string(), "0.10000000149011612");
    }
}
