//! The coefficients of eight cubic patches at a pose.

// As in `skinning::kernels`: the bodies must end up inside of the function compiled with the backend's instructions.
#![allow(clippy::inline_always)]
// Several arrays have one index, the coordinate.
#![allow(clippy::needless_range_loop)]

use super::blocks::{CornerRow, Group};
use crate::skinning::Simd;
use crate::skinning::palette::Row8;

/// Powers (of u, of v) of the coefficients of a coordinate.
pub(super) const ONE: usize = 0;
pub(super) const U: usize = 1;
pub(super) const V: usize = 2;
pub(super) const UU: usize = 3;
pub(super) const UV: usize = 4;
pub(super) const VV: usize = 5;
pub(super) const UUU: usize = 6;
pub(super) const UUV: usize = 7;
pub(super) const UVV: usize = 8;
pub(super) const VVV: usize = 9;

/// The patches of a group at a pose, one in each lane.
#[derive(Default)]
pub(super) struct Cubics {
    /// x, y and z: coefficients in the powers of the first two barycentric coordinates.
    pub(super) place: [[Row8; 10]; 3],
    /// x, y, z and w: the third corner's rotation, and what the first and second add, all in one hemisphere.
    pub(super) rotation: [[Row8; 3]; 4],
    /// The third corner's factor of the first coordinate of details: -1 where it mirrors.
    pub(super) mirror: Row8,
    /// Not above 0 where the rotations of a patch have no common hemisphere.
    pub(super) hemisphere: Row8,
    corners: Corners,
}

/// The corners of a group, one patch in each lane; by coordinate, then by corner.
#[derive(Default)]
struct Corners {
    place: [[Row8; 3]; 3],
    /// The deformed tangents; the normal first, where patches are rebuilt from normals.
    tangents: [[[Row8; 2]; 3]; 3],
}

// No closures below: they would be compiled without the backend's instructions.

impl Cubics {
    /// Takes the patches of a group. `BY_NORMAL`: rebuilt from normals.
    #[inline(always)]
    pub(super) fn take<S: Simd, const BY_NORMAL: bool>(
        &mut self,
        simd: S,
        group: &Group,
        rows: &[CornerRow],
    ) {
        let mut q = [[simd.splat(0.0); 4]; 3];
        for i in 0..3 {
            let [a, b, c, d, e, f, g, h] = &group.corners[i];
            let [a, b, c, d] = [
                &rows[*a as usize],
                &rows[*b as usize],
                &rows[*c as usize],
                &rows[*d as usize],
            ];
            let [e, f, g, h] = [
                &rows[*e as usize],
                &rows[*f as usize],
                &rows[*g as usize],
                &rows[*h as usize],
            ];
            let place = simd.transpose_rows([
                &a.place, &b.place, &c.place, &d.place, &e.place, &f.place, &g.place, &h.place,
            ]);
            let tangents = simd.transpose_rows([
                &a.tangents,
                &b.tangents,
                &c.tangents,
                &d.tangents,
                &e.tangents,
                &f.tangents,
                &g.tangents,
                &h.tangents,
            ]);
            for k in 0..3 {
                self.corners.place[k][i].0 = simd.to_array(place[k]);
                self.corners.tangents[k][i][0].0 = simd.to_array(tangents[k]);
                self.corners.tangents[k][i][1].0 = simd.to_array(tangents[k + 3]);
            }
            q[i] = [place[3], place[4], place[5], place[6]];
            self.mirror.0 = simd.to_array(place[7]);
        }
        self.take_rotations(simd, q);
        let along_normals = if BY_NORMAL {
            self.corners.along_normals(simd)
        } else {
            [[Row8::default(); 2]; 3]
        };
        for k in 0..3 {
            let (place, tangents) = (&self.corners.place[k], &self.corners.tangents[k]);
            // Corners from the third one: small numbers keep their digits.
            let origin = simd.from_lanes(&place[2].0);
            let x = [
                simd.sub(simd.from_lanes(&place[0].0), origin),
                simd.sub(simd.from_lanes(&place[1].0), origin),
                simd.splat(0.0),
            ];
            let mut ways = [[simd.splat(0.0); 2]; 3];
            for i in 0..3 {
                for side in 0..2 {
                    ways[i][side] = if BY_NORMAL {
                        let along = simd.sub(x[(i + 1 + side) % 3], x[i]);
                        let normal = simd.from_lanes(&tangents[i][0].0);
                        simd.neg_mul_add(normal, simd.from_lanes(&along_normals[i][side].0), along)
                    } else {
                        let [a, b] = &group.edges[2 * i + side];
                        let first =
                            simd.mul(simd.from_lanes(&tangents[i][0].0), simd.from_lanes(&a.0));
                        simd.mul_add(
                            simd.from_lanes(&tangents[i][1].0),
                            simd.from_lanes(&b.0),
                            first,
                        )
                    };
                }
            }
            self.place[k][ONE] = place[2];
            coefficients(simd, [x[0], x[1]], ways, &mut self.place[k]);
        }
    }

