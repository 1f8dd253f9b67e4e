//! The two glTF containers, binary (.glb) and text (.gltf): splits a file into JSON and the binary chunk.

use super::budget::Budget;
use super::error::ImportError;
use super::findings::Findings;
use crate::document::SourceKind;
use crate::finding::Finding;
use bytes::Bytes;
use serde_json::Value;

/// The largest JSON nesting depth accepted: glTF itself needs 8 levels, extras some more.
const MAX_DEPTH: usize = 100;
/// Heap memory of a parsed JSON value, an object and a key, bytes, including the spare capacity of their containers.
const VALUE_BYTES: u64 = 96;
const OBJECT_BYTES: u64 = 300;
const KEY_BYTES: u64 = 140;

/// The parts of a file.
#[derive(Debug)]
pub(super) struct Container {
    pub(super) kind: SourceKind,
    pub(super) json: Value,
    /// The BIN chunk, a slice of the file.
    pub(super) bin: Option<Bytes>,
    /// Whether the file ends before the BIN chunk does, which was reported.
    pub(super) bin_is_cut: bool,
}

/// Splits the file into chunks and parses its JSON.
pub(super) fn open(
    bytes: &Bytes,
    budget: &Budget,
    findings: &mut Findings,
) -> Result<Container, ImportError> {
    let mut bin_is_cut = false;
    let (kind, text, bin) = if bytes.starts_with(b"glTF") {
        let (json, bin) = chunks(bytes, &mut bin_is_cut, findings)?;
        (SourceKind::Glb, json, bin)
    } else {
        let first = bytes
            .strip_prefix(b"\xef\xbb\xbf")
            .unwrap_or(bytes)
            .iter()
            .find(|b| !b.is_ascii_whitespace());
        if first != Some(&b'{') {
            return Err(ImportError::NotGltf {
                found: beginning(bytes),
            });
        }
        (SourceKind::Gltf, bytes.clone(), None)
    };
    let json = parse(&text, budget, findings)?;
    Ok(Container {
        kind,
        json,
        bin,
        bin_is_cut,
    })
}

/// The JSON chunk and the BIN chunk of a .glb (glTF 2.0, 4.4).
fn chunks(
    bytes: &Bytes,
    bin_is_cut: &mut bool,
    findings: &mut Findings,
) -> Result<(Bytes, Option<Bytes>), ImportError> {
    let word = |at: usize| {
        let end = at.checked_add(4)?;
        let word: [u8; 4] = bytes.get(at..end)?.try_into().ok()?;
        Some(u32::from_le_bytes(word))
    };
    let cut_off = |place, needed| ImportError::CutOff {
        place,
        needed,
        present: bytes.len() as u64,
    };
    let (Some(version), Some(length)) = (word(4), word(8)) else {
        return Err(cut_off("the header", 12));
    };
    if version != 2 {
        return Err(ImportError::Version {
            place: "version of the binary container",
            version: version.to_string(),
        });
    }
    // A truncated file is reported with its chunk below.
    if (length as usize) < bytes.len() {
        findings.push(Finding::warning(
            "header",
            format!(
                "The header gives a length of {length} bytes, but the file has {}; the available bytes are read.",
                bytes.len()
            ),
        ));
    }
    let (mut json, mut bin): (Option<Bytes>, Option<Bytes>) = (None, None);
    let mut at = 12;
    while let (Some(length), Some(kind)) = (word(at), word(at + 4)) {
        let start = at + 8;
        let wanted = start as u64 + u64::from(length);
        let end = (wanted as usize).min(bytes.len());
        match &kind.to_le_bytes() {
            b"JSON" if json.is_none() => {
                if wanted > bytes.len() as u64 {
                    return Err(cut_off("the JSON chunk", wanted));
                }
                json = Some(bytes.slice(start..end));
            }
            b"BIN\0" if bin.is_none() => {
                if wanted > bytes.len() as u64 {
                    *bin_is_cut = true;
                    findings.push(Finding::error(
                        "BIN chunk",
                        format!(
                            "The file is truncated: the BIN chunk needs {length} bytes, but only {} are present.",
                            end - start
                        ),
                    ));
                }
                bin = Some(bytes.slice(start..end));
            }
            name @ (b"JSON" | b"BIN\0") => findings.push(Finding::warning(
                format!("chunk at byte {at}"),
                format!(
                    "A second {} chunk was left out.",
                    String::from_utf8_lossy(&name[..]).trim_end_matches('\0')
                ),
            )),
            _ if json.is_none() && bin.is_none() => findings.push(Finding::warning(
                format!("chunk at byte {at}"),
                format!(
                    "A chunk of unknown type {kind:#010x} precedes the JSON chunk and was left out."
                ),
            )),
            // Later unknown chunks are extensions that readers ignore (glTF 2.0, 4.4.3.1).
            _ => {}
        }
        // Files whose writer omitted the padding are read at the exact byte.
        at = end;
    }
    match json {
        Some(json) => Ok((json, bin)),
        None if bytes.len() < 20 => Err(cut_off("the JSON chunk", 20)),
        None => Err(ImportError::NoJson),
    }
}

