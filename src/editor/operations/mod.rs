//! Operations on weights: run on the lane, shown at once, adjusted until the next edit.
//!
//! Data flow: a command names an [`OperationKind`] -> the operation with the settings used last and its
//! [`Scope`] -> a job on the snapshot from before it -> one undo step, which gives way to another when a setting changes.
//!
//! Invariant: an operation that is adjusted works on the document as it was before it, so that settings never pile up.
//! Invariant: any other edit, undo and redo keep what is there and end the adjusting.

mod copying;
mod kind;
mod sources;

pub use copying::CopiedWeights;
pub use kind::OperationKind;
pub use sources::SourceJob;

use super::Editor;
use super::jobs::EditorJob;
use crate::document::subject::{PointScope, SubjectScope};
use crate::document::{Document, Edit, MeshId};
use crate::evaluate::{JobError, JobHandle};
use crate::finding::{counted, thousands};
use crate::mesh::PointSet;
use crate::skeleton::JointId;
use crate::task::{Cancelled, Task};
use crate::weights::operation::{Operation, OperationError, Outcome, Report};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

/// What an operation works on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// Which points.
    pub points: ScopePoints,
    /// Which bones.
    pub bones: ScopeBones,
    /// Which objects.
    pub objects: ScopeObjects,
}

/// Which points an operation works on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScopePoints {
    /// Every one.
    #[default]
    All,
    /// Those that were selected when it began.
    Selected,
}

/// Which bones an operation works on; locked ones are never among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScopeBones {
    /// All that are not locked.
    #[default]
    Unlocked,
    /// Those that were selected when it began.
    Selected,
    /// The active one.
    Active,
}

/// Which objects an operation works on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScopeObjects {
    /// The active one; with selected points those that have some.
    #[default]
    Active,
    /// Every skinned one.
    All,
}

/// What a run that was stopped says.
const STOPPED: &str = "Cancelled. This run changed nothing.";

type Outcomes = Result<Vec<(MeshId, Outcome)>, OperationError>;

/// The operation that can still be adjusted.
pub struct Adjusting {
    kind: OperationKind,
    operation: Operation,
    scope: Scope,
    /// The document before the operation, with the selection it began with.
    base: Document,
    /// The history's revision while nothing else was edited.
    revision: u64,
    /// Whether the newest step of the history is this operation's.
    is_applied: bool,
    job: Option<JobHandle<Outcomes>>,
    /// Settings changed since the job was started, or nobody asked for the first one yet.
    is_stale: bool,
    reports: Vec<(MeshId, Report)>,
    /// Why it did nothing.
    failure: Option<String>,
    /// Its settings are put away.
    is_hidden: bool,
}

impl Adjusting {
    /// Which one it is.
    pub fn kind(&self) -> OperationKind {
        self.kind
    }

    /// The operation with its settings.
    pub fn operation(&self) -> &Operation {
        &self.operation
    }

    /// What it works on.
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// The document before it, with the selection it began with.
    pub fn base(&self) -> &Document {
        &self.base
    }

    /// The run under way.
    pub fn task(&self) -> Option<&Task> {
        self.job.as_ref().map(JobHandle::task)
    }

    /// Whether what is shown was made with other settings, or nothing was made yet.
    pub fn is_stale(&self) -> bool {
        self.is_stale
    }

    /// What the latest run did to each mesh.
    pub fn reports(&self) -> &[(MeshId, Report)] {
        &self.reports
    }

    /// Whether its settings are put away for now.
    pub fn is_hidden(&self) -> bool {
        self.is_hidden
    }

    /// Whether all that operations read is in `document` as it was before this one.
    fn reads_the_same(&self, document: &Document) -> bool {
        let (before, now) = (self.base.meshes(), document.meshes());
        self.base.locked() == document.locked()
            && before.len() == now.len()
            && before
                .values()
                .zip(now.values())
                .all(|(a, b)| Arc::ptr_eq(a, b))
    }

    /// Why the latest run did nothing.
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }
}

