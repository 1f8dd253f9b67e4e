//! Influence rows in the layout of the kernels.

use super::influences::{CHUNK, Rows};
use std::ops::Range;

/// Points in one block: the lanes of the kernels.
pub(crate) const LANES: usize = 8;

/// The rows of one chunk of at most [`CHUNK`] points, in blocks of 8 points with one influence of each side by side.
///
/// The first influence of a point is its pivot: the largest weight, ties to the lowest rank. Influences without
/// weight are left out; a block has as many slots as its longest row.
#[derive(Clone, Debug, PartialEq)]
pub struct CookedChunk {
    n_points: usize,
    /// Block b owns slots `starts[b] .. starts[b + 1]`.
    starts: Vec<u32>,
    /// n_slots; every index is at most `max_joint`.
    joints: Vec<[u16; LANES]>,
    /// n_slots; 0 where a point has no influence.
    weights: Vec<[f32; LANES]>,
    /// The distinct (pivot, other joint) pairs of its points.
    pairs: Counted<[u16; 2]>,
    /// The distinct joints of its points; none is above `max_joint`.
    distinct: Counted<u16>,
    /// Points without influences, ascending: no joint moves them.
    unmoved: Vec<u16>,
    max_joint: u16,
}

/// Distinct items, and in how many blocks each occurs: an edit of a few blocks need not read the others.
#[derive(Clone, Debug, PartialEq)]
struct Counted<T> {
    /// Ascending.
    items: Vec<T>,
    /// n_items.
    n_blocks: Vec<u16>,
}

/// The distinct pairs and joints of a block.
#[derive(Default)]
struct OfBlock {
    pairs: Vec<[u16; 2]>,
    joints: Vec<u16>,
}

impl CookedChunk {
    /// The rows of a chunk, ready for the kernels.
    ///
    /// `rows`: at most [`CHUNK`], weights >= 0; `ranks`: one for each joint of the skin ([`super::SkinBind::ranks`]).
    /// Rows beyond [`CHUNK`] are left out; [`super::SkinInput::new`] then reports the length.
    pub fn cook(rows: &Rows, ranks: &[u32]) -> Self {
        let n_points = rows.len().min(CHUNK);
        let n_blocks = n_points.div_ceil(LANES);
        let mut cooked = Self {
            n_points,
            starts: Vec::with_capacity(n_blocks + 1),
            joints: Vec::with_capacity(n_blocks * 4),
            weights: Vec::with_capacity(n_blocks * 4),
            pairs: Counted::default(),
            distinct: Counted::default(),
            unmoved: Vec::new(),
            max_joint: 0,
        };
        let (mut pairs, mut joints) = (Vec::new(), Vec::new());
        let (mut own, mut sorted) = (OfBlock::default(), Vec::new());
        cooked.starts.push(0);
        for block in 0..n_blocks {
            cooked.push_block(rows, ranks, block, &mut sorted);
            own.find(&cooked, block);
            pairs.extend_from_slice(&own.pairs);
            joints.extend_from_slice(&own.joints);
        }
        cooked.pairs = Counted::of(pairs);
        cooked.distinct = Counted::of(joints);
        cooked.finish();
        cooked
    }

