//! The bones of a skin: the segments of each joint, for corrections and diagnostics.
//!
//! A joint has one segment for each child; a child at the joint's own position is replaced by its own children. A leaf
//! has a virtual tail: it continues the line from its parent, as far as the points that it dominates reach.

use super::bind::SkinBind;
use super::leaf_points::LeafPoints;
use super::palette::{Motion, SkinPalette};
use crate::skeleton::{JointId, Skeleton};
use glam::{DAffine3, DMat3, DQuat, DVec3};
use std::ops::Range;

/// Joints closer than this share of the size of the skin coincide.
const SAME_PLACE: f64 = 1e-6;

/// So do joints closer than this share of their distance from the origin: inverse bind matrices are f32.
const SAME_DIGITS: f64 = 5e-7;

/// The bones of one skin at bind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SkinBones {
    /// Those of one joint of the skin side by side.
    segments: Vec<Segment>,
    /// n_joints + 1: joint k of the skin owns `segments[starts[k] .. starts[k + 1]]`; never none.
    starts: Vec<u32>,
    /// n_joints: the end that gives the direction of the joint's only bone, or the mean of several.
    primary: Vec<End>,
    /// n_joints: the node of each joint of the skin.
    nodes: Vec<u32>,
    /// n_nodes: the node above along the limb, `u32::MAX` for none.
    parents: Vec<u32>,
    /// Whether each node above comes before the node: not where joints have logical parents.
    parents_first: bool,
    /// n_nodes: the bind position, scaled bind space.
    origins: Vec<DVec3>,
    /// n_joints: topological rank.
    ranks: Vec<u32>,
    /// n_joints: the orientation at bind, joint space -> bind space.
    bind_rotations: Vec<DQuat>,
    /// The largest distance of a joint from the first, scaled bind space.
    size: f64,
    /// Joints closer than this coincide.
    same_place: f64,
    unit_scale: f64,
}

/// One bone, from the joint to its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Segment {
    pub(super) joint: u16,
    pub(super) end: End,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum End {
    /// Another node.
    Node(u32),
    /// A position in scaled bind space that moves with the joint.
    Tail(DVec3),
    /// The joint itself.
    Point,
}

impl SkinBones {
    /// The bones of a skin. `leaf_points`: of [`SkinBones::leaves`], in mesh space; a leaf without has a bone of no
    /// length, about which skinning keeps distances.
    ///
    /// The virtual tails of leaves are ours: the bones of Kim & Han end at a child.
    pub fn new(bind: &SkinBind, skeleton: &Skeleton, leaf_points: &LeafPoints) -> Self {
        let n_joints = bind.n_joints();
        let (joints, parents, origins) = bind.tree(skeleton);
        let (size, same_place) = measures(&origins);
        let parents_first = (0..).zip(&parents).all(|(n, &p)| p == u32::MAX || p < n);
        let mut bones = Self {
            segments: Vec::new(),
            starts: vec![0],
            primary: Vec::new(),
            nodes: (0..n_joints).map(|k| bind.node_of(k)).collect(),
            parents,
            parents_first,
            origins,
            ranks: bind.ranks().to_vec(),
            bind_rotations: (0..n_joints)
                .map(|k| rotation_of(&bind.bind_frame(k)))
                .collect(),
            size,
            same_place,
            unit_scale: bind.unit_scale(),
        };
        let mut children: Vec<Vec<u32>> = vec![Vec::new(); joints.len()];
        for (node, &parent) in bones.parents.iter().enumerate() {
            if parent != u32::MAX {
                children[parent as usize].push(node as u32);
            }
        }
        for k in 0..n_joints {
            let origin = bind.origin(k);
            let node = bones.nodes[k];
            let mut ends = Vec::new();
            if node != u32::MAX {
                bones.gather_ends(node, origin, &children, &mut ends, 0);
            }
            let overridden = skeleton
                .joints()
                .get(bind.joint(k).get())
                .and_then(|j| j.rule.tail)
                .map(|tail| bind.bind_frame(k).transform_point3(tail))
                .filter(|t| t.is_finite());
            let primary = if let Some(tail) = overridden {
                ends.clear();
                ends.push(End::Tail(tail));
                End::Tail(tail)
            } else if ends.is_empty() {
                let tail = bones.virtual_tail(bind, k, leaf_points);
                ends.push(tail.0);
                tail.1
            } else if let [only] = ends[..] {
                only
            } else {
                let centroid = ends
                    .iter()
                    .map(|&e| bones.bind_end(e, origin))
                    .sum::<DVec3>()
                    / ends.len() as f64;
                End::Tail(centroid)
            };
            bones.primary.push(primary);
            bones.segments.extend(ends.iter().map(|&end| Segment {
                joint: k as u16,
                end,
            }));
            bones.starts.push(bones.segments.len() as u32);
        }
        bones
    }

