//! Painted per-point maps: the strength of a stage at each point.

use crate::skinning::influences::CHUNK;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Painted values of one chunk of points.
pub(super) type MaskChunk = Arc<[f32; CHUNK]>;

/// The setting that a painted map multiplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MaskKind {
    /// The share of dual quaternion skinning in [`super::SkinningMethod::Blend`].
    Blend,
    /// The strength of bulge compensation.
    Compensation,
    /// The strength of bulge projection.
    Projection,
    /// The strength of the corrective smooth.
    Smooth,
}

impl MaskKind {
    /// All of them, in the order of the stack.
    pub const ALL: [Self; 4] = [
        Self::Blend,
        Self::Compensation,
        Self::Projection,
        Self::Smooth,
    ];

    /// The value of an unpainted point.
    pub const UNPAINTED: f32 = 1.0;

    /// The largest value of the map; the smallest is 0.
    pub fn limit(self) -> f32 {
        match self {
            Self::Compensation => 2.0,
            Self::Blend | Self::Projection | Self::Smooth => 1.0,
        }
    }

    /// Its name in lists.
    pub fn label(self) -> &'static str {
        match self {
            Self::Blend => "DQS factor",
            Self::Compensation => "Compensation strength",
            Self::Projection => "Projection strength",
            Self::Smooth => "Smoothing strength",
        }
    }
}

/// One value a point, in chunks that copies share; a chunk of unpainted points takes no memory.
#[derive(Clone, Debug, Default)]
pub struct PointMask {
    /// `None`: every value of the chunk is [`MaskKind::UNPAINTED`]. Missing chunks at the end are unpainted too.
    chunks: Vec<Option<Arc<[f32; CHUNK]>>>,
}

/// Compares values; chunks that both share are not read.
impl PartialEq for PointMask {
    fn eq(&self, other: &Self) -> bool {
        let n_chunks = self.chunks.len();
        n_chunks == other.chunks.len()
            && (0..n_chunks).all(|i| match (self.chunk(i), other.chunk(i)) {
                (None, None) => true,
                (Some(a), Some(b)) => Arc::ptr_eq(a, b) || a == b,
                _ => false,
            })
    }
}

impl PointMask {
    /// The value of a point.
    pub fn get(&self, point: u32) -> f32 {
        self.chunk(point as usize / CHUNK)
            .map_or(MaskKind::UNPAINTED, |c| c[point as usize % CHUNK])
    }

    /// The values of a chunk of points; `None` where all are [`MaskKind::UNPAINTED`]. Every change gives it another
    /// identity.
    pub fn chunk(&self, chunk: usize) -> Option<&Arc<[f32; CHUNK]>> {
        self.chunks.get(chunk)?.as_ref()
    }

    /// Whether no point was painted.
    pub fn is_unpainted(&self) -> bool {
        self.chunks.iter().all(Option::is_none)
    }

    /// Exchanges the values of distinct points with `values`, same length. Only their chunks are copied; a chunk whose
    /// points are all unpainted again is freed.
    pub fn swap(&mut self, points: &[u32], values: &mut [f32]) {
        let mut touched = BTreeSet::new();
        let mut previous = usize::MAX;
        for (&point, value) in points.iter().zip(values) {
            let chunk = point as usize / CHUNK;
            if chunk >= self.chunks.len() {
                self.chunks.resize(chunk + 1, None);
            }
            let values =
                self.chunks[chunk].get_or_insert_with(|| Arc::new([MaskKind::UNPAINTED; CHUNK]));
            std::mem::swap(&mut Arc::make_mut(values)[point as usize % CHUNK], value);
            // Points mostly come in order.
            if chunk != previous {
                touched.insert(chunk);
                previous = chunk;
            }
        }
        for chunk in touched {
            let unpainted = |v: &f32| v.to_bits() == MaskKind::UNPAINTED.to_bits();
            if self.chunks[chunk]
                .as_ref()
                .is_some_and(|c| c.iter().all(unpainted))
            {
                self.chunks[chunk] = None;
            }
        }
        while self.chunks.last().is_some_and(Option::is_none) {
            self.chunks.pop();
        }
    }

    /// The points whose value is not [`MaskKind::UNPAINTED`], ascending, each with its value.
    pub fn painted(&self) -> impl Iterator<Item = (u32, f32)> + '_ {
        self.chunks.iter().enumerate().flat_map(|(c, chunk)| {
            let values = chunk.iter().flat_map(|values| values.iter().enumerate());
            values
                .filter(|(_, v)| v.to_bits() != MaskKind::UNPAINTED.to_bits())
                .map(move |(i, &v)| ((c * CHUNK + i) as u32, v))
        })
    }
}

/// The painted maps of a mesh.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Masks {
    maps: BTreeMap<MaskKind, PointMask>,
}

impl Masks {
    /// A map; `None` while nothing is painted on it.
    pub fn get(&self, kind: MaskKind) -> Option<&PointMask> {
        self.maps.get(&kind)
    }

    /// The value of a point.
    pub fn value(&self, kind: MaskKind, point: u32) -> f32 {
        self.get(kind).map_or(MaskKind::UNPAINTED, |m| m.get(point))
    }

    /// The values of a chunk of points; `None` where all are [`MaskKind::UNPAINTED`].
    pub fn chunk(&self, kind: MaskKind, chunk: usize) -> Option<&Arc<[f32; CHUNK]>> {
        self.get(kind)?.chunk(chunk)
    }

    /// As [`PointMask::swap`].
    pub fn swap(&mut self, kind: MaskKind, points: &[u32], values: &mut [f32]) {
        let map = self.maps.entry(kind).or_default();
        map.swap(points, values);
        if map.is_unpainted() {
            self.maps.remove(&kind);
        }
    }

    /// The maps on which something is painted.
    pub fn iter(&self) -> impl Iterator<Item = (MaskKind, &PointMask)> {
        self.maps.iter().map(|(&kind, map)| (kind, map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swapping_twice_restores_and_frees() {
        let mut masks = Masks::default();
        let points = [3, 2000];
        let mut values = [0.25, 0.5];
        masks.swap(MaskKind::Smooth, &points, &mut values);
        assert_eq!(values, [1.0, 1.0]);
        let map = masks.get(MaskKind::Smooth).unwrap();
        assert_eq!(map.painted().collect::<Vec<_>>(), [(3, 0.25), (2000, 0.5)]);
        assert!(map.chunk(0).is_some() && map.chunk(2).is_none());
        masks.swap(MaskKind::Smooth, &points, &mut values);
        assert_eq!(masks, Masks::default());
        assert_eq!(masks.value(MaskKind::Smooth, 2000), 1.0);
    }
}
