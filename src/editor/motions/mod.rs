//! Motions of other skeletons, retargeted to the character as clips: read and retargeted on the lane, adjusted until the next edit.
//!
//! Data flow: a file, or a recording of the document -> [`ReadMotion`]s -> one of them with [`MotionSettings`] on the
//! [`Character`] -> one undo step with a clip and the recording that it comes from, which is replaced when a setting changes.
//! The settings stay with the recording, so that the motion can be adjusted later.
//!
//! Invariant: any other edit, undo or redo keeps the clip and ends the adjustment.

mod bindings;
mod bones;
mod contacts;
mod ghost;
mod mappings;
mod result;
mod timing;

pub use bones::{BonePair, FoundHow, PairOf};
pub use contacts::SHORTEST_CONTACT_SECS;
pub use mappings::MappingFile;

use super::Editor;
use super::clusters::NOT_TIMED;
use super::files::file_name;
use super::jobs::EditorJob;
use crate::cluster::channel::{RecordingId, RecordingItem};
use crate::document::ClipId;
use crate::evaluate::{JobError, JobHandle};
use crate::io::mapping_file::RememberedMappings;
use crate::io::motion_item::is_skeleton;
use crate::io::motion_source::{ReadMotion, read_motions};
use crate::motion::bindings::Binding;
use crate::motion::by_name::ByNameError;
use crate::motion::contacts::FeetSecs;
use crate::motion::retarget::MotionSettings;
use crate::motion::roles::{RoleMap, Roles};
use crate::motion::vmc::{length_fault, take_of_body};
use crate::motion::{MotionSource, Recording, Timing};
use crate::rig::{AddedMotion, Character};
use crate::task::Task;
use result::{Outcome, run};
use std::path::Path;
use std::sync::Arc;
use timing::run_timed;

/// The message after a cancelled run.
const CANCELLED: &str = "Cancelled. Nothing changed.";

/// The message where an undo ended a binding.
const NOT_BOUND: &str = "The channel was not bound, because you undid an earlier step meanwhile.";

/// The message where an undo ended a change of foot contacts.
const NOT_CHANGED: &str =
    "The foot contacts were not changed, because you undid an earlier step meanwhile.";

/// A motion that is retargeted to the character.
#[allow(clippy::struct_excessive_bools)] // independent flags
pub struct AddingMotion {
    sources: Arc<Vec<ReadMotion>>,
    chosen: usize,
    /// Its recording in the document, once there is one.
    recording: Option<RecordingId>,
    /// Whether the existing clip of the recording stays until a setting changes.
    keeps_clip: bool,
    settings: MotionSettings,
    /// The mapping by hand that is remembered already.
    remembered: RoleMap,
    character: Arc<Character>,
    /// The joint names of the motion's skeleton, and the roles of both skeletons, as the latest run found them.
    found: Option<Found>,
    /// The history revision as long as nothing else was edited.
    revision: u64,
    /// The clip while the newest step of the history is this motion's.
    applied: Option<ClipId>,
    result: Option<Arc<AddedMotion>>,
    job: Option<JobHandle<Outcome>>,
    /// The other times of its samples, and what they are made of, until a run has made them.
    timing: Option<(Timing, Arc<RecordingItem>)>,
    /// Whether settings changed since the job started.
    is_stale: bool,
    /// The reason that there is no clip.
    failure: Option<String>,
    is_hidden: bool,
    shows_ghost: bool,
    /// What it was read for.
    then: ThenDo,
}

/// What a run found before the motion was retargeted to the character.
#[derive(Clone, Debug)]
struct Found {
    names: Vec<String>,
    roles: [Roles; 2],
    /// Whether the search went by the shape of one of them.
    is_by_structure: bool,
    swapped: Option<SwappedSides>,
}

/// Limbs whose left and right bones are swapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SwappedSides {
    /// 0 for the motion's skeleton, 1 for the character's.
    which: usize,
    legs: bool,
    arms: bool,
}

