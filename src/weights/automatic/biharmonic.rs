//! Bounded biharmonic weights (Jacobson et al. 2011): the smoothest weights between 0 and 1 that are 1 along a bone
//! and 0 along the others.
//!
//! As in the paper's faster variant each bone's weights are solved independently and then scaled to the sum 1. The
//! quadratic programme min w' K w, 0 <= w <= 1 (equation 2 with K = L M^-1 L) is solved by ADMM as in OSQP (Stellato
//! et al. 2020, Boyd et al. 2011, section 5.2): a linear solve alternates with a clamp, so that one factorisation
//! serves all bones and all iterations.

use super::bones::Deformers;
use super::geodesic::Distances;
use super::proxy::Proxy;
use super::rows::TopRows;
use super::solid::Solid;
use super::solved;
use super::voxel::{self, share};
use super::welded_surface::WeldedSurface;
use crate::math::{Factor, FactorError, Symmetric};
use crate::task::{Cancelled, Task};
use crate::weights::outcome::OperationError;
use crate::weights::subject::Subject;
use rayon::prelude::*;

/// The ADMM penalty for a mean distance of the nodes from the nearest bone, in blocks: the stiffness of the longest
/// waves that fit, which would otherwise converge last.
fn penalty(mean_distance: f64) -> f64 {
    (PENALTY_WAVENUMBER / mean_distance.max(0.5)).powi(4)
}

/// Found by experiment: it needs the fewest iterations on the samples.
const PENALTY_WAVENUMBER: f64 = 4.2;

/// Over-relaxation factor of ADMM.
const OVER_RELAXATION: f64 = 1.6;

/// Tolerance: iteration ends when no weight changes by more than this or violates its bounds by more.
const TOLERANCE: f64 = 2e-3;

/// Maximum number of iterations.
const MAX_ITERATIONS: usize = 300;

/// Bones solved together by one thread.
const COLUMNS: usize = 8;

/// Maximum number of nodes: more take too long to factor.
const MAX_NODES: usize = 8000;

/// Falloff of the geodesic weights used as a fallback.
const FALLBACK_FALLOFF: f32 = 0.3;

/// The nodes that each bone constrains.
struct Handles {
    /// n_nodes: the deformer whose bone passes through; `u16::MAX` for none.
    owner: Vec<u16>,
    /// n_deformers: the deformer whose weight it divides; its own index if it has nodes.
    group: Vec<u16>,
    /// Deformers without a node of their own.
    lost: Vec<usize>,
}

/// The weights of each position, and the fallback where the solution has no value.
pub(crate) fn weights(
    subject: &Subject<'_>,
    surface: &WeldedSurface,
    deformers: &Deformers,
    solid: &Solid,
    side: usize,
    task: &Task,
) -> Result<(TopRows, Vec<String>), OperationError> {
    let mut notes = Vec::new();
    let mut side = side.max(1);
    let mut proxy = Proxy::new(solid, side);
    let one_block = solid.grid.dims.into_iter().max().unwrap_or(0);
    while proxy.n() > MAX_NODES && side < one_block {
        task.check()?;
        side += 1 + side / 4;
        proxy = Proxy::new(solid, side);
        let message = "The grid was coarsened: a finer one would take too long to solve.";
        if notes.is_empty() {
            notes.push(message.to_owned());
        }
    }
    // Disconnected parts stay separate nodes however large the blocks are.
    let too_many = proxy.n() > MAX_NODES;
    if proxy.n() == 0 || too_many {
        notes.clear();
        notes.push(if too_many {
            format!(
                "The inside has {} parts, too many to solve for: used geodesic voxel weights.",
                proxy.n()
            )
        } else {
            "The mesh has no inside: used geodesic voxel weights over its surface.".to_owned()
        });
        let (rows, more) =
            voxel::weights(subject, surface, deformers, solid, FALLBACK_FALLOFF, task)?;
        notes.extend(more);
        return Ok((rows, notes));
    }
    let handles = Handles::new(&proxy, solid, deformers);
    task.step("Solving for smooth weights", 0.4)?;
    let fields = match solve(&proxy, &handles, deformers.list.len(), task) {
        Ok((fields, open)) => {
            if let Some(most) = open.iter().map(|o| o.1).max_by(f64::total_cmp) {
                let bones: Vec<usize> = open.iter().map(|o| o.0).collect();
                notes.push(format!(
                    "Not converged after {MAX_ITERATIONS} iterations, last change up to {most:.3}: {}.",
                    deformers.labels(subject, &bones)
                ));
            }
            fields
        }
        Err(FactorError::Cancelled(c)) => return Err(c.into()),
        Err(failed) => {
            notes.push(format!(
                "{}: used geodesic voxel weights.",
                solved_sentence(&failed)
            ));
            let (rows, more) =
                voxel::weights(subject, surface, deformers, solid, FALLBACK_FALLOFF, task)?;
            notes.extend(more);
            return Ok((rows, notes));
        }
    };
    if !handles.lost.is_empty() {
        notes.push(format!(
            "Bones smaller than a block of the grid: {}. They share their neighbour's weight by distance.",
            deformers.labels(subject, &handles.lost)
        ));
    }
    task.step("Reading weights at the surface", 0.85)?;
    let (mut rows, missing) = read(
        surface, deformers, solid, &proxy, &handles, &fields, subject, task,
    )?;
    if !handles.lost.is_empty() || !missing.is_empty() {
        let distances = Distances::new(solid, deformers, task)?;
        if !handles.lost.is_empty() {
            split_groups(
                surface, deformers, solid, &distances, &handles, subject, &mut rows,
            );
        }
        if !missing.is_empty() {
            let unreached = share(
                surface,
                deformers,
                solid,
                &distances,
                FALLBACK_FALLOFF,
                &mut rows,
                Some(&missing),
            );
            notes.push(format!(
                "{} positions are connected to no part of the inside that contains a bone: used geodesic distances.",
                missing.len()
            ));
            notes.extend(voxel::unreached_note(surface, &unreached));
        }
    }
    rows.smooth(surface, 1, 0.5, task)?;
    Ok((rows, notes))
}

