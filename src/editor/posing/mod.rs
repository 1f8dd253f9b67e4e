//! Posing: transforms under way, pins, reset, copy and paste, blends.
//!
//! Data flow: the shown pose at the start -> [`Transforming`] and the chains of pinned ends -> one
//! [`Edit::Pose`] in one step of the history, which later ones are absorbed into.
//!
//! Invariant: the result of a drag depends on its start and the pointer's position, not on the path between them.

mod blending;
mod chains;
mod clipboard;
mod fields;
mod library;
mod library_clips;
mod pictures;

use super::Editor;
use crate::document::session::{PoseOptions, PoseSpace, TransformKind};
use crate::document::{Edit, EditError, PoseId};
use crate::math::Transform;
use crate::math::transform::normalize_or_identity;
use crate::skeleton::mirror::Mirror;
use crate::skeleton::orientation::orientation;
use crate::skeleton::{JointId, Pose, Skeleton};
use crate::tools::transform::step_label;
use crate::tools::{Axis, Handle, PointerPrecision, Screen, Transforming};
use blending::Blend;
use chains::ChainEnd;
use clipboard::PoseCopy;
use glam::{DMat3, DVec3, Vec2, Vec3};
use library::Applied;
pub use library::PoseAmount;
use pictures::PosePictures;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The editor's state for posing; not part of the document.
#[derive(Default)]
pub(super) struct Posing {
    running: Option<Running>,
    copied: Option<PoseCopy>,
    /// The active pose of the library.
    active_pose: Option<PoseId>,
    pictures: PosePictures,
    /// The symmetry of the latest skeleton.
    mirror: RefCell<Option<(Arc<Skeleton>, Arc<Mirror>)>>,
}

impl Posing {
    /// Drops what belongs to the previous model; the copied pose stays.
    pub(super) fn forget_model(&mut self) {
        self.running = None;
        self.active_pose = None;
        self.pictures = PosePictures::default();
        self.mirror.take();
    }
}

/// A pose edit under way.
struct Running {
    label: String,
    /// The transform tool; `None` while a field or a blend is dragged.
    tool: Option<Transforming>,
    /// Chain ends being dragged, whose chains bend.
    dragged: Vec<ChainEnd>,
    /// The target of a blend.
    blend: Option<Blend>,
    /// The pose of the library that is being applied.
    applied: Option<Applied>,
    /// Pinned chain ends.
    pinned: Vec<ChainEnd>,
    /// The pose that is changed, at the start: with constraints for tools, before them for values.
    start: Arc<Pose>,
    /// The same before constraints.
    free: Arc<Pose>,
    /// The document's pose at the start. Over a clip it may be one that was left unkeyed at another time.
    before: Arc<Pose>,
    /// Whether that pose was on screen, not keyed, at the start.
    unkeyed: bool,
    /// The edited pose; its other joints are those of `start`.
    next: Pose,
}

/// The transform component that is reset to the rest pose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResetPart {
    /// The location.
    Location,
    /// The rotation.
    Rotation,
    /// The scale.
    Scale,
    /// All components.
    All,
}

impl Editor {
    /// The transform options: gizmo and orientation.
    pub fn pose_options(&self) -> PoseOptions {
        self.document.session().pose
    }

    /// Sets the gizmo.
    pub fn set_gizmo(&mut self, kind: TransformKind) {
        self.document.session_mut().pose.gizmo = kind;
    }

    /// Sets the orientation of the gizmo.
    pub fn set_pose_space(&mut self, space: PoseSpace) {
        self.document.session_mut().pose.space = space;
    }

    /// Switches to the next orientation: local, global, parent.
    pub fn cycle_pose_space(&mut self) {
        self.set_pose_space(match self.pose_options().space {
            PoseSpace::Local => PoseSpace::World,
            PoseSpace::World => PoseSpace::Parent,
            PoseSpace::Parent => PoseSpace::Local,
        });
    }