/// Motions that are read and adjusted.
#[derive(Default)]
pub(super) struct Motions {
    reading: Option<Reading>,
    adding: Option<AddingMotion>,
    /// Mappings of earlier motions.
    remembered: RememberedMappings,
    /// The file of a mapping that is asked for.
    asked: Option<MappingFile>,
}

/// A motion that is being read.
struct Reading {
    /// The recording of the document that it comes from; `None` for a file.
    of: Option<RecordingId>,
    then: ThenDo,
    /// The history revision when it began.
    revision: u64,
    job: JobHandle<Result<Read, String>>,
}

/// Motions of a file, and the mapping that is remembered for the skeleton of the first.
struct Read {
    motions: Vec<ReadMotion>,
    mapping: RoleMap,
}

/// What is done with a motion that was read.
#[derive(Clone, Debug, PartialEq)]
enum ThenDo {
    /// It is put on the character, and its settings are shown.
    Adjust,
    /// Its feet are held in these stretches; `None`: in those that are found.
    HoldFeet(Option<FeetSecs>),
    /// Its channels are bound to these.
    Bind(Vec<Binding>),
    /// Its samples get these times.
    Time(Timing),
}

impl ThenDo {
    /// The message where an undo ended it; `None` where the artist sees its settings.
    fn ended_by_undo(&self) -> Option<&'static str> {
        match self {
            Self::Adjust => None,
            Self::HoldFeet(_) => Some(NOT_CHANGED),
            Self::Bind(_) => Some(NOT_BOUND),
            Self::Time(_) => Some(NOT_TIMED),
        }
    }
}

impl Motions {
    /// Drops what belongs to the previous model.
    pub(super) fn forget_model(&mut self) {
        self.end_reading();
        self.end();
    }

    fn end_reading(&mut self) {
        if let Some(reading) = self.reading.take() {
            reading.job.task().cancel();
        }
    }

    /// Ends the adjustment.
    pub(super) fn end(&mut self) {
        if let Some(job) = self.adding.take().and_then(|adding| adding.job) {
            job.task().cancel();
        }
    }
}

impl AddingMotion {
    /// The names of the motions of the file: one, or the clips of a model.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.sources.iter().map(|read| read.source.name.as_str())
    }

    /// The motion that is retargeted to the character, by its place in the file.
    pub fn chosen(&self) -> usize {
        self.chosen
    }

    /// Whether it has a skeleton; otherwise joints follow channels of their names.
    pub fn has_body(&self) -> bool {
        self.source().is_some_and(MotionSource::has_body)
    }

    /// Whether it comes from a BVH file, whose position channels have to be interpreted.
    pub fn is_bvh(&self) -> bool {
        self.source().is_some_and(MotionSource::is_bvh)
    }

    /// What was repaired while reading the file.
    pub fn notes(&self) -> impl Iterator<Item = String> {
        let notes = self.source().into_iter().flat_map(|source| &source.notes);
        notes.map(crate::motion::Note::placed)
    }

    /// The settings.
    pub fn settings(&self) -> &MotionSettings {
        &self.settings
    }

    /// The progress of the current run.
    pub fn task(&self) -> Option<&Task> {
        self.job.as_ref().map(JobHandle::task)
    }

    /// Whether the shown result has other settings, or there is no result yet.
    pub fn is_stale(&self) -> bool {
        self.is_stale
    }

    /// What the latest run made.
    pub fn result(&self) -> Option<&AddedMotion> {
        self.result.as_deref()
    }

    /// The reason that there is no clip.
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// Whether there is no clip because left and right limbs are swapped ([`Editor::swap_sides`]).
    pub fn has_swapped_sides(&self) -> bool {
        let found = self.found.as_ref();
        self.failure.is_some() && found.is_some_and(|found| found.swapped.is_some())
    }

    /// Whether its settings are hidden.
    pub fn is_hidden(&self) -> bool {
        self.is_hidden
    }

    /// Whether the motion's own skeleton is shown beside the character.
    pub fn shows_ghost(&self) -> bool {
        self.shows_ghost
    }

    fn source(&self) -> Option<&MotionSource> {
        Some(&self.sources.get(self.chosen)?.source)
    }

    /// Its recording in the document; `None` before its first run, and for the clip of a project.
    pub fn recording(&self) -> Option<RecordingId> {
        self.recording
    }
}

