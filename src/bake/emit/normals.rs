//! Normal deltas of morph targets.
//!
//! Displacements do not change normals: a player shows `normalise(A (n + sum_k w_k d_k))` with A the blended matrix and n the
//! bind normal, while those of the stack also turn where the weights change from point to point. Any normal may follow the
//! weights of any displacement, wherever that acts; where these do not suffice, further targets follow whose weights are the
//! principal components of what normals lack.

use super::normal_budget::{Budget, GOAL_DEGREES, bytes_for, select_steps};
use super::normal_fit::{NormalFit, Pursuit, Shown, WeightTable};
use super::normal_moments::{Observation, WeightCurves, linear_part, observe};
use crate::bake::normal_angles::{BindNormals, angle, compared_normals, first_vertex_of_normal};
use crate::bake::problem::Problem;
use crate::bake::problem::group::{Group, GroupMesh};
use crate::bake::problem::rows::WeightRow;
use crate::bake::solve::linear::eigenvectors;
use crate::bake::solve::prices::WEIGHT_BYTES;
use crate::bake::solve::{MeshSolution, Solution};
use crate::task::Cancelled;
use glam::DVec3;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// A further target: its accessors, and its weight at a keyframe.
const TARGET_BYTES: f64 = 500.0;
/// Least improvement of the 99th percentile for which deltas are written at all, degrees.
const MIN_GAIN_DEGREES: f32 = 0.25;
/// Numbers of further targets that are tried, and the percentile that they are to reach if all normals follow all weights.
const MORE_TARGETS: [usize; 5] = [2, 4, 6, 8, 12];
const MORE_GOAL_DEGREES: f32 = 1.2;
/// Further targets must reduce the percentile to this fraction.
const MORE_GAIN: f32 = 0.7;
/// Further targets may take this fraction of the budget.
const MORE_SHARE: f64 = 0.35;
/// Normals that the number of further targets is found from.
const MAX_TRIED: usize = 1500;

/// The normal deltas of the displacements of a mesh.
#[derive(Default)]
pub(crate) struct NormalDeltas {
    /// By displacement: entries of [`crate::mesh::Mesh::normals`], ascending, and their deltas, bind space.
    pub(crate) columns: Vec<Vec<(u32, DVec3)>>,
    /// The weights of further displacements, which move no point: by instance, clip, keyframe.
    pub(crate) more: Option<MoreWeights>,
}

/// Weights of displacements by instance, clip and keyframe.
pub(crate) type MoreWeights = Vec<Vec<Vec<Vec<f64>>>>;

/// The compared normals of a mesh.
struct Compared<'a> {
    /// Entries of [`crate::mesh::Mesh::normals`].
    normals: Vec<u32>,
    bind: BindNormals,
    /// The weight row of each.
    rows: Vec<&'a WeightRow>,
}

impl Compared<'_> {
    /// Normal `i` in an observation.
    fn shown(&self, i: usize, observation: &Observation) -> Shown {
        let matrix = linear_part(self.rows[i], observation);
        Shown {
            matrix,
            position: matrix * self.bind.at(i, &observation.morph_weights),
            target: observation.targets[i].as_dvec3(),
        }
    }
}

