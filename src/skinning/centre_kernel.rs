//! Skinning about optimised centres of rotation: one chunk of points under one palette.

// See `simd`: kernel bodies belong inside of the function that is compiled with the backend's instructions.
#![allow(clippy::inline_always)]

use super::cooked::LANES;
use super::influences::CHUNK;
use super::input::SkinInput;
use super::kernels::{
    AHEAD, add3, blended_dual_quaternions, check_normals, cross, dot, inflate,
    inflate_with_normals, keep_unmoved, load_block, mul_add3, mul3, prefetch_block, store_block,
};
use super::palette::AFFINE_ROWS;
use super::simd::{Gather, Kernel, Simd, dispatch};
use glam::Vec3;

/// Skinning about centres of rotation, inflated first where a joint has scale or shear: posed world space.
///
/// `out = rotate(q, v - c) + (sum w R) c` with the blended rotation q of dual quaternion skinning, the inflated point v
/// and the inflated centre c. Inflated input ([`SkinInput::with_inflated`]) takes centres of bind space too.
///
/// `centres`: n_points, bind space ([`super::Centres::chunk`]); `out`: n_points. A point without influences stays
/// where it is. Source: Le & Hodgins 2016; Lee et al. 2013.
pub fn centres_of_rotation(input: &SkinInput<'_>, centres: &[Vec3], out: &mut [Vec3]) {
    run::<false>(input, centres, &[], out, &mut []);
}

/// [`centres_of_rotation`] with normals: those of the inflated shape, rotated by the blended rotation.
///
/// `normals`, `out_normals`: one a point.
pub fn centres_of_rotation_with_normals(
    input: &SkinInput<'_>,
    centres: &[Vec3],
    normals: &[Vec3],
    out: &mut [Vec3],
    out_normals: &mut [Vec3],
) {
    run::<true>(input, centres, normals, out, out_normals);
}

fn run<const NORMALS: bool>(
    input: &SkinInput<'_>,
    centres: &[Vec3],
    normals: &[Vec3],
    out: &mut [Vec3],
    out_normals: &mut [Vec3],
) {
    check_normals::<NORMALS>(input, normals, out, out_normals);
    input.check(centres.len());
    if !input.needs_inflation {
        about_centres::<NORMALS>(
            input,
            centres,
            input.scale_of_bind(),
            normals,
            out,
            out_normals,
        );
        return;
    }
    let mut points = [Vec3::ZERO; CHUNK];
    let mut moved_centres = [Vec3::ZERO; CHUNK];
    let mut turned = [Vec3::ZERO; CHUNK];
    let n_points = input.n_points();
    let moved_centres = &mut moved_centres[..n_points];
    // The centre in the inflated shape, by the weights of the point.
    let of_centres = SkinInput {
        positions: centres,
        inflated: false,
        ..*input
    };
    inflate(&of_centres, moved_centres);
    if input.inflated {
        about_centres::<NORMALS>(input, moved_centres, 1.0, normals, out, out_normals);
        return;
    }
    let points = &mut points[..n_points];
    let turned = &mut turned[..n_points];
    if NORMALS {
        inflate_with_normals(input, normals, points, turned);
    } else {
        inflate(input, points);
    }
    let phase_2 = SkinInput {
        positions: points,
        inflated: true,
        ..*input
    };
    let normals = if NORMALS { &*turned } else { normals };
    about_centres::<NORMALS>(&phase_2, moved_centres, 1.0, normals, out, out_normals);
    keep_unmoved(input, input.positions, out);
}

/// `centre_scale`: the factor of centres when they are loaded.
fn about_centres<const NORMALS: bool>(
    input: &SkinInput<'_>,
    centres: &[Vec3],
    centre_scale: f32,
    normals: &[Vec3],
    out: &mut [Vec3],
    out_normals: &mut [Vec3],
) {
    let kernel = AboutCentres::<NORMALS> {
        input,
        centres,
        centre_scale,
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

/// Points and centres, both inflated or multiplied by the unit.
struct AboutCentres<'a, 'o, const NORMALS: bool> {
    input: &'a SkinInput<'a>,
    centres: &'a [Vec3],
    centre_scale: f32,
    normals: &'a [Vec3],
    out: &'o mut [Vec3],
    out_normals: &'o mut [Vec3],
}

impl<const NORMALS: bool> Kernel for AboutCentres<'_, '_, NORMALS> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let input = self.input;
        let turns = Gather::<1>::new(&input.palette.rigid, input.chunk);
        let matrices = Gather::<AFFINE_ROWS>::new(&input.palette.rigid_affine, input.chunk);
        let unit = simd.splat(input.scale());
        let centre_unit = simd.splat(self.centre_scale);
        let two = simd.splat(2.0);
        let minus_one = simd.splat(-1.0);
        for block in 0..input.n_points().div_ceil(LANES) {
            turns.prefetch(simd, block, AHEAD);
            prefetch_block(simd, input.positions, block);
            prefetch_block(simd, self.centres, block);
            prefetch_block(simd, self.out, block);
            if NORMALS {
                prefetch_block(simd, self.normals, block);
                prefetch_block(simd, self.out_normals, block);
            }
            let c = mul3(simd, centre_unit, load_block(simd, self.centres, block));
            let [m00, m01, m02, tx, m10, m11, m12, ty] =
                simd.transpose(matrices.blend(simd, block, 0));
            let [m20, m21, m22, tz] = simd.transpose_low(matrices.blend(simd, block, 1));
            let moved = [
                simd.add(dot(simd, [m00, m01, m02], c), tx),
                simd.add(dot(simd, [m10, m11, m12], c), ty),
                simd.add(dot(simd, [m20, m21, m22], c), tz),
            ];
            let [rx, ry, rz, rw, ..] =
                blended_dual_quaternions(simd, turns, input.needs_sign_test, block);
            let r = [rx, ry, rz];
            let s = simd.div(two, simd.mul_add(rw, rw, dot(simd, r, r)));
            let p = mul3(simd, unit, load_block(simd, input.positions, block));
            let arm = mul_add3(simd, minus_one, c, p);
            let inner = mul_add3(simd, rw, arm, cross(simd, r, arm));
            let turned = mul_add3(simd, s, cross(simd, r, inner), arm);
            store_block(simd, add3(simd, turned, moved), self.out, block);
            if NORMALS {
                let n = load_block(simd, self.normals, block);
                let inner = mul_add3(simd, rw, n, cross(simd, r, n));
                let turned = mul_add3(simd, s, cross(simd, r, inner), n);
                store_block(simd, turned, self.out_normals, block);
            }
        }
    }
}
