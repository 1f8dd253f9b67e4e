//! Eight f32 lanes: AVX2 with FMA where the CPU has them, the crate `wide` elsewhere.
//!
//! The one module of the kernels with `unsafe`. It is sound for two reasons:
//!
//! - A value of [`Avx2`] exists only where the CPU was found to have AVX2 and FMA ([`Avx2::detect`]), so every method
//!   on it may use their instructions. The methods are `#[inline(always)]` and end up inside [`with_avx2`], which is
//!   compiled with these features: that makes them fast, it does not make them sound.
//! - A [`Gather`] exists only for rows that hold every joint of its chunk ([`Gather::new`] checks the chunk's largest
//!   index, which [`CookedChunk`] keeps for all its blocks), so rows are read without checks in the inner loop.
//!
//! Invariant: both backends compute the same formulas lane by lane; results do not depend on a point's neighbours in the
//! block.

#![allow(unsafe_code)]
// The kernels' bodies must end up inside of `with_avx2`, whatever the optimiser thinks of their size.
#![allow(clippy::inline_always)]

use super::cooked::{CookedChunk, LANES};
use super::palette::Row8;
use glam::{Vec3, Vec3A};
use wide::f32x8;

/// The instruction set of the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// 256-bit lanes with fused multiply-add, where the machine has them; else [`Backend::Portable`].
    Avx2,
    /// The crate `wide`, compiled for the target.
    Portable,
}

impl Backend {
    /// The fastest one of this CPU.
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        if Avx2::detect().is_some() {
            return Self::Avx2;
        }
        Self::Portable
    }
}

/// Work written once for all backends. `run` must be `#[inline(always)]`.
pub(crate) trait Kernel {
    /// Does the work with the lanes of `simd`.
    fn run<S: Simd>(self, simd: S);
}

/// Runs a kernel on a backend.
pub(crate) fn dispatch<K: Kernel>(backend: Backend, kernel: K) {
    #[cfg(target_arch = "x86_64")]
    if backend == Backend::Avx2
        && let Some(simd) = Avx2::detect()
    {
        // SAFETY: `simd` exists, so the CPU has AVX2 and FMA.
        return unsafe { with_avx2(simd, kernel) };
    }
    let _ = backend;
    kernel.run(Portable);
}

/// Arithmetic on eight f32. A value of the type proves that the CPU supports it.
pub(crate) trait Simd: Copy {
    /// Eight f32.
    type F: Copy;

