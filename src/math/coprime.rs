//! Strides that share no divisor with a number.

/// The smallest stride from `least` on that is coprime to `n`: taken modulo `n`, its multiples reach every number below
/// `n`. `least` where there is none, which is for an `n` of 0 only.
pub(crate) fn coprime_stride(least: usize, n: usize) -> usize {
    // One more than a multiple of n is coprime to it.
    (least..=least + n)
        .find(|&stride| gcd(stride, n) == 1)
        .unwrap_or(least)
}

/// The greatest common divisor.
fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiples_of_a_coprime_stride_reach_all() {
        assert_eq!((coprime_stride(6, 9), coprime_stride(4, 1)), (7, 4));
        assert_eq!((coprime_stride(1, 0), coprime_stride(3, 0)), (1, 3));
        for (least, n) in [(1, 7), (6, 12), (30, 30), (13, 210)] {
            let stride = coprime_stride(least, n);
            let mut reached: Vec<usize> = (0..n).map(|i| i * stride % n).collect();
            reached.sort_unstable();
            assert!(reached.into_iter().eq(0..n), "{stride} {n}");
        }
    }
}
