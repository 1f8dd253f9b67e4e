//! The deltas of one normal, for given weights.
//!
//! A player shows `normalise(A (n + sum_k w_k d_k))` with A the blended matrix and n the bind normal. A few weights are chosen
//! one after another, each the one that leaves the least of the residuals in bind space (orthogonal matching pursuit: Pati
//! et al. 1993); Gauss-Newton steps on the angles follow.

use crate::bake::normal_angles::angle;
use crate::bake::solve::irls;
use crate::bake::solve::linear::solve_in_place;
use glam::{DMat3, DVec3};

/// The most weights that a normal follows: each costs an entry of a morph target.
const MAX_COLUMNS: usize = 8;
/// A further weight must leave less than this fraction of the score.
const LEAST_GAIN: f64 = 0.95;
/// Angles that count as large as any larger one, degrees: a normal that flips in a crease is not to decide over all else.
const LARGE_DEGREES: f64 = 20.0;
/// A normal this far off shades as if it faced another way, degrees: their number must not grow.
const FLIPPED_DEGREES: f32 = 60.0;
/// Deltas shorter than this at the largest weight are left out.
const LEAST_DELTA: f64 = 0.004;
/// A normal below this at all moments is done, degrees.
const DONE_DEGREES: f32 = 1.0;
/// Normals whose largest angle is below this get no deltas, degrees.
const LEAST_DEGREES: f32 = 2.0;
/// Weight of an error in length relative to one in direction; lengths are normalised, but a short normal is unstable.
const LENGTH_WEIGHT: f64 = 0.2;
/// Ridge relative to the weight of all observations (no unit).
const RIDGE: f64 = 1e-3;
/// The same for the choice of weights, whose residuals are exact.
const PURSUIT_RIDGE: f64 = 1e-4;
/// The least length of a normal in the linearisation, as a fraction of the matrix's scale.
const MIN_LENGTH: f64 = 0.15;
/// The least length of a target in a residual, as a fraction of the normal's own, and the largest length of a residual.
const LEAST_TARGET: f64 = 0.3;
const MAX_RESIDUAL: f64 = 3.0;
/// Singular matrices are damped by this fraction of their scale.
const DAMPING: f64 = 0.03;

/// A normal in one observation.
#[derive(Clone, Copy)]
pub(super) struct Shown {
    /// The blended matrix, and the normal it gives without deltas.
    pub(super) matrix: DMat3,
    pub(super) position: DVec3,
    pub(super) target: DVec3,
}

impl Shown {
    fn scale(&self) -> f64 {
        let axes = [self.matrix.x_axis, self.matrix.y_axis, self.matrix.z_axis];
        let square: f64 = axes.iter().map(|c| c.length_squared()).sum();
        (square / 3.0).sqrt() + 1e-30
    }

    /// What the bind normal lacks to show the target, bind space.
    pub(super) fn residual(&self) -> DVec3 {
        let a = self.matrix;
        let length = self.position.dot(self.target);
        let length = length.max(LEAST_TARGET * self.position.length());
        let damping = DAMPING * self.scale();
        let inner = a.transpose() * a + DMat3::from_diagonal(DVec3::splat(damping * damping));
        let left = inner.inverse() * (a.transpose() * (self.target * length - self.position));
        if left.is_finite() {
            left.clamp_length_max(MAX_RESIDUAL)
        } else {
            DVec3::ZERO
        }
    }

    /// Its angle with a delta, degrees.
    fn angle(&self, delta: DVec3) -> f32 {
        angle(self.position + self.matrix * delta, self.target) as f32
    }
}

/// Weights of the displacements as fractions of their largest: observations x k, and their products.
pub(super) struct WeightTable {
    k: usize,
    rows: Vec<f64>,
    products: Vec<f64>,
}

impl WeightTable {
    pub(super) fn new(k: usize, rows: Vec<f64>) -> Self {
        let mut products = vec![0.0; k * k];
        for row in rows.chunks_exact(k.max(1)) {
            for (i, a) in row.iter().enumerate().filter(|(_, a)| **a != 0.0) {
                for (entry, b) in products[i * k..(i + 1) * k].iter_mut().zip(row) {
                    *entry += a * b;
                }
            }
        }
        Self { k, rows, products }
    }

