//! Dependency cycles: constraints that follow each other.

use super::graph::{Graph, Why};
use crate::skeleton::{JointId, Skeleton};
use std::collections::BTreeMap;

/// The most edges that the search for cycles follows; constraints that it would still have to look at do not act.
const MOST_EDGES: usize = 20_000_000;

/// Dependency cycles: constraints that follow each other.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Cycle(pub String);

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

/// Deactivates the edges of the constraints that close cycles among the steps that are left.
pub(super) fn open(
    graph: &Graph,
    skeleton: &Skeleton,
    is_left: &[bool],
    is_active: &mut [bool],
) -> Vec<Closing> {
    let is_inside = without_ends(graph, is_left);
    let mut candidates: BTreeMap<(JointId, usize), Vec<usize>> = BTreeMap::new();
    for (i, edge) in graph.edges.iter().enumerate() {
        if let Some(of) = edge
            .of
            .filter(|_| is_inside[edge.from] && is_inside[edge.to])
        {
            candidates.entry(of).or_default().push(i);
            is_active[i] = false;
        }
    }
    let mut search = Search {
        graph,
        is_inside: &is_inside,
        came: vec![None; graph.steps.len()],
        seen: Vec::new(),
        n_edges: 0,
    };
    let mut closing = Vec::new();
    for ((joint, index), edges) in candidates {
        for &edge in &edges {
            is_active[edge] = true;
        }
        let mut through = edges.iter();
        if let Some(cycle) = through.find_map(|&edge| search.cycle(edge, is_active)) {
            for &edge in &edges {
                is_active[edge] = false;
            }
            let whys = cycle.into_iter().filter_map(|edge| graph.edges[edge].why);
            let why = edges.iter().find_map(|&edge| graph.edges[edge].why);
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

/// The steps of `is_left` from which a step of a cycle is reached: those that only follow one are in none.
fn without_ends(graph: &Graph, is_left: &[bool]) -> Vec<bool> {
    let mut is_inside = is_left.to_vec();
    let mut n_after = vec![0usize; graph.steps.len()];
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); graph.steps.len()];
    for edge in (graph.edges.iter()).filter(|edge| is_left[edge.from] && is_left[edge.to]) {
        n_after[edge.from] += 1;
        before[edge.to].push(edge.from);
    }
    let ends = (0..graph.steps.len()).filter(|&step| is_left[step] && n_after[step] == 0);
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

/// A search for cycles.
struct Search<'a> {
    graph: &'a Graph,
    is_inside: &'a [bool],
    /// The edge by which each step was reached.
    came: Vec<Option<usize>>,
    seen: Vec<usize>,
    n_edges: usize,
}

impl Search<'_> {
    /// The edges of a cycle through an edge, backwards from it; `None` where there is none.
    fn cycle(&mut self, edge: usize, is_active: &[bool]) -> Option<Vec<usize>> {
        let graph = self.graph;
        let (goal, start) = (graph.edges[edge].from, graph.edges[edge].to);
        for step in self.seen.drain(..) {
            self.came[step] = None;
        }
        let mut open = vec![start];
        while let Some(step) = open.pop() {
            if step == goal {
                let mut cycle = vec![edge];
                let mut at = goal;
                while at != start
                    && let Some(edge) = self.came[at]
                {
                    cycle.push(edge);
                    at = graph.edges[edge].from;
                }
                return Some(cycle);
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

/// What follows what; of a long cycle the first two and the last.
fn sentence(skeleton: &Skeleton, whys: &[Why]) -> Cycle {
    let label = |joint: JointId| format!("“{}”", skeleton.label(joint));
    let part = |(_, source, rule): &Why| format!("follows {} ({rule})", label(*source));
    let mut parts: Vec<String> = match whys {
        [first, second, _, .., last] => vec![part(first), part(second), "…".into(), part(last)],
        all => all.iter().map(part).collect(),
    };
    if let [_, second, dots, _] = &mut parts[..] {
        // “a” follows “b” (Two-Bone IK), which follows “c” (Damped Track), …, which follows “a” (Two-Bone IK).
        *second = format!("{second}, {dots}");
        parts.remove(2);
    }
    let first = whys.first();
    let first = first.map_or_else(String::new, |(owner, ..)| label(*owner));
    Cycle(format!("{first} {}.", parts.join(", which ")))
}
