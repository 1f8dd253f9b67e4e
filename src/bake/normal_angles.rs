//! Angles between the normals that a player shows and those of the deformer stacks.

use crate::bake::problem::rows::{WeightRow, blended, normalised};
use crate::math::Worse;
use crate::mesh::Mesh;
use crate::skinning::Influences;
use glam::{DAffine3, DVec3, Vec3};

/// The bin width of the angle histogram, degrees: the resolution of percentiles.
const BIN_DEGREES: f64 = 0.01;
const N_BINS: usize = 18_001;

/// A point is blended if at least two of its weights exceed this; smaller weights vanish in 16-bit files.
const BLENDED_WEIGHT: f32 = 1e-4;

/// Statistics of angles between the normals that a player shows and those of the stacks, over blended points and all
/// times, degrees. A player transforms a normal by the blended matrix and normalises it, as three.js does. Zeros where
/// there are no normals to compare.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Angles {
    /// The mean.
    pub mean: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The largest.
    pub max: f64,
    /// The number of normals compared, over all times.
    pub n: u64,
}

/// A histogram of angles.
#[derive(Clone)]
pub(super) struct AngleHistogram {
    counts: Vec<u64>,
    sum: f64,
    max: f64,
    n: u64,
}

impl Default for AngleHistogram {
    fn default() -> Self {
        Self {
            counts: vec![0; N_BINS],
            sum: 0.0,
            max: 0.0,
            n: 0,
        }
    }
}

impl AngleHistogram {
    /// Counts an angle; one that is not a number as infinite.
    pub(super) fn add(&mut self, degrees: f64) {
        let degrees = 0.0.worse(degrees);
        self.counts[((degrees / BIN_DEGREES) as usize).min(N_BINS - 1)] += 1;
        self.sum += degrees;
        self.max = self.max.worse(degrees);
        self.n += 1;
    }

    pub(super) fn append(&mut self, other: &Self) {
        for (count, other) in self.counts.iter_mut().zip(&other.counts) {
            *count += other;
        }
        self.sum += other.sum;
        self.max = self.max.worse(other.max);
        self.n += other.n;
    }

    pub(super) fn angles(&self) -> Angles {
        let mut above = 0;
        let quantile = self.counts.iter().enumerate().rev().find(|(_, count)| {
            above += **count;
            above as f64 > 0.01 * self.n as f64
        });
        // The last bin has no upper end.
        let upper = |step: usize| match step + 1 {
            N_BINS => self.max,
            above => (above as f64 * BIN_DEGREES).min(self.max),
        };
        Angles {
            mean: self.sum / self.n.max(1) as f64,
            p99: quantile.map_or(0.0, |(step, _)| upper(step)),
            max: self.max,
            n: self.n,
        }
    }
}

/// The angle between two directions, degrees; 180 if one of them is zero.
pub(super) fn angle(a: DVec3, b: DVec3) -> f64 {
    let (a, b) = (a.normalize_or_zero(), b.normalize_or_zero());
    if a == DVec3::ZERO || b == DVec3::ZERO {
        return 180.0;
    }
    // Accurate for small angles, unlike the arc cosine.
    (2.0 * (a - b).length().atan2((a + b).length())).to_degrees()
}

/// Entries of [`Mesh::normals`] on blended points, in primitives whose normals are in the file.
pub(super) fn compared_normals(mesh: &Mesh, influences: &Influences) -> Vec<u32> {
    let mut shown = vec![false; mesh.normals.len()];
    for primitive in mesh.primitives.iter().filter(|p| p.has_normals) {
        let vertices = primitive.vertices.start as usize..primitive.vertices.end as usize;
        for &normal in &mesh.normal_of_vertex[vertices] {
            shown[normal as usize] = true;
        }
    }
    let is_shared = |point: u32| {
        let row = influences.row(point);
        row.iter()
            .filter(|(_, weight)| *weight > BLENDED_WEIGHT)
            .count()
            > 1
    };
    let normals = 0..mesh.normals.len() as u32;
    normals
        .filter(|&n| shown[n as usize] && is_shared(mesh.point_of_normal[n as usize]))
        .collect()
}

/// The lowest vertex of each entry of [`Mesh::normals`].
pub(super) fn first_vertex_of_normal(mesh: &Mesh) -> Vec<u32> {
    let mut first = vec![0; mesh.normals.len()];
    for (v, &n) in mesh.normal_of_vertex.iter().enumerate().rev() {
        first[n as usize] = v as u32;
    }
    first
}

/// Normals of some vertices before skinning, with the normal deltas of morph targets.
pub(super) struct BindNormals {
    normals: Vec<Vec3>,
    /// The deltas of normal i: entries `starts[i]` to `starts[i + 1]`, by target.
    starts: Vec<u32>,
    added: Vec<(u32, Vec3)>,
}

