//! Closest positions found by walking over a surface, from triangle to triangle.

use super::Topology;
use super::spatial::{ClosestPosition, closest_on_triangle, corners};
use glam::Vec3;

/// A surface to walk over.
#[derive(Clone, Copy, Debug)]
pub struct SurfaceWalk<'a> {
    topology: &'a Topology,
    positions: &'a [Vec3],
}

/// The largest number of triangles that a walk crosses towards a projection. What is left of the way is walked by distance.
const MOST_CROSSED: usize = 128;

impl<'a> SurfaceWalk<'a> {
    /// On the triangles of `topology` with its points at `positions`.
    pub fn new(topology: &'a Topology, positions: &'a [Vec3]) -> Self {
        Self {
            topology,
            positions,
        }
    }

    /// The position on the surface closest to `point` among those around it, reached from triangle `from` across edges and
    /// seams. Another sheet of the surface may be closer, such as the other side of a fold; a walk does not jump to it.
    pub fn closest(&self, point: Vec3, from: u32) -> ClosestPosition {
        let mut triangle = self.under(point, from);
        let of = |triangle: u32| {
            let corners = corners(self.topology.triangles[triangle as usize], self.positions);
            closest_on_triangle(point, corners)
        };
        let (mut barycentric, mut square) = of(triangle);
        loop {
            // A position inside its triangle has nothing closer around it, one on an edge may have it in the triangle beyond,
            // one at a corner in all triangles there. Each step is closer: the walk ends.
            let corners = self.topology.triangles[triangle as usize];
            let shares = corners.into_iter().zip(barycentric.to_array());
            let mut on = shares.filter(|&(_, share)| share > 0.0);
            let (first, second, third) = (on.next(), on.next(), on.next());
            let (Some((first, _)), None) = (first, third) else {
                break;
            };
            let mut best = None;
            for at in self.with_twins(first) {
                for &face in self.topology.faces(at) {
                    let has_edge = second.is_none_or(|(second, _)| self.has(face, second));
                    if face == triangle || !has_edge {
                        continue;
                    }
                    let found = of(face);
                    if found.1 < square {
                        (barycentric, square) = found;
                        best = Some(face);
                    }
                }
            }
            match best {
                Some(face) => triangle = face,
                None => break,
            }
        }
        ClosestPosition {
            triangle,
            barycentric,
            distance: square.sqrt(),
        }
    }

    /// A triangle that `point` projects into, or where the walk there meets an open edge or a crease (the visibility walk of
    /// Devillers et al. 2002).
    fn under(&self, point: Vec3, from: u32) -> u32 {
        let (mut at, mut before) = (from, u32::MAX);
        for _ in 0..MOST_CROSSED {
            let [p, q, r] = self.topology.triangles[at as usize];
            let [a, b, c] = corners([p, q, r], self.positions);
            let (ab, ac, ap) = (b - a, c - a, point - a);
            let normal = ab.cross(ac);
            // Barycentric coordinates times one positive number.
            let v = ap.cross(ac).dot(normal);
            let w = ab.cross(ap).dot(normal);
            let u = normal.length_squared() - v - w;
            let (least, edge) = if u <= v && u <= w {
                (u, [q, r])
            } else if v <= w {
                (v, [p, r])
            } else {
                (w, [p, q])
            };
            if least >= 0.0 {
                return at;
            }
            match self.beyond(edge, at).filter(|&next| next != before) {
                Some(next) => (before, at) = (at, next),
                None => return at,
            }
        }
        at
    }

    /// A triangle on the other side of an edge of `triangle`.
    fn beyond(&self, [p, q]: [u32; 2], triangle: u32) -> Option<u32> {
        let faces = self.topology.faces(p).iter().copied();
        let has_both =
            |&face: &u32| face != triangle && self.topology.triangles[face as usize].contains(&q);
        faces.clone().find(has_both).or_else(|| {
            let across = |&face: &u32| face != triangle && self.has(face, q);
            self.with_twins(p)
                .flat_map(|at| self.topology.faces(at).iter().copied())
                .find(across)
        })
    }

