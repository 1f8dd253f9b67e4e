//! Keyframes of a group, points that need correction and frames to train on, from one pass over all clips.

use super::Budget;
use super::antipodal::{self, Flip};
use super::group::{Group, GroupMesh};
use super::key_times::{key_jumps, key_times, step_jumps, step_times, with_times};
use super::rows::blended;
use super::sampler::{
    Clips, Frame, FrameTime, InstanceFrame, JointSetFrame, SampleRequest, Sampler,
};
use crate::math::Worse;
use crate::task::{Cancelled, Task};
use glam::Vec3;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering};

/// Points whose error is below this fraction of the tolerance are not corrected. The rest of the tolerance is the
/// margin for playback between keyframes.
const ACTIVE_SHARE: f64 = 0.4;

/// Points per group whose residuals form the signature of a frame. Their number bounds the memory of the signatures:
/// 150 x 12 bytes a frame.
const SIGNATURE_POINTS: usize = 150;

/// Keyframes and training frames of a group.
pub(crate) struct Sampling {
    /// Keyframe times by clip.
    pub(crate) keys: Vec<Vec<f32>>,
    /// By clip: whether tracks hold their values between keyframes (STEP), as everything that moves the group does.
    pub(crate) stepped: Vec<bool>,
    /// Training frames by farthest-point sampling of the linear skinning residuals, the farthest first.
    pub(crate) training: Vec<FrameTime>,
    /// Jumps of the skin; `keys` has a keyframe on both sides of each.
    pub(crate) flips: Vec<Flip>,
}

impl GroupMesh {
    /// The error of an uncorrected file at a point, world.
    fn error(&self, point: u32, instance: &InstanceFrame, joint_set: &JointSetFrame) -> Vec3 {
        let row = &self.file_weights[point as usize];
        if row.is_empty() {
            // No joint moves it, in any player.
            return Vec3::ZERO;
        }
        let matrix = blended(row, &joint_set.matrices);
        let position = matrix.transform_point3(self.bind(point, instance));
        (instance.target[point as usize].as_dvec3() - position).as_vec3()
    }

    /// Points with several influences whose residuals tell frames apart.
    fn witnesses(&self, most: usize) -> Vec<u32> {
        let blended =
            (0..self.weights.len() as u32).filter(|&p| self.weights[p as usize].len() > 1);
        let blended: Vec<u32> = blended.collect();
        let step = blended.len().div_ceil(most.max(1)).max(1);
        blended.into_iter().step_by(step).collect()
    }
}

