//! Patches and free vertices in the order and format of the kernel.

use super::frame::CornerFrame;
use super::net::ControlNet;
use crate::skinning::cooked::LANES;
use crate::skinning::palette::Row8;
use glam::{DVec3, Vec3};

/// Up to eight free vertices of a patch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    /// Barycentric coordinates of the first and second corner.
    pub(super) u: [f32; LANES],
    pub(super) v: [f32; LANES],
    /// From the patch to the vertex at bind, metres: x, y, z.
    pub(super) offset: [[f32; LANES]; 3],
}

impl Block {
    /// No vertices: all lanes lie at the third corner.
    pub(super) const EMPTY: Self = Self {
        u: [0.0; LANES],
        v: [0.0; LANES],
        offset: [[0.0; LANES]; 3],
    };

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
pub(super) struct CornerRow {
    /// Position, metres; rotation.
    pub(super) place: Row8,
    /// The deformed tangents, or the deformed normal for patches that are rebuilt from normals.
    pub(super) tangents: Row8,
}

impl CornerRow {
    /// The row of a corner.
    pub(super) fn new(net: &ControlNet, corner: u32, frame: &CornerFrame, by_normal: bool) -> Self {
        let plane = &net.planes[corner as usize];
        let (x, q) = (frame.position.as_vec3(), frame.rotation.as_quat());
        let [a, b] = if by_normal {
            [(frame.jacobian * plane.normal).as_vec3(), Vec3::ZERO]
        } else {
            plane.tangents.map(|t| (frame.jacobian * t).as_vec3())
        };
        Self {
            place: Row8([x.x, x.y, x.z, q.x, q.y, q.z, q.w, 0.0]),
            tangents: Row8([a.x, a.y, a.z, b.x, b.y, b.z, 0.0, 0.0]),
        }
    }
}
