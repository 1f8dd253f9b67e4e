//! Distances from bones through the inside of a mesh (Dionne and de Lasa 2013, section 3.2).
//!
//! The paper's distances run from cell to cell and show the grid. Here each node stores an anchor, the last corner of
//! its path - for most nodes the bone itself - and the rest of the path is measured as a straight line from there
//! (Theta*, Daniel et al. 2010, evaluated when a node is settled). Distances are exact where the bone is visible, and
//! smooth within a cell.

use super::bones::Deformers;
use super::solid::Solid;
use super::welded_surface::WeldedSurface;
use crate::mesh::SurfaceIndex;
use crate::task::{Cancelled, Task};
use glam::Vec3;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Bones farther than this multiple of the nearest distance get no weight.
pub(crate) const MAX_DISTANCE_RATIO: f32 = 3.0;

/// Bones farther from the mesh than this fraction of the bounding-box diagonal do not belong to it.
const MAX_BONE_DISTANCE: f32 = 0.02;

/// Number of bones searched from at a time: bounds the memory of unsorted results.
const BONES_AT_ONCE: usize = 16;

/// Number of nodes settled between two checks for cancellation.
const NODES_PER_CHECK: usize = 8192;

/// The start of the straight last part of a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Anchor {
    /// The nearest position on a deformer's bones: index into the deformers.
    Bone(u16),
    /// A position, with its distance from the bone.
    Position(Vec3, f32),
}

/// The path from a patch to a deformer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Label {
    /// Index into the deformers.
    pub(crate) deformer: u16,
    anchor: Anchor,
}

/// The deformers that reach each patch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Distances {
    labels: Vec<Vec<Label>>,
    /// Deformers whose bones lie outside of the mesh: distances start at the surface.
    pub(crate) outside: Vec<usize>,
}

impl Label {
    /// The distance of `p`, a position of the patch.
    pub(crate) fn distance(&self, deformers: &Deformers, p: Vec3) -> f32 {
        length(self.anchor, deformers, p)
    }
}

impl Distances {
    /// The paths from all deformers to all patches.
    pub(crate) fn new(
        solid: &Solid,
        deformers: &Deformers,
        task: &Task,
    ) -> Result<Self, Cancelled> {
        let mut found = Self {
            labels: vec![Vec::new(); solid.middles.len()],
            ..Self::default()
        };
        let n = deformers.list.len();
        let mut seeds = Vec::with_capacity(n);
        for deformer in 0..n {
            task.check()?;
            let (inside, is_outside) = find_seeds(solid, deformers, deformer as u16);
            seeds.push(inside);
            if is_outside {
                found.outside.push(deformer);
            }
        }
        task.step("Measuring distances", 0.35)?;
        let all: Vec<Seed> = seeds.concat();
        let nearest = search(solid, deformers, &all, &|_, _| true, task)?;
        let mut limits = vec![0.0; solid.n_nodes()];
        for &(node, distance, _) in &nearest {
            limits[node as usize] = distance * MAX_DISTANCE_RATIO + 2.0 * solid.grid.cell;
        }
        drop(nearest);
        for first in (0..n).step_by(BONES_AT_ONCE) {
            task.step("Measuring distances", 0.4 + 0.5 * first as f32 / n as f32)?;
            let some = first..(first + BONES_AT_ONCE).min(n);
            let settled: Vec<Result<Vec<(u32, Label)>, Cancelled>> = some
                .into_par_iter()
                .map(|deformer| {
                    let near = |node: u32, distance: f32| distance <= limits[node as usize];
                    let settled = search(solid, deformers, &seeds[deformer], &near, task)?;
                    let patches = settled.into_iter().filter_map(|(node, _, anchor)| {
                        let patch = node.checked_sub(solid.first_patch())?;
                        let deformer = deformer as u16;
                        Some((patch, Label { deformer, anchor }))
                    });
                    Ok(patches.collect())
                })
                .collect();
            for labels in settled {
                for (patch, label) in labels? {
                    found.labels[patch as usize].push(label);
                }
            }
        }
        Ok(found)
    }

