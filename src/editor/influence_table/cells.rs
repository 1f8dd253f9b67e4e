//! Cells of the influence table: parsing typed or pasted weights, and the edit that sets them.

use crate::document::session::Normalising;
use crate::document::{Edit, MeshId};
use crate::editor::Editor;
use crate::finding::counted;
use crate::mesh::PointSet;
use crate::skinning::{RowRef, Rows};
use crate::weights::{PaintRules, set_weight};
use std::collections::BTreeMap;

/// The tolerance for typed weights.
const WEIGHT_TOLERANCE: f32 = 1e-4;

impl Editor {
    /// Sets weights of points of a mesh, with bones by index in the skin: one undo step called `label`. Locks and
    /// normalisation apply as in painting; several bones of one point each keep their given weight. Returns the number
    /// of cells that do not show the given value; a notice gives the reason.
    pub fn set_weights(&mut self, mesh: MeshId, cells: &[(u32, u16, f32)], label: &str) -> usize {
        self.finish_tool();
        if let Some(why) = self.document.why_not_paintable(mesh) {
            self.notify(why);
            return cells.len();
        }
        let Some(rows) = self.document.paint_rows(mesh) else {
            return cells.len();
        };
        let n_joints = self.document.n_skin_joints(mesh).unwrap_or(0);
        let brush = &self.document.session().brush;
        let normalise = brush.normalise != Normalising::Off;
        let max_influences = brush.max_influences;
        let locked = self.document.skin_locks(mesh);
        let mut by_point: BTreeMap<u32, Vec<(u16, f32)>> = BTreeMap::new();
        let is_there =
            |point: u32, joint: u16| (point as usize) < rows.len() && usize::from(joint) < n_joints;
        let mut n_refused = 0;
        for &(point, joint, weight) in cells {
            if is_there(point, joint) && weight.is_finite() {
                by_point.entry(point).or_default().push((joint, weight));
            } else {
                n_refused += 1;
            }
        }
        let mut points = Vec::new();
        let mut new_rows = Rows::default();
        let mut out = Vec::new();
        let mut taken = Vec::new();
        for (point, cells) in by_point {
            let mut row: Vec<(u16, f32)> = rows.row(point).iter().collect();
            let rules = PaintRules {
                locked: &locked,
                normalise,
                max_influences,
            };
            let changed = match cells[..] {
                [(joint, weight)] => set_weight(rows.row(point), joint, weight, &rules, &mut out),
                _ => set_several(rows.row(point), &cells, &rules, &mut out),
            };
            if changed {
                row.clone_from(&out);
            }
            let weight_of = |joint: u16| {
                let found = row.iter().find(|(j, _)| *j == joint);
                found.map_or(0.0, |(_, weight)| *weight)
            };
            for (joint, weight) in cells {
                if (weight_of(joint) - weight).abs() > WEIGHT_TOLERANCE {
                    n_refused += 1;
                } else {
                    taken.push((point, joint, weight));
                }
            }
            if changed {
                points.push(point);
                new_rows.push_pairs(row);
            }
        }
        if !points.is_empty() {
            let edit = self.document.paint_edit(mesh, points, new_rows);
            if let Edit::Influences(edit) = &edit {
                let left_alone: PointSet = edit.left_alone.iter().copied().collect();
                let n_taken = taken.len();
                taken.retain(|(point, ..)| !left_alone.contains(*point));
                n_refused += n_taken - taken.len();
            }
            if let Err(error) = self.apply(edit, label) {
                self.notify_error(error.to_string());
                return cells.len();
            }
        }
        if n_refused > 0 {
            self.notify(format!(
                "{} of {} did not get the entered value: locked bones keep their weights, and the weights of a vertex \
                 add up to 1.",
                n_refused,
                counted(cells.len(), "weight")
            ));
        }
        let n_unseen = self.document.meshes().get(&mesh).map_or(0, |item| {
            let differs = |(point, joint, weight): &&(u32, u16, f32)| {
                (item.influences.row(*point).weight_of(*joint) - weight).abs() > WEIGHT_TOLERANCE
            };
            taken.iter().filter(differs).count()
        });
        if n_unseen > 0 {
            self.notify(format!(
                "The layer stores {n_unseen} of {} as entered, but its opacity, mask, mirror or the layers above \
                 change the result.",
                counted(cells.len(), "weight")
            ));
        }
        n_refused + n_unseen
    }
}

