//! The points that a dab reaches along the surface: shortest paths along edges.

use super::Stamped;
use crate::mesh::{PointSet, Topology};
use glam::Vec3;

/// Fraction of the length of an edge path used as its geodesic distance, though never less than the straight line: edge
/// paths are longer than geodesics, by up to a quarter on a regular grid.
const ACROSS_EDGES: f32 = 0.8;

/// Number of buckets of the queue. Any number gives the same paths; a bucket should be shorter than most edges.
const N_BUCKETS: usize = 256;

/// The points that a dab reaches, and the memory for finding them, reused between dabs.
#[derive(Debug, Default)]
pub struct Reach {
    /// Points and their distances.
    pub found: Vec<(u32, f32)>,
    cells: Stamped<Cell>,
    /// The points with a cell, in the order in which they were met.
    met: Vec<u32>,
    /// Points that wait, by the length of their path.
    buckets: Vec<Vec<u32>>,
}

/// What is known of a point.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    /// The length of its best path.
    path: f32,
    /// Where that begins.
    start: u32,
    /// Whether its neighbours know of that path.
    is_spread: bool,
}

/// A surface on which paths run.
pub(super) struct Paths<'a> {
    pub(super) topology: &'a Topology,
    /// n_points.
    pub(super) positions: &'a [Vec3],
    /// Points that no path may enter.
    pub(super) hidden: Option<&'a PointSet>,
}

impl Reach {
    /// Forgets what was found.
    pub(super) fn begin(&mut self, n_points: usize) {
        self.found.clear();
        self.met.clear();
        self.cells.start(n_points);
    }

    /// Marks a point. Returns whether it was not marked before.
    pub(super) fn mark(&mut self, point: u32) -> bool {
        let is_new = self.cells.get(point).is_none();
        if is_new {
            self.cells.set(point, Cell::default());
        }
        is_new
    }

    /// Finds the points within `radius` of `starts`, points with the lengths of paths to them, over the shortest paths
    /// along edges (Dijkstra 1959, with buckets: Dial 1969); seams of equal bind position are joined. `at_least`: a lower
    /// bound of a point's distance on a path from a start.
    pub(super) fn spread(
        &mut self,
        on: &Paths<'_>,
        starts: impl IntoIterator<Item = (u32, f32)>,
        radius: f32,
        at_least: impl Fn(u32, u32) -> f32,
    ) {
        self.begin(on.positions.len());
        self.buckets.resize(N_BUCKETS, Vec::new());
        let queue = Queue {
            radius,
            per_metre: N_BUCKETS as f32 * ACROSS_EDGES / radius,
        };
        for (point, path) in starts {
            self.push(&queue, on, point, path, point);
        }
        let mut wave = Vec::new();
        for bucket in 0..N_BUCKETS {
            // A point may come back to the bucket that it is in with a shorter path; what was in earlier ones is final.
            while !self.buckets[bucket].is_empty() {
                std::mem::swap(&mut wave, &mut self.buckets[bucket]);
                for point in wave.drain(..) {
                    self.expand(&queue, on, point);
                }
            }
        }
        for &point in &self.met {
            let Some(cell) = self.cells.get(point) else {
                continue;
            };
            let distance = at_least(point, cell.start).max(cell.path * ACROSS_EDGES);
            if distance <= radius {
                self.found.push((point, distance));
            }
        }
    }

    /// Tells the neighbours of a point of its path, once for each path.
    fn expand(&mut self, queue: &Queue, on: &Paths<'_>, point: u32) {
        let Some(cell) = self.cells.get(point).filter(|cell| !cell.is_spread) else {
            return;
        };
        let told = Cell {
            is_spread: true,
            ..cell
        };
        self.cells.set(point, told);
        if let Some(twin) = on.topology.next_coincident(point) {
            self.push(queue, on, twin, cell.path, cell.start);
        }
        let here = on.positions[point as usize];
        for &next in on.topology.neighbours(point) {
            let step = here.distance(on.positions[next as usize]);
            self.push(queue, on, next, cell.path + step, cell.start);
        }
    }

