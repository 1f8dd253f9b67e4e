//! Bulge projection: skin farther from its bones than at rest is pulled back to its rest distance.
//!
//! Source: Kim & Han 2014, "Bulging-free dual quaternion skinning", and a continuous form of it in which all bones
//! of a point have a say.

use super::compensation::Variant;
use super::skin_bones::SkinBones;
use serde::Serialize;

/// Influences below this have no say.
const LEAST_WEIGHT: f32 = 1e-6;

/// Bulge projection onto the rest distance from the bones (Kim & Han 2014).
#[derive(Clone, Debug, PartialEq, Serialize)]
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

    /// What share each influence of a point has in its correction: `kappa w^p / sum w^p`.
    ///
    /// `row`: (joint of the skin, weight), descending. `shares`: cleared, then one a joint with a say; empty where the
    /// point follows one joint alone, which keeps its distance anyway. As published the heaviest has all.
    pub fn shares(&self, row: &[(u16, f32)], bones: &SkinBones, shares: &mut Vec<(u16, f32)>) {
        shares.clear();
        let heard = row.iter().filter(|(_, w)| *w > LEAST_WEIGHT);
        if heard.clone().count() < 2 {
            return;
        }
        if self.variant == Variant::Published {
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
        shares.extend(heard.map(|&(joint, w)| (joint, power(w))));
        let total: f32 = shares.iter().map(|(_, s)| s).sum();
        let scale = self.kappa(row, bones) / total;
        for (_, share) in shares {
            *share *= scale;
        }
    }

    /// 1, or with the sibling fade 1 less the largest `min(wi, wj) / w1` of two joints that are on no chain: symmetric,
    /// so that it does not jump where a parent and a child change places.
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
