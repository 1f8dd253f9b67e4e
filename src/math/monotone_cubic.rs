//! Cubic interpolation that never overshoots: slopes at the samples, and the Hermite piece between two of them.

/// The cubic Hermite piece at `t`, 0 - 1, over an interval of length `width`: values `y` and slopes `m` at its ends.
pub fn hermite(t: f64, width: f64, y: [f64; 2], m: [f64; 2]) -> f64 {
    let (t2, t3) = (t * t, t * t * t);
    // The difference is exact at both ends, and for equal values whatever the rounding of the basis.
    y[0] + (y[1] - y[0]) * (3.0 * t2 - 2.0 * t3)
        + width * (m[0] * (t3 - 2.0 * t2 + t) + m[1] * (t3 - t2))
}

/// The slopes of Fritsch & Carlson 1980 through (`x`, `y`), `x` strictly ascending: the mean of the neighbouring secants,
/// 0 at a top or a bottom, limited so that each piece is monotone (their circle of radius 3).
///
/// One sample has the slope 0.
pub fn fritsch_carlson(x: &[f64], y: &[f64]) -> Vec<f64> {
    let n = x.len();
    let mut slopes = vec![0.0; n];
    if n < 2 {
        return slopes;
    }
    let secant = |i: usize| (y[i + 1] - y[i]) / (x[i + 1] - x[i]);
    slopes[0] = secant(0);
    slopes[n - 1] = secant(n - 2);
    for (i, slope) in slopes.iter_mut().enumerate().take(n - 1).skip(1) {
        let (before, after) = (secant(i - 1), secant(i));
        if before * after > 0.0 {
            *slope = (before + after) * 0.5;
        }
    }
    for i in 0..n - 1 {
        let s = secant(i);
        if s == 0.0 {
            slopes[i] = 0.0;
            slopes[i + 1] = 0.0;
            continue;
        }
        let (a, b) = (slopes[i] / s, slopes[i + 1] / s);
        let length = a.hypot(b);
        if length > 3.0 {
            slopes[i] = 3.0 * a / length * s;
            slopes[i + 1] = 3.0 * b / length * s;
        }
    }
    slopes
}

/// The slopes of PCHIP through (`x`, `y`), `x` strictly ascending: the weighted harmonic mean of the neighbouring secants,
/// 0 at a top or a bottom (Fritsch & Butland 1984), and the limited three-point formula at the ends (Fritsch & Carlson
/// 1980), as SciPy and MATLAB have them.
///
/// One sample has the slope 0.
pub fn pchip(x: &[f64], y: &[f64]) -> Vec<f64> {
    let n = x.len();
    let mut slopes = vec![0.0; n];
    if n < 2 {
        return slopes;
    }
    let width = |i: usize| x[i + 1] - x[i];
    let secant = |i: usize| (y[i + 1] - y[i]) / width(i);
    if n == 2 {
        return vec![secant(0); 2];
    }
    slopes[0] = pchip_end([width(0), width(1)], [secant(0), secant(1)]);
    slopes[n - 1] = pchip_end([width(n - 2), width(n - 3)], [secant(n - 2), secant(n - 3)]);
    for (i, slope) in slopes.iter_mut().enumerate().take(n - 1).skip(1) {
        let (before, after) = (secant(i - 1), secant(i));
        if before * after > 0.0 {
            let (wide_before, wide_after) = (width(i - 1), width(i));
            let w1 = 2.0 * wide_after + wide_before;
            let w2 = wide_after + 2.0 * wide_before;
            *slope = (w1 + w2) / (w1 / before + w2 / after);
        }
    }
    slopes
}

/// The slope at an end: `h` and `s` are the widths and secants of the last interval and of the one before it.
fn pchip_end(h: [f64; 2], s: [f64; 2]) -> f64 {
    let slope = ((2.0 * h[0] + h[1]) * s[0] - h[0] * s[1]) / (h[0] + h[1]);
    if slope * s[0] <= 0.0 {
        0.0
    } else if s[0] * s[1] <= 0.0 && slope.abs() > 3.0 * s[0].abs() {
        3.0 * s[0]
    } else {
        slope
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(x: &[f64], y: &[f64], slopes: &[f64], place: f64) -> f64 {
        let i = x[1..x.len() - 1].partition_point(|x| *x <= place);
        let width = x[i + 1] - x[i];
        hermite(
            (place - x[i]) / width,
            width,
            [y[i], y[i + 1]],
            [slopes[i], slopes[i + 1]],
        )
    }

    /// By hand from the formulas of SciPy's `PchipInterpolator`.
    #[test]
    fn pchip_has_the_slopes_of_the_literature() {
        let x = [0.0, 1.0, 3.0, 4.0];
        let y = [0.0, 2.0, 3.0, 9.0];
        let slopes = pchip(&x, &y);
        // Left end: ((2 + 2) 2 - 1/2) / 3; at 1: 9 / (5 / 2 + 4 / 0.5); at 3: 9 / (4 / 0.5 + 5 / 6); right end:
        // ((2 + 2) 6 - 1/2) / 3.
        let expected = [2.5, 9.0 / 10.5, 9.0 / (8.0 + 5.0 / 6.0), 23.5 / 3.0];
        for (found, expected) in slopes.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-15, "{slopes:?}");
        }
    }

    #[test]
    fn a_top_is_flat_and_one_sample_is_constant() {
        assert_eq!(pchip(&[0.0, 1.0, 2.0], &[0.0, 1.0, 0.0])[1], 0.0);
        assert_eq!(fritsch_carlson(&[0.0, 1.0, 2.0], &[0.0, 1.0, 0.0])[1], 0.0);
        assert_eq!(pchip(&[1.0], &[4.0]), [0.0]);
        assert_eq!(fritsch_carlson(&[1.0], &[4.0]), [0.0]);
        assert_eq!(pchip(&[0.0, 2.0], &[1.0, 2.0]), [0.5, 0.5]);
    }

    proptest::proptest! {
        #[test]
        fn pieces_stay_between_their_ends_and_rise_where_the_samples_rise(
            steps in proptest::collection::vec((0.01f64..3.0, -4.0f64..4.0), 2..12),
        ) {
            let (mut x, mut y) = (vec![0.0], vec![0.0]);
            for (dx, dy) in steps {
                x.push(x[x.len() - 1] + dx);
                y.push(y[y.len() - 1] + dy);
            }
            for slopes in [pchip(&x, &y), fritsch_carlson(&x, &y)] {
                for i in 0..x.len() - 1 {
                    let rises = (y[i + 1] - y[i]).signum();
                    let mut last = y[i];
                    for k in 1..=50 {
                        let place = x[i] + (x[i + 1] - x[i]) * (f64::from(k) / 50.0);
                        let value = at(&x, &y, &slopes, place);
                        proptest::prop_assert!((value - last) * rises >= -1e-12, "{x:?} {y:?} {slopes:?} {place}");
                        last = value;
                    }
                    proptest::prop_assert!((last - y[i + 1]).abs() < 1e-12);
                }
            }
        }
    }
}
