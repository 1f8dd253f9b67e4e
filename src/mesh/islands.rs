//! Connected parts of a surface, and growing and shrinking sets of points.

use super::{PointSet, Topology};
use rayon::prelude::*;

/// The island of each point: points joined by edges, or by lying at one bind position (a seam whose sides carry
/// different weights), have one number. Islands are numbered by their lowest point, from 0.
pub(super) fn islands(topology: &Topology, n_points: usize) -> Vec<u32> {
    let mut parent: Vec<u32> = (0..n_points as u32).collect();
    for &[a, b, c] in &topology.triangles {
        join(&mut parent, a, b);
        join(&mut parent, a, c);
    }
    for (point, twin) in topology.coincident_pairs() {
        join(&mut parent, point, twin);
    }
    let mut n = 0;
    let mut label = vec![0; n_points];
    for point in 0..n_points as u32 {
        let root = find(&mut parent, point);
        // A root is the lowest point of its island: its number is set before any other point needs it.
        if root == point {
            label[point as usize] = n;
            n += 1;
        } else {
            label[point as usize] = label[root as usize];
        }
    }
    label
}

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

fn find(parent: &mut [u32], mut point: u32) -> u32 {
    while parent[point as usize] != point {
        let above = parent[parent[point as usize] as usize];
        parent[point as usize] = above;
        point = above;
    }
    point
}

fn join(parent: &mut [u32], a: u32, b: u32) {
    let (a, b) = (find(parent, a), find(parent, b));
    parent[a.max(b) as usize] = a.min(b);
}
