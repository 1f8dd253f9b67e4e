//! The moments at which normals are compared: keyframes of the weights and the middles between them, and what a player has there.

use crate::bake::problem::Problem;
use crate::bake::problem::group::{Group, GroupMesh};
use crate::bake::problem::rows::{WeightRow, blended};
use crate::bake::problem::sampler::{Frame, FrameTime, SampleRequest};
use crate::bake::solve::helper_tracks::key_interval;
use crate::bake::solve::{MeshSolution, Solution};
use crate::math::Worse;
use crate::task::Cancelled;
use glam::{DAffine3, Vec3};
use std::collections::BTreeSet;

/// Observations of a mesh: moments times instances.
const MAX_OBSERVATIONS: usize = 240;
/// Observations times normals. Both bound memory and time.
const MAX_VALUES: usize = 4_000_000;
const MIN_OBSERVATIONS: usize = 56;
/// Moments of each observed instance.
const MIN_MOMENTS: usize = 8;

/// An instance at one moment.
pub(super) struct Observation {
    /// Its number among those of the mesh.
    pub(super) instance: usize,
    pub(super) time: FrameTime,
    /// Matrices of joints and helpers.
    pub(super) matrices: Vec<DAffine3>,
    /// Weights of the source's morph targets.
    pub(super) morph_weights: Vec<f32>,
    /// The stack's normals, one for each compared normal.
    pub(super) targets: Vec<Vec3>,
}

/// The times of the keyframes that stay, and the weights there.
type Curve = (Vec<f32>, Vec<Vec<f64>>);

/// The weights of the displacements of a mesh over time: linear between the keyframes that stay, as a player has them.
pub(super) struct WeightCurves {
    /// By instance and clip.
    curves: Vec<Vec<Curve>>,
    /// By clip.
    stepped: Vec<bool>,
    k: usize,
}

impl WeightCurves {
    /// The curves of weights by instance, clip and keyframe.
    pub(super) fn of(
        solved: &Solution,
        mesh: &MeshSolution,
        weights: &[Vec<Vec<Vec<f64>>>],
        k: usize,
    ) -> Self {
        let curve = |(instance, clip): (usize, usize)| {
            let all = &weights[instance][clip];
            let times = &solved.keys[clip];
            let kept = mesh.kept.get(instance).and_then(|c| c[clip].as_ref());
            let every = || (0..times.len().min(all.len())).collect();
            let kept: Vec<usize> = kept.cloned().unwrap_or_else(every);
            let kept = kept.into_iter().filter(|&key| key < all.len());
            kept.map(|key| (times[key], all[key].clone())).unzip()
        };
        let curves = (0..weights.len()).map(|instance| {
            let clips = (0..weights[instance].len()).map(|clip| (instance, clip));
            clips.map(curve).collect()
        });
        Self {
            curves: curves.collect(),
            stepped: solved.stepped.clone(),
            k,
        }
    }

    /// The weights of an instance at a time.
    pub(super) fn at(&self, instance: usize, time: FrameTime) -> Vec<f64> {
        let none = || vec![0.0; self.k];
        let Some((times, weights)) = time.clip.map(|clip| &self.curves[instance][clip]) else {
            return none();
        };
        let Some((clip, key, share)) = key_interval(times, time) else {
            return none();
        };
        let share = if self.stepped[clip] { 0.0 } else { share };
        let to = weights.get(key + 1).unwrap_or(&weights[key]);
        let pairs = weights[key].iter().zip(to);
        pairs.map(|(a, b)| a + (b - a) * share).collect()
    }

    /// The largest absolute value of each weight.
    pub(super) fn largest(&self) -> Vec<f64> {
        let mut largest = vec![0.0f64; self.k];
        for weights in self.curves.iter().flatten().flat_map(|curve| &curve.1) {
            for (largest, w) in largest.iter_mut().zip(weights) {
                *largest = largest.worse(w.abs());
            }
        }
        largest
    }

    /// The keyframes that stay in the weights track of any instance, by clip and time.
    pub(super) fn keys(&self) -> Vec<FrameTime> {
        let n_clips = self.curves.first().map_or(0, Vec::len);
        let of_clip = |clip: usize| {
            let times = self.curves.iter().flat_map(move |clips| &clips[clip].0);
            // Times are not negative, so they order like their bits.
            let times: BTreeSet<u32> = times.map(|time| time.to_bits()).collect();
            times.into_iter().map(move |bits| FrameTime {
                clip: Some(clip),
                secs: f64::from(f32::from_bits(bits)),
            })
        };
        (0..n_clips).flat_map(of_clip).collect()
    }

