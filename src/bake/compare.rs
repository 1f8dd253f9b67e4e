//! The error of a written file: linear blend skinning of one document compared with the deformer stacks of another.

use crate::bake::compared_times::ComparedTimes;
use crate::bake::normal_angles::{AngleHistogram, Angles, Shading, angle};
use crate::bake::peaks::{Peak, ROUNDS};
use crate::bake::problem::sampler::{
    Clips, Frame, FrameTime, SampleRequest, Sampler, SkinnedInstance, StackChoice,
};
use crate::document::{ClipId, Document, InstanceId, MeshId};
use crate::math::Worse;
use crate::skeleton::Clip;
use crate::task::{Cancelled, Task};
use glam::{DVec3, Vec3};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The bin width of the error histogram, as a fraction of the diagonal: the resolution of percentiles, 1/500 of the
/// default tolerance.
const BIN: f64 = 2e-6;
const N_BINS: usize = 100_000;
/// Times that are evaluated together, which bounds the memory.
const STRETCH: usize = 64;
/// Peaks of errors below this are not followed: it is the smallest tolerance, as a fraction of the diagonal.
const LEAST_PEAK: f64 = 1e-5;

/// Errors of a played document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// The diagonal of the bounding box in the rest pose, metres.
    pub diagonal: f64,
    /// The rounding of positions far from the origin in a player, as a fraction of the diagonal; 0 where it is below all
    /// tolerances.
    pub rounding: f64,
    /// The largest error found, as a fraction of the diagonal. Between the times compared there may be a larger one.
    pub max: f64,
    /// The largest error found within the two milliseconds of jumps, which is in no other figure.
    pub max_in_jumps: f64,
    /// The 99.9th percentile over all points of skinned meshes at all times.
    pub p999: f64,
    /// The root mean square error over the same.
    pub rms: f64,
    /// The largest error; `None` without skinned meshes or clips.
    pub worst: Option<InstanceErrors>,
    /// The largest error of each compared clip.
    pub by_clip: BTreeMap<ClipId, f64>,
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

/// A document as a player shows it.
#[derive(Clone, Copy)]
pub struct Shown<'a> {
    /// The document.
    pub document: &'a Document,
    /// Its instance for each instance of the document that it is compared with; `None` if the nodes are the same.
    pub instances: Option<&'a BTreeMap<InstanceId, InstanceId>>,
}

impl<'a> From<&'a Document> for Shown<'a> {
    fn from(document: &'a Document) -> Self {
        Self {
            document,
            instances: None,
        }
    }
}

/// The errors at one time.
struct FrameErrors {
    counts: BTreeMap<usize, u64>,
    square: f64,
    n: u64,
    worst: Option<(f64, usize, u32)>,
    angles: AngleHistogram,
}

impl FrameErrors {
    fn largest(&self) -> f64 {
        self.worst.map_or(0.0, |worst| worst.0)
    }
}

/// Compares `seen`, deformed by its own stacks, with `shown`, deformed by linear blend skinning: at all keyframes of
/// the clips `chosen` (empty: all) and just before each step, in the middle between them, at other times, and around the
/// largest errors. Both must hold the same vertices in the same instances.
///
/// `clips`: the clips of `seen` as written to the file that `shown` was read from. The two milliseconds of a jump
/// between its keyframes are measured apart.
pub fn compare(
    seen: &Document,
    shown: Shown<'_>,
    clips: &BTreeMap<ClipId, Arc<Clip>>,
    chosen: &[ClipId],
    task: &Task,
) -> Result<Comparison, Cancelled> {
    with_pair(seen, shown, clips, task, |pair| {
        let times = pair.times_of(chosen, |times| times.outside_jumps);
        let in_jumps = pair.times_of(chosen, |times| times.in_jumps);
        let (mut comparison, measured) = pair.compare(&times, "Verifying the file", task)?;
        pair.follow_peaks(&mut comparison, &measured, task)?;
        for stretch in in_jumps.chunks(STRETCH) {
            let found = pair.measure(stretch, task)?;
            let errors = found.iter().filter_map(|found| Some(found.worst?.0));
            comparison.max_in_jumps = errors.fold(comparison.max_in_jumps, f64::worse);
        }
        Ok(comparison)
    })
}

/// [`compare`] with a file without correction, whose error is too large for its peaks to matter.
pub fn compare_uncorrected(
    seen: &Document,
    shown: Shown<'_>,
    clips: &BTreeMap<ClipId, Arc<Clip>>,
    chosen: &[ClipId],
    task: &Task,
) -> Result<Comparison, Cancelled> {
    with_pair(seen, shown, clips, task, |pair| {
        let times = pair.times_of(chosen, |times| times.outside_jumps);
        let what = "Measuring the error without correction";
        Ok(pair.compare(&times, what, task)?.0)
    })
}