fn solved_sentence(failed: &FactorError) -> String {
    match solved(failed.clone()) {
        OperationError::Refused(sentence) => sentence.trim_end_matches('.').to_owned(),
        OperationError::Cancelled(_) => String::new(),
    }
}

impl Handles {
    fn new(proxy: &Proxy, solid: &Solid, deformers: &Deformers) -> Self {
        let grid = &solid.grid;
        let n = deformers.list.len();
        let mut passes: Vec<(u32, u16)> = Vec::new();
        for (d, deformer) in deformers.list.iter().enumerate() {
            for segment in &deformer.segments {
                let length = segment.head.distance(segment.tail);
                let steps = (2.0 * length / grid.cell).ceil().min(4000.0) as usize;
                for i in 0..=steps {
                    let p = segment
                        .head
                        .lerp(segment.tail, i as f32 / steps.max(1) as f32);
                    let cell = grid.cell_of(p).and_then(|cell| grid.node(cell));
                    if let Some(cell) = cell {
                        passes.push((proxy.node_of_cell[cell as usize], d as u16));
                    }
                }
            }
        }
        passes.sort_unstable();
        passes.dedup();
        let mut owner = vec![u16::MAX; proxy.n()];
        for node in passes.chunk_by(|a, b| a.0 == b.0) {
            let centre = proxy.centres[node[0].0 as usize];
            let distance = |d: u16| deformers.list[usize::from(d)].distance(centre);
            let nearest = node
                .iter()
                .map(|p| p.1)
                .min_by(|&a, &b| distance(a).total_cmp(&distance(b)));
            owner[node[0].0 as usize] = nearest.unwrap_or(u16::MAX);
        }
        let mut group: Vec<u16> = vec![u16::MAX; n];
        for &d in owner.iter().filter(|&&d| d != u16::MAX) {
            group[usize::from(d)] = d;
        }
        let lost: Vec<usize> = (0..n).filter(|&d| group[d] == u16::MAX).collect();
        for &d in &lost {
            let passed = passes.iter().find(|p| usize::from(p.1) == d).map(|p| p.0);
            // A bone outside of the mesh constrains its nearest node.
            let nearest = || {
                let distance = |n: u32| deformers.list[d].distance(proxy.centres[n as usize]);
                (0..proxy.n() as u32).min_by(|&a, &b| distance(a).total_cmp(&distance(b)))
            };
            if let Some(node) = passed.or_else(nearest) {
                let slot = &mut owner[node as usize];
                if *slot == u16::MAX {
                    *slot = d as u16;
                }
                group[d] = *slot;
            }
        }
        let lost = lost
            .into_iter()
            .filter(|&d| usize::from(group[d]) != d)
            .collect();
        Self { owner, group, lost }
    }
}

/// One value for each node, for each deformer with nodes; and the deformers that did not converge.
type Fields = Vec<Option<Vec<f32>>>;

