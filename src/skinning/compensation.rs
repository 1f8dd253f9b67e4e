//! Bulge compensation: moves the skin of a bent joint along the bisector of its bones.
//!
//! Source: Sulema & Rudenko 2020, "A method of artifact compensation for dual quaternion skinning". Corrects the
//! paper: the sign for bones that point down the limb, the missing radius, rotations relative to the bind pose.

use super::palette::{Row8, SkinPalette};
use super::skin_bones::SkinBones;
use glam::DVec3;
use serde::Serialize;
use std::collections::HashMap;

/// The polynomial f of bulge compensation, `f(x) = c1 x + c2 x^2 + c3 x^3` with `f(1/2) = 0`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
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
    /// c1, c2, c3. The c3 of custom ones is `-(4 c1 + 2 c2)`, so that f vanishes at 1/2, where the two joints of a pair
    /// swap.
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

/// How compensation treats the twist of a joint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub enum TwistDamping {
    /// Remove the component along the rotation axis from the offset (Sulema & Rudenko, eq. 12).
    #[default]
    Axis,
    /// Multiply the offset by the sine of its angle to the rotation axis.
    Sine,
    /// Compensate twists like bends.
    Off,
}

/// Whether a correction follows its paper to the letter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub enum Variant {
    /// With the errors of the paper corrected.
    #[default]
    Corrected,
    /// As published: of the compensation its text (eqs 10 - 13), with the radius and rotations relative to the bind pose.
    Published,
    /// Of the compensation its Algorithm 1, to the letter: no radius, the rotations of the joints in the world, and the sign
    /// that assumes bones which point to the root. Of the projection the same as [`Variant::Published`].
    Algorithm1,
}

impl Variant {
    /// Whether it follows the paper, in one of its ways.
    pub fn is_published(self) -> bool {
        self != Self::Corrected
    }
}

/// Bulge compensation by a polynomial of the weights (Sulema & Rudenko 2020).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(clippy::struct_excessive_bools)] // the artist's switches, each on its own
pub struct Compensation {
    /// Whether it is applied.
    pub enabled: bool,
    /// As published, by the paper's text or by its Algorithm 1: pairs of siblings included; neither the fold guard nor
    /// automatic strength.
    pub variant: Variant,
    /// f.
    pub polynomial: Polynomial,
    /// 0 - 2; multiplied by the painted map.
    pub strength: f32,
    /// How twist is treated.
    pub twist: TwistDamping,
    /// Fade out where a third joint has weight; without it the offset jumps where three bones meet.
    pub third_bone_fade: bool,
    /// Never move a point beyond the bisector plane of its joints.
    pub fold_guard: bool,
    /// Multiply the strength by a factor for the falloff width of the weights, relative to the radius of the limb.
    pub auto_strength: bool,
    /// Compensate pairs of which neither is an ancestor of the other (two fingers), in the order of their ranks.
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

    /// The settings in effect: a published variant compensates siblings, and has neither fold guard nor automatic
    /// strength.
    #[must_use]
    pub fn as_applied(&self) -> Self {
        match self.variant {
            Variant::Corrected => self.clone(),
            Variant::Published | Variant::Algorithm1 => Self {
                fold_guard: false,
                auto_strength: false,
                siblings: true,
                ..self.clone()
            },
        }
    }

    /// Whether points of this pair, the heavier joint first, are compensated.
    pub(super) fn takes_pair(&self, bones: &SkinBones, pair: [u16; 2]) -> bool {
        self.as_applied().siblings || bones.on_one_chain(pair[0], pair[1])
    }

    /// The factor of an offset that depends on the weights alone: `f(w2 / (w1 + w2)) (w1 + w2) (1 - w3 / w2)`.
    ///
    /// `weights`: the three largest, descending; missing ones 0. Zero where there is no second.
    pub fn weight_factor(&self, [w1, w2, w3]: [f32; 3]) -> f32 {
        if w2 <= 1e-6 {
            return 0.0;
        }
        let fade = if self.third_bone_fade {
            1.0 - w3 / w2
        } else {
            1.0
        };
        self.polynomial.at(w2 / (w1 + w2)) * (w1 + w2) * fade
    }

    /// The strength for weights that fall off over `sigma`, the standard deviation of their derivative, on a limb of
    /// radius `r`.
    ///
    /// The polynomial assumes sigma / r = 0.63. The line is our fit to the best strengths on the analytic cylinder bent
    /// by 90 degrees, within 0.06 for sigma / r >= 0.2.
    pub fn automatic_strength(sigma_over_r: f64) -> f64 {
        (1.85 * sigma_over_r - 0.19).clamp(0.0, 3.0)
    }

