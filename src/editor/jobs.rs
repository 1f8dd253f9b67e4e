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
            // Begun by the editor itself: whatever the artist asks for goes before it.
            Self::Centres | Self::Estimate => Priority::Background,
            // Asked for, and known to take long: these may wait for each other, and nothing else does for them.
            Self::ComputeExport | Self::SlowOperation | Self::Volume => Priority::Long,
            // Nothing can be done until they have ended.
            Self::Open | Self::ReadWeights => Priority::Normal,
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

    /// Files are written in the order in which that was asked for.
    fn writes(self) -> bool {
        matches!(
            self,
            Self::Save | Self::Autosave | Self::WriteExport | Self::WriteWeights
        )
    }
}

impl EditorJob {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::{JobHandle, Lane};
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::time::{Duration, Instant};

    /// A job that says that it begins, and runs until the gate is opened.
    fn gated(lane: &Lane<EditorJob>, kind: EditorJob) -> (Sender<()>, Receiver<()>) {
        let (open, gate) = channel();
        let (begins, begun) = channel();
        lane.submit(kind, "gated", move |_| {
            // Either may be gone: nobody waits for the beginning, or the gate stays open.
            let _ = begins.send(());
            let _ = gate.recv();
        });
        (open, begun)
    }

    fn wait_for(job: &JobHandle<()>, kind: EditorJob) {
        let deadline = Instant::now() + Duration::from_secs(10);
        while !job.has_ended() {
            assert!(Instant::now() < deadline, "{kind:?} waits");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn what_the_artist_waits_for_is_not_behind_what_takes_minutes() {
        use EditorJob::{
            Centres, Checks, ComputeExport, Estimate, Open, Operation, ReadWeights, Save,
            SlowOperation, Volume,
        };
        let minutes = [Centres, Estimate, ComputeExport, SlowOperation, Volume];
        let lane = Lane::spawn(|| {}).unwrap();
        let gates = minutes.map(|kind| gated(&lane, kind));
        for kind in [Open, ReadWeights, Operation, Checks, Save] {
            wait_for(&lane.submit(kind, "asked for", |_| ()), kind);
        }
        drop(gates);
        // Of two jobs that nobody asked for one runs, and what was asked for beside it.
        let lane = Lane::spawn(|| {}).unwrap();
        let (_centres, begun) = gated(&lane, Centres);
        begun.recv().unwrap();
        let _estimate = gated(&lane, Estimate);
        for kind in [ComputeExport, SlowOperation, Volume, Open] {
            wait_for(&lane.submit(kind, "asked for", |_| ()), kind);
        }
    }

    #[test]
    fn what_writes_keeps_its_result_and_is_never_replaced() {
        use EditorJob::{Autosave, Save, WriteExport, WriteWeights};
        for kind in [Autosave, Save, WriteExport, WriteWeights] {
            assert!(kind.writes() && !kind.replaces_waiting(), "{kind:?}");
        }
        assert!(!EditorJob::ComputeExport.writes(), "it is in memory only");
    }
}
