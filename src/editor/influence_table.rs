//! Weights as numbers: points x bones, in an order, and cells to change.
//!
//! The way of the data: a panel asks each frame ([`Editor::ask_for_influences`]) -> rows and columns are gathered when the
//! selection, the order or the weights are others, on a thread where there are many -> [`Editor::influence_table`].
//! Numbers are read from the document while drawing: the table holds only which ones.
//!
//! Invariant: an edit of cells is one undo step and respects locks and normalising as painting does.
//! Invariant: an edit does not move rows; only another order or selection does.

use super::Editor;
use super::jobs::EditorJob;
use crate::document::session::Normalising;
use crate::document::{Document, Edit, MeshId};
use crate::evaluate::{JobError, JobHandle};
use crate::finding::counted;
use crate::mesh::PointSet;
use crate::skeleton::JointId;
use crate::skinning::{RowRef, Rows};
use crate::task::Task;
use crate::weights::{PaintRules, set_weight};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// More rows than this are gathered on a thread.
const MOST_AT_ONCE: usize = 50_000;
/// Points that are counted together.
const SPAN: usize = 1 << 14;

/// What rows are sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SortBy {
    /// The number of the point.
    #[default]
    Point,
    /// The sum of its weights.
    Sum,
    /// The weight of a bone, by its index in the skin.
    Bone(u16),
}

/// An order of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SortOrder {
    /// By what.
    pub by: SortBy,
    /// The largest first.
    pub descending: bool,
}

/// A bone of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableColumn {
    /// The bone.
    pub joint: JointId,
    /// Its index in the influences of the mesh.
    pub index: u16,
}

/// Which points and bones stand where.
#[derive(Clone, Debug, PartialEq)]
pub struct InfluenceTable {
    /// The mesh.
    pub mesh: MeshId,
    /// The points, in their order.
    pub points: Arc<Vec<u32>>,
    /// Whether they are the selected ones; else all that are not hidden.
    pub is_selection: bool,
    /// The bones that move some of them, in the skin's order, and the active one.
    pub columns: Arc<Vec<TableColumn>>,
    /// Their order.
    pub order: SortOrder,
}

/// Weights that differ less are the same to who types them.
const NEAR: f32 = 1e-4;

/// What rows depend on.
#[derive(Clone, Debug, PartialEq)]
struct RowsKey {
    model: u64,
    mesh: MeshId,
    selected: Option<Arc<PointSet>>,
    hidden: Option<Arc<PointSet>>,
    order: SortOrder,
}

/// What columns depend on, besides the rows.
#[derive(Clone, Copy, Debug, PartialEq)]
struct ColumnsKey {
    revision: u64,
    active: Option<JointId>,
}

/// What was gathered.
#[derive(Debug)]
struct Gathered {
    rows_key: RowsKey,
    columns_key: ColumnsKey,
    points: Arc<Vec<u32>>,
    columns: Vec<TableColumn>,
}

/// The table that is shown, and what it is of.
#[derive(Default)]
pub(super) struct Tables {
    shown: Option<(RowsKey, ColumnsKey, InfluenceTable)>,
    job: Option<JobHandle<Gathered>>,
    /// A selection that the table made: its rows stay.
    own: Option<Arc<PointSet>>,
}

impl Tables {
    /// Another model is open.
    pub(super) fn forget(&mut self) {
        if let Some(job) = self.job.take() {
            job.task().cancel();
        }
        self.shown = None;
        self.own = None;
    }

    fn show(&mut self, gathered: Gathered) {
        let table = InfluenceTable {
            mesh: gathered.rows_key.mesh,
            points: gathered.points,
            is_selection: gathered.rows_key.selected.is_some(),
            columns: Arc::new(gathered.columns),
            order: gathered.rows_key.order,
        };
        self.shown = Some((gathered.rows_key, gathered.columns_key, table));
    }
}

