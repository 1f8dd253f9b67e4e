//! Operations on weights: run on the lane, shown when ready, adjusted until the next edit.
//!
//! Data flow: a command names an [`OperationKind`] -> the operation with the settings used last and its
//! [`Scope`] -> a job on the snapshot from before it -> one undo step, which is replaced when a setting changes.
//!
//! Invariant: an adjusted operation starts from the document as it was before it, so that its settings never
//! accumulate.
//! Invariant: any other edit, undo or redo keeps the result and ends the adjustment.

mod copying;
mod kind;
mod scope;
mod sources;

pub use copying::CopiedWeights;
pub use kind::OperationKind;
pub use scope::{Scope, ScopeBones, ScopeObjects, ScopePoints};
pub use sources::SourceJob;

use super::Editor;
use super::jobs::EditorJob;
use crate::document::{Document, Edit, MeshId};
use crate::evaluate::{JobError, JobHandle};
use crate::finding::{counted, thousands};
use crate::mesh::PointSet;
use crate::skeleton::JointId;
use crate::task::{Cancelled, Task};
use crate::weights::operation::{Operation, OperationError, Report};
use scope::{Outcomes, run};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

/// The message after a cancelled run.
const CANCELLED: &str = "Cancelled. Nothing changed.";

/// The operation being adjusted.
pub struct Adjusting {
    kind: OperationKind,
    operation: Operation,
    scope: Scope,
    /// The document before the operation, with the selection it began with.
    base: Document,
    /// The history revision as long as nothing else was edited.
    revision: u64,
    /// Whether the newest step of the history is this operation's.
    is_applied: bool,
    job: Option<JobHandle<Outcomes>>,
    /// Whether settings changed since the job started, or the first run was not requested yet.
    is_stale: bool,
    reports: Vec<(MeshId, Report)>,
    /// The reason that it did nothing.
    failure: Option<String>,
    /// Whether its settings are hidden.
    is_hidden: bool,
}

impl Adjusting {
    /// The kind of operation.
    pub fn kind(&self) -> OperationKind {
        self.kind
    }

    /// The operation with its settings.
    pub fn operation(&self) -> &Operation {
        &self.operation
    }

    /// The scope.
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// The document before it, with the selection it began with.
    pub fn base(&self) -> &Document {
        &self.base
    }

    /// The progress of the current run.
    pub fn task(&self) -> Option<&Task> {
        self.job.as_ref().map(JobHandle::task)
    }

    /// Whether the shown result has other settings, or there is no result yet.
    pub fn is_stale(&self) -> bool {
        self.is_stale
    }

    /// The report of the latest run for each mesh.
    pub fn reports(&self) -> &[(MeshId, Report)] {
        &self.reports
    }

    /// Whether its settings are hidden.
    pub fn is_hidden(&self) -> bool {
        self.is_hidden
    }

    /// Whether all inputs of operations in `document` are as they were before this one.
    fn reads_the_same(&self, document: &Document) -> bool {
        let (before, now) = (self.base.meshes(), document.meshes());
        self.base.locked() == document.locked()
            && before.len() == now.len()
            && before
                .values()
                .zip(now.values())
                .all(|(a, b)| Arc::ptr_eq(a, b))
    }

    /// The reason that the latest run did nothing.
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }
}

/// The state of operations.
#[derive(Default)]
pub(super) struct Operations {
    adjusting: Option<Adjusting>,
    /// The latest settings of each kind.
    remembered: Vec<(OperationKind, Operation, Scope)>,
    pub(super) copied: Option<Arc<CopiedWeights>>,
    pub(super) source: Option<SourceJob>,
}

impl Operations {
    /// Drops what belongs to the previous model.
    pub(super) fn forget_model(&mut self) {
        self.end();
        // Copied weights can be pasted on another model; settings may name bones of the previous one.
        self.remembered.clear();
        // A file being written is a snapshot of the previous model: it is finished.
        if !matches!(self.source, Some(SourceJob::Export(_)))
            && let Some(job) = self.source.take()
        {
            job.task().cancel();
        }
    }

    fn end(&mut self) {
        if let Some(job) = self.adjusting.take().and_then(|a| a.job) {
            job.task().cancel();
        }
    }
}

impl Editor {
    /// The operation being adjusted.
    pub fn adjusting(&self) -> Option<&Adjusting> {
        self.operations.adjusting.as_ref()
    }

    /// Begins an operation with the settings used last. It runs at once, unless it is a slow one, which waits for
    /// [`Editor::run_operation`].
    pub fn begin_operation(&mut self, kind: OperationKind) {
        let remembered = self.operations.remembered.iter().find(|r| r.0 == kind);
        let begun = match remembered {
            // Its bone is the active one, not that of the previous use.
            Some((_, operation, scope)) => {
                let operation = kind.about_active(operation.clone(), self);
                operation.map(|operation| (operation, *scope))
            }
            None => kind
                .usual(self)
                .map(|operation| (operation, kind.usual_scope())),
        };
        let (operation, scope) = match begun {
            Ok(begun) => begun,
            Err(why) => return self.notify(why),
        };
        let has_points = !self.document.session().selected_points.is_empty();
        let has_bone = self.document.session().active_joint.is_some();
        let scope = Scope {
            points: if has_points {
                ScopePoints::Selected
            } else {
                ScopePoints::All
            },
            bones: match scope.bones {
                ScopeBones::Active if !has_bone => ScopeBones::default(),
                bones => bones,
            },
            ..scope
        };
        self.begin_operation_with(kind, operation, scope);
    }

