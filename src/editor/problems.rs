//! The problems of the document, updated in the background, and their fixes.

use super::jobs::EditorJob;
use super::rigging::RigKind;
use super::{Editor, FileJob};
use crate::cluster::channel::RecordingId;
use crate::correctives;
use crate::deform::BodyChoice;
use crate::document::MeshId;
use crate::document::checks::{ModelChecks, ModelReport, of_kept_constraint};
use crate::document::fixes::{self, Fixed};
use crate::document::session::SelectKind;
use crate::evaluate::{JobError, JobHandle};
use crate::finding::{Finding, Fix, Place};
use crate::skeleton::JointId;
use crate::task::{Cancelled, Task};
use glam::Vec3;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::SystemTime;

/// The number of messages kept.
const MAX_MESSAGES: usize = 200;

/// A notice in the message list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The text.
    pub text: String,
    /// Whether it reports a failure.
    pub is_error: bool,
    /// When it was last shown.
    pub at: SystemTime,
    /// How many times it was shown in a row.
    pub n_times: usize,
    /// What it is about, which [`Editor::go_to_place`] selects.
    pub target: Option<Place>,
}

/// The checks of the document and their findings.
pub(super) struct Problems {
    /// The checks with their caches; `None` while a run uses them.
    checks: Option<ModelChecks>,
    running: Option<Running>,
    /// Whether the document changed since the last run began.
    stale: bool,
    /// Findings of the importer that no check covers.
    imported: Vec<Finding>,
    /// Findings about the pose on screen.
    of_pose: Vec<Finding>,
    /// Findings about files that changed on disk.
    of_files: Vec<Finding>,
    /// Findings about live motion.
    of_live: Vec<Finding>,
    report: Arc<ModelReport>,
    findings: Arc<Vec<Finding>>,
    messages: VecDeque<Message>,
    /// Fixes waiting for the one under way: points, samples or a set of a mesh.
    waiting: VecDeque<(MeshId, Arc<[u32]>, Fix)>,
}

struct Running {
    job: JobHandle<(ModelChecks, Result<ModelReport, Cancelled>)>,
    /// The model of the run.
    model_serial: u64,
}

impl Default for Problems {
    fn default() -> Self {
        Self {
            checks: Some(ModelChecks::default()),
            running: None,
            stale: false,
            imported: Vec::new(),
            of_pose: Vec::new(),
            of_files: Vec::new(),
            of_live: Vec::new(),
            report: Arc::default(),
            findings: Arc::default(),
            messages: VecDeque::new(),
            waiting: VecDeque::new(),
        }
    }
}

impl Problems {
    /// Resets the state for another document.
    pub(super) fn start_document(&mut self, mut imported: Vec<Finding>) {
        if let Some(running) = &self.running {
            running.job.task().cancel();
        }
        // The checks report these themselves, as long as they apply.
        imported.retain(|finding| {
            let is_of_samples = matches!(
                finding.target,
                Some(Place::Samples { .. } | Place::SampleSet { .. })
            );
            finding.fix.is_none() && !is_of_samples
        });
        imported.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        self.imported = imported;
        self.of_pose.clear();
        self.of_files.clear();
        self.waiting.clear();
        self.report = Arc::default();
        self.stale = true;
        self.gather();
    }

    pub(super) fn mark_stale(&mut self) {
        self.stale = true;
    }

    pub(super) fn keep_message(&mut self, text: &str, is_error: bool, target: Option<&Place>) {
        let at = SystemTime::now();
        match self.messages.back_mut() {
            Some(last) if last.text == text && last.target.as_ref() == target => {
                last.at = at;
                last.n_times += 1;
            }
            _ => self.messages.push_back(Message {
                text: text.to_owned(),
                is_error,
                at,
                n_times: 1,
                target: target.cloned(),
            }),
        }
        if self.messages.len() > MAX_MESSAGES {
            self.messages.pop_front();
        }
    }

    /// Replaces the findings about the pose on screen.
    pub(super) fn set_of_pose(&mut self, findings: Vec<Finding>) {
        if self.of_pose != findings {
            self.of_pose = findings;
            self.gather();
        }
    }

