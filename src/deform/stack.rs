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

/// Everything that turns a mesh's bind shape and a pose into the shape on screen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeformStack {
    /// Stage 3.
    pub method: SkinningMethod,
    /// Stage 2; only read by [`SkinningMethod::Dqs`].
    pub scale: ScaleMode,
}

impl DeformStack {
    /// Linear blend skinning as other viewers draw it.
    pub fn lbs() -> Self {
        Self {
            method: SkinningMethod::Lbs,
            ..Self::default()
        }
    }

    /// Two-phase dual quaternion skinning with nothing after it.
    pub fn dqs() -> Self {
        Self::default()
    }
}
