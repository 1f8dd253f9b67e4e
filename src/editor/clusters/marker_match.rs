//! Markers and the clusters nearest to them.

use crate::cluster::channel::{Binding, Similarity};
use crate::mesh::PointTree;
use glam::{DVec3, Vec3};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A marker with its cluster.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Matched {
    /// The binding of the marker to the one cluster.
    pub(super) binding: Binding,
    /// Between them, metres.
    pub(super) distance: f64,
}

/// The nearest pairs of markers (with their places) and clusters (points with their places, world, metres): of all pairs the
/// nearest first, each marker and each cluster once.
///
/// `fit` takes markers to the world. Without one they are taken as they are or, if they `may_move`, with their middle on that
/// of the clusters, whichever brings the pairs nearer.
pub(super) fn match_markers(
    markers: &[(Binding, DVec3)],
    clusters: &[(u32, DVec3)],
    fit: Option<&Similarity>,
    may_move: bool,
) -> Vec<Matched> {
    let places: Vec<DVec3> = markers.iter().map(|(_, place)| *place).collect();
    let moved = |by: DVec3| places.iter().map(|p| *p + by).collect::<Vec<_>>();
    let pairs = match fit {
        Some(fit) => nearest_pairs(
            &places.iter().map(|p| fit.point(*p)).collect::<Vec<_>>(),
            clusters,
        ),
        None => {
            let as_they_are = nearest_pairs(&places, clusters);
            let middle = |places: &mut dyn Iterator<Item = DVec3>, n: usize| {
                places.sum::<DVec3>() / (n as f64).max(1.0)
            };
            let from = middle(&mut places.iter().copied(), places.len());
            let to = middle(&mut clusters.iter().map(|c| c.1), clusters.len());
            let onto = nearest_pairs(&moved(to - from), clusters);
            let sum = |pairs: &[Pair]| pairs.iter().map(|pair| pair.distance).sum::<f64>();
            if may_move && sum(&onto) < sum(&as_they_are) {
                onto
            } else {
                as_they_are
            }
        }
    };
    let matched = pairs.into_iter().map(|pair| Matched {
        binding: Binding {
            clusters: vec![clusters[pair.cluster].0],
            ..markers[pair.marker].0.clone()
        },
        distance: pair.distance,
    });
    matched.collect()
}

/// Indices of a marker and a cluster.
struct Pair {
    marker: usize,
    cluster: usize,
    distance: f64,
}

/// In the order of the markers. Of all pairs the nearest is taken first: each marker waits with its nearest cluster, and looks
/// for another where that has been taken.
fn nearest_pairs(markers: &[DVec3], clusters: &[(u32, DVec3)]) -> Vec<Pair> {
    let places: Vec<Vec3> = clusters.iter().map(|c| c.1.as_vec3()).collect();
    let finite = (0u32..).zip(&places).filter(|(_, place)| place.is_finite());
    let tree = PointTree::new(&places, finite.map(|(cluster, _)| cluster).collect());
    let mut free = vec![true; clusters.len()];
    let nearest = |marker: usize, free: &[bool]| {
        let at = markers[marker].as_vec3();
        let found = tree.nearest_by(&places, at, f32::MAX.sqrt(), |cluster| {
            let apart = places[cluster as usize].distance_squared(at);
            let taken = if free[cluster as usize] {
                0.0
            } else {
                f32::INFINITY
            };
            (apart + taken, cluster)
        })?;
        let distance = markers[marker].distance(clusters[found as usize].1);
        // Distances are not negative, so that their bits are in the order of their values.
        free[found as usize].then_some(Reverse((distance.to_bits(), marker, found)))
    };
    let first = (0..markers.len()).filter_map(|marker| nearest(marker, &free));
    let mut waiting: BinaryHeap<_> = first.collect();
    let mut pairs = Vec::new();
    while let Some(Reverse((distance, marker, cluster))) = waiting.pop() {
        if std::mem::replace(&mut free[cluster as usize], false) {
            pairs.push(Pair {
                marker,
                cluster: cluster as usize,
                distance: f64::from_bits(distance),
            });
        } else {
            waiting.extend(nearest(marker, &free));
        }
    }
    pairs.sort_by_key(|pair| pair.marker);
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn markers(places: &[DVec3]) -> Vec<(Binding, DVec3)> {
        let named = places.iter().zip(["a", "b", "c"]);
        named
            .map(|(place, name)| (Binding::new(name, Vec::new()), *place))
            .collect()
    }

    fn bound(matched: &[Matched]) -> Vec<(&str, u32)> {
        let pairs = matched.iter();
        pairs
            .map(|m| (m.binding.channel.as_str(), m.binding.clusters[0]))
            .collect()
    }

    #[test]
    fn each_marker_gets_the_nearest_cluster_that_is_free() {
        let clusters = [(4, DVec3::ZERO), (7, DVec3::X), (9, DVec3::X * 3.0)];
        let found = [DVec3::X * 0.4, DVec3::X * 0.1, DVec3::X * 2.5];
        let matched = match_markers(&markers(&found), &clusters, None, false);
        assert_eq!(bound(&matched), [("a", 7), ("b", 4), ("c", 9)]);
        assert!((matched[0].distance - 0.6).abs() < 1e-12);
        let fewer = match_markers(&markers(&found), &clusters[..1], None, false);
        assert_eq!(bound(&fewer), [("b", 4)]);
    }

    /// 60 markers and 20 000 clusters make 1.2 million pairs.
    #[test]
    fn many_clusters_are_matched_without_looking_at_all_pairs() {
        let at = |i: u32| DVec3::new(f64::from(i % 200), f64::from(i / 200), 0.0);
        let clusters: Vec<(u32, DVec3)> = (0..20_000).map(|i| (i, at(i))).collect();
        let places: Vec<DVec3> = (0..60).map(|i| at(i * 331) + DVec3::X * 0.4).collect();
        let pairs = nearest_pairs(&places, &clusters);
        let found: Vec<usize> = pairs.iter().map(|pair| pair.cluster).collect();
        assert_eq!(found, (0..60).map(|i| i * 331).collect::<Vec<_>>());
        // All at one place: each takes the next free one.
        let pairs = nearest_pairs(&[at(0); 4], &clusters);
        let sum: f64 = pairs.iter().map(|pair| pair.distance).sum();
        assert!((sum - 2.0 - 2f64.sqrt()).abs() < 1e-12, "{sum}");
    }

    #[test]
    fn markers_beside_the_model_are_moved_onto_it_first() {
        let clusters = [(4, DVec3::ZERO), (7, DVec3::X), (9, DVec3::X * 3.0)];
        let away = DVec3::new(50.0, 2.0, 0.0);
        let found = [away + DVec3::X * 3.0, away, away + DVec3::X];
        let matched = match_markers(&markers(&found), &clusters, None, true);
        assert_eq!(bound(&matched), [("a", 9), ("b", 4), ("c", 7)]);
        assert!(matched.iter().all(|m| m.distance < 1e-9));
    }
}
