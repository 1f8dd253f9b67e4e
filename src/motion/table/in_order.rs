//! Rows in the order of their times.

use crate::motion::Note;

/// The rows of a table in the order of time.
pub(super) struct InOrder {
    /// Strictly ascending.
    pub(super) times: Vec<f64>,
    /// Which rows to keep, in order; `None` for all of them as they are.
    rows: Option<Vec<u32>>,
}

impl InOrder {
    /// Sorts rows with these times, all finite, and keeps the last of equal ones. `lines` are those of the file. What it
    /// changes becomes a note each.
    pub(super) fn new(times: Vec<f64>, lines: &[u32], notes: &mut Vec<Note>) -> Self {
        let goes_on = |w: &[f64]| w[0] < w[1];
        if times.windows(2).all(goes_on) {
            return Self { times, rows: None };
        }
        let mut note = |line: u32, text: String| {
            notes.push(Note {
                line: line as usize,
                text,
            });
        };
        let back: Vec<usize> = (1..times.len())
            .filter(|&i| times[i] < times[i - 1])
            .collect();
        if let Some(&first) = back.first() {
            let by = times[first - 1] - times[first];
            let text = match back.len() {
                1 => format!(
                    "The time goes back by {} s; the rows were sorted.",
                    round(by)
                ),
                n => format!(
                    "The time goes back by {} s, and in {} more rows; the rows were sorted.",
                    round(by),
                    n - 1
                ),
            };
            note(lines[first], text);
        }
        let mut rows: Vec<u32> = (0..times.len() as u32).collect();
        rows.sort_by(|a, b| times[*a as usize].total_cmp(&times[*b as usize]));
        let n_rows = rows.len();
        let mut kept: Vec<u32> = Vec::with_capacity(n_rows);
        let mut first = None;
        for row in rows {
            match kept.last_mut() {
                Some(last) if times[*last as usize] == times[row as usize] => {
                    first = first.or(Some(row));
                    *last = row;
                }
                _ => kept.push(row),
            }
        }
        if let Some(row) = first {
            let text = match n_rows - kept.len() {
                1 => format!(
                    "Two rows have the time {} s; the last one is kept.",
                    times[row as usize]
                ),
                n => format!(
                    "{n} rows repeat a time, the first of them {} s; the last row of each time is kept.",
                    times[row as usize]
                ),
            };
            note(lines[row as usize], text);
        }
        Self {
            times: kept.iter().map(|&row| times[row as usize]).collect(),
            rows: Some(kept),
        }
    }

    /// The values of a column in this order.
    pub(super) fn apply<T: Copy>(&self, values: Vec<T>) -> Vec<T> {
        match &self.rows {
            None => values,
            Some(rows) => rows.iter().map(|&row| values[row as usize]).collect(),
        }
    }
}

/// Nine digits: the difference of two decimals, without its rounding.
fn round(seconds: f64) -> f64 {
    (seconds * 1e9).round() / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_and_the_last_of_equal_ones_stays() {
        let mut notes = Vec::new();
        let order = InOrder::new(vec![0.0, 0.2, 0.1, 0.2, 0.3], &[2, 3, 4, 5, 6], &mut notes);
        assert_eq!(order.times, [0.0, 0.1, 0.2, 0.3]);
        assert_eq!(
            order.apply(vec!['a', 'b', 'c', 'd', 'e']),
            ['a', 'c', 'd', 'e']
        );
        let notes: Vec<_> = notes.iter().map(|n| (n.line, n.text.as_str())).collect();
        assert_eq!(
            notes,
            [
                (4, "The time goes back by 0.1 s; the rows were sorted."),
                (5, "Two rows have the time 0.2 s; the last one is kept."),
            ]
        );
        let mut none = Vec::new();
        let order = InOrder::new(vec![0.0, 1.0], &[2, 3], &mut none);
        assert_eq!((order.apply(vec![7, 8]), none.len()), (vec![7, 8], 0));
    }
}
