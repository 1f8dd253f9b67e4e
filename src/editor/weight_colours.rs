//! What the colours of weights stand for, and their values at the points.
//!
//! Data flow: [`WeightView`] is what the artist wants to see -> a [`Heat`] a mesh -> an edit names the chunks
//! that it touched, which are read again and noted in [`Heat::changes`], so that the renderer uploads no more than them.
//!
//! Invariant: a heat that was updated chunk by chunk equals a fresh one.

use crate::deform::MaskKind;
use crate::document::{LayerId, MaskOf, MeshItem};
use crate::skinning::influences::CHUNK;
use crate::skinning::{RowRef, Rows};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What the colours of weights show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum WeightView {
    /// What is painted: the weights of the active bone, or a map of the stack.
    #[default]
    Painted,
    /// The colours of all bones, mixed by their weights.
    Bones,
    /// How many bones move a point.
    Count,
    /// What the weights of a point add up to.
    Sum,
}

impl WeightView {
    /// Every view, in the order of menus.
    pub const ALL: [Self; 4] = [Self::Painted, Self::Bones, Self::Count, Self::Sum];

    /// Its name.
    pub fn label(self) -> &'static str {
        match self {
            Self::Painted => "Active bone",
            Self::Bones => "All bones",
            Self::Count => "Influences",
            Self::Sum => "Sums",
        }
    }
}

/// What the colours on a mesh stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HeatOf {
    /// The weights of a bone, by its index in the influences of the mesh.
    Weights(u16),
    /// A painted map.
    Mask(MaskKind),
    /// The mask of a layer of weights.
    LayerMask(LayerId),
    /// All bones by their colours.
    Bones,
    /// The number of influences.
    Count,
    /// The sum of the weights.
    Sum,
}

impl HeatOf {
    /// The map, where it is one.
    pub fn map(self) -> Option<MaskOf> {
        match self {
            Self::Mask(kind) => Some(kind.into()),
            Self::LayerMask(layer) => Some(layer.into()),
            _ => None,
        }
    }
}

impl From<MaskOf> for HeatOf {
    fn from(map: MaskOf) -> Self {
        match map {
            MaskOf::Stack(kind) => Self::Mask(kind),
            MaskOf::Layer(layer) => Self::LayerMask(layer),
        }
    }
}

/// Which chunks of points changed on the way to which generation.
pub type HeatChange = (u64, Arc<[u32]>);

/// Changes that are kept: the renderer draws more often than it misses this many.
pub(super) const MOST_CHANGES: usize = 32;

/// What bones look like.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Ink {
    /// n_skin_joints: whose weights are locked; empty where none is, or where that is not shown.
    pub(super) locked: Vec<bool>,
    /// n_skin_joints: squares of sRGB values, 0 - 1, nearly linear; empty unless bones are shown by their colours.
    pub(super) colours: Vec<[f32; 3]>,
}

impl Ink {
    /// A colour as it is mixed.
    pub(super) fn mixable(srgb: [u8; 3]) -> [f32; 3] {
        srgb.map(|c| (f32::from(c) / 255.0).powi(2))
    }

    /// Whether points have tints.
    fn tints(&self) -> bool {
        !self.colours.is_empty() || self.locked.contains(&true)
    }

    /// Mixed colour and locked share of a point.
    fn tint(&self, row: RowRef<'_>) -> [u8; 4] {
        let (mut mix, mut sum, mut locked) = ([0.0f32; 3], 0.0f32, 0.0f32);
        for (joint, weight) in row.iter() {
            if weight <= 0.0 {
                continue;
            }
            let joint = usize::from(joint);
            sum += weight;
            if self.locked.get(joint).copied().unwrap_or(false) {
                locked += weight;
            }
            if let Some(colour) = self.colours.get(joint) {
                for (mixed, c) in mix.iter_mut().zip(colour) {
                    *mixed += c * weight;
                }
            }
        }
        if sum <= 0.0 {
            return [0; 4];
        }
        let byte = |x: f32| (x.clamp(0.0, 1.0) * 255.0).round() as u8;
        let [r, g, b] = mix.map(|c| byte((c / sum).sqrt()));
        // A trace of a locked bone is locked all the same.
        let share = byte(locked / sum).max(u8::from(locked > 0.0));
        [r, g, b, share]
    }
}

/// What colours show at every point of a mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct Heat {
    /// What it shows.
    pub of: HeatOf,
    /// n_points, 0 - 1, or [`Heat::plain`] where there is nothing to show. A weight as it is; of a map the part of its
    /// largest value; of bones 1; the number of influences over [`Heat::MOST_COUNTED`]; half the sum.
    pub values: Arc<Vec<f32>>,
    /// n_points: the mixed colours of bones, sRGB, and the share of the weights that is locked, 255 for all of it. Empty
    /// where neither has anything to say.
    pub tints: Arc<Vec<[u8; 4]>>,
    /// How many points the bone moves, or were painted.
    pub n_marked: usize,
    /// Grows whenever a value changes.
    pub generation: u64,
    /// What changed last, by generation, without gaps; what is not in it changed everything.
    pub changes: Arc<Vec<HeatChange>>,
    ink: Ink,
}

impl Heat {
    /// More influences are shown as this many.
    pub const MOST_COUNTED: f32 = 16.0;

