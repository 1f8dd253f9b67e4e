//! Suggested corrective samples: computed on the job lane, held until they are accepted or dropped.
//!
//! Invariant: suggestions change the document only when they are accepted, in one undo step.

use super::Editor;
use super::jobs::EditorJob;
use crate::document::{Document, Edit, InstanceId};
use crate::evaluate::{JobError, JobHandle};
use crate::finding::counted;
use crate::psd::Displacements;
use crate::skeleton::JointId;
use crate::suggest::{Proposal, SuggestError, SuggestSettings, Suggestion, suggest, tune};
use crate::task::Task;
use glam::DVec3;

/// The suggestions, their settings and the computation under way.
#[derive(Default)]
pub(super) struct Suggesting {
    settings: SuggestSettings,
    found: Vec<Suggestion>,
    /// Proposals that were accepted, until the list closes.
    accepted: Vec<Accepted>,
    /// The document that they were computed for.
    base: Option<Document>,
    /// Why there are none.
    failure: Option<String>,
    job: Option<Running>,
}

/// A proposal that was accepted. Once that is undone it can be accepted again.
struct Accepted {
    instance: InstanceId,
    /// The axis and angle of its pose.
    pose: (DVec3, f64),
    /// What the sample that was there before moved, if there was one in that very pose.
    replaced: Option<Displacements>,
}

impl Accepted {
    fn is_of(&self, suggestion: &Suggestion, proposal: &Proposal) -> bool {
        self.instance == suggestion.instance && self.pose == (proposal.axis, proposal.angle)
    }
}

/// A computation under way.
struct Running {
    joint: JointId,
    base: Document,
    /// Whether it is of one proposal.
    is_tune: bool,
    job: JobHandle<Result<Computed, SuggestError>>,
}

/// What a computation gives.
enum Computed {
    /// All suggestions for a joint.
    All(Vec<Suggestion>),
    /// A proposal on an instance with other settings.
    Tuned(InstanceId, Box<Proposal>),
}

impl Suggesting {
    /// Drops everything but the settings, for another model.
    pub(super) fn forget_model(&mut self) {
        if let Some(running) = &self.job {
            running.job.task().cancel();
        }
        *self = Self {
            settings: self.settings,
            ..Self::default()
        };
    }
}

impl Editor {
    /// Starts computing corrective samples for the active bone, on the job lane. They replace those held.
    pub fn suggest_correctives(&mut self) {
        match self.document.session().active_joint {
            Some(joint) => self.suggest_for(joint),
            None => {
                self.notify(
                    "Select a bone first: samples are suggested for the joint at its head.",
                );
            }
        }
    }

    /// The settings of suggestions.
    pub fn suggest_settings(&self) -> &SuggestSettings {
        &self.suggesting.settings
    }

    /// Changes the settings; suggestions that are held or computed are computed anew.
    pub fn set_suggest_settings(&mut self, settings: SuggestSettings) {
        if self.suggesting.settings == settings {
            return;
        }
        self.suggesting.settings = settings;
        let running = self.suggesting.job.as_ref().map(|running| running.joint);
        if let Some(joint) = running.or(self.suggesting.found.first().map(|s| s.joint)) {
            self.suggest_for(joint);
        }
    }

    /// Computes a proposal of a suggestion (both by index) again with settings of its own; the others stay.
    pub fn tune_proposal(&mut self, suggestion: usize, proposal: usize, settings: SuggestSettings) {
        let found = self.suggesting.found.get(suggestion);
        let Some(found) = found
            .filter(|s| s.proposals.get(proposal).is_some())
            .cloned()
        else {
            return;
        };
        let Some(base) = self.suggestion_base() else {
            return;
        };
        let name = &found.proposals[proposal].name;
        let label = format!("Tune {name}");
        let joint = found.joint;
        let document = base.clone();
        self.compute((joint, true), base, &label, move |task| {
            let made = tune(&document, &found, proposal, &settings, task)?;
            Ok(Computed::Tuned(found.instance, Box::new(made)))
        });
    }

    /// The suggestions, one for each mesh that the joint bends. [`crate::suggest::Proposal::is_recommended`] says which
    /// proposals are ticked.
    pub fn suggestions(&self) -> &[Suggestion] {
        &self.suggesting.found
    }

    /// Why the latest computation has no result.
    pub fn suggest_failure(&self) -> Option<&str> {
        self.suggesting.failure.as_deref()
    }

