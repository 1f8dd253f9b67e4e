//! The Export page: what goes into the file, what it came to, and the file beside the model before it is saved.
//!
//! It stands beside the viewport, not over it: what was computed is looked at there, and the timeline plays.

mod ahead;
mod options;
mod report;
mod still;

use super::path_field::{Asker, PathField};
use super::take_enter;
use crate::document::PaneLayout;
use crate::editor::Editor;
use crate::editor::exporting::{Correction, ExportKind, Standing};
use crate::export::GltfFormat;
use crate::export::is_obj;
use crate::view::chord::take_escape;
use crate::view::theme;
use eframe::egui;
use egui::{Button, Context, ProgressBar, Role, ScrollArea, Stroke, Ui, WidgetInfo};
use egui_material_icons::icons;

/// What the page is wide, points; in a small window not more than this share of it.
const WIDTH: f32 = 348.0;
const SHARE: f32 = 0.45;

/// The page, and what is typed in it.
pub(in crate::app) struct ExportPage {
    model_field: PathField,
    still_field: PathField,
    /// The model that the paths were proposed for.
    model: u64,
    is_open: bool,
    /// Whether no widget had the keyboard when the frame began: Enter that ends a field is used up by it.
    was_free: bool,
    /// Whether something had Esc to itself when the last frame ended: a field that is typed in, a menu, a window.
    gives_escape: bool,
}

/// What the artist asked for in a frame.
#[derive(Default)]
pub(in crate::app) struct Asked {
    pub(in crate::app) closes: bool,
    /// Whether the difference between the file and the model is to be coloured.
    pub(in crate::app) difference: Option<bool>,
}

impl ExportPage {
    /// A page that is closed.
    pub(in crate::app) fn new(editor: &Editor) -> Self {
        Self {
            model_field: PathField::new(Asker::Export, editor),
            still_field: PathField::new(Asker::ExportStill, editor),
            model: editor.model_serial(),
            is_open: false,
            was_free: false,
            gives_escape: false,
        }
    }

    pub(in crate::app) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Opens the page for one of both kinds, and else as it was left; the keyboard is in the path.
    pub(in crate::app) fn open(&mut self, kind: ExportKind, editor: &mut Editor) {
        self.follow_model(editor);
        self.is_open = true;
        self.use_kind(kind, editor);
        editor.measure_diagonal();
    }

    fn use_kind(&mut self, kind: ExportKind, editor: &mut Editor) {
        editor.export_settings_mut().kind = kind;
        self.field(kind).ask_focus();
        if kind == ExportKind::Still {
            // A model is neither looked at nor advised on meanwhile.
            editor.show_exported(None);
            editor.stop_advising();
        }
    }

    /// Where the file goes.
    fn field(&mut self, kind: ExportKind) -> &mut PathField {
        match kind {
            ExportKind::Model => &mut self.model_field,
            ExportKind::Still => &mut self.still_field,
        }
    }

    /// Closes the page; what was computed stays until the model is closed, but is not shown any more.
    pub(in crate::app) fn close(&mut self, editor: &mut Editor) {
        self.is_open = false;
        editor.show_exported(None);
        editor.stop_advising();
    }

    /// What the page takes of a window, points.
    pub(in crate::app) fn width(ctx: &Context) -> f32 {
        WIDTH.min((SHARE * ctx.content_rect().width()).floor())
    }

    /// Another model has another place.
    fn follow_model(&mut self, editor: &mut Editor) {
        if self.model != editor.model_serial() {
            self.model_field = PathField::new(Asker::Export, editor);
            self.still_field = PathField::new(Asker::ExportStill, editor);
            self.model = editor.model_serial();
            editor.measure_diagonal();
        }
    }