    /// What `of` says at the points of `item`.
    pub(super) fn new(item: &MeshItem, of: HeatOf, ink: Ink, generation: u64) -> Self {
        let n_points = item.influences.len();
        let plain = plain(of);
        let mut values = vec![plain; n_points];
        let chunks = item.influences.chunks();
        let n_marked = values
            .par_chunks_mut(CHUNK)
            .zip(chunks)
            .enumerate()
            .map(|(chunk, (values, rows))| read_values(of, item, chunk, rows, values))
            .sum();
        let mut tints = Vec::new();
        if ink.tints() {
            tints.resize(n_points, [0; 4]);
            tints
                .par_chunks_mut(CHUNK)
                .zip(chunks)
                .for_each(|(tints, rows)| read_tints(&ink, rows, tints));
        }
        Self {
            of,
            values: Arc::new(values),
            tints: Arc::new(tints),
            n_marked,
            generation: generation + 1,
            changes: Arc::default(),
            ink,
        }
    }

    /// The value that is hatched, because it says nothing: no influence, or never painted.
    pub fn plain(&self) -> f32 {
        plain(self.of)
    }

    /// Whether the weights of points decide what it shows.
    pub(super) fn reads_influences(&self) -> bool {
        self.of.map().is_none()
    }

    /// Reads some chunks of points again.
    pub(super) fn update(&mut self, item: &MeshItem, chunks: impl Iterator<Item = u32>) {
        self.generation += 1;
        let plain = self.plain();
        let values = Arc::make_mut(&mut self.values);
        let tints = Arc::make_mut(&mut self.tints);
        let mut read = Vec::new();
        for chunk in chunks {
            let Some(rows) = item.influences.chunks().get(chunk as usize) else {
                continue;
            };
            read.push(chunk);
            let first = chunk as usize * CHUNK;
            let slots = &mut values[first..first + rows.len()];
            self.n_marked -= slots.iter().filter(|v| **v != plain).count();
            self.n_marked += read_values(self.of, item, chunk as usize, rows, slots);
            if !tints.is_empty() {
                read_tints(&self.ink, rows, &mut tints[first..first + rows.len()]);
            }
        }
        let changes = Arc::make_mut(&mut self.changes);
        if changes.len() == MOST_CHANGES {
            changes.remove(0);
        }
        changes.push((self.generation, read.into()));
    }
}

/// The value that says nothing.
fn plain(of: HeatOf) -> f32 {
    match of {
        HeatOf::Mask(kind) => MaskKind::UNPAINTED / kind.limit(),
        HeatOf::LayerMask(_) => MaskKind::UNPAINTED,
        HeatOf::Weights(_) | HeatOf::Bones | HeatOf::Count | HeatOf::Sum => -1.0,
    }
}

/// Writes the values of a chunk; how many say something.
fn read_values(
    of: HeatOf,
    item: &MeshItem,
    chunk: usize,
    rows: &Rows,
    values: &mut [f32],
) -> usize {
    let plain = plain(of);
    let value = |row: RowRef<'_>| match of {
        HeatOf::Weights(joint) => {
            let weight = row.weight_of(joint);
            if weight > 0.0 { weight } else { plain }
        }
        HeatOf::Bones if row.weights.iter().any(|w| *w > 0.0) => 1.0,
        HeatOf::Count => match row.weights.iter().filter(|w| **w > 0.0).count() {
            0 => plain,
            n => (n as f32 / Heat::MOST_COUNTED).min(1.0),
        },
        HeatOf::Sum if row.weights.iter().any(|w| *w > 0.0) => {
            (row.weights.iter().sum::<f32>() * 0.5).min(1.0)
        }
        HeatOf::Bones | HeatOf::Sum | HeatOf::Mask(_) | HeatOf::LayerMask(_) => plain,
    };
    if let Some(map) = of.map() {
        let painted = map.chunk(item, chunk);
        for (i, slot) in values.iter_mut().enumerate() {
            *slot = painted.map_or(plain, |c| c[i] / map.limit());
        }
    } else {
        for (slot, row) in values.iter_mut().zip(rows.iter()) {
            *slot = value(row);
        }
    }
    values.iter().filter(|v| **v != plain).count()
}

fn read_tints(ink: &Ink, rows: &Rows, tints: &mut [[u8; 4]]) {
    for (slot, row) in tints.iter_mut().zip(rows.iter()) {
        *slot = ink.tint(row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_shares_of_two_bones_have_the_colour_between_and_locks_their_share() {
        let ink = Ink {
            locked: vec![false, true],
            colours: [[255, 0, 0], [0, 0, 255]].map(Ink::mixable).to_vec(),
        };
        let tint = |pairs: &[(u16, f32)]| {
            let rows: Rows = [pairs.to_vec()].into_iter().collect();
            ink.tint(rows.row(0))
        };
        assert_eq!(tint(&[(0, 0.5)]), [255, 0, 0, 0]);
        assert_eq!(tint(&[(0, 0.5), (1, 0.5)]), [180, 0, 180, 128]);
        assert_eq!(tint(&[(0, 1.0), (1, 1e-4)])[3], 1, "a trace is seen");
        assert_eq!(tint(&[(1, 0.0)]), [0; 4]);
    }
}
