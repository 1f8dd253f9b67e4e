//! Operations on the rig: run on the lane, shown when ready, adjusted until the next edit; and bones moved by hand.
//!
//! Data flow: a command names a [`RigKind`], or a drag ends in a [`RigTool`] -> a job on the snapshot from before it runs one
//! [`Operation`](crate::rig::Operation) for each selected bone -> one undo step with its [`Report`]s, which is replaced when a
//! setting changes.
//!
//! Invariant: an adjusted operation starts from the document as it was before it.
//! Invariant: any other edit, undo or redo keeps the result and ends the adjustment.

mod drawing;
mod moving;
mod result;
mod run;
mod tool;

pub use drawing::{DrawTarget, Drawing};
pub use tool::{PinSettings, RigKind, RigTool};

use super::Editor;
use super::jobs::EditorJob;
use crate::document::Document;
use crate::document::rig::{Intent, flat_joints, joints_to_bind};
use crate::evaluate::JobHandle;
use crate::rig::Report;
use crate::skeleton::JointId;
use crate::task::Task;
use moving::JointMove;
use run::{Outcome, run};
use tool::{Remembered, usual_second};

/// The message after a cancelled run.
const CANCELLED: &str = "Cancelled. Nothing changed.";

/// The operation on bones being adjusted.
pub struct RigAdjusting {
    tool: RigTool,
    joints: Vec<JointId>,
    /// The document before the operation, with the selection it began with.
    base: Document,
    /// The history revision as long as nothing else was edited.
    revision: u64,
    /// Whether the newest step of the history is this operation's.
    is_applied: bool,
    job: Option<JobHandle<Outcome>>,
    /// Whether settings changed since the job started, or the first run was not requested yet.
    is_stale: bool,
    /// The reason that it did nothing.
    failure: Option<String>,
    is_hidden: bool,
}

impl RigAdjusting {
    /// The operation with its settings.
    pub fn tool(&self) -> &RigTool {
        &self.tool
    }

    /// The progress of the current run.
    pub fn task(&self) -> Option<&Task> {
        self.job.as_ref().map(JobHandle::task)
    }

    /// Whether the shown result has other settings, or there is no result yet.
    pub fn is_stale(&self) -> bool {
        self.is_stale
    }

    /// Whether the model shows its result.
    pub fn is_applied(&self) -> bool {
        self.is_applied
    }

    /// The reason that the latest run did nothing.
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// Whether its settings are hidden.
    pub fn is_hidden(&self) -> bool {
        self.is_hidden
    }
}

/// The state of operations on the rig.
#[derive(Default)]
pub(super) struct Rigging {
    adjusting: Option<RigAdjusting>,
    remembered: Remembered,
    /// The reports of the latest operation, one for each bone.
    reports: Vec<Report>,
    moving: Option<JointMove>,
    drawing: Option<Drawing>,
    /// Whether joints are drawn only where the artist clicks, not on the other side too.
    draws_one_side: bool,
}

impl Rigging {
    /// Drops what belongs to the previous model.
    pub(super) fn forget_model(&mut self) {
        self.end();
        self.drawing = None;
        self.forget_reports();
    }

    /// Drops the reports of a step that is undone.
    pub(super) fn forget_reports(&mut self) {
        self.reports.clear();
    }

    pub(super) fn end(&mut self) {
        self.moving = None;
        if let Some(job) = self.adjusting.take().and_then(|a| a.job) {
            job.task().cancel();
        }
    }
}

/// Whether there is a flat rig: all joints of a skin are children of one node.
fn has_flat_skin(document: &Document) -> bool {
    let mut skins = document.skins().values();
    skins.any(|skin| flat_joints(document, skin).is_some())
}

impl Editor {
    /// The operation on bones being adjusted.
    pub fn rig_adjusting(&self) -> Option<&RigAdjusting> {
        self.rigging.adjusting.as_ref()
    }

    /// The reports of the latest operation on bones, until it is undone.
    pub fn rig_reports(&self) -> &[Report] {
        &self.rigging.reports
    }

    /// What a move of bones does to the clips.
    pub fn move_intent(&self) -> Intent {
        self.rigging.remembered.intent
    }

    /// Sets what moves of bones do to the clips, also the one that is being adjusted.
    pub fn set_move_intent(&mut self, intent: Intent) {
        self.rigging.remembered.intent = intent;
        if let Some(RigTool::Move { by, .. }) = self.rig_adjusting().map(|a| a.tool.clone()) {
            self.set_rig_tool(RigTool::Move { by, intent });
        }
    }

    /// Whether moved bones take their children along.
    pub fn children_follow(&self) -> bool {
        self.rigging.remembered.follow
    }

    /// Sets whether moved bones take their children along, also in the move that is being adjusted.
    pub fn set_children_follow(&mut self, follow: bool) {
        self.rigging.remembered.follow = follow;
        let intent = self.move_intent();
        match self.rig_adjusting().map(|a| a.tool.clone()) {
            Some(RigTool::Move { by, .. }) if follow => self.set_rig_tool(RigTool::MoveTree { by }),
            Some(RigTool::MoveTree { by }) if !follow => {
                self.set_rig_tool(RigTool::Move { by, intent });
            }
            _ => {}
        }
    }

