//! The status bar: mouse hints, the running job, statistics.

use super::target_label;
use crate::editor::Editor;
use crate::finding::{counted, thousands};
use crate::view::hints::hints;
use crate::view::keymap;
use crate::view::middle;
use crate::view::mode::Mode;
use crate::view::theme;
use crate::view::viewport::{draw_hint, pose_hint, select_hint};
use egui::text::{LayoutJob, TextFormat};
use egui::{Align, Button, Label, Layout, RichText, Role, TextStyle, Ui, WidgetInfo};
use egui_material_icons::icons;

/// The values that the editor does not hold.
pub struct Status {
    /// The mode.
    pub mode: Mode,
    /// Resident memory of the program, bytes.
    pub memory: Option<u64>,
    /// The save state: "saved 40 s ago".
    pub saved: String,
    /// The value under the brush.
    pub painted: Option<f32>,
    /// The number of objects that exceed the drawing budget.
    pub n_boxed: usize,
}

/// Below this width the statistics are hidden, points.
const NARROW: f32 = 900.0;
/// The figures take at most this share of the bar.
const MOST_FIGURES: f32 = 0.55;
/// Greatest width of the painted bone's or map's name, points.
const MOST_NAME: f32 = 180.0;

/// Tooltips of objects that are shown as bounding boxes: those beyond the memory budget and those beyond the drawing budget.
const MEMORY: &str = "Drawing them would need more memory than a file of this size may use. At most 1000 boxes are shown.";
const OVERDRAW: &str = "Drawing all objects would slow down the view, so only those that cover most of it are drawn. At most 1000 boxes are shown.";

/// Draws mode and hints at the left, the running job with Cancel in the middle, statistics at the right.
pub fn status_bar_ui(ui: &mut Ui, editor: &mut Editor, status: &Status) {
    let mut cancel = false;
    // Always one row.
    let height = ui.text_style_height(&TextStyle::Body).max(20.0);
    let size = egui::vec2(ui.available_width(), height);
    let is_narrow = size.x < NARROW;
    ui.allocate_ui_with_layout(size, Layout::right_to_left(Align::Center), |ui| {
        live_ui(ui, editor);
        figures_ui(ui, editor, status, is_narrow);
        if let Some((what, task)) = editor.running() {
            let stop = ui
                .add(Button::new("Cancel").small())
                .on_hover_text("Cancel this job. The model does not change.");
            cancel = stop.clicked();
            let bar = egui::ProgressBar::new(task.fraction())
                .desired_width(if is_narrow { 64.0 } else { 112.0 })
                .desired_height(16.0)
                .show_percentage();
            ui.add(bar)
                .widget_info(|| WidgetInfo::labeled(Role::ProgressIndicator, true, "Progress"));
            let step = task.label();
            let text = if step.is_empty() {
                what
            } else {
                format!("{what} · {step}")
            };
            // At most half of the remaining width, so that the hints keep some space.
            let width = ui.available_width() * 0.5;
            ui.allocate_ui_with_layout(
                egui::vec2(width, height),
                Layout::right_to_left(Align::Center),
                |ui| ui.add(Label::new(&text).truncate().selectable(false)),
            );
        }
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            hints_ui(ui, editor, status.mode);
        });
    });
    if cancel {
        editor.cancel_running();
    }
}

/// Draws what live motion does, at most over half of the bar.
fn live_ui(ui: &mut Ui, editor: &Editor) {
    let Some(live) = editor.live() else {
        return;
    };
    let palette = theme::palette(ui);
    let mut parts = vec![format!("Live: {}", live.kind().short_label())];
    match live.rate().filter(|_| live.is_receiving()) {
        Some(rate) => parts.push(format!("{rate:.0} Hz")),
        None => parts.push("waiting".to_owned()),
    }
    if !editor.live_settings().is_shown {
        parts.push("not shown".to_owned());
    }
    if let Some(secs) = live.recorded_secs() {
        parts.push(format!("recording {secs:.1} s"));
    }
    if live.hears_all() {
        parts.push("anyone in your network can move this character".to_owned());
    }
    let width = ui.available_width() * 0.5;
    let height = ui.available_height();
    let layout = Layout::right_to_left(Align::Center);
    ui.allocate_ui_with_layout(egui::vec2(width, height), layout, |ui| {
        let text = RichText::new(parts.join(", ")).color(palette.text);
        ui.add(Label::new(text).truncate().selectable(false));
        let (icon, colour) = if live.recorded_secs().is_some() {
            (icons::ICON_FIBER_MANUAL_RECORD, palette.x)
        } else {
            (icons::ICON_SENSORS, palette.text)
        };
        let icon = icon.rich_text().size(14.0).color(colour);
        ui.add(Label::new(icon).selectable(false));
    });
}

