//! The node tree.

use crate::math::Transform;
use glam::DVec3;

/// A stable handle of a joint: its slot in [`Skeleton::joints`], which only grows. Never a node of the file: that is
/// [`Joint::source_node`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JointId(pub u32);

impl JointId {
    /// The index for slices.
    pub fn get(self) -> usize {
        self.0 as usize
    }
}

/// A transform node: its parent and its rest transform.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// A label; may be empty or shared with other joints.
    pub name: String,
    /// The joint whose space `rest` is in; `None` for a root.
    pub parent: Option<JointId>,
    /// The local transform as the file has it.
    pub rest: Transform,
    /// The glTF node it came from; `None` for a joint made in Sinew.
    pub source_node: Option<u32>,
    /// What the artist overrides; the default for an imported joint.
    pub rule: JointRule,
}

/// What the artist overrides of what follows from a joint's place in the tree.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JointRule {
    /// Where its bone ends, in the joint's rest space, metres; `None`: at its children, of a leaf past its points.
    pub tail: Option<DVec3>,
    /// Whether the joint takes back the scale of its parent (Maya's *Segment Scale Compensate*): its own scale is then
    /// the only one, while its place still follows the parent's. No glTF file can say so.
    pub compensates_scale: bool,
    /// The joint from whose inflation its place in the inflated bind shape follows, where constraints drive it;
    /// `None`: its parent. Only a joint above it in [`Skeleton::order`] can be one.
    pub inflation_parent: Option<JointId>,
}

impl JointRule {
    /// Whether `joint` of `skeleton` can have the rule; else why not, as the end of a sentence.
    pub fn check(&self, joint: JointId, skeleton: &Skeleton) -> Result<(), String> {
        if self.tail.is_some_and(|t| !t.is_finite()) {
            return Err("the bone's end is not a finite place".into());
        }
        if let Some(parent) = self.inflation_parent {
            if parent.get() >= skeleton.len() {
                return Err(format!("there is no bone {} to follow", parent.0));
            }
            if skeleton.rank(parent) >= skeleton.rank(joint) {
                return Err(format!(
                    "its place cannot follow \"{}\", which comes after it",
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
    /// A parent index is outside of the list.
    #[error("joint {joint} has parent {parent}, but there are only {n_joints} joints")]
    ParentOutOfRange {
        /// The joint.
        joint: u32,
        /// Its parent index.
        parent: u32,
        /// Length of the list.
        n_joints: usize,
    },
    /// Following parents comes back to the same joint.
    #[error("joint {joint} is its own ancestor")]
    Cycle {
        /// A joint on the cycle.
        joint: u32,
    },
}

/// All joints of a model: a forest, shared by its skins.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Skeleton {
    joints: Vec<Joint>,
    /// Joint indices, parents before children, ties by index.
    order: Vec<u32>,
    /// `rank[joint]` = position in `order`.
    rank: Vec<u32>,
    /// `children[starts[j] .. starts[j + 1]]`, ascending.
    child_starts: Vec<u32>,
    children: Vec<JointId>,
}

impl Skeleton {
    /// Checks parents and derives the topological order.
    ///
    /// Fails if a parent is out of range or the parents form a cycle.
    pub fn new(joints: Vec<Joint>) -> Result<Self, SkeletonError> {
        let n = joints.len();
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
        // Breadth by smallest index first: a heap keeps ties by index among the joints whose parent is placed.
        let mut ready: std::collections::BinaryHeap<std::cmp::Reverse<u32>> = joints
            .iter()
            .enumerate()
            .filter(|(_, joint)| joint.parent.is_none())
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
        if let Some(joint) = rank.iter().position(|&r| r == u32::MAX) {
            return Err(SkeletonError::Cycle {
                joint: joint as u32,
            });
        }
        Ok(Self {
            joints,
            order,
            rank,
            child_starts,
            children,
        })
    }

    /// The joints by index.
    pub fn joints(&self) -> &[Joint] {
        &self.joints
    }

    /// One joint.
    pub fn joint(&self, joint: JointId) -> &Joint {
        &self.joints[joint.get()]
    }

    /// How many joints there are.
    pub fn len(&self) -> usize {
        self.joints.len()
    }

    /// Whether there is no joint.
    pub fn is_empty(&self) -> bool {
        self.joints.is_empty()
    }

    /// Joint indices, parents before children, ties by index.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// Position of `joint` in [`Skeleton::order`].
    pub fn rank(&self, joint: JointId) -> u32 {
        self.rank[joint.get()]
    }

    /// The children of `joint`, ascending.
    pub fn children(&self, joint: JointId) -> &[JointId] {
        &self.children
            [self.child_starts[joint.get()] as usize..self.child_starts[joint.get() + 1] as usize]
    }

    /// The joints without a parent, ascending.
    pub fn roots(&self) -> impl Iterator<Item = JointId> + '_ {
        (0..self.joints.len() as u32)
            .map(JointId)
            .filter(|&j| self.joint(j).parent.is_none())
    }

    /// `joint`'s parent, grandparent ... up to its root.
    pub fn ancestors(&self, joint: JointId) -> impl Iterator<Item = JointId> + '_ {
        std::iter::successors(self.joint(joint).parent, |&j| self.joint(j).parent)
    }

    /// Whether both have the same tree, rest transforms and rules: all that moves, whatever the names.
    pub fn moves_like(&self, other: &Self) -> bool {
        self.joints.len() == other.joints.len()
            && self
                .joints
                .iter()
                .zip(&other.joints)
                .all(|(a, b)| a.parent == b.parent && a.rest == b.rest && a.rule == b.rule)
    }

    /// What the UI calls the joint: its name, or "Bone 7" where the file gives none.
    pub fn label(&self, joint: JointId) -> String {
        match self.joints.get(joint.get()) {
            Some(j) if !j.name.is_empty() => j.name.clone(),
            _ => format!("Bone {}", joint.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joint(parent: Option<u32>) -> Joint {
        Joint {
            name: String::new(),
            parent: parent.map(JointId),
            rest: Transform::IDENTITY,
            source_node: None,
            rule: JointRule::default(),
        }
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