    /// As [`CookedChunk::cook`], in time proportional to the blocks whose rows changed. `before`: earlier rows of the chunk
    /// and what was cooked from them with the same ranks.
    pub fn cook_after(before: Option<(&Rows, &Self)>, rows: &Rows, ranks: &[u32]) -> Self {
        let Some((old, known)) = before.filter(|(old, _)| old.len() == rows.len()) else {
            return Self::cook(rows, ranks);
        };
        let n_points = known.n_points;
        let n_blocks = n_points.div_ceil(LANES);
        let of_block = |block: usize| block * LANES..n_points.min((block + 1) * LANES);
        let is_changed = |block: &usize| !old.same_rows(rows, of_block(*block));
        let changed: Vec<usize> = (0..n_blocks).filter(is_changed).collect();
        if changed.len() > n_blocks / 2 {
            return Self::cook(rows, ranks);
        }
        let mut cooked = Self {
            n_points,
            starts: Vec::with_capacity(n_blocks + 1),
            joints: Vec::with_capacity(known.joints.len() + LANES),
            weights: Vec::with_capacity(known.weights.len() + LANES),
            pairs: known.pairs.clone(),
            distinct: known.distinct.clone(),
            unmoved: Vec::with_capacity(known.unmoved.len()),
            max_joint: 0,
        };
        let (mut own, mut sorted) = (OfBlock::default(), Vec::new());
        cooked.starts.push(0);
        let mut next = 0;
        for &block in &changed {
            cooked.push_known(known, next..block);
            cooked.push_block(rows, ranks, block, &mut sorted);
            own.find(known, block);
            own.pairs.iter().for_each(|&pair| cooked.pairs.remove(pair));
            own.joints
                .iter()
                .for_each(|&joint| cooked.distinct.remove(joint));
            own.find(&cooked, block);
            own.pairs.iter().for_each(|&pair| cooked.pairs.add(pair));
            own.joints
                .iter()
                .for_each(|&joint| cooked.distinct.add(joint));
            next = block + 1;
        }
        cooked.push_known(known, next..n_blocks);
        cooked.finish();
        cooked
    }

    fn finish(&mut self) {
        self.max_joint = self.distinct.items.last().copied().unwrap_or(0);
        self.unmoved.shrink_to_fit();
        self.joints.shrink_to_fit();
        self.weights.shrink_to_fit();
    }

    /// Adds the next block, from its rows. `sorted`: a buffer.
    fn push_block(
        &mut self,
        rows: &Rows,
        ranks: &[u32],
        block: usize,
        sorted: &mut Vec<(u16, f32)>,
    ) {
        let rank = |joint: u16| ranks.get(joint as usize).copied().unwrap_or(u32::MAX);
        let first_slot = self.joints.len();
        for lane in 0..LANES {
            let point = block * LANES + lane;
            sorted.clear();
            if point < self.n_points {
                sorted.extend(rows.row(point).iter().filter(|&(_, w)| w > 0.0));
                if sorted.is_empty() {
                    self.unmoved.push(point as u16);
                }
            }
            sorted.sort_by(|a, b| b.1.total_cmp(&a.1).then(rank(a.0).cmp(&rank(b.0))));
            self.push_lane(first_slot, lane, sorted);
        }
        self.starts.push(self.joints.len() as u32);
    }

    /// Adds blocks of an earlier state of this chunk.
    fn push_known(&mut self, known: &Self, blocks: Range<usize>) {
        let (first, end) = (known.starts[blocks.start], known.starts[blocks.end]);
        let slots = first as usize..end as usize;
        let moved_to = self.joints.len() as u32;
        let starts = &known.starts[blocks.start + 1..=blocks.end];
        self.starts
            .extend(starts.iter().map(|start| start - first + moved_to));
        self.joints.extend_from_slice(&known.joints[slots.clone()]);
        self.weights.extend_from_slice(&known.weights[slots]);
        let points = (blocks.start * LANES) as u16..(blocks.end * LANES) as u16;
        let at = |point: u16| known.unmoved.partition_point(|&p| p < point);
        self.unmoved
            .extend_from_slice(&known.unmoved[at(points.start)..at(points.end)]);
    }

