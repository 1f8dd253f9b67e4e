//! Which stack a view shows.

use super::{DeformStack, SkinningMethod, StackPreset};
use std::sync::Arc;

/// Which stack a view shows the meshes with.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum StackChoice {
    /// Each mesh's own.
    #[default]
    Project,
    /// A named one for all meshes.
    Preset(StackPreset),
    /// One that was kept aside, for all meshes.
    Custom(Arc<DeformStack>),
    /// The exported file as any player shows it. It is there until the model or the program is closed: nothing saves it.
    Exported,
}

impl StackChoice {
    /// The project's own and the named ones, as lists show them.
    pub fn offered() -> impl Iterator<Item = Self> {
        std::iter::once(Self::Project).chain(StackPreset::ALL.map(Self::Preset))
    }

    /// What lists call it.
    pub fn label(&self) -> &'static str {
        match self {
            Self::Project => "This project",
            Self::Preset(preset) => preset.label(),
            Self::Custom(_) => "Kept stack",
            Self::Exported => "As exported",
        }
    }

    /// What narrow places and badges call it.
    pub fn short_label(&self) -> &'static str {
        match self {
            Self::Preset(preset) => preset.short_label(),
            other => other.label(),
        }
    }

    /// What it is, in a sentence.
    pub fn about(&self) -> &'static str {
        match self {
            Self::Project => "The stacks of this project, as they are saved.",
            Self::Preset(StackPreset::Default) => {
                "What a new model has: dual quaternion skinning, compensation, projection."
            }
            Self::Preset(StackPreset::Lbs) => {
                "Linear blend skinning: elbows collapse and twists pinch."
            }
            Self::Preset(StackPreset::Dqs) => {
                "Dual quaternion skinning with nothing after it: joints bulge."
            }
            Self::Preset(StackPreset::Compensation) => {
                "Dual quaternion skinning, its bulges taken back by compensation."
            }
            Self::Preset(StackPreset::Projection) => {
                "Dual quaternion skinning, its bulges taken back by projection."
            }
            Self::Preset(StackPreset::CentresOfRotation) => {
                "Skinning about optimised centres of rotation."
            }
            Self::Custom(_) => "A stack as it was when it was kept, whatever became of it.",
            Self::Exported => {
                "The exported file, read again, as any player shows it: its skin and its morph targets."
            }
        }
    }

    /// How it skins a mesh whose own stack is `own`.
    pub fn method(&self, own: &DeformStack) -> SkinningMethod {
        match self {
            Self::Project => own.method,
            Self::Preset(preset) => preset.stack().method,
            Self::Custom(stack) => stack.method,
            Self::Exported => SkinningMethod::Lbs,
        }
    }

    /// The stack that takes the place of every mesh's own; `None`: they keep theirs. Of an exported file it is what moves
    /// the file's own meshes.
    pub fn instead(&self) -> Option<Arc<DeformStack>> {
        match self {
            Self::Project => None,
            Self::Preset(preset) => Some(Arc::new(preset.stack())),
            Self::Custom(stack) => Some(stack.clone()),
            Self::Exported => Some(Arc::new(DeformStack::lbs())),
        }
    }
}
