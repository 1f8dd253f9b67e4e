//! The two formats of a glTF file.

use crate::document::SourceKind;
use std::path::Path;

/// The format of a glTF file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GltfFormat {
    /// One binary file (.glb).
    #[default]
    Glb,
    /// JSON text with data in files beside it (.gltf).
    Gltf,
}

impl GltfFormat {
    /// The format according to the extension of `path`.
    pub fn of_path(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        match ending.as_str() {
            "glb" => Some(Self::Glb),
            "gltf" => Some(Self::Gltf),
            _ => None,
        }
    }

    pub(super) fn file_name(self, stem: &str) -> String {
        match self {
            Self::Glb => format!("{stem}.glb"),
            Self::Gltf => format!("{stem}.gltf"),
        }
    }

    pub(super) fn is_of(self, kind: SourceKind) -> bool {
        matches!(
            (self, kind),
            (Self::Glb, SourceKind::Glb) | (Self::Gltf, SourceKind::Gltf)
        )
    }
}