    /// The joint for which suggestions are computed, and the progress.
    pub fn suggesting(&self) -> Option<(JointId, &Task)> {
        let running = self.suggesting.job.as_ref()?;
        Some((running.joint, running.job.task()))
    }

    /// Cancels the computation of suggestions.
    pub fn cancel_suggesting(&mut self) {
        if let Some(running) = self.suggesting.job.take() {
            running.job.task().cancel();
        }
    }

    /// Whether a proposal of a suggestion (both by index) was accepted, and its sample is in the document.
    pub fn is_proposal_accepted(&self, suggestion: usize, proposal: usize) -> bool {
        let found = self.suggesting.found.get(suggestion);
        let Some((of, own)) = found.and_then(|s| Some((s, s.proposals.get(proposal)?))) else {
            return false;
        };
        let mut accepted = self.suggesting.accepted.iter().rev();
        accepted.find(|a| a.is_of(of, own)).is_some_and(|accepted| {
            let there = of.sample_at(&self.document, own);
            let replaced = accepted.replaced.as_ref();
            there.is_some_and(|there| !replaced.is_some_and(|old| old.shares(&there.displacements)))
        })
    }

    /// Ticks a proposal of a suggestion, or unticks it; both by index.
    pub fn tick_proposal(&mut self, suggestion: usize, proposal: usize, ticked: bool) {
        let found = self.suggesting.found.get_mut(suggestion);
        if let Some(found) = found.and_then(|s| s.proposals.get_mut(proposal)) {
            found.is_recommended = ticked;
        }
    }

    /// Drops a proposal of a suggestion; both by index.
    pub fn drop_proposal(&mut self, suggestion: usize, proposal: usize) {
        if let Some(found) = self.suggesting.found.get_mut(suggestion)
            && proposal < found.proposals.len()
        {
            found.proposals.remove(proposal);
        }
    }

    /// Drops all suggestions.
    pub fn drop_suggestions(&mut self) {
        self.suggesting.forget_model();
    }

    /// Adds one proposal of a suggestion (both by index) as a corrective sample: one undo step.
    pub fn accept_proposal(&mut self, suggestion: usize, proposal: usize) {
        self.accept("Accept corrective sample", |s, p| {
            (s, p) == (suggestion, proposal)
        });
    }

    /// Adds all ticked proposals that are not accepted yet as corrective samples: one undo step.
    pub fn accept_ticked_proposals(&mut self) {
        let found = self.suggesting.found.iter().enumerate();
        let is_ticked = |s: usize, (p, proposal): (usize, &Proposal)| {
            proposal.is_recommended && !self.is_proposal_accepted(s, p)
        };
        let ticked = found.map(|(s, suggestion)| {
            let proposals = suggestion.proposals.iter().enumerate();
            proposals.map(|entry| is_ticked(s, entry)).collect()
        });
        let ticked: Vec<Vec<bool>> = ticked.collect();
        self.accept("Accept corrective samples", |s, p| ticked[s][p]);
    }

    fn suggest_for(&mut self, joint: JointId) {
        let (base, settings) = (self.document.clone(), self.suggesting.settings);
        let label = format!("Suggest correctives for {}", base.skeleton().label(joint));
        let document = base.clone();
        self.compute((joint, false), base, &label, move |task| {
            Ok(Computed::All(suggest(&document, joint, &settings, task)?))
        });
    }

    /// Runs a computation on the job lane instead of the one under way.
    fn compute(
        &mut self,
        (joint, is_tune): (JointId, bool),
        base: Document,
        label: &str,
        work: impl FnOnce(&Task) -> Result<Computed, SuggestError> + Send + 'static,
    ) {
        self.cancel_suggesting();
        let job = self.lane.submit(EditorJob::Suggest, label, work);
        self.suggesting.failure = None;
        self.suggesting.job = Some(Running {
            joint,
            base,
            is_tune,
            job,
        });
    }

    /// The document that the suggestions were computed for. `None`, with a notice, where the model has changed since.
    fn suggestion_base(&mut self) -> Option<Document> {
        let base = self.suggesting.base.as_ref();
        let base = base
            .filter(|base| base.bends_the_same(&self.document))
            .cloned();
        if base.is_none() {
            self.notify(
                "The model changed since these samples were computed. Suggest correctives again.",
            );
        }
        base
    }

