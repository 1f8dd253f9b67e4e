//! Influences: the joints that move each point, and their weights.
//!
//! Rows are stored in chunks of [`CHUNK`] points behind `Arc`s: an edit copies only the chunks that it changes, and
//! caches compare pointers of chunks.

use rayon::prelude::*;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Points in one chunk; also the unit of parallel and incremental skinning.
pub const CHUNK: usize = 1024;

/// Fewer touched chunks than this are swapped on one thread.
const PARALLEL: usize = 16;

/// The influences of one point, borrowed: skin joint indices and their weights, same length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowRef<'a> {
    /// Indices into the skin's joint list (never node indices), distinct.
    pub joints: &'a [u16],
    /// Weights, each >= 0.
    pub weights: &'a [f32],
}

impl<'a> RowRef<'a> {
    /// Each joint with its weight.
    pub fn iter(self) -> impl Iterator<Item = (u16, f32)> + 'a {
        self.joints
            .iter()
            .copied()
            .zip(self.weights.iter().copied())
    }

    /// The weight of `joint`, 0 where it has none.
    pub fn weight_of(self, joint: u16) -> f32 {
        self.joints
            .iter()
            .position(|&j| j == joint)
            .map_or(0.0, |i| self.weights[i])
    }

    /// The number of influences.
    pub fn len(self) -> usize {
        self.joints.len()
    }

    /// Whether no joint moves the point.
    pub fn is_empty(self) -> bool {
        self.joints.is_empty()
    }
}

/// Rows of any length, one after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    /// End of each row in `joints` and `weights`.
    ends: Vec<u32>,
    joints: Vec<u16>,
    weights: Vec<f32>,
}

impl Rows {
    /// No rows, with room for `n_rows` rows of 4 influences.
    pub fn with_capacity(n_rows: usize) -> Self {
        Self {
            ends: Vec::with_capacity(n_rows),
            joints: Vec::with_capacity(4 * n_rows),
            weights: Vec::with_capacity(4 * n_rows),
        }
    }

    /// Adds a row at the end.
    pub fn push(&mut self, row: RowRef<'_>) {
        debug_assert_eq!(row.joints.len(), row.weights.len());
        self.joints.extend_from_slice(row.joints);
        self.weights.extend_from_slice(row.weights);
        self.ends.push(self.joints.len() as u32);
    }

    /// Adds a row at the end from pairs.
    pub fn push_pairs(&mut self, pairs: impl IntoIterator<Item = (u16, f32)>) {
        for (joint, weight) in pairs {
            self.joints.push(joint);
            self.weights.push(weight);
        }
        self.ends.push(self.joints.len() as u32);
    }

    /// Row `i`.
    pub fn row(&self, i: usize) -> RowRef<'_> {
        let start = if i == 0 { 0 } else { self.ends[i - 1] as usize };
        let range = start..self.ends[i] as usize;
        RowRef {
            joints: &self.joints[range.clone()],
            weights: &self.weights[range],
        }
    }

    /// Whether these rows are equal to those of `other`.
    pub fn same_rows(&self, other: &Self, rows: Range<usize>) -> bool {
        let start = |all: &Self| rows.start.checked_sub(1).map_or(0, |last| all.ends[last]);
        let (own, theirs) = (start(self), start(other));
        let lengths = self.ends[rows.clone()]
            .iter()
            .zip(&other.ends[rows.clone()]);
        let (mut end, mut same) = (own, true);
        for (&a, &b) in lengths {
            same &= a - own == b - theirs;
            end = a;
        }
        let n = (end - own) as usize;
        let (own, theirs) = (own as usize, theirs as usize);
        same && self.joints[own..own + n] == other.joints[theirs..theirs + n]
            && self.weights[own..own + n] == other.weights[theirs..theirs + n]
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All rows in turn.
    pub fn iter(&self) -> impl Iterator<Item = RowRef<'_>> {
        (0..self.len()).map(|i| self.row(i))
    }

    /// `n_rows` rows without influences.
    pub fn silent(n_rows: usize) -> Self {
        Self {
            ends: vec![0; n_rows],
            ..Self::default()
        }
    }

    /// Whether no row has an influence.
    pub fn is_silent(&self) -> bool {
        self.joints.is_empty()
    }

    /// Whether both have the same bits.
    pub fn same_bits(&self, other: &Self) -> bool {
        let bits = |(a, b): (&f32, &f32)| a.to_bits() == b.to_bits();
        self.ends == other.ends
            && self.joints == other.joints
            && self.weights.iter().zip(&other.weights).all(bits)
    }

    /// The largest row's length.
    pub fn max_len(&self) -> usize {
        self.iter().map(RowRef::len).max().unwrap_or(0)
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.ends.capacity() * 4 + self.joints.capacity() * 2 + self.weights.capacity() * 4
    }
}

impl FromIterator<Vec<(u16, f32)>> for Rows {
    fn from_iter<T: IntoIterator<Item = Vec<(u16, f32)>>>(iter: T) -> Self {
        let mut rows = Self::default();
        for row in iter {
            rows.push_pairs(row);
        }
        rows
    }
}

