//! The kinds of editor jobs on the lane: priority, ordering, and the subsystem that takes each result.

use super::Editor;
use crate::evaluate::{JobKind, Priority};
use crate::task::Task;

/// A kind of job. The status bar shows the first running one in this order ([`EditorJob::is_in_status_bar`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum EditorJob {
    /// Reads a model.
    Open,
    /// Writes the project.
    Save,
    /// Writes a computed export or a static mesh.
    WriteExport,
    /// Fixes a problem.
    Fix,
    /// Computes an export in memory.
    ComputeExport,
    /// Reads a model or a weights file for an operation.
    ReadWeights,
    /// Writes a weights file.
    WriteWeights,
    /// Runs an operation on weights that takes less than a second.
    Operation,
    /// Runs an operation on weights that takes longer.
    SlowOperation,
    /// Computes the centres of rotation of a mesh.
    Centres,
    /// Matches mirror images of points, for painting with symmetry.
    MirrorTable,
    /// Finds the mirror image of a selection.
    MirrorSelection,
    /// Matches mirror images for a layer.
    MirrorLayer,
    /// Writes the autosave.
    Autosave,
    /// Checks the document for problems.
    Checks,
    /// Gathers rows and columns of the influence table.
    InfluenceTable,
    /// Measures volume and bulge over a clip.
    Volume,
    /// Measures the model in its rest pose.
    Diagonal,
    /// Lists what an export would change.
    Preflight,
    /// Estimates the result of a corrected export.
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
            // Changed settings restart the same operation.
            || both(|kind| matches!(kind, Self::Operation | Self::SlowOperation))
    }

    fn replaces_waiting(self) -> bool {
        // Every requested file is written. Fixes, checks, centres and tables start only after the previous one has
        // ended.
        !self.writes()
    }
}

impl EditorJob {
    /// Whether it writes a file: files are written in the order of the requests.
    fn writes(self) -> bool {
        matches!(
            self,
            Self::Save | Self::Autosave | Self::WriteExport | Self::WriteWeights
        )
    }

    /// Whether the job is finished instead of cancelled when the editor is dropped.
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
    /// The label and progress of the job that the status bar shows.
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

    /// Whether a step is open: a stroke, a transform, the drag of a slider.
    pub(super) fn is_in_step(&self) -> bool {
        self.history.is_open() || self.is_painting() || self.is_posing()
    }

    /// Takes the results of all jobs that ended, in that order, except those that cannot be used yet. Returns whether
    /// there was one.
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
