//! The viewport: its panes, and the mouse in each mode, one file per mode.
//!
//! Data flow: `panes` divides the viewport and requests the views -> the mouse acts in the pane under it -> each pane
//! is drawn into a slot of the renderer, with its overlays.

mod axes;
mod clusters;
mod constraint_lines;
mod control_points;
mod drawing;
mod gpu;
mod heat_legend;
mod influence_bar;
mod menu;
mod motion_ghost;
mod muscle_handles;
mod navigate;
mod overlays;
mod paint;
mod pane_head;
mod panes;
mod pose;
mod pose_overlay;
mod select;
mod surface_data;
mod tapes;
mod vertices;
mod weight_legend;
mod wipe;

use super::commands::Command;
use super::mode::Mode;
use super::picture::{Bones, Picture};
use super::renderer::Renderer;
use super::scene::ViewOptions;
use super::scenery::Theme;
use super::theme::{self, ThemeChoice};
use crate::document::session::SelectKind;
use crate::document::{Image, PaneLayout};
use crate::editor::Editor;
use crate::evaluate::ViewId;
use crate::skeleton::JointId;
pub use drawing::draw_hint;
use egui::{Pos2, Rangef, Rect, Response, Sense, Ui};
use glam::Vec2;
use gpu::Gpu;
use motion_ghost::motion_ghost_ui;
use navigate::Ease;
use overlays::OcclusionCache;
use paint::BrushAdjustment;
use panes::{Pane, Panes, Shared};
pub use pose::pose_hint;
pub use select::select_hint;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The viewport and its state between frames.
#[derive(Default)]
pub struct Viewport {
    /// The mode.
    pub mode: Mode,
    /// The display options.
    pub options: ViewOptions,
    /// Commands that depend on the pointer position; run when the viewport is drawn next.
    pub pointer_commands: Vec<Command>,
    /// Commands chosen in the viewport's own menus, to be run by the app.
    pub chosen: Vec<Command>,
    menu_blocked: bool,
    /// The bone under the pointer when the menu of Paint mode opened.
    menu_bone: Option<JointId>,
    hovered: Option<JointId>,
    /// The value under the brush: a weight or the value of a map.
    value: Option<f32>,
    drag: Drag,
    stroke: paint::StrokeState,
    adjust: Option<BrushAdjustment>,
    pose: pose::PoseDrag,
    /// The last orbit pivot.
    pivot: Option<glam::Vec3>,
    ease: Option<Ease>,
    /// The model whose picture is orthographic because it is seen along an axis, not by choice.
    auto_orthographic: Option<u64>,
    sight: OcclusionCache,
    net: clusters::Net,
    muscle_drag: Option<muscle_handles::MuscleDrag>,
    tape_drag: Option<tapes::TapeDrag>,
    /// The pane whose worst vertex is to be framed.
    frame_of: Option<ViewId>,
    panes: Panes,
    /// The last pointer position; outside the window there is none.
    pointer: Pos2,
    gpu: Arc<Mutex<Gpu>>,
}

/// The action of the pressed button.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Drag {
    #[default]
    None,
    Orbit,
    Pan,
    Zoom,
    Stroke,
    Select,
}

impl Viewport {
    /// The value under the brush in Paint mode: the weight of the active bone, or the value of the map.
    pub fn value_under_pointer(&self) -> Option<f32> {
        self.value.filter(|_| self.mode == Mode::Paint)
    }

    /// Frees GPU memory. Call it with the context current.
    pub fn free(&self) {
        self.lock_gpu().renderer = None;
    }

    fn lock_gpu(&self) -> MutexGuard<'_, Gpu> {
        self.gpu.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of 3D pictures drawn.
    pub fn n_pictures(&self) -> u64 {
        let gpu = self.lock_gpu();
        gpu.renderer.as_ref().map_or(0, Renderer::n_pictures)
    }

    /// The largest number of objects that the picture of a pane shows as bounding boxes because of the drawing budget.
    pub fn n_boxed(&self) -> usize {
        self.lock_gpu().n_boxed()
    }

    /// Requests a thumbnail of the current picture for `file`; it arrives in one of the next frames.
    pub fn ask_for_thumbnail(&self, file: PathBuf) {
        let mut gpu = self.lock_gpu();
        gpu.wanted.retain(|wanted| *wanted != file);
        gpu.wanted.push(file);
    }

    /// The finished thumbnails.
    pub fn take_thumbnails(&self) -> Vec<(PathBuf, Image)> {
        let mut gpu = self.lock_gpu();
        std::mem::take(&mut gpu.taken)
    }

    /// The current picture. Call it with the context current.
    pub fn read_picture(&self) -> Option<Image> {
        let gpu = self.lock_gpu();
        gpu.renderer.as_ref()?.read_rgba(gpu.own_slot)
    }

    /// Whether the picture changes every frame; it is then drawn without antialiasing.
    fn is_moving(&self, editor: &Editor) -> bool {
        !matches!(self.drag, Drag::None | Drag::Select)
            || self.ease.is_some()
            || editor.is_playing()
            || editor.is_posing()
    }

