//! Influences in the order of the kernels, cooked chunk by chunk.

use super::chunks::FEW_CHUNKS;
use crate::skinning::{CookedChunk, Influences, Rows};
use rayon::prelude::*;
use std::sync::Arc;

/// The cooked influences of a mesh under one order of its joints. Instances of the mesh share it.
#[derive(Clone, Debug, Default)]
pub struct CookedMesh {
    /// The rows of each cooked chunk, compared by identity.
    sources: Vec<Arc<Rows>>,
    order: Vec<u32>,
    chunks: Vec<Arc<CookedChunk>>,
}

impl CookedMesh {
    /// The place of each joint of the skin ([`joint_order`]).
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// The rows of a chunk, compared by identity.
    pub fn rows(&self, chunk: usize) -> Option<&Arc<Rows>> {
        self.sources.get(chunk)
    }

    /// Cooks the chunks whose rows changed; all of them when the order of the joints changed.
    ///
    /// `order`: the place of each joint of the skin, parents first ([`joint_order`]).
    pub fn update(&mut self, influences: &Influences, order: &[u32]) {
        if self.order != order {
            self.order = order.to_vec();
            self.sources.clear();
        }
        let (order, chunks) = (&self.order, influences.chunks());
        let is_changed = |&i: &usize| match self.sources.get(i) {
            Some(source) => !Arc::ptr_eq(source, &chunks[i]),
            None => true,
        };
        let changed: Vec<usize> = (0..chunks.len()).filter(is_changed).collect();
        let of_chunk = |&i: &usize| {
            let before = self.sources.get(i).zip(self.chunks.get(i));
            let before = before.map(|(source, cooked)| (&**source, &**cooked));
            Arc::new(CookedChunk::cook_after(before, &chunks[i], order))
        };
        let cooked: Vec<Arc<CookedChunk>> = if changed.len() > FEW_CHUNKS {
            changed.par_iter().map(of_chunk).collect()
        } else {
            changed.iter().map(of_chunk).collect()
        };
        self.sources.truncate(chunks.len());
        self.chunks.truncate(self.sources.len());
        for (i, cooked) in changed.into_iter().zip(cooked) {
            // Ascending: what is not replaced is appended.
            if i < self.chunks.len() {
                self.sources[i] = chunks[i].clone();
                self.chunks[i] = cooked;
            } else {
                self.sources.push(chunks[i].clone());
                self.chunks.push(cooked);
            }
        }
    }

    /// The cooked chunks.
    pub fn chunks(&self) -> &[Arc<CookedChunk>] {
        &self.chunks
    }

    /// For each of `n_joints` joints of the skin, whether it moves a point.
    pub fn bound(&self, n_joints: usize) -> Vec<bool> {
        let mut bound = Vec::new();
        self.bound_into(n_joints, &mut bound);
        bound
    }

    /// As [`CookedMesh::bound`], into a buffer that is used again.
    pub fn bound_into(&self, n_joints: usize, bound: &mut Vec<bool>) {
        bound.clear();
        bound.resize(n_joints, false);
        for &joint in self.chunks.iter().flat_map(|chunk| chunk.joints()) {
            if let Some(b) = bound.get_mut(joint as usize) {
                *b = true;
            }
        }
    }
}

/// The place of each joint when sorted by topological rank, ties by index. Skins whose joints stand in the same order
/// share cooked chunks even though the joints differ.
pub fn joint_order(ranks: impl IntoIterator<Item = u32>) -> Vec<u32> {
    let ranks: Vec<u32> = ranks.into_iter().collect();
    let mut sorted: Vec<u32> = (0..ranks.len() as u32).collect();
    sorted.sort_by_key(|&j| ranks[j as usize]);
    let mut order = vec![0; ranks.len()];
    for (place, &j) in sorted.iter().enumerate() {
        order[j as usize] = place as u32;
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_edited_chunks_are_cooked_again() {
        let rows: Rows = (0..3000).map(|p| vec![((p % 3) as u16, 1.0)]).collect();
        let mut influences = Influences::from_rows(rows.iter());
        let mut cooked = CookedMesh::default();
        cooked.update(&influences, &[0, 1, 2, 3]);
        let before = cooked.chunks().to_vec();
        assert_eq!(cooked.bound(4), [true, true, true, false]);
        influences.swap_rows(&[1500], &mut [vec![(3, 1.0)]].into_iter().collect());
        cooked.update(&influences, &[0, 1, 2, 3]);
        let kept: Vec<bool> = before
            .iter()
            .zip(cooked.chunks())
            .map(|(a, b)| Arc::ptr_eq(a, b))
            .collect();
        assert_eq!(kept, [true, false, true]);
        assert!(cooked.bound(4)[3]);
    }

    #[test]
    fn the_order_is_dense_and_stable() {
        assert_eq!(joint_order([40, 7, 7, 90]), [2, 0, 1, 3]);
    }
}
