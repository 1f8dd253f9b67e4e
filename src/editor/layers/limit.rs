//! Points that exceed the influence limit because their layers add up to more bones.

use crate::document::MeshId;
use crate::editor::Editor;
use crate::skinning::{RowRef, Rows};
use rayon::prelude::*;
use std::sync::{Arc, Weak};

/// The number of points over the limit, per chunk: an edit recounts only the chunks that it changed.
pub(super) struct OverLimit {
    mesh: MeshId,
    revision: u64,
    limit: usize,
    /// Each counted chunk, whose identity changes with its content, and its number of points over the limit.
    chunks: Vec<(Weak<Rows>, usize)>,
    n: usize,
}

impl Editor {
    /// The number of points of the object that have more than `limit` influences because its layers add up to more.
    pub fn n_over_limit(&mut self, limit: usize) -> usize {
        let Some(mesh) = self.layered_mesh() else {
            return 0;
        };
        let revision = self.history.revision();
        // Counting waits for the end of a stroke.
        let waits = self.history.is_open();
        let known = self.layering.over_limit.take();
        let mut known = known.filter(|known| known.mesh == mesh && known.limit == limit);
        if let Some(known) = known.take_if(|known| waits || known.revision == revision) {
            let n = known.n;
            self.layering.over_limit = Some(known);
            return n;
        }
        let item = self.document.meshes().get(&mesh);
        let item = item.filter(|item| !item.layers.is_plain());
        let before = known.map_or(Vec::new(), |known| known.chunks);
        let chunks = item.map_or(&[][..], |item| item.influences.chunks());
        let count = |(i, rows): (usize, &Arc<Rows>)| {
            let same = before.get(i);
            let same = same.filter(|(known, _)| std::ptr::eq(known.as_ptr(), Arc::as_ptr(rows)));
            let n = same.map_or_else(|| n_rows_over(rows, limit), |(_, n)| *n);
            (Arc::downgrade(rows), n)
        };
        let chunks: Vec<_> = chunks.par_iter().enumerate().map(count).collect();
        let n = chunks.iter().map(|(_, n)| n).sum();
        self.layering.over_limit = Some(OverLimit {
            mesh,
            revision,
            limit,
            chunks,
            n,
        });
        n
    }
}

/// The number of rows with more than `limit` weights above 0.
fn n_rows_over(rows: &Rows, limit: usize) -> usize {
    let is_over = |row: &RowRef<'_>| row.weights.iter().filter(|w| **w > 0.0).count() > limit;
    rows.iter().filter(is_over).count()
}
