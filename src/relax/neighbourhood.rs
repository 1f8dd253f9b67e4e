//! The surface around a joint: where its weights blend, how wide the limb is, and what is near.

use super::crossing::crossing_pairs;
use super::surface::{Surface, median};
use crate::math::DisjointSets;
use crate::task::{Cancelled, Task};
use glam::DVec3;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Weights in between count as blended.
const BLENDED: (f64, f64) = (0.02, 0.98);

/// Weights in between give the radius.
const MIDDLE: (f64, f64) = (0.25, 0.75);

/// How far the neighbourhood goes beyond blended points, in radii: the largest reach of a region, and what may touch it.
const EXTENT: f64 = 3.0 + NEAR;

/// How far contacts and winding numbers see beyond a region, in radii.
pub(super) const NEAR: f64 = 2.5;

/// A bind surface and the weights of a joint.
#[derive(Clone, Copy, Debug)]
pub struct Bending<'a> {
    /// n_points welded bind positions, metres.
    pub bind: &'a [DVec3],
    /// Triangles of points; degenerate ones are left out.
    pub triangles: &'a [[u32; 3]],
    /// n_points: the sum of the weights of the joint and of everything below it.
    pub subtree_weights: &'a [f64],
    /// The place of the joint at bind.
    pub joint: DVec3,
}

/// Why a joint has no neighbourhood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NeighbourhoodError {
    /// It was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// Nothing bends there.
    #[error("No vertices blend across this joint.")]
    NothingBlends,
}

/// The surface around a joint.
#[derive(Clone, Debug)]
pub struct Neighbourhood {
    /// The points of the whole surface that it holds, ascending.
    pub points: Vec<u32>,
    /// Those points, with the joint as the origin.
    pub surface: Surface,
    /// The radius r of the limb at the joint, metres: the median distance of well blended points from the joint.
    pub radius: f64,
    /// n_points: geodesic distance from the blended points along edges, metres.
    pub(super) distances: Vec<f64>,
    /// n_points: whether it is blended.
    pub(super) is_blended: Vec<bool>,
    /// n_points: whether it stays as skinned in every region.
    pub(super) is_protected: Vec<bool>,
    /// One for each shell: the largest distance of its points, infinite where a part of it is farther away.
    pub(super) shell_extents: Vec<f64>,
    /// One for each shell: whether all its points are blended.
    pub(super) is_blended_throughout: Vec<bool>,
    /// Pairs of triangles that cross at bind, ascending.
    pub(super) exempt: Vec<(u32, u32)>,
}

impl Neighbourhood {
    /// The surface around a joint. Fails where no weight blends.
    pub fn new(bending: &Bending<'_>, task: &Task) -> Result<Self, NeighbourhoodError> {
        let Bending { bind, joint, .. } = *bending;
        let proper = bending.triangles.iter().copied();
        let proper: Vec<[u32; 3]> = proper
            .filter(|[a, b, c]| a != b && b != c && c != a)
            .collect();
        let weights = bending.subtree_weights;
        let within = |(low, high): (f64, f64)| move |w: f64| low < w && w < high;
        let blended: Vec<bool> = weights.iter().map(|&w| within(BLENDED)(w)).collect();
        let distances_of = |range: (f64, f64)| {
            let chosen = bind.iter().zip(weights).filter(|(_, w)| within(range)(**w));
            median(chosen.map(|(p, _)| p.distance(joint)).collect())
        };
        let radius = distances_of(MIDDLE).or_else(|| distances_of(BLENDED));
        let radius = radius.filter(|r| r.is_finite() && *r > 0.0);
        let radius = radius.ok_or(NeighbourhoodError::NothingBlends)?;
        task.check()?;
        let distances = geodesics(bind, &proper, &blended, EXTENT * radius, task)?;

        let mut shells = DisjointSets::new(bind.len());
        for &[a, b, c] in &proper {
            shells.join(a, b);
            shells.join(a, c);
        }
        let (n_shells, shells) = shells.numbers();
        let mut shell_extents = vec![0.0f64; n_shells];
        let mut is_blended_throughout = vec![true; n_shells];
        for (point, &shell) in shells.iter().enumerate() {
            let extent = &mut shell_extents[shell as usize];
            *extent = extent.max(distances[point]);
            is_blended_throughout[shell as usize] &= blended[point];
        }

        let mut local = vec![u32::MAX; bind.len()];
        let mut points = Vec::new();
        for (point, distance) in distances.iter().enumerate() {
            if distance.is_finite() {
                local[point] = points.len() as u32;
                points.push(point as u32);
            }
        }
        let triangles = proper.iter().map(|t| t.map(|p| local[p as usize]));
        let triangles = triangles.filter(|t| !t.contains(&u32::MAX)).collect();
        let places = points.iter().map(|&p| bind[p as usize] - joint).collect();
        let own_shells = points.iter().map(|&p| shells[p as usize]).collect();
        task.check()?;
        let mut around = Self {
            surface: Surface::new(places, triangles, own_shells),
            radius,
            distances: points.iter().map(|&p| distances[p as usize]).collect(),
            is_blended: points.iter().map(|&p| blended[p as usize]).collect(),
            is_protected: vec![false; points.len()],
            shell_extents,
            is_blended_throughout,
            exempt: Vec::new(),
            points,
        };
        around.find_exempt();
        Ok(around)
    }

    /// Number of points.
    pub fn n_points(&self) -> usize {
        self.points.len()
    }

