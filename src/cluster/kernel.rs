//! The kernel of cubic patches: eight free vertices at a time.

// As in `skinning::kernels`: the bodies must end up inside of the function compiled with the backend's instructions.
#![allow(clippy::inline_always)]
// Several arrays have one index, the coordinate.
#![allow(clippy::needless_range_loop)]

use super::blocks::{Block, CornerRow, Group};
use crate::skinning::cooked::LANES;
use crate::skinning::kernels::cross;
use crate::skinning::{Backend, Kernel, Simd, dispatch};
use glam::Vec3;

/// Coefficients of a patch: nine of the place (without the constant, which is the third corner), in the powers of the first
/// two barycentric coordinates; then the rotation.
const N_PLACE: usize = 9;

/// Powers (of u, of v) of the coefficients.
const U: usize = 0;
const V: usize = 1;
const UU: usize = 2;
const UV: usize = 3;
const VV: usize = 4;
const UUU: usize = 5;
const UUV: usize = 6;
const UVV: usize = 7;
const VVV: usize = 8;

/// The patches of a group at a pose, lane = patch.
struct Cubics {
    /// The third corner.
    origin: [[f32; LANES]; 3],
    place: [[[f32; LANES]; 3]; N_PLACE],
    /// The third corner's rotation, and what the first and second add, all in one hemisphere.
    rotation: [[[f32; LANES]; 4]; 3],
    /// The third corner's factor of the first coordinate of details: -1 where it mirrors.
    mirror: [f32; LANES],
    /// Not above 0 where the rotations of a patch have no common hemisphere.
    hemisphere: [f32; LANES],
}

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
    /// Writes the points of some blocks that lie in a run of points: `out`, from `start` on. Blocks of patches whose rotations
    /// have no common hemisphere are left to `uncommon`. Blocks of neighbouring patches should follow each other.
    pub(super) fn evaluate<B: Iterator<Item = u32>>(
        &self,
        blocks: B,
        start: u32,
        out: &mut [Vec3],
        uncommon: &mut dyn FnMut(u32, &mut [Vec3]),
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
    uncommon: &'a mut dyn FnMut(u32, &mut [Vec3]),
}

impl<B: Iterator<Item = u32>> Kernel for Run<'_, B> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let cubic = self.cubic;
        let mut current = usize::MAX;
        let mut found = Cubics {
            origin: [[0.0; LANES]; 3],
            place: [[[0.0; LANES]; 3]; N_PLACE],
            rotation: [[[0.0; LANES]; 4]; 3],
            mirror: [1.0; LANES],
            hemisphere: [0.0; LANES],
        };
        // One loop over blocks, not one over patches around one over their blocks: the processor foresees its branches.
        for index in self.blocks {
            let block = &cubic.blocks[index as usize];
            let (group, lane) = (block.patch as usize / LANES, block.patch as usize % LANES);
            if group != current {
                current = group;
                if cubic.by_normal {
                    cubics::<S, true>(simd, &cubic.groups[group], cubic.rows, &mut found);
                } else {
                    cubics::<S, false>(simd, &cubic.groups[group], cubic.rows, &mut found);
                }
            }
            if found.hemisphere[lane] > 0.0 {
                let [x, y, z] = found.place(simd, lane, block);
                for lane in 0..LANES {
                    let place = Vec3::new(x[lane], y[lane], z[lane]);
                    block.write(lane, place, self.start, self.out);
                }
            } else {
                (self.uncommon)(index, self.out);
            }
        }
    }
}

/// Three lanes of coordinates.
type Three<S> = [<S as Simd>::F; 3];

// No closures below: they would be compiled without the backend's instructions.

