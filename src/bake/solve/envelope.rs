//! Symmetric systems of dense blocks with a bordered envelope (skyline) profile: each row is stored from its first
//! nonzero block to the diagonal (George and Liu 1981, section 4). Unknowns that couple to every block form the border
//! behind the blocks.
//!
//! The factorisation is faer's sparse Cholesky, on one thread: the same bits for any number of threads. Its symbolic part
//! is computed once for all systems of a profile.

// The bodies must end up inside of what is compiled for AVX2, whatever the optimiser thinks of their size.
#![allow(clippy::inline_always)]

use super::linear::add_dots;
use crate::skinning::{Backend, Kernel, Simd, dispatch};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::LltRegularization;
use faer::mat::MatMut;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymmetricOrdering,
    factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, Par, Side, Spec};
use glam::DVec3;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The profile: which blocks can be nonzero.
pub(crate) struct Envelope {
    block: usize,
    /// The position of each block in the system.
    rank: Vec<usize>,
    /// By position: the first block of the row.
    first: Vec<usize>,
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
    /// The columns of the border in three equations, by component.
    border: [Vec<f64>; 3],
}

impl Envelope {
    /// A profile of blocks of `block` unknowns; those of equal `keys` are adjacent.
    pub(crate) fn new(keys: &[u16], block: usize) -> Self {
        let mut order: Vec<usize> = (0..keys.len()).collect();
        order.sort_by_key(|&i| (keys[i], i));
        let mut rank = vec![0; keys.len()];
        for (position, &i) in order.iter().enumerate() {
            rank[i] = position;
        }
        Self {
            block,
            rank,
            first: (0..keys.len()).collect(),
            patterns: Mutex::default(),
        }
    }

    /// Couples blocks that share an equation. All are coupled before the first system is made.
    pub(crate) fn join(&mut self, blocks: impl Iterator<Item = usize> + Clone) {
        let ranks = blocks.map(|b| self.rank[b]);
        let Some(least) = ranks.clone().min() else {
            return;
        };
        for rank in ranks {
            self.first[rank] = self.first[rank].min(least);
        }
    }

    /// A zero system with `border` unknowns behind the blocks.
    pub(crate) fn system(&self, border: usize) -> EnvelopeSystem<'_> {
        let pattern = self.pattern(border);
        EnvelopeSystem {
            envelope: self,
            lower: vec![0.0; pattern.columns.len()],
            factor: None,
            right: vec![0.0; pattern.starts.len() - 1],
            border: Default::default(),
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
    /// Adds three equations: `columns`, by block, each block once, times the unknowns equals `right`.
    #[cfg(test)]
    pub(crate) fn add<const N: usize>(&mut self, columns: &[(usize, [DVec3; N])], right: DVec3) {
        self.add_bordered(columns, 0, &[], right);
    }

    /// Adds three equations: `columns`, by block, each block once, and the columns of border unknowns from number `first`
    /// on, times the unknowns equals `right`.
    pub(crate) fn add_bordered<const N: usize>(
        &mut self,
        columns: &[(usize, [DVec3; N])],
        first: usize,
        border: &[DVec3],
        right: DVec3,
    ) {
        let equations = Equations {
            system: self,
            columns,
            first,
            border,
            right,
        };
        dispatch(Backend::detect(), equations);
    }

    /// Adds a ridge of `share` times the mean diagonal to the border: undetermined weights become 0.
    pub(crate) fn hold_border(&mut self, share: f64) {
        let blocks = self.envelope.rank.len() * self.envelope.block;
        let rows = blocks..self.right.len();
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

    /// Whether the matrix is factorised: from then on added equations change the right-hand side only.
    fn is_factorised(&self) -> bool {
        self.factor.is_some()
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
            let border = &self.right[self.envelope.rank.len() * n..];
            blocks.chain(border).copied().collect()
        });
        self.right.fill(0.0);
        solution
    }

    /// Where a row starts in `lower`.
    fn start(&self, row: usize) -> usize {
        self.pattern.starts[row] as usize
    }
}

/// Three equations that are added to a system.
struct Equations<'a, 'e, const N: usize> {
    system: &'a mut EnvelopeSystem<'e>,
    columns: &'a [(usize, [DVec3; N])],
    first: usize,
    border: &'a [DVec3],
    right: DVec3,
}

impl<const N: usize> Equations<'_, '_, N> {
    /// Adds the equations to the right-hand side only.
    #[inline(always)]
    fn add_right(self) {
        let ranks = &self.system.envelope.rank;
        let of_border = &mut self.system.right[ranks.len() * N + self.first..];
        for (sum, column) in of_border.iter_mut().zip(self.border) {
            *sum += column.dot(self.right);
        }
        for (block, columns) in self.columns {
            let of_block = &mut self.system.right[ranks[*block] * N..];
            for (sum, column) in of_block.iter_mut().zip(columns) {
                *sum += column.dot(self.right);
            }
        }
    }
}

