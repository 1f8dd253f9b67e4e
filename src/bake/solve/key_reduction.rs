//! Key reduction: each track of a helper joint, and the weights of displacements, take the fewest keyframes, one or none,
//! as long as no point exceeds the limit with the errors that all other tracks leave at that time.
//!
//! Sets of keyframes come from one order for all helpers of a clip, so that tracks share their times, or from an order of
//! the track's own; values are least squares fits of those at all keyframes. The first of two rounds leaves some of the
//! limit, so that the tracks that come first do not take all of it.

use super::PLAYBACK_SHARE;
use super::clip_reduction::{Curve, Reduction, WeightCurve, at};
use super::followers::Followers;
use super::helper_tracks::Keys;
use super::key_sets::Keyframes;
use super::mesh_basis::MeshBasis;
use super::playback::{INTERVAL_SAMPLES, Playback};
use super::weight_ranges::{TargetRanges, WeightRange};
use crate::bake::problem::key_times::MIN_KEY_INTERVAL;
use crate::bake::problem::sampler::{Frame, FrameTime, SampleRequest};
use crate::bake::problem::training_poses::TRAINING_CLIP;
use crate::math::Worse;
use crate::task::Cancelled;
use glam::{DQuat, DVec3};
use rayon::prelude::*;
use std::sync::Arc;

/// Errors that key reduction may leave, as fractions of the largest one allowed, tried in this order.
const REDUCTION_SHARES: [f64; 2] = [0.97, 0.85];

/// Errors that each round may leave, as fractions of the limit.
const ROUND_SHARES: [f64; 2] = [0.75, 1.0];
/// The error of a solution that misses the limit may grow by this factor.
const MISSED_GROWTH: f64 = 1.01;
/// Bytes of the positions and errors of points that are held at once: 24 for a point at a time.
const MOST_BYTES: usize = 256 << 20;
const POINT_BYTES: usize = 24;

/// The tracks of a clip with fewer keyframes.
struct ReducedClip {
    pub(super) clip: usize,
    curves: Vec<Vec<[Curve; 3]>>,
    weights: Vec<WeightCurve>,
}

/// The largest error that a reduction may leave, given the error before it and the limit: a solution that meets the limit
/// still meets it afterwards.
fn largest_allowed(max_error: f64, limit: f64) -> f64 {
    if max_error <= limit {
        limit
    } else {
        MISSED_GROWTH * max_error
    }
}

impl Playback<'_, '_> {
    /// Reduces the keyframes of helpers and weights as far as errors stay below the largest one allowed, or near `max_error`
    /// where that is larger; the largest error afterwards. Clips in which errors between the times that the reduction
    /// checks are larger are reduced less, or not at all.
    pub(crate) fn reduce_keys(&mut self, max_error: f64) -> Result<f64, Cancelled> {
        let most = largest_allowed(max_error, PLAYBACK_SHARE * self.problem.tolerance);
        let all = 0..self.keys.len();
        // The training clip of a file for any clip is not in it.
        let ids = &self.problem.clips.ids;
        let mut clips: Vec<usize> = all.filter(|&clip| ids[clip] != TRAINING_CLIP).collect();
        let mut largest = max_error;
        self.ranges = self.weight_ranges();
        for share in REDUCTION_SHARES {
            let before = self.clone();
            let limit = share * PLAYBACK_SHARE * self.problem.tolerance;
            for reduced in self.reduced(&clips, limit)? {
                self.take_reduced(reduced);
            }
            let errors = self.errors_of_clips(&clips)?;
            let is_met = |error: &f64| *error <= most;
            let met = errors.iter().filter(|error| is_met(error));
            largest = met.copied().fold(largest, f64::worse);
            let over = clips
                .iter()
                .zip(&errors)
                .filter(|(_, error)| !is_met(error));
            let over: Vec<usize> = over.map(|(&clip, _)| clip).collect();
            for &clip in &over {
                self.restore_clip(&before, clip);
            }
            clips = over;
            if clips.is_empty() {
                break;
            }
        }
        Ok(largest)
    }

