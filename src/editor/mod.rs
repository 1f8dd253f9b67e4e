//! The headless editor: the whole application except its window.
//!
//! Data flow: the window (or a test) calls methods, and [`Editor::poll`] once a frame -> edits go through
//! the history -> the newest snapshot is posted to the worker -> its updates land in [`Displayed`] meshes, which the
//! viewport draws.
//!
//! Invariant: no call blocks a frame: deformation runs on the worker, all other long work on the job lane.
//! Invariant: the order of the steps of [`Editor::poll`] does not affect the editor's final state.
//! Invariant: every change of the document is an undo step with a name.

mod animating;
mod autosave;
mod bones;
mod centres;
pub mod clip_cleaning;
mod cluster_layouts;
pub mod clusters;
mod commands;
mod comparing;
mod constraint_baking;
pub mod constraints;
pub mod corrective_jobs;
mod correctives;
mod deforming;
pub mod display;
pub mod exporting;
mod files;
mod heat_maps;
mod humanoid;
mod individual;
pub mod influence_keys;
pub mod influence_table;
mod jobs;
mod layers;
mod lengths;
pub mod live;
mod maps;
mod measuring;
mod mirrors;
pub mod motions;
mod occlusion;
pub mod operations;
mod picture_cache;
pub mod playback;
mod pointer;
mod poll;
mod polynomial_fit;
mod posing;
mod probing;
mod problems;
mod range_of_motion;
pub mod rigging;
mod rules;
mod saving;
mod scanning;
pub mod selecting;
mod stroke_names;
mod suggesting;
mod summaries;
mod surface_index;
mod surfaces;
mod symmetries;
pub mod tapes;
mod variations;
pub mod views;
pub mod weight_colours;

pub use corrective_jobs::{SampleTask, Stale};
pub use correctives::PoseSpace;
pub use deforming::StackScope;
pub use display::{Displayed, DisplayedMeshes};
pub use files::{FileJob, OpenRequest, Relink, SnapshotRevision};
pub use heat_maps::HeatMap;
pub use operations::OperationKind;
pub use posing::{PoseAmount, ResetPart};
pub use probing::PointInfluences;
pub use probing::SurfacePlace;
pub use problems::Message;
pub use rigging::{PinSettings, RigKind, RigTool};
pub use saving::SaveConflict;
pub use scanning::{SCAN_CANCELLED, ScanComparison, ScanOptions, ScanPlace};
pub use selecting::PickableBones;
pub use weight_colours::{Heat, HeatOf, WeightView};

use crate::document::{Dirty, Document, Edit, EditError, History, MeshId, WeightedJoints};
use crate::evaluate::{Lane, Worker};
use crate::finding::{Finding, Place};
use crate::io::project::{Autosaves, Stamps};
use crate::io::{OpenedModel, Outputs};
use crate::sentence::shortened;
use crate::skeleton::{Bone, JointId};
use crate::tools::{Brush, Marking, Sculpt};
use autosave::Autosave;
use glam::DAffine3;
use jobs::EditorJob;
use poll::Evaluation;
use problems::Problems;
use selecting::Selecting;
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// A message for the artist, shown once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// One sentence.
    pub text: String,
    /// Whether it reports a failure.
    pub is_error: bool,
    /// What it is about, which [`Editor::go_to_place`] selects.
    pub target: Option<Place>,
}

