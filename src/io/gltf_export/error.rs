//! Errors of writing a model, as sentences that an artist can act on.

use crate::task::Cancelled;

/// The reason that nothing was written, displayed as one sentence.
#[derive(Debug, thiserror::Error)]
pub enum GltfWriteError {
    /// The task was cancelled.
    #[error("The export was cancelled.")]
    Cancelled(#[from] Cancelled),
    /// The document was not imported from a glTF file.
    #[error("The model has no source file that an export could be based on.")]
    NoSource,
    /// The animation does not exist in the source's JSON.
    #[error("The source has no animation {animation} to write a clip to.")]
    AnimationMissing {
        /// The animation index.
        animation: usize,
    },
    /// The mesh does not exist in the source's JSON.
    #[error("The source has no mesh {mesh} to copy.")]
    MeshMissing {
        /// The mesh index.
        mesh: u32,
    },
    /// A copy of a mesh would get another number than it has in the document.
    #[error("The copied mesh {mesh} of the project would be mesh {found} of the file.")]
    MeshNumber {
        /// The number in the document.
        mesh: u32,
        /// The number in the file.
        found: usize,
    },
    /// The primitive does not exist in the source's JSON.
    #[error("The source has no primitive {primitive} of mesh {mesh} to write weights to.")]
    PrimitiveMissing {
        /// The mesh index.
        mesh: u32,
        /// The primitive index.
        primitive: usize,
    },
    /// A primitive of the source has a different number of vertices from the document's.
    #[error(
        "Primitive {primitive} of mesh {mesh} has {found} vertices in the source, but {expected} in the project."
    )]
    VertexCount {
        /// The mesh index.
        mesh: u32,
        /// The primitive index.
        primitive: usize,
        /// The number of vertices in the source.
        found: usize,
        /// The number of vertices in the document.
        expected: usize,
    },
    /// The skin does not exist in the source's JSON.
    #[error("The source has no skin {skin} to add joints to.")]
    SkinMissing {
        /// The skin index.
        skin: u32,
    },
    /// The compressed data of an edited primitive could not be decoded.
    #[error(
        "The compressed data of primitive {primitive} of mesh {mesh} cannot be written uncompressed: {why}"
    )]
    Compressed {
        /// The mesh index.
        mesh: u32,
        /// The primitive index.
        primitive: usize,
        /// The reason, one sentence.
        why: String,
    },
    /// A file that the model needs is outside of its folder.
    #[error(
        "The model needs \"{}\", which is outside its folder and cannot be copied beside the export. Nothing was \
         written: move it into the model's folder.",
        shortened(uri)
    )]
    Outside {
        /// Its URI.
        uri: String,
    },
    /// A binary container is limited to 4 GiB.
    #[error(
        "The model takes {bytes} bytes, more than the 4 GiB that a .glb can hold; export it as .gltf."
    )]
    TooLarge {
        /// The size of the file, bytes.
        bytes: usize,
    },
}

/// At most 60 characters of a name.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
