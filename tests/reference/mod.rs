//! A plain f64 evaluator of the skinning formulas, written from the papers: no chunks, no palettes, no lanes, and no
//! code of the library. What the kernels and their goldens are compared with.

pub(crate) mod bones;
pub(crate) mod centres;
pub(crate) mod compensation;
pub(crate) mod cylinder;
pub(crate) mod delta_mush;
pub(crate) mod dual;
pub(crate) mod fixture;
pub(crate) mod metrics;
pub(crate) mod normals;
pub(crate) mod projection;
pub(crate) mod quality;
pub(crate) mod two_phase;

use glam::{DAffine3, DMat3, DQuat, DVec3};

/// (joint, weight) pairs of one point.
pub(crate) type Row = Vec<(usize, f64)>;

/// `(sum w K) p`.
pub(crate) fn lbs(p: DVec3, row: &Row, skin_matrices: &[DAffine3]) -> DVec3 {
    row.iter()
        .map(|&(j, w)| skin_matrices[j].transform_point3(p) * w)
        .sum()
}

/// `normalize(cof(sum w K) n)`.
pub(crate) fn lbs_normal(n: DVec3, row: &Row, skin_matrices: &[DAffine3]) -> DVec3 {
    let mut m = DMat3::ZERO;
    for &(j, w) in row {
        m += skin_matrices[j].matrix3 * w;
    }
    let [a, b, c] = [m.x_axis, m.y_axis, m.z_axis];
    let cofactor = DMat3::from_cols(b.cross(c), c.cross(a), a.cross(b));
    (cofactor * n).normalize_or_zero()
}

/// A rigid motion as rotation and translation; Kavan's formulas take the dual part from them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rigid {
    pub(crate) rotation: DQuat,
    pub(crate) translation: DVec3,
}

impl Rigid {
    pub(crate) fn from_matrix(m: &DAffine3) -> Self {
        Self {
            rotation: DQuat::from_mat3(&m.matrix3),
            translation: m.translation,
        }
    }

    /// Where the motion takes `p`.
    pub(crate) fn apply(&self, p: DVec3) -> DVec3 {
        self.rotation * p + self.translation
    }
}

/// The real and dual part of the blend of dual quaternions, pivot = largest weight, ties to the first of `row`.
fn dual_blend(row: &Row, motions: &[Rigid]) -> ([f64; 4], [f64; 4]) {
    let mut pivot = row[0];
    for &(j, w) in row {
        if w > pivot.1 {
            pivot = (j, w);
        }
    }
    let q = |j: usize| motions[j].rotation.to_array();
    let (mut real, mut dual) = ([0.0; 4], [0.0; 4]);
    for &(j, w) in row {
        let ([x, y, z, s], t) = (q(j), motions[j].translation);
        let dot: f64 = q(pivot.0).iter().zip(q(j)).map(|(a, b)| a * b).sum();
        let w = if dot < 0.0 { -w } else { w };
        // Half of (0, t) times the rotation, written out.
        let d = [
            0.5 * (t.x * s + t.y * z - t.z * y),
            0.5 * (-t.x * z + t.y * s + t.z * x),
            0.5 * (t.x * y - t.y * x + t.z * s),
            -0.5 * (t.x * x + t.y * y + t.z * z),
        ];
        for i in 0..4 {
            real[i] += w * [x, y, z, s][i];
            dual[i] += w * d[i];
        }
    }
    (real, dual)
}

/// The rotation of the blend.
pub(crate) fn dqs_rotation(row: &Row, motions: &[Rigid]) -> DQuat {
    let (real, _) = dual_blend(row, motions);
    let length = real.iter().map(|v| v * v).sum::<f64>().sqrt();
    DQuat::from_array(real.map(|v| v / length))
}

/// Dual quaternion linear blending (Kavan et al. 2008).
pub(crate) fn dqs(p: DVec3, row: &Row, motions: &[Rigid]) -> DVec3 {
    let ([x0, y0, z0, w0], [xe, ye, ze, we]) = dual_blend(row, motions);
    let norm = x0 * x0 + y0 * y0 + z0 * z0 + w0 * w0;
    let t = DVec3::new(
        2.0 * (-we * x0 + xe * w0 - ye * z0 + ze * y0),
        2.0 * (-we * y0 + xe * z0 + ye * w0 - ze * x0),
        2.0 * (-we * z0 - xe * y0 + ye * x0 + ze * w0),
    ) / norm;
    dqs_rotation(row, motions) * p + t
}

/// The point of the segment from `a` to `b` nearest to `p`; `a` where the segment is a point.
pub(crate) fn nearest_on_segment(p: DVec3, a: DVec3, b: DVec3) -> DVec3 {
    let along = b - a;
    if along.length_squared() < 1e-24 {
        return a;
    }
    let t = (p - a).dot(along) / along.length_squared();
    a + along * t.clamp(0.0, 1.0)
}

/// The distance of `p` to the segment from `a` to `b`.
pub(crate) fn distance_to_segment(p: DVec3, a: DVec3, b: DVec3) -> f64 {
    p.distance(nearest_on_segment(p, a, b))
}

/// The error function, by its series of positive terms: full precision for |x| < 6, where it is 1 to the last bit.
pub(crate) fn erf(x: f64) -> f64 {
    if x.abs() >= 6.0 {
        return x.signum();
    }
    let (mut term, mut sum) = (x, x);
    for n in 1..400 {
        term *= 2.0 * x * x / f64::from(2 * n + 1);
        sum += term;
        if term.abs() < 1e-18 * sum.abs() {
            break;
        }
    }
    sum * 2.0 / std::f64::consts::PI.sqrt() * (-x * x).exp()
}

/// The larger of two numbers, to fold over with; unlike `f64::max` it does not pass over what is not a number.
#[track_caller]
pub(crate) fn larger<T: PartialOrd + Copy + std::fmt::Debug>(a: T, b: T) -> T {
    assert!(a <= b || b < a, "{a:?} and {b:?} cannot be compared");
    if a <= b { b } else { a }
}
