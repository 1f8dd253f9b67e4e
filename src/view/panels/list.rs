//! A keyboard-navigable list of rows of equal height, shared by the panels.

use crate::view::theme::Palette;
use crate::view::{keymap, theme};
use egui::{
    Align2, Color32, FontId, Id, Key, Rect, Response, Role, ScrollArea, Sense, StrokeKind, Ui,
    WidgetInfo, vec2,
};
use egui_material_icons::MaterialIcon;

/// A list with a name for screen readers.
pub(super) struct List<'a> {
    /// The accessible name, and the id.
    pub(super) name: &'a str,
    /// The number of rows.
    pub(super) n_rows: usize,
    /// The row to scroll to.
    pub(super) scroll_to: Option<usize>,
}

/// The arguments for drawing a row.
pub(super) struct ListRow {
    /// The index of the row.
    pub(super) index: usize,
    /// The rectangle of the row.
    pub(super) rect: Rect,
    /// The response of the whole row.
    pub(super) response: Response,
}

impl List<'_> {
    /// Draws the visible rows with `row_ui`; returns the row that was clicked or confirmed with Enter.
    ///
    /// `cursor` is the row from which the arrow keys move.
    pub(super) fn show_ui(
        self,
        ui: &mut Ui,
        cursor: &mut Option<usize>,
        mut row_ui: impl FnMut(&mut Ui, &ListRow),
    ) -> Option<usize> {
        let id = ui.scope_id().with(self.name);
        let focus = ui.interact(
            ui.available_rect_before_wrap(),
            id,
            Sense::focusable_noninteractive(),
        );
        focus.widget_info(|| WidgetInfo::labeled(Role::ListBox, true, self.name));
        let mut scroll_to = self.scroll_to;
        let mut chosen = None;
        if focus.has_focus() {
            keymap::give_keys_to_list(ui.ctx(), id);
            let moved = self.moved_cursor(ui, *cursor);
            if moved.is_some() {
                *cursor = moved;
                scroll_to = moved;
            }
            if ui.input(|i| i.key_pressed(Key::Enter)) {
                chosen = cursor.filter(|&row| row < self.n_rows);
            }
        }
        let has_focus = focus.has_focus();
        let mut clicked = false;
        ScrollArea::vertical()
            .id_salt(self.name)
            .auto_shrink([false, false])
            .show_viewport(ui, |ui, viewport| {
                ui.set_height(self.n_rows as f32 * theme::ROW);
                let width = ui.available_width();
                ui.set_width(width);
                let corner = ui.min_rect().min;
                let rect_of = |row: usize| {
                    let at = corner + vec2(0.0, row as f32 * theme::ROW);
                    Rect::from_min_size(at, vec2(width, theme::ROW))
                };
                let first = (viewport.min.y / theme::ROW).floor().max(0.0) as usize;
                let last = (viewport.max.y / theme::ROW).ceil().max(0.0) as usize;
                for index in first..last.min(self.n_rows) {
                    let rect = rect_of(index);
                    let response = ui.interact(rect, id.with(index), Sense::CLICK);
                    let palette = theme::palette(ui);
                    if response.hovered() {
                        ui.painter().rect_filled(rect, 3.0, palette.stripe);
                    }
                    if has_focus && *cursor == Some(index) {
                        let line = egui::Stroke::new(1.0, palette.text_dim);
                        ui.painter()
                            .rect_stroke(rect.shrink(0.5), 3.0, line, StrokeKind::Inside);
                    }
                    let row = ListRow {
                        index,
                        rect,
                        response,
                    };
                    row_ui(ui, &row);
                    if row.response.clicked() {
                        clicked = true;
                        *cursor = Some(index);
                        chosen = Some(index);
                    }
                }
                if let Some(row) = scroll_to.filter(|&row| row < self.n_rows) {
                    let rect = rect_of(row);
                    let shown = viewport.translate(corner.to_vec2());
                    if rect.top() < shown.top() || rect.bottom() > shown.bottom() {
                        ui.scroll_to_rect(rect, None);
                    }
                }
            });
        if clicked {
            ui.memory_mut(|memory| memory.request_focus(id));
        }
        chosen
    }

    /// The row that the keys of this frame move to.
    fn moved_cursor(&self, ui: &Ui, cursor: Option<usize>) -> Option<usize> {
        let last = self.n_rows.checked_sub(1)?;
        let here = cursor.map(|c| c.min(last));
        let steps = [
            (Key::ArrowDown, here.map_or(0, |h| (h + 1).min(last))),
            (Key::ArrowUp, here.unwrap_or(0).saturating_sub(1)),
            (Key::Home, 0),
            (Key::End, last),
            (Key::PageDown, (here.unwrap_or(0) + 8).min(last)),
            (Key::PageUp, here.unwrap_or(0).saturating_sub(8)),
        ];
        ui.input(|input| {
            let hit = steps.into_iter().find(|(key, _)| input.key_pressed(*key));
            hit.map(|(_, to)| to)
        })
    }
}

/// The id of a panel's state between frames.
pub(super) fn memory_id(panel: &str) -> Id {
    Id::unique(("panel", panel))
}

/// A small frameless icon button in a row; dimmed while off.
pub(super) fn switch_ui(
    ui: &Ui,
    id: Id,
    rect: Rect,
    icon: MaterialIcon,
    is_on: bool,
    palette: &Palette,
) -> Response {
    let response = ui.interact(rect, id, Sense::CLICK);
    let colour = if is_on || response.hovered() {
        palette.text
    } else {
        palette.text_dim.gamma_multiply(0.6)
    };
    paint_icon(ui, rect, icon, colour);
    response
}

/// Draws an icon centred in `rect`.
pub fn paint_icon(ui: &Ui, rect: Rect, icon: MaterialIcon, colour: Color32) {
    let font = FontId::new(14.0, icon.font_family());
    ui.painter().text(
        rect.center(),
        Align2::CENTER_CENTER,
        icon.codepoint,
        font,
        colour,
    );
}
