//! Triangles of a surface that cross each other.

use super::surface::Surface;
use crate::mesh::box_tree::{Bounds, BoxTree};
use crate::mesh::triangle::cross;
use glam::DVec3;
use rayon::prelude::*;

/// Pairs of triangles of one shell that cross at `x`, without a common point; (lower, higher), ascending. `among`: the
/// triangles that count, ascending.
pub(super) fn crossing_pairs(surface: &Surface, among: &[u32], x: &[DVec3]) -> Vec<(u32, u32)> {
    let corners = |t: u32| surface.triangles[t as usize].map(|p| x[p as usize]);
    let bounds = |i: u32| Bounds::around(corners(among[i as usize]));
    let tree = BoxTree::new(among.len(), bounds);
    let shell = |t: u32| surface.shells[surface.triangles[t as usize][0] as usize];
    let of_one = |i: usize| {
        let t = among[i];
        let (own, own_points) = (corners(t), surface.triangles[t as usize]);
        let mut found = Vec::new();
        tree.overlapping(&Bounds::around(own), |k| {
            let other = among[k as usize];
            if other <= t || shell(other) != shell(t) {
                return;
            }
            let points = surface.triangles[other as usize];
            let is_apart = !points.iter().any(|p| own_points.contains(p));
            if is_apart && cross(own, corners(other)) {
                found.push((t, other));
            }
        });
        found.sort_unstable();
        found
    };
    let found: Vec<Vec<(u32, u32)>> = (0..among.len()).into_par_iter().map(of_one).collect();
    found.concat()
}

/// The triangles in some of these pairs, ascending.
pub(super) fn triangles_of(pairs: impl IntoIterator<Item = (u32, u32)>) -> Vec<u32> {
    let mut found: Vec<u32> = pairs.into_iter().flat_map(|(a, b)| [a, b]).collect();
    found.sort_unstable();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fin_through_a_face_is_found_in_its_shell_alone() {
        let places = [
            [0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0],
            [0.0, 1.0, 0.0],
            [0.2, 0.2, -1.0],
            [0.3, 0.2, -1.0],
            [0.2, 0.3, 1.0],
        ];
        let places = places.map(DVec3::from_array).to_vec();
        let triangles = vec![[0, 1, 2], [3, 4, 5]];
        let one = Surface::new(places.clone(), triangles.clone(), vec![0; 6]);
        let pairs = crossing_pairs(&one, &[0, 1], &places);
        assert_eq!(pairs, [(0, 1)]);
        assert_eq!(triangles_of(pairs), [0, 1]);
        let two = Surface::new(places.clone(), triangles, vec![0, 0, 0, 1, 1, 1]);
        assert!(crossing_pairs(&two, &[0, 1], &places).is_empty());
    }
}