    /// For each joint of the skin whether it is a leaf, which needs [`LeafPoints`].
    pub fn leaves(bind: &SkinBind, skeleton: &Skeleton) -> Vec<bool> {
        let (joints, parents, origins) = bind.tree(skeleton);
        let (_, same_place) = measures(&origins);
        let mut children: Vec<Vec<u32>> = vec![Vec::new(); joints.len()];
        for (node, &p) in parents.iter().enumerate() {
            if p != u32::MAX {
                children[p as usize].push(node as u32);
            }
        }
        // A chain of coincident joints ends like a leaf.
        (0..bind.n_joints())
            .map(|k| match bind.node_of(k) {
                u32::MAX => false,
                node => {
                    children[node as usize].is_empty()
                        || extent_below(&children, &origins, node) <= same_place
                }
            })
            .collect()
    }

    /// The orientation of a joint at bind; identity where it has none.
    pub(super) fn bind_rotation(&self, joint: u16) -> DQuat {
        let known = self.bind_rotations.get(usize::from(joint));
        known.copied().unwrap_or(DQuat::IDENTITY)
    }

    fn same_place(&self, a: DVec3, b: DVec3) -> bool {
        a.distance(b) <= self.same_place
    }

    /// Collects the nearest descendants of `node` that do not coincide with `origin`.
    fn gather_ends(
        &self,
        node: u32,
        origin: DVec3,
        children: &[Vec<u32>],
        ends: &mut Vec<End>,
        depth: u32,
    ) {
        for &child in &children[node as usize] {
            if !self.same_place(self.origins[child as usize], origin) {
                ends.push(End::Node(child));
            } else if depth < 64 {
                self.gather_ends(child, origin, children, ends, depth + 1);
            }
        }
    }

    /// The tail of a leaf, as a segment and as a direction. It continues the line from the parent (without one, it
    /// points to the centroid of its points), as far as the points that the leaf dominates reach.
    fn virtual_tail(&self, bind: &SkinBind, k: usize, points: &LeafPoints) -> (End, End) {
        let origin = bind.origin(k);
        let scale = bind.unit_scale();
        let mut above = self.parents.get(self.nodes[k] as usize).copied();
        while let Some(p) = above.filter(|&p| p != u32::MAX)
            && self.same_place(self.origins[p as usize], origin)
        {
            above = self.parents.get(p as usize).copied();
        }
        let direction = match above.filter(|&p| p != u32::MAX) {
            Some(p) => origin - self.origins[p as usize],
            None => match points.centroids.get(k) {
                Some(&(sum, total)) if total > 0.0 => sum * (scale / total) - origin,
                _ => DVec3::ZERO,
            },
        };
        let Some(direction) = direction.try_normalize() else {
            return (End::Point, End::Point);
        };
        let length = points
            .dominated
            .get(k)
            .into_iter()
            .flatten()
            .map(|p| (p.as_dvec3() * scale - origin).dot(direction))
            .fold(0.0, f64::max);
        let segment = if length > self.same_place {
            End::Tail(origin + direction * length)
        } else {
            End::Point
        };
        (segment, End::Tail(origin + direction * self.size))
    }

    fn bind_end(&self, end: End, origin: DVec3) -> DVec3 {
        match end {
            End::Node(n) => self.origins[n as usize],
            End::Tail(t) => t,
            End::Point => origin,
        }
    }

    /// The number of joints of the skin.
    pub fn n_joints(&self) -> usize {
        self.nodes.len()
    }

    /// The number of segments.
    pub fn n_segments(&self) -> usize {
        self.segments.len()
    }

