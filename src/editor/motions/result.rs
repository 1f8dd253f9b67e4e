//! A motion as a clip: one undo step, replaced while it is adjusted.

use super::{AddingMotion, CANCELLED, Editor, Found};
use crate::document::ClipId;
use crate::evaluate::JobError;
use crate::io::motion_source::MotionSource;
use crate::motion::roles::FoundBy;
use crate::rig::{AddedMotion, Character, MotionSettings};
use crate::task::Task;
use std::sync::Arc;

/// What a run found, and the motion on the character or the reason that there is none.
pub(super) type Outcome = Result<(Found, Result<AddedMotion, String>), String>;

/// Puts a motion on a character.
pub(super) fn run(
    sources: &[MotionSource],
    chosen: usize,
    character: &Character,
    settings: &MotionSettings,
    task: &Task,
) -> Outcome {
    task.step("Retargeting", 0.0)
        .map_err(|cancelled| cancelled.to_string())?;
    let source = sources.get(chosen).ok_or("The motion is not there.")?;
    let take = source.take(settings.positions);
    let roles = character.roles(&take.rest, settings)?;
    let added = character.add(&take, &roles, settings, &source.name, task);
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
        roles,
    };
    Ok((found, added.map_err(|why| why.to_string())))
}

impl Editor {
    /// Ends the adjustment after another edit. Returns whether it did something.
    pub(in crate::editor) fn follow_edits_of_motion(&mut self) -> bool {
        let revision = self.history.revision();
        let adding = self.motions.adding.as_ref();
        let is_over = adding.is_some_and(|adding| adding.revision != revision);
        if is_over {
            self.motions.end();
        }
        is_over
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
            Ok((found, added)) => {
                adding.found = Some(found);
                added
            }
            Err(why) => {
                adding.is_stale |= why == CANCELLED;
                adding.failure = Some(why);
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
        self.remove_motion_step();
        let name = self.free_name(&added.baked.clip.name);
        let name = if name.is_empty() {
            "Motion".to_owned()
        } else {
            name
        };
        added.baked.clip.name.clone_from(&name);
        let id = before.unwrap_or_else(|| self.free_id());
        let label = format!("Add motion · {name}");
        if !self.set_clip(id, Some(added.baked.clip.clone()), &label) {
            return self.motions.end();
        }
        self.show_clip(Some(id));
        if before.is_some() && playback.clip == before {
            let (time, end) = (playback.time_secs, added.secs());
            let session = &mut self.document.session_mut().playback;
            session.time_secs = time.min(end);
            session.playing = playback.playing;
        }
        let revision = self.history.revision();
        if let Some(adding) = &mut self.motions.adding {
            adding.failure = None;
            adding.applied = Some(id);
            adding.revision = revision;
            adding.result = Some(Arc::new(added));
        }
        if is_first {
            self.notify(format!(
                "\"{name}\" moves the character. Press Space to play it."
            ));
        }
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
