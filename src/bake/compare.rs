//! The error of a written file: linear blend skinning of one document compared with the deformer stacks of another.

use crate::bake::normal_angles::{AngleHistogram, Angles, Shading, angle};
use crate::bake::problem::key_times::MIN_KEY_INTERVAL;
use crate::bake::problem::sampler::{
    Clips, Frame, FrameTime, SampleRequest, Sampler, SkinnedInstance, StackChoice,
};
use crate::document::{ClipId, Document, InstanceId, MeshId};
use crate::skeleton::Clip;
use crate::task::{Cancelled, Task};
use glam::{DVec3, Vec3};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Times of a clip compared besides its keyframes and the middles between them.
const EXTRA_TIMES: usize = 24;
/// The bin width of the error histogram, as a fraction of the diagonal: the resolution of percentiles, 1/500 of the
/// default tolerance.
const BIN: f64 = 2e-6;
const N_BINS: usize = 100_000;

/// Errors of a played document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// The diagonal of the bounding box in the rest pose, metres.
    pub diagonal: f64,
    /// The largest error, as a fraction of the diagonal.
    pub max: f64,
    /// The 99.9th percentile over all points of skinned meshes at all times.
    pub p999: f64,
    /// The root mean square error over the same.
    pub rms: f64,
    /// The largest error; `None` without skinned meshes or clips.
    pub worst: Option<InstanceErrors>,
    /// Angles between normals.
    pub normals: Angles,
    /// The number of times compared.
    pub n_moments: usize,
}

/// The largest error and its location.
#[derive(Clone, Debug, PartialEq)]
pub struct InstanceErrors {
    /// Its clip.
    pub clip: ClipId,
    /// Its time, seconds.
    pub time: f64,
    /// Its instance.
    pub instance: InstanceId,
    /// The mesh of the instance.
    pub mesh: MeshId,
    /// The point in the mesh of the first document.
    pub point: u32,
    /// The error as a fraction of the diagonal.
    pub error: f64,
}

/// The errors at one time.
struct FrameErrors {
    counts: BTreeMap<usize, u64>,
    square: f64,
    n: u64,
    worst: Option<(f64, usize, u32)>,
    angles: AngleHistogram,
}

/// Compares `seen`, deformed by its own stacks, with `shown`, deformed by linear blend skinning: at all keyframes of
/// the clips `chosen` (empty: all), in the middle between them, and at other times. Both must hold the same vertices
/// in the same instances.
///
/// `clips`: the clips of `seen` as written to the file that `shown` was read from. The two milliseconds of a jump
/// between its keyframes are left out.
pub fn compare(
    seen: &Document,
    shown: &Document,
    clips: &BTreeMap<ClipId, Arc<Clip>>,
    chosen: &[ClipId],
    task: &Task,
) -> Result<Comparison, Cancelled> {
    let (left, right) = (Sampler::new(seen, task)?, Sampler::new(shown, task)?);
    let own = Clips::new(seen, clips);
    // A file numbers its clips without gaps.
    let read: Vec<&Clip> = shown.clips().values().map(AsRef::as_ref).collect();
    let theirs = Clips {
        ids: own.ids.clone(),
        authored: read.clone(),
        written: read,
    };
    if theirs.authored.len() != own.ids.len() {
        // The clips do not match: the error is unknown.
        return Ok(Comparison {
            diagonal: left.diagonal(),
            max: f64::INFINITY,
            ..Comparison::default()
        });
    }
    let times = times_of(&theirs, chosen);
    let pair = Comparer::of((&left, &own), (&right, &theirs));
    pair.compare(&times, "Verifying the file", task)
}

/// Compares the stacks of `document` with linear blend skinning of the same document: the error of an uncorrected
/// file.
pub fn uncorrected(
    document: &Document,
    clips: &BTreeMap<ClipId, Arc<Clip>>,
    chosen: &[ClipId],
    task: &Task,
) -> Result<Comparison, Cancelled> {
    let sampler = Sampler::new(document, task)?;
    let mut own = Clips::new(document, clips);
    own.written.clone_from(&own.authored);
    let times = times_of(&own, chosen);
    let pair = Comparer::of((&sampler, &own), (&sampler, &own));
    pair.compare(&times, "Measuring the error without correction", task)
}

