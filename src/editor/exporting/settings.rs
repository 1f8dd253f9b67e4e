//! The export settings. They persist while the window is open.

use crate::bake::{BakeMode, BakeOptions};
use crate::export::{ExportOptions, ExportPreset};

/// The kind of an export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExportKind {
    /// The model, with its skin and clips.
    #[default]
    Model,
    /// The frame on screen, as a static mesh.
    StaticMesh,
}

impl ExportKind {
    /// All kinds, in the order of menus.
    pub const ALL: [Self; 2] = [Self::Model, Self::StaticMesh];

    /// The label.
    pub fn label(self) -> &'static str {
        match self {
            Self::Model => "Model",
            Self::StaticMesh => "Current frame as mesh",
        }
    }

    /// A description in one or two sentences.
    pub fn about(self) -> &'static str {
        match self {
            Self::Model => "The opened model with your weights, clips and names.",
            Self::StaticMesh => {
                "The frame on screen as a mesh, deformed as you see it. No bones, skin, clips or morph targets."
            }
        }
    }
}

/// The deformation stored in the file besides the weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Correction {
    /// None: players deform the model by linear blend skinning.
    #[default]
    None,
    /// The result of the stacks, for the clips in the file.
    Clips,
    /// Helper joints that any clip can drive.
    Retarget,
    /// A morph target for each frame instead of a skin.
    Frames,
}

impl Correction {
    /// All corrections, in the order of menus.
    pub const ALL: [Self; 4] = [Self::None, Self::Clips, Self::Retarget, Self::Frames];

    /// The label.
    pub fn label(self) -> &'static str {
        match self {
            Self::None => "None",
            Self::Clips => "For these clips",
            Self::Retarget => "Retargetable",
            Self::Frames => "Morph frames",
        }
    }

    /// A description in one or two sentences.
    pub fn about(self) -> &'static str {
        match self {
            Self::None => {
                "The file contains your weights and clips. Other programs use linear blend skinning: elbows collapse and \
                 twists pinch."
            }
            Self::Clips => {
                "Adds helper joints and morph targets, so that every program shows the clips of the file as Sinew does."
            }
            Self::Retarget => {
                "Adds helper joints and stores their drivers in the file. An engine that reads the drivers corrects any clip. \
                 Other programs still play the clips of the file."
            }
            Self::Frames => {
                "Writes a morph target for each necessary frame instead of a skin. Use it for programs that cannot skin. The \
                 file can be large."
            }
        }
    }
}

/// The export settings.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::struct_excessive_bools)] // settings, each on its own
pub struct ExportSettings {
    /// What is exported.
    pub kind: ExportKind,
    /// The chosen correction; `None` means the one that the stacks require.
    pub correction: Option<Correction>,
    /// The bake options; the mode follows from the correction.
    pub bake: BakeOptions,
    /// The maximum number of influences per vertex of a rewritten mesh: 4 or 8.
    pub influences: usize,
    /// Writes the current pose as the rest pose of the file.
    pub write_pose_as_rest: bool,
    /// Writes valid weights in place of the source's invalid ones even where nothing else changes.
    pub fix_weights: bool,
    /// Includes files that the model references outside of its folder.
    pub include_outside: bool,
    /// Compresses the data of the file, which requires `EXT_meshopt_compression` of players.
    pub meshopt: bool,
    /// Adds the corrective samples as morph targets that nothing drives.
    pub sample_targets: bool,
    /// Writes constraints as `VRMC_node_constraint`, whatever the model is.
    pub node_constraints: bool,
    /// The program whose preset was chosen last.
    pub chosen_preset: Option<ExportPreset>,
}

impl Default for ExportSettings {
    fn default() -> Self {
        Self {
            kind: ExportKind::default(),
            correction: None,
            bake: BakeOptions::default(),
            influences: 4,
            write_pose_as_rest: false,
            fix_weights: false,
            include_outside: false,
            meshopt: false,
            sample_targets: false,
            node_constraints: false,
            chosen_preset: None,
        }
    }
}

