//! A bake in the making, as a player will show it: tracks of helpers, weights at all keys, and more keys where the played
//! result strays between them.

use super::alternating::{Decomposition, basis_of};
use super::candidates::Candidate;
use super::displacements::{Basis, NormalEquations, Residuals, displacement};
use super::helper_tracks::{Helper, TrackTolerance, key_interval, parent_slot, relative};
use super::motions::MotionSolver;
use super::training::{TrainingSet, residual};
use super::{MeshSolution, Solution};
use crate::bake::problem::Problem;
use crate::bake::problem::antipodal::Flip;
use crate::bake::problem::group::Group;
use crate::bake::problem::key_times::SHORTEST;
use crate::bake::problem::rows::WeightRow;
use crate::bake::problem::sampler::{Frame, FrameTime, SampleRequest};
use crate::bake::problem::sampling::{Sampling, times_of};
use crate::task::Cancelled;
use glam::{DAffine3, DVec3};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Rounds in which keys are added.
const KEY_ROUNDS: usize = 5;

/// Where between two keys the played result is fitter at.
const SHARES: [f64; 3] = [0.3, 0.5, 0.7];

/// A helper that moves its points by less than this share of the tolerance has no track.
const STILL: f64 = 0.1;

/// For each mesh, for each instance, its weights at a key; and the largest error there.
pub(crate) type KeySolution = (Vec<Vec<Vec<f64>>>, f64);

/// A bake in the making, as a player will show it.
#[derive(Clone)]
pub(crate) struct Playback<'a, 'j> {
    problem: &'a Problem<'j>,
    group: &'a Group,
    codebook: &'a [WeightRow],
    /// By joint_set of the group, then by helper.
    parents: Vec<Vec<u16>>,
    /// By clip.
    keys: Vec<Vec<f32>>,
    /// By clip, key, joint_set of the group and helper: the helper's motion relative to its parent.
    motions: Vec<Vec<Vec<Vec<DAffine3>>>>,
    rest: Vec<Vec<DAffine3>>,
    /// Keys of helpers that tell less than this share of the tolerance are left out.
    thin: f64,
    /// The factor from bind space to the world.
    unit_scale: f64,
    helpers: Vec<Vec<Helper>>,
    /// Where helpers do more than blend.
    refiner: Option<Arc<MotionSolver<'a>>>,
    /// By mesh, of the active points.
    rows: Vec<Vec<WeightRow>>,
    /// By mesh: k and n x k displacements.
    pub(crate) bases: Vec<(usize, Vec<DVec3>)>,
    /// By clip and bits of the key.
    weights: BTreeMap<(usize, u32), KeySolution>,
}

impl<'a, 'j> Playback<'a, 'j> {
    pub(crate) fn new(
        problem: &'a Problem<'j>,
        group: &'a Group,
        codebook: &'a [WeightRow],
        sampling: &Sampling,
        decomposition: Decomposition<'a>,
        unit_scale: f64,
    ) -> Self {
        let parents = group.joint_sets.iter().map(|&u| {
            let helpers = codebook.iter();
            helpers
                .map(|o| parent_slot(problem.sampler, u, o))
                .collect()
        });
        let unknown = |keys: &Vec<f32>| vec![Vec::new(); keys.len()];
        Self {
            problem,
            group,
            codebook,
            parents: parents.collect(),
            keys: sampling.keys.clone(),
            motions: sampling.keys.iter().map(unknown).collect(),
            rest: Vec::new(),
            thin: 0.0,
            unit_scale,
            helpers: Vec::new(),
            refiner: decomposition.refiner.map(Arc::new),
            rows: decomposition.rows,
            bases: group.meshes.iter().map(|_| (0, Vec::new())).collect(),
            weights: BTreeMap::new(),
        }
    }

