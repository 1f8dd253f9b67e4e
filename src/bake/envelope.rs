//! Symmetric systems of blocks, most of them empty: only what lies between the first block of a row and the diagonal is
//! kept, and solved. Always in the same order: the same bits for any number of threads.

use glam::DVec3;

/// Which blocks of a system may hold something.
#[derive(Clone)]
pub(super) struct Envelope {
    block: usize,
    /// Of each block its place in the system.
    rank: Vec<usize>,
    /// By place: the first place that it meets.
    first: Vec<usize>,
}

/// Least squares in the making: the lower half row by row, each from its first block on.
pub(super) struct System<'a> {
    envelope: &'a Envelope,
    /// Where each row begins in `lower`.
    start: Vec<usize>,
    lower: Vec<f64>,
    right: Vec<f64>,
}

impl Envelope {
    /// Blocks of `block` numbers each; those of like `keys` stand next to each other.
    pub(super) fn new(keys: &[u16], block: usize) -> Self {
        let mut order: Vec<usize> = (0..keys.len()).collect();
        order.sort_by_key(|&i| (keys[i], i));
        let mut rank = vec![0; keys.len()];
        for (place, &i) in order.iter().enumerate() {
            rank[i] = place;
        }
        Self {
            block,
            rank,
            first: (0..keys.len()).collect(),
        }
    }

    /// Says that these blocks meet in an equation.
    pub(super) fn join(&mut self, blocks: impl Iterator<Item = usize> + Clone) {
        let ranks = blocks.map(|b| self.rank[b]);
        let Some(least) = ranks.clone().min() else {
            return;
        };
        for rank in ranks {
            self.first[rank] = self.first[rank].min(least);
        }
    }

    /// An empty system.
    pub(super) fn system(&self) -> System<'_> {
        let size = self.rank.len() * self.block;
        let mut start = Vec::with_capacity(size);
        let mut n = 0;
        for row in 0..size {
            start.push(n);
            n += row + 1 - self.first[row / self.block] * self.block;
        }
        System {
            envelope: self,
            start,
            lower: vec![0.0; n],
            right: vec![0.0; size],
        }
    }

    fn first_column(&self, row: usize) -> usize {
        self.first[row / self.block] * self.block
    }
}

impl System<'_> {
    /// Adds three equations: `columns`, by block, times what is looked for is `right`.
    pub(super) fn add<const N: usize>(&mut self, columns: &[(usize, [DVec3; N])], right: DVec3) {
        for (a, of_a) in columns {
            let at = self.envelope.rank[*a];
            for (i, x) in of_a.iter().enumerate() {
                self.right[at * N + i] += x.dot(right);
            }
            for (b, of_b) in columns {
                let to = self.envelope.rank[*b];
                if to > at {
                    continue;
                }
                for (i, x) in of_a.iter().enumerate() {
                    let row = at * N + i;
                    let from = self.start[row] + to * N - self.envelope.first_column(row);
                    let most = if to == at { i + 1 } else { N };
                    let entries = &mut self.lower[from..from + most];
                    for (entry, y) in entries.iter_mut().zip(of_b) {
                        *entry += x.dot(*y);
                    }
                }
            }
        }
    }

    /// Holds number `i` of a block near to `-so_far`, as firmly as `ridge` says.
    pub(super) fn hold(&mut self, block: usize, i: usize, ridge: f64, so_far: f64) {
        let row = self.envelope.rank[block] * self.envelope.block + i;
        let diagonal = self.start[row] + row - self.envelope.first_column(row);
        self.lower[diagonal] += ridge;
        self.right[row] -= ridge * so_far;
    }

    /// What solves it, by block; `None` where it is not positive definite. Source: Cholesky within the envelope, which
    /// stays as it is.
    pub(super) fn solve(mut self) -> Option<Vec<f64>> {
        let size = self.right.len();
        for i in 0..size {
            let first = self.envelope.first_column(i);
            for j in first..=i {
                let from = first.max(self.envelope.first_column(j));
                let (here, there) = (
                    self.start[i] + from - first,
                    self.start[j] + from - self.envelope.first_column(j),
                );
                let n = j - from;
                let (a, b) = (&self.lower[here..here + n], &self.lower[there..there + n]);
                let dot: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
                let at = self.start[i] + j - first;
                let rest = self.lower[at] - dot;
                if i == j {
                    if rest <= 0.0 || !rest.is_finite() {
                        return None;
                    }
                    self.lower[at] = rest.sqrt();
                } else {
                    let diagonal = self.start[j] + j - self.envelope.first_column(j);
                    self.lower[at] = rest / self.lower[diagonal];
                }
            }
        }
        for i in 0..size {
            let first = self.envelope.first_column(i);
            let row = &self.lower[self.start[i]..=self.start[i] + i - first];
            let dot: f64 = row
                .iter()
                .zip(&self.right[first..i])
                .map(|(a, b)| a * b)
                .sum();
            self.right[i] = (self.right[i] - dot) / row[i - first];
        }
        for i in (0..size).rev() {
            let first = self.envelope.first_column(i);
            let row = &self.lower[self.start[i]..=self.start[i] + i - first];
            let x = self.right[i] / row[i - first];
            self.right[i] = x;
            for (right, a) in self.right[first..i].iter_mut().zip(row) {
                *right -= a * x;
            }
        }
        let n = self.envelope.block;
        let blocks = self.envelope.rank.iter();
        let solution: Vec<f64> = blocks
            .flat_map(|&rank| self.right[rank * n..(rank + 1) * n].iter().copied())
            .collect();
        solution.iter().all(|x| x.is_finite()).then_some(solution)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_far_apart_are_solved_too() {
        // Three blocks of one number: 0 meets 2, 1 stands alone.
        let mut envelope = Envelope::new(&[0, 5, 0], 1);
        envelope.join([0, 2].into_iter());
        let mut system = envelope.system();
        let column = |b, x: f64, y: f64, z: f64| (b, [DVec3::new(x, y, z)]);
        system.add(
            &[column(0, 1.0, 0.0, 1.0), column(2, 0.0, 1.0, 1.0)],
            DVec3::new(2.0, -1.0, 1.0),
        );
        system.add(&[column(1, 0.0, 0.0, 4.0)], DVec3::new(9.0, 9.0, 2.0));
        let x = system.solve().unwrap();
        for (x, expected) in x.iter().zip([2.0, 0.5, -1.0]) {
            assert!((x - expected).abs() < 1e-12, "{x}");
        }
    }

    #[test]
    fn what_is_held_stays() {
        let envelope = Envelope::new(&[0], 2);
        let mut system = envelope.system();
        system.hold(0, 0, 4.0, 0.5);
        system.hold(0, 1, 1.0, 0.0);
        assert_eq!(system.solve().unwrap(), [-0.5, 0.0]);
        assert!(envelope.system().solve().is_none());
    }
}
