//! The one-ring of each point for smoothing, with the directions of its neighbours in the tangent plane.

use super::{Mesh, Topology};
use glam::Vec3;
use rayon::prelude::*;
use std::collections::HashMap;

/// Points handed to a thread at a time.
const POINTS_PER_TASK: usize = 4096;

/// Maximum number of points at a seam position: a file whose positions are all equal must not take quadratic time.
const MAX_COINCIDENT: usize = 64;

/// Points at one position that a morph target moves apart by more than this fraction of the mesh's size are no seam.
const MORPH_TOLERANCE: f32 = 1e-5;

/// The ring of neighbours of each point of a [`Mesh`], seams closed, as compressed rows.
///
/// The sides of a seam (points that share their bind position, whose faces meet along edges there) have one row: the
/// ring around all of them. On an open edge the neighbours along that edge come first, and only they are averaged, so
/// that an edge is smoothed along itself and does not shrink into the surface.
///
/// Each neighbour carries the direction in which it lies in the point's tangent plane at bind: two weights whose sums
/// of edges span the plane of any later shape (corrective smooth takes its frames from them).
#[derive(Debug, Default, PartialEq)]
pub struct Rings {
    starts: Vec<u32>,
    /// n_points: the end of the neighbours that are averaged.
    averaged_ends: Vec<u32>,
    /// One point for each neighbouring position, ascending; those along an open edge first.
    neighbours: Vec<u32>,
    /// One for each neighbour: cosine and sine of its direction about the normal, times [`Rings::UNIT`].
    directions: Vec<[i16; 2]>,
    /// The points of each seam position, ascending; positions by their lowest point.
    seam_points: Vec<u32>,
    seam_starts: Vec<u32>,
    seam_of_point: HashMap<u32, u32>,
}

/// The rows of a run of points.
#[derive(Default)]
struct Part {
    lengths: Vec<u32>,
    averaged: Vec<u32>,
    neighbours: Vec<u32>,
    directions: Vec<[i16; 2]>,
}

impl Rings {
    /// The factor of directions.
    pub const UNIT: f32 = 32767.0;

    pub(super) fn new(mesh: &Mesh) -> Self {
        let topology = mesh.topology();
        let mut rings = Self::default();
        rings.find_seams(mesh, topology);
        let n_points = mesh.n_points();
        let parts: Vec<Part> = (0..n_points.div_ceil(POINTS_PER_TASK))
            .into_par_iter()
            .map(|run| {
                let mut part = Part::default();
                let mut corners = Vec::new();
                for point in run * POINTS_PER_TASK..((run + 1) * POINTS_PER_TASK).min(n_points) {
                    rings.push_row(mesh, topology, point as u32, &mut corners, &mut part);
                }
                part
            })
            .collect();
        rings.starts.reserve_exact(n_points + 1);
        rings.averaged_ends.reserve_exact(n_points);
        let n_links = parts.iter().map(|p| p.neighbours.len()).sum();
        rings.neighbours.reserve_exact(n_links);
        rings.directions.reserve_exact(n_links);
        rings.starts.push(0);
        let mut end = 0;
        for part in parts {
            for (length, averaged) in part.lengths.into_iter().zip(part.averaged) {
                rings.averaged_ends.push(end + averaged);
                end += length;
                rings.starts.push(end);
            }
            rings.neighbours.extend(part.neighbours);
            rings.directions.extend(part.directions);
        }
        rings
    }

    /// Number of points.
    pub fn n_points(&self) -> usize {
        self.averaged_ends.len()
    }

    /// All neighbours of a point; a seam position is represented by one of its points.
    #[inline]
    pub fn neighbours(&self, point: u32) -> &[u32] {
        let range = self.starts[point as usize]..self.starts[point as usize + 1];
        &self.neighbours[range.start as usize..range.end as usize]
    }

    /// The neighbours of all points, one point after the other, and where those of a point start.
    #[inline]
    pub(crate) fn row_start(&self, point: u32) -> (&[u32], usize) {
        (&self.neighbours, self.starts[point as usize] as usize)
    }