/// Runs `work` on two documents with the same clips; the error is infinite if their clips do not match.
fn with_pair(
    seen: &Document,
    shown: Shown<'_>,
    clips: &BTreeMap<ClipId, Arc<Clip>>,
    task: &Task,
    work: impl FnOnce(&Comparer<'_, '_>) -> Result<Comparison, Cancelled>,
) -> Result<Comparison, Cancelled> {
    let (left, right) = (
        Sampler::new(seen, task)?,
        Sampler::new(shown.document, task)?,
    );
    let own = Clips::new(seen, clips);
    // A file numbers its clips without gaps.
    let read: Vec<&Clip> = shown.document.clips().values().map(AsRef::as_ref).collect();
    let theirs = Clips::read(own.ids.clone(), read);
    if theirs.authored.len() != own.ids.len() {
        return Ok(Comparison {
            diagonal: left.diagonal(),
            max: f64::INFINITY,
            ..Comparison::default()
        });
    }
    let instances = shown.instances;
    work(&Comparer::of((&left, &own), (&right, &theirs), instances))
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
        instances: Option<&BTreeMap<InstanceId, InstanceId>>,
    ) -> Self {
        let matches = left.instances.iter().map(|drawn| {
            let known = instances.and_then(|instances| instances.get(&drawn.id));
            let wanted = known
                .copied()
                .unwrap_or_else(|| instance_in_file(left, drawn));
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

    /// The times of the `chosen` clips of the second document.
    fn times_of(
        &self,
        chosen: &[ClipId],
        which: impl Fn(ComparedTimes) -> Vec<f64>,
    ) -> Vec<FrameTime> {
        let clips = self.right.1;
        let mut times = Vec::new();
        for (i, id) in clips.ids.iter().enumerate() {
            if chosen.is_empty() || chosen.contains(id) {
                let secs = which(ComparedTimes::of(clips.authored[i]));
                times.extend(secs.into_iter().map(|secs| FrameTime {
                    clip: Some(i),
                    secs,
                }));
            }
        }
        times
    }

    /// The errors at each of a few times.
    fn measure(&self, times: &[FrameTime], task: &Task) -> Result<Vec<FrameErrors>, Cancelled> {
        let (left, clips) = self.left;
        let (right, theirs) = self.right;
        let linear = SampleRequest::all(StackChoice::Linear);
        let show = |_: usize, frame: Frame| self.show(&frame);
        let shown = right.sample(theirs, times, linear, task, show)?;
        let wanted = SampleRequest {
            normals: true,
            ..SampleRequest::all(StackChoice::Own)
        };
        let look = |i: usize, frame: Frame| self.look(&frame, &shown[i]);
        left.sample(clips, times, wanted, task, look)
    }

    /// Measures the error between the times `measured` around its peaks.
    fn follow_peaks(
        &self,
        comparison: &mut Comparison,
        measured: &[(FrameTime, f64)],
        task: &Task,
    ) -> Result<(), Cancelled> {
        if !comparison.max.is_finite() || comparison.max < LEAST_PEAK {
            return Ok(());
        }
        let mut peaks = Peak::find(measured);
        for n in ROUNDS {
            Peak::keep_largest(&mut peaks, n);
            let times: Vec<FrameTime> = peaks.iter().flat_map(Peak::middles).collect();
            let found = self.measure(&times, task)?;
            let of_peaks = peaks.iter_mut().zip(found.as_chunks::<2>().0);
            for (peak, found) in of_peaks {
                peak.narrow([&found[0], &found[1]].map(FrameErrors::largest));
            }
            for (time, found) in times.iter().zip(&found) {
                self.keep_worst(comparison, *time, found);
            }
            comparison.n_moments += times.len();
        }
        Ok(())
    }

    /// Keeps the largest error of a time if it is the largest so far.
    fn keep_worst(&self, comparison: &mut Comparison, time: FrameTime, found: &FrameErrors) {
        let (left, clips) = self.left;
        let (Some((error, d, point)), Some(clip)) = (found.worst, time.clip) else {
            return;
        };
        let clip = clips.ids[clip];
        let of_clip = comparison.by_clip.entry(clip).or_default();
        *of_clip = of_clip.worse(error);
        if comparison.worst.is_none() || error > comparison.max {
            comparison.max = error;
            comparison.worst = Some(InstanceErrors {
                clip,
                time: time.secs,
                instance: left.instances[d].id,
                mesh: left.instances[d].mesh,
                point,
                error,
            });
        }
    }

    /// The errors at `times`, and the largest at each.
    fn compare(
        &self,
        times: &[FrameTime],
        what: &str,
        task: &Task,
    ) -> Result<(Comparison, Vec<(FrameTime, f64)>), Cancelled> {
        let mut measured = Vec::with_capacity(times.len());
        let mut comparison = Comparison {
            diagonal: self.diagonal,
            rounding: self.left.0.rounding(self.diagonal) / self.diagonal,
            n_moments: times.len(),
            ..Comparison::default()
        };
        let mut counts = vec![0u64; N_BINS + 1];
        let mut angles = AngleHistogram::default();
        let (mut square, mut n) = (0.0, 0u64);
        for (done, stretch) in times.chunks(STRETCH).enumerate() {
            task.step(what, (done * STRETCH) as f32 / times.len() as f32)?;
            for (&time, looked) in stretch.iter().zip(self.measure(stretch, task)?) {
                self.keep_worst(&mut comparison, time, &looked);
                measured.push((time, looked.largest()));
                square += looked.square;
                n += looked.n;
                looked
                    .counts
                    .into_iter()
                    .for_each(|(step, count)| counts[step] += count);
                angles.append(&looked.angles);
            }
        }
        comparison.rms = (square / n.max(1) as f64).sqrt();
        let mut above = 0;
        for (step, count) in counts.iter().enumerate().rev() {
            above += count;
            if above as f64 > 0.001 * n as f64 {
                // The last bin has no upper end.
                let end = if step < N_BINS {
                    (step + 1) as f64 * BIN
                } else {
                    f64::INFINITY
                };
                comparison.p999 = end.min(comparison.max);
                break;
            }
        }
        comparison.normals = angles.angles();
        Ok((comparison, measured))
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
                let error = 0.0.worse(f64::from(target.distance(*place)) / self.diagonal);
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