impl Editor {
    /// Reads a motion (.bvh, .vmclog, or the clips of a model or project) in the background and retargets it to the character as a
    /// clip, which can be adjusted until the next edit.
    pub fn add_motion(&mut self, path: &Path) {
        if self.document.skeleton().is_empty() {
            self.notify("Open a character with bones first: the motion moves them.");
            return;
        }
        let theirs = path.to_owned();
        let label = format!("Reading {}", file_name(path));
        self.read_motion(None, ThenDo::Adjust, &label, move |task| {
            read_motions(&theirs, task).map_err(|why| why.to_string())
        });
    }

    /// The recording that the clip on screen was retargeted from.
    pub fn motion_of_clip(&self) -> Option<RecordingId> {
        let (shown, _) = self.shown_clip()?;
        let mut recordings = self.document.recordings().iter();
        let clip = |item: &RecordingItem| item.motion.as_ref().and_then(|motion| motion.clip);
        let found = recordings.find(|(_, item)| clip(item) == Some(shown));
        found.map(|(&id, _)| id)
    }

    /// Opens the retargeting settings of a recording; where it has no clip yet, retargets it to the character. A clip that is there
    /// changes only with the settings.
    pub fn adjust_motion(&mut self, recording: RecordingId) {
        self.read_recorded_motion(recording, ThenDo::Adjust);
    }

    fn read_recorded_motion(&mut self, recording: RecordingId, then: ThenDo) {
        let Some(item) = self.document.recordings().get(&recording).cloned() else {
            return;
        };
        if self.document.skeleton().is_empty() {
            self.notify("Open a character with bones first: the motion moves them.");
            return;
        }
        let label = format!("Reading {}", item.name);
        let character = Character::of(&self.document);
        let bindings = match &then {
            ThenDo::Bind(bindings) => bindings.clone(),
            ThenDo::Adjust | ThenDo::HoldFeet(_) | ThenDo::Time(_) => item
                .motion
                .as_ref()
                .map_or_else(Vec::new, |motion| motion.settings.bindings.clone()),
        };
        let timing = match &then {
            ThenDo::Time(timing) => Some(*timing),
            _ => None,
        };
        self.read_motion(Some(recording), then, &label, move |_| {
            let timed = timing.map(|timing| item.timed(timing));
            let timed = timed.transpose();
            let timed = timed.map_err(|why| format!("{} stays as it is: {why}", item.name))?;
            let item = timed.as_ref().unwrap_or(&item);
            let channels = item.content.as_ref().ok();
            let channels = channels.filter(|_| !is_skeleton(&item.path)).cloned();
            let known = item
                .motion
                .as_ref()
                .and_then(|motion| motion.source.clone());
            let from_channels = || {
                let take = take_of_body(item.recording()?)?;
                Some(Arc::new(MotionSource::of_take(
                    &*item.name,
                    take,
                    Vec::new(),
                )))
            };
            if known.is_none()
                && let Some(why) = item.recording().and_then(length_fault)
            {
                return Err(format!("\"{}\" moves nothing: {why}", item.name));
            }
            let has_names = |of: &Recording| character.follows(of, &bindings);
            let by_name = || {
                let has_names = channels.as_deref().is_some_and(has_names);
                has_names.then(|| Arc::new(MotionSource::without_body(&*item.name, Vec::new())))
            };
            let source = known.or_else(from_channels).or_else(by_name);
            let source = source.ok_or_else(|| match &item.content {
                Ok(_) => format!("\"{}\" moves nothing: {}", item.name, ByNameError::NoNames),
                Err(why) => why.clone(),
            })?;
            Ok(vec![ReadMotion {
                source,
                channels,
                item: timed,
            }])
        });
    }

