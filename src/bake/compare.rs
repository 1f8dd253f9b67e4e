//! What a player shows of one model, beside what the stacks show of another.

use super::clips_of;
use super::stage::{Clips, Moment, Stacks, Stage, Time, Wanted};
use super::times::SHORTEST;
use crate::document::{ClipId, Document, InstanceId, MeshId};
use crate::skeleton::Clip;
use crate::task::{Cancelled, Task};
use glam::Vec3;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Moments of a clip between its keys that are looked at besides.
const BESIDES: usize = 24;
/// Steps of errors that are counted, as fractions of the diagonal: quantiles come in these.
const STEP: f64 = 2e-6;
const STEPS: usize = 100_000;

/// How far the played model is from the stacks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// The diagonal of the model at rest, metres.
    pub diagonal: f64,
    /// The largest distance, as a fraction of the diagonal.
    pub max: f64,
    /// What 99.9 % of all points of skinned meshes at all moments stay below.
    pub p999: f64,
    /// The root of the mean square over the same.
    pub rms: f64,
    /// Where the largest is; `None` without skinned meshes or clips.
    pub worst: Option<InstanceErrors>,
    /// Moments looked at.
    pub n_moments: usize,
}

/// A largest error.
#[derive(Clone, Debug, PartialEq)]
pub struct InstanceErrors {
    /// The clip.
    pub clip: ClipId,
    /// Seconds.
    pub time: f64,
    /// The instance.
    pub instance: InstanceId,
    /// Its mesh.
    pub mesh: MeshId,
    /// The point of the first document's mesh.
    pub point: u32,
    /// As a fraction of the diagonal.
    pub error: f64,
}

/// What one moment adds.
struct Looked {
    counts: BTreeMap<usize, u64>,
    square: f64,
    n: u64,
    worst: Option<(f64, usize, u32)>,
}

/// Compares `seen` by its own stacks with `shown` by linear blend skinning, at all keys of the clips `chosen` (all where
/// it is empty), midway between them, and at moments besides. Both must hold the same vertices in the same instances.
///
/// `clips`: the clips of `seen` as they are in the file that `shown` was read from. Jumps, which take two milliseconds
/// in a file, are not looked into.
pub fn compare(
    seen: &Document,
    shown: &Document,
    clips: &BTreeMap<ClipId, Arc<Clip>>,
    chosen: &[ClipId],
    task: &Task,
) -> Result<Comparison, Cancelled> {
    let (left, right) = (Stage::new(seen, task)?, Stage::new(shown, task)?);
    let own = clips_of(seen, clips);
    // A file numbers its clips without gaps.
    let read: Vec<&Clip> = shown.clips().values().map(AsRef::as_ref).collect();
    let theirs = Clips {
        ids: own.ids.clone(),
        seen: read.clone(),
        played: read,
    };
    let mut comparison = Comparison {
        diagonal: left.diagonal(),
        ..Comparison::default()
    };
    if theirs.seen.len() != own.ids.len() {
        // Not one to one: nothing can be told.
        comparison.max = f64::INFINITY;
        return Ok(comparison);
    }
    let mut times = Vec::new();
    for (i, id) in own.ids.iter().enumerate() {
        if chosen.is_empty() || chosen.contains(id) {
            let secs = moments(theirs.seen[i]);
            times.extend(secs.into_iter().map(|secs| Time {
                clip: Some(i),
                secs,
            }));
        }
    }
    let vertices = Vertices::of(&left, &right);
    let mut counts = vec![0u64; STEPS + 1];
    let (mut square, mut n) = (0.0, 0u64);
    // A stretch at a time bounds the memory.
    for (done, stretch) in times.chunks(64).enumerate() {
        task.step(
            "Checking what was written",
            (done * 64) as f32 / times.len() as f32,
        )?;
        let places = |_: usize, moment: Moment| -> Vec<Vec<Vec3>> {
            moment.drawn.into_iter().map(|d| d.target).collect()
        };
        let shown = right.map(&theirs, stretch, Wanted::all(Stacks::Linear), task, places)?;
        let look =
            |i: usize, moment: Moment| vertices.look(&moment, &shown[i], comparison.diagonal);
        let looked = left.map(&own, stretch, Wanted::all(Stacks::Own), task, look)?;
        for (time, looked) in stretch.iter().zip(looked) {
            square += looked.square;
            n += looked.n;
            looked
                .counts
                .into_iter()
                .for_each(|(step, count)| counts[step] += count);
            if let Some((error, d, point)) = looked.worst
                && (comparison.worst.is_none() || error > comparison.max)
                && let Some(clip) = time.clip
            {
                comparison.max = error;
                comparison.worst = Some(InstanceErrors {
                    clip: own.ids[clip],
                    time: time.secs,
                    instance: left.drawn[d].id,
                    mesh: left.drawn[d].mesh,
                    point,
                    error,
                });
            }
        }
    }
    comparison.n_moments = times.len();
    comparison.rms = if n > 0 {
        (square / n as f64).sqrt()
    } else {
        0.0
    };
    let mut above = 0;
    for (step, count) in counts.iter().enumerate().rev() {
        above += count;
        if above as f64 > 0.001 * n as f64 {
            comparison.p999 = ((step + 1) as f64 * STEP).min(comparison.max);
            break;
        }
    }
    Ok(comparison)
}

