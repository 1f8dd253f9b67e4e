//! The cells of the influence table: bones over their columns, vertex and sum before each row.

use super::keys::number;
use super::{InfluencesPanel, TableActions, point_text};
use crate::editor::Editor;
use crate::editor::influence_table::{InfluenceTable, SortBy};
use crate::view::joint_colour::joint_colour;
use crate::view::middle;
use crate::view::theme;
use crate::weights::repair::SUM_TOLERANCE;
use egui::{
    Align2, Color32, FontId, Key, Rect, Response, Role, Sense, Stroke, StrokeKind, TextEdit,
    TextStyle, Ui, Vec2, WidgetInfo, pos2,
};
use egui_extras::{Column, TableBuilder};
use egui_material_icons::{MaterialIcon, icons};

/// Widths of the columns, points.
pub(super) const POINT: f32 = 76.0;
pub(super) const SUM: f32 = 64.0;
pub(super) const WEIGHT: f32 = 92.0;
/// Height of a row. Whole and even, so that the positions of distant rows are exact.
const ROW: f32 = 20.0;

impl InfluencesPanel {
    /// Draws the visible rows and columns.
    pub(super) fn cells_ui(
        &mut self,
        ui: &mut Ui,
        table: &InfluenceTable,
        n_fit: usize,
        has_focus: bool,
        editor: &Editor,
        done: &mut TableActions,
    ) {
        let shown = self.first_column..(self.first_column + n_fit).min(table.columns.len());
        let room = ui.available_height() - ROW;
        if room < 8.0 {
            return;
        }
        ui.spacing_mut().item_spacing = Vec2::ZERO;
        let mut builder = TableBuilder::new(ui)
            .id_salt("influences")
            .sense(Sense::hover())
            .column(Column::exact(POINT))
            .column(Column::exact(SUM))
            .columns(Column::exact(WEIGHT).clip(true), shown.len())
            .min_scrolled_height(0.0)
            .max_scroll_height(room)
            .auto_shrink([false, false])
            .animate_scrolling(false);
        if let Some(row) = self.scroll_to.take() {
            builder = builder.scroll_to_row(row, None);
        }
        let columns = table.columns.clone();
        let order = self.order;
        let sorted = |by: SortBy| (order.by == by).then_some(order.descending);
        builder
            .header(ROW, |mut header| {
                header.col(|ui| {
                    let by = SortBy::Point;
                    if title_ui(ui, "Vertex", sorted(by), None, false, "Vertex").clicked() {
                        done.sort = Some(by);
                    }
                });
                header.col(|ui| {
                    let by = SortBy::Sum;
                    if title_ui(ui, "Sum", sorted(by), None, false, "Sum of weights").clicked() {
                        done.sort = Some(by);
                    }
                });
                for bone in &columns[shown.clone()] {
                    header.col(|ui| {
                        let document = editor.document();
                        let session = document.session();
                        let label = document.skeleton().label(bone.joint);
                        let is_locked = document.locked().contains(&bone.joint);
                        let look = Bone {
                            colour: joint_colour(session, bone.joint),
                            is_active: session.active_joint == Some(bone.joint),
                        };
                        let spoken = if is_locked {
                            format!("{label} (locked)")
                        } else {
                            label.clone()
                        };
                        let by = SortBy::Bone(bone.index);
                        let response =
                            title_ui(ui, &label, sorted(by), Some(&look), is_locked, &spoken);
                        if response.clicked() {
                            done.sort = Some(by);
                        }
                    });
                }
            })
            .body(|body| {
                body.rows(ROW, table.points.len(), |mut row| {
                    let r = row.index();
                    let point = table.points[r];
                    let item = editor.document().meshes().get(&table.mesh);
                    let item = item.filter(|item| (point as usize) < item.influences.len());
                    let Some(item) = item else {
                        return;
                    };
                    let weights = item.influences.row(point);
                    row.col(|ui| point_ui(ui, r, point, table, editor, done));
                    row.col(|ui| {
                        let sum: f32 = weights.weights.iter().sum();
                        sum_ui(ui, r, point, sum);
                    });
                    for (c, bone) in shown.clone().zip(&columns[shown.clone()]) {
                        row.col(|ui| {
                            if self.writing.is_some() && self.cursor == Some((r, c)) {
                                self.field_ui(ui, point, done);
                                return;
                            }
                            let chosen = self.chosen().is_some_and(|[rows, columns]| {
                                rows.contains(&r) && columns.contains(&c)
                            });
                            let cell = Drawn {
                                weight: weights.weight_of(bone.index),
                                colour: joint_colour(editor.document().session(), bone.joint),
                                is_locked: editor.document().locked().contains(&bone.joint),
                                is_cursor: has_focus && self.cursor == Some((r, c)),
                                is_chosen: chosen && (has_focus || self.anchor.is_some()),
                            };
                            let label = editor.document().skeleton().label(bone.joint);
                            let response = cell_ui(ui, (r, c), &cell, point, &label);
                            if response.clicked() {
                                let extends = ui.input(|i| i.modifiers.shift);
                                done.clicked = Some(((r, c), extends));
                            }
                            if response.double_clicked() {
                                done.write = true;
                            }
                        });
                    }
                });
            });
        // An edit ends when its cell scrolls out of view or loses its field.
        if self.writing.as_ref().is_some_and(|writing| writing.is_open)
            && done.ended.is_none()
            && !ui.ctx().text_edit_focused()
        {
            done.ended = Some((true, [0, 0]));
        }
    }

