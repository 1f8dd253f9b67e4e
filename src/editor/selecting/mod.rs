//! Selecting and hiding bones and points: session data without undo steps.
//!
//! Data flow: the viewport passes pointer events to [`Editor::select_pointer`] -> [`SelectTool`] turns them into
//! regions -> the bones or points inside become the session's selection, which all panels show during the drag.
//!
//! Invariant: hidden items are never selected, and selection commands do not affect them.

mod loops;
mod operations;
mod pick;
mod visibility;

pub use pick::PickableBones;

use super::pointer::surfaces;
use super::{Displayed, Editor};
use crate::document::session::{PointsOfMeshes, SelectKind};
use crate::document::{Document, InstanceId, MeshId};
use crate::evaluate::JobHandle;
use crate::math::Camera;
use crate::mesh::PointSet;
use crate::skeleton::JointId;
use crate::task::Cancelled;
use crate::tools::{
    DepthBuffer, PointerKind, Region, ScreenView, SelectAction, SelectEvent, SelectOp, SelectShape,
    SelectTool, region,
};
use glam::Vec2;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The largest distance between a click and the point that it picks, logical pixels.
const POINT_REACH_PX: f32 = 12.0;

/// The state of selecting between events.
#[derive(Default)]
pub(super) struct Selecting {
    tool: SelectTool,
    /// The selection before the current drag.
    before: Option<Selection>,
    /// The number of items in the region of the current drag.
    n_inside: usize,
    depth: Option<(DepthKey, DepthBuffer)>,
    /// The visible points of a view, computed once and used by every event of a box or a lasso.
    seen: Option<(DepthKey, BTreeMap<InstanceId, PointSet>)>,
    /// The mirror image of the selection with this serial, being computed.
    mirroring: Option<(u64, JobHandle<Result<operations::Mirrored, Cancelled>>)>,
    /// Items hidden only by isolating, and not shown since; never empty.
    isolated_from: Option<visibility::Hidden>,
    /// Whether only what is moved in Cluster mode is selected: clusters that are moved by hand, or control points.
    for_moving: bool,
    /// Increases with every change of selected points or of hidden items.
    serial: u64,
    /// Increases with every change of hidden items.
    hidden_serial: u64,
}

/// The complete selection.
#[derive(Clone, Debug, Default, PartialEq)]
struct Selection {
    active_joint: Option<JointId>,
    joints: BTreeSet<JointId>,
    points: PointsOfMeshes,
    /// Control points of lattices and cages, by mesh and group.
    controls: BTreeMap<(MeshId, u16), BTreeSet<u32>>,
}

/// The inputs of a depth buffer.
#[derive(Clone, Debug, PartialEq)]
struct DepthKey {
    camera: Camera,
    size_px: Vec2,
    /// The model, the visibility, and each displayed surface with its generation.
    serials: (u64, u64),
    shown: Vec<(u64, u64)>,
}

impl Editor {
    /// Passes a pointer event to the selection tool; `size_px`: the viewport in logical pixels.
    pub fn select_pointer(
        &mut self,
        kind: PointerKind,
        ndc: Vec2,
        size_px: Vec2,
        op: SelectOp,
        bones: PickableBones,
    ) {
        let view = ScreenView::new(&self.document.session().camera, size_px);
        let at = view.pixel_of(ndc);
        let actions = self.selecting.tool.pointer(&SelectEvent { kind, at, op });
        for action in actions {
            match action {
                SelectAction::Begin => {
                    self.selecting.before = Some(self.selection());
                    self.selecting.n_inside = 0;
                }
                SelectAction::Pick(at, op) => {
                    let ndc = at / view.size_px() * 2.0 - 1.0;
                    self.pick(ndc, size_px, op, bones);
                }
                SelectAction::Choose(region, op) => {
                    let base = self.selecting.before.clone().unwrap_or_default();
                    self.choose(&region, &view, op, base, bones);
                }
                SelectAction::Sweep(region, op) => {
                    let base = self.selection();
                    self.choose(&region, &view, op, base, bones);
                }
                SelectAction::Restore => {
                    if let Some(before) = self.selecting.before.take() {
                        self.set_selection(before);
                    }
                }
            }
        }
    }

    /// Whether the pointer selects only what is moved in Cluster mode: clusters that are moved by hand, or the control points
    /// of the active group.
    pub fn select_for_moving(&mut self, only: bool) {
        self.selecting.for_moving = only;
    }

    /// Whether the pointer selects only what is moved in Cluster mode.
    pub(super) fn selects_for_moving(&self) -> bool {
        self.selecting.for_moving
    }

    /// Records a pointer position between two events.
    pub fn trace_select(&mut self, ndc: Vec2, size_px: Vec2) {
        let at = (ndc * 0.5 + 0.5) * size_px.max(Vec2::ONE);
        self.selecting.tool.trace(at);
    }

