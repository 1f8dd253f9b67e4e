//! Pose mode: the gizmo, the keys of a transform, and IK on pinned chains. Selected vertices are transformed alike, and so
//! are bones in the rest pose in Edit bones mode.

use super::{Drag, Viewport, ndc, size};
use crate::document::session::TransformKind;
use crate::editor::Editor;
use crate::skeleton::JointId;
use crate::tools::{Axis, Gizmo, Handle, PointerPrecision, Screen, SelectOp};
use crate::view::commands::Command;
use crate::view::keymap;
use crate::view::mode::Mode;
use egui::{Event, Key, Modifiers, PointerButton, Pos2, Rect, Response, Ui};
use glam::Vec2;

/// Hit radius of a pinned bone's head, logical pixels.
const PIN_REACH_PX: f32 = 12.0;

/// The state of a transform between frames.
#[derive(Default)]
pub(super) struct PoseDrag {
    /// The gizmo handle under the pointer or being dragged.
    pub(super) handle: Option<Handle>,
    /// The pinned bone under the pointer.
    pub(super) pin: Option<JointId>,
    /// Whether releasing the button ends the transform; otherwise a click does.
    pub(super) held: bool,
    /// A button that ended a transform is still down; its release is ignored.
    pub(super) spent: bool,
}

impl Viewport {
    /// Handles the mouse: a handle transforms, a pinned end bends its chain, a click selects a bone.
    pub(super) fn pose(&mut self, ui: &Ui, response: &Response, editor: &mut Editor) {
        if editor.transforming().is_some() {
            self.update_transform(ui, response, editor);
            return;
        }
        let any_down = ui.input(|i| i.pointer.any_down());
        if self.pose.spent {
            self.pose.spent = any_down || response.clicked() || response.secondary_clicked();
            return;
        }
        if editor.drawing().is_some() {
            return self.draw_joints(ui, response, editor);
        }
        let rect = response.rect;
        let screen = screen(editor, rect);
        let gizmo = gizmo(editor, self.mode, &screen);
        let free = self.drag == Drag::None && is_plain(editor);
        let at = response.hover_pos().filter(|_| free && !any_down);
        self.find_handle(editor, gizmo.as_ref(), &screen, at.map(|at| px(at, rect)));

        let modifiers = ui.input(|i| i.modifiers);
        if free
            && !modifiers.alt
            && response.drag_started_by(PointerButton::Primary)
            && let Some(origin) = ui.input(|i| i.pointer.press_origin())
        {
            let origin = px(origin, rect);
            self.find_handle(editor, gizmo.as_ref(), &screen, Some(origin));
            if self.begin_drag(editor, origin, rect) {
                response.request_focus();
                self.update_transform(ui, response, editor);
                return;
            }
        }
        self.pick(response, editor, free);
        if self.pose.handle.is_some() {
            // The handle takes precedence.
            self.hovered = None;
        }
    }

    /// A click selects a bone, also through the skin; Shift extends, Ctrl subtracts. In Edit bones mode Shift takes a selected
    /// bone out, and Ctrl places a child of the active one.
    fn pick(&mut self, response: &Response, editor: &mut Editor, free: bool) {
        if !free {
            self.hovered = None;
            return;
        }
        let rect = response.rect;
        let seen = self.pickable_bones();
        self.hovered = self.hovered_joint(response, editor, seen);
        if response.clicked()
            && let Some(at) = response.interact_pointer_pos()
        {
            let modifiers = response.ctx.input(|i| i.modifiers);
            let is_rig = self.mode == Mode::Rig;
            if is_rig && modifiers.command && !modifiers.shift {
                return editor.extrude_to(ndc(at, rect), size(rect));
            }
            let joint = editor.pick_for_selection(ndc(at, rect), size(rect), seen);
            let is_selected = |joint| editor.document().session().selected_joints.contains(&joint);
            let op = if modifiers.shift && is_rig && joint.is_some_and(is_selected) {
                SelectOp::Subtract
            } else if modifiers.shift {
                SelectOp::Extend
            } else if modifiers.command {
                SelectOp::Subtract
            } else {
                SelectOp::Replace
            };
            editor.pick_joint(joint, op);
            editor.activate_mesh_at(ndc(at, rect), size(rect));
        }
    }

