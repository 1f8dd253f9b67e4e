//! A motion as a clip: one undo step, replaced while it is adjusted.

use super::{AddingMotion, CANCELLED, Editor, Found, SwappedSides, ThenDo};
use crate::cluster::channel::{RecordingId, RecordingItem};
use crate::document::ClipId;
use crate::editor::clusters::free_recording_name;
use crate::evaluate::JobError;
use crate::io::motion_source::ReadMotion;
use crate::motion::contacts::FeetSecs;
use crate::motion::retarget::{BodyMotion, MotionSettings, RetargetError};
use crate::motion::roles::{FoundBy, RolesFault};
use crate::rig::{AddMotionError, AddedMotion, Character};
use crate::task::Task;
use std::sync::Arc;

/// What a run found, and the motion on the character or the reason that there is none.
pub(super) type Outcome = Result<Run, String>;

/// What a run made.
pub(super) struct Run {
    /// What was found before the motion was retargeted.
    pub(super) found: Found,
    /// The motion on the character, or why there is none.
    pub(super) added: Result<AddedMotion, String>,
    /// The motion with the other times that were asked for, and the contacts by hand at these.
    pub(super) timed: Option<(ReadMotion, Option<FeetSecs>)>,
}

/// Puts a motion on a character.
pub(super) fn run(
    read: &ReadMotion,
    character: &Character,
    settings: &MotionSettings,
    task: &Task,
) -> Outcome {
    task.step("Retargeting", 0.0)
        .map_err(|cancelled| cancelled.to_string())?;
    let source = &read.source;
    let take = source.take(settings.positions);
    let roles = character.roles(&take.rest, settings)?;
    let added = match &read.channels {
        Some(channels) => {
            character.add_recorded(&take, channels, &roles, settings, &source.name, task)
        }
        None => character.add(&take, &roles, settings, &source.name, task),
    };
    task.check().map_err(|cancelled| cancelled.to_string())?;
    let automatic = MotionSettings {
        search: settings.search,
        ..MotionSettings::default()
    };
    let found_by = character.roles(&take.rest, &automatic)?;
    let found = Found {
        names: take.rest.names.clone(),
        is_by_structure: found_by
            .iter()
            .any(|roles| roles.found_by == FoundBy::Structure),
        swapped: added.as_ref().err().and_then(swapped),
        roles,
    };
    Ok(Run {
        found,
        added: added.map_err(|why| why.to_string()),
        timed: None,
    })
}

/// The limbs that are swapped.
fn swapped(why: &AddMotionError) -> Option<SwappedSides> {
    let (which, fault) = match why {
        AddMotionError::Retarget(RetargetError::Source(fault)) => (0, fault),
        AddMotionError::Retarget(RetargetError::Target(fault)) => (1, fault),
        _ => return None,
    };
    match *fault {
        RolesFault::Swapped { legs, arms } => Some(SwappedSides { which, legs, arms }),
        _ => None,
    }
}

impl Editor {
    /// Ends the adjustment after another edit. Returns whether it did something.
    pub(in crate::editor) fn follow_edits_of_motion(&mut self) -> bool {
        let revision = self.history.revision();
        let adding = self.motions.adding.as_ref();
        let Some(adding) = adding.filter(|adding| adding.revision != revision) else {
            return false;
        };
        let run = adding.job.as_ref().and(adding.recording);
        let run = run.map(|recording| (recording, adding.then.clone()));
        self.motions.end();
        let Some((recording, then)) = run else {
            return true;
        };
        let is_undone = self.history.redo_label().is_some();
        match (then.ended_by_undo(), then) {
            // Another step would end what can be redone.
            (Some(why), _) if is_undone => self.notify(why),
            (_, ThenDo::Time(timing)) => self.set_recording_timing(recording, timing),
            (_, then @ ThenDo::Bind(_)) => self.read_recorded_motion(recording, then),
            (_, then @ ThenDo::HoldFeet(_)) if self.contacts_of(recording).is_some() => {
                self.read_recorded_motion(recording, then);
            }
            _ => {}
        }
        true
    }

    /// Takes a run that has ended.
    pub(in crate::editor) fn take_added_motion(&mut self) {
        self.follow_edits_of_motion();
        let Some(adding) = &mut self.motions.adding else {
            return;
        };
        let Some(job) = adding.job.take_if(|job| job.has_ended()) else {
            return;
        };
        let is_cancelled = job.task().is_cancelled();
        let outcome = match job.into_result() {
            Err(JobError::Cancelled) => Err(CANCELLED.to_owned()),
            Err(error @ JobError::Failed) => Err(error.to_string()),
            Ok(Err(_)) if is_cancelled => Err(CANCELLED.to_owned()),
            Ok(outcome) => outcome,
        };
        let added = match outcome {
            Ok(run) => {
                adding.found = Some(run.found);
                if let Some((timed, contacts)) = run.timed {
                    adding.settings.bake.contacts = contacts;
                    let mut sources = adding.sources.to_vec();
                    if let Some(chosen) = sources.get_mut(adding.chosen) {
                        *chosen = timed;
                    }
                    adding.sources = Arc::new(sources);
                    adding.timing = None;
                }
                run.added
            }
            Err(why) => {
                // Times that cannot be leave all as it is.
                if why != CANCELLED && adding.timing.take().is_some() {
                    return self.notify_error(why);
                }
                let is_unseen = adding.is_hidden && why != CANCELLED;
                adding.is_stale |= why == CANCELLED;
                adding.failure = Some(why.clone());
                if is_unseen {
                    self.notify_error(why);
                }
                return;
            }
        };
        let is_first = adding.result.is_none() && adding.failure.is_none();
        match added {
            Ok(added) => self.show_added(added, is_first),
            Err(why) => {
                adding.failure = Some(why.clone());
                adding.result = None;
                self.remove_motion_step();
                if is_first {
                    self.notify_error(why);
                }
            }
        }
    }

