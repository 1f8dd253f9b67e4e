//! The displacements of a mesh in blocks: one for the whole mesh, or one for each region of the body. A point has
//! displacements in one block at most, so the weights of the blocks are solved apart.

use super::displacements::displacement;
use super::frame_weights::solve_frame_weights;
use crate::math::Worse;
use glam::{DMat3, DVec3};
use std::ops::Range;

/// A region of the body, or the whole mesh, with its displacements.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// Ascending indices among the active points of the mesh.
    pub(crate) places: Vec<u32>,
    /// The number of displacements of each point.
    pub(crate) k: usize,
    /// Displacements: places x k, bind space.
    pub(crate) b: Vec<DVec3>,
}

/// The displacements of a mesh. Those of the blocks follow each other in the weights of a frame.
#[derive(Clone, Debug, Default)]
pub(crate) struct MeshBasis {
    blocks: Vec<Block>,
    /// By block: the first of its displacements.
    firsts: Vec<usize>,
    /// By active point: its block, and its index there.
    at: Vec<Option<(u32, u32)>>,
    k: usize,
}

impl MeshBasis {
    /// The displacements of `n` active points; blocks share no point.
    pub(crate) fn new(n: usize, blocks: Vec<Block>) -> Self {
        let mut at = vec![None; n];
        let mut firsts = Vec::with_capacity(blocks.len());
        let mut k = 0;
        for (i, block) in blocks.iter().enumerate() {
            firsts.push(k);
            k += block.k;
            for (row, &place) in block.places.iter().enumerate() {
                debug_assert!(at[place as usize].is_none(), "blocks share no point");
                at[place as usize] = Some((i as u32, row as u32));
            }
        }
        Self {
            blocks,
            firsts,
            at,
            k,
        }
    }

    /// One block of all `n` active points, with n x k displacements.
    pub(crate) fn whole(n: usize, k: usize, b: Vec<DVec3>) -> Self {
        let places = (0..n as u32).collect();
        Self::new(n, vec![Block { places, k, b }])
    }

    /// The same with `m` more displacements, which move no point.
    pub(crate) fn with_more(&self, m: usize) -> Self {
        Self {
            k: self.k + m,
            ..self.clone()
        }
    }

    /// The number of displacements of the mesh.
    pub(crate) fn k(&self) -> usize {
        self.k
    }

    /// The displacements that an active point has, and which ones of the mesh these are.
    #[inline]
    pub(crate) fn of_place(&self, place: usize) -> (Range<usize>, &[DVec3]) {
        match self.at.get(place).copied().flatten() {
            Some((block, row)) => {
                let (first, block) = (self.firsts[block as usize], &self.blocks[block as usize]);
                let row = row as usize * block.k;
                (first..first + block.k, &block.b[row..row + block.k])
            }
            None => (0..0, &[]),
        }
    }

    /// The displacement of an active point at given weights, bind space.
    pub(crate) fn displacement(&self, place: usize, w: &[f64]) -> DVec3 {
        let (columns, b) = self.of_place(place);
        displacement(b, &w[columns])
    }

    /// The weights of one frame with the smallest maximum error, and that error. `left`: by active point, the linear part
    /// of its matrix and its residual.
    pub(crate) fn solve_weights(&self, left: &[(DMat3, DVec3)]) -> (Vec<f64>, f64) {
        let mut w = Vec::with_capacity(self.k);
        let mut largest = 0.0f64;
        for block in &self.blocks {
            let own: Vec<(DMat3, DVec3)> = block.places.iter().map(|&p| left[p as usize]).collect();
            let (of_block, error) = solve_frame_weights(block.k, &block.b, &own);
            w.extend(of_block);
            largest = largest.worse(error);
        }
        let others = left.iter().zip(&self.at).filter(|(_, at)| at.is_none());
        let others = others.map(|((_, r), _)| r.length());
        (w, others.fold(largest, f64::worse))
    }

    /// The displacements by target: the active points that it moves, ascending.
    pub(crate) fn columns(&self) -> Vec<Vec<(u32, DVec3)>> {
        let mut columns = vec![Vec::new(); self.k];
        for (block, &first) in self.blocks.iter().zip(&self.firsts) {
            for (&place, b) in block
                .places
                .iter()
                .zip(block.b.chunks_exact(block.k.max(1)))
            {
                for (column, &b) in columns[first..].iter_mut().zip(b) {
                    if b != DVec3::ZERO {
                        column.push((place, b));
                    }
                }
            }
        }
        columns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two regions of one displacement each, and a point without any.
    fn two() -> MeshBasis {
        let block = |places: &[u32], b: &[DVec3]| Block {
            places: places.to_vec(),
            k: 1,
            b: b.to_vec(),
        };
        let low = block(&[0, 3], &[DVec3::X, DVec3::Y]);
        MeshBasis::new(4, vec![low, block(&[2], &[DVec3::Z * 2.0])])
    }

    #[test]
    fn each_region_has_weights_of_its_own() {
        let basis = two();
        assert_eq!(basis.k(), 2);
        let residuals = [DVec3::X * 3.0, DVec3::X * 0.1, DVec3::Z, DVec3::Y * 3.0];
        let left = residuals.map(|r| (DMat3::IDENTITY, r));
        let (w, error) = basis.solve_weights(&left);
        assert!(
            (w[0] - 3.0).abs() < 1e-6 && (w[1] - 0.5).abs() < 1e-6,
            "{w:?}"
        );
        // What is left is the point without a displacement.
        assert!((error - 0.1).abs() < 1e-6, "{error}");
        assert_eq!(basis.displacement(1, &w), DVec3::ZERO);
        assert!((basis.displacement(3, &w) - DVec3::Y * 3.0).length() < 1e-6);
        assert_eq!(basis.of_place(2), (1..2, &[DVec3::Z * 2.0][..]));
    }

    #[test]
    fn targets_list_the_points_that_they_move() {
        let columns = two().columns();
        assert_eq!(columns[0], vec![(0, DVec3::X), (3, DVec3::Y)]);
        assert_eq!(columns[1], vec![(2, DVec3::Z * 2.0)]);
        let whole = MeshBasis::whole(2, 1, vec![DVec3::ZERO, DVec3::X]);
        assert_eq!(whole.columns(), vec![vec![(1, DVec3::X)]]);
    }
}
