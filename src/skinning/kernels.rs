//! The skinning kernels: one chunk of points under one palette.

// See `simd`: kernel bodies belong inside of the function that is compiled with the backend's instructions.
#![allow(clippy::inline_always)]

use super::cooked::LANES;
use super::influences::CHUNK;
use super::input::SkinInput;
use super::palette::{AFFINE_ROWS, Row8};
use super::simd::{Gather, Kernel, Simd, dispatch};
use glam::{Mat3, Quat, Vec3};

/// The prefetch distance, blocks.
///
/// A kernel reads six streams, and each crosses a page every few hundred points, where the prefetch of the hardware
/// stops: at a million points the stalls cost half as much time as the arithmetic.
pub(super) const AHEAD: usize = 16;

/// Linear blend skinning: `out = (sum w K) p`, posed world space.
///
/// `out`: n_points. A point without influences stays where it is.
pub fn lbs(input: &SkinInput<'_>, out: &mut [Vec3]) {
    affine::<false>(input, &input.palette.lbs, &[], out, &mut []);
}

/// [`lbs`] with normals: `normalize(cof(sum w K) n)`; a normal whose cofactor vanishes stays as it is.
///
/// `normals`, `out_normals`: one a point.
pub fn lbs_with_normals(
    input: &SkinInput<'_>,
    normals: &[Vec3],
    out: &mut [Vec3],
    out_normals: &mut [Vec3],
) {
    affine::<true>(input, &input.palette.lbs, normals, out, out_normals);
}

/// The inflated bind shape: `out = (sum w N)(s p)`, where s is the palette's unit.
///
/// Phase 1 of two-phase skinning (Lee et al. 2013): no rotation; the distances between joints follow the scale of their
/// parents. Radii, rest distances and segments of corrections are measured in it.
pub fn inflate(input: &SkinInput<'_>, out: &mut [Vec3]) {
    if input.needs_inflation && !input.inflated {
        affine::<false>(input, &input.palette.inflate, &[], out, &mut []);
    } else {
        input.check(out.len());
        let scale = input.scale();
        for (out, &p) in out.iter_mut().zip(input.positions) {
            *out = p * scale;
        }
        keep_unmoved(input, input.positions, out);
    }
}

/// [`inflate`] with normals: `normalize(cof(sum w P) n)`.
pub fn inflate_with_normals(
    input: &SkinInput<'_>,
    normals: &[Vec3],
    out: &mut [Vec3],
    out_normals: &mut [Vec3],
) {
    if input.needs_inflation && !input.inflated {
        affine::<true>(input, &input.palette.inflate, normals, out, out_normals);
    } else {
        inflate(input, out);
        input.check(out_normals.len());
        out_normals.copy_from_slice(normals);
    }
}

/// Dual quaternion skinning, inflated first where a joint has scale or shear: posed world space.
///
/// `out`: n_points. A point without influences stays where it is. Quaternions are blended in the hemisphere of the
/// point's heaviest joint (ties: lowest rank). Source: Kavan et al. 2008; Lee et al. 2013.
pub fn dqs(input: &SkinInput<'_>, out: &mut [Vec3]) {
    if input.needs_inflation && !input.inflated {
        let mut scratch = [Vec3::ZERO; CHUNK];
        let scratch = &mut scratch[..input.n_points()];
        inflate(input, scratch);
        let phase_2 = SkinInput {
            positions: scratch,
            inflated: true,
            ..*input
        };
        rigid::<false>(&phase_2, &[], out, &mut []);
        keep_unmoved(input, input.positions, out);
    } else {
        rigid::<false>(input, &[], out, &mut []);
    }
}

/// [`dqs`] with normals: those of the inflated shape, rotated by the blended rotation.
///
/// `normals`, `out_normals`: one a point.
pub fn dqs_with_normals(
    input: &SkinInput<'_>,
    normals: &[Vec3],
    out: &mut [Vec3],
    out_normals: &mut [Vec3],
) {
    if input.needs_inflation && !input.inflated {
        let mut scratch = [Vec3::ZERO; CHUNK];
        let mut scratch_normals = [Vec3::ZERO; CHUNK];
        let scratch = &mut scratch[..input.n_points()];
        let scratch_normals = &mut scratch_normals[..input.n_points()];
        inflate_with_normals(input, normals, scratch, scratch_normals);
        let phase_2 = SkinInput {
            positions: scratch,
            inflated: true,
            ..*input
        };
        rigid::<true>(&phase_2, scratch_normals, out, out_normals);
    } else {
        rigid::<true>(input, normals, out, out_normals);
    }
}

