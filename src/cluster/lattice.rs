//! Free-form deformation: vertices in a box move with the control points of a lattice (Sederberg & Parry 1986).

use super::check::within;
use glam::DVec3;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Points of one unit of parallel work.
const CHUNK: usize = 256;

/// A lattice at rest: a box with control points in equal steps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatticeSettings {
    /// The corner of the box, object space at bind, metres.
    pub origin: DVec3,
    /// The edges of the box from that corner (S, T, U); they need not be perpendicular.
    pub edges: [DVec3; 3],
    /// The number of control points along each edge, 2 - 16.
    pub counts: [u32; 3],
    /// What vertices outside of the box do.
    pub outside: Outside,
}

/// What vertices outside of the box of a lattice do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outside {
    /// They stay, as in the paper.
    #[default]
    Still,
    /// They move as the nearest place in the box does (in its own coordinates), so that nothing tears.
    Nearest,
}

impl LatticeSettings {
    /// The largest number of control points along an edge.
    pub const MAX_COUNT: u32 = 16;

    /// The box from `min` to `max`.
    pub fn from_box(min: DVec3, max: DVec3, counts: [u32; 3]) -> Self {
        let size = max - min;
        Self {
            origin: min,
            edges: [DVec3::X * size.x, DVec3::Y * size.y, DVec3::Z * size.z],
            counts,
            outside: Outside::default(),
        }
    }

    /// An error that names a value out of its range.
    pub fn check(&self) -> Result<(), String> {
        for (count, edge) in self.counts.iter().zip(["S", "T", "U"]) {
            let what = format!("the number of lattice points along {edge}");
            within(&what, f64::from(*count), 2.0, f64::from(Self::MAX_COUNT))?;
        }
        if !self.origin.is_finite() {
            return Err("the corner of the lattice is not finite".into());
        }
        let [s, t, u] = self.edges;
        let volume = s.dot(t.cross(u)).abs();
        if volume.is_finite() && volume > 1e-12 * s.length() * t.length() * u.length() {
            Ok(())
        } else {
            Err("the box of the lattice has no volume".into())
        }
    }

    /// The number of control points.
    pub fn n_controls(&self) -> usize {
        self.counts.iter().map(|n| *n as usize).product()
    }

    /// The control points at rest: along S fastest, then T, then U.
    pub fn rest(&self) -> Vec<DVec3> {
        let [l, m, n] = self.counts;
        let share = |i: u32, count: u32| f64::from(i) / f64::from(count.max(2) - 1);
        let mut rest = Vec::with_capacity(self.n_controls());
        for k in 0..n {
            for j in 0..m {
                for i in 0..l {
                    let [s, t, u] = self.edges;
                    let at = s * share(i, l) + t * share(j, m) + u * share(k, n);
                    rest.push(self.origin + at);
                }
            }
        }
        rest
    }

    /// The coordinates of a point in the box, each 0 - 1 inside (eq. 1).
    fn coordinates(&self, point: DVec3) -> DVec3 {
        let [s, t, u] = self.edges;
        let from = point - self.origin;
        let volume = s.dot(t.cross(u));
        DVec3::new(
            t.cross(u).dot(from),
            u.cross(s).dot(from),
            s.cross(t).dot(from),
        ) / volume
    }
}

/// A lattice on its vertices, ready to be evaluated.
#[derive(Clone, Debug, PartialEq)]
pub struct Lattice {
    counts: [usize; 3],
    rest: Vec<DVec3>,
    /// The vertices inside, or all; ascending.
    moved: Vec<u32>,
    /// For each of `moved`: the Bernstein polynomials along S, T and U.
    weights: Vec<f64>,
    n_points: usize,
}

impl Lattice {
    /// Of settings and the vertices at bind (object space, metres).
    pub fn new(settings: &LatticeSettings, points: &[DVec3]) -> Result<Self, String> {
        settings.check()?;
        let counts = settings.counts.map(|n| n as usize);
        let (mut moved, mut weights) = (Vec::new(), Vec::new());
        for (i, point) in points.iter().enumerate() {
            if !point.is_finite() {
                return Err(format!("vertex {i} in the lattice is not finite"));
            }
            let at = settings.coordinates(*point);
            // A vertex on a face belongs to the box, whatever its rounding.
            let inside =
                at.cmpge(DVec3::splat(-1e-9)).all() && at.cmple(DVec3::splat(1.0 + 1e-9)).all();
            if !inside && settings.outside == Outside::Still {
                continue;
            }
            moved.push(i as u32);
            let at = at.clamp(DVec3::ZERO, DVec3::ONE);
            for (count, t) in counts.iter().zip(at.to_array()) {
                bernstein(*count, t, &mut weights);
            }
        }
        Ok(Self {
            counts,
            rest: settings.rest(),
            moved,
            weights,
            n_points: points.len(),
        })
    }

