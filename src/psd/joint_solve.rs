//! Sets on disjoint joints, reconciled.
//!
//! A sample that was taken while another set was off bind holds a displacement on top of the other set's. The
//! displacements e of all samples solve `sum_t w_t(X_s) e_t = d_s` for every sample s; so the weights of the
//! displacements d, as they were captured, are `c(X) = M^-T w(X)` with `M_st = w_t(X_s)`.

use super::PsdError;
use crate::math::dense;

/// Weights of other sets below this at every sample need no solve.
const NEGLIGIBLE: f64 = 1e-12;
/// Above this condition number two samples of different sets cannot be told apart.
const MAX_CONDITION: f64 = 1e12;

/// The solve of several local sets; nothing where no sample was taken while another set was off bind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JointSolve {
    n: usize,
    /// n x n, by rows: M^-T. Empty for the identity.
    inverse_transpose: Vec<f64>,
    condition: f64,
}

impl JointSolve {
    /// The solve of n samples. `weights`: n x n, by rows; in row s the weights of all samples at the pose of sample s.
    /// Those of a sample's own set count as exact: smoothing stays.
    ///
    /// `set_of`: n, the set of each sample. Fails where samples of different sets depend on each other.
    pub fn new(weights: &[f64], set_of: &[usize]) -> Result<Self, PsdError> {
        let n = set_of.len();
        // By columns: that of sample s holds row s of M.
        let mut transposed = weights.to_vec();
        let mut largest: f64 = 0.0;
        for s in 0..n {
            for t in 0..n {
                let entry = &mut transposed[s * n + t];
                if set_of[s] == set_of[t] {
                    *entry = f64::from(u8::from(s == t));
                } else {
                    largest = largest.max(entry.abs());
                }
            }
        }
        if largest < NEGLIGIBLE {
            return Ok(Self {
                n,
                inverse_transpose: Vec::new(),
                condition: 1.0,
            });
        }
        let condition = dense::condition_number(&transposed, n);
        let inverse = dense::inverse(&transposed, n).filter(|_| condition < MAX_CONDITION);
        let inverse = inverse.ok_or(PsdError::Dependent { condition })?;
        let by_rows = (0..n * n).map(|i| inverse[(i % n) * n + i / n]);
        Ok(Self {
            n,
            inverse_transpose: by_rows.collect(),
            condition,
        })
    }

    /// The condition number of M.
    pub fn condition(&self) -> f64 {
        self.condition
    }

    /// n x n, by rows: M^-T, which maps the weights of each set to those of the captured displacements; `None` for the
    /// identity.
    pub fn matrix(&self) -> Option<&[f64]> {
        (!self.inverse_transpose.is_empty()).then_some(&self.inverse_transpose[..])
    }

    /// Replaces the weights of the samples by those of the captured displacements. `scratch`: a buffer.
    pub fn apply(&self, weights: &mut [f64], scratch: &mut Vec<f64>) {
        if self.inverse_transpose.is_empty() {
            return;
        }
        scratch.clear();
        scratch.extend_from_slice(weights);
        let rows = self.inverse_transpose.chunks_exact(self.n);
        for (weight, row) in weights.iter_mut().zip(rows) {
            *weight = row.iter().zip(&*scratch).map(|(m, w)| m * w).sum();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two sets of one sample each; the second was taken with the first at 40 %, the first at bind of the second.
    #[test]
    fn what_was_captured_beside_another_set_is_not_counted_twice() {
        let at_samples = [1.0, 0.0, 0.4, 1.0];
        let solve = JointSolve::new(&at_samples, &[0, 1]).unwrap();
        let mut scratch = Vec::new();
        for (s, expected) in [[1.0, 0.0], [0.0, 1.0]].into_iter().enumerate() {
            let mut weights = at_samples[s * 2..s * 2 + 2].to_vec();
            solve.apply(&mut weights, &mut scratch);
            for (found, expected) in weights.iter().zip(expected) {
                assert!((found - expected).abs() < 4e-16, "{weights:?}");
            }
        }
        let mut at_bind = [0.0; 2];
        solve.apply(&mut at_bind, &mut scratch);
        assert_eq!(at_bind, [0.0; 2]);
    }

    #[test]
    fn two_sets_at_one_pose_are_refused() {
        let error = JointSolve::new(&[1.0, 1.0, 1.0, 1.0], &[0, 1]).unwrap_err();
        assert!(matches!(error, PsdError::Dependent { .. }), "{error}");
        assert!(error.to_string().contains("one set"), "{error}");
    }
}
