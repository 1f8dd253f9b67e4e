//! Why a model could not be exported, in sentences an artist can act on.

use crate::bake::frames::FramesError;
use crate::io::atomic::WriteError;
use crate::task::Cancelled;
use std::path::PathBuf;

/// Why nothing was exported. Each displays as one sentence.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The task was cancelled.
    #[error("The export was cancelled.")]
    Cancelled(#[from] Cancelled),
    /// The document did not come from a glTF file.
    #[error("The model has no source file that an export could be based on.")]
    NoSource,
    /// The clip of a moment is not there.
    #[error("The model has no such clip.")]
    NoClip,
    /// Neither .glb nor .gltf.
    #[error("\"{}\" ends neither in .glb nor in .gltf.", path.display())]
    Extension {
        /// The file.
        path: PathBuf,
    },
    /// The source's JSON has no such animation.
    #[error("The source has no animation {animation} to write a clip to.")]
    AnimationMissing {
        /// Its index.
        animation: usize,
    },
    /// The source's JSON has no such primitive.
    #[error("The source has no primitive {primitive} of mesh {mesh} to write weights to.")]
    PrimitiveMissing {
        /// Mesh index.
        mesh: u32,
        /// Primitive index.
        primitive: usize,
    },
    /// A primitive of the source has another number of vertices than the document.
    #[error(
        "Primitive {primitive} of mesh {mesh} has {found} vertices in the source, but {expected} in the document."
    )]
    VertexCount {
        /// Mesh index.
        mesh: u32,
        /// Primitive index.
        primitive: usize,
        /// Vertices in the source.
        found: usize,
        /// Vertices in the document.
        expected: usize,
    },
    /// The source's JSON has no such skin.
    #[error("The source has no skin {skin} to add joints to.")]
    SkinMissing {
        /// Its index.
        skin: u32,
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
    /// Compressed data of an edited primitive could not be read again.
    #[error(
        "The compressed data of primitive {primitive} of mesh {mesh} cannot be written uncompressed: {why}"
    )]
    Compressed {
        /// Mesh index.
        mesh: u32,
        /// Primitive index.
        primitive: usize,
        /// What is wrong, a sentence.
        why: String,
    },
    /// Frames could not be found.
    #[error(transparent)]
    Frames(FramesError),
    /// A binary container holds 4 GiB at most.
    #[error(
        "The model takes {bytes} bytes, more than the 4 GiB that a .glb can hold; export it as .gltf."
    )]
    TooLarge {
        /// Size of the file.
        bytes: usize,
    },
    /// A file the model needs beside it would replace another one of that name.
    #[error("The model needs the file \"{}\", but another one of that name is there; nothing was written.", path.display())]
    Occupied {
        /// The file.
        path: PathBuf,
    },
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
