//! The headless editor: all of the app minus pixels.
//!
//! Data flow: the window (or a test) calls methods, and [`Editor::poll`] once a frame -> edits go through
//! the history -> the newest snapshot is posted to the worker -> its updates land in [`Displayed`] meshes, which the
//! viewport draws.
//!
//! Invariant: nothing here blocks a frame: deformation runs on the worker, all other long work on the job lane.
//! Invariant: the order of the steps of [`Editor::poll`] has no influence on the state in which the editor comes to rest.
//! Invariant: every change of the document is an undo step with a name.

mod animating;
mod autosave;
mod bones;
mod centres;
mod commands;
mod comparing;
mod deforming;
pub mod display;
pub mod exporting;
mod files;
mod heat_maps;
pub mod influence_table;
mod jobs;
mod layers;
mod maps;
mod measuring;
mod mirrors;
mod occlusion;
pub mod operations;
pub mod playback;
mod pointer;
mod poll;
mod posing;
mod probing;
mod problems;
mod range_of_motion;
mod rules;
pub mod selecting;
mod symmetries;
pub mod views;
pub mod weight_colours;

pub use deforming::StackScope;
pub use display::{Displayed, DisplayedMeshes};
pub use files::{FileJob, OpenRequest, Relink};
pub use heat_maps::HeatMap;
pub use operations::OperationKind;
pub use posing::ResetPart;
pub use probing::PointInfluences;
pub use probing::SurfacePlace;
pub use problems::Message;
pub use selecting::BonesSeen;
pub use weight_colours::{Heat, HeatOf, WeightView};

use crate::document::{Dirty, Document, Edit, EditError, History, MeshId, WeightedJoints};
use crate::evaluate::{Lane, Worker};
use crate::finding::Finding;
use crate::io::project::Autosaves;
use crate::io::{OpenedModel, Outputs};
use crate::skeleton::{Bone, JointId};
use crate::tools::Brush;
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

/// Something the artist should read, once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// One plain sentence.
    pub text: String,
    /// Whether it is about something that went wrong.
    pub is_error: bool,
}

/// The document, its history, what is on screen, and the threads that work for it.
pub struct Editor {
    document: Document,
    history: History,
    worker: Worker,
    lane: Lane<EditorJob>,
    brush: Brush,
    posing: posing::Posing,
    deforming: deforming::Deforming,
    selecting: Selecting,
    views: views::Views,
    heat: BTreeMap<MeshId, Heat>,
    heat_maps: heat_maps::HeatMaps,
    /// What `heat` shows.
    heat_key: commands::HeatKey,
    /// What the artist wants to see of weights.
    weight_view: WeightView,
    layering: layers::Layering,
    heat_generation: u64,
    world: Vec<DAffine3>,
    problems: Problems,
    measuring: measuring::Measuring,
    table: influence_table::Tables,
    notices: VecDeque<Notice>,
    job: Option<FileJob>,
    project_path: Option<PathBuf>,
    /// When the project was last saved here.
    saved_at: Option<Instant>,
    evaluation: Evaluation,
    centres: centres::CentreSearch,
    operations: operations::Operations,
    mirrors: mirrors::Mirrors,
    symmetries: symmetries::Symmetries,
    relink: Option<Relink>,
    /// A model that is ready but would take the place of edits made while it was loading.
    opened: Option<(OpenRequest, OpenedModel)>,
    autosave: Autosave,
    exporting: exporting::Exporting,
    /// Keys that the artist is moving along the ruler.
    key_drag: Option<animating::KeyDrag>,
    /// Steps the history has given up, as far as the artist was told.
    n_dropped_reported: usize,
    frame_when_shown: bool,
    model_serial: u64,
    picture_serial: u64,
    /// n_joints: which joints some point follows.
    weighted: Vec<bool>,
    weighted_joints: WeightedJoints,
    /// Influences changed since they were read for it.
    weighted_stale: bool,
}

impl Drop for Editor {
    /// Nobody waits for a model or an export any more; saves and autosaves are finished.
    fn drop(&mut self) {
        let jobs = self.lane.jobs().into_iter();
        for job in jobs.filter(|job| !job.kind.outlives_editor()) {
            job.task.cancel();
        }
    }
}

