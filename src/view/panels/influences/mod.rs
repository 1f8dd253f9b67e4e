//! Influences: weights as numbers, points by bones, to sort, write, copy and paste.
//!
//! The way of the data: the editor says which points and bones there are -> `cells` draws those in sight -> `keys` turns
//! what is typed into cells that change -> [`Editor::set_weights`], one undo step.

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

/// A cell: row and column of the table, not of what is in sight.
type Cell = (usize, usize);

/// What the panel remembers.
#[derive(Default)]
pub struct InfluencesPanel {
    order: SortOrder,
    /// The cell that keys are about.
    cursor: Option<Cell>,
    /// The other corner of what is chosen.
    anchor: Option<Cell>,
    /// What is being written into the cell.
    writing: Option<Writing>,
    /// The first bone in sight.
    first_column: usize,
    scroll_to: Option<usize>,
    /// Which table the cursor is in.
    model: u64,
    mesh: Option<MeshId>,
}

/// A weight that is being written.
struct Writing {
    text: String,
    /// It was begun by typing, and goes on; else the first key writes over it.
    is_typed: bool,
    /// Whether the field has the focus.
    is_open: bool,
}

/// What was done to the table in a frame.
#[derive(Default)]
struct Done {
    /// A cell that was clicked, and whether that extends what is chosen.
    clicked: Option<(Cell, bool)>,
    /// A cell to write into.
    write: bool,
    /// The end of writing: whether it counts, and where the cursor goes.
    ended: Option<(bool, [isize; 2])>,
    /// A row whose point was clicked.
    row: Option<usize>,
    frame: bool,
    sort: Option<SortBy>,
}

impl InfluencesPanel {
    /// The panel.
    pub fn show_ui(&mut self, ui: &mut Ui, editor: &mut Editor) {
        if !editor.ask_for_influences(self.order) {
            let text = "No mesh here has a skin. With one, this shows how much each bone moves each point, as numbers to \
                        sort, write and paste.";
            let dim = theme::palette(ui).text_dim;
            ui.add(Label::new(RichText::new(text).color(dim)).wrap());
            return;
        }
        let Some(table) = editor.influence_table().cloned() else {
            ui.horizontal(|ui| {
                ui.add(egui::Spinner::new().size(14.0))
                    .widget_info(|| WidgetInfo::labeled(Role::ProgressIndicator, true, "Sorting"));
                ui.label("Gathering the points…");
            });
            return;
        };
        self.follow(&table, editor);
        let width = ui.available_width();
        let n_fit = ((width - POINT - SUM - 16.0) / WEIGHT).floor().max(1.0) as usize;
        self.first_column = self
            .first_column
            .min(table.columns.len().saturating_sub(n_fit));
        self.head_ui(ui, &table, n_fit, editor);
        if table.points.is_empty() {
            let dim = theme::palette(ui).text_dim;
            ui.label(RichText::new("All of its points are hidden.").color(dim));
            return;
        }
        let id = ui.scope_id().with("cells");
        let area = ui.available_rect_before_wrap();
        let focus = ui.interact(area, id, Sense::focusable_noninteractive());
        focus.widget_info(|| WidgetInfo::labeled(Role::Table, true, "Weights"));
        let mut done = Done::default();
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

    /// Keeps the cursor inside of the table.
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

    /// What is shown, and which bones are in sight.
    fn head_ui(&mut self, ui: &mut Ui, table: &InfluenceTable, n_fit: usize, editor: &Editor) {
        let palette = theme::palette(ui);
        let item = editor.document().meshes().get(&table.mesh);
        let name = item.map_or("", |item| item.geometry.name.as_str());
        let n_points = table.points.len();
        let what = if table.is_selection {
            counted(n_points, "selected point")
        } else {
            format!("all {}", counted(n_points, "point"))
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
                    step(ui, icons::ICON_CHEVRON_LEFT, "Bones before", first > 0, before);
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
                        "   Select points to see only theirs."
                    };
                    let text = RichText::new(format!("{name}{what}.{hint}"));
                    ui.add(Label::new(text.color(palette.text_dim)).truncate().selectable(false))
                        .on_hover_text(
                            "Click a cell and type a weight; Enter goes on below. Shift+arrows choose several, Ctrl+C and \
                             Ctrl+V copy and paste as a spreadsheet does. A click on a point selects it, a second one \
                             frames it.",
                        );
                });
            },
        );
    }

    /// Does what was asked for while drawing.
    fn finish(
        &mut self,
        ui: &Ui,
        done: &Done,
        table: &InfluenceTable,
        n_fit: usize,
        id: Id,
        editor: &mut Editor,
    ) {
        let take_focus = || ui.memory_mut(|memory| memory.request_focus(id));
        if let Some((counts, step)) = done.ended {
            self.end_writing(counts, table, editor);
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
            self.begin_writing(None, table, editor);
        }
        if let Some(by) = done.sort {
            // The largest first, then the smallest, then as the mesh has them.
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

    /// The chosen cells: rows and columns, both ends included.
    fn chosen(&self) -> Option<[std::ops::RangeInclusive<usize>; 2]> {
        let cursor = self.cursor?;
        let anchor = self.anchor.unwrap_or(cursor);
        Some([
            cursor.0.min(anchor.0)..=cursor.0.max(anchor.0),
            cursor.1.min(anchor.1)..=cursor.1.max(anchor.1),
        ])
    }
}

/// "1,204": a point as it is called.
fn point_text(point: u32) -> String {
    thousands(point as usize)
}
