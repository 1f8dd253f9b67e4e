//! The order in which constraints are evaluated, and cycles among them.

use super::kind::{Constraints, Rule, Space};
use crate::skeleton::{JointId, Skeleton};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// The most edges that the search for circles follows; constraints that it would still have to look at do not act.
const MOST_EDGES: usize = 20_000_000;

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

/// A constraint that does not act because it would close a cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closing {
    /// The joint that has it.
    pub joint: JointId,
    /// Its index in the joint's list.
    pub index: usize,
    /// What follows what.
    pub cycle: Cycle,
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
        let (order, closing) = Self::opened(skeleton, constraints);
        match closing.into_iter().next() {
            None => Ok(order),
            Some(closing) => Err(closing.cycle),
        }
    }

    /// As [`Order::new`], without the constraints that would close a cycle: of joints in order of id, those that come first
    /// act.
    pub fn opened(skeleton: &Skeleton, constraints: &Constraints) -> (Self, Vec<Closing>) {
        let graph = Graph::new(skeleton, constraints);
        let mut is_active = vec![true; graph.edges.len()];
        let (steps, is_left) = graph.ordered(skeleton, &is_active);
        if steps.len() == graph.steps.len() {
            return (Self { steps }, Vec::new());
        }
        let closing = graph.open(skeleton, &is_left, &mut is_active);
        let (steps, _) = graph.ordered(skeleton, &is_active);
        (Self { steps }, closing)
    }
}

/// A joint, the one that it follows, and the name of the rule.
type Why = (JointId, JointId, &'static str);

/// What a step needs.
struct Edge<S> {
    from: S,
    to: S,
    /// `None`: the hierarchy.
    why: Option<Why>,
    /// The constraint that needs it, by joint and index; `None`: the hierarchy.
    of: Option<(JointId, usize)>,
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

struct Graph {
    /// Ascending.
    steps: Vec<Step>,
    /// Between steps, by index.
    edges: Vec<Edge<usize>>,
    /// The edges from each step.
    from: Vec<Vec<usize>>,
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
                                edges.push(needs(own, reach));
                            } else {
                                edges.extend(follows(Step::Local(other), reach, other));
                            }
                            edges.push(needs(reach, Step::World(other)));
                        }
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
    fn ordered(&self, skeleton: &Skeleton, is_active: &[bool]) -> (Vec<Step>, Vec<bool>) {
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

    /// Deactivates the edges of the constraints that close circles among the steps that are left.
    fn open(&self, skeleton: &Skeleton, is_left: &[bool], is_active: &mut [bool]) -> Vec<Closing> {
        let is_inside = self.without_ends(is_left);
        let mut candidates: BTreeMap<(JointId, usize), Vec<usize>> = BTreeMap::new();
        for (i, edge) in self.edges.iter().enumerate() {
            if let Some(of) = edge
                .of
                .filter(|_| is_inside[edge.from] && is_inside[edge.to])
            {
                candidates.entry(of).or_default().push(i);
                is_active[i] = false;
            }
        }
        let mut search = Search {
            graph: self,
            is_inside: &is_inside,
            came: vec![None; self.steps.len()],
            seen: Vec::new(),
            n_edges: 0,
        };
        let mut closing = Vec::new();
        for ((joint, index), edges) in candidates {
            for &edge in &edges {
                is_active[edge] = true;
            }
            let mut through = edges.iter();
            if let Some(circle) = through.find_map(|&edge| search.circle(edge, is_active)) {
                for &edge in &edges {
                    is_active[edge] = false;
                }
                let whys = circle.into_iter().filter_map(|edge| self.edges[edge].why);
                let why = edges.iter().find_map(|&edge| self.edges[edge].why);
                let mut whys: Vec<Why> = whys.collect();
                if whys.is_empty() {
                    whys.extend(why);
                }
                closing.push(Closing {
                    joint,
                    index,
                    cycle: sentence(skeleton, &whys),
                });
            }
        }
        closing
    }

    /// The steps of `is_left` from which a step of a circle is reached: those that only follow one are in none.
    fn without_ends(&self, is_left: &[bool]) -> Vec<bool> {
        let mut is_inside = is_left.to_vec();
        let mut n_after = vec![0usize; self.steps.len()];
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); self.steps.len()];
        for edge in (self.edges.iter()).filter(|edge| is_left[edge.from] && is_left[edge.to]) {
            n_after[edge.from] += 1;
            before[edge.to].push(edge.from);
        }
        let ends = (0..self.steps.len()).filter(|&step| is_left[step] && n_after[step] == 0);
        let mut ends: Vec<usize> = ends.collect();
        while let Some(end) = ends.pop() {
            is_inside[end] = false;
            for &step in &before[end] {
                n_after[step] -= 1;
                if n_after[step] == 0 {
                    ends.push(step);
                }
            }
        }
        is_inside
    }
}

