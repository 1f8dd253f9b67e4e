//! The control net: corners and control points of all patches, at bind and deformed.

use super::bezier::BezierTriangle;
use super::frame::{CornerFrame, TangentPlane, reflecting};
use super::gradient::CornerRings;
use super::gregory::GregoryTriangle;
use super::interpolation::Interpolation;
use super::layout::Layout;
use super::surface::ClusterSurface;
use glam::{DMat3, DQuat, DVec3};
use rayon::prelude::*;

/// Corners handed to a thread at a time.
const CORNERS_PER_TASK: usize = 1024;

/// The patches of a [`Layout`] without their free vertices.
#[derive(Clone, Debug, Default)]
pub struct ControlNet {
    /// n_corners: the vertex of each corner, ascending; as [`Layout::corners`].
    pub corners: Vec<u32>,
    /// n_corners positions at bind, metres.
    pub positions: Vec<DVec3>,
    /// n_corners tangent planes at bind.
    pub planes: Vec<TangentPlane>,
    /// n_patches: corner numbers; as [`Layout::triangles`].
    pub triangles: Vec<[u32; 3]>,
    /// The coarse rings.
    pub rings: CornerRings,
    /// n_patches: the edge points at bind, from the corner that each is beside.
    edges: Vec<[[DVec3; 2]; 3]>,
}

impl ControlNet {
    /// The net of a layout at bind: curved PN triangles (Vlachos et al. 2001) with the normals of the surface.
    pub fn new(surface: &ClusterSurface, layout: &Layout) -> Self {
        let positions: Vec<DVec3> = at(&surface.positions, &layout.corners);
        let normals: Vec<DVec3> = at(&surface.normals, &layout.corners);
        let planes: Vec<TangentPlane> = normals.iter().map(|&n| TangentPlane::new(n)).collect();
        let mut number = vec![0; surface.n_vertices()];
        for (i, &v) in (0u32..).zip(&layout.corners) {
            number[v as usize] = i;
        }
        let triangles: Vec<[u32; 3]> = layout
            .triangles
            .iter()
            .map(|t| t.map(|v| number[v as usize]))
            .collect();
        let edges = triangles.iter().map(|t| {
            let patch = BezierTriangle::point_normal(
                t.map(|c| positions[c as usize]),
                t.map(|c| normals[c as usize]),
            );
            [0, 1, 2].map(|i| patch.edges[i].map(|b| b - patch.corners[i]))
        });
        Self {
            corners: layout.corners.clone(),
            edges: edges.collect(),
            rings: CornerRings::new(&positions, &planes, &triangles),
            positions,
            planes,
            triangles,
        }
    }

    /// The frames of all corners at bind.
    pub fn bind_frames(&self) -> Vec<CornerFrame> {
        self.positions.iter().map(|&p| CornerFrame::at(p)).collect()
    }

    /// The frames of all corners from their positions `x` alone (mode B).
    ///
    /// A rigid fit of each coarse ring and the gradient of what it leaves: exact for rigid motions.
    pub fn frames_of_positions(&self, x: &[DVec3]) -> Vec<CornerFrame> {
        let mut frames: Vec<CornerFrame> = x.iter().map(|&x| CornerFrame::at(x)).collect();
        self.refit(x, &mut frames);
        frames
    }

    /// Replaces the frames of all corners by [`ControlNet::frames_of_positions`]. Positions alone do not tell whether a
    /// surface is mirrored or turned over: corners that mirror keep to that. Allocates nothing.
    pub fn refit(&self, x: &[DVec3], frames: &mut [CornerFrame]) {
        frames
            .par_chunks_mut(CORNERS_PER_TASK)
            .enumerate()
            .for_each(|(chunk, frames)| {
                let first = chunk * CORNERS_PER_TASK;
                let planes = self.planes[first..].iter();
                for ((c, frame), plane) in (first as u32..).zip(frames).zip(planes) {
                    *frame = self.rings.frame(c, plane, x, frame.mirrored);
                }
            });
    }

    /// As [`ControlNet::refit`] of one corner. Returns whether its frame is another one now.
    pub fn refit_one(&self, x: &[DVec3], corner: u32, frames: &mut [CornerFrame]) -> bool {
        let frame = &mut frames[corner as usize];
        let plane = &self.planes[corner as usize];
        let now = self.rings.frame(corner, plane, x, frame.mirrored);
        let is_other = *frame != now;
        *frame = now;
        is_other
    }

    /// Displaces all corners by `d` (n_corners, world). `couple_normals`: displacements also tilt the corners, by their
    /// gradient over the coarse ring.
    pub fn displace(&self, frames: &mut [CornerFrame], d: &[DVec3], couple_normals: bool) {
        for (c, frame) in frames.iter_mut().enumerate() {
            let gradient = if couple_normals {
                self.rings.gradient(c as u32, d)
            } else {
                DMat3::ZERO
            };
            *frame = frame.displaced(&self.planes[c], d[c], gradient);
        }
    }

