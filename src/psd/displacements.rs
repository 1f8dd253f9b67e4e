//! The displacements of a sample, in chunks that copies share.

use crate::skinning::CHUNK;
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

    /// The displacements of a chunk of points; `None` where none has one.
    pub fn chunk(&self, chunk: usize) -> Option<&Arc<DisplacementChunk>> {
        self.chunks.get(chunk)?.as_ref()
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
}
