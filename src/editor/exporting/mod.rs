//! Exporting a model in two steps: a file is computed in memory, to be read and looked at, and those bytes are saved.
//!
//! Data flow: [`ExportSettings`] -> [`Editor::compute_export`] on the lane -> [`ExportResult`]: the files'
//! bytes, what the export found, and the model read back from these bytes, which a view shows as a player does ->
//! [`Editor::save_export`]. A moment as a mesh is saved in one step ([`Editor::save_still`]).
//!
//! Invariant: what is saved is what was computed and looked at, as long as neither model nor options changed since.

mod advice;
mod settings;
mod still;

pub use advice::Advice;
pub use settings::{Correction, ExportKind, ExportSettings};
pub use still::SavedStill;

use super::Editor;
use super::files::{FileJob, file_name};
use super::jobs::EditorJob;
use crate::bake::diagonal_at_rest;
use crate::deform::DeformStack;
use crate::document::{Document, InstanceId, PaneLayout};
use crate::evaluate::{ExportedModel, JobError, JobHandle};
use crate::export::{
    CorrectionReport, ExportError, ExportOptions, ExportReport, Exported, GltfFormat,
    export_and_read_back, write_files,
};
use crate::task::{Cancelled, Task};
use glam::Vec3;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is seen around the worst place to each side, as a fraction of the diagonal.
const AROUND: f64 = 0.12;

/// What a computed export came to.
#[derive(Clone, Debug)]
pub struct ExportResult {
    path: PathBuf,
    revision: u64,
    options: ExportOptions,
    exported: Arc<Exported>,
    model: Arc<ExportedModel>,
}

/// Whether a computed export is what would be saved now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nothing was computed.
    None,
    /// It is.
    Current,
    /// The model was edited since.
    ModelChanged,
    /// Other options were chosen since.
    OptionsChanged,
    /// Its parts are named after another place.
    PlaceChanged,
}

/// What is chosen, what was computed, and how that is looked at.
#[derive(Default)]
pub struct Exporting {
    settings: ExportSettings,
    result: Option<ExportResult>,
    still: Option<SavedStill>,
    /// How the result is laid beside the model; `None`: it is not shown.
    beside: Option<PaneLayout>,
    /// The point that is brought into view with the next picture.
    frame: Option<(InstanceId, u32)>,
    diagonal: Diagonal,
    advice: Advice,
    computing: Option<Computing>,
}

/// The size of the model at rest, which takes a moment to find out.
#[derive(Default)]
enum Diagonal {
    #[default]
    Unasked,
    Asked(JobHandle<Result<f64, Cancelled>>),
    Known(f64),
}

/// A computed export on its way.
struct Computing {
    path: PathBuf,
    /// Saves it once it is there.
    saves: bool,
    job: JobHandle<Result<ExportResult, ExportError>>,
}

impl ExportResult {
    /// Names and bytes of the files; the model comes first.
    pub fn exported(&self) -> &Exported {
        &self.exported
    }

    /// What the export did.
    pub fn report(&self) -> &ExportReport {
        &self.exported.report
    }

    /// What correction came to, where it was asked for.
    pub fn correction(&self) -> Option<&CorrectionReport> {
        self.exported.correction.as_ref()
    }

    /// The model in the files.
    pub fn model(&self) -> &ExportedModel {
        &self.model
    }

    /// Bytes of all files.
    pub fn n_bytes(&self) -> usize {
        self.exported.files.iter().map(|(_, b)| b.len()).sum()
    }
}

impl Standing {
    /// What the artist reads of a result that is out of date; `None`: it is not.
    pub fn sentence(self) -> Option<&'static str> {
        match self {
            Self::None | Self::Current => None,
            Self::ModelChanged => Some("The model changed. Compute again."),
            Self::OptionsChanged => Some("The options changed. Compute again."),
            Self::PlaceChanged => {
                Some("The path changed, and with it the names of the file's parts. Compute again.")
            }
        }
    }
}

impl Exporting {
    /// What is told of the export that is chosen now.
    pub fn advice(&self) -> &Advice {
        &self.advice
    }

    /// What was computed last of this model.
    pub fn result(&self) -> Option<&ExportResult> {
        self.result.as_ref()
    }

