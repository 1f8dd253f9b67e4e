//! Weight rows as glTF stores them.

use crate::skinning::{Influences, RowRef, Rows};
use std::collections::BTreeMap;

/// Weights as f32; the largest takes the rounding error of the sum.
pub(super) fn stored_row(row: &[(u16, f64)]) -> Vec<(u16, f32)> {
    let mut stored: Vec<(u16, f32)> = row.iter().map(|&(j, w)| (j, w as f32)).collect();
    let rest = 1.0 - stored.iter().map(|r| f64::from(r.1)).sum::<f64>();
    if let Some(largest) = stored.iter_mut().max_by(|a, b| a.1.total_cmp(&b.1)) {
        largest.1 = (f64::from(largest.1) + rest) as f32;
    }
    stored
}

/// The influences with some rows replaced.
pub(super) fn with_rows(
    influences: &Influences,
    rows: &BTreeMap<u32, Vec<(u16, f32)>>,
) -> Influences {
    if rows.is_empty() {
        return influences.clone();
    }
    let mut all = Rows::with_capacity(influences.len());
    for (point, row) in influences.iter().enumerate() {
        match rows.get(&(point as u32)) {
            Some(row) => all.push_pairs(row.iter().copied()),
            None => all.push(row),
        }
    }
    Influences::from_rows((0..all.len()).map(|i| -> RowRef<'_> { all.row(i) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_weights_sum_to_1() {
        let row = stored_row(&[(0, 1.0 / 3.0), (4, 1.0 / 3.0), (2, 1.0 / 3.0)]);
        let sum: f64 = row.iter().map(|r| f64::from(r.1)).sum();
        assert!((sum - 1.0).abs() < 1e-7);
    }
}
