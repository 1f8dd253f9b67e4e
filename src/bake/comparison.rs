//! Errors of a file over its clips, however it is played: at the times compared, at peaks between them, and in jumps.

use crate::bake::compared_times::ComparedTimes;
use crate::bake::normal_angles::{AngleHistogram, Angles};
use crate::bake::peaks::{Peak, ROUNDS};
use crate::bake::problem::sampler::{Clips, FrameTime, Sampler};
use crate::document::{ClipId, InstanceId, MeshId};
use crate::math::Worse;
use crate::task::{Cancelled, Task};
use std::collections::BTreeMap;

/// The bin width of the error histogram, as a fraction of the diagonal: the resolution of percentiles, 1/500 of the
/// default tolerance.
const BIN: f64 = 2e-6;
const N_BINS: usize = 100_000;
/// Times that are evaluated together, an even number, unless their positions and normals would take more memory than this.
const STRETCH: usize = 64;
const STRETCH_BYTES: usize = 256 << 20;
/// The memory of a point and its normals at one time, with and without correction.
const POINT_BYTES: usize = 72;
/// Peaks of errors below this are not followed: it is the smallest tolerance, as a fraction of the diagonal.
const LEAST_PEAK: f64 = 1e-5;
/// Nor are peaks of clips that remain below this fraction of the file's largest error.
const LEAST_SHARE: f64 = 0.5;

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
    /// The largest error found within jumps, which is in no other figure.
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

impl Comparison {
    /// Of a file whose clips do not match: the error is unknown.
    pub(super) fn unknown(diagonal: f64) -> Self {
        Self {
            diagonal,
            max: f64::INFINITY,
            ..Self::default()
        }
    }

    /// Sets the rounding of a player of the document.
    pub(super) fn set_rounding(&mut self, sampler: &Sampler<'_>) {
        self.rounding = sampler.rounding(self.diagonal) / self.diagonal;
    }

    /// Keeps the largest error of a time if it is the largest so far.
    fn keep_worst(&mut self, player: &impl Player, time: FrameTime, found: &FrameErrors) {
        let (sampler, clips) = player.seen();
        let (Some((error, d, point)), Some(clip)) = (found.worst, time.clip) else {
            return;
        };
        let clip = clips.ids[clip];
        let of_clip = self.by_clip.entry(clip).or_default();
        *of_clip = of_clip.worse(error);
        if self.worst.is_none() || error > self.max {
            self.max = error;
            self.worst = Some(InstanceErrors {
                clip,
                time: time.secs,
                instance: sampler.instances[d].id,
                mesh: sampler.instances[d].mesh,
                point,
                error,
            });
        }
    }
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
#[derive(Default)]
pub(super) struct FrameErrors {
    counts: BTreeMap<usize, u64>,
    square: f64,
    n: u64,
    /// The largest, with its instance and point.
    worst: Option<(f64, usize, u32)>,
    angles: AngleHistogram,
}

impl FrameErrors {
    /// Adds the error of a point of an instance, as a fraction of the diagonal.
    pub(super) fn add(&mut self, error: f64, instance: usize, point: usize) {
        let error = 0.0.worse(error);
        self.square += error * error;
        self.n += 1;
        let bin = ((error / BIN) as usize).min(N_BINS);
        *self.counts.entry(bin).or_default() += 1;
        if self.worst.is_none_or(|worst| error > worst.0) {
            self.worst = Some((error, instance, point as u32));
        }
    }

    /// Adds an instance that the file does not have: its error is infinite.
    pub(super) fn add_missing(&mut self, instance: usize) {
        self.worst = Some((f64::INFINITY, instance, 0));
    }

    /// Adds the angle of a normal, degrees.
    pub(super) fn add_angle(&mut self, degrees: f64) {
        self.angles.add(degrees);
    }

