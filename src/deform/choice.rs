//! The stack that a view shows.

use super::{DeformStack, SkinningMethod, StackPreset};
use std::sync::Arc;

/// The stack under which a view shows the meshes.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum StackChoice {
    /// Each mesh's own.
    #[default]
    Project,
    /// Each mesh's own with its corrective samples, without control clusters.
    WithoutClusters,
    /// The same preset for all meshes.
    Preset(StackPreset),
    /// The same kept stack for all meshes.
    Custom(Arc<DeformStack>),
    /// The exported file as any glTF player shows it. It is not saved: it lasts until the model or the program is
    /// closed.
    Exported,
}

impl StackChoice {
    /// The project's own stacks and the presets, in the order of lists.
    pub fn offered() -> impl Iterator<Item = Self> {
        let own = [Self::Project, Self::WithoutClusters];
        own.into_iter().chain(StackPreset::ALL.map(Self::Preset))
    }

    /// Its name in lists.
    pub fn label(&self) -> &'static str {
        match self {
            Self::Project => "This project",
            Self::WithoutClusters => "This project without clusters",
            Self::Preset(preset) => preset.label(),
            Self::Custom(_) => "Kept stack",
            Self::Exported => "As exported",
        }
    }

    /// Its short name, for narrow places and badges.
    pub fn short_label(&self) -> &'static str {
        match self {
            Self::Preset(preset) => preset.short_label(),
            Self::WithoutClusters => "Without clusters",
            other => other.label(),
        }
    }

    /// A sentence about it, for tooltips.
    pub fn about(&self) -> &'static str {
        match self {
            Self::Project => {
                "The current deformer stacks of the project, with its corrective samples and control clusters (CCM)."
            }
            Self::WithoutClusters => {
                "The current deformer stacks of the project with its corrective samples (PSD), without control clusters."
            }
            Self::Preset(StackPreset::Default) => {
                "The default of a new model: dual quaternion skinning, compensation, projection."
            }
            Self::Preset(StackPreset::Lbs) => {
                "Linear blend skinning, as other viewers draw it: elbows collapse and twists pinch."
            }
            Self::Preset(StackPreset::Dqs) => {
                "Dual quaternion skinning without corrections: joints bulge."
            }
            Self::Preset(StackPreset::Compensation) => {
                "Dual quaternion skinning with bulge compensation."
            }
            Self::Preset(StackPreset::Projection) => {
                "Dual quaternion skinning with bulge projection."
            }
            Self::Preset(StackPreset::CentresOfRotation) => {
                "Skinning about optimised centres of rotation."
            }
            Self::Custom(_) => "A copy of the deformer stack, kept for comparison.",
            Self::Exported => {
                "The exported file as any player shows it, with its skin and morph targets."
            }
        }
    }

    /// The skinning method of a mesh whose own stack is `own`.
    pub fn method(&self, own: &DeformStack) -> SkinningMethod {
        match self {
            Self::Project | Self::WithoutClusters => own.method,
            Self::Preset(preset) => preset.stack().method,
            Self::Custom(stack) => stack.method,
            Self::Exported => SkinningMethod::Lbs,
        }
    }

    /// The stack that replaces the own stack of every mesh; `None`: they keep theirs. For an exported file: linear
    /// blend skinning, which moves the meshes of that file.
    pub fn instead(&self) -> Option<Arc<DeformStack>> {
        match self {
            Self::Project | Self::WithoutClusters => None,
            Self::Preset(preset) => Some(Arc::new(preset.stack())),
            Self::Custom(stack) => Some(stack.clone()),
            Self::Exported => Some(Arc::new(DeformStack::lbs())),
        }
    }
}
