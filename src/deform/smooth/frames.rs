//! The tangent frames of a smoothed surface, eight points at once.

// The bodies must end up inside of what is compiled for AVX2, whatever the optimiser thinks of their size.
#![allow(clippy::inline_always)]

use crate::mesh::Rings;
use glam::Vec3A;
use wide::f32x8;

/// Points whose tangent frames are computed at once.
pub(super) const LANES: usize = 8;

/// Eight vectors.
type Lanes = [f32x8; 3];

/// The tangent frames of a surface at eight points, orthonormal.
pub(super) struct Frames {
    pub(super) tangent: Lanes,
    pub(super) bitangent: Lanes,
    pub(super) normal: Lanes,
    /// Whether there is one: not where the edges around the point are collinear.
    pub(super) exists: [bool; LANES],
}

impl Frames {
    /// The frames of `shape` at `points`, at most eight.
    ///
    /// The two weighted sums of edges are the images of the axes of the bind frame under the linear map that the edges
    /// give. Their cross product is the normal; the tangent follows from the rotation of the polar decomposition of that
    /// map in the plane, so that no single edge decides it. The frame does not depend on the length of the sums, so the
    /// unit of directions needs no division.
    #[inline(always)]
    pub(super) fn new(rings: &Rings, shape: &[Vec3A], points: &[u32]) -> Self {
        let mut sums = [[Vec3A::ZERO; LANES]; 2];
        for (i, &point) in points.iter().enumerate() {
            let here = shape[point as usize];
            let (mut x, mut y) = (Vec3A::ZERO, Vec3A::ZERO);
            for (q, cos, sin) in rings.directions(point) {
                let edge = shape[q as usize] - here;
                x += edge * cos;
                y += edge * sin;
            }
            (sums[0][i], sums[1][i]) = (x, y);
        }
        let [x, y] = sums.map(|sum| lanes(LANES, |i| sum[i]));
        let normal = cross(x, y);
        let area = dot(normal, normal).sqrt();
        let normal = scaled(normal, f32x8::ONE / area);
        let turned = cross(normal, y);
        let tangent: Lanes = std::array::from_fn(|k| x[k] - turned[k]);
        let length = dot(tangent, tangent).sqrt();
        let tangent = scaled(tangent, f32x8::ONE / length);
        let stretch = (dot(x, x) + dot(y, y)).to_array();
        let (area, length) = (area.to_array(), length.to_array());
        Self {
            tangent,
            bitangent: cross(normal, tangent),
            normal,
            // NaN counts as no frame.
            exists: std::array::from_fn(|i| {
                area[i] > 1e-6 * stretch[i]
                    && area[i] >= f32::MIN_POSITIVE
                    && area[i].is_finite()
                    && length[i] >= f32::MIN_POSITIVE
                    && length[i].is_finite()
            }),
        }
    }
}

/// Eight points from `start`.
pub(super) fn block_of(start: usize) -> [u32; LANES] {
    std::array::from_fn(|i| (start + i) as u32)
}

/// `n` vectors side by side; the others are 0.
#[inline(always)]
pub(super) fn lanes(n: usize, vector: impl Fn(usize) -> Vec3A) -> Lanes {
    let mut all = [Vec3A::ZERO; LANES];
    for (i, own) in all.iter_mut().take(n).enumerate() {
        *own = vector(i);
    }
    let axis = |k: usize| f32x8::from(all.map(|v| v[k]));
    [axis(0), axis(1), axis(2)]
}

#[inline(always)]
pub(super) fn dot(a: Lanes, b: Lanes) -> f32x8 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline(always)]
fn cross(a: Lanes, b: Lanes) -> Lanes {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

#[inline(always)]
fn scaled(a: Lanes, by: f32x8) -> Lanes {
    a.map(|a| a * by)
}
