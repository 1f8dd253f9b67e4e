//! The signed distance from a surface.

use super::error::{ScanError, check_finite};
use crate::mesh::box_tree::{Bounds, BoxTree};
use crate::mesh::triangle::{closest, normal};
use glam::DVec3;

/// A triangle mesh with a tree for nearest-point queries, and the sign of the distance.
///
/// The side is that of the pseudo-normal of the nearest face, edge or point: the sum of the normals of its faces, at a point
/// weighted by their angles (Baerentzen & Aanaes 2005, "Signed distance computation using the angle weighted pseudonormal").
/// Points at one place count as one.
#[derive(Clone, Debug)]
pub struct SignedSurface {
    points: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
    tree: BoxTree,
    /// Of each triangle: unit, zero where it is degenerate.
    faces: Vec<DVec3>,
    /// Of the edges from each corner to the next; not unit.
    edges: Vec<[DVec3; 3]>,
    /// Of each point: unit, zero where it has no face.
    normals: Vec<DVec3>,
    /// Of each triangle: bits 0 - 2 of edges that have one face.
    open_edges: Vec<u8>,
    /// Of each point: whether such an edge ends at it.
    is_open: Vec<bool>,
}

/// The nearest place of a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Foot {
    /// Its triangle.
    pub triangle: u32,
    /// Weights of the corners, sum 1.
    pub barycentric: [f64; 3],
    /// It.
    pub place: DVec3,
    /// The pseudo-normal there; not unit, zero where there is none.
    pub normal: DVec3,
    /// Whether it is on an open edge.
    pub is_open: bool,
}

impl Foot {
    /// The distance of the point whose foot it is: positive outside, negative inside.
    pub fn signed_distance(&self, p: DVec3) -> f64 {
        let away = p - self.place;
        let distance = away.length();
        if away.dot(self.normal) < 0.0 {
            -distance
        } else {
            distance
        }
    }
}

impl SignedSurface {
    /// The surface of triangles of points; `what` names it in refusals. Triangles with two corners at one place are left out.
    ///
    /// Fails without a triangle that has an area, and where a number is not finite or an index out of range.
    pub fn new(
        points: Vec<DVec3>,
        mut triangles: Vec<[u32; 3]>,
        what: &str,
    ) -> Result<Self, ScanError> {
        let n = points.len();
        if triangles.iter().flatten().any(|&p| p as usize >= n) {
            let why = format!("a face of {what} has a point that is not there");
            return Err(ScanError::of(why));
        }
        check_finite(&points, what)?;
        let lowest = welded(&points);
        triangles.retain(|t| {
            let [a, b, c] = t.map(|p| lowest[p as usize]);
            a != b && b != c && c != a
        });
        let corners = |t: &[u32; 3]| t.map(|p| points[p as usize]);
        let faces: Vec<DVec3> = triangles.iter().map(|t| normal(corners(t))).collect();
        if faces.iter().all(|face| *face == DVec3::ZERO) {
            return Err(ScanError::of(format!("{what} has no faces")));
        }
        let tree = BoxTree::new(triangles.len(), |t| {
            Bounds::around(corners(&triangles[t as usize]))
        });
        let (edges, open_edges) = edge_normals(&triangles, &faces, &lowest);
        let mut surface = Self {
            normals: point_normals(&points, &triangles, &faces, &lowest),
            is_open: vec![false; n],
            points,
            triangles,
            tree,
            faces,
            edges,
            open_edges,
        };
        surface.mark_open_points(&lowest);
        Ok(surface)
    }

    /// The points.
    pub fn points(&self) -> &[DVec3] {
        &self.points
    }

    /// The triangles.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// The pseudo-normal of each point, unit; zero where it has no face.
    pub fn normals(&self) -> &[DVec3] {
        &self.normals
    }

