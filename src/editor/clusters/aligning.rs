//! Recordings of several devices on one clock: by their stamps, with claps as stamps, and by channels that show the same
//! motion. Each change is one undo step.

use crate::cluster::channel::{RecordingId, RecordingItem};
use crate::editor::Editor;
use crate::editor::jobs::EditorJob;
use crate::evaluate::{JobError, JobHandle};
use crate::finding::counted;
use crate::motion::align::{ClockFit, ClockMap, Peak, find_peaks};
use crate::motion::correlate::{CorrelateError, Samples, Suggestion, motion_of, suggest_offset};
use crate::motion::stamp_pairs::{
    fit_pairs, moment_uncertainty, moments, pairs_uncertainty, stamp_pairs,
};
use crate::motion::{Event, Recording};
use crate::task::Task;
use std::collections::BTreeMap;
use std::sync::Arc;

/// More peaks than this are no claps.
const MAX_CLAPS: usize = 100;
/// The names of stamps that claps become begin with this.
const CLAP: &str = "peak ";

/// What recordings are aligned by, and what was found.
#[derive(Default)]
pub(in crate::editor) struct Aligning {
    reference: Option<RecordingId>,
    /// The chosen channels.
    channels: BTreeMap<RecordingId, String>,
    report: Option<Report>,
    finding: Option<Finding>,
    comparing: Option<Comparing>,
    suggested: Option<SuggestedOffset>,
}

/// What an alignment found, while the clock is the one it made.
struct Report {
    recording: RecordingId,
    clock: ClockMap,
    lines: Vec<String>,
}

/// The search for claps.
struct Finding {
    recording: RecordingId,
    content: Arc<Recording>,
    channel: String,
    job: JobHandle<Vec<Peak>>,
}

/// The comparison of two channels.
struct Comparing {
    of: Compared,
    job: JobHandle<Result<Suggestion, CorrelateError>>,
}

/// The channels that were compared: of the reference and of the recording that is moved.
#[derive(Clone)]
struct Compared {
    items: [(RecordingId, Arc<RecordingItem>); 2],
    channels: [String; 2],
}

/// An offset that aligns two recordings by a channel of each.
pub struct SuggestedOffset {
    of: Compared,
    /// What was found.
    pub found: Suggestion,
}

impl Aligning {
    /// Drops everything, for another model.
    pub(in crate::editor) fn forget_model(&mut self) {
        if let Some(finding) = &self.finding {
            finding.job.task().cancel();
        }
        if let Some(comparing) = &self.comparing {
            comparing.job.task().cancel();
        }
        *self = Self::default();
    }
}

impl SuggestedOffset {
    /// It in one or two sentences.
    pub fn text(&self) -> String {
        let Suggestion {
            best,
            rival,
            overlap,
            rate,
        } = self.found;
        let [reference, moved] = &self.of.channels;
        let about = format!("{moved} against {reference}, {overlap:.1} s at {rate:.0} Hz.");
        let (offset, fit) = (best.offset, best.coefficient);
        if self.found.is_clear() {
            return format!("Offset {offset:+.3} s, correlation {fit:.2}: {about}");
        }
        let others = rival.filter(|rival| rival.coefficient > 0.9 * fit && fit >= 0.5);
        let why = match others {
            Some(rival) => format!(
                "{offset:+.3} s (correlation {fit:.2}) and {:+.3} s ({:.2}) fit nearly as well",
                rival.offset, rival.coefficient
            ),
            None => format!("the best one, {offset:+.3} s, has a correlation of only {fit:.2}"),
        };
        format!("No offset is clear: {why}. {about}")
    }
}

impl Editor {
    /// The recording with which the active one is aligned: the chosen one, else the first other one; `None` without one that
    /// can be read.
    pub fn alignment_reference(&self) -> Option<RecordingId> {
        let active = self.active_recording();
        let recordings = self.document.recordings().iter();
        let mut others =
            recordings.filter(|(id, item)| Some(**id) != active && item.content.is_ok());
        let chosen = self.aligning.reference;
        let found = others.clone().find(|(id, _)| Some(**id) == chosen);
        found.or_else(|| others.next()).map(|(id, _)| *id)
    }

