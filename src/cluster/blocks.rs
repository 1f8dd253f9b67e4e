//! Patches and free vertices in the order and format of the kernel.

// As in `kernel`.
#![allow(clippy::inline_always)]

use super::frame::{CornerFrame, TangentPlane};
use super::net::ControlNet;
use crate::math::transform::normalize_or_identity;
use crate::skinning::cooked::LANES;
use crate::skinning::palette::Row8;
use glam::{DQuat, DVec3, Vec3};

/// Up to eight free points of the patches of a group. Lanes without one repeat the last, so that all eight are written
/// without a branch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    /// The points of the mesh.
    pub(super) points: [u32; LANES],
    /// Barycentric coordinates of the first and second corner.
    pub(super) u: [f32; LANES],
    pub(super) v: [f32; LANES],
    /// From the patch to the vertex at bind, metres: x, y, z.
    pub(super) offset: [[f32; LANES]; 3],
    /// The number in the group of the patch of each lane.
    pub(super) lanes: [u8; LANES],
    /// The group.
    pub(super) group: u32,
    /// Whether all lanes are on one patch.
    pub(super) is_uniform: bool,
}

/// A point of the mesh on a patch, and its barycentric coordinates.
pub(super) type OnPatch = (u32, u32, [f64; 3]);

impl Block {
    /// The blocks of points whose patches ascend.
    ///
    /// Eight points of one patch share a block. The remaining points of a group share blocks too: with few points on each
    /// patch, blocks of a single patch would be half empty.
    pub(super) fn of(points: &[OnPatch]) -> Vec<Self> {
        let group = |on: &OnPatch| on.0 / LANES as u32;
        let mut blocks = Vec::new();
        let mut left_over: Vec<OnPatch> = Vec::new();
        for points in points.chunk_by(|a, b| group(a) == group(b)) {
            left_over.clear();
            for points in points.chunk_by(|a, b| a.0 == b.0) {
                let (whole, rest) = points.as_chunks::<LANES>();
                blocks.extend(whole.iter().map(|points| Self::new(points)));
                left_over.extend(rest);
            }
            blocks.extend(left_over.chunks(LANES).map(Self::new));
        }
        blocks
    }

    /// The block of one to eight points.
    fn new(points: &[OnPatch]) -> Self {
        let last = points.len() - 1;
        let lanes: [OnPatch; LANES] = std::array::from_fn(|lane| points[lane.min(last)]);
        Self {
            points: lanes.map(|on| on.1),
            u: lanes.map(|on| on.2[0] as f32),
            v: lanes.map(|on| on.2[1] as f32),
            offset: [[0.0; LANES]; 3],
            lanes: lanes.map(|on| (on.0 as usize % LANES) as u8),
            group: lanes[0].0 / LANES as u32,
            is_uniform: lanes.iter().all(|on| on.0 == lanes[0].0),
        }
    }

    /// The patch of a lane.
    pub(super) fn patch(&self, lane: usize) -> u32 {
        self.group * LANES as u32 + u32::from(self.lanes[lane])
    }

    /// Writes the place of a lane if its point lies in `out`, which begins with point `start`.
    #[inline(always)]
    pub(super) fn write(&self, lane: usize, place: Vec3, start: u32, out: &mut [Vec3]) {
        // A point before the run wraps to a large number.
        if let Some(out) = out.get_mut(self.points[lane].wrapping_sub(start) as usize) {
            *out = place;
        }
    }

    /// The barycentric coordinates of a lane.
    pub(super) fn barycentric(&self, lane: usize) -> [f64; 3] {
        let (u, v) = (f64::from(self.u[lane]), f64::from(self.v[lane]));
        [u, v, 1.0 - u - v]
    }

    /// The offset of a lane, metres.
    pub(super) fn offset(&self, lane: usize) -> DVec3 {
        DVec3::from_array(self.offset.map(|axis| f64::from(axis[lane])))
    }

    /// Sets the offset of a lane.
    pub(super) fn set_offset(&mut self, lane: usize, offset: DVec3) {
        for (axis, value) in self.offset.iter_mut().zip(offset.to_array()) {
            axis[lane] = value as f32;
        }
    }
}

