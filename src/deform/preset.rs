//! Stacks by name.

use super::{BulgeProjection, Compensation, DeformStack, SkinningMethod};

/// A named stack: lists, commands and comparisons offer it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StackPreset {
    /// The stack of a new model: [`DeformStack::default`].
    #[default]
    Default,
    /// Linear blend skinning with nothing after it.
    Lbs,
    /// Two-phase dual quaternion skinning with nothing after it.
    Dqs,
    /// Dual quaternion skinning, then bulge compensation.
    Compensation,
    /// Dual quaternion skinning, then blended bulge projection.
    Projection,
    /// Centres of rotation with nothing after them.
    CentresOfRotation,
}

impl StackPreset {
    /// All of them, in the order of lists.
    pub const ALL: [Self; 6] = [
        Self::Default,
        Self::Lbs,
        Self::Dqs,
        Self::Compensation,
        Self::Projection,
        Self::CentresOfRotation,
    ];

    /// Its name in lists.
    pub fn label(self) -> &'static str {
        match self {
            Self::Default => "Default",
            Self::Lbs => "LBS (glTF standard)",
            Self::Dqs => "DQS",
            Self::Compensation => "DQS + compensation",
            Self::Projection => "DQS + projection",
            Self::CentresOfRotation => "Centres of rotation",
        }
    }

    /// Its short name.
    pub fn short_label(self) -> &'static str {
        match self {
            Self::Lbs => "LBS",
            other => other.label(),
        }
    }

    /// The stack.
    pub fn stack(self) -> DeformStack {
        match self {
            Self::Default => DeformStack::default(),
            Self::Lbs => DeformStack::lbs(),
            Self::Dqs => DeformStack::dqs(),
            Self::Compensation => DeformStack {
                compensation: Compensation::default(),
                ..DeformStack::dqs()
            },
            Self::Projection => DeformStack {
                projection: BulgeProjection::default(),
                ..DeformStack::dqs()
            },
            Self::CentresOfRotation => DeformStack::bare(SkinningMethod::CentresOfRotation),
        }
    }

    /// The stack, in which stages that are off keep their settings of `before`: switched on again, they are as they
    /// were left.
    pub fn over(self, before: &DeformStack) -> DeformStack {
        let mut stack = self.stack();
        if !stack.compensation.enabled {
            stack.compensation = Compensation {
                enabled: false,
                ..before.compensation.clone()
            };
        }
        if !stack.projection.enabled {
            stack.projection = BulgeProjection {
                enabled: false,
                ..before.projection.clone()
            };
        }
        stack.smooth.factor = before.smooth.factor;
        stack.smooth.iterations = before.smooth.iterations;
        stack.smooth.strength = before.smooth.strength;
        stack.blend = before.blend;
        if stack.method == SkinningMethod::Lbs {
            stack.scale = before.scale;
        }
        stack
    }

    /// The preset that deforms like `stack`, if there is one.
    pub fn of(stack: &DeformStack) -> Option<Self> {
        let stack = stack.as_applied();
        Self::ALL
            .into_iter()
            .find(|preset| preset.stack().as_applied() == stack)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deform::{Polynomial, ScaleMode, Variant};

    #[test]
    fn a_preset_is_known_again_whatever_the_parts_that_are_off_say() {
        let odd = DeformStack {
            scale: ScaleMode::Drop,
            blend: 0.25,
            compensation: Compensation {
                polynomial: Polynomial::Original,
                strength: 1.7,
                ..Compensation::default()
            },
            ..DeformStack::default()
        };
        assert_eq!(StackPreset::of(&odd), None);
        for preset in StackPreset::ALL {
            assert_eq!(StackPreset::of(&preset.stack()), Some(preset));
            let over = preset.over(&odd);
            assert_eq!(StackPreset::of(&over), Some(preset), "{preset:?}");
            assert_eq!(over.blend, 0.25);
        }
        assert_eq!(StackPreset::Lbs.over(&odd).compensation.strength, 1.7);
        assert_eq!(StackPreset::Default.over(&odd).compensation.strength, 1.0);
    }

    #[test]
    fn what_a_paper_fixes_does_not_count() {
        let published = DeformStack {
            compensation: Compensation {
                variant: Variant::Published,
                fold_guard: true,
                ..Compensation::default()
            },
            ..DeformStack::dqs()
        };
        let mut other = published.clone();
        other.compensation.fold_guard = false;
        other.compensation.siblings = true;
        assert_eq!(published.as_applied(), other.as_applied());
        assert_ne!(published.as_applied(), DeformStack::dqs());
    }
}