    /// The text field of the edited cell.
    fn field_ui(&mut self, ui: &mut Ui, point: u32, done: &mut TableActions) {
        let Some(writing) = &mut self.writing else {
            return;
        };
        let rect = ui.max_rect().shrink(1.0);
        // As high as its row.
        ui.spacing_mut().interact_size.y = rect.height();
        let field = TextEdit::singleline(&mut writing.text)
            .font(FontId::proportional(12.0))
            .margin(egui::Margin::symmetric(4, 0))
            .align(Align2::RIGHT_CENTER)
            .desired_width(rect.width() - 8.0);
        let response = ui.put(rect, field);
        let label = format!("Weight of vertex {point}");
        response.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, &label));
        if !writing.is_open {
            writing.is_open = true;
            response.request_focus();
            let end = egui::text::CCursor::new(writing.text.chars().count());
            if let Some(mut state) = egui::TextEdit::load_state(ui.ctx(), response.id) {
                let all = egui::text::CCursorRange::two(egui::text::CCursor::new(0), end);
                // Typed text is continued; an opened weight is overwritten.
                let range = if writing.is_typed {
                    egui::text::CCursorRange::one(end)
                } else {
                    all
                };
                state.cursor.set_char_range(Some(range));
                state.store(ui.ctx(), response.id);
            }
            ui.ctx().request_repaint();
            return;
        }
        if response.lost_focus() {
            let pressed = |key| ui.input(|i| i.key_pressed(key));
            let shift = ui.input(|i| i.modifiers.shift);
            let way = if shift { -1 } else { 1 };
            done.ended = Some(if pressed(Key::Escape) {
                (false, [0, 0])
            } else if pressed(Key::Enter) {
                (true, [way, 0])
            } else if pressed(Key::Tab) {
                (true, [0, way])
            } else {
                (true, [0, 0])
            });
        }
    }
}

/// The appearance of a bone's column title.
struct Bone {
    colour: Color32,
    is_active: bool,
}

/// The title of a column; a click sorts.
fn title_ui(
    ui: &mut Ui,
    title: &str,
    sorted: Option<bool>,
    bone: Option<&Bone>,
    is_locked: bool,
    spoken: &str,
) -> Response {
    let palette = theme::palette(ui);
    let rect = ui.max_rect();
    let response = ui.interact(rect, ui.scope_id().with("title"), Sense::click());
    if response.hovered() {
        ui.painter().rect_filled(rect, 2.0, palette.button_hovered);
    }
    let focus = response.has_focus();
    if focus {
        let stroke = ui.visuals().selection.stroke;
        ui.painter()
            .rect_stroke(rect.shrink(1.0), 2.0, stroke, StrokeKind::Inside);
    }
    let middle = rect.center().y;
    let mut left = rect.left() + 6.0;
    let mut right = rect.right() - 6.0;
    let mut colour = palette.text_dim;
    if let Some(bone) = bone {
        let swatch = Rect::from_center_size(pos2(left + 4.0, middle), Vec2::splat(8.0));
        ui.painter().rect_filled(swatch, 2.0, bone.colour);
        left += 13.0;
        if bone.is_active {
            colour = palette.accent;
        }
    }
    let mut icon_ui = |icon: MaterialIcon| {
        let font = FontId::new(12.0, icon.font_family());
        let at = pos2(right, middle);
        let drawn = ui.painter().text(
            at,
            Align2::RIGHT_CENTER,
            icon.codepoint,
            font,
            palette.text_dim,
        );
        right = drawn.left() - 3.0;
    };
    if let Some(descending) = sorted {
        icon_ui(if descending {
            icons::ICON_ARROW_DOWNWARD
        } else {
            icons::ICON_ARROW_UPWARD
        });
    }
    if is_locked {
        icon_ui(icons::ICON_LOCK);
    }
    let galley = middle::body(ui, title, (right - left).max(8.0));
    let at = pos2(left, middle - 0.5 * galley.size().y);
    ui.painter()
        .galley_with_override_text_color(at, galley, colour);
    let way = match sorted {
        Some(true) => ", largest first",
        Some(false) => ", smallest first",
        None => "",
    };
    let label = format!("{spoken}{way}");
    response.widget_info(|| WidgetInfo::labeled(Role::ColumnHeader, true, &label));
    response.on_hover_text(format!("{label}\nClick to sort."))
}