impl Editor {
    /// Brings the table up to date with the selection, the order and the weights; `false`: there is no skin to show.
    ///
    /// Where there are many points the table before stays until the new one is ready.
    pub fn ask_for_influences(&mut self, order: SortOrder) -> bool {
        let Some(mesh) = self.mesh_of_table() else {
            self.table.shown = None;
            return false;
        };
        let session = self.document.session();
        let mut selected = session.selected_points.get(&mesh).cloned();
        let is_own = match (&selected, &self.table.own) {
            (Some(now), Some(own)) => Arc::ptr_eq(now, own),
            _ => false,
        };
        let shown = self.table.shown.as_ref();
        if let (true, Some((known, ..))) = (is_own, shown.filter(|(k, ..)| k.mesh == mesh)) {
            selected.clone_from(&known.selected);
        }
        let rows_key = RowsKey {
            model: self.model_serial,
            mesh,
            selected,
            hidden: session.hidden_points.get(&mesh).cloned(),
            order,
        };
        let columns_key = ColumnsKey {
            revision: self.history.revision(),
            active: session.active_joint,
        };
        let same_rows = shown.filter(|(known, ..)| *known == rows_key);
        let is_busy = self.history.is_open() || self.table.job.is_some();
        match same_rows {
            Some((_, known, _)) if *known == columns_key || is_busy => return true,
            None if self.table.job.is_some() => return true,
            _ => {}
        }
        let points = same_rows.map(|(.., table)| table.points.clone());
        let document = self.document.clone();
        let n_rows = match (&points, &rows_key.selected) {
            (Some(points), _) => points.len(),
            (None, Some(set)) => set.count(),
            (None, None) => document.meshes()[&mesh].influences.len(),
        };
        let gather = move || gather(&document, rows_key, columns_key, points);
        if n_rows <= MOST_AT_ONCE {
            self.table.show(gather());
        } else {
            let work = move |_: &Task| gather();
            let job = self
                .lane
                .submit(EditorJob::InfluenceTable, "Sort vertices", work);
            self.table.job = Some(job);
        }
        true
    }

    /// Takes a table over once it has been gathered.
    pub(super) fn take_influence_table(&mut self) {
        let Some(job) = self.table.job.take_if(|job| job.has_ended()) else {
            return;
        };
        match job.into_result() {
            Err(JobError::Cancelled) => {}
            Err(JobError::Failed) => {
                self.say_error("The vertices could not be sorted.");
            }
            Ok(gathered) => {
                if gathered.rows_key.model == self.model_serial {
                    self.table.show(gathered);
                }
            }
        }
    }

    /// The table, once it was asked for.
    pub fn influence_table(&self) -> Option<&InfluenceTable> {
        self.table.shown.as_ref().map(|(.., table)| table)
    }

    /// Whether rows are being gathered.
    pub fn is_gathering_influences(&self) -> bool {
        self.table.job.is_some()
    }

    /// The mesh whose points are shown: the active one, one with selected points before others.
    fn mesh_of_table(&self) -> Option<MeshId> {
        let session = self.document.session();
        let is_skinned = |mesh: &MeshId| self.document.skin_of_mesh(*mesh).is_some();
        let selected = &session.selected_points;
        let active = session.active_mesh.filter(is_skinned);
        active
            .filter(|mesh| selected.contains_key(mesh))
            .or_else(|| selected.keys().copied().find(is_skinned))
            .or(active)
            .or_else(|| self.document.meshes().keys().copied().find(is_skinned))
    }

    /// Selects a point of the table, whose rows stay as they are.
    pub fn select_row(&mut self, mesh: MeshId, point: u32) {
        self.select_points(mesh, &[point]);
        let session = self.document.session_mut();
        session.active_mesh = Some(mesh);
        self.table.own = session.selected_points.get(&mesh).cloned();
    }

    /// Gives points of a mesh weights of bones, by their index in the skin: one undo step called `label`. Locks and
    /// normalising count as in painting; of several bones of a point each keeps what it was given. Returns how many cells
    /// are not shown as was asked; says so and why.
    pub fn set_weights(&mut self, mesh: MeshId, cells: &[(u32, u16, f32)], label: &str) -> usize {
        self.finish_tool();
        if let Some(why) = self.document.why_not_paintable(mesh) {
            self.say(why);
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
                if (weight_of(joint) - weight).abs() > NEAR {
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
                self.say_error(error.to_string());
                return cells.len();
            }
        }
        if n_refused > 0 {
            self.say(format!(
                "{} of {} did not get the entered value: locked bones keep their weights, and the weights of a vertex \
                 add up to 1.",
                n_refused,
                counted(cells.len(), "weight")
            ));
        }
        let n_unseen = self.document.meshes().get(&mesh).map_or(0, |item| {
            let differs = |(point, joint, weight): &&(u32, u16, f32)| {
                (item.influences.row(*point).weight_of(*joint) - weight).abs() > NEAR
            };
            taken.iter().filter(differs).count()
        });
        if n_unseen > 0 {
            self.say(format!(
                "The layer stores {n_unseen} of {} as entered, but its opacity, mask, mirror or the layers above \
                 change the result.",
                counted(cells.len(), "weight")
            ));
        }
        n_refused + n_unseen
    }
}

