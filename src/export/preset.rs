//! Presets of an export: what the importer of a program reads.
//!
//! Sources, as of 2026: three.js' documentation of `GLTFLoader` and its table of attributes (one set of joints); Godot's
//! `gltf_document.cpp` (two sets of joints; pull request 120205: files that require `KHR_mesh_quantization` or
//! `EXT_meshopt_compression` are refused); the extensions in Unity glTFast's documentation (meshopt by a package of its
//! own); Blender's `io_scene_gltf2` (every set of joints; of shape keys the positions only; its issue 1460: no meshopt).
//! What is not documented stays at the value that glTF requires of every player: one set of joints, no extension.

use super::options::ExportOptions;
use crate::bake::{BakeMode, BakeOptions};

/// A program that is to read the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportPreset {
    /// three.js, and the viewers made with it.
    ThreeJs,
    /// Godot 4.
    Godot,
    /// Unity with glTFast.
    Unity,
    /// Unreal Engine.
    Unreal,
    /// Blender.
    Blender,
}

/// The values of a preset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PresetValues {
    /// The maximum number of influences per vertex, 4 or 8, of an export without correction.
    pub influences: usize,
    /// Whether morph targets have normals.
    pub normals: bool,
    /// Whether morph targets of clips are quantized (`KHR_mesh_quantization`).
    pub quantize: bool,
}

impl ExportPreset {
    /// All presets, in the order of menus.
    pub const ALL: [Self; 5] = [
        Self::ThreeJs,
        Self::Godot,
        Self::Unity,
        Self::Unreal,
        Self::Blender,
    ];

    /// The label.
    pub fn label(self) -> &'static str {
        match self {
            Self::ThreeJs => "three.js",
            Self::Godot => "Godot 4",
            Self::Unity => "Unity (glTFast)",
            Self::Unreal => "Unreal Engine",
            Self::Blender => "Blender",
        }
    }

    /// What the program reads, in one or two sentences.
    pub fn about(self) -> &'static str {
        match self {
            Self::ThreeJs => {
                "GLTFLoader reads 4 influences per vertex and KHR_mesh_quantization. Compressed files need a decoder that \
                 the page sets."
            }
            Self::Godot => {
                "Godot reads 8 influences per vertex. It refuses quantized and compressed files."
            }
            Self::Unity => {
                "glTFast reads KHR_mesh_quantization. Compressed files need the package for meshopt."
            }
            Self::Unreal => {
                "4 influences per vertex and no extensions, which every importer of glTF reads."
            }
            Self::Blender => {
                "Blender reads 8 influences per vertex, and positions of morph targets only. It cannot open compressed files."
            }
        }
    }

    /// The values.
    pub fn values(self) -> PresetValues {
        let plain = PresetValues {
            influences: 4,
            normals: true,
            quantize: false,
        };
        match self {
            Self::ThreeJs | Self::Unity => PresetValues {
                quantize: true,
                ..plain
            },
            Self::Godot => PresetValues {
                influences: 8,
                ..plain
            },
            Self::Unreal => plain,
            Self::Blender => PresetValues {
                influences: 8,
                normals: false,
                ..plain
            },
        }
    }

    /// Sets what the preset says in the options of a bake: morph weights within 0 - 1, which every program takes.
    pub fn apply_to_bake(self, bake: &mut BakeOptions) {
        let values = self.values();
        bake.normals = values.normals;
        bake.quantize = values.quantize;
        bake.unipolar = true;
        bake.sparse = true;
    }

    /// Sets what the preset says in the options of an export, as far as it goes with its correction.
    pub fn apply(self, options: &mut ExportOptions) {
        options.meshopt = false;
        let Some(bake) = &mut options.correct else {
            options.influences = self.values().influences;
            return;
        };
        let mode = bake.mode;
        self.apply_to_bake(bake);
        bake.quantize &= mode == BakeMode::Clips;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preset_sets_what_goes_with_the_correction() {
        for preset in ExportPreset::ALL {
            let values = preset.values();
            let mut plain = ExportOptions {
                meshopt: true,
                ..ExportOptions::default()
            };
            preset.apply(&mut plain);
            assert_eq!(
                (plain.influences, plain.meshopt),
                (values.influences, false)
            );
            for mode in [BakeMode::Clips, BakeMode::Retarget, BakeMode::Frames] {
                let bake = BakeOptions {
                    mode,
                    unipolar: false,
                    ..BakeOptions::default()
                };
                let mut corrected = ExportOptions {
                    correct: Some(bake),
                    ..ExportOptions::default()
                };
                preset.apply(&mut corrected);
                assert_eq!(corrected.influences, 4, "a bake fits 4 influences");
                let bake = corrected.correct.expect("still corrected");
                assert_eq!(bake.quantize, values.quantize && mode == BakeMode::Clips);
                assert_eq!((bake.unipolar, bake.normals), (true, values.normals));
            }
        }
    }
}
