//! Why a model could not be exported, in sentences an artist can act on.

use crate::bake::frames::FramesError;
use crate::io::atomic::WriteError;
use crate::io::gltf_export::GltfWriteError;
use crate::task::Cancelled;
use std::path::PathBuf;

/// Why nothing was exported. Each displays as one sentence.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The task was cancelled.
    #[error("The export was cancelled.")]
    Cancelled(#[from] Cancelled),
    /// The clip of a moment is not there.
    #[error("The model has no such clip.")]
    NoClip,
    /// Neither .glb nor .gltf.
    #[error("\"{}\" ends neither in .glb nor in .gltf.", path.display())]
    Extension {
        /// The file.
        path: PathBuf,
    },
    /// What correction was asked for makes no sense.
    #[error("{why}")]
    Correction {
        /// A sentence.
        why: String,
    },
    /// The written file could not be read again.
    #[error("The written file could not be read again, so it was not kept: {why}")]
    Unreadable {
        /// Why.
        why: String,
    },
    /// Frames could not be found.
    #[error(transparent)]
    Frames(FramesError),
    /// A file the model needs beside it would replace another one of that name.
    #[error("The model needs the file \"{}\", but another one of that name is there; nothing was written.", path.display())]
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
