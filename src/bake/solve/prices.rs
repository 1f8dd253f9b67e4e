//! Prices of what a correction adds to a glTF file, bytes. Measured on written files.

use crate::bake::normal_angles::compared_normals;
use crate::bake::problem::Problem;
use crate::bake::problem::group::{Group, GroupMesh};
use crate::bake::problem::sampling::{Sampling, times_of};

/// A helper joint besides its tracks: a node, a slot, an inverse bind matrix.
pub(super) const HELPER_BYTES: f64 = 160.0;

/// A track of a helper joint in a clip besides its keys: an accessor, a sampler, a channel.
pub(super) const TRACK_BYTES: f64 = 200.0;

/// Fraction of keyframes that key reduction leaves.
const KEPT_KEYS: f64 = 0.7;

/// A rotation key (four 16-bit numbers), and a translation key.
pub(super) const ROTATION_KEY_BYTES: f64 = 8.0;
pub(super) const TRANSLATION_KEY_BYTES: f64 = 12.0;

/// Translation tracks of a helper that follows a blend, of 1: a blend of two joints turns about a fixed point.
const BLEND_TRANSLATIONS: f64 = 0.7;

/// A morph target with its accessors and buffer views.
const MORPH_BYTES: f64 = 330.0;

/// An entry of a sparse accessor: an index of 16 bits and three floats.
pub(crate) const ENTRY_BYTES: f64 = 14.0;

/// The same with three numbers of 16 bits, as positions have them with `--quantize`, and of 8 bits, as normals.
const QUANTIZED_ENTRY_BYTES: f64 = 8.0;
const QUANTIZED_NORMAL_BYTES: f64 = 5.0;

/// Fraction of the entries of a target that stays when displacements that hardly move a point are dropped.
const KEPT_ENTRIES: f64 = 0.7;

/// Entries that turn normals, as a fraction of those that displace points.
const TURNED: f64 = 0.3;

/// A weight in a weights track: most take 8 bits, the others 16.
pub(crate) const WEIGHT_BYTES: f64 = 1.0;

/// The price of the memory that a player needs for a target, by vertex: players expand sparse targets to 16 bytes a
/// vertex. It is not in the file, so it weighs less than a byte of it.
const MEMORY_BYTES: f64 = 0.2;

/// What one morph target of a mesh costs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MorphPrices {
    /// Besides its entries.
    pub(crate) target: f64,
    /// The bytes of a target besides its entries and its weights in the tracks.
    pub(crate) target_alone: f64,
    /// For each point that it moves.
    pub(crate) entry: f64,
    /// The tracks of the mesh besides their keys, once for all targets.
    pub(crate) tracks: f64,
    /// Targets beside the displacements: 1 where weights are unipolar.
    pub(crate) extra: usize,
}

impl MorphPrices {
    /// The bytes of blocks of displacements: their number, and the points that they move.
    pub(crate) fn of(&self, blocks: impl Iterator<Item = (usize, f64)>) -> f64 {
        let mut bytes = 0.0;
        let mut moved = 0.0;
        for (k, points) in blocks {
            bytes += self.of_block(k, points);
            moved += points;
        }
        if bytes <= 0.0 {
            return 0.0;
        }
        bytes + self.of_block(self.extra, moved) + self.tracks
    }

    /// The bytes of k targets that move a number of points.
    pub(crate) fn of_block(&self, k: usize, points: f64) -> f64 {
        k as f64 * (points * self.entry + self.target)
    }

    /// The bytes of a target with `n` entries that are all kept, without its weights in the tracks.
    pub(super) fn of_written(&self, n: usize) -> f64 {
        self.target_alone + self.entry / KEPT_ENTRIES * n as f64
    }
}

impl Problem<'_> {
    /// The bytes of a helper joint with its tracks in all clips.
    pub(crate) fn helper_bytes(&self, group: &Group, sampling: &Sampling) -> f64 {
        let n_keys: usize = sampling.keys.iter().map(Vec::len).sum();
        let n_moved = sampling.keys.iter().filter(|keys| !keys.is_empty()).count();
        let translations = if self.refines(group) {
            1.0
        } else {
            BLEND_TRANSLATIONS
        };
        let key_bytes = ROTATION_KEY_BYTES + translations * TRANSLATION_KEY_BYTES;
        let keys = KEPT_KEYS * key_bytes * n_keys as f64;
        let tracks = (1.0 + translations) * TRACK_BYTES * n_moved as f64;
        group.joint_sets.len() as f64 * (HELPER_BYTES + keys + tracks)
    }

    /// The bytes of an entry of a sparse accessor of displacements.
    fn entry_bytes(&self) -> f64 {
        if self.options.quantize {
            QUANTIZED_ENTRY_BYTES
        } else {
            ENTRY_BYTES
        }
    }

    /// The bytes of an entry of a sparse accessor of normal deltas.
    pub(crate) fn normal_entry_bytes(&self) -> f64 {
        if self.options.quantize {
            QUANTIZED_NORMAL_BYTES
        } else {
            ENTRY_BYTES
        }
    }

    /// The prices of morph targets of a mesh.
    pub(crate) fn morph_prices(&self, part: &GroupMesh, sampling: &Sampling) -> MorphPrices {
        let (points, vertices) = (part.geometry.n_points(), part.geometry.n_vertices() as f64);
        let keys = times_of(&sampling.keys, self.corrected).len() as f64;
        let n_clips = self.corrected.iter().filter(|c| **c).count() as f64;
        let n_drawn = part.instances.len() as f64;
        let item = self.sampler.item(part.mesh);
        let item = item.filter(|_| self.options.normals);
        let has_normals =
            item.is_some_and(|item| !compared_normals(&part.geometry, &item.influences).is_empty());
        let entry = self.entry_bytes();
        let turned = if has_normals {
            TURNED * self.normal_entry_bytes()
        } else {
            0.0
        };
        let target_alone = MORPH_BYTES + MEMORY_BYTES * vertices;
        MorphPrices {
            target: target_alone + n_drawn * WEIGHT_BYTES * keys,
            target_alone,
            entry: (entry + turned) * KEPT_ENTRIES * vertices / points.max(1) as f64,
            tracks: n_drawn * TRACK_BYTES * n_clips,
            extra: usize::from(self.options.unipolar),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_pay_for_their_own_points() {
        let prices = MorphPrices {
            target: 100.0,
            target_alone: 80.0,
            entry: 10.0,
            tracks: 50.0,
            extra: 1,
        };
        assert_eq!(prices.of(std::iter::empty()), 0.0);
        // 2 (30 x 10 + 100) and one more of all points, for the offset.
        assert_eq!(prices.of([(2, 30.0)].into_iter()), 800.0 + 400.0 + 50.0);
        // Seven kept entries cost as much as ten entries, three of which will be dropped.
        assert!((prices.of_written(7) - (80.0 + 100.0)).abs() < 1e-9);
        let apart = prices.of([(1, 10.0), (1, 20.0)].into_iter());
        assert_eq!(apart, 200.0 + 300.0 + 400.0 + 50.0);
    }
}
