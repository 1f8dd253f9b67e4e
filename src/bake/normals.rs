//! Normals that morph targets turn, with the weights that their displacements have.
//!
//! Displacements alone do not turn normals: a player shows `normalise(A (n + sum_k w_k d_k))` with A the blended matrix
//! and n the bind normal. The d of each normal solve `min sum_t |target_t - shown_t|^2` over telling moments, linearised:
//! the part of `A (n + sum d w)` across the target, by its length, is to vanish, and its length hardly to change.

use super::angles::{BindNormals, angle, compared_normals, first_vertex_of_normal};
use super::dense::solve_in_place;
use super::group::{Group, Part};
use super::rows::{Row, blended};
use super::solve::{Job, Solved};
use super::stage::{Moment, Time, Wanted};
use crate::task::Cancelled;
use glam::{DAffine3, DMat3, DVec3, Vec3};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Moments, times instances, that turns are found on.
const VIEWS: usize = 56;
/// 99 % of the angles are to stay below this where that takes few turns, degrees.
const GOAL: f64 = 0.7;
/// Normals whose worst angle is below these, tried in turn, stay as they are, degrees.
const IDLE: [f64; 6] = [3.0, 2.0, 1.4, 1.0, 0.7, 0.4];
/// A part of a turn that is less than this share of such an angle is left out.
const PART: f64 = 0.12;
/// Turns that gain less of the angle which 99 % stay below are not worth their bytes, degrees.
const GAIN: f64 = 0.25;
/// How much the length of a normal counts beside its direction.
const LENGTH: f64 = 0.2;
/// How much of a turn at full weight it takes to outweigh a moment.
const RIDGE: f64 = 1e-3;

/// What displacements of a mesh do to its normals.
#[derive(Default)]
pub(super) struct Turns {
    /// Entries of [`crate::mesh::Mesh::normals`], ascending.
    pub(super) normals: Vec<u32>,
    /// What each displacement adds to each of them: n x k, bind space.
    pub(super) d: Vec<DVec3>,
}

/// One instance at one moment.
struct View {
    /// Linear parts of the matrices of joints and helpers.
    linear: Vec<DAffine3>,
    /// Of the source's targets.
    morph_weights: Vec<f32>,
    /// The stack's normals, one each of those to turn.
    targets: Vec<Vec3>,
    /// Weights of the displacements as shares of their largest, k.
    weights: Vec<f64>,
}

/// A normal seen in all views.
struct Fit {
    /// As shares of the largest weights, k.
    d: Vec<DVec3>,
    /// By view, degrees, without and with.
    before: Vec<f32>,
    after: Vec<f32>,
}

/// What the displacements of mesh `i` of the group do to its normals; nothing where that is not asked for or gains
/// little.
pub(super) fn turns(
    job: &Job<'_>,
    group: &Group,
    solved: &Solved,
    i: usize,
) -> Result<Turns, Cancelled> {
    let (part, mesh) = (&group.meshes[i], &solved.meshes[i]);
    let k = mesh.k;
    let Some(item) = job.stage.item(part.mesh).filter(|_| job.options.normals) else {
        return Ok(Turns::default());
    };
    let normals = compared_normals(&part.geometry, &item.influences);
    let reach = largest_weights(k, mesh.weights.iter().flatten().flatten());
    if k == 0 || normals.is_empty() || reach.iter().all(|r| *r <= 0.0) {
        return Ok(Turns::default());
    }
    job.task.step("Turning normals", 0.95)?;
    let views = views(job, group, solved, i, &normals, &reach)?;
    let first = first_vertex_of_normal(&part.geometry);
    let vertices: Vec<u32> = normals.iter().map(|&n| first[n as usize]).collect();
    let bind = BindNormals::of(&part.geometry, &vertices);
    let rows = rows_of(part, &mesh.rows);
    let fits: Vec<Fit> = normals
        .par_iter()
        .enumerate()
        .map(|(i, &normal)| {
            let point = part.geometry.point_of_normal[normal as usize];
            let row = rows.get(&point).map_or(&part.base[point as usize], |r| *r);
            Fit::new(k, i, row, &bind, &views)
        })
        .collect();
    job.task.check()?;
    Ok(worth(k, &normals, &fits, &reach))
}

/// The largest weight of each displacement, either way.
fn largest_weights<'a>(k: usize, all: impl Iterator<Item = &'a Vec<f64>>) -> Vec<f64> {
    let mut largest = vec![0.0f64; k];
    for weights in all {
        for (largest, w) in largest.iter_mut().zip(weights) {
            *largest = largest.max(w.abs());
        }
    }
    largest
}