    /// Fills in the motions of the helpers at keys that have none yet.
    pub(crate) fn solve_motions(&mut self) -> Result<(), Cancelled> {
        if self.codebook.is_empty() {
            return Ok(());
        }
        let mut missing = Vec::new();
        for (clip, keys) in self.motions.iter().enumerate() {
            for (k, motions) in keys.iter().enumerate() {
                if motions.is_empty() {
                    let secs = f64::from(self.keys[clip][k]);
                    missing.push((
                        clip,
                        k,
                        FrameTime {
                            clip: Some(clip),
                            secs,
                        },
                    ));
                }
            }
        }
        let mut times: Vec<FrameTime> = missing.iter().map(|m| m.2).collect();
        let with_rest = self.rest.is_empty();
        if with_rest {
            times.push(FrameTime {
                clip: None,
                secs: 0.0,
            });
        }
        let drawn = self.group.instances();
        let (sampler, group) = (self.problem.sampler, self.group);
        let motions = |_: usize, frame: Frame| -> Vec<Vec<DAffine3>> {
            if let (Some(refiner), Some(_)) = (&self.refiner, frame.time.clip) {
                return (0..group.joint_sets.len())
                    .map(|i| refiner.fit(&frame, i).motions)
                    .collect();
            }
            let joint_sets = group.joint_sets.iter().zip(&self.parents);
            let of = |(&u, parents): (&usize, &Vec<u16>)| {
                let helpers = self.codebook.iter().zip(parents);
                helpers
                    .map(|(blend_weights, &parent)| {
                        relative(sampler, u, parent, &frame, blend_weights)
                    })
                    .collect()
            };
            joint_sets.map(of).collect()
        };
        let (clips, task) = (self.problem.clips, self.problem.task);
        let mut found = sampler.sample(clips, &times, SampleRequest::own(&drawn), task, motions)?;
        if with_rest {
            self.rest = found.pop().unwrap_or_default();
        }
        for ((clip, k, _), found) in missing.into_iter().zip(found) {
            self.motions[clip][k] = found;
        }
        Ok(())
    }

    /// Makes the tracks of the helpers from their motions, and the matrices of `training` those of a player.
    pub(crate) fn update_training(&mut self, training: &mut TrainingSet) {
        self.make_tracks();
        for (frame, matrices) in training.frames.iter().zip(&mut training.matrices) {
            *matrices = self.matrices(frame);
        }
    }

    fn make_tracks(&mut self) {
        let sampler = self.problem.sampler;
        let rest_world = sampler
            .document
            .rest_pose()
            .world_matrices(&sampler.player_skeleton);
        let joint_sets = self.group.joint_sets.iter().enumerate();
        self.helpers = joint_sets
            .map(|(i, &u)| {
                (0..self.codebook.len())
                    .map(|h| {
                        let parent = self.parents[i][h];
                        let joint = sampler.joint_sets[u].joints[usize::from(parent)];
                        let clips: Vec<Vec<DAffine3>> = self
                            .motions
                            .iter()
                            .map(|keys| keys.iter().map(|key| key[i][h]).collect())
                            .collect();
                        // A tenth of the tolerance, in the parent's joint_sets.
                        let scale = rest_world[joint.get()]
                            .matrix3
                            .determinant()
                            .abs()
                            .cbrt()
                            .max(1e-9);
                        let slot = (sampler.joint_sets[u].joints.len() + h) as u16;
                        let reach = |bind: &DAffine3| self.reach(u, slot, bind);
                        let regularisation = TrackTolerance {
                            still: STILL * self.problem.tolerance / scale,
                            thin: self.thin * self.problem.tolerance / scale,
                            reach: &reach,
                        };
                        Helper::new(
                            sampler,
                            u,
                            parent,
                            self.rest[i][h],
                            &clips,
                            &self.keys,
                            &regularisation,
                        )
                    })
                    .collect()
            })
            .collect();
    }

    /// How far the points reach that follow a slot, by their weights, in the space that `bind` leads to.
    fn reach(&self, joint_set: usize, slot: u16, bind: &DAffine3) -> f64 {
        let sampler = self.problem.sampler;
        let mut reach = 0.0f64;
        for (part, rows) in self.group.meshes.iter().zip(&self.rows) {
            if part
                .instances
                .iter()
                .all(|&d| sampler.instances[d].joint_set != joint_set)
            {
                continue;
            }
            for (&point, row) in part.active.iter().zip(rows) {
                if let Some((_, weight)) = row.iter().find(|r| r.0 == slot) {
                    let position = part.geometry.positions[point as usize].as_dvec3();
                    reach = reach.max(weight * bind.transform_point3(position).length());
                }
            }
        }
        reach
    }

    /// Leaves out keys of helpers that tell less than `share` of the tolerance, and solves the weights with what is left;
    /// the largest error then.
    pub(crate) fn reduce_keys(&mut self, share: f64) -> Result<f64, Cancelled> {
        self.thin = share;
        self.make_tracks();
        let at_keys = self.solve_weights(None)?;
        let at_keys = at_keys.iter().map(|e| e.0).fold(0.0, f64::max);
        Ok(at_keys.max(self.max_error_between_keys()?))
    }