    /// Draws the viewport over all remaining space of `ui`.
    pub fn show_ui(&mut self, ui: &mut Ui, editor: &mut Editor) {
        let (rect, _) = ui.allocate_exact_size(ui.available_size(), Sense::hover());
        if rect.width() < 1.0 || rect.height() < 1.0 {
            return;
        }
        self.options.theme = match theme::choice(ui.ctx()) {
            ThemeChoice::Dark => Theme::Dark,
            ThemeChoice::Light => Theme::Light,
            ThemeChoice::HighContrast => Theme::HighContrast,
        };
        self.ask_for_heat_map(editor);
        editor.show_weights(self.options.weight_view);
        let layout = self.layout(editor);
        let panes = self.lay_out(ui, rect, editor);
        self.free_gone_views(editor);
        let responses: Vec<Response> = panes
            .iter()
            .map(|pane| {
                let id = ui.scope_id().with(("picture", pane.index));
                let response = ui.interact(pane.clip, id, Sense::click_and_drag());
                Self::name_picture(&response, pane, layout);
                if response.clicked() || response.drag_started() {
                    response.request_focus();
                }
                // The whole picture, of which a wipe shows a part.
                Response {
                    rect: pane.picture,
                    ..response
                }
            })
            .collect();
        if let Some(pane) = responses.iter().position(Response::gained_focus)
            && panes.len() > 1
        {
            // Tab focused this pane. The pointer activates another one when it moves.
            self.focus_pane(pane);
        }
        let active = self.active_in(panes.len());
        let response = Self::acting(layout, &responses, active);
        editor.point_in(panes[active].view);
        self.act(ui, &response, editor);
        for (pane, response) in panes.iter().zip(&responses) {
            editor.point_in(panes[pane.index].view);
            self.menu_ui(response, editor);
        }
        editor.point_in(panes[active].view);
        self.draw(ui, &panes, editor);
        let shared = Shared::of(layout);
        for pane in &panes {
            if layout == PaneLayout::Wipe && pane.index > 0 {
                continue;
            }
            self.overlays_ui(ui, pane, &shared, editor);
            if pane.index == shared.axes {
                self.axes_ui(ui, pane.picture, editor);
            }
        }
        for pane in &panes {
            self.heat_figures_ui(ui, pane, layout, editor);
        }
        for pane in &panes {
            self.muscle_ui(ui, pane, editor);
            self.tapes_ui(ui, pane, editor);
        }
        motion_ghost_ui(ui, response.rect, editor);
        self.frame_worst_of_pane(editor);
        self.heat_probe_ui(ui, &response, editor);
        let is_brush = self.mode.has_brush() && !self.transforms_vertices(editor);
        if is_brush && !self.is_selecting(editor) {
            self.brush_circle(ui, &response, editor);
            if self.mode == Mode::Paint {
                self.influence_bar_ui(ui, &response, editor);
            }
        } else {
            Self::select_overlay(ui, &response, editor);
        }
        if matches!(self.mode, Mode::Pose | Mode::Rig)
            || (self.transforms_vertices(editor) && !self.is_selecting(editor))
        {
            self.pose_overlay_ui(ui, &response, editor);
            self.drawing_overlay(ui, &response, editor);
        }
        if layout != PaneLayout::Wipe {
            self.echo_pointer(ui, &panes, editor);
        }
        let rooms: Vec<Rangef> = panes
            .iter()
            .map(|pane| self.head_ui(ui, pane, layout, editor))
            .collect();
        if let (PaneLayout::Wipe, [left, right]) = (layout, &rooms[..]) {
            // One badge for both sides.
            let room = Rangef::new(left.min, right.max);
            self.before_badge_ui(ui, &panes[0], room, editor);
        } else {
            for (pane, room) in panes.iter().zip(rooms) {
                self.before_badge_ui(ui, pane, room, editor);
            }
        }
        for pane in &panes {
            Self::centres_badge_ui(ui, pane, editor);
        }
        self.sum_badge_ui(ui, &panes[0], editor);
        if layout == PaneLayout::Wipe {
            self.wipe_ui(ui, &panes, editor);
        }
        if let Some(joint) = self.hovered.filter(|_| !self.mode.has_brush()) {
            let label = editor.document().skeleton().label(joint);
            response.on_hover_text_at_pointer(label);
        }
    }

    /// The response for the mouse: that of the active pane. A drag across the wipe line stays with the side where it
    /// began.
    fn acting(layout: PaneLayout, responses: &[Response], active: usize) -> Response {
        let dragged = responses
            .iter()
            .find(|r| layout == PaneLayout::Wipe && r.is_pointer_button_down_on());
        dragged.unwrap_or(&responses[active]).clone()
    }

