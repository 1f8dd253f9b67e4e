//! A forecast of the size of an export as frames, from a few intervals of the clips.

use super::samples::times_of;
use super::{Finder, FramedInstance, FramesError};
use crate::bake::problem::sampler::{Clips, Sampler};
use crate::bake::{BakeOptions, Estimate};
use crate::document::{ClipId, Document};
use crate::math::Worse;
use crate::skeleton::Clip;
use crate::task::Task;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Times that are evaluated over all clips: all of short clips, intervals of long ones.
const MAX_TIMES: usize = 160;
/// Consecutive times of an interval: enough to hold several targets at common tolerances.
const INTERVAL_TIMES: usize = 32;

/// Bytes of JSON of a target. Measured on written files.
const TEXT_BYTES: f64 = 240.0;
/// Bytes of a vertex's joints and weights, which the file no longer has.
const WEIGHT_BYTES: f64 = 20.0;

/// A forecast of an export of the clips `played` as frames; `None` without skins or keyframes. It can count a third
/// too many targets where long clips repeat their shapes.
///
/// The options must be in their ranges ([`BakeOptions::check`]).
pub fn estimate_frames(
    document: &Document,
    played: &BTreeMap<ClipId, Arc<Clip>>,
    options: &BakeOptions,
    task: &Task,
) -> Result<Option<Estimate>, FramesError> {
    let sampler = Sampler::with_driven(document, task)?;
    let clips = Clips::new(document, played);
    let all = times_of(document, &clips);
    let n_moments: Vec<usize> = all.iter().map(Vec::len).collect();
    if sampler.instances.is_empty() || n_moments.iter().all(|n| *n == 0) {
        return Ok(None);
    }
    let stretches = stretches(&n_moments);
    let looked_at: Vec<Vec<f64>> = (0..all.len())
        .map(|c| {
            let own = stretches.iter().filter(|stretch| stretch.clip == c);
            own.flat_map(|stretch| &all[c][stretch.range()])
                .copied()
                .collect()
        })
        .collect();
    let diagonal = sampler.diagonal();
    let finder = Finder {
        sampler: &sampler,
        clips: &clips,
        times: &looked_at,
        tolerance: options.tolerance * diagonal,
        task,
    };
    let mut framed = finder.bases()?;
    let mut found = vec![Found::default(); framed.len()];
    for (done, stretch) in stretches.iter().enumerate() {
        task.step("Sampling frames", done as f32 / stretches.len() as f32)?;
        let samples = finder.samples(stretch.clip, &all[stretch.clip][stretch.range()], &framed)?;
        for ((instance, sample), found) in framed.iter_mut().zip(&samples).zip(&mut found) {
            let keys = finder.keys(instance, sample, &mut Vec::new())?;
            found.keys += keys.len();
            let (n, times) = steps(&keys, stretch.ends(&n_moments));
            found.steps += n;
            found.times += times;
        }
    }
    let n_steps: usize = n_moments.iter().map(|n| n.saturating_sub(1)).sum();
    let n_clips = n_moments.iter().filter(|n| **n > 0).count();
    let mut sum = Estimate {
        diagonal,
        ..Estimate::default()
    };
    for ((instance, drawn), found) in framed.iter().zip(&sampler.instances).zip(&found) {
        let steps = n_steps as f64 * found.steps as f64 / found.times.max(1) as f64;
        let keys = steps + n_clips as f64;
        // Some keyframes share a target or show the base.
        let targets = (keys * instance.targets.len() as f64 / found.keys.max(1) as f64).round();
        sum.morph_targets = sum.morph_targets.max(targets as usize);
        sum.error = sum.error.worse(instance.off / diagonal);
        let a_vertex = 12.0 * moved(instance, options.sparse);
        let parts = sampler.item(drawn.mesh).into_iter();
        for part in parts.flat_map(|item| &item.geometry.primitives) {
            let vertices = part.vertices.len() as f64;
            let has_normals = options.normals && part.has_normals;
            let kinds = if has_normals { 2.0 } else { 1.0 };
            sum.bytes += targets * kinds * (vertices * a_vertex + TEXT_BYTES);
            sum.bytes -= WEIGHT_BYTES * vertices;
        }
        // One f32 weight for each target at each keyframe.
        sum.bytes += 4.0 * keys * (targets + 1.0);
    }
    // Tracks of the joints are removed.
    let channels = clips.written.iter().flat_map(|clip| &clip.channels);
    let values: usize = channels.map(|channel| channel.values.len()).sum();
    sum.bytes -= 4.0 * values as f64;
    Ok(Some(sum))
}