    /// The largest error between the keys there are.
    fn max_error_between_keys(&self) -> Result<f64, Cancelled> {
        let mut times = Vec::new();
        for (clip, keys) in self.keys.iter().enumerate() {
            if self.problem.corrected[clip] {
                for pair in keys
                    .windows(2)
                    .filter(|p| f64::from(p[1] - p[0]) >= 2.0 * SHORTEST)
                {
                    let (from, to) = (f64::from(pair[0]), f64::from(pair[1]));
                    times.extend(SHARES.map(|share| FrameTime {
                        clip: Some(clip),
                        secs: from + share * (to - from),
                    }));
                }
            }
        }
        let drawn = self.group.instances();
        let look = |_: usize, frame: Frame| self.error_between_keys(&frame);
        let (clips, task) = (self.problem.clips, self.problem.task);
        let sampler = self.problem.sampler;
        let found = sampler.sample(clips, &times, SampleRequest::own(&drawn), task, look)?;
        Ok(found.into_iter().fold(0.0, f64::max))
    }

    /// Matrices of joints and helpers as a player has them, by joint_set of the group.
    fn matrices(&self, frame: &Frame) -> Vec<Vec<DAffine3>> {
        let joint_sets = self.group.joint_sets.iter().enumerate();
        joint_sets
            .map(|(i, &u)| {
                let helpers = self.helpers.get(i).map_or(&[][..], Vec::as_slice);
                let helpers: Vec<DAffine3> = helpers
                    .iter()
                    .map(|h| h.matrix(&frame.world, frame.time))
                    .collect();
                frame.joint_sets[u].with_helpers(&helpers)
            })
            .collect()
    }

    /// Finds the displacements of all meshes on `training`.
    pub(crate) fn fit_bases(
        &mut self,
        training: &TrainingSet,
        candidate: &Candidate,
    ) -> Result<(), Cancelled> {
        for i in 0..self.group.meshes.len() {
            let points = &self.group.meshes[i].active;
            let of_part = (points.as_slice(), self.rows[i].as_slice());
            let (residuals, basis) =
                basis_of(self.problem, self.group, training, i, of_part, candidate)?;
            self.bases[i] = match basis {
                Some(basis) => (basis.k, self.sparse(&residuals, basis)),
                None => (0, Vec::new()),
            };
        }
        Ok(())
    }

    /// The displacements without those that hardly move a point.
    fn sparse(&self, residuals: &Residuals, basis: Basis) -> Vec<DVec3> {
        let k = basis.k;
        let reach: Vec<f64> = (0..k)
            .map(|i| {
                basis
                    .w
                    .iter()
                    .skip(i)
                    .step_by(k)
                    .fold(0.0f64, |m, w| m.max(w.abs()))
            })
            .collect();
        let limit = basis.max_error.max(0.85 * self.problem.tolerance);
        for share in [0.55, 0.4, 0.25, 0.15, 0.08] {
            let least = share * self.problem.tolerance / self.unit_scale;
            let mut b = basis.b.clone();
            for (b, reach) in b.iter_mut().zip(reach.iter().cycle()) {
                if b.length() * reach < least {
                    *b = DVec3::ZERO;
                }
            }
            if residuals.max_error_with(k, &b, &basis.w) <= limit {
                return b;
            }
        }
        basis.b
    }

    /// Solves the weights at keys that have none, all of them anew without `only`; the errors of all keys.
    pub(crate) fn weigh(
        &mut self,
        only: Option<&[FrameTime]>,
    ) -> Result<Vec<(f64, FrameTime)>, Cancelled> {
        let all = times_of(&self.keys, self.problem.corrected);
        let times: &[FrameTime] = only.unwrap_or(&all);
        let solve = |_: usize, frame: Frame| self.weights_at(&frame);
        let drawn = self.group.instances();
        let (clips, task) = (self.problem.clips, self.problem.task);
        let found =
            self.problem
                .sampler
                .sample(clips, times, SampleRequest::own(&drawn), task, solve)?;
        for (time, found) in times.iter().zip(found) {
            if let Some(clip) = time.clip {
                self.weights
                    .insert((clip, (time.secs as f32).to_bits()), found);
            }
        }
        let errors = all
            .iter()
            .filter_map(|time| Some((self.solved(*time)?.1, *time)));
        Ok(errors.collect())
    }

    fn solved(&self, time: FrameTime) -> Option<&KeySolution> {
        self.weights
            .get(&(time.clip?, (time.secs as f32).to_bits()))
    }

    /// The best weights at one frame, by mesh and instance, and the largest error left.
    fn weights_at(&self, frame: &Frame) -> KeySolution {
        let matrices = self.matrices(frame);
        let mut largest = 0.0f64;
        let mut meshes = Vec::new();
        for (i, part) in self.group.meshes.iter().enumerate() {
            let (k, b) = &self.bases[i];
            let mut instances = Vec::new();
            for &d in &part.instances {
                let left = self.residuals_of(i, d, &matrices, frame);
                let (w, error) = solve_frame_weights(*k, b, &left);
                largest = largest.max(error);
                instances.push(w);
            }
            meshes.push(instances);
        }
        (meshes, largest)
    }

