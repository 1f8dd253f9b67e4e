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
pub(in crate::io) fn uri_of(name: &str) -> String {
    utf8_percent_encode(name, ESCAPED).to_string()
}

/// The file that a URI references, relative to the model's folder with `/` between folders; `None` unless it is a file
/// in that folder or below: nothing may be written elsewhere.
pub(super) fn relative(uri: &str) -> Option<String> {
    // Unescaped, they end the path in a URI.
    if uri.contains(['?', '#']) {
        return None;
    }
    let name = percent_decode_str(uri).decode_utf8().ok()?;
    let name = name.strip_prefix("./").unwrap_or(&name);
    let is_plain = |part: &str| !part.is_empty() && part != "." && part != "..";
    (name.split('/').all(is_plain) && !name.contains(['\\', ':', '\0'])).then(|| name.to_owned())
}

/// [`relative`] for any spelling that the import reads: backslashes between folders, empty parts and `.`, characters that
/// a URI must escape. `None` outside of the folder.
pub(super) fn inside(uri: &str) -> Option<String> {
    let name = percent_decode_str(uri).decode_utf8().ok()?;
    if name.contains([':', '\0']) || name.starts_with(['/', '\\']) {
        return None;
    }
    let parts = name.split(['/', '\\']);
    let parts: Vec<&str> = parts.filter(|p| !p.is_empty() && *p != ".").collect();
    (!parts.is_empty() && !parts.contains(&"..")).then(|| parts.join("/"))
}

/// Whether a URI leads to an existing file outside of `folder`, which no copy beside another model keeps within reach.
pub(super) fn leads_out(uri: &str, folder: Option<&Path>) -> bool {
    let name = percent_decode_str(uri).decode_utf8_lossy();
    let is_file = |name: &str| folder.is_some_and(|folder| folder.join(name).is_file());
    inside(uri).is_none() && (is_file(&name) || is_file(&name.replace('\\', "/")))
}

/// Whether a file has only URIs that name a file in its folder, or below, in the plain way.
pub(super) fn is_tidy(json: &Value) -> bool {
    let untidy = |uri: &&str| relative(uri).is_none() && inside(uri).is_some();
    !uris(json).iter().any(untidy)
}

/// Spells the URIs of files in the model's folder as [`uri_of`] does, where players may read another file or none.
pub(super) fn tidy(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(tidy),
        Value::Object(map) => {
            for (key, item) in map {
                match item {
                    Value::String(uri) if key == "uri" && !is_data(uri) => {
                        if let (None, Some(name)) = (relative(uri), inside(uri)) {
                            *uri = uri_of(&name);
                        }
                    }
                    _ if key == "extras" => {}
                    _ => tidy(item),
                }
            }
        }
        _ => {}
    }
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
    fn other_spellings_of_a_name_become_plain() {
        for (uri, name) in [
            ("a\\b.bin", "a/b.bin"),
            (".//a/./b.bin", "a/b.bin"),
            ("a%23b.bin", "a#b.bin"),
            ("a?b.bin", "a?b.bin"),
        ] {
            assert_eq!(inside(uri).as_deref(), Some(name), "{uri}");
            let mut json = serde_json::json!({"buffers": [{"uri": uri}], "extras": {"uri": uri}});
            assert_eq!(is_tidy(&json), relative(uri).is_some());
            tidy(&mut json);
            assert!(is_tidy(&json) && json["extras"]["uri"] == uri);
            let uri = json["buffers"][0]["uri"].as_str().unwrap();
            assert_eq!(inside(uri).as_deref(), Some(name));
        }
        for uri in [
            "../a",
            "a/../b",
            "/a",
            "\\a",
            "C:\\a",
            "http://a/b",
            "",
            ".",
        ] {
            assert_eq!(inside(uri), None, "{uri}");
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
