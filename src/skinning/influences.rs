//! Which joints move a point, and by how much.
//!
//! Rows live in chunks of [`CHUNK`] points behind `Arc`s: an edit copies only the chunks it touches, and a cook
//! compares chunk pointers to find what changed.

use std::sync::Arc;

/// Points in one chunk; also the unit of parallel and incremental skinning.
pub const CHUNK: usize = 1024;

/// The influences of one point, borrowed: skin joint indices and their weights, same length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowRef<'a> {
    /// Indices into the skin's joint list (never node indices), distinct.
    pub joints: &'a [u16],
    /// Weights, each >= 0.
    pub weights: &'a [f32],
}

impl<'a> RowRef<'a> {
    /// Joint and weight in turn.
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

    /// How many influences the row holds.
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

    /// How many rows there are.
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
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Influences {
    chunks: Vec<Arc<Rows>>,
    n_points: usize,
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

    /// How many points there are.
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

    /// Exchanges the rows of `points` (each at most once, in any order) with `rows`, in place: afterwards `rows` holds
    /// what the points had before, so that a second call restores both bit for bit.
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
        let mut old = vec![RowRange::default(); points.len()];
        let mut old_rows = Rows::with_capacity(points.len());
        let mut rest = by_chunk.as_slice();
        while let Some(&(first, _)) = rest.first() {
            let chunk_index = first as usize / CHUNK;
            let end = rest.partition_point(|&(p, _)| p as usize / CHUNK == chunk_index);
            let (touched, later) = rest.split_at(end);
            rest = later;
            let before = &self.chunks[chunk_index];
            let mut after = Rows::with_capacity(before.len());
            let mut next = touched.iter().peekable();
            for i in 0..before.len() {
                match next.next_if(|&&(p, _)| p as usize % CHUNK == i) {
                    Some(&(_, source)) => {
                        old[source as usize] = RowRange(old_rows.len() as u32);
                        old_rows.push(before.row(i));
                        after.push(rows.row(source as usize));
                    }
                    None => after.push(before.row(i)),
                }
            }
            self.chunks[chunk_index] = Arc::new(after);
        }
        let mut swapped = Rows::with_capacity(points.len());
        for RowRange(i) in old {
            swapped.push(old_rows.row(i as usize));
        }
        *rows = swapped;
    }
}

/// Where a swapped row waits until all are known.
#[derive(Clone, Copy, Default)]
struct RowRange(u32);

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
