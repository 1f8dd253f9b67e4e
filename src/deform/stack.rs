//! The stack as the artist composes it.

use serde::{Deserialize, Serialize};

/// How the joints' transforms are blended (stage 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ScaleMode {
    /// Inflate first, then blend rigid motions (Lee et al. 2013): exact for points of one bone.
    #[default]
    TwoPhase,
    /// Drop scale and shear: what plain dual quaternion skinning does.
    Drop,
}

/// The polynomial f of bulge compensation, `f(x) = c1 x + c2 x^2 + c3 x^3` with `f(1/2) = 0`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Polynomial {
    /// (2.2, -8.1, 7.4): tuned by hand, flatter at the outside; better up to 60 degrees.
    #[default]
    Manual,
    /// (2.29, -9.14, 9.12): fitted by the authors; closer to the circle from 90 degrees on.
    Original,
    /// The artist's own c1 and c2.
    Custom {
        /// The linear coefficient.
        c1: f32,
        /// The quadratic coefficient.
        c2: f32,
    },
}

impl Polynomial {
    /// c1, c2, c3. Of custom ones c3 is derived: `c3 = -(4 c1 + 2 c2)` makes f vanish at 1/2, where the pair of joints
    /// changes places.
    pub fn coefficients(self) -> [f32; 3] {
        match self {
            Self::Manual => [2.2, -8.1, 7.4],
            Self::Original => [2.29, -9.14, 9.12],
            Self::Custom { c1, c2 } => [c1, c2, -(4.0 * c1 + 2.0 * c2)],
        }
    }

    /// `f(x)`.
    pub fn at(self, x: f32) -> f32 {
        let [c1, c2, c3] = self.coefficients();
        x * (c1 + x * (c2 + x * c3))
    }
}

/// What compensation does where a joint twists as well as it bends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TwistDamping {
    /// Take the part along the rotation's axis out of the offset (Sulema & Rudenko, eq. 12).
    #[default]
    Axis,
    /// Keep the offset's direction, shorten it by the sine of its angle to the axis.
    Sine,
    /// Compensate twists like bends.
    Off,
}

/// Whether a correction is taken as its paper prints it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Variant {
    /// With what was found wrong in the paper put right.
    #[default]
    Corrected,
    /// As published.
    Published,
}

/// Bulge compensation by a polynomial of the weights (Sulema & Rudenko 2020; stage 4).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Compensation {
    /// Whether it is applied.
    pub enabled: bool,
    /// As published: the sign and the order of joints of the paper's Algorithm 1, sibling pairs included.
    pub variant: Variant,
    /// f.
    pub polynomial: Polynomial,
    /// 0 - 2; multiplied by the painted map.
    pub strength: f32,
    /// What happens where a joint twists.
    pub twist: TwistDamping,
    /// Fade out where a third joint has weight; without it the offset jumps where three bones meet.
    pub third_bone_fade: bool,
    /// Never push a point through the bisector plane of its joints.
    pub fold_guard: bool,
    /// Scale the strength by how wide the weights fall off against the limb's radius.
    pub auto_strength: bool,
    /// Compensate pairs of which neither is above the other (two fingers), in the order of their ranks.
    pub siblings: bool,
}

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

impl Compensation {
    /// Not applied; otherwise as by default.
    pub fn off() -> Self {
        Self {
            enabled: false,
            ..Self::default()
        }
    }

    /// With what [`Variant::Published`] fixes, whatever is chosen: sibling pairs are compensated, and what the paper
    /// does not have (the fold guard, the automatic strength) is off.
    #[must_use]
    pub fn as_applied(&self) -> Self {
        match self.variant {
            Variant::Corrected => self.clone(),
            Variant::Published => Self {
                fold_guard: false,
                auto_strength: false,
                siblings: true,
                ..self.clone()
            },
        }
    }
}

/// Bulge projection onto the rest distance from the bones (Kim & Han 2014; stage 5).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Projection {
    /// Whether it is applied.
    pub enabled: bool,
    /// As published: the bone of the largest weight alone. It tears where the largest weight changes hands between
    /// bones that disagree.
    pub variant: Variant,
    /// p, 1 - 8: bones count by their weight to this power; larger is closer to the published method.
    pub power: f32,
    /// Fade out between bones of which neither is above the other.
    pub sibling_fade: bool,
    /// 0 - 1; multiplied by the painted map.
    pub strength: f32,
}

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

impl Projection {
    /// Not applied; otherwise as by default.
    pub fn off() -> Self {
        Self {
            enabled: false,
            ..Self::default()
        }
    }

    /// With what [`Variant::Published`] fixes, whatever is chosen: one bone counts, so there is no power and nothing
    /// between siblings to fade.
    #[must_use]
    pub fn as_applied(&self) -> Self {
        match self.variant {
            Variant::Corrected => self.clone(),
            Variant::Published => Self {
                power: Self::default().power,
                sibling_fade: false,
                ..self.clone()
            },
        }
    }
}

/// Smoothing that keeps the bind shape's detail (delta mush; stage 6).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
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
///
/// Parts that a project file does not name are off: what a project shows does not change when a new model's default
/// does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeformStack {
    /// Stage 3.
    #[serde(default)]
    pub method: SkinningMethod,
    /// Stage 2; not read by [`SkinningMethod::Lbs`].
    #[serde(default)]
    pub scale: ScaleMode,
    /// How much of dual quaternion skinning [`SkinningMethod::Blend`] takes, 0 - 1; multiplied by the painted map.
    #[serde(default = "whole")]
    pub blend: f32,
    /// Stage 4.
    #[serde(default = "Compensation::off")]
    pub compensation: Compensation,
    /// Stage 5.
    #[serde(default = "Projection::off")]
    pub projection: Projection,
    /// Stage 6.
    #[serde(default)]
    pub smooth: CorrectiveSmooth,
}

fn whole() -> f32 {
    1.0
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

    /// Whether stage 4 or 5 moves points.
    pub fn corrects_bulges(&self) -> bool {
        self.compensation.enabled || self.projection.enabled
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_polynomial_vanishes_where_the_joints_change_places() {
        let custom = Polynomial::Custom { c1: 1.7, c2: -5.0 };
        for f in [Polynomial::Manual, Polynomial::Original, custom] {
            assert!(f.at(0.5).abs() < 1e-6, "{f:?}");
            assert!(f.at(0.2) > 0.0, "{f:?}");
        }
    }

    #[test]
    fn a_stack_of_a_project_that_names_no_corrections_has_none() {
        let stack: DeformStack = ron::from_str("(method: Dqs, scale: TwoPhase)").unwrap();
        assert_eq!(stack, DeformStack::dqs());
        let stack: DeformStack = ron::from_str("(compensation: ())").unwrap();
        assert!(stack.compensation.enabled && !stack.projection.enabled);
        let text = ron::to_string(&DeformStack::default()).unwrap();
        assert_eq!(
            ron::from_str::<DeformStack>(&text).unwrap(),
            DeformStack::default()
        );
    }
}
