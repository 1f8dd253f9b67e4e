//! Eigenvalues and eigenvectors of small symmetric matrices.

/// Eigenvalues, and eigenvectors as columns, of a symmetric matrix: cyclic Jacobi rotations (Golub & Van Loan 2013, 8.5).
///
/// The entries are about 1: the rotations end where what is left off the diagonal is below 1e-17.
pub(crate) fn symmetric_eigen<const N: usize>(mut a: [[f64; N]; N]) -> ([f64; N], [[f64; N]; N]) {
    let mut v = [[0.0; N]; N];
    for (i, row) in v.iter_mut().enumerate() {
        row[i] = 1.0;
    }
    for _ in 0..20 {
        let mut off = 0.0;
        for p in 0..N {
            for q in p + 1..N {
                off += a[p][q] * a[p][q];
                if a[p][q].abs() < 1e-300 {
                    continue;
                }
                let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let c = 1.0 / (t * t + 1.0).sqrt();
                let s = t * c;
                for row in &mut a {
                    (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
                }
                let (rp, rq) = (a[p], a[q]);
                for k in 0..N {
                    a[p][k] = c * rp[k] - s * rq[k];
                    a[q][k] = s * rp[k] + c * rq[k];
                }
                for row in &mut v {
                    (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
                }
            }
        }
        if off < 1e-34 {
            break;
        }
    }
    (std::array::from_fn(|i| a[i][i]), v)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_times_values_are_the_matrix_again() {
        let entry = |i: usize, j: usize| ((i * j) as f64).sin() + f64::from(u8::from(i == j));
        let a: [[f64; 6]; 6] = std::array::from_fn(|i| std::array::from_fn(|j| entry(i, j)));
        let (values, v) = symmetric_eigen(a);
        for i in 0..6 {
            for j in 0..6 {
                let again: f64 = (0..6).map(|k| v[i][k] * values[k] * v[j][k]).sum();
                assert!((again - a[i][j]).abs() < 1e-13, "{i} {j}");
                let dot: f64 = (0..6).map(|k| v[k][i] * v[k][j]).sum();
                assert!((dot - f64::from(u8::from(i == j))).abs() < 1e-14);
            }
        }
    }
}
