//! Recorded channels: CSV (also TSV) and TRC, the tab-separated marker format of biomechanics.
//!
//! Data flow: a file -> `text` (bounded, UTF-8) -> `csv` (`cells`, `header`, `columns`) or `trc` -> `in_order` (rows by
//! time) -> a [`Recording`].
//!
//! # CSV
//!
//! The first line that is neither blank nor a comment is the header; the separator is `,`, `;` or a tab. Units stand in
//! brackets, as in `time[ms]`; positions become metres, angles radians, times seconds.
//!
//! | column | holds |
//! |---|---|
//! | `time`, `t` | seconds, or `[ms]`, `[us]`; `[frame]` needs `# fps=` |
//! | `frame` | frame numbers; needs `# fps=` |
//! | `NAME.x`, `.y`, `.z` | the position of a marker: metres, or `[cm]`, `[mm]` |
//! | `NAME.qx`, `.qy`, `.qz`, `.qw` | the rotation of a joint in its parent's space |
//! | `NAME.rx`, `.ry`, `.rz` | the same as intrinsic Euler angles, `[deg]` or `[rad]`, in the order of `# order=` (xyz) |
//! | any other | a scalar; labels if all its cells are words |
//!
//! Comments begin with `#`; `# device: NAME` and `# event: NAME at SECONDS` are kept. In a `;` file numbers may have a
//! decimal comma. Empty cells and `nan` are missing values.
//!
//! Invariant: every fault is a sentence with its line, and its column where it has one.
//! Invariant: a file larger than [`MAX_FILE_BYTES`] is refused before it is read.

mod cells;
mod columns;
mod csv;
mod error;
mod header;
mod in_order;
mod number;
mod text;
mod trc;

pub use csv::parse_csv;
pub use error::{ChannelFileError, Fault, MAX_FILE_BYTES, Place};
pub use trc::parse_trc;

use crate::cluster::channel::{Recording, RecordingItem};
use crate::task::{Cancelled, Task};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// Reads a recording: a .trc file as TRC, any other as CSV.
pub fn read_recording(path: &Path, task: &Task) -> Result<Recording, ChannelFileError> {
    let text = text::read(path)?;
    parse(path, &text, task)
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
    Ok(RecordingItem {
        name,
        path,
        fingerprint,
        content,
    })
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
    Ok(RecordingItem {
        name,
        path,
        fingerprint: xxh3_64(text.as_bytes()),
        content,
    })
}

fn parse(path: &Path, text: &str, task: &Task) -> Result<Recording, ChannelFileError> {
    task.step("Reading channels", 0.0)?;
    let is_trc = path
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("trc"));
    let parsed = if is_trc {
        parse_trc(text, task)
    } else {
        parse_csv(text, task)
    };
    parsed.map_err(|fault| fault.of(path))
}