/// The document, its history, what is on screen, and the threads that work on it.
pub struct Editor {
    document: Document,
    history: History,
    worker: Worker,
    lane: Lane<EditorJob>,
    brush: Brush,
    /// What the last stroke of weights does and to which bones: "Add · chest".
    stroke_name: String,
    sculpt: Sculpt,
    index_fit: surface_index::IndexFit,
    marking: Marking,
    posing: posing::Posing,
    deforming: deforming::Deforming,
    selecting: Selecting,
    views: views::Views,
    heat: BTreeMap<MeshId, Heat>,
    heat_maps: heat_maps::HeatMaps,
    surfaces: surfaces::Surfaces,
    /// The inputs of `heat`.
    heat_key: commands::HeatKey,
    /// What the weight colours show.
    weight_view: WeightView,
    layering: layers::Layering,
    clustering: clusters::Clustering,
    correcting: correctives::Correcting,
    heat_generation: u64,
    world: Vec<DAffine3>,
    problems: Problems,
    measuring: measuring::Measuring,
    table: influence_table::Tables,
    notices: VecDeque<Notice>,
    job: Option<FileJob>,
    project_path: Option<PathBuf>,
    /// The content of the project and the model on disk, as it was read or written last.
    stamps: Stamps,
    conflict: Option<SaveConflict>,
    /// When the project was last saved in this session.
    saved_at: Option<Instant>,
    evaluation: Evaluation,
    centres: centres::CentreSearch,
    layouts: cluster_layouts::LayoutSearch,
    sparse_clusters: clusters::SparseClusters,
    cluster_suggestions: clusters::ClusterSuggestions,
    muscles: clusters::Muscles,
    active_layers: clusters::ActiveLayers,
    driver_values: clusters::DriverValues,
    residual: Option<clusters::KnownResidual>,
    recording_files: clusters::RecordingFiles,
    recording_watch: clusters::RecordingWatch,
    recording_tables: clusters::RecordingTables,
    summaries: summaries::Summaries,
    aligning: clusters::Aligning,
    operations: operations::Operations,
    rigging: rigging::Rigging,
    humanoid: humanoid::HumanoidCache,
    motions: motions::Motions,
    live: live::Live,
    individuals: individual::Individuals,
    scanning: scanning::Scanning,
    mirrors: mirrors::Mirrors,
    symmetries: symmetries::Symmetries,
    suggesting: suggesting::Suggesting,
    relink: Option<Relink>,
    /// A model that is ready but would replace edits made during loading.
    opened: Option<(OpenRequest, OpenedModel)>,
    autosave: Autosave,
    exporting: exporting::Exporting,
    /// The keyframes being dragged.
    key_drag: Option<animating::KeyDrag>,
    /// The number of dropped history steps that were reported.
    n_dropped_reported: usize,
    frame_when_shown: bool,
    model_serial: u64,
    picture_serial: u64,
    /// n_joints: whether the joint influences any point.
    weighted: Vec<bool>,
    weighted_joints: WeightedJoints,
    /// Whether influences changed since `weighted` was computed.
    weighted_stale: bool,
}

impl Drop for Editor {
    /// Cancels everything but saves and autosaves, which are finished.
    fn drop(&mut self) {
        let jobs = self.lane.jobs().into_iter();
        for job in jobs.filter(|job| !job.kind.outlives_editor()) {
            job.task.cancel();
        }
    }
}

impl Editor {
    /// An editor without a model. `autosaves` is the folder for unsaved work (`None` disables autosave); `wake` is
    /// called from other threads when there is something to [`Editor::poll`].
    pub fn new(
        autosaves: Option<Autosaves>,
        wake: impl Fn() + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        let wake = Arc::new(wake);
        let (theirs, watching, live_wake) = (wake.clone(), wake.clone(), wake.clone());
        Ok(Self {
            document: Document::default(),
            history: History::default(),
            worker: Worker::spawn(move || theirs())?,
            lane: Lane::spawn(move || wake())?,
            brush: Brush::default(),
            stroke_name: String::new(),
            sculpt: Sculpt::default(),
            index_fit: surface_index::IndexFit::default(),
            marking: Marking::default(),
            posing: posing::Posing::default(),
            deforming: deforming::Deforming::default(),
            selecting: Selecting::default(),
            views: views::Views::default(),
            heat: BTreeMap::new(),
            heat_maps: heat_maps::HeatMaps::default(),
            surfaces: surfaces::Surfaces::default(),
            heat_key: commands::HeatKey::default(),
            weight_view: WeightView::default(),
            layering: layers::Layering::default(),
            clustering: clusters::Clustering::default(),
            correcting: correctives::Correcting::default(),
            heat_generation: 0,
            world: Vec::new(),
            problems: Problems::default(),
            measuring: measuring::Measuring::default(),
            table: influence_table::Tables::default(),
            notices: VecDeque::new(),
            job: None,
            project_path: None,
            stamps: Stamps::default(),
            conflict: None,
            saved_at: None,
            evaluation: Evaluation::default(),
            centres: centres::CentreSearch::default(),
            layouts: cluster_layouts::LayoutSearch::default(),
            sparse_clusters: clusters::SparseClusters::default(),
            cluster_suggestions: clusters::ClusterSuggestions::default(),
            muscles: clusters::Muscles::default(),
            active_layers: clusters::ActiveLayers::default(),
            driver_values: clusters::DriverValues::default(),
            residual: None,
            recording_files: clusters::RecordingFiles::default(),
            recording_watch: clusters::RecordingWatch::new(watching),
            recording_tables: clusters::RecordingTables::default(),
            summaries: summaries::Summaries::default(),
            aligning: clusters::Aligning::default(),
            operations: operations::Operations::default(),
            rigging: rigging::Rigging::default(),
            humanoid: humanoid::HumanoidCache::default(),
            motions: motions::Motions::default(),
            live: live::Live::new(live_wake),
            individuals: individual::Individuals::default(),
            scanning: scanning::Scanning::default(),
            mirrors: mirrors::Mirrors::default(),
            symmetries: symmetries::Symmetries::default(),
            suggesting: suggesting::Suggesting::default(),
            relink: None,
            opened: None,
            autosave: Autosave::new(autosaves),
            exporting: exporting::Exporting::default(),
            key_drag: None,
            n_dropped_reported: 0,
            frame_when_shown: false,
            model_serial: 0,
            picture_serial: 0,
            weighted: Vec::new(),
            weighted_joints: WeightedJoints::default(),
            weighted_stale: false,
        })
    }

