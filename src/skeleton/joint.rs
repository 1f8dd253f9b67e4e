//! The joint hierarchy (glTF nodes).

use super::joint_limits::JointLimits;
use crate::math::Transform;
use glam::DVec3;

/// A stable id of a joint: its slot in [`Skeleton::joints`], which only grows. A slot is never reused or renumbered.
///
/// It is not a node index of the file: that is [`Joint::source_node`], and neither can be computed from the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JointId(pub u32);

impl JointId {
    /// The slot, as an index of arrays with one entry per slot.
    pub fn get(self) -> usize {
        self.0 as usize
    }
}

/// A transform node: its parent and its rest transform.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Joint {
    /// A label; may be empty or shared with other joints.
    pub name: String,
    /// The joint whose space `rest` is in; `None` for a root and for a removed joint.
    pub parent: Option<JointId>,
    /// The local transform in the rest pose.
    pub rest: Transform,
    /// The glTF node it was imported from; `None` for a joint made in Sinew. The only link to the file.
    pub source_node: Option<u32>,
    /// What the user overrides; the default for an imported joint.
    pub rule: JointRule,
    /// The glTF node whose mesh, camera or light this joint draws instead of that node, so that the node's own joint
    /// can change its axes: its content is a child at an offset. `None`: its own node's.
    pub content_of: Option<u32>,
    /// Whether the user removed it. The slot stays, so that ids, clips and history need no remapping; it has no parent,
    /// no children, no position in [`Skeleton::order`], and the identity in every palette.
    pub removed: bool,
}

impl Joint {
    /// A joint made in Sinew.
    pub fn new(name: impl Into<String>, parent: Option<JointId>, rest: Transform) -> Self {
        Self {
            name: name.into(),
            parent,
            rest,
            ..Self::default()
        }
    }
}

/// The values of a joint that the user can override; by default they follow from its position in the hierarchy.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JointRule {
    /// The tail of its bone in the joint's rest space, metres; `None`: computed from its children, or for a leaf from
    /// its parent's bone.
    pub tail: Option<DVec3>,
    /// Whether the joint cancels the scale of its parent (Maya's *Segment Scale Compensate*): only its own scale
    /// applies to it, while its position still follows the parent's. glTF cannot express this.
    pub compensates_scale: bool,
    /// The joint whose inflation this one's position follows in the inflated bind shape, where constraints drive it;
    /// `None`: its parent. It must precede this joint in [`Skeleton::order`].
    pub inflation_parent: Option<JointId>,
    /// The parent along the limb, if it is not the parent of the hierarchy: in a flat rig all joints are children of one node.
    /// `None`: the parent. Bone shapes, tails, pairs of joints and inverse kinematics use it; transforms do not.
    pub logical_parent: Option<JointId>,
    /// The rotation limits; `None`: it rotates freely.
    pub limits: Option<JointLimits>,
}

impl JointRule {
    /// Checks that `joint` of `skeleton` can have the rule; the error is the end of a sentence.
    pub fn check(&self, joint: JointId, skeleton: &Skeleton) -> Result<(), String> {
        if self.tail.is_some_and(|t| !t.is_finite()) {
            return Err("the tail of the bone is not finite".into());
        }
        if let Some(parent) = self.inflation_parent {
            if !skeleton.is_live(parent) {
                return Err(format!("there is no bone {} to follow", parent.0));
            }
            if skeleton.rank(parent) >= skeleton.rank(joint) {
                return Err(format!(
                    "its position cannot follow \"{}\", which comes after it",
                    skeleton.label(parent)
                ));
            }
        }
        if self.limits.is_some_and(|limits| !limits.is_valid()) {
            return Err("one of its limits is no range of angles".into());
        }
        if let Some(parent) = self.logical_parent {
            if !skeleton.is_live(parent) {
                return Err(format!(
                    "there is no bone {} above it on the limb",
                    parent.0
                ));
            }
            if parent == joint || skeleton.logical_ancestors(parent).any(|j| j == joint) {
                return Err(format!(
                    "its logical parent \"{}\" is the bone itself or follows it",
                    skeleton.label(parent)
                ));
            }
        }
        Ok(())
    }
}