/// Eight patches; missing ones at the end have no blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    /// The three corners of each patch.
    pub(super) corners: [[u32; LANES]; 3],
    /// Three times the way from each corner to the edge points beside it at bind, along that corner's tangents, metres: corner
    /// by corner, towards the next corner and the one before.
    pub(super) edges: [[Row8; 2]; 6],
}

impl Group {
    /// The groups of all patches of a net.
    pub(super) fn of(net: &ControlNet) -> Vec<Self> {
        let n = net.triangles.len();
        let lane = |patch: usize, group: &mut Self, lane: usize| {
            let t = net.triangles[patch];
            for i in 0..3 {
                group.corners[i][lane] = t[i];
                let plane = &net.planes[t[i] as usize];
                for (k, edge) in net.edge_offsets(patch as u32)[i].into_iter().enumerate() {
                    let along = plane.tangents.map(|t| (3.0 * edge.dot(t)) as f32);
                    group.edges[2 * i + k][0].0[lane] = along[0];
                    group.edges[2 * i + k][1].0[lane] = along[1];
                }
            }
        };
        (0..n.div_ceil(LANES))
            .map(|g| {
                let mut group = Self {
                    corners: [[0; LANES]; 3],
                    edges: [[Row8::default(); 2]; 6],
                };
                for patch in g * LANES..((g + 1) * LANES).min(n) {
                    lane(patch, &mut group, patch % LANES);
                }
                group
            })
            .collect()
    }
}

/// What the kernel reads of a corner at a pose.
#[derive(Clone, Copy, Debug, Default)]
pub struct CornerRow {
    /// Position, metres; rotation; -1 where details are reflected along x first, else 1.
    pub(super) place: Row8,
    /// The deformed tangents, or the deformed normal for patches that are rebuilt from normals. The last number is free for
    /// those who make rows.
    pub(super) tangents: Row8,
}

impl CornerRow {
    /// The row of a corner; `plane`: its tangents and normal at bind.
    #[inline]
    pub(super) fn new(plane: &[Vec3; 3], frame: &CornerFrame, by_normal: bool) -> Self {
        let (x, q) = (frame.position.as_vec3(), frame.rotation.as_quat());
        let mirror = if frame.mirrored { -1.0 } else { 1.0 };
        let jacobian = frame.jacobian.as_mat3();
        let [first, second, normal] = *plane;
        let [a, b] = if by_normal {
            [jacobian * normal, Vec3::ZERO]
        } else {
            [jacobian * first, jacobian * second]
        };
        Self {
            place: Row8([x.x, x.y, x.z, q.x, q.y, q.z, q.w, mirror]),
            tangents: Row8([a.x, a.y, a.z, b.x, b.y, b.z, 0.0, 0.0]),
        }
    }

    /// The frame of the corner, of patches that are not rebuilt from normals; `plane`: its tangents and normal at bind.
    pub(crate) fn frame(&self, plane: &TangentPlane) -> CornerFrame {
        let [x, y, z, i, j, k, w, mirror] = self.place.0.map(f64::from);
        let [a, b, c, d, e, f, ..] = self.tangents.0.map(f64::from);
        let columns = [DVec3::new(a, b, c), DVec3::new(d, e, f)];
        let rotation = normalize_or_identity(DQuat::from_xyzw(i, j, k, w));
        let frame = CornerFrame::with_columns(DVec3::new(x, y, z), plane, columns, rotation);
        if mirror < 0.0 {
            frame.mirrored(plane)
        } else {
            frame
        }
    }

    /// Where the corner is, metres.
    pub(crate) fn position(&self) -> Vec3 {
        let [x, y, z, ..] = self.place.0;
        Vec3::new(x, y, z)
    }

    /// Whether every number has the bits of another's.
    pub(crate) fn same_bits(&self, other: &Self) -> bool {
        let bits = |row: &Self| [row.place, row.tangents].map(|row| row.0.map(f32::to_bits));
        bits(self) == bits(other)
    }
}
