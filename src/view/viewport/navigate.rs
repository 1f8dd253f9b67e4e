//! Camera navigation by mouse and trackpad in both presets, and eased view changes.

use super::{Drag, Viewport, ndc, size};
use crate::editor::Editor;
use crate::math::Camera;
use crate::math::camera::View;
use crate::view::commands::Command;
use crate::view::keymap::{self, Preset};
use egui::{Event, Modifiers, MouseWheelSource, MouseWheelUnit, PointerButton, Response, Ui};
use glam::Vec3;

/// Orbit per pixel of a drag, radians.
const ORBIT_PER_PX: f32 = 0.008;
/// Orbit per pixel of a two-finger scroll, radians.
const ORBIT_PER_SCROLL: f32 = 0.006;
/// Zoom per pixel of the wheel.
const ZOOM_PER_PX: f32 = 0.0015;
/// Zoom per pixel of a dolly drag.
const DOLLY_PER_PX: f32 = 0.006;
/// Duration of an eased view change.
const EASE_SECS: f64 = 0.12;
/// Step of the orbit commands, degrees.
const ORBIT_STEP: f32 = 15.0;

/// An eased view change.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ease {
    from: Camera,
    to: Camera,
    /// Its start in egui's time; `None`: it starts in the next frame.
    start: Option<f64>,
    /// The model it belongs to.
    model: u64,
}

/// The trackpad input of a frame, points.
#[derive(Default)]
struct TrackpadInput {
    delta: egui::Vec2,
    modifiers: Modifiers,
}

impl Viewport {
    /// Whether an eased view change is running.
    pub fn is_easing(&self) -> bool {
        self.ease.is_some()
    }

    /// Runs a camera command: viewpoints, orbit steps, framing, projection. Returns `false` for other commands.
    pub fn run_camera(&mut self, command: Command, editor: &mut Editor) -> bool {
        let step = ORBIT_STEP.to_radians();
        let goal = self.goal(editor);
        let along = |view: View| Camera {
            orthographic: true,
            ..goal.turned_to(view)
        };
        let to = match command {
            Command::FrameAll => self.framed(editor, Editor::frame_all),
            Command::FrameSelected => self.framed(editor, Editor::frame_selected),
            Command::FrameWorst => self.framed(editor, |editor| {
                editor.frame_worst();
            }),
            Command::ViewFront => along(View::Front),
            Command::ViewBack => along(View::Back),
            Command::ViewRight => along(View::Right),
            Command::ViewLeft => along(View::Left),
            Command::ViewTop => along(View::Top),
            Command::ViewBottom => along(View::Bottom),
            Command::ViewOpposite => goal.turned_round(),
            Command::OrbitLeft => goal.turned_by(-step, 0.0),
            Command::OrbitRight => goal.turned_by(step, 0.0),
            Command::OrbitUp => goal.turned_by(0.0, step),
            Command::OrbitDown => goal.turned_by(0.0, -step),
            Command::ToggleOrthographic => Camera {
                orthographic: !goal.orthographic,
                ..goal
            },
            _ => return false,
        };
        let orbits = matches!(
            command,
            Command::OrbitLeft | Command::OrbitRight | Command::OrbitUp | Command::OrbitDown
        );
        let to = Camera {
            orthographic: to.orthographic && !(orbits && self.take_auto_orthographic(editor)),
            ..to
        };
        match command {
            // The artist's own choice stays.
            Command::ToggleOrthographic => self.auto_orthographic = None,
            _ if !goal.orthographic && to.orthographic => {
                self.auto_orthographic = Some(editor.model_serial());
            }
            _ => {}
        }
        self.ease_to(to, editor);
        true
    }

    /// Whether a view along an axis made the picture orthographic; an orbit then makes it a perspective again.
    fn take_auto_orthographic(&mut self, editor: &Editor) -> bool {
        self.auto_orthographic.take() == Some(editor.model_serial())
    }

    /// Makes a picture that is orthographic because of its direction a perspective again.
    pub(super) fn leave_axis(&mut self, editor: &mut Editor) {
        if self.take_auto_orthographic(editor) {
            editor.camera_mut().orthographic = false;
        }
    }

    /// Eases the camera to `to`, or sets it at once if motion is reduced.
    pub(super) fn ease_to(&mut self, to: Camera, editor: &mut Editor) {
        let from = editor.document().session().camera;
        if !self.options.ease_camera {
            self.ease = None;
            *editor.camera_mut() = to;
        } else if from != to {
            self.ease = Some(Ease {
                from,
                to,
                start: None,
                model: editor.model_serial(),
            });
        }
    }

