//! The larger of two errors.

/// Errors, of which the larger is the worse, and one that is not a number the worst of all.
///
/// `f64::max` ignores NaN, so a check built on it passes values that no player can show.
pub trait Worse: Copy {
    /// The larger of both; infinite where either is NaN, so that it exceeds every tolerance.
    #[must_use]
    fn worse(self, other: Self) -> Self;
}

macro_rules! worse {
    ($number:ty) => {
        impl Worse for $number {
            #[inline]
            fn worse(self, other: Self) -> Self {
                if self.is_nan() || other.is_nan() {
                    Self::INFINITY
                } else {
                    self.max(other)
                }
            }
        }
    };
}

worse!(f32);
worse!(f64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_that_is_no_number_exceeds_every_tolerance() {
        assert_eq!([1.0, 3.0, 2.0].into_iter().fold(0.0, f64::worse), 3.0);
        for errors in [[f64::NAN, 1.0], [1.0, f64::NAN]] {
            assert_eq!(errors.into_iter().fold(0.0, f64::worse), f64::INFINITY);
        }
        assert_eq!(f32::NAN.worse(0.0), f32::INFINITY);
        assert_eq!(f32::INFINITY.worse(f32::NAN), f32::INFINITY);
    }
}