    /// Chooses the recording with which the active one is aligned.
    pub fn set_alignment_reference(&mut self, reference: RecordingId) {
        self.aligning.reference = Some(reference);
    }

    /// The channels of a recording that show motion: scalars as they are, rotations and markers by their speed.
    pub fn motion_channels(&self, recording: RecordingId) -> Vec<String> {
        let item = self.document.recordings().get(&recording);
        let Some(of) = item.and_then(|item| item.recording()) else {
            return Vec::new();
        };
        let scalars = of.scalars.iter().map(|track| &track.name);
        let rotations = of.rotations.iter().map(|track| &track.name);
        let markers = of.markers.iter().map(|track| &track.name);
        scalars.chain(rotations).chain(markers).cloned().collect()
    }

    /// The channel of a recording in which claps are found and which is compared: the chosen one, else the first.
    pub fn motion_channel(&self, recording: RecordingId) -> Option<String> {
        let channels = self.motion_channels(recording);
        let chosen = self.aligning.channels.get(&recording);
        let found = chosen.filter(|name| channels.contains(name)).cloned();
        found.or_else(|| channels.into_iter().next())
    }

    /// Chooses the channel of a recording in which claps are found and which is compared.
    pub fn set_motion_channel(&mut self, recording: RecordingId, channel: &str) {
        let channels = &mut self.aligning.channels;
        channels.insert(recording, channel.to_owned());
    }