    /// Writes one point's influences into its lane; a lane without any reads joint 0 with weight 1.
    fn push_lane(&mut self, first_slot: usize, lane: usize, influences: &[(u16, f32)]) {
        let pivot = influences.first().map_or(0, |i| i.0);
        let n_slots = influences.len().max(1);
        while self.joints.len() < first_slot + n_slots {
            // Shorter lanes read their pivot with weight 0: it adds nothing and is in the cache.
            let pivots = self.joints.get(first_slot).copied().unwrap_or_default();
            self.joints.push(pivots);
            self.weights.push([0.0; LANES]);
        }
        for slot in &mut self.joints[first_slot..] {
            slot[lane] = pivot;
        }
        if influences.is_empty() {
            self.weights[first_slot][lane] = 1.0;
        }
        for (i, &(joint, weight)) in influences.iter().enumerate() {
            self.joints[first_slot + i][lane] = joint;
            self.weights[first_slot + i][lane] = weight;
        }
    }

    /// The number of its points.
    pub fn n_points(&self) -> usize {
        self.n_points
    }

    /// The joints that move its points, ascending, each once.
    pub fn joints(&self) -> &[u16] {
        &self.distinct.items
    }

    /// The points (counted in the chunk) that no joint moves.
    pub fn unmoved(&self) -> &[u16] {
        &self.unmoved
    }

    /// The two heaviest influences of a point (counted in the chunk), `None` where it has fewer.
    pub fn first_two(&self, point: usize) -> Option<[(u16, f32); 2]> {
        if point >= self.n_points {
            return None;
        }
        let (joints, weights) = self.block(point / LANES);
        let lane = point % LANES;
        let second = *weights.get(1)?.get(lane)?;
        (second > 0.0).then(|| {
            [
                (joints[0][lane], weights[0][lane]),
                (joints[1][lane], second),
            ]
        })
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.starts.capacity() * 4
            + self.joints.capacity() * size_of::<[u16; LANES]>()
            + self.weights.capacity() * size_of::<[f32; LANES]>()
            + self.pairs.items.capacity() * 4
            + (self.pairs.n_blocks.capacity() + self.distinct.n_blocks.capacity()) * 2
            + (self.distinct.items.capacity() + self.unmoved.capacity()) * 2
    }

    /// The distinct (pivot, other joint) pairs.
    pub(crate) fn pairs(&self) -> &[[u16; 2]] {
        &self.pairs.items
    }

    /// No joint index in any block is above this.
    pub(crate) fn max_joint(&self) -> u16 {
        self.max_joint
    }

    /// The slots of a block: joints and weights of its 8 points, pivot first.
    #[inline]
    pub(crate) fn block(&self, block: usize) -> (&[[u16; LANES]], &[[f32; LANES]]) {
        let range = self.starts[block] as usize..self.starts[block + 1] as usize;
        (&self.joints[range.clone()], &self.weights[range])
    }
}

impl<T> Default for Counted<T> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            n_blocks: Vec::new(),
        }
    }
}

impl<T: Copy + Ord> Counted<T> {
    /// Of the items of all blocks.
    fn of(mut all: Vec<T>) -> Self {
        all.sort_unstable();
        let groups = all.chunk_by(|a, b| a == b);
        let (items, n_blocks) = groups.map(|group| (group[0], group.len() as u16)).unzip();
        Self { items, n_blocks }
    }

    /// Counts a block that has the item.
    fn add(&mut self, item: T) {
        match self.items.binary_search(&item) {
            Ok(at) => self.n_blocks[at] += 1,
            Err(at) => {
                self.items.insert(at, item);
                self.n_blocks.insert(at, 1);
            }
        }
    }

    /// Takes back what a block with the item counted.
    fn remove(&mut self, item: T) {
        let Ok(at) = self.items.binary_search(&item) else {
            return;
        };
        self.n_blocks[at] -= 1;
        if self.n_blocks[at] == 0 {
            self.items.remove(at);
            self.n_blocks.remove(at);
        }
    }
}

