//! Resolves the URI of a buffer or an image: embedded data or a file beside the model.

use super::budget::Budget;
use super::error::{Fault, reason};
use super::findings::Findings;
use super::json::{At, list_len};
use crate::finding::Finding;
use crate::io::read::{MAX_MODEL_BYTES, read_file};
use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use bytes::Bytes;
use percent_encoding::percent_decode_str;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The data of a URI, and whether it came from another file.
#[derive(Debug)]
pub(super) struct Fetched {
    pub(super) bytes: Bytes,
    pub(super) external: bool,
}

/// Reads the data of `uri`. `place` is the path of the URI in the JSON; external files are read from `folder`.
pub(super) fn fetch(
    uri: &str,
    place: &str,
    folder: Option<&Path>,
    budget: &Budget,
) -> Result<Fetched, Fault> {
    if let Some(rest) = strip_prefix_ignoring_case(uri, "data:") {
        budget.charge(uri.len() as u64, place)?;
        return Ok(Fetched {
            bytes: data(rest, place)?.into(),
            external: false,
        });
    }
    if let Some((scheme, _)) = uri.split_once(':')
        && scheme
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    {
        return Err(Fault::new(
            place,
            format!(
                "{place} is \"{}\", but only files beside the model can be read.",
                shortened(uri)
            ),
        ));
    }
    let relative = percent_decode_str(uri).decode_utf8().map_err(|_| {
        Fault::new(
            place,
            format!(
                "{place} is \"{}\", which is not valid UTF-8.",
                shortened(uri)
            ),
        )
    })?;
    if relative.is_empty() || relative.starts_with(['/', '\\']) || relative.contains('\0') {
        return Err(Fault::new(
            place,
            format!(
                "{place} is \"{}\", which is not a file beside the model.",
                shortened(uri)
            ),
        ));
    }
    let Some(folder) = folder else {
        return Err(Fault::new(
            place,
            format!(
                "{place} is the file \"{}\", but the model's folder is unknown.",
                shortened(&relative)
            ),
        ));
    };
    let bytes = read(folder, &relative).map_err(|error| {
        Fault::new(
            place,
            format!(
                "The file \"{}\" of {place} could not be read: {}.",
                shortened(&relative),
                reason(&error)
            ),
        )
    })?;
    budget.add_file(bytes.len());
    Ok(Fetched {
        bytes,
        external: true,
    })
}

/// Reads `relative` to `folder`.
fn read(folder: &Path, relative: &str) -> std::io::Result<Bytes> {
    read_file(&path_of(folder, relative), MAX_MODEL_BYTES).map(Bytes::from)
}

/// The path of `relative` to `folder`; writers on other systems separate folders with backslashes.
fn path_of(folder: &Path, relative: &str) -> PathBuf {
    let plain = folder.join(relative);
    if plain.exists() {
        plain
    } else {
        folder.join(relative.replace('\\', "/"))
    }
}

/// The URIs of buffers and images whose files exist, but not in the folder of the model or below: by their path, or
/// through a symbolic link. Each is a finding, since an export would carry its content elsewhere.
pub(super) fn outside(
    json: &Value,
    folder: Option<&Path>,
    findings: &mut Findings,
) -> BTreeSet<String> {
    let mut outside = BTreeSet::new();
    // The folder of a bare file name is empty, which the system does not resolve.
    let folder = folder.map(|folder| {
        if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        }
    });
    let Some((folder, real)) = folder.and_then(|f| Some((f, f.canonicalize().ok()?))) else {
        return outside;
    };
    for list in ["buffers", "images"] {
        for i in 0..list_len(json, list) {
            let at = At::root(json, list, i);
            let uri = at.text("uri");
            let Some(uri) = uri.filter(|uri| strip_prefix_ignoring_case(uri, "data:").is_none())
            else {
                continue;
            };
            let relative = percent_decode_str(uri).decode_utf8_lossy();
            let file = path_of(folder, &relative).canonicalize();
            if file.is_ok_and(|file| !file.starts_with(&real)) {
                let place = at.path("uri");
                findings.push(Finding::warning(
                    &place,
                    format!(
                        "{place} is the file \"{}\", which is outside the model's folder; an export includes it only \
                         if you choose so.",
                        shortened(&relative)
                    ),
                ));
                outside.insert(uri.to_owned());
            }
        }
    }
    outside
}

