//! Motions of helpers, weights of points and displacements, each in turn the best for the others.

use super::candidates::Candidate;
use super::displacements::{Basis, Residuals};
use super::motions::{FitPoint, MotionSolver};
use super::training::{TrainingSet, residuals};
use super::weights::{HelperSet, Regularisation, fit_weights};
use super::{MOST_MOMENTS, TRAINING_SHARE};
use crate::bake::problem::Problem;
use crate::bake::problem::group::Group;
use crate::bake::problem::rows::WeightRow;
use crate::task::Cancelled;
use glam::DVec3;

/// Rounds before there are displacements, and with them.
const ROUNDS: (usize, usize) = (3, 7);
/// Rounds with them where there were some before.
const AGAIN: usize = 4;
/// Points that take part in them, before all do.
const MOST_POINTS: usize = 4000;
/// Further turns do not help where points are off by so many tolerances.
const HOPELESS: f64 = 1.5;

/// Points that are off by less than this share of the tolerance need no further turns.
const GOOD: f64 = 0.5;

/// What turns come to.
pub(crate) struct Decomposition<'a> {
    /// Of the active points, by part.
    pub(crate) rows: Vec<Vec<WeightRow>>,
    /// What moves the helpers where that is more than a blend.
    pub(crate) refiner: Option<MotionSolver<'a>>,
    /// How far the points are off then; 0 where no turns were needed.
    pub(crate) max_error: f64,
}

impl Decomposition<'_> {
    fn plain(rows: Vec<Vec<WeightRow>>) -> Self {
        Self {
            rows,
            refiner: None,
            max_error: 0.0,
        }
    }
}

/// What was best so far.
struct BestIterate<'a> {
    max_error: f64,
    rows: Vec<Vec<WeightRow>>,
    refiner: MotionSolver<'a>,
    bases: Vec<(usize, Vec<DVec3>)>,
}

/// The turns of a candidate.
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

    /// Takes turns, from rows that are `known` and what is in `training` where turns were decomposition before. Leaves motions, displacements and their weights in `training`.
    pub(crate) fn solve(
        &self,
        training: &mut TrainingSet,
        known: Option<Vec<Vec<WeightRow>>>,
    ) -> Result<Decomposition<'a>, Cancelled> {
        let (problem, group) = (self.problem, self.group);
        let all = group.active(usize::MAX);
        if !problem.refines(group) || self.codebook.is_empty() {
            return Ok(Decomposition::plain(self.rows(training, &all)?));
        }
        let few = group.active(MOST_POINTS);
        let (before, with) = if known.is_some() { (1, AGAIN) } else { ROUNDS };
        let mut rows = match known {
            Some(known) => group.of_points(&known, &few),
            None => self.rows(training, &few)?,
        };
        let mut irls: Vec<Vec<f64>> = rows.iter().map(|rows| vec![1.0; rows.len()]).collect();
        let mut best: Option<BestIterate<'a>> = None;
        let mut last_gain = 0;
        for round in 0..before + with {
            let refiner = self.refiner(training, &few, &rows, &irls);
            refiner.apply(training, problem.task)?;
            rows = self.rows(training, &few)?;
            if round + 1 < before {
                continue;
            }
            let errors = self.fit_bases(training, &few, &rows)?;
            let of_part = errors.iter().flatten();
            let max_error = of_part.copied().fold(0.0, f64::max);
            for (irls, errors) in irls.iter_mut().zip(&errors) {
                update_irls(irls, errors);
            }
            if best
                .as_ref()
                .is_none_or(|best| max_error < 0.98 * best.max_error)
            {
                last_gain = round;
            }
            if best.as_ref().is_none_or(|best| max_error < best.max_error) {
                best = Some(BestIterate {
                    max_error,
                    rows: rows.clone(),
                    refiner,
                    bases: training.bases.clone(),
                });
            }
            let turns = round + 1 - before;
            let hopeless = turns >= 2 && max_error > HOPELESS * problem.tolerance;
            if max_error <= GOOD * problem.tolerance || round >= last_gain + 3 || hopeless {
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
                refiner: Some(best.refiner),
                max_error: best.max_error,
            });
        }
        let mut max_error = 0.0;
        for _ in 0..2 {
            rows = self.rows(training, &all)?;
            let errors = self.fit_bases(training, &all, &rows)?;
            max_error = errors.into_iter().flatten().fold(0.0, f64::max);
        }
        Ok(Decomposition {
            rows,
            refiner: Some(best.refiner),
            max_error,
        })
    }

    /// Finds displacements of `points` with their `rows` and leaves them in `training`; how far each point is off then.
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

/// The residuals of points of mesh `i` with their rows on `training`, and the displacements that make up for them, from the
/// weights that the training have where these are target_error; none where they are not needed or do not help.
pub(crate) fn basis_of(
    problem: &Problem<'_>,
    group: &Group,
    training: &TrainingSet,
    i: usize,
    (points, rows): (&[u32], &[WeightRow]),
    candidate: &Candidate,
) -> Result<(Residuals, Option<Basis>), Cancelled> {
    problem.task.check()?;
    let part = &group.meshes[i];
    let observations = training.of_part(problem.sampler, group, part, MOST_MOMENTS);
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
    let most = problem.most_morphs();
    if residuals.max_norm() <= target_error || most == 0 {
        return Ok((residuals, None));
    }
    let known = training.bases.get(i).map_or(0, |b| b.0);
    if known > 0
        && let Some(w) = known_weights(training, &observations, known)
    {
        let basis = residuals.fit_from(known, w, problem.task)?;
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

/// The weights of k displacements in the training `observations`, t x k; `None` where some are not known.
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

/// Counts points more that are far off.
fn update_irls(irls: &mut [f64], errors: &[f64]) {
    let square: f64 = errors.iter().map(|e| e * e).sum();
    let rms = (square / errors.len().max(1) as f64).sqrt();
    if rms <= 0.0 {
        return;
    }
    for (irls, e) in irls.iter_mut().zip(errors) {
        *irls *= (e / rms).powf(0.7) + 0.3;
    }
    let mean = irls.iter().sum::<f64>() / irls.len().max(1) as f64;
    for irls in irls {
        *irls = (*irls / mean).clamp(0.05, 50.0);
    }
}
