//! Cage deformation by mean value coordinates for closed triangle meshes (Ju, Schaefer & Warren 2005).

use crate::task::{Cancelled, Task};
use glam::DVec3;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::f64::consts::PI;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Points of one unit of parallel work.
const CHUNK: usize = 64;
/// The largest number of coordinates, vertices of the cage times vertices in it: 256 MiB.
pub(super) const MAX_COORDINATES: usize = 1 << 25;
/// A point this close to a vertex of the cage lies on it, in extents of the cage.
const ON_VERTEX: f64 = 1e-13;
/// The volume of three unit directions below which they lie in one plane.
const IN_PLANE: f64 = 1e-15;
/// A side is nearly the sum of the others below this fraction of what they leave.
const BESIDE: f64 = 1e-2;
/// How far half the perimeter of a spherical triangle may be off a half turn for a point on the triangle.
const ON_TRIANGLE: f64 = 1e-12;

/// Why a mesh is no cage.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CageError {
    /// It was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// There are no triangles.
    #[error("the cage has no triangles")]
    Empty,
    /// A vertex is not finite.
    #[error("vertex {vertex} of the cage is not finite")]
    CageVertex {
        /// The vertex.
        vertex: usize,
    },
    /// A vertex of the mesh is not finite.
    #[error("vertex {vertex} in the cage is not finite")]
    Vertex {
        /// The vertex.
        vertex: usize,
    },
    /// A triangle names a vertex that does not exist.
    #[error("triangle {triangle} of the cage names vertex {vertex}, and there are {n_vertices}")]
    Index {
        /// The triangle.
        triangle: usize,
        /// The vertex.
        vertex: u32,
        /// The number of vertices.
        n_vertices: usize,
    },
    /// An edge has a triangle on one side only.
    #[error("the cage is open at the edge from vertex {a} to {b}: it must enclose the mesh")]
    Open {
        /// The first vertex.
        a: u32,
        /// The second vertex.
        b: u32,
    },
    /// Two triangles run along an edge in the same direction.
    #[error(
        "the triangles of the cage at the edge from vertex {a} to {b} face opposite sides, or are more than two: \
         recalculate its normals"
    )]
    Orientation {
        /// The first vertex.
        a: u32,
        /// The second vertex.
        b: u32,
    },
    /// The displacements of its vertices cannot be resampled for another cage.
    #[error("{0}")]
    Displacements(String),
    /// There are more vertices than a cage of control points may have.
    #[error("the cage has {n_vertices} vertices, more than 1000: use a coarser one")]
    TooFine {
        /// Their number.
        n_vertices: usize,
    },
    /// The coordinates would need too much memory.
    #[error(
        "a cage of {n_cage} vertices for {n_points} vertices needs {} MiB, more than 256: use a coarser cage",
        (.n_cage * .n_points * 8) >> 20
    )]
    TooLarge {
        /// The vertices of the cage.
        n_cage: usize,
        /// The vertices in the cage.
        n_points: usize,
    },
}

impl CageError {
    /// The vertices of the cage that it names.
    pub fn vertices(&self) -> Vec<u32> {
        match self {
            Self::CageVertex { vertex } => vec![*vertex as u32],
            Self::Index { vertex, .. } => vec![*vertex],
            Self::Open { a, b } | Self::Orientation { a, b } => vec![*a, *b],
            _ => Vec::new(),
        }
    }

    /// The error without the numbers of vertices, for who can see them.
    pub fn without_numbers(&self) -> String {
        match self {
            Self::CageVertex { .. } => "one of its vertices is not finite".into(),
            Self::Open { .. } => "it is open at an edge: it must enclose the mesh".into(),
            Self::Orientation { .. } => {
                "its triangles at an edge face opposite sides, or are more than two: recalculate its normals".into()
            }
            why => why.to_string(),
        }
    }
}

/// A cage on its vertices, ready to be evaluated.
#[derive(Clone, Debug, PartialEq)]
pub struct Cage {
    n_cage: usize,
    /// n_points x n_cage, by points; each sums to 1, or is 0 where there are no coordinates.
    coordinates: Vec<f64>,
}

impl Cage {
    /// Of the vertices and triangles of a closed cage, and the vertices of the mesh, all at bind (object space, metres). The
    /// cage does not move a vertex outside of it where the coordinates cancel out.
    pub fn new(
        cage: &[DVec3],
        triangles: &[[u32; 3]],
        points: &[DVec3],
        task: &Task,
    ) -> Result<Self, CageError> {
        let report = |done| task.step("Binding to the cage", done);
        Self::reporting(cage, triangles, points, report)
    }