    /// All segments, those of one joint side by side.
    pub(super) fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The segments of joint `joint` of the skin: indices for [`super::BonePose`].
    pub fn segments_of(&self, joint: u16) -> Range<usize> {
        match self.starts.get(joint as usize..joint as usize + 2) {
            Some(&[start, end]) => start as usize..end as usize,
            _ => 0..0,
        }
    }

    /// The factor from bind positions to the space of the bones.
    pub fn unit_scale(&self) -> f64 {
        self.unit_scale
    }

    /// The ends of the bones of joint `joint` of the skin in the bind pose. Scaled bind space.
    pub fn bind_segments(&self, joint: u16) -> impl Iterator<Item = [DVec3; 2]> + '_ {
        let node = self.nodes.get(joint as usize);
        let origin = node.and_then(|&node| self.origins.get(node as usize));
        let segments = self.segments_of(joint);
        let ends = origin.map(|&origin| {
            let segments = self.segments[segments].iter();
            segments.map(move |s| [origin, self.bind_end(s.end, origin)])
        });
        ends.into_iter().flatten()
    }

    /// The bind position of the deeper of two joints of a chain, and the mean direction of their bones, unit; `None`
    /// where they have none. Scaled bind space.
    pub fn bind_line(&self, [a, b]: [u16; 2]) -> Option<(DVec3, DVec3)> {
        let (above, deeper) = if self.rank(a) <= self.rank(b) {
            (a, b)
        } else {
            (b, a)
        };
        let origin = |joint: u16| {
            let node = *self.nodes.get(joint as usize)?;
            self.origins.get(node as usize).copied()
        };
        let (from, at) = (origin(above)?, origin(deeper)?);
        let towards = self.bind_end(*self.primary.get(deeper as usize)?, at) - at;
        let before = (at - from).normalize_or_zero();
        let line = (before + towards.normalize_or_zero()).try_normalize()?;
        Some((at, line))
    }

    /// The joint of the skin that a segment belongs to.
    pub(crate) fn joint_of_segment(&self, segment: usize) -> u16 {
        self.segments[segment].joint
    }

    /// Whether one of two joints of the skin is an ancestor of the other, or both are one node.
    pub fn on_one_chain(&self, a: u16, b: u16) -> bool {
        let (Some(&a), Some(&b)) = (self.nodes.get(a as usize), self.nodes.get(b as usize)) else {
            return false;
        };
        self.is_at_or_above(a, b) || self.is_at_or_above(b, a)
    }

    /// n_joints: the nearest ancestor of each among the joints of the skin; of several on one node the first.
    pub fn joints_above(&self) -> Vec<Option<u16>> {
        let mut joint_of_node = vec![None; self.parents.len()];
        for (joint, &node) in self.nodes.iter().enumerate().rev() {
            if let Some(slot) = joint_of_node.get_mut(node as usize) {
                *slot = Some(joint as u16);
            }
        }
        let parent = |node: u32| self.parents.get(node as usize).copied();
        let nodes = self.nodes.iter();
        nodes
            .map(|&node| {
                let mut above = parent(node);
                while let Some(node) = above.filter(|&n| n != u32::MAX) {
                    if let Some(&Some(joint)) = joint_of_node.get(node as usize) {
                        return Some(joint);
                    }
                    above = parent(node);
                }
                None
            })
            .collect()
    }

    /// The topological rank of a joint of the skin.
    pub fn rank(&self, joint: u16) -> u32 {
        self.ranks.get(joint as usize).copied().unwrap_or(u32::MAX)
    }

    fn is_at_or_above(&self, above: u32, mut node: u32) -> bool {
        // A cycle of logical parents, which no edit makes, ends too.
        for _ in 0..=self.parents.len() {
            if node == u32::MAX {
                return false;
            }
            if node == above {
                return true;
            }
            // Where parents come first no further ancestor can be it.
            if self.parents_first && node < above {
                return false;
            }
            node = self.parents.get(node as usize).copied().unwrap_or(u32::MAX);
        }
        false
    }

    /// The direction of the bone of `joint` in the inflated bind shape, of the bone towards its descendant `below` if
    /// given; unit, zero where it has none.
    pub(crate) fn direction(&self, joint: u16, below: Option<u16>, palette: &SkinPalette) -> DVec3 {
        let Some(motion) = palette.motions().get(joint as usize) else {
            return DVec3::ZERO;
        };
        let end = match (self.primary[joint as usize], below) {
            // The artist's tail and that of a leaf have no children; of several children, the one towards `below`.
            (End::Tail(_), Some(below)) if self.segments_of(joint).len() > 1 => {
                self.on_the_way(joint, below)
            }
            (end, _) => end,
        };
        let to = Self::inflated_end(end, motion, palette);
        (to - motion.inflated_origin).normalize_or_zero()
    }

    /// The end of the segment of `joint` that leads to its descendant `below`.
    fn on_the_way(&self, joint: u16, below: u16) -> End {
        let target = self.nodes[below as usize];
        self.segments[self.segments_of(joint)]
            .iter()
            .map(|s| s.end)
            .find(|end| matches!(*end, End::Node(n) if self.is_at_or_above(n, target)))
            .unwrap_or(self.primary[joint as usize])
    }

    /// The end of a segment in the inflated bind shape. `motion`: of its joint.
    pub(super) fn inflated_end(end: End, motion: &Motion, palette: &SkinPalette) -> DVec3 {
        match end {
            End::Node(n) => palette
                .inflated_nodes()
                .get(n as usize)
                .copied()
                .unwrap_or(motion.inflated_origin),
            End::Tail(t) => motion.inflation().transform_point3(t),
            End::Point => motion.inflated_origin,
        }
    }
}