    /// Puts the clip in place of the one before.
    fn show_added(&mut self, mut added: AddedMotion, is_first: bool) {
        let playback = self.document.session().playback;
        let before = self.motions.adding.as_ref().and_then(|a| a.applied);
        if let Some(adding) = self.motions.adding.as_mut().filter(|a| a.keeps_clip) {
            adding.failure = None;
            adding.result = Some(Arc::new(added));
            return;
        }
        self.remove_motion_step();
        let Some(adding) = &self.motions.adding else {
            return;
        };
        // The clip that the recording became, under its name; else a new one.
        let own = self.clip_of_motion(adding);
        let own = own.and_then(|id| Some((id, self.document.clips().get(&id)?.name.clone())));
        let is_again = own.is_some();
        let replaces_edits = before.is_none() && self.is_clip_edited(adding);
        let (id, name) = own.unwrap_or_else(|| {
            let name = self.free_name(&added.baked.clip.name);
            let name = if name.is_empty() {
                "Motion".to_owned()
            } else {
                name
            };
            (before.unwrap_or_else(|| self.free_id()), name)
        });
        added.baked.clip.name.clone_from(&name);
        let verb = match &adding.then {
            ThenDo::Bind(_) => "Bind channels",
            ThenDo::Time(_) => "Change times",
            ThenDo::HoldFeet(_) if is_again => "Change foot contacts",
            ThenDo::Adjust if is_again => "Adjust motion",
            ThenDo::Adjust | ThenDo::HoldFeet(_) => "Add motion",
        };
        let label = format!("{verb} · {name}");
        let recording = self.recording_of_motion(adding, id, &added);
        let recording_id = recording.as_ref().map(|(id, _)| *id);
        self.history.begin(&self.document, &label);
        let mut is_done = true;
        if let Some((id, item)) = recording
            && let Err(error) = self.replace_recording(id, item, &label)
        {
            self.notify_error(error.to_string());
            is_done = false;
        }
        if !is_done || !self.set_clip(id, Some(added.baked.clip.clone()), &label) {
            self.cancel_step();
            return self.motions.end();
        }
        self.history.commit(&self.document);
        self.show_clip(Some(id));
        if (is_again || before.is_some()) && playback.clip == Some(id) {
            let (time, end) = (playback.time_secs, added.secs());
            let session = &mut self.document.session_mut().playback;
            session.time_secs = time.min(end);
            session.playing = playback.playing;
        }
        let revision = self.history.revision();
        if let Some(adding) = &mut self.motions.adding {
            adding.failure = None;
            adding.applied = Some(id);
            adding.recording = recording_id.or(adding.recording);
            adding.revision = revision;
            adding.result = Some(Arc::new(added));
        }
        self.remember_mapping();
        if replaces_edits {
            self.notify(format!(
                "Keyframes of \"{name}\" that had been edited were replaced. Undo brings them back."
            ));
        }
        if is_first && !is_again {
            self.notify(format!(
                "\"{name}\" moves the character. Press Space to play it."
            ));
        }
    }

    /// Whether the clip of the motion's recording was edited since it was baked.
    fn is_clip_edited(&self, adding: &AddingMotion) -> bool {
        let item = adding
            .recording
            .and_then(|id| self.document.recordings().get(&id));
        let motion = item.and_then(|item| item.motion.as_ref());
        let known = motion.and_then(|motion| motion.baked);
        let clip = self
            .clip_of_motion(adding)
            .and_then(|id| self.document.clips().get(&id));
        clip.zip(known)
            .is_some_and(|(clip, known)| clip.fingerprint() != known)
    }

    /// The recording of a motion with its settings and its clip; `None` for the clip of a project.
    fn recording_of_motion(
        &self,
        adding: &AddingMotion,
        clip: ClipId,
        added: &AddedMotion,
    ) -> Option<(RecordingId, RecordingItem)> {
        let read = adding.sources.get(adding.chosen)?;
        let known = adding
            .recording
            .and_then(|id| self.document.recordings().get(&id));
        let mut item = match (known, &read.item) {
            (Some(known), None) => RecordingItem::clone(known),
            (_, Some(item)) => {
                let mut item = item.clone();
                item.name = match known {
                    Some(known) => known.name.clone(),
                    None => free_recording_name(&self.document, &item.name),
                };
                item
            }
            (None, None) => return None,
        };
        let before = item.motion.take();
        item.motion = Some(Arc::new(BodyMotion {
            source: Some(read.source.clone()).filter(|source| source.has_body()),
            take: before.map_or_else(String::new, |before| before.take.clone()),
            settings: adding.settings.clone(),
            feet: added.feet_secs(),
            clip: Some(clip),
            baked: Some(added.fingerprint),
        }));
        let id = adding
            .recording
            .filter(|_| known.is_some() || read.item.is_some());
        Some((id.unwrap_or_else(|| self.document.free_recording()), item))
    }

    /// Removes the motion's step from the history.
    pub(super) fn remove_motion_step(&mut self) {
        let adding = self.motions.adding.as_mut();
        if adding.and_then(|adding| adding.applied.take()).is_none() {
            return;
        }
        if let Some(dirty) = self.history.drop_newest(&mut self.document) {
            self.refresh(&dirty);
            self.selection_changed();
        }
        let revision = self.history.revision();
        if let Some(adding) = &mut self.motions.adding {
            adding.revision = revision;
        }
    }
}

impl AddingMotion {
    /// The clip in the document.
    pub fn clip(&self) -> Option<ClipId> {
        self.applied
    }
}
