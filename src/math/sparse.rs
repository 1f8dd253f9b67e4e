//! Sparse symmetric systems: built from edges, factored once, solved for many right-hand sides.
//!
//! The factorisation is faer's sparse Cholesky, on one thread so that its bits do not depend on their number; callers
//! distribute right-hand sides over threads.

use crate::task::{Cancelled, Task};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::LltRegularization;
use faer::mat::MatMut;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymmetricOrdering,
    factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, Par, Side, Spec};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Systems up to this size are factored in place; larger ones on a thread of their own, so that the caller can be
/// cancelled.
const AT_ONCE: usize = 3000;

/// A sparse symmetric matrix: its lower triangle by columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Symmetric {
    starts: Vec<u32>,
    rows: Vec<u32>,
    values: Vec<f64>,
}

/// A Cholesky factorisation.
#[derive(Debug)]
pub struct Factor {
    symbolic: SymbolicCholesky<u32>,
    values: Vec<f64>,
}

/// Why a system was not factored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FactorError {
    /// It was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// The matrix is not positive definite, or there is no memory for its factor.
    #[error("the system of {n} unknowns has no factorisation ({why})")]
    Failed {
        /// Its size.
        n: usize,
        /// The solver's message.
        why: String,
    },
}

impl Symmetric {
    /// The matrix with this diagonal and these entries (row, column, value) off it, each pair in any order; duplicate
    /// entries are added in the order given.
    pub fn new(diagonal: &[f64], mut edges: Vec<(u32, u32, f64)>) -> Self {
        for edge in &mut edges {
            if edge.0 < edge.1 {
                *edge = (edge.1, edge.0, edge.2);
            }
        }
        edges.sort_by_key(|&(row, column, _)| (column, row));
        let mut matrix = Self {
            starts: Vec::with_capacity(diagonal.len() + 1),
            rows: Vec::with_capacity(diagonal.len() + edges.len()),
            values: Vec::with_capacity(diagonal.len() + edges.len()),
        };
        let mut next = 0;
        matrix.starts.push(0);
        for (column, &on_diagonal) in diagonal.iter().enumerate() {
            let column = column as u32;
            matrix.rows.push(column);
            matrix.values.push(on_diagonal);
            while let Some(&(row, c, value)) = edges.get(next).filter(|e| e.1 == column) {
                if row == c || matrix.rows.last() == Some(&row) {
                    if let Some(last) = matrix.values.last_mut() {
                        *last += value;
                    }
                } else {
                    matrix.rows.push(row);
                    matrix.values.push(value);
                }
                next += 1;
            }
            matrix.starts.push(matrix.rows.len() as u32);
        }
        matrix
    }

    /// The graph Laplacian of weighted edges, plus a diagonal: D - W + diag.
    pub fn laplacian(diagonal: &[f64], edges: &[(u32, u32, f64)]) -> Self {
        let mut sum = diagonal.to_vec();
        for &(a, b, w) in edges {
            sum[a as usize] += w;
            sum[b as usize] += w;
        }
        Self::new(&sum, edges.iter().map(|&(a, b, w)| (a, b, -w)).collect())
    }

