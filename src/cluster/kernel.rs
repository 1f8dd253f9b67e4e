//! The kernel of cubic patches: eight free vertices at a time.

// As in `skinning::kernels`: the bodies must end up inside of the function compiled with the backend's instructions.
#![allow(clippy::inline_always)]

use super::blocks::{Block, CornerRow, Group};
use crate::skinning::cooked::LANES;
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
pub(super) struct Cubics {
    /// The third corner.
    origin: [[f32; LANES]; 3],
    place: [[[f32; LANES]; 3]; N_PLACE],
    /// The third corner's rotation, and what the first and second add, all in one hemisphere.
    rotation: [[[f32; LANES]; 4]; 3],
    /// Not above 0 where the rotations of a patch have no common hemisphere.
    hemisphere: [f32; LANES],
}

/// Evaluates some blocks of patches.
pub(super) struct Cubic<'a> {
    /// The groups of the patches.
    pub(super) groups: &'a [Group],
    /// One a patch of these groups and one more: its first block, counted from that of the first patch.
    pub(super) first_block: &'a [u32],
    /// The blocks of these patches.
    pub(super) blocks: &'a [Block],
    /// All corners.
    pub(super) rows: &'a [CornerRow],
    /// Whether the patches are rebuilt from normals.
    pub(super) by_normal: bool,
}

impl Cubic<'_> {
    /// Writes the places of all blocks (`out`: one a block). `uncommon` gets the patches, counted from the first, whose
    /// rotations have no common hemisphere: the caller evaluates them.
    pub(super) fn evaluate(
        &self,
        backend: Backend,
        out: &mut [[Vec3; LANES]],
        uncommon: &mut dyn FnMut(usize, &mut [[Vec3; LANES]]),
    ) {
        assert_eq!(out.len(), self.blocks.len());
        dispatch(
            backend,
            Run {
                cubic: self,
                out,
                uncommon,
            },
        );
    }
}

struct Run<'a> {
    cubic: &'a Cubic<'a>,
    out: &'a mut [[Vec3; LANES]],
    uncommon: &'a mut dyn FnMut(usize, &mut [[Vec3; LANES]]),
}

impl Kernel for Run<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Cubic {
            groups,
            first_block,
            blocks,
            rows,
            by_normal,
        } = *self.cubic;
        let n_patches = first_block.len() - 1;
        let base = first_block[0];
        for (g, group) in groups.iter().enumerate() {
            let patches = g * LANES..((g + 1) * LANES).min(n_patches);
            if first_block[patches.start] == first_block[patches.end] {
                continue;
            }
            let cubics = if by_normal {
                cubics::<S, true>(simd, group, rows)
            } else {
                cubics::<S, false>(simd, group, rows)
            };
            for patch in patches {
                let range =
                    (first_block[patch] - base) as usize..(first_block[patch + 1] - base) as usize;
                let out = &mut self.out[range.clone()];
                if cubics.hemisphere[patch % LANES] > 0.0 {
                    let coefficients = Coefficients::new(simd, &cubics, patch % LANES);
                    for (block, out) in blocks[range].iter().zip(out) {
                        coefficients.place(simd, block, out);
                    }
                } else {
                    (self.uncommon)(patch, out);
                }
            }
        }
    }
}

