//! Motions of helpers, weights of points and displacements, each in turn the best for the others.

use super::basis::{Basis, Residuals};
use super::greedy::{Followed, Views, final_rows};
use super::group::Group;
use super::refine::{Pulled, Refiner};
use super::rows::{Care, Row};
use super::solve::{Choice, ENOUGH, Job, MOST_MOMENTS, residuals};
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
pub(super) struct Taken<'a> {
    /// Of the active points, by part.
    pub(super) rows: Vec<Vec<Row>>,
    /// What moves the helpers where that is more than a blend.
    pub(super) refiner: Option<Refiner<'a>>,
    /// How far the points are off then; 0 where no turns were needed.
    pub(super) worst: f64,
}

impl Taken<'_> {
    fn plain(rows: Vec<Vec<Row>>) -> Self {
        Self {
            rows,
            refiner: None,
            worst: 0.0,
        }
    }
}

/// What was best so far.
struct Best<'a> {
    worst: f64,
    rows: Vec<Vec<Row>>,
    refiner: Refiner<'a>,
    bases: Vec<(usize, Vec<DVec3>)>,
}

/// The turns of a choice.
pub(super) struct Turns<'a, 'j> {
    job: &'a Job<'j>,
    group: &'a Group,
    omegas: &'a [Row],
    seeds: &'a [DVec3],
    choice: &'a Choice,
    care: Care,
}

impl<'a, 'j> Turns<'a, 'j> {
    pub(super) fn new(
        job: &'a Job<'j>,
        group: &'a Group,
        omegas: &'a [Row],
        seeds: &'a [DVec3],
        choice: &'a Choice,
        care: Care,
    ) -> Self {
        Self {
            job,
            group,
            omegas,
            seeds,
            choice,
            care,
        }
    }

    /// Takes turns, from rows that are `known` and what is in `views` where turns were taken before. Leaves motions, displacements and their weights in `views`.
    pub(super) fn take(
        &self,
        views: &mut Views,
        known: Option<Vec<Vec<Row>>>,
    ) -> Result<Taken<'a>, Cancelled> {
        let (job, group) = (self.job, self.group);
        let all = group.active(usize::MAX);
        if !job.refines(group) || self.omegas.is_empty() {
            return Ok(Taken::plain(self.rows(views, &all)?));
        }
        let few = group.active(MOST_POINTS);
        let (before, with) = if known.is_some() { (1, AGAIN) } else { ROUNDS };
        let mut rows = match known {
            Some(known) => group.of_points(&known, &few),
            None => self.rows(views, &few)?,
        };
        let mut counts: Vec<Vec<f64>> = rows.iter().map(|rows| vec![1.0; rows.len()]).collect();
        let mut best: Option<Best<'a>> = None;
        let mut last_gain = 0;
        for round in 0..before + with {
            let refiner = self.refiner(views, &few, &rows, &counts);
            refiner.apply(views, job.task)?;
            rows = self.rows(views, &few)?;
            if round + 1 < before {
                continue;
            }
            let errors = self.find_bases(views, &few, &rows)?;
            let of_part = errors.iter().flatten();
            let worst = of_part.copied().fold(0.0, f64::max);
            for (counts, errors) in counts.iter_mut().zip(&errors) {
                weigh(counts, errors);
            }
            if best.as_ref().is_none_or(|best| worst < 0.98 * best.worst) {
                last_gain = round;
            }
            if best.as_ref().is_none_or(|best| worst < best.worst) {
                best = Some(Best {
                    worst,
                    rows: rows.clone(),
                    refiner,
                    bases: views.bases.clone(),
                });
            }
            let turns = round + 1 - before;
            let hopeless = turns >= 2 && worst > HOPELESS * job.tolerance;
            if worst <= GOOD * job.tolerance || round >= last_gain + 3 || hopeless {
                break;
            }
        }
        let Some(best) = best else {
            return Ok(Taken::plain(self.rows(views, &all)?));
        };
        best.refiner.apply(views, job.task)?;
        views.bases = best.bases;
        if few == all {
            return Ok(Taken {
                rows: best.rows,
                refiner: Some(best.refiner),
                worst: best.worst,
            });
        }
        let mut worst = 0.0;
        for _ in 0..2 {
            rows = self.rows(views, &all)?;
            let errors = self.find_bases(views, &all, &rows)?;
            worst = errors.into_iter().flatten().fold(0.0, f64::max);
        }
        Ok(Taken {
            rows,
            refiner: Some(best.refiner),
            worst,
        })
    }

    /// Finds displacements of `points` with their `rows` and leaves them in `views`; how far each point is off then.
    fn find_bases(
        &self,
        views: &mut Views,
        points: &[Vec<u32>],
        rows: &[Vec<Row>],
    ) -> Result<Vec<Vec<f64>>, Cancelled> {
        let mut bases = Vec::new();
        let mut errors = Vec::new();
        for (i, part) in self.group.meshes.iter().enumerate() {
            let of_part = (points[i].as_slice(), rows[i].as_slice());
            let (residuals, basis) =
                basis_of(self.job, self.group, views, i, of_part, self.choice)?;
            let basis = basis.unwrap_or_else(|| Basis::none(&residuals));
            errors.push(residuals.worst_of_points(&basis));
            let k = basis.k;
            let mut b = vec![DVec3::ZERO; k * part.active.len()];
            for (n, point) in points[i].iter().enumerate() {
                if let Ok(a) = part.active.binary_search(point) {
                    b[a * k..(a + 1) * k].copy_from_slice(&basis.b[n * k..(n + 1) * k]);
                }
            }
            bases.push((k, b));
        }
        views.bases = bases;
        Ok(errors)
    }

    fn rows(&self, views: &Views, points: &[Vec<u32>]) -> Result<Vec<Vec<Row>>, Cancelled> {
        let followed = Followed {
            omegas: self.omegas,
            seeds: if self.job.refines(self.group) {
                self.seeds
            } else {
                &[]
            },
            care: self.care,
            enough: self.job.fit(),
        };
        let (stage, group) = (self.job.stage, self.group);
        final_rows(stage, group, views, points, followed, self.job.task)
    }

    fn refiner(
        &self,
        views: &Views,
        points: &[Vec<u32>],
        rows: &[Vec<Row>],
        counts: &[Vec<f64>],
    ) -> Refiner<'a> {
        let parts = self.group.meshes.iter().enumerate();
        let parts = parts.map(|(i, part)| {
            let (k, b) = views.bases.get(i).map_or((0, &[][..]), |(k, b)| (*k, b));
            let pulled = points[i].iter().zip(&rows[i]).zip(&counts[i]);
            let pulled = pulled.map(|((&point, row), &om)| {
                let a = part.active.binary_search(&point).unwrap_or(0);
                Pulled {
                    point,
                    row: row.clone(),
                    b: b[a * k..(a + 1) * k].to_vec(),
                    om,
                }
            });
            (k, pulled.collect())
        });
        Refiner::new(self.job.stage, self.group, self.omegas, parts)
    }
}