    /// Why the active recording has no channel in which to find claps; `None` where it has one.
    pub fn why_not_find_claps(&self) -> Option<&'static str> {
        let Some((id, item)) = self.active_item() else {
            return Some("Add a recording first.");
        };
        if item.content.is_err() {
            return Some("The active recording cannot be read: relink its file first.");
        }
        let has_none = self.motion_channels(id).is_empty();
        has_none.then_some("The active recording has only text, no numbers.")
    }

    /// Why the active recording cannot be compared with the reference; `None` where it can.
    pub fn why_not_suggest_offset(&self) -> Option<&'static str> {
        if let Some(why) = self.why_not_find_claps() {
            return Some(why);
        }
        let Some(reference) = self.alignment_reference() else {
            return Some("Add another recording first: the active one is aligned with it.");
        };
        let has_none = self.motion_channels(reference).is_empty();
        has_none.then_some("The reference has only text, no numbers.")
    }

    /// Why the active recording cannot be aligned by stamps; `None` where it can.
    pub fn why_not_align(&self) -> Option<&'static str> {
        let Some((_, item)) = self.active_item() else {
            return Some("Add a recording first.");
        };
        let Some(of) = item.recording() else {
            return Some("The active recording cannot be read: relink its file first.");
        };
        let Some((reference, theirs)) = self.reference_item() else {
            return Some("Add another recording first: the active one is aligned with it.");
        };
        let [own, theirs] = [
            moments(of, &item.stamps),
            moments(theirs, &reference.stamps),
        ];
        let pairs = stamp_pairs(&own, &theirs, reference.clock);
        pairs.is_empty().then_some(
            "No stamp or event has the same name in both recordings: find claps in both, or rename their stamps.",
        )
    }

    /// Aligns the active recording with the reference by the stamps and events that have equal names in both: one sets the
    /// offset of its clock, more set the drift too. One undo step.
    pub fn align_by_stamps(&mut self) {
        self.finish_tool();
        if let Some(why) = self.why_not_align() {
            self.notify(why);
            return;
        }
        let Some((id, item)) = self.active_item() else {
            return;
        };
        let item = item.clone();
        let Some((of, (reference, theirs))) = item.recording().zip(self.reference_item()) else {
            return;
        };
        let found = fitted((&item, of), (reference, theirs));
        let title = reference.name.clone();
        let (fit, names) = match found {
            Ok(found) => found,
            Err(why) => {
                self.notify_error(format!("{} stays as it is: {why}.", item.name));
                return;
            }
        };
        let lines = report(&fit, &names, &title);
        if fit.map == item.clock {
            self.notify(format!("{} is aligned already. {}", item.name, lines[0]));
        } else {
            let mut next = RecordingItem::clone(&item);
            next.clock = fit.map;
            if !self.change_stamps(id, next, &format!("Align by stamps · {}", item.name)) {
                return;
            }
            self.notify(lines[0].clone());
        }
        self.aligning.report = Some(Report {
            recording: id,
            clock: fit.map,
            lines,
        });
    }

    /// What the alignment of the active recording found, sentences; empty without one, or where its clock is another one
    /// now.
    pub fn alignment_report(&self) -> &[String] {
        let known = self.aligning.report.as_ref().zip(self.active_item());
        let known = known
            .filter(|(report, (id, item))| report.recording == *id && report.clock == item.clock);
        known.map_or(&[], |(report, _)| &report.lines)
    }

    /// Starts to find claps in the chosen channel of the active recording, in the background: sharp peaks become stamps.
    pub fn find_claps(&mut self) {
        self.finish_tool();
        if let Some(why) = self.why_not_find_claps() {
            self.notify(why);
            return;
        }
        let Some((recording, item)) = self.active_item() else {
            return;
        };
        let channel = self.motion_channel(recording);
        let Some((content, channel)) = item.content.as_ref().ok().cloned().zip(channel) else {
            return;
        };
        let label = format!("Finding claps in {}", item.name);
        let (theirs, name) = (content.clone(), channel.clone());
        let work = move |_: &Task| {
            let values = motion_of(&theirs, &name).unwrap_or_default();
            find_peaks(&theirs.times, &values)
        };
        let job = self.lane.submit(EditorJob::FindClaps, &label, work);
        self.aligning.finding = Some(Finding {
            recording,
            content,
            channel,
            job,
        });
    }

    /// Takes the claps that were found: they replace those of an earlier search, as one undo step.
    pub(in crate::editor) fn take_claps(&mut self) {
        let finding = &mut self.aligning.finding;
        let Some(ended) = finding.take_if(|finding| finding.job.has_ended()) else {
            return;
        };
        let peaks = match ended.job.into_result() {
            Ok(peaks) => peaks,
            Err(JobError::Cancelled) => return,
            Err(why @ JobError::Failed) => return self.notify_error(why.to_string()),
        };
        let item = self.document.recordings().get(&ended.recording).cloned();
        let item = item.filter(|item| {
            let content = item.content.as_ref().ok();
            content.is_some_and(|content| Arc::ptr_eq(content, &ended.content))
        });
        let Some(item) = item else {
            self.notify("The recording changed while claps were found in it. Find claps again.");
            return;
        };
        let (n, channel) = (peaks.len(), &ended.channel);
        if n == 0 {
            self.notify(format!(
                "No peak stands out in {channel}: choose a channel in which a clap is a sharp peak."
            ));
            return;
        }
        if n > MAX_CLAPS {
            self.notify(format!(
                "{channel} has {n} peaks, which are hardly claps: choose a channel in which only claps stand out."
            ));
            return;
        }
        let mut next = RecordingItem::clone(&item);
        next.stamps.retain(|stamp| !is_clap(&stamp.name));
        let widest = peaks.iter().map(|peak| peak.width).fold(0.0, f64::max);
        let claps = (1..).zip(peaks).map(|(i, peak)| Event {
            name: format!("{CLAP}{i}"),
            time: peak.time,
            width: peak.width,
        });
        next.stamps.extend(claps);
        next.stamps.sort_by(|a, b| a.time.total_cmp(&b.time));
        let said = format!(
            "{} found in {channel}, at most {:.0} ms wide.",
            counted(n, "peak"),
            widest * 1e3
        );
        if next.stamps == item.stamps {
            self.notify(format!("{said} They are stamps already."));
        } else if self.change_stamps(
            ended.recording,
            next,
            &format!("Find claps · {}", item.name),
        ) {
            self.notify(said);
        }
    }

    /// Starts to compare the chosen channels of the active recording and of the reference, in the background.
    pub fn suggest_offset(&mut self) {
        if let Some(why) = self.why_not_suggest_offset() {
            self.notify(why);
            return;
        }
        let Some(of) = self.compared() else {
            return;
        };
        if let Some(comparing) = &self.aligning.comparing {
            comparing.job.task().cancel();
        }
        self.aligning.suggested = None;
        let label = format!(
            "Comparing {} with {}",
            of.items[1].1.name, of.items[0].1.name
        );
        let theirs = of.clone();
        let work = move |task: &Task| {
            let [reference, moved] = [theirs.samples(0), theirs.samples(1)];
            suggest_offset(&reference, &moved, task)
        };
        let job = self.lane.submit(EditorJob::SuggestOffset, &label, work);
        self.aligning.comparing = Some(Comparing { of, job });
    }

    /// Takes a comparison that has ended.
    pub(in crate::editor) fn take_suggested_offset(&mut self) {
        let comparing = &mut self.aligning.comparing;
        let Some(ended) = comparing.take_if(|comparing| comparing.job.has_ended()) else {
            return;
        };
        match ended.job.into_result() {
            Ok(Ok(found)) => {
                let suggested = SuggestedOffset {
                    of: ended.of,
                    found,
                };
                self.notify(suggested.text());
                self.aligning.suggested = Some(suggested);
            }
            Ok(Err(CorrelateError::Cancelled)) | Err(JobError::Cancelled) => {
                self.notify("Cancelled. No offset is suggested.");
            }
            Ok(Err(why)) => self.notify(format!("No offset is suggested: {why}.")),
            Err(why @ JobError::Failed) => self.notify_error(why.to_string()),
        }
    }

    /// The offset that was suggested for the active recording; `None` without one, or where a recording or a clock is
    /// another one now.
    pub fn suggested_offset(&self) -> Option<&SuggestedOffset> {
        let suggested = self.aligning.suggested.as_ref()?;
        let recordings = self.document.recordings();
        let is_same = suggested.of.items.iter().all(|(id, known)| {
            let item = recordings.get(id);
            item.is_some_and(|item| item == known)
        });
        let is_shown = self.active_recording() == Some(suggested.of.items[1].0);
        (is_same && is_shown).then_some(suggested)
    }

    /// Why there is no suggested offset to apply; `None` where there is.
    pub fn why_not_apply_offset(&self) -> Option<&'static str> {
        let has_none = self.suggested_offset().is_none();
        has_none.then_some("Suggest an offset for the active recording first.")
    }

    /// Moves the active recording by the suggested offset. One undo step.
    pub fn apply_suggested_offset(&mut self) {
        self.finish_tool();
        let Some(suggested) = self.suggested_offset() else {
            self.notify("Suggest an offset for the active recording first.");
            return;
        };
        let (id, item) = suggested.of.items[1].clone();
        let mut next = RecordingItem::clone(&item);
        next.clock.b += suggested.found.best.offset;
        self.change_stamps(id, next, &format!("Apply suggested offset · {}", item.name));
    }

    fn active_item(&self) -> Option<(RecordingId, &Arc<RecordingItem>)> {
        let id = self.active_recording()?;
        Some((id, self.document.recordings().get(&id)?))
    }

    fn reference_item(&self) -> Option<(&Arc<RecordingItem>, &Recording)> {
        let item = self
            .document
            .recordings()
            .get(&self.alignment_reference()?)?;
        Some((item, item.recording()?))
    }

    fn compared(&self) -> Option<Compared> {
        let of = |id: RecordingId| {
            let item = self.document.recordings().get(&id)?.clone();
            Some(((id, item), self.motion_channel(id)?))
        };
        let (reference, theirs) = of(self.alignment_reference()?)?;
        let (moved, own) = of(self.active_recording()?)?;
        Some(Compared {
            items: [reference, moved],
            channels: [theirs, own],
        })
    }
}

