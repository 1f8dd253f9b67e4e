//! Bulge compensation (Sulema & Rudenko 2020): a polynomial offset along the bisector of two bones.

use super::bones::{Bones, Segment, dominant};
use super::{Rigid, Row};
use glam::{DQuat, DVec3};

/// c1, c2, c3 of `f(x) = c1 x + c2 x^2 + c3 x^3`.
pub(crate) const F_ORIGINAL: [f64; 3] = [2.29, -9.14, 9.12];
pub(crate) const F_MANUAL: [f64; 3] = [2.2, -8.1, 7.4];

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Twist {
    /// Without the part of the offset along the relative rotation's axis (eq. 12).
    Eq12,
    /// As short, but in the bisector's direction.
    Sine,
    Off,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Sign {
    /// With the bisector where the parent dominates.
    Corrected,
    /// Algorithm 1 as printed: against it.
    Literal,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Compensation {
    pub(crate) polynomial: [f64; 3],
    pub(crate) strength: f64,
    pub(crate) twist: Twist,
    pub(crate) sign: Sign,
    pub(crate) third_bone_fade: bool,
    pub(crate) guard: bool,
    /// Offset pairs that are not ancestor and descendant too, in order of rank, each along its own bone.
    pub(crate) sibling_pairs: bool,
}

impl Default for Compensation {
    fn default() -> Self {
        Self {
            polynomial: F_MANUAL,
            strength: 1.0,
            twist: Twist::Eq12,
            sign: Sign::Corrected,
            third_bone_fade: true,
            guard: true,
            sibling_pairs: false,
        }
    }
}

/// c3 such that f(1/2) = 0.
pub(crate) fn polynomial(c1: f64, c2: f64) -> [f64; 3] {
    [c1, c2, -4.0 * c1 - 2.0 * c2]
}

pub(crate) fn f([c1, c2, c3]: [f64; 3], x: f64) -> f64 {
    c1 * x + c2 * x * x + c3 * x * x * x
}

/// Strength by relative rotation.
pub(crate) fn g(relative: DQuat) -> f64 {
    let q = shorter(relative);
    let n = DVec3::new(q.x, q.y, q.z).length();
    (2.0 * n / (1.0 + q.w).sqrt()).min(1.0)
}

/// The strength that suits weights that fall off over `sigma` on a limb of radius `r`.
pub(crate) fn automatic_strength(sigma: f64, r: f64) -> f64 {
    (1.85 * sigma / r - 0.19).max(0.0)
}

fn shorter(q: DQuat) -> DQuat {
    if q.w < 0.0 { -q } else { q }
}

/// Influences by descending weight, ties to the lower rank.
pub(crate) fn sorted(row: &Row, bones: &Bones) -> Row {
    let mut row = row.clone();
    row.sort_by(|a, b| {
        b.1.total_cmp(&a.1)
            .then(bones.rank(a.0).cmp(&bones.rank(b.0)))
    });
    row
}

impl Compensation {
    /// What is added to `posed`, the point after dual quaternion skinning; `radius` from the (inflated) bind point.
    pub(crate) fn offset(
        &self,
        posed: DVec3,
        row: &Row,
        radius: f64,
        bones: &Bones,
        motions: &[Rigid],
    ) -> DVec3 {
        let row = sorted(row, bones);
        let influence = |k: usize| row.get(k).copied().unwrap_or((0, 0.0));
        let [(i1, w1), (i2, w2), (_, w3)] = [influence(0), influence(1), influence(2)];
        if w2 <= 1e-6 {
            return DVec3::ZERO;
        }
        let (upper, lower) = if bones.rank(i1) < bones.rank(i2) {
            (i1, i2)
        } else {
            (i2, i1)
        };
        let upper_direction = if bones.on_one_chain(i1, i2) {
            bones.direction_towards(upper, lower)
        } else if self.sibling_pairs {
            bones.direction(upper)
        } else {
            return DVec3::ZERO;
        };
        let sum = motions[upper].rotation * upper_direction
            + motions[lower].rotation * bones.direction(lower);
        if sum.length() < 1e-6 {
            return DVec3::ZERO;
        }
        let towards_child = i1 == upper;
        let bisector = if towards_child == (self.sign == Sign::Literal) {
            -sum.normalize_or_zero()
        } else {
            sum.normalize_or_zero()
        };
        let relative = shorter(motions[i1].rotation * motions[i2].rotation.conjugate());
        let vector = DVec3::new(relative.x, relative.y, relative.z);
        let axis = if vector.length() > 1e-9 {
            vector / vector.length()
        } else {
            DVec3::ZERO
        };
        let along = axis.dot(bisector);
        let direction = match self.twist {
            Twist::Eq12 => bisector - axis * along,
            Twist::Sine => bisector * (1.0 - along * along).max(0.0).sqrt(),
            Twist::Off => bisector,
        };
        let fade = if self.third_bone_fade {
            1.0 - w3 / w2
        } else {
            1.0
        };
        // Bones folded onto each other have no bisector: less and less of it before that.
        let t = (sum.length() / 0.1).min(1.0);
        let fade = match self.sign {
            Sign::Corrected => fade * t * t * (3.0 - 2.0 * t),
            Sign::Literal => fade,
        };
        let x = w2 / (w1 + w2);
        let mut length =
            f(self.polynomial, x) * radius * g(relative) * (w1 + w2) * fade * self.strength;
        if self.guard {
            let joint = motions[lower].apply(bones.origins[lower]);
            length = length.min((-(posed - joint).dot(bisector)).max(0.0));
        }
        direction * length
    }

    /// [`Self::offset`] of every point after dual quaternion skinning, added.
    pub(crate) fn apply(
        &self,
        bind: &[DVec3],
        rows: &[Row],
        posed: &[DVec3],
        bones: &Bones,
        motions: &[Rigid],
    ) -> Vec<DVec3> {
        (0..bind.len())
            .map(|v| {
                let r = bones.radius(bind[v], &rows[v]);
                posed[v] + self.offset(posed[v], &rows[v], r, bones, motions)
            })
            .collect()
    }
}

/// How far `posed` has passed the plane through the joint between the pair's bones, across their bisector; 0 before it.
pub(crate) fn penetration(posed: DVec3, row: &Row, pair: [Segment; 2]) -> f64 {
    let [(from, joint), (_, end)] = pair;
    let across = ((joint - from).normalize_or_zero() + (end - joint).normalize_or_zero())
        .normalize_or_zero();
    let past = (posed - joint).dot(across);
    if dominant(row) == 0 { past } else { -past }.max(0.0)
}
