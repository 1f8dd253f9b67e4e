//! A greedy choice of clusters that brings the patches close to the shape that they stand for.

use super::rows::Rows;
use super::surface::ClusterSurface;
use crate::task::{Cancelled, Task};
use std::collections::VecDeque;

/// The largest number of rounds; then some vertices of an area are too far apart in weights for any patch.
const MOST_ROUNDS: usize = 60;

/// The part of the vertices of the first round, and that a round adds.
const PER_ROUND: f64 = 0.01;

/// The smallest number of clusters that a round adds, where there are so many.
const LEAST_PER_ROUND: usize = 4;

/// Clusters of one round are more than this many edges apart.
const APART: usize = 2;

/// A vertex is chosen only if its error is more than this part of the wanted one, which is the error of patches near it.
const WORTHWHILE: f64 = 0.5;

/// When [`suggest`] stops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SuggestSettings {
    /// The largest error of a vertex to reach, in the unit of the measure.
    pub error: f64,
    /// The most clusters.
    pub most: usize,
}

/// The errors of a set of clusters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClusterErrors {
    /// n_vertices: the largest of each vertex over the training poses.
    pub of_vertices: Vec<f64>,
    /// Their root mean square over vertices and poses.
    pub rms: f64,
}

/// The error of the clusters of one round.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SuggestRound {
    /// Number of clusters.
    pub n_clusters: usize,
    /// Root mean square.
    pub rms: f64,
    /// The largest.
    pub largest: f64,
}

/// Suggested clusters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Suggestion {
    /// n_vertices.
    pub clusters: Vec<bool>,
    /// The vertices that each round adds, before it is measured.
    pub added: Vec<Vec<u32>>,
    /// The error of each round, the last one that of `clusters`: error against count.
    pub rounds: Vec<SuggestRound>,
}

/// Adds clusters to `given` (n_vertices; may be empty of clusters) until `measure` finds no larger error than `settings`
/// asks for, or none is left to add.
///
/// Greedy (METHODS 1.7): each round marks about 1 % of the vertices, those with the largest errors over the training poses,
/// more than two edges apart. Without given clusters the first ones are spread evenly. Fails as `measure` does, and when
/// it is cancelled.
pub fn suggest<E: From<Cancelled>>(
    surface: &ClusterSurface,
    given: &[bool],
    settings: SuggestSettings,
    mut measure: impl FnMut(&[bool]) -> Result<ClusterErrors, E>,
    task: &Task,
) -> Result<Suggestion, E> {
    let edges = Edges::new(surface);
    let per_round = ((surface.n_vertices() as f64 * PER_ROUND) as usize).max(LEAST_PER_ROUND);
    let mut found = Suggestion {
        clusters: given.to_vec(),
        ..Suggestion::default()
    };
    let mut fresh = Vec::new();
    if !given.contains(&true) {
        fresh = edges.spread(given.len(), per_round.min(settings.most));
        // There may be more than asked for; those that stay are from the whole mesh.
        let (n, most) = (fresh.len(), settings.most.min(fresh.len()));
        fresh = (0..most).map(|i| fresh[i * n / most]).collect();
    }
    for round in 0..MOST_ROUNDS {
        for &v in &fresh {
            found.clusters[v as usize] = true;
        }
        found.added.push(std::mem::take(&mut fresh));
        task.step("Choosing clusters", round as f32 / MOST_ROUNDS as f32)?;
        let errors = measure(&found.clusters)?;
        let n_clusters = found.clusters.iter().filter(|c| **c).count();
        let largest = errors.of_vertices.iter().copied().fold(0.0, f64::max);
        found.rounds.push(SuggestRound {
            n_clusters,
            rms: errors.rms,
            largest,
        });
        let left = settings.most.saturating_sub(n_clusters).min(per_round);
        if largest <= settings.error || round + 1 == MOST_ROUNDS {
            break;
        }
        let least = WORTHWHILE * settings.error;
        fresh = edges.worst(&errors.of_vertices, least, left, &found.clusters);
        if fresh.is_empty() {
            break;
        }
    }
    Ok(found)
}

/// The neighbours of each vertex, ascending.
struct Edges(Rows);

impl Edges {
    fn new(surface: &ClusterSurface) -> Self {
        let sides = surface
            .triangles
            .iter()
            .flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a), (b, a), (c, b), (a, c)]);
        let mut pairs: Vec<(u32, u32)> = sides.collect();
        pairs.sort_unstable();
        pairs.dedup();
        Self(Rows::new(surface.n_vertices(), pairs.into_iter()))
    }

    /// Marks the vertices within `reach` edges of `v` in `near`.
    fn mark_near(&self, v: u32, reach: usize, near: &mut [bool]) {
        let mut ring = vec![v];
        near[v as usize] = true;
        for _ in 0..reach {
            let next: Vec<u32> = ring.iter().flat_map(|&v| self.0.row(v)).copied().collect();
            for &w in &next {
                near[w as usize] = true;
            }
            ring = next;
        }
    }

    /// Up to `count` vertices that are no clusters and have errors above `least`, the largest first, of equal ones the
    /// first.
    fn worst(&self, errors: &[f64], least: f64, count: usize, clusters: &[bool]) -> Vec<u32> {
        let mut order: Vec<u32> = (0..errors.len() as u32)
            .filter(|&v| !clusters[v as usize] && errors[v as usize] > least)
            .collect();
        order.sort_by(|&a, &b| errors[b as usize].total_cmp(&errors[a as usize]));
        let mut near = vec![false; clusters.len()];
        let mut chosen = Vec::new();
        for v in order {
            if chosen.len() == count {
                break;
            }
            if !near[v as usize] {
                chosen.push(v);
                self.mark_near(v, APART, &mut near);
            }
        }
        chosen
    }

    /// About `n` vertices spread evenly over the surface, at least one for each component: each takes the vertices
    /// nearest to it along edges, as many as its share.
    fn spread(&self, n_vertices: usize, n: usize) -> Vec<u32> {
        let reach = (n_vertices / n.max(1)).max(1);
        let mut taken = vec![false; n_vertices];
        let mut seeds = Vec::new();
        for seed in 0..n_vertices as u32 {
            // Vertices without triangles have no patches.
            if taken[seed as usize] || self.0.row(seed).is_empty() {
                continue;
            }
            seeds.push(seed);
            taken[seed as usize] = true;
            let mut queue = VecDeque::from([seed]);
            let mut n_taken = 1;
            while let Some(vertex) = queue.pop_front() {
                for &next in self.0.row(vertex) {
                    if !taken[next as usize] && n_taken < reach {
                        taken[next as usize] = true;
                        n_taken += 1;
                        queue.push_back(next);
                    }
                }
            }
        }
        seeds
    }
}