/// Writes to `out` the row with the given weights of several joints; `false` if nothing changes.
///
/// With `normalise`, the other joints share the remaining weight in their previous proportion. If there are none, or
/// nothing remains, the given weights are scaled to what locks leave. The smallest of the other weights are removed if
/// there are too many influences.
fn set_several(
    row: RowRef<'_>,
    cells: &[(u16, f32)],
    rules: &PaintRules<'_>,
    out: &mut Vec<(u16, f32)>,
) -> bool {
    let is_locked = |joint: u16| rules.locked.get(usize::from(joint)) == Some(&true);
    let mut given: Vec<(u16, f32)> = Vec::with_capacity(cells.len());
    for &(joint, weight) in cells.iter().filter(|cell| !is_locked(cell.0)) {
        match given.iter_mut().find(|known| known.0 == joint) {
            Some(known) => known.1 = weight,
            None => given.push((joint, weight)),
        }
    }
    if given.is_empty() {
        return false;
    }
    let is_given = |joint: u16| cells.iter().any(|cell| cell.0 == joint);
    let mut others: Vec<(u16, f32)> = row
        .iter()
        .filter(|&(joint, weight)| is_locked(joint) || weight > 0.0 && !is_given(joint))
        .collect();
    let n_given = given.iter().filter(|cell| cell.1 > 0.0).count();
    while others.len() + n_given > rules.max_influences.max(1) {
        let free = others.iter().enumerate().filter(|(_, o)| !is_locked(o.0));
        let smallest = free.min_by(|a, b| a.1.1.total_cmp(&b.1.1)).map(|(i, _)| i);
        match smallest {
            Some(i) => others.remove(i),
            None => break,
        };
    }
    if rules.normalise {
        let sum = |locked: bool| -> f32 {
            let of = others.iter().filter(|o| is_locked(o.0) == locked);
            of.map(|o| o.1).sum()
        };
        let room = (1.0 - sum(true)).max(0.0);
        let rest = sum(false);
        let asked: f32 = given.iter().map(|cell| cell.1).sum();
        let is_exact = (asked - room).abs() <= 1e-6;
        if !is_exact && (asked > room || rest <= 0.0) {
            if asked <= 0.0 {
                return false;
            }
            for cell in &mut given {
                cell.1 *= room / asked;
            }
        }
        let left = if is_exact {
            0.0
        } else {
            (room - asked).max(0.0)
        };
        for other in others.iter_mut().filter(|o| !is_locked(o.0)) {
            other.1 *= left / rest;
        }
    }
    // Joints keep their order; new ones are appended.
    let at = |joint: u16| row.joints.iter().position(|&j| j == joint);
    out.clear();
    out.extend(others.into_iter().chain(given));
    out.retain(|&(joint, weight)| weight > 0.0 || is_locked(joint));
    out.sort_by_key(|&(joint, _)| at(joint).unwrap_or(usize::MAX));
    !out.iter().copied().eq(row.iter())
}

/// Parses the text that a spreadsheet copies: rows of cells, where an empty cell is `None`. The error is a sentence
/// that names the invalid cell.
pub fn parse_cells(text: &str) -> Result<Vec<Vec<Option<f32>>>, String> {
    let lines = text.trim_end_matches(['\n', '\r']).lines();
    let mut rows = Vec::new();
    for (r, line) in lines.enumerate() {
        let mut row = Vec::new();
        for (c, cell) in line.split('\t').enumerate() {
            row.push(parse_weight(cell).map_err(|why| {
                format!(
                    "Row {}, column {} of the pasted cells {why}. Nothing was pasted.",
                    r + 1,
                    c + 1
                )
            })?);
        }
        rows.push(row);
    }
    if rows.is_empty() {
        return Err("The clipboard contains no numbers.".to_owned());
    }
    Ok(rows)
}

/// Parses a typed weight: 0.25, ,25 or 25 %. `None` for empty text.
pub fn parse_weight(text: &str) -> Result<Option<f32>, String> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let (number, factor) = match text.strip_suffix('%') {
        Some(number) => (number.trim_end(), 0.01),
        None => (text, 1.0),
    };
    let value: Option<f32> = number.replace(',', ".").parse().ok();
    match value.map(|value| value * factor) {
        Some(weight) if (0.0..=1.0).contains(&weight) => Ok(Some(weight)),
        Some(_) => Err(format!("is not between 0 and 1: \"{text}\"")),
        None => Err(format!("is not a number: \"{text}\"")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_spreadsheet_copies_is_read() {
        let cells = parse_cells("0.5\t,25\r\n\t75 %\r\n").unwrap();
        assert_eq!(cells, [[Some(0.5), Some(0.25)], [None, Some(0.75)]]);
        let why = parse_cells("0.5\tabc").unwrap_err();
        assert!(why.starts_with("Row 1, column 2 of the pasted cells is not a number: \"abc\""));
        assert!(parse_cells("1\n2").unwrap_err().contains("Row 2, column 1"));
        assert!(parse_cells("NaN").is_err() && parse_cells("").is_err());
    }

    #[test]
    fn several_weights_of_a_point_are_as_given_and_the_others_share_the_rest() {
        let set = |row: &[(u16, f32)], cells: &[(u16, f32)], locked: &[bool]| {
            let rows: Rows = [row.to_vec()].into_iter().collect();
            let rules = PaintRules {
                locked,
                normalise: true,
                max_influences: 3,
            };
            let mut out = Vec::new();
            set_several(rows.row(0), cells, &rules, &mut out).then_some(out)
        };
        // A block of whole rows, regardless of the previous weights.
        let whole = set(&[(0, 1.0)], &[(0, 0.25), (1, 0.75)], &[]);
        assert_eq!(whole.unwrap(), [(0, 0.25), (1, 0.75)]);
        let shared = set(&[(2, 0.8), (0, 0.2)], &[(0, 0.25), (1, 0.25)], &[]);
        assert_eq!(shared.unwrap(), [(2, 0.5), (0, 0.25), (1, 0.25)]);
        let scaled = set(&[(0, 1.0)], &[(0, 0.5), (1, 0.5), (2, 1.0)], &[]);
        assert_eq!(scaled.unwrap(), [(0, 0.25), (1, 0.25), (2, 0.5)]);
        let locked = [false, false, true];
        let kept = set(
            &[(2, 0.5), (0, 0.5)],
            &[(2, 0.9), (0, 0.1), (1, 0.4)],
            &locked,
        );
        assert_eq!(kept.unwrap(), [(2, 0.5), (0, 0.1), (1, 0.4)]);
        assert_eq!(
            set(&[(0, 1.0)], &[(0, 0.0), (1, 0.0)], &[]),
            None,
            "no one to take it"
        );
        assert_eq!(set(&[(2, 1.0)], &[(2, 0.5), (2, 0.1)], &locked), None);
    }
}