    /// The offset of a pair's points in the layout of the kernel: (direction x y z, strength; bisector x y z, limit). A
    /// point moves by `l * direction`, `l = min(amplitude * strength, limit - v . bisector)`.
    fn row(
        &self,
        pair: [u16; 2],
        automatic: f32,
        bones: &SkinBones,
        palette: &SkinPalette,
    ) -> Row8 {
        let [i1, i2] = pair;
        let motions = palette.motions();
        let (Some(m1), Some(m2)) = (motions.get(i1 as usize), motions.get(i2 as usize)) else {
            return Row8::default();
        };
        let parent_first = bones.rank(i1) <= bones.rank(i2);
        let related = bones.on_one_chain(i1, i2);
        let towards = |from: u16, to: u16, above: bool| {
            bones.direction(from, (related && above).then_some(to), palette)
        };
        let d1 = m1.rotation * towards(i1, i2, parent_first);
        let d2 = m2.rotation * towards(i2, i1, !parent_first);
        let sum = d1 + d2;
        let length = sum.length();
        if length < 1e-6 {
            return Row8::default();
        }
        let published = self.variant.is_published();
        let is_literal = self.variant == Variant::Algorithm1;
        // "If I2 > I1, negate" assumes bones that point to the root; by the text the offset inverts the deformation.
        let sign = if parent_first == is_literal {
            -1.0
        } else {
            1.0
        };
        let bisector = sum * (sign / length);
        let [q1, q2] = if is_literal {
            [
                m1.rotation * bones.bind_rotation(i1),
                m2.rotation * bones.bind_rotation(i2),
            ]
        } else {
            [m1.rotation, m2.rotation]
        };
        let mut relative = q1 * q2.conjugate();
        if relative.w < 0.0 {
            relative = -relative;
        }
        let n = relative.xyz().length();
        let axis = if n > 1e-9 {
            relative.xyz() / n
        } else {
            DVec3::ZERO
        };
        let along = axis.dot(bisector);
        let direction = match self.twist {
            TwistDamping::Axis => bisector - axis * along,
            TwistDamping::Sine => bisector * (1.0 - along * along).max(0.0).sqrt(),
            TwistDamping::Off => bisector,
        };
        // min(1, 2 sqrt(1 - w)) without cancellation: saturates at 82.8 degrees.
        let mut strength =
            (2.0 * n / (1.0 + relative.w).sqrt()).min(1.0) * f64::from(self.strength);
        if !published {
            // Bones folded onto each other have no bisector: fade out instead of flipping.
            let t = (length / 0.1).min(1.0);
            strength *= f64::from(automatic) * t * t * (3.0 - 2.0 * t);
        }
        let direction = direction.as_vec3();
        let (guard, reach) = if self.fold_guard && !published {
            let deeper = if parent_first { m2 } else { m1 };
            let joint = deeper.rigid().transform_point3(deeper.inflated_origin);
            let bisector = bisector.as_vec3();
            (bisector, joint.as_vec3().dot(bisector))
        } else {
            (glam::Vec3::ZERO, f32::MAX)
        };
        Row8([
            direction.x,
            direction.y,
            direction.z,
            strength as f32,
            guard.x,
            guard.y,
            guard.z,
            reach,
        ])
    }
}

/// The distinct (heaviest, second) pairs of joints of the points of a mesh, and their offsets in a pose.
///
/// Pairs are only added, so that chunks keep their indices.
#[derive(Clone, Debug, Default)]
pub struct JointPairs {
    pairs: Vec<[u16; 2]>,
    index: HashMap<[u16; 2], u32>,
    /// One a pair: 1 without automatic strength.
    automatic: Vec<f32>,
    rows: Vec<Row8>,
}

impl JointPairs {
    /// Removes all pairs.
    pub fn clear(&mut self) {
        self.pairs.clear();
        self.index.clear();
        self.automatic.clear();
        self.rows.clear();
    }

    /// The pairs, in the order in which they were added.
    pub fn pairs(&self) -> &[[u16; 2]] {
        &self.pairs
    }

    /// The index of a pair; adds a new one.
    pub fn index_of(&mut self, pair: [u16; 2]) -> u32 {
        *self.index.entry(pair).or_insert_with(|| {
            self.pairs.push(pair);
            self.automatic.push(1.0);
            (self.pairs.len() - 1) as u32
        })
    }

    /// Sets the automatic strength of each pair. Returns whether one changed.
    pub fn set_automatic(&mut self, of: impl Fn([u16; 2]) -> f32) -> bool {
        let mut changed = false;
        for (pair, slot) in self.pairs.iter().zip(&mut self.automatic) {
            let strength = of(*pair);
            changed |= strength.to_bits() != slot.to_bits();
            *slot = strength;
        }
        changed
    }

    /// Computes the offset of every pair in the pose of `palette`.
    pub fn pose(&mut self, settings: &Compensation, bones: &SkinBones, palette: &SkinPalette) {
        self.rows.clear();
        let pairs = self.pairs.iter().zip(&self.automatic);
        self.rows
            .extend(pairs.map(|(&pair, &automatic)| settings.row(pair, automatic, bones, palette)));
    }

    pub(crate) fn rows(&self) -> &[Row8] {
        &self.rows
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
    fn a_point_of_one_joint_or_of_three_equal_ones_stays() {
        let settings = Compensation::default();
        assert_eq!(settings.weight_factor([1.0, 0.0, 0.0]), 0.0);
        assert_eq!(settings.weight_factor([0.34, 0.33, 0.33]), 0.0);
        assert!(settings.weight_factor([0.8, 0.2, 0.0]) > 0.1);
    }
}
