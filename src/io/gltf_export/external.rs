//! Files beside a model: names that are safe to read and write, and their bytes.

use crate::io::read::{MAX_MODEL_BYTES, read_file};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// The characters to escape in the path of a URI.
const ESCAPED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// Whether a URI is a `data:` URI.
pub(super) fn is_data(uri: &str) -> bool {
    uri.get(..5)
        .is_some_and(|head| head.eq_ignore_ascii_case("data:"))
}

/// The data of a base64 `data:` URI.
pub(super) fn data(uri: &str) -> Option<Vec<u8>> {
    let (head, payload) = uri.split_once(',')?;
    let base64 = head.rsplit(';').next()?.eq_ignore_ascii_case("base64");
    base64.then(|| STANDARD.decode(payload).ok()).flatten()
}

/// A `data:` URI of a buffer.
pub(super) fn data_uri(bytes: &[u8]) -> String {
    format!(
        "data:application/octet-stream;base64,{}",
        STANDARD.encode(bytes)
    )
}

/// The URI of the file `name` beside the model.
pub(super) fn uri_of(name: &str) -> String {
    utf8_percent_encode(name, ESCAPED).to_string()
}

/// The file that a URI references, relative to the model's folder with `/` between folders; `None` unless it is a file
/// in that folder or below: nothing may be written elsewhere.
pub(super) fn relative(uri: &str) -> Option<String> {
    let name = percent_decode_str(uri).decode_utf8().ok()?;
    let name = name.strip_prefix("./").unwrap_or(&name);
    let is_plain = |part: &str| !part.is_empty() && part != "." && part != "..";
    (name.split('/').all(is_plain) && !name.contains(['\\', ':', '\0', '?', '#']))
        .then(|| name.to_owned())
}

/// Reads a plain file below `folder`.
pub(super) fn read(folder: Option<&Path>, name: &str) -> Option<Bytes> {
    let path = folder?.join(name);
    read_file(&path, MAX_MODEL_BYTES).ok().map(Bytes::from)
}

/// Reads the file of a URI wherever it is.
pub(super) fn read_any(folder: Option<&Path>, uri: &str) -> Option<Bytes> {
    read(folder, &percent_decode_str(uri).decode_utf8().ok()?)
}

/// All `uri` members in the file, including those of extensions, except `data:` URIs.
pub(super) fn uris(json: &Value) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    collect(json, &mut found);
    found
}

fn collect<'a>(value: &'a Value, found: &mut BTreeSet<&'a str>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Object(map) => {
            for (key, item) in map {
                match item {
                    Value::String(uri) if key == "uri" && !is_data(uri) => {
                        found.insert(uri);
                    }
                    // Reserved for applications: a "uri" in it may mean anything.
                    _ if key == "extras" => {}
                    _ => collect(item, found),
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_in_the_folder_or_below_are_touched() {
        assert_eq!(relative("a%20b/c.bin").as_deref(), Some("a b/c.bin"));
        assert_eq!(relative("./a.bin").as_deref(), Some("a.bin"));
        for uri in [
            "../a",
            "a/../../b",
            "/a",
            "a//b",
            "C:/a",
            "http://a/b",
            "%2e%2e/a",
            "a\\b",
            "",
            "file:a",
        ] {
            assert_eq!(relative(uri), None, "{uri}");
        }
    }

    #[test]
    fn names_and_data_round_trip() {
        assert_eq!(uri_of("Bär 1#.bin"), "B%C3%A4r%201%23.bin");
        assert_eq!(relative(&uri_of("a%b.bin")).as_deref(), Some("a%b.bin"));
        assert_eq!(data(&data_uri(&[1, 2, 3])).unwrap(), [1, 2, 3]);
        assert_eq!(data("data:text/plain,abc"), None);
    }
}
