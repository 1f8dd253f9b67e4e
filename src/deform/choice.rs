//! The stack that a view shows.

use super::{DeformStack, SkinningMethod, StackPreset};
use std::sync::Arc;

/// A body that a view shows, whatever body the others show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BodyChoice {
    /// The template.
    Template,
    /// The body with the measurements of the person.
    Individual,
    /// The body with the changed measurements of the what-if.
    WhatIf,
}

impl BodyChoice {
    /// All of them, in the order of lists.
    pub const ALL: [Self; 3] = [Self::Template, Self::Individual, Self::WhatIf];

    /// Its name in lists.
    pub fn label(self) -> &'static str {
        match self {
            Self::Template => "Template",
            Self::Individual => "Individual",
            Self::WhatIf => "What-if",
        }
    }
}

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
    /// Each mesh's own, on this body.
    Body(BodyChoice),
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
            Self::Body(body) => body.label(),
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
            Self::Body(BodyChoice::Template) => {
                "The template, with the deformer stacks of the project, whatever body the other panes show."
            }
            Self::Body(BodyChoice::Individual) => {
                "The body with the measurements of the person, with the deformer stacks of the project."
            }
            Self::Body(BodyChoice::WhatIf) => {
                "The body with the changed measurements of the what-if, with the deformer stacks of the project."
            }
        }
    }

    /// The skinning method of a mesh whose own stack is `own`.
    pub fn method(&self, own: &DeformStack) -> SkinningMethod {
        match self {
            Self::Project | Self::WithoutClusters | Self::Body(_) => own.method,
            Self::Preset(preset) => preset.stack().method,
            Self::Custom(stack) => stack.method,
            Self::Exported => SkinningMethod::Lbs,
        }
    }

    /// The stack that replaces the own stack of every mesh; `None`: they keep theirs. For an exported file: linear
    /// blend skinning, which moves the meshes of that file.
    pub fn instead(&self) -> Option<Arc<DeformStack>> {
        match self {
            Self::Project | Self::WithoutClusters | Self::Body(_) => None,
            Self::Preset(preset) => Some(Arc::new(preset.stack())),
            Self::Custom(stack) => Some(stack.clone()),
            Self::Exported => Some(Arc::new(DeformStack::lbs())),
        }
    }
}