    /// Selects with this shape in the next drag, wherever it begins; a circle stays active until Esc. `None` restores
    /// clicks and boxes.
    pub fn arm_select(&mut self, shape: Option<SelectShape>) {
        self.cancel_select();
        self.selecting.tool.arm(shape);
    }

    /// Cancels the current selection drag, otherwise the requested circle, box or lasso.
    pub fn cancel_select(&mut self) {
        self.select_pointer(
            PointerKind::Cancel,
            Vec2::ZERO,
            Vec2::ONE,
            SelectOp::Replace,
            PickableBones::XRay,
        );
    }

    /// Cancels the current selection drag; a circle stays active.
    pub(super) fn take_back_select(&mut self) {
        if self.selecting.tool.is_active() {
            self.cancel_select();
        }
    }

    /// The state of the selection tool, for drawing.
    pub fn select_tool(&self) -> &SelectTool {
        &self.selecting.tool
    }

    /// Makes the selection circle larger or smaller.
    pub fn resize_select_circle(&mut self, factor: f32) {
        self.selecting.tool.resize(factor);
    }

    /// The number of bones or points inside the current drag.
    pub fn n_in_region(&self) -> usize {
        self.selecting.n_inside
    }

    /// The number of selected bones or points, of the kind that is picked.
    pub fn n_selected(&self) -> usize {
        let session = self.document.session();
        match session.select_kind {
            SelectKind::Bones => session.selected_joints.len(),
            SelectKind::Points => session.selected_points.values().map(|s| s.count()).sum(),
        }
    }

    /// Whether clicks pick bones or points.
    pub fn select_kind(&self) -> SelectKind {
        self.document.session().select_kind
    }

    /// Sets the kind that clicks, boxes and commands select; the selection of the other kind stays.
    pub fn set_select_kind(&mut self, kind: SelectKind) {
        self.cancel_select();
        self.document.session_mut().select_kind = kind;
        self.selection_changed();
    }

    /// Sets whether boxes, circles and lassos select points that face away or are occluded.
    pub fn set_select_through(&mut self, through: bool) {
        self.document.session_mut().select_through = through;
    }

    /// Increases with every change of selected points and of hidden items.
    pub fn selection_serial(&self) -> u64 {
        self.selecting.serial
    }

    /// Records a change of selected points or hidden items.
    pub(super) fn selection_changed(&mut self) {
        self.selecting.serial += 1;
    }

    /// Drops what belongs to the previous document.
    pub(super) fn reset_selecting(&mut self) {
        self.cancel_mirrored();
        self.selecting = Selecting {
            serial: self.selecting.serial + 1,
            hidden_serial: self.selecting.hidden_serial + 1,
            ..Selecting::default()
        };
    }

    /// Selects a bone as a click does: `op` Replace selects only it (`None`: none), Extend adds it, Subtract removes
    /// it. The last picked bone becomes active.
    pub fn pick_joint(&mut self, joint: Option<JointId>, op: SelectOp) {
        let mut selection = self.selection();
        let joint = joint.filter(|&j| self.document.skeleton().is_live(j));
        match (op, joint) {
            (SelectOp::Replace, joint) => {
                selection.joints = joint.into_iter().collect();
                selection.active_joint = joint;
            }
            (SelectOp::Extend, Some(joint)) => {
                selection.joints.insert(joint);
                selection.active_joint = Some(joint);
            }
            (SelectOp::Subtract, Some(joint)) => {
                selection.joints.remove(&joint);
            }
            (_, None) => {}
        }
        self.set_selection(selection);
    }

    fn selection(&self) -> Selection {
        let session = self.document.session();
        Selection {
            active_joint: session.active_joint,
            joints: session.selected_joints.clone(),
            points: session.selected_points.clone(),
            controls: session.selected_controls.clone(),
        }
    }

    /// Sets the selection; if bones are selected, one of them becomes active.
    fn set_selection(&mut self, mut selection: Selection) {
        let is_selected = |joint: &JointId| selection.joints.contains(joint);
        if self.select_kind() == SelectKind::Bones
            && !selection.active_joint.is_some_and(|j| is_selected(&j))
        {
            selection.active_joint = selection.joints.first().copied();
        }
        selection.points.retain(|_, set| !set.is_empty());
        let session = self.document.session_mut();
        session.active_joint = selection.active_joint;
        session.selected_joints = selection.joints;
        session.selected_points = selection.points;
        session.selected_controls = selection.controls;
        session.deselect_hidden();
        self.selection_changed();
        self.refresh_heat();
    }