    fn splat(self, v: f32) -> Self::F;
    fn add(self, a: Self::F, b: Self::F) -> Self::F;
    fn sub(self, a: Self::F, b: Self::F) -> Self::F;
    fn mul(self, a: Self::F, b: Self::F) -> Self::F;
    /// The smaller of two; `b` where one is NaN.
    fn min(self, a: Self::F, b: Self::F) -> Self::F;
    /// The larger of two; `b` where one is NaN.
    fn max(self, a: Self::F, b: Self::F) -> Self::F;
    fn div(self, a: Self::F, b: Self::F) -> Self::F;
    fn sqrt(self, a: Self::F) -> Self::F;
    /// `a * b + c`, fused where the CPU can.
    fn mul_add(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F;
    /// `a * b - c`.
    fn mul_sub(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F;
    /// `c - a * b`.
    fn neg_mul_add(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F;
    /// `yes` where `a > b`, else `no`.
    fn select_gt(self, a: Self::F, b: Self::F, yes: Self::F, no: Self::F) -> Self::F;
    /// Lane i of result k is lane k of `rows[i]`.
    fn transpose(self, rows: [Self::F; 8]) -> [Self::F; 8];
    /// The first four results of [`Simd::transpose`].
    fn transpose_low(self, rows: [Self::F; 8]) -> [Self::F; 4];
    /// x, y and z of eight points.
    fn load(self, points: &[Vec3; LANES]) -> [Self::F; 3];
    /// x, y and z of the points with these indices. Panics where one is out of range.
    fn gather(self, points: &[Vec3], indices: &[u32; LANES]) -> [Self::F; 3];
    /// Writes x, y and z of eight points.
    fn store(self, xyz: [Self::F; 3], points: &mut [Vec3; LANES]);
    #[allow(clippy::wrong_self_convention)] // `self` proves that the CPU supports it
    fn from_lanes(self, a: &[f32; LANES]) -> Self::F;
    fn to_array(self, a: Self::F) -> [f32; LANES];
    /// x, y and z of a point, an undefined number, and the same of another point.
    fn pair(self, first: Vec3A, second: Vec3A) -> Self::F;
    /// Four times the first number, and four times the second one.
    fn four_of_each(self, numbers: [i16; 2]) -> Self::F;
    /// As [`Simd::transpose`], of rows in memory.
    fn transpose_rows(self, rows: [&Row8; LANES]) -> [Self::F; 8];
    /// Numbers of lanes, for [`Simd::pick`].
    fn lane_numbers(self, lanes: [u8; LANES]) -> Self::F;
    /// Lane `lanes[i]` of `row` in lane i; of each number of [`Simd::lane_numbers`] the lowest three bits count.
    fn pick(self, row: &Row8, lanes: Self::F) -> Self::F;
    /// Prefetches the cache line of `items[index]`, which may lie beyond the end.
    fn prefetch<T>(self, items: &[T], index: usize);

    /// `acc[lane] += weights[lane] * rows[joints[lane] * STRIDE + offset]`.
    ///
    /// # Safety
    /// `joints[lane] * STRIDE + offset < rows.len()` for every lane.
    unsafe fn accumulate<const STRIDE: usize>(
        self,
        acc: &mut [Self::F; LANES],
        rows: &[Row8],
        offset: usize,
        joints: &[u16; LANES],
        weights: &[f32; LANES],
    );
}

/// The palette rows that a chunk's points blend, `STRIDE` a joint.
#[derive(Clone, Copy)]
pub(super) struct Gather<'a, const STRIDE: usize> {
    rows: &'a [Row8],
    chunk: &'a CookedChunk,
}

impl<'a, const STRIDE: usize> Gather<'a, STRIDE> {
    /// Pairs a chunk with palette rows, which must hold every joint of the chunk.
    pub(super) fn new(rows: &'a [Row8], chunk: &'a CookedChunk) -> Self {
        assert!((chunk.max_joint() as usize + 1) * STRIDE <= rows.len());
        Self { rows, chunk }
    }

    /// The weighted sum of row `offset` of the joints of each point of a block: one vector a point.
    #[inline(always)]
    pub(super) fn blend<S: Simd>(self, simd: S, block: usize, offset: usize) -> [S::F; LANES] {
        assert!(offset < STRIDE);
        let (joints, weights) = self.chunk.block(block);
        let mut acc = [simd.splat(0.0); LANES];
        for (joints, weights) in joints.iter().zip(weights) {
            // SAFETY: joints <= max_joint (invariant of `CookedChunk`), checked against the rows in `new`.
            unsafe { simd.accumulate::<STRIDE>(&mut acc, self.rows, offset, joints, weights) }
        }
        acc
    }

    /// Prefetches the influences of the block `ahead` blocks later, assuming rows as long as those of this block.
    #[inline(always)]
    pub(super) fn prefetch<S: Simd>(self, simd: S, block: usize, ahead: usize) {
        let (joints, weights) = self.chunk.block(block);
        let index = ahead * joints.len();
        simd.prefetch(joints, index);
        simd.prefetch(weights, index);
        simd.prefetch(weights, index + 2);
    }

    /// As [`Gather::blend`] of dual quaternions (`STRIDE` 1), each in the hemisphere of its point's pivot.
    #[inline(always)]
    pub(super) fn blend_signed<S: Simd>(self, simd: S, block: usize) -> [S::F; LANES] {
        let (joints, weights) = self.chunk.block(block);
        let mut acc = [simd.splat(0.0); LANES];
        let pivots = joints[0];
        for (joints, weights) in joints.iter().zip(weights) {
            let mut signed = *weights;
            for lane in 0..LANES {
                let (pivot, other) = (pivots[lane] as usize, joints[lane] as usize);
                if opposed(&self.rows[pivot], &self.rows[other]) {
                    signed[lane] = -signed[lane];
                }
            }
            // SAFETY: as in `blend`.
            unsafe { simd.accumulate::<STRIDE>(&mut acc, self.rows, 0, joints, &signed) }
        }
        acc
    }
}

/// Whether two dual quaternions' rotations lie on opposite hemispheres.
///
/// One function, because the check of a chunk's pairs and the kernel with a sign test must agree on every bit.
#[inline(always)]
pub(super) fn opposed(a: &Row8, b: &Row8) -> bool {
    let (a, b) = (&a.0, &b.0);
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] < 0.0
}

/// The lanes of `wide`.
#[derive(Clone, Copy)]
pub(super) struct Portable;

impl Simd for Portable {
    type F = f32x8;