    /// The edge points of a triangle at bind, from the corner that each is beside: towards the next corner, and towards the
    /// one before, metres.
    pub(super) fn edge_offsets(&self, triangle: u32) -> [[DVec3; 2]; 3] {
        self.edges[triangle as usize]
    }

    /// The deformed normal of a corner, unit.
    pub fn normal(&self, corner: u32, frames: &[CornerFrame]) -> DVec3 {
        frames[corner as usize].jacobian * self.planes[corner as usize].normal
    }

    /// The patch of a triangle.
    pub fn patch(&self, triangle: u32, frames: &[CornerFrame], kind: Interpolation) -> Patch {
        let own = self.triangles[triangle as usize].map(|c| frames[c as usize]);
        self.patch_between(triangle, &own, kind)
    }

    /// As [`ControlNet::patch`], from the frames of the triangle's own corners.
    pub(super) fn patch_between(
        &self,
        triangle: u32,
        own: &[CornerFrame; 3],
        kind: Interpolation,
    ) -> Patch {
        let t = self.triangles[triangle as usize];
        let corners = own.each_ref().map(|f| f.position);
        let normals = || {
            let normal = |i: usize| own[i].jacobian * self.planes[t[i] as usize].normal;
            [0, 1, 2].map(normal)
        };
        if kind == Interpolation::PointNormal {
            let normals = normals();
            return Patch::Bezier(BezierTriangle::point_normal(corners, normals));
        }
        let offsets = &self.edges[triangle as usize];
        let edge = |i: usize, k: usize| own[i].position + own[i].jacobian * offsets[i][k];
        let bezier = BezierTriangle::new(corners, [0, 1, 2].map(|i| [edge(i, 0), edge(i, 1)]));
        if kind == Interpolation::Gregory {
            Patch::Gregory(GregoryTriangle::new(&bezier, normals()))
        } else {
            Patch::Bezier(bezier)
        }
    }

    /// The cubic triangle of the displacements `d` of the corners, whose gradients are `gradients` (both n_corners): the edge
    /// points are `d_i + G_i (P_j - P_i) / 3`.
    pub fn displacement_patch(
        &self,
        triangle: u32,
        d: &[DVec3],
        gradients: &[DMat3],
    ) -> BezierTriangle {
        let t = self.triangles[triangle as usize].map(|c| c as usize);
        let edge = |i: usize, j: usize| {
            let along = self.positions[t[j]] - self.positions[t[i]];
            d[t[i]] + gradients[t[i]] * along / 3.0
        };
        let edges = [0, 1, 2].map(|i| [edge(i, (i + 1) % 3), edge(i, (i + 2) % 3)]);
        BezierTriangle::new(t.map(|c| d[c]), edges)
    }

    /// The matrix that carries details at barycentric coordinates `u` of a triangle: a rotation, after a reflection where
    /// the third corner mirrors (one skin mirrors all corners of a patch, or none).
    pub fn rotation(&self, triangle: u32, frames: &[CornerFrame], u: [f64; 3]) -> DMat3 {
        let own = self.triangles[triangle as usize].map(|c| frames[c as usize]);
        rotation_between(&own, u)
    }
}

/// As [`ControlNet::rotation`], from the frames of the triangle's own corners.
pub(super) fn rotation_between(own: &[CornerFrame; 3], u: [f64; 3]) -> DMat3 {
    reflecting(
        blended_rotation(own.each_ref().map(|f| f.rotation), u),
        own[2].mirrored,
    )
}

/// A patch between three corners.
#[derive(Clone, Copy, Debug, PartialEq)]
// It lives on the stack, for as long as one patch is evaluated.
#[allow(clippy::large_enum_variant)]
pub enum Patch {
    /// Cubic.
    Bezier(BezierTriangle),
    /// Quartic, with one tangent plane along each edge.
    Gregory(GregoryTriangle),
}

impl Patch {
    /// The place at barycentric coordinates `u`.
    pub fn at(&self, u: [f64; 3]) -> DVec3 {
        match self {
            Self::Bezier(patch) => patch.at(u),
            Self::Gregory(patch) => patch.at(u),
        }
    }
}

/// The normalised sum of three rotations, in the hemisphere of the one with the largest weight.
pub(super) fn blended_rotation(q: [DQuat; 3], u: [f64; 3]) -> DQuat {
    let mut pivot = 0;
    for i in 1..3 {
        if u[i] > u[pivot] {
            pivot = i;
        }
    }
    let signed = |i: usize| {
        let sign = if q[i].dot(q[pivot]) < 0.0 { -1.0 } else { 1.0 };
        q[i] * (sign * u[i])
    };
    crate::math::transform::normalize_or_identity(signed(0) + signed(1) + signed(2))
}

fn at(values: &[DVec3], vertices: &[u32]) -> Vec<DVec3> {
    vertices.iter().map(|&v| values[v as usize]).collect()
}