    /// The directions of all neighbours, as long as the list of [`Rings::row_start`].
    #[inline]
    pub(crate) fn all_directions(&self) -> &[[i16; 2]] {
        &self.directions
    }

    /// The neighbours whose mean a point moves towards.
    #[inline]
    pub fn averaged(&self, point: u32) -> &[u32] {
        let range = self.starts[point as usize]..self.averaged_ends[point as usize];
        &self.neighbours[range.start as usize..range.end as usize]
    }

    /// The points of each seam position, ascending; no point is in two.
    pub fn seams(&self) -> impl Iterator<Item = &[u32]> {
        self.seam_starts
            .windows(2)
            .map(|w| &self.seam_points[w[0] as usize..w[1] as usize])
    }

    /// All points at the seam position of a point; `None` if it is not on a seam.
    #[inline]
    pub fn seam(&self, point: u32) -> Option<&[u32]> {
        if self.seam_of_point.is_empty() {
            return None;
        }
        let seam = *self.seam_of_point.get(&point)? as usize;
        let range = self.seam_starts[seam] as usize..self.seam_starts[seam + 1] as usize;
        Some(&self.seam_points[range])
    }

    /// Neighbours of a point, and the direction in which each lay at bind: cosine and sine about the bind normal, times
    /// [`Rings::UNIT`].
    #[inline]
    pub fn directions(&self, point: u32) -> impl Iterator<Item = (u32, [i16; 2])> + '_ {
        let range = self.starts[point as usize] as usize..self.starts[point as usize + 1] as usize;
        let directions = &self.directions[range.clone()];
        let neighbours = self.neighbours[range].iter();
        neighbours.zip(directions).map(|(&q, &d)| (q, d))
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        (self.starts.capacity()
            + self.averaged_ends.capacity()
            + self.neighbours.capacity()
            + self.directions.capacity()
            + self.seam_points.capacity()
            + self.seam_starts.capacity()
            + 2 * self.seam_of_point.capacity())
            * 4
    }

    /// Joins points at one bind position where open edges of theirs coincide.
    fn find_seams(&mut self, mesh: &Mesh, topology: &Topology) {
        self.seam_starts.push(0);
        // The lowest point at each shared position.
        let mut twins: Vec<u32> = topology.coincident_pairs().map(|(p, _)| p).collect();
        twins.sort_unstable();
        let mut place_of: HashMap<u32, u32> = HashMap::with_capacity(twins.len());
        let mut places: Vec<Vec<u32>> = Vec::new();
        for &point in &twins {
            if place_of.contains_key(&point) {
                continue;
            }
            let mut members = vec![point];
            place_of.insert(point, point);
            let mut at = point;
            while let Some(next) = topology.next_coincident(at).filter(|&n| n != point) {
                place_of.insert(next, point);
                members.push(next);
                at = next;
            }
            if members.len() <= MAX_COINCIDENT {
                members.sort_unstable();
                places.push(members);
            }
        }
        let place = |point: u32| place_of.get(&point).copied().unwrap_or(point);
        let size = bounding_size(&mesh.positions);
        let together = |a: u32, b: u32| {
            mesh.morphs.iter().all(|m| {
                m.deltas[a as usize].distance(m.deltas[b as usize]) <= MORPH_TOLERANCE * size
            })
        };
        let mut corners = Vec::new();
        for members in places {
            // (end of an open edge, its point)
            let mut open: Vec<(u32, u32)> = Vec::new();
            for &point in &members {
                gather_corners(topology, &[point], |q| q, &mut corners);
                let edges = corners.chunk_by(|a, b| a == b).filter(|c| c.len() == 1);
                open.extend(edges.map(|c| (place(c[0]), point)));
            }
            open.sort_unstable();
            let mut lead: HashMap<u32, u32> = members.iter().map(|&p| (p, p)).collect();
            for edge in open.chunk_by(|a, b| a.0 == b.0) {
                for pair in edge.windows(2).filter(|w| together(w[0].1, w[1].1)) {
                    let (a, b) = (lead[&pair[0].1], lead[&pair[1].1]);
                    for value in lead.values_mut().filter(|v| **v == a.max(b)) {
                        *value = a.min(b);
                    }
                }
            }
            let mut joined: Vec<(u32, u32)> = lead.into_iter().map(|(p, l)| (l, p)).collect();
            joined.sort_unstable();
            for seam in joined.chunk_by(|a, b| a.0 == b.0).filter(|s| s.len() > 1) {
                let index = self.seam_starts.len() as u32 - 1;
                for &(_, point) in seam {
                    self.seam_points.push(point);
                    self.seam_of_point.insert(point, index);
                }
                self.seam_starts.push(self.seam_points.len() as u32);
            }
        }
    }

    /// Adds the row of a point.
    fn push_row(
        &self,
        mesh: &Mesh,
        topology: &Topology,
        point: u32,
        corners: &mut Vec<u32>,
        part: &mut Part,
    ) {
        let lead = |q: u32| self.seam(q).map_or(q, |seam| seam[0]);
        let own = [point];
        let members = self.seam(point).unwrap_or(&own);
        gather_corners(topology, members, lead, corners);
        let first = part.neighbours.len();
        // A neighbour at the end of an open edge is the corner of one face only.
        let single = |open: bool| {
            corners
                .chunk_by(|a, b| a == b)
                .filter(move |c| (c.len() == 1) == open)
                .map(|c| c[0])
        };
        part.neighbours.extend(single(true));
        let n_open = part.neighbours.len() - first;
        part.neighbours.extend(single(false));
        let n_all = part.neighbours.len() - first;
        part.lengths.push(n_all as u32);
        let n_averaged = if n_open >= 2 { n_open } else { n_all };
        part.averaged.push(n_averaged as u32);

        let positions = &mesh.positions;
        let normal: Vec3 = members
            .iter()
            .flat_map(|&m| topology.faces(m))
            .map(|&f| {
                let [a, b, c] = topology.triangles[f as usize].map(|p| positions[p as usize]);
                (b - a).cross(c - a)
            })
            .sum();
        let normal = normal.try_normalize().unwrap_or(Vec3::Y);
        let here = positions[point as usize];
        let edges = || {
            part.neighbours[first..]
                .iter()
                .map(|&q| (positions[q as usize] - here).normalize_or_zero())
        };
        let tangent = edges()
            .find_map(|e| (e - normal * e.dot(normal)).try_normalize())
            .unwrap_or_else(|| normal.any_orthonormal_vector());
        let bitangent = normal.cross(tangent);
        let quantised = |v: f32| (v * Self::UNIT).round() as i16;
        part.directions
            .extend(edges().map(|e| [quantised(e.dot(tangent)), quantised(e.dot(bitangent))]));
    }
}

