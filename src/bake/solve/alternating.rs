//! Alternating least squares: block coordinate descent over helper motions, weights and displacements, each solved
//! with the others fixed.

use super::candidates::{Candidate, MOST_GLOBAL_MORPHS};
use super::displacements::{self, Basis, Residuals};
use super::irls;
use super::motion_moments::FitPoint;
use super::motions::MotionSolver;
use super::point_weights::Regularisation;
use super::training::{TrainingSet, residuals};
use super::weights::{HelperSet, fit_weights};
use super::{MAX_REGIONAL_FRAMES, TRAINING_SHARE};
use crate::bake::problem::Problem;
use crate::bake::problem::group::Group;
use crate::bake::problem::rows::WeightRow;
use crate::math::Worse;
use crate::task::Cancelled;
use glam::DVec3;

/// Iterations without displacements, and with them: the error changed little after these on the models they were
/// chosen on.
const ITERATIONS: (usize, usize) = (3, 7);
/// Iterations that start from a known decomposition.
const WARM_ITERATIONS: usize = 4;
/// Points per group in an iteration; all points take part in the final weights. It bounds the time of large meshes.
const MAX_POINTS: usize = 2000;
/// Iterations stop after two with displacements where the error is above this many tolerances: what remains of them
/// gains less than that.
const DIVERGED: f64 = 1.5;

/// Iterations stop where the error is below this fraction of the tolerance: playback needs no more.
const CONVERGED: f64 = 0.5;

/// An iteration counts as a gain if its error is below this fraction of the best one, and iterations stop after so many
/// without a gain.
const MIN_GAIN: f64 = 0.98;
const PATIENCE: usize = 3;

/// Iterations that may be given up are, from the third one with displacements on, where the gain of the last two, continued,
/// would leave this many times what is allowed.
const GIVE_UP_ROUNDS: usize = 3;
const GIVE_UP_SHARE: f64 = 1.1;

/// IRLS weights stay in this range around their mean of 1.
const WEIGHT_RANGE: (f64, f64) = (0.05, 50.0);

/// A decomposition: weights, motions and the error they leave.
pub(crate) struct Decomposition<'a> {
    /// By mesh, one row an active point.
    pub(crate) rows: Vec<Vec<WeightRow>>,
    /// By mesh: IRLS weights of the points that took part in the iterations.
    pub(crate) irls: Vec<Vec<f64>>,
    /// The motions of helpers that are not the blends of their codebook rows.
    pub(crate) refiner: Option<MotionSolver<'a>>,
    /// The largest error on the training set; 0 where helpers are blends, which need no iterations.
    pub(crate) max_error: f64,
}

impl Decomposition<'_> {
    fn plain(rows: Vec<Vec<WeightRow>>) -> Self {
        Self {
            rows,
            irls: Vec::new(),
            refiner: None,
            max_error: 0.0,
        }
    }
}

/// A warm start: the state of earlier iterations, from which further ones continue.
pub(crate) struct WarmStart {
    /// By mesh, one row an active point.
    pub(crate) rows: Vec<Vec<WeightRow>>,
    /// By mesh: IRLS weights of the points that took part in those iterations.
    pub(crate) irls: Vec<Vec<f64>>,
}

/// The iterate of the smallest error.
struct BestIterate<'a> {
    max_error: f64,
    rows: Vec<Vec<WeightRow>>,
    irls: Vec<Vec<f64>>,
    refiner: MotionSolver<'a>,
    bases: Vec<(usize, Vec<DVec3>)>,
}

/// The solver for one candidate.
pub(crate) struct AlternatingSolver<'a, 'j> {
    problem: &'a Problem<'j>,
    group: &'a Group,
    codebook: &'a [WeightRow],
    seeds: &'a [DVec3],
    candidate: &'a Candidate,
    regularisation: Regularisation,
}

impl<'a, 'j> AlternatingSolver<'a, 'j> {
    pub(crate) fn new(
        problem: &'a Problem<'j>,
        group: &'a Group,
        codebook: &'a [WeightRow],
        seeds: &'a [DVec3],
        candidate: &'a Candidate,
        regularisation: Regularisation,
    ) -> Self {
        Self {
            problem,
            group,
            codebook,
            seeds,
            candidate,
            regularisation,
        }
    }