    fn read_motion(
        &mut self,
        of: Option<RecordingId>,
        then: ThenDo,
        label: &str,
        work: impl FnOnce(&Task) -> Result<Vec<ReadMotion>, String> + Send + 'static,
    ) {
        self.motions.end_reading();
        let remembered = self.motions.remembered.clone();
        let own = self.document.skeleton().joints().iter();
        let own: Vec<String> = own.map(|joint| joint.name.clone()).collect();
        let work = move |task: &Task| {
            let motions = work(task)?;
            let names = motions.first().map(|read| read.source.joint_names());
            let names = names.unwrap_or_default();
            let mapping = remembered.recall(&names).unwrap_or_default();
            let mapping = mapping.for_names(&names, &own);
            Ok(Read { motions, mapping })
        };
        let job = self.lane.submit(EditorJob::ReadMotion, label, work);
        self.motions.reading = Some(Reading {
            of,
            then,
            revision: self.history.revision(),
            job,
        });
    }

    /// Takes a motion that was read.
    pub(super) fn take_motion_source(&mut self) {
        let reading = &mut self.motions.reading;
        let Some(reading) = reading.take_if(|reading| reading.job.has_ended()) else {
            return;
        };
        let Reading {
            of,
            then,
            revision,
            job,
        } = reading;
        let is_undone = revision != self.history.revision() && self.history.redo_label().is_some();
        if let Some(why) = then.ended_by_undo().filter(|_| is_undone) {
            return self.notify(why);
        }
        if let (ThenDo::Time(timing), Some(of)) = (&then, of)
            && revision != self.history.revision()
        {
            // What was read is not what is there now.
            return self.set_recording_timing(of, *timing);
        }
        let is_cancelled = job.task().is_cancelled();
        let Read {
            motions: sources,
            mapping,
        } = match job.into_result() {
            Ok(Ok(read)) => read,
            Err(JobError::Cancelled) => return self.notify("Reading the motion was cancelled."),
            Ok(Err(_)) if is_cancelled => return self.notify("Reading the motion was cancelled."),
            Ok(Err(why)) => {
                let why = why.trim_end_matches('.');
                return self.notify_error(format!("{why}."));
            }
            Err(error @ JobError::Failed) => return self.notify_error(error.to_string()),
        };
        let item = of.map(|of| self.document.recordings().get(&of).cloned());
        if matches!(item, Some(None)) {
            // It was removed while it was read.
            return;
        }
        let motion = item.flatten().and_then(|item| item.motion.clone());
        let motion = motion.as_deref();
        let clip = motion.and_then(|motion| motion.clip);
        let clip = clip.filter(|clip| self.document.clips().contains_key(clip));
        self.finish_tool();
        if self.is_rig_busy() {
            return;
        }
        self.end_operation();
        self.end_rig_operation();
        // The clip that is adjusted is to be seen.
        self.hide_live();
        self.motions.end();
        let known = motion.map(|motion| motion.settings.clone());
        let mut settings = known.unwrap_or_else(|| MotionSettings {
            by_hand: mapping,
            ..MotionSettings::default()
        });
        match &then {
            ThenDo::Adjust => {}
            ThenDo::Time(_) => {
                let timed = sources.first().and_then(|read| read.item.as_ref());
                if let Some(timed) = timed.and_then(|item| item.motion.as_ref()) {
                    settings.clone_from(&timed.settings);
                }
            }
            ThenDo::HoldFeet(feet) => {
                settings.bake.locks_feet |= feet.is_some();
                settings.bake.contacts.clone_from(feet);
            }
            ThenDo::Bind(bindings) => settings.bindings.clone_from(bindings),
        }
        let is_quiet = then != ThenDo::Adjust;
        self.motions.adding = Some(AddingMotion {
            remembered: settings.by_hand.clone(),
            sources: Arc::new(sources),
            chosen: 0,
            recording: of,
            keeps_clip: clip.is_some() && !is_quiet,
            settings,
            character: Arc::new(Character::of(&self.document)),
            found: None,
            revision: self.history.revision(),
            applied: None,
            result: None,
            job: None,
            timing: None,
            is_stale: true,
            failure: None,
            is_hidden: is_quiet,
            shows_ghost: !is_quiet,
            then,
        });
        if clip.is_some() && clip != self.playback().clip {
            self.show_clip(clip);
        }
        self.start_motion_run();
    }

