//! A candidate as a player shows it: tracks of helpers, weights of displacements at all keyframes, and more keyframes
//! where interpolation strays.

use super::alternating::{Decomposition, basis_of};
use super::candidates::{Candidate, MOVED_SHARE};
use super::displacements::{Basis, Residuals};
use super::helper_tracks::{Helper, TrackTolerance, key_interval, parent_slot, relative};
use super::mesh_basis::{Block, MeshBasis};
use super::motions::MotionSolver;
use super::regions::{JointPair, Partition, Region, pair_of};
use super::training::{TrainingSet, residual};
use super::{MISSED_SHARE, MeshSolution, Solution, TRAINING_SHARE};
use crate::bake::problem::Problem;
use crate::bake::problem::antipodal::Flip;
use crate::bake::problem::group::{Group, GroupMesh};
use crate::bake::problem::key_times::MIN_KEY_INTERVAL;
use crate::bake::problem::rows::WeightRow;
use crate::bake::problem::sampler::{Frame, FrameTime, SampleRequest};
use crate::bake::problem::sampling::{Sampling, times_of};
use crate::math::Worse;
use crate::task::Cancelled;
use glam::{DAffine3, DVec3};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Rounds of subdivision; an interval can be halved this often.
const MAX_SUBDIVISIONS: usize = 5;

/// Where an interval between keyframes is sampled, as fractions of it.
pub(super) const INTERVAL_SAMPLES: [f64; 5] = [0.15, 0.32, 0.5, 0.68, 0.85];

/// Motion below this fraction of the tolerance is no track.
const CONSTANT_SHARE: f64 = 0.1;

/// Intervals are halved whose error exceeds this fraction of the tolerance, and that of their ends by this factor:
/// where the keyframes themselves have the error, more of them do not help.
const SUBDIVIDE_SHARE: f64 = 0.91;
const MIN_RISE: f64 = 1.02;

/// Displacements that move a point by less than a fraction of the tolerance are dropped: the largest of these fractions
/// that leaves the error below the limit, itself a fraction of the tolerance.
const SPARSE_SHARES: [f64; 5] = [0.55, 0.4, 0.25, 0.15, 0.08];
const SPARSE_LIMIT: f64 = 0.85;

/// Points of a mesh and frames from which its regions are found; they bound the time.
const MAX_REGION_POINTS: usize = 3000;
const MAX_REGION_FRAMES: usize = 64;

/// Fits of a region start from this fraction of the displacements that its rank asks for.
const FIRST_SHARE: f64 = 0.6;

/// The weights of displacements at a keyframe by mesh and instance, and the largest error there.
pub(crate) type KeySolution = (Vec<Vec<Vec<f64>>>, f64);

/// A candidate as a player shows it.
#[derive(Clone)]
pub(crate) struct Playback<'a, 'j> {
    pub(super) problem: &'a Problem<'j>,
    pub(super) group: &'a Group,
    codebook: &'a [WeightRow],
    /// Parent slots, by joint set of the group, then by helper.
    parents: Vec<Vec<u16>>,
    /// Keyframe times by clip.
    pub(super) keys: Vec<Vec<f32>>,
    /// By clip: whether tracks hold their values between keyframes.
    pub(super) stepped: Vec<bool>,
    /// By clip, keyframe, joint set of the group and helper: the motion relative to its parent.
    motions: Vec<Vec<Vec<Vec<DAffine3>>>>,
    rest: Vec<Vec<DAffine3>>,
    /// The scale from bind space to the world.
    pub(super) unit_scale: f64,
    pub(super) helpers: Vec<Vec<Helper>>,
    /// The motions of helpers that are not blends.
    refiner: Option<Arc<MotionSolver<'a>>>,
    /// By mesh, one row an active point.
    pub(super) rows: Vec<Vec<WeightRow>>,
    /// By mesh: the displacements of its active points.
    pub(super) bases: Vec<Arc<MeshBasis>>,
    /// By mesh: its regions, where they have displacements of their own.
    regions: Vec<Option<Partition>>,
    pub(super) sampling: &'a Sampling,
    /// By clip and bits of the keyframe's time.
    pub(super) weights: BTreeMap<(usize, u32), KeySolution>,
    /// By mesh, instance and clip: the keyframes that stay in the weights track, where some do not.
    pub(super) kept: BTreeMap<(usize, usize, usize), Vec<usize>>,
}