/// The influences of all points of a mesh, in chunks of [`CHUNK`]. Cloning shares the chunks.
#[derive(Clone, Debug, Default)]
pub struct Influences {
    chunks: Vec<Arc<Rows>>,
    n_points: usize,
}

/// Compares rows; chunks that both share are not read.
impl PartialEq for Influences {
    fn eq(&self, other: &Self) -> bool {
        let same = |(a, b): (&Arc<Rows>, &Arc<Rows>)| Arc::ptr_eq(a, b) || a == b;
        self.n_points == other.n_points
            && self.chunks.len() == other.chunks.len()
            && self.chunks.iter().zip(&other.chunks).all(same)
    }
}

impl Influences {
    /// Influences from one row a point.
    pub fn from_rows<'a>(rows: impl IntoIterator<Item = RowRef<'a>>) -> Self {
        let mut chunks = Vec::new();
        let mut current = Rows::with_capacity(CHUNK);
        let mut n_points = 0;
        for row in rows {
            current.push(row);
            n_points += 1;
            if current.len() == CHUNK {
                chunks.push(Arc::new(std::mem::replace(
                    &mut current,
                    Rows::with_capacity(CHUNK),
                )));
            }
        }
        if !current.is_empty() {
            chunks.push(Arc::new(current));
        }
        Self { chunks, n_points }
    }

    /// `n_points` rows without influences; its chunks take no memory of their own.
    pub fn silent(n_points: usize) -> Self {
        let lengths = (0..n_points)
            .step_by(CHUNK)
            .map(|first| CHUNK.min(n_points - first));
        Self {
            chunks: lengths.map(silent_chunk).collect(),
            n_points,
        }
    }

    /// Replaces a chunk by another of the same length.
    pub fn set_chunk(&mut self, chunk: usize, rows: Arc<Rows>) {
        debug_assert_eq!(self.chunks[chunk].len(), rows.len());
        self.chunks[chunk] = rows;
    }

    /// The number of points.
    pub fn len(&self) -> usize {
        self.n_points
    }

    /// Whether there is no point.
    pub fn is_empty(&self) -> bool {
        self.n_points == 0
    }

    /// The influences of `point`.
    pub fn row(&self, point: u32) -> RowRef<'_> {
        self.chunks[point as usize / CHUNK].row(point as usize % CHUNK)
    }

    /// All rows in turn.
    pub fn iter(&self) -> impl Iterator<Item = RowRef<'_>> {
        self.chunks.iter().flat_map(|chunk| chunk.iter())
    }

    /// The chunks; compare with `Arc::ptr_eq` to find what changed.
    pub fn chunks(&self) -> &[Arc<Rows>] {
        &self.chunks
    }

    /// Swaps the rows of `points` (each at most once, in any order) with `rows`: a second call restores both bit for
    /// bit.
    ///
    /// Only the chunks that hold one of the points are copied. The points must be below [`Influences::len`].
    pub fn swap_rows(&mut self, points: &[u32], rows: &mut Rows) {
        debug_assert_eq!(points.len(), rows.len());
        let mut by_chunk: Vec<(u32, u32)> = points
            .iter()
            .enumerate()
            .map(|(i, &p)| (p, i as u32))
            .collect();
        by_chunk.sort_unstable();
        let chunk_of = |entry: &(u32, u32)| entry.0 as usize / CHUNK;
        let touched: Vec<&[(u32, u32)]> = by_chunk
            .chunk_by(|a, b| chunk_of(a) == chunk_of(b))
            .collect();
        let given = &*rows;
        let swap = |touched: &&[(u32, u32)]| {
            let before = &self.chunks[chunk_of(&touched[0])];
            let mut after = Rows::with_capacity(before.len());
            let mut old = Rows::with_capacity(touched.len());
            let mut next = touched.iter().peekable();
            for i in 0..before.len() {
                match next.next_if(|&&(p, _)| p as usize % CHUNK == i) {
                    Some(&(_, source)) => {
                        old.push(before.row(i));
                        after.push(given.row(source as usize));
                    }
                    None => after.push(before.row(i)),
                }
            }
            (after, old)
        };
        let swapped_chunks: Vec<(Rows, Rows)> = if touched.len() < PARALLEL {
            touched.iter().map(swap).collect()
        } else {
            touched.par_iter().map(swap).collect()
        };
        let mut old_places = vec![(0, 0); points.len()];
        for (t, entries) in touched.iter().enumerate() {
            for (i, &(_, source)) in entries.iter().enumerate() {
                old_places[source as usize] = (t as u32, i as u32);
            }
        }
        let mut swapped = Rows::with_capacity(points.len());
        for (t, i) in old_places {
            swapped.push(swapped_chunks[t as usize].1.row(i as usize));
        }
        for (entries, (after, _)) in touched.iter().zip(swapped_chunks) {
            self.chunks[chunk_of(&entries[0])] = Arc::new(after);
        }
        *rows = swapped;
    }

    /// As [`Influences::swap_rows`], where most rows are empty: a chunk that has no influence left is freed.
    pub fn swap_few_rows(&mut self, points: &[u32], rows: &mut Rows) {
        self.swap_rows(points, rows);
        let mut previous = usize::MAX;
        for chunk in points.iter().map(|&p| p as usize / CHUNK) {
            if chunk != previous && self.chunks[chunk].is_silent() {
                self.chunks[chunk] = silent_chunk(self.chunks[chunk].len());
            }
            previous = chunk;
        }
    }

    /// Bytes on the heap of the chunks that `other` does not share at the same place.
    pub fn bytes_beside(&self, other: Option<&Self>) -> usize {
        let shared = |i: usize, chunk: &Arc<Rows>| {
            let theirs = other.and_then(|other| other.chunks.get(i));
            theirs.is_some_and(|theirs| Arc::ptr_eq(theirs, chunk))
        };
        let own = self.chunks.iter().enumerate();
        let own = own.filter(|(i, chunk)| !chunk.is_silent() && !shared(*i, chunk));
        own.map(|(_, chunk)| chunk.heap_bytes()).sum::<usize>() + self.chunks.capacity() * 8
    }
}