    /// As [`Cage::new`], for work that reports progress of its own.
    pub fn quietly(
        cage: &[DVec3],
        triangles: &[[u32; 3]],
        points: &[DVec3],
        task: &Task,
    ) -> Result<Self, CageError> {
        Self::reporting(cage, triangles, points, |_| task.check())
    }

    fn reporting(
        cage: &[DVec3],
        triangles: &[[u32; 3]],
        points: &[DVec3],
        report: impl Fn(f32) -> Result<(), Cancelled> + Sync,
    ) -> Result<Self, CageError> {
        check(cage, triangles)?;
        let (n_cage, n_points) = (cage.len(), points.len());
        if n_cage.saturating_mul(n_points) > MAX_COORDINATES {
            return Err(CageError::TooLarge { n_cage, n_points });
        }
        let low = cage.iter().copied().fold(DVec3::INFINITY, DVec3::min);
        let high = cage.iter().copied().fold(DVec3::NEG_INFINITY, DVec3::max);
        let extent = (high - low).length();
        report(0.0)?;
        let n_done = AtomicUsize::new(0);
        let mut coordinates = vec![0.0; n_cage * n_points];
        coordinates
            .par_chunks_mut(CHUNK * n_cage)
            .enumerate()
            .try_for_each(|(chunk, rows)| {
                let n_done = n_done.fetch_add(rows.len() / n_cage, Ordering::Relaxed);
                report(n_done as f32 / n_points as f32)?;
                let mut directions = vec![(DVec3::ZERO, 0.0); n_cage];
                for (i, row) in rows.chunks_mut(n_cage).enumerate() {
                    let vertex = chunk * CHUNK + i;
                    if !points[vertex].is_finite() {
                        return Err(CageError::Vertex { vertex });
                    }
                    mean_values(
                        points[vertex],
                        cage,
                        triangles,
                        extent,
                        &mut directions,
                        row,
                    );
                    let sum: f64 = row.iter().sum();
                    let size: f64 = row.iter().map(|w| w.abs()).sum();
                    if sum.is_finite() && sum.abs() > 1e-9 * size {
                        for w in row {
                            *w /= sum;
                        }
                    } else {
                        row.fill(0.0);
                    }
                }
                Ok(())
            })?;
        Ok(Self {
            n_cage,
            coordinates,
        })
    }

    /// The coordinates of a vertex (n_cage, sum 1): how much of each vertex of the cage it follows.
    pub fn coordinates(&self, vertex: usize) -> &[f64] {
        &self.coordinates[vertex * self.n_cage..][..self.n_cage]
    }

    /// Adds the displacements (bind space, metres) to `out` (n_points) for those of the vertices of the cage. At rest it adds
    /// exactly 0.
    pub fn add(&self, offsets: &[DVec3], out: &mut [DVec3]) {
        let n_cage = self.n_cage;
        out.par_chunks_mut(CHUNK)
            .zip(self.coordinates.par_chunks(CHUNK * n_cage))
            .for_each(|(out, rows)| {
                for (out, row) in out.iter_mut().zip(rows.chunks(n_cage)) {
                    let mut sum = DVec3::ZERO;
                    for (w, offset) in row.iter().zip(offsets) {
                        sum += *offset * *w;
                    }
                    *out += sum;
                }
            });
    }
}

/// Whether the triangles enclose a space: each edge twice, once in each direction.
pub(super) fn check(cage: &[DVec3], triangles: &[[u32; 3]]) -> Result<(), CageError> {
    if triangles.is_empty() {
        return Err(CageError::Empty);
    }
    if let Some(vertex) = cage.iter().position(|p| !p.is_finite()) {
        return Err(CageError::CageVertex { vertex });
    }
    let mut edges: BTreeMap<[u32; 2], usize> = BTreeMap::new();
    for (triangle, corners) in triangles.iter().enumerate() {
        for k in 0..3 {
            let (vertex, next) = (corners[k], corners[(k + 1) % 3]);
            if vertex as usize >= cage.len() {
                return Err(CageError::Index {
                    triangle,
                    vertex,
                    n_vertices: cage.len(),
                });
            }
            *edges.entry([vertex, next]).or_default() += 1;
        }
    }
    for ([a, b], count) in &edges {
        let (a, b) = (*a, *b);
        if *count > 1 {
            return Err(CageError::Orientation { a, b });
        }
        if !edges.contains_key(&[b, a]) {
            return Err(CageError::Open { a, b });
        }
    }
    Ok(())
}

