//! The results of operations on the rig: one undo step, replaced while it is adjusted.

use super::{CANCELLED, Editor, RigTool};
use crate::document::Edit;
use crate::evaluate::JobError;
use crate::finding::counted;
use crate::rig::Report;
use crate::skeleton::JointId;

impl Editor {
    /// Ends the adjustment after another edit. Returns whether it did something.
    pub(in crate::editor) fn follow_edits_of_rig(&mut self) -> bool {
        let revision = self.history.revision();
        let Some(adjusting) = &mut self.rigging.adjusting else {
            return false;
        };
        if adjusting.revision == revision {
            return false;
        }
        let waits = adjusting.tool.is_slow() && !adjusting.is_applied && adjusting.job.is_none();
        if waits {
            adjusting.base = self.document.clone();
            adjusting.revision = revision;
        } else {
            self.say_run_is_cancelled("its input changed");
            self.drop_moved();
            self.rigging.end();
        }
        true
    }

    /// Takes a run that has ended.
    pub(in crate::editor) fn take_rig_operation(&mut self) {
        self.follow_edits_of_rig();
        let Some(adjusting) = &mut self.rigging.adjusting else {
            return;
        };
        let Some(job) = adjusting.job.take_if(|job| job.has_ended()) else {
            return;
        };
        let is_cancelled = job.task().is_cancelled();
        let outcome = match job.into_result() {
            Err(JobError::Cancelled) => Err(CANCELLED.to_owned()),
            Err(error @ JobError::Failed) => Err(error.to_string()),
            Ok(Err(_)) if is_cancelled => Err(CANCELLED.to_owned()),
            Ok(outcome) => outcome,
        };
        let was_applied = std::mem::replace(&mut adjusting.is_applied, false);
        let (tool, joints) = (adjusting.tool.clone(), adjusting.joints.clone());
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(why) if why == CANCELLED => {
                adjusting.is_applied = was_applied;
                adjusting.is_stale = true;
                adjusting.failure = Some(why);
                return self.drop_moved();
            }
            Err(why) => {
                adjusting.failure = Some(why.clone());
                self.drop_moved();
                // Without settings there is nothing to change: a window would only be in the way.
                let ends = !tool.has_settings();
                if was_applied {
                    self.remove_rig_step();
                }
                if ends {
                    self.rigging.end();
                }
                return self.notify_error(why);
            }
        };
        adjusting.failure = None;
        if was_applied {
            self.remove_rig_step();
        }
        if outcome.edit.changes_nothing(&self.document) {
            return self.end_without_change(&tool, &outcome.reports, was_applied);
        }
        let label = self.step_label(&tool, &joints);
        let edit = Edit::Rig(Box::new(outcome.edit));
        self.history.begin(&self.document, &label);
        if let Err(error) = self.apply(edit, &label) {
            let dirty = self.history.cancel(&mut self.document);
            self.refresh(&dirty);
            self.rigging.end();
            return self.notify_error(error.to_string());
        }
        self.history.commit(&self.document);
        self.await_moved_joints();
        self.select_after(&tool, &joints, outcome.made);
        let revision = self.history.revision();
        let mut text = outcome.reports.first().map_or_else(String::new, |report| {
            let line = report.lines().into_iter().next().unwrap_or_default();
            match outcome.reports.len() {
                1 => format!("{line}."),
                n => format!("{}: done on {}.", tool.label(), counted(n, "bone")),
            }
        });
        for why in &outcome.left_out {
            text += " ";
            text += why;
        }
        self.rigging.reports = outcome.reports;
        if let Some(adjusting) = &mut self.rigging.adjusting {
            adjusting.is_applied = true;
            adjusting.revision = revision;
        }
        // Notified once; during adjustment its window shows the report.
        if !was_applied {
            self.notify(text);
        }
    }

    /// Says that a run changed nothing: there is no step.
    fn end_without_change(&mut self, tool: &RigTool, reports: &[Report], was_applied: bool) {
        self.drop_moved();
        let note = reports.iter().flat_map(|report| &report.notes).next();
        let why = note.map_or("Nothing changes.", String::as_str);
        if !tool.has_settings() {
            self.rigging.end();
        } else if let Some(adjusting) = &mut self.rigging.adjusting {
            adjusting.failure = Some(why.to_owned());
        }
        // Notified once; during adjustment its window shows the reason.
        if !was_applied {
            self.notify(why);
        }
    }

    /// The name of the step in the history.
    fn step_label(&self, tool: &RigTool, joints: &[JointId]) -> String {
        let label = tool.label();
        match joints {
            _ if !tool.is_about_bones() => label.to_owned(),
            [joint] => format!("{label} · {}", self.document.skeleton().label(*joint)),
            _ => format!("{label} · {}", counted(joints.len(), "bone")),
        }
    }

    /// Selects the new bones; after a removal the bone above.
    fn select_after(&mut self, tool: &RigTool, joints: &[JointId], made: Vec<JointId>) {
        if let Some(&first) = made.first() {
            self.select_joints(made, Some(first));
        } else if matches!(tool, RigTool::Remove | RigTool::Dissolve) {
            let skeleton = self.document.skeleton().clone();
            let before = self.rigging.adjusting.as_ref();
            let before = before.map(|adjusting| adjusting.base.skeleton().clone());
            let is_bone = self.document.bone_mask();
            let above = before.and_then(|before| {
                let mut above = joints.iter().flat_map(|&joint| before.ancestors(joint));
                above.find(|j| skeleton.is_live(*j) && is_bone[j.get()])
            });
            self.select_joint(above);
        }
        self.selection_changed();
        self.refresh_heat();
    }

    /// Removes the operation's step from the history.
    pub(super) fn remove_rig_step(&mut self) {
        if let Some(dirty) = self.history.drop_newest(&mut self.document) {
            self.refresh(&dirty);
            self.selection_changed();
            self.refresh_heat();
        }
        self.rigging.forget_reports();
        let revision = self.history.revision();
        if let Some(adjusting) = &mut self.rigging.adjusting {
            adjusting.revision = revision;
        }
    }
}