/// The vertex number; a click selects the vertex.
fn point_ui(
    ui: &mut Ui,
    row: usize,
    point: u32,
    table: &InfluenceTable,
    editor: &Editor,
    done: &mut TableActions,
) {
    let palette = theme::palette(ui);
    let rect = ui.max_rect();
    let response = ui.interact(rect, ui.scope_id().with(("point", row)), Sense::CLICK);
    let selected = &editor.document().session().selected_points;
    let is_selected = selected
        .get(&table.mesh)
        .is_some_and(|set| set.contains(point));
    // If all rows are selected, the highlight carries no information.
    let is_marked = is_selected
        && (!table.is_selection || selected.values().map(|s| s.count()).sum::<usize>() == 1);
    if is_marked {
        ui.painter().rect_filled(rect, 2.0, palette.selected);
    } else if response.hovered() {
        ui.painter().rect_filled(rect, 2.0, palette.stripe);
    }
    let text = point_text(point);
    right_ui(ui, rect, &text, palette.text_dim);
    let label = format!("Vertex {point}");
    response.widget_info(|| WidgetInfo::selected(Role::RowHeader, true, is_selected, &label));
    if response.clicked() {
        done.row = Some(row);
        done.frame = response.double_clicked();
    }
    response.on_hover_text("Click to select the vertex, click again to frame it.");
}

/// The sum of a vertex's weights.
fn sum_ui(ui: &mut Ui, row: usize, point: u32, sum: f32) {
    let palette = theme::palette(ui);
    let rect = ui.max_rect();
    let response = ui.interact(rect, ui.scope_id().with(("sum", row)), Sense::hover());
    let is_off = (sum - 1.0).abs() > SUM_TOLERANCE;
    let colour = if is_off {
        palette.error
    } else {
        palette.text_dim
    };
    right_ui(ui, rect, &number(sum), colour);
    if is_off {
        let icon = icons::ICON_WARNING;
        let font = FontId::new(12.0, icon.font_family());
        let at = pos2(rect.left() + 6.0, rect.center().y);
        ui.painter()
            .text(at, Align2::LEFT_CENTER, icon.codepoint, font, colour);
    }
    let note = if is_off { ", not 1" } else { "" };
    let label = format!("Vertex {point}, sum {}{note}", number(sum));
    response.widget_info(|| WidgetInfo::labeled(Role::Cell, true, &label));
}

/// The appearance of a cell.
struct Drawn {
    weight: f32,
    colour: Color32,
    is_locked: bool,
    is_cursor: bool,
    is_chosen: bool,
}

fn cell_ui(ui: &mut Ui, at: (usize, usize), cell: &Drawn, point: u32, bone: &str) -> Response {
    let palette = theme::palette(ui);
    let rect = ui.max_rect();
    let response = ui.interact(rect, ui.scope_id().with(("cell", at)), Sense::CLICK);
    let painter = ui.painter();
    if cell.is_chosen {
        painter.rect_filled(rect, 0.0, palette.selected);
    } else if response.hovered() {
        painter.rect_filled(rect, 0.0, palette.stripe);
    }
    if cell.weight > 0.0 {
        // The bar is as long as the weight, so that columns read at a glance.
        let room = rect.shrink2(Vec2::new(2.0, 3.0));
        let width = room.width() * cell.weight.min(1.0);
        let bar = Rect::from_min_size(room.min, Vec2::new(width, room.height()));
        painter.rect_filled(bar, 2.0, cell.colour.gamma_multiply(0.28));
    }
    if cell.is_cursor {
        let line = Stroke::new(1.5, palette.accent);
        painter.rect_stroke(rect.shrink(0.75), 2.0, line, StrokeKind::Inside);
    }
    let (text, colour) = match (cell.weight > 0.0, cell.is_locked) {
        (true, false) => (number(cell.weight), palette.text),
        (true, true) => (number(cell.weight), palette.text_dim),
        (false, _) => ("·".to_owned(), palette.text_dim),
    };
    right_ui(ui, rect, &text, colour);
    let lock = if cell.is_locked { ", locked" } else { "" };
    let label = format!("Vertex {point}, {bone} {}{lock}", number(cell.weight));
    response.widget_info(|| WidgetInfo::selected(Role::Cell, true, cell.is_cursor, &label));
    response
}

/// Draws a number right-aligned in its cell.
fn right_ui(ui: &Ui, rect: Rect, text: &str, colour: Color32) {
    let font = TextStyle::Body.resolve(ui.style());
    let at = pos2(rect.right() - 8.0, rect.center().y);
    ui.painter()
        .text(at, Align2::RIGHT_CENTER, text, font, colour);
}
