//! Weight inpainting: fills in rows over a surface from known rows.
//!
//! Abdrashitov et al. 2023, "Robust skin weights transfer via weight inpainting", equation 2: the unknown weights
//! minimise tr(W' Q W) with Q = -L + L M^-1 L, which is smooth and keeps slopes at the rim.

use crate::math::{Factor, FactorError, SurfaceLaplacian, Symmetric};
use crate::task::Task;
use crate::weights::automatic::{TopRows, WeldedSurface};
use rayon::prelude::*;

/// Maximum number of unknowns with the second part of Q, whose factor needs much memory.
const MAX_BENT: usize = 200_000;

/// Right-hand sides solved together by one thread.
const COLUMNS: usize = 4;

/// Fills in the rows of positions that are not `known`, on islands with a known one; returns whether slopes were kept.
///
/// `wanted`: n_positions: the positions to fill in. `rows` hold the known ones.
pub(super) fn in_paint(
    surface: &WeldedSurface,
    known: &[bool],
    wanted: &[bool],
    rows: &mut TopRows,
    task: &Task,
) -> Result<bool, FactorError> {
    let mut index = vec![u32::MAX; surface.n()];
    let mut unknown = Vec::new();
    for position in 0..surface.n() {
        if wanted[position] && !known[position] {
            index[position] = unknown.len() as u32;
            unknown.push(position as u32);
        }
    }
    let n = unknown.len();
    if n == 0 {
        return Ok(true);
    }
    task.step("Measuring the surface", 0.5)?;
    let laplacian = SurfaceLaplacian::new(&surface.positions, &surface.triangles);
    let keeps_slopes = n <= MAX_BENT;
    let zeros = vec![0.0; surface.n()];
    let stiffness = Symmetric::laplacian(&zeros, &laplacian.edges);
    // Scaled by area, so that the ratio of both parts of Q does not depend on scale and density.
    let mean = laplacian.areas.iter().sum::<f64>() / surface.n().max(1) as f64;
    let (mut matrix, mut to_known) = stiffness.split(&index, n);
    if keeps_slopes {
        let inverse: Vec<f64> = laplacian.areas.iter().map(|a| mean / a).collect();
        let (bent, bent_to_known) = stiffness.squared(&inverse).split(&index, n);
        matrix = matrix.plus(&bent);
        to_known.extend(bent_to_known);
    }
    task.step("Filling in unmatched vertices", 0.6)?;
    let factor = Factor::new(matrix, task)?;
    let mut joints: Vec<u16> = to_known
        .iter()
        .flat_map(|&(_, position, _)| rows.row(position).iter().map(|e| e.0))
        .collect();
    joints.sort_unstable();
    joints.dedup();
    let shares: Vec<f32> = (0..surface.n() as u32)
        .map(|p| {
            rows.row(p)
                .iter()
                .map(|e| e.1)
                .sum::<f32>()
                .max(f32::MIN_POSITIVE)
        })
        .collect();
    let mut filled = Vec::new();
    for (done, some) in joints.chunks(2 * COLUMNS).enumerate() {
        let fraction = (done * 2 * COLUMNS) as f32 / joints.len() as f32;
        task.step("Filling in unmatched vertices", 0.65 + 0.3 * fraction)?;
        let solve = |joints: &[u16]| {
            let mut columns = vec![0.0; n * joints.len()];
            for (column, &joint) in columns.chunks_mut(n).zip(joints) {
                for &(row, position, value) in &to_known {
                    let entry = rows.row(position).iter().find(|e| e.0 == joint);
                    let weight = entry.map_or(0.0, |e| e.1 / shares[position as usize]);
                    column[row as usize] -= value * f64::from(weight);
                }
            }
            factor.solve(&mut columns);
            columns
        };
        let solutions: Vec<Vec<f64>> = some.par_chunks(COLUMNS).map(solve).collect();
        for (joints, columns) in some.chunks(COLUMNS).zip(solutions) {
            for (&joint, column) in joints.iter().zip(columns.chunks(n)) {
                let weights = unknown.iter().zip(column);
                let weights = weights.filter(|w| *w.1 > 1e-4);
                filled.extend(weights.map(|(&position, &w)| (position, joint, w.min(1.0) as f32)));
            }
        }
    }
    for (position, joint, weight) in filled {
        rows.offer(position, joint, weight);
    }
    Ok(keeps_slopes)
}
