//! Normal deltas of morph targets, for the weights that their displacements have.
//!
//! Displacements do not change normals: a player shows `normalise(A (n + sum_k w_k d_k))` with A the blended matrix
//! and n the bind normal. The deltas d of each normal minimise `sum_t |target_t - shown_t|^2` over representative
//! keyframes, linearised: the component of `A (n + sum d w)` across the target, relative to its length, is to vanish,
//! and the length hardly to change.

use crate::bake::normal_angles::{BindNormals, angle, compared_normals, first_vertex_of_normal};
use crate::bake::problem::Problem;
use crate::bake::problem::group::{Group, GroupMesh};
use crate::bake::problem::rows::{WeightRow, blended};
use crate::bake::problem::sampler::{Frame, FrameTime, SampleRequest};
use crate::bake::solve::Solution;
use crate::bake::solve::irls;
use crate::bake::solve::linear::solve_in_place;
use crate::math::Worse;
use crate::task::Cancelled;
use glam::{DAffine3, DMat3, DVec3, Vec3};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;

/// Observations of a mesh: keyframes times instances. It bounds memory and time.
const MAX_OBSERVATIONS: usize = 56;
/// The 99th percentile of angles to reach, degrees: below 1 degree shading is not visibly different.
const GOAL_DEGREES: f64 = 0.7;
/// Thresholds of a normal's largest angle, degrees, tried in this order: normals below get no delta.
const THRESHOLD_DEGREES: [f64; 3] = [12.0, 6.0, 3.0];
/// Deltas may take this fraction of the bytes of the source, and in a small file this many: they are data of every
/// displaced vertex in every target, and there they would outweigh all else.
const FILE_SHARE: f64 = 0.1;
const MIN_BUDGET: f64 = 16e3;
/// A delta of a vertex in a sparse accessor: an index of 16 bits and three floats.
const ENTRY_BYTES: f64 = 14.0;
/// Deltas shorter than this fraction of the threshold are dropped.
const MIN_DELTA_SHARE: f64 = 0.12;
/// Least improvement of the 99th percentile for which deltas are written at all, degrees.
const MIN_GAIN_DEGREES: f64 = 0.25;
/// Weight of an error in length relative to one in direction; lengths are normalised, but a short normal is unstable.
const LENGTH_WEIGHT: f64 = 0.2;
/// Ridge relative to the weight of all observations (no unit).
const RIDGE: f64 = 1e-3;

/// The least length of a normal in the linearisation, as a fraction of the matrix's scale.
const MIN_LENGTH: f64 = 0.15;
/// A result counts as nearly the best within this fraction of the possible improvement.
const NEARLY: f64 = 0.1;

/// The normal deltas of the displacements of a mesh.
#[derive(Default)]
pub(crate) struct NormalDeltas {
    /// By displacement: entries of [`crate::mesh::Mesh::normals`], ascending, and their deltas, bind space.
    pub(crate) columns: Vec<Vec<(u32, DVec3)>>,
}

/// An instance at one frame.
struct InstanceObservation {
    /// Matrices of joints and helpers.
    linear: Vec<DAffine3>,
    /// Weights of the source's morph targets.
    morph_weights: Vec<f32>,
    /// The stack's normals, one for each fitted normal.
    targets: Vec<Vec3>,
    /// Weights of the displacements as fractions of their largest, k.
    weights: Vec<f64>,
}

