//! Geodesic voxel binding (Dionne and de Lasa 2013): weights from distances through the inside of the mesh.

use super::bones::Deformers;
use super::geodesic::{Distances, MAX_DISTANCE_RATIO};
use super::heat::{by_distance, islands_note};
use super::rows::TopRows;
use super::solid::Solid;
use super::welded_surface::WeldedSurface;
use crate::task::Task;
use crate::weights::outcome::OperationError;
use crate::weights::subject::Subject;

/// Maximum number of smoothing iterations over the surface.
const MAX_ITERATIONS: f32 = 12.0;

/// The weight of a bone that is `times` as far as the nearest one, whose weight is 1: equation 1 of the paper,
/// (1 / ((1 - a) x + a x^2))^2.
///
/// The paper's x is the distance in sizes of the whole model, so that a finger's falloff is not that of a thigh and
/// all weights reach far. Here x is the cube of `times`: of the powers tried (1, 2, 3) it comes closest to artists'
/// weights, with an elbow's transition about as wide as its limb; and the falloff fades to nothing at
/// [`MAX_DISTANCE_RATIO`], where the search ends.
pub(crate) fn falloff(times: f32, falloff: f32) -> f32 {
    let times = times.max(1.0);
    let x = times * times * times;
    let fade = 1.0
        - ((times - 1.0) / (MAX_DISTANCE_RATIO - 1.0))
            .min(1.0)
            .powi(2);
    let share = 1.0 / ((1.0 - falloff) * x + falloff * x * x);
    share * share * fade * fade
}

/// The weights of each position, and the fallback where no bone reaches.
pub(crate) fn weights(
    subject: &Subject<'_>,
    surface: &WeldedSurface,
    deformers: &Deformers,
    solid: &Solid,
    bend: f32,
    task: &Task,
) -> Result<(TopRows, Vec<String>), OperationError> {
    let distances = Distances::new(solid, deformers, task)?;
    let mut notes = Vec::new();
    if !distances.outside.is_empty() {
        notes.push(format!(
            "Bones outside the mesh: {}. Their distances were measured from the nearest surface.",
            deformers.labels(subject, &distances.outside)
        ));
    }
    task.step("Computing weights", 0.92)?;
    let mut rows = TopRows::new(surface.n(), subject.max_influences);
    let unreached = share(surface, deformers, solid, &distances, bend, &mut rows, None);
    notes.extend(unreached_note(surface, &unreached));
    // Kinks of the distances are at most one cell wide.
    let rounds = (solid.grid.cell / mean_edge(surface))
        .powi(2)
        .clamp(1.0, MAX_ITERATIONS);
    rows.smooth(surface, rounds as usize, 0.5, task)?;
    Ok((rows, notes))
}

/// Computes the weights of each position, or of those in `only`; returns the positions that no bone reaches, which use
/// the Euclidean distance.
pub(crate) fn share(
    surface: &WeldedSurface,
    deformers: &Deformers,
    solid: &Solid,
    distances: &Distances,
    bend: f32,
    rows: &mut TopRows,
    only: Option<&[u32]>,
) -> Vec<u32> {
    let mut unreached = Vec::new();
    let least = solid.grid.cell.max(f32::MIN_POSITIVE) * 0.25;
    let mut near: Vec<(u16, f32)> = Vec::new();
    let mut visit = |position: u32| {
        let p = surface.positions[position as usize];
        let labels = distances.of_patch(solid.patch_of_position[position as usize]);
        near.clear();
        near.extend(
            labels
                .iter()
                .map(|l| (l.deformer, l.distance(deformers, p).hypot(least))),
        );
        let nearest = near.iter().map(|n| n.1).fold(f32::MAX, f32::min);
        for &(deformer, distance) in &near {
            let joint = deformers.list[usize::from(deformer)].joint;
            rows.offer(position, joint, falloff(distance / nearest, bend));
        }
        if near.is_empty() {
            unreached.push(position);
            by_distance(
                deformers,
                p,
                |d| falloff(d, bend),
                |j, w| rows.offer(position, j, w),
            );
        }
    };
    match only {
        Some(only) => only.iter().for_each(|&p| visit(p)),
        None => (0..surface.n() as u32).for_each(visit),
    }
    unreached
}

/// The messages about islands that no bone reaches.
pub(crate) fn unreached_note(surface: &WeldedSurface, unreached: &[u32]) -> Option<String> {
    let mut counts = vec![0; surface.n_islands];
    for &position in unreached {
        counts[surface.islands[position as usize] as usize] += 1;
    }
    counts.retain(|&n| n > 0);
    (!counts.is_empty()).then(|| {
        islands_note(
            &counts,
            "is not connected to the inside that contains bones",
            "used the Euclidean distance to the nearest bones",
        )
    })
}

fn mean_edge(surface: &WeldedSurface) -> f32 {
    let (mut sum, mut n) = (0.0f64, 0);
    for &[a, b, c] in &surface.triangles {
        for (i, j) in [(a, b), (b, c), (c, a)] {
            let (p, q) = (surface.positions[i as usize], surface.positions[j as usize]);
            sum += f64::from(p.distance(q));
            n += 1;
        }
    }
    ((sum / f64::from(n.max(1))) as f32).max(f32::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weight_falls_with_distance_to_nothing_and_faster_with_more_falloff() {
        for bend in [0.0, 0.2, 1.0] {
            assert_eq!(falloff(1.0, bend), 1.0);
            assert_eq!(falloff(MAX_DISTANCE_RATIO, bend), 0.0);
            let steps = (10..30).map(|i| falloff(i as f32 * 0.1, bend));
            assert!(steps.collect::<Vec<_>>().windows(2).all(|w| w[1] < w[0]));
        }
        assert!(falloff(2.0, 1.0) < falloff(2.0, 0.0));
    }
}