    /// By mesh: the ranges of its morph weights over all clips.
    fn weight_ranges(&self) -> Vec<TargetRanges> {
        let is_signed = !self.problem.options.unipolar;
        let of_mesh = |(i, basis): (usize, &Arc<MeshBasis>)| {
            let all = self.weights.values();
            let all = all.flat_map(move |solution| &solution.0[i]);
            let of = |k: usize| WeightRange::of(all.clone().map(|w| w[k]), is_signed);
            let ranges = (0..basis.k()).map(of).collect();
            let columns = basis.columns();
            let largest = columns.iter().map(|column| {
                let components = column.iter().map(|(_, b)| b.abs().max_element());
                components.fold(0.0, f64::worse)
            });
            let largest: Vec<f64> = largest.collect();
            self.problem
                .target_ranges(ranges, &largest, self.unit_scale)
        };
        self.bases.iter().enumerate().map(of_mesh).collect()
    }

    /// Takes the tracks of a clip from `other`.
    fn restore_clip(&mut self, other: &Self, clip: usize) {
        let pairs = self.helpers.iter_mut().flatten();
        for (helper, other) in pairs.zip(other.helpers.iter().flatten()) {
            helper.tracks[clip] = other.tracks[clip].clone();
        }
        for &time in &self.keys[clip] {
            let place = (clip, time.to_bits());
            if let Some(solution) = other.weights.get(&place) {
                self.weights.insert(place, solution.clone());
            }
        }
        self.kept.retain(|place, _| place.2 != clip);
    }

    /// The largest error of each of these clips at keyframes and between them; 0 for those that are not corrected.
    fn errors_of_clips(&self, clips: &[usize]) -> Result<Vec<f64>, Cancelled> {
        let mut times = Vec::new();
        for &clip in clips.iter().filter(|&&clip| self.problem.corrected[clip]) {
            let keys = &self.keys[clip];
            let at = |secs: f64| FrameTime {
                clip: Some(clip),
                secs,
            };
            times.extend(keys.iter().map(|&t| at(f64::from(t))));
            for pair in keys
                .windows(2)
                .filter(|p| f64::from(p[1] - p[0]) >= 2.0 * MIN_KEY_INTERVAL)
            {
                let (from, to) = (f64::from(pair[0]), f64::from(pair[1]));
                times.extend(INTERVAL_SAMPLES.map(|share| at(from + share * (to - from))));
            }
        }
        let drawn = self.group.instances();
        let look = |_: usize, frame: Frame| self.error_between_keys(&frame);
        let (of_clips, task) = (self.problem.clips, self.problem.task);
        let sampler = self.problem.sampler;
        let found = sampler.sample(of_clips, &times, SampleRequest::own(&drawn), task, look)?;
        let mut errors = vec![0.0f64; self.keys.len()];
        for (time, error) in times.iter().zip(found) {
            if let Some(clip) = time.clip {
                errors[clip] = errors[clip].worse(error);
            }
        }
        Ok(clips.iter().map(|&clip| errors[clip]).collect())
    }

    /// Reduces the keyframes of some clips; errors that were below `limit` (world) stay so at the times that are checked.
    fn reduced(&self, clips: &[usize], limit: f64) -> Result<Vec<ReducedClip>, Cancelled> {
        let followers = Followers::of(self);
        let times = |clip: usize| checked_times(&self.keys[clip]);
        let bytes_of = |clip: usize| POINT_BYTES * followers.all.len() * times(clip).len();
        let mut done = Vec::new();
        let mut left = clips;
        while let Some(first) = left.first() {
            // As many clips together as the memory allows.
            let mut bytes = bytes_of(*first);
            let mut n = 1;
            while let Some(&next) = left.get(n) {
                bytes += bytes_of(next);
                if bytes > MOST_BYTES {
                    break;
                }
                n += 1;
            }
            let (now, rest) = left.split_at(n);
            left = rest;
            let step = bytes_of(*first).div_ceil(MOST_BYTES).max(1);
            let few = followers.every(step);
            let of_clips: Vec<(usize, Vec<f64>)> =
                now.iter().map(|&clip| (clip, times(clip))).collect();
            let moments = self.moments(&few, &of_clips)?;
            let reductions: Vec<ReducedClip> = of_clips
                .into_par_iter()
                .zip(moments)
                .map(|((clip, times), moments)| {
                    let firm = self.firm_keys(clip);
                    let keys = Keyframes {
                        times: &self.keys[clip],
                        firm: &firm,
                        stepped: self.stepped[clip],
                    };
                    Reduction::new(&few, self, clip, keys, (times, moments), limit).run()
                })
                .collect::<Result<_, Cancelled>>()?;
            done.extend(reductions);
        }
        Ok(done)
    }