    /// Whether a pose edit is under way.
    pub fn is_posing(&self) -> bool {
        self.posing.running.is_some()
            || self.is_moving_vertices()
            || self.is_moving_clusters()
            || self.is_moving_joints()
    }

    /// The current transform.
    pub fn transforming(&self) -> Option<&Transforming> {
        let tool = self.vertex_tool().or_else(|| self.cluster_tool());
        if let Some(tool) = tool.or_else(|| self.joint_tool()) {
            return Some(tool);
        }
        self.posing.running.as_ref()?.tool.as_ref()
    }

    /// The bones that a transform changes: the selected ones, otherwise the active one.
    pub fn joints_to_pose(&self) -> BTreeSet<JointId> {
        let session = self.document.session();
        if session.selected_joints.is_empty() {
            let shown = |joint: &JointId| !session.hidden_joints.contains(joint);
            session.active_joint.into_iter().filter(shown).collect()
        } else {
            session.selected_joints.clone()
        }
    }

    /// The position and axes of the gizmo: at the active one of the bones to pose, as on screen. `None` if no bone is
    /// selected or visible.
    pub fn gizmo_frame(&self) -> Option<(Vec3, [Vec3; 3])> {
        let joints = self.joints_to_pose();
        let active = self.document.session().active_joint;
        let joint = active.filter(|j| joints.contains(j));
        let joint = joint.or(joints.first().copied())?;
        let world = self.world.get(joint.get())?;
        let parent = self.document.skeleton().joint(joint).parent;
        let map = match self.pose_options().space {
            PoseSpace::World => DMat3::IDENTITY,
            PoseSpace::Local => orientation(world.matrix3),
            PoseSpace::Parent => parent
                .and_then(|parent| self.world.get(parent.get()))
                .map_or(DMat3::IDENTITY, |parent| orientation(parent.matrix3)),
        };
        let axes = [map.x_axis, map.y_axis, map.z_axis].map(DVec3::as_vec3);
        Some((world.translation.as_vec3(), axes))
    }

    /// Begins to transform the selected bones with the pointer at `at_px` of a viewport of `size_px`; with `handle`, as
    /// that part of the gizmo does. During a transform, acts as a repeated press of its key. Returns whether a
    /// transform is under way afterwards.
    pub fn begin_transform(
        &mut self,
        kind: TransformKind,
        handle: Option<Handle>,
        at_px: Vec2,
        size_px: Vec2,
    ) -> bool {
        if self.press_kind(kind) {
            return true;
        }
        let joints = self.joints_to_pose();
        if joints.is_empty() {
            self.notify("Select a bone to pose first.");
            return false;
        }
        self.start_transform(&joints, (kind, handle), (at_px, size_px), &[])
    }

    /// Begins to drag `end`, with the two bones above it following. Returns whether it has them.
    pub fn begin_reach(&mut self, end: JointId, at_px: Vec2, size_px: Vec2) -> bool {
        if self.chain_of(end).is_none() {
            return false;
        }
        let joints = BTreeSet::from([end]);
        self.start_transform(
            &joints,
            (TransformKind::Move, None),
            (at_px, size_px),
            &[end],
        )
    }

