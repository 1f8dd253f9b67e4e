//! The weight colours: what they show, and their values per point.
//!
//! Data flow: [`WeightView`], chosen by the artist -> a [`Heat`] per mesh -> an edit names the chunks that it changed,
//! which are recomputed and recorded in [`Heat::changes`], so that the renderer uploads only them.
//!
//! Invariant: a heat updated chunk by chunk equals a newly built one.

use crate::deform::MaskKind;
use crate::document::{LayerId, MaskOf, MeshItem};
use crate::skinning::influences::CHUNK;
use crate::skinning::{RowRef, Rows};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What the weight colours show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum WeightView {
    /// The paint target: the weights of the active bone, or a map of the stack.
    #[default]
    Painted,
    /// The colours of all bones, mixed by their weights.
    Bones,
    /// The number of influences per point.
    Count,
    /// The sum of weights per point.
    Sum,
}

impl WeightView {
    /// Every view, in menu order.
    pub const ALL: [Self; 4] = [Self::Painted, Self::Bones, Self::Count, Self::Sum];

    /// The label.
    pub fn label(self) -> &'static str {
        match self {
            Self::Painted => "Active bone",
            Self::Bones => "All bones",
            Self::Count => "Influences",
            Self::Sum => "Sums",
        }
    }
}

/// What the colours of a mesh show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HeatOf {
    /// The weights of a bone, by its index in the mesh's influences.
    Weights(u16),
    /// A painted map.
    Mask(MaskKind),
    /// The mask of a layer of weights.
    LayerMask(LayerId),
    /// The colours of all bones.
    Bones,
    /// The number of influences.
    Count,
    /// The sum of the weights.
    Sum,
}

impl HeatOf {
    /// The map, if it shows one.
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

/// A generation and the chunks of points that changed with it.
pub type HeatChange = (u64, Arc<[u32]>);

/// The number of changes kept: more than the renderer misses between two frames.
pub(super) const MAX_CHANGES: usize = 32;

/// The appearance of bones.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct BoneAppearance {
    /// n_skin_joints: whether the weights are locked; empty if none are, or if locks are not shown.
    pub(super) locked: Vec<bool>,
    /// n_skin_joints: squared sRGB values, 0 - 1, which approximate linear colour; empty unless bones are shown by
    /// colour.
    pub(super) colours: Vec<[f32; 3]>,
}

impl BoneAppearance {
    /// A colour in the space for mixing.
    pub(super) fn mixable(srgb: [u8; 3]) -> [f32; 3] {
        srgb.map(|c| (f32::from(c) / 255.0).powi(2))
    }

    /// Whether points have tints.
    fn tints(&self) -> bool {
        !self.colours.is_empty() || self.locked.contains(&true)
    }

    /// The mixed colour and the locked fraction of a point.
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
        // Even a tiny weight of a locked bone is shown as locked.
        let share = byte(locked / sum).max(u8::from(locked > 0.0));
        [r, g, b, share]
    }
}

/// The weight colours of a mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct Heat {
    /// What it shows.
    pub of: HeatOf,
    /// n_points, 0 - 1, or [`Heat::plain`] without a value. A weight is stored as it is, a map relative to its maximum,
    /// bones as 1, the number of influences divided by [`Heat::MAX_COUNTED`], the sum halved.
    pub values: Arc<Vec<f32>>,
    /// n_points: the mixed bone colours, sRGB, and the locked fraction of the weights, 255 for all of it. Empty if
    /// neither applies.
    pub tints: Arc<Vec<[u8; 4]>>,
    /// The number of points that the bone influences, or that are painted.
    pub n_marked: usize,
    /// Increases whenever a value changes.
    pub generation: u64,
    /// The latest changes, by consecutive generation; an older generation means that everything changed.
    pub changes: Arc<Vec<HeatChange>>,
    appearance: BoneAppearance,
}

impl Heat {
    /// The largest number of influences that the colours distinguish.
    pub const MAX_COUNTED: f32 = 16.0;

    /// The weight colours `of` for the points of `item`.
    pub(super) fn new(
        item: &MeshItem,
        of: HeatOf,
        appearance: BoneAppearance,
        generation: u64,
    ) -> Self {
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
        if appearance.tints() {
            tints.resize(n_points, [0; 4]);
            tints
                .par_chunks_mut(CHUNK)
                .zip(chunks)
                .for_each(|(tints, rows)| read_tints(&appearance, rows, tints));
        }
        Self {
            of,
            values: Arc::new(values),
            tints: Arc::new(tints),
            n_marked,
            generation: generation + 1,
            changes: Arc::default(),
            appearance,
        }
    }

    /// The value that is hatched because there is none: no influence, or never painted.
    pub fn plain(&self) -> f32 {
        plain(self.of)
    }

    /// Whether it depends on the weights of points.
    pub(super) fn reads_influences(&self) -> bool {
        self.of.map().is_none()
    }

    /// Recomputes the given chunks of points.
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
                read_tints(
                    &self.appearance,
                    rows,
                    &mut tints[first..first + rows.len()],
                );
            }
        }
        let changes = Arc::make_mut(&mut self.changes);
        if changes.len() == MAX_CHANGES {
            changes.remove(0);
        }
        changes.push((self.generation, read.into()));
    }
}

/// The value for points without one.
fn plain(of: HeatOf) -> f32 {
    match of {
        HeatOf::Mask(kind) => MaskKind::UNPAINTED / kind.limit(),
        HeatOf::LayerMask(_) => MaskKind::UNPAINTED,
        HeatOf::Weights(_) | HeatOf::Bones | HeatOf::Count | HeatOf::Sum => -1.0,
    }
}

/// Writes the values of a chunk, and returns how many points have one.
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
            n => (n as f32 / Heat::MAX_COUNTED).min(1.0),
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

fn read_tints(appearance: &BoneAppearance, rows: &Rows, tints: &mut [[u8; 4]]) {
    for (slot, row) in tints.iter_mut().zip(rows.iter()) {
        *slot = appearance.tint(row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_shares_of_two_bones_have_the_colour_between_and_locks_their_share() {
        let appearance = BoneAppearance {
            locked: vec![false, true],
            colours: [[255, 0, 0], [0, 0, 255]]
                .map(BoneAppearance::mixable)
                .to_vec(),
        };
        let tint = |pairs: &[(u16, f32)]| {
            let rows: Rows = [pairs.to_vec()].into_iter().collect();
            appearance.tint(rows.row(0))
        };
        assert_eq!(tint(&[(0, 0.5)]), [255, 0, 0, 0]);
        assert_eq!(tint(&[(0, 0.5), (1, 0.5)]), [180, 0, 180, 128]);
        assert_eq!(tint(&[(0, 1.0), (1, 1e-4)])[3], 1, "a trace is seen");
        assert_eq!(tint(&[(1, 0.0)]), [0; 4]);
    }
}