/// Writes the weights of the cage's vertices at `x`, not normalised. `directions` is a buffer (n_cage).
fn mean_values(
    x: DVec3,
    cage: &[DVec3],
    triangles: &[[u32; 3]],
    extent: f64,
    directions: &mut [(DVec3, f64)],
    out: &mut [f64],
) {
    out.fill(0.0);
    for (j, (vertex, direction)) in cage.iter().zip(directions.iter_mut()).enumerate() {
        let distance = vertex.distance(x);
        if distance <= ON_VERTEX * extent {
            out[j] = 1.0;
            return;
        }
        *direction = ((*vertex - x) / distance, distance);
    }
    for corners in triangles {
        let corners = corners.map(|c| c as usize);
        let u = corners.map(|c| directions[c].0);
        let d = corners.map(|c| directions[c].1);
        // Opposite to each corner; the formula of two lengths is exact for small angles and near a half turn.
        let sides = [0, 1, 2].map(|k: usize| (u[(k + 1) % 3], u[(k + 2) % 3]));
        let theta = sides.map(|(a, b)| 2.0 * (a - b).length().atan2((a + b).length()));
        let half = theta.iter().sum::<f64>() * 0.5;
        let normals = sides.map(|(a, b)| a.cross(b));
        let volume = u[0].dot(normals[0]);
        if volume.abs() < IN_PLANE {
            if PI - half < ON_TRIANGLE {
                // On the triangle, an edge included: its areas are the coordinates, and no other triangle counts.
                out.fill(0.0);
                for k in 0..3 {
                    out[corners[k]] = theta[k].sin() * d[(k + 1) % 3] * d[(k + 2) % 3];
                }
                return;
            }
            continue;
        }
        let along = if is_beside(theta, half) {
            beside(theta, half, volume)
        } else {
            let unit = normals.map(DVec3::normalize_or_zero);
            let mean = (unit[0] * theta[0] + unit[1] * theta[1] + unit[2] * theta[2]) * 0.5;
            unit.map(|n| n.dot(mean))
        };
        for k in 0..3 {
            out[corners[k]] += along[k] * normals[k].length() / (volume * d[k]);
        }
    }
}

/// Whether a point lies near the plane of a triangle, beside it: one side of the spherical triangle is nearly the sum of
/// the others. Near an edge the deficit of the perimeter is as small, and the plain sum is exact.
fn is_beside(theta: [f64; 3], half: f64) -> bool {
    let mut deficits = theta.map(|t| half - t);
    deficits.sort_by(f64::total_cmp);
    deficits[0] < BESIDE * deficits[1].min(PI - half)
}