    fn start_transform(
        &mut self,
        joints: &BTreeSet<JointId>,
        (kind, handle): (TransformKind, Option<Handle>),
        (at_px, size_px): (Vec2, Vec2),
        pulled_ends: &[JointId],
    ) -> bool {
        self.finish_tool();
        self.cancel_select();
        let start = self.document.shown_pose();
        let skeleton = self.document.skeleton().clone();
        let world = start.world_matrices(&skeleton);
        let session = self.document.session();
        let tool = Transforming::begin(
            &skeleton,
            &start,
            &world,
            joints,
            session.active_joint,
            (kind, session.pose.space),
            (Screen::new(session.camera, size_px), at_px),
        );
        let Some(mut tool) = tool else {
            return false;
        };
        if let Some(handle) = handle {
            tool.grab(handle);
        }
        let moved: BTreeSet<JointId> = tool.joints().collect();
        let is_pulled = |j: &JointId| pulled_ends.contains(j) || session.pins.contains(j);
        let hold = |joint: JointId| {
            let keeps = session.pins.contains(&joint);
            Some(ChainEnd::new(self.chain_of(joint)?, &world, keeps))
        };
        let mut pins: Vec<JointId> = session
            .pins
            .iter()
            .copied()
            .filter(|pin| skeleton.is_live(*pin) && !moved.contains(pin))
            .collect();
        pins.sort_by_key(|&j| skeleton.rank(j));
        let pinned = pins.into_iter().filter_map(hold).collect();
        let dragged = moved.iter().copied().filter(is_pulled);
        let dragged = dragged.filter_map(hold).collect();
        let label = match pulled_ends {
            [end] => format!("Bend chain to {}", skeleton.label(*end)),
            _ => tool.label(&skeleton),
        };
        self.open_step(label, start, Some(tool), dragged, pinned);
        true
    }

    /// Moves the current transform with the pointer.
    pub fn update_transform(&mut self, at_px: Vec2, precision: PointerPrecision) {
        if let Some(tool) = self.tool_mut() {
            tool.pointer(at_px, precision);
            self.show_transform();
        }
    }

    /// The key of a kind of transform during one; returns whether one is under way.
    pub(in crate::editor) fn press_kind(&mut self, kind: TransformKind) -> bool {
        // The rest pose of a bone is only moved.
        let is_fixed = self.is_moving_joints();
        let Some(tool) = self.tool_mut() else {
            return false;
        };
        if is_fixed {
            return true;
        }
        tool.press_kind(kind);
        self.show_transform();
        true
    }

    /// Constrains the current transform to an axis, or with `plane` to the other two.
    pub fn press_axis(&mut self, axis: Axis, plane: bool) {
        // A bone rolls about itself.
        if self.is_rolling_joints() {
            return;
        }
        if let Some(tool) = self.tool_mut() {
            tool.press_axis(axis, plane);
            self.show_transform();
        }
    }

    /// Adds a typed character of a number to the current transform. Returns whether it was accepted.
    pub fn type_transform(&mut self, c: char) -> bool {
        let Some(tool) = self.tool_mut() else {
            return false;
        };
        let taken = tool.type_char(c);
        if taken {
            self.show_transform();
        }
        taken
    }

    /// Removes the last typed character.
    pub fn untype_transform(&mut self) {
        if let Some(tool) = self.tool_mut() {
            tool.backspace();
            self.show_transform();
        }
    }

    /// The readout of the current transform: "Rotate X (local) 45.0°".
    pub fn transform_readout(&self) -> Option<String> {
        Some(self.transforming()?.readout())
    }

    /// Confirms the current transform or pose edit: one undo step, or none if nothing changed.
    pub fn confirm_transform(&mut self) {
        if self.confirm_vertices() || self.confirm_moved_clusters() || self.confirm_moved_joints() {
            return;
        }
        let Some(running) = self.posing.running.take() else {
            return;
        };
        let is_as_before = *self.document.pose() == running.before;
        if is_as_before && self.playback().unkeyed == running.unkeyed {
            let dirty = self.history.cancel(&mut self.document);
            self.refresh(&dirty);
            self.tell_applied(running.applied.as_ref());
        } else {
            let pairs = running.next.locals.iter().zip(&running.start.locals);
            let changed = pairs.enumerate().filter(|(_, (next, start))| next != start);
            let changed = changed.map(|(j, _)| JointId(j as u32)).collect();
            self.auto_key(&changed);
            self.history.commit(&self.document);
            self.tell_applied(running.applied.as_ref());
        }
    }