    /// Begins an operation with the given settings.
    pub fn begin_operation_with(
        &mut self,
        kind: OperationKind,
        operation: Operation,
        scope: Scope,
    ) {
        // A running drag of bones becomes an operation of its own.
        self.finish_tool();
        if self.is_rig_busy() {
            return;
        }
        self.operations.end();
        self.rigging.end();
        self.motions.end();
        let waits = operation.is_slow();
        self.operations.adjusting = Some(Adjusting {
            kind,
            operation,
            scope,
            base: self.document.clone(),
            revision: self.history.revision(),
            is_applied: false,
            job: None,
            is_stale: true,
            reports: Vec::new(),
            failure: None,
            is_hidden: false,
        });
        if !waits {
            self.run_operation();
        }
    }

    /// Changes the settings and replaces the step.
    pub fn set_operation(&mut self, operation: Operation) {
        let Some(adjusting) = &mut self.operations.adjusting else {
            return;
        };
        if adjusting.operation == operation {
            return;
        }
        adjusting.operation = operation;
        self.settings_changed();
    }

    /// Changes the scope and replaces the step.
    pub fn set_operation_scope(&mut self, scope: Scope) {
        let Some(adjusting) = &mut self.operations.adjusting else {
            return;
        };
        if adjusting.scope == scope {
            return;
        }
        adjusting.scope = scope;
        self.settings_changed();
    }

    /// Sets the counterpart of `joint` on the other side, for this model: itself for a bone on the centre line, `None`
    /// to match by name.
    pub fn set_joint_pair(&mut self, joint: JointId, partner: Option<JointId>) {
        let change = |pairs: &mut BTreeMap<JointId, JointId>| {
            pairs.retain(|&a, &mut b| a != joint && b != joint);
            if let Some(partner) = partner {
                pairs.retain(|&a, &mut b| a != partner && b != partner);
                pairs.insert(joint, partner);
            }
        };
        change(&mut self.document.session_mut().joint_pairs);
        if let Some(adjusting) = &mut self.operations.adjusting {
            change(&mut adjusting.base.session_mut().joint_pairs);
            self.settings_changed();
        }
    }

    fn settings_changed(&mut self) {
        let Some(adjusting) = &mut self.operations.adjusting else {
            return;
        };
        adjusting.is_stale = true;
        if !adjusting.operation.is_slow() {
            self.run_operation();
        }
    }

    /// Runs the adjusted operation with its current settings.
    pub fn run_operation(&mut self) {
        let Some(adjusting) = &mut self.operations.adjusting else {
            return;
        };
        if let Some(job) = adjusting.job.take() {
            job.task().cancel();
        }
        adjusting.is_stale = false;
        let (document, operation) = (adjusting.base.clone(), adjusting.operation.clone());
        let scope = adjusting.scope;
        let label = operation.label();
        let kind = if operation.is_slow() {
            EditorJob::SlowOperation
        } else {
            EditorJob::Operation
        };
        let work = move |task: &Task| run(&document, &operation, scope, task);
        adjusting.job = Some(self.lane.submit(kind, label, work));
        let settings = (adjusting.kind, adjusting.operation.clone(), scope);
        let remembered = &mut self.operations.remembered;
        remembered.retain(|r| r.0 != settings.0);
        remembered.push(settings);
    }

    /// Cancels the current run; the previous result stays.
    pub fn cancel_operation(&mut self) {
        if let Some(adjusting) = &mut self.operations.adjusting
            && let Some(job) = adjusting.job.take()
        {
            job.task().cancel();
            adjusting.is_stale = true;
            adjusting.failure = Some(CANCELLED.into());
        }
    }

    /// Keeps the result and ends the adjustment.
    pub fn end_operation(&mut self) {
        self.operations.end();
    }

    /// Takes the result back, bit for bit, and ends the adjustment.
    pub fn take_back_operation(&mut self) {
        let is_applied = self.operations.adjusting.as_ref().map(|a| a.is_applied);
        if is_applied == Some(true) {
            self.remove_operation_step();
        }
        self.operations.end();
    }

    /// Hides or shows the settings of the operation, which remain available until the next edit.
    pub fn hide_operation(&mut self, hide: bool) {
        if let Some(adjusting) = &mut self.operations.adjusting {
            adjusting.is_hidden = hide;
        }
    }

    /// Ends the adjustment because of another edit.
    fn end_after_other_edit(&mut self) {
        if let Some(adjusting) = &self.operations.adjusting
            && adjusting.job.is_some()
        {
            let label = adjusting.operation.label();
            self.notify(format!("{label}: cancelled, because its input changed."));
        }
        self.operations.end();
    }