/// The blended rotation of each point: that of dual quaternion skinning, unit; the identity without influences.
///
/// `out`: n_points.
pub fn blended_rotations(input: &SkinInput<'_>, out: &mut [Quat]) {
    input.check(out.len());
    blended_rotations_from(input, 0, out);
}

/// [`blended_rotations`] of the points from `first` on, a multiple of 8.
pub(crate) fn blended_rotations_from(input: &SkinInput<'_>, first: usize, out: &mut [Quat]) {
    assert!(first.is_multiple_of(LANES) && first + out.len() <= input.n_points());
    dispatch(input.backend, Rotations { input, first, out });
}

/// The blended linear part of each point, `sum w lin(K)`; the identity without influences.
///
/// `out`: n_points.
pub fn blended_linear(input: &SkinInput<'_>, out: &mut [Mat3]) {
    input.check(out.len());
    dispatch(input.backend, Linear { input, out });
}

/// The rotation of a blended matrix of [`blended_linear`], by polar decomposition in f64: for corrections that are
/// sculpted on top of LBS, too slow for drawing.
pub fn rotation_of_linear(linear: Mat3) -> Quat {
    let (q, _) = crate::math::polar(linear.as_dmat3());
    crate::math::dual_quaternion::quat_from_rotation(q).as_quat()
}

/// Points without influences stay where they are.
pub(super) fn keep_unmoved(input: &SkinInput<'_>, from: &[Vec3], out: &mut [Vec3]) {
    for &point in input.chunk.unmoved() {
        out[point as usize] = from[point as usize];
    }
}

fn affine<const NORMALS: bool>(
    input: &SkinInput<'_>,
    rows: &[Row8],
    normals: &[Vec3],
    out: &mut [Vec3],
    out_normals: &mut [Vec3],
) {
    check_normals::<NORMALS>(input, normals, out, out_normals);
    let kernel = Affine::<NORMALS> {
        input,
        rows: Gather::new(rows, input.chunk),
        normals,
        out,
        out_normals,
    };
    dispatch(input.backend, kernel);
    keep_unmoved(input, input.positions, out);
    if NORMALS {
        keep_unmoved(input, normals, out_normals);
    }
}

fn rigid<const NORMALS: bool>(
    input: &SkinInput<'_>,
    normals: &[Vec3],
    out: &mut [Vec3],
    out_normals: &mut [Vec3],
) {
    check_normals::<NORMALS>(input, normals, out, out_normals);
    let kernel = Rigid::<NORMALS> {
        input,
        normals,
        out,
        out_normals,
    };
    dispatch(input.backend, kernel);
    keep_unmoved(input, input.positions, out);
    if NORMALS {
        keep_unmoved(input, normals, out_normals);
    }
}

pub(super) fn check_normals<const NORMALS: bool>(
    input: &SkinInput<'_>,
    normals: &[Vec3],
    out: &[Vec3],
    out_normals: &[Vec3],
) {
    input.check(out.len());
    if NORMALS {
        input.check(normals.len());
        input.check(out_normals.len());
    }
}

/// Eight points from `block` on; the last block of a chunk is filled up with zeros.
#[inline(always)]
pub(crate) fn load_block<S: Simd>(simd: S, points: &[Vec3], block: usize) -> [S::F; 3] {
    let (blocks, rest) = points.as_chunks::<LANES>();
    if let Some(points) = blocks.get(block) {
        simd.load(points)
    } else {
        let mut padded = [Vec3::ZERO; LANES];
        padded[..rest.len()].copy_from_slice(rest);
        simd.load(&padded)
    }
}

#[inline(always)]
pub(super) fn store_block<S: Simd>(simd: S, xyz: [S::F; 3], points: &mut [Vec3], block: usize) {
    let (blocks, rest) = points.as_chunks_mut::<LANES>();
    if let Some(points) = blocks.get_mut(block) {
        simd.store(xyz, points);
    } else {
        let mut padded = [Vec3::ZERO; LANES];
        simd.store(xyz, &mut padded);
        rest.copy_from_slice(&padded[..rest.len()]);
    }
}

/// Prefetches the points of the block [`AHEAD`] blocks later.
#[inline(always)]
pub(super) fn prefetch_block<S: Simd>(simd: S, points: &[Vec3], block: usize) {
    let index = (block + AHEAD) * LANES;
    simd.prefetch(points, index);
    simd.prefetch(points, index + LANES / 2);
}

// By component: closures inside `array::map` are compiled without the instructions of the backend.

