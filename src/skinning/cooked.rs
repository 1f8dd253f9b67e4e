//! Influence rows in the layout of the kernels.

use super::influences::{CHUNK, Rows};

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
    /// The distinct (pivot, other joint) pairs of its points, ascending.
    pairs: Vec<[u16; 2]>,
    /// The distinct joints of its points, ascending.
    distinct: Vec<u16>,
    /// Points without influences, ascending: no joint moves them.
    unmoved: Vec<u16>,
    max_joint: u16,
}

impl CookedChunk {
    /// The rows of a chunk, ready for the kernels.
    ///
    /// `rows`: at most [`CHUNK`], weights >= 0; `ranks`: one for each joint of the skin ([`super::SkinBind::ranks`]).
    /// Rows beyond [`CHUNK`] are left out; [`super::SkinInput::new`] then reports the length.
    pub fn cook(rows: &Rows, ranks: &[u32]) -> Self {
        Self::cook_after(None, rows, ranks)
    }

    /// As [`CookedChunk::cook`]; takes blocks whose rows are the same from `before`: earlier rows of the chunk and what
    /// was cooked from them with the same ranks.
    pub fn cook_after(before: Option<(&Rows, &Self)>, rows: &Rows, ranks: &[u32]) -> Self {
        let before = before.filter(|(old, _)| old.len() == rows.len());
        let n_points = rows.len().min(CHUNK);
        let n_blocks = n_points.div_ceil(LANES);
        let mut cooked = Self {
            n_points,
            starts: Vec::with_capacity(n_blocks + 1),
            joints: Vec::with_capacity(n_blocks * 4),
            weights: Vec::with_capacity(n_blocks * 4),
            pairs: Vec::new(),
            distinct: Vec::new(),
            unmoved: Vec::new(),
            max_joint: 0,
        };
        cooked.starts.push(0);
        let rank = |joint: u16| ranks.get(joint as usize).copied().unwrap_or(u32::MAX);
        let mut sorted: Vec<(u16, f32)> = Vec::new();
        for block in 0..n_blocks {
            let first_slot = cooked.joints.len();
            let mut points = block * LANES..n_points.min((block + 1) * LANES);
            let same = before.filter(|(old, _)| points.all(|p| old.row(p) == rows.row(p)));
            if let Some((_, known)) = same {
                cooked.push_block(known, block);
                cooked.starts.push(cooked.joints.len() as u32);
                continue;
            }
            for lane in 0..LANES {
                let point = block * LANES + lane;
                sorted.clear();
                if point < n_points {
                    sorted.extend(rows.row(point).iter().filter(|&(_, w)| w > 0.0));
                    if sorted.is_empty() {
                        cooked.unmoved.push(point as u16);
                    }
                }
                sorted.sort_by(|a, b| b.1.total_cmp(&a.1).then(rank(a.0).cmp(&rank(b.0))));
                cooked.push_lane(first_slot, lane, &sorted);
            }
            cooked.starts.push(cooked.joints.len() as u32);
        }
        cooked.pairs.sort_unstable();
        cooked.pairs.dedup();
        cooked.distinct.sort_unstable();
        cooked.distinct.dedup();
        cooked.max_joint = cooked.distinct.last().copied().unwrap_or(0);
        for list in [&mut cooked.distinct, &mut cooked.unmoved] {
            list.shrink_to_fit();
        }
        cooked.joints.shrink_to_fit();
        cooked.weights.shrink_to_fit();
        cooked.pairs.shrink_to_fit();
        cooked
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
            self.note(i, pivot, joint);
        }
    }

    /// Adds the block of an earlier state of this chunk.
    fn push_block(&mut self, known: &Self, block: usize) {
        let (joints, weights) = known.block(block);
        self.joints.extend_from_slice(joints);
        self.weights.extend_from_slice(weights);
        for lane in 0..LANES.min(known.n_points - block * LANES) {
            let point = (block * LANES + lane) as u16;
            if known.unmoved.binary_search(&point).is_ok() {
                self.unmoved.push(point);
                continue;
            }
            let slots = joints.iter().zip(weights).enumerate();
            for (i, (joint, _)) in slots.take_while(|(_, (_, w))| w[lane] > 0.0) {
                self.note(i, joints[0][lane], joint[lane]);
            }
        }
    }

    /// Notes influence `i` of a point. Neighbours mostly have the same pairs: those are skipped before the sort.
    fn note(&mut self, i: usize, pivot: u16, joint: u16) {
        if i > 0 && !self.pairs.ends_with(&[[pivot, joint]]) {
            self.pairs.push([pivot, joint]);
        }
        if !self.distinct.ends_with(&[joint]) {
            self.distinct.push(joint);
        }
    }

    /// The number of its points.
    pub fn n_points(&self) -> usize {
        self.n_points
    }

    /// The joints that move its points, ascending, each once.
    pub fn joints(&self) -> &[u16] {
        &self.distinct
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
            + self.pairs.capacity() * 4
            + (self.distinct.capacity() + self.unmoved.capacity()) * 2
    }

    /// The distinct (pivot, other joint) pairs.
    pub(crate) fn pairs(&self) -> &[[u16; 2]] {
        &self.pairs
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
        }
    }
}
