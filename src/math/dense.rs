//! Dense linear systems in f64 by faer, on one thread: the same bits for any number of threads.

use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::linalg::lu::partial_pivoting::{factor, solve};
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};
use faer::mat::{MatMut, MatRef};
use faer::{Par, Spec};

/// The inverse of a matrix (n x n, by columns) by LU decomposition with partial pivoting; `None` where it is singular
/// or not finite.
pub fn inverse(matrix: &[f64], n: usize) -> Option<Vec<f64>> {
    let mut lu = matrix.to_vec();
    let mut inverse = vec![0.0; n * n];
    for i in 0..n {
        inverse[i * n + i] = 1.0;
    }
    let factor_scratch = factor::lu_in_place_scratch::<usize, f64>(n, n, Par::Seq, Spec::default());
    let solve_scratch = solve::solve_in_place_scratch::<usize, f64>(n, n, Par::Seq);
    let mut memory = MemBuffer::new(StackReq::any_of(&[factor_scratch, solve_scratch]));
    let stack = MemStack::new(&mut memory);
    let (mut rows, mut places) = (vec![0usize; n], vec![0usize; n]);
    let (_, permutation) = factor::lu_in_place(
        MatMut::from_column_major_slice_mut(&mut lu, n, n),
        &mut rows,
        &mut places,
        Par::Seq,
        stack,
        Spec::default(),
    );
    // Both triangles share the matrix; the lower one has a diagonal of ones that is not stored.
    let both = MatRef::from_column_major_slice(&lu, n, n);
    solve::solve_in_place(
        both,
        both,
        permutation,
        MatMut::from_column_major_slice_mut(&mut inverse, n, n),
        Par::Seq,
        stack,
    );
    inverse.iter().all(|v| v.is_finite()).then_some(inverse)
}

/// The condition number of a matrix (n x n, by columns): its largest singular value by the smallest. Infinite where it
/// is singular or not finite; 1 where n is 0.
pub fn condition_number(matrix: &[f64], n: usize) -> f64 {
    if n == 0 {
        return 1.0;
    }
    if !matrix.iter().all(|v| v.is_finite()) {
        return f64::INFINITY;
    }
    let mut values = Diag::<f64>::zeros(n);
    let without = ComputeSvdVectors::No;
    let mut memory = MemBuffer::new(svd_scratch::<f64>(
        n,
        n,
        without,
        without,
        Par::Seq,
        Spec::default(),
    ));
    let found = svd(
        MatRef::from_column_major_slice(matrix, n, n),
        values.as_mut(),
        None,
        None,
        Par::Seq,
        MemStack::new(&mut memory),
        Spec::default(),
    );
    let values = values.column_vector();
    let (largest, smallest) = (values[0], values[n - 1]);
    if found.is_ok() && smallest > 0.0 {
        largest / smallest
    } else {
        f64::INFINITY
    }
}

/// As [`condition_number`], of a symmetric matrix: its eigenvalue of largest magnitude by that of the smallest, which
/// takes a fraction of the time. Reads the lower triangle.
pub fn symmetric_condition_number(matrix: &[f64], n: usize) -> f64 {
    if n == 0 {
        return 1.0;
    }
    if !matrix.iter().all(|v| v.is_finite()) {
        return f64::INFINITY;
    }
    let mut values = Diag::<f64>::zeros(n);
    let without = ComputeEigenvectors::No;
    let scratch = self_adjoint_evd_scratch::<f64>(n, without, Par::Seq, Spec::default());
    let mut memory = MemBuffer::new(scratch);
    let found = self_adjoint_evd(
        MatRef::from_column_major_slice(matrix, n, n),
        values.as_mut(),
        None,
        Par::Seq,
        MemStack::new(&mut memory),
        Spec::default(),
    );
    let magnitudes = values.column_vector().iter().map(|value| value.abs());
    let (smallest, largest) = magnitudes.fold((f64::INFINITY, 0.0), |(low, high), value| {
        (f64::min(low, value), f64::max(high, value))
    });
    if found.is_ok() && smallest > 0.0 {
        largest / smallest
    } else {
        f64::INFINITY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inverse_times_its_matrix_is_the_identity() {
        // The first pivot vanishes.
        let a = [0.0, 2.0, 1.0, 1.0, 0.0, 3.0, -1.0, 4.0, 0.5];
        let b = inverse(&a, 3).unwrap();
        for row in 0..3 {
            for column in 0..3 {
                let sum: f64 = (0..3).map(|k| a[k * 3 + row] * b[column * 3 + k]).sum();
                let expected = f64::from(u8::from(row == column));
                assert!((sum - expected).abs() < 1e-14, "{row} {column}: {sum}");
            }
        }
        assert_eq!(inverse(&[1.0, 2.0, 2.0, 4.0], 2), None);
        assert_eq!(inverse(&[f64::NAN], 1), None);
        assert_eq!(inverse(&[], 0), Some(Vec::new()));
    }

    #[test]
    fn the_condition_number_is_the_ratio_of_singular_values() {
        let a = [3.0, 0.0, 0.0, 0.0, -0.5, 0.0, 0.0, 0.0, 1.0];
        assert!((condition_number(&a, 3) - 6.0).abs() < 1e-12);
        assert!(condition_number(&[1.0, 1.0, 1.0, 1.0], 2) > 1e15);
        assert_eq!(condition_number(&[f64::NAN], 1), f64::INFINITY);
        assert_eq!(condition_number(&[], 0), 1.0);
        // A saddle point, as in the solve of poses: eigenvalues of both signs.
        let b = [2.0, 0.5, 1.0, 0.5, 3.0, 1.0, 1.0, 1.0, 0.0];
        let (plain, symmetric) = (condition_number(&b, 3), symmetric_condition_number(&b, 3));
        assert!(
            (plain - symmetric).abs() < 1e-12 * plain,
            "{plain} {symmetric}"
        );
        assert!(symmetric_condition_number(&[1.0, 1.0, 1.0, 1.0], 2) > 1e15);
        assert_eq!(symmetric_condition_number(&[f64::NAN], 1), f64::INFINITY);
    }
}