impl Group {
    /// Evaluates all keyframes of the `corrected` clips; sets the active points. A point that has no finite position at
    /// one of them cannot be corrected.
    pub(crate) fn sampling(
        &mut self,
        sampler: &Sampler<'_>,
        clips: &Clips<'_>,
        corrected: &[bool],
        tolerance: f64,
        budget: &Budget,
        task: &Task,
    ) -> Result<Sampling, Cancelled> {
        let movers = self.movers(sampler);
        let rest = sampler.document.rest_pose();
        let ids = clips.ids.iter();
        let of_clusters: Vec<Vec<f32>> = ids
            .map(|&clip| sampler.document.cluster_key_times(clip))
            .collect();
        let pairs = clips.authored.iter().zip(&clips.written).zip(&of_clusters);
        let steps = pairs.map(|((authored, written), of_clusters)| {
            if !of_clusters.is_empty() {
                return None;
            }
            step_times(authored, &movers)?;
            step_times(written, &movers)
        });
        let steps: Vec<Option<Vec<f32>>> = steps.collect();
        let stepped: Vec<bool> = steps.iter().map(Option::is_some).collect();
        let keys = steps
            .into_iter()
            .zip(clips.written.iter().zip(&of_clusters));
        let keys = keys.map(|(steps, (clip, of_clusters))| {
            steps.unwrap_or_else(|| with_times(key_times(clip, rest, &movers), of_clusters))
        });
        let mut keys: Vec<Vec<f32>> = keys.collect();
        let times = times_of(&keys, corrected);
        let step = times.len().div_ceil(budget.frames).max(1);
        let times: Vec<FrameTime> = times.into_iter().step_by(step).collect();
        let worst: Vec<Vec<AtomicU32>> = self
            .meshes
            .iter()
            .map(|part| {
                part.file_weights
                    .iter()
                    .map(|_| AtomicU32::new(0))
                    .collect()
            })
            .collect();
        let n_parts = self.meshes.len();
        let witnesses: Vec<Vec<u32>> = self
            .meshes
            .iter()
            .map(|part| part.witnesses(SIGNATURE_POINTS / n_parts.max(1)))
            .collect();
        let chosen = self.instances();
        // A forecast skips frames, between which jumps cannot be bracketed; its keyframes are not written.
        let pairs = if step == 1 {
            antipodal::pairs(sampler, self)
        } else {
            Vec::new()
        };
        let look = |_: usize, frame: Frame| {
            let mut signature: Vec<Vec3> = Vec::new();
            for ((part, worst), witnesses) in self.meshes.iter().zip(&worst).zip(&witnesses) {
                for &d in &part.instances {
                    let joint_set = &frame.joint_sets[sampler.instances[d].joint_set];
                    let drawn = &frame.instances[d];
                    let error = |p: u32| part.error(p, drawn, joint_set);
                    let lengths = worst.par_iter().enumerate().with_min_len(2048);
                    lengths.for_each(|(p, worst)| {
                        // Non-negative floats order like their bits.
                        let length = 0.0.worse(error(p as u32).length());
                        worst.fetch_max(length.to_bits(), Ordering::Relaxed);
                    });
                    let known = |error: &Vec3| error.is_finite();
                    let errors = witnesses.iter().map(|&p| error(p));
                    signature.extend(errors.map(|e| Some(e).filter(known).unwrap_or_default()));
                }
            }
            (signature, antipodal::pair_motions(&pairs, &frame))
        };
        let looked = sampler.sample(clips, &times, SampleRequest::own(&chosen), task, look)?;
        let (signatures, moved): (Vec<_>, Vec<_>) = looked.into_iter().unzip();
        for (part, worst) in self.meshes.iter_mut().zip(&worst) {
            for (p, bits) in worst.iter().enumerate() {
                let off = f32::from_bits(bits.load(Ordering::Relaxed));
                if off.is_finite() && f64::from(off) > ACTIVE_SHARE * tolerance {
                    part.active.push(p as u32);
                    part.lbs_errors.push(off);
                }
            }
        }
        let mut order = farthest(&signatures, budget.training);
        if order.is_empty() {
            // The witnesses need no correction, but other points may.
            let step = times.len().div_ceil(budget.training.max(1)).max(1);
            order = (0..times.len()).step_by(step).collect();
        }
        let training = order.into_iter().map(|i| times[i]).collect();
        let mut flips = if self.is_off() {
            antipodal::find(sampler, clips, &chosen, &pairs, &times, &moved, task)?
        } else {
            Vec::new()
        };
        // Tracks that hold their values jump by themselves.
        flips.retain(|flip| !stepped[flip.clip]);
        for (clip, keys) in keys
            .iter_mut()
            .enumerate()
            .filter(|(clip, _)| !stepped[*clip])
        {
            let of_clip = flips.iter().filter(|flip| flip.clip == clip);
            let mut jumps: Vec<[f32; 2]> = of_clip.map(Flip::sides).collect();
            jumps.extend(step_jumps(clips.written[clip], &movers));
            key_jumps(keys, jumps);
        }
        Ok(Sampling {
            keys,
            stepped,
            training,
            flips,
        })
    }
}

/// All keyframes of the chosen clips.
pub(crate) fn times_of(keys: &[Vec<f32>], chosen: &[bool]) -> Vec<FrameTime> {
    let clips = keys
        .iter()
        .zip(chosen)
        .enumerate()
        .filter(|(_, (_, c))| **c);
    let times = clips.flat_map(|(clip, (keys, _))| {
        keys.iter().map(move |&t| FrameTime {
            clip: Some(clip),
            secs: f64::from(t),
        })
    });
    times.collect()
}

/// Farthest-point sampling: at most `max` indices of signatures, each the farthest from those before it; the first has
/// the largest norm.
fn farthest(signatures: &[Vec<Vec3>], most: usize) -> Vec<usize> {
    let square = |a: &[Vec3], b: Option<&[Vec3]>| -> f32 {
        let of = |i: usize| b.map_or(Vec3::ZERO, |b| b[i]);
        a.iter()
            .enumerate()
            .map(|(i, a)| a.distance_squared(of(i)))
            .sum()
    };
    let mut gap: Vec<f32> = signatures.iter().map(|s| square(s, None)).collect();
    let mut chosen = Vec::new();
    while chosen.len() < most.min(signatures.len()) {
        let next = (0..gap.len()).reduce(|a, b| if gap[b] > gap[a] { b } else { a });
        let Some(next) = next.filter(|&i| gap[i] > 0.0) else {
            break;
        };
        chosen.push(next);
        gap.par_iter_mut().zip(signatures).for_each(|(gap, s)| {
            *gap = gap.min(square(s, Some(&signatures[next])));
        });
        gap[next] = 0.0;
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_farthest_come_first() {
        let at = |x: f32| vec![Vec3::new(x, 0.0, 0.0)];
        let signatures = [at(1.0), at(1.1), at(5.0), at(3.0), at(0.0)];
        assert_eq!(farthest(&signatures, 3), [2, 3, 1]);
        assert_eq!(farthest(&signatures[4..], 3), Vec::<usize>::new());
    }
}