/// Writes to `out` the row in which several joints have the weights they are given; `false` where nothing changes.
///
/// With `normalise` the joints that were given nothing share what is left, in their old proportion; where there are none,
/// or nothing is left for them, the given ones are scaled to what locks leave. The smallest of the others go where there
/// are too many.
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
    // Joints keep their places, new ones follow.
    let at = |joint: u16| row.joints.iter().position(|&j| j == joint);
    out.clear();
    out.extend(others.into_iter().chain(given));
    out.retain(|&(joint, weight)| weight > 0.0 || is_locked(joint));
    out.sort_by_key(|&(joint, _)| at(joint).unwrap_or(usize::MAX));
    !out.iter().copied().eq(row.iter())
}

/// Rows in their order, unless they are known, and the bones that move some of them.
fn gather(
    document: &Document,
    rows_key: RowsKey,
    columns_key: ColumnsKey,
    points: Option<Arc<Vec<u32>>>,
) -> Gathered {
    let mesh = rows_key.mesh;
    let Some(item) = document.meshes().get(&mesh) else {
        return Gathered {
            rows_key,
            columns_key,
            points: Arc::default(),
            columns: Vec::new(),
        };
    };
    let influences = &item.influences;
    let points = points.unwrap_or_else(|| {
        let n_points = influences.len();
        let mut set = match &rows_key.selected {
            Some(selected) => PointSet::clone(selected),
            None => PointSet::full(n_points),
        };
        if let Some(hidden) = &rows_key.hidden {
            set.subtract(hidden);
        }
        let points = set.iter().filter(|&p| (p as usize) < n_points).collect();
        Arc::new(sorted(points, rows_key.order, |p| influences.row(p)))
    });
    let skin = document.skin_of_mesh(mesh);
    let joints = skin.map_or(&[][..], |(_, skin)| &skin.joints);
    let spans: Vec<Vec<bool>> = points
        .par_chunks(SPAN)
        .map(|span| {
            let mut moves = vec![false; joints.len()];
            for (joint, weight) in span.iter().flat_map(|&p| influences.row(p).iter()) {
                if let Some(slot) = moves.get_mut(usize::from(joint)) {
                    *slot |= weight > 0.0;
                }
            }
            moves
        })
        .collect();
    let moves = |index: usize| spans.iter().any(|span| span[index]);
    let columns = joints
        .iter()
        .enumerate()
        .filter(|&(i, joint)| columns_key.active == Some(*joint) || moves(i))
        .map(|(i, &joint)| TableColumn {
            joint,
            index: i as u16,
        })
        .collect();
    Gathered {
        rows_key,
        columns_key,
        points,
        columns,
    }
}

/// `points`, ascending, in an order; equal ones by their number.
fn sorted<'a>(
    points: Vec<u32>,
    order: SortOrder,
    row: impl Fn(u32) -> RowRef<'a> + Sync,
) -> Vec<u32> {
    let value = |point: u32| match order.by {
        SortBy::Point => 0.0,
        SortBy::Sum => row(point).weights.iter().sum(),
        SortBy::Bone(joint) => row(point).weight_of(joint),
    };
    if order.by == SortBy::Point {
        let mut points = points;
        if order.descending {
            points.reverse();
        }
        return points;
    }
    let mut keyed: Vec<(f32, u32)> = points.into_par_iter().map(|p| (value(p), p)).collect();
    keyed.par_sort_unstable_by(|a, b| {
        let by_value = if order.descending {
            b.0.total_cmp(&a.0)
        } else {
            a.0.total_cmp(&b.0)
        };
        by_value.then(a.1.cmp(&b.1))
    });
    keyed.into_iter().map(|(_, point)| point).collect()
}

/// Numbers of a spreadsheet as it puts them on the clipboard: rows of cells, an empty cell is none. An error is a
/// sentence that says which cell is no weight.
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
        return Err("The clipboard holds no numbers.".to_owned());
    }
    Ok(rows)
}

/// A weight as it is typed: 0.25, ,25 or 25 %. `None`: nothing was written.
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
        assert!(why.starts_with("Row 1, column 2 of what was pasted is no number: \"abc\""));
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
        // A block of whole rows, whatever was there.
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

    #[test]
    fn equal_values_stay_in_the_order_of_points() {
        let rows: Rows = [0.5, 0.25, 0.5, 0.75]
            .map(|w| vec![(0, w)])
            .into_iter()
            .collect();
        let by = |by, descending| {
            let order = SortOrder { by, descending };
            sorted(vec![0, 1, 2, 3], order, |p| rows.row(p as usize))
        };
        assert_eq!(by(SortBy::Bone(0), false), [1, 0, 2, 3]);
        assert_eq!(by(SortBy::Bone(0), true), [3, 0, 2, 1]);
        assert_eq!(by(SortBy::Sum, false), [1, 0, 2, 3]);
        assert_eq!(by(SortBy::Point, true), [3, 2, 1, 0]);
    }
}
