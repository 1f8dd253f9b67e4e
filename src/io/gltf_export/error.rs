//! Why a model could not be written, in sentences an artist can act on.

use crate::task::Cancelled;

/// Why nothing was written. Each displays as one sentence.
#[derive(Debug, thiserror::Error)]
pub enum GltfWriteError {
    /// The task was cancelled.
    #[error("The export was cancelled.")]
    Cancelled(#[from] Cancelled),
    /// The document did not come from a glTF file.
    #[error("The model has no source file that an export could be based on.")]
    NoSource,
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
    /// A binary container holds 4 GiB at most.
    #[error(
        "The model takes {bytes} bytes, more than the 4 GiB that a .glb can hold; export it as .gltf."
    )]
    TooLarge {
        /// Size of the file.
        bytes: usize,
    },
}