    /// Handles the mouse in the active pane.
    fn act(&mut self, ui: &Ui, response: &Response, editor: &mut Editor) {
        Self::size_select_circle(ui, response, editor);
        Self::size_soft_selection(ui, editor);
        self.navigate(ui, response, editor);
        editor.show_rest(self.mode == Mode::Rig);
        if self.mode != Mode::Rig {
            editor.end_drawing();
        }
        editor.select_for_moving(self.mode == Mode::Cluster && self.is_vertex_tool(editor));
        for command in std::mem::take(&mut self.pointer_commands) {
            self.run_at_pointer(command, ui, response, editor);
        }
        match self.mode {
            Mode::Select => {
                self.end_stroke(response, editor);
                self.select(ui, response, editor);
            }
            Mode::Pose | Mode::Rig if self.is_selecting(editor) => {
                self.select(ui, response, editor);
            }
            Mode::Pose | Mode::Rig => {
                self.end_stroke(response, editor);
                self.pose(ui, response, editor);
            }
            // A box, circle or lasso selects the mask; the brush waits.
            Mode::Paint | Mode::Cluster | Mode::Sculpt if self.is_selecting(editor) => {
                self.end_stroke(response, editor);
                self.select(ui, response, editor);
            }
            Mode::Sculpt | Mode::Cluster if self.transforms_vertices(editor) => {
                self.end_stroke(response, editor);
                self.vertices(ui, response, editor);
            }
            Mode::Cluster => {
                if editor.select_kind() != SelectKind::Points {
                    // Another model was opened.
                    editor.set_select_kind(SelectKind::Points);
                }
                self.paint(ui, response, editor);
            }
            Mode::Paint | Mode::Sculpt => self.paint(ui, response, editor),
        }
        let transforms = match self.mode {
            Mode::Pose | Mode::Rig => true,
            Mode::Sculpt | Mode::Cluster => self.transforms_vertices(editor),
            Mode::Select | Mode::Paint => false,
        };
        if !transforms {
            self.end_pose(editor);
        }
        if !self.mode.has_brush()
            && let Some(adjust) = self.adjust.take()
        {
            adjust.revert(editor.brush_mut());
        }
    }

    /// Runs a command that depends on the pointer position.
    fn run_at_pointer(
        &mut self,
        command: Command,
        ui: &Ui,
        response: &Response,
        editor: &mut Editor,
    ) {
        let at = ui
            .ctx()
            .pointer_latest_pos()
            .filter(|&at| response.rect.contains(at));
        match command {
            Command::BrushRadius | Command::BrushStrength | Command::BrushWeight => {
                self.begin_adjust(command, at.unwrap_or(response.rect.center()), editor);
            }
            Command::SampleWeight => {
                if let Some(at) = at {
                    editor.sample_value(ndc(at, response.rect), size(response.rect));
                }
            }
            Command::PickBone => {
                if let Some(at) = at {
                    editor.pick_bone_in_skin(ndc(at, response.rect), size(response.rect));
                }
            }
            _ => self.start_pose_command(command, ui, response, editor),
        }
    }

    /// Draws the panes, each in its own slot.
    fn draw(&self, ui: &Ui, panes: &[Pane], editor: &Editor) {
        let moving = self.is_moving(editor);
        let options = ViewOptions {
            samples: if moving { 0 } else { self.options.samples },
            pixels_per_point: ui.pixels_per_point(),
            free_points: self.mode == Mode::Cluster,
            edits_points: matches!(self.mode, Mode::Select | Mode::Cluster)
                || self.transforms_vertices(editor),
            ..self.options
        };
        let bones_of = |view| Bones::new(editor, view, &options, self.hovered);
        let shared = bones_of(ViewId::OWN);
        let own = panes.iter().position(|pane| pane.view == ViewId::OWN);
        let failure = {
            let mut gpu = self.lock_gpu();
            gpu.n_slots = panes.len();
            gpu.own_slot = own.unwrap_or(0);
            gpu.failure.clone()
        };
        for pane in panes.iter().filter(|pane| pane.clip.is_positive()) {
            let other = editor.shows_other_body(pane.view);
            let bones = other.then(|| bones_of(pane.view));
            let bones = bones.as_ref().unwrap_or(&shared);
            let picture = Picture::new(editor, pane.view, options, bones);
            let (gpu, slot) = (self.gpu.clone(), pane.index);
            let context = ui.ctx().clone();
            let callback = egui_glow::CallbackFn::new(move |info, painter| {
                let mut gpu = gpu.lock().unwrap_or_else(PoisonError::into_inner);
                let before = gpu.n_boxed();
                gpu.paint(slot, &picture, &info, painter);
                if gpu.n_boxed() != before {
                    // The status bar shows the number.
                    context.request_repaint();
                }
            });
            let painter = ui.painter().with_clip_rect(pane.clip);
            painter.add(egui::PaintCallback {
                rect: pane.picture,
                callback: Arc::new(callback),
            });
        }
        if let Some(failure) = failure {
            ui.painter().text(
                panes[0].picture.center(),
                egui::Align2::CENTER_CENTER,
                failure,
                egui::TextStyle::Body.resolve(ui.style()),
                theme::palette(ui).error,
            );
        }
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
