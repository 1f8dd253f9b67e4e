//! Patch layouts: every vertex has a place, whatever the surface and the clusters.

use crate::cluster_shapes::{Arm, both, cube, marked, numbers, sphere, torus, tube};
use glam::{DQuat, DVec3};
use sinew::cluster::{AnchorFits, ClusterSurface, Layout};
use sinew::task::{Cancelled, Task};
use std::collections::{BTreeMap, BTreeSet};

/// The layout, checked.
fn layout(surface: &ClusterSurface, clusters: &[bool]) -> Layout {
    let layout = Layout::new(surface, clusters, &Task::new()).unwrap();
    check(surface, clusters, &layout);
    layout
}

/// Every vertex is a corner, free or excluded; the coarse triangles are wound and connected as the surface is.
fn check(surface: &ClusterSurface, clusters: &[bool], layout: &Layout) {
    let free = layout.free.iter().map(|f| f.vertex);
    let mut all: Vec<u32> = layout.corners.clone();
    all.extend(free.chain(layout.excluded.iter().copied()));
    all.sort_unstable();
    assert!(all.into_iter().eq(0..surface.n_vertices() as u32));
    for &corner in &layout.corners {
        let is_anchor = layout.anchors.binary_search(&corner).is_ok();
        assert_ne!(is_anchor, clusters[corner as usize]);
    }
    for free in &layout.free {
        assert!((free.triangle as usize) < layout.triangles.len());
        let u = free.barycentric;
        assert!(u.iter().all(|v| (0.0..=1.0).contains(v)), "{u:?}");
        assert!((u.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{u:?}");
    }
    let excluded: BTreeSet<u32> = layout.excluded.iter().copied().collect();
    let included = surface.triangles.iter().copied();
    let included: Vec<[u32; 3]> = included.filter(|t| !excluded.contains(&t[0])).collect();
    let (fine, coarse) = (Edges::of(&included), Edges::of(&layout.triangles));
    assert_eq!(fine.euler(), coarse.euler(), "Euler characteristic");
    assert_eq!(fine.n_components(), coarse.n_components(), "components");
    // An edge of one triangle each way, unless the surface itself has others there.
    for (edge, uses) in &coarse.uses {
        assert!(
            uses[0] <= 1 && uses[1] <= 1 || fine.uses.get(edge).is_some_and(|f| f[0] + f[1] > 2),
            "edge {edge:?} {uses:?}"
        );
    }
    let mut distinct: Vec<[u32; 3]> = layout.triangles.clone();
    for t in &mut distinct {
        t.sort_unstable();
        assert!(t[0] < t[1] && t[1] < t[2]);
        assert!(t.iter().all(|&v| layout.corner_of_vertex(v).is_some()));
    }
    distinct.sort_unstable();
    assert!(distinct.windows(2).all(|w| w[0] != w[1]));
}

/// Edges, by lower and higher vertex, with how many triangles run along each in either direction.
struct Edges {
    uses: BTreeMap<(u32, u32), [u32; 2]>,
    vertices: BTreeSet<u32>,
    n_triangles: usize,
}

impl Edges {
    fn of(triangles: &[[u32; 3]]) -> Self {
        let mut uses: BTreeMap<(u32, u32), [u32; 2]> = BTreeMap::new();
        for t in triangles {
            for i in 0..3 {
                let (a, b) = (t[i], t[(i + 1) % 3]);
                uses.entry((a.min(b), a.max(b))).or_default()[usize::from(a > b)] += 1;
            }
        }
        Self {
            uses,
            vertices: triangles.iter().flatten().copied().collect(),
            n_triangles: triangles.len(),
        }
    }

    fn euler(&self) -> i64 {
        self.vertices.len() as i64 - self.uses.len() as i64 + self.n_triangles as i64
    }

    fn n_components(&self) -> usize {
        let mut number: BTreeMap<u32, u32> = self.vertices.iter().map(|&v| (v, v)).collect();
        let lead = |number: &BTreeMap<u32, u32>, mut v: u32| {
            while number[&v] != v {
                v = number[&v];
            }
            v
        };
        for &(a, b) in self.uses.keys() {
            let (a, b) = (lead(&number, a), lead(&number, b));
            number.insert(a.max(b), a.min(b));
        }
        number.iter().filter(|(v, lead)| v == lead).count()
    }
}

#[test]
fn the_arm_is_covered_at_every_density() {
    let Some(arm) = Arm::load("the_arm_is_covered_at_every_density") else {
        return;
    };
    for (percent, corners, triangles) in [("05", 182, 357), ("10", 365, 719), ("20", 731, 1445)] {
        let found = layout(&arm.surface, &arm.clusters(percent));
        assert_eq!(found.corners.len(), corners);
        assert_eq!(found.triangles.len(), triangles);
        assert!(found.anchors.is_empty() && found.excluded.is_empty());
        // The same decimation as the reference's, up to rounding of its keys.
        let set = |t: &[[u32; 3]]| -> BTreeSet<[u32; 3]> {
            let mut t = t.to_vec();
            for t in &mut t {
                t.sort_unstable();
            }
            t.into_iter().collect()
        };
        let (own, theirs) = (set(&found.triangles), set(&arm.layout_triangles(percent)));
        let same = own.intersection(&theirs).count();
        println!("{percent} %: {same} of {triangles} triangles as in the reference");
    }
}

#[test]
fn few_clusters_on_an_arm_get_anchors() {
    let Some(arm) = Arm::load("few_clusters_on_an_arm_get_anchors") else {
        return;
    };
    let n = arm.surface.n_vertices();
    let none = layout(&arm.surface, &arm.marked([]));
    assert_eq!((none.excluded.len(), none.triangles.len()), (n, 0));
    for clusters in 1..=3 {
        let vertices = numbers(7, n).take(clusters);
        let found = layout(&arm.surface, &arm.marked(vertices));
        println!("{clusters} clusters: {} anchors", found.anchors.len());
        assert!((1..=3).contains(&found.anchors.len()));
    }
    let random = layout(&arm.surface, &arm.marked(numbers(1, n).take(n / 50)));
    println!("2 % random: {} anchors", random.anchors.len());
    assert!(random.anchors.len() <= 4);
}

#[test]
fn rings_lines_and_regions_are_laid_out() {
    let (columns, rows) = (24, 41);
    let tube = tube(columns, rows, 0.5, 4.0);
    let n = columns * rows;
    let ring = layout(&tube, &marked(n, columns * 20..columns * 21));
    let spine = layout(&tube, &marked(n, (0..rows).map(|row| row * columns)));
    let region = layout(&tube, &marked(n, columns * 15..columns * 25));
    println!(
        "anchors: ring {}, spine {}, region {}",
        ring.anchors.len(),
        spine.anchors.len(),
        region.anchors.len()
    );
    for found in [&ring, &spine, &region] {
        assert!((1..=6).contains(&found.anchors.len()));
    }
    let all = layout(&tube, &marked(n, 0..n));
    assert!(all.free.is_empty() && all.anchors.is_empty());
    assert_eq!(all.triangles.len(), tube.triangles.len());
    // Clumped: many clusters in few places.
    let places: Vec<usize> = numbers(3, n).take(8).collect();
    let clumped = numbers(4, n * 8).take(n / 10).map(|i| {
        let place = places[i % 8];
        (place + (i / 8) % 4 + columns * ((i / 32) % 4)).min(n - 1)
    });
    layout(&tube, &marked(n, clumped));
}

#[test]
fn closed_surfaces_keep_their_topology() {
    let ball = sphere(20, 15);
    let found = layout(&ball, &marked(ball.n_vertices(), [0, 77, 200]));
    assert_eq!(found.anchors.len(), 1, "a sphere needs four corners");
    assert_eq!(found.triangles.len(), 4);
    let ring = torus(24, 48);
    let n = ring.n_vertices();
    let sixty = layout(&ring, &marked(n, numbers(5, n).take(60)));
    println!("torus: {} anchors beside 60 clusters", sixty.anchors.len());
    assert!(sixty.anchors.len() <= 1);
    let one = layout(&ring, &marked(n, [0]));
    println!("torus: {} corners for one cluster", one.corners.len());
    assert!(
        (7..=10).contains(&one.corners.len()),
        "the smallest torus has seven vertices"
    );
    let cube = cube(8);
    let corners = (0..cube.n_vertices()).filter(|&v| {
        cube.positions[v]
            .to_array()
            .iter()
            .all(|c| *c == 0.0 || *c == 1.0)
    });
    let found = layout(&cube, &marked(cube.n_vertices(), corners));
    assert_eq!((found.corners.len(), found.triangles.len()), (8, 12));
}

#[test]
fn components_without_clusters_are_excluded() {
    let (a, b) = (sphere(12, 9), torus(12, 16));
    let surface = both(&a, &b, DVec3::new(5.0, 0.0, 0.0));
    let (n, all) = (a.n_vertices(), surface.n_vertices());
    let first = layout(&surface, &marked(all, [0, 20, 40, 60, 80]));
    assert!(first.excluded.iter().copied().eq(n as u32..all as u32));
    let two = layout(&surface, &marked(all, [0, 20, 40, 60, n + 1, n + 90]));
    assert!(two.excluded.is_empty());
    // An isolated vertex is a corner if it is marked, and excluded if not.
    let mut positions = a.positions.clone();
    positions.extend([DVec3::ONE * 3.0, DVec3::ONE * 4.0]);
    let surface = ClusterSurface::from_triangles(positions, &a.triangles);
    let found = layout(&surface, &marked(n + 2, [0, 20, 40, 60, n]));
    assert_eq!(found.excluded, [n as u32 + 1]);
    assert!(found.corner_of_vertex(n as u32).is_some());
    let empty = layout(&ClusterSurface::default(), &[]);
    assert_eq!(empty, Layout::default());
}

#[test]
fn fins_coincident_vertices_and_slivers_break_nothing() {
    // A sheet with a fin: two edges have three faces.
    let sheet = tube(16, 17, 1.0, 4.0);
    let n = sheet.n_vertices();
    let mut positions = sheet.positions.clone();
    let mut triangles = sheet.triangles.clone();
    let ridge = [8 * 16, 9 * 16, 10 * 16];
    positions.extend(ridge[..2].iter().map(|&v| sheet.positions[v] * 1.5));
    let fin = [n as u32, n as u32 + 1];
    let r = ridge.map(|v| v as u32);
    triangles.extend([
        [r[0], r[1], fin[0]],
        [r[1], r[2], fin[1]],
        [fin[0], r[1], fin[1]],
    ]);
    let surface = ClusterSurface::from_triangles(positions, &triangles);
    let clusters = marked(n + 2, numbers(9, n).take(40));
    let found = layout(&surface, &clusters);
    for v in r {
        assert!(found.corner_of_vertex(v).is_some(), "vertex {v} of a fin");
    }
    println!("fin: {} anchors", found.anchors.len());
    // All in one place; all on a line; two vertices of a triangle in one place.
    for place in [
        |_: DVec3| DVec3::ONE,
        |p: DVec3| DVec3::new(0.0, 0.0, p.z),
        |p: DVec3| (p * 2.0).round() / 2.0,
        |p: DVec3| p * 1e-30,
        |p: DVec3| p * 1e30,
        |p: DVec3| p + DVec3::X * 1e8,
    ] {
        let positions = sheet.positions.iter().map(|&p| place(p)).collect();
        let surface = ClusterSurface::from_triangles(positions, &sheet.triangles);
        layout(&surface, &marked(n, numbers(9, n).take(30)));
    }
    // A face turned round: its edges are run along twice in one direction.
    let mut turned = sheet.triangles.clone();
    turned[100].swap(0, 1);
    let surface = ClusterSurface::from_triangles(sheet.positions.clone(), &turned);
    let found = Layout::new(&surface, &marked(n, [0, 50, 200]), &Task::new()).unwrap();
    assert!(
        turned[100]
            .iter()
            .all(|&v| found.corner_of_vertex(v).is_some())
    );
    // A pole of two thousand triangles.
    let wheel = sphere(2000, 2);
    layout(
        &wheel,
        &marked(wheel.n_vertices(), numbers(2, 4000).take(25)),
    );
}

#[test]
fn random_clusters_on_random_surfaces_are_covered() {
    let mut draw = numbers(11, usize::MAX >> 1);
    for _ in 0..60 {
        let mut next = |n: usize| draw.next().unwrap() % n;
        let surface = match next(4) {
            0 => tube(3 + next(20), 2 + next(20), 1.0, 0.1 + next(9) as f64),
            1 => torus(3 + next(20), 3 + next(20)),
            2 => sphere(3 + next(20), 2 + next(20)),
            _ => cube(1 + next(9)),
        };
        let n = surface.n_vertices();
        let noise = [0.0, 0.1, 1.0][next(3)] * surface.diagonal() / (n as f64).sqrt();
        let positions = surface.positions.iter().map(|p| {
            let mut random = || next(1000) as f64 / 1000.0 - 0.5;
            *p + DVec3::new(random(), random(), random()) * noise
        });
        let positions = positions.collect();
        let surface = ClusterSurface::from_triangles(positions, &surface.triangles);
        let count = next(n / 4 + 2);
        let clusters: Vec<usize> = (0..count).map(|_| next(n)).collect();
        layout(&surface, &marked(n, clusters));
    }
}

#[test]
fn a_layout_is_the_same_every_time_and_can_be_cancelled() {
    let ball = sphere(40, 39);
    let clusters = marked(ball.n_vertices(), numbers(1, ball.n_vertices()).take(60));
    let first = layout(&ball, &clusters);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap();
    assert_eq!(first, pool.install(|| layout(&ball, &clusters)));
    let task = Task::new();
    task.cancel();
    assert_eq!(Layout::new(&ball, &clusters, &task), Err(Cancelled));
}

#[test]
fn anchors_follow_the_clusters_near_them() {
    let (columns, rows) = (24, 41);
    let tube = tube(columns, rows, 0.5, 4.0);
    let n = columns * rows;
    let turn = DQuat::from_euler(glam::EulerRot::XYZ, 0.4, -1.2, 2.0);
    let ring: Vec<usize> = (columns * 20..columns * 21).collect();
    let spine: Vec<usize> = (0..rows).map(|row| row * columns).collect();
    for (clusters, is_line) in [(ring, false), (spine, true)] {
        let found = layout(&tube, &marked(n, clusters));
        assert!(!found.anchors.is_empty());
        let fits = AnchorFits::new(&tube, &found);
        let bind: Vec<DVec3> = found
            .corners
            .iter()
            .map(|&v| tube.positions[v as usize])
            .collect();
        let is_anchor = |i: usize| found.anchors.binary_search(&found.corners[i]).is_ok();
        let moved = |map: &dyn Fn(DVec3) -> DVec3| {
            let place = |i: usize| {
                if is_anchor(i) {
                    DVec3::NAN
                } else {
                    map(bind[i])
                }
            };
            let mut x: Vec<DVec3> = (0..bind.len()).map(place).collect();
            fits.place(&mut x, |_| false);
            x
        };
        let far = |x: &[DVec3], map: &dyn Fn(DVec3) -> DVec3| {
            let distances = x.iter().zip(&bind).map(|(x, p)| x.distance(map(*p)));
            distances.fold(0.0, |most, d| if d > most || d.is_nan() { d } else { most })
        };
        // Clusters on a line leave the turn about it open: they take the smallest.
        let about_line = DQuat::from_rotation_x(0.7);
        let rigid = |p: DVec3| (if is_line { about_line } else { turn }) * p + DVec3::ONE;
        let error = far(&moved(&rigid), &rigid);
        assert!(error < 1e-12, "line: {is_line}, {error:e}");
        let shift = |p: DVec3| p + DVec3::new(3.0, -1.0, 0.5);
        assert!(far(&moved(&shift), &shift) < 1e-12);
    }
    // A single cluster takes its anchors along.
    let ball = sphere(12, 9);
    let found = layout(&ball, &marked(ball.n_vertices(), [40]));
    let mut x: Vec<DVec3> = found
        .corners
        .iter()
        .map(|&v| ball.positions[v as usize] + DVec3::Y)
        .collect();
    let expected = x.clone();
    for (i, place) in x.iter_mut().enumerate() {
        if found.corners[i] != 40 {
            *place = DVec3::NAN;
        }
    }
    AnchorFits::new(&ball, &found).place(&mut x, |_| false);
    assert!(x.iter().zip(&expected).all(|(a, b)| a.distance(*b) < 1e-12));
}
