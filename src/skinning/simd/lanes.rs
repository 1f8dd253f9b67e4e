//! The operations of the kernels on eight lanes, and those of the crate `wide`.

use crate::skinning::cooked::{CookedChunk, LANES};
use crate::skinning::palette::Row8;
use glam::{Vec3, Vec3A};
use wide::f32x8;

/// Work written once for all backends. `run` must be `#[inline(always)]`.
pub(crate) trait Kernel {
    /// Does the work with the lanes of `simd`.
    fn run<S: Simd>(self, simd: S);
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
pub(in crate::skinning) struct Gather<'a, const STRIDE: usize> {
    rows: &'a [Row8],
    chunk: &'a CookedChunk,
}

impl<'a, const STRIDE: usize> Gather<'a, STRIDE> {
    /// Pairs a chunk with palette rows, which must hold every joint of the chunk.
    pub(in crate::skinning) fn new(rows: &'a [Row8], chunk: &'a CookedChunk) -> Self {
        assert!((chunk.max_joint() as usize + 1) * STRIDE <= rows.len());
        Self { rows, chunk }
    }

    /// The weighted sum of row `offset` of the joints of each point of a block: one vector a point.
    #[inline(always)]
    pub(in crate::skinning) fn blend<S: Simd>(
        self,
        simd: S,
        block: usize,
        offset: usize,
    ) -> [S::F; LANES] {
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
    pub(in crate::skinning) fn prefetch<S: Simd>(self, simd: S, block: usize, ahead: usize) {
        let (joints, weights) = self.chunk.block(block);
        let index = ahead * joints.len();
        simd.prefetch(joints, index);
        simd.prefetch(weights, index);
        simd.prefetch(weights, index + 2);
    }

    /// As [`Gather::blend`] of dual quaternions (`STRIDE` 1), each in the hemisphere of its point's pivot.
    #[inline(always)]
    pub(in crate::skinning) fn blend_signed<S: Simd>(self, simd: S, block: usize) -> [S::F; LANES] {
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
pub(in crate::skinning) fn opposed(a: &Row8, b: &Row8) -> bool {
    let (a, b) = (&a.0, &b.0);
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] < 0.0
}

/// The lanes of `wide`.
#[derive(Clone, Copy)]
pub(in crate::skinning) struct Portable;

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
