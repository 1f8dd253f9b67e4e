//! The viewport: the picture, the mouse, the brush circle.

use super::commands::Mode;
use super::gl::PixelRect;
use super::picture::Picture;
use super::renderer::Renderer;
use super::scene::ViewOptions;
use super::theme;
use crate::editor::Editor;
use crate::skeleton::JointIndex;
use crate::tools::{PointerEvent, PointerKind};
use egui::{
    Color32, CursorIcon, PointerButton, Pos2, Rect, Response, Role, Sense, Stroke, Ui, WidgetInfo,
};
use glam::Vec2;
use std::sync::{Arc, Mutex, PoisonError};

/// Turn for one pixel of an orbit drag, radians.
const ORBIT_PER_PX: f32 = 0.008;
/// Zoom for one pixel of the wheel.
const ZOOM_PER_PX: f32 = 0.0015;

/// What the viewport remembers between frames.
#[derive(Default)]
pub struct Viewport {
    /// What the left button does.
    pub mode: Mode,
    /// How the scene is drawn.
    pub options: ViewOptions,
    hovered: Option<JointIndex>,
    drag: Drag,
    pivot: glam::Vec3,
    /// Where the pointer was last: outside of the window it has no place.
    pointer: Pos2,
    gpu: Arc<Mutex<Gpu>>,
}

/// The renderer, made when the first callback hands over a context.
#[derive(Default)]
struct Gpu {
    renderer: Option<Renderer>,
    failure: Option<String>,
    /// The shaders do not compile here: no use to try again.
    is_hopeless: bool,
}

/// What the pressed button is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Drag {
    #[default]
    None,
    Orbit,
    Pan,
    Stroke,
}

impl Viewport {
    /// Frees GPU memory; call with the context current.
    pub fn free(&self) {
        self.gpu
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .renderer = None;
    }

    /// How many 3D pictures were drawn.
    pub fn n_pictures(&self) -> u64 {
        let gpu = self.gpu.lock().unwrap_or_else(PoisonError::into_inner);
        gpu.renderer.as_ref().map_or(0, Renderer::n_pictures)
    }

    /// The viewport over all of the space left in `ui`.
    pub fn show_ui(&mut self, ui: &mut Ui, editor: &mut Editor) {
        let (rect, response) = ui.allocate_exact_size(ui.available_size(), Sense::click_and_drag());
        response.widget_info(|| WidgetInfo::labeled(Role::Canvas, true, "Viewport"));
        if rect.width() < 1.0 || rect.height() < 1.0 {
            return;
        }
        if response.clicked() || response.drag_started() {
            response.request_focus();
        }
        self.navigate(ui, &response, editor);
        match self.mode {
            Mode::Select => {
                self.end_stroke(&response, editor);
                self.select(&response, editor);
            }
            Mode::Paint => self.paint(ui, &response, editor),
        }
        self.draw(ui, rect, editor);
        if self.mode == Mode::Paint {
            self.brush_circle(ui, &response, editor);
        }
        if let Some(joint) = self.hovered.filter(|_| self.mode == Mode::Select) {
            let label = editor.document().skeleton().label(joint);
            response.on_hover_text_at_pointer(label);
        }
    }

