//! The kernel of cubic patches: eight free vertices at a time.

// As in `skinning::kernels`: the bodies must end up inside of the function compiled with the backend's instructions.
#![allow(clippy::inline_always)]
// Several arrays have one index, the coordinate.
#![allow(clippy::needless_range_loop)]

use super::blocks::{Block, CornerRow, Group};
use super::cubics::{Cubics, ONE, U, UU, UUU, UUV, UV, UVV, V, VV, VVV, dot4};
use crate::skinning::cooked::LANES;
use crate::skinning::kernels::cross;
use crate::skinning::palette::Row8;
use crate::skinning::{Backend, Kernel, Simd, dispatch};
use glam::Vec3;

/// The prefetch distance, blocks: as in `skinning::kernels`, the prefetch of the hardware stops at every page.
const AHEAD: usize = 12;

/// Cubic patches at a pose.
#[derive(Clone, Copy)]
pub(super) struct Cubic<'a> {
    /// All patches.
    pub(super) groups: &'a [Group],
    /// All blocks.
    pub(super) blocks: &'a [Block],
    /// All corners.
    pub(super) rows: &'a [CornerRow],
    /// Whether the patches are rebuilt from normals.
    pub(super) by_normal: bool,
}

impl Cubic<'_> {
    /// Writes the points of some blocks that lie in a run of points: `out`, from `start` on. Lanes on patches whose rotations
    /// have no common hemisphere are left to `uncommon`, which takes a block and a lane. Blocks of one group should follow each
    /// other.
    pub(super) fn evaluate<B: Iterator<Item = u32>>(
        &self,
        blocks: B,
        start: u32,
        out: &mut [Vec3],
        uncommon: &mut dyn FnMut(u32, usize, &mut [Vec3]),
    ) {
        let run = Run {
            cubic: *self,
            blocks,
            start,
            out,
            uncommon,
        };
        dispatch(Backend::detect(), run);
    }
}

struct Run<'a, B> {
    cubic: Cubic<'a>,
    blocks: B,
    start: u32,
    out: &'a mut [Vec3],
    uncommon: &'a mut dyn FnMut(u32, usize, &mut [Vec3]),
}

impl<B: Iterator<Item = u32>> Kernel for Run<'_, B> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let cubic = self.cubic;
        let mut current = u32::MAX;
        let mut has_uncommon = false;
        let mut cubics = Cubics::default();
        // One loop over blocks, not one over groups around one over their blocks: the processor foresees its branches.
        for index in self.blocks {
            let block = &cubic.blocks[index as usize];
            prefetch(simd, cubic.blocks, index as usize + AHEAD);
            if block.group != current {
                current = block.group;
                let group = &cubic.groups[current as usize];
                if cubic.by_normal {
                    cubics.take::<S, true>(simd, group, cubic.rows);
                } else {
                    cubics.take::<S, false>(simd, group, cubic.rows);
                }
                has_uncommon = !cubics.hemisphere.0.iter().all(|&h| h > 0.0);
            }
            let places = if block.is_uniform {
                place::<S, true>(simd, &cubics, block)
            } else {
                place::<S, false>(simd, &cubics, block)
            };
            for lane in 0..LANES {
                block.write(lane, places[lane], self.start, self.out);
            }
            if has_uncommon {
                for (lane, &patch) in block.lanes.iter().enumerate() {
                    let is_common = cubics.hemisphere.0[usize::from(patch) % LANES] > 0.0;
                    if !is_common {
                        (self.uncommon)(index, lane, self.out);
                    }
                }
            }
        }
    }
}

// No closures below: they would be compiled without the backend's instructions.

/// `S(u) + R(q(u)) e` for the vertices of a block.
#[inline(always)]
fn place<S: Simd, const UNIFORM: bool>(simd: S, cubics: &Cubics, block: &Block) -> [Vec3; LANES] {
    let lanes = Lanes::<S, UNIFORM> {
        simd,
        numbers: simd.lane_numbers(block.lanes),
        first: usize::from(block.lanes[0]) % LANES,
    };
    let (u, v) = (simd.from_lanes(&block.u.0), simd.from_lanes(&block.v.0));
    let mut s = [simd.splat(0.0); 3];
    for k in 0..3 {
        let c = &cubics.place[k];
        let by_u = simd.mul_add(u, lanes.of(&c[UUU]), lanes.of(&c[UU]));
        let by_u = simd.mul_add(u, by_u, lanes.of(&c[U]));
        let mixed = simd.mul_add(u, lanes.of(&c[UUV]), lanes.of(&c[UV]));
        let mixed = simd.mul_add(v, lanes.of(&c[UVV]), mixed);
        let by_u = simd.mul_add(v, mixed, by_u);
        let by_v = simd.mul_add(v, lanes.of(&c[VVV]), lanes.of(&c[VV]));
        let by_v = simd.mul_add(v, by_v, lanes.of(&c[V]));
        let along_u = simd.mul_add(u, by_u, lanes.of(&c[ONE]));
        s[k] = simd.mul_add(v, by_v, along_u);
    }
    let mut q = [simd.splat(0.0); 4];
    for k in 0..4 {
        let [third, first, second] = &cubics.rotation[k];
        let by_u = simd.mul_add(u, lanes.of(first), lanes.of(third));
        q[k] = simd.mul_add(v, lanes.of(second), by_u);
    }
    let [x, y, z] = &block.offset;
    let e = [
        simd.mul(simd.from_lanes(&x.0), lanes.of(&cubics.mirror)),
        simd.from_lanes(&y.0),
        simd.from_lanes(&z.0),
    ];
    // R e = e + 2 / |q|^2 q x (q x e + w e): no square root.
    let axis = [q[0], q[1], q[2]];
    let once = add_scaled(simd, cross(simd, axis, e), e, q[3]);
    let twice = cross(simd, axis, once);
    let factor = simd.div(simd.splat(2.0), dot4(simd, q, q));
    let sum = [
        simd.add(s[0], e[0]),
        simd.add(s[1], e[1]),
        simd.add(s[2], e[2]),
    ];
    let mut places = [Vec3::ZERO; LANES];
    simd.store(add_scaled(simd, sum, twice, factor), &mut places);
    places
}

/// The patches of the lanes of a block, which are all the `first` where it is `UNIFORM`: one number is then loaded into all
/// lanes, which costs no exchange of lanes.
struct Lanes<S: Simd, const UNIFORM: bool> {
    simd: S,
    numbers: S::F,
    first: usize,
}

impl<S: Simd, const UNIFORM: bool> Lanes<S, UNIFORM> {
    /// The number of each lane's patch.
    #[inline(always)]
    fn of(&self, row: &Row8) -> S::F {
        if UNIFORM {
            self.simd.splat(row.0[self.first])
        } else {
            self.simd.pick(row, self.numbers)
        }
    }
}

/// Prefetches a block, if there is one: four cache lines.
#[inline(always)]
fn prefetch<S: Simd>(simd: S, blocks: &[Block], index: usize) {
    if let Some(block) = blocks.get(index) {
        simd.prefetch(&block.points, 0);
        simd.prefetch(&block.v.0, 0);
        simd.prefetch(&block.offset, 1);
        simd.prefetch(&block.lanes, 0);
    }
}

/// `a + b t`.
#[inline(always)]
fn add_scaled<S: Simd>(simd: S, a: [S::F; 3], b: [S::F; 3], t: S::F) -> [S::F; 3] {
    [
        simd.mul_add(b[0], t, a[0]),
        simd.mul_add(b[1], t, a[1]),
        simd.mul_add(b[2], t, a[2]),
    ]
}