    /// Takes the suggestions of a computation that has ended.
    pub(super) fn take_suggestions(&mut self) {
        let job = &mut self.suggesting.job;
        let Some(ended) = job.take_if(|running| running.job.has_ended()) else {
            return;
        };
        match ended.job.into_result() {
            Ok(Ok(Computed::All(found))) => {
                self.suggesting.found = found;
                self.suggesting.accepted.clear();
                self.suggesting.base = Some(ended.base);
            }
            Ok(Ok(Computed::Tuned(instance, tuned))) => {
                let pose = (tuned.axis, tuned.angle);
                let found = self.suggesting.found.iter_mut();
                let mut proposals = found
                    .filter(|found| found.instance == instance)
                    .flat_map(|found| &mut found.proposals);
                // Another shape can be accepted anew.
                let accepted = &mut self.suggesting.accepted;
                accepted.retain(|a| (a.instance, a.pose) != (instance, pose));
                // It may have been dropped meanwhile.
                if let Some(proposal) = proposals.find(|p| (p.axis, p.angle) == pose) {
                    *proposal = *tuned;
                }
            }
            Ok(Err(SuggestError::Cancelled(_))) | Err(JobError::Cancelled) => {}
            Ok(Err(why)) if ended.is_tune => self.notify(why.to_string()),
            Ok(Err(why)) => {
                self.suggesting.found.clear();
                self.suggesting.accepted.clear();
                self.suggesting.failure = Some(why.to_string());
                self.notify(why.to_string());
            }
            Err(why @ JobError::Failed) => self.notify_error(why.to_string()),
        }
    }

    /// Adds the chosen proposals (suggestion, proposal). They stay in the list, as accepted.
    fn accept(&mut self, label: &str, accepts: impl Fn(usize, usize) -> bool) {
        self.finish_tool();
        if self.suggestion_base().is_none() {
            return;
        }
        let found = self.suggesting.found.clone();
        let (mut edits, mut accepted) = (Vec::new(), Vec::new());
        for (s, suggestion) in found.iter().enumerate() {
            let chosen = suggestion.proposals.iter().enumerate();
            let chosen = chosen.filter(|(p, _)| accepts(s, *p));
            let n_before = accepted.len();
            accepted.extend(chosen.map(|(_, proposal)| {
                Accepted {
                    instance: suggestion.instance,
                    pose: (proposal.axis, proposal.angle),
                    replaced: suggestion
                        .sample_at(&self.document, proposal)
                        .map(|sample| sample.displacements.clone()),
                }
            }));
            if accepted.len() == n_before {
                continue;
            }
            match suggestion.accept(&self.document, |p| accepts(s, p)) {
                Ok(edit) => edits.push(Edit::Correctives(edit)),
                Err(why) => {
                    self.notify_error(format!("The samples were not added: {why}."));
                    return;
                }
            }
        }
        if edits.is_empty() {
            self.notify("No sample is ticked.");
            return;
        }
        let replaced = replaced(&self.document, &edits);
        self.history.begin(&self.document, label);
        for edit in edits {
            if let Err(why) = self.apply(edit, label) {
                let dirty = self.history.cancel(&mut self.document);
                self.refresh(&dirty);
                self.notify_error(format!("The samples were not added: {why}."));
                return;
            }
        }
        self.history.commit(&self.document);
        let added = counted(accepted.len(), "corrective sample");
        self.suggesting.accepted.extend(accepted);
        self.notify(match &replaced[..] {
            [] => format!("{added} added."),
            [only] => format!("{added} added instead of \"{only}\"."),
            [first, rest @ ..] => format!(
                "{added} added instead of \"{first}\" and {}.",
                counted(rest.len(), "other")
            ),
        });
    }
}

/// The names of the samples that edits of samples take away.
fn replaced(document: &Document, edits: &[Edit]) -> Vec<String> {
    let of_edit = |edit: &Edit| -> Vec<String> {
        let Edit::Correctives(edit) = edit else {
            return Vec::new();
        };
        let item = document.meshes().get(&edit.mesh);
        let before = item.map_or(&[][..], |item| item.correctives.samples());
        let after = edit.correctives.samples();
        let gone = before.iter().filter(|sample| !after.contains(sample));
        gone.map(|sample| sample.name.clone()).collect()
    };
    edits.iter().flat_map(of_edit).collect()
}