    /// The target of the running view change, or the current camera.
    fn goal(&self, editor: &Editor) -> Camera {
        self.ease
            .filter(|ease| ease.model == editor.model_serial())
            .map_or(editor.document().session().camera, |ease| ease.to)
    }

    /// The camera after `frame`, with the direction of the running view change.
    fn framed(&self, editor: &mut Editor, frame: fn(&mut Editor)) -> Camera {
        let now = editor.document().session().camera;
        *editor.camera_mut() = self.goal(editor);
        frame(editor);
        std::mem::replace(editor.camera_mut(), now)
    }

    /// Advances the eased view change.
    fn advance_ease(&mut self, ui: &Ui, editor: &mut Editor) {
        let Some(ease) = &mut self.ease else { return };
        if ease.model != editor.model_serial() {
            self.ease = None;
            return;
        }
        let now = ui.input(|i| i.time);
        let start = *ease.start.get_or_insert(now);
        let share = ((now - start) / EASE_SECS).clamp(0.0, 1.0) as f32;
        // Ease in and out.
        let eased = share * share * (3.0 - 2.0 * share);
        let camera = ease.from.toward(&ease.to, eased);
        *editor.camera_mut() = camera;
        if share >= 1.0 {
            self.ease = None;
        }
        // After the last step, draw one more picture at rest, with antialiasing.
        ui.ctx().request_repaint();
    }

    /// Navigates. Blender: middle orbits, Shift+middle pans, Ctrl+middle zooms. Maya: Alt with left, middle, right. In
    /// both, Alt+left orbits, Ctrl+Alt replaces Alt, the wheel zooms to the pointer, and two trackpad_input on a trackpad
    /// orbit, pan with Shift, and zoom with Ctrl or a pinch.
    pub(super) fn navigate(&mut self, ui: &Ui, response: &Response, editor: &mut Editor) {
        self.advance_ease(ui, editor);
        self.navigate_by_drag(ui, response, editor);
        if let Some(at) = response.hover_pos() {
            self.navigate_by_wheel(ui, response, at, editor);
        }
    }

    fn navigate_by_drag(&mut self, ui: &Ui, response: &Response, editor: &mut Editor) {
        let rect = response.rect;
        if self.drag == Drag::None
            && let Some(drag) = asked_drag(ui, response)
        {
            self.drag = drag;
            self.ease = None;
            let at = ui.input(|i| i.pointer.press_origin());
            self.pivot = Some(self.pivot_at(at, response, editor));
        }
        let delta = response.drag_delta();
        let pivot = self
            .pivot
            .unwrap_or(editor.document().session().camera.target);
        if delta != egui::Vec2::ZERO {
            if self.drag == Drag::Orbit {
                self.leave_axis(editor);
            }
            let camera = editor.document().session().camera;
            match self.drag {
                Drag::Orbit => editor.camera_mut().orbit(
                    pivot,
                    -delta.x * ORBIT_PER_PX,
                    delta.y * ORBIT_PER_PX,
                ),
                Drag::Pan => {
                    let scale = camera.metres_per_pixel(pivot, rect.height());
                    editor.camera_mut().pan(delta.x * scale, -delta.y * scale);
                }
                Drag::Zoom => {
                    let factor = ((delta.y - delta.x) * DOLLY_PER_PX).exp();
                    editor.camera_mut().zoom(factor, pivot);
                }
                _ => {}
            }
        }
        let is_camera = matches!(self.drag, Drag::Orbit | Drag::Pan | Drag::Zoom);
        if is_camera && !response.dragged() {
            self.drag = Drag::None;
            // The picture at rest is antialiased again.
            ui.ctx().request_repaint();
        }
    }

