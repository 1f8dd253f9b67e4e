//! Ready-made stacks, and the choice of the one that a view shows.

use super::{Compensation, DeformStack, Projection, SkinningMethod};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A ready-made stack, to look at beside the artist's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum StackPreset {
    /// Linear blend skinning, as other viewers draw it.
    Lbs,
    /// Two-phase dual quaternion skinning alone.
    Dqs,
    /// Dual quaternion skinning, then bulge compensation.
    DqsCompensation,
    /// Dual quaternion skinning, then bulge projection.
    DqsProjection,
    /// Optimised centres of rotation.
    CentresOfRotation,
    /// What a new model has: dual quaternion skinning and both corrections.
    Standard,
}

impl StackPreset {
    /// All of them, as lists show them.
    pub const ALL: [Self; 6] = [
        Self::Lbs,
        Self::Dqs,
        Self::DqsCompensation,
        Self::DqsProjection,
        Self::CentresOfRotation,
        Self::Standard,
    ];

    /// What lists call it.
    pub fn label(self) -> &'static str {
        match self {
            Self::Lbs => "Linear",
            Self::Dqs => "Dual quaternion",
            Self::DqsCompensation => "DQ + compensation",
            Self::DqsProjection => "DQ + projection",
            Self::CentresOfRotation => "Centres of rotation",
            Self::Standard => "DQ + both",
        }
    }

    /// What it is, in a sentence.
    pub fn about(self) -> &'static str {
        match self {
            Self::Lbs => "Linear blend skinning, as other viewers draw it.",
            Self::Dqs => "Dual quaternion skinning with nothing after it.",
            Self::DqsCompensation => {
                "Dual quaternion skinning, its bulges taken back by compensation."
            }
            Self::DqsProjection => "Dual quaternion skinning, its bulges taken back by projection.",
            Self::CentresOfRotation => "Skinning about optimised centres of rotation.",
            Self::Standard => {
                "What a new model has: dual quaternion skinning, compensation, projection."
            }
        }
    }

    /// The stack, with its parts as they come.
    pub fn stack(self) -> DeformStack {
        match self {
            Self::Lbs => DeformStack::lbs(),
            Self::Dqs => DeformStack::dqs(),
            Self::DqsCompensation => DeformStack {
                compensation: Compensation::default(),
                ..DeformStack::dqs()
            },
            Self::DqsProjection => DeformStack {
                projection: Projection::default(),
                ..DeformStack::dqs()
            },
            Self::CentresOfRotation => DeformStack::bare(SkinningMethod::CentresOfRotation),
            Self::Standard => DeformStack::default(),
        }
    }
}

/// Which stack a view shows the meshes with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum StackChoice {
    /// Each mesh's own.
    #[default]
    Project,
    /// A ready-made one for all meshes.
    Preset(StackPreset),
    /// One that was put together for the view, for all meshes.
    Custom(Arc<DeformStack>),
}

impl StackChoice {
    /// What lists and badges call it.
    pub fn label(&self) -> &'static str {
        match self {
            Self::Project => "This project",
            Self::Preset(preset) => preset.label(),
            Self::Custom(_) => "Custom",
        }
    }

    /// What it is, in a sentence.
    pub fn about(&self) -> &'static str {
        match self {
            Self::Project => "The stacks of this project, as they are exported.",
            Self::Preset(preset) => preset.about(),
            Self::Custom(_) => "A stack put together for this view alone.",
        }
    }

    /// The stack that takes the place of every mesh's own; `None`: they keep theirs.
    pub fn instead(&self) -> Option<Arc<DeformStack>> {
        match self {
            Self::Project => None,
            Self::Preset(preset) => Some(Arc::new(preset.stack())),
            Self::Custom(stack) => Some(stack.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_what_they_are_called() {
        let lbs = StackPreset::Lbs.stack();
        assert_eq!(
            (lbs.method, lbs.corrects_bulges()),
            (SkinningMethod::Lbs, false)
        );
        let both = StackPreset::Standard.stack();
        assert_eq!(both, DeformStack::default());
        for (preset, corrections) in [
            (StackPreset::Dqs, (false, false)),
            (StackPreset::DqsCompensation, (true, false)),
            (StackPreset::DqsProjection, (false, true)),
            (StackPreset::Standard, (true, true)),
        ] {
            let stack = preset.stack();
            assert_eq!(stack.method, SkinningMethod::Dqs);
            let has = (stack.compensation.enabled, stack.projection.enabled);
            assert_eq!(has, corrections, "{preset:?}");
        }
    }

    #[test]
    fn a_choice_comes_back_from_text() {
        for choice in [
            StackChoice::Project,
            StackChoice::Preset(StackPreset::DqsProjection),
            StackChoice::Custom(Arc::new(DeformStack::lbs())),
        ] {
            let text = ron::to_string(&choice).unwrap();
            assert_eq!(ron::from_str::<StackChoice>(&text).unwrap(), choice);
        }
    }
}