/// The largest distance of a joint from the first, and the distance below which two coincide.
fn measures(origins: &[DVec3]) -> (f64, f64) {
    let largest = |lengths: &mut dyn Iterator<Item = f64>| {
        lengths.filter(|d| d.is_finite()).fold(0.0, f64::max)
    };
    let reach = largest(&mut origins.iter().map(|o| o.length()));
    let size = largest(&mut origins.iter().map(|o| o.distance(origins[0])));
    let size = size.max(1e-3 * reach).max(1e-12);
    (size, (SAME_PLACE * size).max(SAME_DIGITS * reach))
}

impl SkinBind {
    /// The node tree of the skin: of each node the joint of the skeleton, the node above along the limb (`u32::MAX`: none)
    /// and the bind position. Parents first, where no joint has a logical parent.
    fn tree(&self, skeleton: &Skeleton) -> (Vec<JointId>, Vec<u32>, Vec<DVec3>) {
        let nodes = self.nodes();
        let mut parents: Vec<u32> = nodes.iter().map(|n| n.parent.unwrap_or(u32::MAX)).collect();
        if skeleton.has_logical_parents() {
            let mut node_of = vec![u32::MAX; skeleton.len()];
            for (n, node) in nodes.iter().enumerate() {
                node_of[node.joint.get()] = n as u32;
            }
            for (node, parent) in nodes.iter().zip(&mut parents) {
                let mut above = skeleton.logical_ancestors(node.joint);
                if skeleton.joint(node.joint).rule.logical_parent.is_some() {
                    let found =
                        above.find_map(|j| Some(node_of[j.get()]).filter(|&n| n != u32::MAX));
                    *parent = found.unwrap_or(u32::MAX);
                }
            }
        }
        (
            nodes.iter().map(|n| n.joint).collect(),
            parents,
            nodes.iter().map(|n| n.origin).collect(),
        )
    }
}

/// The largest distance of a descendant of `node` from it.
fn extent_below(children: &[Vec<u32>], origins: &[DVec3], node: u32) -> f64 {
    let at = origins[node as usize];
    let mut open = children[node as usize].clone();
    let mut extent: f64 = 0.0;
    // A cycle of logical parents, which no edit makes, ends too.
    for _ in 0..children.len() {
        let Some(below) = open.pop() else {
            break;
        };
        extent = extent.max(origins[below as usize].distance(at));
        open.extend(&children[below as usize]);
    }
    extent
}

/// The rotation of a frame without its scale and shear; identity where it has none.
fn rotation_of(frame: &DAffine3) -> DQuat {
    let m = frame.matrix3;
    let x = m.x_axis.normalize_or_zero();
    let z = x.cross(m.y_axis).normalize_or_zero();
    if x == DVec3::ZERO || z == DVec3::ZERO {
        return DQuat::IDENTITY;
    }
    DQuat::from_mat3(&DMat3::from_cols(x, z.cross(x), z))
}
