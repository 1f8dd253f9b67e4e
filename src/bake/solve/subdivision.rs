//! More keyframes where interpolation strays.

use super::MISSED_SHARE;
use super::playback::{INTERVAL_SAMPLES, Playback};
use crate::bake::problem::key_times::MIN_KEY_INTERVAL;
use crate::bake::problem::key_times::is_jump;
use crate::bake::problem::sampler::{Frame, FrameTime, SampleRequest};
use crate::math::Worse;
use crate::task::Cancelled;

/// Rounds of subdivision; an interval can be halved this often.
const MAX_SUBDIVISIONS: usize = 5;

/// Intervals are halved whose error exceeds this fraction of the tolerance, and that of their ends by this factor:
/// where the keyframes themselves have the error, more of them do not help.
const SUBDIVIDE_SHARE: f64 = 0.91;
const MIN_RISE: f64 = 1.02;

impl Playback<'_, '_> {
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
                } else if !strays || !is_jump(f64::from(from), f64::from(to)) {
                    // A jump itself is not corrected.
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
}
