//! Tolerant, validated access to glTF's JSON: every error names its location.

use super::error::Fault;
use super::findings::Findings;
use serde_json::Value;

/// A JSON value and its path: `nodes[3]`, `meshes[0].primitives[1]`.
#[derive(Clone, Debug)]
pub(super) struct At<'a> {
    pub(super) value: &'a Value,
    pub(super) place: String,
}

impl<'a> At<'a> {
    pub(super) fn new(value: &'a Value, place: impl Into<String>) -> Self {
        Self {
            value,
            place: place.into(),
        }
    }

    /// Entry `index` of the root list `key`; `null` if there is none.
    pub(super) fn root(json: &'a Value, key: &str, index: usize) -> Self {
        let value = json.get(key).and_then(|list| list.get(index));
        Self::new(value.unwrap_or(&Value::Null), format!("{key}[{index}]"))
    }

    /// The path of a member.
    pub(super) fn path(&self, key: &str) -> String {
        if self.place.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.place)
        }
    }

    /// A member; `None` if it is absent or `null`.
    pub(super) fn get(&self, key: &str) -> Option<At<'a>> {
        let value = self.value.get(key).filter(|v| !v.is_null())?;
        Some(At::new(value, self.path(key)))
    }

    /// A member of `extensions`.
    pub(super) fn extension(&self, name: &str) -> Option<At<'a>> {
        self.get("extensions")?.get(name)
    }

    /// The entries of an array; empty if it is absent.
    pub(super) fn items(&self, key: &str) -> Result<List<'a>, Fault> {
        let Some(list) = self.get(key) else {
            return Ok(List::default());
        };
        match list.value {
            Value::Array(values) => Ok(List {
                values,
                place: list.place,
            }),
            _ => Err(list.should_be("an array")),
        }
    }

    /// A non-negative integer.
    pub(super) fn count(&self, key: &str) -> Result<Option<u64>, Fault> {
        let Some(at) = self.get(key) else {
            return Ok(None);
        };
        match whole(at.value) {
            Some(n) => Ok(Some(n)),
            None => Err(at.should_be("an integer")),
        }
    }

    /// A required non-negative integer.
    pub(super) fn required_count(&self, key: &str) -> Result<u64, Fault> {
        self.count(key)?.ok_or_else(|| self.lacks(key))
    }

    /// An index into a list of `len` items called `what`.
    pub(super) fn index(&self, key: &str, what: &str, len: usize) -> Result<Option<usize>, Fault> {
        match self.get(key) {
            None => Ok(None),
            Some(at) => at.as_index(what, len).map(Some),
        }
    }

    /// A required index.
    pub(super) fn required_index(&self, key: &str, what: &str, len: usize) -> Result<usize, Fault> {
        self.index(key, what, len)?.ok_or_else(|| self.lacks(key))
    }

    /// This value as an index into a list of `len` items called `what`.
    pub(super) fn as_index(&self, what: &str, len: usize) -> Result<usize, Fault> {
        let Some(index) = whole(self.value) else {
            return Err(self.should_be("an index"));
        };
        if index < len as u64 {
            Ok(index as usize)
        } else {
            let message = if len == 0 {
                format!(
                    "The index {index} of {} is dangling: the file has no {what}.",
                    self.place
                )
            } else {
                format!(
                    "The index {index} of {} is outside of the {len} {what}.",
                    self.place
                )
            };
            Err(Fault::new(&self.place, message))
        }
    }

    /// A finite number.
    pub(super) fn number(&self, key: &str) -> Result<Option<f64>, Fault> {
        match self.get(key) {
            None => Ok(None),
            Some(at) => match at.value.as_f64().filter(|n| n.is_finite()) {
                Some(n) => Ok(Some(n)),
                None => Err(at.should_be("a number")),
            },
        }
    }

    /// An array of exactly N finite numbers.
    pub(super) fn vector<const N: usize>(&self, key: &str) -> Result<Option<[f64; N]>, Fault> {
        let Some(at) = self.get(key) else {
            return Ok(None);
        };
        match numbers(at.value).and_then(|v| <[f64; N]>::try_from(v).ok()) {
            Some(vector) => Ok(Some(vector)),
            None => Err(at.should_be(&format!("{N} numbers"))),
        }
    }

    /// An array of finite numbers.
    pub(super) fn numbers(&self, key: &str) -> Result<Option<Vec<f64>>, Fault> {
        match self.get(key) {
            None => Ok(None),
            Some(at) => match numbers(at.value) {
                Some(vector) => Ok(Some(vector)),
                None => Err(at.should_be("an array of numbers")),
            },
        }
    }

    /// A string; `None` if it is absent or has another type.
    pub(super) fn text(&self, key: &str) -> Option<&'a str> {
        self.value.get(key)?.as_str()
    }

    /// A member that is an object.
    pub(super) fn object(&self, key: &str) -> Result<Option<At<'a>>, Fault> {
        match self.get(key) {
            Some(at) if !at.value.is_object() => Err(at.should_be("an object")),
            at => Ok(at),
        }
    }

    /// `name`, or an empty string.
    pub(super) fn name(&self, findings: &mut Findings) -> String {
        match self.value.get("name") {
            None => String::new(),
            Some(Value::String(name)) => name.clone(),
            Some(other) => {
                let fault = At::new(other, self.path("name")).should_be("a string");
                findings.push(fault.warning("The name is left empty."));
                String::new()
            }
        }
    }

    /// A boolean; false if it is absent or has another type.
    pub(super) fn flag(&self, key: &str) -> bool {
        self.value.get(key).and_then(Value::as_bool) == Some(true)
    }

    pub(super) fn should_be(&self, what: &str) -> Fault {
        Fault::new(&self.place, format!("{} should be {what}.", self.place))
    }

    pub(super) fn lacks(&self, key: &str) -> Fault {
        Fault::new(&self.place, format!("{} has no {key}.", self.place))
    }
}