    /// The deformers that reach a patch, ascending.
    pub(crate) fn of_patch(&self, patch: u32) -> &[Label] {
        &self.labels[patch as usize]
    }
}

/// The start of a search.
#[derive(Clone, Copy, Debug)]
struct Seed {
    node: u32,
    anchor: Anchor,
}

/// The nodes next to a deformer's bones; where no bone passes an inside cell, the patches nearest to them, and `true`.
fn find_seeds(solid: &Solid, deformers: &Deformers, deformer: u16) -> (Vec<Seed>, bool) {
    let grid = &solid.grid;
    let mut nodes = Vec::new();
    let mut samples = Vec::new();
    for segment in &deformers.list[usize::from(deformer)].segments {
        let length = segment.head.distance(segment.tail);
        let steps = (2.0 * length / grid.cell.max(f32::MIN_POSITIVE))
            .ceil()
            .min(2000.0) as usize;
        for i in 0..=steps {
            let p = segment
                .head
                .lerp(segment.tail, i as f32 / steps.max(1) as f32);
            samples.push(p);
            let Some(cell) = grid.cell_of(p) else {
                continue;
            };
            let around = (0..3).flat_map(|axis| [false, true].map(|f| grid.beside(cell, axis, f)));
            for near in around.flatten().chain([cell]) {
                if let Some(node) = grid.node(near)
                    && grid.is_straight(p, near)
                {
                    nodes.push(node);
                }
            }
        }
    }
    nodes.sort_unstable();
    nodes.dedup();
    let anchor = Anchor::Bone(deformer);
    if !nodes.is_empty() {
        return (
            nodes
                .into_iter()
                .map(|node| Seed { node, anchor })
                .collect(),
            false,
        );
    }
    let stride = samples.len().div_ceil(16).max(1);
    let nearest = samples.into_iter().step_by(stride).filter_map(|p| {
        let patches = solid.positions.iter().enumerate();
        let nearest =
            patches.min_by(|a, b| a.1.distance_squared(p).total_cmp(&b.1.distance_squared(p)))?;
        let node = solid.first_patch() + nearest.0 as u32;
        Some(Seed { node, anchor })
    });
    let mut seeds: Vec<Seed> = nearest.collect();
    seeds.dedup_by_key(|s| s.node);
    (seeds, true)
}

/// The deformers whose bones lie away from the mesh while bones of others lie inside. A character in several meshes has
/// bones for all of them; a head gets no weight from the arms beside it.
pub(crate) fn away(
    solid: &Solid,
    surface: &WeldedSurface,
    index: &SurfaceIndex,
    deformers: &Deformers,
) -> Vec<usize> {
    let n = deformers.list.len();
    let little = (MAX_BONE_DISTANCE * surface.diagonal()).max(2.0 * solid.grid.cell);
    let outside: Vec<usize> = (0..n)
        .filter(|&d| find_seeds(solid, deformers, d as u16).1)
        .collect();
    if outside.len() == n {
        return Vec::new();
    }
    let is_near = |p: Vec3| {
        let closest = index.closest(p, little, &surface.triangles, &surface.positions, |_| true);
        closest.is_some()
    };
    let is_away = |&d: &usize| {
        let segments = deformers.list[d].segments.iter();
        segments.copied().all(|s| {
            let steps = (s.head.distance(s.tail) / little).ceil().clamp(1.0, 256.0) as usize;
            (0..=steps).all(|i| !is_near(s.head.lerp(s.tail, i as f32 / steps as f32)))
        })
    };
    outside.into_iter().filter(is_away).collect()
}

fn length(anchor: Anchor, deformers: &Deformers, p: Vec3) -> f32 {
    match anchor {
        Anchor::Bone(deformer) => deformers.list[usize::from(deformer)].distance(p),
        Anchor::Position(position, before) => before + position.distance(p),
    }
}

