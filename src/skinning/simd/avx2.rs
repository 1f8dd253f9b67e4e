//! The operations of AVX2 and FMA: intrinsics behind a proof that the processor has both.

use super::lanes::{Kernel, Simd};
use crate::skinning::cooked::LANES;
use crate::skinning::palette::Row8;
use glam::{Vec3, Vec3A};
#[allow(clippy::wildcard_imports)] // thirty intrinsics, all used with their full names
use std::arch::x86_64::*;

/// The proof that the CPU has AVX2 and FMA.
#[derive(Clone, Copy)]
pub(super) struct Avx2(());

impl Avx2 {
    /// The proof, where the CPU has both. The answer is cached by the standard library.
    pub(super) fn detect() -> Option<Self> {
        (is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")).then_some(Self(()))
    }
}

/// Runs a kernel in code compiled with AVX2 and FMA.
#[target_feature(enable = "avx2,fma")]
pub(super) fn with_avx2<K: Kernel>(simd: Avx2, kernel: K) {
    kernel.run(simd);
}

/// Four numbers of each of two rows, beginning at `FROM`, which is 0 or 4.
#[inline(always)]
fn halves<const FROM: usize>(_: Avx2, first: &Row8, second: &Row8) -> __m256 {
    let (first, second) = (&first.0[FROM..FROM + 4], &second.0[FROM..FROM + 4]);
    // SAFETY: both hold four f32, aligned to 16 bytes as their rows are, and a value of `Avx2` exists.
    unsafe {
        let first = _mm256_castps128_ps256(_mm_load_ps(first.as_ptr()));
        _mm256_insertf128_ps::<1>(first, _mm_load_ps(second.as_ptr()))
    }
}

/// The columns of two times four rows: the lower halves of the vectors are the first four.
#[inline(always)]
fn transpose_halves(_: Avx2, [a, b, c, d]: [__m256; 4]) -> [__m256; 4] {
    // SAFETY: a value of `Avx2` exists, so the CPU has AVX2.
    unsafe {
        let (t0, t1) = (_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
        let (t2, t3) = (_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d));
        [
            _mm256_shuffle_ps::<0x44>(t0, t2),
            _mm256_shuffle_ps::<0xEE>(t0, t2),
            _mm256_shuffle_ps::<0x44>(t1, t3),
            _mm256_shuffle_ps::<0xEE>(t1, t3),
        ]
    }
}

// SAFETY, for every block below without a note of its own: `self` exists, so the CPU has AVX2 and FMA.
impl Simd for Avx2 {
    type F = __m256;

    #[inline(always)]
    fn splat(self, v: f32) -> __m256 {
        unsafe { _mm256_set1_ps(v) }
    }
    #[inline(always)]
    fn add(self, a: __m256, b: __m256) -> __m256 {
        unsafe { _mm256_add_ps(a, b) }
    }
    #[inline(always)]
    fn sub(self, a: __m256, b: __m256) -> __m256 {
        unsafe { _mm256_sub_ps(a, b) }
    }
    #[inline(always)]
    fn min(self, a: __m256, b: __m256) -> __m256 {
        unsafe { _mm256_min_ps(a, b) }
    }
    #[inline(always)]
    fn max(self, a: __m256, b: __m256) -> __m256 {
        unsafe { _mm256_max_ps(a, b) }
    }
    #[inline(always)]
    fn neg_mul_add(self, a: __m256, b: __m256, c: __m256) -> __m256 {
        unsafe { _mm256_fnmadd_ps(a, b, c) }
    }
    #[inline(always)]
    fn from_lanes(self, a: &[f32; LANES]) -> __m256 {
        // SAFETY: `a` holds eight f32.
        unsafe { _mm256_loadu_ps(a.as_ptr()) }
    }
    #[inline(always)]
    fn mul(self, a: __m256, b: __m256) -> __m256 {
        unsafe { _mm256_mul_ps(a, b) }
    }
    #[inline(always)]
    fn div(self, a: __m256, b: __m256) -> __m256 {
        unsafe { _mm256_div_ps(a, b) }
    }
    #[inline(always)]
    fn sqrt(self, a: __m256) -> __m256 {
        unsafe { _mm256_sqrt_ps(a) }
    }
    #[inline(always)]
    fn mul_add(self, a: __m256, b: __m256, c: __m256) -> __m256 {
        unsafe { _mm256_fmadd_ps(a, b, c) }
    }
    #[inline(always)]
    fn mul_sub(self, a: __m256, b: __m256, c: __m256) -> __m256 {
        unsafe { _mm256_fmsub_ps(a, b, c) }
    }
    #[inline(always)]
    fn select_gt(self, a: __m256, b: __m256, yes: __m256, no: __m256) -> __m256 {
        unsafe { _mm256_blendv_ps(no, yes, _mm256_cmp_ps::<_CMP_GT_OQ>(a, b)) }
    }