/// The fit of one normal.
struct NormalFit {
    /// The displacements that its point has.
    columns: Range<usize>,
    /// Their deltas at the largest weights.
    d: Vec<DVec3>,
    /// Angles by observation, degrees, without and with the deltas.
    before: Vec<f32>,
    after: Vec<f32>,
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
    let normals = compared_normals(&part.geometry, &item.influences);
    let reach = largest_weights(k, mesh.weights.iter().flatten().flatten());
    if k == 0 || normals.is_empty() || reach.iter().all(|r| *r <= 0.0) {
        return Ok(NormalDeltas::default());
    }
    problem.task.step("Fitting normals", 0.95)?;
    let observations = observations(problem, group, solved, i, &normals, &reach)?;
    let first = first_vertex_of_normal(&part.geometry);
    let vertices: Vec<u32> = normals.iter().map(|&n| first[n as usize]).collect();
    let bind = BindNormals::of(&part.geometry, &vertices);
    let rows = rows_of(part, &mesh.rows);
    let fits: Vec<NormalFit> = normals
        .par_iter()
        .enumerate()
        .map(|(i, &normal)| {
            let point = part.geometry.point_of_normal[normal as usize];
            let row = rows
                .get(&point)
                .map_or(&part.file_weights[point as usize], |r| *r);
            let columns = match part.active.binary_search(&point) {
                Ok(place) if mesh.basis.is_regional() => mesh.basis.of_place(place).0,
                Err(_) if mesh.basis.is_regional() => 0..0,
                _ => 0..k,
            };
            NormalFit::new(columns, i, row, &bind, &observations)
        })
        .collect();
    problem.task.check()?;
    let mut vertices = vec![0; part.geometry.normals.len()];
    for &normal in &part.geometry.normal_of_vertex {
        vertices[normal as usize] += 1;
    }
    let budget = Budget {
        vertices: &vertices,
        bytes: bytes_for(problem, part),
    };
    Ok(select_deltas(k, &normals, &fits, &reach, &budget))
}

/// What the deltas of a mesh may take in the file.
struct Budget<'a> {
    /// The number of vertices of each normal.
    vertices: &'a [u32],
    bytes: f64,
}

/// The bytes for the deltas of a mesh: its part of those of the file by its vertices.
fn bytes_for(problem: &Problem<'_>, part: &GroupMesh) -> f64 {
    let document = problem.sampler.document;
    let source = document.source();
    let bytes = source.map_or(0, |source| {
        let buffers: usize = source.buffers.iter().map(bytes::Bytes::len).sum();
        buffers.max(source.bytes.len())
    });
    let meshes = document.meshes().values();
    let vertices: usize = meshes.map(|item| item.geometry.n_vertices()).sum();
    let share = part.geometry.n_vertices() as f64 / vertices.max(1) as f64;
    share * (FILE_SHARE * bytes as f64).max(MIN_BUDGET)
}

/// The largest absolute weight of each displacement.
fn largest_weights<'a>(k: usize, all: impl Iterator<Item = &'a Vec<f64>>) -> Vec<f64> {
    let mut largest = vec![0.0f64; k];
    for weights in all {
        for (largest, w) in largest.iter_mut().zip(weights) {
            *largest = largest.worse(w.abs());
        }
    }
    largest
}

/// Weight rows by point.
fn rows_of<'a>(part: &GroupMesh, rows: &'a [WeightRow]) -> BTreeMap<u32, &'a WeightRow> {
    part.active.iter().copied().zip(rows).collect()
}

