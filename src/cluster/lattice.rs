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
    /// The corner of the box, mesh space at bind.
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

    /// The box around points with a margin, so that points in a plane are in a box too; `None` without points.
    pub fn around(points: impl IntoIterator<Item = DVec3>, counts: [u32; 3]) -> Option<Self> {
        let [min, max] = box_around(points)?;
        Some(Self::from_box(min, max, counts))
    }

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

    /// The neighbours among the control points, each pair once: the lines of the lattice.
    pub fn lines(&self) -> Vec<[u32; 2]> {
        let [l, m, n] = self.counts;
        let mut lines = Vec::new();
        for k in 0..n {
            for j in 0..m {
                for i in 0..l {
                    let at = i + l * (j + m * k);
                    lines.extend((i + 1 < l).then_some([at, at + 1]));
                    lines.extend((j + 1 < m).then_some([at, at + l]));
                    lines.extend((k + 1 < n).then_some([at, at + l * m]));
                }
            }
        }
        lines
    }

    /// Whether a point is in the box, its faces included.
    pub fn contains(&self, point: DVec3) -> bool {
        let at = self.coordinates(point);
        // A vertex on a face belongs to the box, whatever its rounding.
        at.cmpge(DVec3::splat(-1e-9)).all() && at.cmple(DVec3::splat(1.0 + 1e-9)).all()
    }

    /// The displacements of the control points of a lattice with other counts, of those of this one.
    ///
    /// More control points: the same shape, by degree elevation of the Bernstein polynomials (Farin 2002, section 6.1). Fewer:
    /// each is displaced as its place was.
    pub fn resampled(&self, offsets: &[DVec3], counts: [u32; 3]) -> Vec<DVec3> {
        let mut grid = offsets.to_vec();
        let mut now = self.counts.map(|n| n as usize);
        for (axis, count) in counts.into_iter().enumerate() {
            let count = count as usize;
            grid = resampled_along(&grid, now, axis, count);
            now[axis] = count;
        }
        grid
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
            if settings.outside == Outside::Still && !settings.contains(*point) {
                continue;
            }
            moved.push(i as u32);
            let at = settings.coordinates(*point).clamp(DVec3::ZERO, DVec3::ONE);
            for (count, t) in counts.iter().zip(at.to_array()) {
                bernstein(*count, t, &mut weights);
            }
        }
        Ok(Self {
            counts,
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

    /// Adds the displacements (bind space, metres) to `out` (n_points) for the displacements of the control points, in the
    /// order of [`LatticeSettings::rest`] (eq. 2). At rest it adds exactly 0.
    pub fn add(&self, offsets: &[DVec3], out: &mut [DVec3]) {
        let stride: usize = self.counts.iter().sum();
        let move_one = |weights: &[f64]| {
            let [l, m, _] = self.counts;
            let (along_s, rest) = weights.split_at(l);
            let (along_t, along_u) = rest.split_at(m);
            let mut sum = DVec3::ZERO;
            let mut control = 0;
            for w_u in along_u {
                for w_t in along_t {
                    for w_s in along_s {
                        sum += offsets[control] * (w_s * w_t * w_u);
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

/// The corners of the box around points with a margin of a twentieth of its diagonal; `None` without points.
pub(super) fn box_around(points: impl IntoIterator<Item = DVec3>) -> Option<[DVec3; 2]> {
    const MARGIN: f64 = 0.05;
    /// Half the side of the box around a single point, metres.
    const LEAST: f64 = 1e-3;
    let finite = points.into_iter().filter(|point| point.is_finite());
    let (low, high) = finite.fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), p| {
        (low.min(p), high.max(p))
    });
    let margin = DVec3::splat((MARGIN * (high - low).length()).max(LEAST));
    low.is_finite().then(|| [low - margin, high + margin])
}

/// A grid of displacements, the first axis fastest, with another count along one axis.
fn resampled_along(grid: &[DVec3], counts: [usize; 3], axis: usize, count: usize) -> Vec<DVec3> {
    let (n, stride) = (counts[axis], counts[..axis].iter().product::<usize>());
    let n_outer: usize = counts[axis + 1..].iter().product();
    let mut out = vec![DVec3::ZERO; stride * count * n_outer];
    let mut weights = Vec::new();
    for outer in 0..n_outer {
        for inner in 0..stride {
            let place = |i: usize, n: usize| inner + stride * (i + n * outer);
            let mut line: Vec<DVec3> = (0..n).map(|i| grid[place(i, n)]).collect();
            while line.len() < count {
                let degree = line.len();
                let share = |i: usize| i as f64 / degree as f64;
                let before = |i: usize| i.checked_sub(1).map_or(DVec3::ZERO, |i| line[i]);
                let own = |i: usize| line.get(i).copied().unwrap_or(DVec3::ZERO);
                line = (0..=degree)
                    .map(|i| before(i) * share(i) + own(i) * (1.0 - share(i)))
                    .collect();
            }
            for i in 0..count {
                out[place(i, count)] = if line.len() == count {
                    line[i]
                } else {
                    weights.clear();
                    bernstein(n, i as f64 / (count - 1) as f64, &mut weights);
                    let parts = line.iter().zip(&weights).map(|(d, w)| *d * *w);
                    parts.sum()
                };
            }
        }
    }
    out
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
        let lifted = vec![DVec3::X; settings.n_controls()];
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
    fn the_shape_stays_with_more_control_points_and_nearly_with_fewer() {
        let settings = LatticeSettings::from_box(DVec3::ZERO, DVec3::ONE, [2, 3, 4]);
        let offsets: Vec<DVec3> = settings
            .rest()
            .iter()
            .map(|p| DVec3::new(p.y * p.y, p.x * p.z, p.z * p.z * p.y))
            .collect();
        let points: Vec<DVec3> = LatticeSettings::from_box(DVec3::ZERO, DVec3::ONE, [5; 3]).rest();
        let moved = |settings: LatticeSettings, offsets: &[DVec3]| {
            let mut out = vec![DVec3::ZERO; points.len()];
            let lattice = Lattice::new(&settings, &points).unwrap();
            lattice.add(offsets, &mut out);
            out
        };
        let before = moved(settings, &offsets);
        let other = |counts| LatticeSettings { counts, ..settings };
        let more = settings.resampled(&offsets, [4, 3, 6]);
        for (a, b) in moved(other([4, 3, 6]), &more).iter().zip(&before) {
            assert!(a.abs_diff_eq(*b, 1e-14), "{a} {b}");
        }
        let fewer = settings.resampled(&offsets, [2, 2, 2]);
        let corner = |out: &[DVec3]| (out[0], out[out.len() - 1]);
        let (a, b) = (corner(&moved(other([2; 3]), &fewer)), corner(&before));
        assert!(a.0.abs_diff_eq(b.0, 1e-14) && a.1.abs_diff_eq(b.1, 1e-14));
        assert_eq!(settings.lines().len(), 3 * 4 + 2 * 2 * 4 + 2 * 3 * 3);
    }

    #[test]
    fn a_box_around_points_in_a_plane_has_volume() {
        let flat = [DVec3::ZERO, DVec3::X, DVec3::Y];
        let found = LatticeSettings::around(flat, [2; 3]).unwrap();
        assert!(found.check().is_ok() && flat.iter().all(|p| found.contains(*p)));
        assert!(
            LatticeSettings::around([DVec3::ONE], [2; 3])
                .unwrap()
                .check()
                .is_ok()
        );
        assert_eq!(LatticeSettings::around([], [2; 3]), None);
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
