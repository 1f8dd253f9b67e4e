//! What an artist had to make for a stack: shapes, marks and muscles.

use crate::document::Document;
use serde::Serialize;

/// Bytes of a sculpted vertex: its number and its displacement.
const SCULPTED_BYTES: usize = 4 + 3 * 4;
/// Bytes of the rotation of a driver bone at a sample.
const ROTATION_BYTES: usize = 4 * 4;
/// Bytes of a marked vertex: its number and its group.
const MARK_BYTES: usize = 4 + 2;
/// Bytes of a muscle: two bones and nine numbers.
const MUSCLE_BYTES: usize = 2 * 4 + 9 * 8;

/// The work that a stack takes beside the skin weights, which all stacks share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Made {
    /// Corrective samples.
    pub(crate) samples: usize,
    /// Vertices that they move, once for each sample.
    pub(crate) sculpted_vertices: usize,
    /// Control clusters.
    pub(crate) marked_vertices: usize,
    /// Muscles of clusters.
    pub(crate) muscles: usize,
    /// What all of it takes, uncompressed.
    pub(crate) bytes: usize,
}

impl Made {
    /// What a document has, with the samples and clusters that a stack leaves out already removed.
    pub(crate) fn of(document: &Document) -> Self {
        let mut made = Self::default();
        for item in document.meshes().values() {
            for set in item.correctives.sets() {
                for sample in set.samples.iter().filter(|sample| sample.acts()) {
                    made.samples += 1;
                    made.sculpted_vertices += sample.displacements.n_points();
                    made.bytes += ROTATION_BYTES * sample.rotations.len();
                }
            }
            made.marked_vertices += item.clusters.n_clusters();
            made.muscles += item.clusters.muscles().filter(|(_, m)| !m.muted).count();
        }
        made.bytes += SCULPTED_BYTES * made.sculpted_vertices
            + MARK_BYTES * made.marked_vertices
            + MUSCLE_BYTES * made.muscles;
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::open_sample;
    use crate::task::Task;

    #[test]
    fn what_a_stack_leaves_out_was_not_made() {
        let arm = open_sample("control-clusters-arm", &Task::new()).unwrap();
        let all = Made::of(&arm.document);
        assert_eq!((all.samples, all.sculpted_vertices, all.muscles), (1, 4, 1));
        assert_eq!(
            all.bytes,
            16 + 4 * 16 + 6 * all.marked_vertices + 80,
            "{all:?}"
        );
        let psd = Made::of(&arm.document.clone().without_clusters());
        assert_eq!((psd.marked_vertices, psd.muscles, psd.bytes), (0, 0, 80));
        assert_eq!(
            Made::of(&arm.document.without_clusters().without_correctives()),
            Made::default()
        );
    }
}