/// New rows by point.
fn rows_of<'a>(part: &Part, rows: &'a [Row]) -> BTreeMap<u32, &'a Row> {
    part.active.iter().copied().zip(rows).collect()
}

/// Keys that tell most: half of them spread over time, the others far from each other in their weights.
fn telling(keys: &[(Time, Vec<f64>)], most: usize) -> Vec<usize> {
    let step = keys.len().div_ceil((most / 2).max(1)).max(1);
    let mut chosen: Vec<usize> = (0..keys.len()).step_by(step).collect();
    let gap = |i: usize, j: usize| -> f64 {
        let pairs = keys[i].1.iter().zip(&keys[j].1);
        pairs.map(|(a, b)| (a - b) * (a - b)).sum()
    };
    let nearest = |i: usize| {
        chosen
            .iter()
            .map(|&j| gap(i, j))
            .fold(f64::INFINITY, f64::min)
    };
    let mut gaps: Vec<f64> = (0..keys.len()).map(nearest).collect();
    while chosen.len() < most {
        let far = (0..keys.len()).reduce(|a, b| if gaps[b] > gaps[a] { b } else { a });
        let Some(far) = far.filter(|&i| gaps[i] > 0.0) else {
            break;
        };
        chosen.push(far);
        for (i, nearest) in gaps.iter_mut().enumerate() {
            *nearest = nearest.min(gap(i, far));
        }
    }
    chosen.sort_unstable();
    chosen
}

/// Mesh `i` at telling moments, in all its instances.
fn views(
    job: &Job<'_>,
    group: &Group,
    solved: &Solved,
    i: usize,
    normals: &[u32],
    reach: &[f64],
) -> Result<Vec<View>, Cancelled> {
    let (part, mesh) = (&group.meshes[i], &solved.meshes[i]);
    let mut keys: Vec<(Time, Vec<f64>)> = Vec::new();
    for (clip, times) in solved.keys.iter().enumerate() {
        for (key, &time) in times.iter().enumerate() {
            let instances = mesh.weights.iter().map(|clips| clips[clip].get(key));
            let Some(weights) = instances.collect::<Option<Vec<_>>>() else {
                continue;
            };
            let shares = weights.iter().flat_map(|w| w.iter().zip(reach));
            let time = Time {
                clip: Some(clip),
                secs: f64::from(time),
            };
            keys.push((time, shares.map(|(w, r)| w / r.max(1e-300)).collect()));
        }
    }
    let chosen = telling(&keys, (VIEWS / part.drawn.len().max(1)).max(8));
    let chosen: Vec<&(Time, Vec<f64>)> = chosen.into_iter().map(|c| &keys[c]).collect();
    let times: Vec<Time> = chosen.iter().map(|c| c.0).collect();
    let look = |m: usize, moment: Moment| -> Vec<View> {
        let of = |(instance, &d): (usize, &usize)| {
            let drawn = &moment.drawn[d];
            let k = mesh.k;
            View {
                linear: matrices(group, solved, job.stage.drawn[d].unit, &moment),
                morph_weights: drawn.morph_weights.clone(),
                targets: normals.iter().map(|&n| drawn.normals[n as usize]).collect(),
                weights: chosen[m].1[instance * k..(instance + 1) * k].to_vec(),
            }
        };
        part.drawn.iter().enumerate().map(of).collect()
    };
    let wanted = Wanted {
        normals: true,
        ..Wanted::own(&part.drawn)
    };
    let views = job.stage.map(job.clips, &times, wanted, job.task, look)?;
    Ok(views.into_iter().flatten().collect())
}

/// Matrices of a unit's joints and helpers as a player has them.
fn matrices(group: &Group, solved: &Solved, unit: usize, moment: &Moment) -> Vec<DAffine3> {
    let own = &moment.units[unit].matrices;
    let index = group.units.iter().position(|&u| u == unit);
    let helpers = index.and_then(|i| solved.helpers.get(i));
    let helpers = helpers.into_iter().flatten();
    let helpers = helpers.map(|helper| helper.matrix(&moment.world, moment.time));
    own.iter().copied().chain(helpers).collect()
}

/// A normal of bind direction `n` in one view.
struct Sight {
    /// Its matrix, and what that makes of it without turns.
    matrix: DMat3,
    place: DVec3,
    target: DVec3,
    /// The length that is not to be fallen short of: what a matrix that collapses leaves has no direction.
    least: f64,
}