    /// Cancels the current transform or pose edit; restores everything bit for bit.
    pub fn cancel_transform(&mut self) {
        if self.cancel_vertices() || self.cancel_moved_clusters() || self.cancel_moved_joints() {
            return;
        }
        if self.posing.running.take().is_some() {
            let dirty = self.history.cancel(&mut self.document);
            self.refresh(&dirty);
            self.evaluation.stale = true;
        }
    }

    /// Resets the selected bones, or all without a selection, to the rest pose.
    pub fn reset_pose(&mut self, part: ResetPart) {
        self.finish_tool();
        let rest = self.document.rest_pose().clone();
        let start = self.document.free_pose();
        let joints = self.joints_to_pose();
        let all = joints.is_empty();
        let mut next = Pose::clone(&start);
        for (j, (local, rest)) in next.locals.iter_mut().zip(&rest.locals).enumerate() {
            if !all && !joints.contains(&JointId(j as u32)) {
                continue;
            }
            if matches!(part, ResetPart::Location | ResetPart::All) {
                local.translation = rest.translation;
            }
            if matches!(part, ResetPart::Rotation | ResetPart::All) {
                local.rotation = rest.rotation;
            }
            if matches!(part, ResetPart::Scale | ResetPart::All) {
                local.stretch = rest.stretch;
            }
        }
        if all && part == ResetPart::All {
            next.morph_weights.clone_from(&rest.morph_weights);
        }
        let verb = match part {
            ResetPart::Location => "Clear location of",
            ResetPart::Rotation => "Clear rotation of",
            ResetPart::Scale => "Clear scale of",
            ResetPart::All => "Reset",
        };
        let label = match joints.first() {
            Some(&first) => step_label(verb, self.document.skeleton(), joints.len(), first),
            None => format!("{verb} all bones"),
        };
        if !self.pose_at_once(next, &label) {
            self.notify("The bones are already in the rest pose.");
        }
    }

    /// The left and right bones of the model.
    pub fn mirror(&self) -> Arc<Mirror> {
        let skeleton = self.document.skeleton();
        let mut known = self.posing.mirror.borrow_mut();
        match &*known {
            Some((of, mirror)) if Arc::ptr_eq(of, skeleton) => mirror.clone(),
            _ => {
                let mirror = Arc::new(Mirror::new(skeleton));
                *known = Some((skeleton.clone(), mirror.clone()));
                mirror
            }
        }
    }

    fn tool_mut(&mut self) -> Option<&mut Transforming> {
        if self.is_moving_vertices() {
            return self.vertex_tool_mut();
        }
        if self.is_moving_clusters() {
            return self.cluster_tool_mut();
        }
        if self.is_moving_joints() {
            return self.joint_tool_mut();
        }
        self.posing.running.as_mut()?.tool.as_mut()
    }

    fn open_step(
        &mut self,
        label: String,
        start: Arc<Pose>,
        tool: Option<Transforming>,
        dragged: Vec<ChainEnd>,
        pinned: Vec<ChainEnd>,
    ) {
        self.edit_template();
        self.document.session_mut().playback.playing = false;
        self.history.begin(&self.document, &label);
        let (free, before) = (self.document.free_pose(), self.document.pose().clone());
        let unkeyed = self.playback().unkeyed;
        if self.shows_live() {
            // What is posed is what was received last.
            self.hide_live();
            if let Err(error) = self.apply_pose(&before, &free, &label) {
                self.notify_error(error.to_string());
            }
        }
        self.posing.running = Some(Running {
            label,
            tool,
            dragged,
            blend: None,
            applied: None,
            pinned,
            next: Pose::clone(&start),
            start,
            free,
            before,
            unkeyed,
        });
    }