    /// Selects the items inside `region`, combined with `base`.
    fn choose(
        &mut self,
        region: &Region,
        view: &ScreenView,
        op: SelectOp,
        mut base: Selection,
        bones: PickableBones,
    ) {
        if self.selects_controls() {
            let found = self.controls_in(region, view);
            self.selecting.n_inside = found.len();
            self.set_selection(base);
            self.select_controls(found, op);
            return;
        }
        match self.select_kind() {
            SelectKind::Bones => {
                let found = if bones == PickableBones::None {
                    BTreeSet::new()
                } else {
                    region::joints_in(region, view, &self.bones_in(self.pointed_view()))
                };
                self.selecting.n_inside = found.len();
                match op {
                    SelectOp::Replace => base.joints = found,
                    SelectOp::Extend => base.joints.extend(found),
                    SelectOp::Subtract => base.joints.retain(|j| !found.contains(j)),
                }
            }
            SelectKind::Points => {
                let found = self.points_in(region, view);
                self.selecting.n_inside = found.values().map(|set| set.count()).sum();
                combine(&mut base.points, found, op);
            }
        }
        self.set_selection(base);
    }

    /// The points inside `region`, by mesh.
    fn points_in(&mut self, region: &Region, view: &ScreenView) -> PointsOfMeshes {
        let through = self.document.session().select_through;
        let is_large = !through && !matches!(region, Region::Circle { .. });
        if !through {
            self.draw_depth(view);
        }
        if is_large {
            self.look_at_points(view);
        }
        let selecting = &self.selecting;
        let seen = selecting.seen.as_ref().filter(|_| is_large);
        let depth = selecting.depth.as_ref().filter(|_| !through && !is_large);
        let mut found = PointsOfMeshes::new();
        for (id, surface) in surfaces(self.views.pointed_mut(), &self.document) {
            let Some(instance) = self.document.instances().get(&id) else {
                continue;
            };
            let mut set = region::points_in(region, view, &surface, depth.map(|(_, d)| d));
            if self.selecting.for_moving {
                set.intersect(&self.document.points_by_hand(instance.mesh));
            }
            if let Some((_, seen)) = seen {
                set.intersect(seen.get(&id).unwrap_or(&PointSet::default()));
            }
            Arc::make_mut(found.entry(instance.mesh).or_default()).union(&set);
        }
        found.retain(|_, set| !set.is_empty());
        found
    }

    /// Updates the visible points from the depth buffer.
    fn look_at_points(&mut self, view: &ScreenView) {
        let Some((key, depth)) = &self.selecting.depth else {
            return;
        };
        if self.selecting.seen.as_ref().is_some_and(|(k, _)| k == key) {
            return;
        }
        let everywhere = Region::between(Vec2::ZERO, view.size_px());
        let seen = surfaces(self.views.pointed_mut(), &self.document)
            .into_iter()
            .map(|(id, s)| (id, region::points_in(&everywhere, view, &s, Some(depth))))
            .collect();
        self.selecting.seen = Some((key.clone(), seen));
    }

    /// Updates the depth buffer from the display.
    fn draw_depth(&mut self, view: &ScreenView) {
        let key = self.depth_key(view);
        if self.selecting.depth.as_ref().is_none_or(|(k, _)| *k != key) {
            let surfaces = surfaces(self.views.pointed_mut(), &self.document);
            let buffer = DepthBuffer::new(view, surfaces.iter().map(|(_, surface)| surface));
            self.selecting.depth = Some((key, buffer));
        }
    }

    fn depth_key(&self, view: &ScreenView) -> DepthKey {
        DepthKey {
            camera: self.document.session().camera,
            size_px: view.size_px(),
            serials: (self.model_serial, self.selecting.hidden_serial),
            shown: shown_generations(self.views.of(self.views.pointed()), &self.document),
        }
    }
}

/// Each visible displayed surface with its generation.
fn shown_generations(
    displayed: &BTreeMap<InstanceId, Displayed>,
    document: &Document,
) -> Vec<(u64, u64)> {
    let hidden = &document.session().hidden_instances;
    let shown = displayed.iter().filter(|(id, _)| !hidden.contains(id));
    shown.map(|(_, d)| (d.key, d.generation)).collect()
}

/// Combines `base` with the picked `found`.
fn combine(base: &mut PointsOfMeshes, found: PointsOfMeshes, op: SelectOp) {
    match op {
        SelectOp::Replace => *base = found,
        SelectOp::Extend => {
            for (mesh, set) in found {
                Arc::make_mut(base.entry(mesh).or_default()).union(&set);
            }
        }
        SelectOp::Subtract => {
            for (mesh, set) in &found {
                if let Some(selected) = base.get_mut(mesh).filter(|s| s.intersects(set)) {
                    Arc::make_mut(selected).subtract(set);
                }
            }
            base.retain(|_, set| !set.is_empty());
        }
    }
}
