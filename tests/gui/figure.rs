//! A small rigged figure for pictures: a checkered bumpy ball beside a clay tube that bends at its second joint.

use glam::{DAffine3, DQuat, DVec3, Vec2, Vec3};
use sinew::deform::transport_normals;
use sinew::document::{Image, Material};
use sinew::document::{MeshSource, PrimitiveSource};
use sinew::math::Transform;
use sinew::math::camera::{Camera, View};
use sinew::mesh::Mesh;
use sinew::skeleton::bone_segments::bones;
use sinew::skeleton::{Joint, JointId, JointRule, Pose, Skeleton};
use sinew::view::{
    BoneShape, BoneState, PointMarks, Scene, SceneMesh, ViewOptions, frame_bounds, shape_bones,
};
use std::f32::consts::{PI, TAU};
use std::sync::Arc;

/// Half way up the tube, where the second joint is.
const ELBOW: f32 = 0.5;

/// One mesh in a pose, ready to draw.
pub(crate) struct Posed {
    pub(crate) mesh: Mesh,
    pub(crate) positions: Vec<Vec3>,
    pub(crate) normals: Vec<Vec3>,
    pub(crate) weights: Vec<f32>,
    pub(crate) generation: u64,
}

/// Everything a [`Scene`] borrows.
pub(crate) struct Figure {
    pub(crate) ball: Posed,
    pub(crate) tube: Posed,
    pub(crate) bones: Vec<BoneShape>,
    pub(crate) materials: Vec<Material>,
    pub(crate) images: Vec<Option<Arc<Image>>>,
    pub(crate) camera: Camera,
    pub(crate) options: ViewOptions,
}

impl Figure {
    /// The figure with its tube bent by `degrees`, framed from `view`.
    pub(crate) fn new(degrees: f64, view: View) -> Self {
        let skeleton = tube_skeleton();
        let mut pose = Pose::rest(&skeleton);
        pose.locals[1].rotation = DQuat::from_rotation_z(degrees.to_radians());
        let world = pose.world_matrices(&skeleton);
        let state = |joint| match joint {
            JointId(1) => BoneState::Active,
            _ => BoneState::Normal,
        };
        let ball = ball();
        let tube = tube(world[1]);
        let mut camera = Camera::looking(view);
        if let Some((centre, radius)) = frame_bounds(ball.positions.iter().chain(&tube.positions)) {
            camera.frame(centre, radius);
        }
        Self {
            ball,
            tube,
            bones: shape_bones(&bones(&skeleton, &world, |_| true), state),
            materials: vec![
                Material {
                    base_color: [1.0; 4],
                    base_color_image: Some(0),
                    roughness: 0.45,
                    ..Material::default()
                },
                Material {
                    base_color: [0.58, 0.30, 0.22, 1.0],
                    ..Material::default()
                },
            ],
            images: vec![Some(Arc::new(checker()))],
            camera,
            options: ViewOptions::default(),
        }
    }

    /// What to draw.
    pub(crate) fn scene(&self) -> Scene<'_> {
        let part = |key: u64, posed| self.part(key, posed);
        Scene {
            camera: &self.camera,
            meshes: vec![part(0, &self.ball), part(1, &self.tube)],
            bones: &self.bones,
            boxes: &[],
            ground: 0.0,
            options: &self.options,
        }
    }

    fn part<'a>(&'a self, key: u64, posed: &'a Posed) -> SceneMesh<'a> {
        SceneMesh {
            key,
            mesh: &posed.mesh,
            positions: &posed.positions,
            normals: &posed.normals,
            generation: posed.generation,
            position_changes: &[],
            normal_changes: &[],
            weights: Some(&posed.weights),
            weights_generation: posed.generation,
            data: None,
            tints: None,
            weight_changes: &[],
            plain_weight: 0.0,
            materials: &self.materials,
            images: &self.images,
            highlighted: false,
            marks: PointMarks::default(),
        }
    }
}

fn tube_skeleton() -> Skeleton {
    let joint = |parent: Option<u32>, position: DVec3| Joint {
        name: String::new(),
        parent: parent.map(JointId),
        rest: Transform {
            translation: position,
            ..Transform::IDENTITY
        },
        source_node: None,
        content_of: None,
        removed: false,
        rule: JointRule::default(),
    };
    let up = DVec3::new(0.0, f64::from(ELBOW), 0.0);
    Skeleton::new(vec![joint(None, DVec3::ZERO), joint(Some(0), up)]).expect("a chain of two")
}

