//! Errors of an export, as sentences that an artist can act on.

use crate::bake::frames::FramesError;
use crate::io::atomic::WriteError;
use crate::io::gltf_export::GltfWriteError;
use crate::task::Cancelled;
use std::path::PathBuf;

/// The reason that nothing was exported, displayed as one sentence.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The task was cancelled.
    #[error("The export was cancelled.")]
    Cancelled(#[from] Cancelled),
    /// The clip of a static mesh does not exist.
    #[error("The model has no such clip.")]
    NoClip,
    /// Neither .glb nor .gltf.
    #[error("\"{}\" has neither the extension .glb nor .gltf.", path.display())]
    Extension {
        /// The file.
        path: PathBuf,
    },
    /// The requested correction is not possible.
    #[error("{why}")]
    Correction {
        /// The reason, one sentence.
        why: String,
    },
    /// The written file could not be read back.
    #[error("The written file could not be read back, so it was discarded: {why}")]
    Unreadable {
        /// The reason.
        why: String,
    },
    /// Frames could not be computed.
    #[error(transparent)]
    Frames(FramesError),
    /// A buffer of the model is in another folder.
    #[error(
        "The model's data \"{uri}\" is outside the model's folder. To include it in the export, choose Include files \
         outside the folder (--include-outside)."
    )]
    Outside {
        /// The URI.
        uri: String,
    },
    /// Data that the model needs is not in its file, which was cut short.
    #[error(
        "The model's file is cut short: it should have {wanted} bytes of data, but has only {present}, so that a copy would \
         lack them, too. Get a complete copy of the file."
    )]
    CutShort {
        /// The length of its buffer, bytes.
        wanted: u64,
        /// The bytes present.
        present: usize,
    },
    /// A file that the model needs beside it would replace a different file of that name.
    #[error("The model needs the file \"{}\", but a different file of that name exists. Nothing was written.", path.display())]
    Occupied {
        /// The file.
        path: PathBuf,
    },
    /// The model cannot be written as glTF.
    #[error(transparent)]
    Model(GltfWriteError),
    /// A file could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl From<FramesError> for ExportError {
    fn from(error: FramesError) -> Self {
        match error {
            FramesError::Cancelled(cancelled) => Self::Cancelled(cancelled),
            error @ FramesError::TooLarge { .. } => Self::Frames(error),
        }
    }
}

impl From<GltfWriteError> for ExportError {
    fn from(error: GltfWriteError) -> Self {
        match error {
            GltfWriteError::Cancelled(cancelled) => Self::Cancelled(cancelled),
            error => Self::Model(error),
        }
    }
}