    /// The motion being adjusted.
    pub fn adding_motion(&self) -> Option<&AddingMotion> {
        self.motions.adding.as_ref()
    }

    /// Changes the settings and replaces the clip.
    pub fn set_motion_settings(&mut self, settings: MotionSettings) {
        let Some(adding) = &mut self.motions.adding else {
            return;
        };
        if adding.settings != settings {
            adding.settings = settings;
            self.run_motion();
        }
    }

    /// Takes another motion of the same file, by its place there.
    pub fn choose_motion(&mut self, chosen: usize) {
        let Some(adding) = &mut self.motions.adding else {
            return;
        };
        if adding.chosen != chosen && chosen < adding.sources.len() {
            let names = |chosen: usize| {
                let read = adding.sources.get(chosen);
                read.map(|read| read.source.joint_names())
            };
            let is_same = names(adding.chosen) == names(chosen);
            adding.chosen = chosen;
            adding.timing = None;
            if !is_same {
                adding.settings.by_hand = RoleMap::default();
            }
            self.run_motion();
        }
    }

    /// Runs the retargeting with the current settings.
    pub fn run_motion(&mut self) {
        if let Some(adding) = &mut self.motions.adding {
            adding.keeps_clip = false;
        }
        self.start_motion_run();
    }

    fn start_motion_run(&mut self) {
        let Some(adding) = &mut self.motions.adding else {
            return;
        };
        if let Some(job) = adding.job.take() {
            job.task().cancel();
        }
        adding.is_stale = false;
        let (sources, chosen) = (adding.sources.clone(), adding.chosen);
        let (character, settings) = (adding.character.clone(), adding.settings.clone());
        let timing = adding.timing.clone();
        let work = move |task: &Task| {
            let of = sources.get(chosen).ok_or("The file has no such motion.")?;
            match timing {
                Some(timing) => run_timed(of, timing, &character, settings, task),
                None => run(of, &character, &settings, task),
            }
        };
        adding.job = Some(self.lane.submit(EditorJob::AddMotion, "Retargeting", work));
    }

    /// Cancels the current run; the previous clip stays.
    pub fn cancel_motion_run(&mut self) {
        if let Some(adding) = &mut self.motions.adding
            && let Some(job) = adding.job.take()
        {
            job.task().cancel();
            adding.is_stale = true;
            adding.timing = None;
            adding.failure = Some(CANCELLED.into());
        }
    }

    /// Keeps the clip and ends the adjustment.
    pub fn end_motion(&mut self) {
        self.motions.end();
    }

    /// Takes the clip back and ends the adjustment.
    pub fn take_back_motion(&mut self) {
        self.remove_motion_step();
        self.motions.end();
    }

    /// The clip of the document that a motion is.
    fn clip_of_motion(&self, adding: &AddingMotion) -> Option<ClipId> {
        let item = adding
            .recording
            .and_then(|id| self.document.recordings().get(&id));
        let known = || item?.motion.as_ref()?.clip;
        adding.applied.or_else(known)
    }

    /// Hides or shows the settings, which remain available until the next edit.
    pub fn hide_motion(&mut self, hide: bool) {
        if let Some(adding) = &mut self.motions.adding {
            adding.is_hidden = hide;
        }
    }
}
