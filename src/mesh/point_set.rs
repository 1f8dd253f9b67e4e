//! A set of points of a mesh: one bit each.

use std::ops::Range;

/// Points of a mesh, one bit each: 125 kB for a million. Session data shares it behind an `Arc`, so that undo steps and
/// snapshots cost a pointer.
///
/// Invariant: the last word is not 0, so that equal sets compare equal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PointSet {
    words: Vec<u64>,
}

impl PointSet {
    /// All points below `n_points`.
    pub fn full(n_points: usize) -> Self {
        let mut words = vec![u64::MAX; n_points.div_ceil(64)];
        if let (Some(last), rest @ 1..) = (words.last_mut(), n_points % 64) {
            *last = (1 << rest) - 1;
        }
        Self { words }
    }

    /// The set whose point p is bit p % 64 of word p / 64.
    pub fn from_words(words: Vec<u64>) -> Self {
        let mut set = Self { words };
        set.trim();
        set
    }

    /// The bits, 64 points a word; points beyond the end are not in the set.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Word `index`, 0 beyond the end.
    pub fn word(&self, index: usize) -> u64 {
        self.words.get(index).copied().unwrap_or(0)
    }

    /// Whether `point` was not yet in the set.
    pub fn insert(&mut self, point: u32) -> bool {
        let (word, bit) = place(point);
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        let new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        new
    }

    /// Whether `point` was in the set.
    pub fn remove(&mut self, point: u32) -> bool {
        let (word, bit) = place(point);
        let Some(slot) = self.words.get_mut(word).filter(|w| **w & bit != 0) else {
            return false;
        };
        *slot &= !bit;
        self.trim();
        true
    }

    /// Whether `point` is in the set.
    pub fn contains(&self, point: u32) -> bool {
        let (word, bit) = place(point);
        self.word(word) & bit != 0
    }

    /// Adds all points of `other`.
    pub fn union(&mut self, other: &Self) {
        if self.words.len() < other.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        for (word, theirs) in self.words.iter_mut().zip(&other.words) {
            *word |= theirs;
        }
    }

    /// Removes all points of `other`.
    pub fn subtract(&mut self, other: &Self) {
        for (word, theirs) in self.words.iter_mut().zip(&other.words) {
            *word &= !theirs;
        }
        self.trim();
    }

    /// Removes points that are not in `other`.
    pub fn intersect(&mut self, other: &Self) {
        self.words.truncate(other.words.len());
        for (word, theirs) in self.words.iter_mut().zip(&other.words) {
            *word &= theirs;
        }
        self.trim();
    }

    /// The points below `n_points` that are not in the set.
    pub fn invert(&mut self, n_points: usize) {
        let mut inverse = Self::full(n_points);
        inverse.subtract(self);
        *self = inverse;
    }

    /// Whether the sets intersect.
    pub fn intersects(&self, other: &Self) -> bool {
        self.words.iter().zip(&other.words).any(|(a, b)| a & b != 0)
    }

    /// Number of points in the set.
    pub fn count(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The points, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.words.iter().enumerate().flat_map(|(i, &word)| {
            let rest = std::iter::successors(Some(word), |w| Some(w & w.wrapping_sub(1)));
            rest.take_while(|&w| w != 0)
                .map(move |w| (i * 64) as u32 + w.trailing_zeros())
        })
    }

    /// Runs of neighbouring points, ascending.
    pub fn runs(&self) -> Vec<Range<u32>> {
        let mut runs: Vec<Range<u32>> = Vec::new();
        for point in self.iter() {
            match runs.last_mut() {
                Some(run) if run.end == point => run.end += 1,
                _ => runs.push(point..point + 1),
            }
        }
        runs
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.words.capacity() * 8
    }

    fn trim(&mut self) {
        let n = self
            .words
            .iter()
            .rposition(|&w| w != 0)
            .map_or(0, |i| i + 1);
        self.words.truncate(n);
    }
}

impl FromIterator<u32> for PointSet {
    fn from_iter<T: IntoIterator<Item = u32>>(iter: T) -> Self {
        let mut set = Self::default();
        for point in iter {
            set.insert(point);
        }
        set
    }
}

fn place(point: u32) -> (usize, u64) {
    (point as usize / 64, 1 << (point % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(points: &[u32]) -> PointSet {
        points.iter().copied().collect()
    }

    #[test]
    fn sets_that_hold_the_same_points_are_equal_however_they_came_about() {
        let mut a = set(&[3, 200]);
        assert!(a.remove(200) && !a.remove(200));
        assert_eq!(a, set(&[3]));
        a.subtract(&set(&[3, 999]));
        assert!(a.is_empty());
        assert_eq!(PointSet::full(64).count(), 64);
        assert_eq!(PointSet::full(0), PointSet::default());
        assert_eq!(PointSet::from_words(vec![8, 0, 0]), set(&[3]));
    }

    #[test]
    fn the_inverse_ends_with_the_mesh() {
        let mut a = set(&[0, 64, 500]);
        a.invert(66);
        assert_eq!(
            (a.count(), a.contains(65), a.contains(66)),
            (64, true, false)
        );
        a.invert(66);
        assert_eq!(a, set(&[0, 64]));
    }

    #[test]
    fn runs_join_neighbours_across_words() {
        let a = set(&[1, 62, 63, 64, 65, 200]);
        assert_eq!(a.runs(), [1..2, 62..66, 200..201]);
        assert_eq!(a.iter().collect::<Vec<_>>(), [1, 62, 63, 64, 65, 200]);
    }
}