/// Why a list of joints is not a forest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SkeletonError {
    /// A parent index is out of range.
    #[error("joint {joint} has parent {parent}, but there are only {n_joints} joints")]
    ParentOutOfRange {
        /// The joint.
        joint: u32,
        /// Its parent index.
        parent: u32,
        /// Length of the list.
        n_joints: usize,
    },
    /// The parents form a cycle.
    #[error("joint {joint} is its own ancestor")]
    Cycle {
        /// A joint on the cycle.
        joint: u32,
    },
    /// A joint has a removed parent.
    #[error("joint {joint} has parent {parent}, which was removed")]
    RemovedParent {
        /// The joint.
        joint: u32,
        /// Its parent.
        parent: u32,
    },
    /// Two joints have the same node of the file.
    #[error("joints {joints:?} come from the same node {node} of the file")]
    SharedNode {
        /// The two joints.
        joints: [u32; 2],
        /// The node.
        node: u32,
    },
}

/// All joints of a model: a forest, shared by its skins, in an append-only arena.
///
/// Arrays with one entry per joint (locals, world transforms, masks) have [`Skeleton::len`] entries, one per slot, so
/// that a [`JointId`] is their index. Code that lists joints for the user or walks the hierarchy uses
/// [`Skeleton::live_joints`] or [`Skeleton::order`], which exclude removed ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Skeleton {
    joints: Vec<Joint>,
    /// Slots of live joints, parents before children, ties by slot.
    order: Vec<u32>,
    /// `rank[joint]` = position in `order`; `u32::MAX` for a removed joint.
    rank: Vec<u32>,
    /// `children[starts[j] .. starts[j + 1]]`, ascending.
    child_starts: Vec<u32>,
    children: Vec<JointId>,
    /// (node of the file, joint), ascending.
    of_node: Vec<(u32, JointId)>,
    /// Where a joint has a logical parent.
    logical: Option<LogicalTree>,
}

/// The tree of the logical parents ([`JointRule::logical_parent`]), where it is not that of the parents.
#[derive(Clone, Debug, PartialEq)]
struct LogicalTree {
    /// n_joints: the children of each, ascending.
    children: Vec<Vec<JointId>>,
    /// n_joints: as [`Skeleton::rank`].
    rank: Vec<u32>,
}

