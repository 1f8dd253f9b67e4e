//! Bones between joints: segments, virtual tails, directions, ranks and kinship.

use super::{Rigid, Row, distance_to_segment, nearest_on_segment};
use glam::DVec3;

/// From the joint to its end, both in (inflated) bind space.
pub(crate) type Segment = (DVec3, DVec3);

/// A tree of joints with a place each; leaves end in a tail.
#[derive(Clone, Debug)]
pub(crate) struct Bones {
    pub(crate) parents: Vec<Option<usize>>,
    pub(crate) origins: Vec<DVec3>,
    /// Read only where a joint has no children; `None`: the joint is a point.
    pub(crate) tails: Vec<Option<DVec3>>,
}

impl Bones {
    pub(crate) fn children(&self, joint: usize) -> Vec<usize> {
        (0..self.parents.len())
            .filter(|&c| self.parents[c] == Some(joint))
            .collect()
    }

    /// One segment a child; a leaf: to its tail.
    pub(crate) fn segments(&self, joint: usize) -> Vec<Segment> {
        let from = self.origins[joint];
        let children = self.children(joint);
        if children.is_empty() {
            return vec![(from, self.tails[joint].unwrap_or(from))];
        }
        children.iter().map(|&c| (from, self.origins[c])).collect()
    }

    /// Its place in topological order: of the joints whose parents have theirs, the lowest index is next.
    pub(crate) fn rank(&self, joint: usize) -> usize {
        let mut placed = vec![false; self.parents.len()];
        for rank in 0..self.parents.len() {
            let ready = |j: &usize| !placed[*j] && self.parents[*j].is_none_or(|p| placed[p]);
            let next = (0..placed.len()).find(ready).unwrap();
            if next == joint {
                return rank;
            }
            placed[next] = true;
        }
        panic!("there is no joint {joint}");
    }

    /// The parent first, the root last.
    pub(crate) fn ancestors(&self, joint: usize) -> Vec<usize> {
        let up = |&j: &usize| self.parents[j];
        std::iter::successors(self.parents[joint], up).collect()
    }

    pub(crate) fn on_one_chain(&self, a: usize, b: usize) -> bool {
        a == b || self.ancestors(a).contains(&b) || self.ancestors(b).contains(&a)
    }

    /// Unit direction down the limb: to the only child, the centroid of several, or the tail; zero for a point.
    pub(crate) fn direction(&self, joint: usize) -> DVec3 {
        let segments = self.segments(joint);
        let end = segments.iter().map(|s| s.1).sum::<DVec3>() / segments.len() as f64;
        (end - self.origins[joint]).normalize_or_zero()
    }

    /// Unit direction of `ancestor` towards its child on the way to `descendant`.
    pub(crate) fn direction_towards(&self, ancestor: usize, descendant: usize) -> DVec3 {
        let mut child = descendant;
        while let Some(up) = self.parents[child] {
            if up == ancestor {
                return (self.origins[child] - self.origins[ancestor]).normalize_or_zero();
            }
            child = up;
        }
        panic!("{descendant} does not hang on {ancestor}");
    }

    /// Distance of a bind point to the nearest segment of `joint`.
    pub(crate) fn distance(&self, joint: usize, p: DVec3) -> f64 {
        self.segments(joint)
            .iter()
            .map(|&(a, b)| distance_to_segment(p, a, b))
            .fold(f64::INFINITY, f64::min)
    }

    /// Distance of a bind point to the bones of its dominant joint: r of the compensation, d_rest of the projection.
    pub(crate) fn radius(&self, p: DVec3, row: &Row) -> f64 {
        self.distance(dominant(row), p)
    }

    /// The tail of a leaf from the points it dominates: onwards from the parent (from a parent in the same place
    /// towards their weighted centroid) as far as the farthest of them.
    pub(crate) fn virtual_tail(&self, leaf: usize, positions: &[DVec3], rows: &[Row]) -> DVec3 {
        let from = self.origins[leaf];
        let outward = self.parents[leaf].map_or(DVec3::ZERO, |p| from - self.origins[p]);
        let mut direction = outward.normalize_or_zero();
        if direction == DVec3::ZERO {
            let (mut sum, mut weight) = (DVec3::ZERO, 0.0);
            for (p, row) in positions.iter().zip(rows) {
                for &(_, w) in row.iter().filter(|r| r.0 == leaf) {
                    sum += *p * w;
                    weight += w;
                }
            }
            direction = (sum / weight - from).normalize_or_zero();
        }
        let length = positions
            .iter()
            .zip(rows)
            .filter(|(_, row)| !row.is_empty() && dominant(row) == leaf)
            .map(|(p, _)| (*p - from).dot(direction))
            .fold(0.0, f64::max);
        from + direction * length
    }
}

/// The joint of largest weight, ties to the first of `row`.
pub(crate) fn dominant(row: &Row) -> usize {
    let mut best = row[0];
    for &(j, w) in row {
        if w > best.1 {
            best = (j, w);
        }
    }
    best.0
}

/// Where a rigid motion puts a segment.
pub(crate) fn moved(motion: &Rigid, (a, b): Segment) -> Segment {
    (motion.apply(a), motion.apply(b))
}

/// The point of `segments` nearest to `p`.
pub(crate) fn nearest(segments: &[Segment], p: DVec3) -> DVec3 {
    let points = segments.iter().map(|&(a, b)| nearest_on_segment(p, a, b));
    points
        .min_by(|a, b| p.distance_squared(*a).total_cmp(&p.distance_squared(*b)))
        .unwrap_or(p)
}
