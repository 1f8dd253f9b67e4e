//! Quadratic programs on the simplex by an active set method.

use super::linear::{add_ridge, solve_in_place};

/// The x on the simplex (x >= 0, sum 1) that minimises `x' g x`, for a symmetric positive semidefinite `g` (n x n).
///
/// The set of free variables grows from the best vertex, as in non-negative least squares (Lawson and Hanson 1974); on
/// that set the solution is `g^-1 1`, normalised.
pub(crate) fn minimise_on_simplex(g: &[f64], n: usize) -> Vec<f64> {
    let mut x = vec![0.0; n];
    let Some(first) = (0..n).min_by(|&i, &j| g[i * n + i].total_cmp(&g[j * n + j])) else {
        return x;
    };
    x[first] = 1.0;
    let mut set = vec![first];
    for _ in 0..4 * n {
        let gradient = |x: &[f64], i: usize| -> f64 { (0..n).map(|j| g[i * n + j] * x[j]).sum() };
        let level: f64 = set.iter().map(|&i| x[i] * gradient(&x, i)).sum();
        let outside = (0..n).filter(|i| !set.contains(i));
        let best = outside
            .map(|i| (gradient(&x, i), i))
            .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let Some((slope, enter)) = best else { break };
        if slope >= level * (1.0 - 1e-9) - 1e-300 {
            break;
        }
        set.push(enter);
        loop {
            let Some(z) = on_set(g, n, &set) else {
                return x;
            };
            if z.iter().all(|&z| z > 0.0) {
                x.fill(0.0);
                for (&i, z) in set.iter().zip(z) {
                    x[i] = z;
                }
                break;
            }
            // Step to the first variable that becomes zero.
            let mut step = 1.0f64;
            for (&i, &z) in set.iter().zip(&z) {
                if z <= 0.0 && x[i] - z > 0.0 {
                    step = step.min(x[i] / (x[i] - z));
                }
            }
            for (&i, &z) in set.iter().zip(&z) {
                x[i] += step * (z - x[i]);
            }
            let before = set.len();
            set.retain(|&i| x[i] > 1e-12);
            if set.len() == before || set.is_empty() {
                return x;
            }
            for (i, x) in x.iter_mut().enumerate() {
                if !set.contains(&i) {
                    *x = 0.0;
                }
            }
        }
    }
    x
}

/// The minimiser of `x' g x` with sum 1 over the variables `set`.
fn on_set(g: &[f64], n: usize, set: &[usize]) -> Option<Vec<f64>> {
    let m = set.len();
    let mut a = vec![0.0; m * m];
    for (r, &i) in set.iter().enumerate() {
        for (c, &j) in set.iter().enumerate() {
            a[r * m + c] = g[i * n + j];
        }
    }
    add_ridge(&mut a, m, 1e-9);
    let mut u = vec![1.0; m];
    if !solve_in_place(&mut a, &mut u) {
        return None;
    }
    let sum: f64 = u.iter().sum();
    (sum > 0.0).then(|| u.into_iter().map(|u| u / sum).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_stay_on_the_simplex() {
        // Products of the offsets from 0.25 of points at 0, 1 and 3 on a line.
        let positions = [-0.25, 0.75, 2.75];
        let g: Vec<f64> = (0..9)
            .map(|i| positions[i / 3] * positions[i % 3])
            .collect();
        let x = minimise_on_simplex(&g, 3);
        assert!((x.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        assert!(x.iter().all(|&x| x >= 0.0));
        let position: f64 = x.iter().zip(positions).map(|(x, p)| x * p).sum();
        assert!(position.abs() < 1e-4, "{x:?}");
        // All offsets on one side: the nearest vertex.
        let g: Vec<f64> = (0..4)
            .map(|i| [1.0, 2.0][i / 2] * [1.0, 2.0][i % 2])
            .collect();
        assert_eq!(minimise_on_simplex(&g, 2), [1.0, 0.0]);
    }
}