impl Editor {
    /// An editor without a model. `autosaves` is where unsaved work is kept (`None`: nowhere); `wake` is called from
    /// other threads when there is something to [`Editor::poll`].
    pub fn new(
        autosaves: Option<Autosaves>,
        wake: impl Fn() + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        let wake = Arc::new(wake);
        let theirs = wake.clone();
        Ok(Self {
            document: Document::default(),
            history: History::default(),
            worker: Worker::spawn(move || theirs())?,
            lane: Lane::spawn(move || wake())?,
            brush: Brush::default(),
            posing: posing::Posing::default(),
            deforming: deforming::Deforming::default(),
            selecting: Selecting::default(),
            views: views::Views::default(),
            heat: BTreeMap::new(),
            heat_maps: heat_maps::HeatMaps::default(),
            heat_key: commands::HeatKey::default(),
            weight_view: WeightView::default(),
            layering: layers::Layering::default(),
            heat_generation: 0,
            world: Vec::new(),
            problems: Problems::default(),
            measuring: measuring::Measuring::default(),
            table: influence_table::Tables::default(),
            notices: VecDeque::new(),
            job: None,
            project_path: None,
            saved_at: None,
            evaluation: Evaluation::default(),
            centres: centres::CentreSearch::default(),
            operations: operations::Operations::default(),
            mirrors: mirrors::Mirrors::default(),
            symmetries: symmetries::Symmetries::default(),
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

    /// The document as it is now.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// Undo and redo, to read.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// What colours of weights show ([`Editor::show_weights`]), for each mesh that has something to show.
    pub fn heat(&self) -> &BTreeMap<MeshId, Heat> {
        &self.heat
    }

    /// World transforms of the joints on screen; empty before the first result.
    pub fn world(&self) -> &[DAffine3] {
        &self.world
    }

    /// The bones on screen, without hidden ones; none before the first result.
    pub fn bones(&self) -> Vec<Bone> {
        let skeleton = self.document.skeleton();
        if self.world.len() != skeleton.len() {
            return Vec::new();
        }
        let shown = self.document.skin_joint_mask();
        let hidden = &self.document.session().hidden_joints;
        let mut bones = crate::skeleton::bones::bones_of_rig(
            skeleton,
            &self.world,
            |j| shown[j.get()],
            |j| self.is_weighted(j),
        );
        // Afterwards, so that a parent keeps its shape when its children are hidden.
        bones.retain(|bone| !hidden.contains(&bone.joint));
        bones
    }

    /// Whether some point follows the joint: others are helpers. As of the end of the last stroke.
    pub fn is_weighted(&self, joint: JointId) -> bool {
        self.weighted.get(joint.get()).copied().unwrap_or(true)
    }

    /// Grows with each model opened: names GPU buffers.
    pub fn model_serial(&self) -> u64 {
        self.model_serial
    }

    /// Grows with each change of what is on screen.
    pub fn picture_serial(&self) -> u64 {
        self.picture_serial
    }

    /// What the window calls the model: the project's, the file's or the sample's name.
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

    /// What the importer, the project and the checks found, the worst first.
    pub fn findings(&self) -> &[Finding] {
        self.problems()
    }

    /// The next thing the artist should read.
    pub fn take_notice(&mut self) -> Option<Notice> {
        self.notices.pop_front()
    }

    /// The file job that waits or runs.
    pub fn job(&self) -> Option<&FileJob> {
        self.job.as_ref()
    }

    /// The project file, once saved or opened.
    pub fn project_path(&self) -> Option<&PathBuf> {
        self.project_path.as_ref()
    }

    /// Keeps the model, its files and the project from being replaced by what is written.
    pub(crate) fn outputs(&self) -> Outputs {
        let mut outputs = Outputs::of(&self.document);
        if let Some(project) = &self.project_path {
            outputs.protect_project(project);
        }
        outputs
    }

    /// When the project was last saved, since it was opened.
    pub fn saved_at(&self) -> Option<Instant> {
        self.saved_at
    }

    /// How many snapshots were given to the worker.
    pub fn n_snapshots(&self) -> u64 {
        self.evaluation.posted
    }

    /// Seconds of the latest re-skin.
    pub fn skin_secs(&self) -> f64 {
        self.evaluation.skin_secs
    }

    /// Applies an edit as part of the open step, or as a step called `label`.
    pub fn apply(&mut self, edit: Edit, label: &str) -> Result<(), EditError> {
        let edit = self.watch_layers(edit);
        // Who opened a step counts on what was applied in it.
        if edit.is_of_no_point() && !self.history.is_open() {
            return Ok(());
        }
        self.apply_watched(edit, label)
    }

    /// The same for an edit that [`Editor::watch_layers`] has seen.
    fn apply_watched(&mut self, edit: Edit, label: &str) -> Result<(), EditError> {
        let dirty = self.history.apply(&mut self.document, edit, label)?;
        self.refresh(&dirty);
        Ok(())
    }

    /// Brings what is shown up to date with an edit that was applied.
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

    /// Tells the artist something that a panel noticed.
    pub fn tell(&mut self, text: impl Into<String>) {
        self.notify(text);
    }

    fn notify(&mut self, text: impl Into<String>) {
        self.notice(text.into(), false);
    }

    fn notify_error(&mut self, text: impl Into<String>) {
        self.notice(text.into(), true);
    }

    fn notice(&mut self, text: String, is_error: bool) {
        self.problems.keep_message(&text, is_error);
        self.notices.push_back(Notice { text, is_error });
    }

    /// Shows another document; history and picture start afresh.
    fn set_document(
        &mut self,
        document: Document,
        findings: Vec<Finding>,
        project_path: Option<PathBuf>,
    ) {
        self.brush = Brush::default();
        self.posing.forget_model();
        self.reset_selecting();
        self.document = document;
        self.history = History::default();
        self.problems.start_document(findings);
        self.project_path = project_path;
        self.saved_at = None;
        self.model_serial += 1;
        self.views.clear();
        self.centres.clear();
        self.operations.forget_model();
        self.mirrors.clear();
        // Jobs that still look for some add them to the old ones.
        self.symmetries = symmetries::Symmetries::default();
        self.heat_maps.clear();
        self.layering.forget_model();
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
