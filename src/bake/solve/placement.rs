//! Greedy placement of helper joints: a codebook of weight rows, extended at the points of the largest error.

use super::motion_moments::FitPoint;
use super::motions::MotionSolver;
use super::point_weights::Regularisation;
use super::training::{Snapshot, TrainingSet};
use super::weights::{MAX_OBSERVATIONS, WeightFitter};
use crate::bake::problem::group::{Group, GroupMesh};
use crate::bake::problem::rows::{WeightRow, distance, normalised};
use crate::bake::problem::sampler::Sampler;
use crate::task::{Cancelled, Task};
use glam::DVec3;
use rayon::prelude::*;

/// Numbers of helpers whose states are kept as candidates; finer where a helper is a larger part of the file.
const SNAPSHOTS: [usize; 14] = [0, 4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 64, 80, 96];

/// The progress of a bake where the placement starts, and how much of it the placement takes at most.
const PROGRESS: [f32; 2] = [0.2, 0.2];

/// Helpers that are added between two fits of the weights.
const BATCH: usize = 4;

/// Least L1 distance (0 - 2) of the rows of helpers that are added together, so that they lie in different regions.
const MIN_WEIGHT_DISTANCE: f64 = 0.6;

/// Least L1 distance of a new row from any earlier one: nearer ones are duplicates.
const MIN_DUPLICATE_DISTANCE: f64 = 0.02;

/// Least spacing within a batch, in multiples of [`PlacementOptions::gap`].
const BATCH_SPACING: f64 = 3.0;

/// Weights below this leave a codebook row: their joints hardly change the blend.
const MIN_CODEBOOK_WEIGHT: f64 = 0.002;

/// Points whose L1 distance from all new rows exceeds this keep their weights (2: no common joint).
const MAX_CHANGE_DISTANCE: f64 = 1.4;

/// Points above this fraction of the target error are fitted again after the motions.
const REFIT_SHARE: f64 = 0.5;

/// Points of a mesh that are evaluated; it bounds the time of large meshes.
const MAX_POINTS: usize = 3000;

/// The codebook and the intermediate states.
pub(crate) struct Placement {
    /// Rows over the joints, in order of addition.
    pub(crate) codebook: Vec<WeightRow>,
    /// Bind positions of the points at which the helpers were added.
    pub(crate) seeds: Vec<DVec3>,
    /// By mesh: indices into [`GroupMesh::active`].
    pub(crate) points: Vec<Vec<usize>>,
    pub(crate) snapshots: Vec<Snapshot>,
}

/// Limits and goals of a placement.
#[derive(Clone, Copy)]
pub(crate) struct PlacementOptions {
    /// The largest number of helpers.
    pub(crate) most: usize,
    /// Placement stops where all points are below this error, world.
    pub(crate) target_error: f64,
    pub(crate) regularisation: Regularisation,
    /// Helpers with free motions may have similar rows at this distance from each other, bind space.
    pub(crate) gap: f64,
    /// Whether helpers have free motions fitted to the whole stack, instead of blends.
    pub(crate) refines: bool,
}