impl<const N: usize> Kernel for Equations<'_, '_, N> {
    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        if self.system.is_factorised() {
            self.add_right();
            return;
        }
        let Self { system, first, .. } = self;
        let mut of_border = std::mem::take(&mut system.border);
        for (i, of_component) in of_border.iter_mut().enumerate() {
            of_component.clear();
            for column in self.border {
                of_component.push(column[i]);
            }
        }
        let [xs, ys, zs] = &of_border;
        let blocks = system.envelope.rank.len() * N;
        for (i, x) in self.border.iter().enumerate() {
            let row = blocks + first + i;
            system.right[row] += x.dot(self.right);
            let own = system.start(row) + blocks + first;
            add_dots(&mut system.lower[own..=own + i], 1.0, *x, [xs, ys, zs]);
        }
        for (block, of_block) in self.columns {
            let to = system.envelope.rank[*block] * N;
            let [mut xs, mut ys, mut zs] = [[0.0; N]; 3];
            for (i, column) in of_block.iter().enumerate() {
                (xs[i], ys[i], zs[i]) = (column.x, column.y, column.z);
            }
            let axes: [&[f64]; 3] = [&xs, &ys, &zs];
            for (row_block, of_row) in self.columns {
                let rank = system.envelope.rank[*row_block];
                let at = rank * N;
                if at < to {
                    continue;
                }
                let before = to - system.envelope.first[rank] * N;
                for (i, x) in of_row.iter().enumerate() {
                    let from = system.start(at + i) + before;
                    if at == to {
                        add_dots(&mut system.lower[from..=from + i], 1.0, *x, axes);
                    } else {
                        add_dots(&mut system.lower[from..from + N], 1.0, *x, axes);
                    }
                }
            }
            for (i, x) in self.border.iter().enumerate() {
                let from = system.start(blocks + first + i) + to;
                add_dots(&mut system.lower[from..from + N], 1.0, *x, axes);
            }
            for (i, x) in of_block.iter().enumerate() {
                system.right[to + i] += x.dot(self.right);
            }
        }
        system.border = of_border;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_far_apart_are_solved_too() {
        // Three blocks of one unknown: 0 couples to 2, 1 to none.
        let mut envelope = Envelope::new(&[0, 5, 0], 1);
        envelope.join([0, 2].into_iter());
        let mut system = envelope.system(0);
        let column = |b, x: f64, y: f64, z: f64| (b, [DVec3::new(x, y, z)]);
        system.add(
            &[column(0, 1.0, 0.0, 1.0), column(2, 0.0, 1.0, 1.0)],
            DVec3::new(2.0, -1.0, 1.0),
        );
        system.add(&[column(1, 0.0, 0.0, 4.0)], DVec3::new(9.0, 9.0, 2.0));
        let x = system.solve().unwrap();
        for (x, expected) in x.iter().zip([2.0, 0.5, -1.0]) {
            assert!((x - expected).abs() < 1e-12, "{x}");
        }
    }

    #[test]
    fn a_border_meets_all_blocks() {
        // x0 + b = 3, x1 + 2 b = 4, b = 1: all equations hold.
        let envelope = Envelope::new(&[0, 1], 1);
        let mut system = envelope.system(1);
        let x = |b| (b, [DVec3::X]);
        system.add_bordered(&[x(0)], 0, &[DVec3::X], DVec3::X * 3.0);
        system.add_bordered(&[x(1)], 0, &[DVec3::X * 2.0], DVec3::X * 4.0);
        system.add_bordered::<1>(&[], 0, &[DVec3::Y], DVec3::Y);
        let x = system.solve().unwrap();
        for (x, expected) in x.iter().zip([2.0, 2.0, 1.0]) {
            assert!((x - expected).abs() < 1e-12, "{x}");
        }
    }

    #[test]
    fn one_factor_solves_for_several_right_hand_sides() {
        // x0 + 2 b = r0, x1 + b = r1, b = r2.
        let envelope = Envelope::new(&[0, 1], 1);
        let mut system = envelope.system(1);
        let x = |b| (b, [DVec3::X]);
        for [r0, r1, r2] in [[5.0, 3.0, 2.0], [-1.0, 4.0, 0.5]] {
            system.add_bordered(&[x(0)], 0, &[DVec3::X * 2.0], DVec3::X * r0);
            system.add_bordered(&[x(1)], 0, &[DVec3::X], DVec3::X * r1);
            system.add_bordered::<1>(&[], 0, &[DVec3::Y], DVec3::Y * r2);
            let x = system.solve().unwrap();
            for (x, expected) in x.iter().zip([r0 - 2.0 * r2, r1 - r2, r2]) {
                assert!((x - expected).abs() < 1e-12, "{x} {expected}");
            }
        }
    }

    #[test]
    fn what_is_held_stays() {
        let envelope = Envelope::new(&[0], 2);
        let mut system = envelope.system(0);
        system.hold(0, 0, 4.0, 0.5);
        system.hold(0, 1, 1.0, 0.0);
        assert_eq!(system.solve().unwrap(), [-0.5, 0.0]);
        assert!(envelope.system(0).solve().is_none());
    }
}