    #[inline(always)]
    fn transpose(self, r: [__m256; 8]) -> [__m256; 8] {
        unsafe {
            let t0 = _mm256_unpacklo_ps(r[0], r[1]);
            let t1 = _mm256_unpackhi_ps(r[0], r[1]);
            let t2 = _mm256_unpacklo_ps(r[2], r[3]);
            let t3 = _mm256_unpackhi_ps(r[2], r[3]);
            let t4 = _mm256_unpacklo_ps(r[4], r[5]);
            let t5 = _mm256_unpackhi_ps(r[4], r[5]);
            let t6 = _mm256_unpacklo_ps(r[6], r[7]);
            let t7 = _mm256_unpackhi_ps(r[6], r[7]);
            let s0 = _mm256_shuffle_ps::<0x44>(t0, t2);
            let s1 = _mm256_shuffle_ps::<0xEE>(t0, t2);
            let s2 = _mm256_shuffle_ps::<0x44>(t1, t3);
            let s3 = _mm256_shuffle_ps::<0xEE>(t1, t3);
            let s4 = _mm256_shuffle_ps::<0x44>(t4, t6);
            let s5 = _mm256_shuffle_ps::<0xEE>(t4, t6);
            let s6 = _mm256_shuffle_ps::<0x44>(t5, t7);
            let s7 = _mm256_shuffle_ps::<0xEE>(t5, t7);
            [
                _mm256_permute2f128_ps::<0x20>(s0, s4),
                _mm256_permute2f128_ps::<0x20>(s1, s5),
                _mm256_permute2f128_ps::<0x20>(s2, s6),
                _mm256_permute2f128_ps::<0x20>(s3, s7),
                _mm256_permute2f128_ps::<0x31>(s0, s4),
                _mm256_permute2f128_ps::<0x31>(s1, s5),
                _mm256_permute2f128_ps::<0x31>(s2, s6),
                _mm256_permute2f128_ps::<0x31>(s3, s7),
            ]
        }
    }

    #[inline(always)]
    fn transpose_low(self, r: [__m256; 8]) -> [__m256; 4] {
        unsafe {
            transpose_halves(
                self,
                [
                    _mm256_permute2f128_ps::<0x20>(r[0], r[4]),
                    _mm256_permute2f128_ps::<0x20>(r[1], r[5]),
                    _mm256_permute2f128_ps::<0x20>(r[2], r[6]),
                    _mm256_permute2f128_ps::<0x20>(r[3], r[7]),
                ],
            )
        }
    }

    #[inline(always)]
    fn pair(self, first: Vec3A, second: Vec3A) -> __m256 {
        unsafe { _mm256_set_m128(second.into(), first.into()) }
    }

    #[inline(always)]
    fn four_of_each(self, [first, second]: [i16; 2]) -> __m256 {
        // The second number is the upper half: the first one is shifted there.
        let both = i32::from(second) << 16 | i32::from(first as u16);
        unsafe {
            let shifts = _mm256_setr_epi32(16, 16, 16, 16, 0, 0, 0, 0);
            let upper = _mm256_sllv_epi32(_mm256_set1_epi32(both), shifts);
            _mm256_cvtepi32_ps(_mm256_srai_epi32::<16>(upper))
        }
    }

    #[inline(always)]
    fn transpose_rows(self, rows: [&Row8; LANES]) -> [__m256; 8] {
        let [a, b, c, d, e, f, g, h] = rows;
        let low = [
            halves::<0>(self, a, e),
            halves::<0>(self, b, f),
            halves::<0>(self, c, g),
            halves::<0>(self, d, h),
        ];
        let high = [
            halves::<4>(self, a, e),
            halves::<4>(self, b, f),
            halves::<4>(self, c, g),
            halves::<4>(self, d, h),
        ];
        let ([a, b, c, d], [e, f, g, h]) =
            (transpose_halves(self, low), transpose_halves(self, high));
        [a, b, c, d, e, f, g, h]
    }

    #[inline(always)]
    fn lane_numbers(self, lanes: [u8; LANES]) -> __m256 {
        // SAFETY: `lanes` holds eight bytes.
        unsafe {
            let lanes = _mm_loadl_epi64(lanes.as_ptr().cast());
            _mm256_castsi256_ps(_mm256_cvtepu8_epi32(lanes))
        }
    }

