//! Recorded channels: CSV (also TSV), TRC, the tab-separated marker format of biomechanics, and JSON lines.
//!
//! Data flow: a file -> `text` (bounded, UTF-8) -> [`crate::motion::table`] -> a [`Recording`].
//!
//! Invariant: every fault is a sentence with its line, and its column where it has one.
//! Invariant: a file larger than [`MAX_FILE_BYTES`] is refused before it is read.

mod error;
mod text;

pub use crate::motion::fault::{Fault, Place};
pub use crate::motion::table::{parse_csv, parse_json_lines, parse_trc};
pub use error::{ChannelFileError, MAX_FILE_BYTES};

use crate::cluster::channel::RecordingItem;
use crate::motion::Recording;
use crate::motion::vmc::read_log;
use crate::task::{Cancelled, Task};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// Reads a recording: a .trc file as TRC, a .jsonl or .ndjson file as JSON lines, a .vmclog
/// file as logged VMC packets, any other as CSV.
pub fn read_recording(path: &Path, task: &Task) -> Result<Recording, ChannelFileError> {
    if is_packet_log(path) {
        let bytes = text::read_bytes(path)?;
        let source = read_log(&bytes, task);
        return Ok(source
            .map_err(|fault| ChannelFileError::of(path, fault))?
            .recording());
    }
    let text = text::read(path)?;
    parse(path, &text, task)
}

/// Whether a path is that of logged packets.
pub fn is_packet_log(path: &Path) -> bool {
    path.extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("vmclog"))
}

/// The recording at `path` as an item of a document with a name. Where it cannot be read, the item holds the reason and the
/// fingerprint `known`.
pub fn read_item(
    name: String,
    path: &Path,
    known: u64,
    task: &Task,
) -> Result<RecordingItem, Cancelled> {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut fingerprint = known;
    let read = text::read(&path).and_then(|text| {
        fingerprint = xxh3_64(text.as_bytes());
        parse(&path, &text, task)
    });
    let content = match read {
        Ok(recording) => Ok(Arc::new(recording)),
        Err(ChannelFileError::Cancelled(why)) => return Err(why),
        Err(why) => Err(why.to_string()),
    };
    Ok(RecordingItem::new(name, path, fingerprint, content))
}

/// The hash of the content of the file at `path`, which [`read_item`] has as its fingerprint; `None` where it cannot be read.
pub fn content_hash(path: &Path) -> Option<u64> {
    if is_packet_log(path) {
        return Some(xxh3_64(&text::read_bytes(path).ok()?));
    }
    let text = text::read(path).ok()?;
    Some(xxh3_64(text.as_bytes()))
}

/// The recording in the text of a file that comes with Sinew, as an item of a document. `path` names it.
pub fn built_in_item(
    name: String,
    path: PathBuf,
    text: &str,
    task: &Task,
) -> Result<RecordingItem, Cancelled> {
    let content = match parse(&path, text, task) {
        Ok(recording) => Ok(Arc::new(recording)),
        Err(ChannelFileError::Cancelled(why)) => return Err(why),
        Err(why) => Err(why.to_string()),
    };
    let fingerprint = xxh3_64(text.as_bytes());
    Ok(RecordingItem::new(name, path, fingerprint, content))
}

fn parse(path: &Path, text: &str, task: &Task) -> Result<Recording, ChannelFileError> {
    task.step("Reading channels", 0.0)?;
    let extension = path.extension().and_then(|e| e.to_str());
    let parsed = match extension.unwrap_or_default().to_ascii_lowercase().as_str() {
        "trc" => parse_trc(text, task),
        "jsonl" | "ndjson" => parse_json_lines(text, task),
        _ => parse_csv(text, task),
    };
    parsed.map_err(|fault| ChannelFileError::of(path, fault))
}
