//! The surface of a field as a closed triangle mesh, by marching tetrahedra.
//!
//! Tetrahedra (six in a cube, all along the same diagonal) have no ambiguous case, so that the mesh is always a
//! manifold:
//! two fingers that pass through one cube stay separate.

use super::field::Field;
use super::remesh::Surface;
use glam::DVec3;
use rayon::prelude::*;

/// Cells along a block's edge.
pub(super) const CELLS: usize = 8;

/// The two orders of axes of each tetrahedron of a cube, and whether it is positively oriented.
const TETRAHEDRA: [([usize; 3], bool); 6] = [
    ([0, 1, 2], true),
    ([1, 2, 0], true),
    ([2, 0, 1], true),
    ([0, 2, 1], false),
    ([1, 0, 2], false),
    ([2, 1, 0], false),
];

/// The surface of `field` on a grid of `block / CELLS`, with its points near the surface, not on it.
///
/// A half field gives the half at x >= 0, open along x = 0.
pub(super) fn polygonize(field: &Field, cell: f64) -> Surface {
    let n = field.n_blocks();
    let corners = [n[0] * CELLS + 1, n[1] * CELLS + 1];
    let pieces: Vec<Vec<(u64, DVec3)>> = (0..n[0] * n[1] * n[2])
        .into_par_iter()
        .filter_map(|i| {
            let candidates = field.block(i)?;
            let first = field.block_index(i).map(|b| b * CELLS);
            Some(march_block(field, candidates, first, corners, cell))
        })
        .collect();

    let mut keys: Vec<(u64, DVec3)> = pieces.iter().flatten().copied().collect();
    keys.par_sort_by_key(|&(key, _)| key);
    keys.dedup_by_key(|&mut (key, _)| key);
    let index = |key: u64| keys.partition_point(|&(k, _)| k < key) as u32;
    let triangles: Vec<[u32; 3]> = pieces
        .par_iter()
        .flat_map_iter(|piece| {
            piece
                .chunks_exact(3)
                .map(|t| [index(t[0].0), index(t[1].0), index(t[2].0)])
        })
        .collect();
    Surface {
        positions: keys.into_iter().map(|(_, p)| p).collect(),
        triangles,
    }
}

/// Corners of triangles in one block: the key of the grid edge each lies on, and its position.
fn march_block(
    field: &Field,
    candidates: &[u16],
    first: [usize; 3],
    corners: [usize; 2],
    cell: f64,
) -> Vec<(u64, DVec3)> {
    const SIDE: usize = CELLS + 1;
    let position = |c: [usize; 3]| {
        let [x, y, z] = [first[0] + c[0], first[1] + c[1], first[2] + c[2]];
        field.low() + DVec3::new(x as f64, y as f64, z as f64) * cell
    };
    let mut values = [0.0; SIDE * SIDE * SIDE];
    for (i, value) in values.iter_mut().enumerate() {
        let c = [i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE];
        *value = field.hit_of(candidates, position(c)).distance;
    }
    let value = |c: [usize; 3]| values[c[0] + SIDE * (c[1] + SIDE * c[2])];
    let crossing = |a: [usize; 3], b: [usize; 3]| {
        let (low, high) = if a.iter().zip(b).all(|(&x, y)| x <= y) {
            (a, b)
        } else {
            (b, a)
        };
        let offset = (high[0] - low[0]) | (high[1] - low[1]) << 1 | (high[2] - low[2]) << 2;
        let [x, y, z] = [first[0] + low[0], first[1] + low[1], first[2] + low[2]];
        let key = ((x + corners[0] * (y + corners[1] * z)) * 8 + offset) as u64;
        let (d0, d1) = (value(low), value(high));
        let t = (d0 / (d0 - d1)).clamp(0.05, 0.95);
        let (p0, p1) = (position(low), position(high));
        (key, p0 + (p1 - p0) * t)
    };
    let mut out = Vec::new();
    for i in 0..CELLS * CELLS * CELLS {
        let base = [i % CELLS, i / CELLS % CELLS, i / CELLS / CELLS];
        for (axes, positive) in TETRAHEDRA {
            let mut v = [base; 4];
            for k in 0..3 {
                v[k + 1] = v[k];
                v[k + 1][axes[k]] += 1;
            }
            let mask = (0..4).fold(0, |m, k| m | usize::from(value(v[k]) < 0.0) << k);
            let mut emit = |corners: [[usize; 2]; 3], keep: bool| {
                let [a, b, c] = corners.map(|[i, j]| crossing(v[i], v[j]));
                out.extend(if keep { [a, b, c] } else { [a, c, b] });
            };
            // Even permutations of the corners, the inside ones (or the only outside one) first.
            let single = |i: usize| [[0, 1, 2, 3], [1, 0, 3, 2], [2, 0, 1, 3], [3, 0, 2, 1]][i];
            let (order, pair, inside_first) = match mask {
                0 | 15 => continue,
                1 | 2 | 4 | 8 => (single(mask.trailing_zeros() as usize), false, true),
                14 | 13 | 11 | 7 => (single((!mask & 15).trailing_zeros() as usize), false, false),
                3 => ([0, 1, 2, 3], true, true),
                5 => ([0, 2, 3, 1], true, true),
                9 => ([0, 3, 1, 2], true, true),
                6 => ([1, 2, 0, 3], true, true),
                10 => ([1, 3, 2, 0], true, true),
                _ => ([2, 3, 0, 1], true, true),
            };
            let [i, j, k, l] = order;
            let keep = positive == inside_first;
            if pair {
                emit([[i, k], [i, l], [j, l]], keep);
                emit([[i, k], [j, l], [j, k]], keep);
            } else {
                emit([[i, j], [i, k], [i, l]], keep);
            }
        }
    }
    out
}
