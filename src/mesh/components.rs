//! The connected components of a surface.

use crate::math::DisjointSets;

/// The island of each point: points joined by edges, or by lying at one bind position (a seam whose sides carry
/// different weights), have one number. Islands are numbered by their lowest point, from 0.
pub(super) fn components(
    triangles: &[[u32; 3]],
    coincident: impl Iterator<Item = (u32, u32)>,
    n_points: usize,
) -> Vec<u32> {
    let mut islands = DisjointSets::new(n_points);
    for &[a, b, c] in triangles {
        islands.join(a, b);
        islands.join(a, c);
    }
    for (point, twin) in coincident {
        islands.join(point, twin);
    }
    islands.numbers().1
}
