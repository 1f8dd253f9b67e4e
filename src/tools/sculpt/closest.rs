//! The positions on the surface of the press that are closest to given ones, which Slide moves points to.

use crate::mesh::spatial::{ClosestPosition, closest_of, walk};
use crate::mesh::{Mesh, SurfaceIndex};
use glam::Vec3;

/// Positions that are searched for together: those of neighbours, which share most of the triangles that may be closest.
const TOGETHER: usize = 16;

/// With more triangles that may be closest, each position is searched for by itself.
const MOST_CANDIDATES: usize = 128;

/// A search for closest positions.
pub(super) struct ClosestSearch<'a> {
    mesh: &'a Mesh,
    /// n_points.
    start: &'a [Vec3],
    index: &'a SurfaceIndex,
    /// Metres: below the rounding of positions.
    negligible: f32,
    triangles: &'a [[u32; 3]],
    /// n_points.
    islands: &'a [u32],
    /// Triangles that may be closest to one of the positions that are searched for together, with their boxes.
    candidates: Vec<(u32, [Vec3; 2])>,
}

/// A position to search from.
pub(super) struct Query {
    /// A point: only its island counts, and it is no farther away than the result.
    pub(super) point: u32,
    /// The position to search from, world.
    pub(super) place: Vec3,
}

impl<'a> ClosestSearch<'a> {
    /// On the surface of `mesh` with its points at `start`, of which `index` is. `negligible`: metres, below the rounding of
    /// positions.
    pub(super) fn new(
        mesh: &'a Mesh,
        start: &'a [Vec3],
        index: &'a SurfaceIndex,
        negligible: f32,
    ) -> Self {
        let topology = mesh.topology();
        Self {
            mesh,
            start,
            index,
            negligible,
            triangles: &topology.triangles,
            islands: topology.islands(mesh.n_points()),
            candidates: Vec::new(),
        }
    }

    /// The closest position for each query; `None` on an island without triangles. `triangles`: one a query, the triangle of
    /// its last result if there was one, replaced by that of the new one. Queries that lie side by side in the list and on the
    /// surface are found fastest.
    pub(super) fn find(
        &mut self,
        queries: &[Query],
        triangles: &mut [Option<u32>],
    ) -> Vec<Option<Vec3>> {
        let mut found = Vec::with_capacity(queries.len());
        let mut before = None;
        let parts = queries.chunks(TOGETHER);
        for (queries, triangles) in parts.zip(triangles.chunks_mut(TOGETHER)) {
            let mut reaches = [0.0; TOGETHER];
            let mut limits = [Vec3::MAX, Vec3::MIN];
            for ((query, triangle), reach) in queries.iter().zip(&*triangles).zip(&mut reaches) {
                let near = [*triangle, before];
                let (distance, under) = self.reach(query, near);
                *reach = distance;
                before = under.or(before);
                limits[0] = limits[0].min(query.place - distance);
                limits[1] = limits[1].max(query.place + distance);
            }
            let together = self.collect(limits);
            for ((query, triangle), reach) in queries.iter().zip(triangles).zip(reaches) {
                let result = if together {
                    self.nearest_candidate(query, reach)
                } else {
                    self.search(query, reach)
                };
                *triangle = result.map(|result| result.triangle);
                found.push(result.map(|result| self.position(&result)));
            }
        }
        found
    }

    /// A distance within which the surface has a position for the query, and the triangle that shows it. `near`: triangles
    /// that may be near.
    fn reach(&self, query: &Query, near: [Option<u32>; 2]) -> (f32, Option<u32>) {
        let Query { point, place } = *query;
        let start = self.start;
        let mut reach = start[point as usize].distance(place);
        let square = |t: &u32| {
            let corner = self.triangles[*t as usize][0];
            start[corner as usize].distance_squared(place)
        };
        let own = near.into_iter().flatten();
        let own = own.filter(|&t| self.island(t) == self.islands[point as usize]);
        let nearest = own.min_by(|a, b| square(a).total_cmp(&square(b)));
        // From the nearest known triangle it is a few steps to one that is mostly as near as the surface: the search has little
        // left to look at.
        let under = nearest.map(|nearest| {
            let topology = self.mesh.topology();
            walk(place, nearest, self.triangles, start, |p| topology.faces(p))
        });
        if let Some(under) = under {
            let found = closest_of(place, under, self.triangles, start);
            reach = reach.min(found.distance());
        }
        // A little more, for rounding.
        (reach * 1.001 + self.negligible, under)
    }

