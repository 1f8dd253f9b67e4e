//! The stack as the artist composes it.

use crate::skinning::{Compensation, Polynomial, Projection};
use serde::Serialize;

/// How the joints' transforms are blended (stage 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub enum SkinningMethod {
    /// Linear blend skinning, as every glTF viewer draws.
    Lbs,
    /// Dual quaternion linear blending (Kavan et al. 2008).
    #[default]
    Dqs,
    /// Optimised centres of rotation (Le & Hodgins 2016).
    CentresOfRotation,
    /// A mix of linear and dual quaternion skinning, point by point ([`DeformStack::blend`]).
    Blend,
}

impl SkinningMethod {
    /// All of them, as lists show them.
    pub const ALL: [Self; 4] = [Self::Lbs, Self::Dqs, Self::CentresOfRotation, Self::Blend];

    /// What lists call it.
    pub fn label(self) -> &'static str {
        match self {
            Self::Lbs => "Linear",
            Self::Dqs => "Dual quaternion",
            Self::CentresOfRotation => "Centres of rotation",
            Self::Blend => "Linear to dual quaternion",
        }
    }

    /// Whether it moves points by the joints' rigid motions, so that scale needs stage 2.
    pub fn is_rigid(self) -> bool {
        self != Self::Lbs
    }
}

/// What dual quaternion skinning does with scale and shear (stage 2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub enum ScaleMode {
    /// Inflate first, then blend rigid motions (Lee et al. 2013): exact for points of one bone.
    #[default]
    TwoPhase,
    /// Drop scale and shear: what plain dual quaternion skinning does.
    Drop,
}

/// Smoothing that keeps the bind shape's detail (delta mush; stage 6).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CorrectiveSmooth {
    /// Whether it is applied.
    pub enabled: bool,
    /// How far a point moves to the mean of its neighbours each time, 0 - 1.
    pub factor: f32,
    /// How many times, 1 - 100.
    pub iterations: u32,
    /// 0 - 1; multiplied by the painted map.
    pub strength: f32,
}

impl CorrectiveSmooth {
    /// Whether it moves points.
    pub fn acts(&self) -> bool {
        self.enabled && self.strength > 0.0 && self.factor > 0.0 && self.iterations > 0
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

/// Everything that turns a mesh's bind shape and a pose into the shape on screen.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeformStack {
    /// Stage 3.
    pub method: SkinningMethod,
    /// Stage 2; not read by [`SkinningMethod::Lbs`].
    pub scale: ScaleMode,
    /// How much of dual quaternion skinning [`SkinningMethod::Blend`] takes, 0 - 1; multiplied by the painted map.
    pub blend: f32,
    /// Stage 4.
    pub compensation: Compensation,
    /// Stage 5.
    pub projection: Projection,
    /// Stage 6.
    pub smooth: CorrectiveSmooth,
}

impl Default for DeformStack {
    /// What a new model has: two-phase dual quaternion skinning, compensation, blended projection.
    fn default() -> Self {
        Self {
            compensation: Compensation::default(),
            projection: Projection::default(),
            ..Self::bare(SkinningMethod::Dqs)
        }
    }
}

impl DeformStack {
    /// A skinning method with nothing after it.
    pub fn bare(method: SkinningMethod) -> Self {
        Self {
            method,
            scale: ScaleMode::TwoPhase,
            blend: 1.0,
            compensation: Compensation::off(),
            projection: Projection::off(),
            smooth: CorrectiveSmooth::default(),
        }
    }

    /// Linear blend skinning as other viewers draw it.
    pub fn lbs() -> Self {
        Self::bare(SkinningMethod::Lbs)
    }

    /// Two-phase dual quaternion skinning with nothing after it.
    pub fn dqs() -> Self {
        Self::bare(SkinningMethod::Dqs)
    }

    /// The stack without what it does not read: stacks that deform alike are equal then.
    #[must_use]
    pub fn as_applied(&self) -> Self {
        let mut stack = self.clone();
        if !stack.method.is_rigid() {
            stack.scale = ScaleMode::default();
        }
        if stack.method != SkinningMethod::Blend {
            stack.blend = 1.0;
        }
        stack.compensation = if stack.compensation.enabled {
            stack.compensation.as_applied()
        } else {
            Compensation::off()
        };
        stack.projection = if stack.projection.enabled {
            stack.projection.as_applied()
        } else {
            Projection::off()
        };
        if !stack.smooth.enabled {
            stack.smooth = CorrectiveSmooth::default();
        }
        stack
    }

    /// Dual quaternion skinning with nothing after it, and the same treatment of scale: what corrections correct.
    #[must_use]
    pub fn plain(&self) -> Self {
        Self {
            scale: self.as_applied().scale,
            ..Self::dqs()
        }
    }

    /// Whether stage 4 or 5 moves points.
    pub fn corrects_bulges(&self) -> bool {
        self.compensation.enabled || self.projection.enabled
    }

    /// Whether every number is in its range; else which is not, as the end of a sentence.
    pub fn check(&self) -> Result<(), String> {
        let within = |what: &str, value: f32, low: f32, high: f32| {
            if (low..=high).contains(&value) {
                Ok(())
            } else {
                Err(format!("{what} is {value}, which is not {low} - {high}"))
            }
        };
        within("the blend", self.blend, 0.0, 1.0)?;
        let strength = self.compensation.strength;
        within("the strength of the compensation", strength, 0.0, 2.0)?;
        if let Polynomial::Custom { c1, c2 } = self.compensation.polynomial {
            within("c1 of the compensation", c1, -1e3, 1e3)?;
            within("c2 of the compensation", c2, -1e3, 1e3)?;
        }
        within(
            "the power of the projection",
            self.projection.power,
            1.0,
            8.0,
        )?;
        let strength = self.projection.strength;
        within("the strength of the projection", strength, 0.0, 1.0)?;
        within("the factor of the smoothing", self.smooth.factor, 0.0, 1.0)?;
        let strength = self.smooth.strength;
        within("the strength of the smoothing", strength, 0.0, 1.0)?;
        match self.smooth.iterations {
            1..=100 => Ok(()),
            n => Err(format!(
                "the smoothing has {n} rounds, which is not 1 - 100"
            )),
        }
    }

    /// Whether the stack reads this painted map.
    pub fn reads_mask(&self, mask: super::MaskKind) -> bool {
        use super::MaskKind;
        match mask {
            MaskKind::Blend => self.method == SkinningMethod::Blend,
            MaskKind::Compensation => self.compensation.enabled,
            MaskKind::Projection => self.projection.enabled,
            MaskKind::Smooth => self.smooth.enabled,
        }
    }
}
