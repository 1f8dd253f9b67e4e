//! Keyboard and clipboard of the influence table.

use super::{Cell, CellEdit, InfluencesPanel};
use crate::editor::Editor;
use crate::editor::influence_table::{InfluenceTable, parse_cells, parse_weight};
use crate::finding::counted;
use egui::{Event, Key, Ui};
use std::fmt::Write as _;

/// Maximum number of cells that are copied.
const MOST_COPIED: usize = 500_000;
/// Rows of a page.
const PAGE: isize = 8;

impl InfluencesPanel {
    /// Reads the keys of this frame: the table has the focus and no cell is being edited.
    pub(super) fn keys(
        &mut self,
        ui: &Ui,
        table: &InfluenceTable,
        n_fit: usize,
        editor: &mut Editor,
    ) {
        let n_rows = table.points.len() as isize;
        let (events, shift) = ui.input(|i| (i.events.clone(), i.modifiers.shift));
        for event in &events {
            if self.writing.is_some() {
                // With fast typing, text of the same frame belongs to the field about to open.
                self.continue_edit(event, table, n_fit, editor);
                continue;
            }
            match event {
                Event::Key {
                    key,
                    pressed: true,
                    modifiers,
                    ..
                } if !modifiers.command && !modifiers.alt => {
                    let step = match key {
                        Key::ArrowUp => [-1, 0],
                        Key::ArrowDown => [1, 0],
                        Key::ArrowLeft => [0, -1],
                        Key::ArrowRight => [0, 1],
                        Key::PageUp => [-PAGE, 0],
                        Key::PageDown => [PAGE, 0],
                        Key::Home => [-n_rows, 0],
                        Key::End => [n_rows, 0],
                        Key::Enter | Key::F2 => {
                            self.begin_edit(None, table, editor);
                            continue;
                        }
                        Key::Delete | Key::Backspace => {
                            self.clear(table, editor);
                            continue;
                        }
                        _ => continue,
                    };
                    self.step(step, shift, table, n_fit);
                }
                Event::Text(text) => {
                    let begins = |c: char| c.is_ascii_digit() || c == '.' || c == ',';
                    if text.starts_with(begins) {
                        self.begin_edit(Some(text), table, editor);
                    }
                }
                Event::Copy => self.copy(ui, table, editor),
                Event::Paste(text) => self.paste(text, table, editor),
                _ => {}
            }
        }
    }

    /// Moves the cursor; `extends` extends the cell selection.
    pub(super) fn step(
        &mut self,
        [down, right]: [isize; 2],
        extends: bool,
        table: &InfluenceTable,
        n_fit: usize,
    ) {
        let (Some((row, column)), false) = (self.cursor, down == 0 && right == 0) else {
            return;
        };
        let moved =
            |at: usize, by: isize, n: usize| at.saturating_add_signed(by).min(n.saturating_sub(1));
        self.anchor = if extends {
            self.anchor.or(self.cursor)
        } else {
            None
        };
        let cell: Cell = (
            moved(row, down, table.points.len()),
            moved(column, right, table.columns.len()),
        );
        self.cursor = Some(cell);
        self.scroll_to = Some(cell.0);
        if cell.1 < self.first_column {
            self.first_column = cell.1;
        } else if cell.1 >= self.first_column + n_fit {
            self.first_column = cell.1 + 1 - n_fit;
        }
    }

    /// Starts editing the cell at the cursor, with the typed text or else with its weight.
    pub(super) fn begin_edit(
        &mut self,
        typed: Option<&str>,
        table: &InfluenceTable,
        editor: &Editor,
    ) {
        let Some(cell) = self.cursor else {
            return;
        };
        let text = match typed {
            Some(typed) => typed.to_owned(),
            None => number(weight_at(cell, table, editor)),
        };
        self.anchor = None;
        self.writing = Some(CellEdit {
            text,
            is_typed: typed.is_some(),
            is_open: false,
        });
        self.scroll_to = Some(cell.0);
    }

    /// Passes a key to the edited cell before its field has the focus.
    fn continue_edit(
        &mut self,
        event: &Event,
        table: &InfluenceTable,
        n_fit: usize,
        editor: &mut Editor,
    ) {
        match event {
            Event::Text(text) => {
                if let Some(writing) = &mut self.writing {
                    if !writing.is_typed {
                        writing.text.clear();
                        writing.is_typed = true;
                    }
                    writing.text.push_str(text);
                }
            }
            Event::Key {
                key: Key::Enter,
                pressed: true,
                ..
            } => {
                self.end_edit(true, table, editor);
                self.step([1, 0], false, table, n_fit);
            }
            Event::Key {
                key: Key::Escape,
                pressed: true,
                ..
            } => self.end_edit(false, table, editor),
            _ => {}
        }
    }

