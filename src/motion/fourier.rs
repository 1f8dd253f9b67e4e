//! The fast Fourier transform (Cooley & Tukey 1965), for correlations.

use std::f64::consts::TAU;

/// A complex number: its real and its imaginary part.
pub(super) type Complex = [f64; 2];

/// The product of two complex numbers.
pub(super) fn times([a, b]: Complex, [c, d]: Complex) -> Complex {
    [a * c - b * d, a * d + b * c]
}

/// Transforms values in place; their number must be a power of two. With `inverse` it is the inverse, divided by their
/// number.
pub(super) fn transform(values: &mut [Complex], inverse: bool) {
    let n = values.len();
    debug_assert!(n.is_power_of_two(), "{n}");
    let mut j = 0;
    for i in 1..n {
        let mut bit = n >> 1;
        while j & bit != 0 {
            j ^= bit;
            bit >>= 1;
        }
        j |= bit;
        if i < j {
            values.swap(i, j);
        }
    }
    let sign = if inverse { 1.0 } else { -1.0 };
    // One table for all lengths: powers of a root that are multiplied up would lose digits.
    let roots: Vec<Complex> = (0..n / 2)
        .map(|k| {
            let angle = sign * TAU * k as f64 / n as f64;
            [angle.cos(), angle.sin()]
        })
        .collect();
    let mut length = 2;
    while length <= n {
        let step = n / length;
        for block in values.chunks_exact_mut(length) {
            let (low, high) = block.split_at_mut(length / 2);
            for (k, (x, y)) in low.iter_mut().zip(high).enumerate() {
                let turned = times(*y, roots[k * step]);
                *y = [x[0] - turned[0], x[1] - turned[1]];
                *x = [x[0] + turned[0], x[1] + turned[1]];
            }
        }
        length *= 2;
    }
    if inverse {
        for value in values {
            *value = value.map(|part| part / n as f64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transform_is_that_of_the_definition_and_is_undone() {
        for n in [1usize, 2, 8, 64] {
            let values: Vec<Complex> = (0..n)
                .map(|i| [(1.3 * i as f64).sin(), (0.7 * i as f64).cos()])
                .collect();
            let mut found = values.clone();
            transform(&mut found, false);
            for (k, known) in found.iter().enumerate() {
                let mut sum = [0.0; 2];
                for (i, value) in values.iter().enumerate() {
                    let angle = -TAU * (i * k) as f64 / n as f64;
                    let part = times(*value, [angle.cos(), angle.sin()]);
                    sum = [sum[0] + part[0], sum[1] + part[1]];
                }
                assert!((sum[0] - known[0]).hypot(sum[1] - known[1]) < 1e-11);
            }
            transform(&mut found, true);
            for (a, b) in found.iter().zip(&values) {
                assert!((a[0] - b[0]).hypot(a[1] - b[1]) < 1e-14);
            }
        }
    }
}
