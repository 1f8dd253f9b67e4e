//! The corners of patches that a skin moves (mode A), computed eight at a time from the skinned images of points beside them,
//! in the layout that the patch kernel reads.

// As in `skinning::kernels`: the bodies must end up inside of the function compiled with the backend's instructions.
#![allow(clippy::inline_always)]

use super::blocks::CornerRow;
use crate::skinning::cooked::LANES;
use crate::skinning::kernels::{cross, dot, load_block};
use crate::skinning::palette::Row8;
use crate::skinning::{Backend, Kernel, Simd, dispatch};
use glam::{Quat, Vec3};

/// Two columns that span less than this fraction of their lengths' product have no normal, as in
/// [`super::TangentPlane::jacobian`].
const FLAT: f32 = 1e-6;

/// A run of corners at a pose; as many entries in each slice as corners.
#[derive(Clone, Copy)]
pub(crate) struct CornerLanes<'a> {
    /// The images of the points beside each corner, world, metres: a step along a first direction and against it, along a
    /// second direction and against it.
    pub(crate) sides: [&'a [Vec3]; 4],
    /// The tangents of each corner in the differences of these: first tangent in the first and the second one, then the
    /// second tangent.
    pub(crate) tangents: [&'a [f32]; 4],
    /// Where the corners are, metres.
    pub(crate) places: &'a [Vec3],
    /// Their rotations, unit.
    pub(crate) rotations: &'a [Quat],
}

impl CornerLanes<'_> {
    /// Writes the rows. Returns whether the images of some corner's tangents span no plane: these rows are
    /// [`CornerRow::is_flat`].
    pub(crate) fn write(&self, rows: &mut [CornerRow]) -> bool {
        let n = rows.len();
        let [a, b, c, d] = self.sides.map(<[Vec3]>::len);
        assert!([a, b, c, d, self.places.len(), self.rotations.len()] == [n; 6]);
        assert!(self.tangents.iter().all(|t| t.len() == n));
        let mut some_flat = false;
        let run = Run {
            of: self,
            rows,
            some_flat: &mut some_flat,
        };
        dispatch(Backend::detect(), run);
        some_flat
    }
}

impl CornerRow {
    /// Whether the images of its tangents span no plane, of a row that [`CornerLanes::write`] made.
    pub(crate) fn is_flat(&self) -> bool {
        self.tangents.0[7] != 0.0
    }
}

struct Run<'a, 'o> {
    of: &'a CornerLanes<'a>,
    rows: &'o mut [CornerRow],
    some_flat: &'o mut bool,
}

impl Kernel for Run<'_, '_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let (zero, one) = (simd.splat(0.0), simd.splat(1.0));
        let flat = simd.splat(FLAT * FLAT);
        let of = self.of;
        let mut any = simd.splat(0.0);
        for (block, rows) in self.rows.chunks_mut(LANES).enumerate() {
            let first = difference(simd, of.sides[0], of.sides[1], block);
            let second = difference(simd, of.sides[2], of.sides[3], block);
            let mut columns = [[zero; 3]; 2];
            for (i, column) in columns.iter_mut().enumerate() {
                let by_first = load_lanes(simd, of.tangents[2 * i], block);
                let by_second = load_lanes(simd, of.tangents[2 * i + 1], block);
                for k in 0..3 {
                    let along = simd.mul(first[k], by_first);
                    column[k] = simd.mul_add(second[k], by_second, along);
                }
            }
            let [a, b] = columns;
            let normal = cross(simd, a, b);
            let lengths = simd.mul(dot(simd, a, a), dot(simd, b, b));
            let least = simd.mul(flat, lengths);
            // NaN counts as flat.
            let is_flat = simd.select_gt(dot(simd, normal, normal), least, zero, one);
            any = simd.max(any, is_flat);
            let [x, y, z] = load_block(simd, of.places, block);
            let places = simd.transpose([x, y, z, zero, zero, zero, zero, one]);
            let tangents = simd.transpose([a[0], a[1], a[2], b[0], b[1], b[2], zero, is_flat]);
            for (lane, row) in rows.iter_mut().enumerate() {
                row.place = Row8(simd.to_array(places[lane]));
                row.tangents = Row8(simd.to_array(tangents[lane]));
                let rotation = of.rotations[block * LANES + lane].to_array();
                row.place.0[3..7].copy_from_slice(&rotation);
            }
        }
        *self.some_flat = simd.to_array(any).iter().any(|&flat| flat > 0.0);
    }
}