    fn navigate_by_wheel(
        &mut self,
        ui: &Ui,
        response: &Response,
        at: egui::Pos2,
        editor: &mut Editor,
    ) {
        let trackpad_input = trackpad_input(ui);
        let (scroll, pinch, modifiers) = ui.input(|i| {
            let scroll = i.smooth_scroll_delta();
            // Shift makes the wheel horizontal; it still zooms.
            (scroll.y + scroll.x, i.zoom_delta(), i.modifiers)
        });
        let height = response.rect.height();
        match trackpad_input {
            Some(TrackpadInput { delta, modifiers }) if modifiers.shift => {
                self.ease = None;
                let pivot = self.pivot_at(Some(at), response, editor);
                let camera = editor.camera_mut();
                let scale = camera.metres_per_pixel(pivot, height);
                camera.pan(delta.x * scale, -delta.y * scale);
            }
            Some(TrackpadInput { delta, modifiers }) if !modifiers.ctrl && !modifiers.command => {
                self.ease = None;
                let pivot = self.pivot_at(Some(at), response, editor);
                self.pivot = Some(pivot);
                self.leave_axis(editor);
                editor.camera_mut().orbit(
                    pivot,
                    -delta.x * ORBIT_PER_SCROLL,
                    delta.y * ORBIT_PER_SCROLL,
                );
            }
            _ => {
                let by_fingers = ui.input(|i| is_trackpad(i.scroll_source()));
                let wheel = if by_fingers { 0.0 } else { scroll };
                // Ctrl+wheel is egui's interface zoom; ignore it there.
                let pinch = if modifiers.ctrl && !by_fingers {
                    1.0
                } else {
                    pinch
                };
                let factor = (-wheel * ZOOM_PER_PX).exp() / pinch;
                if (factor - 1.0).abs() > 1e-6 {
                    self.ease = None;
                    let toward = self.pivot_at(Some(at), response, editor);
                    editor.camera_mut().zoom(factor, toward);
                }
            }
        }
    }

    /// The orbit pivot: the surface under the pointer, else the selection, else the last pivot if it is visible, else
    /// the centre of the view.
    fn pivot_at(&self, at: Option<egui::Pos2>, response: &Response, editor: &mut Editor) -> Vec3 {
        let rect = response.rect;
        if let Some(hit) = at.and_then(|at| editor.surface_at(ndc(at, rect), size(rect))) {
            return hit;
        }
        let session = editor.document().session();
        let camera = session.camera;
        let selected: Vec<Vec3> = session
            .selected_joints
            .iter()
            .filter_map(|joint| editor.pointed_world().get(joint.get()))
            .map(|world| world.translation.as_vec3())
            .filter(|p| p.is_finite())
            .collect();
        let middle = selected.iter().sum::<Vec3>() / selected.len().max(1) as f32;
        let selected = (!selected.is_empty()).then_some(middle);
        let in_view = |p: &Vec3| {
            let clip = camera.clip_from_world(rect.aspect_ratio()) * p.extend(1.0);
            clip.w > 0.0 && clip.x.abs() <= clip.w && clip.y.abs() <= clip.w
        };
        selected
            .filter(in_view)
            .or(self.pivot.filter(in_view))
            .unwrap_or(camera.target)
    }
}

/// The camera action of a drag that starts now.
fn asked_drag(ui: &Ui, response: &Response) -> Option<Drag> {
    let modifiers = ui.input(|i| i.modifiers);
    let pressed = |button| response.drag_started_by(button);
    let maya = keymap::of(ui.ctx()).preset == Preset::Maya;
    if modifiers.alt && pressed(PointerButton::Primary) {
        return Some(if modifiers.shift {
            Drag::Pan
        } else {
            Drag::Orbit
        });
    }
    if pressed(PointerButton::Middle) {
        return Some(match (maya && modifiers.alt, modifiers) {
            (true, _) => Drag::Pan,
            (false, m) if m.shift => Drag::Pan,
            (false, m) if m.ctrl && !m.alt => Drag::Zoom,
            _ => Drag::Orbit,
        });
    }
    (maya && modifiers.alt && pressed(PointerButton::Secondary)).then_some(Drag::Zoom)
}

/// The trackpad input since the last frame; `None` without any.
fn trackpad_input(ui: &Ui) -> Option<TrackpadInput> {
    ui.input(|i| {
        let mut sum: Option<TrackpadInput> = None;
        for event in &i.events {
            if let Event::MouseWheel {
                unit: MouseWheelUnit::Point,
                delta,
                source,
                modifiers,
                ..
            } = event
                && is_trackpad(Some(*source))
            {
                let sum = sum.get_or_insert_default();
                sum.delta += *delta;
                sum.modifiers = *modifiers;
            }
        }
        sum.filter(|sum| sum.delta != egui::Vec2::ZERO)
    })
}

fn is_trackpad(source: Option<MouseWheelSource>) -> bool {
    matches!(
        source,
        Some(MouseWheelSource::Trackpad | MouseWheelSource::Momentum)
    )
}