    #[inline(always)]
    fn pick(self, row: &Row8, lanes: __m256) -> __m256 {
        // SAFETY: rows are aligned to 32 bytes.
        unsafe {
            let row = _mm256_load_ps(row.0.as_ptr());
            _mm256_permutevar8x32_ps(row, _mm256_castps_si256(lanes))
        }
    }

    #[inline(always)]
    fn load(self, points: &[Vec3; LANES]) -> [__m256; 3] {
        let p: *const f32 = points.as_ptr().cast();
        // SAFETY: eight points are 24 f32; `Vec3` is three of them without padding.
        unsafe {
            let m03 = _mm256_loadu2_m128(p.add(12), p);
            let m14 = _mm256_loadu2_m128(p.add(16), p.add(4));
            let m25 = _mm256_loadu2_m128(p.add(20), p.add(8));
            let xy = _mm256_shuffle_ps::<0b10_01_11_10>(m14, m25);
            let yz = _mm256_shuffle_ps::<0b01_00_10_01>(m03, m14);
            [
                _mm256_shuffle_ps::<0b10_00_11_00>(m03, xy),
                _mm256_shuffle_ps::<0b11_01_10_00>(yz, xy),
                _mm256_shuffle_ps::<0b11_00_11_01>(yz, m25),
            ]
        }
    }

    #[inline(always)]
    fn gather(self, points: &[Vec3], indices: &[u32; LANES]) -> [__m256; 3] {
        assert!(!points.is_empty() && points.len() <= i32::MAX as usize / 3);
        let p: *const f32 = points.as_ptr().cast();
        // SAFETY: `indices` holds eight u32. The assertions keep 3 i + 2 inside of the points, which are 3 n f32, and
        // inside of i32.
        unsafe {
            let i = _mm256_loadu_si256(indices.as_ptr().cast());
            let last = _mm256_set1_epi32(points.len() as i32 - 1);
            let inside = _mm256_cmpeq_epi32(_mm256_min_epu32(i, last), i);
            assert!(_mm256_movemask_epi8(inside) == -1, "an index out of range");
            let x = _mm256_add_epi32(_mm256_add_epi32(i, i), i);
            [
                _mm256_i32gather_ps::<4>(p, x),
                _mm256_i32gather_ps::<4>(p.add(1), x),
                _mm256_i32gather_ps::<4>(p.add(2), x),
            ]
        }
    }

    #[inline(always)]
    fn store(self, [x, y, z]: [__m256; 3], points: &mut [Vec3; LANES]) {
        let p: *mut f32 = points.as_mut_ptr().cast();
        // SAFETY: as in `load`.
        unsafe {
            let rxy = _mm256_shuffle_ps::<0b10_00_10_00>(x, y);
            let ryz = _mm256_shuffle_ps::<0b11_01_11_01>(y, z);
            let rzx = _mm256_shuffle_ps::<0b11_01_10_00>(z, x);
            let r03 = _mm256_shuffle_ps::<0b10_00_10_00>(rxy, rzx);
            let r14 = _mm256_shuffle_ps::<0b11_01_10_00>(ryz, rxy);
            let r25 = _mm256_shuffle_ps::<0b11_01_11_01>(rzx, ryz);
            _mm256_storeu2_m128(p.add(12), p, r03);
            _mm256_storeu2_m128(p.add(16), p.add(4), r14);
            _mm256_storeu2_m128(p.add(20), p.add(8), r25);
        }
    }

    #[inline(always)]
    fn to_array(self, a: __m256) -> [f32; LANES] {
        let mut out = [0.0; LANES];
        // SAFETY: `out` holds eight f32.
        unsafe { _mm256_storeu_ps(out.as_mut_ptr(), a) };
        out
    }

    #[inline(always)]
    fn prefetch<T>(self, items: &[T], index: usize) {
        // SAFETY: a hint; it never faults, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(items.as_ptr().wrapping_add(index).cast()) }
    }

    #[inline(always)]
    unsafe fn accumulate<const STRIDE: usize>(
        self,
        acc: &mut [__m256; LANES],
        rows: &[Row8],
        offset: usize,
        joints: &[u16; LANES],
        weights: &[f32; LANES],
    ) {
        for lane in 0..LANES {
            // SAFETY: the caller's promise keeps the row inside of `rows`; rows are aligned to 32 bytes.
            acc[lane] = unsafe {
                let row = rows.get_unchecked(joints[lane] as usize * STRIDE + offset);
                _mm256_fmadd_ps(
                    _mm256_load_ps(row.0.as_ptr()),
                    _mm256_broadcast_ss(&weights[lane]),
                    acc[lane],
                )
            };
        }
    }
}