    /// Replaces the findings about files that changed on disk.
    pub(super) fn set_of_files(&mut self, findings: Vec<Finding>) {
        if self.of_files != findings {
            self.of_files = findings;
            self.gather();
        }
    }

    /// Replaces the findings about live motion.
    pub(super) fn set_of_live(&mut self, findings: Vec<Finding>) {
        if self.of_live != findings {
            self.of_live = findings;
            self.gather();
        }
    }

    fn gather(&mut self) {
        let mut findings: Vec<Finding> = self.imported.clone();
        findings.extend(self.of_pose.iter().cloned());
        findings.extend(self.of_files.iter().cloned());
        findings.extend(self.of_live.iter().cloned());
        findings.extend(self.report.findings.iter().cloned());
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        if *self.findings != findings {
            self.findings = Arc::new(findings);
        }
    }
}

impl Editor {
    /// The findings of the importer and the checks, the most severe first. The `Arc` changes only with its content.
    pub fn problems(&self) -> &Arc<Vec<Finding>> {
        &self.problems.findings
    }

    /// The statistics of bones and meshes. The `Arc` changes only with its content.
    pub fn report(&self) -> &Arc<ModelReport> {
        &self.problems.report
    }

    /// The message list, the oldest first.
    pub fn messages(&self) -> &VecDeque<Message> {
        &self.problems.messages
    }

    /// Clears the message list.
    pub fn clear_messages(&mut self) {
        self.problems.messages.clear();
    }

    /// Takes a run of the checks that has ended.
    pub(super) fn take_checks(&mut self) {
        let problems = &mut self.problems;
        let Some(running) = problems.running.take_if(|running| running.job.has_ended()) else {
            return;
        };
        match running.job.into_result() {
            // Its caches are lost; the next run starts without.
            Err(JobError::Cancelled | JobError::Failed) => {
                problems.checks = Some(ModelChecks::default());
            }
            Ok((checks, result)) => {
                problems.checks = Some(checks);
                let is_of_model = running.model_serial == self.model_serial;
                if let Ok(report) = result
                    && is_of_model
                {
                    if *problems.report != report {
                        problems.report = Arc::new(report);
                    }
                    problems.gather();
                }
            }
        }
    }

    /// Whether the document changed since the last run of the checks, and no step is open.
    pub(super) fn wants_checks(&self) -> bool {
        self.problems.stale && !self.history.is_open()
    }

    /// Starts the next run of the checks if required and none is under way. Returns whether it did.
    pub(super) fn start_checks(&mut self) -> bool {
        if !self.wants_checks() {
            return false;
        }
        // A running run has them.
        let Some(mut checks) = self.problems.checks.take() else {
            return false;
        };
        self.problems.stale = false;
        checks.take_layouts(self.layouts.known(BodyChoice::Template));
        let document = self.document.clone();
        let work = move |task: &Task| {
            let report = checks.run(&document, task);
            (checks, report)
        };
        self.problems.running = Some(Running {
            job: self
                .lane
                .submit(EditorJob::Checks, "Checking the model", work),
            model_serial: self.model_serial,
        });
        true
    }

    /// Fixes the problem of `finding` in one of its ways: one undo step once the fix is computed.
    pub fn fix(&mut self, finding: &Finding, fix: Fix) {
        if let Some(Place::Recording(recording)) = &finding.target {
            match fix {
                Fix::Relink => self.ask_for_recording_file(RecordingId(*recording)),
                Fix::Reload => self.reload_recording(RecordingId(*recording)),
                _ => {}
            }
            return;
        }
        if let Some(Place::KeptConstraint(index)) = &finding.target {
            let kept = self.document.unplaced_constraints().get(*index as usize);
            // Another one may have its index by now.
            if kept.is_some_and(|kept| of_kept_constraint(*index, kept) == *finding) {
                self.delete_kept_constraint(*index as usize);
            }
            return;
        }
        if fix == Fix::InferParents {
            return self.begin_rig(RigKind::InferParents);
        }
        let (mesh, points) = match &finding.target {
            Some(Place::Points { mesh, points }) => (mesh, points.clone()),
            Some(Place::Samples { mesh, samples }) => (mesh, samples.clone()),
            Some(Place::SampleSet { mesh, set }) => (mesh, [*set].into()),
            _ => return,
        };
        if !self.can_start_file_job() {
            return;
        }
        self.finish_tool();
        self.start_fix(MeshId(*mesh), points, fix);
    }