    /// The current document.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// The undo history.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The weight colours ([`Editor::show_weights`]) of each mesh that has any.
    pub fn heat(&self) -> &BTreeMap<MeshId, Heat> {
        &self.heat
    }

    /// World transforms of the joints on screen; empty before the first result.
    pub fn world(&self) -> &[DAffine3] {
        &self.world
    }

    /// The visible bones on screen; none before the first result.
    pub fn bones(&self) -> Vec<Bone> {
        let skeleton = self.document.skeleton();
        if self.world.len() != skeleton.len() {
            return Vec::new();
        }
        let shown = self.document.bone_mask();
        let hidden = &self.document.session().hidden_joints;
        let world = self.world_with_moved();
        let mut bones = crate::skeleton::bone_segments::bones_of_rig(
            skeleton,
            &world,
            |j| shown[j.get()],
            |j| self.is_weighted(j),
        );
        // Afterwards, so that hiding a child does not change its parent's shape.
        bones.retain(|bone| !hidden.contains(&bone.joint));
        bones.extend(self.extruded_bone());
        bones
    }

    /// Whether the joint influences any point; if not, it is a helper joint. As of the end of the last stroke.
    pub fn is_weighted(&self, joint: JointId) -> bool {
        self.weighted.get(joint.get()).copied().unwrap_or(true)
    }

    /// Increases with each model opened; part of the keys of GPU buffers.
    pub fn model_serial(&self) -> u64 {
        self.model_serial
    }

    /// Increases with each change on screen.
    pub fn picture_serial(&self) -> u64 {
        self.picture_serial
    }

    /// The number of requests to the worker, and of the newest one whose result is on screen.
    pub fn requests(&self) -> [u64; 2] {
        self.evaluation.requests()
    }

    /// The name of the model in the window: that of the project, the file or the sample.
    pub fn model_name(&self) -> String {
        let source = self.document.source();
        let path = self
            .project_path
            .as_deref()
            .or_else(|| source?.path.as_deref());
        match path.and_then(std::path::Path::file_name) {
            Some(name) => name.to_string_lossy().into_owned(),
            None => source
                .and_then(|s| s.sample.clone())
                .map_or_else(String::new, |s| format!("sample {s}")),
        }
    }

    /// The findings of the importer, the project and the checks, the most severe first.
    pub fn findings(&self) -> &[Finding] {
        self.problems()
    }

    /// The next notice to show.
    pub fn take_notice(&mut self) -> Option<Notice> {
        self.notices.pop_front()
    }

    /// The waiting or running file job.
    pub fn job(&self) -> Option<&FileJob> {
        self.job.as_ref()
    }

    /// The project file, once saved or opened.
    pub fn project_path(&self) -> Option<&PathBuf> {
        self.project_path.as_ref()
    }

    /// The guard that protects the model, its files and the project from being overwritten.
    pub(crate) fn outputs(&self) -> Outputs {
        let mut outputs = Outputs::of(&self.document);
        if let Some(project) = &self.project_path {
            outputs.protect_project(project);
        }
        outputs
    }

    /// When the project was last saved since it was opened.
    pub fn saved_at(&self) -> Option<Instant> {
        self.saved_at
    }

    /// The number of snapshots sent to the worker.
    pub fn n_snapshots(&self) -> u64 {
        self.evaluation.posted
    }

    /// The duration of the latest evaluation, seconds.
    pub fn skin_secs(&self) -> f64 {
        self.evaluation.skin_secs
    }

    /// Applies an edit as part of the open step, or as a step called `label`.
    pub fn apply(&mut self, edit: Edit, label: &str) -> Result<(), EditError> {
        let edit = self.watch_layers(edit);
        // The code that opened a step relies on its edits.
        if edit.changes_no_points() && !self.history.is_open() {
            return Ok(());
        }
        self.apply_watched(edit, label)
    }

