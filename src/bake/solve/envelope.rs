//! Symmetric systems of dense blocks with a bordered envelope (skyline) profile: each row is stored from its first
//! nonzero block to the diagonal (George and Liu 1981, section 4). Unknowns that couple to every block form the border
//! behind the blocks.
//!
//! The factorisation is faer's sparse Cholesky, on one thread: the same bits for any number of threads. Its symbolic part
//! is computed once for all systems of a profile.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::LltRegularization;
use faer::mat::MatMut;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymmetricOrdering,
    factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, Par, Side, Spec};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The profile: which blocks can be nonzero.
pub(crate) struct Envelope {
    block: usize,
    /// The position of each block in the system.
    rank: Vec<usize>,
    /// The block at each position.
    order: Vec<usize>,
    /// By position: the position of the first block of the row.
    first: Vec<usize>,
    /// By position: the number of pairs of blocks in the rows before, and of all at the end.
    pairs: Vec<usize>,
    /// By number of border unknowns.
    patterns: Mutex<BTreeMap<usize, Arc<Pattern>>>,
}

/// The rows of the lower triangle, which are the columns of the upper one.
struct Pattern {
    /// Where each row starts in the values, and the end of the last.
    starts: Vec<u32>,
    /// The column of each value.
    columns: Vec<u32>,
    /// `None` where faer has no memory for it.
    cholesky: Option<SymbolicCholesky<u32>>,
}

/// Normal equations: the lower triangle row by row, each from its first block on.
pub(crate) struct EnvelopeSystem<'a> {
    envelope: &'a Envelope,
    pattern: Arc<Pattern>,
    lower: Vec<f64>,
    /// The values of the Cholesky factor, from the first solution on.
    factor: Option<Vec<f64>>,
    right: Vec<f64>,
}

impl Envelope {
    /// A profile of blocks of `block` unknowns; those of equal `keys` are adjacent, and those that share an equation (each
    /// names its blocks) are coupled.
    pub(crate) fn new<E: Iterator<Item = usize> + Clone>(
        keys: &[u16],
        block: usize,
        equations: impl Iterator<Item = E>,
    ) -> Self {
        let mut order: Vec<usize> = (0..keys.len()).collect();
        order.sort_by_key(|&i| (keys[i], i));
        let mut rank = vec![0; keys.len()];
        for (position, &i) in order.iter().enumerate() {
            rank[i] = position;
        }
        let mut first: Vec<usize> = (0..keys.len()).collect();
        for blocks in equations {
            let ranks = blocks.map(|b| rank[b]);
            let Some(least) = ranks.clone().min() else {
                continue;
            };
            for rank in ranks {
                first[rank] = first[rank].min(least);
            }
        }
        let mut pairs = vec![0];
        let mut sum = 0;
        for (rank, first) in first.iter().enumerate() {
            sum += rank + 1 - first;
            pairs.push(sum);
        }
        Self {
            block,
            rank,
            order,
            first,
            pairs,
            patterns: Mutex::default(),
        }
    }

    /// The number of blocks.
    pub(crate) fn n_blocks(&self) -> usize {
        self.rank.len()
    }

    /// The number of pairs of blocks that are stored, each block with itself included.
    pub(crate) fn n_pairs(&self) -> usize {
        self.pairs[self.rank.len()]
    }

    /// The number of the pair of two coupled blocks, in any order, and the block of its row.
    #[inline]
    pub(crate) fn pair(&self, a: usize, b: usize) -> (usize, usize) {
        let (a, b) = (self.rank[a], self.rank[b]);
        let (row, column) = (a.max(b), a.min(b));
        (self.pairs[row] + column - self.first[row], self.order[row])
    }