/// Parses the JSON after checking its nesting depth and memory requirement.
fn parse(text: &Bytes, budget: &Budget, findings: &mut Findings) -> Result<Value, ImportError> {
    let mut text: &[u8] = text;
    if let Some(rest) = text.strip_prefix(b"\xef\xbb\xbf") {
        text = rest;
        findings.push(Finding::info(
            "JSON",
            "The JSON begins with a byte order mark, which is ignored.",
        ));
    }
    // Some writers pad with zeros instead of spaces.
    let end = text
        .iter()
        .rposition(|&b| b != 0)
        .map_or(0, |last| last + 1);
    let text = &text[..end];
    let size = survey(text)?;
    budget.charge(size, "The JSON")?;
    let json: Value = serde_json::from_slice(text).map_err(|error| {
        let message = error.to_string();
        let message = message
            .split(" at line ")
            .next()
            .unwrap_or_default()
            .to_owned();
        ImportError::Json {
            line: error.line(),
            column: error.column(),
            message,
        }
    })?;
    if !json.is_object() {
        return Err(ImportError::NotGltf {
            found: "JSON that is not an object".to_owned(),
        });
    }
    check_asset(&json, findings)?;
    Ok(json)
}

/// An upper bound of the parsed JSON's size in memory, bytes; an error if it is nested too deeply.
fn survey(text: &[u8]) -> Result<u64, ImportError> {
    let (mut depth, mut values, mut objects, mut keys) = (0usize, 1u64, 0u64, 0u64);
    let mut bytes = text.iter().enumerate();
    while let Some((offset, &byte)) = bytes.next() {
        match byte {
            b'"' => {
                while let Some((_, &byte)) = bytes.next() {
                    match byte {
                        b'\\' => {
                            bytes.next();
                        }
                        b'"' => break,
                        _ => {}
                    }
                }
            }
            b'[' | b'{' => {
                depth += 1;
                values += 1;
                objects += u64::from(byte == b'{');
                if depth >= MAX_DEPTH {
                    return Err(ImportError::TooDeep {
                        limit: MAX_DEPTH,
                        offset,
                    });
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            b',' => values += 1,
            b':' => keys += 1,
            _ => {}
        }
    }
    Ok(values * VALUE_BYTES + objects * OBJECT_BYTES + keys * KEY_BYTES + text.len() as u64)
}

fn check_asset(json: &Value, findings: &mut Findings) -> Result<(), ImportError> {
    let asset = json.get("asset");
    let text = |key| asset.and_then(|asset| asset.get(key));
    match text("version") {
        None => findings.push(Finding::warning(
            "asset.version",
            "The file has no glTF version; it is read as 2.0.",
        )),
        Some(Value::String(version)) if version.starts_with("2.") => {
            if let Some(Value::String(needed)) = text("minVersion")
                && needed != "2.0"
            {
                findings.push(Finding::warning(
                    "asset.minVersion",
                    format!("The file requires glTF {needed}; it is read as 2.0."),
                ));
            }
        }
        Some(Value::String(version)) => {
            return Err(ImportError::Version {
                place: "glTF version of the file (asset.version)",
                version: version.clone(),
            });
        }
        Some(other) => findings.push(Finding::warning(
            "asset.version",
            format!(
                "asset.version should be a string, but it is {other}; the file is read as 2.0."
            ),
        )),
    }
    Ok(())
}

/// The format of a file according to its first bytes, as text.
fn beginning(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "no data (it is empty)".to_owned();
    }
    let known: [(&[u8], &str); 6] = [
        (b"Kaydara FBX", "the signature of an FBX file"),
        (b"BLENDER", "the signature of a Blender file"),
        (b"PK\x03\x04", "the signature of a ZIP archive"),
        (
            b"version https://git-lfs",
            "the signature of a Git LFS pointer",
        ),
        (b"\x1f\x8b", "the signature of a gzip archive"),
        (b"\x28\xb5\x2f\xfd", "the signature of a zstd archive"),
    ];
    if let Some((_, words)) = known.iter().find(|(mark, _)| bytes.starts_with(mark)) {
        return (*words).to_owned();
    }
    let shown: Vec<String> = bytes.iter().take(4).map(|b| format!("{b:02x}")).collect();
    format!("the bytes {}", shown.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_in_texts_do_not_nest() {
        let text = format!("{{\"a\":\"{}\\\"[\"}}", "[".repeat(500));
        assert!(survey(text.as_bytes()).is_ok());
        assert!(matches!(
            survey("[".repeat(500).as_bytes()),
            Err(ImportError::TooDeep { offset: 99, .. })
        ));
    }

    #[test]
    fn other_formats_are_named() {
        let mut findings = Findings::default();
        let open = |bytes: &'static [u8], findings: &mut Findings| {
            open(&Bytes::from_static(bytes), &Budget::new(0), findings)
                .unwrap_err()
                .to_string()
        };
        assert!(
            open(b"Kaydara FBX Binary", &mut findings).contains("the signature of an FBX file")
        );
        assert!(open(b"", &mut findings).contains("it is empty"));
        assert_eq!(
            open(b"glTF\x02\0\0", &mut findings),
            "The file is truncated: the header needs 12 bytes, but only 7 are present."
        );
    }
}