impl OfBlock {
    /// Reads a block of a chunk.
    fn find(&mut self, chunk: &CookedChunk, block: usize) {
        self.pairs.clear();
        self.joints.clear();
        let (joints, weights) = chunk.block(block);
        let n_lanes = LANES.min(chunk.n_points - block * LANES);
        for lane in 0..n_lanes {
            let point = (block * LANES + lane) as u16;
            // It reads joint 0 with weight 1.
            if chunk.unmoved.binary_search(&point).is_ok() {
                continue;
            }
            let pivot = joints[0][lane];
            add_new(&mut self.joints, pivot);
            for (joint, weight) in joints.iter().zip(weights).skip(1) {
                if weight[lane] > 0.0 {
                    add_new(&mut self.pairs, [pivot, joint[lane]]);
                    add_new(&mut self.joints, joint[lane]);
                }
            }
        }
    }
}

/// Adds an item unless it is there. Most are the last one's.
fn add_new<T: Copy + PartialEq>(items: &mut Vec<T>, item: T) {
    if !items.iter().rev().any(|&known| known == item) {
        items.push(item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pivot_comes_first_and_ties_go_to_the_lower_rank() {
        let rows: Rows = [vec![(2, 0.5), (1, 0.5)], vec![(0, 0.2), (2, 0.8)], vec![]]
            .into_iter()
            .collect();
        let cooked = CookedChunk::cook(&rows, &[0, 2, 1]);
        let (joints, weights) = cooked.block(0);
        assert_eq!((joints[0][0], joints[1][0]), (2, 1));
        assert_eq!((joints[0][1], joints[1][1]), (2, 0));
        assert_eq!((weights[0][1], weights[1][1]), (0.8, 0.2));
        assert_eq!(cooked.pairs(), [[2, 0], [2, 1]]);
        assert_eq!(cooked.joints(), [0, 1, 2]);
        assert_eq!(cooked.unmoved(), [2]);
    }

    #[test]
    fn a_block_is_as_deep_as_its_longest_row() {
        let rows: Rows = (0..20u16)
            .map(|p| match p {
                3 => (0..9u16).map(|j| (j, 1.0 / 9.0)).collect(),
                _ => vec![(p % 4, 1.0), (9, 0.0)],
            })
            .collect();
        let cooked = CookedChunk::cook(&rows, &[0; 10]);
        let depths: Vec<usize> = (0..3).map(|b| cooked.block(b).0.len()).collect();
        assert_eq!(depths, [9, 1, 1]);
        assert_eq!(cooked.max_joint(), 8);
        // The pad of a short row repeats its pivot without weight.
        let (joints, weights) = cooked.block(0);
        assert_eq!((joints[8][2], weights[8][2]), (2, 0.0));
    }

    #[test]
    fn cooked_after_an_edit_is_as_cooked_afresh() {
        let row = |p: u16| match p % 5 {
            0 => vec![],
            1 => vec![(p % 3, 1.0)],
            _ => vec![(p % 4, 0.25), (4, 0.75 - f32::from(p) / 1e4), (9, 0.0)],
        };
        let rows: Rows = (0..203).map(row).collect();
        let ranks = [3, 1, 2, 0, 4, 5, 6, 7, 8, 9];
        let before = CookedChunk::cook(&rows, &ranks);
        for (edited, new) in [
            (0, vec![(7, 1.0)]),
            (100, vec![]),
            (202, vec![(2, 0.5), (6, 0.5)]),
        ] {
            let changed = |p: u16| if p == edited { new.clone() } else { row(p) };
            let changed: Rows = (0..203).map(changed).collect();
            let after = CookedChunk::cook_after(Some((&rows, &before)), &changed, &ranks);
            assert_eq!(after, CookedChunk::cook(&changed, &ranks));
            // And back again.
            let back = CookedChunk::cook_after(Some((&changed, &after)), &rows, &ranks);
            assert_eq!(back, before);
        }
        // Most rows.
        let changed: Rows = (0..203).map(|p| row(p + 1)).collect();
        let after = CookedChunk::cook_after(Some((&rows, &before)), &changed, &ranks);
        assert_eq!(after, CookedChunk::cook(&changed, &ranks));
    }
}
