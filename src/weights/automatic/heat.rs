//! Bone heat (Baran and Popovic 2007, section 4): weights are the heat that flows over the surface from the points from
//! which their nearest bone is visible, (-Laplace + H) w = H p.

use super::bones::{Deformers, Segment};
use super::rows::TopRows;
use super::solved;
use super::welded_surface::WeldedSurface;
use crate::math::{Factor, Ray, SurfaceLaplacian, Symmetric};
use crate::mesh::SurfaceIndex;
use crate::task::{Cancelled, Task};
use crate::weights::outcome::OperationError;
use crate::weights::subject::Subject;
use glam::Vec3;
use rayon::prelude::*;

/// Heat of a bone at distance d: H = c / d^2. The paper takes c = 1; artists' weights change over less of a limb, and
/// of 0.3, 1 and 3 the last came closest to them on every model tried.
const CONDUCTION: f64 = 3.0;

/// Bones whose distances differ by less than this fraction are equally near.
const EQUAL: f32 = 1e-3;

/// Maximum number of equally near bones of a position.
const MAX_EQUAL: usize = 4;

/// Minimum distance of a bone, as a fraction of the bounding-box diagonal: bounds its heat.
const NEAREST: f32 = 1e-4;

/// Number of nearest bones tested for visibility.
const N_TESTED_BONES: usize = 6;

/// Right-hand sides solved together by one thread.
const COLUMNS: usize = 4;

/// Positions per task.
const POSITIONS_PER_TASK: usize = 512;

/// The heat source of a position.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Source {
    /// The nearest visible bones, equally near; the first `n` are valid.
    deformers: [u16; MAX_EQUAL],
    n: u8,
    /// The distance to them.
    distance: f32,
}

/// The weights of each position, and the fallback where no bone is visible.
pub(crate) fn weights(
    subject: &Subject<'_>,
    surface: &WeldedSurface,
    deformers: &Deformers,
    index: &SurfaceIndex,
    task: &Task,
) -> Result<(TopRows, Vec<String>), OperationError> {
    task.step("Finding the nearest bones", 0.05)?;
    let mut sources = seen(surface, deformers, index, task)?;
    let notes = fall_back(surface, deformers, &mut sources, task)?;
    task.step("Measuring the surface", 0.3)?;
    let laplacian = SurfaceLaplacian::new(&surface.positions, &surface.triangles);
    let islands = Islands::new(surface, &laplacian);
    let mut rows = TopRows::new(surface.n(), subject.max_influences);
    let mut done = 0;
    for island in 0..surface.n_islands {
        let members = islands.members(island);
        task.step(
            "Solving for heat",
            0.35 + 0.6 * done as f32 / surface.n().max(1) as f32,
        )?;
        solve(
            &islands, island, &laplacian, &sources, deformers, &mut rows, task,
        )?;
        done += members.len();
    }
    Ok((rows, notes))
}

/// The nearest visible bones of each position.
///
/// Only the position's own island can occlude a bone: a shirt is heated by the bones of the body inside it. On islands
/// whose normals point outwards the ray to the bone must start inwards.
fn seen(
    surface: &WeldedSurface,
    deformers: &Deformers,
    index: &SurfaceIndex,
    task: &Task,
) -> Result<Vec<Source>, Cancelled> {
    let mut sources = vec![Source::default(); surface.n()];
    let nearest = surface.diagonal() * NEAREST;
    sources
        .par_chunks_mut(POSITIONS_PER_TASK)
        .enumerate()
        .for_each(|(run, chunk)| {
            if task.is_cancelled() {
                return;
            }
            let mut near: Vec<(f32, u16, Vec3)> = Vec::new();
            for (i, source) in chunk.iter_mut().enumerate() {
                let position = run * POSITIONS_PER_TASK + i;
                let p = surface.positions[position];
                near.clear();
                near.extend(deformers.list.iter().enumerate().map(|(k, d)| {
                    let q = d.nearest(p);
                    (q.distance(p), k as u16, q)
                }));
                let by_distance = |a: &(f32, u16, Vec3), b: &(f32, u16, Vec3)| {
                    a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
                };
                if near.len() > N_TESTED_BONES {
                    near.select_nth_unstable_by(N_TESTED_BONES, by_distance);
                    near.truncate(N_TESTED_BONES);
                }
                near.sort_unstable_by(by_distance);
                for &(distance, deformer, q) in &near {
                    let n = usize::from(source.n);
                    if n == MAX_EQUAL || (n > 0 && distance > source.distance * (1.0 + EQUAL)) {
                        break;
                    }
                    if sees(surface, index, position, p, q) {
                        if n == 0 {
                            source.distance = distance.max(nearest);
                        }
                        source.deformers[usize::from(source.n)] = deformer;
                        source.n += 1;
                    }
                }
            }
        });
    task.check()?;
    Ok(sources)
}

