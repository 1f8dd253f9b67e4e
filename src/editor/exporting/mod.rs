//! Exporting a model in two steps: the files are computed in memory and reviewed, then exactly those bytes are saved.
//!
//! Data flow: [`ExportSettings`] -> [`Editor::compute_export`] on the lane -> [`ExportResult`]: the files'
//! bytes, what the export found, and the model read back from these bytes, which a view shows as a player does ->
//! [`Editor::save_export`]. A frame as a static mesh is saved in one step ([`Editor::save_static_mesh`]).
//!
//! Invariant: the saved bytes are the reviewed ones, as long as neither the model nor the options changed since.

mod advice;
mod result;
mod settings;
mod static_mesh;

pub use advice::Advice;
pub use result::{ExportResult, Standing};
pub use settings::{Correction, ExportKind, ExportSettings};
pub use static_mesh::SavedStaticMesh;

use super::Editor;
use super::files::{FileJob, file_name};
use super::jobs::EditorJob;
use crate::bake::diagonal_at_rest;
use crate::deform::DeformStack;
use crate::document::{InstanceId, PaneLayout};
use crate::evaluate::{ExportedModel, JobError, JobHandle};
use crate::export::{ExportError, ExportOptions, ExportReport, GltfFormat, write_files};
use crate::task::{Cancelled, Task};
use glam::Vec3;
use result::compute;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The size of the region framed around the largest error, to each side, as a fraction of the diagonal.
const FRAMED_RADIUS: f64 = 0.12;

/// The export settings, the computed export, and how it is shown.
#[derive(Default)]
pub struct Exporting {
    settings: ExportSettings,
    result: Option<ExportResult>,
    static_mesh: Option<SavedStaticMesh>,
    /// The layout of the result beside the model; `None` if it is not shown.
    beside: Option<PaneLayout>,
    /// The point to frame once it is on screen.
    frame: Option<(InstanceId, u32)>,
    diagonal: Diagonal,
    advice: Advice,
    computing: Option<Computing>,
    /// Exports of models and tables that failed or were cancelled.
    n_unwritten: u64,
}

/// The diagonal of the body on screen in its rest pose, computed in the background. Keys distinguish the bodies and their
/// revisions.
#[derive(Default)]
struct Diagonal {
    /// Without a number where it could not be computed.
    known: Option<(u64, Option<f64>)>,
    asked: Option<(u64, JobHandle<Result<f64, Cancelled>>)>,
}

/// An export being computed.
struct Computing {
    path: PathBuf,
    /// Whether to save it once it is ready.
    saves: bool,
    job: JobHandle<Result<ExportResult, ExportError>>,
}

impl Exporting {
    /// The advice on the chosen export.
    pub fn advice(&self) -> &Advice {
        &self.advice
    }

    /// The latest computed export of this model.
    pub fn result(&self) -> Option<&ExportResult> {
        self.result.as_ref()
    }

    /// The latest static mesh saved from this model.
    pub fn static_mesh(&self) -> Option<&SavedStaticMesh> {
        self.static_mesh.as_ref()
    }

    /// The export settings.
    pub fn settings(&self) -> &ExportSettings {
        &self.settings
    }

    /// How the result is laid out beside the model in the viewport: two panes or a wipe; `None` if it is not shown.
    pub fn beside(&self) -> Option<PaneLayout> {
        self.beside.filter(|_| self.result.is_some())
    }

    pub(super) fn model(&self) -> Option<&Arc<ExportedModel>> {
        let result = self.result.as_ref().filter(|_| self.beside.is_some());
        result.map(|result| &result.model)
    }

    /// Whether a point is waiting to be framed.
    pub(super) fn wants_frame(&self) -> bool {
        self.frame.is_some()
    }

    pub(super) fn take_preflight(&mut self) {
        self.advice.take_preflight();
    }

    pub(super) fn take_estimate(&mut self) {
        self.advice.take_estimate();
    }

    /// Cancels the computation.
    fn stop_computing(&self) {
        if let Some(computing) = &self.computing {
            computing.job.task().cancel();
        }
    }