    /// The page over all of `ui`; `is_coloured`: whether the difference is shown as colours.
    pub(in crate::app) fn show_ui(
        &mut self,
        ui: &mut Ui,
        editor: &mut Editor,
        is_coloured: bool,
    ) -> Asked {
        self.follow_model(editor);
        self.was_free = ui.memory(|m| m.focused().is_none());
        let mut asked = Asked::default();
        ui.horizontal(|ui| {
            ui.heading(match editor.exporting().settings().kind {
                ExportKind::Model => "Export glTF",
                ExportKind::Still => "Export still",
            });
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                let button = Button::new(icons::ICON_CLOSE.rich_text().size(16.0)).frame(false);
                let response = ui.add(button).on_hover_text("Leave this page  (Esc)");
                response.widget_info(|| WidgetInfo::labeled(Role::Button, true, "Leave the page"));
                asked.closes |= response.clicked();
            });
        });
        let mut act = false;
        let footer = ui.spacing().interact_size.y + 14.0;
        ScrollArea::vertical()
            .id_salt("export page")
            .max_height((ui.available_height() - footer).max(40.0))
            .auto_shrink([false, false])
            .show(ui, |ui| {
                // Room for the bar that scrolls.
                ui.set_max_width(ui.available_width() - 4.0);
                self.kind_ui(ui, editor);
                let kind = editor.exporting().settings().kind;
                act |= self.file_ui(ui, kind);
                ui.separator();
                match kind {
                    ExportKind::Model => self.model_ui(ui, editor, is_coloured, &mut asked),
                    ExportKind::Still => {
                        still::still_ui(ui, editor, is_obj(&self.still_field.typed()));
                        Self::progress_ui(ui, editor);
                        still::saved_ui(ui, editor);
                    }
                }
            });
        ui.add_space(4.0);
        self.buttons_ui(ui, editor, act, &mut asked);
        asked
    }

    /// Answers Enter and Esc where nothing else wants them: call after everything that does. `has_window`: whether
    /// something floats that Esc closes first.
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
        // Whatever ended with this very key was there when the last frame ended.
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

    /// What is exported.
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

    /// Where the file goes, and its format; whether Enter was pressed in the path.
    fn file_ui(&mut self, ui: &mut Ui, kind: ExportKind) -> bool {
        let field = self.field(kind);
        let is_entered = field.field_ui(ui, ui.available_width());
        field.said_ui(ui);
        let path = field.typed();
        let format = GltfFormat::of_path(&path);
        let mut formats = vec![
            (
                "glb",
                format == Some(GltfFormat::Glb),
                "Binary (.glb)",
                "One glTF file with everything in it.",
            ),
            (
                "gltf",
                format == Some(GltfFormat::Gltf),
                "Text (.gltf)",
                "A glTF text file, with data and pictures in files beside it.",
            ),
        ];
        if kind == ExportKind::Still {
            let about =
                "A Wavefront OBJ text file, which every modeller and sculpting program reads.";
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

    /// What goes into a model, what that will come to and what it came to.
    fn model_ui(&mut self, ui: &mut Ui, editor: &mut Editor, is_coloured: bool, asked: &mut Asked) {
        options::options_ui(ui, editor);
        let path = self.model_field.typed();
        if editor.export_standing(&path) != Standing::Current {
            editor.advise_export(&path);
            ahead::ahead_ui(ui, editor);
        }
        Self::progress_ui(ui, editor);
        self.result_ui(ui, editor, is_coloured, asked);
    }

    /// What is being computed, and how far it is.
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
                    WidgetInfo::labeled(Role::ProgressIndicator, true, "Progress of the export");
                info.value = Some(f64::from((100.0 * task.fraction()).floor()));
                info
            });
            let about = "Stop computing; nothing is written.";
            stop = ui.button("Stop").on_hover_text(about).clicked();
        });
        if stop {
            editor.stop_computing();
        }
    }

    /// What was computed last, whether it is of use, and how it is looked at.
    fn result_ui(&self, ui: &mut Ui, editor: &mut Editor, is_coloured: bool, asked: &mut Asked) {
        if editor.exporting().result().is_none() || editor.computing_export().is_some() {
            return;
        }
        ui.separator();
        let standing = editor.export_standing(&self.model_field.typed());
        if let Some(stale) = standing.sentence() {
            let accent = theme::palette(ui).accent;
            report::says_ui(ui, icons::ICON_SYNC_PROBLEM, accent, stale);
        }
        report::verdict_ui(ui, editor);
        report::beside_ui(ui, editor, is_coloured, asked);
        if report::report_ui(ui, editor) {
            editor.show_worst_of_export();
            if editor.exporting().beside().is_none() {
                editor.show_exported(Some(PaneLayout::Two));
            }
        }
    }

    fn buttons_ui(&mut self, ui: &mut Ui, editor: &mut Editor, mut act: bool, asked: &mut Asked) {
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
        // The one that Enter presses has an edge.
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
                    "Make the file in memory, to look at it beside the model before it is saved.";
                let response = ui.add_enabled(ready, button("Compute", computes_first));
                compute = response
                    .on_hover_text(enter(about, computes_first))
                    .clicked();
            }
            let (verb, about) = if asks {
                ("Replace", "Write over the file that is there.")
            } else if kind == ExportKind::Still {
                ("Save", "Write the moment on screen.")
            } else if editor.export_standing(&self.model_field.typed()) == Standing::Current {
                ("Save", "Write the file that was computed.")
            } else {
                ("Save", "Compute the file and write it.")
            };
            let response = ui.add_enabled(ready, button(verb, !computes_first));
            save = response
                .on_hover_text(enter(about, !computes_first))
                .clicked();
            let close = ui.button("Close").on_hover_text("Leave this page  (Esc)");
            asked.closes |= close.clicked();
        });
        act &= ready;
        if compute || (act && computes_first) {
            self.compute(editor);
        } else if save || act {
            self.save(editor);
        }
    }

    /// Whether the file should be looked at before it is saved: a corrected one that was not computed yet.
    fn computes_first(&self, editor: &Editor) -> bool {
        editor.exporting().settings().kind == ExportKind::Model
            && editor.correction() != Correction::None
            && !self.model_field.asks()
            && editor.export_standing(&self.model_field.typed()) != Standing::Current
    }

    /// Whether nothing that the buttons start is under way.
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
        if let Some(path) = self.field(kind).chosen() {
            match kind {
                ExportKind::Model => editor.save_export(&path),
                ExportKind::Still => editor.save_still(&path),
            }
        }
    }
}
