//! The weights of displacements at keyframes, and the errors at them and in between.

use super::helper_tracks::key_interval;
use super::playback::{KeySolution, Playback};
use super::training::residual;
use crate::bake::problem::sampler::{Frame, FrameTime, SampleRequest};
use crate::bake::problem::sampling::times_of;
use crate::math::Worse;
use crate::task::Cancelled;
use glam::{DAffine3, DVec3};

impl Playback<'_, '_> {
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
}