    /// What is left over of the active points of mesh `i` in instance `d`.
    fn residuals_of(
        &self,
        i: usize,
        d: usize,
        matrices: &[Vec<DAffine3>],
        frame: &Frame,
    ) -> Vec<(glam::DMat3, DVec3)> {
        let part = &self.group.meshes[i];
        let joint_set = self.problem.sampler.instances[d].joint_set;
        let u = self
            .group
            .joint_sets
            .iter()
            .position(|&x| x == joint_set)
            .unwrap_or(0);
        let points = part.active.iter().zip(&self.rows[i]);
        points
            .map(|(&p, row)| residual(part, p, row, &matrices[u], &frame.instances[d]))
            .collect()
    }

    /// The largest error at a frame between keys.
    fn error_between_keys(&self, frame: &Frame) -> f64 {
        let matrices = self.matrices(frame);
        let Some((clip, k, share)) = frame
            .time
            .clip
            .and_then(|clip| key_interval(&self.keys[clip], frame.time))
        else {
            return 0.0;
        };
        let at = |k: usize| {
            let secs = f64::from(*self.keys[clip].get(k)?);
            self.solved(FrameTime {
                clip: Some(clip),
                secs,
            })
        };
        let mut largest = 0.0f64;
        for (i, part) in self.group.meshes.iter().enumerate() {
            let (n, b) = &self.bases[i];
            for (instance, &d) in part.instances.iter().enumerate() {
                let of = |k: usize| at(k).map(|s| &s.0[i][instance]);
                let (Some(from), Some(to)) = (of(k), of(k + 1).or(of(k))) else {
                    continue;
                };
                let w: Vec<f64> = from
                    .iter()
                    .zip(to)
                    .map(|(a, b)| a + (b - a) * share)
                    .collect();
                for (p, (a, r)) in self
                    .residuals_of(i, d, &matrices, frame)
                    .into_iter()
                    .enumerate()
                {
                    let d = displacement(&b[p * n..(p + 1) * n], &w);
                    largest = largest.max((r - a * d).length());
                }
            }
        }
        largest
    }

    /// The weights of the active points, by mesh, where helpers do more than blend.
    pub(crate) fn refined_rows(&self) -> Option<Vec<Vec<WeightRow>>> {
        self.refiner.as_ref().map(|_| self.rows.clone())
    }

    /// Begins anew with other weights of points and motions of helpers, at the keys it has.
    pub(crate) fn restart(&mut self, decomposition: Decomposition<'a>) {
        self.rows = decomposition.rows;
        self.refiner = decomposition.refiner.map(Arc::new);
        self.weights.clear();
        self.motions.iter_mut().flatten().for_each(Vec::clear);
    }