    /// The number of points whose weights do not sum to 1, as of the last check.
    pub fn n_off_sum(&self) -> usize {
        let points = self.problems.report.off_sum.values();
        points.map(|points| points.len()).sum()
    }

    /// Selects and frames the points whose weights do not sum to 1, as of the last check.
    pub fn select_off_sum(&mut self) {
        let report = self.problems.report.clone();
        if report.off_sum.is_empty() {
            self.notify("The weights of every vertex add up to 1.");
            return;
        }
        self.select_points_of(
            report
                .off_sum
                .iter()
                .map(|(&mesh, points)| (mesh, points.iter().copied().collect())),
        );
        self.frame_selected();
    }

    /// Normalises the weights of the points that do not sum to 1: one undo step per mesh.
    pub fn normalise_off_sum(&mut self) {
        let off = self.problems.report.off_sum.iter();
        let fixes = off.map(|(&mesh, points)| (mesh, points.clone(), Fix::Normalise));
        self.problems.waiting = fixes.collect();
        self.finish_tool();
        self.start_fix_that_waits();
    }

    /// Whether fixes wait for another file job or for the end of a step.
    pub(super) fn has_waiting_fixes(&self) -> bool {
        !self.problems.waiting.is_empty()
    }

    /// Starts a waiting fix when no other file job runs and no step is open. Returns whether it did.
    pub(super) fn start_fix_that_waits(&mut self) -> bool {
        if self.job.is_some() || self.is_in_step() {
            return false;
        }
        let next = self.problems.waiting.pop_front();
        let starts = next.is_some();
        if let Some((mesh, points, fix)) = next {
            self.start_fix(mesh, points, fix);
        }
        starts
    }

    fn start_fix(&mut self, mesh: MeshId, points: Arc<[u32]>, fix: Fix) {
        let (document, theirs) = (self.document.clone(), points.clone());
        let job = self
            .lane
            .submit(EditorJob::Fix, &fix.label(), move |task| match fix {
                Fix::Samples(fix) => correctives::fix(&document, mesh, &theirs, fix, task),
                _ => fixes::fix(&document, mesh, &theirs, fix, task),
            });
        self.job = Some(FileJob::Fix {
            mesh,
            points,
            fix,
            revision: self.history.revision(),
            job,
        });
    }

    /// Applies a computed fix; recomputes it if the document changed since. A fix that was cancelled or failed also
    /// drops the waiting ones, which were requested together with it.
    pub(super) fn finish_fix(
        &mut self,
        (mesh, points, fix): (MeshId, Arc<[u32]>, Fix),
        revision: u64,
        result: Result<Result<Fixed, Cancelled>, JobError>,
    ) {
        match result {
            Err(error @ JobError::Failed) => {
                self.problems.waiting.clear();
                self.notify_error(error.to_string());
            }
            Err(JobError::Cancelled) | Ok(Err(Cancelled)) => {
                self.problems.waiting.clear();
                self.notify("The fix was cancelled. Nothing changed.");
            }
            // The samples may be others now.
            Ok(Ok(_)) if revision != self.history.revision() && matches!(fix, Fix::Samples(_)) => {
                self.notify("The model changed in the meantime. Nothing was fixed.");
            }
            Ok(Ok(_)) if revision != self.history.revision() => self.start_fix(mesh, points, fix),
            Ok(Ok(Fixed {
                edit,
                label,
                message,
            })) => match edit.map(|edit| self.apply(edit, label)) {
                Some(Err(error)) => self.notify_error(error.to_string()),
                None | Some(Ok(())) => self.notify(message),
            },
        }
    }