/// The other corners of all faces at `points`, sorted: a corner of two faces appears twice.
fn gather_corners(
    topology: &Topology,
    points: &[u32],
    lead: impl Fn(u32) -> u32,
    corners: &mut Vec<u32>,
) {
    corners.clear();
    for &point in points {
        let own = lead(point);
        for &f in topology.faces(point) {
            let [a, b, c] = topology.triangles[f as usize].map(&lead);
            // A face that degenerates to an edge joins nothing.
            if a != b && b != c && a != c {
                corners.extend([a, b, c].into_iter().filter(|&q| q != own));
            }
        }
    }
    corners.sort_unstable();
}

fn bounding_size(positions: &[Vec3]) -> f32 {
    let (min, max) = positions
        .iter()
        .fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(min, max), &p| {
            (min.min(p), max.max(p))
        });
    (max - min).max_element().max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sheet of `n` x `n` points; `split`: column 1 is there twice, once for each side.
    fn sheet(n: u32, split: bool) -> Mesh {
        let mut positions: Vec<Vec3> = (0..n * n)
            .map(|p| Vec3::new((p % n) as f32, (p / n) as f32, 0.0))
            .collect();
        let mut triangles = Vec::new();
        for (x, y) in (0..(n - 1) * (n - 1)).map(|i| (i % (n - 1), i / (n - 1))) {
            let twin = |x: u32, y: u32, left: bool| match (split, left, x) {
                (true, true, 1) => n * n + y,
                _ => y * n + x,
            };
            let at = |dx: u32, dy: u32| twin(x + dx, y + dy, x == 0);
            triangles.push([at(0, 0), at(1, 0), at(1, 1)]);
            triangles.push([at(0, 0), at(1, 1), at(0, 1)]);
        }
        if split {
            positions.extend((0..n).map(|y| Vec3::new(1.0, y as f32, 0.0)));
        }
        let n_points = positions.len() as u32;
        Mesh {
            positions,
            triangles,
            point_of_vertex: (0..n_points).collect(),
            normal_of_vertex: (0..n_points).collect(),
            normals: vec![Vec3::Z; n_points as usize],
            point_of_normal: (0..n_points).collect(),
            ..Mesh::default()
        }
    }

    #[test]
    fn an_open_edge_is_averaged_along_itself() {
        let mesh = sheet(4, false);
        let rings = mesh.rings();
        assert_eq!(rings.averaged(1), [0, 2]);
        assert_eq!(rings.neighbours(1).len(), 4);
        assert_eq!(rings.averaged(5), rings.neighbours(5));
        assert_eq!(rings.neighbours(5), [0, 1, 4, 6, 9, 10]);
        assert_eq!(rings.seams().count(), 0);
    }

    #[test]
    fn the_sides_of_a_seam_have_one_row() {
        let (whole, split) = (sheet(4, false), sheet(4, true));
        let (whole, rings) = (whole.rings(), split.rings());
        assert_eq!(rings.seams().count(), 4);
        // Column 1 is 1, 5, 9, 13 and again 16, 17, 18, 19.
        assert_eq!(rings.seam(17), Some(&[5, 17][..]));
        assert_eq!(rings.seam(6), None);
        for (side, other) in [(1, 16), (5, 17), (9, 18), (13, 19)] {
            assert_eq!(rings.neighbours(side), rings.neighbours(other));
            assert_eq!(rings.averaged(side), rings.averaged(other));
            assert_eq!(rings.neighbours(side), whole.neighbours(side));
            assert!(rings.directions(side).eq(whole.directions(side)));
        }
        assert_eq!(rings.averaged(5).len(), 6);
    }

    #[test]
    fn what_a_morph_opens_is_no_seam() {
        let mut mesh = sheet(4, true);
        let deltas = (0..20)
            .map(|p| if p >= 16 { Vec3::X } else { Vec3::ZERO })
            .collect();
        mesh.morphs = vec![super::super::Morph {
            name: String::new(),
            deltas,
            normals: Vec::new(),
        }];
        assert_eq!(mesh.rings().seams().count(), 0);
    }

    #[test]
    fn touching_surfaces_stay_apart() {
        // Two closed shapes that share one corner position: no open edge, no seam.
        let tetrahedron = |offset: u32| {
            [[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]].map(|t: [u32; 3]| t.map(|p| p + offset))
        };
        let shape = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
        let mut mesh = Mesh {
            positions: shape.into_iter().chain(shape.map(|p| -p)).collect(),
            triangles: [tetrahedron(0), tetrahedron(4)].concat(),
            point_of_vertex: (0..8).collect(),
            ..Mesh::default()
        };
        mesh.normal_of_vertex = vec![0; 8];
        mesh.normals = vec![Vec3::Z];
        mesh.point_of_normal = vec![0];
        assert!(mesh.topology().next_coincident(0).is_some());
        assert_eq!(mesh.rings().seams().count(), 0);
    }
}