impl Skeleton {
    /// Checks parents and derives the topological order.
    ///
    /// Fails if a parent is out of range or removed, the parents form a cycle, or two joints have the same node.
    pub fn new(mut joints: Vec<Joint>) -> Result<Self, SkeletonError> {
        let n = joints.len();
        for joint in joints.iter_mut().filter(|joint| joint.removed) {
            joint.parent = None;
        }
        let mut counts = vec![0u32; n + 1];
        for (j, joint) in joints.iter().enumerate() {
            if let Some(parent) = joint.parent {
                if parent.get() >= n {
                    return Err(SkeletonError::ParentOutOfRange {
                        joint: j as u32,
                        parent: parent.0,
                        n_joints: n,
                    });
                }
                if joints[parent.get()].removed {
                    return Err(SkeletonError::RemovedParent {
                        joint: j as u32,
                        parent: parent.0,
                    });
                }
                counts[parent.get() + 1] += 1;
            }
        }
        for j in 0..n {
            counts[j + 1] += counts[j];
        }
        let child_starts = counts.clone();
        let mut children = vec![JointId(0); child_starts[n] as usize];
        let mut next = counts;
        for (j, joint) in joints.iter().enumerate() {
            if let Some(parent) = joint.parent {
                children[next[parent.get()] as usize] = JointId(j as u32);
                next[parent.get()] += 1;
            }
        }
        // A heap of the joints whose parents are in the order already keeps ties by index.
        let mut ready: std::collections::BinaryHeap<std::cmp::Reverse<u32>> = joints
            .iter()
            .enumerate()
            .filter(|(_, joint)| joint.parent.is_none() && !joint.removed)
            .map(|(j, _)| std::cmp::Reverse(j as u32))
            .collect();
        let mut order = Vec::with_capacity(n);
        let mut rank = vec![u32::MAX; n];
        while let Some(std::cmp::Reverse(j)) = ready.pop() {
            rank[j as usize] = order.len() as u32;
            order.push(j);
            let range = child_starts[j as usize] as usize..child_starts[j as usize + 1] as usize;
            ready.extend(children[range].iter().map(|c| std::cmp::Reverse(c.0)));
        }
        if let Some(joint) = (0..n).find(|&j| rank[j] == u32::MAX && !joints[j].removed) {
            return Err(SkeletonError::Cycle {
                joint: joint as u32,
            });
        }
        let nodes = joints.iter().enumerate();
        let mut of_node: Vec<(u32, JointId)> = nodes
            .filter_map(|(j, joint)| Some((joint.source_node?, JointId(j as u32))))
            .collect();
        of_node.sort_unstable();
        if let Some(pair) = of_node.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(SkeletonError::SharedNode {
                joints: [pair[0].1.0, pair[1].1.0],
                node: pair[0].0,
            });
        }
        let logical = LogicalTree::new(&joints, &order, &rank);
        Ok(Self {
            joints,
            order,
            rank,
            child_starts,
            children,
            of_node,
            logical,
        })
    }

    /// The slots of the arena, with removed joints.
    pub fn joints(&self) -> &[Joint] {
        &self.joints
    }

    /// The joints that were not removed, ascending.
    pub fn live_joints(&self) -> impl DoubleEndedIterator<Item = JointId> + '_ {
        (0..self.joints.len() as u32)
            .map(JointId)
            .filter(|&j| !self.joint(j).removed)
    }

    /// The first joint of a name, of those that were not removed: the one that files and channels mean by it.
    pub fn joint_named(&self, name: &str) -> Option<JointId> {
        let mut joints = self.live_joints();
        joints.find(|&joint| self.joint(joint).name == name)
    }

    /// Whether `joint` is in the arena and was not removed.
    pub fn is_live(&self, joint: JointId) -> bool {
        self.joints.get(joint.get()).is_some_and(|j| !j.removed)
    }

    /// The joint of a node of the file; it may have been removed.
    pub fn joint_of_node(&self, node: u32) -> Option<JointId> {
        let at = self.of_node.binary_search_by_key(&node, |entry| entry.0);
        at.ok().map(|at| self.of_node[at].1)
    }

    /// The joint with this id.
    pub fn joint(&self, joint: JointId) -> &Joint {
        &self.joints[joint.get()]
    }

    /// The number of slots of the arena: the length of every array with one entry per joint. [`Skeleton::n_live`] is
    /// the number of joints without removed ones.
    pub fn len(&self) -> usize {
        self.joints.len()
    }

    /// An unused id: that of the `nth` joint that is appended next, from 0.
    pub fn free_id(&self, nth: usize) -> JointId {
        JointId((self.joints.len() + nth) as u32)
    }

    /// The number of joints without removed ones.
    pub fn n_live(&self) -> usize {
        self.order.len()
    }

    /// Whether the arena has no slot.
    pub fn is_empty(&self) -> bool {
        self.joints.is_empty()
    }

    /// Slots of the live joints, parents before children, ties by slot.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// Position of `joint` in [`Skeleton::order`]; `u32::MAX` for a removed joint.
    pub fn rank(&self, joint: JointId) -> u32 {
        self.rank[joint.get()]
    }

    /// The children of `joint`, ascending.
    pub fn children(&self, joint: JointId) -> &[JointId] {
        &self.children
            [self.child_starts[joint.get()] as usize..self.child_starts[joint.get() + 1] as usize]
    }

    /// The live joints without a parent, ascending.
    pub fn roots(&self) -> impl Iterator<Item = JointId> + '_ {
        self.live_joints()
            .filter(|&j| self.joint(j).parent.is_none())
    }

    /// The parent of `joint`, its grandparent ... up to its root.
    pub fn ancestors(&self, joint: JointId) -> impl Iterator<Item = JointId> + '_ {
        std::iter::successors(self.joint(joint).parent, |&j| self.joint(j).parent)
    }

    /// The joint above `joint` along the limb: its parent, unless its rule names another one.
    pub fn logical_parent(&self, joint: JointId) -> Option<JointId> {
        let joint = self.joint(joint);
        let named = joint.rule.logical_parent.filter(|&p| self.is_live(p));
        named.or(joint.parent)
    }

    /// The joints of which `joint` is the logical parent, ascending.
    pub fn logical_children(&self, joint: JointId) -> &[JointId] {
        match &self.logical {
            Some(tree) => &tree.children[joint.get()],
            None => self.children(joint),
        }
    }

    /// The logical parent of `joint`, that of the parent ... up to the root.
    pub fn logical_ancestors(&self, joint: JointId) -> impl Iterator<Item = JointId> + '_ {
        // A cycle, which no edit makes, ends too.
        std::iter::successors(self.logical_parent(joint), |&j| self.logical_parent(j))
            .take(self.joints.len())
    }

    /// Position of `joint` in an order in which logical parents come before their children; `u32::MAX` for a removed joint.
    pub fn logical_rank(&self, joint: JointId) -> u32 {
        match &self.logical {
            Some(tree) => tree.rank[joint.get()],
            None => self.rank(joint),
        }
    }

    /// Whether a joint has a logical parent of its own.
    pub fn has_logical_parents(&self) -> bool {
        self.logical.is_some()
    }

    /// Whether both have the same hierarchy, rest transforms and rules: everything but names.
    pub fn moves_like(&self, other: &Self) -> bool {
        self.joints.len() == other.joints.len()
            && self.joints.iter().zip(&other.joints).all(|(a, b)| {
                a.parent == b.parent
                    && a.rest == b.rest
                    && a.rule == b.rule
                    && a.removed == b.removed
            })
    }

    /// The joint's label in the UI: its name, or "Bone 7" where the file gives none.
    pub fn label(&self, joint: JointId) -> String {
        match self.joints.get(joint.get()) {
            Some(j) if !j.name.is_empty() => j.name.clone(),
            _ => format!("Bone {}", joint.0),
        }
    }
}