/// Whether the segment from `q`, on a bone or inside, to `position` does not cross the position's own island, and
/// arrives from the inner side if the island has one.
pub(crate) fn sees(
    surface: &WeldedSurface,
    index: &SurfaceIndex,
    position: usize,
    p: Vec3,
    q: Vec3,
) -> bool {
    let island = surface.islands[position];
    let way = p - q;
    let length = way.length();
    let Some(direction) = way.try_normalize() else {
        return true;
    };
    let outward = surface.outward[island as usize];
    let against = direction.dot(surface.normals[position]);
    if outward && against < -0.2 {
        return false;
    }
    let ray = Ray {
        origin: q,
        direction,
    };
    let own = |t: u32| surface.islands[surface.triangles[t as usize][0] as usize] == island;
    match index.cast_ray(&ray, &surface.triangles, &surface.positions, own) {
        Some(hit) if hit.distance < length * 0.999 - 1e-6 => false,
        // At a corner the normals of its faces are more reliable than their mean.
        Some(hit) if hit.distance < length * 1.001 => !(outward && hit.front),
        _ => !outward || against >= 0.0,
    }
}

/// Islands from which no bone is visible are heated by their nearest bones.
fn fall_back(
    surface: &WeldedSurface,
    deformers: &Deformers,
    sources: &mut [Source],
    task: &Task,
) -> Result<Vec<String>, Cancelled> {
    let mut sees = vec![false; surface.n_islands];
    for (position, source) in sources.iter().enumerate() {
        sees[surface.islands[position] as usize] |= source.n > 0;
    }
    let sizes = surface.island_sizes();
    let blind: Vec<usize> = (0..surface.n_islands)
        .filter(|&i| !sees[i] && sizes[i] > 0)
        .collect();
    if blind.is_empty() {
        return Ok(Vec::new());
    }
    task.check()?;
    let islands = &surface.islands;
    let least = surface.diagonal() * NEAREST;
    sources
        .par_iter_mut()
        .enumerate()
        .for_each(|(position, source)| {
            if sees[islands[position] as usize] {
                return;
            }
            let p = surface.positions[position];
            let nearest = deformers.list.iter().map(|d| d.distance(p)).enumerate();
            if let Some((k, distance)) =
                nearest.min_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)))
            {
                *source = Source {
                    deformers: [k as u16; MAX_EQUAL],
                    n: 1,
                    distance: distance.max(least),
                };
            }
        });
    Ok(vec![islands_note(
        &blind.iter().map(|&i| sizes[i]).collect::<Vec<_>>(),
        "from which no bone is visible",
        "used the nearest bone",
    )])
}

/// "Island of 132 vertices from which no bone is visible: used the nearest bone."
pub(crate) fn islands_note(sizes: &[usize], fault: &str, instead: &str) -> String {
    match sizes {
        [one] => format!("Island of {one} vertices {fault}: {instead}."),
        many => {
            let total: usize = many.iter().sum();
            format!(
                "{} islands ({total} vertices) {fault}: {instead}.",
                many.len()
            )
        }
    }
}

/// The positions of each island, and the edges between them.
struct Islands {
    starts: Vec<usize>,
    members: Vec<u32>,
    /// n_positions: its number within its island.
    local: Vec<u32>,
    edge_starts: Vec<usize>,
    edges: Vec<u32>,
}

impl Islands {
    fn new(surface: &WeldedSurface, laplacian: &SurfaceLaplacian) -> Self {
        let island_of = |position: u32| surface.islands[position as usize] as usize;
        let (starts, members) = sorted(surface.n_islands, surface.n() as u32, island_of);
        let mut local = vec![0; surface.n()];
        for island in 0..surface.n_islands {
            for (i, &position) in members[starts[island]..starts[island + 1]]
                .iter()
                .enumerate()
            {
                local[position as usize] = i as u32;
            }
        }
        let of_edge = |e: u32| island_of(laplacian.edges[e as usize].0);
        let (edge_starts, edges) = sorted(surface.n_islands, laplacian.edges.len() as u32, of_edge);
        Self {
            starts,
            members,
            local,
            edge_starts,
            edges,
        }
    }