    /// Drops the previous model's results. Returns whether an export was being computed, which is cancelled.
    pub(super) fn forget_model(&mut self) -> bool {
        self.stop_computing();
        let was_computing = self.computing.take().is_some();
        self.settings.forget_model();
        self.advice.forget();
        self.result = None;
        self.static_mesh = None;
        self.beside = None;
        self.frame = None;
        if let Some((_, job)) = std::mem::take(&mut self.diagonal).asked {
            job.task().cancel();
        }
        was_computing
    }
}

impl Editor {
    /// The export state.
    pub fn exporting(&self) -> &Exporting {
        &self.exporting
    }

    /// Mutable access to the export settings.
    pub fn export_settings_mut(&mut self) -> &mut ExportSettings {
        &mut self.exporting.settings
    }

    /// The correction of exports: the chosen one, otherwise the one that the stacks require.
    pub fn correction(&self) -> Correction {
        let chosen = self.exporting.settings.correction;
        chosen.unwrap_or_else(|| self.proposed_correction())
    }

    /// The correction that the stacks require: none where linear blend skinning gives the same result.
    fn proposed_correction(&self) -> Correction {
        let plain = DeformStack::lbs().as_applied();
        let meshes = self.skinned_meshes();
        let mut items = meshes.iter().filter_map(|m| self.document.meshes().get(m));
        if items.any(|item| item.stack.as_applied() != plain || item.correctives.acts()) {
            Correction::Clips
        } else {
            Correction::None
        }
    }

    /// The options of an export to `path` with the current settings.
    pub fn export_options(&self, path: &Path) -> ExportOptions {
        ExportOptions {
            format: GltfFormat::of_path(path).unwrap_or_default(),
            ..self.exporting.settings.options(self.correction())
        }
    }

    /// Whether the computed export is what a save to `path` would write.
    pub fn export_standing(&self, path: &Path) -> Standing {
        let Some(result) = &self.exporting.result else {
            return Standing::None;
        };
        if result.revision != self.export_revision(&result.options) {
            Standing::ModelChanged
        } else if result.options != self.export_options(path) {
            Standing::OptionsChanged
        } else if result.exported.files.len() > 1 && result.path != path {
            Standing::PlaceChanged
        } else {
            Standing::Current
        }
    }

    /// Increases with every change of what an export with `options` writes: the pose matters only if it is written as
    /// the rest pose.
    fn export_revision(&self, options: &ExportOptions) -> u64 {
        let revision = if options.write_pose_as_rest {
            self.history.revision()
        } else {
            self.history.revision_but_for_poses()
        };
        revision ^ self.body_key()
    }

    /// Computes an export to `path` in memory, for review; writes nothing.
    pub fn compute_export(&mut self, path: &Path) {
        self.start_computing(path, false);
    }

    /// Saves the computed export to `path`; computes it first if it is missing or outdated.
    pub fn save_export(&mut self, path: &Path) {
        self.finish_tool();
        if self.export_standing(path) != Standing::Current {
            self.start_computing(path, true);
        } else if self.can_start_file_job() {
            self.write_result(path);
        }
    }

    /// The diagonal of the bounding box in the rest pose, of the body that is exported, metres; `None` while it is unknown. While
    /// that of an edited body is computed, it is the one before.
    pub fn rest_diagonal(&self) -> Option<f64> {
        self.exporting.diagonal.known?.1
    }

    /// Computes [`Editor::rest_diagonal`] in the background where the body has changed.
    pub fn measure_diagonal(&mut self) {
        let key = self.history.revision_but_for_poses() ^ self.body_key();
        let Diagonal { known, asked } = &self.exporting.diagonal;
        let known = known.as_ref().map(|(of, _)| *of);
        let asked = asked.as_ref().map(|(of, _)| *of);
        if asked.or(known) != Some(key) {
            let document = self.shown_body();
            let work = move |task: &Task| diagonal_at_rest(&document, task);
            let job = self
                .lane
                .submit(EditorJob::Diagonal, "Measuring the model", work);
            self.exporting.diagonal.asked = Some((key, job));
        }
    }

