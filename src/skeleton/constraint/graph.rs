//! What each step of an evaluation needs.

use super::kind::{Constraints, Rule, Space};
use crate::skeleton::{JointId, Skeleton};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

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

/// The joints that a reach bends, from its own joint upwards, which is the first.
pub(super) fn chain(skeleton: &Skeleton, end: JointId, n_bones: usize) -> Vec<JointId> {
    let above = skeleton.ancestors(end).take(n_bones);
    std::iter::once(end).chain(above).collect()
}

/// A joint, the one that it follows, and the name of the rule.
pub(super) type Why = (JointId, JointId, &'static str);

/// What a step needs.
pub(super) struct Edge<S> {
    pub(super) from: S,
    pub(super) to: S,
    /// `None`: the hierarchy.
    pub(super) why: Option<Why>,
    /// The constraint that needs it, by joint and index; `None`: the hierarchy.
    pub(super) of: Option<(JointId, usize)>,
}

impl Edge<Step> {
    fn of_hierarchy(from: Step, to: Step) -> Self {
        Self {
            from,
            to,
            why: None,
            of: None,
        }
    }
}

/// Steps and what each needs.
pub(super) struct Graph {
    /// Ascending.
    pub(super) steps: Vec<Step>,
    /// Between steps, by index.
    pub(super) edges: Vec<Edge<usize>>,
    /// The edges from each step.
    pub(super) from: Vec<Vec<usize>>,
}

impl Graph {
    /// Of all constraints that act: not muted, with an influence above 0 or an animated one.
    pub(super) fn new(skeleton: &Skeleton, constraints: &Constraints) -> Self {
        let (mut steps, mut edges) = (Vec::new(), Vec::new());
        // The chain of each reach, and what copies the local transform of a source.
        let mut chains: Vec<(Step, Vec<JointId>)> = Vec::new();
        let mut copies: Vec<(JointId, Edge<Step>)> = Vec::new();
        for joint in skeleton.live_joints() {
            steps.extend([Step::Local(joint), Step::World(joint)]);
            edges.push(Edge::of_hierarchy(Step::Local(joint), Step::World(joint)));
            if let Some(parent) = skeleton.joint(joint).parent {
                edges.push(Edge::of_hierarchy(Step::World(parent), Step::World(joint)));
            }
        }
        for (&joint, list) in constraints.iter().filter(|(j, _)| skeleton.is_live(**j)) {
            for (i, constraint) in list.iter().enumerate() {
                if !constraint.acts() {
                    continue;
                }
                let of = Some((joint, i));
                let needs = |from: Step, to: Step| Edge {
                    of,
                    ..Edge::of_hierarchy(from, to)
                };
                let rule = &constraint.rule;
                let follows = |from: Step, to: Step, source: JointId| {
                    let why = Some((joint, source, rule.label()));
                    skeleton
                        .is_live(source)
                        .then_some(Edge { from, to, why, of })
                };
                let own = Step::Local(joint);
                let mut needs_parent = true;
                match *rule {
                    Rule::CopyRotation {
                        source,
                        space: Space::Local,
                        ..
                    }
                    | Rule::CopyScale { source, .. }
                    | Rule::TwistShare { source, .. } => {
                        let copy = follows(Step::Local(source), own, source);
                        copies.extend(copy.map(|edge| (joint, edge)));
                        needs_parent = false;
                    }
                    Rule::CopyRotation { source, .. } | Rule::CopyLocation { source, .. } => {
                        edges.extend(follows(Step::World(source), own, source));
                    }
                    Rule::Aim { target, .. } => {
                        edges.extend(follows(Step::World(target), own, target));
                    }
                    Rule::LimitAngles { .. } | Rule::LimitCone(_) => needs_parent = false,
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
                                edges.push(needs(own, reach));
                            } else {
                                edges.extend(follows(Step::Local(other), reach, other));
                            }
                            edges.push(needs(reach, Step::World(other)));
                        }
                        chains.push((reach, bent.clone()));
                        let top = bent.last().and_then(|&j| skeleton.joint(j).parent);
                        if let Some(above) = top {
                            edges.push(needs(Step::World(above), reach));
                        }
                        continue;
                    }
                }
                let parent = skeleton.joint(joint).parent;
                if let Some(parent) = parent.filter(|_| needs_parent) {
                    edges.push(needs(Step::World(parent), own));
                }
            }
        }
        // A copy reads what the reaches that bend its source make of it, unless they bend its own joint too.
        for (joint, copy) in copies {
            let Step::Local(source) = copy.from else {
                continue;
            };
            let bending = chains.iter().filter(|(_, bent)| {
                bent.iter().skip(1).any(|&j| j == source) && !bent.contains(&joint)
            });
            edges.extend(bending.map(|(reach, _)| Edge {
                from: *reach,
                ..copy
            }));
            edges.push(copy);
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
                edges.push(Edge::of_hierarchy(pair[0], pair[1]));
            }
        }
        steps.sort_unstable();
        let index = |step: Step| steps.binary_search(&step).ok();
        let edges = edges.into_iter().filter_map(|edge: Edge<Step>| {
            Some(Edge {
                from: index(edge.from)?,
                to: index(edge.to)?,
                why: edge.why,
                of: edge.of,
            })
        });
        let edges: Vec<Edge<usize>> = edges.collect();
        let mut from = vec![Vec::new(); steps.len()];
        for (i, edge) in edges.iter().enumerate() {
            from[edge.from].push(i);
        }
        Self { steps, edges, from }
    }

    /// The steps by Kahn's order over the active edges, and whether each is left because it needs itself.
    pub(super) fn ordered(
        &self,
        skeleton: &Skeleton,
        is_active: &[bool],
    ) -> (Vec<Step>, Vec<bool>) {
        let rank = |step: usize| match self.steps[step] {
            Step::Local(j) => (skeleton.rank(j), 0, 0),
            Step::Reach(j, i) => (skeleton.rank(j), 1, i),
            Step::World(j) => (skeleton.rank(j), 2, 0),
        };
        let mut n_open = vec![0usize; self.steps.len()];
        for (edge, _) in (self.edges.iter().zip(is_active)).filter(|(_, active)| **active) {
            n_open[edge.to] += 1;
        }
        let ready = (0..self.steps.len()).filter(|&step| n_open[step] == 0);
        let mut ready: BinaryHeap<_> = ready.map(|step| Reverse((rank(step), step))).collect();
        let mut is_left = vec![true; self.steps.len()];
        let mut steps = Vec::with_capacity(self.steps.len());
        while let Some(Reverse((_, step))) = ready.pop() {
            steps.push(self.steps[step]);
            is_left[step] = false;
            for &edge in self.from[step].iter().filter(|&&edge| is_active[edge]) {
                let to = self.edges[edge].to;
                n_open[to] -= 1;
                if n_open[to] == 0 {
                    ready.push(Reverse((rank(to), to)));
                }
            }
        }
        (steps, is_left)
    }
}
