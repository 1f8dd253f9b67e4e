use super::*;
use glam::Vec3;

/// A sheet of (2 n + 1) x n points around x = 0, its quads cut towards the middle on both sides.
fn sheet(n: u32) -> Mesh {
    let wide = 2 * n + 1;
    let point = |x: u32, y: u32| y * wide + x;
    let positions = (0..wide * n)
        .map(|i| {
            let (x, y) = ((i % wide) as f32 - n as f32, (i / wide) as f32);
            Vec3::new(x * 0.1, y * 0.1, (x.abs() * 0.7 + y * 1.3).sin() * 0.05)
        })
        .collect();
    let mut triangles = Vec::new();
    for y in 0..n - 1 {
        for x in 0..wide - 1 {
            let [a, b, c, d] = [
                point(x, y),
                point(x + 1, y),
                point(x + 1, y + 1),
                point(x, y + 1),
            ];
            triangles.extend(if x < n {
                [[a, b, c], [a, c, d]]
            } else {
                [[a, b, d], [b, c, d]]
            });
        }
    }
    mesh(positions, triangles)
}

fn mesh(positions: Vec<Vec3>, triangles: Vec<[u32; 3]>) -> Mesh {
    let n = positions.len();
    Mesh {
        point_of_vertex: (0..n as u32).collect(),
        normal_of_vertex: vec![0; n],
        normals: vec![Vec3::Z],
        point_of_normal: vec![0],
        positions,
        triangles,
        ..Mesh::default()
    }
}

fn found(mesh: &Mesh, tolerance: f32) -> Symmetry {
    let symmetry = Symmetry::find(mesh, Axis::X, tolerance, &Task::new()).unwrap();
    for p in 0..mesh.n_points() as u32 {
        if let Some(q) = symmetry.partner(p) {
            assert_eq!(symmetry.partner(q), Some(p), "{p} - {q}");
        }
    }
    symmetry
}

fn image(n: u32, point: u32) -> u32 {
    let wide = 2 * n + 1;
    point / wide * wide + (wide - 1 - point % wide)
}

#[test]
fn a_symmetric_sheet_matches_by_position() {
    let mesh = sheet(10);
    let symmetry = found(&mesh, 0.01);
    for p in 0..210 {
        assert_eq!(symmetry.found(p), Some((image(10, p), FoundBy::Position)));
    }
    let counts = symmetry.counts();
    assert_eq!(
        (counts.centre, counts.position, counts.unmatched),
        (10, 200, 0)
    );
    assert_eq!(symmetry.centre_points().count(), 10);
    assert!(symmetry.unmatched().is_empty());
    let other = Symmetry::find(&mesh, Axis::Y, 0.0, &Task::new()).unwrap();
    assert!(other.counts().unmatched > 100);
}

#[test]
fn a_sheet_beside_the_origin_needs_its_centre() {
    let mut mesh = sheet(6);
    mesh.positions.iter_mut().for_each(|p| p.x += 3.0);
    assert_eq!(found(&mesh, 0.001).counts().position, 0);
    let about = Symmetry::find_about(&mesh, Axis::X, 3.0, 0.0, &Task::new()).unwrap();
    assert_eq!(about.counts().unmatched, 0);
    assert_eq!(about.partner(0), Some(12));
}

#[test]
fn a_side_that_was_moved_matches_by_its_faces() {
    let n = 12;
    let mut mesh = sheet(n);
    // One side is bent away, farther than the next points are apart, and jittered.
    for (i, p) in mesh
        .positions
        .iter_mut()
        .enumerate()
        .filter(|(_, p)| p.x > 0.05)
    {
        let jitter = Vec3::new((i as f32).sin(), (i as f32 * 1.7).cos(), 0.0) * 0.01;
        *p += Vec3::new(0.0, -0.4 * p.x, 0.5 * p.x * p.x) + jitter;
    }
    let symmetry = found(&mesh, 0.001);
    for p in 0..mesh.n_points() as u32 {
        assert_eq!(symmetry.partner(p), Some(image(n, p)), "{p}");
    }
    let counts = symmetry.counts();
    assert_eq!(counts.topology, 2 * 12 * 12);
}