    /// Updates the document to the current transform.
    fn show_transform(&mut self) {
        if self.is_moving_vertices() {
            self.show_vertices();
            return;
        }
        if self.is_moving_clusters() {
            self.show_moved_clusters();
            return;
        }
        if self.is_moving_joints() {
            self.show_moved_joints();
            return;
        }
        let rest = self.document.rest_pose().clone();
        let skeleton = self.document.skeleton().clone();
        let Some(running) = &mut self.posing.running else {
            return;
        };
        let Some(tool) = &running.tool else {
            return;
        };
        running.next.locals.copy_from_slice(&running.start.locals);
        tool.apply(&mut running.next);
        if tool.kind() == TransformKind::Move {
            for end in &running.dragged {
                end.follow(&skeleton, &running.start, &rest, &mut running.next);
            }
        }
        for end in &running.pinned {
            end.keep(&skeleton, &running.start, &rest, &mut running.next);
        }
        for joint in skeleton.live_joints() {
            let turned = |pose: &Pose| pose.locals[joint.get()].rotation;
            if turned(&running.next) != turned(&running.start) {
                running.next.clamp_rotation(&skeleton, joint);
            }
        }
        self.show_next();
    }

    fn show_next(&mut self) {
        let Some(mut running) = self.posing.running.take() else {
            return;
        };
        let wanted = carried(&running.free, &running.start, &running.next);
        let free = running.free.clone();
        if let Err(error) = self.apply_pose(&free, &wanted, &running.label) {
            self.notify_error(error.to_string());
            running.next.locals.copy_from_slice(&running.start.locals);
        }
        self.posing.running = Some(running);
    }

    /// Inside the open step: sets the document's pose to `next`. If a clip supplied the pose (`shown`), that becomes
    /// the document's pose first.
    fn apply_pose(&mut self, shown: &Pose, next: &Pose, label: &str) -> Result<(), EditError> {
        let playback = self.document.session().playback;
        let over_clip = playback
            .clip
            .is_some_and(|id| self.document.clips().contains_key(&id));
        let has_changed = next != shown || playback.unkeyed || !over_clip;
        if !has_changed {
            return Ok(());
        }
        let now = self.document.pose().clone();
        for (j, (now, next)) in now
            .morph_weights
            .iter()
            .zip(&next.morph_weights)
            .enumerate()
        {
            if now != next {
                let edit = Edit::MorphWeights {
                    joint: JointId(j as u32),
                    weights: next.clone(),
                };
                self.apply(edit, label)?;
            }
        }
        if let Some(edit) = Edit::pose_change(&now, next) {
            self.apply(edit, label)?;
        }
        if over_clip && !playback.unkeyed {
            self.document.session_mut().playback.unkeyed = true;
            self.evaluation.stale = true;
        }
        Ok(())
    }

    /// Shows another pose, given before constraints: one undo step. Returns whether anything changed.
    pub(super) fn pose_at_once(&mut self, next: Pose, label: &str) -> bool {
        let start = self.document.free_pose();
        if next == *start {
            return false;
        }
        self.open_step(label.to_owned(), start, None, Vec::new(), Vec::new());
        if let Some(running) = &mut self.posing.running {
            running.next = next;
        }
        self.show_next();
        self.confirm_transform();
        true
    }
}

/// `free`, the pose before constraints, with what changes from `start` to `next`: the new transform itself where no
/// constraint had changed the joint, else the same turn, move and stretch on top of its own.
fn carried(free: &Pose, start: &Pose, next: &Pose) -> Pose {
    let mut carried = next.clone();
    let locals = carried
        .locals
        .iter_mut()
        .zip(&free.locals)
        .zip(&start.locals);
    for ((local, free), start) in locals.filter(|((_, free), start)| free != start) {
        *local = if local == start {
            *free
        } else {
            Transform {
                translation: free.translation + (local.translation - start.translation),
                rotation: normalize_or_identity(
                    free.rotation * (start.rotation.conjugate() * local.rotation),
                ),
                stretch: if local.stretch == start.stretch {
                    free.stretch
                } else {
                    local.stretch
                },
            }
        };
    }
    carried
}
