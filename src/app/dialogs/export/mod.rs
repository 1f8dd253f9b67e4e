//! The Export page: options, results, and the comparison of the file with the model before saving.
//!
//! It stands beside the viewport instead of over it, so that the computed file can be inspected and the timeline
//! plays.

mod options;
mod preflight;
mod report;
mod static_mesh;

use super::path_field::{PathField, PathUse};
use super::take_enter;
use crate::document::PaneLayout;
use crate::editor::Editor;
use crate::editor::exporting::{Correction, ExportKind, Standing};
use crate::export::GltfFormat;
use crate::io::is_obj;
use crate::view::chord::take_escape;
use crate::view::theme;
use eframe::egui;
use egui::{Button, Context, ProgressBar, Role, ScrollArea, Stroke, Ui, WidgetInfo};
use egui_material_icons::icons;

/// Width of the page, points, and its maximum fraction of the window.
const WIDTH: f32 = 348.0;
const SHARE: f32 = 0.45;

/// The Export page and its state.
pub(in crate::app) struct ExportPage {
    model_field: PathField,
    static_mesh_field: PathField,
    /// The model for which the paths were proposed.
    model: u64,
    is_open: bool,
    /// Whether no widget had the keyboard focus at the start of the frame: Enter that ends a field is consumed by it.
    was_free: bool,
    /// Whether a text field, a menu or a window owned Esc at the end of the last frame.
    gives_escape: bool,
}

/// The requests of a frame.
#[derive(Default)]
pub(in crate::app) struct Requests {
    pub(in crate::app) closes: bool,
    /// Whether to colour the difference between the file and the model.
    pub(in crate::app) difference: Option<bool>,
}

impl ExportPage {
    /// The closed page.
    pub(in crate::app) fn new(editor: &Editor) -> Self {
        Self {
            model_field: PathField::new(PathUse::Export, editor),
            static_mesh_field: PathField::new(PathUse::ExportStaticMesh, editor),
            model: editor.model_serial(),
            is_open: false,
            was_free: false,
            gives_escape: false,
        }
    }

    pub(in crate::app) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Opens the page for one kind of export, otherwise unchanged; the path gets the keyboard focus.
    pub(in crate::app) fn open(&mut self, kind: ExportKind, editor: &mut Editor) {
        self.follow_model(editor);
        self.is_open = true;
        self.use_kind(kind, editor);
    }

    fn use_kind(&mut self, kind: ExportKind, editor: &mut Editor) {
        editor.export_settings_mut().kind = kind;
        self.field(kind).ask_focus();
        if kind == ExportKind::StaticMesh {
            // The comparison and the preflight of a model end.
            editor.show_exported(None);
            editor.stop_advising();
        }
    }

    /// The path field of a kind of export.
    fn field(&mut self, kind: ExportKind) -> &mut PathField {
        match kind {
            ExportKind::Model => &mut self.model_field,
            ExportKind::StaticMesh => &mut self.static_mesh_field,
        }
    }

    /// Closes the page; the computed file is kept until the model is closed, but no longer shown.
    pub(in crate::app) fn close(&mut self, editor: &mut Editor) {
        self.is_open = false;
        editor.show_exported(None);
        editor.stop_advising();
    }

    /// Width of the page in a window, points.
    pub(in crate::app) fn width(ctx: &Context) -> f32 {
        WIDTH.min((SHARE * ctx.content_rect().width()).floor())
    }

    /// Proposes a new path for a new model.
    fn follow_model(&mut self, editor: &mut Editor) {
        if self.model != editor.model_serial() {
            self.model_field = PathField::new(PathUse::Export, editor);
            self.static_mesh_field = PathField::new(PathUse::ExportStaticMesh, editor);
            self.model = editor.model_serial();
        }
    }

