//! The undo history: click a step to go there.

use super::list::{List, memory_id};
use crate::document::History;
use crate::editor::Editor;
use crate::finding::counted;
use crate::view::theme;
use egui::{
    Align2, FontId, RichText, Role, TextStyle, TextWrapMode, Ui, WidgetInfo, WidgetText, pos2,
};
use egui_material_icons::{MaterialIcon, icons};

/// The state of the panel between frames.
#[derive(Clone, Copy, Default)]
struct Memory {
    cursor: Option<usize>,
    /// The step shown last; the list scrolls when the current step changes.
    shown: Option<(usize, usize)>,
}

/// Draws all undo steps, oldest first; a click restores the state after the step.
pub fn history_ui(ui: &mut Ui, editor: &mut Editor) {
    let id = memory_id("history");
    let mut memory: Memory = ui.data(|data| data.get_temp(id)).unwrap_or_default();
    let history = editor.history();
    let present = history.n_undo();
    head_ui(ui, history);
    let is_new = memory.shown != Some((present, history.n_steps()));
    memory.shown = Some((present, history.n_steps()));
    if is_new {
        memory.cursor = Some(present);
    }
    let list = List {
        name: "Steps",
        n_rows: history.n_steps() + 1,
        scroll_to: is_new.then_some(present),
    };
    let labels: Vec<&str> = history.labels().collect();
    let saved = history.saved_step();
    let start = if history.n_dropped() > 0 {
        "Oldest step kept"
    } else {
        "Opened"
    };
    let chosen = list.show_ui(ui, &mut memory.cursor, |ui, row| {
        let palette = theme::palette(ui);
        let label = match row.index.checked_sub(1) {
            None => start,
            Some(step) => labels[step],
        };
        let (state, icon, colour) = match row.index.cmp(&present) {
            std::cmp::Ordering::Less => ("done", None, palette.text),
            std::cmp::Ordering::Equal => ("now", Some(icons::ICON_PLAY_ARROW), palette.accent),
            std::cmp::Ordering::Greater => ("undone", Some(icons::ICON_UNDO), palette.text_dim),
        };
        let rect = row.rect;
        if let Some(icon) = icon {
            paint_icon(ui, pos2(rect.left() + 12.0, rect.center().y), icon, colour);
        }
        let is_saved = saved == Some(row.index);
        let mut right = rect.right() - 4.0;
        let mut note = |ui: &Ui, text: &str| {
            let font = FontId::proportional(11.0);
            let at = pos2(right, rect.center().y);
            let drawn = ui
                .painter()
                .text(at, Align2::RIGHT_CENTER, text, font, palette.text_dim);
            right = drawn.left() - 8.0;
        };
        if is_saved {
            note(ui, "saved");
        }
        if row.index > present {
            note(ui, "undone");
        }
        let left = rect.left() + 24.0;
        let text = WidgetText::from(label).into_galley(
            ui,
            Some(TextWrapMode::Truncate),
            (right - left).max(20.0),
            TextStyle::Body,
        );
        let at = pos2(left, rect.center().y - text.size().y * 0.5);
        ui.painter()
            .galley_with_override_text_color(at, text, colour);
        let saved = if is_saved { ", saved" } else { "" };
        let name = format!("{} {label} ({state}{saved})", row.index);
        row.response.widget_info(|| {
            WidgetInfo::selected(Role::ListBoxOption, true, row.index == present, &name)
        });
        let way = match row.index.cmp(&present) {
            std::cmp::Ordering::Less => format!("Undo {}.", counted(present - row.index, "step")),
            std::cmp::Ordering::Equal => "The current state.".to_owned(),
            std::cmp::Ordering::Greater => {
                format!("Redo {}.", counted(row.index - present, "step"))
            }
        };
        row.response
            .clone()
            .on_hover_text(format!("{label}\n{way}"));
    });
    ui.data_mut(|data| data.insert_temp(id, memory));
    if let Some(step) = chosen {
        editor.jump_to_step(step);
    }
}

/// Draws the number of steps and their memory.
fn head_ui(ui: &mut Ui, history: &History) {
    let dim = theme::palette(ui).text_dim;
    let mut text = format!(
        "{} · {} of {}",
        counted(history.n_steps(), "step"),
        megabytes(history.bytes()),
        megabytes(history.limit_bytes())
    );
    if history.n_dropped() > 0 {
        text = format!("{text} · {} discarded", history.n_dropped());
    }
    ui.add(egui::Label::new(RichText::new(text).color(dim)).truncate())
        .on_hover_text(
            "Memory used by the undo steps. When the limit is reached, the oldest steps are discarded.",
        );
}

fn megabytes(bytes: usize) -> String {
    let mb = bytes as f64 / f64::from(1 << 20);
    if mb < 10.0 {
        format!("{mb:.1} MB")
    } else {
        format!("{mb:.0} MB")
    }
}

fn paint_icon(ui: &Ui, at: egui::Pos2, icon: MaterialIcon, colour: egui::Color32) {
    let font = FontId::new(14.0, icon.font_family());
    ui.painter()
        .text(at, Align2::CENTER_CENTER, icon.codepoint, font, colour);
}
