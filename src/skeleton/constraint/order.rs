//! The order in which constraints are evaluated, and cycles among them.

use super::kind::{Constraints, Rule, Space};
use crate::skeleton::{JointId, Skeleton};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Constraints that follow each other in a circle.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Cycle(pub String);

/// A step of the evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
    /// The constraints of a joint on its own local transform.
    Local(JointId),
    /// A reach of a joint, by its index in the joint's list.
    Reach(JointId, usize),
    /// The joint's world transform.
    World(JointId),
}

/// The steps of an evaluation, in an order in which each comes after all that it needs.
#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    pub(super) steps: Vec<Step>,
}

/// The joints that a reach bends, from its own joint upwards, which is the first.
pub(super) fn chain(skeleton: &Skeleton, end: JointId, n_bones: usize) -> Vec<JointId> {
    let above = skeleton.ancestors(end).take(n_bones);
    std::iter::once(end).chain(above).collect()
}

impl Order {
    /// Kahn's order over the joints' local and world transforms; of several steps that are possible the one of the joint
    /// that comes first in the skeleton. Fails with a sentence that names the joints of a cycle.
    pub fn new(skeleton: &Skeleton, constraints: &Constraints) -> Result<Self, Cycle> {
        let mut graph = Graph::new(skeleton, constraints);
        graph.edges.sort_by_key(|edge| edge.from);
        let graph = graph;
        let mut n_open: BTreeMap<Step, usize> = graph.steps.iter().map(|&s| (s, 0)).collect();
        for edge in &graph.edges {
            if let Some(n) = n_open.get_mut(&edge.to) {
                *n += 1;
            }
        }
        let rank = |step: Step| match step {
            Step::Local(j) => (skeleton.rank(j), 0, 0),
            Step::Reach(j, i) => (skeleton.rank(j), 1, i),
            Step::World(j) => (skeleton.rank(j), 2, 0),
        };
        let ready = n_open.iter().filter(|(_, n)| **n == 0);
        let mut ready: BinaryHeap<_> = ready.map(|(&s, _)| Reverse((rank(s), s))).collect();
        let mut steps = Vec::with_capacity(graph.steps.len());
        while let Some(Reverse((_, step))) = ready.pop() {
            steps.push(step);
            n_open.remove(&step);
            let first = graph.edges.partition_point(|edge| edge.from < step);
            for edge in (graph.edges[first..].iter()).take_while(|edge| edge.from == step) {
                if let Some(n) = n_open.get_mut(&edge.to) {
                    *n -= 1;
                    if *n == 0 {
                        ready.push(Reverse((rank(edge.to), edge.to)));
                    }
                }
            }
        }
        match n_open.keys().next() {
            None => Ok(Self { steps }),
            Some(&stuck) => Err(graph.cycle(skeleton, &n_open, stuck)),
        }
    }
}

/// What a step needs.
struct Edge {
    from: Step,
    to: Step,
    /// A joint, the one that it follows, and the name of the rule; `None`: the hierarchy.
    why: Option<(JointId, JointId, &'static str)>,
}

impl Edge {
    fn of_hierarchy(from: Step, to: Step) -> Self {
        Self {
            from,
            to,
            why: None,
        }
    }
}

struct Graph {
    steps: Vec<Step>,
    edges: Vec<Edge>,
}

impl Graph {
    fn new(skeleton: &Skeleton, constraints: &Constraints) -> Self {
        let (mut steps, mut edges) = (Vec::new(), Vec::new());
        for joint in skeleton.live_joints() {
            steps.extend([Step::Local(joint), Step::World(joint)]);
            edges.push(Edge::of_hierarchy(Step::Local(joint), Step::World(joint)));
            if let Some(parent) = skeleton.joint(joint).parent {
                edges.push(Edge::of_hierarchy(Step::World(parent), Step::World(joint)));
            }
        }
        for (&joint, list) in constraints.iter().filter(|(j, _)| skeleton.is_live(**j)) {
            for (i, constraint) in list.iter().enumerate() {
                if constraint.is_muted {
                    continue;
                }
                let rule = &constraint.rule;
                let follows = |from: Step, to: Step, source: JointId| {
                    let why = Some((joint, source, rule.label()));
                    skeleton.is_live(source).then_some(Edge { from, to, why })
                };
                let own = Step::Local(joint);
                let mut needs_parent = true;
                match *rule {
                    Rule::CopyRotation {
                        source,
                        space: Space::Local,
                        ..
                    }
                    | Rule::CopyScale { source }
                    | Rule::TwistShare { source, .. } => {
                        edges.extend(follows(Step::Local(source), own, source));
                        needs_parent = false;
                    }
                    Rule::CopyRotation { source, .. } | Rule::CopyLocation { source, .. } => {
                        edges.extend(follows(Step::World(source), own, source));
                    }
                    Rule::Aim { target, .. } => {
                        edges.extend(follows(Step::World(target), own, target));
                    }
                    Rule::LimitAngles(_) | Rule::LimitCone(_) => needs_parent = false,
                    Rule::ReachTwoBones { target, .. } | Rule::ReachChain { target, .. } => {
                        let reach = Step::Reach(joint, i);
                        steps.push(reach);
                        edges.extend(follows(Step::World(target), reach, target));
                        if let Rule::ReachTwoBones {
                            pole: Some(pole), ..
                        } = *rule
                        {
                            edges.extend(follows(Step::World(pole), reach, pole));
                        }
                        let bent = chain(skeleton, joint, rule.n_bones());
                        for &other in &bent {
                            if other == joint {
                                edges.push(Edge::of_hierarchy(own, reach));
                            } else {
                                edges.extend(follows(Step::Local(other), reach, other));
                            }
                            edges.push(Edge::of_hierarchy(reach, Step::World(other)));
                        }
                        let top = bent.last().and_then(|&j| skeleton.joint(j).parent);
                        if let Some(above) = top {
                            edges.push(Edge::of_hierarchy(Step::World(above), reach));
                        }
                        continue;
                    }
                }
                let parent = skeleton.joint(joint).parent;
                if let Some(parent) = parent.filter(|_| needs_parent) {
                    edges.push(Edge::of_hierarchy(Step::World(parent), own));
                }
            }
        }
        // Reaches that bend the same joint act in the order of the list.
        let reaches: Vec<Step> = steps
            .iter()
            .copied()
            .filter(|s| matches!(s, Step::Reach(..)))
            .collect();
        for pair in reaches.windows(2) {
            if let [Step::Reach(a, _), Step::Reach(b, _)] = *pair
                && a == b
            {
                edges.push(Edge {
                    from: pair[0],
                    to: pair[1],
                    why: None,
                });
            }
        }
        Self { steps, edges }
    }

