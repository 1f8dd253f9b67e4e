//! Small dense linear algebra in f64 by faer, on one thread: the same bits for any number of threads.

use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::mat::{Mat, MatMut, MatRef};
use faer::{Par, Spec};

/// Solves `a x = b` for a symmetric positive definite `a` (n x n by columns; only its lower half is read, and it is
/// overwritten) and leaves x in `b`; `false` where `a` is not positive definite.
pub(crate) fn solve_in_place(a: &mut [f64], b: &mut [f64]) -> bool {
    let n = b.len();
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
    }

    #[test]
    fn eigenvectors_come_by_falling_eigenvalue() {
        let rows = eigenvectors(&[2.0, 1.0, 0.0, 1.0, 2.0, 0.0, 0.0, 0.0, 5.0], 3);
        assert!((rows[0][2].abs() - 1.0).abs() < 1e-12);
        assert!((rows[1][0] - rows[1][1]).abs() < 1e-12);
        assert!((rows[2][0] + rows[2][1]).abs() < 1e-12);
    }
}