/// The normal deltas of mesh `i` of the group; empty where they are not requested or gain too little.
pub(crate) fn normal_deltas(
    problem: &Problem<'_>,
    group: &Group,
    solved: &Solution,
    i: usize,
) -> Result<NormalDeltas, Cancelled> {
    let (part, mesh) = (&group.meshes[i], &solved.meshes[i]);
    let k = mesh.basis.k();
    let Some(item) = problem
        .sampler
        .item(part.mesh)
        .filter(|_| problem.options.normals)
    else {
        return Ok(NormalDeltas::default());
    };
    let room = problem.most_morphs().saturating_sub(k);
    let normals = compared_normals(&part.geometry, &item.influences);
    if k + room == 0 || normals.is_empty() {
        return Ok(NormalDeltas::default());
    }
    problem.task.step("Fitting normals", 0.95)?;
    let first = first_vertex_of_normal(&part.geometry);
    let vertices: Vec<u32> = normals.iter().map(|&n| first[n as usize]).collect();
    let own = rows_of(part, &mesh.rows);
    let row = |&n: &u32| {
        let point = part.geometry.point_of_normal[n as usize];
        own.get(&point)
            .copied()
            .unwrap_or(&part.file_weights[point as usize])
    };
    let compared = Compared {
        bind: BindNormals::of(&part.geometry, &vertices),
        rows: normals.iter().map(row).collect(),
        normals,
    };
    let curves = WeightCurves::of(solved, mesh, &mesh.weights, k);
    let (times, stride) = curves.moments(compared.normals.len());
    let keep = |observation: Observation| observation;
    let of_group = (group, solved);
    let at = (&times[..], stride);
    let observations = observe(problem, of_group, part, &compared.normals, at, keep)?;
    if observations.is_empty() {
        return Ok(NormalDeltas::default());
    }
    let mut n_vertices = vec![0; part.geometry.normals.len()];
    for &normal in &part.geometry.normal_of_vertex {
        n_vertices[normal as usize] += 1;
    }
    let mut budget = Budget {
        vertices: &n_vertices,
        bytes: bytes_for(
            problem,
            part,
            compared.normals.len(),
            solved.bytes / group.meshes.len() as f64,
        ),
        of_entry: problem.normal_entry_bytes(),
    };
    let keys = curves.keys();
    let of_key = WEIGHT_BYTES * (keys.len() * part.instances.len()) as f64;
    let of_target = TARGET_BYTES + of_key;
    let afforded = MORE_SHARE * budget.bytes / of_target;
    let room = room.min(afforded as usize);
    let patterns = further_patterns(&compared, &observations, &curves, room);
    problem.task.check()?;
    let m = patterns.len();
    budget.bytes -= m as f64 * of_target;
    let more = if m > 0 {
        let project = |observation: Observation| {
            let weights = projected(&compared, &observation, &patterns);
            (observation.instance, observation.time, weights)
        };
        let at = (&keys[..], 1);
        let found = observe(problem, of_group, part, &compared.normals, at, project)?;
        let mut by_key = BTreeMap::new();
        for (instance, time, weights) in found {
            let clip = time.clip.unwrap_or(usize::MAX);
            by_key.insert((instance, clip, (time.secs as f32).to_bits()), weights);
        }
        Some(more_weights(solved, mesh, m, &by_key))
    } else {
        None
    };
    let extended = more.as_ref().map(|more| mesh.with_weights(more, m));
    let mesh = extended.as_ref().unwrap_or(mesh);
    let curves = WeightCurves::of(solved, mesh, &mesh.weights, k + m);
    let reach = curves.largest();
    let rows = observations.iter().flat_map(|o| {
        let weights = curves.at(o.instance, o.time).into_iter().zip(&reach);
        weights.map(|(w, reach)| if *reach > 0.0 { w / reach } else { 0.0 })
    });
    let table = WeightTable::new(k + m, rows.collect());
    let of_normal = |i: usize| -> Result<Vec<Shown>, Cancelled> {
        problem.task.check()?;
        Ok(observations.iter().map(|o| compared.shown(i, o)).collect())
    };
    let all = || (0..compared.normals.len()).into_par_iter();
    let pursuits: Vec<Pursuit> = all()
        .map(|i| Ok(Pursuit::new(&of_normal(i)?, &table, GOAL_DEGREES)))
        .collect::<Result<_, Cancelled>>()?;
    let steps = select_steps(&compared.normals, &pursuits, &budget);
    let fits: Vec<NormalFit> = pursuits
        .into_par_iter()
        .zip(steps)
        .enumerate()
        .map(|(i, (pursuit, step))| {
            let shown = step.map_or(Ok(Vec::new()), |_| of_normal(i))?;
            Ok(pursuit.fit(step, &shown, &table))
        })
        .collect::<Result<_, Cancelled>>()?;
    let mut columns = deltas_of(&compared.normals, &fits, &reach);
    if columns.iter().all(Vec::is_empty) {
        return Ok(NormalDeltas::default());
    }
    // Further targets that no normal follows are left out.
    let used: Vec<usize> = (0..m).filter(|j| !columns[k + j].is_empty()).collect();
    let mut column = 0..;
    columns.retain(|deltas| column.next().is_some_and(|c| c < k) || !deltas.is_empty());
    let more = more.filter(|_| !used.is_empty()).map(|mut more| {
        for weights in more.iter_mut().flatten().flatten() {
            *weights = used.iter().map(|&j| weights[j]).collect();
        }
        more
    });
    Ok(NormalDeltas { columns, more })
}

/// Weight rows by point.
fn rows_of<'a>(part: &GroupMesh, rows: &'a [WeightRow]) -> BTreeMap<u32, &'a WeightRow> {
    part.active.iter().copied().zip(rows).collect()
}