    /// Starts the transform of a pose command at the pointer.
    pub(super) fn start_pose_command(
        &mut self,
        command: Command,
        ui: &Ui,
        response: &Response,
        editor: &mut Editor,
    ) {
        let kind = match command {
            Command::PoseMove | Command::Extrude => TransformKind::Move,
            Command::PoseRotate | Command::RollBones => TransformKind::Rotate,
            Command::PoseScale => TransformKind::Scale,
            _ => return,
        };
        let rect = response.rect;
        // Only the movement from here counts, even if the pointer is over a button.
        let at = ui.ctx().pointer_latest_pos().unwrap_or(rect.center());
        let (at, size) = (px(at, rect), size(rect));
        let begun = match command {
            Command::Extrude => editor.begin_extrude(at, size),
            Command::RollBones => editor.begin_roll(at, size),
            _ => self.begin_transform(editor, kind, None, (at, size)),
        };
        if begun {
            response.request_focus();
            self.pose.held = false;
        }
    }

    /// Confirms the transform when the mode changes meanwhile.
    pub(super) fn end_pose(&mut self, editor: &mut Editor) {
        self.pose.handle = None;
        self.pose.pin = None;
        if editor.transforming().is_some() {
            editor.confirm_transform();
        }
    }

    /// Finds the handle or the pinned bone at a viewport position.
    fn find_handle(
        &mut self,
        editor: &Editor,
        gizmo: Option<&Gizmo>,
        screen: &Screen,
        at: Option<Vec2>,
    ) {
        let hit = at.and_then(|at| gizmo?.hit(at));
        // A pinned end takes precedence: a ring seen edge-on crosses the centre of the gizmo.
        let session = editor.document().session();
        let is_posing = self.mode != Mode::Rig;
        let heads = session
            .pins
            .difference(&session.hidden_joints)
            .filter(|_| is_posing)
            .filter_map(|&pin| {
                let world = editor.pointed_world().get(pin.get())?;
                let head = screen.project(world.translation.as_vec3())?;
                Some((pin, head.distance(at?)))
            });
        self.pose.pin = heads
            .filter(|(_, distance)| *distance <= PIN_REACH_PX)
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(pin, _)| pin);
        self.pose.handle = hit.filter(|_| self.pose.pin.is_none());
    }

    /// Starts a drag at the handle, pin or bone under the pointer; returns whether there is one.
    fn begin_drag(&mut self, editor: &mut Editor, origin: Vec2, rect: Rect) -> bool {
        let size = size(rect);
        let began = if let Some(pin) = self.pose.pin {
            editor.begin_reach(pin, origin, size)
        } else if let Some(handle) = self.pose.handle {
            self.begin_transform(editor, handle.kind, Some(handle), (origin, size))
        } else if self.mode == Mode::Rig {
            self.begin_bone_drag(editor, origin, rect)
        } else {
            // A bone under the pointer is selected and transformed by the gizmo type.
            let at = ndc(rect.min + egui::vec2(origin.x, origin.y), rect);
            let bone = editor.pick_bone_in_view(at, size, self.pickable_bones());
            bone.is_some_and(|bone| {
                if !editor.joints_to_pose().contains(&bone) {
                    editor.pick_joint(Some(bone), SelectOp::Replace);
                }
                let kind = editor.pose_options().gizmo;
                // Moved alone, the end of a chain would leave it.
                (kind == TransformKind::Move && editor.begin_reach(bone, origin, size))
                    || editor.begin_transform(kind, None, origin, size)
            })
        };
        self.pose.held = began;
        self.hovered = None;
        began
    }

    /// Starts to move the head of the bone under the pointer, near its tail the child that begins there.
    fn begin_bone_drag(&self, editor: &mut Editor, origin: Vec2, rect: Rect) -> bool {
        let at = ndc(rect.min + egui::vec2(origin.x, origin.y), rect);
        let size = size(rect);
        let Some(bone) = editor.pick_bone_in_view(at, size, self.pickable_bones()) else {
            return false;
        };
        let screen = screen(editor, rect);
        let grabbed = end_near(editor, bone, &screen, origin);
        if !editor.joints_to_pose().contains(&grabbed) {
            editor.pick_joint(Some(grabbed), SelectOp::Replace);
        }
        editor.begin_joint_move(None, origin, size)
    }

    /// Applies keys and pointer to the running transform.
    pub(super) fn update_transform(&mut self, ui: &Ui, response: &Response, editor: &mut Editor) {
        // Focus elsewhere would consume the keys.
        if !response.has_focus() {
            response.request_focus();
        }
        self.hovered = None;
        let rect = response.rect;
        let (at, modifiers) = ui.input(|i| (i.pointer.latest_pos(), i.modifiers));
        if let Some(at) = at {
            let precision = PointerPrecision {
                snap: modifiers.command || modifiers.ctrl,
                precise: modifiers.shift,
            };
            editor.update_transform(px(at, rect), precision);
        }
        let ended = take_keys(ui, editor, size(rect), at.map(|at| px(at, rect)));
        let (pressed, released, right) = ui.input(|i| {
            (
                i.pointer.primary_pressed(),
                i.pointer.primary_released() || !i.pointer.primary_down(),
                i.pointer.secondary_pressed(),
            )
        });
        if ended {
            self.pose.spent = self.pose.held;
        } else if right {
            editor.cancel_transform();
            self.pose.spent = true;
            self.block_menu();
        } else if (self.pose.held && released) || (!self.pose.held && pressed) {
            editor.confirm_transform();
            self.pose.spent = !self.pose.held;
        } else {
            return;
        }
        self.pose.held = false;
        self.pose.handle = None;
        self.pose.pin = None;
        ui.ctx().request_repaint();
    }
}