/// The residuals of points of mesh `i` with their rows on `views`, and the displacements that make up for them, from the
/// weights that the views have where these are enough; none where they are not needed or do not help.
pub(super) fn basis_of(
    job: &Job<'_>,
    group: &Group,
    views: &Views,
    i: usize,
    (points, rows): (&[u32], &[Row]),
    choice: &Choice,
) -> Result<(Residuals, Option<Basis>), Cancelled> {
    job.task.check()?;
    let part = &group.meshes[i];
    let seen = views.of_part(job.stage, group, part, MOST_MOMENTS);
    let seen: Vec<_> = seen
        .into_iter()
        .filter(|s| views.moments[s.0].time.clip.is_some())
        .collect();
    let points: Vec<(u32, &Row)> = points.iter().copied().zip(rows).collect();
    let residuals = residuals(part, &views.moments, &views.matrices, &seen, &points);
    let enough = ENOUGH * job.tolerance;
    let most = job.most_morphs();
    if residuals.worst() <= enough || most == 0 {
        return Ok((residuals, None));
    }
    let known = views.bases.get(i).map_or(0, |b| b.0);
    if known > 0
        && let Some(w) = known_weights(views, &seen, known)
    {
        let basis = residuals.fit_from(known, w, job.task)?;
        if basis.worst <= enough || known == most {
            return Ok((residuals, Some(basis)));
        }
    }
    let first = choice.morphs[i].saturating_sub(1);
    let bases = residuals.bases(first, most, enough, job.task)?;
    let best = bases.into_iter().min_by(|a, b| a.worst.total_cmp(&b.worst));
    let best = best.filter(|b| b.worst < residuals.worst());
    Ok((residuals, best))
}

/// The weights of k displacements in the views `seen`, t x k; `None` where some are not known.
fn known_weights(views: &Views, seen: &[(usize, usize, usize)], k: usize) -> Option<Vec<f64>> {
    let mut w = Vec::with_capacity(seen.len() * k);
    for &(m, d, _) in seen {
        let of_view = views.weights[m].get(d).filter(|w| w.len() == k)?;
        w.extend_from_slice(of_view);
    }
    Some(w)
}

/// Counts points more that are far off.
fn weigh(counts: &mut [f64], errors: &[f64]) {
    let square: f64 = errors.iter().map(|e| e * e).sum();
    let rms = (square / errors.len().max(1) as f64).sqrt();
    if rms <= 0.0 {
        return;
    }
    for (count, e) in counts.iter_mut().zip(errors) {
        *count *= (e / rms).powf(0.7) + 0.3;
    }
    let mean = counts.iter().sum::<f64>() / counts.len().max(1) as f64;
    for count in counts {
        *count = (*count / mean).clamp(0.05, 50.0);
    }
}
