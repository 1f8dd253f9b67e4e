//! A step without a jump in velocity or acceleration.

/// `6 x^5 - 15 x^4 + 10 x^3` of x clamped to 0 - 1: exactly 0 below and 1 above, first and second derivative 0 at both
/// ends (Perlin 2002). NaN gives NaN.
pub fn smootherstep(x: f64) -> f64 {
    let x = x.clamp(0.0, 1.0);
    x * x * x * (x * (6.0 * x - 15.0) + 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_step_has_its_values_and_stays_within_0_and_1() {
        for (x, expected) in [(-1.0, 0.0), (0.0, 0.0), (0.5, 0.5), (1.0, 1.0), (9.0, 1.0)] {
            assert_eq!(smootherstep(x), expected);
        }
        // 6/1024 - 15/256 + 10/64.
        assert_eq!(smootherstep(0.25), 0.103515625);
        assert!(smootherstep(f64::NAN).is_nan());
    }
}
