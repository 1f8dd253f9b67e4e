//! Small dense linear algebra in f64, always in the same order: the same bits for any number of threads.

/// Solves `a x = b` for a symmetric positive definite `a` (n x n, only its lower half is read; it is overwritten) and
/// leaves x in `b`; `false` where `a` is not positive definite.
pub(crate) fn solve_in_place(a: &mut [f64], b: &mut [f64]) -> bool {
    let n = b.len();
    for j in 0..n {
        let mut d = a[j * n + j];
        for k in 0..j {
            d -= a[j * n + k] * a[j * n + k];
        }
        if d <= 0.0 || !d.is_finite() {
            return false;
        }
        let d = d.sqrt();
        a[j * n + j] = d;
        for i in j + 1..n {
            let mut s = a[i * n + j];
            for k in 0..j {
                s -= a[i * n + k] * a[j * n + k];
            }
            a[i * n + j] = s / d;
        }
    }
    for i in 0..n {
        let mut s = b[i];
        for k in 0..i {
            s -= a[i * n + k] * b[k];
        }
        b[i] = s / a[i * n + i];
    }
    for i in (0..n).rev() {
        let mut s = b[i];
        for k in i + 1..n {
            s -= a[k * n + i] * b[k];
        }
        b[i] = s / a[i * n + i];
    }
    b.iter().all(|x| x.is_finite())
}

/// Adds `share` of the mean of the diagonal, and a little, to the diagonal.
pub(crate) fn add_ridge(a: &mut [f64], n: usize, share: f64) {
    let trace: f64 = (0..n).map(|i| a[i * n + i]).sum();
    let ridge = share * trace / n.max(1) as f64 + 1e-300;
    for i in 0..n {
        a[i * n + i] += ridge;
    }
}

/// The eigenvectors of a symmetric matrix (n x n), one a row, by falling eigenvalue. Source: Jacobi's cyclic method.
pub(crate) fn eigenvectors(mut a: Vec<f64>, n: usize) -> Vec<Vec<f64>> {
    let mut v = vec![0.0; n * n];
    for i in 0..n {
        v[i * n + i] = 1.0;
    }
    let scale: f64 = a.iter().map(|x| x * x).sum();
    for _ in 0..30 {
        let off: f64 = (0..n)
            .flat_map(|i| (0..i).map(move |j| (i, j)))
            .map(|(i, j)| a[i * n + j] * a[i * n + j])
            .sum();
        if off <= 1e-22 * scale {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                rotate(&mut a, &mut v, n, p, q);
            }
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| a[j * n + j].total_cmp(&a[i * n + i]).then(i.cmp(&j)));
    let rows = order.into_iter();
    rows.map(|i| v[i * n..(i + 1) * n].to_vec()).collect()
}

/// Makes the entry (p, q) of `a` zero by a rotation, which the rows of `v` take part in.
fn rotate(a: &mut [f64], v: &mut [f64], n: usize, p: usize, q: usize) {
    let apq = a[p * n + q];
    if apq == 0.0 {
        return;
    }
    let theta = (a[q * n + q] - a[p * n + p]) / (2.0 * apq);
    let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let t = if theta == 0.0 { 1.0 } else { t };
    if !t.is_finite() {
        return;
    }
    let c = 1.0 / (t * t + 1.0).sqrt();
    let s = t * c;
    for k in 0..n {
        let (x, y) = (a[k * n + p], a[k * n + q]);
        a[k * n + p] = c * x - s * y;
        a[k * n + q] = s * x + c * y;
    }
    for k in 0..n {
        let (x, y) = (a[p * n + k], a[q * n + k]);
        a[p * n + k] = c * x - s * y;
        a[q * n + k] = s * x + c * y;
    }
    for k in 0..n {
        let (x, y) = (v[p * n + k], v[q * n + k]);
        v[p * n + k] = c * x - s * y;
        v[q * n + k] = s * x + c * y;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn systems_are_solved() {
        let mut a = vec![4.0, 0.0, 2.0, 3.0];
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
        let rows = eigenvectors(vec![2.0, 1.0, 0.0, 1.0, 2.0, 0.0, 0.0, 0.0, 5.0], 3);
        assert!((rows[0][2].abs() - 1.0).abs() < 1e-12);
        assert!((rows[1][0] - rows[1][1]).abs() < 1e-12);
        assert!((rows[2][0] + rows[2][1]).abs() < 1e-12);
    }
}
