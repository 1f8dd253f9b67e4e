//! The mesh of the measurements: a bent tube along a chain of joints, whose weights fall off along it.

use crate::math::Transform;
use crate::mesh::Mesh;
use crate::skeleton::{Joint, JointId, JointRule, Pose, Skeleton};
use crate::skinning::{
    BonePose, CHUNK, CookedChunk, Influences, LeafPoints, Rows, SkinBind, SkinBones, SkinPalette,
    Stretch,
};
use glam::{DAffine3, DMat3, DQuat, DVec3, Vec3};
use rayon::prelude::*;

pub(super) const N_JOINTS: usize = 60;
const INFLUENCES: usize = 4;
/// Neighbours around the tube.
const N_SIDES: usize = 64;

/// Points, their influences, and the skin that moves them.
pub(super) struct Tube {
    pub(super) positions: Vec<Vec3>,
    pub(super) normals: Vec<Vec3>,
    pub(super) chunks: Vec<CookedChunk>,
    pub(super) rig: Rig,
}

/// The chain of joints in its pose.
pub(super) struct Rig {
    pub(super) skeleton: Skeleton,
    pub(super) joints: Vec<JointId>,
    pub(super) inverse_bind: Vec<DAffine3>,
    /// World transforms at rest and in the pose.
    pub(super) rest: Vec<DAffine3>,
    pub(super) world: Vec<DAffine3>,
    pub(super) bind: SkinBind,
    pub(super) bones: SkinBones,
    pub(super) bone_pose: BonePose,
    /// Rotations only.
    pub(super) rigid: SkinPalette,
    /// Every joint scales, so that both phases run.
    pub(super) scaled: SkinPalette,
}

impl Rig {
    pub(super) fn new() -> Self {
        let skeleton = chain();
        let rest = Pose::rest(&skeleton).world_matrices(&skeleton);
        let inverse_bind: Vec<_> = rest.iter().map(DAffine3::inverse).collect();
        let joints: Vec<_> = (0..N_JOINTS as u32).map(JointId).collect();
        let bind = SkinBind::new(&skeleton, &joints, &inverse_bind, &[true; N_JOINTS], &rest);
        let mut pose = Pose::rest(&skeleton);
        for local in &mut pose.locals {
            local.rotation = DQuat::from_rotation_z(0.05) * DQuat::from_rotation_x(0.02);
        }
        let world = pose.world_matrices(&skeleton);
        let palette = |scale: DVec3| {
            let mut scaled = world.clone();
            for matrix in &mut scaled {
                matrix.matrix3 *= DMat3::from_diagonal(scale);
            }
            let mut palette = SkinPalette::default();
            bind.pose(&scaled, Stretch::Inflate, &mut palette);
            palette
        };
        let (rigid, scaled) = (palette(DVec3::ONE), palette(DVec3::new(1.0, 1.2, 0.9)));
        let bones = SkinBones::new(&bind, &skeleton, &LeafPoints::default());
        let mut bone_pose = BonePose::default();
        bone_pose.update(&bones, &rigid);
        Self {
            skeleton,
            joints,
            inverse_bind,
            rest,
            world,
            bind,
            bones,
            bone_pose,
            rigid,
            scaled,
        }
    }
}

impl Tube {
    pub(super) fn new(n_points: usize) -> Self {
        let rig = Rig::new();
        let normals: Vec<Vec3> = (0..n_points).map(around).collect();
        let positions = (0..n_points).map(|p| position(p, n_points)).collect();
        let chunks = (0..n_points.div_ceil(CHUNK)).into_par_iter().map(|c| {
            let mut rows = Rows::with_capacity(CHUNK);
            for point in c * CHUNK..((c + 1) * CHUNK).min(n_points) {
                rows.push_pairs(row(point, n_points));
            }
            CookedChunk::cook(&rows, rig.bind.ranks())
        });
        Self {
            positions,
            normals,
            chunks: chunks.collect(),
            rig,
        }
    }
}