    /// Takes the diagonal once it is known.
    pub(super) fn take_diagonal(&mut self) {
        let diagonal = &mut self.exporting.diagonal;
        if let Some((key, job)) = diagonal.asked.take_if(|(_, job)| job.has_ended()) {
            let found = match job.into_result() {
                Ok(Ok(found)) => Some(found),
                // Without it, lengths are shown only in percent.
                Ok(Err(Cancelled)) | Err(JobError::Cancelled | JobError::Failed) => None,
            };
            diagonal.known = Some((key, found));
        }
    }

    /// The progress of the computation; `None` if none is under way.
    pub fn computing_export(&self) -> Option<&Task> {
        let computing = self.exporting.computing.as_ref()?;
        Some(computing.job.task())
    }

    /// The file name of a model or table that is being exported and is not written yet, with the fraction done, 0 to 1.
    pub fn unwritten_export(&self) -> Option<(String, f32)> {
        let computing = self.exporting.computing.as_ref().filter(|c| c.saves);
        let computing = computing.map(|c| (&c.path, c.job.task()));
        let writing = match &self.job {
            Some(FileJob::Export { path, job, .. }) => Some((path, job.task())),
            _ => None,
        };
        let all = [computing, writing, self.recording_tables.unwritten()];
        let mut all = all.into_iter().flatten();
        let (path, task) = all.find(|(_, task)| !task.is_cancelled())?;
        Some((file_name(path), task.fraction()))
    }

    /// The number of exports of models and tables so far that failed or were cancelled.
    pub fn n_unwritten_exports(&self) -> u64 {
        self.exporting.n_unwritten
    }

    pub(in crate::editor) fn count_unwritten_export(&mut self) {
        self.exporting.n_unwritten += 1;
    }

    /// Cancels the computation; writes nothing.
    pub fn stop_computing(&mut self) {
        self.exporting.stop_computing();
    }

    /// Shows the computed file beside the model, in two panes or a wipe; `None` hides it.
    pub fn show_exported(&mut self, beside: Option<PaneLayout>) {
        let beside = beside.filter(|layout| layout.n_panes() == 2);
        if self.exporting.beside != beside {
            self.exporting.beside = beside;
            self.evaluation.stale = true;
        }
    }

    /// Shows the largest error of the computed file: its clip and time, with the point selected. Returns whether there
    /// is one.
    pub fn show_worst_of_export(&mut self) -> bool {
        let result = self.exporting.result.as_ref();
        let worst = result.and_then(|r| r.correction()?.worst.clone());
        let clip = worst.as_ref().and_then(|worst| worst.clip_id);
        let (Some(worst), Some(clip)) = (worst, clip) else {
            return false;
        };
        let instance = InstanceId(worst.node);
        let mesh = self.document.instances().get(&instance).map(|i| i.mesh);
        let (Some(mesh), true) = (mesh, self.document.clips().contains_key(&clip)) else {
            return false;
        };
        self.finish_tool();
        if self.document.session().playback.clip != Some(clip) {
            self.show_clip(Some(clip));
        }
        self.pause();
        self.set_time(worst.time);
        self.document.session_mut().active_mesh = Some(mesh);
        self.select_points(mesh, &[worst.point]);
        self.exporting.frame = Some((instance, worst.point));
        true
    }

    fn start_computing(&mut self, path: &Path, saves: bool) {
        if let Some(computing) = &self.exporting.computing {
            let label = computing.job.label();
            let text = format!("{label} is still running. Wait for it or cancel it.");
            self.notify(text);
            return;
        }
        self.finish_tool();
        // The computation gets all cores.
        self.exporting.advice.stop();
        let options = self.export_options(path);
        let (document, target) = (self.shown_body(), path.to_owned());
        let revision = self.export_revision(&options);
        let label = format!("Computing {}", file_name(path));
        let job = self
            .lane
            .submit(EditorJob::ComputeExport, &label, move |task| {
                compute(&document, &target, revision, options, task)
            });
        self.exporting.computing = Some(Computing {
            path: path.to_owned(),
            saves,
            job,
        });
    }

