//! The shapes of an instance along a clip, and the fewest of them between which linear interpolation stays near the others.

use super::FramedInstance;
use super::driven_times::driven_times;
use crate::bake::problem::key_times::key_times;
use crate::bake::problem::sampler::Clips;
use crate::document::Document;
use crate::math::Worse;
use crate::skeleton::Clip;
use crate::task::{Cancelled, Task};
use glam::{DMat3, Vec3};
use rayon::prelude::*;
use std::collections::BTreeSet;

/// The shapes of one instance along a clip.
#[derive(Default)]
pub(super) struct Samples {
    pub(super) times: Vec<f64>,
    /// n_times x n_points, node space.
    pub(super) positions: Vec<Vec<Vec3>>,
    /// Rotation and scale of the node at each time.
    pub(super) node: Vec<DMat3>,
}

/// The shortest interval between sampled times, seconds.
const LEAST_INTERVAL: f64 = 0.0015;

/// The sampled times of each clip, ascending.
pub(super) fn times_of(document: &Document, clips: &Clips<'_>) -> Vec<Vec<f64>> {
    let all: BTreeSet<u32> = document.skeleton().live_joints().map(|j| j.0).collect();
    let pairs = clips.authored.iter().zip(&clips.written);
    let pairs = pairs.zip(&clips.ids);
    pairs
        .map(|((seen, played), &id)| {
            let of_clusters = document.cluster_key_times(id);
            sample_times(seen, played, document, &all, &of_clusters)
        })
        .collect()
}

/// The keyframes of a clip, those of clusters included, and the middles between them, ascending, with its start and end.
fn sample_times(
    seen: &Clip,
    played: &Clip,
    document: &Document,
    all: &BTreeSet<u32>,
    of_clusters: &[f32],
) -> Vec<f64> {
    let mut keys: Vec<f32> = [seen, played]
        .iter()
        .flat_map(|clip| key_times(clip, document.rest_pose(), all))
        .chain(of_clusters.iter().copied())
        .filter(|t| *t >= 0.0)
        .collect();
    if let (Some(&start), Some(&end)) = (keys.first(), keys.last()) {
        let (start, end) = keys
            .iter()
            .fold((start, end), |(a, b), t| (a.min(*t), b.max(*t)));
        let driven = driven_times(document, start.into(), end.into());
        keys.extend(driven.into_iter().map(|t| t as f32));
    }
    keys.sort_by(f32::total_cmp);
    // Merge keyframes closer than the shortest interval.
    keys.dedup_by(|b, a| f64::from(*b - *a) < LEAST_INTERVAL);
    let mut times: Vec<f64> = Vec::with_capacity(2 * keys.len());
    for &key in &keys {
        let key = f64::from(key);
        if let Some(&last) = times.last()
            && key - last > 0.005
        {
            times.push(f64::from((0.5 * (last + key)) as f32));
        }
        times.push(key);
    }
    times
}

/// Inserts `more` times between the sampled ones, unless one is as near as that.
pub(super) fn insert(times: &mut Vec<f64>, more: &[f64]) {
    for &time in more {
        let time = f64::from(time as f32);
        let after = times.partition_point(|t| *t < time);
        let neighbours = after.checked_sub(1).and_then(|i| times.get(i..=after));
        let is_far = |t: &f64| (t - time).abs() >= LEAST_INTERVAL;
        if neighbours.is_some_and(|near| near.iter().all(is_far)) {
            times.insert(after, time);
        }
    }
}

/// The selected samples, ascending: the first, the last, and as few as linear interpolation within `tolerance` allows.
pub(super) fn kept(
    samples: &Samples,
    tolerance: f64,
    task: &Task,
) -> Result<Vec<usize>, Cancelled> {
    let last = samples.times.len() - 1;
    let mut kept = vec![0];
    let mut from = 0;
    while from < last {
        let (mut good, mut step) = (from + 1, 1);
        let mut bad = None;
        while good < last {
            task.check()?;
            let next = (good + step).min(last);
            if is_straight(samples, from, next, tolerance) {
                good = next;
                step *= 2;
            } else {
                bad = Some(next);
                break;
            }
        }
        while let Some(end) = bad.filter(|end| end - good > 1) {
            task.check()?;
            let middle = good.midpoint(end);
            if is_straight(samples, from, middle, tolerance) {
                good = middle;
            } else {
                bad = Some(middle);
            }
        }
        kept.push(good);
        from = good;
    }
    Ok(kept)
}

