//! The settings of the deformer stack.

use crate::skinning::{BulgeProjection, Compensation, Polynomial};
use serde::Serialize;

/// The skinning method: how the transforms of the joints are blended (stage 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub enum SkinningMethod {
    /// Linear blend skinning, the method of glTF.
    Lbs,
    /// Dual quaternion linear blending (Kavan et al. 2008).
    #[default]
    Dqs,
    /// Optimised centres of rotation (Le & Hodgins 2016).
    CentresOfRotation,
    /// An interpolation of linear and dual quaternion skinning, painted per point ([`DeformStack::blend`]).
    Blend,
}

impl SkinningMethod {
    /// All of them, in the order of lists.
    pub const ALL: [Self; 4] = [Self::Lbs, Self::Dqs, Self::CentresOfRotation, Self::Blend];

    /// Its name in lists.
    pub fn label(self) -> &'static str {
        match self {
            Self::Lbs => "Linear",
            Self::Dqs => "Dual quaternion",
            Self::CentresOfRotation => "Centres of rotation",
            Self::Blend => "Linear to dual quaternion",
        }
    }

    /// Whether it moves points by rigid motions of the joints, so that scale needs stage 2.
    pub fn is_rigid(self) -> bool {
        self != Self::Lbs
    }
}

/// How dual quaternion skinning treats scale and shear (stage 2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub enum ScaleMode {
    /// Inflate first, then blend rigid motions (Lee et al. 2013); exact for points of one joint.
    #[default]
    TwoPhase,
    /// Ignore scale and shear, as plain dual quaternion skinning does.
    Drop,
}

/// Smoothing that keeps the detail of the bind shape (delta mush; stage 6).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CorrectiveSmooth {
    /// Whether it is applied.
    pub enabled: bool,
    /// The fraction of the way to the mean of its neighbours that a point moves in one iteration, 0 - 1.
    pub factor: f32,
    /// The number of iterations, 1 - 100.
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

/// The settings of all stages that deform the bind shape of a mesh in a pose.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeformStack {
    /// Stage 3.
    pub method: SkinningMethod,
    /// Stage 2; not read by [`SkinningMethod::Lbs`].
    pub scale: ScaleMode,
    /// The share of dual quaternion skinning in [`SkinningMethod::Blend`], 0 - 1; multiplied by the painted map.
    pub blend: f32,
    /// Stage 4.
    pub compensation: Compensation,
    /// Stage 5.
    pub projection: BulgeProjection,
    /// Stage 6.
    pub smooth: CorrectiveSmooth,
}

impl Default for DeformStack {
    /// The stack of a new model: two-phase dual quaternion skinning, compensation, blended projection.
    fn default() -> Self {
        Self {
            compensation: Compensation::default(),
            projection: BulgeProjection::default(),
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
            projection: BulgeProjection::off(),
            smooth: CorrectiveSmooth::default(),
        }
    }

    /// Linear blend skinning with nothing after it, as other viewers draw it.
    pub fn lbs() -> Self {
        Self::bare(SkinningMethod::Lbs)
    }

    /// Two-phase dual quaternion skinning with nothing after it.
    pub fn dqs() -> Self {
        Self::bare(SkinningMethod::Dqs)
    }

    /// The stack with defaults in the settings that it does not read, so that stacks that deform alike are equal.
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
            BulgeProjection::off()
        };
        if !stack.smooth.enabled {
            stack.smooth = CorrectiveSmooth::default();
        }
        stack
    }

    /// Dual quaternion skinning with nothing after it and the same treatment of scale: the input of the corrections.
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

    /// Fails if a number is out of its range, with the end of a sentence that names it.
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
                "the smoothing has {n} iterations, which is not 1 - 100"
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