    /// The same for an edit that went through [`Editor::watch_layers`].
    fn apply_watched(&mut self, edit: Edit, label: &str) -> Result<(), EditError> {
        let dirty = self.history.apply(&mut self.document, edit, label)?;
        self.refresh(&dirty);
        Ok(())
    }

    /// Updates everything derived from the document after an edit.
    fn refresh(&mut self, dirty: &Dirty) {
        self.weighted_stale |= dirty.rig || !dirty.influences.is_empty();
        for (mesh, chunks) in &dirty.influences {
            let heat = self.heat.get_mut(mesh);
            if let (Some(heat), Some(item)) = (
                heat.filter(|heat| heat.reads_influences()),
                self.document.meshes().get(mesh),
            ) {
                heat.update(item, chunks.iter().copied());
            }
        }
        for ((mesh, map), chunks) in &dirty.masks {
            let heat = self.heat.get_mut(mesh);
            if let (Some(heat), Some(item)) = (
                heat.filter(|heat| heat.of.map() == Some(*map)),
                self.document.meshes().get(mesh),
            ) {
                heat.update(item, chunks.iter().copied());
            }
        }
        if dirty.joints {
            self.refresh_heat();
        }
        self.follow_layers(dirty);
        self.evaluation.stale |= !dirty.is_empty();
        if !dirty.is_empty() {
            self.problems.mark_stale();
        }
    }

    /// Shows a notice from a panel.
    pub fn tell(&mut self, text: impl Into<String>) {
        self.notify(text);
    }

    fn notify(&mut self, text: impl Into<String>) {
        self.notice(&text.into(), false, None);
    }

    /// A notice with what it is about, to be shown on request.
    fn notify_at(&mut self, text: impl Into<String>, target: Place) {
        self.notice(&text.into(), false, Some(target));
    }

    fn notify_error(&mut self, text: impl Into<String>) {
        self.notice(&text.into(), true, None);
    }

    fn notice(&mut self, text: &str, is_error: bool, target: Option<Place>) {
        let text = shortened(text).into_owned();
        self.problems.keep_message(&text, is_error, target.as_ref());
        self.notices.push_back(Notice {
            text,
            is_error,
            target,
        });
    }

    /// Replaces the document and resets the history and the screen.
    fn set_document(
        &mut self,
        document: Document,
        findings: Vec<Finding>,
        project_path: Option<PathBuf>,
    ) {
        self.brush = Brush::default();
        self.sculpt = Sculpt::default();
        self.index_fit = surface_index::IndexFit::default();
        self.marking = Marking::default();
        self.posing.forget_model();
        self.forget_vertices();
        self.clustering = clusters::Clustering::default();
        self.reset_selecting();
        self.document = document;
        self.history = History::default();
        self.problems.start_document(findings);
        self.project_path = project_path;
        self.stamps = Stamps::default();
        self.conflict = None;
        self.saved_at = None;
        self.model_serial += 1;
        self.views.clear();
        self.centres.clear();
        self.layouts.clear();
        self.operations.forget_model();
        self.rigging.forget_model();
        self.motions.forget_model();
        self.live.forget_model();
        self.individuals.forget_model();
        self.scanning.forget_model();
        self.suggesting.forget_model();
        self.cluster_suggestions.forget_model();
        self.clustering.forget_model();
        self.muscles = clusters::Muscles::default();
        self.active_layers = clusters::ActiveLayers::default();
        self.driver_values = clusters::DriverValues::default();
        self.residual = None;
        self.recording_files.forget_model();
        self.summaries.forget_model();
        self.aligning.forget_model();
        self.mirrors.clear();
        // Jobs of the previous model keep the old list.
        self.symmetries = symmetries::Symmetries::default();
        self.heat_maps.clear();
        self.surfaces.take(Vec::new());
        self.layering.forget_model();
        self.correcting = correctives::Correcting::default();
        self.measuring.forget();
        self.table.forget();
        if self.exporting.forget_model() {
            self.notify("The export of the previous model was cancelled. No file was written.");
        }
        self.world.clear();
        self.evaluation.start_document();
        self.relink = None;
        self.opened = None;
        self.key_drag = None;
        self.n_dropped_reported = 0;
        self.autosave.start_document(None);
        self.rebuild_heat();
        self.weighted_joints = WeightedJoints::default();
        self.weighted = self.weighted_joints.update(&self.document);
        self.weighted_stale = false;
    }
}