/// The patterns of normals, by target and normal, whose presence in what normals lack is the weight of further targets: the
/// fewest principal components beside the weights of the displacements that promise to reach the goal. None where those
/// weights do, or where more do not help.
fn further_patterns(
    compared: &Compared<'_>,
    observations: &[Observation],
    curves: &WeightCurves,
    room: usize,
) -> Vec<Vec<DVec3>> {
    let (n, t) = (compared.normals.len(), observations.len());
    if room == 0 {
        return Vec::new();
    }
    // By normal, then by observation.
    let residuals: Vec<Vec<DVec3>> = (0..n)
        .into_par_iter()
        .map(|i| {
            let of = |o: &Observation| compared.shown(i, o).residual();
            observations.iter().map(of).collect()
        })
        .collect();
    let weights: Vec<Vec<f64>> = observations
        .iter()
        .map(|o| curves.at(o.instance, o.time))
        .collect();
    let span = orthonormal(&weights);
    let products: Vec<Vec<f64>> = (0..t)
        .into_par_iter()
        .map(|a| {
            let of = |b: usize| -> f64 {
                let pairs = residuals.iter();
                pairs.map(|normal| normal[a].dot(normal[b])).sum()
            };
            (0..=a).map(of).collect()
        })
        .collect();
    let mut gram = vec![0.0; t * t];
    for (a, row) in products.iter().enumerate() {
        for (b, product) in row.iter().enumerate() {
            gram[a * t + b] = *product;
            gram[b * t + a] = *product;
        }
    }
    // Without what the span of the weights explains, on both sides.
    for _ in 0..2 {
        for column in gram.chunks_exact_mut(t) {
            leave_out(&span, column);
        }
        for a in 0..t {
            for b in 0..a {
                gram.swap(a * t + b, b * t + a);
            }
        }
    }
    let vectors = eigenvectors(&gram, t);
    let step = n.div_ceil(MAX_TRIED).max(1);
    let p99 = |m: usize| -> f32 {
        let basis: Vec<&[f64]> = (span.iter().chain(vectors.iter().take(m)))
            .map(Vec::as_slice)
            .collect();
        let angles: Vec<Vec<f32>> = (0..n)
            .into_par_iter()
            .step_by(step)
            .map(|i| {
                let mut explained = vec![DVec3::ZERO; t];
                for vector in &basis {
                    let pairs = vector.iter().zip(&residuals[i]);
                    let amount: DVec3 = pairs.map(|(u, r)| *r * *u).sum();
                    for (sum, u) in explained.iter_mut().zip(*vector) {
                        *sum += amount * *u;
                    }
                }
                let pairs = observations.iter().zip(explained);
                pairs
                    .map(|(o, delta)| {
                        let shown = compared.shown(i, o);
                        angle(shown.position + shown.matrix * delta, shown.target) as f32
                    })
                    .collect()
            })
            .collect();
        percentile(angles.into_iter().flatten().collect())
    };
    let without = p99(0);
    let mut best = (0, without);
    for m in MORE_TARGETS {
        if best.1 <= MORE_GOAL_DEGREES || m > room.min(vectors.len()) {
            break;
        }
        let found = p99(m);
        if found < best.1 {
            best = (m, found);
        }
    }
    if best.1 > MORE_GAIN * without {
        return Vec::new();
    }
    // The pattern of a component: how each normal lacks it.
    let pattern = |vector: &Vec<f64>| -> Vec<DVec3> {
        let of = |normal: &Vec<DVec3>| normal.iter().zip(vector).map(|(r, u)| *r * *u).sum();
        let pattern: Vec<DVec3> = residuals.iter().map(of).collect();
        let square: f64 = pattern.iter().map(|d| d.length_squared()).sum();
        pattern.into_iter().map(|d| d / square.max(1e-30)).collect()
    };
    vectors.iter().take(best.0).map(pattern).collect()
}

/// An orthonormal basis of the columns of some rows (modified Gram-Schmidt), by basis vector.
fn orthonormal(rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let k = rows.first().map_or(0, Vec::len);
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for column in 0..k {
        let mut vector: Vec<f64> = rows.iter().map(|row| row[column]).collect();
        let length = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
        let before = length(&vector);
        leave_out(&basis, &mut vector);
        leave_out(&basis, &mut vector);
        let after = length(&vector);
        if after > 1e-6 * before && after > 0.0 {
            for x in &mut vector {
                *x /= after;
            }
            basis.push(vector);
        }
    }
    basis
}

/// Takes from a vector what an orthonormal basis explains of it.
fn leave_out(basis: &[Vec<f64>], vector: &mut [f64]) {
    for other in basis {
        let share: f64 = other.iter().zip(&*vector).map(|(a, b)| a * b).sum();
        for (x, y) in vector.iter_mut().zip(other) {
            *x -= share * y;
        }
    }
}

/// How much of each pattern an observation lacks.
fn projected(
    compared: &Compared<'_>,
    observation: &Observation,
    patterns: &[Vec<DVec3>],
) -> Vec<f64> {
    let mut weights = vec![0.0; patterns.len()];
    for i in 0..compared.normals.len() {
        let residual = compared.shown(i, observation).residual();
        for (weight, pattern) in weights.iter_mut().zip(patterns) {
            *weight += residual.dot(pattern[i]);
        }
    }
    weights
}