/// The tube as a mesh, one vertex a point, one normal a point, open at its ends.
pub(super) fn mesh(n_points: usize) -> Mesh {
    let identity: Vec<u32> = (0..n_points as u32).collect();
    let n_rings = n_points / N_SIDES;
    let mut triangles = Vec::with_capacity(2 * N_SIDES * n_rings.saturating_sub(1));
    for ring in 1..n_rings {
        for side in 0..N_SIDES {
            let at = |ring: usize, side: usize| (ring * N_SIDES + side % N_SIDES) as u32;
            let (a, b) = (at(ring - 1, side), at(ring - 1, side + 1));
            let (c, d) = (at(ring, side), at(ring, side + 1));
            triangles.push([a, b, c]);
            triangles.push([b, d, c]);
        }
    }
    Mesh {
        name: "tube".into(),
        positions: (0..n_points).map(|p| position(p, n_points)).collect(),
        normals: (0..n_points).map(around).collect(),
        point_of_normal: identity.clone(),
        normal_of_vertex: identity.clone(),
        point_of_vertex: identity,
        triangles,
        ..Mesh::default()
    }
}

/// The influences of [`mesh`].
pub(super) fn influences(n_points: usize) -> Influences {
    let mut rows = Rows::with_capacity(CHUNK);
    let mut all: Vec<Rows> = Vec::new();
    for point in 0..n_points {
        rows.push_pairs(row(point, n_points));
        if rows.len() == CHUNK || point + 1 == n_points {
            all.push(std::mem::replace(&mut rows, Rows::with_capacity(CHUNK)));
        }
    }
    Influences::from_rows(all.iter().flat_map(Rows::iter))
}

/// Another row of weights at a point, as after a stroke.
pub(super) fn painted_row(point: usize, n_points: usize) -> Vec<(u16, f32)> {
    let mut row = row(point, n_points);
    row[0].1 += 0.1;
    let sum: f32 = row.iter().map(|e| e.1).sum();
    row.iter().map(|&(j, w)| (j, w / sum)).collect()
}

fn around(point: usize) -> Vec3 {
    let angle = (point % N_SIDES) as f32 / N_SIDES as f32 * std::f32::consts::TAU;
    Vec3::new(0.0, angle.cos(), angle.sin())
}

fn along(point: usize, n_points: usize) -> f32 {
    let n_rings = n_points.div_ceil(N_SIDES);
    (point / N_SIDES) as f32 / n_rings as f32 * (N_JOINTS as f32 - 1.0)
}

fn position(point: usize, n_points: usize) -> Vec3 {
    Vec3::new(along(point, n_points), 0.0, 0.0) + around(point)
}

fn row(point: usize, n_points: usize) -> [(u16, f32); INFLUENCES] {
    row_at(along(point, n_points))
}

/// Joints one metre apart along x.
fn chain() -> Skeleton {
    let joints = (0..N_JOINTS as u32).map(|j| Joint {
        name: String::new(),
        parent: j.checked_sub(1).map(JointId),
        rest: Transform::from_rotation_translation(
            DQuat::IDENTITY,
            DVec3::new(f64::from(j.min(1)), 0.0, 0.0),
        ),
        source_node: None,
        content_of: None,
        removed: false,
        rule: JointRule::default(),
    });
    Skeleton::new(joints.collect()).unwrap_or_default()
}

/// The four joints nearest to x on the chain, weighted by a Gaussian of the distance, sum 1.
fn row_at(x: f32) -> [(u16, f32); INFLUENCES] {
    let last_first = (N_JOINTS - INFLUENCES) as f32;
    let first = (x - 0.5 * INFLUENCES as f32 + 1.0)
        .floor()
        .clamp(0.0, last_first);
    let bell: [f32; INFLUENCES] = std::array::from_fn(|k| (-(x - first - k as f32).powi(2)).exp());
    let sum: f32 = bell.iter().sum();
    std::array::from_fn(|k| (first as u16 + k as u16, bell[k] / sum))
}
