//! The bytes that a solution adds to a file, from its tracks, morph targets and weights. Estimates compare candidates before
//! they are solved; this number compares solutions.

use super::MeshSolution;
use super::helper_tracks::{Helper, Track};
use super::prices::{HELPER_BYTES, ROTATION_KEY_BYTES, TRACK_BYTES, TRANSLATION_KEY_BYTES};
use super::weight_ranges::bytes_of_weight;
use crate::bake::problem::Problem;
use crate::bake::problem::group::{Group, GroupMesh};
use crate::bake::problem::rows::WeightRow;
use crate::bake::problem::sampling::Sampling;
use crate::bake::problem::set_bytes::SET_BYTES;
use std::collections::BTreeSet;

impl Problem<'_> {
    /// The bytes of a solution's helper joints, tracks, morph targets and weights, less those of the sets of influences that
    /// its weights no longer need. `SetBytes::kept` is not included. Normal deltas are estimated as for candidates.
    pub(super) fn bytes_of(
        &self,
        group: &Group,
        sampling: &Sampling,
        helpers: &[Vec<Helper>],
        meshes: &[MeshSolution],
    ) -> f64 {
        let has_helpers = helpers.iter().any(|helpers| !helpers.is_empty());
        let helpers = helpers.iter().flatten();
        let helpers = helpers
            .map(|helper| HELPER_BYTES + helper.tracks.iter().map(bytes_of_track).sum::<f64>());
        let mut bytes: f64 = helpers.sum();
        for (part, mesh) in group.meshes.iter().zip(meshes) {
            let prices = self.morph_prices(part, sampling);
            let columns = mesh.basis.columns();
            let moved = columns.iter().map(Vec::len);
            bytes += moved.map(|n| prices.of_written(n)).sum::<f64>();
            if prices.extra > 0 && !columns.is_empty() {
                let places = columns.iter().flatten().map(|entry| entry.0);
                bytes += prices.of_written(places.collect::<BTreeSet<u32>>().len());
            }
            let k = (columns.len() + prices.extra) as f64;
            let ranges = &mesh.ranges.by_displacement;
            for (weights, kept) in mesh.weights.iter().zip(&mesh.kept) {
                for (weights, kept) in weights.iter().zip(kept) {
                    let rows: Vec<&[f64]> = match kept {
                        Some(kept) => kept.iter().map(|&key| &weights[key][..]).collect(),
                        None => weights.iter().map(Vec::as_slice).collect(),
                    };
                    if !rows.is_empty() && !columns.is_empty() {
                        let of_weight = bytes_of_weight(rows.iter().copied(), ranges);
                        bytes += TRACK_BYTES + of_weight * k * rows.len() as f64;
                    }
                }
            }
            bytes -= SET_BYTES * part.geometry.n_vertices() as f64 * sets_saved(part, &mesh.rows);
            if has_helpers {
                bytes += bytes_of_new_rows(part);
            }
        }
        bytes
    }
}

fn bytes_of_track(track: &Track) -> f64 {
    let property = |n: usize, of_key: f64| match n {
        0 => 0.0,
        n => TRACK_BYTES + of_key * n as f64,
    };
    property(track.rotation.times.len(), ROTATION_KEY_BYTES)
        + property(track.translation.times.len(), TRANSLATION_KEY_BYTES)
        + property(track.scale.times.len(), TRANSLATION_KEY_BYTES)
}

/// The number of sets of four influences that a mesh saves with these rows of its active points.
fn sets_saved(part: &GroupMesh, rows: &[WeightRow]) -> f64 {
    saved(part, rows.iter().map(Vec::len))
}

/// The bytes that the sets of influences of a mesh save if its active points have one set each, as with helper joints;
/// negative where they grow.
pub(super) fn bytes_saved_in_sets(part: &GroupMesh) -> f64 {
    let saved = saved(part, std::iter::repeat(1));
    SET_BYTES * part.geometry.n_vertices() as f64 * saved - bytes_of_new_rows(part)
}

/// The bytes by which the first set of influences of a mesh grows with new rows. Points that need no correction keep theirs.
fn bytes_of_new_rows(part: &GroupMesh) -> f64 {
    if part.active.is_empty() {
        0.0
    } else {
        part.set_bytes.rewritten
    }
}

/// The number of sets that a mesh saves, given the lengths of the rows of its active points.
fn saved(part: &GroupMesh, lengths: impl Iterator<Item = usize>) -> f64 {
    let mut after: Vec<usize> = part.weights.iter().map(Vec::len).collect();
    let sets = |longest: Option<&usize>| longest.map_or(0, |n| n.div_ceil(4)) as f64;
    let before = sets(after.iter().max());
    for (&point, n) in part.active.iter().zip(lengths) {
        after[point as usize] = n;
    }
    before - sets(after.iter().max())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bake::solve::helper_tracks::Keys;
    use glam::DVec3;

    #[test]
    fn a_track_takes_the_bytes_of_its_properties_and_keyframes() {
        assert_eq!(bytes_of_track(&Track::default()), 0.0);
        let track = Track {
            translation: Keys {
                times: vec![0.0, 1.0],
                values: vec![DVec3::ZERO, DVec3::X],
            },
            ..Track::default()
        };
        assert_eq!(
            bytes_of_track(&track),
            TRACK_BYTES + 2.0 * TRANSLATION_KEY_BYTES
        );
    }
}
