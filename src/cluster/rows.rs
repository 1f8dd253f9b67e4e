//! Compressed rows: a list of numbers for each index.

/// For each index below n, some numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Rows {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Rows {
    /// The rows of `n` indices from pairs of an index and a number, which keep their order within a row.
    pub(super) fn new(n: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut starts = vec![0; n + 1];
        for (index, _) in pairs.clone() {
            starts[index as usize + 1] += 1;
        }
        for i in 0..n {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut items = vec![0; starts[n] as usize];
        for (index, number) in pairs {
            items[next[index as usize] as usize] = number;
            next[index as usize] += 1;
        }
        Self { starts, items }
    }

    /// The row of `index`.
    pub(super) fn row(&self, index: u32) -> &[u32] {
        &self.items[self.starts[index as usize] as usize..self.starts[index as usize + 1] as usize]
    }

    /// All rows, one after the other.
    pub(super) fn all(&self) -> &[u32] {
        &self.items
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_keep_the_order_of_their_pairs() {
        let rows = Rows::new(3, [(2, 7), (0, 1), (2, 5)].into_iter());
        assert_eq!(
            (rows.row(0), rows.row(1), rows.row(2)),
            (&[1][..], &[][..], &[7, 5][..])
        );
        assert_eq!(rows.all(), [1, 7, 5]);
    }
}