    fn largest(&self) -> f64 {
        self.worst.map_or(0.0, |worst| worst.0)
    }
}

/// The errors of a file at one time.
pub(super) struct Measured {
    pub(super) file: FrameErrors,
    /// Those of the file without correction, if they are asked for and there is one.
    pub(super) plain: Option<FrameErrors>,
}

/// The errors of a file over its clips.
pub(super) struct Compared {
    pub(super) found: Comparison,
    /// Those of the uncorrected file at the same times, without peaks and jumps.
    pub(super) plain: Option<Comparison>,
    /// The largest error at each time outside jumps.
    pub(super) measured: Vec<(FrameTime, f64)>,
}

impl Compared {
    /// Of a file whose clips do not match: the error is unknown.
    pub(super) fn unknown(diagonal: f64) -> Self {
        Self {
            found: Comparison::unknown(diagonal),
            plain: None,
            measured: Vec::new(),
        }
    }
}

/// A file as a player shows it, beside the document that it is compared with.
pub(super) trait Player {
    /// The document, with the clips that the file has.
    fn seen(&self) -> (&Sampler<'_>, &Clips<'_>);

    /// The diagonal of the document's bounding box in the rest pose, metres.
    fn diagonal(&self) -> f64;

    /// Whether there is a file without correction.
    fn has_plain(&self) -> bool;

    /// The errors at each of a few times. `with_plain`: also those of the file without correction.
    fn measure_with(
        &self,
        with_plain: bool,
        times: &[FrameTime],
        task: &Task,
    ) -> Result<Vec<Measured>, Cancelled>;

    /// The errors at each of a few times.
    fn measure(&self, times: &[FrameTime], task: &Task) -> Result<Vec<FrameErrors>, Cancelled> {
        let found = self.measure_with(false, times, task)?.into_iter();
        Ok(found.map(|found| found.file).collect())
    }
}

/// The number of times that are evaluated together. Even, since following a peak takes two.
fn stretch_of(player: &impl Player) -> usize {
    let sampler = player.seen().0;
    let items = sampler.instances.iter();
    let items = items.filter_map(|drawn| sampler.item(drawn.mesh));
    let n_points: usize = items.map(|item| item.geometry.n_points()).sum();
    (STRETCH_BYTES / (POINT_BYTES * n_points.max(1))).clamp(2, STRETCH) / 2 * 2
}

/// Compares a file at the times of each clip, between them around the largest errors, and in jumps, which are measured apart.
pub(super) fn compare_closely(
    player: &impl Player,
    times: &[(usize, ComparedTimes)],
    task: &Task,
) -> Result<Compared, Cancelled> {
    let mut compared = compare_at(player, times, "Verifying the file", task)?;
    let Compared {
        found, measured, ..
    } = &mut compared;
    follow_peaks(player, found, measured, task)?;
    let in_jumps = frame_times(times, |times| &times.in_jumps);
    for stretch in in_jumps.chunks(stretch_of(player)) {
        let errors = player.measure(stretch, task)?;
        let errors = errors.iter().filter_map(|found| Some(found.worst?.0));
        found.max_in_jumps = errors.fold(found.max_in_jumps, f64::worse);
    }
    Ok(compared)
}

/// Compares a file at the times outside jumps of each clip.
pub(super) fn compare_at(
    player: &impl Player,
    times: &[(usize, ComparedTimes)],
    what: &str,
    task: &Task,
) -> Result<Compared, Cancelled> {
    let times = frame_times(times, |times| &times.outside_jumps);
    let mut measured = Vec::with_capacity(times.len());
    let mut file = Tally::new(player.diagonal());
    let mut plain = player.has_plain().then(|| Tally::new(player.diagonal()));
    let stretch = stretch_of(player);
    for (done, some) in times.chunks(stretch).enumerate() {
        task.step(what, (done * stretch) as f32 / times.len() as f32)?;
        let found = player.measure_with(true, some, task)?;
        for (&time, found) in some.iter().zip(found) {
            measured.push((time, found.file.largest()));
            file.add(player, time, found.file);
            if let Some((plain, found)) = plain.as_mut().zip(found.plain) {
                plain.add(player, time, found);
            }
        }
    }
    Ok(Compared {
        found: file.comparison(),
        plain: plain.map(Tally::comparison),
        measured,
    })
}

/// The errors at all times so far.
struct Tally {
    comparison: Comparison,
    counts: Vec<u64>,
    angles: AngleHistogram,
    square: f64,
    n: u64,
}

impl Tally {
    fn new(diagonal: f64) -> Self {
        Self {
            comparison: Comparison {
                diagonal,
                ..Comparison::default()
            },
            counts: vec![0; N_BINS + 1],
            angles: AngleHistogram::default(),
            square: 0.0,
            n: 0,
        }
    }