    /// The place nearest to `p`; of equals that on the lowest triangle.
    pub fn nearest(&self, p: DVec3) -> Option<Foot> {
        let corners = |t: u32| self.triangles[t as usize].map(|p| self.points[p as usize]);
        let measure = |t: u32, _| Some(closest(p, corners(t)).place.distance_squared(p));
        let triangle = self.tree.nearest(p, f64::INFINITY, measure)?;
        let found = closest(p, corners(triangle));
        let t = triangle as usize;
        let (normal, is_open) = if found.is_inside {
            (self.faces[t], false)
        } else {
            self.at_border(t, found.barycentric)
        };
        Some(Foot {
            triangle,
            barycentric: found.barycentric,
            place: found.place,
            normal,
            is_open,
        })
    }

    /// The pseudo-normal of a place on an edge or a corner of a triangle, and whether that is open.
    fn at_border(&self, t: usize, barycentric: [f64; 3]) -> (DVec3, bool) {
        let corner = (0..3).find(|&k| barycentric[k] == 1.0);
        if let Some(k) = corner {
            let point = self.triangles[t][k] as usize;
            return (self.normals[point], self.is_open[point]);
        }
        match (0..3).find(|&k| barycentric[(k + 2) % 3] == 0.0) {
            Some(k) => (self.edges[t][k], self.open_edges[t] & (1 << k) != 0),
            None => (self.faces[t], false),
        }
    }

    fn mark_open_points(&mut self, lowest: &[u32]) {
        let mut is_open = vec![false; lowest.len()];
        for (t, &open) in self.triangles.iter().zip(&self.open_edges) {
            for k in (0..3).filter(|k| open & (1 << k) != 0) {
                is_open[lowest[t[k] as usize] as usize] = true;
                is_open[lowest[t[(k + 1) % 3] as usize] as usize] = true;
            }
        }
        for (own, &first) in self.is_open.iter_mut().zip(lowest) {
            *own = is_open[first as usize];
        }
    }
}

/// For each point the lowest one at the same place.
fn welded(points: &[DVec3]) -> Vec<u32> {
    // Of the two zeros, one.
    let key = |p: u32| (points[p as usize] + 0.0).to_array().map(f64::to_bits);
    let mut order: Vec<u32> = (0..points.len() as u32).collect();
    order.sort_unstable_by_key(|&p| (key(p), p));
    let mut lowest: Vec<u32> = (0..points.len() as u32).collect();
    for pair in order.windows(2) {
        if key(pair[0]) == key(pair[1]) {
            lowest[pair[1] as usize] = lowest[pair[0] as usize];
        }
    }
    lowest
}

/// Of each triangle, the sum of the face normals at its edges, and bits of those that have one face.
fn edge_normals(
    triangles: &[[u32; 3]],
    faces: &[DVec3],
    lowest: &[u32],
) -> (Vec<[DVec3; 3]>, Vec<u8>) {
    let mut sides: Vec<(u32, u32, u32, u8)> = Vec::with_capacity(3 * triangles.len());
    for (i, t) in (0..).zip(triangles) {
        let t = t.map(|p| lowest[p as usize]);
        for k in 0..3 {
            let (a, b) = (t[k], t[(k + 1) % 3]);
            sides.push((a.min(b), a.max(b), i, k as u8));
        }
    }
    sides.sort_unstable();
    let mut normals = vec![[DVec3::ZERO; 3]; triangles.len()];
    let mut open = vec![0; triangles.len()];
    for edge in sides.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        let sum: DVec3 = edge.iter().map(|side| faces[side.2 as usize]).sum();
        for &(_, _, t, k) in edge {
            normals[t as usize][usize::from(k)] = sum;
            open[t as usize] |= u8::from(edge.len() == 1) << k;
        }
    }
    (normals, open)
}