/// The coefficients of the patches of a group.
#[inline(always)]
fn cubics<S: Simd, const BY_NORMAL: bool>(
    simd: S,
    group: &Group,
    rows: &[CornerRow],
    cubics: &mut Cubics,
) {
    let mut x = [[simd.splat(0.0); 3]; 3];
    let mut q = [[simd.splat(0.0); 4]; 3];
    let mut tangents = [[simd.splat(0.0); 8]; 3];
    let mut mirror = simd.splat(1.0);
    for i in 0..3 {
        let mut place = [simd.splat(0.0); LANES];
        let mut tangent = [simd.splat(0.0); LANES];
        for lane in 0..LANES {
            let row = &rows[group.corners[i][lane] as usize];
            place[lane] = simd.from_lanes(&row.place.0);
            tangent[lane] = simd.from_lanes(&row.tangents.0);
        }
        let place = simd.transpose(place);
        tangents[i] = simd.transpose(tangent);
        x[i] = [place[0], place[1], place[2]];
        q[i] = [place[3], place[4], place[5], place[6]];
        mirror = place[7];
    }
    for k in 0..3 {
        cubics.origin[k] = simd.to_array(x[2][k]);
    }
    cubics.mirror = simd.to_array(mirror);
    // Corners from the third one: small numbers keep their digits.
    let origin = x[2];
    let corner = [
        minus(simd, x[0], origin),
        minus(simd, x[1], origin),
        [simd.splat(0.0); 3],
    ];
    // Beside each corner: towards the next one, and towards the one before.
    let mut edges = [[simd.splat(0.0); 3]; 6];
    for i in 0..3 {
        for side in 0..2 {
            edges[2 * i + side] = if BY_NORMAL {
                let n = [tangents[i][0], tangents[i][1], tangents[i][2]];
                tangential(simd, corner[i], corner[(i + 1 + side) % 3], n)
            } else {
                let [a, b] = &group.edges[2 * i + side];
                let (a, b) = (simd.from_lanes(a), simd.from_lanes(b));
                let t = &tangents[i];
                let first = add_scaled(simd, corner[i], [t[0], t[1], t[2]], a);
                add_scaled(simd, first, [t[3], t[4], t[5]], b)
            };
        }
    }
    let (two, three, six) = (simd.splat(2.0), simd.splat(3.0), simd.splat(6.0));
    let (quarter, sixth) = (simd.splat(0.25), simd.splat(1.0 / 6.0));
    for k in 0..3 {
        let (b300, b030) = (corner[0][k], corner[1][k]);
        let (b210, b201, b021) = (edges[0][k], edges[1][k], edges[2][k]);
        let (b120, b102, b012) = (edges[3][k], edges[4][k], edges[5][k]);
        let sum = simd.add(simd.add(b210, b201), simd.add(b021, b120));
        let sum = simd.add(sum, simd.add(b102, b012));
        // E + (E - V) / 2 with b003 = 0.
        let b111 = simd.neg_mul_add(simd.add(b300, b030), sixth, simd.mul(sum, quarter));
        let uuv = simd.add(simd.sub(b210, b201), b012);
        let uuv = simd.neg_mul_add(two, simd.sub(b111, b102), uuv);
        let uvv = simd.add(simd.sub(b120, b021), b102);
        let uvv = simd.neg_mul_add(two, simd.sub(b111, b012), uvv);
        // 3! / (p! q! r!) times the p-th difference along u and the q-th along v.
        let place = &mut cubics.place;
        place[U][k] = simd.to_array(simd.mul(three, b102));
        place[V][k] = simd.to_array(simd.mul(three, b012));
        place[UU][k] = simd.to_array(simd.mul(three, simd.neg_mul_add(two, b102, b201)));
        place[VV][k] = simd.to_array(simd.mul(three, simd.neg_mul_add(two, b012, b021)));
        let uv = simd.sub(simd.sub(b111, b102), b012);
        place[UV][k] = simd.to_array(simd.mul(six, uv));
        place[UUU][k] = simd.to_array(simd.mul_add(three, simd.sub(b102, b201), b300));
        place[VVV][k] = simd.to_array(simd.mul_add(three, simd.sub(b012, b021), b030));
        place[UUV][k] = simd.to_array(simd.mul(three, uuv));
        place[UVV][k] = simd.to_array(simd.mul(three, uvv));
    }
    let first = towards(simd, q[0], q[2]);
    let second = towards(simd, q[1], q[2]);
    cubics.hemisphere = simd.to_array(dot4(simd, first, second));
    for k in 0..4 {
        cubics.rotation[0][k] = simd.to_array(q[2][k]);
        cubics.rotation[1][k] = simd.to_array(simd.sub(first[k], q[2][k]));
        cubics.rotation[2][k] = simd.to_array(simd.sub(second[k], q[2][k]));
    }
}