    #[inline(always)]
    fn splat(self, v: f32) -> f32x8 {
        f32x8::splat(v)
    }
    #[inline(always)]
    fn add(self, a: f32x8, b: f32x8) -> f32x8 {
        a + b
    }
    #[inline(always)]
    fn sub(self, a: f32x8, b: f32x8) -> f32x8 {
        a - b
    }
    #[inline(always)]
    fn min(self, a: f32x8, b: f32x8) -> f32x8 {
        a.simd_lt(b).select(a, b)
    }
    #[inline(always)]
    fn max(self, a: f32x8, b: f32x8) -> f32x8 {
        a.simd_gt(b).select(a, b)
    }
    #[inline(always)]
    fn neg_mul_add(self, a: f32x8, b: f32x8, c: f32x8) -> f32x8 {
        a.mul_neg_add(b, c)
    }
    #[inline(always)]
    fn from_lanes(self, a: &[f32; LANES]) -> f32x8 {
        f32x8::from(*a)
    }
    #[inline(always)]
    fn mul(self, a: f32x8, b: f32x8) -> f32x8 {
        a * b
    }
    #[inline(always)]
    fn div(self, a: f32x8, b: f32x8) -> f32x8 {
        a / b
    }
    #[inline(always)]
    fn sqrt(self, a: f32x8) -> f32x8 {
        a.sqrt()
    }
    #[inline(always)]
    fn mul_add(self, a: f32x8, b: f32x8, c: f32x8) -> f32x8 {
        a.mul_add(b, c)
    }
    #[inline(always)]
    fn mul_sub(self, a: f32x8, b: f32x8, c: f32x8) -> f32x8 {
        a.mul_sub(b, c)
    }
    #[inline(always)]
    fn select_gt(self, a: f32x8, b: f32x8, yes: f32x8, no: f32x8) -> f32x8 {
        a.simd_gt(b).select(yes, no)
    }
    #[inline(always)]
    fn transpose(self, rows: [f32x8; 8]) -> [f32x8; 8] {
        f32x8::transpose(rows)
    }
    #[inline(always)]
    fn transpose_low(self, rows: [f32x8; 8]) -> [f32x8; 4] {
        let [a, b, c, d, ..] = f32x8::transpose(rows);
        [a, b, c, d]
    }
    #[inline(always)]
    fn load(self, points: &[Vec3; LANES]) -> [f32x8; 3] {
        [0, 1, 2].map(|axis| f32x8::from(std::array::from_fn(|lane| points[lane][axis])))
    }
    #[inline(always)]
    fn gather(self, points: &[Vec3], indices: &[u32; LANES]) -> [f32x8; 3] {
        self.load(&indices.map(|i| points[i as usize]))
    }
    #[inline(always)]
    fn store(self, xyz: [f32x8; 3], points: &mut [Vec3; LANES]) {
        let [x, y, z] = xyz.map(f32x8::to_array);
        for (lane, point) in points.iter_mut().enumerate() {
            *point = Vec3::new(x[lane], y[lane], z[lane]);
        }
    }
    #[inline(always)]
    fn to_array(self, a: f32x8) -> [f32; LANES] {
        a.to_array()
    }
    #[inline(always)]
    fn pair(self, a: Vec3A, b: Vec3A) -> f32x8 {
        f32x8::from([a.x, a.y, a.z, 0.0, b.x, b.y, b.z, 0.0])
    }
    #[inline(always)]
    fn four_of_each(self, [a, b]: [i16; 2]) -> f32x8 {
        let (a, b) = (f32::from(a), f32::from(b));
        f32x8::from([a, a, a, a, b, b, b, b])
    }
    #[inline(always)]
    fn transpose_rows(self, rows: [&Row8; LANES]) -> [f32x8; 8] {
        f32x8::transpose(rows.map(|row| f32x8::from(row.0)))
    }
    #[inline(always)]
    fn lane_numbers(self, lanes: [u8; LANES]) -> f32x8 {
        f32x8::from(lanes.map(|lane| f32::from_bits(u32::from(lane))))
    }
    #[inline(always)]
    fn pick(self, row: &Row8, lanes: f32x8) -> f32x8 {
        f32x8::from(
            lanes
                .to_array()
                .map(|lane| row.0[lane.to_bits() as usize % LANES]),
        )
    }
    #[inline(always)]
    fn prefetch<T>(self, _items: &[T], _index: usize) {}

    #[inline(always)]
    unsafe fn accumulate<const STRIDE: usize>(
        self,
        acc: &mut [f32x8; LANES],
        rows: &[Row8],
        offset: usize,
        joints: &[u16; LANES],
        weights: &[f32; LANES],
    ) {
        for ((acc, &joint), &weight) in acc.iter_mut().zip(joints).zip(weights) {
            let row = f32x8::from(rows[joint as usize * STRIDE + offset].0);
            *acc = row.mul_add(f32x8::splat(weight), *acc);
        }
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use avx2::{Avx2, with_avx2};

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{Kernel, LANES, Row8, Simd, Vec3, Vec3A};
    #[allow(clippy::wildcard_imports)] // thirty intrinsics, all used with their full names
    use std::arch::x86_64::*;

    /// The proof that the CPU has AVX2 and FMA.
    #[derive(Clone, Copy)]
    pub(in super::super) struct Avx2(());

    impl Avx2 {
        /// The proof, where the CPU has both. The answer is cached by the standard library.
        pub(in super::super) fn detect() -> Option<Self> {
            (is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"))
                .then_some(Self(()))
        }
    }

    /// Runs a kernel in code compiled with AVX2 and FMA.
    #[target_feature(enable = "avx2,fma")]
    pub(in super::super) fn with_avx2<K: Kernel>(simd: Avx2, kernel: K) {
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
}