    /// Middle orbits, Shift+middle pans, the wheel zooms to the pointer; Alt+left and Ctrl+Alt+left stand in.
    fn navigate(&mut self, ui: &Ui, response: &Response, editor: &mut Editor) {
        let rect = response.rect;
        let modifiers = ui.input(|i| i.modifiers);
        let pressed = |button| response.drag_started_by(button);
        let asked =
            pressed(PointerButton::Middle) || (modifiers.alt && pressed(PointerButton::Primary));
        if asked && self.drag == Drag::None {
            self.drag = if modifiers.shift {
                Drag::Pan
            } else {
                Drag::Orbit
            };
            self.pivot = ui
                .input(|i| i.pointer.press_origin())
                .and_then(|at| editor.surface_at(ndc(at, rect), size(rect)))
                .unwrap_or(editor.document().session().camera.target);
        }
        let delta = response.drag_delta();
        match self.drag {
            Drag::Orbit if delta != egui::Vec2::ZERO => {
                let pivot = self.pivot;
                editor
                    .camera_mut()
                    .orbit(pivot, -delta.x * ORBIT_PER_PX, delta.y * ORBIT_PER_PX);
            }
            Drag::Pan if delta != egui::Vec2::ZERO => {
                let camera = editor.camera_mut();
                let scale = camera.metres_per_pixel(self.pivot, rect.height());
                camera.pan(delta.x * scale, -delta.y * scale);
            }
            _ => {}
        }
        if self.drag != Drag::Stroke && !response.dragged() {
            self.drag = Drag::None;
        }
        if let Some(at) = response.hover_pos() {
            let (scroll, pinch) = ui.input(|i| (i.smooth_scroll_delta().y, i.zoom_delta()));
            let factor = (-scroll * ZOOM_PER_PX).exp() / if modifiers.ctrl { 1.0 } else { pinch };
            if (factor - 1.0).abs() > 1e-6 {
                let toward = editor
                    .surface_at(ndc(at, rect), size(rect))
                    .unwrap_or(editor.document().session().camera.target);
                editor.camera_mut().zoom(factor, toward);
            }
        }
    }

    /// Keeps what was painted when the mode changes with the button down.
    fn end_stroke(&mut self, response: &Response, editor: &mut Editor) {
        if self.drag == Drag::Stroke {
            self.drag = Drag::None;
            editor.pointer(&PointerEvent {
                kind: PointerKind::Release,
                ndc: ndc(self.pointer, response.rect),
                size_px: size(response.rect),
                invert: false,
            });
        }
    }

    fn select(&mut self, response: &Response, editor: &mut Editor) {
        let rect = response.rect;
        let bone_at = |editor: &Editor, at: Pos2| editor.pick_bone(ndc(at, rect), size(rect));
        self.hovered = response
            .hover_pos()
            .filter(|_| self.drag == Drag::None && self.options.show_bones)
            .and_then(|at| bone_at(editor, at));
        if response.clicked()
            && let Some(at) = response.interact_pointer_pos()
        {
            let bone = bone_at(editor, at).filter(|_| self.options.show_bones);
            // Only the empty background means "nothing": beside a bone one easily hits the skin.
            if bone.is_some() || editor.surface_at(ndc(at, rect), size(rect)).is_none() {
                editor.select_joint(bone);
            }
        }
    }

    fn paint(&mut self, ui: &Ui, response: &Response, editor: &mut Editor) {
        let rect = response.rect;
        self.hovered = None;
        let (modifiers, down, at) = ui.input(|i| {
            (
                i.modifiers,
                i.pointer.primary_down(),
                i.pointer.latest_pos().unwrap_or(self.pointer),
            )
        });
        self.pointer = at;
        let event = |kind| PointerEvent {
            kind,
            ndc: ndc(at, rect),
            size_px: size(rect),
            invert: modifiers.ctrl,
        };
        // A quick click comes and goes within one frame; it is a dab all the same.
        let here = response.is_pointer_button_down_on() || response.clicked();
        let began = here && self.drag == Drag::None && !modifiers.alt;
        if began && ui.input(|i| i.pointer.primary_pressed()) {
            if self.options.show_bones
                && editor.document().session().active_joint.is_none()
                && let Some(bone) = editor.pick_bone(ndc(at, rect), size(rect))
            {
                editor.select_joint(Some(bone));
                return;
            }
            editor.pointer(&event(PointerKind::Press));
            if down {
                self.drag = Drag::Stroke;
            } else {
                editor.pointer(&event(PointerKind::Release));
            }
        } else if self.drag == Drag::Stroke {
            if ui.input(|i| i.key_pressed(egui::Key::Escape)) {
                editor.cancel_tool();
                self.drag = Drag::None;
            } else if down {
                editor.pointer(&event(PointerKind::Drag));
                // A long way is painted over several frames.
                ui.ctx().request_repaint();
            } else {
                editor.pointer(&event(PointerKind::Release));
                self.drag = Drag::None;
            }
        }
    }