impl LogicalTree {
    /// The tree; `None` where no joint has a logical parent of its own. `order`, `rank`: those of the skeleton.
    fn new(joints: &[Joint], order: &[u32], rank: &[u32]) -> Option<Self> {
        let is_live = |j: &JointId| joints.get(j.get()).is_some_and(|j| !j.removed);
        let named = |joint: &Joint| joint.rule.logical_parent.filter(is_live);
        if !joints.iter().any(|joint| named(joint).is_some()) {
            return None;
        }
        let mut children = vec![Vec::new(); joints.len()];
        let mut roots = Vec::new();
        for (j, joint) in joints.iter().enumerate().filter(|(_, j)| !j.removed) {
            match named(joint).or(joint.parent) {
                Some(parent) => children[parent.get()].push(JointId(j as u32)),
                None => roots.push(j as u32),
            }
        }
        let key = |j: u32| std::cmp::Reverse((rank[j as usize], j));
        let mut ready: std::collections::BinaryHeap<_> = roots.into_iter().map(key).collect();
        let mut logical = vec![u32::MAX; joints.len()];
        let mut n = 0;
        while let Some(std::cmp::Reverse((_, j))) = ready.pop() {
            logical[j as usize] = n;
            n += 1;
            ready.extend(children[j as usize].iter().map(|c| key(c.0)));
        }
        // Joints of a cycle, which no edit makes, come last.
        for &j in order {
            if logical[j as usize] == u32::MAX {
                logical[j as usize] = n;
                n += 1;
            }
        }
        Some(Self {
            children,
            rank: logical,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joint(parent: Option<u32>) -> Joint {
        Joint::new("", parent.map(JointId), Transform::IDENTITY)
    }

    #[test]
    fn a_removed_joint_keeps_its_slot_and_leaves_the_tree() {
        let mut joints = vec![joint(None), joint(Some(0)), joint(Some(0)), joint(None)];
        for (node, j) in [(7, 0), (3, 1), (5, 2)] {
            joints[j].source_node = Some(node);
        }
        joints[1].removed = true;
        let skeleton = Skeleton::new(joints.clone()).unwrap();
        assert_eq!((skeleton.len(), skeleton.n_live()), (4, 3));
        assert_eq!(skeleton.order(), [0, 2, 3]);
        assert_eq!(skeleton.roots().collect::<Vec<_>>(), [0, 3].map(JointId));
        assert_eq!(skeleton.children(JointId(0)), [JointId(2)]);
        assert_eq!(skeleton.joint(JointId(1)).parent, None);
        assert_eq!(skeleton.rank(JointId(1)), u32::MAX);
        let nodes = [3, 4, 5, 7].map(|node| skeleton.joint_of_node(node).map(|j| j.0));
        assert_eq!(nodes, [Some(1), None, Some(2), Some(0)]);

        joints[2].parent = Some(JointId(1));
        let orphan = Skeleton::new(joints.clone());
        assert!(matches!(
            orphan,
            Err(SkeletonError::RemovedParent {
                joint: 2,
                parent: 1
            })
        ));
        joints[2].parent = None;
        joints[3].source_node = Some(7);
        let shared = Skeleton::new(joints);
        assert!(matches!(
            shared,
            Err(SkeletonError::SharedNode { node: 7, .. })
        ));
    }

    #[test]
    fn order_puts_parents_first_and_ties_by_index() {
        let skeleton = Skeleton::new(vec![
            joint(Some(2)),
            joint(Some(0)),
            joint(None),
            joint(Some(2)),
        ])
        .unwrap();
        assert_eq!(skeleton.order(), [2, 0, 1, 3]);
        assert_eq!(skeleton.rank(JointId(3)), 3);
        assert_eq!(skeleton.children(JointId(2)), [JointId(0), JointId(3)]);
        assert_eq!(
            skeleton.ancestors(JointId(1)).collect::<Vec<_>>(),
            [JointId(0), JointId(2)]
        );
    }

    #[test]
    fn logical_parents_make_a_tree_of_their_own_and_no_cycles() {
        let mut joints = vec![joint(None), joint(Some(0)), joint(Some(0)), joint(Some(0))];
        let flat = Skeleton::new(joints.clone()).unwrap();
        assert!(!flat.has_logical_parents());
        assert_eq!(flat.logical_children(JointId(0)), flat.children(JointId(0)));
        let follows = |j: u32| JointRule {
            logical_parent: Some(JointId(j)),
            ..JointRule::default()
        };
        joints[1].rule = follows(3);
        joints[2].rule = follows(1);
        let skeleton = Skeleton::new(joints).unwrap();
        assert!(skeleton.has_logical_parents());
        let above: Vec<u32> = skeleton
            .logical_ancestors(JointId(2))
            .map(|j| j.0)
            .collect();
        assert_eq!(above, [1, 3, 0]);
        assert_eq!(skeleton.logical_children(JointId(3)), [JointId(1)]);
        let ranks = [0, 3, 1, 2].map(|j| skeleton.logical_rank(JointId(j)));
        assert!(ranks.is_sorted(), "{ranks:?}");
        assert_eq!(skeleton.joint(JointId(1)).parent, Some(JointId(0)));
        for (j, rule, right) in [
            (3, follows(2), false),
            (3, follows(3), false),
            (2, follows(3), true),
            (2, follows(9), false),
        ] {
            assert_eq!(rule.check(JointId(j), &skeleton).is_ok(), right);
        }
    }

    #[test]
    fn cycles_and_missing_parents_are_named() {
        assert_eq!(
            Skeleton::new(vec![joint(None), joint(Some(2)), joint(Some(1))]),
            Err(SkeletonError::Cycle { joint: 1 })
        );
        assert_eq!(
            Skeleton::new(vec![joint(Some(7))]),
            Err(SkeletonError::ParentOutOfRange {
                joint: 0,
                parent: 7,
                n_joints: 1
            })
        );
    }

    #[test]
    fn a_chain_of_100_000_joints_needs_no_stack() {
        let joints = (0..100_000u32).map(|j| joint(j.checked_sub(1))).collect();
        assert_eq!(Skeleton::new(joints).unwrap().order().len(), 100_000);
    }
}
