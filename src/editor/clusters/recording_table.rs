//! The values of recordings at common times, written as a table in the background.

use crate::cluster::channel::RecordingId;
use crate::editor::Editor;
use crate::editor::files::file_name;
use crate::editor::jobs::EditorJob;
use crate::evaluate::{JobError, JobHandle};
use crate::finding::{counted, trimmed};
use crate::io::Outputs;
use crate::motion::Recording;
use crate::motion::aggregate::{Aggregate, MAX_VALUES, Stream, frame_times, overlap};
use crate::motion::align::ClockMap;
use crate::task::Task;
use glam::DQuat;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The range of the rate, rows a second.
pub const TABLE_RATES: std::ops::RangeInclusive<f64> = 1.0..=1000.0;
/// The message after a cancelled export.
const CANCELLED: &str = "Cancelled. No table was written.";

/// How recordings become a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TableOptions {
    /// Rows a second.
    pub rate: f64,
    /// Whether the active recording alone is written.
    pub only_active: bool,
    /// Whether rows are left out in which a channel has no value.
    pub only_valid: bool,
}

impl Default for TableOptions {
    fn default() -> Self {
        Self {
            rate: 60.0,
            only_active: false,
            only_valid: false,
        }
    }
}

/// The options, and the tables that are being computed and written.
#[derive(Default)]
pub(in crate::editor) struct RecordingTables {
    options: TableOptions,
    computing: Vec<TableJob<Computed>>,
    writing: Vec<TableJob<String>>,
}

impl RecordingTables {
    /// The first table that is not written yet.
    pub(in crate::editor) fn unwritten(&self) -> Option<(&PathBuf, &Task)> {
        let computing = self.computing.iter().map(|of| (&of.path, of.job.task()));
        let writing = self.writing.iter().map(|of| (&of.path, of.job.task()));
        computing.chain(writing).next()
    }
}

/// A table that is being computed or written.
struct TableJob<T> {
    path: PathBuf,
    job: JobHandle<Result<T, String>>,
}

/// A table in memory.
struct Computed {
    path: PathBuf,
    bytes: Vec<u8>,
    /// What it holds, in a sentence.
    said: String,
}

/// A recording by its name, on the clock of the timeline.
struct Named {
    name: String,
    recording: Arc<Recording>,
    clock: ClockMap,
}

/// What a table is made of.
struct TableRequest {
    streams: Vec<Named>,
    /// The number of recordings that cannot be read.
    n_unread: usize,
    /// Seconds of the timeline; `None`: as long as all streams have samples.
    range: Option<[f64; 2]>,
    options: TableOptions,
    /// By name, the rest rotations of the model's joints.
    rest: BTreeMap<String, DQuat>,
}

impl Editor {
    /// How recordings become a table.
    pub fn table_options(&self) -> TableOptions {
        self.recording_tables.options
    }

    /// Sets how recordings become a table; a rate outside of [`TABLE_RATES`] is clamped.
    pub fn set_table_options(&mut self, options: TableOptions) {
        let (low, high) = (*TABLE_RATES.start(), *TABLE_RATES.end());
        let rate = if options.rate.is_finite() {
            options.rate.clamp(low, high)
        } else {
            self.recording_tables.options.rate
        };
        self.recording_tables.options = TableOptions { rate, ..options };
    }

    /// Writes the channels of the recordings at common times as CSV or, to a .jsonl file, as JSON lines: over the loop range of the
    /// timeline, otherwise as long as all of them have samples.
    pub fn export_table(&mut self, path: &Path) {
        let options = self.recording_tables.options;
        let active = self.active_recording().filter(|_| options.only_active);
        let is_chosen = |id: &RecordingId| active.is_none_or(|active| active == *id);
        let items = self.document.recordings().iter();
        let items = items.filter(|(id, _)| is_chosen(id));
        let streams = items.filter_map(|(_, item)| {
            Some(Named {
                name: item.name.clone(),
                recording: item.content.as_ref().ok()?.clone(),
                clock: item.clock,
            })
        });
        let streams: Vec<Named> = streams.collect();
        if streams.is_empty() {
            self.notify(if active.is_some() {
                "The active recording cannot be read: relink its file first."
            } else {
                "There is no recording that can be read: record or import one first."
            });
            return;
        }
        let recordings = self.document.recordings().iter();
        let n_chosen = recordings.filter(|(id, _)| is_chosen(id)).count();
        let n_unread = n_chosen - streams.len();
        let skeleton = self.document.skeleton();
        let rest = skeleton.live_joints().map(|joint| {
            let joint = skeleton.joint(joint);
            (joint.name.clone(), joint.rest.rotation)
        });
        let request = TableRequest {
            streams,
            n_unread,
            range: self.playback().range.map(|(from, to)| [from, to]),
            options,
            rest: rest.collect(),
        };
        let (theirs, outputs) = (path.to_owned(), self.outputs());
        let label = format!("Computing {}", file_name(path));
        let work = move |task: &Task| compute(&request, &theirs, outputs, task);
        let job = self.lane.submit(EditorJob::ComputeTable, &label, work);
        let path = path.to_owned();
        self.recording_tables.computing.push(TableJob { path, job });
    }