#[inline(always)]
pub(crate) fn cross<S: Simd>(simd: S, a: [S::F; 3], b: [S::F; 3]) -> [S::F; 3] {
    [
        simd.mul_sub(a[1], b[2], simd.mul(a[2], b[1])),
        simd.mul_sub(a[2], b[0], simd.mul(a[0], b[2])),
        simd.mul_sub(a[0], b[1], simd.mul(a[1], b[0])),
    ]
}

/// `s * a + c`.
#[inline(always)]
pub(crate) fn mul_add3<S: Simd>(simd: S, s: S::F, a: [S::F; 3], c: [S::F; 3]) -> [S::F; 3] {
    [
        simd.mul_add(s, a[0], c[0]),
        simd.mul_add(s, a[1], c[1]),
        simd.mul_add(s, a[2], c[2]),
    ]
}

#[inline(always)]
pub(super) fn add3<S: Simd>(simd: S, a: [S::F; 3], b: [S::F; 3]) -> [S::F; 3] {
    [
        simd.add(a[0], b[0]),
        simd.add(a[1], b[1]),
        simd.add(a[2], b[2]),
    ]
}

#[inline(always)]
pub(crate) fn mul3<S: Simd>(simd: S, s: S::F, a: [S::F; 3]) -> [S::F; 3] {
    [simd.mul(s, a[0]), simd.mul(s, a[1]), simd.mul(s, a[2])]
}

/// `a / |a|`, or `otherwise` where `a` is too short.
#[inline(always)]
fn unit_or<S: Simd>(simd: S, a: [S::F; 3], otherwise: [S::F; 3]) -> [S::F; 3] {
    let length_squared = dot(simd, a, a);
    let tiny = simd.splat(f32::MIN_POSITIVE);
    let one = simd.splat(1.0);
    let safe = simd.select_gt(length_squared, tiny, length_squared, one);
    let unit = mul3(simd, simd.div(one, simd.sqrt(safe)), a);
    [
        simd.select_gt(length_squared, tiny, unit[0], otherwise[0]),
        simd.select_gt(length_squared, tiny, unit[1], otherwise[1]),
        simd.select_gt(length_squared, tiny, unit[2], otherwise[2]),
    ]
}

#[inline(always)]
pub(crate) fn dot<S: Simd>(simd: S, a: [S::F; 3], b: [S::F; 3]) -> S::F {
    simd.mul_add(a[0], b[0], simd.mul_add(a[1], b[1], simd.mul(a[2], b[2])))
}

/// Points moved by a blended affine matrix.
struct Affine<'a, 'o, const NORMALS: bool> {
    input: &'a SkinInput<'a>,
    rows: Gather<'a, AFFINE_ROWS>,
    normals: &'a [Vec3],
    out: &'o mut [Vec3],
    out_normals: &'o mut [Vec3],
}

impl<const NORMALS: bool> Kernel for Affine<'_, '_, NORMALS> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        for block in 0..self.input.n_points().div_ceil(LANES) {
            self.rows.prefetch(simd, block, AHEAD);
            prefetch_block(simd, self.input.positions, block);
            prefetch_block(simd, self.out, block);
            if NORMALS {
                prefetch_block(simd, self.normals, block);
                prefetch_block(simd, self.out_normals, block);
            }
            let [m00, m01, m02, tx, m10, m11, m12, ty] =
                simd.transpose(self.rows.blend(simd, block, 0));
            let [m20, m21, m22, tz] = simd.transpose_low(self.rows.blend(simd, block, 1));
            let p = load_block(simd, self.input.positions, block);
            let rows = [[m00, m01, m02], [m10, m11, m12], [m20, m21, m22]];
            let posed = [
                simd.add(dot(simd, rows[0], p), tx),
                simd.add(dot(simd, rows[1], p), ty),
                simd.add(dot(simd, rows[2], p), tz),
            ];
            store_block(simd, posed, self.out, block);
            if NORMALS {
                let n = load_block(simd, self.normals, block);
                let [r0, r1, r2] = rows;
                let turned = [
                    dot(simd, cross(simd, r1, r2), n),
                    dot(simd, cross(simd, r2, r0), n),
                    dot(simd, cross(simd, r0, r1), n),
                ];
                store_block(simd, unit_or(simd, turned, n), self.out_normals, block);
            }
        }
    }
}

/// Real and dual parts (x, y, z, w) of the blended dual quaternions of a block.
#[inline(always)]
pub(super) fn blended_dual_quaternions<S: Simd>(
    simd: S,
    rows: Gather<'_, 1>,
    signed: bool,
    block: usize,
) -> [S::F; 8] {
    simd.transpose(if signed {
        rows.blend_signed(simd, block)
    } else {
        rows.blend(simd, block, 0)
    })
}

