//! The displacements of a sample, in chunks that copies share.

use crate::skinning::{CHUNK, add_displacements};
use glam::Vec3;
use std::sync::Arc;

/// Displacements of some points; the others have none. Memory and time follow the points that it holds.
///
/// In the frame of each point's blended rotation at bind, metres: the shape moves by R d.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Displacements {
    /// `None`: no point of the chunk has one.
    chunks: Vec<Option<Arc<DisplacementChunk>>>,
}

/// The displacements of one chunk of [`CHUNK`] points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DisplacementChunk {
    points: Vec<u16>,
    values: Vec<Vec3>,
}

impl DisplacementChunk {
    /// Its points (counted in the chunk), ascending, each with its displacement.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (usize, Vec3)> + '_ {
        let points = self.points.iter().map(|&p| usize::from(p));
        points.zip(self.values.iter().copied())
    }

    /// The displacements of all points of a chunk, zeros left out.
    pub fn of_array(values: &[Vec3; CHUNK]) -> Self {
        let moved = (0u16..).zip(values).filter(|(_, v)| **v != Vec3::ZERO);
        let (points, values) = moved.unzip();
        Self { points, values }
    }

    /// Adds its displacements times a factor to the sums of the points of the chunk.
    pub fn add_to(&self, sums: &mut [Vec3; CHUNK], factor: f32) {
        add_displacements(sums, &self.points, &self.values, factor);
    }

    /// These with the displacements of some points of the mesh, all in this chunk and ascending, replaced.
    fn with(&self, changed: &[(u32, Vec3)]) -> Self {
        let n = self.points.len() + changed.len();
        let mut made = Self {
            points: Vec::with_capacity(n),
            values: Vec::with_capacity(n),
        };
        let mut push = |point: u16, value: Vec3| {
            if value != Vec3::ZERO {
                made.points.push(point);
                made.values.push(value);
            }
        };
        let mut known = self.points.iter().copied().zip(self.values.iter().copied());
        let mut next = known.next();
        for &(point, value) in changed {
            let point = (point as usize % CHUNK) as u16;
            while let Some((kept, value)) = next.filter(|next| next.0 < point) {
                push(kept, value);
                next = known.next();
            }
            if next.is_some_and(|next| next.0 == point) {
                next = known.next();
            }
            push(point, value);
        }
        for (kept, value) in next.into_iter().chain(known) {
            push(kept, value);
        }
        made
    }
}

impl Displacements {
    /// Displacements of points in any order; of a point that is listed twice the last. Zeros are left out.
    pub fn new(mut moved: Vec<(u32, Vec3)>) -> Self {
        // Stable: the last of equal points stays last.
        moved.sort_by_key(|(point, _)| *point);
        let mut chunks: Vec<Option<Arc<DisplacementChunk>>> = Vec::new();
        for chunk in moved.chunk_by(|a, b| a.0 as usize / CHUNK == b.0 as usize / CHUNK) {
            let mut made = DisplacementChunk::default();
            for (i, &(point, value)) in chunk.iter().enumerate() {
                let is_last = chunk.get(i + 1).is_none_or(|next| next.0 != point);
                if is_last && value != Vec3::ZERO {
                    made.points.push((point as usize % CHUNK) as u16);
                    made.values.push(value);
                }
            }
            if !made.points.is_empty() {
                chunks.resize(chunk[0].0 as usize / CHUNK, None);
                chunks.push(Some(Arc::new(made)));
            }
        }
        Self { chunks }
    }

    /// The displacements of all chunks from the first on.
    pub fn from_chunks(chunks: Vec<DisplacementChunk>) -> Self {
        let chunks = chunks.into_iter();
        let some = |chunk: DisplacementChunk| (!chunk.points.is_empty()).then(|| Arc::new(chunk));
        let mut made = Self {
            chunks: chunks.map(some).collect(),
        };
        while made.chunks.last().is_some_and(Option::is_none) {
            made.chunks.pop();
        }
        made
    }

    /// The displacements of a chunk of points; `None` where none has one.
    pub fn chunk(&self, chunk: usize) -> Option<&Arc<DisplacementChunk>> {
        self.chunks.get(chunk)?.as_ref()
    }

    /// The displacement of a point, if it has one.
    pub fn get(&self, point: u32) -> Option<Vec3> {
        let chunk = self.chunk(point as usize / CHUNK)?;
        let own = (point as usize % CHUNK) as u16;
        let at = chunk.points.binary_search(&own).ok()?;
        Some(chunk.values[at])
    }

    /// The last point with a displacement.
    pub fn last_point(&self) -> Option<u32> {
        let chunk = self.chunks.last()?.as_ref()?;
        let first = (self.chunks.len() - 1) * CHUNK;
        Some(first as u32 + u32::from(*chunk.points.last()?))
    }

    /// The points with the length of each displacement as a fraction of the longest one.
    pub fn marks(&self) -> Vec<(u32, f32)> {
        let longest = self.iter().map(|(_, d)| d.length()).fold(0.0, f32::max);
        let marks = self.iter().map(|(point, d)| (point, d.length() / longest));
        marks.filter(|(_, share)| share.is_finite()).collect()
    }

