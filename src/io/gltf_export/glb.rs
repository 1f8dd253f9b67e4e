//! The binary container: splitting and assembling.

use super::error::GltfWriteError;
use crate::document::{Source, SourceKind};
use bytes::Bytes;

/// The content of a source file except its BIN chunk.
pub(super) struct Chunks {
    /// The JSON as text.
    pub(super) text: String,
    /// Chunks that are neither JSON nor BIN, with their headers.
    pub(super) more: Vec<Bytes>,
}

impl Chunks {
    pub(super) fn of(source: &Source) -> Self {
        let bytes = &source.bytes;
        let mut chunks = Self {
            text: String::new(),
            more: Vec::new(),
        };
        let as_text = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes);
            text.trim_start_matches('\u{feff}')
                .trim_matches(['\0', ' ', '\n', '\r', '\t'])
                .to_owned()
        };
        if source.kind == SourceKind::Gltf {
            chunks.text = as_text(bytes);
            return chunks;
        }
        let word = |at: usize| {
            let word: [u8; 4] = bytes.get(at..at + 4)?.try_into().ok()?;
            Some(u32::from_le_bytes(word))
        };
        let mut at = 12;
        while let (Some(length), Some(kind)) = (word(at), word(at + 4)) {
            let end = (at + 8).saturating_add(length as usize).min(bytes.len());
            match &kind.to_le_bytes() {
                b"JSON" if chunks.text.is_empty() => chunks.text = as_text(&bytes[at + 8..end]),
                b"JSON" | b"BIN\0" => {}
                // A truncated or misaligned chunk would break those after it.
                _ if (end - at) % 4 == 0 && end - at == 8 + length as usize => {
                    chunks.more.push(bytes.slice(at..end));
                }
                _ => {}
            }
            at = end;
        }
        chunks
    }
}

/// A binary container (glTF 2.0, 4.4).
pub(super) fn glb(json: &str, bin: &[u8], more: &[Bytes]) -> Result<Bytes, GltfWriteError> {
    let json_len = json.len().next_multiple_of(4);
    let bin_len = bin.len().next_multiple_of(4);
    let bin_chunk = if bin.is_empty() { 0 } else { 8 + bin_len };
    let total = 12 + 8 + json_len + bin_chunk + more.iter().map(Bytes::len).sum::<usize>();
    if u32::try_from(total).is_err() {
        return Err(GltfWriteError::TooLarge { bytes: total });
    }
    let mut out = Vec::with_capacity(total);
    out.extend_from_slice(b"glTF");
    out.extend_from_slice(&2u32.to_le_bytes());
    out.extend_from_slice(&(total as u32).to_le_bytes());
    out.extend_from_slice(&(json_len as u32).to_le_bytes());
    out.extend_from_slice(b"JSON");
    out.extend_from_slice(json.as_bytes());
    out.resize(20 + json_len, b' ');
    if bin_chunk > 0 {
        out.extend_from_slice(&(bin_len as u32).to_le_bytes());
        out.extend_from_slice(b"BIN\0");
        out.extend_from_slice(bin);
        out.resize(20 + json_len + bin_chunk, 0);
    }
    for chunk in more {
        out.extend_from_slice(chunk);
    }
    Ok(Bytes::from(out))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_padded_and_unknown_ones_kept() {
        let unknown = Bytes::from_static(b"\x04\0\0\0XTRAdata");
        let bytes = glb("{}", &[1, 2, 3, 4, 5], std::slice::from_ref(&unknown)).unwrap();
        assert_eq!(bytes.len(), 12 + 12 + 16 + 12);
        assert_eq!(&bytes[20..24], b"{}  ");
        assert_eq!(&bytes[32..40], [1, 2, 3, 4, 5, 0, 0, 0]);
        let source = Source {
            path: None,
            sample: None,
            converted_from: None,
            repairs: crate::document::Repairs::default(),
            fingerprint: 0,
            kind: SourceKind::Glb,
            bytes,
            json: serde_json::Value::Null,
            outside: std::collections::BTreeSet::new(),
            buffers: Vec::new(),
        };
        let chunks = Chunks::of(&source);
        assert_eq!((chunks.text.as_str(), chunks.more), ("{}", vec![unknown]));
    }
}
