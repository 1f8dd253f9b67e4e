//! Which helper joints to add: for the max_error points first, as long as the points around them gain.

use super::motions::{FitPoint, MotionSolver};
use super::training::{Snapshot, TrainingSet};
use super::weights::{MOST_VIEWS, Regularisation, WeightFitter};
use crate::bake::problem::group::{Group, GroupMesh};
use crate::bake::problem::rows::{WeightRow, distance, normalised};
use crate::bake::problem::sampler::Sampler;
use crate::task::{Cancelled, Task};
use glam::DVec3;
use rayon::prelude::*;

/// Helpers at which the state is kept to choose from.
const SNAPSHOTS: [usize; 14] = [0, 4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 64, 80, 96];

/// Helpers that are added at a time.
const BATCH: usize = 4;

/// Weight vectors of helpers that are added together differ by more than this.
const MIN_WEIGHT_DISTANCE: f64 = 0.6;

/// Points of a part that the placement looks at.
const MOST_POINTS: usize = 3000;

/// The helpers found, in the order of their use, and the states on the way.
pub(crate) struct Placement {
    /// Their weights over the joints.
    pub(crate) codebook: Vec<WeightRow>,
    /// Where the points they were placed for lie, bind space.
    pub(crate) seeds: Vec<DVec3>,
    /// By part: positions in [`GroupMesh::active`].
    pub(crate) points: Vec<Vec<usize>>,
    pub(crate) snapshots: Vec<Snapshot>,
}

/// What a placement is for.
#[derive(Clone, Copy)]
pub(crate) struct PlacementOptions {
    /// Most helpers.
    pub(crate) most: usize,
    /// Every point is to be this near.
    pub(crate) target_error: f64,
    pub(crate) regularisation: Regularisation,
    /// Helpers that are fitted to corrections may do for one position if they lie so far from each other, bind space.
    pub(crate) gap: f64,
    /// Whether helpers are fitted to what the whole stack does, not blends of their weights.
    pub(crate) refines: bool,
}

/// Looks for helpers that bring every point as near as `aim` says to where it is to come.
pub(crate) fn place_helpers(
    sampler: &Sampler<'_>,
    group: &Group,
    training: &mut TrainingSet,
    aim: PlacementOptions,
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
            let step = part.active.len().div_ceil(MOST_POINTS).max(1);
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
    let Some(n_joints) = group.n_joints else {
        return Ok(placement);
    };
    let observations: Vec<Vec<(usize, usize, usize)>> = group
        .meshes
        .iter()
        .map(|part| training.of_part(sampler, group, part, MOST_VIEWS / 2))
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
    let seeds = |placement: &'_ Placement| -> Vec<DVec3> {
        if refines {
            placement.seeds.clone()
        } else {
            Vec::new()
        }
    };
    while placement.codebook.len() < most {
        task.check()?;
        let first = placement.codebook.len();
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
            blend_weights.retain(|r| r.1 >= 0.002);
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
                        .all(|blend_weights| distance(blend_weights, own) > 1.4)
                    {
                        return None;
                    }
                    let row = fitter.refit(
                        point,
                        n_joints,
                        &placement.codebook,
                        &seeds(&placement),
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
                    if *error > 0.5 * target_error {
                        let other = fitter.refit(
                            point,
                            n_joints,
                            &placement.codebook,
                            &seeds(&placement),
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
        }
    }
    let last = placement.snapshots.last().map_or(0, |s| s.helpers);
    if placement.codebook.len() > last {
        placement.snapshots.push(Snapshot {
            helpers: placement.codebook.len(),
            rows,
            matrices: training.matrices.clone(),
        });
    }
    Ok(placement)
}

/// Fits the motions of the helpers in `training` to the points that follow them.
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

/// The max_error point that is no helper yet, lies beyond `target_error`, and is far from helpers `first` on.
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
                    0.02
                };
                distance(blend_weights, own) > least
                    || spaced.is_some_and(|gap| {
                        placement.seeds[h].distance(position)
                            > gap * if h >= first { 3.0 } else { 1.0 }
                    })
            };
            if own.len() > 1 && placement.codebook.iter().enumerate().all(far) {
                found = Some((error, i, e));
            }
        }
    }
    found.map(|f| (f.1, f.2))
}
