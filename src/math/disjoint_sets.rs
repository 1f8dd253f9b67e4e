//! Disjoint sets of indices that are joined two by two (Tarjan 1975, with path halving).

/// Sets of the indices below n.
#[derive(Clone, Debug)]
pub(crate) struct DisjointSets {
    /// n: a lower index of the same set; itself for the lowest.
    parent: Vec<u32>,
}

impl DisjointSets {
    /// Each of `n` indices in a set of its own.
    pub(crate) fn new(n: usize) -> Self {
        Self {
            parent: (0..n as u32).collect(),
        }
    }

    /// Makes the sets of `a` and `b` one.
    pub(crate) fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.lowest(a), self.lowest(b));
        self.parent[a.max(b) as usize] = a.min(b);
    }

    /// The number of sets, and n: the number of each index's set. Sets are numbered by their lowest index, from 0.
    pub(crate) fn numbers(&mut self) -> (usize, Vec<u32>) {
        let mut n_sets = 0;
        let mut numbers = vec![0; self.parent.len()];
        for index in 0..numbers.len() as u32 {
            let lowest = self.lowest(index);
            // The lowest index comes first, so the number of its set is known to all others.
            numbers[index as usize] = if lowest == index {
                n_sets += 1;
                n_sets - 1
            } else {
                numbers[lowest as usize]
            };
        }
        (n_sets as usize, numbers)
    }

    fn lowest(&mut self, mut index: u32) -> u32 {
        while self.parent[index as usize] != index {
            let above = self.parent[self.parent[index as usize] as usize];
            self.parent[index as usize] = above;
            index = above;
        }
        index
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_numbered_by_their_lowest_index() {
        let mut sets = DisjointSets::new(6);
        for (a, b) in [(5, 3), (4, 1), (3, 1), (1, 1)] {
            sets.join(a, b);
        }
        assert_eq!(sets.numbers(), (3, vec![0, 1, 2, 1, 1, 1]));
    }
}