    /// Ends the edit; `keep` applies it.
    pub(super) fn end_edit(&mut self, counts: bool, table: &InfluenceTable, editor: &mut Editor) {
        if let (Some(writing), true) = (self.writing.take(), counts) {
            self.write(&writing.text, table, editor);
        }
    }

    /// Sets the cell at the cursor to the typed weight.
    fn write(&mut self, text: &str, table: &InfluenceTable, editor: &mut Editor) {
        let Some((row, column)) = self.cursor else {
            return;
        };
        match parse_weight(text) {
            Ok(Some(weight)) => {
                let before = weight_at((row, column), table, editor);
                // The text is shorter than the number: unchanged text leaves the weight unchanged.
                if text.trim() != number(before) {
                    let cell = (table.points[row], table.columns[column].index, weight);
                    editor.set_weights(table.mesh, &[cell], "Edit weight");
                }
            }
            Ok(None) => {}
            Err(why) => editor.tell(format!("The entry {why}. Enter a weight from 0 to 1.")),
        }
    }

    /// Sets the selected weights to 0.
    fn clear(&mut self, table: &InfluenceTable, editor: &mut Editor) {
        let Some([rows, columns]) = self.chosen() else {
            return;
        };
        let mut cells = Vec::new();
        for row in rows {
            for column in columns.clone() {
                if weight_at((row, column), table, editor) > 0.0 {
                    cells.push((table.points[row], table.columns[column].index, 0.0));
                }
            }
        }
        if !cells.is_empty() {
            editor.set_weights(table.mesh, &cells, "Edit weights");
        }
    }

    /// Copies the selected cells to the clipboard as tab-separated text.
    fn copy(&self, ui: &Ui, table: &InfluenceTable, editor: &mut Editor) {
        let Some([rows, columns]) = self.chosen() else {
            return;
        };
        let n_columns = columns.clone().count();
        let n_cells = rows.clone().count() * n_columns;
        if n_cells > MOST_COPIED {
            let most = counted(MOST_COPIED, "weight");
            editor.tell(format!("Too many cells. At most {most} are copied."));
            return;
        }
        let mut text = String::new();
        for row in rows {
            for column in columns.clone() {
                if column > *columns.start() {
                    text.push('\t');
                }
                // CellEdit to a string cannot fail.
                let _ = write!(text, "{}", weight_at((row, column), table, editor));
            }
            text.push('\n');
        }
        ui.ctx().copy_text(text);
        editor.tell(format!("{} copied.", counted(n_cells, "weight")));
    }

    /// Pastes tab-separated text from the cell at the cursor to the right and down.
    fn paste(&mut self, text: &str, table: &InfluenceTable, editor: &mut Editor) {
        let Some([rows, columns]) = self.chosen() else {
            return;
        };
        let pasted = match parse_cells(text) {
            Ok(pasted) => pasted,
            Err(why) => {
                editor.tell(why);
                return;
            }
        };
        let (first_row, first_column) = (*rows.start(), *columns.start());
        let mut cells = Vec::new();
        let mut n_outside = 0;
        let mut put = |row: usize, column: usize, weight: f32| match (
            table.points.get(row),
            table.columns.get(column),
        ) {
            (Some(&point), Some(bone)) => cells.push((point, bone.index, weight)),
            _ => n_outside += 1,
        };
        if let ([only], true) = (&pasted[..], pasted[0].len() == 1) {
            // One number fills the whole cell selection.
            for (row, weight) in rows.zip(std::iter::repeat(only[0])) {
                for column in columns.clone() {
                    if let Some(weight) = weight {
                        put(row, column, weight);
                    }
                }
            }
        } else {
            for (r, line) in pasted.iter().enumerate() {
                for (c, weight) in line.iter().enumerate() {
                    if let Some(weight) = *weight {
                        put(first_row + r, first_column + c, weight);
                    }
                }
            }
        }
        if !cells.is_empty() {
            editor.set_weights(table.mesh, &cells, "Paste weights");
        }
        if n_outside > 0 {
            let verb = if n_outside == 1 { "was" } else { "were" };
            let weights = counted(n_outside, "pasted weight");
            editor.tell(format!("{weights} {verb} outside the table and ignored."));
        }
    }
}

/// The weight in a cell of the table.
pub(super) fn weight_at((row, column): Cell, table: &InfluenceTable, editor: &Editor) -> f32 {
    let item = editor.document().meshes().get(&table.mesh);
    let point = table.points.get(row).copied();
    let bone = table.columns.get(column);
    match (item, point, bone) {
        (Some(item), Some(point), Some(bone)) if (point as usize) < item.influences.len() => {
            item.influences.row(point).weight_of(bone.index)
        }
        _ => 0.0,
    }
}

/// A weight with three decimals.
pub(super) fn number(weight: f32) -> String {
    format!("{weight:.3}")
}