fn solve(
    proxy: &Proxy,
    handles: &Handles,
    n_deformers: usize,
    task: &Task,
) -> Result<(Fields, Vec<(usize, f64)>), FactorError> {
    let mut index = vec![u32::MAX; proxy.n()];
    let mut volumes = Vec::new();
    let held = |node: usize| handles.owner[node] != u16::MAX;
    let penalty = penalty(proxy.mean_distance(held));
    for (node, slot) in index.iter_mut().enumerate() {
        if !held(node) {
            *slot = volumes.len() as u32;
            volumes.push(proxy.volumes[node] * penalty);
        }
    }
    let n_free = volumes.len();
    let (mut matrix, to_handles): (Symmetric, _) = proxy.bilaplacian().split(&index, n_free);
    matrix.add_diagonal(&volumes);
    let factor = Factor::new(matrix, task)?;
    task.step("Solving for smooth weights", 0.5)?;
    let mut pulls: Vec<(u16, u32, f64)> = to_handles
        .iter()
        .map(|&(row, node, value)| (handles.owner[node as usize], row, -value))
        .collect();
    pulls.sort_by_key(|p| (p.0, p.1));
    let active: Vec<u16> = (0..n_deformers as u16)
        .filter(|&d| handles.group[usize::from(d)] == d)
        .collect();
    let solve_some = |bones: &[u16]| -> Result<Vec<(Vec<f32>, f64)>, Cancelled> {
        let mut fixed = vec![0.0; n_free * bones.len()];
        for (column, &bone) in fixed.chunks_mut(n_free.max(1)).zip(bones) {
            let start = pulls.partition_point(|p| p.0 < bone);
            for &(_, row, value) in pulls[start..].iter().take_while(|p| p.0 == bone) {
                column[row as usize] += value;
            }
        }
        let (values, moved) = split_rounds(&factor, &volumes, &fixed, bones.len(), task)?;
        let fields = bones.iter().zip(moved).enumerate();
        Ok(fields
            .map(|(k, (&bone, moved))| {
                let own = &values[k * n_free..(k + 1) * n_free];
                let field = index
                    .iter()
                    .zip(&handles.owner)
                    .map(|(&i, &owner)| match i {
                        u32::MAX => f32::from(u8::from(owner == bone)),
                        i => own[i as usize] as f32,
                    });
                (field.collect(), moved)
            })
            .collect())
    };
    let solutions: Vec<_> = active.par_chunks(COLUMNS).map(solve_some).collect();
    let mut fields: Fields = vec![None; n_deformers];
    let mut open = Vec::new();
    for (bones, solution) in active.chunks(COLUMNS).zip(solutions) {
        for (&bone, (field, moved)) in bones.iter().zip(solution?) {
            fields[usize::from(bone)] = Some(field);
            if moved > TOLERANCE {
                open.push((usize::from(bone), moved));
            }
        }
    }
    Ok((fields, open))
}

/// ADMM: w solves (K + r M) w = b + r M (z - u); z is w + u clamped to 0 - 1; u is the scaled dual variable.
/// `penalty` is r M. Returns z, and for each column its change in the last iteration.
fn split_rounds(
    factor: &Factor,
    penalty: &[f64],
    fixed: &[f64],
    n_columns: usize,
    task: &Task,
) -> Result<(Vec<f64>, Vec<f64>), Cancelled> {
    let n = penalty.len();
    let mut z = vec![0.0; n * n_columns];
    let mut u = vec![0.0; n * n_columns];
    let mut last = vec![0.0; n_columns];
    if n == 0 {
        return Ok((z, last));
    }
    let mut w = vec![0.0; n * n_columns];
    for _ in 0..MAX_ITERATIONS {
        task.check()?;
        for (i, w) in w.iter_mut().enumerate() {
            *w = fixed[i] + penalty[i % n] * (z[i] - u[i]);
        }
        factor.solve(&mut w);
        for (k, last) in last.iter_mut().enumerate() {
            let mut moved: f64 = 0.0;
            for i in k * n..(k + 1) * n {
                let relaxed = OVER_RELAXATION * w[i] + (1.0 - OVER_RELAXATION) * z[i];
                let kept = (relaxed + u[i]).clamp(0.0, 1.0);
                moved = moved.max((kept - z[i]).abs()).max((w[i] - kept).abs());
                u[i] += relaxed - kept;
                z[i] = kept;
            }
            *last = moved;
        }
        if last.iter().all(|&m| m <= TOLERANCE) {
            break;
        }
    }
    Ok((z, last))
}