/// The mean vector `m = 1/2 sum theta_i n_i` of a spherical triangle (Ju et al. 2005, eq. 11) along the unit normal n_k of
/// each of its sides, beside the triangle, from the sides, half their sum, and the volume of the corners.
///
/// There the sum loses all digits. So it is written with the differences s_i = half - theta_i, of which the smallest
/// follows from volume^2 = 4 sin(half) sin(s_0) sin(s_1) sin(s_2), and with sin^2 and cos^2 of half the dihedral angles.
fn beside(theta: [f64; 3], half: f64, volume: f64) -> [f64; 3] {
    let mut s = theta.map(|t| (half - t).max(0.0));
    let sine_of_half = half.sin();
    let smallest = [0, 1, 2]
        .into_iter()
        .fold(0, |a, b| if s[b] < s[a] { b } else { a });
    let others = s[(smallest + 1) % 3].sin() * s[(smallest + 2) % 3].sin();
    s[smallest] = (volume * volume * 0.25 / (sine_of_half * others))
        .min(1.0)
        .asin();
    let sine = s.map(f64::sin);
    // Of the dihedral angle at each corner.
    let (mut sine2, mut cosine2) = ([0.0; 3], [0.0; 3]);
    for i in 0..3 {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        let sides = theta[j].sin() * theta[k].sin();
        sine2[i] = (sine[j] * sine[k] / sides).clamp(0.0, 1.0);
        cosine2[i] = (sine_of_half * sine[i] / sides).clamp(0.0, 1.0);
    }
    [0, 1, 2].map(|k: usize| {
        let (i, j) = ((k + 1) % 3, (k + 2) % 3);
        // Half the sum of the cosines at i and j, from what is small at each.
        let cosines = match (sine2[i] > 0.5, sine2[j] > 0.5) {
            (false, false) => 1.0 - sine2[i] - sine2[j],
            (true, false) => cosine2[i] - sine2[j],
            (false, true) => cosine2[j] - sine2[i],
            (true, true) => cosine2[i] + cosine2[j] - 1.0,
        };
        s[i] * sine2[i] + s[j] * sine2[j] - s[k] * cosines
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A box from -1 to 1, faces outwards.
    fn cube() -> (Vec<DVec3>, Vec<[u32; 3]>) {
        let corner = |i: u32| {
            DVec3::new(
                f64::from(i & 1) * 2.0 - 1.0,
                f64::from(i >> 1 & 1) * 2.0 - 1.0,
                f64::from(i >> 2 & 1) * 2.0 - 1.0,
            )
        };
        let quads = [
            [0, 2, 3, 1],
            [4, 5, 7, 6],
            [0, 1, 5, 4],
            [2, 6, 7, 3],
            [0, 4, 6, 2],
            [1, 3, 7, 5],
        ];
        let halves = quads.map(|[a, b, c, d]| [[a, b, c], [a, c, d]]);
        ((0..8).map(corner).collect(), halves.concat())
    }

    #[test]
    fn both_forms_of_the_mean_vector_agree_where_both_are_exact() {
        let u = [
            DVec3::new(1.0, 0.2, 0.1),
            DVec3::new(-0.3, 1.0, 0.2),
            DVec3::new(0.1, 0.3, 1.0),
        ]
        .map(|u| u * (1.0 / u.length()));
        let side = |k: usize| (u[(k + 1) % 3], u[(k + 2) % 3]);
        let theta = [0, 1, 2].map(|k| side(k).0.angle_between(side(k).1));
        let normal = [0, 1, 2].map(|k| {
            let n = side(k).0.cross(side(k).1);
            n * (1.0 / n.length())
        });
        let m = (normal[0] * theta[0] + normal[1] * theta[1] + normal[2] * theta[2]) * 0.5;
        let half = theta.iter().sum::<f64>() * 0.5;
        let found = beside(theta, half, u[0].dot(u[1].cross(u[2])));
        for k in 0..3 {
            assert!((found[k] - normal[k].dot(m)).abs() < 1e-14, "{k}");
        }
    }

    #[test]
    fn the_middle_of_a_regular_cage_follows_all_of_it() {
        // The diagonals of the cube's faces split its corners unevenly, those of an octahedron cannot.
        let corners: Vec<DVec3> = [DVec3::X, DVec3::Y, DVec3::Z]
            .into_iter()
            .flat_map(|axis| [axis, -axis])
            .collect();
        let mut faces = Vec::new();
        for (i, signs) in [[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1]]
            .iter()
            .enumerate()
        {
            let [_, y, z] = *signs;
            let (a, b) = ([0, 2 + y, 4 + z], [1, 2 + y, 4 + z]);
            let flipped = i == 1 || i == 2;
            for (face, flip) in [(a, flipped), (b, !flipped)] {
                let [p, q, r] = face;
                faces.push(if flip { [p, r, q] } else { [p, q, r] });
            }
        }
        let cage = Cage::new(&corners, &faces, &[DVec3::ZERO], &Task::new()).unwrap();
        for w in cage.coordinates(0) {
            assert!((w - 1.0 / 6.0).abs() < 1e-15);
        }
    }

    #[test]
    fn what_does_not_enclose_is_refused_in_a_sentence() {
        let (corners, faces) = cube();
        let why = |corners: &[DVec3], faces: &[[u32; 3]]| {
            Cage::new(corners, faces, &[], &Task::new())
                .unwrap_err()
                .to_string()
        };
        assert_eq!(why(&corners, &[]), "the cage has no triangles");
        assert!(
            why(&corners, &faces[1..]).starts_with("the cage is open at the edge from vertex 0")
        );
        let mut flipped = faces.clone();
        flipped[3].swap(0, 1);
        assert!(why(&corners, &flipped).contains("face opposite sides"));
        let mut far = faces.clone();
        far[2][1] = 8;
        assert_eq!(
            why(&corners, &far),
            "triangle 2 of the cage names vertex 8, and there are 8"
        );
        let mut broken = corners.clone();
        broken[3].y = f64::NAN;
        assert_eq!(why(&broken, &faces), "vertex 3 of the cage is not finite");
        let many = vec![DVec3::ZERO; (1 << 22) + 1];
        let made = Cage::new(&corners, &faces, &many, &Task::new());
        assert!(made.unwrap_err().to_string().contains("needs 256 MiB"));
        let task = Task::new();
        task.cancel();
        assert_eq!(
            Cage::new(&corners, &faces, &[DVec3::ZERO], &task),
            Err(CageError::Cancelled(Cancelled))
        );
    }
}
