//! A choice of clusters that brings the patches close to a skin.

use super::exact::ExactPatches;
use super::frame::CornerFrame;
use super::interpolation::PatchOptions;
use super::layout::Layout;
use super::net::ControlNet;
use super::rows::Rows;
use super::surface::ClusterSurface;
use crate::task::{Cancelled, Task};
use glam::DVec3;

/// The fraction of the vertices that a round adds.
const PER_ROUND: f64 = 0.01;

/// Vertices of one round are more than this many edges apart.
const APART: usize = 2;

/// The first clusters are more than this many edges apart: about one vertex in a hundred of a regular mesh.
const FIRST_APART: usize = 7;

/// A pose that clusters are chosen for.
#[derive(Clone, Debug, Default)]
pub struct TrainingPose {
    /// n_vertices: the skinned surface, metres.
    pub skinned: Vec<DVec3>,
    /// n_vertices: the frame of each vertex if it is a corner.
    pub frames: Vec<CornerFrame>,
}

/// When [`suggest`] stops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SuggestSettings {
    /// The root mean square error of the free vertices to reach, metres.
    pub error: f64,
    /// The most clusters.
    pub most: usize,
}

/// The error of a set of clusters.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SuggestRound {
    /// Number of clusters.
    pub n_clusters: usize,
    /// Number of anchors that the layout needed beside them.
    pub n_anchors: usize,
    /// Root mean square over the free vertices and the poses, metres.
    pub rms: f64,
    /// The largest, metres.
    pub largest: f64,
}

/// Suggested clusters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Suggestion {
    /// n_vertices.
    pub clusters: Vec<bool>,
    /// The error of each round, the last one that of `clusters`: error against count.
    pub rounds: Vec<SuggestRound>,
}

/// Adds clusters to `given` (n_vertices; may be empty of clusters) until the patches are as close to the skin at `poses` as
/// `settings` asks.
///
/// Greedy: each round marks about 1 % of the vertices, those with the largest errors over the poses, more than two edges
/// apart. The best round is not always the last; all are reported. Fails when it is cancelled.
pub fn suggest(
    surface: &ClusterSurface,
    given: &[bool],
    poses: &[TrainingPose],
    options: PatchOptions,
    settings: SuggestSettings,
    task: &Task,
) -> Result<Suggestion, Cancelled> {
    let edges = Edges::new(surface);
    let mut clusters = given.to_vec();
    edges.cover(&mut clusters, settings.most);
    let per_round = (PER_ROUND * surface.n_vertices() as f64).ceil() as usize;
    let mut rounds: Vec<SuggestRound> = Vec::new();
    loop {
        let n_clusters = clusters.iter().filter(|c| **c).count();
        let by_count = n_clusters as f64 / settings.most.max(1) as f64;
        task.step("Suggesting clusters", by_count as f32)?;
        let layout = Layout::quietly(surface, &clusters, task)?;
        let (errors, mut round) = errors(surface, &layout, poses, options, task)?;
        round.n_clusters = n_clusters;
        rounds.push(round);
        let left = settings.most.saturating_sub(n_clusters).min(per_round);
        let is_done = round.rms <= settings.error || left == 0;
        if is_done || !edges.mark_worst(&errors, settings.error, left, &mut clusters) {
            return Ok(Suggestion { clusters, rounds });
        }
    }
}

/// n_vertices: the largest error of each free vertex over the poses, metres, and their summary.
fn errors(
    surface: &ClusterSurface,
    layout: &Layout,
    poses: &[TrainingPose],
    options: PatchOptions,
    task: &Task,
) -> Result<(Vec<f64>, SuggestRound), Cancelled> {
    let net = ControlNet::new(surface, layout);
    let patches = ExactPatches::new(surface, layout, &net, options);
    let mut errors = vec![0.0; surface.n_vertices()];
    let (mut sum, mut largest) = (0.0, 0.0f64);
    for pose in poses {
        task.check()?;
        let of_corner = |&v: &u32| pose.frames[v as usize];
        let frames: Vec<CornerFrame> = layout.corners.iter().map(of_corner).collect();
        for (free, place) in layout.free.iter().zip(patches.evaluate(&frames)) {
            let v = free.vertex as usize;
            let distance = place.distance(pose.skinned[v]);
            // A pose without a finite shape chooses nothing.
            if distance.is_finite() {
                errors[v] = f64::max(errors[v], distance);
                sum += distance * distance;
                largest = largest.max(distance);
            }
        }
    }
    let n = (layout.free.len() * poses.len()).max(1);
    let round = SuggestRound {
        n_clusters: 0,
        n_anchors: layout.anchors.len(),
        rms: (sum / n as f64).sqrt(),
        largest,
    };
    Ok((errors, round))
}

/// The neighbours of each vertex, some of them twice.
struct Edges(Rows);

impl Edges {
    fn new(surface: &ClusterSurface) -> Self {
        let sides = surface
            .triangles
            .iter()
            .flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a), (b, a), (c, b), (a, c)]);
        Self(Rows::new(surface.n_vertices(), sides))
    }

    /// Marks the vertices within `reach` edges of `v` in `near`.
    fn mark_near(&self, v: u32, reach: usize, near: &mut [bool]) {
        let mut seen = std::collections::BTreeSet::from([v]);
        let mut ring = vec![v];
        for _ in 0..reach {
            let mut next = Vec::new();
            for v in ring {
                for &w in self.0.row(v) {
                    if seen.insert(w) {
                        next.push(w);
                    }
                }
            }
            ring = next;
        }
        for v in seen {
            near[v as usize] = true;
        }
    }

    /// Adds clusters until no vertex of a triangle is far from all, or `most` are reached.
    fn cover(&self, clusters: &mut [bool], most: usize) {
        let mut near = vec![false; clusters.len()];
        let mut count = 0;
        for v in 0..clusters.len() as u32 {
            if clusters[v as usize] {
                count += 1;
                self.mark_near(v, FIRST_APART, &mut near);
            }
        }
        for v in 0..clusters.len() as u32 {
            if count < most && !near[v as usize] && !self.0.row(v).is_empty() {
                clusters[v as usize] = true;
                count += 1;
                self.mark_near(v, FIRST_APART, &mut near);
            }
        }
    }

    /// Marks up to `count` vertices with errors above `least`, the largest first; `false` if there is none.
    fn mark_worst(&self, errors: &[f64], least: f64, count: usize, clusters: &mut [bool]) -> bool {
        let mut order: Vec<u32> = (0..errors.len() as u32)
            .filter(|&v| errors[v as usize] > least)
            .collect();
        order.sort_by(|&a, &b| errors[b as usize].total_cmp(&errors[a as usize]));
        let mut near = vec![false; clusters.len()];
        let mut n_marked = 0;
        for v in order {
            if n_marked == count {
                break;
            }
            if !near[v as usize] {
                clusters[v as usize] = true;
                n_marked += 1;
                self.mark_near(v, APART, &mut near);
            }
        }
        n_marked > 0
    }
}