/// The operations' part of the editor.
#[derive(Default)]
pub(super) struct Operations {
    adjusting: Option<Adjusting>,
    /// The settings used last.
    remembered: Vec<(OperationKind, Operation, Scope)>,
    pub(super) copied: Option<Arc<CopiedWeights>>,
    pub(super) source: Option<SourceJob>,
}

impl Operations {
    /// Forgets what is about the model, for another one.
    pub(super) fn forget_model(&mut self) {
        self.end();
        // What was copied may be pasted on another model; settings may name its bones.
        self.remembered.clear();
        // A file that is written is a snapshot of the model that goes: it is finished.
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
    /// The operation that can still be adjusted.
    pub fn adjusting(&self) -> Option<&Adjusting> {
        self.operations.adjusting.as_ref()
    }

    /// Begins an operation with the settings used last: at once, unless it is a slow one, which waits for
    /// [`Editor::run_operation`].
    pub fn begin_operation(&mut self, kind: OperationKind) {
        let remembered = self.operations.remembered.iter().find(|r| r.0 == kind);
        let begun = match remembered {
            // The bone it is about is the active one, not that of last time.
            Some((_, operation, scope)) => {
                let operation = kind.about_active(operation.clone(), self);
                operation.map(|operation| (operation, *scope))
            }
            None => kind.usual(self).map(|o| (o, Scope::default())),
        };
        let (operation, scope) = match begun {
            Ok(begun) => begun,
            Err(why) => return self.notify(why),
        };
        let has_points = !self.document.session().selected_points.is_empty();
        let scope = Scope {
            points: if has_points {
                ScopePoints::Selected
            } else {
                ScopePoints::All
            },
            ..scope
        };
        self.begin_operation_with(kind, operation, scope);
    }

    /// Begins an operation with these settings.
    pub fn begin_operation_with(
        &mut self,
        kind: OperationKind,
        operation: Operation,
        scope: Scope,
    ) {
        self.finish_tool();
        self.operations.end();
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

    /// Changes the settings: the step gives way to one with these.
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

    /// Changes what the operation works on.
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

    /// Says which bone is `joint`'s on the other side, for this model: itself for one of the middle, `None`: by its name
    /// again.
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

    /// Runs the operation that is adjusted, with its present settings.
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

    /// Stops the run under way; what was shown before it stays.
    pub fn cancel_operation(&mut self) {
        if let Some(adjusting) = &mut self.operations.adjusting
            && let Some(job) = adjusting.job.take()
        {
            job.task().cancel();
            adjusting.is_stale = true;
            adjusting.failure = Some(STOPPED.into());
        }
    }

    /// Keeps what the operation made; it can no longer be adjusted.
    pub fn end_operation(&mut self) {
        self.operations.end();
    }

    /// Puts the settings of the operation away, or shows them again; they stay until the next edit.
    pub fn hide_operation(&mut self, hide: bool) {
        if let Some(adjusting) = &mut self.operations.adjusting {
            adjusting.is_hidden = hide;
        }
    }

    /// Ends the adjusting because something else was edited.
    fn give_way(&mut self) {
        if let Some(adjusting) = &self.operations.adjusting
            && adjusting.job.is_some()
        {
            let label = adjusting.operation.label();
            self.notify(format!(
                "{label}: cancelled, because its input changed meanwhile."
            ));
        }
        self.operations.end();
    }

    /// Ends the adjusting when something else was edited; whether it did something.
    pub(super) fn follow_edits_of_operation(&mut self) -> bool {
        let revision = self.history.revision();
        let Some(adjusting) = &mut self.operations.adjusting else {
            return false;
        };
        if adjusting.revision == revision {
            return false;
        }
        // A step of its own can be replaced only while it is the newest; a first run may wait for a pose.
        if adjusting.is_applied || !adjusting.reads_the_same(&self.document) {
            self.give_way();
        } else {
            adjusting.revision = revision;
        }
        true
    }

    /// Takes a run over once it has ended.
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
                adjusting.failure = Some(STOPPED.into());
                return;
            }
            Err(OperationError::Refused(why)) => {
                adjusting.reports.clear();
                adjusting.failure = Some(why);
                if std::mem::take(&mut adjusting.is_applied) {
                    self.take_operation_back();
                }
                return;
            }
        };
        adjusting.failure = None;
        let label = adjusting.operation.label();
        let was_applied = std::mem::replace(&mut adjusting.is_applied, false);
        let (mut edits, mut reports) = (Vec::new(), Vec::new());
        for (mesh, outcome) in outcomes {
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
            self.take_operation_back();
        }
        // Where locks and a mirrored layer leave every point alone there is no step.
        edits.retain(|edit| !edit.changes_no_points());
        let is_applied = !edits.is_empty() && self.keep_edits(edits, label);
        let revision = self.history.revision();
        if let Some(adjusting) = &mut self.operations.adjusting {
            adjusting.is_applied = is_applied;
            adjusting.revision = revision;
            let text = summary(label, &adjusting.reports);
            // Said once; while it is adjusted its panel tells.
            if !was_applied {
                self.notify(text);
            }
        }
    }

    /// Applies the edits, of which there is one at least, as one step; whether that could be done.
    fn keep_edits(&mut self, edits: Vec<Edit>, label: &str) -> bool {
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

    /// The step of the operation is gone as if it had never been; what is selected meanwhile stays.
    fn take_operation_back(&mut self) {
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

    /// Selects the points of a report that an operation could not do.
    pub fn select_left_out(&mut self, mesh: MeshId, points: &PointSet) {
        self.select_points_of([(mesh, points.clone())]);
        self.frame_selected();
    }
}

/// What an operation makes of each mesh in its scope.
fn run(document: &Document, operation: &Operation, scope: Scope, task: &Task) -> Outcomes {
    let meshes = meshes_of(document, scope);
    if meshes.is_empty() {
        return Err(OperationError::Refused(
            "No skinned object is in scope. Make one active, or select its vertices.".into(),
        ));
    }
    let session = document.session();
    let mut outcomes = Vec::new();
    let mut refused = None;
    for mesh in &meshes {
        let points = match scope.points {
            ScopePoints::All => PointScope::All,
            ScopePoints::Selected => match session.selected_points.get(mesh) {
                Some(points) => PointScope::These(points.clone()),
                None => continue,
            },
        };
        let bones = match scope.bones {
            ScopeBones::Unlocked => None,
            ScopeBones::Selected => Some(session.selected_joints.clone()),
            ScopeBones::Active => Some(session.active_joint.into_iter().collect()),
        };
        let scope = SubjectScope { points, bones };
        let outcome = document
            .subject(*mesh, scope)
            .map_err(OperationError::Refused)
            .and_then(|subject| operation.run(&subject.view(), task));
        match outcome {
            Ok(outcome) => outcomes.push((*mesh, outcome)),
            // Of several objects one may lack the bone.
            Err(OperationError::Refused(why)) if meshes.len() > 1 => refused = Some(why),
            Err(error) => return Err(error),
        }
    }
    match (outcomes.is_empty(), refused) {
        (true, Some(why)) => Err(OperationError::Refused(why)),
        (true, None) => Err(OperationError::Refused(
            "No vertex of a skinned object is selected.".into(),
        )),
        _ => Ok(outcomes),
    }
}

/// The skinned meshes in a scope.
fn meshes_of(document: &Document, scope: Scope) -> Vec<MeshId> {
    let session = document.session();
    let is_skinned = |mesh: &MeshId| document.n_skin_joints(*mesh).is_some();
    let skinned = document.meshes().keys().copied().filter(is_skinned);
    match (scope.objects, scope.points) {
        (ScopeObjects::All, _) => skinned.collect(),
        (ScopeObjects::Active, ScopePoints::Selected) => skinned
            .filter(|mesh| session.selected_points.contains_key(mesh))
            .collect(),
        // Another object than the active one would be a surprise.
        (ScopeObjects::Active, ScopePoints::All) => match session.active_mesh {
            Some(active) => Some(active).filter(is_skinned).into_iter().collect(),
            None => skinned.take(1).collect(),
        },
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
