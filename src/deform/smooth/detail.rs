//! The detail of the bind shape: taken from it, and added to the smoothed pose.

// The bodies must end up inside of what is compiled for AVX2, whatever the optimiser thinks of their size.
#![allow(clippy::inline_always)]

use super::frames::{Frames, LANES, block_of};
use super::iterations::AHEAD;
use crate::deform::mask::MaskChunk;
use crate::deform::{MaskKind, Masks};
use crate::mesh::Rings;
use crate::skinning::kernels::{dot, mul_add3};
use crate::skinning::{Kernel, Simd};
use glam::{Vec3, Vec3A};

/// A smoothed pose, the detail to be added to it, and the pose before, all n_points.
#[derive(Clone, Copy)]
pub(super) struct Added<'a> {
    pub(super) rings: &'a Rings,
    pub(super) smoothed: &'a [Vec3A],
    pub(super) details: &'a [Vec3],
    pub(super) input: &'a [Vec3],
}

impl Added<'_> {
    /// Writes at most eight points of the smoothed pose with the detail of the bind shape, interpolated from `input` by
    /// their strengths. Where the surface has collapsed there is no tangent frame, and a point stays as in `input`.
    #[inline(always)]
    fn write<S: Simd>(self, simd: S, points: &[u32], strengths: &[f32; LANES], out: &mut [Vec3]) {
        if strengths[..points.len()].iter().all(|&s| s <= 0.0) {
            for (out, &point) in out.iter_mut().zip(points) {
                *out = self.input[point as usize];
            }
            return;
        }
        let frames = Frames::new(simd, self.rings, self.smoothed, points);
        let zero = simd.splat(0.0);
        let mut rows = [zero; LANES];
        for (row, &point) in rows.iter_mut().zip(points) {
            let (smoothed, detail) = (self.smoothed[point as usize], self.details[point as usize]);
            *row = simd.pair(smoothed, detail.into());
        }
        let [x, y, z, _, along_t, along_b, along_n, _] = simd.transpose(rows);
        let corrected = mul_add3(simd, along_t, frames.tangent, [x, y, z]);
        let corrected = mul_add3(simd, along_b, frames.bitangent, corrected);
        let corrected = mul_add3(simd, along_n, frames.normal, corrected);
        let size = dot(simd, corrected, corrected);
        let infinite = simd.splat(f32::INFINITY);
        let acts = simd.to_array(simd.select_gt(infinite, size, frames.exists, zero));
        let mut there = [Vec3::ZERO; LANES];
        simd.store(corrected, &mut there);
        for (i, (out, &point)) in out.iter_mut().zip(points).enumerate() {
            let (there, strength) = (there[i], strengths[i]);
            *out = if acts[i] > 0.0 && strength >= 1.0 {
                // So both sides of a seam have the same bits.
                there
            } else {
                let from = self.input[point as usize];
                if acts[i] > 0.0 && strength > 0.0 {
                    from + (there - from) * strength
                } else {
                    from
                }
            };
        }
    }
}

/// The detail of a chunk of the bind shape.
pub(super) struct DetailOfChunk<'a> {
    pub(super) rings: &'a Rings,
    pub(super) rest: &'a [Vec3],
    pub(super) smoothed: &'a [Vec3A],
    pub(super) first: usize,
    pub(super) out: &'a mut [Vec3],
}

impl Kernel for DetailOfChunk<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        for (block, out) in self.out.chunks_mut(LANES).enumerate() {
            let points = block_of(self.first + block * LANES);
            let points = &points[..out.len()];
            let frames = Frames::new(simd, self.rings, self.smoothed, points);
            let mut rows = [simd.splat(0.0); LANES];
            for (row, &point) in rows.iter_mut().zip(points) {
                let at = point as usize;
                let lost = Vec3A::from(self.rest[at]) - self.smoothed[at];
                *row = simd.pair(lost, lost);
            }
            let [x, y, z, ..] = simd.transpose(rows);
            let lost = [x, y, z];
            let detail = [
                dot(simd, frames.tangent, lost),
                dot(simd, frames.bitangent, lost),
                dot(simd, frames.normal, lost),
            ];
            let mut details = [Vec3::ZERO; LANES];
            simd.store(detail, &mut details);
            let exists = simd.to_array(frames.exists);
            for (out, (detail, exists)) in out.iter_mut().zip(details.into_iter().zip(exists)) {
                *out = if exists > 0.0 { detail } else { Vec3::NAN };
            }
        }
    }
}

/// Single points of the result.
pub(super) struct AddedToPoints<'a> {
    pub(super) added: Added<'a>,
    pub(super) masks: &'a Masks,
    pub(super) strength: f32,
    /// The points of `out`, and others after them.
    pub(super) points: &'a [u32],
    pub(super) out: &'a mut [Vec3],
}

impl Kernel for AddedToPoints<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let points = self.points.chunks(LANES);
        for (out, points) in self.out.chunks_mut(LANES).zip(points) {
            let points = &points[..out.len()];
            let mut strengths = [0.0; LANES];
            for (strength, &point) in strengths.iter_mut().zip(points) {
                *strength = self.strength * self.masks.value(MaskKind::Smooth, point);
            }
            self.added.write(simd, points, &strengths, out);
        }
    }
}

/// A chunk of the result.
pub(super) struct AddedToChunk<'a> {
    pub(super) added: Added<'a>,
    pub(super) mask: Option<&'a MaskChunk>,
    pub(super) strength: f32,
    pub(super) first: usize,
    pub(super) out: &'a mut [Vec3],
}

impl Kernel for AddedToChunk<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let rings = self.added.rings;
        for (block, out) in self.out.chunks_mut(LANES).enumerate() {
            let start = block * LANES;
            let points = block_of(self.first + start);
            for &point in &points[..out.len()] {
                let (neighbours, start) = rings.row_start(point);
                simd.prefetch(neighbours, start + AHEAD);
                simd.prefetch(rings.all_directions(), start + AHEAD);
            }
            let mut strengths = [self.strength * MaskKind::UNPAINTED; LANES];
            if let Some(mask) = self.mask {
                for (strength, painted) in strengths.iter_mut().zip(&mask[start..]) {
                    *strength = self.strength * painted;
                }
            }
            self.added
                .write(simd, &points[..out.len()], &strengths, out);
        }
    }
}
