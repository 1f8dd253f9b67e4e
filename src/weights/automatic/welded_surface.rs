//! The surface for automatic weights: one position for all points that share a bind position, so that seams are joined.

use crate::mesh::{SurfaceIndex, Topology};
use crate::weights::subject::Subject;
use glam::{DAffine3, DVec3, Vec3};

/// The surface of a mesh with all points at one bind position welded, whatever their weights.
#[derive(Clone, Debug, Default)]
pub(crate) struct WeldedSurface {
    /// n_points.
    pub(crate) of_point: Vec<u32>,
    /// n_positions, mesh space.
    pub(crate) positions: Vec<Vec3>,
    /// n_positions unit normals, zero where there are none.
    pub(crate) normals: Vec<Vec3>,
    /// Triangles of positions; may be degenerate.
    pub(crate) triangles: Vec<[u32; 3]>,
    /// n_positions: the island of each position, identified by its lowest position.
    pub(crate) islands: Vec<u32>,
    /// Number of islands.
    pub(crate) n_islands: usize,
    /// n_islands: whether normals point outwards, from the sign of the volume.
    pub(crate) outward: Vec<bool>,
    starts: Vec<u32>,
    neighbours: Vec<u32>,
}

impl WeldedSurface {
    /// The welded surface of a mesh.
    pub(crate) fn new(subject: &Subject<'_>) -> Self {
        let topology = subject.mesh.topology();
        let n_points = subject.n_points();
        let mut surface = Self {
            of_point: vec![u32::MAX; n_points],
            ..Self::default()
        };
        let islands = topology.islands(n_points);
        for point in 0..n_points as u32 {
            if surface.of_point[point as usize] != u32::MAX {
                continue;
            }
            let position = surface.positions.len() as u32;
            surface
                .positions
                .push(subject.mesh.positions[point as usize]);
            surface.islands.push(islands[point as usize]);
            let mut at = point;
            while surface.of_point[at as usize] == u32::MAX {
                surface.of_point[at as usize] = position;
                at = topology.next_coincident(at).unwrap_or(point);
            }
        }
        surface.n_islands = surface.islands.iter().max().map_or(0, |&i| i as usize + 1);
        surface.cover(topology);
        surface
    }

    /// Triangles, normals and neighbours.
    fn cover(&mut self, topology: &Topology) {
        let of_point = &self.of_point;
        self.triangles = topology
            .triangles
            .iter()
            .map(|t| t.map(|p| of_point[p as usize]))
            .collect();
        self.normals = vec![Vec3::ZERO; self.n()];
        let mut middles = vec![(DVec3::ZERO, 0.0); self.n_islands];
        for (p, &island) in self.positions.iter().zip(&self.islands) {
            let middle = &mut middles[island as usize];
            middle.0 += p.as_dvec3();
            middle.1 += 1.0;
        }
        let mut volumes = vec![(0.0, 0.0); self.n_islands];
        for &[a, b, c] in &self.triangles {
            let island = self.islands[a as usize] as usize;
            let middle = middles[island].0 / middles[island].1;
            let [p, q, r] = [a, b, c].map(|i| self.positions[i as usize].as_dvec3() - middle);
            let normal = (q - p).cross(r - p);
            for corner in [a, b, c] {
                self.normals[corner as usize] += normal.as_vec3();
            }
            let volume: &mut (f64, f64) = &mut volumes[island];
            volume.0 += p.dot(q.cross(r)) / 6.0;
            volume.1 += normal.length() / 2.0;
        }
        for normal in &mut self.normals {
            *normal = normal.normalize_or_zero();
        }
        // A sheet has no inside, however it curves.
        let is_outward = |&(volume, area): &(f64, f64)| volume > 0.01 * area.powf(1.5);
        self.outward = volumes.iter().map(is_outward).collect();

        let mut ends: Vec<(u32, u32)> = Vec::with_capacity(6 * self.triangles.len());
        for &[a, b, c] in &self.triangles {
            for (i, j) in [(a, b), (b, c), (c, a)] {
                if i != j {
                    ends.push((i, j));
                    ends.push((j, i));
                }
            }
        }
        ends.sort_unstable();
        ends.dedup();
        let mut starts = vec![0u32; self.n() + 1];
        for &(a, _) in &ends {
            starts[a as usize + 1] += 1;
        }
        for i in 0..self.n() {
            starts[i + 1] += starts[i];
        }
        self.starts = starts;
        self.neighbours = ends.into_iter().map(|e| e.1).collect();
    }

    /// Transforms the positions to another space.
    pub(crate) fn transform(&mut self, matrix: DAffine3) {
        for p in &mut self.positions {
            *p = matrix.transform_point3(p.as_dvec3()).as_vec3();
        }
        let normals = matrix.matrix3.inverse().transpose();
        let turned = if matrix.matrix3.determinant() < 0.0 {
            -1.0
        } else {
            1.0
        };
        for n in &mut self.normals {
            *n = (normals * n.as_dvec3() * turned)
                .normalize_or_zero()
                .as_vec3();
        }
    }

    /// Number of positions.
    pub(crate) fn n(&self) -> usize {
        self.positions.len()
    }

    /// The positions that share an edge with `position`, ascending.
    pub(crate) fn neighbours(&self, position: u32) -> &[u32] {
        let range =
            self.starts[position as usize] as usize..self.starts[position as usize + 1] as usize;
        &self.neighbours[range]
    }

    /// The smallest and largest coordinates.
    pub(crate) fn bounds(&self) -> (Vec3, Vec3) {
        let start = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        let grow = |(low, high): (Vec3, Vec3), &p: &Vec3| (low.min(p), high.max(p));
        let (low, high) = self.positions.iter().fold(start, grow);
        if low.x <= high.x {
            (low, high)
        } else {
            (Vec3::ZERO, Vec3::ZERO)
        }
    }

    /// The length of the diagonal of the bounds.
    pub(crate) fn diagonal(&self) -> f32 {
        let (low, high) = self.bounds();
        low.distance(high)
    }

    /// The spatial index for ray queries.
    pub(crate) fn index(&self) -> SurfaceIndex {
        SurfaceIndex::new(&self.triangles, &self.positions)
    }

    /// Number of mesh points of each island.
    pub(crate) fn island_sizes(&self) -> Vec<usize> {
        let mut sizes = vec![0; self.n_islands];
        for &position in &self.of_point {
            sizes[self.islands[position as usize] as usize] += 1;
        }
        sizes
    }
}