/// Representative keyframes: half of them at a regular stride, half by farthest-point sampling of their weights.
fn representative_keys(keys: &[(FrameTime, Vec<f64>)], most: usize) -> Vec<usize> {
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

/// Mesh `i` at representative keyframes in all its instances.
fn observations(
    problem: &Problem<'_>,
    group: &Group,
    solved: &Solution,
    i: usize,
    normals: &[u32],
    reach: &[f64],
) -> Result<Vec<InstanceObservation>, Cancelled> {
    let (part, mesh) = (&group.meshes[i], &solved.meshes[i]);
    let mut keys: Vec<(FrameTime, Vec<f64>)> = Vec::new();
    for (clip, times) in solved.keys.iter().enumerate() {
        for (key, &time) in times.iter().enumerate() {
            let instances = mesh.weights.iter().map(|clips| clips[clip].get(key));
            let Some(weights) = instances.collect::<Option<Vec<_>>>() else {
                continue;
            };
            let shares = weights.iter().flat_map(|w| w.iter().zip(reach));
            let time = FrameTime {
                clip: Some(clip),
                secs: f64::from(time),
            };
            keys.push((time, shares.map(|(w, r)| w / r.max(1e-300)).collect()));
        }
    }
    let chosen = representative_keys(
        &keys,
        (MAX_OBSERVATIONS / part.instances.len().max(1)).max(8),
    );
    let chosen: Vec<&(FrameTime, Vec<f64>)> = chosen.into_iter().map(|c| &keys[c]).collect();
    let times: Vec<FrameTime> = chosen.iter().map(|c| c.0).collect();
    let look = |m: usize, frame: Frame| -> Vec<InstanceObservation> {
        let of = |(instance, &d): (usize, &usize)| {
            let drawn = &frame.instances[d];
            let k = mesh.basis.k();
            InstanceObservation {
                linear: matrices(
                    group,
                    solved,
                    problem.sampler.instances[d].joint_set,
                    &frame,
                ),
                morph_weights: drawn.morph_weights.clone(),
                targets: normals.iter().map(|&n| drawn.normals[n as usize]).collect(),
                weights: chosen[m].1[instance * k..(instance + 1) * k].to_vec(),
            }
        };
        part.instances.iter().enumerate().map(of).collect()
    };
    let wanted = SampleRequest {
        normals: true,
        ..SampleRequest::own(&part.instances)
    };
    let observations = problem
        .sampler
        .sample(problem.clips, &times, wanted, problem.task, look)?;
    Ok(observations.into_iter().flatten().collect())
}

/// A player's skin matrices of a joint set's joints and helpers.
fn matrices(group: &Group, solved: &Solution, joint_set: usize, frame: &Frame) -> Vec<DAffine3> {
    let own = &frame.joint_sets[joint_set].matrices;
    let index = group.joint_sets.iter().position(|&u| u == joint_set);
    let helpers = index.and_then(|i| solved.helpers.get(i));
    let helpers = helpers.into_iter().flatten();
    let helpers = helpers.map(|helper| helper.matrix(&frame.world, frame.time));
    own.iter().copied().chain(helpers).collect()
}

/// A normal in one observation.
struct NormalObservation<'a> {
    /// The blended matrix, and the normal it gives without deltas.
    matrix: DMat3,
    position: DVec3,
    target: DVec3,
    /// The least length in the denominator: a collapsed matrix gives no direction.
    least: f64,
    /// Weights of the point's displacements as fractions of their largest.
    weights: &'a [f64],
}

impl NormalFit {
    fn new(
        columns: Range<usize>,
        i: usize,
        row: &WeightRow,
        bind: &BindNormals,
        observations: &[InstanceObservation],
    ) -> Self {
        let observations: Vec<NormalObservation<'_>> = observations
            .iter()
            .map(|view| {
                let matrix = blended(row, &view.linear).matrix3;
                let axes = [matrix.x_axis, matrix.y_axis, matrix.z_axis];
                let square: f64 = axes.iter().map(|c| c.length_squared()).sum();
                NormalObservation {
                    matrix,
                    position: matrix * bind.at(i, &view.morph_weights),
                    target: view.targets[i].as_dvec3(),
                    least: MIN_LENGTH * (square / 3.0).sqrt() + 1e-30,
                    weights: &view.weights[columns.clone()],
                }
            })
            .collect();
        let shown = |d: &[DVec3]| -> Vec<f32> {
            let angles = observations.iter();
            angles
                .map(|o| angle(o.position + o.matrix * sum(d, o.weights), o.target) as f32)
                .collect()
        };
        let score = |angles: &[f32]| -> f64 { angles.iter().map(|a| f64::from(*a).powi(4)).sum() };
        let before = shown(&[]);
        let k = columns.len();
        let mut best = Self {
            columns,
            d: vec![DVec3::ZERO; k],
            after: before.clone(),
            before,
        };
        let least = THRESHOLD_DEGREES[THRESHOLD_DEGREES.len() - 1];
        if k == 0 || best.before.iter().all(|a| f64::from(*a) < least) {
            return best;
        }
        let mut d = best.d.clone();
        let mut irls = vec![1.0; observations.len()];
        for _ in 0..2 {
            if !solve(k, &observations, &irls, &mut d) {
                break;
            }
            let angles = shown(&d);
            let mean = angles.iter().map(|a| f64::from(a * a)).sum::<f64>() / angles.len() as f64;
            for (irls, angle) in irls.iter_mut().zip(&angles) {
                *irls *= irls::factor(f64::from(*angle) / mean.sqrt().max(1e-9));
            }
            if score(&angles) < score(&best.after) {
                best.d.clone_from(&d);
                best.after = angles;
            }
        }
        best
    }
}