/// A closed sheet of `columns` x `rows` cells with a seam, `surface(u, v)` giving the positions.
fn sheet(columns: u32, rows: u32, material: u32, surface: impl Fn(f32, f32) -> Vec3) -> Mesh {
    let mut source = PrimitiveSource {
        material: Some(material),
        ..Default::default()
    };
    for row in 0..=rows {
        for column in 0..=columns {
            let (u, v) = (column as f32 / columns as f32, row as f32 / rows as f32);
            // The last column lies exactly on the first, so that it is welded.
            source
                .positions
                .push(surface(if column == columns { 0.0 } else { u }, v));
            source.uvs.push(Vec2::new(u, v));
        }
    }
    let stride = columns + 1;
    for row in 0..rows {
        for column in 0..columns {
            let a = row * stride + column;
            let (b, c, d) = (a + 1, a + stride, a + stride + 1);
            source.triangles.push([a, c, b]);
            source.triangles.push([b, c, d]);
        }
    }
    source.normals = vec![Vec3::ZERO; source.positions.len()];
    MeshSource {
        primitives: vec![source],
        ..Default::default()
    }
    .build()
    .mesh
}

fn ball() -> Posed {
    let centre = Vec3::new(-0.62, 0.36, 0.0);
    let mesh = sheet(64, 40, 0, |u, v| {
        let (theta, phi) = (u * TAU, v * PI);
        let direction = Vec3::new(phi.sin() * theta.cos(), phi.cos(), -phi.sin() * theta.sin());
        let bumps = 0.035 * (theta * 5.0).sin() * (phi * 6.0).sin() * phi.sin();
        centre + direction * (0.33 + bumps)
    });
    // The front has no influence, the rest runs from bottom to top.
    let weights = mesh
        .positions
        .iter()
        .map(|p| {
            if p.z > centre.z {
                0.0
            } else {
                (p.y - 0.03) / 0.66
            }
        })
        .collect();
    Posed {
        positions: mesh.positions.clone(),
        normals: mesh.normals.clone(),
        mesh,
        weights,
        generation: 1,
    }
}

/// Linear blend skinning of a straight tube: enough to look at, and independent of the library's.
fn tube(world_of_elbow: DAffine3) -> Posed {
    let mesh = sheet(40, 48, 1, |u, v| {
        let y = 1.0 - v;
        let radius = 0.13 * (1.0 - 0.35 * (2.0 * y - 1.0).powi(8)) + 0.02 * (y * 14.0).sin();
        let radius = if v == 0.0 || v == 1.0 { 0.0 } else { radius };
        Vec3::new(radius * (u * TAU).cos(), y, -radius * (u * TAU).sin())
    });
    let bind = DAffine3::from_translation(DVec3::new(0.0, f64::from(ELBOW), 0.0));
    let moved = world_of_elbow * bind.inverse();
    let weight = |p: Vec3| {
        let t = ((p.y - ELBOW) / 0.16 + 0.5).clamp(0.0, 1.0);
        t * t * (3.0 - 2.0 * t)
    };
    let weights: Vec<f32> = mesh.positions.iter().map(|&p| weight(p)).collect();
    let positions: Vec<Vec3> = mesh
        .positions
        .iter()
        .zip(&weights)
        .map(|(&p, &w)| p.lerp(moved.transform_point3(p.as_dvec3()).as_vec3(), w))
        .collect();
    let mut deformed_normals = mesh.normals.clone();
    transport_normals(&mesh, &positions, &mut deformed_normals);
    Posed {
        mesh,
        positions,
        normals: deformed_normals,
        weights,
        generation: 1,
    }
}

/// 64 x 64, eight squares a side, teal and cream; row 0 is the top of the texture, red.
fn checker() -> Image {
    let mut rgba = Vec::new();
    for y in 0..64u32 {
        for x in 0..64u32 {
            let color = match (y < 6, (x / 8 + y / 8) % 2) {
                (true, _) => [200, 40, 40],
                (_, 0) => [60, 138, 140],
                _ => [232, 222, 200],
            };
            rgba.extend(color);
            rgba.push(255);
        }
    }
    Image {
        width: 64,
        height: 64,
        rgba,
    }
}