/// Consecutive times of a clip.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Interval {
    clip: usize,
    start: usize,
    /// At least 1.
    len: usize,
}

impl Interval {
    /// Whether it ends the clip.
    fn ends(self, n_moments: &[usize]) -> bool {
        self.range().end == n_moments[self.clip]
    }

    fn range(self) -> std::ops::Range<usize> {
        self.start..self.start + self.len
    }
}

/// Counts of an instance over all intervals.
#[derive(Clone, Default)]
struct Found {
    keys: usize,
    /// Steps between keyframes, and the times they span.
    steps: usize,
    times: usize,
}

/// The number of steps between keyframes and the times they span. The last step is cut off where the clip goes on, and
/// counts only if it is the only one.
fn steps(keys: &[(usize, Option<usize>)], is_end: bool) -> (usize, usize) {
    let whole = if is_end || keys.len() < 3 {
        keys
    } else {
        &keys[..keys.len() - 1]
    };
    match whole {
        [first, .., last] => (whole.len() - 1, last.0 - first.0),
        _ => (0, 0),
    }
}

/// The intervals to evaluate of clips with so many times: all of them, or some at equal distances over all clips.
fn stretches(n_moments: &[usize]) -> Vec<Interval> {
    let total: usize = n_moments.iter().sum();
    let whole = n_moments.iter().enumerate();
    let whole = whole.map(|(clip, &len)| Interval {
        clip,
        start: 0,
        len,
    });
    let whole: Vec<Interval> = whole.filter(|stretch| stretch.len > 0).collect();
    if total <= MAX_TIMES {
        return whole;
    }
    let n = MAX_TIMES / INTERVAL_TIMES;
    let mut chosen: Vec<Interval> = Vec::with_capacity(n);
    for i in 0..n {
        let mut at = total * (2 * i + 1) / (2 * n);
        for stretch in &whole {
            if at < stretch.len {
                let len = stretch.len.min(INTERVAL_TIMES);
                let start = at.saturating_sub(len / 2).min(stretch.len - len);
                let found = Interval {
                    start,
                    len,
                    ..*stretch
                };
                if chosen.last() != Some(&found) {
                    chosen.push(found);
                }
                break;
            }
            at -= stretch.len;
        }
    }
    chosen
}

/// The average fraction of a mesh's points that a target stores.
fn moved(instance: &FramedInstance, sparse: bool) -> f64 {
    let base = &instance.base.positions;
    let n = instance.targets.len() * base.len();
    if !sparse || n == 0 {
        return 1.0;
    }
    let targets = instance.targets.iter();
    let moved = targets.map(|target| {
        let pairs = target.positions.iter().zip(base);
        pairs.filter(|(a, b)| a != b).count()
    });
    // 14 bytes a sparse entry (with its index) for 12 bytes of a dense one.
    (moved.sum::<usize>() as f64 / n as f64 * 14.0 / 12.0).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_clips_are_looked_at_whole_and_long_ones_in_stretches() {
        let whole = stretches(&[3, 0, 5]);
        assert_eq!(whole.len(), 2);
        assert_eq!((whole[1].clip, whole[1].range()), (2, 0..5));
        let some = stretches(&[1000, 10, 1000]);
        assert_eq!(some.len(), MAX_TIMES / INTERVAL_TIMES);
        assert!(some.iter().any(|s| s.clip == 0) && some.iter().any(|s| s.clip == 2));
        for pair in some.windows(2) {
            let is_later = pair[0].clip < pair[1].clip || pair[0].range().end <= pair[1].start;
            assert!(is_later, "{pair:?}");
        }
        let keys = [(0, None), (7, None), (9, None)];
        assert_eq!((steps(&keys, true), steps(&keys, false)), ((2, 9), (1, 7)));
        assert_eq!(steps(&keys[..2], false), (1, 7));
        assert_eq!(steps(&keys[..1], true), (0, 0));
        // Of many short clips some are evaluated.
        let short = stretches(&[7; 100]);
        assert_eq!(short.len(), MAX_TIMES / INTERVAL_TIMES);
        assert!(short.iter().all(|s| s.range() == (0..7)));
    }
}
