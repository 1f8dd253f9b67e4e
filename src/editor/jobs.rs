//! The kinds of editor jobs on the lane: priority, ordering, and the subsystem that takes each result.

use super::Editor;
use crate::document::Person;
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
    /// Reads a file of recorded channels.
    ReadRecording,
    /// Reads a motion of another skeleton.
    ReadMotion,
    /// Retargets a motion to the character.
    AddMotion,
    /// Reads a table of measurements.
    ReadMeasurements,
    /// Measures the template for a new row.
    AddMeasurement,
    /// Fits the body of a person.
    FitIndividual,
    /// Fits the body of a what-if.
    FitWhatIf,
    /// Compares the body with a scan.
    CompareScan,
    /// Writes a weights file.
    WriteWeights,
    /// Writes a computed table of recordings.
    WriteTable,
    /// Computes a table of recordings in memory.
    ComputeTable,
    /// Runs an operation on weights that takes less than a second.
    Operation,
    /// Runs an operation on weights that takes longer.
    SlowOperation,
    /// Runs an operation on bones that takes less than a second or two.
    RigOperation,
    /// Runs an operation on bones that takes longer.
    SlowRigOperation,
    /// Finds claps in a recording.
    FindClaps,
    /// Compares channels of two recordings.
    SuggestOffset,
    /// Suggests corrective samples.
    Suggest,
    /// Suggests control clusters.
    SuggestClusters,
    /// Replaces the cage of a group of clusters.
    ReplaceCage,
    /// Computes the centres of rotation of a mesh.
    Centres,
    /// Lays out the patches between the control clusters of a mesh.
    Patches,
    /// Matches mirror images of points, for painting with symmetry.
    MirrorTable,
    /// Finds the mirror image of a selection.
    MirrorSelection,
    /// Matches mirror images for a layer.
    MirrorLayer,
    /// Fits the spatial index of a large surface.
    FitIndex,
    /// Writes the autosave.
    Autosave,
    /// Checks the document for problems.
    Checks,
    /// Reads the summary of a recording.
    Summary,
    /// Reads a channel of a recording.
    ChannelNumbers,
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
    /// Draws a picture of a corrective sample.
    Picture,
    /// Draws a picture of a pose of the library.
    PosePicture,
    /// Reads the vertices of a driver over a clip.
    DriverInputs,
    /// Reads the vertices of a driver in the pose on screen.
    DriverNow,
}

impl JobKind for EditorJob {
    fn priority(self) -> Priority {
        match self {
            // Started by the editor itself: jobs that the artist starts never wait for these.
            Self::Centres
            | Self::Patches
            | Self::Estimate
            | Self::Picture
            | Self::PosePicture
            | Self::DriverInputs => Priority::Background,
            // Started by the artist, may take minutes: these may wait for each other.
            Self::ComputeExport
            | Self::SlowOperation
            | Self::SlowRigOperation
            | Self::Suggest
            | Self::SuggestClusters
            | Self::SuggestOffset
            | Self::CompareScan
            | Self::Volume => Priority::Long,
            // Take seconds, and the artist waits for them.
            Self::Open
            | Self::ReadWeights
            | Self::ReadRecording
            | Self::ReadMotion
            | Self::AddMotion
            | Self::ReadMeasurements
            | Self::AddMeasurement
            | Self::FitIndividual
            | Self::FitWhatIf
            | Self::ComputeTable
            | Self::FindClaps
            | Self::ReplaceCage => Priority::Normal,
            _ => Priority::Quick,
        }
    }

    fn must_follow(self, earlier: Self) -> bool {
        let both = |is: fn(Self) -> bool| is(self) && is(earlier);
        self == earlier
            || both(Self::writes)
            // Changed settings restart the same operation.
            || both(|kind| matches!(kind, Self::Operation | Self::SlowOperation))
            || both(|kind| matches!(kind, Self::RigOperation | Self::SlowRigOperation))
    }

    fn replaces_waiting(self) -> bool {
        // Every requested file is written, and every recording read. Fixes, checks, centres and influence tables start only after the previous
        // one has ended.
        !self.writes() && !matches!(self, Self::ReadRecording | Self::ComputeTable)
    }

    /// Files are written in the order of the requests.
    fn writes(self) -> bool {
        matches!(
            self,
            Self::Save | Self::Autosave | Self::WriteExport | Self::WriteWeights | Self::WriteTable
        )
    }
}

