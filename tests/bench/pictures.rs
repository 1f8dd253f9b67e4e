//! How long a picture takes, on the sample with 100,000 points.
//!
//! `cargo bench --no-default-features --features render --bench pictures`; compare rows of one run only.
//!
//! With `-- clusters` it draws `assets/clusters.png` instead: the sample arm of control clusters as it bends. Look at it
//! before it goes in.

use glam::Vec3;
use sinew::document::Material;
use sinew::math::camera::{Camera, View};
use sinew::mesh::Mesh;
use sinew::sample::{SampleKind, sample};
use sinew::view::{Offscreen, PointMarks, Scene, SceneMesh, Shading, ViewOptions, frame_bounds};
use std::path::Path;
use std::process::Command;
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
                        data: None,
                        tints: None,
                        weight_changes: &[],
                        plain_weight: 0.0,
                        materials: &materials,
                        images: &[],
                        marks: PointMarks::default(),
                        highlighted: false,
                    }],
                    bones: &[],
                    boxes: &[],
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

/// The pictures of `assets/clusters.png`, row by row: seconds of the clip, shading and view.
const CLUSTERS: [(&str, &str, &str); 6] = [
    ("0", "form", "front"),
    ("0.6", "form", "front"),
    ("1.2", "form", "front"),
    ("1.8", "form", "front"),
    ("2.4", "form", "front"),
    ("2.4", "shaded", "three-quarter"),
];
const COLUMNS: u32 = 3;
/// Of one of them.
const PANE: [u32; 2] = [560, 420];

/// Draws `assets/clusters.png` with `sinew render`: the bend from 0 to 120 degrees.
fn draw_clusters() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let [width, height] = PANE;
    let rows = CLUSTERS.len() as u32 / COLUMNS;
    let mut sheet = image::RgbaImage::new(width * COLUMNS, height * rows);
    for (i, (time, show, view)) in (0u32..).zip(CLUSTERS) {
        let out = folder.path().join("pane.png");
        let size = format!("{width}x{height}");
        let status = Command::new(env!("CARGO_BIN_EXE_sinew"))
            .arg("render")
            .arg(root.join("projects/control-clusters-arm.ron"))
            .args(["--clip", "Bend", "--time", time, "--show", show])
            .args(["--view", view, "--size", &size, "--out"])
            .arg(&out)
            .status();
        assert!(status.expect("sinew").success());
        let pane = image::open(&out).expect("a picture").to_rgba8();
        let (x, y) = (i % COLUMNS * width, i / COLUMNS * height);
        image::imageops::replace(&mut sheet, &pane, i64::from(x), i64::from(y));
    }
    let path = root.join("assets/clusters.png");
    sheet.save(&path).expect("a picture");
    println!("{}", path.display());
}

fn main() {
    if std::env::args().any(|arg| arg == "clusters") {
        draw_clusters();
        return;
    }
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