    /// Selects and frames the target of `finding`; `false` if it has none in the document.
    pub fn go_to(&mut self, finding: &Finding) -> bool {
        if let Some(target) = &finding.target {
            self.go_to_place(target);
        }
        finding.target.is_some()
    }

    /// Selects and frames a part of the document.
    pub fn go_to_place(&mut self, place: &Place) {
        match place {
            Place::Joints(joints) => {
                let joints: Vec<JointId> = joints.iter().copied().map(JointId).collect();
                self.set_select_kind(SelectKind::Bones);
                self.select_joints(joints.iter().copied(), joints.first().copied());
                self.frame_selected();
            }
            Place::Mesh(mesh) | Place::Samples { mesh, .. } | Place::SampleSet { mesh, .. } => {
                self.document.session_mut().active_mesh = Some(MeshId(*mesh));
                self.frame_points_of(MeshId(*mesh), None);
            }
            Place::Points { mesh, points } => {
                self.document.session_mut().active_mesh = Some(MeshId(*mesh));
                self.select_points(MeshId(*mesh), points);
                self.frame_points_of(MeshId(*mesh), Some(points));
            }
            Place::KeptConstraint(index) => {
                let kept = self.document.unplaced_constraints().get(*index as usize);
                let joint = kept.and_then(|kept| kept.joint);
                if let Some(joint) = joint.filter(|&j| self.document.skeleton().is_live(j)) {
                    self.set_select_kind(SelectKind::Bones);
                    self.select_joints([joint], Some(joint));
                    self.frame_selected();
                }
            }
            Place::Recording(recording) => {
                let recording = RecordingId(*recording);
                self.choose_recording(recording);
                if let Some((mesh, group)) = self.document.reader_of(recording) {
                    self.document.session_mut().active_mesh = Some(mesh);
                    self.choose_group(group);
                } else if let Some(mesh) = self.document.coloured_by(recording) {
                    self.document.session_mut().active_mesh = Some(mesh);
                }
            }
        }
    }

    /// Frames the given points of a mesh, or all of them.
    fn frame_points_of(&mut self, mesh: MeshId, points: Option<&[u32]>) {
        let instances = self.document.instances();
        let shown = self
            .views
            .own()
            .iter()
            .filter(|(id, _)| instances.get(id).is_some_and(|i| i.mesh == mesh))
            .map(|(_, displayed)| displayed);
        let places: Vec<Vec3> = match points {
            None => shown.flat_map(|d| d.positions.iter().copied()).collect(),
            Some(points) => shown
                .flat_map(|d| points.iter().filter_map(|&p| d.positions.get(p as usize)))
                .copied()
                .collect(),
        };
        self.frame_points(&places);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::session::Normalising;
    use crate::editor::OpenRequest;
    use std::time::{Duration, Instant};

    fn settle(editor: &mut Editor) {
        let deadline = Instant::now() + Duration::from_mins(2);
        while editor.poll(0.0) || !editor.is_idle() {
            assert!(Instant::now() < deadline, "it does not come to rest");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn one_cancel_ends_all_fixes_that_were_asked_for_together() {
        let mut editor = Editor::new(None, || {}).unwrap();
        editor.open(OpenRequest::Sample("arm".into()));
        settle(&mut editor);
        let mesh = *editor.document().meshes().keys().next().unwrap();
        editor.brush_mut().normalise = Normalising::Off;
        let cells = [(0, 0, 0.1), (9, 0, 0.1)];
        editor.set_weights(mesh, &cells, "Edit weights");
        settle(&mut editor);
        assert_eq!(editor.n_off_sum(), 2);
        for cancels in [true, false] {
            for point in [0, 9] {
                let fix = (mesh, [point].into(), Fix::Normalise);
                editor.problems.waiting.push_back(fix);
            }
            assert!(editor.start_fix_that_waits());
            if cancels {
                editor.cancel_job();
            }
            settle(&mut editor);
            assert_eq!(editor.n_off_sum(), if cancels { 2 } else { 0 });
        }
    }
}