impl Compared {
    /// The channel of one of them on the common clock; empty where it cannot be read.
    fn samples(&self, at: usize) -> Samples {
        let item = &self.items[at].1;
        let name = format!("{}: {}", item.name, self.channels[at]);
        let of = item.recording();
        let values = of.and_then(|of| motion_of(of, &self.channels[at]));
        let (times, values) = match of.zip(values) {
            Some((of, values)) => {
                let times = of.times.iter().map(|time| item.clock.common(*time));
                (times.collect(), values)
            }
            None => (Vec::new(), Vec::new()),
        };
        Samples {
            name,
            times,
            values,
        }
    }
}

/// The clock of a recording that fits a reference by their moments, and the names of the pairs.
fn fitted(
    (item, of): (&RecordingItem, &Recording),
    (reference, theirs): (&RecordingItem, &Recording),
) -> Result<(ClockFit, Vec<String>), String> {
    let own = moments(of, &item.stamps);
    let others = moments(theirs, &reference.stamps);
    let pairs = stamp_pairs(&own, &others, reference.clock);
    let times: Vec<f64> = others.iter().map(|moment| moment.time).collect();
    // Stamps are no better than the samples, even between them, or than their peaks.
    let by_hand = !reference.stamps.is_empty();
    let steps = [
        moment_uncertainty(of, &[], true),
        moment_uncertainty(theirs, &times, by_hand),
    ];
    let uncertainty = pairs_uncertainty(
        &pairs,
        [(&own, of), (&others, theirs)],
        steps,
        reference.clock,
    );
    let fit = fit_pairs(&pairs, item.clock, uncertainty).map_err(|why| why.to_string())?;
    Ok((fit, pairs.into_iter().map(|pair| pair.name).collect()))
}