    fn push(&mut self, queue: &Queue, on: &Paths<'_>, point: u32, path: f32, start: u32) {
        let known = self.cells.get(point);
        // Comparisons that NaN fails.
        let is_nearer =
            path * ACROSS_EDGES <= queue.radius && known.is_none_or(|known| path < known.path);
        if !is_nearer || on.hidden.is_some_and(|hidden| hidden.contains(point)) {
            return;
        }
        if known.is_none() {
            self.met.push(point);
        }
        self.cells.set(
            point,
            Cell {
                path,
                start,
                is_spread: false,
            },
        );
        self.buckets[queue.bucket(path)].push(point);
    }
}

/// Which bucket a path goes to.
struct Queue {
    radius: f32,
    per_metre: f32,
}

impl Queue {
    /// Never an earlier one for a longer path.
    fn bucket(&self, path: f32) -> usize {
        // Saturates; NaN, of a radius of zero, gives 0.
        ((path * self.per_metre) as usize).min(N_BUCKETS - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::Mesh;

    /// Shortest paths by relaxing every edge until nothing changes (Bellman 1958).
    fn by_relaxation(on: &Paths<'_>, starts: &[(u32, f32)], radius: f32) -> Vec<Option<f32>> {
        let mut best: Vec<Option<f32>> = vec![None; on.positions.len()];
        let shorter = |known: Option<f32>, path: f32| {
            path * ACROSS_EDGES <= radius && known.is_none_or(|known| path < known)
        };
        for &(point, path) in starts {
            best[point as usize] = Some(path);
        }
        loop {
            let mut changed = false;
            for point in 0..on.positions.len() as u32 {
                let Some(path) = best[point as usize] else {
                    continue;
                };
                let here = on.positions[point as usize];
                for &next in on.topology.neighbours(point) {
                    let longer = path + here.distance(on.positions[next as usize]);
                    if shorter(best[next as usize], longer) {
                        best[next as usize] = Some(longer);
                        changed = true;
                    }
                }
            }
            if !changed {
                return best;
            }
        }
    }

    #[test]
    fn paths_are_the_shortest_along_edges_at_any_radius() {
        const SIDE: usize = 40;
        let place = |i: usize| {
            let (x, y) = ((i % SIDE) as f32, (i / SIDE) as f32);
            // Edges from a hundredth of a step to four steps, and hills.
            let z = (x * 0.7).sin() * (y * 1.3).cos() * 2.0;
            Vec3::new((x * 0.11).powi(2), y * (y * 0.9).cos().abs(), z)
        };
        let at = |x: usize, y: usize| (y * SIDE + x) as u32;
        let squares = (0..(SIDE - 1) * (SIDE - 1)).map(|i| (i % (SIDE - 1), i / (SIDE - 1)));
        let mesh = Mesh {
            positions: (0..SIDE * SIDE).map(place).collect(),
            triangles: squares
                .flat_map(|(x, y)| {
                    let [a, b, c, d] = [at(x, y), at(x + 1, y), at(x, y + 1), at(x + 1, y + 1)];
                    [[a, b, c], [b, d, c]]
                })
                .collect(),
            point_of_vertex: (0..(SIDE * SIDE) as u32).collect(),
            normal_of_vertex: vec![0; SIDE * SIDE],
            normals: vec![Vec3::Z],
            point_of_normal: vec![0],
            ..Mesh::default()
        };
        let on = Paths {
            topology: mesh.topology(),
            positions: &mesh.positions,
            hidden: None,
        };
        let starts = [(at(3, 5), 0.1), (at(30, 20), 0.0)];
        let mut reach = Reach::default();
        let mut most = 0;
        for radius in [0.0, 0.3, 2.0, 9.0, 1e3, f32::INFINITY] {
            reach.spread(&on, starts, radius, |_, _| 0.0);
            let mut found = std::mem::take(&mut reach.found);
            found.sort_unstable_by_key(|found| found.0);
            let expected = by_relaxation(&on, &starts, radius);
            let expected = expected.iter().enumerate();
            let expected: Vec<(u32, f32)> = expected
                .filter_map(|(p, path)| Some((p as u32, (*path)? * ACROSS_EDGES)))
                .filter(|(_, distance)| *distance <= radius)
                .collect();
            assert_eq!(found, expected, "radius {radius}");
            most = most.max(found.len());
        }
        assert_eq!(most, SIDE * SIDE);
    }
}