    /// Draws the page over all of `ui`; `is_coloured`: whether the difference is coloured.
    pub(in crate::app) fn show_ui(
        &mut self,
        ui: &mut Ui,
        editor: &mut Editor,
        is_coloured: bool,
    ) -> Requests {
        self.follow_model(editor);
        editor.measure_diagonal();
        self.was_free = ui.memory(|m| m.focused().is_none());
        let mut requests = Requests::default();
        ui.horizontal(|ui| {
            ui.heading(match editor.exporting().settings().kind {
                ExportKind::Model => "Export glTF",
                ExportKind::StaticMesh => "Export current frame as mesh",
            });
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                let button = Button::new(icons::ICON_CLOSE.rich_text().size(16.0)).frame(false);
                let response = ui.add(button).on_hover_text("Close this page  (Esc)");
                response.widget_info(|| WidgetInfo::labeled(Role::Button, true, "Close the page"));
                requests.closes |= response.clicked();
            });
        });
        let mut act = false;
        let footer = ui.spacing().interact_size.y + 14.0;
        ScrollArea::vertical()
            .id_salt("export page")
            .max_height((ui.available_height() - footer).max(40.0))
            .auto_shrink([false, false])
            .show(ui, |ui| {
                // Space for the scroll bar.
                ui.set_max_width(ui.available_width() - 4.0);
                self.kind_ui(ui, editor);
                let kind = editor.exporting().settings().kind;
                act |= self.file_ui(ui, kind);
                ui.separator();
                match kind {
                    ExportKind::Model => self.model_ui(ui, editor, is_coloured, &mut requests),
                    ExportKind::StaticMesh => {
                        options::outside_ui(ui, editor);
                        static_mesh::static_mesh_ui(
                            ui,
                            editor,
                            is_obj(&self.static_mesh_field.typed()),
                        );
                        Self::progress_ui(ui, editor);
                        static_mesh::saved_ui(ui, editor);
                    }
                }
            });
        ui.add_space(4.0);
        self.buttons_ui(ui, editor, act, &mut requests);
        requests
    }

    /// Handles Enter and Esc if nothing else uses them: call it last. `has_window`: whether a floating window exists
    /// that Esc closes first.
    pub(in crate::app) fn keys(
        &mut self,
        ctx: &Context,
        editor: &mut Editor,
        has_window: bool,
    ) -> bool {
        let focused = ctx.memory(egui::Memory::focused);
        let own = self.field(editor.exporting().settings().kind).id();
        let is_typing = focused.is_some() && focused != own && ctx.text_edit_focused();
        let has_escape = is_typing || has_window || ctx.any_popup_open();
        // Whatever closed with this key press was open at the end of the last frame.
        let gave_escape = std::mem::replace(&mut self.gives_escape, has_escape);
        let is_busy = editor.is_painting() || editor.transforming().is_some();
        if is_busy {
            return false;
        }
        let is_free = self.was_free && ctx.memory(|m| m.focused().is_none());
        if is_free && take_enter(ctx) {
            self.act(editor);
        }
        !gave_escape && !has_escape && ctx.input_mut(take_escape)
    }

    /// Draws the kind of export.
    fn kind_ui(&mut self, ui: &mut Ui, editor: &mut Editor) {
        let chosen = editor.exporting().settings().kind;
        ui.horizontal_wrapped(|ui| {
            for kind in ExportKind::ALL {
                let radio = ui.radio(chosen == kind, kind.label());
                if radio.on_hover_text(kind.about()).clicked() && chosen != kind {
                    self.use_kind(kind, editor);
                }
            }
        });
    }

    /// Draws path and format; returns whether Enter was pressed in the path.
    fn file_ui(&mut self, ui: &mut Ui, kind: ExportKind) -> bool {
        let field = self.field(kind);
        let is_entered = field.field_ui(ui, ui.available_width());
        field.message_ui(ui);
        let path = field.typed();
        let format = GltfFormat::of_path(&path);
        let mut formats = vec![
            (
                "glb",
                format == Some(GltfFormat::Glb),
                "Binary (.glb)",
                "A single glTF file that contains everything.",
            ),
            (
                "gltf",
                format == Some(GltfFormat::Gltf),
                "Text (.gltf)",
                "A glTF text file; buffers and textures are separate files beside it.",
            ),
        ];
        if kind == ExportKind::StaticMesh {
            let about =
                "A Wavefront OBJ text file, readable by every modelling and sculpting program.";
            formats.push(("obj", is_obj(&path), "OBJ (.obj)", about));
        }
        ui.horizontal_wrapped(|ui| {
            for (ending, is_on, label, about) in formats {
                if ui.radio(is_on, label).on_hover_text(about).clicked() {
                    field.set_ending(ending);
                }
            }
        });
        is_entered
    }

    /// Draws options, preflight and results of a model export.
    fn model_ui(
        &mut self,
        ui: &mut Ui,
        editor: &mut Editor,
        is_coloured: bool,
        requests: &mut Requests,
    ) {
        options::options_ui(ui, editor);
        // Above the preflight, whose rows come and go: the Cancel button must stay where the pointer is.
        Self::progress_ui(ui, editor);
        let path = self.model_field.typed();
        if editor.export_standing(&path) != Standing::Current {
            editor.advise_export(&path);
            preflight::preflight_ui(ui, editor);
        }
        self.result_ui(ui, editor, is_coloured, requests);
    }

    /// Draws the running computation and its progress.
    fn progress_ui(ui: &mut Ui, editor: &mut Editor) {
        let Some(task) = editor.computing_export().cloned() else {
            return;
        };
        ui.separator();
        ui.label(task.label());
        let mut stop = false;
        ui.horizontal(|ui| {
            let width = (ui.available_width() - 64.0).max(40.0);
            let bar = ProgressBar::new(task.fraction())
                .desired_width(width)
                .desired_height(16.0)
                .show_percentage();
            ui.add(bar).widget_info(|| {
                let mut info =
                    WidgetInfo::labeled(Role::ProgressIndicator, true, "Export progress");
                info.value = Some(f64::from((100.0 * task.fraction()).floor()));
                info
            });
            let about = "Cancel the computation. No file is written.";
            let response = ui.button("Cancel").on_hover_text(about);
            response.widget_info(|| WidgetInfo::labeled(Role::Button, true, "Cancel export"));
            stop = response.clicked();
        });
        if stop {
            editor.stop_computing();
        }
    }

    /// Draws the result of the last computation and its comparison.
    fn result_ui(
        &self,
        ui: &mut Ui,
        editor: &mut Editor,
        is_coloured: bool,
        requests: &mut Requests,
    ) {
        if editor.exporting().result().is_none() || editor.computing_export().is_some() {
            return;
        }
        ui.separator();
        let standing = editor.export_standing(&self.model_field.typed());
        if let Some(stale) = standing.sentence() {
            let accent = theme::palette(ui).accent;
            report::icon_text_ui(ui, icons::ICON_SYNC_PROBLEM, accent, stale);
        }
        report::verdict_ui(ui, editor);
        report::beside_ui(ui, editor, is_coloured, requests);
        if report::report_ui(ui, editor) {
            editor.show_worst_of_export();
            if editor.exporting().beside().is_none() {
                editor.show_exported(Some(PaneLayout::Two));
            }
        }
    }

    fn buttons_ui(
        &mut self,
        ui: &mut Ui,
        editor: &mut Editor,
        mut act: bool,
        requests: &mut Requests,
    ) {
        let kind = editor.exporting().settings().kind;
        let field = self.field(kind);
        let (is_empty, asks) = (field.is_empty(), field.asks());
        let is_free = Self::is_free(editor);
        let ready = is_free && !is_empty;
        let computes_first = self.computes_first(editor);
        let enter = |text: &str, is_default: bool| {
            let key = if is_default { "  (Enter)" } else { "" };
            format!("{text}{key}")
        };
        // The default button, for Enter, has an outline.
        let edge = Stroke::new(1.0, theme::palette(ui).text_dim);
        let button = |text: &'static str, is_default: bool| {
            let button = Button::new(text);
            if is_default {
                button.stroke(edge)
            } else {
                button
            }
        };
        let (mut compute, mut save) = (false, false);
        ui.horizontal(|ui| {
            if kind == ExportKind::Model {
                let about =
                    "Compute the file in memory and compare it with the model before you save it.";
                let response = ui.add_enabled(ready, button("Compute", computes_first));
                compute = response
                    .on_hover_text(enter(about, computes_first))
                    .clicked();
            }
            let (verb, about) = if asks {
                ("Replace", "Overwrite the existing file.")
            } else if kind == ExportKind::StaticMesh {
                ("Save", "Write the frame on screen.")
            } else if editor.export_standing(&self.model_field.typed()) == Standing::Current {
                ("Save", "Write the computed file.")
            } else {
                ("Save", "Compute the file and write it.")
            };
            let response = ui.add_enabled(ready, button(verb, !computes_first));
            save = response
                .on_hover_text(enter(about, !computes_first))
                .clicked();
            let close = ui.button("Close").on_hover_text("Close this page  (Esc)");
            requests.closes |= close.clicked();
        });
        act &= ready;
        if compute || (act && computes_first) {
            self.compute(editor);
        } else if save || act {
            self.save(editor);
        }
    }

    /// Whether Enter computes first: for a correction that is not computed yet.
    fn computes_first(&self, editor: &Editor) -> bool {
        editor.exporting().settings().kind == ExportKind::Model
            && editor.correction() != Correction::None
            && !self.model_field.asks()
            && editor.export_standing(&self.model_field.typed()) != Standing::Current
    }

    /// Whether no job blocks the buttons.
    fn is_free(editor: &Editor) -> bool {
        editor.job().is_none() && editor.computing_export().is_none()
    }

    fn act(&mut self, editor: &mut Editor) {
        if !Self::is_free(editor) {
            return;
        }
        if self.computes_first(editor) {
            self.compute(editor);
        } else {
            self.save(editor);
        }
    }

    fn compute(&mut self, editor: &mut Editor) {
        if let Some(path) = self.model_field.usable() {
            editor.compute_export(&path);
        }
    }

    fn save(&mut self, editor: &mut Editor) {
        let kind = editor.exporting().settings().kind;
        if let Some(path) = self.field(kind).chosen(editor) {
            match kind {
                ExportKind::Model => editor.save_export(&path),
                ExportKind::StaticMesh => editor.save_static_mesh(&path),
            }
        }
    }
}