impl Fit {
    fn new(k: usize, i: usize, row: &Row, bind: &BindNormals, views: &[View]) -> Self {
        let sights: Vec<Sight> = views
            .iter()
            .map(|view| {
                let matrix = blended(row, &view.linear).matrix3;
                let columns = [matrix.x_axis, matrix.y_axis, matrix.z_axis];
                let square: f64 = columns.iter().map(|c| c.length_squared()).sum();
                Sight {
                    matrix,
                    place: matrix * bind.at(i, &view.morph_weights),
                    target: view.targets[i].as_dvec3(),
                    least: 0.15 * (square / 3.0).sqrt() + 1e-30,
                }
            })
            .collect();
        let shown = |d: &[DVec3]| -> Vec<f32> {
            let pairs = sights.iter().zip(views);
            pairs
                .map(|(s, view)| angle(s.place + s.matrix * sum(d, &view.weights), s.target) as f32)
                .collect()
        };
        let score = |angles: &[f32]| -> f64 { angles.iter().map(|a| f64::from(*a).powi(4)).sum() };
        let before = shown(&[]);
        let mut best = Self {
            d: vec![DVec3::ZERO; k],
            after: before.clone(),
            before,
        };
        if best
            .before
            .iter()
            .all(|a| f64::from(*a) < IDLE[IDLE.len() - 1])
        {
            return best;
        }
        let mut d = best.d.clone();
        let mut om = vec![1.0; views.len()];
        for _ in 0..2 {
            if !solve(k, &sights, views, &om, &mut d) {
                break;
            }
            let angles = shown(&d);
            let mean = angles.iter().map(|a| f64::from(a * a)).sum::<f64>() / angles.len() as f64;
            for (om, angle) in om.iter_mut().zip(&angles) {
                *om *= (f64::from(*angle) / mean.sqrt().max(1e-9)).powf(0.7) + 0.3;
            }
            if score(&angles) < score(&best.after) {
                best.d.clone_from(&d);
                best.after = angles;
            }
        }
        best
    }
}

/// What the turns come to at some weights.
fn sum(d: &[DVec3], weights: &[f64]) -> DVec3 {
    d.iter().zip(weights).map(|(d, w)| *d * *w).sum()
}

