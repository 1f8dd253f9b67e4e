//! The maximum of distances that treats NaN as failure.

/// The larger of two distances; infinite where one is not a number.
pub(super) fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        f64::INFINITY
    } else {
        a.max(b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_a_number_is_infinite() {
        assert_eq!(larger(1.0, 2.0), 2.0);
        assert_eq!(larger(f64::NAN, 2.0), f64::INFINITY);
        assert_eq!(larger(2.0, f64::NAN), f64::INFINITY);
    }
}
