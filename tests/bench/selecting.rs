//! What selecting costs on a million points.
//!
//! `cargo bench --no-default-features --bench selecting`; compare rows of one run only.

use glam::Vec2;
use sinew::math::Camera;
use sinew::mesh::{PointSet, islands};
use sinew::sample::{SampleKind, sample};
use sinew::tools::{DepthBuffer, Region, ScreenView, SurfaceView, region};
use std::sync::Arc;
use std::time::Instant;

fn main() {
    let mesh = sample(SampleKind::Cylinder, 1_000_000).mesh.build().mesh;
    let (positions, normals) = (Arc::new(mesh.positions.clone()), mesh.normals.clone());
    let time = |what: &str, run: &mut dyn FnMut()| {
        run();
        let start = Instant::now();
        (0..5).for_each(|_| run());
        println!("{what}: {:.1} ms", start.elapsed().as_secs_f64() * 200.0);
    };
    let start = Instant::now();
    let topology = mesh.topology();
    println!("topology: {:?}", start.elapsed());
    let (mut index, mut stale) = (None, true);
    let surface = SurfaceView {
        mesh: &mesh,
        positions: &positions,
        normals: &normals,
        index: &mut index,
        index_stale: &mut stale,
        unfitted: &mut Vec::new(),
        hidden: None,
    };
    let camera = Camera {
        distance: 14.0,
        ..Camera::default()
    };
    let view = ScreenView::new(&camera, Vec2::new(1400.0, 800.0));
    let region = Region::between(Vec2::new(100.0, 50.0), Vec2::new(1300.0, 750.0));
    time("box, through", &mut || {
        region::points_in(&region, &view, &surface, None);
    });
    time("depth buffer", &mut || {
        DepthBuffer::new(&view, [&surface]);
    });
    let depth = DepthBuffer::new(&view, [&surface]);
    let mut found = PointSet::default();
    time("box, seen only", &mut || {
        found = region::points_in(&region, &view, &surface, Some(&depth));
    });
    println!("{} of {} points", found.count(), mesh.n_points());
    let small = Region::Circle {
        from: Vec2::new(700.0, 400.0),
        to: Vec2::new(720.0, 400.0),
        radius: 25.0,
    };
    time("circle, seen only", &mut || {
        region::points_in(&small, &view, &surface, Some(&depth));
    });
    time("nearest point", &mut || {
        region::nearest_point(
            Vec2::new(700.0, 300.0),
            12.0,
            &view,
            &surface,
            (Some(&depth), None),
        );
    });
    let n = mesh.n_points();
    time("grow", &mut || {
        islands::grow(topology, &found, n);
    });
    let mut others = found.clone();
    others.invert(n);
    time("shrink", &mut || {
        islands::shrink(topology, &found, &others, n);
    });
    let start = Instant::now();
    islands::linked(topology, &found, n);
    println!("linked, the first time: {:?}", start.elapsed());
    time("linked", &mut || {
        islands::linked(topology, &found, n);
    });
    time("invert and count", &mut || {
        let mut set = found.clone();
        set.invert(n);
        set.count();
    });
}
