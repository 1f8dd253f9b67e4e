//! The compensation polynomial that fits one joint: Sulema & Rudenko 2020 fit theirs to one cylinder and one bend (their
//! Fig. 5); this does the same for the falloff and the bend of a joint.

use super::compensation::Polynomial;

/// Number of weights that the fit samples.
const N_SAMPLES: usize = 200;
/// Bends that are fitted, radians: without a bend there is no bulge, and a fold has no bisector.
const ANGLES: std::ops::RangeInclusive<f64> = 0.1..=2.6;
/// Falloffs that are fitted, relative to the radius of the limb.
const FALLOFFS: std::ops::RangeInclusive<f64> = 0.05..=2.0;

/// What the skin of a joint needs, and the polynomial that gives it best.
#[derive(Clone, Debug, PartialEq)]
pub struct PolynomialFit {
    /// The falloff of the second weight along the bone, relative to the radius of the limb.
    pub sigma_over_r: f64,
    /// The bend, radians.
    pub angle: f64,
    /// The fitted polynomial.
    pub polynomial: Polynomial,
    /// (w2, the distance along the bisector to the undeformed outline, relative to radius and angle factor), ascending.
    pub measured: Vec<[f64; 2]>,
    /// The root mean square difference of both, of the same unit.
    pub error: f64,
}

/// The polynomial `c1 x + c2 x^2 + c3 x^3` with `f(1/2) = 0` that brings the outer outline of a bent cylinder of radius 1
/// back to the cylinder, in the sense of least squares over w2 in 0 - 1/2.
///
/// The second weight is the integral of a Gaussian of width `sigma_over_r`, as in the paper; the points follow dual
/// quaternion skinning. Both arguments are brought into the range in which there is a bulge to fit.
pub fn fit_polynomial(sigma_over_r: f64, angle: f64) -> PolynomialFit {
    let sigma_over_r = sigma_over_r.clamp(*FALLOFFS.start(), *FALLOFFS.end());
    let angle = angle.clamp(*ANGLES.start(), *ANGLES.end());
    let (sin, cos) = (0.5 * angle).sin_cos();
    // The factor of the angle in the offset: min(1, 2 sqrt(1 - w)) (Sulema & Rudenko, eq. 13).
    let factor = (2.0 * (1.0 - cos).sqrt()).min(1.0);
    let measured: Vec<[f64; 2]> = (0..N_SAMPLES)
        .map(|i| {
            let w = 0.5 * (i as f64 + 0.5) / N_SAMPLES as f64;
            let x = sigma_over_r * gaussian_quantile(w);
            // Two rotations about one axis through the joint blend to a rotation about it.
            let turn = 2.0 * (w * sin).atan2(1.0 - w + w * cos);
            let at = [x * turn.cos() + turn.sin(), x * turn.sin() - turn.cos()];
            // Along the bisector (cos, sin) to the outline: y = -1 beside the first bone, a circle around the joint.
            let line = (-1.0 - at[1]) / sin;
            let reach = if line >= 0.0 && at[0] + line * cos <= 0.0 {
                line
            } else {
                let along = at[0] * cos + at[1] * sin;
                -along - (along * along - x * x).max(0.0).sqrt()
            };
            [w, reach / factor]
        })
        .collect();
    // c3 = -(4 c1 + 2 c2): f = c1 (x - 4 x^3) + c2 (x^2 - 2 x^3).
    let basis = |x: f64| [x - 4.0 * x.powi(3), x * x - 2.0 * x.powi(3)];
    let (mut aa, mut ab, mut bb, mut ay, mut by) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for &[x, y] in &measured {
        let [a, b] = basis(x);
        aa += a * a;
        ab += a * b;
        bb += b * b;
        ay += a * y;
        by += b * y;
    }
    // The basis is fixed and independent, so this never vanishes.
    let det = aa * bb - ab * ab;
    let (c1, c2) = ((ay * bb - by * ab) / det, (aa * by - ab * ay) / det);
    let error = measured.iter().map(|&[x, y]| {
        let [a, b] = basis(x);
        (c1 * a + c2 * b - y).powi(2)
    });
    PolynomialFit {
        sigma_over_r,
        angle,
        polynomial: Polynomial::Custom {
            c1: c1 as f32,
            c2: c2 as f32,
        },
        error: (error.sum::<f64>() / N_SAMPLES as f64).sqrt(),
        measured,
    }
}

/// Where the integral of a Gaussian of width 1 is `share`, 0 - 1.
fn gaussian_quantile(share: f64) -> f64 {
    let (mut low, mut high) = (-8.0, 8.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if 0.5 * libm::erfc(-middle * std::f64::consts::FRAC_1_SQRT_2) < share {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fit_to_the_papers_cylinder_is_close_to_the_papers() {
        // Sulema & Rudenko: (2.29, -9.14, 9.12) at sigma = 0.63 and 90 degrees.
        let fit = fit_polynomial(0.63, std::f64::consts::FRAC_PI_2);
        let [c1, c2, c3] = fit.polynomial.coefficients();
        for (found, refitted, papers) in [(c1, 2.270, 2.29), (c2, -9.246, -9.14), (c3, 9.410, 9.12)]
        {
            assert!((found - refitted).abs() < 0.02, "{found} {refitted}");
            assert!(
                (found - papers).abs() < 0.04 * papers.abs(),
                "{found} {papers}"
            );
        }
        assert!(fit.error < 0.01, "{}", fit.error);
        // The golden point of the tables: w2 = .2137 needs .150.
        let at = fit.measured.iter().min_by(|a, b| {
            let off = |m: &[f64; 2]| (m[0] - 0.2137).abs();
            off(a).total_cmp(&off(b))
        });
        assert!((at.unwrap()[1] - 0.150).abs() < 2e-3);
    }

    #[test]
    fn a_narrow_falloff_needs_less_and_odd_numbers_are_brought_into_range() {
        let most = |fit: &PolynomialFit| fit.measured.iter().fold(0.0f64, |a, m| a.max(m[1]));
        let (narrow, wide) = (fit_polynomial(0.2, 1.5), fit_polynomial(1.0, 1.5));
        assert!(most(&narrow) < 0.5 * most(&wide));
        for (sigma, angle) in [(0.0, 0.0), (1e9, 10.0)] {
            let fit = fit_polynomial(sigma, angle);
            assert!(fit.polynomial.coefficients().iter().all(|c| c.is_finite()));
        }
    }
}