/// The normal of each point: those of its faces, weighted by their angles; unit.
fn point_normals(
    points: &[DVec3],
    triangles: &[[u32; 3]],
    faces: &[DVec3],
    lowest: &[u32],
) -> Vec<DVec3> {
    let mut sums = vec![DVec3::ZERO; points.len()];
    for (t, face) in triangles.iter().zip(faces) {
        for k in 0..3 {
            let [a, b, c] = [0, 1, 2].map(|j| points[t[(k + j) % 3] as usize]);
            let (ab, ac) = (b - a, c - a);
            let angle = ab.cross(ac).length().atan2(ab.dot(ac));
            sums[lowest[t[k] as usize] as usize] += *face * angle;
        }
    }
    lowest
        .iter()
        .map(|&p| sums[p as usize].normalize_or_zero())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cube of edge 2 about the origin, its corners three times each, as files with hard edges have them.
    fn cube() -> SignedSurface {
        let (mut points, mut triangles) = (Vec::new(), Vec::new());
        for axis in 0..3 {
            for side in [-1.0, 1.0] {
                let first = points.len() as u32;
                for [u, v] in [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]] {
                    let mut p = [0.0; 3];
                    (p[axis], p[(axis + 1) % 3], p[(axis + 2) % 3]) = (side, u, v);
                    points.push(DVec3::from_array(p));
                }
                for [a, b, c] in [[0, 1, 2], [0, 2, 3]] {
                    let turned = if side > 0.0 { [a, b, c] } else { [a, c, b] };
                    triangles.push(turned.map(|k: u32| first + k));
                }
            }
        }
        SignedSurface::new(points, triangles, "the cube").unwrap()
    }

    #[test]
    fn distances_from_a_cube_have_the_sign_of_their_side() {
        let cube = cube();
        let distance = |x: f64, y: f64, z: f64| {
            let p = DVec3::new(x, y, z);
            cube.nearest(p).unwrap().signed_distance(p)
        };
        assert_eq!(distance(3.0, 0.1, 0.2), 2.0);
        assert_eq!(distance(0.5, 0.1, 0.2), -0.5);
        assert!(distance(1.0, 0.1, 0.2).abs() < 1e-15);
        // Across an edge and a corner.
        assert!((distance(4.0, 5.0, 0.0) - 5.0).abs() < 1e-15);
        assert!((distance(3.0, 3.0, 2.0) - 3.0).abs() < 1e-15);
        for k in 0..200 {
            let angle = f64::from(k) * 0.7;
            let p = DVec3::new(
                angle.cos() * 1.8,
                angle.sin() * 1.3,
                (angle * 0.37).sin() * 1.6,
            );
            let inside = p.abs().max_element() < 1.0;
            assert_eq!(distance(p.x, p.y, p.z) < 0.0, inside, "{p}");
        }
        assert!((0..24).all(|p| !cube.is_open[p]));
        let corner = cube.normals()[0].abs();
        assert!(corner.distance(DVec3::splat(3f64.sqrt().recip())) < 1e-15);
    }

    #[test]
    fn the_border_of_an_open_surface_is_known() {
        let points = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::new(1.0, 1.0, 0.0)];
        let square = SignedSurface::new(points, vec![[0, 1, 2], [1, 3, 2]], "the square").unwrap();
        let foot = |x: f64, y: f64| square.nearest(DVec3::new(x, y, 0.5)).unwrap();
        assert!(!foot(0.3, 0.3).is_open && !foot(0.5, 0.5).is_open);
        assert!(foot(-1.0, 0.3).is_open && foot(2.0, 2.0).is_open && foot(0.5, -0.1).is_open);
        assert_eq!(
            foot(0.3, 0.3).signed_distance(DVec3::new(0.3, 0.3, 0.5)),
            0.5
        );
    }

    #[test]
    fn what_is_no_surface_is_refused() {
        let flat = vec![DVec3::ZERO, DVec3::X, DVec3::X * 2.0, DVec3::ZERO];
        let of = |points: Vec<DVec3>, triangles: &[[u32; 3]]| {
            let made = SignedSurface::new(points, triangles.to_vec(), "the body");
            made.unwrap_err().to_string()
        };
        assert_eq!(
            of(flat.clone(), &[[0, 1, 2], [0, 3, 1]]),
            "The body has no faces."
        );
        assert!(of(flat.clone(), &[[0, 1, 4]]).contains("not there"));
        assert!(of(vec![DVec3::NAN; 3], &[[0, 1, 2]]).contains("oint 0 of the body"));
    }
}
