//! A candidate as a player shows it: tracks of helpers, displacements and their weights at all keyframes.

use super::alternating::{Decomposition, WarmStart};
use super::helper_tracks::{Helper, TrackTolerance, parent_slot, relative};
use super::mesh_basis::MeshBasis;
use super::motions::MotionSolver;
use super::regions::Partition;
use super::training::TrainingSet;
use super::weight_ranges::TargetRanges;
use super::{MeshSolution, Solution};
use crate::bake::problem::Problem;
use crate::bake::problem::antipodal::Flip;
use crate::bake::problem::group::Group;
use crate::bake::problem::rows::WeightRow;
use crate::bake::problem::sampler::{Frame, FrameTime, SampleRequest};
use crate::bake::problem::sampling::Sampling;
use crate::math::Worse;
use crate::task::Cancelled;
use glam::DAffine3;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Where an interval between keyframes is sampled, as fractions of it.
pub(super) const INTERVAL_SAMPLES: [f64; 5] = [0.15, 0.32, 0.5, 0.68, 0.85];

/// Motion below this fraction of the tolerance is no track.
const CONSTANT_SHARE: f64 = 0.1;

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
    pub(super) motions: Vec<Vec<Vec<Vec<DAffine3>>>>,
    rest: Vec<Vec<DAffine3>>,
    /// The scale from bind space to the world.
    pub(super) unit_scale: f64,
    pub(super) helpers: Vec<Vec<Helper>>,
    /// The motions of helpers that are not blends.
    refiner: Option<Arc<MotionSolver<'a>>>,
    /// By mesh, one row an active point.
    pub(super) rows: Vec<Vec<WeightRow>>,
    /// By mesh: IRLS weights of the points that took part in the iterations.
    irls: Vec<Vec<f64>>,
    /// By mesh: the displacements of its active points.
    pub(super) bases: Vec<Arc<MeshBasis>>,
    /// By mesh: its regions, where they have displacements of their own.
    pub(super) regions: Vec<Option<Partition>>,
    pub(super) sampling: &'a Sampling,
    /// By clip and bits of the keyframe's time.
    pub(super) weights: BTreeMap<(usize, u32), KeySolution>,
    /// By mesh, instance and clip: the keyframes that stay in the weights track, where some do not.
    pub(super) kept: BTreeMap<(usize, usize, usize), Vec<usize>>,
    /// By mesh: the ranges of its morph weights, which key reduction sets.
    pub(super) ranges: Vec<TargetRanges>,
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
            irls: decomposition.irls,
            bases: group.meshes.iter().map(|_| Arc::default()).collect(),
            regions: vec![None; group.meshes.len()],
            sampling,
            weights: BTreeMap::new(),
            kept: BTreeMap::new(),
            ranges: vec![TargetRanges::default(); group.meshes.len()],
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

    pub(super) fn make_tracks(&mut self) {
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

    /// The weights at a keyframe, and the largest error there.
    pub(super) fn solved(&self, time: FrameTime) -> Option<&KeySolution> {
        self.weights
            .get(&(time.clip?, (time.secs as f32).to_bits()))
    }

    /// The warm start of further alternating least squares, where helpers have free motions.
    pub(crate) fn warm_start(&self) -> Option<WarmStart> {
        self.refiner.as_ref().map(|_| WarmStart {
            rows: self.rows.clone(),
            irls: self.irls.clone(),
        })
    }

    /// Starts again from another decomposition, with the keyframes so far.
    pub(crate) fn restart(&mut self, decomposition: Decomposition<'a>) {
        self.rows = decomposition.rows;
        self.irls = decomposition.irls;
        self.refiner = decomposition.refiner.map(Arc::new);
        self.weights.clear();
        self.motions.iter_mut().flatten().for_each(Vec::clear);
    }

    pub(crate) fn finish(self, max_error: f64, flips: Vec<Flip>) -> Solution {
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
                ranges: self.ranges[i].clone(),
            });
        }
        let bytes = self
            .problem
            .bytes_of(self.group, self.sampling, &self.helpers, &meshes);
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
