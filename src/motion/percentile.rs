//! Percentiles of samples.

/// The value below which a share of the values lies, linear between them (numpy's `percentile`).
pub(super) fn percentile(mut values: Vec<f64>, share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let Some(last) = values.len().checked_sub(1) else {
        return 0.0;
    };
    let at = share * last as f64;
    let (low, high) = (at.floor() as usize, at.ceil() as usize);
    values[low] + (values[high] - values[low]) * (at - low as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_lie_between_their_neighbours() {
        assert_eq!(percentile(vec![4.0, 1.0, 2.0], 0.5), 2.0);
        assert_eq!(percentile(vec![4.0, 1.0], 0.25), 1.75);
        assert_eq!(percentile(Vec::new(), 0.5), 0.0);
    }
}