    /// The stored pairs: the block of the row, that of the column, and the number of the pair.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (usize, usize, usize)> {
        let rows = self.first.iter().enumerate();
        let pairs = rows.flat_map(move |(row, &first)| {
            (first..=row).map(move |column| (self.order[row], self.order[column]))
        });
        pairs.enumerate().map(|(i, (row, column))| (row, column, i))
    }

    /// A zero system with `border` unknowns behind the blocks.
    pub(crate) fn system(&self, border: usize) -> EnvelopeSystem<'_> {
        let pattern = self.pattern(border);
        EnvelopeSystem {
            envelope: self,
            lower: vec![0.0; pattern.columns.len()],
            factor: None,
            right: vec![0.0; pattern.starts.len() - 1],
            pattern,
        }
    }

    fn pattern(&self, border: usize) -> Arc<Pattern> {
        let mut patterns = self.patterns.lock().unwrap_or_else(PoisonError::into_inner);
        let pattern = patterns.entry(border).or_insert_with(|| {
            let size = self.rank.len() * self.block + border;
            Arc::new(Pattern::new((0..size).map(|row| self.first_column(row))))
        });
        pattern.clone()
    }

    fn first_column(&self, row: usize) -> usize {
        // Rows of the border are full.
        self.first
            .get(row / self.block)
            .map_or(0, |first| first * self.block)
    }
}

impl Pattern {
    /// The pattern whose rows begin at these columns.
    fn new(first_columns: impl Iterator<Item = usize>) -> Self {
        let (mut starts, mut columns) = (vec![0], Vec::new());
        for (row, first) in first_columns.enumerate() {
            columns.extend(first as u32..=row as u32);
            starts.push(columns.len() as u32);
        }
        let n = starts.len() - 1;
        let upper = SymbolicSparseColMatRef::new_checked(n, n, &starts, None, &columns);
        let cholesky = factorize_symbolic_cholesky(
            upper,
            Side::Upper,
            SymmetricOrdering::Amd,
            CholeskySymbolicParams::default(),
        );
        Self {
            cholesky: cholesky.ok(),
            starts,
            columns,
        }
    }

    /// The Cholesky factor of a matrix; `None` where it is not positive definite.
    fn factorised(&self, lower: &[f64]) -> Option<Vec<f64>> {
        let cholesky = self.cholesky.as_ref()?;
        let n = self.starts.len() - 1;
        let upper = SymbolicSparseColMatRef::new_checked(n, n, &self.starts, None, &self.columns);
        let mut memory = MemBuffer::new(
            cholesky.factorize_numeric_llt_scratch::<f64>(Par::Seq, Spec::default()),
        );
        let mut factor = vec![0.0; cholesky.len_val()];
        let factorised = cholesky.factorize_numeric_llt(
            &mut factor,
            SparseColMatRef::new(upper, lower),
            Side::Upper,
            LltRegularization::default(),
            Par::Seq,
            MemStack::new(&mut memory),
            Spec::default(),
        );
        factorised.is_ok().then_some(factor)
    }

    /// Replaces the right-hand side by the solution; `false` where it is not finite.
    fn solve(&self, factor: &[f64], right: &mut [f64]) -> bool {
        let Some(cholesky) = &self.cholesky else {
            return false;
        };
        let n = right.len();
        let mut memory = MemBuffer::new(cholesky.solve_in_place_scratch::<f64>(1, Par::Seq));
        LltRef::<'_, u32, f64>::new(cholesky, factor).solve_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(right, n, 1),
            Par::Seq,
            MemStack::new(&mut memory),
        );
        right.iter().all(|x| x.is_finite())
    }
}