    /// Solves for the decomposition, starting from `warm_start` and the displacements in `training` if it is solved
    /// again. Leaves motions, displacements and their weights in `training`. Ends early where the error will not fall
    /// to `limit`, if there is one.
    pub(crate) fn solve(
        &self,
        training: &mut TrainingSet,
        warm_start: Option<WarmStart>,
        limit: Option<f64>,
    ) -> Result<Decomposition<'a>, Cancelled> {
        let (problem, group) = (self.problem, self.group);
        let all = group.active(usize::MAX);
        if !problem.refines(group) || self.codebook.is_empty() {
            return Ok(Decomposition::plain(self.rows(training, &all)?));
        }
        let few = group.active(MAX_POINTS);
        let (before, with) = if warm_start.is_some() {
            (1, WARM_ITERATIONS)
        } else {
            ITERATIONS
        };
        let (mut rows, mut irls) = match warm_start {
            Some(start) => (group.of_points(&start.rows, &few), start.irls),
            None => {
                let ones = few.iter().map(|points| vec![1.0; points.len()]);
                (self.rows(training, &few)?, ones.collect())
            }
        };
        let mut best: Option<BestIterate<'a>> = None;
        let mut last_gain = 0;
        let mut of_rounds: Vec<f64> = Vec::new();
        for round in 0..before + with {
            let refiner = self.refiner(training, &few, &rows, &irls);
            refiner.apply(training, problem.task)?;
            rows = self.rows(training, &few)?;
            if round + 1 < before {
                continue;
            }
            let errors = self.fit_bases(training, &few, &rows)?;
            let of_part = errors.iter().flatten();
            let max_error = of_part.copied().fold(0.0, f64::worse);
            for (irls, errors) in irls.iter_mut().zip(&errors) {
                update_irls(irls, errors);
            }
            if best
                .as_ref()
                .is_none_or(|best| max_error < MIN_GAIN * best.max_error)
            {
                last_gain = round;
            }
            if best.as_ref().is_none_or(|best| max_error < best.max_error) {
                best = Some(BestIterate {
                    max_error,
                    rows: rows.clone(),
                    irls: irls.clone(),
                    refiner,
                    bases: training.bases.clone(),
                });
            }
            let with_basis = round + 1 - before;
            of_rounds.push(best.as_ref().map_or(max_error, |best| best.max_error));
            let is_hopeless = |limit: f64| {
                with_basis >= GIVE_UP_ROUNDS
                    && projected(&of_rounds, with - with_basis) > GIVE_UP_SHARE * limit
            };
            let diverged = with_basis >= 2 && max_error > DIVERGED * problem.tolerance;
            if max_error <= CONVERGED * problem.tolerance
                || round >= last_gain + PATIENCE
                || diverged
                || limit.is_some_and(is_hopeless)
            {
                break;
            }
        }
        let Some(best) = best else {
            return Ok(Decomposition::plain(self.rows(training, &all)?));
        };
        best.refiner.apply(training, problem.task)?;
        training.bases = best.bases;
        if few == all {
            return Ok(Decomposition {
                rows: best.rows,
                irls: best.irls,
                refiner: Some(best.refiner),
                max_error: best.max_error,
            });
        }
        let mut max_error = 0.0;
        for _ in 0..2 {
            rows = self.rows(training, &all)?;
            let errors = self.fit_bases(training, &all, &rows)?;
            max_error = errors.into_iter().flatten().fold(0.0, f64::worse);
        }
        Ok(Decomposition {
            rows,
            irls: best.irls,
            refiner: Some(best.refiner),
            max_error,
        })
    }

    /// Fits displacements of `points` with their `rows` and leaves them in `training`; the error of each point.
    fn fit_bases(
        &self,
        training: &mut TrainingSet,
        points: &[Vec<u32>],
        rows: &[Vec<WeightRow>],
    ) -> Result<Vec<Vec<f64>>, Cancelled> {
        let mut bases = Vec::new();
        let mut errors = Vec::new();
        for (i, part) in self.group.meshes.iter().enumerate() {
            let of_part = (points[i].as_slice(), rows[i].as_slice());
            let (residuals, basis) = basis_of(
                self.problem,
                self.group,
                training,
                i,
                of_part,
                self.candidate,
                displacements::KNOWN_ITERATIONS,
            )?;
            let basis = basis.unwrap_or_else(|| Basis::none(&residuals));
            errors.push(residuals.max_error_of_points(&basis));
            let k = basis.k;
            let mut b = vec![DVec3::ZERO; k * part.active.len()];
            for (n, point) in points[i].iter().enumerate() {
                if let Ok(a) = part.active.binary_search(point) {
                    b[a * k..(a + 1) * k].copy_from_slice(&basis.b[n * k..(n + 1) * k]);
                }
            }
            bases.push((k, b));
        }
        training.bases = bases;
        Ok(errors)
    }

    fn rows(
        &self,
        training: &TrainingSet,
        points: &[Vec<u32>],
    ) -> Result<Vec<Vec<WeightRow>>, Cancelled> {
        let followed = HelperSet {
            codebook: self.codebook,
            seeds: if self.problem.refines(self.group) {
                self.seeds
            } else {
                &[]
            },
            regularisation: self.regularisation,
            target_error: self.problem.point_tolerance(),
        };
        let (sampler, group) = (self.problem.sampler, self.group);
        fit_weights(
            sampler,
            group,
            training,
            points,
            followed,
            self.problem.task,
        )
    }

    fn refiner(
        &self,
        training: &TrainingSet,
        points: &[Vec<u32>],
        rows: &[Vec<WeightRow>],
        irls: &[Vec<f64>],
    ) -> MotionSolver<'a> {
        let parts = self.group.meshes.iter().enumerate();
        let parts = parts.map(|(i, part)| {
            let (k, b) = training.bases.get(i).map_or((0, &[][..]), |(k, b)| (*k, b));
            let fit_point = points[i].iter().zip(&rows[i]).zip(&irls[i]);
            let fit_point = fit_point.map(|((&point, row), &irls)| {
                let a = part.active.binary_search(&point).unwrap_or(0);
                FitPoint {
                    point,
                    row: row.clone(),
                    b: b[a * k..(a + 1) * k].to_vec(),
                    irls,
                }
            });
            (k, fit_point.collect())
        });
        MotionSolver::new(self.problem.sampler, self.group, self.codebook, parts)
    }
}