/// What a fit found, sentences.
fn report(fit: &ClockFit, names: &[String], reference: &str) -> Vec<String> {
    let pairs = counted(names.len(), "pair");
    let drift = fit.map.drift();
    let mut lines = Vec::new();
    match fit.drift_error {
        None => lines.push(format!(
            "{pairs} with {reference}: the offset is set, the drift stays {drift:.1} ppm."
        )),
        Some(error) if fit.has_no_drift => {
            lines.push(format!(
                "{pairs} with {reference}: the drift is not distinguishable from none (± {error:.0} ppm)."
            ));
            lines.push("Pairs that are farther apart tell more about the drift.".to_owned());
        }
        Some(error) => lines.push(format!(
            "{pairs} with {reference}: drift {drift:.1} ± {error:.0} ppm."
        )),
    }
    let off = fit.residuals.iter().zip(names).zip(&fit.is_odd);
    let off: Vec<((&f64, &String), &bool)> = off.collect();
    let largest = off
        .iter()
        .max_by(|a, b| a.0.0.abs().total_cmp(&b.0.0.abs()));
    if let Some(((off, name), _)) = largest.filter(|_| names.len() > 1) {
        let ms = off.abs() * 1e3;
        lines.push(format!("Largest residual {ms:.2} ms, at {name}."));
    }
    for ((off, name), _) in off.iter().filter(|(_, odd)| **odd) {
        let ms = off.abs() * 1e3;
        lines.push(format!(
            "{name} is off by {ms:.2} ms, far more than the others."
        ));
    }
    lines.extend(fit.map.warning());
    lines
}

/// Whether a name is that of a stamp made of a clap.
fn is_clap(name: &str) -> bool {
    let number = name.strip_prefix(CLAP);
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}
