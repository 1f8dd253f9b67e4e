//! What frames will come to, told from a few stretches of the clips while options are chosen.

use super::{Finder, FramedInstance, FramesError, times_of};
use crate::bake::problem::sampler::{Clips, Sampler};
use crate::bake::{BakeOptions, Estimate};
use crate::document::{ClipId, Document};
use crate::skeleton::Clip;
use crate::task::Task;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Moments that are looked at, over all clips: all of short ones, else this many in stretches.
const MOMENTS: usize = 160;
/// Moments of a stretch.
const STRETCH: usize = 32;

/// Bytes of text that say where the displacements of a target are.
const TEXT_BYTES: f64 = 240.0;
/// Bytes of a vertex's joints and weights, which go.
const WEIGHT_BYTES: f64 = 20.0;

/// What frames for the clips `played` will come to; `None` where nothing has a skin or no clip a key. Takes a small part
/// of the time that finding them takes. It can tell of a third too many where long clips come back to what they showed.
///
/// The options must be in their ranges ([`BakeOptions::check`]).
pub fn estimate_frames(
    document: &Document,
    played: &BTreeMap<ClipId, Arc<Clip>>,
    options: &BakeOptions,
    task: &Task,
) -> Result<Option<Estimate>, FramesError> {
    let sampler = Sampler::new(document, task)?;
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
        task.step("Looking at frames", done as f32 / stretches.len() as f32)?;
        let samples = finder.samples(stretch.clip, &all[stretch.clip][stretch.range()], &framed)?;
        for ((instance, sample), found) in framed.iter_mut().zip(&samples).zip(&mut found) {
            let keys = finder.keys(instance, sample, &mut Vec::new())?;
            found.keys += keys.len();
            let (n, moments) = steps(&keys, stretch.ends(&n_moments));
            found.steps += n;
            found.moments += moments;
        }
    }
    let n_steps: usize = n_moments.iter().map(|n| n.saturating_sub(1)).sum();
    let n_clips = n_moments.iter().filter(|n| **n > 0).count();
    let mut sum = Estimate {
        diagonal,
        ..Estimate::default()
    };
    for ((instance, drawn), found) in framed.iter().zip(&sampler.instances).zip(&found) {
        let steps = n_steps as f64 * found.steps as f64 / found.moments.max(1) as f64;
        let keys = steps + n_clips as f64;
        // Of the keys some show what others show, or the rest pose.
        let targets = (keys * instance.targets.len() as f64 / found.keys.max(1) as f64).round();
        sum.morph_targets = sum.morph_targets.max(targets as usize);
        sum.error = sum.error.max(instance.off / diagonal);
        let a_vertex = 12.0 * moved(instance, options.sparse);
        let parts = sampler.item(drawn.mesh).into_iter();
        for part in parts.flat_map(|item| &item.geometry.primitives) {
            let vertices = part.vertices.len() as f64;
            let turns = options.normals && part.has_normals;
            let kinds = if turns { 2.0 } else { 1.0 };
            sum.bytes += targets * kinds * (vertices * a_vertex + TEXT_BYTES);
            sum.bytes -= WEIGHT_BYTES * vertices;
        }
        // A weight of each target at each key.
        sum.bytes += 4.0 * keys * (targets + 1.0);
    }
    // What moved the bones goes.
    let channels = clips.written.iter().flat_map(|clip| &clip.channels);
    let values: usize = channels.map(|channel| channel.values.len()).sum();
    sum.bytes -= 4.0 * values as f64;
    Ok(Some(sum))
}

/// Moments of a clip, one after the other.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Stretch {
    clip: usize,
    start: usize,
    /// At least 1.
    len: usize,
}

impl Stretch {
    /// Whether the clip ends with it.
    fn ends(self, n_moments: &[usize]) -> bool {
        self.range().end == n_moments[self.clip]
    }

    fn range(self) -> std::ops::Range<usize> {
        self.start..self.start + self.len
    }
}

/// What was counted of an instance in all stretches.
#[derive(Clone, Default)]
struct Found {
    keys: usize,
    /// From key to key, and from frame to frame.
    steps: usize,
    moments: usize,
}

/// How many steps from key to key there are, and how many moments they take. The last is cut off where the clip goes on,
/// and counts only if it is the only one.
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

/// Which moments of clips with so many are looked at: all, or some stretches at even distances over all clips.
fn stretches(n_moments: &[usize]) -> Vec<Stretch> {
    let total: usize = n_moments.iter().sum();
    let whole = n_moments.iter().enumerate();
    let whole = whole.map(|(clip, &len)| Stretch {
        clip,
        start: 0,
        len,
    });
    let whole: Vec<Stretch> = whole.filter(|stretch| stretch.len > 0).collect();
    if total <= MOMENTS {
        return whole;
    }
    let n = MOMENTS / STRETCH;
    let mut chosen: Vec<Stretch> = Vec::with_capacity(n);
    for i in 0..n {
        let mut at = total * (2 * i + 1) / (2 * n);
        for stretch in &whole {
            if at < stretch.len {
                let len = stretch.len.min(STRETCH);
                let start = at.saturating_sub(len / 2).min(stretch.len - len);
                let found = Stretch {
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

/// The share of a mesh that a target of it has written, over all that were found.
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
    // With the number of each vertex that moves.
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
        assert_eq!(some.len(), MOMENTS / STRETCH);
        assert!(some.iter().any(|s| s.clip == 0) && some.iter().any(|s| s.clip == 2));
        for pair in some.windows(2) {
            let is_later = pair[0].clip < pair[1].clip || pair[0].range().end <= pair[1].start;
            assert!(is_later, "{pair:?}");
        }
        let keys = [(0, None), (7, None), (9, None)];
        assert_eq!((steps(&keys, true), steps(&keys, false)), ((2, 9), (1, 7)));
        assert_eq!(steps(&keys[..2], false), (1, 7));
        assert_eq!(steps(&keys[..1], true), (0, 0));
        // Of many short ones some are looked at.
        let short = stretches(&[7; 100]);
        assert_eq!(short.len(), MOMENTS / STRETCH);
        assert!(short.iter().all(|s| s.range() == (0..7)));
    }
}