/// A search for circles.
struct Search<'a> {
    graph: &'a Graph,
    is_inside: &'a [bool],
    /// The edge by which each step was reached.
    came: Vec<Option<usize>>,
    seen: Vec<usize>,
    n_edges: usize,
}

impl Search<'_> {
    /// The edges of a circle through an edge, backwards from it; `None` where there is none.
    fn circle(&mut self, edge: usize, is_active: &[bool]) -> Option<Vec<usize>> {
        let graph = self.graph;
        let (goal, start) = (graph.edges[edge].from, graph.edges[edge].to);
        for step in self.seen.drain(..) {
            self.came[step] = None;
        }
        let mut open = vec![start];
        while let Some(step) = open.pop() {
            if step == goal {
                let mut circle = vec![edge];
                let mut at = goal;
                while at != start
                    && let Some(edge) = self.came[at]
                {
                    circle.push(edge);
                    at = graph.edges[edge].from;
                }
                return Some(circle);
            }
            for &next in graph.from[step].iter().filter(|&&next| is_active[next]) {
                self.n_edges += 1;
                let to = graph.edges[next].to;
                if self.is_inside[to] && to != start && self.came[to].is_none() {
                    self.came[to] = Some(next);
                    self.seen.push(to);
                    open.push(to);
                }
            }
            if self.n_edges > MOST_EDGES {
                return Some(vec![edge]);
            }
        }
        None
    }
}

/// What follows what; of a long circle the first two and the last.
fn sentence(skeleton: &Skeleton, whys: &[Why]) -> Cycle {
    let label = |joint: JointId| format!("“{}”", skeleton.label(joint));
    let part = |(_, source, rule): &Why| format!("follows {} ({rule})", label(*source));
    let mut parts: Vec<String> = match whys {
        [first, second, _, .., last] => vec![part(first), part(second), "…".into(), part(last)],
        all => all.iter().map(part).collect(),
    };
    if let [_, second, dots, _] = &mut parts[..] {
        // “a” follows “b” (IK), which follows “c” (Aim), …, which follows “a” (IK).
        *second = format!("{second}, {dots}");
        parts.remove(2);
    }
    let first = whys.first();
    let first = first.map_or_else(String::new, |(owner, ..)| label(*owner));
    Cycle(format!("{first} {}.", parts.join(", which ")))
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

    /// Every joint of `n` follows another: those of each pair each other, or all in one ring.
    fn ring(n: u32, is_pairs: bool) -> (Skeleton, Constraints) {
        let joint = |j: u32| Joint::new(format!("bone {j}"), None, Transform::IDENTITY);
        let copy = |joint: u32| {
            let source = JointId(if is_pairs { joint ^ 1 } else { (joint + 1) % n });
            let rule = Rule::CopyRotation {
                source,
                space: Space::Local,
                keeps_offset: true,
            };
            (JointId(joint), vec![Constraint::new(rule)])
        };
        let skeleton = Skeleton::new((0..n).map(joint).collect()).unwrap();
        (skeleton, (0..n).map(copy).collect())
    }

    /// Many circles are opened in one pass, and a long one has a short sentence.
    #[test]
    fn many_and_long_circles_are_opened() {
        let (skeleton, constraints) = ring(10_000, true);
        let (order, closing) = Order::opened(&skeleton, &constraints);
        assert_eq!((order.steps.len(), closing.len()), (20_000, 5_000));
        // Those that come first act.
        assert!(closing.iter().all(|c| c.joint.0 % 2 == 1 && c.index == 0));
        let said =
            "“bone 1” follows “bone 0” (Copy rotation), which follows “bone 1” (Copy rotation).";
        assert_eq!(closing[0].cycle.0, said);
        let (skeleton, constraints) = ring(3_000, false);
        let (_, closing) = Order::opened(&skeleton, &constraints);
        let [Closing { joint, cycle, .. }] = &closing[..] else {
            panic!("{closing:?}");
        };
        assert_eq!(*joint, JointId(2_999));
        assert_eq!(
            cycle.0,
            "“bone 2999” follows “bone 0” (Copy rotation), which follows “bone 1” (Copy rotation), \
             …, which follows “bone 2999” (Copy rotation)."
        );
        assert_eq!(Order::new(&skeleton, &constraints).unwrap_err(), *cycle);
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
