//! Bulge projection: moves skin that is farther from its bones than at rest back to its rest distance.
//!
//! Source: Kim & Han 2014, "Bulging-free dual quaternion skinning", and a continuous variant of it with the
//! weighted projections onto all bones of a point.

use super::compensation::Variant;
use super::skin_bones::SkinBones;
use serde::Serialize;

/// Influences of at most this weight are left out.
const MIN_WEIGHT: f32 = 1e-6;

/// Bulge projection onto the rest distance from the bones (Kim & Han 2014).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BulgeProjection {
    /// Whether it is applied.
    pub enabled: bool,
    /// As published: only onto the bone of the largest weight. The surface tears where another bone becomes the
    /// heaviest and the two projections differ.
    pub variant: Variant,
    /// p, 1 - 8: the exponent of the weights; larger is closer to the published method.
    pub power: f32,
    /// Fade out between joints of which neither is an ancestor of the other.
    pub sibling_fade: bool,
    /// 0 - 1; multiplied by the painted map.
    pub strength: f32,
}

impl Default for BulgeProjection {
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

impl BulgeProjection {
    /// Not applied; otherwise as by default.
    pub fn off() -> Self {
        Self {
            enabled: false,
            ..Self::default()
        }
    }

    /// The settings in effect: [`Variant::Published`] has one bone, so neither an exponent nor a sibling fade.
    #[must_use]
    pub fn as_applied(&self) -> Self {
        match self.variant {
            Variant::Corrected => self.clone(),
            Variant::Published | Variant::Algorithm1 => Self {
                power: Self::default().power,
                sibling_fade: false,
                ..self.clone()
            },
        }
    }

    /// The share of each influence of a point in its projection: `kappa w^p / sum w^p`; as published, 1 for the
    /// heaviest.
    ///
    /// `row`: (joint of the skin, weight), descending. `shares`: replaced by one a joint; empty where the point follows
    /// one joint alone, and so keeps its distance.
    pub fn shares(&self, row: &[(u16, f32)], bones: &SkinBones, shares: &mut Vec<(u16, f32)>) {
        shares.clear();
        let counted = row.iter().filter(|(_, w)| *w > MIN_WEIGHT);
        if counted.clone().count() < 2 {
            return;
        }
        if self.variant.is_published() {
            shares.push((row[0].0, 1.0));
            return;
        }
        let power = |w: f32| {
            if self.power == 2.0 {
                w * w
            } else {
                w.powf(self.power)
            }
        };
        shares.extend(counted.map(|&(joint, w)| (joint, power(w))));
        let total: f32 = shares.iter().map(|(_, s)| s).sum();
        let scale = self.kappa(row, bones) / total;
        for (_, share) in shares {
            *share *= scale;
        }
    }

    /// 1; with the sibling fade, 1 minus the largest `min(wi, wj) / w1` of two joints of different chains: symmetric,
    /// so that it does not jump where a parent and a child swap.
    fn kappa(&self, row: &[(u16, f32)], bones: &SkinBones) -> f32 {
        if !self.sibling_fade {
            return 1.0;
        }
        let mut apart: f32 = 0.0;
        for (i, &(a, _)) in row.iter().enumerate() {
            for &(b, w) in &row[i + 1..] {
                if w / row[0].1 > apart && !bones.on_one_chain(a, b) {
                    apart = w / row[0].1;
                }
            }
        }
        1.0 - apart
    }
}