/// The bytes of a data URI, after `data:`.
fn data(rest: &str, place: &str) -> Result<Vec<u8>, Fault> {
    let Some((kind, payload)) = rest.split_once(',') else {
        return Err(Fault::new(
            place,
            format!("The data URI of {place} has no comma."),
        ));
    };
    let base64 = kind
        .rsplit(';')
        .next()
        .is_some_and(|last| last.trim().eq_ignore_ascii_case("base64"));
    if !base64 {
        return Ok(percent_decode_str(payload).collect());
    }
    // Padding, percent encoding and line breaks differ between writers.
    let engine = GeneralPurpose::new(
        &alphabet::STANDARD,
        GeneralPurposeConfig::new()
            .with_decode_padding_mode(DecodePaddingMode::Indifferent)
            .with_decode_allow_trailing_bits(true),
    );
    let decoded = if payload
        .bytes()
        .any(|b| b == b'%' || b.is_ascii_whitespace())
    {
        let cleaned: Vec<u8> = percent_decode_str(payload)
            .filter(|b| !b.is_ascii_whitespace())
            .collect();
        engine.decode(cleaned)
    } else {
        engine.decode(payload)
    };
    decoded.map_err(|error| {
        Fault::new(
            place,
            format!("The data URI of {place} is not valid base64: {error}."),
        )
    })
}

fn strip_prefix_ignoring_case<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let head = text.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix)
        .then(|| &text[prefix.len()..])
}

/// At most 60 characters of a name, which may be a whole file.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fetched(uri: &str) -> Result<Vec<u8>, String> {
        fetch(uri, "buffers[0].uri", None, &Budget::new(0))
            .map(|f| f.bytes.to_vec())
            .map_err(|f| f.message)
    }

    #[test]
    fn data_uris_come_with_and_without_base64_and_padding() {
        assert_eq!(fetched("data:;base64,AQID").unwrap(), [1, 2, 3]);
        assert_eq!(fetched("DATA:a/b;Base64,AQI").unwrap(), [1, 2]);
        assert_eq!(fetched("data:;base64,AQ%3D%3D").unwrap(), [1]);
        assert_eq!(fetched("data:text/plain,a%20b").unwrap(), b"a b");
        assert!(fetched("data:;base64,*").unwrap_err().contains("base64"));
        assert!(fetched("data:AQID").unwrap_err().contains("no comma"));
    }

    #[test]
    fn other_schemes_and_absolute_paths_are_refused() {
        for uri in ["http://a/b.bin", "file:///etc/passwd", "C:\\a.bin"] {
            assert!(
                fetched(uri)
                    .unwrap_err()
                    .contains("only files beside the model")
            );
        }
        assert!(
            fetched("/dev/zero")
                .unwrap_err()
                .contains("is not a file beside")
        );
        assert!(fetched("a.bin").unwrap_err().contains("folder"));
    }

    #[test]
    fn names_are_percent_decoded_and_devices_refused() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a b.bin"), [7]).unwrap();
        let budget = Budget::new(0);
        let read = |uri| fetch(uri, "buffers[0].uri", Some(folder.path()), &budget);
        assert_eq!(read("a%20b.bin").unwrap().bytes[..], [7]);
        assert_eq!(read("./a b.bin").unwrap().bytes[..], [7]);
        assert_eq!(
            read("none.bin").unwrap_err().message,
            "The file \"none.bin\" of buffers[0].uri could not be read: no such file."
        );
        let up = "../".repeat(20);
        assert!(read(&format!("{up}dev/zero")).is_err());
    }
}