/// Weights of further displacements at the keyframes of a mesh; 0 where they are not known.
fn more_weights(
    solved: &Solution,
    mesh: &MeshSolution,
    m: usize,
    by_key: &BTreeMap<(usize, usize, u32), Vec<f64>>,
) -> MoreWeights {
    let instances = mesh.weights.iter().enumerate();
    let of_instance = |(instance, clips): (usize, &Vec<Vec<Vec<f64>>>)| {
        let clips = clips.iter().enumerate().map(|(clip, keys)| {
            let keys = keys.iter().zip(&solved.keys[clip]).map(|(_, time)| {
                let found = by_key.get(&(instance, clip, time.to_bits()));
                found.cloned().unwrap_or_else(|| vec![0.0; m])
            });
            keys.collect()
        });
        clips.collect()
    };
    instances.map(of_instance).collect()
}

/// The 99th percentile; 0 if there are no angles. NaN counts as infinite.
fn percentile(mut angles: Vec<f32>) -> f32 {
    if angles.is_empty() {
        return 0.0;
    }
    for angle in angles.iter_mut().filter(|angle| angle.is_nan()) {
        *angle = f32::INFINITY;
    }
    let at = (0.99 * (angles.len() - 1) as f64) as usize;
    *angles.select_nth_unstable_by(at, f32::total_cmp).1
}

/// The deltas of the fits by displacement, ascending by normal; none if they lower the 99th percentile too little.
fn deltas_of(normals: &[u32], fits: &[NormalFit], reach: &[f64]) -> Vec<Vec<(u32, DVec3)>> {
    let mut columns = vec![Vec::new(); reach.len()];
    let before = fits.iter().flat_map(|fit| &fit.before);
    let after = fits.iter().flat_map(NormalFit::angles);
    let gain = percentile(before.copied().collect()) - percentile(after.copied().collect());
    // NaN is not enough.
    let is_enough = gain >= MIN_GAIN_DEGREES;
    if !is_enough {
        return columns;
    }
    for (&normal, fit) in normals.iter().zip(fits) {
        for (&i, d) in fit.columns.iter().zip(&fit.d) {
            if reach[i] > 0.0 {
                columns[i].push((normal, *d / reach[i]));
            }
        }
    }
    for deltas in &mut columns {
        deltas.sort_by_key(|(normal, _)| *normal);
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_gains_little_is_left_out() {
        let fit = |before: f32, after: f32| NormalFit {
            columns: vec![0],
            d: vec![DVec3::X],
            before: vec![before; 4],
            after: vec![after; 4],
        };
        let deltas = |fits: &[NormalFit]| deltas_of(&[3, 7], fits, &[2.0]);
        let none = deltas(&[fit(0.2, 0.1), fit(0.3, 0.1)]);
        assert!(none.iter().all(Vec::is_empty));
        let unused = NormalFit {
            before: vec![0.2; 4],
            ..NormalFit::default()
        };
        let some = deltas(&[unused, fit(9.0, 0.1)]);
        assert_eq!(some, vec![vec![(7, DVec3::X * 0.5)]]);
        // NaN is no gain; a number in its place is one.
        for (before, after, is_written) in [
            (9.0, f32::NAN, false),
            (f32::NAN, f32::NAN, false),
            (9.0, -f32::NAN, false),
            (f32::NAN, 0.1, true),
        ] {
            let found = deltas(&[fit(before, after), fit(before, after)]);
            assert_eq!(!found[0].is_empty(), is_written, "{before} {after}");
        }
        // Displacements without a weight get none.
        assert!(deltas_of(&[3, 7], &[fit(9.0, 0.1), fit(9.0, 0.1)], &[0.0])[0].is_empty());
    }

    #[test]
    fn a_span_explains_its_columns() {
        let rows: Vec<Vec<f64>> = (0..6)
            .map(|i| vec![f64::from(i), 2.0 * f64::from(i), f64::from(i * i)])
            .collect();
        let basis = orthonormal(&rows);
        // The second column is twice the first.
        assert_eq!(basis.len(), 2);
        let mut column: Vec<f64> = rows.iter().map(|row| row[0] - 3.0 * row[2]).collect();
        leave_out(&basis, &mut column);
        assert!(column.iter().all(|x| x.abs() < 1e-9), "{column:?}");
        let mut other = vec![1.0; 6];
        leave_out(&basis, &mut other);
        let overlap: f64 = other.iter().zip(&basis[0]).map(|(a, b)| a * b).sum();
        assert!(overlap.abs() < 1e-12 && other.iter().any(|x| x.abs() > 0.01));
    }
}
