//! One step of the alignment.

use super::pairs::Pair;
use super::rigid::Rigid;
use crate::math::symmetric_eigen;
use glam::{DQuat, DVec3};
use rayon::prelude::*;

/// Pairs whose sums are taken on one thread, in order: the same bits for any number of threads.
const CHUNK: usize = 1024;
/// Movements with a smaller share of the largest eigenvalue change no distance: a sphere turns freely.
const FREE: f64 = 1e-5;
/// The largest rotation of a step, radians, for which its linearisation is good.
const MOST_RADIANS: f64 = 0.5;

/// A motion that brings points closer to the planes of their pairs.
pub(super) struct Step {
    pub(super) motion: Rigid,
    /// How far it moves the points, metres, about.
    pub(super) moved: f64,
    /// The degrees of freedom, of six, that the pairs do not determine.
    pub(super) n_free: usize,
}

/// The step that minimises `sum (n . (p + w x (p - c) + t - q))^2` over rotation w and translation t, c the centroid
/// (Chen & Medioni 1992; the linear system of Low 2004, about the centroid and in units of the mean radius).
///
/// Movements that change nothing are left out (Gelfand, Ikemoto, Rusinkiewicz & Levoy 2003). `None` where no pair counts.
pub(super) fn step(pairs: &[Pair], keeps: &[bool]) -> Option<Step> {
    let kept: Vec<&Pair> = pairs
        .iter()
        .zip(keeps)
        .filter_map(|(pair, keep)| keep.then_some(pair))
        .collect();
    if kept.is_empty() {
        return None;
    }
    let n = kept.len() as f64;
    let centre = kept.iter().map(|pair| pair.point).sum::<DVec3>() / n;
    let spread = kept.iter().map(|pair| pair.point.distance_squared(centre));
    let radius = (spread.sum::<f64>() / n).sqrt();
    if !(radius > 0.0 && radius.is_finite()) {
        return None;
    }
    let sums: Vec<System> = kept
        .par_chunks(CHUNK)
        .map(|chunk| System::of(chunk, centre, radius))
        .collect();
    let mut system = System::default();
    for other in &sums {
        system.add(other);
    }
    let (x, n_free) = system.solve(n)?;
    let turn = DVec3::new(x[0], x[1], x[2]);
    let shift = DVec3::new(x[3], x[4], x[5]);
    // The unknowns of the rotation are arcs at the mean radius.
    let turn = (turn / radius).clamp_length_max(MOST_RADIANS);
    let rotation = DQuat::from_scaled_axis(turn);
    Some(Step {
        motion: Rigid::about(rotation, centre, centre + shift),
        moved: turn.length() * radius + shift.length(),
        n_free,
    })
}

/// The normal equations.
#[derive(Clone, Debug, Default)]
struct System {
    a: [[f64; 6]; 6],
    b: [f64; 6],
}

impl System {
    fn of(pairs: &[&Pair], centre: DVec3, radius: f64) -> Self {
        let mut system = Self::default();
        for pair in pairs {
            let turn = ((pair.point - centre) / radius).cross(pair.normal);
            let n = pair.normal;
            let row = [turn.x, turn.y, turn.z, n.x, n.y, n.z];
            let off = n.dot(pair.point - pair.foot);
            for i in 0..6 {
                for j in i..6 {
                    system.a[i][j] += row[i] * row[j];
                }
                system.b[i] -= row[i] * off;
            }
        }
        system
    }

    fn add(&mut self, other: &Self) {
        for i in 0..6 {
            for j in i..6 {
                self.a[i][j] += other.a[i][j];
            }
            self.b[i] += other.b[i];
        }
    }

    /// The least solution, and the number of directions that it leaves out; of `n` pairs.
    fn solve(&self, n: f64) -> Option<([f64; 6], usize)> {
        let a: [[f64; 6]; 6] =
            std::array::from_fn(|i| std::array::from_fn(|j| self.a[i.min(j)][i.max(j)] / n));
        let (values, vectors) = symmetric_eigen(a);
        let largest = values.iter().fold(0.0, |a: f64, b| a.max(*b));
        let (mut x, mut n_free) = ([0.0; 6], 0);
        for (k, value) in values.iter().enumerate() {
            if *value > largest * FREE {
                let along: f64 = (0..6).map(|i| vectors[i][k] * self.b[i] / n).sum();
                for (i, x) in x.iter_mut().enumerate() {
                    *x += vectors[i][k] * along / value;
                }
            } else {
                n_free += 1;
            }
        }
        x.iter().all(|x| x.is_finite()).then_some((x, n_free))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_finds_a_small_motion_and_leaves_free_ones_alone() {
        let motion = Rigid::about(
            DQuat::from_scaled_axis(DVec3::new(1e-5, -2e-5, 3e-5)),
            DVec3::ZERO,
            DVec3::new(1e-5, 2e-5, -1e-5),
        );
        let place = |i: usize| {
            let t = i as f64;
            DVec3::new(
                (t * 0.7).sin(),
                (t * 1.3).cos() * 0.5,
                (t * 2.1).sin() * 0.2,
            )
        };
        let normal = |i: usize| {
            let t = i as f64;
            DVec3::new((t * 1.9).cos(), (t * 0.3).sin(), (t * 2.7).cos()).normalize_or_zero()
        };
        let pair = |i: usize| Pair {
            point: motion.inverse().apply(place(i)),
            foot: place(i),
            normal: normal(i),
        };
        let pairs: Vec<Pair> = (0..3000).map(pair).collect();
        let found = step(&pairs, &[true; 3000]).unwrap();
        assert_eq!(found.n_free, 0);
        for p in [DVec3::X, DVec3::Y, DVec3::Z] {
            let off = found.motion.apply(p).distance(motion.apply(p));
            assert!(off < 1e-8, "{off}");
        }
        // A plane: three degrees of freedom are not determined.
        let flat = |i: usize| Pair {
            point: place(i).with_z(0.25),
            foot: place(i).with_z(0.0),
            normal: DVec3::Z,
        };
        let pairs: Vec<Pair> = (0..3000).map(flat).collect();
        let found = step(&pairs, &[true; 3000]).unwrap();
        assert_eq!(found.n_free, 3);
        assert!(found.motion.translation.distance(-DVec3::Z * 0.25) < 1e-12);
        assert!(step(&pairs, &[false; 3000]).is_none());
    }
}