/// A chunk of `n_rows` rows without influences; full chunks are shared.
fn silent_chunk(n_rows: usize) -> Arc<Rows> {
    static WHOLE: OnceLock<Arc<Rows>> = OnceLock::new();
    if n_rows == CHUNK {
        WHOLE.get_or_init(|| Arc::new(Rows::silent(CHUNK))).clone()
    } else {
        Arc::new(Rows::silent(n_rows))
    }
}

/// The rows that painting and operations start from: of the edited layer, or where that is empty, the result of the
/// layers below it.
#[derive(Clone, Copy, Debug)]
pub struct PaintRows<'a> {
    /// The edited layer; the layers below show through an empty row.
    pub layer: &'a Influences,
    /// The result of the layers below it; for the lowest layer, that layer.
    pub below: &'a Influences,
}

impl<'a> PaintRows<'a> {
    /// The rows of a mesh without layers.
    pub fn plain(influences: &'a Influences) -> Self {
        Self {
            layer: influences,
            below: influences,
        }
    }

    /// The row of `point`.
    pub fn row(self, point: u32) -> RowRef<'a> {
        let own = self.layer.row(point);
        if own.is_empty() {
            self.below.row(point)
        } else {
            own
        }
    }

    /// The number of points.
    pub fn len(self) -> usize {
        self.layer.len()
    }

    /// Whether there is no point.
    pub fn is_empty(self) -> bool {
        self.layer.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn influences(n: u32) -> Influences {
        let rows: Rows = (0..n)
            .map(|p| vec![(0, 1.0 / (p + 1) as f32), ((p % 7 + 1) as u16, 0.5)])
            .collect();
        Influences::from_rows(rows.iter())
    }

    #[test]
    fn rows_keep_their_length_and_order() {
        let rows: Rows = [vec![(3, 1.0)], vec![], vec![(1, 0.25), (2, 0.75)]]
            .into_iter()
            .collect();
        assert_eq!(rows.row(2).weight_of(2), 0.75);
        assert!(rows.row(1).is_empty());
        assert_eq!((rows.len(), rows.max_len()), (3, 2));
    }

    #[test]
    fn swapping_twice_restores_every_bit_and_copies_only_touched_chunks() {
        let original = influences(3000);
        let mut edited = original.clone();
        let points = [2999, 5, 6, 1030];
        let mut rows: Rows = [
            vec![(9, 1.0)],
            vec![],
            vec![(1, 0.5), (2, 0.25), (3, 0.25)],
            vec![(4, 1.0)],
        ]
        .into_iter()
        .collect();
        let new_rows = rows.clone();
        edited.swap_rows(&points, &mut rows);
        assert_eq!(edited.row(6).joints, [1, 2, 3]);
        assert_eq!(edited.row(2999).joints, [9]);
        assert_eq!(rows.row(0), original.row(2999));
        edited.swap_rows(&points, &mut rows);
        assert_eq!(edited, original);
        assert_eq!(rows, new_rows);

        let silent = Influences::silent(3000);
        let mut few = silent.clone();
        let mut rows: Rows = [vec![(9, 1.0)]].into_iter().collect();
        few.swap_few_rows(&[1500], &mut rows);
        assert_eq!(
            (few.row(1500).len(), few.iter().map(RowRef::len).sum()),
            (1, 1)
        );
        few.swap_few_rows(&[1500], &mut rows);
        assert!(Arc::ptr_eq(&few.chunks()[1], &silent.chunks()[0]));

        let mut one = original.clone();
        one.swap_rows(&[1500], &mut [vec![(9, 1.0)]].into_iter().collect());
        let shared: Vec<bool> = one
            .chunks()
            .iter()
            .zip(original.chunks())
            .map(|(a, b)| Arc::ptr_eq(a, b))
            .collect();
        assert_eq!(shared, [true, false, true]);
    }
}
