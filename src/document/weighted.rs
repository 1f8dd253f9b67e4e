//! The joints that influence any point.

use super::{Document, MeshId, SkinId};
use crate::skinning::{Influences, RowRef, Rows};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The joints in the influences of each mesh, by chunk: only changed chunks are read again.
#[derive(Debug, Default)]
pub struct WeightedJoints {
    meshes: BTreeMap<MeshId, Vec<ChunkJoints>>,
}

/// The skin joints that influence any point of a chunk.
#[derive(Clone, Debug)]
struct ChunkJoints {
    /// The rows they were read from, compared by identity.
    rows: Arc<Rows>,
    /// Ascending.
    joints: Arc<[u16]>,
}

impl ChunkJoints {
    fn read(rows: &Arc<Rows>) -> Self {
        let mut used = Vec::new();
        for (joint, _) in rows.iter().flat_map(RowRef::iter) {
            let joint = usize::from(joint);
            if joint >= used.len() {
                used.resize(joint + 1, false);
            }
            used[joint] = true;
        }
        let joints = (0..used.len()).filter(|&joint| used[joint]);
        Self {
            rows: rows.clone(),
            joints: joints.map(|joint| joint as u16).collect(),
        }
    }
}

impl WeightedJoints {
    /// n_joints of the skeleton: whether the joint influences any point.
    pub fn update(&mut self, document: &Document) -> Vec<bool> {
        self.meshes
            .retain(|mesh, _| document.meshes().contains_key(mesh));
        let mut mask = vec![false; document.skeleton().len()];
        for (&mesh, item) in document.meshes() {
            let chunks = self.meshes.entry(mesh).or_default();
            *chunks = read_again(chunks, &item.influences);
            let used: BTreeSet<u16> = chunks
                .iter()
                .flat_map(|chunk| chunk.joints.iter().copied())
                .collect();
            let instances = document.instances().values().filter(|i| i.mesh == mesh);
            let skins: BTreeSet<SkinId> = instances.filter_map(|i| i.skin).collect();
            for skin in skins.iter().filter_map(|id| document.skins().get(id)) {
                let joints = used.iter().filter_map(|&i| skin.joints.get(usize::from(i)));
                joints.for_each(|joint| mask[joint.get()] = true);
            }
        }
        mask
    }
}

/// The joints of the chunks of `influences`; only chunks whose rows changed are read.
fn read_again(known: &[ChunkJoints], influences: &Influences) -> Vec<ChunkJoints> {
    let chunks = influences.chunks().par_iter().enumerate();
    let read = chunks.map(|(c, rows)| match known.get(c) {
        Some(known) if Arc::ptr_eq(&known.rows, rows) => known.clone(),
        _ => ChunkJoints::read(rows),
    });
    read.collect()
}

impl Document {
    /// n_joints of the skeleton: whether the joint influences any point. Reads all influences: keep a [`WeightedJoints`]
    /// if they change.
    pub fn weighted_joints(&self) -> Vec<bool> {
        WeightedJoints::default().update(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_chunks_with_other_rows_are_read_again() {
        let rows: Rows = (0..3000).map(|p| vec![((p % 3) as u16, 1.0)]).collect();
        let mut influences = Influences::from_rows(rows.iter());
        let before = read_again(&[], &influences);
        let joints = |chunks: &[ChunkJoints]| -> Vec<Vec<u16>> {
            chunks.iter().map(|chunk| chunk.joints.to_vec()).collect()
        };
        assert_eq!(joints(&before), vec![vec![0, 1, 2]; 3]);
        influences.swap_rows(&[1500], &mut [vec![(7, 1.0)]].into_iter().collect());
        let after = read_again(&before, &influences);
        assert_eq!(
            joints(&after),
            [vec![0, 1, 2], vec![0, 1, 2, 7], vec![0, 1, 2]]
        );
        let is_kept = |c: usize| Arc::ptr_eq(&before[c].joints, &after[c].joints);
        assert_eq!([is_kept(0), is_kept(1), is_kept(2)], [true, false, true]);
    }
}