impl Cubics {
    /// `S(u) + R(q(u)) e` for the vertices of a block: x, y, z.
    #[inline(always)]
    fn place<S: Simd>(&self, simd: S, lane: usize, block: &Block) -> [[f32; LANES]; 3] {
        let (u, v) = (simd.from_lanes(&block.u), simd.from_lanes(&block.v));
        let mut s = [simd.splat(0.0); 3];
        for k in 0..3 {
            let mut c = [simd.splat(0.0); N_PLACE];
            for i in 0..N_PLACE {
                c[i] = simd.splat(self.place[i][k][lane]);
            }
            let by_u = simd.mul_add(u, simd.mul_add(u, c[UUU], c[UU]), c[U]);
            let mixed = simd.mul_add(v, c[UVV], simd.mul_add(u, c[UUV], c[UV]));
            let by_u = simd.mul_add(v, mixed, by_u);
            let by_v = simd.mul_add(v, simd.mul_add(v, c[VVV], c[VV]), c[V]);
            let origin = simd.splat(self.origin[k][lane]);
            s[k] = simd.mul_add(v, by_v, simd.mul_add(u, by_u, origin));
        }
        let mut q = [simd.splat(0.0); 4];
        for k in 0..4 {
            let [third, first, second] = &self.rotation;
            let by_u = simd.mul_add(u, simd.splat(first[k][lane]), simd.splat(third[k][lane]));
            q[k] = simd.mul_add(v, simd.splat(second[k][lane]), by_u);
        }
        let mirror = simd.splat(self.mirror[lane]);
        let e = [
            simd.mul(simd.from_lanes(&block.offset[0]), mirror),
            simd.from_lanes(&block.offset[1]),
            simd.from_lanes(&block.offset[2]),
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
        let [x, y, z] = add_scaled(simd, sum, twice, factor);
        [simd.to_array(x), simd.to_array(y), simd.to_array(z)]
    }
}

/// The edge point beside `from` towards `to` in the plane of the unit normal `n`: a third of the way.
#[inline(always)]
fn tangential<S: Simd>(simd: S, from: Three<S>, to: Three<S>, n: Three<S>) -> Three<S> {
    let along = minus(simd, to, from);
    let dot = simd.mul_add(along[1], n[1], simd.mul(along[0], n[0]));
    let dot = simd.mul_add(along[2], n[2], dot);
    let third = simd.splat(1.0 / 3.0);
    let flat = [
        simd.neg_mul_add(n[0], dot, along[0]),
        simd.neg_mul_add(n[1], dot, along[1]),
        simd.neg_mul_add(n[2], dot, along[2]),
    ];
    add_scaled(simd, from, flat, third)
}

/// A rotation, or its negative, in the hemisphere of `pivot`.
#[inline(always)]
fn towards<S: Simd>(simd: S, q: [S::F; 4], pivot: [S::F; 4]) -> [S::F; 4] {
    let zero = simd.splat(0.0);
    let opposed = simd.sub(zero, dot4(simd, q, pivot));
    let mut turned = q;
    for k in 0..4 {
        turned[k] = simd.select_gt(opposed, zero, simd.sub(zero, q[k]), q[k]);
    }
    turned
}

#[inline(always)]
fn minus<S: Simd>(simd: S, a: Three<S>, b: Three<S>) -> Three<S> {
    [
        simd.sub(a[0], b[0]),
        simd.sub(a[1], b[1]),
        simd.sub(a[2], b[2]),
    ]
}

/// `a + b t`.
#[inline(always)]
fn add_scaled<S: Simd>(simd: S, a: Three<S>, b: Three<S>, t: S::F) -> Three<S> {
    [
        simd.mul_add(b[0], t, a[0]),
        simd.mul_add(b[1], t, a[1]),
        simd.mul_add(b[2], t, a[2]),
    ]
}

#[inline(always)]
fn dot4<S: Simd>(simd: S, a: [S::F; 4], b: [S::F; 4]) -> S::F {
    let sum = simd.mul_add(a[1], b[1], simd.mul(a[0], b[0]));
    simd.mul_add(a[3], b[3], simd.mul_add(a[2], b[2], sum))
}
