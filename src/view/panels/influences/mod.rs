//! The Influences panel: weights as numbers, vertices by bones, to sort, edit, copy and paste.
//!
//! Data flow: the editor lists vertices and bones -> `cells` draws the visible ones -> `keys` turns input into changed
//! cells -> [`Editor::set_weights`], one undo step.

mod cells;
mod keys;

use crate::document::MeshId;
use crate::editor::Editor;
use crate::editor::influence_table::{InfluenceTable, SortBy, SortOrder};
use crate::finding::{counted, thousands};
use crate::view::{keymap, theme};
use cells::{POINT, SUM, WEIGHT};
use egui::{Align, Button, Id, Label, Layout, RichText, Role, Sense, Ui, Vec2, WidgetInfo};
use egui_material_icons::{MaterialIcon, icons};

/// A cell: row and column of the whole table.
type Cell = (usize, usize);

/// The state of the panel.
#[derive(Default)]
pub struct InfluencesPanel {
    order: SortOrder,
    /// The cell at the cursor.
    cursor: Option<Cell>,
    /// The opposite corner of the cell selection.
    anchor: Option<Cell>,
    /// The cell edit in progress.
    writing: Option<CellEdit>,
    /// The first visible bone.
    first_column: usize,
    /// What is left of a horizontal scroll, points.
    scrolled: f32,
    scroll_to: Option<usize>,
    /// The table that the cursor belongs to.
    model: u64,
    mesh: Option<MeshId>,
}

/// A weight being edited.
struct CellEdit {
    text: String,
    /// Whether typing started the edit; else the first key overwrites the weight.
    is_typed: bool,
    /// Whether the field has the focus.
    is_open: bool,
}

/// The actions on the table in a frame.
#[derive(Default)]
struct TableActions {
    /// A clicked cell, and whether it extends the cell selection.
    clicked: Option<(Cell, bool)>,
    /// A cell to edit.
    write: bool,
    /// The end of an edit: whether to keep it, and the cursor's next cell.
    ended: Option<(bool, [isize; 2])>,
    /// A row whose vertex was clicked.
    row: Option<usize>,
    frame: bool,
    sort: Option<SortBy>,
}

impl InfluencesPanel {
    /// Draws the panel.
    pub fn show_ui(&mut self, ui: &mut Ui, editor: &mut Editor) {
        if !editor.ask_for_influences(self.order) {
            let text = "This model has no skinned mesh. With one, this table lists the weight of each bone for each \
                        vertex.";
            let dim = theme::palette(ui).text_dim;
            ui.add(Label::new(RichText::new(text).color(dim)).wrap());
            return;
        }
        let Some(table) = editor.influence_table().cloned() else {
            ui.horizontal(|ui| {
                ui.add(egui::Spinner::new().size(14.0))
                    .widget_info(|| WidgetInfo::labeled(Role::ProgressIndicator, true, "Sorting"));
                ui.label("Collecting vertices…");
            });
            return;
        };
        self.follow(&table, editor);
        let width = ui.available_width();
        let n_fit = ((width - POINT - SUM - 16.0) / WEIGHT).floor().max(1.0) as usize;
        self.first_column = self
            .first_column
            .min(table.columns.len().saturating_sub(n_fit));
        self.scroll_columns(ui, table.columns.len().saturating_sub(n_fit));
        self.head_ui(ui, &table, n_fit, editor);
        if table.points.is_empty() {
            let dim = theme::palette(ui).text_dim;
            ui.label(RichText::new("All vertices are hidden.").color(dim));
            return;
        }
        let id = ui.scope_id().with("cells");
        let area = ui.available_rect_before_wrap();
        let focus = ui.interact(area, id, Sense::focusable_noninteractive());
        focus.widget_info(|| WidgetInfo::labeled(Role::Table, true, "Weights"));
        let mut done = TableActions::default();
        if focus.has_focus() && self.writing.is_none() {
            keymap::give_keys_to_cells(ui.ctx(), id);
            if self.cursor.is_none() && !table.columns.is_empty() {
                self.cursor = Some((0, 0));
            }
            self.keys(ui, &table, n_fit, editor);
        }
        let has_focus = focus.has_focus() || self.writing.is_some();
        self.cells_ui(ui, &table, n_fit, has_focus, editor, &mut done);
        self.finish(ui, &done, &table, n_fit, id, editor);
    }

    /// Scrolls the bones with the wheel and Shift, or sideways on a trackpad; `last`: the last first column.
    fn scroll_columns(&mut self, ui: &Ui, last: usize) {
        let area = ui.available_rect_before_wrap();
        let is_over = ui.rect_contains_pointer(area) && self.writing.is_none();
        let sideways = ui.input(|i| i.smooth_scroll_delta().x);
        if !is_over || sideways == 0.0 {
            return;
        }
        self.scrolled -= sideways;
        let steps = (self.scrolled / WEIGHT).trunc();
        self.scrolled -= steps * WEIGHT;
        let next = self.first_column as f32 + steps;
        self.first_column = (next.max(0.0) as usize).min(last);
    }

