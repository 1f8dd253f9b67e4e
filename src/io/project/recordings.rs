//! Recordings <-> the project format: their paths and fingerprints, as of the model.

use super::recording_entries::{KeptBlock, RecordingEntry};
use super::{ProjectError, block, paths};
use crate::cluster::channel::{Event, Recording, RecordingId, RecordingItem};
use crate::document::{Document, Edit};
use crate::finding::{Finding, Place};
use crate::io::channels::built_in_item;
use crate::io::motion_item::read_item;
use crate::motion::MotionSource;
use crate::motion::align::ClockMap;
use crate::motion::retarget::BodyMotion;
use crate::motion::table::{parse_kept_json_lines, write_json_lines};
use crate::motion::vmc::take_of_body;
use crate::sample::recording;
use crate::task::Task;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The recordings of a document whose project is saved at `project_path`; with `None` their paths stay absolute.
pub(super) fn collect(
    document: &Document,
    project_path: Option<&Path>,
) -> Result<Vec<RecordingEntry>, ProjectError> {
    let entry = |(id, item): (&RecordingId, &Arc<RecordingItem>)| {
        Ok(RecordingEntry {
            recording: id.0,
            title: item.name.clone(),
            path: match project_path {
                _ if item.is_kept() => String::new(),
                _ if item.path.to_str().is_some_and(is_built_in) => paths::text(&item.path),
                Some(project) => paths::relative(&paths::folder_of(project), &item.path),
                None => paths::text(&paths::real(&item.path)),
            },
            fingerprint: format!("{:016x}", item.fingerprint),
            kept: match item.as_stamped().filter(|_| item.is_kept()) {
                // What this program could not read stays as it was.
                None => item.unread.as_deref().map(KeptBlock::from),
                Some(recording) => Some(keep(recording).map_err(|why| ProjectError::Damaged {
                    place: format!("recording \"{}\"", item.name),
                    why,
                })?),
            },
            timing: item.timing,
            clock: (item.clock != ClockMap::SAME).then_some((item.clock.a, item.clock.b)),
            stamps: item
                .stamps
                .iter()
                .map(|s| (s.name.clone(), s.time))
                .collect(),
            stamp_widths: if item.stamps.iter().any(|stamp| stamp.width > 0.0) {
                item.stamps.iter().map(|stamp| stamp.width).collect()
            } else {
                Vec::new()
            },
            motion: item.motion.as_deref().map(Into::into),
        })
    };
    document.recordings().iter().map(entry).collect()
}

/// The longest text of a kept recording, bytes: half an hour of all bones of a body.
const MAX_KEPT_BYTES: usize = 1 << 30;

/// A recording as JSON lines, compressed.
fn keep(recording: &Recording) -> Result<KeptBlock, String> {
    let mut lines = Vec::new();
    write_json_lines(recording, &mut lines).map_err(|why| why.to_string())?;
    Ok(KeptBlock {
        n_bytes: lines.len(),
        data: block::to_text(&lines)?,
    })
}

/// What [`keep`] made a block of.
fn kept(block: &KeptBlock, task: &Task) -> Result<Recording, String> {
    if block.n_bytes > MAX_KEPT_BYTES {
        return Err("it is too long".into());
    }
    let bytes = block::from_text(&block.data, block.n_bytes)?;
    let text = String::from_utf8(bytes).map_err(|_| "it is not text".to_owned())?;
    parse_kept_json_lines(&text, task).map_err(|why| why.to_string())
}

/// What the path of a recording begins with that ships with a sample, in a project without a folder: Sinew has its content.
const BUILT_IN: &str = "sample:";

fn is_built_in(path: &str) -> bool {
    path.strip_prefix(BUILT_IN).and_then(recording).is_some()
}

/// Takes recordings that ship with a sample from Sinew itself: for the text of a sample project, which has no folder.
pub(super) fn take_built_in(entries: &mut [RecordingEntry]) {
    for entry in entries {
        if recording(&entry.path).is_some() {
            entry.path = format!("{BUILT_IN}{}", entry.path);
        }
    }
}

/// Makes the paths of a project in `folder` absolute.
pub(super) fn resolve(entries: &mut [RecordingEntry], folder: &Path) {
    let has_file = |entry: &&mut RecordingEntry| entry.kept.is_none() && !is_built_in(&entry.path);
    for entry in entries.iter_mut().filter(has_file) {
        entry.path = paths::text(&paths::resolve(folder, &entry.path));
    }
}

/// Adds the recordings to the document. A file that is gone or cannot be read is kept as an item without content, a changed
/// one is read; both are findings.
pub(super) fn restore(
    entries: Vec<RecordingEntry>,
    document: &mut Document,
    findings: &mut Vec<Finding>,
    task: &Task,
) -> Result<(), ProjectError> {
    for entry in entries {
        task.check()?;
        let place = format!("recording \"{}\"", entry.title);
        let id = RecordingId(entry.recording);
        if document.recordings().contains_key(&id) {
            let why = "Its number is listed twice; the second entry is skipped.";
            findings.push(Finding::warning(place, why));
            continue;
        }
        let known = u64::from_str_radix(&entry.fingerprint, 16).unwrap_or(0);
        let built_in = entry.path.strip_prefix(BUILT_IN).and_then(recording);
        let path = PathBuf::from(entry.path);
        let motion = entry.motion.map(BodyMotion::from);
        let mut item = match (built_in, &entry.kept) {
            (Some(text), _) => built_in_item(entry.title, path, &text, task)?,
            (None, Some(block)) => {
                let content = kept(block, task).map(Arc::new);
                task.check()?;
                let content = content.map_err(|why| format!("what the project keeps of it: {why}"));
                let mut item = RecordingItem::new(entry.title, "", known, content);
                if item.content.is_err() {
                    item.unread = Some(Arc::new(block.into()));
                }
                let take = item.recording().and_then(take_of_body);
                let source = take.map(|take| MotionSource::of_take(&*item.name, take, Vec::new()));
                item.motion = motion.map(|motion| {
                    Arc::new(BodyMotion {
                        source: source.map(Arc::new),
                        ..motion
                    })
                });
                item
            }
            (None, None) => read_item(entry.title, &path, motion.as_ref(), known, task)?,
        };
        match item.with_timing(entry.timing) {
            Ok(timed) => item = timed,
            Err(why) => {
                let why = format!("The times of its samples are as recorded: {why}.");
                findings.push(Finding::warning(&place, why).at(Place::Recording(id.0)));
            }
        }
        if let Some((a, b)) = entry.clock {
            match ClockMap::new(a, b) {
                Ok(clock) => item.clock = clock,
                Err(why) => findings.push(Finding::warning(&place, format!("Its clock: {why}."))),
            }
        }
        let stamps = entry.stamps.into_iter().enumerate();
        let stamps = stamps.filter(|(_, (_, time))| time.is_finite());
        let widths = entry.stamp_widths;
        let width_of = |i: usize| widths.get(i).copied().filter(|width| *width >= 0.0);
        let stamps = stamps.map(|(i, (name, time))| Event {
            name,
            time,
            width: width_of(i).unwrap_or(0.0),
        });
        item.stamps = stamps.collect();
        if item.content.is_ok() && item.fingerprint != known {
            let why =
                "The file has changed since the project was saved; what it holds now is used.";
            findings.push(Finding::warning(&place, why).at(Place::Recording(id.0)));
        }
        let recording = Some(Arc::new(item));
        if let Err(why) = document.apply(&mut Edit::Recording { id, recording }) {
            findings.push(Finding::warning(place, format!("It is skipped: {why}.")));
        }
    }
    Ok(())
}