    pub(super) fn row(&self, observation: usize) -> &[f64] {
        &self.rows[observation * self.k..(observation + 1) * self.k]
    }

    fn product(&self, i: usize, j: usize) -> f64 {
        self.products[i * self.k + j]
    }

    /// The chosen weights of each observation.
    fn chosen(&self, columns: &[usize]) -> Vec<f64> {
        let rows = self.rows.chunks_exact(self.k.max(1));
        rows.flat_map(|row| columns.iter().map(|&c| row[c]))
            .collect()
    }
}

/// The fits of one normal that follow more and more weights.
#[derive(Default)]
pub(super) struct Pursuit {
    /// Displacements in the order in which they were chosen, up to the last step.
    pub(super) columns: Vec<usize>,
    /// Each follows more weights than the one before, and has a lower score.
    pub(super) steps: Vec<Step>,
    /// Angles by observation without deltas, degrees.
    pub(super) before: Vec<f32>,
}

/// One of the fits of a normal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Step {
    /// The number of weights that it follows.
    pub(super) n: usize,
    pub(super) score: f64,
    /// The number of angles above the goal.
    pub(super) n_above: usize,
}

/// The fit of one normal.
#[derive(Default)]
pub(super) struct NormalFit {
    /// The displacements whose weights it follows.
    pub(super) columns: Vec<usize>,
    /// Their deltas at the largest weights.
    pub(super) d: Vec<DVec3>,
    /// Angles by observation, degrees, without and with the deltas; `after` is empty where there are none.
    pub(super) before: Vec<f32>,
    pub(super) after: Vec<f32>,
}

/// The sum of the squares of angles, of which large ones count alike.
pub(super) fn score(angles: &[f32]) -> f64 {
    let squares = angles
        .iter()
        .map(|a| f64::from(*a).min(LARGE_DEGREES).powi(2));
    squares.sum()
}

/// The number of angles above a goal, in degrees; NaN counts as above.
pub(super) fn n_above(angles: &[f32], goal: f32) -> usize {
    let is_reached = |a: &&f32| **a <= goal;
    angles.len() - angles.iter().filter(is_reached).count()
}

impl Pursuit {
    /// Chooses weights one after another; angles up to `goal` are good.
    pub(super) fn new(shown: &[Shown], weights: &WeightTable, goal: f32) -> Self {
        let before: Vec<f32> = shown.iter().map(|o| o.angle(DVec3::ZERO)).collect();
        let k = weights.k;
        if k == 0 || before.iter().all(|a| *a < LEAST_DEGREES) {
            return Self {
                before,
                ..Self::default()
            };
        }
        let correlation = correlation(shown, weights);
        let ridge = PURSUIT_RIDGE * shown.len() as f64;
        let (mut columns, mut d): (Vec<usize>, Vec<DVec3>) = Default::default();
        let mut steps: Vec<Step> = Vec::new();
        let (mut lowest, n_flipped) = (score(&before), n_above(&before, FLIPPED_DEGREES));
        while columns.len() < MAX_COLUMNS.min(k) {
            let left = |j: usize| -> f64 {
                let taken = columns.iter().zip(&d);
                let taken: DVec3 = taken.map(|(&i, d)| *d * weights.product(i, j)).sum();
                (correlation[j] - taken).length_squared() / (weights.product(j, j) + ridge)
            };
            let free = (0..k).filter(|j| !columns.contains(j));
            let next = free
                .map(|j| (left(j), j))
                .max_by(|a, b| a.0.total_cmp(&b.0));
            let Some((gain, column)) = next.filter(|next| next.0 > 0.0) else {
                break;
            };
            debug_assert!(gain.is_finite());
            columns.push(column);
            let Some(found) = solve_products(weights, &columns, &correlation, ridge) else {
                break;
            };
            d = found;
            let angles = angles(shown, &weights.chosen(&columns), &d);
            let now = score(&angles);
            if now < LEAST_GAIN * lowest && n_above(&angles, FLIPPED_DEGREES) <= n_flipped {
                lowest = now;
                steps.push(Step {
                    n: columns.len(),
                    score: now,
                    n_above: n_above(&angles, goal),
                });
                if angles.iter().all(|a| *a < DONE_DEGREES) {
                    break;
                }
            }
        }
        columns.truncate(steps.last().map_or(0, |last| last.n));
        Self {
            columns,
            steps,
            before,
        }
    }