    /// These with the displacements of some points, in any order, each once, replaced; zeros are left out. Shares the
    /// chunks of all others.
    #[must_use]
    pub fn with(&self, mut changed: Vec<(u32, Vec3)>) -> Self {
        changed.sort_unstable_by_key(|(point, _)| *point);
        let mut made = self.clone();
        for part in changed.chunk_by(|a, b| a.0 as usize / CHUNK == b.0 as usize / CHUNK) {
            let c = part[0].0 as usize / CHUNK;
            let merged = self.chunk(c).map_or_else(
                || DisplacementChunk::default().with(part),
                |known| known.with(part),
            );
            if made.chunks.len() <= c {
                made.chunks.resize(c + 1, None);
            }
            made.chunks[c] = (!merged.points.is_empty()).then(|| Arc::new(merged));
        }
        while made.chunks.last().is_some_and(Option::is_none) {
            made.chunks.pop();
        }
        made
    }

    /// No point of this chunk or of a later one has a displacement.
    pub fn n_chunks(&self) -> usize {
        self.chunks.len()
    }

    /// The points with a displacement, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (u32, Vec3)> + '_ {
        self.chunks.iter().enumerate().flat_map(|(c, chunk)| {
            let moved = chunk.iter().flat_map(|chunk| chunk.iter());
            moved.map(move |(i, value)| ((c * CHUNK + i) as u32, value))
        })
    }

    /// The number of points with a displacement.
    pub fn n_points(&self) -> usize {
        self.chunks.iter().flatten().map(|c| c.points.len()).sum()
    }

    /// Whether no point has one.
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Whether both share all chunks: nothing changed.
    pub fn shares(&self, other: &Self) -> bool {
        let same = |(a, b): (&Option<Arc<_>>, &Option<Arc<_>>)| match (a, b) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (a, b) => a.is_none() && b.is_none(),
        };
        self.chunks.len() == other.chunks.len() && self.chunks.iter().zip(&other.chunks).all(same)
    }

    /// Bytes of the chunks that `other` does not share.
    pub fn bytes_beside(&self, other: Option<&Self>) -> usize {
        let chunks = self.chunks.iter().enumerate();
        let own = chunks.filter_map(|(c, chunk)| {
            let known = other.and_then(|other| other.chunk(c));
            let chunk = chunk.as_ref()?;
            let is_shared = known.is_some_and(|known| Arc::ptr_eq(known, chunk));
            (!is_shared).then_some(chunk)
        });
        own.map(|chunk| chunk.points.len() * (size_of::<u16>() + size_of::<Vec3>()))
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_moved_points_are_held() {
        let v = Vec3::new(0.5, 0.0, -1.0);
        let moved = vec![
            (3000, v),
            (7, Vec3::X),
            (9, Vec3::ZERO),
            (7, v),
            (5000, Vec3::ZERO),
        ];
        let made = Displacements::new(moved);
        assert_eq!(made.iter().collect::<Vec<_>>(), [(7, v), (3000, v)]);
        assert_eq!((made.n_points(), made.n_chunks()), (2, 3));
        assert!(made.chunk(1).is_none() && made.chunk(9).is_none());
        assert_eq!(made.bytes_beside(None), 28);
        assert_eq!(made.bytes_beside(Some(&made.clone())), 0);
        assert!(Displacements::new(Vec::new()).is_empty());
    }

    #[test]
    fn runs_and_scattered_points_add_to_their_sums() {
        for points in [vec![5, 6, 7, 8], vec![0, 6, 1023]] {
            let value = |p: u32| Vec3::new(p as f32, 1.0, -2.0);
            let moved = points.iter().map(|&p| (p, value(p)));
            let made = Displacements::new(moved.collect());
            let mut sums = [Vec3::Y; CHUNK];
            made.chunk(0).unwrap().add_to(&mut sums, 0.5);
            for (point, sum) in (0..).zip(sums) {
                let is_moved = points.contains(&point);
                let added = if is_moved {
                    value(point) * 0.5
                } else {
                    Vec3::ZERO
                };
                assert_eq!(sum, Vec3::Y + added, "{point}");
            }
        }
    }

    #[test]
    fn changed_points_leave_other_chunks_shared() {
        let v = Vec3::new(0.5, 0.0, -1.0);
        let before = Displacements::new(vec![(7, v), (9, Vec3::X), (3000, v)]);
        let after = before.with(vec![(9, Vec3::ZERO), (8, Vec3::Y)]);
        assert_eq!(
            after.iter().collect::<Vec<_>>(),
            [(7, v), (8, Vec3::Y), (3000, v)]
        );
        assert!(Arc::ptr_eq(
            before.chunk(2).unwrap(),
            after.chunk(2).unwrap()
        ));
        assert_eq!((after.get(8), after.get(9)), (Some(Vec3::Y), None));
        assert_eq!((after.last_point(), after.n_chunks()), (Some(3000), 3));
        let none = after.with(vec![(7, Vec3::ZERO), (8, Vec3::ZERO), (3000, Vec3::ZERO)]);
        assert!(none.is_empty());
        assert_eq!(none.last_point(), None);
        let far = none.with(vec![(5000, v)]);
        assert_eq!(far, Displacements::new(vec![(5000, v)]));
    }
}
