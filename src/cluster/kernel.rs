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

/// The prefetch distance of the points that are written, blocks: those of a patch lie in several rows of the mesh. By then the
/// block that names them was prefetched.
const POINTS_AHEAD: usize = 6;

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
        self.evaluate_on(Backend::detect(), blocks, start, out, uncommon);
    }

    fn evaluate_on<B: Iterator<Item = u32>>(
        &self,
        backend: Backend,
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
        dispatch(backend, run);
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
        // One loop over blocks, not one over groups around one over their blocks: the processor predicts its branches.
        for index in self.blocks {
            let block = &cubic.blocks[index as usize];
            prefetch(simd, cubic.blocks, index as usize + AHEAD);
            if let Some(later) = cubic.blocks.get(index as usize + POINTS_AHEAD) {
                for point in later.points {
                    simd.prefetch(self.out, point.wrapping_sub(self.start) as usize);
                }
            }
            if block.group != current {
                current = block.group;
                prefetch_groups(simd, &cubic, current as usize);
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
    let (u, v) = (simd.from_lanes(&block.u), simd.from_lanes(&block.v));
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
        simd.mul(simd.from_lanes(x), lanes.of(&cubics.mirror)),
        simd.from_lanes(y),
        simd.from_lanes(z),
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
        simd.prefetch(&block.v, 0);
        simd.prefetch(&block.offset, 1);
        simd.prefetch(&block.lanes, 0);
    }
}

/// Prefetches the corners of the group after `group`, and all of the one after that.
#[inline(always)]
fn prefetch_groups<S: Simd>(simd: S, cubic: &Cubic<'_>, group: usize) {
    if let Some(next) = cubic.groups.get(group + 1) {
        for corners in &next.corners {
            for &corner in corners {
                simd.prefetch(cubic.rows, corner as usize);
            }
        }
    }
    if let Some(later) = cubic.groups.get(group + 2) {
        simd.prefetch(&later.corners, 0);
        simd.prefetch(&later.corners, 2);
        for edges in &later.edges {
            simd.prefetch(edges, 0);
        }
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

#[cfg(test)]
mod tests {
    use super::super::blocks::OnPatch;
    use super::*;

    /// Numbers that repeat, -1 to 1.
    fn noise(i: usize) -> f32 {
        ((i * 7919 + 104_729) % 2003) as f32 / 1001.5 - 1.0
    }

    fn row(numbers: impl FnMut(usize) -> f32) -> Row8 {
        Row8(std::array::from_fn(numbers))
    }

    /// Patches of twenty corners with rotations in one hemisphere; every second corner of a group mirrors.
    fn patches(n: usize) -> (Vec<Group>, Vec<CornerRow>) {
        let corner = |c: usize| CornerRow {
            place: row(|k| match k {
                6 => 1.0,
                7 => 1.0 - 2.0 * (c % 2) as f32,
                _ => 0.4 * noise(8 * c + k),
            }),
            tangents: row(|k| noise(900 + 8 * c + k)),
        };
        let group = |g: usize| Group {
            corners: [0, 1, 2]
                .map(|i| std::array::from_fn(|lane| ((g + 3 * lane + i) % 20) as u32)),
            edges: std::array::from_fn(|e| {
                [0, 1].map(|t| row(|lane| noise(g + 40 * e + 9 * t + lane)))
            }),
        };
        let groups = (0..n.div_ceil(LANES)).map(group).collect();
        (groups, (0..20).map(corner).collect())
    }

    fn on(points: &[OnPatch]) -> Vec<Block> {
        let mut blocks = Block::of(points);
        for block in &mut blocks {
            for lane in 0..LANES {
                let p = block.points[lane] as usize;
                block.set_offset(lane, [0, 1, 2].map(|k| f64::from(noise(p + 31 * k))).into());
            }
        }
        blocks
    }

    fn evaluated(backend: Backend, points: &[OnPatch], by_normal: bool) -> Vec<Vec3> {
        let (groups, rows) = patches(24);
        let blocks = on(points);
        let cubic = Cubic {
            groups: &groups,
            blocks: &blocks,
            rows: &rows,
            by_normal,
        };
        let mut out = vec![Vec3::NAN; 200];
        let mut none = |_: u32, _: usize, _: &mut [Vec3]| panic!("one hemisphere");
        cubic.evaluate_on(backend, 0..blocks.len() as u32, 0, &mut out, &mut none);
        out
    }

    /// Points of patches with 1, 2, ... 17 of them, ascending.
    fn points() -> Vec<OnPatch> {
        let of_patch = |patch: u32| (0..=patch % 17).map(move |i| (patch, i));
        let all = (0..20).flat_map(of_patch).enumerate();
        all.map(|(p, (patch, i))| {
            let u = 0.05 + 0.9 * f64::from(i) / 18.0;
            (patch, p as u32, [u, 0.9 - u, 0.1])
        })
        .collect()
    }

    #[test]
    fn blocks_hold_all_points_and_are_of_one_group() {
        let points = points();
        let blocks = on(&points);
        let mut found: Vec<(u32, u32)> = Vec::new();
        for block in &blocks {
            for lane in 0..LANES {
                found.push((block.patch(lane), block.points[lane]));
            }
        }
        found.sort_unstable();
        found.dedup();
        let expected: Vec<(u32, u32)> = points.iter().map(|on| (on.0, on.1)).collect();
        assert_eq!(found, expected);
        assert!(blocks.iter().any(|b| b.is_uniform) && blocks.iter().any(|b| !b.is_uniform));
        assert!(blocks.windows(2).all(|w| w[0].group <= w[1].group));
        assert!(Block::of(&[]).is_empty());
    }

    #[test]
    fn a_point_has_the_same_bits_in_any_block() {
        let points = points();
        for backend in [Backend::detect(), Backend::Portable] {
            for by_normal in [false, true] {
                let together = evaluated(backend, &points, by_normal);
                for one in &points {
                    let alone = evaluated(backend, &[*one], by_normal);
                    let (a, b) = (together[one.1 as usize], alone[one.1 as usize]);
                    assert!(
                        crate::math::same_bits(a, b) && a.is_finite(),
                        "{one:?}: {a} {b}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_backends_agree() {
        let points = points();
        for by_normal in [false, true] {
            let fast = evaluated(Backend::detect(), &points, by_normal);
            let portable = evaluated(Backend::Portable, &points, by_normal);
            for on in &points {
                let (a, b) = (fast[on.1 as usize], portable[on.1 as usize]);
                assert!(a.distance(b) < 1e-5, "{on:?}: {a} {b}");
            }
        }
    }
}