    /// Takes a computed table, and writes it.
    pub(in crate::editor) fn take_computed_table(&mut self) {
        let Some(computed) = ended(&mut self.recording_tables.computing) else {
            return;
        };
        match computed {
            Ok(Computed { path, bytes, said }) => {
                // Meanwhile the file may have become an input.
                let output = match self.outputs().claim(&path) {
                    Ok(output) => output,
                    Err(why) => {
                        self.count_unwritten_export();
                        return self.notify_error(why.to_string());
                    }
                };
                let label = format!("Writing {}", file_name(&path));
                let work = move |task: &Task| {
                    let staged = output.stage(&bytes, task).map_err(|why| why.to_string())?;
                    staged.publish().map_err(|why| why.to_string())?;
                    Ok(said)
                };
                let job = self.lane.submit(EditorJob::WriteTable, &label, work);
                self.recording_tables.writing.push(TableJob { path, job });
            }
            Err(notice) => self.notify_ended(notice),
        }
    }

    /// Takes a table that was written.
    pub(in crate::editor) fn take_table(&mut self) {
        match ended(&mut self.recording_tables.writing) {
            Some(Ok(said)) => self.notify(said),
            Some(Err(notice)) => self.notify_ended(notice),
            None => {}
        }
    }

    fn notify_ended(&mut self, ended: Ended) {
        self.count_unwritten_export();
        match ended {
            Ended::Cancelled => self.notify(CANCELLED),
            Ended::Failed(why) => self.notify_error(why),
        }
    }
}

/// Why a job has no result.
enum Ended {
    Cancelled,
    Failed(String),
}

/// The result of the first job that has ended.
fn ended<T>(jobs: &mut Vec<TableJob<T>>) -> Option<Result<T, Ended>> {
    let at = jobs.iter().position(|of| of.job.has_ended())?;
    let TableJob { job, .. } = jobs.remove(at);
    let is_cancelled = job.task().is_cancelled();
    Some(match job.into_result() {
        Ok(Ok(made)) => Ok(made),
        Err(JobError::Cancelled) => Err(Ended::Cancelled),
        Ok(Err(_)) if is_cancelled => Err(Ended::Cancelled),
        Ok(Err(why)) => Err(Ended::Failed(why)),
        Err(error @ JobError::Failed) => Err(Ended::Failed(error.to_string())),
    })
}

/// Computes a table in memory.
fn compute(
    request: &TableRequest,
    path: &Path,
    mut outputs: Outputs,
    task: &Task,
) -> Result<Computed, String> {
    // Refused before the work, not after it.
    outputs.claim(path).map_err(|why| why.to_string())?;
    let streams: Vec<Stream<'_>> = request
        .streams
        .iter()
        .map(|of| Stream {
            name: &of.name,
            recording: &of.recording,
            clock: of.clock,
        })
        .collect();
    let Some([start, end]) = request.range.or_else(|| overlap(&streams)) else {
        return Err(
            "The recordings do not overlap in time: drag a lane of the timeline, set a loop range, or export the active recording alone."
                .into(),
        );
    };
    let rate = request.options.rate;
    if let Some(name) = clash(&streams) {
        return Err(format!(
            "Two channels would have the name \"{name}\": rename one of the recordings."
        ));
    }
    // The first column is the time.
    let n_columns = 1 + streams.iter().map(|s| columns(s.recording)).sum::<usize>();
    let n_rows = (end - start) * rate + 1.0;
    if n_rows * n_columns as f64 > MAX_VALUES as f64 {
        return Err(format!(
            "{n_rows:.0} rows of {n_columns} columns are too many: set a loop range, or a lower rate."
        ));
    }
    let at_rest = |joint: &str| request.rest.get(joint).copied().unwrap_or(DQuat::IDENTITY);
    let times = frame_times(start, end, rate);
    let made = Aggregate::new(&streams, times, rate, |_| true, at_rest, task);
    let mut made = made.map_err(|why| format!("A recording cannot be sampled: {why}."))?;
    if request.options.only_valid {
        made.keep_valid();
    }
    if made.times.is_empty() {
        return Err(
            "No rows to export: no row has a value in every channel, or the loop range lies outside the recordings."
                .into(),
        );
    }
    let bytes = made.to_bytes(path, task).map_err(|why| why.to_string())?;
    let mut said = format!(
        "Exported {}: {} of {}, {} to {} s.",
        file_name(path),
        counted(made.times.len(), "row"),
        counted(made.channels.len(), "channel"),
        trimmed((start * 1e3).round() / 1e3),
        trimmed((end * 1e3).round() / 1e3)
    );
    if request.n_unread > 0 {
        let them = if request.n_unread == 1 { "is" } else { "are" };
        let n = counted(request.n_unread, "recording");
        said = format!("{said} {n} could not be read and {them} not in it.");
    }
    Ok(Computed {
        path: path.to_owned(),
        bytes,
        said,
    })
}

/// The number of columns of a recording, each channel with one that says whether it has a value.
fn columns(of: &Recording) -> usize {
    4 * of.markers.len() + 5 * of.rotations.len() + 2 * (of.scalars.len() + of.labels.len())
}

/// A name that two columns would have.
fn clash(streams: &[Stream<'_>]) -> Option<String> {
    let mut known = BTreeSet::new();
    for stream in streams {
        let of = stream.recording;
        let names = of.markers.iter().map(|track| &track.name);
        let names = names.chain(of.rotations.iter().map(|track| &track.name));
        let names = names.chain(of.scalars.iter().map(|track| &track.name));
        let names = names.chain(of.labels.iter().map(|track| &track.name));
        for name in names {
            let column = format!("{}.{name}", stream.name);
            if known.contains(&column) {
                return Some(column);
            }
            known.insert(column);
        }
    }
    None
}