/// The times of the `chosen` clips.
fn times_of(clips: &Clips<'_>, chosen: &[ClipId]) -> Vec<FrameTime> {
    let mut times = Vec::new();
    for (i, id) in clips.ids.iter().enumerate() {
        if chosen.is_empty() || chosen.contains(id) {
            let secs = compared_times(clips.authored[i]);
            times.extend(secs.into_iter().map(|secs| FrameTime {
                clip: Some(i),
                secs,
            }));
        }
    }
    times
}

/// Two documents with their clips.
struct Comparer<'s, 'a> {
    left: (&'s Sampler<'a>, &'s Clips<'s>),
    right: (&'s Sampler<'a>, &'s Clips<'s>),
    diagonal: f64,
    /// By instance of the first; `None` where the second has none.
    matches: Vec<Option<MatchedInstance>>,
}

fn instance_in_file(sampler: &Sampler<'_>, drawn: &SkinnedInstance) -> InstanceId {
    sampler.document.instance_in_file(drawn.id, drawn.node)
}

/// The counterpart of an instance in the second document.
struct MatchedInstance {
    /// The instance of the second document.
    other: usize,
    /// Its point for each point of the first.
    points: Vec<u32>,
    /// The compared normals.
    shading: Shading,
}

/// Points and normals of an instance in a player.
struct ShownInstance {
    positions: Vec<Vec3>,
    /// One for each compared normal.
    normals: Vec<DVec3>,
}

impl<'s, 'a> Comparer<'s, 'a> {
    fn of(
        (left, left_clips): (&'s Sampler<'a>, &'s Clips<'s>),
        (right, right_clips): (&'s Sampler<'a>, &'s Clips<'s>),
    ) -> Self {
        let matches = left.instances.iter().map(|drawn| {
            let wanted = instance_in_file(left, drawn);
            let mut others = right.instances.iter();
            let other = others.position(|d| instance_in_file(right, d) == wanted)?;
            let (item, theirs) = (
                left.item(drawn.mesh)?,
                right.item(right.instances[other].mesh)?,
            );
            let (a, b) = (&item.geometry, &theirs.geometry);
            if a.n_vertices() != b.n_vertices() {
                return None;
            }
            let point = |&v: &u32| b.point_of_vertex.get(v as usize).copied().unwrap_or(0);
            Some(MatchedInstance {
                other,
                points: a.first_vertex_of_point().iter().map(point).collect(),
                shading: Shading::of((a, &item.influences), (b, &theirs.influences)),
            })
        });
        Self {
            left: (left, left_clips),
            right: (right, right_clips),
            diagonal: left.diagonal(),
            matches: matches.collect(),
        }
    }

    fn compare(
        &self,
        times: &[FrameTime],
        what: &str,
        task: &Task,
    ) -> Result<Comparison, Cancelled> {
        let (left, clips) = self.left;
        let (right, theirs) = self.right;
        let mut comparison = Comparison {
            diagonal: self.diagonal,
            n_moments: times.len(),
            ..Comparison::default()
        };
        let mut counts = vec![0u64; N_BINS + 1];
        let mut angles = AngleHistogram::default();
        let (mut square, mut n) = (0.0, 0u64);
        // In chunks of times, which bounds the memory.
        for (done, stretch) in times.chunks(64).enumerate() {
            task.step(what, (done * 64) as f32 / times.len() as f32)?;
            let show = |_: usize, frame: Frame| self.show(&frame);
            let shown = right.sample(
                theirs,
                stretch,
                SampleRequest::all(StackChoice::Linear),
                task,
                show,
            )?;
            let wanted = SampleRequest {
                normals: true,
                ..SampleRequest::all(StackChoice::Own)
            };
            let look = |i: usize, frame: Frame| self.look(&frame, &shown[i]);
            let looked = left.sample(clips, stretch, wanted, task, look)?;
            for (time, looked) in stretch.iter().zip(looked) {
                square += looked.square;
                n += looked.n;
                looked
                    .counts
                    .into_iter()
                    .for_each(|(step, count)| counts[step] += count);
                angles.append(&looked.angles);
                if let Some((error, d, point)) = looked.worst
                    && (comparison.worst.is_none() || error > comparison.max)
                    && let Some(clip) = time.clip
                {
                    comparison.max = error;
                    comparison.worst = Some(InstanceErrors {
                        clip: clips.ids[clip],
                        time: time.secs,
                        instance: left.instances[d].id,
                        mesh: left.instances[d].mesh,
                        point,
                        error,
                    });
                }
            }
        }
        comparison.rms = (square / n.max(1) as f64).sqrt();
        let mut above = 0;
        for (step, count) in counts.iter().enumerate().rev() {
            above += count;
            if above as f64 > 0.001 * n as f64 {
                comparison.p999 = ((step + 1) as f64 * BIN).min(comparison.max);
                break;
            }
        }
        comparison.normals = angles.angles();
        Ok(comparison)
    }