    /// The still that was saved last of this model.
    pub fn still(&self) -> Option<&SavedStill> {
        self.still.as_ref()
    }

    /// What is chosen.
    pub fn settings(&self) -> &ExportSettings {
        &self.settings
    }

    /// How the result lies beside the model in the viewport: two panes or a wipe; `None`: it is not shown.
    pub fn beside(&self) -> Option<PaneLayout> {
        self.beside.filter(|_| self.result.is_some())
    }

    pub(super) fn model(&self) -> Option<&Arc<ExportedModel>> {
        let result = self.result.as_ref().filter(|_| self.beside.is_some());
        result.map(|result| &result.model)
    }

    /// Whether a point waits to be brought into view.
    pub(super) fn wants_frame(&self) -> bool {
        self.frame.is_some()
    }

    pub(super) fn take_preflight(&mut self) {
        self.advice.take_preflight();
    }

    pub(super) fn take_estimate(&mut self) {
        self.advice.take_estimate();
    }

    /// Stops computing.
    fn stop_computing(&self) {
        if let Some(computing) = &self.computing {
            computing.job.task().cancel();
        }
    }

    /// Whether an export was under way, which is given up.
    pub(super) fn forget_model(&mut self) -> bool {
        self.stop_computing();
        let was_computing = self.computing.take().is_some();
        self.settings.forget_model();
        self.advice.forget();
        self.result = None;
        self.still = None;
        self.beside = None;
        self.frame = None;
        if let Diagonal::Asked(job) = std::mem::take(&mut self.diagonal) {
            job.task().cancel();
        }
        was_computing
    }
}

/// A corrected export in memory, read back from its bytes.
fn compute(
    document: &Document,
    path: &Path,
    revision: u64,
    options: ExportOptions,
    task: &Task,
) -> Result<ExportResult, ExportError> {
    let (exported, read) = export_and_read_back(document, path, &options, task)?;
    Ok(ExportResult {
        path: path.to_owned(),
        revision,
        options,
        exported: Arc::new(exported),
        model: Arc::new(ExportedModel::new(
            read.document,
            read.clips,
            read.instances,
        )),
    })
}

impl Editor {
    /// What is chosen for exports, and what was computed.
    pub fn exporting(&self) -> &Exporting {
        &self.exporting
    }

    /// What is chosen for exports, to change.
    pub fn export_settings_mut(&mut self) -> &mut ExportSettings {
        &mut self.exporting.settings
    }

    /// What exports correct: what was chosen, else what the stacks ask for.
    pub fn correction(&self) -> Correction {
        let chosen = self.exporting.settings.correction;
        chosen.unwrap_or_else(|| self.proposed_correction())
    }

    /// The correction that the stacks ask for: none where players show the same anyway.
    fn proposed_correction(&self) -> Correction {
        let plain = DeformStack::lbs().as_applied();
        let meshes = self.skinned_meshes();
        let mut items = meshes.iter().filter_map(|m| self.document.meshes().get(m));
        if items.any(|item| item.stack.as_applied() != plain) {
            Correction::Clips
        } else {
            Correction::None
        }
    }

    /// The options of an export as they are chosen now, for `path`.
    pub fn export_options(&self, path: &Path) -> ExportOptions {
        ExportOptions {
            format: GltfFormat::of_path(path).unwrap_or_default(),
            ..self.exporting.settings.options(self.correction())
        }
    }

    /// Whether what was computed is what would be saved to `path` now.
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

    /// A number that grows with every change of what an export with `options` writes: a pose is in the file only as rest.
    fn export_revision(&self, options: &ExportOptions) -> u64 {
        if options.write_pose_as_rest {
            self.history.revision()
        } else {
            self.history.revision_but_for_poses()
        }
    }

    /// Computes an export for `path` in memory, to be looked at; nothing is written.
    pub fn compute_export(&mut self, path: &Path) {
        self.start_computing(path, false);
    }

    /// Saves to `path` what was computed; where that is out of date, or nothing was, it is computed first.
    pub fn save_export(&mut self, path: &Path) {
        self.finish_tool();
        if self.export_standing(path) != Standing::Current {
            self.start_computing(path, true);
        } else if self.can_start_file_job() {
            self.write_result(path);
        }
    }