/// Points moved by a blended dual quaternion.
struct Rigid<'a, 'o, const NORMALS: bool> {
    input: &'a SkinInput<'a>,
    normals: &'a [Vec3],
    out: &'o mut [Vec3],
    out_normals: &'o mut [Vec3],
}

impl<const NORMALS: bool> Kernel for Rigid<'_, '_, NORMALS> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let input = self.input;
        let rows = Gather::new(&input.palette.rigid, input.chunk);
        let unit = simd.splat(input.scale());
        let two = simd.splat(2.0);
        let minus_one = simd.splat(-1.0);
        for block in 0..input.n_points().div_ceil(LANES) {
            rows.prefetch(simd, block, AHEAD);
            prefetch_block(simd, input.positions, block);
            prefetch_block(simd, self.out, block);
            if NORMALS {
                prefetch_block(simd, self.normals, block);
                prefetch_block(simd, self.out_normals, block);
            }
            let [rx, ry, rz, rw, dx, dy, dz, dw] =
                blended_dual_quaternions(simd, rows, input.needs_sign_test, block);
            let (r, d) = ([rx, ry, rz], [dx, dy, dz]);
            // 2 / |b0|^2 normalises rotation and translation at once: no square root.
            let s = simd.div(two, simd.mul_add(rw, rw, dot(simd, r, r)));
            let p = mul3(simd, unit, load_block(simd, input.positions, block));
            // v' = v + s (r x (r x v + w v + d) + w d - dw r): rotation and translation share their products.
            let inner = add3(simd, mul_add3(simd, rw, p, cross(simd, r, p)), d);
            let outer = mul_add3(simd, rw, d, cross(simd, r, inner));
            let outer = mul_add3(simd, simd.mul(dw, minus_one), r, outer);
            store_block(simd, mul_add3(simd, s, outer, p), self.out, block);
            if NORMALS {
                let n = load_block(simd, self.normals, block);
                let inner = mul_add3(simd, rw, n, cross(simd, r, n));
                let turned = mul_add3(simd, s, cross(simd, r, inner), n);
                store_block(simd, turned, self.out_normals, block);
            }
        }
    }
}

struct Rotations<'a, 'o> {
    input: &'a SkinInput<'a>,
    first: usize,
    out: &'o mut [Quat],
}

impl Kernel for Rotations<'_, '_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let rows = Gather::new(&self.input.palette.rigid, self.input.chunk);
        let one = simd.splat(1.0);
        for (block, out) in (self.first / LANES..).zip(self.out.chunks_mut(LANES)) {
            let [x, y, z, w, ..] =
                blended_dual_quaternions(simd, rows, self.input.needs_sign_test, block);
            let length_squared = simd.mul_add(w, w, dot(simd, [x, y, z], [x, y, z]));
            let inverse = simd.div(one, simd.sqrt(length_squared));
            let [x, y, z] = mul3(simd, inverse, [x, y, z]);
            let (x, y, z) = (simd.to_array(x), simd.to_array(y), simd.to_array(z));
            let w = simd.to_array(simd.mul(inverse, w));
            for (lane, out) in out.iter_mut().enumerate() {
                *out = Quat::from_xyzw(x[lane], y[lane], z[lane], w[lane]);
            }
        }
        let out = self.first..self.first + self.out.len();
        for &point in self.input.chunk.unmoved() {
            if out.contains(&usize::from(point)) {
                self.out[usize::from(point) - out.start] = Quat::IDENTITY;
            }
        }
    }
}

struct Linear<'a, 'o> {
    input: &'a SkinInput<'a>,
    out: &'o mut [Mat3],
}

impl Kernel for Linear<'_, '_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let rows = Gather::<AFFINE_ROWS>::new(&self.input.palette.lbs, self.input.chunk);
        for (block, out) in self.out.chunks_mut(LANES).enumerate() {
            let upper = rows.blend(simd, block, 0);
            let lower = rows.blend(simd, block, 1);
            for (lane, out) in out.iter_mut().enumerate() {
                let (u, l) = (simd.to_array(upper[lane]), simd.to_array(lower[lane]));
                *out = Mat3::from_cols(
                    Vec3::new(u[0], u[4], l[0]),
                    Vec3::new(u[1], u[5], l[1]),
                    Vec3::new(u[2], u[6], l[2]),
                );
            }
        }
        for &point in self.input.chunk.unmoved() {
            self.out[point as usize] = Mat3::IDENTITY;
        }
    }
}
