//! How long a picture takes, on the sample with 100,000 points.
//!
//! `cargo bench --no-default-features --features render --bench pictures`; compare rows of one run only.

use glam::Vec3;
use sinew::document::Material;
use sinew::math::camera::{Camera, View};
use sinew::mesh::Mesh;
use sinew::sample::{SampleKind, sample};
use sinew::view::{Offscreen, PointMarks, Scene, SceneMesh, Shading, ViewOptions, frame_bounds};
use std::time::{Duration, Instant};

const SIZE: [u32; 2] = [1280, 800];
const PICTURES: u64 = 15;

/// Median time of an orbit's pictures and of a new pose's pictures.
fn cost(offscreen: &mut Offscreen, mesh: &Mesh, shading: Shading, samples: u32) -> [Duration; 2] {
    let weights: Vec<f32> = mesh.positions.iter().map(|p| p.y.fract().abs()).collect();
    let materials = [Material::default()];
    let mut camera = Camera::looking(View::ThreeQuarter);
    let (centre, radius) = frame_bounds(&mesh.positions).expect("points");
    camera.frame(centre, radius);
    let options = ViewOptions {
        shading,
        samples,
        ..ViewOptions::default()
    };
    [false, true].map(|posed| {
        let mut times: Vec<Duration> = (0..PICTURES + 3)
            .map(|i| {
                camera.yaw += 0.05;
                let scene = Scene {
                    camera: &camera,
                    meshes: vec![SceneMesh {
                        key: 0,
                        mesh,
                        positions: &mesh.positions,
                        normals: &mesh.normals,
                        generation: if posed { i } else { 0 },
                        position_changes: &[],
                        normal_changes: &[],
                        weights: Some(&weights),
                        weights_generation: 0,
                        tints: None,
                        weight_changes: &[],
                        plain_weight: 0.0,
                        materials: &materials,
                        images: &[],
                        marks: PointMarks::default(),
                        highlighted: false,
                    }],
                    bones: &[],
                    ground: 0.0,
                    options: &options,
                };
                let start = Instant::now();
                offscreen
                    .render(&scene, SIZE[0], SIZE[1])
                    .expect("a picture");
                start.elapsed()
            })
            .skip(3)
            .collect();
        times.sort();
        times[times.len() / 2]
    })
}

fn main() {
    let mesh = sample(SampleKind::Mannequin, 100_000).mesh.build().mesh;
    assert!(mesh.positions.iter().all(|p: &Vec3| p.is_finite()));
    let mut offscreen = Offscreen::new().unwrap_or_else(|error| panic!("{error}"));
    for shading in Shading::ALL {
        for samples in [0, 4] {
            let [orbit, pose] = cost(&mut offscreen, &mesh, shading, samples);
            println!("{shading:?} {samples}: orbit {orbit:.1?} pose {pose:.1?}");
        }
    }
}