    fn draw(&self, ui: &Ui, rect: Rect, editor: &Editor) {
        let moving = self.drag != Drag::None || editor.is_playing();
        let options = ViewOptions {
            samples: if moving { 0 } else { self.options.samples },
            pixels_per_point: ui.pixels_per_point(),
            ..self.options
        };
        let picture = Picture::new(editor, options, self.hovered);
        let gpu = self.gpu.clone();
        let callback = egui_glow::CallbackFn::new(move |info, painter| {
            let mut gpu = gpu.lock().unwrap_or_else(PoisonError::into_inner);
            gpu.paint(&picture, &info, painter);
        });
        ui.painter().add(egui::PaintCallback {
            rect,
            callback: Arc::new(callback),
        });
        let failure = self
            .gpu
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .failure
            .clone();
        if let Some(failure) = failure {
            ui.painter().text(
                rect.center(),
                egui::Align2::CENTER_CENTER,
                failure,
                egui::TextStyle::Body.resolve(ui.style()),
                theme::ERROR,
            );
        }
    }

    fn brush_circle(&self, ui: &Ui, response: &Response, editor: &Editor) {
        let at = if self.drag == Drag::Stroke {
            ui.input(|i| i.pointer.latest_pos())
        } else {
            response.hover_pos()
        };
        let Some(at) = at.filter(|_| matches!(self.drag, Drag::None | Drag::Stroke)) else {
            return;
        };
        ui.ctx().set_cursor_icon(CursorIcon::Crosshair);
        let brush = &editor.document().session().brush;
        let painter = ui.painter().with_clip_rect(response.rect);
        let invert = ui.input(|i| i.modifiers.ctrl);
        // A dark ring under a light one is seen on any surface; the middle says whether weight is added or taken.
        painter.circle_stroke(
            at,
            brush.radius_px,
            Stroke::new(3.0, Color32::from_black_alpha(110)),
        );
        painter.circle_stroke(at, brush.radius_px, Stroke::new(1.5, theme::ACCENT));
        painter.circle_stroke(
            at,
            brush.radius_px * brush.strength,
            Stroke::new(1.0, Color32::from_white_alpha(90)),
        );
        painter.text(
            at,
            egui::Align2::CENTER_CENTER,
            if invert { "-" } else { "+" },
            egui::TextStyle::Body.resolve(ui.style()),
            Color32::WHITE,
        );
    }
}

impl Gpu {
    fn paint(
        &mut self,
        picture: &Picture,
        info: &egui::PaintCallbackInfo,
        painter: &egui_glow::Painter,
    ) {
        if self.renderer.is_none() && !self.is_hopeless {
            match Renderer::new(painter.gl().clone()) {
                Ok(renderer) => self.renderer = Some(renderer),
                Err(error) => {
                    self.is_hopeless = true;
                    self.failure = Some(format!("The 3D view cannot be drawn: {error}"));
                }
            }
        }
        let Some(renderer) = &mut self.renderer else {
            return;
        };
        let (viewport, clip) = (info.viewport_in_pixels(), info.clip_rect_in_pixels());
        let rect = |v: egui::epaint::ViewportInPixels| PixelRect {
            x: v.left_px,
            y: v.from_bottom_px,
            width: v.width_px,
            height: v.height_px,
        };
        let painted = renderer.paint(
            &picture.scene(),
            rect(viewport),
            rect(clip),
            picture.stamp(),
        );
        self.failure = painted
            .err()
            .map(|error| format!("The 3D view cannot be drawn: {error}"));
    }
}

fn ndc(at: Pos2, rect: Rect) -> Vec2 {
    let x = (at.x - rect.left()) / rect.width() * 2.0 - 1.0;
    let y = 1.0 - (at.y - rect.top()) / rect.height() * 2.0;
    Vec2::new(x, y)
}

fn size(rect: Rect) -> Vec2 {
    Vec2::new(rect.width(), rect.height())
}