/// The coefficients of the patches of a group.
#[inline(always)]
fn cubics<S: Simd, const BY_NORMAL: bool>(simd: S, group: &Group, rows: &[CornerRow]) -> Cubics {
    let gather = |corners: &[u32; LANES], tangents: bool| {
        simd.transpose(corners.map(|c| {
            let row = &rows[c as usize];
            simd.from_lanes(if tangents {
                &row.tangents.0
            } else {
                &row.place.0
            })
        }))
    };
    let place = [0, 1, 2].map(|i| gather(&group.corners[i], false));
    let tangents = [0, 1, 2].map(|i| gather(&group.corners[i], true));
    let lanes = |v: S::F| simd.to_array(v);
    let third = simd.splat(1.0 / 3.0);
    let (two, three, six) = (simd.splat(2.0), simd.splat(3.0), simd.splat(6.0));

    // Corners from the third one: small numbers keep their digits.
    let corner = [0, 1, 2].map(|i| [0, 1, 2].map(|k| simd.sub(place[i][k], place[2][k])));
    let edge = |i: usize, j: usize, index: usize| {
        if BY_NORMAL {
            let n = tangents[i];
            let along = [0, 1, 2].map(|k| simd.sub(corner[j][k], corner[i][k]));
            let dot = simd.mul(along[0], n[0]);
            let dot = simd.mul_add(along[1], n[1], dot);
            let dot = simd.mul_add(along[2], n[2], dot);
            [0, 1, 2].map(|k| {
                let tangential = simd.neg_mul_add(n[k], dot, along[k]);
                simd.mul_add(tangential, third, corner[i][k])
            })
        } else {
            let [a, b] = &group.edges[index];
            let (a, b) = (simd.from_lanes(a), simd.from_lanes(b));
            [0, 1, 2].map(|k| {
                let first = simd.mul_add(tangents[i][k], a, corner[i][k]);
                simd.mul_add(tangents[i][k + 3], b, first)
            })
        }
    };
    let (b210, b201) = (edge(0, 1, 0), edge(0, 2, 1));
    let (b021, b120) = (edge(1, 2, 2), edge(1, 0, 3));
    let (b102, b012) = (edge(2, 0, 4), edge(2, 1, 5));

    let mut cubics = Cubics {
        origin: [0, 1, 2].map(|k| lanes(place[2][k])),
        place: [[[0.0; LANES]; 3]; N_PLACE],
        rotation: [[[0.0; LANES]; 4]; 3],
        hemisphere: [0.0; LANES],
    };
    let (quarter, sixth) = (simd.splat(0.25), simd.splat(1.0 / 6.0));
    for k in 0..3 {
        let (b300, b030) = (corner[0][k], corner[1][k]);
        let (b210, b201, b021) = (b210[k], b201[k], b021[k]);
        let (b120, b102, b012) = (b120[k], b102[k], b012[k]);
        let sum = simd.add(simd.add(b210, b201), simd.add(b021, b120));
        let sum = simd.add(sum, simd.add(b102, b012));
        // E + (E - V) / 2 with b003 = 0.
        let b111 = simd.neg_mul_add(simd.add(b300, b030), sixth, simd.mul(sum, quarter));
        let mut set = |power: usize, value: S::F| cubics.place[power][k] = lanes(value);
        // 3! / (p! q! r!) times the p-th difference along u and the q-th along v.
        set(U, simd.mul(three, b102));
        set(V, simd.mul(three, b012));
        set(UU, simd.mul(three, simd.neg_mul_add(two, b102, b201)));
        set(VV, simd.mul(three, simd.neg_mul_add(two, b012, b021)));
        set(UV, simd.mul(six, simd.sub(simd.sub(b111, b102), b012)));
        set(UUU, simd.mul_add(three, simd.sub(b102, b201), b300));
        set(VVV, simd.mul_add(three, simd.sub(b012, b021), b030));
        let uuv = simd.add(simd.sub(b210, b201), b012);
        let uuv = simd.neg_mul_add(two, simd.sub(b111, b102), uuv);
        set(UUV, simd.mul(three, uuv));
        let uvv = simd.add(simd.sub(b120, b021), b102);
        let uvv = simd.neg_mul_add(two, simd.sub(b111, b012), uvv);
        set(UVV, simd.mul(three, uvv));
    }

    let q = [0, 1, 2].map(|i| [3, 4, 5, 6].map(|k| place[i][k]));
    let dot = |a: [S::F; 4], b: [S::F; 4]| {
        let sum = simd.mul_add(a[1], b[1], simd.mul(a[0], b[0]));
        simd.mul_add(a[3], b[3], simd.mul_add(a[2], b[2], sum))
    };
    let zero = simd.splat(0.0);
    let turned = |a: [S::F; 4]| {
        let opposed = simd.sub(zero, dot(a, q[2]));
        a.map(|v| simd.select_gt(opposed, zero, simd.sub(zero, v), v))
    };
    let (first, second) = (turned(q[0]), turned(q[1]));
    cubics.hemisphere = lanes(dot(first, second));
    for k in 0..4 {
        cubics.rotation[0][k] = lanes(q[2][k]);
        cubics.rotation[1][k] = lanes(simd.sub(first[k], q[2][k]));
        cubics.rotation[2][k] = lanes(simd.sub(second[k], q[2][k]));
    }
    cubics
}

/// The coefficients of a patch in all lanes.
struct Coefficients<S: Simd> {
    origin: [S::F; 3],
    place: [[S::F; 3]; N_PLACE],
    rotation: [[S::F; 4]; 3],
}

impl<S: Simd> Coefficients<S> {
    #[inline(always)]
    fn new(simd: S, cubics: &Cubics, lane: usize) -> Self {
        Self {
            origin: [0, 1, 2].map(|k| simd.splat(cubics.origin[k][lane])),
            place: std::array::from_fn(|i| [0, 1, 2].map(|k| simd.splat(cubics.place[i][k][lane]))),
            rotation: [0, 1, 2]
                .map(|i| [0, 1, 2, 3].map(|k| simd.splat(cubics.rotation[i][k][lane]))),
        }
    }

    /// `S(u) + R(q(u)) e` for the eight vertices of a block.
    #[inline(always)]
    fn place(&self, simd: S, block: &Block, out: &mut [Vec3; LANES]) {
        let (u, v) = (simd.from_lanes(&block.u), simd.from_lanes(&block.v));
        let s = [0, 1, 2].map(|k| {
            let c = |power: usize| self.place[power][k];
            let by_u = simd.mul_add(u, simd.mul_add(u, c(UUU), c(UU)), c(U));
            let mixed = simd.mul_add(v, c(UVV), simd.mul_add(u, c(UUV), c(UV)));
            let by_u = simd.mul_add(v, mixed, by_u);
            let by_v = simd.mul_add(v, simd.mul_add(v, c(VVV), c(VV)), c(V));
            simd.mul_add(v, by_v, simd.mul_add(u, by_u, self.origin[k]))
        });
        let [x, y, z, w] = [0, 1, 2, 3].map(|k| {
            let [third, first, second] = self.rotation;
            simd.mul_add(v, second[k], simd.mul_add(u, first[k], third[k]))
        });
        let e = [0, 1, 2].map(|k| simd.from_lanes(&block.offset[k]));
        let cross = |a: [S::F; 3], b: [S::F; 3]| {
            [
                simd.mul_sub(a[1], b[2], simd.mul(a[2], b[1])),
                simd.mul_sub(a[2], b[0], simd.mul(a[0], b[2])),
                simd.mul_sub(a[0], b[1], simd.mul(a[1], b[0])),
            ]
        };
        // R e = e + 2 / |q|^2 q x (q x e + w e): no square root.
        let axis = [x, y, z];
        let once = cross(axis, e);
        let once = [0, 1, 2].map(|k| simd.mul_add(w, e[k], once[k]));
        let twice = cross(axis, once);
        let norm = simd.mul_add(x, x, simd.mul(y, y));
        let norm = simd.mul_add(w, w, simd.mul_add(z, z, norm));
        let factor = simd.div(simd.splat(2.0), norm);
        let place = [0, 1, 2].map(|k| simd.mul_add(twice[k], factor, simd.add(s[k], e[k])));
        simd.store(place, out);
    }
}
