//! The editor's jobs on the lane: what each kind is, how urgent, and which subsystem takes its result.

use super::Editor;
use crate::evaluate::{JobKind, Priority};
use crate::task::Task;

/// A kind of job. The status bar shows the first in this order ([`EditorJob::is_in_status_bar`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum EditorJob {
    /// A model is read.
    Open,
    /// The project is written.
    Save,
    /// A computed export or a still is written.
    WriteExport,
    /// A problem is fixed.
    Fix,
    /// An export is computed in memory.
    ComputeExport,
    /// A model or a weights file is read, for an operation.
    ReadWeights,
    /// A weights file is written.
    WriteWeights,
    /// An operation on weights that takes less than a second.
    Operation,
    /// One that takes longer.
    SlowOperation,
    /// Centres of rotation of a mesh.
    Centres,
    /// Mirror images of points, for painting with symmetry.
    MirrorTable,
    /// The other side of a selection.
    MirrorSelection,
    /// Mirror images for a layer.
    MirrorLayer,
    /// The unsaved project is kept aside.
    Autosave,
    /// The document is checked for problems.
    Checks,
    /// Rows and columns of the influence table.
    InfluenceTable,
    /// Volume and bulge over a clip.
    Volume,
    /// The size of the model at rest.
    Diagonal,
    /// What an export would change.
    Preflight,
    /// What a corrected export would give.
    Estimate,
}

impl JobKind for EditorJob {
    fn priority(self) -> Priority {
        match self {
            Self::ComputeExport | Self::Centres | Self::Estimate => Priority::Long,
            Self::Open | Self::ReadWeights | Self::SlowOperation | Self::Volume => Priority::Normal,
            _ => Priority::Quick,
        }
    }

    fn must_follow(self, earlier: Self) -> bool {
        let both = |is: fn(Self) -> bool| is(self) && is(earlier);
        self == earlier
            || both(Self::writes)
            // Settings that changed begin another run of the same operation.
            || both(|kind| matches!(kind, Self::Operation | Self::SlowOperation))
    }

    fn replaces_waiting(self) -> bool {
        // Every file is written. Fixes, checks, centres and tables start only when the one before has ended.
        !self.writes()
    }
}

impl EditorJob {
    /// Whether it writes a file: files are written in the order in which that was asked for.
    fn writes(self) -> bool {
        matches!(
            self,
            Self::Save | Self::Autosave | Self::WriteExport | Self::WriteWeights
        )
    }

    /// Whether the job is finished, not cancelled, when the editor goes.
    pub(super) fn outlives_editor(self) -> bool {
        matches!(self, Self::Save | Self::Autosave | Self::WriteWeights)
    }

    fn is_in_status_bar(self) -> bool {
        self < Self::Autosave
    }

    /// Whether its result changes the document in a step of its own, which cannot begin inside another step.
    fn begins_step(self) -> bool {
        matches!(
            self,
            Self::Fix
                | Self::ReadWeights
                | Self::Operation
                | Self::SlowOperation
                | Self::MirrorLayer
        )
    }
}

impl Editor {
    /// The job that the status bar shows: its label and its progress.
    pub fn running(&self) -> Option<(String, Task)> {
        let shown = self.lane.jobs().into_iter();
        let shown = shown.filter(|job| job.kind.is_in_status_bar());
        let first = shown.min_by_key(|job| (job.task.is_cancelled(), job.kind));
        first.map(|job| (job.label, job.task))
    }

    /// Cancels the job that the status bar shows.
    pub fn cancel_running(&mut self) {
        if let Some((_, task)) = self.running() {
            task.cancel();
        }
    }

    /// Whether the artist is in the middle of a step: a stroke, a transform, a slider that is dragged.
    pub(super) fn is_in_step(&self) -> bool {
        self.history.is_open() || self.is_painting() || self.is_posing()
    }

    /// Takes the results of all jobs that ended, in the order in which they did; whether there was one. Those that cannot
    /// be used yet are left.
    pub(super) fn take_ended_jobs(&mut self) -> bool {
        let mut took = false;
        while let Some(kind) = self.lane.next_ended(|kind| self.can_take(kind)) {
            took = true;
            match kind {
                EditorJob::Open | EditorJob::Save | EditorJob::WriteExport | EditorJob::Fix => {
                    self.take_file_job();
                }
                EditorJob::ComputeExport => self.take_computed_export(),
                EditorJob::ReadWeights | EditorJob::WriteWeights => self.take_weights_file(),
                EditorJob::Operation | EditorJob::SlowOperation => self.take_operation(),
                EditorJob::Centres => self.take_centres(),
                EditorJob::MirrorTable => self.take_mirror_table(),
                EditorJob::MirrorSelection => self.take_mirrored_selection(),
                EditorJob::MirrorLayer => self.take_layer_mirror(),
                EditorJob::Autosave => self.take_autosave(),
                EditorJob::Checks => self.take_checks(),
                EditorJob::InfluenceTable => self.take_influence_table(),
                EditorJob::Volume => self.take_volume_study(),
                EditorJob::Diagonal => self.take_diagonal(),
                EditorJob::Preflight => self.exporting.take_preflight(),
                EditorJob::Estimate => self.exporting.take_estimate(),
            }
        }
        took
    }

    fn can_take(&self, kind: EditorJob) -> bool {
        match kind {
            EditorJob::ComputeExport => !self.export_waits_for_file(),
            _ => !(kind.begins_step() && self.is_in_step()),
        }
    }
}
