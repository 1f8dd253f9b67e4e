//! The counters of live motion.

use super::super::correctives::heading_ui;
use super::super::correctives::sets::text_ui;
use crate::editor::Editor;
use crate::finding::thousands;
use crate::view::theme;
use egui::{Label, RichText, Role, Sense, Ui, Vec2, WidgetInfo};

/// The height of a row, points.
const ROW: f32 = 18.0;

/// Draws the counters, and the fault of the last malformed packet.
pub(super) fn figures_ui(ui: &mut Ui, editor: &Editor) {
    let Some(live) = editor.live() else {
        return;
    };
    heading_ui(ui, "Signal", "");
    let counts = live.counts();
    let jitter = format!("{:.0} ms", live.jitter() * 1e3);
    let rows = [
        (
            "Received",
            thousands(counts.received),
            "Packets or lines received.",
        ),
        (
            "Malformed",
            thousands(counts.malformed),
            "Packets, messages or values that do not follow the protocol. They change nothing; a bone keeps its last value.",
        ),
        (
            "Dropped",
            thousands(counts.dropped),
            "Packets that were not read because more than 5,000 arrived in a second, or more than 1,024 were waiting.",
        ),
        (
            "Late",
            thousands(counts.late),
            "Packets that arrived after the time at which they would have been shown. They are recorded; a higher latency shows them too.",
        ),
        (
            "Lost",
            thousands(counts.lost),
            "Frames that never arrived. Short gaps are interpolated; in longer ones the pose is held, then fades to the rest pose.",
        ),
        (
            "Ignored",
            thousands(counts.ignored),
            "Messages for other programs, and bones that no humanoid has.",
        ),
        (
            "Jitter",
            jitter,
            "The delay of packets beyond the median, at the 95th percentile.",
        ),
    ];
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        for (name, value, about) in &rows {
            row_ui(ui, name, value, about);
        }
    });
    if let Some(why) = &counts.last_malformed {
        let why = why.trim_end_matches('.');
        let text = format!("Last malformed: {why}.");
        // On one line: what is below stays where it is while reasons alternate.
        let shown = RichText::new(&text).color(theme::palette(ui).text_dim);
        ui.add(Label::new(shown).truncate()).on_hover_text(text);
    }
}

fn row_ui(ui: &mut Ui, name: &str, value: &str, about: &str) {
    let palette = theme::palette(ui);
    let size = Vec2::new(ui.available_width() - 10.0, ROW);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let spoken = format!("{name}: {value}");
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &spoken));
    let right = text_ui(ui, value, palette.text, rect, true, 110.0);
    let own = rect.with_max_x(right - 6.0);
    text_ui(ui, name, palette.text_dim, own, false, own.width());
    response.on_hover_text(about);
}