    /// Leaves out of every region the points for which `is_protected` is true.
    pub fn protect(&mut self, is_protected: impl Fn(usize) -> bool) {
        for (point, own) in self.is_protected.iter_mut().enumerate() {
            *own |= is_protected(point);
        }
    }

    /// Number of triangles that cross others at bind.
    pub fn n_exempt(&self) -> usize {
        super::crossing::triangles_of(self.exempt.iter().copied()).len()
    }

    /// Number of shells here whose points are all blended, which keep their skinning.
    pub fn n_blended_throughout(&self) -> usize {
        let mut shells = self.surface.shells.clone();
        shells.sort_unstable();
        shells.dedup();
        let kept = shells
            .iter()
            .filter(|s| self.is_blended_throughout[**s as usize]);
        kept.count()
    }

    /// The pairs of triangles among `among` that cross at `x` (n_points) and not at bind, ascending.
    pub(super) fn crossings(&self, among: &[u32], x: &[DVec3]) -> Vec<(u32, u32)> {
        let mut pairs = crossing_pairs(&self.surface, among, x);
        pairs.retain(|pair| self.exempt.binary_search(pair).is_err());
        pairs
    }

    /// A coarser surface in place of its own. `kept`: its points, ascending.
    pub(super) fn coarser(&self, kept: &[u32], triangles: Vec<[u32; 3]>) -> Self {
        let pick = |values: &[DVec3]| kept.iter().map(|&p| values[p as usize]).collect();
        let shells = kept.iter().map(|&p| self.surface.shells[p as usize]);
        let mut coarse = Self {
            points: kept.iter().map(|&p| self.points[p as usize]).collect(),
            surface: Surface::new(pick(&self.surface.bind), triangles, shells.collect()),
            radius: self.radius,
            distances: kept.iter().map(|&p| self.distances[p as usize]).collect(),
            is_blended: kept.iter().map(|&p| self.is_blended[p as usize]).collect(),
            is_protected: kept
                .iter()
                .map(|&p| self.is_protected[p as usize])
                .collect(),
            shell_extents: self.shell_extents.clone(),
            is_blended_throughout: self.is_blended_throughout.clone(),
            exempt: Vec::new(),
        };
        coarse.find_exempt();
        coarse
    }

    fn find_exempt(&mut self) {
        let all: Vec<u32> = (0..self.surface.triangles.len() as u32).collect();
        self.exempt = crossing_pairs(&self.surface, &all, &self.surface.bind);
    }
}

/// n_points: the length of the shortest path along edges from a point of `from`, infinite beyond `reach` (Dijkstra 1959).
fn geodesics(
    bind: &[DVec3],
    triangles: &[[u32; 3]],
    from: &[bool],
    reach: f64,
    task: &Task,
) -> Result<Vec<f64>, Cancelled> {
    let mut links: Vec<(u32, u32)> = Vec::with_capacity(6 * triangles.len());
    for &[a, b, c] in triangles {
        links.extend([(a, b), (b, a), (b, c), (c, b), (c, a), (a, c)]);
    }
    links.sort_unstable();
    links.dedup();
    task.check()?;
    let mut distances = vec![f64::INFINITY; bind.len()];
    // Of positive numbers the order of the bits is that of the values.
    let mut queue = BinaryHeap::new();
    for (point, _) in from.iter().enumerate().filter(|(_, is_there)| **is_there) {
        distances[point] = 0.0;
        queue.push(Reverse((0u64, point as u32)));
    }
    while let Some(Reverse((bits, point))) = queue.pop() {
        let distance = f64::from_bits(bits);
        if distance > distances[point as usize] {
            continue;
        }
        let first = links.partition_point(|link| link.0 < point);
        let own = links[first..].iter().take_while(|link| link.0 == point);
        for &(_, other) in own {
            let there = distance + bind[point as usize].distance(bind[other as usize]);
            if there <= reach && there < distances[other as usize] {
                distances[other as usize] = there;
                queue.push(Reverse((there.to_bits(), other)));
            }
        }
    }
    Ok(distances)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_follow_edges_up_to_the_reach() {
        // A strip of unit squares along x.
        let bind: Vec<DVec3> = (0..40)
            .map(|i| DVec3::new(f64::from(i / 2), f64::from(i % 2), 0.0))
            .collect();
        let triangles: Vec<[u32; 3]> = (0..19)
            .flat_map(|i| {
                [
                    [2 * i, 2 * i + 2, 2 * i + 1],
                    [2 * i + 1, 2 * i + 2, 2 * i + 3],
                ]
            })
            .collect();
        let weights: Vec<f64> = (0..40)
            .map(|i| {
                if i / 2 == 10 {
                    0.5
                } else {
                    f64::from(i / 2 / 10)
                }
            })
            .collect();
        let bending = Bending {
            bind: &bind,
            triangles: &triangles,
            subtree_weights: &weights,
            joint: DVec3::new(10.0, 0.0, 0.0),
        };
        let around = Neighbourhood::new(&bending, &Task::new()).unwrap();
        assert_eq!(around.radius, 1.0);
        let blended = around.is_blended.iter().filter(|b| **b).count();
        assert_eq!(blended, 2);
        // Five radii and a half to each side.
        assert_eq!(around.points, (10..=31).collect::<Vec<u32>>());
        assert_eq!(around.shell_extents, [f64::INFINITY]);
        let bending = Bending {
            subtree_weights: &[1.0; 40],
            ..bending
        };
        let error = Neighbourhood::new(&bending, &Task::new()).unwrap_err();
        assert_eq!(error, NeighbourhoodError::NothingBlends);
    }
}