    /// Number of rows.
    pub fn n(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The entries (row, value) of a column from the diagonal down.
    pub fn column(&self, column: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        let range = self.starts[column] as usize..self.starts[column + 1] as usize;
        let values = self.values[range.clone()].iter().copied();
        self.rows[range].iter().copied().zip(values)
    }

    /// All entries (row, value) of each column, ascending.
    fn full_columns(&self) -> Vec<Vec<(u32, f64)>> {
        let mut columns: Vec<Vec<(u32, f64)>> = vec![Vec::new(); self.n()];
        for column in 0..self.n() {
            // Those above the diagonal came from the columns before.
            for (row, value) in self.column(column) {
                columns[column].push((row, value));
                if row as usize != column {
                    columns[row as usize].push((column as u32, value));
                }
            }
        }
        for column in &mut columns {
            column.sort_by_key(|e| e.0);
        }
        columns
    }

    /// `A D A` for this matrix A and the diagonal D.
    #[must_use]
    pub fn squared(&self, diagonal: &[f64]) -> Self {
        let columns = self.full_columns();
        let mut sums = vec![0.0; self.n()];
        let mut is_there = vec![false; self.n()];
        let mut found = Vec::new();
        let mut squared = Self {
            starts: vec![0],
            ..Self::default()
        };
        for (column, entries) in columns.iter().enumerate() {
            found.clear();
            for &(k, a) in entries {
                let factor = a * diagonal[k as usize];
                for &(row, b) in columns[k as usize]
                    .iter()
                    .filter(|e| e.0 as usize >= column)
                {
                    if !std::mem::replace(&mut is_there[row as usize], true) {
                        found.push(row);
                    }
                    sums[row as usize] += factor * b;
                }
            }
            found.sort_unstable();
            for &row in &found {
                squared.rows.push(row);
                squared.values.push(std::mem::take(&mut sums[row as usize]));
                is_there[row as usize] = false;
            }
            squared.starts.push(squared.rows.len() as u32);
        }
        squared
    }

    /// The part of `kept` rows and columns, and the rest of those rows: entries (kept row, left-out column, value).
    ///
    /// `index`: for each row its number among the kept ones, `u32::MAX` for those left out; ascending.
    pub fn split(&self, index: &[u32], n_kept: usize) -> (Self, Vec<(u32, u32, f64)>) {
        let mut diagonal = vec![0.0; n_kept];
        let (mut edges, mut rest) = (Vec::new(), Vec::new());
        for column in 0..self.n() {
            for (row, value) in self.column(column) {
                match (index[row as usize], index[column]) {
                    (u32::MAX, u32::MAX) => {}
                    (u32::MAX, kept) => rest.push((kept, row, value)),
                    (kept, u32::MAX) => rest.push((kept, column as u32, value)),
                    (a, b) if a == b => diagonal[a as usize] += value,
                    (a, b) => edges.push((a, b, value)),
                }
            }
        }
        (Self::new(&diagonal, edges), rest)
    }

    /// The sum of both, of one size.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let most = self.rows.len() + other.rows.len();
        let mut sum = Self {
            starts: Vec::with_capacity(self.starts.len()),
            rows: Vec::with_capacity(most),
            values: Vec::with_capacity(most),
        };
        sum.starts.push(0);
        for column in 0..self.n() {
            // Both ascend.
            let mut own = self.column(column).peekable();
            let mut theirs = other.column(column).peekable();
            while let Some(row) = [own.peek(), theirs.peek()]
                .into_iter()
                .flatten()
                .map(|entry| entry.0)
                .min()
            {
                let is_here = |entry: &(u32, f64)| entry.0 == row;
                let parts = [own.next_if(is_here), theirs.next_if(is_here)];
                sum.rows.push(row);
                sum.values
                    .push(parts.into_iter().flatten().map(|entry| entry.1).sum());
            }
            sum.starts.push(sum.rows.len() as u32);
        }
        sum
    }

    /// Adds `values` to the diagonal.
    pub fn add_diagonal(&mut self, values: &[f64]) {
        for (column, value) in values.iter().enumerate() {
            self.values[self.starts[column] as usize] += value;
        }
    }

    /// `out` = this matrix times `x`.
    pub fn multiply(&self, x: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for column in 0..self.n() {
            for (row, value) in self.column(column) {
                out[row as usize] += value * x[column];
                if row as usize != column {
                    out[column] += value * x[row as usize];
                }
            }
        }
    }
}

impl Factor {
    /// Factors a positive definite matrix. It can be cancelled at any time; a large factorisation then finishes in the
    /// background and is dropped.
    pub fn new(matrix: Symmetric, task: &Task) -> Result<Self, FactorError> {
        task.check()?;
        let n = matrix.n();
        if n <= AT_ONCE {
            return factor(&matrix);
        }
        let (send, receive) = channel();
        std::thread::spawn(move || {
            // If the task was cancelled nobody receives it.
            let _ = send.send(factor(&matrix));
        });
        loop {
            match receive.recv_timeout(Duration::from_millis(20)) {
                Ok(result) => return result,
                Err(RecvTimeoutError::Timeout) => task.check()?,
                Err(RecvTimeoutError::Disconnected) => {
                    let why = "the solver failed".into();
                    return Err(FactorError::Failed { n, why });
                }
            }
        }
    }

    /// Number of unknowns.
    pub fn n(&self) -> usize {
        self.symbolic.nrows()
    }

    /// Solves in place: `columns` holds right-hand sides of n values one after the other.
    pub fn solve(&self, columns: &mut [f64]) {
        let n = self.n();
        if n == 0 || columns.is_empty() {
            return;
        }
        let n_columns = columns.len() / n;
        let scratch = self
            .symbolic
            .solve_in_place_scratch::<f64>(n_columns, Par::Seq);
        let mut memory = MemBuffer::new(scratch);
        let columns = MatMut::from_column_major_slice_mut(columns, n, n_columns);
        LltRef::<'_, u32, f64>::new(&self.symbolic, &self.values).solve_in_place_with_conj(
            Conj::No,
            columns,
            Par::Seq,
            MemStack::new(&mut memory),
        );
    }
}

