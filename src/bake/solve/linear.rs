//! Small dense linear algebra in f64 by faer, on one thread: the same bits for any number of threads.

// The bodies must end up inside of what is compiled for AVX2, whatever the optimiser thinks of their size.
#![allow(clippy::inline_always)]

use crate::skinning::{Backend, Kernel, Simd, dispatch};
use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::mat::{Mat, MatMut, MatRef};
use faer::{Par, Spec};

/// Systems up to this size are solved without faer, which takes longer to set up than they take.
const SMALL: usize = 32;

/// Solves `a x = b` for a symmetric positive definite `a` (n x n by columns; only its lower half is read, and it is
/// overwritten) and leaves x in `b`; `false` where `a` is not positive definite.
pub(crate) fn solve_in_place(a: &mut [f64], b: &mut [f64]) -> bool {
    let n = b.len();
    if n <= SMALL {
        return solve_small(a, b);
    }
    let mut memory = MemBuffer::new(llt::factor::cholesky_in_place_scratch::<f64>(
        n,
        Par::Seq,
        Spec::default(),
    ));
    let stack = MemStack::new(&mut memory);
    let mut factor = MatMut::from_column_major_slice_mut(a, n, n);
    let found = llt::factor::cholesky_in_place(
        factor.as_mut(),
        llt::factor::LltRegularization::default(),
        Par::Seq,
        stack,
        Spec::default(),
    );
    if found.is_err() {
        return false;
    }
    let right = MatMut::from_column_major_slice_mut(b, n, 1);
    // Solving takes no memory.
    llt::solve::solve_in_place(factor.as_ref(), right, Par::Seq, stack);
    b.iter().all(|x| x.is_finite())
}

/// [`solve_in_place`] by the outer product form of the Cholesky factorisation (Golub and Van Loan 2013, algorithm 4.2.2).
fn solve_small(a: &mut [f64], b: &mut [f64]) -> bool {
    let mut found = false;
    let system = SmallSystem {
        a,
        b,
        found: &mut found,
    };
    dispatch(Backend::detect(), system);
    found
}

/// A system that is solved in place.
struct SmallSystem<'a> {
    a: &'a mut [f64],
    b: &'a mut [f64],
    /// Whether the matrix is positive definite and the solution finite.
    found: &'a mut bool,
}

impl Kernel for SmallSystem<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let (a, b) = (self.a, self.b);
        let n = b.len();
        for j in 0..n {
            let (left, right) = a.split_at_mut((j + 1) * n);
            let column = &mut left[j * n..];
            let pivot = column[j].sqrt();
            // Also false for NaN.
            if !(pivot > 0.0 && pivot.is_finite()) {
                return;
            }
            column[j] = pivot;
            column[j + 1..].iter_mut().for_each(|x| *x /= pivot);
            let rest = right.chunks_exact_mut(n).enumerate();
            for (c, other) in rest.map(|(c, other)| (j + 1 + c, other)) {
                let factor = column[c];
                let pairs = other[c..].iter_mut().zip(&column[c..]);
                pairs.for_each(|(x, below)| *x -= factor * below);
            }
            let (done, below) = b.split_at_mut(j + 1);
            done[j] /= pivot;
            let pairs = below.iter_mut().zip(&column[j + 1..]);
            pairs.for_each(|(x, of_column)| *x -= of_column * done[j]);
        }
        for j in (0..n).rev() {
            let column = &a[j * n..(j + 1) * n];
            let pairs = column[j + 1..].iter().zip(&b[j + 1..]);
            let below: f64 = pairs.map(|(x, of_b)| x * of_b).sum();
            b[j] = (b[j] - below) / column[j];
        }
        *self.found = b.iter().all(|x| x.is_finite());
    }
}

/// Adds `share` of the mean of the diagonal, to the diagonal: a ridge that keeps a singular system solvable.
pub(crate) fn add_ridge(a: &mut [f64], n: usize, share: f64) {
    let trace: f64 = (0..n).map(|i| a[i * n + i]).sum();
    let ridge = share * trace / n.max(1) as f64 + 1e-300;
    for i in 0..n {
        a[i * n + i] += ridge;
    }
}

/// The eigenvectors of a symmetric matrix (n x n), one a row, by falling eigenvalue; none where they cannot be found.
pub(crate) fn eigenvectors(a: &[f64], n: usize) -> Vec<Vec<f64>> {
    let mut values = Diag::<f64>::zeros(n);
    let mut vectors = Mat::<f64>::zeros(n, n);
    let mut memory = MemBuffer::new(self_adjoint_evd_scratch::<f64>(
        n,
        ComputeEigenvectors::Yes,
        Par::Seq,
        Spec::default(),
    ));
    let found = self_adjoint_evd(
        MatRef::from_column_major_slice(a, n, n),
        values.as_mut(),
        Some(vectors.as_mut()),
        Par::Seq,
        MemStack::new(&mut memory),
        Spec::default(),
    );
    if found.is_err() {
        return Vec::new();
    }
    // faer sorts by rising eigenvalue.
    let columns = (0..n).rev();
    columns
        .map(|j| vectors.col(j).iter().copied().collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn systems_are_solved() {
        let mut a = vec![4.0, 2.0, 0.0, 3.0];
        let mut b = vec![8.0, 7.0];
        assert!(solve_in_place(&mut a, &mut b));
        assert!(
            (b[0] - 1.25).abs() < 1e-12 && (b[1] - 1.5).abs() < 1e-12,
            "{b:?}"
        );
        assert!(!solve_in_place(&mut [0.0], &mut [1.0]));
        assert!(!solve_in_place(&mut [f64::NAN], &mut [1.0]));
    }

    #[test]
    fn systems_of_any_size_are_solved() {
        for n in [1, 7, SMALL, SMALL + 1, 60] {
            // A Hilbert matrix with a ridge; its upper half is wrong, and not read.
            let full = |i: usize, j: usize| 1.0 / (i + j + 1) as f64 + f64::from(u8::from(i == j));
            let x: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
            let entry = |e: usize| {
                if e % n >= e / n {
                    full(e % n, e / n)
                } else {
                    7.0
                }
            };
            let mut a: Vec<f64> = (0..n * n).map(entry).collect();
            let product = |i: usize| -> f64 { (0..n).map(|j| full(i, j) * x[j]).sum() };
            let mut b: Vec<f64> = (0..n).map(product).collect();
            assert!(solve_in_place(&mut a, &mut b));
            for (b, x) in b.iter().zip(&x) {
                assert!((b - x).abs() < 1e-12, "{n}: {b} {x}");
            }
        }
    }

    #[test]
    fn eigenvectors_come_by_falling_eigenvalue() {
        let rows = eigenvectors(&[2.0, 1.0, 0.0, 1.0, 2.0, 0.0, 0.0, 0.0, 5.0], 3);
        assert!((rows[0][2].abs() - 1.0).abs() < 1e-12);
        assert!((rows[1][0] - rows[1][1]).abs() < 1e-12);
        assert!((rows[2][0] + rows[2][1]).abs() < 1e-12);
    }
}