    /// Collects the triangles that meet a box; whether there are few enough of them.
    fn collect(&mut self, limits: [Vec3; 2]) -> bool {
        let (triangles, start) = (self.triangles, self.start);
        let found = &mut self.candidates;
        (self.index).meeting(limits, MOST_CANDIDATES, triangles, start, found)
    }

    /// The closest position on the candidates; of equals that of the lowest triangle.
    fn nearest_candidate(&self, query: &Query, reach: f32) -> Option<ClosestPosition> {
        let Query { point, place } = *query;
        let island = self.islands[point as usize];
        let mut best: Option<ClosestPosition> = None;
        let mut square = reach * reach;
        for &(triangle, [low, high]) in &self.candidates {
            let beside = (low - place).max(place - high).max(Vec3::ZERO);
            if beside.length_squared() > square || self.island(triangle) != island {
                continue;
            }
            let found = closest_of(place, triangle, self.triangles, self.start);
            let is_lower = |best: &ClosestPosition| {
                found.square == best.square && found.triangle < best.triangle
            };
            if found.square < square || best.as_ref().is_none_or(is_lower) && found.square <= square
            {
                square = found.square;
                best = Some(found);
            }
        }
        best
    }

    /// The closest position of the whole surface.
    fn search(&self, query: &Query, reach: f32) -> Option<ClosestPosition> {
        let island = self.islands[query.point as usize];
        let is_own = |t: u32| self.island(t) == island;
        (self.index).closest(query.place, reach, self.triangles, self.start, is_own)
    }

    fn island(&self, triangle: u32) -> u32 {
        self.islands[self.triangles[triangle as usize][0] as usize]
    }

    fn position(&self, found: &ClosestPosition) -> Vec3 {
        let corners = self.triangles[found.triangle as usize].iter();
        let corners = corners.zip(found.barycentric.to_array());
        corners
            .map(|(&p, share)| self.start[p as usize] * share)
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A wavy sheet of 40 x 40 points, and above it one of its own.
    fn sheets() -> Mesh {
        let (mut positions, mut triangles) = (Vec::new(), Vec::new());
        for height in [0.0, 0.1] {
            let first = positions.len() as u32;
            for (i, k) in (0..1600).map(|n| (n % 40, n / 40)) {
                let (x, y) = (i as f32 * 0.025, k as f32 * 0.025);
                let wave = 0.05 * (x * 9.0).sin() * (y * 7.0).cos();
                positions.push(Vec3::new(x, y, height + wave));
                if i > 0 && k > 0 {
                    let corner = first + k * 40 + i;
                    triangles.push([corner, corner - 40, corner - 1]);
                    triangles.push([corner - 1, corner - 40, corner - 41]);
                }
            }
        }
        let n = positions.len();
        Mesh {
            positions,
            triangles,
            point_of_vertex: (0..n as u32).collect(),
            normal_of_vertex: vec![0; n],
            normals: vec![Vec3::Z],
            point_of_normal: vec![0],
            ..Mesh::default()
        }
    }

    #[test]
    fn found_together_or_alone_positions_are_the_closest_of_their_island() {
        let mesh = sheets();
        let start = mesh.positions.clone();
        let index = SurfaceIndex::new(&mesh.topology().triangles, &start);
        // A little aside, where candidates are few, and far, where they are not.
        for step in [0.01, 0.4] {
            let mut search = ClosestSearch::new(&mesh, &start, &index, 1e-7);
            let queries = (0..800u32).map(|point| Query {
                point,
                place: start[point as usize]
                    + Vec3::new(step, 0.3 * step, step * (point as f32 * 0.37).sin()),
            });
            let queries: Vec<Query> = queries.collect();
            let mut triangles = vec![None; queries.len()];
            let first = search.find(&queries, &mut triangles);
            // From what was found, too.
            let again = search.find(&queries, &mut triangles);
            for ((query, found), again) in queries.iter().zip(first).zip(again) {
                let lower = 2 * 39 * 39;
                let all = (0..lower)
                    .map(|t| closest_of(query.place, t, &mesh.topology().triangles, &start));
                let least = all.map(|c| c.square).fold(f32::MAX, f32::min).sqrt();
                for found in [found, again] {
                    let distance = found.unwrap().distance(query.place);
                    assert!((distance - least).abs() < 1e-6, "{distance} {least}");
                }
            }
        }
    }
}
