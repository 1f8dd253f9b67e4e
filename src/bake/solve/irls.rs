//! Iteratively reweighted least squares (IRLS): weights that lead a least squares fit to a smaller maximum error.

/// Exponent of the error relative to its root mean square. 0 would be plain least squares; from 1 on the iterations
/// oscillate.
const EXPONENT: f64 = 0.7;
/// The factor of an error of 0: exact points keep some weight, so that they stay exact.
const FLOOR: f64 = 0.3;

/// The factor by which an IRLS weight changes; `relative`: the error divided by the root mean square error.
pub(crate) fn factor(relative: f64) -> f64 {
    relative.powf(EXPONENT) + FLOOR
}

/// [`factor`] with the exponent 11/16, which square roots give: for the millions of residuals of a fit.
#[inline]
pub(crate) fn fast_factor(relative: f32) -> f32 {
    let half = relative.sqrt();
    let eighth = half.sqrt().sqrt();
    half * eighth * eighth.sqrt() + FLOOR as f32
}

/// Multiplies each weight by its factor; `false`, and nothing changed, where all errors are 0 or one is not finite.
pub(crate) fn update(weights: &mut [f64], errors: &[f64]) -> bool {
    let square: f64 = errors.iter().map(|e| e * e).sum();
    let rms = (square / errors.len().max(1) as f64).sqrt();
    if !(rms > 0.0 && rms.is_finite()) {
        return false;
    }
    for (weight, e) in weights.iter_mut().zip(errors) {
        *weight *= factor(e / rms);
    }
    true
}

/// Scales the weights to a mean of 1, which leaves ridges their strength.
pub(crate) fn normalise(weights: &mut [f64]) {
    let mean = weights.iter().sum::<f64>() / weights.len().max(1) as f64;
    for weight in weights {
        *weight /= mean;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_give_nearly_the_same_weights() {
        for relative in [0.0f32, 0.01, 0.5, 1.0, 3.0, 20.0] {
            let (exact, fast) = (
                factor(f64::from(relative)),
                f64::from(fast_factor(relative)),
            );
            assert!((exact / fast - 1.0).abs() < 0.04, "{exact} {fast}");
        }
    }

    #[test]
    fn large_errors_gain_weight() {
        let mut weights = vec![1.0; 3];
        assert!(update(&mut weights, &[0.0, 1.0, 2.0]));
        assert!(weights[0] < weights[1] && weights[1] < weights[2]);
        normalise(&mut weights);
        assert!((weights.iter().sum::<f64>() - 3.0).abs() < 1e-12);
        let before = weights.clone();
        for errors in [[0.0; 3], [f64::INFINITY, 1.0, 0.0], [f64::NAN, 1.0, 0.0]] {
            assert!(!update(&mut weights, &errors));
            assert_eq!(weights, before);
        }
    }
}