/// Draws the mode and the hints for the pressed modifiers.
fn hints_ui(ui: &mut Ui, editor: &Editor, mode: Mode) {
    let palette = theme::palette(ui);
    let modifiers = ui.input(|i| i.modifiers);
    let map = keymap::of(ui.ctx());
    let session = editor.document().session();
    let font = TextStyle::Body.resolve(ui.style());
    let format = |colour| TextFormat::simple(font.clone(), colour);
    let mut job = LayoutJob::default();
    job.append(mode.label(), 0.0, format(palette.text));
    let hint = pose_hint(editor).or_else(|| select_hint(editor));
    if let Some(hint) = hint.or_else(|| draw_hint(editor)) {
        job.append(&format!("     {hint}"), 0.0, format(palette.text));
        ui.add(Label::new(job).truncate().selectable(false));
        return;
    }
    for (i, (what, does)) in hints(mode, modifiers, &map, session).iter().enumerate() {
        // Spaces, so that screen readers separate the words.
        let gap = if i == 0 { "     " } else { "   " };
        job.append(&format!("{gap}{what} "), 0.0, format(palette.text));
        job.append(does, 0.0, format(palette.text_dim));
    }
    ui.add(Label::new(job).truncate().selectable(false));
}

/// Draws selection, deformation time, memory and save state from the right, as far as there is room beside the hints.
fn figures_ui(ui: &mut Ui, editor: &Editor, status: &Status, is_narrow: bool) {
    let room = ui.available_width() * MOST_FIGURES;
    let start = ui.cursor().right();
    let dim = theme::palette(ui).text_dim;
    let font = TextStyle::Body.resolve(ui.style());
    let label = |ui: &mut Ui, text: String, about: &str| {
        let width = ui.painter().layout_no_wrap(text.clone(), font.clone(), dim);
        if start - ui.cursor().right() + width.size().x > room {
            return;
        }
        ui.add(Label::new(RichText::new(text).color(dim)).selectable(false))
            .on_hover_text(about);
    };
    if !status.saved.is_empty() {
        label(
            ui,
            status.saved.clone(),
            "Whether your changes are saved in the project file. Unsaved changes are autosaved every minute.",
        );
    }
    if let Some(memory) = status.memory.filter(|_| !is_narrow) {
        let text = format!("{} MB", thousands((memory >> 20) as usize));
        label(ui, text, "Memory that Sinew uses.");
    }
    if editor.displayed().is_empty() {
        return;
    }
    let points: usize = editor.displayed().values().map(|d| d.positions.len()).sum();
    label(
        ui,
        format!("{:.2} ms", editor.skin_secs() * 1e3),
        &format!(
            "Time of the last deformation on the worker thread: {}.",
            counted(points, "vertex")
        ),
    );
    label(ui, selection(editor), "The current selection.");
    let left_out = editor.document().left_out().nodes.len();
    if let Some(text) = boxed(left_out + status.n_boxed) {
        let causes = [(left_out, MEMORY), (status.n_boxed, OVERDRAW)];
        let causes = causes.iter().filter(|(n, _)| *n > 0);
        let causes: Vec<&str> = causes.map(|(_, cause)| *cause).collect();
        label(ui, text, &causes.join("\n"));
    }
    if let Some(value) = status.painted {
        let what = target_label(editor.paint_target(), editor);
        let what = middle::cut(ui, &what, &font, MOST_NAME);
        let about = "The value under the brush.";
        label(ui, format!("{what} {value:.2}"), about);
    }
}

/// How many objects are shown as bounding boxes, in words.
fn boxed(n: usize) -> Option<String> {
    let are = if n == 1 {
        "is shown as a bounding box"
    } else {
        "are shown as bounding boxes"
    };
    (n > 0).then(|| format!("{} {are}", counted(n, "object")))
}

/// The selection in words: "2 bones, 14 vertices".
fn selection(editor: &Editor) -> String {
    if editor.selects_controls() {
        let n = editor.n_selected_controls();
        return format!("{} selected", counted(n, "control point"));
    }
    let session = editor.document().session();
    let points = session.selected_points.values().map(|set| set.count());
    let counts = [
        (session.selected_joints.len(), "bone"),
        (points.sum(), "vertex"),
    ];
    let parts = counts.iter().filter(|(n, _)| *n > 0);
    let parts: Vec<String> = parts.map(|(n, noun)| counted(*n, noun)).collect();
    if parts.is_empty() {
        "nothing selected".to_owned()
    } else {
        parts.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_shown_as_boxes_are_counted() {
        let expected = [
            None,
            Some("1 object is shown as a bounding box".to_owned()),
            Some("1,200 objects are shown as bounding boxes".to_owned()),
        ];
        assert_eq!([0, 1, 1200].map(boxed), expected);
    }
}
