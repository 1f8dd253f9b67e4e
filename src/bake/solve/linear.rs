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
use glam::DVec3;

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
                take_multiple(&mut other[c..], column[c], &column[c..]);
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

/// Takes `factor` times the entries of a vector from others. Four at a time: rows are too short for the loops that the
/// compiler makes of one at a time.
#[inline(always)]
fn take_multiple(entries: &mut [f64], factor: f64, of: &[f64]) {
    let (fours, rest) = entries.as_chunks_mut::<4>();
    let (of_fours, of_rest) = of.as_chunks::<4>();
    for (entries, of) in fours.iter_mut().zip(of_fours) {
        for (x, of) in entries.iter_mut().zip(of) {
            *x -= factor * of;
        }
    }
    for (x, of) in rest.iter_mut().zip(of_rest) {
        *x -= factor * of;
    }
}

/// Adds `factor` times the scalar products of a vector with others, which are given by component. Four at a time, as
/// [`take_multiple`].
#[inline(always)]
pub(crate) fn add_dots(entries: &mut [f64], factor: f64, v: DVec3, [xs, ys, zs]: [&[f64]; 3]) {
    let dot = |x: f64, y: f64, z: f64| factor * (v.x * x + v.y * y + v.z * z);
    let n = entries.len();
    let (fours, rest) = entries.as_chunks_mut::<4>();
    let [(xs, last_xs), (ys, last_ys), (zs, last_zs)] =
        [xs, ys, zs].map(|of_component| of_component[..n].as_chunks::<4>());
    for (entries, ((xs, ys), zs)) in fours.iter_mut().zip(xs.iter().zip(ys).zip(zs)) {
        for (i, entry) in entries.iter_mut().enumerate() {
            *entry += dot(xs[i], ys[i], zs[i]);
        }
    }
    let last = last_xs.iter().zip(last_ys).zip(last_zs);
    for (entry, ((x, y), z)) in rest.iter_mut().zip(last) {
        *entry += dot(*x, *y, *z);
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
    fn products_are_added_to_rows_of_any_length() {
        let component = |i: usize| -> Vec<f64> { (0..11).map(|j| (i * 11 + j) as f64).collect() };
        let components = [component(0), component(1), component(2)];
        let v = DVec3::new(1.0, -2.0, 4.0);
        for n in 0..11 {
            let mut entries = vec![1.0; n];
            let [xs, ys, zs] = &components;
            add_dots(&mut entries, 0.5, v, [xs, ys, zs]);
            for (j, entry) in entries.iter().enumerate() {
                let [x, y, z] = [xs[j], ys[j], zs[j]];
                assert_eq!(*entry, 1.0 + 0.5 * v.dot(DVec3::new(x, y, z)), "{n}");
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