/// Places helpers until all points are below the target error, or `is_enough` says so: it sees the state after each
/// snapshot.
pub(crate) fn place_helpers(
    sampler: &Sampler<'_>,
    group: &Group,
    training: &mut TrainingSet,
    aim: PlacementOptions,
    is_enough: &mut dyn FnMut(&TrainingSet, &Placement) -> Result<bool, Cancelled>,
    task: &Task,
) -> Result<Placement, Cancelled> {
    let PlacementOptions {
        most,
        target_error,
        regularisation,
        refines,
        ..
    } = aim;
    let points: Vec<Vec<usize>> = group
        .meshes
        .iter()
        .map(|part| {
            let step = part.active.len().div_ceil(MAX_POINTS).max(1);
            (0..part.active.len()).step_by(step).collect()
        })
        .collect();
    let base = group.meshes.iter().zip(&points);
    let mut rows: Vec<Vec<WeightRow>> = base
        .map(|(part, points)| {
            points
                .iter()
                .map(|&i| part.file_weights[part.active[i] as usize].clone())
                .collect()
        })
        .collect();
    let mut placement = Placement {
        codebook: Vec::new(),
        seeds: Vec::new(),
        points,
        snapshots: Vec::new(),
    };
    placement.snapshots.push(Snapshot {
        helpers: 0,
        rows: rows.clone(),
        matrices: training.matrices.clone(),
    });
    if is_enough(training, &placement)? {
        return Ok(placement);
    }
    let Some(n_joints) = group.n_joints else {
        return Ok(placement);
    };
    let observations: Vec<Vec<(usize, usize, usize)>> = group
        .meshes
        .iter()
        .map(|part| training.of_part(sampler, group, part, MAX_OBSERVATIONS / 2))
        .collect();
    let mut errors: Vec<Vec<f64>> = Vec::new();
    let mut spent: Vec<Vec<bool>> = Vec::new();
    for (i, part) in group.meshes.iter().enumerate() {
        let fitter = WeightFitter::new(
            training,
            group,
            i,
            &observations[i],
            false,
            regularisation,
            target_error,
        );
        let all = placement.points[i].par_iter().zip(&rows[i]);
        errors.push(
            all.map(|(&a, row)| fitter.error(part.active[a], row))
                .collect(),
        );
        spent.push(vec![false; rows[i].len()]);
    }
    while placement.codebook.len() < most {
        let first = placement.codebook.len();
        let label = format!("Placing helper joints: {first} of at most {most}");
        task.step(
            &label,
            PROGRESS[0] + PROGRESS[1] * first as f32 / most as f32,
        )?;
        for _ in 0..BATCH.min(most - first) {
            let Some((i, e)) = worst_point(
                group,
                &placement,
                &errors,
                &spent,
                first,
                target_error,
                refines.then_some(aim.gap),
            ) else {
                break;
            };
            spent[i][e] = true;
            let part = &group.meshes[i];
            let mut blend_weights =
                part.weights[part.active[placement.points[i][e]] as usize].clone();
            blend_weights.retain(|r| r.1 >= MIN_CODEBOOK_WEIGHT);
            let blend_weights = normalised(blend_weights);
            let point = part.active[placement.points[i][e]];
            training.add(
                sampler,
                group,
                &blend_weights,
                refines.then_some((i, point)),
            );
            placement.codebook.push(blend_weights);
            placement
                .seeds
                .push(part.geometry.positions[point as usize].as_dvec3());
        }
        if placement.codebook.len() == first {
            break;
        }
        let fresh = &placement.codebook[first..];
        let seeds: &[DVec3] = if refines { &placement.seeds } else { &[] };
        for (i, part) in group.meshes.iter().enumerate() {
            let fitter = WeightFitter::new(
                training,
                group,
                i,
                &observations[i],
                false,
                regularisation,
                target_error,
            );
            let better: Vec<Option<(WeightRow, f64)>> = placement.points[i]
                .par_iter()
                .zip(&errors[i])
                .map(|(&a, &error)| {
                    let point = part.active[a];
                    let own = &part.weights[point as usize];
                    if fresh
                        .iter()
                        .all(|blend_weights| distance(blend_weights, own) > MAX_CHANGE_DISTANCE)
                    {
                        return None;
                    }
                    let row = fitter.refit(
                        point,
                        n_joints,
                        &placement.codebook,
                        seeds,
                        &group.joint_sets,
                    );
                    let now = fitter.error(point, &row);
                    (now < error).then_some((row, now))
                })
                .collect();
            for (e, better) in better.into_iter().enumerate() {
                if let Some((row, error)) = better {
                    rows[i][e] = row;
                    errors[i][e] = error;
                }
            }
        }
        if refines {
            refine(sampler, group, training, &placement, &rows, task)?;
            for (i, part) in group.meshes.iter().enumerate() {
                let fitter = WeightFitter::new(
                    training,
                    group,
                    i,
                    &observations[i],
                    true,
                    regularisation,
                    target_error,
                );
                let points = placement.points[i].par_iter().zip(&mut rows[i]);
                let points = points.zip(&mut errors[i]);
                points.for_each(|((&a, row), error)| {
                    let point = part.active[a];
                    *error = fitter.error(point, row);
                    if *error > REFIT_SHARE * target_error {
                        let other = fitter.refit(
                            point,
                            n_joints,
                            &placement.codebook,
                            seeds,
                            &group.joint_sets,
                        );
                        let now = fitter.error(point, &other);
                        if now < *error {
                            (*row, *error) = (other, now);
                        }
                    }
                });
            }
        }
        if SNAPSHOTS.contains(&placement.codebook.len()) {
            placement.snapshots.push(Snapshot {
                helpers: placement.codebook.len(),
                rows: rows.clone(),
                matrices: training.matrices.clone(),
            });
            if is_enough(training, &placement)? {
                return Ok(placement);
            }
        }
    }
    let last = placement.snapshots.last().map_or(0, |s| s.helpers);
    if placement.codebook.len() > last {
        placement.snapshots.push(Snapshot {
            helpers: placement.codebook.len(),
            rows,
            matrices: training.matrices.clone(),
        });
        is_enough(training, &placement)?;
    }
    Ok(placement)
}

/// Solves for the motions of the helpers in `training`.
fn refine(
    sampler: &Sampler<'_>,
    group: &Group,
    training: &mut TrainingSet,
    placement: &Placement,
    rows: &[Vec<WeightRow>],
    task: &Task,
) -> Result<(), Cancelled> {
    let of_part = |(i, part): (usize, &GroupMesh)| -> (usize, Vec<FitPoint>) {
        let points = placement.points[i].iter().zip(&rows[i]);
        let fit_point = points.map(|(&a, row)| FitPoint::by(part.active[a], row.clone()));
        (0, fit_point.collect())
    };
    let points = group.meshes.iter().enumerate().map(of_part);
    MotionSolver::new(sampler, group, &placement.codebook, points).apply(training, task)
}

/// The point of the largest error above `target_error` that has no helper yet and is far from those from `first` on.
fn worst_point(
    group: &Group,
    placement: &Placement,
    errors: &[Vec<f64>],
    spent: &[Vec<bool>],
    first: usize,
    target_error: f64,
    spaced: Option<f64>,
) -> Option<(usize, usize)> {
    let mut found: Option<(f64, usize, usize)> = None;
    for (i, part) in group.meshes.iter().enumerate() {
        for (e, &error) in errors[i].iter().enumerate() {
            if spent[i][e] || error <= target_error || found.is_some_and(|f| error <= f.0) {
                continue;
            }
            let own = &part.weights[part.active[placement.points[i][e]] as usize];
            let point = part.active[placement.points[i][e]];
            let position = part.geometry.positions[point as usize].as_dvec3();
            let far = |(h, blend_weights): (usize, &WeightRow)| {
                let least = if h >= first {
                    MIN_WEIGHT_DISTANCE
                } else {
                    MIN_DUPLICATE_DISTANCE
                };
                distance(blend_weights, own) > least
                    || spaced.is_some_and(|gap| {
                        placement.seeds[h].distance(position)
                            > gap * if h >= first { BATCH_SPACING } else { 1.0 }
                    })
            };
            if own.len() > 1 && placement.codebook.iter().enumerate().all(far) {
                found = Some((error, i, e));
            }
        }
    }
    found.map(|f| (f.1, f.2))
}