    /// Whether an export is to be saved once it is computed, and waits until another file is written. A cancelled
    /// export does not wait.
    pub(super) fn export_waits_for_file(&self) -> bool {
        let computing = self.exporting.computing.as_ref();
        let saves = computing.is_some_and(|c| c.saves && !c.job.task().is_cancelled());
        saves && self.job.is_some()
    }

    /// Takes an export once it is computed.
    pub(super) fn take_computed_export(&mut self) {
        let computing = &mut self.exporting.computing;
        let Some(computing) = computing.take_if(|c| c.job.has_ended()) else {
            return;
        };
        match computing.job.into_result() {
            Err(JobError::Cancelled) => {
                self.finish_computing(&computing.path, computing.saves, Err(Cancelled.into()));
            }
            Err(error @ JobError::Failed) => {
                self.count_unwritten_export();
                self.notify_error(error.to_string());
            }
            Ok(result) => self.finish_computing(&computing.path, computing.saves, result),
        }
    }

    fn finish_computing(
        &mut self,
        path: &Path,
        saves: bool,
        result: Result<ExportResult, ExportError>,
    ) {
        if result.is_err() {
            self.count_unwritten_export();
        }
        match result {
            Ok(result) => {
                self.exporting.result = Some(result);
                self.evaluation.stale |= self.exporting.beside.is_some();
                if saves {
                    self.write_result(path);
                }
            }
            Err(ExportError::Cancelled(_)) => {
                self.notify("The export was cancelled. No file was written.");
            }
            Err(error) => self.notify_error(error.to_string()),
        }
    }

    /// Writes the computed bytes.
    fn write_result(&mut self, path: &Path) {
        let Some(result) = &self.exporting.result else {
            return;
        };
        let (document, target) = (self.shown_body(), path.to_owned());
        let exported = result.exported.clone();
        let mut outputs = self.outputs();
        let label = format!("Exporting {}", file_name(path));
        let job = self
            .lane
            .submit(EditorJob::WriteExport, &label, move |task| {
                write_files(&document, &target, &exported, &mut outputs, task)?;
                Ok(exported.report.clone())
            });
        self.job = Some(FileJob::Export {
            path: path.to_owned(),
            frame_label: None,
            job,
        });
    }

    /// Records the result of writing.
    pub(super) fn finish_export(
        &mut self,
        path: PathBuf,
        frame_label: Option<String>,
        result: Result<Result<ExportReport, ExportError>, JobError>,
    ) {
        if !matches!(result, Ok(Ok(_))) {
            self.count_unwritten_export();
        }
        match result {
            Err(error @ JobError::Failed) => self.notify_error(error.to_string()),
            Ok(Ok(report)) => match frame_label {
                Some(frame_label) => {
                    let saved = SavedStaticMesh::new(path, frame_label, report);
                    self.notify(saved.notice());
                    self.exporting.static_mesh = Some(saved);
                }
                None => {
                    let text = format!("Exported {}. {}", file_name(&path), report.closing());
                    self.notify(text.trim_end());
                }
            },
            Err(JobError::Cancelled) | Ok(Err(ExportError::Cancelled(_))) => {
                self.notify("The export was cancelled. No file was written.");
            }
            Ok(Err(error)) => self.notify_error(error.to_string()),
        }
    }

    /// Frames the requested point once the requested view is on screen. Returns whether it did.
    pub(super) fn frame_worst_of_export(&mut self) -> bool {
        if !self.evaluation.is_current() {
            return false;
        }
        let frame = self.exporting.frame.take();
        if let Some((instance, point)) = frame {
            let shown = self.displayed().get(&instance);
            let place = shown.and_then(|shown| shown.positions.get(point as usize));
            let place = place.copied();
            let correction = self.exporting.result.as_ref();
            let correction = correction.and_then(ExportResult::correction);
            if let (Some(place), Some(correction)) = (place, correction) {
                // With enough of the surroundings to recognise the location on the model.
                let around = Vec3::splat((FRAMED_RADIUS * correction.diagonal) as f32);
                self.frame_points(&[place - around, place + around]);
            }
        }
        frame.is_some()
    }
}