/// Whether no region selection is armed or running.
fn is_plain(editor: &Editor) -> bool {
    let tool = editor.select_tool();
    tool.armed().is_none() && !tool.is_active()
}

/// The status bar hint during a transform; it replaces the hints of the mode.
pub fn pose_hint(editor: &Editor) -> Option<String> {
    let readout = editor.transform_readout()?;
    let is_soft = editor.soft_reach().is_some();
    let wheel = if is_soft {
        "Wheel sizes the soft selection · "
    } else {
        ""
    };
    Some(format!(
        "{readout} · X Y Z constrains to an axis, Shift+ to a plane · type a number · Ctrl snaps · Shift is precise · \
         {wheel}Enter confirms · Esc cancels"
    ))
}

/// The gizmo of the selected bones, in Sculpt mode that of the selected vertices, in Cluster mode that of the selected
/// clusters, in screen space. None in a view of another body, whose bones are elsewhere.
pub(super) fn gizmo(editor: &Editor, mode: Mode, screen: &Screen) -> Option<Gizmo> {
    if editor.shows_other_body(editor.pointed_view()) {
        return None;
    }
    let frame = match mode {
        Mode::Sculpt => editor.vertex_gizmo_frame(),
        Mode::Cluster => editor.cluster_gizmo_frame(),
        Mode::Rig => editor.rig_gizmo_frame(),
        Mode::Select | Mode::Pose | Mode::Paint => editor.gizmo_frame(),
    };
    let (centre, axes) = frame?;
    let kind = match mode {
        Mode::Rig => TransformKind::Move,
        _ => editor.pose_options().gizmo,
    };
    Gizmo::new(kind, centre, axes, screen)
}