    fn add(&mut self, player: &impl Player, time: FrameTime, found: FrameErrors) {
        self.comparison.keep_worst(player, time, &found);
        self.comparison.n_moments += 1;
        self.square += found.square;
        self.n += found.n;
        for (bin, count) in found.counts {
            self.counts[bin] += count;
        }
        self.angles.append(&found.angles);
    }

    fn comparison(self) -> Comparison {
        let mut comparison = self.comparison;
        comparison.rms = (self.square / self.n.max(1) as f64).sqrt();
        let mut above = 0;
        for (bin, count) in self.counts.iter().enumerate().rev() {
            above += count;
            if above as f64 > 0.001 * self.n as f64 {
                // The last bin has no upper end.
                let end = if bin < N_BINS {
                    (bin + 1) as f64 * BIN
                } else {
                    f64::INFINITY
                };
                comparison.p999 = end.min(comparison.max);
                break;
            }
        }
        comparison.normals = self.angles.angles();
        comparison
    }
}

/// Measures the error around the peaks of each clip, between the times `measured`, and adds what it finds to them.
fn follow_peaks(
    player: &impl Player,
    comparison: &mut Comparison,
    measured: &mut Vec<(FrameTime, f64)>,
    task: &Task,
) -> Result<(), Cancelled> {
    if !comparison.max.is_finite() || comparison.max < LEAST_PEAK {
        return Ok(());
    }
    let mut peaks = Peak::find(measured);
    let mut left = Peak::most(measured.len());
    for round in 0..ROUNDS {
        let (ids, by_clip) = (&player.seen().1.ids, &comparison.by_clip);
        let least = |clip: usize| {
            let of_clip = by_clip.get(&ids[clip]).copied().unwrap_or(0.0);
            of_clip.max(LEAST_SHARE * comparison.max)
        };
        // Half of what is left, so that later rounds have some.
        Peak::keep_highest(&mut peaks, least, left.div_ceil(2));
        left -= peaks.len();
        for (done, some) in peaks.chunks_mut(stretch_of(player) / 2).enumerate() {
            let share = (round * STRETCH + done) as f32 / (ROUNDS * STRETCH) as f32;
            task.step("Verifying the file between keyframes", share.min(1.0))?;
            let times: Vec<FrameTime> = some.iter().flat_map(Peak::middles).collect();
            let found = player.measure(&times, task)?;
            for (peak, found) in some.iter_mut().zip(found.as_chunks::<2>().0) {
                peak.narrow([&found[0], &found[1]].map(FrameErrors::largest));
            }
            for (time, found) in times.iter().zip(&found) {
                comparison.keep_worst(player, *time, found);
                measured.push((*time, found.largest()));
            }
            comparison.n_moments += times.len();
        }
    }
    Ok(())
}

/// One of the lists of times of each clip.
fn frame_times(
    times: &[(usize, ComparedTimes)],
    which: impl Fn(&ComparedTimes) -> &[f64],
) -> Vec<FrameTime> {
    let of_clips = times.iter().flat_map(|(clip, times)| {
        let times = which(times).iter();
        times.map(|&secs| FrameTime {
            clip: Some(*clip),
            secs,
        })
    });
    of_clips.collect()
}