    /// The number of vertices.
    pub fn n_points(&self) -> usize {
        self.n_points
    }

    /// The vertices that the lattice moves, ascending.
    pub fn moved(&self) -> &[u32] {
        &self.moved
    }

    /// Adds the displacements (bind space, metres) to `out` (n_points) for the control points at `controls`, in the order
    /// of [`LatticeSettings::rest`] (eq. 2). At rest it adds exactly 0.
    pub fn add(&self, controls: &[DVec3], out: &mut [DVec3]) {
        let stride: usize = self.counts.iter().sum();
        let offset = |i: usize| controls[i] - self.rest[i];
        let move_one = |weights: &[f64]| {
            let [l, m, _] = self.counts;
            let (along_s, rest) = weights.split_at(l);
            let (along_t, along_u) = rest.split_at(m);
            let mut sum = DVec3::ZERO;
            let mut control = 0;
            for w_u in along_u {
                for w_t in along_t {
                    for w_s in along_s {
                        sum += offset(control) * (w_s * w_t * w_u);
                        control += 1;
                    }
                }
            }
            sum
        };
        if self.moved.len() == out.len() {
            out.par_chunks_mut(CHUNK)
                .zip(self.weights.par_chunks(CHUNK * stride))
                .for_each(|(out, weights)| {
                    for (out, weights) in out.iter_mut().zip(weights.chunks(stride)) {
                        *out += move_one(weights);
                    }
                });
            return;
        }
        for (point, weights) in self.moved.iter().zip(self.weights.chunks(stride)) {
            out[*point as usize] += move_one(weights);
        }
    }
}

/// Appends the `count` Bernstein polynomials of degree count - 1 at t, 0 - 1, by de Casteljau's recurrence.
fn bernstein(count: usize, t: f64, out: &mut Vec<f64>) {
    let start = out.len();
    out.push(1.0);
    for degree in 1..count {
        out.push(0.0);
        let row = &mut out[start..];
        for i in (1..=degree).rev() {
            row[i] = row[i] * (1.0 - t) + row[i - 1] * t;
        }
        row[0] *= 1.0 - t;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bernstein_polynomials_have_their_values() {
        let mut out = vec![7.0];
        bernstein(4, 0.25, &mut out);
        let (s, t) = (0.75f64, 0.25f64);
        let expected = [s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t];
        for (found, expected) in out[1..].iter().zip(expected) {
            assert!((found - expected).abs() < 1e-16);
        }
    }

    #[test]
    fn a_vertex_outside_stays_or_follows_the_nearest_place() {
        let settings = LatticeSettings::from_box(DVec3::ZERO, DVec3::ONE, [2, 3, 2]);
        let points = [DVec3::splat(0.5), DVec3::new(0.5, 0.5, 3.0)];
        let lifted: Vec<DVec3> = settings.rest().iter().map(|p| *p + DVec3::X).collect();
        let still = Lattice::new(&settings, &points).unwrap();
        assert_eq!((still.moved(), still.n_points()), ([0].as_slice(), 2));
        let mut out = [DVec3::ZERO; 2];
        still.add(&lifted, &mut out);
        assert!(out[0].abs_diff_eq(DVec3::X, 1e-15));
        assert_eq!(out[1], DVec3::ZERO);
        let near = LatticeSettings {
            outside: Outside::Nearest,
            ..settings
        };
        let mut out = [DVec3::ZERO; 2];
        Lattice::new(&near, &points).unwrap().add(&lifted, &mut out);
        assert!(out[1].abs_diff_eq(DVec3::X, 1e-15));
    }

    #[test]
    fn faults_are_named() {
        let good = LatticeSettings::from_box(DVec3::ZERO, DVec3::ONE, [2, 2, 2]);
        let flat = LatticeSettings::from_box(DVec3::ZERO, DVec3::new(1.0, 0.0, 1.0), [2, 2, 2]);
        assert_eq!(
            flat.check().unwrap_err(),
            "the box of the lattice has no volume"
        );
        let many = LatticeSettings {
            counts: [2, 17, 2],
            ..good
        };
        assert_eq!(
            many.check().unwrap_err(),
            "the number of lattice points along T is 17, which is not 2 - 16"
        );
        let broken = Lattice::new(&good, &[DVec3::ZERO, DVec3::NAN]);
        assert_eq!(broken.unwrap_err(), "vertex 1 in the lattice is not finite");
    }
}