/// The joint at the end of the bone of `joint` that is nearer to a viewport position: the child at the tail in its last
/// third unless it is hidden, else the joint itself.
fn end_near(editor: &Editor, joint: JointId, screen: &Screen, at: Vec2) -> JointId {
    let place = |joint: JointId| {
        let world = editor.pointed_world().get(joint.get())?;
        screen.project(world.translation.as_vec3())
    };
    let Some(head) = place(joint) else {
        return joint;
    };
    let is_bone = editor.document().bone_mask();
    let hidden = &editor.document().session().hidden_joints;
    let children = editor.document().skeleton().children(joint).iter();
    let reached = children.copied().filter_map(|child| {
        let along = place(child)? - head;
        let part = (at - head).dot(along) / along.length_squared().max(1.0);
        let beside = (at - head - along * part).length();
        let is_shown = is_bone[child.get()] && !hidden.contains(&child);
        (is_shown && part > 2.0 / 3.0).then_some((child, beside))
    });
    let nearest = reached.min_by(|a, b| a.1.total_cmp(&b.1));
    nearest.map_or(joint, |(child, _)| child)
}

pub(super) fn screen(editor: &Editor, rect: Rect) -> Screen {
    Screen::new(editor.document().session().camera, size(rect))
}

/// A window position in viewport pixels.
pub(super) fn px(at: Pos2, rect: Rect) -> Vec2 {
    Vec2::new(at.x - rect.left(), at.y - rect.top())
}

/// A viewport position in window coordinates.
pub(super) fn pos(px: Vec2, rect: Rect) -> Pos2 {
    rect.min + egui::vec2(px.x, px.y)
}

/// Passes the keys of this frame to the transform and consumes them; returns whether one ended it.
fn take_keys(ui: &Ui, editor: &mut Editor, size: Vec2, at: Option<Vec2>) -> bool {
    let map = keymap::of(ui.ctx());
    for (command, kind) in [
        (Command::PoseMove, TransformKind::Move),
        (Command::PoseRotate, TransformKind::Rotate),
        (Command::PoseScale, TransformKind::Scale),
    ] {
        let chords = map.chords(command);
        let pressed = ui.input_mut(|i| chords.iter().any(|chord| chord.consume(i, false)));
        if pressed {
            editor.begin_transform(kind, None, at.unwrap_or_default(), size);
        }
    }
    let mut keys: Vec<(Key, Modifiers)> = Vec::new();
    ui.input_mut(|input| {
        input.events.retain(|event| match event {
            Event::Key {
                key,
                pressed: true,
                modifiers,
                ..
            } => {
                keys.push((*key, *modifiers));
                false
            }
            Event::Text(_) => false,
            _ => true,
        });
    });
    for (key, modifiers) in keys {
        match key {
            Key::Escape => editor.cancel_transform(),
            Key::Enter => editor.confirm_transform(),
            Key::Backspace => editor.untype_transform(),
            Key::O if editor.is_moving_joints() => {
                editor.set_children_follow(!editor.children_follow());
            }
            Key::O if editor.is_moving_vertices() || editor.is_moving_clusters() => {
                editor.set_soft_selection(!editor.soft_selection());
            }
            Key::X => editor.press_axis(Axis::X, modifiers.shift),
            Key::Y => editor.press_axis(Axis::Y, modifiers.shift),
            Key::Z if modifiers.command => editor.cancel_transform(),
            Key::Z => editor.press_axis(Axis::Z, modifiers.shift),
            other => {
                if let Some(c) = character(other) {
                    editor.type_transform(c);
                }
            }
        }
        if editor.transforming().is_none() {
            return true;
        }
    }
    false
}

/// The character that a key types into a number.
fn character(key: Key) -> Option<char> {
    Some(match key {
        Key::Num0 => '0',
        Key::Num1 => '1',
        Key::Num2 => '2',
        Key::Num3 => '3',
        Key::Num4 => '4',
        Key::Num5 => '5',
        Key::Num6 => '6',
        Key::Num7 => '7',
        Key::Num8 => '8',
        Key::Num9 => '9',
        Key::Minus => '-',
        Key::Period | Key::Comma => '.',
        _ => return None,
    })
}