impl<'a, 'j> Playback<'a, 'j> {
    pub(crate) fn new(
        problem: &'a Problem<'j>,
        group: &'a Group,
        codebook: &'a [WeightRow],
        sampling: &'a Sampling,
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
            stepped: sampling.stepped.clone(),
            motions: sampling.keys.iter().map(unknown).collect(),
            rest: Vec::new(),
            unit_scale,
            helpers: Vec::new(),
            refiner: decomposition.refiner.map(Arc::new),
            rows: decomposition.rows,
            bases: group.meshes.iter().map(|_| Arc::default()).collect(),
            regions: vec![None; group.meshes.len()],
            sampling,
            weights: BTreeMap::new(),
            kept: BTreeMap::new(),
        }
    }

    /// Solves for the motions of helpers at keyframes without one.
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

    /// Builds the tracks, and gives the training set a player's matrices.
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
                        // Tolerances in units of the parent.
                        let scale = rest_world[joint.get()]
                            .matrix3
                            .determinant()
                            .abs()
                            .cbrt()
                            .max(1e-9);
                        let slot = (sampler.joint_sets[u].joints.len() + h) as u16;
                        let reach = |bind: &DAffine3| self.reach(u, slot, bind);
                        let regularisation = TrackTolerance {
                            still: CONSTANT_SHARE * self.problem.tolerance / scale,
                            reach: &reach,
                        };
                        Helper::new(
                            sampler,
                            u,
                            parent,
                            self.rest[i][h],
                            &clips,
                            (&self.keys, &self.stepped),
                            &regularisation,
                        )
                    })
                    .collect()
            })
            .collect();
    }

    /// The largest weighted distance of influenced points from the origin of the space that `bind` leads to.
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
                    reach = reach.worse(weight * bind.transform_point3(position).length());
                }
            }
        }
        reach
    }

    /// A player's skin matrices of joints and helpers, by joint set of the group.
    pub(super) fn matrices(&self, frame: &Frame) -> Vec<Vec<DAffine3>> {
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

    /// Fits the displacements of all meshes to the training set.
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
            let n = points.len();
            let basis = match basis {
                Some(basis) => MeshBasis::whole(n, basis.k, self.sparse(&residuals, basis)),
                None if candidate.regional[i] => self.fit_regions(i, &residuals)?,
                None => MeshBasis::new(n, Vec::new()),
            };
            self.bases[i] = Arc::new(basis);
        }
        Ok(())
    }

    /// Fits displacements of the regions of mesh `i` to the residuals of its active points.
    fn fit_regions(&mut self, i: usize, residuals: &Residuals) -> Result<MeshBasis, Cancelled> {
        let (problem, part) = (self.problem, &self.group.meshes[i]);
        let mut regions = match self.regions[i].take() {
            Some(regions) => regions,
            None => self.find_regions(part, residuals)?,
        };
        let norms = residuals.max_norm_of_points();
        let by_pair = regions.by_pair();
        let mut places = vec![Vec::new(); regions.regions.len()];
        let still = MOVED_SHARE * problem.tolerance;
        for (place, (&point, _)) in part
            .active
            .iter()
            .zip(&norms)
            .enumerate()
            .filter(|p| *p.1.1 > still)
        {
            let pair = pair_of(&part.weights[point as usize]);
            if let Some(region) = nearest_region(&by_pair, pair) {
                places[region].push(place as u32);
            }
        }
        let room = problem.most_morphs().saturating_sub(regions.k());
        let extra = room / regions.regions.len().max(1);
        let target_error = TRAINING_SHARE * problem.tolerance;
        let fit = |(region, places): (&Region, Vec<u32>)| -> Result<Block, Cancelled> {
            if places.is_empty() {
                return Ok(Block {
                    places,
                    k: 0,
                    b: Vec::new(),
                });
            }
            let own = residuals.of_points(&places);
            let (k, most) = (region.k, region.k + extra);
            let first = (FIRST_SHARE * k as f64).ceil() as usize;
            let bases = own.bases(first, most, target_error, problem.task)?;
            let best = bases
                .into_iter()
                .min_by(|a, b| a.max_error.total_cmp(&b.max_error));
            let basis = best.unwrap_or_else(|| Basis::none(&own));
            let k = basis.k;
            Ok(Block {
                k,
                b: self.sparse(&own, basis),
                places,
            })
        };
        let blocks: Vec<Block> = regions
            .regions
            .par_iter()
            .zip(places)
            .map(fit)
            .collect::<Result<_, Cancelled>>()?;
        for (region, block) in regions.regions.iter_mut().zip(&blocks) {
            region.k = block.k.max(1);
        }
        self.regions[i] = Some(regions);
        Ok(MeshBasis::new(part.active.len(), blocks))
    }

    /// The regions of a mesh, found from points and frames at a regular stride.
    fn find_regions(
        &self,
        part: &GroupMesh,
        residuals: &Residuals,
    ) -> Result<Partition, Cancelled> {
        let step = part.active.len().div_ceil(MAX_REGION_POINTS).max(1);
        let places: Vec<u32> = (0..part.active.len() as u32).step_by(step).collect();
        let few = residuals.of_points(&places).every_frame(MAX_REGION_FRAMES);
        let prices = self.problem.morph_prices(part, self.sampling);
        let points = places.iter().map(|&place| part.active[place as usize]);
        self.problem
            .partition(part, points, &few, (&prices, step as f64))
    }

    /// The displacements without entries that hardly move a point.
    fn sparse(&self, residuals: &Residuals, basis: Basis) -> Vec<DVec3> {
        let k = basis.k;
        let reach: Vec<f64> = (0..k)
            .map(|i| {
                basis
                    .w
                    .iter()
                    .skip(i)
                    .step_by(k)
                    .fold(0.0f64, |m, w| m.worse(w.abs()))
            })
            .collect();
        let limit = basis.max_error.max(SPARSE_LIMIT * self.problem.tolerance);
        for share in SPARSE_SHARES {
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

    /// Solves for the weights at all keyframes, or at those in `only`; the errors of all keyframes.
    pub(crate) fn solve_weights(
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

    /// The best weights at one frame, by mesh and instance, and the largest error.
    fn weights_at(&self, frame: &Frame) -> KeySolution {
        let matrices = self.matrices(frame);
        let mut largest = 0.0f64;
        let mut meshes = Vec::new();
        for (i, part) in self.group.meshes.iter().enumerate() {
            let mut instances = Vec::new();
            for &d in &part.instances {
                let left = self.residuals_of(i, d, &matrices, frame);
                let (w, error) = self.bases[i].solve_weights(&left);
                largest = largest.worse(error);
                instances.push(w);
            }
            meshes.push(instances);
        }
        (meshes, largest)
    }

    /// The residuals of the active points of mesh `i` in instance `d`.
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

    /// The weights at a time, by mesh and instance; `None` where they are not known.
    pub(super) fn weights_between(&self, time: FrameTime) -> Option<Vec<Vec<Vec<f64>>>> {
        let keys = self.keys.get(time.clip?)?;
        let (clip, k, share) = key_interval(keys, time)?;
        let share = if self.stepped[clip] { 0.0 } else { share };
        let at = |k: usize| {
            let secs = f64::from(*keys.get(k)?);
            self.solved(FrameTime {
                clip: Some(clip),
                secs,
            })
        };
        let from = at(k)?;
        let to = at(k + 1).unwrap_or(from);
        let mut weights = from.0.clone();
        let pairs = weights.iter_mut().flatten().zip(to.0.iter().flatten());
        for (weights, to) in pairs {
            for (w, to) in weights.iter_mut().zip(to) {
                *w += (to - *w) * share;
            }
        }
        Some(weights)
    }

    /// The largest error at a time between keyframes.
    pub(super) fn error_between_keys(&self, frame: &Frame) -> f64 {
        let Some(weights) = self.weights_between(frame.time) else {
            return 0.0;
        };
        let matrices = self.matrices(frame);
        let mut largest = 0.0f64;
        for (i, part) in self.group.meshes.iter().enumerate() {
            for (instance, &d) in part.instances.iter().enumerate() {
                let w = &weights[i][instance];
                let left = self.residuals_of(i, d, &matrices, frame);
                for (p, (a, r)) in left.into_iter().enumerate() {
                    let d = self.bases[i].displacement(p, w);
                    largest = largest.worse((r - a * d).length());
                }
            }
        }
        largest
    }

    /// The weight rows by mesh, where helpers have free motions.
    pub(crate) fn refined_rows(&self) -> Option<Vec<Vec<WeightRow>>> {
        self.refiner.as_ref().map(|_| self.rows.clone())
    }

    /// Starts again from another decomposition, with the keyframes so far.
    pub(crate) fn restart(&mut self, decomposition: Decomposition<'a>) {
        self.rows = decomposition.rows;
        self.refiner = decomposition.refiner.map(Arc::new);
        self.weights.clear();
        self.motions.iter_mut().flatten().for_each(Vec::clear);
    }

    /// Halves intervals in which the error exceeds the tolerance and that of their ends; the largest error afterwards,
    /// and the other times of large error.
    pub(crate) fn subdivide(
        &mut self,
        errors: &[(f64, FrameTime)],
    ) -> Result<(f64, Vec<(f64, FrameTime)>), Cancelled> {
        let at_keys = errors.iter().map(|e| e.0).fold(0.0, f64::worse);
        let mut between = 0.0f64;
        let mut missed: Vec<(f64, FrameTime)> = Vec::new();
        let mut intervals: Vec<(usize, f32, f32)> = Vec::new();
        for (clip, keys) in self.keys.iter().enumerate() {
            if self.problem.corrected[clip] {
                intervals.extend(keys.windows(2).map(|pair| (clip, pair[0], pair[1])));
            }
        }
        let mut worst_of_new = 0.0f64;
        for round in 0..=MAX_SUBDIVISIONS {
            let times: Vec<FrameTime> = intervals
                .iter()
                .flat_map(|&(clip, from, to)| {
                    INTERVAL_SAMPLES.map(|share| FrameTime {
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
            for (&(clip, from, to), errors) in intervals
                .iter()
                .zip(found.chunks_exact(INTERVAL_SAMPLES.len()))
            {
                let error = errors.iter().copied().fold(0.0, f64::worse);
                let end = |t: f32| {
                    let secs = f64::from(t);
                    self.solved(FrameTime {
                        clip: Some(clip),
                        secs,
                    })
                    .map_or(0.0, |s| s.1)
                };
                let long = f64::from(to) - f64::from(from) >= 2.0 * MIN_KEY_INTERVAL;
                let strays = error > SUBDIVIDE_SHARE * self.problem.tolerance
                    && error > MIN_RISE * end(from).worse(end(to));
                if strays && long && round < MAX_SUBDIVISIONS {
                    let middle = f32::midpoint(from, to);
                    fresh.push((clip, middle));
                    next.extend([(clip, from, middle), (clip, middle, to)]);
                } else if long || !strays {
                    // The two milliseconds of a jump are not corrected.
                    between = between.worse(error);
                    if error > self.problem.tolerance * MISSED_SHARE {
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
                worst_of_new = worst_of_new.worse(error);
                missed.push((error, time));
            }
            intervals = next;
        }
        Ok((at_keys.worse(between).worse(worst_of_new), missed))
    }

    pub(crate) fn finish(self, max_error: f64, bytes: f64, flips: Vec<Flip>) -> Solution {
        let mut meshes = Vec::new();
        for (i, (part, basis)) in self.group.meshes.iter().zip(&self.bases).enumerate() {
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
            let weights: Vec<_> = instances.collect();
            let kept = (0..part.instances.len()).map(|instance| {
                let clips = 0..self.keys.len();
                clips
                    .map(|clip| self.kept.get(&(i, instance, clip)).cloned())
                    .collect()
            });
            meshes.push(MeshSolution {
                rows: self.rows[i].clone(),
                basis: basis.clone(),
                weights,
                kept: kept.collect(),
            });
        }
        Solution {
            helpers: self.helpers,
            codebook: self.codebook.to_vec(),
            keys: self.keys,
            stepped: self.stepped,
            meshes,
            max_error,
            unit_scale: self.unit_scale,
            bytes,
            flips,
        }
    }
}

/// The region of a pair of joints: its own, or else one that has a joint of it; `None` where there is no region.
fn nearest_region(by_pair: &BTreeMap<JointPair, usize>, pair: JointPair) -> Option<usize> {
    let own = by_pair.get(&pair);
    let has = |other: &JointPair, joint: u16| other.0 == joint || other.1 == joint;
    let of = |joint: u16| by_pair.iter().find(|(other, _)| has(other, joint));
    let near = || {
        of(pair.0)
            .or_else(|| of(pair.1))
            .or(by_pair.first_key_value())
    };
    own.or_else(|| near().map(|(_, region)| region)).copied()
}