impl EnvelopeSystem<'_> {
    /// Adds the products of the unknowns of block `row` with those of block `column`, to which it is coupled. `column` must
    /// not come after `row` in the system. Of a diagonal block only the lower half is read.
    pub(crate) fn add_block<const N: usize>(
        &mut self,
        row: usize,
        column: usize,
        block: &[[f64; N]; N],
    ) {
        let (row, column) = (self.envelope.rank[row], self.envelope.rank[column]);
        let before = (column - self.envelope.first[row]) * N;
        for (i, of_row) in block.iter().enumerate() {
            let from = self.start(row * N + i) + before;
            let n = if row == column { i + 1 } else { N };
            add(&mut self.lower[from..from + n], &of_row[..n]);
        }
    }

    /// Adds to the right-hand side of a block.
    pub(crate) fn add_right<const N: usize>(&mut self, block: usize, right: &[f64; N]) {
        let at = self.envelope.rank[block] * N;
        add(&mut self.right[at..at + N], right);
    }

    /// Adds the products of unknown `i` of the border with the unknowns before it and, as the last of `products`, with
    /// itself.
    pub(crate) fn add_border_row(&mut self, i: usize, products: &[f64]) {
        let row = self.border() + i;
        let end = self.start(row) + row + 1;
        add(&mut self.lower[end - products.len()..end], products);
    }

    /// Adds the products of unknown `i` of the border with those of a block.
    pub(crate) fn add_border_block<const N: usize>(
        &mut self,
        i: usize,
        block: usize,
        products: &[f64; N],
    ) {
        let at = self.start(self.border() + i) + self.envelope.rank[block] * N;
        add(&mut self.lower[at..at + N], products);
    }

    /// Adds to the right-hand side of unknown `i` of the border.
    pub(crate) fn add_border_right(&mut self, i: usize, right: f64) {
        let row = self.border() + i;
        self.right[row] += right;
    }

    /// Adds a ridge of `share` times the mean diagonal to the border: undetermined weights become 0.
    pub(crate) fn hold_border(&mut self, share: f64) {
        let rows = self.border()..self.right.len();
        let diagonal = |row: usize| self.start(row) + row;
        let mean = rows
            .clone()
            .map(|row| self.lower[diagonal(row)])
            .sum::<f64>()
            / rows.len().max(1) as f64;
        for row in rows {
            let at = self.start(row) + row;
            self.lower[at] += share * mean + 1e-30;
        }
    }

    /// Adds a ridge to unknown `i` of a block that draws it to `-so_far`.
    pub(crate) fn hold(&mut self, block: usize, i: usize, ridge: f64, so_far: f64) {
        let row = self.envelope.rank[block] * self.envelope.block + i;
        let diagonal = self.start(row) + row - self.envelope.first_column(row);
        self.lower[diagonal] += ridge;
        self.right[row] -= ridge * so_far;
    }

    /// The solution by block, then of the border; `None` if the matrix is not positive definite or the solution not finite.
    /// The first call factorises the matrix; later ones reuse the factor. Resets the right-hand side to 0.
    pub(crate) fn solve(&mut self) -> Option<Vec<f64>> {
        if self.factor.is_none() {
            self.factor = self.pattern.factorised(&self.lower);
        }
        let factor = self.factor.as_ref();
        let is_solved = factor.is_some_and(|factor| self.pattern.solve(factor, &mut self.right));
        let solution = is_solved.then(|| {
            let n = self.envelope.block;
            let blocks = self.envelope.rank.iter();
            let blocks = blocks.flat_map(|&rank| &self.right[rank * n..(rank + 1) * n]);
            let border = &self.right[self.border()..];
            blocks.chain(border).copied().collect()
        });
        self.right.fill(0.0);
        solution
    }

    /// The first row of the border.
    fn border(&self) -> usize {
        self.envelope.rank.len() * self.envelope.block
    }

    /// Where a row starts in `lower`.
    fn start(&self, row: usize) -> usize {
        self.pattern.starts[row] as usize
    }
}