impl EditorJob {
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
                | Self::ReadRecording
                | Self::ReadMotion
                | Self::AddMotion
                | Self::ReadMeasurements
                | Self::AddMeasurement
                | Self::Operation
                | Self::SlowOperation
                | Self::RigOperation
                | Self::SlowRigOperation
                | Self::MirrorLayer
                | Self::FindClaps
                | Self::ReplaceCage
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
                EditorJob::ReadRecording => self.take_recording(),
                EditorJob::ComputeTable => self.take_computed_table(),
                EditorJob::WriteTable => self.take_table(),
                EditorJob::ReadMotion => self.take_motion_source(),
                EditorJob::AddMotion => self.take_added_motion(),
                EditorJob::ReadMeasurements => self.take_measurements(),
                EditorJob::AddMeasurement => self.take_measurement(),
                EditorJob::FitIndividual => self.take_individual(Person::Individual),
                EditorJob::FitWhatIf => self.take_individual(Person::WhatIf),
                EditorJob::CompareScan => self.take_scan(),
                EditorJob::Operation | EditorJob::SlowOperation => self.take_operation(),
                EditorJob::RigOperation | EditorJob::SlowRigOperation => self.take_rig_operation(),
                EditorJob::FindClaps => self.take_claps(),
                EditorJob::SuggestOffset => self.take_suggested_offset(),
                EditorJob::Suggest => self.take_suggestions(),
                EditorJob::SuggestClusters => self.take_suggested_clusters(),
                EditorJob::ReplaceCage => self.take_replaced_cage(),
                EditorJob::Centres => self.take_centres(),
                EditorJob::Patches => self.take_layout(),
                EditorJob::MirrorTable => self.take_mirror_table(),
                EditorJob::MirrorSelection => self.take_mirrored_selection(),
                EditorJob::MirrorLayer => self.take_layer_mirror(),
                EditorJob::FitIndex => self.take_fitted_index(),
                EditorJob::Autosave => self.take_autosave(),
                EditorJob::Checks => self.take_checks(),
                EditorJob::Summary => self.take_summary(),
                EditorJob::ChannelNumbers => self.take_channel_numbers(),
                EditorJob::InfluenceTable => self.take_influence_table(),
                EditorJob::Volume => self.take_volume_study(),
                EditorJob::Diagonal => self.take_diagonal(),
                EditorJob::Preflight => self.exporting.take_preflight(),
                EditorJob::Estimate => self.exporting.take_estimate(),
                EditorJob::Picture => self.take_picture(),
                EditorJob::PosePicture => self.take_pose_picture(),
                EditorJob::DriverInputs => self.take_driver_inputs(),
                EditorJob::DriverNow => self.take_driver_now(),
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

    /// A job that reports its start, and runs until its gate is opened.
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
            Centres, Checks, ComputeExport, ComputeTable, Estimate, Open, Operation, ReadWeights,
            Save, SlowOperation, Volume,
        };
        let minutes = [Centres, Estimate, ComputeExport, SlowOperation, Volume];
        let lane = Lane::spawn(|| {}).unwrap();
        let gates = minutes.map(|kind| gated(&lane, kind));
        // A quick operation follows a slow one, which is cancelled when it begins.
        for kind in [Open, ReadWeights, Checks, Save] {
            wait_for(&lane.submit(kind, "asked for", |_| ()), kind);
        }
        drop(gates);
        // A large table is computed: the project can be saved meanwhile.
        let lane = Lane::spawn(|| {}).unwrap();
        let (_table, begun) = gated(&lane, ComputeTable);
        begun.recv().unwrap();
        wait_for(&lane.submit(Save, "asked for", |_| ()), Save);
        // The artist's jobs run beside a background job, also while another one waits.
        let lane = Lane::spawn(|| {}).unwrap();
        let (_centres, begun) = gated(&lane, Centres);
        begun.recv().unwrap();
        let _estimate = gated(&lane, Estimate);
        for kind in [ComputeExport, SlowOperation, Operation, Volume, Open] {
            wait_for(&lane.submit(kind, "asked for", |_| ()), kind);
        }
    }

    #[test]
    fn what_writes_keeps_its_result_and_is_never_replaced() {
        use EditorJob::{Autosave, Save, WriteExport, WriteTable, WriteWeights};
        for kind in [Autosave, Save, WriteExport, WriteWeights, WriteTable] {
            assert!(kind.writes() && !kind.replaces_waiting(), "{kind:?}");
        }
        for kind in [EditorJob::ComputeExport, EditorJob::ComputeTable] {
            assert!(!kind.writes(), "{kind:?} is in memory only");
        }
        assert!(!EditorJob::ComputeTable.replaces_waiting());
    }
}