impl ExportSettings {
    /// The options of an export with `correction`, without settings that do not apply to it.
    pub fn options(&self, correction: Correction) -> ExportOptions {
        let mode = match correction {
            Correction::None => {
                return ExportOptions {
                    influences: self.influences,
                    write_pose_as_rest: self.write_pose_as_rest,
                    fix_weights: self.fix_weights,
                    include_outside: self.include_outside,
                    meshopt: self.meshopt,
                    sample_targets: self.sample_targets,
                    node_constraints: self.node_constraints,
                    ..ExportOptions::default()
                };
            }
            Correction::Clips => BakeMode::Clips,
            Correction::Retarget => BakeMode::Retarget,
            Correction::Frames => BakeMode::Frames,
        };
        let mut bake = BakeOptions {
            mode,
            ..self.bake.clone()
        };
        let unused = BakeOptions::default();
        if mode != BakeMode::Clips {
            bake.quantize = unused.quantize;
            bake.normals_share = unused.normals_share;
        }
        if mode == BakeMode::Frames {
            bake.max_morphs = unused.max_morphs;
            bake.max_joints = unused.max_joints;
            bake.unipolar = unused.unipolar;
        }
        ExportOptions {
            influences: 4,
            fix_weights: self.fix_weights,
            include_outside: self.include_outside,
            meshopt: self.meshopt,
            node_constraints: self.node_constraints,
            correct: Some(bake),
            ..ExportOptions::default()
        }
    }

    /// Sets what the importer of a program reads; the correction, the tolerance and the limits stay.
    pub fn use_preset(&mut self, preset: ExportPreset) {
        self.influences = preset.values().influences;
        self.meshopt = false;
        preset.apply_to_bake(&mut self.bake);
        self.chosen_preset = Some(preset);
    }

    /// Sets what a preset sets back to what every player of glTF reads.
    pub fn use_any_program(&mut self) {
        let plain = Self::default();
        self.influences = plain.influences;
        self.meshopt = plain.meshopt;
        self.bake.normals = plain.bake.normals;
        self.bake.quantize = plain.bake.quantize;
        self.bake.unipolar = plain.bake.unipolar;
        self.bake.sparse = plain.bake.sparse;
        self.chosen_preset = None;
    }

    /// The chosen preset, as long as the settings are those that it made.
    pub fn preset(&self) -> Option<ExportPreset> {
        self.chosen_preset.filter(|preset| {
            let mut made = self.clone();
            made.use_preset(*preset);
            made == *self
        })
    }

    /// Drops the settings that belong to one model.
    pub(super) fn forget_model(&mut self) {
        self.bake.clips.clear();
        self.write_pose_as_rest = false;
        self.fix_weights = false;
        self.include_outside = false;
        self.sample_targets = false;
        self.node_constraints = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_program_takes_a_preset_back() {
        let plain = ExportSettings::default();
        for preset in ExportPreset::ALL {
            let mut settings = plain.clone();
            settings.use_preset(preset);
            settings.use_any_program();
            assert_eq!(settings, plain, "{preset:?}");
        }
    }

    #[test]
    fn a_preset_is_shown_until_one_of_its_values_changes() {
        let mut settings = ExportSettings::default();
        assert_eq!(settings.preset(), None);
        for preset in ExportPreset::ALL {
            settings.bake.tolerance = 0.002;
            settings.use_preset(preset);
            assert_eq!(settings.preset(), Some(preset));
            assert_eq!(settings.bake.tolerance, 0.002, "a choice of its own");
        }
        settings.bake.max_morphs = 8;
        assert!(settings.preset().is_some(), "a limit is no part of it");
        settings.meshopt = true;
        assert_eq!(settings.preset(), None);
    }

    #[test]
    fn what_does_not_go_with_a_correction_is_left_out() {
        let settings = ExportSettings {
            influences: 8,
            write_pose_as_rest: true,
            sample_targets: true,
            node_constraints: true,
            ..ExportSettings::default()
        };
        let plain = settings.options(Correction::None);
        assert_eq!((plain.influences, plain.write_pose_as_rest), (8, true));
        assert!(plain.sample_targets);
        assert_eq!(plain.correct, None);
        for (correction, mode) in [
            (Correction::Clips, BakeMode::Clips),
            (Correction::Retarget, BakeMode::Retarget),
            (Correction::Frames, BakeMode::Frames),
        ] {
            let options = settings.options(correction);
            assert_eq!((options.influences, options.write_pose_as_rest), (4, false));
            assert!(!options.sample_targets && options.node_constraints);
            assert_eq!(options.correct.map(|c| c.mode), Some(mode));
        }
        // Frames have no influence limit, so it must not change their options.
        let limited = ExportSettings {
            bake: BakeOptions {
                max_morphs: 3,
                max_joints: 9,
                unipolar: false,
                normals_share: 0.3,
                quantize: true,
                ..BakeOptions::default()
            },
            ..settings.clone()
        };
        let clips = limited.options(Correction::Clips).correct;
        assert!(clips.is_some_and(|correct| correct.quantize));
        let frames = Correction::Frames;
        assert_eq!(limited.options(frames), settings.options(frames));
        let retargeted = limited.options(Correction::Retarget).correct;
        let share = retargeted.map(|correct| correct.normals_share);
        assert_eq!(share, Some(BakeOptions::default().normals_share));
    }
}