    /// The diagonal of the box around the model at rest, metres; `None` while it is not known.
    pub fn rest_diagonal(&self) -> Option<f64> {
        match self.exporting.diagonal {
            Diagonal::Known(diagonal) => Some(diagonal),
            _ => None,
        }
    }

    /// Finds out [`Editor::rest_diagonal`] in the background.
    pub fn measure_diagonal(&mut self) {
        if matches!(self.exporting.diagonal, Diagonal::Unasked) {
            let document = self.document.clone();
            let work = move |task: &Task| diagonal_at_rest(&document, task);
            let job = self
                .lane
                .submit(EditorJob::Diagonal, "Measuring the model", work);
            self.exporting.diagonal = Diagonal::Asked(job);
        }
    }

    /// Takes the diagonal over once it is known.
    pub(super) fn take_diagonal(&mut self) {
        self.exporting.diagonal = match std::mem::take(&mut self.exporting.diagonal) {
            Diagonal::Asked(job) if job.has_ended() => match job.into_result() {
                Ok(Ok(diagonal)) => Diagonal::Known(diagonal),
                // Without it lengths are shown in percent alone.
                Ok(Err(Cancelled)) | Err(JobError::Cancelled | JobError::Failed) => {
                    Diagonal::Unasked
                }
            },
            other => other,
        };
    }

    /// How far the computing has come; `None`: it is not under way.
    pub fn computing_export(&self) -> Option<&Task> {
        let computing = self.exporting.computing.as_ref()?;
        Some(computing.job.task())
    }

    /// Stops computing; nothing is written.
    pub fn stop_computing(&mut self) {
        self.exporting.stop_computing();
    }

    /// Lays the computed file beside the model: two panes or a wipe; `None`: it is not shown.
    pub fn show_exported(&mut self, beside: Option<PaneLayout>) {
        let beside = beside.filter(|layout| layout.n_panes() == 2);
        if self.exporting.beside != beside {
            self.exporting.beside = beside;
            self.evaluation.stale = true;
        }
    }

    /// Goes to where the computed file is farthest off: clip, time and point, which is selected. Whether there is such a
    /// place.
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
        // The computing has all of the machine.
        self.exporting.advice.stop();
        let options = self.export_options(path);
        let (document, target) = (self.document.clone(), path.to_owned());
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

    /// Whether an export is to be saved as soon as it is computed, and waits until another file is written. A cancelled
    /// one waits for nothing.
    pub(super) fn export_waits_for_file(&self) -> bool {
        let computing = self.exporting.computing.as_ref();
        let saves = computing.is_some_and(|c| c.saves && !c.job.task().is_cancelled());
        saves && self.job.is_some()
    }

    /// Takes an export over once it is computed.
    pub(super) fn take_computed_export(&mut self) {
        let computing = &mut self.exporting.computing;
        let Some(computing) = computing.take_if(|c| c.job.has_ended()) else {
            return;
        };
        match computing.job.into_result() {
            Err(JobError::Cancelled) => {
                self.finish_computing(&computing.path, computing.saves, Err(Cancelled.into()));
            }
            Err(error @ JobError::Failed) => self.notify_error(error.to_string()),
            Ok(result) => self.finish_computing(&computing.path, computing.saves, result),
        }
    }

    fn finish_computing(
        &mut self,
        path: &Path,
        saves: bool,
        result: Result<ExportResult, ExportError>,
    ) {
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
        let (document, target) = (self.document.clone(), path.to_owned());
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
            moment: None,
            job,
        });
    }

    /// Notes what was written.
    pub(super) fn finish_export(
        &mut self,
        path: PathBuf,
        moment: Option<String>,
        result: Result<Result<ExportReport, ExportError>, JobError>,
    ) {
        match result {
            Err(error @ JobError::Failed) => self.notify_error(error.to_string()),
            Ok(Ok(report)) => match moment {
                Some(moment) => {
                    let still = SavedStill::new(path, moment, report);
                    self.notify(still.notice());
                    self.exporting.still = Some(still);
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

    /// Brings the point that was asked for into view, once it is where it will be; whether it did.
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
                // With enough around it to see where on the model it is.
                let around = Vec3::splat((AROUND * correction.diagonal) as f32);
                self.frame_points(&[place - around, place + around]);
            }
        }
        frame.is_some()
    }
}