    /// A player's points and normals at a time, by instance of the first document.
    fn show(&self, frame: &Frame) -> Vec<Option<ShownInstance>> {
        let right = self.right.0;
        let matches = self.matches.iter().map(|found| {
            let found = found.as_ref()?;
            let drawn = frame.instances.get(found.other)?;
            let matrices = &frame.joint_sets[right.instances[found.other].joint_set].matrices;
            Some(ShownInstance {
                positions: found
                    .points
                    .iter()
                    .map(|&p| drawn.target[p as usize])
                    .collect(),
                normals: found.shading.shown(matrices, &drawn.morph_weights),
            })
        });
        matches.collect()
    }

    fn look(&self, frame: &Frame, shown: &[Option<ShownInstance>]) -> FrameErrors {
        let mut looked = FrameErrors {
            counts: BTreeMap::new(),
            square: 0.0,
            n: 0,
            worst: None,
            angles: AngleHistogram::default(),
        };
        for (d, (drawn, (shown, found))) in frame
            .instances
            .iter()
            .zip(shown.iter().zip(&self.matches))
            .enumerate()
        {
            let (Some(shown), Some(found)) = (shown, found) else {
                // A missing instance has an infinite error.
                looked.worst = Some((f64::INFINITY, d, 0));
                continue;
            };
            for (point, (target, place)) in drawn.target.iter().zip(&shown.positions).enumerate() {
                let error = f64::from(target.distance(*place)) / self.diagonal;
                // NaN counts as infinite.
                let error = if error.is_nan() { f64::INFINITY } else { error };
                looked.square += error * error;
                looked.n += 1;
                *looked
                    .counts
                    .entry(((error / BIN) as usize).min(N_BINS))
                    .or_default() += 1;
                if looked.worst.is_none_or(|w| error > w.0) {
                    looked.worst = Some((error, d, point as u32));
                }
            }
            for (&normal, shown) in found.shading.normals.iter().zip(&shown.normals) {
                let target = drawn.normals[normal as usize].as_dvec3();
                looked.angles.add(angle(*shown, target));
            }
        }
        looked
    }
}

/// All keyframes of a clip, the middles of intervals that are no jump, and other times.
pub(super) fn compared_times(clip: &Clip) -> Vec<f64> {
    let mut keys: BTreeSet<u32> = BTreeSet::new();
    for channel in &clip.channels {
        // Non-negative floats order like their bits.
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
    let is_jump = |a: f64, b: f64| b - a < 1.3 * MIN_KEY_INTERVAL;
    let mut times = keys.clone();
    for pair in keys.windows(2).filter(|pair| !is_jump(pair[0], pair[1])) {
        times.push(0.5 * (pair[0] + pair[1]));
    }
    if let (Some(first), Some(last)) = (keys.first(), keys.last()) {
        // Multiples of the golden ratio are uniform and avoid any period of the clip.
        let besides = (0..EXTRA_TIMES).map(|i| (0.5 + i as f64 * 0.618_033_988_749_895).fract());
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
    use crate::skeleton::{Channel, Interpolation, JointId, Property};

    #[test]
    fn jumps_are_not_looked_into() {
        let clip = Clip {
            channels: vec![Channel {
                joint: JointId(0),
                property: Property::Translation,
                interpolation: Interpolation::Linear,
                times: [0.0, 1.0, 1.002].into(),
                values: [0.0; 9].into(),
            }],
            ..Clip::default()
        };
        let times = compared_times(&clip);
        assert!(times.contains(&0.5) && times.contains(&f64::from(1.002f32)));
        assert!(times.iter().all(|t| *t <= 1.0 || *t >= 1.0019));
    }
}