/// The largest distance of the samples from the interpolated targets, world.
pub(super) fn off(
    instance: &FramedInstance,
    samples: &Samples,
    keys: &[(usize, Option<usize>)],
    task: &Task,
) -> Result<f64, Cancelled> {
    let mut most = 0.0f64;
    for (k, &(from, first)) in keys.iter().enumerate() {
        task.check()?;
        let (to, second) = keys.get(k + 1).copied().unwrap_or((from, first));
        let (a, b) = (instance.shape(first), instance.shape(second));
        let (start, end) = (samples.times[from], samples.times[to]);
        for s in from..=to {
            let share = if to > from {
                ((samples.times[s] - start) / (end - start)) as f32
            } else {
                0.0
            };
            let node = samples.node[s];
            let here = samples.positions[s].par_iter().with_min_len(4096);
            let distances = here.enumerate().map(|(i, p)| {
                let off = (a[i].lerp(b[i], share) - *p).as_dvec3();
                (node * off).length()
            });
            most = most.worse(distances.reduce(|| 0.0, f64::worse));
        }
    }
    Ok(most)
}

/// Whether linear interpolation between two samples is within `tolerance` of those in between.
fn is_straight(samples: &Samples, from: usize, to: usize, tolerance: f64) -> bool {
    let (a, b) = (&samples.positions[from], &samples.positions[to]);
    let (start, end) = (samples.times[from], samples.times[to]);
    (from + 1..to).all(|s| {
        let share = ((samples.times[s] - start) / (end - start)) as f32;
        let node = samples.node[s];
        let here = &samples.positions[s];
        let near = |(i, p): (usize, &Vec3)| {
            let off = (a[i].lerp(b[i], share) - *p).as_dvec3();
            (node * off).length() <= tolerance
        };
        here.par_iter().with_min_len(4096).enumerate().all(near)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bake::frames::Frame;

    fn samples(heights: &[f32]) -> Samples {
        Samples {
            times: (0..heights.len()).map(|i| i as f64).collect(),
            positions: heights
                .iter()
                .map(|&y| vec![Vec3::new(0.0, y, 0.0)])
                .collect(),
            node: vec![DMat3::IDENTITY; heights.len()],
        }
    }

    #[test]
    fn more_times_are_inserted_apart_from_the_others() {
        let mut times = vec![0.0, 0.5, 1.0];
        insert(&mut times, &[0.75, 0.25, 0.501, 1.5, -1.0, 0.2505]);
        assert_eq!(times, [0.0, 0.25, 0.5, 0.75, 1.0]);
        insert(&mut Vec::new(), &[0.5]);
    }

    #[test]
    fn straight_runs_keep_their_ends() {
        let kept = |heights: &[f32], tolerance| {
            super::kept(&samples(heights), tolerance, &Task::new()).unwrap()
        };
        assert_eq!(kept(&[0.0; 9], 0.01), [0, 8]);
        let tent = [0.0, 1.0, 2.0, 3.0, 4.0, 2.0, 0.0];
        assert_eq!(kept(&tent, 0.01), [0, 4, 6]);
        assert_eq!(kept(&[1.0], 0.01), [0]);
        // Within a large tolerance the peak is cut.
        assert_eq!(kept(&[0.0, 0.1, 0.0], 0.2), [0, 2]);
    }

    #[test]
    fn what_keys_cut_off_is_measured() {
        let frame = |y: f32| Frame {
            positions: vec![Vec3::new(0.0, y, 0.0)],
            ..Frame::default()
        };
        let instance = FramedInstance {
            base: frame(0.0),
            targets: vec![frame(1.0)],
            ..FramedInstance::default()
        };
        let samples = samples(&[0.0, 0.75, 1.0]);
        let off = |keys: &[_]| off(&instance, &samples, keys, &Task::new()).unwrap();
        assert_eq!(off(&[(0, None), (2, Some(0))]), 0.25);
        assert_eq!(off(&[(0, None), (2, None)]), 1.0);
        let stopped = Task::new();
        stopped.cancel();
        assert!(kept(&samples, 0.01, &stopped).is_err());
    }
}
