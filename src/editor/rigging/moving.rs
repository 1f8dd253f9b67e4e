//! Bones moved, rolled and extruded by hand in the rest pose: shown while dragged, an operation on release.

use super::{Editor, RigTool};
use crate::document::session::{PoseSpace, TransformKind};
use crate::skeleton::orientation::world_of;
use crate::skeleton::{Bone, JointId, Pose};
use crate::tools::transform::Transforming;
use crate::tools::{Axis, Constraint, Handle, Screen};
use glam::{DAffine3, DMat3, DVec3, Vec2, Vec3};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// The smallest move that is one, metres.
const LEAST: f64 = 1e-9;

/// What a drag does with bones.
#[derive(Clone, Copy, PartialEq)]
enum Gesture {
    /// Moves their heads.
    Move,
    /// Extrudes one; the place of its head at the start, relative to its parent.
    Extrude(DVec3),
    /// Rolls them; the direction of the active bone, a unit vector.
    Roll(DVec3),
}

/// Bones that are moved or rolled, or one that is extruded.
pub(super) struct JointMove {
    /// `None` once it is released and its operation runs.
    tool: Option<Transforming>,
    joints: Vec<JointId>,
    gesture: Gesture,
    /// The offset since the start, world.
    by: DVec3,
    /// The angle since the start, radians.
    angle: f64,
    /// The result of the worker that shows the bones in their new places.
    until: Option<u64>,
}

impl JointMove {
    /// The offset of the new head from its parent, or of the moved heads from their places.
    fn offset(&self) -> DVec3 {
        match self.gesture {
            Gesture::Extrude(tail) => self.by + tail,
            Gesture::Move | Gesture::Roll(_) => self.by,
        }
    }

    fn new(tool: Transforming, joints: Vec<JointId>, gesture: Gesture) -> Self {
        Self {
            tool: Some(tool),
            joints,
            gesture,
            by: DVec3::ZERO,
            angle: 0.0,
            until: None,
        }
    }
}

impl Editor {
    /// Whether bones are moved or extruded by hand.
    pub fn is_moving_joints(&self) -> bool {
        self.joint_tool().is_some()
    }

    /// The position and axes of the gizmo in the rest pose: at the active one of the selected bones.
    pub fn rig_gizmo_frame(&self) -> Option<(Vec3, [Vec3; 3])> {
        let (place, axes) = self.gizmo_frame()?;
        Some((place + self.shift_of_active().as_vec3(), axes))
    }

    fn shift_of_active(&self) -> DVec3 {
        let moving = self.rigging.moving.as_ref();
        moving
            .filter(|moving| moving.gesture == Gesture::Move)
            .map_or(DVec3::ZERO, |moving| moving.by)
    }

    /// Begins to move the heads of the selected bones as [`Editor::begin_transform`] poses them. Each moves by the same
    /// offset; their children stay.
    pub fn begin_joint_move(&mut self, handle: Option<Handle>, at_px: Vec2, size_px: Vec2) -> bool {
        if self.press_kind(TransformKind::Move) {
            return true;
        }
        let joints: Vec<JointId> = self.joints_to_pose().into_iter().collect();
        let active = self.document.session().active_joint;
        let active = active.filter(|j| joints.contains(j));
        let Some(lead) = active.or(joints.first().copied()) else {
            self.notify("Select a bone to move first.");
            return false;
        };
        if !self.begin_gesture() {
            return false;
        }
        let skeleton = self.document.skeleton().clone();
        let rest = self.document.rest_pose().clone();
        let world = rest.world_matrices(&skeleton);
        let session = self.document.session();
        let tool = Transforming::begin(
            &skeleton,
            &rest,
            &world,
            &BTreeSet::from([lead]),
            Some(lead),
            (TransformKind::Move, session.pose.space),
            (Screen::new(session.camera, size_px), at_px),
        );
        let Some(mut tool) = tool else { return false };
        if let Some(handle) = handle {
            tool.grab(handle);
        }
        self.rigging.moving = Some(JointMove::new(tool, joints, Gesture::Move));
        true
    }

    /// Whether bones are rolled by hand.
    pub fn is_rolling_joints(&self) -> bool {
        let moving = self.rigging.moving.as_ref();
        moving.is_some_and(|m| m.tool.is_some() && matches!(m.gesture, Gesture::Roll(_)))
    }