/// The delta at given weights.
fn sum(d: &[DVec3], weights: &[f64]) -> DVec3 {
    d.iter().zip(weights).map(|(d, w)| *d * *w).sum()
}

/// Solves for the deltas of a normal, linearised at `d`; `false` where the system is singular.
fn solve(k: usize, observations: &[NormalObservation<'_>], irls: &[f64], d: &mut [DVec3]) -> bool {
    let n = 3 * k;
    let mut g = vec![0.0; n * n];
    let mut h = vec![0.0; n];
    for (observation, irls) in observations.iter().zip(irls) {
        let (a, t) = (observation.matrix, observation.target);
        let shown = observation.position + a * sum(d, observation.weights);
        let length = shown.dot(t).max(observation.least);
        // The component across the target, and a little of the one along it.
        let across = |v: DVec3| v - t * (v.dot(t) * (1.0 - LENGTH_WEIGHT * LENGTH_WEIGHT));
        let scale = irls / (length * length);
        let m =
            a.transpose() * DMat3::from_cols(across(a.x_axis), across(a.y_axis), across(a.z_axis));
        let m = (m * scale).to_cols_array();
        let b = a.transpose() * across(t * length - observation.position) * scale;
        for (i, &w) in observation.weights.iter().enumerate() {
            for (x, b) in b.to_array().into_iter().enumerate() {
                h[3 * i + x] += w * b;
            }
            for (j, &v) in observation.weights[..=i].iter().enumerate() {
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

/// The fewest deltas that reach the target percentile, or nearly the best one possible; of those, the ones that gain the
/// most for their bytes, as many as the budget allows.
fn select_deltas(
    k: usize,
    normals: &[u32],
    fits: &[NormalFit],
    reach: &[f64],
    budget: &Budget<'_>,
) -> NormalDeltas {
    let worst = |angles: &[f32]| f64::from(angles.iter().copied().fold(0.0, f32::worse));
    let p99 = |turned: &dyn Fn(&NormalFit) -> bool| -> f64 {
        let mut all: Vec<f32> = Vec::new();
        for fit in fits {
            all.extend_from_slice(if turned(fit) { &fit.after } else { &fit.before });
        }
        let at = (0.99 * (all.len() - 1) as f64) as usize;
        f64::from(*all.select_nth_unstable_by(at, f32::total_cmp).1)
    };
    if fits.iter().all(|fit| fit.before.is_empty()) {
        return NormalDeltas::default();
    }
    let before = p99(&|_| false);
    let full = p99(&|_| true);
    if before - full < MIN_GAIN_DEGREES {
        return NormalDeltas::default();
    }
    let limit = GOAL_DEGREES.max(full + NEARLY * (before - full));
    let idle = THRESHOLD_DEGREES
        .into_iter()
        .find(|&idle| p99(&|fit| worst(&fit.before) > idle) <= limit);
    let idle = idle.unwrap_or(THRESHOLD_DEGREES[THRESHOLD_DEGREES.len() - 1]);
    let least = MIN_DELTA_SHARE * idle.to_radians();
    let is_written = |(i, d): &(usize, DVec3)| d.length() >= least && reach[*i] > 0.0;
    let mut turned: Vec<TurnedNormal> = Vec::new();
    for (&normal, fit) in normals.iter().zip(fits) {
        if worst(&fit.before) <= idle {
            continue;
        }
        let deltas = fit.columns.clone().zip(fit.d.iter().copied());
        let deltas: Vec<(usize, DVec3)> = deltas.filter(is_written).collect();
        let n_entries = deltas.len() * budget.vertices[normal as usize] as usize;
        let bytes = ENTRY_BYTES * n_entries as f64;
        let square = |angles: &[f32]| -> f64 { angles.iter().map(|a| f64::from(*a).powi(2)).sum() };
        let gain = (square(&fit.before) - square(&fit.after)) / bytes.max(1.0);
        turned.push(TurnedNormal {
            normal,
            deltas,
            bytes,
            gain,
        });
    }
    turned.sort_by(|a, b| b.gain.total_cmp(&a.gain).then(a.normal.cmp(&b.normal)));
    let mut left = budget.bytes;
    turned.retain(|turn| {
        let is_within = turn.bytes <= left;
        left -= if is_within { turn.bytes } else { 0.0 };
        is_within
    });
    turned.sort_by_key(|turn| turn.normal);
    let mut columns = vec![Vec::new(); k];
    for turn in turned {
        for (i, d) in turn.deltas {
            columns[i].push((turn.normal, d / reach[i]));
        }
    }
    NormalDeltas { columns }
}

/// A normal with its deltas.
struct TurnedNormal {
    normal: u32,
    /// By displacement, at its largest weight.
    deltas: Vec<(usize, DVec3)>,
    bytes: f64,
    /// What the squares of its angles fall by, for a byte.
    gain: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Observations of a normal Z that the stack rotates about X by an angle proportional to the only weight.
    fn observations(matrix: impl Fn(f64) -> DMat3) -> Vec<InstanceObservation> {
        let weights = (0..9).map(|i| f64::from(i) / 8.0);
        weights
            .map(|w| InstanceObservation {
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
        let observations = observations(|w| DMat3::from_rotation_y(2.0 * w) * 0.01);
        let row = vec![(0, 1.0)];
        // One weight cannot follow a rotating matrix exactly; it still helps.
        let fit = NormalFit::new(0..1, 0, &row, &z(), &observations);
        let largest = |angles: &[f32]| angles.iter().copied().fold(0.0, f32::worse);
        assert!(largest(&fit.after) < 0.7 * largest(&fit.before));
        // Under a fixed matrix it is nearly exact.
        let observations = self::observations(|_| DMat3::from_diagonal(DVec3::splat(3.0)));
        let fit = NormalFit::new(0..1, 0, &row, &z(), &observations);
        assert!(
            largest(&fit.before) > 34.0 && largest(&fit.after) < 1.5,
            "{:?}",
            fit.after
        );
    }

    #[test]
    fn a_collapsed_matrix_does_no_harm() {
        let observations = observations(|w| {
            if w > 0.9 {
                DMat3::ZERO
            } else {
                DMat3::IDENTITY
            }
        });
        let fit = NormalFit::new(0..1, 0, &vec![(0, 1.0)], &z(), &observations);
        assert!(fit.d[0].is_finite() && fit.after[..8].iter().all(|a| *a < 2.0));
    }

    #[test]
    fn what_gains_little_is_left_out() {
        let fit = |before: f32, after: f32| NormalFit {
            columns: 0..1,
            d: vec![DVec3::X],
            before: vec![before; 4],
            after: vec![after; 4],
        };
        let select = |fits: &[NormalFit], bytes: f64| {
            let budget = Budget {
                vertices: &[1; 8],
                bytes,
            };
            select_deltas(1, &[3, 7], fits, &[2.0], &budget).columns
        };
        let none = select(&[fit(0.2, 0.1), fit(0.3, 0.1)], 1e3);
        assert!(none.iter().all(Vec::is_empty));
        let some = select(&[fit(0.2, 0.1), fit(9.0, 0.1)], 1e3);
        assert_eq!(some, vec![vec![(7, DVec3::X * 0.5)]]);
        // Two entries are 28 bytes; of one, the larger gain.
        let both = [fit(9.0, 0.1), fit(20.0, 0.1)];
        assert_eq!(select(&both, 28.0)[0].len(), 2);
        assert_eq!(select(&both, 27.0), vec![vec![(7, DVec3::X * 0.5)]]);
        assert!(select(&both, 13.0)[0].is_empty());
    }

    #[test]
    fn telling_keys_are_spread_and_far() {
        let key = |secs: f64, w: f64| {
            (
                FrameTime {
                    clip: Some(0),
                    secs,
                },
                vec![w],
            )
        };
        let mut keys: Vec<_> = (0..20).map(|i| key(f64::from(i), 0.0)).collect();
        keys[7].1[0] = 1.0;
        let chosen = representative_keys(&keys, 8);
        assert!(
            chosen.contains(&0) && chosen.contains(&7) && chosen.len() == 5,
            "{chosen:?}"
        );
    }
}