/// The residuals of points of mesh `i` on the training set, and the displacements fitted to them. The first fit starts from
/// the weights in `training` with these `iterations` ([`Residuals::fit_from`]); if its error is too large, the fit starts
/// anew. `None` where residuals are small or displacements do not reduce them.
pub(crate) fn basis_of(
    problem: &Problem<'_>,
    group: &Group,
    training: &TrainingSet,
    i: usize,
    (points, rows): (&[u32], &[WeightRow]),
    candidate: &Candidate,
    iterations: (usize, usize),
) -> Result<(Residuals, Option<Basis>), Cancelled> {
    problem.task.check()?;
    let part = &group.meshes[i];
    let observations = training.of_part(problem.sampler, group, part, MAX_REGIONAL_FRAMES);
    let observations: Vec<_> = observations
        .into_iter()
        .filter(|s| training.frames[s.0].time.clip.is_some())
        .collect();
    let points: Vec<(u32, &WeightRow)> = points.iter().copied().zip(rows).collect();
    let residuals = residuals(
        part,
        &training.frames,
        &training.matrices,
        &observations,
        &points,
    );
    let target_error = TRAINING_SHARE * problem.tolerance;
    let most = problem.most_morphs().min(MOST_GLOBAL_MORPHS);
    // Displacements of regions are fitted once the motions and weights are known.
    if residuals.max_norm() <= target_error || most == 0 || candidate.regional[i] {
        return Ok((residuals, None));
    }
    let known = training.bases.get(i).map_or(0, |b| b.0);
    if known > 0
        && let Some(w) = known_weights(training, &observations, known)
    {
        let basis = residuals.fit_from(known, w, iterations, problem.task)?;
        if basis.max_error <= target_error || known == most {
            return Ok((residuals, Some(basis)));
        }
    }
    let first = candidate.morphs[i].saturating_sub(1);
    let bases = residuals.bases(first, most, target_error, problem.task)?;
    let best = bases
        .into_iter()
        .min_by(|a, b| a.max_error.total_cmp(&b.max_error));
    let best = best.filter(|b| b.max_error < residuals.max_norm());
    Ok((residuals, best))
}

/// The weights of k displacements in these observations, t x k; `None` where some are unknown.
fn known_weights(
    training: &TrainingSet,
    observations: &[(usize, usize, usize)],
    k: usize,
) -> Option<Vec<f64>> {
    let mut w = Vec::with_capacity(observations.len() * k);
    for &(m, d, _) in observations {
        let of_view = training.weights[m].get(d).filter(|w| w.len() == k)?;
        w.extend_from_slice(of_view);
    }
    Some(w)
}

/// The error after `left` more rounds if it falls as in the last two.
fn projected(of_rounds: &[f64], left: usize) -> f64 {
    match of_rounds {
        [.., before, _, now] if *before > 0.0 => now * (now / before).powf(0.5 * left as f64),
        [.., now] => *now,
        [] => 0.0,
    }
}

/// Updates IRLS weights, normalised to a mean of 1 and clamped, so that no point is lost or alone.
fn update_irls(weights: &mut [f64], errors: &[f64]) {
    if !irls::update(weights, errors) {
        return;
    }
    irls::normalise(weights);
    for weight in weights {
        *weight = weight.clamp(WEIGHT_RANGE.0, WEIGHT_RANGE.1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_projected_from_the_last_two_rounds() {
        assert_eq!(projected(&[], 3), 0.0);
        assert_eq!(projected(&[2.0, 1.0], 3), 1.0);
        assert!((projected(&[9.0, 4.0, 2.0, 1.0], 2) - 0.25).abs() < 1e-12);
        assert_eq!(projected(&[4.0, 1.0, 1.0, 1.0], 5), 1.0);
    }
}