/// Solves the turns of a normal, linearised at `d`; `false` where there is no answer.
fn solve(k: usize, sights: &[Sight], views: &[View], om: &[f64], d: &mut [DVec3]) -> bool {
    let n = 3 * k;
    let mut g = vec![0.0; n * n];
    let mut h = vec![0.0; n];
    for ((sight, view), om) in sights.iter().zip(views).zip(om) {
        let (a, t) = (sight.matrix, sight.target);
        let shown = sight.place + a * sum(d, &view.weights);
        let length = shown.dot(t).max(sight.least);
        // Across the target, and a little along it.
        let across = |v: DVec3| v - t * (v.dot(t) * (1.0 - LENGTH * LENGTH));
        let scale = om / (length * length);
        let m =
            a.transpose() * DMat3::from_cols(across(a.x_axis), across(a.y_axis), across(a.z_axis));
        let m = (m * scale).to_cols_array();
        let b = a.transpose() * across(t * length - sight.place) * scale;
        for (i, &w) in view.weights.iter().enumerate() {
            for (x, b) in b.to_array().into_iter().enumerate() {
                h[3 * i + x] += w * b;
            }
            for (j, &v) in view.weights[..=i].iter().enumerate() {
                let wv = w * v;
                if wv == 0.0 {
                    continue;
                }
                for x in 0..3 {
                    for y in 0..3 {
                        g[(3 * i + x) * n + 3 * j + y] += wv * m[3 * x + y];
                    }
                }
            }
        }
    }
    let ridge = RIDGE * om.iter().sum::<f64>();
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

/// The fewest turns that bring the angles about as far down as all of them do, or to the goal.
fn worth(k: usize, normals: &[u32], fits: &[Fit], reach: &[f64]) -> Turns {
    let worst = |angles: &[f32]| f64::from(angles.iter().copied().fold(0.0, f32::max));
    let p99 = |turned: &dyn Fn(&Fit) -> bool| -> f64 {
        let mut all: Vec<f32> = Vec::new();
        for fit in fits {
            all.extend_from_slice(if turned(fit) { &fit.after } else { &fit.before });
        }
        let at = (0.99 * (all.len() - 1) as f64) as usize;
        f64::from(*all.select_nth_unstable_by(at, f32::total_cmp).1)
    };
    if fits.iter().all(|fit| fit.before.is_empty()) {
        return Turns::default();
    }
    let before = p99(&|_| false);
    let full = p99(&|_| true);
    if before - full < GAIN {
        return Turns::default();
    }
    let limit = GOAL.max(full + 0.1 * (before - full));
    let idle = IDLE
        .into_iter()
        .find(|&idle| p99(&|fit| worst(&fit.before) > idle) <= limit);
    let idle = idle.unwrap_or(IDLE[IDLE.len() - 1]);
    let least = PART * idle.to_radians();
    let mut turns = Turns::default();
    for (&normal, fit) in normals.iter().zip(fits) {
        if worst(&fit.before) > idle && fit.d.iter().any(|d| d.length() >= least) {
            turns.normals.push(normal);
            let shares = fit.d.iter().zip(reach);
            turns.d.extend(shares.map(|(d, reach)| {
                if d.length() < least || *reach <= 0.0 {
                    DVec3::ZERO
                } else {
                    *d / *reach
                }
            }));
        }
    }
    debug_assert_eq!(turns.d.len(), k * turns.normals.len());
    turns
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Views of a normal Z that the stack turns about X by an angle that grows with the only weight.
    fn views(matrix: impl Fn(f64) -> DMat3) -> Vec<View> {
        let weights = (0..9).map(|i| f64::from(i) / 8.0);
        weights
            .map(|w| View {
                linear: vec![DAffine3::from_mat3(matrix(w))],
                morph_weights: Vec::new(),
                targets: vec![(DMat3::from_rotation_x(0.6 * w) * DVec3::Z).as_vec3()],
                weights: vec![w],
            })
            .collect()
    }

    fn z() -> BindNormals {
        let mesh = crate::mesh::Mesh {
            normals: vec![Vec3::Z],
            normal_of_vertex: vec![0],
            ..Default::default()
        };
        BindNormals::of(&mesh, &[0])
    }

    #[test]
    fn a_normal_follows_its_weight() {
        let views = views(|w| DMat3::from_rotation_y(2.0 * w) * 0.01);
        let row = vec![(0, 1.0)];
        // What stands still while the matrix turns is no answer that one weight can give exactly; it still helps.
        let fit = Fit::new(1, 0, &row, &z(), &views);
        let largest = |angles: &[f32]| angles.iter().copied().fold(0.0, f32::max);
        assert!(largest(&fit.after) < 0.7 * largest(&fit.before));
        // Under a matrix that stays it is nearly exact: the tangent of the angle against the weight.
        let views = self::views(|_| DMat3::from_diagonal(DVec3::splat(3.0)));
        let fit = Fit::new(1, 0, &row, &z(), &views);
        assert!(
            largest(&fit.before) > 34.0 && largest(&fit.after) < 1.5,
            "{:?}",
            fit.after
        );
    }

    #[test]
    fn a_collapsed_matrix_does_no_harm() {
        let views = views(|w| {
            if w > 0.9 {
                DMat3::ZERO
            } else {
                DMat3::IDENTITY
            }
        });
        let fit = Fit::new(1, 0, &vec![(0, 1.0)], &z(), &views);
        assert!(fit.d[0].is_finite() && fit.after[..8].iter().all(|a| *a < 2.0));
    }

    #[test]
    fn what_gains_little_is_left_out() {
        let fit = |before: f32, after: f32| Fit {
            d: vec![DVec3::X],
            before: vec![before; 4],
            after: vec![after; 4],
        };
        let none = worth(1, &[3, 7], &[fit(0.2, 0.1), fit(0.3, 0.1)], &[2.0]);
        assert!(none.normals.is_empty());
        let some = worth(1, &[3, 7], &[fit(0.2, 0.1), fit(9.0, 0.1)], &[2.0]);
        assert_eq!(
            (&some.normals[..], &some.d[..]),
            (&[7][..], &[DVec3::X * 0.5][..])
        );
    }

    #[test]
    fn telling_keys_are_spread_and_far() {
        let key = |secs: f64, w: f64| {
            (
                Time {
                    clip: Some(0),
                    secs,
                },
                vec![w],
            )
        };
        let mut keys: Vec<_> = (0..20).map(|i| key(f64::from(i), 0.0)).collect();
        keys[7].1[0] = 1.0;
        let chosen = telling(&keys, 8);
        assert!(
            chosen.contains(&0) && chosen.contains(&7) && chosen.len() == 5,
            "{chosen:?}"
        );
    }
}