/// `a - b` of a block.
#[inline(always)]
fn difference<S: Simd>(simd: S, a: &[Vec3], b: &[Vec3], block: usize) -> [S::F; 3] {
    let (a, b) = (load_block(simd, a, block), load_block(simd, b, block));
    [
        simd.sub(a[0], b[0]),
        simd.sub(a[1], b[1]),
        simd.sub(a[2], b[2]),
    ]
}

/// Eight numbers from `block` on; the last block is filled up with zeros.
#[inline(always)]
fn load_lanes<S: Simd>(simd: S, numbers: &[f32], block: usize) -> S::F {
    let (blocks, rest) = numbers.as_chunks::<LANES>();
    if let Some(numbers) = blocks.get(block) {
        simd.from_lanes(numbers)
    } else {
        let mut padded = [0.0; LANES];
        padded[..rest.len()].copy_from_slice(rest);
        simd.from_lanes(&padded)
    }
}

#[cfg(test)]
mod tests {
    use super::super::frame::{CornerFrame, TangentPlane};
    use super::*;
    use glam::{DMat3, DQuat, DVec3};

    #[test]
    fn rows_are_the_frames_of_f64_and_those_without_a_plane_are_said() {
        let matrix = DMat3::from_cols(
            DVec3::new(1.1, 0.2, -0.1),
            DVec3::new(0.0, 0.9, 0.3),
            DVec3::new(0.2, -0.4, 1.2),
        );
        let turn = DQuat::from_xyzw(0.1, -0.7, 0.5, 0.5);
        let n = 11usize;
        let planes: Vec<TangentPlane> = (0..n as u32)
            .map(|i| {
                TangentPlane::new(DVec3::new(f64::from(i) - 5.0, 2.0, 1.0).normalize_or(DVec3::Z))
            })
            .collect();
        let at = |i: usize| DVec3::new(i as f64, -0.5 * i as f64, 3.0);
        // The last but one is pressed into a line.
        let image = |i: usize, p: DVec3| {
            let p = at(i) + matrix * p;
            if i == n - 2 { DVec3::X * p.x } else { p }
        };
        let step = 0.01;
        let side = |k: usize, sign: f64| -> Vec<Vec3> {
            let places = (0..n).map(|i| image(i, planes[i].tangents[k] * step * sign));
            places.map(DVec3::as_vec3).collect()
        };
        let sides = [side(0, 1.0), side(0, -1.0), side(1, 1.0), side(1, -1.0)];
        let (along, across) = (vec![0.5 / step as f32; n], vec![0.0; n]);
        let places: Vec<Vec3> = (0..n).map(|i| image(i, DVec3::ZERO).as_vec3()).collect();
        let mut rows = vec![CornerRow::default(); n];
        let lanes = CornerLanes {
            sides: sides.each_ref().map(|side| &side[..]),
            tangents: [&along, &across, &across, &along],
            places: &places,
            rotations: &vec![turn.as_quat(); n],
        };
        assert!(lanes.write(&mut rows));
        for (i, row) in rows.iter().enumerate() {
            let plane = &planes[i];
            assert_eq!(row.is_flat(), i == n - 2, "corner {i}");
            assert_eq!(row.position(), places[i]);
            if row.is_flat() {
                continue;
            }
            let columns = plane.tangents.map(|t| matrix * t);
            let exact = CornerFrame::with_columns(at(i), plane, columns, turn);
            let frame = row.frame(plane);
            let apart = frame.jacobian - exact.jacobian;
            let largest = apart.to_cols_array().map(f64::abs);
            // The differences of f32 positions of up to ten metres over a step of a centimetre.
            assert!(largest.iter().all(|v| *v < 3e-4), "corner {i}: {apart}");
            assert!(frame.rotation.dot(turn).abs() > 1.0 - 1e-6);
        }
    }
}