    /// Shows the rest pose instead of the pose or the clip, which pauses.
    pub fn show_rest(&mut self, shows: bool) {
        if self.document.session().shows_rest == shows {
            return;
        }
        self.finish_tool();
        if self.is_playing() {
            self.pause();
        }
        self.document.session_mut().shows_rest = shows;
        self.evaluation.stale = true;
    }

    /// Why an operation cannot begin with the current selection.
    pub fn why_not_rig(&self, kind: RigKind) -> Option<&'static str> {
        let document = &self.document;
        let chosen = self.joints_to_pose();
        let active = document.session().active_joint;
        match kind {
            RigKind::Bind if document.meshes().is_empty() => Some("The model has no mesh."),
            RigKind::Bind if joints_to_bind(document).is_empty() => {
                Some("The model has no bones: add a skeleton first.")
            }
            RigKind::Template(_) if !joints_to_bind(document).is_empty() => {
                Some("The model already has bones.")
            }
            RigKind::Template(_) if document.meshes().is_empty() => Some("The model has no mesh."),
            RigKind::PoseAsRest
                if document.current_pose().locals == document.rest_pose().locals =>
            {
                Some("The current pose is already the rest pose: pose a bone first.")
            }
            RigKind::InferParents if !has_flat_skin(document) => {
                Some("No skin has a flat rig, with all bones children of one node.")
            }
            RigKind::Unbind | RigKind::ApplyPose
                if document.instances().values().all(|i| i.skin.is_none()) =>
            {
                Some("No mesh is bound.")
            }
            RigKind::BindKept if document.kept_weights().is_empty() => {
                Some("No mesh was unbound, so there are no kept weights.")
            }
            RigKind::Template(_)
            | RigKind::Bind
            | RigKind::Unbind
            | RigKind::BindKept
            | RigKind::ApplyPose
            | RigKind::PoseAsRest
            | RigKind::InferParents => None,
            RigKind::Pin if self.shown_clip().is_none() => Some("Show a clip first."),
            RigKind::Pin if !chosen.iter().any(|&joint| self.chain_of(joint).is_some()) => {
                Some("Select the end of a limb, such as a foot. It must have two bones above it.")
            }
            _ if chosen.is_empty() => Some("Select a bone first."),
            RigKind::SetParent
                if chosen.len() < 2 || active.is_none_or(|joint| !chosen.contains(&joint)) =>
            {
                Some("Select the children first, then Shift+click the new parent.")
            }
            _ => None,
        }
    }

    /// Begins an operation on the selected bones with the settings used last. It runs at once, unless it is a slow one, which
    /// waits for [`Editor::run_rig_operation`].
    pub fn begin_rig(&mut self, kind: RigKind) {
        if let Some(why) = self.why_not_rig(kind) {
            return self.notify(why);
        }
        // A running drag becomes an operation of its own.
        self.finish_tool();
        if self.is_rig_busy() {
            return;
        }
        let known = self.rigging.remembered;
        let active = self.document.session().active_joint;
        let tool = match (kind, active) {
            (RigKind::Subdivide, _) => RigTool::Subdivide { n: known.n_parts },
            (RigKind::Orient(aim), _) => RigTool::Orient {
                aim,
                second: usual_second(aim),
            },
            (RigKind::SetParent, Some(parent)) => RigTool::SetParent { parent },
            (RigKind::SetParent, None) => return,
            (RigKind::ClearParent, _) => RigTool::ClearParent,
            (RigKind::Remove, _) => RigTool::Remove,
            (RigKind::Dissolve, _) => RigTool::Dissolve,
            (RigKind::Symmetrize, _) => RigTool::Symmetrize,
            (RigKind::Twist, _) => RigTool::Twist { n: known.n_twist },
            (RigKind::Half, _) => RigTool::Half,
            (RigKind::FreezeScale, _) => RigTool::FreezeScale,
            (RigKind::Centre, _) => RigTool::Centre,
            (RigKind::Template(template), _) => RigTool::Template(template),
            (RigKind::Bind, _) => RigTool::Bind(known.method),
            (RigKind::Unbind, _) => RigTool::Unbind,
            (RigKind::BindKept, _) => RigTool::BindKept,
            (RigKind::Pin, _) => {
                let Some(settings) = self.pin_settings(known.ease) else {
                    return;
                };
                RigTool::Pin(settings)
            }
            (RigKind::InferParents, _) => RigTool::InferParents,
            (RigKind::ApplyPose, _) => RigTool::ApplyPose(self.document.current_pose()),
            (RigKind::PoseAsRest, _) => RigTool::PoseAsRest(self.document.current_pose()),
        };
        let joints = self.joints_to_pose().into_iter().collect();
        self.begin_rig_with(tool, joints);
    }

    /// The clip on screen, its loop range or else all of it, and the present time; `None` without a clip.
    fn pin_settings(&self, ease: f64) -> Option<PinSettings> {
        let playback = self.playback();
        let (clip, shown) = self.shown_clip()?;
        let whole = [shown.start_secs(), shown.end_secs()].map(f64::from);
        Some(PinSettings {
            clip,
            range: playback.range.map_or(whole, Into::into),
            at: playback.time_secs,
            posed_at: (playback.unkeyed || self.shows_live()).then_some(playback.time_secs),
            ease,
        })
    }

    /// Begins an operation with the given settings on `joints`.
    pub fn begin_rig_with(&mut self, tool: RigTool, joints: Vec<JointId>) {
        self.finish_tool();
        self.end_operation();
        self.say_run_is_cancelled("another operation began");
        if !tool.is_by_hand() {
            self.drop_moved();
            self.rigging.drawing = None;
        }
        // The bones stay where a drag has put them until its result is there.
        let shown = self.rigging.moving.take();
        self.rigging.end();
        self.motions.end();
        self.rigging.moving = shown;
        let waits = tool.is_slow();
        self.rigging.adjusting = Some(RigAdjusting {
            tool,
            joints,
            base: self.document.clone(),
            revision: self.history.revision(),
            is_applied: false,
            job: None,
            is_stale: true,
            failure: None,
            is_hidden: false,
        });
        if !waits {
            self.run_rig_operation();
        }
    }

    /// Changes the settings and replaces the step.
    pub fn set_rig_tool(&mut self, tool: RigTool) {
        let Some(adjusting) = &mut self.rigging.adjusting else {
            return;
        };
        if adjusting.tool == tool {
            return;
        }
        adjusting.tool = tool;
        adjusting.is_stale = true;
        if !adjusting.tool.is_slow() {
            self.run_rig_operation();
        }
    }

    /// Runs the adjusted operation with its current settings.
    pub fn run_rig_operation(&mut self) {
        let Some(adjusting) = &mut self.rigging.adjusting else {
            return;
        };
        if let Some(job) = adjusting.job.take() {
            job.task().cancel();
        }
        adjusting.is_stale = false;
        self.rigging.remembered.keep(&adjusting.tool);
        let base = adjusting.base.clone();
        let operations = adjusting.tool.operations(&base, &adjusting.joints);
        let kind = if adjusting.tool.is_slow() {
            EditorJob::SlowRigOperation
        } else {
            EditorJob::RigOperation
        };
        let work = move |task: &Task| run(&base, &operations, task);
        adjusting.job = Some(self.lane.submit(kind, adjusting.tool.label(), work));
    }

    /// Cancels the current run; the previous result stays.
    pub fn cancel_rig_operation(&mut self) {
        self.drop_moved();
        if let Some(adjusting) = &mut self.rigging.adjusting
            && let Some(job) = adjusting.job.take()
        {
            job.task().cancel();
            adjusting.is_stale = true;
            adjusting.failure = Some(CANCELLED.into());
        }
    }

    /// Keeps the result and ends the adjustment.
    pub fn end_rig_operation(&mut self) {
        self.rigging.end();
    }

    /// Takes the result back, bit for bit, and ends the adjustment.
    pub fn take_back_rig_operation(&mut self) {
        if self
            .rigging
            .adjusting
            .as_ref()
            .is_some_and(|a| a.is_applied)
        {
            self.remove_rig_step();
        }
        self.rigging.end();
    }

    /// Hides or shows the settings of the operation, which remain available until the next edit.
    pub fn hide_rig_operation(&mut self, hide: bool) {
        if let Some(adjusting) = &mut self.rigging.adjusting {
            adjusting.is_hidden = hide;
        }
    }

    /// Whether the first run of an operation is under way, which nothing else may interrupt; if so, a notice says it.
    pub(super) fn is_rig_busy(&mut self) -> bool {
        let adjusting = self.rigging.adjusting.as_ref();
        let running = adjusting.filter(|a| a.job.is_some() && !a.is_applied);
        let Some(label) = running.map(|adjusting| adjusting.tool.label()) else {
            return false;
        };
        self.notify(format!(
            "{label} is still running: wait for it or cancel it first."
        ));
        true
    }

    /// Says that a run under way is cancelled, if there is one.
    fn say_run_is_cancelled(&mut self, why: &str) {
        let running = self.rigging.adjusting.as_ref().filter(|a| a.job.is_some());
        if let Some(label) = running.map(|adjusting| adjusting.tool.label()) {
            self.notify(format!("{label}: cancelled, because {why}."));
        }
    }

    /// Cancels the first run of an operation. Returns whether there was one.
    pub(super) fn undo_rig_run(&mut self) -> bool {
        let adjusting = self.rigging.adjusting.as_ref();
        let is_first_run = adjusting.is_some_and(|a| a.job.is_some() && !a.is_applied);
        if is_first_run {
            self.say_run_is_cancelled("it was undone");
            self.drop_moved();
            self.rigging.end();
        }
        is_first_run
    }
}