/// A tentative path to a node. Distances are compared as their bits: they are never negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    distance_bits: u32,
    node: u32,
    from: u32,
    is_straight: bool,
}

/// The nodes that are reachable from `seeds` through `wanted` nodes, with their distance and anchor, in order of
/// distance.
fn search(
    solid: &Solid,
    deformers: &Deformers,
    seeds: &[Seed],
    wanted: &dyn Fn(u32, f32) -> bool,
    task: &Task,
) -> Result<Vec<(u32, f32, Anchor)>, Cancelled> {
    const UNSETTLED: u32 = u32::MAX;
    let first_patch = solid.first_patch();
    // The index of each node in `settled`.
    let mut order = vec![UNSETTLED; solid.n_nodes()];
    let mut settled: Vec<(u32, f32, Anchor)> = Vec::new();
    let mut open = BinaryHeap::new();
    for (i, seed) in seeds.iter().enumerate() {
        let distance = length(seed.anchor, deformers, solid.position(seed.node));
        open.push(Reverse(Candidate {
            distance_bits: distance.to_bits(),
            node: seed.node,
            from: UNSETTLED - 1 - i as u32,
            is_straight: true,
        }));
    }
    let is_seed = |from: u32| from >= UNSETTLED - seeds.len() as u32;
    let mut n = 0;
    while let Some(Reverse(candidate)) = open.pop() {
        n += 1;
        if n % NODES_PER_CHECK == 0 {
            task.check()?;
        }
        let Candidate { node, from, .. } = candidate;
        if order[node as usize] != UNSETTLED {
            continue;
        }
        let distance = f32::from_bits(candidate.distance_bits);
        if !wanted(node, distance) {
            continue;
        }
        let position = solid.position(node);
        let anchor = if is_seed(from) {
            seeds[(UNSETTLED - 1 - from) as usize].anchor
        } else {
            let (before, base, inherited) = settled[order[from as usize] as usize];
            let is_patch = node >= first_patch || before >= first_patch;
            let start = match inherited {
                Anchor::Bone(d) => deformers.list[usize::from(d)].nearest(position),
                Anchor::Position(position, _) => position,
            };
            let straight = candidate.is_straight
                && before < first_patch
                && (is_patch || {
                    let cell = solid.grid.coordinates(solid.grid.cells[node as usize]);
                    let known = |n: u32| {
                        let at = order[n as usize];
                        at != UNSETTLED && settled[at as usize].2 == inherited
                    };
                    // The previous cell of the path is nearer: its result is reused.
                    match solid.grid.before(start, cell) {
                        Some((before, axis, forward)) if known(before) => {
                            let from = solid.grid.coordinates(solid.grid.cells[before as usize]);
                            solid.grid.is_open(from, axis, forward)
                        }
                        _ => solid.grid.is_straight(start, cell),
                    }
                });
            let bent = Anchor::Position(solid.position(before), base);
            if straight {
                inherited
            } else if candidate.is_straight {
                let longer = length(bent, deformers, position);
                open.push(Reverse(Candidate {
                    distance_bits: longer.max(distance).to_bits(),
                    is_straight: false,
                    ..candidate
                }));
                continue;
            } else {
                bent
            }
        };
        order[node as usize] = settled.len() as u32;
        settled.push((node, distance, anchor));
        solid.each_neighbour(node, |next| {
            if order[next as usize] != UNSETTLED {
                return;
            }
            // Over the surface, paths follow edges.
            let from_patch = node >= first_patch;
            let way = if from_patch {
                Anchor::Position(position, distance)
            } else {
                anchor
            };
            let longer = length(way, deformers, solid.position(next)).max(distance);
            if wanted(next, longer) {
                open.push(Reverse(Candidate {
                    distance_bits: longer.to_bits(),
                    node: next,
                    from: node,
                    is_straight: !from_patch,
                }));
            }
        });
    }
    Ok(settled)
}