/// Compares the stacks of `document` with linear blend skinning of the same: what a file without correction shows.
pub fn uncorrected(
    document: &Document,
    clips: &BTreeMap<ClipId, Arc<Clip>>,
    chosen: &[ClipId],
    task: &Task,
) -> Result<f64, Cancelled> {
    let stage = Stage::new(document, task)?;
    let mut own = clips_of(document, clips);
    own.played.clone_from(&own.seen);
    let mut times = Vec::new();
    for (i, id) in own.ids.iter().enumerate() {
        if chosen.is_empty() || chosen.contains(id) {
            let secs = moments(own.seen[i]);
            times.extend(secs.into_iter().map(|secs| Time {
                clip: Some(i),
                secs,
            }));
        }
    }
    let diagonal = stage.diagonal();
    let vertices = Vertices::of(&stage, &stage);
    let mut largest = 0.0f64;
    for stretch in times.chunks(64) {
        let places = |_: usize, moment: Moment| -> Vec<Vec<Vec3>> {
            moment.drawn.into_iter().map(|d| d.target).collect()
        };
        let shown = stage.map(&own, stretch, Wanted::all(Stacks::Linear), task, places)?;
        let look = |i: usize, moment: Moment| vertices.look(&moment, &shown[i], diagonal);
        let looked = stage.map(&own, stretch, Wanted::all(Stacks::Own), task, look)?;
        let worst = looked.iter().filter_map(|l| l.worst).map(|w| w.0);
        largest = worst.fold(largest, f64::max);
    }
    Ok(largest)
}

/// For each instance of both: a vertex of each point of the first, as a point of the second.
struct Vertices {
    /// By instance of the first: the instance of the second, and its point for each point.
    pairs: Vec<Option<(usize, Vec<u32>)>>,
}

impl Vertices {
    fn of(left: &Stage<'_>, right: &Stage<'_>) -> Self {
        let pairs = left.drawn.iter().map(|drawn| {
            let other = right.drawn.iter().position(|d| d.id == drawn.id)?;
            let (a, b) = (left.item(drawn.mesh)?, right.item(right.drawn[other].mesh)?);
            let (a, b) = (&a.geometry, &b.geometry);
            if a.n_vertices() != b.n_vertices() {
                return None;
            }
            let first = a.first_vertex_of_point();
            let points = first
                .iter()
                .map(|&v| b.point_of_vertex.get(v as usize).copied().unwrap_or(0));
            Some((other, points.collect()))
        });
        Self {
            pairs: pairs.collect(),
        }
    }

    fn look(&self, moment: &Moment, shown: &[Vec<Vec3>], diagonal: f64) -> Looked {
        let mut looked = Looked {
            counts: BTreeMap::new(),
            square: 0.0,
            n: 0,
            worst: None,
        };
        for (d, (drawn, pair)) in moment.drawn.iter().zip(&self.pairs).enumerate() {
            let Some((other, points)) = pair else {
                // What is not there is as far off as can be.
                looked.worst = Some((f64::INFINITY, d, 0));
                continue;
            };
            for (point, (target, &theirs)) in drawn.target.iter().zip(points).enumerate() {
                let place = shown[*other][theirs as usize];
                let error = f64::from(target.distance(place)) / diagonal;
                // A comparison that no number passes counts as the worst.
                let error = if error.is_nan() { f64::INFINITY } else { error };
                looked.square += error * error;
                looked.n += 1;
                *looked
                    .counts
                    .entry(((error / STEP) as usize).min(STEPS))
                    .or_default() += 1;
                if looked.worst.is_none_or(|w| error > w.0) {
                    looked.worst = Some((error, d, point as u32));
                }
            }
        }
        looked
    }
}

/// All keys of a clip, the middles between them where that is no jump, and moments besides.
pub(super) fn moments(clip: &Clip) -> Vec<f64> {
    let mut keys: BTreeSet<u32> = BTreeSet::new();
    for channel in &clip.channels {
        // Bits of floats that are not negative stand in the order of the floats.
        keys.extend(
            channel
                .times
                .iter()
                .filter(|t| **t >= 0.0)
                .map(|t| t.to_bits()),
        );
    }
    let keys: Vec<f64> = keys
        .into_iter()
        .map(|bits| f64::from(f32::from_bits(bits)))
        .collect();
    let is_jump = |a: f64, b: f64| b - a < 1.3 * SHORTEST;
    let mut times = keys.clone();
    for pair in keys.windows(2).filter(|pair| !is_jump(pair[0], pair[1])) {
        times.push(0.5 * (pair[0] + pair[1]));
    }
    if let (Some(first), Some(last)) = (keys.first(), keys.last()) {
        // Steps of the golden ratio keep clear of any rhythm.
        let besides = (0..BESIDES).map(|i| (0.5 + i as f64 * 0.618_033_988_749_895).fract());
        for share in besides {
            let time = first + share * (last - first);
            let k = keys.partition_point(|&t| t <= time);
            if k > 0 && k < keys.len() && !is_jump(keys[k - 1], keys[k]) {
                times.push(time);
            }
        }
    }
    times.sort_by(f64::total_cmp);
    times
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skeleton::{Channel, Interpolation, JointIndex, Property};

    #[test]
    fn jumps_are_not_looked_into() {
        let clip = Clip {
            channels: vec![Channel {
                joint: JointIndex(0),
                property: Property::Translation,
                interpolation: Interpolation::Linear,
                times: [0.0, 1.0, 1.002].into(),
                values: [0.0; 9].into(),
            }],
            ..Clip::default()
        };
        let times = moments(&clip);
        assert!(times.contains(&0.5) && times.contains(&f64::from(1.002f32)));
        assert!(times.iter().all(|t| *t <= 1.0 || *t >= 1.0019));
    }
}