    /// Takes the rotations of the three corners.
    #[inline(always)]
    fn take_rotations<S: Simd>(&mut self, simd: S, [first, second, third]: [[S::F; 4]; 3]) {
        let first = towards(simd, first, third);
        let second = towards(simd, second, third);
        self.hemisphere.0 = simd.to_array(dot4(simd, first, second));
        for k in 0..4 {
            self.rotation[k][0].0 = simd.to_array(third[k]);
            self.rotation[k][1].0 = simd.to_array(simd.sub(first[k], third[k]));
            self.rotation[k][2].0 = simd.to_array(simd.sub(second[k], third[k]));
        }
    }
}

impl Corners {
    /// How far the next corner, and the one before, lies along the normal of each.
    #[inline(always)]
    fn along_normals<S: Simd>(&self, simd: S) -> [[Row8; 2]; 3] {
        let mut along_normals = [[Row8::default(); 2]; 3];
        for i in 0..3 {
            for side in 0..2 {
                let mut sum = simd.splat(0.0);
                for k in 0..3 {
                    let to = simd.from_lanes(&self.place[k][(i + 1 + side) % 3].0);
                    let along = simd.sub(to, simd.from_lanes(&self.place[k][i].0));
                    sum = simd.mul_add(along, simd.from_lanes(&self.tangents[k][i][0].0), sum);
                }
                along_normals[i][side].0 = simd.to_array(sum);
            }
        }
        along_normals
    }
}

/// The coefficients of a coordinate, but for the constant: from the first two corners `x`, seen from the third, and three times
/// the way from each corner to the edge points beside it.
#[inline(always)]
fn coefficients<S: Simd>(simd: S, x: [S::F; 2], ways: [[S::F; 2]; 3], out: &mut [Row8; 10]) {
    let [x1, x2] = x;
    let [[to_12, to_13], [to_23, to_21], [to_31, to_32]] = ways;
    let (half, two, three) = (simd.splat(0.5), simd.splat(2.0), simd.splat(3.0));
    // 3 b201 and 3 b021.
    let near_1 = simd.mul_add(three, x1, to_13);
    let near_2 = simd.mul_add(three, x2, to_23);
    // 6 b111, with b111 = E + (E - V) / 2.
    let sum_1 = simd.add(to_12, to_13);
    let sum_2 = simd.add(to_23, to_21);
    let sum_3 = simd.add(to_31, to_32);
    let sum = simd.add(simd.add(sum_1, sum_2), sum_3);
    let middle = simd.mul_add(half, sum, simd.mul(two, simd.add(x1, x2)));
    let uuv = simd.add(simd.sub(to_12, to_13), simd.mul_add(two, to_31, to_32));
    let uvv = simd.add(simd.sub(to_21, to_23), simd.mul_add(two, to_32, to_31));
    // 3! / (p! q! r!) times the p-th difference along u and the q-th along v.
    out[U].0 = simd.to_array(to_31);
    out[V].0 = simd.to_array(to_32);
    out[UU].0 = simd.to_array(simd.neg_mul_add(two, to_31, near_1));
    out[UV].0 = simd.to_array(simd.neg_mul_add(two, sum_3, middle));
    out[VV].0 = simd.to_array(simd.neg_mul_add(two, to_32, near_2));
    out[UUU].0 = simd.to_array(simd.add(simd.sub(x1, near_1), to_31));
    out[UUV].0 = simd.to_array(simd.sub(uuv, middle));
    out[UVV].0 = simd.to_array(simd.sub(uvv, middle));
    out[VVV].0 = simd.to_array(simd.add(simd.sub(x2, near_2), to_32));
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

/// The inner product of two quaternions.
#[inline(always)]
pub(super) fn dot4<S: Simd>(simd: S, a: [S::F; 4], b: [S::F; 4]) -> S::F {
    let sum = simd.mul_add(a[1], b[1], simd.mul(a[0], b[0]));
    simd.mul_add(a[3], b[3], simd.mul_add(a[2], b[2], sum))
}