    /// The fit of a step, improved. Without a step the fit has no deltas, and `shown` is not read.
    pub(super) fn fit(
        mut self,
        step: Option<usize>,
        shown: &[Shown],
        weights: &WeightTable,
    ) -> NormalFit {
        let before = std::mem::take(&mut self.before);
        let none = NormalFit {
            before,
            ..NormalFit::default()
        };
        let Some(step) = step.and_then(|step| self.steps.get(step)) else {
            return none;
        };
        let columns = self.columns[..step.n].to_vec();
        let ridge = PURSUIT_RIDGE * shown.len() as f64;
        let correlation = correlation(shown, weights);
        let Some(d) = solve_products(weights, &columns, &correlation, ridge) else {
            return none;
        };
        let mut fit = NormalFit {
            after: angles(shown, &weights.chosen(&columns), &d),
            columns,
            d,
            ..none
        };
        fit.polish(shown, weights);
        fit.leave_out_short(shown, weights);
        fit
    }
}

/// The inner product of each weight with the residuals, over the observations.
fn correlation(shown: &[Shown], weights: &WeightTable) -> Vec<DVec3> {
    let mut correlation = vec![DVec3::ZERO; weights.k];
    for (o, shown) in shown.iter().enumerate() {
        let residual = shown.residual();
        for (sum, w) in correlation.iter_mut().zip(weights.row(o)) {
            *sum += residual * *w;
        }
    }
    correlation
}

impl NormalFit {
    /// The angles that are left.
    pub(super) fn angles(&self) -> &[f32] {
        if self.columns.is_empty() {
            &self.before
        } else {
            &self.after
        }
    }

    /// Leaves out deltas that are too short to be worth an entry; the angles are those without them.
    fn leave_out_short(&mut self, shown: &[Shown], weights: &WeightTable) {
        let is_long = |d: &DVec3| d.length() >= LEAST_DELTA;
        if self.d.iter().all(is_long) {
            return;
        }
        let pairs = self.columns.iter().zip(&self.d);
        let long = pairs.filter(|(_, d)| is_long(d)).map(|(&c, &d)| (c, d));
        (self.columns, self.d) = long.unzip();
        self.after = if self.columns.is_empty() {
            Vec::new()
        } else {
            angles(shown, &weights.chosen(&self.columns), &self.d)
        };
    }

    /// Whether other angles have a lower score, and no more of them are flipped.
    fn accepts(&self, angles: &[f32]) -> bool {
        let n_flipped = |angles: &[f32]| n_above(angles, FLIPPED_DEGREES);
        score(angles) < score(&self.after) && n_flipped(angles) <= n_flipped(&self.before)
    }

    /// Improves the deltas by Gauss-Newton steps with iteratively reweighted least squares.
    fn polish(&mut self, shown: &[Shown], weights: &WeightTable) {
        if self.columns.is_empty() {
            return;
        }
        let chosen = weights.chosen(&self.columns);
        let mut d = self.d.clone();
        let mut of_irls = vec![1.0; shown.len()];
        for _ in 0..2 {
            if !gauss_newton(shown, &chosen, &of_irls, &mut d) {
                return;
            }
            let angles = angles(shown, &chosen, &d);
            let square: f64 = angles.iter().map(|a| f64::from(a * a)).sum();
            let rms = (square / angles.len().max(1) as f64).sqrt().max(1e-9);
            for (irls, angle) in of_irls.iter_mut().zip(&angles) {
                *irls *= irls::factor(f64::from(*angle).min(LARGE_DEGREES) / rms);
            }
            if self.accepts(&angles) {
                self.d.clone_from(&d);
                self.after = angles;
            }
        }
    }
}

/// The delta at given weights.
fn sum(d: &[DVec3], weights: &[f64]) -> DVec3 {
    d.iter().zip(weights).map(|(d, w)| *d * *w).sum()
}

/// The angles with deltas at the chosen weights.
fn angles(shown: &[Shown], chosen: &[f64], d: &[DVec3]) -> Vec<f32> {
    let rows = chosen.chunks_exact(d.len().max(1));
    let pairs = shown.iter().zip(rows);
    pairs.map(|(o, row)| o.angle(sum(d, row))).collect()
}