    /// Begins to roll the selected bones, each about itself.
    pub fn begin_roll(&mut self, at_px: Vec2, size_px: Vec2) -> bool {
        if self.is_moving_joints() {
            return true;
        }
        let joints: Vec<JointId> = self.joints_to_pose().into_iter().collect();
        let active = self.document.session().active_joint;
        let active = active.filter(|j| joints.contains(j));
        let Some(lead) = active.or(joints.first().copied()) else {
            self.notify("Select a bone to roll first.");
            return false;
        };
        let bone = self.bones().into_iter().find(|bone| bone.joint == lead);
        let along = bone.and_then(|bone| (bone.tail - bone.head).try_normalize());
        let Some((bone, along)) = bone.zip(along) else {
            self.notify("The bone has no length, so it cannot roll.");
            return false;
        };
        if !self.begin_gesture() {
            return false;
        }
        let kind = TransformKind::Rotate;
        let camera = self.document.session().camera;
        let mut tool = Transforming::of_points(
            1,
            (bone.head, along),
            (kind, PoseSpace::Local),
            (Screen::new(camera, size_px), at_px),
        )
        .called("Roll");
        tool.grab(Handle {
            kind,
            constraint: Constraint::Axis(Axis::Z),
        });
        let gesture = Gesture::Roll(along.as_dvec3());
        self.rigging.moving = Some(JointMove::new(tool, joints, gesture));
        true
    }

    /// Begins to extrude the active bone from its tail.
    pub fn begin_extrude(&mut self, at_px: Vec2, size_px: Vec2) -> bool {
        if self.is_moving_joints() {
            return true;
        }
        let joints = self.joints_to_pose();
        let active = self.document.session().active_joint;
        let active = active.filter(|j| joints.contains(j));
        let Some(joint) = active.or(joints.first().copied()) else {
            self.notify("Select a bone to extrude first.");
            return false;
        };
        if !self.begin_gesture() {
            return false;
        }
        let rest = self.document.rest_pose();
        let world = rest.world_matrices(self.document.skeleton());
        let head = world[joint.get()].translation;
        let bone = self.bones().into_iter().find(|bone| bone.joint == joint);
        let tail = bone.map_or(head, |bone| bone.tail.as_dvec3());
        let session = self.document.session();
        let tool = Transforming::of_points(
            1,
            (tail.as_vec3(), (tail - head).as_vec3()),
            (TransformKind::Move, session.pose.space),
            (Screen::new(session.camera, size_px), at_px),
        );
        let gesture = Gesture::Extrude(tail - head);
        self.rigging.moving = Some(JointMove::new(tool, vec![joint], gesture));
        true
    }

    /// Ends other tools. Returns whether a drag can begin.
    fn begin_gesture(&mut self) -> bool {
        self.finish_tool();
        if self.is_rig_busy() {
            return false;
        }
        self.cancel_select();
        // Other settings of an operation that is done would move what is dragged.
        self.cancel_rig_operation();
        true
    }

    pub(in crate::editor) fn joint_tool(&self) -> Option<&Transforming> {
        self.rigging.moving.as_ref()?.tool.as_ref()
    }

    pub(in crate::editor) fn joint_tool_mut(&mut self) -> Option<&mut Transforming> {
        self.rigging.moving.as_mut()?.tool.as_mut()
    }

    /// Shows the bones where the drag puts them.
    pub(in crate::editor) fn show_moved_joints(&mut self) {
        let rest = self.document.rest_pose().clone();
        let skeleton = self.document.skeleton().clone();
        let Some(moving) = &mut self.rigging.moving else {
            return;
        };
        let Some(tool) = &moving.tool else { return };
        if let Gesture::Roll(along) = moving.gesture {
            let angle = tool.point_map().rotation().dot(along);
            if moving.angle != angle {
                moving.angle = angle;
                self.picture_serial += 1;
            }
            return;
        }
        let by = match tool.joints().next() {
            Some(joint) => {
                let mut next = Pose::clone(&rest);
                tool.apply(&mut next);
                let place = |pose: &Pose| world_of(&skeleton, pose, joint).translation;
                place(&next) - place(&rest)
            }
            None => tool.point_map().offset(tool.pivot(), 1.0).as_dvec3(),
        };
        if moving.by != by {
            moving.by = by;
            self.picture_serial += 1;
        }
    }

