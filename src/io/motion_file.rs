//! Files of motion: BVH, and recordings of channels.

use super::channels::{ChannelFileError, MAX_FILE_BYTES, read_recording};
use super::read::read_file;
use crate::motion::Recording;
use crate::motion::bvh::{Bvh, MAX_BVH_BYTES};
use crate::motion::fault::{Fault, Place};
use crate::motion::vmc::{VmcSource, read_log};
use crate::task::{Cancelled, Task};
use std::path::{Path, PathBuf};

/// What a file of motion holds.
#[derive(Clone, Debug)]
pub enum MotionFile {
    /// A skeleton and its motion.
    Bvh(Bvh),
    /// Channels over time.
    Recording(Recording),
}

/// Why a file of motion cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum MotionFileError {
    /// It was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// Its name says that it is something else.
    #[error("{} is not a motion file that Sinew reads: .bvh, .csv, .tsv, .trc, .jsonl or .vmclog", .0.display())]
    Unknown(PathBuf),
    /// It cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is a recording that cannot be read.
    #[error(transparent)]
    Channels(#[from] ChannelFileError),
    /// Its text is not valid.
    #[error("{}{fault}", path.display())]
    Text {
        /// The file.
        path: PathBuf,
        /// What and where.
        fault: Place,
    },
}

/// Reads a file of motion by its extension: .bvh; .csv, .tsv, .txt, .trc, .jsonl or .vmclog.
pub fn read_motion(path: &Path, task: &Task) -> Result<MotionFile, MotionFileError> {
    let extension = path
        .extension()
        .and_then(|e| e.to_str())
        .unwrap_or_default();
    match extension.to_ascii_lowercase().as_str() {
        "bvh" => read_bvh(path, task).map(MotionFile::Bvh),
        "csv" | "tsv" | "txt" | "trc" | "jsonl" | "ndjson" | "vmclog" => {
            Ok(MotionFile::Recording(read_recording(path, task)?))
        }
        _ => Err(MotionFileError::Unknown(path.to_owned())),
    }
}

/// Reads logged VMC packets.
pub fn read_vmc(path: &Path, task: &Task) -> Result<VmcSource, MotionFileError> {
    let bytes = read_file(path, MAX_FILE_BYTES).map_err(|source| MotionFileError::Io {
        path: path.to_owned(),
        source,
    })?;
    read_log(&bytes, task).map_err(|fault| MotionFileError::of(path, fault))
}

impl MotionFileError {
    /// The error of the file with this content.
    fn of(path: &Path, fault: Fault) -> Self {
        match fault {
            Fault::Cancelled => Cancelled.into(),
            Fault::Text(fault) => Self::Text {
                path: path.to_owned(),
                fault,
            },
        }
    }
}

/// Reads a BVH file.
pub fn read_bvh(path: &Path, task: &Task) -> Result<Bvh, MotionFileError> {
    let bytes = read_file(path, MAX_BVH_BYTES).map_err(|source| MotionFileError::Io {
        path: path.to_owned(),
        source,
    })?;
    Bvh::read(bytes, task).map_err(|fault| MotionFileError::of(path, fault))
}
