//! The deformer stack in the project format.
//!
//! Sinew writes every field. A part that a file omits is read as off, which it meant when the file was written,
//! whatever the defaults of new models are.

use super::types::{enums, structs};
use crate::deform;
use crate::deform::BodyChoice;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

enums! {
    /// Stage 3.
    #[derive(Default)]
    SkinningMethod = deform::SkinningMethod { Lbs, #[default] Dqs, CentresOfRotation, Blend }

    /// Stage 2.
    #[derive(Default)]
    ScaleMode = deform::ScaleMode { #[default] TwoPhase, Drop }

    /// Whether a correction is computed as printed in its paper.
    #[derive(Default)]
    Variant = deform::Variant { #[default] Corrected, Published, Algorithm1 }

    /// How compensation treats twist.
    #[derive(Default)]
    TwistDamping = deform::TwistDamping { #[default] Axis, Sine, Off }

    /// A whole stack by name.
    #[derive(Default)]
    StackPreset = deform::StackPreset { #[default] Default, Lbs, Dqs, Compensation, Projection, CentresOfRotation }
}

structs! {
    /// Stage 4.
    #[serde(default)]
    Compensation = deform::Compensation {
        enabled: bool,
        variant: Variant,
        polynomial: Polynomial,
        strength: f32,
        twist: TwistDamping,
        third_bone_fade: bool,
        fold_guard: bool,
        auto_strength: bool,
        siblings: bool,
    }

    /// Stage 5.
    #[serde(default)]
    Projection = deform::BulgeProjection {
        enabled: bool,
        variant: Variant,
        power: f32,
        sibling_fade: bool,
        strength: f32,
    }

    /// Stage 6.
    #[serde(default)]
    CorrectiveSmooth = deform::CorrectiveSmooth {
        enabled: bool,
        factor: f32,
        iterations: u32,
        strength: f32,
    }

    /// Everything that deforms a mesh.
    #[serde(default)]
    Stack = deform::DeformStack {
        method: SkinningMethod,
        scale: ScaleMode,
        blend: f32,
        compensation: Compensation,
        projection: Projection,
        smooth: CorrectiveSmooth,
    }
}

/// The polynomial of the compensation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) enum Polynomial {
    Manual,
    Original,
    Custom { c1: f32, c2: f32 },
}

impl From<deform::Polynomial> for Polynomial {
    fn from(live: deform::Polynomial) -> Self {
        match live {
            deform::Polynomial::Manual => Self::Manual,
            deform::Polynomial::Original => Self::Original,
            deform::Polynomial::Custom { c1, c2 } => Self::Custom { c1, c2 },
        }
    }
}

impl From<Polynomial> for deform::Polynomial {
    fn from(polynomial: Polynomial) -> Self {
        match polynomial {
            Polynomial::Manual => Self::Manual,
            Polynomial::Original => Self::Original,
            Polynomial::Custom { c1, c2 } => Self::Custom { c1, c2 },
        }
    }
}

/// A part that a file lists without fields is on.
impl Default for Compensation {
    fn default() -> Self {
        Self {
            enabled: true,
            variant: Variant::Corrected,
            polynomial: Polynomial::Manual,
            strength: 1.0,
            twist: TwistDamping::Axis,
            third_bone_fade: true,
            fold_guard: true,
            auto_strength: false,
            siblings: false,
        }
    }
}

/// A part that a file lists without fields is on.
impl Default for Projection {
    fn default() -> Self {
        Self {
            enabled: true,
            variant: Variant::Corrected,
            power: 2.0,
            sibling_fade: false,
            strength: 1.0,
        }
    }
}

impl Default for CorrectiveSmooth {
    fn default() -> Self {
        Self {
            enabled: false,
            factor: 0.5,
            iterations: 5,
            strength: 1.0,
        }
    }
}

/// An empty stack is a skinning method without corrections.
impl Default for Stack {
    fn default() -> Self {
        Self {
            method: SkinningMethod::Dqs,
            scale: ScaleMode::TwoPhase,
            blend: 1.0,
            compensation: Compensation {
                enabled: false,
                ..Compensation::default()
            },
            projection: Projection {
                enabled: false,
                ..Projection::default()
            },
            smooth: CorrectiveSmooth::default(),
        }
    }
}

impl Stack {
    /// Whether its compensation is on and as published.
    pub(super) fn compensates_as_published(&self) -> bool {
        self.compensation.enabled && self.compensation.variant == Variant::Published
    }
}

/// The stack that a view shows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) enum StackChoice {
    #[default]
    Project,
    WithoutClusters,
    Preset(StackPreset),
    Custom(Stack),
    Template,
    Individual,
    WhatIf,
}

/// `None` for the exported file, which is never saved.
pub(super) fn choice(live: &deform::StackChoice) -> Option<StackChoice> {
    match live {
        deform::StackChoice::Project => Some(StackChoice::Project),
        deform::StackChoice::WithoutClusters => Some(StackChoice::WithoutClusters),
        deform::StackChoice::Preset(preset) => Some(StackChoice::Preset((*preset).into())),
        deform::StackChoice::Custom(stack) => Some(StackChoice::Custom(
            deform::DeformStack::clone(stack).into(),
        )),
        deform::StackChoice::Exported => None,
        deform::StackChoice::Body(body) => Some(match body {
            BodyChoice::Template => StackChoice::Template,
            BodyChoice::Individual => StackChoice::Individual,
            BodyChoice::WhatIf => StackChoice::WhatIf,
        }),
    }
}

impl From<StackChoice> for deform::StackChoice {
    fn from(choice: StackChoice) -> Self {
        match choice {
            StackChoice::Project => Self::Project,
            StackChoice::WithoutClusters => Self::WithoutClusters,
            StackChoice::Preset(preset) => Self::Preset(preset.into()),
            StackChoice::Custom(stack) => Self::Custom(Arc::new(stack.into())),
            StackChoice::Template => Self::Body(BodyChoice::Template),
            StackChoice::Individual => Self::Body(BodyChoice::Individual),
            StackChoice::WhatIf => Self::Body(BodyChoice::WhatIf),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deform::DeformStack;

    #[test]
    fn a_stack_that_names_no_corrections_has_none() {
        let read = |text: &str| DeformStack::from(ron::from_str::<Stack>(text).unwrap());
        assert_eq!(read("(method: Dqs, scale: TwoPhase)"), DeformStack::dqs());
        let stack = read("(compensation: ())");
        assert!(stack.compensation.enabled && !stack.projection.enabled);
        let text = ron::to_string(&Stack::from(DeformStack::default())).unwrap();
        assert_eq!(read(&text), DeformStack::default());
    }

    #[test]
    fn a_choice_comes_back_from_text() {
        let custom = deform::StackChoice::Custom(Arc::new(DeformStack::lbs()));
        let bodies = BodyChoice::ALL.map(deform::StackChoice::Body);
        for live in deform::StackChoice::offered().chain([custom]).chain(bodies) {
            let text = ron::to_string(&choice(&live).unwrap()).unwrap();
            let read: StackChoice = ron::from_str(&text).unwrap();
            assert_eq!(deform::StackChoice::from(read), live);
        }
        assert_eq!(choice(&deform::StackChoice::Exported), None);
    }
}
