//! Connected parts of a surface, and growing and shrinking sets of points.

use super::{PointSet, Topology};
use rayon::prelude::*;

/// All points of the islands that contain one of `points`.
pub fn linked(topology: &Topology, points: &PointSet, n_points: usize) -> PointSet {
    let label = topology.islands(n_points);
    let wanted: PointSet = points
        .iter()
        .filter_map(|p| label.get(p as usize).copied())
        .collect();
    let word = |labels: &[u32]| {
        let bits = labels.iter().enumerate();
        bits.fold(0, |word, (i, &l)| word | u64::from(wanted.contains(l)) << i)
    };
    PointSet::from_words(label.par_chunks(64).map(word).collect())
}

/// `points` and their neighbours along edges, across seams.
pub fn grow(topology: &Topology, points: &PointSet, n_points: usize) -> PointSet {
    let mut from = points.clone();
    add_twins(topology, &mut from);
    let word = |index: usize| {
        let first = index as u32 * 64;
        let known = from.word(index);
        (0..64.min(n_points as u32 - first)).fold(known, |word, i| {
            let reached = word >> i & 1 == 1
                || topology
                    .neighbours(first + i)
                    .iter()
                    .any(|&q| from.contains(q));
            word | u64::from(reached) << i
        })
    };
    let words = (0..n_points.div_ceil(64)).into_par_iter().map(word);
    let mut grown = PointSet::from_words(words.collect());
    add_twins(topology, &mut grown);
    grown
}

/// `points` without those that have a neighbour among `others`.
pub fn shrink(
    topology: &Topology,
    points: &PointSet,
    others: &PointSet,
    n_points: usize,
) -> PointSet {
    let mut left = points.clone();
    left.subtract(&grow(topology, others, n_points));
    left
}

/// Adds, for each point, all others at its bind position.
fn add_twins(topology: &Topology, points: &mut PointSet) {
    let mut done = PointSet::default();
    for (point, _) in topology.coincident_pairs() {
        if !points.contains(point) || done.contains(point) {
            continue;
        }
        let mut at = point;
        while done.insert(at) {
            points.insert(at);
            at = topology.next_coincident(at).unwrap_or(point);
        }
    }
}
