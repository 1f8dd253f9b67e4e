//! The tangent frames of a smoothed surface, eight points at once.

// The bodies must end up inside of what is compiled for AVX2, whatever the optimiser thinks of their size.
#![allow(clippy::inline_always)]

use crate::mesh::Rings;
use crate::skinning::Simd;
use crate::skinning::kernels::{cross, dot, mul3};
use glam::Vec3A;

/// Points whose tangent frames are computed at once.
pub(super) const LANES: usize = 8;

/// The tangent frames of a surface at eight points, orthonormal.
pub(super) struct Frames<S: Simd> {
    pub(super) tangent: [S::F; 3],
    pub(super) bitangent: [S::F; 3],
    pub(super) normal: [S::F; 3],
    /// 1 where there is one, else 0: where the edges around the point are collinear.
    pub(super) exists: S::F,
}

impl<S: Simd> Frames<S> {
    /// The frames of `shape` at `points`, at most eight.
    ///
    /// The two weighted sums of edges are the images of the axes of the bind frame under the linear map that the edges
    /// give. Their cross product is the normal; the tangent follows from the rotation of the polar decomposition of that
    /// map in the plane, so that no single edge decides it. The frame does not depend on the length of the sums, so the
    /// unit of directions needs no division.
    #[inline(always)]
    pub(super) fn new(simd: S, rings: &Rings, shape: &[Vec3A], points: &[u32]) -> Self {
        let (zero, one) = (simd.splat(0.0), simd.splat(1.0));
        // Both sums of a point are one vector of eight numbers.
        let mut sums = [zero; LANES];
        for (sum, &point) in sums.iter_mut().zip(points) {
            let here = shape[point as usize];
            let here = simd.pair(here, here);
            let mut both = zero;
            for (q, direction) in rings.directions(point) {
                let there = shape[q as usize];
                let edge = simd.sub(simd.pair(there, there), here);
                both = simd.mul_add(edge, simd.four_of_each(direction), both);
            }
            *sum = both;
        }
        let [x0, x1, x2, _, y0, y1, y2, _] = simd.transpose(sums);
        let (x, y) = ([x0, x1, x2], [y0, y1, y2]);
        let normal = cross(simd, x, y);
        let area = simd.sqrt(dot(simd, normal, normal));
        let normal = mul3(simd, simd.div(one, area), normal);
        let turned = cross(simd, normal, y);
        let tangent = [
            simd.sub(x[0], turned[0]),
            simd.sub(x[1], turned[1]),
            simd.sub(x[2], turned[2]),
        ];
        let length = simd.sqrt(dot(simd, tangent, tangent));
        let tangent = mul3(simd, simd.div(one, length), tangent);
        let stretch = simd.add(dot(simd, x, x), dot(simd, y, y));
        let (tiny, infinite) = (simd.splat(f32::MIN_POSITIVE), simd.splat(f32::INFINITY));
        let flat = simd.max(simd.mul(stretch, simd.splat(1e-6)), tiny);
        // NaN counts as no frame.
        let exists = simd.select_gt(area, flat, one, zero);
        let exists = simd.select_gt(infinite, area, exists, zero);
        let exists = simd.select_gt(length, tiny, exists, zero);
        let exists = simd.select_gt(infinite, length, exists, zero);
        Self {
            tangent,
            bitangent: cross(simd, normal, tangent),
            normal,
            exists,
        }
    }
}

/// Eight points from `start`.
pub(super) fn block_of(start: usize) -> [u32; LANES] {
    std::array::from_fn(|i| (start + i) as u32)
}