    /// Ends the drag: its operation runs. Returns whether there was one.
    pub(in crate::editor) fn confirm_moved_joints(&mut self) -> bool {
        let Some(moving) = self.rigging.moving.as_mut() else {
            return false;
        };
        if moving.tool.take().is_none() {
            return false;
        }
        let (by, joints) = (moving.offset(), moving.joints.clone());
        let (gesture, angle) = (moving.gesture, moving.angle);
        let is_moved = by.is_finite() && by.length() > LEAST;
        let tool = match gesture {
            Gesture::Roll(_) => {
                (angle.is_finite() && angle.abs() > LEAST).then_some(RigTool::Roll { angle })
            }
            Gesture::Extrude(_) => is_moved.then_some(RigTool::Extrude { by }),
            Gesture::Move if self.children_follow() => is_moved.then_some(RigTool::MoveTree { by }),
            Gesture::Move => {
                let intent = self.move_intent();
                is_moved.then_some(RigTool::Move { by, intent })
            }
        };
        match tool {
            Some(tool) => self.begin_rig_with(tool, joints),
            None => {
                self.drop_moved();
                if matches!(gesture, Gesture::Extrude(_)) {
                    self.notify("The new bone would have no length: move the pointer to place it.");
                }
            }
        }
        true
    }

    /// Cancels the drag. Returns whether there was one.
    pub(in crate::editor) fn cancel_moved_joints(&mut self) -> bool {
        let is_moving = self.is_moving_joints();
        if is_moving {
            self.drop_moved();
        }
        is_moving
    }

    /// Shows the bones where they are again.
    pub(super) fn drop_moved(&mut self) {
        if self.rigging.moving.take().is_some() {
            self.picture_serial += 1;
        }
    }

    /// Ends the picture of a drag once `generation`, a result of the worker, shows what it did.
    pub(in crate::editor) fn settle_moved_joints(&mut self, generation: u64) {
        let moving = self.rigging.moving.as_ref();
        if moving.is_some_and(|moving| moving.until.is_some_and(|until| until <= generation)) {
            self.rigging.moving = None;
        }
    }

    /// Shows the dragged bones where they are until the next result of the worker.
    pub(super) fn await_moved_joints(&mut self) {
        if let Some(moving) = &mut self.rigging.moving {
            moving.until = Some(self.evaluation.posted + 1);
        }
    }

    /// World transforms of the joints with those that are being moved in their new places.
    pub(in crate::editor) fn world_with_moved(&self) -> Cow<'_, [DAffine3]> {
        let moving = self.rigging.moving.as_ref();
        let Some(moving) = moving.filter(|m| !matches!(m.gesture, Gesture::Extrude(_))) else {
            return Cow::Borrowed(&self.world);
        };
        let mut world = self.world.clone();
        let skeleton = self.document.skeleton();
        let follows = |joint: JointId| {
            self.children_follow()
                && skeleton
                    .ancestors(joint)
                    .any(|above| moving.joints.contains(&above))
        };
        for joint in skeleton.live_joints() {
            let is_selected = moving.joints.contains(&joint);
            let Some(world) = world.get_mut(joint.get()) else {
                continue;
            };
            match moving.gesture {
                Gesture::Roll(along) if is_selected => {
                    let roll = DMat3::from_axis_angle(along, moving.angle);
                    world.matrix3 = roll * world.matrix3;
                }
                Gesture::Move if is_selected || follows(joint) => world.translation += moving.by,
                _ => {}
            }
        }
        Cow::Owned(world)
    }

    /// The bone that an extrusion adds, before it is there.
    pub(in crate::editor) fn extruded_bone(&self) -> Option<Bone> {
        let moving = self.rigging.moving.as_ref();
        let moving = moving.filter(|m| matches!(m.gesture, Gesture::Extrude(_)))?;
        let joint = *moving.joints.first()?;
        let head = self.world.get(joint.get())?.translation;
        let tail = head + moving.offset();
        let along = (tail - head).as_vec3();
        Some(Bone {
            joint,
            head: head.as_vec3(),
            tail: tail.as_vec3(),
            side: along.any_orthogonal_vector(),
            radius: 0.05 * along.length(),
            helper: false,
        })
    }
}