    /// Keeps the cursor inside the table.
    fn follow(&mut self, table: &InfluenceTable, editor: &Editor) {
        if self.model != editor.model_serial() || self.mesh != Some(table.mesh) {
            let order = self.order;
            *self = Self {
                order,
                model: editor.model_serial(),
                mesh: Some(table.mesh),
                ..Self::default()
            };
        }
        let (n_rows, n_columns) = (table.points.len(), table.columns.len());
        let inside = |cell: &Cell| cell.0 < n_rows && cell.1 < n_columns;
        if !self.cursor.as_ref().is_none_or(inside) {
            self.cursor = None;
            self.writing = None;
        }
        if !self.anchor.as_ref().is_none_or(inside) {
            self.anchor = None;
        }
    }

    /// Draws the row above the table: what it lists, and which bones are visible.
    fn head_ui(&mut self, ui: &mut Ui, table: &InfluenceTable, n_fit: usize, editor: &Editor) {
        let palette = theme::palette(ui);
        let item = editor.document().meshes().get(&table.mesh);
        let name = item.map_or("", |item| item.geometry.name.as_str());
        let n_points = table.points.len();
        let what = if table.is_selection {
            counted(n_points, "selected vertex")
        } else {
            format!("all {}", counted(n_points, "vertex"))
        };
        let name = if name.is_empty() {
            String::new()
        } else {
            format!("{name} · ")
        };
        let (first, n_columns) = (self.first_column, table.columns.len());
        ui.allocate_ui_with_layout(
            Vec2::new(ui.available_width(), theme::ROW),
            Layout::right_to_left(Align::Center),
            |ui| {
                ui.spacing_mut().item_spacing.x = 4.0;
                if n_columns > n_fit {
                    let last = (first + n_fit).min(n_columns);
                    let mut step = |ui: &mut Ui, icon: MaterialIcon, label: &str, on: bool, to: usize| {
                        let button = Button::new(icon.rich_text().size(14.0))
                            .min_size(Vec2::splat(20.0));
                        let response = ui.add_enabled(on, button);
                        response.widget_info(|| WidgetInfo::labeled(Role::Button, on, label));
                        if response.on_hover_text(label).clicked() {
                            self.first_column = to;
                        }
                    };
                    let next = (first + n_fit).min(n_columns - n_fit);
                    step(ui, icons::ICON_CHEVRON_RIGHT, "Next bones", last < n_columns, next);
                    let text = format!("bones {} – {} of {}", first + 1, last, n_columns);
                    ui.label(RichText::new(text).color(palette.text_dim));
                    let before = first.saturating_sub(n_fit);
                    step(ui, icons::ICON_CHEVRON_LEFT, "Previous bones", first > 0, before);
                } else {
                    let text = counted(n_columns, "bone");
                    ui.label(RichText::new(text).color(palette.text_dim));
                }
                if editor.is_gathering_influences() {
                    ui.add(egui::Spinner::new().size(12.0)).widget_info(|| {
                        WidgetInfo::labeled(Role::ProgressIndicator, true, "Sorting")
                    });
                }
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    let hint = if table.is_selection {
                        ""
                    } else {
                        "   Select vertices to list only those."
                    };
                    let text = RichText::new(format!("{name}{what}.{hint}"));
                    ui.add(Label::new(text.color(palette.text_dim)).truncate().selectable(false))
                        .on_hover_text(
                            "Click a cell and type a weight. Enter moves down, Shift+arrows select cells, Ctrl+C and \
                             Ctrl+V copy and paste for spreadsheets. Click a vertex number to select it, click again \
                             to frame it.",
                        );
                });
            },
        );
    }

    /// Applies the actions collected while drawing.
    fn finish(
        &mut self,
        ui: &Ui,
        done: &TableActions,
        table: &InfluenceTable,
        n_fit: usize,
        id: Id,
        editor: &mut Editor,
    ) {
        let take_focus = || ui.memory_mut(|memory| memory.request_focus(id));
        if let Some((counts, step)) = done.ended {
            self.end_edit(counts, table, editor);
            self.step(step, false, table, n_fit);
            take_focus();
        }
        if let Some((cell, extends)) = done.clicked {
            if extends {
                self.anchor = self.anchor.or(self.cursor);
            } else {
                self.anchor = None;
            }
            self.cursor = Some(cell);
            take_focus();
        }
        if done.write {
            self.begin_edit(None, table, editor);
        }
        if let Some(by) = done.sort {
            // Descending, then ascending, then mesh order.
            let order = self.order;
            self.order = match (order.by == by, order.descending, by) {
                (true, descending, SortBy::Point) => SortOrder {
                    by,
                    descending: !descending,
                },
                (true, true, _) => SortOrder {
                    by,
                    descending: false,
                },
                (true, false, _) => SortOrder::default(),
                (false, ..) => SortOrder {
                    by,
                    descending: by != SortBy::Point,
                },
            };
            self.scroll_to = Some(0);
            ui.ctx().request_repaint();
        }
        if let Some(point) = done.row.and_then(|row| table.points.get(row)) {
            editor.select_row(table.mesh, *point);
            if done.frame {
                editor.frame_selected();
            }
            take_focus();
        }
    }

    /// The selected cells: rows and columns, both ends included.
    fn chosen(&self) -> Option<[std::ops::RangeInclusive<usize>; 2]> {
        let cursor = self.cursor?;
        let anchor = self.anchor.unwrap_or(cursor);
        Some([
            cursor.0.min(anchor.0)..=cursor.0.max(anchor.0),
            cursor.1.min(anchor.1)..=cursor.1.max(anchor.1),
        ])
    }
}

/// The displayed vertex number: "1,204".
fn point_text(point: u32) -> String {
    thousands(point as usize)
}
