//! Tangent frames of a deformed surface, eight points at once.

// The bodies must end up inside of `with_avx2` (`skinning::simd`), whatever the optimiser thinks of their size.
#![allow(clippy::inline_always)]

use crate::mesh::Rings;
use crate::skinning::Simd;
use glam::Vec3A;

/// Points whose frames are computed at once.
pub(super) const LANES: usize = 8;

/// Eight vectors.
pub(super) type Lanes<S> = [<S as Simd>::F; 3];

/// The tangent frames of a surface at eight points, orthonormal.
pub(super) struct Frames<S: Simd> {
    pub(super) tangent: Lanes<S>,
    pub(super) bitangent: Lanes<S>,
    pub(super) normal: Lanes<S>,
    /// Whether there is one: not where the edges around the point are collinear.
    pub(super) exists: [bool; LANES],
}

impl<S: Simd> Frames<S> {
    /// The frames of `shape` at the first `n` lanes' points; `n` is at most eight.
    ///
    /// The two weighted sums of edges are the images of the axes of the bind frame under the linear map that the edges
    /// give. Their cross product is the normal; the tangent follows from the rotation of the polar decomposition of that
    /// map in the plane, so that no single edge decides it. The frame does not depend on the length of the sums, so the
    /// unit of directions needs no division.
    #[inline(always)]
    pub(super) fn new(
        simd: S,
        rings: &Rings,
        shape: &[Vec3A],
        n: usize,
        point: impl Fn(usize) -> u32,
    ) -> Self {
        let mut sums = [[Vec3A::ZERO; LANES]; 2];
        for i in 0..n {
            let here = shape[point(i) as usize];
            let (mut x, mut y) = (Vec3A::ZERO, Vec3A::ZERO);
            for (q, cos, sin) in rings.directions(point(i)) {
                let edge = shape[q as usize] - here;
                x += edge * cos;
                y += edge * sin;
            }
            (sums[0][i], sums[1][i]) = (x, y);
        }
        let x = lanes(simd, LANES, |i| sums[0][i]);
        let y = lanes(simd, LANES, |i| sums[1][i]);
        let normal = cross(simd, x, y);
        let area = simd.sqrt(dot(simd, normal, normal));
        let normal = scaled(simd, normal, simd.div(simd.splat(1.0), area));
        let turned = cross(simd, normal, y);
        let tangent = [
            simd.sub(x[0], turned[0]),
            simd.sub(x[1], turned[1]),
            simd.sub(x[2], turned[2]),
        ];
        let length = simd.sqrt(dot(simd, tangent, tangent));
        let tangent = scaled(simd, tangent, simd.div(simd.splat(1.0), length));
        let stretch = simd.to_array(simd.add(dot(simd, x, x), dot(simd, y, y)));
        let (area, length) = (simd.to_array(area), simd.to_array(length));
        Self {
            tangent,
            bitangent: cross(simd, normal, tangent),
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

/// `n` vectors side by side; the others are 0.
#[inline(always)]
pub(super) fn lanes<S: Simd>(simd: S, n: usize, vector: impl Fn(usize) -> Vec3A) -> Lanes<S> {
    let mut all = [Vec3A::ZERO; LANES];
    for (i, own) in all.iter_mut().take(n).enumerate() {
        *own = vector(i);
    }
    let axis = |k: usize| {
        let mut lanes = [0.0; LANES];
        for (lane, v) in lanes.iter_mut().zip(&all) {
            *lane = v[k];
        }
        simd.from_lanes(&lanes)
    };
    [axis(0), axis(1), axis(2)]
}

/// The dot products of eight pairs.
#[inline(always)]
pub(super) fn dot<S: Simd>(simd: S, a: Lanes<S>, b: Lanes<S>) -> S::F {
    let xy = simd.mul_add(a[1], b[1], simd.mul(a[0], b[0]));
    simd.mul_add(a[2], b[2], xy)
}

#[inline(always)]
fn cross<S: Simd>(simd: S, a: Lanes<S>, b: Lanes<S>) -> Lanes<S> {
    let part = |i: usize, k: usize| simd.mul_sub(a[i], b[k], simd.mul(a[k], b[i]));
    [part(1, 2), part(2, 0), part(0, 1)]
}

#[inline(always)]
fn scaled<S: Simd>(simd: S, a: Lanes<S>, by: S::F) -> Lanes<S> {
    [simd.mul(a[0], by), simd.mul(a[1], by), simd.mul(a[2], by)]
}