    /// Ends the adjustment after another edit. Returns whether it did something.
    pub(super) fn follow_edits_of_operation(&mut self) -> bool {
        let revision = self.history.revision();
        let Some(adjusting) = &mut self.operations.adjusting else {
            return false;
        };
        if adjusting.revision == revision {
            return false;
        }
        // A step can be replaced only while it is the newest; a first run may wait for a pose.
        if adjusting.is_applied || !adjusting.reads_the_same(&self.document) {
            self.end_after_other_edit();
        } else {
            adjusting.revision = revision;
        }
        true
    }

    /// Takes a run that has ended.
    pub(super) fn take_operation(&mut self) {
        self.follow_edits_of_operation();
        let Some(adjusting) = &mut self.operations.adjusting else {
            return;
        };
        let Some(job) = adjusting.job.take_if(|job| job.has_ended()) else {
            return;
        };
        let outcomes = match job.into_result() {
            Err(JobError::Cancelled) => Err(OperationError::Cancelled(Cancelled)),
            Err(error @ JobError::Failed) => Err(OperationError::Refused(error.to_string())),
            Ok(outcomes) => outcomes,
        };
        let outcomes = match outcomes {
            Ok(outcomes) => outcomes,
            Err(OperationError::Cancelled(_)) => {
                adjusting.is_stale = true;
                adjusting.failure = Some(CANCELLED.into());
                return;
            }
            Err(OperationError::Refused(why)) => {
                adjusting.reports.clear();
                adjusting.failure = Some(why);
                if std::mem::take(&mut adjusting.is_applied) {
                    self.remove_operation_step();
                }
                return;
            }
        };
        adjusting.failure = None;
        let label = adjusting.operation.label();
        let was_applied = std::mem::replace(&mut adjusting.is_applied, false);
        let (mut edits, mut reports) = (Vec::new(), Vec::new());
        let mut changed = Vec::new();
        for (mesh, outcome) in outcomes {
            changed.push((mesh, outcome.points.clone()));
            reports.push((mesh, outcome.report));
            if !outcome.points.is_empty() {
                edits.push(
                    adjusting
                        .base
                        .paint_edit(mesh, outcome.points, outcome.rows),
                );
            }
        }
        adjusting.reports = reports;
        if was_applied {
            self.remove_operation_step();
        }
        // If locks and a mirrored layer leave every point unchanged, there is no step.
        edits.retain(|edit| !edit.changes_no_points());
        let is_applied = !edits.is_empty() && self.keep_edits(edits, label);
        let revision = self.history.revision();
        if let Some(adjusting) = &mut self.operations.adjusting {
            adjusting.is_applied = is_applied;
            adjusting.revision = revision;
            let mut text = summary(label, &adjusting.reports);
            // Notified once; during adjustment its panel shows the summary.
            if !was_applied {
                let resting = changed.iter();
                let resting: usize = resting.map(|(mesh, of)| self.resting(*mesh, of)).sum();
                if resting > 0 {
                    let n = counted(resting, "free vertex");
                    // Writing to a string cannot fail.
                    let _ = write!(text, " The weights of {n} are ignored.");
                }
                self.notify(text);
            }
        }
    }

    /// Applies the edits, at least one, as one step. Returns whether that succeeded.
    pub(super) fn keep_edits(&mut self, edits: Vec<Edit>, label: &str) -> bool {
        self.history.begin(&self.document, label);
        for edit in edits {
            if let Err(error) = self.apply(edit, label) {
                let dirty = self.history.cancel(&mut self.document);
                self.refresh(&dirty);
                self.notify_error(error.to_string());
                return false;
            }
        }
        self.history.commit(&self.document);
        true
    }

    /// Removes the operation's step from the history; the current selection stays.
    fn remove_operation_step(&mut self) {
        let session = self.document.session().clone();
        if let Some(dirty) = self.history.drop_newest(&mut self.document) {
            *self.document.session_mut() = session;
            self.refresh(&dirty);
            self.refresh_heat();
        }
        let revision = self.history.revision();
        if let Some(adjusting) = &mut self.operations.adjusting {
            adjusting.revision = revision;
        }
    }

    /// Selects the points of a report that the operation left out.
    pub fn select_left_out(&mut self, mesh: MeshId, points: &PointSet) {
        self.select_points_of([(mesh, points.clone())]);
        self.frame_selected();
    }
}

/// "Smooth weights: 1,204 points changed, 8 without a partner."
pub fn summary(label: &str, reports: &[(MeshId, Report)]) -> String {
    let changed: usize = reports.iter().map(|(_, report)| report.changed).sum();
    let mut text = format!("{label}: {} changed", counted(changed, "vertex"));
    let left_out = reports.iter().flat_map(|(_, report)| &report.left_out);
    for part in left_out {
        // Writing to a string cannot fail.
        let _ = write!(text, ", {} {}", thousands(part.points.count()), part.why);
    }
    text + "."
}
