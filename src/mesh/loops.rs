//! Edge loops and edge rings of triangulated surfaces.
//!
//! glTF has triangles only, so a loop is found by direction: at each point it goes on along the edge that continues
//! straightest in the tangent plane of the bind pose. On a triangulated grid of quads these are its rows and columns.

use super::{Mesh, PointSet};
use glam::Vec3;
use std::collections::HashSet;

/// The cosine of the largest turn of a loop at a point, 37°: less than from a row of quads to its diagonals.
const STRAIGHTEST: f32 = 0.8;

/// The points of the edge loops through all edges between `points`; `None` where no two of them share an edge.
pub fn edge_loops(mesh: &Mesh, points: &PointSet) -> Option<PointSet> {
    let mut walk = Walk::new(mesh);
    let edges = walk.edges(points);
    for &(a, b) in &edges {
        let along = walk.position(b) - walk.position(a);
        walk.found.extend([a, b]);
        walk.go(b, along);
        walk.go(a, -along);
    }
    (!edges.is_empty()).then(|| walk.points())
}

/// The points of the edge rings through all edges between `points`: the two loops that run across both ends of each
/// edge. `None` where no two of them share an edge.
pub fn edge_rings(mesh: &Mesh, points: &PointSet) -> Option<PointSet> {
    let mut walk = Walk::new(mesh);
    let edges = walk.edges(points);
    for &(a, b) in &edges {
        let along = walk.position(b) - walk.position(a);
        walk.found.extend([a, b]);
        for end in [a, b] {
            let across = walk.normal(end).cross(along);
            walk.go(end, across);
            walk.go(end, -across);
        }
    }
    (!edges.is_empty()).then(|| walk.points())
}

/// Loops being followed. The sides of a seam are one point here, their lowest.
struct Walk<'a> {
    mesh: &'a Mesh,
    found: HashSet<u32>,
    /// Edges that were followed, lower end first.
    done: HashSet<(u32, u32)>,
}

impl<'a> Walk<'a> {
    fn new(mesh: &'a Mesh) -> Self {
        Self {
            mesh,
            found: HashSet::new(),
            done: HashSet::new(),
        }
    }

    fn position(&self, point: u32) -> Vec3 {
        self.mesh.positions[point as usize]
    }

    /// The points at the position of `point`.
    fn sides(&self, point: u32) -> Vec<u32> {
        let twins = self.mesh.topology().twins(point);
        std::iter::once(point).chain(twins).collect()
    }

    fn lowest(&self, point: u32) -> u32 {
        self.sides(point).into_iter().min().unwrap_or(point)
    }

    fn neighbours(&self, point: u32) -> Vec<u32> {
        let topology = self.mesh.topology();
        let sides = self.sides(point);
        let near = sides.iter().flat_map(|&side| topology.neighbours(side));
        let mut near: Vec<u32> = near.map(|&q| self.lowest(q)).collect();
        near.sort_unstable();
        near.dedup();
        near.retain(|&q| q != point);
        near
    }

    fn normal(&self, point: u32) -> Vec3 {
        let topology = self.mesh.topology();
        let sides = self.sides(point).into_iter();
        let normals = sides.flat_map(|side| topology.normals_of_point(side));
        let sum: Vec3 = normals.map(|n| self.mesh.normals[n as usize]).sum();
        sum.normalize_or_zero()
    }

    /// The edges between `points`, lower end first.
    fn edges(&self, points: &PointSet) -> Vec<(u32, u32)> {
        let ends: HashSet<u32> = points.iter().map(|p| self.lowest(p)).collect();
        let mut edges: Vec<(u32, u32)> = ends
            .iter()
            .flat_map(|&a| self.neighbours(a).into_iter().map(move |b| (a, b)))
            .filter(|(a, b)| a < b && ends.contains(b))
            .collect();
        edges.sort_unstable();
        edges
    }

