//! Patches and free vertices in the order and format of the kernel.

// As in `kernel`.
#![allow(clippy::inline_always)]

use super::frame::{CornerFrame, TangentPlane};
use super::net::ControlNet;
use crate::math::transform::normalize_or_identity;
use crate::skinning::cooked::LANES;
use crate::skinning::palette::Row8;
use glam::{DQuat, DVec3, Vec3};

/// Up to eight free points of a patch. Lanes without one repeat the last: all eight are written, without a question.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    /// The patch.
    pub(super) patch: u32,
    /// The points of the mesh.
    pub(super) points: [u32; LANES],
    /// Barycentric coordinates of the first and second corner.
    pub(super) u: [f32; LANES],
    pub(super) v: [f32; LANES],
    /// From the patch to the vertex at bind, metres: x, y, z.
    pub(super) offset: [[f32; LANES]; 3],
}

impl Block {
    /// A block of one point at barycentric coordinates `u`.
    pub(super) fn new(patch: u32, point: u32, u: [f64; 3]) -> Self {
        Self {
            patch,
            points: [point; LANES],
            u: [u[0] as f32; LANES],
            v: [u[1] as f32; LANES],
            offset: [[0.0; LANES]; 3],
        }
    }

    /// Sets the point of a lane and of those after it.
    pub(super) fn set(&mut self, lane: usize, point: u32, u: [f64; 3]) {
        self.points[lane..].fill(point);
        self.u[lane..].fill(u[0] as f32);
        self.v[lane..].fill(u[1] as f32);
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
    /// The six edge points at bind from the corner each is beside, along that corner's tangents, metres: corner by corner,
    /// towards the next corner and the one before.
    pub(super) edges: [[[f32; LANES]; 2]; 6],
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
                    let along = plane.tangents.map(|t| edge.dot(t) as f32);
                    group.edges[2 * i + k][0][lane] = along[0];
                    group.edges[2 * i + k][1][lane] = along[1];
                }
            }
        };
        (0..n.div_ceil(LANES))
            .map(|g| {
                let mut group = Self {
                    corners: [[0; LANES]; 3],
                    edges: [[[0.0; LANES]; 2]; 6],
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