/// The fields at each position, and the positions where they have no value.
#[allow(clippy::too_many_arguments)] // The inputs of one computation.
fn read(
    surface: &WeldedSurface,
    deformers: &Deformers,
    solid: &Solid,
    proxy: &Proxy,
    handles: &Handles,
    fields: &Fields,
    subject: &Subject<'_>,
    task: &Task,
) -> Result<(TopRows, Vec<u32>), Cancelled> {
    const MIN_WEIGHT: f32 = 1e-3;
    let n = proxy.n();
    let per_node: Vec<Vec<(u16, f32)>> = (0..n)
        .into_par_iter()
        .map(|node| {
            let fields = fields.iter().enumerate();
            let here = fields.filter_map(|(d, f)| Some((d as u16, f.as_ref()?[node])));
            here.filter(|h| h.1 > MIN_WEIGHT).collect()
        })
        .collect();
    debug_assert_eq!(handles.owner.len(), n);
    let nodes = proxy.nodes_of_positions(surface, solid);
    let mut by_node: Vec<(u32, u32)> = Vec::with_capacity(surface.n());
    let mut missing = Vec::new();
    for (position, node) in nodes.iter().enumerate() {
        match node {
            Some(node) => by_node.push((*node, position as u32)),
            None => missing.push(position as u32),
        }
    }
    by_node.sort_unstable();
    let groups: Vec<&[(u32, u32)]> = by_node.chunk_by(|a, b| a.0 == b.0).collect();
    let read_group = |group: &&[(u32, u32)]| {
        let node = group[0].0;
        let mut around = Vec::new();
        let mut read = Vec::with_capacity(group.len());
        if task.is_cancelled() {
            return read;
        }
        proxy.around(node, &mut around);
        for &(_, position) in *group {
            let p = surface.positions[position as usize];
            let mut sums: Vec<(u16, f32)> = Vec::new();
            let mut total = 0.0;
            for &other in &around {
                // Its own node always contributes.
                let loudness = proxy.kernel(other, p) + if other == node { 1e-6 } else { 0.0 };
                if loudness <= 0.0 {
                    continue;
                }
                total += loudness;
                for &(d, w) in &per_node[other as usize] {
                    match sums.iter_mut().find(|s| s.0 == d) {
                        Some(sum) => sum.1 += loudness * w,
                        None => sums.push((d, loudness * w)),
                    }
                }
            }
            for sum in &mut sums {
                sum.1 /= total;
            }
            read.push((position, sums));
        }
        read
    };
    let read: Vec<_> = groups.par_iter().map(read_group).collect();
    task.check()?;
    let mut rows = TopRows::new(surface.n(), subject.max_influences);
    for (position, sums) in read.into_iter().flatten() {
        for (d, w) in &sums {
            rows.offer(position, deformers.list[usize::from(*d)].joint, *w);
        }
        if sums.is_empty() {
            missing.push(position);
        }
    }
    missing.sort_unstable();
    Ok((rows, missing))
}

/// Divides the weight of a bone among the bones of its group, by distance.
fn split_groups(
    surface: &WeldedSurface,
    deformers: &Deformers,
    solid: &Solid,
    distances: &Distances,
    handles: &Handles,
    subject: &Subject<'_>,
    rows: &mut TopRows,
) {
    let mut by_distance = TopRows::new(surface.n(), usize::MAX);
    share(
        surface,
        deformers,
        solid,
        distances,
        FALLBACK_FALLOFF,
        &mut by_distance,
        None,
    );
    let group_of_joint = |joint: u16| {
        let at = deformers.list.iter().position(|d| d.joint == joint);
        at.map_or(u16::MAX, |d| handles.group[d])
    };
    let groups: Vec<(u16, u16)> = deformers
        .list
        .iter()
        .map(|d| (d.joint, group_of_joint(d.joint)))
        .collect();
    let group = |joint: u16| {
        groups
            .iter()
            .find(|g| g.0 == joint)
            .map_or(u16::MAX, |g| g.1)
    };
    let mut next = TopRows::new(surface.n(), subject.max_influences);
    for position in 0..surface.n() as u32 {
        for &(joint, weight) in rows.row(position) {
            let own = group(joint);
            let members = by_distance
                .row(position)
                .iter()
                .filter(|m| group(m.0) == own);
            let total: f32 = members.clone().map(|m| m.1).sum();
            if total <= 0.0 {
                next.offer(position, joint, weight);
                continue;
            }
            for &(member, by_distance) in members {
                next.offer(position, member, weight * by_distance / total);
            }
        }
    }
    *rows = next;
}