    /// Whether a triangle has a corner at a point, or across a seam from it.
    fn has(&self, triangle: u32, point: u32) -> bool {
        let corners = self.topology.triangles[triangle as usize];
        self.with_twins(point).any(|at| corners.contains(&at))
    }

    fn with_twins(&self, point: u32) -> impl Iterator<Item = u32> + '_ {
        std::iter::once(point).chain(self.topology.twins(point))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{Mesh, SurfaceIndex};

    /// A strip of n squares along x, 1 wide, bent by `place`; with a seam across it at `seam`.
    fn strip(n: u32, seam: Option<u32>, place: impl Fn(f32, f32) -> Vec3) -> Mesh {
        let mut mesh = Mesh::default();
        let column = |mesh: &mut Mesh, x: u32| {
            let first = mesh.positions.len() as u32;
            mesh.positions
                .extend([place(x as f32, 0.0), place(x as f32, 1.0)]);
            first
        };
        let mut last = column(&mut mesh, 0);
        for x in 1..=n {
            let next = column(&mut mesh, x);
            mesh.triangles
                .extend([[last, next, last + 1], [last + 1, next, next + 1]]);
            last = if seam == Some(x) {
                column(&mut mesh, x)
            } else {
                next
            };
        }
        mesh.point_of_vertex = (0..mesh.positions.len() as u32).collect();
        mesh.normal_of_vertex.clone_from(&mesh.point_of_vertex);
        mesh.point_of_normal.clone_from(&mesh.point_of_vertex);
        mesh.normals = vec![Vec3::Z; mesh.positions.len()];
        mesh
    }
    /// The walk, and the closest position of all triangles.
    fn both(mesh: &Mesh, place: Vec3, from: u32) -> [ClosestPosition; 2] {
        let triangles = &mesh.topology().triangles;
        let index = SurfaceIndex::new(triangles, &mesh.positions);
        let walked = SurfaceWalk::new(mesh.topology(), &mesh.positions).closest(place, from);
        let all = index.closest(place, f32::MAX, triangles, &mesh.positions, |_| true);
        [walked, all.unwrap()]
    }

    #[test]
    fn a_walk_ends_at_the_closest_position_from_anywhere_and_across_a_seam() {
        let wave = |x: f32, y: f32| Vec3::new(x, y, (x * 0.2).sin());
        for seam in [None, Some(9)] {
            let mesh = strip(300, seam, wave);
            for (x, y, z) in [(20.3, 0.2, 0.1), (5.8, 0.7, -0.2), (250.4, -0.5, 0.4)] {
                let place = wave(x, y) + Vec3::new(0.0, 0.0, z);
                for from in [0, 57, 598] {
                    let [walked, all] = both(&mesh, place, from);
                    assert_eq!(walked.distance, all.distance, "{place} from {from}");
                }
            }
        }
        let mesh = strip(30, None, wave);
        let walked = SurfaceWalk::new(mesh.topology(), &mesh.positions).closest(Vec3::NAN, 4);
        assert!(walked.distance.is_nan() && walked.triangle < 60);
    }

    #[test]
    fn a_walk_stays_on_its_side_of_a_fold() {
        // Two sheets 0.5 apart, joined at x = 20.
        let fold = |x: f32, y: f32| {
            let upper = x > 20.0;
            Vec3::new(
                if upper { 40.0 - x } else { x },
                y,
                if upper { 0.5 } else { 0.0 },
            )
        };
        let mesh = strip(40, None, fold);
        let place = Vec3::new(10.3, 0.4, 0.4);
        let [walked, all] = both(&mesh, place, 4);
        assert!((all.distance - 0.1).abs() < 1e-6 && (walked.distance - 0.4).abs() < 1e-6);
        let [walked, all] = both(&mesh, place, 70);
        assert_eq!(walked.distance, all.distance);
    }
}