/// A JSON array and its path. Entries are created one by one, so that an array of a million numbers stays small.
#[derive(Clone, Debug, Default)]
pub(super) struct List<'a> {
    values: &'a [Value],
    place: String,
}

impl<'a> List<'a> {
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Entry `index`; `null` beyond the end.
    pub(super) fn at(&self, index: usize) -> At<'a> {
        let value = self.values.get(index).unwrap_or(&Value::Null);
        At::new(value, format!("{}[{index}]", self.place))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = At<'a>> + '_ {
        (0..self.values.len()).map(|i| self.at(i))
    }
}

/// The value, or `None` and a warning with its `consequence` if it could not be read.
pub(super) fn or_warn<T>(
    read: Result<Option<T>, Fault>,
    consequence: &str,
    findings: &mut Findings,
) -> Option<T> {
    read.unwrap_or_else(|fault| {
        findings.push(fault.warning(consequence));
        None
    })
}

/// The length of a root list.
pub(super) fn list_len(json: &Value, key: &str) -> usize {
    json.get(key).and_then(Value::as_array).map_or(0, Vec::len)
}

/// A non-negative integer; exporters also write `3.0`.
fn whole(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let n = value.as_f64()?;
        (n >= 0.0 && n.fract() == 0.0 && n < 9e15).then_some(n as u64)
    })
}

fn numbers(value: &Value) -> Option<Vec<f64>> {
    value
        .as_array()?
        .iter()
        .map(|v| v.as_f64().filter(|n| n.is_finite()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn refusals_name_place_and_value() {
        let json = json!({"accessors": [{"bufferView": 4294967295u32, "count": -1}]});
        let at = At::root(&json, "accessors", 0);
        assert_eq!(
            at.index("bufferView", "buffer views", 12)
                .unwrap_err()
                .message,
            "The index 4294967295 of accessors[0].bufferView is outside of the 12 buffer views."
        );
        assert_eq!(
            at.count("count").unwrap_err().message,
            "accessors[0].count should be an integer."
        );
        assert_eq!(
            at.required_count("type").unwrap_err().message,
            "accessors[0] has no type."
        );
    }

    #[test]
    fn whole_numbers_may_be_written_with_a_point() {
        assert_eq!(whole(&json!(3.0)), Some(3));
        assert_eq!(whole(&json!(3.5)), None);
        assert_eq!(whole(&json!(-1)), None);
    }
}
