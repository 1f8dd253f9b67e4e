//! The cells of the columns of a CSV file, and the channels that they make.

use super::header::{Column, Group, GroupKind, Header, Role};
use super::in_order::InOrder;
use super::number::{Cell, read_cell};
use crate::motion::fault::Fault;
use crate::motion::signal::Signal as _;
use crate::motion::{LabelTrack, Note, Recording, ScalarTrack, Track};
use glam::{DQuat, DVec3};
use std::collections::BTreeMap;

/// How far the length of a quaternion may be off 1.
const QUATERNION_LENGTH: f64 = 1e-2;

/// The cells of one column.
#[derive(Default)]
pub(super) struct Cells {
    /// NaN where there is no number.
    numbers: Vec<f64>,
    n_numbers: usize,
    /// The row and the index in `dictionary` of each word.
    words: Vec<(u32, u32)>,
    dictionary: Vec<String>,
    known: BTreeMap<String, u32>,
    /// The line of the first word.
    first_word: usize,
}

impl Cells {
    /// Reads the next cell.
    pub(super) fn push(&mut self, line: usize, text: &str, decimal_comma: bool) {
        let number = match read_cell(text, decimal_comma) {
            Cell::Number(number) => {
                self.n_numbers += 1;
                number
            }
            Cell::Missing => f64::NAN,
            Cell::Word(word) => {
                self.push_word(line, word);
                f64::NAN
            }
        };
        self.numbers.push(number);
    }

    fn push_word(&mut self, line: usize, word: &str) {
        if self.words.is_empty() {
            self.first_word = line;
        }
        let index = match self.known.get(word) {
            Some(index) => *index,
            None => {
                let index = self.dictionary.len() as u32;
                self.dictionary.push(word.to_owned());
                self.known.insert(word.to_owned(), index);
                index
            }
        };
        self.words.push((self.numbers.len() as u32, index));
    }

    /// Whether all its cells are words.
    fn is_label(&self) -> bool {
        self.n_numbers == 0 && !self.words.is_empty()
    }

    /// An error if half of the cells or more are words, a note if there are fewer: those are missing.
    fn check(&self, i: usize, column: &Column, notes: &mut Vec<Note>) -> Result<(), Fault> {
        let Some((_, first)) = self.words.first() else {
            return Ok(());
        };
        let word = &self.dictionary[*first as usize];
        if self.words.len() >= self.n_numbers {
            let what = format!(
                "\"{word}\" in the column \"{}\" is not a number",
                column.name
            );
            return Err(Fault::cell(self.first_word, i, what));
        }
        let others = match self.words.len() - 1 {
            0 => String::new(),
            n => format!(", and {n} more cells"),
        };
        notes.push(Note {
            line: self.first_word,
            text: format!(
                "\"{word}\" in the column \"{}\" is not a number{others}: missing.",
                column.name
            ),
        });
        Ok(())
    }
}

/// What the columns of a table make of a recording.
pub(super) struct Table<'a> {
    /// Its columns.
    pub(super) header: &'a Header,
    /// Their cells.
    pub(super) cells: Vec<Cells>,
    /// The line of each row.
    pub(super) lines: &'a [u32],
    /// The axes of Euler angles, in the order in which they turn.
    pub(super) order: [usize; 3],
}

impl Table<'_> {
    /// Adds the channels to a recording, in the order of the file; rows as `rows` has them.
    pub(super) fn add_to(mut self, recording: &mut Recording, rows: &InOrder) -> Result<(), Fault> {
        for (i, column) in self.header.columns.iter().enumerate() {
            match column.role {
                Role::Part {
                    group,
                    component: 0,
                } => {
                    self.add_group(&self.header.groups[group], recording, rows)?;
                }
                Role::Time | Role::Unnamed | Role::Part { .. } => {}
                Role::Single => {
                    let cells = std::mem::take(&mut self.cells[i]);
                    add_single(i, column, cells, recording, rows)?;
                }
            }
        }
        Ok(())
    }

    fn add_group(
        &self,
        group: &Group,
        recording: &mut Recording,
        rows: &InOrder,
    ) -> Result<(), Fault> {
        let columns = &self.header.columns;
        for &i in &group.columns {
            self.cells[i].check(i, &columns[i], &mut recording.notes)?;
        }
        let at = |row: usize, component: usize| {
            let i = group.columns[component];
            self.cells[i].numbers[row] * columns[i].factor
        };
        let name = group.name.clone();
        let rows_of_file = 0..self.lines.len();
        match group.kind {
            GroupKind::Position => {
                let values = rows_of_file
                    .map(|row| {
                        let place = DVec3::new(at(row, 0), at(row, 1), at(row, 2));
                        if place.is_finite() { place } else { DVec3::NAN }
                    })
                    .collect();
                let values = rows.apply(values);
                recording.markers.push(Track { name, values });
            }
            GroupKind::Euler => {
                let axes = [DVec3::X, DVec3::Y, DVec3::Z];
                let values = rows_of_file
                    .map(|row| {
                        let turn = |k: usize| {
                            let axis = self.order[k];
                            DQuat::from_axis_angle(axes[axis], at(row, axis))
                        };
                        known(turn(0) * turn(1) * turn(2))
                    })
                    .collect();
                let values = rows.apply(values);
                recording.rotations.push(Track { name, values });
            }
            GroupKind::Quaternion => {
                let mut odd = Vec::new();
                let values = rows_of_file
                    .map(|row| {
                        let q = DQuat::from_xyzw(at(row, 0), at(row, 1), at(row, 2), at(row, 3));
                        let length = q.length();
                        if (length - 1.0).abs() <= QUATERNION_LENGTH {
                            return q * (1.0 / length);
                        }
                        if length.is_finite() {
                            odd.push((self.lines[row] as usize, length));
                        }
                        NO_ROTATION
                    })
                    .collect();
                if let Some((line, length)) = odd.first() {
                    let others = match odd.len() - 1 {
                        0 => String::new(),
                        n => format!(", and {n} more are not 1"),
                    };
                    recording.notes.push(Note {
                        line: *line,
                        text: format!(
                            "The rotation \"{name}\" has the length {length}{others}: missing."
                        ),
                    });
                }
                let values = rows.apply(values);
                recording.rotations.push(Track { name, values });
            }
        }
        Ok(())
    }
}

/// A rotation that is missing.
const NO_ROTATION: DQuat = DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0);

fn known(rotation: DQuat) -> DQuat {
    if rotation.is_valid() {
        rotation
    } else {
        NO_ROTATION
    }
}

fn add_single(
    i: usize,
    column: &Column,
    cells: Cells,
    recording: &mut Recording,
    rows: &InOrder,
) -> Result<(), Fault> {
    let name = column.name.clone();
    if cells.is_label() {
        let mut values = vec![None; cells.numbers.len()];
        for (row, word) in cells.words {
            values[row as usize] = Some(word);
        }
        recording.labels.push(LabelTrack {
            name,
            words: cells.dictionary,
            values: rows.apply(values),
        });
        return Ok(());
    }
    cells.check(i, column, &mut recording.notes)?;
    let mut values = rows.apply(cells.numbers);
    if column.factor != 1.0 {
        for value in &mut values {
            *value *= column.factor;
        }
    }
    recording.scalars.push(ScalarTrack {
        name,
        unit: column.unit.clone(),
        values,
    });
    Ok(())
}