impl BindNormals {
    pub(super) fn of(mesh: &Mesh, vertices: &[u32]) -> Self {
        let normal = |&v: &u32| mesh.normals[mesh.normal_of_vertex[v as usize] as usize];
        let mut all = Self {
            normals: vertices.iter().map(normal).collect(),
            starts: vec![0],
            added: Vec::new(),
        };
        for vertex in vertices {
            for (target, morph) in mesh.morphs.iter().enumerate() {
                let found = morph.normals.binary_search_by_key(vertex, |entry| entry.0);
                if let Ok(at) = found {
                    all.added.push((target as u32, morph.normals[at].1));
                }
            }
            all.starts.push(all.added.len() as u32);
        }
        all
    }

    /// Normal `i`; missing weights count as 0.
    pub(super) fn at(&self, i: usize, weights: &[f32]) -> DVec3 {
        let added = &self.added[self.starts[i] as usize..self.starts[i + 1] as usize];
        let added = added.iter().map(|(target, normal)| {
            let weight = weights.get(*target as usize).copied().unwrap_or(0.0);
            normal.as_dvec3() * f64::from(weight)
        });
        self.normals[i].as_dvec3() + added.sum::<DVec3>()
    }
}

/// The compared normals of a mesh, as a player skins another mesh with the same vertices.
pub(super) struct Shading {
    /// Entries of [`Mesh::normals`] of the first mesh.
    pub(super) normals: Vec<u32>,
    bind: BindNormals,
    /// Rows of the second mesh.
    rows: Vec<WeightRow>,
}

impl Shading {
    pub(super) fn of(
        (mesh, influences): (&Mesh, &Influences),
        (theirs, their_influences): (&Mesh, &Influences),
    ) -> Self {
        let normals = compared_normals(mesh, influences);
        let first = first_vertex_of_normal(mesh);
        let vertices: Vec<u32> = normals.iter().map(|&n| first[n as usize]).collect();
        let row = |&v: &u32| {
            let row = their_influences.row(theirs.point_of_vertex[v as usize]);
            normalised(row.iter().map(|(j, w)| (j, f64::from(w))).collect())
        };
        Self {
            bind: BindNormals::of(theirs, &vertices),
            rows: vertices.iter().map(row).collect(),
            normals,
        }
    }

    /// A player's normals: with morph targets, transformed by the blended matrix, not normalised.
    pub(super) fn shown(&self, matrices: &[DAffine3], morph_weights: &[f32]) -> Vec<DVec3> {
        let rows = self.rows.iter().enumerate();
        rows.map(|(i, row)| blended(row, matrices).matrix3 * self.bind.at(i, morph_weights))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::Morph;

    #[test]
    fn angles_are_counted() {
        let mut counts = AngleHistogram::default();
        (0..198).for_each(|_| counts.add(0.5));
        let mut others = AngleHistogram::default();
        others.add(3.0);
        others.add(20.0);
        counts.append(&others);
        let angles = counts.angles();
        assert!((angles.p99 - 0.51).abs() < 1e-9, "{angles:?}");
        assert_eq!((angles.max, angles.n), (20.0, 200));
        assert!((angles.mean - 122.0 / 200.0).abs() < 1e-9);
        assert_eq!(AngleHistogram::default().angles(), Angles::default());
        // One in fifty that is not a number is not the best of all.
        for broken in [f64::NAN, f64::INFINITY] {
            let mut counts = AngleHistogram::default();
            (0..49).for_each(|_| counts.add(0.5));
            let mut others = AngleHistogram::default();
            others.add(broken);
            counts.append(&others);
            let angles = counts.angles();
            let found = [angles.mean, angles.p99, angles.max];
            assert_eq!((found, angles.n), ([f64::INFINITY; 3], 50));
        }
    }

    #[test]
    fn small_angles_are_exact() {
        let turned = DVec3::new(1e-6, 0.0, 2.0);
        assert!((angle(DVec3::Z, turned) - 0.5e-6f64.to_degrees()).abs() < 1e-12);
        assert!((angle(DVec3::Z, DVec3::NEG_Z) - 180.0).abs() < 1e-9);
        assert!((angle(DVec3::Z, DVec3::ZERO) - 180.0).abs() < 1e-9);
    }

    #[test]
    fn morph_targets_turn_bind_normals() {
        let morph = |v: u32, n: Vec3| Morph {
            name: String::new(),
            deltas: Vec::new(),
            normals: vec![(v, n)],
        };
        let mesh = Mesh {
            normals: vec![Vec3::X, Vec3::Z],
            normal_of_vertex: vec![1, 0, 1],
            morphs: vec![morph(2, Vec3::Y), morph(0, Vec3::X)],
            ..Mesh::default()
        };
        let normals = BindNormals::of(&mesh, &[2, 1]);
        assert_eq!(normals.at(0, &[0.5, 1.0]), DVec3::new(0.0, 0.5, 1.0));
        assert_eq!(normals.at(1, &[0.5]), DVec3::X);
        assert_eq!(first_vertex_of_normal(&mesh), [1, 0]);
    }
}