/// The least squares deltas of some columns; `None` where the system is singular.
fn solve_products(
    weights: &WeightTable,
    columns: &[usize],
    correlation: &[DVec3],
    ridge: f64,
) -> Option<Vec<DVec3>> {
    let n = columns.len();
    let mut of_axes = [vec![0.0; n], vec![0.0; n], vec![0.0; n]];
    for (axis, right) in of_axes.iter_mut().enumerate() {
        let mut g = vec![0.0; n * n];
        for (a, &i) in columns.iter().enumerate() {
            for (b, &j) in columns.iter().enumerate() {
                g[a * n + b] = weights.product(i, j);
            }
            g[a * n + a] += ridge;
            right[a] = correlation[i][axis];
        }
        if !solve_in_place(&mut g, right) {
            return None;
        }
    }
    let [x, y, z] = of_axes;
    let d = (0..n).map(|i| DVec3::new(x[i], y[i], z[i]));
    Some(d.collect())
}

/// Solves for the deltas, linearised at `d`: the component of the shown normal across the target, relative to its length, is to
/// vanish, and the length hardly to change. `false` where the system is singular.
fn gauss_newton(shown: &[Shown], chosen: &[f64], irls: &[f64], d: &mut [DVec3]) -> bool {
    let k = d.len();
    let n = 3 * k;
    let mut g = vec![0.0; n * n];
    let mut h = vec![0.0; n];
    for ((o, row), irls) in shown.iter().zip(chosen.chunks_exact(k)).zip(irls) {
        let (a, t) = (o.matrix, o.target);
        let now = o.position + a * sum(d, row);
        let length = now.dot(t).max(MIN_LENGTH * o.scale());
        // The component across the target, and a little of the one along it.
        let across = |v: DVec3| v - t * (v.dot(t) * (1.0 - LENGTH_WEIGHT * LENGTH_WEIGHT));
        let scale = irls / (length * length);
        let m =
            a.transpose() * DMat3::from_cols(across(a.x_axis), across(a.y_axis), across(a.z_axis));
        let m = (m * scale).to_cols_array();
        let b = a.transpose() * across(t * length - o.position) * scale;
        for (i, &w) in row.iter().enumerate() {
            for (x, b) in b.to_array().into_iter().enumerate() {
                h[3 * i + x] += w * b;
            }
            for (j, &v) in row[..=i].iter().enumerate() {
                let wv = w * v;
                if wv == 0.0 {
                    continue;
                }
                for x in 0..3 {
                    for y in 0..3 {
                        g[(3 * j + y) * n + 3 * i + x] += wv * m[3 * x + y];
                    }
                }
            }
        }
    }
    let ridge = RIDGE * irls.iter().sum::<f64>();
    for i in 0..n {
        g[i * n + i] += ridge;
    }
    if !solve_in_place(&mut g, &mut h) {
        return false;
    }
    for (d, h) in d.iter_mut().zip(h.as_chunks::<3>().0) {
        *d = DVec3::from_array(*h);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Worse;

    /// A normal Z that the stack rotates about X by an angle proportional to the first of `k` weights.
    fn fit(k: usize, matrix: impl Fn(f64) -> DMat3) -> NormalFit {
        let at = |w: f64| {
            let matrix = matrix(w);
            Shown {
                matrix,
                position: matrix * DVec3::Z,
                target: DMat3::from_rotation_x(0.6 * w) * DVec3::Z,
            }
        };
        let weights = (0..9).map(|i| f64::from(i) / 8.0);
        let shown: Vec<Shown> = weights.clone().map(at).collect();
        let rows = weights
            .flat_map(|w| (0..k).map(move |i| if i == 0 { w } else { 0.3 * f64::from(i as u32) }));
        let weights = WeightTable::new(k, rows.collect());
        let pursuit = Pursuit::new(&shown, &weights, 1.6);
        let last = pursuit.steps.len().checked_sub(1);
        pursuit.fit(last, &shown, &weights)
    }

    fn largest(angles: &[f32]) -> f32 {
        angles.iter().copied().fold(0.0, f32::worse)
    }

    #[test]
    fn a_normal_follows_its_weight() {
        // One weight cannot follow a rotating matrix exactly; it still helps.
        let found = fit(1, |w| DMat3::from_rotation_y(2.0 * w) * 0.01);
        assert!(largest(&found.after) < 0.7 * largest(&found.before));
        // Under a fixed matrix it is nearly exact.
        let found = fit(1, |_| DMat3::from_diagonal(DVec3::splat(3.0)));
        assert!(largest(&found.before) > 34.0 && largest(&found.after) < 1.5);
        // Of several it follows the ones that tell.
        let found = fit(3, |_| DMat3::IDENTITY);
        assert!(
            found.columns.contains(&0) && found.columns.len() < 3,
            "{:?}",
            found.columns
        );
        assert!(largest(&found.after) < 1.5, "{:?}", found.after);
    }

    #[test]
    fn a_collapsed_matrix_does_no_harm() {
        let found = fit(1, |w| {
            if w > 0.9 {
                DMat3::ZERO
            } else {
                DMat3::IDENTITY
            }
        });
        assert!(found.d[0].is_finite() && found.after[..8].iter().all(|a| *a < 2.0));
    }

    #[test]
    fn no_moment_flips_and_short_deltas_are_left_out() {
        let fit = NormalFit {
            before: vec![10.0; 8],
            after: vec![10.0; 8],
            ..NormalFit::default()
        };
        let mut flips = vec![1.0; 8];
        assert!(fit.accepts(&flips));
        for flipped in [120.0, f32::NAN] {
            flips[3] = flipped;
            assert!(!fit.accepts(&flips), "{flipped}");
        }
        let shown = [Shown {
            matrix: DMat3::IDENTITY,
            position: DVec3::Z,
            target: DVec3::Z,
        }];
        let mut fit = NormalFit {
            columns: vec![0, 1],
            d: vec![DVec3::X * 0.001, DVec3::X],
            before: vec![0.0],
            after: vec![45.0],
        };
        fit.leave_out_short(&shown, &WeightTable::new(2, vec![1.0, 1.0]));
        assert_eq!((fit.columns, fit.d), (vec![1], vec![DVec3::X]));
        assert!((fit.after[0] - 45.0).abs() < 1e-4);
    }

    #[test]
    fn each_step_follows_more_weights_and_has_a_lower_score() {
        // A normal Z that follows two weights: one turns it about X, the other about Y, by less.
        let rows: Vec<[f64; 3]> = (0..24)
            .map(|i| f64::from(i) * 0.26)
            .map(|t| [t.sin(), (1.7 * t).cos(), (0.3 * t).sin()])
            .collect();
        let at = |[x, y, _]: &[f64; 3]| Shown {
            matrix: DMat3::IDENTITY,
            position: DVec3::Z,
            target: DMat3::from_rotation_x(0.5 * x) * DMat3::from_rotation_y(0.2 * y) * DVec3::Z,
        };
        let shown: Vec<Shown> = rows.iter().map(at).collect();
        let weights = WeightTable::new(3, rows.into_iter().flatten().collect());
        let pursuit = || Pursuit::new(&shown, &weights, 1.6);
        let steps = pursuit().steps;
        assert!(steps.len() >= 2, "{steps:?}");
        assert!(
            steps.is_sorted_by(|a, b| a.n < b.n && a.score > b.score),
            "{steps:?}"
        );
        assert!(steps[0].score < score(&pursuit().before));
        let first = pursuit().fit(Some(0), &shown, &weights);
        assert_eq!(first.columns, [0]);
        let both = pursuit().fit(Some(1), &shown, &weights);
        assert_eq!(both.columns[..2], [0, 1]);
        assert!(score(&both.after) < score(&first.after));
        // Fits are at least as good as the steps that they improve.
        for (fit, step) in [(first, steps[0]), (both, steps[1])] {
            assert!(score(&fit.after) <= step.score + 1e-9);
        }
        let none = pursuit().fit(None, &[], &weights);
        assert!(none.columns.is_empty());
        assert_eq!(none.angles(), pursuit().before);
    }

    #[test]
    fn what_is_no_number_is_above_a_goal() {
        assert_eq!(n_above(&[1.0, f32::NAN, 2.0, 1.6], 1.6), 2);
    }

    #[test]
    fn a_flip_does_not_outweigh_all_other_moments() {
        assert_eq!(score(&[170.0, 3.0]), score(&[25.0, 3.0]));
        assert!(score(&[19.0]) < score(&[25.0]));
    }
}