#[test]
fn quads_cut_the_same_way_on_both_sides_still_match() {
    let n = 8;
    let mut mesh = sheet(n);
    let wide = 2 * n + 1;
    mesh.triangles = (0..n - 1)
        .flat_map(|y| (0..wide - 1).map(move |x| y * wide + x))
        .flat_map(|a| [[a, a + 1, a + wide + 1], [a, a + wide + 1, a + wide]])
        .collect();
    for (i, p) in mesh
        .positions
        .iter_mut()
        .enumerate()
        .filter(|(_, p)| p.x > 0.05)
    {
        *p += Vec3::new((i as f32).sin(), (i as f32 * 1.7).cos(), 0.0) * 0.01;
    }
    let symmetry = found(&mesh, 0.05);
    for p in 0..mesh.n_points() as u32 {
        assert_eq!(symmetry.partner(p), Some(image(n, p)), "{p}");
    }
}

#[test]
fn the_sides_of_a_seam_match_in_order() {
    // Columns 2 and 6 of nine are cut: each point stands there twice.
    let n = 4;
    let mut mesh = sheet(n);
    let wide = 2 * n + 1;
    for (column, left_of) in [(2, true), (6, false)] {
        for y in 0..n {
            let (old, new) = (y * wide + column, mesh.positions.len() as u32);
            mesh.positions.push(mesh.positions[old as usize]);
            for triangle in &mut mesh.triangles {
                let is_outer = triangle.iter().filter(|&&c| c < wide * n).any(|&c| {
                    if left_of {
                        c % wide < column
                    } else {
                        c % wide > column
                    }
                });
                if is_outer {
                    triangle
                        .iter_mut()
                        .filter(|c| **c == old)
                        .for_each(|c| *c = new);
                }
            }
        }
    }
    let n_points = mesh.positions.len();
    mesh.point_of_vertex = (0..n_points as u32).collect();
    mesh.normal_of_vertex = vec![0; n_points];
    let symmetry = found(&mesh, 0.01);
    assert_eq!(symmetry.counts().unmatched, 0);
    for y in 0..n {
        assert_eq!(symmetry.partner(y * wide + 2), Some(y * wide + 6));
        assert_eq!(symmetry.partner(wide * n + y), Some(wide * n + n + y));
    }
}

#[test]
fn points_of_one_side_alone_have_a_substitute() {
    let n = 5;
    let mut mesh = sheet(n);
    let tip = mesh.positions.len() as u32;
    // A seam side without its like, a spike within the tolerance and one beyond it.
    mesh.positions.push(mesh.positions[1]);
    mesh.positions.push(mesh.positions[1] + Vec3::Z * 0.02);
    mesh.positions.push(mesh.positions[1] + Vec3::Z * 5.0);
    mesh.triangles.extend([[tip, tip + 1, tip + 2]]);
    mesh.point_of_vertex = (0..tip + 3).collect();
    mesh.normal_of_vertex = vec![0; tip as usize + 3];
    let symmetry = found(&mesh, 0.05);
    assert_eq!(
        symmetry.unmatched().iter().collect::<Vec<_>>(),
        [tip, tip + 1, tip + 2]
    );
    let other = symmetry.partner(1).unwrap();
    assert_eq!(symmetry.source(tip), Some(other));
    assert_eq!(symmetry.source(tip + 1), Some(other));
    assert_eq!(symmetry.source(tip + 2), None);
    let counts = symmetry.counts();
    assert_eq!((counts.substitutes, counts.unmatched), (2, 1));
}

#[test]
fn points_at_one_position_are_matched_in_order() {
    let n = 20_000;
    let mut all = mesh(vec![Vec3::X; n], Vec::new());
    assert_eq!(found(&all, 0.1).counts().unmatched, n);
    all.positions.fill(Vec3::ZERO);
    all = mesh(all.positions, Vec::new());
    assert_eq!(found(&all, 0.1).counts().centre, n);
}

#[test]
fn a_cancelled_search_stops_and_the_result_does_not_depend_on_the_number_of_threads() {
    let task = Task::new();
    task.cancel();
    assert!(Symmetry::find(&sheet(4), Axis::X, 0.01, &task).is_err());
    let mut mesh = sheet(20);
    for (i, p) in mesh.positions.iter_mut().enumerate() {
        *p += Vec3::splat((i as f32 * 0.37).sin() * 0.004);
    }
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap().install(|| found(&mesh, 0.1))
    };
    assert_eq!(on(1), on(2));
    assert_eq!(on(1), on(7));
}