    /// Representative keyframes and middles between them, for a mesh with so many compared normals, and the stride of the
    /// instances that are observed there: all of them unless there are too many.
    pub(super) fn moments(&self, n_normals: usize) -> (Vec<FrameTime>, usize) {
        let mut all: Vec<FrameTime> = Vec::new();
        for key in self.keys() {
            if let Some(last) = all.last().filter(|last| last.clip == key.clip) {
                all.push(FrameTime {
                    clip: key.clip,
                    secs: 0.5 * (last.secs + key.secs),
                });
            }
            all.push(key);
        }
        let n_instances = self.curves.len().max(1);
        let most = (MAX_VALUES / n_normals.max(1)).clamp(MIN_OBSERVATIONS, MAX_OBSERVATIONS);
        let stride = n_instances.div_ceil(most / MIN_MOMENTS);
        let most = most / n_instances.div_ceil(stride);
        if all.len() <= most {
            return (all, stride);
        }
        let reach = self.largest();
        let shares: Vec<Vec<f64>> = all
            .iter()
            .map(|&time| {
                let of = |instance| {
                    let weights = self.at(instance, time).into_iter().zip(&reach);
                    weights.map(|(w, reach)| w / reach.max(1e-300))
                };
                let observed = (0..self.curves.len()).step_by(stride);
                observed.flat_map(of).collect()
            })
            .collect();
        let chosen = representative(&shares, most);
        (chosen.into_iter().map(|m| all[m]).collect(), stride)
    }
}

/// Representative moments, ascending: half of them at a regular stride, half by farthest-point sampling of their weights, or,
/// where these do not differ, all at a stride.
fn representative(weights: &[Vec<f64>], most: usize) -> Vec<usize> {
    let n = weights.len();
    let stride = |most: usize| n.div_ceil(most.max(1)).max(1);
    let mut chosen: Vec<usize> = (0..n).step_by(stride(most / 2)).collect();
    let gap = |i: usize, j: usize| -> f64 {
        let pairs = weights[i].iter().zip(&weights[j]);
        pairs.map(|(a, b)| (a - b) * (a - b)).sum()
    };
    let nearest = |i: usize| {
        chosen
            .iter()
            .map(|&j| gap(i, j))
            .fold(f64::INFINITY, f64::min)
    };
    let mut gaps: Vec<f64> = (0..n).map(nearest).collect();
    while chosen.len() < most {
        let far = (0..n).reduce(|a, b| if gaps[b] > gaps[a] { b } else { a });
        let Some(far) = far.filter(|&i| gaps[i] > 0.0) else {
            chosen.extend((0..n).step_by(stride(most)));
            break;
        };
        chosen.push(far);
        for (i, nearest) in gaps.iter_mut().enumerate() {
            *nearest = nearest.min(gap(i, far));
        }
    }
    chosen.sort_unstable();
    chosen.dedup();
    chosen
}

/// Runs `work` on the observations of mesh `i` at some times: every `stride`-th instance of the mesh at the first time, then at
/// the next.
pub(super) fn observe<R: Send>(
    problem: &Problem<'_>,
    (group, solved): (&Group, &Solution),
    part: &GroupMesh,
    normals: &[u32],
    (times, stride): (&[FrameTime], usize),
    work: impl Fn(Observation) -> R + Sync,
) -> Result<Vec<R>, Cancelled> {
    let look = |m: usize, frame: Frame| -> Vec<R> {
        let of = |(instance, &d): (usize, &usize)| {
            let drawn = &frame.instances[d];
            let joint_set = problem.sampler.instances[d].joint_set;
            work(Observation {
                instance,
                time: times[m],
                matrices: matrices(group, solved, joint_set, &frame),
                morph_weights: drawn.morph_weights.clone(),
                targets: normals.iter().map(|&n| drawn.normals[n as usize]).collect(),
            })
        };
        let observed = part.instances.iter().enumerate().step_by(stride);
        observed.map(of).collect()
    };
    let observed: Vec<usize> = part.instances.iter().copied().step_by(stride).collect();
    let wanted = SampleRequest {
        normals: true,
        ..SampleRequest::own(&observed)
    };
    let (clips, task) = (problem.clips, problem.task);
    let found = problem.sampler.sample(clips, times, wanted, task, look)?;
    Ok(found.into_iter().flatten().collect())
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

/// The linear part of a row's matrix in an observation.
pub(super) fn linear_part(row: &WeightRow, observation: &Observation) -> glam::DMat3 {
    blended(row, &observation.matrices).matrix3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thousand_instances_are_observed_at_a_stride() {
        let curve: Curve = (vec![0.0, 1.0, 2.0], vec![vec![0.0], vec![1.0], vec![0.5]]);
        let curves = |n: usize| WeightCurves {
            curves: vec![vec![curve.clone()]; n],
            stepped: vec![false],
            k: 1,
        };
        // Three keyframes and two middles.
        let (times, stride) = curves(3).moments(10);
        assert_eq!((times.len(), stride), (5, 1));
        let (times, stride) = curves(1000).moments(100_000);
        assert!(1000_usize.div_ceil(stride) * times.len() <= MIN_OBSERVATIONS);
        assert!(times.len() >= 5.min(MIN_MOMENTS), "{times:?}");
    }

    #[test]
    fn telling_moments_are_spread_and_far() {
        let mut weights = vec![vec![0.0]; 20];
        weights[7][0] = 1.0;
        let chosen = representative(&weights, 8);
        assert!(chosen.contains(&0) && chosen.contains(&7), "{chosen:?}");
        assert!((8..=14).contains(&chosen.len()), "{chosen:?}");
        // Without weights they are at equal distances.
        assert_eq!(representative(&vec![Vec::new(); 20], 10).len(), 10);
    }
}