    fn members(&self, island: usize) -> &[u32] {
        &self.members[self.starts[island]..self.starts[island + 1]]
    }

    fn edges(&self, island: usize) -> &[u32] {
        &self.edges[self.edge_starts[island]..self.edge_starts[island + 1]]
    }
}

/// The numbers below `n` by bucket, ascending within each.
fn sorted(n_buckets: usize, n: u32, bucket: impl Fn(u32) -> usize) -> (Vec<usize>, Vec<u32>) {
    let mut starts = vec![0; n_buckets + 1];
    for i in 0..n {
        starts[bucket(i) + 1] += 1;
    }
    for b in 0..n_buckets {
        starts[b + 1] += starts[b];
    }
    let mut next = starts.clone();
    let mut items = vec![0; n as usize];
    for i in 0..n {
        let slot = &mut next[bucket(i)];
        items[*slot] = i;
        *slot += 1;
    }
    (starts, items)
}

/// The system of one island, `(C + A H) w = A H p` with cotangent weights C and areas A, for each bone that heats it.
fn solve(
    islands: &Islands,
    island: usize,
    laplacian: &SurfaceLaplacian,
    sources: &[Source],
    deformers: &Deformers,
    rows: &mut TopRows,
    task: &Task,
) -> Result<(), OperationError> {
    let members = islands.members(island);
    let heat: Vec<f64> = members
        .iter()
        .map(|&position| {
            let source = &sources[position as usize];
            let d = f64::from(source.distance).max(1e-20);
            f64::from(source.n) * CONDUCTION / (d * d) * laplacian.areas[position as usize]
        })
        .collect();
    let mut warm: Vec<u16> = members
        .iter()
        .flat_map(|&position| {
            let source = sources[position as usize];
            source.deformers.into_iter().take(usize::from(source.n))
        })
        .collect();
    warm.sort_unstable();
    warm.dedup();
    if let [only] = warm[..] {
        for &position in members {
            rows.offer(position, deformers.list[usize::from(only)].joint, 1.0);
        }
        return Ok(());
    }
    if warm.is_empty() {
        return Ok(());
    }
    let edges: Vec<(u32, u32, f64)> = islands
        .edges(island)
        .iter()
        .map(|&e| {
            let (a, b, weight) = laplacian.edges[e as usize];
            (islands.local[a as usize], islands.local[b as usize], weight)
        })
        .collect();
    let n = members.len();
    let factor = Factor::new(Symmetric::laplacian(&heat, &edges), task).map_err(solved)?;
    // Two threads' worth at a time bounds the memory of unsorted results.
    for some in warm.chunks(2 * COLUMNS) {
        task.check()?;
        let solve_columns = |bones: &[u16]| {
            let mut columns = vec![0.0; n * bones.len()];
            for (column, &bone) in columns.chunks_mut(n).zip(bones) {
                for (i, &position) in members.iter().enumerate() {
                    let source = &sources[position as usize];
                    let bones = &source.deformers[..usize::from(source.n)];
                    if bones.contains(&bone) {
                        column[i] = heat[i] / f64::from(source.n);
                    }
                }
            }
            factor.solve(&mut columns);
            columns
        };
        let solutions: Vec<Vec<f64>> = some.par_chunks(COLUMNS).map(solve_columns).collect();
        for (bones, columns) in some.chunks(COLUMNS).zip(&solutions) {
            for (&bone, column) in bones.iter().zip(columns.chunks(n)) {
                let joint = deformers.list[usize::from(bone)].joint;
                for (&position, &w) in members.iter().zip(column) {
                    if w > 1e-5 {
                        rows.offer(position, joint, w as f32);
                    }
                }
            }
        }
    }
    Ok(())
}

/// The nearest deformers of a position by Euclidean distance, with falloff: the fallback for unreachable points.
pub(crate) fn by_distance(
    deformers: &Deformers,
    p: Vec3,
    falloff: impl Fn(f32) -> f32,
    mut offer: impl FnMut(u16, f32),
) {
    let distance = |segments: &[Segment]| {
        segments
            .iter()
            .map(|s| s.distance(p))
            .fold(f32::MAX, f32::min)
    };
    let distances: Vec<f32> = deformers
        .list
        .iter()
        .map(|d| distance(&d.segments))
        .collect();
    let nearest = distances.iter().copied().fold(f32::MAX, f32::min);
    for (deformer, &d) in deformers.list.iter().zip(&distances) {
        offer(deformer.joint, falloff(d / nearest.max(f32::MIN_POSITIVE)));
    }
}