    /// A cycle among the steps that are left, as a sentence. Every one of them needs another that is left.
    fn cycle(&self, skeleton: &Skeleton, left: &BTreeMap<Step, usize>, from: Step) -> Cycle {
        let before = |step: Step| {
            let mut edges = self.edges.iter();
            edges.find(|e| e.to == step && left.contains_key(&e.from))
        };
        // Back until a step comes again, then once around.
        let mut at = from;
        let mut seen = Vec::new();
        while !seen.contains(&at) {
            seen.push(at);
            match before(at) {
                Some(edge) => at = edge.from,
                None => break,
            }
        }
        let start = at;
        let mut whys = Vec::new();
        while let Some(edge) = before(at) {
            whys.extend(edge.why);
            at = edge.from;
            if at == start {
                break;
            }
        }
        let label = |joint: JointId| format!("“{}”", skeleton.label(joint));
        let parts: Vec<String> = whys
            .iter()
            .map(|(_, source, rule)| format!("follows {} ({rule})", label(*source)))
            .collect();
        let first = whys
            .first()
            .map_or_else(String::new, |(owner, ..)| label(*owner));
        Cycle(format!("{first} {}.", parts.join(", which ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Transform;
    use crate::skeleton::Joint;
    use crate::skeleton::constraint::Constraint;
    use glam::DVec3;

    fn arm() -> Skeleton {
        let joint = |name: &str, parent: Option<u32>| {
            Joint::new(name, parent.map(JointId), Transform::IDENTITY)
        };
        let joints = vec![
            joint("arm.l", None),
            joint("elbow.l", Some(0)),
            joint("hand.l", Some(1)),
            joint("target", None),
        ];
        Skeleton::new(joints).unwrap()
    }

    fn reach(target: u32) -> Constraint {
        Constraint::new(Rule::ReachTwoBones {
            target: JointId(target),
            pole: None,
            softness: 0.0,
        })
    }

    fn aim_at(target: u32) -> Constraint {
        Constraint::new(Rule::Aim {
            target: JointId(target),
            axis: DVec3::Y,
            up: None,
        })
    }

    #[test]
    fn what_a_constraint_needs_comes_first() {
        let constraints = Constraints::from([(JointId(2), vec![reach(3)]), (JointId(3), vec![])]);
        let order = Order::new(&arm(), &constraints).unwrap();
        let place = |step: Step| order.steps.iter().position(|&s| s == step).unwrap();
        let reach = place(Step::Reach(JointId(2), 0));
        assert!(place(Step::World(JointId(3))) < reach);
        for joint in 0..3 {
            assert!(place(Step::Local(JointId(joint))) < reach);
            assert!(place(Step::World(JointId(joint))) > reach);
        }
    }

    #[test]
    fn a_cycle_is_named() {
        let copy = Constraint::new(Rule::CopyLocation {
            source: JointId(2),
            keeps_offset: true,
        });
        let constraints =
            Constraints::from([(JointId(2), vec![reach(3)]), (JointId(3), vec![copy])]);
        let why = Order::new(&arm(), &constraints).unwrap_err().to_string();
        let said = [
            "“hand.l” follows “target” (IK), which follows “hand.l” (Copy location).",
            "“target” follows “hand.l” (Copy location), which follows “target” (IK).",
        ];
        assert!(said.contains(&why.as_str()), "{why}");
        // A joint cannot aim at what hangs from it.
        let constraints = Constraints::from([(JointId(0), vec![aim_at(2)])]);
        let why = Order::new(&arm(), &constraints).unwrap_err().to_string();
        assert_eq!(why, "“arm.l” follows “hand.l” (Aim).");
        // Switched off it does nothing.
        let mut muted = constraints;
        muted.get_mut(&JointId(0)).unwrap()[0].is_muted = true;
        assert!(Order::new(&arm(), &muted).is_ok());
    }
}