    /// Follows a loop from `point` in `direction` to its end, or to where another one went.
    fn go(&mut self, mut point: u32, mut direction: Vec3) {
        loop {
            let normal = self.normal(point);
            let flat = |v: Vec3| (v - normal * v.dot(normal)).normalize_or_zero();
            let ahead = flat(direction);
            let here = self.position(point);
            let near = self.neighbours(point).into_iter();
            let turns = near.map(|q| (q, flat(self.position(q) - here).dot(ahead)));
            let best = turns.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
            // A comparison that NaN fails.
            let Some((next, _)) = best.filter(|(_, cos)| *cos >= STRAIGHTEST) else {
                return;
            };
            if !self.done.insert((point.min(next), point.max(next))) {
                return;
            }
            self.found.insert(next);
            direction = self.position(next) - here;
            point = next;
        }
    }

    /// What was found, with all sides of seams.
    fn points(&self) -> PointSet {
        let found = self.found.iter();
        found.flat_map(|&point| self.sides(point)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sheet of `n` x `n` points with the diagonals of all quads in one direction.
    fn sheet(n: u32) -> Mesh {
        let at = |x: u32, y: u32| y * n + x;
        let quads = (0..(n - 1) * (n - 1)).map(|i| (i % (n - 1), i / (n - 1)));
        let triangles = quads.flat_map(|(x, y)| {
            let corner = at(x + 1, y + 1);
            [
                [at(x, y), at(x + 1, y), corner],
                [at(x, y), corner, at(x, y + 1)],
            ]
        });
        let n_points = n * n;
        Mesh {
            positions: (0..n_points)
                .map(|p| Vec3::new((p % n) as f32, (p / n) as f32, 0.0))
                .collect(),
            triangles: triangles.collect(),
            point_of_vertex: (0..n_points).collect(),
            normal_of_vertex: (0..n_points).collect(),
            normals: vec![Vec3::Z; n_points as usize],
            point_of_normal: (0..n_points).collect(),
            ..Mesh::default()
        }
    }

    fn found(set: Option<PointSet>) -> Vec<u32> {
        set.map_or(Vec::new(), |set| set.iter().collect())
    }

    #[test]
    fn a_loop_is_a_row_and_a_ring_the_two_columns_at_the_ends_of_its_edge() {
        let mesh = sheet(5);
        let edge = PointSet::from_iter([11, 12]);
        assert_eq!(found(edge_loops(&mesh, &edge)), [10, 11, 12, 13, 14]);
        let columns: Vec<u32> = (0..25).filter(|p| [1, 2].contains(&(p % 5))).collect();
        assert_eq!(found(edge_rings(&mesh, &edge)), columns);
        // A diagonal is an edge as well.
        let diagonal = PointSet::from_iter([12, 18]);
        assert_eq!(found(edge_loops(&mesh, &diagonal)), [0, 6, 12, 18, 24]);
        let apart = PointSet::from_iter([1, 3, 23]);
        assert_eq!(edge_loops(&mesh, &apart), None);
        assert_eq!(edge_rings(&mesh, &PointSet::default()), None);
    }

    #[test]
    fn a_loop_closes_around_a_tube() {
        const SIDES: u32 = 8;
        let mut mesh = sheet(SIDES);
        for (p, place) in mesh.positions.iter_mut().enumerate() {
            let (turn, height) = ((p as u32 % SIDES) as f32 / SIDES as f32, place.y);
            let (sin, cos) = (turn * std::f32::consts::TAU).sin_cos();
            *place = Vec3::new(cos, sin, height);
            mesh.normals[p] = Vec3::new(cos, sin, 0.0);
        }
        for y in 0..SIDES - 1 {
            let at = |x: u32, y: u32| y * SIDES + x;
            let (a, b) = (at(SIDES - 1, y), at(0, y));
            let (c, d) = (at(SIDES - 1, y + 1), at(0, y + 1));
            mesh.triangles.extend([[a, b, d], [a, d, c]]);
        }
        let edge = PointSet::from_iter([3 * SIDES + 7, 3 * SIDES]);
        let row: Vec<u32> = (3 * SIDES..4 * SIDES).collect();
        assert_eq!(found(edge_loops(&mesh, &edge)), row);
    }
}