    /// Keyframes that stay: the first, the last, and those of a jump.
    fn firm_keys(&self, clip: usize) -> Vec<bool> {
        let keys = &self.keys[clip];
        let flips = self.sampling.flips.iter().filter(|flip| flip.clip == clip);
        let flips: Vec<f64> = flips.map(|flip| flip.time).collect();
        let is_firm = |(k, &time): (usize, &f32)| {
            let at_flip = |flip: &f64| (f64::from(time) - flip).abs() < MIN_KEY_INTERVAL;
            k == 0 || k + 1 == keys.len() || flips.iter().any(at_flip)
        };
        keys.iter().enumerate().map(is_firm).collect()
    }

    /// Takes the tracks of a clip with fewer keyframes.
    fn take_reduced(&mut self, reduced: ReducedClip) {
        let ReducedClip {
            clip,
            curves,
            weights,
        } = reduced;
        let times = self.keys[clip].clone();
        for (helpers, curves) in self.helpers.iter_mut().zip(curves) {
            for (helper, curves) in helpers.iter_mut().zip(curves) {
                let Some(track) = helper.tracks.get_mut(clip) else {
                    continue;
                };
                let [rotation, translation, scale] = curves;
                let of = |curve: &Curve| curve.set.iter().map(|&k| times[k]).collect();
                let vectors = |curve: &Curve| Keys {
                    times: of(curve),
                    values: curve
                        .values
                        .chunks_exact(3)
                        .map(DVec3::from_slice)
                        .collect(),
                };
                track.translation = vectors(&translation);
                track.scale = vectors(&scale);
                track.rotation = Keys {
                    times: of(&rotation),
                    values: rotation
                        .values
                        .chunks_exact(4)
                        .map(DQuat::from_slice)
                        .collect(),
                };
            }
        }
        for curve in weights {
            let keys = Keyframes {
                times: &times,
                firm: &[],
                stepped: self.stepped[clip],
            };
            for (k, &time) in times.iter().enumerate() {
                let Some(solution) = self.weights.get_mut(&(clip, time.to_bits())) else {
                    continue;
                };
                solution.0[curve.part][curve.instance] = at(
                    &keys,
                    &curve.set,
                    &curve.values,
                    curve.k,
                    f64::from(times[k]),
                );
            }
            let place = (curve.part, curve.instance, clip);
            self.kept.insert(place, curve.set);
        }
    }
}

/// The times at which a clip is checked: its keyframes and the middles between them, without those of jumps.
fn checked_times(keys: &[f32]) -> Vec<f64> {
    let mut times = Vec::with_capacity(2 * keys.len());
    for pair in keys.windows(2) {
        let (from, to) = (f64::from(pair[0]), f64::from(pair[1]));
        times.push(from);
        if to - from >= 2.0 * MIN_KEY_INTERVAL {
            times.push(0.5 * (from + to));
        }
    }
    times.extend(keys.last().map(|&t| f64::from(t)));
    times
}

impl Reduction<'_> {
    fn run(mut self) -> Result<ReducedClip, Cancelled> {
        let limit = self.limit;
        if self.keys.times.len() == 1 {
            for w in 0..self.weights.len() {
                self.round_weights(w);
            }
        } else if self.keys.times.len() > 1 {
            let shared = self.shared_order();
            for share in ROUND_SHARES {
                self.limit = share * limit;
                for i in 0..self.curves.len() {
                    for h in 0..self.curves[i].len() {
                        self.playback.problem.task.check()?;
                        for property in [1, 2, 0] {
                            self.reduce(i, h, property, &shared);
                        }
                    }
                }
                for w in 0..self.weights.len() {
                    self.playback.problem.task.check()?;
                    self.reduce_weights(w);
                }
            }
            self.merge_sets();
        }
        Ok(ReducedClip {
            clip: self.clip,
            curves: self.curves,
            weights: self.weights,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_solution_that_meets_the_limit_still_does() {
        assert_eq!(largest_allowed(0.95, 0.96), 0.96);
        assert_eq!(largest_allowed(0.96, 0.96), 0.96);
        assert_eq!(largest_allowed(2.0, 0.96), 2.0 * MISSED_GROWTH);
        // NaN is no solution that meets it.
        assert!(largest_allowed(f64::NAN, 0.96).is_nan());
    }
}
