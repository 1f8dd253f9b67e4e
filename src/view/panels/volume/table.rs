//! The table of volumes.

use super::rows::{Row, Subject};
use crate::view::middle;
use crate::view::theme;
use egui::{Align2, Color32, Rect, Role, ScrollArea, Sense, TextStyle, Ui, Vec2, WidgetInfo};

const ROW: f32 = 20.0;
/// Widths of the columns after the name, points.
const COLUMNS: [f32; 3] = [72.0, 66.0, 66.0];
const TITLES: [&str; 3] = ["At rest", "Now", "Worst"];

/// Draws the rows under their header; returns a newly chosen row for the plots.
pub(super) fn table_ui(ui: &mut Ui, rows: &[Row], shown: Subject) -> Option<Subject> {
    let dim = theme::palette(ui).text_dim;
    let (head, _) = ui.allocate_exact_size(Vec2::new(ui.available_width(), ROW), Sense::hover());
    cells_ui(ui, head, "Object, bone", TITLES, [dim; 2], 0.0);
    let mut chosen = None;
    ui.spacing_mut().item_spacing.y = 0.0;
    ScrollArea::vertical()
        .id_salt("volume rows")
        .auto_shrink([false, false])
        .show_rows(ui, ROW, rows.len(), |ui, range| {
            for row in &rows[range] {
                if row_ui(ui, row, row.subject == shown) {
                    chosen = Some(row.subject);
                }
            }
        });
    chosen
}

/// Draws one row; returns whether it was clicked.
fn row_ui(ui: &mut Ui, row: &Row, is_shown: bool) -> bool {
    let size = Vec2::new(ui.available_width(), ROW);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    let palette = theme::palette(ui);
    if is_shown {
        ui.painter().rect_filled(rect, 3.0, palette.selected);
    } else if response.hovered() {
        ui.painter().rect_filled(rect, 3.0, palette.stripe);
    }
    if response.has_focus() {
        let stroke = ui.visuals().selection.stroke;
        ui.painter()
            .rect_stroke(rect, 3.0, stroke, egui::StrokeKind::Inside);
    }
    let is_joint = matches!(row.subject, Subject::Joint(..));
    let name = if is_joint {
        palette.text_dim
    } else {
        palette.text
    };
    // A remark replaces numbers that are undefined.
    let numbers = match row.remark {
        "open" => ["open", "", ""],
        _ => [row.rest.as_str(), row.now.as_str(), row.worst.as_str()],
    };
    let indent = if is_joint { 14.0 } else { 0.0 };
    cells_ui(ui, rect, &row.name, numbers, [name, palette.text], indent);
    let spoken = match row.remark {
        "open" => format!("{}: open", row.name),
        remark => {
            let remark = if remark.is_empty() {
                String::new()
            } else {
                format!(", {remark}")
            };
            format!(
                "{}{remark}: {} at rest, now {}, worst {}",
                row.name, row.rest, row.now, row.worst
            )
        }
    };
    response.widget_info(|| WidgetInfo::selected(Role::ListBoxOption, true, is_shown, &spoken));
    response.on_hover_text(about(row)).clicked()
}

/// The tooltip of a row.
fn about(row: &Row) -> String {
    let name = &row.name;
    let what = match (row.subject, row.remark) {
        (_, "open") => "The mesh has holes, so its volume is undefined.".to_owned(),
        (_, "partly open") => {
            "Some parts have holes. The volume is that of the closed parts.".to_owned()
        }
        (Subject::Joint(..), _) => {
            "Approximate volume that this bone moves. Click to select the bone and plot its volume."
                .to_owned()
        }
        _ => "Change of the enclosed volume from the rest pose. Click to plot it.".to_owned(),
    };
    if row.worst_about.is_empty() {
        format!("{name}\n{what}")
    } else {
        format!("{name}\n{what}\nWorst: {} {}", row.worst, row.worst_about)
    }
}

/// Draws a name, truncated, and three right-aligned numbers.
fn cells_ui(
    ui: &Ui,
    rect: Rect,
    name: &str,
    numbers: [&str; 3],
    [name_colour, colour]: [Color32; 2],
    indent: f32,
) {
    let font = TextStyle::Body.resolve(ui.style());
    let mut right = rect.right() - 10.0;
    for (number, width) in numbers.iter().zip(COLUMNS).rev() {
        let at = egui::pos2(right, rect.center().y);
        ui.painter()
            .text(at, Align2::RIGHT_CENTER, number, font.clone(), colour);
        right -= width;
    }
    let left = rect.left() + 4.0 + indent;
    let room = (right - left).max(16.0);
    let galley = middle::body(ui, name, room);
    let at = egui::pos2(left, rect.center().y - galley.size().y * 0.5);
    ui.painter()
        .galley_with_override_text_color(at, galley, name_colour);
}