    /// Adds keys in the middle of intervals in which the played result strays by more than the tolerance, and more
    /// than at their ends; the largest error after that, and the frames besides the keys of before that stray.
    pub(crate) fn subdivide(
        &mut self,
        errors: &[(f64, FrameTime)],
    ) -> Result<(f64, Vec<(f64, FrameTime)>), Cancelled> {
        let at_keys = errors.iter().map(|e| e.0).fold(0.0, f64::max);
        let mut between = 0.0f64;
        let mut missed: Vec<(f64, FrameTime)> = Vec::new();
        let mut intervals: Vec<(usize, f32, f32)> = Vec::new();
        for (clip, keys) in self.keys.iter().enumerate() {
            if self.problem.corrected[clip] {
                intervals.extend(keys.windows(2).map(|pair| (clip, pair[0], pair[1])));
            }
        }
        let mut worst_of_new = 0.0f64;
        for round in 0..=KEY_ROUNDS {
            let times: Vec<FrameTime> = intervals
                .iter()
                .flat_map(|&(clip, from, to)| {
                    SHARES.map(|share| FrameTime {
                        clip: Some(clip),
                        secs: f64::from(from) + share * (f64::from(to) - f64::from(from)),
                    })
                })
                .collect();
            let drawn = self.group.instances();
            let (clips, task) = (self.problem.clips, self.problem.task);
            let look = |_: usize, frame: Frame| self.error_between_keys(&frame);
            let found = self.problem.sampler.sample(
                clips,
                &times,
                SampleRequest::own(&drawn),
                task,
                look,
            )?;
            let mut next = Vec::new();
            let mut fresh = Vec::new();
            for (&(clip, from, to), errors) in intervals.iter().zip(found.chunks_exact(3)) {
                let error = errors.iter().copied().fold(0.0, f64::max);
                let end = |t: f32| {
                    let secs = f64::from(t);
                    self.solved(FrameTime {
                        clip: Some(clip),
                        secs,
                    })
                    .map_or(0.0, |s| s.1)
                };
                let long = f64::from(to) - f64::from(from) >= 2.0 * SHORTEST;
                let strays =
                    error > 0.91 * self.problem.tolerance && error > 1.02 * end(from).max(end(to));
                if strays && long && round < KEY_ROUNDS {
                    let middle = f32::midpoint(from, to);
                    fresh.push((clip, middle));
                    next.extend([(clip, from, middle), (clip, middle, to)]);
                } else if long || !strays {
                    // A jump takes as long as it takes.
                    between = between.max(error);
                    if error > self.problem.tolerance * 0.9 {
                        let secs = 0.5 * (f64::from(from) + f64::from(to));
                        let clip = Some(clip);
                        missed.push((error, FrameTime { clip, secs }));
                    }
                }
            }
            if fresh.is_empty() {
                break;
            }
            for &(clip, time) in &fresh {
                let at = self.keys[clip].partition_point(|&t| t < time);
                self.keys[clip].insert(at, time);
                self.motions[clip].insert(at, Vec::new());
            }
            self.solve_motions()?;
            self.make_tracks();
            let times: Vec<FrameTime> = fresh
                .iter()
                .map(|&(clip, t)| FrameTime {
                    clip: Some(clip),
                    secs: f64::from(t),
                })
                .collect();
            self.solve_weights(Some(&times))?;
            for &time in &times {
                let error = self.solved(time).map_or(0.0, |s| s.1);
                worst_of_new = worst_of_new.max(error);
                missed.push((error, time));
            }
            intervals = next;
        }
        Ok((at_keys.max(between).max(worst_of_new), missed))
    }

    pub(crate) fn finish(self, max_error: f64, bytes: f64, flips: Vec<Flip>) -> Solution {
        let mut meshes = Vec::new();
        for (i, (part, (k, b))) in self.group.meshes.iter().zip(&self.bases).enumerate() {
            let instances = (0..part.instances.len()).map(|instance| {
                let clips = self.keys.iter().enumerate().map(|(clip, keys)| {
                    let at = |&t: &f32| {
                        let secs = f64::from(t);
                        let solved = self.solved(FrameTime {
                            clip: Some(clip),
                            secs,
                        })?;
                        Some(solved.0[i][instance].clone())
                    };
                    keys.iter().map_while(at).collect()
                });
                clips.collect()
            });
            meshes.push(MeshSolution {
                rows: self.rows[i].clone(),
                k: *k,
                b: b.clone(),
                weights: instances.collect(),
            });
        }
        Solution {
            helpers: self.helpers,
            codebook: self.codebook.to_vec(),
            keys: self.keys,
            meshes,
            max_error,
            unit_scale: self.unit_scale,
            bytes,
            flips,
        }
    }
}

/// The weights that leave the smallest largest error of a few rounds of least squares, and that error.
fn solve_frame_weights(k: usize, b: &[DVec3], left: &[(glam::DMat3, DVec3)]) -> (Vec<f64>, f64) {
    let mut w = vec![0.0; k];
    let errors = |w: &[f64]| -> Vec<f64> {
        let points = left.iter().enumerate();
        points
            .map(|(p, (a, r))| (*r - *a * displacement(&b[p * k..(p + 1) * k], w)).length())
            .collect()
    };
    let max_error = |errors: &[f64]| errors.iter().copied().fold(0.0, f64::max);
    let mut now = errors(&w);
    let mut best = (w.clone(), worst(&now));
    if k == 0 {
        return best;
    }
    let mut irls = vec![1.0; left.len()];
    for round in 0..4 {
        let mut system = NormalEquations::new(k);
        for (p, (a, r)) in left.iter().enumerate() {
            system.add(*a, &b[p * k..(p + 1) * k], *r, irls[p]);
        }
        system.solve(&mut w);
        now = errors(&w);
        let error = worst(&now);
        // The plain solution is the one that runs smoothly from key to key: another one has to be worth it.
        if round == 0 || error < 0.97 * best.1 {
            best = (w.clone(), error);
        }
        let rms = (now.iter().map(|e| e * e).sum::<f64>() / now.len().max(1) as f64).sqrt();
        if rms <= 0.0 {
            break;
        }
        for (irls, e) in irls.iter_mut().zip(&now) {
            *irls *= (e / rms).powf(0.7) + 0.3;
        }
    }
    best
}
