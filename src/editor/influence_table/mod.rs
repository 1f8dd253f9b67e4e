//! The influence table: sorted weights of points by bones, with editable cells.
//!
//! Data flow: a panel requests the table in each frame ([`Editor::ask_for_influences`]) -> rows and columns are
//! gathered when the selection, the order or the weights change, on a thread if there are many ->
//! [`Editor::influence_table`]. The table holds only which points and bones it shows; their weights are read from the
//! document while drawing.
//!
//! Invariant: an edit of cells is one undo step and respects locks and normalisation as painting does.
//! Invariant: an edit does not reorder rows; only a change of the order or the selection does.

mod cells;

pub use cells::{parse_cells, parse_weight};

use super::Editor;
use super::jobs::EditorJob;
use crate::document::{Document, MeshId};
use crate::evaluate::{JobError, JobHandle};
use crate::mesh::PointSet;
use crate::skeleton::JointId;
use crate::skinning::RowRef;
use crate::task::Task;
use rayon::prelude::*;
use std::sync::Arc;

/// More rows than this are gathered on a thread.
const MAX_AT_ONCE: usize = 50_000;
/// Points that are counted in one task.
const POINTS_PER_TASK: usize = 1 << 14;

/// The sort key of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SortBy {
    /// The index of the point.
    #[default]
    Point,
    /// The sum of its weights.
    Sum,
    /// The weight of a bone, by its index in the skin.
    Bone(u16),
}

/// The order of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SortOrder {
    /// The sort key.
    pub by: SortBy,
    /// Largest first.
    pub descending: bool,
}

/// A column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableColumn {
    /// The bone.
    pub joint: JointId,
    /// Its index in the influences of the mesh.
    pub index: u16,
}

/// The points and bones of the table, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct InfluenceTable {
    /// The mesh.
    pub mesh: MeshId,
    /// The points, in row order.
    pub points: Arc<Vec<u32>>,
    /// Whether the rows are the selected points; otherwise all visible ones.
    pub is_selection: bool,
    /// The bones that influence some of them, and the active bone: those with most weight first. Edits keep their order.
    pub columns: Arc<Vec<TableColumn>>,
    /// The row order.
    pub order: SortOrder,
}

/// The inputs of the rows.
#[derive(Clone, Debug, PartialEq)]
struct RowsKey {
    model: u64,
    mesh: MeshId,
    selected: Option<Arc<PointSet>>,
    hidden: Option<Arc<PointSet>>,
    order: SortOrder,
}

/// The inputs of the columns, besides the rows.
#[derive(Clone, Copy, Debug, PartialEq)]
struct ColumnsKey {
    revision: u64,
    active: Option<JointId>,
}

/// The result of gathering.
#[derive(Debug)]
struct Gathered {
    rows_key: RowsKey,
    columns_key: ColumnsKey,
    points: Arc<Vec<u32>>,
    columns: Vec<TableColumn>,
}

/// The shown table and its inputs.
#[derive(Default)]
pub(super) struct Tables {
    shown: Option<(RowsKey, ColumnsKey, InfluenceTable)>,
    job: Option<JobHandle<Gathered>>,
    /// A selection made in the table, which keeps its rows.
    own: Option<Arc<PointSet>>,
}

impl Tables {
    /// Drops everything, for another model.
    pub(super) fn forget(&mut self) {
        if let Some(job) = self.job.take() {
            job.task().cancel();
        }
        self.shown = None;
        self.own = None;
    }

    fn show(&mut self, mut gathered: Gathered) {
        if let Some((rows, _, table)) = &self.shown
            && *rows == gathered.rows_key
        {
            // The same rows after an edit: columns stay where they are, new ones follow.
            let place = |column: &TableColumn| {
                let known = table.columns.iter().position(|c| c == column);
                known.unwrap_or(usize::MAX)
            };
            gathered.columns.sort_by_key(place);
        }
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
    /// Updates the table for the selection, the order and the weights; `false` if there is no skin to show.
    ///
    /// For many points, the previous table stays until the new one is ready.
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
        if n_rows <= MAX_AT_ONCE {
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

    /// Takes a table once it is gathered.
    pub(super) fn take_influence_table(&mut self) {
        let Some(job) = self.table.job.take_if(|job| job.has_ended()) else {
            return;
        };
        match job.into_result() {
            Err(JobError::Cancelled) => {}
            Err(JobError::Failed) => {
                self.notify_error("The vertices could not be sorted.");
            }
            Ok(gathered) => {
                if gathered.rows_key.model == self.model_serial {
                    self.table.show(gathered);
                }
            }
        }
    }

    /// The table, once requested.
    pub fn influence_table(&self) -> Option<&InfluenceTable> {
        self.table.shown.as_ref().map(|(.., table)| table)
    }

    /// Whether rows are being gathered.
    pub fn is_gathering_influences(&self) -> bool {
        self.table.job.is_some()
    }

    /// The mesh whose points are shown: the active one, or another with selected points if it has none.
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

    /// Selects a point of the table without changing its rows.
    pub fn select_row(&mut self, mesh: MeshId, point: u32) {
        self.select_points(mesh, &[point]);
        let session = self.document.session_mut();
        session.active_mesh = Some(mesh);
        self.table.own = session.selected_points.get(&mesh).cloned();
    }
}

/// Gathers the sorted rows, unless they are known, and the bones that influence some of them.
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
    let spans: Vec<Vec<f64>> = points
        .par_chunks(POINTS_PER_TASK)
        .map(|span| {
            let mut sums = vec![0.0; joints.len()];
            for (joint, weight) in span.iter().flat_map(|&p| influences.row(p).iter()) {
                if let Some(slot) = sums.get_mut(usize::from(joint)).filter(|_| weight > 0.0) {
                    *slot += f64::from(weight);
                }
            }
            sums
        })
        .collect();
    let sum = |index: usize| spans.iter().map(|span| span[index]).sum::<f64>();
    let mut columns: Vec<(f64, TableColumn)> = joints
        .iter()
        .enumerate()
        .map(|(i, &joint)| {
            let index = i as u16;
            (sum(i), TableColumn { joint, index })
        })
        .filter(|(sum, column)| columns_key.active == Some(column.joint) || *sum > 0.0)
        .collect();
    columns.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.index.cmp(&b.1.index)));
    let columns = columns.into_iter().map(|(_, column)| column).collect();
    Gathered {
        rows_key,
        columns_key,
        points,
        columns,
    }
}

/// `points`, ascending, sorted by `order`; ties by index.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skinning::Rows;

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