fn add(sums: &mut [f64], terms: &[f64]) {
    for (sum, term) in sums.iter_mut().zip(terms) {
        *sum += term;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::iter;

    /// A profile of uncoupled blocks of one unknown each.
    fn single(keys: &[u16]) -> Envelope {
        Envelope::new(keys, 1, iter::empty::<iter::Empty<usize>>())
    }

    #[test]
    fn blocks_far_apart_are_solved_too() {
        // Three blocks of one unknown: 0 couples to 2, 1 to none.
        let envelope = Envelope::new(&[0, 5, 0], 1, iter::once([0, 2].into_iter()));
        assert_eq!(envelope.n_pairs(), 4);
        for (row, column, pair) in envelope.pairs() {
            assert_eq!(envelope.pair(row, column), (pair, row));
            assert_eq!(envelope.pair(column, row), (pair, row));
        }
        // x0 + x2 / 2 = 1.5, x0 / 2 + x2 = 0, 4 x1 = 2.
        let mut system = envelope.system(0);
        system.add_block(0, 0, &[[1.0]]);
        system.add_block(2, 0, &[[0.5]]);
        system.add_block(2, 2, &[[1.0]]);
        system.add_block(1, 1, &[[4.0]]);
        system.add_right(0, &[1.5]);
        system.add_right(1, &[2.0]);
        let x = system.solve().unwrap();
        for (x, expected) in x.iter().zip([2.0, 0.5, -1.0]) {
            assert!((x - expected).abs() < 1e-12, "{x}");
        }
    }

    #[test]
    fn blocks_are_stored_by_their_position() {
        // Positions 1, 2 and 0; blocks 0 and 1 are coupled, block 2 is alone.
        let envelope = Envelope::new(&[1, 2, 0], 2, iter::once([1, 0].into_iter()));
        let mut system = envelope.system(0);
        // The upper half of a diagonal block is not read.
        system.add_block(0, 0, &[[2.0, f64::NAN], [1.0, 3.0]]);
        system.add_block(1, 1, &[[4.0, f64::NAN], [-1.0, 2.0]]);
        system.add_block(1, 0, &[[0.5, 0.0], [0.25, -0.5]]);
        system.add_block(2, 2, &[[1.0, f64::NAN], [0.0, 5.0]]);
        let x = [1.0, -2.0, 3.0, 0.5, -1.0, 4.0];
        system.add_right(0, &[2.0 - 2.0 + 1.5 + 0.125, 1.0 - 6.0 - 0.25]);
        system.add_right(1, &[0.5 + 12.0 - 0.5, 0.25 + 1.0 - 3.0 + 1.0]);
        system.add_right(2, &[-1.0, 20.0]);
        for (found, expected) in system.solve().unwrap().iter().zip(x) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }

    #[test]
    fn a_border_meets_all_blocks() {
        // The normal equations of x0 + b = 3, x1 + 2 b + c = 4, b = 1, c = 0 and b + c = 1: all hold.
        let envelope = single(&[0, 1]);
        let mut system = envelope.system(2);
        system.add_block(0, 0, &[[1.0]]);
        system.add_block(1, 1, &[[1.0]]);
        system.add_border_block(0, 0, &[1.0]);
        system.add_border_block(0, 1, &[2.0]);
        system.add_border_block(1, 1, &[1.0]);
        system.add_border_row(0, &[7.0]);
        system.add_border_row(1, &[3.0, 3.0]);
        system.add_right(0, &[3.0]);
        system.add_right(1, &[4.0]);
        system.add_border_right(0, 13.0);
        system.add_border_right(1, 5.0);
        let x = system.solve().unwrap();
        for (x, expected) in x.iter().zip([2.0, 2.0, 1.0, 0.0]) {
            assert!((x - expected).abs() < 1e-12, "{x}");
        }
    }

    #[test]
    fn one_factor_solves_for_several_right_hand_sides() {
        // The normal equations of x0 + 2 b = r0, x1 + b = r1, b = r2.
        let envelope = single(&[0, 1]);
        let mut system = envelope.system(1);
        system.add_block(0, 0, &[[1.0]]);
        system.add_block(1, 1, &[[1.0]]);
        system.add_border_block(0, 0, &[2.0]);
        system.add_border_block(0, 1, &[1.0]);
        system.add_border_row(0, &[6.0]);
        for [r0, r1, r2] in [[5.0, 3.0, 2.0], [-1.0, 4.0, 0.5]] {
            system.add_right(0, &[r0]);
            system.add_right(1, &[r1]);
            system.add_border_right(0, 2.0 * r0 + r1 + r2);
            let x = system.solve().unwrap();
            for (x, expected) in x.iter().zip([r0 - 2.0 * r2, r1 - r2, r2]) {
                assert!((x - expected).abs() < 1e-12, "{x} {expected}");
            }
        }
    }

    #[test]
    fn what_is_held_stays() {
        let envelope = Envelope::new(&[0], 2, iter::empty::<iter::Empty<usize>>());
        let mut system = envelope.system(0);
        system.hold(0, 0, 4.0, 0.5);
        system.hold(0, 1, 1.0, 0.0);
        assert_eq!(system.solve().unwrap(), [-0.5, 0.0]);
        assert!(envelope.system(0).solve().is_none());
    }
}