fn factor(matrix: &Symmetric) -> Result<Factor, FactorError> {
    let n = matrix.n();
    let failed = |why: String| FactorError::Failed { n, why };
    let pattern = SymbolicSparseColMatRef::new_checked(n, n, &matrix.starts, None, &matrix.rows);
    let symbolic = factorize_symbolic_cholesky(
        pattern,
        Side::Lower,
        SymmetricOrdering::Amd,
        CholeskySymbolicParams::default(),
    )
    .map_err(|e| failed(format!("{e:?}")))?;
    let mut values = Vec::new();
    values
        .try_reserve_exact(symbolic.len_val())
        .map_err(|e| failed(e.to_string()))?;
    values.resize(symbolic.len_val(), 0.0);
    let scratch = symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Spec::default());
    let mut memory = MemBuffer::try_new(scratch).map_err(|e| failed(format!("{e:?}")))?;
    symbolic
        .factorize_numeric_llt(
            &mut values,
            SparseColMatRef::new(pattern, &matrix.values),
            Side::Lower,
            LltRegularization::default(),
            Par::Seq,
            MemStack::new(&mut memory),
            Spec::default(),
        )
        .map_err(|e| failed(format!("{e:?}")))?;
    Ok(Factor { symbolic, values })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(n: u32) -> Vec<(u32, u32, f64)> {
        (1..n).map(|i| (i - 1, i, 1.0 + f64::from(i % 3))).collect()
    }

    #[test]
    fn a_solution_fulfils_its_system_for_every_column() {
        for n in [1, 2, 7, 500] {
            let diagonal: Vec<f64> = (0..n).map(|i| 0.01 + f64::from(i % 5)).collect();
            let matrix = Symmetric::laplacian(&diagonal, &path(n));
            let factor = Factor::new(matrix.clone(), &Task::new()).unwrap();
            let wanted: Vec<f64> = (0..2 * n).map(|i| f64::from(i * i % 17) - 8.0).collect();
            let mut columns = wanted.clone();
            factor.solve(&mut columns);
            let n = n as usize;
            for k in 0..2 {
                let mut product = vec![0.0; n];
                matrix.multiply(&columns[k * n..(k + 1) * n], &mut product);
                for (a, b) in product.iter().zip(&wanted[k * n..]) {
                    assert!((a - b).abs() < 1e-9, "{a} {b}");
                }
            }
        }
    }

    #[test]
    fn what_is_not_positive_definite_is_named() {
        let error = Factor::new(Symmetric::new(&[1.0, -1.0], vec![]), &Task::new()).unwrap_err();
        assert!(error.to_string().contains("2 unknowns"), "{error}");
    }

    #[test]
    fn squaring_and_splitting_agree_with_dense_products() {
        let a = Symmetric::laplacian(
            &[0.5, 0.0, 0.25, 1.0],
            &[(0, 1, 2.0), (3, 1, 1.0), (2, 3, 4.0)],
        );
        let d = [1.0, 0.5, 2.0, 1.0];
        let squared = a.squared(&d);
        for k in 0..4 {
            let mut unit = [0.0; 4];
            unit[k] = 1.0;
            let (mut once, mut twice, mut direct) = ([0.0; 4], [0.0; 4], [0.0; 4]);
            a.multiply(&unit, &mut once);
            for (x, d) in once.iter_mut().zip(d) {
                *x *= d;
            }
            a.multiply(&once, &mut twice);
            squared.multiply(&unit, &mut direct);
            assert_eq!(twice, direct);
        }
        let (kept, rest) = a.split(&[0, u32::MAX, 1, 2], 3);
        let mut product = [0.0; 3];
        kept.multiply(&[1.0, 0.0, 0.0], &mut product);
        assert_eq!(product, [2.5, 0.0, 0.0]);
        assert_eq!(rest, [(0, 1, -2.0), (2, 1, -1.0)]);
    }

    #[test]
    fn a_sum_has_the_entries_of_both() {
        let a = Symmetric::new(&[1.0, 2.0, 3.0], vec![(0, 1, 0.5), (1, 2, 0.25)]);
        let b = Symmetric::new(&[0.5, 0.0, 4.0], vec![(2, 0, -1.0), (2, 1, 0.5)]);
        let sum = Symmetric::new(
            &[1.5, 2.0, 7.0],
            vec![(0, 1, 0.5), (1, 2, 0.75), (0, 2, -1.0)],
        );
        assert_eq!(a.plus(&b), sum);
        assert_eq!(b.plus(&a), sum);
        assert_eq!(a.plus(&Symmetric::new(&[0.0; 3], Vec::new())), a);
    }

    #[test]
    fn a_cancelled_task_factors_nothing() {
        let task = Task::new();
        task.cancel();
        let matrix = Symmetric::new(&[1.0], vec![]);
        assert_eq!(
            Factor::new(matrix, &task).err(),
            Some(FactorError::Cancelled(Cancelled))
        );
    }
}
